//! Facts read from configs, and files that receive them.

use super::*;
use crate::source::SourceId;
use crate::testing::codes;
use crate::yaml::{self, Limits};

fn read(text: &str) -> Node {
    let checked = yaml::parse(SourceId(0), text, 0..text.len(), &Limits::default());
    assert!(checked.diagnostics.is_empty(), "{text}: {:?}", checked.diagnostics);
    checked.value.expect("a text of a test is not empty")
}

const LLAMA: &str = r#""architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0""#;

fn llama(more: &str) -> Node {
    read(&format!("{{{LLAMA}{more}}}"))
}

fn shown(facts: &Facts) -> Vec<(String, String, &'static str)> {
    facts
        .values
        .iter()
        .map(|fact| {
            (
                fact.path.to_string(),
                fact.value.scalar_text().unwrap_or_default().into(),
                fact.evidence.basis.as_str(),
            )
        })
        .collect()
}

#[test]
fn a_config_yields_the_fields_used_for_selection() {
    let checked = of_config(&llama(""), None, None);
    let expected = [
        ("modelFormat.name", "safetensors", "assumed"),
        ("modelFormat.version", "1.0.0", "assumed"),
        ("modelFramework.name", "transformers", "declared"),
        ("modelFramework.version", "4.43.0.dev0", "declared"),
        ("modelType", "llama", "declared"),
        ("modelArchitecture", "LlamaForCausalLM", "declared"),
        ("modelParameterSize", "8.03B", "computed"),
        ("maxTokens", "131072", "declared"),
        ("modelCapabilities", "", "assumed"),
    ];
    assert_eq!(
        shown(&checked.value),
        expected.map(|(path, value, basis)| (path.to_owned(), value.to_owned(), basis))
    );
    assert_eq!(checked.value.parameters, Some(ParamCount(8_030_261_248)));
    assert!(checked.diagnostics.is_empty());
    let size = checked
        .value
        .values
        .iter()
        .find(|fact| fact.path.to_string() == "modelParameterSize")
        .expect("the size is known");
    assert_eq!(
        size.evidence.text,
        "8,030,261,248 parameters: hidden_size 4096, num_attention_heads 32, intermediate_size 14336, num_hidden_layers 32, num_key_value_heads 8, vocab_size 128256"
    );
}

