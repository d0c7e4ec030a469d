//! Labels and annotations: those that wrappers add to a component's, and those that they leave out.
//!
//! In: the maps of a [`crate::pods::built::Component`] and of the service itself. Out: the maps
//! of single objects, sorted by key. No object is built here but its `metadata`.

use super::build::node;
use super::rules;
use crate::api::Service;
use crate::pods::built::Component;
use crate::yaml::{Entry, Map, Node, Origin, Rule};
use ecow::EcoString;

/// Annotations of the service that never reach a component or a pod (pkg/constants/constants.go;
/// pkg/controller/v1beta1/inferenceservice/components/base.go, ProcessBaseAnnotations).
pub(crate) const DISALLOWED: [&str; 4] = [
    "autoscaling.knative.dev/min-scale",
    "autoscaling.knative.dev/max-scale",
    "internal.ome.io/storage-initializer-sourceuri",
    "kubectl.kubernetes.io/last-applied-configuration",
];

/// Prefixes of annotations that have an effect on pods only; Services are made without them.
const POD_ONLY: [&str; 8] = [
    "k8s.grafana.com/",
    "loki.grafana.com/",
    "prometheus.io/",
    "networking.gke.io/",
    "rdma.ome.io/",
    "ome.io/inject-model-init",
    "ome.io/inject-fine-tuned-adapter",
    "ome.io/inject-serving-sidecar",
];

/// Prefixes of annotations of the service that reach its external Service.
const LOAD_BALANCER: [&str; 3] =
    ["service.beta.kubernetes.io/", "cloud.google.com/", "service.kubernetes.io/"];

/// Annotation that decides the type of Services.
pub(crate) const SERVICE_TYPE: &str = "ome.io/service-type";
/// Label that keeps a service inside the cluster.
pub(crate) const VISIBILITY: &str = "networking.knative.dev/visibility";
/// Label that names the service an object belongs to.
pub(crate) const SERVICE_LABEL: &str = "ome.io/inferenceservice";

/// The text of an entry; `None` when it is absent or not a scalar.
pub(crate) fn text(map: &Map, key: &str) -> Option<EcoString> {
    map.get(key).and_then(Node::scalar_text)
}

/// A map with entries added or replaced, sorted by key.
pub(crate) fn with(map: &Map, entries: impl IntoIterator<Item = Entry>) -> Map {
    let mut map = map.clone();
    for entry in entries {
        map.insert_entry(entry);
    }
    sorted(map)
}

/// A map sorted by key; nothing is copied when it is sorted already.
pub(crate) fn sorted(mut map: Map) -> Map {
    // Go encodes maps by sorted key, and most maps come sorted: sorting would copy a shared map.
    if !map.iter().is_sorted_by(|a, b| a.key <= b.key) {
        map.sort();
    }
    map
}

/// A map without some keys; nothing is copied when none of them is there.
pub(crate) fn without(map: &Map, mut drop: impl FnMut(&str) -> bool) -> Map {
    let mut map = map.clone();
    if map.iter().any(|entry| drop(&entry.key)) {
        map.retain(|entry| !drop(&entry.key));
    }
    map
}

/// One label written by a rule.
pub(crate) fn label(key: &'static str, value: impl Into<EcoString>, rule: &'static Rule) -> Entry {
    let origin = Origin::Derived(rule);
    Entry { key: key.into(), key_origin: origin, node: Node::str(value, origin) }
}

/// One label that takes over a value with its origin.
fn carried(key: &'static str, value: &Node) -> Entry {
    Entry {
        key: key.into(),
        key_origin: Origin::Derived(&rules::QUEUE_LABELS),
        node: value.clone(),
    }
}

/// Labels of the queue that annotations name (utils/annotations.go SetPodLabelsFromAnnotations).
pub(crate) fn queue_labels(annotations: &Map) -> Vec<Entry> {
    const RULE: &Rule = &rules::QUEUE_LABELS;
    let mut labels = Vec::new();
    if let Some(queue) = annotations.get("ome.io/volcano-queue") {
        labels.push(carried("volcano.sh/queue-name", queue));
    } else if let Some(cluster) = annotations.get("ome.io/dedicated-ai-cluster") {
        // The value does not matter: `kueue-enabled: "false"` requests Kueue as well.
        if annotations.contains_key("kueue-enabled") {
            labels.push(carried(KUEUE_QUEUE, cluster));
            labels.push(label(
                "kueue.x-k8s.io/priority-class",
                "kueue-scheduling-high-priority",
                RULE,
            ));
        } else {
            labels.push(carried("volcano.sh/queue-name", cluster));
            labels.push(label(
                "ray.io/priority-class-name",
                "volcano-scheduling-high-priority",
                RULE,
            ));
        }
    }
    if annotations.contains_key("volcano") {
        labels.push(label("ray.io/scheduler-name", "volcano", RULE));
    }
    labels
}

