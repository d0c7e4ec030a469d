//! Builds pods and metadata of every component from a resolution.

use super::component::{Merged, MergedComponent};
use super::container::{self, Steps};
use super::fine_tuned::FineTuned;
use super::metadata::{self, Sources};
use super::{Context, accelerator, mode};
use crate::api::{ComponentKind, DeploymentMode, Failure, Model, Service};
use crate::decision::Resolution;
use crate::diag::{Checked, Code, Diagnostic};
use crate::merge::edit::{self, list_mut, map_mut, mapping, text};
use crate::merge::history::Recorder;
use crate::operators::ome::rules::{ClassRule, MainContainerRule, Rules as _};
use crate::pods::built::{Built, Component, Stopped, Unfinished};
use crate::pods::container::{lost_variable, push};
use crate::pods::lint::{self, Place};
use crate::pods::quantities;
use crate::pods::rules::{
    IMPLIED_CONTAINER, MODEL_READY, ROUTER_ACCOUNT, ROUTER_CONFIG, RUNNER_NAME,
};
use crate::pods::variables::{self, PodRole};
use crate::policy::{FaultRule, MergeRule, Policy, TemplateRule};
use crate::quantity::hash::model_ready_label;
use crate::yaml::{Entry, Map, Node, Origin, Places, Value};
use ecow::{EcoString, eco_format};

/// Keys of a component, leader or worker that are not pod fields.
const COMPONENT_FIELDS: [&str; 22] = [
    "runner",
    "leader",
    "worker",
    "size",
    "config",
    "minReplicas",
    "maxReplicas",
    "scaleTarget",
    "scaleMetric",
    "containerConcurrency",
    "timeoutSeconds",
    "canaryTrafficPercent",
    "labels",
    "annotations",
    "minAvailable",
    "maxUnavailable",
    "deploymentStrategy",
    "kedaConfig",
    "acceleratorOverride",
    "acceleratorConfigurations",
    "acceleratorSelector",
    "resources",
];

/// More node selector terms than this give a finding (OEP-0003, Notes/Constraints/Caveats;
/// docs/decisions.md#affinity).
const MOST_TERMS: usize = 32;

/// Merges and assembles every component of a service.
///
/// A finding of level error means that the API server rejects the composed pods (documented mode).
///
/// # Errors
/// The error of the resolution, or the operator's error.
#[cfg(test)]
pub(crate) fn compose<'a>(
    policy: &Policy,
    service: &'a Service,
    resolution: &Resolution<'a>,
    context: &Context<'a, '_>,
    rec: &mut Recorder,
) -> Result<Checked<Built<'a>>, Failure> {
    if let Some(error) = resolution.error.as_deref() {
        return Err(error.clone());
    }
    let merged = super::merged(
        policy,
        service,
        resolution.chosen(),
        &resolution.accelerators,
        &crate::policy::AcceleratorOptions::default(),
        context.config,
        rec,
    )?;
    assemble(policy, service, resolution, merged, context, rec).map_err(|stop| stop.failure)
}

/// Why not all components of a service could be built.
pub struct Stop<'a> {
    /// The failure.
    pub failure: Failure,
    /// The components built before the failure; none if the operator fails before the first one.
    pub unfinished: Option<Unfinished<'a>>,
}

impl From<Failure> for Stop<'_> {
    fn from(failure: Failure) -> Self {
        Self { failure, unfinished: None }
    }
}

