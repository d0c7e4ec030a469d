//! Numbers out of range: every command that reads one reports it with the value and the range, and
//! none counts it.

use super::process::{Call, Done, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const CATALOG: &str = "apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: m}
spec:
  modelFormat: {name: safetensors, version: '1.0.0'}
  modelFramework: {name: transformers, version: '4.0.0'}
  modelArchitecture: Qwen2ForCausalLM
  modelParameterSize: 7B
  storage: {storageUri: 'hf://a/b', path: /m}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: r}
spec:
  supportedModelFormats:
  - {modelFormat: {name: safetensors, version: '1.0.0'}, modelFramework: {name: transformers, version: '4.0.0'}, modelArchitecture: Qwen2ForCausalLM, autoSelect: true, priority: 1}
  engineConfig:
    runner: {name: ome-container, image: i, resources: {limits: {cpu: 1}}}
";
const SERVICE: &str = "---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: s, namespace: d}
spec:
  model: {name: m}
  runtime: {name: r}
  engine: {ENGINE}
";
const QUEUE: &str = "---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: VALUE}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: q, namespace: d}
spec: {clusterQueue: q}
";
const CLASS: &str = "---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: c}
spec:
  vendor: nvidia
  discovery: {nodeSelector: {a: b}}
  capabilities: {memoryGB: MEMORY}
  resources: [{name: nvidia.com/gpu, quantity: QUANTITY}]
  cost: {perHour: COST}
";
const SERVING: &str = "---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: g, namespace: d}
spec:
  schedulerName: volcano
  template:
    roles:
    - name: decode
      workerReplicas: 0
      entryTemplate: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: VALUE}}}]}}
";

fn ome(args: &[&str], input: &str) -> Done {
    let call = Call {
        args: args.iter().map(ToString::to_string).collect(),
        stdin: input,
        directory: Path::new(env!("CARGO_MANIFEST_DIR")),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    run(&call).expect("it ends within a minute")
}

/// Every command.
const ALL: &[&str] = &["plan", "explain", "render", "validate", "matrix", "discover"];
/// Those that read services: a matrix is of models, runtimes and classes.
const SERVICES: &[&str] = &["plan", "explain", "render", "validate"];
/// Those that read where pods are.
const PODS: &[&str] = &["plan", "explain", "validate", "discover"];
/// Those that read queues: classes are discovered from nodes and their pods.
const QUEUES: &[&str] = &["plan", "explain", "render", "validate", "matrix"];

/// An input with one wrong number, the code of its finding, the end of its range, and the commands
/// that read the number.
fn wrong() -> Vec<(String, &'static str, &'static str, &'static [&'static str])> {
    let service = |engine: &str| format!("{CATALOG}{}", SERVICE.replace("ENGINE", engine));
    let devices = "from 0 to 1000000";
    let amounts = "from 0 to 9223372036854775807";
    let mut out = Vec::new();
    for gpus in ["1e30", "9223372036854775808", "-4", "1500m", "10000000000000"] {
        let limits = format!("resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}");
        let engine = format!("runner: {{name: ome-container, {limits}}}");
        out.push((service(&engine), "invalid-quantity", devices, SERVICES));
        out.push((SERVING.replace("VALUE", gpus), "invalid-quantity", devices, SERVICES));
        let node = |gpus: &str| {
            format!(
                "---\napiVersion: v1\nkind: Node\nmetadata: {{name: node-a}}\nstatus: {{capacity: {{nvidia.com/gpu: {gpus}}}}}\n"
            )
        };
        out.push((service("") + &node(gpus), "invalid-quantity", devices, ALL));
        let pod = format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: i, {limits}}}]}}\n"
        );
        out.push((service("") + &node("8") + &pod, "invalid-quantity", devices, PODS));
    }
    for replicas in ["-3", "2147483648", "9223372036854775807"] {
        for field in ["minReplicas", "maxReplicas"] {
            let engine = format!("{field}: {replicas}");
            out.push((service(&engine), "invalid-value", "from 0 to 2147483647", SERVICES));
        }
        let engine = format!("leader: {{}}, worker: {{size: {replicas}}}");
        out.push((service(&engine), "invalid-value", "from 0 to 2147483647", SERVICES));
    }
    for amount in ["-1", "1e30"] {
        for (field, range) in [("MEMORY", amounts), ("QUANTITY", devices), ("COST", amounts)] {
            let class = CLASS.replace(field, amount);
            let class = ["MEMORY", "QUANTITY", "COST"]
                .iter()
                .fold(class, |text, other| text.replace(other, "'8'"));
            out.push((service("") + &class, "invalid-quantity", range, ALL));
        }
        let queue = service("") + &QUEUE.replace("VALUE", amount);
        out.push((queue, "invalid-quantity", amounts, QUEUES));
    }
    out
}

