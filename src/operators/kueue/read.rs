//! Kueue: ResourceFlavors, ClusterQueues and LocalQueues, as `v1beta1` and `v1beta2` write them.
//!
//! The two differ here in one spelling: `cohort` became `cohortName`. A value that does not fit
//! reads as absent: the schema has reported it.

use crate::api::fields::{text, texts};
use crate::api::{
    AcceleratorClass, ClusterQueue, Field, FlavorQuotas, LocalQueue, Object, ResourceFlavor,
    ResourceGroup, ResourceQuota,
};
use crate::quantity::{Quantity, Range};
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// Group of its kinds.
pub const GROUP: &str = "kueue.x-k8s.io";

/// Reads a ResourceFlavor.
pub fn resource_flavor(object: Object) -> ResourceFlavor {
    let items = |key: &str| {
        object
            .spec(key)
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter(|item| item.as_map().is_some())
            .cloned()
            .collect()
    };
    let labels = object.spec("nodeLabels").map(Node::entries).into_iter().flatten();
    ResourceFlavor {
        // A label whose value is no string was reported by the schema and selects nothing.
        node_labels: labels.filter(|entry| entry.node.as_str().is_some()).cloned().collect::<Map>(),
        node_taints: items("nodeTaints"),
        tolerations: items("tolerations"),
        topology: text(object.spec("topologyName")).filter(|name| !name.value.is_empty()),
        object,
    }
}

/// Reads a ClusterQueue.
pub fn cluster_queue(object: Object) -> ClusterQueue {
    let groups = object.spec("resourceGroups").map(Node::items).unwrap_or_default();
    // v1beta2 renamed the field; a file that has both is of the newer version.
    let cohort = text(object.spec("cohortName")).or_else(|| text(object.spec("cohort")));
    ClusterQueue {
        cohort: cohort.map(|cohort| cohort.value).filter(|cohort| !cohort.is_empty()),
        namespace_selector: object
            .spec("namespaceSelector")
            .filter(|selector| selector.as_map().is_some())
            .cloned(),
        groups: groups.iter().map(group).collect(),
        is_strict: object.node.at(&["spec", "queueingStrategy"]).and_then(Node::as_str)
            == Some("StrictFIFO"),
        borrows_last: object
            .node
            .at(&["spec", "flavorFungibility", "whenCanBorrow"])
            .and_then(Node::as_str)
            == Some("TryNextFlavor"),
        checks: checks(&object),
        stopped: stopped(&object),
        object,
    }
}

/// The AdmissionChecks of a ClusterQueue, by name, in either of its two forms.
fn checks(object: &Object) -> Vec<EcoString> {
    let strategy = object.node.at(&["spec", "admissionChecksStrategy", "admissionChecks"]);
    let strategy = strategy.map(Node::items).unwrap_or_default().iter();
    let named = strategy.filter_map(|check| check.get("name")?.scalar_text());
    let listed = texts(object.spec("admissionChecks")).into_iter().map(|check| check.value);
    listed.chain(named).collect()
}

/// A Cohort; one that is only named has no quota and no parent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cohort {
    /// `parentName`.
    pub(crate) parent: Option<EcoString>,
    /// `resourceGroups`.
    pub(crate) groups: Vec<ResourceGroup>,
}

/// Reads a Cohort; the parent was `parent` in v1alpha1.
pub(crate) fn cohort(object: &Object) -> Cohort {
    let named = |key: &str| text(object.spec(key)).filter(|name| !name.value.is_empty());
    let parent = named("parentName").or_else(|| named("parent"));
    let groups = object.spec("resourceGroups").map(Node::items).unwrap_or_default();
    Cohort { parent: parent.map(|name| name.value), groups: groups.iter().map(group).collect() }
}

/// Reads a LocalQueue.
pub fn local_queue(object: Object) -> LocalQueue {
    LocalQueue {
        cluster_queue: text(object.spec("clusterQueue")).filter(|name| !name.value.is_empty()),
        stopped: stopped(&object),
        object,
    }
}

fn stopped(object: &Object) -> Option<Field<EcoString>> {
    // `Hold` and `HoldAndDrain` both keep new pods out; only draining of running ones differs.
    text(object.spec("stopPolicy")).filter(|policy| !matches!(policy.value.as_str(), "" | "None"))
}

fn group(node: &Node) -> ResourceGroup {
    ResourceGroup {
        covered: texts(node.get("coveredResources")).into_iter().map(|name| name.value).collect(),
        flavors: node
            .get("flavors")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(flavor)
            .collect(),
    }
}

fn flavor(node: &Node) -> Option<FlavorQuotas> {
    let quotas = node.get("resources").map(Node::items).unwrap_or_default();
    Some(FlavorQuotas {
        flavor: text(node.get("name"))?,
        quotas: quotas.iter().filter_map(quota).collect(),
    })
}

fn quota(node: &Node) -> Option<ResourceQuota> {
    // Beyond the range of amounts sums of milli units would overflow: such a quota reads as 0.
    let quantity = |key: &str| Range::AMOUNT.read(&node.get(key)?.scalar_text()?);
    Some(ResourceQuota {
        resource: text(node.get("name"))?.value,
        nominal: quantity("nominalQuota").unwrap_or_else(|| Quantity::from_integer(0)),
        borrowing_limit: quantity("borrowingLimit"),
        lending_limit: quantity("lendingLimit"),
    })
}

/// Annotation of an AcceleratorClass: the flavor it belongs to, beside
/// `integration.kueueResourceFlavor` (OEP-0003, Story 3).
pub const FLAVOR_OF_CLASS: &str = "ome.io/kueue-resource-flavor";
/// Annotation of a ResourceFlavor: `"true"` requests a class, `"false"` forbids one
/// (docs/decisions.md#kueue-exchange).
pub const IS_ACCELERATOR: &str = "ome.io/accelerator";
/// Annotation of a ResourceFlavor that is one of several made of a class: the class (OEP-0003,
/// Kueue Integration).
pub const CLASS_OF_FLAVOR: &str = "ome.io/accelerator-class";

/// Field of a flavor: the topology of its nodes.
pub const TOPOLOGY: &str = "topologyName";

/// What a class has no field for, in annotations: annotation, field of the flavor, whether the
/// value is a JSON list.
pub const CARRIED: [(&str, &str, bool); 3] = [
    ("ome.io/kueue-node-taints", "nodeTaints", true),
    ("ome.io/kueue-tolerations", "tolerations", true),
    ("ome.io/kueue-topology", TOPOLOGY, false),
];

/// The flavor that a class names, in one or both of its two ways.
pub fn flavor_of_class(class: &AcceleratorClass) -> [Option<Field<EcoString>>; 2] {
    let annotation =
        text(class.object.annotation(FLAVOR_OF_CLASS)).filter(|name| !name.value.is_empty());
    // Both are returned, also when they differ: the caller reports the contradiction.
    [class.kueue_flavor.clone(), annotation]
}
