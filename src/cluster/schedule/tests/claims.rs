//! Claims of pods that run already.

use super::{Bench, machine, node, template};
use crate::cluster::schedule::scheduler::{Options, Scheduler};

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
