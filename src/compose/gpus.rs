//! Accelerators that pods ask for.

use super::edit::position;
use super::merge;
pub use crate::facts::is_accelerator;
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::EcoString;

/// Devices of one container: the limit of each resource that `counts`, else its request, rounded up
/// (S0-049).
pub(super) fn of_container(container: &Node, counts: impl Fn(&str) -> bool) -> i64 {
    let side = |key: &str| container.at(&["resources", key]);
    let (limits, requests) = (side("limits"), side("requests"));
    let limited = limits.map(Node::entries).into_iter().flatten();
    let requested = requests
        .map(Node::entries)
        .into_iter()
        .flatten()
        .filter(|entry| limits.and_then(|limits| limits.get(&entry.key)).is_none());
    limited
        .chain(requested)
        .filter(|entry| counts(&entry.key))
        .filter_map(|entry| whole(&entry.node))
        .fold(0, i64::saturating_add)
}

/// Accelerators of a pod, all its containers together; init containers run before them and count
/// for nothing.
pub fn of_pod(pod: &Node) -> i64 {
    pod.get("containers")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(|container| of_container(container, is_accelerator))
        .fold(0, i64::saturating_add)
}

/// Accelerators of a pod that is not yet built: its listed containers and the runner, which takes
/// over what it does not say itself from the container of its name.
pub(super) fn of_part(part: &Node) -> i64 {
    counted(part, &is_accelerator)
}

/// The names of accelerators that a part asks for, in order of appearance.
pub(super) fn names(part: &Node) -> Vec<EcoString> {
    let containers = part
        .get("containers")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .chain(part.get("runner"));
    let sides = containers.flat_map(|container| {
        ["limits", "requests"].map(|side| container.at(&["resources", side]))
    });
    let mut names: Vec<EcoString> = Vec::new();
    for entry in sides.flatten().flat_map(Node::entries).filter(|entry| is_accelerator(&entry.key))
    {
        if !names.contains(&entry.key) {
            names.push(entry.key.clone());
        }
    }
    names
}

/// Devices of a part of the resources that count.
pub(super) fn counted(part: &Node, counts: &dyn Fn(&str) -> bool) -> i64 {
    let own_pod = || {
        part.get("containers")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .map(|container| of_container(container, counts))
            .fold(0, i64::saturating_add)
    };
    let Some(runner) = part.get("runner") else { return own_pod() };
    let listed = part.get("containers").map(Node::items).unwrap_or_default();
    let twin =
        runner.get("name").and_then(Node::as_str).and_then(|name| position(listed, "name", name));
    let own = match twin {
        None => of_container(runner, counts),
        Some(index) => of_container(&merge::written(&listed[index], runner, &mut ()), counts),
    };
    let others = listed.iter().enumerate().filter(|(index, _)| Some(*index) != twin);
    others.map(|(_, container)| of_container(container, counts)).fold(own, i64::saturating_add)
}

/// A whole number of devices, rounded up; none when the value is no quantity.
fn whole(node: &Node) -> Option<i64> {
    node.scalar_text()
        .and_then(|text| Quantity::parse(&text).ok())
        .and_then(|quantity| quantity.value())
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
            (
                "{runner: {resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 4}}}}",
                2,
            ),
            ("{runner: {resources: {requests: {amd.com/gpu: '4'}}}}", 4),
            ("{runner: {resources: {limits: {nvidia.com/gpu: 1500m}}}}", 2),
            ("{runner: {resources: {limits: {nvidia.com/gpu: many}}}}", 0),
            (
                "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: b, resources: {limits: {nvidia.com/gpu: 2}}}}",
                3,
            ),
            (
                "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: a, resources: {limits: {nvidia.com/gpu: 2}}}}",
                2,
            ),
            (
                "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}], runner: {name: a}}",
                1,
            ),
            (
                "{containers: [{resources: {limits: {nvidia.com/gpu: 1}}}, {resources: {limits: {amd.com/gpu: 1}}}]}",
                2,
            ),
            ("{}", 0),
        ] {
            assert_eq!(of_part(&node(part)), expected, "{part}");
        }
    }
}
