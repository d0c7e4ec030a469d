//! The model that a service names.

use crate::api::{Failure, Field, Model, ModelLookup, Scope, Service};
use crate::catalog::Catalog;
use crate::diag::Code;
use crate::diag::{did_you_mean, proposed, step_to_load};
use crate::operators::ome::rules::ModelKindRule;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use ecow::EcoString;

/// Finds the model; `Ok(None)` when the service names none.
pub(crate) fn resolve<'a>(
    policy: &Policy,
    catalog: &'a Catalog,
    service: &Service,
) -> Result<Option<&'a Model>, Failure> {
    let Some(wanted) = &service.model else { return Ok(None) };
    let name = &wanted.name;
    let namespaced = Scope::Namespace(service.namespace.clone());
    let in_namespace = || catalog.model(&namespaced, &name.value);
    let in_cluster = || catalog.model(&Scope::Cluster, &name.value);
    let kind = wanted.kind.as_ref().map(|kind| kind.value.as_str());
    let found = match (wanted.lookup, policy.ome().model_kind) {
        (ModelLookup::ClusterFirst, ModelKindRule::Honored) => in_cluster().or_else(in_namespace),
        // Migration writes the kind of the model that it finds. The ConfigMap uses the kind,
        // selection does not.
        (ModelLookup::ClusterFirst, ModelKindRule::ConfigMapOnly)
            if !policy.ome().predictor_model_looked_up =>
        {
            // Before the look-up of the selection, whose error would come later.
            config_map_lookup(catalog, service, name, Some("ClusterBaseModel"))?;
            in_namespace().or_else(in_cluster)
        }
        (ModelLookup::ClusterFirst, ModelKindRule::ConfigMapOnly) => {
            if let Some(kind) = in_cluster()
                .map(|_| "ClusterBaseModel")
                .or_else(|| in_namespace().map(|_| "BaseModel"))
            {
                config_map_lookup(catalog, service, name, Some(kind))?;
            }
            in_namespace().or_else(in_cluster)
        }
        (ModelLookup::NamespaceFirst, ModelKindRule::Honored) => match kind {
            Some("ClusterBaseModel") => in_cluster(),
            Some("BaseModel") => in_namespace(),
            _ => in_namespace().or_else(in_cluster),
        },
        (ModelLookup::NamespaceFirst, ModelKindRule::ConfigMapOnly) => {
            config_map_lookup(catalog, service, name, kind)?;
            in_namespace().or_else(in_cluster)
        }
    };
    let Some(model) = found else { return Err(not_found(catalog, service, name, kind)) };
    if model.disabled {
        return Err(Failure {
            code: Code::ModelDisabled,
            message: format!("specified base model {} is disabled", name.value),
            help: Some("set `disabled: false` in the model, or name another one".into()),
            span: name.span(),
        });
    }
    Ok(Some(model))
}

/// The model ConfigMap is written before selection and uses the kind, which the CRD defaults to
/// ClusterBaseModel. A model of the other scope fails there, although selection would find it
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/modelconfig/modelconfig_reconciler.go,
/// getBaseModelSpec).
fn config_map_lookup(
    catalog: &Catalog,
    service: &Service,
    name: &Field<EcoString>,
    kind: Option<&str>,
) -> Result<(), Failure> {
    let namespaced = Scope::Namespace(service.namespace.clone());
    let wanted = service.model.as_ref();
    let found = match kind {
        Some("BaseModel") => catalog.model(&namespaced, &name.value).is_some(),
        Some("FineTunedWeight") => catalog.fine_tuned_weight(&name.value).is_some_and(|weight| {
            let base = weight.object.spec("baseModelRef");
            let base_name = base.and_then(|base| base.get("name")).and_then(|name| name.as_str());
            let base_namespace = base
                .and_then(|base| base.get("namespace"))
                .and_then(|namespace| namespace.as_str())
                .filter(|namespace| !namespace.is_empty());
            base_name.is_some_and(|base_name| {
                let scope = base_namespace
                    .map_or(Scope::Cluster, |namespace| Scope::Namespace(namespace.into()));
                catalog.model(&scope, base_name).is_some()
            })
        }),
        _ => catalog.model(&Scope::Cluster, &name.value).is_some(),
    };
    if !found {
        return Err(not_found(catalog, service, name, kind));
    }
    // Only the first weight is checked here.
    if kind != Some("FineTunedWeight")
        && let Some(weight) = wanted
            .and_then(|wanted| wanted.fine_tuned.first())
            .filter(|weight| !weight.value.is_empty())
        && catalog.fine_tuned_weight(&weight.value).is_none()
    {
        return Err(Failure {
            code: Code::ModelNotFound,
            message: format!("no FineTunedWeight with the name `{}`", weight.value),
            help: did_you_mean(
                &weight.value,
                catalog.fine_tuned_weights().map(|weight| weight.object.id.name.as_str()),
            ),
            span: weight.span(),
        });
    }
    Ok(())
}

fn not_found(
    catalog: &Catalog,
    service: &Service,
    name: &Field<EcoString>,
    kind: Option<&str>,
) -> Failure {
    // Of several the one that a single field reaches comes first.
    let rank = |model: &&Model| match model.object.id.scope.namespace() {
        Some(namespace) if *namespace == service.namespace => 0,
        None => 1,
        Some(_) => 2,
    };
    let of_name = catalog.models().filter(|model| model.object.id.name == name.value);
    let elsewhere = of_name.min_by_key(rank);
    let help = match elsewhere {
        Some(model) if model.object.id.scope == Scope::Cluster => Some(format!(
            "a ClusterBaseModel `{}` exists: set `spec.model.kind: ClusterBaseModel`",
            name.value
        )),
        Some(model) if model.object.id.scope.namespace() == Some(&service.namespace) => {
            Some(format!(
                "a BaseModel `{}` exists in the namespace: set `spec.model.kind: BaseModel`",
                name.value
            ))
        }
        Some(model) => Some(format!(
            "`{}` belongs to another namespace: define it in namespace `{}`, or as a ClusterBaseModel",
            model.object.id, service.namespace
        )),
        None => proposed(catalog.nearest_model(&service.namespace, &name.value)),
    };
    let message = match kind {
        Some("BaseModel") => format!(
            "no BaseModel with the name `{}` in namespace `{}`",
            name.value, service.namespace
        ),
        Some("ClusterBaseModel") => format!("no ClusterBaseModel with the name `{}`", name.value),
        _ => format!("no BaseModel or ClusterBaseModel with the name `{}`", name.value),
    };
    Failure {
        code: Code::ModelNotFound,
        message,
        help: help.or_else(|| Some(step_to_load("model"))),
        span: name.span(),
    }
}
