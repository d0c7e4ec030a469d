//! The parts that only gRPC messages have: typed contents and raw contents (KServe 0.10 docs, Open
//! Inference Protocol, gRPC).

use super::datatype::DATATYPES;
use super::object::{Checker, Expect, Member, Object};
use super::tensor::{Elements, Head};
use crate::diag::{Code, Diagnostic, nearest};
use crate::quantity::base64;
use crate::yaml::{FieldPath, Node};

/// The raw contents of a message.
pub(super) struct Raw<'a> {
    key: &'static str,
    list: Option<(&'a Node, FieldPath)>,
    /// True when they are present but not a list.
    wrong: bool,
}

impl<'a> Raw<'a> {
    /// Builds the value for a message without raw contents.
    pub(super) fn none(key: &'static str) -> Self {
        Self { key, list: None, wrong: false }
    }

    /// Reads the raw contents of a message; an empty list counts as absent, as in proto.
    pub(super) fn of(checker: &mut Checker, root: &Object<'a>, key: &'static str) -> Self {
        let member = checker.optional(root, key, Expect::Array);
        Self {
            key,
            wrong: matches!(member, Member::Wrong),
            list: member.is().filter(|(node, _)| !node.items().is_empty()),
        }
    }

    /// Checks the contents of all tensors, raw or typed.
    pub(super) fn check(
        &self,
        checker: &mut Checker,
        tensors: &[Option<(Object<'_>, Option<Head>)>],
        tensors_key: &str,
    ) {
        // Looked at in any case, as raw contents exclude typed ones.
        let typed: Vec<Member<'_>> = tensors
            .iter()
            .map(|tensor| {
                tensor.as_ref().map_or(Member::Wrong, |(object, _)| {
                    checker.optional(object, "contents", Expect::Object)
                })
            })
            .collect();
        let Some((list, path)) = &self.list else {
            for (tensor, contents) in tensors.iter().zip(typed) {
                let Some((object, head)) = tensor else { continue };
                match contents {
                    Member::Is(node, path) => self.typed(checker, head.as_ref(), node, &path),
                    Member::Absent
                        // A wrong `raw` member has its finding: the tensors are not to blame for
                        // it.
                        if !self.wrong && head.as_ref().is_some_and(|head| head.elements() > 0) =>
                    {
                        checker.missing(
                            object,
                            "contents",
                            Some(self.where_contents_go(head.as_ref())),
                        );
                    }
                    Member::Absent | Member::Wrong => {}
                }
            }
            return;
        };
        let mut both = typed
            .iter()
            .filter_map(
                |contents| if let Member::Is(node, _) = contents { Some(node) } else { None },
            )
            .peekable();
        if both.peek().is_some() {
            let mut finding = Diagnostic::new(
                Code::PayloadRawAndContents,
                format!("`{}` excludes `contents`, and both are given", self.key),
            )
            .at(list.origin.span());
            for contents in both {
                finding = finding.label(contents.origin.span(), "typed contents");
            }
            checker.add(finding.help(format!("delete `contents`, or `{}`", self.key)), path);
            return;
        }
        // Entries belong to tensors by their order alone, so that sizes mean nothing here.
        if list.items().len() != tensors.len() {
            let message = format!(
                "`{}` has {} entries for {} {tensors_key}",
                self.key,
                list.items().len(),
                tensors.len()
            );
            checker.say(
                Code::PayloadRawCount,
                list,
                path,
                message,
                Some(format!("give one entry per tensor, in the order of `{tensors_key}`")),
            );
            return;
        }
        for (index, (entry, tensor)) in list.items().iter().zip(tensors).enumerate() {
            let path = path.index(index);
            let Some(given) = entry.as_str().and_then(base64::decoded_length) else {
                checker.wrong_type(entry, &path, "a string of base64");
                continue;
            };
            let Some((_, Some(head))) = tensor else { continue };
            // Texts have no fixed size.
            let Some(size) = head.datatype.size else { continue };
            let wanted = head.elements().saturating_mul(size.into());
            if u128::from(given) != wanted {
                let message = format!(
                    "tensor `{}`: shape {} of {} needs {wanted} bytes, the entry has {given}",
                    head.name,
                    head.shape_text(),
                    head.datatype.name
                );
                checker.say(
                    Code::PayloadRawSize,
                    entry,
                    &path,
                    message,
                    Some("correct the shape or complete the bytes".into()),
                );
            }
        }
    }

    fn where_contents_go(&self, head: Option<&Head>) -> String {
        match head.and_then(|head| head.datatype.contents) {
            Some(field) => format!(
                "add `\"contents\": {{\"{field}\": […]}}`, or give all tensors in `{}`",
                self.key
            ),
            None => format!("16-bit floats go into `{}`", self.key),
        }
    }

    /// Checks typed contents: in the field of the datatype, flat, complete, in range.
    fn typed(&self, checker: &mut Checker, head: Option<&Head>, node: &Node, path: &FieldPath) {
        let Some(head) = head else { return };
        let Some(right) = head.datatype.contents else {
            let message = format!(
                "tensor `{}`: there is no contents field for {}",
                head.name, head.datatype.name
            );
            checker.say(
                Code::PayloadFp16Contents,
                node,
                path,
                message,
                Some(format!("put the bytes into `{}`", self.key)),
            );
            return;
        };
        let mut elsewhere = false;
        let form = checker.form;
        let others = node.entries().filter(|entry| !form.names(&entry.key, right));
        for entry in others.filter(|entry| !entry.node.is_empty()) {
            // The contents are in a wrong field: they are not reported as missing as well.
            elsewhere = true;
            let is_known = DATATYPES
                .iter()
                .filter_map(|datatype| datatype.contents)
                .any(|field| form.names(&entry.key, field));
            let message = if is_known {
                format!("tensor `{}`: `{}` is not for {}", head.name, entry.key, head.datatype.name)
            } else {
                format!("tensor `{}`: `{}` is no field of the contents", head.name, entry.key)
            };
            let slip = if is_known { None } else { nearest(&entry.key, [right]) };
            let help = slip.map_or_else(
                || format!("{} goes into `{right}`", head.datatype.name),
                |slip| format!("write `{slip}`"),
            );
            checker.say(
                Code::PayloadContentsField,
                &entry.node,
                &path.field(entry.key.clone()),
                message,
                Some(help),
            );
        }
        let contents = Object {
            node,
            map: node.as_map().expect("the member was checked to be an object"),
            path: path.clone(),
        };
        let values = match checker.optional(&contents, right, Expect::Array) {
            Member::Is(values, path) => Some((values, path)),
            Member::Wrong => return,
            Member::Absent => None,
        };
        let (values, path) = match values {
            // Already reported, or the shape has no elements.
            None if elsewhere || head.elements() == 0 => return,
            None => (node, path.field(right)),
            Some((values, _)) if elsewhere && values.items().is_empty() => return,
            Some(found) => found,
        };
        // In 128 bits: the product of sizes may exceed 64.
        let (wanted, count) = (head.elements(), values.items().len());
        if count as u128 != wanted {
            let message = format!(
                "tensor `{}`: shape {} needs {wanted}, `{right}` has {count}",
                head.name,
                head.shape_text()
            );
            checker.say(
                Code::PayloadElementCount,
                values,
                &path,
                message,
                Some("correct the shape or complete the contents".into()),
            );
        }
        let mut elements = Elements::new(checker, head);
        elements.walk(values.items(), &path);
        elements.close(values, &path);
    }
}
