//! References to objects that are not loaded, and models and runtimes that do not match.
//!
//! A missing model of an OME service is reported where the service is decided; nothing else of that
//! service is checked then. This module reports the references that a decision does not reach.

use crate::api::{Api, Model, Runtime, Scope};
use crate::check::references::{missing, missing_runtime};
use crate::check::{View, about};
use crate::decision::Candidate;
use crate::diag::{Code, Diagnostic, nearest};
use crate::policy::Policy;
use crate::select::request::{could_serve, nearest_miss};
use rayon::prelude::*;
use std::collections::HashMap;

/// References of services to runtimes, accelerator classes and weights, and of weights to base
/// models.
pub(crate) fn dangling(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = view.catalog;
    for views in catalog.services() {
        let service = views.followed();
        if service.object.api == Api::Ome {
            found.extend(missing_runtime(catalog, service));
        }
        // An empty name is a name to the controller, but no reference to a class.
        for class in service.accelerator_classes.iter().filter(|class| {
            !class.value.is_empty() && catalog.accelerator_class(&class.value).is_none()
        }) {
            let names = catalog.accelerator_classes().map(|object| object.id.name.as_str());
            found.push(missing(
                Code::AcceleratorNotFound,
                &service.object,
                "AcceleratorClass",
                class,
                nearest(&class.value, names),
            ));
        }
        for weight in service
            .model
            .iter()
            .flat_map(|model| &model.fine_tuned)
            .filter(|weight| !weight.value.is_empty())
        {
            if catalog.fine_tuned_weight(&weight.value).is_none() {
                let names =
                    catalog.fine_tuned_weights().map(|weight| weight.object.id.name.as_str());
                found.push(missing(
                    Code::ModelNotFound,
                    &service.object,
                    "FineTunedWeight",
                    weight,
                    nearest(&weight.value, names),
                ));
            }
        }
    }
    for weight in catalog.fine_tuned_weights() {
        let Some((scope, name)) = weight.base() else { continue };
        if catalog.model(&scope, &name.value).is_none() {
            let kind = if scope == Scope::Cluster { "ClusterBaseModel" } else { "BaseModel" };
            let names = catalog
                .models()
                .filter(|model| model.object.id.scope == scope)
                .map(|model| model.object.id.name.as_str());
            let near = nearest(&name.value, names);
            found.push(missing(Code::ModelNotFound, &weight.object, kind, &name, near));
        }
    }
}

/// References of queues to queues and flavors. Silent when no object of the kind is loaded: the
/// owner of a namespace rarely has the objects of the cluster.
pub(crate) fn queues(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let catalog = view.catalog;
    if catalog.cluster_queues().len() > 0 {
        for local in catalog.local_queues() {
            let Some(named) = local
                .cluster_queue
                .as_ref()
                .filter(|named| catalog.cluster_queue(&named.value).is_none())
            else {
                continue;
            };
            let names = catalog.cluster_queues().map(|queue| queue.name().as_str());
            let near = nearest(&named.value, names);
            found.push(missing(Code::KueueNotFound, &local.object, "ClusterQueue", named, near));
        }
    }
    if catalog.flavors().len() > 0 {
        for queue in catalog.cluster_queues() {
            for quotas in
                queue.flavors().filter(|quotas| catalog.flavor(&quotas.flavor.value).is_none())
            {
                let names = catalog.flavors().map(|flavor| flavor.name().as_str());
                found.push(missing(
                    Code::KueueNotFound,
                    &queue.object,
                    "ResourceFlavor",
                    &quotas.flavor,
                    nearest(&quotas.flavor.value, names),
                ));
            }
        }
    }
}

/// The fields by which a model is matched: models with equal keys match the same runtimes.
fn key(policy: &Policy, model: &Model) -> String {
    format!(
        "{:?}",
        (
            &model.object.id.scope,
            model.format.as_ref().map(|format| (
                &format.name.value,
                format.version.as_ref().map(|version| version.value.text().to_owned())
            )),
            model.framework.as_ref().map(|framework| (
                &framework.name.value,
                framework.version.as_ref().map(|version| version.value.text().to_owned())
            )),
            model.architecture.as_ref().map(|field| &field.value),
            policy.quantization_of(model).map(|field| &field.value),
            model.size.as_ref().map(|field| &field.value.text),
            model.diffusion.as_ref().map(|diffusion| (
                diffusion.class_name.as_ref().map(|class| &class.value),
                &diffusion.parts,
                &diffusion.additional
            )),
        )
    )
}

