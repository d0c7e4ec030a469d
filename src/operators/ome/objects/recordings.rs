//! Compares the wrappers with objects recorded from the controller: pods, labels and annotations
//! are taken from the recording, everything around them must be rendered equally.

#![expect(clippy::disallowed_methods, reason = "the recording is read from where it lies")]

use crate::api::{
    Completion, ComponentKind, DeploymentMode, Object, ObjectRef, OperatorConfig, Scope, Semantics,
    Service,
};
use crate::catalog::{Builder, Catalog, Item, Options};
use crate::diag::Diagnostic;
use crate::objects::Settings;
use crate::operators::ome::objects::model_config::ModelConfig;
use crate::operators::ome::read as ome;
use crate::operators::ome::releases::V0_1_5 as OME_V0_1_5;
use crate::pods::built::{Built, Component};
use crate::quantity::recordings;
use crate::source::{SourceId, Span};
use crate::yaml::{Limits, Map, Node, Origin, Value, parse, split};
use ecow::eco_format;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;

struct World {
    catalog: Catalog,
    services: Vec<Service>,
    config: OperatorConfig,
}

/// Reads all files of a case.
fn world(files: &[std::path::PathBuf]) -> World {
    let mut builder = Builder::new(Options {
        readings: crate::operators::newest().with_modes(Semantics::Controller),
        ..Options::default()
    });
    let mut services = Vec::new();
    let mut config = OperatorConfig::default();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a readable input");
        for range in split(SourceId(0), &text).value {
            let Some(node) = parse(SourceId(0), &text, range, &Limits::default()).value else {
                continue;
            };
            let mut found: Vec<Diagnostic> = Vec::new();
            let text =
                |keys: &[&str]| node.at(keys).and_then(Node::as_str).unwrap_or_default().to_owned();
            let (kind, name, namespace) =
                (text(&["kind"]), text(&["metadata", "name"]), text(&["metadata", "namespace"]));
            let scope = if kind.starts_with("Cluster") || kind == "FineTunedWeight" {
                Scope::Cluster
            } else {
                Scope::Namespace(if namespace.is_empty() {
                    "default".into()
                } else {
                    namespace.into()
                })
            };
            let object = Object {
                api: crate::api::Api::Ome,
                api_version: text(&["apiVersion"]).into(),
                id: ObjectRef { kind: kind.as_str().into(), scope, name: name.into() },
                node: node.clone(),
                span: Span { source: SourceId(0), start: 0, end: 0 },
                builtin: false,
                reported: true,
                template: None,
            };
            match kind.as_str() {
                "BaseModel" | "ClusterBaseModel" => {
                    builder.add(Item::Model(Box::new(ome::model(
                        object,
                        Completion::default(),
                        Semantics::Controller,
                        &mut found,
                    ))));
                }
                "ServingRuntime" | "ClusterServingRuntime" => {
                    builder.add(Item::Runtime(Box::new(ome::runtime(
                        object,
                        Semantics::Controller,
                        &mut found,
                    ))));
                }
                "FineTunedWeight" => {
                    builder.add(Item::Weight(Box::new(ome::fine_tuned_weight(object))));
                }
                "InferenceService" => services.push(ome::service(object, &OME_V0_1_5, &mut found)),
                "ConfigMap" => config = ome::config(&object, &mut found),
                _ => {}
            }
        }
    }
    World { catalog: builder.finish(Vec::new()).catalog, services, config }
}

fn text<'a>(object: &'a Json, path: &str) -> &'a str {
    object.pointer(path).and_then(Json::as_str).unwrap_or_default()
}

fn map(value: Option<&Json>, drop: &[&str]) -> Map {
    let mut map = Map::new();
    for (key, value) in value
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
        .filter(|(key, _)| !drop.contains(&key.as_str()))
    {
        map.insert(key.as_str(), Node::from_json(value, ORIGIN));
    }
    map
}

const ORIGIN: Origin = Origin::Default(&crate::objects::testing::GIVEN);
const ADDED: [&str; 7] = [
    "app",
    "ray.io/node-type",
    "volcano.sh/queue-name",
    "ray.io/priority-class-name",
    "ray.io/scheduler-name",
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/priority-class",
];
const SCALING: [&str; 5] = [
    "autoscaling.knative.dev/class",
    "autoscaling.knative.dev/min-scale",
    "autoscaling.knative.dev/max-scale",
    "autoscaling.knative.dev/target",
    "autoscaling.knative.dev/metric",
];

