//! Labels and annotations of a component's objects and pods.
//!
//! Queue labels and `app` belong to the workload; `operators/ome/objects` sets them.

use super::component::MergedComponent;
use super::fine_tuned::FineTuned;
use super::mode::MODE_ANNOTATION;
use crate::api::{Evidence, Model, OperatorConfig, Runtime, Service};
use crate::merge::edit::union;
use crate::merge::history::Recorder;
use crate::objects::metadata::DISALLOWED;
use crate::operators::ome::rules::Rules as _;
use crate::pods::rules::{
    COMPONENT_LABELS, FINE_TUNED_ANNOTATIONS, FINE_TUNED_LABELS, MODEL_ANNOTATIONS, MODEL_LABELS,
    RUNTIME_ANNOTATION, WEBHOOK_DEPRECATION, WEBHOOK_MODE,
};
use crate::policy::Policy;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::EcoString;

/// Makes the pod webhook fetch the model first.
pub(crate) const INJECT_MODEL_INIT: &str = "ome.io/inject-model-init";
/// Makes the pod webhook fetch a fine-tuned weight; its value is the weight's name.
pub(crate) const INJECT_ADAPTER: &str = "ome.io/inject-fine-tuned-adapter";
/// The weights hold the whole model.
pub(crate) const MERGED_WEIGHTS: &str = "ome.io/fine-tuned-serving-with-merged-weights";
/// Strategy of the fine-tuned weight.
pub(crate) const STRATEGY: &str = "ome.io/fine-tuned-weight-ft-strategy";
/// Vendor of the model.
pub(crate) const VENDOR: &str = "ome.io/base-model-vendor";
/// Format of the model.
pub(crate) const FORMAT: &str = "ome.io/base-model-format";
const DECRYPTION: [&str; 2] =
    ["ome.io/base-model-decryption-key-name", "ome.io/base-model-decryption-secret-name"];
const DEPRECATION: &str = "ome.io/deprecation-warning";
const DEPRECATION_TEXT: &str = "The Predictor field is deprecated and will be removed in a future release. Please use Engine and Model fields instead.";

/// The inputs of metadata, besides the component itself.
pub(crate) struct Sources<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) service: &'a Service,
    pub(crate) model: Option<&'a Model>,
    pub(crate) runtime: Option<&'a Runtime>,
    /// For engine and decoder only.
    pub(crate) fine_tuned: Option<&'a FineTuned>,
}

/// Keys that the operator sets over the users' values.
struct Forced<'r> {
    map: Map,
    rec: &'r mut Recorder,
}

impl Forced<'_> {
    fn set(&mut self, key: &str, value: impl Into<EcoString>, rule: &'static Rule) {
        self.set_from(key, value, Origin::Derived(rule));
    }

    fn set_from(&mut self, key: &str, value: impl Into<EcoString>, origin: Origin) {
        let node = Node::str(value, origin);
        if let Some(written) = self.map.get(key) {
            self.rec.at(key).lost(written, Some(&node));
        }
        self.map.insert(key, node);
    }

    fn sorted(mut self) -> Map {
        self.map.sort();
        self.map
    }
}

/// The vendor of a model.
pub(crate) fn vendor(model: &Model) -> Option<&str> {
    model.object.spec("vendor").and_then(Node::as_str)
}

/// Labels of a component, sorted by key
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, ProcessBaseLabels).
pub(crate) fn labels(
    sources: &Sources<'_>,
    component: &MergedComponent,
    rec: &mut Recorder,
) -> Map {
    build_labels(sources, component, &mut rec.at(component.kind.as_str()).at("labels"))
}

fn build_labels(sources: &Sources<'_>, component: &MergedComponent, rec: &mut Recorder) -> Map {
    let mut by_key = sources.service.object.labels();
    by_key.retain(|entry| !entry.node.is_null());
    // Labels of the component count over those of the service.
    let map = union(by_key, component.spec.get("labels"), rec);
    let mut forced = Forced { map, rec };
    // Without a runtime the label is there and empty.
    let runtime = sources.runtime.map(|runtime| runtime.object.id.name.clone()).unwrap_or_default();
    forced.set("ome.io/inferenceservice", sources.service.name().clone(), &COMPONENT_LABELS);
    forced.set("component", component.kind.as_str(), &COMPONENT_LABELS);
    forced.set("serving-runtime", runtime, &COMPONENT_LABELS);
    forced.set(
        "fine-tuned-serving",
        if sources.fine_tuned.is_some() { "true" } else { "false" },
        &COMPONENT_LABELS,
    );
    if let Some(model) = sources.model {
        let category = model
            .object
            .annotation("models.ome.io/category")
            .and_then(Node::as_str)
            .unwrap_or("SMALL");
        forced.set("base-model-name", model.object.id.name.clone(), &MODEL_LABELS);
        forced.set("base-model-size", category, &MODEL_LABELS);
        forced.set("base-model-type", "Serving", &MODEL_LABELS);
        // Without a vendor upstream sets no such label.
        if let Some(vendor) = vendor(model) {
            forced.set("base-model-vendor", vendor, &MODEL_LABELS);
        }
    }
    if let Some(weight) = sources.fine_tuned {
        forced.set(
            "fine-tuned-weight-ft-strategy",
            weight.strategy.clone().unwrap_or_default(),
            &FINE_TUNED_LABELS,
        );
        forced.set(
            "fine-tuned-serving-with-merged-weights",
            if weight.merged { "true" } else { "false" },
            &FINE_TUNED_LABELS,
        );
    }
    forced.sorted()
}

