//! Secret values, which are never printed.
//!
//! In: trees, texts of sources, strings. Out: the same with [`MASK`] in place of secrets. All code
//! that prints a source line or a value uses this module; only manifests are printed unchanged.
//!
//! Which values are secrets is listed in docs/secrets.md, and in the table of `kinds.rs` that its
//! tests go through.

/// Whether a mapping names a Secret and a key of it, and holds nothing else: beside an access key a
/// secret key is the secret itself.
fn is_key_of_secret(map: &Map) -> bool {
    const BESIDE: [&str; 7] = [
        "secretKey",
        "secretName",
        "secretNamespace",
        "namespace",
        "optional",
        "remoteRef",
        "sourceRef",
    ];
    let names = map.get("secretName").is_some() || map.get("remoteRef").is_some();
    names && map.iter().all(|entry| BESIDE.contains(&entry.key.as_str()))
}

/// Whether a field has the name of a key of a Secret, as values of charts have it beside the name of that
/// Secret: `existingSecret`, `masterkeySecretName` beside `masterkeySecretKey`, or `apiKeySecret` beside
/// `apiKeySecretKey`.
fn names_key_of_secret(map: &Map, key: &str) -> bool {
    let Some(of) = key.strip_suffix("Key") else { return false };
    let of_secret = of.starts_with("secret") || of.contains("Secret");
    // Each of these is an entry of the Secret of an account.
    let of_account = ["user", "username", "password"].contains(&of.to_ascii_lowercase().as_str());
    let names = |entry: &Entry| {
        let is_existing = entry.key.starts_with("existingSecret");
        let is_name = is_existing
            || (of_secret && (entry.key.ends_with("SecretName") || entry.key.as_str() == of));
        is_name && entry.node.as_str().is_some_and(|name| !name.is_empty())
    };
    (of_secret || of_account) && map.iter().any(names)
}

#[cfg(test)]
mod kinds;
mod names;
pub mod placeholder;
mod source;
mod text;

pub use source::{Secrets, masked};
pub use text::{redacted, sentence};

use crate::yaml::{Entry, FieldPath, Map, Node, Segment, Value};
use names::Doubt;
use std::borrow::Cow;

/// Whether the value of a variable is a secret, by its name and itself.
pub fn hides(name: &str, value: &str) -> bool {
    names::of_variable(name).is_some_and(|doubt| doubt.hides(value))
}

/// The secrets in a text at a place of a document.
pub fn pieces(place: Place, text: &str) -> Vec<&str> {
    match place {
        // Everything in a Secret is its secret, whatever it looks like.
        Place::Data => vec![text],
        Place::Named(doubt) if doubt.hides(text) => vec![text],
        Place::User => text.split_once(':').map(|(_, password)| password).into_iter().collect(),
        _ => text::secrets(text).into_iter().map(|range| &text[range]).collect(),
    }
}

/// A JSON value without the secrets that its texts show by themselves.
#[must_use]
pub fn shown_json(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::String(text) => Json::String(redacted(&text).into_owned()),
        Json::Array(items) => Json::Array(items.into_iter().map(shown_json).collect()),
        Json::Object(fields) => {
            Json::Object(fields.into_iter().map(|(key, value)| (key, shown_json(value))).collect())
        }
        other => other,
    }
}

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
    /// In annotations or labels, whose names are free.
    Tags,
    /// A Secret, or a list of them, of whatever kind it says it is.
    Secret,
    /// In a Secret, and nothing that identifies it: everything is hidden.
    Data,
    /// Under a name of a secret: numbers and texts are hidden, as far as the name is sure.
    Named(Doubt),
    /// The value of `curl --user`, whose password is hidden.
    User,
    /// In `secretKeys` of a chart's values: names of keys of the Secret that is named beside it.
    Keys,
}

/// Fields of a Secret that identify it, and are no secrets.
const IDENTITY: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

/// Fields with which other objects name a Secret: of a Gateway's `certificateRefs`, an owner, a patch,
/// a difference that Argo CD ignores, the values of a HelmRelease.
const REFERENCE: [&str; 23] = [
    "annotationSelector",
    "apiVersion",
    "blockOwnerDeletion",
    "controller",
    "fieldPath",
    "group",
    "jqPathExpressions",
    "jsonPointers",
    "key",
    "kind",
    "labelSelector",
    "managedFieldsManagers",
    "name",
    "namespace",
    "optional",
    "port",
    "resourceVersion",
    "sectionName",
    "targetPath",
    "uid",
    "valuesKey",
    "version",
    "weight",
];

