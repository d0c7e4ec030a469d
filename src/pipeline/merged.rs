//! Components after every merge and before any object (OEP-0003, Notes/Constraints/Caveats;
//! docs/decisions.md#argument-order).

use super::render::Renderer;
use crate::api::{ComponentKind, DeploymentMode, Service, Views};
use crate::diag::Diagnostic;
use crate::pods::built::Component;
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

/// A service's components, with their findings.
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
    /// Merges one service without building its objects.
    pub fn merged(&self, views: &'a Views) -> MergedService<'a> {
        let (selector, service) = self.selector(views);
        let resolution = selector.resolve(service);
        let mut diagnostics = super::plan::decided(&resolution, service);
        let built = self.ask(service).build(service, &resolution, &mut ());
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
