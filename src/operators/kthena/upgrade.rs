//! The changes of a Kthena upgrade, rule by rule.

use super::rules::KthenaRelease;
use crate::api::{FieldEdit, ModelServing, Object, RolloutType};
use crate::policy::upgrade::{EditRule, ReleaseRule};
use crate::yaml::{FieldPath, Node};

/// Rules of Kthena's releases (releases.md H).
pub static ROLE_STRUCT: ReleaseRule = ReleaseRule {
    id: "H1",
    title: "the hash of a role includes the names of its Go fields, and those changed: every ModelServing gets another revision, and every group that `partition` does not protect is deleted and recreated",
    source: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go Revision, pkg/apis/workload/v1alpha1/servinggroup_types.go Role",
    action: "set `rolloutStrategy.rollingUpdateConfiguration.partition` to `replicas` to hold the groups back, and lower it when they may restart",
    edit: HOLD,
};

/// See [`ROLE_STRUCT`].
static ROLE_BUDGET: ReleaseRule = ReleaseRule {
    id: "H2",
    title: "with RoleRollingUpdate a role has `maxUnavailable: 1` by default, and a `partition` of its own; before, all its outdated replicas were deleted at once",
    source: "volcano-sh/kthena pkg/apis/workload/v1alpha1/servinggroup_types.go RollingUpdateConfiguration, model_serving_controller.go calMaxScaleDown",
    action: "set `maxUnavailable` where another number of replicas may restart at once",
    edit: EditRule::None(
        "`maxUnavailable` sets how many replicas restart at once, and the earlier release hashes it or drops it",
    ),
};

/// See [`ROLE_STRUCT`].
pub static QUEUE: ReleaseRule = ReleaseRule {
    id: "H3",
    title: "PodGroups get the queue of the annotation `scheduling.volcano.sh/queue-name`",
    source: "volcano-sh/kthena pkg/model-serving-controller/podgroupmanager/manager.go",
    action: "check that the queue exists and has capacity, or remove the annotation",
    edit: NO_QUEUE,
};

/// As [`ROLE_STRUCT`], of a ModelServing that is replaced role replica by role replica, where
/// roles have a partition of their own.
static ROLE_STRUCT_BY_ROLE: ReleaseRule = ReleaseRule {
    id: "H1",
    title: "the hash of a role includes the names of its Go fields, and those changed: every role replica that no `partition` protects is deleted and recreated",
    source: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go CalRoleTemplateHash, pkg/apis/workload/v1alpha1/servinggroup_types.go Role",
    action: "plan for the restart: which replicas a partition of a role holds back at an upgrade was not recorded",
    edit: EditRule::None(
        "which replicas a partition of a role holds back at an upgrade was not recorded",
    ),
};

/// The same towards a release without a partition of roles.
static ROLE_STRUCT_UNHELD: ReleaseRule = ReleaseRule {
    id: "H1",
    title: "the hash of a role includes the names of its Go fields, and those changed: every role replica is deleted and recreated, all at once where the role sets no `maxUnavailable`",
    source: "volcano-sh/kthena pkg/model-serving-controller/utils/revision_util.go CalRoleTemplateHash, model_serving_controller.go calMaxScaleDown",
    action: "plan for the restart: this release has no partition of roles, and its webhook refuses `rollingUpdateConfiguration` beside RoleRollingUpdate",
    edit: EditRule::None("this release has no partition of roles"),
};

/// See [`ROLE_STRUCT`].
static SCALE_SELECTOR: ReleaseRule = ReleaseRule {
    id: "H4",
    title: "`status.labelSelector` names one entry pod per group, so that an autoscaler of the scale subresource counts groups; before, it counted every pod",
    source: "volcano-sh/kthena pkg/model-serving-controller/controller/model_serving_controller.go, status.labelSelector",
    action: "compare the autoscaler's target with the load of an entry pod, and pin minReplicas during the upgrade",
    edit: EditRule::None("the controller writes the status"),
};

/// Protects every group with the partition.
const HOLD: EditRule = EditRule::Fields(|today| {
    // The CRD's default is one group.
    let replicas = today.service.spec("replicas").and_then(Node::as_int).unwrap_or(1);
    let mut rolling = FieldPath::root().field("spec").field("rolloutStrategy");
    rolling = rolling.field("rollingUpdateConfiguration").field("partition");
    vec![vec![FieldEdit::set(today.service, rolling, replicas)]]
});

/// The annotation that names the queue of a ModelServing's PodGroups.
const QUEUE_NAME: &str = "scheduling.volcano.sh/queue-name";

/// Removes the name of the queue.
const NO_QUEUE: EditRule = EditRule::Fields(|today| {
    let path = FieldPath::root().field("metadata").field("annotations").field(QUEUE_NAME);
    let is_set = |object: &Object| object.annotation(QUEUE_NAME).is_some();
    is_set(today.service)
        .then(|| vec![FieldEdit::remove(today.service, path)])
        .into_iter()
        .collect()
});

/// The rules by which two releases differ for a ModelServing, among the other objects of the later
/// state.
pub(crate) fn between(
    from: &KthenaRelease,
    to: &KthenaRelease,
    serving: &ModelServing,
    others: &[Object],
) -> Vec<&'static ReleaseRule> {
    let by_role = serving.rollout.value == RolloutType::Role;
    let budgets = (from.role_partition, from.role_max_unavailable_default)
        != (to.role_partition, to.role_max_unavailable_default);
    let queue = serving.object.annotation(QUEUE_NAME).is_some();
    let mut hit = vec![match (by_role, to.role_partition) {
        (false, _) => &ROLE_STRUCT,
        (true, true) => &ROLE_STRUCT_BY_ROLE,
        (true, false) => &ROLE_STRUCT_UNHELD,
    }];
    if by_role && budgets {
        hit.push(&ROLE_BUDGET);
    }
    if queue && from.gang_queue != to.gang_queue {
        hit.push(&QUEUE);
    }
    if !from.selects_entries
        && to.selects_entries
        && others.iter().any(|object| scales(object, serving))
    {
        hit.push(&SCALE_SELECTOR);
    }
    hit
}

/// Whether an object is an autoscaler of a ModelServing.
fn scales(object: &Object, serving: &ModelServing) -> bool {
    let target =
        |key: &str| object.node.at(&["spec", "scaleTargetRef", key]).and_then(Node::as_str);
    matches!(object.id.kind.as_str(), "HorizontalPodAutoscaler" | "ScaledObject")
        && target("kind") == Some("ModelServing")
        && target("name") == Some(serving.name())
        && object.id.scope.namespace() == Some(&serving.namespace)
}
