//! What Kueue reads of a workload: the queue that its labels name, and the pods that it admits as one.
//!
//! Kueue admits each pod of a Deployment on its own, a group of a LeaderWorkerSet as one, and a RayCluster
//! as one (pkg/controller/jobs). What an object does not label, Kueue does not hold.

use crate::api::{Field, Object};
use crate::cluster::Shape;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::pods::PRIORITY_CLASS;
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::borrow::Cow;

/// Kinds that Kueue admits as one, by the label of the object.
const WHOLE: &[(&str, &[&str])] = &[
    ("apps", &["StatefulSet"]),
    ("batch", &["Job"]),
    ("jobset.x-k8s.io", &["JobSet"]),
    ("kubeflow.org", &["MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"]),
    ("ray.io", &["RayCluster", "RayJob", "RayService"]),
];

/// Kinds of which Kueue copies the label of the object to the pods. Those of Deployments are workloads of
/// their own, and so are the groups of LeaderWorkerSets.
const COPIED: &[(&str, &[&str])] =
    &[("apps", &["Deployment"]), ("leaderworkerset.x-k8s.io", &["LeaderWorkerSet"])];

fn is_among(kinds: &[(&str, &[&str])], group: &str, kind: &str) -> bool {
    kinds.iter().any(|(name, kinds)| *name == group && kinds.contains(&kind))
}

/// The queue that the label of an object names, where Kueue reads that label, and whether all pods of the
/// object are admitted together or not at all.
pub(super) fn queue_of(group: &str, kind: &str, object: &Node) -> Option<(Field<EcoString>, bool)> {
    let whole = is_among(WHOLE, group, kind);
    if !whole && !is_among(COPIED, group, kind) {
        return None;
    }
    Some((queue_label(object)?, whole))
}

/// An object as Kueue's webhook writes it: the queue and the WorkloadPriorityClass that it names are those
/// of its pods (pkg/controller/jobs/deployment/deployment_webhook.go, `Default`; of LeaderWorkerSets the
/// controller labels each pod).
pub(super) fn with_queue_of_pods<'n>(object: &Object, node: Cow<'n, Node>) -> Cow<'n, Node> {
    let templates: &[&[&str]] = match object.id.kind.as_str() {
        "Deployment" => &[&["spec", "template"]],
        _ => &[
            &["spec", "leaderWorkerTemplate", "leaderTemplate"],
            &["spec", "leaderWorkerTemplate", "workerTemplate"],
        ],
    };
    let stated = queue_of(object.group(), &object.id.kind, &object.node);
    let Some((queue, false)) = stated else { return node };
    let class = label(&object.node, PRIORITY_CLASS);
    let labels = [(KUEUE_QUEUE, Some(queue)), (PRIORITY_CLASS, class)];
    let mut node = node;
    for template in templates {
        if node.at(template).is_none() {
            continue;
        }
        for (key, value) in &labels {
            let path = template.iter().fold(FieldPath::root(), |path, key| path.field(*key));
            let path = path.field("metadata").field("labels").field(*key);
            let value = value.as_ref().map(|value| Node::str(value.value.clone(), value.origin));
            node.to_mut().set(&path.0, value);
        }
    }
    node
}

/// The queue in `metadata.labels`.
pub(crate) fn queue_label(object: &Node) -> Option<Field<EcoString>> {
    label(object, KUEUE_QUEUE)
}

/// A label that is not empty.
pub(crate) fn label(object: &Node, key: &str) -> Option<Field<EcoString>> {
    let label = object.at(&["metadata", "labels", key])?;
    let name = label.scalar_text().filter(|name| !name.is_empty())?;
    Some(Field::new(name, label.origin))
}

/// What Kueue admits as one: the pods of a workload that are alike, each with their number.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    /// The queue that their labels name.
    pub(super) queue: Field<EcoString>,
    pub(super) sets: Vec<(Shape, i64)>,
    /// Only the pods name the queue, and their owner does not.
    pub(super) of_pods: bool,
}

impl Queued {
    /// Reads a rendered workload; none where its pods name no queue, or request what is not known.
    pub(super) fn of(group: &str, kind: &str, object: &Node) -> Option<Self> {
        let at = |path: &[&str]| object.at(path);
        let number = |path: &[&str], default: i64| at(path).map_or(Some(default), Node::as_int);
        let templates: Vec<(Option<&Node>, i64)> = match (group, kind) {
            ("apps", "Deployment") | ("serving.knative.dev", "Service") => {
                vec![(at(&["spec", "template"]), 1)]
            }
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => {
                let of = |key: &str| at(&["spec", "leaderWorkerTemplate", key]);
                let workers = number(&["spec", "leaderWorkerTemplate", "size"], 1)? - 1;
                let worker = of("workerTemplate");
                vec![(of("leaderTemplate").or(worker), 1), (worker, workers)]
            }
            ("ray.io", "RayCluster") => {
                let groups = at(&["spec", "workerGroupSpecs"]).map(Node::items).unwrap_or_default();
                let workers =
                    groups.iter().map(|group| (group.get("template"), ray_workers(group)));
                std::iter::once((at(&["spec", "headGroupSpec", "template"]), 1))
                    .chain(workers)
                    .collect()
            }
            _ => return None,
        };
        let stated = queue_of(group, kind, object).map(|(queue, _)| queue);
        let of_pods = stated.is_none();
        let queue = stated.or_else(|| queue_label(templates.first()?.0?))?;
        let sets = templates.into_iter().filter(|(_, count)| *count > 0);
        let sets = sets.map(|(template, count)| Some((Shape::of(template?.get("spec")?), count)));
        let sets = sets.collect::<Option<Vec<_>>>()?;
        sets.iter().all(|(shape, _)| shape.is_known()).then_some(Self { queue, sets, of_pods })
    }
}

/// The pods of a worker group of Ray: `replicas` within `minReplicas` and `maxReplicas`, each with
/// `numOfHosts` pods, and none of a suspended group (KubeRay `utils.GetWorkerGroupDesiredReplicas`,
/// with the defaults of its CRD).
pub(super) fn ray_workers(group: &Node) -> i64 {
    if group.get("suspend").and_then(Node::as_bool) == Some(true) {
        return 0;
    }
    let number = |key: &str, default: i64| group.get(key).and_then(Node::as_int).unwrap_or(default);
    let (replicas, least) = (number("replicas", 0), number("minReplicas", 0));
    // Not `clamp`: bounds that contradict each other would end the program.
    let count =
        if replicas < least { least } else { replicas.min(number("maxReplicas", i64::MAX)) };
    count.saturating_mul(number("numOfHosts", 1)).max(0)
}

/// Whether an object names a queue anywhere: the operator may carry the label to what it writes.
pub(super) fn mentions_queue(object: &Object) -> bool {
    fn mentions(node: &Node) -> bool {
        node.items().iter().any(mentions)
            || node.entries().any(|entry| entry.key == KUEUE_QUEUE || mentions(&entry.node))
    }
    mentions(&object.node)
}
