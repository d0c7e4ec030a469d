//! The recorded tables: objects that a real API server stores and rejects, and the output of Go
//! structs.

mod descriptions;
mod findings;
mod help;
mod kubernetes_types;
mod properties;
mod table_grammar;

use super::*;
use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::recordings;
use crate::source::{Source, SourceKind, SourceMap};
use crate::yaml::{self, Node, Origin, Rule};

static RULE: Rule = Rule { id: "test", text: "", cite: "" };

fn node(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Derived(&RULE))
}

fn schema_of(object: &serde_json::Value) -> Option<&'static Schema> {
    kind(object["apiVersion"].as_str()?, object["kind"].as_str()?)
}

/// The findings about one object as `line: code: message; help`.
fn messages(text: &str, strictness: Strictness) -> Vec<String> {
    let (sources, findings) = check(text, strictness);
    let line = |finding: &Diagnostic| finding.span().map_or(0, |span| sources.locate(span).line);
    let findings = findings.iter().filter(|finding| finding.code != Code::AmbiguousScalar);
    findings
        .map(|finding| {
            format!(
                "{}: {}: {}; {}",
                line(finding),
                finding.code.as_str(),
                finding.message,
                finding.help.as_deref().unwrap_or("-")
            )
        })
        .collect()
}

#[test]
fn the_server_stores_the_same_defaults() {
    for row in recordings::rows::<serde_json::Value>("apimachinery/crd-defaults") {
        let schema = schema_of(&row["object"]).unwrap();
        let mut object = node(&row["object"]);
        schema.drop_nulls(&mut object);
        schema.default(&mut object);
        assert_eq!(
            object,
            node(&row["stored"]),
            "{}\n{}\n{}",
            row["about"],
            object.to_json(),
            row["stored"]
        );
        let mut again = object.clone();
        schema.default(&mut again);
        assert_eq!(again, object);
    }
}

