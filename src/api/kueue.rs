//! Queues of Kueue: the queue that admits the pods of a service, and its flavors.

use super::object::{Field, Object};
use crate::quantity::Quantity;
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// A ResourceFlavor: a kind of machine, recognized by labels and taints.
#[derive(Clone, Debug)]
pub struct ResourceFlavor {
    /// The object.
    pub object: Object,
    /// `nodeLabels` with a text value.
    pub node_labels: Map,
    /// `nodeTaints`, a list of `v1.Taint`.
    pub node_taints: Vec<Node>,
    /// `tolerations`, added to every pod that gets the flavor.
    pub tolerations: Vec<Node>,
    /// `topologyName`.
    pub topology: Option<Field<EcoString>>,
}

impl ResourceFlavor {
    /// Returns the name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}

/// The quota of one resource in one flavor.
#[derive(Clone, Debug)]
pub struct ResourceQuota {
    /// Resource, such as `nvidia.com/gpu`.
    pub resource: EcoString,
    /// `nominalQuota`: the queue's own quota.
    pub nominal: Quantity,
    /// `borrowingLimit`: the maximum that the queue may borrow from its cohort; not set means all
    /// that the cohort lends.
    pub borrowing_limit: Option<Quantity>,
    /// `lendingLimit`: the maximum that the queue lends to its cohort; not set means its whole
    /// nominal quota.
    pub lending_limit: Option<Quantity>,
}

/// One flavor of a queue.
#[derive(Clone, Debug)]
pub struct FlavorQuotas {
    /// The flavor's name.
    pub flavor: Field<EcoString>,
    /// Its quotas.
    pub quotas: Vec<ResourceQuota>,
}

impl FlavorQuotas {
    /// Returns the quota of a resource.
    pub fn of(&self, resource: &str) -> Option<&ResourceQuota> {
        self.quotas.iter().find(|quota| quota.resource == resource)
    }
}

/// Resources that are assigned together, and the flavors that can provide them, in the order in
/// which Kueue tries them.
#[derive(Clone, Debug)]
pub struct ResourceGroup {
    /// `coveredResources`.
    pub covered: Vec<EcoString>,
    /// `flavors`.
    pub flavors: Vec<FlavorQuotas>,
}

/// A ClusterQueue.
#[derive(Clone, Debug)]
pub struct ClusterQueue {
    /// The object.
    pub object: Object,
    /// `cohortName`, formerly `cohort`: the cohort from which the queue may borrow quota.
    pub cohort: Option<EcoString>,
    /// `namespaceSelector`; absent means that no namespace may use it.
    pub namespace_selector: Option<Node>,
    /// `resourceGroups`.
    pub groups: Vec<ResourceGroup>,
    /// `flavorFungibility.whenCanBorrow` is `TryNextFlavor`: another flavor is tried before quota
    /// is borrowed.
    pub borrows_last: bool,
    /// `queueingStrategy: StrictFIFO`: what does not fit lets nothing pass that comes after it.
    pub is_strict: bool,
    /// AdmissionChecks: other controllers agree before pods start.
    pub checks: Vec<EcoString>,
    /// `stopPolicy` other than `None`.
    pub stopped: Option<Field<EcoString>>,
}

impl ClusterQueue {
    /// Returns the name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }

    /// Returns the group that covers a resource.
    pub fn group_of(&self, resource: &str) -> Option<&ResourceGroup> {
        self.groups.iter().find(|group| group.covered.iter().any(|covered| covered == resource))
    }

    /// Returns the flavors in order.
    pub fn flavors(&self) -> impl Iterator<Item = &FlavorQuotas> {
        self.groups.iter().flat_map(|group| &group.flavors)
    }
}

/// A LocalQueue: it connects a namespace to a ClusterQueue.
#[derive(Clone, Debug)]
pub struct LocalQueue {
    /// The object.
    pub object: Object,
    /// `clusterQueue`.
    pub cluster_queue: Option<Field<EcoString>>,
    /// `stopPolicy` other than `None`.
    pub stopped: Option<Field<EcoString>>,
}

impl LocalQueue {
    /// Returns the name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}
