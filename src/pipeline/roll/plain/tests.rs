//! Rollouts of workloads that no operator writes: how they end, and that all commands say the same.

use crate::testing::{Ran, gpu_node, ome_on};
use serde_json::Value;

/// A workload in namespace `ml` whose pods run this image and request so many devices; `fields` are
/// further fields of its `spec`.
fn workload(kind: &str, name: &str, image: &str, gpus: i64, fields: &str) -> String {
    written(kind, "", name, image, gpus, fields, "")
}

fn written(
    kind: &str,
    meta: &str,
    name: &str,
    image: &str,
    gpus: i64,
    fields: &str,
    pod: &str,
) -> String {
    let amount = format!("{{nvidia.com/gpu: {gpus}}}");
    format!(
        "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml{meta}}}\nspec: {{selector: {{matchLabels: {{app: {name}}}}}, {fields}template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{pod}containers: [{{name: c, image: 'example/c:{image}', resources: {{requests: {amount}, limits: {amount}}}}}]}}}}}}\n"
    )
}

/// A pod of a workload that runs.
fn running(name: &str, node: &str, owner: &str, label: &str, image: &str, gpus: i64) -> String {
    let (kind, of) = owner.split_once('/').expect("kind and name");
    let amount = format!("{{nvidia.com/gpu: {gpus}}}");
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, uid: u-{name}, labels: {{app: a, {label}}}, ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {of}, uid: u, controller: true}}]}}\nspec: {{nodeName: {node}, containers: [{{name: c, image: 'example/c:{image}', resources: {{requests: {amount}, limits: {amount}}}}}]}}\nstatus: {{phase: Running}}\n"
    )
}

/// Runs a command on a state before and one after.
fn on(command: &str, before: &str, after: &str) -> Ran {
    let files = [("before.yaml", before), ("after.yaml", after)];
    ome_on(&format!("{command} --no-builtin --base {{before.yaml}} -f {{after.yaml}}"), &files)
}

fn rollout(ran: &Ran) -> Value {
    ran.at("/components/0/rollout")
}

/// How a change ends: by its name, with all, and compared; they agree.
fn ends(what: &str, before: &str, after: &str) -> (Value, u8) {
    let named = on(&format!("rollout {what} -o json"), before, after);
    let all = on("rollout --all -o json", before, after);
    let compared = on("diff -o json", before, after);
    let end = rollout(&named)["end"].clone();
    assert_eq!(all.at("/workloads/0/components/0/rollout/end"), end, "{}", all.out);
    assert_eq!(compared.at("/capacity/workloads/0/end"), end, "{}", compared.out);
    assert_eq!(all.code, named.code, "{what}");
    let text = on("rollout --all", before, after);
    let confirmed = text.out.lines().last().is_some_and(|line| line.starts_with('✓'));
    assert_eq!(confirmed, end == "complete", "{}", text.out);
    (end, named.code)
}

fn nodes(gpus: &[i64]) -> String {
    let one = |(at, gpus): (usize, &i64)| gpu_node(&format!("n{at}"), *gpus, "");
    gpus.iter().enumerate().map(one).collect()
}

#[test]
fn a_deployment_rolls_within_surge_and_unavailable_pods() {
    let limits = |surge: &str, unavailable: &str| {
        format!(
            "strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}, "
        )
    };
    let (full, more) = (&[8][..], &[8, 8][..]);
    for (replicas, fields, room, end) in [
        (1, limits("1", "0"), full, "stuck"),
        (1, limits("1", "0"), more, "complete"),
        // Rounded up, and down.
        (1, limits("25%", "25%"), full, "stuck"),
        (1, String::new(), full, "stuck"),
        (1, limits("0", "1"), full, "complete"),
        (1, limits("0", "100%"), full, "complete"),
        (2, limits("1", "0"), more, "stuck"),
        (2, limits("0", "50%"), more, "complete"),
        (2, "strategy: {type: Recreate}, ".into(), more, "complete"),
    ] {
        let fields = format!("replicas: {replicas}, {fields}");
        let of = |image: &str| workload("Deployment", "a", image, 8, &fields) + &nodes(room);
        let (before, after) = (of("v1"), of("v2"));
        let code = if end == "stuck" { 2 } else { 0 };
        assert_eq!(ends("deploy/a", &before, &after), (end.into(), code), "{fields} {room:?}");
        // Compared, a change is a change; what is stuck is told from what is not by its condition.
        let diff = on("diff", &before, &after);
        assert_eq!(diff.code, 2, "{}", diff.out);
        assert_eq!(diff.out.contains("restart gets stuck: Deployment/ml/a"), end == "stuck");
        assert!(diff.out.contains("Plan: 1 workload to change"), "{}", diff.out);
        assert_eq!(on("diff --fail-on restarts", &before, &after).code, 2);
    }
}

