//! Filters of a pod on all nodes, and the scores of nodes that fit.

use super::budget::Budgets;
use super::choice::Scores;
use super::chunks::Chunks;
use super::classes::Classes;
use super::devices::claims::Devices;
use super::devices::prepare::PodDevices;
use super::filters::{Filters, View, Volumes};
use super::ids::{NodeId, PodId, TemplateId};
use super::judged::Judged;
use super::labels::LabelIndex;
use super::layout::FITS;
use super::layout::Ground;
use super::nodes::Nodes;
use super::preempt::{Nominated, Preemption};
use super::reason::{Plugins, Reason};
use super::running::Belongings;
use super::running::Pod;
use super::scheduler::Scheduler;
use super::storage::claims::Storage;
use super::template::Compiled;
use super::terms::Terms;
use ecow::EcoString;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// The parts of a scheduler that an evaluation reads.
pub(super) struct Parts<'a> {
    pub(super) nodes: &'a mut Nodes,
    pub(super) classes: &'a mut Classes,
    pub(super) index: &'a LabelIndex,
    pub(super) terms: &'a Terms,
    pub(super) templates: &'a Chunks<Arc<Compiled>>,
    pub(super) pods: &'a Chunks<Pod>,
    pub(super) nominated: &'a Nominated,
    pub(super) budgets: &'a Budgets,
    pub(super) storage: &'a mut Storage,
    pub(super) devices: &'a mut Devices,
    pub(super) belongings: &'a HashMap<PodId, Belongings>,
}

/// The evaluation of all nodes for one pod.
pub(super) struct Looked<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) nodes: &'a Nodes,
    pub(super) judged: &'a Judged,
    pub(super) filters: Filters<'a>,
    pub(super) view: View<'a>,
    index: &'a LabelIndex,
    terms: &'a Terms,
    templates: &'a Chunks<Arc<Compiled>>,
    pods: &'a Chunks<Pod>,
    nominated: &'a Nominated,
    budgets: &'a Budgets,
}

impl<'a> Parts<'a> {
    /// Filters all nodes for a pod, or for any pod of a template.
    pub(super) fn look(self, template: TemplateId, pod: Option<PodId>) -> Looked<'a> {
        let Self { index, terms, templates, pods, nominated, budgets, belongings, .. } = self;
        let compiled = &templates[template.index()];
        let (key, judged) = self.classes.judged(self.nodes, compiled.class);
        let nodes: &Nodes = self.nodes;
        let ground = Ground { nodes, index, selection: &judged.selection };
        let things = pod.and_then(|pod| belongings.get(&pod));
        let storage = self.storage;
        let prepared = (!compiled.pod.volumes.is_empty()).then(|| {
            let mut claims = compiled.claims.clone();
            claims.extend(things.iter().flat_map(|belongings| &belongings.volumes));
            storage.prepare(&compiled.pod.volumes, &claims, pod.is_some(), nodes)
        });
        let storage: &'a Storage = storage;
        let volumes = prepared.map(|prepared| Volumes {
            prepared: Arc::new(prepared),
            storage,
            templates,
            pods,
            belongings,
        });
        let devices = (!compiled.pod.claims.is_empty()).then(|| {
            let mut claims =
                things.map(|belongings| belongings.devices.clone()).unwrap_or_default();
            // A template has no claims of its own yet: they are judged as they would be created.
            if pod.is_none() {
                claims = self.devices.example(
                    &compiled.pod.namespace,
                    &compiled.pod.name,
                    &compiled.pod.claims,
                );
            }
            let prepared = self.devices.prepare(&claims, nodes);
            (&*self.devices, Rc::new(RefCell::new(prepared)))
        });
        let filters = Filters::new(compiled, ground, terms, key, volumes, devices);
        let mut view = View::of(judged);
        view.filter_with_others(judged, &filters);
        // Nominated pods count as if they ran there, if their priority is not lower.
        for node in nominated.keys() {
            let priority = compiled.pod.priority;
            let kept = Preemption::kept_for(nominated, pods, templates, *node, pod, priority);
            if !kept.is_empty() {
                view.kept(judged, &filters, *node, &kept);
            }
        }
        Looked {
            compiled,
            nodes,
            judged,
            filters,
            view,
            index,
            terms,
            templates,
            pods,
            nominated,
            budgets,
        }
    }
}

