//! Copies of models that KServe keeps on nodes: the webhook of InferenceServices names the claim of a copy
//! (pkg/apis/serving/v1beta1/inference_service_defaults.go, `setLocalModelLabel`), and the pods go where its
//! volume is. The rendered pods fetch the model instead, so that where they go is not judged.
//!
//! In: the caches of a catalog and the pods of a service. Out: the reason, in the pods.

use crate::catalog::Catalog;
use crate::cluster::schedule::PodTemplate;
use crate::pods::local_models::{self, DISABLED, LABEL};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// The annotation of pods with the model that they fetch.
const FETCHES: &str = "internal.serving.kserve.io/storage-initializer-sourceuri";

/// Kind and name of each cache, its namespace if it is of one, and its model.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalCopies(Vec<(EcoString, Option<EcoString>, EcoString)>);

impl LocalCopies {
    /// Those of a catalog whose KServe has them switched on.
    pub(super) fn of(catalog: &Catalog) -> Self {
        if !catalog.config().keeps_models_on_nodes() {
            return Self::default();
        }
        let all = catalog.others().iter().filter_map(|object| {
            let namespace = match object.id.kind.as_str() {
                "LocalModelCache" => None,
                "LocalModelNamespaceCache" => object.id.scope.namespace().cloned(),
                _ => return None,
            };
            let model = object.spec("sourceModelUri").and_then(Node::scalar_text)?;
            let name = eco_format!("{} `{}`", object.id.kind, object.id.name);
            Some((name, namespace, model))
        });
        let mut all: Vec<_> = all.collect();
        all.sort();
        Self(all)
    }

    /// Leaves open where pods go whose model a cache has. `object` is their workload.
    pub(super) fn leave_open(&self, pod: &mut Arc<PodTemplate>, object: &Node) {
        let annotation =
            |key: &str| object.at(&["spec", "template", "metadata", "annotations", key]);
        let Some(uri) = annotation(FETCHES).and_then(Node::scalar_text) else { return };
        // Pods with the label have their claim already.
        if annotation(DISABLED).is_some() || pod.labels.get(LABEL).is_some() {
            return;
        }
        let has = |namespace: &Option<EcoString>, model: &EcoString| {
            local_models::has(model, &uri)
                && namespace.as_ref().is_none_or(|namespace| *namespace == pod.namespace)
        };
        let found = self.0.iter().find(|(_, namespace, model)| has(namespace, model));
        if let Some((name, ..)) = found {
            let why = "it has the model of the pods, which mount its claim and go where its node groups have nodes";
            Arc::make_mut(pod).open = Some((name.clone(), why.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, plan};

    #[test]
    fn pods_whose_model_is_on_nodes_are_not_judged() {
        let config = |on: bool| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: inferenceservice-config, namespace: kserve}}\ndata: {{localModel: '{{\"enabled\": {on}}}', deploy: '{{\"defaultDeploymentMode\": \"RawDeployment\"}}'}}\n"
            )
        };
        let cache = |model: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LocalModelCache\nmetadata: {{name: m}}\nspec: {{sourceModelUri: {model}, modelSize: 1Gi, nodeGroups: [g]}}\n"
            )
        };
        let service = "---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: rt, namespace: ml}\nspec: {supportedModelFormats: [{name: hf, autoSelect: true}], containers: [{name: kserve-container, image: x}]}\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: ml}\nspec: {predictor: {model: {modelFormat: {name: hf}, storageUri: 'hf://a/b'}, minReplicas: 1}}\n";
        for (config, model, verdict) in [
            (config(true), "hf://a/b", "unknown"),
            (config(true), "hf://a/bc", "fits"),
            // Off by default.
            (config(false), "hf://a/b", "fits"),
            (String::new(), "hf://a/b", "fits"),
        ] {
            let ran = plan(&(gpu_node("n1", 8, "") + &config + &cache(model) + service));
            assert_eq!(ran.at("/placement/verdict"), verdict, "{config}{model}: {}", ran.out);
        }
    }
}
