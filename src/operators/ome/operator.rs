//! OME as an operator: its names, and its operations on services.

use super::accelerators::memo::Memo;
use super::objects::model_config::ModelConfig;
use super::rules::Rules as _;
use super::{admission, build, checks, objects, read, releases, select, upgrade};
use crate::api::{
    Api, ComponentKind, Failure, Model, Object, OperatorConfig, Runtime, Semantics, Service,
};
use crate::catalog::Catalog;
use crate::check::Check;
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::operator::{Context, Operator, Resolver, Services};
use crate::pods::built::{Built, Component, Outcome, Unfinished};
use crate::policy::Policy;
use crate::policy::upgrade::Upgrade;
use crate::select::{Request, Search};
use crate::yaml::FieldPath;
use ecow::EcoString;

/// The operator.
pub(crate) struct Ome;

impl Operator for Ome {
    fn api(&self) -> Api {
        Api::Ome
    }

    fn group(&self) -> &'static str {
        read::GROUP
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["InferenceService"]
    }

    fn image(&self) -> &'static str {
        "ome-manager"
    }

    fn owner_label(&self) -> &'static str {
        "ome.io/inferenceservice"
    }

    fn entrance(&self) -> &'static [&'static str] {
        &["router", "engine"]
    }

    fn documented(&self) -> &'static Policy {
        &releases::DOCUMENTED
    }

    fn releases(&self) -> &'static [&'static Policy] {
        &releases::RELEASES
    }

    fn checks(&self) -> &'static [Check] {
        checks::CHECKS
    }

    fn services(&self) -> Option<&'static dyn Services> {
        Some(&Self)
    }
}

impl Services for Ome {
    fn upgrade(&self) -> &'static Upgrade {
        &upgrade::UPGRADE
    }

    fn read_runtime(
        &self,
        object: Object,
        semantics: Semantics,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Runtime {
        read::runtime(object, semantics, diagnostics)
    }

    fn read(&self, object: Object, policy: &Policy, diagnostics: &mut Vec<Diagnostic>) -> Service {
        read::service(object, policy, diagnostics)
    }

    fn refuse(&self, _: &Policy, service: &Service, _: &OperatorConfig) -> Option<Failure> {
        admission::refusal(service)
    }

    fn runtime_field(&self, _: &Service) -> Option<&'static str> {
        Some("spec.runtime.name")
    }

    fn class_fields(&self, object: &Object, component: ComponentKind) -> Vec<FieldPath> {
        super::edits::class_fields(object, component)
    }

    fn ship(&self, policy: &Policy, config: &mut OperatorConfig) {
        // The settings of KServe are in the same value and stay.
        let kserve = std::mem::take(&mut config.kserve);
        *config = OperatorConfig { kserve, ..policy.ome().config() };
    }

    fn resolver<'a>(
        &self,
        policy: &'static Policy,
        catalog: &'a Catalog,
    ) -> Box<dyn Resolver<'a> + 'a> {
        Box::new(Decisions { catalog, accelerators: Memo::new(policy, catalog) })
    }

    fn request<'a>(
        &self,
        policy: &Policy,
        service: &'a Service,
        model: &'a Model,
        protocol: &EcoString,
    ) -> Request<'a> {
        select::request(policy, service, model, protocol)
    }

    fn build<'a>(
        &self,
        context: &Context<'a, '_>,
        service: &'a Service,
        resolution: &Resolution<'a>,
        history: &mut Recorder,
    ) -> Outcome<'a> {
        let (catalog, settings) = (context.catalog, context.settings());
        build::build(catalog, settings, service, resolution, history)
    }

    fn objects(
        &self,
        context: &Context<'_, '_>,
        built: &Built<'_>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        let config =
            ModelConfig::look_up(context.policy, context.catalog, built.service, built.model);
        objects::objects(built, config.as_ref(), context.settings())
    }

    fn before_failure(
        &self,
        context: &Context<'_, '_>,
        unfinished: &Unfinished<'_>,
    ) -> Vec<RenderedObject> {
        let built = &unfinished.built;
        let config =
            ModelConfig::look_up(context.policy, context.catalog, built.service, built.model);
        objects::before_failure(unfinished, config.as_ref(), context.settings())
    }

    fn keeps_replicas(&self, policy: &Policy) -> bool {
        policy.ome().keeps_replicas
    }

    fn refused_runtime(
        &self,
        policy: &Policy,
        runtime: &Runtime,
        _config: &OperatorConfig,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        checks::service::webhook_of_runtime(policy, runtime, &mut found);
        found
    }

    fn remarks(
        &self,
        context: &Context<'_, '_>,
        service: &Service,
        components: &[Component],
    ) -> Option<Diagnostic> {
        let machines = context.catalog.machines();
        checks::router::cpu_nodes(context.policy, service, components, machines)
    }
}

/// The services of a catalog, with the facts of its classes and remembered choices.
struct Decisions<'a> {
    catalog: &'a Catalog,
    accelerators: Memo<'a>,
}

impl<'a> Resolver<'a> for Decisions<'a> {
    fn resolve(&self, search: &Search<'a, '_>, service: &Service) -> Resolution<'a> {
        let Self { catalog, accelerators } = self;
        select::resolve(&select::Scene { catalog, search: *search, accelerators }, service)
    }

    fn forget(&self) {
        self.accelerators.clear();
    }
}
