//! Findings about objects that a kustomization completes.

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Kustomized;

fn is_namespace_object(finding: &Diagnostic) -> bool {
    finding.objects.iter().any(|object| object.starts_with("Namespace/"))
}

/// Removes findings about selectors that labels of a kustomization fill in, and names the build
/// beside values that it may fill in (Kustomize docs, labels).
pub(super) fn complete(found: &mut Vec<Diagnostic>, own: &Kustomized) {
    let path = |finding: &Diagnostic| finding.path.clone().unwrap_or_default();
    found.retain(|finding| {
        let path = path(finding);
        let is_filled = path == "spec.selector" || path == "spec.template.metadata.labels";
        // The namespace transformer names a Namespace, too (Kustomize, api/filters/namespace).
        let is_namespace = finding.code == Code::InvalidName
            && (path == "metadata.namespace"
                || (path == "metadata.name" && is_namespace_object(finding)));
        let is_filled = own.selects && finding.code == Code::RequiredField && is_filled;
        !(is_filled || (own.names_namespace && is_namespace))
    });
    let may_be_filled = |finding: &&mut Diagnostic| {
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
        // What a patch may set is no mistake of the file that it is missing in.
        if own.patches {
            finding.severity = Severity::Warning;
        }
        finding.help = Some(format!("an overlay may set it: `ome plan -k {}`", own.tree));
    }
}
