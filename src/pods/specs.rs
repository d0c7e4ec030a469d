//! The specs of pods in objects of any kind.
//!
//! In: a tree, such as an object that an operator writes or one of the input. Out: each mapping in it
//! that has containers, from the outside in; within a spec there is no other one.

use crate::yaml::{Node, Value};

/// Goes through the specs of pods below a node.
pub(crate) fn each_spec<'n>(node: &'n Node, found: &mut impl FnMut(&'n Node)) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| each_spec(item, found)),
        Value::Map(_) if !node.items_of("containers").is_empty() => found(node),
        Value::Map(map) => map.iter().for_each(|entry| each_spec(&entry.node, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::node;

    #[test]
    fn specs_are_found_wherever_they_are() {
        for (text, expected) in [
            ("{spec: {template: {spec: {containers: [{name: a}]}}}}", &["a"][..]),
            ("{spec: {containers: [{name: a}], x: {containers: [{name: b}]}}}", &["a"]),
            ("{jobs: [{spec: {containers: [{name: a}]}}, {containers: [{name: b}]}]}", &["a", "b"]),
            ("{spec: {containers: []}}", &[]),
        ] {
            let tree = node(text);
            let mut names = Vec::new();
            each_spec(&tree, &mut |spec| {
                names.extend(spec.items_of("containers")[0].get("name").and_then(Node::as_str));
            });
            assert_eq!(names, expected, "{text}");
        }
    }
}
