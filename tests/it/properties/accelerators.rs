//! Properties of every choice of an accelerator class and of its effects on pods.

use super::fleet::{Fleet, maybe, node, put, rarely};
use super::{document, manifests, placeless, plan, shuffled, world};
use ome::internals::api::Semantics;
use ome::internals::decision::Verdict;
use ome::internals::diag::Code;
use ome::internals::merge::history::Recorder;
use ome::internals::yaml::{FieldPath, Node};
use ome::pipeline::{self, Layer, Layers, Overrides, Planned, Renderer, identity};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const CLASSES: usize = 4;
const FEATURES: [&str; 3] = ["fp8", "tensor-cores", "nvlink-4"];

#[expect(clippy::needless_pass_by_value, reason = "every caller makes it for this")]
fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "ome.io/v1beta1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// The capabilities or requirements of a class: each stated or not.
fn capabilities() -> impl Strategy<Value = Map<String, Value>> {
    let features = prop_oneof![1 => Just(Vec::new()), 2 => subsequence(FEATURES.to_vec(), 1..=3)];
    (
        maybe(&["16Gi", "40Gi", "80Gi"]),
        maybe(&["7.5", "8.0", "9.0", "10.0"]),
        maybe(&["320", "1555", "3350"]),
        features,
    )
        .prop_map(|(memory, version, bandwidth, features)| {
            let mut out = Map::new();
            put(&mut out, "memoryGB", memory);
            put(&mut out, "computeCapability", version);
            put(&mut out, "memoryBandwidthGBps", bandwidth);
            put(&mut out, "features", (!features.is_empty()).then(|| Value::from(features)));
            out
        })
}

fn class(index: usize) -> impl Strategy<Value = Value> {
    (capabilities(), maybe(&["1.5", "2.21", "5.12"]), rarely(4)).prop_map(
        move |(capabilities, price, silent)| {
            let mut spec = Map::new();
            spec.insert("vendor".into(), "nvidia".into());
            spec.insert(
                "discovery".into(),
                json!({ "nodeSelector": { "gpu": format!("c{index}") } }),
            );
            spec.insert("capabilities".into(), capabilities.into());
            put(&mut spec, "resources", (!silent).then(|| json!([{ "name": "nvidia.com/gpu" }])));
            put(&mut spec, "cost", price.map(|price| json!({ "perHour": price })));
            object("AcceleratorClass", &format!("c{index}"), spec.into())
        },
    )
}

fn machine(index: usize) -> impl Strategy<Value = Value> {
    (0..CLASSES, 1..9_i64, rarely(5)).prop_map(move |(class, gpus, cordoned)| {
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": format!("n{index}"), "labels": { "gpu": format!("c{class}") } },
            "spec": { "unschedulable": cordoned },
            "status": { "allocatable": { "cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string() } },
        })
    })
}

/// A container's part: variables, arguments, limits.
fn runner(image: bool) -> impl Strategy<Value = Map<String, Value>> {
    let variables = subsequence(vec!["A", "B", "C"], 0..=3);
    let limits = (proptest::option::of(1..5_i64), maybe(&["16Gi", "32Gi", "64Gi"]));
    (variables, select(vec!["x", "y"]), subsequence(vec!["--a", "--b=1"], 0..=2), limits).prop_map(
        move |(variables, value, arguments, (gpus, memory))| {
            let mut out = Map::new();
            put(&mut out, "name", image.then_some("ome-container"));
            put(&mut out, "image", image.then_some("docker.io/example/engine:v1"));
            let variables: Vec<Value> = variables
                .into_iter()
                .map(|name| json!({ "name": name, "value": format!("{name}-{value}-{image}") }))
                .collect();
            put(&mut out, "env", (!variables.is_empty()).then_some(variables));
            put(&mut out, "args", (!arguments.is_empty()).then(|| Value::from(arguments)));
            let mut limits = Map::new();
            put(&mut limits, "nvidia.com/gpu", gpus.map(|gpus| gpus.to_string()));
            put(&mut limits, "memory", memory);
            put(&mut out, "resources", (!limits.is_empty()).then(|| json!({ "limits": limits })));
            out
        },
    )
}

fn runtime() -> impl Strategy<Value = Value> {
    let configuration = (0..CLASSES, runner(false)).prop_map(|(class, mut runner)| {
        let mut out = Map::new();
        out.insert("selector".into(), json!({ "acceleratorClass": format!("c{class}") }));
        put(&mut out, "env", runner.remove("env"));
        put(&mut out, "resources", runner.remove("resources"));
        put(&mut out, "runner", (!runner.is_empty()).then_some(runner));
        Value::Object(out)
    });
    let preference = (0..CLASSES, 0..=100_i64)
        .prop_map(|(class, score)| json!({ "class": format!("c{class}"), "score": score }));
    let listed = prop_oneof![2 => Just(Vec::new()), 1 => subsequence((0..CLASSES).map(|index| format!("c{index}")).collect::<Vec<_>>(), 2..=CLASSES)];
    (listed, capabilities(), rarely(2), proptest::collection::vec(preference, 0..3), proptest::collection::vec(configuration, 0..5), runner(true)).prop_map(
        |(listed, required, open, preferences, configurations, engine)| {
            let mut requirements = Map::new();
            put(&mut requirements, "supportedClasses", (!listed.is_empty()).then_some(listed));
            put(&mut requirements, "requiredCapabilities", (!open && !required.is_empty()).then_some(required));
            put(&mut requirements, "preferenceOrder", (!preferences.is_empty()).then_some(preferences));
            let spec = json!({
                "supportedModelFormats": [{ "modelFormat": { "name": "safetensors" }, "autoSelect": true }],
                "acceleratorRequirements": requirements,
                "acceleratorConfigurations": configurations,
                "engineConfig": { "runner": engine },
            });
            object("ClusterServingRuntime", "r", spec)
        },
    )
}

