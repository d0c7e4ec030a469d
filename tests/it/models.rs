//! Models without values that selection needs: the sources of facts, their precedence, and the
//! findings.

use crate::process::{Call, Done, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A directory of its own for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("ome-models-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("a parent"))
                .expect("a folder can be made");
            std::fs::write(file, text).expect("a file can be written");
        }
        Self(path)
    }

    fn ome(&self, args: &str, env: &[(&str, &str)]) -> Done {
        let args = args.split_whitespace().map(ToOwned::to_owned).collect();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        run(&Call {
            args,
            stdin: "",
            directory: &self.0,
            env: &env.collect::<BTreeMap<String, String>>(),
            time: Duration::from_secs(30),
        })
        .expect("it ends in time")
    }

    fn json(&self, args: &str) -> Value {
        let done = self.ome(&format!("{args} -o json"), &[]);
        serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("JSON: {done:?}"))
    }

    /// Value and evidence of the fields of the first service's model.
    fn facts(&self, flags: &str) -> BTreeMap<String, (Value, String, String)> {
        let explained = self.json(&format!("explain -f in.yaml --no-builtin {flags}"));
        let facts = explained["services"][0]["model"]["facts"].as_array().cloned();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let row = |fact: &Value| {
            let words = (fact["value"].clone(), text(&fact["evidence"]), text(&fact["at"]));
            (text(&fact["field"]), words)
        };
        facts.unwrap_or_default().iter().map(row).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

const CONFIG: &str = r#"{
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22,
  "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000,
  "max_position_embeddings": 2048,
  "transformers_version": "4.35.0"
}
"#;

/// A model with this spec and a service that names a runtime for everything.
fn input(spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata:\n  name: m\nspec:\n{spec}\n---\n\
         apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata:\n  name: r\nspec:\n  \
         supportedModelFormats:\n  - modelFormat: {{name: safetensors}}\n    autoSelect: true\n  \
         engineConfig:\n    runner: {{name: ome-container, image: example/sglang:v1}}\n---\n\
         apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: s\nspec:\n  \
         model: {{name: m}}\n  engine: {{}}\n"
    )
}

const LLAMA: &str = "  storage: {storageUri: hf://meta-llama/Llama-3.1-8B-Instruct}";

#[test]
fn a_manifest_overrides_a_config_and_a_config_the_known_models() {
    let spec = format!("  modelArchitecture: MyLlamaForCausalLM\n{LLAMA}");
    let folder = Folder::new(
        "order",
        &[
            ("in.yaml", &input(&spec)),
            ("configs/meta-llama/Llama-3.1-8B-Instruct/config.json", CONFIG),
            (
                "half/meta-llama--Llama-3.1-8B-Instruct.json",
                r#"{"model_type": "llama", "architectures": ["X"]}"#,
            ),
        ],
    );
    let table = folder.facts("");
    let known = "known: meta-llama/Llama-3.1-8B-Instruct (config.json)".to_owned();
    assert_eq!(
        table["modelArchitecture"],
        ("MyLlamaForCausalLM".into(), "declared".into(), "in.yaml:6".into())
    );
    assert_eq!(table["modelParameterSize"], ("8.03B".into(), "known".into(), known.clone()));
    assert_eq!(table["maxTokens"], (131_072.into(), "known".into(), known.clone()));
    let config = folder.facts("--model-configs configs");
    let place = |line: u32| format!("configs/meta-llama/Llama-3.1-8B-Instruct/config.json:{line}");
    assert_eq!(config["modelArchitecture"].1, "declared");
    assert_eq!(config["modelParameterSize"], ("1.10B".into(), "config".into(), place(4)));
    assert_eq!(config["modelFramework.version"], ("4.35.0".into(), "config".into(), place(7)));
    assert_eq!(config["maxTokens"], (2048.into(), "config".into(), place(6)));
    // Values that a config omits come from the table.
    let half = folder.facts("--model-configs half");
    assert_eq!(half["modelFormat.name"].1, "config");
    assert_eq!(half["modelFramework.version"], ("4.42.3".into(), "known".into(), known));
    assert_eq!(half["modelParameterSize"].1, "known");
}

