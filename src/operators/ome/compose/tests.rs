//! Whole services: how layers are merged and pods assembled.

use super::testing::{Fixture, flow, losers, node};
use crate::api::DeploymentMode;
use crate::diag::Checked;
use crate::merge::history::History;
use crate::pods::built::{Built, Component};
use crate::policy::{OME_DOCUMENTED, OME_V0_1_5, Policy};
use crate::yaml::{Map, Node, Value};

const BOTH: [&Policy; 2] = [&OME_DOCUMENTED, &OME_V0_1_5];
const SILENT: &str = "{metadata: {name: chat}, spec: {model: {name: m}, engine: {}}}";
const MODEL: &str = "{metadata: {name: m}, spec: {vendor: meta, modelFormat: {name: safetensors, version: 1.0.0}, storage: {path: /models/m}}}";
const RUNTIME: &str = "{engineConfig: {runner: {name: ome-container, image: i}}}";

fn engine<'c>(checked: &'c Checked<Built<'_>>) -> &'c Component {
    &checked.value.components[0]
}

fn container(pod: &Node) -> &Node {
    &pod.get("containers").unwrap().items()[0]
}

/// `NAME=value` of every variable.
fn env(container: &Node) -> Vec<String> {
    let text = |node: Option<&Node>| {
        node.map(|node| node.as_str().map_or_else(|| flow(node), str::to_owned)).unwrap_or_default()
    };
    container
        .get("env")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(|entry| format!("{}={}", text(entry.get("name")), text(entry.get("value"))))
        .collect()
}

fn pairs(map: &Map) -> Vec<String> {
    map.iter()
        .map(|entry| format!("{}={}", entry.key, entry.node.as_str().unwrap_or("?")))
        .collect()
}

fn codes(checked: &Checked<Built<'_>>) -> Vec<&'static str> {
    checked.diagnostics.iter().map(|finding| finding.code.as_str()).collect()
}

fn without_empty(node: &Node) -> Node {
    let meant = |key: &str, node: &Node| !node.is_empty() || key == "emptyDir";
    match &node.value {
        Value::Map(map) => {
            let mut kept: Map = map
                .iter()
                .map(|entry| crate::yaml::Entry {
                    node: without_empty(&entry.node),
                    ..entry.clone()
                })
                .collect();
            kept.retain(|entry| meant(&entry.key, &entry.node));
            Node::new(Value::Map(kept), node.origin)
        }
        Value::List(items) => Node::list(items.iter().map(without_empty), node.origin),
        _ => node.clone(),
    }
}

/// Accelerators of one replica.
fn gpus_of(component: &Component) -> Option<i64> {
    component.accelerators().map(|found| found.values().sum())
}

// pkg/controller/v1beta1/inferenceservice/components/base.go without its accelerator class.
#[test]
fn a_raw_engine_is_assembled() {
    let fixture = Fixture::new("{metadata: {name: demo}, spec: {model: {name: demo-8b}, engine: {runner: {name: ome-container, env: [{name: USER_SET, value: u}]}}}}")
        .runtime(
            "{nodeSelector: {pool: rt, top: rt}, containers: [{name: ome-container, resources: {requests: {cpu: 10, memory: 30Gi}, limits: {memory: 60Gi}}}], \
             engineConfig: {containers: [{name: sidecar}], volumes: [{name: dshm, emptyDir: {}}], runner: {name: ome-container, command: [python3, -m, server], \
             args: [--tp-size=8, '--name={{.Name}}'], env: [{name: RT, value: '1'}], resources: {limits: {nvidia.com/gpu: 8, cpu: 16}}, \
             volumeMounts: [{name: dshm, mountPath: /dev/shm}]}}}",
        )
        .model("{metadata: {name: demo-8b}, spec: {storage: {path: /mnt/models/demo}}}");
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    let component = engine(&checked);
    assert_eq!(
        (component.name.as_str(), component.mode, gpus_of(component)),
        ("demo-engine", DeploymentMode::RawDeployment, Some(8))
    );
    let expected = "{containers: [{name: sidecar}, {name: ome-container, command: [python3, -m, server], args: [--tp-size=8, --name=demo], \
        env: [{name: USER_SET, value: u}, {name: RT, value: '1'}, {name: MODEL_PATH, value: /mnt/models/demo}, {name: PARALLELISM_SIZE, value: '8'}], \
        resources: {limits: {nvidia.com/gpu: '8', cpu: '16', memory: 60Gi}, requests: {cpu: '10', memory: 30Gi}}, \
        volumeMounts: [{name: dshm, mountPath: /dev/shm}, {name: demo-8b, mountPath: /mnt/models/demo, readOnly: true}]}], \
        volumes: [{name: dshm, emptyDir: {}}, {name: demo-8b, hostPath: {path: /mnt/models/demo}}], \
        nodeSelector: {models.ome.io/clusterbasemodel.demo-8b: Ready, pool: rt, top: rt}}";
    assert_eq!(without_empty(&component.pod), node(expected));
}

#[test]
fn replicas_follow_their_rule() {
    // Runtime, service, documented, controller: OME docs, Serving Runtime, Engine Configuration,
    // Router Configuration and Using ClusterServingRuntimes; docs/decisions.md#replicas.
    for (runtime, service, documented, controller) in [
        ("{}", "{}", (1, Some(1)), (1, Some(3))),
        ("{minReplicas: 2, maxReplicas: 8}", "{}", (2, Some(8)), (1, Some(3))),
        ("{minReplicas: 1, maxReplicas: 3}", "{maxReplicas: 5}", (1, Some(5)), (1, Some(5))),
        ("{minReplicas: 0}", "{}", (0, Some(1)), (1, Some(3))),
        ("{}", "{minReplicas: 4}", (4, Some(4)), (4, Some(3))),
        ("{}", "{minReplicas: 0, maxReplicas: 0}", (0, Some(0)), (0, Some(3))),
    ] {
        let fixture =
            Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {{engine: {service}}}}}"))
                .runtime(&format!("{{engineConfig: {runtime}}}"));
        for (policy, expected) in BOTH.into_iter().zip([documented, controller]) {
            let merged = fixture.merged(policy).unwrap().value;
            assert_eq!(
                (merged[0].min_replicas().unwrap(), merged[0].max_replicas()),
                expected,
                "{runtime} under {service}, {}",
                policy.semantics
            );
        }
    }
    let router = Fixture::new("{metadata: {name: chat}, spec: {engine: {}, router: {}}}");
    assert_eq!(router.merged(&OME_V0_1_5).unwrap().value[1].max_replicas(), Some(2));
}

