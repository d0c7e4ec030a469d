//! Combines the sightings of one product into a class.
//!
//! In: sightings on all machines. Out: a class per product with the evidence for each value, and
//! findings about differences between machines of one product. Values are combined over all
//! machines: the smallest memory, and the features that all have (OEP-0003, Auto-Discovery Examples
//! and Kueue Integration; docs/decisions.md#discovery). Figures come from data sheets and are never
//! invented.

mod draft;

use super::slices::Slices;
use crate::cluster::sighting::{Mark, Sighting, sightings};
use crate::cluster::{Machine, memory_of_label};
use crate::diag::{Code, Diagnostic};
use crate::exchange::class::{Draft, Evidence};
use crate::facts::{self, Product};
use crate::quantity::{Memory, Range};
use crate::source::Span;
pub(super) use draft::nominal;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a class name, which may be the value of a label.
const LONGEST_NAME: usize = 63;
/// Memory sizes of one product that differ by more than this share are reported: drivers reserve
/// less.
const SPREAD: f64 = 0.02;

/// All sightings of one class.
#[derive(Clone, Debug)]
pub(super) struct Group<'m> {
    /// Name of the class.
    pub(super) name: EcoString,
    /// Sightings by machine; at least one.
    pub(super) sightings: Vec<Sighting<'m>>,
}

/// The name of a class: `VENDOR-word` in lower case, other characters as `-` (OEP-0003,
/// Auto-Discovery Examples; docs/decisions.md#discovery).
pub(super) fn class_name(vendor: &str, word: &str) -> EcoString {
    let mut plain = String::new();
    for c in word.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            plain.push(c);
        // Several other characters in a row become one hyphen.
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    let plain = match plain.trim_matches('-') {
        "" => "unknown",
        plain => plain,
    };
    // Labels such as `NVIDIA-H100-80GB-HBM3` begin with the vendor already.
    let name = if plain.starts_with(&format!("{vendor}-")) {
        plain.to_owned()
    } else {
        format!("{vendor}-{plain}")
    };
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    // Room for a hyphen and six digits. The name is ASCII here, so any byte is a boundary.
    let kept = name[..LONGEST_NAME - 7].trim_end_matches('-');
    eco_format!("{kept}-{:06x}", fnv(&name) & 0x00ff_ffff)
}

/// FNV-1a: the hash keeps names distinct after they are cut.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Name of the class, product, and whether pods request a resource of its own: slices of one profile
/// have one (strategy `mixed`) or stand for the device (`single`), and pods of a class request one
/// resource.
type Key = (EcoString, &'static str, bool);

/// Nodes whose product is known by an id only join the class of the nodes whose labels name the same
/// product, if there is one such class: the device is the same.
fn join_labeled(by_key: &mut BTreeMap<Key, Vec<Sighting<'_>>>) {
    let is_by_id = |(name, id, _): &Key| !id.is_empty() && name == id;
    let is_whole = |all: &[Sighting<'_>]| all.iter().all(|one| one.slice.is_none() && !one.shared);
    let alone: Vec<Key> = by_key.keys().filter(|key| is_by_id(key)).cloned().collect();
    for key in alone {
        let same = |(other, all): &(&Key, &Vec<Sighting<'_>>)| {
            other.1 == key.1 && other.2 == key.2 && !is_by_id(other) && is_whole(all)
        };
        let mut labeled = by_key.iter().filter(same).map(|(other, _)| other.clone());
        // Two labeled classes of one product: nothing tells to which of them the device belongs.
        let (Some(only), None) = (labeled.next(), labeled.next()) else { continue };
        let joined = by_key.remove(&key).unwrap_or_default();
        by_key.entry(only).or_default().extend(joined);
    }
}

/// Groups of all machines, by name; `slices` are the devices of nodes in ResourceSlices.
pub(super) fn groups<'m>(machines: &'m [Machine], slices: &Slices) -> Vec<Group<'m>> {
    let mut by_key: BTreeMap<Key, Vec<Sighting<'m>>> = BTreeMap::new();
    for sighting in machines.iter().flat_map(|node| sightings(node, slices.devices(node))) {
        // A BTreeMap keeps the order of names, whatever order the nodes come in.
        let key = (
            class_name(&sighting.vendor, &sighting.word),
            sighting.product.map_or("", |product| product.id),
            sighting.is_own_resource(),
        );
        by_key.entry(key).or_default().push(sighting);
    }
    join_labeled(&mut by_key);
    let mut uses: BTreeMap<EcoString, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for (name, id, _) in by_key.keys() {
        // Counted before names are given: only a name that is used twice needs a suffix.
        *uses.entry(name.clone()).or_default().entry(id).or_default() += 1;
    }
    let mut groups: Vec<Group<'m>> = by_key
        .into_iter()
        .map(|((name, id, own_resource), sightings)| {
            let products = &uses[&name];
            // Two products with the same name differ in their memory size, or in their device.
            let mut suffix = match (products.len(), facts::by_id(id)) {
                (1, _) => String::new(),
                (_, Some(product)) => format!("-{}gb", product.nominal_gib),
                (_, None) => "-other".into(),
            };
            if own_resource && products[id] > 1 {
                suffix.push_str("-mixed");
            }
            Group { name: eco_format!("{name}{suffix}"), sightings }
        })
        .collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    // A suffix can make a name that another product has already.
    let mut taken = BTreeSet::new();
    for group in &mut groups {
        if !taken.insert(group.name.clone()) {
            group.name = eco_format!(
                "{}-{:06x}",
                group.name,
                fnv(group.product().map_or("", |product| product.id)) & 0x00ff_ffff
            );
        }
    }
    groups
}

