//! What configs say, and what becomes of the files that take it.

use super::*;
use crate::source::SourceId;
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

fn shown(imported: &Imported) -> Vec<(String, String, &'static str)> {
    imported
        .facts
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

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn a_config_says_what_selection_needs() {
    let checked = facts(&llama(""), None, None);
    let expected = [
        ("modelFormat.name", "safetensors", "assumed"),
        ("modelFormat.version", "1.0.0", "assumed"),
        ("modelFramework.name", "transformers", "declared"),
        ("modelFramework.version", "4.43.0.dev0", "declared"),
        ("modelArchitecture", "LlamaForCausalLM", "declared"),
        ("modelParameterSize", "8.03B", "computed"),
        ("maxTokens", "131072", "declared"),
    ];
    assert_eq!(
        shown(&checked.value),
        expected.map(|(path, value, basis)| (path.to_owned(), value.to_owned(), basis))
    );
    assert_eq!(checked.value.parameters, Some(ParamCount(8_030_261_248)));
    assert!(checked.diagnostics.is_empty());
    let size = checked
        .value
        .facts
        .iter()
        .find(|fact| fact.path.to_string() == "modelParameterSize")
        .expect("the size is known");
    assert_eq!(
        size.evidence.text,
        "8,030,261,248 parameters: hidden_size 4096, num_attention_heads 32, intermediate_size 14336, num_hidden_layers 32, num_key_value_heads 8, vocab_size 128256"
    );
}

#[test]
fn sizes_are_rounded_as_the_model_agent_rounds_them() {
    for (count, text) in [
        (8_030_261_248, "8.03B"),
        (494_032_768, "494.03M"),
        (1_026_408_232_448, "1.03T"),
        (7_000_000_000, "7B"),
        (6_995_000_000, "7B"),
        (999_999_999, "1B"),
        (12_345, "12.35K"),
        (7, "7"),
    ] {
        assert_eq!(rounded(ParamCount(count)), text, "{count}");
    }
}

#[test]
fn indexes_are_evidence_and_fill_in_for_unknown_families() {
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
        // The bytes of quantized weights tell nothing; a stated count does.
        (quantized.to_owned(), r#""total_size": 16060522496"#, None, &["parameter-count-unknown"]),
        (quantized.to_owned(), r#""total_parameters": 7000000000"#, Some("7B"), &[]),
        (format!("{{{LLAMA}}}"), r#""total_size": 16060522496"#, Some("8.03B"), &[]),
        // The shared head stands in the file too.
        (
            format!("{{{LLAMA}, \"tie_word_embeddings\": true}}"),
            r#""total_size": 16060522496"#,
            Some("7.5B"),
            &[],
        ),
        (
            format!("{{{LLAMA}}}"),
            r#""total_size": 26060522496"#,
            Some("8.03B"),
            &["parameter-count-differs"],
        ),
    ] {
        let checked = facts(&read(&config), Some(&index(metadata)), None);
        assert_eq!(
            checked.value.value("modelParameterSize").and_then(Node::as_str),
            size,
            "{config} {metadata}"
        );
        assert_eq!(codes(&checked.diagnostics), found, "{config} {metadata}");
        assert_eq!(
            checked.value.facts[0].evidence.text,
            "the index lists 3 tensors in 2 safetensors files"
        );
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
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
        let checked = facts(&read(config), None, None);
        assert_eq!(codes(&checked.diagnostics), found, "{config}");
        assert_eq!(checked.diagnostics[0].message, message);
        assert!(checked.value.parameters.is_none(), "{config}");
    }
    let given = facts(&read(r#"{"model_type": "new"}"#), None, Some(ParamCount(7_000_000_000)));
    assert_eq!(
        (given.value.value("modelParameterSize").and_then(Node::as_str), given.diagnostics.len()),
        (Some("7B"), 0)
    );
}

#[test]
fn an_unknown_vision_part_is_said() {
    let text = format!(
        r#"{{"architectures": ["NewForConditionalGeneration"], "model_type": "new_vl", "text_config": {{{LLAMA}}}, "vision_config": {{"depth": 2}}}}"#
    );
    let checked = facts(&read(&text), None, None);
    assert_eq!(checked.value.value("modelParameterSize").and_then(Node::as_str), Some("8.03B"));
    assert_eq!(codes(&checked.diagnostics), ["parameter-count-partial"]);
    // The numbers of the language model serve, and the version too.
    assert_eq!(checked.value.value("maxTokens").and_then(Node::as_int), Some(131_072));
}

// S0-027.
#[test]
fn quantizations_have_three_names() {
    for (config, expected) in [
        (r#"{"quant_method": "fp8", "activation_scheme": "dynamic"}"#, Some("fp8")),
        (r#"{"quant_method": "fbgemm_fp8"}"#, Some("fbgemm_fp8")),
        (r#"{"quant_method": "awq", "bits": 4}"#, Some("int4")),
        (r#"{"quant_method": "gptq", "bits": 4}"#, Some("int4")),
        (r#"{"quant_method": "gptq", "bits": 8}"#, None),
        (r#"{"quant_method": "bitsandbytes", "load_in_4bit": true}"#, Some("int4")),
        (r#"{"quant_method": "bitsandbytes", "load_in_8bit": true}"#, None),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}"#,
            Some("fp8"),
        ),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}}"#,
            Some("int4"),
        ),
        (
            r#"{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int"}}}}"#,
            None,
        ),
        (r#"{"quant_method": "modelopt", "quant_algo": "FP8"}"#, Some("fp8")),
        (r#"{"quant_method": "modelopt", "quant_algo": "NVFP4"}"#, None),
        (r#"{"quant_method": "mxfp4"}"#, None),
    ] {
        let checked = facts(&llama(&format!(", \"quantization_config\": {config}")), None, None);
        assert_eq!(
            checked.value.value("quantization").and_then(Node::as_str),
            expected,
            "{config}"
        );
        assert_eq!(
            codes(&checked.diagnostics),
            if expected.is_some() { &[][..] } else { &["unknown-quantization"] },
            "{config}"
        );
    }
}

#[test]
fn an_architecture_may_follow_from_the_type() {
    let checked = facts(
        &read(&format!("{{{}}}", LLAMA.replace("\"architectures\": [\"LlamaForCausalLM\"], ", ""))),
        None,
        None,
    );
    let fact = checked
        .value
        .facts
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
    let checked = facts(&read(file), None, None);
    let expected = serde_json::json!({
        "modelFormat": {"name": "diffusers", "version": "0.30.0"},
        "modelFramework": {"name": "diffusers", "version": "0.30.0"},
        "modelArchitecture": "FluxPipeline",
        "diffusionPipeline": {
            "className": "FluxPipeline",
            "scheduler": {"library": "diffusers", "type": "FlowMatchEulerDiscreteScheduler"},
            "transformer": {"library": "diffusers", "type": "UNet2DConditionModel"},
            "additionalComponents": {"text_encoder_2": {"library": "transformers", "type": "T5EncoderModel"}},
        },
    });
    assert_eq!(
        Node::new(Value::Map(checked.value.spec()), Origin::Derived(&IMPORTED)).to_json(),
        expected
    );
}

/// Patches the last document of a text.
fn patched(text: &str, overwrite: bool) -> (Option<Patched>, Vec<Diagnostic>) {
    let imported =
        facts(&llama(", \"quantization_config\": {\"quant_method\": \"fp8\"}"), None, None).value;
    let part = yaml::split(SourceId(0), text).value.pop().expect("there is a document");
    let model = yaml::parse(SourceId(0), text, part, &Limits::default())
        .value
        .expect("the document is not empty");
    let checked = patch(SourceId(0), text, &model, &imported, overwrite, &Limits::default());
    (checked.value, checked.diagnostics)
}

const ADDED: &str = "  modelFormat:\n    name: safetensors\n    version: 1.0.0\n  modelFramework:\n    name: transformers\n    version: 4.43.0.dev0\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8.03B\n  quantization: fp8\n  maxTokens: 131072\n";

#[test]
fn files_keep_their_layout() {
    for (before, after) in [
        // Before storage, above the comments that belong to it.
        (
            "# head\nkind: BaseModel\nspec:\n  vendor: meta # who\n\n  # where it is\n  storage:\n    storageUri: hf://a/b\n",
            format!(
                "# head\nkind: BaseModel\nspec:\n  vendor: meta # who\n\n{ADDED}  # where it is\n  storage:\n    storageUri: hf://a/b\n"
            ),
        ),
        // Storage first; another document before.
        (
            "a: 1\n---\nspec:\n  storage: {storageUri: a}\n",
            format!("a: 1\n---\nspec:\n{ADDED}  storage: {{storageUri: a}}\n"),
        ),
        // Nothing to stand before: at the end, behind the comment of the last line, without a line
        // feed there.
        (
            "spec:\n  vendor: meta\n  modelCapabilities:\n  - A\n  - B # last",
            format!(
                "spec:\n  vendor: meta\n  modelCapabilities:\n  - A\n  - B # last\n{}",
                ADDED.trim_end()
            ),
        ),
        // A block scalar is last, and another key follows the spec.
        (
            "spec:\n  displayName: |\n    a\n    # b\nstatus: {}\n",
            format!("spec:\n  displayName: |\n    a\n    # b\n{ADDED}status: {{}}\n"),
        ),
        // Windows.
        (
            "spec:\r\n  storage:\r\n    path: a\r\n",
            format!("spec:\r\n{}  storage:\r\n    path: a\r\n", ADDED.replace('\n', "\r\n")),
        ),
    ] {
        let (patched, found) = patched(before, false);
        assert_eq!(patched.map(|patched| patched.text), Some(after), "{found:?}");
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn odd_layouts_are_patched_or_refused_and_never_broken() {
    let spec = |text: &str| read(text).at(&["spec"]).expect("there is a spec").to_json();
    for (before, lines) in [
        ("kind: BaseModel\nspec: {storage: {path: a}}\n", 2),
        ("kind: BaseModel\nspec: {}\n", 2),
        ("kind: BaseModel\nspec:\n", 2),
        ("kind: BaseModel\nspec: # later\nstatus: {}\n", 3),
        ("kind: BaseModel\n", 12),
        (
            "{\n  \"kind\": \"BaseModel\",\n  \"spec\": {\n    \"storage\": {\"path\": \"a\"}\n  }\n}\n",
            12,
        ),
        ("{\"kind\": \"BaseModel\"}", 1),
        ("spec:\n  modelFormat:\n  modelFramework: null\n  storage: {path: a}\n", 8),
        ("spec:\n  modelFormat: {name: \"\"}\n  modelArchitecture: ''\n  storage: {path: a}\n", 10),
    ] {
        let (patched, found) = patched(before, false);
        let patched = patched.unwrap_or_else(|| panic!("{before}: {found:?}"));
        assert_eq!(patched.text.lines().count(), lines, "{before}\n{}", patched.text);
        let after = spec(&patched.text);
        assert_eq!(
            (&after["modelFormat"]["name"], &after["maxTokens"]),
            (&"safetensors".into(), &131_072.into()),
            "{}",
            patched.text
        );
    }
    for before in
        ["base: &a {storage: {path: b}}\nspec: *a\n", "? spec\n: ? storage\n  : path: a\n"]
    {
        let (patched, found) = patched(before, false);
        assert_eq!(
            (patched.map(|patched| patched.text), codes(&found)),
            (None, vec!["import-refused"]),
            "{before}"
        );
    }
}

#[test]
fn what_is_written_is_kept_unless_it_may_be_replaced() {
    let before = "spec:\n  modelFormat:\n    name: safetensors\n  modelFramework:\n    name: transformers\n    version: \"4.36.2\" # pinned\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8B\n  quantization: int4\n  maxTokens: 131072\n";
    let (kept, found) = patched(before, false);
    let kept = kept.expect("nothing is in the way");
    assert_eq!((kept.text.as_str(), kept.changed.len()), (before, 0));
    assert_eq!(codes(&found), ["import-conflict", "import-conflict"]);
    assert_eq!(found[1].message, "`spec.quantization` is `int4`, the config makes `fp8`");
    let (replaced, found) = patched(before, true);
    let expected = before.replace("\"4.36.2\"", "\"4.43.0.dev0\"").replace("int4", "\"fp8\"");
    assert_eq!(replaced.map(|patched| patched.text), Some(expected));
    assert!(found.is_empty(), "{found:?}");
}
