//! Two small states compared: what changes, what causes it, and what it means for pods.

use crate::testing::{Ran, catalog, gpu_node, ome_on, service};
use serde_json::{Value, json};

fn diff(before: &str, after: &str) -> Ran {
    ome_on(
        "diff --no-builtin -o json --base {before.yaml} -f {after.yaml}",
        &[("before.yaml", before), ("after.yaml", after)],
    )
}

/// One service whose engine changes.
fn of_engine(before: &str, after: &str) -> Ran {
    diff(&(catalog(1) + &service("a", before)), &(catalog(1) + &service("a", after)))
}

/// Object and path of each cause.
fn causes(ran: &Ran) -> Vec<(String, String)> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let all = ran.at("/groups/0/cause");
    let all = all.as_array().into_iter().flatten();
    all.map(|value| (text(value, "object"), text(value, "path"))).collect()
}

fn cause(object: &str, path: &str) -> (String, String) {
    (object.to_owned(), path.to_owned())
}

const SERVICE: &str = "InferenceService/ml/a";
const RUNTIME: &str = "ClusterServingRuntime/rt";

#[test]
fn equal_states_have_no_difference() {
    let ran = of_engine("minReplicas: 1", "minReplicas: 1");
    assert_eq!(ran.at("/summary/changed"), 0);
    assert_eq!(ran.at("/groups"), json!([]));
    assert_eq!(ran.code, 0);
}

#[test]
fn pods_restart_for_what_is_in_their_template() {
    for (before, after, restarts, pods) in [
        ("minReplicas: 2", "minReplicas: 2, runner: {name: ome-container, image: 'i:2'}", 1, 2),
        ("minReplicas: 1", "minReplicas: 3", 0, 0),
        ("minReplicas: 1, maxReplicas: 2", "minReplicas: 1, maxReplicas: 4", 0, 0),
        ("minReplicas: 2", "minReplicas: 2, labels: {a: b}", 1, 2),
        ("minReplicas: 1", "minReplicas: 1, nodeSelector: {a: b}", 1, 1),
    ] {
        let ran = of_engine(before, after);
        assert_eq!(ran.at("/summary/restarts"), restarts, "{after}");
        assert_eq!(ran.at("/summary/podsRestarted"), pods, "{after}");
        assert_eq!(ran.code, 2, "{after}");
    }
}

#[test]
fn the_cause_is_the_field_that_was_edited() {
    for (before, after, path) in [
        ("minReplicas: 1", "minReplicas: 2", "spec.engine.minReplicas"),
        ("minReplicas: 1", "minReplicas: 1, maxReplicas: 5", "spec.engine.maxReplicas"),
        ("minReplicas: 1", "minReplicas: 1, nodeSelector: {a: b}", "spec.engine.nodeSelector"),
        (
            "runner: {name: ome-container, image: 'i:1'}",
            "runner: {name: ome-container, image: 'i:2'}",
            "spec.engine.runner.image",
        ),
    ] {
        let ran = of_engine(before, after);
        assert_eq!(causes(&ran), [cause(SERVICE, path)], "{after}");
    }
}

/// Of two edits, only the one with an effect is a cause.
#[test]
fn a_field_without_an_effect_is_no_cause() {
    let before = catalog(1) + &service("a", "minReplicas: 1");
    for (from, to, expected) in [
        (
            "image: example/server:v1",
            "image: example/server:v2",
            vec![(RUNTIME, "spec.engineConfig.runner.image")],
        ),
        ("autoSelect: true", "autoSelect: false", vec![]),
        (
            "storage: {storageUri",
            "vendor: acme\n  storage: {storageUri",
            vec![("ClusterBaseModel/m", "spec.vendor")],
        ),
    ] {
        let ran = diff(&before, &before.replace(from, to));
        let expected: Vec<(String, String)> =
            expected.into_iter().map(|(object, path)| cause(object, path)).collect();
        assert_eq!(causes(&ran), expected, "{to}");
    }
}

/// What is removed has a place on one side only.
#[test]
fn a_field_that_is_removed_is_the_cause() {
    let before = catalog(1) + &service("a", "minReplicas: 1, nodeSelector: {a: b}");
    let after = catalog(1).replace("max: 10B", "max: 11B") + &service("a", "minReplicas: 1");
    assert_eq!(causes(&diff(&before, &after)), [cause(SERVICE, "spec.engine.nodeSelector")]);
}

