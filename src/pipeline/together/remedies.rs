//! The remedies for pending pods in the names of the input.

use super::MoreNodes;
use super::claims::Claim;
use crate::cluster::fleet::Remedy;
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

/// The remedies, the cheapest for a user first. `beside` more pods are pending that no node helps.
pub(super) fn found(
    remedies: Vec<(Remedy, usize)>,
    add: &[MoreNodes],
    claims: &[Claim],
    running: &RunningPods<'_>,
    beside: usize,
) -> Vec<RemedyFound> {
    let one = |(remedy, pending): (Remedy, usize)| {
        let mut out = RemedyFound {
            kind: "",
            edit: EcoString::new(),
            nodes: Vec::new(),
            services: Vec::new(),
            moves: Vec::new(),
            pending: pending + beside,
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
                let pod = |workload: usize, number: Option<usize>| {
                    let ran = number.and_then(|number| running.all.get(number));
                    ran.map_or_else(|| claims[workload].service.clone(), |pod| pod.name().into())
                };
                out.moves = moves
                    .into_iter()
                    .map(|own| [pod(own.workload, own.number), own.from, own.to])
                    .collect();
                let words: Vec<String> = out
                    .moves
                    .iter()
                    .map(|[pod, from, to]| format!("move {pod} from {from} to {to}"))
                    .collect();
                out.edit = words.join(" and ").into();
            }
        }
        out
    };
    let mut all: Vec<RemedyFound> = remedies.into_iter().map(one).collect();
    if !add.is_empty() {
        let words: Vec<String> = add
            .iter()
            .map(|own| {
                let more = if own.nodes == 1 { "node" } else { "nodes" };
                format!("{} more {more} like {}", own.nodes, own.like)
            })
            .collect();
        all.push(RemedyFound {
            kind: "add-nodes",
            edit: eco_format!("add {}", words.join(" and ")),
            nodes: add.iter().map(|own| own.like.clone()).collect(),
            services: Vec::new(),
            moves: Vec::new(),
            pending: beside,
        });
    }
    all
}