#[test]
fn edits_of_a_stuck_deployment_complete_it() {
    let limits = |surge: i64, unavailable: i64| {
        let rolling = format!("{{maxSurge: {surge}, maxUnavailable: {unavailable}}}");
        format!("replicas: 1, strategy: {{rollingUpdate: {rolling}}}, ")
    };
    let of = |image: &str, fields: &str| workload("Deployment", "a", image, 8, fields);
    let before = of("v1", &limits(1, 0)) + &nodes(&[8]);
    let after = of("v2", &limits(1, 0)) + &nodes(&[8]);
    let ran = on("rollout Deployment/ml/a -o json", &before, &after);
    let fixes = rollout(&ran)["fix"].clone();
    let paths = |fix: &Value| -> Vec<String> {
        let edits = fix["edits"].as_array().into_iter().flatten();
        edits.map(|edit| edit["path"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let rolling = "spec.strategy.rollingUpdate";
    let found: Vec<Vec<String>> = fixes.as_array().into_iter().flatten().map(paths).collect();
    assert_eq!(
        found,
        [
            vec![format!("{rolling}.maxSurge"), format!("{rolling}.maxUnavailable")],
            vec!["spec.strategy.type".to_owned(), rolling.to_owned()],
            vec!["nodes like n0".to_owned()],
        ]
    );
    // As the edits say, and with the node.
    for (fields, room) in [
        (limits(0, 1), &[8][..]),
        ("replicas: 1, strategy: {type: Recreate}, ".into(), &[8]),
        (limits(1, 0), &[8, 8]),
    ] {
        let edited = of("v2", &fields) + &nodes(room);
        assert_eq!(ends("deploy/a", &before, &edited), ("complete".into(), 0), "{fields}");
    }
    // The command that the comparison proposes.
    let diff = on("diff", &before, &after);
    assert!(diff.out.contains("run: ome rollout Deployment/ml/a --base "), "{}", diff.out);
}

#[test]
fn what_is_wrong_with_a_changed_workload_is_said_for_all_as_for_one() {
    let of =
        |image: &str, fields: &str| workload("Deployment", "a", image, 1, fields) + &nodes(&[8]);
    let (before, after) = (of("v1", ""), of("v2", "replicsa: 3, "));
    for command in ["rollout deploy/a", "rollout --all", "diff"] {
        let ran = on(command, &before, &after);
        assert!(ran.err.contains("replicsa"), "{command}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, if command == "diff" { 2 } else { 1 }, "{command}");
    }
    // Of a workload that does not change nothing is news.
    let ran = on("rollout --all", &after, &after);
    assert!(ran.code == 0 && !ran.err.contains("replicsa"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_paused_deployment_rolls_nothing_and_scales() {
    let of = |image: &str, fields: &str, room: &[i64]| {
        workload("Deployment", "a", image, 8, fields) + &nodes(room)
    };
    for (fields, room, end, code) in [
        ("replicas: 1, paused: true, ", &[8, 8][..], "paused", 0),
        ("replicas: 2, paused: true, ", &[8, 8], "paused", 0),
        // The old template gets the replicas, and there is no room for them.
        ("replicas: 2, paused: true, ", &[8], "stuck", 2),
        ("replicas: 1, paused: false, ", &[8, 8], "complete", 0),
    ] {
        let (before, after) = (of("v1", "replicas: 1, ", room), of("v2", fields, room));
        assert_eq!(ends("deploy/a", &before, &after), (end.into(), code), "{fields} {room:?}");
    }
    let (before, after) =
        (of("v1", "replicas: 1, ", &[8]), of("v2", "replicas: 1, paused: true, ", &[8]));
    let text = on("rollout deploy/a", &before, &after);
    let sentence = "! paused: 1 pod keeps the old template until the Deployment is resumed";
    assert!(text.out.contains(sentence) && !text.out.contains('✓'), "{}", text.out);
    let diff = on("diff", &before, &after);
    assert!(diff.out.contains(sentence.trim_start_matches("! ")), "{}", diff.out);
    assert!(!diff.out.contains("all restarts complete"), "{}", diff.out);
    assert_eq!(on("diff --fail-on restarts", &before, &after).code, 0);
    // Without a change of the template a pause changes nothing.
    let after = of("v1", "replicas: 1, paused: true, ", &[8]);
    let ran = on("rollout --all", &before, &after);
    assert!(ran.code == 0 && ran.out.contains("no workload changes"), "{}", ran.out);
}

#[test]
fn a_stateful_set_replaces_one_pod_at_a_time_down_to_its_partition() {
    let of = |image: &str, gpus: i64, fields: &str| {
        workload("StatefulSet", "a", image, gpus, fields) + &nodes(&[8])
    };
    let update = |fields: &str| format!("replicas: 4, updateStrategy: {{{fields}}}, ");
    // The feature gate MaxUnavailableStatefulSet is off by default, and the field is dropped.
    for (fields, old, end) in [
        (update("rollingUpdate: {}"), 0, "complete"),
        (update("rollingUpdate: {maxUnavailable: 3}"), 0, "complete"),
        (update("rollingUpdate: {partition: 1}"), 1, "complete"),
        (update("rollingUpdate: {partition: 4}"), 4, "complete"),
        (update("type: OnDelete"), 4, "on-delete"),
        (format!("podManagementPolicy: Parallel, {}", update("rollingUpdate: {}")), 0, "complete"),
    ] {
        let policy = fields.split_inclusive(", ").next().filter(|word| word.starts_with("pod"));
        let earlier = format!("{}replicas: 4, ", policy.unwrap_or_default());
        let (before, after) = (of("v1", 2, &earlier), of("v2", 2, &fields));
        let named = on("rollout sts/a -o json", &before, &after);
        let rollout = rollout(&named);
        let last = rollout["stages"].as_array().and_then(|all| all.last()).cloned();
        let last = last.unwrap_or_default();
        assert_eq!(last["old"]["total"], old, "{fields}");
        let lowest = if old == 4 { 4 } else { 3 };
        assert_eq!(rollout["lowestReady"], lowest, "{fields}");
        assert_eq!(ends("sts/a", &before, &after), (end.into(), 0), "{fields}");
    }
    // The highest ordinal goes first, and the next waits for it.
    let (before, after) = (of("v1", 2, "replicas: 4, "), of("v2", 3, "replicas: 4, "));
    assert_eq!(ends("sts/a", &before, &after), ("stuck".into(), 2));
    let stuck = on("rollout sts/a -o json", &before, &after).at("/components/0/rollout/stuck/pod");
    assert_eq!(stuck, "a-3");
    // A lower partition lets the update go on.
    let partition = |at: i64| update(&format!("rollingUpdate: {{partition: {at}}}"));
    let (before, after) = (of("v1", 2, &partition(4)), of("v1", 2, &partition(0)));
    let ran = on("rollout --all", &before, &after);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn a_daemon_set_rolls_node_by_node() {
    let of = |image: &str, fields: &str| {
        workload("DaemonSet", "a", image, 8, fields) + &nodes(&[8, 8, 8])
    };
    for (fields, lowest, end, code) in [
        ("", 2, "complete", 0),
        ("updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, ", 1, "complete", 0),
        ("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, ", 3, "stuck", 2),
        ("updateStrategy: {type: OnDelete}, ", 3, "on-delete", 0),
    ] {
        let (before, after) = (of("v1", ""), of("v2", fields));
        assert_eq!(ends("ds/a", &before, &after), (end.into(), code), "{fields}");
        let ran = on("rollout ds/a -o json", &before, &after);
        assert_eq!(rollout(&ran)["lowestReady"], lowest, "{fields}");
    }
    let (before, after) = (
        of("v1", ""),
        of("v2", "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, "),
    );
    let ran = on("rollout ds/a -o json", &before, &after);
    assert_eq!(rollout(&ran)["stuck"]["pod"], "a on n0");
    let first = rollout(&ran)["fix"][0]["edits"][0]["path"].clone();
    assert_eq!(first, "spec.updateStrategy.rollingUpdate.maxSurge");
}

/// Pods that run are those of their workload, and not pods of others in its way.
#[test]
fn running_pods_are_the_state_before() {
    let deployment = |image: &str, replicas: i64| {
        written("Deployment", ", uid: u", "a", image, 4, &format!("replicas: {replicas}, "), "")
    };
    let pods = running("a-h-x", "n0", "ReplicaSet/a-h", "pod-template-hash: h", "v1", 4)
        + &running("a-h-y", "n0", "ReplicaSet/a-h", "pod-template-hash: h", "v1", 4);
    for (after, room, end) in [
        (deployment("v1", 2), 8, None),
        (deployment("v2", 2), 8, Some("stuck")),
        (deployment("v2", 2), 12, Some("complete")),
        (deployment("v1", 3), 12, Some("complete")),
        (deployment("v1", 1), 8, Some("complete")),
    ] {
        let text = after + &pods + &nodes(&[room]);
        let ran = ome_on("rollout --all -o json --no-builtin -f {in.yaml}", &[("in.yaml", &text)]);
        let found = ran.at("/workloads/0/components/0/rollout/end");
        assert_eq!(found.as_str(), end, "{room} {}", ran.out);
        assert_eq!(ran.code, if end == Some("stuck") { 2 } else { 0 });
    }
    // What is applied before is a manifest, and the cluster of the new state has its pods.
    let manifest = |image: &str| workload("Deployment", "a", image, 4, "replicas: 2, ");
    for (room, end) in [(8, "stuck"), (12, "complete")] {
        let after = manifest("v2") + &pods + &nodes(&[room]);
        let ran = on("rollout deploy/a -o json", &manifest("v1"), &after);
        assert_eq!(rollout(&ran)["end"], end, "{}", ran.out);
        let first = &rollout(&ran)["stages"][0];
        assert_eq!(first["old"]["ready"], 2, "{first}");
    }
    // Fields that the server added are no change of the template.
    let live = written(
        "Deployment",
        ", uid: u",
        "a",
        "v1",
        4,
        "replicas: 2, ",
        "dnsPolicy: ClusterFirst, ",
    );
    let live = live + &pods + &nodes(&[8]);
    let ran = on("rollout --all", &live, &manifest("v1"));
    assert!(ran.out.contains("no workload changes"), "{}", ran.out);
    assert_eq!(on("rollout --all", &live, &manifest("v2")).code, 2);
}

#[test]
fn pods_of_stateful_sets_and_daemon_sets_have_their_versions() {
    let status = "status: {observedGeneration: 2, updateRevision: a-2}\n";
    let set = written("StatefulSet", ", uid: u, generation: 2", "a", "v2", 4, "replicas: 2, ", "");
    let pod = |at: i64, revision: i64, image: &str| {
        let label = format!("controller-revision-hash: a-{revision}");
        running(&format!("a-{at}"), "n0", "StatefulSet/a", &label, image, 4)
    };
    for (revisions, end) in [([1, 1], "complete"), ([1, 2], "complete"), ([2, 2], "")] {
        // The label decides, whatever a webhook did to the image.
        let pods: String =
            (0..).zip(revisions).map(|(at, revision)| pod(at, revision, "mutated")).collect();
        let text = set.clone() + status + &pods + &nodes(&[8]);
        let ran = ome_on("rollout --all -o json --no-builtin -f {in.yaml}", &[("in.yaml", &text)]);
        let found = ran.at("/workloads/0/components/0/rollout/end");
        assert_eq!(found.as_str().unwrap_or_default(), end, "{revisions:?} {}", ran.out);
    }
    let daemon = |image: &str| {
        let set = written("DaemonSet", ", uid: u", "a", image, 4, "", "");
        let pod = running("a-x", "n0", "DaemonSet/a", "controller-revision-hash: h", "v1", 4);
        let pinned = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n0]}]}]}}}, ";
        set + &pod.replace("nodeName", &format!("{pinned}nodeName")) + &nodes(&[4])
    };
    for (image, end) in [("v1", ""), ("v2", "complete")] {
        let ran = ome_on(
            "rollout --all -o json --no-builtin -f {in.yaml}",
            &[("in.yaml", &daemon(image))],
        );
        let found = ran.at("/workloads/0/components/0/rollout/end");
        assert_eq!(found.as_str().unwrap_or_default(), end, "{image} {}", ran.out);
    }
}