#[test]
fn marshaled_structs_match_go() {
    let mut failed = Vec::new();
    let mut count = 0;
    for row in recordings::rows::<serde_json::Value>("apimachinery/strategic-merge")
        .iter()
        .filter(|row| row["mode"] == "typed")
    {
        let ty = structure(row["type"].as_str().unwrap()).unwrap();
        let pairs = [
            ("original", "original_marshalled"),
            ("patch", "patch_marshalled"),
            ("merged", "result"),
        ];
        let mut misfits = 0;
        for (from, to) in pairs {
            if row[from].is_null() {
                continue;
            }
            let marshalled = marshal(&node(&row[from]), ty, Library::V0_33);
            count += 1;
            match marshalled {
                Ok(got) if !row[to].is_null() && got == node(&row[to]) => {}
                Err(_) if row[to].is_null() => misfits += 1,
                Ok(_) if row["original_marshalled"].is_null() => {}
                got => failed.push(format!(
                    "{} {from}\n  {}\n  expected {}\n  got      {:?}",
                    row["id"],
                    row[from],
                    row[to],
                    got.map(|node| node.to_json().to_string())
                )),
            }
        }
        if row["original_marshalled"].is_null() && misfits == 0 {
            failed.push(format!("{}: decodes here, not upstream", row["id"]));
        }
    }
    assert!(failed.is_empty(), "{} of {count}\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn built_in_kinds_are_validated_like_the_api_server() {
    let mut failed = Vec::new();
    for row in recordings::rows::<serde_json::Value>("apimachinery/object-validation") {
        let schema = schema_of(&row["object"]).unwrap();
        let mut findings = Vec::new();
        schema.check(&node(&row["object"]), Strictness::Server, &SourceMap::new(), &mut findings);
        let class = row["class"].as_str().unwrap_or("ok");
        let fine = match class {
            "ok" => findings.is_empty(),
            // Rules beyond the types are those of `objects::accept`; findings about them must be true
            // all the same.
            "semantic" => true,
            "unknown-field" => findings.iter().any(|finding| finding.code == Code::UnknownField),
            _ => !findings.is_empty(),
        };
        if !fine {
            failed.push(format!(
                "{class}: {}: {:?}",
                row["about"],
                findings.iter().map(|finding| &finding.message).collect::<Vec<_>>()
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Every document of a YAML text with the findings about it.
fn check(text: &str, strictness: Strictness) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let id = sources.add(Source::new("input.yaml", SourceKind::File, text));
    let mut findings = Vec::new();
    let parts = yaml::split(id, text);
    findings.extend(parts.diagnostics);
    for range in parts.value {
        let parsed = yaml::parse(id, text, range, &yaml::Limits::default());
        findings.extend(parsed.diagnostics);
        let Some(document) = parsed.value else { continue };
        let items = document.get("items").map_or(std::slice::from_ref(&document), Node::items);
        for object in items {
            let word = |name: &str| object.get(name).and_then(Node::as_str).unwrap_or_default();
            if let Some(schema) = kind(word("apiVersion"), word("kind")) {
                schema.check(object, strictness, &sources, &mut findings);
            }
        }
    }
    (sources, findings)
}

/// Rejections by rules other than types: unknown kinds, names and labels, rules in CEL.
const JUDGED_ELSEWHERE: &[&str] = &[
    "kind-plural",
    "wrong-api-version",
    "name-missing",
    "runtime-label-key-two-slashes",
    "runtime-label-value-too-long",
    "runtime-name-too-long",
    "runtime-name-underscore",
    "runtime-name-upper-case",
    "service-namespace-upper-case",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
fn objects_are_validated_like_the_recorded_api_server() {
    let mut failed = Vec::new();
    let mut count = 0;
    for (folder, wanted) in [("valid", false), ("invalid", true)] {
        for case in recordings::cases(&format!("api-server/{folder}")) {
            let Ok(text) = std::fs::read_to_string(case.join("input.yaml")) else {
                continue;
            };
            if JUDGED_ELSEWHERE.iter().any(|name| case.ends_with(name)) {
                continue;
            }
            let about = std::fs::read_to_string(case.join("case.json")).unwrap();
            let (sources, findings) = check(&text, Strictness::Server);
            let errors: Vec<String> = findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| {
                    format!(
                        "{}: {} ({})",
                        finding.span().map_or(0, |span| sources.locate(span).line),
                        finding.message,
                        finding.help.as_deref().unwrap_or("")
                    )
                })
                .collect();
            count += 1;
            let value: serde_json::Value = serde_json::from_str(&about).unwrap();
            let line = value["runs"][0]["expect"][0]["contains"]["line"].as_u64();
            let right = if wanted {
                errors
                    .iter()
                    .any(|error| line.is_none_or(|line| error.starts_with(&format!("{line}:"))))
            } else {
                errors.is_empty()
            };
            if !right {
                failed.push(format!(
                    "{}: line {line:?}: {errors:?}\n    {}",
                    case.display(),
                    value["about"].as_str().unwrap_or("")
                ));
            }
        }
    }
    failed.sort();
    assert!(failed.is_empty(), "{} of {count}\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_type_name_in_the_schema_tables_resolves() {
    for table in &TABLES {
        let definitions = table.definitions();
        assert!(definitions.is_sorted_by(|a, b| a.name < b.name), "sorted");
        for definition in definitions {
            for line in definition.body().lines() {
                // A name of an object type is what begins with a capital letter or holds a slash.
                let rules = line.find('(').unwrap_or(line.len());
                let name =
                    line[..rules].split(' ').nth(2).unwrap().rsplit([']', '}']).next().unwrap();
                if name.contains('/') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
                    assert!(table::definition(name).is_some(), "{name} in {}", definition.name);
                }
            }
            assert_eq!(
                definition.server().fields.len(),
                definition.body().lines().count(),
                "{}",
                definition.name
            );
        }
    }
    for schema in kinds() {
        assert!(schema.root().object().is_some(), "{} {}", schema.api_version, schema.kind);
    }
}

#[test]
fn types_have_patch_strategies_and_list_keys() {
    let service = kind("ome.io/v1beta1", "InferenceService").unwrap();
    let engine = service.root().at(&["spec", "engine"]).unwrap();
    assert_eq!(
        engine.field("volumes").unwrap().patch,
        Patch { merge: true, retain: true, replace: false, key: Some("name") }
    );
    assert_eq!(
        engine.at(&["runner", "ports"]).map(|ty| ty.item().unwrap().rules.keys.clone()),
        Some(vec!["containerPort", "protocol"])
    );
    assert_eq!(
        engine.at(&["runner"]).unwrap().field("ports").unwrap().patch.key,
        Some("containerPort")
    );
    assert_eq!(engine.at(&["runner"]).unwrap().field("args").unwrap().patch, Patch::default());
    assert!(
        kind("ome.io/v1", "InferenceService").is_none()
            && !kind("ome.io/v1beta1", "AcceleratorClass").unwrap().namespaced
    );
}

#[test]
fn documented_mode_accepts_more_fields_and_requires_fewer() {
    let text = "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata: {name: a}\nspec:\n  supportedModelFormats: [{name: safetensors}]\n  modelSizeRange: {min: 5000000000}\n  acceleratorRequirements: {supportedClasses: [a], requiredCapabilities: {minComputeCapability: \"8.0\"}}\n  engineConfig: {runner: {image: x}}\n";
    assert_eq!(messages(text, Strictness::Documented), Vec::<String>::new());
    let codes: Vec<String> = messages(text, Strictness::Server)
        .iter()
        .map(|line| line.split(": ").nth(1).unwrap().to_owned())
        .collect();
    // OME docs, Serving Runtime, Core Configuration and Model Format Support;
    // docs/decisions.md#unset-attributes; docs/decisions.md#size-ranges, OEP-0003, OME docs,
    // Serving Runtime.
    assert_eq!(
        codes,
        [
            "required-field",
            "required-field",
            "invalid-type",
            "unknown-field",
            "unknown-field",
            "required-field"
        ]
    );
}

#[test]
fn quoting_an_ambiguous_scalar_fixes_the_finding() {
    let text = "apiVersion: v1\nkind: ConfigMap\ndata: {a: 1_000, b: yes}\n";
    let (_, findings) = check(text, Strictness::Server);
    let mut edits: Vec<_> = findings.iter().flat_map(|finding| finding.fix.clone()).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    // The reader offers the same repair for some of them.
    edits.dedup();
    let mut repaired = text.to_owned();
    for edit in edits {
        repaired.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.insert);
    }
    assert_eq!(repaired, "apiVersion: v1\nkind: ConfigMap\ndata: {a: \"1_000\", b: \"yes\"}\n");
    assert!(check(&repaired, Strictness::Server).1.is_empty());
}

#[test]
fn overlay_definitions_refer_to_existing_types() {
    for definition in table::index(include_str!("tables/overlay.txt")) {
        let is_own = definition.name.starts_with("oep3/") || definition.name == "*";
        assert!(is_own || table::definition(definition.name).is_some(), "{}", definition.name);
        for field in &definition.server().fields {
            let ty = field.ty.item().map_or(&field.ty, |item| &item.ty);
            let free = definition.name == "kserve/InferenceService.explainer";
            assert!(
                free || !matches!(ty, Type::Any),
                "{}.{} has an unknown type",
                definition.name,
                field.name
            );
        }
    }
}

#[test]
fn keys_are_ordered_as_in_go_structs() {
    let object = serde_json::json!({"spec": {"template": {"spec": {"volumes": [], "containers": [{"env": [{"value": "1", "name": "A"}], "image": "i", "name": "c"}]}, "metadata": {}}, "replicas": 1}, "zzz": 1, "kind": "Deployment", "metadata": {"labels": {"b": "1", "a": "2"}, "name": "d"}, "apiVersion": "apps/v1"});
    let mut tree = node(&object);
    order(&mut tree, kind("apps/v1", "Deployment").unwrap().root());
    assert_eq!(
        tree.to_json().to_string(),
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"b":"1","a":"2"}},"spec":{"replicas":1,"template":{"metadata":{},"spec":{"volumes":[],"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"}]}]}}},"zzz":1}"#
    );
}

