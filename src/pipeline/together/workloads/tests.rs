use super::*;
use crate::pipeline::refused_by_server;
use crate::pipeline::testing::{node, world};
use crate::testing::{gpu_node, ome_on};
use crate::workspace::World;
use serde_json::{Value, json};

/// The workloads of some documents, with the number of their pods and why they are refused.
fn counted(documents: &[Value]) -> Vec<(String, usize, Option<String>)> {
    of_world(&world(&[&[node("a", "l"), node("b", "l")], documents].concat()))
}

fn of_world(world: &World) -> Vec<(String, usize, Option<String>)> {
    scaled(world, At::Min)
}

fn scaled(world: &World, at: At) -> Vec<(String, usize, Option<String>)> {
    let context = PodContext::of(&world.catalog);
    let running = RunningPods::new(world.catalog.others());
    let services = services(&world.catalog);
    let planner = Planner::new(&world.catalog);
    let (found, _) = read(&planner, &services, &context, &running, &BTreeSet::new(), at, &[]);
    found
        .into_iter()
        .map(|workload| {
            let (pods, _) = workload.amounts();
            (
                workload.id.to_string(),
                pods,
                workload.refused.map(|refused| refused.message.to_string()),
            )
        })
        .collect()
}

/// The number of pods of a workload, the only one.
fn pods(document: Value) -> usize {
    let all = counted(&[document]);
    assert!(all.len() <= 1 && all.iter().all(|other| other.2.is_none()), "{all:?}");
    all.first().map_or(0, |first| first.1)
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "x"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main",
        "image": "example/x:v1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}})
}

fn job(spec: &Value, status: &Value) -> Value {
    let mut value = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ml"},
        "spec": spec, "status": status});
    value["spec"]["template"] = template();
    value
}

#[test]
fn a_job_has_the_pods_that_are_left_to_run() {
    let of = |spec: Value, status: Value| pods(job(&spec, &status));
    let over = |kind: &str| json!({"conditions": [{"type": kind, "status": "True"}]});
    assert_eq!(of(json!({"parallelism": 9}), json!({})), 9);
    assert_eq!(of(json!({}), json!({})), 1);
    assert_eq!(of(json!({"parallelism": 9, "suspend": true}), json!({})), 0);
    assert_eq!(of(json!({"parallelism": 9, "completions": 10}), json!({"succeeded": 5})), 5);
    assert_eq!(of(json!({"parallelism": 3, "completions": 10}), json!({"succeeded": 5})), 3);
    assert_eq!(of(json!({"parallelism": 9, "completions": 9}), over("Complete")), 0);
    assert_eq!(of(json!({"parallelism": 9}), over("Failed")), 0);
    // A pod that failed is created again; one of a queue that has begun to end is not.
    assert_eq!(of(json!({"parallelism": 9}), json!({"failed": 1})), 9);
    assert_eq!(of(json!({"parallelism": 9}), json!({"succeeded": 1, "active": 2})), 2);
}

#[test]
fn a_group_of_ray_has_as_many_workers_as_its_bounds_allow() {
    let of = |mut group: Value| {
        group["groupName"] = "g".into();
        group["template"] = template();
        pods(
            json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "namespace": "ml"},
            "spec": {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [group]}}),
        )
    };
    // The head is one pod more.
    assert_eq!(of(json!({})), 1);
    assert_eq!(of(json!({"minReplicas": 3, "numOfHosts": 2})), 7);
    assert_eq!(of(json!({"replicas": 9, "maxReplicas": 2})), 3);
    assert_eq!(of(json!({"replicas": 2, "minReplicas": 1, "suspend": true})), 1);
}

