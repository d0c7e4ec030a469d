//! Differences between the document on ModelServing (the Kthena blog of 2025-10) and the releases
//! of Kthena, as named values.
//!
//! The values are in `releases.rs`. A rule that differs reads one field; no rule
//! checks which constant it received.

use crate::policy::{Policy, ServingFeatures, Unknown};

/// When a ServingGroup gets a PodGroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GangRule {
    /// When the scheduler is volcano (Kthena blog, A Deep Dive of ModelServing, Gang Scheduling and
    /// Instance-Level Gang Scheduling; pkg/model-serving-controller/podgroupmanager).
    Volcano,
    /// When gangPolicy or networkTopology is set, for any scheduler (v0.1.0,
    /// pkg/model-serving-controller/gangscheduling/manager.go).
    PolicySet,
}

/// How a PodGroup defines which pods belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GangForm {
    /// `minTaskMember`, one entry per role replica (Kthena blog, A Deep Dive of ModelServing, Gang
    /// Scheduling and Instance-Level Gang Scheduling).
    TaskMembers,
    /// `subGroupPolicy`, one entry per role (pkg/model-serving-controller/podgroupmanager).
    SubGroups,
}

/// How a role that `minRoleReplicas` does not list is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlistedRole {
    /// Not counted, when the map lists other roles (Kthena blog, A Deep Dive of ModelServing,
    /// Instance-Level Gang Scheduling; docs/decisions.md#pod-groups).
    LeftOut,
    /// With all its replicas (pkg/model-serving-controller/podgroupmanager).
    AllReplicas,
}

/// Which resources of a container count for `minResources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GangResources {
    /// Requests, and limits where a request is absent (Kthena blog, A Deep Dive of ModelServing,
    /// Instance-Level Gang Scheduling; docs/decisions.md#pod-groups).
    RequestsOrLimits,
    /// Requests only (pkg/model-serving-controller/podgroupmanager).
    Requests,
}

/// Which ordinals new groups and role replicas get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrdinalRule {
    /// The lowest free ordinals
    /// (pkg/model-serving-controller/controller/model_serving_controller.go).
    FillHoles,
    /// Ordinals after the highest one; gaps below the partition are filled first
    /// (pkg/model-serving-controller/controller/model_serving_controller.go,
    /// scaleUpServingGroups of v1.0.0).
    Append,
}

/// How many groups an update replaces at a time, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdatePace {
    /// One, from the highest ordinal down; the next one after the new group runs (Kthena blog, A
    /// Deep Dive of ModelServing, Rolling Update).
    OneByOne,
    /// As many as maxUnavailable allows; groups that do not run come first
    /// (pkg/model-serving-controller/controller/model_serving_controller.go, manageRollingUpdate).
    Budget,
}

/// Which groups and role replicas are deleted when there are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleDownRule {
    /// The highest ordinals (Kthena blog, A Deep Dive of ModelServing, Scaling).
    HighestOrdinal,
    /// Those that do not run, then the lowest deletion cost, then the highest ordinal
    /// (pkg/model-serving-controller/controller/binpack_scaledown.go).
    Cheapest,
}

/// The order in which groups apply a changed number of role replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleScaling {
    /// One group after another from the highest ordinal (Kthena blog, A Deep Dive of ModelServing,
    /// Role Scaling Process).
    GroupByGroup,
    /// All groups in one pass
    /// (pkg/model-serving-controller/controller/model_serving_controller.go).
    OnePass,
}

/// What `RoleRecreate` recreates when a pod fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleRecreateRule {
    /// The pod only; the whole group when it does not leave the state progressing (Kthena blog, A
    /// Deep Dive of ModelServing, Restart Policy; docs/decisions.md#model-serving-rollout).
    PodThenGroup,
    /// The role replica (pkg/model-serving-controller/controller/model_serving_controller.go,
    /// handleErrorPod).
    RoleReplica,
}

/// The Go struct of a role. A revision is the hash of this struct: its fields by name, set or not
/// (pkg/apis/workload/v1alpha1/servinggroup_types.go of each release).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleStruct {
    /// v0.1.0: built with k8s.io/api v0.33.3, whose pods have fewer fields.
    V0_1,
    /// v0.4.0: the same struct with k8s.io/api v0.34.2.
    V0_4,
    /// v1.0.0: with `MaxUnavailable`.
    V1_0,
    /// @3cc0572: with an embedded `RollingUpdateConfiguration`.
    Head,
}