/// The annotations of the service after the webhook.
pub fn of_service(policy: &Policy, service: &Service, config: &OperatorConfig) -> Map {
    let mut annotations = service.object.annotations();
    if policy.ome().webhook_annotations {
        stamp(service, config, &mut annotations);
    }
    annotations
}

/// Annotations of a component, sorted by key
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, ProcessBaseAnnotations). Quirk:
/// empty when a fine-tuned weight has no strategy, because upstream drops all of them.
pub(crate) fn annotations(
    sources: &Sources<'_>,
    of_service: &Map,
    component: &MergedComponent,
    rec: &mut Recorder,
) -> Map {
    let rec = &mut rec.at(component.kind.as_str());
    build_annotations(sources, of_service, component, &mut rec.at("annotations"))
}

fn build_annotations(
    sources: &Sources<'_>,
    of_service: &Map,
    component: &MergedComponent,
    rec: &mut Recorder,
) -> Map {
    let mut inherited = of_service.clone();
    inherited.retain(|entry| !entry.node.is_null() && !DISALLOWED.contains(&entry.key.as_str()));
    let map = union(inherited, component.spec.get("annotations"), rec);
    let mut forced = Forced { map, rec };
    if let Some(weight) = sources.fine_tuned {
        let Some(strategy) = &weight.strategy else { return Map::new() };
        forced.set(INJECT_ADAPTER, weight.name.clone(), &FINE_TUNED_ANNOTATIONS);
        forced.set(STRATEGY, strategy.clone(), &FINE_TUNED_ANNOTATIONS);
    }
    if sources.fine_tuned.is_some_and(|weight| weight.merged) {
        forced.set(MERGED_WEIGHTS, "true", &FINE_TUNED_ANNOTATIONS);
        if sources.policy.ome().merged_weights_need_no_model {
            forced.set(INJECT_MODEL_INIT, "false", &FINE_TUNED_ANNOTATIONS);
        }
    } else {
        // Merged weights are not decrypted with the keys of the base model.
        for key in DECRYPTION {
            if let Some(value) =
                sources.model.and_then(|model| model.object.annotation(key)).and_then(Node::as_str)
            {
                forced.set(key, value, &MODEL_ANNOTATIONS);
            }
        }
    }
    if let Some(model) = sources.model {
        forced.set("ome.io/base-model-name", model.object.id.name.clone(), &MODEL_ANNOTATIONS);
        if let Some(vendor) = vendor(model) {
            forced.set(VENDOR, vendor, &MODEL_ANNOTATIONS);
        }
        let format =
            |key: &str| model.object.spec("modelFormat").and_then(|format| format.get(key));
        // A value that the manifest does not set keeps the origin of its evidence.
        let origin = |node: Option<&Node>| {
            let node =
                node.filter(|_| model.evidence("modelFormat.name") > Some(Evidence::Declared));
            node.map_or(Origin::Derived(&MODEL_ANNOTATIONS), |node| node.origin)
        };
        let name = format("name");
        // The format is set also where the model has none: then it is empty.
        let text = name.and_then(Node::scalar_text).unwrap_or_default();
        forced.set_from(FORMAT, text, origin(name));
        let version = format("version");
        if let Some(text) = version.and_then(Node::scalar_text) {
            forced.set_from("ome.io/base-model-format-version", text, origin(version));
        }
    }
    if let Some(runtime) = sources.runtime {
        forced.set("ome.io/serving-runtime", runtime.object.id.name.clone(), &RUNTIME_ANNOTATION);
    }
    forced.sorted()
}

/// The annotations that the webhook writes into the service
/// (pkg/webhook/admission/isvc/inference_service_defaults.go). It reads the object before a
/// predictor is migrated.
fn stamp(service: &Service, config: &OperatorConfig, annotations: &mut Map) {
    let engine = service.object.spec("engine");
    if !annotations.contains_key(MODE_ANNOTATION) {
        let workers = engine
            .and_then(|engine| engine.at(&["worker", "size"]))
            .and_then(Node::as_int)
            .unwrap_or(0);
        let mode = if engine.is_some() && service.object.spec("decoder").is_some() {
            Some("PDDisaggregated")
        } else if engine.is_some_and(|engine| engine.get("leader").is_some()) && workers > 0 {
            Some("MultiNode")
        } else {
            // Of the defaults of the settings only this one is written into the service.
            Some("RawDeployment").filter(|default| config.default_deployment_mode == *default)
        };
        if let Some(mode) = mode {
            annotations.insert(MODE_ANNOTATION, Node::str(mode, Origin::Default(&WEBHOOK_MODE)));
        }
    }
    if service.predictor.warned && !annotations.contains_key(DEPRECATION) {
        annotations.insert(
            DEPRECATION,
            Node::str(DEPRECATION_TEXT, Origin::Default(&WEBHOOK_DEPRECATION)),
        );
    }
}

/// The text of an annotation; empty when it is absent.
pub(crate) fn value<'m>(annotations: &'m Map, key: &str) -> &'m str {
    annotations.get(key).and_then(Node::as_str).unwrap_or("")
}
