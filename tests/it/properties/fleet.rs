//! Small fleets: models, runtimes that nearly fit them, services that ask for them.
//!
//! Values are drawn from short lists, so that most pairs of model and runtime differ in one thing or in nothing.

use ome::yaml::{Node, Origin, Rule, write};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

static DRAWN: Rule = Rule { id: "drawn", text: "Drawn by a test.", cite: "tests/it/properties" };

/// Objects of an input, a document each.
#[derive(Clone, Debug)]
pub(super) struct Fleet {
    pub(super) documents: Vec<Node>,
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

    /// The document of an object, by `Kind/name` or `Kind/namespace/name`.
    pub(super) fn position(&self, object: &str) -> Option<usize> {
        self.documents.iter().position(|document| {
            let text = |keys: &[&str]| document.at(keys).and_then(Node::as_str).unwrap_or_default();
            let name = match text(&["metadata", "namespace"]) {
                "" => text(&["metadata", "name"]).to_owned(),
                namespace => format!("{namespace}/{}", text(&["metadata", "name"])),
            };
            format!("{}/{name}", text(&["kind"])) == object
        })
    }
}

/// A value as a node of a document.
pub(super) fn node(value: &Value) -> Node {
    Node::from_json(value, Origin::Flag(&DRAWN))
}

/// Something of a list, or nothing.
pub(super) fn maybe(choices: &'static [&'static str]) -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![1 => Just(None), 2 => select(choices).prop_map(Some)]
}

/// True once in `n` times.
pub(super) fn rarely(n: u32) -> impl Strategy<Value = bool> {
    (0..n).prop_map(|drawn| drawn == 0)
}

/// Puts what is there into a mapping.
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

