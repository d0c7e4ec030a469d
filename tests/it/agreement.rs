//! Agreement of commands: an input that one command rejects or cannot find is not accepted by the
//! others.

use crate::diff::Scratch;
use crate::process::Folder;
use serde_json::Value;

const CATALOG: &str = "\
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: m}
spec:
  modelFormat: {name: safetensors, version: '1.0.0'}
  modelArchitecture: FooForCausalLM
  modelParameterSize: 7B
  storage: {storageUri: 's3://x'}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  supportedModelFormats:
  - {modelFormat: {name: safetensors, version: '1.0.0'}, modelArchitecture: FooForCausalLM, autoSelect: true, priority: 1}
  engineConfig:
    runner:
      name: ome-container
      image: 'x:1'
      resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 2}}
  routerConfig:
    runner: {name: router, image: 'r:1', resources: {limits: {cpu: 1}, requests: {cpu: 1}}}
";

/// A service of a namespace, with more of its spec.
fn service(namespace: &str, name: &str, more: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: \
         {namespace}}}\nspec: {{model: {{name: m}}, {more}}}\n---\n"
    )
}

/// A node with 8 GPUs, and one without; the taint is that of the first.
fn nodes(taint: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: g1}}\nspec: {{taints: [{taint}]}}\nstatus: \
         {{allocatable: {{cpu: '100', memory: 1000Gi, pods: '110', nvidia.com/gpu: '8'}}}}\n---\n\
         apiVersion: v1\nkind: Node\nmetadata: {{name: c1}}\nstatus: {{allocatable: {{cpu: '8', \
         memory: 100Gi, pods: '110'}}}}\n---\n"
    )
}

