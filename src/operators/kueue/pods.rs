//! What Kueue has to do with a pod of a cluster, by what its webhook and its controllers write there.

use crate::api::Object;
use crate::catalog::Catalog;
use crate::cluster::schedule::PodTemplate;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::HashMap;

/// The label of pods that Kueue manages; it passes others by, whatever queue they name
/// (pkg/controller/jobs/pod/pod_controller.go, `Skip`).
const MANAGED: &str = "kueue.x-k8s.io/managed";

/// The label with the LocalQueue by which the workload of a pod was admitted; those of Jobs and the like
/// have no other one (pkg/controller/jobframework/reconciler.go, `assignQueueLabels`).
const ADMITTED_BY: &str = "kueue.x-k8s.io/local-queue-name";

/// The label with the WorkloadPriorityClass of a pod, or of the object that makes pods
/// (pkg/controller/constants/constants.go).
pub const PRIORITY_CLASS: &str = "kueue.x-k8s.io/priority-class";

/// Its scheduling gate (pkg/controller/jobs/pod/constants/constants.go).
const GATE: &str = "kueue.x-k8s.io/admission";

/// The LocalQueue whose quota a pod of a cluster has. Kueue gates each pod that it manages, and takes
/// the gate away when its workload is admitted; it holds the quota until it is gone.
pub fn admitted_by(pod: &PodTemplate) -> Option<&EcoString> {
    if pod.gated {
        return None;
    }
    let named = || pod.labels.get(KUEUE_QUEUE).filter(|_| is_managed(pod));
    pod.labels.get(ADMITTED_BY).or_else(named)
}

/// Whether a pod of a cluster waits for Kueue to take its gate away.
pub fn is_held(pod: &PodTemplate) -> bool {
    pod.gated && is_managed(pod) && pod.labels.get(KUEUE_QUEUE).is_some()
}

/// The values of the WorkloadPriorityClasses of an input, by name.
#[derive(Clone, Debug, Default)]
pub struct Priorities(HashMap<EcoString, i32>);

impl Priorities {
    pub fn of(catalog: &Catalog) -> Self {
        let classes =
            catalog.others().iter().filter(|object| object.id.kind == "WorkloadPriorityClass");
        let value = |class: &Object| {
            let value = i32::try_from(class.node.get("value")?.as_int()?).ok()?;
            Some((class.id.name.clone(), value))
        };
        Self(classes.filter_map(value).collect())
    }

    /// The priority of the workload of a pod: that of its WorkloadPriorityClass, which `stated` has where
    /// only the object that makes the pod names it, else that of the pod (pkg/util/priority/priority.go).
    pub fn of_pod(&self, pod: &PodTemplate, stated: Option<&EcoString>) -> i32 {
        let class = stated.or_else(|| pod.labels.get(PRIORITY_CLASS));
        class.and_then(|class| self.0.get(class)).copied().unwrap_or(pod.priority)
    }
}

/// Whether a pod, as it is written, has the gate that keeps it from the scheduler until it is admitted.
pub fn has_gate(pod: &Node) -> bool {
    let gates = pod.at(&["spec", "schedulingGates"]).map(Node::items).unwrap_or_default();
    gates.iter().any(|gate| gate.get("name").and_then(Node::as_str) == Some(GATE))
}

/// Whether a pod of a cluster, as it is written, was admitted: it has a node, or Kueue manages it and has
/// taken the gate away.
pub fn is_admitted(pod: &Node) -> bool {
    let label = pod.at(&["metadata", "labels", MANAGED]).and_then(Node::as_str);
    pod.at(&["spec", "nodeName"]).is_some() || label == Some("true") && !has_gate(pod)
}

fn is_managed(pod: &PodTemplate) -> bool {
    pod.labels.get(MANAGED).is_some_and(|managed| managed == "true")
}