impl<'m> Group<'m> {
    /// The product of all its sightings.
    pub(super) fn product(&self) -> Option<&'static Product> {
        self.sightings.first()?.product
    }

    /// Distinct marks, in order.
    pub(super) fn marks(&self) -> BTreeSet<&Mark> {
        self.sightings.iter().map(|sighting| &sighting.mark).collect()
    }

    /// The product name as the machines report it.
    pub(super) fn word(&self) -> &str {
        self.sightings.first().map_or("", |sighting| &sighting.word)
    }

    /// The resource that most of its machines offer.
    pub(super) fn resource(&self) -> Option<&EcoString> {
        let mut counts: BTreeMap<&EcoString, usize> = BTreeMap::new();
        for resource in self.sightings.iter().filter_map(|sighting| sighting.resource.as_ref()) {
            *counts.entry(resource).or_default() += 1;
        }
        // If several are equally common, the first by name.
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name)
    }

    /// Readable sizes of one device by label: the key of the label, its text, the size.
    fn sizes(&self) -> Vec<(&EcoString, &'m str, Memory)> {
        let size = |sighting: &'_ Sighting<'m>| {
            let key = sighting.memory_label.as_ref()?;
            let text = sighting.machine.label(key)?;
            Some((text, memory_of_label(key, text).filter(|memory| memory.0 > 0)?))
        };
        self.sightings
            .iter()
            .filter_map(|sighting| {
                size(sighting).map(|(text, memory)| (sighting.memory_label.as_ref(), text, memory))
            })
            .filter_map(|(key, text, memory)| Some((key?, text, memory)))
            .collect()
    }

    /// Evidence of labels: their keys, distinct values and the number of machines.
    fn labels(&self, keys: &BTreeSet<EcoString>) -> Evidence {
        let values: BTreeSet<EcoString> = self
            .sightings
            .iter()
            .flat_map(|sighting| keys.iter().filter_map(|key| sighting.machine.label(key)))
            .map(EcoString::from)
            .collect();
        // Nodes, not labels: one node has several of the keys.
        let nodes = self
            .sightings
            .iter()
            .filter(|sighting| keys.iter().any(|key| sighting.machine.label(key).is_some()))
            .count();
        Evidence::Label {
            keys: keys.iter().cloned().collect(),
            values: values.into_iter().collect(),
            nodes,
        }
    }

    fn label(&self, key: &str) -> Evidence {
        self.labels(&BTreeSet::from([EcoString::from(key)]))
    }

    /// The evidence for the name of the product.
    fn naming(&self) -> Evidence {
        let keys: BTreeSet<EcoString> = self.marks().into_iter().flat_map(Mark::keys).collect();
        match self.resource() {
            // Where no label names the product, the resource that the node offers is what shows it.
            Some(name) if keys.is_empty() || self.is_unknown() => {
                Evidence::Resource { name: name.clone(), nodes: self.sightings.len() }
            }
            _ => self.labels(&keys),
        }
    }

    /// Whether a resource is the only evidence for it.
    pub(super) fn is_unknown(&self) -> bool {
        self.sightings
            .iter()
            .all(|sighting| sighting.word.starts_with(&*eco_format!("{}-unknown", sighting.vendor)))
    }

    /// The class, with findings about anomalies. With `measured`, memory is the size on labels.
    pub(super) fn draft(&self, measured: bool, found: &mut Vec<Diagnostic>) -> Draft {
        let mut draft = Draft::new(self.name.clone());
        let Some(one) = self.sightings.first() else { return draft };
        // The label makes the class follow its nodes in later runs.
        draft.auto_discovered();
        draft.text(&["spec", "vendor"], one.vendor.clone(), self.naming());
        // Values from labels come before those of data sheets below: the first one stays.
        self.family(&mut draft);
        self.matcher(&mut draft);
        self.memory(&mut draft, measured, found);
        self.compute(&mut draft, found);
        let product = self.product();
        self.features(&mut draft);
        if let Some(product) = product {
            draft.identity(product);
            if one.slice.is_none() {
                draft.datasheet(product);
            } else if !product.compute_capability.is_empty() {
                // The rest of a data sheet is about whole devices.
                draft.text(
                    &["spec", "capabilities", "computeCapability"],
                    product.compute_capability,
                    Evidence::Catalogue(product.id),
                );
            }
        }
        match (self.resource(), product) {
            (Some(name), _) => {
                let nodes = self
                    .sightings
                    .iter()
                    .filter(|sighting| sighting.resource.as_ref() == Some(name))
                    .count();
                draft.resource(name, Evidence::Resource { name: name.clone(), nodes });
            }
            (None, Some(product)) => {
                draft.resource(product.resource, Evidence::Catalogue(product.id));
            }
            (None, None) => {}
        }
        self.remarks(found);
        draft.sort();
        draft
    }

    /// A location for findings about the group: the label that names it, if there is one.
    pub(super) fn any_span(&self) -> Option<Span> {
        let one = self.sightings.first()?;
        let key = one.mark.keys().into_iter().next()?;
        one.machine.labels.get(&key)?.origin.span()
    }

    /// Findings about the product, its device count and its device plugin.
    fn remarks(&self, found: &mut Vec<Diagnostic>) {
        let place = |finding: Diagnostic| finding.at(self.any_span());
        match self.product() {
            None if self.is_unknown() => found.push(place(
                Diagnostic::new(
                    Code::UnknownProduct,
                    format!("{} {} {} and no label names the product", self.some_machines(), if self.sightings.len() == 1 { "offers" } else { "offer" }, self.resource().map_or("a resource", |name| name)),
                )
                .help("run the vendor's labeler (GPU feature discovery, the AMD node labeler, NFD), or write the class by hand"),
            )),
            None => found.push(place(
                Diagnostic::new(Code::UnknownProduct, format!("the product `{}` is unknown: the class has only the facts of its labels", self.word()))
                    .help("state the other capabilities in a class of your own"),
            )),
            Some(_) if self.sightings.iter().any(|sighting| sighting.slice.as_deref() == Some("INVALID")) => found.push(place(
                Diagnostic::new(Code::UnknownProduct, format!("by `{}`, the partitions of the device are not valid: their size is unknown", self.word()))
                    .help("apply a MIG configuration that the strategy allows"),
            )),
            Some(product) if product.dies() > 1 => found.push(place(
                Diagnostic::new(
                    Code::CountedPerDie,
                    format!("one {} is one of the {} dies of a board, with {} GiB", product.resource, product.dies(), product.nominal_gib),
                )
                .help("request twice as many to use whole boards"),
            )),
            Some(_) => {}
        }
        if self.sightings.iter().all(|sighting| sighting.resource.is_none()) {
            found.push(place(
                Diagnostic::new(
                    Code::NoDevicePlugin,
                    format!(
                        "labels of {} name `{}`, and no node offers a resource for it",
                        self.some_machines(),
                        self.word()
                    ),
                )
                .help("install the vendor's device plugin, or load the nodes with their status"),
            ));
        }
        // Partitions have resources of their own, which the label does not count.
        for sighting in self.sightings.iter().filter(|sighting| sighting.slice.is_none()) {
            self.counted(sighting, found);
        }
    }

    /// Compares the driver's count with the number that the node offers: a node with two models has
    /// a label for only one of them.
    fn counted(&self, sighting: &Sighting<'_>, found: &mut Vec<Diagnostic>) {
        const COUNT: &str = "nvidia.com/gpu.count";
        const REPLICAS: &str = "nvidia.com/gpu.replicas";
        let machine = sighting.machine;
        let number = |key: &str| {
            let value = machine.label(key)?.parse().ok()?;
            Range::DEVICES.count(value)
        };
        // Only NVIDIA's labeler counts devices.
        let Some(count) = number(COUNT).filter(|_| sighting.vendor == "nvidia") else { return };
        let Some(offered) = sighting
            .resource
            .as_ref()
            .and_then(|name| machine.capacity.iter().find(|(capacity, _)| capacity == name))
            .and_then(|(_, amount)| amount.value())
        else {
            return;
        };
        // With time slicing a node offers each device several times.
        let replicas = number(REPLICAS).unwrap_or(1).max(1);
        let wanted = count * replicas;
        if wanted == offered {
            return;
        }
        let (labeled, help) = if replicas == 1 {
            (
                format!("{count} devices"),
                "a node with several models is labeled with one of them: give each its own nodes"
                    .to_owned(),
            )
        } else {
            (
                format!("{count} devices x {replicas} replicas = {wanted}"),
                format!(
                    "the device plugin does not share the devices as the label `{REPLICAS}` \
                     states: correct the sharing in its configuration, or the label"
                ),
            )
        };
        let word = self.word();
        let name = &machine.name;
        found.push(
            Diagnostic::new(
                Code::DeviceCountDiffers,
                format!("node `{name}` is labeled with {labeled} of `{word}` and offers {offered}"),
            )
            .at(machine.labels.get(COUNT).and_then(|node| node.origin.span()))
            .help(help),
        );
    }

    fn some_machines(&self) -> String {
        match self.sightings.as_slice() {
            [one] => format!("node `{}`", one.machine.name),
            several => format!("{} nodes", several.len()),
        }
    }
}

#[cfg(test)]
mod tests;
