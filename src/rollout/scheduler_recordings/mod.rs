//! The recordings of a real control plane: every scenario is simulated, and what comes out must be
//! what was recorded, or for what hangs on chance one of what may come out.

pub(crate) mod bench;
pub(crate) mod placements;
pub(crate) mod rollouts;
pub(crate) mod ties;

use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    name: String,
    nodes: Vec<Value>,
    running: Vec<Value>,
    apply: Vec<Value>,
    #[serde(default)]
    then: Vec<Value>,
    #[serde(default)]
    change: Vec<Value>,
    #[serde(default, rename = "pre_change")]
    pre_change: Vec<Value>,
    deterministic: bool,
    #[serde(default)]
    counts_deterministic: bool,
    #[serde(default)]
    sequence_deterministic: bool,
    expect: Value,
    #[serde(default)]
    outcomes: Vec<Value>,
}

/// The scenarios of a table. A table that is not there is a failure: nothing passes unread.
#[expect(clippy::disallowed_methods, reason = "a test reads its table")]
fn rows(table: &str) -> Vec<Row> {
    let beside =
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/scheduler"));
    let directory = std::env::var_os("OME_SCHEDULER_DIR").map_or_else(beside, PathBuf::from);
    let path = directory.join(table);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows: Vec<Row> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(!rows.is_empty(), "{} holds no scenario", path.display());
    rows
}

/// Checks every scenario of a table, and names all that fail.
fn check(table: &str, check: impl Fn(&Row) -> Result<(), String>) {
    let rows = rows(table);
    let failures: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{}: {}", row.name, check(row).err()?)))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} scenarios of {table} fail\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}

#[test]
fn placement() {
    check("placement.jsonl", placements::check);
}

#[test]
fn rollout() {
    check("rollout.jsonl", rollouts::check);
}

#[test]
fn leader_worker_sets() {
    check("lws.jsonl", |row| rollouts::check_groups(row, false));
}

#[test]
fn leader_worker_sets_with_the_gate() {
    check("lws-gate-maxunavailable.jsonl", |row| rollouts::check_groups(row, true));
}
