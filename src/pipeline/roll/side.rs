//! The workloads of a service on one side of a change, and their running pods.

use super::Ground;
use super::changes::{Before, ServingChange};
use super::serving::ServingKind;
use super::track::{Begins, Kind, Part, Track};
use crate::api::{ComponentKind, Failure, ModelServing, Service};
use crate::diag::Diagnostic;
use crate::merge::history::Recorder;
use crate::operators::servings;
use crate::operators::servings::objects::MOST_PODS;
use crate::pipeline::built::{PodContext, Workload, WorkloadKind, refused};
use crate::pipeline::planned::PlannedComponent;
use crate::pipeline::render::Renderer;
use crate::pipeline::running::{Owner, RunningPods};
use crate::quantity::IntOrPercent;
use crate::rollout::{DeploymentSpec, Revision, Start, Strategy, revision_name};
use crate::yaml::Node;
use ecow::EcoString;

/// A workload with its size and its rendered pod specs.
#[derive(Clone, Debug)]
pub(super) struct RenderedWorkload {
    pub(super) component: ComponentKind,
    pub(super) name: EcoString,
    pub(super) kind: Kind,
    /// Pod specs as rendered: the main one, then that of workers.
    pub(super) specs: Vec<Node>,
    /// maxReplicas, if an autoscaler sizes the workload.
    pub(super) most: Option<i64>,
    /// An update sets the number of replicas to 1 until the autoscaler acts.
    pub(super) resets: bool,
}

/// A rendered service.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Its workloads; for a service in error, those that the operator writes before it fails.
    pub(super) workloads: Vec<RenderedWorkload>,
    pub(super) error: Option<Failure>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Renders a service.
pub(super) fn render<'a>(
    renderer: &Renderer<'a>,
    service: &'a Service,
    context: &PodContext,
) -> Side {
    let rendered = renderer.render_service(service, &mut Recorder::off());
    let (error, of_runtime) = renderer.refusal(&rendered);
    let before = rendered.unfinished.as_ref().map(|unfinished| renderer.before_failure(unfinished));
    let objects = match (&before, &error) {
        (Some(before), _) => &before[..],
        (None, Some(_)) => &[],
        (None, None) => &rendered.objects[..],
    };
    let found = context.workloads(objects, &[]);
    let mut components = rendered.components.clone();
    if before.is_some() {
        // Of a service that fails, only what is written before is scaled.
        renderer.scale(&service.namespace, &mut components, objects);
    }
    let most = |kind: ComponentKind| {
        let component = components.iter().find(|component| component.kind == kind);
        component.and_then(PlannedComponent::most_replicas)
    };
    let replicas = |kind: ComponentKind| {
        let component = components.iter().find(|component| component.kind == kind);
        component.and_then(|component| component.settled_replicas.number()).unwrap_or(1)
    };
    let specs = |workload: &Workload| {
        let object = objects.iter().find(|object| {
            object.component == Some(workload.component)
                && object.node.at(&["metadata", "name"]).and_then(Node::as_str)
                    == Some(&workload.name)
                && matches!(
                    object.node.get("kind").and_then(Node::as_str),
                    Some("Deployment" | "LeaderWorkerSet" | "RayCluster")
                )
                || object.component == Some(workload.component) && is_knative(&object.node)
        });
        let paths: [&[&str]; 4] = [
            &["spec", "template", "spec"],
            &["spec", "leaderWorkerTemplate", "leaderTemplate", "spec"],
            &["spec", "leaderWorkerTemplate", "workerTemplate", "spec"],
            &["spec", "headGroupSpec", "template", "spec"],
        ];
        let found = paths.iter().filter_map(|path| object?.node.at(path).cloned());
        found.collect::<Vec<Node>>()
    };
    let keeps_replicas = renderer.keeps_replicas(service);
    let created = |workload: Workload| {
        let scaled = matches!(&workload.kind, Ok(WorkloadKind::Deployment { sized: false, .. }));
        let kind = match workload.kind.clone() {
            Err(why) => Kind::Refused(why),
            Ok(WorkloadKind::Deployment { mut spec, sized }) => {
                // Nothing in the object sets the number: it is the autoscaler's, or the API
                // server's 1.
                if !sized {
                    spec.replicas = match workload.component {
                        // Each watches one replica of another component.
                        ComponentKind::Prober => 1,
                        component => replicas(component),
                    };
                }
                Kind::Deployment(spec)
            }
            Ok(WorkloadKind::Groups(spec)) => Kind::Groups(spec),
            Ok(WorkloadKind::Ray { .. }) => Kind::Ray,
            Ok(WorkloadKind::Knative(pod)) => {
                // The hash of the template stands for the name of the revision, which Knative
                // derives from a generation.
                let name = specs(&workload).first().map(revision_name).unwrap_or_default();
                Kind::Knative(DeploymentSpec {
                    replicas: replicas(workload.component),
                    strategy: Strategy::RollingUpdate {
                        surge: IntOrPercent::Percent(100),
                        unavailable: IntOrPercent::Int(0),
                    },
                    paused: false,
                    revision: Revision { name, pod, start: Start::Ready },
                })
            }
        };
        let most = most(workload.component).filter(|_| scaled);
        RenderedWorkload {
            specs: specs(&workload),
            component: workload.component,
            name: workload.name,
            kind: kind.limited(),
            most,
            resets: most.is_some() && !keeps_replicas,
        }
    };
    let workloads = found.into_iter().map(created).collect();
    let mut diagnostics = rendered.diagnostics;
    diagnostics.extend(of_runtime);
    Side { workloads, error, diagnostics }
}

