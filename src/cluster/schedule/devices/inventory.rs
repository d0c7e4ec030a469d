//! The devices that the ResourceSlices of an input name for single nodes, outside of a simulation.

use super::objects::{Reach, Slice};
use crate::api::Object;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A device of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeDevice {
    /// The driver, such as `gpu.nvidia.com`.
    pub driver: EcoString,
    /// The attribute `productName`.
    pub product: Option<EcoString>,
    /// The MIG profile, for a part of a device.
    pub profile: Option<EcoString>,
    /// A claim has it.
    pub allocated: bool,
}

/// The devices of each node: those of the newest generation of each pool.
pub fn inventory(objects: &[Object]) -> BTreeMap<EcoString, Vec<NodeDevice>> {
    let of_kind = |kind: &'static str| objects.iter().filter(move |own| own.id.kind == kind);
    let slices: Vec<Slice> = of_kind("ResourceSlice").map(|own| Slice::read(&own.node)).collect();
    let mut newest: HashMap<(&EcoString, &EcoString), i64> = HashMap::new();
    for slice in &slices {
        let known = newest.entry((&slice.driver, &slice.pool)).or_insert(slice.generation);
        *known = slice.generation.max(*known);
    }
    let allocated: BTreeSet<[EcoString; 3]> = of_kind("ResourceClaim")
        .filter_map(|own| own.node.at(&["status", "allocation", "devices", "results"]))
        .flat_map(Node::items)
        .filter(|own| own.get("adminAccess").and_then(Node::as_bool) != Some(true))
        .map(|own| {
            ["driver", "pool", "device"]
                .map(|key| own.get(key).and_then(Node::scalar_text).unwrap_or_default())
        })
        .collect();
    let mut found: BTreeMap<EcoString, Vec<NodeDevice>> = BTreeMap::new();
    for slice in &slices {
        let is_newest = newest.get(&(&slice.driver, &slice.pool)) == Some(&slice.generation);
        let Reach::Node(node) = &slice.nodes else { continue };
        for device in slice.devices.iter().filter(|_| is_newest) {
            let attribute = |name: &str| {
                let domains = device.tree.get("attributes").map(Node::entries);
                let mut own = domains.into_iter().flatten().filter_map(|own| own.node.get(name));
                own.find_map(Node::scalar_text).filter(|text| !text.is_empty())
            };
            let id = [&slice.driver, &slice.pool, &device.name].map(EcoString::clone);
            found.entry(node.clone()).or_default().push(NodeDevice {
                driver: slice.driver.clone(),
                product: attribute("productName"),
                profile: attribute("profile"),
                allocated: allocated.contains(&id),
            });
        }
    }
    found
}
