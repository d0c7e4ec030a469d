//! Kueue quotas that several workloads share (docs/decisions.md#fleet-verdict): workloads are
//! admitted in order and borrow within the cohort.

use super::NotJudged;
use super::claims::{Claim, Who};
use super::plain_queue::{PlainQueue, PodGroup};
use super::units::{self, OfFlavors, Units, apply as apply_units, hold as hold_units, of_flavor};
use crate::catalog::Catalog;
use crate::cluster::fleet::{Fleet, Replica, Workload};
use crate::decision::{Admitted, QueueDecision};
use crate::operators::kueue::cohort::Ledger;
use crate::pipeline::planned::{Planned, PlannedComponent};
use crate::pipeline::question::{Each, joined, message};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Holds the replicas that have to wait for quota. Returns, by index of the claim, the reason.
pub(super) fn hold(
    catalog: &Catalog,
    planned: &mut [Planned<'_>],
    claims: &[Claim],
    fleet: &mut Fleet,
) -> BTreeMap<usize, EcoString> {
    let mut held = BTreeMap::new();
    let mut ledger = Ledger::default();
    let mut groups = BTreeSet::new();
    // In the order of placement: what comes first takes the quota.
    for at in fleet.sequence() {
        let Who::Component(service, component) = claims[at].who else {
            let workload = &mut fleet.workloads[at];
            let Some(queue) = claims[at].queue.as_ref().filter(|_| !workload.replicas.is_empty())
            else {
                continue;
            };
            if let Some(group) = &queue.group {
                // A group is admitted once, when its first pod has its turn.
                if groups.insert((&queue.namespace, &group.name)) {
                    held.extend(hold_group(catalog, queue, group, claims, fleet, &mut ledger));
                }
                continue;
            }
            let (decision, waiting) = queue.admit(catalog, workload, &mut ledger);
            // A queue that is not in the input decides nothing here; a finding names it.
            let waiting = if decision.is_evaluated { waiting } else { 0 };
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
        let Some((decisions, units)) =
            component_units(catalog, namespace, planned_component, workload, &mut ledger)
        else {
            continue;
        };
        for (decision, units) in decisions.iter().zip(&units) {
            let Some(decision) = decision else { continue };
            held.extend(hold_units(workload, units, decision).map(|why| (at, why)));
            apply_units(catalog, decision, units, workload);
        }
        let each = planned_component.question.as_ref().map_or(Each::Pod, |question| question.each);
        planned_component.queue = joined(&decisions, each).map(Box::new);
    }
    held
}

/// What the queues of a component admit of each of its workloads, after what the ledger has, and what
/// they admit as one there; none where it names no queue, or nothing of it is placed.
fn component_units(
    catalog: &Catalog,
    namespace: &str,
    component: &PlannedComponent,
    workload: &Workload,
    ledger: &mut Ledger,
) -> Option<(Vec<Option<QueueDecision>>, Vec<Units>)> {
    let (decision, question) = (component.queue.as_ref()?, component.question.as_ref()?);
    if !decision.is_evaluated || workload.replicas.is_empty() {
        return None;
    }
    let units = units::of(question, workload);
    let counts: Vec<i64> =
        units.iter().map(|units| i64::try_from(units.len()).unwrap_or(i64::MAX)).collect();
    let queue = &decision.queue;
    Some((question.admit(catalog, namespace, queue, Some(&counts), ledger), units))
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
    let (decision, waiting) = whole.admit(catalog, &together, ledger);
    if decision.is_evaluated && waiting > 0 {
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

/// The ClusterQueues whose AdmissionChecks have to agree before pods start, with the number of pods
/// and the checks.
pub(super) fn checked<'c>(
    catalog: &'c Catalog,
    planned: &'c [Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Vec<(&'c EcoString, usize, &'c [EcoString])> {
    let mut pods: BTreeMap<&EcoString, usize> = BTreeMap::new();
    for (claim, workload) in claims.iter().zip(&fleet.workloads) {
        let Some(queue) = cluster_queue(catalog, planned, claim) else { continue };
        *pods.entry(queue).or_default() +=
            workload.replicas.iter().flat_map(Replica::startable).count();
    }
    let checks = |(queue, pods): (&'c EcoString, usize)| {
        let checks = catalog.cluster_queue(queue)?.checks.as_slice();
        (pods > 0 && !checks.is_empty()).then_some((queue, pods, checks))
    };
    pods.into_iter().filter_map(checks).collect()
}

/// The new pods whose LocalQueue names a ClusterQueue, where no ClusterQueue was read: whether its quota
/// is enough is not known.
pub(super) fn unread(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Vec<NotJudged> {
    if catalog.cluster_queues().len() > 0 {
        return Vec::new();
    }
    let mut pods: BTreeMap<(EcoString, EcoString, EcoString), usize> = BTreeMap::new();
    for (claim, workload) in claims.iter().zip(&fleet.workloads) {
        let (namespace, name) = match claim.who {
            Who::Component(service, component) => {
                let queue = planned[service].components[component].queue.as_ref();
                let name = queue.map(|queue| &queue.queue.value);
                (&planned[service].service.namespace, name)
            }
            Who::Workload(_) => match &claim.queue {
                Some(queue) => (&queue.namespace, Some(&queue.name.value)),
                None => continue,
            },
            Who::Serving(_) => continue,
        };
        let local = name.and_then(|name| catalog.local_queue(namespace, name));
        let Some((local, cluster)) =
            local.and_then(|local| Some((local, &local.cluster_queue.as_ref()?.value)))
        else {
            continue;
        };
        let all: usize = workload.replicas.iter().map(|replica| replica.pods.len()).sum();
        let new = workload.created(all);
        if new > 0 {
            let key = (namespace.clone(), local.object.id.name.clone(), cluster.clone());
            *pods.entry(key).or_default() += new;
        }
    }
    let one = |((namespace, name, cluster), pods)| NotJudged {
        what: eco_format!("LocalQueue `{namespace}/{name}`"),
        pods: Some(pods),
        message: eco_format!(
            "they start when ClusterQueue `{cluster}` has quota, which was not read"
        ),
    };
    pods.into_iter().map(one).collect()
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

/// The workloads of which replicas wait for quota when they come in this sequence.
pub(super) fn waiting(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
    sequence: &[usize],
) -> BTreeSet<usize> {
    let mut ledger = Ledger::default();
    let mut waits = |at: &usize| {
        let Who::Component(service, component) = claims[*at].who else {
            let workload = &fleet.workloads[*at];
            let queue = claims[*at].queue.as_ref().filter(|queue| {
                // Groups wait in any order.
                queue.group.is_none() && !workload.replicas.is_empty()
            });
            return queue.is_some_and(|queue| queue.admit(catalog, workload, &mut ledger).1 > 0);
        };
        let planned = &planned[service];
        let component = &planned.components[component];
        let (namespace, workload) = (&planned.service.namespace, &fleet.workloads[*at]);
        let admitted = component_units(catalog, namespace, component, workload, &mut ledger);
        admitted.is_some_and(|(decisions, _)| {
            let mut decisions = decisions.iter().flatten();
            decisions.any(|decision| decision.waiting > 0 || decision.obstacle.is_some())
        })
    };
    sequence.iter().copied().filter(|at| waits(at)).collect()
}
