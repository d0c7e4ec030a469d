//! Command lines as the engines read them.

use super::*;
use crate::engine::Ranks;
use crate::yaml::{Origin, Rule};

static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

fn container(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Default(&TEST))
}

fn settings(value: &serde_json::Value) -> EngineSettings {
    EngineSettings::of(&container(value)).expect("an engine")
}

fn vllm(args: &[&str]) -> EngineSettings {
    settings(&serde_json::json!({"image": "vllm/vllm-openai:v0.11.0", "args": args,
        "env": [{"name": "LEN", "value": "77"}, {"name": "SECRET", "valueFrom": {}}]}))
}

#[test]
fn a_value_is_the_last_one_that_is_set() {
    for (args, expected) in [
        (vec!["--max-model-len", "8192"], Some(8192)),
        (vec!["--max-model-len=8k"], Some(8000)),
        (vec!["--max_model_len=8K"], Some(8192)),
        (vec!["--max-model-len", "$(LEN)"], Some(77)),
        (vec!["--max-model-len", "1", "--max-model-len", "2"], Some(2)),
        (vec!["--max-model-len", "2", "--max-model-len", "$(SECRET)"], None),
        (vec!["--max-model-len", "2", "--seed", "3", "$(SECRET)"], None),
        (vec!["$(SECRET)", "--max-model-len", "2"], Some(2)),
        (vec!["--name", "$(SECRET)", "--max-model-len", "2"], Some(2)),
        (vec!["--max-model-len", "many"], None),
        (vec!["--max-model-len"], None),
        (vec!["--max-model-len", "0"], None),
        (vec!["--max-model-len", "99999999999999999999K"], None),
    ] {
        let found = vllm(&args).context.set().map(|found| found.value);
        assert_eq!(found, expected, "{args:?}");
    }
    let script = settings(&serde_json::json!({"image": "x", "command": ["/bin/bash", "-lc", "--"],
        "args": ["vllm serve \\\n  --max-model-len 16 \\\n --port 1"]}));
    assert_eq!(script.context.set().map(|found| found.value), Some(16));
}

#[test]
fn a_shell_with_named_options_runs_its_script() {
    for options in [vec!["-euo", "pipefail", "-c"], vec!["-o", "pipefail", "-ec"], vec!["-ec"]] {
        let command: Vec<&str> = std::iter::once("bash").chain(options).collect();
        let script = settings(&serde_json::json!({"image": "x", "command": command,
            "args": ["PORT=$(echo \")\" | wc -c)\nvllm serve --max-model-len 16 --port \"$PORT\""]}));
        assert_eq!(script.context.set().map(|found| found.value), Some(16), "{command:?}");
    }
    let sum = settings(&serde_json::json!({"image": "x", "command": ["sh", "-c"],
        "args": ["vllm serve --port $((8000 + 1)) --max-model-len 16"]}));
    assert_eq!(sum.context.set().map(|found| found.value), Some(16));
    let file = serde_json::json!({"image": "x", "command": ["bash", "-o", "pipefail", "run.sh"]});
    assert!(EngineSettings::of(&container(&file)).is_none());
}

#[test]
fn defaults_hold_only_where_nothing_else_may_set_the_value() {
    assert!(vllm(&["--model", "m"]).tensor.is_default());
    for args in [vec!["--model", "m", "$(SECRET)"], vec!["--config", "/c.yaml"]] {
        assert!(matches!(vllm(&args).tensor, Known::Unknown), "{args:?}");
    }
    let settings = settings(&serde_json::json!({"image": "me/my-vllm", "args": ["-tp", "4"]}));
    assert_eq!(settings.tensor.set().map(|found| found.value), Some(4));
    assert!(matches!(settings.pipeline, Known::Unknown));
    for image in ["me/serve:1", "me/vllm-router:1"] {
        assert!(EngineSettings::of(&container(&serde_json::json!({"image": image}))).is_none());
    }
    let wrapped = serde_json::json!({"image": "vllm/vllm-openai:v0.11.0", "command": ["/run.sh"]});
    assert!(EngineSettings::of(&container(&wrapped)).is_none());
}

