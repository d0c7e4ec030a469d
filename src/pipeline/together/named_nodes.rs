//! Pods of manifests that name their node: no scheduler looks at them, and the kubelet of the node refuses
//! those that it cannot hold, such as `OutOfcpu` (pkg/kubelet/lifecycle/predicate.go).
//!
//! In: a placement. Out: a line for each reason, with the pods.

use super::NotJudged;
use crate::api::was_in_cluster;
use crate::cluster::fleet::{Fleet, Placed};
use crate::pipeline::running::RunningPods;
use ecow::EcoString;
use std::collections::BTreeMap;

/// Pods of manifests whose `nodeName` is a node that cannot hold them. What has a uid or a status was
/// taken by its kubelet.
pub(super) fn refused(placed: &Placed, running: &RunningPods<'_>, fleet: &Fleet) -> Vec<NotJudged> {
    let mut found: BTreeMap<EcoString, usize> = BTreeMap::new();
    for (pod, at) in placed.others() {
        let object = running.all[fleet.others[at].number].object;
        if !was_in_cluster(&object.node)
            && let Some(why) = placed.scheduler.refused_where_bound(pod)
        {
            *found.entry(why).or_default() += 1;
        }
    }
    let one = |(message, pods)| NotJudged {
        what: "nodeName".into(),
        pods: Some(pods),
        message,
        ..NotJudged::default()
    };
    found.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, plan};

    #[test]
    fn a_pod_that_names_its_node_is_refused_where_the_node_cannot_hold_it() {
        let pod = |name: &str, gpus: i64, meta: &str, more: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml{meta}}}\nspec: {{{more}nodeName: n1, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: '{gpus}'}}}}}}]}}\n"
            )
        };
        let of = |pods: &str| {
            let ran = plan(&(gpu_node("n1", 8, "") + pods));
            let found = ran.at("/placement/notJudged/0/message").as_str().unwrap_or("").to_owned();
            (ran.at("/placement/verdict").as_str().unwrap_or("").to_owned(), found)
        };
        let beyond = "the pods name n1, whose kubelet refuses those beyond what it has: 9 of 8 nvidia.com/gpu";
        let live = pod("r", 8, ", uid: u", "");
        assert_eq!(of(&(live.clone() + &pod("p", 1, "", ""))), ("unknown".into(), beyond.into()));
        assert_eq!(of(&pod("p", 8, "", "")), ("fits".into(), String::new()));
        // What a kubelet has taken is there, whatever the sums say.
        assert_eq!(of(&(live + &pod("p", 1, ", uid: v", ""))), ("fits".into(), String::new()));
        let (verdict, why) = of(&pod("p", 1, "", "nodeSelector: {a: b}, "));
        assert_eq!(verdict, "unknown");
        assert!(why.contains("`nodeSelector`"), "{why}");
    }
}
