//! Runtimes in many forms against the devices that they request.

use super::*;
use crate::api::Api;
use crate::engine::Engine;
use crate::testing;
use crate::yaml::{Origin, Rule};
use serde_json::{Value, json};

mod config_files;
mod memory_of_nodes;
mod mutated;
mod served;

/// A Deployment up to the fields of its only container.
const SERVER: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: ml}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: server
";

static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

fn node(value: &Value) -> Node {
    Node::from_json(value, Origin::Default(&TEST))
}

fn object() -> Object {
    let id = (Some("default"), "chat");
    testing::object((Api::Cluster, "apps/v1"), "Deployment", id, node(&json!({})))
}

/// What is found of one pod with a published model, on a class with so many GiB.
fn judge(engines: &Engines<'_>, pod: &Node, model: Option<&str>, memory: Option<u64>) -> Judged {
    engines.judge(&Pods {
        what: "Deployment",
        namespace: "default",
        object: &object(),
        main: pod,
        container: None,
        worker: None,
        size: 1,
        model: model.and_then(|id| engines.named(id)),
        class: memory.map(|memory| ("class".into(), Memory(memory << 30))),
    })
}

fn codes(judged: &Judged) -> Vec<Code> {
    judged.findings.iter().map(|finding| finding.code).collect()
}

fn judged(container: &Value, model: Option<&str>) -> Vec<Code> {
    let pod = node(&json!({ "containers": [container] }));
    codes(&judge(&Engines::new(&Catalog::default()), &pod, model, None))
}

/// The flag of a field in one of its spellings, as one or two arguments.
fn spelled(names: &[&str], value: u64, form: usize) -> Vec<String> {
    let name = names[form % names.len()];
    match (form / names.len()) % 2 {
        0 => vec![format!("{name}={value}")],
        _ => vec![name.to_owned(), value.to_string()],
    }
}

