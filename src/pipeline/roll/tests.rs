//! Rollouts of one service on few nodes: how they start, in which order they go, how they end.

use crate::testing::{Ran, catalog, gpu_node, ome_on, service};
use serde_json::Value;

const NEW: &str = "runner: {name: ome-container, image: 'example/server:v2'}";

/// A service before and after, on nodes with these devices.
fn roll(gpus: i64, nodes: &[i64], before: &str, after: &str) -> Ran {
    let nodes = nodes.iter().enumerate();
    let nodes: String = nodes.map(|(at, gpus)| gpu_node(&format!("n{at}"), *gpus, "")).collect();
    let of = |engine: &str| catalog(gpus) + &service("a", engine) + &nodes;
    ome_on(
        "rollout a --no-builtin -o json --base {before.yaml} -f {after.yaml}",
        &[("before.yaml", &of(before)), ("after.yaml", &of(after))],
    )
}

fn end(ran: &Ran) -> Value {
    ran.at("/components/0/rollout/end")
}

/// Old and new pods of each stage, ready and all.
fn stages(ran: &Ran) -> Vec<[i64; 4]> {
    let stages = ran.at("/components/0/rollout/stages");
    let number = |stage: &Value, side: &str, key: &str| stage[side][key].as_i64().unwrap_or(-1);
    let all = stages.as_array().into_iter().flatten();
    all.map(|value| {
        [("old", "ready"), ("old", "total"), ("new", "ready"), ("new", "total")]
            .map(|(side, key)| number(value, side, key))
    })
    .collect()
}

#[test]
fn a_rollout_begins_with_the_old_pods_ready() {
    for replicas in [1, 2, 3] {
        let engine = format!("minReplicas: {replicas}, maxReplicas: {replicas}");
        let ran = roll(1, &[8], &engine, &format!("{engine}, {NEW}"));
        let stages = stages(&ran);
        assert_eq!(stages.first(), Some(&[replicas, replicas, 0, 1]), "{replicas}");
        assert_eq!(stages.last(), Some(&[0, 0, replicas, replicas]), "{replicas}");
        assert_eq!(end(&ran), "complete", "{replicas}");
        assert_eq!(ran.code, 0);
    }
}

/// The old pods go on running, and the update is not complete because of that.
#[test]
fn a_change_whose_pods_are_refused_is_stuck() {
    let few = "minReplicas: 1, maxReplicas: 1";
    let many = "minReplicas: 3000000, maxReplicas: 3000000";
    let ran = roll(1, &[8], few, many);
    assert_eq!(end(&ran), "stuck");
    let message = ran.at("/components/0/rollout/stuck/message");
    assert!(message.as_str().is_some_and(|text| text.starts_with("3000000 pods")), "{message}");
    assert_eq!(ran.code, 2);
}

/// One pod more than the replicas starts before an old one stops.
#[test]
fn a_surge_needs_room_for_one_pod_more() {
    let engine = "minReplicas: 2, maxReplicas: 2";
    for (nodes, expected) in
        [(&[12][..], "complete"), (&[8, 4], "complete"), (&[8], "stuck"), (&[8, 3], "stuck")]
    {
        let ran = roll(4, nodes, engine, &format!("{engine}, {NEW}"));
        assert_eq!(end(&ran), expected, "{nodes:?}");
        assert_eq!(ran.code, if expected == "stuck" { 2 } else { 0 }, "{nodes:?}");
    }
}

#[test]
fn recreating_needs_no_room_and_has_no_pod_ready_meanwhile() {
    let engine = "minReplicas: 2, maxReplicas: 2, deploymentStrategy: {type: Recreate}";
    let ran = roll(4, &[8], engine, &format!("{engine}, {NEW}"));
    assert_eq!(end(&ran), "complete");
    assert_eq!(ran.at("/components/0/rollout/strategy"), "Recreate");
    assert_eq!(ran.at("/components/0/rollout/lowestReady"), 0);
    assert_eq!(ran.at("/components/0/rollout/peakGpus"), 8);
}

