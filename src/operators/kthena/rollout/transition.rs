//! All changes of the state. Each transition is one request of the controller or one event of the
//! cluster, with its immediate effects; later effects are a reconcile (`queued`).
//!
//! | transition | pkg/model-serving-controller/controller/model_serving_controller.go |
//! |---|---|
//! | [`create_group`](Cluster::create_group), [`create_replica`](Cluster::create_replica), [`create_missing_pods`](Cluster::create_missing_pods) | `scaleUpServingGroups`, `scaleUpRoles`, `manageRoleReplicasPerGroup`, `createPod` |
//! | [`create_pod_group`](Cluster::create_pod_group), [`create_service`](Cluster::create_service) | `createOrUpdatePodGroupByServingGroup`, `syncHeadlessServices` |
//! | [`delete_group`](Cluster::delete_group), [`delete_replica`](Cluster::delete_replica), [`delete_pod`](Cluster::delete_pod) | `deleteServingGroup`, `DeleteRole`, `handleErrorPod` |
//! | [`pod_gone`](Cluster::pod_gone) | `handleDeletedPod`, `isServingGroupDeleted`, `isRoleDeleted` |
//! | [`pod_ready`](Cluster::pod_ready) | `handleReadyPod` |
//! | [`pod_crashed`](Cluster::pod_crashed) | `handleErrorPod` |

use super::cluster::{Address, Cluster};
use super::group::{Group, Pod, Replica, Status};
use super::target::{Id, TargetRole};
use super::trace::{Action, Cause, Kind, Reason};

impl Cluster {
    /// A group begins: its PodGroup, then for every role in order every replica. False when no pod
    /// can be created at all; the PodGroup is there then, and the reconcile fails.
    pub(super) fn create_group(
        &mut self,
        ordinal: i64,
        revision: Id,
        roles: &[TargetRole],
        cause: Cause,
        reason: Reason,
    ) -> bool {
        if self.target.broken && roles.iter().any(|role| role.replicas > 0) {
            // Each reconcile tries again; the PodGroup is created once.
            if self.target.pod_groups && self.orphans.insert(ordinal) {
                self.note_group(Action::Create, Kind::PodGroup, ordinal, cause, reason);
            }
            return false;
        }
        self.had_groups = true;
        let cause =
            // The reconcile only sees a missing group: why it is missing was noted when it was
            // deleted.
            if cause == Cause::Groups { self.owed_groups.pop().unwrap_or(cause) } else { cause };
        self.note_group(Action::Create, Kind::ServingGroup, ordinal, cause, reason);
        let mut group = Group::new(ordinal, revision, (self.stage, cause));
        // The PodGroup of an earlier attempt is taken over.
        group.gang = self.orphans.remove(&ordinal);
        self.groups.insert(group);
        self.places_changed();
        self.create_pod_group(ordinal, cause, reason);
        for role in roles {
            for replica in 0..role.replicas {
                self.add_replica(ordinal, role, replica, (revision, role.hash), Cause::Groups);
                self.create_missing_pods(ordinal, role, replica, cause, reason);
            }
        }
        true
    }

    /// A PodGroup appears, if groups have one and this one has none.
    pub(super) fn create_pod_group(&mut self, ordinal: i64, cause: Cause, reason: Reason) {
        if self.target.pod_groups
            && let Some(group) = self.group_mut(ordinal)
            && !group.gang
        {
            group.gang = true;
            self.note_group(Action::Create, Kind::PodGroup, ordinal, cause, reason);
        }
    }

    /// A role replica begins within its group: its entry pod, then its workers.
    pub(super) fn create_replica(
        &mut self,
        group: i64,
        role: &TargetRole,
        ordinal: i64,
        labels: (Id, Id),
        cause: Cause,
        reason: Reason,
    ) {
        if self.target.broken {
            return;
        }
        // As for groups: the cause is that of the deletion.
        let owed = self.owed_replicas.get_mut(&(group, role.name));
        let owed = owed.filter(|owed| cause == Cause::Roles && !owed.is_empty());
        let cause = owed.map_or(cause, |owed| owed.remove(0));
        self.add_replica(group, role, ordinal, labels, cause);
        self.note_replica(
            Action::Create,
            Kind::Role,
            Address { group, role: role.name, ordinal, index: 0 },
            cause,
            reason,
        );
        self.create_missing_pods(group, role, ordinal, cause, reason);
    }

