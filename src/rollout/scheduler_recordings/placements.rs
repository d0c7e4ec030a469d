//! placement.jsonl: where the pods of Deployments go.

use super::Row;
use super::bench::Bench;
use super::ties;
use crate::cluster::schedule::{First, TieBreak};
use crate::rollout::PodPhase;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most ways of breaking ties that are tried.
const MOST: usize = 20_000;

/// Each Deployment as the table has it.
fn services(bench: &Bench) -> Value {
    let mut all = Map::new();
    for (name, (id, _)) in &bench.workloads {
        let ended = bench.world.ended(*id).unwrap();
        let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
        for (pod, phase) in &ended.pods {
            if *phase != PodPhase::Terminating
                && let Some(node) = bench.node_of(*pod)
            {
                *nodes.entry(node).or_default() += 1;
            }
        }
        let mut messages: BTreeMap<String, usize> = BTreeMap::new();
        for (_, rejection) in &ended.waiting {
            let message = rejection.as_ref().map(|own| own.message.to_string()).unwrap_or_default();
            *messages.entry(message).or_default() += 1;
        }
        let scheduled: usize = nodes.values().sum();
        let pending = ended.waiting.len();
        all.insert(
            name.clone(),
            json!({"scheduled": scheduled, "pending": pending, "nodes": nodes, "messages": messages}),
        );
    }
    Value::Object(all)
}

/// What comes out with some ties.
fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let before = services(&bench);
    for action in &row.then {
        bench.act(action);
        bench.come_to_rest(ties);
    }
    let mut out = json!({"services": services(&bench)});
    if !row.then.is_empty() {
        out["before"] = json!({"services": before});
    }
    let evicted = bench.evicted();
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
            .map(|(name, own)| {
                (name.clone(), json!({"scheduled": own["scheduled"], "pending": own["pending"]}))
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

pub(super) fn check(row: &Row) -> Result<(), String> {
    let own = play(row, &mut First);
    let expect = comparable(&row.expect);
    if row.counts_deterministic && counts(&own) != counts(&expect) {
        return Err(format!("\n  recorded {expect}\n  played   {own}"));
    }
    if row.deterministic {
        // Several runs alike prove nothing where nodes are equal: it must be possible.
        let possible = own == expect || ties::any(MOST, |ties| play(row, ties) == expect);
        return if possible {
            Ok(())
        } else {
            Err(format!("\n  recorded {expect}\n  played   {own}"))
        };
    }
    for outcome in &row.outcomes {
        let outcome = comparable(&outcome["expect"]);
        if !ties::any(MOST, |ties| play(row, ties) == outcome) {
            return Err(format!("\n  recorded {outcome}\n  played   {own}"));
        }
    }
    Ok(())
}