/// An autoscaler keeps the number of replicas, whatever the manifest writes.
#[test]
fn an_autoscaled_deployment_keeps_its_replicas() {
    let scaler = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a, namespace: ml}\nspec: {minReplicas: 2, maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}\n";
    let of = |image: &str, room: i64| {
        workload("Deployment", "a", image, 4, "") + scaler + &nodes(&[room])
    };
    for (room, end, code) in [(8, "stuck", 2), (12, "complete", 0)] {
        assert_eq!(ends("deploy/a", &of("v1", room), &of("v2", room)), (end.into(), code));
        let ran = on("rollout deploy/a -o json", &of("v1", room), &of("v2", room));
        assert_eq!(rollout(&ran)["stages"][0]["old"]["ready"], 2);
    }
    // Only the autoscaler changes.
    let more = of("v1", 8).replace("minReplicas: 2", "minReplicas: 3");
    assert_eq!(ends("deploy/a", &of("v1", 8), &more), ("stuck".into(), 2));
}

#[test]
fn what_is_not_simulated_is_not_confirmed() {
    let rollout = |image: &str| {
        workload("Rollout", "a", image, 4, "replicas: 1, ")
            .replace("apps/v1", "argoproj.io/v1alpha1")
            + &nodes(&[8])
    };
    let (before, after) = (rollout("v1"), rollout("v2"));
    let all = on("rollout --all", &before, &after);
    assert_eq!(all.code, 0, "{}", all.out);
    assert!(
        all.out.contains("! not judged: the update of a Rollout is not simulated"),
        "{}",
        all.out
    );
    assert!(
        all.out.trim_end().ends_with("; 1 not judged") && !all.out.contains('✓'),
        "{}",
        all.out
    );
    let diff = on("diff -o json", &before, &after);
    assert_eq!(diff.at("/capacity/notJudged/0/what"), "Rollout/ml/a");
    assert_eq!(diff.at("/capacity/workloads/0/end"), "not-judged");
    let named = on("rollout Rollout/a", &before, &after);
    assert!(
        named.code == 1 && named.err.contains("the update of a Rollout is not simulated"),
        "{}",
        named.err
    );
    // Pods of another scheduler.
    let of = |image: &str| {
        written("Deployment", "", "a", image, 4, "replicas: 1, ", "schedulerName: other, ")
            + &nodes(&[8])
    };
    assert_eq!(ends("deploy/a", &of("v1"), &of("v2")), ("not-judged".into(), 0));
    // New pods of other kinds have a line where they have no node.
    let job = |gpus: i64| {
        workload("Job", "j", "v1", gpus, "")
            .replace("apps/v1", "batch/v1")
            .replace("selector: {matchLabels: {app: j}}, ", "")
            .replace("spec: {containers", "spec: {restartPolicy: Never, containers")
    };
    for (gpus, code) in [(8, 0), (9, 2)] {
        let all = on("rollout --all", &nodes(&[8]), &(nodes(&[8]) + &job(gpus)));
        assert_eq!(all.code, code, "{}", all.out);
        assert_eq!(all.out.contains("Job/ml/j"), code == 2, "{}", all.out);
    }
}

