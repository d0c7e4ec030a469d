//! Which pending pods are tried again after an event.

use super::{Bench, asks, constraints, in_namespace, machine, near, required, spread, template};
use crate::cluster::Machine;
use crate::cluster::schedule::ids::PodId;
use crate::cluster::schedule::queue::{Event, Hints, Place};
use crate::cluster::schedule::reason::Plugins;
use crate::cluster::schedule::scheduler::{Options, Scheduler};
use std::sync::Arc;

/// An event.
enum Happens {
    /// A pod of these labels and spec is bound.
    Bound(&'static str, &'static str),
    /// A running pod is deleted; its index in the list of the case.
    Gone(usize),
    NodeAdded(Arc<Machine>),
    /// The first node changes.
    NodeChanged(Arc<Machine>),
}

use Happens::{Bound, Gone, NodeAdded, NodeChanged};

/// Whether a pod of app `s` that found no node is tried again.
fn tried_again(
    nodes: &[Arc<Machine>],
    running: &[(&str, &str)],
    spec: &str,
    happens: &Happens,
) -> bool {
    let mut options = Options::default();
    options.storage.complete();
    let mut bench = Bench { scheduler: Scheduler::new(nodes.iter().cloned(), &options) };
    let pods: Vec<PodId> =
        running.iter().map(|(labels, spec)| bench.run(labels, spec, "a")).collect();
    let waiting = bench.add("app: s", spec);
    bench.scheduler.schedule();
    assert!(bench.scheduler.rejection(waiting).is_some(), "{spec} waits");
    match happens {
        Bound(namespace, labels) => {
            let template = bench.take(in_namespace(namespace, labels, ""));
            let pod = bench.scheduler.push(template);
            let on = bench.id("a");
            bench.scheduler.bind(pod, on);
        }
        Gone(at) => bench.scheduler.finish(pods[*at]),
        NodeAdded(machine) => _ = bench.scheduler.add_node(Arc::clone(machine)).unwrap(),
        NodeChanged(machine) => {
            let a = bench.id("a");
            bench.scheduler.change_node(a, Arc::clone(machine));
        }
    }
    bench.scheduler.hear();
    bench.scheduler.pods[waiting.index()].place != Place::Unschedulable
}

fn plain(name: &str, labels: &str) -> Arc<Machine> {
    machine(name, labels, "", "")
}

fn tainted(name: &str, key: &str) -> Arc<Machine> {
    machine(name, "", &format!("taints: [{{key: {key}, effect: NoSchedule}}]"), "")
}

fn sized(name: &str, cpu: &str, labels: &str) -> Arc<Machine> {
    machine(name, labels, "", &format!("allocatable: {{cpu: {cpu}}}"))
}

#[test]
fn a_pod_without_capacity_is_retried_when_capacity_may_grow() {
    let nodes = [sized("a", "1", ""), tainted("b", "k")];
    let running = [("app: x", asks("cpu: 1"))];
    let running = running.each_ref().map(|(labels, spec)| (*labels, spec.as_str()));
    for (happens, expected) in [
        (Gone(0), true),
        (Bound("ml", "app: s"), false),
        (NodeAdded(sized("c", "1", "")), true),
        (NodeAdded(sized("c", "999m", "")), false),
        (NodeChanged(sized("a", "2", "")), true),
        (NodeChanged(sized("a", "500m", "")), false),
        (NodeChanged(sized("a", "1", "pool: x")), false),
        // Only what it requests counts.
        (NodeChanged(machine("a", "", "", "allocatable: {cpu: 1, memory: 1Gi}")), false),
        // The filter hears of new nodes, and so of every taint.
        (
            NodeChanged(machine(
                "a",
                "",
                "taints: [{key: k, effect: PreferNoSchedule}]",
                "allocatable: {cpu: 1}",
            )),
            true,
        ),
    ] {
        assert_eq!(tried_again(&nodes[..1], &running, &asks("cpu: 1"), &happens), expected);
    }
    // The taint of b is a reason too: removing it from another node does not help.
    assert!(!tried_again(&nodes, &running, &asks("cpu: 1"), &NodeAdded(tainted("c", "k"))));
    assert!(tried_again(&nodes, &running, &asks("cpu: 1"), &NodeAdded(sized("c", "0", ""))));
}

