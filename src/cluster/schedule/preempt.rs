//! Making room by evicting pods of lower priority (framework/preemption,
//! plugins/defaultpreemption).
//!
//! All candidate nodes are compared. The scheduler stops after candidates for a tenth of the nodes,
//! but not before 100 (`GetOffsetAndNumCandidates`).

use super::budget::Budgets;
use super::chunks::Chunks;
use super::filters::{Filters, Trial, View};
use super::ids::{NodeId, PodId};
use super::judged::Judged;
use super::layout::FITS;
use super::reason::{PostFilter, Refusal};
use super::running::{Pod, PodState, Started};
use super::template::Compiled;
use ecow::EcoString;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

const NO_VICTIMS: &str = "No preemption victims found for incoming pod";
pub(super) const NO_HELP: &str = "Preemption is not helpful for scheduling";

/// Pods with a nominated node, by node.
pub(super) type Nominated = BTreeMap<NodeId, Vec<PodId>>;

/// The inputs of preemption.
pub(super) struct Preemption<'a> {
    pub(super) filters: &'a Filters<'a>,
    pub(super) view: &'a View<'a>,
    pub(super) judged: &'a Judged,
    pub(super) pods: &'a Chunks<Pod>,
    pub(super) templates: &'a Chunks<Arc<Compiled>>,
    pub(super) nominated: &'a Nominated,
    pub(super) budgets: &'a Budgets,
    /// Some bound pod has a lower priority.
    pub(super) any_lower: bool,
}

/// A node that fits if some pods are evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) node: NodeId,
    /// Most important first.
    pub(super) victims: Vec<PodId>,
    broken: usize,
}

/// The order of candidates: the least one is chosen.
type Preference = (usize, i32, i64, usize, Reverse<Started>);

