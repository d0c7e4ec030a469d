//! The order in which fields are printed: `apiVersion`, `kind`, `metadata`, then as the Go structs
//! declare them.

use super::types::Type;
use crate::yaml::{Entry, Node, Value};

/// Sorts the keys of a tree in the order of its type. Unknown keys and those of maps with free keys
/// keep their order; unknown ones are last. Parts that are in order already are shared.
pub fn order(tree: &mut Node, ty: &Type) {
    if let Some(value) = ordered(tree, ty) {
        tree.value = value;
    }
}

fn ordered(node: &Node, ty: &Type) -> Option<Value> {
    match (ty, &node.value) {
        (Type::Object(definition), Value::Map(map)) => {
            let fields = &definition.documented().fields;
            let place = |entry: &Entry| {
                // The sort is stable, so that unknown keys keep their order behind all others.
                fields.iter().position(|field| field.name == entry.key).unwrap_or(usize::MAX)
            };
            let places: Vec<usize> = map.iter().map(place).collect();
            let values: Vec<Option<Value>> = map
                .iter()
                .zip(&places)
                .map(|(entry, place)| {
                    fields.get(*place).and_then(|field| ordered(&entry.node, &field.ty))
                })
                .collect();
            // Operators build most objects in order already: they are shared, not copied.
            if places.is_sorted() && values.iter().all(Option::is_none) {
                return None;
            }
            let mut entries: Vec<(usize, Entry)> = map
                .iter()
                .zip(values)
                .zip(places)
                .map(|((entry, value), place)| {
                    let mut entry = entry.clone();
                    if let Some(value) = value {
                        entry.node.value = value;
                    }
                    (place, entry)
                })
                .collect();
            entries.sort_by_key(|(place, _)| *place);
            Some(Value::Map(entries.into_iter().map(|(_, entry)| entry).collect()))
        }
        (Type::Map(item), Value::Map(map)) => {
            let values: Vec<Option<Value>> =
                map.iter().map(|entry| ordered(&entry.node, &item.ty)).collect();
            if values.iter().all(Option::is_none) {
                return None;
            }
            let entries = map.iter().zip(values).map(|(entry, value)| {
                let mut entry = entry.clone();
                if let Some(value) = value {
                    entry.node.value = value;
                }
                entry
            });
            Some(Value::Map(entries.collect()))
        }
        (Type::List(item), Value::List(items)) => {
            let values: Vec<Option<Value>> =
                items.iter().map(|element| ordered(element, &item.ty)).collect();
            if values.iter().all(Option::is_none) {
                return None;
            }
            let elements = items.iter().zip(values).map(|(element, value)| {
                value.map_or_else(|| element.clone(), |value| Node::new(value, element.origin))
            });
            Some(Value::List(elements.collect()))
        }
        _ => None,
    }
}
