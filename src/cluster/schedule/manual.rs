//! Pods that the caller places instead of the scheduler, by the same filters.

use super::choice::Preference;
use super::evaluate::Looked;
use super::ids::{NodeId, PodId, TemplateId};
use super::layout::FITS;
use super::pod::is_extended;
use super::running::Started;
use super::scheduler::Scheduler;

impl Looked<'_> {
    /// The fitting node with the least free; the first of equal ones.
    pub(super) fn tightest(&self) -> Option<NodeId> {
        let nodes = self.nodes;
        let left = |resource: usize, node: NodeId| {
            nodes.allocatable(resource, node) - nodes.used(resource, node)
        };
        let devices: Vec<usize> = nodes
            .resources()
            .filter(|(_, name)| is_extended(name))
            .map(|(resource, _)| resource)
            .collect();
        let requests = |resource: usize| {
            self.compiled.requests.iter().any(|(request, _)| *request == resource)
        };
        let key = |node: NodeId| {
            let sum = |is_own: bool| -> i64 {
                let counted = devices.iter().filter(|resource| requests(**resource) == is_own);
                counted.map(|resource| left(*resource, node)).sum()
            };
            (sum(true), sum(false), left(super::nodes::CPU, node), nodes.rank()[node.index()])
        };
        let fitting = nodes.ids().filter(|node| self.view.codes[node.index()] == FITS);
        fitting.min_by_key(|node| key(*node))
    }
}

impl Scheduler {
    /// Adds a pod of a template on a node that the caller names; `None` if a filter rejects it, or a queue
    /// admits it first.
    pub fn add_to(&mut self, template: TemplateId, node: NodeId) -> Option<PodId> {
        if self.is_gated(&self.templates[template.index()].pod) {
            return None;
        }
        let pod = self.create_on(template, node);
        let looked = self.parts().look(template, Some(pod));
        let (volumes, devices) = looked.refused();
        let fits = volumes.is_none()
            && devices.is_none()
            && looked.error().is_none()
            && looked.view.codes[node.index()] == FITS;
        let claims = looked.claims().map(std::rc::Rc::clone);
        if !fits || self.is_held(pod) {
            self.delete(pod);
            return None;
        }
        if let Some(claims) = claims {
            self.devices.commit(&claims.borrow(), node);
        }
        self.bind(pod, node);
        Some(pod)
    }

    /// When a pod started, RFC 3339 in UTC.
    pub fn set_started(&mut self, pod: PodId, at: &str) {
        self.pods[pod.index()].started = Started::At(at.into());
    }

    /// The nodes that would take a pod of a template now.
    pub fn fitting(&mut self, template: TemplateId) -> Vec<NodeId> {
        let looked = self.parts().look(template, None);
        looked.nodes.ids().filter(|node| looked.view.codes[node.index()] == FITS).collect()
    }

    /// Which of the nodes that fit is taken from now on.
    pub fn set_preference(&mut self, preference: Preference) {
        self.preference = preference;
    }
}