/// What model and runtime have in common.
fn tuple() -> impl Strategy<Value = Map<String, Value>> {
    let framework = prop_oneof![1 => Just(None), 2 => named(&["transformers", "onnx"]).prop_map(Some)];
    let drawn = (named(&["safetensors", "gguf"]), framework, maybe(&["LlamaForCausalLM", "Qwen2ForCausalLM"]), maybe(&["fp8"]));
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

fn object(kind: &str, name: &str, namespace: Option<&str>, spec: &Map<String, Value>) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".into(), name.into());
    put(&mut metadata, "namespace", namespace);
    json!({"apiVersion": "ome.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec})
}

fn model(index: usize) -> impl Strategy<Value = Value> {
    (tuple(), maybe(&["3B", "7B", "13.5B", "70B"]), maybe(&["team-a"]), rarely(10)).prop_map(move |(mut spec, size, namespace, disabled)| {
        put(&mut spec, "modelParameterSize", size);
        put(&mut spec, "disabled", disabled.then_some(true));
        spec.insert("storage".into(), json!({"storageUri": format!("hf://example/m{index}"), "path": format!("/mnt/models/m{index}")}));
        object(if namespace.is_some() { "BaseModel" } else { "ClusterBaseModel" }, &format!("m{index}"), namespace, &spec)
    })
}

fn entry() -> impl Strategy<Value = Value> {
    (tuple(), prop_oneof![4 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)], proptest::option::of(0..3_i64)).prop_map(
        |(mut entry, automatic, priority)| {
            put(&mut entry, "autoSelect", automatic);
            put(&mut entry, "priority", priority);
            Value::Object(entry)
        },
    )
}

/// Replicas, arguments, environment and selectors, on a runtime or on a service.
fn component(image: bool) -> impl Strategy<Value = Value> {
    let arguments = subsequence(vec!["--port", "8080", "--tp-size", "yes", "{{.Name}}"], 0..=5);
    let environment = subsequence(vec![("HF_HUB_OFFLINE", "1"), ("LOG", "on"), ("NUMBER", "0x1F"), ("COLON", "a: b")], 0..=4);
    (proptest::option::of(0..3_i64), proptest::option::of(2..5_i64), arguments, environment, maybe(&["h100", "a100"])).prop_map(
        move |(least, most, arguments, environment, accelerator)| {
            let mut runner = Map::new();
            runner.insert("name".into(), "ome-container".into());
            put(&mut runner, "image", image.then_some("docker.io/example/engine:v1"));
            put(&mut runner, "args", (!arguments.is_empty()).then(|| Value::from(arguments)));
            let environment: Vec<Value> = environment.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
            put(&mut runner, "env", (!environment.is_empty()).then_some(environment));
            let mut out = Map::new();
            put(&mut out, "minReplicas", least);
            put(&mut out, "maxReplicas", most);
            put(&mut out, "nodeSelector", accelerator.map(|name| json!({"accelerator": name})));
            out.insert("runner".into(), runner.into());
            Value::Object(out)
        },
    )
}

fn runtime(index: usize) -> impl Strategy<Value = Value> {
    let open = (maybe(&["1B", "5B", "10B"]), maybe(&["9B", "20B", "100B"]));
    let closed = (select(vec!["1B", "5B"]), select(vec!["9B", "20B", "100B"])).prop_map(|(min, max)| (Some(min), Some(max)));
    let range = prop_oneof![1 => open, 4 => closed];
    let created = maybe(&["2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]);
    let formats = prop_oneof![1 => Just(Vec::new()), 12 => proptest::collection::vec(entry(), 1..3)];
    (
        formats,
        range,
        prop_oneof![3 => Just(vec!["openAI"]), 1 => Just(vec![]), 1 => Just(vec!["v2"])],
        maybe(&["team-a", "team-b"]),
        rarely(10),
        created,
        component(true),
    )
        .prop_map(move |(formats, (min, max), protocols, namespace, disabled, created, engine)| {
            let mut spec = Map::new();
            put(&mut spec, "disabled", disabled.then_some(true));
            spec.insert("supportedModelFormats".into(), formats.into());
            let mut bounds = Map::new();
            put(&mut bounds, "min", min);
            put(&mut bounds, "max", max);
            put(&mut spec, "modelSizeRange", (!bounds.is_empty()).then_some(bounds));
            put(&mut spec, "protocolVersions", (!protocols.is_empty()).then(|| Value::from(protocols)));
            spec.insert("engineConfig".into(), engine);
            let namespace = namespace.filter(|_| index.is_multiple_of(3));
            let kind = if namespace.is_some() { "ServingRuntime" } else { "ClusterServingRuntime" };
            let mut runtime = object(kind, &format!("r{index}"), namespace, &spec);
            if let Some(created) = created {
                runtime["metadata"]["creationTimestamp"] = created.into();
            }
            runtime
        })
}

fn service(index: usize, models: usize, runtimes: usize) -> impl Strategy<Value = Value> {
    let named = prop_oneof![5 => Just(None), 1 => (0..runtimes).prop_map(Some)];
    (select(vec!["team-a", "team-b"]), 0..models, named, proptest::option::of(component(false))).prop_map(move |(namespace, model, runtime, engine)| {
        let mut spec = Map::new();
        spec.insert("model".into(), json!({"name": format!("m{model}")}));
        put(&mut spec, "runtime", runtime.map(|runtime| json!({"name": format!("r{runtime}")})));
        put(&mut spec, "engine", Some(engine.unwrap_or_else(|| json!({}))));
        object("InferenceService", &format!("s{index}"), Some(namespace), &spec)
    })
}

/// Up to four models, seven runtimes and five services.
pub(super) fn fleets() -> impl Strategy<Value = Fleet> {
    (1..4_usize, 1..8_usize, 1..6_usize).prop_flat_map(|(models, runtimes, services)| {
        let models_drawn: Vec<_> = (0..models).map(model).collect();
        let runtimes_drawn: Vec<_> = (0..runtimes).map(runtime).collect();
        let services_drawn: Vec<_> = (0..services).map(|index| service(index, models, runtimes)).collect();
        (models_drawn, runtimes_drawn, services_drawn)
            .prop_map(|(models, runtimes, services)| Fleet { documents: models.iter().chain(&runtimes).chain(&services).map(node).collect() })
    })
}
