//! Kueue quotas that several workloads share (docs/decisions.md#fleet-verdict): workloads are
//! admitted in order and borrow within the cohort.

use super::claims::{Claim, Who};
use super::in_use::InUse;
use super::not_judged::{Counted, Open};
use super::plain_queue::{PlainQueue, PodGroup};
use super::units::{
    self, OfFlavors, Stands, Units, apply as apply_units, hold as hold_units, of_flavor,
};
use crate::api::ClusterQueue;
use crate::catalog::Catalog;
use crate::cluster::fleet::{Fleet, Replica, Workload};
use crate::decision::{Admitted, QueueDecision, UnreadQueue};
use crate::operators::kueue::admit;
use crate::operators::kueue::cohort::Ledger;
use crate::pipeline::planned::{Planned, PlannedComponent};
use crate::pipeline::question::{Each, joined, message};
use ecow::{EcoString, eco_format};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Holds the replicas that have to wait for quota. Returns, by index of the claim, the reason, and what is
/// admitted in the end.
pub(super) fn hold(
    catalog: &Catalog,
    planned: &mut [Planned<'_>],
    claims: &[Claim],
    fleet: &mut Fleet,
    in_use: &InUse,
) -> (BTreeMap<usize, EcoString>, Ledger) {
    // Without queues in the input a label holds nothing.
    let has_queues = catalog.has_queues();
    let mut held = BTreeMap::new();
    let mut ledger = in_use.ledger.clone();
    let mut groups = BTreeSet::new();
    // What comes first takes the quota.
    for at in in_order(in_use, claims, fleet, &fleet.sequence()) {
        let Who::Component(service, component) = claims[at].who else {
            let workload = &mut fleet.workloads[at];
            let queue = claims[at].queue.as_ref();
            let Some(queue) = queue.filter(|_| has_queues && !workload.replicas.is_empty()) else {
                continue;
            };
            if let Some(group) = &queue.group {
                // A group is admitted once, when its first pod has its turn.
                if groups.insert((&queue.namespace, &group.name)) {
                    held.extend(hold_group(catalog, queue, group, claims, fleet, &mut ledger));
                }
                continue;
            }
            let stands = in_use.stands(at, 0);
            let (decision, waiting) = queue.admit(catalog, workload, stands, &mut ledger);
            // A queue that is not in the input decides nothing here.
            let waiting = if decision.unread.is_some() { 0 } else { waiting };
            held.extend(hold_last(workload, waiting, &decision).map(|why| (at, why)));
            if waiting < workload.replicas.len() {
                apply(catalog, &decision, workload, queue.whole);
            }
            continue;
        };
        let planned = &mut planned[service];
        let namespace = &planned.service.namespace;
        let planned_component = &mut planned.components[component];
        let workload = &mut fleet.workloads[at];
        let stands = |of| in_use.stands(at, of);
        let Some((decisions, units)) =
            component_units(catalog, namespace, planned_component, workload, stands, &mut ledger)
        else {
            continue;
        };
        for (of, (decision, units)) in decisions.iter().zip(&units).enumerate() {
            let Some(decision) = decision else { continue };
            let stands = in_use.stands(at, of);
            held.extend(hold_units(workload, units, decision, stands).map(|why| (at, why)));
            apply_units(catalog, decision, units, workload, stands);
        }
        let each = planned_component.question.as_ref().map_or(Each::Pod, |question| question.each);
        planned_component.queue = joined(&decisions, each).map(Box::new);
    }
    (held, ledger)
}

/// Of so many more replicas of a component, those that its queue admits after what the ledger has.
pub(super) fn more(
    catalog: &Catalog,
    namespace: &str,
    component: &PlannedComponent,
    workload: &Workload,
    more: usize,
    ledger: &Ledger,
) -> usize {
    let (Some(decision), Some(question)) = (&component.queue, &component.question) else {
        return more;
    };
    let replicas = workload.replicas.len();
    if decision.unread.is_some() || replicas == 0 || more == 0 || !catalog.has_queues() {
        return more;
    }
    // What Kueue admits as one may be a replica, or each of its pods.
    let units = units::of(question, workload);
    let of_one = |units: &Units| units.len().div_ceil(replicas);
    let wanted = |units: &Units| i64::try_from(of_one(units) * more).unwrap_or(i64::MAX);
    let counts: Vec<i64> = units.iter().map(wanted).collect();
    let mut ledger = ledger.clone();
    let admitted = question.admit(catalog, namespace, &decision.queue, Some(&counts), &mut ledger);
    let fit = admitted.iter().zip(units.iter().zip(&counts)).map(|(decision, (units, count))| {
        let Some(decision) = decision else { return more };
        if decision.obstacle.is_some() {
            return 0;
        }
        let admitted = usize::try_from(count - decision.waiting).unwrap_or(0);
        admitted / of_one(units).max(1)
    });
    fit.min().unwrap_or(more).min(more)
}

/// What the queues of a component admit of each of its workloads, after what the ledger has, and what
/// they admit as one there; none where it names no queue, or nothing of it is placed.
fn component_units<'s>(
    catalog: &Catalog,
    namespace: &str,
    component: &PlannedComponent,
    workload: &Workload,
    stands: impl Fn(usize) -> &'s Stands,
    ledger: &mut Ledger,
) -> Option<(Vec<Option<QueueDecision>>, Vec<Units>)> {
    let (decision, question) = (component.queue.as_ref()?, component.question.as_ref()?);
    if decision.unread.is_some() || workload.replicas.is_empty() {
        return None;
    }
    let units = units::of(question, workload);
    let new = |(of, units): (usize, &Units)| {
        i64::try_from(units.len().saturating_sub(stands(of).units)).unwrap_or(i64::MAX)
    };
    let counts: Vec<i64> = units.iter().enumerate().map(new).collect();
    let queue = &decision.queue;
    let admitted = question.admit(catalog, namespace, queue, Some(&counts), ledger);
    let all = |(of, decision): (usize, Option<QueueDecision>)| Some(stands(of).before(decision?));
    Some((admitted.into_iter().enumerate().map(all).collect(), units))
}