/// Reconstructs a component from the workload that was recorded for it.
fn component(
    world: &World,
    service: &Service,
    kind: ComponentKind,
    recorded: &[Json],
) -> Option<Component> {
    let name = eco_format!("{}-{}", service.name(), kind.as_str());
    let find = |kind: &str, api: &str, name: &str| {
        recorded.iter().find(|object| {
            text(object, "/kind") == kind
                && text(object, "/apiVersion").starts_with(api)
                && text(object, "/metadata/name") == name
        })
    };
    let pod = |node: Option<&Json>| node.map(|node| Node::from_json(node, ORIGIN));
    let (mode, template, worker, annotations_dropped): (_, &Json, _, &[&str]) =
        if let Some(object) = find("Deployment", "apps/", &name) {
            (DeploymentMode::RawDeployment, object.pointer("/spec/template")?, None, &[])
        } else if let Some(object) =
            find("LeaderWorkerSet", "", &super::names::leader_worker_set(&name))
        {
            let worker = pod(object.pointer("/spec/leaderWorkerTemplate/workerTemplate/spec"))?;
            let size = object.pointer("/spec/leaderWorkerTemplate/size").and_then(Json::as_i64)?;
            (
                DeploymentMode::MultiNode,
                object.pointer("/spec/leaderWorkerTemplate/leaderTemplate")?,
                Some((worker, size - 1)),
                &[],
            )
        } else if let Some(object) = find("Service", "serving.knative.dev", &name) {
            (DeploymentMode::Serverless, object.pointer("/spec/template")?, None, &SCALING)
        } else {
            let object = find("RayCluster", "", &format!("{name}-0"))?;
            (
                DeploymentMode::MultiNodeRayVllm,
                object.pointer("/spec/headGroupSpec/template")?,
                None,
                &[],
            )
        };
    // Labels that the wrappers add are taken off, or the comparison would find them in both.
    let labels = map(template.pointer("/metadata/labels"), &ADDED);
    let mut annotations = map(template.pointer("/metadata/annotations"), annotations_dropped);
    let service_labels = service.object.labels();
    let mut with_hidden = labels.clone();
    // Knative revisions lose the visibility label, and a user's label `app` is overwritten.
    for entry in service_labels
        .iter()
        .filter(|entry| entry.key == crate::objects::metadata::VISIBILITY || entry.key == "app")
    {
        with_hidden.insert_entry(entry.clone());
    }
    let runtime = world.catalog.all_runtimes().find(|runtime| {
        Some(&runtime.object.id.name)
            == labels.get("serving-runtime").and_then(Node::scalar_text).as_ref()
    });
    let mut spec = runtime
        .and_then(|runtime| runtime.config(kind))
        .and_then(Node::as_map)
        .cloned()
        .unwrap_or_default();
    // Replicas come from the service, never from the runtime, whose values would be left over.
    for key in ["minReplicas", "maxReplicas"] {
        spec.remove(key);
    }
    lay_over(&mut spec, service.component(kind)?.as_map()?);
    for (key, default) in
        [("minReplicas", 1), ("maxReplicas", if kind == ComponentKind::Router { 2 } else { 3 })]
    {
        if !spec.contains_key(key) {
            spec.insert(key, Node::int(default, ORIGIN));
        }
    }
    // An annotation that Knative's autoscaler writes may also be set by the component.
    for entry in spec.get("annotations").map(Node::entries).into_iter().flatten() {
        if !annotations.contains_key(&entry.key) && !annotations_dropped.is_empty() {
            annotations.insert_entry(entry.clone());
        }
    }
    Some(Component {
        kind,
        name,
        mode,
        spec: Node::new(Value::Map(spec), ORIGIN),
        labels: with_hidden,
        annotations,
        pod: pod(template.get("spec"))?,
        worker,
        worker_metadata: None,
        main: 0,
        worker_main: 0,
    })
}

/// Merges maps and replaces everything else: enough for the few fields that wrappers read.
fn lay_over(base: &mut Map, over: &Map) {
    for entry in over {
        match (base.get_mut(&entry.key).and_then(Node::as_map_mut), entry.node.as_map()) {
            (Some(base), Some(over)) => lay_over(base, over),
            _ => base.insert_entry(entry.clone()),
        }
    }
}

