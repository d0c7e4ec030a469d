//! Ways of placing a fleet, the words of the verdict, and the nodes to add.

use super::super::{Growth, Packing, kind};
use super::*;
use crate::cluster::schedule::PodId;

/// Services of one pod each that request so many GPUs.
fn singles(gpus: &[i64]) -> Vec<Workload> {
    gpus.iter().map(|gpus| workload(*gpus, 0, 1)).collect()
}

fn named(nodes: &[(&str, i64)], workloads: Vec<Workload>) -> Fleet {
    let machines = nodes.iter().map(|(name, gpus)| node(name, *gpus, 64)).collect();
    Fleet { machines, workloads, ..Fleet::default() }
}

fn running(node: &str) -> Running {
    Running { node: node.into(), started: None, replica: None, template: 0, number: 0 }
}

/// The node of each pod that is wanted, `-` for none.
fn on(placed: &Placed) -> Vec<String> {
    let node = |slot| placed.node(slot).map(|node| placed.scheduler.node(node).name.to_string());
    placed.all().map(|(_, slot)| node(slot).unwrap_or_else(|| "-".to_owned())).collect()
}

#[test]
fn the_verdict_names_the_packing_that_places_all_pods() {
    let way = |packed, largest_first, moves, searched| {
        Verdict::IfPacked(Packing { packed, largest_first, moves, searched })
    };
    for (nodes, pods, expected) in [
        (vec![("a", 4), ("b", 1)], vec![4, 1], Verdict::Fits),
        (vec![("a", 4), ("b", 1)], vec![1, 4], way(true, false, false, false)),
        (vec![("a", 3), ("b", 4)], vec![2, 3, 2], way(false, true, false, false)),
        (vec![("a", 2), ("b", 2)], vec![1, 3], Verdict::DoesNotFit { proven: true }),
    ] {
        assert_eq!(verdict(&named(&nodes, singles(&pods))), expected, "{nodes:?} {pods:?}");
    }
    // Running pods have to move.
    let mut fleet = named(&[("a", 2), ("b", 1)], singles(&[1, 2]));
    fleet.workloads[0].running = vec![running("a")];
    assert_eq!(verdict(&fleet), way(true, false, true, false));
    // No order helps: the large pod has to leave the node to the pod that names it.
    let names = app("b", 1, json!({ "nodeSelector": { HOST: "n0" } }));
    let mut fleet = hosts(&[2, 2], vec![app("a", 2, json!({})), names]);
    fleet.machines = vec![machine(0, (2, 64, 0, 0, false)), machine(1, (2, 64, 0, 0, false))];
    assert_eq!(verdict(&fleet), way(true, true, false, true));
    let mut moves = fleet.clone();
    moves.workloads.push(Workload { running: vec![running("n0")], ..app("c", 0, json!({})) });
    assert_eq!(verdict(&moves), way(true, true, true, true));
    // Of many nodes not all placements are looked at.
    fleet.machines.extend((2..9).map(|at| machine(at, (0, 64, 0, 0, false))));
    assert_eq!(verdict(&fleet), Verdict::DoesNotFit { proven: false });
}

#[test]
fn large_fleet_verdicts_are_proven_by_totals_or_equal_pods() {
    let nodes: Vec<(i64, i64)> = vec![(3, 64); 9];
    let proven = |proven| Verdict::DoesNotFit { proven };
    // Nine pods of two GPUs fit on nine nodes of three.
    assert_eq!(verdict(&fleet(&nodes, vec![workload(2, 1, 9)])), Verdict::Fits);
    assert_eq!(verdict(&fleet(&nodes, vec![workload(2, 1, 13)])), proven(true));
    assert_eq!(verdict(&fleet(&nodes, vec![workload(2, 1, 7), workload(2, 1, 6)])), proven(true));
    assert_eq!(verdict(&fleet(&nodes, vec![workload(2, 1, 7), workload(2, 2, 6)])), proven(false));
    // More than there is.
    assert_eq!(verdict(&fleet(&nodes, vec![workload(1, 1, 14), workload(1, 2, 14)])), proven(true));
    // Pods that keep each other away are not alike.
    let port = json!({ "hostNetwork": true });
    let mut ports = app("p", 0, port);
    let spec = Arc::make_mut(&mut Arc::make_mut(&mut ports.templates[0]).spec);
    spec.ports.push(crate::cluster::schedule::pod::HostPort {
        protocol: "TCP".into(),
        ip: "0.0.0.0".into(),
        port: 80,
    });
    for packed in [ports, app("a", 0, required("podAntiAffinity", "a", HOST))] {
        let workload = Workload { replicas: workload(0, 0, 10).replicas, ..packed };
        let machines = (0..9).map(|at| machine(at, (0, 64, 0, 0, false))).collect();
        let fleet = Fleet { machines, workloads: vec![workload], ..Fleet::default() };
        assert_eq!(verdict(&fleet), proven(false));
    }
    // A pod that fits on no node.
    let large = workload(4, 1, 1);
    assert_eq!(verdict(&fleet(&nodes, vec![workload(1, 1, 1), large])), proven(true));
}

