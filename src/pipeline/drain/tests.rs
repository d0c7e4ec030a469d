use super::*;
use crate::pipeline::testing::{node, pod, replica, world};
use crate::pipeline::{Each, losses};
use serde_json::{Value, json};

const CONTROL: &str = "node-role.kubernetes.io/control-plane";

fn budget(app: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["selector"] = json!({"matchLabels": {"app": app}});
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "ml"}, "spec": spec})
}

fn drained_by(documents: &[Value], drained: &Drained) -> Drain {
    let world = world(documents);
    drain(&world.catalog, At::Min, drained, None).expect("the nodes report their resources")
}

fn of(documents: &[Value], names: &[&str]) -> Drain {
    drained_by(documents, &Drained::Named(names.iter().map(|name| (*name).into()).collect()))
}

fn moves(drain: &Drain) -> Vec<String> {
    drain.moves.iter().map(|step| format!("{} {} {}", step.pod, step.from, step.to)).collect()
}

fn blocked(drain: &Drain) -> Option<(&str, &str, &str)> {
    drain.blocked.as_ref().map(|blocked| (blocked.by, blocked.node.as_str(), blocked.pod.as_str()))
}

fn fix(drain: &Drain) -> &str {
    drain.fix.as_ref().map_or("", |fix| &fix.edit)
}

#[test]
fn no_pod_moves_to_a_node_that_is_drained_later() {
    let fleet = [
        node("a", "l"),
        node("b", "l"),
        node("c", "l"),
        replica("chat", 0, "a", 4),
        // The node with the least in use, which the scheduler would take.
        replica("rank", 0, "c", 4),
    ];
    let drained = of(&fleet, &["a", "b"]);
    assert_eq!(moves(&drained), ["ml/chat-7c9b6d-0 a c"]);
    assert!(drained.is_complete() && drained.done == 2, "{drained:?}");
}

#[test]
fn a_pod_that_nothing_creates_again_blocks_and_one_of_a_daemon_set_does_not() {
    let nodes = [node("a", "l"), node("b", "l")];
    let bare = [&nodes[..], &[pod("lone", "a", 1, None)]].concat();
    let drained = of(&bare, &["a"]);
    assert_eq!(blocked(&drained), Some(("bare-pod", "a", "ml/lone")));
    assert!(fix(&drained).starts_with("delete pod ml/lone, as"), "{}", fix(&drained));
    assert_eq!(drained.done, 0);
    // All of them, and only if nothing else blocks.
    let two = [&bare[..], &[pod("solo", "a", 1, None)]].concat();
    assert!(fix(&of(&two, &["a"])).starts_with("delete pods ml/lone, ml/solo, as nothing"));
    let guarded =
        [&two[..], &[replica("chat", 0, "a", 1), budget("chat", json!({"minAvailable": 1}))]];
    assert_eq!(fix(&of(&guarded.concat(), &["a"])), "");
    let agent = pod("agent-x", "a", 1, Some(("DaemonSet", "agent")));
    let drained = of(&[&nodes[..], &[agent]].concat(), &["a"]);
    assert!(drained.is_complete() && drained.moves.is_empty(), "{drained:?}");
}

