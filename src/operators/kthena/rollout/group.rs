//! A group with its roles, replicas and pods.

use super::target::{Id, Target};
use super::trace::Cause;

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Creating,
    Running,
    Scaling,
    Deleting,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pod {
    pub(super) index: i64,
    pub(super) ready: bool,
    /// Terminating: deletion was requested.
    pub(super) terminating: bool,
    /// Never becomes ready; a new pod can.
    pub(super) held: bool,
    /// Annotation `controller.kubernetes.io/pod-deletion-cost`.
    pub(super) cost: i64,
    pub(super) gpus: i64,
    /// Hash of the role template it was made from.
    pub(super) template: Id,
    /// The stage and the cause of its creation.
    pub(super) began: (u32, Cause),
}

#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) ordinal: i64,
    pub(super) revision: Id,
    pub(super) hash: Id,
    pub(super) status: Status,
    pub(super) pods: Vec<Pod>,
    pub(super) service: bool,
    /// The stage and the cause of its creation.
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
    /// The stage and the cause of its creation.
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

    /// All replicas of all roles that are requested run, and there are as many as are requested.
    pub(super) fn is_ready(&self, target: &Target) -> bool {
        target.roles.iter().all(|role| {
            let replicas = self.role(role.name);
            i64::try_from(replicas.len()) == Ok(role.replicas)
                && replicas.iter().all(|replica| replica.status == Status::Running)
        })
    }
}
