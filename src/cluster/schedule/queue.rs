//! Pending pods: the next one to schedule, and the events after which one is tried again
//! (pkg/scheduler/backend/queue, and the queueing hints of the plugins).

use super::chunks::Chunks;
use super::ids::{NodeId, PodId, TemplateId};
use super::labels::LabelIndex;
use super::nodes::{Nodes, Resource, amount, slots};
use super::pod::{Disk, PodVolume};
use super::reason::Plugins;
use super::template::Compiled;
use super::terms::AffinityTerm;
use super::{devices, storage};
use crate::cluster::Machine;
use ecow::EcoString;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

/// Where a pod waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// In no queue: it is bound, deleted or gated.
    #[default]
    Nowhere,
    /// It is tried next.
    Active,
    /// It was tried in this period, and is tried again after all active pods.
    Backoff,
    /// It waits for an event that may help.
    Unschedulable,
}

/// Priority first, then the time of the last try, or of creation.
type Entry = (i32, Reverse<u64>, Reverse<PodId>);

/// The queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    active: BinaryHeap<Entry>,
    backoff: BinaryHeap<Entry>,
    /// Pods that wait for an event.
    unschedulable: BTreeSet<PodId>,
    /// Those that another pod on a node can help: they were rejected for spreading or pod affinity,
    /// or their try ended in an error.
    crowded: BTreeSet<PodId>,
}

impl Queue {
    pub(super) fn push(&mut self, place: Place, pod: PodId, priority: i32, since: u64) {
        let entry = (priority, Reverse(since), Reverse(pod));
        match place {
            Place::Active => self.active.push(entry),
            Place::Backoff => self.backoff.push(entry),
            Place::Unschedulable | Place::Nowhere => {}
        }
    }

    pub(super) fn park(&mut self, pod: PodId, plugins: Plugins) {
        self.unschedulable.insert(pod);
        // Binding a pod takes room and can help only these; all others are spared the look.
        if plugins.is_empty() || plugins.has(Plugins::SPREAD.with(Plugins::POD_AFFINITY)) {
            self.crowded.insert(pod);
        }
    }

    pub(super) fn unpark(&mut self, pod: PodId) {
        self.unschedulable.remove(&pod);
        self.crowded.remove(&pod);
    }

    /// Removes the next entry; the caller checks whether its pod is still in that queue.
    pub(super) fn pop(&mut self) -> Option<(Place, PodId)> {
        if let Some((_, _, Reverse(pod))) = self.active.pop() {
            return Some((Place::Active, pod));
        }
        self.backoff.pop().map(|(_, _, Reverse(pod))| (Place::Backoff, pod))
    }

    pub(super) fn unschedulable(&self) -> impl Iterator<Item = PodId> + '_ {
        self.unschedulable.iter().copied()
    }

    /// Pods that an event may help.
    pub(super) fn concerned(&self, event: &Event) -> Vec<PodId> {
        match event {
            Event::Bound(_) => self.crowded.iter().copied().collect(),
            _ => self.unschedulable.iter().copied().collect(),
        }
    }

    pub(super) fn has_unschedulable(&self) -> bool {
        !self.unschedulable.is_empty()
    }

    pub(super) fn has_crowded(&self) -> bool {
        !self.crowded.is_empty()
    }
}

/// A change of the cluster after which waiting pods may fit.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A pod was bound.
    Bound(TemplateId),
    /// Bound pods were deleted, or a pod lost its nominated node; the latter can help pods up to
    /// its priority.
    Deleted(Vec<TemplateId>, Option<i32>),
    /// A node came.
    NodeAdded(NodeId),
    /// A node changed; with its previous description.
    NodeChanged(NodeId, Arc<Machine>),
    /// Objects of volumes, devices or claims changed.
    Objects,
    /// Claims for volumes changed.
    Claims(Vec<storage::ClaimId>),
    /// A volume was bound; perhaps it was made for that.
    Volume {
        /// It is new.
        provisioned: bool,
    },
    /// Claims for devices changed.
    DeviceClaims(Vec<devices::ClaimId>),
    /// A claim gave its devices back.
    DevicesFreed,
}

fn matches_all(index: &LabelIndex, terms: &[AffinityTerm], other: &Compiled) -> bool {
    !terms.is_empty() && terms.iter().all(|term| index.matches(other.labels, term.heard))
}

