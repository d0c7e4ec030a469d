//! How nodes are compared. Scores are summed with the weights of the default profile: 3 for taints,
//! 2 for the affinity to nodes, to pods and for spreading, 1 for resources, balance and images.

use super::{
    Bench, asks, constraints, gpus, labeled, machine, near, preferred, required, spread, template,
};
use crate::cluster::schedule::choice::Preference;
use crate::cluster::schedule::cycle::TieBreak;
use crate::cluster::schedule::ids::NodeId;
use crate::cluster::schedule::label_selector;
use crate::cluster::schedule::pod::PodTemplate;
use crate::operators::ome::compose::testing::node;

#[test]
fn the_least_used_and_most_balanced_node_scores_highest() {
    let sized =
        |name: &str, amounts: &str| machine(name, "", "", &format!("allocatable: {{{amounts}}}"));
    let mut bench = Bench::new([
        sized("a", "cpu: 10, memory: 2000Mi"),
        sized("b", "cpu: 20, memory: 2000Mi"),
        sized("c", "cpu: 10"),
        sized("d", "memory: 2000Mi"),
        sized("e", "cpu: 50m, memory: 100Mi"),
        sized("f", "nvidia.com/gpu: 8"),
    ]);
    for (spec, scores) in [
        (String::new(), [100, 100, 100, 100, 100, 0]),
        // 100m and 200Mi are assumed, and no balance: (99 + 90) / 2, (99 + 90) / 2, 99, 90, 0.
        ("containers: [{}]".to_owned(), [94, 94, 99, 90, 0, 0]),
        // (90 + 90) / 2 + 95, (95 + 90) / 2 + 97 (2.5 off balance), 90 + 100.
        (asks("cpu: 1"), [185, 189, 190, -1, -1, -1]),
        // (90 + 50) / 2 + (100 - 20), (95 + 50) / 2 + (100 - 22.5).
        (asks("cpu: 1, memory: 1000Mi"), [150, 149, -1, -1, -1, -1]),
        // (99 + 50) / 2 + (100 - 25); c has no memory; d has only memory.
        (asks("memory: 1000Mi"), [149, 149, -1, 150, -1, -1]),
        (asks("cpu: 10, memory: 2000Mi"), [100, 100, -1, -1, -1, -1]),
        // Of two containers one is assumed to take 100m and 200Mi.
        (
            "containers: [{}, {resources: {requests: {cpu: 900m, memory: 800Mi}}}]".to_owned(),
            [70 + 84, 72 + 82, -1, -1, -1, -1],
        ),
    ] {
        assert_eq!(bench.scores("", &spec), scores, "{spec}");
    }
    // Running pods count with their assumed amounts.
    bench.run("", &asks("cpu: 4"), "a");
    bench.run("", "containers: [{}]", "c");
    let after = bench.scores("", &asks("cpu: 1"));
    // (50 + 80) / 2 + (100 - 25); 89 + 100.
    assert_eq!(after[..3], [65 + 75, 189, 189]);
    assert_eq!(bench.schedule("", &asks("cpu: 1")), "b");
}

#[test]
fn pod_level_resources_count_after_the_pod_is_bound() {
    let sized = |name: &str| machine(name, "", "", "allocatable: {cpu: 10, memory: 2000Mi}");
    let mut bench = Bench::new([sized("a"), sized("b")]);
    let text = "resources: {requests: {cpu: 5}}, containers: [{}]";
    // The new pod counts as 100m and 200Mi, and requests 5 processors: 94 + (100 - 25).
    assert_eq!(bench.scores("", text), [94 + 75; 2]);
    bench.run("", text, "a");
    // Then 5 processors and 200Mi are held: (49 + 80) / 2.
    assert_eq!(bench.scores("", "containers: [{}]"), [64, 94]);
}

