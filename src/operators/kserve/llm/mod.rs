//! LLMInferenceService: the second kind of service of KServe, for large language models.
//!
//! In: a service of `serving.kserve.io/v1alpha1` or `v1alpha2`, the LLMInferenceServiceConfigs that
//! it names or that the controller selects, the controller's ConfigMap. Out: its components with
//! their pods, and the objects that the controller writes, each leaf with the file, preset or rule
//! that it comes from. The texts of the shipped configurations are not part of this program: they
//! are read with the input.

mod accounts;
mod around;
mod claims;
mod combine;
mod convert;
mod expand;
mod local_model;
mod lora;
mod merged_check;
mod mount;
mod names_of_plugins;
mod parts;
pub(crate) mod read;
mod route;
mod rules;
mod scaling;
mod scene;
mod scheduler;
mod size;
mod storage;
pub(crate) mod system;
mod tracing;
mod transform;
mod update;
mod validate;
mod workload;

use crate::api::{ComponentKind, DeploymentMode, Failure, Service};
use crate::catalog::Catalog;
use crate::decision::{AppliedConfig, Basis, Protocol, Resolution};
use crate::diag::{Checked, Diagnostic};
use crate::merge::edit::{each_mut, mapping, text};
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::pods::built::{Built, Component, Outcome, Outline, count_of_pods};
use crate::pods::gpus::by_resource;
use crate::policy::Policy;
use crate::yaml::{Map, Node, Origin, Value};
use scene::Scene;
use std::collections::BTreeMap;
use workload::{Part, Workload};

/// The kind of the configurations.
pub(crate) use crate::catalog::LLM_CONFIG as CONFIG;
pub(in crate::operators::kserve) use update::refused as refused_update;

/// The context in which services of this kind are built.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) policy: &'static Policy,
    pub(crate) cluster_domain: &'a str,
}

fn scene<'a>(context: Context<'a>, service: &'a Service) -> Scene<'a> {
    let Context { catalog, policy, cluster_domain } = context;
    Scene { catalog, service, policy, cluster_domain }
}

/// Decides about a service: which configurations apply, and where it is explained what each sets.
/// There is no runtime to select.
pub(crate) fn decide<'a>(
    context: Context<'_>,
    service: &Service,
    is_explained: bool,
) -> Resolution<'a> {
    let protocol = Protocol { name: "openAI".into(), default: true };
    if let Some(refusal) = service.refused() {
        return Resolution::failed(None, Basis::None, protocol, refusal);
    }
    let scene = scene(context, service);
    // An error is reported by `build`: here it leaves nothing to explain.
    let applied = combine::applied(&scene, &mut scene.stored_spec()).unwrap_or_default();
    let configs = applied.into_iter().map(|applied| AppliedConfig {
        name: applied.name,
        preset: applied.preset.is_some(),
        selected_by: applied.preset.map_or("", combine::selects),
        sets: applied
            .found
            .filter(|_| is_explained)
            .map(combine::fields_of)
            .unwrap_or_default()
            .into(),
        found: applied.found.map(|object| {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            (namespace, object.name_span())
        }),
    });
    Resolution { configs: configs.collect(), ..Resolution::unchosen(protocol) }
}

/// Builds a service up to its first failure.
pub(crate) fn build<'s>(
    context: Context<'_>,
    service: &'s Service,
    rec: &mut Recorder,
) -> Outcome<'s> {
    let scene = scene(context, service);
    let node = scene.stored_spec();
    if let Some(refusal) = service.refused() {
        return Outcome { outlines: outlines(&node), error: Some(refusal), ..Outcome::default() };
    }
    let mut diagnostics = Vec::new();
    // A stopped service is not merged, so that its errors are not reported.
    if scene.stopped() {
        let built = Built { service, model: None, runtime: None, components: Vec::new() };
        return Outcome { built: Some(built), ..Outcome::default() };
    }
    let (combined, incomplete) = match combine::combine(&scene, rec) {
        Ok(combined) => (Ok(combined.spec), false),
        // What a shipped configuration would add is unknown, but none adds devices or replicas.
        Err(error) if combine::lacks_preset(&scene) => {
            diagnostics.push(combine::presets_not_read(&scene, &error));
            (Ok(topology(&scene)), true)
        }
        Err(error) => (Err(error), false),
    };
    // Without presets the pods have gaps, and findings about them would be wrong.
    let mut quiet = Vec::new();
    let built = combined.and_then(|spec| {
        let findings = if incomplete { &mut quiet } else { &mut diagnostics };
        Ok((components(&scene, &spec, findings)?, spec))
    });
    match built {
        Ok((components, spec)) => Outcome {
            outlines: outlines_of(&spec, &components),
            built: Some(Built { service, model: None, runtime: None, components }),
            error: None,
            unfinished: None,
            diagnostics,
        },
        Err(error) => Outcome {
            outlines: outlines(&topology(&scene)),
            error: Some(error),
            diagnostics,
            ..Outcome::default()
        },
    }
}

