use super::*;
use crate::cluster::tests::{labeled, object};
use crate::operators::ome::compose::testing::node;
use proptest::prelude::*;

fn machine(name: &str, gpus: i64, cpu: i64, pods: i64) -> Machine {
    let amounts = [("nvidia.com/gpu", gpus), ("cpu", cpu), ("pods", pods)];
    Machine {
        allocatable: Some(
            amounts
                .iter()
                .map(|(name, amount)| (EcoString::from(*name), Quantity::from_integer(*amount)))
                .collect(),
        ),
        ..Machine::labeled(name.into(), crate::yaml::Map::new())
    }
}

fn shape(gpus: i64, cpu: i64) -> Shape {
    let amounts = [("nvidia.com/gpu", gpus * 1000), ("cpu", cpu * 1000), ("pods", 1000)];
    Shape {
        amounts: amounts
            .iter()
            .filter(|(_, amount)| *amount > 0)
            .map(|(name, amount)| (EcoString::from(*name), (*amount).into()))
            .collect(),
        ..Shape::default()
    }
}

/// The most pods of one shape, by trying every placement.
fn brute(machines: &[(i64, i64, i64)], gpus: i64, cpu: i64) -> i64 {
    fn search(free: &mut Vec<(i64, i64, i64)>, gpus: i64, cpu: i64) -> i64 {
        let mut best = 0;
        for index in 0..free.len() {
            let (g, c, p) = free[index];
            if g >= gpus && c >= cpu && p >= 1 {
                free[index] = (g - gpus, c - cpu, p - 1);
                best = best.max(1 + search(free, gpus, cpu));
                free[index] = (g, c, p);
                // All pods are equal: the order of machines does not change the maximum.
                break;
            }
        }
        best
    }
    search(&mut machines.to_vec(), gpus, cpu)
}

proptest! {
    #[test]
    fn replica_count_of_equal_pods_matches_brute_force(machines in prop::collection::vec((0_i64..9, 0_i64..9, 0_i64..5), 0..5), gpus in 0_i64..4, cpu in 0_i64..4) {
        let nodes: Vec<Machine> = machines.iter().enumerate().map(|(index, (g, c, p))| machine(&format!("n{index}"), *g, *c, *p)).collect();
        let found = Inventory::new(&nodes, []).map(|inventory| inventory.fit(&shape(gpus, cpu), None, 1).replicas);
        prop_assert_eq!(found, (!machines.is_empty()).then(|| brute(&machines, gpus, cpu)));
    }

    #[test]
    fn leaders_and_workers_never_take_more_than_there_is(machines in prop::collection::vec((0_i64..9, 0_i64..9, 0_i64..5), 1..5), gpus in 1_i64..4, workers in 1_i64..3) {
        let nodes: Vec<Machine> = machines.iter().enumerate().map(|(index, (g, c, p))| machine(&format!("n{index}"), *g, *c, *p)).collect();
        let own = shape(gpus, 1);
        let found = Inventory::new(&nodes, []).map_or(0, |inventory| inventory.fit(&own, Some((&own, workers)), 1).replicas);
        prop_assert!(found * (workers + 1) <= brute(&machines, gpus, 1));
    }
}

