//! Builds an OME service as far as its operator gets with it.
//!
//! In: the decisions for a service. Out: its components with their pods, or the earliest failure
//! with what is known without them. Kubernetes objects are not written here.

use super::compose::{self, Merged, Stop};
use super::objects;
use super::objects::kind::autoscaler;
use crate::api::{ComponentKind, DeploymentMode, Failure, Runtime, Semantics, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, Resolution};
use crate::diag::Checked;
use crate::merge::history::Recorder;
use crate::objects::Settings;
use crate::operators::ome::rules::Rules as _;
use crate::pods::built::{Component, Outcome, Outline, Unfinished};
use std::collections::BTreeMap;

/// Builds a service up to its first failure, which may be a failure of the decisions.
pub(crate) fn build<'a>(
    catalog: &'a Catalog,
    settings: Settings<'_>,
    service: &'a Service,
    resolution: &Resolution<'a>,
    rec: &mut Recorder,
) -> Outcome<'a> {
    let maker = Maker { catalog, settings, service };
    let mut outcome = Outcome { error: resolution.error.as_deref().cloned(), ..Outcome::default() };
    // Settings with which the operator does not start are reported first.
    if let Err(error) = objects::settings(service, settings) {
        outcome.error = Some(error);
    } else if outcome.error.is_some() && settings.policy.ome().merges_first {
        // The controller merges the components before it selects accelerators.
        if let Some(runtime) = resolution.chosen()
            && let Err(error) = maker.merged(Some(runtime), &[], &mut Recorder::off())
        {
            outcome.error = Some(error);
        }
    }
    if outcome.error.is_some() {
        // Without a runtime: what the service sets alone is still shown, such as its replicas.
        let alone = maker.merged(None, &[], &mut Recorder::off());
        outcome.outlines = alone.map(|merged| outlines(&merged.value)).unwrap_or_default();
        return outcome;
    }
    let merged = match maker.merged(resolution.chosen(), &resolution.accelerators, rec) {
        Ok(merged) => merged,
        Err(error) => return Outcome { error: Some(error), ..outcome },
    };
    outcome.outlines = outlines(&merged.value);
    // A copy, because assembling takes the findings with it and a failure would lose them.
    let found = merged.diagnostics.clone();
    let weights = |name: &str| catalog.fine_tuned_weight(name);
    let writable = |component: &Component| objects::writable(service, component, settings);
    let context =
        compose::Context { config: settings.config, weights: &weights, writable: &writable };
    let built = compose::assemble(settings.policy, service, resolution, merged, &context, rec)
        .and_then(|built| match objects::reachable(&built.value, settings) {
            Ok(()) => Ok(built),
            Err(failure) => {
                let unfinished = Some(Unfinished { built: built.value, stopped: None });
                Err(Box::new(Stop { failure, unfinished }))
            }
        });
    match built {
        Ok(built) => {
            // The pods know what the merged spec does not: amounts that only the built containers
            // have.
            for (outline, component) in outcome.outlines.iter_mut().zip(&built.value.components) {
                outline.pods_per_replica = component.pods_per_replica();
                outline.accelerators = component.accelerators();
                // The class of the autoscaler is an annotation of the workload.
                if component.mode == DeploymentMode::RawDeployment {
                    outline.settled_replicas =
                        autoscaler::settled(&component.annotations, outline.min_replicas);
                }
            }
            let probers = probers(&outcome.outlines);
            outcome.outlines.extend(probers);
            Outcome { diagnostics: built.diagnostics, built: Some(built.value), ..outcome }
        }
        Err(stop) => {
            let Stop { failure, unfinished } = *stop;
            // The documents do not define what is written for a service that fails.
            let writes = settings.policy.semantics == Semantics::Controller;
            let unfinished = unfinished.filter(|_| writes);
            Outcome { diagnostics: found, error: Some(failure), unfinished, ..outcome }
        }
    }
}

/// The probers: a Deployment of one pod for each RayCluster, and a RayCluster for each replica
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/multinodevllm/multinodeprober_reconciler.go).
fn probers(outlines: &[Outline]) -> Option<Outline> {
    let mut clusters =
        outlines.iter().filter(|outline| outline.mode == DeploymentMode::MultiNodeRayVllm);
    let first = clusters.next()?.settled_replicas;
    let replicas = clusters.fold(first, |sum, outline| sum?.checked_add(outline.settled_replicas?));
    Some(Outline::of_fixed_count(ComponentKind::Prober, replicas, Some(BTreeMap::new())))
}

/// The inputs of merging other than the decisions.
struct Maker<'a, 'f> {
    catalog: &'a Catalog,
    settings: Settings<'f>,
    service: &'a Service,
}

impl<'a> Maker<'a, '_> {
    fn merged(
        &self,
        runtime: Option<&'a Runtime>,
        accelerators: &[AcceleratorDecision<'a>],
        rec: &mut Recorder,
    ) -> Result<Checked<Merged<'a>>, Failure> {
        compose::merged(
            self.settings.policy,
            self.service,
            runtime,
            accelerators,
            self.catalog.accelerator_options(),
            self.settings.config,
            rec,
        )
    }
}

fn outlines(merged: &Merged<'_>) -> Vec<Outline> {
    merged.components.iter().map(compose::MergedComponent::outline).collect()
}