#[test]
fn workloads_that_are_suspended_or_finished_have_no_pods() {
    let ray = |suspend: bool| {
        json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "namespace": "ml"},
            "spec": {"suspend": suspend, "headGroupSpec": {"template": template()},
                "workerGroupSpecs": [{"groupName": "g", "replicas": 2, "template": template()}]}})
    };
    assert_eq!([pods(ray(false)), pods(ray(true))], [3, 0]);
    let set = |suspend: bool, status: Value| {
        let of_job = json!({"parallelism": 3, "completions": 2, "template": template()});
        json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "s", "namespace": "ml"},
            "spec": {"suspend": suspend, "replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": of_job}}]},
            "status": status})
    };
    let over = json!({"conditions": [{"type": "Completed", "status": "True"}]});
    // A job has no more pods at once than completions.
    assert_eq!([pods(set(false, json!({}))), pods(set(true, json!({})))], [4, 0]);
    assert_eq!(pods(set(false, over)), 0);
    let mpi = |suspend: bool| {
        json!({"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "m", "namespace": "ml"},
            "spec": {"runPolicy": {"suspend": suspend}, "mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": template()}}}})
    };
    assert_eq!([pods(mpi(false)), pods(mpi(true))], [2, 0]);
    let volcano = |phase: &str| {
        json!({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v", "namespace": "ml"},
            "spec": {"tasks": [{"name": "t", "replicas": 2, "template": template()}]}, "status": {"state": {"phase": phase}}})
    };
    assert_eq!([pods(volcano("Running")), pods(volcano("Completed"))], [2, 0]);
}

fn deployment(replicas: impl Into<Value>) -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = "Always".into();
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ml"},
        "spec": {"replicas": replicas.into(), "selector": {"matchLabels": {"app": "x"}}, "template": template}})
}

/// What a server refuses of a document.
fn refused(document: Value) -> Vec<String> {
    let world = world(&[document]);
    let found = refused_by_server(&world.catalog.others()[0], &world.sources);
    found.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn a_server_refuses_workloads_and_the_pods_of_workloads() {
    assert_eq!(refused(deployment(2)), [""; 0]);
    assert_eq!(
        refused(deployment(-1)),
        [
            "Deployment.apps \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        ]
    );
    let mut value = deployment(1);
    value["spec"]["selector"]["matchLabels"] = json!({"app": "y"});
    assert!(refused(value)[0].contains("`selector` does not match template `labels`"));
    let unlimited = json!({"requests": {"nvidia.com/gpu": "1"}});
    let mut deployment = deployment(1);
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = unlimited.clone();
    let of_deployment = refused(deployment.clone());
    assert!(of_deployment[0].contains("Limit must be set for non overcommitable resources"));
    for kind in ["ReplicaSet", "DaemonSet"] {
        let mut value = deployment.clone();
        value["kind"] = kind.into();
        assert!(refused(value)[0].contains("Limit must be set for non overcommitable resources"));
    }
    // The server takes these, and refuses their pods.
    let mut of_job = template();
    of_job["spec"]["containers"][0]["resources"] = unlimited;
    let of_job = json!({"template": {"spec": {"template": of_job}}, "name": "w"});
    let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "s", "namespace": "ml"}, "spec": {"replicatedJobs": [of_job]}});
    let found = refused(set);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("pods of JobSet.jobset.x-k8s.io \"s\" would be refused: spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.limits: "),
        "{found:?}"
    );
}

#[test]
fn a_workload_that_no_server_takes_has_no_pods() {
    let mut world = world(&[node("a", "l"), deployment(3)]);
    let span = world.catalog.others()[0].name_span();
    let failure = Failure {
        code: Code::InvalidType,
        message: "`spec.x` must be an integer".into(),
        help: None,
        span: None,
    };
    world.catalog.set_refused([(span, failure)].into());
    let found = of_world(&world);
    let why = Some("the API server refuses it: `spec.x` must be an integer".to_owned());
    assert_eq!(found, [("Deployment/ml/d".to_owned(), 3, why)]);
}

