//! What the tool says of a repository of somebody else: which objects touch an answer, and which
//! definition of a name counts (docs/repositories.md).

use super::process::{Call, Done, Folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// A service with a runtime of its own, which requests a GPU.
const SERVICE: &str = "\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  annotations: {serving.kserve.io/deploymentMode: RawDeployment}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    model:
      modelFormat: {name: pytorch}
      runtime: own
      storageUri: s3://m/x
---
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: own}
spec:
  supportedModelFormats: [{name: pytorch, autoSelect: true}]
  containers:
  - name: kserve-container
    image: registry.example/server:1
    resources: {limits: {nvidia.com/gpu: \"1\"}}
";

fn ome(files: &[(&str, &str)], args: &str) -> Done {
    let folder = Folder::new(files);
    let args = args.split(' ').map(ToOwned::to_owned).collect();
    let time = Duration::from_mins(1);
    let env = BTreeMap::new();
    let call = Call { args, stdin: "", directory: folder.path(), env: &env, time };
    run(&call).expect("it ends within a minute")
}

fn plan(files: &[(&str, &str)]) -> Value {
    let done = ome(files, "plan -f . -o json");
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

#[test]
fn objects_that_no_service_uses_touch_no_answer() {
    for (what, object) in [
        (
            "a queue elsewhere",
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: x, namespace: other}\nspec: {clusterQueue: A_b}\n",
        ),
        (
            "a queue of nobody",
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: x}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: []}]}\n",
        ),
        (
            "a volume",
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: x}\nspec: {capacity: {storage: 1xx}}\n",
        ),
        (
            "a preset",
            "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\nmetadata: {name: c}\nspec: {router: {scheduler: {pool: {spec: {}}}}}\n",
        ),
        (
            "a key twice",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: etcd\n  labels: {a: b}\n  labels: {c: d}\nspec:\n  ports: [{port: 1}]\n",
        ),
        (
            "an account without a name",
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {namespace: other}\n",
        ),
        (
            "settings without a name",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: other}\n",
        ),
    ] {
        for command in ["plan -f .", "explain chat -f .", "render chat -f ."] {
            let done = ome(&[("service.yaml", SERVICE), ("other.yaml", object)], command);
            assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{what}: {command}");
        }
    }
    for (what, object) in [
        (
            "a node",
            "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1xx}}\n",
        ),
        (
            "a runtime that is not read",
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: x\n",
        ),
    ] {
        let done = ome(&[("service.yaml", SERVICE), ("other.yaml", object)], "plan -f .");
        assert_eq!(done.exit, Some(1), "{what}: {done:?}");
    }
}

