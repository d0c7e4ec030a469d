//! What becomes of pods on the nodes that they are bound to, where the scheduler does not look at it:
//! taints `NoExecute` that they tolerate for some time only, after which the controller of evictions by
//! taints deletes them, each time they come again; and volumes of a CSI driver that a node lacks, which are
//! neither attached nor mounted there.
//!
//! In: a placement, or the pods of a rollout. Out: the taint or the driver with its nodes, and why the
//! pods are not judged.

use super::NotJudged;
use super::claims::Claim;
use super::not_judged::Open;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::{PodId, PodState, Scheduler};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Why a pod does not start on its node, or does not stay.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// A taint as text, and for how many seconds it is tolerated.
    Taint(EcoString, i64),
    /// The CSI driver that its CSINode lacks.
    Driver(EcoString),
}

/// Why a pod does not start on its node, or does not stay, and the node. A pod that `ran` was there
/// before taints of a node that fails, which go when it is well again, and has its volumes.
fn cause(scheduler: &Scheduler, pod: PodId, ran: bool) -> Option<(Cause, EcoString)> {
    let PodState::Bound(node) = scheduler.state(pod) else { return None };
    let machine = scheduler.node(node);
    let limit = scheduler.template_of(pod).lasts_on(machine);
    let limit = limit.filter(|(taint, _)| !(ran && taint.key.starts_with("node.kubernetes.io/")));
    let taint = limit.map(|(taint, seconds)| Cause::Taint(eco_format!("{taint}"), seconds));
    let driver = || scheduler.lacks_driver(pod).filter(|_| !ran).map(Cause::Driver);
    Some((taint.or_else(driver)?, machine.name.clone()))
}

impl Cause {
    fn what(&self) -> EcoString {
        match self {
            Self::Taint(taint, _) => eco_format!("taint {taint}"),
            Self::Driver(driver) => eco_format!("CSI driver {driver}"),
        }
    }

    fn why(&self, nodes: &BTreeSet<EcoString>) -> EcoString {
        let first = nodes.first().map_or("", EcoString::as_str);
        let more = match nodes.len() {
            0 | 1 => EcoString::new(),
            all => eco_format!(" and {} more", all - 1),
        };
        match self {
            Self::Taint(_, seconds) => eco_format!(
                "the pods tolerate this taint of node {first}{more} for {seconds} seconds: they are evicted \
                 after that, and again each time they are bound there"
            ),
            Self::Driver(_) => eco_format!(
                "CSINode {first}{more} does not list it: the pods are bound to that node, and start when the \
                 driver has registered there"
            ),
        }
    }

    fn sentence(&self, node: EcoString) -> EcoString {
        eco_format!("{}: {}", self.what(), self.why(&BTreeSet::from([node])))
    }
}

/// What keeps a new pod from running on its node, and why it is not judged.
pub(in crate::pipeline) fn of_pod(
    scheduler: &Scheduler,
    pod: PodId,
) -> Option<(EcoString, EcoString)> {
    let (cause, node) = cause(scheduler, pod, false)?;
    Some((cause.what(), cause.why(&BTreeSet::from([node]))))
}

/// Why it is not judged whether pods of a rollout run where they are.
pub(in crate::pipeline) fn of_pods(
    scheduler: &Scheduler,
    pods: impl IntoIterator<Item = PodId>,
) -> Option<EcoString> {
    let mut all = pods.into_iter().filter_map(|pod| cause(scheduler, pod, false));
    all.next().map(|(cause, node)| cause.sentence(node))
}