#[test]
fn an_autoscaler_sets_the_replicas_of_a_workload_within_its_limits() {
    let of = |replicas: Value, scaler: Value| {
        let world = world(&[node("a", "l"), deployment(replicas), scaler]);
        [At::Min, At::Current, At::Max]
            .map(|at| scaled(&world, at).iter().map(|scaled| scaled.1).sum::<usize>())
    };
    let horizontal = |least: Value, most: i64| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "d", "namespace": "ml"},
            "spec": {"minReplicas": least, "maxReplicas": most,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})
    };
    assert_eq!(of(1.into(), horizontal(3.into(), 5)), [3, 3, 5]);
    assert_eq!(of(9.into(), horizontal(3.into(), 5)), [5, 5, 5]);
    assert_eq!(of(4.into(), horizontal(Value::Null, 5)), [4, 4, 5]);
    // It leaves a workload without replicas alone.
    assert_eq!(of(0.into(), horizontal(3.into(), 5)), [0, 0, 0]);
    let keda = |spec: Value| {
        let mut value = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "k", "namespace": "ml"}, "spec": spec});
        value["spec"]["scaleTargetRef"] = json!({"name": "d"});
        value
    };
    assert_eq!(of(1.into(), keda(json!({"minReplicaCount": 3, "maxReplicaCount": 5}))), [3, 3, 5]);
    // Without a minimum the last pod goes while no trigger is active.
    assert_eq!(of(2.into(), keda(json!({"maxReplicaCount": 5}))), [0, 2, 5]);
    // A paused one changes nothing.
    let mut paused = keda(json!({"maxReplicaCount": 5}));
    paused["metadata"]["annotations"] = json!({"autoscaling.keda.sh/paused": "true"});
    assert_eq!(of(2.into(), paused), [2, 2, 2]);
    let mut other = horizontal(3.into(), 5);
    other["metadata"]["namespace"] = "other".into();
    assert_eq!(of(1.into(), other), [1, 1, 1]);
}

/// A StatefulSet whose pods have a claim each.
fn stateful(replicas: i64, class: &str) -> Value {
    let mut deployment = deployment(replicas);
    deployment["kind"] = "StatefulSet".into();
    deployment["spec"]["serviceName"] = "d".into();
    deployment["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "storageClassName": class, "resources": {"requests": {"storage": "2Gi"}}}}]);
    deployment
}

fn class(provisioner: &str) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"},
        "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})
}

/// Why replicas of the only workload have no node, by index.
fn pending(documents: &[Value]) -> Vec<(usize, String)> {
    let world = world(&[&[node("a", "l")], documents].concat());
    let planner = crate::pipeline::Planner::new(&world.catalog);
    let options = super::super::PlacementOptions::default();
    let answer =
        super::super::together(&planner, &mut Vec::new(), &mut Vec::new(), options).unwrap();
    assert_eq!(answer.not_judged, []);
    answer.pending.iter().map(|pending| (pending.replica, pending.message.to_string())).collect()
}

#[test]
fn pods_with_claims_of_their_own_wait_for_their_volumes() {
    assert_eq!(pending(&[class("csi.example.com"), stateful(2, "s")]), []);
    // Of a class that was not read nothing is known, nor is it without any object of storage.
    assert_eq!(pending(&[stateful(2, "s")]), []);
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
        "spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "s"}});
    let none = class("kubernetes.io/no-provisioner");
    let found = pending(&[none.clone(), volume, stateful(2, "s")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("didn't find available persistent volumes to bind"), "{found:?}");
    let groups = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "g", "namespace": "ml"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template(),
            "volumeClaimTemplates": stateful(1, "s")["spec"]["volumeClaimTemplates"]}}});
    assert_eq!(pending(&[class("csi.example.com"), groups.clone()]), []);
    assert_eq!(pending(&[none, groups]).len(), 1);
}

