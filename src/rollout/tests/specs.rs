//! Specs as they are read, the pods of groups, and the numbers of StatefulSets.

use super::super::leader_worker_set::{Restart, Startup, State, next_partition};
use super::super::pods::{Life, Pods};
use super::super::replica_set::Counts;
use super::super::stateful_set::{OrdinalTemplate, StatefulSet};
use super::super::{GroupMember, Strategy};
use super::*;
use crate::cluster::schedule::{PodTemplate, label_selector};
use crate::quantity::{IntOrPercent, hash};
use ecow::EcoString;
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;

#[test]
fn a_version_is_named_by_the_hash_of_its_tree() {
    for (tree, text) in [
        (
            "{b: [1, null, [2]], a: {c: x, d: {e: true}}, z: null}",
            r#"{"a":{"c":"x","d":{"e":true}},"b":[1,null,[2]]}"#,
        ),
        ("{a: 1}", r#"{"a":1}"#),
        ("{}", "null"),
        ("{a: [], b: {}}", "null"),
    ] {
        assert_eq!(revision_name(&node(tree)), hash::short_hash(text), "{tree}");
    }
}

#[test]
fn unset_spec_fields_have_the_default_of_their_kind() {
    let classes = Admission::default();
    let deployment = |spec: &str| DeploymentSpec::read(NAMESPACE, &node(spec), &classes).unwrap();
    let quarter = IntOrPercent::Percent(25);
    let rolling = |surge, unavailable| Strategy::RollingUpdate { surge, unavailable };
    let spec = deployment("{}");
    assert_eq!((spec.replicas, spec.paused, spec.strategy), (1, false, rolling(quarter, quarter)));
    assert_eq!(Strategy::default(), rolling(quarter, quarter));
    let spec = deployment(
        "{replicas: 3, paused: true, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 50%}}}",
    );
    assert_eq!((spec.replicas, spec.paused), (3, true));
    assert_eq!(spec.strategy, rolling(IntOrPercent::Int(0), IntOrPercent::Percent(50)));
    assert_eq!(deployment("{strategy: {type: Recreate}}").strategy, Strategy::Recreate);
    let groups =
        |tree: &str| LeaderWorkerSetSpec::read(NAMESPACE, &node(tree), &classes, &V0_7).unwrap();
    let spec = groups("{metadata: {name: g}}");
    assert_eq!((spec.name.as_str(), spec.replicas, spec.partition), ("g", 1, 0));
    assert_eq!((spec.surge, spec.unavailable), (IntOrPercent::Int(0), IntOrPercent::Int(1)));
    assert_eq!(
        (spec.startup, spec.stateful_set_gate, spec.exclusive),
        (Startup::LeaderCreated, false, None)
    );
    assert_eq!((spec.revision.size, spec.revision.leader_needs), (1, 0));
    let spec = groups(
        "{metadata: {name: g, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}, \
         spec: {replicas: 2, startupPolicy: LeaderReady, rolloutStrategy: \
         {rollingUpdateConfiguration: {maxSurge: 2, maxUnavailable: 3, partition: 4}}, \
         leaderWorkerTemplate: {size: 5}}}",
    );
    assert_eq!((spec.replicas, spec.partition, spec.revision.size), (2, 4, 5));
    assert_eq!((spec.surge, spec.unavailable), (IntOrPercent::Int(2), IntOrPercent::Int(3)));
    assert_eq!((spec.startup, spec.exclusive.as_deref()), (Startup::LeaderReady, Some("rack")));
    for (policy, restart) in [
        ("''", Restart::Group),
        ("RecreateGroupOnPodRestart", Restart::Group),
        ("RecreateGroupAfterStart", Restart::GroupAfterStart),
        ("None", Restart::Never),
    ] {
        let spec =
            groups(&format!("{{spec: {{leaderWorkerTemplate: {{restartPolicy: {policy}}}}}}}"));
        assert_eq!(spec.restart, restart, "{policy}");
    }
}

#[test]
fn group_pods_have_labels_an_owner_and_exclusive_topology() {
    let spec = |more: &str| {
        let container =
            |image: &str| format!("{{spec: {{priority: {image}, containers: [{{}}]}}}}");
        let tree = format!(
            "{{metadata: {{name: g, {more}}}, spec: {{leaderWorkerTemplate: {{size: 2, \
             leaderTemplate: {}, workerTemplate: {}}}}}}}",
            container("1"),
            container("2")
        );
        LeaderWorkerSetSpec::read(NAMESPACE, &node(&tree), &Admission::default(), &V0_7).unwrap()
    };
    let key = hash::hex(&Sha1::digest("default/g-3"));
    let prefix = "leaderworkerset.sigs.k8s.io";
    let leader_worker_set_spec = spec("");
    for (index, priority, owner) in [
        (0, 1, format!("{{{prefix}/name: g, {prefix}/worker-index: '0'}}")),
        (
            1,
            2,
            format!("{{{prefix}/group-index: '3', {prefix}/name: g, {prefix}/group-key: '{key}'}}"),
        ),
    ] {
        let pod = leader_worker_set_spec.member(3, index);
        let labels: Vec<String> =
            pod.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            labels,
            [
                format!("{prefix}/group-index=3"),
                format!("{prefix}/group-key={key}"),
                format!("{prefix}/name=g"),
                format!("{prefix}/worker-index={index}"),
            ]
        );
        assert_eq!((pod.priority, pod.affinity.len()), (priority, 0));
        let selector = node(&format!("{{matchLabels: {owner}}}"));
        let expected = label_selector(Some(&selector)).unwrap().unwrap();
        let sorted = |selector: &crate::quantity::Selector| {
            let all = selector.requirements().iter().map(|one| format!("{one:?}"));
            all.collect::<BTreeSet<String>>()
        };
        assert_eq!(sorted(pod.owner.as_ref().unwrap()), sorted(&expected), "{index}");
    }
    let spec = spec(&format!("annotations: {{{prefix}/exclusive-topology: rack}}"));
    let (leader, worker) = (spec.member(0, 0), spec.member(0, 1));
    assert_eq!((leader.affinity.len(), leader.anti_affinity.len()), (1, 1));
    assert_eq!((worker.affinity.len(), worker.anti_affinity.len()), (0, 0));
    let meets = |terms: &[crate::cluster::schedule::PodTerm], pod: &PodTemplate| {
        let term = &terms[0];
        assert_eq!(term.topology_key, "rack");
        term.selector.as_ref().unwrap().matches(|key| pod.labels.get(key).map(EcoString::as_str))
    };
    let (same, other) = (spec.member(0, 1), spec.member(1, 0));
    let answers = |terms: &[crate::cluster::schedule::PodTerm]| {
        [meets(terms, &same), meets(terms, &other), meets(terms, &PodTemplate::default())]
    };
    assert_eq!(answers(&leader.affinity), [true, false, false]);
    assert_eq!(answers(&leader.anti_affinity), [false, true, false]);
}