#[test]
fn a_budget_gives_way_by_no_more_than_it_has_to() {
    let fleet =
        [node("a", "l"), node("b", "l"), replica("chat", 0, "a", 2), replica("chat", 1, "a", 2)];
    for (spec, edit) in [
        (json!({"minAvailable": 2}), "set spec.minAvailable to 1"),
        (json!({"maxUnavailable": 0}), "set spec.maxUnavailable to 1"),
        (
            json!({"minAvailable": "100%"}),
            "set spec.maxUnavailable to 1 instead of spec.minAvailable",
        ),
    ] {
        let drained = of(&[&fleet[..], &[budget("chat", spec)]].concat(), &["a"]);
        assert_eq!(blocked(&drained).map(|blocked| blocked.0), Some("budget"), "{edit}");
        assert_eq!(fix(&drained), format!("{edit} in PodDisruptionBudget ml/chat"));
    }
    // The empty selector is every pod of the namespace, and none for a policy that has no selector.
    for (selector, by) in [(json!({}), Some("budget")), (Value::Null, None)] {
        let mut policy = budget("chat", json!({"maxUnavailable": 0}));
        policy["spec"]["selector"] = selector;
        let drained = of(&[&fleet[..], &[policy]].concat(), &["a"]);
        assert_eq!(blocked(&drained).map(|blocked| blocked.0), by);
    }
    // One at a time: the second pod is evicted when the first is ready again.
    let drained = of(&[&fleet[..], &[budget("chat", json!({"minAvailable": 1}))]].concat(), &["a"]);
    assert!(drained.is_complete(), "{drained:?}");
    let evicted: Vec<usize> = drained.stages.iter().map(|stage| stage.evicted.len()).collect();
    assert_eq!(evicted.iter().sum::<usize>(), 2);
    assert!(evicted.iter().all(|evicted| *evicted <= 1), "{evicted:?}");
}

