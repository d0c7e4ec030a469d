//! Properties of OME's controller for all settings and numbers: empty limits are no limits, weights
//! overflow as Go's integers do, an invalid domain is an error of plan and render alike, and
//! disabled Istio kinds are not written.

use super::{load_text, plan};
use ome::internals::api::Semantics;
use ome::internals::yaml::Node;
use ome::pipeline::Renderer;
use ome::workspace::{ReadOptions, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::cell::Cell;

const SEMANTICS: Semantics = Semantics::Controller;

fn read(documents: &[Value]) -> World {
    let given = ReadOptions::new(SEMANTICS);
    let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
    load_text(&texts.join("\n---\n"), &given)
}

fn model() -> Value {
    json!({ "apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": { "name": "m" },
        "spec": { "modelFormat": { "name": "f", "version": "1.0.0" }, "modelParameterSize": "1B",
            "modelFramework": { "name": "w", "version": "1.0.0" },
            "modelArchitecture": "A", "storage": { "storageUri": "hf://a/b" } } })
}

fn runtime(entry: &Value) -> Value {
    json!({ "apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": { "name": "r" },
        "spec": { "supportedModelFormats": [entry], "protocolVersions": ["openAI"],
            "engineConfig": { "runner": { "name": "ome-container", "image": "i" } } } })
}

fn entry() -> Value {
    json!({ "modelFormat": { "name": "f", "version": "1.0.0" },
        "modelFramework": { "name": "w", "version": "1.0.0" }, "modelArchitecture": "A", "autoSelect": true })
}

fn service(metadata: &Value, engine: &Value) -> Value {
    let mut own = json!({ "name": "s", "namespace": "d" });
    for (key, value) in metadata.as_object().expect("a mapping") {
        own[key] = value.clone();
    }
    json!({ "apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": own,
        "spec": { "model": { "name": "m" }, "engine": engine } })
}

fn settings(ingress: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "inferenceservice-config", "namespace": "ome" },
        "data": { "ingress": ingress.to_string() } })
}

/// The objects of the one service, or the code of its error.
fn rendered(world: &World) -> Result<Vec<Node>, &'static str> {
    let renderer = Renderer::new(world, "cluster.local");
    let views = world.catalog.services().next().expect("one service");
    let rendered = renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
    match rendered.error {
        Some(error) => Err(error.code.as_str()),
        None => Ok(rendered.objects.into_iter().map(|object| object.node).collect()),
    }
}

fn holds<S: Strategy>(given: &S, rule: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    if let Err(failure) = TestRunner::new_with_rng(config, random).run(given, rule) {
        panic!("{failure}");
    }
}

fn text<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    node.at(path).and_then(Node::as_str).unwrap_or_default()
}

#[test]
fn empty_limits_render_like_absent_limits() {
    let requests = prop::option::of(1..9_i64);
    let class = json!({ "apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": { "name": "c" },
        "spec": { "capabilities": { "memoryGB": "80Gi" }, "discovery": { "nodeSelector": { "a": "b" } },
            "resources": [{ "name": "nvidia.com/gpu", "quantity": "1" }] } });
    holds(&(requests, any::<bool>()), |(requests, has_class)| {
        let made = |limits: Value| {
            let mut resources = json!({});
            if let Some(count) = requests {
                resources["requests"] = json!({ "nvidia.com/gpu": count });
            }
            if !limits.is_null() {
                resources["limits"] = limits;
            }
            let runner = json!({ "name": "ome-container", "image": "i", "resources": resources });
            let mut all =
                vec![model(), runtime(&entry()), service(&json!({}), &json!({ "runner": runner }))];
            all.extend(has_class.then(|| class.clone()));
            rendered(&read(&all))
        };
        let plain = made(Value::Null);
        prop_assert!(plain.is_ok(), "{:?}", plain);
        let texts = |made: Result<Vec<Node>, &'static str>| -> Vec<Value> {
            made.expect("it renders").iter().map(Node::to_json).collect()
        };
        prop_assert_eq!(texts(made(json!({}))), texts(plain));
        Ok(())
    });
}

