//! Puts a fleet on its nodes.

use super::{Fleet, Running, Workload};
use crate::cluster::schedule::chunks::Chunks;
use crate::cluster::schedule::{
    Eviction, NodeId, PodId, PodState, Preference, Scheduler, TemplateId,
};
use ecow::EcoString;
use foldhash::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How a fleet is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Which of the nodes that fit is taken.
    pub preference: Preference,
    /// Replicas that request much come first, within a priority.
    pub largest_first: bool,
    /// Pods that run do not keep their places.
    pub moves: bool,
    /// Of equally good nodes the last by name is taken.
    pub reversed: bool,
}

/// A pod that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The pod; none where it may not be started yet.
    pub pod: Option<PodId>,
    /// It ran before and keeps its node.
    pub kept: bool,
    /// The number of the running pod that it is.
    pub number: Option<usize>,
}

/// The owner of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// Of others, by place in their list.
    Other(usize),
    /// Of a workload: workload, replica, place in the replica.
    Wanted(usize, usize, usize),
}

/// The owners of the pods of a scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders(Chunks<Option<Holder>>);

impl Holders {
    pub(super) fn get(&self, pod: PodId) -> Option<&Holder> {
        self.0.get(pod.index())?.as_ref()
    }

    pub(super) fn insert(&mut self, pod: PodId, holder: Holder) {
        while self.0.len() <= pod.index() {
            self.0.push(None);
        }
        self.0[pod.index()] = Some(holder);
    }
}

/// The pods of a workload by replica.
pub type Slots = Arc<Vec<Vec<Slot>>>;

/// A fleet on its nodes.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The cluster.
    pub scheduler: Scheduler,
    /// By workload and replica, the pods. Copies of a fleet share what they do not change.
    pub slots: Vec<Slots>,
    /// Evictions, with the owners of the evicted pod and of the new one.
    pub evicted: Vec<(Eviction, Holder, Holder)>,
    /// Pods that the API server does not create, with its answer.
    pub refused: BTreeMap<[usize; 3], EcoString>,
    /// Workload and replica of pods that ran on nodes that are gone, in the order in which their
    /// controllers create them again.
    pub lost: Vec<(usize, usize)>,
    /// Workload and replica of pods that ran and were evicted by pods of a higher priority.
    pub displaced: Vec<(usize, usize)>,
    pub(super) templates: Vec<Vec<TemplateId>>,
    /// Evictions that were looked at.
    pub(super) seen: usize,
    /// By pod.
    pub(super) holders: Holders,
    /// The fleet before any pod was wanted. The lock is there for other threads: a cluster remembers
    /// what it looked up.
    beginning: Option<Arc<Mutex<Placed>>>,
}

impl Placed {
    /// The cluster, and the pods by workload and replica.
    pub fn into_parts(self) -> (Scheduler, Vec<Slots>) {
        (self.scheduler, self.slots)
    }

    pub(super) fn slot_mut(&mut self, [workload, replica, at]: [usize; 3]) -> &mut Slot {
        &mut Arc::make_mut(&mut self.slots[workload])[replica][at]
    }

    /// The node of a pod that is wanted.
    pub fn node(&self, slot: Slot) -> Option<NodeId> {
        self.scheduler.state(slot.pod?).node()
    }

