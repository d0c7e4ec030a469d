//! Storage objects with the fields that the scheduler reads.

use crate::cluster::Machine;
use crate::cluster::admission::{Admission, Usage};
use crate::cluster::schedule::fields::{items, text};
use crate::cluster::schedule::pod::{ClaimSpec, Disk, NodeTerm, PodVolume, ZONE};
use crate::cluster::schedule::selectors::{label_selector, node_terms};
use crate::quantity::{Quantity, Selector};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A claim for a volume that a controller makes before a pod.
#[derive(Clone, Debug)]
pub struct NewClaim {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// The object, or the template that it is made of.
    pub object: Arc<Node>,
    /// Why a LimitRange does not allow it.
    pub refused: Option<EcoString>,
    /// Its class makes a volume at once, where it does not wait for a pod.
    pub settles: bool,
}

fn bytes(node: Option<&Node>) -> i64 {
    let parsed = node.and_then(Node::scalar_text);
    let parsed = parsed.and_then(|text| Quantity::parse_field(&text).ok());
    parsed.map_or(0, |amount| amount.value().unwrap_or(i64::MAX))
}

fn optional(node: Option<&Node>) -> Option<EcoString> {
    node.and_then(Node::scalar_text)
}

impl ClaimSpec {
    /// Reads the `spec` of a claim, or of a template of claims.
    pub fn read(spec: &Node) -> Self {
        Self {
            class: optional(spec.get("storageClassName")),
            modes: spec.texts("accessModes").collect(),
            request: bytes(spec.at(&["resources", "requests", "storage"])),
            selector: label_selector(spec.get("selector")).ok().flatten(),
            block: text(spec.get("volumeMode")) == "Block",
            volume: optional(spec.get("volumeName")).filter(|name| !name.is_empty()),
            usage: None,
            refused: None,
        }
    }

    /// Whether one pod of the cluster may use it.
    pub(super) fn of_one_pod(&self) -> bool {
        self.modes.iter().any(|mode| mode == "ReadWriteOncePod")
    }
}

impl Disk {
    fn read(volume: &Node) -> Option<Self> {
        let of = |kind: &str, keys: &[&str]| {
            let volume = volume.get(kind)?;
            let mut identity = vec![EcoString::from(kind)];
            identity.extend(keys.iter().map(|key| text(volume.get(key))));
            let read_only = volume.get("readOnly").and_then(Node::as_bool) == Some(true);
            Some(Self { identity, any_of: Vec::new(), read_only })
        };
        let shared = of("gcePersistentDisk", &["pdName"]).or_else(|| of("iscsi", &["iqn"]));
        let ceph = || {
            let mut disk = of("rbd", &["pool", "image"])?;
            disk.any_of = volume.get("rbd")?.texts("monitors").collect();
            // Both have defaults (pkg/apis/core/v1/defaults.go).
            if disk.identity[1].is_empty() {
                disk.identity[1] = "rbd".into();
            }
            Some(disk)
        };
        // A disk of EBS is attached once, even for reading.
        let ebs = || {
            of("awsElasticBlockStore", &["volumeID"]).map(|disk| Self { read_only: false, ..disk })
        };
        shared.or_else(ceph).or_else(ebs)
    }

    /// Whether two pods with these disks cannot share a node (`isVolumeConflict`).
    pub fn conflicts(&self, other: &Self) -> bool {
        let overlaps = self.any_of.is_empty()
            || self.any_of.iter().any(|monitor| other.any_of.contains(monitor));
        self.identity == other.identity && overlaps && !(self.read_only && other.read_only)
    }
}

