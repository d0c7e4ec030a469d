//! Helpers of this module's tests: trees from flow YAML and back, services to compose.

use crate::api::{
    AcceleratorRequirements, AcceleratorWish, Api, Component, ComponentKind, DecodedConfigs,
    Failure, Field, FineTunedWeight, Model, ModelLookup, ModelRef, Object, ObjectRef,
    OperatorConfig, Runtime, Scope, Service,
};
use crate::decision::{Resolution, RuntimeDecision};
use crate::diag::Checked;
use crate::merge::history::Recorder;
use crate::policy::{AcceleratorOptions, Policy};
use crate::testing;
use crate::yaml::{Node, Origin, Rule};

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };

/// A tree from YAML.
pub(crate) fn node(yaml: &str) -> Node {
    let json: serde_json::Value =
        serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    Node::from_json(&json, Origin::Flag(&TEST))
}

/// A tree as flow YAML, strings without quotes, in the order of the tree.
pub(crate) fn flow(node: &Node) -> String {
    fn of_json(value: &serde_json::Value) -> String {
        match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(items) => {
                format!("[{}]", items.iter().map(of_json).collect::<Vec<_>>().join(", "))
            }
            serde_json::Value::Object(map) => {
                format!(
                    "{{{}}}",
                    map.iter()
                        .map(|(key, value)| format!("{key}: {}", of_json(value)))
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            other => other.to_string(),
        }
    }
    of_json(&node.to_json())
}

/// Overridden values that differ from the winner, as `path: loser, now winner`.
pub(crate) fn losers(history: &Recorder) -> Vec<String> {
    let changes = history.all().iter().filter(|entry| !entry.restated());
    changes
        .map(|entry| {
            format!(
                "{}: {}, now {}",
                entry.path,
                flow(&entry.loser),
                entry.winner.as_ref().map_or_else(|| "nothing".into(), flow)
            )
        })
        .collect()
}

fn object(kind: &str, scope: Scope, name: &str, node: Node) -> Object {
    let object = testing::object((Api::Ome, "ome.io/v1beta1"), kind, (None, name), node);
    Object { id: ObjectRef { scope, ..object.id }, ..object }
}

fn name_of(node: &Node) -> String {
    node.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default().to_owned()
}

/// A service with what it is composed from.
pub(crate) struct Fixture {
    service: Service,
    runtime: Option<Runtime>,
    model: Option<Model>,
    weights: Vec<FineTunedWeight>,
    /// The operator's settings.
    pub(crate) config: OperatorConfig,
}

impl Fixture {
    /// A service from its `metadata` and `spec`.
    pub(crate) fn new(service: &str) -> Self {
        let node = node(service);
        let field = |node: &Node| Field::new(node.as_str().unwrap_or_default().into(), node.origin);
        let model = node.at(&["spec", "model"]).map(|model| ModelRef {
            name: model.get("name").map_or_else(|| Field::new("".into(), model.origin), field),
            kind: None,
            fine_tuned: model
                .get("fineTunedWeights")
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .map(field)
                .collect(),
            lookup: ModelLookup::NamespaceFirst,
        });
        let components = ComponentKind::OME
            .into_iter()
            .filter_map(|kind| {
                Some(Component { kind, node: node.at(&["spec", kind.as_str()])?.clone() })
            })
            .collect();
        let name = name_of(&node);
        let service = Service {
            object: object("InferenceService", Scope::Namespace("default".into()), &name, node),
            namespace: "default".into(),
            model,
            runtime: None,
            inline: None,
            refusal: None,
            components,
            protocol: None,
            accelerator_classes: Vec::new(),
            accelerators: AcceleratorWish::silent(),
            predictor: crate::api::Predictor::default(),
        };
        Self {
            service,
            runtime: None,
            model: None,
            weights: Vec::new(),
            config: OperatorConfig::default(),
        }
    }

    /// With a cluster runtime named `rt` that has this `spec`.
    pub(crate) fn runtime(mut self, spec: &str) -> Self {
        let node = node(&format!("{{metadata: {{name: rt}}, spec: {spec}}}"));
        self.runtime = Some(Runtime {
            object: object("ClusterServingRuntime", Scope::Cluster, "rt", node),
            formats: Vec::new(),
            size_range: None,
            disabled: None,
            protocols: Vec::new(),
            multi_model: None,
            multi_node: None,
            accelerator_classes: Vec::new(),
            accelerators: AcceleratorRequirements::default(),
            configurations: crate::api::RuntimeConfigurations::default(),
            decoded: DecodedConfigs::default(),
        });
        self
    }

    /// With a cluster model from its `metadata` and `spec`.
    pub(crate) fn model(mut self, model: &str) -> Self {
        let node = node(model);
        let name = name_of(&node);
        let object = object("ClusterBaseModel", Scope::Cluster, &name, node);
        self.model = Some(Model::of_format(object, None));
        self
    }

    /// With a fine-tuned weight that has this `spec`.
    pub(crate) fn weight(mut self, name: &str, spec: &str) -> Self {
        let node = node(&format!("{{metadata: {{name: {name}}}, spec: {spec}}}"));
        self.weights.push(FineTunedWeight {
            object: object("FineTunedWeight", Scope::Cluster, name, node),
        });
        self
    }

    /// The components after merging.
    pub(crate) fn merged(
        &self,
        policy: &Policy,
    ) -> Result<Checked<Vec<super::MergedComponent<'_>>>, Failure> {
        let merged = super::merged(
            policy,
            &self.service,
            self.runtime.as_ref(),
            &[],
            &AcceleratorOptions::default(),
            &self.config,
            &mut Recorder::off(),
        )?;
        Ok(Checked { value: merged.value.components, diagnostics: merged.diagnostics })
    }

    /// The composed service.
    pub(crate) fn compose(
        &self,
        policy: &Policy,
    ) -> Result<Checked<crate::pods::built::Built<'_>>, Failure> {
        self.compose_with(policy, &mut Recorder::off())
    }

    /// The composed service, with what was overridden.
    pub(crate) fn compose_with(
        &self,
        policy: &Policy,
        rec: &mut crate::merge::history::Recorder,
    ) -> Result<Checked<crate::pods::built::Built<'_>>, Failure> {
        let runtime = RuntimeDecision { chosen: self.runtime.as_ref(), ..RuntimeDecision::none() };
        let resolution = Resolution {
            model: self.model.as_ref(),
            runtime,
            accelerators: ecow::EcoVec::new(),
            configs: ecow::EcoVec::new(),
            error: None,
        };
        let weights = |name: &str| self.weights.iter().find(|weight| weight.object.id.name == name);
        super::compose(
            policy,
            &self.service,
            &resolution,
            &super::Context { config: &self.config, weights: &weights, writable: &|_| Ok(()) },
            rec,
        )
    }
}
