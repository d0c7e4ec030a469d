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
        // Volcano, which has gangs, schedules the pods of a ModelServing.
        claim.component.is_some() && workload.replicas.iter().any(|own| own.together > 1)
    };
    let pods: usize =
        fleet.workloads.iter().flat_map(|own| &own.replicas).map(|own| own.pods.len()).sum();
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
    for (at, (workload, claim)) in all.filter(|(_, own)| is_group(*own)) {
        let groups = workload.replicas.len();
        for (replica, own) in workload.replicas.iter().enumerate() {
            let slots = [&placed.slots[at][replica], &placed.slots[at][groups + replica]];
            let bound = slots
                .into_iter()
                .flatten()
                .filter_map(|slot| slot.pod)
                .filter(|pod| matches!(placed.scheduler.state(*pod), PodState::Bound(_)));
            let bound = bound.count();
            if bound > 0 && bound < own.pods.len() {
                found.push(HalfGroup {
                    service: claim.service.clone(),
                    component: claim.component.unwrap_or_default().into(),
                    replica,
                    placed: bound,
                    pods: own.pods.len(),
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
        workload.replicas.iter().map(move |own| {
            let (leader, workers) = own.pods.split_at(own.pods.len().min(1));
            let pods = if leaders { leader } else { workers };
            Replica { pods: pods.to_vec(), together: 0, held: own.held }
        })
    };
    let running = workload.running.iter().map(|own| {
        // Templates come in pairs: a leader's, then its workers'.
        let replica =
            own.replica.map(|group| if own.template % 2 == 0 { group } else { groups + group });
        Running { replica, ..own.clone() }
    });
    Workload {
        replicas: part(true).chain(part(false)).collect(),
        running: running.collect(),
        ..workload.clone()
    }
}