/// Files that were rendered, with their content.
fn files(folder: &Folder) -> Vec<(String, String)> {
    let names = folder.names("out/ml/s");
    names.into_iter().map(|name| (folder.read(&format!("out/ml/s/{name}")), name)).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn pods_that_the_server_refuses_fit_nowhere() {
    let unequal = "engine: {minReplicas: 1, runner: {name: ome-container, resources: \
                   {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}}}";
    let half = "engine: {minReplicas: 1, runner: {name: ome-container, resources: \
                {limits: {nvidia.com/gpu: 0.5}, requests: {nvidia.com/gpu: 0.5}}}}";
    for (spec, why) in
        [(unequal, "must be equal to nvidia.com/gpu limit of 2"), (half, "must be an integer")]
    {
        let text = [&service("ml", "s", spec), &nodes("")[..], CATALOG].concat();
        let folder = Folder::new(&[("in.yaml", &text)]);
        for call in ["plan -f .", "explain -f .", "rollout s -f ."] {
            let done = folder.ome(call);
            assert!(done.stdout.contains(why), "{call}: {done:?}");
            assert_ne!(done.exit, Some(0), "{call}: {done:?}");
        }
        let plan = json(&folder.ome("plan -f . -o json").stdout);
        let engine = &plan["services"][0]["components"][0];
        assert_eq!(engine["fits"], false, "{engine}");
        assert_eq!(engine["placement"]["reason"]["code"], "invalid", "{engine}");
    }
}

#[test]
fn a_service_that_is_not_rendered_is_in_error_in_the_plan() {
    let text = CATALOG.replace("image: 'x:1'", "image: 'x:1'\n      args: ['{{ nosuch }}']");
    let text = [&service("ml", "s", "engine: {minReplicas: 1}"), &text[..]].concat();
    let folder = Folder::new(&[("in.yaml", &text)]);
    let render = folder.ome("render -f .");
    assert!(render.stderr.contains("not rendered: ml/s"), "{render:?}");
    let plan = folder.ome("plan -f . -o json");
    let found = json(&plan.stdout);
    assert_eq!(found["services"][0]["error"]["code"], "template-invalid", "{plan:?}");
    assert_eq!(found["totals"]["failed"], 1, "{plan:?}");
    assert_eq!((render.exit, plan.exit), (Some(1), Some(1)));
}

#[test]
fn a_service_that_the_webhook_rejects_is_in_error_in_every_command() {
    for (annotation, message) in [
        ("ome.io/autoscalerClass: vpa", "[vpa] is not a supported autoscaler class type"),
        (
            "ome.io/autoscalerClass: keda, autoscaling.keda.sh/threshold: ten",
            "invalid KEDA scaling threshold \"ten\": must be a valid number",
        ),
        (
            "ome.io/targetUtilizationPercentage: '101'",
            "the target utilization percentage should be a [1-100] integer",
        ),
    ] {
        let text = service("ml", "s", "engine: {minReplicas: 1}")
            .replace("namespace: ml", &format!("namespace: ml, annotations: {{{annotation}}}"));
        let folder = Folder::new(&[("in.yaml", &[&text, CATALOG].concat())]);
        for call in ["plan", "explain", "render", "validate"] {
            let done = folder.ome(&format!("{call} -f . --semantics controller"));
            let output = [done.stdout.as_str(), &done.stderr].concat();
            assert!(output.contains(message), "{call}: {done:?}");
            assert_eq!(output.matches(message).count(), 1, "{call}: {done:?}");
            let exit = if call == "validate" { 2 } else { 1 };
            assert_eq!(done.exit, Some(exit), "{call}: {done:?}");
        }
    }
}

#[test]
fn replicas_that_are_no_number_are_not_counted() {
    for written in ["'2'", "1.5", "99999999999999999999999", "-1"] {
        let text =
            [&service("ml", "s", &format!("engine: {{minReplicas: {written}}}")), CATALOG].concat();
        let folder = Folder::new(&[("in.yaml", &text)]);
        let plan = folder.ome("plan -f .");
        assert!(plan.stdout.contains("1 component not counted"), "{written}: {plan:?}");
        assert_eq!(plan.exit, Some(1), "{written}: {plan:?}");
    }
    let many = service("ml", "s", "engine: {minReplicas: 2147483647}");
    let text = [&many, &nodes("")[..], CATALOG].concat();
    let done = Folder::new(&[("in.yaml", &text)]).ome("rollout s -f .");
    assert!(done.stdout.contains("2147483647 pods are not simulated"), "{done:?}");
    assert_eq!(done.exit, Some(2), "{done:?}");
}

#[test]
fn pods_without_devices_do_not_tolerate_the_taints_of_devices() {
    let spec = "engine: {minReplicas: 1}, router: {minReplicas: 1}";
    let tainted = |key: &str| nodes(&format!("{{key: {key}, value: present, effect: NoSchedule}}"));
    for (key, engine, example) in
        [("nvidia.com/gpu", 4, Value::Null), ("dedicated", 0, "g1".into())]
    {
        let text = [&service("ml", "s", spec), &tainted(key)[..], CATALOG].concat();
        let plan = json(&Folder::new(&[("in.yaml", &text)]).ome("plan -f . -o json").stdout);
        let components = &plan["services"][0]["components"];
        assert_eq!(components[0]["fitsReplicas"], engine, "{key}");
        assert_eq!(components[1]["fitsReplicas"], 8, "{key}: only the node without the taint");
        // The node that has GPUs is nearer than the one without any.
        assert_eq!(components[0]["placement"]["reason"]["example"]["node"], example, "{key}");
    }
}

#[test]
fn pods_that_an_autoscaler_added_hold_their_nodes() {
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, labels: \
             {{ome.io/inferenceservice: a, component: engine}}}}\nspec: {{nodeName: g1, containers: \
             [{{name: c, resources: {{limits: {{nvidia.com/gpu: 2}}, requests: {{nvidia.com/gpu: 2}}}}}}]}}\n\
             status: {{phase: Running}}\n---\n"
        )
    };
    // Three of 2 GPUs run where one is the minimum; the new service needs 4 of the 2 that are left.
    let text = [
        &service("ml", "a", "engine: {minReplicas: 1, maxReplicas: 3}"),
        &service("ml", "b", "engine: {minReplicas: 2}"),
        &pod("a-1")[..],
        &pod("a-2"),
        &pod("a-3"),
        &nodes(""),
        CATALOG,
    ]
    .concat();
    let plan = Folder::new(&[("in.yaml", &text)]).ome("plan -f . -o json");
    let found = json(&plan.stdout);
    assert_eq!(found["placement"]["verdict"], "does-not-fit", "{plan:?}");
    assert_eq!(plan.exit, Some(2));
}

