//! Rolling updates of InferenceServices on the nodes that were read, beside the pods that run.
//!
//! In: services before and after, rendered the same way; nodes and pods of the input. Out: a
//! [`ServiceRollout`] each, stage by stage, with the end, and where it is stuck the edits that get
//! through, each played again. The controllers are those of `rolling`; this says who is who.
//!
//! RayClusters: KubeRay leaves the pods of a changed template alone, so nothing rolls.

pub(crate) mod edit;
pub(crate) mod end;
pub(crate) mod fix;
pub(crate) mod play;
pub(crate) mod side;
pub(crate) mod stages;

pub use play::{Amounts, ComponentRollout, RollEnd, RollStage, Stuck};

use super::built::PodContext;
use super::render::Renderer;
use super::running::{RunningPod, RunningPods};
use super::together::{nodes, options};
use crate::api::{ComponentKind, Failure, Follow, Service};
use crate::catalog::{Catalog, Views};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::cluster::schedule::{PodTemplate, Scheduler};
use crate::diag::Diagnostic;
use crate::rollout::Start;
use crate::source::Span;
use ecow::EcoString;
use play::Track;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What was there before a change.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// The pods that run.
    Running,
    /// What was applied, with everything beside it; none of a service that is new.
    Applied(Option<(&'a Catalog, &'a Views)>),
}

/// A service that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServiceChange<'a> {
    /// What is there before.
    pub before: Before<'a>,
    /// What is applied now; none when the service goes.
    pub after: Option<&'a Views>,
}

impl<'a> ServiceChange<'a> {
    /// The service, as it is applied now or, where it goes, as it was.
    fn service(&self, semantics: Follow) -> Option<&'a Service> {
        let before = match self.before {
            Before::Applied(Some((_, views))) => Some(views),
            Before::Applied(None) | Before::Running => None,
        };
        self.after.or(before).map(|views| views.of(semantics))
    }
}

/// What is wrong with the new pods of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// They need so many ticks to get ready.
    Slow(u32),
    /// They never get ready.
    NeverReady,
    /// Their containers never start.
    NeverRuns,
}

impl From<Trouble> for Start {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Slow(ticks) => Self::Slow(ticks),
            Trouble::NeverReady => Self::NeverReady,
            Trouble::NeverRuns => Self::NeverRuns,
        }
    }
}

/// Components with something wrong, by place in the changes.
pub type Troubles = Vec<(usize, ComponentKind, Trouble)>;

/// What is asked beside the changes.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What is wrong with new pods.
    pub troubles: Troubles,
    /// No edits are sought for updates that are stuck.
    pub without_edits: bool,
}

/// One edit of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollEdit {
    /// Where it stands, or what is above it; none of nodes.
    pub place: Option<Span>,
    /// The field.
    pub path: String,
    /// What it is; null where it is absent.
    pub from: Value,
    /// What it becomes; null where it goes.
    pub to: Value,
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
    /// There are fewer replicas.
    pub fewer_replicas: bool,
    /// The manifest is applied as it is written when the update with the edits is through.
    pub then_as_written: bool,
    /// The updates that are stuck beside this one are edited in the same way.
    pub with_others: bool,
}

/// How a service follows a change.
#[derive(Clone, Debug)]
pub struct ServiceRollout<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its components.
    pub components: Vec<ComponentRollout>,
    /// Why it stays as it is: the operator can make nothing of it.
    pub error: Option<Failure>,
    /// What was found while it was rendered.
    pub diagnostics: Vec<Diagnostic>,
}

/// Hosts of Services are no part of a rollout.
const DOMAIN: &str = "cluster.local";

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
    semantics: Follow,
    changes: &[ServiceChange<'a>],
    asked: &Asked,
) -> Option<Vec<ServiceRollout<'a>>> {
    if !machines::is_known(catalog.machines()) {
        return None;
    }
    let context = PodContext::new(catalog.machines(), catalog.others());
    let running = RunningPods::new(catalog.others());
    let templates = running.templates(&context);
    let mut ground =
        Ground { machines: nodes(catalog), catalog, running, templates, own: BTreeSet::new() };
    let renderer = Renderer::new(catalog, semantics, DOMAIN);
    let earlier: Option<&Catalog> = changes.iter().find_map(|change| match change.before {
        Before::Applied(found) => found.map(|(catalog, _)| catalog),
        Before::Running => None,
    });
    let earlier = earlier.map(|catalog| Renderer::new(catalog, semantics, DOMAIN));
    let sides = changes.par_iter().map(|change| {
        let made = |renderer: &Renderer<'a>, views: &'a Views| {
            side::made(renderer, views.of(semantics), &context)
        };
        let after = change.after.map(|views| made(&renderer, views)).unwrap_or_default();
        let before = match (change.before, &earlier) {
            (Before::Running, _) => None,
            (Before::Applied(Some((_, views))), Some(earlier)) => {
                Some(made(earlier, views).workloads)
            }
            (Before::Applied(_), _) => Some(Vec::new()),
        };
        (after, before)
    });
    let sides: Vec<(side::Side, Option<Vec<side::Made>>)> = sides.collect();
    let mut rollouts: Vec<ServiceRollout<'a>> = Vec::new();
    let mut tracks: Vec<Track> = Vec::new();
    for ((at, change), (after, before)) in changes.iter().enumerate().zip(sides) {
        let Some(service) = change.service(semantics) else { continue };
        // Of a service in error the operator leaves what is there.
        let (after_made, before) = match (&after.error, before) {
            (Some(_), Some(before)) => (before.clone(), Some(before)),
            (_, before) => (after.workloads, before),
        };
        let own = side::own(&ground.running, service, &after_made, before.as_deref());
        ground.own.extend(own.iter().flat_map(|(_, pods)| pods.iter().copied()));
        tracks.extend(side::tracks(at, after_made, before, &own));
        rollouts.push(ServiceRollout {
            service,
            components: Vec::new(),
            error: after.error,
            diagnostics: after.diagnostics,
        });
    }
    for track in &mut tracks {
        let own = asked
            .troubles
            .iter()
            .find(|(at, kind, _)| (*at, *kind) == (track.service, track.component));
        if let (Some((_, _, trouble)), Some(kind)) = (own, &mut track.after) {
            kind.start((*trouble).into());
        }
    }
    let mut played = play::play(&ground, &tracks, &[]);
    let service = |track: &Track| changes[track.service].service(semantics);
    if !asked.without_edits {
        fix::all(&ground, semantics, &context, &tracks, &mut played, &service);
    }
    for (track, played) in tracks.iter().zip(played) {
        rollouts[track.service].components.push(played);
    }
    Some(rollouts)
}

/// GPUs that all services hold together at most.
pub fn peak_gpus(services: &[ServiceRollout<'_>]) -> i64 {
    let components = || services.iter().flat_map(|own| &own.components);
    let stages = components().map(|own| own.stages.len()).max().unwrap_or(0);
    let held = |at: usize| -> i64 {
        components()
            .filter_map(|own| own.stages.get(at).or(own.stages.last()))
            .map(|own| own.gpus)
            .sum()
    };
    (0..stages).map(held).max().unwrap_or(0)
}

/// A name for a node that no other has.
fn another(machine: &Machine, number: usize) -> EcoString {
    ecow::eco_format!("{}+{number}", machine.name)
}