/// The pods of merged components, with the findings of merging and their own.
///
/// A service that is a `VirtualDeployment` as a whole has no components.
///
/// # Errors
/// The earliest failure of the operator.
pub fn assemble<'a>(
    policy: &Policy,
    service: &'a Service,
    resolution: &Resolution<'a>,
    merged: Checked<Merged<'_>>,
    context: &Context<'a, '_>,
    rec: &mut Recorder,
) -> Result<Checked<Built<'a>>, Box<Stop<'a>>> {
    let (model, runtime) = (resolution.model, resolution.chosen());
    let Checked { value: Merged { components: merged }, diagnostics: mut findings } = merged;
    let mut components = Vec::with_capacity(merged.len());
    // Upstream returns before it builds any component.
    if mode::of_service(service, context.config) == Some(DeploymentMode::VirtualDeployment) {
        return Ok(Checked {
            value: Built { service, model, runtime, components },
            diagnostics: findings,
        });
    }
    let fine_tuned = FineTuned::of(service, context.weights).map_err(Stop::from)?;
    let service_annotations = metadata::of_service(policy, service, context.config);
    // One for all components: Go changes the runtime's slice for those that come after, too.
    let overrides = accelerator::ChangedOverrides::default();
    for component in merged {
        let fine_tuned = fine_tuned.as_ref().filter(|_| component.kind != ComponentKind::Router);
        let sources = Sources { policy, service, model, runtime, fine_tuned };
        let annotations = metadata::annotations(&sources, &service_annotations, &component, rec);
        let labels = metadata::labels(&sources, &component, rec);
        let place = Place { service, runtime, kind: component.kind };
        let builder = Builder {
            policy,
            place,
            sources: &sources,
            overrides: &overrides,
            annotations: &annotations,
            service_annotations: &service_annotations,
            component: &component,
        };
        let pods = builder.pods(&mut rec.at(component.kind.as_str()), &mut findings);
        let (((pod, main), worker), failure) = match pods {
            Ok(pods) => (pods, None),
            // The failed component is kept without a pod: its metadata belongs to what exists
            // before the failure.
            Err(failure) => (((Node::map(component.spec.origin), 0), None), Some(failure)),
        };
        let worker_main = worker.as_ref().map_or(0, |((_, main), _)| *main);
        let MergedComponent { kind, name, mode, spec, .. } = component;
        let component = Component {
            kind,
            name,
            mode,
            spec,
            labels,
            annotations,
            pod,
            worker: worker.map(|((pod, _), count)| (pod, count)),
            worker_metadata: None,
            main,
            worker_main,
        };
        let stopped = match failure {
            Some(failure) => Err((failure, Stopped::Pods(component))),
            // Objects are written component by component, so a refused one stops those after it.
            None => match (context.writable)(&component) {
                Ok(()) => Ok(component),
                Err(failure) => Err((failure, Stopped::Objects(component))),
            },
        };
        match stopped {
            Ok(component) => components.push(component),
            Err((failure, stopped)) => {
                let built = Built { service, model, runtime, components };
                let unfinished = Some(Unfinished { built, stopped: Some(stopped) });
                return Err(Box::new(Stop { failure, unfinished }));
            }
        }
    }
    Ok(Checked { value: Built { service, model, runtime, components }, diagnostics: findings })
}

/// Builds the pods of one component.
struct Builder<'a> {
    policy: &'a Policy,
    place: Place<'a>,
    sources: &'a Sources<'a>,
    overrides: &'a accelerator::ChangedOverrides,
    annotations: &'a Map,
    service_annotations: &'a Map,
    component: &'a MergedComponent<'a>,
}

/// A pod and the index of its main container.
type Pod = (Node, usize);
/// The main pod and, in a component with workers, the workers' pod with their number.
type Pods = (Pod, Option<(Pod, i64)>);