/// An object without the fields that no comparison uses.
fn plain(value: &Json, key: &str) -> Option<Json> {
    match value {
        Json::Null => None,
        Json::Array(items) => {
            let items: Vec<Json> =
                items.iter().map(|item| plain(item, "").unwrap_or(Json::Null)).collect();
            // Go omits empty lists and maps, and the recording was made of Go's output.
            (!items.is_empty()).then_some(Json::Array(items))
        }
        Json::Object(fields) => {
            let fields: serde_json::Map<String, Json> = fields
                .iter()
                .filter(|(name, _)| {
                    !matches!(name.as_str(), "ownerReferences" | "creationTimestamp" | "status")
                })
                .filter_map(|(name, value)| Some((name.clone(), plain(value, name)?)))
                .collect();
            // These two are written although they are empty.
            (!fields.is_empty() || matches!(key, "emptyDir" | "rayStartParams"))
                .then_some(Json::Object(fields))
        }
        other => Some(other.clone()),
    }
}

fn by_identity<'a>(objects: impl IntoIterator<Item = &'a Json>) -> BTreeMap<String, Json> {
    let identity = |object: &Json| {
        ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"]
            .map(|path| text(object, path).to_owned())
            .join(" ")
    };
    objects
        .into_iter()
        .map(|object| (identity(object), plain(object, "").unwrap_or(Json::Null)))
        .collect()
}

fn differences(case: &Path) -> Option<Vec<String>> {
    let read = |name: &str| {
        std::fs::read_to_string(case.join(name))
            .ok()
            .and_then(|text| serde_json::from_str::<Json>(&text).ok())
    };
    let (about, recorded) = (read("case.json")?, read("objects.json")?);
    let arguments: Vec<&str> =
        about.pointer("/runs/0/args")?.as_array()?.iter().filter_map(Json::as_str).collect();
    let file = |text: &str| text.replace("{case}", &case.to_string_lossy()).into();
    let files: Vec<std::path::PathBuf> =
        arguments.windows(2).filter(|pair| pair[0] == "-f").map(|pair| file(pair[1])).collect();
    if files.iter().any(|file: &std::path::PathBuf| !file.is_file()) {
        return None;
    }
    let recorded: Vec<Json> = recorded.as_array()?.clone();
    let world = world(&files);
    let mut rendered = Vec::new();
    let mut problems = Vec::new();
    for service in &world.services {
        let components = ComponentKind::OME
            .into_iter()
            .filter_map(|kind| component(&world, service, kind, &recorded))
            .collect();
        let kind = service.model.as_ref().map(|model| model.name.value.clone());
        let served = kind.and_then(|name| {
            world
                .catalog
                .model(&Scope::Namespace(service.namespace.clone()), &name)
                .or_else(|| world.catalog.model(&Scope::Cluster, &name))
        });
        let composed = Built { service, model: served, runtime: None, components };
        let model = ModelConfig::look_up(&OME_V0_1_5, &world.catalog, service, served);
        let settings = Settings {
            policy: &OME_V0_1_5,
            config: &world.config,
            cluster_domain: "cluster.local",
        };
        let written = super::objects(&composed, model.as_ref(), settings);
        match written.map(|mut written| {
            crate::objects::finish(&mut written.value);
            written
        }) {
            Ok(found) => rendered.extend(found.value.iter().map(|object| object.node.to_json())),
            Err(error) => problems.push(format!("{}: {}", service.name(), error.message)),
        }
    }
    let (rendered, recorded) = (by_identity(&rendered), by_identity(&recorded));
    for (identity, object) in &recorded {
        match rendered.get(identity) {
            None => problems.push(format!("missing {identity}")),
            Some(other) if other != object => {
                problems.push(format!("{identity}\n    rendered {other}\n    recorded {object}"));
            }
            Some(_) => {}
        }
    }
    problems.extend(
        rendered
            .keys()
            .filter(|identity| !recorded.contains_key(*identity))
            .map(|identity| format!("unexpected {identity}")),
    );
    Some(problems)
}

#[test]
fn rendered_objects_match_the_recorded_controller() {
    let mut failed = Vec::new();
    let mut compared = 0;
    for case in &recordings::cases("ome-objects") {
        if let Some(problems) = differences(case) {
            compared += 1;
            if !problems.is_empty() {
                failed.push(format!("{}\n  {}", case.display(), problems.join("\n  ")));
            }
        }
    }
    assert!(compared > 30, "only {compared} cases were read");
    assert!(
        failed.is_empty(),
        "{} of {compared} cases differ:\n{}",
        failed.len(),
        failed.join("\n")
    );
}