/// Admits the pods of a group, or holds all of them. Returns, by index of the claim, the reason.
fn hold_group(
    catalog: &Catalog,
    queue: &PlainQueue,
    group: &PodGroup,
    claims: &[Claim],
    fleet: &mut Fleet,
    ledger: &mut Ledger,
) -> Vec<(usize, EcoString)> {
    let size_of = |at: &usize| {
        let member =
            claims[*at].queue.as_ref().filter(|claimed| claimed.namespace == queue.namespace)?;
        Some(member.group.as_ref().filter(|other| other.name == group.name)?.size)
    };
    let is_member = |at: &usize| size_of(at).is_some();
    let members: Vec<usize> = (0..claims.len())
        .filter(|at| is_member(at) && !fleet.workloads[*at].replicas.is_empty())
        .collect();
    // Each pod is a workload of one template.
    let mut together = Workload::default();
    for (place, at) in members.iter().enumerate() {
        together.templates.extend(fleet.workloads[*at].templates.first().cloned());
        together.replicas.push(Replica::alone(vec![place]));
    }
    let missing = group.size.saturating_sub(members.len());
    let mut hold = |why: EcoString| -> Vec<(usize, EcoString)> {
        for at in &members {
            fleet.workloads[*at].replicas.iter_mut().for_each(|replica| replica.held = true);
        }
        members.iter().map(|at| (*at, why.clone())).collect()
    };
    // No Workload is made of pods that state different sizes (`validatePodGroupMetadata`).
    let sizes: BTreeSet<usize> = members.iter().filter_map(size_of).collect();
    if sizes.len() > 1 {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let why = "state different `kueue.x-k8s.io/pod-group-total-count`";
        return hold(eco_format!("the pods of group `{}` {why}: {}", group.name, sizes.join(", ")));
    }
    // Kueue composes a Workload of a group only when all of its pods exist.
    if missing > 0 {
        let (present, size) = (members.len(), group.size);
        return hold(eco_format!("the group `{}` has {present} of {size} pods", group.name));
    }
    let whole = PlainQueue { whole: true, ..queue.clone() };
    let (decision, waiting) = whole.admit(catalog, &together, &Stands::default(), ledger);
    if decision.unread.is_none() && waiting > 0 {
        return hold(message(&decision));
    }
    let Some(admitted) = decision.admitted.first() else { return Vec::new() };
    // Each pod gets the flavor of its own set: sets are in the order of the members.
    for (place, at) in members.into_iter().enumerate() {
        let sets = admitted.sets.get(place).or_else(|| admitted.sets.first());
        let admission = Admitted { sets: sets.cloned().into_iter().collect(), ..admitted.clone() };
        let admission = QueueDecision { admitted: vec![admission], ..decision.clone() };
        apply(catalog, &admission, &mut fleet.workloads[at], true);
    }
    Vec::new()
}

