//! A pod in the scheduler's state.

use super::ids::{GangId, NodeId, TemplateId};
use super::queue::Place;
use super::reason::Rejection;
use super::{devices, storage};
use crate::cluster::admission::Receipt;
use ecow::EcoString;
use std::sync::Arc;

/// The start of a pod, for the order of evictions. A cluster counts whole seconds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Started {
    /// `status.startTime`, RFC 3339 in UTC.
    At(EcoString),
    /// After all pods that state a time, by the periods between which time passes.
    Later(u64),
}

/// The state of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodState {
    /// It has no node.
    Waiting,
    /// It is bound to a node.
    Bound(NodeId),
    /// A node is chosen, and it waits for a volume that is made for it.
    Reserved(NodeId),
    /// It is being deleted, and uses its node until then.
    Terminating(NodeId),
    /// It is deleted.
    Gone,
}

impl PodState {
    /// The node whose resources it uses.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Self::Bound(node) | Self::Reserved(node) | Self::Terminating(node) => Some(node),
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

/// What a pod has in addition.
#[derive(Clone, Debug, Default)]
pub(super) struct Belongings {
    /// The claims for volumes that it has for itself.
    pub(super) volumes: Vec<storage::ClaimId>,
    /// Its claims for devices.
    pub(super) devices: Vec<Option<devices::ClaimId>>,
    pub(super) receipt: Option<Receipt>,
    /// What its claims for volumes were charged.
    pub(super) charged: Vec<Receipt>,
    /// What `kubectl describe` shows of a pod whose claims cannot be made.
    pub(super) event: EcoString,
}
