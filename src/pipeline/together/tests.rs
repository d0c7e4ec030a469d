//! Small fleets on few nodes: what fits, what waits and why, and what is counted.

use crate::testing::{Ran, catalog, gpu_node, ome, ome_on, plan, service, serving};
use serde_json::{Value, json};

/// Services of one replica each with this many devices, on nodes with these.
fn fleet(gpus: i64, services: &[&str], nodes: &[i64]) -> String {
    let services: String = services.iter().map(|name| service(name, "minReplicas: 1")).collect();
    let nodes = nodes.iter().enumerate();
    let nodes: String =
        nodes.map(|(at, gpus)| gpu_node(&format!("n{}", at + 1), *gpus, "")).collect();
    catalog(gpus) + &services + &nodes
}

fn pods(ran: &Ran) -> [Value; 3] {
    ["wanted", "placed", "pending"].map(|key| ran.at(&format!("/placement/pods/{key}")))
}

/// Services that wait, with the code of the reason.
fn waiting(ran: &Ran) -> Vec<(String, String)> {
    let pending = ran.at("/placement/pending");
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let all = pending.as_array().into_iter().flatten();
    all.map(|value| (text(value, "service"), text(value, "code"))).collect()
}

#[test]
fn what_fits_is_placed_and_nothing_waits() {
    for (gpus, nodes) in [(8, &[8, 8][..]), (4, &[8]), (1, &[2]), (2, &[3, 3])] {
        let ran = plan(&fleet(gpus, &["a", "b"], nodes));
        assert_eq!(ran.at("/placement/verdict"), "fits", "{gpus} {nodes:?}");
        assert_eq!(pods(&ran), [2, 2, 0].map(Value::from), "{gpus} {nodes:?}");
        assert_eq!(waiting(&ran), [], "{gpus} {nodes:?}");
        assert_eq!(ran.code, 0);
    }
}

/// Pods of equal priority are placed in the order of their services.
#[test]
fn the_last_services_by_name_wait() {
    for (gpus, nodes, expected) in [
        (8, &[8][..], &["ml/b", "ml/c"][..]),
        (8, &[8, 8], &["ml/c"]),
        (4, &[8], &["ml/c"]),
        (3, &[8], &["ml/c"]),
        (9, &[8, 8], &["ml/a", "ml/b", "ml/c"]),
    ] {
        let ran = plan(&fleet(gpus, &["c", "b", "a"], nodes));
        let names: Vec<String> = waiting(&ran).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{gpus} {nodes:?}");
        let waits = expected.len();
        assert_eq!(pods(&ran), [3, 3 - waits, waits].map(Value::from), "{gpus} {nodes:?}");
        assert_eq!(ran.at("/placement/verdict"), "does-not-fit", "{gpus} {nodes:?}");
        assert_eq!(ran.code, 2);
    }
}

#[test]
fn a_service_that_waits_says_what_the_scheduler_says() {
    let ran = plan(&fleet(4, &["a"], &[2]));
    let message = ran.at("/placement/pending/0/message").to_string();
    assert!(
        message.contains("0/1 nodes are available: 1 Insufficient nvidia.com/gpu"),
        "{message}"
    );
    let placement = "/services/0/components/0/placement";
    let example = ran.at(&format!("{placement}/reason/example"));
    assert_eq!(example["node"], "n1");
    assert_eq!(example["detail"], "nvidia.com/gpu: 4 requested, 2 free");
}

#[test]
fn closed_nodes_hold_no_pod() {
    for (spec, code) in [
        ("unschedulable: true", "cordoned"),
        ("taints: [{key: team, value: x, effect: NoSchedule}]", "taint"),
        ("taints: [{key: team, value: x, effect: NoExecute}]", "taint"),
    ] {
        let input = catalog(1) + &service("a", "minReplicas: 1") + &gpu_node("one", 8, spec);
        let ran = plan(&input);
        assert_eq!(waiting(&ran), [("ml/a".to_owned(), code.to_owned())], "{spec}");
    }
    let soft = "taints: [{key: team, value: x, effect: PreferNoSchedule}]";
    let input = catalog(1) + &service("a", "minReplicas: 1") + &gpu_node("one", 8, soft);
    assert_eq!(waiting(&plan(&input)), []);
}

