//! Draining nodes, as `kubectl drain --ignore-daemonsets --force --delete-emptydir-data` does: node
//! after node is cordoned, its pods are evicted through PodDisruptionBudgets, and their controllers
//! create them again (pkg/registry/core/pod/storage/eviction.go, pkg/controller/disruption).
//!
//! In: a cluster with its workloads, budgets, and nodes in order. Out: each step with the pods that
//! are evicted and those that may not be, and what becomes of each node. A real drain is not
//! simulated in what takes time: grace periods, retries every five seconds, and pods that do not
//! become ready.

use super::pods::PodPhase;
use super::world::{WorkloadId, World};
use crate::cluster::schedule::{Budget, Limit, NodeId, PodId, TieBreak};
use crate::quantity::{IntOrPercent, Rounding};
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A PodDisruptionBudget of a drain.
#[derive(Clone, Debug)]
pub struct DrainBudget {
    /// Name.
    pub name: EcoString,
    /// What it guards, and its limit.
    pub budget: Budget,
    /// `unhealthyPodEvictionPolicy: AlwaysAllow`.
    pub always_allow: bool,
}

/// The status of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetStatus {
    /// Pods that are ready.
    pub healthy: i64,
    /// Pods that have to be ready.
    pub desired: i64,
    /// Pods that may be evicted now.
    pub allowed: i64,
    /// Pods that are counted.
    pub expected: i64,
}

/// A step: what happens on a node within a tick.
#[derive(Clone, Debug)]
pub struct DrainStep {
    /// The tick.
    pub tick: u64,
    /// The node.
    pub node: NodeId,
    /// Pods that are evicted, with their workloads.
    pub evicted: Vec<(PodId, Option<WorkloadId>)>,
    /// Pods that may not be evicted, with the answer of the API server.
    pub blocked: Vec<(PodId, Option<WorkloadId>, EcoString)>,
}

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEnd {
    /// No pod is left that has to go.
    Drained,
    /// A pod may not be evicted, and nothing changes any more.
    Blocked,
    /// An earlier node is blocked.
    NotReached,
}

/// Most ticks of one drain.
const MOST_TICKS: u64 = 10_000;

const TOO_MANY: &str = "500 This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
const REFUSED: &str = "429 Cannot evict pod as it would violate the pod's disruption budget.";

impl World {
    /// The workload of a pod.
    pub fn owner(&self, pod: PodId) -> Option<WorkloadId> {
        // The index has pods of kept workloads only; those of simulated controllers are searched.
        if let Some((workload, _)) = self.member(pod) {
            return Some(workload);
        }
        self.workload_ids().find(|workload| self.pods_of(*workload).contains(&pod))
    }

    /// The status of a budget.
    pub fn budget(&self, budget: &DrainBudget) -> BudgetStatus {
        let guarded: Vec<PodId> = self.guarded(budget).collect();
        let healthy = guarded.iter().filter(|pod| self.phase(**pod) == PodPhase::Ready).count();
        let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
        // The sizes of the controllers of the pods; pods without one count nothing.
        let controllers: BTreeSet<WorkloadId> =
            guarded.iter().filter_map(|pod| self.owner(*pod)).collect();
        let scale: i64 = controllers.iter().filter_map(|workload| self.scale(*workload)).sum();
        let (expected, desired) = match budget.budget.limit {
            Limit::MinAvailable(amount @ IntOrPercent::Percent(_)) => {
                (scale, amount.scaled(scale, Rounding::Up))
            }
            Limit::MinAvailable(amount) => {
                let all = i64::try_from(guarded.len()).unwrap_or(i64::MAX);
                (all, amount.scaled(all, Rounding::Up))
            }
            Limit::MaxUnavailable(amount) => {
                (scale, (scale - amount.scaled(scale, Rounding::Up)).max(0))
            }
        };
        // A budget without pods allows nothing, as upstream.
        let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
        BudgetStatus { healthy, desired, allowed, expected }
    }

    fn guarded<'w>(&'w self, budget: &'w DrainBudget) -> impl Iterator<Item = PodId> + 'w {
        let scheduler = self.scheduler();
        scheduler.pods().filter(move |pod| {
            let template = scheduler.template_of(*pod);
            let exists = !matches!(self.phase(*pod), PodPhase::Gone | PodPhase::Terminating);
            exists && budget.budget.guards(template)
        })
    }

    /// Asks to evict a pod.
    ///
    /// # Errors
    /// The answer of the API server.
    pub fn evict(&mut self, pod: PodId, budgets: &[DrainBudget]) -> Result<(), EcoString> {
        let phase = self.phase(pod);
        // Pods that are pending or already terminate are no disruption.
        let is_guarded = self.has_started(pod) && phase != PodPhase::Terminating;
        if is_guarded {
            let template = Arc::clone(self.scheduler().template_of(pod));
            let budgets: Vec<&DrainBudget> =
                budgets.iter().filter(|budget| budget.budget.guards(&template)).collect();
            match budgets.as_slice() {
                [] => {}
                [budget] => self.allows(phase, budget)?,
                _ => return Err(TOO_MANY.into()),
            }
        }
        self.end(pod);
        Ok(())
    }