#[test]
fn the_budget_of_pods_that_are_not_ready_lets_them_go_first() {
    let mut unready = replica("chat", 0, "a", 2);
    unready["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
    let ready = replica("chat", 0, "a", 2);
    for (pod, policy, edit) in [
        (
            &unready,
            Value::Null,
            "set spec.unhealthyPodEvictionPolicy to AlwaysAllow in PodDisruptionBudget ml/chat",
        ),
        (&unready, json!("AlwaysAllow"), ""),
        (&ready, Value::Null, "set spec.minAvailable to 0 in PodDisruptionBudget ml/chat"),
    ] {
        let policy =
            budget("chat", json!({"minAvailable": 1, "unhealthyPodEvictionPolicy": policy}));
        let drained = of(&[node("a", "l"), node("b", "l"), pod.clone(), policy], &["a"]);
        assert_eq!(fix(&drained), edit, "{drained:?}");
        assert_eq!(drained.is_complete(), edit.is_empty());
    }
}

#[test]
fn pods_without_room_block_and_nodes_are_proposed_until_they_fit() {
    let full = |at: usize, on: &str| replica("big", at, on, 8);
    let fleet =
        [node("a", "l"), node("b", "l"), node("c", "l"), full(0, "a"), full(1, "b"), full(2, "c")];
    let drained = of(&fleet, &["a", "b"]);
    assert_eq!(blocked(&drained).map(|blocked| (blocked.0, blocked.1)), Some(("no-room", "a")));
    assert_eq!(fix(&drained), "add 2 more nodes like a first");
    assert!(!drained.is_complete());
}

#[test]
fn the_nodes_that_go_have_the_fewest_pods_and_can_be_drained() {
    let fleet = [
        node("a", "l"),
        node("b", "l"),
        node("c", "l"),
        node("d", "l"),
        node("z", CONTROL),
        replica("one", 0, "a", 1),
        replica("two", 0, "b", 1),
        replica("two", 1, "b", 1),
        pod("lone", "c", 1, None),
        replica("rank", 0, "d", 1),
        budget("rank", json!({"minAvailable": 1})),
    ];
    let one = drained_by(&fleet, &Drained::Count(1));
    assert_eq!(one.nodes, ["a"]);
    assert!(one.is_complete() && one.moves.len() == 1, "{one:?}");
    // Those of the control plane, of the lone pod and of the budget stay.
    let most = drained_by(&fleet, &Drained::Most);
    assert_eq!(most.nodes.iter().collect::<BTreeSet<_>>().len(), 2);
    assert!(most.nodes.iter().all(|node| node == "a" || node == "b"), "{:?}", most.nodes);
    assert!(most.bound.is_some_and(|bound| bound >= 2) && most.blocked.is_none());
    let more = drained_by(&fleet, &Drained::Count(3));
    assert!(!more.is_complete() && more.nodes.len() < 3, "{more:?}");
}

#[test]
fn equal_losses_each_have_a_row_and_what_waited_before_does_not_count() {
    let full = |at: usize, on: &str| replica("big", at, on, 8);
    let mut waits = replica("late", 0, "a", 8);
    waits["spec"]["nodeName"] = Value::Null;
    waits["status"] = json!({"phase": "Pending"});
    let fleet = world(&[
        node("a", "l"),
        node("b", "l"),
        node("c", "l"),
        full(0, "a"),
        full(1, "b"),
        waits,
        // Holds all but two devices, so that no other pod fits beside it.
        replica("small", 0, "c", 6),
        pod("agent-a", "a", 0, Some(("DaemonSet", "agent"))),
    ]);
    let all =
        losses(&fleet.catalog, At::Min, Each::Node).expect("the nodes report their resources");
    let rows: Vec<(String, usize, usize, i64)> = all
        .rows
        .iter()
        .map(|row| (row.without.to_string(), row.pods, row.pending, row.gpus_short))
        .collect();
    let row = |name: &str, gpus: i64| (format!("node={name}"), 1, 1, gpus);
    assert_eq!(rows, [row("a", 8), row("b", 8), row("c", 6)]);
    assert_eq!(all.tried, 3);
    assert!(all.runs);
}

#[test]
fn pods_that_do_not_stay_where_they_go_are_not_judged() {
    use crate::testing::{gpu_node, ome_on};
    let taint = "taints: [{key: k, effect: NoExecute}]";
    for (seconds, scheduler, sign) in [
        ("", "", '✓'),
        (", tolerationSeconds: 9", "", '!'),
        ("", "schedulerName: other, ", '!'),
        // Only gangs of Volcano are known: those of Jobs and ModelServings.
        ("", "schedulerName: volcano, ", '!'),
        ("", "schedulerName: volcano, job", '✓'),
    ] {
        let (scheduler, label) = match scheduler.strip_suffix("job") {
            Some(scheduler) => (scheduler, ", volcano.sh/job-name: j"),
            None => (scheduler, ""),
        };
        let spec = format!(
            "{scheduler}tolerations: [{{key: k, operator: Exists, effect: NoExecute{seconds}}}], containers: [{{name: c, image: x}}]"
        );
        let text = gpu_node("n1", 8, "")
            + &gpu_node("n2", 8, taint)
            + &format!(
                "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: a, namespace: ml, uid: r}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}}}}}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: a-x, namespace: ml, uid: p, labels: {{app: a{label}}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: a, uid: r, controller: true}}]}}\nspec: {{nodeName: n1, {spec}}}\nstatus: {{phase: Running, conditions: [{{type: Ready, status: 'True'}}]}}\n"
            );
        let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        let last = ran.out.lines().last().unwrap_or_default();
        assert!(last.starts_with(sign), "{seconds}{scheduler}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, 0, "{}", ran.out);
    }
}

#[test]
fn a_quota_that_is_less_than_what_runs_keeps_pods_from_coming_back() {
    let pod = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, uid: {name}, labels: {{app: a, pod-template-hash: h}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: a-h, uid: r, controller: true}}]}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x}}]}}\nstatus: {{phase: Running}}\n"
        )
    };
    let deployment = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml, uid: d}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";
    for (quota, code) in [(1, 2), (2, 0)] {
        let quota = format!(
            "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml, uid: q}}\nspec: {{hard: {{pods: '{quota}'}}}}\n"
        );
        let nodes = crate::testing::gpu_node("n1", 8, "") + &crate::testing::gpu_node("n2", 8, "");
        let text = nodes + deployment + &pod("a-1") + &pod("a-2") + &quota;
        let ran = crate::testing::ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains("exceeded quota: q"), code == 2, "{}", ran.out);
        assert_eq!(ran.out.contains('✓'), code == 0, "{}", ran.out);
    }
}