#[test]
fn without_a_surge_an_old_pod_stops_first() {
    let engine = "minReplicas: 2, maxReplicas: 2, deploymentStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}";
    let ran = roll(4, &[8], engine, &format!("{engine}, {NEW}"));
    assert_eq!(end(&ran), "complete");
    assert_eq!(ran.at("/components/0/rollout/lowestReady"), 1);
    assert_eq!(ran.at("/components/0/rollout/peakGpus"), 8);
    assert_eq!(ran.at("/components/0/rollout/maxSurge"), 0);
    assert_eq!(ran.at("/components/0/rollout/maxUnavailable"), 1);
}

#[test]
fn what_does_not_change_has_nothing_to_do() {
    let engine = "minReplicas: 2, maxReplicas: 2";
    let ran = roll(4, &[8], engine, engine);
    assert_eq!(end(&ran), "nothing-to-do");
    assert_eq!(stages(&ran), [[0, 0, 2, 2]]);
    assert_eq!(ran.code, 0);
}

#[test]
fn more_replicas_start_beside_those_that_run() {
    for (replicas, nodes, expected) in [(3, &[12][..], "complete"), (3, &[8], "stuck")] {
        let of = |count: i64| format!("minReplicas: {count}, maxReplicas: {count}");
        let ran = roll(4, nodes, &of(2), &of(replicas));
        assert_eq!(end(&ran), expected, "{replicas} {nodes:?}");
        assert_eq!(ran.at("/components/0/rollout/lowestReady"), 2, "{replicas} {nodes:?}");
    }
}

#[test]
fn fewer_replicas_stop_and_free_their_devices() {
    let of = |count: i64| format!("minReplicas: {count}, maxReplicas: {count}");
    let ran = roll(4, &[8], &of(2), &of(1));
    assert_eq!(end(&ran), "complete");
    let stages = ran.at("/components/0/rollout/stages");
    let last = stages.as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    assert_eq!(last["gpus"], 4);
}

#[test]
fn a_rollout_that_is_stuck_names_the_pod_and_what_helps() {
    let engine = "minReplicas: 2, maxReplicas: 2";
    let ran = roll(4, &[8], engine, &format!("{engine}, {NEW}"));
    let stuck = ran.at("/components/0/rollout/stuck").to_string();
    assert!(stuck.contains("Insufficient nvidia.com/gpu"), "{stuck}");
    assert!(stuck.contains("a-engine-"), "{stuck}");
    let fixes = ran.at("/components/0/rollout/fix");
    let first = &fixes[0]["edits"];
    assert_eq!(first[0]["path"], "spec.engine.deploymentStrategy.rollingUpdate.maxSurge");
    assert_eq!(first[1]["path"], "spec.engine.deploymentStrategy.rollingUpdate.maxUnavailable");
    // Each of them was played.
    for fix in fixes.as_array().into_iter().flatten() {
        assert_eq!(fix["end"], "complete", "{fix}");
    }
}

#[test]
fn a_larger_request_waits_where_no_node_holds_it() {
    let engine = "minReplicas: 1, maxReplicas: 1";
    let of = |gpus: i64| {
        format!(
            "{engine}, runner: {{name: ome-container, image: 'example/server:v1', resources: {{requests: {{nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}}}"
        )
    };
    for (gpus, expected) in [(4, "complete"), (5, "stuck"), (9, "stuck")] {
        let ran = roll(4, &[8], engine, &of(gpus));
        let expected = if gpus == 4 { "nothing-to-do" } else { expected };
        assert_eq!(end(&ran), expected, "{gpus}");
    }
}

