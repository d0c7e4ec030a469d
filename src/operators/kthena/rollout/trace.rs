//! All requests and all pods that become ready, in order.

use super::target::{Id, Names};
use crate::operators::kthena::objects::names;
use ecow::EcoString;
use std::fmt;

/// The action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Something is created.
    Create,
    /// Something is deleted.
    Delete,
    /// Something runs.
    Ready,
    /// A pod or group does not become ready and blocks the others.
    Wait,
}

impl Action {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Ready => "ready",
            Self::Wait => "wait",
        }
    }
}

/// The kind of the subject. Groups and role replicas are not objects of the API, but units of the
/// controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A PodGroup.
    PodGroup,
    /// A pod.
    Pod,
    /// A headless Service.
    Service,
    /// A whole group.
    ServingGroup,
    /// A role replica.
    Role,
}

impl Kind {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PodGroup => "PodGroup",
            Self::Pod => "Pod",
            Self::Service => "Service",
            Self::ServingGroup => "ServingGroup",
            Self::Role => "Role",
        }
    }

    /// Whether it is an object of the API.
    pub fn is_object(self) -> bool {
        matches!(self, Self::PodGroup | Self::Pod | Self::Service)
    }
}

/// The reason for which a change touches an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More or fewer groups.
    Groups,
    /// More or fewer replicas of a role, or of their pods.
    Roles,
    /// A new revision, group by group.
    Update,
    /// A new revision, role by role.
    RoleUpdate,
    /// A failed pod.
    Recovery,
    /// Missing PodGroups and Services of existing groups.
    Upkeep,
}

/// Why something happens now and to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The ordinal is free and wanted.
    MissingOrdinal,
    /// The ordinal is protected by the partition and is recreated unchanged.
    Protected,
    /// A role replica has fewer pods than its role requests.
    MissingPods,
    /// There are too many; this one does not run.
    SurplusNotRunning,
    /// There are too many; this one is the cheapest to delete.
    SurplusCost(i64),
    /// There are too many; this one has the highest ordinal.
    SurplusOrdinal,
    /// There are too many groups, and not enough outside the partition.
    SurplusProtected,
    /// Its revision is old, and it does not run anyway.
    OutdatedNotRunning,
    /// Its revision is old, and it has the highest ordinal of those.
    OutdatedOrdinal,
    /// Its role is no longer requested.
    RoleRemoved,
    /// A container of it crashed.
    Crashed,
    /// One of its pods is deleted.
    PodLost,
    /// Its pods, PodGroup or Service are missing while it runs.
    Upkeep,
    /// The topology was removed, so that PodGroups are recreated.
    TopologyRemoved,
    /// All its pods are ready.
    AllReady,
    /// One of its pods never becomes ready.
    NeverReady,
    /// Its pods find no place on the nodes.
    NoPlace,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingOrdinal => f.write_str("lowest free ordinal"),
            Self::Protected => {
                f.write_str("protected by the partition: comes back with its revision")
            }
            Self::MissingPods => f.write_str("its role replica lacks pods"),
            Self::SurplusNotRunning => f.write_str("too many: those that do not run go first"),
            Self::SurplusCost(cost) => write!(f, "too many: lowest deletion cost ({cost})"),
            Self::SurplusOrdinal => f.write_str("too many: highest ordinal"),
            Self::SurplusProtected => f.write_str("too many: the unprotected ones are not enough"),
            Self::OutdatedNotRunning => f.write_str("outdated: those that do not run go first"),
            Self::OutdatedOrdinal => f.write_str("outdated: highest ordinal"),
            Self::RoleRemoved => f.write_str("its role was removed"),
            Self::Crashed => f.write_str("a container crashed"),
            Self::PodLost => f.write_str("a pod of it was deleted"),
            Self::Upkeep => f.write_str("missing beside what runs"),
            Self::TopologyRemoved => f.write_str("networkTopology was removed"),
            Self::AllReady => f.write_str("all its pods are ready"),
            Self::NeverReady => f.write_str("a pod of it does not get ready"),
            Self::NoPlace => f.write_str("its pods do not fit on the nodes"),
        }
    }
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Stage of the simulation, from 0; stages without requests have no number.
    pub stage: u32,
    /// The action.
    pub action: Action,
    /// The subject.
    pub kind: Kind,
    /// Ordinal of its group.
    pub group: i64,
    /// Role and ordinal of its replica; none of groups and PodGroups.
    pub replica: Option<(Id, i64)>,
    /// Position in the replica, of pods.
    pub index: i64,
    /// The cause.
    pub cause: Cause,
    /// Why now and why this one.
    pub reason: Reason,
}

impl Event {
    /// Whether an update deletes a pod, to create it again.
    pub fn replaces_pod(&self) -> bool {
        self.kind == Kind::Pod
            && self.action == Action::Delete
            && matches!(self.cause, Cause::Update | Cause::RoleUpdate)
    }
}

/// Serving and requested numbers at the end of a stage.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// The stage.
    pub stage: u32,
    /// Groups that run.
    pub groups: i64,
    /// Replicas that run, by role.
    pub roles: Vec<(Id, i64)>,
    /// GPUs of all pods that exist, terminating ones included.
    pub gpus: i64,
    /// Pods that exist, terminating ones included.
    pub pods: i64,
    /// Groups that must be ready before the next stage.
    pub waits_for: Vec<i64>,
    /// Pods that exist, by the hash of their role's template and by whether they are workers.
    pub templates: Vec<((Id, bool), i64)>,
}

