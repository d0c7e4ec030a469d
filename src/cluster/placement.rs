//! The number of pods that fit on the machines, and the reason of each machine that rejects them.
//!
//! In: machines and the requests of pods. Out: the number of replicas that fit, or whether a set of
//! pods fits. Modeled: requests (limits where a request is absent) of containers and init
//! containers, allocatable amounts, the number of pods, node selector, required node affinity,
//! taints, cordons, readiness, running pods. Not modeled: pod affinity and spreading, preemption,
//! volumes, ports, planned pods of other services. For pods of one shape the number is exact;
//! leader and workers of different shapes are placed first fit, so the number can be too low, never
//! too high.

#[cfg(test)]
mod tests;

use super::terms::{affinity_matches, selector_mismatch};
use crate::api::Object;
use crate::cluster::node::Machine;
use crate::quantity::{Quantity, Range, is_accelerator, is_native};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};

/// The maximum number of replicas in a result.
const MOST: i64 = 100_000;
/// The resource of which every pod uses one.
const PODS: &str = "pods";

/// Thousandths of a resource. Amounts have at most 64 bits, so that sums of as many as can be read
/// fit.
pub type Milli = i128;

/// The requests of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    amounts: BTreeMap<EcoString, Milli>,
    /// Some amount is outside the range of its resource, and is in no sum.
    unknown: bool,
    pub(crate) selector: Option<Node>,
    pub(crate) affinity: Option<Node>,
    pub(crate) tolerations: Vec<Node>,
}

impl Eq for Shape {}

impl Hash for Shape {
    /// Most shapes differ in their amounts.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.amounts.hash(state);
    }
}

/// A machine on which not even one pod has room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Name.
    pub node: EcoString,
    /// `gpu`, `cpu`, `memory`, `resource` (any other), `pods`, `taint`, `cordoned`, `selector`,
    /// `affinity`.
    pub code: &'static str,
    /// Both operands.
    pub detail: EcoString,
}

/// Machines without room: their number by reason, and the first of them; a fleet has too many to
/// list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedNodes {
    first: Vec<Blocked>,
    counts: BTreeMap<&'static str, usize>,
    /// The first machine of each of the first kinds of refusal, and how many there are.
    kinds: Vec<(Blocked, usize)>,
    all_kinds: usize,
}

/// Machines and kinds of refusal that are kept.
const KEPT: usize = 10;

impl BlockedNodes {
    /// Of these machines.
    pub fn new(all: impl IntoIterator<Item = Blocked>) -> Self {
        let mut known: HashMap<(&'static str, EcoString), usize> = HashMap::new();
        let mut out = Self::default();
        for own in all {
            *out.counts.entry(own.code).or_default() += 1;
            let next = known.len();
            let kind = *known.entry((own.code, own.detail.clone())).or_insert(next);
            if let Some((_, count)) = out.kinds.get_mut(kind) {
                *count += 1;
            } else if kind < KEPT {
                out.kinds.push((own.clone(), 1));
            }
            if out.first.len() < KEPT {
                out.first.push(own);
            }
        }
        out.all_kinds = known.len();
        out
    }

    /// The first of them.
    pub fn first(&self) -> &[Blocked] {
        &self.first
    }

    /// How many there are by code.
    pub fn counts(&self) -> &BTreeMap<&'static str, usize> {
        &self.counts
    }

    /// Groups of machines with the same reason: the first machine of each and their number, in the
    /// order of the first machines; at most the first groups.
    pub fn kinds(&self) -> impl Iterator<Item = (&Blocked, usize)> {
        self.kinds.iter().map(|(first, count)| (first, *count))
    }

    /// How many kinds there are.
    pub fn all_kinds(&self) -> usize {
        self.all_kinds
    }
}

