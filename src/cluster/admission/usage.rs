//! What an object counts in the quotas of its namespace (pkg/quota/v1/evaluator/core).

use super::resources::{Amounts, Resources, amounts, containers, total};
use super::text;
use crate::quantity::{Quantity, is_native};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// What an object counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Amounts by the name that a quota has for them.
    pub(super) amounts: Amounts,
    /// What of it a finished pod still counts.
    pub(super) finished: Amounts,
    /// A pod, which scopes select; other objects are in no scope.
    pub(super) pod: Option<ScopedPod>,
}

/// The properties of a pod by which scopes select.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ScopedPod {
    /// No container states processors or memory (its QoS class).
    pub(super) best_effort: bool,
    /// `activeDeadlineSeconds` is set.
    pub(super) terminating: bool,
    pub(super) priority_class: EcoString,
    /// A term of pod (anti-)affinity selects other namespaces.
    pub(super) across_namespaces: bool,
    /// Containers, and what they state of each resource that a quota may demand of all of them.
    pub(super) stated: Vec<(EcoString, Vec<&'static str>)>,
}

/// Resources that every container must state when a quota has them (`validationSet`).
pub(super) const DEMANDED: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

fn put(amounts: &mut Amounts, name: impl Into<EcoString>, amount: &Quantity) {
    amounts.insert(name.into(), amount.clone());
}

/// The part of [`DEMANDED`] that a container or a pod states.
fn stated(resources: &Resources) -> Vec<&'static str> {
    let has = |name: &&str| match name.split_once('.') {
        Some(("limits", resource)) => resources.limits.contains_key(resource),
        Some((_, resource)) => resources.requests.contains_key(resource),
        None => resources.requests.contains_key(*name),
    };
    DEMANDED.into_iter().filter(has).collect()
}

impl Usage {
    /// What a pod counts.
    pub fn of_pod(spec: &Node) -> Self {
        let one = Quantity::from_integer(1);
        let mut counted = Amounts::new();
        put(&mut counted, "pods", &one);
        put(&mut counted, "count/pods", &one);
        let overhead = amounts(spec.get("overhead"));
        let mut requests = total(spec, |resources| &resources.requests);
        super::resources::add(&mut requests, &overhead);
        for (name, amount) in &requests {
            match name.as_str() {
                // These have two names in a quota; extended resources have only the one with
                // `requests.`.
                "cpu" | "memory" | "ephemeral-storage" => {
                    put(&mut counted, name.clone(), amount);
                    put(&mut counted, eco_format!("requests.{name}"), amount);
                }
                name if name.starts_with("hugepages-") => {
                    put(&mut counted, name, amount);
                    put(&mut counted, eco_format!("requests.{name}"), amount);
                }
                name if !is_native(name) => {
                    put(&mut counted, eco_format!("requests.{name}"), amount);
                }
                _ => {}
            }
        }
        let mut limits = total(spec, |resources| &resources.limits);
        for (name, amount) in &mut limits {
            // Overhead has no limits of its own: it is added to a limit that is set.
            if let Some(more) = overhead.get(name).filter(|_| !amount.is_zero()) {
                *amount += more;
            }
        }
        for (name, amount) in &limits {
            if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
                put(&mut counted, eco_format!("limits.{name}"), amount);
            }
        }
        // A pod that has ended still exists as an object, and uses nothing else.
        let mut finished = Amounts::new();
        put(&mut finished, "count/pods", &one);
        Self { amounts: counted, finished, pod: Some(ScopedPod::of(spec)) }
    }

    /// What a claim of a storage class counts.
    pub fn of_claim(claim: &Node) -> Self {
        let one = Quantity::from_integer(1);
        let mut counted = Amounts::new();
        put(&mut counted, "persistentvolumeclaims", &one);
        put(&mut counted, "count/persistentvolumeclaims", &one);
        let class = text(claim.at(&["spec", "storageClassName"]));
        let of_class = |what: &str| eco_format!("{class}.storageclass.storage.k8s.io/{what}");
        if !class.is_empty() {
            put(&mut counted, of_class("persistentvolumeclaims"), &one);
        }
        let mut requests = amounts(claim.at(&["spec", "resources", "requests"]));
        if let Some(storage) = requests.remove("storage") {
            put(&mut counted, "requests.storage", &storage);
            if !class.is_empty() {
                put(&mut counted, of_class("requests.storage"), &storage);
            }
        }
        Self { amounts: counted, ..Self::default() }
    }

    /// What a claim for devices counts: the number that it requests of each class; of alternatives
    /// the greatest.
    pub fn of_devices(requests: &[(EcoString, i64)]) -> Self {
        let mut counted = Amounts::new();
        put(&mut counted, "count/resourceclaims.resource.k8s.io", &Quantity::from_integer(1));
        for (class, count) in requests {
            let name = eco_format!("{class}.deviceclass.resource.k8s.io/devices");
            let count = Quantity::from_integer(*count);
            match counted.get_mut(&name) {
                Some(sum) => *sum += &count,
                None => put(&mut counted, name, &count),
            }
        }
        Self { amounts: counted, ..Self::default() }
    }

    /// What an object counts that is no pod. `kind` is the plural name with the group.
    pub fn of_made(kind: &str, object: &Node) -> Self {
        let mut usage = match kind {
            "persistentvolumeclaims" => Self::of_claim(object),
            _ => Self::of_kind(kind),
        };
        let mut one = |name: &str| put(&mut usage.amounts, name, &Quantity::from_integer(1));
        // pkg/quota/v1/evaluator/core/services.go
        if kind == "services" {
            one("services");
            let spec = object.get("spec");
            let ports = spec.map(|spec| spec.items_of("ports")).unwrap_or_default();
            let stated = ports.iter().filter(|port| port.get("nodePort").is_some()).count();
            let allocated = spec.and_then(|spec| spec.get("allocateLoadBalancerNodePorts"));
            let node_ports = match text(object.at(&["spec", "type"])).as_str() {
                "LoadBalancer" => {
                    one("services.loadbalancers");
                    let all = allocated.and_then(Node::as_bool) != Some(false);
                    if all { ports.len() } else { stated }
                }
                "NodePort" => ports.len(),
                _ => 0,
            };
            if node_ports > 0 {
                let count = Quantity::from_integer(i64::try_from(node_ports).unwrap_or(i64::MAX));
                put(&mut usage.amounts, "services.nodeports", &count);
            }
        }
        usage
    }

    /// What an object counts of which the kind decides alone.
    pub fn of_kind(kind: &str) -> Self {
        let mut usage = Self::of_object(kind);
        // pkg/quota/v1/evaluator/core/registry.go, legacyObjectCountAliases
        if matches!(kind, "configmaps" | "secrets" | "replicationcontrollers" | "resourcequotas") {
            put(&mut usage.amounts, kind, &Quantity::from_integer(1));
        }
        usage
    }

    /// What any other object counts: itself. `kind` is the plural name with the group,
    /// `deployments.apps`.
    pub fn of_object(kind: &str) -> Self {
        let mut counted = Amounts::new();
        put(&mut counted, eco_format!("count/{kind}"), &Quantity::from_integer(1));
        Self { amounts: counted, ..Self::default() }
    }
}