/// The volumes of a pod that restrict its nodes.
pub(in crate::cluster::schedule) fn volumes_of(
    spec: &Node,
    namespace: &str,
    admission: &Admission,
) -> Vec<PodVolume> {
    let volumes = items(spec, "volumes").iter();
    volumes
        .filter_map(|volume| {
            let claim = optional(volume.at(&["persistentVolumeClaim", "claimName"]));
            let template = volume.at(&["ephemeral", "volumeClaimTemplate"]);
            let ephemeral = || {
                let template = template?;
                let spec = ClaimSpec {
                    usage: Some(Arc::new(Usage::of_claim(template))),
                    refused: admission.refused_claim(namespace, template),
                    ..ClaimSpec::read(template.get("spec")?)
                };
                Some(PodVolume::Ephemeral(text(volume.get("name")), Arc::new(spec)))
            };
            let pod_volume = claim.map(PodVolume::Claim).or_else(ephemeral);
            let disk = || Disk::read(volume).map(PodVolume::Disk);
            let inline = || optional(volume.at(&["csi", "driver"])).map(PodVolume::Inline);
            pod_volume.or_else(disk).or_else(inline)
        })
        .collect()
}

/// A StorageClass.
#[derive(Clone, Debug, Default)]
pub(super) struct StorageClass {
    pub(super) provisioner: EcoString,
    /// `WaitForFirstConsumer`.
    pub(super) waits: bool,
    /// `allowedTopologies`: labels with the values that a node may have; one item must match.
    pub(super) topologies: Vec<Vec<(EcoString, Vec<EcoString>)>>,
    pub(super) is_default: bool,
}

impl StorageClass {
    pub(super) fn read(class: &Node) -> Self {
        let default =
            class.at(&["metadata", "annotations", "storageclass.kubernetes.io/is-default-class"]);
        let expression = |one: &Node| (text(one.get("key")), one.texts("values").collect());
        let term = |term: &Node| {
            items(term, "matchLabelExpressions").iter().map(expression).collect::<Vec<_>>()
        };
        Self {
            provisioner: text(class.get("provisioner")),
            waits: text(class.get("volumeBindingMode")) == "WaitForFirstConsumer",
            topologies: items(class, "allowedTopologies").iter().map(term).collect(),
            is_default: text(default) == "true",
        }
    }

    /// Whether volumes of the class are made when they are claimed. A class without a provisioner is a
    /// patch of one that is in the cluster, such as one that makes it the default: no server has one.
    pub(super) fn provisions(&self) -> bool {
        self.provisioner != "kubernetes.io/no-provisioner"
    }

    /// The zones that `allowedTopologies` names.
    pub(super) fn zones(&self) -> impl Iterator<Item = &str> {
        let allowed = self.topologies.iter().flatten().filter(|(key, _)| key == ZONE);
        allowed.flat_map(|(_, values)| values).map(EcoString::as_str)
    }

    pub(super) fn allows(&self, machine: &Machine) -> bool {
        self.topologies.is_empty()
            || self.topologies.iter().any(|term| {
                term.iter().all(|(key, values)| {
                    machine
                        .label(key)
                        .is_some_and(|label| values.iter().any(|value| value == label))
                })
            })
    }
}

