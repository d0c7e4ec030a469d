//! Classes from flavors, flavors from classes, and their comparison: as tables, as YAML, as JSON.

use super::cell::{Cell, row};
use super::discover::{changes, evidence, short, source, value};
use super::screen::{Page, line, printable, put};
use super::table::{Style, table as plain_table, wrapped};
use super::{SCHEMA_VERSION, findings};
use crate::diag::Diagnostic;
use crate::exchange::class::{Action, Change};
use crate::exchange::kueue::{Classes, Diffed, FlavorAction, Flavors, Imported, Pair, State};
use crate::source::SourceMap;
use crate::yaml::Node;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn reported(found: &[Diagnostic], sources: &SourceMap) -> Vec<Value> {
    found.iter().map(|finding| findings::json(finding, sources)).collect()
}

/// `kueue import` as JSON.
pub fn classes_json(classes: &Classes, found: &[Diagnostic], sources: &SourceMap) -> Value {
    let class = |one: &Imported| {
        json!({
            "name": one.name.as_str(),
            "flavor": one.flavor.as_str(),
            "action": one.action.as_str(),
            "rule": one.rule.as_str(),
            "object": one.object.to_json(),
            "changes": changes(&one.changes),
            "evidence": evidence(&one.facts, sources),
        })
    };
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "classes": classes.classes.iter().map(class).collect::<Vec<_>>(),
        "skipped": classes.skipped.iter().map(|(flavor, reason)| json!({ "flavor": flavor.as_str(), "reason": reason.as_str() })).collect::<Vec<_>>(),
        "findings": reported(found, sources),
    })
}

/// `kueue export` as JSON.
pub fn flavors_json(flavors: &Flavors, found: &[Diagnostic], sources: &SourceMap) -> Value {
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "flavors": flavors
            .exported
            .iter()
            .map(|one| {
                json!({
                    "name": one.name.as_str(),
                    "class": one.class.as_str(),
                    "action": one.action.as_str(),
                    "object": one.object.to_json(),
                    "changes": changes(&one.changes),
                })
            })
            .collect::<Vec<_>>(),
        "skipped": flavors.skipped.iter().map(|(class, reason)| json!({ "class": class.as_str(), "reason": reason.as_str() })).collect::<Vec<_>>(),
        "findings": reported(found, sources),
    })
}

/// `kueue diff` as JSON.
pub fn pairs_json(diffed: &Diffed, found: &[Diagnostic], sources: &SourceMap) -> Value {
    let pair = |pair: &Pair| {
        json!({
            "class": pair.class.as_ref().map(ecow::EcoString::as_str),
            "flavor": pair.flavor.as_ref().map(ecow::EcoString::as_str),
            "wanted": pair.wanted.as_ref().map(ecow::EcoString::as_str),
            "state": pair.state.as_str(),
            "changes": changes(&pair.changes),
        })
    };
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "pairs": diffed.pairs.iter().map(pair).collect::<Vec<_>>(),
        "findings": reported(found, sources),
    })
}

/// One line per change, below a heading.
fn listed(out: &mut Page, heading: &str, changes: &[Change]) {
    if changes.is_empty() {
        return;
    }
    put!(out, "\n{heading}\n");
    for change in changes {
        line!(
            out,
            "  {}: {} -> {}",
            short(&change.path),
            value(change.from.as_ref()),
            value(change.to.as_ref())
        );
    }
}

/// `left alone, not-a-gpu-flavor: cpu-b`.
fn left_alone<'a>(
    out: &mut Page,
    skipped: impl Iterator<Item = (&'a str, &'static str)>,
    style: Style,
) {
    // By reason, since most flavors of a cluster are left out for one.
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in skipped {
        by_reason.entry(reason).or_default().push(name);
    }
    for (reason, names) in by_reason {
        let line = printable(&format!("left alone, {reason}: {}", names.join(", ")));
        out.end_line();
        out.draw(&wrapped(&line, style.width, "  "));
    }
}

/// `1 to create, 2 unchanged`.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(word, count)| match word {
            "create" | "update" => format!("{count} to {word}"),
            "conflict" if count > 1 => format!("{count} conflicts"),
            word => format!("{count} {word}"),
        })
        .collect();
    if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") }
}

