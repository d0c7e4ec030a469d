//! Which pods are evicted, and for whom.

use super::{Bench, asks, gpus, machine, near, node, required, template, with_gpus};
use crate::cluster::schedule::ids::PodId;
use crate::cluster::schedule::scheduler::{Options, Scheduler};
use crate::cluster::schedule::{Budget, InvalidPod, PodTemplate, TieBreak};

/// A pod that runs: node, GPUs, priority, start.
type Runs<'a> = (&'a str, i64, i32, &'a str);

/// The pods by place that are evicted for one of priority 100, and the node.
fn evicted(nodes: &[(&str, i64)], running: &[Runs<'_>], wanted: i64) -> (String, Vec<usize>) {
    let mut bench = with_gpus(nodes);
    let pods: Vec<PodId> = running
        .iter()
        .map(|(on, count, priority, started)| {
            let template = bench.take(template("", &gpus(*count, *priority)));
            let started = (!started.is_empty()).then_some(*started);
            bench.scheduler.run(template, on, started).unwrap()
        })
        .collect();
    let pod = bench.add("", &gpus(wanted, 100));
    bench.scheduler.schedule();
    let place = |pod: PodId| pods.iter().position(|pod_id| *pod_id == pod).unwrap();
    let victims = bench.scheduler.evictions().iter().map(|one| place(one.victim)).collect();
    let on = bench.scheduler.nominated(pod).map(|on| bench.scheduler.node(on).name.to_string());
    (on.unwrap_or_default(), victims)
}

#[test]
fn preemption_picks_the_node_with_the_lowest_priority_victims() {
    let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
    let two = [("a", 2), ("b", 2)];
    for (rule, running, wanted, expected) in [
        ("lowest of the highest", vec![("a", 2, 5, ""), ("b", 2, 4, "")], 2, ("b", vec![1])),
        (
            "lowest of the highest, not of the sums",
            vec![("a", 2, 5, ""), ("b", 1, 4, ""), ("b", 1, 4, "")],
            2,
            ("b", vec![1, 2]),
        ),
        (
            "lowest sum",
            vec![("a", 1, 5, ""), ("a", 1, 4, ""), ("b", 1, 5, ""), ("b", 1, 3, "")],
            2,
            ("b", vec![2, 3]),
        ),
        (
            "fewest pods",
            vec![("a", 1, 5, ""), ("a", 1, -5, ""), ("b", 2, 5, "")],
            2,
            ("b", vec![2]),
        ),
        ("latest start", vec![("a", 2, 5, early), ("b", 2, 5, late)], 2, ("b", vec![1])),
        ("latest start", vec![("a", 2, 5, late), ("b", 2, 5, early)], 2, ("a", vec![0])),
        (
            "latest start of the most important",
            vec![("a", 1, 5, early), ("a", 1, 4, late), ("b", 1, 5, late), ("b", 1, 4, early)],
            2,
            ("b", vec![2, 3]),
        ),
        (
            "earliest of several",
            vec![("a", 1, 5, early), ("a", 1, 5, late), ("b", 1, 5, late), ("b", 1, 5, late)],
            2,
            ("b", vec![2, 3]),
        ),
        (
            "a stated start is before others",
            vec![("a", 2, 5, late), ("b", 2, 5, "")],
            2,
            ("b", vec![1]),
        ),
        ("first by name", vec![("b", 2, 5, ""), ("a", 2, 5, "")], 2, ("a", vec![1])),
        (
            "only pods of lower priority",
            vec![("a", 2, 100, ""), ("b", 2, 99, "")],
            2,
            ("b", vec![1]),
        ),
        ("none of lower priority", vec![("a", 2, 100, ""), ("b", 2, 101, "")], 2, ("", vec![])),
        (
            "the most important stay",
            vec![("a", 1, 3, ""), ("a", 1, 9, ""), ("b", 2, 100, "")],
            1,
            ("a", vec![0]),
        ),
        (
            "the earlier stay",
            vec![("a", 1, 3, late), ("a", 1, 3, early), ("b", 2, 100, "")],
            1,
            ("a", vec![0]),
        ),
        (
            "the most important is evicted first",
            vec![("a", 1, 3, ""), ("a", 1, 9, ""), ("b", 2, 100, "")],
            2,
            ("a", vec![1, 0]),
        ),
        ("more than a node has", vec![("a", 2, 1, ""), ("b", 2, 1, "")], 3, ("", vec![])),
    ] {
        let (on, victims) = evicted(&two, &running, wanted);
        assert_eq!((on.as_str(), victims), expected, "{rule}");
    }
}

#[test]
fn the_message_gives_the_reason_for_no_preemption() {
    let fit = "0/2 nodes are available:";
    let tail = "no new claims to deallocate, preemption:";
    let message = |running: &[(&str, i32)], wanted: i64, more: &str| {
        let mut bench = with_gpus(&[("a", 1), ("b", 2)]);
        for (on, priority) in running {
            bench.run("", &gpus(1, *priority), on);
        }
        bench.schedule("", &format!("{}, {more}", gpus(wanted, 5)))
    };
    let short = |count: usize| format!("{fit} {count} Insufficient nvidia.com/gpu. {tail}");
    let (helps, none) = (
        "Preemption is not helpful for scheduling",
        "No preemption victims found for incoming pod",
    );
    let full = [("a", 5), ("b", 5), ("b", 5)];
    assert_eq!(message(&full, 1, ""), format!("{} {fit} 2 {none}.", short(2)));
    assert_eq!(message(&full, 2, ""), format!("{} {fit} 1 {none}, 1 {helps}.", short(2)));
    assert_eq!(message(&full, 3, ""), format!("{} {fit} 2 {helps}.", short(2)));
    let mixed = [("a", 4), ("b", 5), ("b", 5)];
    assert_eq!(message(&mixed, 2, ""), format!("{} {fit} 1 {none}, 1 {helps}.", short(2)));
    let weak = [("a", 5), ("b", 4), ("b", 5)];
    // Evicting one of them is not enough.
    assert_eq!(
        message(&weak, 2, ""),
        format!("{} {fit} 1 Insufficient nvidia.com/gpu, 1 {helps}.", short(2))
    );
    assert_eq!(
        message(&[("a", 4), ("b", 4), ("b", 4)], 1, "preemptionPolicy: Never"),
        format!("{} not eligible due to preemptionPolicy=Never.", short(2))
    );
    assert_eq!(
        message(&[("a", 5), ("b", 5), ("b", 4)], 1, ""),
        format!("{fit} 2 Insufficient nvidia.com/gpu.")
    );
}

#[test]
fn a_node_is_kept_for_the_pod_that_freed_it() {
    let mut bench = with_gpus(&[("a", 2)]);
    let victim = bench.run("", &gpus(2, 0), "a");
    let urgent = bench.add("", &gpus(2, 10));
    bench.scheduler.schedule();
    assert_eq!(bench.place(victim), "ends");
    assert_eq!(bench.scheduler.nominated(urgent), Some(bench.id("a")));
    assert_eq!(bench.place(urgent), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
    // Tried again before the victim is deleted, it evicts no other.
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert!(
        bench
            .place(urgent)
            .ends_with("not eligible due to a terminating pod on the nominated node."),
        "{}",
        bench.place(urgent)
    );
    assert_eq!(bench.scheduler.nominated(urgent), Some(bench.id("a")));
    assert_eq!(bench.scheduler.evictions().len(), 1);
    // The node is reserved against a pod of lower priority, and not against one of higher priority.
    let small = |priority: i32| gpus(1, priority);
    let mut kept = Bench { scheduler: bench.scheduler.clone() };
    kept.scheduler.finish(victim);
    let low = kept.add("", &small(9));
    kept.scheduler.schedule();
    assert_eq!([urgent, low].map(|pod| kept.place(pod) == "a"), [true, false]);
    let mut taken = Bench { scheduler: bench.scheduler.clone() };
    let high = taken.add("", &gpus(2, 11));
    taken.scheduler.schedule();
    // It does not evict the pod that ends, and waits; the node is kept for it.
    taken.scheduler.finish(victim);
    taken.scheduler.schedule();
    assert_eq!([urgent, high].map(|pod| taken.place(pod) == "a"), [false, true]);
    assert_eq!(taken.scheduler.nominated(urgent), None);
    // A deleted pod reserves nothing.
    bench.scheduler.delete(urgent);
    bench.scheduler.finish(victim);
    let low = bench.add("", &small(1));
    bench.scheduler.schedule();
    assert_eq!(bench.place(low), "a");
}

#[test]
fn preemption_resolves_anti_affinity_spread_and_port_conflicts() {
    let port = "containers: [{ports: [{hostPort: 80}]}]";
    let avoids = required("podAntiAffinity", &[near("web", "kubernetes.io/hostname")]);
    for (labels, running, spec) in [
        ("app: x", port.to_owned(), port.to_owned()),
        ("app: web", String::new(), avoids.clone()),
        ("app: x", required("podAntiAffinity", &[near("api", "kubernetes.io/hostname")]), String::new()),
        (
            "app: s",
            String::new(),
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, labelSelector: {matchLabels: {app: s}}}]"
                .to_owned(),
        ),
    ] {
        let mut bench = Bench::new([
            machine("a", "zone: x", "", ""),
            machine("b", "zone: y", "taints: [{key: k, effect: NoSchedule}]", ""),
        ]);
        let victim = bench.run(labels, &running, "a");
        let labels = if labels == "app: s" { labels } else { "app: api" };
        let pod = bench.add(labels, &format!("priority: 5, {spec}"));
        bench.scheduler.schedule();
        assert_eq!(bench.place(victim), "ends", "{spec}");
        bench.scheduler.finish(victim);
        bench.scheduler.retry_all();
        bench.scheduler.schedule();
        assert_eq!(bench.place(pod), "a", "{spec}");
    }
    // Nothing that is evicted brings a pod that is wanted as a neighbor.
    let mut bench = Bench::new([machine("a", "", "", "")]);
    let other = bench.run("app: x", "", "a");
    let wants = required("podAffinity", &[near("db", "kubernetes.io/hostname")]);
    bench.schedule("", &format!("priority: 5, {wants}"));
    assert_eq!(bench.place(other), "a");
}

