//! Tests of small tree edits, and of merging containers.

use super::edit::{each_mut, field_mut, list_mut, map_mut, position, text, union};
use super::history::Recorder;
use super::smp;
use super::typed;
use super::written::written;
use crate::operators::ome::compose::testing::{flow, losers, node};
use crate::schema::{self, Library};
use crate::yaml::{FieldPath, Node};

#[test]
fn list_mut_and_map_mut_create_missing_or_mistyped_fields() {
    // Rows: the tree; the result of adding to the list `a`; the result of adding to the mapping
    // `a`.
    for (tree, list, map) in [
        ("{}", "{a: [x]}", "{a: {k: x}}"),
        ("{a: null}", "{a: [x]}", "{a: {k: x}}"),
        ("{a: 1}", "{a: [x]}", "{a: {k: x}}"),
        ("{a: [y]}", "{a: [y, x]}", "{a: {k: x}}"),
        ("{a: {l: y}}", "{a: [x]}", "{a: {l: y, k: x}}"),
        ("{b: 1}", "{b: 1, a: [x]}", "{b: 1, a: {k: x}}"),
    ] {
        let x = node("x");
        let mut changed = node(tree);
        list_mut(&mut changed, "a", x.origin).unwrap().push(x.clone());
        assert_eq!(flow(&changed), list);
        let mut changed = node(tree);
        map_mut(&mut changed, "a", x.origin).unwrap().insert("k", x);
        assert_eq!(flow(&changed), map);
    }
    let mut scalar = node("1");
    let origin = scalar.origin;
    assert!(list_mut(&mut scalar, "a", origin).is_none());
    assert!(map_mut(&mut scalar, "a", origin).is_none());
}

#[test]
fn fields_and_elements_are_found_and_changed() {
    let mut tree = node("{a: 1, b: null, l: [{n: x}, {n: y, m: z}, {}], empty: []}");
    assert_eq!(field_mut(&mut tree, "a").map(|found| flow(found)).as_deref(), Some("1"));
    assert!(field_mut(&mut tree, "b").is_none() && field_mut(&mut tree, "c").is_none());
    let items = tree.get("l").unwrap().items();
    assert_eq!(["x", "y", "z"].map(|name| position(items, "n", name)), [Some(0), Some(1), None]);
    assert_eq!([text(&items[1], "m"), text(&items[0], "m"), text(&tree, "a")], ["z", "", ""]);
    let mut count = 0;
    for key in ["l", "empty", "a", "missing"] {
        each_mut(&mut tree, key, |item| {
            count += 1;
            item.as_map_mut().unwrap().insert("n", node("new"));
        });
    }
    assert_eq!(count, 3);
    assert_eq!(flow(&tree), "{a: 1, b: null, l: [{n: new}, {n: new, m: z}, {n: new}], empty: []}");
}

#[test]
fn of_two_mappings_the_later_one_wins() {
    let lower = node("{a: 1, b: 2}").as_map().unwrap().clone();
    let upper = node("{b: 3, a: null, c: 4, d: null}");
    let mut history = Recorder::new();
    let both = union(lower.clone(), Some(&upper), &mut history);
    let flat: Vec<String> =
        both.iter().map(|entry| format!("{} {}", entry.key, flow(&entry.node))).collect();
    assert_eq!(flat, ["a 1", "b 3", "c 4"]);
    assert_eq!(losers(&history), ["b: 2, now 3"]);
    assert_eq!(union(lower, None, &mut history).len(), 2);
}

#[test]
fn runner_args_are_appended_to_container_args() {
    // Rows: the listed container, the runner, the merged arguments, the arguments after only the
    // strategic merge patch.
    for (listed, runner, expected, alone) in [
        ("{name: c, args: [a, b]}", "{name: c, args: [c]}", "[a, b, c]", "[c]"),
        ("{name: c, args: [a, b]}", "{name: c}", "[a, b]", "[a, b]"),
        ("{name: c, args: [a, b]}", "{name: c, args: []}", "[a, b]", "[a, b]"),
        ("{name: c, args: []}", "{name: c, args: [c]}", "[c]", "[c]"),
        ("{name: c}", "{name: c, args: [c]}", "[c]", "[c]"),
    ] {
        let args = |merged: Result<Node, String>| flow(merged.unwrap().get("args").unwrap());
        let (below, above) = (node(listed), node(runner));
        let merged =
            typed::container(Some(below.clone()), &above, Library::V0_33, &mut Recorder::off());
        assert_eq!(args(merged), expected, "{listed} {runner}");
        let patched = typed::patched(&below, &above, Library::V0_33, &mut Recorder::off());
        assert_eq!(args(patched), alone, "{listed} {runner}");
    }
    let alone =
        typed::container(None, &node("{name: c, image: i}"), Library::V0_33, &mut Recorder::off());
    assert_eq!(flow(&alone.unwrap()), "{name: c, resources: {}, image: i}");
}

