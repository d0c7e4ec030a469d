//! rollout.jsonl and lws*.jsonl: updates, tick by tick.

use super::bench::Bench;
use super::services;
use crate::cluster::schedule::scheduler_recordings::{Row, ties};
use crate::cluster::schedule::{First, PodTemplate, TieBreak};
use crate::quantity::IntOrPercent;
use crate::rollout::play::Ended;
use crate::rollout::replica_set::Counts;
use crate::rollout::{End, GroupMember, PodPhase, StageOf};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MOST: usize = 20_000;

fn is_gpu(name: &str) -> bool {
    name.ends_with("/gpu")
}

fn messages(ended: &Ended) -> BTreeMap<String, usize> {
    let mut messages = BTreeMap::new();
    for (_, rejection) in &ended.waiting {
        let message =
            rejection.as_ref().map(|rejection| rejection.message.to_string()).unwrap_or_default();
        *messages.entry(message).or_default() += 1;
    }
    messages
}

fn end(ended: &Ended) -> &'static str {
    match ended.end {
        End::Complete => "complete",
        End::Stuck => "stuck",
        End::Paused => "paused",
        End::Moving => "moving",
    }
}

/// Nodes of the pods of each Deployment, and why some have none.
fn nodes(bench: &Bench, whole: bool) -> Value {
    let mut all = Map::new();
    for (name, (id, _)) in &bench.workloads {
        let ended = bench.world.ended(*id).unwrap();
        let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
        for node in ended.pods.iter().filter_map(|(pod, _)| bench.node_of(*pod)) {
            *nodes.entry(node).or_default() += 1;
        }
        let mut value = json!({"nodes": nodes});
        let messages = messages(&ended);
        if !messages.is_empty() {
            value["messages"] = json!(messages);
        }
        if whole {
            value["state"] = json!(end(&ended));
            let never = ended.pods.iter().filter(|(_, phase)| *phase == PodPhase::Starting).count();
            if never > 0 {
                value["neverReady"] = json!(never);
            }
        }
        all.insert(name.clone(), value);
    }
    Value::Object(all)
}

fn counts(counts: &Counts) -> Value {
    json!({
        "wanted": counts.wanted, "ready": counts.ready, "starting": counts.starting,
        "pending": counts.pending, "terminating": counts.terminating,
    })
}

/// Plays the changes of a row; each stage as `tell` has it.
fn sequence(
    bench: &mut Bench,
    row: &Row,
    ties: &mut dyn TieBreak,
    tell: impl Fn(&Bench) -> Value,
) -> Vec<Value> {
    let mut rows = Vec::new();
    let last = row.change.iter().filter_map(|change| change["tick"].as_u64()).max().unwrap_or(0);
    for tick in 0..1000 {
        if tick > 0 {
            bench.world.advance(ties);
            bench.world.settle_with(ties);
        }
        let now = row.change.iter().filter(|change| change["tick"].as_u64() == Some(tick));
        now.for_each(|change| bench.change(change));
        bench.world.settle_with(ties);
        let mut row = tell(bench);
        row["tick"] = json!(tick);
        rows.push(row);
        if bench.world.is_quiet() && tick >= last {
            break;
        }
    }
    rows
}

fn tell(bench: &Bench) -> Value {
    let services: Map<String, Value> = bench
        .workloads
        .iter()
        .map(|(name, (id, _))| {
            let Some(StageOf::Pods { old, new }) = bench.world.stage_of(*id) else {
                panic!("{name} is a Deployment")
            };
            (name.clone(), json!({"old": counts(&old), "new": counts(&new)}))
        })
        .collect();
    json!({"gpusHeld": bench.world.held(is_gpu), "services": services})
}

fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let initial = nodes(&bench, false);
    for action in &row.pre_change {
        bench.act(action);
    }
    let sequence = sequence(&mut bench, row, ties, tell);
    json!({"initial": initial, "sequence": sequence, "end": nodes(&bench, true)})
}

