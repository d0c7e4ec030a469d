//! Small changes of trees that every step of this module makes.

use super::history::{Record, Step};
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::EcoVec;

/// The value of a key, to be changed; put there as `empty` when it is absent, null or of another
/// kind. `None` when the node is no mapping: such a node came from a file and is reported
/// elsewhere.
fn ensure<'n>(
    node: &'n mut Node,
    key: &str,
    empty: Value,
    fits: fn(&Value) -> bool,
    origin: Origin,
) -> Option<&'n mut Node> {
    let map = node.as_map_mut()?;
    if !map.get(key).is_some_and(|found| fits(&found.value)) {
        map.insert(key, Node::new(empty, origin));
    }
    map.get_mut(key)
}

/// The list under a key, to be changed; created when it is not there.
pub(crate) fn list_mut<'n>(
    node: &'n mut Node,
    key: &str,
    origin: Origin,
) -> Option<&'n mut EcoVec<Node>> {
    ensure(node, key, Value::List(EcoVec::new()), |value| matches!(value, Value::List(_)), origin)?
        .as_list_mut()
}

/// The mapping under a key, to be changed; created when it is not there.
pub(crate) fn map_mut<'n>(node: &'n mut Node, key: &str, origin: Origin) -> Option<&'n mut Map> {
    ensure(node, key, Value::Map(Map::new()), |value| matches!(value, Value::Map(_)), origin)?
        .as_map_mut()
}

/// The value of a key, to be changed, when there is one.
pub(crate) fn field_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    node.as_map_mut()?.get_mut(key).filter(|found| !found.is_null())
}

/// Changes the elements of the list under a key, when there are any; without any nothing is copied.
pub(crate) fn each_mut(node: &mut Node, key: &str, change: impl FnMut(&mut Node)) {
    if node.get(key).is_some_and(|list| !list.items().is_empty())
        && let Some(list) = field_mut(node, key).and_then(Node::as_list_mut)
    {
        list.make_mut().iter_mut().for_each(change);
    }
}

/// A mapping of which every key is written by one origin.
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

/// Where the list element is whose field has this text.
pub(crate) fn position(items: &[Node], key: &str, text: &str) -> Option<usize> {
    items.iter().position(|item| item.get(key).and_then(Node::as_str) == Some(text))
}

/// The text under a key; empty when it is absent or none.
pub(crate) fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or("")
}

/// Does something one step further down.
pub(crate) fn within<R: Record, T>(
    step: Step<'_>,
    rec: &mut R,
    inner: impl FnOnce(&mut R) -> T,
) -> T {
    rec.enter(step);
    let result = inner(rec);
    rec.leave();
    result
}

/// Records that one step further down `loser` gave way to `winner`.
pub(crate) fn lost<R: Record>(step: Step<'_>, loser: &Node, winner: &Node, rec: &mut R) {
    within(step, rec, |rec| rec.lost(loser, Some(winner)));
}

/// The union of two mappings, the later one winning.
pub(crate) fn union<R: Record>(mut lower: Map, upper: Option<&Node>, rec: &mut R) -> Map {
    for entry in
        upper.map(Node::entries).into_iter().flatten().filter(|entry| !entry.node.is_null())
    {
        if let Some(loser) = lower.get(&entry.key) {
            lost(Step::Field(&entry.key), loser, &entry.node, rec);
        }
        lower.insert_entry(entry.clone());
    }
    lower
}