#[test]
fn workloads_are_named_as_for_kubectl() {
    let of = |image: &str| {
        let set = workload("StatefulSet", "db", image, 1, "replicas: 1, ");
        workload("Deployment", "web", image, 1, "replicas: 1, ") + &set + &nodes(&[8])
    };
    let (before, after) = (of("v1"), of("v2"));
    for (name, expected) in [
        ("deploy/web", "Deployment ml/web"),
        ("deployment/web -n ml", "Deployment ml/web"),
        ("deployments.apps/web", "Deployment ml/web"),
        ("Deployment/ml/web", "Deployment ml/web"),
        ("web", "Deployment ml/web"),
        ("sts/db", "StatefulSet ml/db"),
        ("statefulset/ml/db", "StatefulSet ml/db"),
    ] {
        let ran = on(&format!("rollout {name}"), &before, &after);
        assert_eq!((ran.code, ran.out.lines().next()), (0, Some(expected)), "{name} {}", ran.err);
        let page = on(&format!("rollout {name} -o markdown"), &before, &after);
        assert!(page.out.contains("complete; meanwhile"), "{}", page.out);
        let page = on(&format!("rollout {name} -o html"), &before, &after);
        assert!(page.out.contains("✓ pods: "), "{}", page.out);
    }
    for (name, message, help) in [
        ("deploy/wob", "no Deployment `deploy/wob`", "did you mean `Deployment/ml/web`?"),
        ("deploy/zzzzzz", "no Deployment `deploy/zzzzzz`", "the input has Deployment/ml/web"),
        ("deploy/web -n prod", "no Deployment `deploy/web`", "did you mean `Deployment/ml/web`?"),
        ("ds/web", "no DaemonSet `ds/web`", "load it with `-f`"),
        (
            "wob",
            "no ModelServing, InferenceService or other workload `wob`",
            "did you mean `Deployment/ml/web`?",
        ),
    ] {
        let ran = on(&format!("rollout {name}"), &before, &after);
        assert_eq!(ran.code, 1, "{name}");
        assert!(ran.err.contains(message) && ran.err.contains(help), "{name}: {}", ran.err);
    }
    let twice = workload("StatefulSet", "web", "v2", 1, "replicas: 1, ");
    let ran = on("rollout web", &before, &(after + &twice));
    assert!(ran.err.contains("write `Deployment/ml/web` or `StatefulSet/ml/web`"), "{}", ran.err);
}

