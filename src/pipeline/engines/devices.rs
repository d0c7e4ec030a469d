//! The devices of a container: how many, of which resource, and the memory of one.
//!
//! In: a built pod, the nodes that were read, and what drivers publish in ResourceSlices. Out: the
//! memory of the nodes that the pod can land on by its selectors, shares and MIG profiles included,
//! else that of the product that a selector names. Room, taints and cordons do not count: they
//! change.

use crate::cluster::labels::is_measured;
use crate::cluster::schedule::devices::{Asked, NodeDevice, Published};
use crate::cluster::sighting::{Sighting, sightings};
use crate::cluster::{Machine, affinity_matches, memory_of_label, selector_mismatch};
use crate::facts;
use crate::pods::gpus;
use crate::quantity::{GIB, Memory, is_accelerator};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// Memory of one device, with its source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeviceMemory {
    /// The least and the most of the nodes.
    pub(super) least: Memory,
    pub(super) most: Memory,
    /// Its source as text.
    pub(super) from: EcoString,
    /// The driver reports it; otherwise it is nominal.
    pub(super) is_measured: bool,
}

/// How the nodes share a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// By time.
    TimeSlicing,
    /// By the Multi-Process Service.
    Mps,
}

/// The nodes that a pod can land on, as far as they are alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Nodes {
    /// Nodes that have the resource and match the selectors.
    pub(super) count: usize,
    /// Memory of one device or share.
    pub(super) memory: Option<DeviceMemory>,
    /// The product, when all have one.
    pub(super) product: EcoString,
    /// How all of them share devices, and the shares of one device.
    pub(super) sharing: Option<(Sharing, i64)>,
}

/// The devices that a container requests.
#[derive(Clone, Debug)]
pub(super) struct Devices {
    /// The resource.
    pub(super) resource: EcoString,
    /// How many.
    pub(super) count: i64,
    /// Where the number was written.
    pub(super) origin: Origin,
    /// What a claim asks for, for devices without a resource; `resource` is their class then.
    pub(super) request: Option<Asked>,
}

impl Devices {
    /// One rank uses one of them, if they are of this `product`. A Neuron device has several cores, and
    /// each is a rank (AWS Neuron docs, Logical NeuronCore configuration). A chip of TPU7x is two devices
    /// to JAX and one of v5e, v5p and v6e is one (Google Cloud docs, TPU7x), so that the generation counts.
    pub(super) fn is_one_rank(&self, product: &str) -> bool {
        let product = facts::by_label(product);
        let is_of = |family: &str| product.is_some_and(|product| product.family == family);
        if self.resource.starts_with("aws.amazon.com/")
            || self.resource.starts_with("neuron.")
            || is_of("neuron")
        {
            return false;
        }
        let is_tpu = self.resource == "google.com/tpu" || self.resource.starts_with("tpu.");
        !is_tpu || is_of("tpu")
    }

    /// Whether each is a slice of a device with memory of its own.
    pub(super) fn is_slice(&self) -> bool {
        self.resource.contains("/mig-") || self.resource.starts_with("mig.")
    }
}

/// The devices of a container by resource; nothing where an amount is no number of devices.
pub(super) fn of_container(container: &Node) -> Vec<Devices> {
    let mut found: Vec<Devices> = Vec::new();
    let Some(resources) = container.get("resources") else { return found };
    // Limits first: their place is the one that is shown for a number that both sides set.
    for side in ["limits", "requests"] {
        for entry in resources.get(side).map(Node::entries).into_iter().flatten() {
            if !is_accelerator(&entry.key)
                || found.iter().any(|devices| devices.resource == entry.key)
            {
                continue;
            }
            // 0 devices are none: a chart may leave the resource in with 0.
            if let Some(count @ 1..) = gpus::of_container(container, |name| name == entry.key) {
                let origin = entry.node.origin;
                let resource = entry.key.clone();
                found.push(Devices { resource, count, origin, request: None });
            }
        }
    }
    found
}

const REPLICAS: &str = "nvidia.com/gpu.replicas";
const STRATEGY: &str = "nvidia.com/gpu.sharing-strategy";