#[test]
fn pruning_removes_fields_that_the_server_drops() {
    let ty = kind("ome.io/v1beta1", "InferenceService").unwrap().root();
    let mut tree = node(
        &serde_json::json!({"kind": "InferenceService", "spec": {"engine": {"runner": {"image": "x", "imge": "y"}, "acceleratorConfigurations": []}, "bogus": 1}}),
    );
    prune(&mut tree, ty);
    assert_eq!(
        tree.to_json(),
        serde_json::json!({"kind": "InferenceService", "spec": {"engine": {"runner": {"image": "x"}}}})
    );
}

#[test]
fn the_type_at_a_source_span_is_found() {
    let text = "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nspec: {disabled: on, protocolVersions: [no]}\n";
    let (_, findings) = check(text, Strictness::Documented);
    let mut sources = SourceMap::new();
    let id = sources.add(Source::new("input.yaml", SourceKind::File, text));
    let tree = yaml::parse(id, text, 0..text.len(), &yaml::Limits::default()).value.unwrap();
    let root = kind("ome.io/v1beta1", "ServingRuntime").unwrap().root();
    let mut types: Vec<_> = findings
        .iter()
        .filter(|finding| finding.code == Code::AmbiguousScalar)
        .map(|finding| root.under(&tree, finding.span().unwrap()))
        .collect();
    types.sort_by_key(|ty| !matches!(ty, Some(Type::Bool)));
    assert!(matches!(types[..], [Some(Type::Bool), Some(Type::Str(None))]), "{types:?}");
}

