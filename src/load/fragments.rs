//! Texts that are no whole manifests: patches, templates of other tools, and files that only quote
//! the words of one.
//!
//! In: a text, or a tree. Out: whether it is an object that is applied as it is.

use crate::yaml::{Node, Value};

/// Whether a document is a strategic merge patch: `$patch` and its companions are directives of the
/// patch, and no fields (Kubernetes docs, Notes on the strategic merge patch).
pub(super) fn is_patch(root: &Node, text: &str) -> bool {
    // The search of the text is cheap, and the tree of a large object is not walked for nothing.
    text.contains("$patch") && has_directive(root)
}

fn has_directive(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => {
            map.get("$patch").is_some_and(|node| node.as_str().is_some())
                || map.iter().any(|entry| has_directive(&entry.node))
        }
        Value::List(items) => items.iter().any(has_directive),
        _ => false,
    }
}

/// Whether a text is a template with statements: `{% if … %}` (Jinja, Nunjucks), `%{ if … }`
/// (Terraform's templatefile).
pub(super) fn is_template(text: &str) -> bool {
    let is_statement = |line: &str| {
        // A list item may begin with a statement: `- {% if x %}`.
        let line = line.trim_start_matches([' ', '\t', '-']);
        (line.starts_with("{%") && line.contains("%}"))
            || (line.starts_with("%{") && line.contains('}'))
    };
    (text.contains("{%") || text.contains("%{")) && text.lines().any(is_statement)
}

/// Whether a text names the version or the kind of an object where an object has them: not only in
/// a field of something else.
pub(super) fn names_object(text: &str) -> bool {
    let names = |text: &str, key: &str| {
        [format!("{key}:"), format!("\"{key}\""), format!("'{key}'")]
            .iter()
            .any(|form| text.contains(form.as_str()))
    };
    // Documents of a file may be split over templates, so that only the whole must have both.
    if !(names(text, "apiVersion") && names(text, "kind")) {
        return false;
    }
    let documents = text.split("\n---");
    documents.into_iter().any(|document| {
        let lines = || {
            document.lines().filter(|line| {
                let line = line.trim();
                !line.is_empty() && !line.starts_with(['#', '%']) && line != "---"
            })
        };
        let depth = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        // An object in a list has its keys behind the dash, so the least depth of the document
        // counts.
        let least = lines().map(depth).min().unwrap_or_default();
        // A flow mapping has its keys anywhere.
        lines().any(|line| line.trim_start().starts_with(['{', '[']))
            || lines().filter(|line| depth(line) <= least).any(|line| {
                let line = line.trim_start_matches([' ', '-', '"', '\'']);
                line.starts_with("apiVersion") || line.starts_with("kind")
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    #[test]
    fn patches_are_told_by_their_directives() {
        for (text, expected) in [
            ("kind: Secret\n$patch: delete\n", true),
            ("spec: {containers: [{$patch: delete, name: a}]}\n", true),
            ("data: {a: \"$patch: delete\"}\n", false),
            ("data: {a: b}\n", false),
        ] {
            let tree = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
            assert_eq!(is_patch(&tree, text), expected, "{text}");
        }
    }

    #[test]
    fn statements_of_templates_are_told_from_text() {
        assert!(is_template("a:\n  {%- if x %}\n  b: 1\n  {%- endif %}\n"));
        assert!(is_template("%{ for a in b ~}\n- a\n%{ endfor ~}\n"));
        assert!(!is_template("a: \"100%\"\nb: '{%'\n"));
        assert!(!is_template("%YAML 1.2\n---\na: {b: 1}\n"));
    }

    #[test]
    fn an_object_has_its_kind_at_its_own_level() {
        for (text, expected) in [
            ("apiVersion: v1\nkind: Node\nmetadata: {name: a\n", true),
            ("  apiVersion: v1\n  kind: Node\n  a: [\n", true),
            ("- apiVersion: v1\n  kind: Node\n  a: [\n", true),
            ("a: 1\n---\nkind: Node\napiVersion: v1\n", true),
            ("{\"apiVersion\": \"v1\", \"kind\": \"Node\",\n", true),
            ("run:\n  config:\n    kind: generic\n    apiVersion: v1\nx: .inf\n", false),
            ("kind: x\nb: [\n", false),
        ] {
            assert_eq!(names_object(text), expected, "{text}");
        }
    }
}
