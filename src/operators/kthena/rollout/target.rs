//! The target state of a ModelServing, with names and revisions as small numbers.

use crate::api::{ModelServing, RecoveryPolicy, RolloutType};
use crate::operators::kthena::objects::{names, plugins, pod_group, revision};
use crate::operators::kthena::rules::{KthenaRelease, RoleStruct};
use crate::pods::gpus::of_pod as gpus;
use crate::yaml::Node;
use ecow::EcoString;
use indexmap::IndexSet;

/// A text as a number: names of roles, revisions, hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u32);

impl Id {
    /// No number is below.
    pub(super) const FIRST: Self = Self(0);
}

/// The texts of the numbers.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: IndexSet<EcoString>,
}

impl Names {
    pub(super) fn id(&mut self, text: impl Into<EcoString>) -> Id {
        let (index, _) = self.texts.insert_full(text.into());
        Id(u32::try_from(index).expect("fewer than 2^32 names are in memory"))
    }

    /// The text of a number.
    pub fn text(&self, id: Id) -> &EcoString {
        &self.texts[id.0 as usize]
    }
}

/// A role as it is requested, or as a ControllerRevision remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetRole {
    pub(super) name: Id,
    pub(super) replicas: i64,
    /// Pods of one replica.
    pub(super) size: i64,
    /// Hash of its template.
    pub(super) hash: Id,
    /// Its replicas have headless Services.
    pub(super) service: bool,
    /// How many replicas may be missing during an update; none: any number.
    pub(super) max_unavailable: Option<i64>,
    /// The number of replicas that an update does not change.
    pub(super) partition: i64,
    /// GPUs of the entry pod and of one worker.
    pub(super) gpus: (i64, i64),
    /// The deletion costs of the entry pod and of one worker, by their template or a plugin.
    pub(super) costs: (i64, i64),
}

/// A ModelServing as it is requested.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) replicas: i64,
    pub(super) revision: Id,
    pub(super) roles: Vec<TargetRole>,
    pub(super) partition: i64,
    pub(super) max_unavailable: i64,
    pub(super) by_role: bool,
    pub(super) recovery: RecoveryPolicy,
    pub(super) grace_seconds: i64,
    /// Groups have PodGroups.
    pub(super) pod_groups: bool,
    /// The topology is set; unsetting it makes the controller forget all PodGroups once.
    pub(super) topology: bool,
    /// The gang minimum is set.
    pub(super) gang_minimum: bool,
    /// No pod can be created: a plugin is missing.
    pub(super) broken: bool,
    /// The GPUs of every template can be counted.
    pub(super) gpus_known: bool,
}

impl Target {
    /// With the revision of the release that prints roles as `declared`.
    pub(super) fn new(
        serving: &ModelServing,
        policy: &KthenaRelease,
        declared: RoleStruct,
        names: &mut Names,
    ) -> Self {
        let chain = plugins::Chain::of(serving).ok();
        let mut gpus_known = true;
        let roles: Vec<TargetRole> = serving
            .roles
            .iter()
            .map(|role| {
                let replicas = role.replicas.value;
                let mut gpus = |template: Option<&crate::api::PodTemplate>| {
                    let Some(template) = template else { return 0 };
                    let found = gpus(&template.spec);
                    // A count that is out of range makes every sum meaningless.
                    gpus_known &= found.is_some();
                    found.unwrap_or(0)
                };
                TargetRole {
                    name: names.id(role.name.value.clone()),
                    replicas,
                    // Without a template there are no workers, whatever their number is.
                    size: if role.worker.is_some() { role.size() } else { 1 },
                    hash: names.id(revision::of_role(&role.node, declared)),
                    service: role.worker.is_some(),
                    max_unavailable: match role.budget.unavailable(replicas) {
                        // The CRD writes 1 where nothing is written; releases before it had no
                        // default.
                        Some(_) if !policy.role_max_unavailable_default && is_default(role) => None,
                        found => found.map(|most| most.max(0)),
                    },
                    partition: if policy.role_partition {
                        role.budget.protected(replicas)
                    } else {
                        0
                    },
                    gpus: (gpus(Some(&role.entry)), gpus(role.worker.as_ref())),
                    costs: (cost(chain.as_ref(), role, 0), cost(chain.as_ref(), role, 1)),
                }
            })
            .collect();
        let replicas = serving.replicas.value;
        Self {
            gpus_known,
            replicas,
            revision: names
                .id(revision::of_roles(serving.roles.iter().map(|role| &role.node), declared)),
            roles,
            partition: serving.budget.protected(replicas),
            max_unavailable: serving.budget.unavailable(replicas).unwrap_or(1),
            by_role: serving.rollout.value == RolloutType::Role,
            recovery: serving.recovery.value,
            grace_seconds: serving.restart_grace_seconds,
            pod_groups: pod_group::has_pod_group(serving, policy),
            topology: serving.topology.is_some(),
            gang_minimum: serving
                .gang
                .as_ref()
                .is_some_and(|gang| !gang.min_role_replicas.is_empty()),
            broken: chain.is_none(),
        }
    }

    pub(super) fn role(&self, name: Id) -> Option<&TargetRole> {
        self.roles.iter().find(|role| role.name == name)
    }

    /// Pods of one group.
    pub(super) fn pods_per_group(&self) -> i64 {
        self.roles.iter().map(|role| role.replicas * role.size).sum()
    }
}

/// The deletion cost of a pod without the annotation.
fn cost(chain: Option<&plugins::Chain<'_>>, role: &crate::api::Role, index: i64) -> i64 {
    let template = if index == 0 { Some(&role.entry) } else { role.worker.as_ref() };
    let written = template.and_then(|template| template.annotations.get(names::DELETION_COST));
    let given = chain
        .and_then(|chain| chain.annotation(&role.name.value, index, names::DELETION_COST))
        // The plugin is the last writer of the annotation.
        .or(written);
    given.and_then(Node::as_str).map_or(0, names::deletion_cost)
}

fn is_default(role: &crate::api::Role) -> bool {
    role.budget
        .max_unavailable
        .as_ref()
        .is_some_and(|most| matches!(most.origin, crate::yaml::Origin::Default(_)))
}
