//! A fleet as YAML texts: models, the runtimes that cover them, services in fifty namespaces, GPU
//! nodes.
//!
//! The same counts give the same bytes, on every machine. Names carry a running number, so that a
//! service can be traced to its model and a model to the runtimes made for it.

use super::kserve;
use std::fmt::Write as _;

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// InferenceServices.
    pub(crate) services: usize,
    /// ClusterServingRuntimes, one in 41 of them a ServingRuntime of a namespace.
    pub(crate) runtimes: usize,
    /// ClusterBaseModels.
    pub(crate) models: usize,
    /// Nodes.
    pub(crate) nodes: usize,
    /// Of a hundred services and of a hundred runtimes those that are KServe's.
    pub(crate) kserve: usize,
}

impl Default for Counts {
    fn default() -> Self {
        Self { services: 10_000, runtimes: 1_000, models: 1_000, nodes: 2_000, kserve: 0 }
    }
}

/// Namespaces that services live in.
const NAMESPACES: usize = 50;

/// Short name, architecture and sizes (in billions of parameters) of a family of models.
const FAMILIES: [(&str, &str, &[&str]); 20] = [
    ("llama-3", "LlamaForCausalLM", &["1.24B", "3.21B", "8.03B", "70.6B"]),
    ("llama-4", "Llama4ForConditionalGeneration", &["109B", "402B"]),
    ("qwen-2", "Qwen2ForCausalLM", &["494M", "1.54B", "7.62B", "32.8B", "72.7B"]),
    ("qwen-3", "Qwen3ForCausalLM", &["596M", "4.02B", "8.19B", "32.8B"]),
    ("qwen-3-moe", "Qwen3MoeForCausalLM", &["30.5B", "235B"]),
    ("qwen-2-vl", "Qwen2VLForConditionalGeneration", &["2.21B", "8.29B", "73.4B"]),
    ("mistral", "MistralForCausalLM", &["7.25B", "12.2B", "123B"]),
    ("mixtral", "MixtralForCausalLM", &["46.7B", "141B"]),
    ("gemma-2", "Gemma2ForCausalLM", &["2.61B", "9.24B", "27.2B"]),
    ("gemma-3", "Gemma3ForConditionalGeneration", &["4.3B", "12.2B", "27.4B"]),
    ("phi-3", "Phi3ForCausalLM", &["3.82B", "14B"]),
    ("phi-moe", "PhiMoEForCausalLM", &["41.9B"]),
    ("deepseek-v3", "DeepseekV3ForCausalLM", &["671B", "685B"]),
    ("deepseek-v2", "DeepseekV2ForCausalLM", &["15.7B", "236B"]),
    ("command-r", "CohereForCausalLM", &["35B", "104B"]),
    ("command-a", "Cohere2ForCausalLM", &["8.03B", "111B"]),
    ("falcon", "FalconForCausalLM", &["7.22B", "40B", "180B"]),
    ("dbrx", "DbrxForCausalLM", &["132B"]),
    ("internlm", "InternLM2ForCausalLM", &["1.89B", "7.74B", "19.9B"]),
    ("nemotron", "NemotronForCausalLM", &["4.19B", "8.27B", "340B"]),
];

/// Framework versions, which come with quantizations: 20 families times these are the tuples that
/// selection tells apart.
const FLAVOURS: [(&str, Option<&str>); 2] = [("4.43.1", None), ("4.51.0", Some("fp8"))];

/// Ranges that runtimes are made for, narrow ones with GPUs to match.
const RANGES: [(&str, &str, usize); 8] = [
    ("100M", "2B", 1),
    ("1B", "5B", 1),
    ("5B", "9B", 1),
    ("7B", "16B", 1),
    ("12B", "48B", 2),
    ("30B", "90B", 4),
    ("80B", "260B", 8),
    ("200B", "900B", 8),
];

/// A GPU product as nodes are labeled with it.
struct Product {
    name: &'static str,
    family: &'static str,
    /// In MiB.
    memory: u32,
    capability: (u8, u8),
    /// GPUs of one node.
    gpus: usize,
}

const PRODUCTS: [Product; 6] = [
    Product {
        name: "NVIDIA-H100-80GB-HBM3",
        family: "hopper",
        memory: 81_559,
        capability: (9, 0),
        gpus: 8,
    },
    Product {
        name: "NVIDIA-A100-SXM4-80GB",
        family: "ampere",
        memory: 81_920,
        capability: (8, 0),
        gpus: 8,
    },
    Product {
        name: "NVIDIA-A100-PCIE-40GB",
        family: "ampere",
        memory: 40_960,
        capability: (8, 0),
        gpus: 4,
    },
    Product {
        name: "NVIDIA-L40S",
        family: "ada-lovelace",
        memory: 46_068,
        capability: (8, 9),
        gpus: 4,
    },
    Product { name: "NVIDIA-A10", family: "ampere", memory: 23_028, capability: (8, 6), gpus: 2 },
    Product { name: "Tesla-T4", family: "turing", memory: 15_360, capability: (7, 5), gpus: 2 },
];

