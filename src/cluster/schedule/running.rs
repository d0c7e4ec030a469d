//! A pod as the scheduler knows it.

use super::ids::{GangId, NodeId, TemplateId};
use super::queue::Place;
use super::reason::Rejection;
use ecow::EcoString;
use std::sync::Arc;

/// When a pod started, for the order in which pods are evicted. A cluster counts whole seconds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Started {
    /// `status.startTime`, RFC 3339 in UTC.
    At(EcoString),
    /// After all pods that state a time, by the periods between which time passes.
    Later(u64),
}

/// What has become of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodState {
    /// It has no node.
    Waiting,
    /// It is bound to a node.
    Bound(NodeId),
    /// It is being deleted and holds its node until it is gone.
    Terminating(NodeId),
    /// It is gone.
    Gone,
}

impl PodState {
    /// The node whose room it holds.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Self::Bound(node) | Self::Terminating(node) => Some(node),
            Self::Waiting | Self::Gone => None,
        }
    }
}

/// A pod.
#[derive(Clone, Debug)]
pub(super) struct Pod {
    pub(super) template: TemplateId,
    pub(super) state: PodState,
    pub(super) started: Started,
    /// The scheduler evicted it.
    pub(super) preempted: bool,
    pub(super) nominated: Option<NodeId>,
    pub(super) rejection: Option<Arc<Rejection>>,
    pub(super) gang: Option<GangId>,
    pub(super) place: Place,
    /// Time of creation, or of the last try.
    pub(super) since: u64,
    /// The period of the last try.
    pub(super) tried: u64,
    pub(super) ready: bool,
}
