//! The accelerators of one node, by its labels and resources.
//!
//! In: a machine. Out: one sighting per kind of accelerator on it. For each vendor, the first of
//! these kinds of evidence decides (docs/decisions.md#node-evidence): the vendor's product label, a
//! device id, labels of a cloud or of Karpenter, the instance type, the products in ResourceSlices,
//! the bare resource.

use crate::cluster::Machine;
use crate::cluster::labels::memory_label;
use crate::cluster::schedule::devices::NodeDevice;
use crate::facts::{self, Product};
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;

const NVIDIA_PRODUCT: &str = "nvidia.com/gpu.product";
const SHARING: &str = "nvidia.com/gpu.sharing-strategy";
const MIG: &str = "nvidia.com/mig-";
/// Labels of AMD that name a product, those of the labeler first; the third is from OEP-0003.
const AMD_PRODUCT: [&str; 4] = [
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "amd.com/gpu.product",
    "gpu.amd.com/model",
];
/// On machines with different devices, the labeler writes the name into the key.
const AMD_SEVERAL: &str = "amd.com/gpu.product-name.";
const AMD_DEVICE: [&str; 2] = ["amd.com/gpu.device-id", "beta.amd.com/gpu.device-id"];
const INTEL_DEVICE: &str = "gpu.intel.com/device-id.";
const PCI: &str = "feature.node.kubernetes.io/pci-";
const KARPENTER_MEMORY: &str = "karpenter.k8s.aws/instance-gpu-memory";
const GKE: &str = "cloud.google.com/gke-accelerator";
const ALIYUN: &str = "aliyun.accelerator/nvidia_name";
const INSTANCE_TYPES: [&str; 2] =
    ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

/// How the nodes of an accelerator are recognized.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Labels, all of them.
    Labels(Vec<(EcoString, EcoString)>),
    /// A label, whatever its value.
    Exists(EcoString),
    /// The name of the machine, if nothing else distinguishes it from others.
    Name(EcoString),
}

impl Mark {
    fn label(key: impl Into<EcoString>, value: impl Into<EcoString>) -> Self {
        Self::Labels(vec![(key.into(), value.into())])
    }

    /// Whether a machine has it.
    pub(crate) fn is_on(&self, machine: &Machine) -> bool {
        match self {
            Self::Labels(labels) => {
                labels.iter().all(|(key, value)| machine.label(key) == Some(value))
            }
            Self::Exists(key) => machine.labels.contains_key(key),
            Self::Name(name) => machine.name == *name,
        }
    }

    /// Keys of its labels.
    pub(crate) fn keys(&self) -> Vec<EcoString> {
        match self {
            Self::Labels(labels) => labels.iter().map(|(key, _)| key.clone()).collect(),
            Self::Exists(key) => vec![key.clone()],
            Self::Name(_) => Vec::new(),
        }
    }
}

/// One kind of accelerator on one machine.
#[derive(Clone, Debug)]
pub(crate) struct Sighting<'m> {
    /// The machine.
    pub(crate) machine: &'m Machine,
    /// Vendor, lower case.
    pub(crate) vendor: EcoString,
    /// Name of the product as labels write it; the class is named after it.
    pub(crate) word: EcoString,
    /// The product, if there are facts about it.
    pub(crate) product: Option<&'static Product>,
    /// How its nodes are recognized.
    pub(crate) mark: Mark,
    /// The MIG profile: a part of a device that counts as a device.
    pub(crate) slice: Option<EcoString>,
    /// Pods share the device by time slicing.
    pub(crate) shared: bool,
    /// The resource that the machine offers; `None` without a device plugin.
    pub(crate) resource: Option<EcoString>,
    /// Key of the label with the memory of one device.
    pub(crate) memory_label: Option<EcoString>,
}

impl<'m> Sighting<'m> {
    /// Whether it is a slice that pods request by a resource of its own.
    pub(crate) fn is_own_resource(&self) -> bool {
        self.slice.is_some() && self.resource.as_ref().is_some_and(|name| name.starts_with(MIG))
    }