#[test]
fn two_groups_before_and_after_are_counted_as_groups() {
    let engine = |image: &str| {
        format!(
            "minReplicas: 1, maxReplicas: 1, leader: {{runner: {{name: ome-container, image: '{image}', resources: {{requests: {{nvidia.com/gpu: 4}}, limits: {{nvidia.com/gpu: 4}}}}}}}}, worker: {{size: 1, runner: {{name: ome-container, image: '{image}', resources: {{requests: {{nvidia.com/gpu: 4}}, limits: {{nvidia.com/gpu: 4}}}}}}}}"
        )
    };
    let ran = roll(4, &[8], &engine("i:1"), &engine("i:2"));
    assert_eq!(ran.at("/components/0/rollout/kind"), "LeaderWorkerSet");
    assert_eq!(end(&ran), "complete");
    let stages = stages(&ran);
    assert_eq!(stages.last().map(|stage| stage[2..].to_vec()), Some(vec![1, 1]));
}

/// As pods of a service that is deleted do: they end with the change and hold their node until then.
#[test]
fn workloads_that_the_change_removes_make_room() {
    let nodes = gpu_node("n1", 8, "");
    let pod = "containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]";
    let kinds = [
        (
            "apps/v1",
            "Deployment",
            format!(
                "{{replicas: 2, selector: {{matchLabels: {{app: o}}}}, template: {{metadata: {{labels: {{app: o}}}}, spec: {{{pod}}}}}}}"
            ),
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            format!(
                "{{replicas: 1, leaderWorkerTemplate: {{size: 2, workerTemplate: {{spec: {{{pod}}}}}}}}}"
            ),
        ),
    ];
    for (version, kind, spec) in &kinds {
        let old = |name: &str| {
            format!(
                "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml}}\nspec: {spec}\n"
            )
        };
        let service =
            format!("---\n{}{}", catalog(8), service("a", "minReplicas: 1, maxReplicas: 1"));
        let roll = |after: &str| {
            let (before, after) = (nodes.clone() + &old("old"), nodes.clone() + &service + after);
            ome_on(
                "rollout --all --no-builtin -o json --base {before.yaml} -f {after.yaml}",
                &[("before.yaml", &before), ("after.yaml", &after)],
            )
        };
        let ran = roll("");
        let rollout = ran.at("/services/0/components/0/rollout");
        assert_eq!(rollout["end"], "complete", "{kind}");
        // The old pods hold the node until they are gone.
        assert_eq!(rollout["stages"][0]["new"]["pending"], 1, "{kind}");
        let ran = roll(&old("old"));
        assert_eq!(ran.at("/services/0/components/0/rollout/end"), "stuck", "{kind}");
    }
}

/// Pods of the input that a removed workload made end, too.
#[test]
fn running_pods_of_a_removed_workload_make_room() {
    let pod = "containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]";
    let set = format!(
        "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: old, namespace: ml}}\nspec: {{replicas: 1, serviceName: old, selector: {{matchLabels: {{app: o}}}}, template: {{metadata: {{labels: {{app: o}}}}, spec: {{{pod}}}}}}}\n"
    );
    let runs = format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: old-0, namespace: ml, uid: u, labels: {{app: o}}, ownerReferences: [{{apiVersion: apps/v1, kind: StatefulSet, name: old, uid: s, controller: true}}]}}\nspec: {{nodeName: n1, {pod}}}\nstatus: {{phase: Running}}\n"
    );
    let nodes = gpu_node("n1", 8, "") + &runs;
    let engine = service("a", "minReplicas: 1, maxReplicas: 1");
    let new = nodes.clone() + "---\n" + &catalog(8) + &engine;
    for (after, expected) in [(new.clone(), "complete"), (new + &set, "stuck")] {
        let ran = ome_on(
            "rollout --all --no-builtin -o json --base {before.yaml} -f {after.yaml}",
            &[("before.yaml", &(nodes.clone() + &set)), ("after.yaml", &after)],
        );
        assert_eq!(ran.at("/services/0/components/0/rollout/end"), expected);
    }
}

