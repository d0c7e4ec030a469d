//! A service built as far as its operator gets with it: the one way that `plan`, `explain`,
//! `render` and `diff` go, so that they agree on what fails and on what is counted.

use super::plan::PlannedComponent;
use crate::api::{Failure, Service};
use crate::catalog::Catalog;
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Record;
use crate::objects as render;
use crate::operators::ome::compose;
use crate::operators::ome::compose::{Composed, ComposedComponent, MergedComponent};
use crate::policy::{LayerRule, Policy};

/// What became of a service before its objects are written.
pub(crate) struct Built<'a> {
    /// Its components as they are built; where building fails, as they are merged; where nothing
    /// is decided, as far as the service alone says.
    pub(crate) components: Vec<PlannedComponent>,
    /// The components with their pods, where nothing failed.
    pub(crate) composed: Option<Composed<'a>>,
    /// The earliest failure.
    pub(crate) error: Option<Failure>,
    /// What was found on the way, the error not included.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What building needs beside the decisions.
#[derive(Clone, Copy)]
pub(crate) struct Builder<'a, 'f> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) policy: &'static Policy,
    pub(crate) cluster_domain: &'f str,
}

impl<'a> Builder<'a, '_> {
    /// The operator's settings, and what a run knows beside the services.
    pub(crate) fn settings(&self) -> render::Settings<'_> {
        render::Settings {
            policy: self.policy,
            config: self.catalog.config(),
            cluster_domain: self.cluster_domain,
        }
    }

    /// Builds a service, up to its first failure. The error of the decisions is taken out of them.
    pub(crate) fn build<R: Record>(
        &self,
        service: &'a Service,
        resolution: &mut Resolution<'a>,
        rec: &mut R,
    ) -> Built<'a> {
        let mut built = Built {
            components: Vec::new(),
            composed: None,
            error: resolution.error.take(),
            diagnostics: Vec::new(),
        };
        // Settings that the operator does not start with come first.
        if let Err(error) = render::settings(service, self.settings()) {
            built.error = Some(error);
        } else if built.error.is_some() && self.policy.layers == LayerRule::Typed {
            // The controller merges before it looks for accelerators.
            if let Some(runtime) = resolution.chosen()
                && let Err(error) = self.merged(service, Some(runtime), &[], &mut ())
            {
                built.error = Some(error);
            }
        }
        if built.error.is_some() {
            let alone = self.merged(service, None, &[], &mut ());
            built.components = alone.map(|merged| planned(&merged)).unwrap_or_default();
            return built;
        }
        let accelerators = &resolution.accelerators;
        let merged = match self.merged(service, resolution.chosen(), accelerators, rec) {
            Ok(merged) => merged,
            Err(error) => return Built { error: Some(error), ..built },
        };
        built.components = planned(&merged);
        let found = merged.diagnostics.clone();
        let weights = |name: &str| self.catalog.fine_tuned_weight(name);
        let writable =
            |component: &ComposedComponent| render::writable(service, component, self.settings());
        let context = compose::Context {
            options: self.catalog.accelerator_options(),
            config: self.catalog.config(),
            weights: &weights,
            writable: &writable,
        };
        let composed = compose::assemble(self.policy, service, resolution, merged, &context, rec);
        let composed = composed.and_then(|composed| {
            render::reachable(&composed.value, self.settings()).map(|()| composed)
        });
        match composed {
            Ok(composed) => {
                built.diagnostics = composed.diagnostics;
                for (planned, pods) in built.components.iter_mut().zip(&composed.value.components) {
                    planned.pods_per_replica = pods.pods_per_replica().into();
                    planned.gpus_by_resource = pods.accelerators();
                }
                built.composed = Some(composed.value);
            }
            Err(error) => {
                built.diagnostics = found;
                built.error = Some(error);
            }
        }
        built
    }

    fn merged<R: Record>(
        &self,
        service: &'a Service,
        runtime: Option<&'a crate::api::Runtime>,
        accelerators: &[crate::decision::AcceleratorDecision<'a>],
        rec: &mut R,
    ) -> Result<Checked<compose::Merged<'a>>, Failure> {
        compose::merged(
            self.policy,
            service,
            runtime,
            accelerators,
            self.catalog.accelerator_options(),
            self.catalog.config(),
            rec,
        )
    }
}

fn planned(merged: &Checked<compose::Merged<'_>>) -> Vec<PlannedComponent> {
    merged.value.components.iter().map(planned_component).collect()
}

/// What a plan says of a merged component whose pods are not built.
fn planned_component(component: &MergedComponent<'_>) -> PlannedComponent {
    PlannedComponent {
        kind: component.kind,
        mode: component.mode,
        mode_basis: component.mode_basis,
        min_replicas: component.min_replicas().into(),
        max_replicas: component.max_replicas(),
        pods_per_replica: component.pods_per_replica().into(),
        gpus_by_resource: component.gpus(),
        fit: None,
        placement: None,
        question: None,
        queue: None,
        cache: None,
    }
}
