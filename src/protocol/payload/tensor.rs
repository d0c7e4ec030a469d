//! Tensors: name, shape, datatype, and data as JSON arrays.

use super::Form;
use super::datatype::{DATATYPES, Datatype, Wrong, number};
use super::object::{Checker, Expect, Object, described};
use crate::diag::{Code, nearest};
use crate::yaml::{FieldPath, Node, Value};

/// The dimensions that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shapes {
    /// Whole numbers from 0.
    Fixed,
    /// Also -1, for a dimension of variable size.
    Variable,
}

/// Name, shape and datatype of a tensor, when all are valid.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) datatype: &'static Datatype,
    pub(super) shape: Vec<u64>,
}

impl Head {
    /// Returns the number of elements of the shape; saturates.
    pub(super) fn elements(&self) -> u128 {
        // Before the product, which another size could saturate.
        if self.shape.contains(&0) {
            return 0;
        }
        self.shape.iter().fold(1, |product: u128, size| product.saturating_mul((*size).into()))
    }

    /// Formats the shape as JSON.
    pub(super) fn shape_text(&self) -> String {
        let sizes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!("[{}]", sizes.join(", "))
    }
}

/// Reads name, shape and datatype; `None` when one of them is absent or invalid, which is then
/// reported.
pub(super) fn head(checker: &mut Checker, object: &Object<'_>, shapes: Shapes) -> Option<Head> {
    // All three are read before any of them ends the function: each fault is reported.
    let name = checker.required(object, "name", Expect::String);
    let shape = checker
        .required(object, "shape", Expect::Array)
        .and_then(|(node, path)| shape(checker, node, &path, shapes));
    let datatype = checker
        .required(object, "datatype", Expect::String)
        .and_then(|(node, path)| datatype(checker, node, &path));
    Some(Head {
        name: name?.0.as_str().unwrap_or_default().to_owned(),
        datatype: datatype?,
        shape: shape?,
    })
}

fn shape(checker: &mut Checker, node: &Node, path: &FieldPath, shapes: Shapes) -> Option<Vec<u64>> {
    let mut sizes = Some(Vec::with_capacity(node.items().len()));
    for (index, size) in node.items().iter().enumerate() {
        let path = path.index(index);
        let Some(number) = number(size, checker.form) else {
            checker.wrong_type(size, &path, "a number");
            sizes = None;
            continue;
        };
        match number.whole() {
            Some(-1) if shapes == Shapes::Variable => {}
            Some(size) if u64::try_from(size).is_ok() => {
                if let (Some(sizes), Ok(size)) = (&mut sizes, u64::try_from(size)) {
                    sizes.push(size);
                }
            }
            _ => {
                let (accepted, help) = match shapes {
                    Shapes::Fixed => (
                        "a whole number from 0 to 18446744073709551615",
                        "write the size of the whole batch; only metadata may have -1",
                    ),
                    Shapes::Variable => (
                        "a whole number from 0, or -1",
                        "write the size, or -1 for a dimension of variable size",
                    ),
                };
                checker.say(
                    Code::PayloadShape,
                    size,
                    &path,
                    format!("`{path}` must be {accepted}, not {}", described(size)),
                    Some(help.into()),
                );
                sizes = None;
            }
        }
    }
    sizes
}

fn datatype(checker: &mut Checker, node: &Node, path: &FieldPath) -> Option<&'static Datatype> {
    let name = node.as_str().unwrap_or_default();
    let datatype = Datatype::named(name);
    if datatype.is_none() {
        let names = DATATYPES.iter().map(|datatype| datatype.name);
        // Common datatype names of other libraries, which a comparison of spellings would not map
        // correctly.
        let meant = match name.to_lowercase().as_str() {
            "float16" | "half" => Some("FP16"),
            "float32" | "float" => Some("FP32"),
            "float64" | "double" => Some("FP64"),
            "string" | "str" => Some("BYTES"),
            // bfloat16 has no datatype here, so no similar name is suggested.
            "bf16" | "bfloat16" => None,
            _ => nearest(name, names.clone()),
        };
        let list = names.collect::<Vec<_>>().join(", ");
        let help = meant.map_or_else(
            || format!("write one of {list}"),
            |meant| format!("did you mean `{meant}`?"),
        );
        checker.say(
            Code::PayloadDatatype,
            node,
            path,
            format!("`{name}` is no datatype of the protocol"),
            Some(help),
        );
    }
    datatype
}

