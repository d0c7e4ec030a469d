//! Knative Service of a component
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go).

use super::View;
use crate::objects::build::{IntoNode, node, set};
use crate::objects::knative;
use crate::objects::metadata::{metadata, text, with, without};
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Map, Node, Rule};

const RULE: &Rule = &rules::KSERVE_KNATIVE;
/// The Knative Service of a component; `of_pods` are annotations that only its pods have.
pub(super) fn object(
    view: &View<'_>,
    component: &Component,
    of_pods: Option<&Map>,
) -> Option<Node> {
    let managed = knative::of_service(&component.annotations);
    let scaling = knative::scaling(
        &component.annotations,
        |key| component.spec.get(key),
        "1".into_node(RULE),
        RULE,
    );
    // The template loses the labels, the Knative Service itself keeps them.
    let labels = without(&component.labels, |key| {
        view.config.disallowed_labels.iter().any(|label| label == key)
    });
    node!(RULE; {
        apiVersion: "serving.knative.dev/v1",
        kind: "Service",
        metadata: (metadata(component.name.clone(), Some(&view.namespace), &component.labels, &managed)),
        spec: {
            template: { metadata: { labels: labels, annotations: (with(&scaling, of_pods.into_iter().flatten().cloned())) }, spec: (revision(component)) },
            traffic: (traffic(view, component)),
        },
    })
}

/// The pod with what a revision adds to it.
fn revision(component: &Component) -> Node {
    let mut pod = component.pod.clone();
    if let Some(map) = pod.as_map_mut() {
        // The definition of Knative has no such field, and the server drops what it does not know.
        map.remove("serviceAccount");
        let timeout =
            // The Go field is called TimeoutSeconds: manifests have either name.
            component.spec.get("timeout").or_else(|| component.spec.get("timeoutSeconds"));
        // Knative's RevisionSpec has the fields of a pod, and these beside them.
        set(map, "containerConcurrency", component.spec.get("containerConcurrency"), RULE);
        set(map, "timeoutSeconds", timeout, RULE);
        set(map, "responseStartTimeoutSeconds", timeout, RULE);
    }
    pod
}

/// All traffic goes to the latest revision, unless the component requests a share and the status
/// lists an earlier revision.
fn traffic(view: &View<'_>, component: &Component) -> Option<Node> {
    let tag = (text(&component.annotations, "serving.kserve.io/enable-tag-routing").as_deref()
        == Some("true"))
    .then_some("latest");
    let kind = component.kind.as_str();
    let status = view.service.object.node.at(&["status", "components", kind]);
    // Without an earlier revision nothing can take the rest of the traffic.
    let earlier = status
        .and_then(|status| status.get("latestRolledoutRevision"))
        .filter(|revision| revision.as_str().is_some_and(|name| !name.is_empty()));
    let share = component.spec.get("canaryTrafficPercent").and_then(Node::as_int);
    if let (Some(share), Some(earlier)) = (share, earlier) {
        let rest = (share < 100).then(|| node!(RULE; { tag: "prev", revisionName: earlier, latestRevision: false, percent: (100_i64.saturating_sub(share)) })).flatten();
        node!(RULE; [{ tag: tag, latestRevision: true, percent: share }, rest])
    } else {
        node!(RULE; [{ tag: tag, latestRevision: true, percent: 100 }])
    }
}