    fn allows(&self, phase: PodPhase, budget: &DrainBudget) -> Result<(), EcoString> {
        let status = self.budget(budget);
        let enough = status.healthy >= status.desired && status.desired > 0;
        // A pod that is not ready does not count as healthy, so that its eviction takes nothing
        // away.
        if phase != PodPhase::Ready && (budget.always_allow || enough) {
            return Ok(());
        }
        if status.allowed > 0 {
            return Ok(());
        }
        let name = &budget.name;
        let cause = if status.healthy <= status.desired {
            eco_format!(
                "The disruption budget {name} needs {} healthy pods and has {} currently",
                status.desired,
                status.healthy
            )
        } else {
            eco_format!("The disruption budget {name} does not allow evicting pods currently")
        };
        Err(eco_format!("{REFUSED} | {cause}"))
    }

    /// The pods of a node that a drain evicts, by their names.
    fn to_evict(&self, node: NodeId) -> Vec<PodId> {
        let scheduler = self.scheduler();
        let mut pods: Vec<PodId> = scheduler
            .pods_on(node)
            .iter()
            .copied()
            .filter(|pod| !matches!(self.phase(*pod), PodPhase::Terminating | PodPhase::Gone))
            .filter(|pod| self.is_evicted(*pod))
            .collect();
        // A stable order: with a budget of one, the first pod is the one that goes.
        pods.sort_by_key(|pod| (scheduler.template_of(*pod).name.clone(), *pod));
        pods
    }

    /// The pods of a node that a drain evicts, by their names.
    pub fn evictable(&self, node: NodeId) -> Vec<PodId> {
        self.to_evict(node)
    }

    /// The pods of a node that a drain waits for.
    fn listed(&self, node: NodeId) -> BTreeSet<PodId> {
        let pods = self.scheduler().pods_on(node).iter().copied();
        pods.filter(|pod| self.is_evicted(*pod)).collect()
    }

    /// Whether a drain evicts a pod: those of DaemonSets stay.
    fn is_evicted(&self, pod: PodId) -> bool {
        !self.fixed.contains(&pod)
            && self.owner(pod).is_none_or(|workload| self.desired(workload).is_none())
    }

    /// Drains nodes in order. `tell` gets every step that has a pod; `admit` opens the gates of pods that
    /// queues admit, and returns whether any was.
    pub fn drain(
        &mut self,
        nodes: &[NodeId],
        budgets: &[DrainBudget],
        ties: &mut dyn TieBreak,
        mut admit: impl FnMut(&mut Self) -> bool,
        mut tell: impl FnMut(&Self, &DrainStep),
    ) -> Vec<NodeEnd> {
        let mut ends = Vec::new();
        let mut tick = 0;
        for node in nodes {
            // kubectl drain stops at the first node that it cannot empty.
            if ends.contains(&NodeEnd::Blocked) {
                ends.push(NodeEnd::NotReached);
                continue;
            }
            self.cordon(*node);
            // kubectl lists the pods of a node once: one that tolerates the cordon and comes back is
            // not evicted again.
            let listed = self.listed(*node);
            let mut quiet = 0;
            let end = loop {
                if self.listed(*node).is_disjoint(&listed) {
                    break NodeEnd::Drained;
                }
                let step = self.evict_all(*node, &listed, tick, budgets, ties, &mut admit);
                let moves = !step.evicted.is_empty() || !self.is_quiet();
                if !step.evicted.is_empty() || !step.blocked.is_empty() {
                    // A step that repeats the last one has no news.
                    if quiet == 0 || moves {
                        tell(self, &step);
                    }
                }
                self.advance(ties);
                self.settle_admitting(ties, &mut admit);
                tick += 1;
                quiet = if moves { 0 } else { quiet + 1 };
                // One quiet tick may lie between a pod's end and its successor's start.
                if quiet >= 2 || tick >= MOST_TICKS {
                    break NodeEnd::Blocked;
                }
            };
            ends.push(end);
        }
        ends
    }

    /// Lets controllers, the scheduler and queues act until none of them changes anything.
    fn settle_admitting(
        &mut self,
        ties: &mut dyn TieBreak,
        admit: &mut impl FnMut(&mut Self) -> bool,
    ) {
        self.settle_with(ties);
        while admit(self) {
            self.settle_with(ties);
        }
    }

    fn evict_all(
        &mut self,
        node: NodeId,
        listed: &BTreeSet<PodId>,
        tick: u64,
        budgets: &[DrainBudget],
        ties: &mut dyn TieBreak,
        admit: &mut impl FnMut(&mut Self) -> bool,
    ) -> DrainStep {
        let (mut evicted, mut blocked) = (Vec::new(), Vec::new());
        for pod in self.to_evict(node).into_iter().filter(|pod| listed.contains(pod)) {
            let owner = self.owner(pod);
            match self.evict(pod, budgets) {
                Ok(()) => {
                    evicted.push((pod, owner));
                    // Controllers see each eviction before the next one: a new pod that is ready
                    // frees the budget.
                    self.settle_admitting(ties, admit);
                }
                Err(why) => blocked.push((pod, owner, why)),
            }
        }
        DrainStep { tick, node, evicted, blocked }
    }
}
