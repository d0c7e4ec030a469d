//! The source of the value of each field, as JSON and as text (`ome why`).
//!
//! In: leaves with their sources and the values that they override. Out: JSON, a table, a comment
//! next to the field. This module makes no decisions.

use super::SCHEMA_VERSION;
use super::cell::{Cell, row};
use super::sheet::Sheet;
use super::table::{Style, table, wrapped};
use crate::api::ObjectRef;
use crate::emit::{ValueSource, comment};
use crate::pipeline::{Filled, Leaf, MergedLeaf, Said};
use crate::report::screen::printable;
use crate::source::SourceMap;
use crate::yaml::{FieldPath, Node, Rule};
use serde_json::{Value, json};

/// The documented JSON format: a single leaf is at the root, several are in `leaves`.
pub fn json(object: &ObjectRef, field: &FieldPath, leaves: &[Leaf], sources: &SourceMap) -> Value {
    let mut out = json!({ "schemaVersion": SCHEMA_VERSION, "object": object.to_string(), "field": field.to_string() });
    // One leaf is what scripts ask for most, and they find it without a list.
    if let ([only], Value::Object(fields)) = (leaves, &mut out)
        && let Value::Object(leaf) = leaf(only, sources)
    {
        fields.extend(leaf.into_iter().filter(|(key, _)| key != "field"));
    }
    out["leaves"] = leaves.iter().map(|found| leaf(found, sources)).collect();
    out
}

fn leaf(leaf: &Leaf, sources: &SourceMap) -> Value {
    let place = leaf.statement.span.map(|span| sources.locate(span));
    let mut out = json!({
        "field": leaf.path.to_string(),
        "value": value(leaf, &leaf.statement),
        "origin": {
            "layer": leaf.statement.layer.as_str(),
            "file": place.as_ref().map(|place| place.file.to_string()).or_else(|| {
                leaf.statement.fact.map(|source| sources.get(source).name.to_string())
            }),
            "line": place.as_ref().map(|place| place.line),
            "column": place.map(|place| place.column),
            "rule": leaf.statement.rule.map(in_words),
        },
        "overrides": leaf.overrides.iter().map(|statement| overridden(leaf, statement, sources)).collect::<Vec<_>>(),
    });
    if !leaf.filled.is_empty() {
        out["filled"] = leaf.filled.iter().map(|filled| printed(leaf, filled, sources)).collect();
    }
    out
}

fn in_words(rule: &Rule) -> Value {
    json!({ "id": rule.id, "text": rule.text, "source": rule.cite })
}

/// What an action printed, with the place of the value that it reads.
fn printed(leaf: &Leaf, filled: &Filled, sources: &SourceMap) -> Value {
    let place = filled.from.span().map(|span| sources.locate(span));
    json!({
        "action": filled.action.as_str(),
        "value": shown(leaf, filled),
        "file": place.as_ref().map(|place| place.file.to_string()),
        "line": place.as_ref().map(|place| place.line),
        "column": place.map(|place| place.column),
        "rule": filled.from.rule().map(in_words),
    })
}

/// What an action printed, without secrets.
fn shown(leaf: &Leaf, filled: &Filled) -> Value {
    // The kind of secret is that of the field which the text is in.
    let node = Node::str(filled.value.clone(), leaf.statement.value.origin);
    leaf.shown.shown(&node).to_json()
}

/// A value of a leaf, without secrets.
fn value(leaf: &Leaf, statement: &Said) -> Value {
    leaf.shown.shown(&statement.value).to_json()
}

fn overridden(leaf: &Leaf, statement: &Said, sources: &SourceMap) -> Value {
    let place = statement.span.map(|span| sources.locate(span));
    json!({
        "layer": statement.layer.as_str(),
        "value": value(leaf, statement),
        "file": place.as_ref().map(|place| place.file.to_string()),
        "line": place.map(|place| place.line),
    })
}

/// A leaf of the containers, for `explain --merge` (docs/json.md, `explain`).
pub(super) fn merged(found: &MergedLeaf, sources: &SourceMap) -> Value {
    let mut out = leaf(&found.leaf, sources);
    json!({
        "component": component(found),
        "path": found.path,
        "value": out["value"].take(),
        "layer": found.leaf.statement.layer.as_str(),
        "overridden": out["overrides"].take(),
        "origin": out["origin"].take(),
    })
}

fn component(found: &MergedLeaf) -> String {
    format!("{}{}", found.component.as_str(), if found.of_worker { "-worker" } else { "" })
}

