//! The devices that the ResourceSlices of an input name for single nodes, outside of a simulation,
//! and which of them claims ask for.

use super::objects::{Device, DeviceSpec, Reach, Selectors, Slice, class};
use crate::api::Object;
use crate::facts;
use crate::quantity::Memory;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// A device of a node.
#[derive(Clone, Debug)]
pub struct NodeDevice {
    /// The driver, such as `gpu.nvidia.com`.
    pub driver: EcoString,
    /// The attribute `productName` of the drivers of NVIDIA and AMD, `model` of those of Intel.
    pub product: Option<EcoString>,
    /// The capacity `memory`.
    pub memory: Option<Memory>,
    /// The MIG profile, for a part of a device.
    pub profile: Option<EcoString>,
    /// A claim has it.
    pub allocated: bool,
    device: Arc<Device>,
}

impl NodeDevice {
    /// Whether selectors take it; none where one cannot be evaluated.
    fn is_selected(&self, by: &Selectors) -> Option<bool> {
        for selector in by {
            if !selector.as_ref().ok()?.selects(&self.device.tree).ok()? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// What drivers publish, and the classes of devices.
#[derive(Clone, Debug, Default)]
pub struct Published {
    devices: BTreeMap<EcoString, Vec<NodeDevice>>,
    classes: BTreeMap<EcoString, Class>,
}

#[derive(Clone, Debug)]
struct Class {
    by: Selectors,
    /// Whether its devices are accelerators, once somebody asked.
    is_accelerator: OnceLock<bool>,
}

impl Published {
    /// The devices of ResourceSlices, and the DeviceClasses.
    pub fn read(objects: &[Object]) -> Self {
        let classes = objects.iter().filter(|object| object.id.kind == "DeviceClass");
        let classes = classes.filter_map(|object| {
            let is_accelerator = OnceLock::new();
            Some((object.id.name.clone(), Class { by: class(&object.node)?, is_accelerator }))
        });
        Self { devices: devices(objects), classes: classes.collect() }
    }

    /// The devices of a node.
    pub fn of(&self, node: &str) -> &[NodeDevice] {
        self.devices.get(node).map(Vec::as_slice).unwrap_or_default()
    }

    /// What a claim asks for by one of its requests, or by all; none where the number or the class
    /// is decided by the allocation.
    pub fn requests_of(&self, claim: &Node, request: Option<&str>) -> Option<Vec<Asked>> {
        let spec = DeviceSpec::read(claim);
        let requests = |request: &super::objects::Request| {
            let [only] = request.alternatives.as_slice() else { return None };
            Some(Asked {
                class: only.class.clone(),
                count: i64::try_from(only.count.filter(|_| !only.admin)?).ok()?,
                by: match self.classes.get(&only.class) {
                    Some(class) => class.by.iter().chain(&only.selectors).cloned().collect(),
                    None => only.selectors.clone(),
                },
                is_known: self.classes.contains_key(&only.class),
            })
        };
        let named =
            |other: &&super::objects::Request| request.is_none_or(|name| other.name == name);
        spec.requests.iter().filter(named).map(requests).collect()
    }

    /// Whether devices of a class are accelerators: by the driver of one that is published, else by
    /// the name of the class. A claim may ask for network cards and channels, too.
    pub fn is_accelerator(&self, class: &str) -> bool {
        let Some(record) = self.classes.get(class) else { return facts::is_device_driver(class) };
        *record.is_accelerator.get_or_init(|| {
            let mut all = self.devices.values().flatten();
            let one = all.find(|device| device.is_selected(&record.by) == Some(true));
            facts::is_device_driver(one.map_or(class, |one| &one.driver))
        })
    }
}

/// Devices that a claim asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The class.
    pub class: EcoString,
    /// How many.
    pub count: i64,
    by: Selectors,
    is_known: bool,
}

impl Asked {
    /// Whether a device is one of those; none where it cannot be told.
    pub fn takes(&self, device: &NodeDevice) -> Option<bool> {
        // Drivers install a class of their own name.
        if !self.is_known && device.driver != self.class {
            return Some(false);
        }
        device.is_selected(&self.by)
    }
}

/// The devices of each node: those of the newest generation of each pool.
fn devices(objects: &[Object]) -> BTreeMap<EcoString, Vec<NodeDevice>> {
    let of_kind = |kind: &'static str| objects.iter().filter(move |object| object.id.kind == kind);
    let slices: Vec<Slice> =
        of_kind("ResourceSlice").map(|object| Slice::read(&object.node)).collect();
    let mut newest: HashMap<(&EcoString, &EcoString), i64> = HashMap::new();
    for slice in &slices {
        let newest = newest.entry((&slice.driver, &slice.pool)).or_insert(slice.generation);
        *newest = slice.generation.max(*newest);
    }
    let allocated: BTreeSet<[EcoString; 3]> = of_kind("ResourceClaim")
        .filter_map(|object| object.node.at(&["status", "allocation", "devices", "results"]))
        .flat_map(Node::items)
        .filter(|kind| kind.get("adminAccess").and_then(Node::as_bool) != Some(true))
        .map(|kind| {
            ["driver", "pool", "device"]
                .map(|key| kind.get(key).and_then(Node::scalar_text).unwrap_or_default())
        })
        .collect();
    let mut found: BTreeMap<EcoString, Vec<NodeDevice>> = BTreeMap::new();
    for slice in &slices {
        let is_newest = newest.get(&(&slice.driver, &slice.pool)) == Some(&slice.generation);
        let Reach::Node(node) = &slice.nodes else { continue };
        for device in slice.devices.iter().filter(|_| is_newest) {
            let value = |kind: &str, name: &str| {
                let domains = device.tree.get(kind).map(Node::entries);
                let mut domains =
                    domains.into_iter().flatten().filter_map(|entry| entry.node.get(name));
                domains.find_map(Node::scalar_text).filter(|text| !text.is_empty())
            };
            let attribute = |name: &str| value("attributes", name);
            let memory = value("capacity", "memory");
            let id = [&slice.driver, &slice.pool, &device.name].map(EcoString::clone);
            found.entry(node.clone()).or_default().push(NodeDevice {
                driver: slice.driver.clone(),
                product: attribute("productName").or_else(|| attribute("model")),
                memory: memory.and_then(|text| Memory::parse(&text).ok()),
                profile: attribute("profile"),
                allocated: allocated.contains(&id),
                device: Arc::clone(device),
            });
        }
    }
    found
}
