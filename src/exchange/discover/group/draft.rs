//! The values of a class from its nodes: family, labels, memory, compute, features.

use super::SPREAD;
use crate::cluster::sighting::Mark;
use crate::cluster::{labeled_compute, memory_of_label};
use crate::diag::{Code, Diagnostic};
use crate::exchange::class::{Draft, Evidence};
use crate::facts::{self, Product};
use crate::quantity::Memory;
use crate::source::Span;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

impl super::Group<'_> {
    /// The family that the driver reports; the driver reports `undefined` for an unknown version.
    pub(super) fn family(&self, draft: &mut Draft) {
        const FAMILY: &str = "nvidia.com/gpu.family";
        let families: BTreeSet<&str> = self
            .sightings
            .iter()
            .filter(|sighting| sighting.vendor == "nvidia")
            .filter_map(|sighting| sighting.machine.label(FAMILY))
            .collect();
        if let Some(family) = families
            .first()
            // Nodes that disagree about the family leave it to the data sheet.
            .filter(|family| families.len() == 1 && !matches!(**family, "undefined" | ""))
        {
            draft.text(&["spec", "family"], *family, self.label(FAMILY));
        }
    }

    /// A single mark becomes a selector, several values of one label a list, all other marks
    /// alternatives.
    pub(super) fn matcher(&self, draft: &mut Draft) {
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
                // One expression with a list is shorter than a term for each value, and equal.
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

    /// The smallest size, as sold or as measured; without a label, a MIG profile determines its own
    /// size.
    pub(super) fn memory(&self, draft: &mut Draft, measured: bool, found: &mut Vec<Diagnostic>) {
        const MEMORY: [&str; 3] = ["spec", "capabilities", "memoryGB"];
        let sizes = self.sizes();
        // The size as sold is that of a whole device; a partition keeps what its label reports.
        let whole = self
            .product()
            .filter(|_| self.sightings.iter().all(|sighting| sighting.slice.is_none()));
        if let Some((key, text, least)) = sizes.iter().min_by_key(|(_, _, size)| *size) {
            let most = sizes.iter().map(|(_, _, size)| *size).max().unwrap_or(*least);
            // Smaller differences come from the reserve of different drivers.
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
        // A profile such as `1g.10gb` ends with its memory in GB.
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
            // Values that are no amounts were reported when the node was read.
            let Some(memory) = memory_of_label(key, text).filter(|memory| memory.0 > 0) else {
                continue;
            };
            // Labels of AMD and Alibaba have units by design.
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
        let labeled =
            self.sightings.iter().find(|sighting| sighting.machine.label(key) == Some(text))?;
        labeled.machine.labels.get(key)?.origin.span()
    }

    /// The lowest compute capability that machines report.
    pub(super) fn compute(&self, draft: &mut Draft, found: &mut Vec<Diagnostic>) {
        let nvidia = self.sightings.iter().filter(|sighting| sighting.vendor == "nvidia");
        let mut versions: Vec<(Vec<u32>, EcoString)> = nvidia
            .filter_map(|sighting| labeled_compute(sighting.machine))
            .filter_map(|text| Some((tuple(&text)?, text)))
            .collect();
        // By numbers: as text, 10.0 would be below 9.0.
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
            .filter(|sighting| labeled_compute(sighting.machine).is_some())
            .count();
        let evidence = Evidence::Label {
            keys,
            values: versions.iter().map(|(_, text)| text.clone()).collect(),
            nodes,
        };
        draft.text(&["spec", "capabilities", "computeCapability"], least.clone(), evidence);
    }

    /// The features that all machines have, each with its evidence (OEP-0003, Kueue Integration;
    /// docs/decisions.md#discovery).
    pub(super) fn features(&self, draft: &mut Draft) {
        const LINK: &str = "nvidia.com/nvlink";
        const CLIQUE: &str = "nvidia.com/gpu.clique";
        const CAPABLE: &str = "nvidia.com/mig.capable";
        let product = self.product();
        let mut features: Vec<(EcoString, Evidence)> = Vec::new();
        // Features that labels decide are left to the labels: partitions can be switched off, and
        // links may be missing.
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
            // Without a data sheet the compute capability still shows what the device can do.
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
            // One node without links is enough: the class must not promise them.
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
}

/// A size as sold: that of the product if it is near, otherwise the next larger size of any
/// product.
pub(in crate::exchange::discover) fn nominal(
    product: Option<&'static Product>,
    measured: Memory,
) -> Memory {
    let near = |product: &&'static Product| {
        measured <= product.nominal()
            && measured.0.saturating_mul(100) >= product.nominal().0.saturating_mul(91)
    };
    product.filter(near).map_or_else(|| facts::nominal_of(measured), Product::nominal)
}

pub(super) fn tuple(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}
