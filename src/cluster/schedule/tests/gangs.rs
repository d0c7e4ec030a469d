//! Pods that are placed together, pods that the caller places, and places that others hold.

use super::{Bench, asks, gpus, machine, template, with_gpus};
use super::{constraints, in_namespace, spread};
use crate::cluster::schedule::ids::PodId;

#[test]
fn a_gang_is_placed_whole_or_not_at_all() {
    let mut bench = with_gpus(&[("a", 2), ("b", 1)]);
    let one = bench.take(template("app: g", &gpus(1, 0)));
    let two = bench.take(template("app: g", &gpus(2, 0)));
    let held = bench.run("", &gpus(1, 0), "b");
    let gang = bench.scheduler.add_gang(&[two, one]);
    bench.scheduler.schedule();
    let places = |bench: &Bench, gang: &[PodId]| -> Vec<String> {
        gang.iter().map(|pod| bench.place(*pod)).collect()
    };
    let short = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. no new claims to \
                 deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found \
                 for incoming pod.";
    assert_eq!(places(&bench, &gang), [short, short]);
    assert_eq!(bench.scheduler.room(bench.id("a"), "nvidia.com/gpu"), (2, 0));
    // Another pod uses the resources that the gang could not use.
    assert_eq!(bench.schedule("", &gpus(1, 0)), "a");
    bench.scheduler.finish(held);
    bench.scheduler.schedule();
    assert!(places(&bench, &gang).iter().all(|place| place.starts_with("0/2")));
    bench.scheduler.add_node(machine("c", "", "", "allocatable: {nvidia.com/gpu: 2}")).unwrap();
    bench.scheduler.schedule();
    let mut on = places(&bench, &gang);
    on.sort();
    assert_eq!(on, ["a", "c"]);
    // It evicts no pods, whatever its priority.
    let mut bench = with_gpus(&[("a", 1)]);
    let low = bench.run("", &gpus(1, 0), "a");
    let urgent = bench.take(template("", &gpus(1, 10)));
    let gang = bench.scheduler.add_gang(&[urgent, urgent]);
    bench.scheduler.schedule();
    assert_eq!(bench.place(low), "a");
    assert!(places(&bench, &gang).iter().all(|place| place.starts_with("0/1")));
    assert_eq!(bench.scheduler.add_gang(&[]), []);
}

#[test]
fn a_gang_is_placed_without_its_deleted_pods() {
    let mut bench = with_gpus(&[("a", 1)]);
    let low = bench.run("", &gpus(1, 0), "a");
    let urgent = bench.take(template("", &gpus(1, 10)));
    let gang = bench.scheduler.add_gang(&[urgent, urgent]);
    bench.scheduler.delete(gang[1]);
    bench.scheduler.schedule();
    let none = "0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    assert!(bench.place(gang[0]).ends_with(none), "{}", bench.place(gang[0]));
    bench.scheduler.finish(low);
    bench.scheduler.schedule();
    assert_eq!([gang[0], gang[1]].map(|pod| bench.place(pod)), ["a", "gone"]);
}

#[test]
fn add_to_places_a_pod_only_where_the_filters_pass() {
    let mut bench = with_gpus(&[("a", 1), ("b", 2)]);
    let two = bench.take(template("", &gpus(2, 0)));
    let (a, b) = (bench.id("a"), bench.id("b"));
    assert_eq!(bench.scheduler.fitting(two), [b]);
    assert_eq!(bench.scheduler.add_to(two, a), None);
    let pod = bench.scheduler.add_to(two, b).unwrap();
    assert_eq!(bench.place(pod), "b");
    assert_eq!(bench.scheduler.add_to(two, b), None);
    assert_eq!(bench.scheduler.pods_on(b), [pod]);
    let named = |name: &str| format!("{{key: metadata.name, operator: In, values: [{name}]}}");
    let contradicts = format!(
        "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
         {{nodeSelectorTerms: [{{matchFields: [{}, {}]}}]}}}}}}",
        named("a"),
        named("b")
    );
    let nowhere = bench.take(template("", &contradicts));
    assert_eq!(bench.scheduler.fitting(nowhere), []);
    assert_eq!(bench.scheduler.add_to(nowhere, a), None);
    // A start that is set decides who is evicted first.
    let mut bench = with_gpus(&[("a", 1), ("b", 1)]);
    let pods = ["a", "b"].map(|on| bench.run("", &gpus(1, 0), on));
    bench.scheduler.set_started(pods[0], "2026-01-01T00:00:00Z");
    bench.schedule("", &gpus(1, 5));
    assert_eq!(pods.map(|pod| bench.place(pod)), ["a", "ends"]);
    assert_eq!(bench.schedule("", &asks("cpu: 0")), "a");
    assert!(bench.scheduler.template_of(pods[0]).requests.contains_key("nvidia.com/gpu"));
}