fn service(index: usize) -> impl Strategy<Value = Value> {
    let preferred = proptest::option::of(0..CLASSES);
    let required = prop_oneof![3 => Just(Map::new()), 1 => capabilities()];
    (select(vec!["m3", "m13", "m70"]), preferred, maybe(&["performance", "cost", "balanced"]), required, runner(false)).prop_map(
        move |(model, preferred, strategy, required, mut engine)| {
            let mut selector = Map::new();
            put(&mut selector, "preferredClasses", preferred.map(|class| json!([format!("c{class}")])));
            put(&mut selector, "strategy", strategy);
            put(&mut selector, "requiredCapabilities", (!required.is_empty()).then_some(required));
            engine.insert("name".into(), "ome-container".into());
            let spec = json!({ "model": { "name": model }, "runtime": { "name": "r" }, "acceleratorSelector": selector, "engine": { "runner": engine } });
            object("InferenceService", &format!("s{index}"), spec)
        },
    )
}

/// Four classes, up to four nodes, one runtime, three services.
fn fleets() -> impl Strategy<Value = Fleet> {
    let classes: Vec<_> = (0..CLASSES).map(class).collect();
    let machines = (0..5_usize).prop_flat_map(|count| (0..count).map(machine).collect::<Vec<_>>());
    let services: Vec<_> = (0..3).map(service).collect();
    (classes, machines, runtime(), services).prop_map(|(classes, machines, runtime, services)| {
        let model = |(name, size): (&str, &str)| {
            object(
                "ClusterBaseModel",
                name,
                json!({ "modelFormat": { "name": "safetensors" }, "modelParameterSize": size }),
            )
        };
        let models = [("m3", "3B"), ("m13", "13B"), ("m70", "70B")].map(model);
        let all = classes.iter().chain(&machines).chain([&runtime]).chain(&services).chain(&models);
        Fleet { documents: all.map(node).collect() }
    })
}

/// Checks a property over fleets and a number to choose with; the fleets are the same on every run.
fn holds(property: impl Fn(&Fleet, usize) -> Result<(), TestCaseError>) {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 192 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(failure) =
        runner.run(&(fleets(), 0..1000_usize), |(fleet, number)| property(&fleet, number))
    {
        panic!("{failure}");
    }
}

/// The classes that passed for the engine of a service.
fn passed(planned: &Planned<'_>) -> BTreeSet<String> {
    let candidates =
        planned.resolution.accelerators.iter().flat_map(|decision| &decision.candidates);
    candidates
        .filter(|candidate| candidate.verdict != Verdict::Rejected)
        .map(|candidate| candidate.name.to_string())
        .collect()
}

#[test]
fn the_order_of_documents_changes_no_choice() {
    holds(|fleet, number| {
        let other = Fleet { documents: shuffled(&fleet.documents, number) };
        let (world, other) =
            (world(fleet, Semantics::Documented), world(&other, Semantics::Documented));
        prop_assert_eq!(placeless(&document(&world)), placeless(&document(&other)));
        prop_assert_eq!(manifests(&world), manifests(&other));
        Ok(())
    });
}

#[test]
fn a_stricter_constraint_adds_no_candidate() {
    let tightened: [(&str, Value); 6] = [
        ("memoryGB", json!("80Gi")),
        ("computeCapability", json!("10.0")),
        ("memoryBandwidthGBps", json!("3350")),
        ("clockSpeedMHz", json!(1)),
        ("features", json!(FEATURES)),
        ("rocmVersion", json!("5.7")),
    ];
    holds(|fleet, number| {
        let (key, value) = &tightened[number % tightened.len()];
        let mut strict = fleet.clone();
        for document in &mut strict.documents {
            let holders: &[&[&str]] = match document.get("kind").and_then(Node::as_str) {
                // Of the service, of the runtime, or of both.
                Some("InferenceService") if !number.is_multiple_of(3) => {
                    &[&["spec", "acceleratorSelector", "requiredCapabilities"]]
                }
                Some("ClusterServingRuntime") if number % 3 != 1 => {
                    &[&["spec", "acceleratorRequirements", "requiredCapabilities"]]
                }
                _ => continue,
            };
            for holder in holders {
                let path =
                    FieldPath::parse(&format!("{}.{key}", holder.join("."))).expect("a path");
                document.set(&path.0, Some(node(value)));
            }
        }
        let (before, after) =
            (world(fleet, Semantics::Documented), world(&strict, Semantics::Documented));
        for (before, after) in plan(&before).iter().zip(&plan(&after)) {
            let (before, after) = (passed(before), passed(after));
            prop_assert!(
                after.is_subset(&before),
                "{} {}: {:?} after {:?}",
                key,
                value,
                after,
                before
            );
        }
        Ok(())
    });
}