/// The labels that name the zone and the region of a volume, each with its older or newer name.
const PLACES: [(&str, &str); 4] = [
    (ZONE, "failure-domain.beta.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// A PersistentVolume.
#[derive(Clone, Debug, Default)]
pub(super) struct Volume {
    pub(super) class: EcoString,
    pub(super) capacity: i64,
    pub(super) modes: Vec<EcoString>,
    pub(super) block: bool,
    pub(super) labels: BTreeMap<EcoString, EcoString>,
    /// `nodeAffinity.required`, of which one term must match.
    pub(super) terms: Option<Vec<NodeTerm>>,
    /// Namespace and name of the claim that it is kept for.
    pub(super) claim: Option<(EcoString, EcoString)>,
    /// It may be given to a claim.
    pub(super) available: bool,
    /// The CSI driver and its name of the volume.
    pub(super) driver: Option<(EcoString, EcoString)>,
    /// It was made for a claim here.
    pub(super) is_made: bool,
}

impl Volume {
    pub(super) fn read(object: &Node) -> Self {
        let spec = |keys: &[&str]| object.get("spec").and_then(|spec| spec.at(keys));
        let terms = spec(&["nodeAffinity", "required"]).map(node_terms);
        let claim = spec(&["claimRef"])
            .map(|claim| (text(claim.get("namespace")), text(claim.get("name"))));
        let phase = text(object.at(&["status", "phase"]));
        let driver =
            spec(&["csi"]).map(|csi| (text(csi.get("driver")), text(csi.get("volumeHandle"))));
        let labels = object.at(&["metadata", "labels"]).map(Node::entries);
        Self {
            is_made: false,
            class: text(spec(&["storageClassName"])),
            capacity: bytes(spec(&["capacity", "storage"])),
            modes: object
                .get("spec")
                .map(|spec| spec.texts("accessModes").collect())
                .unwrap_or_default(),
            block: text(spec(&["volumeMode"])) == "Block",
            labels: labels
                .into_iter()
                .flatten()
                .map(|entry| (entry.key.clone(), text(Some(&entry.node))))
                .collect(),
            terms,
            claim,
            available: matches!(phase.as_str(), "" | "Available")
                && object.at(&["metadata", "deletionTimestamp"]).is_none(),
            driver,
        }
    }

    /// Whether the labels of the volume name places in which a node is not (`VolumeZone`). A node
    /// without any label of a place is taken.
    pub(super) fn is_elsewhere(&self, machine: &Machine) -> bool {
        if !PLACES.iter().any(|(key, _)| machine.label(key).is_some()) {
            return false;
        }
        PLACES.iter().any(|(key, other)| {
            let Some(places) = self.labels.get(*key) else { return false };
            let label = machine.label(key).or_else(|| machine.label(other));
            !label.is_some_and(|name| places.split("__").any(|place| place == name))
        })
    }

    /// Whether a claim that names it may have it (`checkVolumeSatisfyClaim`): its labels are not asked.
    pub(super) fn may_be_given(&self, claim: &ClaimSpec) -> bool {
        // A claim without a class gets that of the cluster, if there is one.
        claim.class.as_ref().is_none_or(|class| *class == self.class)
            && self.is_large_enough(claim)
            && self.has_modes(claim)
    }

    /// Whether it has room for a claim, in the form that it asks for.
    pub(super) fn is_large_enough(&self, claim: &ClaimSpec) -> bool {
        self.capacity >= claim.request && self.block == claim.block
    }

    /// Whether it has the access modes of a claim.
    pub(super) fn has_modes(&self, claim: &ClaimSpec) -> bool {
        claim.modes.iter().all(|mode| self.modes.contains(mode))
    }

    /// Whether it satisfies a claim of its class, apart from the node (`FindMatchingVolume`).
    pub(super) fn satisfies(&self, claim: &ClaimSpec) -> bool {
        self.is_large_enough(claim)
            && self.has_modes(claim)
            && claim.selector.as_ref().is_none_or(|selector| {
                selector.matches(|key| self.labels.get(key).map(EcoString::as_str))
            })
    }
}

/// A CSIStorageCapacity: the free space that a driver has for a class on some nodes.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    pub(super) class: EcoString,
    /// The largest volume that can be made.
    bytes: i64,
    nodes: Option<Selector>,
}

impl Capacity {
    pub(super) fn read(object: &Node) -> Self {
        let largest = object.get("maximumVolumeSize").or_else(|| object.get("capacity"));
        Self {
            class: text(object.get("storageClassName")),
            bytes: bytes(largest),
            nodes: label_selector(object.get("nodeTopology")).ok().flatten(),
        }
    }

    pub(super) fn holds(&self, request: i64, machine: &Machine) -> bool {
        let here = |nodes: &Selector| nodes.matches(|key| machine.label(key));
        self.bytes >= request && self.nodes.as_ref().is_some_and(here)
    }
}
