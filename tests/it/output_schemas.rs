//! The output of `-o json` matches its schema: no field is missing, and none is outside of the
//! schema.

use crate::process::in_directory;
use jsonschema::Validator;
use ome::internals::report::schemas::documents;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

/// A validator for each document, which rejects unknown fields; readers should ignore them.
static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    let strict = |mut schema: Value| {
        let definitions = schema["$defs"].as_object_mut().expect("types");
        for definition in definitions.values_mut() {
            definition["additionalProperties"] = false.into();
        }
        jsonschema::validator_for(&schema).expect("it is a JSON Schema")
    };
    documents().map(|document| (document.name, strict(document.schema()))).collect()
});

/// The name of the document that a call prints.
fn name(args: &[String], printed: &Value) -> String {
    let verb = args.first().map_or("", String::as_str);
    let below = ["list", "show", "releases", "import", "export", "diff", "check"];
    match verb {
        "catalog" | "kueue" | "payload" => {
            let word = args[1..].iter().find(|word| below.contains(&word.as_str()));
            format!("{verb}-{}", word.map_or("", String::as_str))
        }
        "explain" if printed.get("totals").is_none() => {
            let of = if printed.get("runtime").is_some() { "runtime" } else { "model" };
            format!("explain-{of}")
        }
        "render" => "render-merged".to_owned(),
        verb => verb.to_owned(),
    }
}

/// The document that a call printed, where it is one of ours.
fn document(args: &[String], stdout: &str) -> Option<(String, Value)> {
    let value: Value = stdout.starts_with('{').then(|| serde_json::from_str(stdout).ok())??;
    (value.get("schemaVersion")?.as_str()? == "ome/v1").then(|| (name(args, &value), value))
}

/// The differences of a printed document from its schema.
pub(crate) fn problems(args: &[String], stdout: &str) -> Vec<String> {
    let Some((name, value)) = document(args, stdout) else { return Vec::new() };
    let Some(validator) = VALIDATORS.get(name.as_str()) else {
        return vec![format!("`{name}` has no schema: add it to src/report/schemas.txt")];
    };
    let errors = validator.iter_errors(&value);
    errors.map(|error| format!("schema of {name}: {}: {error}", error.instance_path())).collect()
}

#[test]
fn every_json_output_matches_its_schema() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for call in [
        "plan -f quickstart",
        "explain -f quickstart",
        "explain chat --merge --runtime vllm-qwen2-5 -f quickstart",
        "explain runtime/vllm-qwen2-5 -f quickstart",
        "explain model/qwen2-5-7b-instruct -f quickstart",
        "why Deployment/chat-engine spec.template.spec.containers -f quickstart",
        "render chat --stage merged -f quickstart",
        "diff --base quickstart -f mixed",
        "drift -f quickstart --live quickstart",
        "drain gpu-l40s-0 -f quickstart",
        "drain --max -f quickstart",
        "plan --each node -f quickstart",
        "plan --without node=gpu-l40s-0 -f quickstart",
        "rollout chat -f quickstart",
        "rollout --all -f quickstart",
        "matrix -f quickstart",
        "validate quickstart",
        "test ../examples/test/chat.ome-test.yaml",
        "discover -f quickstart",
        "catalog list",
        "catalog show sglang-qwen2-5-small -f quickstart",
        "catalog releases",
        "config",
        "version",
        "kueue import -f quickstart",
        "kueue export -f quickstart",
        "kueue diff -f quickstart",
        "import --all --offline -f kthena",
        "endpoints -f quickstart",
        "payload check --protocol v1 --kind predict-request quickstart/models.yaml",
    ] {
        let mut words: Vec<String> = call.split(' ').map(str::to_owned).collect();
        words.extend(["-o", "json"].map(str::to_owned));
        let done = in_directory(crate::process::binary(), &data).args(&words).output();
        let done = done.expect("it runs");
        let stdout = String::from_utf8_lossy(&done.stdout);
        match document(&words, &stdout) {
            Some((name, _)) => _ = seen.insert(name),
            None => wrong.push(format!(
                "ome {call}: {:?} {}",
                done.status.code(),
                String::from_utf8_lossy(&done.stderr)
            )),
        }
        wrong.extend(problems(&words, &stdout).into_iter().map(|why| format!("ome {call}: {why}")));
    }
    let missing: Vec<&str> =
        documents().map(|own| own.name).filter(|name| !seen.contains(*name)).collect();
    assert!(wrong.is_empty() && missing.is_empty(), "{}\n{missing:?}", wrong.join("\n"));
}

/// A schema that accepts anything would accept every document.
#[test]
fn output_schemas_refuse_unknown_missing_and_mistyped_fields() {
    let args = ["validate".to_owned()];
    let finding = |more: &str| {
        format!(
            r#"{{"schemaVersion":"ome/v1","findings":[{{"code":"a","severity":"info","message":"","file":null,"line":null,"column":null,"endLine":null,"endColumn":null,"path":null,"help":null,"objects":[],"fix":null{more}}}]}}"#
        )
    };
    assert_eq!(problems(&args, &finding("")), [""; 0]);
    for printed in [
        finding(r#","more":1"#),
        finding("").replace(r#""line":null"#, r#""line":"1""#),
        finding("").replace(r#""code":"a","#, ""),
        finding("").replace("info", "grave"),
    ] {
        assert_eq!(problems(&args, &printed).len(), 1, "{printed}");
    }
}
