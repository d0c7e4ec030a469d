//! The tree: values with origins, cheap to clone.
//!
//! Strings and lists are counted references that copy on write, so a service laid over a runtime
//! shares everything it does not change.

use super::map::Map;
use super::path::{FieldPath, Segment};
use crate::source::{SourceId, Span};
use ecow::{EcoString, EcoVec};
use serde::{Serialize, Serializer};

/// A rule that writes values itself, with the source it is in.
#[derive(Debug)]
pub struct Rule {
    /// Stable kebab-case identifier.
    pub id: &'static str,
    /// Its effect, in one sentence.
    pub text: &'static str,
    /// Document and heading, or upstream path and function.
    pub cite: &'static str,
}

/// Who wrote a value.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A text that was read.
    File(Span),
    /// A default of the API server, a webhook or the documents.
    Default(&'static Rule),
    /// Computed by a rule of the operator.
    Derived(&'static Rule),
    /// A flag of this run; the rule names it.
    Flag(&'static Rule),
    /// A fact from outside the input; the source names it.
    Fact(SourceId),
}

impl Origin {
    /// The place in a text, if a text wrote it.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::File(span) => Some(span),
            Self::Default(_) | Self::Derived(_) | Self::Flag(_) | Self::Fact(_) => None,
        }
    }

    /// The rule, if one wrote it.
    pub fn rule(self) -> Option<&'static Rule> {
        match self {
            Self::Default(rule) | Self::Derived(rule) | Self::Flag(rule) => Some(rule),
            Self::File(_) | Self::Fact(_) => None,
        }
    }
}

/// A value with its origin. Equality looks at values only.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Who wrote it.
    pub origin: Origin,
}

/// A value as kubectl reads it.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`, `~`, nothing.
    Null,
    /// A boolean, in any of the YAML 1.1 spellings.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer above `i64::MAX`; kubectl turns it into a float later.
    Big(u64),
    /// A finite floating point number.
    Float(f64),
    /// Text.
    Str(EcoString),
    /// A sequence.
    List(EcoVec<Node>),
    /// A mapping, in the order of the text.
    Map(Map),
}

/// One key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key as text; kubectl turns keys that are numbers or booleans into text.
    pub key: EcoString,
    /// Who wrote the key.
    pub key_origin: Origin,
    /// The value.
    pub node: Node,
}

impl Node {
    /// A node from a value and its origin.
    pub fn new(value: Value, origin: Origin) -> Self {
        Self { value, origin }
    }

    /// A text node.
    pub fn str(text: impl Into<EcoString>, origin: Origin) -> Self {
        Self::new(Value::Str(text.into()), origin)
    }

    /// An integer node.
    pub fn int(number: impl Into<i64>, origin: Origin) -> Self {
        Self::new(Value::Int(number.into()), origin)
    }

    /// A boolean node.
    pub fn bool(value: bool, origin: Origin) -> Self {
        Self::new(Value::Bool(value), origin)
    }

    /// An empty mapping.
    pub fn map(origin: Origin) -> Self {
        Self::new(Value::Map(Map::new()), origin)
    }

    /// A list node.
    pub fn list(items: impl IntoIterator<Item = Node>, origin: Origin) -> Self {
        Self::new(Value::List(items.into_iter().collect()), origin)
    }

