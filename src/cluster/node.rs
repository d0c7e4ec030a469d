//! A Node with the fields that placement reads.

use super::assumed::is_of_resource;
use crate::api::Object;
use crate::quantity::{Quantity, Range};
use crate::yaml::{Map, Node, Value};
use ecow::EcoString;
use std::fmt;

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Key.
    pub key: EcoString,
    /// Value.
    pub value: EcoString,
    /// Effect.
    pub effect: EcoString,
}

/// The effect of a taint that only lowers the score of a node.
const SOFT: &str = "PreferNoSchedule";

impl Taint {
    fn of(node: &Node) -> Self {
        Self { key: text(node, "key"), value: text(node, "value"), effect: text(node, "effect") }
    }

    /// Reads a list of `v1.Taint`, without taints of effect `PreferNoSchedule`.
    pub fn list(nodes: &[Node]) -> Vec<Self> {
        nodes.iter().map(Self::of).filter(|taint| taint.effect != SOFT).collect()
    }

    /// Reports whether one of these tolerations, each a `v1.Toleration`, covers the taint.
    pub(crate) fn is_tolerated<'n>(&self, tolerations: impl IntoIterator<Item = &'n Node>) -> bool {
        tolerations.into_iter().any(|toleration| Toleration::of(toleration).tolerates(self))
    }
}

impl fmt::Display for Taint {
    /// `key=value:effect`, or `key:effect` without a value, as kubectl writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equals = if self.value.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", self.key, self.value, self.effect)
    }
}

/// Why a node accepts no new pods.
#[derive(Clone, Copy, Debug)]
pub enum Closed<'a> {
    /// Its kubelet does not report it as ready.
    NotReady,
    /// Somebody cordoned it.
    Cordoned,
    /// A taint that is not tolerated.
    Taint(&'a Taint),
}

impl fmt::Display for Closed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => f.write_str("not ready"),
            Self::Cordoned => f.write_str("cordoned"),
            Self::Taint(taint) => write!(f, "tainted {taint}"),
        }
    }
}

/// A toleration of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// Key; empty means every key, when `exists`.
    pub key: EcoString,
    /// Operator `Exists`: the value does not matter.
    pub exists: bool,
    /// Value, of operator `Equal`.
    pub value: EcoString,
    /// Effect; empty means every effect.
    pub effect: EcoString,
}

impl Toleration {
    /// Reads a `v1.Toleration`.
    pub fn of(node: &Node) -> Self {
        Self {
            key: text(node, "key"),
            exists: text(node, "operator") == "Exists",
            value: text(node, "value"),
            effect: text(node, "effect"),
        }
    }

    /// Reports whether the toleration covers a taint (`v1.Toleration.ToleratesTaint`).
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let key_fits = if self.key.is_empty() { self.exists } else { self.key == taint.key };
        key_fits
            && (self.effect.is_empty() || self.effect == taint.effect)
            && (self.exists || self.value == taint.value)
    }
}

fn text(node: &Node, key: &str) -> EcoString {
    node.get(key).and_then(Node::scalar_text).unwrap_or_default()
}

/// The fields of a Node that placement reads.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name.
    pub name: EcoString,
    /// Labels.
    pub labels: Map,
    /// Condition Ready is True, or the Node has no condition Ready.
    pub ready: bool,
    /// `spec.unschedulable`.
    pub cordoned: bool,
    /// Pods that request its devices tolerate their taint without stating it.
    pub tolerates_own: bool,
    /// Taints with effect NoSchedule or NoExecute.
    pub taints: Vec<Taint>,
    /// Taints with effect PreferNoSchedule, which only lower the score of the node.
    pub soft_taints: Vec<Taint>,
    /// `status.allocatable`, else `status.capacity`; none if the Node has neither.
    pub allocatable: Option<Vec<(EcoString, Quantity)>>,
    /// `status.capacity`, else `status.allocatable`.
    pub capacity: Vec<(EcoString, Quantity)>,
    /// `status.images`: every name of each image on the node, with the image size in bytes.
    pub images: Vec<(EcoString, i64)>,
}

/// Returns the labels as text; an unquoted number becomes its digits.
fn labels(object: &Object) -> Map {
    let mut labels = object.labels();
    // Labels are copied only where one is no text.
    if labels.iter().any(|entry| entry.node.as_str().is_none()) {
        for entry in &mut labels {
            if let (None, Some(text)) = (entry.node.as_str(), entry.node.scalar_text()) {
                entry.node.value = Value::Str(text);
            }
        }
    }
    labels
}