#[test]
fn the_hugging_face_cache_is_read_on_request_at_the_ref() {
    let cache = |path: &str| format!("hub/models--acme--tiny/{path}");
    let other = CONFIG.replace("4.35.0", "4.36.0");
    let folder = Folder::new(
        "cache",
        &[
            ("in.yaml", &input("  storage: {storageUri: hf://acme/tiny}")),
            ("v2.yaml", &input("  storage: {storageUri: hf://acme/tiny@v2}")),
            (&cache("refs/main"), "aaa\n"),
            (&cache("refs/v2"), "bbb"),
            (&cache("snapshots/aaa/config.json"), CONFIG),
            (&cache("snapshots/bbb/config.json"), &other),
        ],
    );
    let version = |args: &str, env: &[(&str, &str)]| {
        let done = folder.ome(&format!("explain --no-builtin -o json {args}"), env);
        let found: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let facts = found["services"][0]["model"]["facts"].as_array().cloned().unwrap_or_default();
        facts
            .into_iter()
            .find(|fact| fact["field"] == "modelFramework.version")
            .map(|fact| fact["value"].as_str().unwrap_or_default().to_owned())
    };
    let home = folder.0.display().to_string();
    let hub = format!("{home}/hub");
    assert_eq!(version("-f in.yaml", &[("HF_HUB_CACHE", &hub)]), None);
    let first = Some("4.35.0".to_owned());
    assert_eq!(version("-f in.yaml --hf-cache=hub", &[]), first);
    assert_eq!(version("-f in.yaml --hf-cache", &[("HF_HUB_CACHE", &hub)]), first);
    assert_eq!(
        version("-f in.yaml --hf-cache", &[("HF_HUB_CACHE", ""), ("HF_HOME", &home)]),
        first
    );
    assert_eq!(version("-f v2.yaml --hf-cache=hub", &[]), Some("4.36.0".into()));
}

#[test]
fn fields_that_the_model_agent_does_not_fill_stay_empty() {
    // A framework that is set stays as it is, its version too; so does everything of a model that
    // the agent is kept from.
    let folder = Folder::new(
        "agent",
        &[("in.yaml", &input(&format!("  modelFramework: {{name: transformers}}\n{LLAMA}")))],
    );
    let facts = folder.facts("");
    assert_eq!(facts["modelFramework.name"].1, "declared");
    assert!(!facts.contains_key("modelFramework.version"), "{facts:?}");
    assert_eq!(facts["modelFormat.version"].0, "1.0.0");
    let skipped = input(LLAMA).replacen(
        "metadata:\n",
        "metadata:\n  annotations: {ome.oracle.com/skip-config-parsing: \"true\"}\n",
        1,
    );
    let folder = Folder::new("skipped", &[("in.yaml", &skipped)]);
    let plan = folder.json("plan -f in.yaml --no-builtin");
    assert_eq!(plan["services"][0]["error"]["code"], "model-incomplete");
}

#[test]
fn known_models_are_not_used_when_model_facts_is_never() {
    let folder = Folder::new(
        "never",
        &[("in.yaml", &input(LLAMA)), ("never/ome.toml", "model-facts = \"never\"\n")],
    );
    let error = |flags: &str| {
        folder.json(&format!("plan -f in.yaml {flags}"))["services"][0]["error"]["code"].clone()
    };
    let incomplete = Value::from("model-incomplete");
    assert_eq!(error(""), Value::Null);
    assert_eq!(error("--model-facts never"), incomplete);
    assert_eq!(error("--config never/ome.toml"), incomplete);
    assert_eq!(error("--config never/ome.toml --model-facts auto"), Value::Null);
    // The controller with the manifest only, before the model agent has run. No other flag switches
    // the table off.
    assert_eq!(error("--semantics controller --no-builtin --model-facts never"), incomplete);
    assert_ne!(error("--semantics controller --no-builtin"), incomplete);
    assert_ne!(error("--semantics controller"), incomplete);
}

#[test]
fn why_names_the_source_of_a_completed_value() {
    let folder = Folder::new("why", &[("in.yaml", &input(LLAMA))]);
    let field = r"spec.template.metadata.annotations.ome\.io/base-model-format";
    let why = folder.json(&format!("why Deployment/s-engine {field} -f in.yaml --no-builtin"));
    assert_eq!(why["value"], "safetensors");
    assert_eq!(why["origin"]["layer"], "model");
    assert_eq!(why["origin"]["file"], "known: meta-llama/Llama-3.1-8B-Instruct (config.json)");
    let text = folder.ome(&format!("why Deployment/s-engine {field} -f in.yaml --no-builtin"), &[]);
    assert!(
        text.stdout.contains("known: meta-llama/Llama-3.1-8B-Instruct (config.json)"),
        "{text:?}"
    );
}

#[test]
fn one_finding_lists_all_completed_fields_without_an_excerpt() {
    let folder = Folder::new("said", &[("in.yaml", &input(LLAMA))]);
    let plan = folder.json("plan -f in.yaml --no-builtin");
    let found: Vec<&Value> = plan["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|finding| finding["code"] == "model-completed")
        .collect();
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0]["message"],
        "model `m` is completed from what is known of meta-llama/Llama-3.1-8B-Instruct: modelFormat.name, modelFormat.version, modelFramework.name, modelFramework.version, modelArchitecture, modelParameterSize"
    );
    assert_eq!(
        found[0]["help"],
        "run `ome import hf://meta-llama/Llama-3.1-8B-Instruct --into in.yaml` to write the values into the manifest"
    );
    let text = folder.ome("plan -f in.yaml --no-builtin", &[]);
    assert!(text.stdout.contains("1 model completed") && text.stderr.is_empty(), "{text:?}");
    // Fields that selection does not compare are filled in without a word.
    let complete = "  modelFormat: {name: safetensors}\n  modelFramework: {name: transformers}\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8B\n  quantization: fp8";
    let folder = Folder::new("complete", &[("in.yaml", &input(&format!("{complete}\n{LLAMA}")))]);
    let plan = folder.json("plan -f in.yaml --no-builtin");
    let codes: Vec<&Value> =
        plan["findings"].as_array().into_iter().flatten().map(|finding| &finding["code"]).collect();
    assert!(!codes.contains(&&"model-completed".into()), "{codes:?}");
}