#[test]
fn claims_of_pods_are_counted_in_quotas_and_held_to_limits() {
    let quota = |hard: Value| json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}, "spec": {"hard": hard}});
    for hard in [
        json!({"persistentvolumeclaims": "1"}),
        json!({"count/persistentvolumeclaims": "1"}),
        json!({"requests.storage": "3Gi"}),
        json!({"s.storageclass.storage.k8s.io/requests.storage": "3Gi"}),
    ] {
        let found = pending(&[class("csi.example.com"), quota(hard), stateful(2, "s")]);
        assert_eq!(found.len(), 1, "{found:?}");
        let (replica, why) = &found[0];
        assert_eq!(*replica, 1);
        assert!(
            why.starts_with("persistentvolumeclaims \"data-d-1\" is forbidden: exceeded quota: q"),
            "{why}"
        );
    }
    let limit = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "ml"},
        "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]}});
    let found = pending(&[limit, stateful(1, "s")]);
    assert!(
        found[0].1.contains("maximum storage usage per PersistentVolumeClaim is 1Gi"),
        "{found:?}"
    );
    // Of pods that exist before their claims, the second one waits for its claim.
    let mut value = deployment(2);
    let claim = stateful(1, "s")["spec"]["volumeClaimTemplates"][0]["spec"].clone();
    value["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]);
    let one = quota(json!({"persistentvolumeclaims": "1"}));
    let found = pending(&[class("csi.example.com"), one.clone(), value]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("waiting for ephemeral volume controller"), "{found:?}");
    // A claim of the input that is not created is not there.
    let claim = |name: &str| {
        let mut stateful = stateful(1, "s")["spec"]["volumeClaimTemplates"][0].clone();
        stateful["apiVersion"] = "v1".into();
        stateful["kind"] = "PersistentVolumeClaim".into();
        stateful["metadata"] = json!({"name": name, "namespace": "ml"});
        stateful
    };
    let mut deployment = deployment(1);
    deployment["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "v", "persistentVolumeClaim": {"claimName": "second"}}]);
    let found =
        pending(&[class("csi.example.com"), one, claim("first"), claim("second"), deployment]);
    assert!(
        found[0].1.contains("persistentvolumeclaim \"second\" not found (exceeded quota"),
        "{found:?}"
    );
}

#[test]
fn a_rollout_has_the_template_of_the_workload_that_it_names() {
    let rollout = |scale_down: &str| {
        json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "r", "namespace": "ml"},
            "spec": {"replicas": 9, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "scaleDown": scale_down}}})
    };
    let of = |documents: &[Value]| -> Vec<(String, (usize, i64))> {
        let world = world(&[&[node("a", "l")], documents].concat());
        let context = PodContext::of(&world.catalog);
        let running = RunningPods::new(world.catalog.others());
        let services = services(&world.catalog);
        let none = BTreeSet::new();
        let planner = Planner::new(&world.catalog);
        let (found, unknown) = read(&planner, &services, &context, &running, &none, At::Min, &[]);
        let unknown = unknown.iter().map(|counted| (counted.object.to_string(), (0, 0)));
        found
            .iter()
            .map(|workload| (workload.id.to_string(), workload.amounts()))
            .chain(unknown)
            .collect()
    };
    let named = |name: &str, amounts: (usize, i64)| (name.to_owned(), amounts);
    assert_eq!(of(&[rollout("never"), deployment(0)]), [named("Rollout/ml/r", (9, 9))]);
    assert_eq!(
        of(&[rollout("never"), deployment(2)]),
        [named("Deployment/ml/d", (2, 2)), named("Rollout/ml/r", (9, 9))]
    );
    assert_eq!(of(&[rollout("onsuccess"), deployment(2)]), [named("Rollout/ml/r", (9, 9))]);
    // Of one that is not in the input nothing is known.
    assert_eq!(of(&[rollout("never")]), [named("Rollout ml/r", (0, 0))]);
}

/// A queue with quota for so many devices.
fn kueue(quota: i64) -> Vec<Value> {
    let flavors =
        json!([{"name": "f", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": quota}]}]);
    vec![
        json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "f"}}),
        json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "cq"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}]}}),
        json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "ml"},
            "spec": {"clusterQueue": "cq"}}),
    ]
}

#[test]
fn workloads_that_name_a_queue_wait_for_its_quota() {
    let waiting = |quota: i64, workload: Value| -> Vec<usize> {
        let found = pending(&[kueue(quota), vec![workload]].concat());
        assert!(found.iter().all(|found| found.1.contains("ClusterQueue `cq`")), "{found:?}");
        found.iter().map(|found| found.0).collect()
    };
    let label = |mut value: Value, queue: &str| {
        value["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": queue});
        value
    };
    // A Job begins as a whole. One that is written as suspended begins when its queue lets it.
    for suspend in [false, true] {
        let label = || label(job(&json!({"parallelism": 3, "suspend": suspend}), &json!({})), "lq");
        assert_eq!(waiting(2, label()), [0, 1, 2]);
        assert_eq!(waiting(3, label()), [0; 0]);
    }
    // A pod of a Deployment is a workload of its own, by the label of either.
    assert_eq!(waiting(2, label(deployment(3), "lq")), [2]);
    let mut value = deployment(3);
    value["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "lq".into();
    assert_eq!(waiting(2, value), [2]);
    // Without the label no queue is asked.
    assert_eq!(pending(&[kueue(2), vec![deployment(3)]].concat()), []);
    let missing = pending(&[kueue(2), vec![label(deployment(1), "other")]].concat());
    assert!(missing[0].1.starts_with("namespace ml has no LocalQueue `other`"), "{missing:?}");
}