#[test]
fn untolerated_soft_taints_lower_the_score() {
    let soft = |key: &str| format!("{{key: {key}, effect: PreferNoSchedule}}");
    let mut bench = Bench::new([
        machine("a", "", "", ""),
        machine("b", "", &format!("taints: [{}]", soft("k")), ""),
        machine("c", "", &format!("taints: [{}, {}]", soft("k"), soft("l")), ""),
        machine(
            "d",
            "pool: x",
            &format!("taints: [{}, {}, {}]", soft("k"), soft("l"), soft("m")),
            "",
        ),
    ]);
    let toleration = |key: &str| format!("tolerations: [{{key: {key}, operator: Exists}}]");
    for (spec, scores) in [
        (String::new(), [0, -99, -198, -300]),
        (toleration("k"), [0, 0, -150, -300]),
        ("tolerations: [{operator: Exists}]".to_owned(), [0; 4]),
        // Only nodes that fit are set against each other.
        (
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
             {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: DoesNotExist}]}]}}}"
                .to_owned(),
            [0, -150, -300, -1],
        ),
    ] {
        assert_eq!(bench.scores("", &spec), scores, "{spec}");
    }
    let mut bench = Bench::new([
        machine("a", "", "", ""),
        machine("b", "", &format!("unschedulable: true, taints: [{}]", soft("k")), ""),
    ]);
    assert_eq!(bench.scores("", ""), [0, -1]);
}

#[test]
fn node_affinity_scores_are_scaled_to_the_highest() {
    let mut bench = labeled(&[("a", "p: x, q: x"), ("b", "p: x"), ("c", ""), ("d", "q: x")]);
    let term = |weight: i64, key: &str| {
        format!(
            "{{weight: {weight}, preference: {{matchExpressions: [{{key: {key}, operator: Exists}}]}}}}"
        )
    };
    let spec = |terms: &[String]| {
        let terms = terms.join(", ");
        format!(
            "affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{terms}]}}}}"
        )
    };
    for (terms, scores) in [
        (vec![term(10, "p"), term(30, "q")], [200, 50, 0, 150]),
        (vec![term(10, "p")], [200, 200, 0, 0]),
        (vec![term(10, "none")], [0; 4]),
        (vec!["{weight: 5}".to_owned()], [0; 4]),
        (vec![term(10, "p").replace("weight: 10, ", "")], [0; 4]),
        (
            vec!["{weight: 5, preference: {matchFields: [{key: metadata.name, operator: In, values: [c]}]}}".to_owned()],
            [0, 0, 200, 0],
        ),
    ] {
        assert_eq!(bench.scores("", &spec(&terms)), scores, "{terms:?}");
    }
}

#[test]
fn the_parts_of_a_score_are_added() {
    let soft = "taints: [{key: k, effect: PreferNoSchedule}]";
    let mut bench = Bench::new([
        machine("a", "", "", ""),
        machine("b", "p: x", soft, ""),
        machine("c", "p: x", "", ""),
    ]);
    let spec = "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: \
                [{weight: 1, preference: {matchExpressions: [{key: p, operator: Exists}]}}]}}";
    assert_eq!(bench.scores("", spec), [0, 200 - 300, 200]);
    assert_eq!(bench.schedule("", spec), "c");
    assert_eq!(bench.scheduler.ties(), 0, "the last node is better than those before");
}

#[test]
fn preferred_pod_affinity_raises_or_lowers_the_score() {
    let mut bench = labeled(&[
        ("a", "zone: x"),
        ("b", "zone: x"),
        ("c", "zone: y"),
        ("d", "zone: z"),
        ("e", ""),
    ]);
    bench.run("app: db", "", "a");
    bench.run("app: db", "", "a");
    bench.run("app: db", "", "c");
    bench.run("app: cache", "", "c");
    let like = |terms: &[(i64, String)]| preferred("podAffinity", terms);
    let avoid = |terms: &[(i64, String)]| preferred("podAntiAffinity", terms);
    for (spec, scores) in [
        (like(&[(10, near("db", "zone"))]), [200, 200, 100, 0, 0]),
        (avoid(&[(10, near("db", "zone"))]), [0, 0, 100, 200, 200]),
        // x has 20, y 10 + 30.
        (like(&[(10, near("db", "zone")), (30, near("cache", "zone"))]), [100, 100, 200, 0, 0]),
        // a has 20 + 4, b 20, c 10 + 2, of at most 24.
        (
            like(&[(10, near("db", "zone")), (2, near("db", "kubernetes.io/hostname"))]),
            [200, 166, 100, 0, 0],
        ),
        (like(&[(10, near("none", "zone"))]), [0; 5]),
        // A term without a weight is none.
        (
            format!(
                "affinity: {{podAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: \
                 [{{podAffinityTerm: {}}}]}}}}",
                near("db", "zone")
            ),
            [0; 5],
        ),
    ] {
        assert_eq!(bench.scores("", &spec), scores, "{spec}");
    }
    // Preferences of running pods for or against the new one; required affinity has weight 1.
    let mut bench = labeled(&[("a", "zone: x"), ("b", "zone: y"), ("c", "zone: z")]);
    bench.run("app: fan", &like(&[(3, near("web", "zone"))]), "a");
    assert_eq!(bench.scores("app: web", ""), [200, 0, 0]);
    assert_eq!(bench.scores("app: other", ""), [0; 3]);
    bench.run("app: foe", &avoid(&[(1, near("web", "zone"))]), "b");
    assert_eq!(bench.scores("app: web", ""), [200, 0, 50]);
    let friend = bench.run("app: web", &required("podAffinity", &[near("web", "zone")]), "c");
    assert_eq!(bench.scores("app: web", ""), [200, 0, 100]);
    bench.scheduler.finish(friend);
    assert_eq!(bench.scores("app: web", ""), [200, 0, 50]);
}