impl<'a> Preemption<'a> {
    fn template(&self, pod: PodId) -> &'a Compiled {
        &self.templates[self.pods[pod.index()].template.index()]
    }

    fn priority(&self, pod: PodId) -> i32 {
        self.template(pod).pod.priority
    }

    /// Whether the pod may evict others at all (`PodEligibleToPreemptOthers`).
    pub(super) fn forbidden(&self, pod: PodId) -> Option<&'static str> {
        if self.filters.pod.pod.never_preempts {
            return Some("not eligible due to preemptionPolicy=Never.");
        }
        let node = self.pods[pod.index()].nominated?;
        let code = usize::from(self.view.codes[node.index()]);
        // Where eviction no longer helps, the pod may look at other nodes.
        if code != usize::from(FITS) && !self.view.refusal(self.judged, code).curable {
            return None;
        }
        let priority = self.filters.pod.pod.priority;
        let leaving = |other: &&PodId| {
            self.pods[other.index()].preempted
                && matches!(self.pods[other.index()].state, PodState::Terminating(_))
                && self.priority(**other) < priority
        };
        let waits = self.filters.ground.nodes.pods(node).iter().any(|other| leaving(&other));
        waits.then_some("not eligible due to a terminating pod on the nominated node.")
    }

    /// Pods of at least this priority whose nominated node is this one.
    pub(super) fn kept_for(
        nominated: &Nominated,
        pods: &Chunks<Pod>,
        templates: &'a Chunks<Arc<Compiled>>,
        node: NodeId,
        pod: Option<PodId>,
        priority: i32,
    ) -> Vec<(PodId, &'a Compiled)> {
        let list = nominated.get(&node).into_iter().flatten();
        let list = list.filter(|other| Some(**other) != pod);
        list.map(|other| (*other, &*templates[pods[other.index()].template.index()]))
            .filter(|(_, other)| other.pod.priority >= priority)
            .collect()
    }

    /// The best nodes to free for a pod: all that are equally good, sorted by name. The error is
    /// the reason why no node can be freed.
    pub(super) fn choose(&self, pod: PodId, rank: &[u32]) -> Result<Vec<Candidate>, PostFilter> {
        let curable = |code: usize| self.view.refusal(self.judged, code).curable;
        let mut counts: BTreeMap<EcoString, usize> = BTreeMap::new();
        let mut count = |reason: EcoString, nodes: usize| {
            if nodes > 0 {
                *counts.entry(reason).or_default() += nodes;
            }
        };
        let refused = |of: bool| -> usize {
            let codes = self.view.counts.iter().enumerate().skip(1);
            codes.filter(|(code, _)| curable(*code) == of).map(|(_, nodes)| *nodes as usize).sum()
        };
        count(NO_HELP.into(), refused(false));
        if !self.any_lower {
            count(NO_VICTIMS.into(), refused(true));
            return Err(PostFilter::Useless(counts));
        }
        let mut best: Option<(Preference, Vec<Candidate>)> = None;
        for node in self.filters.ground.nodes.ids() {
            let code = usize::from(self.view.codes[node.index()]);
            if code == usize::from(FITS) || !curable(code) {
                continue;
            }
            let candidate = match self.victims(pod, node) {
                Ok(candidate) => candidate,
                Err(None) => {
                    count(NO_VICTIMS.into(), 1);
                    continue;
                }
                Err(Some(refusal)) => {
                    for reason in refusal.reasons {
                        count(EcoString::from(reason.to_string()), 1);
                    }
                    continue;
                }
            };
            let preference = self.preference(&candidate);
            match &mut best {
                Some((least, candidates)) if *least == preference => candidates.push(candidate),
                Some((least, _)) if *least < preference => {}
                other => *other = Some((preference, vec![candidate])),
            }
        }
        let (_, mut candidates) = best.ok_or(PostFilter::Useless(counts))?;
        // By the rank of the nodes, so that a tie breaker sees them in a fixed order.
        candidates.sort_by_key(|candidate| rank[candidate.node.index()]);
        Ok(candidates)
    }

    /// Fewest broken budgets; lowest of the highest priorities; lowest sum; fewest pods; the
    /// latest start of the most important (`pickOneNodeForPreemption`).
    fn preference(&self, candidate: &Candidate) -> Preference {
        let priorities = || candidate.victims.iter().map(|pod| self.priority(*pod));
        let highest = priorities().max().unwrap_or(i32::MIN);
        // Priorities are shifted to be positive, or negative ones would favor more victims.
        let sum = priorities().map(|priority| i64::from(priority) + (1 << 31)).sum();
        let highest_of = candidate.victims.iter().filter(|pod| self.priority(**pod) == highest);
        let started =
            highest_of.map(|pod| self.pods[pod.index()].started.clone()).min().unwrap_or_default();
        (candidate.broken, highest, sum, candidate.victims.len(), Reverse(started))
    }

    /// Returns the pods to evict from a node (`SelectVictimsOnNode`). All pods of lower priority
    /// are removed, then each is added again if the pod still fits: first those whose eviction
    /// would break a budget, and the most important first. The error is the remaining rejection, or
    /// `None` if there is no pod to evict.
    pub(super) fn victims(&self, pod: PodId, node: NodeId) -> Result<Candidate, Option<Refusal>> {
        let priority = self.filters.pod.pod.priority;
        let on_node = self.filters.ground.nodes.pods(node).iter().copied();
        let mut potential: Vec<PodId> =
            on_node.filter(|pod| self.priority(*pod) < priority).collect();
        if potential.is_empty() {
            return Err(None);
        }
        let kept =
            Self::kept_for(self.nominated, self.pods, self.templates, node, Some(pod), priority);
        let mut trial = Trial::new(self.filters, node);
        for victim in &potential {
            trial.change(*victim, self.template(*victim), -1);
        }
        if let Some(refusal) = trial.refuses(&kept) {
            return Err(Some(refusal));
        }
        let importance =
            |pod: &PodId| (Reverse(self.priority(*pod)), self.pods[pod.index()].started.clone());
        potential.sort_by_key(|pod| (importance(pod), *pod));
        let labels: Vec<_> = potential.iter().map(|pod| self.template(*pod).labels).collect();
        let broken = self.budgets.broken(self.filters.ground.index, &labels);
        let mut order: Vec<(bool, PodId)> =
            broken.into_iter().zip(potential).map(|(broken, pod)| (!broken, pod)).collect();
        // Stable: within both parts the most important stay first. Pods whose budget would break
        // are tried first, so that they are kept if any is.
        order.sort_by_key(|(keeps, _)| *keeps);
        let mut victims = Vec::new();
        let mut breaking = 0;
        for (keeps, victim) in order {
            let mut with = trial.clone();
            with.change(victim, self.template(victim), 1);
            if with.refuses(&kept).is_none() {
                trial = with;
            } else {
                victims.push(victim);
                breaking += usize::from(!keeps);
            }
        }
        victims.sort_by_key(|pod| (importance(pod), *pod));
        Ok(Candidate { node, victims, broken: breaking })
    }
}
