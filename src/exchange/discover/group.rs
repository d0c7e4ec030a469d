//! Sightings of one product become a class.
//!
//! In: sightings on all machines. Out: a class per product with the evidence for each value, and
//! findings about what machines of one product disagree on. Values are combined over all machines:
//! the smallest memory, what all can do (OEP-0003, Auto-Discovery Examples and Kueue Integration;
//! docs/decisions.md#discovery); figures come from data sheets and are never invented.

use super::sighting::{Mark, Sighting, sightings};
use crate::cluster::{Machine, labelled_compute, memory_of_label};
use crate::diag::{Code, Diagnostic};
use crate::exchange::class::{Draft, Evidence};
use crate::facts::{self, Product};
use crate::quantity::{Memory, Range};
use crate::source::Span;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Longest name of a class; it may be the value of a label.
const LONGEST_NAME: usize = 63;
/// Sizes of one product that differ by more are worth a look: drivers reserve less.
const SPREAD: f64 = 0.02;

/// All sightings that one class is made of.
#[derive(Clone, Debug)]
pub(super) struct Group<'m> {
    /// Name of the class.
    pub(super) name: EcoString,
    /// At least one, by machine.
    pub(super) sightings: Vec<Sighting<'m>>,
}

/// The name of a class: `VENDOR-word` in lower case, other characters as `-` (OEP-0003,
/// Auto-Discovery Examples; docs/decisions.md#discovery).
pub(super) fn class_name(vendor: &str, word: &str) -> EcoString {
    let mut plain = String::new();
    for c in word.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            plain.push(c);
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    let plain = match plain.trim_matches('-') {
        "" => "unknown",
        plain => plain,
    };
    let name = if plain.starts_with(&format!("{vendor}-")) {
        plain.to_owned()
    } else {
        format!("{vendor}-{plain}")
    };
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    let kept = name[..LONGEST_NAME - 7].trim_end_matches('-');
    eco_format!("{kept}-{:06x}", fnv(&name) & 0x00ff_ffff)
}

