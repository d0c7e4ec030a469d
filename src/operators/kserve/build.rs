//! Builds a KServe service up to its first failure.
//!
//! In: the decisions for a service. Out: its components with their pods, or the earliest failure
//! and the outlines that are known without pods. The objects themselves are rendered elsewhere.

use super::compose::{BuiltComponent, components};
use super::objects;
use super::openshift::profile::is_unread;
use super::rules::Rules as _;
use crate::api::{ComponentKind, DeploymentMode, Service};
use crate::decision::Resolution;
use crate::diag::Checked;
use crate::merge::history::Recorder;
use crate::objects::Settings;
use crate::pods::built::{Built, Component, Outcome, Outline, count_of_pods};
use crate::quantity::Range;
use crate::yaml::Node;

/// Builds a service up to its first failure. A failed decision counts as the first failure.
pub(crate) fn build<'a>(
    settings: Settings<'_>,
    service: &'a Service,
    resolution: &Resolution<'a>,
    rec: &mut Recorder,
) -> Outcome<'a> {
    let Settings { policy, config, .. } = settings;
    let open = policy.kserve().open_shift && is_unread(service, &config.kserve);
    if let Some(error) = resolution.error.as_deref().cloned() {
        // The replicas are known without a runtime, and an overview counts them.
        let alone = components(policy, service, None, &config.kserve, &mut Recorder::off());
        return Outcome {
            outlines: alone.map(|checked| outlines(&checked.value, open)).unwrap_or_default(),
            error: Some(error),
            ..Outcome::default()
        };
    }
    let runtime = resolution.chosen();
    let Checked { value: components, diagnostics } =
        match components(policy, service, runtime, &config.kserve, rec) {
            Ok(checked) => checked,
            Err(error) => return Outcome { error: Some(error), ..Outcome::default() },
        };
    let outlines = outlines(&components, open);
    // Outlines keep the stopped ones, which count with zero replicas.
    let running = components.into_iter().filter(|component| !component.stopped);
    let components = running.map(|component| component.component).collect();
    let built = Built { service, model: resolution.model, runtime, components };
    // Last: the controller reconciles routes after the workloads.
    let error = objects::reachable(&built, settings).err();
    Outcome {
        outlines,
        built: error.is_none().then_some(built),
        error,
        unfinished: None,
        diagnostics,
    }
}

fn outlines(components: &[BuiltComponent], open: bool) -> Vec<Outline> {
    components.iter().map(|component| outline(component, open)).collect()
}

/// The class of the autoscaler that the annotation of a component names.
fn class(component: &Component) -> Option<&str> {
    component.annotations.get("serving.kserve.io/autoscalerClass").and_then(Node::as_str)
}

/// Replicas of a component that nothing has scaled yet: the Deployment of an external autoscaler has
/// no number, which is 1, and no HPA has a minimum of 0
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go, createHPA).
fn settled(component: &Component, least: Option<i64>) -> Option<i64> {
    if component.mode != DeploymentMode::RawDeployment {
        return least;
    }
    match class(component) {
        Some("external") => Some(1),
        Some("keda" | "none") => least,
        _ => least.map(|least| least.max(1)),
    }
}

/// The mode, replicas, pods and accelerators of a component. Without maxReplicas, the maximum is
/// minReplicas, except in Serverless mode (hpa_reconciler.go); the same where no autoscaler is. A hardware profile that was not read
/// leaves open which accelerators a predictor without any has.
fn outline(component: &BuiltComponent, open: bool) -> Outline {
    let BuiltComponent { component, basis, stopped } = component;
    let open = open && component.kind == ComponentKind::Predictor;
    if *stopped {
        return Outline {
            kind: component.kind,
            mode: component.mode,
            mode_basis: Some(basis),
            min_replicas: Some(0),
            settled_replicas: Some(0),
            max_replicas: Some(0),
            pods_per_replica: component.pods_per_replica(),
            accelerators: component.accelerators(),
            shared: None,
        };
    }
    let least = count_of_pods(component.spec.get("minReplicas"), 1);
    // Zero means no maximum, in Knative and for the autoscaler alike.
    let most = component.spec.get("maxReplicas").and_then(Node::as_int).filter(|most| *most != 0);
    let follows = component.mode != DeploymentMode::Serverless;
    // Without an autoscaler the Deployment has minReplicas, which nothing changes
    // (pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go,
    // createRawDefaultDeployment).
    let is_fixed =
        component.mode == DeploymentMode::RawDeployment && class(component) == Some("none");
    Outline {
        kind: component.kind,
        mode: component.mode,
        mode_basis: Some(basis),
        min_replicas: least,
        settled_replicas: settled(component, least),
        max_replicas: if is_fixed {
            least
        } else {
            most.or_else(|| least.filter(|_| follows).map(|least| least.max(1)))
                .and_then(|most| Range::COUNT.count(most))
        },
        pods_per_replica: component.pods_per_replica(),
        // Those that the pods request are certain even if a profile is open.
        accelerators: component
            .accelerators()
            .filter(|accelerator| !open || !accelerator.is_empty()),
        // The Deployment of the workers has their number, and no autoscaler (createRawWorkerDeployment).
        shared: component.shared_workers(),
    }
}
