//! KServe as an operator: its names, and its operations on services.

use super::{
    LLM_KIND, admission, build, checks, is_llm, llm, mode, objects, openshift, read, releases,
    select, upgrade,
};
use crate::api::{
    Api, DeploymentMode, Failure, Model, Object, OperatorConfig, Runtime, Scope, Semantics, Service,
};
use crate::catalog::Catalog;
use crate::check::Check;
use crate::decision::Resolution;
use crate::diag::{Checked, Diagnostic};
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::operator::{Context, Operator, Resolver, Services};
use crate::operators::kserve::rules::Rules as _;
use crate::pods::built::{Built, Outcome};
use crate::policy::Policy;
use crate::policy::upgrade::Upgrade;
use crate::select::{Request, Search};
use crate::yaml::Node;
use ecow::EcoString;

pub(crate) struct KServe;

impl Operator for KServe {
    fn api(&self) -> Api {
        Api::KServe
    }

    fn group(&self) -> &'static str {
        "serving.kserve.io"
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["InferenceService", LLM_KIND]
    }

    fn image(&self) -> &'static str {
        "kserve-controller"
    }

    fn owner_label(&self) -> &'static str {
        "serving.kserve.io/inferenceservice"
    }

    fn entrance(&self) -> &'static [&'static str] {
        &["transformer", "predictor", "kserve-workload-svc"]
    }

    fn documented(&self) -> &'static Policy {
        &releases::DOCUMENTED
    }

    fn releases(&self) -> &'static [&'static Policy] {
        &releases::RELEASES
    }

    fn distributions(&self) -> &'static [&'static Policy] {
        &releases::DISTRIBUTIONS
    }

    fn checks(&self) -> &'static [Check] {
        checks::CHECKS
    }

    fn services(&self) -> Option<&'static dyn Services> {
        Some(&Self)
    }
}

impl Services for KServe {
    fn recognize(
        &self,
        api_version: &str,
        kind: &str,
        object: &Node,
    ) -> Option<(&'static Policy, EcoString)> {
        let seen = openshift::evidence::of(api_version, kind, object)?;
        Some((&releases::OPEN_SHIFT_AI, seen))
    }

    fn ships_runtimes(&self, policy: &Policy) -> bool {
        !policy.kserve().open_shift
    }

    fn ship(&self, policy: &Policy, config: &mut OperatorConfig) {
        if policy.kserve().open_shift {
            config.kserve = openshift::shipped::config();
        }
    }

    fn prepare(&self, policy: &Policy, config: &mut OperatorConfig) {
        if policy.kserve().open_shift {
            openshift::storage::prepare(&mut config.kserve);
        }
    }

    fn admit(
        &self,
        policy: &Policy,
        service: &mut Service,
        config: &OperatorConfig,
    ) -> Result<Vec<Diagnostic>, Failure> {
        if policy.kserve().open_shift {
            openshift::admit(service, &config.kserve)
        } else {
            Ok(Vec::new())
        }
    }

