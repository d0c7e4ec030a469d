//! Rare cases of OME's controller, through the command line: interactions of its rules.

use super::process::{Call, Done, Folder, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const MODEL: &str = "apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: m}
spec:
  vendor: meta
  modelFormat: {name: safetensors, version: '1.0.0'}
  modelFramework: {name: transformers, version: '4.43.0'}
  storage: {storageUri: 'hf://acme/m', path: /models/m}
";

const RUNTIME: &str = "apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors, version: '1.0.0'}
    modelFramework: {name: transformers, version: '4.43.0'}
    autoSelect: true
  engineConfig:
    runner: {name: ome-container, image: 'engine:1'}
";

fn service(metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: demo, namespace: default{metadata}}}\nspec: {spec}\n"
    )
}

fn call(command: &str, documents: &[&str]) -> Done {
    let args = [command, "-f", "-", "--no-builtin", "--semantics", "controller", "-o", "json"]
        .map(String::from)
        .to_vec();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(&Call {
        args,
        stdin: &documents.join("---\n"),
        directory,
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    })
    .expect("the call ends within a minute")
}

/// The exit code and the objects by kind and name.
fn render(documents: &[&str]) -> (Option<i32>, BTreeMap<String, Value>) {
    let done = call("render", documents);
    let list: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let text = |object: &Value, pointer: &str| {
        object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let objects = list["items"].as_array().expect("a list").iter();
    (
        done.exit,
        objects
            .map(|object| {
                (
                    format!("{}/{}", text(object, "/kind"), text(object, "/metadata/name")),
                    object.clone(),
                )
            })
            .collect(),
    )
}

#[test]
fn predictor_use_follows_the_webhook_and_the_controller() {
    const WARNING: &str = "ome.io/deprecation-warning";
    for (metadata, spec, warned, component) in [
        // Migrated; the predictor stays, so that the stable Service takes every pod.
        ("", "{predictor: {model: {baseModel: m}}}", true, None),
        // Beside an engine nothing is migrated, and the warning is written all the same.
        ("", "{model: {name: m}, engine: {}, predictor: {minReplicas: 1}}", true, None),
        // Used to the controller, not to the webhook.
        ("", "{model: {name: m}, engine: {}, predictor: {maxReplicas: 3}}", false, None),
        // Used to neither.
        (
            "",
            "{model: {name: m}, engine: {}, predictor: {timeoutSeconds: 30}}",
            false,
            Some("engine"),
        ),
        (
            "",
            "{model: {name: m}, engine: {}, predictor: {containers: [], maxReplicas: 0}}",
            false,
            Some("engine"),
        ),
    ] {
        let (exit, objects) = render(&[MODEL, RUNTIME, &service(metadata, spec)]);
        assert_eq!(exit, Some(0), "{spec}");
        assert_eq!(
            objects["Deployment/demo-engine"]["metadata"]["annotations"].get(WARNING).is_some(),
            warned,
            "{spec}"
        );
        assert_eq!(
            objects["Service/demo"]["spec"]["selector"].get("component").and_then(Value::as_str),
            component,
            "{spec}"
        );
    }
    let own = service(
        ", annotations: {ome.io/deprecation-warning: mine}",
        "{predictor: {model: {baseModel: m}}}",
    );
    let (_, objects) = render(&[MODEL, RUNTIME, &own]);
    assert_eq!(objects["Deployment/demo-engine"]["metadata"]["annotations"][WARNING], "mine");
}

#[test]
fn a_migrated_predictor_is_served_by_the_namespaced_model() {
    let namespaced = MODEL
        .replace("ClusterBaseModel", "BaseModel")
        .replace("{name: m}", "{name: m, namespace: default}")
        .replace("/models/m", "/models/own");
    let (exit, objects) = render(&[
        MODEL,
        &namespaced,
        RUNTIME,
        &service("", "{predictor: {model: {baseModel: m}}}"),
    ]);
    assert_eq!(exit, Some(0));
    let described =
        objects["ConfigMap/modelconfig-demo"]["data"]["models.json"].as_str().expect("a text");
    assert!(described.contains("\"path\":\"/models/m\""), "{described}");
    let pod = &objects["Deployment/demo-engine"]["spec"]["template"]["spec"];
    assert_eq!(pod["volumes"], json!([{"name": "m", "hostPath": {"path": "/models/own"}}]));
    assert_eq!(pod["nodeSelector"], json!({"models.ome.io/default.basemodel.m": "Ready"}));
}

#[test]
fn a_service_in_virtual_mode_renders_nothing_and_must_pass_the_webhook() {
    // A service that the webhook's validateInferenceService accepts has no error, although its
    // selection fails.
    for (spec, error) in [
        ("{}", None),
        ("{engine: {runner: {name: r, image: 'x:1'}}}", None),
        (
            "{engine: {leader: {runner: {name: r, image: 'x:1'}}, worker: {runner: {name: r, image: 'x:1'}}}}",
            None,
        ),
        ("{model: {name: m}, runtime: {name: nowhere}, engine: {}}", None),
        ("{engine: {}}", Some("model reference is required")),
        (
            "{engine: {leader: {runner: {name: r, image: 'x:1'}}}}",
            Some("model reference is required"),
        ),
        ("{model: {name: nowhere}, engine: {runner: {name: r, image: 'x:1'}}}", Some("nowhere")),
        ("{model: {name: nowhere}, runtime: {name: nowhere}}", Some("nowhere")),
    ] {
        let virtual_service =
            service(", annotations: {ome.io/deploymentMode: VirtualDeployment}", spec);
        let (exit, objects) = render(&[MODEL, RUNTIME, &virtual_service]);
        let expected = Some(i32::from(error.is_some()));
        assert_eq!((exit, objects.len()), (expected, 0), "{spec}");
        let explain = call("explain", &[MODEL, RUNTIME, &virtual_service]);
        assert_eq!(explain.exit, expected, "{spec}");
        if let Some(error) = error {
            assert!(explain.stdout.contains(error), "{spec}: {}", explain.stdout);
        }
        let (exit, _) = render(&[MODEL, &service("", spec)]);
        assert_eq!(exit, Some(1), "{spec} without the annotation");
    }
}

#[test]
fn a_field_that_knative_lacks_is_rendered_and_reported() {
    let spec = "{model: {name: m}, engine: {minReplicas: 0, terminationGracePeriodSeconds: 60}}";
    let (exit, objects) = render(&[MODEL, RUNTIME, &service("", spec)]);
    assert_eq!(exit, Some(2));
    assert_eq!(
        objects["Service/demo-engine"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"],
        60
    );
    // A Deployment has the field.
    let (exit, _) =
        render(&[MODEL, RUNTIME, &service("", &spec.replace("minReplicas: 0", "minReplicas: 1"))]);
    assert_eq!(exit, Some(0));
}

#[test]
fn ephemeral_containers_come_from_the_runtime_alone() {
    let runtime =
        format!("{RUNTIME}    ephemeralContainers: [{{name: debug, image: 'debug:1'}}]\n");
    let of_service = service(
        "",
        "{model: {name: m}, engine: {ephemeralContainers: [{name: other, image: 'other:1'}]}}",
    );
    let (_, objects) = render(&[MODEL, &runtime, &of_service]);
    let pod = &objects["Deployment/demo-engine"]["spec"]["template"]["spec"];
    assert_eq!(pod["ephemeralContainers"], json!([{"name": "debug", "image": "debug:1"}]));
}

#[test]
fn a_fine_tuned_model_mount_keeps_fields_not_set_by_the_controller() {
    let model = MODEL.replace("vendor: meta", "vendor: cohere");
    let weight = "apiVersion: ome.io/v1beta1
kind: FineTunedWeight
metadata: {name: w}
spec: {baseModelRef: {name: m}, modelType: x, hyperParameters: {strategy: tfew}, configuration: {}, storage: {storageUri: 'oci://n/a/b/c/o/d'}}
";
    let runner = "{name: ome-container, volumeMounts: [{name: model-empty-dir, mountPath: /x, readOnly: true, mountPropagation: None}]}";
    let spec =
        format!("{{model: {{name: m, fineTunedWeights: [w]}}, engine: {{runner: {runner}}}}}");
    let (_, objects) = render(&[&model, RUNTIME, weight, &service("", &spec)]);
    let mounts = &objects["Deployment/demo-engine"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
    assert_eq!(
        mounts[0],
        json!({"name": "model-empty-dir", "mountPath": "/opt/ml/model/safetensors", "subPath": "base", "mountPropagation": "None"})
    );
}

#[test]
fn empty_model_parameters_are_omitted_from_the_model_config() {
    let model = MODEL.replace("path: /models/m}", "path: /models/m, parameters: {}}");
    let (_, objects) = render(&[&model, RUNTIME, &service("", "{model: {name: m}, engine: {}}")]);
    let described =
        objects["ConfigMap/modelconfig-demo"]["data"]["models.json"].as_str().expect("a text");
    assert!(!described.contains("parameters"), "{described}");
}

#[test]
fn empty_class_fields_do_not_count_as_set() {
    let class = |name: &str, capabilities: &str, cost: &str| {
        format!(
            "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: {name}}}\nspec: {{discovery: {{}}, capabilities: {capabilities}, cost: {cost}}}\n"
        )
    };
    let runtime = format!("{RUNTIME}  acceleratorRequirements: {{acceleratorClasses: [a, b]}}\n");
    let chosen = |classes: [&str; 2], selector: &str| {
        let service = service(
            "",
            &format!("{{model: {{name: m}}, engine: {{}}, acceleratorSelector: {selector}}}"),
        );
        let done = call("explain", &[MODEL, &runtime, classes[0], classes[1], &service]);
        let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
        document["services"][0]["accelerators"][0]["chosen"].as_str().map(str::to_owned)
    };
    // A minimum of 0 still requires a capability.
    let (a, b) = (
        class("a", "{memoryGB: 80Gi}", "{}"),
        class("b", "{memoryGB: 80Gi, computeCapability: '8.0'}", "{}"),
    );
    assert_eq!(
        chosen([&a, &b], "{policy: FirstAvailable, constraints: {minArchitectureVersion: ''}}")
            .as_deref(),
        Some("b")
    );
    // An empty tier is no price.
    let (a, b) = (class("a", "{}", "{tier: ''}"), class("b", "{}", "{tier: high}"));
    assert_eq!(chosen([&a, &b], "{policy: Cheapest}").as_deref(), Some("b"));
    let (a, b) = (class("a", "{}", "{tier: ''}"), class("b", "{}", "{}"));
    assert_eq!(chosen([&a, &b], "{policy: Cheapest}"), None);
}

#[test]
fn a_weight_with_an_empty_base_namespace_finds_the_cluster_model() {
    let weight = "apiVersion: ome.io/v1beta1
kind: FineTunedWeight
metadata: {name: m}
spec: {baseModelRef: {name: m, namespace: ''}, modelType: x, hyperParameters: {strategy: lora}, configuration: {}, storage: {storageUri: 'oci://n/a/b/c/o/d'}}
";
    let (exit, objects) = render(&[
        MODEL,
        RUNTIME,
        weight,
        &service("", "{model: {name: m, kind: FineTunedWeight}, engine: {}}"),
    ]);
    assert_eq!(exit, Some(0));
    let described =
        objects["ConfigMap/modelconfig-demo"]["data"]["models.json"].as_str().expect("a text");
    assert!(
        described.contains("\"path\":\"/models/m\"") && described.contains("fineTunedWeightSpec"),
        "{described}"
    );
}

#[test]
fn model_serving_max_unavailable_comes_from_the_deployment_strategy() {
    let groups = "spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable";
    for (most, replicas, expected, told) in [
        ("2", 4, json!(2), false),
        ("'50%'", 5, json!(2), false),
        ("9", 4, json!(4), false),
        ("'10%'", 4, json!(1), true),
        ("", 4, Value::Null, false),
    ] {
        let strategy = if most.is_empty() {
            String::new()
        } else {
            format!(
                ", deploymentStrategy: {{rollingUpdate: {{maxUnavailable: {most}, maxSurge: 0}}}}"
            )
        };
        let spec = format!("{{model: {{name: m}}, engine: {{minReplicas: {replicas}{strategy}}}}}");
        let args =
            ["render", "-f", "-", "--no-builtin", "--workload", "modelserving", "-o", "json"]
                .map(String::from)
                .to_vec();
        let (stdin, directory) = (
            [MODEL, RUNTIME, &service("", &spec)].join("---\n"),
            Path::new(env!("CARGO_MANIFEST_DIR")),
        );
        let done = run(&Call {
            args,
            stdin: &stdin,
            directory,
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        })
        .expect("the call ends");
        let list: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let serving = list["items"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|object| object["kind"] == "ModelServing")
            .expect("a ModelServing");
        let pointer = format!("/{}", groups.replace('.', "/"));
        assert_eq!(
            serving.pointer(&pointer).unwrap_or(&Value::Null),
            &expected,
            "{most}: {}",
            done.stderr
        );
        assert_eq!(done.stderr.contains("the maxUnavailable of"), told, "{most}: {}", done.stderr);
    }
}

#[test]
fn classes_with_equal_scores_are_in_the_order_of_the_controllers_sort() {
    // Score of class `i`: i * 7 % 3. The expected first class is that of Go's `sort.Slice`, which
    // is stable for up to 12 elements only.
    for (count, expected) in [(12, "c02"), (13, "c08"), (16, "c05"), (30, "c11")] {
        let names: Vec<String> = (0..count).map(|index| format!("c{index:02}")).collect();
        let classes: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                format!(
                    "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: {name}}}\nspec: {{vendor: nvidia, family: f, model: m, discovery: {{nodeSelector: {{a: b}}}}, capabilities: {{memoryGB: {}Gi}}}}\n",
                    10 + index * 7 % 3 * 10
                )
            })
            .collect();
        let runtime = format!(
            "{RUNTIME}  acceleratorRequirements: {{acceleratorClasses: [{}]}}\n",
            names.join(", ")
        );
        let service = service(
            "",
            "{model: {name: m}, engine: {}, acceleratorSelector: {policy: MostCapable}}",
        );
        let explain = call("explain", &[MODEL, &runtime, &service, &classes.join("---\n")]);
        let found: Value = serde_json::from_str(&explain.stdout).expect("JSON");
        let decision = &found["services"][0]["accelerators"][0];
        assert_eq!(decision["chosen"], expected, "{count}: {decision}");
        assert_eq!(decision["notes"].as_array().is_some_and(|notes| !notes.is_empty()), count > 12);
    }
}

#[test]
fn a_container_without_arguments_changes_the_overrides_of_the_next_container() {
    const CLASS: &str = "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: h}\nspec: {discovery: {}, capabilities: {}}\n";
    let runtime = |engine: &str| {
        format!(
            "apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {{name: rt}}
spec:
  acceleratorRequirements: {{acceleratorClasses: [h]}}
  supportedModelFormats:
  - modelFormat: {{name: safetensors, version: '1.0.0'}}
    modelFramework: {{name: transformers, version: '4.43.0'}}
    autoSelect: true
    acceleratorConfig:
      h: {{runtimeArgsOverride: ['--tp=4'], tensorParallelismOverride: {{tensorParallelSize: 8}}}}
  engineConfig: {{runner: {{name: e, image: 'e:1', {engine}}}}}
  decoderConfig: {{runner: {{name: d, image: 'd:1', args: ['--tp-size', '2']}}}}
"
        )
    };
    let service = service(
        "",
        "{model: {name: m}, engine: {}, decoder: {}, acceleratorSelector: {acceleratorClass: h}}",
    );
    for (engine, expected) in [
        // The engine's args are the list of the runtime, into which its size is written.
        ("command: [serve]", (json!(["--tp=8"]), json!(["--tp-size", "8", "--tp=8"]))),
        ("args: ['--x']", (json!(["--x", "--tp=8"]), json!(["--tp-size", "8", "--tp=4"]))),
    ] {
        let (_, objects) = render(&[MODEL, &runtime(engine), &service, CLASS]);
        let args =
            |name: &str| objects[name]["spec"]["template"]["spec"]["containers"][0]["args"].clone();
        let found = (args("Deployment/demo-engine"), args("Deployment/demo-decoder"));
        assert_eq!(found, expected, "{engine}");
    }
}

#[test]
fn the_virtual_service_of_a_router_differs_between_releases() {
    const SETTINGS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inferenceservice-config, namespace: ome}\ndata:\n  deploy: '{\"defaultDeploymentMode\": \"RawDeployment\"}'\n  ingress: '{\"ingressGateway\": \"g/g\", \"ingressService\": \"s\", \"ingressDomain\": \"example.com\"}'\n";
    let runtime = format!("{RUNTIME}  routerConfig: {{runner: {{name: r, image: 'r:1'}}}}\n");
    // Annotation of the service, minReplicas of the engine, whether v0.1.4 and v0.1.5 write it.
    for (annotation, engine, expected) in [
        ("", 0, [true, false]),
        (", annotations: {ome.io/deploymentMode: Serverless}", 0, [true, true]),
        (", annotations: {ome.io/deploymentMode: Serverless}", 1, [false, false]),
        ("", 1, [false, false]),
    ] {
        let spec = format!(
            "{{model: {{name: m}}, engine: {{minReplicas: {engine}}}, router: {{minReplicas: 0}}}}"
        );
        let text = [MODEL, &runtime, SETTINGS, &service(annotation, &spec)].join("---\n");
        let folder = Folder::new(&[("in.yaml", &text)]);
        let writes = |release: &str| {
            let call = format!("render -f . --no-builtin --release ome={release} -o yaml");
            folder.ome(&call).stdout.contains("kind: VirtualService")
        };
        assert_eq!(["v0.1.4", "v0.1.5"].map(writes), expected, "{annotation} {engine}");
        let preview = folder.ome(
            "diff --from-release ome=v0.1.4 --to-release ome=v0.1.5 -f . --no-builtin -o json",
        );
        let differs = preview.stdout.contains("a serverless router has a VirtualService only if");
        assert_eq!(differs, expected[0] != expected[1], "{annotation} {engine}");
    }
}

/// Of models with the wanted name in other places, the one that a single field reaches is offered.
#[test]
fn a_model_of_the_other_kind_is_offered_before_one_of_another_namespace() {
    let elsewhere = "apiVersion: ome.io/v1beta1
kind: BaseModel
metadata: {name: m, namespace: another}
spec: {modelFormat: {name: safetensors}, storage: {storageUri: 'hf://acme/m'}}
";
    let wanted = service("", "{model: {name: m, kind: BaseModel}, engine: {}}");
    for (documents, expected) in [
        (vec![elsewhere, MODEL, RUNTIME, &wanted], "set `spec.model.kind: ClusterBaseModel`"),
        (
            vec![elsewhere, RUNTIME, &wanted],
            "belongs to another namespace: define it in namespace `default`",
        ),
    ] {
        let folder = Folder::new(&[("in.yaml", &documents.join("---\n"))]);
        let done = folder.ome("explain demo -f . --no-builtin");
        assert!(done.stdout.contains(expected), "{}", done.stdout);
    }
}