#[test]
fn list_elements_without_a_key_match_no_other_element() {
    for (lower, upper, expected) in [
        ("{env: [{value: a}]}", "{env: [{name: TCP}]}", "{env: [{value: a}, {name: TCP}]}"),
        ("{env: [{name: ''}]}", "{env: [{value: a}]}", "{env: [{name: }, {value: a}]}"),
        (
            "{topologySpreadConstraints: [{topologyKey: z}]}",
            "{topologySpreadConstraints: [{topologyKey: z, maxSkew: 1}, {topologyKey: z, whenUnsatisfiable: TCP}]}",
            "{topologySpreadConstraints: [{topologyKey: z, maxSkew: 1}, {topologyKey: z, whenUnsatisfiable: TCP}]}",
        ),
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}",
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{a: 1}]}}}}",
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{a: 1}]}}}}",
        ),
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{a: 1}], others: [{a: 1}]}}}}",
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [], others: [{b: 1}]}}}}",
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{a: 1}], others: [{b: 1}]}}}}",
        ),
    ] {
        assert_eq!(flow(&written(&node(lower), &node(upper), &mut Recorder::off())), expected);
    }
}

fn patched(base: &str, patch: &str, ty: &str) -> Result<String, String> {
    let (base, patch) = (node(base), node(patch));
    smp::merge(base, &patch, schema::structure(ty), &mut Recorder::off())
        .map(|merged| flow(&merged))
        .map_err(|error| error.to_string())
}

#[test]
fn mixed_or_nested_lists_are_refused() {
    let mixed = "the elements of the list are not all of one type";
    for (base, patch, expected) in [
        ("{finalizers: [a]}", "{finalizers: [1]}", mixed),
        ("{finalizers: [a]}", "{finalizers: [null]}", mixed),
        ("{finalizers: [null]}", "{finalizers: [a]}", mixed),
        ("{finalizers: [null]}", "{finalizers: [null]}", mixed),
        ("{finalizers: [[a]]}", "{finalizers: [[b]]}", "lists of lists cannot be merged"),
        ("{finalizers: [{a: 1}]}", "{finalizers: [a]}", mixed),
        ("{labels: {a: {b: 1}}}", "{labels: {a: {b: 2}}}", "`a` cannot be a mapping here"),
        ("{unknown: {b: 1}}", "{unknown: {b: 2}}", "`unknown` is no field of `ObjectMeta`"),
    ] {
        let error = patched(base, patch, "ObjectMeta").unwrap_err();
        assert!(error.ends_with(expected), "{base} {patch}: {error}");
    }
}

#[test]
fn delete_directives_on_a_scalar_are_handled_like_upstream() {
    for (base, patch, expected) in [
        ("{finalizers: x}", "{$deleteFromPrimitiveList/finalizers: [x]}", "{finalizers: x}"),
        // As upstream: a value that is not a list replaces it.
        ("{finalizers: x}", "{$deleteFromPrimitiveList/finalizers: y}", "{finalizers: y}"),
        ("{}", "{$deleteFromPrimitiveList/finalizers: [x]}", "{}"),
        ("{finalizers: [x, y]}", "{$deleteFromPrimitiveList/finalizers: [x]}", "{finalizers: [y]}"),
    ] {
        assert_eq!(patched(base, patch, "ObjectMeta").as_deref(), Ok(expected), "{patch}");
    }
}

#[test]
fn keys_dropped_by_retain_keys_are_recorded() {
    let mut history = Recorder::new();
    history.stand(FieldPath::root());
    let base = node("{name: v, emptyDir: {}, other: 1}");
    let patch = node("{$retainKeys: [name, hostPath], hostPath: {path: /a}}");
    let merged: Node = smp::merge(base, &patch, schema::structure("Volume"), &mut history).unwrap();
    assert_eq!(flow(&merged), "{name: v, hostPath: {path: /a}}");
    assert_eq!(losers(&history), ["emptyDir: {}, now nothing", "other: 1, now nothing"]);
}

