//! What would give pending pods a node without new ones: each remedy is tried by placing the fleet
//! anew.

use super::pack::Verdict;
use super::place::{Manner, Placed};
use super::{Fleet, Packing};
use crate::cluster::schedule::{NodeId, PodId, PodState};
use crate::cluster::{Machine, Taint, Toleration};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// A change after which fewer pods are pending.
#[derive(Clone, Debug)]
pub enum Remedy {
    /// These nodes accept pods again.
    Uncordon(Vec<EcoString>),
    /// These workloads tolerate a taint.
    Tolerate(Taint, Vec<usize>),
    /// Another order or packing.
    Pack(Packing),
    /// These pods move: workload and replica, from one node to another.
    Move(Vec<Moved>),
}

/// A pod that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its workload.
    pub workload: usize,
    /// The number of the running pod, if it runs.
    pub number: Option<usize>,
    /// Its node.
    pub from: EcoString,
    /// Its next node.
    pub to: EcoString,
}

/// How often the fleet is placed anew, and the pods of all these times together.
const MOST_TRIES: usize = 24;
const MOST_PLACED: usize = 60_000;
/// Nodes and taints that are tried one by one.
const MOST_OF_A_KIND: usize = 6;
/// Nodes on which moves are tried, and pods that move together.
const MOST_MOVE_NODES: usize = 64;
const MOST_MOVED: usize = 4;

impl Fleet {
    /// Workloads that `may_tolerate` can be edited. Remedies with the number of pods that stay pending, the cheapest for a user first.
    pub fn remedies(
        &self,
        placed: &Placed,
        verdict: Verdict,
        may_tolerate: impl Fn(usize) -> bool,
    ) -> Vec<(Remedy, usize)> {
        let waiting = placed.pending().count();
        if waiting == 0 {
            return Vec::new();
        }
        let mut search = Search {
            fleet: self,
            waiting,
            tries: (MOST_PLACED / placed.all().count().max(1)).clamp(2, MOST_TRIES),
            found: Vec::new(),
        };
        search.uncordon();
        search.tolerate(placed, may_tolerate);
        if let Verdict::IfPacked(packing) = verdict {
            search.found.push((Remedy::Pack(packing), 0));
        }
        let moved = moves(placed);
        search.found.extend(moved.map(|moved| (Remedy::Move(moved), 0)));
        search.found
    }
}

/// The fewest pods whose move makes room for everything that is pending.
fn moves(placed: &Placed) -> Option<Vec<Moved>> {
    let pending: Vec<PodId> = placed.pending().map(|(_, pod)| pod).collect();
    // Which set of pods has to move for several pods at once is not searched.
    let [pod] = pending[..] else { return None };
    let owners: BTreeMap<PodId, (usize, Option<usize>)> = placed
        .all()
        .filter_map(|([workload, ..], slot)| Some((slot.pod?, (workload, slot.number))))
        .collect();
    let scheduler = &placed.scheduler;
    let wanted = scheduler.template_of(pod);
    let mut sets: Vec<(usize, NodeId, Vec<PodId>)> = Vec::new();
    for (node, machine) in scheduler.nodes() {
        if !wanted.may_run_on(machine) {
            continue;
        }
        // The largest pods first: fewer of them have to move.
        let mut on: Vec<PodId> = scheduler
            .pods_on(node)
            .iter()
            .copied()
            .filter(|own| owners.contains_key(own))
            .filter(|own| scheduler.template_of(*own).priority <= wanted.priority)
            .collect();
        let missing = |gone: &[PodId]| -> bool {
            wanted.requests.iter().any(|(name, asked)| {
                let (all, used) = scheduler.room(node, name);
                let freed: i64 = gone
                    .iter()
                    .filter_map(|own| scheduler.template_of(*own).requests.get(name))
                    .sum();
                *asked > all - used + freed
            })
        };
        on.sort_by_key(|own| {
            let requests = &scheduler.template_of(*own).requests;
            let devices = requests.iter().filter(|(name, _)| name.contains('/'));
            (std::cmp::Reverse(devices.map(|(_, amount)| *amount).sum::<i64>()), *own)
        });
        let mut gone = Vec::new();
        for own in on {
            if !missing(&gone) || gone.len() == MOST_MOVED {
                break;
            }
            gone.push(own);
        }
        if !gone.is_empty() && !missing(&gone) {
            sets.push((gone.len(), node, gone));
        }
    }
    sets.sort();
    sets.into_iter()
        .take(MOST_MOVE_NODES)
        .find_map(|(_, _, gone)| moved(placed, pod, &gone, &owners))
}

