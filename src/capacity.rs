//! What fits on the nodes that were loaded.
//!
//! In: Nodes and what pods ask for. Out: how many of them find a place. Pods that are alike are placed together, on nodes
//! by name, wherever their selector and their tolerations let them. This is a lower bound: a scheduler may pack better.

use crate::api::Object;
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::EcoString;

/// What one pod asks for.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Thousandths of every resource.
    resources: Vec<(EcoString, i64)>,
    /// Labels that its node must have.
    selector: Vec<(EcoString, EcoString)>,
    tolerations: Vec<Toleration>,
}

#[derive(Clone, Debug)]
struct Toleration {
    key: Option<EcoString>,
    value: Option<EcoString>,
    effect: Option<EcoString>,
}

impl Demand {
    /// What a pod spec asks for: requests, and limits where a request is absent, as the API server fills them in. Init
    /// containers count where they ask for more than the containers together.
    pub fn of(pod: &Node) -> Self {
        let mut resources: Vec<(EcoString, i64)> = Vec::new();
        for container in containers(pod, "containers") {
            for (name, amount) in asked(container) {
                match resources.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, sum)) => *sum = sum.saturating_add(amount),
                    None => resources.push((name, amount)),
                }
            }
        }
        for (name, amount) in containers(pod, "initContainers").iter().flat_map(asked) {
            match resources.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum = amount.max(*sum),
                None => resources.push((name, amount)),
            }
        }
        let text = |node: &Node, key: &str| node.get(key).and_then(Node::scalar_text);
        let tolerations = pod.get("tolerations").map_or(&[][..], Node::items);
        Self {
            resources,
            selector: pod
                .get("nodeSelector")
                .into_iter()
                .flat_map(Node::entries)
                .map(|entry| (entry.key.clone(), entry.node.scalar_text().unwrap_or_default()))
                .collect(),
            tolerations: tolerations
                .iter()
                .map(|node| {
                    let exists = text(node, "operator").as_deref() == Some("Exists");
                    Toleration {
                        key: text(node, "key"),
                        value: if exists { None } else { Some(text(node, "value").unwrap_or_default()) },
                        effect: text(node, "effect"),
                    }
                })
                .collect(),
        }
    }
}

fn containers<'a>(pod: &'a Node, key: &str) -> &'a [Node] {
    pod.get(key).map_or(&[], Node::items)
}

/// What one container asks for, in thousandths.
fn asked(container: &Node) -> Vec<(EcoString, i64)> {
    let mut found: Vec<(EcoString, i64)> = Vec::new();
    for key in ["requests", "limits"] {
        for entry in container.at(&["resources", key]).into_iter().flat_map(Node::entries) {
            let amount = entry.node.scalar_text().and_then(|text| Quantity::parse_field(&text).ok()).map(|quantity| quantity.milli().unwrap_or(i64::MAX));
            if let Some(amount) = amount.filter(|_| found.iter().all(|(known, _)| *known != entry.key)) {
                found.push((entry.key.clone(), amount));
            }
        }
    }
    found
}

/// One pod, in thousandths.
const ONE_POD: i64 = 1000;

/// What a node has left.
#[derive(Clone, Debug)]
struct Room {
    free: Vec<(EcoString, i64)>,
    labels: Vec<(EcoString, EcoString)>,
    taints: Vec<(EcoString, EcoString, EcoString)>,
}

/// What all nodes have left.
#[derive(Clone, Debug)]
pub struct Inventory {
    rooms: Vec<Room>,
}