#[test]
fn quotas_on_the_number_of_objects_refuse_workloads_and_replica_sets() {
    let quota = |hard: Value| json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}, "spec": {"hard": hard}});
    let refused = |hard: Value, documents: &[Value]| -> Vec<(String, Option<String>)> {
        let found = counted(&[&[quota(hard)], documents].concat());
        found.into_iter().map(|(id, _, why)| (id, why)).collect()
    };
    let mut second = deployment(1);
    second["metadata"]["name"] = "e".into();
    let both = [deployment(1), second];
    let found = refused(json!({"count/deployments.apps": "1"}), &both);
    assert_eq!(found[0].1, None);
    assert_eq!(
        found[1].1.as_deref(),
        Some(
            "deployments.apps \"e\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1"
        )
    );
    let found = refused(json!({"count/replicasets.apps": "0"}), &both[..1]);
    let why = found[0].1.as_deref().unwrap_or_default();
    assert!(why.starts_with("replicasets.apps \"d-*\" is forbidden: exceeded quota: q"), "{why}");
    assert_eq!(refused(json!({"count/jobs.batch": "0"}), &both[..1])[0].1, None);
    let mut exists = both[0].clone();
    exists["metadata"]["uid"] = "00000000-0000-4000-8000-000000000001".into();
    let found = refused(json!({"count/deployments.apps": "1"}), &[exists, both[1].clone()]);
    assert!(found[0].1.is_none() && found[1].1.is_some(), "{found:?}");
}

/// The plan of some documents in JSON.
fn planned(documents: &[Value]) -> crate::testing::Ran {
    let documents = [&[node("a", "l")], documents].concat();
    let text: Vec<String> = documents.iter().map(|document| format!("---\n{document}\n")).collect();
    crate::testing::plan(&text.concat())
}

#[test]
fn pods_that_wait_and_whose_owner_was_not_read_are_not_judged() {
    let pod = |name: &str, devices: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "d-7c9b6d", "uid": "u", "controller": true}]},
            "spec": {"containers": [{"name": "main", "image": "example/x:v1", "resources": {"limits": devices}}]},
            "status": {"phase": "Pending"}})
    };
    let gpu = || json!({"nvidia.com/gpu": "1"});
    let of = |documents: &[Value]| {
        let ran = planned(documents);
        let what = ran.at("/placement/notJudged/0/what");
        (ran.at("/placement/verdict"), what.as_str().unwrap_or("").to_owned())
    };
    let found = of(&[pod("p1", gpu()), pod("p2", gpu())]);
    assert_eq!(found, ("unknown".into(), "Pod ml/p1 and 1 more".to_owned()));
    // Its Deployment counts them.
    assert_eq!(of(&[pod("p1", gpu()), deployment(1)]), ("fits".into(), String::new()));
    // Pods without devices come and go in every cluster.
    assert_eq!(of(&[pod("p1", json!({"cpu": "1"}))]), ("fits".into(), String::new()));
}

#[test]
fn a_queue_of_a_cluster_queue_that_was_not_read_is_not_judged() {
    let mut labeled = deployment(2);
    labeled["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "lq"});
    let all = kueue(9);
    let local = all.iter().filter(|object| object["kind"] == "LocalQueue").cloned();
    let of = |documents: &[Value]| planned(documents).at("/placement/notJudged/0");
    let found = of(&local.chain([labeled.clone()]).collect::<Vec<_>>());
    assert_eq!(found["what"], "LocalQueue `ml/lq`");
    assert_eq!(found["pods"], 2);
    assert!(found["message"].as_str().unwrap_or("").contains("ClusterQueue `cq`"), "{found}");
    assert!(of(&[all, vec![labeled]].concat()).is_null());
}

#[test]
fn the_nearest_node_of_a_daemon_is_its_own() {
    let mut without = node("b", "l");
    without["status"]["allocatable"]["nvidia.com/gpu"] = "0".into();
    let daemon = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": "ml"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"name": "main", "image": "example/x:v1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}});
    let ran = planned(&[without, daemon]);
    let pending = ran.at("/placement/pending/0");
    assert_eq!(pending["code"], "gpu", "{pending}");
}

