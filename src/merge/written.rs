//! Merges one tree as written over another: the documented merge of a service over a runtime.
//!
//! Mappings merge by key, lists with a merge key by that key: existing elements keep their position
//! in the lower tree, new ones follow (OME docs, Serving Runtime, Engine Configuration). Arguments
//! are concatenated (OEP-0003, Notes/Constraints/Caveats), affinities are combined (OEP-0003,
//! Notes/Constraints/Caveats; docs/decisions.md#affinity); every other list and every scalar of the
//! upper tree replaces that of the lower one. A null in the upper tree has no effect.

use super::history::{Recorder, Step};
use crate::yaml::{Entry, Map, Node, Places, Value};
use ecow::{EcoString, EcoVec};

/// Returns the merge key of a list field: the fields that identify an element. The first one is
/// used in paths.
///
/// Ports and topology constraints have the two keys of server-side apply, so that 80/TCP and 80/UDP
/// stay two ports.
fn merge_key(field: &str) -> Option<&'static [&'static str]> {
    Some(match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "imagePullSecrets"
        | "schedulingGates"
        | "resourceClaims"
        | "env" => &["name"],
        "ports" => &["containerPort", "protocol"],
        "volumeMounts" => &["mountPath"],
        "volumeDevices" => &["devicePath"],
        "hostAliases" => &["ip"],
        "topologySpreadConstraints" => &["topologyKey", "whenUnsatisfiable"],
        _ => return None,
    })
}

/// Merges the `upper` tree over the `lower` one. Overridden values go to the recorder. If either
/// tree is not a mapping, the caller records the replacement, because it has the field's path.
pub(crate) fn written(lower: &Node, upper: &Node, rec: &mut Recorder) -> Node {
    match (&lower.value, &upper.value) {
        // A key without a value sets nothing, hence deletes nothing.
        (_, Value::Null) => lower.clone(),
        (Value::Map(below), Value::Map(above)) => {
            Node::new(Value::Map(maps(below, above, rec)), lower.origin)
        }
        _ => upper.clone(),
    }
}

fn maps(lower: &Map, upper: &Map, rec: &mut Recorder) -> Map {
    let mut merged = lower.clone();
    for entry in upper.iter().filter(|entry| !entry.node.is_null()) {
        let below = lower.get(&entry.key).filter(|below| !below.is_null());
        let node = below
            .map_or_else(|| entry.node.clone(), |below| field(&entry.key, below, &entry.node, rec));
        merged.insert_entry(Entry { key: entry.key.clone(), key_origin: entry.key_origin, node });
    }
    merged
}

fn field(name: &str, lower: &Node, upper: &Node, rec: &mut Recorder) -> Node {
    match (&lower.value, &upper.value) {
        (Value::List(below), Value::List(above)) => {
            if name == "args" {
                // Nothing is overridden: the arguments of both layers reach the engine.
                return Node::new(Value::List(concatenated(below, above)), lower.origin);
            }
            if let Some(keys) = merge_key(name) {
                let merged = keyed(keys, name == "env", below, above, &mut rec.at(name));
                return Node::new(Value::List(merged), lower.origin);
            }
        }
        (Value::Map(_), Value::Map(_)) if name == "affinity" => {
            return affinity(lower, upper, &mut rec.at(name));
        }
        (Value::Map(_), Value::Map(_)) => {
            return written(lower, upper, &mut rec.at(name));
        }
        _ => {}
    }
    rec.at(name).lost(lower, Some(upper));
    upper.clone()
}

fn concatenated(lower: &EcoVec<Node>, upper: &EcoVec<Node>) -> EcoVec<Node> {
    if lower.is_empty() {
        return upper.clone();
    }
    let mut all = lower.clone();
    all.extend(upper.iter().cloned());
    all
}

fn keyed(
    keys: &'static [&'static str],
    environment: bool,
    lower: &EcoVec<Node>,
    upper: &EcoVec<Node>,
    rec: &mut Recorder,
) -> EcoVec<Node> {
    let mut merged = lower.clone();
    // An index over identities: env lists of thousands of entries would be quadratic otherwise.
    let mut places = Places::of(lower.iter().map(|element| Some(identity(keys, element))));
    for element in upper {
        let identity = identity(keys, element);
        // Elements without the first key are never equal.
        let name = element.get(keys[0]);
        let Some((index, name)) = places.get(identity.as_slice()).zip(name) else {
            places.insert(identity, merged.len());
            merged.push(element.clone());
            continue;
        };
        let rec = &mut rec.at(Step::Keyed(keys[0], name));
        let below = if environment {
            without_other_source(&merged[index], element, rec)
        } else {
            merged[index].clone()
        };
        let node = written(&below, element, rec);
        merged.make_mut()[index] = node;
    }
    merged
}

