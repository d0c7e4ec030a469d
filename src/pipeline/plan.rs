//! What each service becomes.

use crate::api::{Api, ComponentKind, ObjectRef, Service};
use crate::catalog::{Catalog, Views};
use crate::compose;
use crate::decision::{DeploymentMode, Resolution, ServiceError};
use crate::diag::{Code, Diagnostic};
use crate::machines::{self, Fit, Shape};
use crate::policy::{Policy, Semantics};
use crate::resolve::Selector;
use crate::yaml::Node;
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// APIs whose services are decided, in the order of output.
pub(super) const DECIDING: [Api; 2] = [Api::Ome, Api::KServe];

/// How much of a decision is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The outcome.
    Plan,
    /// Every candidate with its comparisons.
    Explain,
}

/// One component of a planned service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedComponent {
    /// Which one.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// What decided about the mode, where several may.
    pub mode_basis: Option<&'static str>,
    /// Fewest replicas.
    pub min_replicas: i64,
    /// Most replicas; `None` when nothing scales it.
    pub max_replicas: Option<i64>,
    /// Pods of one replica: 1, or 1 + workers.
    pub pods_per_replica: i64,
    /// GPUs of one replica.
    pub gpus: i64,
    /// The same by resource name.
    pub gpus_by_resource: BTreeMap<EcoString, i64>,
    /// Whether its pods fit on the nodes; none when no node states what it has.
    pub fit: Option<Fit>,
}

impl PlannedComponent {
    /// Pods at the fewest replicas; the largest number there is when there are more.
    pub fn least_pods(&self) -> i64 {
        self.min_replicas.saturating_mul(self.pods_per_replica)
    }

    /// GPUs at the fewest replicas; the largest number there is when there are more.
    pub fn least_gpus(&self) -> i64 {
        self.min_replicas.saturating_mul(self.gpus)
    }
}

/// What the other semantics decides otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Release that was followed.
    pub release: &'static str,
    /// Its runtime, when another one or none: `Some(None)` means none.
    pub runtime: Option<Option<ObjectRef>>,
    /// What decided there.
    pub decided_by: Option<&'static str>,
    /// Its modes by component, when others.
    pub modes: Option<BTreeMap<&'static str, &'static str>>,
    /// Its error, when only there or another one.
    pub error: Option<(Code, String)>,
}

/// A service with everything decided.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// The service.
    pub service: &'a Service,
    /// The policy that was followed.
    pub policy: &'static Policy,
    /// Its decisions.
    pub resolution: Resolution<'a>,
    /// Its components; of a service in error, as far as the service alone says.
    pub components: Vec<PlannedComponent>,
    /// Why it cannot be deployed.
    pub error: Option<ServiceError>,
    /// What the controller would do otherwise; only under the documents.
    pub controller: Option<Difference>,
    /// What was found while composing, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

/// A question about room, with its answer.
struct Asked {
    main: Shape,
    worker: Option<(Shape, i64)>,
    fewest: i64,
    fit: Option<Fit>,
}

/// Decides services of every API under one semantics.
pub struct Planner<'a> {
    catalog: &'a Catalog,
    semantics: Semantics,
    selectors: BTreeMap<Api, [Selector<'a>; 2]>,
    used: Vec<(EcoString, Shape)>,
    /// Answers for what was asked before: a fleet has few shapes of pods.
    fits: Mutex<Vec<Asked>>,
}