fn is_knative(object: &Node) -> bool {
    let version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    version.starts_with("serving.knative.dev/")
}

/// Indices of the running pods of each workload of a service: the workloads of `after`, then those
/// that only `before` has.
pub(super) fn pods_by_workload(
    running: &RunningPods<'_>,
    service: &Service,
    after: &[RenderedWorkload],
    before: Option<&[RenderedWorkload]>,
) -> Vec<(EcoString, Vec<usize>)> {
    let owner: Owner = (service.object.api, service.namespace.clone(), service.name().clone());
    let mut workloads: Vec<&RenderedWorkload> = after.iter().collect();
    for workload in before.into_iter().flatten() {
        if workloads.iter().all(|rendered_workload| rendered_workload.name != workload.name) {
            workloads.push(workload);
        }
    }
    let pods = running.of(&owner, workloads.iter().map(|workload| &workload.name));
    let mut found: Vec<(EcoString, Vec<usize>)> =
        workloads.iter().map(|workload| (workload.name.clone(), Vec::new())).collect();
    for at in pods {
        let pod = &running.all[at];
        let named = pod.workload();
        let place = workloads.iter().position(|workload| named.as_ref() == Some(&workload.name));
        // A Deployment of an earlier name may have left pods: their component tells whose they
        // are.
        let place = place.or_else(|| {
            let component = pod.component();
            workloads.iter().position(|workload| {
                component.is_none_or(|component| component == workload.component.as_str())
            })
        });
        if let Some(place) = place {
            found[place].1.push(at);
        }
    }
    found
}

impl RenderedWorkload {
    /// An autoscaler keeps the running pods, within its limits.
    fn keep(&mut self, running: usize) {
        if let (Kind::Deployment(spec), Some(most), 1..) = (&mut self.kind, self.most, running) {
            let running = i64::try_from(running).unwrap_or(i64::MAX);
            spec.replicas = running.min(most).max(spec.replicas);
        }
    }
}

