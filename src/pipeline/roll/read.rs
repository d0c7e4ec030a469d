//! What changes, as tracks: the workloads of each service before and after, with the pods that run.

use super::changes::ServingChange;
use super::plain;
use super::side;
use super::track::Track;
use super::{Before, Changes, DOMAIN, Ground, RollOptions, ServiceRollout};
use crate::api::{Api, Failure, Views};
use crate::diag::Diagnostic;
use crate::operators::servings;
use crate::pipeline::render::Renderer;
use crate::pipeline::updates;
use crate::workspace::World;
use ecow::EcoString;
use rayon::prelude::*;

/// A rollout for each change, without components, and their tracks; notes the pods that change.
pub(super) fn all<'a>(
    changes: &Changes<'a>,
    options: &RollOptions,
    ground: &mut Ground<'a>,
) -> (Vec<ServiceRollout>, Vec<Track>) {
    let mut read = Read { rollouts: Vec::new(), tracks: Vec::new() };
    read.services(changes, ground);
    read.servings(changes, ground);
    read.workloads(changes, options, ground);
    (read.rollouts, read.tracks)
}

/// Whether a workload without an operator, by index, is simulated: one that does not differ only
/// where it alone is asked about.
pub(super) fn rolls(changes: &Changes<'_>, at: usize, options: &RollOptions) -> bool {
    let first = changes.services.len() + changes.servings.len();
    changes.workloads[at].differs || options.only == Some(first + at)
}

struct Read {
    rollouts: Vec<ServiceRollout>,
    tracks: Vec<Track>,
}

/// A service after its change and its workloads before; `None` where its running pods tell them.
type Sides = (side::Side, Option<Vec<side::RenderedWorkload>>);

impl Read {
    fn services<'a>(&mut self, changes: &Changes<'a>, ground: &mut Ground<'a>) {
        let services = &changes.services;
        let sides = sides(changes, ground);
        for (change, (after, before)) in services.iter().zip(sides) {
            let Some(service) = change.service() else { continue };
            // The operator keeps the existing objects of a service in error.
            let (rendered, before) = match (&after.error, before) {
                (Some(_), Some(before)) => (side::written(&before, after.workloads), Some(before)),
                (Some(_), None) => (Vec::new(), None),
                (None, before) => (after.workloads, before),
            };
            let of = |pods| side::pods_by_workload(pods, service, &rendered, before.as_deref());
            let mut cluster = of(&ground.cluster.running);
            // Pods that wait are part of the state before only where the running pods are that
            // state.
            if before.is_none() {
                let first = ground.first_waiting();
                for ((_, index), (_, waits)) in cluster.iter_mut().zip(of(&ground.waiting.0)) {
                    index.extend(waits.into_iter().map(|at| at + first));
                }
            }
            ground.changing_pods.extend(cluster.iter().flat_map(|(_, pods)| pods.iter().copied()));
            self.tracks.extend(side::tracks(self.rollouts.len(), rendered, before, &cluster));
            self.push(
                service.object.api,
                &service.namespace,
                service.name(),
                after.error,
                after.diagnostics,
            );
        }
    }

    fn servings(&mut self, changes: &Changes<'_>, ground: &mut Ground<'_>) {
        let context = ground.cluster.context.clone();
        for change in &changes.servings {
            let Some(serving) = change.serving() else { continue };
            let catalog = &ground.world.catalog;
            let error = change.after.and_then(|after| catalog.refused(&after.object)).cloned();
            // A server keeps the object that it has, or none, in place of one that it refuses.
            let change = match (&error, change.before) {
                (None, _) => Some(*change),
                (Some(_), Before::Applied(Some(earlier))) => {
                    Some(ServingChange { after: Some(earlier), ..*change })
                }
                (Some(_), Before::Applied(None) | Before::Running) => None,
            };
            let place = self.rollouts.len();
            let track = change.and_then(|change| side::serving(place, &change, ground, &context));
            ground.changing_pods.extend(track.iter().flat_map(|track| track.pods.iter().copied()));
            self.tracks.extend(track);
            self.push(servings::API, &serving.namespace, serving.name(), error, Vec::new());
        }
    }

    /// Workloads that no operator writes.
    fn workloads(&mut self, changes: &Changes<'_>, options: &RollOptions, ground: &mut Ground<'_>) {
        let context = ground.cluster.context.clone();
        let catalog = &ground.world.catalog;
        let catalogs = [changes.before.map_or(catalog, |before| &before.catalog), catalog];
        let readers = catalogs.map(|catalog| plain::Reader::new(catalog, &context));
        for (at, change) in changes.workloads.iter().enumerate() {
            let object = change.after;
            let mut components = Vec::new();
            if rolls(changes, at, options) {
                let mut pods = plain::pods(&ground.cluster.running, object);
                if matches!(change.before, Before::Running) {
                    let first = ground.first_waiting();
                    let waiting = plain::pods(&ground.waiting.0, object);
                    pods.extend(waiting.into_iter().map(|at| at + first));
                }
                match plain::changed(self.rollouts.len(), change, &readers, ground, pods) {
                    plain::Changed::Nothing => {}
                    plain::Changed::Track(track) => {
                        ground.changing_pods.extend(track.pods.iter().copied());
                        self.tracks.push(*track);
                    }
                    plain::Changed::NotSimulated(why) => {
                        components.push(plain::not_judged(object, why));
                    }
                }
            }
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            self.push(Api::Cluster, &namespace, &object.id.name, None, Vec::new());
            if let Some(rollout) = self.rollouts.last_mut() {
                rollout.components = components;
            }
        }
    }

    fn push(
        &mut self,
        api: Api,
        namespace: &EcoString,
        name: &EcoString,
        error: Option<Failure>,
        diagnostics: Vec<Diagnostic>,
    ) {
        self.rollouts.push(ServiceRollout {
            api,
            namespace: namespace.clone(),
            name: name.clone(),
            components: Vec::new(),
            turn: None,
            error,
            diagnostics,
        });
    }
}

/// Both sides of each service. Rendering is most of the work and independent for each service; the
/// order of the results is kept.
fn sides<'a>(changes: &Changes<'a>, ground: &Ground<'a>) -> Vec<Sides> {
    let services = &changes.services;
    let context = &ground.cluster.context;
    let renderer = Renderer::new(ground.world, DOMAIN);
    let earlier: Option<&World> = services.iter().find_map(|change| match change.before {
        Before::Applied(found) => found.map(|(world, _)| world),
        Before::Running => None,
    });
    let earlier = earlier.map(|world| Renderer::new(world, DOMAIN));
    let all = services.par_iter().map(|change| {
        let created = |renderer: &Renderer<'a>, views: &'a Views| {
            side::render(renderer, views.followed(), context)
        };
        let mut after = change.after.map(|views| created(&renderer, views)).unwrap_or_default();
        let before = match (change.before, &earlier) {
            (Before::Running, _) => None,
            (Before::Applied(Some((world, views))), Some(earlier)) => {
                let catalogs = (&world.catalog, &ground.world.catalog);
                let refused = change.after.and_then(|after| {
                    let [before, after] = [views, after].map(Views::followed);
                    updates::refused_service((catalogs.0, before), (catalogs.1, after))
                });
                if refused.is_some() && after.error.is_none() {
                    (after.workloads, after.error) = (Vec::new(), refused);
                }
                Some(created(earlier, views).workloads)
            }
            (Before::Applied(_), _) => Some(Vec::new()),
        };
        (after, before)
    });
    all.collect()
}
