//! Updates of `DaemonSets` with and without a surge (pkg/controller/daemon/update.go, `rollingUpdate`).

use super::{NAMESPACE, play};
use crate::cluster::Machine;
use crate::cluster::schedule::{Admission, Options, Scheduler};
use crate::operators::ome::compose::testing::node;
use crate::quantity::Quantity;
use crate::rollout::{DaemonSetSpec, PodPhase, Start, WorkloadId, World};
use crate::yaml::Map;
use std::sync::Arc;

/// Nodes that hold so many CPUs each.
fn scheduler(nodes: &[i64]) -> Scheduler {
    let machine = |(at, cpus): (usize, &i64)| {
        let mut machine = Machine::labeled(format!("n{at}").as_str().into(), Map::new());
        let amount = Quantity::from_integer;
        machine.allocatable =
            Some(vec![("pods".into(), amount(10)), ("cpu".into(), amount(*cpus))]);
        Arc::new(machine)
    };
    Scheduler::new(nodes.iter().enumerate().map(machine), &Options::default())
}

/// A DaemonSet whose pods request one CPU.
fn daemons(image: &str, rolling: &str, container: &str) -> DaemonSetSpec {
    let object = format!(
        "{{metadata: {{name: d}}, spec: {{selector: {{matchLabels: {{app: a}}}}, updateStrategy: \
         {{rollingUpdate: {{{rolling}}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: \
         {{containers: [{{name: c, image: {image}, resources: {{requests: {{cpu: 1}}}}{container}}}]}}}}}}}}"
    );
    DaemonSetSpec::read(NAMESPACE, &node(&object), &Admission::default()).unwrap()
}

/// Pods that do not end, and those that are ready.
fn counted(world: &World, id: WorkloadId) -> [usize; 2] {
    let of = |wanted: &[PodPhase]| {
        world.pods_of(id).into_iter().filter(|pod| wanted.contains(&world.phase(*pod))).count()
    };
    [of(&[PodPhase::Pending, PodPhase::Starting, PodPhase::Ready]), of(&[PodPhase::Ready])]
}

/// The states of an update from one image to another on nodes with so many CPUs.
fn updated(nodes: &[i64], rolling: &str, container: &str, start: Start) -> (Vec<[usize; 2]>, bool) {
    let mut world = World::new(scheduler(nodes));
    let id = world.deploy_daemons(daemons("one", rolling, container));
    play(&mut world, |_| ());
    assert_eq!(counted(&world, id), [nodes.len(); 2]);
    let mut next = daemons("two", rolling, container);
    next.start = start;
    world.change_daemons(id, next);
    let stages = play(&mut world, |world| counted(world, id));
    let complete = world.ended(id).is_some_and(|ended| ended.end == crate::rollout::End::Complete);
    (stages, complete)
}

#[test]
fn a_surge_starts_new_pods_beside_old_ones_and_keeps_all_ready() {
    for (surge, most) in [("1", 4), ("2", 5), ("100%", 6), ("34%", 5)] {
        let rolling = format!("maxUnavailable: 0, maxSurge: {surge}");
        let (stages, complete) = updated(&[2, 2, 2], &rolling, "", Start::Ready);
        assert!(complete, "{surge} {stages:?}");
        assert!(stages.iter().all(|[_, ready]| *ready >= 3), "{surge} {stages:?}");
        let highest = stages.iter().map(|[all, _]| *all).max();
        assert_eq!(highest, Some(most), "{surge} {stages:?}");
        assert_eq!(stages.last(), Some(&[3, 3]), "{surge}");
    }
}

#[test]
fn without_a_surge_old_pods_end_first() {
    let (stages, complete) = updated(&[1, 1, 1], "maxUnavailable: 2", "", Start::Ready);
    assert!(complete, "{stages:?}");
    assert_eq!(stages.iter().map(|[_, ready]| *ready).min(), Some(1), "{stages:?}");
    assert!(stages.iter().all(|[all, _]| *all <= 3), "{stages:?}");
}

/// The new pod needs its request and its host port on the node of the old one.
#[test]
fn a_surge_without_room_or_with_a_host_port_stands_still() {
    let surge = "maxUnavailable: 0, maxSurge: 1";
    let port = ", ports: [{containerPort: 80, hostPort: 80}]";
    for (cpus, container, expected) in [(2, "", true), (1, "", false), (2, port, false)] {
        let (stages, complete) = updated(&[cpus, cpus], surge, container, Start::Ready);
        assert_eq!(complete, expected, "{cpus} {container} {stages:?}");
        // The old pods go on.
        assert_eq!(stages.last().map(|[_, ready]| *ready), Some(2), "{stages:?}");
    }
    // Without a surge the port is free before the new pod starts.
    assert!(updated(&[1, 1], "maxUnavailable: 1", port, Start::Ready).1);
}

#[test]
fn a_surge_waits_for_new_pods_that_are_never_ready() {
    let surge = "maxUnavailable: 0, maxSurge: 1";
    let (stages, complete) = updated(&[2, 2, 2], surge, "", Start::NeverReady);
    assert!(!complete);
    assert_eq!(stages.last(), Some(&[4, 3]), "{stages:?}");
    let (stages, complete) = updated(&[2, 2, 2], surge, "", Start::Slow(3));
    assert!(complete && stages.iter().all(|[_, ready]| *ready >= 3), "{stages:?}");
}
