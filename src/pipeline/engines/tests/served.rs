//! Which model a server loads, what it holds while loading, and which limits its flags set.

use super::*;
use crate::pipeline::testing::world_of;

const LLAMA: &str = "meta-llama/Llama-3.1-8B-Instruct";

/// A server with these arguments, of a service with a model, on devices of so many GiB.
fn served(image: &str, args: &[&str], model: &str, memory: u64) -> Judged {
    let container = json!({
        "image": image,
        "args": args,
        "resources": { "limits": { "nvidia.com/gpu": "1" } },
    });
    let pod = node(&json!({ "containers": [container] }));
    let catalog = Catalog::default();
    judge(&Engines::new(&catalog), &pod, Some(model), Some(memory))
}

fn vllm(args: &[&str], memory: u64) -> Judged {
    served("vllm/vllm-openai:v0.11.0", args, LLAMA, memory)
}

fn text(judged: &Judged) -> (String, String) {
    let [one] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    (one.message.clone(), one.help.clone().unwrap_or_default())
}

fn requests(judged: &Judged) -> Option<u64> {
    judged.cache.as_ref()?.requests()
}

#[test]
fn values_that_replace_those_of_the_config_are_not_guessed() {
    // 131,072 tokens, which a device of 24 GiB does not hold.
    assert_eq!(codes(&vllm(&["--model=/m"], 24)), [Code::ContextExceedsMemory]);
    for name in [
        vec!["--model=/m", r#"--hf-overrides={"max_position_embeddings": 8192}"#],
        vec!["--model=/m", "--hf-overrides.max_position_embeddings=8192"],
        vec!["--model=/m", "--hf-overrides", r#"{"num_hidden_layers": 4}"#],
    ] {
        let found = vllm(&name, 24);
        assert_eq!((codes(&found), requests(&found)), (vec![], None), "{name:?}");
    }
    // A context that is set is that of the server, whatever the config says of it.
    let set = ["--hf-overrides.max_position_embeddings=8192", "--max-model-len=131072"];
    assert_eq!(codes(&vllm(&set, 24)), [Code::ContextExceedsMemory]);
}

#[test]
fn the_model_of_a_command_line_is_the_one_that_is_loaded() {
    // 15.0 GiB do not fit 15 GiB × 0.9.
    assert_eq!(codes(&vllm(&["--model=/m"], 15)), [Code::GpuMisfit]);
    assert_eq!(codes(&vllm(&["--model", LLAMA], 15)), [Code::GpuMisfit]);
    let small = vllm(&["--model=Qwen/Qwen2.5-0.5B-Instruct"], 15);
    assert_eq!(codes(&small), []);
    assert!(requests(&small).is_some_and(|requests| requests > 1));
    // Nothing is known of another one, and of files of another width.
    for argument in ["--model=acme/unknown", "--model=/m/x.gguf"] {
        let found = vllm(&[argument], 15);
        assert_eq!((codes(&found), requests(&found)), (vec![], None), "{argument}");
    }
    assert_eq!(codes(&vllm(&["--model=/m", "--load-format=gguf"], 15)), []);
}

#[test]
fn weights_that_are_quantized_while_loading_must_fit_before() {
    let of = |image: &str, memory| {
        let args = ["--model=/m", "--quantization=fp8", "--max-model-len=4096"];
        let found = served(image, &args, "Qwen/Qwen2.5-14B-Instruct", memory);
        (codes(&found), requests(&found).is_some())
    };
    // 27.5 GiB in 16 bits, 13.8 in 8.
    assert_eq!(of("vllm/vllm-openai:v0.11.0", 22), (vec![Code::GpuMisfit], false));
    assert_eq!(of("vllm/vllm-openai:v0.11.0", 48), (vec![], true));
    assert_eq!(of("vllm/vllm-openai:v0.17.0", 22), (vec![], true));
    // Of this release it is not known, nor of which one a tag without a number is.
    assert_eq!(of("vllm/vllm-openai:v0.15.0", 22), (vec![], false));
    assert_eq!(of("vllm/vllm-openai:latest", 22), (vec![], false));
    assert_eq!(of("vllm/vllm-openai:latest", 48), (vec![], true));
}

#[test]
fn the_next_step_is_spelled_as_the_engine_takes_it_and_helps() {
    let (_, help) = text(&vllm(&["--model=/m", "--max-model-len=131072"], 32));
    assert!(help.contains("`--kv-cache-dtype=fp8`"), "{help}");
    // Half of the cache is still more than what is left.
    let (_, help) = text(&vllm(&["--model=/m", "--max-model-len=131072"], 22));
    assert!(!help.contains("8 bits"), "{help}");
    // SGLang starts, and serves shorter requests.
    let sglang = |args: &[&str], memory| served("lmsysorg/sglang:v0.5.3", args, LLAMA, memory);
    let found = sglang(&["--model-path=/m", "--context-length=131072"], 28);
    let (message, help) = text(&found);
    assert!(message.contains("requests have at most about"), "{message}");
    assert!(help.contains("`--kv-cache-dtype=fp8_e5m2`"), "{help}");
    assert!(found.stop.is_none());
    let found = sglang(&["--model-path=/m"], 28);
    assert_eq!((codes(&found), found.stop.is_none()), (vec![Code::ContextExceedsMemory], true));
}

#[test]
fn flags_limit_what_the_cache_holds() {
    let held = |args: &[&str], memory| {
        let found = vllm(args, memory);
        let fit = found.cache.expect("a cache");
        (fit.requests(), fit.held.map(|operand| operand.value))
    };
    let blocks = ["--model=/m", "--max-model-len=1000", "--num-gpu-blocks-override=100"];
    assert_eq!(held(&blocks, 80), (Some(1), Some(1600)));
    let larger = [&blocks[..], &["--block-size=32"]].concat();
    assert_eq!(held(&larger, 80), (Some(3), Some(3200)));
    let sglang = ["--model-path=/m", "--context-length=500", "--max-total-tokens=1000"];
    let found = served("lmsysorg/sglang:v0.5.3", &sglang, LLAMA, 80);
    assert_eq!((requests(&found), codes(&found)), (Some(2), vec![]));
    let short = served("lmsysorg/sglang:v0.5.3", &["--max-total-tokens=1000"], LLAMA, 80);
    assert_eq!(requests(&short), Some(0));
    assert_eq!((codes(&short), short.stop), (vec![Code::ContextExceedsMemory], None));
}

#[test]
fn adapters_and_draft_models_take_memory() {
    let middle = |args: &[&str]| {
        let found = vllm(args, 80);
        found.cache.and_then(|fit| fit.estimate).map_or(0.0, |estimate| estimate.middle)
    };
    let plain = middle(&["--model=/m", "--max-model-len=8192"]);
    let one = middle(&["--model=/m", "--max-model-len=8192", "--enable-lora"]);
    assert!((plain - one - 0.078).abs() < 0.001, "{plain} {one}");
    let many = ["--model=/m", "--max-model-len=8192", "--enable-lora", "--max-loras=16"];
    let many = middle(&[&many[..], &["--max-lora-rank=256"]].concat());
    assert!((plain - many - 20.0).abs() < 0.1, "{plain} {many}");
    // 131.4 GiB beside 15.0.
    let draft = r#"--speculative-config={"model": "meta-llama/Llama-3.1-70B-Instruct"}"#;
    let found = vllm(&["--model=/m", draft], 80);
    assert_eq!(codes(&found), [Code::GpuMisfit]);
    assert!(text(&found).0.contains("draft model `meta-llama/Llama-3.1-70B-Instruct`"));
}

/// Two nodes of one kind of service, one of which has too little memory for the context.
#[test]
fn nodes_that_are_too_small_are_named() {
    let node = |name: &str, memory: u64| {
        format!(
            "
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{nvidia.com/gpu.memory: \"{memory}\"}}}}
status: {{allocatable: {{cpu: \"64\", memory: 512Gi, pods: \"110\", nvidia.com/gpu: \"8\"}}}}
---"
        )
    };
    let server = "          image: vllm/vllm-openai:v0.11.0
          args: [--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=131072]
          resources: {limits: {nvidia.com/gpu: \"1\"}}
";
    let of = |nodes: &[(&str, u64)]| {
        let nodes: String = nodes.iter().map(|(name, memory)| node(name, *memory)).collect();
        let world = world_of(&format!("{nodes}\n{SERVER}{server}"));
        let found = Engines::new(&world.catalog).of_workloads(&world.catalog);
        let messages: Vec<String> =
            found.findings.iter().map(|finding| finding.message.clone()).collect();
        (messages, found.stopped.len())
    };
    let (messages, stopped) = of(&[("large", 81_559), ("small", 23_028)]);
    assert!(messages[0].ends_with("the server does not start on node small (22.5 GiB)"));
    assert_eq!((messages.len(), stopped), (1, 0));
    assert_eq!(of(&[("large", 81_559)]), (vec![], 0));
    let (messages, stopped) = of(&[("small", 23_028)]);
    assert!(messages[0].ends_with("the server does not start"), "{messages:?}");
    assert_eq!(stopped, 1);
}
