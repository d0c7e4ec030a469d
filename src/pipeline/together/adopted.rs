//! Running pods whose workloads the input does not hold, as workloads that create them again.

use super::claims::Claim;
use super::workloads::PlainWorkload;
use crate::api::Object;
use crate::catalog::Catalog;
use crate::cluster::fleet::{Replica, Running, Workload};
use crate::cluster::schedule::PodTemplate;
use crate::pipeline::running::{Creator, OwnerName, RunningPod, RunningPods};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Makes workloads of running pods that controllers create again. Returns how many of the pods
/// nothing creates again.
pub(super) fn adopt(
    plain: &mut Vec<PlainWorkload>,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    claimed_pods: &mut BTreeSet<usize>,
    is_wanted: impl Fn(usize, &RunningPod<'_>) -> bool,
) -> usize {
    let mut places = places(plain);
    let mut gone = 0;
    for (number, pod) in running.all.iter().enumerate() {
        if claimed_pods.contains(&number) || pod.ends || !is_wanted(number, pod) {
            continue;
        }
        let id = match pod.creator() {
            Creator::Workload(id) => id,
            Creator::Node => continue,
            Creator::Nobody => {
                // Nothing creates it again, so that no workload waits for its node.
                gone += 1;
                continue;
            }
        };
        claimed_pods.insert(number);
        take(plain, &mut places, id, (number, pod), &templates[number]);
    }
    gone
}

/// Makes the running pods of some workloads theirs, those of DaemonSets too.
pub(super) fn adopt_rolling(
    rolling: &BTreeSet<EcoString>,
    plain: &mut Vec<PlainWorkload>,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    claimed_pods: &mut BTreeSet<usize>,
) {
    if rolling.is_empty() {
        return;
    }
    let mut places = places(plain);
    for (number, pod) in running.all.iter().enumerate() {
        if claimed_pods.contains(&number) || pod.ends {
            continue;
        }
        let Some(id) = pod.workload_id() else { continue };
        if rolling.contains(&id) {
            claimed_pods.insert(number);
            take(plain, &mut places, id, (number, pod), &templates[number]);
        }
    }
}

/// The places of workloads by their group.
fn places(plain: &[PlainWorkload]) -> HashMap<EcoString, usize> {
    plain.iter().enumerate().map(|(at, plain)| (group(&plain.id, None), at)).collect()
}

/// Makes a running pod one of the workload with an id.
fn take(
    plain: &mut Vec<PlainWorkload>,
    places: &mut HashMap<EcoString, usize>,
    id: EcoString,
    (number, pod): (usize, &RunningPod<'_>),
    template: &Arc<PodTemplate>,
) {
    let at = *places.entry(group(&id, pod.workload())).or_insert_with(|| {
        let OwnerName { namespace, name, .. } = OwnerName::of(&id);
        plain.push(PlainWorkload {
            name: eco_format!("{namespace}/{name}"),
            created: pod.object.created().map(Into::into),
            workload: Workload::default(),
            refused: None,
            standing: 0,
            queue: None,
            gang: false,
            id,
        });
        plain.len() - 1
    });
    let PlainWorkload { workload, standing, .. } = &mut plain[at];
    let of_template = workload.templates.iter().position(|other| other == template);
    let of_template = of_template.unwrap_or_else(|| {
        workload.templates.push(Arc::clone(template));
        workload.templates.len() - 1
    });
    workload.running.push(Running {
        node: pod.node.clone(),
        started: pod.started.clone(),
        // Each pod is a replica of its own: how they belong together is not known from pods
        // alone.
        replica: Some(workload.replicas.len()),
        template: of_template,
        number,
    });
    workload.replicas.push(Replica::alone(vec![of_template]));
    workload.runs_on = true;
    *standing += 1;
}

/// The Jobs of an input. One that was not read may give up: an evicted pod counts against its
/// `backoffLimit`.
#[derive(Clone, Debug, Default)]
pub(in crate::pipeline) struct Jobs(Option<HashSet<EcoString>>);

impl Jobs {
    pub(in crate::pipeline) fn of(catalog: &Catalog) -> Self {
        let jobs = catalog.others().iter().filter(|object| object.id.kind == "Job");
        let name = |object: &Object| {
            let namespace = object.id.scope.namespace().map(EcoString::as_str).unwrap_or_default();
            eco_format!("Job/{namespace}/{}", object.id.name)
        };
        Self(Some(jobs.map(name).collect()))
    }

    /// Whether a pod is created again after it is evicted, as far as that is known.
    pub(in crate::pipeline) fn create_again(&self, pod: &RunningPod<'_>) -> bool {
        let Some(jobs) = &self.0 else { return true };
        match pod.creator() {
            Creator::Workload(id) => !OwnerName::of(&id).is("Job") || jobs.contains(&id),
            Creator::Nobody | Creator::Node => false,
        }
    }
}

/// Makes workloads of the running pods that a pod of `claims` or `plain` may evict: their controllers
/// create them again, and they wait at their own priority. With `every`, workloads whose pods all run
/// evict others too, because their pods are replaced.
pub(super) fn adopt_preemptible(
    jobs: &Jobs,
    claims: &[Claim],
    plain: &mut Vec<PlainWorkload>,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    claimed_pods: &mut BTreeSet<usize>,
    every: bool,
) {
    let workloads = claims.iter().map(|claim| &claim.workload);
    let workloads = workloads.chain(plain.iter().map(|plain| &plain.workload));
    // Only pods of a lower priority can be evicted; all others stay on their nodes.
    if let Some(most) = evicts_below(workloads, every) {
        // What is lost is created again as a drain does it, whoever creates it.
        let all = Jobs::default();
        adopt_below(most, if every { &all } else { jobs }, plain, running, templates, claimed_pods);
    }
}

/// Makes workloads of the running pods of a lower priority than `most`.
pub(super) fn adopt_below(
    most: i32,
    jobs: &Jobs,
    plain: &mut Vec<PlainWorkload>,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    claimed_pods: &mut BTreeSet<usize>,
) {
    let is_wanted =
        |at: usize, pod: &RunningPod<'_>| templates[at].priority < most && jobs.create_again(pod);
    adopt(plain, running, templates, claimed_pods, is_wanted);
}

/// The priority below which pods of these workloads evict others; `None` if they wait for nothing.
pub(super) fn evicts_below<'w>(
    workloads: impl Iterator<Item = &'w Workload>,
    every: bool,
) -> Option<i32> {
    let waits = |workload: &&Workload| {
        let wanted = workload.replicas.iter().map(|replica| replica.pods.len()).sum::<usize>();
        every || wanted > workload.running.len()
    };
    let templates = workloads.filter(waits).flat_map(|workload| &workload.templates);
    // `preemptionPolicy: Never` waits in the queue without evicting.
    templates.filter(|pod| !pod.never_preempts).map(|pod| pod.priority).max()
}

/// Pods of one owner are of one workload if a controller has all of them: a service may have several.
fn group(id: &EcoString, workload: Option<EcoString>) -> EcoString {
    let owner_name = id.rsplit('/').next().unwrap_or_default();
    let workload = workload.unwrap_or_else(|| owner_name.into());
    eco_format!("{id} {workload}")
}

#[cfg(test)]
mod tests;
