//! Pods on nodes whose taint `NoExecute` they tolerate for some time only: the scheduler binds them, and
//! the controller of evictions by taints deletes them after that time, each time they come again.
//!
//! In: a placement, or the pods of a rollout. Out: the taint with its nodes, and why the pods are not
//! judged.

use super::NotJudged;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::{PodId, PodState, Scheduler};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// A taint as text, and for how many seconds it is tolerated.
type Limit = (EcoString, i64);

/// The taint for which a pod is evicted from its node, the seconds until then, and the node. A pod that
/// `ran` was there before taints of a node that fails, which go when it is well again.
fn limit(scheduler: &Scheduler, pod: PodId, ran: bool) -> Option<(Limit, EcoString)> {
    let PodState::Bound(node) = scheduler.state(pod) else { return None };
    let machine = scheduler.node(node);
    let (taint, seconds) = scheduler.template_of(pod).lasts_on(machine)?;
    let passes = ran && taint.key.starts_with("node.kubernetes.io/");
    (!passes).then(|| ((eco_format!("{taint}"), seconds), machine.name.clone()))
}

fn why(seconds: i64, nodes: &BTreeSet<EcoString>) -> EcoString {
    let first = nodes.first().map_or("", EcoString::as_str);
    let nodes = match nodes.len() {
        0 | 1 => eco_format!("node {first}"),
        more => eco_format!("node {first} and {} more", more - 1),
    };
    eco_format!(
        "the pods tolerate this taint of {nodes} for {seconds} seconds: they are evicted after that, and \
         again each time they are bound there"
    )
}

fn sentence((taint, seconds): &Limit, node: EcoString) -> EcoString {
    eco_format!("taint {taint}: {}", why(*seconds, &BTreeSet::from([node])))
}

/// The taint for which a new pod does not stay on its node, and why it is not judged.
pub(in crate::pipeline) fn of_pod(
    scheduler: &Scheduler,
    pod: PodId,
) -> Option<(EcoString, EcoString)> {
    let ((taint, seconds), node) = limit(scheduler, pod, false)?;
    Some((eco_format!("taint {taint}"), why(seconds, &BTreeSet::from([node]))))
}

/// Why it is not judged whether pods of a rollout stay where they are.
pub(in crate::pipeline) fn of_pods(
    scheduler: &Scheduler,
    pods: impl IntoIterator<Item = PodId>,
) -> Option<EcoString> {
    let mut all = pods.into_iter().filter_map(|pod| limit(scheduler, pod, false));
    all.next().map(|(limit, node)| sentence(&limit, node))
}

/// The taints for which placed pods are evicted, and the workloads of these pods, each with the reason.
pub(super) fn found(placed: &Placed) -> (Vec<NotJudged>, BTreeMap<usize, EcoString>) {
    let mut workloads = BTreeMap::new();
    let mut by_limit: BTreeMap<Limit, (BTreeSet<EcoString>, usize)> = BTreeMap::new();
    for ([workload, ..], slot) in placed.all() {
        let found = slot.pod.and_then(|pod| limit(&placed.scheduler, pod, slot.kept));
        let Some((limit, node)) = found else { continue };
        workloads.entry(workload).or_insert_with(|| sentence(&limit, node.clone()));
        let (nodes, pods) = by_limit.entry(limit).or_default();
        nodes.insert(node);
        *pods += 1;
    }
    let line =
        |((taint, seconds), (nodes, pods)): (Limit, (BTreeSet<EcoString>, usize))| NotJudged {
            what: eco_format!("taint {taint}"),
            pods: Some(pods),
            message: why(seconds, &nodes),
        };
    (by_limit.into_iter().map(line).collect(), workloads)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const TAINT: &str = "taints: [{key: k, value: v, effect: NoExecute}]";

    fn pods(tolerations: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{tolerations: [{tolerations}], containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    #[test]
    fn pods_that_tolerate_a_taint_for_some_time_are_not_judged() {
        let brief = "{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 60}";
        let lasting = "{key: k, operator: Exists, effect: NoExecute}";
        let not_ready = "taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}]";
        let soft = "taints: [{key: k, value: v, effect: NoSchedule}]";
        for (taint, tolerations, seconds) in [
            (TAINT, brief.to_owned(), Some(60)),
            (TAINT, lasting.to_owned(), None),
            // The first one that matches decides.
            (TAINT, format!("{brief}, {lasting}"), Some(60)),
            (TAINT, format!("{lasting}, {brief}"), None),
            // Every pod tolerates a node that fails for a while.
            (not_ready, String::new(), Some(300)),
            (not_ready, "{operator: Exists}".to_owned(), None),
            (soft, "{key: k, operator: Exists}".to_owned(), None),
        ] {
            let text = gpu_node("n1", 8, taint) + &pods(&tolerations);
            let file = [("in.yaml", text.as_str())];
            let ran = ome_on("plan -o json -f {in.yaml}", &file);
            let verdict = if seconds.is_some() { "unknown" } else { "fits" };
            assert_eq!(ran.at("/placement/verdict"), verdict, "{tolerations}: {}", ran.out);
            let message = ran.at("/placement/notJudged/0/message").to_string();
            let expected = seconds.map(|seconds: i64| format!("of node n1 for {seconds} seconds"));
            assert!(expected.is_none_or(|part| message.contains(&part)), "{message}");
            let ran = ome_on("rollout deploy/a -o json -f {in.yaml}", &file);
            let end = if seconds.is_some() { "not-judged" } else { "complete" };
            assert_eq!(ran.at("/components/0/rollout/end"), end, "{tolerations}: {}", ran.out);
        }
    }
}