#[test]
fn edits_of_runtime_and_service_are_both_causes_where_both_reach_the_pods() {
    let before = catalog(1) + &service("a", "minReplicas: 1");
    let after = catalog(1).replace("server:v1", "server:v2")
        + &service("a", "minReplicas: 1, nodeSelector: {a: b}");
    let mut found = causes(&diff(&before, &after));
    found.sort();
    assert_eq!(
        found,
        [
            cause(RUNTIME, "spec.engineConfig.runner.image"),
            cause(SERVICE, "spec.engine.nodeSelector")
        ]
    );
}

/// The service overrides the runtime, so that the runtime's edit changes nothing.
#[test]
fn an_edit_that_is_overridden_is_no_cause() {
    let text = "minReplicas: 1, runner: {name: ome-container, image: 'own:1'}";
    let before = catalog(1) + &service("a", text);
    let after = catalog(1).replace("server:v1", "server:v2") + &service("a", text);
    let ran = diff(&before, &after);
    assert_eq!(ran.at("/summary/changed"), 0);
    assert_eq!(ran.code, 0);
}

#[test]
fn one_edit_of_a_runtime_changes_every_service_that_it_serves() {
    let services = service("a", "minReplicas: 1") + &service("b", "minReplicas: 2");
    let before = catalog(1) + &services;
    let after = catalog(1).replace("server:v1", "server:v2") + &services;
    let ran = diff(&before, &after);
    assert_eq!(ran.at("/summary/changed"), 2);
    assert_eq!(ran.at("/summary/podsRestarted"), 3);
    assert_eq!(causes(&ran), [cause(RUNTIME, "spec.engineConfig.runner.image")]);
}

#[test]
fn services_that_come_and_go_are_counted_apart() {
    let (one, two) = (service("a", "minReplicas: 1"), service("b", "minReplicas: 1"));
    let [first, both] = [catalog(1) + &one, catalog(1) + &one + &two];
    for (before, after, added, removed) in [(&first, &both, 1, 0), (&both, &first, 0, 1)] {
        let ran = diff(before, after);
        assert_eq!(ran.at("/summary/added"), added);
        assert_eq!(ran.at("/summary/removed"), removed);
        assert_eq!(ran.at("/summary/changed"), 0);
        assert_eq!(ran.at("/summary/restarts"), 0);
    }
}

#[test]
fn devices_before_and_after_are_those_of_the_least_replicas() {
    for (before, after, devices) in
        [("minReplicas: 1", "minReplicas: 3", [2, 6]), ("minReplicas: 3", "minReplicas: 1", [6, 2])]
    {
        let of = |engine: &str| catalog(2) + &service("a", engine);
        let ran = diff(&of(before), &of(after));
        assert_eq!(ran.at("/summary/gpus/before"), devices[0]);
        assert_eq!(ran.at("/summary/gpus/after"), devices[1]);
    }
}

#[test]
fn a_service_that_fails_after_the_change_is_an_error() {
    let before = catalog(1) + &service("a", "minReplicas: 1");
    let after = before.replace("runtime: {name: rt}", "runtime: {name: other}");
    let ran = diff(&before, &after);
    assert_eq!(causes(&ran), [cause(SERVICE, "spec.runtime.name")]);
    assert!(ran.out.contains("runtime-not-found"));
    assert_eq!(ran.code, 2);
    // One that failed before, too, is no difference.
    assert_eq!(diff(&after, &after).at("/summary/changed"), 0);
}

#[test]
fn a_removed_runtime_is_the_cause_of_the_error() {
    let service = service("a", "minReplicas: 1");
    let before = catalog(1) + &service;
    let after = before.split("---\n").next().expect("the model").to_owned() + &service;
    let ran = diff(&before, &after);
    assert!(ran.out.contains("runtime-not-found"));
    assert_eq!(causes(&ran), [cause(RUNTIME, "metadata.name")]);
}

#[test]
fn capacity_is_judged_on_both_sides() {
    let of = |replicas: i64| {
        catalog(4)
            + &service("a", &format!("minReplicas: {replicas}, maxReplicas: {replicas}"))
            + &gpu_node("one", 8, "")
    };
    for (before, after, verdicts) in [
        (1, 2, ["fits", "fits"]),
        (2, 3, ["fits", "does-not-fit"]),
        (3, 1, ["does-not-fit", "fits"]),
    ] {
        let ran = diff(&of(before), &of(after));
        assert_eq!(ran.at("/capacity/before/verdict"), verdicts[0], "{before} {after}");
        assert_eq!(ran.at("/capacity/after/verdict"), verdicts[1], "{before} {after}");
    }
}

