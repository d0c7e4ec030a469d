//! The path of an object's file in a directory.

use super::Error;
use crate::yaml::Node;

/// `NAMESPACE/SERVICE/KIND-NAME.yaml` in lower case. `grouped` puts the API group behind the kind,
/// for two objects of one service that would otherwise share a path.
///
/// # Errors
/// A name that cannot be part of a path: empty, with a separator, of dots alone.
pub fn path_of(
    object: &Node,
    namespace: &str,
    service: &str,
    grouped: bool,
) -> Result<String, Error> {
    let text = |keys: &[&str]| object.at(keys).and_then(Node::as_str).unwrap_or_default();
    let (kind, name) = (text(&["kind"]), text(&["metadata", "name"]));
    let group = text(&["apiVersion"]).split_once('/').map_or("core", |(group, _)| group);
    // A name with a separator would lead elsewhere.
    for part in [namespace, service, kind, name, group] {
        if !is_plain(part) {
            return Err(Error::Name(part.to_owned()));
        }
    }
    let kind = if grouped { format!("{kind}.{group}") } else { kind.to_owned() };
    // In lower case, since two names that differ in case are one file on macOS and Windows.
    Ok(format!("{namespace}/{service}/{kind}-{name}.yaml").to_lowercase())
}

/// Whether a text can be one part of a path on every system.
pub(super) fn is_plain(part: &str) -> bool {
    !part.is_empty()
        // The longest name that an API server takes.
        && part.len() <= 253
        // Files with a dot are hidden, and `..` leads out.
        && !part.starts_with('.')
        && !part.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

/// Name of a list of resources that Kustomize and Flux read.
pub(super) const KUSTOMIZATION: &str = "kustomization.yaml";

/// Whether a path is that of an object: three plain parts.
pub(super) fn is_object(path: &str) -> bool {
    path.split('/').count() == 3 && path.split('/').all(is_plain)
}

/// Whether a path of a manifest stays where it belongs: that of an object, or of a kustomization at
/// the root or in a namespace.
pub(super) fn is_ours(path: &str) -> bool {
    let listed = match path.split_once('/') {
        None => path == KUSTOMIZATION,
        Some((namespace, name)) => is_plain(namespace) && name == KUSTOMIZATION,
    };
    listed || is_object(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};

    static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };

    fn object(kind: &str, name: &str) -> Node {
        Node::from_json(
            &serde_json::json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}}),
            Origin::Default(&GIVEN),
        )
    }

    #[test]
    fn paths_are_in_lower_case() {
        assert_eq!(
            path_of(&object("Deployment", "chat-engine"), "Default", "chat", false).ok().as_deref(),
            Some("default/chat/deployment-chat-engine.yaml")
        );
        assert_eq!(
            path_of(&object("Deployment", "a"), "d", "c", true).ok().as_deref(),
            Some("d/c/deployment.apps-a.yaml")
        );
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        for (namespace, service, kind, name) in [
            ("..", "a", "K", "n"),
            ("d", "../../x", "K", "n"),
            ("d", "a", "K", "../n"),
            ("d", "a", "K/..", "n"),
            ("d", "a", "K", ""),
            ("d", ".", "K", "n"),
            ("d", "a\\b", "K", "n"),
        ] {
            assert!(
                path_of(&object(kind, name), namespace, service, false).is_err(),
                "{namespace} {service} {kind} {name}"
            );
        }
        for path in [
            "../a/b.yaml",
            "/a/b/c.yaml",
            "a/b",
            "a/../b.yaml",
            "a/b/c/d.yaml",
            "a//b.yaml",
            ".git/a/b.yaml",
            "a.yaml",
            "../kustomization.yaml",
        ] {
            assert!(!is_ours(path), "{path}");
        }
        for path in [
            "default/chat/deployment-chat-engine.yaml",
            "kustomization.yaml",
            "default/kustomization.yaml",
        ] {
            assert!(is_ours(path), "{path}");
        }
    }
}