#[test]
fn a_selector_that_no_node_meets_is_named() {
    let engine = |label: &str| format!("minReplicas: 1, nodeSelector: {{{label}}}");
    for (label, waits) in [
        ("kubernetes.io/hostname: one", false),
        ("kubernetes.io/hostname: other", true),
        ("pool: a", true),
    ] {
        let ran = plan(&(catalog(1) + &service("a", &engine(label)) + &gpu_node("one", 8, "")));
        let expected: &[(String, String)] = &[("ml/a".to_owned(), "selector".to_owned())];
        assert_eq!(waiting(&ran), if waits { expected } else { &[] }, "{label}");
    }
}

#[test]
fn replicas_that_fit_are_counted_beyond_those_that_are_wanted() {
    for (gpus, nodes, fits) in [(2, &[8][..], 4), (3, &[8], 2), (8, &[8, 8], 2), (9, &[8], 0)] {
        let ran = plan(&fleet(gpus, &["a"], nodes));
        let found = ran.at("/services/0/components/0/fitsReplicas");
        assert_eq!(found, fits, "{gpus} {nodes:?}");
    }
}

#[test]
fn at_the_most_replicas_more_pods_are_placed() {
    let input =
        catalog(4) + &service("a", "minReplicas: 1, maxReplicas: 3") + &gpu_node("one", 8, "");
    for (at, wanted, verdict) in [("min", 1, "fits"), ("max", 3, "does-not-fit")] {
        let ran = ome(&format!("plan -o json --at {at}"), &input);
        assert_eq!(ran.at("/placement/pods/wanted"), wanted, "{at}");
        assert_eq!(ran.at("/placement/verdict"), verdict, "{at}");
    }
}

#[test]
fn a_selection_of_services_is_placed_among_all() {
    let input = fleet(8, &["a", "b"], &[8]);
    let ran = ome("plan b -o json", &input);
    assert_eq!(ran.at("/services").as_array().map(Vec::len), Some(1));
    assert_eq!(waiting(&ran), [("ml/b".to_owned(), "gpu".to_owned())]);
    assert_eq!(ome("plan a -o json", &input).code, 0);
}

#[test]
fn a_service_in_error_takes_no_node() {
    let broken = service("a", "minReplicas: 1").replace("name: rt", "name: other");
    let ran =
        plan(&(catalog(8) + &broken + &service("b", "minReplicas: 1") + &gpu_node("one", 8, "")));
    // Where its pods would go is not known.
    assert_eq!(ran.at("/placement/verdict"), "unknown");
    assert_eq!(pods(&ran), [1, 1, 0].map(Value::from));
    assert_eq!(ran.at("/totals/failed"), 1);
    assert_eq!(ran.at("/totals/pods"), 1);
    assert_eq!(ran.code, 1);
}