#[test]
fn a_restart_that_gets_stuck_is_named() {
    let of = |image: &str| {
        let engine = format!(
            "minReplicas: 2, maxReplicas: 2, runner: {{name: ome-container, image: '{image}'}}"
        );
        catalog(4) + &service("a", &engine) + &gpu_node("one", 8, "")
    };
    let ran = diff(&of("i:1"), &of("i:2"));
    let stuck = ran.at("/capacity/stuck");
    assert_eq!(stuck.as_array().map(Vec::len), Some(1), "{stuck}");
    assert!(stuck.to_string().contains("ml/a"), "{stuck}");
}

#[test]
fn comments_order_and_spelling_are_no_difference() {
    let before = catalog(1) + &service("a", "minReplicas: 1, maxReplicas: 2, labels: {a: b, c: d}");
    for after in [
        "minReplicas: 1, maxReplicas: 2, labels: {c: d, a: b}",
        "maxReplicas: 2, minReplicas: 1, labels: {a: \"b\", c: 'd'}",
    ] {
        let ran =
            diff(&before, &(String::from("# of the team\n") + &catalog(1) + &service("a", after)));
        assert_eq!(ran.at("/summary/changed"), 0, "{after}");
    }
}

#[test]
fn the_layer_of_a_cause_is_that_of_its_object() {
    let before = catalog(1) + &service("a", "minReplicas: 1");
    for (from, to, layer) in [
        ("server:v1", "server:v2", "runtime"),
        ("minReplicas: 1", "minReplicas: 2", "service"),
        ("modelParameterSize: 8B", "vendor: acme\n  modelParameterSize: 8B", "model"),
    ] {
        let ran = diff(&before, &before.replace(from, to));
        assert_eq!(ran.at("/groups/0/cause/0/layer"), layer, "{to}");
    }
}

#[test]
fn conditions_of_an_exit_code_are_met_or_not() {
    let before = catalog(1) + &service("a", "minReplicas: 1");
    let [scaled, restarted] = [
        before.replace("minReplicas: 1", "minReplicas: 2"),
        before.replace("server:v1", "server:v2"),
    ];
    for (condition, after, code) in [
        ("restarts", &scaled, 0),
        ("restarts", &restarted, 2),
        ("gpus>0", &scaled, 2),
        ("gpus>1", &scaled, 0),
        ("errors", &restarted, 0),
        ("any", &scaled, 2),
        ("any", &before, 0),
    ] {
        let ran = ome_on(
            &format!(
                "diff --no-builtin -o json --fail-on {condition} --base {{before.yaml}} -f {{after.yaml}}"
            ),
            &[("before.yaml", &before), ("after.yaml", after)],
        );
        assert_eq!(ran.code, code, "{condition}: {}", ran.err);
    }
}

/// What matters to the pods of other workloads is compared, not their number alone.
#[test]
fn a_change_that_keeps_the_numbers_of_another_workload_is_placed() {
    let deployment = |spec: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    };
    let quota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {pods: '0'}}\n";
    let node = gpu_node("n1", 1, "");
    let base = node.clone() + &deployment("");
    for (after, code) in [
        (base.clone(), 0),
        (node + &deployment("nodeSelector: {pool: x}, "), 2),
        // A quota leaves pods that run.
        (base.clone() + quota, 0),
    ] {
        let files = [("old.yaml", base.as_str()), ("new.yaml", after.as_str())];
        let ran = ome_on("diff --base {old.yaml} -f {new.yaml}", &files);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    }
}

