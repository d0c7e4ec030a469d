//! The state: groups, role replicas and pods, as the controller's store and the API server hold
//! them.
//!
//! Upstream keeps the two apart; here they are one tree, because whatever is in the one without the
//! other is in the middle of a transition. Lists are sorted by ordinal, as upstream sorts them
//! whenever it looks.

use super::document::Progress;
use super::groups::Groups;
use super::strip::Strip;
use super::target::{Id, Target, TargetRole};
use super::trace::{Action, Cause, Event, Kind, Reason, Trace};
use crate::policy::KthenaPolicy;
use std::collections::{BTreeMap, BTreeSet};

/// What a group is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Creating,
    Running,
    Scaling,
    Deleting,
}

/// A pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod {
    pub(super) index: i64,
    pub(super) ready: bool,
    /// Deleted, and not yet gone.
    pub(super) terminating: bool,
    /// Never gets ready as long as this very pod exists.
    pub(super) held: bool,
    /// Annotation `controller.kubernetes.io/pod-deletion-cost`.
    pub(super) cost: i64,
    pub(super) gpus: i64,
    /// Hash of the role template it was made from.
    pub(super) template: Id,
    /// Stage in which it was created, and what for.
    pub(super) began: (u32, Cause),
}

/// A role replica.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) ordinal: i64,
    pub(super) revision: Id,
    pub(super) hash: Id,
    pub(super) status: Status,
    pub(super) pods: Vec<Pod>,
    pub(super) service: bool,
    /// Stage in which it was created, and what for.
    pub(super) began: (u32, Cause),
}

impl Replica {
    pub(super) fn cost(&self) -> i64 {
        self.pods.iter().fold(0, |sum: i64, pod| sum.saturating_add(pod.cost))
    }
}

/// The replicas of one role in one group.
#[derive(Clone, Debug)]
pub(super) struct GroupRole {
    pub(super) name: Id,
    pub(super) replicas: Vec<Replica>,
}

/// A ServingGroup.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) ordinal: i64,
    pub(super) revision: Id,
    pub(super) status: Status,
    pub(super) roles: Vec<GroupRole>,
    /// It has a PodGroup.
    pub(super) gang: bool,
    /// Nothing changed since its roles were last looked at, so that looking again would change
    /// nothing.
    pub(super) settled: bool,
    /// All its Services are there.
    pub(super) served: bool,
    /// The change touched it.
    pub(super) touched: bool,
    /// Stage in which it was created, and what for.
    pub(super) began: (u32, Cause),
}

impl Group {
    pub(super) fn new(ordinal: i64, revision: Id, began: (u32, Cause)) -> Self {
        Self {
            ordinal,
            revision,
            status: Status::Creating,
            roles: Vec::new(),
            gang: false,
            settled: false,
            served: false,
            touched: true,
            began,
        }
    }

    pub(super) fn role(&self, name: Id) -> &[Replica] {
        self.roles.iter().find(|role| role.name == name).map_or(&[], |role| &role.replicas)
    }

    pub(super) fn role_mut(&mut self, name: Id) -> &mut Vec<Replica> {
        let found = self.roles.iter().position(|role| role.name == name);
        let index = found.unwrap_or_else(|| {
            self.roles.push(GroupRole { name, replicas: Vec::new() });
            self.roles.len() - 1
        });
        &mut self.roles[index].replicas
    }

    pub(super) fn replicas(&self) -> impl Iterator<Item = (Id, &Replica)> {
        self.roles.iter().flat_map(|role| role.replicas.iter().map(|replica| (role.name, replica)))
    }

    pub(super) fn has_pods(&self) -> bool {
        self.replicas().any(|(_, replica)| !replica.pods.is_empty())
    }

    pub(super) fn has_unready_pods(&self) -> bool {
        self.replicas()
            .any(|(_, replica)| replica.pods.iter().any(|pod| !pod.ready && !pod.terminating))
    }

    pub(super) fn cost(&self) -> i64 {
        self.replicas().fold(0, |sum: i64, (_, replica)| sum.saturating_add(replica.cost()))
    }

    /// All replicas of all roles that are asked for run, and there are as many as are asked for.
    pub(super) fn is_ready(&self, target: &Target) -> bool {
        target.roles.iter().all(|role| {
            let replicas = self.role(role.name);
            i64::try_from(replicas.len()) == Ok(role.replicas)
                && replicas.iter().all(|replica| replica.status == Status::Running)
        })
    }
}

/// Where a pod stands.
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

    /// A pod comes or goes.
    pub(super) fn pod(&mut self, pod: &Pod, change: i64) {
        self.pods += change;
        self.gpus = self.gpus.saturating_add(change.saturating_mul(pod.gpus));
        let key = (pod.template, pod.index != 0);
        match self.templates.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += change,
            None => self.templates.push((key, change)),
        }
    }
}

/// The state, and what has happened to it.
pub(super) struct Cluster {
    pub(super) policy: &'static KthenaPolicy,
    pub(super) target: Target,
    pub(super) groups: Groups,
    /// PodGroups of groups that do not exist, because their pods could not be created.
    pub(super) orphans: BTreeSet<i64>,
    /// The controller knows groups of this ModelServing, or once did.
    pub(super) known: bool,
    pub(super) current_revision: Option<Id>,
    pub(super) update_revision: Option<Id>,
    /// ControllerRevisions by the name of their revision: the roles as they were stored.
    pub(super) snapshots: BTreeMap<ecow::EcoString, (Id, Vec<TargetRole>)>,
    /// A reconcile is due.
    pub(super) queued: bool,
    /// Pods that never get ready once created.
    pub(super) held: BTreeSet<Address>,
    /// Pods that were created and have not got ready; may name some that are gone.
    pub(super) starting: Vec<Address>,
    /// Pods that are terminating.
    pub(super) ending: Vec<Address>,
    pub(super) counts: Counts,
    /// What groups were deleted for that are to come back.
    pub(super) owed_groups: Vec<Cause>,
    /// What replicas were deleted for that are to come back, by group and role.
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
    /// What happens is written down.
    pub(super) recording: bool,
    pub(super) trace: Trace,
}

impl Cluster {
    pub(super) fn new(policy: &'static KthenaPolicy, target: Target, trace: Trace) -> Self {
        Self {
            policy,
            target,
            groups: Groups::default(),
            orphans: BTreeSet::new(),
            known: false,
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
        let position = replicas.binary_search_by_key(&ordinal, |replica| replica.ordinal).ok()?;
        Some(&mut replicas[position])
    }

    pub(super) fn pod_mut(&mut self, at: Address) -> Option<&mut Pod> {
        self.replica_mut(at.group, at.role, at.ordinal)?
            .pods
            .iter_mut()
            .find(|pod| pod.index == at.index)
    }

    /// Writes down what happens to a group or its PodGroup in this stage.
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

    /// Writes down what happens to a role replica, its Service, or one of its pods in this stage.
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
        if self.recording {
            self.busy |= event.kind.is_object() && event.action != Action::Ready;
            self.trace.events.push(event);
        }
    }
}