#[test]
fn a_weight_index_gives_the_size_of_unknown_model_families() {
    let index = |metadata: &str| {
        read(&format!(
            r#"{{"metadata": {{{metadata}}}, "weight_map": {{"a": "model-00001-of-00002.safetensors", "b": "model-00001-of-00002.safetensors", "c": "model-00002-of-00002.safetensors"}}}}"#
        ))
    };
    let unknown =
        r#"{"architectures": ["NewForCausalLM"], "model_type": "new", "torch_dtype": "bfloat16"}"#;
    let quantized = r#"{"architectures": ["NewForCausalLM"], "model_type": "new", "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}}"#;
    for (config, metadata, size, found) in [
        (unknown.to_owned(), r#""total_size": 16060522496"#, Some("8.03B"), &[][..]),
        (unknown.to_owned(), r#""total_size": 16060522496.0"#, Some("8.03B"), &[]),
        (
            unknown.to_owned(),
            r#""total_parameters": 7000000000, "total_size": 16060522496"#,
            Some("7B"),
            &[],
        ),
        (
            unknown.replace("torch_dtype", "x"),
            r#""total_size": 16060522496"#,
            None,
            &["parameter-count-unknown"],
        ),
        // The bytes of quantized weights do not give a count; a stated count does.
        (quantized.to_owned(), r#""total_size": 16060522496"#, None, &["parameter-count-unknown"]),
        (quantized.to_owned(), r#""total_parameters": 7000000000"#, Some("7B"), &[]),
        (format!("{{{LLAMA}}}"), r#""total_size": 16060522496"#, Some("8.03B"), &[]),
        // The shared head is written in the file too, and counts.
        (
            format!("{{{LLAMA}, \"tie_word_embeddings\": true}}"),
            r#""total_size": 16060522496"#,
            Some("8.03B"),
            &[],
        ),
        (
            format!("{{{LLAMA}}}"),
            r#""total_size": 26060522496"#,
            Some("13.03B"),
            &["parameter-count-differs"],
        ),
    ] {
        let checked = of_config(&read(&config), Some(&index(metadata)), None);
        assert_eq!(
            checked.value.value("modelParameterSize").and_then(Node::as_str),
            size,
            "{config} {metadata}"
        );
        assert_eq!(codes(&checked.diagnostics), found, "{config} {metadata}");
        assert_eq!(
            checked.value.values[0].evidence.text,
            "the index lists 3 tensors in 2 safetensors files"
        );
    }
}

#[test]
fn an_uncountable_config_is_reported_with_the_missing_fields() {
    for (config, found, message) in [
        (
            r#"{"model_type": "new"}"#,
            &["parameter-count-unknown"][..],
            "parameters cannot be counted: model type `new` is not known here",
        ),
        (
            r#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}"#,
            &["parameter-count-unknown"],
            "parameters cannot be counted: the config lacks `num_hidden_layers`, `vocab_size`",
        ),
        (
            r#"{"model_type": "llama", "hidden_size": "wide", "num_hidden_layers": -1, "num_attention_heads": 1e18, "vocab_size": 1}"#,
            &["parameter-count-unknown", "invalid-value", "invalid-value", "invalid-value"],
            "parameters cannot be counted: a number of the config cannot be used",
        ),
        (
            r#"{"model_type": "mixtral", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 1}"#,
            &["parameter-count-unknown"],
            "parameters cannot be counted: the config lacks `num_local_experts`",
        ),
        (
            r#"{"tokenizer_class": "LlamaTokenizer"}"#,
            &["not-model-config"],
            "the file names neither `architectures` nor `model_type`",
        ),
    ] {
        let checked = of_config(&read(config), None, None);
        assert_eq!(codes(&checked.diagnostics), found, "{config}");
        assert_eq!(checked.diagnostics[0].message, message);
        assert!(checked.value.parameters.is_none(), "{config}");
    }
    let given = of_config(&read(r#"{"model_type": "new"}"#), None, Some(ParamCount(7_000_000_000)));
    assert_eq!(
        (given.value.value("modelParameterSize").and_then(Node::as_str), given.diagnostics.len()),
        (Some("7B"), 0)
    );
}

#[test]
fn an_unknown_vision_part_is_reported_as_a_partial_count() {
    let text = format!(
        r#"{{"architectures": ["NewForConditionalGeneration"], "model_type": "new_vl", "text_config": {{{LLAMA}}}, "vision_config": {{"depth": 2}}}}"#
    );
    let checked = of_config(&read(&text), None, None);
    assert_eq!(checked.value.value("modelParameterSize").and_then(Node::as_str), Some("8.03B"));
    assert_eq!(codes(&checked.diagnostics), ["parameter-count-partial"]);
    // The numbers of the language model serve, and the version too.
    assert_eq!(checked.value.value("maxTokens").and_then(Node::as_int), Some(131_072));
}

#[test]
fn quantization_has_a_detailed_name_and_the_model_agent_name() {
    for (config, written, finest) in [
        (r#"{"quant_method": "fp8", "activation_scheme": "dynamic"}"#, Some("fp8"), Some("fp8")),
        (r#"{"quant_method": "fbgemm_fp8"}"#, Some("fp8"), Some("fbgemm_fp8")),
        (r#"{"quant_method": "awq", "bits": 4}"#, None, Some("awq")),
        (r#"{"quant_method": "gptq", "bits": 4}"#, None, Some("gptq")),
        (r#"{"quant_method": "bitsandbytes", "load_in_4bit": true}"#, None, Some("int4")),
        (r#"{"quant_method": "bitsandbytes", "load_in_8bit": true}"#, None, Some("int8")),
        (r#"{"quant_method": "torchao"}"#, None, None),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}"#,
            None,
            Some("fp8"),
        ),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}}"#,
            None,
            Some("int4"),
        ),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}"#,
            None,
            Some("nvfp4"),
        ),
        (r#"{"quant_method": "modelopt", "quant_algo": "FP8"}"#, None, Some("fp8")),
        (r#"{"quant_method": "modelopt", "quant_algo": "NVFP4"}"#, None, Some("nvfp4")),
        (
            r#"{"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "NVFP4"}}}"#,
            None,
            Some("nvfp4"),
        ),
        (r#"{"quant_method": "mxfp4"}"#, None, Some("mxfp4")),
    ] {
        let checked =
            of_config(&llama(&format!(", \"quantization_config\": {config}")), None, None);
        let named = checked.value.quantization.as_ref().and_then(|fact| fact.value.as_str());
        assert_eq!(named, finest, "{config}");
        assert_eq!(checked.value.value("quantization").and_then(Node::as_str), written, "{config}");
        assert_eq!(
            codes(&checked.diagnostics),
            if written.is_some() { &[][..] } else { &["unknown-quantization"] },
            "{config}"
        );
    }
}

#[test]
fn an_architecture_may_follow_from_the_type() {
    let checked = of_config(
        &read(&format!("{{{}}}", LLAMA.replace("\"architectures\": [\"LlamaForCausalLM\"], ", ""))),
        None,
        None,
    );
    let fact = checked
        .value
        .values
        .iter()
        .find(|fact| fact.path.to_string() == "modelArchitecture")
        .expect("it is assumed");
    assert_eq!(
        (fact.value.as_str(), fact.evidence.basis),
        (Some("LlamaForCausalLM"), Basis::Assumed)
    );
}

#[test]
fn pipelines_name_their_parts() {
    let file = r#"{"_class_name": "FluxPipeline", "_diffusers_version": "0.30.0", "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"], "text_encoder_2": ["transformers", "T5EncoderModel"], "unet": ["diffusers", "UNet2DConditionModel"], "safety_checker": [null, null], "force_zeros": true}"#;
    let checked = of_config(&read(file), None, None);
    let expected = serde_json::json!({
        "modelFormat": {"name": "diffusers", "version": "0.30.0"},
        "modelFramework": {"name": "diffusers", "version": "0.30.0"},
        "modelType": "diffusers",
        "modelArchitecture": "FluxPipeline",
        "diffusionPipeline": {
            "className": "FluxPipeline",
            "scheduler": {"library": "diffusers", "type": "FlowMatchEulerDiscreteScheduler"},
            "transformer": {"library": "diffusers", "type": "UNet2DConditionModel"},
            "additionalComponents": {"text_encoder_2": {"library": "transformers", "type": "T5EncoderModel"}},
        },
        "modelCapabilities": ["IMAGE_TEXT_TO_TEXT"],
    });
    assert_eq!(
        Node::new(Value::Map(checked.value.spec()), Origin::Derived(&FACTS)).to_json(),
        expected
    );
}

/// Configs of published models, with the parameters and stored elements of their files as the Hub
/// counts them; `testdata/README.md` lists the exceptions.
pub(super) const COUNTS: &str = include_str!("../../../testdata/models/counts.jsonl");

#[test]
fn counted_parameters_are_within_1_percent_of_published_files() {
    let mut wrong = Vec::new();
    for line in COUNTS.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let checked = of_config(&read(&row["config"].to_string()), None, None);
        let near = |counted: Option<ParamCount>, published: &serde_json::Value| {
            published.as_u64().is_none_or(|published| {
                counted.is_some_and(|counted| counted.0.abs_diff(published) <= published / 100)
            })
        };
        let facts = &checked.value;
        if !near(facts.parameters, &row["parameters"])
            || !near(facts.stored, &row["storedElements"])
        {
            wrong.push(format!("{}: {:?}, {:?}", row["id"], facts.parameters, facts.stored));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