/// Whether a mapping of the kind Secret names one and is none: it has nothing that holds a value.
fn is_reference(map: &Map) -> bool {
    map.iter().all(|entry| REFERENCE.contains(&entry.key.as_str()))
}

impl Place {
    /// The place at a path of a document.
    pub fn at(root: &Node, path: &FieldPath) -> Self {
        let mut place = Self::default();
        let mut node = Some(root);
        for segment in &path.0 {
            // Below a field that is not there, the place of the last one holds.
            let Some(here) = node else { break };
            place = place.step(here, segment);
            node = here.select(&FieldPath(vec![segment.clone()])).first().copied();
        }
        place
    }

    /// The position of a child of `node` by key or index.
    pub fn step(self, node: &Node, segment: &Segment) -> Self {
        match (self, segment, &node.value) {
            // Nothing below leaves a Secret, not even a list or a map in it.
            (Self::Data, ..) => Self::Data,
            (Self::Secret, Segment::Field(key), Value::Map(_))
                if !IDENTITY.contains(&key.as_str()) =>
            {
                Self::Data
            }
            (_, Segment::Field(key), Value::Map(map)) => self.of_field(map, key),
            (_, Segment::Index(index), Value::List(items)) => {
                // A list hands on the place of its name: each item of `tokens` is one.
                // Labels in a list are no mapping whose names are free.
                let handed = if self == Self::Tags { Self::Plain } else { self };
                follows_flag(items, *index).unwrap_or(handed)
            }
            _ => Self::Plain,
        }
    }