/// Models that no loaded runtime can serve, with the closest runtime. Silent when no runtime is
/// loaded.
///
/// Each distinct model is compared with the runtimes until one fits, so the cost is at most the
/// number of distinct models times the number of runtimes.
pub(crate) fn unserved_models(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let runtimes = view.catalog.runtimes(Api::Ome);
    if runtimes.candidates().next().is_none() {
        return;
    }
    let policy = view.policy(Api::Ome);
    let mut alike: HashMap<String, usize> = HashMap::new();
    let mut distinct: Vec<Vec<&Model>> = Vec::new();
    // A model without a format already has the finding `model-incomplete`; a disabled model is not
    // used.
    for model in view.catalog.models().filter(|model| model.format.is_some() && !model.disabled) {
        // Fleets have thousands of models and few distinct ones.
        let index = *alike.entry(key(policy, model)).or_insert(distinct.len());
        if index == distinct.len() {
            distinct.push(Vec::new());
        }
        distinct[index].push(model);
    }
    let missed: Vec<Option<Candidate<'_>>> = distinct
        .par_iter()
        .map(|models| {
            // The nearest runtime is looked for only where none fits: it evaluates all of them.
            if runtimes.candidates().any(|runtime| could_serve(policy, models[0], runtime)) {
                None
            } else {
                nearest_miss(policy, runtimes, models[0])
            }
        })
        .collect();
    for (models, nearest) in distinct.iter().zip(missed) {
        let Some(nearest) = nearest else { continue };
        for model in models {
            found.push(unserved(model, &nearest));
        }
    }
}

fn unserved(model: &Model, nearest: &Candidate<'_>) -> Diagnostic {
    let reasons: Vec<String> =
        nearest.reasons.iter().map(|rejection| rejection.reason.to_string()).collect();
    let runtime = &nearest.runtime.object;
    let mut finding = about(
        Code::NoRuntimeForModel,
        &model.object,
        format!("no loaded runtime can serve model `{}`", model.object.id.name),
    )
    .at(model.object.name_span())
    .help(format!("nearest is `{}`: {}", runtime.id.name, reasons.join("; ")));
    if let Some(place) = nearest.reasons.iter().find_map(|rejection| rejection.origin?.span()) {
        finding = finding.label(place, format!("nearest: {}", runtime.id));
    }
    finding
}

