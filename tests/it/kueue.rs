//! Kueue: which flavor pods get (OEP-0003, Test Plan), and classes and flavors made of each other
//! (OEP-0003, Kueue Integration to OEP-0003, Kueue Integration).

use ome::internals::api::{Field, Object, Semantics};
use ome::internals::cluster::Shape;
use ome::internals::decision::QueueDecision;
use ome::internals::emit::stream;
use ome::internals::exchange::class::Action;
use ome::internals::exchange::kueue::{self, FlavorAction, KueueVersion, Options, Prefer};
use ome::internals::load::{self, Request};
use ome::internals::operators::kueue::admit::{Ledger, PodSet, admit};
use ome::internals::yaml::{Limits, Node, Origin, Rule};
use ome::workspace::{ReadOptions, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };
const ORIGIN: Origin = Origin::Default(&GIVEN);

fn world(text: &str) -> World {
    let loaded = load::load(
        &Request { paths: &[PathBuf::from("-")], ..Request::default() },
        &mut text.as_bytes(),
        &Limits::default(),
    );
    let world = ome::workspace::read(loaded, &ReadOptions::new(Semantics::Documented));
    // A world without objects works, too.
    let found = |finding: &&ome::internals::diag::Diagnostic| {
        finding.code != ome::internals::diag::Code::EmptyInput
    };
    assert_eq!(world.diagnostics.iter().find(found), None, "{text}");
    world
}

fn documents(objects: &[Value]) -> String {
    let nodes: Vec<Node> = objects.iter().map(|object| Node::from_json(object, ORIGIN)).collect();
    stream::render(&nodes, stream::Format::Yaml)
}

/// One object with the keys of another beside its own.
fn with(mut object: Value, more: &Value) -> Value {
    if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
    object
}

fn flavor(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec})
}

fn product(name: &str) -> Value {
    json!({"nodeLabels": {"nvidia.com/gpu.product": name}})
}

fn gpus(flavor: &str, nominal: i64, more: &Value) -> Value {
    let quota = with(json!({"name": "nvidia.com/gpu", "nominalQuota": nominal}), more);
    json!({"name": flavor, "resources": [quota]})
}

fn cluster_queue(name: &str, more: &Value, flavors: &Value) -> Value {
    let spec = with(
        json!({"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}]}),
        more,
    );
    json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
}

fn local_queue() -> Value {
    json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "all"}})
}

