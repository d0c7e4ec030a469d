//! A tree after a controller decoded it into a Go struct and encoded the struct again.
//!
//! Controllers merge marshalled structs, not the text of the user: zero values of fields with
//! `omitempty` vanish and so override nothing, fields without it are always there and so always
//! win, quantities are in canonical form, unknown fields are gone
//! (pkg/controller/v1beta1/inferenceservice/utils/merging.go).

use super::types::{Field, Type};
use crate::quantity::Quantity;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::EcoString;

/// The rule that wrote a zero value.
pub static ZERO_VALUE: Rule = Rule {
    id: "go-zero-value",
    text: "Go structs print fields without `omitempty` even when they are not set",
    cite: "pkg/controller/v1beta1/inferenceservice/utils/merging.go",
};

/// Which Kubernetes libraries a controller is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// v0.33, as the OME controller v0.1.5: `creationTimestamp: null` is printed and newer fields
    /// are unknown.
    V0_33,
    /// v0.34 and later, as KServe 0.20.
    V0_34,
}

/// A value that does not fit its Go type, so that the controller cannot decode the object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {found} does not fit")]
pub struct Misfit {
    /// The field, from the root of the marshalled tree.
    pub path: EcoString,
    /// The value.
    pub found: EcoString,
}

impl Misfit {
    /// The value at a path does not fit.
    pub fn new(path: &str, node: &Node) -> Self {
        Self { path: path.into(), ..Self::of(node) }
    }

    fn of(node: &Node) -> Self {
        Self {
            path: EcoString::new(),
            found: match node.scalar_text() {
                Some(text) if text.contains('\n') => {
                    ecow::eco_format!("a text of {} lines", text.lines().count())
                }
                Some(text) => text,
                None => node.kind_name().into(),
            },
        }
    }

    fn below(mut self, step: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = ecow::eco_format!("{step}{dot}{}", self.path);
        self
    }
}

/// Decodes and encodes a tree. Values that were written keep their origin; zero values that the
/// struct adds have [`ZERO_VALUE`].
///
/// # Errors
/// When a value does not fit its type.
pub fn marshal(tree: &Node, ty: &Type, library: Library) -> Result<Node, Misfit> {
    match (ty, &tree.value) {
        (Type::Object(definition), Value::Map(map)) => {
            let mut out = Map::with_capacity(map.len());
            let fields = &definition.documented().fields;
            // Go's decoder takes a key in other case for a field when nothing spells it exactly, and
            // a key that spells a field for that one only.
            let spells = |entry: &&Entry| fields.iter().any(|field| field.name == entry.key);
            let others: Vec<&Entry> = map.iter().filter(|entry| !spells(entry)).collect();
            for field in fields {
                // The struct lacks the field, so the decoder drops it.
                if library == Library::V0_33 && field.recent {
                    continue;
                }
                let same = |entry: &&Entry| entry.key.eq_ignore_ascii_case(field.name);
                let found = map
                    .entry(field.name)
                    .or_else(|| others.iter().copied().find(same))
                    .filter(|entry| !entry.node.is_null());
                if let Some(node) = self::field(found.map(|entry| &entry.node), field, library)
                    .map_err(|error| error.below(field.name))?
                {
                    let key_origin = found.map_or(node.origin, |entry| entry.key_origin);
                    out.push(Entry { key: field.name.into(), key_origin, node });
                }
            }
            // Such types keep unknown fields in a raw map.
            if definition.documented().open {
                for entry in others {
                    out.push(entry.clone());
                }
            }
            Ok(Node::new(Value::Map(out), tree.origin))
        }
        (Type::Object(_), Value::Null) => marshal(&Node::map(tree.origin), ty, library),
        (Type::Map(item), Value::Map(map)) => {
            let mut out = Map::with_capacity(map.len());
            for entry in map {
                let node = marshal(&entry.node, &item.ty, library)
                    .map_err(|error| error.below(&entry.key))?;
                out.push(Entry { node, ..entry.clone() });
            }
            Ok(Node::new(Value::Map(out), tree.origin))
        }
        (Type::List(item), Value::List(items)) => {
            let elements = items.iter().enumerate().map(|(index, element)| {
                marshal(element, &item.ty, library)
                    .map_err(|error| error.below(&format!("[{index}]")))
            });
            Ok(Node::new(Value::List(elements.collect::<Result<_, _>>()?), tree.origin))
        }
        (Type::Quantity, Value::Str(_) | Value::Int(_) | Value::Big(_) | Value::Float(_)) => {
            let text = tree.scalar_text().unwrap_or_default();
            let quantity = Quantity::parse_field(&text).map_err(|_| Misfit::of(tree))?;
            // Quantities are compared and merged as the text that Go prints.
            Ok(Node::str(quantity.canonical(), tree.origin))
        }
        // Go's decoder refuses a number that does not fit into 32 bits.
        (Type::Int32(_) | Type::IntOrString(_), Value::Int(number))
            if i32::try_from(*number).is_err() =>
        {
            Err(Misfit::of(tree))
        }
        (Type::Any, _)
        | (
            Type::Str(_) | Type::Time | Type::Bytes | Type::Loose | Type::IntOrString(_),
            Value::Str(_),
        )
        | (Type::Int(_) | Type::Int32(_) | Type::IntOrString(_), Value::Int(_))
        | (Type::Number(_) | Type::Loose, Value::Int(_) | Value::Big(_) | Value::Float(_))
        | (Type::Bool, Value::Bool(_)) => Ok(tree.clone()),
        (_, Value::Null) => Ok(Node::new(zero(ty), tree.origin)),
        _ => Err(Misfit::of(tree)),
    }
}