/// Holds the last replicas of a workload; returns why, if there are any.
fn hold_last(
    workload: &mut Workload,
    waiting: usize,
    decision: &QueueDecision,
) -> Option<EcoString> {
    // Replicas are alike, and the first ones were admitted first.
    workload.replicas.iter_mut().rev().take(waiting).for_each(|replica| replica.held = true);
    (waiting > 0).then(|| message(decision))
}

/// The ClusterQueue that admits the pods of a claim; `None` of one that names no queue that was read.
pub(super) fn cluster_queue<'c>(
    catalog: &'c Catalog,
    planned: &'c [Planned<'_>],
    claim: &Claim,
) -> Option<&'c EcoString> {
    match claim.who {
        Who::Component(service, component) => {
            planned[service].components[component].queue.as_ref()?.cluster_queue.as_ref()
        }
        Who::Workload(_) => claim.queue.as_ref()?.cluster_queue(catalog),
        Who::Serving(_) => None,
    }
}

/// The ClusterQueues whose AdmissionChecks have to agree before pods start.
pub(super) fn checked(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Open {
    let mut counted = Counted::default();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        let Some(queue) = cluster_queue(catalog, planned, claim) else { continue };
        let pods = workload.replicas.iter().flat_map(Replica::startable).count();
        let why = catalog.cluster_queue(queue).and_then(checks_of);
        let Some(why) = why.filter(|_| pods > 0) else { continue };
        let what = eco_format!("ClusterQueue `{queue}`");
        if workload.created(pods) > 0 {
            counted.add_of((at, claim), (what, why), pods);
        } else {
            counted.add(claim, (what, why), pods);
        }
    }
    counted.done()
}

/// The new pods that name a queue of which an object was not read, so that it is not known whether Kueue
/// admits them; and their workloads, each with the reason.
pub(super) fn unread(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Open {
    let mut counted = Counted::default();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        let new = workload.new_pods();
        let Some((namespace, name)) = named(planned, claim).filter(|_| new > 0) else { continue };
        let Some(object) = admit::unread(catalog, namespace, name) else { continue };
        counted.add_of((at, claim), unread_line(namespace, name, &object), new);
    }
    counted.done()
}

/// What is not judged of pods because an object of their queue was not read, and why.
pub(super) fn unread_line(
    namespace: &str,
    name: &str,
    object: &UnreadQueue,
) -> (EcoString, EcoString) {
    let what = eco_format!("LocalQueue `{namespace}/{name}`");
    let why = match &object {
        UnreadQueue::LocalQueue(..) => {
            "they start when Kueue admits them by this queue, which was not read".into()
        }
        UnreadQueue::ClusterQueue(_) => {
            eco_format!("they start when {object} has quota, which was not read")
        }
        UnreadQueue::Flavor(_) => {
            eco_format!("they start when its ClusterQueue is active, and its {object} was not read")
        }
    };
    (what, why)
}

/// The AdmissionChecks of a ClusterQueue, which have to agree before pods start.
pub(super) fn checks_of(queue: &ClusterQueue) -> Option<EcoString> {
    let checks = queue.checks.join(", ");
    let why = || eco_format!("they start when its AdmissionChecks agree: {checks}");
    (!checks.is_empty()).then(why)
}

/// Namespace and name of the LocalQueue that the pods of a claim name.
fn named<'c>(
    planned: &'c [Planned<'_>],
    claim: &'c Claim,
) -> Option<(&'c EcoString, &'c EcoString)> {
    match claim.who {
        Who::Component(service, component) => {
            let queue = planned[service].components[component].queue.as_ref()?;
            Some((&planned[service].service.namespace, &queue.queue.value))
        }
        Who::Workload(_) => {
            let queue = claim.queue.as_ref()?;
            Some((&queue.namespace, &queue.name.value))
        }
        Who::Serving(_) => None,
    }
}