    fn new(
        machine: &'m Machine,
        vendor: &str,
        word: impl Into<EcoString>,
        product: Option<&'static Product>,
        mark: Mark,
    ) -> Self {
        let resource = offered(machine)
            .find(|name| facts::vendor_of(name) == vendor && facts::is_device(name));
        Self {
            machine,
            vendor: vendor.into(),
            word: word.into(),
            product,
            mark,
            slice: None,
            shared: false,
            resource: resource.cloned(),
            memory_label: memory_label(machine, vendor).map(EcoString::from),
        }
    }
}

/// Resources that a machine offers at least one of, in order of their names.
fn offered(machine: &Machine) -> impl Iterator<Item = &EcoString> {
    let mut names: Vec<&EcoString> = machine
        .capacity
        .iter()
        .filter(|(_, amount)| !amount.is_zero())
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names.into_iter()
}

/// The value of the first label that exists and is not empty.
fn first<'m>(machine: &'m Machine, keys: &[&'static str]) -> Option<(&'static str, &'m str)> {
    keys.iter().find_map(|key| Some((*key, machine.label(key).filter(|value| !value.is_empty())?)))
}

/// All sightings of a machine, by vendor; `devices` are those of its ResourceSlices.
pub(crate) fn sightings<'m>(machine: &'m Machine, devices: &[NodeDevice]) -> Vec<Sighting<'m>> {
    let mut found = Vec::new();
    product_labels(machine, &mut found);
    let later =
        device_ids(machine).into_iter().chain(cloud_labels(machine)).chain(instance_type(machine));
    for sighting in later.collect::<Vec<_>>() {
        // Stronger evidence of a vendor makes the weaker one void, even if they name different
        // products.
        if !found.iter().any(|other: &Sighting<'_>| other.vendor == sighting.vendor) {
            found.push(sighting);
        }
    }
    in_slices(machine, devices, &mut found);
    bare(machine, &mut found);
    found
}

/// Sightings by the products that drivers of devices publish, if nothing else shows the vendor.
fn in_slices<'m>(machine: &'m Machine, devices: &[NodeDevice], found: &mut Vec<Sighting<'m>>) {
    let name: BTreeSet<EcoString> = found.iter().map(|sighting| sighting.vendor.clone()).collect();
    let kinds: BTreeSet<(&str, &EcoString, Option<&EcoString>)> = devices
        .iter()
        .filter_map(|device| {
            let vendor = facts::vendor_of(&device.driver);
            Some((vendor, device.product.as_ref()?, device.profile.as_ref()))
        })
        .filter(|(vendor, ..)| !name.contains(*vendor))
        .collect();
    for (vendor, name, profile) in kinds {
        let product = facts::by_published(name);
        let word = match profile {
            Some(profile) => eco_format!("{name}-MIG-{profile}"),
            None => name.clone(),
        };
        let sighting = Sighting::new(machine, vendor, word, product, by_host(machine));
        found.push(Sighting { slice: profile.cloned(), ..sighting });
    }
}

/// How a machine without a label of its devices is recognized.
fn by_host(machine: &Machine) -> Mark {
    match machine.label("kubernetes.io/hostname") {
        Some(host) => Mark::label("kubernetes.io/hostname", host),
        None => Mark::Name(machine.name.clone()),
    }
}

/// Splits a product label of NVIDIA into the product, its MIG profile, and whether it is shared.
fn split(label: &str) -> (&str, Option<&str>, bool) {
    let (label, shared) =
        label.strip_suffix("-SHARED").map_or((label, false), |plain| (plain, true));
    match label.split_once("-MIG-") {
        Some((plain, slice)) => (plain, Some(slice), shared),
        None => (label, None, shared),
    }
}

fn product_labels<'m>(machine: &'m Machine, found: &mut Vec<Sighting<'m>>) {
    if let Some((_, label)) = first(machine, &[NVIDIA_PRODUCT]) {
        nvidia(machine, label, found);
    }
    let several = machine
        .labels
        .iter()
        .filter_map(|entry| Some((entry, entry.key.strip_prefix(AMD_SEVERAL)?)))
        .filter(|(_, name)| !name.is_empty());
    if let Some((key, name)) = first(machine, &AMD_PRODUCT) {
        // A device with an unknown name may have a known id.
        let product =
            facts::by_label(name).or_else(|| facts::by_device(first(machine, &AMD_DEVICE)?.1));
        found.push(Sighting::new(machine, "amd", name, product, Mark::label(key, name)));
    } else {
        found.extend(several.map(|(entry, name)| {
            // No label has the memory, or any other value, of a single device.
            Sighting {
                memory_label: None,
                ..Sighting::new(
                    machine,
                    "amd",
                    name,
                    facts::by_label(name),
                    Mark::Exists(entry.key.clone()),
                )
            }
        }));
    }
    for (key, vendor) in
        [("gpu.intel.com/product", "intel"), ("cloud.google.com/gke-tpu-accelerator", "google")]
    {
        if let Some((_, name)) = first(machine, &[key]) {
            found.push(Sighting::new(
                machine,
                vendor,
                name,
                facts::by_label(name),
                Mark::label(key, name),
            ));
        }
    }
}

