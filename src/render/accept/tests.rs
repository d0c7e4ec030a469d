//! Verdicts against those of a real server, and against objects that a controller really wrote.

#![expect(clippy::disallowed_methods, reason = "the recordings are read from where they lie")]

use super::accept;
use crate::diag::{Code, Diagnostic, Severity};
use crate::render::testing::GIVEN;
use crate::source::SourceMap;
use crate::yaml::{Node, Origin};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");

fn judge(object: &Json) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    accept(&Node::from_json(object, Origin::Default(&GIVEN)), &SourceMap::new(), &mut findings);
    findings
}

#[test]
fn verdicts_are_those_of_the_server() {
    let directory = std::env::var_os("OME_APIMACHINERY_DIR").map_or_else(|| Path::new(SHARED).join("conformance/apimachinery"), PathBuf::from);
    let Ok(table) = std::fs::read_to_string(directory.join("object-validation.jsonl")) else { return };
    let mut wrong = Vec::new();
    for row in table.lines().map(|line| serde_json::from_str::<Json>(line).expect("a row of JSON")) {
        let about = row["about"].as_str().unwrap_or_default();
        let findings = judge(&row["object"]);
        let said: Vec<_> = findings.iter().map(|finding| format!("{} {}", finding.code.as_str(), finding.message)).collect();
        if row["ok"] == true {
            if findings.iter().any(|finding| finding.severity > Severity::Info) {
                wrong.push(format!("{about}: taken by the server: {said:?}"));
            }
            continue;
        }
        let expected: &[Code] = match row["class"].as_str() {
            Some("unknown-field") => &[Code::UnknownField],
            Some("type") => &[Code::InvalidType, Code::ServerRefuses],
            _ => &[Code::ServerRefuses],
        };
        if !findings.iter().any(|finding| finding.severity == Severity::Error && expected.contains(&finding.code)) {
            wrong.push(format!("{about}: {} \n     said {said:?}", row["error"]));
            continue;
        }
        // The field that the server names is among those named here.
        let error = row["error"].as_str().unwrap_or_default();
        // The server leaves positions out here and there.
        let error = error.replace("volumeMounts.subPath", "volumeMounts[0].subPath");
        let named = |finding: &Diagnostic| finding.path.as_deref().is_some_and(|path| error.contains(path));
        if row["class"] == "semantic" && !findings.iter().any(named) {
            wrong.push(format!("{about}: {error}\n     names another field: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn recorded_objects_are_refused_where_their_case_says_so() {
    let mut wrong = Vec::new();
    let mut judged = 0;
    for suite in ["ome-objects", "kserve-objects", "kthena-objects"] {
        let mut cases = Vec::new();
        directories(&Path::new(SHARED).join("conformance").join(suite), &mut cases);
        for case in cases {
            let read = |name: &str| std::fs::read_to_string(case.join(name)).ok().and_then(|text| serde_json::from_str::<Json>(&text).ok());
            let (Some(about), Some(Json::Array(objects))) = (read("case.json"), read("objects.json")) else { continue };
            judged += 1;
            let found: Vec<Diagnostic> =
                objects.iter().flat_map(|object| judge(&without_owners(object))).filter(|finding| finding.severity == Severity::Error).collect();
            let expected = about["runs"][0]["exit"] == 2;
            if found.is_empty() == expected {
                let said: Vec<_> = found.iter().map(|finding| &finding.message).collect();
                wrong.push(format!("{}: {} {said:?}", case.display(), about["about"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Recorded objects name owners without a uid, which nobody prints.
fn without_owners(object: &Json) -> Json {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.remove("ownerReferences");
    }
    object
}

fn directories(at: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(at) else { return };
    for entry in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        found.push(entry.clone());
        directories(&entry, found);
    }
    found.sort();
}