#[test]
fn groups_of_a_deleted_set_are_in_the_stages() {
    let worker = |name: &str| {
        format!(
            "{name}: {{SIZErunner: {{name: ome-container, image: 'i:1', resources: {{requests: {{nvidia.com/gpu: 4}}, limits: {{nvidia.com/gpu: 4}}}}}}}}"
        )
    };
    let engine = format!(
        "minReplicas: 1, maxReplicas: 1, {}, {}",
        worker("leader").replace("SIZE", ""),
        worker("worker").replace("SIZE", "size: 1, ")
    );
    let of = |services: &str| catalog(4) + services + &gpu_node("n1", 8, "");
    let ran = ome_on(
        "rollout --all --no-builtin -o json --base {before.yaml} -f {after.yaml}",
        &[
            ("before.yaml", &of(&service("gone", &engine))),
            ("after.yaml", &of(&service("new", &engine))),
        ],
    );
    let services = ran.at("/services");
    let gone = services.as_array().into_iter().flatten().find(|one| one["name"] == "gone");
    let rollout = gone.map(|one| one["components"][0]["rollout"].clone()).unwrap_or_default();
    assert_eq!(rollout["kind"], "LeaderWorkerSet");
    assert_eq!(rollout["stages"][0]["terminating"], 1, "{rollout}");
    assert_eq!(rollout["stages"][0]["gpus"], 8, "{rollout}");
    assert_eq!(rollout["end"], "complete", "{rollout}");
    assert_eq!(ran.code, 0);
}

#[test]
fn events_name_what_changed_since_the_stage_before() {
    use super::stages::event;
    use super::{Amounts, RollStage};
    let stage = |old: i64, starting: i64, new: i64, terminating: i64| RollStage {
        old: Amounts { ready: old, total: old, ..Amounts::default() },
        new: Amounts { ready: new, total: new + starting, ..Amounts::default() },
        terminating,
        ..RollStage::default()
    };
    for (before, now, expected) in [
        (None, stage(2, 1, 0, 0), "2 old ready, 1 new starting"),
        (Some(stage(2, 1, 0, 0)), stage(1, 0, 1, 1), "1 new ready, 1 terminating"),
        (Some(stage(1, 0, 1, 1)), stage(1, 0, 1, 0), "1 terminated"),
        (Some(stage(1, 1, 1, 0)), stage(1, 1, 1, 0), "still starting"),
        (Some(stage(1, 0, 1, 1)), stage(1, 0, 1, 1), "still terminating"),
        (Some(stage(1, 0, 1, 0)), stage(1, 0, 1, 0), "no change"),
        (None, stage(0, 0, 0, 0), ""),
    ] {
        assert_eq!(event(before.as_ref(), &now), expected);
    }
}

/// A pod that had a node before and has none now does not wait as before.
#[test]
fn a_service_whose_node_shrinks_no_longer_fits() {
    let engine = "minReplicas: 1, maxReplicas: 1";
    let on = |gpus: i64| catalog(4) + &service("a", engine) + &gpu_node("n1", gpus, "");
    for (before, after, expected, code) in [
        (8, 8, "nothing-to-do", 0),
        (8, 2, "no-longer-fits", 2),
        (2, 2, "waits", 0),
        (2, 8, "nothing-to-do", 0),
    ] {
        let files = [("before.yaml", &on(before)), ("after.yaml", &on(after))];
        let files = files.map(|(name, text)| (name, text.as_str()));
        let named = "rollout a --no-builtin -o json --base {before.yaml} -f {after.yaml}";
        let ran = ome_on(named, &files);
        assert_eq!((end(&ran), ran.code), (expected.into(), code), "{before} {after}");
        let all = ome_on("rollout --all --no-builtin --base {before.yaml} -f {after.yaml}", &files);
        assert_eq!(all.code, code, "{before} {after}: {}", all.out);
        assert_eq!(all.out.contains("no longer fits: ml/a engine"), code == 2, "{}", all.out);
        let diff = ome_on("diff --no-builtin --base {before.yaml} -f {after.yaml}", &files);
        assert_eq!(diff.out.contains("no longer fits"), code == 2, "{}", diff.out);
    }
}

