//! Components after every merge and before any object (S2-055).

use super::render::Renderer;
use crate::api::{ComponentKind, Service};
use crate::catalog::Views;
use crate::compose;
use crate::decision::{DeploymentMode, ServiceError};
use crate::diag::Diagnostic;
use crate::yaml::Node;

/// One component after every merge.
#[derive(Clone, Debug)]
pub struct MergedPart {
    /// Which one.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The main pod's spec.
    pub pod: Node,
    /// The worker's pod spec, and how many workers a replica has.
    pub worker: Option<(Node, i64)>,
}

/// A service's components, with what was found on the way.
#[derive(Clone, Debug)]
pub struct MergedService<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its components; none when it is in error.
    pub parts: Option<Vec<MergedPart>>,
    /// What was found, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Renderer<'a> {
    /// Merges one service and makes no objects of it.
    pub fn merged(&self, views: &'a Views) -> MergedService<'a> {
        let (selector, service) = self.selector(views);
        let mut resolution = selector.resolve(service);
        let mut diagnostics = super::plan::decided(&resolution, service);
        let done: Result<_, ServiceError> = if let Some(error) = resolution.error.take() {
            Err(error)
        } else {
            let weights = |name: &str| self.catalog().fine_tuned_weight(name);
            let options = self.catalog().accelerator_options();
            compose::compose(
                selector.policy(),
                service,
                &resolution,
                options,
                self.catalog().config(),
                &weights,
                &mut (),
            )
        };
        match done {
            Ok(composed) => {
                diagnostics.extend(composed.diagnostics);
                let parts = composed.value.components.into_iter();
                let parts = parts.map(|component| MergedPart {
                    kind: component.kind,
                    mode: component.mode,
                    pod: component.pod,
                    worker: component.worker,
                });
                MergedService { service, parts: Some(parts.collect()), diagnostics }
            }
            Err(error) => {
                diagnostics.push(super::plan::finding(&error, service));
                MergedService { service, parts: None, diagnostics }
            }
        }
    }
}
