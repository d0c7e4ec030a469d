//! Values of the language, and how they compare.

use crate::quantity::Quantity;
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
    Quantity(Box<Quantity>),
    Semver(Box<Semver>),
    /// A map that answers a missing key with an empty map: the attributes and capacities of a
    /// device by domain.
    Domains(&'n Node),
}

/// Whether a tree is that of a device: it has the fields of one and no others.
fn is_device(node: &Node) -> bool {
    let mut entries = node.entries();
    ["driver", "attributes", "capacity"]
        .iter()
        .all(|field| entries.next().is_some_and(|entry| entry.key == *field))
        && entries.next().is_none()
}

/// A semantic version: the three numbers, and the identifiers of a version before a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Semver {
    numbers: [u64; 3],
    before: Vec<EcoString>,
}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Semver {
    /// A version before a release is less than the release; numbers are less than words.
    fn cmp(&self, other: &Self) -> Ordering {
        // Identifiers of digits compare as numbers, as in rc.2 and rc.10 (Semantic Versioning,
        // precedence).
        let identifier =
            |one: &EcoString, other: &EcoString| match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(other),
            };
        let before = || match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.before.iter().zip(&other.before);
                let first = pairs.map(|(one, other)| identifier(one, other));
                let first = first.into_iter().find(|order| order.is_ne());
                first.unwrap_or_else(|| self.before.len().cmp(&other.before.len()))
            }
        };
        self.numbers.cmp(&other.numbers).then_with(before)
    }
}

/// Reads a semantic version, `1.2.3-rc.1+build`.
pub(super) fn semver(text: &str) -> Option<Semver> {
    // Build metadata has no part in the order.
    let text = text.split_once('+').map_or(text, |(text, _)| text);
    let (numbers, before) = text.split_once('-').map_or((text, None), |(a, b)| (a, Some(b)));
    let numbers: Vec<u64> = numbers.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    let before = before.map(|before| before.split('.').map(EcoString::from).collect());
    Some(Semver { numbers: numbers.try_into().ok()?, before: before.unwrap_or_default() })
}

/// The order of two quantities or versions; a value of a device is the text of one.
pub(super) fn typed_order(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    let quantity = |value: &Value<'_>| match value {
        Value::Quantity(quantity) => Some((**quantity).clone()),
        value => Quantity::parse(&value.written()?).ok(),
    };
    let version = |value: &Value<'_>| match value {
        Value::Semver(semver) => Some((**semver).clone()),
        value => semver(value.text()?),
    };
    // A text of a device is read as what it is compared with.
    if matches!(one, Value::Semver(_)) || matches!(other, Value::Semver(_)) {
        return Some(version(one)?.cmp(&version(other)?));
    }
    Some(quantity(one)?.cmp(&quantity(other)?))
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

    /// The text of a scalar; a number is its digits.
    fn written(&self) -> Option<EcoString> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Node(node) => node.scalar_text(),
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
            Self::Domains(node) => Self::Node(node).elements(),
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
            Self::Domains(node) => return Self::Node(node).size(),
            Self::Node(Node { value: Tree::List(items), .. }) => items.len(),
            Self::Node(Node { value: Tree::Map(map), .. }) => map.len(),
            value => value.text()?.chars().count(),
        };
        i64::try_from(size).ok()
    }

    pub(super) fn field(&self, name: &str) -> Option<Value<'n>> {
        match self {
            Self::Domains(node) => {
                // A domain that a driver does not have is an empty map, so that its attributes are
                // missing keys.
                Some(node.get(name).map_or_else(|| Value::List(Vec::new()), Value::Node))
            }
            // Of a device.
            Self::Node(node) => match (name, node.get(name)) {
                ("attributes" | "capacity", Some(domains)) if is_device(node) => {
                    Some(Value::Domains(domains))
                }
                (_, found) => found.map(Value::Node),
            },
            _ => None,
        }
    }

    /// Whether two values are equal; values of different types are not.
    pub(super) fn equals(&self, other: &Self) -> bool {
        if let (Self::Node(a), Self::Node(b)) = (self, other) {
            // Parts of the object are compared as trees; origins are not part of a node's equality.
            return a == b;
        }
        self.compare(other) == Some(Ordering::Equal)
            || matches!((self.truth(), other.truth()), (Some(a), Some(b)) if a == b)
    }

    /// The order of numbers, texts and durations.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Quantity(_) | Self::Semver(_), _) | (_, Self::Quantity(_) | Self::Semver(_)) => {
                typed_order(self, other)
            }
            (Self::Duration(a), Self::Duration(b)) => Some(a.cmp(b)),
            _ => match (self.int(), other.int()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => Some(self.text()?.cmp(other.text()?)),
            },
        }
    }
}

/// Go's `time.ParseDuration`, without signs: `1h1.5s`, `100ms`, `0`.
pub(crate) fn duration(text: &str) -> Option<i128> {
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
        // 18 digits times the largest unit stay far inside 128 bits.
        if (whole.is_empty() && fraction.is_empty()) || whole.len() > 18 || fraction.contains('.') {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        // The last of 15 digits is less than a nanosecond, even of an hour.
        let fraction = &fraction[..fraction.len().min(15)];
        let part: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        total += whole * unit + part * unit / scale;
        rest = &after[unit_end..];
    }
    Some(total)
}
