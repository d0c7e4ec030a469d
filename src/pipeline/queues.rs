//! Kueue in a simulation: new pods of a queue have a scheduling gate until there is quota for them.
//!
//! A pod of a Deployment is a workload of its own, a group of a LeaderWorkerSet is one
//! (pkg/controller/jobs/pod and pkg/controller/jobs/leaderworkerset). Quota is what the pods that
//! were admitted before leave, terminating ones among them. What waits is admitted in the order of
//! priority and creation; a workload that does not fit lets later ones pass unless its ClusterQueue
//! is one of `StrictFIFO`.

use super::question::message;
use super::together::claims::Claim;
use super::together::plain_queue::{GROUP_NAME, POD, shape};
use super::together::settled::Ground;
use crate::api::Field;
use crate::catalog::Catalog;
use crate::cluster::Shape;
use crate::cluster::fleet::Slots;
use crate::cluster::schedule::{PodId, PodTemplate, TemplateId};
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::admit::{PodSet, admit, stand};
use crate::operators::kueue::cohort::Ledger;
use crate::operators::kueue::flavor::admitted;
use crate::operators::kueue::pods::{Priorities, admitted_by, is_held};
use crate::rollout::{WorkloadId, World};
use crate::yaml::Origin;
use ecow::EcoString;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What Kueue admits as one: a pod, or the pods of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Unit {
    Pod(PodId),
    Group(WorkloadId, usize),
    /// Pods that ran, by namespace and the name of their group.
    Named(EcoString, EcoString),
    /// The pods of a workload that is admitted as a whole, by its place.
    Whole(usize),
}

/// The flavors of each set of pods of a unit.
type Flavors = Vec<(Arc<PodTemplate>, Vec<EcoString>)>;

/// The pods of a simulation that have quota, each with its LocalQueue.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    is_known: bool,
    admitted: BTreeMap<PodId, EcoString>,
    /// The pods of each group that ran, and of what was admitted as a whole: the Workload stays while pods of
    /// it are replaced.
    groups: BTreeMap<Unit, Vec<(PodId, EcoString)>>,
    /// Pods without a place in the simulation that have quota, too.
    others: Vec<(Arc<PodTemplate>, EcoString)>,
    priorities: Priorities,
}

/// The group of a pod that ran.
fn named(pod: &PodTemplate) -> Option<Unit> {
    let name = pod.labels.get(GROUP_NAME)?;
    Some(Unit::Named(pod.namespace.clone(), name.clone()))
}

impl Queues {
    /// New pods of queues wait for quota from now on. `of_input` are pods of the world that are in the
    /// input, each with the LocalQueue whose quota it has; other pods of a queue that have a place were
    /// admitted when they were placed.
    pub(super) fn begin(
        world: &mut World,
        catalog: &Catalog,
        of_input: impl IntoIterator<Item = (PodId, Option<EcoString>)>,
    ) -> Self {
        let mut all = Self { is_known: catalog.has_cluster_queues(), ..Self::default() };
        if !all.is_known {
            return all;
        }
        all.priorities = Priorities::of(catalog);
        let mut of_input: HashMap<PodId, Option<EcoString>> = of_input.into_iter().collect();
        let scheduler = world.scheduler();
        for pod in world.present() {
            let template = scheduler.template_of(pod);
            let placed = || template.labels.get(KUEUE_QUEUE).cloned();
            let queue = of_input.remove(&pod).unwrap_or_else(placed);
            all.admitted.extend(queue.map(|queue| (pod, queue)));
        }
        world.gate(KUEUE_QUEUE);
        let waits = |pod: &PodId| is_held(world.scheduler().template_of(*pod));
        let waits: Vec<PodId> = world.present().filter(waits).collect();
        for pod in waits {
            world.wait_for_gate(pod);
        }
        all
    }