/// Whether some evaluator counts a resource of a quota; others are accepted and never counted.
pub(super) fn is_counted(name: &str) -> bool {
    if let Some(resource) = name.strip_prefix("requests.") {
        return matches!(resource, "cpu" | "memory" | "ephemeral-storage" | "storage")
            || resource.starts_with("hugepages-")
            || !is_native(resource);
    }
    matches!(name, "pods" | "cpu" | "memory" | "ephemeral-storage" | "persistentvolumeclaims")
        || matches!(name, "limits.cpu" | "limits.memory" | "limits.ephemeral-storage")
        || matches!(name, "services" | "services.nodeports" | "services.loadbalancers")
        || matches!(name, "configmaps" | "secrets" | "replicationcontrollers" | "resourcequotas")
        || name.starts_with("hugepages-")
        || name.starts_with("count/")
        || name.contains(".storageclass.storage.k8s.io/")
        || name.ends_with(".deviceclass.resource.k8s.io/devices")
}

impl ScopedPod {
    fn of(spec: &Node) -> Self {
        let pod = Resources::of(spec);
        let all: Vec<Resources> =
            ["containers", "initContainers"].iter().flat_map(|key| containers(spec, key)).collect();
        let counts = |resources: &Resources| {
            let sides = resources.requests.iter().chain(&resources.limits);
            sides.into_iter().any(|(name, amount)| {
                matches!(name.as_str(), "cpu" | "memory") && !amount.is_zero()
            })
        };
        let of_pod = stated(&pod);
        let terms = ["podAffinity", "podAntiAffinity"].iter().flat_map(|kind| {
            let of = |how: &str| spec.at(&["affinity", kind, how]).map(Node::items);
            let required = of("requiredDuringSchedulingIgnoredDuringExecution");
            let preferred = of("preferredDuringSchedulingIgnoredDuringExecution");
            let preferred = preferred.unwrap_or_default().iter();
            let preferred = preferred.filter_map(|one| one.get("podAffinityTerm"));
            required.unwrap_or_default().iter().chain(preferred)
        });
        let across = |term: &Node| {
            !term.items_of("namespaces").is_empty() || term.get("namespaceSelector").is_some()
        };
        Self {
            best_effort: !counts(&pod) && !all.iter().any(counts),
            terminating: spec.get("activeDeadlineSeconds").is_some(),
            priority_class: text(spec.get("priorityClassName")),
            across_namespaces: terms.into_iter().any(across),
            stated: all
                .iter()
                .map(|resources| {
                    let mut names = stated(resources);
                    // What the pod states as a whole counts as stated by each container.
                    names.extend(
                        of_pod
                            .iter()
                            .filter(|name| !names.contains(name))
                            .copied()
                            .collect::<Vec<_>>(),
                    );
                    (resources.name.clone(), names)
                })
                .collect(),
        }
    }
}