fn pod(gpus: i64, more: &Value) -> Shape {
    let pod = with(
        json!({"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}),
        more,
    );
    Shape::of(&Node::from_json(&pod, ORIGIN))
}

fn ask(objects: &[Value], pods: &[(Shape, i64)], replicas: i64) -> QueueDecision {
    let world = world(&documents(objects));
    let pods: Vec<PodSet<'_>> =
        pods.iter().map(|(shape, count)| PodSet { shape, count: *count }).collect();
    admit(
        &world.catalog,
        "default",
        Field::new("q".into(), ORIGIN),
        &pods,
        replicas,
        &mut Ledger::default(),
    )
}

/// `a100:node-affinity h100` and what became of the replicas.
fn told(decision: &QueueDecision) -> String {
    let rejected = decision
        .rejected
        .iter()
        .map(|rejection| format!("{}:{}", rejection.flavor, rejection.code.as_str()));
    let chosen = decision.flavor.iter().map(ToString::to_string);
    rejected.chain(chosen).collect::<Vec<_>>().join(" ")
}

fn replicas(decision: &QueueDecision) -> String {
    let admitted = decision.admitted.iter().map(|admitted| {
        format!(
            "{}x{}{}",
            admitted.replicas,
            admitted.flavor,
            if admitted.borrows { "+" } else { "" }
        )
    });
    admitted
        .chain((decision.waiting > 0).then(|| format!("{} wait", decision.waiting)))
        .collect::<Vec<_>>()
        .join(" ")
}

fn three() -> Vec<Value> {
    vec![
        flavor(
            "spot",
            &json!({"nodeLabels": {"pool": "spot"}, "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]}),
        ),
        flavor("a100", &product("A100")),
        flavor("h100", &product("H100")),
        local_queue(),
    ]
}

#[test]
fn flavors_are_tried_in_the_order_of_the_queue() {
    let all = |nominal: i64, queue: Value, more: Value| {
        let mut objects = three();
        objects.push(cluster_queue(
            "all",
            &queue,
            &json!([
                gpus("spot", nominal, &json!({})),
                gpus("a100", nominal, &more.clone()),
                gpus("h100", nominal, &more)
            ]),
        ));
        objects
    };
    let lender = cluster_queue(
        "other",
        &json!({"cohortName": "c"}),
        &json!([gpus("a100", 8, &json!({"lendingLimit": 6})), gpus("h100", 8, &json!({}))]),
    );
    let lent = |queue: Value, more: Value| {
        let mut objects = all(4, queue, more);
        objects.push(lender.clone());
        objects
    };
    let cohort = json!({"cohortName": "c"});
    let last = json!({"cohortName": "c", "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}});
    let h100 = json!({"nodeSelector": {"nvidia.com/gpu.product": "H100"}, "tolerations": [{"key": "spot", "operator": "Exists"}]});
    for (objects, shape, replicas_asked, expected, admitted) in [
        (all(8, json!({}), json!({})), pod(8, &json!({})), 1, "spot:taint a100", "1xa100"),
        // The flavor `spot` has no product label: Kueue accepts it, and the tool reports that it is
        // loose.
        (all(8, json!({}), json!({})), pod(8, &h100.clone()), 1, "spot", "1xspot"),
        (
            all(8, json!({}), json!({})),
            pod(8, &json!({"nodeSelector": {"nvidia.com/gpu.product": "H100"}})),
            1,
            "spot:taint a100:node-affinity h100",
            "1xh100",
        ),
        (
            all(4, json!({}), json!({})),
            pod(8, &json!({})),
            1,
            "spot:taint a100:quota h100:quota",
            "1 wait",
        ),
        (
            all(8, json!({}), json!({})),
            pod(8, &json!({})),
            3,
            "spot:taint a100",
            "1xa100 1xh100 1 wait",
        ),
        (all(8, json!({}), json!({})), pod(2, &json!({})), 7, "spot:taint a100", "4xa100 3xh100"),
        // 4 of its own, 6 lent.
        (lent(cohort.clone(), json!({})), pod(8, &json!({})), 1, "spot:taint a100", "1xa100+"),
        (
            lent(cohort.clone(), json!({"borrowingLimit": 2})),
            pod(8, &json!({})),
            1,
            "spot:taint a100:quota h100:quota",
            "1 wait",
        ),
        (lent(cohort, json!({})), pod(5, &json!({})), 4, "spot:taint a100", "2xa100+ 2xh100+"),
        // Borrowing comes after every flavor that fits without.
        (
            lent(last, json!({})),
            pod(4, &json!({})),
            4,
            "spot:taint a100",
            "1xa100 1xh100 1xa100+ 1xh100+",
        ),
    ] {
        let decision = ask(&objects, &[(shape, 1)], replicas_asked);
        assert_eq!(
            (told(&decision).as_str(), replicas(&decision).as_str()),
            (expected, admitted),
            "{objects:?}"
        );
    }
    assert!(ask(&all(8, json!({}), json!({})), &[(pod(8, &h100), 1)], 1).loose);
}

#[test]
fn leader_and_workers_are_admitted_together() {
    let mut objects = three();
    objects.push(cluster_queue(
        "all",
        &json!({}),
        &json!([gpus("a100", 8, &json!({})), gpus("h100", 16, &json!({}))]),
    ));
    let on = |product: &str| pod(8, &json!({"nodeSelector": {"nvidia.com/gpu.product": product}}));
    let decision = ask(&objects, &[(on("A100"), 1), (on("H100"), 2)], 1);
    assert_eq!(
        (decision.flavor.as_deref(), decision.worker_flavor.as_deref()),
        (Some("a100"), Some("h100"))
    );
    // Three workers are more than the quota: nobody starts.
    let decision = ask(&objects, &[(on("A100"), 1), (on("H100"), 3)], 1);
    assert_eq!(decision.flavor, None);
    assert_eq!(told(&decision), "a100:node-affinity h100:quota");
}

#[test]
fn a_resource_not_covered_by_the_queue_prevents_admission() {
    let mut objects = three();
    objects.push(cluster_queue("all", &json!({}), &json!([gpus("h100", 8, &json!({}))])));
    let shape = Shape::of(&Node::from_json(
        &json!({"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1, "rdma/hca": 1}}}]}),
        ORIGIN,
    ));
    assert_eq!(told(&ask(&objects, &[(shape, 1)], 1)), "h100:not-covered");
}

#[test]
fn a_queue_that_admits_nothing_reports_the_reason() {
    let flavors = || json!([gpus("h100", 8, &json!({}))]);
    for (objects, expected) in [
        (
            vec![
                json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "p", "namespace": "default"}, "spec": {"clusterQueue": "all"}}),
            ],
            "namespace default has no LocalQueue `q`; there is `p`",
        ),
        (
            vec![local_queue(), cluster_queue("other", &json!({}), &flavors())],
            "ClusterQueue `all` of LocalQueue `q` is not in the input",
        ),
        (
            vec![local_queue(), cluster_queue("all", &json!({"stopPolicy": "Hold"}), &flavors())],
            "ClusterQueue `all` is stopped: stopPolicy Hold",
        ),
        (
            vec![
                flavor("a100", &product("A100")),
                local_queue(),
                cluster_queue("all", &json!({}), &flavors()),
            ],
            "ClusterQueue `all` is inactive: ResourceFlavor `h100` is not in the input",
        ),
        (
            vec![
                local_queue(),
                cluster_queue(
                    "all",
                    &json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team"}}}),
                    &flavors(),
                ),
            ],
            "the namespaceSelector of ClusterQueue `all` does not select namespace default",
        ),
        (
            vec![
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "b"}}}),
                local_queue(),
                cluster_queue(
                    "all",
                    &json!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}}),
                    &flavors(),
                ),
            ],
            "the namespaceSelector of ClusterQueue `all` does not select namespace default",
        ),
    ] {
        let decision = ask(&objects, &[(pod(1, &json!({})), 1)], 1);
        assert_eq!(decision.obstacle.as_deref(), Some(expected));
        assert_eq!(decision.flavor, None);
    }
    // A team's directory has no ClusterQueue at all.
    let decision = ask(&[local_queue()], &[(pod(1, &json!({})), 1)], 1);
    assert_eq!(
        (decision.unread.map(|object| object.to_string()).as_deref(), decision.obstacle.as_deref()),
        (Some("ClusterQueue `all`"), None)
    );
    assert_eq!(decision.cluster_queue.as_deref(), Some("all"));
    let mut closed = cluster_queue("all", &json!({}), &flavors());
    closed["spec"].as_object_mut().unwrap().remove("namespaceSelector");
    let decision = ask(
        &[flavor("h100", &product("H100")), local_queue(), closed],
        &[(pod(1, &json!({})), 1)],
        1,
    );
    assert_eq!(
        decision.obstacle.as_deref(),
        Some("ClusterQueue `all` has no namespaceSelector and takes pods of no namespace")
    );
    let unread = |objects: &[Value]| ask(objects, &[(pod(1, &json!({})), 1)], 1).unread;
    assert_eq!(
        unread(&[]).map(|object| object.to_string()).as_deref(),
        Some("LocalQueue `default/q`")
    );
}