#[test]
fn a_name_of_several_namespaces_is_no_answer() {
    let spec = "engine: {minReplicas: 1}";
    let text =
        [&service("a", "s", spec), &service("b", "s", spec), &nodes("")[..], CATALOG].concat();
    let folder = Folder::new(&[("in.yaml", &text)]);
    for (call, help) in [
        ("rollout s -f .", "write `a/s`, or name a namespace with `-n`"),
        ("why Deployment/s-engine spec.replicas -f .", "write `Deployment/a/s-engine`"),
        ("plan s -n c -f .", "`s` is in namespace `a`: write `a/s`"),
    ] {
        let done = folder.ome(call);
        assert_eq!(done.exit, Some(1), "{call}: {done:?}");
        assert!(done.stderr.contains(help), "{call}: {done:?}");
    }
    for call in
        ["rollout b/s -f .", "rollout s -n b -f .", "why Deployment/b/s-engine spec.template -f ."]
    {
        let done = folder.ome(call);
        assert_eq!(done.exit, Some(0), "{call}: {done:?}");
    }
}

#[test]
fn nodes_of_either_side_count_in_a_rollout() {
    let before =
        [&service("ml", "s", "engine: {minReplicas: 4}"), &nodes("")[..], CATALOG].concat();
    let after = [
        &service(
            "ml",
            "s",
            "engine: {minReplicas: 4, runner: {name: ome-container, image: 'x:2'}}",
        ),
        CATALOG,
    ]
    .concat();
    let folder = Folder::new(&[("before.yaml", &before), ("after.yaml", &after)]);
    let done = folder.ome("rollout s --base before.yaml -f after.yaml");
    assert!(done.stdout.contains("✗ stuck: s-engine"), "{done:?}");
    assert_eq!(done.exit, Some(2), "{done:?}");
}

#[test]
fn an_input_without_services_removes_nothing() {
    let full = [&service("ml", "s", "engine: {minReplicas: 1}"), CATALOG].concat();
    let folder = Folder::new(&[
        ("in/in.yaml", &full),
        ("catalog/catalog.yaml", CATALOG),
        ("typo/in.yaml", &full.replace("ome.io/v1beta1\nkind: Inf", "omee.io/v1beta1\nkind: Inf")),
    ]);
    assert_eq!(folder.ome("render -f in -o dir=out").exit, Some(0));
    let written = files(&folder);
    assert!(written.len() > 3, "{written:?}");
    for (call, why) in [
        ("render -f catalog -o dir=out", "the input has no service"),
        ("render -f typo -o dir=out", "did you mean `ome.io/v1beta1`?"),
    ] {
        let done = folder.ome(call);
        assert_eq!(done.exit, Some(1), "{call}: {done:?}");
        assert!(done.stderr.contains("nothing-removed"), "{call}: {done:?}");
        assert!(done.stderr.contains(why), "{call}: {done:?}");
        assert_eq!(files(&folder), written, "{call}");
    }
    let done = folder.ome("render -f catalog -o dir=out --force");
    assert_eq!((done.exit, done.stdout.as_str()), (Some(0), ""), "{done:?}");
    assert!(done.stderr.contains("removed from out:"), "{done:?}");
    assert!(done.stderr.contains("files of ml/s"), "{done:?}");
}

#[test]
fn what_cannot_be_read_is_no_empty_answer() {
    let full = [&service("ml", "s", "engine: {minReplicas: 1}"), CATALOG].concat();
    let folder = Folder::new(&[
        ("in.yaml", &full),
        ("null.yaml", "apiVersion: v1\nkind: List\nitems:\n"),
        ("broken.ome-test.yaml", "name: [\n"),
        ("empty.yaml", ""),
        ("comments.yaml", "# later\n---\n"),
    ]);
    for (call, said) in [
        ("catalog list -f nosuch", "file-not-read"),
        ("validate nosuch", "file-not-read"),
        ("drift -f nosuch", "file-not-read"),
        ("drift -f in.yaml --live nosuch", "file-not-read"),
        ("plan -f in.yaml --model-configs nosuch", "`nosuch` of `--model-configs`"),
        ("plan -f in.yaml --hf-cache=nosuch", "`nosuch` of `--hf-cache`"),
        ("plan -f null.yaml", "empty-input"),
        ("plan -f empty.yaml", "`empty.yaml` holds no object"),
        ("plan -f empty.yaml -f comments.yaml", "`empty.yaml`, `comments.yaml` hold no object"),
    ] {
        let done = folder.ome(call);
        assert_eq!(done.exit, Some(1), "{call}: {done:?}");
        assert!((done.stderr + &done.stdout).contains(said), "{call}");
    }
    let done = folder.ome("test -o junit broken.ome-test.yaml");
    assert!(done.stdout.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{done:?}");
}

/// A ModelServing of `groups` groups, of which `partition` are protected.
fn model_serving(image: u32, groups: u32, partition: u32) -> String {
    let template = |gpus: u32| {
        format!(
            "{{spec: {{containers: [{{name: c, image: 'i:{image}', resources: {{limits: \
             {{nvidia.com/gpu: {gpus}}}, requests: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}"
        )
    };
    let [entry, worker] = [4, 2].map(template);
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: \
         pd, namespace: t}}\nspec:\n  replicas: {groups}\n  rolloutStrategy: {{type: \
         ServingGroupRollingUpdate, rollingUpdateConfiguration: {{partition: \
         {partition}}}}}\n  template:\n    roles:\n    - {{name: prefill, replicas: 1, \
         workerReplicas: 0, entryTemplate: {entry}}}\n    - {{name: decode, replicas: 2, \
         workerReplicas: 1, entryTemplate: {entry}, workerTemplate: {worker}}}\n"
    )
}