#[test]
fn a_pod_of_a_manifest_is_created_by_nobody_again() {
    use crate::testing::{gpu_node, ome_on};
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: lone, namespace: ml}\nspec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}\n";
    let text = gpu_node("n1", 8, "") + &gpu_node("n2", 9, "unschedulable: true") + pod;
    let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
    let says = "cannot delete Pods that declare no controller (use --force to override): ml/lone";
    assert!(ran.code == 2 && ran.out.contains(says), "{}{}", ran.out, ran.err);
    // A plan of a loss counts it as gone, and asks for no node for it.
    let ran = ome_on("plan -f {in.yaml} --without node=n1", &[("in.yaml", &text)]);
    assert!(ran.out.contains("lost with the nodes: 1 pod"), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("without a node"), "{}", ran.out);
}

#[test]
fn a_pod_on_a_node_of_another_cluster_is_not_what_runs() {
    use crate::testing::{gpu_node, ome_on};
    let pod = |node: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: old, namespace: ml}}\nspec: {{nodeName: {node}, containers: [{{name: c, image: x}}]}}\n"
        )
    };
    let deployment = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";
    for (node, from) in [("elsewhere", "as it would be placed"), ("n2", "the pods that run")] {
        let text = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + deployment + &pod(node);
        let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        assert!(ran.out.lines().next().is_some_and(|line| line.contains(from)), "{}", ran.out);
        assert_eq!(ran.out.contains("Deployment/ml/a-0"), node == "elsewhere", "{}", ran.out);
    }
}

#[test]
fn what_a_drain_assumes_of_pods_that_move_is_said_and_not_confirmed() {
    use crate::testing::{gpu_node, ome_on};
    let gpu = "resources: {limits: {nvidia.com/gpu: 1}}";
    let deployment = |more: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{more}containers: [{{name: c, image: x, {gpu}}}]}}}}}}\n"
        )
    };
    let taint = "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]";
    let nodes = gpu_node("n1", 8, taint) + &gpu_node("n2", 8, taint);
    let stated = "tolerations: [{key: nvidia.com/gpu, operator: Exists}], ";
    for (more, sign) in [("", '!'), (stated, '✓')] {
        let text = nodes.clone() + &deployment(more);
        let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        let last = ran.out.lines().last().unwrap_or_default();
        assert!(last.starts_with(sign) && last.contains("1 pod moves"), "{}{}", ran.out, ran.err);
        assert_eq!(ran.out.contains("assumed: pods that request nvidia.com/gpu"), sign == '!');
    }
    let service = "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: a, namespace: ml}\nspec: {model: {uri: 'hf://a/b', name: m}, template: {containers: [{name: main, image: x}]}}\n";
    let text = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "unschedulable: true") + service;
    let drained = text.clone() + &gpu_node("n3", 8, "");
    let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &drained)]);
    assert!(ran.out.contains("LLMInferenceService `ml/a`: its presets"), "{}{}", ran.out, ran.err);
}

#[test]
fn pods_that_a_queue_holds_wait_and_are_not_among_those_with_a_node() {
    use crate::testing::{gpu_node, ome_on};
    let queue = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q, namespace: ml}\nspec: {clusterQueue: q}\n";
    let job = |cpu: u8| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: j{cpu}, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: q}}}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}\n"
        )
    };
    let text = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + queue + &job(1) + &job(2);
    let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
    let last = ran.out.lines().last().unwrap_or_default();
    assert!(last.ends_with("; 1 pod waits as before"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_pod_that_tolerates_the_cordon_is_evicted_once_and_comes_back() {
    use crate::testing::{gpu_node, ome_on};
    let text = gpu_node("n1", 8, "")
        + &gpu_node("n2", 8, "taints: [{key: k, effect: NoSchedule}]")
        + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}], containers: [{name: c, image: x}]}}}\n";
    let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.out.contains("1 pod comes back to a node that is drained"), "{}", ran.out);
    assert!(ran.out.lines().last().is_some_and(|line| line.starts_with('!')), "{}", ran.out);
    assert_eq!(ran.out.matches("Deployment/ml/a-0").count(), 2, "{}", ran.out);
    // Its node is none of those that can be given back.
    let ran = ome_on("drain --max -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.out.starts_with("drain n2, "), "{}", ran.out);
}

