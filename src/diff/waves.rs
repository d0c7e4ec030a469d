//! The order in which the objects of a service change, and the rollout of each workload (Kthena
//! blog, A Deep Dive of ModelServing, Rolling Update).

use crate::api::ComponentKind;
use crate::objects::RenderedObject;
use crate::pipeline::built::identity;
use crate::quantity::Count;
use crate::yaml::Node;
use ecow::EcoString;

/// Names of the waves, in order.
pub(crate) const WAVES: [&str; 4] = ["config", "workloads", "router", "autoscaling"];

/// A workload and its rollout strategy.
#[derive(Clone, Debug)]
pub struct WorkloadRollout {
    /// Name.
    pub name: EcoString,
    /// Kind.
    pub kind: EcoString,
    /// Maximum number or share of unavailable pods, as set or by default.
    pub max_unavailable: String,
    /// Maximum number or share of additional pods.
    pub max_surge: String,
    /// Pods that are replaced.
    pub pods_restarted: Count,
}

/// Index of an object's wave in [`WAVES`]: first the objects that pods need, then engines, then the
/// router and Ingress, then autoscalers and disruption budgets.
pub(crate) fn wave(object: &RenderedObject) -> usize {
    match (object.wave, object.component) {
        (0, _) => 0,
        // The router is started when the engines that it routes to are there.
        (1, Some(ComponentKind::Router)) => 2,
        (1, _) => 1,
        (2, _) => 3,
        _ => 2,
    }
}

/// The objects of each wave, by `Kind/namespace/name`.
pub(crate) fn waves(objects: &[RenderedObject]) -> [Vec<String>; 4] {
    let mut found: [Vec<String>; 4] = Default::default();
    for object in objects {
        found[wave(object)].push(identity(&object.node).to_string());
    }
    found
}

/// The rollout of every workload from the objects before to the objects after; `pods` returns the
/// number of pods of a component.
pub(crate) fn workloads(
    before: &[RenderedObject],
    after: &[RenderedObject],
    pods: impl Fn(ComponentKind) -> Count,
) -> Vec<WorkloadRollout> {
    let mut found = Vec::new();
    for object in after {
        let id = identity(&object.node);
        let strategy: &[&str] = match id.kind.as_str() {
            "Deployment" => &["spec", "strategy", "rollingUpdate"],
            "LeaderWorkerSet" | "ModelServing" => {
                &["spec", "rolloutStrategy", "rollingUpdateConfiguration"]
            }
            _ => &[],
        };
        let old = before.iter().find(|old| {
            // A Service of the core and one of Knative may have the same name.
            identity(&old.node) == id && old.node.get("apiVersion") == object.node.get("apiVersion")
        });
        let Some(changed) = super::changed::restarts(old.map(|old| &old.node), &object.node) else {
            continue;
        };
        let recreate = object.node.at(&["spec", "strategy", "type"]).and_then(Node::as_str)
            == Some("Recreate");
        let read = |key: &str, default: &str| {
            let written = object
                .node
                .at(strategy)
                .filter(|_| !strategy.is_empty())
                .and_then(|strategy| strategy.get(key))
                .and_then(Node::scalar_text);
            written.map_or_else(|| default.to_owned(), |text| text.to_string())
        };
        let (most, surge) = match id.kind.as_str() {
            // All pods stop before the first new one starts.
            "Deployment" if recreate => ("100%".to_owned(), "0".to_owned()),
            "Deployment" => (read("maxUnavailable", "25%"), read("maxSurge", "25%")),
            // Knative starts the new revision next to the old one and moves the traffic once it is
            // ready.
            "Service" => ("0".to_owned(), "100%".to_owned()),
            _ => (read("maxUnavailable", "1"), read("maxSurge", "0")),
        };
        found.push(WorkloadRollout {
            name: id.name.clone(),
            kind: id.kind.clone(),
            max_unavailable: most,
            max_surge: surge,
            pods_restarted: if changed {
                object.component.map(&pods).unwrap_or_default()
            } else {
                Count::default()
            },
        });
    }
    found
}