    /// All planned pods, with their owners.
    pub fn all(&self) -> impl Iterator<Item = ([usize; 3], Slot)> + '_ {
        self.slots.iter().enumerate().flat_map(|(workload, replicas)| {
            replicas.iter().enumerate().flat_map(move |(replica, slots)| {
                let slots = slots.iter().enumerate();
                slots.map(move |(at, slot)| ([workload, replica, at], *slot))
            })
        })
    }

    /// The pods of others, with their places in the list.
    pub fn others(&self) -> Vec<(PodId, usize)> {
        let other = |pod: PodId| match self.holders.get(pod)? {
            Holder::Other(at) => Some((pod, *at)),
            Holder::Wanted(..) => None,
        };
        self.scheduler.pods().filter_map(other).collect()
    }

    /// The wanted pods without a node: those that wait for one, then those that a quota refused.
    pub fn without_node(&self) -> impl Iterator<Item = [usize; 3]> {
        let waiting = self.pending().map(|(at, _)| at);
        waiting.chain(self.refused.keys().copied())
    }

    /// Pods that may be started and have no node.
    pub fn pending(&self) -> impl Iterator<Item = ([usize; 3], PodId)> + '_ {
        let entries = self.all().filter_map(|(at, slot)| Some((at, slot.pod?)));
        entries.filter(|(_, pod)| self.scheduler.state(*pod) == PodState::Waiting)
    }

    /// The number that the scheduler has for a template of a workload.
    pub fn template(&self, workload: usize, template: usize) -> TemplateId {
        self.templates[workload][template]
    }

    /// Running pods keep their nodes while these pass the filters.
    pub(super) fn keep_all(&mut self, fleet: &Fleet) {
        let sequence = fleet.sequence();
        // Pods that did not change run already and cannot be displaced by those that do.
        for changed in [false, true] {
            for at in sequence.iter().filter(|at| fleet.workloads[**at].changed == changed) {
                self.keep(fleet, *at);
            }
        }
    }

    /// Adds the missing pods of replicas, in order.
    pub fn want_all(&mut self, fleet: &Fleet, order: &[(usize, usize)]) {
        // Incomplete jobs are first (the job order of Volcano's plugin `gang`).
        for others in [false, true] {
            for (workload, replica) in order {
                self.want(fleet, *workload, *replica, others);
            }
        }
    }

    fn keep(&mut self, fleet: &Fleet, workload: usize) {
        let record = &fleet.workloads[workload];
        let mut left: Vec<&Running> = record.running.iter().collect();
        // A pod of a workload that is spread may pass only beside those that come after it.
        loop {
            let before = left.len();
            left.retain(|running| !self.keeps(record, workload, running));
            if left.is_empty() || left.len() == before {
                return;
            }
        }
    }

    /// Whether a running pod keeps its node, or has no node or replica to keep.
    fn keeps(&mut self, record: &Workload, workload: usize, running: &Running) -> bool {
        let Some(node) = self.scheduler.node_id(&running.node) else { return true };
        let template = self.templates[workload][running.template];
        let free = |replica: usize| {
            let wanted = record.replicas.get(replica).filter(|wanted| !wanted.held)?;
            let slots = &self.slots[workload][replica];
            (0..slots.len()).find(|at| {
                slots[*at].pod.is_none()
                    && wanted.pods[*at] == running.template
                    && !wanted.holds(*at)
            })
        };
        let place = match running.replica {
            Some(replica) => free(replica).map(|at| (replica, at)),
            None => (0..record.replicas.len()).find_map(|replica| Some((replica, free(replica)?))),
        };
        let Some((replica, at)) = place else { return true };
        // A pod that was placed has its claims, whatever the quota is now.
        let _made = self.claim(record, running.template);
        let pod = if record.runs_on {
            self.scheduler.run(template, &running.node, None)
        } else {
            self.scheduler.add_to(template, node)
        };
        let Some(pod) = pod else { return false };
        if let Some(started) = &running.started {
            self.scheduler.set_started(pod, started);
        }
        *self.slot_mut([workload, replica, at]) =
            Slot { pod: Some(pod), kept: true, number: Some(running.number) };
        self.holders.insert(pod, Holder::Wanted(workload, replica, at));
        true
    }

    /// Adds the pods of a replica that are placed together or not at all, or, in a second round,
    /// the other ones.
    fn want(&mut self, fleet: &Fleet, workload: usize, replica: usize, others: bool) {
        let wanted = &fleet.workloads[workload].replicas[replica];
        if wanted.held || (others && wanted.together == 0) {
            return;
        }
        let slots = &self.slots[workload][replica];
        let is_missing = |at: &usize| slots[*at].pod.is_none() && !wanted.holds(*at);
        let missing: Vec<usize> = (0..slots.len()).filter(is_missing).collect();
        let (together, alone): (Vec<usize>, Vec<usize>) =
            missing.into_iter().partition(|at| *at < wanted.together);
        let alone = if others || wanted.together == 0 { alone } else { Vec::new() };
        let record = &fleet.workloads[workload];
        let mut new: Vec<(usize, Result<PodId, EcoString>)> = Vec::new();
        if together.len() > 1 {
            let templates: Vec<usize> = together.iter().map(|at| wanted.pods[*at]).collect();
            match self.admit_gang(record, workload, &templates) {
                Ok(pods) => new.extend(together.into_iter().zip(pods.into_iter().map(Ok))),
                Err(why) => new.extend(together.into_iter().map(|at| (at, Err(why.clone())))),
            }
        } else {
            for at in together {
                new.push((at, self.admit(record, workload, wanted.pods[at])));
            }
        }
        for at in alone {
            new.push((at, self.admit(record, workload, wanted.pods[at])));
        }
        for (at, pod) in new {
            self.answered([workload, replica, at], pod);
        }
    }

    /// Creates a pod of a template of a workload, its claims first.
    fn admit(
        &mut self,
        record: &Workload,
        workload: usize,
        template: usize,
    ) -> Result<PodId, EcoString> {
        self.claim(record, template)?;
        self.scheduler.admit(self.templates[workload][template])
    }

    /// The same for pods that start together or not at all.
    fn admit_gang(
        &mut self,
        record: &Workload,
        workload: usize,
        templates: &[usize],
    ) -> Result<Vec<PodId>, EcoString> {
        for template in templates {
            self.claim(record, *template)?;
        }
        let ids: Vec<TemplateId> =
            templates.iter().map(|at| self.templates[workload][*at]).collect();
        self.scheduler.admit_gang(&ids)
    }

    fn claim(&mut self, workload: &Workload, template: usize) -> Result<(), EcoString> {
        let mut claims = workload.claims.get(template).into_iter().flatten();
        claims.try_for_each(|claim| self.scheduler.create_claim(claim))
    }

    /// A wanted pod was created, or its quota refused it.
    fn answered(&mut self, [workload, replica, at]: [usize; 3], pod: Result<PodId, EcoString>) {
        match pod {
            Ok(pod) => {
                self.slot_mut([workload, replica, at]).pod = Some(pod);
                self.holders.insert(pod, Holder::Wanted(workload, replica, at));
                self.refused.remove(&[workload, replica, at]);
            }
            Err(why) => _ = self.refused.insert([workload, replica, at], why),
        }
    }

    /// Adds the pods that a quota refused, in order of arrival: controllers try again when pods are
    /// gone.
    fn want_refused(&mut self, fleet: &Fleet) {
        let refused: BTreeSet<(usize, usize)> =
            self.refused.keys().map(|[workload, replica, _]| (*workload, *replica)).collect();
        if refused.is_empty() {
            return;
        }
        for (workload, replica) in
            fleet.arrivals().into_iter().filter(|arrival| refused.contains(arrival))
        {
            self.want(fleet, workload, replica, false);
            self.want(fleet, workload, replica, true);
        }
    }

    /// Places pending pods. Evicted pods are deleted; planned ones are added again.
    pub(super) fn settle(&mut self, fleet: &Fleet) {
        loop {
            self.scheduler.schedule();
            let new = self.scheduler.evictions()[self.seen..].to_vec();
            self.seen += new.len();
            if new.is_empty() {
                // Volumes that are made for a node bind the pods that wait for them.
                if self.scheduler.bind_claims() {
                    continue;
                }
                return;
            }
            for eviction in new {
                // Grace periods are left out: the node is free at once.
                self.scheduler.finish(eviction.victim);
                let holder = |pod: PodId| self.holders.get(pod).copied();
                let (Some(victim), Some(cause)) =
                    (holder(eviction.victim), holder(eviction.preemptor))
                else {
                    continue;
                };
                self.evicted.push((eviction, victim, cause));
                if let Holder::Wanted(workload, replica, at) = victim {
                    let record = &fleet.workloads[workload];
                    let new = self.admit(record, workload, record.replicas[replica].pods[at]);
                    if self.slots[workload][replica][at].kept {
                        self.displaced.push((workload, replica));
                    }
                    // Before the answer, which may find that a quota refuses the new pod.
                    *self.slot_mut([workload, replica, at]) = Slot::default();
                    self.answered([workload, replica, at], new);
                }
            }
            self.want_refused(fleet);
        }
    }
}

