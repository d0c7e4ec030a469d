//! Exclusive groups of LeaderWorkerSets: workers get the topology domain of their leader as a node selector
//! once it has a node (pkg/controllers/pod_controller.go, `setNodeSelectorForWorkerPods`). A placement puts all
//! pods of a group at once, so that workers in another domain say that they may have no room in it.

use super::NotJudged;
use super::claims::Claim;
use crate::cluster::fleet::{Fleet, Placed};
use crate::cluster::schedule::{PodId, PodTemplate, Scheduler};
use crate::quantity::Selector;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// The label by which the leader of an exclusive group keeps others out of its domain.
const GROUP_KEY: &str = "leaderworkerset.sigs.k8s.io/group-key";

/// The label of nodes with the domain that the pod of a leader reserves for its group.
fn domain(leader: &PodTemplate) -> Option<&EcoString> {
    let is_of_groups = |selector: &Selector| {
        selector.requirements().iter().any(|requirement| requirement.key() == GROUP_KEY)
    };
    let mut terms = leader.affinity.iter();
    let term = terms.find(|term| term.selector.as_ref().is_some_and(is_of_groups))?;
    Some(&term.topology_key)
}

fn why(key: &str) -> EcoString {
    eco_format!(
        "exclusive topology: these workers get the `{key}` of their leader, which may have no room for them"
    )
}

/// How many of these workers are in another domain than their leader.
fn outside(
    scheduler: &Scheduler,
    key: &str,
    leader: PodId,
    workers: impl Iterator<Item = PodId>,
) -> usize {
    let value = |pod: PodId| scheduler.node(scheduler.state(pod).node()?).label(key);
    let Some(of_leader) = value(leader) else { return 0 };
    workers.filter_map(value).filter(|of_worker| *of_worker != of_leader).count()
}

/// Why it is not judged whether the group of a rollout has room, the leader first.
pub(in crate::pipeline) fn of_group(scheduler: &Scheduler, group: &[PodId]) -> Option<EcoString> {
    let (leader, workers) = group.split_first()?;
    let key = domain(scheduler.template_of(*leader))?;
    (outside(scheduler, key, *leader, workers.iter().copied()) > 0).then(|| why(key))
}

/// Groups with workers in another domain than their leader.
pub(super) fn found(placed: &Placed, claims: &[Claim], fleet: &Fleet) -> Vec<NotJudged> {
    let mut sums: BTreeMap<(EcoString, &EcoString), usize> = BTreeMap::new();
    let all = claims.iter().zip(&fleet.workloads).zip(&placed.slots);
    for ((claim, workload), slots) in all {
        for (replica, slots) in workload.replicas.iter().zip(slots.iter()) {
            let (Some(first), true) = (replica.pods.first(), slots.len() > 1) else { continue };
            let Some(key) = domain(&workload.templates[*first]) else { continue };
            let Some(leader) = slots.first().and_then(|slot| slot.pod) else { continue };
            let workers = slots.iter().skip(1).filter_map(|slot| slot.pod);
            let outside = outside(&placed.scheduler, key, leader, workers);
            if outside > 0 {
                *sums.entry((claim.service.clone(), key)).or_default() += outside;
            }
        }
    }
    let line = |((what, key), pods): ((EcoString, &EcoString), usize)| NotJudged {
        of: BTreeSet::from([what.clone()]),
        what,
        pods: Some(pods),
        message: why(key),
    };
    sums.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on, plan};

    #[test]
    fn workers_in_another_domain_than_their_leader_are_not_judged() {
        let set = |meta: &str| {
            format!(
                "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {{name: l, namespace: ml{meta}}}\nspec: {{replicas: 1, leaderWorkerTemplate: {{size: 2, workerTemplate: {{spec: {{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 3}}}}}}]}}}}}}}}\n"
            )
        };
        let exclusive = ", annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}";
        for (gpus, meta, verdict) in [
            (4, exclusive, "unknown"),
            (4, "", "fits"),
            // One node has room for the group.
            (6, exclusive, "fits"),
        ] {
            let nodes = if gpus == 6 {
                gpu_node("n1", 6, "")
            } else {
                gpu_node("n1", gpus, "") + &gpu_node("n2", gpus, "")
            };
            let input = nodes + &set(meta);
            let ran = plan(&input);
            assert_eq!(ran.at("/placement/verdict"), verdict, "{gpus} {meta}: {}", ran.out);
            assert_eq!(ran.code, 0, "{}", ran.out);
            let ran =
                ome_on("rollout leaderworkerset/l -o json -f {in.yaml}", &[("in.yaml", &input)]);
            let end = if verdict == "fits" { "complete" } else { "not-judged" };
            assert_eq!(ran.at("/components/0/rollout/end"), end, "{gpus} {meta}: {}", ran.out);
        }
    }
}
