//! Which machines belong to an accelerator class.

use super::terms::{affinity_matches, selector_mismatch, terms_match};
use crate::api::AcceleratorClass;
use crate::cluster::node::Machine;
use crate::facts::{self, Product};
use crate::yaml::Node;
use std::collections::HashMap;
use std::sync::Arc;

/// Reports whether a machine belongs to a class. The selector or any term must match (OEP-0003,
/// Example AcceleratorClass Definitions), and the affinity of the shipped API too. PCI ids count only if the class sets none of these
/// (OEP-0003, AcceleratorClass). A class without any of them matches every machine (OEP-0003,
/// AcceleratorClass).
pub fn class_matches(class: &AcceleratorClass, machine: &Machine) -> bool {
    let discovery = &class.discovery;
    let selector = discovery.node_selector.as_ref().filter(|selector| !selector.is_empty());
    let terms = discovery.terms.as_ref();
    let affinity = discovery.affinity.as_ref();
    let selected = |selector: &Node| selector_mismatch(selector, machine).is_none();
    match (selector, terms, affinity) {
        (None, None, None)
            if discovery.pci_vendor.is_some() || !discovery.device_ids.is_empty() =>
        {
            pci_matches(class, machine)
        }
        (None, None, None) => true,
        (selector, terms, affinity) => {
            // The selector and the terms are alternatives; what pods of the class are given
            // combines both with the affinity.
            let by_label = match (selector, terms) {
                (None, None) => true,
                (Some(selector), None) => selected(selector),
                (selector, Some(terms)) => {
                    selector.is_some_and(selected) || terms_match(terms.items(), machine)
                }
            };
            by_label && affinity.is_none_or(|affinity| affinity_matches(affinity, machine))
        }
    }
}

/// Matches the PCI ids of a class with node-feature-discovery labels of the form
/// `pci-CLASS_VENDOR_DEVICE.present`, where class and device may be missing.
fn pci_matches(class: &AcceleratorClass, machine: &Machine) -> bool {
    let vendor = class.discovery.pci_vendor.as_ref().map(|vendor| vendor.value.to_lowercase());
    machine.labels.iter().any(|entry| {
        let present = entry.node.scalar_text().as_deref() == Some("true");
        let Some(parts) = entry
            .key
            .strip_prefix("feature.node.kubernetes.io/pci-")
            .and_then(|rest| rest.strip_suffix(".present"))
            .filter(|_| present)
        else {
            return false;
        };
        let parts: Vec<String> = parts.split(['_', '-']).map(str::to_lowercase).collect();
        let vendor_fits =
            vendor.as_ref().is_none_or(|vendor| parts.iter().any(|part| part == vendor.as_str()));
        let devices = &class.discovery.device_ids;
        // The last part is a device only if there is another one and it is not the vendor.
        let known_device = parts.last().filter(|last| {
            parts.len() > 1 && vendor.as_ref().is_none_or(|vendor| *last != vendor.as_str())
        });
        let device_fits = devices.is_empty()
            || known_device.is_none_or(|known_device| {
                devices.iter().any(|device| device.value.eq_ignore_ascii_case(known_device))
            });
        vendor_fits && device_fits
    })
}

/// Matches many classes with the same machines. Classes with equal discovery fields are matched
/// once, and a selector without terms is compared only with machines that have its first label.
#[derive(Debug)]
pub struct Matcher<'m> {
    machines: &'m [Machine],
    /// Indices of machines, by label key and value.
    labeled: HashMap<(&'m str, &'m str), Vec<usize>>,
    by_labels: HashMap<String, Arc<[&'m Machine]>>,
}

impl<'m> Matcher<'m> {
    /// Indexes the machines by label and keeps their order.
    pub fn new(machines: &'m [Machine]) -> Self {
        let mut labeled: HashMap<_, Vec<usize>> = HashMap::new();
        for (place, machine) in machines.iter().enumerate() {
            for entry in &machine.labels {
                if let Some(value) = entry.node.as_str() {
                    labeled.entry((entry.key.as_str(), value)).or_default().push(place);
                }
            }
        }
        Self { machines, labeled, by_labels: HashMap::new() }
    }

    /// Returns the machines of a class, in order.
    pub fn matching(&mut self, class: &AcceleratorClass) -> Arc<[&'m Machine]> {
        let discovery = &class.discovery;
        let json = |node: &Option<Node>| node.as_ref().map(Node::to_json);
        let ids: Vec<&str> = discovery.device_ids.iter().map(|id| id.value.as_str()).collect();
        let pci = discovery.pci_vendor.as_ref().map(|vendor| vendor.value.as_str());
        // The key has all that `class_matches` reads, so that equal keys mean equal machines.
        let key = serde_json::json!([
            json(&discovery.node_selector),
            json(&discovery.terms),
            json(&discovery.affinity),
            pci,
            ids,
        ])
        .to_string();
        if let Some(nodes) = self.by_labels.get(&key) {
            return nodes.clone();
        }
        // With terms a machine may match without any label of the selector.
        let first = discovery.node_selector.as_ref().filter(|_| discovery.terms.is_none());
        let first = first.and_then(|selector| selector.entries().next());
        let found: Arc<[&Machine]> = match first {
            None => matching(class, self.machines).into(),
            Some(entry) => {
                let value = entry.node.scalar_text().unwrap_or_default();
                let places = self.labeled.get(&(entry.key.as_str(), value.as_str()));
                let machines = places.into_iter().flatten().map(|place| &self.machines[*place]);
                machines.filter(|machine| class_matches(class, machine)).collect()
            }
        };
        self.by_labels.insert(key, found.clone());
        found
    }
}

/// Returns the machines of a class, in order.
pub fn matching<'m>(class: &AcceleratorClass, machines: &'m [Machine]) -> Vec<&'m Machine> {
    machines.iter().filter(|machine| class_matches(class, machine)).collect()
}

/// Returns the accelerator product in the selector, the terms or the affinity of a class.
pub fn class_product(class: &AcceleratorClass) -> Option<&'static Product> {
    let selector = class.discovery.node_selector.iter().flat_map(Node::entries);
    let selected = selector
        .filter(|entry| facts::PRODUCT_LABELS.contains(&entry.key.as_str()))
        .find_map(|entry| facts::by_label(entry.node.as_str()?));
    let terms = class.discovery.terms.iter().chain(class.discovery.affinity.iter().filter_map(
        |affinity| {
            affinity.at(&[
                "nodeAffinity",
                "requiredDuringSchedulingIgnoredDuringExecution",
                "nodeSelectorTerms",
            ])
        },
    ));
    let expressions = terms
        .flat_map(Node::items)
        .filter_map(|term| term.get("matchExpressions"))
        .flat_map(Node::items);
    let mut values = expressions
        .filter(|expression| {
            expression
                .get("key")
                .and_then(Node::as_str)
                .is_some_and(|key| facts::PRODUCT_LABELS.contains(&key))
        })
        .filter_map(|expression| expression.get("values"))
        .flat_map(Node::items);
    selected.or_else(|| values.find_map(|value| facts::by_label(value.as_str()?)))
}
