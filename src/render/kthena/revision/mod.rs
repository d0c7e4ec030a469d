//! Revisions: what Kthena calls a version of the role templates.
//!
//! In: roles as the API server stores them. Out: the hash that stands in labels of pods and in the
//! name of a ControllerRevision. Upstream prints the Go structs with go-spew and hashes the text
//! (pkg/model-serving-controller/utils/ revision_util.go); the text depends on the declarations of
//! the structs, so they are pinned here in `go_types.txt`. A controller built with another
//! Kubernetes library has other revisions (kthena.md 2.6).

mod quantity;
mod types;

use crate::yaml::{Map, Node, Value};
use ecow::EcoString;
use std::fmt::Write as _;
use types::{Kind, Struct};

/// Fields of a role that do not count: changing them is no update.
const NOT_COUNTED: [&str; 3] = ["replicas", "maxUnavailable", "partition"];

/// Revision of a list of roles.
pub fn of_roles<'a>(roles: impl IntoIterator<Item = &'a Node>) -> EcoString {
    let mut text = String::with_capacity(4096);
    text.push_str("([]v1alpha1.Role)[");
    for (index, role) in roles.into_iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        push_role(&mut text, role);
    }
    text.push(']');
    safe(fnv1(text.as_bytes()))
}

/// Hash of one role.
pub fn of_role(role: &Node) -> EcoString {
    let mut text = String::with_capacity(4096);
    text.push_str("(v1alpha1.Role)");
    push_role(&mut text, role);
    safe(fnv1(text.as_bytes()))
}

fn push_role(text: &mut String, role: &Node) {
    let mut counted = role.as_map().cloned().unwrap_or_default();
    counted.retain(|entry| !NOT_COUNTED.contains(&entry.key.as_str()));
    push_struct(text, types::role(), Some(&counted));
}

/// FNV-1 of 32 bits: multiply, then exclusive or.
fn fnv1(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(2_166_136_261, |hash: u32, byte| hash.wrapping_mul(16_777_619) ^ u32::from(*byte))
}

/// A number in digits that spell no word (`rand.SafeEncodeString` of apimachinery).
fn safe(hash: u32) -> EcoString {
    const DIGITS: [char; 10] = ['4', '5', '6', '7', '8', '9', 'b', 'c', 'd', 'f'];
    hash.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// The fields of a struct; an absent mapping is a struct of zero values.
fn push_struct(text: &mut String, structure: &'static Struct, map: Option<&Map>) {
    text.push('{');
    for (index, field) in structure.fields.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&field.name);
        text.push_str(":(");
        text.push_str(field.spelled);
        text.push(')');
        match (&field.kind, field.json) {
            // An embedded struct has the fields of its owner.
            (Kind::Struct(name), None) => push_struct(text, types::structure(name), map),
            (kind, json) => push_value(
                text,
                kind,
                json.and_then(|json| map?.get(json)).filter(|node| !node.is_null()),
            ),
        }
    }
    text.push('}');
}