#[test]
fn budgets_are_broken_last() {
    let read = |spec: &str| -> Result<Budget, InvalidPod> {
        Budget::read("ml", &node(&format!("{{spec: {{{spec}}}}}")))
    };
    let guarded = "selector: {matchLabels: {app: web}}";
    // One of three ready pods of `web` would go from a, a pod of the same priority from b.
    for (spec, on) in [
        (format!("{guarded}, minAvailable: 3"), "b"),
        (format!("{guarded}, minAvailable: 2"), "a"),
        (format!("{guarded}, minAvailable: 100%"), "b"),
        (format!("{guarded}, minAvailable: 67%"), "b"),
        (format!("{guarded}, minAvailable: 66%"), "a"),
        (format!("{guarded}, maxUnavailable: 0"), "b"),
        (format!("{guarded}, maxUnavailable: 1"), "a"),
        (format!("{guarded}, maxUnavailable: 10%"), "a"),
        (format!("{guarded}, maxUnavailable: 0%"), "b"),
        (guarded.to_owned(), "a"),
        ("selector: {}, minAvailable: 3".to_owned(), "a"),
        ("minAvailable: 3".to_owned(), "a"),
        ("selector: {matchLabels: {app: db}}, minAvailable: 3".to_owned(), "a"),
    ] {
        for (ready, expected) in [(true, on), (false, "b")] {
            let options = Options { budgets: vec![read(&spec).unwrap()], ..Options::default() };
            let nodes = [("a", 1), ("b", 1), ("c", 2)].map(|(name, gpus)| {
                machine(name, "", "", &format!("allocatable: {{nvidia.com/gpu: {gpus}}}"))
            });
            let mut bench = Bench { scheduler: Scheduler::new(nodes, &options) };
            let pods = ["a", "c", "c"]
                .map(|on| bench.run("app: web", &gpus(1, if on == "a" { 1 } else { 200 }), on));
            if ready {
                for pod in pods {
                    bench.scheduler.set_ready(pod, true);
                }
            }
            bench.run("app: x", &gpus(1, 1), "b");
            let pod = bench.add("", &gpus(1, 100));
            bench.scheduler.schedule();
            let at = bench.scheduler.nominated(pod).unwrap();
            let at = bench.scheduler.node(at).name.as_str();
            let guards = spec.contains("web");
            assert_eq!(at, if guards { expected } else { on }, "{spec}, ready: {ready}");
        }
    }
    assert!(read("selector: {matchExpressions: [{key: a, operator: Like}]}").is_err());
    // Pods that end or never got a node are neither wanted nor ready.
    for ends in [true, false] {
        let options = Options {
            budgets: vec![read(&format!("{guarded}, minAvailable: 2")).unwrap()],
            ..Options::default()
        };
        let nodes =
            ["a", "b", "c"].map(|name| machine(name, "", "", "allocatable: {nvidia.com/gpu: 1}"));
        let mut bench = Bench { scheduler: Scheduler::new(nodes, &options) };
        let web = [("a", 1), ("c", 200)].map(|(on, priority)| {
            let pod = bench.run("app: web", &gpus(1, priority), on);
            bench.scheduler.set_ready(pod, true);
            pod
        });
        bench.run("app: x", &gpus(1, 1), "b");
        let waits = bench.add("app: web", &gpus(9, 0));
        bench.scheduler.delete(if ends { web[1] } else { waits });
        let pod = bench.add("", &gpus(1, 100));
        bench.scheduler.schedule();
        assert_eq!(bench.scheduler.nominated(pod), Some(bench.id("b")), "ends: {ends}");
    }
    // The pod with a budget stays, although the other one on its node has the same priority and
    // started earlier.
    let options = Options { budgets: vec![read(guarded).unwrap()], ..Options::default() };
    let a = machine("a", "", "", "allocatable: {nvidia.com/gpu: 2}");
    let mut bench = Bench { scheduler: Scheduler::new([a], &options) };
    let other = bench.run("app: x", &gpus(1, 1), "a");
    let web = bench.run("app: web", &gpus(1, 1), "a");
    bench.scheduler.set_ready(web, true);
    bench.schedule("", &gpus(1, 100));
    assert_eq!([other, web].map(|pod| bench.place(pod)), ["ends", "a"]);
    // With one of two pods no longer ready, no pod may be evicted.
    for (ready, expected) in [(true, "a"), (false, "b")] {
        let options = Options {
            budgets: vec![read(&format!("{guarded}, minAvailable: 1")).unwrap()],
            ..Options::default()
        };
        let nodes =
            ["a", "b", "c"].map(|name| machine(name, "", "", "allocatable: {nvidia.com/gpu: 1}"));
        let mut bench = Bench { scheduler: Scheduler::new(nodes, &options) };
        let web = [("a", 1), ("c", 200)].map(|(on, priority)| {
            let pod = bench.run("app: web", &gpus(1, priority), on);
            bench.scheduler.set_ready(pod, true);
            pod
        });
        bench.scheduler.set_ready(web[1], ready);
        bench.run("app: x", &gpus(1, 1), "b");
        let pod = bench.add("", &gpus(1, 100));
        bench.scheduler.schedule();
        assert_eq!(bench.scheduler.nominated(pod), Some(bench.id(expected)), "ready: {ready}");
    }
}