    /// The value of a key, when this is a mapping that has it and it is not null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key).filter(|node| !node.is_null())
    }

    /// The value at a chain of keys.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// All values at a path; `[*]` and lists without a step yield several.
    pub fn select(&self, path: &FieldPath) -> Vec<&Node> {
        let mut found = vec![self];
        for segment in &path.0 {
            // One step for all nodes at once: `[*]` makes several of one.
            let mut next = Vec::new();
            for node in found {
                match (segment, &node.value) {
                    (Segment::Field(name), Value::Map(map)) => next.extend(map.get(name)),
                    (Segment::Index(index), Value::List(items)) => next.extend(items.get(*index)),
                    (Segment::Keyed(key, value), Value::List(items)) => {
                        let keyed = |item: &&Node| {
                            item.get(key)
                                .and_then(Node::scalar_text)
                                .is_some_and(|found| found == *value)
                        };
                        next.extend(items.iter().filter(keyed));
                    }
                    (Segment::All, Value::List(items)) => next.extend(items.iter()),
                    (Segment::All, Value::Map(map)) => {
                        next.extend(map.iter().map(|entry| &entry.node));
                    }
                    _ => {}
                }
            }
            found = next;
        }
        found
    }

    /// Sets the value at a path, or removes it with `None`. Missing mappings on the path are
    /// created with the value's origin; a path through a missing list element or through a scalar
    /// changes nothing.
    pub fn set(&mut self, path: &[Segment], value: Option<Node>) {
        let Some((segment, rest)) = path.split_first() else {
            if let Some(value) = value {
                *self = value;
            }
            return;
        };
        match (segment, &mut self.value) {
            (Segment::Field(name), Value::Map(map)) => {
                if rest.is_empty() {
                    match value {
                        // In place, so that the key keeps its origin.
                        Some(value) => match map.get_mut(name) {
                            Some(node) => *node = value,
                            None => map.insert(name.clone(), value),
                        },
                        None => {
                            map.remove(name);
                        }
                    }
                } else {
                    // To remove a value no mapping has to be created on the way.
                    if let (false, Some(value)) =
                        (map.get(name).is_some_and(|node| !node.is_null()), &value)
                    {
                        map.insert(name.clone(), Node::map(value.origin));
                    }
                    if let Some(node) = map.get_mut(name) {
                        node.set(rest, value);
                    }
                }
            }
            (Segment::Index(index), Value::List(items)) if *index < items.len() => {
                items.make_mut()[*index].set(rest, value);
            }
            (Segment::Keyed(key, wanted), Value::List(items)) => {
                let position = items.iter().position(|item| {
                    item.get(key).and_then(Node::scalar_text).is_some_and(|found| found == *wanted)
                });
                if let Some(position) = position {
                    items.make_mut()[position].set(rest, value);
                }
            }
            _ => {}
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The text, when this is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer, if this is one in 64 bits; a float without a fraction is one, as in JSON.
    #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and within 2^53")]
    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            Value::Int(number) => Some(number),
            Value::Float(number)
                if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 =>
            {
                Some(number as i64)
            }
            _ => None,
        }
    }

    /// The mapping, when this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping, to be changed.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The elements, when this is a list; else none.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The items of the list of this key; none when there is no such list.
    pub fn items_of(&self, key: &str) -> &[Node] {
        self.get(key).map(Node::items).unwrap_or_default()
    }

    /// The scalars of the list of this key, as texts.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = EcoString> {
        self.items_of(key).iter().filter_map(Node::scalar_text)
    }

    /// The entries, when this is a mapping; else none.
    pub fn entries(&self) -> std::slice::Iter<'_, Entry> {
        match &self.value {
            Value::Map(map) => map.iter(),
            _ => [].iter(),
        }
    }

    /// The list, to be changed.
    pub fn as_list_mut(&mut self) -> Option<&mut EcoVec<Node>> {
        match &mut self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is an empty mapping or list, or null.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Map(map) => map.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        }
    }

    /// A scalar as text: text as it is, numbers and booleans as JSON writes them; none for the
    /// others.
    pub fn scalar_text(&self) -> Option<EcoString> {
        match &self.value {
            Value::Str(text) => Some(text.clone()),
            Value::Bool(value) => Some(if *value { "true".into() } else { "false".into() }),
            Value::Int(number) => Some(ecow::eco_format!("{number}")),
            Value::Big(number) => Some(ecow::eco_format!("{number}")),
            Value::Float(number) => Some(ecow::eco_format!("{number}")),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The kind of this value, for messages.
    pub fn kind_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Big(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Str(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// As JSON, in the order of the text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Int(number) => (*number).into(),
            Value::Big(number) => (*number).into(),
            Value::Float(number) => serde_json::Number::from_f64(*number)
                .map_or(serde_json::Value::Null, serde_json::Value::Number),
            Value::Str(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(map) => serde_json::Value::Object(
                map.iter().map(|entry| (entry.key.to_string(), entry.node.to_json())).collect(),
            ),
        }
    }

    /// From JSON, every node with the same origin.
    pub fn from_json(value: &serde_json::Value, origin: Origin) -> Self {
        let value = match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => {
                // The smallest type that holds it, as the parser of texts does.
                if let Some(number) = number.as_i64() {
                    Value::Int(number)
                } else if let Some(number) = number.as_u64() {
                    Value::Big(number)
                } else {
                    Value::Float(number.as_f64().unwrap_or(0.0))
                }
            }
            serde_json::Value::String(text) => Value::Str(text.as_str().into()),
            serde_json::Value::Array(items) => {
                Value::List(items.iter().map(|item| Self::from_json(item, origin)).collect())
            }
            serde_json::Value::Object(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.as_str().into(),
                        key_origin: origin,
                        node: Self::from_json(value, origin),
                    })
                    .collect(),
            ),
        };
        Self { value, origin }
    }
}

impl Serialize for Node {
    /// As [`Node::to_json`], without a tree in between.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Big(number) => serializer.serialize_u64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Str(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items.iter()),
            Value::Map(map) => {
                serializer.collect_map(map.iter().map(|entry| (entry.key.as_str(), &entry.node)))
            }
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Value {
    /// Values are equal as JSON values are: the order of keys means nothing, 1 equals 1.0.
    #[expect(
        clippy::cast_precision_loss,
        reason = "integers beyond 2^53 are compared with floats as JSON readers do"
    )]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Big(a), Self::Big(b)) => a == b,
            // Adding zero makes -0 equal to 0.
            (Self::Float(a), Self::Float(b)) => (a + 0.0).total_cmp(&(b + 0.0)).is_eq(),
            (Self::Int(a), Self::Float(b)) | (Self::Float(b), Self::Int(a)) => {
                (*a as f64).total_cmp(&(b + 0.0)).is_eq()
            }
            (Self::Big(a), Self::Float(b)) | (Self::Float(b), Self::Big(a)) => {
                (*a as f64).total_cmp(&(b + 0.0)).is_eq()
            }
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|entry| b.get(&entry.key) == Some(&entry.node))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_stays_small() {
        assert!(std::mem::size_of::<Node>() <= 40, "{}", std::mem::size_of::<Node>());
    }
}