/// Whether a pod that is gone used a claim or a disk of another one.
fn frees_volume(gone: &Compiled, pod: &Compiled) -> bool {
    let disks = |of: &Compiled| -> Vec<Disk> {
        let volumes = of.pod.volumes.iter();
        volumes
            .filter_map(|volume| match volume {
                PodVolume::Disk(disk) => Some(disk.clone()),
                PodVolume::Claim(_) | PodVolume::Ephemeral(..) | PodVolume::Inline(_) => None,
            })
            .collect()
    };
    let (pod_disks, others) = (disks(pod), disks(gone));
    gone.pod.namespace == pod.pod.namespace
        && (pod_disks.iter().any(|disk| others.iter().any(|other| disk.conflicts(other)))
            || pod.claims.iter().any(|claim| gone.claims.contains(claim)))
}

/// Whether a pod may have volumes that a driver attaches.
fn attaches(pod: &Compiled) -> bool {
    let claimed =
        |volume: &PodVolume| matches!(volume, PodVolume::Claim(_) | PodVolume::Ephemeral(..));
    pod.pod.volumes.iter().any(claimed)
}

/// The inputs of the decision whether an event helps.
pub(super) struct Hints<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) index: &'a LabelIndex,
    pub(super) templates: &'a Chunks<Arc<Compiled>>,
}