/// Problems of new pods, as of services.
#[test]
fn new_pods_may_be_slow_or_never_ready() {
    let of = |image: &str| workload("Deployment", "a", image, 1, "replicas: 2, ") + &nodes(&[8]);
    for (flag, end, code) in [
        ("--slow pods=3", "complete", 0),
        ("--stuck pods", "stuck", 2),
        ("--fail pods", "stuck", 2),
    ] {
        let ran = on(&format!("rollout deploy/a -o json {flag}"), &of("v1"), &of("v2"));
        assert_eq!((rollout(&ran)["end"].clone(), ran.code), (end.into(), code), "{flag}");
    }
    // Old pods stay until new ones are ready, so that slower pods make further stages.
    let stages = |flag: &str| {
        let ran = on(&format!("rollout deploy/a -o json {flag}"), &of("v1"), &of("v2"));
        rollout(&ran)["stages"].as_array().map_or(0, Vec::len)
    };
    assert!(stages("") < stages("--slow pods=3"));
    let ran = on("rollout deploy/a --stuck engine", &of("v1"), &of("v2"));
    assert!(ran.code == 1 || ran.code == 2, "{}", ran.err);
    assert!(ran.err.contains("write `--stuck pods`"), "{}", ran.err);
}

/// A fleet of services and workloads shares its nodes while it rolls.
#[test]
fn services_and_workloads_roll_together() {
    use crate::testing::{catalog, service};
    let of = |version: &str| {
        let engine = format!(
            "minReplicas: 1, maxReplicas: 1, runner: {{name: ome-container, image: 'example/server:{version}'}}"
        );
        catalog(4)
            + &service("chat", &engine)
            + &workload("Deployment", "a", version, 4, "replicas: 1, ")
    };
    for (room, stuck) in [(&[8][..], 2), (&[12], 0), (&[16], 0)] {
        let (before, after) = (of("v1") + &nodes(room), of("v2") + &nodes(room));
        let ran = on("rollout --all -o json", &before, &after);
        assert_eq!(ran.at("/totals/stuck"), stuck, "{room:?} {}", ran.out);
        assert_eq!((ran.at("/totals/changed"), ran.at("/totals/workloads")), (1.into(), 1.into()));
        let text = on("rollout --all", &before, &after);
        assert!(
            text.out.contains("1 of 1 service changes, 1 other workload changes"),
            "{}",
            text.out
        );
        let diff = on("diff", &before, &after);
        assert!(
            diff.out.contains("Plan: 1 service to change, 1 other workload to change"),
            "{}",
            diff.out
        );
    }
}

