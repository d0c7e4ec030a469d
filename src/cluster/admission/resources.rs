//! Requests and limits of the containers of a pod, as amounts.

use super::text;
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// Amounts by resource.
pub(crate) type Amounts = BTreeMap<EcoString, Quantity>;

/// A mapping of amounts; what is no quantity is left out, because the server refuses it earlier.
pub(crate) fn amounts(map: Option<&Node>) -> Amounts {
    let entries = map.map(Node::entries).into_iter().flatten();
    entries
        .filter_map(|entry| {
            let amount = Quantity::parse_field(&entry.node.scalar_text()?).ok()?;
            Some((entry.key.clone(), amount))
        })
        .collect()
}

pub(crate) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        match sum.get_mut(name) {
            Some(quantity) => *quantity += amount,
            None => _ = sum.insert(name.clone(), amount.clone()),
        }
    }
}

pub(crate) fn raise(most: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        if most.get(name).is_none_or(|quantity| quantity < amount) {
            most.insert(name.clone(), amount.clone());
        }
    }
}

/// Requests and limits of a container or a pod; a limit without a request is the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resources {
    pub(crate) name: EcoString,
    pub(crate) requests: Amounts,
    pub(crate) limits: Amounts,
    /// An init container that runs as long as the pod.
    pub(crate) sidecar: bool,
}

impl Resources {
    pub(crate) fn of(container: &Node) -> Self {
        let side = |key: &str| amounts(container.at(&["resources", key]));
        let (mut requests, limits) = (side("requests"), side("limits"));
        for (name, limit) in &limits {
            requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
        Self {
            name: text(container.get("name")),
            requests,
            limits,
            sidecar: text(container.get("restartPolicy")) == "Always",
        }
    }
}

/// The containers of a list.
pub(crate) fn containers(spec: &Node, key: &str) -> Vec<Resources> {
    spec.items_of(key).iter().map(Resources::of).collect()
}

/// The sum of one side over a pod: containers and sidecars, or the largest step of the init
/// containers (`PodRequests`, `PodLimits` of k8s.io/component-helpers).
pub(crate) fn total(spec: &Node, side: impl Fn(&Resources) -> &Amounts) -> Amounts {
    let (mut sum, mut sidecars, mut step) = (Amounts::new(), Amounts::new(), Amounts::new());
    for resources in containers(spec, "containers") {
        add(&mut sum, side(&resources));
    }
    for resources in containers(spec, "initContainers") {
        if resources.sidecar {
            // A sidecar runs beside the containers and beside the init containers that follow it.
            add(&mut sum, side(&resources));
            add(&mut sidecars, side(&resources));
            raise(&mut step, &sidecars);
        } else {
            let mut one = side(&resources).clone();
            add(&mut one, &sidecars);
            raise(&mut step, &one);
        }
    }
    raise(&mut sum, &step);
    let of_pod = |key: &str| amounts(spec.at(&["resources", key]));
    let requests = pod_level(of_pod("limits"), of_pod("requests"), &sum);
    let pod = Resources { requests, limits: of_pod("limits"), ..Resources::default() };
    // Amounts of the pod replace the sum; they are not added to it.
    for (name, amount) in side(&pod).iter().filter(|(name, _)| is_pod_level(name)) {
        sum.insert(name.clone(), amount.clone());
    }
    sum
}

/// Resources that `spec.resources` of a pod replaces.
fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// The requests of a pod as a whole, by its limits, its requests and the sum of its containers'
/// requests (`SetDefaults_Pod` of pkg/apis/core/v1/defaults.go): a limit is the request only of a
/// resource that no container requests, of others the containers' sum is. The sum of huge pages is
/// a limit of the pod, too.
pub(crate) fn pod_level(
    mut limits: Amounts,
    mut requests: Amounts,
    containers: &Amounts,
) -> Amounts {
    // A pod that states nothing for itself gets no defaults, and the sum of its containers counts.
    if limits.is_empty() && requests.is_empty() {
        return requests;
    }
    for (name, amount) in containers.iter().filter(|(name, _)| name.starts_with("hugepages-")) {
        if !requests.contains_key(name) {
            limits.entry(name.clone()).or_insert_with(|| amount.clone());
        }
    }
    if !limits.is_empty() {
        let shared = |name: &str| matches!(name, "cpu" | "memory");
        let summed = containers.iter().filter(|(name, _)| shared(name));
        for (name, amount) in summed.chain(&limits) {
            requests.entry(name.clone()).or_insert_with(|| amount.clone());
        }
    }
    requests.retain(|name, _| is_pod_level(name));
    requests
}

/// Checks that no request is above its limit (`ValidateContainerResourceRequirements`).
///
/// # Errors
/// The server's words.
pub(super) fn checked(spec: &Node) -> Result<(), EcoString> {
    let mut wrong: Vec<EcoString> = Vec::new();
    for key in ["containers", "initContainers"] {
        for (at, resources) in containers(spec, key).iter().enumerate() {
            for (name, request) in &resources.requests {
                let Some(limit) = resources.limits.get(name).filter(|limit| *limit < request)
                else {
                    continue;
                };
                wrong.push(eco_format!(
                    "spec.{key}[{at}].resources.requests: Invalid value: \"{}\": must be less \
                     than or equal to {name} limit of {}",
                    request.canonical(),
                    limit.canonical()
                ));
            }
        }
    }
    match wrong.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        all => Err(eco_format!("[{}]", all.join(", "))),
    }
}