/// How far a group is with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Not yet changed.
    Old,
    /// In the middle of it.
    Rolling,
    /// As it is wanted.
    Updated,
}

impl Cell {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::Rolling => "rolling",
            Self::Updated => "updated",
        }
    }
}

/// The state of a group, in the document's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStatus {
    /// All its pods are ready.
    Running,
    /// Its roles get more or fewer replicas.
    Scaling,
    /// It is created, deleted or waits for its pods.
    Rolling,
    /// It does not exist.
    Absent,
}

impl GroupStatus {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Scaling => "scaling",
            Self::Rolling => "rolling",
            Self::Absent => "absent",
        }
    }
}

/// All groups at the end of a stage; the first row is before the change.
#[derive(Clone, Debug)]
pub struct Row {
    /// Stage after which the groups are as they are; none before the change.
    pub stage: Option<u32>,
    /// How far each group is.
    pub groups: Groups,
    /// Groups that run.
    pub available: i64,
}

/// The progress and state of groups, in the order of the columns: equal neighbors are one run,
/// because only a few of many thousand groups change at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(Vec<(usize, (Cell, GroupStatus))>);

impl Groups {
    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(count, _)| count).sum()
    }

    /// Neighbors that are alike, with their number.
    pub fn runs(&self) -> impl Iterator<Item = (usize, (Cell, GroupStatus))> {
        self.0.iter().copied()
    }

    /// Adds groups that are all alike until there are so many.
    pub(super) fn pad(&mut self, wanted: usize, group: (Cell, GroupStatus)) {
        // Rows before a group was appended are shorter than the last one.
        let missing = wanted.saturating_sub(self.len());
        match self.0.last_mut() {
            Some((count, last)) if *last == group => *count += missing,
            _ if missing > 0 => self.0.push((missing, group)),
            _ => {}
        }
    }

    /// Every group.
    pub fn iter(&self) -> impl Iterator<Item = (Cell, GroupStatus)> {
        self.runs().flat_map(|(count, group)| std::iter::repeat_n(group, count))
    }

    /// Returns the indices of groups for which `wanted` accepts the earlier and the present cell.
    pub fn changed(&self, earlier: &Self, wanted: impl Fn(Cell, Cell) -> bool) -> Vec<usize> {
        let mut found = Vec::new();
        let mut before = earlier.runs();
        // Both rows are walked run by run: the cost is that of the runs, not of the groups.
        let (mut place, mut left, mut was) = (0, 0, None);
        for (mut count, (cell, _)) in self.runs() {
            while count > 0 {
                if left == 0 {
                    // The earlier row is shorter: a group that it lacks has no earlier cell.
                    let Some((next, (cell, _))) = before.next() else { return found };
                    (left, was) = (next, Some(cell));
                }
                let both = count.min(left);
                if was.is_some_and(|was| wanted(was, cell)) {
                    found.extend(place..place + both);
                }
                (place, count, left) = (place + both, count - both, left - both);
            }
        }
        found
    }
}

impl FromIterator<(usize, (Cell, GroupStatus))> for Groups {
    fn from_iter<T: IntoIterator<Item = (usize, (Cell, GroupStatus))>>(groups: T) -> Self {
        let mut runs: Vec<(usize, (Cell, GroupStatus))> = Vec::new();
        for (more, group) in groups {
            match runs.last_mut() {
                Some((count, last)) if *last == group => *count += more,
                _ => runs.push((more, group)),
            }
        }
        Self(runs)
    }
}

/// Everything that happens, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Name of the ModelServing.
    pub serving: EcoString,
    /// The action.
    pub events: Vec<Event>,
    /// One entry per stage with requests.
    pub capacity: Vec<Capacity>,
    /// Ordinals of the groups that the rows show, ascending.
    pub columns: Vec<i64>,
    /// The groups before the change, at the end of every stage, and after the last one.
    pub rows: Vec<Row>,
    /// Texts of numbers.
    pub names: Names,
    /// A failed pod is replaced without its role replica or group.
    pub pods_recover_alone: bool,
}

impl Trace {
    /// Returns the requests to the API server.
    pub fn requests(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| {
            event.kind.is_object() && matches!(event.action, Action::Create | Action::Delete)
        })
    }

    /// Returns the events of groups, and of roles and pods if they are the unit of a change. An
    /// event of stage `n` is in row `n + 2`: rows count from 1, and the first is before the change.
    pub fn group_steps(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| match (event.kind, event.cause) {
            (Kind::ServingGroup, Cause::Groups) | (Kind::Role, Cause::Roles) => {
                event.action != Action::Ready
            }
            (Kind::ServingGroup, Cause::Update | Cause::Recovery)
            | (Kind::Role, Cause::RoleUpdate | Cause::Recovery) => true,
            (Kind::ServingGroup, Cause::Roles | Cause::RoleUpdate | Cause::Upkeep) => {
                event.action == Action::Wait
            }
            (Kind::Pod, Cause::Recovery) => self.pods_recover_alone,
            _ => false,
        })
    }

    /// Returns the name of an event's subject.
    pub fn name(&self, event: &Event) -> EcoString {
        let group = names::group(&self.serving, event.group);
        let Some((role, ordinal)) = event.replica else { return group };
        let role_id = names::role_id(self.names.text(role), ordinal);
        match event.kind {
            Kind::Role => ecow::eco_format!("{group}-{role_id}"),
            _ => names::pod(&group, &role_id, event.index),
        }
    }
}