#[test]
fn node_mismatch_reports_the_pod_value_and_the_node_value() {
    let shape = Shape::of(&node(
        "{nodeSelector: {zone: a}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
         {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: DoesNotExist}]}]}}}, \
         containers: [{resources: {limits: {nvidia.com/gpu: 4, cpu: 4, memory: 8Gi}}}]}",
    ));
    let of = |name: &str, labels: &str, spec: &str, allocatable: &str| {
        let tree = format!(
            "{{metadata: {{labels: {labels}}}, spec: {spec}, status: {{allocatable: {allocatable}}}}}"
        );
        Machine::of(&object("Node", name, &tree))
    };
    let room = "{nvidia.com/gpu: 8, cpu: 16, memory: 64Gi, pods: 10}";
    let machines = [
        of("fits", "{zone: a}", "{}", room),
        of("cordoned", "{zone: a}", "{unschedulable: true}", room),
        of("taint", "{zone: a}", "{taints: [{key: k, effect: NoSchedule}]}", room),
        of("zone", "{zone: b}", "{}", room),
        of("none", "{}", "{}", room),
        of("pool", "{zone: a, pool: x}", "{}", room),
        of("gpu", "{zone: a}", "{}", "{nvidia.com/gpu: 2, cpu: 2, memory: 64Gi, pods: 10}"),
        of("cpu", "{zone: a}", "{}", "{nvidia.com/gpu: 8, cpu: 3500m, memory: 1Gi, pods: 10}"),
        of("memory", "{zone: a}", "{}", "{nvidia.com/gpu: 8, cpu: 4, memory: 4Gi}"),
        of("pods", "{zone: a}", "{}", "{nvidia.com/gpu: 8, cpu: 4, memory: 8Gi, pods: 0}"),
        Machine::of(&object(
            "Node",
            "away",
            "{metadata: {labels: {zone: a}}, status: {allocatable: {cpu: 1}, conditions: [{type: Ready, status: Unknown}]}}",
        )),
    ];
    let inventory = Inventory::new(&machines, []).unwrap();
    let fit = inventory.fit(&shape, None, 2);
    assert_eq!((fit.replicas, fit.fits), (2, true));
    assert!(!inventory.fit(&shape, None, 3).fits);
    let told: Vec<String> = fit
        .blocked
        .first()
        .iter()
        .map(|own| format!("{} {} {}", own.node, own.code, own.detail))
        .collect();
    assert_eq!(
        told,
        [
            "cordoned cordoned unschedulable",
            "taint taint k:NoSchedule",
            "zone selector zone: a required, b found",
            "none selector zone: a required, label absent",
            "pool affinity no required node selector term matches",
            "gpu gpu nvidia.com/gpu: 4 requested, 2 free",
            "cpu cpu cpu: 4 requested, 3500m free",
            "memory memory memory: 8Gi requested, 4Gi free",
            "pods pods pods: 1 requested, 0 free",
            "away taint node.kubernetes.io/not-ready:NoSchedule",
        ]
    );
    let same = BlockedNodes::new([&fit.blocked.first()[..1], fit.blocked.first()].concat());
    let kinds: Vec<(&str, usize)> =
        same.kinds().map(|(first, count)| (first.node.as_str(), count)).collect();
    assert_eq!((kinds[0], kinds[1], kinds.len()), (("cordoned", 2), ("taint", 1), 10));
    // Of many machines the first are kept, and the number of all.
    let lacks = |at: usize| Blocked {
        node: format!("n{at}").into(),
        code: "gpu",
        detail: format!("{at} left").into(),
    };
    let many = BlockedNodes::new((0..25).chain([3, 24]).map(lacks));
    let counted: Vec<usize> = many.kinds().map(|(_, count)| count).collect();
    assert_eq!(counted, [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
    assert_eq!((many.first().len(), many.all_kinds(), many.counts()["gpu"]), (10, 25, 27));
    // A leader and workers of another shape, first fit: with the leader, there is room for one
    // worker only.
    let worker = Shape::of(&node(
        "{nodeSelector: {zone: a}, containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}",
    ));
    for (workers, replicas) in [(0, 2), (1, 1), (2, 1), (15, 1), (16, 0)] {
        let found = inventory.fit(&shape, Some((&worker, workers)), 1);
        assert_eq!((found.replicas, found.fits), (replicas, replicas >= 1), "{workers} workers");
    }
    let mut left = inventory.clone();
    assert!(!left.place_all([(&worker, 1), (&shape, 3)]));
    assert!(left.place_all([(&worker, 2), (&shape, 1)]), "what failed took nothing");
    assert!(!left.place_all([(&shape, 1)]));
    assert!(short_of([]).is_none());
    // Running pods use resources, which are free after them.
    let used = [("fits".into(), shape.clone()), ("elsewhere".into(), shape.clone())];
    let used: Vec<(&ecow::EcoString, &Shape)> =
        used.iter().map(|(name, shape)| (name, shape)).collect();
    let busy = Inventory::new(&machines, used.iter().copied()).unwrap();
    assert_eq!(busy.fit(&shape, None, 1).replicas, 1);
    assert_eq!(busy.without(used).fit(&shape, None, 1).replicas, 2);
    assert!(Inventory::new(&[labeled("{}")], []).is_none());
}

#[test]
fn several_groups_of_a_leader_and_workers_share_a_machine() {
    let own = shape(1, 1);
    for (gpus, workers, replicas) in [(4, 1, 2), (6, 1, 3), (6, 2, 2), (5, 1, 2), (1, 1, 0)] {
        let machines = [machine("n", gpus, 16, 16)];
        let inventory = Inventory::new(&machines, []).unwrap();
        let found = inventory.fit(&own, Some((&own, workers)), 1).replicas;
        assert_eq!(found, replicas, "{gpus} GPUs, {workers} workers");
    }
    let sized = Shape::of(&node(
        "{containers: [{resources: {limits: {nvidia.com/gpu: 2, example.com/x: 1, memory: 3, cpu: 4}}}]}",
    ));
    assert_eq!(sized.size(), (3000, 3000, 4000));
}

#[test]
fn a_pod_that_has_ended_requests_nothing() {
    let pod = |name: &str, spec: &str, status: &str| {
        object("Pod", name, &format!("{{spec: {{{spec}}}, status: {{{status}}}}}"))
    };
    let on_n = "nodeName: n, containers: [{resources: {requests: {cpu: 2}}}]";
    let pods = [
        pod("new", on_n, ""),
        pod("runs", on_n, "phase: Running"),
        pod("done", on_n, "phase: Succeeded"),
        pod("failed", on_n, "phase: Failed"),
        pod("unplaced", "containers: [{resources: {requests: {cpu: 2}}}]", "phase: Pending"),
    ];
    let found: Vec<(String, i64)> = running(&pods)
        .into_iter()
        .map(|(node, shape)| (node.to_string(), shape.amount("cpu")))
        .collect();
    assert_eq!(found, [("n".to_owned(), 2), ("n".to_owned(), 2)]);
}