/// The specification with what the service names merged, as far as that is read: enough for
/// topology, replicas and devices, which no shipped configuration sets.
fn topology(scene: &Scene<'_>) -> Node {
    let node = scene.stored_spec();
    let mut probe = node.clone();
    let Ok(applied) = combine::applied(scene, &mut probe) else { return node };
    let named = applied.iter().filter(|applied| applied.preset.is_none());
    let specs = named.filter_map(|applied| applied.found?.node.get("spec"));
    let mut merged: Option<Node> = None;
    for upper in specs.chain([&node]) {
        merged = match merged {
            None => Some(upper.clone()),
            Some(lower) => combine::merged(scene, lower, upper, &mut Recorder::off()).ok(),
        };
    }
    let mut merged = merged.unwrap_or(node);
    // A managed scheduler has the pod of a shipped configuration, and else none of its own.
    if let Some(scheduler) = scene::at_mut(&mut merged, &["router", "scheduler"])
        && scheduler.get("template").is_none()
    {
        scene::put(scheduler, "template", Node::map(Origin::Derived(&rules::COMBINED)));
    }
    merged
}

/// Components as a specification alone has them.
fn outlines(spec: &Node) -> Vec<Outline> {
    let empty = Node::map(Origin::Derived(&rules::OBJECT));
    let sides =
        [(ComponentKind::Workload, Some(spec)), (ComponentKind::Prefill, spec.get("prefill"))];
    let sides = sides.into_iter().filter_map(|(kind, workload)| Some((kind, workload?)));
    sides
        .map(|(kind, workload)| {
            let pod = workload.get("template").unwrap_or(&empty).clone();
            let component = component(kind, workload, pod, workload.get("worker").cloned());
            outline(&component, workload)
        })
        .collect()
}

fn component(kind: ComponentKind, workload: &Node, pod: Node, worker: Option<Node>) -> Component {
    // The size counts the leader.
    let workers = size::size(workload).unwrap_or(1).max(1) - 1;
    let main = main_of(&pod);
    let worker_main = worker.as_ref().map_or(0, main_of);
    Component {
        kind,
        name: kind.as_str().into(),
        mode: if worker.is_some() {
            DeploymentMode::MultiNode
        } else {
            DeploymentMode::RawDeployment
        },
        spec: workload.clone(),
        labels: Map::new(),
        annotations: Map::new(),
        pod,
        worker: worker.map(|worker| (worker, workers)),
        worker_metadata: None,
        main,
        worker_main,
    }
}

fn main_of(pod: &Node) -> usize {
    crate::api::model_container(pod.items_of("containers"), &[scene::MAIN])
}

/// Replicas and devices of a component.
fn outline(component: &Component, workload: &Node) -> Outline {
    let scaling = workload.get("scaling");
    let least = match scaling {
        Some(scaling) => count_of_pods(scaling.get("minReplicas"), 1),
        None => count_of_pods(workload.get("replicas"), 1),
    };
    let most = scaling.and_then(|scaling| count_of_pods(scaling.get("maxReplicas"), 1));
    Outline {
        kind: component.kind,
        mode: component.mode,
        mode_basis: None,
        min_replicas: least,
        // No autoscaler is taken to have acted: the count is the least one.
        settled_replicas: least,
        max_replicas: most.or(least),
        pods_per_replica: component.pods_per_replica(),
        accelerators: component.accelerators(),
        shared: None,
    }
}

fn outlines_of(spec: &Node, components: &[Component]) -> Vec<Outline> {
    let parts = components.iter().filter_map(|component| {
        let workload = match component.kind {
            ComponentKind::Workload => Some(spec),
            ComponentKind::Prefill => spec.get("prefill"),
            _ => None,
        };
        workload.map(|workload| outline(component, workload))
    });
    parts.chain(scheduler::parts(spec).iter().map(outline_beside)).collect()
}

/// Replicas and devices of the endpoint picker or of the tokenizer.
fn outline_beside(part: &scheduler::Part<'_>) -> Outline {
    let replicas = count_of_pods(part.replicas, 1);
    let accelerators = part.pod.map_or_else(|| Some(BTreeMap::new()), by_resource);
    Outline::of_fixed_count(part.kind, replicas, accelerators)
}