impl Looked<'_> {
    pub(super) fn scores(&self) -> Scores<'_> {
        let claims =
            self.claims().and_then(|pod_devices| pod_devices.borrow().scores(self.nodes.len()));
        let (view, judged) = (&self.view, self.judged);
        Scores::new(view, judged, self.compiled, self.nodes, self.index, self.terms, claims)
    }

    /// Why no node may have the pod, whatever the node: volumes first, with who says it, then devices.
    pub(super) fn refused(&self) -> (Option<(EcoString, Plugins)>, Option<EcoString>) {
        let volumes =
            self.filters.volumes.as_ref().and_then(|volumes| volumes.prepared.refused.clone());
        (volumes, self.claims().and_then(|pod_devices| pod_devices.borrow().refused.clone()))
    }

    /// The error of the plugin for devices, which ends the try.
    pub(super) fn error(&self) -> Option<EcoString> {
        self.claims().and_then(|pod_devices| pod_devices.borrow().error.clone())
    }

    /// The claims of the pod for devices, with what was found for them.
    pub(super) fn claims(&self) -> Option<&Rc<RefCell<PodDevices>>> {
        self.filters.devices.as_ref().map(|(_, pod_devices)| pod_devices)
    }

    pub(super) fn preemption(&self, any_lower: bool) -> Preemption<'_> {
        Preemption {
            filters: &self.filters,
            view: &self.view,
            judged: self.judged,
            pods: self.pods,
            templates: self.templates,
            nominated: self.nominated,
            budgets: self.budgets,
            any_lower,
        }
    }

    /// Nodes by reason, and the filters that refused some.
    pub(super) fn reasons(&self) -> (BTreeMap<Reason, usize>, Plugins) {
        let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
        let mut plugins = Plugins::default();
        for (code, count) in self.view.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let refusal = self.view.refusal(self.judged, code);
            plugins = plugins.with(refusal.plugin);
            for reason in &refusal.reasons {
                *counts.entry(reason.clone()).or_default() += *count as usize;
            }
        }
        (counts, plugins)
    }
}

/// A resource with too little free on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Name.
    pub resource: EcoString,
    /// The request: thousandths of `cpu`, whole units of other resources.
    pub requested: i64,
    /// The free amount on the node.
    pub left: i64,
    /// The allocatable amount of the node.
    pub allocatable: i64,
}

/// The verdict of a node on a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The node.
    pub node: NodeId,
    /// The sum of all scores, where the pod fits.
    pub score: Option<i64>,
    /// Why it does not fit: the reasons of the first filter that rejects it.
    pub reasons: Vec<Reason>,
    /// Evicting pods of the node could help.
    pub curable: bool,
    /// Resources with too little free, independent of other filters.
    pub lacks: Vec<Lack>,
}

impl Scheduler {
    pub(super) fn parts(&mut self) -> Parts<'_> {
        Parts {
            nodes: &mut self.nodes,
            classes: &mut self.classes,
            index: &self.index,
            terms: &self.terms,
            templates: &self.templates,
            pods: &self.pods,
            nominated: &self.nominated,
            budgets: &self.budgets,
            storage: &mut self.storage,
            devices: &mut self.devices,
            belongings: &self.belongings,
        }
    }

    /// Returns the verdict of every node on a pod of a template in the present state, in the order
    /// of the nodes.
    pub fn examine(&mut self, template: TemplateId) -> Vec<Answer> {
        let looked = self.parts().look(template, None);
        let scores = (looked.view.feasible() > 0).then(|| looked.scores());
        let nodes = looked.nodes;
        let answer = |node: NodeId| {
            let code = looked.view.codes[node.index()];
            let fits = code == FITS;
            let refusal = looked.view.refusal(looked.judged, usize::from(code));
            let lacks = looked.compiled.requests.iter().map(|(resource, requested)| Lack {
                resource: nodes.resource_name(*resource).clone(),
                requested: *requested,
                left: nodes.allocatable(*resource, node) - nodes.used(*resource, node),
                allocatable: nodes.allocatable(*resource, node),
            });
            Answer {
                node,
                score: scores.as_ref().filter(|_| fits).map(|scores| scores.of(node)),
                reasons: refusal.reasons.clone(),
                curable: !fits && refusal.curable,
                lacks: lacks.filter(|lack| lack.requested > lack.left).collect(),
            }
        };
        nodes.ids().map(answer).collect()
    }
}
