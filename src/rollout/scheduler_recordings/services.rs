//! volumes.jsonl, quota.jsonl, dra.jsonl, workloads.jsonl, path.jsonl: where the pods of all kinds
//! of workloads go, which ones are refused, and what becomes of claims and quotas.

use super::bench::Bench;
use crate::cluster::schedule::scheduler_recordings::{Row, text, ties};
use crate::cluster::schedule::{First, PodId, PodState, TieBreak};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most ways of breaking ties that are tried.
const MOST: usize = 4_000;

fn count(map: &mut BTreeMap<String, usize>, key: impl Into<String>) {
    *map.entry(key.into()).or_default() += 1;
}

/// The number of pods that a workload wants.
fn wanted(object: &Value) -> Option<usize> {
    match text(&object["kind"]) {
        "Deployment" | "StatefulSet" | "ReplicaSet" => {
            let replicas = object["spec"]["replicas"].as_u64().unwrap_or(1);
            usize::try_from(replicas).ok()
        }
        _ => None,
    }
}

/// Names of pods with a random part, as the recordings have them.
fn starred(text: &str) -> String {
    // Owners of claims have the number of the pod behind the star.
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('*') {
        out.push_str(&rest[..=at]);
        rest = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

fn job(bench: &Bench, name: &str) -> Option<Value> {
    let (id, object) = &bench.workloads[name];
    let status = bench.world.job(*id)?;
    let mut recorded = json!({
        "active": status.active, "succeeded": status.succeeded, "failed": status.failed,
    });
    if status.suspended {
        recorded["conditions"] = json!(["Suspended"]);
    } else if status.complete {
        recorded["conditions"] = json!(["SuccessCriteriaMet", "Complete"]);
    } else if status.exceeded {
        recorded["conditions"] = json!(["FailureTarget", "Failed"]);
    }
    if object["spec"]["completionMode"] == "Indexed" && status.succeeded > 0 {
        let last = status.succeeded - 1;
        let indexes = if last == 0 { "0".to_owned() } else { format!("0-{last}") };
        recorded["completedIndexes"] = json!(indexes);
    }
    Some(recorded)
}

fn devices(bench: &Bench, pods: &[PodId]) -> BTreeMap<String, usize> {
    let scheduler = bench.world.scheduler();
    let mut all = BTreeMap::new();
    for claim in scheduler.devices().status().filter(|claim| claim.of_pod) {
        if claim.users.iter().any(|pod| pods.contains(pod)) {
            for (_, pool, device) in claim.devices.unwrap_or_default() {
                count(&mut all, format!("{pool}/{device}"));
            }
        }
    }
    all
}

fn service(bench: &Bench, name: &str) -> Value {
    let (id, object) = &bench.workloads[name];
    let scheduler = bench.world.scheduler();
    let pods = bench.world.pods_of(*id);
    let (mut nodes, mut messages) = (BTreeMap::new(), BTreeMap::new());
    let (mut reasons, mut events) = (BTreeMap::new(), Vec::new());
    let (mut scheduled, mut pending, mut terminating) = (0, 0, 0);
    for pod in &pods {
        match scheduler.state(*pod) {
            PodState::Bound(node) => {
                scheduled += 1;
                count(&mut nodes, scheduler.node(node).name.as_str());
            }
            PodState::Waiting | PodState::Reserved(_) => {
                pending += 1;
                let message =
                    scheduler.rejection(*pod).map(|rejection| starred(&rejection.message));
                let message = message.unwrap_or_default();
                if message.starts_with("running \"") {
                    count(&mut reasons, "SchedulerError");
                } else if scheduler.template_of(*pod).gated {
                    count(&mut reasons, "SchedulingGated");
                }
                count(&mut messages, message);
                let event = scheduler.event(*pod).map(|event| starred(event));
                events.extend(event.filter(|event| !events.contains(event)));
            }
            PodState::Terminating(_) => terminating += 1,
            PodState::Gone => {}
        }
    }
    let mut recorded = json!({
        "scheduled": scheduled, "pending": pending, "nodes": nodes, "messages": messages,
    });
    let mut put = |key: &str, value: Value| {
        let empty = value.as_object().is_some_and(Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !empty {
            recorded[key] = value;
        }
    };
    put("reasons", json!(reasons));
    put("events", json!(events));
    put("devices", json!(devices(bench, &pods)));
    if terminating > 0 {
        put("terminating", json!(terminating));
    }
    if let Some(wanted) = wanted(object).filter(|wanted| *wanted != scheduled + pending) {
        put("wanted", json!(wanted));
    }
    if let Some(why) = bench.world.refused(*id) {
        put("refused", json!({starred(why): 1}));
    }
    if let Some(desired) = bench.world.desired(*id) {
        put("desired", json!(desired));
    }
    if let Some(job) = job(bench, name) {
        for key in ["succeeded", "failed"] {
            // Failed pods are deleted by the garbage collector of the recordings' cluster.
            if key == "succeeded" && job[key] != 0 {
                put(key, job[key].clone());
            }
        }
        put("job", job);
    } else if let Some(succeeded) = bench.succeeded.get(name) {
        put("succeeded", json!(succeeded));
    }
    recorded
}

/// Every workload.
pub(super) fn services(bench: &Bench) -> Value {
    let mut all = Map::new();
    for name in bench.workloads.keys() {
        all.insert(name.clone(), service(bench, name));
    }
    for name in &bench.empty {
        let mut value = json!({"scheduled": 0, "pending": 0, "nodes": {}, "messages": {}});
        if let Some(why) = bench.refused.get(name) {
            value["refused"] = json!({why: 1});
        }
        all.insert(name.clone(), value);
    }
    Value::Object(all)
}

fn quotas(bench: &Bench) -> Value {
    let all = bench.world.scheduler().quotas().into_iter().map(|quota| {
        let hard: BTreeMap<&str, _> = quota
            .resources
            .iter()
            .map(|(name, hard, _)| (name.as_str(), hard.canonical().to_string()))
            .collect();
        let used = quota.resources.iter().filter_map(|(name, _, used)| {
            Some((name.as_str(), used.as_ref()?.canonical().to_string()))
        });
        let used: BTreeMap<&str, _> = used.collect();
        (quota.name.to_string(), json!({"hard": hard, "used": used}))
    });
    all.collect::<Map<_, _>>().into()
}

fn volume_claims(bench: &Bench) -> Value {
    let mut all = Map::new();
    let mut of_pods: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for claim in bench.world.scheduler().storage().status() {
        let phase = if claim.bound { "Bound" } else { "Pending" };
        if claim.name.contains('*') {
            of_pods.entry(starred(&claim.name)).or_default().push(phase);
            continue;
        }
        let mut value = json!({"phase": phase});
        if let Some(volume) = &claim.volume {
            value["volume"] = json!(volume.as_str());
        }
        if let Some(node) = &claim.selected {
            value["selectedNode"] = json!(node.as_str());
        }
        if claim.deleting {
            value["terminating"] = json!(true);
        }
        all.insert(claim.name.to_string(), value);
    }
    for (name, mut phases) in of_pods {
        phases.sort_unstable();
        all.insert(name, json!({"count": phases.len(), "phases": phases}));
    }
    all.into()
}

fn resource_claims(bench: &Bench) -> Value {
    let mut all = Map::new();
    for claim in bench.world.scheduler().devices().status().filter(|claim| !claim.of_pod) {
        let mut devices = match claim.devices {
            Some(devices) => {
                let devices: Vec<String> = devices
                    .iter()
                    .map(|(request, pool, device)| format!("{request}={pool}/{device}"))
                    .collect();
                json!({"devices": devices, "reservedFor": claim.users.len()})
            }
            None => json!({"allocated": false}),
        };
        if claim.deleting {
            devices["terminating"] = json!(true);
        }
        all.insert(claim.name.to_string(), devices);
    }
    all.into()
}

/// The state of everything, as the table has it. Parts that the recording lacks are left out.
fn state(bench: &Bench, like: &Value) -> Value {
    let mut input = json!({"services": services(bench)});
    for (key, value) in [
        ("quotas", quotas as fn(&Bench) -> Value),
        ("volumeClaims", volume_claims),
        ("resourceClaims", resource_claims),
    ] {
        if like.get(key).is_some() {
            input[key] = value(bench);
        }
    }
    let evicted = bench.evicted();
    if !evicted.is_empty() {
        input["evictedRunning"] = json!(evicted);
    }
    input
}

/// A text without the ordinals of the pods of StatefulSets.
fn unnumber(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('-') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let ends = rest[digits..].starts_with(['"', ' ']) || rest.len() == digits;
        if digits > 0 && ends {
            out.push('N');
            rest = &rest[digits..];
        }
    }
    out + rest
}

/// A recorded state without what hangs on timing, and without fields of pods.
fn comparable(expect: &Value) -> Value {
    let mut expect = expect.clone();
    let Some(map) = expect.as_object_mut() else { return expect };
    for key in ["evictions", "disruptions", "refusedObjects"] {
        map.remove(key);
    }
    if let Some(before) = map.get_mut("before") {
        *before = comparable(before);
    }
    // Which pod of a StatefulSet comes first is chance where all are created at once.
    if let Some(claims) = map.get_mut("volumeClaims").and_then(Value::as_object_mut) {
        let mut unnumbered: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, claim) in std::mem::take(claims) {
            let sorted: BTreeMap<String, Value> =
                claim.as_object().cloned().into_iter().flatten().collect();
            let claim = unnumber(&json!(sorted).to_string());
            unnumbered.entry(unnumber(&name)).or_default().push(claim);
        }
        for (name, mut list) in unnumbered {
            list.sort_unstable();
            claims.insert(name, json!(list));
        }
    }
    for service in map.get_mut("services").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(by_key) = service.1.as_object_mut() {
            by_key.remove("shown");
            // Pods that failed and are still there are no part of the answer.
            by_key.remove("failed");
            if let Some(refused) = by_key.get_mut("refused").and_then(Value::as_object_mut) {
                let unnumbered = std::mem::take(refused).into_iter();
                *refused = unnumbered.map(|(why, count)| (unnumber(&why), count)).collect();
            }
        }
    }
    expect
}

fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let like = &row.expect;
    let before = (!row.then.is_empty()).then(|| state(&bench, &like["before"]));
    for action in &row.then {
        bench.act(action);
        bench.come_to_rest(ties);
    }
    let mut state = state(&bench, like);
    if let Some(before) = before {
        state["before"] = before;
    }
    comparable(&state)
}

/// What must be the same in every run: all but nodes, devices and the numbers of pods of a message.
fn steady(state: &Value) -> Value {
    let of = |services: &Value| -> Value {
        let each = services.as_object().into_iter().flatten().map(|(name, service)| {
            let mut value = service.clone();
            if let Some(map) = value.as_object_mut() {
                for key in ["nodes", "devices", "events"] {
                    map.remove(key);
                }
                let messages = map.get("messages").and_then(Value::as_object);
                let keys: Vec<String> =
                    messages.into_iter().flatten().map(|(key, _)| key.clone()).collect();
                map.insert("messages".into(), json!(keys));
            }
            (name.clone(), value)
        });
        each.collect::<Map<_, _>>().into()
    };
    let mut recorded = json!({
        "services": of(&state["services"]),
        "evictedRunning": state["evictedRunning"],
        "quotas": state["quotas"],
    });
    if let Some(before) = state.get("before") {
        recorded["before"] = of(&before["services"]);
    }
    recorded
}

/// Checks a scenario without a change.
pub(super) fn check(row: &Row) -> Result<(), String> {
    let value = play(row, &mut First);
    let differs = |expect: &Value| format!("\n  recorded {expect}\n  played   {value}");
    let expect = comparable(&row.expect);
    if row.counts_deterministic && steady(&value) != steady(&expect) {
        return Err(differs(&expect));
    }
    if row.deterministic {
        let possible = value == expect || ties::any(MOST, |ties| play(row, ties) == expect);
        return if possible { Ok(()) } else { Err(differs(&expect)) };
    }
    let possible =
        |outcome: &Value| value == *outcome || ties::any(MOST, |ties| play(row, ties) == *outcome);
    let outcomes: Vec<Value> =
        row.outcomes.iter().map(|outcome| comparable(&outcome["expect"])).collect();
    // Where even the numbers are chance, one of the outcomes is enough.
    let failed: Vec<&Value> = outcomes.iter().filter(|outcome| !possible(outcome)).collect();
    match failed.first() {
        Some(first) if row.counts_deterministic || failed.len() == outcomes.len() => {
            Err(differs(first))
        }
        _ => Ok(()),
    }
}
