//! Sizes of ReplicaSets, as the tables of pkg/controller/deployment (sync_test.go,
//! rolling_test.go; Kubernetes v1.35.4) have them.

use super::super::pods::{Life, Revision, Start};
use super::*;
use crate::cluster::Machine;
use crate::cluster::schedule::{Options, PodTemplate, Scheduler};
use crate::quantity::Quantity;
use crate::yaml::Map;
use std::sync::Arc;

fn pods() -> Pods {
    let mut machine = Machine::labeled("n".into(), Map::new());
    machine.allocatable = Some(vec![("pods".into(), Quantity::from_integer(1000))]);
    let scheduler = Scheduler::new([Arc::new(machine)], &Options::default());
    Pods::new(scheduler, |_| Life::default())
}

fn revision(name: &str) -> Revision {
    Revision { name: name.into(), pod: Arc::new(PodTemplate::default()), start: Start::Ready }
}

/// A Deployment whose current version is `new`.
fn deployment(replicas: i64, surge: i64, unavailable: i64) -> Deployment {
    Deployment::new(DeploymentSpec {
        replicas,
        strategy: Strategy::RollingUpdate {
            surge: IntOrPercent::Int(surge),
            unavailable: IntOrPercent::Int(unavailable),
        },
        paused: false,
        revision: revision("new"),
    })
}

/// Adds a ReplicaSet of so many pods, some of them ready, sized for a number of replicas.
fn add(owner: &mut Deployment, pods: &mut Pods, name: &str, sizes: [i64; 4]) {
    let [wanted, ready, desired, most] = sizes;
    let at = owner.set(pods, &revision(name));
    let set = &mut owner.sets[at];
    (set.wanted, set.desired, set.most) = (wanted, desired, most);
    set.sync(pods, &HashMap::new());
    pods.scheduler.schedule_with(&mut crate::cluster::schedule::First);
    let created = set.pods().to_vec();
    for pod in created.into_iter().take(usize::try_from(ready).unwrap()) {
        *pods.life_mut(pod) = Life { running: true, ready: true, ..Life::default() };
    }
}

fn sizes(owner: &Deployment) -> Vec<i64> {
    owner.sets.iter().map(|set| set.wanted).collect()
}

#[test]
fn replica_sets_are_scaled_in_proportion() {
    // Replicas and surge before, replicas and surge now, sizes of the ReplicaSets, the oldest
    // first, whether the last is that of the current template, sizes after.
    type Row = ((i64, i64), (i64, i64), &'static [i64], bool, &'static [i64]);
    let rows: [Row; 20] = [
        ((10, 0), (12, 0), &[10], true, &[12]),
        ((10, 0), (5, 0), &[10], true, &[5]),
        ((5, 0), (10, 0), &[3, 2], true, &[6, 4]),
        ((5, 0), (3, 0), &[3, 2], true, &[2, 1]),
        ((9, 0), (4, 0), &[1, 8], true, &[0, 4]),
        ((7, 0), (10, 0), &[2, 3, 2], true, &[3, 4, 3]),
        ((13, 0), (8, 0), &[3, 8, 2], true, &[2, 5, 1]),
        ((3, 0), (4, 0), &[1, 1, 1], true, &[1, 1, 2]),
        ((3, 0), (2, 0), &[1, 1, 1], true, &[0, 1, 1]),
        ((4, 0), (5, 0), &[2, 2], false, &[2, 3]),
        ((6, 0), (0, 0), &[1, 2, 3], true, &[0, 0, 0]),
        ((6, 0), (6, 0), &[0, 0, 0], true, &[0, 0, 6]),
        ((10, 2), (20, 2), &[6, 6], true, &[11, 11]),
        ((10, 3), (50, 6), &[8, 5], true, &[34, 22]),
        ((10, 0), (14, 0), &[3, 7], false, &[4, 10]),
        ((2, 1), (2, 1), &[1, 2], true, &[1, 2]),
        // None of the current template and none active: the newest takes all.
        ((6, 0), (6, 0), &[0, 0], false, &[0, 6]),
        // The only active one takes all, whatever its version.
        ((4, 0), (6, 0), &[4, 0], true, &[6, 0]),
        // Nothing to add.
        ((5, 1), (6, 0), &[3, 3], true, &[3, 3]),
        ((5, 0), (5, 0), &[3, 2], true, &[3, 2]),
    ];
    for (before, now, old, has_new, expected) in rows {
        let mut pods = pods();
        let mut owner = deployment(now.0, now.1, 0);
        for (at, wanted) in old.iter().enumerate() {
            let name = if has_new && at + 1 == old.len() { "new".into() } else { format!("v{at}") };
            add(&mut owner, &mut pods, &name, [*wanted, 0, before.0, before.0 + before.1]);
        }
        let active = old.iter().any(|size| *size > 0);
        assert_eq!(owner.was_scaled(), active && before.0 != now.0, "{old:?}");
        let changed = owner.scale(&pods);
        assert_eq!(sizes(&owner), expected, "{before:?} {now:?} {old:?}");
        let noted = owner.sets.iter().all(|set| set.wanted == 0 || set.desired == now.0);
        assert!(noted && !owner.was_scaled(), "{before:?} {now:?} {old:?}");
        assert!(changed || old == expected, "{before:?} {now:?} {old:?}");
        assert!(!owner.scale(&pods), "scaling again changes nothing");
    }
    // A size that is not noted counts as that of all pods together.
    let mut pods = pods();
    let mut owner = deployment(10, 0, 0);
    add(&mut owner, &mut pods, "v1", [3, 0, 5, 0]);
    add(&mut owner, &mut pods, "new", [2, 0, 5, 0]);
    owner.scale(&pods);
    assert_eq!(sizes(&owner), [6, 4]);
}