impl Fleet {
    /// Puts everything on the nodes: pods of others are where they are, pods that run keep their
    /// nodes while these pass the filters, the others are placed as the scheduler would.
    pub fn place(&self, manner: Manner) -> Placed {
        self.place_from(self.beginning(manner), manner)
    }

    /// The same from a beginning.
    pub(super) fn place_from(&self, beginning: Placed, manner: Manner) -> Placed {
        let mut placed = beginning.clone();
        placed.beginning = Some(Arc::new(Mutex::new(beginning)));
        if !manner.moves {
            placed.keep_all(self);
        }
        // After running pods have their nodes: the preference is about new ones only.
        placed.scheduler.set_preference(manner.preference);
        let mut order = self.arrivals();
        // What ran comes before what is new.
        placed.lost = self.lost(&placed);
        order.splice(0..0, placed.lost.iter().copied());
        if manner.largest_first {
            // The sort is stable: equal replicas stay in the order of arrival.
            order.sort_by_key(|(workload, replica)| Reverse(self.size(*workload, *replica)));
        }
        placed.want_all(self, &order);
        placed.settle(self);
        placed
    }

    /// The beginning of a placement of this fleet.
    pub(super) fn beginning_of(&self, placed: &Placed) -> Placed {
        match &placed.beginning {
            Some(beginning) => beginning.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => self.beginning(Manner::default()),
        }
    }

