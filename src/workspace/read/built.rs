//! Findings about objects that a kustomization completes.

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Kustomized;

/// Removes findings about selectors that labels of a kustomization fill in, and names the build
/// beside values that it may fill in (Kustomize docs, labels).
pub(super) fn complete(found: &mut Vec<Diagnostic>, own: &Kustomized) {
    let path = |finding: &Diagnostic| finding.path.clone().unwrap_or_default();
    found.retain(|finding| {
        let path = path(finding);
        let is_filled = path == "spec.selector" || path == "spec.template.metadata.labels";
        !(own.selects && finding.code == Code::RequiredField && is_filled)
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
        finding.help = Some(format!("an overlay may set it: `ome plan -k {}`", own.tree));
    }
}