/// Both sides read one input: a field that only the older release drops is a cause only where what
/// it says is in what changes.
#[test]
fn a_field_that_a_release_drops_causes_only_what_it_reaches() {
    let run = |engine: &str, more: &str, from: &str, to: &str| {
        let service = service("a", engine).replace("engine:", &format!("{more}engine:"));
        let class = "---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: h}\nspec: {vendor: nvidia, discovery: {nodeSelector: {a: b}}, capabilities: {}, resources: [{name: nvidia.com/gpu, quantity: '1'}]}\n";
        let ran = ome_on(
            &format!(
                "diff --no-builtin -o json --from-release ome={from} --to-release ome={to} -f {{in.yaml}}"
            ),
            &[("in.yaml", &(catalog(1) + &service + class))],
        );
        assert_eq!(ran.at("/summary/changed"), 1, "{more}{engine}: {}{}", ran.out, ran.err);
        causes(&ran).into_iter().map(|(_, path)| path).collect::<Vec<_>>().join(" ")
    };
    let policy = "acceleratorSelector: {policy: BestFit}, ";
    let class = "acceleratorSelector: {acceleratorClass: h}, ";
    for (engine, more, expected) in [
        // No runtime has requirements: the policy chooses nothing.
        ("minReplicas: 1", policy, ""),
        ("minReplicas: 1, minAvailable: 1", "", "spec.engine.minAvailable"),
        ("minReplicas: 1, minAvailable: 1", policy, "spec.engine.minAvailable"),
        ("minReplicas: 1", class, "spec.acceleratorSelector"),
    ] {
        assert_eq!(run(engine, more, "v0.1.3", "v0.1.5"), expected, "{more}{engine}");
    }
    assert_eq!(run("minReplicas: 1", policy, "v0.1.5", "v0.1.3"), "");
}

/// Of a service in error nothing is placed, so that what is left is no answer about all.
#[test]
fn room_beside_a_service_in_error_is_unknown() {
    let of = |model: &str| {
        catalog(4)
            + &service("a", "minReplicas: 1, maxReplicas: 1")
            + &service("b", "minReplicas: 1, maxReplicas: 1").replace("name: m}", model)
            + &gpu_node("one", 8, "")
    };
    let (good, bad) = (of("name: m}"), of("name: gone}"));
    let ran = diff(&good, &bad);
    assert_eq!(ran.at("/capacity/before/verdict"), "fits");
    assert_eq!(ran.at("/capacity/after/verdict"), "unknown");
    // What does not fit does not fit, whatever the others need.
    let wide = bad.replace("minReplicas: 1, maxReplicas: 1", "minReplicas: 3, maxReplicas: 3");
    assert_eq!(diff(&good, &wide).at("/capacity/after/verdict"), "does-not-fit");
}

/// A kubelet has taken the pods that run, and not those of another template.
#[test]
fn sysctls_of_pods_that_are_created_again_are_not_judged() {
    let of = |sysctl: &str, pods: &str| {
        let node = gpu_node("one", 8, "");
        let spec = |sysctl: &str| {
            format!("securityContext: {{sysctls: [{sysctl}]}}, containers: [{{name: c, image: x}}]")
        };
        let pod = format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: d-1-a, namespace: ml, uid: u3, labels: {{app: d, pod-template-hash: '1'}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: d-1, uid: u2, controller: true}}]}}\nspec: {{nodeName: one, {}}}\nstatus: {{phase: Running}}\n",
            spec(pods)
        );
        node + &format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: ml, uid: u1}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, spec: {{{}}}}}}}\n---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: d-1, namespace: ml, uid: u2, labels: {{app: d, pod-template-hash: '1'}}, ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: d, uid: u1, controller: true}}]}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, spec: {{{}}}}}}}\n",
            spec(sysctl),
            spec(pods)
        ) + &pod
    };
    let unsafe_one = "{name: net.core.somaxconn, value: '1'}";
    let verdict = |input: &str| crate::testing::plan(input).at("/placement/verdict");
    assert_eq!(verdict(&of("", "")), "fits");
    // Pods that run with it show that their node allows it.
    assert_eq!(verdict(&of(unsafe_one, unsafe_one)), "fits");
    assert_eq!(verdict(&of(unsafe_one, "")), "unknown");
    let ran = diff(&of("", ""), &of(unsafe_one, ""));
    assert_eq!(ran.at("/capacity/after/verdict"), "unknown");
    assert_eq!(ran.at("/capacity/notJudged/0/what"), "sysctls");
    let ran = crate::testing::ome_on(
        "diff --no-builtin --base {a.yaml} -f {b.yaml}",
        &[("a.yaml", &of("", "")), ("b.yaml", &of(unsafe_one, ""))],
    );
    assert!(ran.out.contains("! not judged: 1 pod of sysctls: "), "{}", ran.out);
    // What is not judged before the change either is no news.
    let ran = diff(&of(unsafe_one, ""), &of(unsafe_one, ""));
    assert!(ran.at("/capacity/notJudged").is_null(), "{}", ran.out);
}