#[test]
fn active_pods_exclude_terminating_pods() {
    let one = Counts { wanted: 1, ready: 2, starting: 4, pending: 8, terminating: 16 };
    assert_eq!((one.active(), one.plus(one).active()), (14, 28));
    assert_eq!(
        one.plus(one),
        Counts { wanted: 2, ready: 4, starting: 8, pending: 16, terminating: 32 }
    );
}

#[test]
fn the_partition_decreases_within_max_unavailable() {
    // `o` is ready and old, `n` ready and new, `u` not ready and old, `x` not ready and new.
    for (groups, step, current, expected) in [
        ("oooo", 1, 4, 3),
        ("oooo", 2, 4, 2),
        ("oooo", 9, 4, 0),
        ("ooon", 1, 3, 2),
        ("ooox", 1, 3, 3),
        ("oonn", 1, 3, 1),
        ("oouo", 1, 4, 4),
        ("ooou", 1, 4, 3),
        ("uooo", 1, 4, 4),
        ("ouno", 2, 4, 3),
        ("ounu", 2, 4, 2),
        ("ounx", 2, 4, 2),
        ("nnnn", 1, 2, 0),
        ("oooo", 1, 2, 2),
    ] {
        let state = |group: char| State {
            ready: matches!(group, 'o' | 'n'),
            updated: matches!(group, 'n' | 'x'),
        };
        let states: Vec<State> = groups.chars().map(state).collect();
        assert_eq!(next_partition(&states, step, current), expected, "{groups} by {step}");
    }
}

