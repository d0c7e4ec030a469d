//! Claims of pods that run already.

use super::{Bench, machine, node, template};
use crate::cluster::schedule::ids::PodId;
use crate::cluster::schedule::queue::Place;
use crate::cluster::schedule::scheduler::{Options, Scheduler};
use std::collections::BTreeSet;

#[test]
fn a_pod_that_runs_keeps_the_devices_of_its_claim() {
    let mut options = Options::default();
    for text in [
        "{kind: DeviceClass, metadata: {name: gpu}}",
        "{kind: ResourceClaimTemplate, metadata: {name: one, namespace: ml}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}",
        "{kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}",
        "{kind: ResourceClaim, metadata: {name: llm-x-one-y, namespace: ml, annotations: {resource.kubernetes.io/pod-claim-name: one}}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}, status: {reservedFor: [{name: llm-x}], allocation: {devices: {results: [{request: gpu, driver: d, pool: a, device: gpu-0}]}, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}}",
    ] {
        options.add(&node(text));
    }
    let machines = [machine("a", "", "", "allocatable: {cpu: 8}")];
    let mut cluster = Bench { scheduler: Scheduler::new(machines, &options) };
    let mut template =
        template("", "resourceClaims: [{name: one, resourceClaimTemplateName: one}]");
    template.name = "llm-*".into();
    let id = cluster.take(template);
    let node = cluster.id("a");
    let pod = cluster.scheduler.add_to(id, node).expect("it runs there already");
    // The device is not free for another pod before this one is gone.
    let other = cluster.scheduler.add(id);
    cluster.scheduler.schedule();
    assert!(cluster.place(other).contains("cannot allocate all claims"));
    cluster.scheduler.finish(pod);
    cluster.scheduler.schedule();
    assert_eq!(cluster.place(other), "a");
}

const ALONE: &str = "{kind: PersistentVolumeClaim, metadata: {name: NAME, namespace: ml, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {accessModes: [ReadWriteOncePod], volumeName: NAME, resources: {requests: {storage: 1Gi}}}}";
const VOLUME: &str = "{kind: PersistentVolume, metadata: {name: NAME}, spec: {accessModes: [ReadWriteOncePod], capacity: {storage: 1Gi}, claimRef: {namespace: ml, name: NAME}}}";

fn volumes(claims: &[&str], more: &str) -> String {
    let named =
        |claim: &&str| format!("{{name: {claim}, persistentVolumeClaim: {{claimName: {claim}}}}}");
    let volumes: Vec<String> = claims.iter().map(named).collect();
    format!("volumes: [{}], {more}", volumes.join(", "))
}

/// Nodes `a` and `b` with bound claims `one` and `two` that one pod may use.
fn with_claims() -> Bench {
    let mut options = Options::default();
    for name in ["one", "two"] {
        options.add(&node(&ALONE.replace("NAME", name)));
        options.add(&node(&VOLUME.replace("NAME", name)));
    }
    let machines = ["a", "b"].map(|name| machine(name, "", "", "allocatable: {cpu: 8}"));
    Bench { scheduler: Scheduler::new(machines, &options) }
}

#[test]
fn a_claim_of_one_pod_counts_once_whoever_uses_it() {
    let high = volumes(&["one"], "priority: 10, containers: [{}]");
    for (running, expected) in [
        // Its only user is evicted.
        (vec![("a", "one", 0)], "a"),
        // Pods of both nodes use it, and either is enough: the one on `b` stays.
        (vec![("a", "one", 0), ("b", "one", 10)], "a"),
        (vec![("a", "one", 10), ("b", "one", 0)], "b"),
        // A pod that uses another claim is no help.
        (vec![("a", "two", 0), ("b", "one", 10)], "nowhere"),
    ] {
        let mut bench = with_claims();
        for (on, claim, priority) in &running {
            let spec = volumes(&[claim], &format!("priority: {priority}, containers: [{{}}]"));
            bench.run("", &spec, on);
        }
        let pod = bench.add("", &high);
        bench.scheduler.schedule();
        let on = bench.scheduler.nominated(pod).map(|on| bench.scheduler.node(on).name.to_string());
        assert_eq!(on.as_deref().unwrap_or("nowhere"), expected, "{running:?}");
    }
}

#[test]
fn each_claim_of_one_pod_that_is_in_use_has_to_be_freed() {
    let high = volumes(&["one", "two"], "priority: 10, containers: [{}]");
    // Two claims are in use, and a pod of `a` uses only one of them.
    let mut bench = with_claims();
    bench.run("", &volumes(&["one"], "containers: [{}]"), "a");
    bench.run("", &volumes(&["two"], "containers: [{}]"), "b");
    let pod = bench.add("", &high);
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(pod), None);
    // The next one uses both.
    bench.run("", &volumes(&["one", "two"], "containers: [{}]"), "b");
    let pod = bench.add("", &high);
    bench.scheduler.schedule();
    assert_eq!(bench.scheduler.nominated(pod), Some(bench.id("b")));
}

