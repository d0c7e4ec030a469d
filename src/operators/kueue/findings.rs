//! What is found about the queue of a component's pods.

use crate::api::{ComponentKind, Service};
use crate::catalog::Catalog;
use crate::decision::QueueDecision;
use crate::diag::{Code, Diagnostic};

/// The findings of one decision.
pub(crate) fn findings(
    decision: &QueueDecision,
    component: ComponentKind,
    service: &Service,
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    let (queue, component) = (&decision.queue.value, component.as_str());
    let about = |code: Code, message: String| {
        let cluster = decision
            .cluster_queue
            .as_ref()
            .and_then(|name| catalog.cluster_queue(name))
            .map(|queue| queue.object.name_span());
        Diagnostic::new(code, message)
            // The label names the queue; without a span, as with a default queue, the service is
            // the place.
            .at(decision.queue.span().or_else(|| Some(service.object.name_span())))
            .label(cluster, "the queue")
            .object(service.object.id.to_string())
    };
    if let Some(what) = &decision.unread {
        let message = format!(
            "the pods of {component} name the queue `{queue}`, and no {what} was read: their flavor is not known"
        );
        return vec![
            about(Code::KueueNotChecked, message)
                .help("read ResourceFlavors, ClusterQueues and LocalQueues with `-f`"),
        ];
    }
    let mut found = Vec::new();
    if let Some(obstacle) = &decision.obstacle {
        let message = format!("queue `{queue}` admits no pods of {component}: {obstacle}");
        found.push(
            about(Code::NoKueueFlavor, message).help(
                "correct the queue, name another one, or add what is missing with `-f` if the cluster has it",
            ),
        );
    } else if decision.flavor.is_none() && !decision.rejected.is_empty() {
        let reasons: Vec<String> = decision
            .rejected
            .iter()
            .map(|rejection| {
                format!("{}: {} ({})", rejection.flavor, rejection.code.as_str(), rejection.detail)
            })
            .collect();
        let message =
            format!("no flavor of queue `{queue}` fits {component}: {}", reasons.join("; "));
        found.push(
            about(Code::NoKueueFlavor, message)
                .help("add a flavor that fits to the ClusterQueue, or name another queue"),
        );
    } else if let (Some(flavor), true) = (&decision.flavor, decision.waiting > 0) {
        // Replicas are numbers of the input up to the maximum of i64: their sum may overflow.
        let all = decision.waiting.saturating_add(
            decision.admitted.iter().map(|admitted| admitted.replicas).fold(0, i64::saturating_add),
        );
        let what = if decision.of_pods { "pods" } else { "replicas" };
        let message = format!(
            "{} of {all} {what} of {component} wait for quota: queue `{queue}` has too little of `{flavor}` and what comes after it",
            decision.waiting
        );
        found.push(
            about(Code::QuotaTooSmall, message).help("raise the quota, or start fewer replicas"),
        );
    }
    if let (Some(flavor), true) = (&decision.flavor, decision.loose) {
        let message = format!(
            "{component} gets flavor `{flavor}`, which has none of the labels that its pods select nodes by"
        );
        // The place is that of the flavor's object, where the label is missing.
        let flavor = catalog.flavor(flavor).map(|flavor| flavor.object.name_span());
        found.push(
            about(Code::LooseFlavor, message)
                .label(flavor, "the flavor")
                .help("write the label that the pods select by into the flavor's nodeLabels"),
        );
    }
    found
}
