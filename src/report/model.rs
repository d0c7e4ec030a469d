//! The facts about the model of a service and their evidence, as text and as JSON.

use super::places;
use crate::api::{Evidence, Model};
use crate::policy::Policy;
use crate::report::screen::printable;
use crate::source::SourceMap;
use crate::yaml::Origin;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Fields that are shown with their evidence, in the order of the spec.
const FIELDS: [&str; 8] = [
    "modelFormat.name",
    "modelFormat.version",
    "modelFramework.name",
    "modelFramework.version",
    "modelArchitecture",
    "modelParameterSize",
    "quantization",
    "maxTokens",
];

/// The keys that `explain` adds to the reference of a model.
pub(super) fn json(model: &Model, policy: &Policy, out: &mut Value, sources: &SourceMap) {
    out["facts"] = FIELDS.iter().filter_map(|field| fact(model, policy, field, sources)).collect();
    out["parameters"] = model.completion.parameters.map(|count| count.0).into();
    out["storedElements"] = model.completion.stored.map(|count| count.0).into();
}

fn fact(model: &Model, policy: &Policy, field: &str, sources: &SourceMap) -> Option<Value> {
    let evidence = policy.evidence(model, field)?;
    let (value, origin) = value(model, policy, field)?;
    Some(json!({
        "field": field,
        "value": value,
        "evidence": evidence.as_str(),
        "at": places::origin(origin, sources),
    }))
}

/// Lines about fields that the manifest does not set: the source of each field, and the two element
/// counts if they differ.
pub(super) fn lines(model: &Model, policy: &Policy, sources: &SourceMap) -> Vec<String> {
    let mut lines = Vec::new();
    // Quantized weights store fewer elements than the model has parameters.
    if let (Some(parameters), Some(stored)) = (model.completion.parameters, model.completion.stored)
        && parameters != stored
    {
        lines.push(format!(
            "{} elements are stored for {} parameters; a cluster selects by what is stored",
            stored.short(),
            parameters.short()
        ));
    }
    if !model.completion.completes_selection() {
        return lines;
    }
    // Fields of one source are named together, the best-known first.
    let mut by_source: BTreeMap<(Evidence, String), Vec<&str>> = BTreeMap::new();
    for field in FIELDS {
        let Some(evidence) = policy.evidence(model, field) else { continue };
        let Some((_, origin)) = value(model, policy, field) else { continue };
        if evidence == Evidence::Declared {
            continue;
        }
        let source = match origin {
            // The line within a config is in JSON; the file is enough in a sentence.
            Origin::File(span) => format!("config: {}", sources.get(span.source).name),
            origin => places::origin(origin, sources).unwrap_or_default(),
        };
        by_source.entry((evidence, source)).or_default().push(field);
    }
    lines.extend(by_source.into_iter().map(|((_, source), fields)| {
        printable(&format!("{source}: {}", whole(&fields).join(", ")))
    }));
    lines
}

/// Replaces a name and its version with the field that contains both.
fn whole<'f>(fields: &[&'f str]) -> Vec<&'f str> {
    let mut out = Vec::new();
    for field in fields {
        match field.split_once('.') {
            Some((group, "version")) if out.last() == Some(&format!("{group}.name").as_str()) => {
                out.pop();
                out.push(group);
            }
            _ => out.push(*field),
        }
    }
    out
}

/// The value of a field with its origin, in the form that a policy compares.
fn value(model: &Model, policy: &Policy, field: &str) -> Option<(Value, Origin)> {
    // The name that is compared may be finer than that in the manifest.
    if field == "quantization" {
        let name = policy.quantization_of(model)?;
        return Some((name.value.as_str().into(), name.origin));
    }
    let path: Vec<&str> = std::iter::once("spec").chain(field.split('.')).collect();
    let node = model.object.node.at(&path)?;
    Some((node.to_json(), node.origin))
}
