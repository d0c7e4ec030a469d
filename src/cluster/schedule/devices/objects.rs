//! Slices, classes and claims with the fields that the scheduler reads.

use crate::cluster::Machine;
use crate::cluster::schedule::fields::{items, text};
use crate::cluster::schedule::pod::{ClaimSource, NodeTerm, PodClaim};
use crate::cluster::schedule::selectors::node_terms;
use crate::schema::cel::device::{DeviceSelector, SelectorProblem};
use crate::schema::is_refused_claim;
use crate::yaml::{Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::sync::Arc;

static DEVICE: Rule = Rule {
    id: "device",
    text: "a device as selectors see it",
    cite: "k8s.io/dynamic-resource-allocation, cel/compile.go",
};

/// The claims of a pod.
pub(in crate::cluster::schedule) fn claims_of(spec: &Node) -> Vec<PodClaim> {
    let claims = items(spec, "resourceClaims").iter();
    claims
        .filter_map(|claim| {
            let named = |key: &str| claim.get(key).and_then(Node::scalar_text);
            let template = || named("resourceClaimTemplateName").map(ClaimSource::Template);
            let source = named("resourceClaimName").map(ClaimSource::Claim).or_else(template)?;
            Some(PodClaim { name: text(claim.get("name")), source })
        })
        .collect()
}

/// The nodes that devices or an allocation can be used on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reach {
    Node(EcoString),
    All,
    Terms(Vec<NodeTerm>),
    /// By a field that the scheduler drops: no node.
    None,
}

impl Reach {
    pub(super) fn holds(&self, machine: &Machine) -> bool {
        match self {
            Self::Node(name) => *name == machine.name,
            Self::All => true,
            Self::Terms(terms) => terms.iter().any(|term| term.holds(machine)),
            Self::None => false,
        }
    }
}

/// A device.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) name: EcoString,
    /// As selectors see it.
    pub(super) tree: Node,
    /// The attributes by their full names; values of different types differ.
    pub(super) attributes: BTreeMap<EcoString, EcoString>,
    /// Several claims may have it, if the gate DRAConsumableCapacity is on.
    pub(super) shared: bool,
}

/// The full name of an attribute or a capacity: domain and identifier.
fn full<'n>(name: &'n str, driver: &'n str) -> (&'n str, &'n str) {
    name.split_once('/').unwrap_or((driver, name))
}

impl Device {
    fn read(device: &Node, driver: &EcoString) -> Self {
        // resource.k8s.io/v1beta1 has one level more.
        let values = device.get("basic").unwrap_or(device);
        let origin = Origin::Derived(&DEVICE);
        let domains = |list: Option<&Node>, value: &dyn Fn(&Node) -> Option<Node>| {
            let mut domains = Node::map(origin);
            for entry in list.map(Node::entries).into_iter().flatten() {
                let Some(value) = value(&entry.node) else { continue };
                let (domain, name) = full(&entry.key, driver);
                let Some(map) = domains.as_map_mut() else { continue };
                if !map.contains_key(domain) {
                    map.insert(domain, Node::map(origin));
                }
                let domain_map = map.get_mut(domain).and_then(Node::as_map_mut);
                if let Some(domain_map) = domain_map {
                    domain_map.insert(name, value);
                }
            }
            domains
        };
        let attribute = |declared: &Node| {
            ["string", "int", "bool", "version"].iter().find_map(|kind| declared.get(kind)).cloned()
        };
        let capacity = |declared: &Node| {
            let value = declared.get("value").and_then(Node::scalar_text)?;
            Some(Node::str(value, origin))
        };
        let mut tree = Node::map(origin);
        if let Some(map) = tree.as_map_mut() {
            map.insert("driver", Node::str(driver.clone(), origin));
            map.insert("attributes", domains(values.get("attributes"), &attribute));
            map.insert("capacity", domains(values.get("capacity"), &capacity));
        }
        let attributes = values.get("attributes").map(Node::entries).into_iter().flatten();
        Self {
            name: text(device.get("name")),
            attributes: attributes
                .filter_map(|entry| {
                    let (domain, name) = full(&entry.key, driver);
                    let typed = entry.node.entries().next()?;
                    let value = eco_format!("{}={}", typed.key, text(Some(&typed.node)));
                    Some((eco_format!("{domain}/{name}"), value))
                })
                .collect(),
            shared: values.get("allowMultipleAllocations").and_then(Node::as_bool) == Some(true),
            tree,
        }
    }
}