// Answers of kube-apiserver 1.35 to `kubectl create`.
#[test]
fn nulls_go_where_the_server_drops_them() {
    let runtime = |spec: &str| {
        format!(
            r#"{{"apiVersion":"ome.io/v1beta1","kind":"ClusterServingRuntime","metadata":{{"name":"a","labels":{{"a":null}},"finalizers":null}},"spec":{spec}}}"#
        )
    };
    for (spec, stored, message) in [
        ("null", None, vec![]),
        (
            r#"{"supportedModelFormats":null,"engineConfig":{"volumes":[{"name":"v","emptyDir":null}],"runner":{"name":"r","env":null,"resources":{"limits":{"cpu":null}}}}}"#,
            Some(
                r#"{"engineConfig":{"volumes":[{"name":"v"}],"runner":{"name":"r","resources":{"limits":{}}}}}"#,
            ),
            vec![],
        ),
        (
            r#"{"supportedModelFormats":[{"modelFormat":{"name":"x","weight":null},"modelFramework":null,"acceleratorConfig":{"a":null}}]}"#,
            Some(
                r#"{"supportedModelFormats":[{"modelFormat":{"name":"x"},"acceleratorConfig":{}}]}"#,
            ),
            vec!["`spec.supportedModelFormats[0].modelFramework` is required"],
        ),
        (
            r#"{"engineConfig":{"runner":{"name":"r","args":[null,"a"]},"initContainers":[null]}}"#,
            Some(
                r#"{"engineConfig":{"runner":{"name":"r","args":[null,"a"]},"initContainers":[null]}}"#,
            ),
            vec![
                "`spec.engineConfig.runner.args[0]` must be a string, not null",
                "`spec.engineConfig.initContainers[0]` must be a mapping, not null",
            ],
        ),
    ] {
        let mut object = node(&serde_json::from_str(&runtime(spec)).unwrap());
        let schema = kind("ome.io/v1beta1", "ClusterServingRuntime").unwrap();
        let mut findings = Vec::new();
        schema.check(&object, Strictness::Server, &SourceMap::new(), &mut findings);
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages.len(), message.len(), "{spec}: {messages:?}");
        assert!(message.iter().all(|wanted| messages.contains(wanted)), "{spec}: {messages:?}");
        schema.drop_nulls(&mut object);
        let metadata = node(&serde_json::json!({"name": "a", "labels": {"a": ""}}));
        assert_eq!(object.get("metadata"), Some(&metadata));
        let stored = stored.map(|stored| node(&serde_json::from_str(stored).unwrap()));
        assert_eq!(object.get("spec"), stored.as_ref(), "{spec}");
    }
}