/// What a paused Deployment, or one that updates on deletion, does without a hand is to scale: nodes
/// that hold all of its pods are the next step.
#[test]
fn a_workload_that_keeps_its_template_and_scales_without_room_has_edits() {
    for (kind, what, keeps, sentence) in [
        ("Deployment", "deploy/a", "paused: true, ", "would be paused with all its pods ready"),
        (
            "StatefulSet",
            "sts/a",
            "updateStrategy: {type: OnDelete}, ",
            "would have all its pods ready, updated when they are deleted,",
        ),
    ] {
        let of = |image: &str, fields: &str, room: &[i64]| {
            workload(kind, "a", image, 8, fields) + &nodes(room)
        };
        let (before, after) =
            (of("v1", "replicas: 1, ", &[8]), of("v2", &format!("replicas: 2, {keeps}"), &[8]));
        let ran = on(&format!("rollout {what}"), &before, &after);
        let words = format!("{sentence} with nodes like n0: 1 more");
        assert!(ran.code == 2 && ran.out.contains(&words), "{}", ran.out);
        let more = of("v2", &format!("replicas: 2, {keeps}"), &[8, 8]);
        let end = if kind == "Deployment" { "paused" } else { "on-delete" };
        assert_eq!(ends(what, &before, &more), (end.into(), 0));
    }
}

/// Workloads that do not change and wait are named as services are; with nodes taken away they no
/// longer fit.
#[test]
fn a_workload_that_does_not_change_waits_as_before() {
    let of = |image: &str, room: &[i64]| {
        workload("Deployment", "a", image, 1, "replicas: 1, ")
            + &workload("Deployment", "b", "v1", 8, "replicas: 2, ")
            + &nodes(room)
    };
    let before = of("v1", &[4, 8]);
    for after in [of("v2", &[4, 8]), of("v1", &[4, 8])] {
        let all = on("rollout --all", &before, &after);
        assert_eq!(all.code, 0, "{}", all.out);
        assert!(all.out.contains("waits as before: Deployment/ml/b\n"), "{}", all.out);
        assert!(!all.out.contains('✓') || !all.out.trim_end().ends_with('✓'), "{}", all.out);
        let last = all.out.lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with('!'), "{last}");
        let json = on("rollout --all -o json", &before, &after);
        assert_eq!(json.at("/otherWorkloads/0/name"), "Deployment/ml/b", "{}", json.out);
        assert_eq!(json.at("/otherWorkloads/0/pods"), 1, "{}", json.out);
    }
    let diff = on("diff", &before, &of("v2", &[4, 8]));
    assert!(diff.out.contains("! waits as before: Deployment/ml/b pods"), "{}", diff.out);
    let less = of("v2", &[4, 4]);
    for command in ["rollout --all", "diff"] {
        let ran = on(command, &before, &less);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.out.contains("no longer fits: Deployment/ml/b"), "{}", ran.out);
    }
}

#[test]
fn a_workload_that_comes_or_goes_is_a_change() {
    let of = |name: &str| workload("Deployment", name, "v1", 1, "replicas: 1, ");
    let (one, two) = (of("a"), of("a") + &of("b"));
    for cluster in [String::new(), nodes(&[8])] {
        let [less, more] = [&one, &two].map(|text| cluster.clone() + text);
        let (added, removed) = (on("diff", &less, &more), on("diff", &more, &less));
        assert!(added.out.ends_with("Plan: 1 workload to add\n"), "{}", added.out);
        assert!(removed.out.ends_with("Plan: 1 workload to remove\n"), "{}", removed.out);
        assert!(added.out.contains("other workload to add: Deployment/ml/b\n"), "{}", added.out);
        assert!(removed.out.contains("other workload to remove: Deployment/ml/b\n"));
        assert_eq!((added.code, removed.code), (2, 2));
        let json = on("diff -o json", &less, &more);
        assert_eq!(json.at("/summary/otherWorkloads/added"), 1);
        assert_eq!(on("diff", &less, &less).code, 0);
    }
}