#[test]
fn preemption_frees_pod_slots_of_a_node() {
    for (places, urgent, evicted) in [(1, 1, 1), (2, 1, 1), (2, 2, 2)] {
        let a = machine("a", "", "", &format!("allocatable: {{pods: {places}}}"));
        let mut bench = Bench::new([a]);
        let low: Vec<PodId> = (0..places).map(|_| bench.run("", "", "a")).collect();
        let pods: Vec<PodId> = (0..urgent).map(|_| bench.add("", "priority: 5")).collect();
        bench.scheduler.schedule();
        assert_eq!(bench.scheduler.evictions().len(), evicted, "{places} places");
        for pod in low.iter().filter(|pod| bench.place(**pod) == "ends").collect::<Vec<_>>() {
            bench.scheduler.finish(*pod);
        }
        bench.scheduler.schedule();
        assert!(pods.iter().all(|pod| bench.place(*pod) == "a"), "{places} places");
        let a = bench.id("a");
        let mut held: Vec<PodId> = low.into_iter().filter(|pod| bench.place(*pod) == "a").collect();
        held.extend(pods);
        assert_eq!(bench.scheduler.pods_on(a), held);
    }
}

#[test]
fn a_reserved_node_rejects_pods_of_equal_priority() {
    for priority in [9, 10] {
        let mut bench = with_gpus(&[("a", 2)]);
        let victim = bench.run("", &gpus(2, 0), "a");
        let urgent = bench.add("", &gpus(2, 10));
        bench.scheduler.schedule();
        // It was created before the other is tried again.
        let other = bench.add("", &gpus(1, priority));
        bench.scheduler.finish(victim);
        bench.scheduler.schedule();
        let placed = [urgent, other].map(|pod| bench.place(pod) == "a");
        assert_eq!(placed, [true, false], "{priority}");
    }
}

#[test]
fn only_pods_that_were_evicted_are_waited_for() {
    let mut bench = with_gpus(&[("a", 2)]);
    let victims = [0, 1].map(|priority| bench.run("", &gpus(1, priority), "a"));
    let urgent = bench.add("", &gpus(1, 10));
    bench.scheduler.schedule();
    assert_eq!(bench.place(victims[0]), "ends");
    // A pod of higher priority is placed; the other one is deleted for another reason.
    let high = bench.take(template("", &gpus(1, 20)));
    bench.scheduler.finish(victims[0]);
    bench.scheduler.run(high, "a", None).unwrap();
    bench.scheduler.delete(victims[1]);
    bench.scheduler.retry_all();
    bench.scheduler.schedule();
    assert!(!bench.place(urgent).contains("terminating"), "{}", bench.place(urgent));
}

#[test]
fn pods_of_other_namespaces_are_not_evicted_for_the_spread() {
    for (namespace, evicted) in [("other", false), ("ml", true)] {
        let mut bench = Bench::new([
            machine("a", "zone: x", "", ""),
            machine("b", "zone: y", "taints: [{key: k, effect: NoSchedule}]", ""),
        ]);
        if !evicted {
            bench.run("app: s", "priority: 20", "a");
        }
        let low = bench.take(in_namespace(namespace, "app: s", ""));
        let low = bench.scheduler.run(low, "a", None).unwrap();
        let spreads = constraints(&[spread("zone", 1, "")]);
        bench.schedule("app: s", &format!("priority: 10, {spreads}"));
        assert_eq!(bench.place(low) == "ends", evicted, "{namespace}");
    }
}
