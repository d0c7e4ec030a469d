//! The requests of one pod.
//!
//! In: a pod spec. Out: what it requests of a node, and its node selector, required affinity and
//! tolerations.

use crate::api::Object;
use crate::quantity::{Range, is_accelerator};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// The resource of which every pod uses one.
pub(super) const PODS: &str = "pods";

/// Thousandths of a resource. Amounts have at most 64 bits, so that sums of as many as can be read
/// fit.
pub type Milli = i128;

/// The requests of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    amounts: BTreeMap<EcoString, Milli>,
    /// Some amount is outside the range of its resource, and is in no sum.
    unknown: bool,
    pub(crate) selector: Option<Node>,
    pub(crate) affinity: Option<Node>,
    pub(crate) tolerations: Vec<Node>,
}

impl Eq for Shape {}

impl Hash for Shape {
    /// Most shapes differ in their amounts.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.amounts.hash(state);
    }
}

impl Shape {
    /// A pod with these requests, in thousandths, and this `nodeSelector` and `tolerations`.
    pub(crate) fn new(
        amounts: impl IntoIterator<Item = (EcoString, Milli)>,
        selector: Option<Node>,
        tolerations: Vec<Node>,
    ) -> Self {
        let mut amounts: BTreeMap<EcoString, Milli> = amounts.into_iter().collect();
        amounts.insert(PODS.into(), 1000);
        Self { amounts, unknown: false, selector, affinity: None, tolerations }
    }

    /// Returns the requests of a pod spec.
    pub fn of(pod: &Node) -> Self {
        let mut unknown = false;
        let mut requested = |container: &Node| -> BTreeMap<EcoString, Milli> {
            let mut found = BTreeMap::new();
            // Requests come last and override: a limit is the request only where no request is
            // stated.
            for side in ["limits", "requests"] {
                for entry in
                    container.at(&["resources", side]).map(Node::entries).into_iter().flatten()
                {
                    let text = entry.node.scalar_text().unwrap_or_default();
                    match Range::of_resource(&entry.key)
                        .read(&text)
                        .and_then(|amount| amount.milli())
                    {
                        Some(amount) => _ = found.insert(entry.key.clone(), amount),
                        None => unknown = true,
                    }
                }
            }
            found
        };
        let containers = |key: &str| pod.get(key).map(Node::items).unwrap_or_default();
        let add = |sums: &mut BTreeMap<EcoString, Milli>, container: BTreeMap<EcoString, Milli>| {
            for (name, amount) in container {
                *sums.entry(name).or_default() += amount;
            }
        };
        let mut amounts: BTreeMap<EcoString, Milli> = BTreeMap::new();
        for container in containers("containers") {
            add(&mut amounts, requested(container));
        }
        // An init container that restarts runs beside all that follow it, and beside the
        // containers; any other one only beside those of the first kind before it
        // (k8s.io/component-helpers/resource/helpers.go, PodRequests).
        let (mut sidecars, mut most) = (BTreeMap::new(), BTreeMap::new());
        for container in containers("initContainers") {
            let mut step = requested(container);
            if container.get("restartPolicy").and_then(Node::as_str) == Some("Always") {
                add(&mut amounts, step.clone());
                add(&mut sidecars, step);
                step = sidecars.clone();
            } else {
                add(&mut step, sidecars.clone());
            }
            for (name, amount) in step {
                let largest: &mut Milli = most.entry(name).or_default();
                *largest = amount.max(*largest);
            }
        }
        for (name, amount) in most {
            let total = amounts.entry(name).or_default();
            *total = amount.max(*total);
        }
        // A request of 0 asks nothing of a node; two pods that differ in it are alike.
        amounts.retain(|_, amount| *amount > 0);
        amounts.insert(PODS.into(), 1000);
        Self {
            amounts,
            unknown,
            selector: pod.get("nodeSelector").filter(|selector| !selector.is_empty()).cloned(),
            affinity: pod.get("affinity").cloned(),
            tolerations: pod.get("tolerations").map(Node::items).unwrap_or_default().to_vec(),
        }
    }

    /// Whole units of a resource that it requests.
    pub fn amount(&self, resource: &str) -> i64 {
        let up = |milli: Milli| milli.div_euclid(1000) + Milli::from(milli.rem_euclid(1000) > 0);
        let units = self.amounts.get(resource).map_or(0, |milli| up(*milli));
        units.try_into().unwrap_or(i64::MAX)
    }

    /// Whether it requests devices, or slices of them.
    pub fn requests_devices(&self) -> bool {
        self.amounts.keys().any(|name| is_accelerator(name))
    }

    /// Whether all its requests are readable.
    pub fn is_known(&self) -> bool {
        !self.unknown
    }

    /// Its requests, in thousandths by resource, including one of `pods`.
    pub fn amounts(&self) -> impl Iterator<Item = (&EcoString, Milli)> {
        self.amounts.iter().map(|(name, amount)| (name, *amount))
    }
}

/// The requests of running pods, by machine; finished pods request nothing.
pub fn running<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Vec<(EcoString, Shape)> {
    let unfinished = objects.into_iter().filter(|object| object.id.kind == "Pod").filter(|pod| {
        let phase = pod.node.at(&["status", "phase"]).and_then(Node::as_str);
        !matches!(phase, Some("Succeeded" | "Failed"))
    });
    unfinished
        .filter_map(|pod| {
            Some((
                pod.node.at(&["spec", "nodeName"])?.as_str()?.into(),
                Shape::of(pod.node.get("spec")?),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::object;

    #[test]
    fn a_pod_that_has_ended_requests_nothing() {
        let pod = |name: &str, spec: &str, status: &str| {
            object("Pod", name, &format!("{{spec: {{{spec}}}, status: {{{status}}}}}"))
        };
        let on_n = "nodeName: n, containers: [{resources: {requests: {cpu: 2}}}]";
        let pods = [
            pod("new", on_n, ""),
            pod("runs", on_n, "phase: Running"),
            pod("done", on_n, "phase: Succeeded"),
            pod("failed", on_n, "phase: Failed"),
            pod("unplaced", "containers: [{resources: {requests: {cpu: 2}}}]", "phase: Pending"),
        ];
        let found: Vec<(String, i64)> = running(&pods)
            .into_iter()
            .map(|(node, shape)| (node.to_string(), shape.amount("cpu")))
            .collect();
        assert_eq!(found, [("n".to_owned(), 2), ("n".to_owned(), 2)]);
    }
}