/// Numbers that look random and are the same every time (xorshift64*).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap_or(0) % sides
    }
}

/// Names and texts of the files, in the order of their names.
pub(crate) fn files(counts: Counts) -> Vec<(String, String)> {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let models: Vec<Model> = (0..counts.models).map(|index| Model::new(index, &mut dice)).collect();
    let mut files = Vec::new();
    write_all(&mut files, "models", 4, models.iter().map(|model| (model.tuple / 10, model.text())));
    write_all(
        &mut files,
        "nodes",
        8,
        (0..counts.nodes).map(|index| (index, node(index, &mut dice))),
    );
    // Each API numbers its own runtimes, so that either has those that nothing falls through.
    let of_kserve = |index: usize| (index + 1) * counts.kserve / 100 > index * counts.kserve / 100;
    let before = |index: usize| index * counts.kserve / 100;
    let (runtimes_of_kserve, runtimes_of_ome) =
        (before(counts.runtimes), counts.runtimes - before(counts.runtimes));
    let runtime = |index: usize| {
        if of_kserve(index) {
            (index, kserve::runtime(before(index), &mut dice))
        } else {
            let own = index - before(index);
            (own % tuples() % FAMILIES.len(), runtime(own, &mut dice))
        }
    };
    write_all(&mut files, "runtimes", FAMILIES.len(), (0..counts.runtimes).map(runtime));
    let service = |index: usize| {
        let text = if of_kserve(index) {
            kserve::service(index, runtimes_of_kserve, &mut dice)
        } else {
            service(index, &models, runtimes_of_ome, &mut dice)
        };
        (index % NAMESPACES, text)
    };
    write_all(
        &mut files,
        "services",
        NAMESPACES,
        (0..if models.is_empty() { 0 } else { counts.services }).map(service),
    );
    files
}

/// Spreads documents over files named `what-NN.yaml`.
fn write_all(
    files: &mut Vec<(String, String)>,
    what: &str,
    count: usize,
    documents: impl Iterator<Item = (usize, String)>,
) {
    let mut texts = vec![String::new(); count];
    for (file, document) in documents {
        let text = &mut texts[file % count];
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&document);
    }
    files.extend(
        texts
            .into_iter()
            .enumerate()
            .filter(|(_, text)| !text.is_empty())
            .map(|(index, text)| (format!("{what}-{index:02}.yaml"), text)),
    );
}

fn tuples() -> usize {
    FAMILIES.len() * FLAVOURS.len()
}

/// What of a tuple is written into models and runtimes, at an indentation.
fn attributes(tuple: usize, indent: &str) -> String {
    let (_, architecture, _) = FAMILIES[tuple % FAMILIES.len()];
    let (framework, quantization) = FLAVOURS[tuple / FAMILIES.len()];
    let mut out = format!(
        "{indent}modelFormat:\n{indent}  name: safetensors\n{indent}  version: \"1.0.0\"\n"
    );
    let _ = write!(
        out,
        "{indent}modelFramework:\n{indent}  name: transformers\n{indent}  version: \"{framework}\"\n"
    );
    let _ = writeln!(out, "{indent}modelArchitecture: {architecture}");
    out += &quantization
        .map_or(String::new(), |quantization| format!("{indent}quantization: {quantization}\n"));
    out
}

struct Model {
    name: String,
    tuple: usize,
    size: &'static str,
}

impl Model {
    fn new(index: usize, dice: &mut Dice) -> Self {
        let tuple = index % tuples();
        let (family, _, sizes) = FAMILIES[tuple % FAMILIES.len()];
        Self { name: format!("{family}-{index:04}"), tuple, size: sizes[dice.roll(sizes.len())] }
    }

    fn text(&self) -> String {
        let Self { name, tuple, size } = self;
        let mut out = format!(
            "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata:\n  name: {name}\nspec:\n  vendor: example\n"
        );
        out += &attributes(*tuple, "  ");
        let _ = write!(
            out,
            "  modelParameterSize: {size}\n  storage:\n    storageUri: hf://example/{name}\n    path: /mnt/models/{name}\n"
        );
        out
    }
}

/// The runtime made for any size of a tuple: nothing falls through.
fn fallback(tuple: usize) -> String {
    let (family, ..) = FAMILIES[tuple % FAMILIES.len()];
    format!("any-{family}-{tuple:04}")
}

