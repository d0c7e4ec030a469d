//! Deployments that are paused and in no cluster yet: the controller makes no ReplicaSet for them, so that
//! they have no pods (pkg/controller/deployment/deployment_controller.go, `syncDeployment`, and sync.go,
//! `sync`, which asks `getAllReplicaSetsAndSyncRevision` not to create one).
//!
//! In: an object of the input. Out: whether it is such a Deployment, and the finding about it.

use crate::api::{Object, was_in_cluster};
use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;

/// Whether a Deployment of a manifest is paused. One that was in a cluster before has the pods of then.
pub(crate) fn is_paused_new(object: &Node) -> bool {
    object.at(&["spec", "paused"]).and_then(Node::as_bool) == Some(true) && !was_in_cluster(object)
}

/// Says that a Deployment has no pods.
pub(crate) fn finding(object: &Object) -> Option<Diagnostic> {
    if object.id.kind != "Deployment" || object.group() != "apps" || !is_paused_new(&object.node) {
        return None;
    }
    let name = &object.id.name;
    let message = format!(
        "the replicas of {} have no effect: a new Deployment with `paused: true` has no pods",
        object.id
    );
    let paused = object.node.at(&["spec", "paused"]);
    Some(
        Diagnostic::new(Code::NoEffect, message)
            .at(paused.and_then(|paused| paused.origin.span()))
            .path("spec.paused")
            .object(object.id.to_string())
            .help(format!(
                "delete `paused`, or run `kubectl rollout resume deployment/{name}` after it is applied"
            )),
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    #[test]
    fn a_new_deployment_that_is_paused_has_no_pods() {
        let deployment = |spec: &str, meta: &str| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml{meta}}}\nspec: {{{spec}replicas: 2, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: '8'}}}}}}]}}}}}}\n"
            )
        };
        for (spec, meta, pods, findings) in [
            ("paused: true, ", "", 0, 1),
            ("paused: false, ", "", 2, 0),
            ("", "", 2, 0),
            // It is in the cluster, and its ReplicaSet is there.
            ("paused: true, ", ", uid: u", 2, 0),
        ] {
            let text = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + &deployment(spec, meta);
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            assert_eq!(ran.at("/placement/pods/wanted"), pods, "{spec}{meta}");
            let all = ran.at("/findings");
            let all = all.as_array().into_iter().flatten();
            let found: Vec<_> = all.filter(|found| found["code"] == "no-effect").collect();
            assert_eq!(found.len(), findings, "{spec}{meta} {found:?}");
        }
        // Pods that ran before the pause stay.
        let nodes = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "");
        let [before, after] =
            ["", "paused: true, "].map(|spec| nodes.clone() + &deployment(spec, ""));
        let files = [("a.yaml", before.as_str()), ("b.yaml", after.as_str())];
        let ran = ome_on("diff -o json --no-builtin --base {a.yaml} -f {b.yaml}", &files);
        assert_eq!(ran.at("/capacity/after/wanted"), 2, "{}", ran.out);
    }
}