#[test]
fn an_unreadable_config_is_reported_and_known_models_are_used() {
    let broken = [
        ("not-json", "{\"model_type\": "),
        ("no-config", "{\"tokenizer_class\": \"LlamaTokenizer\"}"),
        ("no-count", "{\"model_type\": \"new\", \"architectures\": [\"NewForCausalLM\"]}"),
    ];
    for (name, text) in broken {
        let folder = Folder::new(
            name,
            &[("in.yaml", &input(LLAMA)), ("c/meta-llama--Llama-3.1-8B-Instruct.json", text)],
        );
        let plan = folder.json("plan -f in.yaml --no-builtin --model-configs c");
        assert_eq!(plan["services"][0]["error"], Value::Null, "{name}");
        let files: Vec<&str> = plan["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|finding| finding["file"].as_str())
            .collect();
        assert!(files.contains(&"c/meta-llama--Llama-3.1-8B-Instruct.json"), "{name}: {plan}");
    }
}

/// Layers of three kinds, in a config of Qwen3.5: only every fourth keeps tokens.
const HYBRID: &str = r#"{
  "architectures": ["Qwen3_5ForConditionalGeneration"],
  "model_type": "qwen3_5",
  "text_config": {
    "model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size": 17408,
    "num_hidden_layers": 64, "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256,
    "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
    "linear_num_key_heads": 16, "linear_num_value_heads": 48, "linear_value_head_dim": 128,
    "vocab_size": 248320, "max_position_embeddings": 262144, "dtype": "bfloat16"
  }
}
"#;

#[test]
fn kv_cache_size_follows_the_engine_arguments_and_the_layers() {
    let class = "---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: gpu}\nspec:\n  \
         vendor: nvidia\n  discovery: {nodeSelector: {nvidia.com/gpu.product: X}}\n  \
         capabilities: {memoryGB: 80Gi}\n  resources: [{name: nvidia.com/gpu, quantity: \"1\"}]\n";
    let with = |args: &str| {
        input("  storage: {storageUri: hf://acme/hybrid}").replace(
            "image: example/sglang:v1}",
            &format!("image: vllm/vllm-openai:v0.14.0, args: [{args}]}}"),
        ) + class
    };
    let cache = |args: &str| {
        let folder =
            Folder::new("kept", &[("in.yaml", &with(args)), ("configs/acme--hybrid.json", HYBRID)]);
        let flags = "explain -f in.yaml --no-builtin --model-configs configs";
        let found = folder.json(flags);
        let codes: Vec<String> = found["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|finding| finding["code"].as_str().unwrap_or_default().to_owned())
            .collect();
        (found["services"][0]["components"][0]["kvCache"].clone(), codes, folder.ome(flags, &[]))
    };
    let warning = "context-exceeds-memory".to_owned();
    // 16 layers × 4 heads × 512 × 2 bytes; 48 states of 48 heads × 128 × 128 in four bytes.
    let (plain, codes, page) = cache("\"--tensor-parallel-size\", \"2\"");
    assert_eq!(plain["bytesPerToken"], 65_536);
    assert_eq!(
        plain["requestBytes"],
        65_536_u64 * 262_144 + 48 * (48 * 128 * 128 * 4 + 3 * 10_240 * 2)
    );
    assert_eq!(plain["operands"]["context"]["from"], "maxTokens of the model");
    assert_eq!(plain["operands"]["memoryShare"]["from"], "default of vLLM");
    assert_eq!(plain["operands"]["accelerators"]["at"], "in.yaml:17");
    assert!(plain["requests"].as_u64() > Some(0) && !codes.contains(&warning), "{plain} {codes:?}");
    assert!(page.stdout.contains("KV cache of engine") && page.stdout.contains("per request"));
    // Half the width, twice the tokens.
    let (narrow, ..) = cache("--tensor-parallel-size=2, --kv-cache-dtype=fp8, --max-num-seqs=3");
    assert_eq!(narrow["bytesPerToken"], 32_768);
    assert_eq!(narrow["requests"], 3);
    // Eight accelerators hold a head of four twice.
    let (wide, ..) = cache("--tensor-parallel-size=8");
    assert_eq!(wide["bytesPerToken"], 131_072);
    let (alone, codes, _) = cache("--gpu-memory-utilization=0.75");
    assert_eq!(alone["requests"], 0);
    assert!(codes.contains(&warning), "{alone} {codes:?}");
    // The weights alone are too large.
    let (_, codes, page) = cache("--gpu-memory-utilization=0.5");
    assert!(
        codes.contains(&"gpu-misfit".to_owned()) && page.stderr.contains("the weights of `m`"),
        "{page:?}"
    );
}