/// Outcome of one semantics.
struct Outcome<'a> {
    resolution: Resolution<'a>,
    components: Vec<PlannedComponent>,
    error: Option<ServiceError>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Planner<'a> {
    /// A planner over a frozen catalog.
    pub fn new(catalog: &'a Catalog, semantics: Semantics) -> Self {
        let selectors = DECIDING
            .into_iter()
            .filter_map(|api| {
                let selector = |semantics| Policy::of(api, semantics).map(|policy| Selector::new(policy, catalog));
                Some((api, [selector(semantics)?, selector(semantics.twin())?]))
            })
            .collect();
        // Pods that already run, by node.
        let running = catalog.others().iter().filter(|object| object.id.kind == "Pod").filter(|pod| {
            let phase = pod.node.at(&["status", "phase"]).and_then(Node::as_str);
            !matches!(phase, Some("Succeeded" | "Failed"))
        });
        let used = running.filter_map(|pod| Some((pod.node.at(&["spec", "nodeName"])?.as_str()?.into(), Shape::of(pod.node.get("spec")?)))).collect();
        Self { catalog, semantics, selectors, used, fits: Mutex::default() }
    }

    /// Decides one service.
    ///
    /// # Panics
    /// Never: services are only read for APIs that have policies.
    pub fn plan(&self, views: &'a Views, depth: Depth) -> Planned<'a> {
        let service = views.of(self.semantics);
        let [selector, twin] = &self.selectors[&service.object.api];
        let outcome = self.outcome(selector, service, depth);
        let mut diagnostics = outcome.diagnostics;
        if let Some(error) = &outcome.error {
            diagnostics.push(finding(error, service));
        }
        let mut planned = Planned {
            service,
            policy: selector.policy(),
            resolution: outcome.resolution,
            components: outcome.components,
            error: outcome.error,
            controller: None,
            diagnostics,
        };
        if planned.error.is_none() && machines::is_known(self.catalog.machines()) {
            self.fit(&mut planned);
        }
        if self.semantics == Semantics::Documented {
            let other = self.outcome(twin, views.of(Semantics::Controller), Depth::Plan);
            planned.controller = difference(&planned, &other, twin.policy());
            if let Some(difference) = &planned.controller {
                planned.diagnostics.push(differs(difference, service));
            }
        }
        planned
    }

    /// Whether the pods of every component fit on the nodes, each component for itself.
    fn fit(&self, planned: &mut Planned<'a>) {
        let weights = |name: &str| self.catalog.fine_tuned_weight(name);
        let composed = compose::compose(
            planned.policy,
            planned.service,
            &planned.resolution,
            self.catalog.accelerator_options(),
            self.catalog.config(),
            &weights,
            &mut (),
        );
        let Ok(composed) = composed else { return };
        for component in &mut planned.components {
            let Some(built) = composed.value.components.iter().find(|built| built.kind == component.kind) else { continue };
            let main = Shape::of(&built.pod);
            let worker = built.worker.as_ref().map(|(pod, count)| (Shape::of(pod), *count));
            // A Ray cluster's workers are like its head.
            let worker = worker.or_else(|| (component.pods_per_replica > 1).then(|| (main.clone(), component.pods_per_replica - 1)));
            component.fit = self.fit_of(main, worker, component.min_replicas);
        }
    }

    /// How often a pod of this shape, with its workers, fits; remembered by what the answer depends on.
    fn fit_of(&self, main: Shape, worker: Option<(Shape, i64)>, fewest: i64) -> Option<Fit> {
        let lock = || self.fits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asked) = lock().iter().find(|asked| asked.fewest == fewest && asked.main == main && asked.worker == worker) {
            return asked.fit.clone();
        }
        let fit = machines::fit(self.catalog.machines(), &self.used, &main, worker.as_ref().map(|(shape, count)| (shape, *count)), fewest);
        lock().push(Asked { main, worker, fewest, fit: fit.clone() });
        fit
    }

    /// Decides services in parallel; the answers come in the order of the services, whatever the thread count.
    pub fn plan_all(&self, services: &[&'a Views], depth: Depth) -> Vec<Planned<'a>> {
        services.par_iter().map(|views| self.plan(views, depth)).collect()
    }

    fn outcome(&self, selector: &Selector<'a>, service: &'a Service, depth: Depth) -> Outcome<'a> {
        let mut resolution = match depth {
            Depth::Plan => selector.resolve(service),
            Depth::Explain => selector.explain(service),
        };
        let mut error = resolution.error.take();
        let mut diagnostics = decided(&resolution, service);
        let mut components = Vec::new();
        if error.is_none() {
            match compose::merged(
                selector.policy(),
                service,
                resolution.chosen(),
                &resolution.accelerators,
                self.catalog.accelerator_options(),
                self.catalog.config(),
                &mut (),
            ) {
                Ok(merged) => {
                    components = merged.value.iter().map(planned_component).collect();
                    // What the operator fails on when it builds the pods is no plan either.
                    let weights = |name: &str| self.catalog.fine_tuned_weight(name);
                    match compose::compose(
                        selector.policy(),
                        service,
                        &resolution,
                        self.catalog.accelerator_options(),
                        self.catalog.config(),
                        &weights,
                        &mut (),
                    ) {
                        Ok(composed) => diagnostics.extend(composed.diagnostics),
                        Err(failed) => {
                            diagnostics.extend(merged.diagnostics);
                            error = Some(failed);
                        }
                    }
                }
                Err(failed) => error = Some(failed),
            }
        } else if let Ok(merged) = compose::merged(selector.policy(), service, None, &[], self.catalog.accelerator_options(), self.catalog.config(), &mut ()) {
            // What the service alone says of its components stands, whatever failed.
            components = merged.value.iter().map(planned_component).collect();
        }
        Outcome { resolution, components, error, diagnostics }
    }
}