#[test]
fn a_pod_that_names_its_node_binds_no_claim_that_waits_for_the_scheduler() {
    let mut options = Options::default();
    for text in [
        "{kind: StorageClass, metadata: {name: late}, provisioner: p, volumeBindingMode: WaitForFirstConsumer}",
        "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: ml}, spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
        "{kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: late, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}, status: {phase: Available}}",
    ] {
        options.add(&node(text));
    }
    let machines = [machine("a", "", "", "allocatable: {cpu: 8}")];
    let mut bench = Bench { scheduler: Scheduler::new(machines, &options) };
    let bound = |bench: &Bench| bench.scheduler.storage().status().any(|claim| claim.bound);
    let named = bench.add("", &volumes(&["data"], "nodeName: a, containers: [{}]"));
    assert_eq!(bench.place(named), "a");
    assert!(!bound(&bench));
    let why = bench.scheduler.unanswered(named);
    assert!(why.contains("`nodeName` passes the scheduler by"), "{why}");
    // A pod that is scheduled binds it.
    let pod = bench.add("", &volumes(&["data"], "containers: [{}]"));
    bench.scheduler.schedule();
    assert_eq!(bench.place(pod), "a");
    assert!(bound(&bench));
}

const GPU_CLASS: &str = "{kind: DeviceClass, metadata: {name: gpu}}";

/// Nodes `a` and `b` with these objects.
fn with_devices(objects: &[&str]) -> Bench {
    let mut options = Options::default();
    for text in objects {
        options.add(&node(text));
    }
    options.storage.only_answering(BTreeSet::new());
    let machines = ["a", "b"].map(|name| machine(name, "", "", "allocatable: {cpu: 8}"));
    Bench { scheduler: Scheduler::new(machines, &options) }
}

fn add(bench: &mut Bench, spec: &str) -> PodId {
    let mut template = template("", spec);
    template.name = "pod".into();
    let id = bench.take(template);
    let pod = bench.scheduler.add(id);
    bench.scheduler.schedule();
    pod
}

#[test]
fn a_pod_whose_try_ended_in_an_error_is_tried_again_after_every_change() {
    let mut bench = with_devices(&[
        "{kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: \"device.attributes['d'].model == 'x'\"}}]}}",
        "{kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}",
        "{kind: ResourceClaim, metadata: {name: one, namespace: ml}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}",
    ]);
    let waits = add(&mut bench, "resourceClaims: [{name: one, resourceClaimName: one}]");
    assert!(
        bench.place(waits).starts_with("running \"DynamicResources\" filter plugin: class gpu")
    );
    let other = bench.take(template("", ""));
    let other = bench.scheduler.push(other);
    let on = bench.id("b");
    bench.scheduler.bind(other, on);
    bench.scheduler.hear();
    assert_ne!(bench.scheduler.pods[waits.index()].place, Place::Unschedulable);
}

#[test]
fn slices_for_other_nodes_complete_a_pool() {
    let slice = |name: &str, node: &str, generation: usize| {
        format!(
            "{{kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{driver: d, nodeName: {node}, \
             pool: {{name: rack, generation: {generation}, resourceSliceCount: 2}}, devices: \
             [{{name: {name}}}]}}}}"
        )
    };
    let wants = "{kind: ResourceClaim, metadata: {name: one, namespace: ml}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}";
    for (slices, expected) in [
        (vec![slice("left", "a", 1), slice("right", "b", 1)], "a"),
        // One slice is missing.
        (vec![slice("left", "a", 1)], "waits"),
        // The driver writes a new generation, and that of `a` is not there yet.
        (vec![slice("left", "a", 1), slice("right", "b", 2), slice("more", "b", 2)], "b"),
    ] {
        let mut objects = vec![GPU_CLASS, wants];
        objects.extend(slices.iter().map(String::as_str));
        let mut bench = with_devices(&objects);
        let pod = add(&mut bench, "resourceClaims: [{name: one, resourceClaimName: one}]");
        let place = bench.place(pod);
        let place = if place.contains("cannot allocate all claims") { "waits" } else { &place };
        assert_eq!(place, expected, "{slices:?}");
    }
}

#[test]
fn a_claim_of_a_pod_that_waits_for_its_volume_is_not_allocated_yet() {
    let mut bench = with_devices(&[
        GPU_CLASS,
        "{kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, allNodes: true, pool: {name: all, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}",
        "{kind: ResourceClaim, metadata: {name: one, namespace: ml}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}",
        "{kind: StorageClass, metadata: {name: late}, provisioner: p, volumeBindingMode: WaitForFirstConsumer}",
        "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: ml}, spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
    ]);
    let claims = "resourceClaims: [{name: one, resourceClaimName: one}]";
    let first = add(&mut bench, &volumes(&["data"], claims));
    assert_eq!(bench.place(first), "a");
    assert!(bench.scheduler.devices().status().all(|claim| claim.devices.is_none()));
    let second = add(&mut bench, claims);
    let why = bench.place(second);
    assert!(why.contains("resource claim ml/one is in the process of being allocated"), "{why}");
}