#[test]
fn placement_follows_the_requested_order_of_nodes_and_workloads() {
    let manner = Manner::default();
    let equal = named(&[("a", 2), ("b", 2), ("c", 2)], singles(&[1]));
    assert_eq!(on(&equal.place(manner)), ["a"]);
    assert_eq!(on(&equal.place(Manner { reversed: true, ..manner })), ["c"]);
    // Devices, then memory, then processors make a replica large.
    let asks = |requests: &[(&str, i64)]| {
        let requests = requests.iter().map(|(name, amount)| ((*name).into(), *amount)).collect();
        let spec = Arc::new(PodSpec { requests, ..PodSpec::default() });
        let template = PodTemplate { spec, ..PodTemplate::default() };
        Workload { templates: vec![Arc::new(template)], ..workload(0, 0, 1) }
    };
    let storage = ("ephemeral-storage", 1 << 30);
    for (small, large) in [
        (vec![("memory", 9), ("cpu", 9), (GPU, 1)], vec![(GPU, 2)]),
        (vec![storage, (GPU, 1)], vec![(GPU, 2)]),
        (vec![("cpu", 9), (GPU, 2)], vec![("memory", 1), (GPU, 2)]),
        (vec![("cpu", 1), (GPU, 2)], vec![("cpu", 2), (GPU, 2)]),
    ] {
        let mut fleet = named(&[("a", 2)], vec![asks(&small), asks(&large)]);
        let amounts = [(GPU, 2), ("cpu", 9), ("memory", 1 << 40), ("ephemeral-storage", 1 << 40)];
        let amounts =
            amounts.map(|(name, amount)| (name.into(), Quantity::from_integer(amount))).to_vec();
        Arc::make_mut(&mut fleet.machines[0]).allocatable = Some(amounts);
        assert_eq!(on(&fleet.place(manner)), ["a", "-"], "{small:?}");
        let largest_first = Manner { largest_first: true, ..manner };
        assert_eq!(on(&fleet.place(largest_first)), ["-", "a"], "{small:?}");
    }
}

#[test]
fn pods_that_run_keep_their_nodes_unless_they_may_move() {
    let mut fleet = named(&[("a", 4), ("b", 4)], vec![workload(1, 0, 2)]);
    fleet.workloads[0].running = vec![running("b"), running("b"), running("gone")];
    let kept = |placed: &Placed| placed.all().map(|(_, slot)| slot.kept).collect::<Vec<_>>();
    let placed = fleet.place(Manner::default());
    assert_eq!((on(&placed), kept(&placed)), (vec!["b".to_owned(); 2], vec![true; 2]));
    let placed = fleet.place(Manner { moves: true, ..Manner::default() });
    assert_eq!(kept(&placed), [false; 2]);
    // No running pod stays beside the planned ones.
    fleet.workloads[0].running = vec![running("b"); 4];
    let placed = fleet.place(Manner::default());
    let b = placed.scheduler.node_id("b").unwrap();
    assert_eq!(placed.scheduler.pods_on(b).len(), 2);
    // A pod of a known replica keeps its node.
    let running = Running { replica: Some(1), ..running("b") };
    fleet.workloads[0] = Workload { running: vec![running], ..workload(4, 0, 2) };
    let placed = fleet.place(Manner::default());
    assert_eq!((on(&placed), kept(&placed)), (vec!["a".into(), "b".into()], vec![false, true]));
}

#[test]
fn workloads_come_by_priority_then_those_that_run() {
    let priority = |priority: i32| app("p", 1, json!({ "priority": priority }));
    let runs = |workload: Workload| Workload { running: vec![running("a")], ..workload };
    let workloads = vec![priority(-5), priority(0), runs(priority(0)), priority(5), priority(5)];
    assert_eq!(named(&[("a", 1)], workloads).sequence(), [3, 4, 2, 1, 0]);
}