/// The tables of volumes, quotas and so on describe the state before and after a change as they
/// describe any state.
fn play_beside(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let initial = services::services(&bench);
    for action in &row.pre_change {
        bench.act(action);
    }
    let sequence = sequence(&mut bench, row, ties, tell);
    let mut end = Map::new();
    for (name, service) in services::services(&bench).as_object().unwrap() {
        let mut value = service.clone();
        let (id, object) = &bench.workloads[name];
        let ended = bench.world.ended(*id).unwrap();
        value["state"] = json!(self::end(&ended));
        value["wanted"] = object["spec"]["replicas"].clone();
        end.insert(name.clone(), value);
    }
    json!({"initial": initial, "sequence": sequence, "end": end})
}

/// Without what a recording of this kind may lack.
fn comparable_beside(expect: &Value) -> Value {
    let services = |services: &Value| -> Value {
        let each = services.as_object().into_iter().flatten().map(|(name, service)| {
            let mut value = service.clone();
            if let Some(map) = value.as_object_mut() {
                for key in ["wanted", "devices", "shown", "neverReady", "refused", "events"] {
                    map.remove(key);
                }
                map.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
            }
            (name.clone(), value)
        });
        each.collect::<Map<_, _>>().into()
    };
    let initial = expect["initial"].get("services").unwrap_or(&expect["initial"]);
    json!({
        "initial": services(initial),
        "sequence": expect["sequence"],
        "end": services(&expect["end"]),
    })
}

/// Checks a rollout beside volumes, quotas or devices.
pub(super) fn check_beside(row: &Row) -> Result<(), String> {
    let value = comparable_beside(&play_beside(row, &mut First));
    let expect = comparable_beside(&row.expect);
    if row.sequence_deterministic && course(&value) != course(&expect) {
        return Err(difference(&expect, &value));
    }
    let outcomes: Vec<Value> = if row.deterministic {
        vec![expect]
    } else {
        row.outcomes.iter().map(|outcome| comparable_beside(&outcome["expect"])).collect()
    };
    let possible = |outcome: &Value| {
        value == *outcome
            || ties::any(MOST, |ties| comparable_beside(&play_beside(row, ties)) == *outcome)
    };
    let failed: Vec<&Value> = outcomes.iter().filter(|outcome| !possible(outcome)).collect();
    match failed.first() {
        // Where even the numbers are chance, one of the outcomes is enough.
        Some(first) if row.sequence_deterministic || failed.len() == outcomes.len() => {
            Err(difference(first, &value))
        }
        _ => Ok(()),
    }
}

/// The sequence and how each workload ends.
fn course(outcome: &Value) -> Value {
    let ends: Map<String, Value> = outcome["end"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, end)| (name.clone(), end["state"].clone()))
        .collect();
    json!({"sequence": outcome["sequence"], "end": ends})
}

fn difference(expect: &Value, value: &Value) -> String {
    let list = |value: &Value| value["sequence"].as_array().cloned().unwrap_or_default();
    let (recorded, played) = (list(expect), list(value));
    let at = recorded.iter().zip(&played).position(|(a, b)| a != b);
    let at = at.unwrap_or(recorded.len().min(played.len()));
    let row = |rows: &[Value]| rows.get(at).map(Value::to_string).unwrap_or_default();
    format!(
        "tick {at}\n  recorded {}\n  played   {}\n  recorded {} {}\n  played   {} {}",
        row(&recorded),
        row(&played),
        expect["initial"],
        expect["end"],
        value["initial"],
        value["end"]
    )
}

pub(super) fn check(row: &Row) -> Result<(), String> {
    let value = play(row, &mut First);
    if row.sequence_deterministic && course(&value) != course(&row.expect) {
        return Err(difference(&row.expect, &value));
    }
    let outcomes: Vec<&Value> = if row.deterministic {
        vec![&row.expect]
    } else {
        row.outcomes.iter().map(|outcome| &outcome["expect"]).collect()
    };
    for outcome in outcomes {
        if value != *outcome && !ties::any(MOST, |ties| play(row, ties) == *outcome) {
            return Err(difference(outcome, &value));
        }
    }
    Ok(())
}