/// Numbers of a plan that no fleet has.
fn absurd(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => {
            found.extend(number.as_f64().filter(|number| !(0.0..=1e12).contains(number)));
        }
        Value::Array(items) => items.iter().for_each(|item| absurd(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| absurd(field, found)),
        _ => {}
    }
}

#[test]
fn invalid_numbers_are_reported_and_not_added_to_totals() {
    for (input, code, range, readers) in wrong() {
        for semantics in ["documented", "controller"] {
            let common = ["-f", "-", "--no-builtin", "--semantics", semantics];
            for command in ALL {
                let done = ome(&[&[*command], &common[..]].concat(), &input);
                let said = format!("{}{}", done.stdout, done.stderr).replace("\n  │ ", " ");
                let reads = readers.contains(command);
                assert_eq!(
                    said.contains(code) && said.contains(range),
                    reads,
                    "{command} {semantics}: {input}\n{said}"
                );
                if semantics == "documented" && reads {
                    assert_ne!(done.exit, Some(0), "{command}: {input}");
                }
            }
            let done = ome(&[&["plan", "-o", "json"], &common[..]].concat(), &input);
            let plan: Value = serde_json::from_str(&done.stdout).expect("a plan is JSON");
            let mut found = Vec::new();
            absurd(&plan["services"], &mut found);
            absurd(&plan["totals"], &mut found);
            absurd(&plan["modelServings"], &mut found);
            assert_eq!(found, [0.0; 0], "{semantics}: {input}");
        }
    }
}

/// As many pods as a workload may state are not made one by one.
#[test]
fn a_workload_of_very_many_pods_is_not_placed() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\nstatus: {capacity: {nvidia.com/gpu: 8}}\n---\n";
    let template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}";
    for (head, spec) in [
        ("apps/v1\nkind: Deployment", format!("replicas: 2147483647, {template}")),
        ("apps/v1\nkind: StatefulSet", format!("replicas: 2147483647, {template}")),
        (
            "leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet",
            format!(
                "replicas: 1000000, leaderWorkerTemplate: {{size: 2000, worker{}}}",
                template.replacen('t', "T", 1)
            ),
        ),
    ] {
        let input = format!(
            "{node}apiVersion: {head}\nmetadata: {{name: many}}\nspec: {{selector: {{matchLabels: {{a: b}}}}, {spec}}}\n"
        );
        let done = ome(&["plan", "-f", "-"], &input);
        assert!(done.stdout.contains("pods are not placed"), "{input}{done:?}");
    }
    let engine = "minReplicas: 1, maxReplicas: 2147483647, runner: {name: ome-container, resources: {limits: {nvidia.com/gpu: 1}}}";
    let input = format!("{node}{CATALOG}{}", SERVICE.replace("ENGINE", engine));
    let done = ome(&["plan", "-f", "-", "--no-builtin", "--at", "max"], &input);
    assert!(done.stdout.contains("pods are not placed"), "{done:?}");
}

#[test]
fn an_overflowing_product_is_not_counted() {
    let engine = "minReplicas: 2147483647, maxReplicas: 2147483647, runner: {name: ome-container, resources: {limits: {nvidia.com/gpu: 1000000}}}";
    let input = format!("{CATALOG}{}", SERVICE.replace("ENGINE", engine));
    let done = ome(&["plan", "-f", "-", "--no-builtin", "-o", "json"], &input);
    let plan: Value = serde_json::from_str(&done.stdout).expect("a plan is JSON");
    assert_eq!(plan["totals"]["notCounted"], 1, "{plan:#}");
    assert_eq!(plan["totals"]["gpus"]["nvidia.com/gpu"], 0);
    let found = plan["findings"].as_array().expect("findings are a list");
    assert!(
        found.iter().any(|finding| finding["code"] == "not-counted"
            && finding["message"].as_str().is_some_and(|said| said.contains("1000000000000"))),
        "{found:#?}"
    );
    let done = ome(&["plan", "-f", "-", "--no-builtin"], &input);
    assert!(done.stdout.contains("1 component not counted"), "{}", done.stdout);
    assert!(done.stderr.contains("lower the replicas of the engine"), "{}", done.stderr);
}

