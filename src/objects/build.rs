//! Builds trees that read like the manifests they become.
//!
//! In: a rule, and values. Out: a [`Node`] whose every leaf has the rule as its origin, or keeps
//! its own. The key of an absent value is left out, so that no built tree holds a null.

use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::EcoString;

/// Source of written values: a rule, or any other origin.
pub(crate) trait By: Copy {
    /// The origin of what is written.
    fn origin(self) -> Origin;
}

impl By for &'static Rule {
    fn origin(self) -> Origin {
        Origin::Derived(self)
    }
}

impl By for Origin {
    fn origin(self) -> Origin {
        self
    }
}

/// Builds a tree in the notation of JSON: keys are words or text, values are literals, names,
/// `{…}`, `[…]`, or `(…)` around any other expression. Values are anything with [`IntoNode`].
macro_rules! node {
    ($rule:expr; { $($key:tt : $value:tt),* $(,)? }) => {{
        let origin = $crate::objects::build::By::origin($rule);
        let fields = [$(($crate::objects::build::key!($key), $crate::objects::build::node!(origin; $value))),*];
        Some($crate::objects::build::mapping(fields, origin))
    }};
    ($rule:expr; [ $($item:tt),* $(,)? ]) => {{
        let origin = $crate::objects::build::By::origin($rule);
        let items: Vec<Option<$crate::yaml::Node>> = vec![$($crate::objects::build::node!(origin; $item)),*];
        Some($crate::yaml::Node::list(items.into_iter().flatten(), origin))
    }};
    ($rule:expr; ( $value:expr )) => { $crate::objects::build::IntoNode::into_node($value, $rule) };
    ($rule:expr; $value:expr) => { $crate::objects::build::IntoNode::into_node($value, $rule) };
}

/// A key of [`node!`] as text.
macro_rules! key {
    ($key:ident) => {
        stringify!($key)
    };
    ($key:literal) => {
        $key
    };
}

pub(crate) use {key, node};

/// A mapping of these fields, in this order, without the absent ones.
pub(crate) fn mapping<const N: usize>(
    fields: [(&'static str, Option<Node>); N],
    by: impl By,
) -> Node {
    let origin = by.origin();
    let mut map = Map::with_capacity(N);
    for (key, value) in fields {
        if let Some(node) = value {
            // The keys of a literal are distinct, so no search for an earlier entry is needed.
            map.push(Entry { key: EcoString::from(key), key_origin: origin, node });
        }
    }
    Node::new(Value::Map(map), origin)
}

/// A value of [`node!`]: becomes a node with the origin of the caller, keeps its own when it is a
/// node already, or is absent.
pub(crate) trait IntoNode {
    /// The node; `None` leaves the key out.
    fn into_node(self, by: impl By) -> Option<Node>;
}

impl IntoNode for Node {
    fn into_node(self, _: impl By) -> Option<Node> {
        Some(self)
    }
}

impl IntoNode for &Node {
    fn into_node(self, _: impl By) -> Option<Node> {
        Some(self.clone())
    }
}

impl<T: IntoNode> IntoNode for Option<T> {
    fn into_node(self, by: impl By) -> Option<Node> {
        self.and_then(|value| value.into_node(by))
    }
}

impl IntoNode for &Option<Node> {
    fn into_node(self, _: impl By) -> Option<Node> {
        self.clone()
    }
}

impl IntoNode for &Option<EcoString> {
    fn into_node(self, by: impl By) -> Option<Node> {
        self.as_ref().and_then(|text| text.into_node(by))
    }
}

impl<T: IntoNode> IntoNode for Vec<T> {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::list(self.into_iter().filter_map(|item| item.into_node(by)), by.origin()))
    }
}

/// A mapping; an empty one is absent.
impl IntoNode for Map {
    fn into_node(self, by: impl By) -> Option<Node> {
        (!self.is_empty()).then(|| Node::new(Value::Map(self), by.origin()))
    }
}

impl IntoNode for &Map {
    fn into_node(self, by: impl By) -> Option<Node> {
        self.clone().into_node(by)
    }
}

impl IntoNode for &str {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::str(self, by.origin()))
    }
}

impl IntoNode for String {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::str(self, by.origin()))
    }
}

impl IntoNode for EcoString {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::str(self, by.origin()))
    }
}

impl IntoNode for &EcoString {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::str(self.clone(), by.origin()))
    }
}

impl IntoNode for i64 {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::int(self, by.origin()))
    }
}

impl IntoNode for i32 {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::int(i64::from(self), by.origin()))
    }
}

impl IntoNode for bool {
    fn into_node(self, by: impl By) -> Option<Node> {
        Some(Node::bool(self, by.origin()))
    }
}

/// A text that is written only when it is not empty (`omitempty`).
pub(crate) fn filled(text: &EcoString) -> Option<&EcoString> {
    Some(text).filter(|text| !text.is_empty())
}

/// Sets a key of a mapping: in place when it is there, else at the end.
pub(crate) fn set(map: &mut Map, key: &'static str, value: impl IntoNode, by: impl By) {
    if let Some(node) = value.into_node(by) {
        map.insert_entry(Entry { key: EcoString::from(key), key_origin: by.origin(), node });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static RULE: Rule = Rule { id: "test", text: "test", cite: "test" };

    #[test]
    fn the_node_macro_builds_mappings_and_omits_absent_values() {
        let name = EcoString::from("chat");
        let kept = Node::int(7, Origin::Default(&RULE));
        let built = node!(&RULE; {
            type: "Resource",
            "ome.io/name": (&name),
            none: (None::<i64>),
            replicas: (&kept),
            items: [1, { deep: true }, (None::<i64>)],
            empty: {},
        })
        .expect("a mapping");
        let expected = serde_json::json!({"type": "Resource", "ome.io/name": "chat", "replicas": 7, "items": [1, {"deep": true}], "empty": {}});
        assert_eq!(built.to_json(), expected);
        assert!(
            matches!(built.get("replicas").map(|node| node.origin), Some(Origin::Default(_))),
            "a node keeps its origin"
        );
        assert!(matches!(built.get("type").map(|node| node.origin), Some(Origin::Derived(_))));
    }
}