#[test]
fn a_pod_that_no_longer_fits_loses_its_nominated_node() {
    // The node that was freed shrinks.
    let mut bench = with_gpus(&[("a", 1)]);
    let victim = bench.run("", &gpus(1, 0), "a");
    let urgent = bench.add("", &gpus(1, 10));
    bench.scheduler.schedule();
    let a = bench.id("a");
    bench.scheduler.finish(victim);
    bench.scheduler.change_node(a, machine("a", "", "", ""));
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(urgent), None);
    // A node with an eviction in progress is not chosen: another one is freed.
    let mut bench = with_gpus(&[("a", 1), ("b", 1)]);
    for on in ["a", "b"] {
        bench.run("", &gpus(1, i32::from(on == "b")), on);
    }
    let urgent = bench.add("", &gpus(1, 10));
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(urgent), Some(bench.id("a")));
    let a = bench.id("a");
    let cordoned = "allocatable: {nvidia.com/gpu: 1}";
    bench.scheduler.change_node(a, machine("a", "", "unschedulable: true", cordoned));
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(urgent), Some(bench.id("b")));
    assert_eq!(bench.scheduler.evictions().len(), 2);
    // A node is kept for one of lower priority until one of higher priority frees more of it.
    let mut bench = with_gpus(&[("a", 2)]);
    let victims = [0, 1].map(|priority| bench.run("", &gpus(1, priority), "a"));
    let urgent = bench.add("", &gpus(1, 10));
    bench.scheduler.schedule();
    assert_eq!(victims.map(|pod| bench.place(pod) == "ends"), [true, false]);
    let more = bench.add("", &gpus(2, 20));
    bench.scheduler.schedule();
    assert_eq!(bench.place(victims[1]), "ends");
    assert_eq!([urgent, more].map(|pod| bench.scheduler.nominated(pod).is_some()), [false, true]);
}