#[test]
fn nodes_of_tests_and_templates_are_nobodys_cluster() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: NAME}\nstatus: {allocatable: {cpu: \"2\", memory: 8Gi, pods: \"110\"}}\n";
    let own = node.replace("NAME", "n1");
    let fits = |path: &str, node: &str| {
        let found = plan(&[("service.yaml", SERVICE), (path, node)]);
        found["services"][0]["components"][0]["fits"].clone()
    };
    assert_eq!(fits("nodes.yaml", &own), Value::Bool(false));
    for path in ["vendor/k8s.io/node.yaml", "tests/node.yaml", "a/testdata/node.yaml"] {
        assert_eq!(fits(path, &own), Value::Null, "{path}");
    }
    assert_eq!(fits("nodes.yaml", &node.replace("NAME", "\"${name}\"")), Value::Null);
    // A workload of a template is not placed, and one that stands is.
    let workload = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: \"NAME\"}\nspec:\n  selector: {matchLabels: {app: \"NAME\"}}\n  template:\n    metadata: {labels: {app: \"NAME\"}}\n    spec: {containers: [{name: c, image: \"a:1\", resources: {requests: {cpu: 4}}}]}\n";
    for (name, code) in [("{{ .Name }}", 0), ("web", 2)] {
        let text = format!("{own}{}", workload.replace("NAME", name));
        assert_eq!(ome(&[("all.yaml", &text)], "plan -f .").exit, Some(code), "{name}");
    }
}

#[test]
fn what_is_applied_as_it_stands_counts_before_templates() {
    let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects:\n- apiVersion: serving.kserve.io/v1alpha1\n  kind: ServingRuntime\n  metadata: {name: own}\n  spec:\n    supportedModelFormats: [{name: pytorch}]\n    containers:\n    - {name: kserve-container, image: \"x:2\", nodeSelector: {a: b}, resources: {limits: {nvidia.com/gpu: \"4\"}}}\n";
    for name in ["a.yaml", "z.yaml"] {
        let found = plan(&[("service.yaml", SERVICE), (name, template)]);
        assert_eq!(found["services"][0]["components"][0]["gpus"], 1, "{name}");
        assert_eq!(ome(&[("service.yaml", SERVICE), (name, template)], "plan -f .").exit, Some(0));
    }
    // A definition with placeholders is shown, and the other one is counted.
    let holes = SERVICE.replace("s3://m/x", "${URI}").replace("\"1\"", "\"8\"");
    let holes = holes.split("---").next().expect("the service");
    for name in ["a.yaml", "z.yaml"] {
        let done = ome(&[("service.yaml", SERVICE), (name, holes)], "plan -f .");
        assert!(done.stdout.contains("1 service; 1 pod and 1 GPU"), "{name}: {}", done.stdout);
    }
}

#[test]
fn files_of_other_programs_with_version_v1_are_no_part_of_an_answer() {
    let installer = "apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: dev}\nplatform: {aws: {region: us-west-2}}\n";
    let scheduler = "kind: Policy\napiVersion: v1\npredicates: [{name: PodFitsPorts}]\n";
    for text in [installer, scheduler] {
        for command in ["plan -f .", "validate -f ."] {
            let done = ome(&[("service.yaml", SERVICE), ("a/other.yaml", text)], command);
            assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{command}: {text}");
        }
    }
    // An object whose kind was forgotten is one.
    let forgotten = "apiVersion: v1\nmetadata: {name: a}\ndata: {b: c}\n";
    let done = ome(&[("service.yaml", SERVICE), ("other.yaml", forgotten)], "plan -f .");
    assert!(done.stderr.contains("has no `kind`"), "{done:?}");
}

#[test]
fn a_runtime_without_a_namespace_is_applied_beside_the_services_that_name_it() {
    let (service, runtime) = SERVICE.split_once("---\n").expect("two objects");
    let in_team = service.replace("name: chat", "name: team\n  namespace: team");
    let files = [
        ("chat.yaml", service),
        ("team.yaml", in_team.as_str()),
        ("serving-runtimes/own.yaml", runtime),
    ];
    for command in ["plan -f .", "validate -f .", "render -f ."] {
        let done = ome(&files, command);
        assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{command}: {done:?}");
    }
    let elsewhere = runtime.replace("{name: own}", "{name: own, namespace: other}");
    let files = [("team.yaml", in_team.as_str()), ("serving-runtimes/own.yaml", &elsewhere)];
    for command in ["plan -f .", "validate -f ."] {
        assert_ne!(ome(&files, command).exit, Some(0), "{command}");
    }
}

#[test]
fn settings_of_upstream_below_overlays_do_not_stop_services_of_openshift_ai() {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inferenceservice-config, namespace: kserve}\ndata:\n  deploy: '{\"defaultDeploymentMode\": \"RawDeployment\"}'\n";
    let service = SERVICE.replace("annotations: {", "annotations: {opendatahub.io/a: b, ");
    let files = [("service.yaml", service.as_str()), ("config/settings.yaml", settings)];
    let done = ome(&files, "plan -f .");
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    // The settings that were named are those of the cluster.
    let done = ome(&files, "plan -f service.yaml -f config/settings.yaml");
    assert!(done.stdout.contains("oauthProxy config is nil"), "{done:?}");
}

#[test]
fn the_last_line_follows_the_exit_code_where_only_copies_are_in_error() {
    let broken = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: x}\nspec: {}\n";
    for (path, exit, mark) in [("test/x.yaml", 0, "!"), ("x.yaml", 1, "✗")] {
        let done = ome(&[("service.yaml", SERVICE), (path, broken)], "plan -f .");
        let last = done.stdout.lines().last().unwrap_or_default();
        assert_eq!((done.exit, last.starts_with(mark)), (Some(exit), true), "{path}: {done:?}");
    }
}

