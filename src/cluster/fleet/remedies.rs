//! What would give pending pods a node without new ones: each remedy is tried by placing the fleet
//! anew.

use super::moves::{Moved, moves};
use super::pack::Verdict;
use super::place::{Manner, Placed};
use super::{Fleet, Packing};
use crate::cluster::{Machine, Taint, Toleration};
use ecow::EcoString;
use std::collections::{BTreeSet, HashSet};
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
    /// These pods move, one after the other.
    Move(Vec<Moved>),
}

/// How often the fleet is placed anew, and the pods of all these times together.
const MOST_TRIES: usize = 24;
const MOST_PLACED: usize = 60_000;
/// Nodes and taints that are tried one by one.
const MOST_OF_A_KIND: usize = 6;

impl Fleet {
    /// Workloads that `may_tolerate` can be edited, and pods of others that `may_move` are created
    /// again by their controllers. Remedies with the number of pods that stay pending, the cheapest
    /// for a user first.
    pub fn remedies(
        &self,
        placed: &Placed,
        verdict: Verdict,
        may_tolerate: impl Fn(usize) -> bool,
        may_move: impl Fn(usize) -> bool,
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
        let moved = moves(self, placed, may_move).map(|moved| (Remedy::Move(moved), 0));
        let packed = match verdict {
            Verdict::IfPacked(packing) => Some(packing),
            Verdict::Fits | Verdict::DoesNotFit { .. } => None,
        };
        // Moving some pods costs less than placing everything again.
        let (before, after) = match packed {
            Some(packing) if packing.moves => (None, Some(packing)),
            packing => (packing, None),
        };
        search.found.extend(before.map(|packing| (Remedy::Pack(packing), 0)));
        search.found.extend(moved);
        search.found.extend(after.map(|packing| (Remedy::Pack(packing), 0)));
        search.found
    }
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
            .filter(|node| node.cordoned && node.ready)
            .map(|node| node.name.clone())
            .collect();
        let mut best: Option<(usize, Vec<EcoString>)> = None;
        let singles = cordoned.iter().take(MOST_OF_A_KIND).map(|cordoned| vec![cordoned.clone()]);
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
            .filter(|node| node.ready && !node.cordoned)
            .flat_map(|node| &node.taints)
            // Taints of conditions say that the node has a fault, which no toleration mends.
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
                let workload = &mut fleet.workloads[*at];
                if workload.templates.iter().all(|template| template.tolerates(&taint)) {
                    continue;
                }
                changed.push(*at);
                for template in &mut workload.templates {
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
        machines.map(|node| change(node).map_or_else(|| Arc::clone(node), Arc::new)).collect();
    Fleet { machines, ..fleet.clone() }
}