/// One field; none when the struct does not print it.
fn field(found: Option<&Node>, field: &Field, library: Library) -> Result<Option<Node>, Misfit> {
    let always = field.always || (field.formerly_always && library == Library::V0_33);
    let Some(found) = found else {
        if !always {
            return Ok(None);
        }
        let origin = Origin::Default(&ZERO_VALUE);
        let structure = matches!(field.ty, Type::Object(_));
        // A struct that is no pointer prints its own fields, which may be printed always, too.
        if structure && !field.pointer {
            return marshal(&Node::map(origin), &field.ty, library).map(Some);
        }
        return Ok(Some(Node::new(
            if structure || field.pointer { Value::Null } else { zero(&field.ty) },
            origin,
        )));
    };
    let node = marshal(found, &field.ty, library)?;
    // A pointer that is set is printed even if it points to a zero value.
    if always || field.pointer {
        return Ok(Some(node));
    }
    let vanishes = match &node.value {
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::Str(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        // `omitempty` leaves out an empty map, but never a struct.
        Value::Map(map) => map.is_empty() && matches!(field.ty, Type::Map(_)),
        Value::Null => true,
        Value::Big(_) => false,
    };
    Ok(if vanishes { None } else { Some(node) })
}

/// The output of an unset value.
pub(super) fn zero(ty: &Type) -> Value {
    match ty {
        Type::Str(_) | Type::Loose => Value::Str(EcoString::new()),
        Type::Quantity => Value::Str(EcoString::inline("0")),
        Type::Int(_) | Type::Int32(_) | Type::Number(_) | Type::IntOrString(_) => Value::Int(0),
        Type::Bool => Value::Bool(false),
        Type::Object(_) => Value::Map(Map::new()),
        Type::Map(_) | Type::List(_) | Type::Time | Type::Bytes | Type::Any => Value::Null,
    }
}

/// Removes the unknown fields, which the server drops silently.
pub fn prune(tree: &mut Node, ty: &Type) {
    match (ty, &mut tree.value) {
        (Type::Object(definition), Value::Map(map)) => {
            let object = definition.server();
            if !object.open
                && map.iter().any(|entry| object.fields.iter().all(|field| field.name != entry.key))
            {
                map.retain(|entry| object.fields.iter().any(|field| field.name == entry.key));
            }
            for field in &object.fields {
                // Lists and maps of scalars have nothing to prune; looking would copy a shared
                // list.
                if field.ty.item().is_some_and(|item| {
                    item.ty.item().is_none() && !matches!(item.ty, Type::Object(_))
                }) {
                    continue;
                }
                if (matches!(field.ty, Type::Object(_)) || field.ty.item().is_some())
                    && let Some(node) = map.get_mut(field.name)
                {
                    prune(node, &field.ty);
                }
            }
        }
        (Type::Map(item), Value::Map(map)) => {
            map.iter_mut().for_each(|entry| prune(&mut entry.node, &item.ty));
        }
        (Type::List(item), Value::List(items)) => {
            items.make_mut().iter_mut().for_each(|node| prune(node, &item.ty));
        }
        _ => {}
    }
}
