//! Checks that report violations of the rules in KServe's webhooks
//! (pkg/apis/serving/v1beta1/inference_service_validation.go;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).

use super::admission::{refused, refused_runtime};
use super::is_llm;
use super::mode;
use crate::api::{Api, DeploymentMode, Field, KServeConfig, Runtime, Semantics, Service, Views};
use crate::check::references::{missing, missing_runtime};
use crate::check::refusals::report;
use crate::check::{Check, View};
use crate::diag::{Code, Diagnostic, nearest};
use ecow::EcoString;

/// The group of KServe's kinds.
const GROUP: &str = "serving.kserve.io";

/// All checks of KServe.
pub(crate) static CHECKS: &[Check] = &[
    Check {
        codes: &[Code::RuntimeNotFound],
        on_demand: false,
        cite: "pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel",
        run: runtimes,
    },
    Check {
        codes: &[Code::ServiceNotFound],
        on_demand: false,
        cite: "pkg/controller/v1alpha1/trainedmodel/controller.go, Reconcile",
        run: trained_models,
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

/// Reports TrainedModels whose service is not loaded: the controller deletes them where there is none.
fn trained_models(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = view.catalog;
    let models = catalog.others().iter().filter(|object| {
        object.id.kind == "TrainedModel" && object.group() == GROUP && !catalog.is_unfilled(object)
    });
    for model in models {
        let Some(namespace) = model.id.scope.namespace() else { continue };
        let Some(named) = model.spec("inferenceService") else { continue };
        let Some(name) = named.scalar_text().filter(|name| !name.is_empty()) else { continue };
        let services = catalog.services().map(Views::followed);
        let here: Vec<&EcoString> = services
            .filter(|service| service.object.api == Api::KServe && !is_llm(service))
            .filter(|service| service.namespace == *namespace)
            .map(Service::name)
            .collect();
        if here.contains(&&name) {
            continue;
        }
        let field = Field::new(name, named.origin);
        let near = nearest(&field.value, here.iter().map(|name| name.as_str()));
        let mut finding = missing(Code::ServiceNotFound, model, "InferenceService", &field, near);
        finding.message = format!(
            "{}: where namespace {namespace} has none, KServe deletes the TrainedModel",
            finding.message
        );
        found.push(finding);
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

#[cfg(test)]
mod tests {
    use crate::testing::ome_on;

    #[test]
    fn a_trained_model_without_its_service_is_deleted() {
        let model = |service: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1alpha1\nkind: TrainedModel\nmetadata: {{name: t, namespace: ml}}\nspec: {{inferenceService: {service}, model: {{storageUri: 's3://a/b', framework: sklearn, memory: 1Gi}}}}\n"
            )
        };
        let service = |namespace: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: server, namespace: {namespace}}}\nspec: {{predictor: {{containers: [{{name: kserve-container, image: i}}]}}}}\n"
            )
        };
        for (text, help) in [
            (model("server") + &service("ml"), None),
            (model("server") + &service("other"), Some("load it with `-f`")),
            (model("serve") + &service("ml"), Some("did you mean `server`?")),
            (model("server"), Some("load it with `-f`")),
            (model("'${SERVICE}'"), None),
        ] {
            for command in ["validate {in.yaml}", "plan -f {in.yaml}"] {
                let ran = ome_on(&format!("{command} -o json"), &[("in.yaml", &text)]);
                let found = ran.at("/findings");
                let of = |one: &&serde_json::Value| one["code"] == "service-not-found";
                let found = found.as_array().into_iter().flatten().find(of).cloned();
                let found = found.map(|found| found["help"].clone());
                assert_eq!(found, help.map(Into::into), "{command}: {text}");
                assert_eq!(ran.code, 0, "{command}: {text}");
            }
        }
    }
}