#[test]
fn replicas_are_held_placed_whole_or_pod_by_pod() {
    let replica = |pods: usize, together: usize, held: bool| Replica {
        together,
        held,
        ..Replica::alone(vec![0; pods])
    };
    let of = |replica: Replica| Workload { replicas: vec![replica], ..workload(1, 0, 1) };
    for (replica, expected) in [
        (replica(2, 0, false), vec!["a", "-"]),
        (replica(2, 2, false), vec!["-", "-"]),
        (replica(2, 1, false), vec!["a", "-"]),
        (replica(1, 1, false), vec!["a"]),
        (replica(1, 0, true), vec!["-"]),
        (replica(2, 2, true), vec!["-", "-"]),
    ] {
        let held = replica.held;
        let placed = named(&[("a", 1)], vec![of(replica.clone())]).place(Manner::default());
        assert_eq!(on(&placed), expected, "{replica:?}");
        assert_eq!(placed.all().all(|(_, slot)| slot.pod.is_none()), held, "{replica:?}");
    }
    // Replicas that are not whole come before the other pods of all.
    let two = Workload { replicas: vec![replica(2, 1, false); 2], ..workload(1, 0, 1) };
    let placed = named(&[("a", 2)], vec![two]).place(Manner::default());
    assert_eq!(on(&placed), ["a", "-", "a", "-"]);
    // One pod that is placed alone may evict others, several that are placed whole do not.
    let victim = app("x", 1, json!({}));
    for (pods, together, evicted) in [(1, 1, 1), (1, 0, 1), (2, 2, 0)] {
        let urgent = app("u", 1, json!({ "priority": 10 }));
        let urgent = Workload { replicas: vec![replica(pods, together, false)], ..urgent };
        let mut fleet = named(&[("a", 1)], vec![urgent]);
        fleet.others = vec![other("a", &victim)];
        let placed = fleet.place(Manner::default());
        assert_eq!(placed.evicted.len(), evicted, "{pods} pods, {together} together");
    }
    // The pod of an evicted workload is added again.
    let low = Workload { running: vec![running("a")], ..app("x", 1, json!({})) };
    let fleet = named(&[("a", 1)], vec![low, app("u", 1, json!({ "priority": 10 }))]);
    let placed = fleet.place(Manner::default());
    assert_eq!(on(&placed), ["-", "a"]);
    let pending: Vec<([usize; 3], PodId)> = placed.pending().collect();
    assert_eq!(pending.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [[0, 0, 0]]);
    assert_eq!(placed.scheduler.state(pending[0].1).node(), None);
}

#[test]
fn the_fewest_nodes_of_the_best_kind_are_added() {
    let growth = |fleet: &Fleet| {
        let found = fleet.growth(&fleet.place(Manner::default()));
        found.map(|all| {
            all.iter().map(|Growth { like, nodes }| (like.index(), *nodes)).collect::<Vec<_>>()
        })
    };
    let pods = |gpus: i64, count: usize| vec![workload(gpus, 0, count)];
    for (nodes, workloads, expected) in [
        (vec![("a", 2)], pods(1, 2), None),
        (vec![("a", 2)], pods(1, 3), Some(vec![(0, 1)])),
        (vec![("a", 2)], pods(1, 5), Some(vec![(0, 2)])),
        (vec![("a", 2)], pods(1, 6), Some(vec![(0, 2)])),
        (vec![("a", 2)], pods(1, 27), Some(vec![(0, 13)])),
        (vec![("a", 2)], pods(2, 14), Some(vec![(0, 13)])),
        (vec![("a", 2)], pods(3, 1), None),
        (vec![("a", 1), ("b", 4)], pods(1, 9), Some(vec![(1, 1)])),
        (vec![("a", 1), ("b", 4)], pods(4, 3), Some(vec![(1, 2)])),
        // A node with the first generated name exists.
        (vec![("a", 2), ("a+1", 0)], pods(2, 2), Some(vec![(0, 1)])),
    ] {
        let fleet = named(&nodes, workloads);
        assert_eq!(growth(&fleet), expected, "{nodes:?}");
    }
    // With one more node of each kind, the first pods go elsewhere, and only the second kind helps.
    let fleet = self::fleet(
        &[(8, 2), (7, 4)],
        [(0, 1), (1, 1), (0, 1), (8, 1), (0, 4)].map(|(gpus, cpu)| workload(gpus, cpu, 1)).into(),
    );
    assert_eq!(growth(&fleet), Some(vec![(1, 3)]));
    // Nodes of other labels are another kind, of another name they are not.
    let selects = app("s", 1, json!({ "nodeSelector": { PRODUCT: "l" } }));
    let mut fleet =
        hosts(&[1, 1], vec![Workload { replicas: workload(0, 0, 2).replicas, ..selects }]);
    fleet.machines = vec![machine(0, (1, 64, 0, 0, false)), machine(1, (1, 64, 0, 1, false))];
    assert_eq!(growth(&fleet), Some(vec![(1, 1)]));
    let other_name = machine(2, (1, 64, 0, 1, false));
    let kinds = [&fleet.machines[0], &fleet.machines[1], &other_name].map(|machine| kind(machine));
    assert!(kinds[0] != kinds[1] && kinds[1] == kinds[2], "{kinds:?}");
    // Of nodes that take no pods none are added.
    Arc::make_mut(&mut fleet.machines[1]).cordoned = true;
    assert_eq!(growth(&fleet), None);
}

#[test]
fn the_search_skips_permutations_of_equal_pods() {
    // Twelve pods of seven shapes: there are too many placements for the search, one by one.
    let nodes = [(4, 3), (7, 4), (10, 4), (5, 2), (6, 2)];
    let pods = [
        (3, 1),
        (1, 2),
        (3, 1),
        (2, 2),
        (2, 1),
        (4, 2),
        (3, 1),
        (3, 1),
        (3, 1),
        (2, 1),
        (4, 1),
        (2, 1),
    ];
    let workloads = pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect();
    let found = verdict(&fleet(&nodes, workloads));
    assert!(matches!(found, Verdict::IfPacked(Packing { searched: true, .. })), "{found:?}");
}