#[test]
fn what_cannot_scale_to_zero_is_raised_by_the_documents_only() {
    for (spec, kind, mode, raised) in [
        ("{engine: {minReplicas: 0}}", 0, DeploymentMode::Serverless, false),
        ("{engine: {minReplicas: 0}, decoder: {}}", 0, DeploymentMode::RawDeployment, true),
        ("{engine: {}, decoder: {minReplicas: 0}}", 1, DeploymentMode::RawDeployment, true),
        (
            "{engine: {minReplicas: 0, annotations: {ome.io/deploymentMode: RawDeployment}}}",
            0,
            DeploymentMode::RawDeployment,
            true,
        ),
        ("{engine: {}, router: {minReplicas: 0}}", 1, DeploymentMode::Serverless, false),
        ("{engine: {minReplicas: 0, worker: {size: 1}}}", 0, DeploymentMode::MultiNode, false),
    ] {
        let fixture = Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {spec}}}"));
        let merged = fixture.merged(&OME_DOCUMENTED).unwrap();
        assert_eq!(
            (merged.value[kind].mode, merged.value[kind].min_replicas().unwrap()),
            (mode, i64::from(raised)),
            "{spec}"
        );
        assert_eq!(
            merged
                .diagnostics
                .iter()
                .filter(|finding| finding.code.as_str() == "min-replicas-raised")
                .count(),
            usize::from(raised),
            "{spec}"
        );
        assert_eq!(
            fixture.merged(&OME_V0_1_5).unwrap().value[kind].min_replicas(),
            Some(0),
            "{spec}"
        );
    }
}

