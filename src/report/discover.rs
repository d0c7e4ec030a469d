//! Accelerator classes that were discovered on nodes: as a table, as YAML with the evidence for
//! each value, as JSON.

use super::cell::{Cell, row};
use super::phrases::{first_of, plural};
use super::screen::{Page, line, put};
use super::table::{Style, table as plain_table};
use super::{SCHEMA_VERSION, findings};
use crate::diag::Diagnostic;
use crate::exchange::class::{Action, Change, Evidence, Fact};
use crate::exchange::discover::{Discovered, Proposal};
use crate::source::SourceMap;
use crate::yaml::{self, FieldPath, Node, Segment};
use ecow::EcoString;
use serde_json::{Value, json};

/// Number of names of a list to show.
const SHOWN: usize = 12;

/// The evidence for a value, on one line.
pub fn source(evidence: &Evidence, sources: &SourceMap) -> String {
    let nodes = |count: &usize| plural(*count, "node");
    match evidence {
        Evidence::Label { keys, values, nodes: count } => {
            // Of several values the smallest counts, since a class promises it for each of its
            // nodes.
            let least = if values.len() > 1
                && keys.iter().any(|key| {
                    key.contains("memory") || key.contains("vram") || key.contains("compute")
                }) {
                ", the least"
            } else {
                ""
            };
            format!("label {} = {}{least} on {}", keys.join(", "), values.join(", "), nodes(count))
        }
        Evidence::Resource { name, nodes: count } => format!("resource {name} on {}", nodes(count)),
        Evidence::Catalogue(product) => format!("data sheet of {product}"),
        Evidence::Follows(field) => format!("follows from {field}"),
        Evidence::Values(span) => sources.locate(*span).to_string(),
        Evidence::Flavor(name) => format!("ResourceFlavor {name}"),
        Evidence::Each(all) => {
            let mut lines: Vec<String> = Vec::new();
            for (_, evidence) in all {
                let line = source(evidence, sources);
                // Elements of a list often have one source.
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            lines.join("; ")
        }
        Evidence::Always => "marks classes that follow the nodes".into(),
    }
}

fn basis(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Label { .. } => "label",
        Evidence::Resource { .. } => "resource",
        Evidence::Catalogue(_) => "catalogue",
        Evidence::Follows(_) => "derived",
        Evidence::Values(_) => "values",
        Evidence::Flavor(_) => "flavor",
        Evidence::Each(_) => "several",
        Evidence::Always => "default",
    }
}

/// One row per value; for a list, one row per element.
pub fn evidence(facts: &[Fact], sources: &SourceMap) -> Vec<Value> {
    let row = |fact: &Fact, value: Value, evidence: &Evidence| json!({ "field": fact.path.to_string(), "value": value, "basis": basis(evidence), "source": source(evidence, sources) });
    let rows = facts.iter().flat_map(|fact| match &fact.evidence {
        Evidence::Each(all) => {
            all.iter().map(|(value, evidence)| row(fact, json!(value.as_str()), evidence)).collect()
        }
        evidence => vec![row(fact, fact.value.to_json(), evidence)],
    });
    rows.collect()
}

/// Fields that differ.
pub fn changes(changes: &[Change]) -> Vec<Value> {
    let value = |node: &Option<Node>| node.as_ref().map(Node::to_json);
    changes.iter().map(|change| json!({ "path": change.path.to_string(), "from": value(&change.from), "to": value(&change.to) })).collect()
}

/// Everything as JSON; `status` if it was requested.
pub fn json(
    discovered: &Discovered,
    status: bool,
    found: &[Diagnostic],
    sources: &SourceMap,
) -> Value {
    let classes: Vec<Value> = discovered
        .classes
        .iter()
        .map(|class| {
            let place = class.written.map(|span| sources.locate(span));
            json!({
                "name": class.name.as_str(),
                "action": class.action.as_str(),
                "object": class.object.to_json(),
                "nodes": names(&class.nodes),
                "evidence": evidence(&class.facts, sources),
                "changes": changes(&class.changes),
                "status": status.then(|| json!({
                    "nodes": names(&class.nodes),
                    "totalAccelerators": class.status.total,
                    "shares": class.status.shares,
                    "availableAccelerators": class.status.available,
                    "availableNodes": class.status.available_nodes,
                })),
                "file": place.as_ref().map(|place| place.file.to_string()),
                "line": place.as_ref().map(|place| place.line),
            })
        })
        .collect();
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "classes": classes,
        "skipped": discovered.skipped.iter().map(|skipped| json!({ "node": skipped.node.as_str(), "reason": skipped.reason })).collect::<Vec<_>>(),
        "noTier": names(&discovered.no_tier),
        "findings": found.iter().map(|finding| findings::json(finding, sources)).collect::<Vec<_>>(),
    })
}

fn names(names: &[EcoString]) -> Vec<&str> {
    names.iter().map(EcoString::as_str).collect()
}

/// A class as YAML, with the evidence behind the first leaf of each value.
pub fn yaml(object: &Node, facts: &[Fact], sources: &SourceMap) -> String {
    let mut out = String::new();
    let mut message: Option<(usize, usize)> = None;
    yaml::write_with(&mut out, object, &mut |path, _| {
        // The path of a leaf is below that of its fact.
        let index = facts.iter().position(|fact| path.0.starts_with(&fact.path.0))?;
        let fact = &facts[index];
        let element = match path.0.get(fact.path.0.len()) {
            Some(Segment::Index(element)) => *element,
            _ => 0,
        };
        let each = if let Evidence::Each(all) = &fact.evidence {
            all.get(element).map(|(_, evidence)| (element, evidence))
        } else {
            Some((0, &fact.evidence))
        };
        let (element, evidence) = each?;
        // The evidence of a value with many leaves is given once.
        (message.replace((index, element)) != Some((index, element)))
            .then(|| source(evidence, sources))
    });
    out
}