#[test]
fn a_pod_does_not_evict_its_affinity_target() {
    let wants = required("podAffinity", &[near("db", "kubernetes.io/hostname")]);
    let mut bench = with_gpus(&[("a", 2)]);
    bench.run("app: db", &gpus(1, 10), "a");
    let other = bench.run("app: x", &gpus(1, 1), "a");
    bench.schedule("", &format!("{wants}, {}", gpus(1, 10)));
    assert_eq!(bench.place(other), "ends");
    let mut bench = with_gpus(&[("a", 1)]);
    let db = bench.run("app: db", &gpus(1, 0), "a");
    let message = bench.schedule("", &format!("{wants}, {}", gpus(1, 10)));
    assert_eq!(bench.place(db), "a");
    assert!(
        message.ends_with(
            "preemption: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
        ),
        "{message}"
    );
}

#[test]
fn ties_are_counted_where_several_nodes_or_victims_are_as_good() {
    let mut bench = with_gpus(&[("a", 1), ("b", 1)]);
    bench.run("", &gpus(1, 0), "a");
    bench.run("", &gpus(1, 1), "b");
    bench.schedule("", &gpus(2, 0));
    assert_eq!(bench.scheduler.ties(), 0, "no node fits");
    bench.schedule("", &gpus(1, 5));
    assert_eq!(bench.scheduler.ties(), 0, "one node is the best to free");
    let mut bench = with_gpus(&[("a", 1), ("b", 1)]);
    for on in ["a", "b"] {
        bench.run("", &gpus(1, 0), on);
    }
    bench.schedule("", &gpus(1, 5));
    assert_eq!(bench.scheduler.ties(), 1);
}

