//! Properties of every placement.

mod loss;
mod packing;
mod rooms;
mod vacate;

use super::{Fleet, Manner, Other, Placed, Replica, Running, Verdict, Workload};
use crate::cluster::schedule::{Admission, PodSpec, PodTemplate};
use crate::cluster::{Machine, Taint};
use crate::quantity::Quantity;
use crate::yaml::{Map, Node, Origin, Rule};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const GPU: &str = "nvidia.com/gpu";

fn node(name: &str, gpus: i64, cpu: i64) -> Arc<Machine> {
    let amounts = [(GPU, gpus), ("cpu", cpu), ("memory", 1 << 40), ("pods", 110)];
    let mut machine = Machine::labeled(name.into(), Map::new());
    machine.allocatable =
        Some(amounts.map(|(name, amount)| (name.into(), Quantity::from_integer(amount))).to_vec());
    Arc::new(machine)
}

fn pod(gpus: i64, cpu: i64) -> Arc<PodTemplate> {
    let amounts = [(GPU, gpus), ("cpu", cpu * 1000)];
    let amounts = amounts.into_iter().filter(|(_, amount)| *amount > 0);
    let requests = amounts.map(|(name, amount)| (name.into(), amount)).collect();
    let spec = Arc::new(PodSpec { requests, ..PodSpec::default() });
    Arc::new(PodTemplate { spec, ..PodTemplate::default() })
}

fn workload(gpus: i64, cpu: i64, replicas: usize) -> Workload {
    let replica = Replica::alone(vec![0]);
    Workload {
        templates: vec![pod(gpus, cpu)],
        replicas: vec![replica; replicas],
        ..Workload::default()
    }
}

fn fleet(nodes: &[(i64, i64)], workloads: Vec<Workload>) -> Fleet {
    let named = |(at, (gpus, cpu)): (usize, &(i64, i64))| node(&format!("n{at}"), *gpus, *cpu);
    Fleet { machines: nodes.iter().enumerate().map(named).collect(), workloads, ..Fleet::default() }
}

/// Used amounts by node and resource.
fn used(fleet: &Fleet, placed: &Placed) -> Vec<(i64, i64)> {
    let mut used = vec![(0, 0); fleet.machines.len()];
    for ([workload, replica, at], slot) in placed.all() {
        let workload = &fleet.workloads[workload];
        let requests = &workload.templates[workload.replicas[replica].pods[at]].requests;
        if let Some(node) = placed.node(slot) {
            used[node.index()].0 += requests.get(GPU).copied().unwrap_or(0);
            used[node.index()].1 += requests.get("cpu").copied().unwrap_or(0);
        }
    }
    used
}

/// Whether pods have a place, by trying every placement; nodes with the same room are one.
fn possible(free: &[(i64, i64)], pods: &[(i64, i64)]) -> bool {
    fn from(
        free: &mut Vec<(i64, i64)>,
        pods: &[(i64, i64)],
        existing: &mut HashSet<(usize, Vec<(i64, i64)>)>,
    ) -> bool {
        let Some(((gpus, cpu), rest)) = pods.split_first() else { return true };
        let mut key = free.clone();
        key.sort_unstable();
        if !existing.insert((pods.len(), key)) {
            return false;
        }
        (0..free.len()).any(|at| {
            let (has_gpus, has_cpu) = free[at];
            if has_gpus < *gpus || has_cpu < *cpu {
                return false;
            }
            free[at] = (has_gpus - gpus, has_cpu - cpu);
            let found = from(free, rest, existing);
            free[at] = (has_gpus, has_cpu);
            found
        })
    }
    let mut pods = pods.to_vec();
    pods.sort_unstable_by(|one, other| other.cmp(one));
    from(&mut free.to_vec(), &pods, &mut HashSet::new())
}

