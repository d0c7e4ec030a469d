//! What a pod that is resized in place holds: until spec and status agree, the most that one of them
//! states (`AggregateContainerRequests` with `UseStatusResources`, k8s.io/component-helpers,
//! resource/helpers.go).

use super::fields::{items, text};
use crate::quantity::Quantity;
use crate::yaml::{Node, Segment};
use ecow::EcoString;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The spec of a pod that runs, with the requests that the scheduler counts.
pub fn held(pod: &Node) -> Option<Cow<'_, Node>> {
    let mut spec = Cow::Borrowed(pod.get("spec")?);
    let Some(status) = pod.get("status") else { return Some(spec) };
    // What the node cannot grant is not counted: the pod stays as it is.
    let infeasible = items(status, "conditions").iter().any(|condition| {
        text(condition.get("type")) == "PodResizePending"
            && text(condition.get("reason")) == "Infeasible"
    });
    let lists = [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")];
    for (key, statuses) in lists {
        // Without resources in the status the spec alone counts.
        for status in items(status, statuses).iter().filter(|one| one.get("resources").is_some()) {
            let name = text(status.get("name"));
            let mut containers = spec.items_of(key).iter();
            let Some(at) = containers.position(|one| text(one.get("name")) == name) else {
                continue;
            };
            let container = &spec.items_of(key)[at];
            if key == "initContainers" && text(container.get("restartPolicy")) != "Always" {
                continue;
            }
            let changed: Vec<(EcoString, Node)> = granted(status)
                .into_iter()
                .filter(|(resource, (amount, _))| {
                    let stated = requested(container, resource);
                    stated
                        .is_none_or(|stated| stated < *amount || (infeasible && stated != *amount))
                })
                .map(|(resource, (_, node))| (resource, node.clone()))
                .collect();
            for (resource, node) in changed {
                let path = [
                    Segment::Field(key.into()),
                    Segment::Index(at),
                    Segment::Field("resources".into()),
                    Segment::Field("requests".into()),
                    Segment::Field(resource),
                ];
                spec.to_mut().set(&path, Some(node));
            }
        }
    }
    Some(spec)
}

/// What a container has, or was granted: the greater of both.
fn granted(status: &Node) -> BTreeMap<EcoString, (Quantity, &Node)> {
    let mut most: BTreeMap<EcoString, (Quantity, &Node)> = BTreeMap::new();
    for list in [status.at(&["resources", "requests"]), status.get("allocatedResources")] {
        for entry in list.map(Node::entries).into_iter().flatten() {
            let Some(amount) = quantity(&entry.node) else { continue };
            if most.get(&entry.key).is_none_or(|(other, _)| *other < amount) {
                most.insert(entry.key.clone(), (amount, &entry.node));
            }
        }
    }
    most
}

/// What the spec of a container requests of a resource; a limit is a request, too.
fn requested(container: &Node, resource: &str) -> Option<Quantity> {
    let of = |side: &str| container.at(&["resources", side, resource]).and_then(quantity);
    of("requests").or_else(|| of("limits"))
}

fn quantity(node: &Node) -> Option<Quantity> {
    Quantity::parse_field(&node.scalar_text()?).ok()
}

#[cfg(test)]
mod tests {
    use super::held;
    use crate::cluster::schedule::scheduler_recordings::node;
    use serde_json::{Value, json};

    fn requests(status: &Value) -> Value {
        let container = json!({"name": "main", "resources": {"requests": {"cpu": "2"}}});
        let pod = json!({"spec": {"containers": [container]}, "status": status});
        let pod = node(&pod);
        let spec = held(&pod).unwrap();
        let requests = spec.items_of("containers")[0].at(&["resources", "requests"]).unwrap();
        requests.to_json()
    }

    #[test]
    fn a_pod_that_shrinks_holds_what_it_had() {
        let status = json!({"containerStatuses": [
            {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}},
        ]});
        assert_eq!(requests(&status), json!({"cpu": "3"}));
    }

    #[test]
    fn a_pod_that_grows_holds_what_it_will_have_unless_the_node_cannot_grant_it() {
        let mut status = json!({"containerStatuses": [
            {"name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}},
        ]});
        assert_eq!(requests(&status), json!({"cpu": "2"}));
        status["conditions"] =
            json!([{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]);
        assert_eq!(requests(&status), json!({"cpu": "2"}));
        status["conditions"][0]["reason"] = "Infeasible".into();
        assert_eq!(requests(&status), json!({"cpu": "1"}));
    }

    #[test]
    fn without_resources_in_the_status_the_spec_counts() {
        let status =
            json!({"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "3"}}]});
        assert_eq!(requests(&status), json!({"cpu": "2"}));
    }
}