#[test]
fn a_pod_refused_by_nodes_is_retried_when_a_node_may_accept_it() {
    let cordoned = |name: &str, labels: &str| machine(name, labels, "unschedulable: true", "");
    let selector = "nodeSelector: {pool: x}";
    let named = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
                 {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: Exists}], \
                 matchFields: [{key: metadata.name, operator: NotIn, values: [c]}]}, {}]}}}";
    for (nodes, spec, happens, expected) in [
        (vec![tainted("a", "k")], "", NodeChanged(plain("a", "")), true),
        (vec![tainted("a", "k")], "", NodeChanged(tainted("a", "l")), false),
        (vec![tainted("a", "k")], "", NodeAdded(tainted("b", "k")), false),
        (vec![tainted("a", "k")], "", NodeAdded(plain("b", "")), true),
        (vec![tainted("a", "k")], "", Gone(0), false),
        (vec![cordoned("a", "")], "", NodeChanged(plain("a", "")), true),
        (vec![cordoned("a", "")], "", NodeChanged(cordoned("a", "pool: x")), false),
        (vec![cordoned("a", "")], "", NodeAdded(cordoned("b", "")), false),
        (vec![cordoned("a", "")], "", NodeAdded(plain("b", "")), true),
        (vec![cordoned("a", "")], "", Gone(0), false),
        // The node that changes was never cordoned.
        (
            vec![tainted("a", "k"), cordoned("b", "")],
            "",
            NodeChanged(machine("a", "pool: x", "taints: [{key: k, effect: NoSchedule}]", "")),
            false,
        ),
        // It was always tolerated, and selected: another node keeps the pod out.
        (vec![cordoned("a", ""), tainted("b", "k")], "", NodeChanged(cordoned("a", "p: x")), false),
        (
            vec![cordoned("a", "pool: x"), plain("b", "")],
            selector,
            NodeChanged(cordoned("a", "pool: x, q: x")),
            false,
        ),
        (vec![plain("a", "pool: y")], selector, NodeChanged(plain("a", "pool: x")), true),
        (vec![plain("a", "pool: y")], selector, NodeChanged(plain("a", "pool: z")), false),
        (vec![plain("a", "")], selector, NodeAdded(plain("b", "pool: x")), true),
        (vec![plain("a", "")], selector, NodeAdded(plain("b", "pool: y")), false),
        (vec![plain("a", "")], selector, Gone(0), false),
        (vec![plain("a", "")], named, NodeAdded(plain("b", "pool: x")), true),
        (vec![plain("a", "")], named, NodeAdded(plain("b", "")), false),
        (vec![plain("a", "")], named, NodeAdded(plain("c", "pool: x")), false),
        // Without any node there is no filter to blame.
        (vec![], "", NodeAdded(tainted("b", "k")), true),
        // The filter that finds no claim hears of new nodes, though none brings one.
        (
            vec![plain("a", "")],
            "volumes: [{persistentVolumeClaim: {claimName: c}}]",
            NodeAdded(plain("b", "")),
            true,
        ),
        (
            vec![plain("a", "")],
            "volumes: [{persistentVolumeClaim: {claimName: c}}]",
            NodeChanged(plain("a", "pool: x")),
            false,
        ),
    ] {
        let running: &[(&str, &str)] = if nodes.is_empty() { &[] } else { &[("app: x", "")] };
        let found = tried_again(&nodes, running, spec, &happens);
        assert_eq!(found, expected, "{spec} on {} nodes", nodes.len());
    }
}

