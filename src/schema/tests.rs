//! The recorded tables: what a real API server stores and refuses, and what Go structs print.

use super::*;
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::{Source, SourceKind, SourceMap};
use crate::yaml::{self, Node, Origin, Rule};

static RULE: Rule = Rule { id: "test", text: "", cite: "" };

fn node(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Derived(&RULE))
}

/// The rows of a table of apimachinery; none where the folder is absent.
#[expect(clippy::disallowed_methods, reason = "tests read their tables")]
fn rows(table: &str) -> Vec<serde_json::Value> {
    let directory = std::env::var("OME_APIMACHINERY_DIR").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/apimachinery").into());
    let Ok(text) = std::fs::read_to_string(format!("{directory}/{table}.jsonl")) else { return Vec::new() };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn schema_of(object: &serde_json::Value) -> Option<&'static Schema> {
    kind(object["apiVersion"].as_str()?, object["kind"].as_str()?)
}

#[test]
fn the_server_stores_the_same_defaults() {
    for row in rows("crd-defaults") {
        let schema = schema_of(&row["object"]).unwrap();
        let mut object = node(&row["object"]);
        schema.default(&mut object);
        assert_eq!(object, node(&row["stored"]), "{}\n{}\n{}", row["about"], object.to_json(), row["stored"]);
        let mut again = object.clone();
        schema.default(&mut again);
        assert_eq!(again, object);
    }
}

#[test]
fn go_structs_print_the_same() {
    let mut failed = Vec::new();
    let mut count = 0;
    for row in rows("strategic-merge").iter().filter(|row| row["mode"] == "typed") {
        let ty = structure(row["type"].as_str().unwrap()).unwrap();
        let pairs = [("original", "original_marshalled"), ("patch", "patch_marshalled"), ("merged", "result")];
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
fn built_in_objects_are_judged_as_the_server_does() {
    let mut failed = Vec::new();
    for row in rows("object-validation") {
        let schema = schema_of(&row["object"]).unwrap();
        let mut findings = Vec::new();
        schema.check(&node(&row["object"]), Strictness::Server, &mut findings);
        let class = row["class"].as_str().unwrap_or("ok");
        let fine = match class {
            "ok" => findings.is_empty(),
            // Rules beyond the types are others' work; what is said about them must be true all the same.
            "semantic" => true,
            "unknown-field" => findings.iter().any(|finding| finding.code == Code::UnknownField),
            _ => !findings.is_empty(),
        };
        if !fine {
            failed.push(format!("{class}: {}: {:?}", row["about"], findings.iter().map(|finding| &finding.message).collect::<Vec<_>>()));
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
                schema.check(object, strictness, &mut findings);
            }
        }
    }
    (sources, findings)
}

/// What the server refuses by other rules than types: unknown kinds, names and labels, rules in CEL.
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
    "flavor-taint-effect-unknown",
    "modelserving-role-twice",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
fn objects_are_judged_as_the_server_does() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/api-server");
    let mut failed = Vec::new();
    let mut count = 0;
    for (folder, wanted) in [("valid", false), ("invalid", true)] {
        let Ok(cases) = std::fs::read_dir(format!("{root}/{folder}")) else { continue };
        for case in cases.flatten() {
            let Ok(text) = std::fs::read_to_string(case.path().join("input.yaml")) else { continue };
            if JUDGED_ELSEWHERE.iter().any(|name| case.file_name() == *name) {
                continue;
            }
            let about = std::fs::read_to_string(case.path().join("case.json")).unwrap();
            let (sources, findings) = check(&text, Strictness::Server);
            let errors: Vec<String> = findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| {
                    format!("{}: {} ({})", finding.span().map_or(0, |span| sources.locate(span).line), finding.message, finding.help.as_deref().unwrap_or(""))
                })
                .collect();
            count += 1;
            let value: serde_json::Value = serde_json::from_str(&about).unwrap();
            let line = value["runs"][0]["expect"][0]["contains"]["line"].as_u64();
            let right = if wanted { errors.iter().any(|error| line.is_none_or(|line| error.starts_with(&format!("{line}:")))) } else { errors.is_empty() };
            if !right {
                failed.push(format!("{}: line {line:?}: {errors:?}\n    {}", case.path().display(), value["about"].as_str().unwrap_or("")));
            }
        }
    }
    failed.sort();
    assert!(failed.is_empty(), "{} of {count}\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_name_in_the_tables_is_found() {
    for table in &TABLES {
        let definitions = table.definitions();
        assert!(definitions.is_sorted_by(|a, b| a.name < b.name), "sorted");
        for definition in definitions {
            for line in definition.body().lines() {
                // A name of an object type is what begins with a capital letter or holds a slash.
                let rules = line.find('(').unwrap_or(line.len());
                let name = line[..rules].split(' ').nth(2).unwrap().rsplit([']', '}']).next().unwrap();
                if name.contains('/') || name.starts_with(|c: char| c.is_ascii_uppercase()) {
                    assert!(table::definition(name).is_some(), "{name} in {}", definition.name);
                }
            }
            assert_eq!(definition.server().fields.len(), definition.body().lines().count(), "{}", definition.name);
        }
    }
    for schema in kinds() {
        assert!(schema.root().object().is_some(), "{} {}", schema.api_version, schema.kind);
    }
}

#[test]
fn types_answer_merge_questions() {
    let service = kind("ome.io/v1beta1", "InferenceService").unwrap();
    let engine = service.root().at(&["spec", "engine"]).unwrap();
    assert_eq!(engine.field("volumes").unwrap().patch, Patch { merge: true, retain: true, replace: false, key: Some("name") });
    assert_eq!(engine.at(&["runner", "ports"]).map(|ty| ty.item().unwrap().rules.keys.clone()), Some(vec!["containerPort", "protocol"]));
    assert_eq!(engine.at(&["runner"]).unwrap().field("ports").unwrap().patch.key, Some("containerPort"));
    assert_eq!(engine.at(&["runner"]).unwrap().field("args").unwrap().patch, Patch::default());
    assert!(kind("ome.io/v1", "InferenceService").is_none() && !kind("ome.io/v1beta1", "AcceleratorClass").unwrap().namespaced);
}
