//! The state of a scheduler: nodes, pods, and the changes to them.

use super::budget::{Budget, Budgets};
use super::choice::Preference;
use super::chunks::Chunks;
use super::classes::Classes;
use super::devices::claims::Devices;
use super::ids::{GangId, NodeId, PodId, TemplateId};
use super::labels::LabelIndex;
use super::nodes::{Nodes, tainted_when_not_ready};
use super::pod::{Labels, PodTemplate};
use super::preempt::Nominated;
use super::queue::{Event, Hints, Place, Queue};
use super::reason::{PostFilter, Rejection};
use super::running::Belongings;
use super::services::Services;
use super::storage::claims::Storage;
use super::template::Compiled;
use super::terms::Terms;
use crate::cluster::Machine;
use crate::cluster::admission::{Admission, Ledger, Receipt, Usage, name_of, namespace_of};
use crate::cluster::schedule::running::{Pod, PodState, Started};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The options of a scheduler.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Labels of namespaces, for terms that select namespaces.
    pub namespaces: BTreeMap<EcoString, Labels>,
    /// Disruption budgets.
    pub budgets: Vec<Budget>,
    /// Services, which pods without spread constraints of their own spread by.
    pub services: Arc<Services>,
    /// Volumes and claims.
    pub storage: Storage,
    /// Devices and claims for them.
    pub devices: Devices,
    /// Quotas.
    pub quotas: Ledger,
    /// Nodes that are not ready are taken as they are. The scheduler does not read the condition; a
    /// cluster's node controller taints such nodes, and so does this engine unless this is set.
    pub ignore_ready: bool,
}

impl Options {
    /// Adds a PersistentVolumeClaim, after all quotas. One that is in no cluster yet is created: a limit
    /// or a quota may refuse it; `open` gives the reason where it is not known whether a limit does.
    pub fn add_claim(
        &mut self,
        object: &Node,
        admission: &Admission,
        open: impl Fn(&str, &Node, &str) -> Option<EcoString>,
    ) {
        let text = |path: &[&str]| object.at(path).and_then(Node::scalar_text).unwrap_or_default();
        let namespace = namespace_of(object);
        let usage = Arc::new(Usage::of_claim(object));
        let exists =
            !text(&["metadata", "uid"]).is_empty() || !text(&["status", "phase"]).is_empty();
        let bound = "pv.kubernetes.io/bind-completed";
        if exists || object.at(&["metadata", "annotations", bound]).is_some() {
            // What exists is counted even beyond the quota, and no LimitRange is asked again.
            self.quotas.take(&namespace, &usage);
            self.storage.set(object);
            return;
        }
        let limit = admission.refused_claim(&namespace, object);
        let open = limit.as_ref().and_then(|why| open(&namespace, object, why));
        let limit = limit.filter(|_| open.is_none());
        let charged = self.quotas.charge_claim(&namespace, &usage, limit.as_ref());
        if let Err(why) = charged {
            self.storage.refuse(&namespace, &name_of(object), &why);
        } else {
            self.storage.set(object);
            self.storage.leave_open(&namespace, &name_of(object), open);
        }
    }

    /// Adds an object of storage, devices or quotas, or a Service; others change nothing.
    pub fn add(&mut self, object: &Node) {
        if object.at(&["metadata", "uid"]).is_some() {
            self.storage.live();
        }
        match object.get("kind").and_then(Node::as_str) {
            Some("ResourceQuota") => self.quotas.set(object),
            Some("Service") => Arc::make_mut(&mut self.services).add(object),
            Some(kind) if Storage::reads(kind) => self.storage.set(object),
            Some(kind) if Devices::reads(kind) || kind == "Namespace" => {
                self.devices.set(object);
            }
            _ => {}
        }
    }
}

impl Default for Started {
    fn default() -> Self {
        Self::Later(u64::MAX)
    }
}

/// A pod that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The pod.
    pub victim: PodId,
    /// Where it ran.
    pub node: NodeId,
    /// The pod that gets the node.
    pub preemptor: PodId,
}

