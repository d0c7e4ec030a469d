//! The objects each service becomes.
//!
//! Services are rendered in windows: parallel within, in order between, so that memory is bounded
//! by a window and not by the output.

use super::plan::Planner;
use super::plan::finding;
use super::planned::{Depth, Planned, PlannedComponent};
use crate::api::{Failure, Follow, Service, Views};
use crate::catalog::Catalog;
use crate::decision::Resolution;
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::merge::history::Record;
use crate::objects::RenderedObject;
use crate::operators::Ask;
use crate::operators::Selector;
use crate::operators::kthena::releases::KTHENA_SEED;
use crate::operators::ome::objects::workload::Workload;
use crate::pods::built::{Built, Unfinished};
use crate::policy::{KthenaPolicy, Policy};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Services per thread and window.
pub(crate) const WINDOW: usize = 32;

/// What one service became.
#[derive(Clone, Debug)]
pub struct Rendered<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its components, as a plan counts them.
    pub components: Vec<PlannedComponent>,
    /// Its objects in the order in which the operator writes them; none when it is in error.
    pub objects: Vec<RenderedObject>,
    /// Why there are none.
    pub error: Option<Failure>,
    /// How far the operator got before the error, where it writes something before.
    pub unfinished: Option<Unfinished<'a>>,
    /// What was found on the way, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl Rendered<'_> {
    /// Why nothing of it is written: its error, else the first finding of error level. What a server
    /// refuses is written all the same, for the server to say so.
    pub fn refusal(&self) -> Option<Failure> {
        self.error.clone().or_else(|| {
            let found = self.diagnostics.iter().find(|found| {
                found.severity == Severity::Error && found.code != Code::ServerRefuses
            })?;
            Some(Failure {
                code: found.code,
                message: found.message.clone(),
                help: found.help.clone(),
                span: found.span(),
            })
        })
    }
}

/// Renders services under one semantics.
pub struct Renderer<'a> {
    catalog: &'a Catalog,
    semantics: Follow,
    cluster_domain: String,
    workload: (Workload, &'static KthenaPolicy),
    selectors: BTreeMap<crate::api::Api, Selector<'a>>,
}

impl<'a> Renderer<'a> {
    /// A renderer over a frozen catalog.
    pub fn new(catalog: &'a Catalog, semantics: impl Into<Follow>, cluster_domain: &str) -> Self {
        let semantics = semantics.into();
        let selectors = super::plan::DECIDING
            .into_iter()
            .filter_map(|api| Some((api, Selector::new(catalog.policy(api, semantics)?, catalog))))
            .collect();
        Self {
            catalog,
            semantics,
            cluster_domain: cluster_domain.to_owned(),
            workload: (Workload::Auto, &KTHENA_SEED),
            selectors,
        }
    }

    /// A renderer that decides for services of one operator by another policy than the catalog's.
    pub(crate) fn by_policy(
        catalog: &'a Catalog,
        semantics: Follow,
        cluster_domain: &str,
        policy: &'static Policy,
    ) -> Self {
        let mut renderer = Self::new(catalog, semantics, cluster_domain);
        renderer.selectors.insert(policy.api, Selector::new(policy, catalog));
        renderer
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

    /// A service as the semantics in force reads it, and who decides for it.
    pub(crate) fn selector(&self, views: &'a Views) -> (&Selector<'a>, &'a Service) {
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
    pub(crate) fn decide(&self, service: &'a Service) -> Resolution<'a> {
        self.selectors[&service.object.api].resolve(service)
    }

    /// Renders a service whose decisions are made.
    pub(crate) fn render_decided(
        &self,
        service: &'a Service,
        mut resolution: Resolution<'a>,
        record: &mut impl Record,
    ) -> Rendered<'a> {
        let mut diagnostics = super::plan::decided(&resolution, service);
        let built = self.ask(service).build(service, &mut resolution, record);
        diagnostics.extend(built.diagnostics);
        let written = match (built.error, &built.built) {
            (Some(error), _) => Err(error),
            (None, Some(composed)) => self.write(composed),
            (None, None) => Ok(Checked::clean(Vec::new())),
        };
        let mut rendered = Rendered {
            service,
            components: built.outlines.into_iter().map(PlannedComponent::from).collect(),
            objects: Vec::new(),
            error: None,
            unfinished: built.unfinished,
            diagnostics,
        };
        match written {
            Ok(written) => {
                rendered.objects = written.value;
                rendered.diagnostics.extend(written.diagnostics);
            }
            Err(error) => {
                rendered.diagnostics.push(finding(&error, service));
                rendered.error = Some(error);
            }
        }
        rendered
    }

    /// Plans a service and renders what was built for that; nothing of one in error.
    pub(crate) fn with_plan(
        &self,
        planner: &Planner<'a>,
        views: &'a Views,
    ) -> (Planned<'a>, Checked<Vec<RenderedObject>>) {
        let (planned, built) = planner.plan_built(views, Depth::Plan);
        let written = built.and_then(|built| self.write(&built).ok());
        (planned, written.unwrap_or_else(|| Checked::clean(Vec::new())))
    }

    /// What the operator of a service is asked with.
    pub(crate) fn ask(&self, service: &Service) -> Ask<'a, '_> {
        Ask {
            catalog: self.catalog,
            policy: self.selectors[&service.object.api].policy(),
            cluster_domain: &self.cluster_domain,
        }
    }

    /// The objects that the operator writes of a service before it fails; [`Rendered`] leaves them
    /// out.
    pub(crate) fn before_failure(&self, unfinished: &Unfinished<'a>) -> Vec<RenderedObject> {
        self.ask(unfinished.built.service).before_failure(unfinished)
    }

    /// The objects of a composed service.
    fn write(&self, composed: &Built<'a>) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        let mut rendered = self.ask(composed.service).objects(composed)?;
        let (workload, kthena) = self.workload;
        let wrapped = crate::operators::ome::objects::workload::apply(
            composed,
            rendered.value,
            workload,
            kthena,
        )?;
        rendered.diagnostics.extend(wrapped.diagnostics);
        Ok(Checked { value: wrapped.value, diagnostics: rendered.diagnostics })
    }
}