#[test]
fn map_values_of_a_struct_type_are_merged_by_that_type() {
    let ty = schema::kind("ome.io/v1beta1", "ClusterServingRuntime").unwrap().root();
    let ty = ty.at(&["spec", "supportedModelFormats"]).and_then(schema::Type::item);
    let base = node(
        "{acceleratorConfig: {h100: {minMemoryPerBillionParams: 1, runtimeArgsOverride: [a]}}}",
    );
    let patch = node("{acceleratorConfig: {h100: {minMemoryPerBillionParams: 2}}}");
    let merged = smp::merge(base, &patch, ty.map(|item| &item.ty), &mut Recorder::off()).unwrap();
    assert_eq!(
        flow(&merged),
        "{acceleratorConfig: {h100: {minMemoryPerBillionParams: 2, runtimeArgsOverride: [a]}}}"
    );
}

#[test]
fn a_merge_key_that_is_a_mapping_is_an_error_at_any_list_length() {
    let list_of = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("{{name: n{at}}}")).collect();
        format!("{{env: [{{name: {{a: b}}}}, {}]}}", names.join(", "))
    };
    for count in [1, 40] {
        let error = patched(&list_of(count), "{env: [{name: {a: b}}]}", "Container").unwrap_err();
        assert!(error.ends_with("a mapping cannot be compared, a scalar is needed"), "{error}");
    }
}

#[test]
fn set_element_order_applies_to_lists_of_its_kind() {
    let env = |list: &str| format!("{{env: [{list}]}}");
    let order = |names: &str, list: &str| {
        let names: Vec<String> = names.split(' ').map(|name| format!("{{name: {name}}}")).collect();
        format!("{{$setElementOrder/env: [{}], env: [{list}]}}", names.join(", "))
    };
    let all = env("{name: A}, {name: B}, {name: C}, {name: D}");
    for (base, patch, expected) in [
        // A replaced list keeps no elements of the base.
        (
            "{args: [a]}".to_owned(),
            "{$setElementOrder/args: [b, c], args: [b, c]}".to_owned(),
            "{args: [b, c]}".to_owned(),
        ),
        // Without a deletion, a new element goes to its position in the order.
        (
            all.clone(),
            order("X A", "{name: X}, {name: A}"),
            env("{name: X}, {name: A}, {name: B}, {name: C}, {name: D}"),
        ),
        // Go appends it in the slot of a deleted element, so it counts as an element of the base.
        (
            all.clone(),
            order("X A", "{name: B, $patch: delete}, {name: X}, {name: A}"),
            env("{name: C}, {name: D}, {name: X}, {name: A}"),
        ),
        (
            all,
            order("X Y A", "{name: B, $patch: delete}, {name: X}, {name: Y}, {name: A}"),
            env("{name: C}, {name: D}, {name: X}, {name: Y}, {name: A}"),
        ),
    ] {
        assert_eq!(patched(&base, &patch, "Container"), Ok(expected), "{base} {patch}");
    }
    let error = patched("{finalizers: [a]}", "{$setElementOrder/finalizers: [{}]}", "ObjectMeta");
    let message = error.unwrap_err();
    assert!(message.ends_with("a mapping cannot be compared, a scalar is needed"), "{message}");
    // Go decodes numbers beyond 64 bits as floats.
    let numbers =
        patched("{finalizers: [1.5]}", "{finalizers: [18446744073709551615]}", "ObjectMeta");
    assert_eq!(numbers.as_deref(), Ok("{finalizers: [18446744073709551615, 1.5]}"));
}

#[test]
fn mappings_that_are_replaced_keep_nothing() {
    let text = schema::kind("policy/v1", "PodDisruptionBudget").unwrap().root();
    let base = node("{spec: {selector: {matchLabels: {a: x}}, minAvailable: 1}}");
    let patch = node("{spec: {selector: {matchLabels: {b: y}}}}");
    let merged = smp::merge(base, &patch, Some(text), &mut Recorder::off()).unwrap();
    assert_eq!(flow(&merged), "{spec: {selector: {matchLabels: {b: y}}, minAvailable: 1}}");
}

#[test]
fn an_error_at_the_root_names_no_field() {
    let refusal = patched("[]", "{a: 1}", "ObjectMeta").unwrap_err();
    assert!(!refusal.starts_with('`'), "{refusal}");
}