/// A ResourceSlice.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) driver: EcoString,
    pub(super) pool: EcoString,
    pub(super) generation: i64,
    /// Slices of the pool.
    pub(super) count: usize,
    pub(super) nodes: Reach,
    pub(super) devices: Vec<Arc<Device>>,
    /// It uses fields whose feature gates are off by default.
    pub(super) beyond: bool,
}

impl Slice {
    pub(super) fn read(object: &Node) -> Self {
        let spec = |keys: &[&str]| object.get("spec").and_then(|spec| spec.at(keys));
        let name = text(spec(&["nodeName"]));
        let all = spec(&["allNodes"]).and_then(Node::as_bool) == Some(true);
        let of_devices = spec(&["perDeviceNodeSelection"]).and_then(Node::as_bool) == Some(true);
        let nodes = match spec(&["nodeSelector"]) {
            _ if !name.is_empty() => Reach::Node(name),
            // Where each device says so itself, which is not judged, no node is refused for it.
            _ if all || of_devices => Reach::All,
            Some(selector) => Reach::Terms(node_terms(selector)),
            None => Reach::None,
        };
        let driver = text(spec(&["driver"]));
        let devices = spec(&["devices"]).map(Node::items).unwrap_or_default();
        // A server with the gate DRADeviceTaints off drops taints from slices that drivers write
        // (pkg/registry/resource/resourceslice/strategy.go, dropDisabledDRADeviceTaintsFields): an
        // object of a cluster that has them is of one with the gate on.
        let is_stored = object.at(&["metadata", "uid"]).is_some();
        let gated = |device: &Node| {
            let fields = ["consumesCounters", "bindingConditions", "allowMultipleAllocations"];
            fields.iter().any(|field| device.get(field).is_some())
                || (is_stored && !items(device, "taints").is_empty())
        };
        Self {
            pool: text(spec(&["pool", "name"])),
            generation: spec(&["pool", "generation"]).and_then(Node::as_int).unwrap_or(0),
            count: spec(&["pool", "resourceSliceCount"])
                .and_then(Node::as_int)
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(1),
            beyond: spec(&["sharedCounters"]).is_some()
                || spec(&["perDeviceNodeSelection"]).is_some()
                || devices.iter().any(gated),
            devices: devices.iter().map(|device| Arc::new(Device::read(device, &driver))).collect(),
            nodes,
            driver,
        }
    }
}

/// The selectors of a class or a request.
pub(super) type Selectors = Vec<Result<Arc<DeviceSelector>, SelectorProblem>>;

fn selectors(node: &Node) -> Selectors {
    let list = items(node, "selectors").iter();
    list.map(|one| DeviceSelector::compile(&text(one.at(&["cel", "expression"]))).map(Arc::new))
        .collect()
}

/// Whether one of them uses a part of the language that is not evaluated here.
pub(super) fn is_open(selectors: &Selectors) -> bool {
    selectors.contains(&Err(SelectorProblem::Unsupported))
}

/// A DeviceClass; none when the server refuses it.
pub(super) fn class(object: &Node) -> Option<Selectors> {
    let class_selectors = object.get("spec").map(selectors).unwrap_or_default();
    (!is_refused_claim(object)).then_some(class_selectors)
}

/// A number of devices of a class, one of the alternatives of a request.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    /// Name of the request, or of the request and the alternative.
    pub(super) name: EcoString,
    pub(super) class: EcoString,
    pub(super) selectors: Selectors,
    /// None for all devices that match.
    pub(super) count: Option<usize>,
    /// Devices that others use may be used too.
    pub(super) admin: bool,
    /// It uses fields whose feature gates are off by default.
    beyond: bool,
}