/// A cluster with a scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) nodes: Nodes,
    pub(super) index: LabelIndex,
    pub(super) terms: Terms,
    pub(super) classes: Classes,
    pub(super) templates: Chunks<Arc<Compiled>>,
    pub(super) pods: Chunks<Pod>,
    pub(super) nominated: Nominated,
    pub(super) budgets: Budgets,
    services: Arc<Services>,
    pub(super) storage: Storage,
    pub(super) devices: Devices,
    pub(super) quotas: Ledger,
    /// What some pods have in addition: claims and charges.
    pub(super) belongings: HashMap<PodId, Belongings>,
    /// Pods that are not scheduled before their claims are there.
    pub(super) held: BTreeSet<PodId>,
    pub(super) queue: Queue,
    pub(super) gangs: Vec<Vec<PodId>>,
    /// Bound pods by priority.
    pub(super) priorities: BTreeMap<i32, usize>,
    pub(super) evictions: Vec<Eviction>,
    /// Pods that are being deleted and use their nodes.
    pub(super) terminating: BTreeSet<PodId>,
    /// Pods that were deleted, in order.
    pub(super) deleted: Vec<PodId>,
    pub(super) ties: usize,
    pub(super) preference: Preference,
    /// The last rejection of each class, of how many nodes and after which preemption: many pods
    /// share one.
    pub(super) last_rejections: HashMap<usize, (usize, PostFilter, Arc<Rejection>)>,
    clock: u64,
    period: u64,
    pub(super) events: Vec<Event>,
    ignore_ready: bool,
    /// New pods with this label wait until a queue admits them.
    gate: Option<&'static str>,
    /// Those that wait, in the order of their creation.
    gated: BTreeSet<PodId>,
}

/// The message for a pod with a scheduling gate.
const GATED: &str = "Scheduling is blocked due to non-empty scheduling gates";

impl Scheduler {
    /// A cluster of these nodes.
    pub fn new(machines: impl IntoIterator<Item = Arc<Machine>>, options: &Options) -> Self {
        let machines = machines.into_iter().map(|machine| as_seen(machine, options.ignore_ready));
        let mut index = LabelIndex::new(options.namespaces.clone());
        Self {
            nodes: Nodes::new(machines),
            budgets: Budgets::new(&options.budgets, &mut index),
            index,
            terms: Terms::default(),
            classes: Classes::default(),
            templates: Chunks::default(),
            pods: Chunks::default(),
            nominated: Nominated::new(),
            services: Arc::clone(&options.services),
            storage: options.storage.clone(),
            devices: options.devices.clone(),
            quotas: options.quotas.clone(),
            belongings: HashMap::new(),
            held: BTreeSet::new(),
            queue: Queue::default(),
            gangs: Vec::new(),
            priorities: BTreeMap::new(),
            evictions: Vec::new(),
            terminating: BTreeSet::new(),
            deleted: Vec::new(),
            ties: 0,
            preference: Preference::default(),
            last_rejections: HashMap::new(),
            clock: 0,
            period: 1,
            events: Vec::new(),
            ignore_ready: options.ignore_ready,
            gate: None,
            gated: BTreeSet::new(),
        }
    }