/// Moves pods and places the pending one; `None` if that does not give all of them a node.
fn moved(
    placed: &Placed,
    pod: PodId,
    gone: &[PodId],
    owners: &BTreeMap<PodId, (usize, Option<usize>)>,
) -> Option<Vec<Moved>> {
    let mut tried = placed.scheduler.clone();
    let before = tried.evictions().len();
    let name = |node: NodeId| placed.scheduler.node(node).name.clone();
    let mut from = Vec::new();
    for own in gone {
        from.push(name(tried.state(*own).node()?));
        tried.finish(*own);
    }
    tried.retry_all();
    tried.schedule();
    tried.state(pod).node()?;
    let mut moved = Vec::new();
    for (own, from) in gone.iter().zip(from) {
        let new = tried.add(placed.scheduler.template_id(*own));
        tried.schedule();
        let PodState::Bound(to) = tried.state(new) else { return None };
        let (workload, number) = owners[own];
        moved.push(Moved { workload, number, from, to: name(to) });
    }
    (tried.evictions().len() == before).then_some(moved)
}

struct Search<'a> {
    fleet: &'a Fleet,
    /// Pods that are pending now.
    waiting: usize,
    tries: usize,
    found: Vec<(Remedy, usize)>,
}

impl Search<'_> {
    /// How many pods are pending in a changed fleet, if they are fewer and nothing is evicted.
    fn helps(&mut self, fleet: &Fleet) -> Option<usize> {
        self.tries = self.tries.checked_sub(1)?;
        let placed = fleet.place(Manner::default());
        let pending = placed.pending().count();
        (pending < self.waiting).then_some(pending)
    }

    /// One cordoned node, else all of them.
    fn uncordon(&mut self) {
        let cordoned: Vec<EcoString> = self
            .fleet
            .machines
            .iter()
            .filter(|own| own.cordoned && own.ready)
            .map(|own| own.name.clone())
            .collect();
        let mut best: Option<(usize, Vec<EcoString>)> = None;
        let singles = cordoned.iter().take(MOST_OF_A_KIND).map(|own| vec![own.clone()]);
        let sets: Vec<Vec<EcoString>> =
            singles.chain((cordoned.len() > 1).then(|| cordoned.clone())).collect();
        for names in sets {
            let change = |machine: &Machine| {
                names
                    .contains(&machine.name)
                    .then(|| Machine { cordoned: false, ..machine.clone() })
            };
            let fleet = with_machines(self.fleet, change);
            let Some(pending) = self.helps(&fleet) else { continue };
            if best.as_ref().is_none_or(|(least, _)| pending < *least) {
                best = Some((pending, names));
            }
            if pending == 0 {
                break;
            }
        }
        self.found.extend(best.map(|(pending, names)| (Remedy::Uncordon(names), pending)));
    }

    /// The pending workloads tolerate a taint.
    fn tolerate(&mut self, placed: &Placed, may_tolerate: impl Fn(usize) -> bool) {
        let pending: BTreeSet<usize> =
            placed.pending().map(|([workload, ..], _)| workload).collect();
        let pending: Vec<usize> = pending.into_iter().filter(|at| may_tolerate(*at)).collect();
        let mut seen = HashSet::new();
        let taints: Vec<Taint> = self
            .fleet
            .machines
            .iter()
            .filter(|own| own.ready && !own.cordoned)
            .flat_map(|own| &own.taints)
            .filter(|taint| !taint.key.starts_with("node.kubernetes.io/"))
            .filter(|taint| seen.insert(taint.to_string()))
            .take(MOST_OF_A_KIND)
            .cloned()
            .collect();
        for taint in taints {
            let toleration = Toleration {
                key: taint.key.clone(),
                exists: false,
                value: taint.value.clone(),
                effect: taint.effect.clone(),
            };
            let mut fleet = self.fleet.clone();
            let mut changed = Vec::new();
            for at in &pending {
                let own = &mut fleet.workloads[*at];
                if own.templates.iter().all(|template| template.tolerates(&taint)) {
                    continue;
                }
                changed.push(*at);
                for template in &mut own.templates {
                    Arc::make_mut(template).tolerations.push(toleration.clone());
                }
            }
            if changed.is_empty() {
                continue;
            }
            if let Some(pending) = self.helps(&fleet) {
                self.found.push((Remedy::Tolerate(taint, changed), pending));
            }
        }
    }
}

fn with_machines(fleet: &Fleet, change: impl Fn(&Machine) -> Option<Machine>) -> Fleet {
    let machines = fleet.machines.iter();
    let machines =
        machines.map(|own| change(own).map_or_else(|| Arc::clone(own), Arc::new)).collect();
    Fleet { machines, ..fleet.clone() }
}
