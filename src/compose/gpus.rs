//! Accelerators that pods ask for.

use super::edit::position;
use super::merge;
pub use crate::facts::is_accelerator;
use crate::quantity::Quantity;
use crate::yaml::Node;

/// Devices of one container: the limit of each resource that `counts`, else its request, rounded up (S0-049).
pub(super) fn of_container(container: &Node, counts: impl Fn(&str) -> bool) -> i64 {
    let side = |key: &str| container.at(&["resources", key]);
    let (limits, requests) = (side("limits"), side("requests"));
    let limited = limits.map(Node::entries).into_iter().flatten();
    let requested = requests.map(Node::entries).into_iter().flatten().filter(|entry| limits.and_then(|limits| limits.get(&entry.key)).is_none());
    limited.chain(requested).filter(|entry| counts(&entry.key)).filter_map(|entry| whole(&entry.node)).fold(0, i64::saturating_add)
}

/// Accelerators of a pod, all its containers together; init containers run before them and count for nothing.
pub fn of_pod(pod: &Node) -> i64 {
    pod.get("containers").map(Node::items).unwrap_or_default().iter().map(|container| of_container(container, is_accelerator)).fold(0, i64::saturating_add)
}

/// Accelerators of a pod that is not yet built: its listed containers and the runner, which takes over what it does not
/// say itself from the container of its name.
pub(super) fn of_part(part: &Node) -> i64 {
    let Some(runner) = part.get("runner") else { return of_pod(part) };
    let listed = part.get("containers").map(Node::items).unwrap_or_default();
    let twin = runner.get("name").and_then(Node::as_str).and_then(|name| position(listed, "name", name));
    let own = match twin {
        None => of_container(runner, is_accelerator),
        Some(index) => of_container(&merge::written(&listed[index], runner, &mut ()), is_accelerator),
    };
    let others = listed.iter().enumerate().filter(|(index, _)| Some(*index) != twin);
    others.map(|(_, container)| of_container(container, is_accelerator)).fold(own, i64::saturating_add)
}

/// A whole number of devices, rounded up; none when the value is no quantity.
fn whole(node: &Node) -> Option<i64> {
    node.scalar_text().and_then(|text| Quantity::parse(&text).ok()).and_then(|quantity| quantity.value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::node;

    #[test]
    fn devices_of_every_vendor_count_and_shares_do_not() {
        for (resource, expected) in [
            ("nvidia.com/gpu", true),
            ("amd.com/gpu", true),
            ("acme.example/gpu", true),
            ("nvidia.com/gpu.shared", true),
            ("gpu.intel.com/i915", true),
            ("gpu.intel.com/xe", true),
            ("gpu.intel.com/memory.max", false),
            ("gpu.intel.com/i915_monitoring", false),
            ("habana.ai/gaudi", true),
            ("huawei.com/Ascend910", true),
            ("nvidia.com/mig-3g.20gb", false),
            ("gpu", false),
            ("cpu", false),
            ("rdma/hca", false),
        ] {
            assert_eq!(is_accelerator(resource), expected, "{resource}");
        }
    }

    #[test]
    fn limits_count_before_requests() {
        for (part, expected) in [
            ("{runner: {resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 4}}}}", 2),
            ("{runner: {resources: {requests: {amd.com/gpu: '4'}}}}", 4),
            ("{runner: {resources: {limits: {nvidia.com/gpu: 1500m}}}}", 2),
            ("{runner: {resources: {limits: {nvidia.com/gpu: many}}}}", 0),
            ("{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: b, resources: {limits: {nvidia.com/gpu: 2}}}}", 3),
            ("{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: a, resources: {limits: {nvidia.com/gpu: 2}}}}", 2),
            ("{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: a}}", 1),
            ("{containers: [{resources: {limits: {nvidia.com/gpu: 1}}}, {resources: {limits: {amd.com/gpu: 1}}}]}", 2),
            ("{}", 0),
        ] {
            assert_eq!(of_part(&node(part)), expected, "{part}");
        }
    }
}
