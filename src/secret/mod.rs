//! Secret values, which are never printed.
//!
//! In: trees, texts of sources, strings. Out: the same with [`MASK`] in place of secrets. All code
//! that prints a source line or a value uses this module; only manifests are printed unchanged.
//!
//! A secret is a value of a Secret, of an environment variable, a flag, a parameter or a field that
//! is named like one, the password of a URL, and a token of a well-known shape.

mod names;
mod source;
mod text;

pub use names::names_secret;
pub use source::{Secrets, masked};
pub use text::redacted;

use crate::yaml::{FieldPath, Map, Node, Segment, Value};
use std::borrow::Cow;

/// The text in place of a secret.
pub const MASK: &str = "•••";

/// A document, or any part of one that no key names, as it may be shown.
pub fn shown(node: &Node) -> Node {
    Place::default().shown(node)
}

/// The facts about a value from its position in the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing; so it is with the root.
    #[default]
    Plain,
    /// In the data of a Secret: everything is hidden.
    Data,
    /// Under a name of a secret: numbers and texts are hidden.
    Named,
}

impl Place {
    /// The place at a path of a document.
    pub fn at(root: &Node, path: &FieldPath) -> Self {
        let mut place = Self::default();
        let mut node = Some(root);
        for segment in &path.0 {
            let Some(here) = node else { break };
            place = place.step(here, segment);
            node = here.select(&FieldPath(vec![segment.clone()])).first().copied();
        }
        place
    }

    /// The position of a child of `node` by key or index.
    pub fn step(self, node: &Node, segment: &Segment) -> Self {
        match (self, segment, &node.value) {
            (Self::Data, ..) => Self::Data,
            (_, Segment::Field(key), Value::Map(map)) => Self::of_field(map, key),
            (_, Segment::Index(index), Value::List(items)) if follows_flag(items, *index) => {
                Self::Named
            }
            (own, _, Value::List(_)) => own,
            _ => Self::Plain,
        }
    }

    fn of_field(map: &Map, key: &str) -> Self {
        let text = |key: &str| map.get(key).and_then(Node::as_str);
        let is_data = matches!(key, "data" | "stringData");
        if is_data && text("kind") == Some("Secret") {
            Self::Data
        } else if names::is_secret_key(key)
            || (key == "value" && text("name").is_some_and(names::names_secret))
        {
            Self::Named
        } else {
            Self::Plain
        }
    }

    /// A value without its secrets; origins stay.
    pub fn shown(self, node: &Node) -> Node {
        self.masked(node).unwrap_or_else(|| node.clone())
    }

    /// The same, or none if the value holds no secret: most do not, and are not copied.
    fn masked(self, node: &Node) -> Option<Node> {
        let value = match (&node.value, self) {
            (Value::Map(map), _) => {
                let mut out = None;
                for (at, entry) in map.iter().enumerate() {
                    let place = self.step(node, &Segment::Field(entry.key.clone()));
                    if let Some(masked) = place.masked(&entry.node) {
                        let own = out.get_or_insert_with(|| map.clone()).iter_mut().nth(at);
                        own.expect("both maps have the same keys").node = masked;
                    }
                }
                Value::Map(out?)
            }
            (Value::List(items), _) => {
                let mut out = None;
                for (at, item) in items.iter().enumerate() {
                    if let Some(masked) = self.step(node, &Segment::Index(at)).masked(item) {
                        out.get_or_insert_with(|| items.clone()).make_mut()[at] = masked;
                    }
                }
                Value::List(out?)
            }
            (Value::Null | Value::Bool(_), _) => return None,
            (Value::Str(text), Self::Named) if text::is_reference(text) => return None,
            (_, Self::Data | Self::Named) => Value::Str(MASK.into()),
            (Value::Str(text), Self::Plain) => match redacted(text) {
                Cow::Borrowed(_) => return None,
                Cow::Owned(text) => Value::Str(text.into()),
            },
            _ => return None,
        };
        Some(Node { value, origin: node.origin })
    }
}

