//! The requests of a pod (`PodRequests` of k8s.io/component-helpers, resource/helpers.go).

use super::fields::{InvalidPod, invalid, items, text};
use super::pod::{Scored, is_extended};
use crate::cluster::admission::resources::pod_level;
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

type Amounts = BTreeMap<EcoString, Quantity>;

/// The processors, in thousandths, that scores assume for a container without a request
/// (pkg/scheduler/util/pod_resources.go).
const DEFAULT_CPU: i64 = 100;
/// The same for memory, in bytes.
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

/// Whether the scheduler counts a resource.
fn is_counted(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage")
        || name.starts_with("hugepages-")
        || name.starts_with("attachable-volumes-")
        || name.contains("kubernetes.io/")
        || is_extended(name)
}

/// Reads `requests` or `limits`.
fn side(of: &Node, side: &str, path: &str) -> Result<Amounts, InvalidPod> {
    let entries = of.at(&["resources", side]).map(Node::entries).into_iter().flatten();
    let amount = |written: &Node, key: &EcoString| {
        Quantity::parse_field(&text(Some(written)))
            .map_err(|error| invalid(eco_format!("{path}.resources.{side}.{key}"), error))
    };
    entries.map(|entry| Ok((entry.key.clone(), amount(&entry.node, &entry.key)?))).collect()
}

/// Reads `requests`, and `limits` where a request is missing.
fn amounts(container: &Node, path: &str) -> Result<Amounts, InvalidPod> {
    let mut requested = side(container, "limits", path)?;
    requested.extend(side(container, "requests", path)?);
    Ok(requested)
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        match sum.get_mut(name) {
            Some(total) => *total += amount,
            None => {
                sum.insert(name.clone(), amount.clone());
            }
        }
    }
}

fn raise(most: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        if most.get(name).is_none_or(|highest| highest < amount) {
            most.insert(name.clone(), amount.clone());
        }
    }
}

/// Containers of a list with their paths.
fn numbered<'n>(spec: &'n Node, key: &'n str) -> impl Iterator<Item = (&'n Node, EcoString)> {
    let list = items(spec, key).iter().enumerate();
    list.map(move |(index, container)| (container, eco_format!("{key}[{index}]")))
}

/// The containers of a pod and their requests.
struct PodRequests {
    containers: Vec<Amounts>,
    /// In order; true for a sidecar.
    init: Vec<(bool, Amounts)>,
    pod: Amounts,
    overhead: Amounts,
}

impl PodRequests {
    fn read(spec: &Node) -> Result<Self, InvalidPod> {
        let mut overhead = Amounts::new();
        for entry in spec.get("overhead").map(Node::entries).into_iter().flatten() {
            let amount = Quantity::parse_field(&text(Some(&entry.node)))
                .map_err(|error| invalid(eco_format!("overhead.{}", entry.key), error))?;
            overhead.insert(entry.key.clone(), amount);
        }
        let mut pod_requests = Self {
            containers: numbered(spec, "containers")
                .map(|(container, path)| amounts(container, &path))
                .collect::<Result<_, _>>()?,
            init: numbered(spec, "initContainers")
                .map(|(container, path)| {
                    let sidecar = text(container.get("restartPolicy")) == "Always";
                    Ok((sidecar, amounts(container, &path)?))
                })
                .collect::<Result<_, InvalidPod>>()?,
            pod: Amounts::new(),
            overhead: Amounts::new(),
        };
        let (limits, requests) = (side(spec, "limits", "spec")?, side(spec, "requests", "spec")?);
        pod_requests.pod = pod_level(limits, requests, &pod_requests.total(&Amounts::new(), false));
        pod_requests.overhead = overhead;
        Ok(pod_requests)
    }

    /// max(containers + sidecars, largest step of the init containers) + overhead. A step is one
    /// init container with the sidecars before it. `missing` is assumed for a container that does
    /// not request a resource.
    fn total(&self, missing: &Amounts, with_pod: bool) -> Amounts {
        let full = |requested: &Amounts| {
            let mut requested = requested.clone();
            for (name, amount) in missing {
                requested.entry(name.clone()).or_insert_with(|| amount.clone());
            }
            requested
        };
        let (mut sum, mut sidecars, mut step) = (Amounts::new(), Amounts::new(), Amounts::new());
        for requested in &self.containers {
            add(&mut sum, &full(requested));
        }
        for (sidecar, requested) in &self.init {
            let requested = full(requested);
            if *sidecar {
                add(&mut sum, &requested);
                add(&mut sidecars, &requested);
                raise(&mut step, &sidecars);
            } else {
                let mut one = requested;
                add(&mut one, &sidecars);
                raise(&mut step, &one);
            }
        }
        raise(&mut sum, &step);
        for (name, amount) in self.pod.iter().filter(|_| with_pod) {
            sum.insert(name.clone(), amount.clone());
        }
        add(&mut sum, &self.overhead);
        sum
    }
}

fn units(name: &str, amount: &Quantity) -> i64 {
    let exact = if name == "cpu" {
        amount.milli().and_then(|milli| milli.try_into().ok())
    } else {
        amount.value()
    };
    exact.unwrap_or(i64::MAX)
}

/// The requests of a pod, and the amounts that `LeastAllocated` counts for it when it is new and
/// when it runs.
pub(super) fn of(spec: &Node) -> Result<(BTreeMap<EcoString, i64>, [Scored; 2]), InvalidPod> {
    let pod_requests = PodRequests::read(spec)?;
    let total = pod_requests.total(&Amounts::new(), true);
    let assumed: Amounts = [
        ("cpu".into(), Quantity::from_milli(DEFAULT_CPU.into())),
        ("memory".into(), Quantity::from_integer(DEFAULT_MEMORY)),
    ]
    .into();
    // With pod-level resources, defaults are assumed only for resources that are not requested
    // (`getNonMissingContainerRequests`).
    let mut missing = assumed.clone();
    missing.retain(|name, _| pod_requests.pod.is_empty() || !total.contains_key(name));
    let scored = |amounts: &Amounts| {
        let of = |name: &str| amounts.get(name).map_or(0, |amount| units(name, amount));
        Scored { cpu: of("cpu"), memory: of("memory") }
    };
    // Of a new pod the scorer assumes defaults for each container; of one that runs it reads what
    // the node cache holds.
    let scored =
        [scored(&pod_requests.total(&assumed, false)), scored(&pod_requests.total(&missing, true))];
    let requests = total
        .iter()
        .filter(|(name, _)| is_counted(name))
        .map(|(name, amount)| (name.clone(), units(name, amount)))
        // A request of 0 fits even on a node without the resource.
        .filter(|(_, amount)| *amount > 0)
        .collect();
    Ok((requests, scored))
}