#[test]
fn soft_constraints_prefer_the_emptier_domains() {
    let mut bench = labeled(&[("a", "zone: x"), ("b", "zone: x"), ("c", "zone: y"), ("d", "")]);
    for on in ["a", "a", "a", "c"] {
        bench.run("app: s", "", on);
    }
    let soft = |key: &str, skew: i64, more: &str| {
        spread(key, skew, &format!("whenUnsatisfiable: ScheduleAnyway, {more}"))
    };
    let host = "kubernetes.io/hostname";
    for (list, scores) in [
        // The weight of a count is ln(2 zones + 2): 3 * 1.39 = 4 and 1; 100 * (4 + 1 - 4) / 4 = 25.
        (vec![soft("zone", 1, "")], [50, 50, 200, 0]),
        // Two more each: 6 and 3.
        (vec![soft("zone", 3, "")], [100, 100, 200, 0]),
        // By host, ln(4 nodes + 2): 5, 0, 2, 0.
        (vec![soft(host, 1, "")], [0, 200, 120, 200]),
        // Both, of the three nodes with a zone, ln(5): 4.16 + 4.83 = 9, 4, 1.39 + 1.61 = 3.
        (vec![soft("zone", 1, ""), soft(host, 1, "")], [66, 176, 200, 0]),
        (vec![soft("none", 1, "")], [0; 4]),
        (
            vec![format!(
                "{{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {{}}}}"
            )],
            [200, 200, 200, 0],
        ),
    ] {
        assert_eq!(bench.scores("app: s", &constraints(&list)), scores, "{list:?}");
    }
    let zone = |zone: &str| format!("topology.kubernetes.io/zone: {zone}");
    let mut bench = labeled(&[("a", &zone("x")), ("b", &zone("x")), ("c", &zone("y")), ("d", "")]);
    for on in ["a", "a", "a", "c"] {
        bench.run("app: s", "", on);
    }
    // Pods of a ReplicaSet without constraints: hosts with a skew of 3, zones with one of 5.
    let mut owned = template("app: s", "");
    owned.owner = label_selector(Some(&node("{matchLabels: {app: s}}"))).unwrap();
    let scores = |bench: &mut Bench, template: PodTemplate| -> Vec<i64> {
        let answers = bench.examine(template);
        answers.into_iter().map(|one| one.score.unwrap_or(-1) - 300).collect()
    };
    // Hosts: 2 + n * ln(6); zones: 4 + n * ln(3 values + 2), the missing one among them.
    // a: 2 + 5.4 + 4 + 4.8 = 16, b: 2 + 4 + 4.8 = 11, c: 2 + 1.8 + 4 + 1.6 = 9, d: 2.
    assert_eq!(scores(&mut bench, owned.clone()), [24, 86, 112, 200]);
    owned.owner = label_selector(Some(&node("{}"))).unwrap();
    assert_eq!(scores(&mut bench, owned), [0; 4]);
}