#[test]
fn pods_of_a_group_without_a_node_are_counted() {
    let group = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": {"name": "g", "namespace": "ml"}, "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 3,
            "workerTemplate": {"spec": {"containers": [{"name": "main", "image": "example/x:v1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}}}});
    let text = format!("---\n{}\n---\n{group}\n", node("a", "l"));
    let ran = crate::testing::ome("plan", &text);
    assert!(ran.out.contains("LeaderWorkerSet/ml/g: 3 pods without a node"), "{}", ran.out);
    assert!(ran.out.contains("3 pods stay without a node"), "{}", ran.out);
}

#[test]
fn pods_of_a_preset_are_not_counted() {
    let workspace = |inference: Value| {
        let machine = json!({"instanceType": "Standard_NC24ads_A100_v4"});
        json!({"apiVersion": "kaito.sh/v1beta1", "kind": "Workspace", "metadata": {"name": "phi"},
            "resource": machine, "inference": inference})
    };
    let unknown = |document: Value| {
        let world = world(&[node("a", "l"), document]);
        let context = PodContext::of(&world.catalog);
        let running = RunningPods::new(world.catalog.others());
        let services = services(&world.catalog);
        let planner = Planner::new(&world.catalog);
        let (_, unknown) =
            read(&planner, &services, &context, &running, &BTreeSet::new(), At::Min, &[]);
        not_judged(&unknown).into_iter().map(|one| (one.what, one.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        unknown(workspace(json!({"preset": {"name": "phi-4"}}))),
        [(
            "Workspace default/phi".into(),
            "its operator makes its pods from what it names; they are not counted".into()
        )]
    );
    let template = json!({"spec": {"containers": [{"name": "c", "image": "x"}]}});
    assert_eq!(unknown(workspace(json!({"template": template}))), []);
}

#[test]
fn pods_that_an_operator_makes_of_a_name_are_not_counted() {
    use crate::load::operated::OPERATED;
    use crate::testing::{gpu_node, ome_on};
    for (group, kinds) in OPERATED {
        for kind in *kinds {
            assert!(
                super::super::workload_kinds::TABLE
                    .iter()
                    .all(|row| { (row.group, row.kind) != (*group, *kind) })
            );
            // Of a group of this program the versions are known.
            let version = if *group == "serving.kserve.io" { "v1alpha1" } else { "v1" };
            let of = |spec: &str| {
                let text = gpu_node("n1", 8, "")
                    + &format!(
                        "---\napiVersion: {group}/{version}\nkind: {kind}\nmetadata: {{name: a, namespace: ml}}\nspec: {{{spec}}}\n"
                    );
                ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
            };
            let ran = of("model: m");
            assert_eq!(ran.at("/placement/notJudged/0/what"), format!("{kind} ml/a"), "{group}");
            assert_eq!(ran.at("/placement/verdict"), "unknown");
            assert!(ran.out.contains(&format!("\"kind\": \"{kind}\"")), "{}", ran.out);
            // It has no pods now.
            assert!(of("replicas: 0").at("/placement/notJudged").is_null(), "{group} {kind}");
        }
    }
}

#[test]
fn keys_that_no_pod_has_are_named_in_pods_of_other_operators() {
    let world = gpu_node("n1", 8, "")
        + "---\napiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: r, namespace: ml}\nspec:\n  rayClusterSpec:\n    headGroupSpec:\n      template:\n        spec:\n          containers: [{name: c, image: x, runtimeClassName: gpu}]\n          runtimeClassName: gpu\n";
    let ran = ome_on("validate {a.yaml} -o json", &[("a.yaml", world.as_str())]);
    let finding = ran.at("/findings/0");
    assert_eq!(
        [&finding["code"], &finding["severity"], &finding["path"]],
        [
            "unknown-field",
            "warning",
            "spec.rayClusterSpec.headGroupSpec.template.spec.containers[0].runtimeClassName"
        ],
        "{}",
        ran.out
    );
    assert!(ran.at("/findings/1").is_null(), "{}", ran.out);
}
