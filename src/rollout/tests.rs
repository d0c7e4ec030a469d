//! What is true of every rolling update, and of worlds that run already.

mod daemons;
mod specs;

use super::leader_worker_set::release::V0_7;
use super::read::revision_name;
use super::{
    DeploymentSpec, End, LeaderWorkerSetSpec, PodPhase, StageOf, Start, WorkloadId, World,
};
use crate::cluster::Machine;
use crate::cluster::schedule::{Admission, First, Options, PodId, Scheduler};
use crate::operators::ome::compose::testing::node;
use crate::quantity::Quantity;
use crate::yaml::{Map, Value};
use proptest::prelude::*;
use std::sync::Arc;

const NAMESPACE: &str = "default";

/// Nodes that hold so many pods each.
fn scheduler(nodes: &[i64]) -> Scheduler {
    let machine = |(at, room): (usize, &i64)| {
        let mut machine = Machine::labeled(format!("n{at}").as_str().into(), Map::new());
        machine.allocatable = Some(vec![("pods".into(), Quantity::from_integer(*room))]);
        Arc::new(machine)
    };
    Scheduler::new(nodes.iter().enumerate().map(machine), &Options::default())
}

fn deployment(replicas: i64, surge: i64, unavailable: i64, image: &str) -> DeploymentSpec {
    let spec = format!(
        "{{replicas: {replicas}, selector: {{matchLabels: {{app: a}}}}, strategy: \
         {{type: RollingUpdate, rollingUpdate: {{maxSurge: {surge}, maxUnavailable: \
         {unavailable}}}}}, template: {{metadata: {{labels: {{app: a}}}}, \
         spec: {{containers: [{{name: c, image: {image}}}]}}}}}}"
    );
    DeploymentSpec::read(NAMESPACE, &node(&spec), &Admission::default()).unwrap()
}

fn groups(
    replicas: i64,
    size: i64,
    surge: i64,
    unavailable: i64,
    image: &str,
) -> LeaderWorkerSetSpec {
    let tree = format!(
        "{{metadata: {{name: a}}, spec: {{replicas: {replicas}, rolloutStrategy: \
         {{rollingUpdateConfiguration: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}, \
         leaderWorkerTemplate: {{size: {size}, workerTemplate: {{spec: {{containers: \
         [{{name: c, image: {image}}}]}}}}}}}}}}"
    );
    LeaderWorkerSetSpec::read(NAMESPACE, &node(&tree), &Admission::default(), &V0_7).unwrap()
}

/// Lets time pass until nothing moves; what is seen at every tick.
fn play<T>(world: &mut World, mut see: impl FnMut(&World) -> T) -> Vec<T> {
    world.settle();
    let mut seen = vec![see(world)];
    for _ in 0..1000 {
        if world.is_quiet() {
            return seen;
        }
        world.advance(&mut First);
        world.settle();
        seen.push(see(world));
    }
    panic!("it does not come to rest");
}