/// Records each call, and the number of nodes in it.
struct Asked(Vec<usize>);

impl TieBreak for Asked {
    fn choose(&mut self, _: &PodTemplate, nodes: &[&str]) -> Option<usize> {
        self.0.push(nodes.len());
        Some(nodes.len())
    }
}

#[test]
fn the_tie_callback_gets_two_or_more_nodes_and_may_be_invalid() {
    let mut bench = with_gpus(&[("a", 1), ("b", 1)]);
    let mut requested = Asked(Vec::new());
    let pods = [0, 0, 5].map(|priority| {
        let pod = bench.add("", &gpus(1, priority));
        bench.scheduler.schedule_with(&mut requested);
        pod
    });
    // Of two nodes to free one is better.
    let mut one = with_gpus(&[("a", 1), ("b", 1)]);
    let mut once = Asked(Vec::new());
    for priority in [0, 3, 5] {
        one.add("", &gpus(1, priority));
        one.scheduler.schedule_with(&mut once);
    }
    assert_eq!((once.0, one.scheduler.ties()), (vec![2], 1));
    // Two nodes for the first pod, one for the second; two to free for the third.
    assert_eq!(requested.0, [2, 2]);
    assert_eq!(pods.map(|pod| bench.place(pod))[..2], ["ends", "b"]);
}

#[test]
fn of_two_pods_with_one_port_the_first_that_leaves_frees_it() {
    let port = |priority: i32| {
        format!("priority: {priority}, containers: [{{ports: [{{hostPort: 80}}]}}]")
    };
    let mut bench = Bench::new([machine("a", "", "", "")]);
    let victim = bench.run("", &port(0), "a");
    let stays = bench.run("", &port(10), "a");
    let pod = bench.add("", &port(5));
    bench.scheduler.schedule();
    assert_eq!((bench.place(victim).as_str(), bench.place(stays).as_str()), ("ends", "a"));
    bench.scheduler.finish(victim);
    bench.scheduler.schedule();
    assert_eq!(bench.place(pod), "a");
    // Now that the port is held once more, another pod does not get it.
    let other = bench.schedule("", &port(5));
    assert!(
        other.contains("1 node(s) didn't have free ports for the requested pod ports"),
        "{other}"
    );
}

#[test]
fn the_pending_message_is_updated_to_the_current_reason() {
    let port = "ports: [{hostPort: 80}]";
    let sized = machine("a", "", "", "allocatable: {cpu: 1}");
    let mut bench = Bench::new([sized]);
    let held = bench.run("", &asks("cpu: 1"), "a");
    let waits =
        bench.add("", &format!("containers: [{{{port}, resources: {{requests: {{cpu: 1}}}}}}]"));
    bench.scheduler.schedule();
    assert!(bench.place(waits).starts_with("0/1 nodes are available: 1 Insufficient cpu. "));
    bench.run("", &format!("containers: [{{{port}}}]"), "a");
    bench.scheduler.finish(held);
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    let ports = "1 node(s) didn't have free ports for the requested pod ports";
    let message = bench.place(waits);
    assert!(message.starts_with(&format!("0/1 nodes are available: {ports}. ")), "{message}");
}