impl Builder<'_> {
    fn pods(&self, rec: &mut Recorder, findings: &mut Vec<Diagnostic>) -> Result<Pods, Failure> {
        let pod = match self.component.leader_part() {
            Some(leader) => self.pod(leader, PodRole::Main, &mut rec.at("leader"), findings)?,
            None => self.pod(&self.component.spec, PodRole::Main, rec, findings)?,
        };
        // Upstream builds the worker in every mode, so that its errors stop the service even if the
        // worker is not used.
        let worker = self.component.worker_part();
        let worker = worker
            .map(|part| self.pod(part, PodRole::Worker, &mut rec.at("worker"), findings))
            .transpose()?;
        let used =
            matches!(self.component.mode, DeploymentMode::MultiNode | DeploymentMode::OmeNative);
        Ok((pod, worker.filter(|_| used).map(|pod| (pod, self.component.written_workers()))))
    }

    /// Builds a pod, in the order of steps of
    /// pkg/controller/v1beta1/inferenceservice/controller.go.
    fn pod(
        &self,
        part: &Node,
        role: PodRole,
        rec: &mut Recorder,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Pod, Failure> {
        let mut pod = part.clone();
        if let Some(map) = pod.as_map_mut() {
            // Leader and worker are pods with a few fields of a component, which are no fields of a
            // pod.
            map.retain(|entry| !COMPONENT_FIELDS.contains(&entry.key.as_str()));
        }
        let accelerator = self.component.accelerator.as_ref();
        let steps = Steps {
            policy: self.policy,
            accelerator,
            overrides: self.overrides,
            model: self.sources.model,
            fine_tuned: self.sources.fine_tuned,
            annotations: self.annotations,
            service: self.place.service.name(),
            pods: self.pods_of_parallelism(),
        };
        let main = self.main_container(&mut pod, part, role, &steps, rec)?;
        // After the container is complete: variables may stand in what the steps before have added.
        self.expand(&mut pod, main, role, rec, findings)?;
        steps.volumes(&mut pod);
        // Routers run no model, so neither its label nor the class restricts their nodes.
        if self.component.kind == ComponentKind::Router {
            run_as_account(&mut pod, self.place.service.name(), rec);
        } else if !self.sources.fine_tuned.is_some_and(|weight| weight.merged) {
            let written = self.place.service.component(self.component.kind);
            let class = accelerator.and_then(|accelerator| match self.policy.ome().class {
                ClassRule::Overwrite => accelerator.class.discovery.node_selector.clone(),
                ClassRule::Layer => accelerator.own_selector(),
            });
            let layers = if self.policy.ome().layered_selector {
                [
                    self.sources.runtime.and_then(|runtime| runtime.object.spec("nodeSelector")),
                    class.as_ref(),
                    self.place.service.accelerators.selector.node_selector.as_ref(),
                    written.and_then(|component| component.get("nodeSelector")),
                ]
            } else {
                [None; 4]
            };
            apply(self.policy, &mut pod, self.sources.model, layers, rec);
        }
        if let Some(accelerator) = accelerator {
            match self.policy.ome().class {
                ClassRule::Overwrite => accelerator::replace_affinity(
                    accelerator,
                    &mut pod,
                    self.place.service.component(self.component.kind),
                    rec,
                ),
                ClassRule::Layer => {
                    let terms = accelerator::join_affinity(accelerator, &mut pod, rec);
                    if terms > MOST_TERMS {
                        findings.push(
                            Diagnostic::new(
                                Code::TooManyAffinityTerms,
                                format!(
                                    "the {} has {terms} node selector terms",
                                    self.component.kind.as_str()
                                ),
                            )
                            .at(self.place.service.object.name_span())
                            .object(self.place.service.object.id.to_string())
                            .help("write fewer terms: those of class and service multiply"),
                        );
                    }
                }
            }
        }
        // The controller prints quantities as Go does; documents are compared by canonical amounts.
        if self.policy.ome().merge == MergeRule::Written {
            quantities::canonical(&mut pod);
        }
        // Volumes that a webhook adds later count as present.
        if self.policy.ome().pod_faults == FaultRule::Stop {
            let injected = lint::injected_volumes(|key| metadata::value(self.annotations, key));
            lint::pod(
                &pod,
                None,
                injected,
                &format!("spec.{}", self.component.kind.as_str()),
                findings,
            );
        }
        Ok((pod, main))
    }

    /// Pods that PARALLELISM_SIZE counts: the main pod and its workers. In a decoder without leader
    /// and runner, only the workers count
    /// (pkg/controller/v1beta1/inferenceservice/components/engine.go,
    /// setParallelismEnvVarForEngine).
    fn pods_of_parallelism(&self) -> i64 {
        let spec = &self.component.spec;
        let workers = spec.at(&["worker", "size"]).and_then(Node::as_int).unwrap_or(0);
        let leads = self.component.kind == ComponentKind::Engine
            || spec.get("leader").is_some()
            || spec.get("runner").is_some();
        workers.saturating_add(i64::from(leads))
    }

    /// Finds or creates the container that runs the model, and completes it for its kind of
    /// component.
    fn main_container(
        &self,
        pod: &mut Node,
        part: &Node,
        role: PodRole,
        steps: &Steps<'_>,
        rec: &mut Recorder,
    ) -> Result<usize, Failure> {
        if let Some(runner) = part.get("runner").filter(|runner| runner.as_map().is_some()) {
            let mut runner = runner.clone();
            if self.policy.ome().main_container == MainContainerRule::RunnerOrFirst
                && edit::text(&runner, "name").is_empty()
            {
                name_container(&mut runner, Origin::Default(&RUNNER_NAME));
            }
            let lacks = |accelerator: &&accelerator::Accelerator<'_>| accelerator.lacks_config();
            if self.policy.ome().missing_config_crashes
                && let Some(accelerator) = steps.accelerator.filter(lacks)
            {
                return Err(Failure::with_help(
                    self.place.service,
                    Code::WouldPanic,
                    format!(
                        "the controller would crash: the runtime's `acceleratorConfig` has no entry for {}, the class of the {}",
                        accelerator.class.name(),
                        self.component.kind.as_str()
                    ),
                    "add an entry for the class",
                ));
            }
            self.change(&mut runner, steps, &mut rec.at("runner"));
            let joined = container::join(self.policy, pod, &runner, rec);
            return joined.map_err(|message| {
                Failure::of(
                    self.place.service,
                    Code::InvalidInput,
                    format!("{}{message}", role.merge_failed()),
                )
            });
        }
        let listed = pod.get("containers").is_some_and(|list| !list.items().is_empty());
        match (self.policy.ome().main_container, listed) {
            (MainContainerRule::RunnerOnly, true) => Ok(0),
            (MainContainerRule::RunnerOnly, false) => Err(Failure::with_help(
                self.place.service,
                Code::InvalidInput,
                role.no_container(),
                "add a `runner`",
            )),
            (MainContainerRule::RunnerOrFirst, true) => {
                if let Some(first) = edit::list_mut(pod, "containers", part.origin)
                    .and_then(|list| list.make_mut().first_mut())
                {
                    self.change(first, steps, rec);
                }
                Ok(0)
            }
            (MainContainerRule::RunnerOrFirst, false) => {
                let mut implied = Node::map(Origin::Default(&IMPLIED_CONTAINER));
                name_container(&mut implied, Origin::Default(&IMPLIED_CONTAINER));
                self.change(&mut implied, steps, rec);
                crate::pods::container::push(pod, "containers", implied);
                Ok(0)
            }
        }
    }

    /// Completes the container before it is added to its pod.
    fn change(&self, container: &mut Node, steps: &Steps<'_>, rec: &mut Recorder) {
        if self.component.kind == ComponentKind::Router {
            config_as_environment(self.policy, container, self.component.spec.get("config"), rec);
            return;
        }
        // Before the steps: the class's amounts were set first and are kept over the runtime's.
        if self.policy.ome().class == ClassRule::Overwrite
            && !accelerator::states_resources(self.place.service, self.component.kind)
            && let Some(spec) =
                self.sources.runtime.and_then(|runtime| runtime.object.node.get("spec"))
        {
            container::resources_of_runtime(self.policy.ome().class_resources, container, spec);
        }
        steps.run(container, rec);
    }

    fn expand(
        &self,
        pod: &mut Node,
        main: usize,
        role: PodRole,
        rec: &mut Recorder,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Failure> {
        // Placeholders outside of the main container are never replaced: they are reported.
        if self.policy.template == TemplateRule::FieldChains {
            variables::outside(&self.place, pod, main, findings);
        }
        let Some(container) = pod.get("containers").and_then(|list| list.items().get(main)) else {
            return Ok(());
        };
        let expanded = variables::expand(
            self.policy,
            &self.place,
            self.service_annotations,
            role,
            container,
            rec,
            findings,
        )?;
        if let Some(slot) = edit::list_mut(pod, "containers", expanded.origin)
            .and_then(|list| list.make_mut().get_mut(main))
        {
            *slot = expanded;
        }
        Ok(())
    }
}

fn name_container(container: &mut Node, origin: Origin) {
    if let Some(map) = container.as_map_mut() {
        map.insert("name", Node::str("ome-container", origin));
    }
}

// Node selectors of the pods of engine and decoder.

/// Adds the selectors of the model, of the runtime as a whole and of the service's component to
/// those of the pod.
///
/// From low to high: the pod's own (`engineConfig`, leader or worker), the runtime's, an
/// accelerator class's, the service's component
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecNodeSelector; OME
/// docs, Serving Runtime, Engine Configuration; OEP-0003, Override Hierarchy;
/// docs/decisions.md#node-selectors).
pub(crate) fn apply(
    policy: &Policy,
    pod: &mut Node,
    model: Option<&Model>,
    layers: [Option<&Node>; 4],
    rec: &mut Recorder,
) {
    if let Some(model) = model.filter(|_| policy.ome().ready_label) {
        let key = model_ready_label(
            model.object.id.scope.namespace().map(ecow::EcoString::as_str),
            &model.object.id.name,
        );
        let origin = Origin::Derived(&MODEL_READY);
        if let Some(map) = map_mut(pod, "nodeSelector", origin)
            .filter(|map| policy.ome().ready_label_wins || !map.contains_key(&key))
        {
            map.insert(key, Node::str("Ready", origin));
        }
    }
    for layer in layers.into_iter().flatten().filter(|layer| !layer.is_empty()) {
        let Some(map) = map_mut(pod, "nodeSelector", layer.origin) else { return };
        let rec = &mut rec.at("nodeSelector");
        for entry in layer.entries().filter(|entry| !entry.node.is_null()) {
            // The component's own selector is part of the pod's already; an equal value is not an
            // override.
            let same = |loser: &Node| {
                loser.origin.span().is_some() && loser.origin.span() == entry.node.origin.span()
            };
            if let Some(loser) = map.get(&entry.key).filter(|loser| !same(loser)) {
                rec.at(entry.key.as_str()).lost(loser, Some(&entry.node));
            }
            map.insert_entry(entry.clone());
        }
    }
}

// Additions to routers only.

/// Adds the entries of `config` to the environment, sorted by key
/// (pkg/controller/v1beta1/inferenceservice/components/base.go; OME docs, Serving Runtime, Router
/// Configuration).
///
/// In documented mode an entry replaces a variable of its name; the controller adds it a second
/// time.
fn config_as_environment(
    policy: &Policy,
    container: &mut Node,
    config: Option<&Node>,
    rec: &mut Recorder,
) {
    let mut entries: Vec<&Entry> = config
        .map(Node::entries)
        .into_iter()
        .flatten()
        .filter(|entry| !entry.node.is_null())
        .collect();
    // Sorted, because Go's order of iteration over a map differs in each run.
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    let listed = container.get("env").map(Node::items).unwrap_or_default();
    // An index by name, as a long config would be searched once for each entry.
    let mut places = Places::of(listed.iter().map(|one| Some(EcoString::from(text(one, "name")))));
    let mut count = listed.len();
    for entry in entries {
        let origin = Origin::Derived(&ROUTER_CONFIG);
        // Numbers and booleans become text: the values of variables are strings.
        let value = entry.node.scalar_text().map_or_else(
            || entry.node.clone(),
            |text| Node::new(Value::Str(text), entry.node.origin),
        );
        let variable = mapping(
            [("name", Node::str(entry.key.clone(), entry.key_origin)), ("value", value)],
            origin,
        );
        let position =
            places.insert(entry.key.clone(), count).filter(|_| policy.ome().router_config_replaces);
        if let (Some(index), Some(env)) = (position, list_mut(container, "env", origin)) {
            if let Some((loser, winner)) = env[index].get("value").zip(variable.get("value")) {
                lost_variable(&entry.key, loser, winner, rec);
            }
            env.make_mut()[index] = variable;
        } else {
            push(container, "env", variable);
            count += 1;
        }
    }
}

/// The name of a router's service account, role and role binding
/// (pkg/controller/v1beta1/inferenceservice/components/router.go).
fn account_name(service: &str) -> EcoString {
    eco_format!("{service}-router")
}

/// Sets the router's own account in the pod, over any other.
fn run_as_account(pod: &mut Node, service: &str, rec: &mut Recorder) {
    let winner = Node::str(account_name(service), Origin::Derived(&ROUTER_ACCOUNT));
    if let Some(loser) = pod.get("serviceAccountName") {
        rec.at("serviceAccountName").lost(loser, Some(&winner));
    }
    if let Some(map) = pod.as_map_mut() {
        map.insert("serviceAccountName", winner);
    }
}