/// Returns the identity of an element; equal elements have the same one. An absent protocol is TCP,
/// as in Kubernetes.
fn identity(keys: &[&str], element: &Node) -> Vec<(&'static str, EcoString)> {
    let values = keys.iter().map(|key| match element.get(key) {
        // 80 and 80.0 are the same port; 80 and "80" are different ports.
        Some(node) => (
            if matches!(node.value, Value::Int(_) | Value::Big(_) | Value::Float(_)) {
                "a number"
            } else {
                node.kind_name()
            },
            // A mapping in place of a scalar is a finding elsewhere; its JSON still tells two
            // apart.
            node.scalar_text().unwrap_or_else(|| node.to_json().to_string().into()),
        ),
        None if *key == "protocol" => ("a string", "TCP".into()),
        None => ("", EcoString::new()),
    });
    values.collect()
}

/// Replaces a variable as a unit: `value` removes `valueFrom` and `valueFrom` removes `value`
/// (OEP-0003, Notes/Constraints/Caveats; docs/decisions.md#resources).
fn without_other_source(lower: &Node, upper: &Node, rec: &mut Recorder) -> Node {
    let mut below = lower.clone();
    for (kept, dropped) in [("value", "valueFrom"), ("valueFrom", "value")] {
        // A variable that sets both is invalid as written, and stays so that the fault is
        // reported.
        let Some(winner) = upper.get(kept).filter(|_| upper.get(dropped).is_none()) else {
            continue;
        };
        if let Some(loser) = below.as_map_mut().and_then(|map| map.remove(dropped)) {
            rec.at(kept).lost(&loser.node, Some(winner));
        }
    }
    below
}

/// Combines two affinities so that both apply: required node terms as a cross product, all other
/// lists concatenated (OEP-0003, Notes/Constraints/Caveats; docs/decisions.md#affinity).
pub(crate) fn affinity(lower: &Node, upper: &Node, rec: &mut Recorder) -> Node {
    joined(lower, upper, |part, below, above| {
        let rec = &mut rec.at(part);
        joined(below, above, |rule, below, above| match (&below.value, &above.value) {
            (Value::List(first), Value::List(then)) => {
                Node::new(Value::List(concatenated(first, then)), below.origin)
            }
            (Value::Map(_), Value::Map(_)) => required_terms(below, above, &mut rec.at(rule)),
            _ => above.clone(),
        })
    })
}

/// Returns the union of two mappings; `both` merges the values of keys that both have.
fn joined(lower: &Node, upper: &Node, mut both: impl FnMut(&str, &Node, &Node) -> Node) -> Node {
    // A side that is no mapping is reported where it was read.
    let (Some(below), Some(above)) = (lower.as_map(), upper.as_map()) else { return upper.clone() };
    let mut union = below.clone();
    for entry in above.iter().filter(|entry| !entry.node.is_null()) {
        let node = match below.get(&entry.key).filter(|below| !below.is_null()) {
            Some(below) => both(&entry.key, below, &entry.node),
            None => entry.node.clone(),
        };
        union.insert_entry(Entry { key: entry.key.clone(), key_origin: entry.key_origin, node });
    }
    Node::new(Value::Map(union), lower.origin)
}

fn required_terms(lower: &Node, upper: &Node, rec: &mut Recorder) -> Node {
    joined(lower, upper, |field, below, above| match (&below.value, &above.value) {
        (Value::List(outer), Value::List(inner)) if field == "nodeSelectorTerms" => {
            Node::new(Value::List(cross_product(outer, inner)), below.origin)
        }
        _ => {
            rec.at(field).lost(below, Some(above));
            above.clone()
        }
    })
}

/// Returns node selector terms that match when one term of each side matches: `outer` × `inner`,
/// with the expressions of `outer` first. An empty side adds no terms (OEP-0003,
/// Notes/Constraints/Caveats; docs/decisions.md#affinity).
fn cross_product(outer: &[Node], inner: &[Node]) -> EcoVec<Node> {
    // A product with an empty side would be empty, and match no node at all.
    if outer.is_empty() || inner.is_empty() {
        return outer.iter().chain(inner).cloned().collect();
    }
    outer.iter().flat_map(|a| inner.iter().map(move |b| both_terms(a, b))).collect()
}