/// Runtimes that can serve no loaded model. Silent when no model is loaded.
pub(crate) fn unused_runtimes(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let mut distinct: HashMap<String, &Model> = HashMap::new();
    let policy = view.policy(Api::Ome);
    for model in view.catalog.models() {
        distinct.entry(key(policy, model)).or_insert(model);
    }
    if distinct.is_empty() {
        return;
    }
    let policy = view.policy(Api::Ome);
    let runtimes: Vec<&Runtime> = view.catalog.runtimes(Api::Ome).candidates().collect();
    let unused: Vec<&Runtime> = runtimes
        .into_par_iter()
        .filter(|runtime| !distinct.values().any(|model| could_serve(policy, model, runtime)))
        .collect();
    for runtime in unused {
        found.push(
            about(
                Code::RuntimeForNoModel,
                &runtime.object,
                format!("runtime `{}` serves none of the loaded models", runtime.object.id.name),
            )
            .at(runtime.object.name_span())
            .help("delete it, if it is not meant for models that are not loaded"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::Documented;
    use crate::check::fixture::{codes, model, run, run_with, runtime, service};
    use crate::diag::Code;

    fn serving(name: &str, architecture: &str, range: &str) -> String {
        runtime(
            name,
            &format!(
                "  supportedModelFormats:\n  - {{modelFormat: {{name: s}}, modelArchitecture: {architecture}}}\n  modelSizeRange: {range}\n"
            ),
        )
    }

    fn asking(name: &str, architecture: &str, size: &str) -> String {
        model(
            name,
            &format!(
                "  modelFormat: {{name: s}}\n  modelArchitecture: {architecture}\n  modelParameterSize: {size}\n"
            ),
        )
    }

    #[test]
    fn a_model_without_a_runtime_names_the_nearest_miss() {
        let text = [
            serving("small", "A", "{min: 1B, max: 9B}"),
            serving("other", "B", "{min: 1B, max: 9B}"),
            asking("fits", "A", "7B"),
            asking("large", "A", "70B"),
            asking("twin", "A", "70B"),
        ]
        .join("---\n");
        let found = run(&text, Documented);
        let helps: Vec<_> = found
            .iter()
            .map(|finding| (finding.objects[0].as_str(), finding.help.as_deref().unwrap_or("")))
            .collect();
        let help = "nearest is `small`: 70B is outside 1B..9B";
        assert_eq!(helps, [("ClusterBaseModel/large", help), ("ClusterBaseModel/twin", help)]);
    }

    #[test]
    fn models_without_any_runtimes_are_not_reported() {
        assert!(run(&asking("large", "A", "70B"), Documented).is_empty());
    }

    #[test]
    fn unused_runtimes_are_reported_on_request() {
        let text = [
            serving("small", "A", "{min: 1B, max: 9B}"),
            serving("large", "A", "{min: 60B, max: 80B}"),
            asking("fits", "A", "7B"),
        ]
        .join("---\n");
        assert!(run(&text, Documented).is_empty());
        let found = run_with(&text, Documented, &[Code::RuntimeForNoModel]);
        assert_eq!(
            found.iter().map(|finding| finding.objects.join("")).collect::<Vec<_>>(),
            ["ClusterServingRuntime/large"]
        );
    }

    #[test]
    fn missing_references_suggest_the_nearest_name() {
        let class = "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: nvidia-h100}\nspec: {}\n";
        let weight = "apiVersion: ome.io/v1beta1\nkind: FineTunedWeight\nmetadata: {name: lora}\nspec: {baseModelRef: {name: bas}}\n";
        let text = [
            class.to_owned(),
            weight.to_owned(),
            model("base", "  modelFormat: {name: s}\n"),
            service("s", "  model: {name: base, fineTunedWeights: [loro]}\n  acceleratorSelector: {acceleratorClass: nvidia-h1000}\n"),
        ]
        .join("---\n");
        let found = run(&text, Documented);
        assert_eq!(codes(&found), ["accelerator-not-found", "model-not-found", "model-not-found"]);
        let helps: Vec<_> = found.iter().filter_map(|finding| finding.help.as_deref()).collect();
        assert_eq!(
            helps,
            ["did you mean `nvidia-h100`?", "did you mean `lora`?", "did you mean `base`?"]
        );
    }

    #[test]
    fn a_missing_kueue_reference_suggests_the_nearest_name() {
        let flavor = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: gpu-h100}\n";
        let cluster = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: gpus}\nspec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: gpu-h10, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}\n";
        let local = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: own, namespace: team}\nspec: {clusterQueue: gpu}\n";
        let found = run(&[flavor, cluster, local].join("---\n"), Documented);
        let found: Vec<_> = found
            .iter()
            .map(|finding| (finding.code.as_str(), finding.help.as_deref().unwrap_or("")))
            .collect();
        assert_eq!(
            found,
            [
                ("kueue-not-found", "did you mean `gpus`?"),
                ("kueue-not-found", "did you mean `gpu-h100`?")
            ]
        );
        assert!(run(local, Documented).is_empty() && run(cluster, Documented).is_empty());
    }

    #[test]
    fn a_kserve_service_finds_no_runtime_of_another_api() {
        let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: iris}\nspec: {predictor: {model: {modelFormat: {name: sklearn}, runtime: mlserver}}}\n";
        assert_eq!(
            codes(&run(&[runtime("mlserver", ""), kserve.to_owned()].join("---\n"), Documented)),
            ["runtime-not-found"]
        );
        let text = "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {name: mlserver}\nspec: {}\n";
        assert!(run(&[text, kserve].join("---\n"), Documented).is_empty());
    }
}
