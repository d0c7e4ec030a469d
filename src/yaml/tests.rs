//! Tests of the whole room: the recorded tables, limits, places, and what is written reads back.

use super::*;
use crate::diag::{Code, Diagnostic, Severity};
use crate::source::SourceId;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

const SOURCE: SourceId = SourceId(0);

/// Rows of a recorded table; none when the tables are not there.
fn table(name: &str) -> Vec<Json> {
    let folder = std::env::var_os("OME_APIMACHINERY_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/apimachinery")), PathBuf::from);
    #[expect(clippy::disallowed_methods, reason = "tests read their tables")]
    let Ok(text) = std::fs::read_to_string(folder.join(name)) else { return Vec::new() };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All documents of a text that are not null, with all findings.
fn read(text: &str) -> (Vec<Node>, Vec<Diagnostic>) {
    read_within(text, &Limits::default())
}

fn read_within(text: &str, limits: &Limits) -> (Vec<Node>, Vec<Diagnostic>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parts = split(SOURCE, text);
    let mut diagnostics = parts.diagnostics;
    let mut nodes = Vec::new();
    for part in parts.value {
        let found = parse(SOURCE, text, part, limits);
        nodes.extend(found.value);
        diagnostics.extend(found.diagnostics);
    }
    (nodes, diagnostics)
}

fn node(value: &Json) -> Node {
    Node::from_json(value, Origin::Derived(&TEST))
}

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };

/// Texts that kubectl reads by accident and kustomize otherwise; they are refused here.
const QUIRKS: [&str; 1] = ["x: [?a]\n"];

/// Equal but for the last digit of floats, where readers of JSON differ.
fn close(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= a.abs() * 1e-15,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        (Value::Map(a), Value::Map(b)) => a.len() == b.len() && a.iter().all(|entry| b.get(&entry.key).is_some_and(|b| close(&entry.node, b))),
        _ => a == b,
    }
}

#[test]
fn scalars_read_as_kubectl_reads_them() {
    let mut wrong = Vec::new();
    for row in table("yaml-scalars.jsonl") {
        let text = row["yaml"].as_str().unwrap();
        let (nodes, findings) = read(text);
        let kubectl = &row["kubectl"];
        let worst = findings.iter().map(|finding| finding.severity).max();
        let expected: Vec<Node> = kubectl["docs"].as_array().into_iter().flatten().map(node).collect();
        let duplicate = findings.iter().any(|finding| finding.code == Code::DuplicateKey);
        let complaint = if kubectl.get("error").is_some() {
            // What kubectl refuses on the line of a marker kustomize reads; it is a warning.
            let marker = kubectl["error"].as_str().unwrap().contains("document separator") && worst == Some(Severity::Warning);
            if worst != Some(Severity::Error) && !marker {
                Some("no finding")
            } else if !marker && nodes.len() > expected.len() && !text.starts_with('%') {
                Some("refused and read")
            } else {
                None
            }
        } else if worst == Some(Severity::Error) && !duplicate && !QUIRKS.contains(&text) {
            Some("an error")
        } else if QUIRKS.contains(&text) {
            (worst < Some(Severity::Warning)).then_some("no finding on a quirk")
        } else if nodes.len() != expected.len() || !nodes.iter().zip(&expected).all(|(node, expected)| close(node, expected)) {
            Some("another value")
        } else if row["same"] == false && worst < Some(Severity::Warning) && nodes.iter().all(|node| node.as_map().is_some()) {
            // Where the root is no mapping the document is no object, which others say.
            Some("no warning although kustomize differs")
        } else {
            None
        };
        if let Some(complaint) = complaint {
            let shown: Vec<String> = findings.iter().map(|finding| format!("{}: {}", finding.code.as_str(), finding.message)).collect();
            wrong.push(format!(
                "{complaint}: {text:?}\n  got  {:?}\n  want {}\n  {shown:?}",
                nodes.iter().map(Node::to_json).collect::<Vec<_>>(),
                row["kubectl"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn strings_are_quoted_where_a_reader_would_misread_them() {
    for row in table("yaml-emit.jsonl") {
        let text = row["string"].as_str().unwrap();
        let no = |column: &str| row[column] == false;
        let plain = |written: &str, at: &str| written.contains(&format!("{at}{text}\n")) || written.starts_with(&format!("{text}: "));
        for (value, columns) in [
            (json!({"v": text, "w": 1}), ["plain_ok_kubectl", "plain_ok_kustomize"]),
            (json!({text: "v"}), ["plain_key_ok_kubectl", "plain_key_ok_kustomize"]),
            (json!([text]), ["plain_item_ok_kubectl", "plain_item_ok_kustomize"]),
        ] {
            let mut written = String::new();
            write(&mut written, &node(&value));
            let bare = plain(&written, "v: ") || plain(&written, "- ");
            assert!(!(bare && columns.iter().any(|column| no(column))), "{text:?} stands bare in {written:?}");
            let (nodes, findings) = read(&written);
            assert_eq!(nodes, [node(&value)], "{written:?}");
            // Even in quotes kustomize merges `<<`; nothing can be done about it but say so.
            assert!(findings.is_empty() || text == "<<", "{written:?}: {findings:?}");
        }
    }
}
