//! Accelerators that pods request.

use crate::merge::edit::position;
use crate::merge::history::Recorder;
use crate::merge::written as merge;
pub(crate) use crate::quantity::is_accelerator;
use crate::quantity::{Quantity, Range};
use crate::yaml::{Entry, Node};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Devices of one container: the limit of each resource that `counts`, else its request (OME docs,
/// Serving Runtime, Multi-Node Configuration). None when one of them is no number of devices.
pub(crate) fn of_container(container: &Node, counts: impl Fn(&str) -> bool) -> Option<i64> {
    requests(container)
        .filter(|entry| counts(&entry.key))
        .try_fold(0_i64, |sum, entry| sum.checked_add(devices(entry)?))
}

/// The amount of one resource that a container requests, rounded up, as the operator uses it.
pub(crate) fn as_written(container: &Node, resource: &str) -> Option<i64> {
    let entry = requests(container).find(|entry| entry.key == resource)?;
    Quantity::parse_field(&entry.node.scalar_text()?).ok()?.value()
}

/// Limits, and the requests that have no limit.
fn requests(container: &Node) -> impl Iterator<Item = &Entry> {
    let side = |key: &str| container.at(&["resources", key]);
    let (limits, requests) = (side("limits"), side("requests"));
    // A resource in both is one amount, and for devices the limit is the one that counts.
    let requested = requests
        .into_iter()
        .flat_map(Node::entries)
        .filter(move |entry| limits.and_then(|limits| limits.get(&entry.key)).is_none());
    limits.into_iter().flat_map(Node::entries).chain(requested)
}

/// Accelerators of a pod by resource: what the containers request together, or the init container
/// that requests most, if that is more. None when one of the amounts is no number of devices.
pub(crate) fn by_resource(pod: &Node) -> Option<BTreeMap<EcoString, i64>> {
    with_init(pod, pod.get("containers").map(Node::items).unwrap_or_default().iter())
}

/// Accelerators of a pod that is not yet built, by resource name: those of its listed containers
/// and of the runner, which takes over what it does not say itself from the container of its name.
/// Init containers count as in a pod. None when one of the amounts is no number of devices.
pub fn of_part(part: &Node) -> Option<BTreeMap<EcoString, i64>> {
    let listed = part.get("containers").map(Node::items).unwrap_or_default();
    let runner = part.get("runner");
    // The runner is merged over the container of its name, so that both together are one
    // container.
    let twin = runner
        .and_then(|runner| runner.get("name")?.as_str())
        .and_then(|name| position(listed, "name", name));
    let merged = runner
        .zip(twin)
        .map(|(runner, index)| merge::written(&listed[index], runner, &mut Recorder::off()));
    let others = listed.iter().enumerate().filter(|(index, _)| Some(*index) != twin);
    let containers = others.map(|(_, container)| container).chain(merged.as_ref().or(runner));
    with_init(part, containers)
}

/// Accelerators of `containers` and of the init containers of `part`. An init container that
/// restarts runs beside all that follow it; any other one runs alone with those before it
/// (k8s.io/component-helpers/resource/helpers.go, PodRequests).
fn with_init<'n>(
    part: &'n Node,
    containers: impl Iterator<Item = &'n Node>,
) -> Option<BTreeMap<EcoString, i64>> {
    let mut found = sum(containers)?;
    let (mut neighbors, mut most) = (BTreeMap::new(), BTreeMap::new());
    // In order: a sidecar counts beside the init containers after it, not before it.
    for container in part.get("initContainers").map(Node::items).unwrap_or_default() {
        let std = sum(std::iter::once(container))?;
        if container.get("restartPolicy").and_then(Node::as_str) == Some("Always") {
            add(&mut found, &std)?;
            add(&mut neighbors, &std)?;
        } else {
            let mut now = neighbors.clone();
            add(&mut now, &std)?;
            raise(&mut most, now);
        }
    }
    raise(&mut found, most);
    Some(found)
}

/// Adds amounts; none when a sum is too large.
fn add(sums: &mut BTreeMap<EcoString, i64>, more: &BTreeMap<EcoString, i64>) -> Option<()> {
    for (name, amount) in more {
        let sum = sums.entry(name.clone()).or_default();
        *sum = sum.checked_add(*amount)?;
    }
    Some(())
}

/// Keeps the larger amount of each resource.
fn raise(amounts: &mut BTreeMap<EcoString, i64>, others: BTreeMap<EcoString, i64>) {
    for (name, other) in others {
        let amounts = amounts.entry(name).or_default();
        *amounts = other.max(*amounts);
    }
}

fn sum<'n>(containers: impl Iterator<Item = &'n Node>) -> Option<BTreeMap<EcoString, i64>> {
    let mut found = BTreeMap::new();
    for entry in containers.flat_map(requests).filter(|entry| is_accelerator(&entry.key)) {
        let sum: &mut i64 = found.entry(entry.key.clone()).or_default();
        *sum = sum.checked_add(devices(entry)?)?;
    }
    Some(found)
}

/// Accelerators of a pod, of every resource; none when one of the amounts is no number of devices.
pub fn of_pod(pod: &Node) -> Option<i64> {
    by_resource(pod)?.values().try_fold(0_i64, |sum, number| sum.checked_add(*number))
}

/// The number of devices that an entry of resources requests, when it is one.
fn devices(entry: &Entry) -> Option<i64> {
    Range::DEVICES.read(&entry.node.scalar_text()?)?.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn device_resources_count_as_accelerators_but_memory_does_not() {
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
            ("huawei.com/ascend-1980", true),
            ("huawei.com/Ascend910-memory", false),
            ("google.com/tpu", true),
            ("aws.amazon.com/neuroncore", true),
            ("nvidia.com/mig-3g.20gb", true),
            ("nvidia.com/gpumem", false),
            ("aliyun.com/gpu-mem", false),
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
            ("{runner: {resources: {limits: {nvidia.com/gpu: 1k}}}}", 1000),
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
            let found = of_part(&node(part)).map(|found| found.values().sum());
            assert_eq!(found, Some(expected), "{part}");
        }
    }

    #[test]
    fn invalid_device_amounts_make_the_gpu_count_unknown() {
        for amount in [
            "many",
            "1500m",
            "1.5",
            "-4",
            "1e30",
            "9223372036854775808",
            "10000000000000",
            "1000001",
        ] {
            for part in
                ["runner: X", "containers: [X, {name: b}]", "runner: {name: a}, containers: [X]"]
            {
                let container =
                    format!("{{name: a, resources: {{limits: {{nvidia.com/gpu: {amount}}}}}}}");
                let part = node(&format!("{{{}}}", part.replace('X', &container)));
                assert_eq!(of_part(&part), None, "{amount}");
            }
        }
    }
}
