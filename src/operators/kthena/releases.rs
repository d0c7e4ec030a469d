//! The document on ModelServing and the releases of Kthena, a constant each.
//!
//! The documented constant is the blog of 2025-10 with the decisions of docs/decisions.md; a
//! release lists its differences from another one. A new release is a row of [`RELEASES`].

use crate::api::{Api, Knowledge, Release};
use crate::operators::kthena::rules::{
    Admission, GangForm, GangResources, GangRule, KthenaRelease, OrdinalRule, RoleRecreateRule,
    RoleScaling, RoleStruct, ScaleDownRule, UnlistedRole, UpdatePace,
};
use crate::policy::{Policy, Unknown};

/// Its releases, oldest first, the last one with its CRD and its webhook.
pub static RELEASES: [&Policy; 4] = [&V0_1, &V0_4, &V1_0, &CONTROLLER];

/// The Kthena blog as written.
pub static DOCUMENTED: Policy = policy(
    Release { tag: "documented", date: "", commit: "", knowledge: Knowledge::Documents },
    &[],
    &KTHENA_DOCUMENTED,
);

static V0_1: Policy = policy(
    Release {
        tag: "v0.1.0",
        date: "2025-10-31",
        commit: "f4305628",
        knowledge: Knowledge::Read(&[]),
    },
    &[since("since v0.4.0", "spec.plugins"), ROLE_MAX_UNAVAILABLE, ROLE_PARTITION],
    &KTHENA_V0_1,
);

static V0_4: Policy = policy(
    Release {
        tag: "v0.4.0",
        date: "2026-04-17",
        commit: "2916fb73",
        knowledge: Knowledge::Read(&[]),
    },
    &[ROLE_MAX_UNAVAILABLE, ROLE_PARTITION],
    &KTHENA_V0_4,
);

static V1_0: Policy = policy(
    Release {
        tag: "v1.0.0",
        date: "2026-07-16",
        commit: "2d67015a",
        knowledge: Knowledge::Read(&[]),
    },
    &[ROLE_PARTITION],
    &KTHENA_V1_0,
);

const HEAD_RELEASE: Release = Release {
    tag: "head",
    date: "2026-08-21",
    commit: "3cc05728",
    knowledge: Knowledge::Recorded(576),
};

/// The newest release for objects that its CRD and its webhook do not see.
static HEAD: Policy = policy(HEAD_RELEASE, &[], &KTHENA_HEAD);

/// The newest release with the CRD and the webhook before it: `--semantics controller`.
pub static CONTROLLER: Policy = policy(HEAD_RELEASE, &[], &KTHENA_CONTROLLER);

/// A policy of Kthena. `unknown` are the fields that its CRD drops; they identify the release of a
/// live cluster (charts/kthena/charts/workload/crds).
const fn policy(id: Release, unknown: &'static [Unknown], rules: &'static KthenaRelease) -> Policy {
    Policy { unknown, release: rules.name, ..Policy::undecided(Api::Kthena, id, rules) }
}

/// Returns the release of a name in `--kthena-profile`.
pub fn profile(name: &str) -> Option<&'static Policy> {
    RELEASES.into_iter().find(|release| release.release == name)
}

/// Returns the same release for objects that its CRD and its webhook do not see: they are read by
/// the documents, or were admitted before.
pub fn without_server(policy: &'static Policy) -> &'static Policy {
    if policy.id == HEAD.id { &HEAD } else { policy }
}

const ROLE_MAX_UNAVAILABLE: Unknown = since("since v1.0.0", "spec.template.roles[].maxUnavailable");
const ROLE_PARTITION: Unknown = since("in head only", "spec.template.roles[].partition");

/// Kinds that the CRDs of v1.0.0 no longer have: an AutoscalingPolicy has the target itself
/// (charts/kthena/charts/workload/crds).
const ENDED_WITH_V1_0: &[Unknown] =
    &[Unknown { kinds: &["AutoscalingPolicyBinding"], path: "", supported: "before v1.0.0" }];

const fn since(name: &'static str, path: &'static str) -> Unknown {
    Unknown { kinds: &["ModelServing"], path, supported: name }
}

/// The Kthena blog as written, contradictions as docs/decisions.md reads them.
pub static KTHENA_DOCUMENTED: KthenaRelease = KthenaRelease {
    name: "documented",
    reads_later_values: true,
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
pub static KTHENA_V0_1: KthenaRelease = KthenaRelease {
    name: "v0.1",
    reads_later_values: false,
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
pub static KTHENA_V1_0: KthenaRelease = KthenaRelease {
    name: "v1.0",
    reads_later_values: false,
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
pub static KTHENA_V0_4: KthenaRelease = KthenaRelease {
    name: "v0.4",
    ended: &[],
    selects_entries: false,
    gang_queue: false,
    role_struct: RoleStruct::V0_4,
    ..KTHENA_V1_0
};

/// volcano-sh/kthena @3cc0572, with the documents' reading of manifests.
pub static KTHENA_HEAD: KthenaRelease = KthenaRelease {
    name: "head",
    role_partition: true,
    role_max_unavailable_default: true,
    role_struct: RoleStruct::Head,
    ordinals: OrdinalRule::FillHoles,
    ..KTHENA_V1_0
};

/// [`KTHENA_HEAD`] with the CRD and the webhook before it: `--semantics controller`.
pub static KTHENA_CONTROLLER: KthenaRelease =
    KthenaRelease { admission: Admission::Server, ..KTHENA_HEAD };