fn planned_component(component: &compose::MergedComponent<'_>) -> PlannedComponent {
    PlannedComponent {
        kind: component.kind,
        mode: component.mode,
        mode_basis: component.mode_basis,
        min_replicas: component.min_replicas(),
        max_replicas: component.max_replicas(),
        pods_per_replica: component.pods_per_replica(),
        gpus: component.gpus(),
        gpus_by_resource: component.gpus_by_resource(),
        fit: None,
    }
}

/// What the choice of accelerators found.
pub(super) fn decided(resolution: &Resolution<'_>, service: &Service) -> Vec<Diagnostic> {
    let found = resolution.accelerators.iter().flat_map(|decision| decision.findings.iter().cloned());
    // What has a place of its own belongs to the service; what has none is said once for all of them.
    found.map(|diagnostic| if diagnostic.span().is_some() { diagnostic.object(service.object.id.to_string()) } else { diagnostic }).collect()
}

/// The finding of a service's error.
pub(super) fn finding(error: &ServiceError, service: &Service) -> Diagnostic {
    Diagnostic::new(error.code, error.message.clone())
        .severity(crate::diag::Severity::Error)
        .at(error.span.or_else(|| Some(service.object.name_span())))
        .object(service.object.id.to_string())
        .maybe_help(error.help.clone())
}

fn difference(planned: &Planned<'_>, other: &Outcome<'_>, policy: &Policy) -> Option<Difference> {
    let modes = |components: &[PlannedComponent]| -> BTreeMap<&'static str, &'static str> {
        components.iter().map(|component| (component.kind.as_str(), component.mode.as_str())).collect()
    };
    let (here, there) = (planned.resolution.chosen().map(|runtime| &runtime.object.id), other.resolution.chosen().map(|runtime| &runtime.object.id));
    let runtime = (here != there).then(|| there.cloned());
    let (here, there) = (planned.error.as_ref().map(|error| error.code), other.error.as_ref());
    let error = there.filter(|error| here != Some(error.code)).map(|error| (error.code, error.message.clone()));
    let modes = match (planned.error.is_none() && other.error.is_none(), modes(&planned.components), modes(&other.components)) {
        (true, here, there) if here != there => Some(there),
        _ => None,
    };
    let healed = planned.error.is_some() && other.error.is_none();
    (runtime.is_some() || error.is_some() || modes.is_some() || healed).then(|| Difference {
        release: policy.release,
        runtime,
        decided_by: other.resolution.runtime.decided_by.map(crate::decision::DecidedBy::as_str),
        modes,
        error,
    })
}

fn differs(difference: &Difference, service: &Service) -> Diagnostic {
    Diagnostic::new(Code::ControllerDiffers, difference.to_string())
        .at(service.object.name_span())
        .object(service.object.id.to_string())
        .help("run with `--semantics controller` to see its decision")
}

impl std::fmt::Display for Difference {
    /// One line: "controller v0.1.5 would choose X: tie broken by name".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "controller {} would ", self.release)?;
        match (&self.error, &self.runtime, &self.modes) {
            (Some((code, message)), _, _) => write!(f, "fail: {} ({message})", code.as_str()),
            (None, Some(Some(runtime)), _) => {
                write!(f, "choose {}", runtime.name)?;
                match self.decided_by {
                    Some("only-candidate") => f.write_str(": no other fits there"),
                    Some("name") => f.write_str(": tie broken by name"),
                    Some(key) => write!(f, ": decided by {key}"),
                    None => Ok(()),
                }
            }
            (None, Some(None), _) => f.write_str("choose no runtime"),
            (None, None, Some(modes)) => {
                let modes: Vec<String> = modes.iter().map(|(component, mode)| format!("{component} as {mode}")).collect();
                write!(f, "deploy {}", modes.join(", "))
            }
            (None, None, None) => f.write_str("find nothing wrong"),
        }
    }
}
