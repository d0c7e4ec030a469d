//! The facts about a model from its config.json, as YAML with evidence and as JSON.

use super::screen::{Page, line, put};
use super::{SCHEMA_VERSION, findings};
use crate::diag::Diagnostic;
use crate::facts::models::{Fact, Facts};
use crate::source::SourceMap;
use crate::yaml::{self, FieldPath, Node};
use serde_json::{Value, json};

/// A model as YAML, with the evidence behind each value that comes from the facts.
pub fn yaml(model: &Node, facts: &Facts, sources: &SourceMap) -> String {
    let mut out = String::new();
    yaml::write_with(&mut out, model, &mut |path, _| {
        fact_at(path, facts).map(|fact| remark(fact, sources))
    });
    out
}

fn fact_at<'a>(path: &FieldPath, facts: &'a Facts) -> Option<&'a Fact> {
    // Paths of facts begin below `spec`.
    let below = path.0.strip_prefix(&FieldPath::root().field("spec").0[..])?;
    facts.values.iter().find(|fact| fact.path.0 == below)
}

fn remark(fact: &Fact, sources: &SourceMap) -> String {
    let place =
        fact.evidence.span.map_or_else(String::new, |span| format!(" ({})", sources.locate(span)));
    format!("{}: {}{place}", fact.evidence.basis.as_str(), fact.evidence.text)
}

/// The changes in a file.
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

/// The changes in a file, one line per field.
pub fn changes(into: &Into, facts: &Facts, sources: &SourceMap) -> String {
    let mut out = Page::default();
    if into.changed.is_empty() {
        line!(out, "{}: {} has all values already", into.file, into.model);
    } else {
        line!(out, "{}: {}", into.file, into.model);
        fields(&mut out, &changed(facts, &into.changed, sources));
    }
    out.finish()
}

/// A field that was filled in or replaced.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Path below `spec`.
    path: String,
    /// Its value.
    value: Node,
    /// Its evidence.
    why: String,
}

/// The values of the fields that were changed.
pub fn changed(facts: &Facts, changed: &[FieldPath], sources: &SourceMap) -> Vec<Changed> {
    // A change of a whole group has its values below it.
    let is_changed = |fact: &&Fact| changed.iter().any(|path| fact.path.0.starts_with(&path.0));
    let row = |fact: &Fact| Changed {
        path: fact.path.to_string(),
        value: fact.value.clone(),
        why: remark(fact, sources),
    };
    facts.values.iter().filter(is_changed).map(row).collect()
}

fn fields(out: &mut Page, changed: &[Changed]) {
    for Changed { path, value, why } in changed {
        let value = value.scalar_text().unwrap_or_default();
        line!(out, "  {path}: {value}  # {why}");
    }
}

/// The outcome for a model of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Fields were filled in or replaced.
    Completed,
    /// No field had to be filled in.
    Complete,
    /// Its config could not be read, or its file could not be written.
    Failed,
    /// It is not stored on the Hub, or its manifest excludes the model agent.
    Skipped,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One model of a catalog.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The file that holds it.
    pub file: String,
    /// Its line in the file.
    pub line: u32,
    /// The model, as `Kind/name`.
    pub model: String,
    /// Its repository on the Hub.
    pub uri: Option<String>,
    /// The outcome.
    pub state: State,
    /// The fields that were filled in or replaced.
    pub changed: Vec<Changed>,
}

/// Every model that was changed, field by field, and a summary.
pub fn all(models: &[Completed]) -> String {
    let mut out = Page::default();
    for model in models.iter().filter(|model| model.state == State::Completed) {
        line!(out, "{}: {}", model.file, model.model);
        fields(&mut out, &model.changed);
        out.end_line();
    }
    let count = |state| models.iter().filter(|model| model.state == state).count();
    put!(out, "{} of {} models completed", count(State::Completed), models.len());
    for (state, words) in [
        (State::Complete, "complete before"),
        (State::Failed, "failed"),
        (State::Skipped, "skipped"),
    ] {
        match count(state) {
            0 => {}
            number => {
                put!(out, ", {number} {words}");
            }
        }
    }
    out.end_line();
    out.finish()
}

/// The same as JSON.
pub fn all_json(models: &[Completed], found: &[Diagnostic], sources: &SourceMap) -> Value {
    let row = |model: &Completed| {
        let changed: Vec<Value> = model
            .changed
            .iter()
            .map(|field| {
                json!({ "path": field.path, "value": field.value.to_json(), "evidence": field.why })
            })
            .collect();
        json!({
            "model": model.model,
            "file": model.file,
            "line": model.line,
            "uri": model.uri,
            "state": model.state.as_str(),
            "changed": changed,
        })
    };
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "models": models.iter().map(row).collect::<Vec<_>>(),
        "findings": found.iter().map(|finding| findings::json(finding, sources)).collect::<Vec<_>>(),
    })
}
