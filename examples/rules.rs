//! Makes `src/schema/tables/rules.txt` from the upstream CustomResourceDefinitions, or proves it
//! current.
//!
//! `cargo run --example rules -- ../shared/upstream [--check]`. In: every definition below
//! `ome/crd`, `kserve/crd`, `kthena/crd` and `crds`. Out: their `x-kubernetes-validations`, word
//! for word, without those about status and those that compare an object with what it was; and
//! their alternatives (`oneOf`, `anyOf`, `not`), written in the same language. With
//! `--check` nothing is written; the exit code is 1 when the table is stale.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use ome::internals::source::SourceId;
use ome::internals::yaml::{Limits, Node, parse, split};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TABLE: &str = "src/schema/tables/rules.txt";
const FOLDERS: [&str; 4] = ["ome/crd", "kserve/crd", "kthena/crd", "crds"];
const HEAD: &str = "# Rules of CustomResourceDefinitions in CEL. Made by examples/rules.rs; grammar: src/schema/rules.rs.\n";

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
    alternatives(schema, path, rules);
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

/// The alternatives that a schema gives beside the type of its field, and what to say to a value
/// that is of none. An int-or-string has its own type.
fn alternatives(schema: &Node, path: &str, rules: &mut Rules) {
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return;
    }
    for of in schema.get("allOf").map(Node::items).unwrap_or_default() {
        alternatives(of, path, rules);
    }
    for key in ["oneOf", "anyOf", "not"] {
        let Some(node) = schema.get(key) else { continue };
        let rule = condition(key, node, "self");
        let message = match at_most_one(node.items()) {
            Some(names) => format!("only one of {} may be set", names.join(", ")),
            None => format!("failed rule: {rule}"),
        };
        rules.push((path.to_owned(), rule, message));
    }
}

/// Every keyword of a schema that says something about a value.
fn conditions(schema: &Node, value: &str) -> String {
    let stated = schema.entries().map(|entry| condition(&entry.key, &entry.node, value)).collect();
    both(stated).unwrap_or_else(|| "true".to_owned())
}

fn both(mut stated: Vec<String>) -> Option<String> {
    match stated.len() {
        0 | 1 => stated.pop(),
        _ => Some(format!("({})", stated.join(" && "))),
    }
}

/// What a keyword says about a value.
fn condition(key: &str, node: &Node, value: &str) -> String {
    let each = |of: &[Node]| of.iter().map(|of| conditions(of, value)).collect::<Vec<_>>();
    match key {
        "required" => {
            let fields = node.items().iter().filter_map(Node::as_str);
            let has = fields.map(|field| format!("has({value}.{field})")).collect();
            both(has).unwrap_or_else(|| "true".to_owned())
        }
        "properties" => {
            let fields = node.entries().map(|entry| {
                let field = format!("{value}.{}", entry.key);
                format!("(!has({field}) || {})", conditions(&entry.node, &field))
            });
            both(fields.collect()).unwrap_or_else(|| "true".to_owned())
        }
        "enum" => {
            let texts = node.items().iter().filter_map(Node::as_str);
            let texts: Vec<String> = texts.map(|text| format!("'{text}'")).collect();
            format!("{value} in [{}]", texts.join(", "))
        }
        "format" => match node.as_str() {
            Some("ipv4") => format!("(isIP({value}) && !{value}.contains(':'))"),
            Some("ipv6") => format!("(isIP({value}) && {value}.contains(':'))"),
            other => unknown(&format!("format {other:?}")),
        },
        "not" => format!("!({})", conditions(node, value)),
        "anyOf" => format!("({})", each(node.items()).join(" || ")),
        "oneOf" => match at_most_one(node.items()) {
            Some(_) => {
                format!("[{}].filter(x, x).size() <= 1", each(&node.items()[1..]).join(", "))
            }
            None => format!("[{}].filter(x, x).size() == 1", each(node.items()).join(", ")),
        },
        other => unknown(other),
    }
}

/// A keyword that no definition had when this was written. What comes out does not parse as a
/// rule, and a test says so.
fn unknown(keyword: &str) -> String {
    eprintln!("not translated: {keyword}");
    format!("unknown({keyword})")
}

/// The fields of which an object may have one, where alternatives say that: none of them, the
/// first, the second, and so on.
fn at_most_one(alternatives: &[Node]) -> Option<Vec<String>> {
    let (none, rest) = alternatives.split_first()?;
    let of = |node: &Node| match node.at(&["required"])?.items() {
        [field] => Some(field.as_str()?.to_owned()),
        _ => None,
    };
    let fields: Option<Vec<String>> = rest.iter().map(of).collect();
    let excluded = none.at(&["not", "anyOf"])?.items().iter().map(of).collect();
    fields.filter(|fields| Some(fields) == Option::as_ref(&excluded))
}
