//! How many more replicas fit.

use super::super::Rooms;
use super::*;
use crate::cluster::admission::Usage;

/// A fleet whose namespace may have so many devices.
fn limited(most: i64, nodes: &[(i64, i64)], mut workloads: Vec<Workload>) -> Fleet {
    for workload in &mut workloads {
        let gpus = workload.templates[0].requests.get(GPU).copied().unwrap_or(0).to_string();
        let spec =
            json!({ "containers": [{ "name": "a", "resources": { "requests": { GPU: gpus } } }] });
        let usage = Some(Arc::new(Usage::of_pod(&read(&spec))));
        let with = |template: &PodTemplate| {
            let spec = PodSpec { usage: usage.clone(), ..PodSpec::clone(&template.spec) };
            PodTemplate { spec: Arc::new(spec), namespace: "ml".into(), ..template.clone() }
        };
        workload.templates =
            workload.templates.iter().map(|template| Arc::new(with(template))).collect();
    }
    let mut fleet = fleet(nodes, workloads);
    fleet.options.add(&read(&json!({
        "kind": "ResourceQuota", "metadata": { "name": "gpus", "namespace": "ml" },
        "spec": { "hard": { format!("requests.{GPU}"): most.to_string() } },
    })));
    fleet
}

fn more(fleet: &Fleet, at: usize) -> usize {
    Rooms::default().more(&mut fleet.place(Manner::default()), fleet, at)
}

/// What literally happens: with so many replicas more, no more pods are without a node.
fn literally(fleet: &Fleet, at: usize) -> usize {
    let without = |fleet: &Fleet| fleet.place(Manner::default()).without_node().count();
    let mut fleet = fleet.clone();
    fleet.settle_in();
    let before = without(&fleet);
    let last = fleet.workloads[at].replicas.last().cloned().expect("it has replicas");
    (0..40)
        .take_while(|_| {
            fleet.workloads[at].replicas.push(last.clone());
            without(&fleet) <= before
        })
        .count()
}

#[test]
fn quota_of_pods_that_wait_for_a_node_is_given_to_those_that_come_first() {
    // The second workload waits and holds the whole rest of the quota; the first one runs, so its
    // second replica comes before the second one of the other.
    let of = |most| limited(most, &[(3, 64)], vec![workload(1, 1, 1), workload(8, 1, 2)]);
    assert_eq!(more(&of(17), 0), 2);
    // The first replica of each comes before.
    assert_eq!(more(&of(10), 0), 1);
    assert_eq!(more(&of(9), 0), 0);
    assert_eq!(more(&of(1000), 0), 2);
}

#[test]
fn room_for_a_pod_that_the_quota_refused_is_its_own() {
    // Once the first and the third workload run, the second pod of the third one comes before that of the
    // second one, and takes the last room.
    let workloads = vec![workload(2, 1, 1), workload(4, 1, 2), workload(3, 1, 2)];
    let fleet = limited(15, &[(5, 64), (3, 64)], workloads);
    assert_eq!((more(&fleet, 0), literally(&fleet, 0)), (0, 0));
}

#[test]
fn pods_that_a_quota_refused_come_when_an_eviction_frees_it() {
    let urgent = app("urgent", 4, json!({ "priority": 10 }));
    let (refused, bare) = (app("late", 2, json!({})), app("bare", 4, json!({})));
    let mut fleet = limited(8, &[(4, 64), (2, 64)], vec![urgent, refused, bare]);
    let bare = fleet.workloads.pop().expect("three workloads");
    fleet.others.push(other("n0", &bare));
    let placed = fleet.place(Manner::default());
    // Nothing creates the bare pod again, so that its four devices go back to the quota.
    assert_eq!(placed.without_node().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn so_many_more_replicas_fit_as_are_said(
        nodes in prop::collection::vec((1_i64..8, Just(64_i64)), 1..4),
        drawn in prop::collection::vec((1_i64..5, 1_usize..4), 1..4),
        most in 1_i64..16,
    ) {
        let workloads = drawn.iter().map(|(gpus, replicas)| workload(*gpus, 1, *replicas));
        let fleet = limited(most, &nodes, workloads.collect());
        let placed = fleet.place(Manner::default());
        for (at, slots) in placed.slots.iter().enumerate() {
            if slots.iter().flatten().all(|slot| placed.node(*slot).is_some()) {
                prop_assert_eq!(more(&fleet, at).min(40), literally(&fleet, at), "{}", at);
            }
        }
    }
}

#[test]
fn pods_that_are_spread_keep_their_nodes_in_any_order() {
    let value = json!({ "matchLabels": { "app": "a" } });
    let spread = json!({ "topologySpreadConstraints": [{ "maxSkew": 1, "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": value }] });
    // Two of the first zone are listed before the one of the second zone.
    let run = |node: &str, number: usize| Running {
        node: node.into(),
        started: None,
        replica: None,
        template: 0,
        number,
    };
    let spread = Workload {
        replicas: vec![Replica::alone(vec![0]); 3],
        running: vec![run("n0", 0), run("n1", 1), run("n2", 2)],
        ..app("a", 1, spread)
    };
    let nodes = [(1, 0), (1, 0), (1, 1)].into_iter().enumerate();
    let nodes = nodes.map(|(at, (gpus, zone))| machine(at, (gpus, 64, zone, 0, false)));
    let fleet = Fleet { machines: nodes.collect(), workloads: vec![spread], ..Fleet::default() };
    let placed = fleet.place(Manner::default());
    assert!(placed.all().all(|(_, slot)| slot.kept));
}
