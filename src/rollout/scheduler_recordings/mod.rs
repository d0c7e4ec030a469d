//! The recordings of a real control plane that need its controllers: every scenario is simulated.

pub(crate) mod bench;
pub(crate) mod drains;
pub(crate) mod placements;
pub(crate) mod rollouts;
pub(crate) mod services;

use crate::cluster::schedule::scheduler_recordings::{Row, check, placements as recorded};

/// Checks where the pods of all kinds of workloads go, with a change or without one.
fn check_state(row: &Row) -> Result<(), String> {
    if row.change.is_empty() { services::check(row) } else { rollouts::check_beside(row) }
}

#[test]
fn placements_match_the_recorded_scheduler() {
    check("placement", |row| recorded::check(row, placements::play));
}

#[test]
fn volumes_match_the_recordings() {
    check("volumes", check_state);
}

#[test]
fn quotas_and_limits_match_the_recordings() {
    check("quota", check_state);
}

#[test]
fn claimed_devices_match_the_recordings() {
    check("dra", check_state);
}

#[test]
fn workloads_match_the_recordings() {
    check("workloads", check_state);
}

#[test]
fn the_path_to_a_node_matches_the_recordings() {
    check("path", check_state);
}

#[test]
fn drains_match_the_recordings() {
    check("drain", drains::check);
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

#[test]
fn leader_worker_set_rollouts_match_each_release() {
    check("lws-releases", rollouts::check_release);
}