#[test]
fn running_pods_keep_their_nodes() {
    let pod = |gpus: i64, phase: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: x}}\nspec: {{nodeName: n1, containers: [{{name: c, image: i, resources: {{requests: {{nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}\nstatus: {{phase: {phase}}}\n"
        )
    };
    for (gpus, phase, verdict) in [
        (4, "Running", "fits"),
        (5, "Running", "does-not-fit"),
        (5, "Pending", "does-not-fit"),
        (5, "Succeeded", "fits"),
        (5, "Failed", "fits"),
    ] {
        let ran = plan(&(fleet(4, &["a"], &[8]) + &pod(gpus, phase)));
        assert_eq!(ran.at("/placement/verdict"), verdict, "{gpus} {phase}");
    }
}

#[test]
fn nodes_to_add_are_those_that_hold_what_waits() {
    for (gpus, services, nodes, expected) in [
        (8, &["a", "b"][..], &[8][..], json!([{"class": null, "nodes": 1, "like": "n1"}])),
        (8, &["a", "b", "c"], &[8], json!([{"class": null, "nodes": 2, "like": "n1"}])),
        (4, &["a", "b", "c", "d"], &[4], json!([{"class": null, "nodes": 3, "like": "n1"}])),
        (9, &["a"], &[8], json!([])),
        (8, &["a"], &[8], json!([])),
    ] {
        let ran = plan(&fleet(gpus, services, nodes));
        assert_eq!(ran.at("/placement/add"), expected, "{gpus} {services:?} {nodes:?}");
    }
}

#[test]
fn totals_are_those_of_the_least_replicas() {
    let input = catalog(2) + &service("a", "minReplicas: 3") + &service("b", "minReplicas: 0");
    let ran = plan(&input);
    assert_eq!(ran.at("/totals/services"), 2);
    assert_eq!(ran.at("/totals/pods"), 3);
    assert_eq!(ran.at("/totals/gpus/nvidia.com~1gpu"), 6);
    assert_eq!(ran.at("/totals/failed"), 0);
    assert_eq!(ran.at("/placement"), Value::Null);
}

#[test]
fn workloads_that_no_operator_writes_take_nodes_too() {
    let deployment = |replicas: i64, gpus: i64| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: x}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: i, resources: {{requests: {{nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}}}\n"
        )
    };
    for (replicas, gpus, verdict) in [(1, 4, "fits"), (2, 4, "does-not-fit"), (0, 8, "fits")] {
        let ran = plan(&(fleet(4, &["a"], &[8]) + &deployment(replicas, gpus)));
        assert_eq!(ran.at("/placement/verdict"), verdict, "{replicas} of {gpus}");
    }
}

/// A claim with `adminAccess` exists where its namespace allows it, and one claim finds room in the
/// quota, wherever the documents stand.
#[test]
fn the_order_of_documents_hides_no_claim() {
    let claim = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}, namespace: \
             ml}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
        )
    };
    let pod = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: ml}}, spec: \
             {{containers: [{{name: main, image: example/main}}], {spec}}}}}\n"
        )
    };
    let mounts = |name: &str| {
        let volume =
            format!("volumes: [{{name: v, persistentVolumeClaim: {{claimName: {name}}}}}]");
        pod(name, &volume)
    };
    let mut documents = [
        gpu_node("n1", 1, ""),
        "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n".into(),
        "{apiVersion: v1, kind: Namespace, metadata: {name: ml, labels: {resource.kubernetes.io/admin-access: 'true'}}}\n".into(),
        "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}\n".into(),
        "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}\n".into(),
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: all, namespace: ml}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, adminAccess: true}}]}}}\n".into(),
        pod("watch", "resourceClaims: [{name: all, resourceClaimName: all}]"),
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: ml}, spec: {hard: {persistentvolumeclaims: '1'}}}\n".into(),
        claim("one"),
        claim("two"),
        mounts("one"),
        mounts("two"),
    ];
    for turned in [false, true] {
        let ran = plan(&documents.join("---\n"));
        let names: Vec<String> = waiting(&ran).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Pod/ml/two"], "turned: {turned}");
        documents.reverse();
    }
}

#[test]
fn groups_of_a_model_serving_fit_one_by_one() {
    for (groups, gpus, node, fits) in [
        ("2", "4", 8, json!([true, true])),
        ("3", "4", 8, json!([true, true, false])),
        ("1", "9", 8, json!([false])),
    ] {
        let ran = plan(&(serving("s", groups, gpus) + &gpu_node("one", node, "")));
        let all = ran.at("/modelServings/0/groups");
        let found: Vec<Value> = all
            .as_array()
            .into_iter()
            .flatten()
            .map(|group| group["gang"]["fits"].clone())
            .collect();
        assert_eq!(Value::from(found), fits, "{groups} of {gpus}");
    }
}

/// Devices of pods that wait are booked on the class of the nearest node, if a node of it, empty,
/// could hold the pod.
#[test]
fn pods_that_wait_are_booked_where_they_could_run() {
    let class = "---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: h100}\nspec: {discovery: {nodeSelector: {kubernetes.io/hostname: one}}, resources: [{name: nvidia.com/gpu, quantity: \"1\"}], capabilities: {memoryGB: 80Gi}}\n";
    let busy = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {nodeName: one, containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}}]}\nstatus: {phase: Running}\n";
    for (gpus, booked) in [("4", Some(4)), ("8", Some(8)), ("9", None), ("16", None)] {
        let input = serving("s", "1", gpus) + &gpu_node("one", 8, "") + class + busy;
        let ran = plan(&input);
        assert_eq!(ran.at("/totals/byClass/h100/asked").as_i64(), booked, "{gpus}");
    }
}

