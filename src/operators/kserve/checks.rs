//! Checks that report violations of the rules in KServe's webhooks
//! (pkg/apis/serving/v1beta1/inference_service_validation.go;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).

use super::admission::{Violation, refused, refused_runtime};
use crate::api::{Api, Object, Semantics};
use crate::check::refusals::Refusals;
use crate::check::{Check, View};
use crate::diag::{Code, Diagnostic};

/// All checks of KServe.
pub(crate) static CHECKS: &[Check] = &[Check {
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
}];

/// Reports every service and runtime that the webhooks would refuse.
fn webhook(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let config = &view.catalog.config().kserve;
    let semantics = view.semantics.of(Api::KServe);
    for views in view.catalog.services() {
        let service = views.of(semantics);
        if service.object.api == Api::KServe {
            // The first violation is already reported as the error of the service.
            let said = service.refusal.as_ref().map(|refusal| refusal.message.as_str());
            let violations = refused(service, config)
                .into_iter()
                .filter(|violation| Some(violation.message.as_str()) != said);
            refuse(semantics, &service.object, violations, found);
        }
    }
    for runtime in view.catalog.runtimes(Api::KServe) {
        let violations = refused_runtime(runtime, config).into_iter();
        refuse(semantics, &runtime.object, violations, found);
    }
}

/// Reports the violations of one object. In documented mode, rules that the documents also have are
/// left to the checks of the documents.
fn refuse(
    semantics: Semantics,
    object: &Object,
    violations: impl Iterator<Item = Violation>,
    found: &mut Vec<Diagnostic>,
) {
    let mut refuse = Refusals { semantics, object, found };
    for violation in
        violations.filter(|violation| semantics == Semantics::Controller || !violation.documented)
    {
        refuse.at(
            violation.code,
            violation.span,
            &violation.path,
            violation.message,
            violation.help,
        );
    }
}