/// The number of random fleets of a test: a few hundred, or the value of `OME_FLEETS`.
fn cases() -> ProptestConfig {
    let cases = std::env::var("OME_FLEETS").ok().and_then(|given| given.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(300),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A random node: GPUs, processors, zone, product, a taint.
type DrawnNode = (i64, i64, usize, usize, bool);

/// A random service: GPUs, processors, replicas, a product or any, a toleration, affinity between
/// its pods, priority, number of running replicas.
type DrawnService = (i64, i64, usize, Option<usize>, bool, usize, i32, usize);

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
const PRODUCT: &str = "nvidia.com/gpu.product";
const PRODUCTS: [&str; 2] = ["h", "l"];

fn drawn_nodes() -> impl Strategy<Value = Vec<DrawnNode>> {
    let node = (0_i64..9, 2_i64..17, 0..3_usize, 0..2_usize, prop::bool::weighted(0.2));
    prop::collection::vec(node, 1..7)
}

fn drawn_services() -> impl Strategy<Value = Vec<DrawnService>> {
    let service = (
        0_i64..5,
        1_i64..5,
        1_usize..5,
        prop::option::weighted(0.3, 0..2_usize),
        prop::bool::ANY,
        0..4_usize,
        prop::sample::select(vec![0, 0, 0, 1000]),
        0..3_usize,
    );
    prop::collection::vec(service, 1..6)
}

fn read(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Flag(&DRAWN))
}

static DRAWN: Rule = Rule { id: "drawn", text: "Drawn by a test.", cite: "src/cluster/fleet" };

fn machine(at: usize, (gpus, cpu, zone, product, tainted): DrawnNode) -> Arc<Machine> {
    let name = format!("n{at}");
    let mut node = Machine::clone(&node(&name, gpus, cpu));
    for (key, value) in
        [(HOST, name.as_str()), (ZONE, ["a", "b", "c"][zone]), (PRODUCT, PRODUCTS[product])]
    {
        node.labels.insert(key, Node::str(value, Origin::Flag(&DRAWN)));
    }
    if tainted {
        node.taints.push(Taint {
            key: "team".into(),
            value: "x".into(),
            effect: "NoSchedule".into(),
        });
    }
    Arc::new(node)
}

fn service(at: usize, drawn: &DrawnService, nodes: usize) -> Workload {
    let (gpus, cpu, replicas, product, tolerates, minds, priority, runs) = drawn;
    let app = format!("s{at}");
    let value = json!({ "matchLabels": { "app": app } });
    let mut spec = json!({
        "priority": priority,
        "containers": [{ "name": "a", "resources": { "requests": { "cpu": cpu.to_string() }, "limits": { GPU: gpus.to_string() } } }],
    });
    if let Some(product) = product {
        spec["nodeSelector"] = json!({ PRODUCT: PRODUCTS[*product] });
    }
    if *tolerates {
        spec["tolerations"] = json!([{ "key": "team", "operator": "Exists" }]);
    }
    if *minds == 1 {
        let term = json!({ "topologyKey": HOST, "labelSelector": value });
        spec["affinity"] = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [term] } });
    } else if *minds == 2 {
        spec["topologySpreadConstraints"] = json!([{ "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": value }]);
    }
    let labels = [("app".into(), app.as_str().into())].into_iter().collect();
    let pod = PodTemplate::read("ml", labels, &read(&spec), &Admission::partial()).expect("a pod");
    let replica = Replica::alone(vec![0]);
    let running = (0..(*runs).min(*replicas)).map(|run| Running {
        node: format!("n{}", (at + run) % nodes).into(),
        started: None,
        replica: None,
        template: 0,
        number: run,
    });
    Workload {
        templates: vec![Arc::new(pod)],
        replicas: vec![replica; *replicas],
        running: running.collect(),
        ..Workload::default()
    }
}

/// A fleet with labels, taints, spreading, anti-affinity, priorities and pods that run.
fn rich(nodes: &[DrawnNode], services: &[DrawnService]) -> Fleet {
    Fleet {
        machines: nodes.iter().enumerate().map(|(at, node)| machine(at, *node)).collect(),
        workloads: services
            .iter()
            .enumerate()
            .map(|(at, services)| service(at, services, nodes.len()))
            .collect(),
        ..Fleet::default()
    }
}

/// One pod of an app, with fields of its spec beside its GPUs.
fn app(app: &str, gpus: i64, mut spec: serde_json::Value) -> Workload {
    spec["containers"] =
        json!([{ "name": "a", "resources": { "limits": { GPU: gpus.to_string() } } }]);
    let labels = [("app".into(), app.into())].into_iter().collect();
    let pod = PodTemplate::read("ml", labels, &read(&spec), &Admission::partial()).expect("a pod");
    Workload { templates: vec![Arc::new(pod)], ..workload(0, 0, 1) }
}

/// Nodes of one zone each with so many GPUs, and the pods that are wanted on them.
fn hosts(gpus: &[i64], workloads: Vec<Workload>) -> Fleet {
    let nodes = gpus.iter().enumerate();
    let nodes = nodes.map(|(at, gpus)| machine(at, (*gpus, 64, at, 0, false)));
    Fleet { machines: nodes.collect(), workloads, ..Fleet::default() }
}

