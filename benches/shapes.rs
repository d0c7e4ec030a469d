//! Inputs that are long in one way, each at two sizes: the table of docs/limits.md.
//!
//! `cargo bench --bench shapes [NAME]`. A product of two sides is measured with half of each. Every measurement is a process of its own: CPU time and the
//! most memory at once, by /proc, so that it needs Linux. Growth is that of the CPU time when the
//! input is twice as long. `write DIRECTORY [NAME]` writes the inputs and their commands instead.

#![expect(clippy::disallowed_methods, reason = "a benchmark writes its input")]
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use ome::cli::{self, Io};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// An input that is as long as asked, and what is done with it.
struct Shape {
    name: &'static str,
    /// How long it is, on each of two sides where it is a product: the cost of one side is measured
    /// with the other at its whole length. The second is 1 where there is none.
    sizes: [usize; 2],
    files: fn(usize, usize) -> Vec<(&'static str, String)>,
    verb: &'static [&'static str],
}

const MODEL: &str = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec: {modelFormat: {name: safetensors}, modelFramework: {name: transformers, version: 4.51.0}, modelArchitecture: LlamaForCausalLM, modelParameterSize: 8B, storage: {storageUri: 'hf://a/b'}}\n---\n";

/// So many texts, each made from its number.
fn many(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

fn runtime(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {{name: {name}}}\nspec:\n  supportedModelFormats:\n  - {{modelFormat: {{name: safetensors}}, modelFramework: {{name: transformers, version: 4.51.0}}, modelArchitecture: LlamaForCausalLM, autoSelect: true, priority: 1}}\n{spec}---\n"
    )
}

fn service(name: &str, metadata: &str, engine: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: {name}\n  namespace: b\n{metadata}spec:\n  model: {{name: m}}\n  runtime: {{name: r}}\n  engine:\n    minReplicas: 1\n{engine}---\n"
    )
}

/// A service over a runtime whose runners both have this.
fn merged(lower: &str, upper: &str) -> String {
    let runner =
        |lines: &str| format!("runner:\n      name: ome-container\n      image: i\n{lines}");
    let spec = format!("  engineConfig:\n    {}", runner(lower));
    MODEL.to_owned() + &runtime("r", &spec) + &service("a", "", &format!("    {}", runner(upper)))
}

fn variables(count: usize, value: &str) -> String {
    let lines = many(count, |at| format!("      - {{name: V{at}, value: '{value}{at}'}}\n"));
    format!("      env:\n{lines}")
}

fn ports(count: usize) -> String {
    let lines = many(count, |at| format!("      - {{name: p{at}, containerPort: {}}}\n", at + 1));
    format!("      ports:\n{lines}")
}

fn flags(count: usize, value: &str) -> String {
    format!("      args:\n{}", many(count, |at| format!("      - --flag{at}={value}\n")))
}

fn labels(count: usize, value: &str) -> String {
    format!("  labels:\n{}", many(count, |at| format!("    l{at}: {value}{at}\n")))
}

fn node(at: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: node{at}, labels: {{gpu: h100}}}}\nstatus: {{allocatable: {{nvidia.com/gpu: '8', cpu: '64', memory: 512Gi}}}}\n---\n"
    )
}

fn class(at: usize, selector: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: class{at}}}\nspec: {{vendor: nvidia, model: H100, discovery: {{nodeSelector: {{{selector}}}}}, capabilities: {{memoryGB: 80Gi}}, resources: [{{name: nvidia.com/gpu, quantity: '1'}}]}}\n---\n"
    )
}

fn serving(groups: usize, image: &str) -> String {
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: s, namespace: b}}\nspec:\n  schedulerName: volcano\n  replicas: {groups}\n  template:\n    roles:\n    - name: decode\n      replicas: 1\n      workerReplicas: 0\n      entryTemplate: {{spec: {{containers: [{{name: c, image: '{image}'}}]}}}}\n"
    )
}

/// An LLMInferenceService, with lines of its spec.
fn llm(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: {name}, namespace: b}}\nspec:\n  model: {{uri: 'hf://a/b', name: a/b}}\n  replicas: 1\n{spec}---\n"
    )
}

