//! ModelBoosters of releases before v1.0: their backend has a range of replicas, and its controller
//! writes the minimum into the ModelServing (v0.4.0, convert/model_serving.go, BACKEND_REPLICAS).

use crate::diag::{Code, Diagnostic, Severity};
use crate::operators::kthena::rules::{Admission, KthenaRelease};
use crate::yaml::{Entry, Node};

/// Reads the fields of an older release as those of v1.0, unless a release that has not got them is
/// followed.
pub fn prepare(document: &mut Node, policy: &KthenaRelease, diagnostics: &mut Vec<Diagnostic>) {
    // The server of a release drops fields that it does not have.
    if policy.admission != Admission::Documents {
        return;
    }
    let spec = document.as_map_mut().and_then(|map| map.get_mut("spec")).and_then(Node::as_map_mut);
    let Some(spec) = spec else { return };
    let backend = spec.get_mut("backend").and_then(Node::as_map_mut);
    // A backend of v1.0 that still has a minimum is not changed.
    let Some(backend) = backend.filter(|by_key| !by_key.contains_key("replicas")) else { return };
    let Some(least) = backend.remove("minReplicas") else { return };
    backend.remove("maxReplicas");
    diagnostics.push(
        Diagnostic::new(
            Code::DeprecatedField,
            "`minReplicas` and `maxReplicas` of a backend are of Kthena before v1.0: planned with minReplicas",
        )
        .severity(Severity::Warning)
        .at(least.key_origin.span())
        .path("spec.backend.minReplicas")
        .help("write `replicas` for v1.0, and an AutoscalingPolicy for what changes it"),
    );
    backend.push(Entry { key: "replicas".into(), ..least });
    // Only the older controller scales by it, between the two numbers.
    spec.remove("autoscalingPolicy");
}