fn options(prefer: Option<Prefer>, split: bool, selected: &dyn Fn(&Object) -> bool) -> Options<'_> {
    Options {
        semantics: Semantics::Documented,
        prefer,
        split,
        tolerations: true,
        version: KueueVersion::V1Beta2,
        selected,
    }
}

const ALL: &dyn Fn(&Object) -> bool = &|_| true;

/// The result of an import: the classes by name with their action.
fn imported(objects: &[Value]) -> Vec<(String, Action, Value)> {
    let world = world(&documents(objects));
    let classes = kueue::import(&world.catalog, options(None, false, ALL)).value.classes;
    classes
        .into_iter()
        .map(|class| (class.name.to_string(), class.action, class.object.to_json()))
        .collect()
}

/// The result of an export.
fn exported(objects: &[Value], split: bool) -> Vec<(String, FlavorAction, Value)> {
    let world = world(&documents(objects));
    let flavors = kueue::export(&world.catalog, options(None, split, ALL)).value.exported;
    flavors
        .into_iter()
        .map(|flavor| (flavor.name.to_string(), flavor.action, flavor.object.to_json()))
        .collect()
}

fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
    let product = prop_oneof![
        Just("NVIDIA-H100-80GB-HBM3"),
        Just("NVIDIA-A100-SXM4-40GB"),
        Just("FOO-1"),
        Just("AMD_Instinct_MI300X_OAM")
    ];
    let other = prop::collection::btree_map("[a-d]", "[a-z0-9]{1,4}", 0..4);
    (prop_oneof![Just("nvidia.com/gpu.product"), Just("amd.com/gpu.product-name")], product, other)
        .prop_map(|(key, product, mut labels)| {
            labels.insert(key.to_owned(), product.to_owned());
            labels
        })
}