#[test]
fn services_that_no_operator_builds() {
    for (policy, spec, expected) in [
        (&OME_DOCUMENTED, "{decoder: {}}", "decoder-without-engine: a decoder needs an engine"),
        (&OME_V0_1_5, "{router: {}}", "invalid-input: engine component is required"),
        // Pods come before the mode that is none, and before the worker that is not there.
        (
            &OME_V0_1_5,
            "{engine: {annotations: {ome.io/deploymentMode: VirtualDeployment}}}",
            "invalid-input: failed to reconcile pod spec: no containers found in pod spec and no runner spec provided",
        ),
        (
            &OME_V0_1_5,
            "{engine: {leader: {}}}",
            "invalid-input: failed to reconcile pod spec: no containers found in pod spec and no runner spec provided",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a, image: i}}, model: {name: m, fineTunedWeights: [a, b]}}",
            "invalid-input: failed to reconcile fine-tuned weights: stacked fine-tuned serving is not supported yet",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a, image: i}}, model: {name: m, fineTunedWeights: [gone]}}",
            "model-not-found: failed to reconcile fine-tuned weights: No FineTunedWeight with the name: gone",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a, image: i}}, model: {name: m, fineTunedWeights: [bare]}}",
            "invalid-input: failed to reconcile fine-tuned weights: unexpected end of JSON input",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a, image: i}}, model: {name: m, fineTunedWeights: [odd]}}",
            "would-panic: the controller would crash: `hyperParameters.strategy` of FineTunedWeight/odd is an integer, not a string",
        ),
        (
            &OME_V0_1_5,
            "{engine: {}}",
            "invalid-input: failed to reconcile pod spec: no containers found in pod spec and no runner spec provided",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a}, worker: {size: 1}}}",
            "invalid-input: failed to reconcile worker pod spec: no containers found in worker pod spec",
        ),
        (
            &OME_V0_1_5,
            "{engine: {runner: {name: a, args: ['{{ system_message }}']}}}",
            "template-invalid: failed to reconcile pod spec: failed to replace placeholders in container: template: container-tmpl:1: function \"system_message\" not defined",
        ),
    ] {
        let fixture = Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {spec}}}"))
            .weight("bare", "{}")
            .weight("odd", "{configuration: {}, hyperParameters: {strategy: 1}}");
        let error = fixture.compose(policy).unwrap_err();
        assert_eq!(format!("{}: {}", error.code.as_str(), error.message), expected, "{spec}");
    }
}

#[test]
fn a_virtual_service_has_no_components() {
    for policy in BOTH {
        let fixture = Fixture::new("{metadata: {name: chat, annotations: {ome.io/deploymentMode: VirtualDeployment}}, spec: {engine: {}}}").runtime(RUNTIME);
        assert!(fixture.compose(policy).unwrap().value.components.is_empty());
        assert_eq!(
            fixture.merged(policy).unwrap().value[0].mode,
            DeploymentMode::VirtualDeployment
        );
    }
}

// OME docs, Serving Runtime, Router Configuration; docs/decisions.md#implied-engine; OEP-0003,
// Story 1: the engine alone is implied; OEP-0003, Story 2: the older form of a runtime.
#[test]
fn the_documents_imply_an_engine() {
    let fixture = Fixture::new("{metadata: {name: chat}, spec: {router: {}}}")
        .runtime("{containers: [{name: srv, image: i, args: ['{{.Name}}']}], volumes: [{name: v, emptyDir: {}}]}");
    let checked = fixture.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        checked
            .value
            .components
            .iter()
            .map(|component| component.name.as_str())
            .collect::<Vec<_>>(),
        ["chat-engine", "chat-router"]
    );
    assert_eq!(
        flow(&engine(&checked).pod),
        "{containers: [{name: srv, image: i, args: [chat]}], volumes: [{name: v, emptyDir: {}}]}"
    );
}