    /// A place for a role replica, labeled with a revision and a hash that need not be those of
    /// its role.
    fn add_replica(
        &mut self,
        group: i64,
        role: &TargetRole,
        ordinal: i64,
        (revision, hash): (Id, Id),
        cause: Cause,
    ) {
        let began = (self.stage, cause);
        let replica = Replica {
            ordinal,
            revision,
            hash,
            status: Status::Creating,
            pods: Vec::new(),
            service: false,
            began,
        };
        let Some(owner) = self.group_mut(group) else { return };
        let replicas = owner.role_mut(role.name);
        // Sorted on insert; an ordinal that exists is left alone.
        if let Err(position) = replicas.binary_search_by_key(&ordinal, |replica| replica.ordinal) {
            replicas.insert(position, replica);
        }
    }

    /// The pods of a role replica that do not exist are created; those that do stay as they are.
    pub(super) fn create_missing_pods(
        &mut self,
        group: i64,
        role: &TargetRole,
        ordinal: i64,
        cause: Cause,
        reason: Reason,
    ) {
        if self.target.broken {
            return;
        }
        let mut created = Vec::new();
        let began = (self.stage, cause);
        for index in 0..role.size {
            let at = Address { group, role: role.name, ordinal, index };
            let held = self.held.contains(&at);
            let Some(replica) = self.replica_mut(group, role.name, ordinal) else { return };
            if let Err(position) = replica.pods.binary_search_by_key(&index, |pod| pod.index) {
                let gpus = if index == 0 { role.gpus.0 } else { role.gpus.1 };
                let cost = if index == 0 { role.costs.0 } else { role.costs.1 };
                let pod = Pod {
                    index,
                    ready: false,
                    terminating: false,
                    held,
                    cost,
                    gpus,
                    template: role.hash,
                    began,
                };
                replica.pods.insert(position, pod);
                created.push(at);
                self.counts.pod(&pod, 1);
            }
        }
        for at in created {
            self.note_replica(Action::Create, Kind::Pod, at, cause, reason);
            self.starting.push(at);
        }
        self.touch(group);
    }

    /// A headless Service appears, if the replica has none.
    pub(super) fn create_service(&mut self, at: Address, cause: Cause, reason: Reason) {
        if let Some(replica) = self.replica_mut(at.group, at.role, at.ordinal)
            && !replica.service
        {
            replica.service = true;
            self.note_replica(Action::Create, Kind::Service, at, cause, reason);
        }
    }

    /// Deletes a group: its PodGroup, its pods by name, its Services. Its ordinal stays in use
    /// until all pods are deleted.
    pub(super) fn delete_group(&mut self, ordinal: i64, cause: Cause, reason: Reason) {
        let Some(group) = self.groups.get_mut(ordinal) else { return };
        // A group may be deleted again while its pods end: it is recorded once.
        let first = group.status != Status::Deleting;
        let pod_group = std::mem::take(&mut group.gang);
        for role in &mut group.roles {
            for replica in &mut role.replicas {
                if std::mem::replace(&mut replica.status, Status::Deleting) == Status::Running {
                    self.counts.replica(role.name, -1);
                }
            }
        }
        self.set_status(ordinal, Status::Deleting);
        if first {
            self.note_group(Action::Delete, Kind::ServingGroup, ordinal, cause, reason);
            // A surplus group does not come back.
            if cause != Cause::Groups {
                self.owed_groups.push(cause);
            }
        }
        if pod_group {
            self.note_group(Action::Delete, Kind::PodGroup, ordinal, cause, reason);
        }
        self.delete_contents(ordinal, None, cause, reason);
        self.touch(ordinal);
        // A group without pods has nothing to wait for.
        self.remove_if_gone(ordinal);
    }