#[test]
fn a_pod_blocked_by_other_pods_is_retried_when_they_change() {
    let port = "containers: [{ports: [{hostPort: 80}]}]";
    let (zone_x, zone_y) = (
        plain("a", "zone: x"),
        machine("b", "zone: y", "taints: [{key: k, effect: NoSchedule}]", ""),
    );
    let no_zone = plain("a", "");
    let spreads = constraints(&[spread("zone", 1, "")]);
    let wants = required("podAffinity", &[near("db", "zone")]);
    let wants_two = required("podAffinity", &[near("db", "zone"), near("cache", "zone")]);
    let avoids = required("podAntiAffinity", &[near("web", "zone")]);
    let tainted_x = machine("a", "zone: x", "taints: [{key: k, effect: PreferNoSchedule}]", "");
    let hard_x = machine("a", "zone: x", "taints: [{key: k, effect: NoSchedule}]", "");
    let running = [("app: s", ""), ("app: web", ""), ("app: x", port)];
    for (at, (nodes, spec, happens, expected)) in [
        (vec![&zone_x], port, Gone(2), true),
        (vec![&zone_x], port, Gone(1), false),
        (vec![&zone_x], port, NodeAdded(plain("c", "")), true),
        (vec![&zone_x], port, NodeChanged(plain("a", "zone: z")), false),
        (vec![&zone_x], port, Bound("ml", "app: s"), false),
        (vec![&zone_x, &zone_y], &*spreads, Gone(0), true),
        (vec![&zone_x, &zone_y], &spreads, Gone(1), false),
        (vec![&zone_x, &zone_y], &spreads, Bound("ml", "app: s"), true),
        (vec![&zone_x, &zone_y], &spreads, Bound("other", "app: s"), false),
        (vec![&zone_x, &zone_y], &spreads, Bound("ml", "app: t"), false),
        (vec![&zone_x, &zone_y], &spreads, NodeAdded(plain("c", "zone: z")), true),
        (vec![&zone_x, &zone_y], &spreads, NodeChanged(plain("a", "zone: z")), true),
        (vec![&zone_x, &zone_y], &spreads, NodeChanged(plain("a", "zone: x, p: x")), false),
        // Its domain is gone, or what is counted there.
        (vec![&zone_x, &zone_y], &spreads, NodeChanged(plain("a", "")), true),
        (vec![&zone_x, &zone_y], &spreads, NodeChanged(tainted_x.clone()), true),
        (vec![&zone_x, &zone_y], &spreads, NodeChanged(hard_x.clone()), true),
        (vec![&zone_x], &wants, Bound("ml", "app: db"), true),
        (vec![&zone_x], &wants, Bound("ml", "app: x"), false),
        (vec![&zone_x], &wants_two, Bound("ml", "app: db"), false),
        (vec![&zone_x], &wants, Gone(1), false),
        (vec![&zone_x], &wants, NodeAdded(plain("c", "zone: x")), true),
        (vec![&zone_x], &wants, NodeAdded(machine("c", "", "unschedulable: true", "")), false),
        (vec![&zone_x], &wants, NodeChanged(plain("a", "zone: z")), true),
        (vec![&zone_x], &wants, NodeChanged(plain("a", "zone: x, p: x")), false),
        (vec![&zone_x], &wants, NodeChanged(plain("a", "")), false),
        (vec![&no_zone], &wants, NodeChanged(plain("a", "zone: z")), true),
        (vec![&zone_x], &avoids, Gone(1), true),
        (vec![&zone_x], &avoids, Gone(0), false),
        (vec![&zone_x], &avoids, Bound("ml", "app: web"), false),
        (vec![&zone_x], &avoids, NodeAdded(plain("c", "")), true),
        (vec![&zone_x], &avoids, NodeChanged(plain("a", "zone: z")), true),
        (vec![&zone_x], &avoids, NodeChanged(plain("a", "zone: x, p: x")), false),
        (vec![&zone_x], &avoids, NodeChanged(plain("a", "")), true),
    ]
    .into_iter()
    .enumerate()
    {
        let nodes: Vec<Arc<Machine>> = nodes.into_iter().cloned().collect();
        assert_eq!(tried_again(&nodes, &running, spec, &happens), expected, "case {at}: {spec}");
    }
    // A new node without the label is in no domain.
    let lacks = machine("c", "", "taints: [{key: k, effect: NoSchedule}]", "");
    let nodes = [zone_x, zone_y];
    assert!(!tried_again(&nodes, &running, &spreads, &NodeAdded(lacks)));
}

#[test]
fn a_released_nomination_retries_pods_up_to_its_priority() {
    let mut bench = Bench::new([plain("a", "")]);
    let gone = bench.take(template("app: x", ""));
    for (priority, up_to, expected) in
        [(5, Some(5), true), (6, Some(5), false), (4, Some(5), true), (6, None, true)]
    {
        let waits = bench.take(template("", &format!("priority: {priority}")));
        let scheduler = &bench.scheduler;
        let hints = Hints {
            nodes: &scheduler.nodes,
            index: &scheduler.index,
            templates: &scheduler.templates,
        };
        let pod = &scheduler.templates[waits.index()];
        for (plugins, blames) in [(Plugins::FIT, true), (Plugins::TAINTS, false)] {
            let event = Event::Deleted(vec![gone], up_to);
            assert_eq!(
                hints.helps(&event, pod, &[], plugins),
                expected && blames,
                "{priority} {up_to:?}"
            );
        }
        // No filter is to blame for an error.
        assert!(hints.helps(&Event::Bound(gone), pod, &[], Plugins::default()));
        assert!(hints.helps(&Event::NodeAdded(bench.id("a")), pod, &[], Plugins::default()));
    }
}

#[test]
fn a_pod_that_was_just_tried_comes_after_the_others() {
    // Both request the only free device; `first` was tried a moment ago.
    let place = |time_passes: bool| {
        let mut bench = Bench::new([sized("a", "1", "")]);
        let held = bench.run("", &asks("cpu: 1"), "a");
        let first = bench.add("app: first", &asks("cpu: 1"));
        bench.scheduler.schedule();
        if time_passes {
            bench.scheduler.time_passes();
        }
        let second = bench.add("app: second", &asks("cpu: 1"));
        bench.scheduler.finish(held);
        bench.scheduler.schedule();
        [first, second].map(|pod| bench.place(pod) == "a")
    };
    assert_eq!(place(false), [false, true]);
    // Later the one that waits the longer: it was tried before the other was created.
    assert_eq!(place(true), [true, false]);
}

