//! The pods of an input that Kueue has admitted and that have no node yet: they have their quota, and the
//! scheduler may not have found a node for them.

use super::claims::{Claim, Who};
use super::workloads::id_of;
use crate::api::Object;
use crate::catalog::Catalog;
use crate::cluster::fleet::Running;
use crate::cluster::schedule::PodTemplate;
use crate::operators::kueue::pods::admitted_by;
use crate::pipeline::built::PodContext;
use crate::pipeline::queued::queue_of;
use crate::pipeline::running::{Owner, OwnerName, RunningPod, RunningPods, waiting};
use ecow::EcoString;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The pods without a node, each with its quota. None where the input has no queues.
#[derive(Debug, Default)]
pub(crate) struct Starting<'a> {
    pods: RunningPods<'a>,
    templates: Vec<Arc<PodTemplate>>,
    /// By pod, the LocalQueue whose quota it has; those that wait for quota have none.
    queued: Vec<Option<EcoString>>,
    /// Those that stand alone, by their id.
    alone: HashMap<EcoString, usize>,
}

impl<'a> Starting<'a> {
    pub(super) fn of(catalog: &'a Catalog, context: &PodContext) -> Self {
        if !catalog.has_queues() {
            return Self::default();
        }
        let (pods, templates) = waiting(catalog, context);
        let queued = queued(catalog, &pods, &templates);
        let alone = pods.all.iter().enumerate().filter(|(_, pod)| pod.workload_id().is_none());
        let alone = alone.map(|(at, pod)| (id_of(pod.object), at)).collect();
        Self { pods, templates, queued, alone }
    }

    /// Each with its template.
    pub(super) fn all(&self) -> impl Iterator<Item = (&RunningPod<'a>, &Arc<PodTemplate>)> {
        self.pods.all.iter().zip(&self.templates)
    }

    /// Those of a claim that have quota.
    pub(super) fn of_claim(&self, claim: &Claim) -> Vec<usize> {
        let mut found = match (claim.who, claim.component) {
            (Who::Component(..), Some(component)) => self.of_component(claim, component),
            (Who::Workload(_), _) => self.of_workload(&claim.service),
            _ => Vec::new(),
        };
        found.retain(|at| self.queued[*at].is_some());
        found
    }

    fn of_workload(&self, id: &EcoString) -> Vec<usize> {
        let OwnerName { namespace, name, .. } = OwnerName::of(id);
        let all = self.pods.of_workload(&namespace.into(), &name.into()).iter().copied();
        let is_its = |at: &usize| self.pods.all[*at].workload_id().as_ref() == Some(id);
        all.filter(is_its).chain(self.alone.get(id).copied()).collect()
    }

    /// The label decides; without it, the workload does.
    fn of_component(&self, claim: &Claim, component: &str) -> Vec<usize> {
        let OwnerName { namespace, name, .. } = OwnerName::of(claim.name());
        let owner: Owner = (claim.api, namespace.into(), name.into());
        let mut found = self.pods.of(&owner, &claim.names);
        found.retain(|at| {
            let pod = &self.pods.all[*at];
            let of_workload = || pod.workload().is_some_and(|name| claim.names.contains(&name));
            pod.component().map_or_else(of_workload, |label| label == component)
        });
        found
    }

    /// How many units some of them are: of a group of which a pod runs, that one counts.
    pub(super) fn units(&self, pods: &[usize], running: &[Running]) -> usize {
        let runs: BTreeSet<usize> = running.iter().filter_map(|pod| pod.replica).collect();
        let groups = pods.iter().map(|at| self.pods.all[*at].group().map(|(group, _)| group));
        let groups: Vec<Option<usize>> = groups.collect();
        let alone = groups.iter().filter(|group| group.is_none()).count();
        let groups: BTreeSet<usize> = groups.into_iter().flatten().collect();
        alone + groups.difference(&runs).count()
    }

    /// All but some of them, each with its queue.
    pub(super) fn but<'s>(
        &'s self,
        some: &'s BTreeSet<usize>,
    ) -> impl Iterator<Item = (&'s PodTemplate, Option<&'s EcoString>)> {
        let all = self.templates.iter().zip(&self.queued).enumerate();
        let others = all.filter(|(at, _)| !some.contains(at));
        others.map(|(_, (template, queue))| (&**template, queue.as_ref()))
    }
}

/// By running pod, the LocalQueue whose quota it has. The pods of a Job run only when Kueue has admitted
/// it; releases before 0.17 write nothing of it to them.
pub(super) fn queued(
    catalog: &Catalog,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
) -> Vec<Option<EcoString>> {
    if !catalog.has_queues() {
        return Vec::new();
    }
    let owner = |object: &Object| {
        let kind = object.id.kind.as_str();
        let (queue, whole) = queue_of(object.group(), kind, &object.node)?;
        (whole && kind != "StatefulSet").then(|| (id_of(object), queue.value))
    };
    let owners: HashMap<EcoString, EcoString> = catalog.others().iter().filter_map(owner).collect();
    let queue = |(pod, template): (&RunningPod<'_>, &Arc<PodTemplate>)| {
        let of_owner = || owners.get(&pod.workload_id()?).cloned();
        admitted_by(template).cloned().or_else(of_owner)
    };
    running.all.iter().zip(templates).map(queue).collect()
}