/// A StatefulSet of two pods beside the pods of a cluster.
struct Two {
    pods: Pods,
    set: StatefulSet,
}

impl Two {
    fn step(&mut self) {
        let make = |pods: &mut Pods, _: usize, _: &EcoString| {
            let template = pods.scheduler.template(Arc::new(PodTemplate::default()));
            Some(OrdinalTemplate { template, start: Start::Ready })
        };
        for _ in 0..5 {
            self.set.sync(&mut self.pods, make);
            self.pods.scheduler.schedule();
        }
    }

    /// Pods of some numbers become ready.
    fn ready(&mut self, numbers: &[usize]) {
        for number in numbers {
            let pod = self.set.members[number].pod;
            *self.pods.life_mut(pod) = Life { running: true, ready: true, ..Life::default() };
        }
    }

    /// The revisions of its pods, once those that end are gone.
    fn revisions(&mut self) -> String {
        self.step();
        for pod in self.pods.all().collect::<Vec<_>>() {
            if self.pods.may_end(pod) {
                self.pods.scheduler.finish(pod);
            }
        }
        self.step();
        self.set.members.values().map(|member| member.revision.as_str()).collect()
    }

    fn end(&mut self, number: usize) {
        let pod = self.set.members[&number].pod;
        self.pods.delete(pod);
    }
}

#[test]
fn a_pod_below_the_partition_restarts_at_the_current_revision() {
    let two = || {
        let pods = Pods::new(scheduler(&[10]), |_| Life::default());
        let mut two = Two { pods, set: StatefulSet::new(0, 2, "1".into()) };
        assert_eq!(two.revisions(), "11");
        two.ready(&[0, 1]);
        two.set.revise("2".into());
        two
    };
    let protected = |mut two: Two| {
        two.set.partition = 2;
        two.set.revise("3".into());
        two.end(0);
        two.revisions()
    };
    let mut whole = two();
    for expected in ["12", "22"] {
        assert_eq!(whole.revisions(), expected);
        whole.ready(&[0, 1]);
    }
    whole.step();
    assert_eq!(protected(whole), "22");
    // Not all pods are ready.
    let mut unready = two();
    assert_eq!(unready.revisions(), "12");
    unready.ready(&[1]);
    assert_eq!(unready.revisions(), "22");
    assert_eq!(protected(unready), "12");
    // A pod below the partition was not updated.
    let mut half = two();
    half.set.partition = 1;
    assert_eq!(half.revisions(), "12");
    half.ready(&[0, 1]);
    half.step();
    assert_eq!(protected(half), "12");
}

/// Index and phase of the pods by group.
fn phases(world: &World, id: WorkloadId) -> Vec<Vec<(usize, PodPhase)>> {
    let Some(StageOf::Groups { groups, .. }) = world.stage_of(id) else { panic!("no groups") };
    let member = |member: GroupMember| (member.index, member.phase);
    groups.into_values().map(|members| members.into_iter().map(member).collect()).collect()
}

#[test]
fn a_deleted_worker_recreates_its_group_unless_policy_is_none() {
    use PodPhase::{Ready, Terminating};
    for (recreates, leader) in [(true, Terminating), (false, Ready)] {
        let mut world = World::new(scheduler(&[100]));
        let mut spec = groups(2, 3, 0, 1, "one");
        spec.restart = if recreates { Restart::Group } else { Restart::Never };
        let id = world.deploy_groups(spec);
        play(&mut world, |_| ());
        let whole = vec![vec![(0, Ready), (1, Ready), (2, Ready)]; 2];
        assert_eq!(phases(&world, id), whole);
        let before = world.pods_of(id);
        let Some(StageOf::Groups { groups, .. }) = world.stage_of(id) else { panic!("no groups") };
        let members: Vec<PodId> = groups[&0].iter().map(|member| member.pod).collect();
        world.end(members[1]);
        world.settle();
        let ended = vec![(0, leader), (1, Terminating), (2, leader)];
        assert_eq!(phases(&world, id), [ended, whole[0].clone()]);
        play(&mut world, |_| ());
        assert_eq!(phases(&world, id), whole);
        let after: BTreeSet<PodId> = world.pods_of(id).into_iter().collect();
        let kept = before.iter().filter(|pod| after.contains(pod)).count();
        assert_eq!(kept, if recreates { 3 } else { 5 });
    }
}