/// The components of a combined service. The specification is kept in the first one.
fn components(
    scene: &Scene<'_>,
    spec: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<Component>, Failure> {
    let adapters = lora::adapters(spec).map_err(|message| scene.failure(message))?;
    let workloads = workload::workloads(scene, spec, &adapters, findings)?;
    Ok(workloads.into_iter().map(|workload| of_workload(spec, workload)).collect())
}

fn of_workload(spec: &Node, source: Workload) -> Component {
    let kind = kind_of(source.part);
    let workload = match source.part {
        Part::Main => Some(spec),
        Part::Prefill => spec.get("prefill"),
    };
    let name = source.node.at(&["metadata", "name"]).and_then(Node::scalar_text);
    let mut component = component(
        kind,
        workload.unwrap_or(spec),
        source.pod,
        source.worker.as_ref().map(|(worker, _)| worker.clone()),
    );
    // The finished worker takes the place of the template's.
    component.worker = source.worker;
    component.name = name.unwrap_or_default();
    component.labels = source.labels;
    component.annotations = source.annotations;
    component
}

/// The whole specification of a service, which its first component keeps; none when it is stopped.
fn specification(built: &Built<'_>) -> Option<Node> {
    let first =
        built.components.iter().find(|component| component.kind == ComponentKind::Workload)?;
    Some(first.spec.clone())
}

/// The workloads of a service, also where shipped configurations were not read.
///
/// # Errors
/// As for [`objects`].
pub(crate) fn workloads(
    context: Context<'_>,
    built: &Built<'_>,
) -> Result<Vec<RenderedObject>, Failure> {
    let scene = scene(context, built.service);
    let Some(spec) = specification(built) else { return Ok(Vec::new()) };
    // `build` has refused adapters that cannot be fetched.
    let adapters = lora::adapters(&spec).unwrap_or_default();
    let found = workload::workloads(&scene, &spec, &adapters, &mut Vec::new())?;
    let of_model = found.into_iter().map(|workload| (kind_of(workload.part), workload.node));
    // Why the controller stops at the scheduler is reported where all objects are written.
    let picker = scheduler::objects(&scene, &spec, &mut Vec::new()).unwrap_or_default();
    let picker = picker.into_iter().filter_map(|node| Some((scheduler::component(&node)?, node)));
    let has_gaps = combine::lacks_preset(&scene);
    let mut objects: Vec<RenderedObject> = of_model
        .chain(picker)
        .map(|(kind, node)| RenderedObject { component: Some(kind), node, wave: 1, has_gaps })
        .collect();
    if has_gaps {
        for object in &mut objects {
            stand_in(&mut object.node);
        }
    }
    Ok(objects)
}

/// Gives pods a container, and containers an image, where a shipped configuration that was not read
/// would: for want of it no server refuses the pods, whose devices and places do not depend on it.
fn stand_in(node: &mut Node) {
    let by = Origin::Derived(&rules::COMBINED);
    let Value::Map(map) = &mut node.value else { return };
    for entry in map.iter_mut() {
        let is_template =
            matches!(entry.key.as_str(), "template" | "leaderTemplate" | "workerTemplate");
        let Some(pod) = scene::at_mut(&mut entry.node, &["spec"]).filter(|_| is_template) else {
            stand_in(&mut entry.node);
            continue;
        };
        if pod.items_of("containers").is_empty() {
            let main = mapping([("name", Node::str(scene::MAIN, by))], by);
            scene::put(pod, "containers", Node::list(vec![main], by));
        }
        each_mut(pod, "containers", |container| {
            if text(container, "image").is_empty() {
                scene::put(container, "image", Node::str("unknown", by));
            }
        });
    }
}

fn kind_of(part: Part) -> ComponentKind {
    match part {
        Part::Main => ComponentKind::Workload,
        Part::Prefill => ComponentKind::Prefill,
    }
}

/// The objects of a service, in the order in which the controller writes them.
///
/// # Errors
/// The controller's, for what comes after the pods: scaling, the scheduler.
pub(crate) fn objects(
    context: Context<'_>,
    built: &Built<'_>,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let scene = scene(context, built.service);
    let mut written = Vec::new();
    let mut diagnostics = Vec::new();
    let Some(spec) = specification(built) else {
        return Ok(Checked { value: written, diagnostics });
    };
    // Objects are written whole or not at all: a preset decides containers, ports and routes.
    if combine::lacks_preset(&scene) {
        return Err(combine::missing_preset(&scene));
    }
    let mut push = |node: Node, component: Option<ComponentKind>, wave: i32| {
        written.push(RenderedObject { node, component, wave, has_gaps: false });
    };
    if let Some(copy) = storage::bundle_copy(&scene) {
        push(copy, None, 0);
    }
    push(around::certificate(&scene), None, 0);
    if let Some(template) = around::devices(&scene) {
        push(template, None, 0);
    }
    let adapters = lora::adapters(&spec).map_err(|message| scene.failure(message))?;
    // Findings of the pods are those of `build`.
    for workload in workload::workloads(&scene, &spec, &adapters, &mut Vec::new())? {
        for before in workload.before {
            push(before, None, 0);
        }
        push(workload.node, Some(kind_of(workload.part)), 1);
    }
    push(around::service(&scene, &spec), None, 1);
    for scaler in scaling::objects(&scene, &spec)? {
        push(scaler, None, 2);
    }
    route::references(&scene, &spec, &mut diagnostics).map_err(|message| scene.failure(message))?;
    for object in scheduler::objects(&scene, &spec, &mut diagnostics)? {
        let component = scheduler::component(&object);
        push(object, component, 1);
    }
    if let Some(route) = route::object_of(&scene, &spec) {
        push(route, None, 3);
    }
    Ok(Checked { value: written, diagnostics })
}
