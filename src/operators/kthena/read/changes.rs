//! Fields that an update may not change: the transition rules of the CRD
//! (pkg/apis/workload/v1alpha1/model_serving_types.go).

use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;

/// Adds the objections of the API server to replacing one ModelServing by another. Both trees are
/// whole objects.
pub fn check_change(old: &Node, new: &Node, diagnostics: &mut Vec<Diagnostic>) {
    let gang = |node: &Node| node.at(&["spec", "template", "gangPolicy"]).cloned();
    // A policy may be added later.
    let Some(before) = gang(old) else { return };
    let Some(after) = gang(new) else {
        let at = new.at(&["spec", "template"]).unwrap_or(new);
        diagnostics.push(
            Diagnostic::new(
                Code::InvalidInput,
                "the change is refused: `spec.template`: gangPolicy is required once set",
            )
            .at(at.origin.span())
            .path("spec.template.gangPolicy")
            .help("keep `gangPolicy`, or create the ModelServing under another name"),
        );
        return;
    };
    if let (Some(before), Some(after)) =
        (before.get("minRoleReplicas"), after.get("minRoleReplicas"))
        && before != after
    {
        diagnostics.push(
            Diagnostic::new(Code::InvalidInput, "the change is refused: `spec.template.gangPolicy.minRoleReplicas`: minRoleReplicas is immutable")
                .at(after.origin.span())
                .path("spec.template.gangPolicy.minRoleReplicas")
                .help("keep the map as it is, or create the ModelServing under another name"),
        );
    }
}