// pkg/controller/v1beta1/inferenceservice/utils/deployment.go: base selection, inheritance of
// nothing.
#[test]
fn leaders_and_workers_inherit_nothing() {
    let runtime = "{engineConfig: {tolerations: [{key: lost}], runner: {name: c, image: own}, leader: {nodeSelector: {a: b}, runner: {name: c, image: leader}}, \
                   worker: {size: 3, runner: {name: c, image: worker}}}}";
    for policy in BOTH {
        let fixture = Fixture::new(SILENT).runtime(runtime);
        let checked = fixture.compose(policy).unwrap();
        let component = engine(&checked);
        let (worker, size) = component.worker.as_ref().unwrap();
        assert_eq!(
            [&component.pod, worker].map(|pod| container(pod)
                .get("image")
                .unwrap()
                .as_str()
                .unwrap()),
            ["leader", "worker"]
        );
        assert_eq!(
            (
                *size,
                component.pod.get("tolerations").is_none(),
                worker.get("nodeSelector").is_none()
            ),
            (3, true, true)
        );
        let raw = Fixture::new("{metadata: {name: chat}, spec: {engine: {annotations: {ome.io/deploymentMode: RawDeployment}}}}").runtime(runtime);
        let checked = raw.compose(policy).unwrap();
        assert_eq!(
            (
                container(&engine(&checked).pod).get("image").unwrap().as_str(),
                engine(&checked).worker.is_none()
            ),
            (Some("own"), true)
        );
    }
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, PARALLELISM_SIZE; OME docs, Serving
// Runtime, Multi-Node Configuration.
#[test]
fn gpus_and_parallelism() {
    let gpu = |key: &str, count: i64| {
        format!(
            "{{name: c, image: i, args: [$(PARALLELISM_SIZE)], resources: {{{key}: {{nvidia.com/gpu: {count}}}}}}}"
        )
    };
    for (kind, spec, gpus, sizes) in [
        (
            "engine",
            format!(
                "{{leader: {{runner: {}}}, worker: {{size: 3, runner: {}}}}}",
                gpu("limits", 8),
                gpu("requests", 4)
            ),
            20,
            vec!["32", "16"],
        ),
        ("engine", format!("{{runner: {}}}", gpu("limits", 2)), 2, vec!["2"]),
        (
            "decoder",
            format!(
                "{{worker: {{size: 2, runner: {}}}, containers: [{{name: x, image: i}}]}}",
                gpu("limits", 1)
            ),
            2,
            vec!["2"],
        ),
        (
            "decoder",
            format!(
                "{{runner: {}, worker: {{size: 2, runner: {}}}}}",
                gpu("limits", 1),
                gpu("limits", 1)
            ),
            3,
            vec!["3", "3"],
        ),
    ] {
        let engine = if kind == "engine" { "" } else { "engine: {runner: {name: a, image: i}}, " };
        let fixture = Fixture::new(&format!(
            "{{metadata: {{name: chat}}, spec: {{{engine}{kind}: {spec}}}}}"
        ));
        for policy in BOTH {
            let checked = fixture.compose(policy).unwrap();
            let component = checked.value.components.last().unwrap();
            let merged = fixture.merged(policy).unwrap().value.last().unwrap().gpus();
            let merged = merged.map(|found| found.values().sum());
            assert_eq!((gpus_of(component), merged), (Some(gpus), Some(gpus)), "{spec}");
            let pods = [Some(&component.pod), component.worker.as_ref().map(|(pod, _)| pod)];
            let found: Vec<_> = pods
                .into_iter()
                .flatten()
                .flat_map(|pod| env(container(pod)))
                .map(|entry| entry.replace("PARALLELISM_SIZE=", ""))
                .collect();
            assert_eq!(found, sizes, "{spec} {}", policy.semantics);
        }
    }
    // No document names the variable: without a reader it is not set. Other vendors count only
    // there.
    let silent = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}}}}",
    );
    assert_eq!(env(container(&engine(&silent.compose(&OME_DOCUMENTED).unwrap()).pod)), [""; 0]);
    let amd = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i, args: [$(PARALLELISM_SIZE)], resources: {limits: {amd.com/gpu: 2}}}}}}",
    );
    assert_eq!(env(container(&engine(&amd.compose(&OME_V0_1_5).unwrap()).pod)), [""; 0]);
    assert_eq!(
        env(container(&engine(&amd.compose(&OME_DOCUMENTED).unwrap()).pod)),
        ["PARALLELISM_SIZE=2"]
    );
}