#[test]
fn diff_counts_the_pods_that_a_rollout_recreates() {
    for (partition, documented) in [(0, 15), (1, 10), (3, 0)] {
        let folder = Folder::new(&[
            ("before.yaml", &model_serving(1, 3, partition)),
            ("after.yaml", &model_serving(2, 3, partition)),
        ]);
        for profile in ["", "--kthena-profile head", "--kthena-profile v1.0"] {
            let json = |call: &str| -> Value {
                let done = folder.ome(format!("{call} -o json {profile}").trim_end());
                serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"))
            };
            let diff = json("diff --base before.yaml -f after.yaml");
            let rollout = json("rollout pd --from before.yaml -f after.yaml");
            let pods = &rollout["podsRestarted"];
            assert!(pods.is_u64(), "{rollout}");
            assert_eq!(&diff["summary"]["podsRestarted"], pods, "{profile}, partition {partition}");
            assert!(!profile.is_empty() || *pods == documented, "{partition}: {pods}");
            let restart = &diff["summary"]["restarts"];
            assert_eq!(*restart == 0, *pods == 0, "{profile}, partition {partition}");
        }
    }
}

#[test]
fn a_refused_model_serving_is_marked_in_every_command() {
    let text = model_serving(1, 1, 0);
    let (above, _) = text.split_once("    roles:").expect("it has roles");
    let folder = Folder::new(&[("in.yaml", &format!("{above}    roles: []\n"))]);
    for (call, mark) in [
        ("plan -f in.yaml", "✗ invalid-value"),
        ("explain pd -f in.yaml", "✗ invalid-value"),
        ("render -f in.yaml", "not rendered"),
    ] {
        let done = folder.ome(call);
        assert_eq!(done.exit, Some(1), "{call}: {done:?}");
        assert!((done.stdout + &done.stderr).contains(mark), "{call}");
    }
}

/// The table of devices, the last sentence and the placement have the same pods.
#[test]
fn devices_of_other_workloads_are_in_use() {
    let scratch = Scratch::new("others-in-use");
    let job = |gpus: u32| {
        format!(
            "apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: a}}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: x, image: server, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]
---
apiVersion: v1
kind: Node
metadata: {{name: node-a}}
status:
  allocatable: {{nvidia.com/gpu: '8', cpu: '64', memory: 100Gi, pods: '100'}}
  conditions: [{{type: Ready, status: 'True'}}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {{name: c}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {{name: t}}
"
        )
    };
    for (gpus, row, last) in [
        (
            2,
            "nvidia.com/gpu  0          8            4       4",
            "✓ 2 pods and 4 GPUs of other workloads; all pods fit the nodes",
        ),
        (
            5,
            "nvidia.com/gpu  0          8            5       3",
            "✗ 2 pods and 10 GPUs of other workloads; 1 pod stays without a node",
        ),
    ] {
        scratch.write("in.yaml", &job(gpus));
        let page = scratch.ome(&["plan", "-f", "in.yaml", "--no-config"]).stdout;
        assert!(page.contains(row), "{page}");
        assert!(page.trim_end().ends_with(last), "{page}");
        assert!(page.contains("1 Topology (t)"), "{page}");
    }
}
