//! What is true of every placement.

use super::{Fleet, Manner, Placed, Replica, Running, Verdict, Workload};
use crate::cluster::Machine;
use crate::cluster::schedule::PodTemplate;
use crate::quantity::Quantity;
use crate::yaml::Map;
use proptest::prelude::*;
use std::sync::Arc;

const GPU: &str = "nvidia.com/gpu";

fn node(name: &str, gpus: i64, cpu: i64) -> Arc<Machine> {
    let amounts = [(GPU, gpus), ("cpu", cpu), ("memory", 1 << 40), ("pods", 110)];
    let mut machine = Machine::labelled(name.into(), Map::new());
    machine.allocatable =
        Some(amounts.map(|(name, amount)| (name.into(), Quantity::from_integer(amount))).to_vec());
    Arc::new(machine)
}

fn pod(gpus: i64, cpu: i64) -> Arc<PodTemplate> {
    let amounts = [(GPU, gpus), ("cpu", cpu * 1000)];
    Arc::new(PodTemplate {
        requests: amounts
            .into_iter()
            .filter(|(_, amount)| *amount > 0)
            .map(|(name, amount)| (name.into(), amount))
            .collect(),
        ..PodTemplate::default()
    })
}

fn workload(gpus: i64, cpu: i64, replicas: usize) -> Workload {
    let replica = Replica { pods: vec![0], together: 0, held: false };
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

/// What is used of each node, by node and resource.
fn used(fleet: &Fleet, placed: &Placed) -> Vec<(i64, i64)> {
    let mut used = vec![(0, 0); fleet.machines.len()];
    for ([workload, replica, at], slot) in placed.all() {
        let own = &fleet.workloads[workload];
        let requests = &own.templates[own.replicas[replica].pods[at]].requests;
        if let Some(node) = placed.node(slot) {
            used[node.index()].0 += requests.get(GPU).copied().unwrap_or(0);
            used[node.index()].1 += requests.get("cpu").copied().unwrap_or(0);
        }
    }
    used
}

/// Whether pods have a place, by trying every placement.
fn possible(free: &mut [(i64, i64)], pods: &[(i64, i64)]) -> bool {
    let Some(((gpus, cpu), rest)) = pods.split_first() else { return true };
    for at in 0..free.len() {
        if free[at].0 >= *gpus && free[at].1 >= *cpu {
            free[at] = (free[at].0 - gpus, free[at].1 - cpu);
            let found = possible(free, rest);
            free[at] = (free[at].0 + gpus, free[at].1 + cpu);
            if found {
                return true;
            }
        }
    }
    false
}

proptest! {
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
    fn the_verdict_of_small_fleets_is_exact(
        nodes in prop::collection::vec((0_i64..9, 1_i64..9), 1..5),
        pods in prop::collection::vec((0_i64..9, 1_i64..5), 1..8),
    ) {
        let fleet = fleet(&nodes, pods.iter().map(|(gpus, cpu)| workload(*gpus, *cpu, 1)).collect());
        let verdict = fleet.verdict(&fleet.place(Manner::default()));
        let possible = possible(&mut nodes.clone(), &pods);
        match verdict {
            Verdict::Fits | Verdict::IfPacked(_) => prop_assert!(possible),
            Verdict::DoesNotFit { .. } => prop_assert!(!possible, "a placement exists"),
        }
    }

    #[test]
    fn nodes_that_are_added_hold_what_waits(
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
                fleet.workloads[at].running = vec![Running { node: name, started: None, replica: None, template: 0 }];
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