fn runtime(index: usize, dice: &mut Dice) -> String {
    let tuple = index % tuples();
    let (family, ..) = FAMILIES[tuple % FAMILIES.len()];
    let round = index / tuples();
    let engine = ["sglang", "vllm"][index % 2];
    let (name, (min, max, gpus), priority) = match round {
        0 => (fallback(tuple), ("100M", "2T", 8), 1),
        _ => (
            format!("{engine}-{family}-{index:04}"),
            RANGES[round % RANGES.len()],
            1 + dice.roll(4),
        ),
    };
    let namespace = if round > 0 && index % 41 == 17 {
        format!("  namespace: {}\n", namespace(index))
    } else {
        String::new()
    };
    let kind = if namespace.is_empty() { "ClusterServingRuntime" } else { "ServingRuntime" };
    let disabled = if round > 0 && dice.roll(50) == 0 { "  disabled: true\n" } else { "" };
    let automatic = round == 0 || dice.roll(20) > 0;
    let (module, image) = match engine {
        "sglang" => ("sglang.launch_server", "docker.io/lmsysorg/sglang:v0.5.5"),
        _ => ("vllm.entrypoints.openai.api_server", "docker.io/vllm/vllm-openai:v0.11.0"),
    };
    let mut out = format!(
        "apiVersion: ome.io/v1beta1\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}spec:\n{disabled}  supportedModelFormats:\n  - autoSelect: {automatic}\n    priority: {priority}\n"
    );
    out += &attributes(tuple, "    ");
    let _ = write!(
        out,
        "  modelSizeRange:\n    min: {min}\n    max: {max}\n  protocolVersions: [openAI]\n  engineConfig:\n    runner:\n      name: ome-container\n      image: {image}\n"
    );
    let _ = write!(
        out,
        "      command: [python3, -m, {module}]\n      args: [--model-path, $(MODEL_PATH), --host, 0.0.0.0, --port, \"8080\", --tp-size, \"{gpus}\"]\n"
    );
    out += "      ports:\n      - {name: http, containerPort: 8080, protocol: TCP}\n      env:\n      - {name: HF_HUB_OFFLINE, value: \"1\"}\n";
    let _ = write!(
        out,
        "      resources:\n        limits:\n          cpu: \"{}\"\n          memory: {}Gi\n          nvidia.com/gpu: \"{gpus}\"\n",
        gpus * 8,
        gpus * 64
    );
    out += "      readinessProbe:\n        httpGet: {path: /health, port: 8080}\n        periodSeconds: 30\n        failureThreshold: 10\n";
    out += "    volumes:\n    - name: dshm\n      emptyDir: {medium: Memory}\n";
    out
}

pub(crate) fn namespace(index: usize) -> String {
    format!("team-{:02}", index % NAMESPACES)
}

fn service(index: usize, models: &[Model], runtimes: usize, dice: &mut Dice) -> String {
    let model = &models[dice.roll(models.len())];
    let (least, more) = (1 + dice.roll(2), dice.roll(4));
    let mut out = format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: service-{index:05}\n  namespace: {0}\n  labels:\n    app.kubernetes.io/part-of: {0}\nspec:\n  model:\n    name: {1}\n",
        namespace(index),
        model.name
    );
    if model.tuple < runtimes && dice.roll(20) == 0 {
        let _ = write!(out, "  runtime:\n    name: {}\n", fallback(model.tuple));
    }
    let _ = write!(out, "  engine:\n    minReplicas: {least}\n    maxReplicas: {}\n", least + more);
    match dice.roll(10) {
        0 | 1 => drop(write!(
            out,
            "    runner:\n      args:\n      - --context-length\n      - \"{}\"\n",
            4096 << dice.roll(4)
        )),
        2 => out += "    runner:\n      env:\n      - {name: LOG_LEVEL, value: debug}\n",
        3 => drop(write!(out, "    labels:\n      cost-center: \"{}\"\n", 1000 + dice.roll(90))),
        _ => {}
    }
    out
}

fn node(index: usize, dice: &mut Dice) -> String {
    let Product { name, family, memory, capability: (major, minor), gpus } =
        &PRODUCTS[dice.roll(PRODUCTS.len())];
    let zone = ["a", "b", "c"][index % 3];
    let mut out =
        format!("apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-{index:04}\n  labels:\n");
    for (key, value) in [
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("topology.kubernetes.io/zone", zone),
        ("nvidia.com/gpu.product", name),
        ("nvidia.com/gpu.family", family),
    ] {
        let _ = writeln!(out, "    {key}: {value}");
    }
    let _ = writeln!(
        out,
        "    nvidia.com/gpu.compute.major: \"{major}\"\n    nvidia.com/gpu.compute.minor: \"{minor}\""
    );
    let _ = writeln!(
        out,
        "    nvidia.com/gpu.memory: \"{memory}\"\n    nvidia.com/gpu.count: \"{gpus}\"\nstatus:"
    );
    for (key, reserved) in [("capacity", 0), ("allocatable", 2)] {
        let _ = writeln!(
            out,
            "  {key}:\n    cpu: \"{}\"\n    memory: {}Gi\n    pods: \"110\"\n    nvidia.com/gpu: \"{gpus}\"",
            gpus * 24 - reserved,
            gpus * 240 - reserved * 8
        );
    }
    out += "  conditions:\n  - type: Ready\n    status: \"True\"\n";
    out
}
