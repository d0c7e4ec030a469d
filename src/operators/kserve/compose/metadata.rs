//! Labels and annotations of a component
//! (pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildObjectMeta).

use super::Facts;
use super::fields::INTERNAL;
use crate::api::{ComponentKind, DeploymentMode, KServeConfig, Semantics, Service};
use crate::merge::edit::union;
use crate::merge::history::Recorder;
use crate::operators::kserve::mode::{self, ANNOTATION};
use crate::operators::kserve::rules::Rules as _;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::pods::rules::{KSERVE_FORMAT, KSERVE_INTERNAL, KSERVE_LABELS, KSERVE_MODE};
use crate::policy::Policy;
use crate::yaml::{Map, Node, Origin, Value};
use ecow::{EcoString, eco_format};

/// Annotation of the number of pods that a revision begins with.
const INITIAL_SCALE: &str = "autoscaling.knative.dev/initial-scale";

/// The annotations of a service after the defaulting webhook. An initial scale that Knative would
/// refuse is dropped.
pub(super) fn of_service(
    policy: &Policy,
    service: &Service,
    model: Option<&Node>,
    mode: DeploymentMode,
    config: &KServeConfig,
) -> Map {
    let mut annotations = service.object.annotations();
    if mode == DeploymentMode::Serverless {
        // Knative refuses 0 unless its settings allow it, and anything that is no number.
        let scale = annotations.get(INITIAL_SCALE).and_then(Node::scalar_text);
        let refused = |scale: i64| scale == 0 && !config.zero_initial_scale;
        if scale.is_some_and(|text| text.parse().ok().is_none_or(refused)) {
            annotations.remove(INITIAL_SCALE);
        }
    }
    if policy.kserve().webhook_annotations {
        // Legacy names of modes are stored under their current name, so later steps compare only
        // one.
        let written = annotations.get(ANNOTATION).and_then(Node::as_str);
        let default = config.default_mode.as_deref().and_then(mode::from_name);
        let mode = match written {
            Some(text) => mode::from_name(text),
            None => default.filter(|mode| *mode != DeploymentMode::Serverless),
        };
        if let Some(mode) = mode {
            let word = mode::name(mode, Semantics::Controller);
            if written != Some(word) {
                annotations.insert(ANNOTATION, Node::str(word, Origin::Default(&KSERVE_MODE)));
            }
        }
    }
    let format = model
        .and_then(|model| model.at(&["modelFormat", "name"]))
        .and_then(Node::as_str)
        .filter(|name| !name.is_empty());
    // The defaulting webhook does not replace an annotation that is there.
    if let Some(format) = format.filter(|_| !annotations.contains_key("modelFormat")) {
        annotations.insert("modelFormat", Node::str(format, Origin::Default(&KSERVE_FORMAT)));
    }
    annotations.sort();
    annotations
}

/// Labels of a component, sorted by key: runtime, service, component, then what the controller
/// sets.
pub(super) fn labels(
    facts: &Facts<'_>,
    kind: ComponentKind,
    runtime: Option<&Node>,
    spec: &Node,
    rec: &mut Recorder,
) -> Map {
    let runtime = runtime.and_then(|runtime| runtime.get("labels"));
    let service = Node::new(Value::Map(facts.labels.clone()), facts.service.object.node.origin);
    let layers = [runtime, Some(&service), spec.get("labels")];
    layered(kind, "labels", layers, rec, |labels, rec| {
        let origin = Origin::Derived(&KSERVE_LABELS);
        for (key, value) in [
            ("serving.kserve.io/inferenceservice", facts.service.name().as_str()),
            ("component", kind.as_str()),
        ] {
            // Set last: the controller overwrites what a layer has under its two keys.
            let node = Node::str(value, origin);
            if let Some(written) = labels.get(key) {
                rec.at(key).lost(written, Some(&node));
            }
            labels.insert(key, node);
        }
    })
}

/// Annotations of a component, sorted by key: runtime, service with what the webhook of pods needs,
/// component.
pub(super) fn annotations(
    facts: &Facts<'_>,
    kind: ComponentKind,
    runtime: Option<&Node>,
    spec: &Node,
    rec: &mut Recorder,
) -> Map {
    let allowed =
        |node: &Node| Node::new(Value::Map(facts.allowed_annotations(node.as_map())), node.origin);
    let runtime = runtime.and_then(|runtime| runtime.get("annotations")).map(allowed);
    let mut service = facts.allowed_annotations(Some(&facts.annotations));
    internal(facts, kind, spec, &mut service);
    let service = Node::new(Value::Map(service), facts.service.object.node.origin);
    let annotations = spec.get("annotations").map(allowed);
    let layers = [runtime.as_ref(), Some(&service), annotations.as_ref()];
    layered(kind, "annotations", layers, rec, |_, _| {})
}

