//! Makes `src/check/server/rules.txt` from the upstream CustomResourceDefinitions, or proves it
//! current.
//!
//! `cargo run --example rules -- ../shared/upstream [--check]`. In: every definition below
//! `ome/crd`, `kserve/crd`, `kthena/crd` and `crds`. Out: their `x-kubernetes-validations`, word
//! for word, without those about status and those that compare an object with what it was. With
//! `--check` nothing is written; the exit code is 1 when the table is stale.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use ome::source::SourceId;
use ome::yaml::{Limits, Node, parse, split};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TABLE: &str = "src/check/server/rules.txt";
const FOLDERS: [&str; 4] = ["ome/crd", "kserve/crd", "kthena/crd", "crds"];
const HEAD: &str = "# Rules of CustomResourceDefinitions in CEL, word for word. Made by examples/rules.rs; grammar: src/check/server/mod.rs.\n";

/// Path, rule, message.
type Rules = Vec<(String, String, String)>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(upstream) =
        arguments.iter().find(|argument| *argument != "--check").map(PathBuf::from)
    else {
        eprintln!("usage: rules UPSTREAM [--check]");
        return ExitCode::FAILURE;
    };
    let table = table(&upstream);
    if !arguments.iter().any(|argument| argument == "--check") {
        return std::fs::write(TABLE, table).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if std::fs::read_to_string(TABLE).is_ok_and(|text| text == table) {
        return ExitCode::SUCCESS;
    }
    eprintln!("{TABLE} is stale");
    ExitCode::FAILURE
}

fn table(upstream: &Path) -> String {
    // Versions with the same rules share one list.
    let mut kinds: BTreeMap<(String, String, Rules), Vec<String>> = BTreeMap::new();
    for folder in FOLDERS {
        let Ok(files) = std::fs::read_dir(upstream.join(folder)) else { continue };
        let mut files: Vec<PathBuf> = files
            .filter_map(|file| Some(file.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
            .collect();
        files.sort();
        for file in files {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            for range in split(SourceId(0), &text).value {
                if let Some(definition) =
                    parse(SourceId(0), &text, range, &Limits { depth: 1000, ..Limits::default() })
                        .value
                {
                    collect(&definition, &mut kinds);
                }
            }
        }
    }
    let mut out = HEAD.to_owned();
    for ((group, kind, rules), mut versions) in kinds {
        versions.sort();
        let _ = writeln!(out, "{group} {kind} {}", versions.join(" "));
        for (path, rule, message) in rules {
            let _ = writeln!(out, " {path}\t{rule}\t{message}");
        }
    }
    out
}

fn collect(definition: &Node, kinds: &mut BTreeMap<(String, String, Rules), Vec<String>>) {
    let text =
        |keys: &[&str]| definition.at(keys).and_then(Node::as_str).unwrap_or_default().to_owned();
    if text(&["kind"]) != "CustomResourceDefinition" {
        return;
    }
    for version in definition.at(&["spec", "versions"]).map(Node::items).unwrap_or_default() {
        let Some(schema) = version
            .at(&["schema", "openAPIV3Schema"])
            .filter(|_| version.get("served").and_then(Node::as_bool) == Some(true))
        else {
            continue;
        };
        let mut rules = Rules::new();
        walk(schema, "", &mut rules);
        if !rules.is_empty() {
            let key = (text(&["spec", "group"]), text(&["spec", "names", "kind"]), rules);
            kinds
                .entry(key)
                .or_default()
                .push(version.get("name").and_then(Node::as_str).unwrap_or_default().to_owned());
        }
    }
}

fn walk(schema: &Node, path: &str, rules: &mut Rules) {
    if path.starts_with("status") {
        return;
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for rule in schema.get("x-kubernetes-validations").map(Node::items).unwrap_or_default() {
        let text = one_line(rule.get("rule").and_then(Node::as_str).unwrap_or_default());
        if !text.contains("oldSelf") {
            let message = rule
                .get("message")
                .and_then(Node::as_str)
                .map_or_else(|| format!("failed rule: {text}"), one_line);
            rules.push((path.to_owned(), text, message));
        }
    }
    let dot = if path.is_empty() { "" } else { "." };
    for entry in schema.get("properties").into_iter().flat_map(Node::entries) {
        walk(&entry.node, &format!("{path}{dot}{}", entry.key), rules);
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{path}{dot}[]"), rules);
    }
    if let Some(values) =
        schema.get("additionalProperties").filter(|values| values.as_map().is_some())
    {
        walk(values, &format!("{path}{dot}{{}}"), rules);
    }
}