#[test]
fn retry_all_retries_pending_pods() {
    let mut bench = Bench::new([tainted("a", "k")]);
    let waits = bench.add("", "");
    let gated = bench.add("", "schedulingGates: [{name: g}]");
    let foreign = bench.add("", "schedulerName: other");
    bench.scheduler.schedule();
    let blocked = "Scheduling is blocked due to non-empty scheduling gates";
    assert_eq!([gated, foreign].map(|pod| bench.place(pod)), [blocked, ""]);
    let tainted = "1 node(s) had untolerated taint(s)";
    assert!(bench.place(waits).starts_with(&format!("0/1 nodes are available: {tainted}.")));
    bench.scheduler.add_node(self::tainted("b", "k")).unwrap();
    bench.scheduler.schedule();
    assert!(bench.place(waits).starts_with("0/1 "), "b does not help");
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert!(bench.place(waits).starts_with("0/2 "), "{}", bench.place(waits));
    // One that is deleted is not.
    bench.scheduler.delete(waits);
    bench.scheduler.add_node(plain("c", "")).unwrap();
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert_eq!([waits, foreign].map(|pod| bench.place(pod)), ["gone", ""]);
}

#[test]
fn pods_are_tried_by_priority_and_then_as_they_came() {
    let mut bench = Bench::new([sized("a", "2", "")]);
    let low = bench.add("", &asks("cpu: 1"));
    let early = bench.add("", &format!("priority: 5, {}", asks("cpu: 1")));
    let late = bench.add("", &format!("priority: 5, {}", asks("cpu: 1")));
    let lowest = bench.add("", &format!("priority: -1, {}", asks("cpu: 1")));
    bench.scheduler.schedule();
    let placed = [low, early, late, lowest].map(|pod| bench.place(pod) == "a");
    assert_eq!(placed, [false, true, true, false]);
}

#[test]
fn a_changed_node_keeps_its_pods_and_applies_its_new_limits() {
    let mut bench = Bench::new([sized("a", "2", "pool: x")]);
    let pod = bench.run("", &asks("cpu: 1"), "a");
    let a = bench.id("a");
    bench.scheduler.change_node(a, sized("a", "3", "pool: y"));
    assert_eq!(bench.scheduler.room(a, "cpu"), (3000, 1000));
    assert_eq!(bench.scheduler.pods_on(a), [pod]);
    for (spec, answers) in [
        (asks("cpu: 2"), "."),
        (asks("cpu: 2001m"), "I"),
        ("nodeSelector: {pool: y}".to_owned(), "."),
        ("nodeSelector: {pool: x}".to_owned(), "N"),
    ] {
        assert_eq!(bench.answers("", &spec), answers, "{spec}");
    }
    bench.scheduler.change_node(a, machine("a", "", "", "allocatable: {cpu: 3, pods: 1}"));
    assert_eq!(bench.answers("", ""), "M");
    // Not ready, a node is tainted.
    let unready = "conditions: [{type: Ready, status: 'False'}]";
    bench.scheduler.change_node(a, machine("a", "", "", unready));
    assert_eq!(bench.answers("", ""), "T");
    assert_eq!(Bench::new([machine("a", "", "", unready)]).answers("", ""), "T");
    let options = Options { ignore_ready: true, ..Options::default() };
    let scheduler = Scheduler::new([machine("a", "", "", unready)], &options);
    assert_eq!(Bench { scheduler }.answers("", ""), ".");
}

#[test]
fn each_pod_that_goes_may_help_one_that_waits() {
    let port = "containers: [{ports: [{hostPort: 80, containerPort: 80}]}]";
    let options = Options::default();
    let mut bench = Bench { scheduler: Scheduler::new([plain("a", "")], &options) };
    let [other, holder] =
        [("app: x", ""), ("app: y", port)].map(|(scheduler, spec)| bench.run(scheduler, spec, "a"));
    let waiting = bench.add("app: s", port);
    bench.scheduler.schedule();
    assert!(bench.scheduler.rejection(waiting).is_some());
    // Both are deleted before the next cycle; only the second one used the port.
    bench.scheduler.finish(other);
    bench.scheduler.finish(holder);
    bench.scheduler.hear();
    assert!(bench.scheduler.pods[waiting.index()].place != Place::Unschedulable);
}