#[test]
fn the_advice_names_each_step_once() {
    let of = |largest_first, packed, moves| {
        super::advice(super::Packing { largest_first, packed, moves, searched: false })
    };
    assert_eq!(of(false, false, false), "nothing to do");
    assert_eq!(of(true, false, false), "start the services with most GPUs first");
    assert_eq!(of(false, false, true), "let pods that run move");
    assert!(of(true, true, true).matches(", ").count() == 2);
}

fn deployment(name: &str, replicas: u64, spec: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{spec}containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n"
    )
}

/// A number that no cluster has says nothing about how many pods wait.
#[test]
fn a_workload_of_too_many_pods_waits_as_one() {
    for replicas in [1_000_000_000_000, 2_000_000_000] {
        let text = deployment("a", replicas, "") + &deployment("b", 1, "") + &gpu_node("n1", 8, "");
        let ran = ome("plan", &text);
        let last = ran.out.lines().last().unwrap_or_default();
        let expected = "✗ 2 pods and 1 GPU of other workloads; 1 pod stays without a node";
        assert_eq!(last, expected, "{}", ran.out);
        assert!(ran.out.contains(&replicas.to_string()), "{}", ran.out);
    }
}

fn queue(flavor: &str, checks: &str, quota: u64) -> String {
    format!(
        "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n{flavor}---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{{checks}namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: f, resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: lq, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
    )
}

fn job(pods: u64) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: lq}}}}\nspec: {{parallelism: {pods}, completions: {pods}, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n"
    )
}

#[test]
fn a_job_that_is_admitted_as_a_whole_gets_what_its_flavor_adds() {
    let nodes = gpu_node("n1", 8, "");
    for (flavor, code) in [("", 0), ("spec: {nodeLabels: {pool: x}}\n", 2)] {
        let ran = plan(&(job(2) + &queue(flavor, "", 8) + &nodes));
        assert_eq!(ran.code, code, "{flavor}: {}", ran.out);
    }
    let tainted = gpu_node("n1", 8, "taints: [{key: spot, value: 'true', effect: NoSchedule}]");
    let spot = "spec: {nodeTaints: [{key: spot, value: 'true', effect: NoSchedule}], tolerations: [{key: spot, operator: Exists}]}\n";
    assert_eq!(plan(&(job(2) + &queue(spot, "", 8) + &tainted)).code, 0);
    let checked = plan(&(job(2) + &queue("", "admissionChecks: [c], ", 8) + &nodes));
    assert_eq!(checked.at("/placement/verdict"), "unknown");
    assert_eq!(checked.at("/placement/notJudged/0/what"), "ClusterQueue `cq`");
}

#[test]
fn nodes_whose_taint_is_tolerated_are_allocatable() {
    let taint = "taints: [{key: spot, value: 'true', effect: NoSchedule}]";
    let text = catalog(1)
        + &service("a", "minReplicas: 1, tolerations: [{key: spot, operator: Exists}]")
        + &gpu_node("n1", 8, taint);
    let ran = ome("plan", &text);
    let row = ran.out.lines().find(|line| line.starts_with("nvidia.com/gpu")).unwrap_or_default();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["nvidia.com/gpu", "1", "8", "0", "7"], "{}", ran.out);
}

/// Pods of a group start when Kueue admits all of them.
#[test]
fn a_group_of_pods_is_admitted_together() {
    let pod = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/pod-group-name: g}}, annotations: {{kueue.x-k8s.io/pod-group-total-count: '2'}}}}\nspec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}\n"
        )
    };
    let nodes = gpu_node("n1", 8, "");
    for (pods, quota, expected) in [(&["a", "b"][..], 2, 0), (&["a", "b"], 1, 2), (&["a"], 2, 1)] {
        let text: String = pods.iter().map(|name| pod(name)).collect();
        let ran = plan(&(text + &queue("", "", quota) + &nodes));
        assert_eq!(waiting(&ran).len(), expected, "{pods:?} {quota}: {}", ran.out);
    }
}

