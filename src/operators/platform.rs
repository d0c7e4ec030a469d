//! Releases of what runs beneath the operators: Kubernetes, and the controller of LeaderWorkerSets.
//!
//! In: names as `--release` takes them. Out: their releases, and a [`Platform`] of them.

use crate::api::{Knowledge, Release};
use crate::policy::Platform;
use crate::rollout::leader_worker_set_releases as leader_worker_set;

/// Name of the controller of LeaderWorkerSets in `--release`, and of its image.
pub const LEADER_WORKER_SET: &str = "lws";

/// Name of Kubernetes in `--release`.
pub const KUBERNETES: &str = "kubernetes";

const fn kubernetes(tag: &'static str, date: &'static str, knowledge: Knowledge) -> Release {
    Release { tag, date, commit: "", knowledge }
}

/// Releases of Kubernetes: the schemas and the scheduler are those of 1.35, later ones add fields.
static KUBERNETES_RELEASES: [Release; 3] = [
    kubernetes("1.35", "2025-12-17", Knowledge::Recorded(0)),
    kubernetes("1.36", "2026-04-22", Knowledge::Read(&["all but the fields of objects"])),
    kubernetes(
        "1.37",
        "2026-07-24",
        Knowledge::Read(&["all but the fields of objects at v0.37.0-beta.0 of k8s.io/api"]),
    ),
];

/// Everything beneath the operators, by name, each with its releases, oldest first.
pub fn released() -> [(&'static str, Vec<Release>); 2] {
    let groups = leader_worker_set::RELEASES.iter().map(|release| Release {
        tag: release.tag,
        date: release.date,
        commit: release.commit,
        knowledge: if release.recorded { Knowledge::Recorded(0) } else { Knowledge::Read(&[]) },
    });
    [(KUBERNETES, KUBERNETES_RELEASES.to_vec()), (LEADER_WORKER_SET, groups.collect())]
}

/// The known tag of a name; `None` for an unknown one.
pub fn tag(name: &str, wanted: &str) -> Option<&'static str> {
    let (_, releases) = released().into_iter().find(|(released, _)| *released == name)?;
    releases.into_iter().map(|release| release.tag).find(|tag| *tag == wanted)
}

/// What is followed by default: the releases that OME v0.1.5 is built with, and that were recorded.
pub fn default() -> Platform {
    Platform {
        kubernetes: KUBERNETES_RELEASES[0].tag,
        leader_worker_set: leader_worker_set::V0_7.tag,
        device_tolerations: true,
    }
}