/// Nothing is confirmed of an input that was not read whole.
#[test]
fn an_update_is_not_confirmed_where_a_part_was_not_read() {
    let text = |gpus: i64| catalog(gpus) + &service("a", "minReplicas: 1") + &gpu_node("n1", 8, "");
    let (before, after) = (text(1), text(2));
    let broken = after.clone() + "---\napiVersion: v1\nkind: Node\nmetadata: [\n";
    for (after, code, confirmed) in [(&after, 0, true), (&broken, 1, false)] {
        let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
        let ran = ome_on("rollout a --no-builtin --base {before.yaml} -f {after.yaml}", &files);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains('✓'), confirmed, "{}", ran.out);
        assert!(ran.out.contains("complete; meanwhile"), "{}", ran.out);
    }
}

/// Pods of a higher priority take the place of a service that does not change.
#[test]
fn a_service_that_another_evicts_no_longer_fits() {
    let class = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 99\n";
    let engine = "minReplicas: 1, maxReplicas: 1";
    let base = catalog(4) + class + &service("a", engine) + &gpu_node("n1", 4, "");
    let more = service("z", &format!("{engine}, priorityClassName: high"));
    let (before, after) = (base.clone(), base + &more);
    let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
    let ran = ome_on("rollout a --no-builtin -o json --base {before.yaml} -f {after.yaml}", &files);
    assert_eq!((end(&ran), ran.code), ("no-longer-fits".into(), 2), "{}", ran.out);
    assert_eq!(ran.at("/components/0/rollout/evictedBy/0"), "ml/z", "{}", ran.out);
}

/// `api` needs a node of its own for each pod, and its surge evicts `ocr`, which needs two devices on one
/// node. Which old pod of `api` goes first decides whether it finds them again.
#[test]
fn what_a_choice_among_equal_pods_decides_may_no_longer_fit() {
    let input = |version: &str| {
        let api = format!(
            "minReplicas: 2, maxReplicas: 4, runner: {{name: ome-container, env: [{{name: V, value: '{version}'}}], ports: [{{containerPort: 80, hostPort: 80}}]}}"
        );
        let devices = "resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}";
        let ocr = format!(
            "minReplicas: 1, maxReplicas: 1, priorityClassName: low, runner: {{name: ome-container, {devices}}}"
        );
        catalog(1)
            + LOW
            + &gpu_node("n0", 1, "")
            + &gpu_node("n1", 2, "")
            + &gpu_node("n2", 2, "")
            + &service("api", &api)
            + &service("ocr", &ocr)
    };
    let (before, after) = (input("1"), input("2"));
    let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
    let with = |command: &str| {
        ome_on(&format!("{command} --no-builtin --base {{before.yaml}} -f {{after.yaml}}"), &files)
    };
    let all = with("rollout --all");
    assert_eq!(all.code, 0, "{}", all.out);
    let words = "may no longer fit, as the choice among equal pods or nodes decides: ml/ocr engine: evicted by ml/api: 0/3 nodes";
    assert!(all.out.contains(words), "{}", all.out);
    assert!(all.out.contains("! 1 of 2 services changes"), "{}", all.out);
    assert!(all.out.contains("; 1 may no longer fit"), "{}", all.out);
    let one = with("rollout api -o json");
    assert_eq!(one.at("/displaced/0/ends/1"), "no-longer-fits", "{}", one.out);
    assert_eq!((end(&one), one.code), ("complete".into(), 0), "{}", one.out);
    let one = with("rollout ocr -o json");
    assert_eq!((end(&one), one.code), ("depends".into(), 0), "{}", one.out);
    let diff = with("diff -o json");
    let list = "/capacity/mayNoLongerFitAfterRestarts/0";
    assert_eq!(diff.at(&format!("{list}/service")), "ml/ocr", "{}", diff.out);
    assert_eq!(diff.at(&format!("{list}/evictedBy/0")), "ml/api", "{}", diff.out);
}