/// Kueue makes no Workload of a group whose pods disagree about its size.
#[test]
fn a_group_of_pods_that_state_different_sizes_waits() {
    let pod = |name: &str, size: usize| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/pod-group-name: g}}, annotations: {{kueue.x-k8s.io/pod-group-total-count: '{size}'}}}}\nspec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}\n"
        )
    };
    let nodes = gpu_node("n1", 8, "");
    for (sizes, expected) in [([2, 2], 0), ([1, 2], 2), ([2, 1], 2)] {
        let text = pod("a", sizes[0]) + &pod("b", sizes[1]);
        let ran = plan(&(text + &queue("", "", 4) + &nodes));
        assert_eq!(waiting(&ran).len(), expected, "{sizes:?}: {}", ran.out);
    }
}

/// Another controller runs the pods of such a Job, or another cluster does.
#[test]
fn a_job_that_another_controller_manages_has_no_pods() {
    let job = |by: &str| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: ml}}\nspec: {{managedBy: {by}, template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    };
    let nodes = gpu_node("n1", 8, "");
    let wanted = |by: &str| plan(&(job(by) + &nodes)).at("/placement/pods/wanted");
    assert_eq!(wanted("kueue.x-k8s.io/multikueue"), 0);
    assert_eq!(wanted("kubernetes.io/job-controller"), 1);
}

/// An LLMInferenceService of two replicas with an endpoint picker, on a node of 64 processors.
fn with_picker(namespace: &str, presets: &str) -> String {
    let service = "---\napiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: llm, namespace: ml}\nspec: {model: {uri: 'hf://a/m', name: m}, replicas: 2, router: {scheduler: {}}, template: {containers: [{name: main, resources: {requests: {cpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}\n";
    format!("{}{service}{namespace}{presets}", gpu_node("n1", 8, ""))
}

/// Shipped configurations; the endpoint picker requests these processors.
fn presets(cpu: i64) -> String {
    let preset = |name: &str, spec: &str| {
        format!(
            "---\napiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {{name: kserve-config-llm-{name}, namespace: kserve}}\nspec: {spec}\n"
        )
    };
    preset("template", "{template: {containers: [{name: main, image: vllm}]}}")
        + &preset(
            "scheduler",
            &format!(
                "{{router: {{scheduler: {{template: {{containers: [{{name: main, image: epp, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}}}}}"
            ),
        )
}

#[test]
fn the_endpoint_picker_takes_room_beside_the_model() {
    for (cpu, pending) in [(1, 0), (62, 0), (63, 1)] {
        let ran = plan(&with_picker("", &presets(cpu)));
        let kinds: Vec<Value> =
            (0..2).map(|at| ran.at(&format!("/services/0/components/{at}/name"))).collect();
        assert_eq!(kinds, ["workload", "scheduler"], "{cpu}");
        assert_eq!(pods(&ran), [3, 3 - pending, pending].map(Value::from), "{cpu}");
        assert_eq!(ran.at("/totals/pods"), 3, "{cpu}");
    }
}

#[test]
fn what_unread_presets_would_set_is_no_ground_to_refuse_pods() {
    let namespace = |level: &str| {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: ml, labels: {{pod-security.kubernetes.io/enforce: {level}}}}}\n"
        )
    };
    for (level, presets, verdict) in [
        ("privileged", "", "fits"),
        ("restricted", "", "unknown"),
        ("baseline", "", "unknown"),
        ("restricted", &presets(1), "does-not-fit"),
    ] {
        let ran = plan(&with_picker(&namespace(level), presets));
        assert_eq!(ran.at("/placement/verdict"), verdict, "{level}");
        let what = ran.at("/placement/notJudged/0/what");
        assert_eq!(what == "namespace ml", verdict == "unknown", "{level}: {what}");
    }
}

