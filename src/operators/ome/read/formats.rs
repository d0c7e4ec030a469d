//! The deprecated spelling of `supportedModelFormats`: name and version of a format in the entry
//! itself (OME docs, Serving Runtime, Core Configuration).

use crate::diag::{Code, Diagnostic};
use crate::yaml::{Entry, Map, Node, Value};

/// The spec of a runtime with `modelFormat` in all entries; `None` when it is already so.
///
/// An entry with both names keeps the current one; a difference is reported when the entry is read.
pub fn current_formats(runtime: &Node) -> Option<Node> {
    rewritten(runtime, |map| {
        let name = map.entry("name")?.clone();
        let mut entry: Map = map.iter().filter(|field| field.key != "name").cloned().collect();
        if map.get("modelFormat").is_none_or(Node::is_null) {
            // The version of the entry belongs to the format as well.
            let fields = [Some(name.clone()), entry.remove("version")];
            let origin = name.node.origin;
            entry.remove("modelFormat");
            // In front, where the current spelling has it.
            entry = std::iter::once(Entry {
                key: "modelFormat".into(),
                key_origin: origin,
                node: Node::new(Value::Map(fields.into_iter().flatten().collect()), origin),
            })
            .chain(entry.iter().cloned())
            .collect();
        }
        Some(entry)
    })
}

/// The spec of a runtime in the deprecated spelling, with findings about values that it cannot
/// express; `None` when no entry has `modelFormat`.
pub fn previous_formats(runtime: &Node) -> Option<(Node, Vec<Diagnostic>)> {
    let mut losses = Vec::new();
    let mut index = 0;
    let spec = rewritten(runtime, |map| {
        let position = index;
        index += 1;
        let format = map.get("modelFormat").filter(|format| format.as_map().is_some())?;
        let mut entry = Map::new();
        for field in format.entries() {
            if matches!(field.key.as_str(), "name" | "version") {
                entry.insert_entry(field.clone());
            } else {
                losses.push(
                    Diagnostic::new(
                        Code::ConversionLoss,
                        "the previous schema has name and version of a format only",
                    )
                    .at(field.key_origin.span())
                    .path(format!(
                        "spec.supportedModelFormats[{position}].modelFormat.{}",
                        field.key
                    )),
                );
            }
        }
        for field in map
            .iter()
            .filter(|field| !matches!(field.key.as_str(), "modelFormat" | "name" | "version"))
        {
            entry.push(field.clone());
        }
        Some(entry)
    });
    spec.map(|spec| (spec, losses))
}

fn rewritten(runtime: &Node, mut rewrite: impl FnMut(&Map) -> Option<Map>) -> Option<Node> {
    let spec = runtime.get("spec")?;
    let listed = spec.get("supportedModelFormats")?;
    let mut changed = false;
    let entries: Vec<Node> = listed
        .items()
        .iter()
        .map(|entry| match entry.as_map().and_then(&mut rewrite) {
            Some(map) => {
                changed = true;
                Node::new(Value::Map(map), entry.origin)
            }
            None => entry.clone(),
        })
        .collect();
    let mut map = spec.as_map()?.clone();
    map.insert("supportedModelFormats", Node::list(entries, listed.origin));
    changed.then(|| Node::new(Value::Map(map), spec.origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};

    static RULE: Rule = Rule { id: "test", text: "", cite: "" };

    fn runtime(entry: &serde_json::Value) -> Node {
        Node::from_json(
            &serde_json::json!({"spec": {"supportedModelFormats": [entry]}}),
            Origin::Derived(&RULE),
        )
    }

    fn entry(spec: &Node) -> serde_json::Value {
        spec.to_json()["supportedModelFormats"][0].clone()
    }

    // OME docs, Serving Runtime, Core Configuration, both ways.
    #[test]
    fn format_entries_convert_between_old_and_current_fields() {
        let old =
            serde_json::json!({"name": "safetensors", "version": "1.0.0", "autoSelect": true});
        let new = serde_json::json!({"modelFormat": {"name": "safetensors", "version": "1.0.0"}, "autoSelect": true});
        assert_eq!(entry(&current_formats(&runtime(&old)).expect("rewritten")), new);
        let (spec, losses) = previous_formats(&runtime(&new)).expect("rewritten");
        assert_eq!((entry(&spec), losses.len()), (old.clone(), 0));
        assert!(current_formats(&runtime(&new)).is_none());
        assert!(previous_formats(&runtime(&old)).is_none());
        let both = serde_json::json!({"name": "a", "version": "2", "modelFormat": {"name": "a"}});
        assert_eq!(
            entry(&current_formats(&runtime(&both)).expect("rewritten")),
            serde_json::json!({"version": "2", "modelFormat": {"name": "a"}})
        );
        let weighed = serde_json::json!({"modelFormat": {"name": "a", "operator": "GreaterThan"}});
        let (_, losses) = previous_formats(&runtime(&weighed)).expect("rewritten");
        assert_eq!(
            losses[0].path.as_deref(),
            Some("spec.supportedModelFormats[0].modelFormat.operator")
        );
    }
}
