//! Changes of the API server before validation: nulls are removed, defaults added.

use super::marshal::zero;
use super::types::{Schema, Type};
use crate::source::Span;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};

/// The rule that wrote a default.
pub static CRD_DEFAULT: Rule = Rule {
    id: "crd-default",
    text: "the API server fills in the default of the CustomResourceDefinition",
    cite: "the shipped CustomResourceDefinitions (config/crd/full)",
};

impl Schema {
    /// Removes the nulls that the server drops (apiextensions-apiserver,
    /// pkg/apiserver/schema/defaulting/prunenulls.go): those in fields and maps of a custom
    /// resource that may not be null. In a Go struct of Kubernetes, such as `metadata`, a null in a
    /// map is the zero value of the map's element type. Nulls in lists stay, and so do those in
    /// fields without a type. Fields of the documents are treated alike.
    pub fn drop_nulls(&self, object: &mut Node) {
        if let Some(value) = without_nulls(object, self.root(), false) {
            object.value = value;
        }
    }

    /// Writes the defaults of the CRD into an object; each has the origin [`CRD_DEFAULT`]. As on
    /// the server, a null with a default becomes the default, and fields of the documents only are
    /// not changed. Other nulls are removed before ([`Self::drop_nulls`]).
    pub fn default(&self, object: &mut Node) {
        self.root().default(object);
    }

    /// Writes the zero value of each required field that a Go struct always prints: a webhook that
    /// decodes an object and encodes it again sends them.
    pub fn fill_zeroes(&self, object: &mut Node) {
        fill(object, self.root());
    }

    /// Defaults of the CRD that a file overrides: the span of the written value, and the default.
    pub fn overruled(&self, object: &Node) -> Vec<(Span, Node)> {
        let mut found = Vec::new();
        overruled(object, self.root(), &mut found);
        found
    }
}

fn fill(node: &mut Node, ty: &Type) {
    match (ty, &mut node.value) {
        (Type::Object(definition), Value::Map(map)) => {
            for field in &definition.server().fields {
                let absent = map.get(field.name).is_none_or(Node::is_null);
                // Lists and maps print null for their zero value, which the server drops again.
                let plain = field.required && field.always && !field.pointer;
                if absent && plain && !matches!(field.ty, Type::List(_) | Type::Map(_)) {
                    let value = Node::new(zero(&field.ty), Origin::Default(&super::ZERO_VALUE));
                    map.insert(field.name, value);
                }
                if let Some(value) = map.get_mut(field.name) {
                    fill(value, &field.ty);
                }
            }
        }
        (Type::Map(item), Value::Map(map)) => {
            // Elements have types of their own; lists of scalars have no fields to fill and stay
            // shared.
            map.iter_mut().for_each(|entry| fill(&mut entry.node, &item.ty));
        }
        (Type::List(item), Value::List(items))
            if matches!(item.ty, Type::Object(_) | Type::List(_) | Type::Map(_)) =>
        {
            items.make_mut().iter_mut().for_each(|item_node| fill(item_node, &item.ty));
        }
        _ => {}
    }
}

/// The value without the nulls that the server drops; none when it holds none. `built_in`: the
/// value belongs to a Go struct of Kubernetes.
fn without_nulls(node: &Node, ty: &Type, built_in: bool) -> Option<Value> {
    match (ty, &node.value) {
        (Type::Object(definition), Value::Map(map)) => {
            let object = definition.documented();
            let built_in = definition.is_built_in();
            edited(map, |entry| {
                // What an unknown field holds has no type, so its nulls stay.
                let Some(field) = object.fields.iter().find(|field| field.name == entry.key) else {
                    return Change::Keep;
                };
                match &entry.node.value {
                    Value::Null if field.nullable => Change::Keep,
                    Value::Null => Change::Drop,
                    _ => without_nulls(&entry.node, &field.ty, built_in)
                        .map_or(Change::Keep, Change::To),
                }
            })
        }
        (Type::Map(item), Value::Map(map)) => edited(map, |entry| match &entry.node.value {
            Value::Null if built_in => Change::To(zero(&item.ty)),
            Value::Null if matches!(item.ty, Type::Any) => Change::Keep,
            Value::Null => Change::Drop,
            _ => without_nulls(&entry.node, &item.ty, built_in).map_or(Change::Keep, Change::To),
        }),
        // A text holds no nulls inside; long lists of arguments are not walked.
        (Type::List(item), Value::List(items)) if !matches!(item.ty, Type::Str(_)) => {
            let change = |element: &Node| without_nulls(element, &item.ty, built_in);
            let values: Vec<Option<Value>> = items.iter().map(change).collect();
            let changed = values.iter().any(Option::is_some);
            let elements = items.iter().zip(values).map(|(element, value)| with(element, value));
            changed.then(|| Value::List(elements.collect()))
        }
        _ => None,
    }
}

enum Change {
    Keep,
    Drop,
    To(Value),
}

/// A mapping with every entry looked at; none when nothing changes.
fn edited(map: &Map, mut look: impl FnMut(&Entry) -> Change) -> Option<Value> {
    let mut changed: Option<Map> = None;
    for (index, entry) in map.iter().enumerate() {
        let edit = look(entry);
        // The copy begins at the first change: most maps have no nulls and are shared.
        if changed.is_none() && !matches!(edit, Change::Keep) {
            changed = Some(map.iter().take(index).cloned().collect());
        }
        let Some(changed) = &mut changed else { continue };
        match edit {
            Change::Keep => changed.push(entry.clone()),
            Change::To(value) => {
                changed.push(Entry { node: with(&entry.node, Some(value)), ..entry.clone() });
            }
            Change::Drop => {}
        }
    }
    changed.map(Value::Map)
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
                // A value without a span was filled in itself and overrides nothing.
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
            // The map is copied at the first default: most objects of a fleet share their parts.
            let mut changed: Option<Map> = None;
            for field in &definition.server().fields {
                let found = map.get(field.name);
                if found.is_none_or(|found| found.is_null() && !field.nullable) {
                    let Some(default) = field.default else { continue };
                    let mut node = Node::from_json(
                        &serde_json::from_str(default).unwrap_or_default(),
                        Origin::Default(&CRD_DEFAULT),
                    );
                    // A default may be a mapping whose fields have defaults of their own.
                    field.ty.default(&mut node);
                    changed.get_or_insert_with(|| map.clone()).insert(field.name, node);
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
            // A list of texts has no fields and no defaults.
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
