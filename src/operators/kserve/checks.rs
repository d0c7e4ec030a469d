//! Checks that report violations of the rules in KServe's webhooks
//! (pkg/apis/serving/v1beta1/inference_service_validation.go;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).

use super::admission::{refused, refused_runtime};
use super::is_llm;
use super::mode;
use crate::api::{Api, DeploymentMode, KServeConfig, Runtime, Semantics, Views};
use crate::check::references::missing_runtime;
use crate::check::refusals::report;
use crate::check::{Check, View};
use crate::diag::{Code, Diagnostic};

/// All checks of KServe.
pub(crate) static CHECKS: &[Check] = &[
    Check {
        codes: &[Code::RuntimeNotFound],
        on_demand: false,
        cite: "pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel",
        run: runtimes,
    },
    Check {
        codes: &[
            Code::ServerRefuses,
            Code::InvalidName,
            Code::InvalidValue,
            Code::RequiredField,
            Code::ConflictingFields,
        ],
        on_demand: false,
        cite: "pkg/apis/serving/v1beta1/inference_service_validation.go; pkg/webhook/admission/servingruntime/servingruntime_webhook.go",
        run: webhook,
    },
];

/// Reports references to runtimes that are not loaded. In ModelMesh mode, another controller selects
/// the runtime of a service.
fn runtimes(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = view.catalog;
    let Some(policy) = catalog.policy(Api::KServe) else { return };
    let services = catalog.services().map(Views::followed);
    for service in services.filter(|service| service.object.api == Api::KServe) {
        let (mode, _) = mode::of_service(policy, service, &catalog.config().kserve);
        if mode != DeploymentMode::ModelMesh {
            found.extend(missing_runtime(catalog, service));
        }
    }
}

/// Reports every service and runtime that the webhooks would refuse.
fn webhook(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let config = &view.catalog.config().kserve;
    let semantics = view.catalog.readings().mode(Api::KServe);
    let Some(policy) = view.catalog.policy(Api::KServe) else { return };
    for views in view.catalog.services() {
        let service = views.followed();
        // LLMInferenceServices are judged when they are read.
        if service.object.api == Api::KServe && !is_llm(service) {
            let violations = refused(policy, service, config);
            report(semantics, &service.object, service.refusal.as_deref(), violations, found);
        }
    }
    for runtime in view.catalog.runtimes(Api::KServe) {
        webhook_of_runtime(semantics, runtime, config, found);
    }
}

/// Reports what the webhook would refuse of a runtime.
pub(super) fn webhook_of_runtime(
    semantics: Semantics,
    runtime: &Runtime,
    config: &KServeConfig,
    found: &mut Vec<Diagnostic>,
) {
    report(semantics, &runtime.object, None, refused_runtime(runtime, config), found);
}
