//! Groups that kube-scheduler would start in part: a plan places the groups of a LeaderWorkerSet as
//! a whole, but kube-scheduler has no gangs and places pod by pod, all leaders first
//! (docs/together.md).

use super::claims::Claim;
use crate::cluster::fleet::{Fleet, Manner, Replica, Running, Workload};
use crate::cluster::schedule::PodState;
use ecow::EcoString;

/// A group of which only some pods would get a node; they would hold their devices unused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HalfGroup {
    /// `namespace/name`.
    pub service: EcoString,
    /// The component.
    pub component: EcoString,
    /// Its index.
    pub replica: usize,
    /// Pods with a node.
    pub placed: usize,
    /// Pods of the group.
    pub pods: usize,
}

/// Above this number of pods, partial groups are not computed.
const MOST_ASKED: usize = 5000;

/// The groups that would start in part. `waits` is true if pods are pending when groups are placed
/// as a whole.
pub(super) fn groups(fleet: &Fleet, claims: &[Claim], waits: bool) -> Vec<HalfGroup> {
    let is_group = |(workload, claim): (&Workload, &Claim)| {
        !claim.gang && workload.replicas.iter().any(|replica| replica.together > 1)
    };
    let pods: usize = fleet
        .workloads
        .iter()
        .flat_map(|workload| &workload.replicas)
        .map(|replica| replica.pods.len())
        .sum();
    // If all groups start as a whole, each has nodes for all pods, and none is left in part.
    if !waits || pods > MOST_ASKED || !fleet.workloads.iter().zip(claims).any(is_group) {
        return Vec::new();
    }
    let mut alone = fleet.clone();
    for (workload, claim) in alone.workloads.iter_mut().zip(claims) {
        if is_group((workload, claim)) {
            *workload = apart(workload);
        }
    }
    let placed = alone.place(Manner::default());
    let mut found = Vec::new();
    let all = fleet.workloads.iter().zip(claims).enumerate();
    for (at, (workload, claim)) in all.filter(|(_, entry)| is_group(*entry)) {
        let groups = workload.replicas.len();
        for (replica, members) in workload.replicas.iter().enumerate() {
            // `apart` has all leaders first, then the workers of each group: a group is in two
            // places.
            let slots = [&placed.slots[at][replica], &placed.slots[at][groups + replica]];
            let bound = slots
                .into_iter()
                .flatten()
                .filter_map(|slot| slot.pod)
                .filter(|pod| matches!(placed.scheduler.state(*pod), PodState::Bound(_)));
            let bound = bound.count();
            if bound > 0 && bound < members.pods.len() {
                found.push(HalfGroup {
                    service: claim.service.clone(),
                    component: claim.component.unwrap_or_default().into(),
                    replica,
                    placed: bound,
                    pods: members.pods.len(),
                });
            }
        }
    }
    found
}

/// A workload of groups as kube-scheduler handles it: all leaders, then the workers of each group.
fn apart(workload: &Workload) -> Workload {
    let groups = workload.replicas.len();
    let part = |leaders: bool| {
        workload.replicas.iter().map(move |replica| {
            let (leader, workers) = replica.pods.split_at(replica.pods.len().min(1));
            let pods = if leaders { leader } else { workers };
            Replica { held: replica.held, ..Replica::alone(pods.to_vec()) }
        })
    };
    let running = workload.running.iter().map(|running| {
        // Templates come in pairs: a leader's, then its workers'.
        let replica = running
            .replica
            .map(|group| if running.template % 2 == 0 { group } else { groups + group });
        Running { replica, ..running.clone() }
    });
    Workload {
        replicas: part(true).chain(part(false)).collect(),
        running: running.collect(),
        ..workload.clone()
    }
}
