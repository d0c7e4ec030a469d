//! The state of the simulation: groups, role replicas and pods, as they are in the controller's
//! store and in the API server.
//!
//! Upstream has two separate states. Here they are one tree, because they differ only in the middle
//! of a transition. Lists are sorted by ordinal, as upstream sorts them before each use.

use super::groups::Groups;
use super::strip::Strip;
use super::target::{Id, Target, TargetRole};
use super::trace::{Action, Cause, Event, Kind, Reason, Trace};
use crate::operators::kthena::rollout::group::{Group, Pod, Replica};
use crate::operators::kthena::rules::KthenaRelease;
use std::collections::{BTreeMap, BTreeSet};

/// Where a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
    pub(super) group: i64,
    pub(super) role: Id,
    pub(super) ordinal: i64,
    pub(super) index: i64,
}

/// How much there is at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Groups that run.
    pub(super) groups: i64,
    /// Pods that exist.
    pub(super) pods: i64,
    /// GPUs of pods that exist.
    pub(super) gpus: i64,
    /// Replicas that run, by role.
    pub(super) replicas: Vec<(Id, i64)>,
    /// Pods that exist, by the hash of their role's template and by whether they are workers.
    pub(super) templates: Vec<((Id, bool), i64)>,
}

impl Counts {
    pub(super) fn replica(&mut self, role: Id, change: i64) {
        match self.replicas.iter_mut().find(|(name, _)| *name == role) {
            Some((_, count)) => *count += change,
            None => self.replicas.push((role, change)),
        }
    }

    /// Adds or removes a pod.
    pub(super) fn pod(&mut self, pod: &Pod, change: i64) {
        self.pods += change;
        self.gpus = self.gpus.saturating_add(change.saturating_mul(pod.gpus));
        let key = (pod.template, pod.index != 0);
        match self.templates.iter_mut().find(|(template, _)| *template == key) {
            Some((_, count)) => *count += change,
            None => self.templates.push((key, change)),
        }
    }
}

/// How far a change is: groups first, then the roles of those that stay, then the templates.
#[derive(Clone, Debug, Default)]
pub(super) enum Progress {
    /// Surplus groups go from the highest ordinal down (Kthena blog, A Deep Dive of ModelServing,
    /// Scaling).
    #[default]
    Surplus,
    /// Missing ones come from the lowest up; those below an ordinal are there.
    Missing(i64),
    /// Roles follow in one group after another; the last is next (Kthena blog, A Deep Dive of
    /// ModelServing, Scaling and Role Scaling Process).
    Roles(Vec<i64>),
    /// Templates follow from the highest ordinal down to the partition; the last is next (Kthena
    /// blog, A Deep Dive of ModelServing, Rolling Update).
    Templates(Vec<i64>),
}

/// The state, and its recorded events.
pub(super) struct Cluster {
    pub(super) policy: &'static KthenaRelease,
    pub(super) target: Target,
    pub(super) groups: Groups,
    /// PodGroups of groups that do not exist, because their pods could not be created.
    pub(super) orphans: BTreeSet<i64>,
    /// The controller has, or had, groups of this ModelServing.
    pub(super) had_groups: bool,
    pub(super) current_revision: Option<Id>,
    pub(super) update_revision: Option<Id>,
    /// ControllerRevisions by the name of their revision: the roles as they were stored.
    pub(super) snapshots: BTreeMap<ecow::EcoString, (Id, Vec<TargetRole>)>,
    /// A reconcile is due.
    pub(super) queued: bool,
    /// Pods that never get ready once created.
    pub(super) held: BTreeSet<Address>,
    /// Pods that were created and are not ready; can include deleted ones.
    pub(super) starting: Vec<Address>,
    /// Pods that are terminating.
    pub(super) ending: Vec<Address>,
    pub(super) counts: Counts,
    /// The causes of deletions of groups that will be recreated.
    pub(super) owed_groups: Vec<Cause>,
    /// The causes of deletions of replicas that will be recreated, by group and role.
    pub(super) owed_replicas: BTreeMap<(i64, Id), Vec<Cause>>,
    /// Ordinals of the groups that the rows show, ascending, and how far these are.
    pub(super) columns: Vec<i64>,
    pub(super) strip: Strip,
    /// Ordinals of groups that are surplus.
    pub(super) surplus: std::ops::RangeInclusive<i64>,
    /// The first group that the partition did not protect when places were last looked at.
    pub(super) open_from: i64,
    /// The stage has requests.
    pub(super) busy: bool,
    pub(super) stage: u32,
    /// How far a change is, as the document has it.
    pub(super) progress: Progress,
    /// Whether events are recorded.
    pub(super) recording: bool,
    pub(super) trace: Trace,
}

