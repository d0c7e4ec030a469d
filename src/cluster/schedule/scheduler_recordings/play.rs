//! A scenario with a scheduler and nothing else: the pods of a Deployment are created together, and
//! one that is evicted is replaced.

use super::placements::{Service, outcome};
use super::{NAMESPACE, Row, change_node, machine, node, text};
use crate::cluster::schedule::{
    Budget, Options, PodId, PodState, PodTemplate, PriorityClasses, Scheduler, TemplateId,
    TieBreak, label_selector, labels,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Cluster<'r> {
    scheduler: Scheduler,
    classes: PriorityClasses,
    nodes: BTreeMap<&'r str, Value>,
    running: BTreeMap<&'r str, PodId>,
    /// Deployments by name: their pods, gone ones among them.
    services: BTreeMap<&'r str, (TemplateId, Vec<PodId>)>,
    /// Evictions that were answered.
    seen: usize,
}

impl<'r> Cluster<'r> {
    fn new(row: &'r Row) -> Self {
        let mut classes = PriorityClasses::default();
        let mut budgets = Vec::new();
        for object in &row.apply {
            match text(&object["kind"]) {
                "PriorityClass" => classes.add(&node(object)),
                "PodDisruptionBudget" => {
                    budgets.push(Budget::read(NAMESPACE, &node(object)).unwrap());
                }
                _ => {}
            }
        }
        let options = Options {
            budgets,
            claims: Some(BTreeSet::new()),
            ignore_ready: true,
            ..Options::default()
        };
        let mut own = Self {
            scheduler: Scheduler::new(row.nodes.iter().map(machine), &options),
            classes,
            nodes: row.nodes.iter().map(|n| (text(&n["metadata"]["name"]), n.clone())).collect(),
            running: BTreeMap::new(),
            services: BTreeMap::new(),
            seen: 0,
        };
        for pod in &row.running {
            if !matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed") {
                let template = own.template(pod, None);
                let on = text(&pod["spec"]["nodeName"]);
                let id = own.scheduler.run(template, on, None).unwrap();
                own.scheduler.set_ready(id, true);
                if pod["metadata"].get("deletionTimestamp").is_some() {
                    own.scheduler.delete(id);
                }
                own.running.insert(text(&pod["metadata"]["name"]), id);
            }
        }
        own
    }

    fn template(&mut self, pod: &Value, owner: Option<&Value>) -> TemplateId {
        let (tree, spec) = (node(pod), node(&pod["spec"]));
        let own = labels(tree.at(&["metadata", "labels"]));
        let mut template = PodTemplate::read(NAMESPACE, own, &spec, &self.classes).unwrap();
        template.owner = owner.and_then(|owner| label_selector(Some(&node(owner))).unwrap());
        self.scheduler.template(Arc::new(template))
    }

    fn deploy(&mut self, object: &'r Value) {
        let spec = &object["spec"];
        let template = self.template(&spec["template"], Some(&spec["selector"]));
        let count = spec["replicas"].as_u64().unwrap_or(1);
        let pods = (0..count).map(|_| self.scheduler.add(template)).collect();
        self.services.insert(text(&object["metadata"]["name"]), (template, pods));
    }

    /// Schedules until no pod is evicted any more. Victims end and are replaced, then time passes.
    fn come_to_rest(&mut self, ties: &mut dyn TieBreak) {
        loop {
            self.scheduler.schedule_with(ties);
            let new = self.scheduler.evictions()[self.seen..].to_vec();
            self.seen += new.len();
            if new.is_empty() {
                return;
            }
            for eviction in &new {
                for (template, pods) in self.services.values_mut() {
                    if pods.contains(&eviction.victim) {
                        pods.push(self.scheduler.add(*template));
                    }
                }
            }
            self.scheduler.schedule_with(ties);
            self.scheduler.time_passes();
            for eviction in &new {
                self.scheduler.finish(eviction.victim);
            }
        }
    }

    fn act(&mut self, action: &Value) {
        let (verb, what) = action.as_object().unwrap().iter().next().unwrap();
        match verb.as_str() {
            "deletePod" => self.scheduler.finish(self.running[text(what)]),
            "addNode" => {
                self.scheduler.add_node(machine(what)).unwrap();
            }
            verb => {
                let tree = self.nodes.get_mut(text(what)).unwrap();
                change_node(tree, verb);
                let id = self.scheduler.node_id(text(what)).unwrap();
                self.scheduler.change_node(id, machine(tree));
            }
        }
    }

    fn services(&self) -> Value {
        let mut all = Map::new();
        for (name, (_, pods)) in &self.services {
            let mut service = Service::default();
            for pod in pods {
                match self.scheduler.state(*pod) {
                    PodState::Bound(on) => {
                        service.nodes.push(self.scheduler.node(on).name.to_string());
                    }
                    PodState::Waiting => {
                        let why = self.scheduler.rejection(*pod);
                        let message = why.map(|own| own.message.to_string());
                        service.waiting.push(message.unwrap_or_default());
                    }
                    PodState::Terminating(_) | PodState::Gone => {}
                }
            }
            all.insert((*name).to_owned(), service.json());
        }
        Value::Object(all)
    }

    fn evicted(&self) -> Vec<String> {
        let evicted = |pod: PodId| self.scheduler.evictions().iter().any(|one| one.victim == pod);
        let gone = self.running.iter().filter(|(_, pod)| evicted(**pod));
        gone.map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// What comes out with some ties.
pub(super) fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut cluster = Cluster::new(row);
    for object in row.apply.iter().filter(|object| object["kind"] == "Deployment") {
        cluster.deploy(object);
        cluster.come_to_rest(ties);
    }
    let before = (!row.then.is_empty()).then(|| cluster.services());
    for action in &row.then {
        cluster.act(action);
        cluster.come_to_rest(ties);
    }
    outcome(&cluster.services(), before.as_ref(), &cluster.evicted())
}