/// A value without its type. What is absent or of another type is the zero value.
fn push_value(text: &mut String, kind: &Kind, node: Option<&Node>) {
    match kind {
        Kind::Pointer(inner) => match node {
            Some(node) => push_value(text, inner, Some(node)),
            None => text.push_str("<nil>"),
        },
        Kind::List(inner) => match node.map(|node| &node.value) {
            Some(Value::List(items)) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        text.push(' ');
                    }
                    push_value(text, inner, Some(item));
                }
                text.push(']');
            }
            _ => text.push_str("<nil>"),
        },
        Kind::Map(inner) => match node.map(|node| &node.value) {
            Some(Value::Map(map)) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by(|a, b| a.key.cmp(&b.key));
                text.push_str("map[");
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        text.push(' ');
                    }
                    text.push_str(&entry.key);
                    text.push(':');
                    push_value(text, inner, Some(&entry.node));
                }
                text.push(']');
            }
            _ => text.push_str("<nil>"),
        },
        Kind::Struct(name) => {
            push_struct(text, types::structure(name), node.and_then(Node::as_map));
        }
        Kind::Text => text.push_str(node.and_then(Node::as_str).unwrap_or_default()),
        Kind::Integer => _ = write!(text, "{}", node.and_then(Node::as_int).unwrap_or_default()),
        Kind::Bool => _ = write!(text, "{}", node.and_then(Node::as_bool).unwrap_or_default()),
        Kind::Quantity => quantity::push(text, node.and_then(Node::scalar_text).as_deref()),
        Kind::IntOrString => {
            let (kind, number, word) = match node.map(|node| &node.value) {
                Some(Value::Str(word)) => (1, 0, word.as_str()),
                _ => (0, node.and_then(Node::as_int).unwrap_or_default(), ""),
            };
            _ = write!(
                text,
                "{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){word}}}"
            );
        }
        // A time is never set in a template: nobody writes creationTimestamp of a volume claim.
        Kind::Time => text
            .push_str("{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn tree(text: &str) -> Node {
        let checked = parse(SourceId(0), text, 0..text.len(), &Limits::default());
        checked.value.unwrap()
    }

    fn role(name: &str, entry: &str) -> Node {
        tree(&format!("{{name: {name}, workerReplicas: 0, entryTemplate: {entry}}}"))
    }

    // Vectors of kthena.md 2.6, made with Go and go-spew.
    #[test]
    fn revisions_are_those_of_upstream() {
        let nginx = |more: &str| {
            format!("{{spec: {{containers: [{{name: nginx, image: 'nginx:1.14.2'{more}}}]}}}}")
        };
        for (entry, revision, hash) in [
            (nginx(""), "76665f8574", "66fc9464c8"),
            (
                "{metadata: {}, spec: {containers: [{name: nginx, image: 'nginx:1.14.2'}]}}"
                    .to_owned(),
                "5578c4f896",
                "5585868b",
            ),
            (nginx(", ports: [{containerPort: 8080, protocol: TCP}]"), "8585bb4c6f", "6d87db85bc"),
            (
                "{spec: {tolerations: [], containers: [{name: nginx, image: 'nginx:1.14.2'}]}}"
                    .to_owned(),
                "6f4658d7c",
                "5c777467d9",
            ),
            (nginx(", resources: {requests: {cpu: 100m}}"), "6788c99bc9", "66978d9f67"),
            (nginx(", resources: {requests: {cpu: '0.1'}}"), "747f546b67", "67887f4fcf"),
            (nginx(", resources: {limits: {nvidia.com/gpu: 8}}"), "55fddddb9", "7c659bd7"),
            (nginx(", resources: {limits: {nvidia.com/gpu: '8'}}"), "55fddddb9", "7c659bd7"),
        ] {
            let role = role("prefill", &entry);
            assert_eq!(
                (of_roles([&role]).as_str(), of_role(&role).as_str()),
                (revision, hash),
                "{entry}"
            );
        }
        let (prefill, decode) = (role("prefill", &nginx("")), role("decode", &nginx("")));
        assert_eq!(of_roles([&prefill, &decode]), "79cddb964");
        assert_eq!(of_roles([&decode, &prefill]), "5f77654b4");
        assert_eq!(of_role(&decode), "868665b8d4");
    }

    // Roles at random with their hashes, by Go, go-spew and k8s.io/api v0.34.2.
    #[test]
    fn hashes_of_any_role_are_those_of_go() {
        let table = include_str!("../../../../testdata/kthena/revisions.jsonl");
        assert!(table.lines().count() >= 60);
        for line in table.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let role = Node::from_json(
                &row["role"],
                crate::yaml::Origin::Default(&crate::render::kthena::rules::POD),
            );
            assert_eq!(of_role(&role), row["hash"].as_str().unwrap(), "{line}");
        }
    }

    #[test]
    fn numbers_of_replicas_do_not_count() {
        let with = tree(
            "{name: a, replicas: 3, maxUnavailable: 50%, partition: 1, workerReplicas: 0, entryTemplate: {spec: {containers: []}}}",
        );
        let without = tree("{name: a, workerReplicas: 0, entryTemplate: {spec: {containers: []}}}");
        assert_eq!(of_roles([&with]), of_roles([&without]));
        let workers = tree("{name: a, workerReplicas: 1, entryTemplate: {spec: {containers: []}}}");
        assert_ne!(of_roles([&workers]), of_roles([&without]));
    }

    #[test]
    fn the_text_of_the_smallest_role_is_the_recorded_one() {
        let mut text = String::new();
        push_role(
            &mut text,
            &role("prefill", "{spec: {containers: [{name: nginx, image: 'nginx:1.14.2'}]}}"),
        );
        assert_eq!(text.len() + "([]v1alpha1.Role)[]".len(), 2641);
        assert!(text.ends_with(
            "RollingUpdateConfiguration:(v1alpha1.RollingUpdateConfiguration){MaxUnavailable:(*intstr.IntOrString)<nil> Partition:(*intstr.IntOrString)<nil>}}"
        ));
    }
}