// pkg/controller/v1beta1/inferenceservice/components/base.go;
// pkg/controller/v1beta1/inferenceservice/components/base.go, volumes.
#[test]
fn the_model_is_mounted_where_it_lies() {
    for policy in BOTH {
        let fixture = Fixture::new(SILENT).runtime(RUNTIME).model(MODEL);
        let checked = fixture.compose(policy).unwrap();
        let pod = &engine(&checked).pod;
        assert_eq!(env(container(pod)), ["MODEL_PATH=/models/m"]);
        assert_eq!(
            container(pod).get("volumeMounts"),
            Some(&node("[{name: m, mountPath: /models/m, readOnly: true}]"))
        );
        assert_eq!(pod.get("volumes"), Some(&node("[{name: m, hostPath: {path: /models/m}}]")));
        let own = Fixture::new("{metadata: {name: chat}, spec: {engine: {runner: {name: ome-container, env: [{name: MODEL_PATH, value: mine}]}}}}")
            .runtime(RUNTIME)
            .model(MODEL);
        assert_eq!(env(container(&engine(&own.compose(policy).unwrap()).pod)), ["MODEL_PATH=mine"]);
    }
    // Upstream repeats the volume of a user and gives it to the router; nothing of that is
    // documented.
    let written = Fixture::new("{metadata: {name: chat}, spec: {engine: {volumes: [{name: m, emptyDir: {}}]}, router: {runner: {name: r, image: i}}}}")
        .runtime(RUNTIME)
        .model(MODEL);
    for (policy, volumes) in BOTH.into_iter().zip([[1, 0], [2, 1]]) {
        let checked = written.compose(policy).unwrap();
        let count = |component: &Component| {
            component.pod.get("volumes").map_or(0, |list| list.items().len())
        };
        assert_eq!(
            [count(&checked.value.components[0]), count(&checked.value.components[1])],
            volumes,
            "{}",
            policy.semantics
        );
    }
    // No path, nothing but the ready label (4.2); a path and no runner, nothing but the volume
    // (1.8).
    let pvc = Fixture::new(SILENT)
        .runtime(RUNTIME)
        .model("{metadata: {name: m}, spec: {storage: {storageUri: 'pvc://a'}}}");
    let checked = pvc.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        without_empty(&engine(&checked).pod),
        node(
            "{containers: [{name: ome-container, image: i}], nodeSelector: {models.ome.io/clusterbasemodel.m: Ready}}"
        )
    );
    let listed = Fixture::new(SILENT).runtime("{engineConfig: {containers: [{name: c, image: i}, {name: d, image: i, args: ['{{.Name}}']}]}}").model(MODEL);
    let checked = listed.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        flow(engine(&checked).pod.get("containers").unwrap()),
        "[{name: c, image: i, resources: {}}, {name: d, image: i, args: [{{.Name}}], resources: {}}]"
    );
    let checked = listed.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(env(container(&engine(&checked).pod)), ["MODEL_PATH=/models/m"]);
    assert_eq!(codes(&checked), ["variable-outside-container"]);
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, fine-tuned weights;
// pkg/controller/v1beta1/inferenceservice/components/base.go;
// pkg/controller/v1beta1/inferenceservice/components/base.go, volumes: vendor, strategy, merged;
// what they leave behind.
#[test]
fn fine_tuned_weights_by_vendor_and_strategy() {
    let compose = |vendor: &str, spec: &str| {
        let model = format!(
            "{{metadata: {{name: m}}, spec: {{vendor: {vendor}, modelFormat: {{name: ft}}, storage: {{path: /models/m}}}}}}"
        );
        Fixture::new(
            "{metadata: {name: chat}, spec: {model: {name: m, fineTunedWeights: [w]}, engine: {}}}",
        )
        .runtime(RUNTIME)
        .model(&model)
        .weight("w", spec)
    };
    let volume = "{name: model-empty-dir, emptyDir: {medium: Memory}}";
    let base = "{name: m, hostPath: {path: /models/m}}";
    let original = "{name: m, mountPath: /models/m, readOnly: true}";
    let plain = "{name: model-empty-dir, mountPath: /opt/ml/model}";
    for (vendor, spec, expected_env, mounts, volumes, ready) in [
        (
            "meta",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec!["SERVED_MODEL_NAME=/data/w", "MODEL_PATH=/opt/ml/model"],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "meta",
            "{configuration: {merged_weights: true}, hyperParameters: {strategy: lora}}",
            vec!["SERVED_MODEL_NAME=/data/w", "MODEL_PATH=/opt/ml/model"],
            format!("[{plain}]"),
            format!("[{base}, {volume}]"),
            false,
        ),
        (
            "meta",
            "{configuration: {}}",
            vec!["SERVED_MODEL_NAME=/data", "MODEL_PATH=/opt/ml/model"],
            format!("[{original}, {plain}]"),
            format!("[{base}]"),
            true,
        ),
        (
            "cohere",
            "{configuration: {merged_weights: 'true'}, hyperParameters: {strategy: tfew}}",
            vec!["TFEW_PATH=/opt/ml/tfew/fastertransformer/1"],
            format!(
                "[{original}, {{name: model-empty-dir, mountPath: /opt/ml/model/ft, subPath: base}}, {{name: model-empty-dir, mountPath: /opt/ml/tfew/ft, readOnly: true, subPath: finetuned}}]"
            ),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "cohere",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec![],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
        (
            "other",
            "{configuration: {}, hyperParameters: {strategy: lora}}",
            vec![],
            format!("[{original}, {plain}]"),
            format!("[{base}, {volume}]"),
            true,
        ),
    ] {
        let fixture = compose(vendor, spec);
        let checked = fixture.compose(&OME_V0_1_5).unwrap();
        let pod = &engine(&checked).pod;
        assert_eq!(env(container(pod)), expected_env, "{vendor} {spec}");
        assert_eq!(container(pod).get("volumeMounts").unwrap(), &node(&mounts), "{vendor} {spec}");
        assert_eq!(pod.get("volumes").unwrap(), &node(&volumes), "{vendor} {spec}");
        assert_eq!(pod.get("nodeSelector").is_some(), ready, "{vendor} {spec}");
    }
    let fixture = compose("meta", "{configuration: {}}");
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert!(engine(&checked).annotations.is_empty());
    assert!(pairs(&engine(&checked).labels).contains(&"fine-tuned-weight-ft-strategy=".to_owned()));
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecNodeSelector;
// pkg/controller/v1beta1/inferenceservice/utils/utils.go.
#[test]
fn node_selectors_from_low_to_high() {
    let runtime = "{nodeSelector: {pool: rt, top: rt}, engineConfig: {nodeSelector: {pool: engcfg, cfg: y1}, runner: {name: c, image: i}}}";
    let fixture =
        Fixture::new("{metadata: {name: chat}, spec: {engine: {nodeSelector: {pool: user}}}}")
            .runtime(runtime)
            .model(MODEL);
    for (policy, ready) in BOTH.into_iter().zip(["", ", models.ome.io/clusterbasemodel.m: Ready"]) {
        let checked = fixture.compose(policy).unwrap();
        let expected = node(&format!("{{cfg: y1, pool: user, top: rt{ready}}}"));
        assert_eq!(
            engine(&checked).pod.get("nodeSelector"),
            Some(&expected),
            "{}",
            policy.semantics
        );
    }
    let silent = Fixture::new(SILENT).runtime(runtime);
    let checked = silent.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        engine(&checked).pod.get("nodeSelector"),
        Some(&node("{pool: rt, cfg: y1, top: rt}"))
    );
}

// pkg/controller/v1beta1/inferenceservice/components/base.go, annotations;
// pkg/controller/v1beta1/inferenceservice/components/base.go, labels.
#[test]
fn labels_and_annotations() {
    let service = "{metadata: {name: chat, labels: {team: a, component: mine, x: isvc}, annotations: {x: isvc, eng: isvc, autoscaling.knative.dev/min-scale: '1'}}, \
                   spec: {model: {name: m}, engine: {annotations: {eng: eng}, labels: {x: eng}}, router: {runner: {name: r, image: i}}}}";
    let fixture = Fixture::new(service)
        .runtime("{engineConfig: {annotations: {x: rt}, runner: {name: c, image: i}}}")
        .model(MODEL);
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        pairs(&engine(&checked).labels),
        [
            "base-model-name=m",
            "base-model-size=SMALL",
            "base-model-type=Serving",
            "base-model-vendor=meta",
            "component=engine",
            "fine-tuned-serving=false",
            "ome.io/inferenceservice=chat",
            "serving-runtime=rt",
            "team=a",
            "x=eng"
        ]
    );
    let annotations = [
        "eng=eng",
        "ome.io/base-model-format=safetensors",
        "ome.io/base-model-format-version=1.0.0",
        "ome.io/base-model-name=m",
        "ome.io/base-model-vendor=meta",
        "ome.io/deploymentMode=RawDeployment",
        "ome.io/serving-runtime=rt",
        "x=rt",
    ];
    assert_eq!(pairs(&engine(&checked).annotations), annotations);
    let router = &checked.value.components[1];
    assert!(
        pairs(&router.annotations).contains(&"x=isvc".to_owned())
            && pairs(&router.labels).contains(&"component=router".to_owned())
    );
    // The webhook's stamp is the controller's alone.
    let documented = fixture.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        pairs(&engine(&documented).annotations),
        annotations.into_iter().filter(|pair| !pair.contains("deploymentMode")).collect::<Vec<_>>()
    );
}