/// Leaves of the containers as text.
pub fn leaves(found: &[MergedLeaf], sources: &SourceMap, out: &mut Sheet) {
    let rows = found.iter().flat_map(|found| {
        rows(found.path.clone(), &found.leaf, sources, LONGEST).into_iter().enumerate().map(
            |(index, mut row)| {
                // A component is named once, above its fields.
                row.insert(0, if index == 0 { component(found).into() } else { Cell::default() });
                row
            },
        )
    });
    out.table(&["COMPONENT", "FIELD", "VALUE", "LAYER", "SOURCE"], rows);
    let rules = rules(found.iter().map(|found| &found.leaf));
    if !rules.is_empty() {
        out.gap();
        out.lines(rules);
    }
}

/// Leaves as text: a row per leaf, and a row per overridden value; below, the text of each rule.
pub fn text(leaves: &[Leaf], sources: &SourceMap, style: Style) -> String {
    // A single field was asked for, and is shown whole.
    let longest = if leaves.len() > 1 { LONGEST } else { usize::MAX };
    let rows = leaves.iter().flat_map(|leaf| rows(leaf.path.to_string(), leaf, sources, longest));
    let mut out = table(&["FIELD", "VALUE", "LAYER", "SOURCE"], rows, style);
    let rules = rules(leaves);
    if !rules.is_empty() {
        out.push('\n');
    }
    for rule in rules {
        out.push_str(&wrapped(&rule, style.width, "  "));
    }
    out
}

/// The text of each rule that set a value or an overridden value, without duplicates.
fn rules<'a>(leaves: impl IntoIterator<Item = &'a Leaf>) -> Vec<String> {
    let mut rules: Vec<&Rule> = Vec::new();
    for leaf in leaves {
        let std = std::iter::once(&leaf.statement).chain(&leaf.overrides);
        // A value with a place has its line, which says more than the rule.
        rules.extend(
            std.filter(|statement| statement.span.is_none()).filter_map(|statement| statement.rule),
        );
        rules.extend(leaf.filled.iter().filter_map(|filled| filled.from.rule()));
    }
    // Sorted, so that equal rules are neighbors.
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    let text = |rule: &Rule| format!("rule {}: {} ({})", rule.id, rule.text, rule.cite);
    rules.into_iter().map(|rule| printable(&text(rule))).collect()
}

/// The characters of a value in a row among others: the longest value of a column is the width of
/// all, and a script has thousands.
const LONGEST: usize = 72;

/// The beginning of a longer text, and how long it is.
fn beginning(text: String, longest: usize) -> String {
    // The end of a character, so that the cut is within none.
    let Some((end, _)) = text.char_indices().nth(longest) else { return text };
    format!("{}… ({} characters)", &text[..end], text.chars().count())
}

fn rows(path: String, leaf: &Leaf, sources: &SourceMap, longest: usize) -> Vec<Vec<Cell>> {
    let value = |statement: &Said| {
        let value = value(leaf, statement);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        printable(&beginning(text, longest))
    };
    let layer = |statement: &Said| Cell::layer(statement.layer.as_str());
    let place = |span| sources.locate(span).with_column();
    let by = |statement: &Said| match (statement.span, statement.rule) {
        (Some(span), _) => place(span),
        (None, Some(rule)) => format!("rule {}", rule.id),
        (None, None) => {
            statement.fact.map_or(String::new(), |source| printable(&sources.get(source).name))
        }
    };
    let filled = leaf.filled.iter().map(|filled| {
        // The action as it is in the template, which a reader searches for.
        let value = shown(leaf, filled);
        let action = format!("  {{{{ {} }}}}", filled.action);
        row![
            printable(&beginning(action, longest)),
            printable(&beginning(value.as_str().unwrap_or_default().to_owned(), longest)),
            "",
            match (filled.from.span(), filled.from.rule()) {
                (Some(span), _) => place(span),
                (None, Some(rule)) => format!("rule {}", rule.id),
                (None, None) => String::new(),
            },
        ]
    });
    let filled: Vec<Vec<Cell>> = filled.collect();
    let path = row![path, value(&leaf.statement), layer(&leaf.statement), by(&leaf.statement),];
    let lost = leaf
        .overrides
        .iter()
        .map(|statement| row!["  over", value(statement), layer(statement), by(statement),]);
    std::iter::once(path).chain(filled).chain(lost).collect()
}

/// A leaf as a comment: `runtime catalog.yaml:14, over default replicas`.
pub fn remark(leaf: &Leaf, sources: &SourceMap) -> String {
    let voice = |statement: &Said| ValueSource {
        layer: statement.layer.as_str(),
        place: statement.span.map(|span| sources.locate(span)),
        // A fact has a source of its own instead of a rule.
        rule: match statement.fact {
            Some(source) => Some(&sources.get(source).name),
            None => statement.rule.map(|rule| rule.id),
        },
    };
    let over: Vec<ValueSource<'_>> = leaf.overrides.iter().map(voice).collect();
    comment(&voice(&leaf.statement), &over)
}