#[test]
fn an_equal_definition_elsewhere_outlives_the_last_one_of_a_directory() {
    let (service, runtime) = SERVICE.split_once("---\n").expect("two objects");
    let other = runtime.replace("\"1\"", "\"4\"");
    let files = [
        ("a.yaml", runtime),
        ("b/own.yaml", runtime),
        ("b/service.yaml", service),
        ("c.yaml", other.as_str()),
    ];
    let found = plan(&files);
    assert_eq!(found["services"][0]["components"][0]["gpus"], 1, "{found}");
}

#[test]
fn a_booster_of_an_older_release_is_planned_with_its_minimum() {
    let booster = "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelBooster\nmetadata: {name: m}\nspec:\n  autoscalingPolicy: {metrics: []}\n  backend:\n    name: b\n    type: vLLM\n    modelURI: hf://acme/tiny\n    cacheURI: hostpath:///cache\n    minReplicas: 2\n    maxReplicas: 5\n    workers: [{type: server, image: \"v:1\", replicas: 1, pods: 1, resources: {limits: {nvidia.com/gpu: \"1\"}}}]\n";
    let done = ome(&[("a.yaml", booster)], "plan -f .");
    assert_eq!(done.exit, Some(0), "{done:?}");
    assert!(done.stdout.contains("2 pods and 2 GPUs"), "{done:?}");
    assert!(done.stderr.contains("before v1.0"), "{done:?}");
}

#[test]
fn a_flag_of_a_service_that_overrides_its_runtime_is_no_warning() {
    let text = SERVICE
        .replace("image: registry.example/server:1", "image: a:1\n    args: [--model_name=x]")
        .replace("runtime: own", "runtime: own\n      args: [--model_name=y]");
    let done = ome(&[("a.yaml", &text)], "plan -f .");
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    let twice = text.replace("[--model_name=y]", "[--model_name=y, --model_name=z]");
    assert!(ome(&[("a.yaml", &twice)], "plan -f .").stderr.contains("duplicate-flag"));
}

#[test]
fn a_definition_for_tests_judges_tests_alone() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  names: {kind: Widget, plural: widgets}\n  scope: Namespaced\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}\n";
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {b: c}\n";
    for (path, exit) in [("test/crds/w.yaml", 0), ("crds/w.yaml", 2)] {
        let done = ome(&[("widget.yaml", widget), (path, definition)], "validate -f .");
        assert_eq!(done.exit, Some(exit), "{path}: {done:?}");
    }
}

/// What was left out of an answer is said with the command that adds it.
#[test]
fn what_holds_services_and_is_not_read_is_named_with_the_next_step() {
    let chart = "apiVersion: v2\nname: x\nversion: 0.1.0\n";
    let template = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: {{ .Values.name }}\n";
    let files = [("c/Chart.yaml", chart), ("c/templates/service.yaml", template)];
    let done = ome(&files, "plan -f .");
    let line = "1 Helm chart with services was not rendered: helm template c | ome plan -f -";
    assert!(done.stdout.contains(line), "{done:?}");
    let done = ome(&files, "plan -f c/templates");
    assert!(done.stdout.contains("helm template c | ome plan -f -"), "{done:?}");
    // One without services is not worth a line.
    let other = [files[0], ("c/templates/a.yaml", "kind: Service\nmetadata: {{ .Values.a }}\n")];
    assert!(!ome(&other, "plan -f .").stdout.contains("Helm"));

    let listed = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [service.yaml]\n";
    let files = [("k/kustomization.yaml", listed), ("k/service.yaml", SERVICE)];
    for name in ["-f k/kustomization.yaml", "-k k/kustomization.yaml"] {
        let done = ome(&files, &format!("plan {name}"));
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stderr.contains("-k k`"), "{done:?}");
    }
}