impl Alternative {
    fn read(node: &Node, name: EcoString) -> Self {
        let count = node.get("count").and_then(Node::as_int).unwrap_or(1);
        let all = text(node.get("allocationMode")) == "All";
        Self {
            name,
            class: text(node.get("deviceClassName")),
            selectors: selectors(node),
            count: (!all).then(|| usize::try_from(count).unwrap_or(0)),
            admin: node.get("adminAccess").and_then(Node::as_bool) == Some(true),
            // Tolerations change nothing without taints, which the slice reports.
            beyond: node.get("capacity").is_some(),
        }
    }

    /// Its name without that of the request.
    pub(super) fn own_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// A request of a claim.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) name: EcoString,
    /// The first one that can be had is taken.
    pub(super) alternatives: Vec<Alternative>,
    /// `firstAvailable`: earlier alternatives make a node better.
    pub(super) ranked: bool,
}

/// Devices of some requests must have the same value of an attribute.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    /// Of all requests where empty.
    requests: Vec<EcoString>,
    pub(super) attribute: EcoString,
}

impl Constraint {
    pub(super) fn concerns(&self, alternative: &Alternative) -> bool {
        let main = alternative.name.split('/').next().unwrap_or_default();
        self.requests.is_empty()
            || self.requests.iter().any(|name| *name == alternative.name || name == main)
    }
}

/// The devices that a claim asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceSpec {
    pub(super) requests: Vec<Request>,
    pub(super) constraints: Vec<Constraint>,
    beyond: bool,
}

impl DeviceSpec {
    pub(super) fn read(spec: &Node) -> Self {
        let devices = |key: &str| spec.at(&["devices", key]).map(Node::items).unwrap_or_default();
        let request = |node: &Node| {
            let name = text(node.get("name"));
            let ranked = items(node, "firstAvailable");
            let one = || {
                let exact = node.get("exactly").unwrap_or(node);
                vec![Alternative::read(exact, name.clone())]
            };
            let of = |alternative: &Node| {
                Alternative::read(
                    alternative,
                    eco_format!("{name}/{}", text(alternative.get("name"))),
                )
            };
            Request {
                alternatives: if ranked.is_empty() {
                    one()
                } else {
                    ranked.iter().map(of).collect()
                },
                ranked: !ranked.is_empty(),
                name,
            }
        };
        let constraint = |node: &Node| {
            let attribute = text(node.get("matchAttribute"));
            let requests = node.texts("requests").collect();
            (!attribute.is_empty()).then_some(Constraint { requests, attribute })
        };
        Self {
            requests: devices("requests").iter().map(request).collect(),
            constraints: devices("constraints").iter().filter_map(constraint).collect(),
            beyond: devices("constraints")
                .iter()
                .any(|constraint| constraint.get("distinctAttribute").is_some()),
        }
    }

    fn alternatives(&self) -> impl Iterator<Item = &Alternative> {
        self.requests.iter().flat_map(|request| &request.alternatives)
    }

    /// Whether it needs `resource.kubernetes.io/admin-access` of its namespace.
    pub(super) fn is_admin(&self) -> bool {
        self.alternatives().any(|alternative| alternative.admin)
    }

    /// Whether an answer needs what is not evaluated here, of these classes too.
    pub(super) fn is_beyond(&self, classes: &BTreeMap<EcoString, Selectors>) -> bool {
        let unsupported = |alternative: &Alternative| {
            alternative.beyond
                || is_open(&alternative.selectors)
                || classes.get(&alternative.class).is_some_and(is_open)
        };
        self.beyond || self.alternatives().any(unsupported)
    }

    /// What a quota counts: devices by class, of alternatives the most.
    pub(super) fn counted(&self) -> Vec<(EcoString, i64)> {
        let mut all = Vec::new();
        for request in &self.requests {
            let mut most: BTreeMap<EcoString, i64> = BTreeMap::new();
            for alternative in &request.alternatives {
                // All devices count as the most that a claim can have (AllocationResultsMaxSize).
                let count = i64::try_from(alternative.count.unwrap_or(32)).unwrap_or(i64::MAX);
                let highest = most.entry(alternative.class.clone()).or_default();
                *highest = count.max(*highest);
            }
            all.extend(most);
        }
        all
    }
}