/// An amount in its smallest unit.
fn amount(text: &str) -> i64 {
    match text.strip_suffix("Gi") {
        Some(gib) => gib.parse::<i64>().expect("a number") << 30,
        None => text.parse().expect("a number"),
    }
}

/// The service's own value is used, except for resources with the maximum: then there is a finding,
/// and `why` has both.
#[test]
fn a_class_that_overrides_the_service_is_always_reported() {
    let raised = std::cell::Cell::new(0_usize);
    holds(|fleet, _| {
        let world = world(fleet, Semantics::Documented);
        let renderer = Renderer::new(&world, "cluster.local");
        for (views, planned) in world.catalog.services().zip(plan(&world)) {
            let mut history = Recorder::new();
            let rendered = renderer.render(views, &mut history);
            let (layers, overrides) = (Layers::new(&world.catalog), Overrides::new(&history));
            let Some(object) =
                rendered.objects.iter().find(|object| identity(&object.node).kind == "Deployment")
            else {
                continue;
            };
            let own = planned
                .read_in(&world.catalog)
                .expect("it was read")
                .object
                .node
                .at(&["spec", "engine", "runner"])
                .expect("the service has a runner");
            let list = |key: &str| own.get(key).map(Node::items).unwrap_or_default();
            let at = |rest: &str| {
                FieldPath::parse(&format!(
                    "spec.template.spec.containers[name=ome-container].{rest}"
                ))
                .expect("a path")
            };
            for variable in list("env") {
                let name = variable.get("name").and_then(Node::as_str).expect("a name");
                let found = object.node.select(&at(&format!("env[name={name}].value")));
                prop_assert_eq!(
                    found.first().and_then(|node| node.as_str()),
                    variable.get("value").and_then(Node::as_str),
                    "{}",
                    name
                );
            }
            let all: Vec<&str> = object
                .node
                .select(&at("args"))
                .into_iter()
                .flat_map(Node::items)
                .filter_map(Node::as_str)
                .collect();
            for argument in list("args") {
                prop_assert!(
                    all.contains(&argument.as_str().expect("a text")),
                    "{:?} in {:?}",
                    argument,
                    all
                );
            }
            for entry in own.at(&["resources", "limits"]).map(Node::entries).into_iter().flatten() {
                let path = at(&format!("resources.limits.{}", entry.key.replace(".", "\\.")));
                let leaves = pipeline::why(&layers, &object.node, &path, &overrides);
                prop_assert_eq!(leaves.len(), 1);
                let (asked, got) = (
                    entry.node.scalar_text().expect("a text"),
                    leaves[0].statement.value.as_str().expect("a text"),
                );
                prop_assert!(amount(got) >= amount(&asked), "{}: {} of {}", entry.key, got, asked);
                if amount(got) > amount(&asked) {
                    raised.set(raised.get() + 1);
                    prop_assert_eq!(leaves[0].statement.layer, Layer::AcceleratorConfiguration);
                    prop_assert!(
                        leaves[0].overrides.iter().any(|lost| lost.layer == Layer::Service
                            && lost.value.as_str() == Some(&*asked)),
                        "{:?}",
                        leaves
                    );
                    prop_assert!(
                        planned.diagnostics.iter().any(|found| found.code == Code::ResourceRaised
                            && found.message.contains(entry.key.as_str()))
                    );
                } else {
                    prop_assert_eq!(leaves[0].statement.layer, Layer::Service);
                }
            }
        }
        Ok(())
    });
    assert!(raised.get() > 10, "{} raised values prove too little", raised.get());
}

/// Choices of which nothing is ever chosen or rejected would prove nothing.
#[test]
fn generated_fleets_contain_chosen_and_rejected_classes() {
    let seen = std::cell::RefCell::new([0_usize; 4]);
    holds(|fleet, _| {
        let world = world(fleet, Semantics::Documented);
        let mut seen = seen.borrow_mut();
        for planned in plan(&world) {
            for decision in &planned.resolution.accelerators {
                seen[0] += usize::from(decision.chosen.is_some());
                seen[1] += usize::from(decision.eligible > 1);
                seen[2] += usize::from(decision.rejected > 0);
            }
            seen[3] += usize::from(planned.error.is_some());
        }
        Ok(())
    });
    let [chosen, several, rejected, failed] = seen.into_inner();
    assert!(
        chosen > 100 && several > 50 && rejected > 100 && failed > 20,
        "{chosen} chosen, {several} of several, {rejected} with rejected, {failed} failed"
    );
}