/// Checks data in JSON arrays, flat or nested like the shape (KServe 0.10 docs, Open Inference
/// Protocol, HTTP/REST), and the range of each element (KServe 0.10 docs, Open Inference Protocol,
/// HTTP/REST).
pub(super) fn data(checker: &mut Checker, head: &Head, data: &Node, path: &FieldPath) {
    let items = data.items();
    // One array inside is enough: then all of them have to follow the shape.
    let nested = items.iter().any(|item| matches!(item.value, Value::List(_)));
    let wanted = head.elements();
    if nested {
        if !is_shaped(items, &head.shape) {
            let (count, shape) = (leaves(items), head.shape_text());
            let message = format!(
                "tensor `{}`: the arrays of data are not nested like the shape {shape}; it needs {wanted} elements, data has {count}",
                head.name
            );
            let help = "write one array level per dimension, each of the length in the shape, or one flat array";
            checker.say(Code::PayloadElementCount, data, path, message, Some(help.into()));
        }
    } else if items.len() as u128 != wanted {
        let message = format!(
            "tensor `{}`: shape {} needs {wanted}, data has {}",
            head.name,
            head.shape_text(),
            items.len()
        );
        checker.say(
            Code::PayloadElementCount,
            data,
            path,
            message,
            Some("correct the shape or complete the data".into()),
        );
    }
    if head.datatype.name == "FP16" && !items.is_empty() {
        let message = format!(
            "tensor `{}`: FP16 as JSON numbers has no common reading among servers",
            head.name
        );
        checker.say(
            Code::PayloadFp16Json,
            data,
            path,
            message,
            Some("send FP32, or raw contents over gRPC".into()),
        );
    }
    let mut elements = Elements::new(checker, head);
    elements.walk(items, path);
    elements.close(data, path);
}

/// Reports whether arrays are nested exactly as in a shape.
fn is_shaped(items: &[Node], shape: &[u64]) -> bool {
    let Some((size, inner)) = shape.split_first() else { return false };
    items.len() as u64 == *size
        && items.iter().all(|item| match &item.value {
            Value::List(items) => !inner.is_empty() && is_shaped(items, inner),
            _ => inner.is_empty(),
        })
}

fn leaves(items: &[Node]) -> usize {
    items
        .iter()
        .map(|item| if let Value::List(items) = &item.value { leaves(items) } else { 1 })
        .sum()
}

/// Maximum number of bad elements of one tensor that are reported separately.
const SHOWN: usize = 20;

/// Checks elements one by one; after [`SHOWN`] bad elements, further ones are only counted.
pub(super) struct Elements<'a> {
    checker: &'a mut Checker,
    head: &'a Head,
    wrong: usize,
}

impl<'a> Elements<'a> {
    pub(super) fn new(checker: &'a mut Checker, head: &'a Head) -> Self {
        Self { checker, head, wrong: 0 }
    }

    pub(super) fn walk(&mut self, items: &[Node], path: &FieldPath) {
        for (index, item) in items.iter().enumerate() {
            match &item.value {
                // Typed contents of gRPC are flat.
                Value::List(items) if self.checker.form != Form::GrpcV2 => {
                    self.walk(items, &path.index(index));
                }
                _ => self.element(item, path, index),
            }
        }
    }

    fn element(&mut self, item: &Node, path: &FieldPath, index: usize) {
        let Err(wrong) = self.head.datatype.judge(item, self.checker.form) else { return };
        // Counted beyond the limit, too, for the sum at the end.
        self.wrong += 1;
        if self.wrong > SHOWN {
            return;
        }
        let (path, datatype) = (path.index(index), self.head.datatype);
        match wrong {
            Wrong::Type(expected) => {
                self.checker.wrong_type(item, &path, &format!("{expected} ({})", datatype.name));
            }
            Wrong::Range => {
                let message = format!("{} is outside {}", described(item), datatype.name);
                self.checker.say(
                    Code::PayloadValueRange,
                    item,
                    &path,
                    message,
                    Some(format!("{} holds {}", datatype.name, datatype.range())),
                );
            }
        }
    }

    /// Reports the number of bad elements that were not reported separately.
    pub(super) fn close(self, data: &Node, path: &FieldPath) {
        if let Some(more @ 1..) = self.wrong.checked_sub(SHOWN) {
            let message = format!(
                "tensor `{}`: {more} more elements do not fit {}",
                self.head.name, self.head.datatype.name
            );
            self.checker.say(Code::PayloadValueRange, data, path, message, None);
        }
    }
}