/// The spec of a flavor, with all fields.
fn specs() -> impl Strategy<Value = Value> {
    let taints = prop::collection::btree_map(
        "[t-w]",
        prop_oneof![Just("NoSchedule"), Just("NoExecute")],
        0..3,
    );
    (labels(), taints, any::<bool>(), any::<bool>()).prop_map(
        |(labels, taints, tolerated, topology)| {
            let mut spec = json!({"nodeLabels": labels});
            let own: Vec<Value> = taints
                .iter()
                .map(|(key, effect)| json!({"key": key, "value": "x", "effect": effect}))
                .collect();
            if !own.is_empty() {
                spec["nodeTaints"] = own.into();
                if tolerated {
                    spec["tolerations"] = taints
                        .keys()
                        .map(|key| json!({"key": key, "operator": "Exists"}))
                        .collect();
                }
            }
            if topology {
                spec["topologyName"] = "racks".into();
            }
            spec
        },
    )
}

fn holds<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(failure) = runner.run(&strategy, property) {
        panic!("{failure}");
    }
}

/// OEP-0003, Goals: fields that both have survive a round trip, and a second run changes nothing.
#[test]
fn a_flavor_survives_the_round_trip_through_a_class() {
    holds(specs(), |spec| {
        let flavor = flavor("gpu-x", &spec);
        let made = imported(std::slice::from_ref(&flavor));
        prop_assert_eq!(
            made.iter().map(|(name, action, _)| (name.as_str(), *action)).collect::<Vec<_>>(),
            [("gpu-x", Action::Create)]
        );
        let class = made[0].2.clone();
        let back = exported(std::slice::from_ref(&class), false);
        prop_assert_eq!(&back, &[("gpu-x".to_owned(), FlavorAction::Create, flavor.clone())]);
        let both = [class.clone(), flavor.clone()];
        prop_assert_eq!(imported(&both), [("gpu-x".to_owned(), Action::Unchanged, class)]);
        prop_assert_eq!(
            exported(&both, false),
            [("gpu-x".to_owned(), FlavorAction::InSync, flavor)]
        );
        let world = world(&documents(&both));
        prop_assert!(kueue::diff(&world.catalog, options(None, false, ALL)).value.is_in_sync());
        Ok(())
    });
}

/// OEP-0003, Goals and Kueue Integration; docs/decisions.md#discovery: a class follows a flavor
/// that changed in whatever way, and is then in step with it.
#[test]
fn a_class_updated_from_its_flavor_is_in_sync() {
    holds((specs(), specs()), |(before, after)| {
        let class = imported(&[flavor("gpu-x", &before)])[0].2.clone();
        let after = flavor("gpu-x", &after);
        let followed = imported(&[class.clone(), after.clone()]);
        prop_assert_ne!(followed[0].1, Action::Conflict);
        prop_assert_eq!(followed[0].1 == Action::Unchanged, followed[0].2 == class);
        // It is equal to a class made from the present flavor.
        prop_assert_eq!(&followed[0].2, &imported(std::slice::from_ref(&after))[0].2);
        prop_assert_eq!(imported(&[followed[0].2.clone(), after.clone()])[0].1, Action::Unchanged);
        prop_assert_eq!(
            exported(&[followed[0].2.clone(), after.clone()], false),
            [("gpu-x".to_owned(), FlavorAction::InSync, after)]
        );
        Ok(())
    });
}