/// The devices that the claims of a container ask for; `claim` finds the spec of a claim of the pod.
pub(super) fn of_claims<'c>(
    container: &Node,
    claim: impl Fn(&str) -> Option<&'c Node>,
    published: &Published,
) -> Vec<Devices> {
    let mut found: Vec<Devices> = Vec::new();
    for claims in container.at(&["resources", "claims"]).map(Node::items).into_iter().flatten() {
        let text = |key: &str| claims.get(key).and_then(Node::as_str);
        let spec = text("name").and_then(&claim);
        let Some(requested) = spec.and_then(|spec| published.requests_of(spec, text("request")))
        else {
            // What it asks for is not known, so neither is the sum.
            return Vec::new();
        };
        for requested in
            requested.into_iter().filter(|requested| published.is_accelerator(&requested.class))
        {
            found.push(Devices {
                resource: requested.class.clone(),
                count: requested.count,
                origin: claims.origin,
                request: Some(requested),
            });
        }
    }
    found
}

/// The nodes that a pod with these selectors and devices can land on; where none has as many
/// devices, those with any.
pub(super) fn nodes(
    pod: &Node,
    devices: &Devices,
    machines: &[Machine],
    published: &Published,
) -> Nodes {
    let resource = devices.resource.as_str();
    let selector = pod.get("nodeSelector").filter(|selector| !selector.is_empty());
    let affinity = pod.get("affinity").filter(|affinity| !affinity.is_empty());
    let taken = |machine: &Machine| -> Vec<&NodeDevice> {
        let Some(requested) = &devices.request else { return Vec::new() };
        let devices = published.of(&machine.name).iter();
        devices.filter(|device| requested.takes(device) == Some(true)).collect()
    };
    let offers = |machine: &Machine, least: i64| {
        let offered = match &devices.request {
            Some(_) => i64::try_from(taken(machine).len()).unwrap_or(i64::MAX),
            None => machine.allocatable(resource).unwrap_or(0),
        };
        offered >= least
            && selector.is_none_or(|selector| selector_mismatch(selector, machine).is_none())
            && affinity.is_none_or(|affinity| affinity_matches(affinity, machine))
    };
    // A node with too few devices says still what one of them is, so that memory is judged.
    let has_enough = machines.iter().any(|machine| offers(machine, devices.count));
    let least = if has_enough { devices.count } else { 1 };
    let mut out = Nodes::default();
    let mut sharing: Option<Option<(Sharing, i64)>> = None;
    let mut product: Option<EcoString> = None;
    let (mut is_known, mut is_measured) = (true, true);
    for machine in machines.iter().filter(|machine| offers(machine, least)) {
        out.count += 1;
        let shares = shares(machine, resource);
        // Nodes that share in different ways are no common answer.
        if sharing.is_some_and(|sharing| sharing != shares) {
            sharing = Some(None);
        } else {
            sharing = Some(shares);
        }
        let device = match &devices.request {
            Some(_) => Device::of_published(&taken(machine)),
            None => Device::of_resource(machine, resource, published.of(&machine.name)),
        };
        let name = device.name.unwrap_or_default();
        product = Some(match product {
            Some(product) if product != name => EcoString::new(),
            _ => name,
        });
        let Some((memory, measured)) = device.memory else {
            is_known = false;
            continue;
        };
        is_measured &= measured;
        // Shares of a device have no memory of their own: each gets an equal part at best.
        let shares = shares.map_or(1, |(_, shares)| shares.unsigned_abs().max(1));
        let memory = Memory(memory.0 / shares);
        let from = || {
            if shares > 1 {
                eco_format!("1 of {shares} shares of a device of {}", machine.name)
            } else {
                eco_format!("node {}", machine.name)
            }
        };
        out.memory = Some(match out.memory.take() {
            Some(device_memory) => DeviceMemory {
                least: device_memory.least.min(memory),
                most: device_memory.most.max(memory),
                // The node that has the least, which is the one that is shown.
                from: if memory < device_memory.least { from() } else { device_memory.from },
                is_measured: true,
            },
            None => DeviceMemory { least: memory, most: memory, from: from(), is_measured: true },
        });
    }
    // Of a node without a number nothing is known, so nothing is known of the most.
    if !is_known {
        out.memory = None;
    }
    if let Some(memory) = &mut out.memory {
        memory.is_measured = is_measured;
    }
    out.sharing = sharing.flatten();
    out.product = product.unwrap_or_default();
    if out.count == 0 {
        out.memory = of_selectors(pod, resource);
        out.product = selected_product(pod).map(EcoString::from).unwrap_or_default();
    }
    out
}

fn shares(machine: &Machine, resource: &str) -> Option<(Sharing, i64)> {
    // The device plugin splits whole devices alone; a MIG slice has its own resource.
    if !matches!(resource, "nvidia.com/gpu" | "nvidia.com/gpu.shared") {
        return None;
    }
    let replicas = machine.label(REPLICAS)?.parse().ok().filter(|replicas| *replicas > 1)?;
    match machine.label(STRATEGY) {
        Some("mps") => Some((Sharing::Mps, replicas)),
        Some("none") => None,
        _ => Some((Sharing::TimeSlicing, replicas)),
    }
}

