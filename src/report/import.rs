//! What a config.json says of a model, as YAML with its evidence and as JSON.

use super::{SCHEMA_VERSION, findings};
use crate::diag::Diagnostic;
use crate::facts::models::{Fact, Facts};
use crate::source::SourceMap;
use crate::yaml::{self, FieldPath, Node};
use serde_json::{Value, json};

/// A model as YAML; behind each facts value stands why it is believed.
pub fn yaml(model: &Node, facts: &Facts, sources: &SourceMap) -> String {
    let mut out = String::new();
    yaml::write_with(&mut out, model, &mut |path, _| {
        fact_at(path, facts).map(|fact| remark(fact, sources))
    });
    out
}

fn fact_at<'a>(path: &FieldPath, facts: &'a Facts) -> Option<&'a Fact> {
    let below = path.0.strip_prefix(&FieldPath::root().field("spec").0[..])?;
    facts.values.iter().find(|fact| fact.path.0 == below)
}

fn remark(fact: &Fact, sources: &SourceMap) -> String {
    let place =
        fact.evidence.span.map_or_else(String::new, |span| format!(" ({})", sources.locate(span)));
    format!("{}: {}{place}", fact.evidence.basis.as_str(), fact.evidence.text)
}

/// What was changed in a file.
#[derive(Clone, Debug)]
pub struct Into {
    /// The file.
    pub file: String,
    /// The model in it, as `Kind/name`.
    pub model: String,
    /// Fields that were added or replaced, below `spec`.
    pub changed: Vec<FieldPath>,
}

/// Everything as JSON.
pub fn json(
    model: &Node,
    facts: &Facts,
    into: Option<&Into>,
    found: &[Diagnostic],
    sources: &SourceMap,
) -> Value {
    let listed: Vec<Value> = facts
        .values
        .iter()
        .map(|fact| {
            let place = fact.evidence.span.map(|span| sources.locate(span));
            json!({
                "path": fact.path.to_string(),
                "value": fact.value.to_json(),
                "basis": fact.evidence.basis.as_str(),
                "evidence": fact.evidence.text,
                "file": place.as_ref().map(|place| place.file.to_string()),
                "line": place.as_ref().map(|place| place.line),
            })
        })
        .collect();
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "parameters": facts.parameters.map(|count| count.0),
        "storedElements": facts.stored.map(|count| count.0),
        "facts": listed,
        "model": model.to_json(),
        "into": into.map(|into| json!({
            "file": into.file,
            "model": into.model,
            "changed": into.changed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })),
        "findings": found.iter().map(|finding| findings::json(finding, sources)).collect::<Vec<_>>(),
    })
}

/// What was changed in a file, one line per field.
pub fn changes(into: &Into, facts: &Facts, sources: &SourceMap) -> String {
    let name = findings::printable(&into.file);
    if into.changed.is_empty() {
        return format!("{name}: {} says all of it already\n", into.model);
    }
    let mut out = format!("{name}: {}\n", into.model);
    for fact in facts
        .values
        .iter()
        .filter(|fact| into.changed.iter().any(|changed| fact.path.0.starts_with(&changed.0)))
    {
        let value = fact.value.scalar_text().unwrap_or_default();
        out.push_str(&findings::printable(&format!(
            "  {}: {value}  # {}\n",
            fact.path,
            remark(fact, sources)
        )));
    }
    out
}