fn class(labels: &BTreeMap<String, String>, terms: &[Vec<&str>]) -> Value {
    let mut discovery = json!({"nodeSelector": labels});
    if !terms.is_empty() {
        let term = |values: &Vec<&str>| json!({"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": values}]});
        discovery["nodeSelectorTerms"] = terms.iter().map(term).collect();
    }
    json!({
        "apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": "own"},
        "spec": {"discovery": discovery, "capabilities": {}, "integration": {"kueueResourceFlavor": "gpu-own"}},
    })
}

/// OEP-0003, Kueue Integration: the flavors of a class are in step with it, one for each kind of
/// node.
#[test]
fn a_class_exports_one_flavor_per_kind_of_node() {
    let labels: BTreeMap<String, String> = [
        ("zone".to_owned(), "a".to_owned()),
        ("nvidia.com/gpu.product".to_owned(), "X".to_owned()),
    ]
    .into();
    for (terms, count) in [
        (vec![], 1),
        (vec![vec!["X"]], 1),
        (vec![vec!["X", "Y"]], 2),
        (vec![vec!["X"], vec!["Y", "Z"], vec!["X"]], 3),
    ] {
        let class = class(&labels, &terms);
        let made = exported(std::slice::from_ref(&class), true);
        assert_eq!(made.len(), count, "{terms:?}");
        assert_eq!(
            exported(std::slice::from_ref(&class), false).len(),
            usize::from(count == 1),
            "{terms:?}"
        );
        assert!(made.iter().all(|(_, _, flavor)| flavor["spec"]["nodeLabels"]["zone"] == "a"));
        let mut both: Vec<Value> = made.into_iter().map(|(_, _, flavor)| flavor).collect();
        both.push(class.clone());
        assert!(exported(&both, true).iter().all(|(_, action, _)| *action == FlavorAction::InSync));
        assert!(imported(&both).iter().all(|(name, action, object)| name == "own"
            && *action == Action::Unchanged
            && *object == class));
        let world = world(&documents(&both));
        let diffed = kueue::diff(&world.catalog, options(None, false, ALL)).value;
        assert!(diffed.is_in_sync(), "{:?}", diffed.pairs);
    }
}

/// Taints that all nodes of a class have become taints and tolerations of its flavor
/// (docs/decisions.md#kueue-exchange).
#[test]
fn taints_of_all_nodes_belong_to_the_flavor() {
    let node = |name: &str, more: Value| {
        let mut taints = vec![
            json!({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}),
            json!({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}),
        ];
        taints.extend(more.as_array().unwrap().clone());
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "X"}}, "spec": {"taints": taints}})
    };
    let labels: BTreeMap<String, String> =
        [("nvidia.com/gpu.product".to_owned(), "X".to_owned())].into();
    let objects = [
        class(&labels, &[]),
        node("a", json!([])),
        node("b", json!([{"key": "team", "value": "b", "effect": "NoSchedule"}])),
    ];
    assert_eq!(
        exported(&objects, false)[0].2["spec"],
        json!({
            "nodeLabels": {"nvidia.com/gpu.product": "X"},
            "nodeTaints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        })
    );
}

/// The order in which documents are read changes nothing.
#[test]
fn import_and_export_do_not_depend_on_document_order() {
    let texts = (
        prop::collection::vec(specs(), 1..4),
        prop::collection::vec(labels(), 1..4),
        0..1000_usize,
    );
    holds(texts, |(specs, classes, shift)| {
        let mut objects: Vec<Value> = specs
            .into_iter()
            .enumerate()
            .map(|(index, spec)| flavor(&format!("gpu-{index}"), &spec))
            .collect();
        for (index, labels) in classes.iter().enumerate() {
            let mut class = class(labels, &[]);
            class["metadata"]["name"] = format!("gpu-{index}").into();
            class["spec"]["integration"]["kueueResourceFlavor"] =
                format!("gpu-{}", (index + shift) % 3).into();
            objects.push(class);
        }
        let first = (imported(&objects), exported(&objects, false));
        let turned = shift % objects.len();
        objects.rotate_left(turned);
        prop_assert_eq!(&first, &(imported(&objects), exported(&objects, false)));
        objects.reverse();
        prop_assert_eq!(&first, &(imported(&objects), exported(&objects, false)));
        Ok(())
    });
}