/// 216 runtimes: every engine with ranks, three factors, every spelling, as arguments, as a script
/// and through a variable, with fitting and with other numbers of devices.
#[test]
fn ranks_that_differ_from_the_devices_are_found_in_every_form() {
    let vllm: (&str, &str, [&[&str]; 3]) = (
        "vllm/vllm-openai:v0.11.0",
        "vllm serve m",
        [
            &["--tensor-parallel-size", "-tp", "--tensor_parallel_size"],
            &["--pipeline-parallel-size", "-pp"],
            &["--data-parallel-size", "-dp"],
        ],
    );
    let sglang: (&str, &str, [&[&str]; 3]) = (
        "lmsysorg/sglang:v0.5.2",
        "python3 -m sglang.launch_server",
        [
            &["--tp", "--tp-size", "--tensor-parallel-size"],
            &["--pp-size", "--pp"],
            &["--dp", "--dp-size"],
        ],
    );
    let mut tried = 0;
    for (image, program, names) in [vllm, sglang] {
        for (at, factors) in
            [[1, 1, 1], [2, 1, 1], [4, 1, 1], [2, 2, 1], [2, 1, 2], [4, 1, 2]].iter().enumerate()
        {
            for form in 0..6 {
                let ranks: u64 = factors.iter().product();
                let flags = names.iter().zip(factors).filter(|(_, value)| **value > 1);
                let args: Vec<String> =
                    flags.flat_map(|(names, value)| spelled(names, *value, form + at)).collect();
                for devices in [ranks, ranks + 1, ranks.div_ceil(2)] {
                    let resources = json!({ "limits": { "nvidia.com/gpu": devices.to_string() } });
                    let container = match form % 3 {
                        0 => json!({ "image": image, "args": args, "resources": resources }),
                        1 => json!({
                            "image": "registry.example/own:1",
                            "command": ["/bin/sh", "-c"],
                            "args": [format!("set -e\nexec {program} \\\n {}", args.join(" "))],
                            "resources": resources,
                        }),
                        _ => json!({
                            "image": image,
                            "env": [{ "name": "N", "value": args.join(" ") }],
                            "command": ["bash", "-c", format!("{program} $N")],
                            "resources": resources,
                        }),
                    };
                    let found = judged(&container, None);
                    let is_found = found.contains(&Code::GpuCountMismatch);
                    assert_eq!(is_found, devices != ranks, "{container}: {found:?}");
                    assert!(!found.contains(&Code::ArgumentForm), "{container}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 200, "{tried}");
}

#[test]
fn heads_and_numbers_are_judged_by_the_model_and_the_engine() {
    for (model, ways, expected) in [
        ("Qwen/Qwen2.5-7B-Instruct", 3, true),
        ("Qwen/Qwen2.5-7B-Instruct", 4, false),
        ("Qwen/Qwen2.5-7B-Instruct", 7, true),
        ("Qwen/Qwen3-8B", 8, false),
        ("Qwen/Qwen3-8B", 6, true),
        ("acme/unknown", 3, false),
    ] {
        for (image, flag) in
            [("vllm/vllm-openai:v0.11.0", "-tp"), ("lmsysorg/sglang:v0.5.2", "--tp-size")]
        {
            let container = json!({
                "image": image,
                "args": [flag, ways.to_string()],
                "resources": { "limits": { "nvidia.com/gpu": ways } },
            });
            let found = judged(&container, Some(model));
            assert_eq!(found.contains(&Code::HeadsNotDivisible), expected, "{model} {ways}");
        }
    }
    for (value, expected) in [("8192", false), ("8k", false), ("1e+06", true), ("8.5", true)] {
        let container = json!({
            "image": "vllm/vllm-openai:v0.11.0",
            "args": [format!("--max-model-len={value}")],
            "resources": { "limits": { "nvidia.com/gpu": 1 } },
        });
        assert_eq!(judged(&container, None).contains(&Code::ArgumentForm), expected, "{value}");
    }
}

#[test]
fn nothing_is_assumed_of_what_is_not_known() {
    for container in [
        json!({ "image": "registry.example/own:1", "args": ["--tensor-parallel-size=8"] }),
        json!({ "image": "vllm/vllm-openai:v0.11.0", "command": ["/run.sh"] }),
        json!({ "image": "vllm/vllm-openai:v0.11.0", "args": ["-tp=$(N)"] }),
        json!({ "image": "vllm/vllm-openai:v0.11.0", "env": [{ "name": "CUDA_VISIBLE_DEVICES", "value": "0" }] }),
    ] {
        let mut container = container;
        container["resources"] = json!({ "limits": { "nvidia.com/gpu": 4 } });
        assert_eq!(judged(&container, None), Vec::<Code>::new(), "{container}");
    }
}

/// A server with 15.0 GiB of weights in 16 bits on one device of 24 GiB.
#[test]
fn types_of_weights_count_in_memory() {
    let of = |dtype: &str| {
        let container = json!({
            "image": "vllm/vllm-openai:v0.11.0",
            "args": [format!("--dtype={dtype}"), "--max-model-len=1024", "--max-num-seqs=16"],
            "resources": { "limits": { "nvidia.com/gpu": "1" } },
        });
        let pod = node(&json!({ "containers": [container] }));
        let catalog = Catalog::default();
        let engines = Engines::new(&catalog);
        codes(&judge(&engines, &pod, Some("Qwen/Qwen3-8B"), Some(24)))
    };
    assert_eq!(of("bfloat16"), []);
    assert_eq!(of("float32"), [Code::GpuMisfit]);
}

#[test]
fn a_script_for_the_shell_of_a_preset_is_no_program() {
    let of = |command: &str| {
        let text = format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: a, namespace: ml}}\nspec: {{model: {{uri: 'hf://a/b', name: a}}, replicas: 1, template: {{containers: [{{name: main, image: x, {command}args: ['python3 -m vllm.entrypoints.openai.api_server --model=/mnt/models']}}]}}}}\n"
        );
        crate::testing::plan(&text).out.contains("argument-form")
    };
    assert!(!of(""), "the preset has the command");
    assert!(!of("command: [sh, -c], "));
    assert!(of("command: [env], "));
}