#[test]
fn the_webhook_stamps_what_it_sees() {
    for (spec, default, expected) in [
        ("{engine: {runner: {name: c}}}", "RawDeployment", Some("RawDeployment")),
        ("{engine: {runner: {name: c}}}", "Serverless", None),
        (
            "{engine: {runner: {name: c}}, decoder: {runner: {name: c}}}",
            "RawDeployment",
            Some("PDDisaggregated"),
        ),
        (
            "{engine: {leader: {runner: {name: c}}, worker: {size: 1, runner: {name: c}}}}",
            "RawDeployment",
            Some("MultiNode"),
        ),
        (
            "{engine: {leader: {runner: {name: c}}, worker: {runner: {name: c}}}}",
            "RawDeployment",
            Some("RawDeployment"),
        ),
    ] {
        let mut fixture = Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {spec}}}"));
        fixture.config.default_deployment_mode = default.into();
        let checked = fixture.compose(&OME_V0_1_5).unwrap();
        assert_eq!(
            engine(&checked).annotations.get("ome.io/deploymentMode").and_then(Node::as_str),
            expected,
            "{spec} {default}"
        );
    }
}

// pkg/controller/v1beta1/inferenceservice/components/base.go;
// pkg/controller/v1beta1/inferenceservice/components/router.go; docs/render.md (25); OME docs,
// Serving Runtime, Router Configuration.
#[test]
fn a_router_gets_its_config_and_an_account() {
    let service = "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i}}, router: {serviceAccountName: mine, config: {K: v, A: '1'}, runner: {name: r, image: i, env: [{name: K, value: old}]}}}}";
    let fixture = Fixture::new(service);
    for (policy, expected) in
        BOTH.into_iter().zip([vec!["K=v", "A=1"], vec!["K=old", "A=1", "K=v"]])
    {
        let mut history = History::new();
        let checked = fixture.compose_with(policy, &mut history).unwrap();
        let router = &checked.value.components[1];
        assert_eq!(env(container(&router.pod)), expected, "{}", policy.semantics);
        assert_eq!(
            router.pod.get("serviceAccountName").and_then(Node::as_str),
            Some("chat-router")
        );
        assert!(
            losers(&history)
                .contains(&"router.serviceAccountName: mine, now chat-router".to_owned())
        );
    }
    let listed = Fixture::new(
        "{metadata: {name: chat}, spec: {engine: {runner: {name: c}}, router: {config: {K: v}, containers: [{name: r}]}}}",
    );
    assert_eq!(
        env(container(&listed.compose(&OME_V0_1_5).unwrap().value.components[1].pod)),
        [""; 0]
    );
}