impl Cluster {
    pub(super) fn new(policy: &'static KthenaRelease, target: Target, trace: Trace) -> Self {
        Self {
            policy,
            target,
            groups: Groups::default(),
            orphans: BTreeSet::new(),
            had_groups: false,
            current_revision: None,
            update_revision: None,
            snapshots: BTreeMap::new(),
            queued: false,
            held: BTreeSet::new(),
            starting: Vec::new(),
            ending: Vec::new(),
            counts: Counts::default(),
            owed_groups: Vec::new(),
            owed_replicas: BTreeMap::new(),
            columns: Vec::new(),
            strip: Strip::default(),
            // No ordinal is in it before the first target.
            surplus: i64::MAX..=i64::MAX,
            open_from: i64::MIN,
            busy: false,
            stage: 0,
            progress: Progress::default(),
            recording: false,
            trace,
        }
    }

    pub(super) fn group_mut(&mut self, ordinal: i64) -> Option<&mut Group> {
        self.groups.get_mut(ordinal)
    }

    /// The ordinal of the first group that the partition does not protect.
    pub(super) fn boundary(&mut self) -> i64 {
        self.groups.boundary(self.target.partition)
    }

    pub(super) fn replica_mut(
        &mut self,
        group: i64,
        role: Id,
        ordinal: i64,
    ) -> Option<&mut Replica> {
        let replicas = self.group_mut(group)?.role_mut(role);
        // Replicas are sorted by ordinal wherever they are inserted.
        let position = replicas.binary_search_by_key(&ordinal, |replica| replica.ordinal).ok()?;
        Some(&mut replicas[position])
    }

    pub(super) fn pod_mut(&mut self, at: Address) -> Option<&mut Pod> {
        self.replica_mut(at.group, at.role, at.ordinal)?
            .pods
            .iter_mut()
            .find(|pod| pod.index == at.index)
    }

    /// Records an event of a group or its PodGroup in this stage.
    pub(super) fn note_group(
        &mut self,
        action: Action,
        kind: Kind,
        group: i64,
        cause: Cause,
        reason: Reason,
    ) {
        self.note(Event {
            stage: self.stage,
            action,
            kind,
            group,
            replica: None,
            index: 0,
            cause,
            reason,
        });
    }

    /// Records an event of a role replica, its Service, or one of its pods in this stage.
    pub(super) fn note_replica(
        &mut self,
        action: Action,
        kind: Kind,
        at: Address,
        cause: Cause,
        reason: Reason,
    ) {
        self.note(Event {
            stage: self.stage,
            action,
            kind,
            group: at.group,
            replica: Some((at.role, at.ordinal)),
            index: at.index,
            cause,
            reason,
        });
    }

    /// Writes down that something runs which a stage began.
    pub(super) fn note_ready(&mut self, kind: Kind, at: Address, began: (u32, Cause)) {
        let replica = (kind != Kind::ServingGroup).then_some((at.role, at.ordinal));
        let (stage, cause) = began;
        self.note(Event {
            stage,
            action: Action::Ready,
            kind,
            group: at.group,
            replica,
            index: at.index,
            cause,
            reason: Reason::AllReady,
        });
    }

    fn note(&mut self, event: Event) {
        // The states before the change are built by the same transitions, unrecorded.
        if self.recording {
            self.busy |= event.kind.is_object() && event.action != Action::Ready;
            self.trace.events.push(event);
        }
    }
}
