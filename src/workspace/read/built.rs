//! Findings about objects that a kustomization, or another program, completes.

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Kustomized;
use std::path::Path;

fn is_namespace_object(finding: &Diagnostic) -> bool {
    finding.objects.iter().any(|object| object.starts_with("Namespace/"))
}

/// Removes findings about selectors that labels of a kustomization fill in, and names the build
/// beside values that it may fill in (Kustomize docs, labels).
pub(super) fn complete(found: &mut Vec<Diagnostic>, kustomized: &Kustomized) {
    let path = |finding: &Diagnostic| finding.path.clone().unwrap_or_default();
    found.retain(|finding| {
        let path = path(finding);
        // The namespace transformer names a Namespace, too (Kustomize, api/filters/namespace).
        let is_namespace = finding.code == Code::InvalidName
            && (path == "metadata.namespace"
                || (path == "metadata.name" && is_namespace_object(finding)));
        let is_filled =
            finding.code == Code::RequiredField && is_filled_by_labels(finding, kustomized);
        !(is_filled || (kustomized.names_namespace && is_namespace))
    });
    let may_be_filled = |finding: &&mut Diagnostic| {
        // Notes and warnings stay as they are: only a mistake is softened.
        finding.severity == Severity::Error
            && matches!(
                finding.code,
                Code::RequiredField
                    | Code::InvalidQuantity
                    | Code::InvalidName
                    | Code::InvalidValue
                    | Code::MissingImage
                    | Code::MissingName
            )
    };
    for finding in found.iter_mut().filter(may_be_filled) {
        leave_to_overlay(finding, kustomized);
    }
}

/// Whether labels of a kustomization fill in what a finding is about.
pub(crate) fn is_filled_by_labels(finding: &Diagnostic, kustomized: &Kustomized) -> bool {
    kustomized.selects
        && matches!(
            finding.path.as_deref(),
            Some("spec.selector" | "spec.template.metadata.labels")
        )
}

/// Names the build beside a value that an overlay may set. What a patch may set is no mistake of the
/// file that it is missing in.
pub(crate) fn leave_to_overlay(finding: &mut Diagnostic, kustomized: &Kustomized) {
    if kustomized.patches {
        finding.severity = finding.severity.min(Severity::Warning);
    }
    finding.help = Some(format!("an overlay may set it: `ome plan -k {}`", kustomized.tree));
}

/// The namespace transformer gives a namespace to every object of a kind that Kustomize does not know
/// as one of the cluster, which servers ignore (Kustomize, api/filters/namespace).
pub(super) fn allow_namespaces(found: &mut Vec<Diagnostic>) {
    found.retain(|finding| finding.code != Code::NamespaceOnClusterObject);
}

/// Whether the name of a file or of its directory says that its documents are parts of objects:
/// patches, and templates of pods that another program completes.
pub(crate) fn is_part(file: &str) -> bool {
    const WORDS: [&str; 4] = ["patch", "patches", "template", "templates"];
    let path = Path::new(file);
    let directory = path.parent().and_then(Path::file_name);
    let names = [path.file_stem(), directory].into_iter().flatten();
    names.filter_map(|name| name.to_str()).any(|name| {
        let mut parts = name.split(['-', '_', '.']);
        // Whole words: `dispatch.yaml` is no patch.
        parts.any(|part| WORDS.iter().any(|name| part.eq_ignore_ascii_case(name)))
    })
}

/// Whether the directory of a file says that Kustomize builds it; without a kustomization in it another
/// program writes one, and patches lie beside objects.
pub(super) fn is_of_builder(file: &str) -> bool {
    let directory = Path::new(file).parent().and_then(Path::file_name);
    directory.is_some_and(|name| name == "kustomize")
}

/// What a part of an object lacks is no mistake, and neither is its name: it is not applied as it is.
pub(super) fn allow_parts(found: &mut [Diagnostic]) {
    let lacks = |finding: &&mut Diagnostic| {
        // The name of a patch with a target is any.
        let is_name = finding.path.as_deref() == Some("metadata.name")
            && matches!(finding.code, Code::InvalidType | Code::InvalidName);
        let is_absent = matches!(finding.code, Code::RequiredField | Code::MissingName);
        finding.severity == Severity::Error && (is_absent || is_name)
    };
    for finding in found.iter_mut().filter(lacks) {
        finding.severity = Severity::Info;
        let help =
            "the file is named as a part of an object: name it with `-f` if it is a whole one";
        finding.help = Some(help.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_by_names() {
        for (path, expected) in [
            ("a/patch-ui.yaml", true),
            ("a/patches/ui.yaml", true),
            ("operator-patches/x.yaml", true),
            ("a/driver-pod-template.yaml", true),
            ("patches/a/ui.yaml", false),
            ("a/dispatcher.yaml", false),
            ("a/patched/x.yaml", false),
        ] {
            assert_eq!(is_part(path), expected, "{path}");
        }
    }
}