#[test]
fn workers_wait_for_a_ready_leader_with_leader_ready_policy() {
    for (startup, pods) in
        [(Startup::LeaderCreated, vec![3, 3]), (Startup::LeaderReady, vec![1, 3, 3])]
    {
        let mut world = World::new(scheduler(&[100]));
        let mut spec = groups(1, 3, 0, 1, "one");
        spec.startup = startup;
        let id = world.deploy_groups(spec);
        assert_eq!(play(&mut world, |world| world.pods_of(id).len()), pods);
    }
}

/// Nodes for one pod each, by their racks.
fn in_racks(racks: &[&str]) -> Scheduler {
    let machine = |(at, rack): (usize, &&str)| {
        let mut machine = Machine::labeled(format!("n{at}").as_str().into(), Map::new());
        machine.labels.insert("rack", node(rack));
        machine.allocatable = Some(vec![("pods".into(), Quantity::from_integer(1))]);
        Arc::new(machine)
    };
    Scheduler::new(racks.iter().enumerate().map(machine), &Options::default())
}

#[test]
fn a_worker_stays_pending_without_capacity_in_the_leader_domain() {
    for (exclusive, worker) in [(None, PodPhase::Ready), (Some("rack"), PodPhase::Pending)] {
        let mut world = World::new(in_racks(&["x", "y"]));
        let mut spec = groups(1, 2, 0, 1, "one");
        spec.exclusive = exclusive.map(EcoString::from);
        let id = world.deploy_groups(spec);
        play(&mut world, |_| ());
        assert_eq!(phases(&world, id), [[(0, PodPhase::Ready), (1, worker)]], "{exclusive:?}");
    }
}

#[test]
fn a_group_with_exclusive_topology_stays_in_one_domain() {
    for (racks, expected) in [
        // The next node by name is in the other rack.
        (["x", "y", "y", "x"], [["n0", "n3"], ["n1", "n2"]]),
        // So is the next node for the other leader.
        (["x", "x", "y", "y"], [["n0", "n1"], ["n2", "n3"]]),
    ] {
        let mut world = World::new(in_racks(&racks));
        let mut spec = groups(2, 2, 0, 1, "one");
        spec.exclusive = Some("rack".into());
        let id = world.deploy_groups(spec);
        play(&mut world, |_| ());
        let Some(StageOf::Groups { groups, .. }) = world.stage_of(id) else { panic!("no groups") };
        let places: Vec<Vec<String>> = groups
            .into_values()
            .map(|members| members.iter().map(|member| place(&world, member.pod)).collect())
            .collect();
        assert_eq!(places, expected, "{racks:?}");
    }
}

#[test]
fn scale_down_keeps_the_longest_ready_pods() {
    let shrunk = |prepare: &dyn Fn(&mut World, &[PodId])| {
        let mut world = World::new(scheduler(&[100]));
        let id = world.deploy(deployment(1, 1, 0, "one"));
        play(&mut world, |_| ());
        // Two more come a tick later.
        *world.deployment_mut(id).unwrap() = deployment(3, 1, 0, "one");
        play(&mut world, |_| ());
        let pods = world.pods_of(id);
        prepare(&mut world, &pods);
        *world.deployment_mut(id).unwrap() = deployment(1, 1, 0, "one");
        play(&mut world, |_| ());
        let left = world.pods_of(id);
        assert_eq!(left.len(), 1);
        pods.iter().position(|pod| *pod == left[0]).unwrap()
    };
    assert_eq!(shrunk(&|_, _| ()), 0);
    // One that is not ready goes before those that are.
    assert_eq!(shrunk(&|world, pods| world.unready(pods[0])), 1);
}