    /// Deletes a role replica: its pods by name, its Service. Its ordinal stays in use until all
    /// pods are deleted.
    pub(super) fn delete_replica(
        &mut self,
        group: i64,
        role: Id,
        ordinal: i64,
        cause: Cause,
        reason: Reason,
    ) {
        let Some(replica) = self.replica_mut(group, role, ordinal) else { return };
        if replica.status == Status::Deleting {
            return;
        }
        if std::mem::replace(&mut replica.status, Status::Deleting) == Status::Running {
            self.counts.replica(role, -1);
        }
        let at = Address { group, role, ordinal, index: 0 };
        self.note_replica(Action::Delete, Kind::Role, at, cause, reason);
        // A replica that is surplus, or whose role is gone, does not come back.
        if cause != Cause::Roles && reason != Reason::RoleRemoved {
            self.owed_replicas.entry((group, role)).or_default().push(cause);
        }
        self.delete_contents(group, Some((role, ordinal)), cause, reason);
        self.touch(group);
        self.remove_replica_if_gone(at);
    }

    /// Pods by name, byte by byte, then Services likewise: one request deletes several, and their
    /// order is not upstream's.
    fn delete_contents(
        &mut self,
        ordinal: i64,
        only: Option<(Id, i64)>,
        cause: Cause,
        reason: Reason,
    ) {
        let Some(group) = self.groups.get_mut(ordinal) else { return };
        let names = &self.trace.names;
        let (mut pods, mut services) = (Vec::new(), Vec::new());
        for role in &mut group.roles {
            for replica in role
                .replicas
                .iter_mut()
                .filter(|replica| only.is_none_or(|only| only == (role.name, replica.ordinal)))
            {
                let at = |index| Address {
                    group: ordinal,
                    role: role.name,
                    ordinal: replica.ordinal,
                    index,
                };
                let name = |index: i64| {
                    ecow::eco_format!("{}-{}-{index}", names.text(role.name), replica.ordinal)
                };
                for pod in replica.pods.iter_mut().filter(|pod| !pod.terminating) {
                    pod.terminating = true;
                    pods.push((name(pod.index), at(pod.index)));
                }
                if std::mem::take(&mut replica.service) {
                    services.push((name(0), at(0)));
                }
            }
        }
        pods.sort_unstable();
        services.sort_unstable();
        for (_, at) in pods {
            self.note_replica(Action::Delete, Kind::Pod, at, cause, reason);
            self.ending.push(at);
        }
        for (_, at) in services {
            self.note_replica(Action::Delete, Kind::Service, at, cause, reason);
        }
    }

    pub(super) fn delete_pod(&mut self, at: Address, cause: Cause, reason: Reason) {
        if let Some(pod) = self.pod_mut(at)
            && !pod.terminating
        {
            pod.terminating = true;
            self.note_replica(Action::Delete, Kind::Pod, at, cause, reason);
            self.ending.push(at);
        }
    }

    /// Removes a terminating pod. The last one of a deleted group or replica frees its ordinal; the
    /// loss of any other one is a failure.
    pub(super) fn pod_gone(&mut self, at: Address) {
        let Some(group) = self.groups.get(at.group) else { return };
        let deleting_group = group.status == Status::Deleting;
        let Some(replica) = self.replica_mut(at.group, at.role, at.ordinal) else { return };
        let Some(index) =
            replica.pods.iter().position(|pod| pod.index == at.index && pod.terminating)
        else {
            return;
        };
        let pod = replica.pods.remove(index);
        let deleting_replica = replica.status == Status::Deleting;
        self.counts.pod(&pod, -1);
        self.touch(at.group);
        // The group decides first: its replicas are in deletion as well.
        if deleting_group {
            self.remove_if_gone(at.group);
        } else if deleting_replica {
            self.remove_replica_if_gone(at);
        } else {
            self.pod_lost(at);
        }
    }

    fn remove_if_gone(&mut self, ordinal: i64) {
        if self.groups.get(ordinal).is_some_and(|group| !group.has_pods()) {
            self.groups.remove(ordinal);
            // Causes of replicas of a group that is gone would be given to its successor.
            let owed: Vec<(i64, Id)> = self
                .owed_replicas
                .range((ordinal, Id::FIRST)..(ordinal + 1, Id::FIRST))
                .map(|(key, _)| *key)
                .collect();
            for key in owed {
                self.owed_replicas.remove(&key);
            }
            self.places_changed();
            self.queued = true;
        }
    }

    fn remove_replica_if_gone(&mut self, at: Address) {
        let Some(group) = self.group_mut(at.group) else { return };
        let replicas = group.role_mut(at.role);
        let before = replicas.len();
        replicas.retain(|replica| replica.ordinal != at.ordinal || !replica.pods.is_empty());
        if replicas.len() < before {
            self.queued = true;
        }
    }