    fn unread(
        &self,
        policy: &Policy,
        service: &Service,
        config: &OperatorConfig,
    ) -> Vec<Diagnostic> {
        if policy.kserve().open_shift {
            openshift::unread(service, &config.kserve)
        } else {
            Vec::new()
        }
    }

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
        if object.id.kind == LLM_KIND {
            return llm::read::service(object, policy, diagnostics);
        }
        read::service(object, policy, diagnostics)
    }

    fn refuse(
        &self,
        policy: &Policy,
        service: &Service,
        config: &OperatorConfig,
    ) -> Option<Failure> {
        if is_llm(service) {
            return llm::read::refusal(service, config);
        }
        admission::refusal(policy, service, &config.kserve)
    }

    fn refuse_update(
        &self,
        policy: &Policy,
        (before, config_before): (&Service, &OperatorConfig),
        (after, _): (&Service, &OperatorConfig),
    ) -> Option<Failure> {
        match (is_llm(before), is_llm(after)) {
            (false, false) => {
                let mode = mode::of_service(policy, before, &config_before.kserve);
                admission::update::service(mode, policy.semantics, after)
            }
            (true, true) => llm::refused_update(before, after),
            // They are objects of two kinds.
            _ => None,
        }
    }

    /// In the previous schema, the key of a framework means a runtime.
    fn runtime_field(&self, service: &Service) -> Option<&'static str> {
        (!service.predictor.migrated).then_some("spec.predictor.model.runtime")
    }

    fn protocol_field(&self, service: &Service) -> Option<&'static str> {
        (!service.predictor.migrated).then_some("spec.predictor.model.protocolVersion")
    }

    fn mode(
        &self,
        policy: &Policy,
        service: &Service,
        config: &OperatorConfig,
    ) -> Option<DeploymentMode> {
        Some(mode::of_service(policy, service, &config.kserve).0)
    }

    fn mode_name(&self, mode: DeploymentMode, semantics: Semantics) -> &'static str {
        mode::name(mode, semantics)
    }

    fn is_read_one_way(&self, service: &Service) -> bool {
        is_llm(service)
    }

    fn resolver<'a>(&self, _: &'static Policy, catalog: &'a Catalog) -> Box<dyn Resolver<'a> + 'a> {
        Box::new(Decisions(catalog))
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
        if is_llm(service) {
            return llm::build(llm_context(context), service, history);
        }
        build::build(context.settings(), service, resolution, history)
    }

    fn admitted(
        &self,
        context: &Context<'_, '_>,
        built: &Built<'_>,
    ) -> Option<Result<Vec<RenderedObject>, Failure>> {
        if is_llm(built.service) {
            return Some(llm::workloads(llm_context(context), built));
        }
        // The scheduler sees pods behind the webhook, with the claims and containers that it adds;
        // where it refuses them, that is what `render --expand` reports.
        let admitted = written(context, built, true).or_else(|_| written(context, built, false));
        Some(admitted.map(|objects| objects.value))
    }

    fn refused_runtime(
        &self,
        policy: &Policy,
        runtime: &Runtime,
        config: &OperatorConfig,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        checks::webhook_of_runtime(policy.semantics, runtime, &config.kserve, &mut found);
        found
    }

    fn goes_on(&self, service: &Service, object: &Node) -> bool {
        is_llm(service) || openshift::metrics::is_of_metrics(object)
    }

    fn objects(
        &self,
        context: &Context<'_, '_>,
        built: &Built<'_>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        if is_llm(built.service) {
            return llm::objects(llm_context(context), built);
        }
        written(context, built, context.catalog.config().kserve.expand)
    }
}

/// The objects of an InferenceService.
fn written(
    context: &Context<'_, '_>,
    built: &Built<'_>,
    is_admitted: bool,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    // In ModelMesh mode nothing selects the runtime here; what a service names is known.
    let service = built.service;
    let runtimes = context.catalog.runtimes(Api::KServe);
    let named = || {
        let named = service.runtime.as_ref()?;
        let scope = Scope::Namespace(service.namespace.clone());
        runtimes.get(&scope, &named.name.value)
    };
    let runtime = built.runtime.or_else(named);
    let found = objects::Runtimes {
        serving: runtime,
        metrics: openshift::metrics::source(service, runtime, runtimes),
    };
    objects::objects(built, context.settings(), found, is_admitted)
}

fn llm_context<'c>(context: &Context<'c, 'c>) -> llm::Context<'c> {
    let Context { catalog, policy, cluster_domain } = *context;
    llm::Context { catalog, policy, cluster_domain }
}

/// The services of a catalog.
struct Decisions<'a>(&'a Catalog);

impl<'a> Resolver<'a> for Decisions<'a> {
    fn resolve(&self, search: &Search<'a, '_>, service: &Service) -> Resolution<'a> {
        if is_llm(service) {
            let context =
                // Which configurations apply does not depend on the domain of the cluster.
                llm::Context { catalog: self.0, policy: search.policy, cluster_domain: "" };
            return llm::decide(context, service, search.memo.is_none());
        }
        select::resolve(search, &self.0.config().kserve, service)
    }
}