/// Labels or annotations of a component, sorted by key: each layer wins over those before it, then
/// comes what the controller sets.
fn layered(
    kind: ComponentKind,
    field: &'static str,
    layers: [Option<&Node>; 3],
    rec: &mut Recorder,
    set: impl FnOnce(&mut Map, &mut Recorder),
) -> Map {
    let rec = &mut rec.at(kind.as_str());
    let rec = &mut rec.at(field);
    let mut merged = layers.into_iter().fold(Map::new(), |merged, layer| union(merged, layer, rec));
    set(&mut merged, rec);
    // Go maps are written sorted, and a stable order keeps diffs empty.
    merged.sort();
    merged
}

/// Sets the annotations that the webhook of pods reads.
fn internal(facts: &Facts<'_>, kind: ComponentKind, spec: &Node, annotations: &mut Map) {
    let derived = Origin::Derived(&KSERVE_INTERNAL);
    let mut put = |key: &str, value: EcoString, origin: Origin| {
        annotations.insert(eco_format!("{INTERNAL}{key}"), Node::str(value, origin));
    };
    if let Some((uri, origin)) = storage_uri(kind, spec) {
        put("storage-initializer-sourceuri", uri, origin);
        // Quirk: the annotation with the container's name is only set together with `storageUri`.
        if let Some(name) = spec
            .get("storageContainerName")
            .filter(|name| kind == ComponentKind::Predictor && name.as_str() != Some(""))
        {
            put("storage-container-name", name.scalar_text().unwrap_or_default(), name.origin);
        }
    }
    if kind == ComponentKind::Predictor {
        if let Some(storage) = facts.model("storage") {
            put("storage-spec", "true".into(), derived);
            if let Some((parameters, map)) = storage
                .get("parameters")
                .and_then(|parameters| Some((parameters, parameters.as_map()?)))
            {
                put("storage-spec-param", super::fields::parameters(map).into(), parameters.origin);
            }
            if let Some(key) = storage.get("key") {
                put("storage-spec-key", key.scalar_text().unwrap_or_default(), key.origin);
            }
            if let Some(path) =
                storage.get("path").and_then(|path| Some((path.as_str()?, path.origin)))
            {
                // The scheme is unknown until the webhook reads the Secret, which replaces this
                // placeholder.
                put(
                    "storage-initializer-sourceuri",
                    eco_format!(
                        "<scheme-placeholder>://{}",
                        path.0.strip_prefix('/').unwrap_or(path.0)
                    ),
                    path.1,
                );
            }
        }
        if let Some(confidential) = facts.model("confidential").filter(|confidential| {
            confidential.get("enabled").and_then(Node::as_bool) == Some(true)
        }) {
            put("confidential-enabled", "true".into(), derived);
            if let Some(id) = confidential.get("resourceId").filter(|id| id.as_str() != Some("")) {
                put("confidential-resource-id", id.scalar_text().unwrap_or_default(), id.origin);
            }
        }
    }
    if let Some(logger) = spec.get("logger").filter(|logger| logger.as_map().is_some()) {
        put("logger", "true".into(), derived);
        let lists = [
            ("metadataHeaders", "logger-metadata-headers"),
            ("metadataAnnotations", "logger-metadata-annotations"),
        ];
        for (field, key) in [("url", "logger-sink-url"), ("mode", "logger-mode")] {
            if let Some(value) =
                logger.get(field).and_then(|node| Some((node.scalar_text()?, node.origin)))
            {
                put(key, value.0, value.1);
            }
        }
        for (field, key) in lists {
            if let Some(list) = logger.get(field).filter(|list| !list.items().is_empty()) {
                let items: Vec<&str> = list.items().iter().filter_map(Node::as_str).collect();
                put(key, items.join(",").into(), list.origin);
            }
        }
    }
    // Quirk: an explainer never gets the settings of its batcher.
    if let Some(batcher) = spec
        .get("batcher")
        .filter(|batcher| kind != ComponentKind::Explainer && batcher.as_map().is_some())
    {
        put("batcher", "true".into(), derived);
        for (field, key) in
            [("maxBatchSize", "batcher-max-batchsize"), ("maxLatency", "batcher-max-latency")]
        {
            if let Some(value) =
                batcher.get(field).and_then(|node| Some((node.scalar_text()?, node.origin)))
            {
                put(key, value.0, value.1);
            }
        }
    }
    if kind == ComponentKind::Predictor && facts.pulls_models() {
        put("agent", "true".into(), derived);
        put("configVolumeName", eco_format!("modelconfig-{}-0", facts.service.name()), derived);
        put("configMountPath", "/mnt/configs".into(), derived);
        put("modelDir", "/mnt/models".into(), derived);
    }
}