    fn of_field(self, map: &Map, key: &str) -> Self {
        let text = |key: &str| map.get(key).and_then(Node::as_str);
        // A kind that is misspelled is a Secret still.
        let is_secret = || {
            // A field that only Secrets have shows one, too, whose kind is missing.
            map.get("stringData").is_some()
                || text("kind").is_some_and(|kind| {
                    kind.eq_ignore_ascii_case("secret") || kind.eq_ignore_ascii_case("secrets")
                })
        };
        let is_secret = || is_secret() && !is_reference(map);
        let holds_keys =
            key == "secretKeys" && map.get(key).is_some_and(|keys| keys.as_map().is_some());
        let named = match key {
            // Sums by which pods are restarted.
            _ if self == Self::Tags && key.starts_with("checksum/") => None,
            // The key of a Secret that is named beside it, or that an ExternalSecret fills.
            "secretKey" if is_key_of_secret(map) => None,
            _ if names_key_of_secret(map, key) => None,
            _ if self == Self::Keys || holds_keys => None,
            // Of a variable, the name that counts is in the field beside the value.
            "value" => text("name").and_then(names::of_variable).or_else(|| {
                // Of a label in a list, its key.
                text("key").and_then(|key| names::of_variable(key.rsplit('/').next()?))
            }),
            // The prefix of an annotation is a domain, whose words say nothing about the value.
            _ if self == Self::Tags => names::of_variable(key.rsplit('/').next().unwrap_or(key)),
            _ => names::of_field(key),
        };
        // Items of a typed list need no kind.
        if key == "items"
            && text("kind").is_some_and(|kind| kind.eq_ignore_ascii_case("secretlist"))
        {
            return Self::Secret;
        }
        // Asked last, since it looks at all fields, and first in rank, since it hides the most.
        if !IDENTITY.contains(&key) && is_secret() {
            Self::Data
        } else if let Some(doubt) = named {
            Self::Named(doubt)
        } else if matches!(key, "annotations" | "labels") {
            Self::Tags
        } else if holds_keys {
            Self::Keys
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
                // The copy is made at the first secret: a tree without one is never copied.
                let mut out = None;
                for (at, entry) in map.iter().enumerate() {
                    let place = self.step(node, &Segment::Field(entry.key.clone()));
                    if let Some(masked) = place.masked(&entry.node) {
                        let entry = out.get_or_insert_with(|| map.clone()).iter_mut().nth(at);
                        entry.expect("both maps have the same keys").node = masked;
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
            // Null and booleans tell nothing about a value, and masks would hide mistakes.
            (Value::Null | Value::Bool(_), _) => return None,
            (_, Self::Data) => Value::Str(MASK.into()),
            (Value::Str(text), Self::Named(doubt)) if doubt.hides(text) => Value::Str(MASK.into()),
            (Value::Str(text), Self::User) => {
                let (user, password) = text.split_once(':')?;
                // Without a name for the user, numbers are ids: `--user 1000:1000` of a container
                // engine.
                let is_number =
                    |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
                if names::is_reference(password) || (is_number(user) && is_number(password)) {
                    return None;
                }
                Value::Str(format!("{user}:{MASK}").into())
            }
            // A number is no mode.
            (Value::Int(_) | Value::Big(_) | Value::Float(_), Self::Named(Doubt::None)) => {
                Value::Str(MASK.into())
            }
            // Another Secret, as kubectl and operators keep one in an annotation.
            (Value::Str(text), _) if source::is_secret_document(text) => Value::Str(MASK.into()),
            (Value::Str(text), _) => match redacted(text) {
                Cow::Borrowed(_) => return None,
                Cow::Owned(text) => Value::Str(text.into()),
            },
            _ => return None,
        };
        Some(Node { value, origin: node.origin })
    }
}

/// The place of an argument behind a flag that is named like a secret: `--token`, then `abc`.
fn follows_flag(arguments: &[Node], index: usize) -> Option<Place> {
    let text = |index: usize| arguments.get(index).and_then(Node::as_str).unwrap_or_default();
    let flag = text(index.checked_sub(1)?);
    let name = flag.trim_start_matches('-');
    if name.len() == flag.len() || text(index).starts_with('-') {
        // The next flag follows: this one is a switch without a value.
        return None;
    }
    let program = |back: usize| index.checked_sub(back).map(text).unwrap_or_default();
    match flag {
        "-u" | "-U" | "--user" | "--proxy-user" => Some(Place::User),
        "-p" if program(2) == "sshpass" => Some(Place::Named(Doubt::None)),
        // The host and port of redis-cli may stand between it and `-a`.
        "-a" if (2..6).any(|back| program(back) == "redis-cli") => Some(Place::Named(Doubt::None)),
        _ => names::of_variable(name).map(Place::Named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::node;

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
                "{s3: [{url: {secretName: s, secretKey: endpoint}}], data: [{secretKey: token, remoteRef: {key: a}}], own: {secretKey: abc}, both: {secretName: s, accessKey: abc, secretKey: abc}}",
                r#"{"s3":[{"url":{"secretName":"s","secretKey":"endpoint"}}],"data":[{"secretKey":"token","remoteRef":{"key":"a"}}],"own":{"secretKey":"•••"},"both":{"secretName":"s","accessKey":"•••","secretKey":"•••"}}"#,
            ),
            (
                "{data: [{secretKey: token, sourceRef: {storeRef: {name: a}}, remoteRef: {key: a}}], labels: [{key: python_version, value: a}, {key: a/api-token, value: abc}]}",
                r#"{"data":[{"secretKey":"token","sourceRef":{"storeRef":{"name":"a"}},"remoteRef":{"key":"a"}}],"labels":[{"key":"python_version","value":"a"},{"key":"a/api-token","value":"•••"}]}"#,
            ),
            (
                "{valuesFrom: [{kind: Secret, name: s, valuesKey: API_KEY, targetPath: auth.apiKey}], sp: {headersToExtAuth: [cookie]}, args: [--auth, password]}",
                r#"{"valuesFrom":[{"kind":"Secret","name":"s","valuesKey":"API_KEY","targetPath":"auth.apiKey"}],"sp":{"headersToExtAuth":["cookie"]},"args":["--auth","password"]}"#,
            ),
            (
                "{model: {apiKeySecret: s, apiKeySecretKey: api-key}, grafana: {existingSecret: s, userKey: user, apiKey: abc}, pushover: {userKey: abc}}",
                r#"{"model":{"apiKeySecret":"s","apiKeySecretKey":"api-key"},"grafana":{"existingSecret":"s","userKey":"user","apiKey":"•••"},"pushover":{"userKey":"•••"}}"#,
            ),
            (
                "{masterkeySecretName: s, masterkeySecretKey: masterkey, own: {masterkeySecretKey: abc}, oidc: {existingSecret: s, secretKey: client-secret, password: abc}, none: {existingSecret: '', secretKey: abc}, secretKeys: {adminSecretKey: admin}}",
                r#"{"masterkeySecretName":"s","masterkeySecretKey":"masterkey","own":{"masterkeySecretKey":"•••"},"oidc":{"existingSecret":"s","secretKey":"client-secret","password":"•••"},"none":{"existingSecret":"","secretKey":"•••"},"secretKeys":{"adminSecretKey":"admin"}}"#,
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
