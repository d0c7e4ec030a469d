//! Pods as trees: additions, counts and findings.

use super::built::Component;
use super::container::{
    default_env, env_position, has_mount, has_volume, lost_variable, pod_mounts, push, set_env,
};
use super::gpus;
use super::lint::{self, PathOf, Place};
use super::rules::MODEL_PATH;
use super::variables::{PodRole, expand, literals, outside};
use crate::api::{ComponentKind, DeploymentMode, Semantics};
use crate::check::fixture;
use crate::diag::Diagnostic;
use crate::merge::history::Recorder;
use crate::operators::ome::compose::testing::{flow, losers, node};
use crate::operators::ome::releases::V0_1_5;
use crate::yaml::{FieldPath, Map, Node};

/// Findings as `code path: message (help)`.
fn lines_of(findings: &[Diagnostic]) -> Vec<String> {
    let findings = findings.iter().map(|finding| {
        let path = finding.path.as_deref().unwrap_or("");
        format!("{} {path}: {}", finding.code.as_str(), finding.message)
    });
    findings.collect()
}

/// Does something at the engine of a service with a runtime; `engineConfig` of the runtime is
/// `runtime`, `engine` of the service is `service`.
fn placed(runtime: &str, service: &str, ask: impl FnOnce(&Place<'_>, &Node, &Node)) {
    let text = fixture::runtime("rt", &format!("  engineConfig: {runtime}\n"))
        + "---\n"
        + &fixture::service("svc", &format!("  engine: {service}\n"));
    let catalog = fixture::catalog(&text, Semantics::Documented, |_| ());
    let service = &catalog.services().next().expect("a service").documented;
    let runtime = catalog.all_runtimes().next().expect("a runtime");
    let place = Place { service, runtime: Some(runtime), kind: ComponentKind::Engine };
    let of_runtime = runtime.config(ComponentKind::Engine).expect("a configuration");
    let of_service = service.object.spec("engine").expect("an engine");
    ask(&place, of_runtime, of_service);
}

#[test]
fn environment_variables_are_defaulted_set_and_recorded() {
    let mut container = node("{env: [{name: A, value: '1'}, {name: B, valueFrom: {x: y}}]}");
    assert_eq!(
        ["A", "B", "C"].map(|name| env_position(&container, name)),
        [Some(0), Some(1), None]
    );
    default_env(&mut container, "A", "2".into(), &MODEL_PATH);
    default_env(&mut container, "C", "3".into(), &MODEL_PATH);
    let mut history = Recorder::new();
    set_env(&mut container, "A", "4".into(), &MODEL_PATH, &mut history);
    set_env(&mut container, "B", "5".into(), &MODEL_PATH, &mut history);
    set_env(&mut container, "D", "6".into(), &MODEL_PATH, &mut history);
    assert_eq!(
        flow(&container),
        "{env: [{name: A, value: 4}, {name: B, valueFrom: {x: y}, value: 5}, \
         {name: C, value: 3}, {name: D, value: 6}]}"
    );
    lost_variable("E", &node("7"), &node("8"), &mut history);
    assert_eq!(losers(&history), ["env[name=A].value: 1, now 4", "env[name=E].value: 7, now 8"]);
    let mut bare = node("{}");
    push(&mut bare, "args", node("a"));
    push(&mut bare, "args", node("b"));
    assert_eq!(flow(&bare), "{args: [a, b]}");
    default_env(&mut bare, "A", "1".into(), &MODEL_PATH);
    assert_eq!(flow(&bare), "{args: [a, b], env: [{name: A, value: 1}]}");
}

#[test]
fn mounts_and_volumes_are_found() {
    let pod = node(
        "{volumes: [{name: v}], containers: [{}, {volumeMounts: [{name: m, mountPath: /m}]}], \
         initContainers: [{volumeMounts: [{name: i}]}]}",
    );
    assert!(has_volume(&pod, "v") && !has_volume(&pod, "m") && !has_volume(&node("{}"), "v"));
    assert_eq!(["m", "i", "v"].map(|name| pod_mounts(&pod, name)), [true, true, false]);
    let container = &pod.get("containers").unwrap().items()[1];
    assert!(has_mount(container, "name", "m") && has_mount(container, "mountPath", "/m"));
    assert!(!has_mount(container, "name", "/m") && !has_mount(&pod, "name", "m"));
}

fn component(mode: DeploymentMode, pod: &str, worker: Option<(&str, i64)>) -> Component {
    Component {
        kind: ComponentKind::Engine,
        name: "svc-engine".into(),
        mode,
        spec: node("{}"),
        labels: Map::new(),
        annotations: Map::new(),
        pod: node(pod),
        worker: worker.map(|(pod, workers)| (node(pod), workers)),
        worker_metadata: None,
        main: 0,
        worker_main: 0,
    }
}

#[test]
fn a_replica_has_the_pods_and_accelerators_of_leader_and_workers() {
    use DeploymentMode::{MultiNode, MultiNodeRayVllm, RawDeployment};
    let two = "{containers: [{resources: {limits: {nvidia.com/gpu: 2, cpu: 4}}}]}";
    let mixed = "{containers: [{resources: {limits: {amd.com/gpu: 1}}}], \
                 initContainers: [{resources: {limits: {amd.com/gpu: 8}}}, \
                 {restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 3}}}]}";
    let none = "{containers: [{resources: {limits: {cpu: 4}}}]}";
    let broken = "{containers: [{resources: {limits: {nvidia.com/gpu: some}}}]}";
    let most = "{containers: [{resources: {limits: {nvidia.com/gpu: 9000000000000000000}}}]}";
    // Pods of a replica, accelerators by resource.
    let rows = [
        (RawDeployment, two, None, Some(1), Some("nvidia.com/gpu 2")),
        (MultiNodeRayVllm, two, None, Some(2), Some("nvidia.com/gpu 4")),
        (MultiNode, two, Some((two, 3)), Some(4), Some("nvidia.com/gpu 8")),
        (MultiNode, two, Some((mixed, 2)), Some(3), Some("amd.com/gpu 16, nvidia.com/gpu 8")),
        (MultiNode, two, Some((broken, 0)), Some(1), Some("nvidia.com/gpu 2")),
        (MultiNode, two, Some((two, -1)), None, None),
        (RawDeployment, none, None, Some(1), Some("")),
        (RawDeployment, broken, None, Some(1), None),
        (MultiNode, none, Some((most, 2)), Some(3), None),
    ];
    for (mode, pod, worker, pods, accelerators) in rows {
        let component = component(mode, pod, worker);
        assert_eq!(component.pods_per_replica(), pods, "{pod} {worker:?}");
        let found = component.accelerators().map(|found| {
            let each = found.iter().map(|(name, number)| format!("{name} {number}"));
            each.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(found.as_deref(), accelerators, "{pod} {worker:?}");
    }
}

#[test]
fn devices_are_counted_by_container_and_by_pod() {
    let container = node(
        "{resources: {limits: {nvidia.com/gpu: 2, cpu: 1500m}, requests: {nvidia.com/gpu: 1, \
         amd.com/gpu: 4, memory: 1Gi}}}",
    );
    assert_eq!(gpus::of_container(&container, |name| name.ends_with("/gpu")), Some(6));
    assert_eq!(gpus::of_container(&container, |name| name == "amd.com/gpu"), Some(4));
    let written = ["nvidia.com/gpu", "amd.com/gpu", "cpu", "memory", "disk"]
        .map(|name| gpus::as_written(&container, name));
    assert_eq!(written, [Some(2), Some(4), Some(2), Some(1 << 30), None]);
    let pod = node(
        "{containers: [{resources: {limits: {nvidia.com/gpu: 2}}}, {resources: {limits: {amd.com/gpu: 1}}}]}",
    );
    assert_eq!(gpus::of_pod(&pod), Some(3));
    assert_eq!(gpus::of_pod(&node("{}")), Some(0));
    // Init containers run one after the other, beside those that restart.
    let gpu = |count: i64, more: &str| {
        format!("{{resources: {{limits: {{nvidia.com/gpu: {count}}}}}{more}}}")
    };
    for (init, expected) in [
        (vec![gpu(4, "")], 4),
        (vec![gpu(1, ""), gpu(1, "")], 2),
        (vec![gpu(1, ", restartPolicy: Always"), gpu(4, "")], 5),
        (vec![gpu(4, ""), gpu(1, ", restartPolicy: Always")], 4),
        (vec![gpu(1, ", restartPolicy: Always")], 3),
    ] {
        let text =
            format!("{{containers: [{}], initContainers: [{}]}}", gpu(2, ""), init.join(", "));
        assert_eq!(gpus::of_pod(&node(&text)), Some(expected), "{text}");
        assert_eq!(gpus::of_part(&node(&text)).unwrap()["nvidia.com/gpu"], expected, "{text}");
    }
    assert_eq!(
        gpus::of_pod(&node("{containers: [{resources: {limits: {nvidia.com/gpu: some}}}]}")),
        None
    );
}

#[test]
fn a_field_path_belongs_to_the_object_that_set_the_value() {
    placed("{a: 1}", "{a: 1}", |place, runtime, service| {
        assert_eq!(place.path(runtime.origin, "a"), "spec.engineConfig.a");
        assert_eq!(place.path(service.origin, "a"), "spec.engine.a");
    });
}

#[test]
fn duplicate_flags_are_reported() {
    let flags = ["--a", "--a=1", "--a 1", "--", "-a", "a", "--b"].map(lint::flag);
    assert_eq!(flags, [Some("--a"), Some("--a"), Some("--a"), None, None, None, Some("--b")]);
    let args = "[--a, one, --b=1, --c, --a, two, --b=2, --b=3, --d, --d, --e]";
    placed("{}", &format!("{{runner: {{args: {args}}}}}"), |place, _, service| {
        let args = service.at(&["runner", "args"]).unwrap().items();
        let mut findings = Vec::new();
        lint::duplicate_flags(args, place, "delete one", &mut findings);
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`--a` is 2 times in the arguments of the engine: the engine sees `two`",
                "`--b` is 3 times in the arguments of the engine: the engine sees `3`",
                "`--d` is 2 times in the arguments of the engine: the engine sees ``",
            ]
        );
    });
}

#[test]
fn a_main_container_without_an_image_is_reported() {
    // The pod, whether an image is missing.
    for (part, missing) in [
        ("{runner: {image: i}}", false),
        ("{runner: {image: ''}}", true),
        ("{runner: {}}", true),
        ("{}", true),
        ("{containers: [{name: a, image: i}]}", false),
        ("{containers: [{name: a}, {name: b, image: i}]}", true),
        ("{runner: {name: b}, containers: [{name: a, image: i}, {name: b}]}", true),
        ("{runner: {name: b}, containers: [{name: a}, {name: b, image: i}]}", false),
        ("{runner: {name: c}, containers: [{name: a, image: i}]}", true),
    ] {
        placed("{}", part, |place, _, service| {
            let mut findings = Vec::new();
            lint::image(service, "the engine's", place, &mut findings);
            let expected: &[&str] = if missing {
                &["missing-image spec.engine.runner.image: the engine's container has no image"]
            } else {
                &[]
            };
            assert_eq!(lines_of(&findings), expected, "{part}");
        });
    }
}

#[test]
fn empty_workers_and_invalid_kserve_replicas_are_reported() {
    let path: PathOf<'_> = &|_, field| format!("p.{field}");
    for (component, nothing) in [
        ("{}", false),
        ("{worker: {}}", true),
        ("{worker: {containers: []}}", true),
        ("{worker: {runner: {}}}", false),
        ("{worker: {runner: {}, containers: []}}", false),
        ("{worker: {containers: [{name: a}]}}", false),
    ] {
        let mut findings = Vec::new();
        assert_eq!(lint::worker_container(&node(component), path, &mut findings), nothing);
        let expected: &[&str] = if nothing {
            &["worker-without-container p.worker: the worker has neither a runner nor containers"]
        } else {
            &[]
        };
        assert_eq!(lines_of(&findings), expected, "{component}");
    }
    for (component, expected) in [
        ("{minReplicas: 3, maxReplicas: 2}", 1),
        ("{minReplicas: 3, maxReplicas: 0}", 0),
        ("{minReplicas: 3, maxReplicas: 3}", 0),
        ("{minReplicas: 3}", 0),
        ("{minReplicas: 3, maxReplicas: x}", 0),
    ] {
        let mut findings = Vec::new();
        lint::replica_range_of(&node(component), ComponentKind::Predictor, &mut findings);
        assert_eq!(findings.len(), expected, "{component}");
        for finding in findings {
            assert_eq!(finding.path.as_deref(), Some("spec.predictor.maxReplicas"));
        }
    }
}

#[test]
fn mounts_of_volumes_added_by_the_rdma_webhook_are_accepted() {
    let pod = node("{containers: [{volumeMounts: [{name: dshm}, {name: devinf}, {name: x}]}]}");
    for (value, expected) in [("true", 1), ("false", 3), ("", 3)] {
        let injected = lint::injected_volumes(|key| {
            assert_eq!(key, "rdma.ome.io/auto-inject");
            value
        });
        let mut findings = Vec::new();
        lint::pod(&pod, None, injected, "p", &mut findings);
        assert_eq!(findings.len(), expected, "{value}");
    }
}

#[test]
fn placeholders_outside_the_main_container_are_reported() {
    let pod = "{containers: [{name: '{{.Name}}'}, {args: ['{{.Labels.a}} {{.Name}}']}], \
               volumes: [{name: '{{.Namespace}}'}], hostname: plain}";
    placed("{}", pod, |place, _, service| {
        // The main container, the findings.
        let rows: [(usize, &[&str]); 2] = [
            (
                0,
                &[
                    "spec.engine.containers[1].args[0]: `{{.Labels.a}}`",
                    "spec.engine.containers[1].args[0]: `{{.Name}}`",
                    "spec.engine.volumes[0].name: `{{.Namespace}}`",
                ],
            ),
            (
                1,
                &[
                    "spec.engine.containers[0].name: `{{.Name}}`",
                    "spec.engine.volumes[0].name: `{{.Namespace}}`",
                ],
            ),
        ];
        for (main, expected) in rows {
            let mut findings = Vec::new();
            outside(place, service, main, &mut findings);
            let expected: Vec<String> = expected
                .iter()
                .map(|variable| {
                    format!(
                        "variable-outside-container {variable} is outside the engine container \
                         and is not replaced"
                    )
                })
                .collect();
            assert_eq!(lines_of(&findings), expected);
        }
    });
    let mut found = Vec::new();
    literals(&node("{a: [x, '{{.Name}}'], b: 1}"), &FieldPath::root(), &mut |name, _, path| {
        found.push(format!("{path} {name}"));
    });
    assert_eq!(found, ["a[1] {{.Name}}"]);
}

#[test]
fn each_pod_role_has_the_upstream_error_message() {
    placed("{}", "{runner: {args: ['{{.Nothing']}}", |place, _, service| {
        let container = service.get("runner").unwrap();
        for (role, words) in [
            (
                PodRole::Main,
                "failed to reconcile pod spec: failed to replace placeholders in container: ",
            ),
            (
                PodRole::Worker,
                "failed to reconcile worker pod spec: failed to replace placeholders in worker \
                 container: ",
            ),
        ] {
            let error = expand(
                &V0_1_5,
                place,
                &Map::new(),
                role,
                container,
                &mut Recorder::off(),
                &mut Vec::new(),
            )
            .unwrap_err();
            assert!(error.message.starts_with(words), "{}", error.message);
        }
    });
    for (role, whose) in [(PodRole::Main, "pod"), (PodRole::Worker, "worker pod")] {
        let start = format!("failed to reconcile {whose} spec: ");
        assert!(role.merge_failed().starts_with(&(start.clone() + "failed to merge ")));
        assert!(role.no_container().starts_with(&(start + "no containers found in ")));
    }
}