/// One device of a node.
#[derive(Default)]
struct Device {
    /// The product.
    name: Option<EcoString>,
    /// Its memory, and whether the driver reports it.
    memory: Option<(Memory, bool)>,
}

impl Device {
    /// The device that a resource of a node stands for: by its labels, else by what its driver
    /// publishes, else by its product.
    fn of_resource(machine: &Machine, resource: &str, published: &[NodeDevice]) -> Self {
        let vendor = facts::vendor_of(resource);
        let profile = resource.strip_prefix("nvidia.com/mig-");
        let seen: Vec<Sighting<'_>> = sightings(machine, published)
            .into_iter()
            .filter(|sighting| sighting.vendor == vendor)
            .filter(|sighting| match profile {
                Some(_) => sighting.slice.as_deref() == profile,
                None => !sighting.is_own_resource(),
            })
            .collect();
        // Two products on one node: which of them a pod gets is not known.
        let [one] = seen.as_slice() else { return Self::default() };
        let label = one.memory_label.as_ref();
        let labeled = label
            .and_then(|key| Some((memory_of_label(key, machine.label(key)?)?, is_measured(key))));
        // A node whose devices are all split alike offers the slices as whole devices.
        let profile = one.slice.as_deref();
        let is_of_class = |is_of_class: &&NodeDevice| {
            facts::vendor_of(&is_of_class.driver) == vendor
                && is_of_class.profile.as_deref() == profile
        };
        let devices: Vec<&NodeDevice> = published.iter().filter(is_of_class).collect();
        let nominal = || match profile {
            Some(profile) => of_profile(profile),
            None => Some(one.product?.nominal()),
        };
        Self {
            name: Some(one.word.clone()),
            memory: labeled
                .or_else(|| Self::of_published(&devices).memory)
                .or_else(|| Some((nominal()?, false))),
        }
    }

    /// The device that several of one node are like; of sizes that differ nothing is known.
    fn of_published(devices: &[&NodeDevice]) -> Self {
        let memory = |device: &NodeDevice| match device.memory {
            Some(memory) => Some((memory, true)),
            None => match &device.profile {
                Some(profile) => Some((of_profile(profile)?, false)),
                None => Some((facts::by_published(device.product.as_ref()?)?.nominal(), false)),
            },
        };
        let alike = |sizes: &[Option<(Memory, bool)>]| match sizes {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => *first,
            _ => None,
        };
        let all: Vec<Option<(Memory, bool)>> =
            devices.iter().map(|device| memory(device)).collect();
        let name = devices.first().and_then(|device| device.product.clone());
        let is_one = devices.iter().all(|device| device.product == name);
        Self { name: name.filter(|_| is_one), memory: alike(&all) }
    }
}

/// `3g.40gb` has 40 GB.
fn of_profile(profile: &str) -> Option<Memory> {
    let (_, rest) = profile.split_once('.')?;
    let gigabytes: u64 = rest.split("gb").next()?.parse().ok()?;
    Some(Memory(gigabytes.checked_mul(1_000_000_000)?))
}

/// The product that the selectors of a pod name.
fn selected_product(pod: &Node) -> Option<&str> {
    let selector = pod.get("nodeSelector")?;
    facts::PRODUCT_LABELS.iter().find_map(|key| selector.get(key)?.as_str())
}

/// Memory of the product that the selectors of a pod name, or of the MIG profile.
fn of_selectors(pod: &Node, resource: &str) -> Option<DeviceMemory> {
    let nominal = |memory: Memory, from: EcoString| DeviceMemory {
        least: memory,
        most: memory,
        from,
        is_measured: false,
    };
    if let Some(slice) = resource.strip_prefix("nvidia.com/mig-") {
        return Some(nominal(of_profile(slice)?, resource.into()));
    }
    let label = selected_product(pod)?;
    // How a device is shared is not known without its node.
    if label.ends_with("-SHARED") || label.contains("-MIG-") {
        return None;
    }
    let product = facts::by_label(label)?;
    Some(nominal(product.nominal(), label.into()))
}

/// GiB with a fraction.
#[expect(clippy::cast_precision_loss, reason = "shown and estimated with")]
pub(super) fn gib(bytes: u64) -> f64 {
    bytes as f64 / GIB as f64
}