#[test]
fn what_an_engine_cannot_read_is_found() {
    let faults = |args: &[&str]| -> Vec<String> {
        let faults = vllm(args).faults;
        faults
            .into_iter()
            .map(|fault| match fault {
                Fault::CommandLine { text, .. } => text.to_string(),
                Fault::Joined { words, .. } => words.join("|"),
                Fault::Range { flag, text, expected, .. } => format!("{flag} {text}, {expected}"),
                Fault::FewTokens { tokens, requests, .. } => format!("{tokens:?} {requests:?}"),
                Fault::Number { flag, text, .. } => format!("{flag} {text}"),
                Fault::Unknown { flag, release, .. } => format!("{flag} {release}"),
            })
            .collect()
    };
    assert_eq!(faults(&["--max-num-seqs=2.56e+02"]), ["--max-num-seqs 2.56e+02"]);
    assert_eq!(faults(&["--max-model-len 4096"]), ["--max-model-len|4096"]);
    assert_eq!(faults(&["--max-model-len \"4096\""]), ["--max-model-len|4096"]);
    assert_eq!(faults(&["--served-model-name my model"]), ["--served-model-name|my|model"]);
    assert_eq!(faults(&["--model=/m --max-model-len 4"]), ["--model=/m|--max-model-len|4"]);
    assert_eq!(faults(&["serve /m --max-model-len 4"]), ["serve|/m|--max-model-len|4"]);
    assert_eq!(faults(&["--model", "/m -tp=2"]), ["/m|-tp=2"]);
    // What else the element sets is not known, so no default is assumed.
    let joined = vllm(&["--model=/m --tensor-parallel-size 2"]);
    assert!(matches!(joined.tensor, Known::Unknown));
    for text in ["--chat-template=a --b", "--prompt=say --no", "--x={\"a\": \"b --model c\"}"] {
        assert!(faults(&[text]).is_empty(), "{text}");
    }
    assert!(faults(&["--chat-template", "a --model b"]).is_empty());
    assert!(
        faults(&["--max-model-len", "8k", "--chat-template", "a b", "--max-model-len", "auto"])
            .is_empty()
    );
    assert!(faults(&["--override={\"a\": 1}", "--max-num-seqs", "$(SECRET)"]).is_empty());
    let one = container(&serde_json::json!({"image": "vllm/vllm-openai:v0.11.0",
        "command": ["vllm serve m --port 1"]}));
    assert!(matches!(EngineSettings::container(&one), Container::Fault(Fault::CommandLine { .. })));
    let two = container(&serde_json::json!({"image": "vllm/vllm-openai:v0.11.0",
        "command": ["vllm"], "args": ["serve m --port 1"]}));
    assert!(matches!(EngineSettings::container(&two), Container::Fault(Fault::CommandLine { .. })));
    let other =
        container(&serde_json::json!({"image": "x", "command": ["python3", "-c", "import vllm"]}));
    assert!(matches!(EngineSettings::container(&other), Container::Other));
}

#[test]
fn flags_and_units_are_those_of_the_release() {
    let faults = |image: &str, args: &[&str]| {
        let settings = settings(&serde_json::json!({"image": image, "args": args}));
        settings.faults.len()
    };
    for (image, args, expected) in [
        ("vllm/vllm-openai:v0.8.2", ["-dp", "2"], 1),
        ("vllm/vllm-openai:v0.8.3", ["-dp", "2"], 0),
        ("vllm/vllm-openai:v0.8.2", ["--speculative-model", "m"], 0),
        ("vllm/vllm-openai:v0.8.3", ["--speculative-model", "m"], 1),
        ("vllm/vllm-openai:v0.11.0", ["--nnodes", "2"], 1),
        ("vllm/vllm-openai:v0.12.0", ["--nnodes", "2"], 0),
        ("vllm/vllm-openai:v0.12.0", ["--rope-scaling", "{}"], 1),
        // A candidate, a release between those that were looked at, and no release.
        ("vllm/vllm-openai:v0.12.0rc1", ["--rope-scaling", "{}"], 0),
        ("vllm/vllm-openai:v0.11.1", ["--nnodes", "2"], 0),
        ("vllm/vllm-openai:latest", ["--nnodes", "2"], 0),
        ("vllm/vllm-openai:v0.8.3", ["--max-model-len", "8k"], 1),
        ("vllm/vllm-openai:v0.8.4", ["--max-model-len", "8k"], 0),
        ("lmsysorg/sglang:v0.4.6-cu124", ["--pp-size", "2"], 1),
        ("lmsysorg/sglang:v0.4.8", ["--pp-size", "2"], 0),
        ("openmmlab/lmdeploy:v0.7.3-cu12", ["--dp", "2"], 1),
        ("openmmlab/lmdeploy:v0.8.0-cu12", ["--dp", "2"], 0),
        (
            "ghcr.io/huggingface/text-generation-inference:2.3.1",
            ["--kv-cache-dtype", "fp8_e5m2"],
            1,
        ),
        (
            "ghcr.io/huggingface/text-generation-inference:2.4.0",
            ["--kv-cache-dtype", "fp8_e5m2"],
            0,
        ),
    ] {
        assert_eq!(faults(image, &args), expected, "{image} {args:?}");
    }
    let chunked = |args: &[&str]| vllm(args).chunked.set().map(|setting| setting.value);
    assert_eq!(chunked(&["--enable-chunked-prefill", "False", "--port", "1"]), Some(false));
    assert_eq!(chunked(&["--enable-chunked-prefill", "--port", "1"]), Some(true));
}