/// Ready pods and pods that do not end, of a Deployment.
fn counted(world: &World, id: WorkloadId) -> [i64; 4] {
    let Some(StageOf::Pods { old, new }) = world.stage_of(id) else { panic!("no Deployment") };
    [old.active(), old.ready, new.active(), new.ready]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_rollout_stays_within_surge_and_unavailable_and_completes(
        replicas in 0_i64..8, surge in 0_i64..4, unavailable in 0_i64..4, slow in 0_u32..4,
    ) {
        let mut world = World::new(scheduler(&[100]));
        let id = world.deploy(deployment(replicas, surge, unavailable, "one"));
        play(&mut world, |_| ());
        prop_assert_eq!(counted(&world, id), [0, 0, replicas, replicas]);
        prop_assert_eq!(world.ended(id).unwrap().end, End::Complete);
        let mut next = deployment(replicas, surge, unavailable, "two");
        next.revision.start = if slow == 0 { Start::Ready } else { Start::Slow(slow) };
        *world.deployment_mut(id).unwrap() = next;
        let stages = play(&mut world, |world| counted(world, id));
        let (surge, unavailable) = if surge + unavailable == 0 { (0, 1) } else { (surge, unavailable) };
        for [old, old_ready, new, new_ready] in &stages {
            prop_assert!(old + new <= replicas + surge, "{:?}", stages);
            prop_assert!(old_ready + new_ready >= replicas - unavailable, "{:?}", stages);
        }
        prop_assert_eq!(stages.last(), Some(&[0, 0, replicas, replicas]));
        prop_assert_eq!(world.ended(id).unwrap().end, End::Complete);
        let steps = i64::try_from(stages.len()).unwrap();
        prop_assert!(replicas == 0 || steps > i64::from(slow.max(1)), "{:?}", stages);
    }

    /// Pods that run already are taken over as if the world had started them.
    #[test]
    fn a_rollout_from_running_pods_equals_one_started_in_simulation(
        replicas in 1_i64..6, surge in 0_i64..3, unavailable in 0_i64..3,
    ) {
        let [one, two] = ["one", "two"].map(|image| deployment(replicas, surge, unavailable, image));
        let mut started = World::new(scheduler(&[3, 3, 3]));
        let id = started.deploy(one.clone());
        play(&mut started, |_| ());
        let places: Vec<String> = started.pods_of(id).into_iter().map(|pod| place(&started, pod)).collect();
        let mut scheduler = scheduler(&[3, 3, 3]);
        let template = scheduler.template(one.revision.pod.clone());
        let pods: Vec<PodId> = places.iter().map(|place| scheduler.run(template, place, None).unwrap()).collect();
        let mut running = World::new(scheduler);
        let workload = running.deploy(one.clone());
        running.adopt(workload, &one.revision, &pods);
        prop_assert_eq!(play(&mut running, |world| counted(world, workload)), [[0, 0, replicas, replicas]]);
        *started.deployment_mut(id).unwrap() = two.clone();
        *running.deployment_mut(workload).unwrap() = two;
        let first = play(&mut started, |world| counted(world, id));
        prop_assert_eq!(play(&mut running, |world| counted(world, workload)), first);
    }

    #[test]
    fn a_group_rollout_from_running_pods_equals_a_simulated_one(
        replicas in 1_i64..5, size in 1_i64..4, surge in 0_i64..2, unavailable in 1_i64..3,
    ) {
        let [one, two] = ["one", "two"].map(|image| groups(replicas, size, surge, unavailable, image));
        let seen = |world: &World, id| match world.stage_of(id) {
            Some(StageOf::Groups { groups, replicas, partition }) => {
                let phases: Vec<(usize, usize, PodPhase, bool)> = groups
                    .into_iter()
                    .flat_map(|(group, members)| members.into_iter().map(move |member| (group, member)))
                    .map(|(group, member)| (group, member.index, member.phase, member.version == super::Version::New))
                    .collect();
                (phases, replicas, partition)
            }
            _ => panic!("no groups"),
        };
        let mut started = World::new(scheduler(&[100]));
        let id = started.deploy_groups(one.clone());
        play(&mut started, |_| ());
        let mut scheduler = scheduler(&[100]);
        let mut pods = Vec::new();
        for group in 0..usize::try_from(replicas).unwrap() {
            for index in 0..usize::try_from(size).unwrap() {
                let template = scheduler.template(Arc::new(one.member(group, index)));
                pods.push((group, index, scheduler.run(template, "n0", None).unwrap()));
            }
        }
        let mut running = World::new(scheduler);
        let workload = running.deploy_groups(one.clone());
        running.adopt_groups(workload, &one.revision, &pods);
        prop_assert_eq!(play(&mut running, |world| seen(world, workload)), [seen(&started, id)]);
        prop_assert_eq!(running.ended(workload).unwrap().status, started.ended(id).unwrap().status);
        *started.groups_mut(id).unwrap() = two.clone();
        *running.groups_mut(workload).unwrap() = two;
        let first = play(&mut started, |world| seen(world, id));
        prop_assert_eq!(play(&mut running, |world| seen(world, workload)), first);
        prop_assert_eq!(running.ended(workload).unwrap().end, End::Complete);
        let ready = running.ended(workload).unwrap().pods;
        prop_assert_eq!(i64::try_from(ready.len()).unwrap(), replicas * size);
    }
}

fn place(world: &World, pod: PodId) -> String {
    let scheduler = world.scheduler();
    scheduler.node(scheduler.state(pod).node().unwrap()).name.to_string()
}

