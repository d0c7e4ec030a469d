//! How many more pods of one template the nodes take in the present state.

use super::ids::{PodId, TemplateId};
use super::layout::FITS;
use super::pod::PodTemplate;
use super::queue::Queue;
use super::running::PodState;
use super::scheduler::Scheduler;
use crate::cluster::Machine;

/// More pods than this are not counted.
const MOST_COUNTED: usize = 100_000;

impl PodTemplate {
    /// Whether its node selection and tolerations admit a node, whatever room it has.
    pub fn may_run_on(&self, machine: &Machine) -> bool {
        self.selects(machine) && machine.taints.iter().all(|taint| self.tolerates(taint))
    }
}

impl Scheduler {
    /// Whether pods of a template affect each other and those of others only by the resources that
    /// they take.
    pub fn counts_by_room(&self, template: TemplateId) -> bool {
        let compiled = &self.templates[template.index()];
        compiled.hard.is_empty()
            && compiled.affinity.is_empty()
            && compiled.anti_affinity.is_empty()
            && compiled.pod.claims.is_empty()
            && compiled.pod.volumes.is_empty()
            && compiled.pod.usage.is_none()
            && compiled.pod.refused.is_none()
            && compiled.pod.node.is_none()
            && self.nominated.is_empty()
    }

    /// How many more pods of a template would be placed one after the other, without evictions.
    /// `None` if these pods affect each other beyond the resources that they take: then each of
    /// them has to be tried.
    ///
    /// Nodes fill independently of the order in which the scheduler chooses them, so no pod is
    /// placed to count.
    pub fn capacity(&mut self, template: TemplateId) -> Option<usize> {
        if !self.counts_by_room(template) {
            return None;
        }
        let looked = self.parts().look(template, None);
        let (nodes, compiled) = (looked.nodes, looked.compiled);
        let fitting = nodes.ids().filter(|node| looked.view.codes[node.index()] == FITS);
        let on = |node| -> usize {
            if !compiled.pod.ports.is_empty() {
                return 1;
            }
            let taken = i64::try_from(nodes.pods(node).len()).unwrap_or(i64::MAX);
            let slots = nodes.slots(node).saturating_sub(taken);
            let amounts = compiled.requests.iter().filter(|(_, request)| *request > 0);
            let rooms = amounts.map(|(resource, requested)| {
                (nodes.allocatable(*resource, node) - nodes.used(*resource, node)) / requested
            });
            rooms.chain([slots]).min().and_then(|pods| usize::try_from(pods).ok()).unwrap_or(0)
        };
        Some(fitting.map(on).fold(0, |sum: usize, more| sum.saturating_add(more)).min(MOST_COUNTED))
    }

    /// Pods that wait are not tried any more.
    pub fn forget_waiting(&mut self) {
        self.queue = Queue::default();
    }

    /// How often pods of these templates, placed together or not at all, find nodes; at most so
    /// often. The state is the same afterwards. Waiting pods must be forgotten before.
    pub fn probe(&mut self, templates: &[TemplateId], most: usize) -> usize {
        let mut added: Vec<PodId> = Vec::new();
        let mut count = 0;
        while count < most {
            let Ok(pods) = self.admit_gang(templates) else { break };
            self.schedule();
            let placed = pods.iter().all(|pod| matches!(self.state(*pod), PodState::Bound(_)));
            added.extend(pods);
            if !placed {
                break;
            }
            count += 1;
        }
        for pod in added {
            self.finish(pod);
        }
        self.forget_waiting();
        count
    }
}
