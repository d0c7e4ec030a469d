//! Kueue in a rollout: new pods of a queue have a scheduling gate until there is quota for them.
//!
//! A pod of a Deployment is a workload of its own, a group of a LeaderWorkerSet is one
//! (pkg/controller/jobs/pod and pkg/controller/jobs/leaderworkerset). Quota is what the pods that
//! were admitted before leave, terminating ones among them. A workload that does not fit lets later
//! ones pass (`BestEffortFIFO`).

use super::Ground;
use crate::api::Field;
use crate::cluster::Shape;
use crate::cluster::schedule::{PodId, PodTemplate, TemplateId};
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::admit::{PodSet, admit};
use crate::operators::kueue::cohort::Ledger;
use crate::operators::kueue::flavor::admitted;
use crate::pipeline::question::message;
use crate::pipeline::together::plain_queue::{POD, shape};
use crate::rollout::{WorkloadId, World};
use crate::yaml::Origin;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What Kueue admits as one: a pod, or the pods of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Unit {
    Pod(PodId),
    Group(WorkloadId, usize),
}

/// Whether Kueue holds pods back in an input.
pub(super) fn is_known(ground: &Ground<'_>) -> bool {
    ground.world.catalog.cluster_queues().len() > 0
}

/// The flavors of each set of pods of a unit.
type Flavors = Vec<(Arc<PodTemplate>, Vec<EcoString>)>;

/// New pods of queues wait for quota from now on.
pub(super) fn begin(world: &mut World, ground: &Ground<'_>) {
    if is_known(ground) {
        world.gate(KUEUE_QUEUE);
    }
}

/// Admits the pods for which there is quota; returns whether any was.
pub(super) fn advance(world: &mut World, ground: &Ground<'_>) -> bool {
    let gated = world.scheduler().gated();
    if gated.is_empty() {
        return false;
    }
    let waits: BTreeSet<PodId> = gated.iter().copied().collect();
    let groups = world.groups();
    let unit = |pod: PodId| {
        groups.get(&pod).map_or(Unit::Pod(pod), |(workload, group)| Unit::Group(*workload, *group))
    };
    let template = |pod: PodId| Arc::clone(world.scheduler().template_of(pod));
    // The pods of each unit, by what they request.
    let mut units: BTreeMap<Unit, Vec<PodId>> = BTreeMap::new();
    // Terminating pods are among them: their quota is free only when they are gone.
    for pod in world.present().filter(|pod| template(*pod).labels.get(KUEUE_QUEUE).is_some()) {
        units.entry(unit(pod)).or_default().push(pod);
    }
    let is_admitted = |pods: &[PodId]| pods.iter().any(|pod| !waits.contains(pod));
    let mut ledger = Ledger::default();
    let mut by_key: HashMap<Unit, Result<Flavors, EcoString>> = HashMap::new();
    for (unit, pods) in units.iter().filter(|(_, pods)| is_admitted(pods)) {
        // What was admitted stays, whatever the quota is now.
        let answer = ask(world, ground, *unit, pods, &template, &mut ledger);
        by_key.insert(*unit, Ok(answer.unwrap_or_default()));
    }
    let mut answers = Vec::new();
    for pod in gated {
        let unit = unit(pod);
        let pods = units.get(&unit).map(Vec::as_slice).unwrap_or_default();
        let answer = by_key
            .entry(unit)
            .or_insert_with(|| ask(world, ground, unit, pods, &template, &mut ledger));
        answers.push((pod, answer.clone()));
    }
    let mut changed = false;
    let mut templates: HashMap<(TemplateId, Vec<EcoString>), Option<TemplateId>> = HashMap::new();
    for (pod, answer) in answers {
        match answer {
            Ok(sets) => {
                let id = world.scheduler().template_id(pod);
                let template = Arc::clone(world.scheduler().template_of(pod));
                let flavors = sets.into_iter().find(|(set, _)| set.spec == template.spec);
                let flavors = flavors.map(|(_, flavors)| flavors).unwrap_or_default();
                // Pods of one template with the same flavors share the template that is admitted.
                let template =
                    *templates.entry((id, flavors)).or_insert_with_key(|(_, flavors)| {
                        let admitted = admitted(&ground.world.catalog, &template, flavors)?;
                        Some(world.template(Arc::new(admitted)))
                    });
                world.open_gate(pod, template);
                changed = true;
            }
            Err(why) => world.keep_gate(pod, why),
        }
    }
    changed
}

/// Gives a unit its quota, or says why it waits.
fn ask(
    world: &World,
    ground: &Ground<'_>,
    unit: Unit,
    pods: &[PodId],
    template: &impl Fn(PodId) -> Arc<PodTemplate>,
    ledger: &mut Ledger,
) -> Result<Flavors, EcoString> {
    let Some(first) = pods.first().map(|pod| template(*pod)) else { return Ok(Vec::new()) };
    let mut templates: Vec<(Arc<PodTemplate>, usize)> = Vec::new();
    // Sets are told apart by their spec, as Kueue groups the pods of a group.
    let mut add = |template: Arc<PodTemplate>, count: usize| match templates
        .iter_mut()
        .find(|(pod_template, _)| pod_template.spec == template.spec)
    {
        Some((_, pods)) => *pods += count,
        None => templates.push((template, count)),
    };
    match unit {
        // The workers of a group are created after its leader.
        Unit::Group(workload, _)
            if let Some(revision) = world.group_revision(workload)
                && pods.len() < revision.size =>
        {
            add(Arc::clone(&revision.leader), 1);
            add(Arc::clone(&revision.worker), revision.size.saturating_sub(1));
        }
        _ => pods.iter().for_each(|pod| add(template(*pod), 1)),
    }
    let shapes: Vec<(Shape, usize)> =
        templates.iter().map(|(template, count)| (shape(template), *count)).collect();
    let sets: Vec<PodSet<'_>> = shapes
        .iter()
        .map(|(shape, count)| PodSet { shape, count: i64::try_from(*count).unwrap_or(i64::MAX) })
        .collect();
    let queue = first.labels.get(KUEUE_QUEUE).cloned().unwrap_or_default();
    let queue = Field::new(queue, Origin::Derived(&POD));
    let catalog = &ground.world.catalog;
    let decision = admit(catalog, &first.namespace, queue, &sets, 1, ledger);
    match decision.admitted.first() {
        Some(admitted) => {
            let templates = templates.into_iter().map(|(template, _)| template);
            Ok(templates.zip(admitted.sets.iter().cloned()).collect())
        }
        None if decision.waiting > 0 && decision.unread.is_none() => Err(message(&decision)),
        None if decision.obstacle.is_some() => Err(message(&decision)),
        // Pods that request nothing get no flavor.
        None => Ok(Vec::new()),
    }
}