impl Shape {
    /// A pod with these requests, in thousandths, and this `nodeSelector` and `tolerations`.
    pub(crate) fn new(
        amounts: impl IntoIterator<Item = (EcoString, Milli)>,
        selector: Option<Node>,
        tolerations: Vec<Node>,
    ) -> Self {
        let mut amounts: BTreeMap<EcoString, Milli> = amounts.into_iter().collect();
        amounts.insert(PODS.into(), 1000);
        Self { amounts, unknown: false, selector, affinity: None, tolerations }
    }

    /// Returns the requests of a pod spec.
    pub fn of(pod: &Node) -> Self {
        let mut unknown = false;
        let mut asked = |container: &Node| -> BTreeMap<EcoString, Milli> {
            let mut own = BTreeMap::new();
            for side in ["limits", "requests"] {
                for entry in
                    container.at(&["resources", side]).map(Node::entries).into_iter().flatten()
                {
                    let text = entry.node.scalar_text().unwrap_or_default();
                    match Range::of_resource(&entry.key)
                        .read(&text)
                        .and_then(|amount| amount.milli())
                    {
                        Some(amount) => _ = own.insert(entry.key.clone(), amount),
                        None => unknown = true,
                    }
                }
            }
            own
        };
        let containers = |key: &str| pod.get(key).map(Node::items).unwrap_or_default();
        let add = |sums: &mut BTreeMap<EcoString, Milli>, own: BTreeMap<EcoString, Milli>| {
            for (name, amount) in own {
                *sums.entry(name).or_default() += amount;
            }
        };
        let mut amounts: BTreeMap<EcoString, Milli> = BTreeMap::new();
        for container in containers("containers") {
            add(&mut amounts, asked(container));
        }
        // An init container that restarts runs beside all that follow it, and beside the
        // containers; any other one only beside those of the first kind before it
        // (k8s.io/component-helpers/resource/helpers.go, PodRequests).
        let (mut beside, mut most) = (BTreeMap::new(), BTreeMap::new());
        for container in containers("initContainers") {
            let mut own = asked(container);
            if container.get("restartPolicy").and_then(Node::as_str) == Some("Always") {
                add(&mut amounts, own.clone());
                add(&mut beside, own);
                own = beside.clone();
            } else {
                add(&mut own, beside.clone());
            }
            for (name, amount) in own {
                let known: &mut Milli = most.entry(name).or_default();
                *known = amount.max(*known);
            }
        }
        for (name, amount) in most {
            let known = amounts.entry(name).or_default();
            *known = amount.max(*known);
        }
        amounts.retain(|_, amount| *amount > 0);
        amounts.insert(PODS.into(), 1000);
        Self {
            amounts,
            unknown,
            selector: pod.get("nodeSelector").filter(|selector| !selector.is_empty()).cloned(),
            affinity: pod.get("affinity").cloned(),
            tolerations: pod.get("tolerations").map(Node::items).unwrap_or_default().to_vec(),
        }
    }

    /// The size of a pod for sorting: extended resources, then memory, then processors.
    fn size(&self) -> (Milli, Milli, Milli) {
        let sum = |wanted: &dyn Fn(&str) -> bool| -> Milli {
            self.amounts.iter().filter(|(name, _)| wanted(name)).map(|(_, amount)| *amount).sum()
        };
        (sum(&|name| name.contains('/')), sum(&|name| name == "memory"), sum(&|name| name == "cpu"))
    }

    /// Whole units of a resource that it requests.
    pub fn amount(&self, resource: &str) -> i64 {
        let up = |milli: Milli| milli.div_euclid(1000) + Milli::from(milli.rem_euclid(1000) > 0);
        let units = self.amounts.get(resource).map_or(0, |milli| up(*milli));
        units.try_into().unwrap_or(i64::MAX)
    }

    /// Whether it requests devices, or slices of them.
    pub fn requests_devices(&self) -> bool {
        self.amounts.keys().any(|name| is_accelerator(name))
    }

    /// Whether all its requests are readable.
    pub fn is_known(&self) -> bool {
        !self.unknown
    }