#[test]
fn nodes_that_have_large_images_score_higher() {
    const MIB: i64 = 1 << 20;
    let images = |names: &[(&str, i64)]| {
        let list: Vec<String> = names
            .iter()
            .map(|(name, mib)| format!("{{names: [{name}], sizeBytes: {}}}", mib * MIB))
            .collect();
        format!("images: [{}]", list.join(", "))
    };
    let mut bench = Bench::new([
        machine("a", "", "", &images(&[("model:v1", 1000), ("tool:latest", 200)])),
        machine(
            "b",
            "",
            "",
            &images(&[("model:v1", 1000), ("tool:latest", 200), ("huge:1", 9000)]),
        ),
        machine(
            "c",
            "",
            "",
            &images(&[("host/team/tool:latest", 46), ("dup:1", 1000), ("dup:1", 1000)]),
        ),
        machine("d", "", "", ""),
    ]);
    let of = |images: &[&str]| {
        let list: Vec<String> = images.iter().map(|name| format!("{{image: '{name}'}}")).collect();
        format!("containers: [{}]", list.join(", "))
    };
    for (spec, scores) in [
        // Half of the nodes have it: 500 MiB; (500 - 23) / (1000 - 23).
        (of(&["model:v1"]), [48, 48, 0, 0]),
        // 100 MiB: (100 - 23) / 977.
        (of(&["tool"]), [7, 7, 0, 0]),
        // (600 - 23) / (2000 - 23).
        (of(&["model:v1", "tool"]), [29, 29, 0, 0]),
        // A quarter of 9000 MiB is above the maximum.
        (of(&["huge:1"]), [0, 100, 0, 0]),
        // A quarter of 46 MiB is below the minimum.
        (of(&["host/team/tool"]), [0; 4]),
        (of(&["model"]), [0; 4]),
        // Named twice by a node it is there once.
        (of(&["dup:1"]), [0, 0, 23, 0]),
        ("initContainers: [{image: 'model:v1'}]".to_owned(), [48, 48, 0, 0]),
    ] {
        assert_eq!(bench.scores("", &spec), scores, "{spec}");
    }
    // A node that changes brings its images along.
    let b = bench.id("b");
    bench.scheduler.change_node(b, machine("b", "", "", ""));
    // A quarter of 1000 MiB: (250 - 23) / 977.
    assert_eq!(bench.scores("", &of(&["model:v1"])), [23, 0, 0, 0]);
}

/// Chooses the last of nodes with equal scores.
struct Last(Vec<String>);

impl TieBreak for Last {
    fn choose(&mut self, _: &PodTemplate, nodes: &[&str]) -> Option<usize> {
        self.0.push(nodes.join(" "));
        Some(nodes.len() - 1)
    }
}

#[test]
fn a_score_tie_picks_the_first_node_by_name_by_default() {
    let mut bench = labeled(&[("c", ""), ("a", ""), ("b", "pool: x")]);
    assert_eq!(bench.schedule("", ""), "a");
    assert_eq!(bench.scheduler.ties(), 1);
    assert_eq!(bench.schedule("", "nodeSelector: {pool: x}"), "b");
    assert_eq!(bench.scheduler.ties(), 1, "one node is no tie");
    let mut last = Last(Vec::new());
    let pod = bench.add("", "");
    bench.scheduler.schedule_with(&mut last);
    assert_eq!((bench.place(pod).as_str(), &*last.0), ("b", &["c a b".to_owned()][..]));
    let order: Vec<NodeId> = ["b", "c", "a"].iter().map(|name| bench.id(name)).collect();
    bench.scheduler.prefer(&order);
    assert_eq!(bench.schedule("", ""), "b");
    // A new node is ranked by name.
    let added = bench.scheduler.add_node(machine("A", "", "", ""));
    assert!(added.is_some());
    assert_eq!(bench.schedule("", ""), "A");
    assert!(bench.scheduler.add_node(machine("A", "", "", "")).is_none());
    assert_eq!(bench.scheduler.nodes().count(), 4);
}

