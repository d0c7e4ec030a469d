//! Files into which the facts of a config are imported.

use super::*;
use crate::diag::Diagnostic;
use crate::diag::edited;
use crate::facts::models::of_config;
use crate::source::SourceId;
use crate::testing::codes;
use crate::yaml::{self, FieldPath, Limits};

fn read(text: &str) -> Node {
    let checked = yaml::parse(SourceId(0), text, 0..text.len(), &Limits::default());
    assert!(checked.diagnostics.is_empty(), "{text}: {:?}", checked.diagnostics);
    checked.value.expect("a text of a test is not empty")
}

const LLAMA: &str = r#""architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0""#;

fn llama(more: &str) -> Node {
    read(&format!("{{{LLAMA}{more}}}"))
}

/// A text with the values in it.
struct Applied {
    text: String,
    changed: Vec<FieldPath>,
}

/// Patches the last document of a text.
fn patched(text: &str, overwrite: bool) -> (Option<Applied>, Vec<Diagnostic>) {
    let imported =
        of_config(&llama(", \"quantization_config\": {\"quant_method\": \"fp8\"}"), None, None)
            .value;
    let part = yaml::split(SourceId(0), text).value.pop().expect("there is a document");
    let model = yaml::parse(SourceId(0), text, part, &Limits::default())
        .value
        .expect("the document is not empty");
    let checked = patch(SourceId(0), text, &model, &imported, overwrite, &Limits::default());
    let applied = checked
        .value
        .map(|patched| Applied { text: edited(text, &patched.edits), changed: patched.changed });
    (applied, checked.diagnostics)
}

const ADDED: &str = "  modelFormat:\n    name: safetensors\n    version: 1.0.0\n  modelFramework:\n    name: transformers\n    version: 4.43.0.dev0\n  modelType: llama\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8.03B\n  quantization: fp8\n  maxTokens: 131072\n  modelCapabilities:\n  - TEXT_TO_TEXT\n";

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
        // No key to insert before: at the end, after the comment of the last line, without a
        // newline there.
        (
            "spec:\n  vendor: meta\n  apiCapabilities:\n  - A\n  - B # last",
            format!(
                "spec:\n  vendor: meta\n  apiCapabilities:\n  - A\n  - B # last\n{}",
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
        ("kind: BaseModel\n", 15),
        (
            "{\n  \"kind\": \"BaseModel\",\n  \"spec\": {\n    \"storage\": {\"path\": \"a\"}\n  }\n}\n",
            14,
        ),
        ("{\"kind\": \"BaseModel\"}", 1),
        ("spec:\n  modelFormat:\n  modelFramework: null\n  storage: {path: a}\n", 11),
        ("spec:\n  modelFormat: {name: \"\"}\n  modelArchitecture: ''\n  storage: {path: a}\n", 13),
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
fn existing_values_are_kept_without_overwrite() {
    let before = "spec:\n  modelFormat:\n    name: safetensors\n  modelFramework:\n    name: transformers\n    version: \"4.36.2\" # pinned\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8B\n  quantization: int4\n  maxTokens: 131072\n  modelType: llama\n  modelCapabilities: [CHAT]\n";
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
