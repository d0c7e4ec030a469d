//! Defaults of the CRDs, as the API server stores them.

use super::types::{Schema, Type};
use crate::source::Span;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};

/// The rule that wrote a default.
pub static CRD_DEFAULT: Rule = Rule {
    id: "crd-default",
    text: "the API server fills in the default of the CustomResourceDefinition",
    cite: "ome-components 0.1",
};

impl Schema {
    /// Writes the defaults of the CRD into an object; each has the origin [`CRD_DEFAULT`]. As on
    /// the server, a null where there is a default becomes the default, any other null vanishes
    /// unless the field may be null, and fields that only the documents know are left alone.
    pub fn default(&self, object: &mut Node) {
        self.root().default(object);
    }

    /// Defaults of the CRD that an object does without because a file says something else there:
    /// the place of what is written, and the default.
    pub fn overruled(&self, object: &Node) -> Vec<(Span, Node)> {
        let mut found = Vec::new();
        overruled(object, self.root(), &mut found);
        found
    }
}

fn overruled(node: &Node, ty: &Type, found: &mut Vec<(Span, Node)>) {
    match (ty, &node.value) {
        (Type::Object(definition), Value::Map(map)) => {
            for (field, written) in definition
                .server()
                .fields
                .iter()
                .filter_map(|field| Some((field, map.get(field.name)?)))
            {
                if let (Some(default), Some(span)) = (field.default, written.origin.span()) {
                    found.push((
                        span,
                        Node::from_json(
                            &serde_json::from_str(default).unwrap_or_default(),
                            Origin::Default(&CRD_DEFAULT),
                        ),
                    ));
                }
                overruled(written, &field.ty, found);
            }
        }
        (Type::Map(item), Value::Map(map)) => {
            map.iter().for_each(|entry| overruled(&entry.node, &item.ty, found));
        }
        (Type::List(item), Value::List(items)) => {
            items.iter().for_each(|element| overruled(element, &item.ty, found));
        }
        _ => {}
    }
}

impl Type {
    /// Writes the defaults of the CRD into a tree of this type; shares what does not change.
    pub fn default(&self, tree: &mut Node) {
        if let Some(value) = defaulted(tree, self) {
            tree.value = value;
        }
    }
}

/// The value with its defaults; none when nothing changes.
fn defaulted(node: &Node, ty: &Type) -> Option<Value> {
    match (ty, &node.value) {
        (Type::Object(definition), Value::Map(map)) => {
            let mut changed: Option<Map> = None;
            for field in &definition.server().fields {
                let found = map.get(field.name);
                if found.is_none_or(|found| found.is_null() && !field.nullable) {
                    match field.default {
                        Some(default) => {
                            let mut node = Node::from_json(
                                &serde_json::from_str(default).unwrap_or_default(),
                                Origin::Default(&CRD_DEFAULT),
                            );
                            field.ty.default(&mut node);
                            changed.get_or_insert_with(|| map.clone()).insert(field.name, node);
                        }
                        None if found.is_some() => {
                            changed.get_or_insert_with(|| map.clone()).remove(field.name);
                        }
                        None => {}
                    }
                } else if let Some(found) = found
                    && let Some(value) = defaulted(found, &field.ty)
                    && let Some(node) =
                        changed.get_or_insert_with(|| map.clone()).get_mut(field.name)
                {
                    node.value = value;
                }
            }
            changed.map(Value::Map)
        }
        (Type::Map(item), Value::Map(map)) => {
            let values: Vec<Option<Value>> =
                map.iter().map(|entry| defaulted(&entry.node, &item.ty)).collect();
            if values.iter().all(Option::is_none) {
                return None;
            }
            let entries = map
                .iter()
                .zip(values)
                .map(|(entry, value)| Entry { node: with(&entry.node, value), ..entry.clone() });
            Some(Value::Map(entries.collect()))
        }
        (Type::List(item), Value::List(items)) => {
            if matches!(item.ty, Type::Str(None)) {
                return None;
            }
            let values: Vec<Option<Value>> =
                items.iter().map(|element| defaulted(element, &item.ty)).collect();
            if values.iter().all(Option::is_none) {
                return None;
            }
            Some(Value::List(
                items.iter().zip(values).map(|(element, value)| with(element, value)).collect(),
            ))
        }
        _ => None,
    }
}

fn with(node: &Node, value: Option<Value>) -> Node {
    value.map_or_else(|| node.clone(), |value| Node::new(value, node.origin))
}