/// Conditions that close a node while they hold, and the taint by which the node controller says so
/// (pkg/controller/nodelifecycle/node_lifecycle_controller.go, nodeConditionToTaintKeyStatusMap).
const PRESSURES: [(&str, &str); 4] = [
    ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
];

/// The taints of a node with those of its conditions, which a dump has already and a Node that was
/// written by hand has not.
fn with_conditions(mut taints: Vec<Taint>, conditions: &[Node]) -> Vec<Taint> {
    for (condition, key) in PRESSURES {
        let holds = conditions
            .iter()
            .any(|item| text(item, "type") == condition && text(item, "status") == "True");
        if holds && !taints.iter().any(|taint| taint.key == key) {
            let effect = "NoSchedule".into();
            taints.push(Taint { key: key.into(), value: EcoString::new(), effect });
        }
    }
    taints
}

impl Machine {
    /// Reads a Node.
    pub fn of(object: &Object) -> Self {
        let amounts = |key: &str| -> Option<Vec<(EcoString, Quantity)>> {
            let stated = object.node.at(&["status", key])?;
            Some(
                stated
                    .entries()
                    .filter_map(|entry| {
                        // An amount out of range is left out, as if the node did not have the
                        // resource.
                        let range = Range::of_resource(&entry.key);
                        Some((entry.key.clone(), range.read(&entry.node.scalar_text()?)?))
                    })
                    .collect(),
            )
        };
        let conditions =
            object.node.at(&["status", "conditions"]).map(Node::items).unwrap_or_default();
        let ready = conditions
            .iter()
            .find(|condition| condition.get("type").and_then(Node::as_str) == Some("Ready"));
        let taints = object.node.at(&["spec", "taints"]).map(Node::items).unwrap_or_default();
        let images = object.node.at(&["status", "images"]).map(Node::items).unwrap_or_default();
        Self {
            name: object.id.name.clone(),
            labels: labels(object),
            // Manifests of nodes have no status; such a node counts as ready.
            ready: ready.is_none_or(|ready| text(ready, "status") == "True"),
            cordoned: object
                .node
                .at(&["spec", "unschedulable"])
                .and_then(Node::as_bool)
                .unwrap_or(false),
            tolerates_own: true,
            taints: with_conditions(Taint::list(taints), conditions),
            soft_taints: taints
                .iter()
                .map(Taint::of)
                .filter(|taint| taint.effect == SOFT)
                .collect(),
            allocatable: amounts("allocatable").or_else(|| amounts("capacity")),
            capacity: amounts("capacity").or_else(|| amounts("allocatable")).unwrap_or_default(),
            images: images
                .iter()
                .flat_map(|image| {
                    let size = image.get("sizeBytes").and_then(Node::as_int).unwrap_or(0);
                    let names = image.get("names").map(Node::items).unwrap_or_default();
                    names.iter().filter_map(Node::scalar_text).map(move |name| (name, size))
                })
                .collect(),
        }
    }

    /// Returns the value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).and_then(Node::as_str)
    }

    /// The first taint that a pod with these tolerations, a list of `v1.Toleration`, does not
    /// tolerate. A pod that requests the devices of the node may also tolerate their taint
    /// (docs/decisions.md#device-taints).
    pub fn untolerated(&self, tolerations: &[Node], requests_devices: bool) -> Option<&Taint> {
        let is_own = |taint: &Taint| {
            let mut resources = self.allocatable.iter().flatten().chain(&self.capacity);
            is_of_resource(taint) && resources.any(|(name, _)| *name == taint.key)
        };
        let tolerates = |taint: &Taint| {
            (requests_devices && self.tolerates_own && is_own(taint))
                || taint.is_tolerated(tolerations)
        };
        self.taints.iter().find(|taint| !tolerates(taint))
    }

    /// Whether the node accepts new pods with these tolerations (see [`Machine::untolerated`]).
    pub fn usable(&self, tolerations: &[Node], requests_devices: bool) -> bool {
        self.closed(tolerations, requests_devices).is_none()
    }

    /// Why the node accepts no new pods with these tolerations.
    pub fn closed(&self, tolerations: &[Node], requests_devices: bool) -> Option<Closed<'_>> {
        if !self.ready {
            return Some(Closed::NotReady);
        }
        if self.cordoned {
            return Some(Closed::Cordoned);
        }
        self.untolerated(tolerations, requests_devices).map(Closed::Taint)
    }

    /// Returns the allocatable whole units of a resource; none if the Node has no amounts.
    pub fn allocatable(&self, resource: &str) -> Option<i64> {
        let stated = self.allocatable.as_ref()?;
        Some(
            stated
                .iter()
                .find(|(name, _)| name == resource)
                .and_then(|(_, quantity)| quantity.value())
                .unwrap_or(0),
        )
    }
}
