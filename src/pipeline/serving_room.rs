//! Whether the pods of each stage of an update of a ModelServing find nodes beside everything else.
//!
//! In: the input, settled once, and the stages that the controller goes through. Out: by stage, whether
//! all its pods have a node.

use super::together::claims::{Claim, serving_pod};
use super::together::settled::{Ground, Workloads};
use crate::api::ModelServing;
use crate::catalog::Catalog;
use crate::cluster::fleet::Placed;
use crate::cluster::is_known;
use crate::cluster::schedule::{PodId, PodState, PodTemplate, Scheduler, TemplateId};
use crate::operators::servings;
use crate::operators::servings::objects::revision;
use crate::operators::servings::rollout::{Scenario, Trace};
use crate::pipeline::built::PodContext;
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An input on its nodes.
#[derive(Debug)]
pub struct ServingRoom {
    context: PodContext,
    claims: Vec<Claim>,
    /// Copied for each answer. A scheduler notes what it has evaluated, so threads take turns.
    placed: Mutex<Placed>,
}

/// By hash of a role's template, and whether they are workers: pods of it.
type Kinds<T> = HashMap<(EcoString, bool), T>;

impl ServingRoom {
    /// Everything of an input on its nodes; `None` if no node reports its resources.
    pub fn new(catalog: &Catalog) -> Option<Self> {
        if !is_known(catalog.machines()) {
            return None;
        }
        let ground = Ground::new(catalog);
        let workloads = Workloads::of(catalog, &ground, |_| true);
        let placed = Mutex::new(workloads.settle(&[]));
        Some(Self { context: ground.context, claims: workloads.claims, placed })
    }

    /// Whether the pods of each stage of an update find nodes: they come and go as the stages have
    /// them, and those that stay keep their nodes. `None` if a template cannot be read.
    pub fn fits(&self, trace: &Trace, scenario: &Scenario<'_>) -> Option<Vec<bool>> {
        let templates = self.templates(scenario)?;
        // Its own pods go first: the stages have all of them, those that stay included.
        let mut scheduler = self.without(scenario.to);
        let ids: Kinds<TemplateId> =
            templates.into_iter().map(|(kind, pod)| (kind, scheduler.template(pod))).collect();
        let mut pods: Kinds<Vec<PodId>> = HashMap::new();
        let stage = |stage: &servings::rollout::Capacity| {
            let wanted: Vec<((EcoString, bool), usize)> = stage
                .templates
                .iter()
                .map(|((hash, worker), count)| {
                    let kind = (trace.names.text(*hash).clone(), *worker);
                    (kind, usize::try_from(*count).unwrap_or(0))
                })
                .collect();
            for (kind, running) in &mut pods {
                let kept = wanted.iter().find(|(wanted, _)| wanted == kind);
                let kept = kept.map_or(0, |(_, count)| *count).min(running.len());
                // The last pods go first; the others keep their nodes from one stage to the next.
                running.drain(kept..).for_each(|pod| scheduler.finish(pod));
            }
            for (kind, count) in wanted {
                let Some(template) = ids.get(&kind) else { continue };
                let running = pods.entry(kind).or_default();
                while running.len() < count {
                    running.push(scheduler.add(*template));
                }
            }
            // Pods that wait are tried again with what the stage has freed.
            scheduler.time_passes();
            scheduler.schedule();
            pods.values().flatten().all(|pod| scheduler.state(*pod) != PodState::Waiting)
        };
        Some(trace.capacity.iter().map(stage).collect())
    }

    /// The templates of the pods of all stages, which are those of the versions of the scenario.
    fn templates(&self, scenario: &Scenario<'_>) -> Option<Kinds<Arc<PodTemplate>>> {
        let now = scenario.policy.role_struct;
        let earlier = scenario.upgraded_from.unwrap_or(now);
        let before = scenario.from.iter().map(|before| (before.serving, earlier));
        let mut templates = Kinds::new();
        for (serving, declared) in before.chain([(scenario.to, now)]) {
            for role in &serving.roles {
                let hash = revision::of_role(&role.node, declared);
                let all = [(Some(&role.entry), false), (role.worker.as_ref(), true)];
                for (template, worker) in all {
                    let Some(template) = template else { continue };
                    let pod = serving_pod(serving, role, template, !worker, &self.context).ok()?;
                    // Equal hashes are equal templates: the version before and after share the
                    // pods of an unchanged role.
                    templates.entry((hash.clone(), worker)).or_insert_with(|| Arc::new(pod));
                }
            }
        }
        Some(templates)
    }

    /// The nodes without the pods of a ModelServing.
    fn without(&self, serving: &ModelServing) -> Scheduler {
        let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scheduler = placed.scheduler.clone();
        let name = eco_format!("{}/{}", serving.namespace, serving.name());
        let is_of_serving =
            self.claims.iter().map(|claim| claim.api == servings::API && claim.service == name);
        for (_, slots) in is_of_serving.zip(&placed.slots).filter(|(is_own, _)| *is_own) {
            for pod in slots.iter().flatten().filter_map(|slot| slot.pod) {
                scheduler.finish(pod);
            }
        }
        scheduler
    }
}