/// `ome discover` as text: a row per class, the changes of an update, nodes without a class, a
/// summary.
pub fn table(discovered: &Discovered, nodes: usize, sources: &SourceMap, style: Style) -> String {
    let mut out = Page::default();
    if discovered.classes.is_empty() {
        let how = match nodes {
            0 => ": `kubectl get nodes -o yaml | ome discover -f -` reads those of a cluster",
            _ => "",
        };
        line!(
            out,
            "no accelerator class: {nodes} {} read{how}",
            if nodes == 1 { "node" } else { "nodes" }
        );
    } else {
        let rows = discovered.classes.iter().map(|class| row(class, sources));
        out.draw(&plain_table(
            &[
                "ACTION", "CLASS", "VENDOR", "FAMILY", "MEMORY", "NODES", "USABLE", "DEVICES",
                "FREE", "FROM",
            ],
            rows,
            style,
        ));
    }
    for class in discovered.classes.iter().filter(|class| class.action == Action::Update) {
        put!(out, "\n{}\n", class.name);
        let fact = |change: &Change| class.facts.iter().find(|fact| fact.path == change.path);
        // Values that are added from a data sheet only complete the class: one line is enough.
        let mut added: Vec<(String, Vec<String>)> = Vec::new();
        for change in &class.changes {
            let why = fact(change).map_or_else(String::new, |fact| source(&fact.evidence, sources));
            if change.from.is_none()
                && !fact(change).is_some_and(|fact| fact.evidence.is_observed())
            {
                match added.iter_mut().find(|(added, _)| *added == why) {
                    Some((_, fields)) => fields.push(short(&change.path)),
                    None => added.push((why, vec![short(&change.path)])),
                }
                continue;
            }
            line!(
                out,
                "  {}: {} -> {}  # {why}",
                short(&change.path),
                value(change.from.as_ref()),
                value(change.to.as_ref())
            );
        }
        for (why, fields) in added {
            line!(out, "  + {}  # {why}", fields.join(", "));
        }
    }
    let skipped: Vec<&str> =
        discovered.skipped.iter().map(|skipped| skipped.node.as_str()).collect();
    for (what, names) in
        [("without accelerators", skipped), ("in no tier", names(&discovered.no_tier))]
    {
        if !names.is_empty() {
            put!(out, "\n{what}: {}\n", first_of(&names, SHOWN));
        }
    }
    if !discovered.classes.is_empty() {
        put!(out, "\n{}\n", summary(discovered));
    }
    out.finish()
}

fn row(class: &Proposal, sources: &SourceMap) -> Vec<Cell> {
    let spec = |keys: &[&str]| {
        let spec = class.object.get("spec").and_then(|spec| spec.at(keys));
        Cell::or_none(spec.and_then(Node::scalar_text).map(|text| text.to_string()))
    };
    // A class that is in a file is found there; a new one by what its nodes show.
    let from = if let Some(span) = class.written {
        sources.locate(span).to_string().into()
    } else {
        let mut facts = class.facts.iter();
        let fact = facts.find(|fact| fact.path.to_string().starts_with("spec.discovery"));
        Cell::or_none(fact.map(|fact| origin(&fact.evidence, sources)))
    };
    row![
        class.action.as_str(),
        class.name.to_string(),
        spec(&["vendor"]),
        spec(&["family"]),
        spec(&["capabilities", "memoryGB"]),
        class.nodes.len().to_string(),
        class.status.available_nodes.to_string(),
        match class.status.shares {
            Some(shares) => format!("{} ({shares} shares)", class.status.total),
            None => class.status.total.to_string(),
        },
        match class.status.shares {
            Some(_) => format!("{} shares", class.status.available),
            None => class.status.available.to_string(),
        },
        from,
    ]
}

/// The evidence for a class, in a few words.
fn origin(evidence: &Evidence, sources: &SourceMap) -> String {
    match evidence {
        Evidence::Label { keys, .. } => keys.join(", "),
        Evidence::Resource { name, .. } => name.to_string(),
        other => source(other, sources),
    }
}

/// A path without the common prefix.
pub(super) fn short(path: &FieldPath) -> String {
    let path = path.to_string();
    let below = ["spec.capabilities.performance.", "spec.capabilities.", "spec."]
        .into_iter()
        .find_map(|prefix| path.strip_prefix(prefix));
    below.unwrap_or(&path).to_owned()
}

/// A side of a change in one line.
pub(super) fn value(node: Option<&Node>) -> String {
    node.map_or_else(
        || "-".to_owned(),
        |node| {
            node.scalar_text().map_or_else(|| node.to_json().to_string(), |text| text.to_string())
        },
    )
}

fn summary(discovered: &Discovered) -> String {
    let count =
        |action: Action| discovered.classes.iter().filter(|class| class.action == action).count();
    let words = [
        (Action::Create, "to create"),
        (Action::Update, "to update"),
        (Action::Unchanged, "unchanged"),
        (Action::Kept, "kept"),
        (Action::Orphan, "without a node"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter(|(action, _)| count(*action) > 0)
        .map(|(action, word)| format!("{} {word}", count(action)))
        .collect();
    parts.join(", ")
}
