//! v1alpha1 as v1alpha2, the version that is stored
//! (pkg/apis/serving/v1alpha1/llm_inference_service_conversion.go).
//!
//! In: an object of either version. Out: the same as v1alpha2; fields that only v1alpha1 has become
//! annotations.

use super::rules::CONVERTED;
use super::scene::{at_mut, put, take};
use crate::merge::edit::{each_mut, map_mut, mapping};
use crate::schema::{self, Type};
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::sync::OnceLock;

/// The stored version.
pub(super) const STORED: &str = "serving.kserve.io/v1alpha2";
const CRITICALITY: &str = "internal.serving.kserve.io/model-criticality";
const LORA_CRITICALITIES: &str = "internal.serving.kserve.io/lora-criticalities";
const BY: Origin = Origin::Derived(&CONVERTED);

/// Converts an object of v1alpha1.
pub(super) fn stored(object: &mut Node) {
    let mut saved: Vec<(&'static str, EcoString)> = Vec::new();
    if let Some(model) = at_mut(object, &["spec", "model"]) {
        if let Some(text) = model.get("criticality").and_then(Node::scalar_text) {
            saved.push((CRITICALITY, text));
        }
        take(model, "criticality");
        // By index, because the stored version has no field for them and names may repeat.
        let mut levels = serde_json::Map::new();
        if let Some(lora) = at_mut(model, &["lora"]) {
            let mut index = 0;
            each_mut(lora, "adapters", |adapter| {
                if let Some(text) = adapter.get("criticality").and_then(Node::as_str) {
                    levels.insert(index.to_string(), text.into());
                }
                take(adapter, "criticality");
                index += 1;
            });
        }
        if !levels.is_empty() {
            saved.push((LORA_CRITICALITIES, serde_json::Value::Object(levels).to_string().into()));
        }
    }
    if let Some(spec) = at_mut(object, &["spec", "router", "scheduler", "pool", "spec"]) {
        pool(spec);
    }
    if let Some(metadata) = at_mut(object, &["metadata"])
        && !saved.is_empty()
        && let Some(annotations) = map_mut(metadata, "annotations", BY)
    {
        for (key, text) in saved {
            annotations.insert(key, Node::str(text, BY));
        }
    }
    let version = object.get("apiVersion").map_or(BY, |version| version.origin);
    put(object, "apiVersion", Node::str(STORED, version));
}

/// The specification of a pool.
fn pool(spec: &mut Node) {
    // v1alpha1 has the labels directly below `selector`.
    if let Some(selector) = spec.get("selector").cloned() {
        put(spec, "selector", mapping([("matchLabels", selector)], BY));
    }
    if let Some(number) = spec.get("targetPortNumber").cloned() {
        take(spec, "targetPortNumber");
        put(spec, "targetPorts", Node::list([mapping([("number", number)], BY)], BY));
    }
    if let Some(mut reference) = spec.get("extensionRef").cloned() {
        take(spec, "extensionRef");
        // 9002 is the conversion's default for a port that is not set.
        let number = reference.get("portNumber").cloned().unwrap_or_else(|| Node::int(9002, BY));
        take(&mut reference, "portNumber");
        put(&mut reference, "port", mapping([("number", number)], BY));
        put(spec, "endpointPickerRef", reference);
    }
}

/// The type of a specification; that of configurations, which may hold templates.
pub(super) fn spec_type() -> &'static Type {
    static TYPE: OnceLock<&'static Type> = OnceLock::new();
    TYPE.get_or_init(|| {
        schema::kind(super::convert::STORED, super::CONFIG)
            .and_then(|schema| schema.root().field("spec"))
            .map_or(&Type::Any, |field| &field.ty)
    })
}
