//! Placeholders of runtimes: pods get the values of the service, and values that only a server has
//! are never invented.

use super::load_text;
use ome::internals::api::Semantics;
use ome::internals::yaml::Node;
use ome::pipeline::Renderer;
use ome::workspace::ReadOptions;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Metadata that a service may state, and the placeholder that reads it.
const STATED: [(&str, &str); 6] = [
    ("uid", "UID"),
    ("resourceVersion", "ResourceVersion"),
    ("generation", "Generation"),
    ("generateName", "GenerateName"),
    ("finalizers", "Finalizers"),
    ("deletionGracePeriodSeconds", "DeletionGracePeriodSeconds"),
];

/// The metadata of a service with some of the fields stated.
fn metadata() -> impl Strategy<Value = Map<String, Value>> {
    let stated = (
        prop::option::of("[a-f0-9]{4}-[a-f0-9]{4}"),
        prop::option::of("[1-9][0-9]{0,5}"),
        prop::option::of(1..1000_i64),
        prop::option::of("[a-z]{1,5}-"),
        prop::option::of(prop::collection::vec("[a-z]{1,4}\\.io/[a-z]{1,4}", 1..3)),
    );
    stated.prop_map(|(uid, version, generation, prefix, finalizers)| {
        let mut found = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                found.insert(key.to_owned(), value);
            }
        };
        put("name", json!("s"));
        put("namespace", json!("d"));
        put("uid", json!(uid));
        put("resourceVersion", json!(version));
        put("generation", json!(generation));
        put("generateName", json!(prefix));
        put("finalizers", json!(finalizers));
        found
    })
}

/// A service of an operator on a runtime whose container has this argument.
fn input(kserve: bool, metadata: &Map<String, Value>, argument: &str) -> String {
    let mut metadata = metadata.clone();
    let documents = if kserve {
        metadata.insert(
            "annotations".into(),
            json!({"serving.kserve.io/deploymentMode": "RawDeployment"}),
        );
        vec![
            json!({"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterServingRuntime",
                "metadata": {"name": "r"}, "spec": {
                    "supportedModelFormats": [{"name": "f", "autoSelect": true}],
                    "containers": [{"name": "kserve-container", "image": "i", "args": [argument]}]}}),
            json!({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
                "metadata": metadata,
                "spec": {"predictor": {"model": {"modelFormat": {"name": "f"}, "runtime": "r"}}}}),
        ]
    } else {
        vec![
            json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": {"name": "m"},
                "spec": {"modelFormat": {"name": "f"}, "modelParameterSize": "1B",
                    "storage": {"storageUri": "hf://a/b"}}}),
            json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime",
                "metadata": {"name": "r"}, "spec": {
                    "supportedModelFormats": [{"modelFormat": {"name": "f"}, "autoSelect": true}],
                    "engineConfig": {"runner": {"name": "ome-container", "image": "i", "args": [argument]}}}}),
            json!({"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": metadata,
                "spec": {"model": {"name": "m"}, "runtime": {"name": "r"}, "engine": {}}}),
        ]
    };
    documents
        .iter()
        .flat_map(|document| ["---\n".to_owned(), document.to_string(), "\n".to_owned()])
        .collect()
}

/// The last argument of the service's container; or the error of the service.
fn argument(text: &str) -> Result<String, String> {
    let given = ReadOptions::new(Semantics::Controller);
    let world = load_text(text, &given);
    let renderer = Renderer::new(&world, "cluster.local");
    let views = world.catalog.services().next().expect("one service");
    let rendered = renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
    if let Some(error) = rendered.error {
        return Err(format!("{}: {}", error.code.as_str(), error.message));
    }
    let mut found = rendered.objects.iter().filter_map(|object| {
        let containers = object.node.at(&["spec", "template", "spec"])?.items_of("containers");
        containers.first()?.items_of("args").first().and_then(Node::as_str)
    });
    found.next_back().map(str::to_owned).ok_or_else(|| "no argument".to_owned())
}

#[test]
fn placeholders_expand_to_the_metadata_of_the_object() {
    let seen: RefCell<BTreeMap<(&str, bool), usize>> = RefCell::default();
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&(metadata(), any::<bool>()), |(metadata, kserve)| {
        for (key, placeholder) in STATED {
            let found = argument(&input(kserve, &metadata, &format!("<{{{{.{placeholder}}}}}>")));
            let stated = metadata.get(key);
            *seen.borrow_mut().entry((key, stated.is_some())).or_default() += 1;
            let want = match (key, stated) {
                // The controller adds its own before it looks.
                ("finalizers", stated) => {
                    let mut all: Vec<&str> = stated
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .collect();
                    all.push("inferenceservice.finalizers");
                    Some(format!("[{}]", all.join(" ")))
                }
                // A service that is rendered is not being deleted.
                ("deletionGracePeriodSeconds", _) => Some("&lt;nil&gt;".to_owned()),
                ("generateName", None) => Some(String::new()),
                // The server numbers a service when it stores it, before the controller sees it.
                ("generation", None) if kserve => Some("1".to_owned()),
                (_, Some(Value::String(text))) => Some(text.clone()),
                (_, Some(value)) => Some(value.to_string()),
                (_, None) => None,
            };
            match want {
                Some(want) => prop_assert_eq!(found, Ok(format!("<{want}>")), "{}", key),
                None => prop_assert!(found.is_err(), "{} is made up: {:?}", key, found),
            }
        }
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    let seen = seen.into_inner();
    assert!(seen.len() > STATED.len() && seen.values().all(|count| *count > 5), "{seen:?}");
}
