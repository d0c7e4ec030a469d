//! Small tree edits that every step of this module uses.

use super::history::Recorder;
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::EcoVec;

/// Returns the mutable value of a key; sets it to `empty` first when it is absent, null or of
/// another kind. `None` when the node is not a mapping; such a node comes from a file and is
/// reported elsewhere.
fn ensure<'n>(
    node: &'n mut Node,
    key: &str,
    empty: Value,
    fits: fn(&Value) -> bool,
    origin: Origin,
) -> Option<&'n mut Node> {
    let map = node.as_map_mut()?;
    // A null or a scalar in this place is a finding of its own; here the edit must not fail.
    if !map.get(key).is_some_and(|found| fits(&found.value)) {
        map.insert(key, Node::new(empty, origin));
    }
    map.get_mut(key)
}

/// Returns the mutable list under a key; creates it when missing.
pub(crate) fn list_mut<'n>(
    node: &'n mut Node,
    key: &str,
    origin: Origin,
) -> Option<&'n mut EcoVec<Node>> {
    ensure(node, key, Value::List(EcoVec::new()), |value| matches!(value, Value::List(_)), origin)?
        .as_list_mut()
}

/// Returns the mutable mapping under a key; creates it when missing.
pub(crate) fn map_mut<'n>(node: &'n mut Node, key: &str, origin: Origin) -> Option<&'n mut Map> {
    ensure(node, key, Value::Map(Map::new()), |value| matches!(value, Value::Map(_)), origin)?
        .as_map_mut()
}

/// Returns the mutable value of a key, unless it is absent or null.
pub(crate) fn field_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    node.as_map_mut()?.get_mut(key).filter(|found| !found.is_null())
}

/// Calls `change` for each element of the list under a key; copies nothing when the list is empty.
pub(crate) fn each_mut(node: &mut Node, key: &str, change: impl FnMut(&mut Node)) {
    // A mutable borrow copies a shared list, so the read-only look comes first.
    if node.get(key).is_some_and(|list| !list.items().is_empty())
        && let Some(list) = field_mut(node, key).and_then(Node::as_list_mut)
    {
        list.make_mut().iter_mut().for_each(change);
    }
}

/// Builds a mapping whose keys all have the same origin.
pub(crate) fn mapping<const N: usize>(entries: [(&str, Node); N], origin: Origin) -> Node {
    Node::new(
        Value::Map(
            entries
                .into_iter()
                .map(|(key, node)| Entry { key: key.into(), key_origin: origin, node })
                .collect(),
        ),
        origin,
    )
}

/// Returns the index of the first list element whose field `key` has this text.
pub(crate) fn position(items: &[Node], key: &str, text: &str) -> Option<usize> {
    items.iter().position(|item| item.get(key).and_then(Node::as_str) == Some(text))
}

/// Returns the text under a key; empty when it is absent or not text.
pub(crate) fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or("")
}

/// Returns the union of two mappings; the later one overrides.
pub(crate) fn union(mut lower: Map, upper: Option<&Node>, rec: &mut Recorder) -> Map {
    // A null in a layer is an absent key in Go's map: it deletes nothing.
    for entry in
        upper.map(Node::entries).into_iter().flatten().filter(|entry| !entry.node.is_null())
    {
        if let Some(loser) = lower.get(&entry.key) {
            rec.at(entry.key.as_str()).lost(loser, Some(&entry.node));
        }
        lower.insert_entry(entry.clone());
    }
    lower
}