#[test]
fn a_slow_pod_is_ready_after_its_ticks() {
    for ticks in 1..5 {
        let mut world = World::new(scheduler(&[100]));
        let mut spec = deployment(1, 1, 0, "one");
        spec.revision.start = Start::Slow(ticks);
        let id = world.deploy(spec);
        let ready: Vec<i64> = play(&mut world, |world| counted(world, id)[3]);
        let waits = usize::try_from(ticks).unwrap();
        assert_eq!(ready, [vec![0; waits], vec![1]].concat(), "{ticks}");
    }
}

#[test]
fn groups_are_added_up_to_the_surge_and_given_back_one_by_one() {
    let mut world = World::new(scheduler(&[100]));
    let id = world.deploy_groups(groups(4, 1, 2, 1, "one"));
    play(&mut world, |_| ());
    *world.groups_mut(id).unwrap() = groups(4, 1, 2, 1, "two");
    let mut replicas = play(&mut world, |world| match world.stage_of(id) {
        Some(StageOf::Groups { replicas, .. }) => replicas,
        _ => panic!("no groups"),
    });
    replicas.dedup();
    assert_eq!(replicas, [6, 5, 4]);
}

#[test]
fn workers_of_an_exclusive_group_run_in_the_domain_of_their_leader() {
    let machine = |(name, rack, room): (&str, &str, i64)| {
        let Value::Map(labels) = node(&format!("{{rack: {rack}}}")).value else { panic!("a map") };
        let mut machine = Machine::labeled(name.into(), labels);
        machine.allocatable = Some(vec![("pods".into(), Quantity::from_integer(room))]);
        Arc::new(machine)
    };
    let nodes = [("n0", "a", 1), ("n1", "b", 9), ("n2", "a", 9)].map(machine);
    let mut world = World::new(Scheduler::new(nodes, &Options::default()));
    let mut spec = groups(1, 3, 0, 1, "one");
    spec.exclusive = Some("rack".into());
    let id = world.deploy_groups(spec);
    play(&mut world, |_| ());
    let places: Vec<String> = world.pods_of(id).into_iter().map(|pod| place(&world, pod)).collect();
    assert_eq!(places, ["n0", "n2", "n2"]);
}

#[test]
fn pods_without_a_workload_start_together_end_and_fail() {
    let mut world = World::new(scheduler(&[2]));
    let spec = deployment(2, 0, 1, "one");
    let template = world.template(spec.revision.pod.clone());
    let first =
        world.start_together(&[(template, Start::Ready)]).expect("nothing limits the pods")[0];
    play(&mut world, |_| ());
    assert_eq!(world.phase(first), PodPhase::Ready);
    // Two more have no room together, so none of them gets a node.
    let two = world.start_together(&[(template, Start::Ready), (template, Start::NeverReady)]);
    let two = two.expect("nothing limits the pods");
    play(&mut world, |_| ());
    assert_eq!(two.iter().map(|pod| world.phase(*pod)).collect::<Vec<_>>(), [PodPhase::Pending; 2]);
    world.end(first);
    assert_eq!(world.phase(first), PodPhase::Terminating);
    play(&mut world, |_| ());
    let phases: Vec<PodPhase> = two.iter().map(|pod| world.phase(*pod)).collect();
    assert_eq!(phases, [PodPhase::Ready, PodPhase::Starting]);
    assert_eq!(world.phase(first), PodPhase::Gone);
    world.unready(two[0]);
    play(&mut world, |_| ());
    assert_eq!(world.phase(two[0]), PodPhase::Starting);
}

#[test]
fn revision_names_depend_only_on_non_empty_values() {
    let name = |tree: &str| revision_name(&node(tree));
    let text = name("{a: 1, b: [x, {c: true}]}");
    assert_eq!(text, name("{b: [x, {c: true}], a: 1}"), "neither the order of keys");
    assert_eq!(
        text,
        name("{a: 1, b: [x, {c: true, d: null}], e: {}, f: [], g: {h: []}}"),
        "nor what is empty"
    );
    for other in [
        "{a: 2, b: [x, {c: true}]}",
        "{a: '1', b: [x, {c: true}]}",
        "{a: 1, b: [{c: true}, x]}",
        "{a: 1, b: [x, {c: false}]}",
        "{a: 1, b: [x, {d: true}]}",
        "{a: 1}",
    ] {
        assert_ne!(text, name(other), "{other}");
    }
}