#[test]
fn the_tightest_node_has_the_fewest_devices_left() {
    let sized = |name: &str, amounts: &str| {
        machine(name, "", "", &format!("allocatable: {{cpu: 8, {amounts}}}"))
    };
    let mut bench = Bench::new([
        sized("a", "nvidia.com/gpu: 8"),
        sized("b", "nvidia.com/gpu: 4, amd.com/gpu: 1"),
        sized("c", "nvidia.com/gpu: 4"),
        sized("d", "nvidia.com/gpu: 1"),
    ]);
    bench.scheduler.set_preference(Preference::Tightest);
    let two = asks("nvidia.com/gpu: 2");
    // c has as many as b, and no other devices.
    assert_eq!(bench.schedule("", &two), "c");
    assert_eq!(bench.schedule("", &two), "c");
    assert_eq!(bench.schedule("", &two), "b");
    assert_eq!(bench.schedule("", &asks("nvidia.com/gpu: 8")), "a");
    // Without devices: those with the fewest, c before d before a before b.
    bench.run("", &asks("cpu: 1"), "a");
    assert_eq!(bench.schedule("", ""), "a");
    let mut bench = Bench::new([sized("b", "x/y: 1"), sized("a", "x/y: 1")]);
    bench.scheduler.set_preference(Preference::Tightest);
    assert_eq!(bench.schedule("", &asks("cpu: 1")), "a", "the first by name");
    assert_eq!(bench.schedule("", &asks("cpu: 1")), "a", "it has fewer processors left");
}

#[test]
fn only_nodes_that_fit_count_as_domains_to_spread_over() {
    let soft = |key: &str| spread(key, 1, "whenUnsatisfiable: ScheduleAnyway");
    let host = "kubernetes.io/hostname";
    let three = [("a", "zone: x"), ("b", "zone: y"), ("c", "zone: z")];
    let run = |bench: &mut Bench, pods: &[(&str, usize)]| {
        for (on, count) in pods {
            for _ in 0..*count {
                bench.run("app: s", "", on);
            }
        }
    };
    // Zones x and y: 9 and 4 of ln(4) are 12 and 6; with z 9 and 4 of ln(5) were 14 and 6.
    let mut bench = labeled(&three);
    run(&mut bench, &[("a", 9), ("b", 4)]);
    let only = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
                {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: NotIn, values: [z]}]}]}}}";
    for key in ["zone", host] {
        let spec = format!("{only}, {}", constraints(&[soft(key)]));
        assert_eq!(bench.scores("app: s", &spec), [2 * (100 * 6 / 12), 200, -1], "{key}");
    }
    // The same where the pods of another keep it off.
    let avoids = required("podAntiAffinity", &[near("foe", host)]);
    bench.run("app: foe", "", "c");
    let spec = format!("{avoids}, {}", constraints(&[soft(host)]));
    assert_eq!(bench.scores("app: s", &spec), [100, 200, -1]);
}

#[test]
fn pods_on_nodes_without_all_labels_of_the_constraints_are_not_counted() {
    let mut bench =
        labeled(&[("a", "zone: x, rack: r"), ("b", "zone: y, rack: r"), ("c", "zone: x")]);
    for _ in 0..9 {
        bench.run("app: s", "", "c");
    }
    let soft = |key: &str| spread(key, 1, "whenUnsatisfiable: ScheduleAnyway");
    let spec = constraints(&[soft("zone"), soft("rack")]);
    assert_eq!(bench.scores("app: s", &spec), [200, 200, 0]);
    let spec = constraints(&[soft("zone")]);
    assert_eq!(bench.scores("app: s", &spec), [0, 200, 0]);
}

#[test]
fn a_reserved_node_counts_as_a_domain_while_the_pod_fits() {
    let sized = |name: &str, gpus: i64| {
        machine(name, "", "", &format!("allocatable: {{nvidia.com/gpu: {gpus}}}"))
    };
    let mut bench = Bench::new([sized("a", 2), sized("b", 2)]);
    let victims = ["a", "b"].map(|on| bench.run("app: s", &gpus(2, i32::from(on == "b")), on));
    let urgent = bench.add("", &gpus(1, 10));
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(urgent), Some(bench.id("a")));
    for victim in victims {
        bench.scheduler.finish(victim);
    }
    let soft = spread("kubernetes.io/hostname", 1, "whenUnsatisfiable: ScheduleAnyway");
    for on in ["a", "b", "b", "b", "b"] {
        bench.run("app: s", "", on);
    }
    for (wanted, priority, expected) in [
        // Of two nodes: ln(4) and 4 of it, 1 and 6.
        (1, 0, [200, 2 * (100 / 6)]),
        (2, 0, [-1, 200]),
        (2, 11, [200, 2 * (100 / 6)]),
    ] {
        let spec =
            format!("{}, {}", gpus(wanted, priority), constraints(std::slice::from_ref(&soft)));
        assert_eq!(bench.scores("app: s", &spec), expected, "{wanted} of priority {priority}");
    }
}
