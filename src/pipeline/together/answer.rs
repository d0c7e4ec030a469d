//! Where everything stands: the answer of a placement, as data.

use super::At;
use super::assumed::AssumedToleration;
use super::loss::Loss;
use super::map::NodeUse;
use super::not_judged::{NotJudged, OpenComponents};
use super::partial_groups::HalfGroup;
use super::remedies::RemedyFound;
use crate::api::Api;
use crate::cluster::fleet::{Verdict, Workload};
use crate::quantity::Dollars;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// A replica with pods that have no node.
#[derive(Clone, Debug)]
pub struct Pending {
    /// `namespace/name` of the service or ModelServing.
    pub service: EcoString,
    /// The component, or the group of a ModelServing.
    pub component: EcoString,
    /// Its index.
    pub replica: usize,
    /// How many of its pods have no node.
    pub pods: usize,
    /// Reason as a code.
    pub code: &'static str,
    /// Message of the scheduler or of the queue.
    pub message: EcoString,
    /// The same in short: the nearest node and what it lacks.
    pub short: EcoString,
    /// A pod of it runs in the input and was evicted.
    pub ran: bool,
}

/// The workloads of the input that no operator writes: Deployments, Jobs and so on.
#[derive(Clone, Debug, Default)]
pub struct OtherWorkloads {
    /// Their pods.
    pub pods: usize,
    /// The devices that these request.
    pub gpus: i64,
    /// Those of `pods` without a node.
    pub pending: usize,
}

/// An evicted pod.
#[derive(Clone, Debug)]
pub struct Victim {
    /// `namespace/name`.
    pub pod: EcoString,
    /// The node that it ran on.
    pub node: EcoString,
    /// `namespace/name` of the service that takes its place.
    pub cause: EcoString,
}

/// Additional nodes that would hold the pending pods.
#[derive(Clone, Debug)]
pub struct MoreNodes {
    /// Their class, if a class describes them.
    pub class: Option<EcoString>,
    /// Number of nodes.
    pub nodes: usize,
    /// An existing node of the same kind.
    pub like: EcoString,
}

/// Numbers of pods.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodCounts {
    /// Pods of the input that hold a node.
    pub running: usize,
    /// Those of `running` that belong to planned services.
    pub of_services: usize,
    /// Pods that planned services and ModelServings need.
    pub wanted: usize,
    /// Those of `wanted` with a node.
    pub placed: usize,
    /// Those of `wanted` without a node.
    pub pending: usize,
}

/// The result of placing the fleet.
#[derive(Clone, Debug)]
pub struct Together {
    /// Whether everything fits.
    pub verdict: Verdict,
    /// The number of replicas that is placed.
    pub at: At,
    /// Nodes that report their resources.
    pub nodes: usize,
    /// Pods.
    pub pods: PodCounts,
    /// Pending replicas, in the order in which they are placed.
    pub pending: Vec<Pending>,
    /// What is not judged; with any of it, the verdict is unknown unless pods do not fit.
    pub not_judged: Vec<NotJudged>,
    /// The components whose new pods are not judged, and why; `None` for the groups of a ModelServing.
    pub open: OpenComponents,
    /// Services and ModelServings in error, whose pods are not placed.
    pub in_error: usize,
    /// Services with pods that have no node or quota when everything is applied in another order.
    pub order_matters: Vec<EcoString>,
    /// How many other orders were tried; `None` if there is no other one.
    pub order_tried: Option<usize>,
    /// Tolerations that the placement assumes.
    pub assumed: Vec<AssumedToleration>,
    /// The workloads that no operator writes.
    pub others: OtherWorkloads,
    /// Evicted pods.
    pub victims: Vec<Victim>,
    /// Nodes that would hold the pending pods; empty if nothing is pending, or no node would help.
    pub add: Vec<MoreNodes>,
    /// Changes after which fewer pods are pending, the cheapest first.
    pub remedies: Vec<RemedyFound>,
    /// Whether the verdict changes if ties between equally good nodes are broken differently.
    pub hangs_on_ties: bool,
    /// Groups that kube-scheduler, which has no gangs, would start only in part.
    pub half_groups: Vec<HalfGroup>,
    /// Devices held by other pods or requested by services that are not shown, by class.
    pub in_use: BTreeMap<EcoString, i64>,
    /// Devices held by other pods on usable nodes, by resource.
    pub resources_in_use: BTreeMap<EcoString, i64>,
    /// Nodes with a taint on which pods of services are placed: they tolerate it.
    pub opened: BTreeSet<EcoString>,
    /// Hourly cost of ModelServings, including those that are not shown: namespace, name, cost.
    pub costs: Vec<(EcoString, EcoString, Dollars)>,
    /// The pods on each node, if that was requested.
    pub map: Vec<NodeUse>,
    /// The same before the nodes are lost, if any are.
    pub map_before: Vec<NodeUse>,
    /// The pods that are placed, by workload, if that was requested.
    pub settled: Vec<SettledWorkload>,
    /// The nodes that are lost, if any are.
    pub loss: Option<Loss>,
}

/// A workload that is placed: its pods run when a change comes.
#[derive(Clone, Debug)]
pub struct SettledWorkload {
    pub(super) api: Api,
    pub(super) service: EcoString,
    pub(super) component: Option<&'static str>,
    pub(super) workload: Workload,
}

impl Together {
    /// The verdict in JSON output.
    pub fn verdict_word(&self) -> &'static str {
        match self.verdict {
            Verdict::DoesNotFit { .. } => "does-not-fit",
            // After the pods that certainly do not fit: what is not judged cannot make them fit.
            // Pods of a service in error run on, or come once it is mended.
            _ if !self.not_judged.is_empty() || self.in_error > 0 => "unknown",
            Verdict::Fits => "fits",
            Verdict::IfPacked(_) => "fits-if-packed",
        }
    }
}

impl Together {
    /// Whether fewer pods have a node if pods do not get the tolerations that nothing shows.
    pub fn hangs_on_assumption(&self) -> bool {
        self.assumed.iter().any(|toleration| toleration.decides)
    }
}

impl SettledWorkload {
    /// `namespace/name` of its service.
    pub fn service(&self) -> &EcoString {
        &self.service
    }
}