/// Gives the pods of new replicas what their flavors add. Those that run have it already. Of a workload
/// that is admitted as a whole, the sets are those of all its pods.
fn apply(catalog: &Catalog, decision: &QueueDecision, workload: &mut Workload, whole: bool) {
    let mut templates = OfFlavors::new();
    let all = workload.replicas.len();
    let of_replicas = decision.admitted.iter().flat_map(|admission| {
        let replicas = usize::try_from(admission.replicas).unwrap_or(0);
        std::iter::repeat_n(&admission.sets, if whole { all } else { replicas })
    });
    // A set is the pods of a template, in the order of the templates.
    let counted = if whole { all } else { all.min(1) };
    let used: BTreeSet<usize> =
        workload.replicas[..counted].iter().flat_map(|replica| &replica.pods).copied().collect();
    let used: Vec<usize> = used.into_iter().collect();
    let mut running = workload.running.len();
    for (at, sets) in (0..all).zip(of_replicas) {
        let replica = &workload.replicas[at];
        // Running pods fill the first replicas; they were admitted with their flavor long ago.
        let runs = running >= replica.pods.len() && running > 0;
        running = running.saturating_sub(replica.pods.len());
        if runs || replica.held {
            continue;
        }
        for place in 0..replica.pods.len() {
            let pod = workload.replicas[at].pods[place];
            let set = used.binary_search(&pod).unwrap_or(0);
            let Some(set) = sets.get(set).or_else(|| sets.first()) else { continue };
            let template = of_flavor(catalog, workload, &mut templates, pod, set);
            workload.replicas[at].pods[place] = template;
        }
    }
}

/// The workloads of which replicas wait for quota when they come in this sequence, after what is in use.
pub(super) fn waiting(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
    in_use: &InUse,
    sequence: &[usize],
) -> BTreeSet<usize> {
    let has_queues = catalog.has_queues();
    let mut ledger = in_use.ledger.clone();
    let mut waits = |at: &usize| {
        let Who::Component(service, component) = claims[*at].who else {
            let workload = &fleet.workloads[*at];
            let queue = claims[*at].queue.as_ref().filter(|queue| {
                // Groups wait in any order.
                has_queues && queue.group.is_none() && !workload.replicas.is_empty()
            });
            let stands = in_use.stands(*at, 0);
            return queue
                .is_some_and(|queue| queue.admit(catalog, workload, stands, &mut ledger).1 > 0);
        };
        let planned = &planned[service];
        let component = &planned.components[component];
        let (namespace, workload) = (&planned.service.namespace, &fleet.workloads[*at]);
        let stands = |of| in_use.stands(*at, of);
        let admitted =
            component_units(catalog, namespace, component, workload, stands, &mut ledger);
        admitted.is_some_and(|(decisions, units)| {
            let mut decisions = decisions.iter().zip(&units).enumerate();
            decisions.any(|(of, (decision, units))| {
                let decision = decision.as_ref();
                decision.is_some_and(|decision| units::waiting(units, decision, stands(of)) > 0)
            })
        })
    };
    in_order(in_use, claims, fleet, sequence).into_iter().filter(|at| waits(at)).collect()
}

