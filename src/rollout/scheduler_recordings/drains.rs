//! drain.jsonl: nodes drained one after the other.

use super::bench::Bench;
use super::services::services;
use crate::cluster::schedule::scheduler_recordings::{Row, namespace, node, text, ties};
use crate::cluster::schedule::{Budget, First, PodState, TieBreak};
use crate::rollout::{DrainBudget, NodeEnd, PodPhase, WorkloadId};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MOST: usize = 2_000;

fn budgets(row: &Row) -> Vec<DrainBudget> {
    let objects = row.apply.iter().chain(&row.objects);
    let objects = objects.filter(|object| object["kind"] == "PodDisruptionBudget").map(|object| {
        DrainBudget {
            name: text(&object["metadata"]["name"]).into(),
            budget: Budget::read(namespace(object), &node(object)).unwrap(),
            always_allow: object["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow",
        }
    });
    objects.collect()
}

/// The phases of the pods of each workload.
fn phases(bench: &Bench) -> Value {
    let mut all = Map::new();
    for (name, (id, _)) in &bench.workloads {
        let pods = bench.world.pods_of(*id);
        let of =
            |phase: PodPhase| pods.iter().filter(|pod| bench.world.phase(**pod) == phase).count();
        let value = json!({
            "ready": of(PodPhase::Ready), "starting": of(PodPhase::Starting),
            "pending": of(PodPhase::Pending), "terminating": of(PodPhase::Terminating),
        });
        all.insert(name.clone(), value);
    }
    all.into()
}

fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let budgets = budgets(row);
    let before = services(&bench);
    let names: BTreeMap<WorkloadId, String> =
        bench.workloads.iter().map(|(name, (id, _))| (*id, name.clone())).collect();
    let nodes: Vec<&str> = row.drain["nodes"].as_array().unwrap().iter().map(text).collect();
    let ids: Vec<_> =
        nodes.iter().map(|node| bench.world.scheduler().node_id(node).unwrap()).collect();
    let mut sequence = Vec::new();
    let mut world = bench.world.clone();
    let ends = world.drain(
        &ids,
        &budgets,
        ties,
        |_| false,
        |world, step| {
            let name = |pod, owner: &Option<WorkloadId>| match owner {
                Some(owner) => names[owner].clone(),
                None => world.scheduler().template_of(pod).name.to_string(),
            };
            let mut evicted: Vec<String> =
                step.evicted.iter().map(|(pod, owner)| name(*pod, owner)).collect();
            evicted.sort();
            let mut blocked: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
            for (pod, owner, why) in &step.blocked {
                let of = blocked.entry(name(*pod, owner)).or_default();
                *of.entry(why.to_string()).or_default() += 1;
            }
            let shown = Bench::like(&bench, world.clone());
            let mut value = json!({
                "tick": step.tick, "node": world.scheduler().node(step.node).name.as_str(),
                "evicted": evicted, "blocked": blocked, "services": phases(&shown),
            });
            if !budgets.is_empty() {
                let status = budgets.iter().map(|budget| {
                    let status = world.budget(budget);
                    let status = json!({
                        "currentHealthy": status.healthy, "desiredHealthy": status.desired,
                        "disruptionsAllowed": status.allowed, "expectedPods": status.expected,
                    });
                    (budget.name.to_string(), status)
                });
                value["budgets"] = status.collect::<Map<_, _>>().into();
            }
            sequence.push(value);
        },
    );
    bench.world = world;
    let scheduler = bench.world.scheduler();
    let gone = bench
        .running_pods()
        .filter(|(_, pod)| !matches!(scheduler.state(*pod), PodState::Bound(_)));
    let gone: Vec<String> = gone.map(|(name, _)| name.to_owned()).collect();
    let ends: BTreeMap<&str, &str> = nodes
        .into_iter()
        .zip(ends)
        .map(|(node, end)| {
            let end = match end {
                NodeEnd::Drained => "drained",
                NodeEnd::Blocked => "blocked",
                NodeEnd::NotReached => "not reached",
            };
            (node, end)
        })
        .collect();
    let mut end = json!({"nodes": ends, "services": services(&bench)});
    if !gone.is_empty() {
        end["evictedRunning"] = json!(gone);
    }
    json!({"before": {"services": before}, "sequence": sequence, "end": end})
}

/// A recording without what is chance: which of two budgets over a pod is kept up to date, the
/// order of equal pods, and fields of pods.
fn comparable(recorded: &Value, budgets: bool) -> Value {
    let mut recorded = recorded.clone();
    if let Some(before) = recorded["before"].as_object_mut() {
        before.retain(|key, _| key == "services");
    }
    for row in recorded["sequence"].as_array_mut().into_iter().flatten() {
        let map = row.as_object_mut().unwrap();
        if !budgets {
            map.remove("budgets");
        }
        if let Some(evicted) = map.get_mut("evicted").and_then(Value::as_array_mut) {
            evicted.sort_by_key(Value::to_string);
        }
    }
    let strip = |services: &mut Value| {
        for (_, service) in services.as_object_mut().into_iter().flatten() {
            let map = service.as_object_mut().unwrap();
            map.remove("shown");
            map.remove("failed");
        }
    };
    strip(&mut recorded["before"]["services"]);
    strip(&mut recorded["end"]["services"]);
    if let Some(end) = recorded["end"].as_object_mut() {
        end.retain(|key, _| matches!(key.as_str(), "nodes" | "services" | "evictedRunning"));
    }
    recorded
}

pub(super) fn check(row: &Row) -> Result<(), String> {
    let guarded = row.deterministic;
    let value = comparable(&play(row, &mut First), guarded);
    let outcomes: Vec<Value> = if row.deterministic {
        vec![comparable(&row.expect, guarded)]
    } else {
        row.outcomes.iter().map(|outcome| comparable(&outcome["expect"], guarded)).collect()
    };
    for outcome in outcomes {
        let possible = value == outcome
            || ties::any(MOST, |ties| comparable(&play(row, ties), guarded) == outcome);
        if !possible {
            return Err(format!("\n  recorded {outcome}\n  played   {value}"));
        }
    }
    Ok(())
}