/// Pods of a group; old is the version that was applied first.
fn group(members: &[GroupMember], first: &str) -> Value {
    let word = |member: &GroupMember| {
        let version = if member.revision == first { "old" } else { "new" };
        let phase = match member.phase {
            PodPhase::Pending => "pending",
            PodPhase::Starting => "starting",
            PodPhase::Ready => "ready",
            PodPhase::Terminating | PodPhase::Gone => "terminating",
        };
        format!("{version} {phase}")
    };
    members.iter().map(word).collect::<Vec<_>>().into()
}

/// Chooses nodes so that pods get where a recording has them, and leaves the nodes of others alone
/// where it can.
struct Towards {
    set: String,
    nodes: BTreeMap<String, String>,
    /// Which node a pod gets that is gone at the end: the first or last of those that nobody has
    /// at the end, or of all.
    spare: usize,
}

/// How many values [`Towards::spare`] has.
const SPARE: usize = 4;

impl TieBreak for Towards {
    fn choose(&mut self, pod: &PodTemplate, nodes: &[&str]) -> Option<usize> {
        let label =
            |key: &str| pod.labels.get(&format!("leaderworkerset.sigs.k8s.io/{key}")).cloned();
        let leader = format!("{}-{}", self.set, label("group-index")?);
        let index = label("worker-index")?;
        let leader = if index == "0" { leader } else { format!("{leader}-{index}") };
        let wanted = self.nodes.get(&leader);
        let at = nodes.iter().position(|node| wanted.is_some_and(|wanted| wanted == node));
        let is_free = |node: &&str| !self.nodes.values().any(|nodes| nodes == node);
        let free = || match self.spare {
            0 => nodes.iter().position(is_free),
            1 => nodes.iter().rposition(is_free),
            2 => nodes.first().map(|_| 0),
            _ => nodes.len().checked_sub(1),
        };
        at.or_else(free)
    }
}

/// Names of the pods of the one LeaderWorkerSet, with their nodes.
fn group_nodes(bench: &Bench, pending: Option<&str>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, (id, _)) in &bench.workloads {
        let Some(StageOf::Groups { groups, .. }) = bench.world.stage_of(*id) else { continue };
        for (group, members) in groups {
            for member in members {
                let leader = format!("{name}-{group}");
                let index =
                    if member.index == 0 { leader } else { format!("{leader}-{}", member.index) };
                match bench.node_of(member.pod) {
                    Some(node) => all.insert(index, node),
                    None => pending.and_then(|word| all.insert(index, word.into())),
                };
            }
        }
    }
    all
}

fn tell_groups(bench: &Bench, first: &str) -> Value {
    let mut out = json!({"gpusHeld": bench.world.held(is_gpu)});
    for (id, _) in bench.workloads.values() {
        let Some(StageOf::Groups { groups, replicas, partition }) = bench.world.stage_of(*id)
        else {
            continue;
        };
        let groups: Map<String, Value> =
            groups.iter().map(|(at, members)| (at.to_string(), group(members, first))).collect();
        out["groups"] = groups.into();
        out["leaderStatefulSet"] = json!({"replicas": replicas, "partition": partition});
    }
    out
}