    /// Sets a pod to ready. If its replica has exactly the number of ready pods of its role, the
    /// replica runs; if all replicas of all roles run, the group runs and a reconcile is queued.
    pub(super) fn pod_ready(&mut self, at: Address) {
        let Some(pod) = self.pod_mut(at).filter(|pod| !pod.ready && !pod.terminating) else {
            return;
        };
        pod.ready = true;
        let began = pod.began;
        self.note_ready(Kind::Pod, at, began);
        // Quirk: a plugin that cannot be built stops the controller from counting the pod, now and
        // later.
        if self.target.broken {
            return;
        }
        // A role that is no longer requested has no size, and its replicas never run.
        let size = self.target.role(at.role).map(|role| role.size);
        let Some(replica) = self.replica_mut(at.group, at.role, at.ordinal) else { return };
        let ready = replica.pods.iter().filter(|pod| pod.ready).count();
        // Exactly as many: with more ready pods than the role has now, upstream never counts it.
        if size.is_some_and(|size| i64::try_from(ready) == Ok(size))
            && replica.status == Status::Creating
        {
            replica.status = Status::Running;
            let began = replica.began;
            self.counts.replica(at.role, 1);
            self.note_ready(Kind::Role, Address { index: 0, ..at }, began);
        }
        self.touch(at.group);
        if self.groups.get(at.group).is_some_and(|group| group.is_ready(&self.target)) {
            self.run_group(at.group);
            self.queued = true;
        }
    }

    /// A group runs from now on.
    pub(super) fn run_group(&mut self, ordinal: i64) {
        let began = self.groups.get(ordinal).filter(|group| group.status != Status::Running);
        if let Some(began) = began.map(|group| group.began) {
            self.set_status(ordinal, Status::Running);
            let at = Address { group: ordinal, role: self.target.revision, ordinal: 0, index: 0 };
            self.note_ready(Kind::ServingGroup, at, began);
        }
    }

    /// A container crashes and the pod does not come back by itself: its replica and its group stop
    /// running.
    pub(super) fn pod_crashed(&mut self, at: Address) {
        let Some(pod) = self.pod_mut(at) else { return };
        pod.ready = false;
        // A crashed pod is replaced, not restarted; only another pod gets ready.
        pod.held = true;
        let Some(replica) = self.replica_mut(at.group, at.role, at.ordinal) else { return };
        if replica.status == Status::Running {
            replica.status = Status::Creating;
            self.counts.replica(at.role, -1);
        }
        self.stop_group(at.group);
        self.touch(at.group);
        self.queued = true;
    }

    /// A running group waits for its pods again.
    pub(super) fn stop_group(&mut self, ordinal: i64) {
        if self.groups.get(ordinal).is_some_and(|group| group.status == Status::Running) {
            self.set_status(ordinal, Status::Creating);
        }
    }

    /// Sets the status of a group and counts the running groups.
    pub(super) fn set_status(&mut self, ordinal: i64, status: Status) {
        let Some(group) = self.groups.get_mut(ordinal) else { return };
        self.counts.groups +=
            i64::from(status == Status::Running) - i64::from(group.status == Status::Running);
        group.status = status;
    }

    fn touch(&mut self, ordinal: i64) {
        let recording = self.recording;
        if let Some(group) = self.group_mut(ordinal) {
            group.settled = false;
            group.served = false;
            group.touched |= recording;
        }
    }

    /// A place in the list decides whether a partition protects a group: those that it protects now
    /// and did not, or did and does not, are looked at again.
    fn places_changed(&mut self) {
        let (before, now) = (self.open_from, self.boundary());
        self.open_from = now;
        // Without a partition no place matters.
        if self.target.partition > 0 && before != now {
            let (from, to) = (before.min(now), before.max(now));
            self.groups.between(from, to).for_each(|group| group.settled = false);
        }
    }

    /// Protected groups depend on the stored revisions: all are marked.
    pub(super) fn snapshots_changed(&mut self) {
        if self.target.partition > 0 {
            self.groups.iter_mut().for_each(|group| group.settled = false);
        }
    }
}
