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
    /// `nodeLabels`, those whose value is text.
    pub node_labels: Map,
    /// `nodeTaints`, a list of `v1.Taint`.
    pub node_taints: Vec<Node>,
    /// `tolerations`, added to every pod that gets the flavor.
    pub tolerations: Vec<Node>,
    /// `topologyName`.
    pub topology: Option<Field<EcoString>>,
}

impl ResourceFlavor {
    /// Its name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}

/// How much of a resource a queue has in one flavor.
#[derive(Clone, Debug)]
pub struct ResourceQuota {
    /// Resource, such as `nvidia.com/gpu`.
    pub resource: EcoString,
    /// `nominalQuota`: its own.
    pub nominal: Quantity,
    /// `borrowingLimit`: the most it may take from its cohort; without it, all that is lent.
    pub borrowing_limit: Option<Quantity>,
    /// `lendingLimit`: the most it lends to its cohort; without it, all of its own.
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
    /// The quota of a resource.
    pub fn of(&self, resource: &str) -> Option<&ResourceQuota> {
        self.quotas.iter().find(|quota| quota.resource == resource)
    }
}

/// Resources that are given out together, and the flavors they may come from, in the order in which
/// they are tried.
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
    /// `cohortName`, formerly `cohort`: whose quotas it may borrow.
    pub cohort: Option<EcoString>,
    /// `namespaceSelector`; absent means that no namespace may use it.
    pub namespace_selector: Option<Node>,
    /// `resourceGroups`.
    pub groups: Vec<ResourceGroup>,
    /// `flavorFungibility.whenCanBorrow` is `TryNextFlavor`: another flavor is tried before quota
    /// is borrowed.
    pub borrows_last: bool,
    /// `stopPolicy` other than `None`.
    pub stopped: Option<Field<EcoString>>,
}

impl ClusterQueue {
    /// Its name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }

    /// The group that a resource comes from.
    pub fn group_of(&self, resource: &str) -> Option<&ResourceGroup> {
        self.groups.iter().find(|group| group.covered.iter().any(|covered| covered == resource))
    }

    /// Its flavors in order.
    pub fn flavors(&self) -> impl Iterator<Item = &FlavorQuotas> {
        self.groups.iter().flat_map(|group| &group.flavors)
    }
}

/// A LocalQueue: the door of a namespace to a ClusterQueue.
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
    /// Its name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }
}
