//! Compares a class on disk with the proposed one: paths with other spellings, equal values, the
//! shipped format.

use super::{ALIASES, ORIGIN, REQUIRED, number, path, starts_with};
use crate::api::{Figure, Semantics};
use crate::operators::ome::read::accelerator::memory;
use crate::quantity::Quantity;
use crate::yaml::{FieldPath, Map, Node, Segment, Value};
use ecow::EcoVec;

/// The value of a field in any of its spellings.
pub(super) fn value_at<'n>(object: &'n Node, path: &FieldPath) -> Option<&'n Node> {
    // A null is no value: the other spelling may have one.
    let found =
        |path: &FieldPath| object.select(path).into_iter().next().filter(|node| !node.is_null());
    found(path).or_else(|| found(&spelled_otherwise(object, path)?))
}

/// The path at which the object has a field under another spelling: an alias, the shipped key of a
/// figure, the selector next to `discovery`.
pub(super) fn spelled_otherwise(object: &Node, path: &FieldPath) -> Option<FieldPath> {
    let (Segment::Field(last), parent) = path.0.split_last()? else { return None };
    let field = |key: &str| FieldPath(parent.to_vec()).field(key);
    if starts_with(path, &["spec", "capabilities", "performance"]) {
        let performance = object.at(&["spec", "capabilities", "performance"])?;
        return performance
            .entries()
            // Proposal and CRD spell the figures alike but for case, as `fp16TFLOPS`.
            .find(|entry| entry.key != *last && entry.key.eq_ignore_ascii_case(last))
            .map(|entry| field(&entry.key));
    }
    if starts_with(path, &["spec", "discovery", "nodeSelectorTerms"]) {
        return object.at(&REQUIRED).map(|_| self::path(&REQUIRED));
    }
    if starts_with(path, &["spec", "discovery", "nodeSelector"]) {
        return object.at(&["spec", "nodeSelector"]).map(|_| self::path(&["spec", "nodeSelector"]));
    }
    let (_, alias) =
        ALIASES.iter().find(|(field, _)| starts_with(path, &["spec", "capabilities", field]))?;
    object.at(&["spec", "capabilities", alias]).map(|_| field(alias))
}

/// Whether two values of a field are equivalent.
pub(super) fn same(path: &FieldPath, a: &Node, b: &Node) -> bool {
    let amounts = || {
        Some((
            Quantity::parse_field(&a.scalar_text()?).ok()?,
            Quantity::parse_field(&b.scalar_text()?).ok()?,
        ))
    };
    if a == b {
        return true;
    }
    if starts_with(path, &["spec", "capabilities", "memoryGB"]) {
        // `80`, `80Gi` and `81920Mi` are the same memory in the proposal.
        let size = |node: &Node| memory(&node.scalar_text()?, Semantics::Documented);
        return size(a).is_some() && size(a) == size(b);
    }
    if starts_with(path, &["spec", "capabilities", "features"]) {
        let set = |node: &Node| {
            node.items()
                .iter()
                .filter_map(Node::scalar_text)
                // Features are a set: neither order nor case has a meaning.
                .map(|text| text.to_lowercase())
                .collect::<std::collections::BTreeSet<_>>()
        };
        return set(a) == set(b);
    }
    if starts_with(path, &["spec", "resources"]) {
        // Equal when merging the proposed ones in would change nothing.
        return resources(Some(a), b) == *a;
    }
    if starts_with(path, &["spec", "capabilities", "performance"]) {
        // The shipped format has integers.
        let rounded = |(a, b): (Quantity, Quantity)| {
            a == b || (a.is_integer() && (a.as_f64() - b.as_f64().round()).abs() < 0.5)
        };
        return amounts().is_some_and(rounded);
    }
    if starts_with(path, &["spec", "capabilities"]) {
        return amounts().map_or_else(
            || a.scalar_text().is_some() && a.scalar_text() == b.scalar_text(),
            // Amounts count as numbers, so that `3350` equals `"3350"`; all else as text.
            |(a, b)| a == b,
        );
    }
    if starts_with(path, &["spec", "vendor"])
        || starts_with(path, &["spec", "family"])
        || starts_with(path, &["spec", "model"])
    {
        return matches!((a.as_str(), b.as_str()), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b));
    }
    false
}

/// Merges the proposed resources into those on disk: an existing name gets the proposed quantity,
/// all others are kept.
pub(super) fn resources(written: Option<&Node>, wanted: &Node) -> Node {
    let mut list: EcoVec<Node> =
        written.map(Node::items).unwrap_or_default().iter().cloned().collect();
    for one in wanted.items() {
        let name = one.get("name").and_then(Node::as_str);
        let amount = |node: &Node| {
            node.get("quantity")
                // An accelerator without a quantity is one.
                .map_or_else(|| Some("1".into()), Node::scalar_text)
                .and_then(|text| Quantity::parse_field(&text).ok())
        };
        match list.iter().position(|list| list.get("name").and_then(Node::as_str) == name) {
            None => list.push(one.clone()),
            // Equal amounts keep the spelling on disk.
            Some(index) if amount(&list[index]) == amount(one) => {}
            Some(index) => {
                if let (Some(map), Some(quantity)) =
                    (list.make_mut()[index].as_map_mut(), one.get("quantity"))
                {
                    map.insert("quantity", quantity.clone());
                }
            }
        }
    }
    Node::new(Value::List(list), written.map_or(ORIGIN, |written| written.origin))
}

/// An object in the format of the shipped CRD: terms are an affinity, figures are integers, fp8 has
/// no figure (OEP-0003, AcceleratorClass).
pub(super) fn shipped(object: &Node) -> Node {
    let mut out = object.clone();
    if let Some(terms) = object.at(&["spec", "discovery", "nodeSelectorTerms"]) {
        out.set(&path(&["spec", "discovery", "nodeSelectorTerms"]).0, None);
        out.set(&path(&REQUIRED).0, Some(terms.clone()));
    }
    if let Some(performance) = object.at(&["spec", "capabilities", "performance"]) {
        let mut figures = Map::new();
        for entry in performance.entries() {
            let figure = Figure::ALL
                .into_iter()
                .find(|figure| entry.key.eq_ignore_ascii_case(figure.shipped_key()));
            let value = entry.node.scalar_text().and_then(|text| text.parse::<f64>().ok());
            match (figure, value) {
                // The CRD has no field for it; a server would drop it or refuse the object.
                (Some(Figure::Fp8), _) => {}
                (Some(figure), Some(value)) => {
                    figures.insert(figure.shipped_key(), number(value.round()));
                }
                _ => figures.insert_entry(entry.clone()),
            }
        }
        let figures =
            (!figures.is_empty()).then(|| Node::new(Value::Map(figures), performance.origin));
        out.set(&path(&["spec", "capabilities", "performance"]).0, figures);
    }
    out
}
