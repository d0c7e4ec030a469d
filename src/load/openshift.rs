//! OpenShift Templates: objects with parameters (OpenShift docs, Using templates).
//!
//! In: a Template. Out: its objects with the values of parameters filled in, as openshift/library-go
//! pkg/template/templateprocessing/template.go, `Processor.Process` does it. Generated parameters,
//! and required ones without a value, stay as they are written: placeholders.

use crate::yaml::{Map, Node, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Values of parameters by name.
type Values<'a> = BTreeMap<&'a str, EcoString>;

/// Whether a document is a Template.
pub(super) fn is_template(api_version: &str, kind: &str) -> bool {
    // Before OpenShift had groups, it was a kind of the core.
    kind == "Template" && (api_version.starts_with("template.openshift.io/") || api_version == "v1")
}

/// The objects of a Template.
pub(super) fn objects(template: &Node) -> Vec<Node> {
    let parameters = template.get("parameters").map(Node::items).unwrap_or_default();
    let values: Values<'_> = parameters.iter().filter_map(value_of).collect();
    let objects = template.get("objects").map(Node::items).unwrap_or_default();
    objects
        .iter()
        .map(|object| {
            let mut object = object.clone();
            strip_namespace(&mut object);
            filled(&object, &values)
        })
        .collect()
}

/// A parameter with its value. One that may be left out is empty.
fn value_of(parameter: &Node) -> Option<(&str, EcoString)> {
    let name = parameter.get("name")?.as_str()?;
    let value = parameter.get("value").and_then(Node::scalar_text).filter(|text| !text.is_empty());
    if let Some(value) = value {
        return Some((name, value));
    }
    let is_required = parameter.get("required").and_then(Node::as_bool) == Some(true);
    let is_generated = parameter
        .get("generate")
        .and_then(Node::as_str)
        .is_some_and(|generator| !generator.is_empty());
    (!is_required && !is_generated).then(|| (name, EcoString::new()))
}

/// Drops the namespace of an object unless it has a parameter: the objects are made in the project
/// of the one who processes the Template.
fn strip_namespace(object: &mut Node) {
    let Some(metadata) = object
        .as_map_mut()
        .and_then(|object| object.get_mut("metadata"))
        .and_then(Node::as_map_mut)
    else {
        return;
    };
    let namespace = metadata.get("namespace").and_then(Node::as_str);
    if namespace.is_some_and(|namespace| references(namespace).next().is_none()) {
        metadata.remove("namespace");
    }
}

/// A name of a parameter: letters, digits and underscores.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The `${NAME}` of a text: where each begins, and its name.
fn references(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${").filter_map(|(at, _)| {
        let name = text[at + 2..].split_once('}')?.0;
        is_name(name).then_some((at, name))
    })
}

/// The parameter of a value that is `${{NAME}}` as a whole.
fn typed(text: &str) -> Option<&str> {
    text.strip_prefix("${{")?.strip_suffix("}}").filter(|name| is_name(name))
}

/// A text with `${NAME}` filled in; values are not read again.
fn text_of(text: &str, values: &Values<'_>) -> EcoString {
    let (mut out, mut from) = (EcoString::new(), 0);
    for (at, name) in references(text) {
        if let Some(value) = values.get(name) {
            out.push_str(&text[from..at]);
            out.push_str(value);
            from = at + name.len() + 3;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// A tree with `${NAME}` and `${{NAME}}` filled in, keys too. The second form stands for JSON, and
/// for text where the value is none.
fn filled(node: &Node, values: &Values<'_>) -> Node {
    let mut node = node.clone();
    match &mut node.value {
        Value::Map(map) => {
            let mut out = Map::with_capacity(map.len());
            for entry in map.iter() {
                let mut entry = entry.clone();
                entry.node = filled(&entry.node, values);
                if entry.key.contains("${") {
                    entry.key = text_of(&entry.key, values);
                }
                out.insert_entry(entry);
            }
            *map = out;
        }
        Value::List(items) => {
            for item in items.make_mut().iter_mut() {
                *item = filled(item, values);
            }
        }
        Value::Str(text) if text.contains("${") => {
            node.value = match typed(text).and_then(|name| values.get(name)) {
                None => Value::Str(text_of(text, values)),
                Some(value) => match serde_json::from_str(value) {
                    Ok(json) => Node::from_json(&json, node.origin).value,
                    Err(_) => Value::Str(value.clone()),
                },
            };
        }
        _ => {}
    }
    node
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
mod tests {
    use super::{is_template, objects};
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};
    use std::path::Path;

    /// Templates that were processed by library-go, beside what it made of them.
    #[test]
    fn templates_are_processed_as_openshift_does() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/templates");
        let mut seen = 0;
        for case in std::fs::read_dir(cases).expect("there are cases") {
            let case = case.expect("an entry").path();
            let text = std::fs::read_to_string(case.join("input.yaml")).expect("a template");
            let root = parse(
                SourceId(0),
                &text,
                crate::yaml::Part::from(0..text.len()),
                &Limits::default(),
            );
            let root = root.value.expect("an object");
            let wanted = std::fs::read_to_string(case.join("processed.json")).expect("a result");
            let wanted: serde_json::Value = serde_json::from_str(&wanted).expect("JSON");
            // A generated value is not known, so its text stays.
            let is_generated = text.contains("generate:");
            let own: Vec<_> = objects(&root).iter().map(crate::yaml::Node::to_json).collect();
            if is_generated {
                assert!(own.iter().any(|own| own.to_string().contains("${")), "{case:?}");
            } else {
                assert_eq!(serde_json::Value::from(own), wanted["objects"], "{case:?}");
            }
            seen += 1;
        }
        assert_eq!(seen, 9);
    }

    #[test]
    fn a_fixed_namespace_goes_and_values_are_read_once() {
        let text = "objects:\n- metadata: {name: '${A}-${NONE}', namespace: team, labels: {'${B}': x}}\n- metadata: {name: '${{A}}', namespace: 'x-${B}'}\nparameters:\n- {name: A, value: '${B}'}\n- {name: B, value: b}\n- {name: NONE, required: true}\n";
        let root =
            parse(SourceId(0), text, crate::yaml::Part::from(0..text.len()), &Limits::default());
        let own = objects(&root.value.expect("an object"));
        let own: Vec<String> = own.iter().map(|own| own.to_json().to_string()).collect();
        assert_eq!(
            own,
            [
                r#"{"metadata":{"name":"${B}-${NONE}","labels":{"b":"x"}}}"#,
                r#"{"metadata":{"name":"${B}","namespace":"x-b"}}"#,
            ]
        );
        assert!(is_template("template.openshift.io/v1", "Template"));
    }
}
