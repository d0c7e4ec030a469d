//! Whole services: how layers are merged and pods assembled.

mod metadata;
mod model;
mod no_effect;

use super::testing::{Fixture, flow, losers, node};
use crate::api::DeploymentMode;
use crate::diag::Checked;
use crate::merge::history::Recorder;
use crate::operators::ome::releases::{
    DOCUMENTED as OME_DOCUMENTED, HEAD as OME_HEAD, V0_1_5 as OME_V0_1_5, V1_2_2 as OME_V1_2_2,
};
use crate::pods::built::{Built, Component};
use crate::policy::Policy;
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
fn a_raw_engine_merges_runtime_model_and_service() {
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
fn replicas_follow_the_documented_and_controller_rules() {
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
fn documented_mode_raises_min_replicas_where_zero_is_unsupported() {
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
fn invalid_services_fail_with_the_operator_error() {
    for (policy, spec, expected) in [
        (&OME_DOCUMENTED, "{decoder: {}}", "decoder-without-engine: a decoder needs an engine"),
        (&OME_V0_1_5, "{router: {}}", "invalid-input: engine component is required"),
        // Errors of pods come before those of the mode and of the missing worker.
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
fn a_service_in_virtual_mode_has_no_components() {
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
fn documented_mode_adds_an_implied_engine() {
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

// pkg/controller/v1beta1/inferenceservice/utils/deployment.go: leader and worker inherit nothing.
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

#[test]
fn pod_errors_fail_services_only_in_documented_mode() {
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

// Any shape in place of the expected one: findings are made elsewhere, and nothing panics here.
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
                    drop(fixture.compose_with(policy, &mut Recorder::new()));
                }
            }
        }
    }
}