/// A class of a low priority.
const LOW: &str = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: -10\n";

/// Two nodes, the second with `gpus` devices; a service that changes with the version, one that needs
/// the second node, and one of a low priority with these replicas.
fn crowded(version: &str, gpus: i64, talk: &str) -> String {
    let api = format!(
        "minReplicas: 2, maxReplicas: 4, runner: {{name: ome-container, env: [{{name: V, value: '{version}'}}]}}"
    );
    let code = "minReplicas: 3, maxReplicas: 5, nodeSelector: {kubernetes.io/hostname: n2}";
    catalog(1)
        + LOW
        + &gpu_node("n0", 4, "")
        + &gpu_node("n2", gpus, "")
        + &service("api", &api)
        + &service("code", code)
        + &service("talk", &format!("{talk}, priorityClassName: low"))
}

/// A service of which a pod waited before on the same nodes did not fit before: that a surge evicts
/// another pod of it, and a third service takes the place, makes it wait, not no longer fit.
#[test]
fn a_service_that_waited_before_waits_with_more_pods() {
    let talk = "minReplicas: 4, maxReplicas: 5";
    let (before, after) = (crowded("1", 2, talk), crowded("2", 2, talk));
    let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
    let all = ome_on("rollout --all --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    assert_eq!(all.code, 0, "{}", all.out);
    assert!(
        all.out
            .contains("! more pods wait: ml/talk engine: 2 pods, 1 before: evicted by ml/api: 0/2"),
        "{}",
        all.out
    );
    assert!(all.out.contains("waits as before: ml/code\n"), "{}", all.out);
    let one = "rollout api --no-builtin -o json --base {before.yaml} -f {after.yaml}";
    let one = ome_on(one, &files);
    assert_eq!((one.code, end(&one)), (0, "complete".into()), "{}", one.out);
    assert_eq!(
        (one.at("/displaced/0/name"), one.at("/displaced/0/waited")),
        ("ml/talk".into(), 1.into())
    );
    let diff = ome_on("diff --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    assert!(diff.out.contains("! waits as before: ml/talk engine"), "{}", diff.out);
    // With fewer devices on the nodes it loses pods, whatever waited before.
    let less = crowded("1", 0, talk);
    let files = [("before.yaml", before.as_str()), ("after.yaml", less.as_str())];
    let all = ome_on("rollout --all --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    let diff = ome_on("diff --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    for ran in [all, diff] {
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.out.contains("no longer fits: ml/code engine"), "{}", ran.out);
    }
}

/// A service that fits loses a place to one that waited, by the surge of a third: as many pods of
/// what does not change wait as before, so that the room is what it was.
#[test]
fn a_place_that_changes_hands_is_no_lack_of_room() {
    let of = |version: &str| crowded(version, 2, "minReplicas: 3, maxReplicas: 9");
    let (before, after) = (of("1"), of("2"));
    let more = after.replace("minReplicas: 2", "minReplicas: 4");
    for (after, code, text) in [
        (
            &after,
            0,
            "! more pods wait: ml/talk engine: 1 pod, none before: evicted by ml/api: 0/2 nodes",
        ),
        // More pods of the changed service leave less for the others.
        (&more, 2, "✗ no longer fits: ml/talk engine: evicted by ml/api: 0/2 nodes"),
    ] {
        let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
        let all = ome_on("rollout --all --no-builtin --base {before.yaml} -f {after.yaml}", &files);
        assert!(all.out.contains(text), "{}", all.out);
        assert_eq!(all.code, code, "{}", all.out);
        let one = ome_on("rollout api --no-builtin --base {before.yaml} -f {after.yaml}", &files);
        assert!(one.out.contains(text), "{}", one.out);
        assert_eq!(one.code, code, "{}", one.out);
    }
}

/// A surge evicts a pod of two devices, and leaves one free on each of two nodes: the pod has no node
/// any more. The comparison of two states says what the rollout says.
#[test]
fn what_the_restarts_leave_no_room_for_no_longer_fits() {
    let input = |version: &str| {
        let devices = "resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}";
        let api = format!(
            "minReplicas: 1, maxReplicas: 4, runner: {{name: ome-container, env: [{{name: V, value: '{version}'}}], ports: [{{containerPort: 80, hostPort: 80}}]}}"
        );
        let ocr = format!(
            "minReplicas: 2, maxReplicas: 4, priorityClassName: low, runner: {{name: ome-container, {devices}}}"
        );
        catalog(1)
            + LOW
            + &gpu_node("n0", 3, "")
            + &gpu_node("n1", 2, "")
            + &service("api", &api)
            + &service("ocr", &ocr)
    };
    let (before, after) = (input("1"), input("2"));
    let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
    let all = ome_on("rollout --all --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    assert!(all.out.contains("✗ no longer fits: ml/ocr engine"), "{}", all.out);
    let diff = ome_on("diff --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    assert!(
        diff.out.contains("✗ no longer fits after the restarts: ml/ocr engine"),
        "{}",
        diff.out
    );
    let json = ome_on("diff -o json --no-builtin --base {before.yaml} -f {after.yaml}", &files);
    assert_eq!(json.at("/capacity/noLongerFitsAfterRestarts/0/service"), "ml/ocr");
    let named = "diff --no-builtin --fail-on does-not-fit --base {before.yaml} -f {after.yaml}";
    assert_eq!(ome_on(named, &files).code, 2);
}

#[test]
fn what_admission_refuses_of_an_object_is_stuck_as_plan_says() {
    let quota = |key: &str| {
        format!(
            "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml}}\nspec: {{hard: {{{key}: '0'}}}}\n"
        )
    };
    let deployment = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x}]}}}\n";
    let service = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}\nspec: {predictor: {minReplicas: 1, containers: [{name: kserve-container, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}\n";
    let expectations = "cases:\n- name: c\n  files: [in.yaml]\n  services: {ml/s: {fits: true}}\n";
    for (key, subject, end, code) in [
        ("count/deployments.apps", "s", "stuck", 2),
        ("count/deployments.apps", "deploy/d", "stuck", 2),
        ("count/replicasets.apps", "deploy/d", "stuck", 2),
        // The service does not get ready without its Service.
        ("count/services", "s", "not-judged", 0),
        ("count/jobs.batch", "s", "complete", 0),
    ] {
        let object = if subject == "s" { service } else { deployment };
        let text = gpu_node("n1", 8, "") + object + &quota(key);
        let files = [("in.yaml", text.as_str()), ("a.ome-test.yaml", expectations)];
        let run = |command: &str| ome_on(&format!("{command} -f {{in.yaml}}"), &files);
        let rolled = run(&format!("rollout {subject} -o json"));
        assert_eq!(self::end(&rolled), end, "{key} {subject}: {}", rolled.out);
        for command in ["plan", "rollout --all", &format!("rollout {subject}")] {
            let ran = run(command);
            assert_eq!(ran.code, code, "{key} {command}: {}", ran.out);
            assert_eq!(ran.out.contains('✓'), end == "complete", "{key} {command}: {}", ran.out);
        }
    }
    // Whether a service fits is not judged: that no Node was read would be untrue.
    let text = gpu_node("n1", 8, "")
        + &service.replace("minReplicas", "schedulerName: other, minReplicas");
    let files = [("in.yaml", text.as_str()), ("a.ome-test.yaml", expectations)];
    let ran = ome_on("test {a.ome-test.yaml}", &files);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.out.contains("expected true, not judged: other: `other` schedules"), "{}", ran.out);
}

/// Presets that only the cluster has are no error of a service: what it rolls out is open.
#[test]
fn a_service_without_its_presets_is_not_judged() {
    let llm = "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: a, namespace: ml, labels: {opendatahub.io/dashboard: 'true'}}\nspec: {model: {uri: 'hf://a/b', name: b}, router: {route: {}, gateway: {}}}\n";
    let text = gpu_node("n1", 8, "") + llm;
    let all = ome_on("rollout --all -f {in.yaml}", &[("in.yaml", &text)]);
    assert_eq!(all.code, 0, "{}{}", all.out, all.err);
    assert!(all.out.contains("! 0 of 1 service change"), "{}", all.out);
    assert!(all.out.contains("; 1 not judged without its presets"), "{}", all.out);
    assert!(!all.out.contains("in error"), "{}", all.out);
    // Every command that plays or compares states says the same; only what is to be written is in error.
    // Of one service that was asked for there is no answer.
    for (command, code, severity) in [
        ("rollout --all", 0, "warning"),
        ("rollout a", 1, "warning"),
        ("diff --base {before.yaml}", 2, "warning"),
        ("endpoints a", 1, "error"),
    ] {
        let before = gpu_node("n1", 8, "");
        let files = [("in.yaml", text.as_str()), ("before.yaml", before.as_str())];
        let ran = ome_on(&format!("{command} -o json -f {{in.yaml}}"), &files);
        assert_eq!(ran.code, code, "{command}: {}{}", ran.out, ran.err);
        let found = ran.at("/findings");
        let of = |one: &&serde_json::Value| one["code"] == "presets-not-read";
        let found = found.as_array().into_iter().flatten().find(of).cloned();
        assert_eq!(found.unwrap_or_default()["severity"], severity, "{command}: {}", ran.out);
    }
}

/// A runtime that the webhook refuses is an error of the rollout, as of the plan.
#[test]
fn a_refused_runtime_is_an_error() {
    let text = gpu_node("n1", 8, "")
        + "---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: r, namespace: ml, labels: {opendatahub.io/dashboard: 'true'}}\nspec:\n  supportedModelFormats: [{name: f, autoSelect: true}]\n  containers: [{name: kserve-container, image: i, env: [{name: PYTHONPATH, value: /a}]}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {model: {modelFormat: {name: f}, runtime: r, storageUri: 'hf://a/b'}}}\n";
    let file = [("in.yaml", text.as_str())];
    for command in ["plan -f {in.yaml}", "rollout --all -f {in.yaml}", "rollout a -f {in.yaml}"] {
        let ran = ome_on(command, &file);
        assert_eq!(ran.code, 1, "{command}: {}{}", ran.out, ran.err);
        assert!((ran.out + &ran.err).contains("setting PYTHONPATH"), "{command}: {}", ran.err);
    }
}

/// A ModelServing that a server refuses does not roll: what is there stays.
#[test]
fn a_refused_model_serving_is_left_unchanged() {
    let nodes = gpu_node("n1", 8, "");
    let text = nodes.clone() + &crate::testing::serving("S", "1", "1");
    let ran = ome_on("rollout --all -f {in.yaml}", &[("in.yaml", &text)]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("0 of 1 service change"), "{}", ran.out);
    assert!(ran.out.contains("1 service in error is left unchanged"), "{}", ran.out);
    // One that is there keeps its groups.
    let before = nodes + &crate::testing::serving("s", "1", "1");
    let after = before.replace("name: r\n", "name: R\n");
    let files = [("before.yaml", before.as_str()), ("in.yaml", after.as_str())];
    let ran = ome_on("rollout --all --base {before.yaml} -f {in.yaml}", &files);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("1 service in error is left unchanged"), "{}", ran.out);
}