const LLM_POD: &str = "  template: {containers: [{name: main, image: 'vllm:1', resources: {limits: {nvidia.com/gpu: '1'}}}]}\n";

/// The preset that every service has which names no template.
const BASE: &str = "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\nmetadata: {name: kserve-config-llm-template, namespace: kserve}\nspec: {template: {containers: [{name: main, image: 'vllm:1'}]}}\n---\n";

fn preset(at: usize) -> String {
    format!(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\nmetadata: {{name: p{at}, namespace: b}}\nspec:\n  template: {{containers: [{{name: main, image: 'vllm:1', args: [--x{at}]}}]}}\n---\n"
    )
}

/// A Deployment of plain pods.
fn deployment(name: &str, replicas: usize, pod: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: b}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: '1'}}}}}}]\n{pod}---\n"
    )
}

/// A pod that runs on a node.
fn running(at: usize, nodes: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{at}, namespace: b, labels: {{app: a}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: a-1, uid: u, controller: true}}]}}\nspec: {{nodeName: node{}, containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: '1'}}}}}}]}}\nstatus: {{phase: Running, conditions: [{{type: Ready, status: 'True'}}]}}\n---\n",
        at % nodes
    )
}

fn budget(at: usize) -> String {
    format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b{at}, namespace: b}}\nspec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: d{at}}}}}}}\n---\n"
    )
}

fn quota(at: usize) -> String {
    format!(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q{at}, namespace: b}}\nspec: {{hard: {{requests.nvidia.com/gpu: '{}'}}}}\n---\n",
        1_000 + at
    )
}

fn queue(at: usize) -> String {
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: l{at}, namespace: b}}\nspec: {{clusterQueue: c{at}}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: c{at}}}\nspec:\n  namespaceSelector: {{}}\n  resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: f{at}, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}]}}]\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f{at}}}\nspec: {{nodeLabels: {{gpu: h100}}}}\n---\n"
    )
}

fn queued(at: usize) -> String {
    deployment(&format!("d{at}"), 1, "").replace(
        ", namespace: b}",
        &format!(", namespace: b, labels: {{kueue.x-k8s.io/queue-name: l{at}}}}}"),
    )
}

fn profile(at: usize) -> String {
    format!(
        "apiVersion: infrastructure.opendatahub.io/v1\nkind: HardwareProfile\nmetadata: {{name: h{at}, namespace: b}}\nspec: {{identifiers: [{{identifier: nvidia.com/gpu, displayName: GPU, defaultCount: 1, minCount: 1, resourceType: Accelerator}}]}}\n---\n"
    )
}

/// Devices of a node, and a workload that claims one of them.
fn slice(at: usize) -> String {
    format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s{at}}}\nspec: {{driver: gpu.example.com, nodeName: node{at}, pool: {{name: node{at}, generation: 1, resourceSliceCount: 1}}, devices: [{{name: g0, attributes: {{model: {{string: h100}}}}}}]}}\n---\n"
    )
}

const CLAIM: &str = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {selectors: [{cel: {expression: \"device.driver == 'gpu.example.com'\"}}]}\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t, namespace: b}\nspec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu}}]}}}\n---\n";

fn claiming(replicas: usize) -> String {
    deployment("a", replicas, "      resourceClaims: [{name: g, resourceClaimTemplateName: t}]\n")
        .replace("limits: {nvidia.com/gpu: '1'}", "claims: [{name: g}]")
}

fn volume(at: usize) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: pv{at}}}\nspec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], storageClassName: s, claimRef: {{namespace: b, name: c{at}}}, local: {{path: /x}}, nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: gpu, operator: In, values: [h100]}}]}}]}}}}}}\nstatus: {{phase: Bound}}\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c{at}, namespace: b}}\nspec: {{storageClassName: s, volumeName: pv{at}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\nstatus: {{phase: Bound}}\n---\n"
    )
}

fn mounting(at: usize) -> String {
    let volumes =
        format!("      volumes: [{{name: v, persistentVolumeClaim: {{claimName: c{at}}}}}]\n");
    deployment(&format!("d{at}"), 1, &volumes)
}