/// Two nodes with room, and what waits in queues of an input in which nothing runs.
#[test]
fn what_waits_in_a_queue_has_no_node_to_lose_and_waits_on() {
    use crate::testing::{gpu_node, ome_on};
    let queues = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: q, namespace: ml}\nspec: {clusterQueue: cq}\n";
    let template = "spec: {restartPolicy: RESTART, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}";
    let label = "labels: {app: d, kueue.x-k8s.io/queue-name: q}";
    let deployment = format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: ml, {label}}}\nspec: {{replicas: 3, selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{{label}}}, {template}}}}}\n"
    );
    let job = format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: ml, {label}}}\nspec: {{parallelism: 3, completions: 3, suspend: true, template: {{{template}}}}}\n"
    );
    let groups = format!(
        "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {{name: l, namespace: ml, {label}}}\nspec: {{replicas: 2, leaderWorkerTemplate: {{size: 2, workerTemplate: {{{template}}}}}}}\n"
    );
    for (workload, moved, end) in [
        (deployment.replace("RESTART", "Always"), 1, "no pod moves; 1 pod waits as before"),
        (job.replace("RESTART", "Never"), 0, "no pod moves; 3 pods wait as before"),
        // One pod of the group that waits would have quota.
        (groups.replace("RESTART", "Always"), 1, "no pod moves; 2 pods wait as before"),
    ] {
        let quota = if workload == groups.replace("RESTART", "Always") { "3" } else { "2" };
        let queues = queues.replace("nominalQuota: 2", &format!("nominalQuota: {quota}"));
        let text = gpu_node("n1", 4, "") + &gpu_node("n2", 4, "") + &queues + &workload;
        let ran = ome_on("drain n1 -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let stages = ran.at("/drain/stages");
        let names = stages.as_array().into_iter().flatten();
        let names: Vec<&Value> = names.flat_map(|s| s["evicted"].as_array().unwrap()).collect();
        assert!(names.len() == moved && !names.contains(&&json!("")), "{names:?}");
        let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        assert!(ran.code == 0 && ran.out.contains(end), "{}", ran.out);
    }
}

#[test]
fn a_group_that_gets_devices_for_some_of_its_pods_waits() {
    use crate::testing::{gpu_node, ome_on};
    let class = "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}\n---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace: ml}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}\n";
    let slice = |node: &str| {
        format!(
            "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {node}}}, spec: {{driver: d.example, nodeName: {node}, pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}, devices: [{{name: a}}, {{name: b}}]}}}}\n"
        )
    };
    let groups = "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l, namespace: ml}\nspec: {replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: {spec: {resourceClaims: [{name: d, resourceClaimTemplateName: t}], containers: [{name: c, image: x, resources: {claims: [{name: d}]}}]}}}}\n";
    let text = gpu_node("n1", 0, "")
        + &gpu_node("n2", 0, "")
        + class
        + &slice("n1")
        + &slice("n2")
        + groups;
    let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.code == 2 && ran.out.contains("cannot allocate all claims"), "{}", ran.out);
}

/// Where nothing runs, the pods of a service in error have no node that they could lose.
#[test]
fn services_in_error_are_not_counted_where_nothing_runs() {
    use crate::testing::{gpu_node, ome_on};
    let deployment = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
    let service = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: ml}\nspec: {predictor: {minReplicas: x, containers: [{name: kserve-container, image: x}]}}\n";
    let nodes = gpu_node("n1", 4, "") + &gpu_node("n2", 4, "") + deployment;
    for (text, sign) in [(nodes.clone(), "✓ 1 node drained"), (nodes + service, "! 1 node drained")]
    {
        let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", &text)]);
        assert!(ran.code == 0 && ran.out.contains(sign), "{}", ran.out);
        let is_said = ran.out.contains("services: ml/s is in error or has placeholders");
        assert_eq!(is_said, sign.starts_with('!'), "{}", ran.out);
    }
}
