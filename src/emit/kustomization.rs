//! Lists of the files in a directory, for Kustomize and Flux.

use super::path::KUSTOMIZATION;
use super::stream;
use crate::yaml::{Node, Origin, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// Where `kustomization.yaml` files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    /// One at the root, which lists every object.
    #[default]
    Single,
    /// One in each namespace, and one at the root, which lists the namespaces.
    Namespace,
}

static LIST: Rule = Rule {
    id: "kustomization",
    text: "the list of the files that were written",
    cite: "kustomize, Kustomization: resources",
};

/// The files for objects at these paths, with their text.
pub(super) fn all(objects: &BTreeSet<&str>, layout: Layout) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut namespaces: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in objects {
        // Paths have the namespace first, since `path_of` made them.
        let (namespace, rest) = path.split_once('/').unwrap_or(("", path));
        namespaces.entry(namespace).or_default().push(rest);
    }
    match layout {
        Layout::Single => files.push((KUSTOMIZATION.to_owned(), text(objects.iter().copied()))),
        Layout::Namespace => {
            files.push((KUSTOMIZATION.to_owned(), text(namespaces.keys().copied())));
            // Resources of a list are relative to its own directory.
            files.extend(namespaces.iter().map(|(namespace, paths)| {
                (format!("{namespace}/{KUSTOMIZATION}"), text(paths.iter().copied()))
            }));
        }
    }
    files
}

fn text<'a>(resources: impl Iterator<Item = &'a str>) -> String {
    let list = serde_json::json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources.collect::<Vec<_>>(),
    });
    stream::text(&Node::from_json(&list, Origin::Derived(&LIST)), stream::Format::Yaml)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kustomization_resources_are_relative_to_their_directory() {
        let objects = ["a/x/service-x.yaml", "a/y/service-y.yaml", "b/x/service-x.yaml"].into();
        let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n";
        let list = |name: &str, resources: &[&str]| {
            (name.to_owned(), format!("{head}- {}\n", resources.join("\n- ")))
        };
        assert_eq!(
            all(&objects, Layout::Single),
            [list(
                "kustomization.yaml",
                &["a/x/service-x.yaml", "a/y/service-y.yaml", "b/x/service-x.yaml"]
            )]
        );
        assert_eq!(
            all(&objects, Layout::Namespace),
            [
                list("kustomization.yaml", &["a", "b"]),
                list("a/kustomization.yaml", &["x/service-x.yaml", "y/service-y.yaml"]),
                list("b/kustomization.yaml", &["x/service-x.yaml"]),
            ]
        );
    }
}