// OEP-0003, Story 5; docs/decisions.md#field-spellings.
#[test]
fn resources_of_a_router_are_its_containers() {
    let router = "{metadata: {name: chat}, spec: {engine: {runner: {name: c, image: i}}, router: {resources: {requests: {cpu: 2}, limits: {cpu: 4}}, runner: {resources: {limits: {cpu: 8}}}}}}";
    let fixture = Fixture::new(router).runtime(
        "{routerConfig: {runner: {name: r, image: i, resources: {limits: {memory: 8Gi, cpu: 1}}}}}",
    );
    let checked = fixture.compose(&OME_DOCUMENTED).unwrap();
    assert_eq!(
        container(&checked.value.components[1].pod).get("resources"),
        Some(&node("{limits: {memory: 8Gi, cpu: '8'}, requests: {cpu: '2'}}"))
    );
    assert_eq!(codes(&checked), ["shorthand-resources"]);
    let checked = fixture.compose(&OME_V0_1_5).unwrap();
    assert_eq!(
        container(&checked.value.components[1].pod).get("resources"),
        Some(&node("{limits: {memory: 8Gi, cpu: '8'}}"))
    );
}

#[test]
fn faults_stop_documented_services_only() {
    for (spec, expected) in [
        ("{runner: {name: c, image: i}}", vec![]),
        ("{runner: {name: c}}", vec!["missing-image"]),
        ("{}", vec!["missing-image"]),
        (
            "{leader: {runner: {name: c, image: i}}, worker: {size: 1}}",
            vec!["worker-without-container"],
        ),
        (
            "{leader: {runner: {name: c, image: i}}, worker: {size: 1, runner: {name: c}}}",
            vec!["missing-image"],
        ),
        (
            "{runner: {name: c, image: i}, worker: {runner: {name: c, image: i}}}",
            vec!["worker-size-absent"],
        ),
        ("{runner: {name: c, image: i}, scaleMetric: rps}", vec!["metric-needs-serverless"]),
        ("{runner: {name: c, image: i}, minReplicas: 0, scaleMetric: rps}", vec![]),
        ("{runner: {name: c, image: i}, minReplicas: 3, maxReplicas: 1}", vec!["replica-range"]),
        (
            "{runner: {name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}}",
            vec!["mount-without-volume"],
        ),
        (
            "{annotations: {rdma.ome.io/auto-inject: 'true'}, runner: {name: c, image: i, volumeMounts: [{name: dshm, mountPath: /v}]}}",
            vec![],
        ),
        (
            "{runner: {name: c, image: i, args: ['{{.Foo}}', '{{.Labels.team}}']}}",
            vec!["unknown-variable", "unknown-variable"],
        ),
        (
            "{runner: {name: c, image: i}, nodeSelector: {a: '{{.Name}}'}}",
            vec!["variable-outside-container"],
        ),
        (
            "{runner: {name: c, image: i, resources: {requests: {cpu: 4}, limits: {cpu: 2}}}}",
            vec!["requests-exceed-limits"],
        ),
    ] {
        let fixture =
            Fixture::new(&format!("{{metadata: {{name: chat}}, spec: {{engine: {spec}}}}}"));
        assert_eq!(codes(&fixture.compose(&OME_DOCUMENTED).unwrap()), expected, "{spec}");
        if let Ok(checked) = fixture.compose(&OME_V0_1_5) {
            assert!(
                codes(&checked).iter().all(|code| *code == "worker-size-absent"),
                "{spec}: {:?}",
                codes(&checked)
            );
        }
    }
    let message =
        Fixture::new(SILENT).compose(&OME_DOCUMENTED).unwrap().diagnostics.remove(0).message;
    assert_eq!(message, "engine container has no image");
}