    /// Its requests, in thousandths by resource, including one of `pods`.
    pub fn amounts(&self) -> impl Iterator<Item = (&EcoString, Milli)> {
        self.amounts.iter().map(|(name, amount)| (name, *amount))
    }
}

/// The requests of running pods, by machine; finished pods request nothing.
pub fn running<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Vec<(EcoString, Shape)> {
    let unfinished = objects.into_iter().filter(|object| object.id.kind == "Pod").filter(|pod| {
        let phase = pod.node.at(&["status", "phase"]).and_then(Node::as_str);
        !matches!(phase, Some("Succeeded" | "Failed"))
    });
    unfinished
        .filter_map(|pod| {
            Some((
                pod.node.at(&["spec", "nodeName"])?.as_str()?.into(),
                Shape::of(pod.node.get("spec")?),
            ))
        })
        .collect()
}

/// The free resources of a machine.
#[derive(Clone, Debug)]
struct Room<'m> {
    machine: &'m Machine,
    free: Vec<(EcoString, Milli)>,
}

impl Room<'_> {
    fn left(&self, resource: &str) -> Milli {
        // Who states no number of pods does not limit them.
        let unstated = if resource == PODS { Milli::from(MOST) * 1000 } else { 0 };
        self.free.iter().find(|(name, _)| name == resource).map_or(unstated, |(_, amount)| *amount)
    }

    /// Pods of a shape that still have room, by amounts alone.
    fn room_for(&self, shape: &Shape) -> i64 {
        shape
            .amounts
            .iter()
            .map(|(name, amount)| self.left(name).max(0) / (*amount).max(1))
            .min()
            .and_then(|pods| i64::try_from(pods).ok())
            .unwrap_or(MOST)
            .min(MOST)
    }

    fn take(&mut self, shape: &Shape, pods: i64) {
        for (name, free) in &mut self.free {
            if let Some(amount) = shape.amounts.get(name) {
                *free -= amount * Milli::from(pods);
            }
        }
    }

    /// The reason why the machine rejects a shape, independent of running pods.
    fn barrier(&self, shape: &Shape) -> Option<(&'static str, EcoString)> {
        let machine = self.machine;
        if machine.cordoned {
            return Some(("cordoned", "unschedulable".into()));
        }
        if !machine.ready {
            // The node controller taints it, also where the dump lacks the taint.
            return Some(("taint", "node.kubernetes.io/not-ready:NoSchedule".into()));
        }
        if let Some(taint) = machine.untolerated(&shape.tolerations, shape.requests_devices()) {
            return Some(("taint", eco_format!("{taint}")));
        }
        if let Some(entry) =
            shape.selector.as_ref().and_then(|selector| selector_mismatch(selector, machine))
        {
            let required = entry.node.scalar_text().unwrap_or_default();
            return Some(("selector", mismatch(&entry.key, &required, machine)));
        }
        if shape.affinity.as_ref().is_some_and(|affinity| !affinity_matches(affinity, machine)) {
            return Some(("affinity", "no required node selector term matches".into()));
        }
        None
    }
}

/// The most important of the lacking resources, given as name, request and free amount: its reason
/// code, and both amounts.
pub fn short_of<'a>(
    lacking: impl IntoIterator<Item = (&'a EcoString, Milli, Milli)>,
) -> Option<(&'static str, EcoString)> {
    let code = |name: &str| match name {
        "cpu" => "cpu",
        PODS => "pods",
        name if crate::quantity::is_accelerator(name) || name.contains("/mig-") => "gpu",
        "memory" => "memory",
        _ => "resource",
    };
    let order = ["gpu", "cpu", "memory", "resource", "pods"];
    let lacking = lacking.into_iter().map(|(name, asked, left)| (code(name), name, asked, left));
    let (code, name, asked, left) =
        lacking.min_by_key(|(code, ..)| order.iter().position(|known| known == code))?;
    let (asked, left) = (amount(name, asked), amount(name, left.max(0)));
    Some((code, eco_format!("{name}: {asked} requested, {left} free")))
}