    /// Adds a pod template.
    pub fn template(&mut self, pod: Arc<PodTemplate>) -> TemplateId {
        let id = TemplateId::new(self.templates.len());
        let pod = self.services.spread(pod);
        let Self { nodes, index, terms, classes, storage, .. } = self;
        let compiled = Compiled::new(pod, nodes, index, terms, classes, storage);
        self.templates.push(Arc::new(compiled));
        id
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(super) fn push(&mut self, template: TemplateId) -> PodId {
        let id = PodId::new(self.pods.len());
        let since = self.tick();
        self.pods.push(Pod {
            template,
            state: PodState::Waiting,
            started: Started::default(),
            preempted: false,
            nominated: None,
            rejection: None,
            gang: None,
            place: Place::Nowhere,
            since,
            tried: 0,
            ready: false,
        });
        let labels = self.compiled(id).labels;
        self.budgets.change(&self.index, labels, 1, 0);
        id
    }

    /// Adds a pod that is counted in quotas whether or not there is room, or with a receipt.
    pub(super) fn create(&mut self, template: TemplateId, receipt: Option<Receipt>) -> PodId {
        let pod = self.push(template);
        self.equip(pod, receipt, None);
        pod
    }

    /// Adds a pod that runs on a node.
    pub(super) fn create_on(&mut self, template: TemplateId, node: NodeId) -> PodId {
        let pod = self.push(template);
        self.equip(pod, None, Some(node));
        pod
    }

    pub(super) fn compiled(&self, pod: PodId) -> &Compiled {
        &self.templates[self.pods[pod.index()].template.index()]
    }

    /// A pod that runs already; none when there is no such node.
    pub fn run(
        &mut self,
        template: TemplateId,
        node: &str,
        started: Option<&str>,
    ) -> Option<PodId> {
        let node = self.nodes.id(node)?;
        let pod = self.create_on(template, node);
        self.bind(pod, node);
        if let Some(started) = started {
            self.pods[pod.index()].started = Started::At(started.into());
        }
        // What ran before is no event: no pod was tried yet that it could wake.
        self.events.clear();
        Some(pod)
    }

    /// A pod that is pending, whether or not admission would refuse it.
    pub fn add(&mut self, template: TemplateId) -> PodId {
        let pod = self.create(template, None);
        self.wait(pod);
        pod
    }

    /// A pod that a controller creates.
    ///
    /// # Errors
    /// The server's answer when admission refuses it.
    pub fn admit(&mut self, template: TemplateId) -> Result<PodId, EcoString> {
        let receipt = self.charge(template)?;
        let pod = self.create(template, receipt);
        self.wait(pod);
        Ok(pod)
    }

    /// Queues a new pod.
    fn wait(&mut self, pod: PodId) {
        if self.held.contains(&pod) {
            return;
        }
        let spec = &self.compiled(pod).pod;
        // A pod with nodeName passes the scheduler by: the kubelet of that node takes it.
        if let Some(node) = spec.node.clone() {
            if let Some(node) = self.nodes.id(&node) {
                let complete = self.take_volumes(pod, node, false);
                self.stay(pod, node, complete);
            }
        } else if spec.gated {
            self.say(pod, GATED.into());
        } else if self.is_gated(spec) {
            self.gated.insert(pod);
            self.say(pod, GATED.into());
        } else if !spec.foreign {
            self.enqueue(pod, Place::Active);
        }
    }

    /// Whether new pods of a template wait until a queue admits them.
    pub(super) fn is_gated(&self, pod: &PodTemplate) -> bool {
        self.gate.is_some_and(|label| pod.labels.get(label).is_some())
    }

    /// Why a pod is in no queue.
    fn say(&mut self, pod: PodId, message: EcoString) {
        let plugins = super::reason::Plugins::default();
        let rejection = Rejection { message, counts: BTreeMap::new(), plugins };
        self.pods[pod.index()].rejection = Some(Arc::new(rejection));
    }

    /// New pods with a label get a scheduling gate.
    pub fn gate(&mut self, label: &'static str) {
        self.gate = Some(label);
    }

    /// A pod that has such a gate already waits until a queue admits it.
    pub fn wait_for_gate(&mut self, pod: PodId) {
        self.gated.insert(pod);
    }

    /// The pods with that gate, those of high priority first, then by creation.
    pub fn gated(&self) -> Vec<PodId> {
        let waits = |pod: &PodId| self.pods[pod.index()].state == PodState::Waiting;
        let mut all: Vec<PodId> = self.gated.iter().copied().filter(waits).collect();
        // A stable sort: within a priority the order of creation stays.
        all.sort_by_key(|pod| std::cmp::Reverse(self.compiled(*pod).pod.priority));
        all
    }

    /// Removes the gate of a pod, which from now on is one of a template if there is one.
    pub fn open_gate(&mut self, pod: PodId, template: Option<TemplateId>) {
        if self.gated.remove(&pod) {
            let pod_info = &mut self.pods[pod.index()];
            pod_info.rejection = None;
            pod_info.template = template.unwrap_or(pod_info.template);
            match pod_info.gang {
                Some(gang) => self.enqueue_gang(gang),
                None => self.enqueue(pod, Place::Active),
            }
        }
    }

    /// A pod keeps its gate, for a reason.
    pub fn keep_gate(&mut self, pod: PodId, message: EcoString) {
        self.say(pod, message);
    }

    /// Pods of a gang that a controller creates; one that admission refuses refuses all.
    ///
    /// # Errors
    /// The server's answer.
    pub fn admit_gang(&mut self, templates: &[TemplateId]) -> Result<Vec<PodId>, EcoString> {
        let mut receipts = Vec::new();
        for template in templates {
            match self.charge(*template) {
                Ok(receipt) => receipts.push(receipt),
                Err(refused) => {
                    // The pods before it are not created either, so that their quota is free
                    // again.
                    for receipt in receipts.into_iter().flatten() {
                        self.quotas.release(&receipt);
                    }
                    return Err(refused);
                }
            }
        }
        Ok(self.gang(templates.iter().copied().zip(receipts)))
    }

    /// Adds pending pods that are placed together or not at all.
    pub fn add_gang(&mut self, templates: &[TemplateId]) -> Vec<PodId> {
        self.gang(templates.iter().map(|template| (*template, None)))
    }

    fn gang(&mut self, members: impl Iterator<Item = (TemplateId, Option<Receipt>)>) -> Vec<PodId> {
        let gang = GangId::new(self.gangs.len());
        let pods: Vec<PodId> =
            members.map(|(template, receipt)| self.create(template, receipt)).collect();
        for pod in &pods {
            self.pods[pod.index()].gang = Some(gang);
        }
        self.gangs.push(pods.clone());
        for pod in &pods {
            if self.is_gated(&self.compiled(*pod).pod) {
                self.gated.insert(*pod);
                self.say(*pod, GATED.into());
            }
        }
        self.enqueue_gang(gang);
        pods
    }

    /// Queues a gang when none of its pods has a gate: one entry stands for all members, which are tried
    /// with it.
    fn enqueue_gang(&mut self, gang: GangId) {
        let pods = &self.gangs[gang.index()];
        let first = pods.first().copied();
        if let Some(first) = first.filter(|_| !pods.iter().any(|pod| self.gated.contains(pod))) {
            self.enqueue(first, Place::Active);
        }
    }

    pub(super) fn enqueue(&mut self, pod: PodId, place: Place) {
        let priority = self.compiled(pod).pod.priority;
        let pod_info = &mut self.pods[pod.index()];
        pod_info.place = place;
        self.queue.push(place, pod, priority, pod_info.since);
    }

    /// The next pod to try.
    pub(super) fn next(&mut self) -> Option<PodId> {
        while let Some((place, pod)) = self.queue.pop() {
            let pod_info = &mut self.pods[pod.index()];
            // Entries are not removed when a pod moves; one that does not match is stale.
            if pod_info.place == place && pod_info.state == PodState::Waiting {
                pod_info.place = Place::Nowhere;
                return Some(pod);
            }
        }
        None
    }

    /// A pod found no node.
    pub(super) fn reject(&mut self, pod: PodId, rejection: Arc<Rejection>) {
        let since = self.tick();
        let pod_info = &mut self.pods[pod.index()];
        // The time of the last try sorts pods that wait, and the period tells whether they back
        // off.
        (pod_info.since, pod_info.tried) = (since, self.period);
        pod_info.place = Place::Unschedulable;
        self.queue.park(pod, rejection.plugins);
        pod_info.rejection = Some(rejection);
    }

    /// Binds a pod to a node.
    pub(super) fn bind(&mut self, pod: PodId, node: NodeId) {
        self.forget_nominated(pod);
        let complete = self.take_volumes(pod, node, true);
        self.stay(pod, node, complete);
    }

    /// A pod is on a node; without all of its volumes it does not start there.
    fn stay(&mut self, pod: PodId, node: NodeId, complete: bool) {
        let started = Started::Later(self.period);
        let pod_info = &mut self.pods[pod.index()];
        pod_info.state = if complete { PodState::Bound(node) } else { PodState::Reserved(node) };
        pod_info.place = Place::Nowhere;
        pod_info.rejection = None;
        pod_info.started = started;
        let template = pod_info.template;
        self.queue.unpark(pod);
        self.hold(pod, node, 1);
        if self.queue.has_crowded() {
            self.happens(Event::Bound(template));
        }
    }

    /// Adds (`sign` 1) or removes the resources of a pod on a node.
    fn hold(&mut self, pod: PodId, node: NodeId, sign: i32) {
        let pod_info = &self.pods[pod.index()];
        // Spreading ignores terminating pods, which still hold resources.
        let live = if matches!(pod_info.state, PodState::Terminating(_)) { 0 } else { sign };
        let template = &self.templates[pod_info.template.index()];
        self.nodes.take(node, pod, &template.pod, &template.requests, i64::from(sign));
        self.index.change(template.labels, node, sign, live);
        self.terms.change(&template.carried, node, sign);
        let count = self.priorities.entry(template.pod.priority).or_default();
        *count = count.saturating_add_signed(sign as isize);
        if *count == 0 {
            self.priorities.remove(&template.pod.priority);
        }
    }

    /// Unbinds a pod, as if it had never been bound.
    pub(super) fn unbind(&mut self, pod: PodId) {
        if let PodState::Bound(node) | PodState::Reserved(node) = self.pods[pod.index()].state {
            self.hold(pod, node, -1);
            self.unreserve(pod);
            self.pods[pod.index()].state = PodState::Waiting;
        }
    }

    /// Deletes a pod. A bound pod uses its node until [`Self::finish`]; a pod without a node is
    /// removed at once.
    pub fn delete(&mut self, pod: PodId) {
        match self.pods[pod.index()].state {
            PodState::Bound(node) => {
                // Before the state changes: only bound pods count as ready in budgets.
                self.set_ready(pod, false);
                self.pods[pod.index()].state = PodState::Terminating(node);
                self.terminating.insert(pod);
                self.deleted.push(pod);
                let labels = self.compiled(pod).labels;
                self.index.change(labels, node, 0, -1);
                self.budgets.change(&self.index, labels, -1, 0);
            }
            PodState::Waiting | PodState::Reserved(_) => {
                let labels = self.compiled(pod).labels;
                self.budgets.change(&self.index, labels, -1, 0);
                let reserved = self.pods[pod.index()].state.node();
                if let Some(node) = reserved {
                    self.hold(pod, node, -1);
                }
                self.pods[pod.index()].state = PodState::Gone;
                self.pods[pod.index()].place = Place::Nowhere;
                self.deleted.push(pod);
                self.held.remove(&pod);
                self.queue.unpark(pod);
                self.release_nominated(pod);
                self.leave(pod, false);
                // A pod that held no node frees nothing that others wait for.
                if reserved.is_some() {
                    let template = self.pods[pod.index()].template;
                    self.happens(Event::Deleted(vec![template], None));
                }
            }
            PodState::Terminating(_) | PodState::Gone => {}
        }
    }

    /// A running pod ends by itself: it needs nothing any more.
    pub fn succeed(&mut self, pod: PodId) {
        self.end(pod, true);
    }

    /// Removes a terminating pod and frees its capacity.
    pub fn finish(&mut self, pod: PodId) {
        self.end(pod, false);
    }

    fn end(&mut self, pod: PodId, stays: bool) {
        self.delete(pod);
        if let PodState::Terminating(node) = self.pods[pod.index()].state {
            self.hold(pod, node, -1);
            self.pods[pod.index()].state = PodState::Gone;
            self.terminating.remove(&pod);
            self.leave(pod, stays);
            let template = self.pods[pod.index()].template;
            self.happens(Event::Deleted(vec![template], None));
        }
    }

    /// A bound pod is ready, or is no longer.
    pub fn set_ready(&mut self, pod: PodId, ready: bool) {
        let pod_info = &mut self.pods[pod.index()];
        if pod_info.ready != ready && matches!(pod_info.state, PodState::Bound(_)) {
            pod_info.ready = ready;
            let labels = self.compiled(pod).labels;
            self.budgets.change(&self.index, labels, 0, if ready { 1 } else { -1 });
        }
    }

    fn forget_nominated(&mut self, pod: PodId) -> bool {
        let Some(node) = self.pods[pod.index()].nominated.take() else { return false };
        if let Some(list) = self.nominated.get_mut(&node) {
            list.retain(|other| *other != pod);
            if list.is_empty() {
                self.nominated.remove(&node);
            }
        }
        true
    }

    /// Removes the nominated node of a pod, which may help other pods.
    pub(super) fn release_nominated(&mut self, pod: PodId) {
        if self.forget_nominated(pod) {
            let template = self.pods[pod.index()].template;
            let priority = self.compiled(pod).pod.priority;
            self.happens(Event::Deleted(vec![template], Some(priority)));
        }
    }

    /// Nominates a node for a pod. Pods of lower priority lose their nomination of that node.
    pub(super) fn nominate(&mut self, pod: PodId, node: NodeId) {
        self.forget_nominated(pod);
        let priority = self.compiled(pod).pod.priority;
        let kept = self.nominated.get(&node).cloned().unwrap_or_default();
        // As upstream: they look for another node before this one is free.
        for other in kept {
            if self.compiled(other).pod.priority < priority {
                self.release_nominated(other);
            }
        }
        self.pods[pod.index()].nominated = Some(node);
        self.nominated.entry(node).or_default().push(pod);
    }

    /// Adds a node; `None` if a node of this name exists.
    #[cfg(test)]
    pub(crate) fn add_node(&mut self, machine: Arc<Machine>) -> Option<NodeId> {
        self.add_nodes([machine]).pop()
    }

    /// Adds nodes; those whose name exists are left out.
    pub fn add_nodes(&mut self, machines: impl IntoIterator<Item = Arc<Machine>>) -> Vec<NodeId> {
        let ignore_ready = self.ignore_ready;
        let seen = machines.into_iter().map(|machine| as_seen(machine, ignore_ready));
        let added = self.nodes.add(seen);
        for node in &added {
            self.happens(Event::NodeAdded(*node));
        }
        added
    }

    /// Replaces the description of a node: labels, taints, capacity.
    pub fn change_node(&mut self, node: NodeId, machine: Arc<Machine>) {
        let before = Arc::clone(self.nodes.machine(node));
        self.nodes.change(node, as_seen(machine, self.ignore_ready));
        self.happens(Event::NodeChanged(node, before));
    }

    /// Starts a new period: pods that were tried in an earlier period are no longer in backoff when
    /// an event wakes them.
    pub fn time_passes(&mut self) {
        self.period += 1;
    }

    /// All pods that wait are tried again, as the scheduler does every five minutes
    /// (`flushUnschedulablePodsLeftover`).
    pub fn retry_all(&mut self) {
        self.time_passes();
        let all: Vec<PodId> = self.queue.unschedulable().collect();
        for pod in all {
            self.wake(pod);
        }
    }

    fn wake(&mut self, pod: PodId) {
        let pod_info = &self.pods[pod.index()];
        // In the period of its last try a pod waits in backoff, as upstream for some seconds.
        let place = if pod_info.tried == self.period { Place::Backoff } else { Place::Active };
        self.queue.unpark(pod);
        self.enqueue(pod, place);
    }

    pub(super) fn happens(&mut self, event: Event) {
        if !self.queue.has_unschedulable() {
            return;
        }
        // Merges consecutive deletions into one event, so that waiting pods are checked once for
        // all of them.
        if let (Event::Deleted(more, None), Some(Event::Deleted(list, None))) =
            (&event, self.events.last_mut())
        {
            list.extend(
                more.iter()
                    .filter(|template| !list.contains(template))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            return;
        }
        self.events.push(event);
    }

    /// Moves pods that one of the new events may help back to the queue.
    pub(super) fn hear(&mut self) {
        for event in std::mem::take(&mut self.events) {
            let hints =
                Hints { nodes: &self.nodes, index: &self.index, templates: &self.templates };
            let helped = |pod: &PodId| {
                let pod_info = &self.pods[pod.index()];
                let plugins = pod_info.rejection.as_ref().map(|rejection| rejection.plugins);
                let devices =
                    self.belongings.get(pod).map(|belongings| belongings.devices.as_slice());
                hints.helps(
                    &event,
                    &self.templates[pod_info.template.index()],
                    devices.unwrap_or_default(),
                    plugins.unwrap_or_default(),
                )
            };
            let pods: Vec<PodId> =
                self.queue.concerned(&event).into_iter().filter(helped).collect();
            for pod in pods {
                self.wake(pod);
            }
        }
    }
}

fn as_seen(machine: Arc<Machine>, ignore_ready: bool) -> Arc<Machine> {
    if machine.ready || ignore_ready { machine } else { Arc::new(tainted_when_not_ready(&machine)) }
}
