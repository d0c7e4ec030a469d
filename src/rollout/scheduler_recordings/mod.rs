//! The recordings of a real control plane that need its controllers: every scenario is simulated.

pub(crate) mod bench;
pub(crate) mod placements;
pub(crate) mod rollouts;

use crate::cluster::schedule::scheduler_recordings::{check, placements as recorded};

#[test]
fn placements_match_the_recorded_scheduler() {
    check("placement", |row| recorded::check(row, placements::play));
}

#[test]
fn deployment_rollouts_match_the_recordings() {
    check("rollout", rollouts::check);
}

#[test]
fn leader_worker_set_rollouts_match_the_recordings() {
    check("lws", |row| rollouts::check_groups(row, false));
}

#[test]
fn leader_worker_set_rollouts_match_with_the_max_unavailable_gate() {
    check("lws-gate-maxunavailable", |row| rollouts::check_groups(row, true));
}