/// An amount of a resource as manifests have it: bytes in binary units.
fn amount(name: &str, milli: Milli) -> EcoString {
    let whole = u64::try_from(milli / 1000).ok().filter(|_| milli % 1000 == 0);
    let bytes = whole.filter(|_| is_native(name) && !matches!(name, "cpu" | PODS));
    bytes.map_or_else(|| Quantity::from_milli(milli), Quantity::from_bytes).canonical()
}

/// The required and the actual value of a node label that differs.
pub fn mismatch(key: &str, required: &str, machine: &Machine) -> EcoString {
    let own = machine.label(key).map(|own| eco_format!("{own} found"));
    let own = own.unwrap_or_else(|| "label absent".into());
    eco_format!("{key}: {required} required, {own}")
}

/// Whether any machine has allocatable amounts.
pub fn is_known(machines: &[Machine]) -> bool {
    machines.iter().any(|machine| machine.allocatable.is_some())
}

/// The free resources of all machines with allocatable amounts.
#[derive(Clone, Debug)]
pub struct Inventory<'m> {
    rooms: Vec<Room<'m>>,
}

/// Machines that may run pods of a shape, in order. Room only ever shrinks, so those that are full
/// are passed for good.
struct Queue<'s> {
    shape: &'s Shape,
    rooms: Vec<usize>,
    next: usize,
}

impl<'m> Inventory<'m> {
    /// The machines minus their running pods (`used`, by machine). `None` if no machine has
    /// allocatable amounts.
    pub fn new<'p>(
        machines: &'m [Machine],
        used: impl IntoIterator<Item = (&'p EcoString, &'p Shape)>,
    ) -> Option<Self> {
        let stated =
            machines.iter().filter_map(|machine| Some((machine, machine.allocatable.as_ref()?)));
        let mut rooms: Vec<Room<'m>> = stated
            .map(|(machine, allocatable)| Room {
                machine,
                free: allocatable
                    .iter()
                    .filter_map(|(name, quantity)| Some((name.clone(), quantity.milli()?)))
                    .collect(),
            })
            .collect();
        let names: HashMap<&EcoString, usize> =
            rooms.iter().enumerate().map(|(at, room)| (&room.machine.name, at)).collect();
        for (name, shape) in used {
            if let Some(at) = names.get(name) {
                rooms[*at].take(shape, 1);
            }
        }
        (!rooms.is_empty()).then_some(Self { rooms })
    }

    /// Places pods if all of them find a place; else nothing changes.
    pub fn place_all<'s>(&mut self, pods: impl IntoIterator<Item = (&'s Shape, i64)>) -> bool {
        let mut pods: Vec<(&Shape, i64)> = pods.into_iter().collect();
        // The large ones first: they have the fewest places.
        pods.sort_by_key(|(shape, _)| std::cmp::Reverse(shape.size()));
        let mut left = self.clone();
        let placed =
            pods.into_iter().all(|(shape, count)| left.place(&mut self.queue(shape), count));
        if placed {
            *self = left;
        }
        placed
    }

    fn queue<'s>(&self, shape: &'s Shape) -> Queue<'s> {
        let rooms = self.rooms.iter().enumerate().filter(|(_, room)| room.barrier(shape).is_none());
        Queue { shape, rooms: rooms.map(|(index, _)| index).collect(), next: 0 }
    }

    /// Places `pods` pods of a shape, first fit; after a failure, the pods before it stay placed.
    fn place(&mut self, queue: &mut Queue<'_>, mut pods: i64) -> bool {
        while pods > 0 {
            let Some(room) = queue.rooms.get(queue.next).and_then(|room| self.rooms.get_mut(*room))
            else {
                return false;
            };
            let here = room.room_for(queue.shape);
            if here < pods {
                queue.next += 1;
            }
            room.take(queue.shape, here.min(pods));
            pods -= here.min(pods);
        }
        true
    }
}
