//! Renders the objects of each service.
//!
//! Services are rendered in windows, in parallel within a window and in order between windows, so
//! that a window, not the output, bounds memory.

use super::autoscalers::Autoscalers;
use super::built::PodContext;
use super::elsewhere;
use super::plan::Planner;
use super::plan::finding;
use super::planned::{Depth, Planned, PlannedComponent};
use super::refusals::Server;
use crate::api::{Api, Failure, Service, Views};
use crate::catalog::Catalog;
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::operators::BuildContext;
use crate::operators::Selector;
use crate::operators::ome::objects::workload::Workload;
use crate::pods::built::{Built, Unfinished};
use crate::policy::{Policy, ServingFeatures};
use crate::source::Span;
use crate::workspace::World;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Services per thread and window.
pub(crate) const WINDOW: usize = 32;

/// A rendered service.
#[derive(Clone, Debug)]
pub struct Rendered<'a> {
    /// The service.
    pub service: &'a Service,
    /// The decisions about it.
    pub resolution: Resolution<'a>,
    /// Its components, as a plan counts them.
    pub components: Vec<PlannedComponent>,
    /// Its objects, in the order in which the operator writes them; empty if it is in error.
    pub objects: Vec<RenderedObject>,
    /// The error for which there are no objects.
    pub error: Option<Failure>,
    /// The part that the operator writes before it fails, if there is one.
    pub unfinished: Option<Unfinished<'a>>,
    /// Findings, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl Rendered<'_> {
    /// The objects to output; empty if the service is refused.
    pub(crate) fn written(&self) -> &[RenderedObject] {
        if self.refusal().is_some() { &[] } else { &self.objects }
    }

    /// Why none of its objects are output: its error, otherwise its first finding of severity
    /// error. Objects that the API server would reject are still output, so that the server reports
    /// it.
    pub fn refusal(&self) -> Option<Failure> {
        let error = self.error.clone().or_else(|| super::plan::refusal(&self.diagnostics));
        error.map(super::plan::without_secrets)
    }
}

/// What services are decided on.
struct Ground<'a> {
    catalog: &'a Catalog,
    selectors: BTreeMap<Api, Selector<'a>>,
}

impl<'a> Ground<'a> {
    /// `ruled` decides the services of its operator instead of the catalog's policy.
    fn new(catalog: &'a Catalog, ruled: Option<&'static Policy>) -> Self {
        let mut selectors: BTreeMap<Api, Selector<'a>> = crate::operators::deciding()
            .filter_map(|api| Some((api, Selector::new(catalog.policy(api)?, catalog))))
            .collect();
        if let Some(policy) = ruled {
            selectors.insert(policy.api, Selector::new(policy, catalog));
        }
        Self { catalog, selectors }
    }
}

/// Renders services in one mode.
pub struct Renderer<'a> {
    world: &'a World,
    cluster_domain: String,
    workload: (Workload, ServingFeatures),
    ruled: Option<&'static Policy>,
    ground: Ground<'a>,
    /// The views of the world, made when one of their services is asked for.
    views: Vec<OnceLock<Ground<'a>>>,
    /// The view that a service is decided on, by the place of its name: it sees other objects than the
    /// catalog of the input has.
    seen_by: HashMap<Span, usize>,
    server: Server<'a>,
    autoscalers: Autoscalers,
    /// Reads the workloads that an autoscaler of the input may size.
    context: OnceLock<PodContext>,
}

impl<'a> Renderer<'a> {
    /// A renderer for a world.
    pub fn new(world: &'a World, cluster_domain: &str) -> Self {
        Self::ruled(world, cluster_domain, None)
    }

    fn ruled(world: &'a World, cluster_domain: &str, ruled: Option<&'static Policy>) -> Self {
        let catalog = &world.catalog;
        Self {
            world,
            cluster_domain: cluster_domain.to_owned(),
            workload: (Workload::Auto, ServingFeatures::default()),
            ruled,
            ground: Ground::new(catalog, ruled),
            views: world.views.iter().map(|_| OnceLock::new()).collect(),
            seen_by: world.seen_by(),
            server: Server::new(world),
            autoscalers: Autoscalers::of(catalog),
            context: OnceLock::new(),
        }
    }

