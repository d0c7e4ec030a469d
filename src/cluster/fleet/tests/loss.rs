//! Nodes that are lost: the same answer from a copy of the state as from placing everything again,
//! and never fewer or more waiting pods than some order allows.

use super::{Fleet, Manner, Running, fleet, pod, workload};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A fleet whose pods run where they fit first, and those that run nowhere are left out.
fn running(nodes: &[(i64, i64)], pods: &[(i64, i64, usize)]) -> Fleet {
    let mut free = nodes.to_vec();
    let mut workloads = Vec::new();
    for (gpus, cpu, replicas) in pods {
        let mut requests = workload(*gpus, *cpu, 0);
        for replica in 0..*replicas {
            let Some(at) = free.iter().rposition(|free| free.0 >= *gpus && free.1 >= *cpu) else {
                break;
            };
            free[at] = (free[at].0 - gpus, free[at].1 - cpu);
            requests.replicas = workload(*gpus, *cpu, replica + 1).replicas;
            requests.running.push(Running {
                node: format!("n{at}").into(),
                started: None,
                replica: None,
                template: 0,
                number: 0,
            });
        }
        workloads.push(requests);
    }
    fleet(nodes, workloads)
}

/// Fewest and most pods that wait: any order of the pods, any node with room.
fn waiting(free: &mut Vec<(i64, i64)>, pods: &[(i64, i64)]) -> (usize, usize) {
    let (mut least, mut most) = (pods.len(), 0);
    for at in 0..pods.len() {
        let mut rest = pods.to_vec();
        let (gpus, cpu) = rest.remove(at);
        let rooms: Vec<usize> =
            (0..free.len()).filter(|node| free[*node].0 >= gpus && free[*node].1 >= cpu).collect();
        if rooms.is_empty() {
            let (few, many) = waiting(free, &rest);
            (least, most) = (least.min(few + 1), most.max(many + 1));
        }
        for node in rooms {
            free[node] = (free[node].0 - gpus, free[node].1 - cpu);
            let (few, many) = waiting(free, &rest);
            (least, most) = (least.min(few), most.max(many));
            free[node] = (free[node].0 + gpus, free[node].1 + cpu);
        }
    }
    (least, most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_loss_is_what_some_order_of_the_pods_gives(
        nodes in prop::collection::vec((1_i64..9, 2_i64..17), 2..5),
        pods in prop::collection::vec((0_i64..5, 1_i64..5, 1_usize..3), 1..6),
    ) {
        let fleet = running(&nodes, &pods);
        let standing = fleet.standing(false);
        for at in 0..nodes.len() {
            let name: ecow::EcoString = format!("n{at}").into();
            let node = standing.placed().scheduler.node_id(&name);
            let lost = standing.lose(&fleet, &node.into_iter().collect::<Vec<_>>(), |_| false);
            let mut without = fleet.clone();
            without.lose(&BTreeSet::from([name.clone()]), |_| false);
            let again = without.place(Manner::default());
            prop_assert_eq!(lost.pending.len(), again.pending().count());
            let mut free = nodes.clone();
            let mut ran = Vec::new();
            for workload in &fleet.workloads {
                let requests = &workload.templates[0].requests;
                let of = |name: &str| requests.get(name).copied().unwrap_or(0);
                let size = (of(super::GPU), of("cpu") / 1000);
                for pod in &workload.running {
                    if pod.node == name {
                        ran.push(size);
                    } else {
                        let on: usize = pod.node[1..].parse().unwrap_or_default();
                        free[on] = (free[on].0 - size.0, free[on].1 - size.1);
                    }
                }
            }
            prop_assert_eq!(lost.pods, ran.len());
            free.remove(at);
            if ran.len() < 7 {
                let (least, most) = waiting(&mut free, &ran);
                prop_assert!((least..=most).contains(&lost.pending.len()));
            }
        }
    }
}

#[test]
fn pods_of_a_node_go_with_it() {
    let mut fleet = running(&[(8, 8), (8, 8)], &[(8, 1, 2)]);
    fleet.workloads.push(workload(0, 1, 0));
    fleet.workloads[1].templates = vec![pod(0, 1)];
    let standing = fleet.standing(false);
    let node = standing.placed().scheduler.node_id("n0");
    let nodes: Vec<_> = node.into_iter().collect();
    assert_eq!(standing.lose(&fleet, &nodes, |_| false).pending, vec![[0, 1, 0]]);
    assert_eq!(standing.lose(&fleet, &nodes, |index| index == 0).pending, Vec::<[usize; 3]>::new());
}