/// `kueue import` as text.
pub fn classes_table(classes: &Classes, sources: &SourceMap, style: Style) -> String {
    let mut out = Page::default();
    if !classes.classes.is_empty() {
        let rows = classes.classes.iter().map(|one| {
            let spec = |keys: &[&str]| {
                let text = one.object.at(keys).and_then(Node::scalar_text);
                Cell::or_none(text.map(|text| text.to_string()))
            };
            let from = one
                .facts
                .iter()
                .find(|fact| fact.path.to_string() == "spec.capabilities.memoryGB")
                .map_or_else(String::new, |fact| source(&fact.evidence, sources));
            row![
                one.action.as_str(),
                one.name.to_string(),
                one.flavor.to_string(),
                one.rule.as_str(),
                spec(&["spec", "vendor"]),
                spec(&["spec", "capabilities", "memoryGB"]),
                spec(&["spec", "capabilities", "computeCapability"]),
                from,
            ]
        });
        out.draw(&plain_table(
            &["ACTION", "CLASS", "FLAVOR", "RULE", "VENDOR", "MEMORY", "COMPUTE", "FROM"],
            rows,
            style,
        ));
    }
    // A new class is shown by its row; an update needs its changes.
    for one in classes.classes.iter().filter(|one| one.action == Action::Update) {
        listed(&mut out, &one.name, &one.changes);
    }
    left_alone(
        &mut out,
        classes.skipped.iter().map(|(name, reason)| (name.as_str(), reason.as_str())),
        style,
    );
    put!(out, "\nclasses: {}\n", counted(classes.classes.iter().map(|one| one.action.as_str())));
    out.finish()
}

/// `kueue export` as text.
pub fn flavors_table(flavors: &Flavors, style: Style) -> String {
    let mut out = Page::default();
    if !flavors.exported.is_empty() {
        let rows = flavors.exported.iter().map(|one| {
            let labels =
                one.object.at(&["spec", "nodeLabels"]).map(Node::entries).into_iter().flatten();
            let labels: Vec<String> = labels
                .filter_map(|entry| Some(format!("{}={}", entry.key, entry.node.scalar_text()?)))
                .collect();
            row![
                one.action.as_str(),
                one.name.to_string(),
                one.class.to_string(),
                if labels.is_empty() { "any node".to_owned() } else { labels.join(", ") },
            ]
        });
        out.draw(&plain_table(&["ACTION", "FLAVOR", "CLASS", "NODE LABELS"], rows, style));
    }
    for one in flavors.exported.iter().filter(|one| one.action == FlavorAction::Update) {
        listed(&mut out, &one.name, &one.changes);
    }
    left_alone(
        &mut out,
        flavors.skipped.iter().map(|(name, reason)| (name.as_str(), reason.as_str())),
        style,
    );
    put!(out, "\nflavors: {}\n", counted(flavors.exported.iter().map(|one| one.action.as_str())));
    out.finish()
}

/// `kueue diff` as text.
pub fn pairs_table(diffed: &Diffed, style: Style) -> String {
    let mut out = Page::default();
    if !diffed.pairs.is_empty() {
        let rows = diffed.pairs.iter().map(|pair| {
            // The missing side is shown by the name that it would have.
            let missing = |name: &Option<ecow::EcoString>| {
                pair.wanted.as_ref().filter(|_| name.is_none()).map(|wanted| format!("({wanted})"))
            };
            let name = |name: &Option<ecow::EcoString>| match missing(name) {
                Some(wanted) => wanted.into(),
                None => Cell::or_none(name.as_ref()),
            };
            row![pair.state.as_str(), name(&pair.class), name(&pair.flavor)]
        });
        out.draw(&plain_table(&["STATE", "CLASS", "FLAVOR"], rows, style));
    }
    for pair in diffed.pairs.iter().filter(|pair| pair.state == State::Differs) {
        let name = |name: &Option<ecow::EcoString>| Cell::or_none(name.as_ref()).text;
        let heading =
            format!("{} and {}: the class, the flavor", name(&pair.class), name(&pair.flavor));
        listed(&mut out, &heading, &pair.changes);
    }
    put!(out, "\npairs: {}\n", counted(diffed.pairs.iter().map(|pair| pair.state.as_str())));
    out.finish()
}