#[test]
fn weights_wrap_as_integers_of_64_bits() {
    let weight =
        prop_oneof![1..100_i64, (i64::MAX - 9)..=i64::MAX, i64::MIN..(i64::MIN + 9), -9..0_i64];
    let seen = [Cell::new(0), Cell::new(0), Cell::new(0)];
    holds(&(weight.clone(), weight, 1..5_i64), |(format, framework, priority)| {
        let mut own = entry();
        own["modelFormat"]["weight"] = json!(format);
        own["modelFramework"]["weight"] = json!(framework);
        own["priority"] = json!(priority);
        let exact = (i128::from(format) + i128::from(framework)) * i128::from(priority);
        let score = format.wrapping_add(framework).wrapping_mul(priority);
        let world = read(&[model(), runtime(&own), service(&json!({}), &json!({}))]);
        let planned = plan(&world);
        let chosen = planned[0].resolution.chosen().is_some();
        prop_assert_eq!(chosen, score > 0, "{} and {} times {}", format, framework, priority);
        seen[usize::from(chosen)].set(seen[usize::from(chosen)].get() + 1);
        seen[2].set(seen[2].get() + usize::from(i128::from(score) != exact));
        Ok(())
    });
    assert!(seen.iter().all(|count| count.get() > 5), "{seen:?}");
}

#[test]
fn an_invalid_ingress_domain_fails_plan_and_render() {
    let seen = [Cell::new(0), Cell::new(0)];
    let domain = prop_oneof!["[a-z]{1,5}\\.[a-z]{2,3}", "[a-zA-Z0-9._ -]{1,12}"];
    holds(&domain, |domain| {
        let ingress = json!({ "ingressDomain": domain, "ingressClassName": "nginx", "ingressGateway": "g/g", "ingressService": "i.g.svc",
            "disableIngressCreation": false, "disableIstioVirtualHost": false });
        let world = read(&[
            model(),
            runtime(&entry()),
            settings(&ingress),
            service(&json!({}), &json!({})),
        ]);
        let made = rendered(&world);
        let planned = plan(&world);
        let error = planned[0].error.as_ref().map(|error| error.code.as_str());
        prop_assert_eq!(error, made.as_ref().err().copied(), "{:?}", domain);
        seen[usize::from(made.is_ok())].set(seen[usize::from(made.is_ok())].get() + 1);
        for object in made.iter().flatten().filter(|object| text(object, &["kind"]) == "Ingress") {
            for rule in object.at(&["spec", "rules"]).map(Node::items).unwrap_or_default() {
                let host = text(rule, &["host"]);
                let is_label = |label: &str| {
                    let inner = |byte: u8| {
                        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
                    };
                    !label.is_empty()
                        && label.bytes().all(inner)
                        && !label.starts_with('-')
                        && !label.ends_with('-')
                };
                prop_assert!(host.split('.').all(is_label), "{:?} of {:?}", host, domain);
            }
        }
        Ok(())
    });
    assert!(seen.iter().all(|count| count.get() > 5), "{seen:?}");
}

#[test]
fn kinds_of_istio_are_not_written_where_they_are_off() {
    let written = Cell::new(0);
    let serverless = json!({ "ome.io/deploymentMode": "Serverless" });
    let inject = prop::option::of(prop_oneof![Just("true"), Just("false")]);
    holds(&(any::<bool>(), any::<bool>(), inject), |(off, is_serverless, inject)| {
        let ingress = json!({ "ingressDomain": "example.com", "ingressClassName": "nginx", "ingressGateway": "g/g", "ingressService": "i.g.svc",
            "disableIngressCreation": false, "disableIstioVirtualHost": off });
        let mut metadata = json!({});
        if is_serverless {
            metadata["annotations"] = serverless.clone();
        }
        if let Some(inject) = inject {
            metadata["labels"] = json!({ "sidecar.istio.io/inject": inject });
        }
        let engine = if is_serverless { json!({ "minReplicas": 0 }) } else { json!({}) };
        let world =
            read(&[model(), runtime(&entry()), settings(&ingress), service(&metadata, &engine)]);
        let made = rendered(&world).unwrap_or_default();
        let of_istio =
            made.iter().filter(|object| text(object, &["apiVersion"]).contains("istio.io")).count();
        prop_assert!(!off || of_istio == 0, "{} objects of Istio", of_istio);
        written.set(written.get() + of_istio);
        Ok(())
    });
    assert!(written.get() > 0, "no object of Istio was ever written");
}