/// A runtime's runner with two GPUs.
const RUNNER: &str = "  engineConfig: {runner: {name: ome-container, image: i, resources: {limits: {nvidia.com/gpu: '2'}}}}\n";
/// One replica on a node.
const APART: &str = "    affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {component: engine}}, topologyKey: kubernetes.io/hostname}]}}\n";
/// As many replicas on each node.
const SPREAD: &str = "    topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {component: engine}}}]\n";

/// So many replicas of a service.
fn replicas(image: &str, count: usize, pod: &str) -> String {
    let spec = format!("  engineConfig:\n    runner: {{name: ome-container, image: '{image}'}}\n");
    let scaled = service("a", "", pod).replace("minReplicas: 1", &format!("minReplicas: {count}"));
    MODEL.to_owned() + &runtime("r", &spec) + &scaled
}

/// A node with the label of its name.
fn named_node(at: usize) -> String {
    node(at).replace("gpu: h100", &format!("gpu: h100, kubernetes.io/hostname: node{at}"))
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "runtimes of one priority, `validate`",
        sizes: [16_000, 1],
        files: |n, _| vec![("new.yaml", many(n, |at| runtime(&format!("r{at}"), "")))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "classes of one selector and as many nodes, `validate`",
        sizes: [8_000, 1],
        files: |n, _| vec![("new.yaml", many(n, |at| class(at, "gpu: h100") + &node(at)))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "services over one runtime, `plan`",
        sizes: [10_000, 1],
        files: |n, _| {
            let services = many(n, |at| service(&format!("a{at}"), "", ""));
            vec![("new.yaml", MODEL.to_owned() + &runtime("r", "") + &services)]
        },
        verb: &["plan", "-f", "new.yaml", "--max-file-size", "64Mi", "--max-nodes", "9000000"],
    },
    Shape {
        name: "documents that nothing is known of, `validate`",
        sizes: [80_000, 1],
        files: |n, _| {
            let map = |at| {
                format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: b}}\n---\n"
                )
            };
            vec![("new.yaml", many(n, map))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "groups of a ModelServing, `render --expand`",
        sizes: [90_000, 1],
        files: |n, _| vec![("new.yaml", serving(n, "a"))],
        verb: &["render", "-f", "new.yaml", "--expand"],
    },
    Shape {
        name: "groups of a ModelServing, one at a time, `rollout`",
        sizes: [30_000, 1],
        files: |n, _| vec![("new.yaml", serving(n, "b")), ("old.yaml", serving(n, "a"))],
        verb: &["rollout", "s", "-f", "new.yaml", "--from", "old.yaml"],
    },
    Shape {
        name: "labels that changed, `diff`",
        sizes: [20_000, 1],
        files: |n, _| {
            let of = |value: &str| merged("", "") + &service("c", &labels(n, value), "");
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "labels on one line, `diff`",
        sizes: [20_000, 1],
        files: |n, _| {
            let of = |value: &str| {
                let all = many(n, |at| format!("l{at}: {value}{at}, "));
                merged("", "") + &service("c", &format!("  labels: {{{all}}}\n"), "")
            };
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "variables that changed, `diff`",
        sizes: [20_000, 1],
        files: |n, _| {
            let of = |value: &str| merged("", &variables(n, value));
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "variables of service and runtime, `render`",
        sizes: [100_000, 1],
        files: |n, _| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "variables of service and runtime, `render --annotate`",
        sizes: [20_000, 1],
        files: |n, _| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["render", "-f", "new.yaml", "--annotate"],
    },
    Shape {
        name: "variables of service and runtime, `explain --merge`",
        sizes: [20_000, 1],
        files: |n, _| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["explain", "-f", "new.yaml", "--merge"],
    },
    Shape {
        name: "ports of service and runtime, `validate`",
        sizes: [48_000, 1],
        files: |n, _| vec![("new.yaml", merged(&ports(n), &ports(n)))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "ports of service and runtime, `render`",
        sizes: [60_000, 1],
        files: |n, _| vec![("new.yaml", merged(&ports(n), &ports(n)))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "flags of service and runtime, `render`",
        sizes: [60_000, 1],
        files: |n, _| vec![("new.yaml", merged(&flags(n, "x"), &flags(n, "y")))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "mounts without volumes, `validate`",
        sizes: [32_000, 1],
        files: |n, _| {
            let mounts = many(n, |at| format!("      - {{name: volume{at}, mountPath: /m{at}}}\n"));
            vec![("new.yaml", merged("", &format!("      volumeMounts:\n{mounts}")))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "flags that changed, `diff`",
        sizes: [32_000, 1],
        files: |n, _| {
            let of = |value: &str| merged(&flags(n, value), "");
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "formats of a runtime without a name, `validate`",
        sizes: [32_000, 1],
        files: |n, _| {
            let format = |at| format!("  - {{modelFormat: {{name: f{at}}}, autoSelect: true}}\n");
            vec![("new.yaml", runtime("r", &many(n, format)))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "ambiguous scalars on one line, `validate`",
        sizes: [20_000, 1],
        files: |n, _| {
            let all = many(n, |at| format!("a{at}: on, "));
            let annotations = format!("  annotations: {{{all}}}\n");
            vec![("new.yaml", merged("", "") + &service("c", &annotations, ""))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "findings, `validate -o html`",
        sizes: [8_000, 1],
        files: |n, _| {
            let all = many(n, |at| format!("    a{at}: on\n"));
            let annotations = format!("  annotations:\n{all}");
            vec![("new.yaml", merged("", "") + &service("c", &annotations, ""))]
        },
        verb: &["validate", "-f", "new.yaml", "-o", "html"],
    },
    Shape {
        name: "secrets in variables, `validate`",
        sizes: [16_000, 1],
        files: |n, _| {
            let lines = many(n, |at| format!("      - {{name: V{at}_TOKEN, value: 'x{at}'}}\n"));
            vec![("new.yaml", merged("", &format!("      env:\n{lines}")))]
        },
        verb: &["validate", "-f", "new.yaml", "-o", "json"],
    },
    Shape {
        name: "fields that are not known, `validate`",
        sizes: [16_000, 1],
        files: |n, _| {
            let fields = many(n, |at| format!("      zz{at}: 1\n"));
            vec![("new.yaml", merged("", &fields))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "nodes, `discover`",
        sizes: [50_000, 1],
        files: |n, _| {
            let node = |at: usize| {
                node(at).replace(
                    "gpu: h100",
                    "nvidia.com/gpu.product: NVIDIA-L4, nvidia.com/gpu.memory: '23034'",
                )
            };
            vec![("new.yaml", many(n, node))]
        },
        verb: &["discover", "-f", "new.yaml", "--max-file-size", "64Mi", "--max-nodes", "9000000"],
    },
    Shape {
        name: "LLMInferenceServices, `plan`",
        sizes: [4_000, 1],
        files: |n, _| vec![("new.yaml", many(n, |at| llm(&format!("a{at}"), LLM_POD)))],
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "LLMInferenceServices each with its own preset, `plan`",
        sizes: [4_000, 1],
        files: |n, _| {
            let own = |at| {
                preset(at) + &llm(&format!("a{at}"), &format!("  baseRefs: [{{name: p{at}}}]\n"))
            };
            vec![("new.yaml", BASE.to_owned() + &many(n, own))]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "presets of one LLMInferenceService, `render`",
        sizes: [8_000, 1],
        files: |n, _| {
            let names = many(n, |at| format!("{{name: p{at}}}, "));
            vec![(
                "new.yaml",
                BASE.to_owned() + &many(n, preset) + &llm("a", &format!("  baseRefs: [{names}]\n")),
            )]
        },
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "services each with its own HardwareProfile, `plan --release kserve=odh`",
        sizes: [4_000, 1],
        files: |n, _| {
            let own = |at| {
                let name = format!("a{at}");
                profile(at) + &llm(&name, LLM_POD).replace(
                    ", namespace: b}",
                    &format!(", namespace: b, annotations: {{opendatahub.io/hardware-profile-name: h{at}}}}}"),
                )
            };
            vec![("new.yaml", many(n, own))]
        },
        verb: &["plan", "-f", "new.yaml", "--release", "kserve=odh"],
    },
    Shape {
        name: "plain Deployments on an eighth as many nodes, `plan`",
        sizes: [8_000, 1],
        files: |n, _| {
            let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
            vec![("new.yaml", many(n / 8, node) + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "the same, `explain`",
        sizes: [8_000, 1],
        files: |n, _| {
            let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
            vec![("new.yaml", many(n / 8, node) + &all)]
        },
        verb: &["explain", "-f", "new.yaml"],
    },
    Shape {
        name: "the same, `diff` with another image each",
        sizes: [4_000, 1],
        files: |n, _| {
            let of = |image: &str| {
                let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
                many(n / 8, node) + &all.replace("image: i", image)
            };
            vec![("new.yaml", of("image: j")), ("old.yaml", of("image: i"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "running pods on an eighth as many nodes, `drain` of one",
        sizes: [8_000, 1],
        files: |n, _| {
            let pods = many(n * 7 / 8, |at| running(at, n / 8));
            vec![("new.yaml", many(n / 8, node) + &deployment("a", n * 7 / 8, "") + &pods)]
        },
        verb: &["drain", "node0", "-f", "new.yaml"],
    },
    Shape {
        name: "budgets of as many Deployments, `validate`",
        sizes: [8_000, 1],
        files: |n, _| {
            vec![("new.yaml", many(n, |at| deployment(&format!("d{at}"), 2, "") + &budget(at)))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments each in a namespace with a quota, `plan`",
        sizes: [8_000, 1],
        files: |n, _| {
            let own = |at: usize| {
                let all = deployment("d", 1, "") + &quota(at);
                all.replace("namespace: b", &format!("namespace: b{at}"))
            };
            vec![("new.yaml", many(n / 8, node) + &many(n, own))]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments each with its own queue and flavor on 500 nodes, `plan`",
        sizes: [4_000, 1],
        files: |n, _| {
            let all = many(n, |at| queue(at) + &queued(at));
            vec![("new.yaml", many(500, node) + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "queues and flavors, `kueue diff`",
        sizes: [16_000, 1],
        files: |n, _| vec![("new.yaml", many(n, queue))],
        verb: &["kueue", "diff", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments each with its own volume on 500 nodes, `plan`",
        sizes: [4_000, 1],
        files: |n, _| {
            let all = many(n, |at| volume(at) + &mounting(at));
            vec![("new.yaml", many(500, node) + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "classes with a price of their own, `plan` of a service",
        sizes: [16_000, 1],
        files: |n, _| {
            let priced = |at: usize| {
                class(at, &format!("gpu: h{at}")).replace(
                    "vendor: nvidia",
                    &format!("cost: {{perHour: '{at}.5'}}, vendor: nvidia"),
                )
            };
            vec![("new.yaml", merged("", "") + &many(n, priced))]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "services over one runtime, `endpoints`",
        sizes: [4_000, 1],
        files: |n, _| {
            let services = many(n, |at| service(&format!("a{at}"), "", ""));
            vec![(
                "new.yaml",
                MODEL.to_owned()
                    + &runtime("r", "  engineConfig: {runner: {name: ome-container, image: i}}\n")
                    + &services,
            )]
        },
        verb: &["endpoints", "-f", "new.yaml"],
    },
    Shape {
        name: "runtimes of five priorities with overlapping sizes, `validate`",
        sizes: [10_000, 1],
        files: |n, _| {
            let ranged = |at: usize| {
                let sizes = format!(
                    "  modelSizeRange: {{min: {}B, max: {}B}}\n",
                    1 + at % 997,
                    1_000 + at % 991
                );
                runtime(&format!("r{at}"), &sizes)
                    .replace("priority: 1", &format!("priority: {}", 1 + at % 5))
            };
            vec![("new.yaml", many(n, ranged))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "values of a node affinity that changed, `diff`",
        sizes: [40_000, 1],
        files: |n, _| {
            let of = |value: &str| {
                let values = many(n, |at| format!("a{at}{value}, "));
                let affinity = format!(
                    "    affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: k, operator: In, values: [{values}]}}]}}]}}}}}}\n"
                );
                MODEL.to_owned() + &runtime("r", RUNNER) + &service("a", "", &affinity)
            };
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "mounts of service and runtime, `validate`",
        sizes: [16_000, 1],
        files: |n, _| {
            let mounts = |path: &str| {
                let all =
                    many(n, |at| format!("      - {{name: v{at}, mountPath: /{path}{at}}}\n"));
                format!("      volumeMounts:\n{all}")
            };
            vec![("new.yaml", merged(&mounts("x"), &mounts("y")))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "nodes of as many products, `discover`",
        sizes: [20_000, 1],
        files: |n, _| {
            let node = |at: usize| {
                let labels = format!(
                    "nvidia.com/gpu.product: P{at}, nvidia.com/gpu.memory: '{}'",
                    80_000 + at
                );
                node(at).replace("gpu: h100", &labels)
            };
            vec![("new.yaml", many(n, node))]
        },
        verb: &["discover", "-f", "new.yaml", "--max-file-size", "64Mi", "--max-nodes", "9000000"],
    },
    Shape {
        name: "services each with its own model, `plan`",
        sizes: [8_000, 1],
        files: |n, _| {
            let each = |at: usize| {
                MODEL.replace("name: m}", &format!("name: m{at}}}"))
                    + &service(&format!("a{at}"), "", "")
                        .replace("name: m}", &format!("name: m{at}}}"))
            };
            vec![("new.yaml", runtime("r", RUNNER) + &many(n, each))]
        },
        verb: &["plan", "-f", "new.yaml", "--max-nodes", "9000000"],
    },
    Shape {
        name: "services on an eighth as many nodes, `explain`",
        sizes: [8_000, 1],
        files: |n, _| {
            let services = many(n, |at| service(&format!("a{at}"), "", ""));
            vec![(
                "new.yaml",
                MODEL.to_owned() + &runtime("r", RUNNER) + &services + &many(n / 8, node),
            )]
        },
        verb: &["explain", "-f", "new.yaml"],
    },
    Shape {
        name: "groups of a ModelServing, a quarter at a time, `rollout`",
        sizes: [60_000, 1],
        files: |n, _| {
            let of = |image: &str| {
                serving(n, image).replace(
                    "  template:\n",
                    "  rolloutStrategy: {type: ServingGroupRollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 25%}}\n  template:\n",
                )
            };
            vec![("new.yaml", of("b")), ("old.yaml", of("a"))]
        },
        verb: &["rollout", "s", "-f", "new.yaml", "--from", "old.yaml"],
    },
    Shape {
        name: "classes of one selector × nodes that each has, `plan` of a service",
        sizes: [2_000, 2_000],
        files: |n, m| {
            let all = many(n, |at| class(at, "gpu: h100")) + &many(m, node);
            vec![("new.yaml", merged("", "") + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "models × classes, `matrix`",
        sizes: [1_400, 1_400],
        files: |n, m| {
            let model = |at: usize| MODEL.replace("name: m}", &format!("name: m{at}}}"));
            let classes = many(m, |at| class(at, &format!("gpu: h{at}")));
            vec![("new.yaml", many(n, model) + &runtime("r", RUNNER) + &classes)]
        },
        verb: &["matrix", "-f", "new.yaml", "--max-nodes", "9000000"],
    },
    Shape {
        name: "services × classes, `explain`",
        sizes: [1_000, 1_000],
        files: |n, m| {
            let services = many(n, |at| service(&format!("a{at}"), "", ""));
            let classes = many(m, |at| class(at, &format!("gpu: h{at}")));
            vec![("new.yaml", MODEL.to_owned() + &runtime("r", RUNNER) + &services + &classes)]
        },
        verb: &["explain", "-f", "new.yaml", "--max-nodes", "9000000"],
    },
    Shape {
        name: "replicas with anti-affinity × nodes, `plan`",
        sizes: [2_000, 4_000],
        files: |n, m| vec![("new.yaml", replicas("i", n, APART) + &many(m, named_node))],
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "replicas with anti-affinity × nodes, `rollout`",
        sizes: [1_000, 2_000],
        files: |n, m| {
            let of = |image: &str| replicas(image, n, APART) + &many(m, named_node);
            vec![("new.yaml", of("j")), ("old.yaml", of("i"))]
        },
        verb: &["rollout", "a", "-f", "new.yaml", "--from", "old.yaml"],
    },
    Shape {
        name: "replicas that are spread × nodes, `rollout`",
        sizes: [1_000, 2_000],
        files: |n, m| {
            let of = |image: &str| replicas(image, n, SPREAD) + &many(m, named_node);
            vec![("new.yaml", of("j")), ("old.yaml", of("i"))]
        },
        verb: &["rollout", "a", "-f", "new.yaml", "--from", "old.yaml"],
    },
    Shape {
        name: "claims for devices × ResourceSlices, `plan`",
        sizes: [1_000, 1_000],
        files: |n, m| {
            let all = many(m, |at| node(at) + &slice(at));
            vec![("new.yaml", CLAIM.to_owned() + &all + &claiming(n))]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments × quotas of their namespace, `plan`",
        sizes: [1_000, 500],
        files: |n, m| {
            let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
            vec![("new.yaml", many(n / 8, node) + &many(m, quota) + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments × nodes that `plan --without` takes away",
        sizes: [4_000, 4_000],
        files: |n, m| {
            let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
            vec![("new.yaml", many(m, node) + &all)]
        },
        verb: &["plan", "-f", "new.yaml", "--without", "gpu=h100"],
    },
    Shape {
        name: "running pods of a Deployment × those on a drained node, `drain`",
        sizes: [8_000, 4_000],
        files: |n, m| {
            let large = |at: usize| {
                node(at).replace("'8'", "'100000'").replace("'64'", "'64', pods: '100000'")
            };
            let owner = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a-1, namespace: b, uid: u, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: a, uid: v, controller: true}]}\nspec: {selector: {matchLabels: {app: a}}}\n---\n";
            let pods = many(n, |at| {
                let on = usize::from(at >= m);
                running(at, 2).replace(&format!("node{}", at % 2), &format!("node{on}"))
            });
            vec![("new.yaml", large(0) + &large(1) + &deployment("a", n, "") + owner + &pods)]
        },
        verb: &["drain", "node0", "-f", "new.yaml"],
    },
    Shape {
        name: "Deployments × nodes that are lost one by one, `plan --each node`",
        sizes: [4_000, 1_000],
        files: |n, m| {
            let all = many(n, |at| deployment(&format!("d{at}"), 1, ""));
            vec![("new.yaml", many(m, node) + &all)]
        },
        verb: &["plan", "-f", "new.yaml", "--each", "node"],
    },
    Shape {
        name: "running pods × nodes that can go, `drain --max`",
        sizes: [8_000, 2_000],
        files: |n, m| {
            let pods = many(n, |at| running(at, m));
            vec![("new.yaml", many(m, node) + &deployment("a", n, "") + &pods)]
        },
        verb: &["drain", "--max", "-f", "new.yaml"],
    },
    Shape {
        name: "services that get stuck × nodes without room, `rollout --all`",
        sizes: [2_000, 500],
        files: |n, m| {
            let of = |image: &str| {
                let spec = format!(
                    "  engineConfig:\n    runner: {{name: ome-container, image: '{image}', resources: {{limits: {{nvidia.com/gpu: '16'}}}}}}\n"
                );
                let services = many(n, |at| service(&format!("a{at}"), "", ""));
                MODEL.to_owned() + &runtime("r", &spec) + &services + &many(m, node)
            };
            vec![("new.yaml", of("j")), ("old.yaml", of("i"))]
        },
        verb: &["rollout", "--all", "-f", "new.yaml", "--from", "old.yaml"],
    },
];

/// One run in this process, then what it took: milliseconds and MB.
fn one(arguments: Vec<OsString>) {
    let run = || {
        let (mut out, mut err) = (std::io::sink(), std::io::sink());
        cli::run(std::iter::once("ome".into()).chain(arguments), &mut Io::plain(&mut out, &mut err))
    };
    let code = run();
    let line = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    // After the name in parentheses: field 12 and 13 of what follows are ticks of 10 ms.
    let stat = line("/proc/self/stat");
    let ticks: u64 = stat
        .rsplit(')')
        .next()
        .into_iter()
        .flat_map(|rest| rest.split_whitespace().skip(11).take(2))
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    let status = line("/proc/self/status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|rest| rest.split_whitespace().next()).unwrap_or("0");
    println!("{code} {} {peak}", ticks * 10);
}

/// Runs of each measurement.
const RUNS: u64 = 4;

/// Milliseconds and MB of a shape at a size: the mean time and the least memory of some runs.
fn measure(shape: &Shape, [size, other]: [usize; 2], folder: &Path) -> (u64, u64) {
    for (name, text) in (shape.files)(size, other) {
        std::fs::write(folder.join(name), text).expect("a file can be written");
    }
    let own = std::env::current_exe().expect("a path");
    let runs: Vec<(u64, u64)> = (0..RUNS)
        .map(|_| {
            let output = Command::new(&own)
                .arg("one")
                .args(shape.verb)
                .args(["--no-config", "--no-builtin"])
                .current_dir(folder)
                .output()
                .expect("the benchmark can be started");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let numbers: Vec<u64> =
                text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            let [code, time, memory] = numbers[..] else { panic!("{}: {output:?}", shape.name) };
            assert!(code < 3, "{}: it ended with {code}", shape.name);
            (time, memory / 1024)
        })
        .collect();
    // User and system time are each cut off to 10 ms: half of that is missing from each, on average.
    let time = runs.iter().map(|(time, _)| time + 10).sum::<u64>() / RUNS;
    (time, runs.iter().map(|(_, memory)| *memory).min().unwrap_or_default())
}

/// The inputs of shapes at half the size and at the whole, each in a directory with its command.
fn write(directory: &Path, wanted: &str) {
    let shapes = SHAPES.iter().enumerate().filter(|(_, shape)| shape.name.contains(wanted));
    for (number, shape) in shapes {
        let [size, other] = shape.sizes;
        for (part, size) in [("half", size / 2), ("whole", size)] {
            let folder = directory.join(format!("{number:02}-{part}"));
            std::fs::create_dir_all(&folder).expect("a folder can be made");
            let command = format!("{}\n{size} {other}\n{}\n", shape.name, shape.verb.join("\n"));
            std::fs::write(folder.join("command"), command).expect("a file can be written");
            for (name, text) in (shape.files)(size, other) {
                std::fs::write(folder.join(name), text).expect("a file can be written");
            }
        }
    }
}

fn seconds(milliseconds: u64) -> f64 {
    f64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)) / 1000.0
}

/// A number with its thousands apart.
fn thousands(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

fn main() {
    let mut arguments = std::env::args_os().skip(1).filter(|argument| argument != "--bench");
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == "one") {
        return one(arguments.collect());
    }
    if first.as_ref().is_some_and(|first| first == "write") {
        let directory = arguments.next().expect("a directory");
        return write(
            Path::new(&directory),
            &arguments.next().unwrap_or_default().to_string_lossy(),
        );
    }
    let wanted = first.map(|first| first.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("ome-shapes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    println!("| input | number | CPU time | memory | growth when doubled |\n|---|---|---|---|---|");
    for shape in SHAPES.iter().filter(|shape| shape.name.contains(&wanted)) {
        let [size, other] = shape.sizes;
        let whole = measure(shape, shape.sizes, &folder);
        let growth = |part: [usize; 2]| {
            let part = measure(shape, part, &folder);
            format!("{:.1}", seconds(whole.0) / seconds(part.0))
        };
        let (number, growth) = match other {
            1 => (thousands(size), growth([size / 2, 1])),
            _ => (
                format!("{} × {}", thousands(size), thousands(other)),
                format!("{}, {}", growth([size / 2, other]), growth([size, other / 2])),
            ),
        };
        println!(
            "| {} | {number} | {:.2} s | {} MB | {growth} |",
            shape.name,
            seconds(whole.0),
            whole.1,
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}
