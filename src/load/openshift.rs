//! OpenShift Templates: objects with parameters (OpenShift docs, Using templates).
//!
//! In: a Template. Out: its objects with the values of parameters filled in. Parameters without a
//! value, and generated ones, stay as they are written: placeholders.

use crate::yaml::{Node, Value};
use std::collections::BTreeMap;

/// Whether a document is a Template; `oc` reads the version without a group, too.
pub(super) fn is_template(api_version: &str, kind: &str) -> bool {
    kind == "Template" && (api_version == "v1" || api_version.starts_with("template.openshift.io/"))
}

/// The objects of a Template.
pub(super) fn objects(template: &Node) -> Vec<Node> {
    let parameters = template.get("parameters").map(Node::items).unwrap_or_default();
    let values: BTreeMap<&str, String> = parameters
        .iter()
        // A generated value is another one in each run of `oc process`.
        .filter(|parameter| parameter.get("generate").is_none())
        .filter_map(|parameter| {
            let value = parameter.get("value")?.scalar_text()?;
            Some((parameter.get("name")?.as_str()?, value.to_string()))
        })
        // An empty value is one that the caller of the template must set.
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let objects = template.get("objects").map(Node::items).unwrap_or_default();
    objects.iter().map(|object| filled(object, &values)).collect()
}

/// A tree with `${NAME}` and `${{NAME}}` filled in. The second form stands for a value that is no
/// text.
fn filled(node: &Node, values: &BTreeMap<&str, String>) -> Node {
    let mut node = node.clone();
    match &mut node.value {
        Value::Map(map) => {
            for entry in map.iter_mut() {
                entry.node = filled(&entry.node, values);
            }
        }
        Value::List(items) => {
            for item in items.make_mut().iter_mut() {
                *item = filled(item, values);
            }
        }
        Value::Str(text) if text.contains("${") => {
            let whole = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}"));
            if let Some(value) = whole.and_then(|name| values.get(name)) {
                // Only numbers and booleans are read: `oc` parses the text as JSON, which rarely is
                // more.
                node.value = match (value.as_str(), value.parse::<i64>()) {
                    ("true", _) => Value::Bool(true),
                    ("false", _) => Value::Bool(false),
                    (_, Ok(number)) => Value::Int(number),
                    _ => Value::Str(value.as_str().into()),
                };
            } else {
                *text = with_values(text, values).into();
            }
        }
        _ => {}
    }
    node
}

/// A text with `${NAME}` filled in. Once: a value that looks like a parameter stays as it is.
fn with_values(text: &str, values: &BTreeMap<&str, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, parameter) = rest.split_at(start);
        out.push_str(before);
        let name = parameter.find('}').map(|end| &parameter[2..end]);
        if let Some((name, value)) = name.and_then(|name| Some((name, values.get(name)?))) {
            out.push_str(value);
            rest = &parameter[name.len() + "${}".len()..];
        } else {
            out.push_str("${");
            rest = &parameter[2..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_once() {
        let values = BTreeMap::from([("A", "${B}".to_owned()), ("B", "b".to_owned())]);
        assert_eq!(with_values("x-${A}-${B}-${C}-${", &values), "x-${B}-b-${C}-${");
        assert_eq!(with_values("${ ${A}}", &values), "${ ${B}}");
    }
}