/// Without Nodes nothing is placed, and a change is a change all the same.
#[test]
fn a_workload_that_changes_without_nodes_is_compared() {
    let of = |image: &str, fields: &str| workload("Deployment", "a", image, 8, fields);
    let before = of("v1", "replicas: 1, ");
    for (after, restarts) in [
        (of("v2", "replicas: 1, "), true),
        (of("v1", "replicas: 3, "), false),
        (of("v2", "replicas: 1, paused: true, "), false),
    ] {
        let diff = on("diff -o json", &before, &after);
        assert_eq!(
            (diff.at("/workloads/0/workload"), diff.at("/workloads/0/restarts"), diff.code),
            ("Deployment/ml/a".into(), restarts.into(), 2),
            "{}",
            diff.out
        );
        let text = on("diff", &before, &after);
        assert!(text.out.contains("other workload changes: Deployment/ml/a\n"), "{}", text.out);
        assert!(text.out.ends_with("Plan: 1 workload to change\n"), "{}", text.out);
        let code = if restarts { 2 } else { 0 };
        assert_eq!(on("diff --fail-on restarts", &before, &after).code, code);
    }
    let same = on("diff -o json", &before, &(before.clone() + &nodes(&[])));
    assert_eq!((same.at("/workloads"), same.code), (Value::Null, 0), "{}", same.out);
}

/// A pod of the Deployment `a` uses the claim `data`.
fn with_claim(more: &str) -> Ran {
    let pod = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], ";
    let text = gpu_node("n1", 8, "") + &written("Deployment", "", "a", "1", 1, "", pod) + more;
    ome_on("rollout --all -o json -f {in.yaml}", &[("in.yaml", &text)])
}

#[test]
fn a_claim_of_manifests_gets_its_volume() {
    let claim = |namespace: &str, more: &str| {
        format!(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data{namespace}}}\nspec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}{more}}}\n"
        )
    };
    let of_class = with_claim(&claim(", namespace: ml", ", storageClassName: fast"));
    // Such a manifest makes the class of a cluster the default.
    let patch = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}\n";
    let patched = with_claim(&(claim(", namespace: ml", "") + patch));
    for ran in [with_claim(&claim(", namespace: ml", "")), of_class, patched] {
        assert_eq!(ran.code, 0, "{}", ran.out);
    }
    // Another author, or the directory that it is applied from, may give it the namespace.
    let elsewhere = with_claim(&claim("", ""));
    assert!(elsewhere.out.contains("of the pods is not in the input"), "{}", elsewhere.out);
    for (more, expected) in [
        (", volumeName: v", "the PersistentVolume `v` of the claim `data` is not in the input"),
        (", storageClassName: ''", "no PersistentVolume in the input is one for the claim `data`"),
    ] {
        let ran = with_claim(&claim(", namespace: ml", more));
        assert!(ran.out.contains(expected), "{}", ran.out);
    }
}

#[test]
fn pods_belong_to_what_owns_their_replica_set() {
    let template = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}";
    let workload = |kind: &str, name: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {template}}}\n"
        )
    };
    let owned = |by: &str| {
        format!(
            "namespace: ml, ownerReferences: [{{apiVersion: apps/v1, kind: {by}, uid: u, controller: true}}]"
        )
    };
    let set =
        workload("ReplicaSet", "a-front").replace("namespace: ml", &owned("Deployment, name: a"));
    let pod = format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: a-front-x, labels: {{app: a}}, {}}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}\nstatus: {{phase: Running}}\n",
        owned("ReplicaSet, name: a-front")
    );
    for input in [
        // The label with the hash is no part of the pod.
        workload("Deployment", "a") + &set,
        // The name of a ReplicaSet that nothing owns may have a dash.
        workload("ReplicaSet", "a-front"),
    ] {
        let text = gpu_node("n1", 4, "") + &input + &pod;
        let plan = ome_on("plan -o json -f {in.yaml} --no-builtin", &[("in.yaml", &text)]);
        assert_eq!(plan.at("/placement/verdict"), "fits", "{input}: {}", plan.out);
        let all = ome_on("rollout --all -f {in.yaml} --no-builtin", &[("in.yaml", &text)]);
        assert_eq!(all.code, 0, "{input}: {}", all.out);
    }
}

#[test]
fn a_new_job_without_room_is_stuck() {
    let job = |meta: &str| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: ml{meta}}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}}}}}\n"
        )
    };
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: j-x, namespace: ml, labels: {job-name: j}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]}\nspec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}\nstatus: {phase: Pending}\n";
    for (gpus, meta, pods, code, says) in [
        (2, "", "", 2, "stuck"),
        (4, "", "", 0, "✓"),
        // In a cluster it waits as before.
        (2, ", uid: u", "", 0, "waits as before: Job/ml/j"),
        (2, "", pod, 0, "waits as before: Job/ml/j"),
    ] {
        let text = gpu_node("n1", gpus, "") + &job(meta) + pods;
        let ran = ome_on("rollout --all -f {in.yaml} --no-builtin", &[("in.yaml", &text)]);
        assert_eq!(ran.code, code, "{gpus} {meta} {pods}: {}", ran.out);
        assert!(ran.out.contains(says), "{gpus} {meta} {pods}: {}", ran.out);
        assert_eq!(ran.out.contains('✓'), says == "✓", "{gpus} {meta} {pods}: {}", ran.out);
    }
}

