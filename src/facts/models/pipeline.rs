//! Diffusion pipelines: facts of a model_index.json.

use super::agent::capabilities_of_pipeline;
use super::{Basis, Facts};
use crate::source::Span;
use crate::yaml::{Node, Value};

/// Parts that have a field of their own, by their key in the file.
const PARTS: [(&str, &str); 6] = [
    ("scheduler", "scheduler"),
    ("text_encoder", "textEncoder"),
    ("tokenizer", "tokenizer"),
    ("transformer", "transformer"),
    ("unet", "transformer"),
    ("vae", "vae"),
];

/// Adds format, framework, architecture and pipeline.
pub(super) fn facts(file: &Node, facts: &mut Facts) {
    let text =
        |key: &str| file.get(key).and_then(|node| Some((node.as_str()?, node.origin.span())));
    let whole = file.origin.span();
    facts.say(
        &["modelFormat", "name"],
        "diffusers",
        Basis::Declared,
        "a model_index.json is one of diffusers",
        whole,
    );
    facts.say(
        &["modelFramework", "name"],
        "diffusers",
        Basis::Declared,
        "a model_index.json is one of diffusers",
        whole,
    );
    if let Some((version, span)) = text("_diffusers_version") {
        facts.say(
            &["modelFormat", "version"],
            version,
            Basis::Declared,
            "`_diffusers_version`",
            span,
        );
        facts.say(
            &["modelFramework", "version"],
            version,
            Basis::Declared,
            "`_diffusers_version`",
            span,
        );
    }
    facts.say(
        &["modelType"],
        "diffusers",
        Basis::Assumed,
        "what the model agent writes for a pipeline",
        whole,
    );
    if let Some((class, span)) = text("_class_name") {
        facts.say(&["modelArchitecture"], class, Basis::Declared, "`_class_name`", span);
        facts.say(
            &["diffusionPipeline", "className"],
            class,
            Basis::Declared,
            "`_class_name`",
            span,
        );
    }
    if let Some((class, span)) = text("_class_name") {
        facts.list(
            &["modelCapabilities"],
            capabilities_of_pipeline(class),
            Basis::Assumed,
            format!("what the model agent writes for {class}"),
            span,
        );
    }
    // Known parts first, others behind them: the order of the fields of the spec.
    let mut others = Vec::new();
    for entry in file.entries().filter(|entry| !entry.key.starts_with('_')) {
        let Some((library, class)) = part(&entry.node) else { continue };
        match PARTS.iter().find(|(key, _)| *key == entry.key) {
            Some((_, field)) => add(
                facts,
                &["diffusionPipeline", field],
                &entry.key,
                library,
                class,
                entry.node.origin.span(),
            ),
            None => others.push((entry, library, class)),
        }
    }
    for (entry, library, class) in others {
        add(
            facts,
            &["diffusionPipeline", "additionalComponents", &entry.key],
            &entry.key,
            library,
            class,
            entry.node.origin.span(),
        );
    }
}

/// Library and class of a part: `["diffusers", "AutoencoderKL"]`. A part that is switched off is
/// `[null, null]`.
fn part(node: &Node) -> Option<(&str, &str)> {
    let Value::List(items) = &node.value else { return None };
    match items.as_slice() {
        [library, class] => Some((library.as_str()?, class.as_str()?)),
        _ => None,
    }
}

fn add(
    facts: &mut Facts,
    path: &[&str],
    key: &str,
    library: &str,
    class: &str,
    span: Option<Span>,
) {
    for (field, value) in [("library", library), ("type", class)] {
        let path: Vec<&str> = path.iter().copied().chain([field]).collect();
        facts.say(&path, value, Basis::Declared, format!("`{key}`"), span);
    }
}