/// Definitions of one directory are told apart by their files, as no directory does.
#[test]
fn definitions_of_one_directory_are_named_by_file() {
    let other = SERVICE.replace("maxReplicas: 1", "maxReplicas: 2");
    let other = other.split("---").next().expect("the service");
    let done = ome(&[("a/one.yaml", SERVICE), ("a/two.yaml", other)], "plan -f .");
    assert!(done.stdout.contains("counted: a/one.yaml of 2 variants"), "{done:?}");
    let done = ome(&[("a/one.yaml", SERVICE), ("a/two.yaml", other)], "render -f .");
    let line =
        "rendered: a/one.yaml of 2 variants (default/chat): `-f a/two.yaml` asks about another";
    assert!(done.stderr.contains(line), "{done:?}");
    let done = ome(&[("a/one.yaml", SERVICE), ("b/two.yaml", other)], "render -f .");
    let line = "rendered: a/ of 2 variants (default/chat): `--in b` asks about another";
    assert!(done.stderr.contains(line), "{done:?}");
}

/// Classes are discovered from nodes: what is wrong with services is left to `validate`.
#[test]
fn discovery_reports_nodes_alone() {
    let broken = SERVICE.replace("modelFormat:", "modelFormt:");
    let files = [("service.yaml", broken.as_str())];
    let done = ome(&files, "discover -f .");
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert!(done.stdout.contains("kubectl get nodes -o yaml | ome discover -f -"), "{done:?}");
    let node =
        "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 1xx}}\n";
    assert_ne!(ome(&[files[0], ("node.yaml", node)], "discover -f .").stderr, "");
}

/// The webhook of KServe decides about a runtime before a service can get it.
#[test]
fn a_plan_reports_what_the_webhook_refuses_of_the_runtime() {
    let refused = SERVICE.replace(
        "    image: registry",
        "    env: [{name: PYTHONPATH, value: /a}]\n    image: registry",
    );
    let live = refused.replace("{name: own}", "{name: own, uid: 1-2}");
    for (text, mode, exit, said) in [
        (refused.as_str(), "controller", 1, "error[invalid-value]"),
        (refused.as_str(), "documented", 0, "warning[server-refuses]"),
        (live.as_str(), "controller", 0, ""),
        (SERVICE, "controller", 0, ""),
    ] {
        let done = ome(&[("s.yaml", text)], &format!("plan -f s.yaml -o json --semantics {mode}"));
        assert_eq!(done.exit, Some(exit), "{done:?}");
        let answer: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let found = answer["findings"].as_array().expect("findings");
        let python =
            found.iter().find(|own| own["message"].as_str().unwrap().contains("PYTHONPATH"));
        let code = python.map(|own| {
            let part = |key: &str| own[key].as_str().unwrap_or_default().to_owned();
            format!("{}[{}]", part("severity"), part("code"))
        });
        assert_eq!(code.unwrap_or_default(), said, "{mode}");
    }
}

/// Templates are left out below a chart, also from a directory within it.
#[test]
fn a_chart_above_the_current_directory_holds_its_templates() {
    let folder = Folder::new(&[
        ("repo/chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n"),
        ("repo/chart/templates/chat.yaml", SERVICE),
        ("repo/chart/crds/chat.yaml", SERVICE),
        ("repo/chart/other/chat.yaml", SERVICE),
        ("repo/.git/HEAD", "ref: refs/heads/main\n"),
        ("Chart.yaml", "apiVersion: v2\nname: outside\nversion: 0.1.0\n"),
        ("repo/templates/chat.yaml", SERVICE),
    ]);
    for (directory, rendered) in [
        ("repo/chart/templates", Some("helm template .. | ome plan -f -")),
        ("repo/chart/crds", None),
        ("repo/chart/other", None),
        // A chart outside of the repository is another's.
        ("repo/templates", None),
    ] {
        let directory = folder.at(directory);
        let args = ["plan", "-f", "."].map(String::from).to_vec();
        let (env, time) = (BTreeMap::new(), Duration::from_mins(1));
        let call = Call { args, stdin: "", directory: &directory, env: &env, time };
        let done = run(&call).expect("it ends within a minute");
        let all = format!("{}{}", done.stderr, done.stdout);
        match rendered {
            Some(step) => assert!(all.contains(step) && !all.contains("chat "), "{done:?}"),
            None => assert!(all.contains("chat "), "{done:?}"),
        }
    }
}