/// A Secret that OpenShift AI joins with others is the cause, among many changes of other objects.
#[test]
fn an_object_that_the_output_names_as_its_place_is_the_cause() {
    let connection = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: ml, labels: {{opendatahub.io/managed: 'true', opendatahub.io/dashboard: 'true'}}}}\nstringData: {{AWS_S3_BUCKET: b}}\n"
        )
    };
    let before = connection("one")
        + "---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: r, namespace: ml}\nspec:\n  supportedModelFormats: [{name: f, autoSelect: true}]\n  containers: [{name: kserve-container, image: i}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {model: {modelFormat: {name: f}, runtime: r, storageUri: 's3://a/b'}}}\n";
    let mut after = before.clone() + &connection("two");
    let map = |number: i32| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}, namespace: ml}}\ndata: {{a: b}}\n"
        )
    };
    (0..40).for_each(|number| after.push_str(&map(number)));
    let ran = diff(&before, &after);
    assert_eq!(causes(&ran), [cause("Secret/ml/two", "metadata.name")], "{}", ran.out);
}

/// A ConfigMap of another program is no cause, where the objects of a service are not known.
#[test]
fn only_settings_of_operators_are_causes_beside_the_service() {
    let service = |note: &str| {
        format!(
            "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: a, namespace: ml, labels: {{opendatahub.io/dashboard: 'true'}}, annotations: {{note: '{note}'}}}}\nspec: {{model: {{uri: 'hf://a/b', name: b}}, router: {{route: {{}}, gateway: {{}}}}}}\n"
        )
    };
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: x}\ndata: {a: b}\n";
    let ran = diff(&service("1"), &(service("2") + map));
    let found = causes(&ran);
    assert!(!found.is_empty(), "{}", ran.out);
    let of_service = |(object, _): &(String, String)| object == "LLMInferenceService/ml/a";
    assert!(found.iter().all(of_service), "{found:?}");
    // What was not rendered is not known to fail.
    assert_eq!(ran.at("/summary/fails"), 0, "{}", ran.out);
}

#[test]
fn a_refused_service_that_is_removed_is_not_mended_and_one_that_is_added_has_no_pods() {
    let refused = service("a", "minReplicas: 1");
    let compare = |before: &str, after: &str| {
        let files = [("before.yaml", before), ("after.yaml", after)];
        ome_on("diff --no-builtin --base {before.yaml} -f {after.yaml}", &files)
    };
    let ran = compare(&refused, &service("b", "minReplicas: 1"));
    assert!(ran.out.contains("  refused until now: "), "{}", ran.out);
    assert!(!ran.out.contains('✓'), "{}", ran.out);
    assert!(!ran.out.contains("running pods"), "{}", ran.out);
    let mended = compare(&refused, &(catalog(1) + &refused));
    assert!(mended.out.contains("✓ no longer refused: "), "{}", mended.out);
}

#[test]
fn objects_that_are_neither_services_nor_workloads_are_named() {
    let role = |name: &str, verb: &str| {
        format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: {name}, namespace: ml}}\nrules: [{{apiGroups: [''], resources: [pods], verbs: [{verb}]}}]\n"
        )
    };
    let before = role("a", "get") + &role("b", "get") + &role("c", "get");
    let after = role("c", "get") + &role("a", "delete") + &role("d", "get");
    let ran = diff(&before, &after);
    let expected =
        json!({"changed": ["Role/ml/a"], "added": ["Role/ml/d"], "removed": ["Role/ml/b"]});
    assert_eq!((ran.at("/otherObjects"), ran.code), (expected, 0));
    // Whether an unknown kind has a namespace is not known.
    let thing = |x: u8| {
        format!(
            "apiVersion: example.org/v1\nkind: Thing\nmetadata: {{name: t}}\nspec: {{x: {x}}}\n"
        )
    };
    assert_eq!(diff(&thing(1), &thing(2)).at("/otherObjects/changed"), json!(["Thing/t"]));
    let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
    let page = ome_on("diff --base {before.yaml} -f {after.yaml}", &files).out;
    assert!(page.contains("other object to change: Role/ml/a\n"), "{page}");
    assert!(
        page.contains("Plan: 1 object to change, 1 object to add, 1 object to remove\n"),
        "{page}"
    );
}

#[test]
fn an_input_without_workloads_is_not_confirmed() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ml}\n";
    let ran = ome_on("rollout --all -f {a.yaml}", &[("a.yaml", map)]);
    assert!(ran.out.contains("nothing to play") && !ran.out.contains('✓'), "{}", ran.out);
}