    /// The same of a settled state: the pods of claims by their places, and those of others by their number
    /// among the running pods.
    pub(super) fn of_settled(
        world: &mut World,
        ground: &Ground<'_>,
        catalog: &Catalog,
        claims: &[Claim],
        slots: &[Slots],
        others: impl Iterator<Item = (PodId, usize)>,
    ) -> Self {
        let of_slots = slots.iter().flat_map(|replicas| replicas.iter().flatten());
        let of_slots = of_slots.filter_map(|slot| Some((slot.pod?, slot.number?)));
        let all = of_slots.chain(others);
        let of_input = all.map(|(pod, number)| (pod, ground.queued.get(number).cloned().flatten()));
        let mut queues = Self::begin(world, catalog, of_input.collect::<Vec<_>>());
        for (at, (claim, slots)) in claims.iter().zip(slots).enumerate() {
            // The pods of a Job need not name its queue.
            if let Some(queue) = claim.queue_of_all().filter(|_| queues.is_known) {
                for pod in slots.iter().flatten().filter_map(|slot| slot.pod) {
                    // Those of a StatefulSet have a label with their group.
                    let group = named(world.scheduler().template_of(pod));
                    let unit = group.unwrap_or(Unit::Whole(at));
                    queues.admitted.remove(&pod);
                    queues.groups.entry(unit).or_default().push((pod, queue.clone()));
                }
            }
        }
        queues
    }

    /// The groups of pods that ran keep their quota while pods of them are replaced: their Workload is
    /// one of the group (pkg/controller/jobs/pod/pod_controller.go).
    pub(super) fn keep_groups(&mut self, world: &World) {
        for (pod, queue) in &self.admitted {
            if let Some(group) = named(world.scheduler().template_of(*pod)) {
                self.groups.entry(group).or_default().push((*pod, queue.clone()));
            }
        }
    }

    /// A pod that waits for a node in the input, and is not simulated: it may have quota.
    pub(super) fn count(&mut self, pod: &Arc<PodTemplate>) {
        if let Some(queue) = admitted_by(pod).filter(|_| self.is_known) {
            self.others.push((Arc::clone(pod), queue.clone()));
        }
    }

    /// Pods whose workloads are deleted: each has its quota until it is gone.
    pub(super) fn leave(&mut self, pods: &[PodId]) {
        let leaves = |(pod, _): &(PodId, EcoString)| pods.contains(pod);
        for (_, left) in self.groups.extract_if(.., |_, group| group.iter().any(leaves)) {
            self.admitted.extend(left);
        }
    }

    /// Lets controllers and the scheduler act, and admits pods, until neither changes anything.
    pub(super) fn settle(&mut self, world: &mut World, catalog: &Catalog) {
        world.settle();
        while self.advance(world, catalog) {
            world.settle();
        }
    }

