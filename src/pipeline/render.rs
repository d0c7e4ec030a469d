//! The objects each service becomes.
//!
//! Services are rendered in windows: parallel within, in order between, so that memory is bounded
//! by a window and not by the output.

use super::plan::{PlannedComponent, finding, planned_component};
use crate::api::{ObjectRef, Scope, Service};
use crate::catalog::{Catalog, Views};
use crate::compose::{self, history::Record};
use crate::decision::{Resolution, ServiceError};
use crate::diag::Diagnostic;
use crate::policy::{KTHENA_SEED, KthenaPolicy, Policy, Semantics};
use crate::render::workload::Workload;
use crate::render::{self, ModelConfig, RenderedObject};
use crate::resolve::Selector;
use crate::yaml::Node;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Services per thread and window.
pub(super) const WINDOW: usize = 32;

/// What one service became.
#[derive(Clone, Debug)]
pub struct Rendered<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its objects in the order in which the operator writes them; none when it is in error.
    pub objects: Vec<RenderedObject>,
    /// Why there are none.
    pub error: Option<ServiceError>,
    /// What was found on the way, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

/// Renders services under one semantics.
pub struct Renderer<'a> {
    catalog: &'a Catalog,
    semantics: Semantics,
    cluster_domain: String,
    workload: (Workload, &'static KthenaPolicy),
    selectors: BTreeMap<crate::api::Api, Selector<'a>>,
}

impl<'a> Renderer<'a> {
    /// A renderer over a frozen catalog.
    pub fn new(catalog: &'a Catalog, semantics: Semantics, cluster_domain: &str) -> Self {
        let selectors = super::plan::DECIDING
            .into_iter()
            .filter_map(|api| Some((api, Selector::new(Policy::of(api, semantics)?, catalog))))
            .collect();
        Self {
            catalog,
            semantics,
            cluster_domain: cluster_domain.to_owned(),
            workload: (Workload::Auto, &KTHENA_SEED),
            selectors,
        }
    }

    /// The same, with another workload around the pods.
    #[must_use]
    pub fn with_workload(mut self, workload: Workload, kthena: &'static KthenaPolicy) -> Self {
        self.workload = (workload, kthena);
        self
    }

    /// Makes something of every service or ModelServing, in parallel within a window, and hands it
    /// to `each` in the order given.
    ///
    /// # Errors
    /// What `each` answers; nothing is made after that.
    pub fn in_windows<S: Sync, T: Send, E>(
        &self,
        services: &[&'a S],
        make: impl Fn(&'a S) -> T + Sync,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        for window in services.chunks(WINDOW * rayon::current_num_threads().max(1)) {
            let made: Vec<T> = window.par_iter().map(|service| make(service)).collect();
            made.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    pub(super) fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// A service as the semantics in force reads it, and who decides for it.
    pub(super) fn selector(&self, views: &'a Views) -> (&Selector<'a>, &'a Service) {
        let service = views.of(self.semantics);
        (&self.selectors[&service.object.api], service)
    }

    /// Renders one service and tells `record` what was overridden.
    pub fn render(&self, views: &'a Views, record: &mut impl Record) -> Rendered<'a> {
        let service = views.of(self.semantics);
        let resolution = self.decide(service);
        self.render_decided(service, resolution, record)
    }

    /// What is decided for a service; cheap where another service of its model was decided before.
    pub(super) fn decide(&self, service: &'a Service) -> Resolution<'a> {
        self.selectors[&service.object.api].resolve(service)
    }

    /// Renders a service whose decisions are made.
    pub(super) fn render_decided(
        &self,
        service: &'a Service,
        mut resolution: Resolution<'a>,
        record: &mut impl Record,
    ) -> Rendered<'a> {
        let policy = self.selectors[&service.object.api].policy();
        let mut rendered = Rendered {
            service,
            objects: Vec::new(),
            error: resolution.error.take(),
            diagnostics: super::plan::decided(&resolution, service),
        };
        if rendered.error.is_none() {
            match self.objects(policy, service, &resolution, record, &mut rendered.diagnostics) {
                Ok(objects) => rendered.objects = objects,
                Err(error) => rendered.error = Some(error),
            }
        }
        if let Some(error) = &rendered.error {
            rendered.diagnostics.push(finding(error, service));
        }
        rendered
    }

    /// The components of a service whose decisions are made; none when they cannot be merged.
    pub(super) fn components(
        &self,
        service: &'a Service,
        resolution: &Resolution<'a>,
    ) -> Vec<PlannedComponent> {
        let policy = self.selectors[&service.object.api].policy();
        let (options, config) = (self.catalog.accelerator_options(), self.catalog.config());
        let merged = compose::merged(
            policy,
            service,
            resolution.chosen(),
            &resolution.accelerators,
            options,
            config,
            &mut (),
        );
        merged
            .map(|merged| merged.value.components.iter().map(planned_component).collect())
            .unwrap_or_default()
    }

    fn objects(
        &self,
        policy: &'static Policy,
        service: &'a Service,
        resolution: &Resolution<'a>,
        record: &mut impl Record,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Vec<RenderedObject>, ServiceError> {
        let weights = |name: &str| self.catalog.fine_tuned_weight(name);
        let composed = compose::compose(
            policy,
            service,
            resolution,
            self.catalog.accelerator_options(),
            self.catalog.config(),
            &weights,
            record,
        )?;
        diagnostics.extend(composed.diagnostics);
        let config = ModelConfig::look_up(policy, self.catalog, service, resolution.model);
        let settings = render::Settings {
            policy,
            config: self.catalog.config(),
            cluster_domain: &self.cluster_domain,
        };
        let rendered = render::objects(&composed.value, config.as_ref(), settings)?;
        diagnostics.extend(rendered.diagnostics);
        let (workload, kthena) = self.workload;
        let wrapped = render::workload::apply(&composed.value, rendered.value, workload, kthena)?;
        diagnostics.extend(wrapped.diagnostics);
        Ok(wrapped.value)
    }
}

/// Identity of a rendered object.
pub fn identity(object: &Node) -> ObjectRef {
    let text = |keys: &[&str]| object.at(keys).and_then(|node| node.as_str()).unwrap_or_default();
    let namespace = text(&["metadata", "namespace"]);
    ObjectRef {
        kind: text(&["kind"]).into(),
        scope: if namespace.is_empty() {
            Scope::Cluster
        } else {
            Scope::Namespace(namespace.into())
        },
        name: text(&["metadata", "name"]).into(),
    }
}
