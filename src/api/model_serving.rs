//! ModelServings: groups, roles and pods, with gang, update and recovery settings.

use super::object::{Field, Object};
use crate::quantity::{IntOrPercent, Rounding};
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

/// The unit that an update replaces at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RolloutType {
    /// Whole ServingGroups.
    ServingGroup,
    /// Role replicas within their group.
    Role,
}

impl RolloutType {
    /// Returns the value used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServingGroup => "ServingGroupRollingUpdate",
            Self::Role => "RoleRollingUpdate",
        }
    }
}

/// The unit to recreate when a pod fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecoveryPolicy {
    /// The whole group.
    ServingGroupRecreate,
    /// The role replica; by the documents, only the pod (Kthena blog, A Deep Dive of ModelServing,
    /// Restart Policy; docs/decisions.md#model-serving-rollout).
    RoleRecreate,
    /// Nothing: a failed pod triggers no recreation.
    None,
}

impl RecoveryPolicy {
    /// Returns the value used in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServingGroupRecreate => "ServingGroupRecreate",
            Self::RoleRecreate => "RoleRecreate",
            Self::None => "None",
        }
    }
}

/// Limits of an update: how many units may be unavailable and how many it must not touch.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Number or percentage, rounded down.
    pub max_unavailable: Option<Field<IntOrPercent>>,
    /// Number or percentage, rounded up.
    pub partition: Option<Field<IntOrPercent>>,
}

impl Budget {
    /// Returns how many of `total` an update does not touch; 0 without a partition.
    pub fn protected(&self, total: i64) -> i64 {
        self.partition
            .as_ref()
            // A negative partition protects nothing.
            .map_or(0, |partition| partition.value.scaled(total, Rounding::Up).max(0))
    }

    /// Returns how many of `total` may be unavailable; `None` when `maxUnavailable` is not set.
    pub fn unavailable(&self, total: i64) -> Option<i64> {
        self.max_unavailable.as_ref().map(|most| most.value.scaled(total, Rounding::Down))
    }
}

/// The template of a pod.
#[derive(Clone, Debug)]
pub struct PodTemplate {
    /// `metadata.labels`.
    pub labels: Map,
    /// `metadata.annotations`.
    pub annotations: Map,
    /// `spec`.
    pub spec: Node,
}

/// A role: replicas of one entry pod and its workers.
#[derive(Clone, Debug)]
pub struct Role {
    /// Name, unique in its ModelServing.
    pub name: Field<EcoString>,
    /// Replicas in every group, not negative.
    pub replicas: Field<i64>,
    /// Workers in addition to the entry pod of every replica, not negative.
    pub workers: Field<i64>,
    /// Template of the entry pod.
    pub entry: PodTemplate,
    /// Template of the workers.
    pub worker: Option<PodTemplate>,
    /// Limits of an update of this role.
    pub budget: Budget,
    /// The whole role with its defaults.
    pub node: Node,
}

impl Role {
    /// Returns the pods of one replica: the entry and its workers.
    pub fn size(&self) -> i64 {
        self.workers.value.saturating_add(1)
    }

    /// Returns the pods in one group.
    pub fn pods(&self) -> i64 {
        self.replicas.value.saturating_mul(self.size())
    }
}

/// The minimum that a gang must have.
#[derive(Clone, Debug)]
pub struct GangPolicy {
    /// Replicas by role, in the order of the file; empty when the map is absent.
    pub min_role_replicas: Vec<(Field<EcoString>, i64)>,
    /// Origin of the policy.
    pub origin: Origin,
}

impl GangPolicy {
    /// Returns the minimum of a role, when the map has an entry for it.
    pub fn minimum(&self, role: &str) -> Option<i64> {
        self.min_role_replicas
            .iter()
            .find(|(name, _)| name.value == role)
            .map(|(_, minimum)| *minimum)
    }
}

/// One plugin of the chain that modifies pods when they are created.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its registered name.
    pub name: Field<EcoString>,
    /// Plugin type; `BuiltIn` is the only one.
    pub kind: EcoString,
    /// Configuration, in a format that the plugin defines.
    pub config: Option<Node>,
    /// Roles that it applies to; empty means all.
    pub roles: Vec<EcoString>,
    /// `All`, `Entry` or `Worker`; anything else matches no pod.
    pub target: EcoString,
}

/// A ModelBooster of the input.
#[derive(Clone, Debug)]
pub struct Booster {
    /// The ModelBooster.
    pub object: Object,
    /// ModelServing, ModelServer and ModelRoute as the controller writes them; empty if it writes
    /// none.
    pub objects: Vec<Node>,
}

/// A ModelServing with the defaults of its CRD filled in.
#[derive(Clone, Debug)]
pub struct ModelServing {
    /// The object with its defaults.
    pub object: Object,
    /// Namespace.
    pub namespace: EcoString,
    /// ServingGroups, not negative.
    pub replicas: Field<i64>,
    /// Scheduler of every pod.
    pub scheduler: Field<EcoString>,
    /// The unit that an update replaces.
    pub rollout: Field<RolloutType>,
    /// Limits of an update of groups.
    pub budget: Budget,
    /// The unit to recreate when a pod fails.
    pub recovery: Field<RecoveryPolicy>,
    /// Seconds in which a failed pod may recover before it counts as failed.
    pub restart_grace_seconds: i64,
    /// Gang minimum.
    pub gang: Option<GangPolicy>,
    /// `template.networkTopology`, when it is set.
    pub topology: Option<Topology>,
    /// Plugins in order.
    pub plugins: Vec<Plugin>,
    /// Roles in order.
    pub roles: Vec<Role>,
    /// The ModelBooster that the controller writes it for; `None` for one of the input.
    pub booster: Option<Box<Booster>>,
    /// True when replicas and workers are as written. False when a count was out of range and was
    /// clamped to the nearest bound.
    pub counted: bool,
}

/// Placement constraints by network topology; copied to the PodGroup.
#[derive(Clone, Debug)]
pub struct Topology {
    /// For a whole group.
    pub group: Option<Node>,
    /// For one role replica.
    pub role: Option<Node>,
}

impl ModelServing {
    /// Returns the name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }

    /// Returns the pods of one group.
    pub fn pods_per_group(&self) -> i64 {
        // A count at the bound is wrong by being too small, not by turning negative.
        self.roles.iter().fold(0, |sum: i64, role| sum.saturating_add(role.pods()))
    }

    /// Returns the pods of all groups.
    pub fn pods(&self) -> i128 {
        // The product of three counts may not fit into 64 bits.
        let wide = |count: i64| i128::from(count);
        let group: i128 =
            self.roles.iter().map(|role| wide(role.replicas.value) * wide(role.size())).sum();
        wide(self.replicas.value) * group
    }

    /// Returns the number of pods if every count of 0 were 1. It bounds the work of an iteration
    /// over groups and roles that have no pods.
    pub fn extent(&self) -> i128 {
        let least_one = |count: i64| i128::from(count.max(1));
        let roles = self.roles.iter();
        let group: i128 =
            roles.map(|role| least_one(role.replicas.value) * i128::from(role.size())).sum();
        // Groups without roles are gone through as well.
        least_one(self.replicas.value) * group.max(1)
    }

    /// Returns a role by its name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name.value == name)
    }
}
