//! Components after all merges, before objects are rendered (OEP-0003, Notes/Constraints/Caveats;
//! docs/decisions.md#argument-order).

use super::render::Renderer;
use crate::api::{ComponentKind, DeploymentMode, Service, Views};
use crate::diag::Diagnostic;
use crate::merge::history::Recorder;
use crate::pods::built::Component;
use crate::yaml::Node;

/// One component after all merges.
#[derive(Clone, Debug)]
pub struct MergedPart {
    /// The component.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The main pod's spec.
    pub pod: Node,
    /// The pod spec of the workers, and the number of workers per replica.
    pub worker: Option<(Node, i64)>,
}

/// The merged components of a service, with its findings.
#[derive(Clone, Debug)]
pub struct MergedService<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its components; `None` if the service is in error.
    pub parts: Option<Vec<MergedPart>>,
    /// Findings, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Renderer<'a> {
    /// Merges one service without rendering objects.
    pub fn merged(&self, views: &'a Views) -> MergedService<'a> {
        let (selector, service) = self.selector(views);
        let resolution = selector.resolve(service);
        let mut diagnostics = super::plan::decided(&resolution, service);
        let built = self.ask(service).build(service, &resolution, &mut Recorder::off());
        diagnostics.extend(built.diagnostics);
        diagnostics.extend(built.error.map(|error| super::plan::finding(&error, service)));
        let parts = built.built.map(|built| {
            let part = |component: Component| MergedPart {
                kind: component.kind,
                mode: component.mode,
                pod: component.pod,
                worker: component.worker,
            };
            built.components.into_iter().map(part).collect()
        });
        MergedService { service, parts, diagnostics }
    }
}