impl Inventory {
    /// The nodes that state what can be allocated and take pods; `None` when no node states it.
    pub fn new<'a>(nodes: impl IntoIterator<Item = &'a Object>) -> Option<Self> {
        let mut known = false;
        let mut rooms = Vec::new();
        for node in nodes {
            let Some(allocatable) = node.node.at(&["status", "allocatable"]).filter(|allocatable| !allocatable.is_empty()) else { continue };
            known = true;
            if node.spec("unschedulable").and_then(Node::as_bool) == Some(true) {
                continue;
            }
            let milli = |node: &Node| Quantity::parse_field(&node.scalar_text()?).ok().map(|quantity| quantity.milli().unwrap_or(i64::MAX));
            let text = |node: &Node, key: &str| node.get(key).and_then(Node::scalar_text).unwrap_or_default();
            rooms.push(Room {
                free: allocatable.entries().filter_map(|entry| Some((entry.key.clone(), milli(&entry.node)?))).collect(),
                labels: node.labels().iter().map(|entry| (entry.key.clone(), entry.node.scalar_text().unwrap_or_default())).collect(),
                taints: node
                    .spec("taints")
                    .map_or(&[][..], Node::items)
                    .iter()
                    .map(|taint| (text(taint, "key"), text(taint, "value"), text(taint, "effect")))
                    .filter(|(_, _, effect)| effect != "PreferNoSchedule")
                    .collect(),
            });
        }
        known.then_some(Self { rooms })
    }

    /// Places pods if all of them find a place; else nothing changes.
    pub fn place_all<'a>(&mut self, demands: impl IntoIterator<Item = (&'a Demand, i64)>) -> bool {
        let mut demands: Vec<(&Demand, i64)> = demands.into_iter().collect();
        // The large ones first: they have the fewest places.
        demands.sort_by_key(|(demand, _)| std::cmp::Reverse(size(demand)));
        let mut rooms = self.rooms.clone();
        for (demand, count) in demands {
            let mut left = count;
            for room in &mut rooms {
                left -= room.take(demand, left);
            }
            if left > 0 {
                return false;
            }
        }
        self.rooms = rooms;
        true
    }
}

/// What makes a pod large: extended resources, then memory, then processors.
fn size(demand: &Demand) -> (i64, i64, i64) {
    let sum =
        |wanted: &dyn Fn(&str) -> bool| demand.resources.iter().filter(|(name, _)| wanted(name)).fold(0_i64, |sum, (_, amount)| sum.saturating_add(*amount));
    (sum(&|name| name.contains('/')), sum(&|name| name == "memory"), sum(&|name| name == "cpu"))
}

impl Room {
    /// Takes as many pods as fit, at most `count`; answers how many.
    fn take(&mut self, demand: &Demand, count: i64) -> i64 {
        if count <= 0 || !self.admits(demand) {
            return 0;
        }
        let free = |name: &str| self.free.iter().find(|(known, _)| known == name).map(|(_, amount)| *amount);
        let by_resource = demand.resources.iter().filter(|(_, amount)| *amount > 0).map(|(name, amount)| free(name).unwrap_or(0).max(0) / amount);
        // A node that does not state its pods takes as many as there are.
        let by_number = free("pods").map(|pods| pods.max(0) / ONE_POD);
        let taken = by_resource.chain(by_number).min().unwrap_or(count).min(count);
        for (name, amount) in &mut self.free {
            let each = if name == "pods" { ONE_POD } else { demand.resources.iter().find(|(asked, _)| asked == name).map_or(0, |(_, amount)| *amount) };
            *amount = amount.saturating_sub(each.saturating_mul(taken));
        }
        taken
    }

    fn admits(&self, demand: &Demand) -> bool {
        let tolerated = |(key, value, effect): &(EcoString, EcoString, EcoString)| {
            demand.tolerations.iter().any(|toleration| {
                toleration.key.as_ref().is_none_or(|wanted| wanted.is_empty() || wanted == key)
                    && toleration.value.as_ref().is_none_or(|wanted| wanted == value)
                    && toleration.effect.as_ref().is_none_or(|wanted| wanted.is_empty() || wanted == effect)
            })
        };
        demand.selector.iter().all(|wanted| self.labels.contains(wanted)) && self.taints.iter().all(tolerated)
    }
}