    /// Admits the pods for which there is quota; returns whether any was.
    pub(super) fn advance(&mut self, world: &mut World, catalog: &Catalog) -> bool {
        let mut gated = if self.is_known { world.scheduler().gated() } else { Vec::new() };
        if gated.is_empty() {
            return false;
        }
        // A stable sort: within a priority the order of creation stays.
        let scheduler = world.scheduler();
        let priority = |pod: PodId| self.priorities.of_pod(scheduler.template_of(pod), None);
        gated.sort_by_cached_key(|pod| Reverse(priority(*pod)));
        let groups = world.groups();
        let template = |pod: PodId| Arc::clone(world.scheduler().template_of(pod));
        // Where a pod of a group has quota and the group has none of its own, each has its own.
        let of_group = |pod: PodId| named(world.scheduler().template_of(pod));
        let apart: BTreeSet<Unit> = self.admitted.keys().filter_map(|pod| of_group(*pod)).collect();
        let unit = |pod: PodId| {
            if let Some((workload, group)) = groups.get(&pod) {
                return Unit::Group(*workload, *group);
            }
            let is_one = |group: &Unit| self.groups.contains_key(group) || !apart.contains(group);
            of_group(pod).filter(is_one).unwrap_or(Unit::Pod(pod))
        };
        // The pods of each unit. Terminating pods are among them: their quota is free only when they are
        // gone.
        let mut units: BTreeMap<Unit, Vec<PodId>> = BTreeMap::new();
        let waits: BTreeSet<PodId> = gated.iter().copied().collect();
        let of_queues = |pod: &PodId| waits.contains(pod) || self.admitted.contains_key(pod);
        for pod in world.present().filter(of_queues) {
            units.entry(unit(pod)).or_default().push(pod);
        }
        let mut ledger = Ledger::default();
        let mut by_key: HashMap<Unit, Result<Flavors, EcoString>> = HashMap::new();
        for (pod, queue) in &self.others {
            let sets = [(Arc::clone(pod), 1)];
            let _flavors = ask(catalog, &pod.namespace, queue, &sets, true, &mut ledger);
        }
        for (group, pods) in &self.groups {
            let Some((first, queue)) = pods.first() else { continue };
            let all = sets(pods.iter().map(|(pod, _)| (template(*pod), 1)));
            let namespace = template(*first).namespace.clone();
            let answer = ask(catalog, &namespace, queue, &all, true, &mut ledger);
            by_key.insert(group.clone(), answer);
        }
        let mut question = |unit: &Unit, stands: bool| {
            let pods = units.get(unit).map(Vec::as_slice).unwrap_or_default();
            let Some(first) = pods.first().map(|pod| template(*pod)) else { return Ok(Vec::new()) };
            let named = pods.iter().find_map(|pod| self.admitted.get(pod));
            let queue =
                named.or_else(|| first.labels.get(KUEUE_QUEUE)).cloned().unwrap_or_default();
            let sets = sets_of(world, unit, pods, template);
            ask(catalog, &first.namespace, &queue, &sets, stands, &mut ledger)
        };
        // What was admitted stays, whatever the quota is now.
        for (unit, pods) in &units {
            if !by_key.contains_key(unit) && pods.iter().any(|pod| !waits.contains(pod)) {
                let answer = question(unit, true);
                by_key.insert(unit.clone(), Ok(answer.unwrap_or_default()));
            }
        }
        let mut answers = Vec::new();
        for pod in gated {
            let unit = unit(pod);
            let answer =
                by_key.entry(unit).or_insert_with_key(|unit| question(unit, false)).clone();
            answers.push((pod, answer));
        }
        let mut changed = false;
        let mut templates: HashMap<(TemplateId, Vec<EcoString>), Option<TemplateId>> =
            HashMap::new();
        for (pod, answer) in answers {
            match answer {
                Ok(sets) => {
                    let id = world.scheduler().template_id(pod);
                    let template = Arc::clone(world.scheduler().template_of(pod));
                    let flavors = sets.into_iter().find(|(set, _)| set.spec == template.spec);
                    let flavors = flavors.map(|(_, flavors)| flavors).unwrap_or_default();
                    let queue = template.labels.get(KUEUE_QUEUE).cloned().unwrap_or_default();
                    self.admitted.insert(pod, queue);
                    // Pods of one template with the same flavors share the template that is admitted.
                    let template =
                        *templates.entry((id, flavors)).or_insert_with_key(|(_, flavors)| {
                            let admitted = admitted(catalog, &template, flavors)?;
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
}

/// Sets are told apart by their spec, as Kueue groups the pods of a group.
fn sets(
    pods: impl IntoIterator<Item = (Arc<PodTemplate>, usize)>,
) -> Vec<(Arc<PodTemplate>, usize)> {
    let mut all: Vec<(Arc<PodTemplate>, usize)> = Vec::new();
    for (template, count) in pods {
        match all.iter_mut().find(|(other, _)| other.spec == template.spec) {
            Some((_, pods)) => *pods += count,
            None => all.push((template, count)),
        }
    }
    all
}

/// The sets of pods of a unit.
fn sets_of(
    world: &World,
    unit: &Unit,
    pods: &[PodId],
    template: impl Fn(PodId) -> Arc<PodTemplate>,
) -> Vec<(Arc<PodTemplate>, usize)> {
    match unit {
        // The workers of a group are created after its leader.
        Unit::Group(workload, _)
            if let Some(revision) = world.group_revision(*workload)
                && pods.len() < revision.size =>
        {
            sets([
                (Arc::clone(&revision.leader), 1),
                (Arc::clone(&revision.worker), revision.size.saturating_sub(1)),
            ])
        }
        _ => sets(pods.iter().map(|pod| (template(*pod), 1))),
    }
}

/// Gives a unit its quota, or says why it waits; one that `stands` was admitted before.
fn ask(
    catalog: &Catalog,
    namespace: &str,
    queue: &EcoString,
    pods: &[(Arc<PodTemplate>, usize)],
    stands: bool,
    ledger: &mut Ledger,
) -> Result<Flavors, EcoString> {
    let shapes: Vec<(Shape, usize)> =
        pods.iter().map(|(template, count)| (shape(template), *count)).collect();
    let sets: Vec<PodSet<'_>> = shapes
        .iter()
        .map(|(shape, count)| PodSet { shape, count: i64::try_from(*count).unwrap_or(i64::MAX) })
        .collect();
    let queue = Field::new(queue.clone(), Origin::Derived(&POD));
    let admission = if stands { stand } else { admit };
    let decision = admission(catalog, namespace, queue, &sets, 1, ledger);
    match decision.admitted.first() {
        Some(admitted) => {
            let templates = pods.iter().map(|(template, _)| Arc::clone(template));
            Ok(templates.zip(admitted.sets.iter().cloned()).collect())
        }
        None if stands => Ok(Vec::new()),
        None if decision.waiting > 0 && decision.unread.is_none() => Err(message(&decision)),
        None if decision.obstacle.is_some() => Err(message(&decision)),
        // Pods that request nothing get no flavor.
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    /// A Deployment of a cluster: a pod on each node, and pods that Kueue holds.
    fn deployment(name: &str, gpus: usize, on: &[&str], held: usize, created: &str) -> String {
        let replicas = on.len() + held;
        let label = "kueue.x-k8s.io/queue-name: lq";
        let spec = format!(
            "containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]"
        );
        let owner = |kind: &str, name: &str| {
            format!(
                "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {name}, uid: u, controller: true}}]"
            )
        };
        let template = format!(
            "template: {{metadata: {{labels: {{app: {name}, {label}}}}}, spec: {{{spec}}}}}"
        );
        let mut text = format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ml, uid: d{name}, creationTimestamp: '{created}', labels: {{{label}}}}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, {template}}}\n---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}-h, namespace: ml, uid: r{name}, {}}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, {template}}}\n",
            owner("Deployment", name)
        );
        let gate = "schedulingGates: [{name: kueue.x-k8s.io/admission}]".to_owned();
        let places = on.iter().map(|node| (format!("nodeName: {node}"), "Running"));
        for (at, (place, phase)) in
            places.chain((0..held).map(|_| (gate.clone(), "Pending"))).enumerate()
        {
            let pod = format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}-h-{at}, namespace: ml, uid: p{name}{at}, creationTimestamp: '{created}', labels: {{app: {name}, {label}, kueue.x-k8s.io/managed: 'true'}}, {}}}\nspec: {{{place}, {spec}}}\nstatus: {{phase: {phase}}}\n",
                owner("ReplicaSet", &format!("{name}-h"))
            );
            text.push_str(&pod);
        }
        text
    }

    fn queue(quota: usize, more: &str) -> String {
        format!(
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{{more}namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: f, resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: lq, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
        )
    }

    const NOW: &str = "2026-01-01T00:00:00Z";

    /// Each answer counts the same quota as in use: that of the pods that Kueue has admitted.
    #[test]
    fn every_answer_counts_the_same_quota() {
        let nodes = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + &gpu_node("n3", 8, "");
        let unmanaged = |text: String| text.replace(", kueue.x-k8s.io/managed: 'true'", "");
        let job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ml, uid: j, labels: {kueue.x-k8s.io/queue-name: lq}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: j-1, namespace: ml, uid: j1, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}]}\nspec: {nodeName: n1, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}\nstatus: {phase: Running}\n";
        let waits = |gpus| deployment("d2", gpus, &[], 1, NOW);
        for (runs, gpus, quota, held) in [
            (deployment("d1", 4, &["n1", "n1"], 0, NOW), 4, 8, true),
            (deployment("d1", 4, &["n1", "n1"], 0, NOW), 4, 12, false),
            // Less quota than what is in use.
            (deployment("d1", 8, &["n1"], 0, NOW), 2, 6, true),
            // Kueue passes by what it does not manage.
            (unmanaged(deployment("d1", 8, &["n1"], 0, NOW)), 4, 8, false),
            // The pods of a Job have no label of Kueue.
            (job.to_owned(), 4, 8, true),
        ] {
            let text = nodes.clone() + &runs + &waits(gpus) + &queue(quota, "");
            let file = [("in.yaml", text.as_str())];
            let plan = ome_on("plan -f {in.yaml}", &file);
            assert_eq!(plan.out.contains("waits for quota"), held, "{quota}: {}", plan.out);
            assert_eq!(plan.code, if held { 2 } else { 0 }, "{quota}: {}", plan.out);
            for command in [
                "rollout --all -f {in.yaml}",
                "rollout --all --base {in.yaml} -f {in.yaml}",
                "rollout d2 -f {in.yaml}",
            ] {
                let ran = ome_on(command, &file);
                let says = ran.out.contains("waits as before");
                assert_eq!(says, held, "{command} with {quota}: {}{}", ran.out, ran.err);
            }
        }
    }

    /// A pod that was admitted and has no node yet has its quota, whatever waits longer or is of a higher
    /// priority.
    #[test]
    fn what_starts_has_its_quota() {
        let gate = "schedulingGates: [{name: kueue.x-k8s.io/admission}], ";
        let starts = deployment("d1", 8, &[], 1, NOW).replace(gate, "");
        let waits = deployment("d2", 8, &[], 1, "2025-01-01T00:00:00Z");
        let alone = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml, uid: p, labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/managed: 'true'}}\nspec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]}\n";
        for (starts, name) in [(starts.as_str(), "Deployment/ml/d1"), (alone, "Pod/ml/p")] {
            // Without room for it as well.
            for node in [gpu_node("n1", 8, ""), gpu_node("n1", 4, "")] {
                let text = node + starts + &waits + &queue(8, "");
                let plan = ome_on("plan -f {in.yaml}", &[("in.yaml", text.as_str())]);
                let held = "Deployment/ml/d2: 1 pod without a node (waits for quota";
                assert!(plan.out.contains(held), "{}", plan.out);
                assert!(
                    !plan.out.contains(&format!("{name}: 1 pod without a node (waits")),
                    "{}",
                    plan.out
                );
            }
        }
    }

    /// What waits is admitted by the priority of its workload, which need not be that of its pods.
    #[test]
    fn the_priority_of_a_workload_comes_before_its_date() {
        let classes = "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 1000\n";
        let new = |name: &str, labels: &str| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: lq{labels}}}}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}}}\n"
            )
        };
        let nodes = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "");
        for (labels, waits) in [("", "b"), (", kueue.x-k8s.io/priority-class: high", "a")] {
            let text = nodes.clone() + classes + &new("a", "") + &new("b", labels) + &queue(8, "");
            let file = [("in.yaml", text.as_str()), ("base.yaml", nodes.as_str())];
            let says = format!("Deployment/ml/{waits}: 1 pod without a node (waits for quota");
            let plan = ome_on("plan -f {in.yaml}", &file);
            assert!(plan.out.contains(&says), "{}", plan.out);
            let rollout = ome_on("rollout --all --base {base.yaml} -f {in.yaml}", &file);
            let stuck = format!("ml/{waits}");
            assert!(
                rollout.out.contains(&stuck) && rollout.code == 2,
                "{}{}",
                rollout.code,
                rollout.out
            );
        }
    }

    /// The pod that replaces an evicted one is admitted again, after what waits longer.
    #[test]
    fn what_a_drain_evicts_is_admitted_again() {
        let nodes = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + &gpu_node("n3", 8, "");
        let runs = deployment("d1", 4, &["n1", "n2"], 0, NOW);
        let waits = |gpus| deployment("d2", gpus, &[], 1, NOW);
        let strict = "queueingStrategy: StrictFIFO, ";
        for (waiting, quota, more, says) in [
            (String::new(), 8, "", "✓ 1 node drained; 1 pod moves"),
            (
                waits(4),
                8,
                "",
                "waits for quota of ClusterQueue `cq`: f: nvidia.com/gpu: 4 requested",
            ),
            (waits(8), 8, "", "✓ 1 node drained; 1 pod moves"),
            (waits(8), 8, strict, "a workload before it waits, and queueingStrategy is StrictFIFO"),
            (String::new(), 4, "", "4 requested, 0 of 4 in quota"),
            (
                String::new(),
                8,
                "admissionChecks: [p], ",
                "they start when its AdmissionChecks agree: p",
            ),
        ] {
            let text = nodes.clone() + &runs + &waiting + &queue(quota, more);
            let ran = ome_on("drain n1 -f {in.yaml}", &[("in.yaml", text.as_str())]);
            assert!(ran.out.contains(says), "{quota} {more}: {}{}", ran.out, ran.err);
        }
    }
    /// What is admitted as a whole keeps its quota while pods of it are replaced.
    #[test]
    fn a_whole_keeps_its_quota_in_a_drain() {
        let nodes = gpu_node("n1", 8, "") + &gpu_node("n2", 8, "") + &gpu_node("n3", 8, "");
        let template = |labels: &str, restart: &str| {
            format!(
                "template: {{metadata: {{labels: {{app: w{labels}}}}}, spec: {{{restart}containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}"
            )
        };
        let object = |kind: &str, spec: &str| {
            format!(
                "---\napiVersion: {kind}\nmetadata: {{name: w, namespace: ml, uid: w, labels: {{kueue.x-k8s.io/queue-name: lq}}}}\nspec: {{{spec}}}\n"
            )
        };
        let pod = |version: &str, kind: &str, labels: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: w-0, namespace: ml, uid: w0, labels: {{app: w{labels}}}, ownerReferences: [{{apiVersion: {version}, kind: {kind}, name: w, uid: w, controller: true}}]}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}\nstatus: {{phase: Running}}\n"
            )
        };
        let set = |labels: &str| {
            let spec = "serviceName: s, replicas: 1, selector: {matchLabels: {app: w}}, ";
            object("apps/v1\nkind: StatefulSet", &format!("{spec}{}", template(labels, "")))
        };
        let label = ", kueue.x-k8s.io/queue-name: lq";
        let managed = ", kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/pod-group-name: g";
        let job = object("batch/v1\nkind: Job", &template("", "restartPolicy: Never, "));
        for whole in [
            set("") + &pod("apps/v1", "StatefulSet", managed),
            set(label) + &pod("apps/v1", "StatefulSet", managed),
            job + &pod("batch/v1", "Job", ""),
        ] {
            let waits = deployment("d2", 8, &[], 1, NOW);
            let text = nodes.clone() + &whole + &waits + &queue(8, "");
            let ran = ome_on("drain n1 -f {in.yaml} -o json", &[("in.yaml", text.as_str())]);
            assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
            assert!(!ran.out.contains("requested, 0 of 8"), "{}", ran.out);
            let plan = ome_on("plan -f {in.yaml}", &[("in.yaml", text.as_str())]);
            assert!(
                plan.out.contains("ml/d2: 1 pod without a node (waits for quota"),
                "{}",
                plan.out
            );
        }
    }

    /// The pods of a group that starts together wait for quota as those that start alone.
    #[test]
    fn groups_wait_for_quota_in_a_rollout_too() {
        let set = "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: d2, namespace: ml, labels: {kueue.x-k8s.io/queue-name: lq}}\nspec: {replicas: 2, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 2}}}]}}}}\n";
        let nodes = gpu_node("n1", 8, "");
        for (quota, code) in [(4, 2), (8, 0)] {
            let text = nodes.clone() + set + &queue(quota, "");
            let file = [("in.yaml", text.as_str()), ("base.yaml", nodes.as_str())];
            for command in [
                "plan -f {in.yaml}",
                "rollout --all -f {in.yaml}",
                "rollout --all --base {base.yaml} -f {in.yaml}",
            ] {
                let ran = ome_on(command, &file);
                assert_eq!(ran.code, code, "{command} with {quota}: {}{}", ran.out, ran.err);
            }
        }
    }

    /// What a server refuses before a change that does not touch it waits as before.
    #[test]
    fn what_is_refused_before_a_change_waits_as_before() {
        let quota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {requests.nvidia.com/gpu: 4}}\n";
        let text = gpu_node("n1", 8, "")
            + &deployment("d1", 4, &["n1"], 0, NOW)
            + quota
            + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d2, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: d2}}, template: {metadata: {labels: {app: d2}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}\n";
        let command = "rollout --all --base {in.yaml} -f {in.yaml}";
        let ran = ome_on(command, &[("in.yaml", text.as_str())]);
        assert!(ran.out.contains("waits as before: Deployment/ml/d2"), "{}{}", ran.out, ran.err);
    }
}
