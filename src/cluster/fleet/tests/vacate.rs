//! Nodes that can be emptied, and moves that make room, against every possibility.

use super::super::moves::{Board, BoardPod};
use super::super::{Vacated, Yard};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

/// GPUs and processors that a node has, and those of its pods.
type Drawn = (Vec<i64>, Vec<(i64, i64)>);

fn nodes(most: usize) -> impl Strategy<Value = Vec<Drawn>> {
    let pod = (0_i64..5, 1_i64..5);
    let node = (0_i64..4, 0_i64..4, prop::collection::vec(pod, 0..4));
    // What is free is drawn, so that every node holds its pods.
    let node = node.prop_map(|(gpus, cpu, pods)| (vec![gpus, cpu], pods));
    prop::collection::vec(node, 2..most)
}

fn yard(nodes: &[Drawn]) -> Yard {
    let all: Vec<(i64, i64)> = nodes.iter().flat_map(|(_, pods)| pods.iter().copied()).collect();
    let mut next = 0..all.len();
    Yard {
        free: nodes.iter().map(|(free, _)| free.clone()).collect(),
        open: vec![true; nodes.len()],
        candidate: vec![true; nodes.len()],
        pods: nodes.iter().map(|(_, pods)| next.by_ref().take(pods.len()).collect()).collect(),
        request: all.iter().map(|(gpus, cpu)| vec![*gpus, *cpu]).collect(),
        allowed: vec![vec![true; nodes.len()]; all.len()],
    }
}

/// Whether pods have room, by every placement.
fn possible(free: &mut Vec<Vec<i64>>, pods: &[(i64, i64)]) -> bool {
    let Some(((gpus, cpu), rest)) = pods.split_first() else { return true };
    (0..free.len()).any(|at| {
        if free[at][0] < *gpus || free[at][1] < *cpu {
            return false;
        }
        (free[at][0], free[at][1]) = (free[at][0] - gpus, free[at][1] - cpu);
        let found = possible(free, rest);
        (free[at][0], free[at][1]) = (free[at][0] + gpus, free[at][1] + cpu);
        found
    })
}

/// By number of emptied nodes, the fewest moves.
fn every_set(nodes: &[Drawn]) -> Vec<Option<usize>> {
    let mut best = vec![None; nodes.len() + 1];
    for set in 0..1_usize << nodes.len() {
        let is_in = |at: &usize| set & (1 << at) != 0;
        let left = (0..nodes.len()).filter(|at| !is_in(at));
        let mut free: Vec<Vec<i64>> = left.map(|at| nodes[at].0.clone()).collect();
        let pods: Vec<(i64, i64)> =
            (0..nodes.len()).filter(is_in).flat_map(|at| nodes[at].1.clone()).collect();
        if possible(&mut free, &pods) {
            let best = &mut best[set.count_ones() as usize];
            *best = Some(best.unwrap_or(usize::MAX).min(pods.len()));
        }
    }
    best
}

fn holds(nodes: &[Drawn], found: &Vacated) -> bool {
    let mut free: Vec<Vec<i64>> = nodes.iter().map(|(free, _)| free.clone()).collect();
    for (node, to) in found.nodes.iter().zip(&found.to) {
        for (pod, to) in nodes[*node].1.iter().zip(to) {
            free[*to][0] -= pod.0;
            free[*to][1] -= pod.1;
        }
    }
    let stays = |to: &usize| !found.nodes.contains(to);
    found.to.iter().flatten().all(stays)
        && free
            .iter()
            .enumerate()
            .all(|(at, free)| found.nodes.contains(&at) || free.iter().all(|amount| *amount >= 0))
}

/// The fewest moves after which a pod has room on some node, by every sequence.
fn fewest(board: &Board) -> Option<usize> {
    let start: Vec<usize> = board.pods.iter().map(|pod| pod.node).collect();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((at, moves)) = queue.pop_front() {
        let mut free = board.free.clone();
        for (pod, to) in board.pods.iter().zip(&at) {
            for (resource, request) in board.request[pod.shape].iter().enumerate() {
                free[pod.node][resource] += request;
                free[*to][resource] -= request;
            }
        }
        let fits = |node: usize, shape: usize| {
            (0..2).all(|index| {
                board.request[shape][index] == 0 || free[node][index] >= board.request[shape][index]
            })
        };
        if (0..free.len()).any(|node| fits(node, 0)) {
            return Some(moves);
        }
        for (pods, pod) in board.pods.iter().enumerate() {
            for to in (0..free.len()).filter(|to| *to != at[pods] && fits(*to, pod.shape)) {
                let mut next = at.clone();
                next[pods] = to;
                if seen.insert(next.clone()) {
                    queue.push_back((next, moves + 1));
                }
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_most_nodes_and_the_fewest_moves_are_found(nodes in nodes(5)) {
        let (yard, every) = (yard(&nodes), every_set(&nodes));
        let most = every.iter().rposition(Option::is_some).unwrap_or(0);
        let found = yard.most();
        prop_assert_eq!(found.nodes.len(), most);
        prop_assert!(holds(&nodes, &found) && found.bound >= most);
        for wanted in 0..=nodes.len() {
            let found = yard.exactly(wanted);
            prop_assert!(holds(&nodes, &found));
            prop_assert_eq!(found.nodes.len(), wanted.min(most));
            let moves: usize = found.to.iter().map(Vec::len).sum();
            prop_assert_eq!(Some(moves), every[wanted.min(most)]);
        }
    }

    #[test]
    fn of_many_nodes_a_set_is_found_whose_pods_have_room(nodes in nodes(60)) {
        let yard = yard(&nodes);
        let found = yard.most();
        prop_assert!(holds(&nodes, &found) && found.nodes.len() <= found.bound);
    }

    #[test]
    fn no_fewer_moves_make_room(nodes in nodes(4), gpus in 1_i64..9) {
        let mut request = vec![vec![gpus, 1]];
        let mut pods = Vec::new();
        for (node, (_, nodes)) in nodes.iter().enumerate() {
            for (gpus, cpu) in nodes {
                pods.push(BoardPod { node, shape: request.len() });
                request.push(vec![*gpus, *cpu]);
            }
        }
        let board = Board {
            free: nodes.iter().map(|(free, _)| free.clone()).collect(),
            open: vec![true; nodes.len()],
            allowed: vec![vec![true; nodes.len()]; request.len()],
            request,
            pods,
        };
        let found = board.solve(0).map(|moves| moves.len());
        let fewest = fewest(&board);
        // A pod moves once: a few positions need a pod to make room and come back.
        match (found, fewest) {
            (Some(found), Some(fewest)) => prop_assert!(found >= fewest && found <= fewest + 1),
            (Some(_), None) => prop_assert!(false),
            (None, Some(fewest)) => prop_assert!(fewest > 3),
            (None, None) => {}
        }
    }
}