fn both_terms(a: &Node, b: &Node) -> Node {
    joined(a, b, |_, first, then| match (&first.value, &then.value) {
        (Value::List(firsts), Value::List(thens)) => {
            Node::new(Value::List(concatenated(firsts, thens)), first.origin)
        }
        _ => then.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::history::Recorder;
    use crate::operators::ome::compose::testing::{flow, losers, node};

    fn merged(lower: &str, upper: &str) -> String {
        flow(&written(&node(lower), &node(upper), &mut Recorder::off()))
    }

    #[test]
    fn trees_merge_by_the_documented_rules() {
        for (about, lower, upper, expected) in [
            ("a null says nothing", "{a: 1, b: 2}", "{a: null, c: null}", "{a: 1, b: 2}"),
            ("scalars are replaced", "{a: 1, b: 2}", "{b: 3, c: 4}", "{a: 1, b: 3, c: 4}"),
            (
                "OME docs, Serving Runtime, Engine Configuration by key",
                "{nodeSelector: {zone: a, pool: x}}",
                "{nodeSelector: {zone: b, disk: w}}",
                "{nodeSelector: {zone: b, pool: x, disk: w}}",
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration by side",
                "{resources: {limits: {gpu: 2}}}",
                "{resources: {requests: {cpu: 4}}}",
                "{resources: {limits: {gpu: 2}, requests: {cpu: 4}}}",
            ),
            (
                "false replaces true",
                "{hostNetwork: true}",
                "{hostNetwork: false}",
                "{hostNetwork: false}",
            ),
            (
                "OEP-0003, Notes/Constraints/Caveats concatenated",
                "{args: [a, b]}",
                "{args: [a, c]}",
                "{args: [a, b, a, c]}",
            ),
            ("commands are replaced", "{command: [a, b]}", "{command: [c]}", "{command: [c]}"),
            (
                "tolerations are replaced",
                "{tolerations: [{key: a}]}",
                "{tolerations: [{key: b}]}",
                "{tolerations: [{key: b}]}",
            ),
            ("another kind of value replaces", "{a: {b: 1}}", "{a: x}", "{a: x}"),
            (
                "80/TCP and 80/UDP",
                "{ports: [{containerPort: 80}]}",
                "{ports: [{containerPort: 80, protocol: UDP}]}",
                "{ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]}",
            ),
            (
                "80 is 80/TCP",
                "{ports: [{containerPort: 80}]}",
                "{ports: [{containerPort: 80, protocol: TCP, name: h}]}",
                "{ports: [{containerPort: 80, protocol: TCP, name: h}]}",
            ),
            (
                "no key, no match",
                "{env: [{value: a}]}",
                "{env: [{value: b}]}",
                "{env: [{value: a}, {value: b}]}",
            ),
            (
                "both sources of a volume stay",
                "{volumes: [{name: v, emptyDir: {}}]}",
                "{volumes: [{name: v, hostPath: {path: /a}}]}",
                "{volumes: [{name: v, emptyDir: {}, hostPath: {path: /a}}]}",
            ),
        ] {
            assert_eq!(merged(lower, upper), expected, "{about}");
        }
    }

    #[test]
    fn known_elements_keep_their_place_and_new_ones_follow() {
        let list = |names: &str| {
            format!(
                "{{env: [{}]}}",
                names
                    .split_whitespace()
                    .map(|name| format!("{{name: {name}}}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        };
        for (lower, upper, expected) in [
            ("A B", "B C", "A B C"),
            ("A B", "C", "A B C"),
            ("A B C", "X A", "A B C X"),
            ("A B C D", "D X B", "A B C D X"),
            ("A", "X X", "A X"),
        ] {
            assert_eq!(
                merged(&list(lower), &list(upper)),
                flow(&node(&list(expected))),
                "{lower} under {upper}"
            );
        }
    }

    #[test]
    fn ports_are_the_same_by_number_however_it_is_written() {
        for (lower, upper, expected) in [
            ("80", "80.0", "{ports: [{containerPort: 80.0, name: a}]}"),
            ("80", "'80'", "{ports: [{containerPort: 80}, {containerPort: 80, name: a}]}"),
        ] {
            let lower = format!("{{ports: [{{containerPort: {lower}}}]}}");
            let upper = format!("{{ports: [{{containerPort: {upper}, name: a}}]}}");
            assert_eq!(merged(&lower, &upper), expected, "{upper}");
        }
    }

    #[test]
    fn a_variable_is_replaced_as_a_unit() {
        let plain = "{env: [{name: A, value: x}]}";
        let secret = "{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}";
        assert_eq!(merged(plain, secret), secret);
        assert_eq!(merged(secret, plain), plain);
    }

    #[test]
    fn affinity_terms_of_both_layers_must_hold() {
        let lower = "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: p}]}, {matchFields: [{key: f}]}]}, \
                     preferredDuringSchedulingIgnoredDuringExecution: [{weight: 50}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}}";
        let upper = "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: z}]}]}, \
                     preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: b}]}, podAffinity: {}}}";
        assert_eq!(
            merged(lower, upper),
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: p}, {key: z}]}, \
             {matchFields: [{key: f}], matchExpressions: [{key: z}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 50}, {weight: 10}]}, \
             podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}, {topologyKey: b}]}, podAffinity: {}}}"
        );
    }

    #[test]
    fn replaced_values_are_recorded_with_their_path() {
        let mut history = Recorder::new();
        let lower = node(
            "{image: a, env: [{name: L, value: info}, {name: S, valueFrom: {x: n}}], nodeSelector: {ome.io/pool: a}, args: [a]}",
        );
        let upper = node(
            "{image: b, env: [{name: L, value: debug}, {name: S, value: z}], nodeSelector: {ome.io/pool: b}, args: [b]}",
        );
        written(&lower, &upper, &mut history.at("engine"));
        assert_eq!(
            losers(&history),
            [
                "engine.image: a, now b",
                "engine.env[name=L].value: info, now debug",
                "engine.env[name=S].value: {x: n}, now z",
                "engine.nodeSelector.ome\\.io/pool: a, now b"
            ]
        );
    }

    mod properties {
        use super::*;
        use crate::yaml::Origin;
        use proptest::prelude::*;

        /// Generates trees like parts of components, with keys that the merge treats specially and
        /// with others.
        fn trees() -> impl Strategy<Value = serde_json::Value> {
            let leaf = prop_oneof![
                Just(serde_json::json!("TCP")),
                "[ab]".prop_map(Into::into),
                (0..3i64).prop_map(Into::into),
                any::<bool>().prop_map(Into::into)
            ];
            let key = prop::sample::select(vec![
                "name",
                "env",
                "ports",
                "containerPort",
                "protocol",
                "value",
                "valueFrom",
                "affinity",
                "nodeAffinity",
                "nodeSelectorTerms",
                "a",
            ]);
            leaf.prop_recursive(4, 24, 4, move |inner| {
                prop_oneof![
                    prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
                    prop::collection::btree_map(key.clone(), inner, 0..4).prop_map(|map| {
                        serde_json::Value::Object(
                            map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                        )
                    }),
                ]
            })
        }

        fn tree(json: &serde_json::Value) -> Node {
            static ORIGIN: crate::yaml::Rule = crate::yaml::Rule { id: "test", text: "", cite: "" };
            Node::from_json(json, Origin::Flag(&ORIGIN))
        }

        proptest! {
            #[test]
            fn an_empty_layer_changes_nothing(json in trees()) {
                let written_tree = tree(&serde_json::json!({ "a": json }));
                let empty = node("{}");
                prop_assert_eq!(written(&written_tree, &empty, &mut Recorder::off()), written_tree.clone());
                prop_assert_eq!(written(&empty, &written_tree, &mut Recorder::off()), written_tree);
            }

            #[test]
            fn scalars_of_the_upper_layer_are_always_kept(lower in trees(), upper in trees()) {
                // Every scalar field of the upper layer is in the result, whatever the lower layer
                // sets.
                let (lower, upper) = (tree(&lower), tree(&upper));
                let merged = written(&lower, &upper, &mut Recorder::new());
                for entry in upper.entries().filter(|entry| !matches!(entry.node.value, Value::Map(_) | Value::List(_))) {
                    prop_assert_eq!(merged.get(&entry.key), Some(&entry.node));
                }
            }
        }
    }
}