#[test]
fn a_fully_ready_new_replica_set_scales_down_the_old_ones() {
    for (ready, desired, expected) in [(3, 3, [0, 3]), (2, 3, [2, 3]), (3, 2, [2, 3])] {
        let mut pods = pods();
        let mut owner = deployment(3, 2, 0);
        owner.spec.paused = true;
        add(&mut owner, &mut pods, "v1", [2, 2, 3, 5]);
        add(&mut owner, &mut pods, "new", [3, ready, desired, 5]);
        owner.steer(&mut pods);
        assert_eq!(sizes(&owner), expected, "{ready} {desired}");
    }
}

#[test]
fn the_new_replica_set_grows_into_the_surge() {
    for (surge, old, new, expected) in
        [(0, 10, 0, 0), (2, 10, 0, 2), (2, 5, 0, 7), (2, 10, 2, 2), (2, 2, 11, 10), (3, 0, 9, 10)]
    {
        let mut pods = pods();
        let mut owner = deployment(10, surge, 1);
        add(&mut owner, &mut pods, "v1", [old, 0, 10, 10 + surge]);
        add(&mut owner, &mut pods, "new", [new, 0, 10, 10 + surge]);
        // No old pod is ready, and none of them may go before the new one has its size.
        owner.roll(&mut pods);
        assert_eq!(owner.sets[1].wanted, expected, "{surge} {old} {new}");
    }
}

#[test]
fn old_replica_sets_shrink_as_far_as_ready_pods_allow() {
    // Unavailable, old pods and ready ones, new pods and ready ones, old pods after; replicas 10.
    // Without unavailable pods and without a surge one may be unavailable (`ResolveFenceposts`).
    for (unavailable, [old, old_ready], [new, new_ready], expected) in [
        (0, [10, 10], [0, 0], 9),
        (2, [10, 10], [0, 0], 8),
        (2, [10, 8], [0, 0], 8),
        (2, [10, 9], [0, 0], 8),
        (2, [8, 8], [2, 0], 8),
        (2, [8, 8], [2, 2], 6),
        (2, [8, 4], [2, 2], 6),
        (2, [0, 0], [2, 2], 0),
        (5, [10, 1], [0, 0], 5),
    ] {
        let mut pods = pods();
        let mut owner = deployment(10, 0, unavailable);
        add(&mut owner, &mut pods, "v1", [old, old_ready, 10, 10]);
        add(&mut owner, &mut pods, "new", [new, new_ready, 10, 10]);
        let changed = owner.scale_down_old(1, &pods);
        assert_eq!(owner.sets[0].wanted, expected, "{unavailable} {old} {old_ready} {new}");
        assert_eq!(changed, old != expected, "{unavailable} {old} {old_ready} {new}");
    }
    // Pods that are not ready go first, of the oldest ReplicaSet first; then ready ones.
    let mut pods = pods();
    let mut owner = deployment(10, 0, 4);
    add(&mut owner, &mut pods, "v1", [4, 3, 10, 10]);
    add(&mut owner, &mut pods, "v2", [6, 4, 10, 10]);
    add(&mut owner, &mut pods, "new", [0, 0, 10, 10]);
    assert!(owner.scale_down_old(2, &pods));
    assert_eq!(sizes(&owner), [2, 4, 0]);
    // What the first ReplicaSet gives up is no longer there for the second.
    let mut pods = self::pods();
    let mut owner = deployment(10, 0, 4);
    add(&mut owner, &mut pods, "v1", [4, 1, 10, 10]);
    add(&mut owner, &mut pods, "v2", [6, 3, 10, 10]);
    add(&mut owner, &mut pods, "new", [0, 0, 10, 10]);
    assert!(owner.scale_down_old(2, &pods));
    assert_eq!(sizes(&owner), [1, 5, 0]);
}