impl Hints<'_> {
    /// Whether an event may help a pod that these filters refused (`QueueingHintFn` of each);
    /// `devices` are its claims for devices.
    pub(super) fn helps(
        &self,
        event: &Event,
        pod: &Compiled,
        devices: &[Option<devices::ClaimId>],
        plugins: Plugins,
    ) -> bool {
        // No filter rejected the pod: there are no nodes, or the try ended in an error. The
        // scheduler tries it again and again (`determineSchedulingHintForInFlightPod`); here that
        // is after every change, as nothing else changes the answer.
        if plugins.is_empty() {
            return true;
        }
        match event {
            Event::Bound(template) => self.helps_when_bound(*template, pod, plugins),
            Event::Deleted(templates, up_to) => {
                up_to.is_none_or(|priority| pod.pod.priority <= priority)
                    && templates
                        .iter()
                        .any(|other| self.helps_when_gone(*other, up_to.is_none(), pod, plugins))
            }
            Event::Objects => plugins.has(Plugins::OBJECTS),
            Event::Claims(claims) => {
                plugins.has(Plugins::CLAIMS.with(Plugins::VOLUMES).with(Plugins::VOLUME_ZONE))
                    && pod.claims.iter().any(|claim| claims.contains(claim))
            }
            Event::Volume { provisioned } => {
                plugins.has(Plugins::VOLUMES) || (*provisioned && plugins.has(Plugins::VOLUME_ZONE))
            }
            Event::DeviceClaims(claims) => {
                plugins.has(Plugins::DEVICES)
                    && devices.iter().flatten().any(|claim| claims.contains(claim))
            }
            Event::DevicesFreed => plugins.has(Plugins::DEVICES),
            Event::NodeAdded(node) => self.helps_when_there(*node, None, pod, plugins),
            Event::NodeChanged(node, before) => {
                self.helps_when_there(*node, Some(before), pod, plugins)
            }
        }
    }

    fn spreads(&self, other: &Compiled, pod: &Compiled) -> bool {
        other.pod.namespace == pod.pod.namespace
            && pod
                .hard
                .iter()
                .any(|constraint| self.index.matches(other.labels, constraint.selector))
    }

    fn helps_when_bound(&self, template: TemplateId, pod: &Compiled, plugins: Plugins) -> bool {
        let other = &self.templates[template.index()];
        (plugins.has(Plugins::SPREAD) && self.spreads(other, pod))
            || (plugins.has(Plugins::POD_AFFINITY) && matches_all(self.index, &pod.affinity, other))
    }

    /// Whether a pod that is gone helps; it `was_bound`, or had a node nominated, which is no help
    /// against other pods.
    fn helps_when_gone(
        &self,
        template: TemplateId,
        was_bound: bool,
        pod: &Compiled,
        plugins: Plugins,
    ) -> bool {
        let other = &self.templates[template.index()];
        let frees_port = || {
            let ports = &other.pod.ports;
            pod.pod.ports.iter().any(|port| ports.iter().any(|other| port.conflicts(other)))
        };
        plugins.has(Plugins::FIT)
            || (plugins.has(Plugins::VOLUME_USE) && frees_volume(other, pod))
            || (plugins.has(Plugins::VOLUME_COUNT) && attaches(other))
            || (plugins.has(Plugins::PORTS) && frees_port())
            || (was_bound && plugins.has(Plugins::SPREAD) && self.spreads(other, pod))
            || (was_bound
                && plugins.has(Plugins::POD_AFFINITY)
                && matches_all(self.index, &pod.anti_affinity, other))
    }

    /// Whether a node that was added or changed helps.
    fn helps_when_there(
        &self,
        node: NodeId,
        before: Option<&Arc<Machine>>,
        pod: &Compiled,
        plugins: Plugins,
    ) -> bool {
        let now = self.nodes.machine(node);
        let template = &*pod.pod;
        let tolerates =
            |machine: &Machine| machine.taints.iter().all(|taint| template.tolerates(taint));
        // Each condition has to change from bad to good: what was good before did not keep the pod
        // away.
        let uncordoned = || !now.cordoned && before.is_none_or(|before| before.cordoned);
        let untainted = || tolerates(now) && before.is_none_or(|before| !tolerates(before));
        let selects = |machine: &Machine| template.selects(machine);
        let selected = || selects(now) && before.is_none_or(|before| !selects(before));
        let fits = || {
            let room = |resource, requested| self.nodes.allocatable(resource, node) >= requested;
            let more = |before: &Machine| {
                let grows = |resource: &Resource| {
                    let name = self.nodes.resource_name(*resource);
                    amount(now, name) > amount(before, name)
                };
                slots(now) > slots(before)
                    || pod.requests.iter().any(|(resource, _)| grows(resource))
            };
            pod.requests.iter().all(|(resource, requested)| room(*resource, *requested))
                && slots(now) > 0
                && before.is_none_or(|before| more(before))
        };
        let value = |machine: &Machine, key: usize| {
            machine.label(self.nodes.topology_key(key)).map(ToOwned::to_owned)
        };
        let moved = |key: usize| before.is_some_and(|before| value(before, key) != value(now, key));
        let retainted = |before: &Machine| {
            (&before.taints, &before.soft_taints) != (&now.taints, &now.soft_taints)
        };
        let spread = || {
            let labeled = |machine: &Machine| {
                pod.hard.iter().all(|constraint| value(machine, constraint.key).is_some())
            };
            match before {
                None => labeled(now),
                Some(before) if labeled(before) != labeled(now) => true,
                Some(before) => {
                    labeled(now)
                        && (retainted(before)
                            || pod.hard.iter().any(|constraint| moved(constraint.key)))
                }
            }
        };
        let interpod = || {
            // A node without the key has room for no pod with affinity, and for each with
            // anti-affinity.
            let has = |machine: &Machine, key: usize| value(machine, key).is_some();
            let near =
                |term: &AffinityTerm| has(now, term.key) && (before.is_none() || moved(term.key));
            let apart = |term: &AffinityTerm| {
                before.is_none_or(|before| has(before, term.key) && moved(term.key))
            };
            pod.affinity.iter().any(near) || pod.anti_affinity.iter().any(apart)
        };
        let relabeled = || before.is_none_or(|before| !same_labels(before, now));
        let by_labels = Plugins::VOLUMES.with(Plugins::VOLUME_ZONE).with(Plugins::DEVICES);
        let by_new = Plugins::PORTS
            .with(Plugins::VOLUME_USE)
            .with(Plugins::VOLUME_COUNT)
            .with(Plugins::CLAIMS);
        // Plugins that hear of new nodes but not of taints are told of every changed taint
        // (`buildQueueingHintMap`).
        let heard = |before: &Arc<Machine>| retainted(before) || (before.cordoned && !now.cordoned);
        let by_taints = Plugins::NODE_AFFINITY
            .with(by_labels)
            .with(Plugins::PORTS)
            .with(Plugins::FIT)
            .with(Plugins::VOLUME_USE)
            .with(Plugins::CLAIMS)
            .with(Plugins::POD_AFFINITY);
        let resized = || before.is_some_and(|before| before.allocatable != now.allocatable);
        (plugins.has(by_labels) && relabeled())
            || (plugins.has(by_taints) && before.is_some_and(heard))
            || (plugins.has(Plugins::DEVICES) && resized())
            || (plugins.has(Plugins::NODE_UNSCHEDULABLE) && uncordoned())
            || (plugins.has(Plugins::TAINTS) && untainted())
            || (plugins.has(Plugins::NODE_AFFINITY) && selected())
            || (plugins.has(by_new) && before.is_none())
            || (plugins.has(Plugins::FIT) && fits())
            || (plugins.has(Plugins::SPREAD) && spread())
            || (plugins.has(Plugins::POD_AFFINITY) && interpod())
    }
}

fn same_labels(one: &Machine, other: &Machine) -> bool {
    let list = |machine: &Machine| -> Vec<(EcoString, Option<EcoString>)> {
        machine.labels.iter().map(|label| (label.key.clone(), label.node.scalar_text())).collect()
    };
    list(one) == list(other)
}