    /// The nodes with the pods of others, and no pod that is wanted.
    pub(super) fn beginning(&self, manner: Manner) -> Placed {
        let mut scheduler = Scheduler::new(self.machines.iter().cloned(), &self.options);
        if manner.reversed {
            let mut nodes: Vec<NodeId> = scheduler.nodes().map(|(node, _)| node).collect();
            nodes.sort_by_key(|node| Reverse(scheduler.node(*node).name.clone()));
            scheduler.prefer(&nodes);
        }
        self.on(scheduler)
    }

    /// The same on a cluster that exists; the pods of others are added to it.
    pub fn on(&self, mut scheduler: Scheduler) -> Placed {
        let mut by_key = HashMap::default();
        let mut holders = Holders::default();
        for (at, other) in self.others.iter().enumerate() {
            let template = *by_key
                // By address: pods of others share their templates, and comparing pointers costs
                // nothing.
                .entry(Arc::as_ptr(&other.template))
                .or_insert_with(|| scheduler.template(Arc::clone(&other.template)));
            let pod = scheduler.run(template, &other.node, other.started.as_deref());
            if let Some(pod) = pod {
                holders.insert(pod, Holder::Other(at));
            }
        }
        let templates: Vec<Vec<TemplateId>> = self
            .workloads
            .iter()
            .map(|workload| {
                let templates = workload.templates.iter();
                templates.map(|template| scheduler.template(Arc::clone(template))).collect()
            })
            .collect();
        let slots = |workload: &super::Workload| -> Vec<Vec<Slot>> {
            let replicas = workload.replicas.iter();
            replicas.map(|replica| vec![Slot::default(); replica.pods.len()]).collect()
        };
        let slots = |workload| Arc::new(slots(workload));
        Placed {
            slots: self.workloads.iter().map(slots).collect(),
            evicted: Vec::new(),
            refused: BTreeMap::new(),
            lost: Vec::new(),
            displaced: Vec::new(),
            seen: 0,
            scheduler,
            templates,
            holders,
            beginning: None,
        }
    }

    /// Devices, then memory, then processors that a replica requests.
    pub(super) fn size(&self, workload: usize, replica: usize) -> [i64; 3] {
        let workload = &self.workloads[workload];
        let pods = workload.replicas[replica].pods.iter().map(|at| &workload.templates[*at]);
        let amounts = pods.flat_map(|template| &template.requests);
        let mut size = [0_i64; 3];
        for (name, amount) in amounts {
            let at = match name.as_str() {
                "memory" => 1,
                "cpu" => 2,
                name if name.contains('/') => 0,
                _ => continue,
            };
            size[at] = size[at].saturating_add(*amount);
        }
        size
    }
}
