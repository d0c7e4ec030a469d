//! Small fleets: models, runtimes that nearly match them, services that use them; of OME, of
//! KServe, or of both under the same names.
//!
//! Values are drawn from short lists, so that most pairs of model and runtime differ in one thing
//! or in nothing. The values are the same for both APIs as far as both have them, in their own
//! spelling.

use ome::internals::api::Api;
use ome::internals::yaml::{Node, Origin, Rule, write};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

static DRAWN: Rule = Rule { id: "drawn", text: "Drawn by a test.", cite: "tests/it/properties" };

/// Objects of an input, a document each.
#[derive(Clone)]
pub(super) struct Fleet {
    pub(super) documents: Vec<Node>,
}

impl std::fmt::Debug for Fleet {
    /// As the text it is: a fleet that fails can be read and tried.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.text())
    }
}

impl Fleet {
    /// As one text of several documents.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for document in &self.documents {
            out.push_str("---\n");
            write(&mut out, document);
        }
        out
    }

    /// The document of an object of an API, by `Kind/name` or `Kind/namespace/name`.
    pub(super) fn position(&self, api: Api, object: &str) -> Option<usize> {
        self.documents.iter().position(|document| {
            let own = document
                .get("apiVersion")
                .and_then(Node::as_str)
                .is_some_and(|version| version.starts_with(group(api)));
            let text = |keys: &[&str]| document.at(keys).and_then(Node::as_str).unwrap_or_default();
            let name = match text(&["metadata", "namespace"]) {
                "" => text(&["metadata", "name"]).to_owned(),
                namespace => format!("{namespace}/{}", text(&["metadata", "name"])),
            };
            own && format!("{}/{name}", text(&["kind"])) == object
        })
    }
}

/// A value as a node of a document.
pub(super) fn node(value: &Value) -> Node {
    Node::from_json(value, Origin::Flag(&DRAWN))
}

/// Something of a list, or nothing.
pub(super) fn maybe(
    choices: &'static [&'static str],
) -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![1 => Just(None), 2 => select(choices).prop_map(Some)]
}

/// True once in `n` times.
pub(super) fn rarely(n: u32) -> impl Strategy<Value = bool> {
    (0..n).prop_map(|drawn| drawn == 0)
}

/// Adds present values to a mapping.
pub(super) fn put(map: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), value.into());
    }
}

/// A name with an optional version.
fn named(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    (select(names), maybe(&["1.0", "1.0.0", "2.1"])).prop_map(|(name, version)| {
        let mut out = Map::new();
        out.insert("name".into(), name.into());
        put(&mut out, "version", version);
        Value::Object(out)
    })
}

/// The attributes that model and runtime share.
fn tuple() -> impl Strategy<Value = Map<String, Value>> {
    let framework =
        prop_oneof![1 => Just(None), 2 => named(&["transformers", "onnx"]).prop_map(Some)];
    let drawn = (
        named(&["safetensors", "gguf"]),
        framework,
        maybe(&["LlamaForCausalLM", "Qwen2ForCausalLM"]),
        maybe(&["fp8"]),
    );
    let drawn = drawn.prop_map(|(format, framework, architecture, quantization)| {
        let mut out = Map::new();
        out.insert("modelFormat".into(), format);
        put(&mut out, "modelFramework", framework);
        put(&mut out, "modelArchitecture", architecture);
        put(&mut out, "quantization", quantization);
        out
    });
    let mut common = Map::new();
    common.insert("modelFormat".into(), json!({"name": "safetensors", "version": "1.0.0"}));
    common.insert("modelArchitecture".into(), "LlamaForCausalLM".into());
    prop_oneof![2 => Just(common), 1 => drawn]
}

/// The API group.
fn group(api: Api) -> &'static str {
    if api == Api::KServe { "serving.kserve.io" } else { "ome.io" }
}

fn object(
    api: Api,
    kind: &str,
    name: &str,
    namespace: Option<&str>,
    spec: &Map<String, Value>,
) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".into(), name.into());
    put(&mut metadata, "namespace", namespace);
    let version =
        if api == Api::KServe && kind != "InferenceService" { "v1alpha1" } else { "v1beta1" };
    json!({"apiVersion": format!("{}/{version}", group(api)), "kind": kind, "metadata": metadata, "spec": spec})
}

