//! Values of the language, and how they compare.

use crate::yaml::{Node, Value as Tree};
use ecow::EcoString;
use std::cmp::Ordering;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value<'n> {
    /// Part of the object.
    Node(&'n Node),
    Bool(bool),
    Int(i64),
    Text(EcoString),
    List(Vec<Value<'n>>),
    /// Nanoseconds.
    Duration(i128),
}

impl<'n> Value<'n> {
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            Self::Node(node) => node.as_bool(),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Node(node) => node.as_str(),
            _ => None,
        }
    }

    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Node(node) => node.as_int(),
            _ => None,
        }
    }

    /// Elements of a list, keys of a map.
    pub(super) fn elements(&self) -> Option<Vec<Value<'n>>> {
        match self {
            Self::List(items) => Some(items.clone()),
            Self::Node(node) => match &node.value {
                Tree::List(items) => Some(items.iter().map(Value::Node).collect()),
                Tree::Map(map) => {
                    Some(map.iter().map(|entry| Value::Text(entry.key.clone())).collect())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Characters of a text, elements of a list or a map.
    pub(super) fn size(&self) -> Option<i64> {
        let size = match self {
            Self::List(items) => items.len(),
            Self::Node(Node { value: Tree::List(items), .. }) => items.len(),
            Self::Node(Node { value: Tree::Map(map), .. }) => map.len(),
            value => value.text()?.chars().count(),
        };
        i64::try_from(size).ok()
    }

    pub(super) fn field(&self, name: &str) -> Option<Value<'n>> {
        match self {
            Self::Node(node) => node.get(name).map(Value::Node),
            _ => None,
        }
    }

    /// Whether two values are equal; values of different types are not.
    pub(super) fn equals(&self, other: &Self) -> bool {
        if let (Self::Node(a), Self::Node(b)) = (self, other) {
            return a == b;
        }
        self.compare(other) == Some(Ordering::Equal)
            || matches!((self.truth(), other.truth()), (Some(a), Some(b)) if a == b)
    }

    /// The order of numbers, texts and durations.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Duration(a), Self::Duration(b)) => Some(a.cmp(b)),
            _ => match (self.int(), other.int()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => Some(self.text()?.cmp(other.text()?)),
            },
        }
    }
}

/// Go's `time.ParseDuration`, without signs: `1h1.5s`, `100ms`, `0`.
pub(super) fn duration(text: &str) -> Option<i128> {
    const UNITS: [(&str, i128); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    if text == "0" {
        return Some(0);
    }
    let mut total = 0_i128;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit = UNITS.iter().find(|(unit, _)| *unit == &after[..unit_end])?.1;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || whole.len() > 18 || fraction.contains('.') {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction = &fraction[..fraction.len().min(15)];
        let part: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        total += whole * unit + part * unit / scale;
        rest = &after[unit_end..];
    }
    Some(total)
}