/// A pod of another owner on a node.
fn other(node: &str, workload: &Workload) -> Other {
    Other {
        template: Arc::clone(&workload.templates[0]),
        node: node.into(),
        started: None,
        number: 0,
    }
}

fn required(term: &str, of: &str, key: &str) -> serde_json::Value {
    let term_of = json!({ "topologyKey": key, "labelSelector": { "matchLabels": { "app": of } } });
    json!({ "affinity": { term: { "requiredDuringSchedulingIgnoredDuringExecution": [term_of] } } })
}

fn verdict(fleet: &Fleet) -> Verdict {
    fleet.verdict(&fleet.place(Manner::default()))
}

#[test]
fn another_packing_is_found_around_a_foreign_anti_affinity_pod() {
    // `b` is placed on the less used node, the only one that `a` may run on.
    let guard = app("guard", 0, required("podAntiAffinity", "a", HOST));
    let mut fleet = hosts(&[1, 1], vec![app("b", 1, json!({})), app("a", 1, json!({}))]);
    fleet.others = vec![other("n0", &guard); 16];
    assert!(matches!(verdict(&fleet), Verdict::IfPacked(_)), "{:?}", verdict(&fleet));
    // The same where it keeps both away.
    let fleet = hosts(&[1, 1], vec![app("a", 1, json!({})), app("a", 1, json!({}))]);
    let fleet = Fleet { others: vec![other("n0", &guard)], ..fleet };
    assert_eq!(verdict(&fleet), Verdict::DoesNotFit { proven: true });
}

#[test]
fn a_pod_waiting_for_spread_is_not_proven_unplaceable() {
    // Two pods are in zone a; `p` fits only there, once `s` is in zone b.
    let spread = json!({ "topologySpreadConstraints": [{ "maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": { "matchLabels": { "app": "s" } } }] });
    let mut fleet = hosts(&[8, 1], vec![app("s", 2, spread), app("s", 1, json!({}))]);
    let standing = app("s", 1, json!({}));
    fleet.others = vec![other("n0", &standing), other("n0", &standing)];
    // A busy node in zone b, so that `s` is placed in zone a.
    let busy = app("x", 0, json!({}));
    fleet.others.extend((0..8).map(|_| other("n1", &busy)));
    assert!(!matches!(verdict(&fleet), Verdict::DoesNotFit { proven: true }));
}

#[test]
fn the_search_distinguishes_nodes_selected_by_host_name() {
    let named = app("b", 1, json!({ "nodeSelector": { HOST: "n0" } }));
    let mut fleet = hosts(&[2, 2], vec![app("a", 2, json!({})), named]);
    fleet.machines = vec![machine(0, (2, 64, 0, 0, false)), machine(1, (2, 64, 0, 0, false))];
    assert!(matches!(verdict(&fleet), Verdict::IfPacked(_)), "{:?}", verdict(&fleet));
}

#[test]
fn the_search_places_affinity_targets_first() {
    let workload = app("a", 2, required("podAffinity", "b", HOST));
    let fleet = hosts(&[2, 3], vec![workload.clone(), app("b", 1, json!({}))]);
    assert!(matches!(verdict(&fleet), Verdict::IfPacked(_)), "{:?}", verdict(&fleet));
    // Not even with an exhaustive search is it proven that no order helps.
    let fleet = hosts(&[2, 2], vec![workload, app("b", 1, json!({}))]);
    assert_eq!(verdict(&fleet), Verdict::DoesNotFit { proven: false });
}

/// Where each pod is, by workload and replica.
fn places(placed: &Placed) -> Vec<([usize; 3], Option<String>)> {
    let name = |slot| placed.node(slot).map(|node| placed.scheduler.node(node).name.to_string());
    placed.all().map(|(at, slot)| (at, name(slot))).collect()
}

