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

/// Counts replicas on one state of the nodes. Equal pods are counted once.
#[derive(Debug, Default)]
pub struct Rooms {
    known: HashMap<Alike, usize>,
    /// A copy on which replicas are tried that have to be placed to be counted.
    scratch: Option<Box<Scheduler>>,
    /// The nodes with what runs.
    before: Option<Box<(Placed, HashMap<Alike, usize>)>>,
    placed_alone: usize,
}

/// The pods of one more replica: those of the last one, as the first one may have more.
fn one_more(workload: &Workload) -> &[usize] {
    workload.replicas.last().map_or(&[0], |replica| &replica.pods)
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
            if let Some(known) = self.known.get(&key) {
                return *known;
            }
            let count = match placed.scheduler.capacity(only) {
                Some(count) => count,
                None => self.tried(placed, &templates),
            };
            self.known.insert(key, count);
            return count;
        }
        self.tried(placed, &templates)
    }

    fn tried(&mut self, placed: &Placed, templates: &[TemplateId]) -> usize {
        let scratch = self.scratch.get_or_insert_with(|| {
            let mut scratch = Box::new(placed.scheduler.clone());
            scratch.forget_waiting();
            scratch
        });
        scratch.probe(templates, MOST_TRIED)
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
        let (placed, known) = &mut **before;
        let plain = workload.replicas.iter().all(|replica| replica.pods == [0] && !replica.held);
        if plain && !workload.templates.is_empty() {
            let template = placed.template(at, 0);
            let key = placed.scheduler.alike(template);
            let capacity = match known.get(&key) {
                _ if !placed.scheduler.counts_by_room(template) => None,
                Some(known) => Some(*known),
                None => placed.scheduler.capacity(template),
            };
            if let Some(capacity) = capacity {
                known.insert(key, capacity);
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