/// What keeps placed pods from running on their nodes, with the workloads of the pods that do not stay;
/// and those whose pods keep their nodes and do not start, each with the reason.
pub(super) fn found(placed: &Placed, claims: &[Claim]) -> (Open, BTreeMap<usize, EcoString>) {
    let (mut ends, mut waits) = (BTreeMap::new(), BTreeMap::new());
    let mut by_cause: BTreeMap<Cause, (BTreeSet<EcoString>, NotJudged)> = BTreeMap::new();
    for ([workload, ..], slot) in placed.all() {
        let found = slot.pod.and_then(|pod| cause(&placed.scheduler, pod, slot.kept));
        let Some((cause, node)) = found else { continue };
        let workloads = match cause {
            Cause::Taint(..) => &mut ends,
            Cause::Driver(_) => &mut waits,
        };
        workloads.entry(workload).or_insert_with(|| cause.sentence(node.clone()));
        let (nodes, line) = by_cause.entry(cause).or_default();
        nodes.insert(node);
        line.pods = Some(line.pods.unwrap_or_default() + 1);
        line.of.insert(claims[workload].service.clone());
    }
    let line = |(cause, (nodes, line)): (Cause, (BTreeSet<EcoString>, NotJudged))| NotJudged {
        what: cause.what(),
        message: cause.why(&nodes),
        ..line
    };
    ((by_cause.into_iter().map(line).collect(), ends), waits)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const TAINT: &str = "taints: [{key: k, value: v, effect: NoExecute}]";

    fn pods(tolerations: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{tolerations: [{tolerations}], containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    #[test]
    fn pods_that_tolerate_a_taint_for_some_time_are_not_judged() {
        let brief = "{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 60}";
        let lasting = "{key: k, operator: Exists, effect: NoExecute}";
        let not_ready = "taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}]";
        let soft = "taints: [{key: k, value: v, effect: NoSchedule}]";
        for (taint, tolerations, seconds) in [
            (TAINT, brief.to_owned(), Some(60)),
            (TAINT, lasting.to_owned(), None),
            // The first one that matches decides.
            (TAINT, format!("{brief}, {lasting}"), Some(60)),
            (TAINT, format!("{lasting}, {brief}"), None),
            // Every pod tolerates a node that fails for a while.
            (not_ready, String::new(), Some(300)),
            (not_ready, "{operator: Exists}".to_owned(), None),
            (soft, "{key: k, operator: Exists}".to_owned(), None),
        ] {
            let text = gpu_node("n1", 8, taint) + &pods(&tolerations);
            let file = [("in.yaml", text.as_str())];
            let ran = ome_on("plan -o json -f {in.yaml}", &file);
            let verdict = if seconds.is_some() { "unknown" } else { "fits" };
            assert_eq!(ran.at("/placement/verdict"), verdict, "{tolerations}: {}", ran.out);
            let message = ran.at("/placement/notJudged/0/message").to_string();
            let expected = seconds.map(|seconds: i64| format!("of node n1 for {seconds} seconds"));
            assert!(expected.is_none_or(|part| message.contains(&part)), "{message}");
            let ran = ome_on("rollout deploy/a -o json -f {in.yaml}", &file);
            let end = if seconds.is_some() { "not-judged" } else { "complete" };
            assert_eq!(ran.at("/components/0/rollout/end"), end, "{tolerations}: {}", ran.out);
        }
    }

    #[test]
    fn pods_on_nodes_without_the_driver_of_their_volume_are_not_judged() {
        let claimed = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], ";
        let inline = "volumes: [{name: v, csi: {driver: d.csi}}], ";
        let own = "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}}}}], ";
        let deployment = |volumes: &str| {
            pods("").replace("spec: {tolerations: [], ", &format!("spec: {{{volumes}"))
        };
        let volume = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: p}\nspec: {accessModes: [ReadWriteMany], capacity: {storage: 1Gi}, claimRef: {namespace: ml, name: c}, csi: {driver: d.csi, volumeHandle: h}}\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}\nspec: {accessModes: [ReadWriteMany], storageClassName: '', volumeName: p, resources: {requests: {storage: 1Gi}}}\n";
        let class = |provisioner: &str| {
            format!(
                "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: s}}\nprovisioner: {provisioner}\nvolumeBindingMode: WaitForFirstConsumer\n"
            )
        };
        let driver = "---\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d.csi}\nspec: {}\n";
        let registered = |drivers: &str| {
            format!(
                "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {{name: n1}}\nspec: {{drivers: [{drivers}]}}\n"
            )
        };
        let (none, one) =
            (registered(""), registered("{name: d.csi, nodeID: n1, topologyKeys: null}"));
        for (volumes, more, is_open) in [
            (claimed, volume.to_owned() + &none, true),
            (claimed, volume.to_owned() + &one, false),
            // Of this node nothing was read.
            (claimed, volume.to_owned(), false),
            (inline, none.clone(), true),
            (inline, one.clone(), false),
            (own, class("d.csi") + driver + &none, true),
            (own, class("d.csi") + driver + &one, false),
            // A provisioner is no driver.
            (own, class("cluster.local/nfs") + &none, false),
        ] {
            let text = gpu_node("n1", 8, "") + &deployment(volumes) + &more;
            let file = [("in.yaml", text.as_str())];
            let ran = ome_on("plan -o json -f {in.yaml}", &file);
            let verdict = if is_open { "unknown" } else { "fits" };
            assert_eq!(ran.at("/placement/verdict"), verdict, "{volumes} {more}: {}", ran.out);
            let what = ran.at("/placement/notJudged/0/what");
            assert!(!is_open || what == "CSI driver d.csi", "{what}");
            for command in ["rollout deploy/a", "rollout --all"] {
                let ran = ome_on(&format!("{command} -o json -f {{in.yaml}}"), &file);
                let path = if command.contains("all") { "/workloads/0" } else { "" };
                let end = if is_open { "not-judged" } else { "complete" };
                let path = format!("{path}/components/0/rollout/end");
                assert_eq!(ran.at(&path), end, "{volumes} {more}: {}", ran.out);
            }
        }
    }
}