proptest! {
    #![proptest_config(cases())]

    /// By brute force: the verdict is right wherever all placements can be looked at.
    #[test]
    fn the_verdict_of_small_fleets_is_exact(
        nodes in prop::collection::vec((0_i64..9, 1_i64..9), 1..7),
        pods in prop::collection::vec((0_i64..9, 1_i64..5), 1..13),
    ) {
        let fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect());
        let verdict = fleet.verdict(&fleet.place(Manner::default()));
        let possible = possible(&nodes, &pods);
        match verdict {
            Verdict::Fits | Verdict::IfPacked(_) => prop_assert!(possible),
            Verdict::DoesNotFit { proven } => {
                prop_assert!(!possible, "a placement exists");
                prop_assert!(proven, "no placement exists, and that can be known");
            }
        }
    }

    /// The same with pods that nearly fill the nodes.
    #[test]
    fn the_verdict_of_small_fleets_that_are_nearly_full_is_exact(
        nodes in prop::collection::vec(prop::collection::vec((1_i64..5, 1_i64..3), 1..4), 1..6),
        more in prop::option::weighted(0.5, (1_i64..3, 1_i64..2)),
    ) {
        let mut pods: Vec<(i64, i64)> = nodes.iter().flatten().copied().collect();
        pods.truncate(11);
        let room = |pods: &Vec<(i64, i64)>| pods.iter().fold((0, 0), |sum, pod| (sum.0 + pod.0, sum.1 + pod.1));
        let nodes: Vec<(i64, i64)> = nodes.iter().map(room).collect();
        pods.extend(more);
        let fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect());
        let verdict = fleet.verdict(&fleet.place(Manner::default()));
        let fits = !matches!(verdict, Verdict::DoesNotFit { .. });
        prop_assert_eq!(fits, possible(&nodes, &pods), "{:?}", verdict);
    }

    /// For pods of one shape the order has no effect on the number of pending pods.
    #[test]
    fn equal_pods_fit_exactly_when_capacity_suffices(
        nodes in prop::collection::vec((0_i64..9, 1_i64..9), 1..7),
        shape in (0_i64..5, 1_i64..4),
        services in prop::collection::vec((1_usize..7, 1_usize..4), 1..5),
    ) {
        // Some are groups that are placed whole.
        let workloads = services.iter().map(|(replicas, size)| {
            let replica = Replica { together: *size, ..Replica::alone(vec![0; *size]) };
            Workload { replicas: vec![replica; *replicas], ..workload(shape.0, shape.1, 0) }
        });
        let fleet = fleet(&nodes, workloads.collect());
        let room = |node: &(i64, i64)| {
            let gpus = if shape.0 > 0 { node.0 / shape.0 } else { i64::MAX };
            gpus.min(node.1 / shape.1).min(110)
        };
        let room: i64 = nodes.iter().map(room).sum();
        let wanted: usize = services.iter().map(|(replicas, size)| replicas * size).sum();
        let fits = i64::try_from(wanted).unwrap_or(i64::MAX) <= room;
        let expected = if fits { Verdict::Fits } else { Verdict::DoesNotFit { proven: true } };
        prop_assert_eq!(fleet.verdict(&fleet.place(Manner::default())), expected);
    }

    /// Room, selectors, taints, anti-affinity and spreading hold of every pod that has a node.
    #[test]
    fn every_filter_holds_of_every_placed_pod(nodes in drawn_nodes(), services in drawn_services()) {
        let fleet = rich(&nodes, &services);
        let placed = fleet.place(Manner::default());
        for (used, all) in used(&fleet, &placed).into_iter().zip(&nodes) {
            prop_assert!(used.0 <= all.0 && used.1 <= all.1 * 1000, "{:?} of {:?}", used, all);
        }
        for (at, (_, _, _, product, tolerates, minds, ..)) in services.iter().enumerate() {
            let mut hosts = Vec::new();
            let mut kept = false;
            for slot in placed.slots[at].iter().flatten() {
                let Some(node) = placed.node(*slot) else { continue };
                let node_drawn = &nodes[node.index()];
                prop_assert!(product.is_none_or(|product| product == node_drawn.3), "selector");
                prop_assert!(*tolerates || !node_drawn.4, "taint");
                hosts.push(node.index());
                kept |= slot.kept;
            }
            // Pods that ran beside each other before may stay so.
            if *minds == 1 && !kept {
                let unique: HashSet<usize> = hosts.iter().copied().collect();
                prop_assert_eq!(unique.len(), hosts.len(), "anti-affinity");
            }
            if *minds == 2 && !kept && placed.evicted.is_empty() {
                // Zones with a node that the pod selects are domains; taints are ignored.
                let zones = nodes.iter().filter(|node| product.is_none_or(|product| product == node.3));
                let mut counts: HashMap<usize, usize> = zones.map(|node| (node.2, 0)).collect();
                for host in &hosts {
                    *counts.entry(nodes[*host].2).or_default() += 1;
                }
                let least = counts.values().min().copied().unwrap_or(0);
                prop_assert!(counts.values().all(|count| count - least <= 1), "spread: {:?}", counts);
            }
        }
    }

    /// The order of nodes and of pods of others in the input is of no account.
    #[test]
    fn placement_does_not_depend_on_node_order(
        nodes in drawn_nodes(), services in drawn_services(), turn in 0..6_usize,
    ) {
        let fleet = rich(&nodes, &services);
        let mut turned = fleet.clone();
        turned.machines.rotate_left(turn % nodes.len());
        turned.machines.reverse();
        let (one, other) = (fleet.place(Manner::default()), turned.place(Manner::default()));
        prop_assert_eq!(places(&one), places(&other));
        prop_assert_eq!(fleet.verdict(&one), turned.verdict(&other));
    }

    /// One more node makes no pod wait that had a place, unless pods went to the new node instead
    /// of elsewhere: then scores and spreading moved others. Pods that run stay in any case, unless
    /// they are evicted; of one shape of pods none waits at all.
    #[test]
    fn adding_a_node_displaces_no_pod_without_a_cause(
        nodes in drawn_nodes(), services in drawn_services(), more in (0_i64..9, 2_i64..17, 0..3_usize, 0..2_usize, prop::bool::ANY),
    ) {
        let fleet = rich(&nodes, &services);
        let mut grown = fleet.clone();
        grown.machines.push(machine(nodes.len(), more));
        let (before, after) = (fleet.place(Manner::default()), grown.place(Manner::default()));
        let new = format!("n{}", nodes.len());
        let spread = services.iter().any(|service| service.5 == 2);
        let on_new = places(&after).iter().any(|(_, node)| node.as_deref() == Some(&new));
        let explained = on_new || spread || !before.evicted.is_empty() || !after.evicted.is_empty();
        for ((at, slot), (_, then)) in before.all().zip(after.all()) {
            if before.node(slot).is_some() && after.node(then).is_none() {
                prop_assert!(explained, "{:?} had a place", at);
                prop_assert!(!slot.kept || !after.evicted.is_empty() || spread, "{:?} ran", at);
            }
        }
        // Of one shape.
        let pods: Vec<Workload> = services.iter().map(|service| workload(2, 2, service.2)).collect();
        let plain: Vec<(i64, i64)> = nodes.iter().map(|node| (node.0, node.1)).collect();
        let count = |nodes: &[(i64, i64)]| {
            let fleet = self::fleet(nodes, pods.clone());
            fleet.place(Manner::default()).pending().count()
        };
        let larger = [&plain[..], &[(more.0, more.1)]].concat();
        prop_assert!(count(&larger) <= count(&plain));
    }

    #[test]
    fn no_node_holds_more_than_it_has(
        nodes in prop::collection::vec((0_i64..9, 1_i64..9), 1..6),
        pods in prop::collection::vec((0_i64..9, 1_i64..5, 1_usize..4), 1..6),
    ) {
        let fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu, n)| workload(*gpus, *cpu, *n)).collect());
        let placed = fleet.place(Manner::default());
        for (used, all) in used(&fleet, &placed).into_iter().zip(&nodes) {
            prop_assert!(used.0 <= all.0 && used.1 <= all.1 * 1000, "{used:?} of {all:?}");
        }
    }

    #[test]
    fn growth_adds_nodes_only_while_pods_are_pending(
        nodes in prop::collection::vec((1_i64..9, 1_i64..9), 1..4),
        pods in prop::collection::vec((0_i64..9, 1_i64..5), 1..8),
    ) {
        let fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect());
        let placed = fleet.place(Manner::default());
        let waits = placed.pending().next().is_some();
        let holds = |(gpus, cpu): &(i64, i64)| nodes.iter().any(|node| node.0 >= *gpus && node.1 >= *cpu);
        match fleet.growth(&placed) {
            Some(more) => prop_assert!(waits && !more.is_empty()),
            None => prop_assert!(!waits || !pods.iter().all(holds)),
        }
    }

    #[test]
    fn pods_that_run_keep_their_places(
        nodes in prop::collection::vec((1_i64..9, 1_i64..9), 1..4),
        pods in prop::collection::vec((0_i64..9, 1_i64..5), 1..8),
    ) {
        let mut fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect());
        let before = fleet.place(Manner::default());
        for at in 0..fleet.workloads.len() {
            if let Some(node) = before.node(before.slots[at][0][0]) {
                let name = before.scheduler.node(node).name.clone();
                fleet.workloads[at].running = vec![Running { node: name, started: None, replica: None, template: 0, number: 0 }];
            }
        }
        let after = fleet.place(Manner::default());
        for at in 0..fleet.workloads.len() {
            let (was, is) = (before.slots[at][0][0], after.slots[at][0][0]);
            prop_assert_eq!(before.node(was), after.node(is));
            prop_assert_eq!(is.kept, before.node(was).is_some());
        }
    }
}