#[test]
fn adopted_replica_sets_are_sized_for_the_surge() {
    let mut pods = pods();
    let mut owner = deployment(10, 2, 0);
    for name in ["v1", "new"] {
        let template = pods.scheduler.template(revision(name).pod);
        let running: Vec<_> =
            (0..6).map(|_| pods.create(template, Start::Ready).unwrap()).collect();
        owner.adopt(&mut pods, &revision(name), &running);
    }
    owner.spec.replicas = 20;
    assert!(owner.scale(&pods));
    assert_eq!(sizes(&owner), [11, 11]);
}

#[test]
fn an_update_is_complete_when_all_replicas_are_new_and_ready() {
    // Old pods, new pods and ready ones of them; replicas 2.
    for (old, [new, ready], complete) in
        [(0, [2, 2], true), (0, [1, 1], false), (0, [2, 1], false), (1, [2, 2], false)]
    {
        let mut pods = pods();
        let mut owner = deployment(2, 1, 0);
        add(&mut owner, &mut pods, "v1", [old, old, 2, 3]);
        add(&mut owner, &mut pods, "new", [new, ready, 2, 3]);
        assert_eq!(owner.is_complete(&pods), complete, "{old} {new} {ready}");
    }
}

#[test]
fn a_replica_set_deletes_the_least_useful_pod_first() {
    let life = |running, ready, since| Life { running, ready, since, ..Life::default() };
    // Lives of the pods, oldest first, and the pod that is deleted.
    for (lives, deleted) in [
        ([life(false, false, 0), life(true, false, 0)], 0),
        ([life(true, false, 0), life(true, true, 1)], 0),
        ([life(true, true, 2), life(true, true, 1)], 0),
        ([life(true, true, 1), life(true, true, 2)], 1),
        ([life(true, true, 1), life(true, true, 1)], 1),
    ] {
        let mut pods = pods();
        let mut owner = deployment(2, 1, 0);
        add(&mut owner, &mut pods, "new", [2, 0, 2, 3]);
        let set = &mut owner.sets[0];
        let all = set.pods().to_vec();
        for (pod, life) in all.iter().zip(&lives) {
            *pods.life_mut(*pod) = *life;
        }
        set.wanted = 1;
        assert!(set.sync(&mut pods, &HashMap::new()));
        let ended: Vec<bool> = all.iter().map(|pod| !pods.is_active(*pod)).collect();
        assert_eq!(ended, [deleted == 0, deleted == 1], "{lives:?}");
    }
}

#[test]
fn surge_and_unavailable_are_rounded_and_never_both_zero() {
    let percent = |surge, unavailable| Strategy::RollingUpdate {
        surge: IntOrPercent::Percent(surge),
        unavailable: IntOrPercent::Percent(unavailable),
    };
    assert_eq!(Strategy::default().resolved(10), (3, 2));
    assert_eq!(percent(0, 9).resolved(10), (0, 1));
    assert_eq!(percent(1, 0).resolved(10), (1, 0));
    assert_eq!(Strategy::Recreate.resolved(10), (0, 0));
    let of = |replicas, unavailable| deployment(replicas, 1, unavailable).unavailable();
    assert_eq!([of(0, 3), of(2, 3), of(5, 3)], [0, 2, 3]);
}