#[test]
fn workers_of_kserve_stand_once_for_all_heads() {
    let input = |least: i64, nodes: i64| {
        gpu_node("n1", 8, "")
            + &format!(
                "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, namespace: ml}}\nspec: {{accessModes: [ReadWriteMany], resources: {{requests: {{storage: 1Gi}}}}}}\n---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: rt, namespace: ml}}\nspec:\n  supportedModelFormats: [{{name: huggingface, version: '1', autoSelect: true}}]\n  containers: [{{name: kserve-container, image: x, resources: {{limits: {{nvidia.com/gpu: '1'}}}}}}]\n  workerSpec: {{pipelineParallelSize: {nodes}, tensorParallelSize: 1, containers: [{{name: worker-container, image: x, resources: {{limits: {{nvidia.com/gpu: '1'}}}}}}]}}\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: ml, annotations: {{serving.kserve.io/deploymentMode: Standard, serving.kserve.io/autoscalerClass: none}}}}\nspec: {{predictor: {{minReplicas: {least}, model: {{modelFormat: {{name: huggingface}}, storageUri: 'pvc://c/m'}}, workerSpec: {{}}}}}}\n"
            )
    };
    for (least, nodes, pods) in [(1, 2, 2), (3, 2, 4), (3, 3, 5), (2, 4, 5), (0, 3, 2)] {
        let text = input(least, nodes);
        let ran = plan(&text);
        assert_eq!(ran.at("/totals/pods"), pods, "{least} {nodes} {}", ran.out);
        assert_eq!(ran.at("/totals/gpus/nvidia.com~1gpu"), pods, "{least} {nodes}");
        assert_eq!(self::pods(&ran), [pods, pods, 0].map(Value::from), "{least} {nodes}");
        let component = ran.at("/services/0/components/0");
        assert_eq!(component["podsPerReplica"], nodes, "{component}");
        assert_eq!(component["sharedPods"], nodes - 1, "{component}");
    }
    let row = |least| {
        let text = ome("plan", &input(least, 2)).out;
        let row = text.lines().find(|line| line.contains("predictor"));
        row.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
    };
    assert!(row(3).contains("3 2 (1 shared) 2 (1 shared)"), "{}", row(3));
    assert!(row(1).contains("1 2 2"), "{}", row(1));
}

#[test]
fn probers_of_ray_clusters_take_room() {
    let ray = "engineConfig:\n    annotations: {ome.io/deploymentMode: MultiNodeRayVLLM}\n";
    let catalog = catalog(8).replace("engineConfig:\n", ray);
    let service = service("a", "minReplicas: 2").replace(
        "{name: a, namespace: ml}",
        "{name: a, namespace: ml, annotations: {ome.io/ingress-disable-creation: 'true'}}",
    );
    let nodes: String = (1..=4).map(|at| gpu_node(&format!("n{at}"), 8, "")).collect();
    let ran = plan(&(catalog + &service + &nodes));
    let components = ran.at("/services/0/components");
    let names: Vec<&Value> =
        components.as_array().into_iter().flatten().map(|one| &one["name"]).collect();
    assert_eq!(names, ["engine", "prober"], "{}", ran.out);
    assert_eq!(components[1]["minReplicas"], 2);
    // Two clusters of head and worker, and a prober for each.
    assert_eq!(ran.at("/totals/pods"), 6);
    assert_eq!(ran.at("/totals/gpus/nvidia.com~1gpu"), 32);
    assert_eq!(pods(&ran), [6, 6, 0].map(Value::from));
}

#[test]
fn what_is_beside_a_service_in_error_is_unknown() {
    let broken = service("b", "minReplicas: 1").replace("name: rt", "name: other");
    let found = |more: &str| {
        let input = catalog(1) + &gpu_node("n1", 8, "") + &service("a", "minReplicas: 1") + more;
        let ran = plan(&input);
        (ran.at("/placement/verdict"), ran.at("/placement/notJudged/0/what"))
    };
    assert_eq!(found(""), ("fits".into(), Value::Null));
    assert_eq!(found(&broken), ("unknown".into(), "services in error".into()));
}

