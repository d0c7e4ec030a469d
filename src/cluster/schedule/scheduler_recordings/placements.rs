//! placement.jsonl: where the pods of Deployments go.

use super::Row;
use super::ties;
use crate::cluster::schedule::{First, TieBreak};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most ways of breaking ties that are tried.
const MOST: usize = 20_000;

/// The pods of a Deployment: the nodes of those that have one and are not about to end, and why the
/// others wait.
#[derive(Debug, Default)]
pub(crate) struct Service {
    pub(crate) nodes: Vec<String>,
    pub(crate) waiting: Vec<String>,
}

impl Service {
    /// As the table has it.
    pub(crate) fn json(&self) -> Value {
        let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
        for node in &self.nodes {
            *nodes.entry(node).or_default() += 1;
        }
        let mut messages: BTreeMap<&str, usize> = BTreeMap::new();
        for message in &self.waiting {
            *messages.entry(message).or_default() += 1;
        }
        let (scheduled, pending) = (self.nodes.len(), self.waiting.len());
        json!({"scheduled": scheduled, "pending": pending, "nodes": nodes, "messages": messages})
    }
}

/// An outcome in the form of the table: the services at the end, those before later events, and
/// evicted pods.
pub(crate) fn outcome(services: &Value, before: Option<&Value>, evicted: &[String]) -> Value {
    let mut out = json!({"services": services});
    if let Some(before) = before {
        out["before"] = json!({"services": before});
    }
    if !evicted.is_empty() {
        out["evictedRunning"] = json!(evicted);
    }
    out
}

/// Without who was evicted when, which hangs on timing.
fn comparable(expect: &Value) -> Value {
    let mut expect = expect.clone();
    if let Some(map) = expect.as_object_mut() {
        map.remove("evictions");
    }
    expect
}

/// Only how many pods have a node.
fn counts(outcome: &Value) -> Value {
    let of = |services: &Value| -> Value {
        let services = services.as_object().unwrap();
        services
            .iter()
            .map(|(name, service)| {
                (
                    name.clone(),
                    json!({"scheduled": service["scheduled"], "pending": service["pending"]}),
                )
            })
            .collect::<Map<String, Value>>()
            .into()
    };
    let mut out = json!({"services": of(&outcome["services"])});
    out["evictedRunning"] = outcome["evictedRunning"].clone();
    if let Some(before) = outcome.get("before") {
        out["before"] = of(&before["services"]);
    }
    out
}

/// Checks a scenario that is run with some ties.
pub(crate) fn check(
    row: &Row,
    play: impl Fn(&Row, &mut dyn TieBreak) -> Value,
) -> Result<(), String> {
    let value = play(row, &mut First);
    let expect = comparable(&row.expect);
    if row.counts_deterministic && counts(&value) != counts(&expect) {
        return Err(format!("\n  recorded {expect}\n  played   {value}"));
    }
    if row.deterministic {
        // Several runs alike prove nothing where nodes are equal: it must be possible.
        let possible = value == expect || ties::any(MOST, |ties| play(row, ties) == expect);
        return if possible {
            Ok(())
        } else {
            Err(format!("\n  recorded {expect}\n  played   {value}"))
        };
    }
    for outcome in &row.outcomes {
        let outcome = comparable(&outcome["expect"]);
        if !ties::any(MOST, |ties| play(row, ties) == outcome) {
            return Err(format!("\n  recorded {outcome}\n  played   {value}"));
        }
    }
    Ok(())
}
