//! Where the pods of a component are placed, and why some have no node.

use crate::cluster::{BlockedNodes, NodeRejection};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// Placement of the pods of a component.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Pods at minReplicas.
    pub wanted: usize,
    /// Those of `wanted` that already run and keep their node.
    pub running: usize,
    /// Those of `wanted` that have a node.
    pub placed: usize,
    /// Nodes by name, each with the number of pods of this component.
    pub nodes: Vec<(EcoString, usize)>,
    /// Why it is not judged where the pods go.
    pub unjudged: Option<EcoString>,
    /// Why it is not judged whether the pods start on their nodes.
    pub open: Option<EcoString>,
    /// Replicas that fit, more than those that are wanted included.
    pub replicas: usize,
    /// How many more replicas would fit.
    pub more: usize,
    /// Nodes have room for more of them than their queue has quota for.
    pub by_quota: bool,
    /// Whether all of `wanted` would have a node if nothing else were planned; `None` if unknown.
    pub alone: Option<bool>,
    /// Why the other pods have no node.
    pub waiting: Option<Arc<Waiting>>,
    /// How the nodes respond to one more pod, if that was requested.
    pub look: Option<Box<Look>>,
}

impl Placement {
    /// What is not judged of the pods.
    pub fn not_judged(&self) -> Option<&EcoString> {
        self.unjudged.as_ref().or(self.open.as_ref())
    }

    /// Pods without a node.
    pub fn pending(&self) -> usize {
        self.wanted - self.placed
    }
}

/// Why pods wait. Pods that wait for the same reason share this value.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Code of the reason of the nearest node; `quota` if a queue does not admit the pods.
    pub code: &'static str,
    /// Message of the scheduler or of the queue.
    pub message: EcoString,
    /// The node that is closest to a match.
    pub example: Option<NodeRejection>,
    /// A requested resource or label that no node has.
    pub missing: Option<EcoString>,
    /// Nodes without room for a single pod of the waiting kind.
    pub blocked: Arc<BlockedNodes>,
}

impl Waiting {
    /// What is missing, in short: the reason of the nearest node.
    pub fn shortage(&self) -> EcoString {
        match (&self.missing, &self.example) {
            (Some(resource), _) => eco_format!("no node has {resource}"),
            (None, Some(example)) => eco_format!("{}: {}", example.node, example.detail),
            (None, None) => {
                // The scheduler's message is about all nodes, and ends with what preemption says.
                let why = self.message.split_once(" nodes are available: ");
                why.map_or_else(
                    || self.message.clone(),
                    |(_, why)| why.split(". ").next().unwrap_or(why).into(),
                )
            }
        }
    }
}

/// One filter of the scheduler, with the number of nodes before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// Its name.
    pub filter: &'static str,
    /// Nodes that the filter evaluates.
    pub r#in: usize,
    /// Nodes that pass.
    pub out: usize,
}

/// How the nodes respond to one more pod of a kind after everything is placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The filters, in the order of evaluation.
    pub filters: Vec<Filtered>,
    /// The nodes that reject the pod and are closest to a match.
    pub nearest: Vec<NodeRejection>,
}