/// Whole devices, shared devices and each MIG profile are separate classes (OEP-0003, Non-Goals;
/// docs/decisions.md#shared-devices).
fn nvidia<'m>(machine: &'m Machine, label: &'m str, found: &mut Vec<Sighting<'m>>) {
    let (plain, slice, suffixed) = split(label);
    let product = facts::by_label(plain);
    let renamed = offered(machine).any(|name| name == "nvidia.com/gpu.shared");
    let strategy = machine.label(SHARING).filter(|strategy| !matches!(*strategy, "none" | ""));
    let profiles = profiles(machine);
    let devices =
        offered(machine).any(|name| facts::vendor_of(name) == "nvidia" && facts::is_device(name));
    // With MIG of the mixed strategy the product label alone stands for no whole device.
    if devices || profiles.is_empty() {
        let mut marks = vec![(EcoString::from(NVIDIA_PRODUCT), EcoString::from(label))];
        let mut word = EcoString::from(label);
        if let (true, false, Some(strategy)) = (renamed, suffixed, strategy) {
            marks.push((SHARING.into(), strategy.into()));
            word = eco_format!("{label}-SHARED");
        }
        let whole = Sighting::new(machine, "nvidia", word, product, Mark::Labels(marks));
        found.push(Sighting {
            slice: slice.map(EcoString::from),
            shared: suffixed || renamed,
            ..whole
        });
    }
    for profile in profiles {
        let key = |what: &str| eco_format!("{MIG}{profile}.{what}");
        let mark = match machine.label(&key("product")) {
            Some(value) => Mark::label(key("product"), value),
            None if machine.labels.contains_key(&key("count")) => Mark::Exists(key("count")),
            None => Mark::Name(machine.name.clone()),
        };
        let part =
            Sighting::new(machine, "nvidia", eco_format!("{plain}-MIG-{profile}"), product, mark);
        found.push(Sighting {
            resource: offered(machine)
                .find(|name| **name == eco_format!("{MIG}{profile}"))
                .cloned(),
            memory_label: Some(key("memory")).filter(|key| machine.labels.contains_key(key)),
            slice: Some(profile),
            ..part
        });
    }
}

/// MIG profiles of the mixed strategy, by labels and by resources.
fn profiles(machine: &Machine) -> Vec<EcoString> {
    let labels = machine.labels.iter().filter_map(|entry| {
        entry
            .key
            .strip_prefix(MIG)?
            .strip_suffix(".count")
            .or(entry.key.strip_prefix(MIG)?.strip_suffix(".product"))
    });
    let resources = offered(machine).filter_map(|name| name.strip_prefix(MIG));
    let mut profiles: Vec<EcoString> = labels.chain(resources).map(EcoString::from).collect();
    profiles.sort();
    // A profile may be in a label and a resource.
    profiles.dedup();
    profiles
}