fn play_groups(row: &Row, gate: bool, ties: [&mut dyn TieBreak; 2]) -> Value {
    let [first, then] = ties;
    let mut bench = Bench::new(row, gate);
    let mut out = json!({});
    // Without a change the creation itself is what is watched.
    if row.change.is_empty() {
        for object in &row.apply {
            bench.create(object);
        }
    } else {
        bench.apply(row, first);
        out["initial"] = json!(group_nodes(&bench, row.release.as_ref().map(|_| "")));
    }
    let (id, _) = bench.workloads["a"];
    let budget = |bench: &mut Bench| bench.world.groups_mut(id).unwrap().leader_budget();
    let budget = row.feature_gates.get("MaxUnavailableStatefulSet").map(|_| budget(&mut bench));
    if let Some(budget) = budget {
        out["leaderMaxUnavailable"] = match budget {
            IntOrPercent::Int(number) => json!([number]),
            IntOrPercent::Percent(percent) => json!([format!("{percent}%")]),
        };
    }
    let first = bench.world.groups_mut(id).unwrap().revision.name.clone();
    out["sequence"] = sequence(&mut bench, row, then, |bench| tell_groups(bench, &first)).into();
    let mut ends = Map::new();
    for (name, (id, _)) in &bench.workloads {
        let ended = bench.world.ended(*id).unwrap();
        let status = ended.status.unwrap();
        ends.insert(
            name.clone(),
            json!({
                "state": end(&ended),
                "messages": messages(&ended),
                "pods": group_nodes(&bench, Some(if row.release.is_some() { "" } else { "pending" })),
                "status": {
                    "replicas": status.replicas,
                    "readyReplicas": status.ready,
                    "updatedReplicas": status.updated,
                },
            }),
        );
        if row.release.is_some() {
            let conditions = match (status.available, status.updating) {
                (true, _) => json!(["Available"]),
                (false, true) => json!(["Progressing", "UpdateInProgress"]),
                (false, false) => json!(["Progressing"]),
            };
            ends[name]["conditions"] = conditions;
        }
    }
    out["end"] = ends.into();
    out
}

/// The course, and the status at the end.
fn course_of_groups(outcome: &Value) -> Value {
    let mut course = course(outcome);
    for (name, end) in outcome["end"].as_object().unwrap() {
        course["status"][name] = end["status"].clone();
        course["conditions"][name] = end["conditions"].clone();
    }
    course
}

pub(super) fn check_groups(row: &Row, gate: bool) -> Result<(), String> {
    let value = play_groups(row, gate, [&mut First, &mut First]);
    if row.sequence_deterministic && course_of_groups(&value) != course_of_groups(&row.expect) {
        return Err(difference(&row.expect, &value));
    }
    // Where even the rows differ between runs, the order of the scheduler's queue is chance: the
    // most frequent outcome is the one that is simulated.
    let one = row.deterministic || row.release.is_some() && !row.sequence_deterministic;
    let outcomes: Vec<&Value> = if one {
        vec![&row.expect]
    } else {
        row.outcomes.iter().map(|outcome| &outcome["expect"]).collect()
    };
    for outcome in outcomes {
        let towards = |nodes: &Value, spare: usize| Towards {
            set: "a".into(),
            nodes: serde_json::from_value(nodes.clone()).unwrap_or_default(),
            spare,
        };
        let last = &outcome["end"]["a"]["pods"];
        let guided = |spare: usize| {
            let start = &mut towards(&outcome["initial"], 0);
            play_groups(row, gate, [start, &mut towards(last, spare)])
        };
        if value != *outcome && !(0..SPARE).any(|spare| guided(spare) == *outcome) {
            return Err(difference(outcome, &guided(0)));
        }
    }
    Ok(())
}

/// A row of lws-releases.jsonl: a rollout, or an object that the release refuses. Labels of
/// StatefulSets are not simulated, so they are left out.
pub(super) fn check_release(row: &Row) -> Result<(), String> {
    if let Some(refused) = row.expect["refused"].as_object() {
        let bench = Bench::new(row, false);
        return row.apply.iter().try_for_each(|object| {
            let name = object["metadata"]["name"].as_str().unwrap();
            let answer = refused.get(name).and_then(Value::as_str).unwrap_or_default();
            match bench.read_groups(object) {
                Err(why) if answer.contains(&why.to_string()) => Ok(()),
                Err(why) => Err(format!("{why} is not in {answer}")),
                Ok(_) => Err(format!("accepted, recorded: {answer}")),
            }
        });
    }
    let gate = row.feature_gates.get("MaxUnavailableStatefulSet") == Some(&true);
    let mut row = row.clone();
    for expect in std::iter::once(&mut row.expect)
        .chain(row.outcomes.iter_mut().map(|outcome| &mut outcome["expect"]))
    {
        if let Some(expect) = expect.as_object_mut() {
            expect.remove("statefulSets");
        }
    }
    check_groups(&row, gate)
}
