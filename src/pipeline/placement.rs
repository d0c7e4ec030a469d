//! The nodes of a component's pods, and why some pods have none.

use crate::cluster::BlockedNodes;
use ecow::EcoString;
use std::sync::Arc;

/// Where the pods of a component are.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Pods of minReplicas.
    pub wanted: usize,
    /// The number that runs already and keeps its node.
    pub running: usize,
    /// The number that has a node.
    pub placed: usize,
    /// Nodes, by name, with how many of its pods.
    pub nodes: Vec<(EcoString, usize)>,
    /// Why the others have none.
    pub waiting: Option<Arc<Waiting>>,
    /// The verdicts of the nodes about one more pod, where they were requested.
    pub look: Option<Box<Look>>,
}

impl Placement {
    /// Pods without a node.
    pub fn pending(&self) -> usize {
        self.wanted - self.placed
    }
}

/// A node, and the resources that it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name.
    pub node: EcoString,
    /// Why, in a word.
    pub code: &'static str,
    /// Both operands.
    pub detail: EcoString,
}

/// Why pods wait; pods that wait for one reason share it.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The most common reason, in a word; `quota` when they may not be started.
    pub code: &'static str,
    /// The scheduler's or the queue's message.
    pub message: EcoString,
    /// The node that came nearest.
    pub example: Option<Example>,
    /// Nodes without capacity for even one of the pending pods.
    pub blocked: Arc<BlockedNodes>,
}

/// One filter of the scheduler: nodes that it judged, and those that it let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filtered {
    /// Its name.
    pub filter: &'static str,
    /// Nodes that came to it.
    pub r#in: usize,
    /// Nodes that passed.
    pub out: usize,
}

/// The verdicts of all nodes about one more pod, with the whole fleet placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The filters, in their order.
    pub filters: Vec<Filtered>,
    /// The nodes that refuse it and come nearest.
    pub nearest: Vec<Example>,
}