/// Sightings by device ids: labels of AMD, of Intel, and of node-feature-discovery.
fn device_ids(machine: &Machine) -> Vec<Sighting<'_>> {
    let mut found = Vec::new();
    let mut take = |vendor: &str, id: &str, mark: Mark| {
        // Ids of two vendors may be equal; the label says which vendor is meant.
        if let Some(product) = facts::by_device(id).filter(|product| product.vendor == vendor) {
            found.push(Sighting::new(machine, vendor, product.id, Some(product), mark));
        }
    };
    if let Some((key, id)) = first(machine, &AMD_DEVICE) {
        take("amd", id, Mark::label(key, id));
    }
    for entry in
        machine.labels.iter().filter(|entry| entry.node.scalar_text().as_deref() == Some("true"))
    {
        let Some(stem) = entry.key.strip_suffix(".present") else { continue };
        let mark = || Mark::label(entry.key.clone(), "true");
        if let Some((_, id)) = stem.strip_prefix(INTEL_DEVICE).and_then(|rest| rest.split_once('-'))
        {
            take("intel", id, mark());
        }
        if let Some(parts) = stem.strip_prefix(PCI) {
            // CLASS_VENDOR_DEVICE, with or without the class.
            let parts: Vec<&str> = parts.split('_').collect();
            if let [.., vendor, device] = parts.as_slice()
                && let Some((_, vendor)) =
                    facts::PCI_VENDORS.iter().find(|(id, _)| id.eq_ignore_ascii_case(vendor))
            {
                take(vendor, device, mark());
            }
        }
    }
    found
}

/// Sightings by labels of Karpenter, GKE and Aliyun.
fn cloud_labels(machine: &Machine) -> Vec<Sighting<'_>> {
    let mut found = Vec::new();
    for (name_key, maker_key) in [
        ("karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-manufacturer"),
        (
            "karpenter.k8s.aws/instance-accelerator-name",
            "karpenter.k8s.aws/instance-accelerator-manufacturer",
        ),
    ] {
        let Some((_, name)) = first(machine, &[name_key]) else { continue };
        let vendor = machine
            .label(maker_key)
            .filter(|maker| !maker.is_empty())
            .unwrap_or(if name_key.contains("gpu") { "nvidia" } else { "aws" });
        let memory = machine.label(KARPENTER_MEMORY);
        let sold = memory
            .and_then(|value| crate::cluster::memory_of_label(KARPENTER_MEMORY, value))
            .map(facts::nominal_of);
        let product = facts::by_model(vendor, name)
            .find(|product| sold.is_none_or(|sold| sold == product.nominal()));
        let mut labels = vec![(EcoString::from(name_key), EcoString::from(name))];
        // One name may be used for two sizes.
        labels.extend(
            memory
                .filter(|_| facts::by_model(vendor, name).count() > 1)
                .map(|memory| (EcoString::from(KARPENTER_MEMORY), EcoString::from(memory))),
        );
        found.push(Sighting::new(
            machine,
            vendor,
            product.map_or(name, |product| product.id),
            product,
            Mark::Labels(labels),
        ));
    }
    if let Some((_, name)) = first(machine, &[GKE]) {
        let product = facts::by_label(name).or_else(|| facts::by_id(name));
        let vendor = product
            .map_or_else(|| name.split('-').next().unwrap_or(name), |product| product.vendor);
        found.push(Sighting::new(machine, vendor, name, product, Mark::label(GKE, name)));
    }
    if let Some((_, name)) = first(machine, &[ALIYUN]) {
        found.push(Sighting::new(
            machine,
            "nvidia",
            name,
            facts::by_label(name),
            Mark::label(ALIYUN, name),
        ));
    }
    found
}

fn instance_type(machine: &Machine) -> Option<Sighting<'_>> {
    let (key, name) = first(machine, &INSTANCE_TYPES)?;
    let product = facts::by_instance(name)?;
    Some(Sighting::new(machine, product.vendor, product.id, Some(product), Mark::label(key, name)))
}

/// Sightings by resources of vendors without any label: the product is unknown.
fn bare<'m>(machine: &'m Machine, found: &mut Vec<Sighting<'m>>) {
    let names: Vec<&EcoString> =
        offered(machine).filter(|name| facts::is_accelerator(name)).collect();
    for name in names {
        let vendor = facts::vendor_of(name);
        let slice = name.strip_prefix(MIG);
        if found.iter().any(|sighting| {
            sighting.vendor == vendor && (slice.is_none() || sighting.slice.as_deref() == slice)
        }) {
            continue;
        }
        let mark = by_host(machine);
        let word = slice.map_or_else(
            || eco_format!("{vendor}-unknown"),
            |slice| eco_format!("{vendor}-unknown-MIG-{slice}"),
        );
        found.push(Sighting {
            slice: slice.map(EcoString::from),
            resource: Some(name.clone()),
            ..Sighting::new(machine, vendor, word, None, mark)
        });
    }
}
