//! The recordings of a real control plane that need its controllers: every scenario is simulated.

pub(crate) mod bench;
pub(crate) mod placements;
pub(crate) mod rollouts;

use crate::cluster::schedule::scheduler_recordings::{check, placements as recorded};

#[test]
fn placement() {
    check("placement", |row| recorded::check(row, placements::play));
}

#[test]
fn rollout() {
    check("rollout", rollouts::check);
}

#[test]
fn leader_worker_sets() {
    check("lws", |row| rollouts::check_groups(row, false));
}

#[test]
fn leader_worker_sets_with_the_gate() {
    check("lws-gate-maxunavailable", |row| rollouts::check_groups(row, true));
}