/// Whether an argument is the value of a flag before it that is named like a secret: `--token`,
/// then `abc`.
fn follows_flag(arguments: &[Node], index: usize) -> bool {
    let text = |index: usize| arguments.get(index).and_then(Node::as_str).unwrap_or_default();
    let flag = index.checked_sub(1).map(text).unwrap_or_default();
    let name = flag.trim_start_matches('-');
    name.len() < flag.len() && names::names_secret(name) && !text(index).starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn node(text: &str) -> Node {
        parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.expect("YAML")
    }

    #[test]
    fn secrets_are_masked_everywhere_in_an_object() {
        for (given, expected) in [
            (
                "{apiVersion: v1, kind: Secret, type: Opaque, data: {user: eA==}, stringData: {port: 1, deep: {a: [b]}}}",
                r#"{"apiVersion":"v1","kind":"Secret","type":"Opaque","data":{"user":"•••"},"stringData":{"port":"•••","deep":{"a":["•••"]}}}"#,
            ),
            (
                "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, data: {a: b}}]}",
                r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","data":{"a":"•••"}}]}"#,
            ),
            (
                "env: [{name: HF_TOKEN, value: abc}, {name: LEVEL, value: abc}, {name: PIN_TOKEN, value: 7}]",
                r#"{"env":[{"name":"HF_TOKEN","value":"•••"},{"name":"LEVEL","value":"abc"},{"name":"PIN_TOKEN","value":"•••"}]}"#,
            ),
            (
                "env: [{name: A_TOKEN, value: $(B_TOKEN)}, {name: C_TOKEN, valueFrom: {secretKeyRef: {name: s, key: token}}}]",
                r#"{"env":[{"name":"A_TOKEN","value":"$(B_TOKEN)"},{"name":"C_TOKEN","valueFrom":{"secretKeyRef":{"name":"s","key":"token"}}}]}"#,
            ),
            (
                "{environmentOverride: {API_KEY: abc}, storage: {key: name-of-a-secret, parameters: {secret_access_key: abc, region: x}}}",
                r#"{"environmentOverride":{"API_KEY":"•••"},"storage":{"key":"name-of-a-secret","parameters":{"secret_access_key":"•••","region":"x"}}}"#,
            ),
            (
                "{args: [--api-key, abc, --port, '80', --token=abc, --hf-token, --x], command: [sh, -c, 'run --password abc; HF_TOKEN=abc x']}",
                r#"{"args":["--api-key","•••","--port","80","--token=•••","--hf-token","--x"],"command":["sh","-c","run --password •••; HF_TOKEN=••• x"]}"#,
            ),
            (
                r#"{data: {c.json: '{"accessKey": "abc", "host": "x"}'}, uri: "https://me:abc@host/x", tolerations: [{key: nvidia.com/gpu, value: a}], spread: [{topologyKey: host}]}"#,
                r#"{"data":{"c.json":"{\"accessKey\": \"•••\", \"host\": \"x\"}"},"uri":"https://me:•••@host/x","tolerations":[{"key":"nvidia.com/gpu","value":"a"}],"spread":[{"topologyKey":"host"}]}"#,
            ),
        ] {
            assert_eq!(
                Place::default().shown(&node(given)).to_json().to_string(),
                expected,
                "{given}"
            );
        }
    }

    #[test]
    fn values_are_masked_depending_on_their_path() {
        let secret = node("{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {user: b}}");
        let pod = node(
            "{kind: Pod, env: [{name: HF_TOKEN, value: a}, {name: LEVEL, value: a}], args: [--token, a, --port, a]}",
        );
        for (root, path, hidden) in [
            (&secret, "data.user", true),
            (&secret, "metadata.name", false),
            (&pod, "env[name=HF_TOKEN].value", true),
            (&pod, "env[0].value", true),
            (&pod, "env[0].name", false),
            (&pod, "env[1].value", false),
            (&pod, "args[1]", true),
            (&pod, "args[3]", false),
        ] {
            let path = FieldPath::parse(path).expect("a path");
            let shown = Place::at(root, &path).shown(&node("a"));
            assert_eq!(shown.as_str() == Some(MASK), hidden, "{path}");
        }
    }
}