fn model(index: usize) -> impl Strategy<Value = Value> {
    (tuple(), maybe(&["3B", "7B", "13.5B", "70B"]), maybe(&["team-a"]), rarely(10)).prop_map(move |(mut spec, size, namespace, disabled)| {
        put(&mut spec, "modelParameterSize", size);
        put(&mut spec, "disabled", disabled.then_some(true));
        spec.insert("storage".into(), json!({"storageUri": format!("hf://example/m{index}"), "path": format!("/mnt/models/m{index}")}));
        object(Api::Ome, if namespace.is_some() { "BaseModel" } else { "ClusterBaseModel" }, &format!("m{index}"), namespace, &spec)
    })
}

/// The attributes of a format: all that OME compares, or name and version alone.
fn format(api: Api) -> BoxedStrategy<Map<String, Value>> {
    if api == Api::Ome {
        return tuple().boxed();
    }
    let versioned = |(name, version): (&'static str, Option<&'static str>)| {
        let mut out = Map::new();
        out.insert("name".into(), name.into());
        put(&mut out, "version", version);
        out
    };
    (select(&["sklearn", "sklearn", "onnx"]), maybe(&["1", "2"])).prop_map(versioned).boxed()
}

fn entry(api: Api) -> impl Strategy<Value = Value> {
    // The CRD of KServe has no priority below 1.
    let least = i64::from(api == Api::KServe);
    (
        format(api),
        prop_oneof![4 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)],
        proptest::option::of(least..3_i64),
    )
        .prop_map(|(mut entry, automatic, priority)| {
            put(&mut entry, "autoSelect", automatic);
            put(&mut entry, "priority", priority);
            Value::Object(entry)
        })
}

/// Replicas, selectors and a container, on a runtime or on a service.
#[derive(Clone, Debug)]
struct Part {
    least: Option<i64>,
    most: Option<i64>,
    selector: Option<Value>,
    /// Arguments, environment and image.
    container: Map<String, Value>,
}

impl Part {
    /// A mapping with the container under `key`.
    fn spelled(self, key: &str, name: &str) -> Map<String, Value> {
        let mut container = self.container;
        if !name.is_empty() {
            container.insert("name".into(), name.into());
        }
        let mut out = Map::new();
        put(&mut out, "minReplicas", self.least);
        put(&mut out, "maxReplicas", self.most);
        put(&mut out, "nodeSelector", self.selector);
        out.insert(key.to_owned(), container.into());
        out
    }
}

fn part(image: bool) -> impl Strategy<Value = Part> {
    let arguments = subsequence(vec!["--port", "8080", "--tp-size", "yes", "{{.Name}}"], 0..=5);
    let environment = subsequence(
        vec![("HF_HUB_OFFLINE", "1"), ("LOG", "on"), ("NUMBER", "0x1F"), ("COLON", "a: b")],
        0..=4,
    );
    (
        proptest::option::of(0..3_i64),
        proptest::option::of(2..5_i64),
        arguments,
        environment,
        maybe(&["h100", "a100"]),
    )
        .prop_map(move |(least, most, arguments, environment, accelerator)| {
            let mut container = Map::new();
            put(&mut container, "image", image.then_some("docker.io/example/engine:v1"));
            put(&mut container, "args", (!arguments.is_empty()).then(|| Value::from(arguments)));
            let environment: Vec<Value> = environment
                .into_iter()
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
            put(&mut container, "env", (!environment.is_empty()).then_some(environment));
            Part {
                least,
                most,
                selector: accelerator.map(|name| json!({"accelerator": name})),
                container,
            }
        })
}

/// The bounds of a size range; only OME has one.
fn range() -> impl Strategy<Value = Option<Value>> {
    let open = (maybe(&["1B", "5B", "10B"]), maybe(&["9B", "20B", "100B"]));
    let closed = (select(vec!["1B", "5B"]), select(vec!["9B", "20B", "100B"]))
        .prop_map(|(min, max)| (Some(min), Some(max)));
    prop_oneof![1 => open, 4 => closed].prop_map(|(min, max)| {
        let mut bounds = Map::new();
        put(&mut bounds, "min", min);
        put(&mut bounds, "max", max);
        (!bounds.is_empty()).then(|| bounds.into())
    })
}