/// A number out of its range is one finding of `validate`, at the number.
#[test]
fn validate_reports_a_number_that_is_not_counted_once() {
    for (engine, expected) in [
        ("minReplicas: 99999999999", "invalid-value"),
        (
            "minReplicas: 2147483647, maxReplicas: 2147483647, runner: {name: ome-container, resources: {limits: {nvidia.com/gpu: 1000000}}}",
            "not-counted",
        ),
    ] {
        let input = format!("{CATALOG}{}", SERVICE.replace("ENGINE", engine));
        let done = ome(&["validate", "-f", "-", "--no-builtin", "-o", "json"], &input);
        let page: Value = serde_json::from_str(&done.stdout).expect("it is JSON");
        let found = page["findings"].as_array().expect("findings are a list");
        let codes = found.iter().filter_map(|finding| finding["code"].as_str());
        let codes: Vec<&str> =
            codes.filter(|code| ["invalid-value", "not-counted"].contains(code)).collect();
        assert_eq!(codes, [expected], "{engine}: {}", done.stdout);
    }
}

const KSERVE: &str = "apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: rt, namespace: team}
spec:
  supportedModelFormats: [{name: f, version: '1'}]
  containers: [{name: kserve-container, image: i}]
  workerSpec:
    containers: [{name: worker-container, image: i, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: s, namespace: team, LABELSannotations: {serving.kserve.io/deploymentMode: MODE}}
spec: SPEC
STATUS
";

/// Sums and products of numbers as large as YAML has them: an answer or an error, never a crash.
#[test]
fn no_number_of_64_bits_ends_a_command() {
    const MOST: &str = "9223372036854775807";
    let model = |more: &str| {
        format!("model: {{modelFormat: {{name: f}}, storageUri: 'pvc://a/b', runtime: rt{more}}}")
    };
    let kserve = |labels: &str, mode: &str, spec: &str, status: &str| {
        let text = KSERVE.replace("LABELS", labels).replace("MODE", mode);
        text.replace("SPEC", spec).replace("STATUS", status)
    };
    let gpus = ", resources: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 2}}";
    let nodes =
        format!("{{predictor: {{workerSpec: {{pipelineParallelSize: {MOST}}}, {}}}}}", model(gpus));
    let canary = |name: &str, numbers: &str| {
        format!("{{{numbers}predictor: {{name: {name}, minReplicas: {MOST}, {}}}}}", model(""))
    };
    let canaries = format!(
        "{{predictor: {{minReplicas: {MOST}, maxReplicas: {MOST}, {}}}, canary: [{}, {}]}}",
        model(""),
        canary("c", &format!("trafficPercent: {MOST}, ")),
        canary("d", "trafficPercent: -9223372036854775808, ")
    );
    let traffic =
        format!("{{predictor: {{canaryTrafficPercent: -9223372036854775808, {}}}}}", model(""));
    let timeouts = format!(
        "{{predictor: {{timeout: {MOST}, {}}}, transformer: {{timeout: {MOST}, containers: [{{name: t, image: i}}]}}}}",
        model("")
    );
    let open_shift =
        "labels: {networking.kserve.io/visibility: exposed, opendatahub.io/dashboard: 'true'}, ";
    let booster = "apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: b, namespace: team}
spec:
  backend:
    {name: be, type: vLLM, modelURI: 'hf://a/b', cacheURI: 'hostpath:///c', replicas: 1, workers: [{type: server, image: i, replicas: 1, pods: -9223372036854775808}]}
";
    let raw = "RawDeployment";
    for input in [
        kserve("", raw, &nodes, ""),
        kserve("", raw, &canaries, ""),
        kserve(open_shift, raw, &canaries, ""),
        kserve(open_shift, raw, &timeouts, ""),
        kserve(
            "",
            "Serverless",
            &traffic,
            "status: {components: {predictor: {latestRolledoutRevision: s-1}}}",
        ),
        booster.to_owned(),
    ] {
        for command in ["plan", "render", "validate"] {
            let done = ome(&[command, "-A", "-f", "-", "--no-builtin"], &input);
            assert!(!done.stderr.contains("internal error"), "{command}: {input}{done:?}");
        }
    }
}