/// A sequence of placement in the order in which Kueue admits: by the priorities of the workloads, which
/// their WorkloadPriorityClasses may set apart from those of their pods.
fn in_order(in_use: &InUse, claims: &[Claim], fleet: &Fleet, sequence: &[usize]) -> Vec<usize> {
    let mut order = sequence.to_vec();
    if let Some(priorities) = &in_use.priorities {
        let priority = |at: usize| {
            let class = claims[at].queue.as_ref().and_then(|queue| queue.class.as_ref());
            let pods = fleet.workloads[at].templates.iter();
            pods.map(|pod| priorities.of_pod(pod, class)).max().unwrap_or_default()
        };
        order.sort_by_cached_key(|at| Reverse(priority(*at)));
    }
    order
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const FLAVOR: &str =
        "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n";
    const CLUSTER: &str = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu, memory, nvidia.com/gpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 99}, {name: memory, nominalQuota: 99Gi}, {name: nvidia.com/gpu, nominalQuota: 8}]}]}]}\n";

    fn local(name: &str, namespace: &str, cluster: &str, meta: &str) -> String {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: {name}, namespace: {namespace}{meta}}}\nspec: {{clusterQueue: {cluster}}}\n"
        )
    }

    /// A service and a Deployment that name queue `lq`.
    fn pods() -> String {
        let label = ", labels: {kueue.x-k8s.io/queue-name: lq}";
        format!(
            "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: s, namespace: ml, annotations: {{serving.kserve.io/deploymentMode: Standard}}{label}}}\nspec: {{predictor: {{minReplicas: 1, containers: [{{name: kserve-container, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: ml{label}}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    #[test]
    fn a_queue_of_which_an_object_was_not_read_is_not_judged() {
        let lq = local("lq", "ml", "cq", "");
        let of_kinds = |parts: &[&str]| parts.concat();
        for (queues, verdict, says) in [
            (String::new(), "unknown", "this queue, which was not read"),
            (of_kinds(&[FLAVOR, CLUSTER]), "unknown", "this queue, which was not read"),
            // Manifests of another namespace say nothing of this one; a dump has all.
            (of_kinds(&[FLAVOR, CLUSTER, &local("lq", "other", "cq", "")]), "unknown", "not read"),
            (
                of_kinds(&[FLAVOR, CLUSTER, &local("lq", "other", "cq", ", uid: u")]),
                "does-not-fit",
                "namespace ml has no LocalQueue `lq`",
            ),
            (
                of_kinds(&[FLAVOR, CLUSTER, &local("lqq", "ml", "cq", "")]),
                "does-not-fit",
                "namespace ml has no LocalQueue `lq`; there is `lqq`",
            ),
            (lq.clone(), "unknown", "ClusterQueue `cq` has quota, which was not read"),
            (
                of_kinds(&[FLAVOR, CLUSTER, &local("lq", "ml", "c", "")]),
                "does-not-fit",
                "ClusterQueue `c` of LocalQueue `lq` is not in the input",
            ),
            (of_kinds(&[CLUSTER, &lq]), "unknown", "its ResourceFlavor `f` was not read"),
            (
                of_kinds(&[&FLAVOR.replace(": f}", ": g}"), CLUSTER, &lq]),
                "does-not-fit",
                "ResourceFlavor `f` is not in the input",
            ),
            (of_kinds(&[FLAVOR, CLUSTER, &lq]), "fits", ""),
        ] {
            let text = gpu_node("n1", 8, "") + &pods() + &queues;
            let file = [("in.yaml", text.as_str())];
            let ran = ome_on("plan -o json -f {in.yaml}", &file);
            assert_eq!(ran.at("/placement/verdict"), verdict, "{queues}: {}", ran.out);
            let fits = ran.at("/services/0/components/0/fits");
            let expected = match verdict {
                "fits" => true.into(),
                "unknown" => serde_json::Value::Null,
                _ => false.into(),
            };
            assert_eq!(fits, expected, "{queues}: {}", ran.out);
            assert!(ran.out.contains(says), "{queues}: {}", ran.out);
            for command in ["plan", "rollout s", "rollout --all", "explain s"] {
                let page = ome_on(&format!("{command} -f {{in.yaml}}"), &file);
                let expected = if verdict == "does-not-fit" { 2 } else { 0 };
                assert_eq!(page.code, expected, "{command} {queues}: {}", page.out);
                assert!(verdict == "fits" || !page.out.contains('✓'), "{command}: {}", page.out);
            }
        }
    }

    #[test]
    fn what_was_admitted_of_another_workload_keeps_its_quota() {
        const QUEUED: &str = "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/managed: 'true'";
        let pod = |name: &str, labels: &str, rest: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml, labels: {{{labels}}}}}\nspec: {{{rest}containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}\n"
            )
        };
        let waits = pod("new", "kueue.x-k8s.io/queue-name: lq", "");
        for (labels, quota, verdict) in [
            (QUEUED, 8, "fits"),
            (QUEUED, 7, "does-not-fit"),
            // Kueue does not manage it, so that it has no quota.
            ("kueue.x-k8s.io/queue-name: lq", 7, "fits"),
            ("a: b", 7, "fits"),
        ] {
            let cluster = CLUSTER.replace("nominalQuota: 8}", &format!("nominalQuota: {quota}}}"));
            let runs = pod("old", labels, "nodeName: n1, ") + "status: {phase: Running}\n";
            let text = [
                gpu_node("n1", 8, ""),
                runs,
                waits.clone(),
                FLAVOR.into(),
                cluster,
                local("lq", "ml", "cq", ""),
            ]
            .concat();
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", text.as_str())]);
            assert_eq!(ran.at("/placement/verdict"), verdict, "{labels} {quota}: {}", ran.out);
        }
    }
}