/// A claim of ReadWriteOncePod that a pod uses refuses every node (`VolumeRestrictions`): the reason is
/// that of the node with room, not the devices that another one lacks.
#[test]
fn a_claim_in_use_is_the_reason_where_a_node_has_room() {
    let claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\nspec: {accessModes: [ReadWriteOncePod], volumeName: v, resources: {requests: {storage: 1Gi}}}\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {accessModes: [ReadWriteOncePod], capacity: {storage: 1Gi}, claimRef: {namespace: ml, name: c}, csi: {driver: d, volumeHandle: h}}\n";
    let pod = |name: &str, node: &str, gpus: i64, more: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{{node}containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]{more}}}\nstatus: {{phase: Running}}\n"
        )
    };
    let uses = ", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";
    let input = claim.to_owned()
        + &pod("old", "nodeName: n1, ", 1, uses)
        + &pod("full", "nodeName: n2, ", 4, "")
        + &pod("new", "", 2, uses)
        + &gpu_node("n1", 8, "")
        + &gpu_node("n2", 4, "");
    let ran = plan(&input);
    assert_eq!(ran.at("/placement/pending/0/code"), "volume", "{}", ran.out);
    let text = ome("plan", &input);
    let reason = "n1: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod";
    assert!(text.out.contains(reason), "{}", text.out);
}

#[test]
fn explain_says_why_pods_are_not_judged() {
    let service = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {schedulerName: other, containers: [{name: kserve-container, image: x, resources: {limits: {cpu: 1, memory: 4Gi}}}]}}\n";
    let text = gpu_node("n1", 8, "") + service;
    let files = [("in.yaml", text.as_str())];
    let page = ome_on("explain s -n ml -f {in.yaml}", &files);
    assert!(page.out.contains("fits: ?\n") && page.out.contains("not judged: "), "{}", page.out);
    assert!(!page.out.contains("would fit"), "{}", page.out);
    let plan = ome_on("plan -o json -f {in.yaml}", &files);
    let why = plan.at("/services/0/components/0/placement/notJudged").to_string();
    assert!(why.contains("other"), "{}", plan.out);
}

/// The node that explains why a pod waits is one that it selects: others are refused for their taint
/// before their labels are looked at.
#[test]
fn the_nearest_node_is_one_that_the_pod_selects() {
    let node = |name: &str, label: &str, taint: &str| {
        gpu_node(name, 8, &format!("taints: [{{key: {taint}, effect: NoSchedule}}]"))
            .replace("labels: {", &format!("labels: {{{label}: a, "))
    };
    let job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ml}\nspec: {template: {spec: {restartPolicy: Never, nodeSelector: {here: a}, containers: [{name: c, image: x}]}}}\n";
    let text = node("a", "there", "one") + &node("b", "here", "two") + job;
    let ran = ome_on("plan -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.out.contains("1 pod without a node (b: two"), "{}{}", ran.out, ran.err);
    // Of those, one that only lacks its volume.
    let volume = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: l, claimRef: {namespace: ml, name: c}, local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [z]}]}]}}}\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}\nspec: {accessModes: [ReadWriteOnce], storageClassName: l, volumeName: v, resources: {requests: {storage: 1Gi}}}\n";
    let job = job.replace(
        "nodeSelector: {here: a}",
        "volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]",
    );
    let text = node("a", "there", "one") + &gpu_node("b", 8, "") + volume + &job;
    let ran = ome_on("plan -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.out.contains("1 pod without a node (b: "), "{}{}", ran.out, ran.err);
}

/// Pods that a server refuses wait for no node, and the sentence about nodes does not say that they do.
#[test]
fn nodes_would_take_pods_that_are_refused() {
    let text = gpu_node("n1", 8, "")
        + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {pod-security.kubernetes.io/enforce: restricted}}\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {model: {modelFormat: {name: sklearn}, storageUri: 's3://a/b'}}}\n";
    let ran = ome_on("explain a -f {in.yaml}", &[("in.yaml", &text)]);
    assert!(ran.out.contains("0 of 1 pod; 1 of 1 node would take one"), "{}{}", ran.out, ran.err);
}
