//! A scenario with a scheduler and nothing else: the pods of a Deployment are created together, and
//! one that is evicted is replaced.

use super::placements::{Service, outcome};
use super::{Row, Start, act_on_node, node, template, text};
use crate::cluster::schedule::{PodId, PodState, TemplateId, TieBreak, label_selector};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

struct Cluster<'r> {
    start: Start<'r>,
    /// Deployments by name: their pods, including deleted ones.
    services: BTreeMap<&'r str, (TemplateId, Vec<PodId>)>,
    /// Evictions that were answered.
    seen: usize,
}

impl<'r> Cluster<'r> {
    fn new(row: &'r Row) -> Self {
        Self { start: Start::of(row), services: BTreeMap::new(), seen: 0 }
    }

    fn deploy(&mut self, object: &'r Value) {
        let spec = &object["spec"];
        let mut template = template(&spec["template"], &self.start.classes);
        template.owner = label_selector(Some(&node(&spec["selector"]))).unwrap();
        let template = self.start.scheduler.template(Arc::new(template));
        let count = spec["replicas"].as_u64().unwrap_or(1);
        let pods = (0..count).map(|_| self.start.scheduler.add(template)).collect();
        self.services.insert(text(&object["metadata"]["name"]), (template, pods));
    }

    /// Schedules until no pod is evicted any more. Victims end and are replaced, then time passes.
    fn come_to_rest(&mut self, ties: &mut dyn TieBreak) {
        loop {
            self.start.scheduler.schedule_with(ties);
            let new = self.start.scheduler.evictions()[self.seen..].to_vec();
            self.seen += new.len();
            if new.is_empty() {
                return;
            }
            for eviction in &new {
                for (template, pods) in self.services.values_mut() {
                    if pods.contains(&eviction.victim) {
                        pods.push(self.start.scheduler.add(*template));
                    }
                }
            }
            self.start.scheduler.schedule_with(ties);
            self.start.scheduler.time_passes();
            for eviction in &new {
                self.start.scheduler.finish(eviction.victim);
            }
        }
    }

    fn act(&mut self, action: &'r Value) {
        let (verb, what) = action.as_object().unwrap().iter().next().unwrap();
        let Start { scheduler, running, nodes, .. } = &mut self.start;
        match verb.as_str() {
            "deletePod" => scheduler.finish(running[text(what)]),
            verb => act_on_node(scheduler, nodes, verb, what),
        }
    }

    fn services(&self) -> Value {
        let mut all = Map::new();
        for (name, (_, pods)) in &self.services {
            let mut service = Service::default();
            for pod in pods {
                match self.start.scheduler.state(*pod) {
                    PodState::Bound(on) => {
                        service.nodes.push(self.start.scheduler.node(on).name.to_string());
                    }
                    PodState::Waiting => {
                        let why = self.start.scheduler.rejection(*pod);
                        let message = why.map(|rejection| rejection.message.to_string());
                        service.waiting.push(message.unwrap_or_default());
                    }
                    PodState::Reserved(_) | PodState::Terminating(_) | PodState::Gone => {}
                }
            }
            all.insert((*name).to_owned(), service.json());
        }
        Value::Object(all)
    }

    fn evicted(&self) -> Vec<String> {
        let evicted =
            |pod: PodId| self.start.scheduler.evictions().iter().any(|one| one.victim == pod);
        let gone = self.start.running.iter().filter(|(_, pod)| evicted(**pod));
        gone.map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// The outcome for a choice of ties.
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
