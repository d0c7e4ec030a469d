//! The releases of the LeaderWorkerSet controller that differ in a rollout, a constant each
//! (kubernetes-sigs/lws, tags v0.7.0 to v0.10.0).
//!
//! v0.7.0 and v0.10.0 are recorded: lws.jsonl and lws-releases.jsonl. v0.8.0 and v0.9.0 are read.

/// The rules of a release.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a change that a release has or has not")]
pub struct LeaderWorkerSetRelease {
    /// Its tag.
    pub tag: &'static str,
    /// The day of its tag.
    pub date: &'static str,
    /// The commit of its tag.
    pub commit: &'static str,
    /// Whether the rules were recorded from its controller; otherwise they were read.
    pub recorded: bool,
    /// A group is ready when its workers are ready, and not as soon as they exist
    /// (pkg/utils/statefulset/statefulset_utils.go, StatefulsetReady; pull request 705).
    pub ready_workers: bool,
    /// Surge groups stay as long as more groups are unready than maxUnavailable allows; before, one
    /// unready group was let pass (pkg/controllers/leaderworkerset_controller.go,
    /// calculateRollingUpdateReplicas; pull request 778).
    pub kept_surge: bool,
    /// More groups come before an update begins or goes on
    /// (pkg/controllers/leaderworkerset_controller.go, rollingUpdateParameters; pull request 778).
    pub scales_first: bool,
    /// The leaders' StatefulSet may lack maxUnavailable and maxSurge groups together
    /// (pkg/controllers/leaderworkerset_controller.go,
    /// constructLeaderStatefulSetApplyConfiguration; pull request 781).
    pub surge_in_budget: bool,
    /// `restartPolicy: RecreateGroupAfterStart` exists (pkg/controllers/pod_controller.go,
    /// handleRestartPolicy; pull request 757).
    pub after_start: bool,
    /// The annotation `experimental-recreate-group-after-start` is read (pull request 725).
    pub after_start_annotation: bool,
    /// Workers of a leader that is gone do not recreate the group of the next one
    /// (pkg/controllers/pod_controller.go, workerPodBelongsToLeader; pull request 805).
    pub own_workers: bool,
    /// The webhook refuses a negative partition (pkg/webhooks/leaderworkerset_webhook.go; pull
    /// request 618).
    pub checks_partition: bool,
    /// Most groups that the CRD accepts (pull request 913).
    pub most_replicas: Option<i64>,
}

/// v0.7.0, with which OME v0.1.5 is built.
pub static V0_7: LeaderWorkerSetRelease = LeaderWorkerSetRelease {
    tag: "v0.7.0",
    date: "2025-08-05",
    commit: "cd3a73a3",
    recorded: true,
    ready_workers: false,
    kept_surge: false,
    scales_first: false,
    surge_in_budget: false,
    after_start: false,
    after_start_annotation: false,
    own_workers: false,
    checks_partition: false,
    most_replicas: None,
};

/// v0.8.0: rollouts as in v0.7.0.
pub static V0_8: LeaderWorkerSetRelease = LeaderWorkerSetRelease {
    tag: "v0.8.0",
    date: "2026-01-27",
    commit: "fc19b9ae",
    recorded: false,
    after_start_annotation: true,
    checks_partition: true,
    ..V0_7
};

/// v0.9.0: rollouts as in v0.10.0.
pub static V0_9: LeaderWorkerSetRelease = LeaderWorkerSetRelease {
    tag: "v0.9.0",
    date: "2026-06-17",
    commit: "f056f611",
    recorded: false,
    most_replicas: None,
    ..V0_10
};

/// v0.10.0.
pub static V0_10: LeaderWorkerSetRelease = LeaderWorkerSetRelease {
    tag: "v0.10.0",
    date: "2026-08-11",
    commit: "2161f38f",
    recorded: true,
    ready_workers: true,
    kept_surge: true,
    scales_first: true,
    surge_in_budget: true,
    after_start: true,
    after_start_annotation: true,
    own_workers: true,
    checks_partition: true,
    most_replicas: Some(1_000_000),
};

/// The releases, oldest first.
pub static RELEASES: [&LeaderWorkerSetRelease; 4] = [&V0_7, &V0_8, &V0_9, &V0_10];

/// The release of a tag.
pub fn release(tag: &str) -> Option<&'static LeaderWorkerSetRelease> {
    RELEASES.into_iter().find(|release| release.tag == tag)
}
