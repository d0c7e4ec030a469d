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
