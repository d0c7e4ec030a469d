//! Dollars of ModelServings: their pods at the prices of the classes of their nodes.

use super::diff::Scratch;
use serde_json::{Value, json};

const CLUSTER: &str = "\
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: h100}
spec:
  vendor: nvidia
  discovery: {nodeSelector: {gpu: h100}}
  resources: [{name: nvidia.com/gpu, quantity: '1'}]
  cost: {perHour: '2.5'}
---
apiVersion: v1
kind: Node
metadata: {name: node-0, labels: {gpu: h100}}
status:
  conditions: [{type: Ready, status: 'True'}]
  allocatable: {cpu: '64', memory: 512Gi, pods: '110', nvidia.com/gpu: '8'}
---
";

/// A ModelServing of groups with a pod of 2 GPUs each.
fn serving(name: &str, groups: usize) -> String {
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {{name: {name}, namespace: d}}
spec:
  schedulerName: volcano
  replicas: {groups}
  template:
    roles:
    - name: decode
      workerReplicas: 0
      entryTemplate:
        spec:
          containers:
          - name: c
            image: i
            resources: {{limits: {{nvidia.com/gpu: 2}}, requests: {{nvidia.com/gpu: 2}}}}
---
"
    )
}

fn plan(scratch: &Scratch, args: &[&str]) -> Value {
    let done =
        scratch.ome(&[&["plan", "--no-builtin", "--no-config", "-o", "json"], args].concat());
    serde_json::from_str(&done.stdout).expect("a document of JSON")
}

#[test]
fn a_plan_includes_the_cost_of_model_servings() {
    let scratch = Scratch::new("costs-plan");
    let all = format!("{CLUSTER}{}{}", serving("a", 1), serving("b", 2));
    scratch.write("all.yaml", &all);
    let found = plan(&scratch, &["-f", "all.yaml"]);
    let row = |name: &str, cost: u32| json!({"namespace": "d", "name": name, "perHour": cost});
    let expected = json!({
        "perHour": 15,
        "services": [],
        "byClass": {"h100": 15},
        "modelServings": [row("a", 5), row("b", 10)],
    });
    assert_eq!(found["costs"], expected);
    // Only printed services are counted.
    let found = plan(&scratch, &["-f", "all.yaml", "d/b"]);
    assert_eq!(found["costs"]["perHour"], json!(10));
    assert_eq!(found["costs"]["modelServings"], json!([row("b", 10)]));
    // Without nodes no class is known.
    scratch.write("none.yaml", &serving("a", 1));
    assert_eq!(plan(&scratch, &["-f", "none.yaml"])["costs"], Value::Null);
    let done = scratch.ome(&["plan", "--no-builtin", "--no-config", "-f", "all.yaml"]);
    assert!(done.stdout.contains("\n$15 an hour at minReplicas\n"), "{}", done.stdout);
}

#[test]
fn a_diff_includes_the_cost_of_model_servings_before_and_after() {
    let scratch = Scratch::new("costs-diff");
    scratch.write("before.yaml", &format!("{CLUSTER}{}{}", serving("a", 1), serving("b", 1)));
    scratch.write("after.yaml", &format!("{CLUSTER}{}{}", serving("a", 1), serving("b", 3)));
    let (_, found) = scratch.diff(&["--base", "before.yaml", "-f", "after.yaml"]);
    assert_eq!(found["summary"]["costs"], json!({"before": 10, "after": 20}));
    assert_eq!(found["services"][0]["name"], "b");
    assert_eq!(found["services"][0]["costs"], json!({"before": 5, "after": 15}));
    // Without a change, the costs of both states are equal.
    let (_, found) = scratch.diff(&["--base", "after.yaml", "-f", "after.yaml"]);
    assert_eq!(found["summary"]["costs"], json!({"before": 20, "after": 20}));
    assert_eq!(found["services"], json!([]));
}