/// Label that names a queue of Kueue.
pub(crate) const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// Whether what is written for a component may have the label of a queue of Kueue.
pub(crate) fn names_queue(component: &Component) -> bool {
    let workers = component.worker_metadata.as_ref().map(|(labels, _)| labels);
    let labels = std::iter::once(&component.labels).chain(workers);
    labels.into_iter().any(|labels| labels.contains_key(KUEUE_QUEUE))
        || queue_labels(&component.annotations).iter().any(|entry| entry.key == KUEUE_QUEUE)
}

/// Annotations of a Service in front of pods.
pub(crate) fn service_annotations(annotations: &Map) -> Map {
    without(annotations, |key| POD_ONLY.iter().any(|prefix| key.starts_with(prefix)))
}

/// Annotations without those that are not copied from the service.
pub(crate) fn allowed_annotations(annotations: &Map) -> Map {
    without(annotations, |key| DISALLOWED.contains(&key))
}

/// Annotations that cloud load balancers read; a key that equals the prefix does not count.
pub(crate) fn load_balancer_annotations(annotations: &Map) -> Map {
    without(annotations, |key| {
        !LOAD_BALANCER.iter().any(|prefix| key.len() > prefix.len() && key.starts_with(prefix))
    })
}

/// The namespace of an object, with its origin.
pub(crate) fn namespace(service: &Service) -> Node {
    match service.object.metadata("namespace") {
        // A flag or a kustomization can have set another namespace than the file has: then the
        // origin of the written one would be wrong.
        Some(written) if written.as_str() == Some(&service.namespace) => written.clone(),
        _ => Node::str(service.namespace.clone(), Origin::Derived(&rules::NAMESPACE)),
    }
}

/// `metadata` in the order kubectl users read it; empty maps are left out.
pub(crate) fn metadata(
    name: impl Into<EcoString>,
    namespace: Option<&Node>,
    labels: &Map,
    annotations: &Map,
) -> Option<Node> {
    let name: EcoString = name.into();
    node!(&rules::IDENTITY; { name: name, namespace: namespace, labels: labels, annotations: annotations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::{map, parse};

    #[test]
    fn annotations_that_name_a_queue_become_labels() {
        for (annotations, expected) in [
            (
                r#"{"ome.io/volcano-queue":"q","ome.io/dedicated-ai-cluster":"d"}"#,
                r#"{"volcano.sh/queue-name":"q"}"#,
            ),
            (
                r#"{"ome.io/dedicated-ai-cluster":"d"}"#,
                r#"{"volcano.sh/queue-name":"d","ray.io/priority-class-name":"volcano-scheduling-high-priority"}"#,
            ),
            (
                r#"{"ome.io/dedicated-ai-cluster":"d","kueue-enabled":"false"}"#,
                r#"{"kueue.x-k8s.io/queue-name":"d","kueue.x-k8s.io/priority-class":"kueue-scheduling-high-priority"}"#,
            ),
            (r#"{"volcano":""}"#, r#"{"ray.io/scheduler-name":"volcano"}"#),
            (r#"{"kueue-enabled":"true"}"#, "{}"),
        ] {
            let labels: Map = queue_labels(&map(annotations)).into_iter().collect();
            assert_eq!(
                Node::new(crate::yaml::Value::Map(labels), Origin::Derived(&rules::QUEUE_LABELS)),
                parse(expected),
                "{annotations}"
            );
        }
    }

    #[test]
    fn pod_only_annotations_are_removed_from_services() {
        let kept = service_annotations(&map(
            r#"{"prometheus.io/port":"1","prometheus.ome.io/port":"2","rdma.ome.io/profile":"p","ome.io/inject-model-init-extra":"x","ome.io/service-type":"NodePort"}"#,
        ));
        let keys: Vec<_> = kept.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["prometheus.ome.io/port", "ome.io/service-type"]);
    }

    #[test]
    fn load_balancer_annotations_need_a_key_beyond_the_prefix() {
        let kept = load_balancer_annotations(&map(
            r#"{"cloud.google.com/":"a","cloud.google.com/neg":"b","networking.gke.io/x":"c"}"#,
        ));
        assert_eq!(
            kept.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(),
            ["cloud.google.com/neg"]
        );
    }
}