fn runtime(api: Api, index: usize) -> impl Strategy<Value = Value> {
    let created = maybe(&["2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]);
    let formats =
        prop_oneof![1 => Just(Vec::new()), 12 => proptest::collection::vec(entry(api), 1..3)];
    let usual = if api == Api::KServe { vec!["v1", "v2"] } else { vec!["openAI"] };
    let protocols = prop_oneof![3 => Just(usual), 1 => Just(vec![]), 1 => Just(vec!["v2"])];
    (formats, range(), protocols, maybe(&["team-a", "team-b"]), (rarely(10), rarely(12), rarely(12)), created, part(true)).prop_map(
        move |(formats, range, protocols, namespace, (disabled, several_models, several_nodes), created, part)| {
            let mut spec = Map::new();
            put(&mut spec, "disabled", disabled.then_some(true));
            spec.insert("supportedModelFormats".into(), formats.into());
            put(&mut spec, "protocolVersions", (!protocols.is_empty()).then(|| Value::from(protocols)));
            if api == Api::Ome {
                put(&mut spec, "modelSizeRange", range);
                spec.insert("engineConfig".into(), part.spelled("runner", "ome-container").into());
            } else {
                put(&mut spec, "multiModel", several_models.then_some(true));
                put(&mut spec, "workerSpec", several_nodes.then(|| json!({"containers": [{"name": "worker-container", "image": "example/worker:v1"}]})));
                put(&mut spec, "nodeSelector", part.selector.clone());
                let container = part.spelled("container", "kserve-container").remove("container");
                spec.insert("containers".into(), Value::Array(container.into_iter().collect()));
            }
            let namespace = namespace.filter(|_| index.is_multiple_of(3));
            let kind = if namespace.is_some() { "ServingRuntime" } else { "ClusterServingRuntime" };
            let mut runtime = object(api, kind, &format!("r{index}"), namespace, &spec);
            if let Some(created) = created {
                runtime["metadata"]["creationTimestamp"] = created.into();
            }
            runtime
        },
    )
}

fn service(api: Api, index: usize, models: usize, runtimes: usize) -> impl Strategy<Value = Value> {
    let named = prop_oneof![5 => Just(None), 1 => (0..runtimes).prop_map(Some)];
    let asked = (format(api), maybe(&["v1", "v2"]), maybe(&["Standard", "Knative"]));
    (select(vec!["team-a", "team-b"]), 0..models, named, proptest::option::of(part(false)), asked)
        .prop_map(move |(namespace, model, runtime, part, (format, protocol, mode))| {
            let mut spec = Map::new();
            let runtime = runtime.map(|runtime| format!("r{runtime}"));
            if api == Api::Ome {
                spec.insert("model".into(), json!({"name": format!("m{model}")}));
                put(&mut spec, "runtime", runtime.map(|name| json!({"name": name})));
                spec.insert(
                    "engine".into(),
                    part.map_or_else(
                        || json!({}),
                        |part| part.spelled("runner", "ome-container").into(),
                    ),
                );
                return object(
                    api,
                    "InferenceService",
                    &format!("s{index}"),
                    Some(namespace),
                    &spec,
                );
            }
            let mut predictor = part.map_or_else(Map::new, |part| part.spelled("model", ""));
            let mut inline =
                predictor.get("model").and_then(Value::as_object).cloned().unwrap_or_default();
            inline.insert("modelFormat".into(), format.into());
            inline.insert("storageUri".into(), format!("s3://example/m{model}").into());
            put(&mut inline, "protocolVersion", protocol);
            put(&mut inline, "runtime", runtime);
            predictor.insert("model".into(), inline.into());
            spec.insert("predictor".into(), predictor.into());
            let mut service =
                object(api, "InferenceService", &format!("s{index}"), Some(namespace), &spec);
            if let Some(mode) = mode {
                service["metadata"]["annotations"] =
                    json!({"serving.kserve.io/deploymentMode": mode});
            }
            service
        })
}

/// Up to four models, seven runtimes and five services of one API. A service of KServe describes
/// its model itself.
fn of(api: Api) -> BoxedStrategy<Vec<Node>> {
    (1..4_usize, 1..8_usize, 1..6_usize)
        .prop_flat_map(move |(models, runtimes, services)| {
            let models_drawn: Vec<_> =
                (0..if api == Api::Ome { models } else { 0 }).map(model).collect();
            let runtimes_drawn: Vec<_> = (0..runtimes).map(|index| runtime(api, index)).collect();
            let services_drawn: Vec<_> =
                (0..services).map(|index| service(api, index, models, runtimes)).collect();
            (models_drawn, runtimes_drawn, services_drawn).prop_map(
                |(models, runtimes, services)| {
                    models.iter().chain(&runtimes).chain(&services).map(node).collect()
                },
            )
        })
        .boxed()
}

/// A fleet of OME, of KServe, or of both, whose objects then have the same names.
pub(super) fn fleets() -> impl Strategy<Value = Fleet> {
    let both = (of(Api::Ome), of(Api::KServe))
        .prop_map(|(ome, kserve)| ome.into_iter().chain(kserve).collect());
    prop_oneof![2 => of(Api::Ome), 2 => of(Api::KServe), 1 => both]
        .prop_map(|documents: Vec<Node>| Fleet { documents })
}
