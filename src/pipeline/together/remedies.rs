//! The remedies for pending pods in the names of the input.

use super::MoreNodes;
use super::claims::Claim;
use crate::cluster::fleet::{Holder, Moved, Remedy};
use crate::pipeline::running::RunningPods;
use ecow::{EcoString, eco_format};

/// A change after which fewer pods are pending. It was tried on the whole input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemedyFound {
    /// The value in JSON output.
    pub kind: &'static str,
    /// What to do, as a sentence without its end.
    pub edit: EcoString,
    /// The nodes that change.
    pub nodes: Vec<EcoString>,
    /// `namespace/name` of the services that change.
    pub services: Vec<EcoString>,
    /// Pods with their node and their next one.
    pub moves: Vec<[EcoString; 3]>,
    /// Pods that stay pending.
    pub pending: usize,
}

fn joined(names: &[EcoString]) -> String {
    names.iter().map(EcoString::as_str).collect::<Vec<_>>().join(", ")
}

/// What moves cost: restarts, and pods that a disruption budget guards.
fn cost(moves: &[Moved]) -> String {
    let restarts = moves.iter().filter(|moved| moved.number.is_some()).count();
    let pods = match restarts {
        0 => return String::new(),
        1 => "1 pod restarts".to_owned(),
        many => format!("{many} pods restart"),
    };
    match moves.iter().filter(|moved| moved.guarded).count() {
        0 => format!(" ({pods})"),
        guarded => format!(" ({pods}, {guarded} under a PodDisruptionBudget)"),
    }
}

/// The remedies, the cheapest for a user first: another class before moves of pods that run.
/// `unhelped` more pods are pending that no node helps.
pub(super) fn found(
    remedies: Vec<(Remedy, usize)>,
    classes: Vec<RemedyFound>,
    add: &[MoreNodes],
    claims: &[Claim],
    running: &RunningPods<'_>,
    unhelped: usize,
) -> Vec<RemedyFound> {
    let one = |(remedy, pending): (Remedy, usize)| {
        let mut out = RemedyFound {
            kind: "",
            edit: EcoString::new(),
            nodes: Vec::new(),
            services: Vec::new(),
            moves: Vec::new(),
            pending: pending + unhelped,
        };
        match remedy {
            Remedy::Uncordon(nodes) => {
                out.kind = "uncordon";
                out.edit = eco_format!("uncordon {}", joined(&nodes));
                out.nodes = nodes;
            }
            Remedy::Tolerate(taint, workloads) => {
                out.kind = "tolerate";
                out.services = workloads.iter().map(|at| claims[*at].service.clone()).collect();
                out.services.dedup();
                out.edit = eco_format!("tolerate {taint} in {}", joined(&out.services));
            }
            Remedy::Pack(packing) => {
                out.kind = "pack";
                out.edit = super::advice(packing).into();
            }
            Remedy::Move(moves) => {
                out.kind = "move";
                let pod = |moved: &Moved| -> EcoString {
                    let ran = moved.number.and_then(|number| running.all.get(number));
                    match (ran, moved.holder) {
                        (Some(pod), _) => pod.name().into(),
                        (None, Holder::Wanted(workload, ..)) => claims[workload].service.clone(),
                        (None, Holder::Other(_)) => EcoString::new(),
                    }
                };
                out.moves = moves
                    .iter()
                    .map(|moved| [pod(moved), moved.from.clone(), moved.to.clone()])
                    .collect();
                let mut words: Vec<String> = out
                    .moves
                    .iter()
                    .map(|[pod, from, to]| format!("move {pod} from {from} to {to}"))
                    .collect();
                if let Some(last) = words.last_mut() {
                    last.push_str(&cost(&moves));
                }
                out.edit = words.join(" and ").into();
            }
        }
        out
    };
    let moves = |(remedy, _): &(Remedy, usize)| match remedy {
        Remedy::Move(_) => true,
        Remedy::Pack(packing) => packing.moves,
        Remedy::Uncordon(_) | Remedy::Tolerate(..) => false,
    };
    // Another class costs no restart: it comes before all that moves pods.
    let at = remedies.iter().position(moves).unwrap_or(remedies.len());
    let mut all: Vec<RemedyFound> = remedies.into_iter().map(one).collect();
    all.splice(
        at..at,
        classes.into_iter().map(|mut found| {
            found.pending += unhelped;
            found
        }),
    );
    if !add.is_empty() {
        let words: Vec<String> = add
            .iter()
            .map(|nodes| {
                let more = if nodes.nodes == 1 { "node" } else { "nodes" };
                format!("{} more {more} like {}", nodes.nodes, nodes.like)
            })
            .collect();
        all.push(RemedyFound {
            kind: "add-nodes",
            edit: eco_format!("add {}", words.join(" and ")),
            nodes: add.iter().map(|nodes| nodes.like.clone()).collect(),
            services: Vec::new(),
            moves: Vec::new(),
            pending: unhelped,
        });
    }
    all
}
