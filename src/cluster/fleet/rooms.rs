//! How many more replicas of a workload would fit on a placed fleet, and whether a workload fits
//! without the others.

use super::place::{Manner, Placed};
use super::{Fleet, Workload};
use crate::cluster::schedule::{Alike, PodState, Scheduler, TemplateId};
use std::collections::HashMap;

/// More replicas than this are not tried one by one.
const MOST_TRIED: usize = 1000;
/// For more workloads than this, whether they fit without the others is not tried one by one.
const MOST_PLACED_ALONE: usize = 500;

/// Pods that are placed again, over all trials, to count replicas where pods that wait hold quota.
const MOST_PLACED_AGAIN: usize = 200_000;

/// Counts replicas on one state of the nodes. Equal pods are counted once.
#[derive(Debug, Default)]
pub struct Rooms {
    counted: HashMap<Alike, usize>,
    /// A copy on which replicas are tried that have to be placed to be counted.
    scratch: Option<Box<Scheduler>>,
    /// The nodes with what runs.
    before: Option<Box<(Placed, HashMap<Alike, usize>)>>,
    placed_alone: usize,
    /// The fleet with what is placed running, and its pods that have no node then.
    running: Option<Box<(Fleet, usize)>>,
    placed_again: usize,
}

/// The pods of one more replica: those of the last one, as the first one may have more.
fn one_more(workload: &Workload) -> &[usize] {
    workload.replicas.last().map_or(&[0], |replica| &replica.pods)
}

/// Whether pods of other workloads wait for a node and are counted in quotas of the same namespace.
fn shares_quota(placed: &Placed, fleet: &Fleet, at: usize) -> bool {
    let counted = |[workload, replica, pod]: [usize; 3]| {
        let workload = &fleet.workloads[workload];
        let template = workload.replicas.get(replica).and_then(|replica| replica.pods.get(pod));
        let template = &workload.templates[*template?];
        template.usage.is_some().then_some(&template.namespace)
    };
    let last = fleet.workloads[at].replicas.len().saturating_sub(1);
    let text = counted([at, last, 0]);
    text.is_some() && placed.pending().any(|(other, _)| other[0] != at && counted(other) == text)
}

impl Rooms {
    /// How many more replicas of a workload fit after everything is placed.
    pub fn more(&mut self, placed: &mut Placed, fleet: &Fleet, at: usize) -> usize {
        let workload = &fleet.workloads[at];
        if workload.templates.is_empty() {
            return 0;
        }
        let templates: Vec<TemplateId> =
            one_more(workload).iter().map(|template| placed.template(at, *template)).collect();
        if let [only] = templates[..]
            && placed.scheduler.counts_by_room(only)
        {
            let key = placed.scheduler.alike(only);
            if let Some(existing) = self.counted.get(&key) {
                return *existing;
            }
            let count = match placed.scheduler.capacity(only) {
                Some(count) => count,
                None => self.tried(placed, fleet, at, &templates),
            };
            self.counted.insert(key, count);
            return count;
        }
        self.tried(placed, fleet, at, &templates)
    }

    fn tried(
        &mut self,
        placed: &Placed,
        fleet: &Fleet,
        at: usize,
        templates: &[TemplateId],
    ) -> usize {
        let scratch = self.scratch.get_or_insert_with(|| {
            let mut scratch = Box::new(placed.scheduler.clone());
            // Pods that wait would take the room that is to be counted.
            scratch.forget_waiting();
            scratch
        });
        let count = scratch.probe(templates, MOST_TRIED);
        if shares_quota(placed, fleet, at) {
            self.beside_waiting(placed, fleet, at, count)
        } else {
            count
        }
    }

    /// Pods that wait for a node hold quota only if they come first: more replicas than the quota has
    /// left may fit, and some of those pods are refused instead of waiting. So the fleet is placed
    /// with more replicas, as long as no more pods are without a node.
    fn beside_waiting(
        &mut self,
        placed: &Placed,
        fleet: &Fleet,
        at: usize,
        mut count: usize,
    ) -> usize {
        let (running, waiting) = &mut **self.running.get_or_insert_with(|| {
            let mut running = fleet.clone();
            running.run_as(placed);
            let waiting = running.place(Manner::default()).without_node().count();
            Box::new((running, waiting))
        });
        let before = running.workloads[at].replicas.len();
        let Some(last) = running.workloads[at].replicas.last().cloned() else { return count };
        let placed_again = &mut self.placed_again;
        // `None` once that was asked too often.
        let mut fit = |count: usize| {
            running.workloads[at].replicas.resize(before + count, last.clone());
            let again = running.place(Manner::default());
            *placed_again += again.all().count();
            let is_known = *placed_again <= MOST_PLACED_AGAIN;
            let fit = again.evicted.is_empty() && again.without_node().count() <= *waiting;
            is_known.then_some(fit)
        };
        // Beside what runs, a pod that the quota refused may come before one that waits, and need the
        // room that was counted.
        while count > 0 && fit(count) == Some(false) {
            count -= 1;
        }
        while count < MOST_TRIED && fit(count + 1) == Some(true) {
            count += 1;
        }
        // The same fleet serves the next workload.
        running.workloads[at].replicas.truncate(before);
        count
    }

    /// Whether a workload fits beside what runs, if nothing else is planned; `None` if that was
    /// asked too often.
    pub fn alone(&mut self, fleet: &Fleet, at: usize) -> Option<bool> {
        let workload = &fleet.workloads[at];
        let before = self.before.get_or_insert_with(|| {
            let mut placed = fleet.beginning(Manner::default());
            placed.keep_all(fleet);
            Box::new((placed, HashMap::new()))
        });
        let (placed, before) = &mut **before;
        let plain =
            workload.replicas.iter().all(|replica| replica.pods == [0] && !replica.holds(0));
        if plain && !workload.templates.is_empty() {
            let template = placed.template(at, 0);
            let key = placed.scheduler.alike(template);
            let capacity = match before.get(&key) {
                _ if !placed.scheduler.counts_by_room(template) => None,
                Some(existing) => Some(*existing),
                None => placed.scheduler.capacity(template),
            };
            if let Some(capacity) = capacity {
                before.insert(key, capacity);
                let new = placed.slots[at].iter().filter(|slots| slots[0].pod.is_none());
                return Some(capacity >= new.count());
            }
        }
        self.placed_alone += 1;
        (self.placed_alone <= MOST_PLACED_ALONE).then(|| {
            let mut placed = placed.clone();
            let order: Vec<_> = (0..workload.replicas.len()).map(|replica| (at, replica)).collect();
            placed.want_all(fleet, &order);
            placed.settle(fleet);
            let bound = |pod| matches!(placed.scheduler.state(pod), PodState::Bound(_));
            placed.slots[at].iter().flatten().all(|slot| slot.pod.is_some_and(bound))
        })
    }
}