/// The queue `lq` of namespace `ml` with quota for so many GPUs.
fn queue(gpus: i64) -> String {
    let covered = "coveredResources: [nvidia.com/gpu]";
    let quota = format!("{{name: nvidia.com/gpu, nominalQuota: {gpus}}}");
    format!(
        "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{namespaceSelector: {{}}, resourceGroups: [{{{covered}, flavors: [{{name: f, resources: [{quota}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: lq, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
    )
}

#[test]
fn a_workload_whose_object_names_a_queue_waits_for_quota_as_in_plan() {
    let label = ", labels: {kueue.x-k8s.io/queue-name: lq}";
    for (kind, name) in [("Deployment", "deploy/a"), ("StatefulSet", "sts/a")] {
        let of = |image: &str| written(kind, label, "a", image, 1, "replicas: 2, ", "");
        for (quota, end, code) in [(1, "stuck", 2), (2, "complete", 0)] {
            let nodes = gpu_node("n1", 8, "") + &queue(quota);
            let after = nodes.clone() + &of("v1");
            let named = on(&format!("rollout {name} -o json"), &nodes, &after);
            assert_eq!(
                (rollout(&named)["end"].clone(), named.code),
                (end.into(), code),
                "{kind} {}",
                named.at("/findings")
            );
            for command in ["rollout --all", "diff"] {
                let ran = on(command, &nodes, &after);
                let expected = if command == "diff" { 2 } else { code };
                assert_eq!(ran.code, expected, "{command} {kind} {quota}: {}", ran.out);
            }
            let planned = ome_on("plan -f {in.yaml}", &[("in.yaml", &after)]);
            assert_eq!(planned.code, code, "{kind} {quota}: {}", planned.out);
            let ran = on(&format!("rollout {name}"), &nodes, &after);
            let waits = ran.out.contains("waits for quota of ClusterQueue `cq`");
            assert_eq!(waits, quota == 1, "{}", ran.out);
        }
    }
    // Kueue admits each new pod of a Deployment, one more than there is quota for.
    let of = |kind: &str, image: &str| {
        gpu_node("n1", 8, "")
            + &queue(2)
            + &written(kind, label, "a", image, 1, "replicas: 2, ", "")
    };
    let deployment = |image: &str| of("Deployment", image);
    assert_eq!(ends("deploy/a", &deployment("v1"), &deployment("v2")), ("stuck".into(), 2));
    let fix = rollout(&on("rollout deploy/a -o json", &deployment("v1"), &deployment("v2")));
    assert_eq!(fix["fix"][0]["edits"][0]["path"], "spec.strategy.rollingUpdate.maxSurge", "{fix}");
    let set = |image: &str| of("StatefulSet", image);
    // The pods of a StatefulSet are one Workload, which stays while they are replaced. Whether one that
    // waits for quota gets it is not simulated.
    assert_eq!(ends("sts/a", &set("v1"), &set("v2")), ("complete".into(), 0));
    let waits = |image: &str| set(image).replace("nominalQuota: 2", "nominalQuota: 1");
    assert_eq!(ends("sts/a", &waits("v1"), &waits("v2")).0, "not-judged");
    // A set that does not change is none of the change.
    let same = rollout(&on("rollout sts/a -o json", &set("v1"), &set("v1")));
    assert_eq!(same["end"], "nothing-to-do", "{same}");
}

/// A new workload of a higher priority evicts pods of one that does not change, also where no
/// controller of it is simulated.
#[test]
fn what_a_new_workload_evicts_is_listed() {
    let class = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n";
    let before = nodes(&[8]) + class + &workload("Deployment", "a", "v1", 4, "replicas: 2, ");
    let job = |pod: &str| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: b, namespace: ml}}\nspec: {{template: {{spec: {{{pod}restartPolicy: Never, containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}}}}}\n"
        )
    };
    let deployment = |pod: &str| written("Deployment", "", "b", "v1", 4, "replicas: 1, ", pod);
    for (kind, of) in [("Job", &job as &dyn Fn(&str) -> String), ("Deployment", &deployment as &_)]
    {
        for (pod, evicts) in [("priorityClassName: high, ", true), ("", false)] {
            let ran = on("rollout --all", &before, &(before.clone() + &of(pod)));
            assert_eq!(ran.code, 2, "{}", ran.out);
            let goes = ran.out.contains("no longer fits: Deployment/ml/a: ");
            assert_eq!(goes, evicts, "{kind} {pod}: {}", ran.out);
        }
    }
}