/// FNV-1a: what is cut off a name still tells it from others.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Groups of all machines, by name.
pub(super) fn groups(machines: &[Machine]) -> Vec<Group<'_>> {
    let mut by_key: BTreeMap<(EcoString, &'static str), Vec<Sighting<'_>>> = BTreeMap::new();
    for sighting in machines.iter().flat_map(sightings) {
        let key = (
            class_name(&sighting.vendor, &sighting.word),
            sighting.product.map_or("", |product| product.id),
        );
        by_key.entry(key).or_default().push(sighting);
    }
    let mut uses: BTreeMap<EcoString, usize> = BTreeMap::new();
    for (name, _) in by_key.keys() {
        *uses.entry(name.clone()).or_default() += 1;
    }
    let mut groups: Vec<Group<'_>> = by_key
        .into_iter()
        .map(|((name, id), sightings)| {
            // Two products of one name are told apart by their size, or by what they are.
            let suffix = match (uses[&name], facts::by_id(id)) {
                (1, _) => String::new(),
                (_, Some(product)) => format!("-{}gb", product.nominal_gib),
                (_, None) => "-other".into(),
            };
            Group { name: eco_format!("{name}{suffix}"), sightings }
        })
        .collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
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

    /// How the product is written on the machines.
    pub(super) fn word(&self) -> &str {
        self.sightings.first().map_or("", |sighting| &sighting.word)
    }

    /// The resource that most of its machines offer.
    pub(super) fn resource(&self) -> Option<&EcoString> {
        let mut counts: BTreeMap<&EcoString, usize> = BTreeMap::new();
        for resource in self.sightings.iter().filter_map(|sighting| sighting.resource.as_ref()) {
            *counts.entry(resource).or_default() += 1;
        }
        // Of several the first by name.
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(name, _)| name)
    }

    /// Sizes of one device by label, those that can be read: the label's key, its text, the size.
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

    /// What names the product, as evidence.
    fn naming(&self) -> Evidence {
        let keys: BTreeSet<EcoString> = self.marks().into_iter().flat_map(Mark::keys).collect();
        match self.resource() {
            Some(name) if keys.is_empty() || self.is_unknown() => {
                Evidence::Resource { name: name.clone(), nodes: self.sightings.len() }
            }
            _ => self.labels(&keys),
        }
    }

    /// Whether nothing but a resource speaks of it.
    pub(super) fn is_unknown(&self) -> bool {
        self.sightings
            .iter()
            .all(|sighting| sighting.word.starts_with(&*eco_format!("{}-unknown", sighting.vendor)))
    }

    /// The class, and what is strange about it. `measured` writes memory as labels say it.
    pub(super) fn draft(&self, measured: bool, found: &mut Vec<Diagnostic>) -> Draft {
        let mut draft = Draft::new(self.name.clone());
        let Some(one) = self.sightings.first() else { return draft };
        draft.auto_discovered();
        draft.text(&["spec", "vendor"], one.vendor.clone(), self.naming());
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
                // The rest of a sheet is about whole devices.
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

    /// The family as the driver says it; a version it does not know is `undefined`.
    fn family(&self, draft: &mut Draft) {
        const FAMILY: &str = "nvidia.com/gpu.family";
        let families: BTreeSet<&str> = self
            .sightings
            .iter()
            .filter(|sighting| sighting.vendor == "nvidia")
            .filter_map(|sighting| sighting.machine.label(FAMILY))
            .collect();
        if let Some(family) = families
            .first()
            .filter(|family| families.len() == 1 && !matches!(**family, "undefined" | ""))
        {
            draft.text(&["spec", "family"], *family, self.label(FAMILY));
        }
    }

    /// One mark is a selector, several values of one label are one list, the rest are alternatives.
    fn matcher(&self, draft: &mut Draft) {
        let marks = self.marks();
        let evidence = self.naming();
        if let (1, Some(Mark::Labels(labels))) = (marks.len(), marks.first()) {
            draft.labels(&["spec", "discovery", "nodeSelector"], labels, evidence);
            return;
        }
        let mut lists: BTreeMap<&EcoString, Vec<&str>> = BTreeMap::new();
        let mut terms = Vec::new();
        for mark in marks {
            match mark {
                Mark::Labels(labels) if labels.len() == 1 => lists.entry(&labels[0].0).or_default().push(&labels[0].1),
                Mark::Labels(labels) => {
                    let all: Vec<_> =
                        labels.iter().map(|(key, value)| serde_json::json!({"key": key.as_str(), "operator": "In", "values": [value.as_str()]})).collect();
                    terms.push(serde_json::json!({"matchExpressions": all}));
                }
                Mark::Exists(key) => terms.push(serde_json::json!({"matchExpressions": [{"key": key.as_str(), "operator": "Exists"}]})),
                Mark::Name(name) => terms.push(serde_json::json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name.as_str()]}]})),
            }
        }
        let lists = lists.into_iter().map(|(key, values)| serde_json::json!({"matchExpressions": [{"key": key.as_str(), "operator": "In", "values": values}]}));
        let terms: serde_json::Value = lists.chain(terms).collect();
        draft.say(
            &["spec", "discovery", "nodeSelectorTerms"],
            Node::from_json(&terms, Origin::Derived(&crate::exchange::class::PROPOSED)),
            evidence,
        );
    }

    /// The smallest size, as sold or as measured; a MIG profile without a label says its own.
    fn memory(&self, draft: &mut Draft, measured: bool, found: &mut Vec<Diagnostic>) {
        const MEMORY: [&str; 3] = ["spec", "capabilities", "memoryGB"];
        let sizes = self.sizes();
        let whole = self
            .product()
            .filter(|_| self.sightings.iter().all(|sighting| sighting.slice.is_none()));
        if let Some((key, text, least)) = sizes.iter().min_by_key(|(_, _, size)| *size) {
            let most = sizes.iter().map(|(_, _, size)| *size).max().unwrap_or(*least);
            if most.gib() - least.gib() > most.gib() * SPREAD {
                let finding = Diagnostic::new(
                    Code::NodesDiffer,
                    format!(
                        "nodes of `{}` report {least} to {most} of memory for one device; the least counts",
                        self.word()
                    ),
                );
                found.push(finding.at(self.value_span(key, text)).help(
                    "label unlike devices with unlike products, or check the driver of the nodes",
                ));
            }
            let value = if measured { *least } else { nominal(whole, *least) };
            let keys = self
                .sightings
                .iter()
                .filter_map(|sighting| sighting.memory_label.clone())
                .collect();
            draft.text(&MEMORY, eco_format!("{value}"), self.labels(&keys));
        } else if let Some(slice) =
            self.sightings.first().and_then(|sighting| sighting.slice.as_ref())
        {
            let gib = slice
                .rsplit_once('.')
                .and_then(|(_, size)| size.strip_suffix("gb"))
                .and_then(|size| size.parse::<u64>().ok());
            if let Some(memory) = gib.and_then(Memory::from_gib) {
                draft.text(&MEMORY, eco_format!("{memory}"), self.naming());
            }
        }
        for sighting in &self.sightings {
            let Some((key, text)) = sighting
                .memory_label
                .as_ref()
                .and_then(|key| Some((key, sighting.machine.label(key)?)))
            else {
                continue;
            };
            let span = sighting.machine.labels.get(key).and_then(|node| node.origin.span());
            // What holds no amount at all was reported when the node was read.
            let Some(memory) = memory_of_label(key, text).filter(|memory| memory.0 > 0) else {
                continue;
            };
            if text.parse::<u64>().is_err()
                && !key.contains("amd.com/")
                && !key.starts_with("aliyun")
            {
                found.push(
                    Diagnostic::new(
                        Code::UnreadableLabel,
                        format!("`{key}: {text}` has a unit and was read as {memory}"),
                    )
                    .at(span)
                    .help(format!("write `{}`: the label counts MiB", memory.0 >> 20)),
                );
            }
        }
    }

    fn value_span(&self, key: &str, text: &str) -> Option<Span> {
        let labelled =
            self.sightings.iter().find(|sighting| sighting.machine.label(key) == Some(text))?;
        labelled.machine.labels.get(key)?.origin.span()
    }

    /// The lowest compute capability that machines report.
    fn compute(&self, draft: &mut Draft, found: &mut Vec<Diagnostic>) {
        let nvidia = self.sightings.iter().filter(|sighting| sighting.vendor == "nvidia");
        let mut versions: Vec<(Vec<u32>, EcoString)> = nvidia
            .filter_map(|sighting| labelled_compute(sighting.machine))
            .filter_map(|text| Some((tuple(&text)?, text)))
            .collect();
        versions.sort();
        versions.dedup();
        let (Some((_, least)), Some((_, most))) = (versions.first(), versions.last()) else {
            return;
        };
        let keys = [
            "nvidia.com/gpu.compute.major",
            "nvidia.com/gpu.compute.minor",
            "nvidia.com/gpu.compute",
        ];
        let keys = keys
            .into_iter()
            .filter(|key| {
                self.sightings.iter().any(|sighting| sighting.machine.label(key).is_some())
            })
            .map(EcoString::from)
            .collect();
        if least != most {
            found.push(
                Diagnostic::new(Code::NodesDiffer, format!("nodes of `{}` report compute capability {least} to {most}; the least counts", self.word()))
                    .at(self.any_span())
                    .help("one product has one: check the labels of the nodes"),
            );
        }
        let nodes = self
            .sightings
            .iter()
            .filter(|sighting| labelled_compute(sighting.machine).is_some())
            .count();
        let evidence = Evidence::Label {
            keys,
            values: versions.iter().map(|(_, text)| text.clone()).collect(),
            nodes,
        };
        draft.text(&["spec", "capabilities", "computeCapability"], least.clone(), evidence);
    }

    /// What all machines can do, each feature with its evidence (OEP-0003, Kueue Integration;
    /// docs/decisions.md#discovery).
    fn features(&self, draft: &mut Draft) {
        const LINK: &str = "nvidia.com/nvlink";
        const CLIQUE: &str = "nvidia.com/gpu.clique";
        const CAPABLE: &str = "nvidia.com/mig.capable";
        let product = self.product();
        let mut features: Vec<(EcoString, Evidence)> = Vec::new();
        // What labels decide is left to them: partitions are switched on and off, links may be
        // missing.
        let by_label = |feature: &str| feature == "mig" || feature.starts_with("nvlink");
        let version = draft
            .fact(&["spec", "capabilities", "computeCapability"])
            .and_then(|fact| tuple(fact.value.as_str()?));
        match (product, version) {
            (Some(product), _) => {
                features.extend(
                    product.features.iter().filter(|feature| !by_label(feature)).map(|feature| {
                        (EcoString::from(*feature), Evidence::Catalogue(product.id))
                    }),
                );
            }
            (None, Some(version)) => {
                let since: [(&str, &[u32]); 4] = [
                    ("tensor-cores", &[7, 0]),
                    ("fp8", &[8, 9]),
                    ("transformer-engine", &[9, 0]),
                    ("fp4", &[10, 0]),
                ];
                let reached = since.into_iter().filter(|(_, since)| version.as_slice() >= *since);
                features.extend(reached.map(|(feature, _)| {
                    (
                        EcoString::from(feature),
                        Evidence::Follows("spec.capabilities.computeCapability".into()),
                    )
                }));
            }
            (None, None) => {}
        }
        let nvidia = self.sightings.first().is_some_and(|sighting| sighting.vendor == "nvidia");
        let slice = self.sightings.first().and_then(|sighting| sighting.slice.as_ref());
        let on_all = |key: &str, is: fn(&str) -> bool| {
            nvidia
                && self.sightings.iter().all(|sighting| sighting.machine.label(key).is_some_and(is))
        };
        if slice.is_none() {
            let linked = product.filter(|product| {
                product.features.iter().any(|feature| feature.starts_with("nvlink"))
            });
            let denied = self
                .sightings
                .iter()
                .any(|sighting| sighting.machine.label(LINK).is_some_and(|value| value != "true"));
            if on_all(LINK, |value| value == "true") {
                features.push(("nvlink".into(), self.label(LINK)));
            } else if on_all(CLIQUE, |value| !value.is_empty()) {
                features.push(("nvlink".into(), self.label(CLIQUE)));
            } else if let (Some(product), false) = (linked, denied) {
                features.push(("nvlink".into(), Evidence::Catalogue(product.id)));
            }
            if on_all(CAPABLE, |value| value == "true") {
                features.push(("mig".into(), self.label(CAPABLE)));
            }
        }
        if let Some(slice) = slice.filter(|slice| *slice != "INVALID") {
            features.push((eco_format!("mig-{slice}"), self.naming()));
        }
        if self.sightings.iter().any(|sighting| sighting.shared) {
            features.push(("time-sliced".into(), self.naming()));
        }
        if !features.is_empty() {
            let names: Vec<EcoString> = features.iter().map(|(name, _)| name.clone()).collect();
            draft.texts(&["spec", "capabilities", "features"], &names, Evidence::Each(features));
        }
    }

    /// A place for findings about the group: the label that names it, else nothing.
    pub(super) fn any_span(&self) -> Option<Span> {
        let one = self.sightings.first()?;
        let key = one.mark.keys().into_iter().next()?;
        one.machine.labels.get(&key)?.origin.span()
    }

    /// What is strange about the product, its counting, its device plugin.
    fn remarks(&self, found: &mut Vec<Diagnostic>) {
        let place = |finding: Diagnostic| finding.at(self.any_span());
        match self.product() {
            None if self.is_unknown() => found.push(place(
                Diagnostic::new(
                    Code::UnknownProduct,
                    format!("{} offers {} and no label says which product it is", self.some_machines(), self.resource().map_or("a resource", |name| name)),
                )
                .help("run the vendor's labeller (GPU feature discovery, the AMD node labeller, NFD), or write the class by hand"),
            )),
            None => found.push(place(
                Diagnostic::new(Code::UnknownProduct, format!("nothing is known about the product `{}`: the class has what labels say", self.word()))
                    .help("state the other capabilities in a class of your own"),
            )),
            Some(_) if self.sightings.iter().any(|sighting| sighting.slice.as_deref() == Some("INVALID")) => found.push(place(
                Diagnostic::new(Code::UnknownProduct, format!("`{}` says that the partitions of the device are not valid: their size is unknown", self.word()))
                    .help("apply a MIG configuration that the strategy allows"),
            )),
            Some(product) if product.dies() > 1 => found.push(place(
                Diagnostic::new(
                    Code::CountedPerDie,
                    format!("one {} is one of the {} dies of a board, with {} GiB", product.resource, product.dies(), product.nominal_gib),
                )
                .help("ask for twice as many to use whole boards"),
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
        for sighting in self.sightings.iter().filter(|sighting| sighting.slice.is_none()) {
            self.counted(sighting, found);
        }
    }

    /// The driver's count against what the node offers: a node with two models is labelled with one
    /// of them.
    fn counted(&self, sighting: &Sighting<'_>, found: &mut Vec<Diagnostic>) {
        const COUNT: &str = "nvidia.com/gpu.count";
        let machine = sighting.machine;
        let number = |key: &str| {
            let value = machine.label(key)?.parse().ok()?;
            Range::DEVICES.count(value)
        };
        let Some(count) = number(COUNT).filter(|_| sighting.vendor == "nvidia") else { return };
        let Some(offered) = sighting
            .resource
            .as_ref()
            .and_then(|name| machine.capacity.iter().find(|(own, _)| own == name))
            .and_then(|(_, amount)| amount.value())
        else {
            return;
        };
        let wanted = count * number("nvidia.com/gpu.replicas").unwrap_or(1).max(1);
        if wanted != offered {
            found.push(
                Diagnostic::new(
                    Code::DeviceCountDiffers,
                    format!("node `{}` is labelled with {count} devices of `{}` and offers {offered}", machine.name, self.word()),
                )
                .at(machine.labels.get(COUNT).and_then(|node| node.origin.span()))
                .help("a node with several models is labelled with one of them: give each its own nodes"),
            );
        }
    }

    fn some_machines(&self) -> String {
        match self.sightings.as_slice() {
            [one] => format!("node `{}`", one.machine.name),
            several => format!("{} nodes", several.len()),
        }
    }
}

/// A size as it is sold: the product's own when it is near, else the next that anything is sold
/// with.
pub(super) fn nominal(product: Option<&'static Product>, measured: Memory) -> Memory {
    let near = |product: &&'static Product| {
        measured <= product.nominal()
            && measured.0.saturating_mul(100) >= product.nominal().0.saturating_mul(91)
    };
    product.filter(near).map_or_else(|| facts::nominal_of(measured), Product::nominal)
}

fn tuple(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
