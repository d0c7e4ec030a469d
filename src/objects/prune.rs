//! Removes nulls, empty mappings and empty lists, except those with a meaning.

use crate::yaml::{Map, Node, Value};

/// Keys whose empty values are kept: an empty volume, selectors that match everything, parameters
/// that KubeRay requires.
const MEANT_EMPTY: [&str; 7] = [
    "emptyDir",
    "podSelector",
    "namespaceSelector",
    "labelSelector",
    "rayStartParams",
    "selector",
    "matchLabels",
];

/// Removes nulls, empty mappings and empty lists from a tree; copies nothing when there are none.
/// Elements of lists are kept.
pub(crate) fn tidy(node: &mut Node) {
    if is_tidy(node) {
        return;
    }
    match &mut node.value {
        Value::Map(map) => tidy_map(map),
        Value::List(items) => items.make_mut().iter_mut().for_each(tidy),
        _ => {}
    }
}

fn tidy_map(map: &mut Map) {
    // Children first: a mapping whose last key goes is empty itself and goes, too.
    for entry in map.iter_mut() {
        tidy(&mut entry.node);
    }
    map.retain(|entry| says_something(&entry.key, &entry.node));
}

fn says_something(key: &str, node: &Node) -> bool {
    !node.is_empty() || (!node.is_null() && MEANT_EMPTY.contains(&key))
}

fn is_tidy(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => {
            map.iter().all(|entry| says_something(&entry.key, &entry.node) && is_tidy(&entry.node))
        }
        Value::List(items) => items.iter().all(is_tidy),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn empty_values_are_removed_except_meaningful_ones() {
        let mut node = parse(
            r#"{"a":null,"b":{},"c":[],"d":{"e":{"f":null}},"volumes":[{"name":"v","emptyDir":{}},{}],"securityContext":{},"s":""}"#,
        );
        tidy(&mut node);
        assert_eq!(
            node.to_json(),
            serde_json::json!({"volumes": [{"name": "v", "emptyDir": {}}, {}], "s": ""})
        );
    }
}
