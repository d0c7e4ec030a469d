//! Which machines belong to an accelerator class.

use super::machine::Machine;
use super::terms::{affinity_matches, selector_mismatch, terms_match};
use crate::api::AcceleratorClass;
use crate::facts::{self, Product};
use crate::yaml::Node;

/// Whether a machine belongs to a class: its selector or any of its terms (S2-070); its affinity
/// beside the selector, as the shipped shape has it; its PCI ids when it says nothing else
/// (S2-089). A class without any of them matches every machine (S2-087).
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
        (None, None, Some(affinity)) => affinity_matches(affinity, machine),
        (Some(selector), None, affinity) => {
            selected(selector)
                && affinity.is_none_or(|affinity| affinity_matches(affinity, machine))
        }
        (selector, Some(terms), _) => {
            selector.is_some_and(selected) || terms_match(terms.items(), machine)
        }
    }
}

/// Labels of node-feature-discovery: `pci-CLASS_VENDOR_DEVICE.present`, with or without class and
/// device.
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
        let known_device = parts.last().filter(|last| {
            parts.len() > 1 && vendor.as_ref().is_none_or(|vendor| *last != vendor.as_str())
        });
        let device_fits = devices.is_empty()
            || known_device.is_none_or(|own| {
                devices.iter().any(|device| device.value.eq_ignore_ascii_case(own))
            });
        vendor_fits && device_fits
    })
}

/// The machines of a class, in order.
pub fn matching<'m>(class: &AcceleratorClass, machines: &'m [Machine]) -> Vec<&'m Machine> {
    machines.iter().filter(|machine| class_matches(class, machine)).collect()
}

/// The product that the selector or the terms of a class name.
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