/// The tracks of a service. `before` holds the workloads that were applied before; with `None`, the
/// running pods are the state before the change. `sets` holds the running pods by workload.
pub(super) fn tracks(
    service: usize,
    after: Vec<RenderedWorkload>,
    before: Option<Vec<RenderedWorkload>>,
    sets: &[(EcoString, Vec<usize>)],
) -> Vec<Track> {
    let mut before = before;
    let mut tracks = Vec::new();
    let pods = |name: &EcoString| {
        let found = sets.iter().find(|(other, _)| other == name);
        found.map(|(_, pods)| pods.clone()).unwrap_or_default()
    };
    for mut workload in after {
        let pods = pods(&workload.name);
        workload.keep(pods.len());
        let old = before.as_mut().and_then(|list| {
            let at = list
                .iter()
                .position(|old| old.name == workload.name && old.kind.is_like(&workload.kind));
            // What is left over in the list at the end is deleted by the change.
            at.map(|at| list.remove(at))
        });
        let begins = match (old, &before) {
            (Some(mut old), _) => {
                old.keep(pods.len());
                Begins::With(old.kind)
            }
            (None, Some(_)) => Begins::Nothing,
            (None, None) if pods.is_empty() => Begins::Nothing,
            (None, None) => Begins::Running,
        };
        tracks.push(Track {
            service,
            part: Part::Component(workload.component),
            name: workload.name,
            begins,
            after: Some(workload.kind),
            then: None,
            scaled: workload.most.is_some(),
            resets: workload.resets,
            settled: None,
            waited: None,
            arrives: None,
            specs: workload.specs,
            pods,
            current: None,
        });
    }
    // Workloads that are only in `before` are deleted.
    for old in before.into_iter().flatten() {
        tracks.push(Track {
            service,
            part: Part::Component(old.component),
            pods: pods(&old.name),
            name: old.name,
            begins: Begins::With(old.kind),
            after: None,
            then: None,
            scaled: false,
            resets: false,
            settled: None,
            waited: None,
            arrives: None,
            specs: old.specs,
            current: None,
        });
    }
    tracks
}

/// The workloads of a service in error: those that the operator writes before it fails, and the
/// others as before the change.
pub(super) fn written(
    before: &[RenderedWorkload],
    written: Vec<RenderedWorkload>,
) -> Vec<RenderedWorkload> {
    let mut all = before.to_vec();
    for workload in written {
        match all.iter_mut().find(|old| old.name == workload.name) {
            Some(old) => *old = workload,
            None => all.push(workload),
        }
    }
    all
}

/// The track of a ModelServing; `None` if its numbers cannot be simulated, which reading reports.
pub(super) fn serving(
    place: usize,
    change: &ServingChange<'_>,
    ground: &Ground<'_>,
    context: &PodContext,
) -> Option<Track> {
    let serving = change.serving()?;
    let [before, after] = ground.serving_rules;
    let kind = |serving: &ModelServing, policy| match ServingKind::new(serving, policy, context) {
        Ok(kind) => Kind::Serving(Box::new(kind)),
        Err(invalid) => Kind::Refused(refused(&invalid)),
    };
    let is_small = |serving: &&ModelServing| serving.counted && serving.extent() <= MOST_PODS;
    let earlier = match change.before {
        Before::Applied(before) => before,
        Before::Running => None,
    };
    if !change.after.iter().chain(&earlier).all(is_small) {
        return None;
    }
    let owner: Owner = (servings::API, serving.namespace.clone(), serving.name().clone());
    let pods = ground.cluster.running.of(&owner, [serving.name()]);
    let begins = match change.before {
        Before::Applied(Some(earlier)) => Begins::With(kind(earlier, before)),
        Before::Running if !pods.is_empty() => Begins::Running,
        Before::Applied(None) | Before::Running => Begins::Nothing,
    };
    Some(Track {
        service: place,
        part: Part::Groups,
        name: serving.name().clone(),
        begins,
        after: change.after.map(|serving| kind(serving, after)),
        then: None,
        scaled: false,
        resets: false,
        settled: None,
        waited: None,
        arrives: None,
        specs: Vec::new(),
        pods,
        current: None,
    })
}

/// A track with its workload replaced by the one of its name in `workloads`.
pub(super) fn with(track: &Track, workloads: Vec<RenderedWorkload>) -> Option<Track> {
    let mut workload = workloads.into_iter().find(|workload| workload.name == track.name)?;
    workload.keep(track.pods.len());
    // The simulated problems of new pods stay the same.
    if let Some(start) = track.after.as_ref().and_then(Kind::starts) {
        workload.kind.start(start);
    }
    let (after, specs) = (Some(workload.kind), workload.specs);
    let (scaled, resets) = (workload.most.is_some(), workload.resets);
    Some(Track { after, specs, scaled, resets, arrives: None, ..track.clone() })
}