/// The source of the checks of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The documents; docs/decisions.md defines how bounds are read.
    Documents,
    /// The CRD and the admission webhook.
    Server,
}

/// Rules of Kthena: its document and the differences between its releases.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature that a release has or has not"
)]
pub struct KthenaRelease {
    /// Its name in `--kthena-profile` and in output.
    pub name: &'static str,
    /// A value that only later releases have is read as they read it: it shows that one of them is
    /// meant.
    pub reads_later_values: bool,
    /// Kinds of earlier releases that its CRDs no longer have.
    pub ended: &'static [Unknown],
    /// See [`Admission`].
    pub admission: Admission,
    /// `RoleRollingUpdate` exists (Kthena blog, A Deep Dive of ModelServing, Rolling Update;
    /// v0.4.0).
    pub role_rolling_update: bool,
    /// Roles have their own partition (model_serving_controller.go, rolePartition).
    pub role_partition: bool,
    /// A role without maxUnavailable has the default 1. Otherwise all its outdated replicas are
    /// deleted at once (model_serving_controller.go, calMaxScaleDown).
    pub role_max_unavailable_default: bool,
    /// `recoveryPolicy: None` exists (Kthena blog, A Deep Dive of ModelServing, Restart Policy).
    pub recovery_none: bool,
    /// See [`GangRule`].
    pub gang: GangRule,
    /// See [`GangForm`].
    pub gang_form: GangForm,
    /// See [`UnlistedRole`].
    pub gang_unlisted: UnlistedRole,
    /// See [`GangResources`].
    pub gang_resources: GangResources,
    /// PodGroups have the label and the annotation of the document in addition to those of the code
    /// (Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang Scheduling;
    /// docs/decisions.md#pod-groups).
    pub gang_documented_labels: bool,
    /// PodGroups reference the queue of the ModelServing's annotation (v1.0.0).
    pub gang_queue: bool,
    /// The controller stores the role templates of a revision in a ControllerRevision (v0.3.0).
    pub controller_revisions: bool,
    /// See [`RoleStruct`].
    pub role_struct: RoleStruct,
    /// Plugins that add variables add them one more time on each later worker of a role replica
    /// (pkg/model-serving-controller/plugins).
    pub plugin_env_repeats: bool,
    /// ModelServings have the scale subresource, so autoscalers can scale them (v0.3.0).
    pub scale_subresource: bool,
    /// The label selector of the status selects one entry pod per group (v1.0.0).
    pub selects_entries: bool,
    /// See [`OrdinalRule`].
    pub ordinals: OrdinalRule,
    /// See [`UpdatePace`].
    pub pace: UpdatePace,
    /// See [`ScaleDownRule`].
    pub scale_down: ScaleDownRule,
    /// See [`RoleScaling`].
    pub role_scaling: RoleScaling,
    /// See [`RoleRecreateRule`].
    pub role_recreate: RoleRecreateRule,
    /// Requests come in the order of the controller's reconciles. Otherwise groups are handled one
    /// at a time, as the document describes.
    pub reconciles: bool,
}

impl KthenaRelease {
    /// Whether manifests are checked as its CRD and its webhook do.
    pub fn admits_as_server(&self) -> bool {
        self.admission == Admission::Server
    }

    /// Whether groups get a PodGroup under the scheduler volcano only.
    pub fn needs_volcano(&self) -> bool {
        self.gang == GangRule::Volcano
    }

    /// Returns what the release supports for a service that is written as a ModelServing.
    pub fn features(&self) -> ServingFeatures {
        ServingFeatures {
            role_rolling_update: self.role_rolling_update,
            scale_subresource: self.scale_subresource,
        }
    }
}

/// Gives a policy of Kthena its rules.
pub(crate) trait Rules {
    /// Returns the rules that only Kthena has.
    ///
    /// # Panics
    /// If the policy is not one of Kthena. Its constants have both, and the operator of a policy is
    /// found by its API.
    fn kthena(&self) -> &'static KthenaRelease;
}

impl Rules for Policy {
    fn kthena(&self) -> &'static KthenaRelease {
        self.operator_rules().expect("a policy of Kthena has the rules of Kthena")
    }
}