    /// What a service is decided on: the objects of its own directory come first.
    fn ground(&self, service: &Service) -> &Ground<'a> {
        let Some(at) = self.seen_by.get(&service.object.name_span()) else { return &self.ground };
        let world = self.world;
        self.views[*at].get_or_init(|| Ground::new(&world.views[*at].catalog, self.ruled))
    }

    /// A renderer that decides the services of one operator with `policy` instead of the catalog's
    /// policy.
    pub(crate) fn by_policy(
        world: &'a World,
        cluster_domain: &str,
        policy: &'static Policy,
    ) -> Self {
        Self::ruled(world, cluster_domain, Some(policy))
    }

    /// The world that is rendered.
    pub(crate) fn world(&self) -> &'a World {
        self.world
    }

    /// The same renderer, with another workload kind around the pods.
    #[must_use]
    pub fn with_workload(mut self, workload: Workload, features: ServingFeatures) -> Self {
        self.workload = (workload, features);
        self
    }

    /// Calls `make` for every service or ModelServing, in parallel within a window, and passes the
    /// results to `each` in the given order.
    ///
    /// # Errors
    /// The error of `each`; later windows are not processed.
    pub fn in_windows<S: Sync, T: Send, E>(
        &self,
        services: &[&'a S],
        make: impl Fn(&'a S) -> T + Sync,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        for window in services.chunks(WINDOW * rayon::current_num_threads().max(1)) {
            // The whole window is in memory; the next one begins when this one is written.
            let results: Vec<T> = window.par_iter().map(|service| make(service)).collect();
            results.into_iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    /// A service in the followed mode, and its selector.
    pub(crate) fn selector(&self, views: &'a Views) -> (&Selector<'a>, &'a Service) {
        let service = views.followed();
        (&self.ground(service).selectors[&service.object.api], service)
    }

    /// Renders one service and records overridden values in `record`.
    pub fn render(&self, views: &'a Views, record: &mut Recorder) -> Rendered<'a> {
        self.render_service(views.followed(), record)
    }

    /// Decides a service; cheap if another service of its model was decided before.
    pub(crate) fn decide(&self, service: &'a Service) -> Resolution<'a> {
        self.ground(service).selectors[&service.object.api].resolve(service)
    }

    /// Renders a service that is already read in the followed mode.
    pub(crate) fn render_service(
        &self,
        service: &'a Service,
        record: &mut Recorder,
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
                self.server.accept(service, &written.value, &mut rendered.diagnostics);
                self.scale(&service.namespace, &mut rendered.components, &written.value);
                rendered.objects = written.value;
            }
            Err(mut error) => {
                if self.seen_by.contains_key(&service.object.name_span()) {
                    elsewhere::name(self.world, service, &mut error, &mut []);
                }
                rendered.diagnostics.push(finding(&error, service));
                rendered.error = Some(error);
            }
        }
        rendered
    }

    /// Gives the components of a service what the autoscalers of the input leave its `objects`.
    pub(crate) fn scale(
        &self,
        namespace: &str,
        components: &mut [PlannedComponent],
        objects: &[RenderedObject],
    ) {
        let read = OnceCell::new();
        let workloads = || {
            let context = self.context.get_or_init(|| PodContext::of(&self.world.catalog));
            read.get_or_init(|| context.workloads(objects, &[])).as_slice()
        };
        self.autoscalers.scale(namespace, components, workloads, || objects);
    }

    /// Whether an autoscaler of the input may size a workload of a namespace.
    pub(crate) fn may_scale(&self, namespace: &str) -> bool {
        self.autoscalers.may_scale(namespace)
    }

    /// Plans a service and renders what the plan composed, both on the objects that the service sees;
    /// no objects for a service in error.
    pub(crate) fn with_plan(
        &self,
        planner: &Planner<'a>,
        views: &'a Views,
    ) -> (Planned<'a>, Checked<Vec<RenderedObject>>) {
        let (planned, built) = planner.plan_built(views, Depth::Plan);
        let written = built.and_then(|built| self.write(&built).ok());
        let mut written = written.unwrap_or_else(|| Checked::clean(Vec::new()));
        self.server.accept(views.followed(), &written.value, &mut written.diagnostics);
        (planned, written)
    }

    /// Why a service has no pods of these objects, and what the webhook refuses of its runtime, which is
    /// said as in a plan: it is in error, or the webhook refuses the runtime and no document is followed
    /// instead. Objects are rendered all the same, as the controller writes them where the runtime was
    /// there before its webhook.
    pub(crate) fn refusal(&self, rendered: &Rendered<'_>) -> (Option<Failure>, Vec<Diagnostic>) {
        if let Some(error) = rendered.refusal() {
            return (Some(error), Vec::new());
        }
        let of_runtime = self.ask(rendered.service).refused_runtime(&rendered.resolution);
        (super::plan::refusal_of_runtime(&of_runtime), of_runtime)
    }

    /// The context in which the operator of a service builds it.
    pub(crate) fn ask(&self, service: &Service) -> BuildContext<'a, '_> {
        let ground = self.ground(service);
        BuildContext {
            catalog: ground.catalog,
            policy: ground.selectors[&service.object.api].policy(),
            cluster_domain: &self.cluster_domain,
        }
    }

    /// Whether the operator keeps the replicas of a Deployment that it updates.
    pub(crate) fn keeps_replicas(&self, service: &Service) -> bool {
        let policy = self.ask(service).policy;
        crate::operators::services(service.object.api)
            .is_none_or(|services| services.keeps_replicas(policy))
    }

    /// The objects that the operator writes for a service before it fails; [`Rendered`] does not
    /// include them.
    pub(crate) fn before_failure(&self, unfinished: &Unfinished<'a>) -> Vec<RenderedObject> {
        self.ask(unfinished.built.service).before_failure(unfinished)
    }

    /// The objects of a composed service.
    fn write(&self, composed: &Built<'a>) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        let mut rendered = self.ask(composed.service).objects(composed)?;
        let (workload, features) = self.workload;
        let wrapped = crate::operators::ome::objects::workload::apply(
            composed,
            rendered.value,
            workload,
            features,
        )?;
        rendered.diagnostics.extend(wrapped.diagnostics);
        Ok(Checked { value: wrapped.value, diagnostics: rendered.diagnostics })
    }
}