#[test]
fn every_value_of_the_operator_names_a_rule() {
    fn origins(node: &Node, found: &mut Vec<&'static str>) {
        if let crate::yaml::Origin::Default(rule) | crate::yaml::Origin::Derived(rule) = node.origin
        {
            found.push(rule.id);
        }
        node.entries().for_each(|entry| origins(&entry.node, found));
        node.items().iter().for_each(|item| origins(item, found));
    }
    let listed: Vec<_> = crate::pods::rules::ALL.iter().map(|rule| rule.id).collect();
    let fixture = Fixture::new("{metadata: {name: chat}, spec: {model: {name: m, fineTunedWeights: [w]}, engine: {runner: {args: [x]}}, decoder: {}, router: {config: {a: b}}}}")
        .runtime("{engineConfig: {runner: {name: c, image: i, ports: [{containerPort: 1}], resources: {limits: {nvidia.com/gpu: 1}}}}, decoderConfig: {runner: {name: c}}, routerConfig: {runner: {name: r}}}")
        .model(MODEL)
        .weight("w", "{configuration: {}, hyperParameters: {strategy: lora}}");
    for policy in BOTH {
        let checked = fixture.compose(policy).unwrap();
        let mut found = Vec::new();
        for component in &checked.value.components {
            origins(&component.pod, &mut found);
            origins(&component.spec, &mut found);
            component
                .labels
                .iter()
                .chain(&component.annotations)
                .for_each(|entry| origins(&entry.node, &mut found));
        }
        assert!(
            found.len() > 20 && found.iter().all(|id| listed.contains(id)),
            "{:?}",
            found.iter().filter(|id| !listed.contains(id)).collect::<Vec<_>>()
        );
    }
}

// Whatever stands where something else belongs: findings are made elsewhere, nothing crashes here.
#[test]
fn no_shape_of_input_panics() {
    let shapes = [
        "null",
        "1",
        "text",
        "[]",
        "[1, null, x, {}]",
        "{}",
        "{a: 1}",
        "[{name: 1}]",
        "[{name: c, env: 1}]",
    ];
    let fields = [
        "",
        "runner",
        "leader",
        "worker",
        "containers",
        "initContainers",
        "volumes",
        "nodeSelector",
        "affinity",
        "labels",
        "annotations",
        "config",
        "minReplicas",
        "maxReplicas",
        "scaleMetric",
        "runner.env",
        "runner.resources",
        "runner.resources.limits",
        "runner.volumeMounts",
        "runner.args",
        "runner.name",
        "worker.size",
        "affinity.nodeAffinity",
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    ];
    let nested = |field: &str, shape: &str| {
        field
            .split('.')
            .filter(|step| !step.is_empty())
            .rev()
            .fold(shape.to_owned(), |inner, step| format!("{{{step}: {inner}}}"))
    };
    for field in fields {
        for shape in shapes {
            for other in shapes {
                let service = format!(
                    "{{metadata: {{name: chat}}, spec: {{model: {{name: m}}, engine: {}, router: {}}}}}",
                    nested(field, shape),
                    nested(field, shape)
                );
                let runtime = format!(
                    "{{engineConfig: {}, routerConfig: {{}}, nodeSelector: {shape}, containers: {shape}}}",
                    nested(field, other)
                );
                let fixture = Fixture::new(&service).runtime(&runtime).model(MODEL);
                for policy in BOTH {
                    drop(fixture.compose_with(policy, &mut History::new()));
                }
            }
        }
    }
}
