//! Pods that those of a higher priority evict: their controllers create them again, and every command
//! says what becomes of them.

use crate::testing::{Ran, catalog, gpu_node, ome_on, service};

const CLASS: &str = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 99\n";

/// A Deployment with its ReplicaSet and a pod that runs on a node.
fn running(name: &str, node: &str, class: &str) -> String {
    let (priority, named) = match class {
        "" => (0, String::new()),
        class => (99, format!("priorityClassName: {class}, ")),
    };
    let spec = format!(
        "{named}containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}, requests: {{nvidia.com/gpu: 1}}}}}}]"
    );
    let template = format!("template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{spec}}}}}");
    let selector = format!("selector: {{matchLabels: {{app: {name}}}}}");
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ml, uid: d-{name}}}\nspec: {{replicas: 1, {selector}, {template}}}\n\
---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}-x, namespace: ml, uid: r-{name}, ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: {name}, uid: d-{name}, controller: true}}]}}\nspec: {{replicas: 1, {selector}, {template}}}\n\
---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}-1, namespace: ml, labels: {{app: {name}}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: {name}-x, uid: r-{name}, controller: true}}]}}\nspec: {{nodeName: {node}, priority: {priority}, {spec}}}\nstatus: {{phase: Running, conditions: [{{type: Ready, status: 'True'}}]}}\n"
    )
}

fn important(name: &str) -> String {
    service(name, "minReplicas: 1, maxReplicas: 1, priorityClassName: high")
}

fn ran(arguments: &str, files: &[(&str, &str)]) -> Ran {
    ome_on(&format!("{arguments} --no-builtin"), files)
}

/// Who waits.
fn waiting(ran: &Ran) -> Vec<String> {
    let all = ran.at("/placement/pending");
    let all = all.as_array().into_iter().flatten();
    all.filter_map(|row| Some(row["service"].as_str()?.to_owned())).collect()
}

#[test]
fn an_evicted_pod_is_created_again_and_waits() {
    let base = catalog(1) + CLASS + &running("b", "n1", "");
    let one = base.clone() + &gpu_node("n1", 1, "") + &important("a");
    let plan = ran("plan -o json -f {in.yaml}", &[("in.yaml", &one)]);
    assert_eq!(plan.code, 2);
    assert_eq!(waiting(&plan), ["Deployment/ml/b"]);
    assert_eq!(plan.at("/placement/victims/0/pod"), "ml/b-1");
    let pods =
        ["wanted", "placed", "pending"].map(|key| plan.at(&format!("/placement/pods/{key}")));
    assert_eq!(pods, [2, 1, 1].map(serde_json::Value::from));
    // With a second node it finds room, and what keeps its node is not counted as wanted.
    let two = one.clone() + &gpu_node("n2", 1, "");
    let plan = ran("plan -o json -f {in.yaml}", &[("in.yaml", &two)]);
    assert_eq!((plan.code, waiting(&plan)), (0, Vec::new()));
    assert_eq!(plan.at("/placement/pods/wanted"), 1);
}

#[test]
fn plan_diff_and_rollout_say_the_same_of_it() {
    let base = catalog(1) + CLASS + &running("b", "n1", "") + &gpu_node("n1", 1, "");
    let change = base.clone() + &important("a");
    let files = [("old.yaml", base.as_str()), ("new.yaml", change.as_str())];
    let diff = ran("diff --base {old.yaml} -f {new.yaml}", &files);
    assert_eq!(diff.code, 2, "{}{}", diff.out, diff.err);
    assert!(diff.out.contains("no longer fits: Deployment/ml/b"), "{}", diff.out);
    // In JSON it is not in a list of services.
    let json = ran("diff -o json --base {old.yaml} -f {new.yaml}", &files);
    assert_eq!(json.at("/capacity/otherWorkloads/0/workload"), "Deployment/ml/b");
    assert_eq!(json.at("/capacity/otherWorkloads/0/list"), "noLongerFits");
    assert_eq!(json.at("/capacity/noLongerFits"), serde_json::Value::Null);
    let all = ran("rollout --all --base {old.yaml} -f {new.yaml}", &files);
    assert_eq!(all.code, 2, "{}{}", all.out, all.err);
    assert!(all.out.contains("✗ no longer fits: Deployment/ml/b"), "{}", all.out);
    assert!(all.out.contains("1 of 1 service changes"), "{}", all.out);
    // From what runs, without a state before.
    let now = ran("rollout --all -f {new.yaml}", &files);
    assert_eq!(now.code, 2, "{}{}", now.out, now.err);
    assert!(now.out.contains("✗ no longer fits: Deployment"), "{}", now.out);
    // The rollout of one service has the others that lose their nodes by it.
    let one = ran("rollout a -f {new.yaml}", &files);
    assert_eq!(one.code, 2, "{}{}", one.out, one.err);
    assert!(one.out.contains("✗ no longer fits: Deployment/ml/b"), "{}", one.out);
    let one = ran("rollout a -o json -f {new.yaml}", &files);
    assert_eq!(one.at("/displaced/0/name"), "Deployment/ml/b", "{}", one.out);
}

#[test]
fn what_if_and_drain_say_the_same_of_it() {
    let text = CLASS.to_owned()
        + &running("a", "n1", "high")
        + &running("b", "n2", "")
        + &gpu_node("n1", 8, "")
        + &gpu_node("n2", 1, "");
    let files = [("in.yaml", text.as_str())];
    let without = ran("plan -o json --without node=n1 -f {in.yaml}", &files);
    assert_eq!(without.code, 2, "{}", without.out);
    assert_eq!(waiting(&without), ["Deployment/ml/b"]);
    let drain = ran("drain n1 -f {in.yaml}", &files);
    assert_eq!(drain.code, 2);
    assert!(drain.out.contains("1 pod on another node is evicted: its priority is lower"));
    assert!(!drain.out.contains("its group restarts"), "{}", drain.out);
    let each = ran("plan --each node -f {in.yaml}", &files);
    assert_eq!(each.code, 2, "{}", each.out);
}
