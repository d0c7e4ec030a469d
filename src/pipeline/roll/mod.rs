//! Rolling updates of InferenceServices on the nodes that were read, beside the pods that run.
//!
//! In: services before and after, rendered the same way; nodes and pods of the input. Out: a
//! [`ServiceRollout`] each, stage by stage, with the end, and where it is stuck the edits that get
//! through, each played again. The controllers are those of `rolling`; this says who is who.
//!
//! RayClusters: KubeRay leaves the pods of a changed template alone, so nothing rolls.

pub(crate) mod end;
pub(crate) mod fix;
pub(crate) mod play;
pub(crate) mod side;

pub use play::{Amounts, ComponentRollout, RollEnd, RollStage, Stuck};

use super::built::PodContext;
use super::render::Renderer;
use super::running::{RunningPod, RunningPods};
use super::together::{nodes, options};
use crate::api::{Semantics, Service};
use crate::catalog::{Catalog, Views};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::cluster::schedule::{PodTemplate, Scheduler};
use crate::source::Span;
use ecow::EcoString;
use play::Track;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A service that changes.
#[derive(Clone, Copy, Debug)]
pub struct ServiceChange<'a> {
    /// What was applied before, with everything beside it; none where the pods that run are the
    /// beginning.
    pub before: Option<(&'a Catalog, &'a Views)>,
    /// What is applied now.
    pub after: &'a Views,
}

/// One edit of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollEdit {
    /// Where it stands, or what is above it; none of nodes.
    pub place: Option<Span>,
    /// The field.
    pub path: String,
    /// What it is; none where it is absent.
    pub from: Option<String>,
    /// What it becomes.
    pub to: String,
}

/// Edits that get through, with what they cost.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The edits.
    pub edits: Vec<RollEdit>,
    /// How the update ends then.
    pub end: RollEnd,
    /// Pods or groups that serve at least.
    pub lowest_ready: i64,
    /// GPUs that are held at most.
    pub peak_gpus: i64,
}

/// How a service follows a change.
#[derive(Clone, Debug)]
pub struct ServiceRollout<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its components.
    pub components: Vec<ComponentRollout>,
}

/// The nodes with the pods of others, and who else is there.
struct Ground<'a> {
    machines: Vec<Arc<Machine>>,
    catalog: &'a Catalog,
    running: RunningPods<'a>,
    templates: Vec<Arc<PodTemplate>>,
    /// Pods of the services that change.
    own: BTreeSet<usize>,
}

impl Ground<'_> {
    /// The cluster with the pods of others, and more nodes.
    fn scheduler(&self, more: &[Arc<Machine>]) -> Scheduler {
        let machines = self.machines.iter().chain(more).cloned();
        let mut scheduler = Scheduler::new(machines, &options(self.catalog));
        for (at, pod) in
            self.running.all.iter().enumerate().filter(|(at, _)| !self.own.contains(at))
        {
            let template = scheduler.template(Arc::clone(&self.templates[at]));
            let id = scheduler.run(template, &pod.node, pod.started.as_deref());
            if let (Some(id), true) = (id, pod.ends) {
                scheduler.delete(id);
            }
        }
        scheduler
    }

    fn pod(&self, at: usize) -> &RunningPod<'_> {
        &self.running.all[at]
    }
}

/// Plays the changes of services, all at once; none when no node says what it has.
pub fn roll<'a>(
    catalog: &'a Catalog,
    semantics: Semantics,
    changes: &[ServiceChange<'a>],
) -> Option<Vec<ServiceRollout<'a>>> {
    if !machines::is_known(catalog.machines()) {
        return None;
    }
    let context = PodContext::new(catalog.machines(), catalog.others());
    let running = RunningPods::new(catalog.others());
    let templates = running.templates(&context);
    let mut ground =
        Ground { machines: nodes(catalog), catalog, running, templates, own: BTreeSet::new() };
    let renderer = Renderer::new(catalog, semantics, "cluster.local");
    let mut tracks: Vec<Track> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let after = side::made(&renderer, change.after, &context);
        let before = change.before.map(|(catalog, views)| {
            side::made(&Renderer::new(catalog, semantics, "cluster.local"), views, &context)
        });
        let service = change.after.of(semantics);
        let own = side::own(&ground.running, service, &after, before.as_deref());
        ground.own.extend(own.iter().flat_map(|(_, pods)| pods.iter().copied()));
        tracks.extend(side::tracks(at, after, before, &own));
    }
    let mut played = play::play(&ground, &tracks, &[]);
    for at in 0..tracks.len() {
        if played[at].end == RollEnd::Stuck {
            let service = changes[tracks[at].service].after.of(semantics);
            played[at].fix = fix::search(&ground, &tracks, at, service);
        }
    }
    let mut rollouts: Vec<ServiceRollout<'a>> = changes
        .iter()
        .map(|change| ServiceRollout {
            service: change.after.of(semantics),
            components: Vec::new(),
        })
        .collect();
    for (track, played) in tracks.iter().zip(played) {
        rollouts[track.service].components.push(played);
    }
    Some(rollouts)
}

/// A name for a node that no other has.
fn another(machine: &Machine, number: usize) -> EcoString {
    ecow::eco_format!("{}+{number}", machine.name)
}