#[test]
fn ranks_are_those_of_the_engine() {
    let ranks = |image: &str, args: &[&str]| {
        let settings = settings(&serde_json::json!({"image": image, "args": args}));
        Ranks::of(&settings).map(|ranks| (ranks.all, ranks.copy, ranks.is_least))
    };
    let vllm = |args: &[&str]| ranks("vllm/vllm-openai:v0.11.0", args);
    let sglang = |args: &[&str]| ranks("lmsysorg/sglang:v0.5.2", args);
    assert_eq!(vllm(&[]), Some((1, 1, false)));
    // The stages of a model have devices of their own.
    assert_eq!(vllm(&["--omni"]), None);
    assert_eq!(vllm(&["-tp", "4", "-pp=2"]), Some((8, 8, false)));
    assert_eq!(vllm(&["-tp", "2", "-dp", "4"]), Some((8, 2, false)));
    assert_eq!(vllm(&["-tp", "2", "-dp", "16", "-dpl", "4"]), Some((8, 2, false)));
    assert_eq!(vllm(&["-tp", "2", "-dp", "16", "--headless"]), Some((2, 2, false)));
    assert_eq!(vllm(&["-dp", "16", "--data-parallel-rank", "0"]), Some((1, 1, false)));
    assert_eq!(vllm(&["-tp", "2", "-dp", "16", "-dpb", "ray"]), Some((2, 2, true)));
    assert_eq!(sglang(&["--tp", "8", "--dp", "2"]), Some((16, 8, false)));
    assert_eq!(sglang(&["--tp", "8", "--dp", "8", "--enable-dp-attention"]), Some((8, 8, false)));
    assert_eq!(ranks("me/my-vllm", &["-tp", "4"]), Some((4, 4, true)));
    assert_eq!(ranks("me/my-vllm", &["--port", "4"]), None);
    assert_eq!(ranks("x/text-generation-inference:3", &[]), None);
    assert_eq!(ranks("x/text-generation-inference:3", &["--num-shard=4"]), Some((4, 4, false)));
}

#[test]
fn numbers_that_a_release_refuses_are_found() {
    let faults = |image: &str, args: &[&str]| {
        let settings = settings(&serde_json::json!({"image": image, "args": args}));
        settings.faults.len()
    };
    let share = "--gpu-memory-utilization";
    let fraction = "--mem-fraction-static";
    for (image, args, expected) in [
        ("vllm/vllm-openai:v0.6.6", vec![share, "1.5"], 1),
        ("vllm/vllm-openai:v0.11.0", vec![share, "90"], 1),
        ("vllm/vllm-openai:latest", vec![share, "90"], 1),
        ("vllm/vllm-openai:v0.11.0", vec![share, "1"], 0),
        // The last one counts.
        ("vllm/vllm-openai:v0.11.0", vec![share, "90", share, "0.9"], 0),
        // Earlier releases take it, and find no memory later.
        ("vllm/vllm-openai:v0.11.0", vec![share, "0"], 0),
        ("vllm/vllm-openai:v0.12.0", vec![share, "0"], 1),
        ("vllm/vllm-openai:v0.11.0", vec!["-tp", "0"], 1),
        ("vllm/vllm-openai:v0.11.0", vec!["--max-model-len", "-5"], 0),
        ("vllm/vllm-openai:v0.14.0", vec!["--max-model-len", "-5"], 1),
        ("vllm/vllm-openai:v0.14.0", vec!["--max-model-len", "-1"], 0),
        ("lmsysorg/sglang:v0.5.3", vec![fraction, "1.2"], 1),
        ("lmsysorg/sglang:v0.5.3", vec![fraction, "1.2", "--max-total-tokens", "64"], 0),
        ("vllm/vllm-openai:v0.11.0", vec!["--max-num-seqs=512", "--max-num-batched-tokens=256"], 1),
        ("vllm/vllm-openai:v0.11.0", vec!["--max-num-seqs=256", "--max-num-batched-tokens=256"], 0),
        ("vllm/vllm-openai:v0.11.0", vec!["--max-num-seqs=4096"], 0),
    ] {
        assert_eq!(faults(image, &args), expected, "{image} {args:?}");
    }
}

#[test]
fn fields_of_an_object_are_flags_of_their_own() {
    let overrides = |args: &[&str]| vllm(args).overrides.set().map(|setting| setting.value.clone());
    let one = overrides(&["--hf-overrides.max_position_embeddings=8192"]);
    assert_eq!(one.as_deref(), Some(r#"{"max_position_embeddings":8192}"#));
    let two = overrides(&["--hf-overrides", r#"{"a": 1}"#, "--hf-overrides.b.c", "x"]);
    assert_eq!(two.as_deref(), Some(r#"{"a":1,"b":{"c":"x"}}"#));
    assert_eq!(overrides(&["--model.b=8192"]), None);
}
