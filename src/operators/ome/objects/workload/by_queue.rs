//! The workloads of a service that is in a Volcano queue.

use crate::api::Failure;
use crate::diag::Checked;
use crate::objects::RenderedObject;
use crate::objects::build::{node, set};
use crate::objects::metadata::{label, queue_labels, with};
use crate::operators::ome::objects::workload::{WORKLOAD, is_workload, kind, refusal};
use crate::pods::built::Built;
use crate::yaml::Node;
use ecow::EcoString;

/// Keeps the operator's workloads if they are of the requested kind. Those in a Volcano queue get a
/// PodGroup that their pods join (Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang
/// Scheduling).
pub(super) fn gathered(
    composed: &Built<'_>,
    objects: Vec<RenderedObject>,
    wanted: &str,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let mut out = Vec::with_capacity(objects.len() + 1);
    for mut object in objects {
        if is_workload(&object) && kind(&object) != wanted {
            let message = format!(
                "`{}` is a {}; its pods cannot be wrapped in a {wanted}",
                composed.service.name(),
                kind(&object)
            );
            return Err(refusal(
                composed,
                message,
                "leave `--workload` out, or write the component with or without `leader` and `worker`",
            ));
        }
        if is_workload(&object)
            && let Some(pod_group) = join_queue(&mut object)
        {
            // The PodGroup comes first: pods that name an absent one are not scheduled.
            out.push(pod_group);
        }
        out.push(object);
    }
    Ok(Checked::clean(out))
}

/// Makes the pods of a workload join a PodGroup in the queue that its annotations name; returns the
/// PodGroup.
pub(super) fn join_queue(object: &mut RenderedObject) -> Option<RenderedObject> {
    let rule = &WORKLOAD;
    let annotations = object
        .node
        .at(&["metadata", "annotations"])
        .and_then(Node::as_map)
        .cloned()
        .unwrap_or_default();
    let queue = queue_labels(&annotations)
        .into_iter()
        .find(|label| label.key == "volcano.sh/queue-name")?
        .node;
    let metadata = object.node.get("metadata")?.clone();
    let name: EcoString = metadata.get("name").and_then(Node::as_str)?.into();
    // The pods of one replica must start together: the leader with its workers, or a single pod.
    let size = object
        .node
        .at(&["spec", "leaderWorkerTemplate", "size"])
        .and_then(Node::as_int)
        .unwrap_or(1);
    for path in [
        &["spec", "template"][..],
        &["spec", "leaderWorkerTemplate", "leaderTemplate"],
        &["spec", "leaderWorkerTemplate", "workerTemplate"],
    ] {
        let Some(template) = at_mut(&mut object.node, path) else { continue };
        if let Some(map) = at_mut(template, &["metadata"]).and_then(Node::as_map_mut) {
            let annotations =
                map.get("annotations").and_then(Node::as_map).cloned().unwrap_or_default();
            let joined =
                with(&annotations, [label("scheduling.k8s.io/group-name", name.clone(), rule)]);
            set(map, "annotations", &joined, rule);
        }
        // A scheduler that the user chose stays, although it may not know PodGroups.
        if let Some(map) = at_mut(template, &["spec"]).and_then(Node::as_map_mut)
            && map
                .get("schedulerName")
                .and_then(Node::as_str)
                .is_none_or(|scheduler| scheduler == "default-scheduler")
        {
            set(map, "schedulerName", "volcano", rule);
        }
    }
    let node = node!(rule; {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "PodGroup",
        metadata: { name: (&name), namespace: (metadata.get("namespace")), labels: (metadata.get("labels")) },
        spec: { minMember: size, queue: (queue) },
    })?;
    Some(RenderedObject { node, component: object.component, wave: 0, has_gaps: false })
}

pub(super) fn at_mut<'a>(node: &'a mut Node, path: &[&str]) -> Option<&'a mut Node> {
    path.iter().try_fold(node, |node, key| node.as_map_mut()?.get_mut(key))
}
