//! The objects each service becomes.
//!
//! Services are rendered in windows: parallel within, in order between, so that memory is bounded
//! by a window and not by the output.

use super::plan::Planner;
use super::plan::finding;
use super::planned::{Depth, Planned, PlannedComponent};
use crate::api::{Failure, Follow, Service, Views};
use crate::decision::Resolution;
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::merge::history::Record;
use crate::objects::RenderedObject;
use crate::objects::accept::accept_rendered;
use crate::operators::BuildContext;
use crate::operators::Selector;
use crate::operators::kthena::releases::KTHENA_DOCUMENTED;
use crate::operators::ome::objects::workload::Workload;
use crate::pods::built::{Built, Unfinished};
use crate::policy::{KthenaPolicy, Policy};
use crate::workspace::World;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Services per thread and window.
pub(crate) const WINDOW: usize = 32;

/// One rendered service.
#[derive(Clone, Debug)]
pub struct Rendered<'a> {
    /// The service.
    pub service: &'a Service,
    /// What was decided for it.
    pub resolution: Resolution<'a>,
    /// Its components, as a plan counts them.
    pub components: Vec<PlannedComponent>,
    /// Its objects in the order in which the operator writes them; none when it is in error.
    pub objects: Vec<RenderedObject>,
    /// The error.
    pub error: Option<Failure>,
    /// How far the operator got before the error, where it writes something before.
    pub unfinished: Option<Unfinished<'a>>,
    /// What was found on the way, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl Rendered<'_> {
    /// The objects to write: none where a finding refuses the service.
    pub(crate) fn written(&self) -> &[RenderedObject] {
        if self.refusal().is_some() { &[] } else { &self.objects }
    }

    /// Why nothing of it is written: its error, else the first finding of error level. What a
    /// server refuses is written all the same: the server reports it.
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
    world: &'a World,
    semantics: Follow,
    cluster_domain: String,
    workload: (Workload, &'static KthenaPolicy),
    selectors: BTreeMap<crate::api::Api, Selector<'a>>,
}

impl<'a> Renderer<'a> {
    /// A renderer over what was read.
    pub fn new(world: &'a World, semantics: impl Into<Follow>, cluster_domain: &str) -> Self {
        let semantics = semantics.into();
        let catalog = &world.catalog;
        let selectors = crate::operators::deciding()
            .filter_map(|api| Some((api, Selector::new(catalog.policy(api, semantics)?, catalog))))
            .collect();
        Self {
            world,
            semantics,
            cluster_domain: cluster_domain.to_owned(),
            workload: (Workload::Auto, &KTHENA_DOCUMENTED),
            selectors,
        }
    }

    /// A renderer that decides for services of one operator by another policy than the catalog's.
    pub(crate) fn by_policy(
        world: &'a World,
        semantics: Follow,
        cluster_domain: &str,
        policy: &'static Policy,
    ) -> Self {
        let mut renderer = Self::new(world, semantics, cluster_domain);
        renderer.selectors.insert(policy.api, Selector::new(policy, &world.catalog));
        renderer
    }

    /// What was read.
    pub(crate) fn world(&self) -> &'a World {
        self.world
    }

    /// The same, with another workload around the pods.
    #[must_use]
    pub fn with_workload(mut self, workload: Workload, kthena: &'static KthenaPolicy) -> Self {
        self.workload = (workload, kthena);
        self
    }

    /// Applies a function to every service or ModelServing, in parallel within a window, and hands
    /// the result to `each` in the order given.
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

    /// A service as the current mode reads it, and its selector.
    pub(crate) fn selector(&self, views: &'a Views) -> (&Selector<'a>, &'a Service) {
        let service = views.of(self.semantics);
        (&self.selectors[&service.object.api], service)
    }

    /// Renders one service and tells `record` what was overridden.
    pub fn render(&self, views: &'a Views, record: &mut impl Record) -> Rendered<'a> {
        self.render_service(views.of(self.semantics), record)
    }

    /// What is decided for a service; cheap where another service of its model was decided before.
    pub(crate) fn decide(&self, service: &'a Service) -> Resolution<'a> {
        self.selectors[&service.object.api].resolve(service)
    }

    /// The same for a service as the current mode reads it.
    pub(crate) fn render_service(
        &self,
        service: &'a Service,
        record: &mut impl Record,
    ) -> Rendered<'a> {
        let resolution = self.decide(service);
        let mut diagnostics = super::plan::decided(&resolution, service);
        let built = self.ask(service).build(service, &resolution, record);
        diagnostics.extend(built.diagnostics);
        let written = match (built.error, &built.built) {
            (Some(error), _) => Err(error),
            (None, Some(composed)) => self.write(composed),
            (None, None) => Ok(Checked::clean(Vec::new())),
        };
        let mut rendered = Rendered {
            service,
            resolution,
            components: built.outlines.into_iter().map(PlannedComponent::from).collect(),
            objects: Vec::new(),
            error: None,
            unfinished: built.unfinished,
            diagnostics,
        };
        match written {
            Ok(written) => {
                rendered.diagnostics.extend(written.diagnostics);
                self.accept(service, &written.value, &mut rendered.diagnostics);
                rendered.objects = written.value;
            }
            Err(error) => {
                rendered.diagnostics.push(finding(&error, service));
                rendered.error = Some(error);
            }
        }
        rendered
    }

    /// What is wrong with the objects of a service. What was found where it is written is not
    /// repeated again in the words of the object.
    fn accept(
        &self,
        service: &Service,
        objects: &[RenderedObject],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let first = diagnostics.len();
        let followed = self.semantics.of(service.object.api);
        for object in objects {
            accept_rendered(&object.node, followed, &self.world.sources, diagnostics);
        }
        for found in &mut diagnostics[first..] {
            let same = |said: &&Diagnostic| said.code == found.code && said.span() == found.span();
            let said = self.world.diagnostics.iter().find(same);
            if let (Some(said), Some(_)) = (said, found.span()) {
                found.clone_from(said);
            }
        }
    }

    /// Plans a service and renders what was built for that; nothing of one in error.
    pub(crate) fn with_plan(
        &self,
        planner: &Planner<'a>,
        views: &'a Views,
    ) -> (Planned<'a>, Checked<Vec<RenderedObject>>) {
        let (planned, built) = planner.plan_built(views, Depth::Plan);
        let written = built.and_then(|built| self.write(&built).ok());
        let mut written = written.unwrap_or_else(|| Checked::clean(Vec::new()));
        self.accept(views.of(self.semantics), &written.value, &mut written.diagnostics);
        (planned, written)
    }

    /// What the operator of a service is asked with.
    pub(crate) fn ask(&self, service: &Service) -> BuildContext<'a, '_> {
        BuildContext {
            catalog: &self.world.catalog,
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
