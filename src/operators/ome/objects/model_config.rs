//! The model and the weights that the model ConfigMap describes.

use crate::api::{FineTunedWeight, Model, ModelLookup, Scope, Service};
use crate::catalog::Catalog;
use crate::operators::ome::rules::ModelKindRule;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::Node;
use ecow::EcoString;

/// A model and its weights, as the model ConfigMap describes them.
#[derive(Clone, Debug)]
pub(crate) struct ModelConfig<'a> {
    /// Name of the model.
    pub name: EcoString,
    /// The base model.
    pub model: Option<&'a Model>,
    /// The first fine-tuned weight the service lists.
    pub fine_tuned: Option<&'a FineTunedWeight>,
}

impl<'a> ModelConfig<'a> {
    /// The models that the ConfigMap of a service describes; none when it names no model. `served`
    /// is the chosen model.
    ///
    /// Quirk: the controller looks the model up by its kind only here. With a BaseModel and a
    /// ClusterBaseModel of one name, the ConfigMap describes one of them and pods use the other
    /// (pkg/controller/v1beta1/inferenceservice/reconcilers/modelconfig/modelconfig_reconciler.go,
    /// getBaseModelSpec).
    pub(crate) fn look_up(
        policy: &Policy,
        catalog: &'a Catalog,
        service: &Service,
        served: Option<&'a Model>,
    ) -> Option<Self> {
        let wanted = service.model.as_ref()?;
        let name = &wanted.name.value;
        // Only the first weight: services with more are refused elsewhere.
        let first = wanted.fine_tuned.first().filter(|weight| !weight.value.is_empty());
        let fine_tuned = first.and_then(|weight| catalog.fine_tuned_weight(&weight.value));
        let kind = wanted.kind.as_ref().map(|kind| kind.value.as_str());
        let (name, model) = match (policy.ome().model_kind, wanted.lookup) {
            // A release that honors the kind serves and describes the same model.
            (ModelKindRule::Honored, _) => (name.clone(), served),
            (ModelKindRule::ConfigMapOnly, ModelLookup::ClusterFirst) => {
                let namespaced =
                    || catalog.model(&Scope::Namespace(service.namespace.clone()), name);
                (name.clone(), catalog.model(&Scope::Cluster, name).or_else(namespaced))
            }
            (ModelKindRule::ConfigMapOnly, ModelLookup::NamespaceFirst) => match kind {
                // The service names a weight in place of a model: the weight refers to its base
                // model.
                Some("FineTunedWeight") => {
                    let base = catalog
                        .fine_tuned_weight(name)
                        .and_then(|weight| weight.object.spec("baseModelRef"));
                    let text = |key| {
                        base.and_then(|base| base.get(key))
                            .and_then(Node::as_str)
                            .map(EcoString::from)
                    };
                    let base_name = text("name").unwrap_or_default();
                    let scope = text("namespace")
                        .filter(|namespace| !namespace.is_empty())
                        .map_or(Scope::Cluster, Scope::Namespace);
                    let model = catalog.model(&scope, &base_name);
                    return Some(Self {
                        name: base_name,
                        model,
                        fine_tuned: catalog.fine_tuned_weight(name),
                    });
                }
                Some("BaseModel") => (
                    name.clone(),
                    catalog.model(&Scope::Namespace(service.namespace.clone()), name),
                ),
                // Any other kind, also a missing one, is looked up in the cluster alone.
                _ => (name.clone(), catalog.model(&Scope::Cluster, name)),
            },
        };
        Some(Self { name, model, fine_tuned })
    }
}
