//! The document on ModelServing and the releases of Kthena, a constant each.
//!
//! The documented constant is the blog of 2025-10 with the decisions of docs/decisions.md; a
//! release lists its differences from another one. A new release is a row of [`RELEASES`].

use crate::api::{Knowledge, Release};
use crate::operators::kthena::rules::{
    Admission, GangForm, GangResources, GangRule, KthenaPolicy, KthenaProfile, OrdinalRule,
    RoleRecreateRule, RoleScaling, RoleStruct, ScaleDownRule, UnlistedRole, UpdatePace,
};
use crate::policy::Unknown;

/// The releases that can be followed, oldest first.
pub static RELEASES: [&KthenaPolicy; 4] = [&KTHENA_V0_1, &KTHENA_V0_4, &KTHENA_V1_0, &KTHENA_HEAD];

const ROLE_MAX_UNAVAILABLE: Unknown = since("since v1.0.0", "spec.template.roles[].maxUnavailable");
const ROLE_PARTITION: Unknown = since("in head only", "spec.template.roles[].partition");

/// Kinds that the CRDs of v1.0.0 no longer have: an AutoscalingPolicy has the target itself
/// (charts/kthena/charts/workload/crds).
const ENDED_WITH_V1_0: &[Unknown] =
    &[Unknown { kinds: &["AutoscalingPolicyBinding"], path: "", supported: "before v1.0.0" }];

const fn since(name: &'static str, path: &'static str) -> Unknown {
    Unknown { kinds: &["ModelServing"], path, supported: name }
}

/// The constant that a profile names.
pub fn of(profile: KthenaProfile) -> &'static KthenaPolicy {
    RELEASES.into_iter().find(|release| release.profile == profile).unwrap_or(&KTHENA_DOCUMENTED)
}

impl KthenaPolicy {
    /// The release of a tag. If these rules are of that release, they stay: they can have more rules
    /// of the server.
    pub(crate) fn at(&'static self, tag: &str) -> &'static Self {
        let mut releases = RELEASES.into_iter();
        releases.find(|release| release.id.tag == tag && self.id.tag != tag).unwrap_or(self)
    }
}

/// The Kthena blog as written, contradictions as docs/decisions.md reads them.
pub static KTHENA_DOCUMENTED: KthenaPolicy = KthenaPolicy {
    profile: KthenaProfile::Documented,
    id: Release { tag: "documented", date: "", commit: "", knowledge: Knowledge::Documents },
    unknown: &[],
    ended: &[],
    admission: Admission::Documents,
    role_rolling_update: false,
    role_partition: false,
    role_max_unavailable_default: false,
    recovery_none: false,
    gang: GangRule::Volcano,
    gang_form: GangForm::TaskMembers,
    gang_unlisted: UnlistedRole::LeftOut,
    gang_resources: GangResources::RequestsOrLimits,
    gang_documented_labels: true,
    gang_queue: true,
    controller_revisions: false,
    role_struct: RoleStruct::Head,
    scale_subresource: false,
    plugin_env_repeats: false,
    selects_entries: false,
    ordinals: OrdinalRule::FillHoles,
    pace: UpdatePace::OneByOne,
    scale_down: ScaleDownRule::HighestOrdinal,
    role_scaling: RoleScaling::GroupByGroup,
    role_recreate: RoleRecreateRule::PodThenGroup,
    reconciles: false,
};

/// Kthena v0.1.0.
pub static KTHENA_V0_1: KthenaPolicy = KthenaPolicy {
    profile: KthenaProfile::V0_1,
    id: Release {
        tag: "v0.1.0",
        date: "2025-10-31",
        commit: "f4305628",
        knowledge: Knowledge::Read(&[]),
    },
    unknown: &[since("since v0.4.0", "spec.plugins"), ROLE_MAX_UNAVAILABLE, ROLE_PARTITION],
    ended: &[],
    admission: Admission::Documents,
    role_rolling_update: false,
    role_partition: false,
    role_max_unavailable_default: false,
    recovery_none: true,
    gang: GangRule::PolicySet,
    gang_form: GangForm::TaskMembers,
    gang_unlisted: UnlistedRole::AllReplicas,
    gang_resources: GangResources::Requests,
    gang_documented_labels: false,
    gang_queue: false,
    controller_revisions: false,
    role_struct: RoleStruct::V0_1,
    scale_subresource: false,
    plugin_env_repeats: false,
    selects_entries: false,
    ordinals: OrdinalRule::FillHoles,
    pace: UpdatePace::OneByOne,
    scale_down: ScaleDownRule::HighestOrdinal,
    role_scaling: RoleScaling::OnePass,
    role_recreate: RoleRecreateRule::RoleReplica,
    reconciles: true,
};

/// Kthena v1.0.0.
pub static KTHENA_V1_0: KthenaPolicy = KthenaPolicy {
    profile: KthenaProfile::V1_0,
    id: Release {
        tag: "v1.0.0",
        date: "2026-07-16",
        commit: "2d67015a",
        knowledge: Knowledge::Read(&[]),
    },
    unknown: &[ROLE_PARTITION],
    ended: ENDED_WITH_V1_0,
    admission: Admission::Documents,
    role_rolling_update: true,
    role_partition: false,
    role_max_unavailable_default: false,
    recovery_none: true,
    gang: GangRule::Volcano,
    gang_form: GangForm::SubGroups,
    gang_unlisted: UnlistedRole::AllReplicas,
    gang_resources: GangResources::Requests,
    gang_documented_labels: false,
    gang_queue: true,
    controller_revisions: true,
    role_struct: RoleStruct::V1_0,
    scale_subresource: true,
    plugin_env_repeats: true,
    selects_entries: true,
    ordinals: OrdinalRule::Append,
    pace: UpdatePace::Budget,
    scale_down: ScaleDownRule::Cheapest,
    role_scaling: RoleScaling::OnePass,
    role_recreate: RoleRecreateRule::RoleReplica,
    reconciles: true,
};

/// Kthena v0.4.0: as v1.0.0, without `maxUnavailable` of roles and without the queue of PodGroups.
pub static KTHENA_V0_4: KthenaPolicy = KthenaPolicy {
    profile: KthenaProfile::V0_4,
    id: Release {
        tag: "v0.4.0",
        date: "2026-04-17",
        commit: "2916fb73",
        knowledge: Knowledge::Read(&[]),
    },
    unknown: &[ROLE_MAX_UNAVAILABLE, ROLE_PARTITION],
    ended: &[],
    selects_entries: false,
    gang_queue: false,
    role_struct: RoleStruct::V0_4,
    ..KTHENA_V1_0
};

/// volcano-sh/kthena @3cc0572, with the documents' reading of manifests.
pub static KTHENA_HEAD: KthenaPolicy = KthenaPolicy {
    profile: KthenaProfile::Head,
    id: Release {
        tag: "head",
        date: "2026-08-21",
        commit: "3cc05728",
        knowledge: Knowledge::Recorded(576),
    },
    unknown: &[],
    role_partition: true,
    role_max_unavailable_default: true,
    role_struct: RoleStruct::Head,
    ordinals: OrdinalRule::FillHoles,
    ..KTHENA_V1_0
};

/// [`KTHENA_HEAD`] with the CRD and the webhook before it: `--semantics controller`.
pub static KTHENA_CONTROLLER: KthenaPolicy =
    KthenaPolicy { admission: Admission::Server, ..KTHENA_HEAD };
