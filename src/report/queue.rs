//! The decision of a Kueue queue for the pods of a component, as JSON and as text.

use crate::decision::{FlavorRejection, QueueDecision};
use serde_json::{Value, json};

/// `kueue` of a component (docs/json.md).
pub(super) fn json(decision: &QueueDecision) -> Value {
    let rejection = |rejection: &FlavorRejection| json!({ "flavor": rejection.flavor.as_str(), "code": rejection.code.as_str(), "detail": rejection.detail.as_str() });
    let mut out = json!({
        "queue": decision.queue.value.as_str(),
        "clusterQueue": decision.cluster_queue.as_ref().map(ecow::EcoString::as_str),
        "flavor": decision.flavor.as_ref().map(ecow::EcoString::as_str),
        "rejected": decision.rejected.iter().map(rejection).collect::<Vec<_>>(),
        "reason": decision.obstacle,
        "admitted": decision
            .admitted
            .iter()
            .map(|admitted| json!({ "flavor": admitted.flavor.as_str(), "replicas": admitted.replicas, "borrows": admitted.borrows }))
            .collect::<Vec<_>>(),
        "waiting": decision.waiting,
    });
    if let Some(flavor) = &decision.worker_flavor {
        out["workerFlavor"] = flavor.as_str().into();
    }
    out
}

/// `queue inference (gpu-queue): flavor gpu-h100`.
fn head(decision: &QueueDecision) -> String {
    let cluster =
        decision.cluster_queue.as_ref().map_or(String::new(), |cluster| format!(" ({cluster})"));
    // Without the queue's objects any answer about a flavor would be a guess.
    if let Some(object) = &decision.unread {
        return format!(
            "queue {}{cluster}: flavor unknown, {object} was not read",
            decision.queue.value
        );
    }
    let answer = match (&decision.flavor, &decision.obstacle) {
        (Some(flavor), _) => {
            let workers = decision
                .worker_flavor
                .as_ref()
                .map_or(String::new(), |worker| format!(", workers {worker}"));
            format!("flavor {flavor}{workers}{}", replicas(decision))
        }
        (None, Some(obstacle)) => format!("nothing is admitted: {obstacle}"),
        (None, None) if decision.rejected.is_empty() => {
            "admitted without a flavor, the pods request nothing that it counts".to_owned()
        }
        (None, None) => "no flavor fits".to_owned(),
    };
    format!("queue {}{cluster}: {answer}", decision.queue.value)
}

/// ` (1 x gpu-h100, 1 x gpu-a100 borrowed, 1 waiting for quota)`; empty if all replicas get the
/// same flavor.
fn replicas(decision: &QueueDecision) -> String {
    // One flavor for all replicas is in the line already.
    if decision.admitted.len() <= 1 && decision.waiting == 0 {
        return String::new();
    }
    let admitted = decision.admitted.iter().map(|admitted| {
        let borrowed = if admitted.borrows { " borrowed" } else { "" };
        format!("{} x {}{borrowed}", admitted.replicas, admitted.flavor)
    });
    let waiting = (decision.waiting > 0).then(|| format!("{} waiting for quota", decision.waiting));
    format!(" ({})", admitted.chain(waiting).collect::<Vec<_>>().join(", "))
}

/// The decision on one line: `queue inference (gpu-queue): flavor gpu-h100; not gpu-a100
/// (node-affinity)`.
pub(super) fn line(decision: &QueueDecision) -> String {
    let rejected: Vec<String> = decision
        .rejected
        .iter()
        .map(|rejection| format!("{} ({})", rejection.flavor, rejection.code.as_str()))
        .collect();
    let rejected =
        if rejected.is_empty() { String::new() } else { format!("; not {}", rejected.join(", ")) };
    format!("{}{rejected}", head(decision))
}

/// The decision with both values of every rejection, one line each.
pub(super) fn lines(decision: &QueueDecision) -> Vec<String> {
    let rejected = decision.rejected.iter().map(|rejection| {
        format!("not {}: {}, {}", rejection.flavor, rejection.code.as_str(), rejection.detail)
    });
    std::iter::once(head(decision)).chain(rejected).collect()
}
