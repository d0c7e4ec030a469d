//! Kueue quotas that several workloads share (docs/decisions.md#fleet-verdict): workloads are
//! admitted in order and borrow within the cohort.

use super::answer::NotJudged;
use super::claims::{Claim, Who};
use crate::api::{Field, Object};
use crate::catalog::Catalog;
use crate::cluster::fleet::{Fleet, Workload};
use crate::cluster::schedule::{Labels, PodTemplate};
use crate::cluster::{Milli, Shape, Toleration};
use crate::decision::QueueDecision;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::admit::{self as queue, PodSet};
use crate::operators::kueue::cohort::Ledger;
use crate::operators::kueue::flavor::admitted;
use crate::pipeline::planned::Planned;
use crate::pipeline::question::Question;
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub(in crate::pipeline) static POD: Rule = Rule {
    id: "kueue-pod",
    text: "Kueue reads the node selector and the tolerations of a pod",
    cite: "pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets",
};

/// The queue that a workload of the input names.
#[derive(Clone, Debug)]
pub(super) struct PlainQueue {
    /// Its name.
    pub(super) name: Field<EcoString>,
    /// Namespace.
    pub(super) namespace: EcoString,
    /// All pods are admitted together or not at all; else each replica is.
    pub(super) whole: bool,
}

/// Kinds that Kueue admits as one, by the label of the object (pkg/controller/jobs). Pods of Deployments
/// are workloads of their own, and so are the groups of LeaderWorkerSets.
static WHOLE: &[(&str, &[&str])] = &[
    ("apps", &["StatefulSet"]),
    ("batch", &["Job"]),
    ("jobset.x-k8s.io", &["JobSet"]),
    ("kubeflow.org", &["MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"]),
    ("ray.io", &["RayCluster", "RayJob", "RayService"]),
];

impl PlainQueue {
    /// The queue of a workload with these labels of its pods, where queues are known.
    pub(super) fn of(
        catalog: &Catalog,
        object: &Object,
        group: &str,
        labels: Option<&Labels>,
    ) -> Option<Self> {
        if catalog.cluster_queues().len() + catalog.local_queues().len() == 0 {
            return None;
        }
        let kind = object.id.kind.as_str();
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let whole = WHOLE.iter().any(|(own, kinds)| *own == group && kinds.contains(&kind));
        let copied = matches!(
            (group, kind),
            ("apps", "Deployment") | ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
        );
        let stated = object.node.at(&["metadata", "labels", KUEUE_QUEUE]);
        if let Some(label) = stated.filter(|_| whole || copied)
            && let Some(name) = label.scalar_text().filter(|name| !name.is_empty())
        {
            return Some(Self { name: Field::new(name, label.origin), namespace, whole });
        }
        let name = labels?.get(KUEUE_QUEUE)?.clone();
        Some(Self { name: Field::new(name, Origin::Derived(&POD)), namespace, whole: false })
    }

    /// What Kueue admits of the workload, after what the ledger has, and how many replicas wait.
    fn admit(
        &self,
        catalog: &Catalog,
        workload: &Workload,
        ledger: &mut Ledger,
    ) -> (QueueDecision, usize) {
        let all = workload.replicas.len();
        let together = if self.whole { all } else { all.min(1) };
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        for template in workload.replicas[..together].iter().flat_map(|own| &own.pods) {
            *counts.entry(*template).or_default() += 1;
        }
        let shapes: Vec<(Shape, i64)> =
            counts.iter().map(|(at, count)| (shape(&workload.templates[*at]), *count)).collect();
        let sets: Vec<PodSet<'_>> =
            shapes.iter().map(|(shape, count)| PodSet { shape, count: *count }).collect();
        let units = if self.whole { 1 } else { i64::try_from(all).unwrap_or(i64::MAX) };
        let decision =
            queue::admit(catalog, &self.namespace, self.name.clone(), &sets, units, ledger);
        let waiting = usize::try_from(decision.waiting).unwrap_or(0).min(all);
        let waits = decision.obstacle.is_some() || self.whole && waiting > 0;
        let waiting = if waits { all } else { waiting };
        (decision, waiting)
    }
}

/// Holds the replicas that have to wait for quota. Returns, by index of the claim, the reason.
pub(super) fn hold(
    catalog: &Catalog,
    planned: &mut [Planned<'_>],
    claims: &[Claim],
    fleet: &mut Fleet,
) -> BTreeMap<usize, EcoString> {
    let mut held = BTreeMap::new();
    let mut ledger = Ledger::default();
    for at in fleet.sequence() {
        let Who::Component(service, component) = claims[at].who else {
            let workload = &mut fleet.workloads[at];
            let Some(own) = claims[at].queue.as_ref().filter(|_| !workload.replicas.is_empty())
            else {
                continue;
            };
            let (decision, waiting) = own.admit(catalog, workload, &mut ledger);
            if decision.known && waiting > 0 {
                let held_back = workload.replicas.iter_mut().rev().take(waiting);
                held_back.for_each(|replica| replica.held = true);
                held.insert(at, message(&decision));
            }
            // Claims belong to templates.
            if !own.whole && workload.claims.is_empty() {
                apply(catalog, &decision, workload);
            }
            continue;
        };
        let planned = &mut planned[service];
        let own = &mut planned.components[component];
        let (Some(decision), Some(question)) = (own.queue.take(), &own.question) else { continue };
        let decision = admit(catalog, &planned.service.namespace, *decision, question, &mut ledger);
        let waiting = usize::try_from(decision.waiting).unwrap_or(0);
        let replicas = &mut fleet.workloads[at].replicas;
        let waiting = if decision.obstacle.is_some() { replicas.len() } else { waiting };
        if waiting > 0 {
            for replica in replicas.iter_mut().rev().take(waiting) {
                replica.held = true;
            }
            held.insert(at, message(&decision));
        }
        apply(catalog, &decision, &mut fleet.workloads[at]);
        own.queue = Some(Box::new(decision));
    }
    held
}

/// The pods that start only when AdmissionChecks of their queue agree, which is not judged.
pub(super) fn checked(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    claims: &[Claim],
    fleet: &Fleet,
) -> Vec<NotJudged> {
    let mut pods: BTreeMap<&EcoString, usize> = BTreeMap::new();
    for (claim, workload) in claims.iter().zip(&fleet.workloads) {
        let Who::Component(service, component) = claim.who else { continue };
        let queue = planned[service].components[component].queue.as_ref();
        let Some(queue) = queue.and_then(|own| own.cluster_queue.as_ref()) else { continue };
        let replicas = workload.replicas.iter().filter(|replica| !replica.held);
        *pods.entry(queue).or_default() +=
            replicas.map(|replica| replica.pods.len()).sum::<usize>();
    }
    let judged = |(queue, pods): (&EcoString, usize)| {
        let checks = &catalog.cluster_queue(queue)?.checks;
        (pods > 0 && !checks.is_empty()).then(|| NotJudged {
            what: eco_format!("ClusterQueue `{queue}`"),
            pods: Some(pods),
            message: eco_format!(
                "they start when its AdmissionChecks agree: {}",
                checks.join(", ")
            ),
        })
    };
    pods.into_iter().filter_map(judged).collect()
}

/// Gives the pods of new replicas what their flavors add. Those that run have it already.
fn apply(catalog: &Catalog, decision: &QueueDecision, workload: &mut Workload) {
    let mut templates: HashMap<(usize, &[EcoString]), usize> = HashMap::new();
    let of_replicas = decision.admitted.iter().flat_map(|own| {
        let replicas = usize::try_from(own.replicas).unwrap_or(0);
        std::iter::repeat_n(&own.sets, replicas)
    });
    let mut running = workload.running.len();
    for (replica, sets) in workload.replicas.iter_mut().zip(of_replicas) {
        let runs = running >= replica.pods.len() && running > 0;
        running = running.saturating_sub(replica.pods.len());
        if runs || replica.held {
            continue;
        }
        for pod in &mut replica.pods {
            // The first template is that of the main pod, the second that of the workers.
            let Some(set) = sets.get(*pod).or_else(|| sets.first()) else { continue };
            let known = templates.entry((*pod, set)).or_insert_with(|| {
                let flavors = set.iter().filter_map(|name| catalog.flavor(name));
                let Some(admitted) = admitted(&workload.templates[*pod], flavors) else {
                    return *pod;
                };
                workload.templates.push(Arc::new(admitted));
                workload.admitted.push(*pod);
                workload.templates.len() - 1
            });
            *pod = *known;
        }
    }
}

/// What a queue admits of a component, after what the ledger has.
fn admit(
    catalog: &Catalog,
    namespace: &str,
    decision: QueueDecision,
    question: &Question,
    ledger: &mut Ledger,
) -> QueueDecision {
    if !decision.known {
        return decision;
    }
    queue::admit(catalog, namespace, decision.queue, &question.sets(), question.fewest, ledger)
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
            let queue = claims[*at].queue.as_ref().filter(|_| !workload.replicas.is_empty());
            return queue.is_some_and(|own| own.admit(catalog, workload, &mut ledger).1 > 0);
        };
        let planned = &planned[service];
        let own = &planned.components[component];
        let (Some(decision), Some(question)) = (&own.queue, &own.question) else { return false };
        let namespace = &planned.service.namespace;
        let decision =
            admit(catalog, namespace, QueueDecision::clone(decision), question, &mut ledger);
        decision.waiting > 0 || decision.obstacle.is_some()
    };
    sequence.iter().copied().filter(|at| waits(at)).collect()
}

/// The reason for waiting.
pub(in crate::pipeline) fn message(decision: &QueueDecision) -> EcoString {
    let local = &decision.queue.value;
    if let Some(obstacle) = &decision.obstacle {
        return obstacle.into();
    }
    let queue = decision.cluster_queue.as_ref().map_or_else(
        || eco_format!("LocalQueue `{local}`"),
        |cluster| eco_format!("ClusterQueue `{cluster}`"),
    );
    let last = decision.rejected.last();
    let detail = last.map(|last| eco_format!(": {}: {}", last.flavor, last.detail));
    eco_format!("waits for quota of {queue}{}", detail.unwrap_or_default())
}

/// What Kueue reads of a pod.
pub(in crate::pipeline) fn shape(pod: &PodTemplate) -> Shape {
    let origin = Origin::Derived(&POD);
    let amounts = pod.requests.iter().map(|(name, amount)| {
        let times = if name == "cpu" { 1 } else { 1000 };
        (name.clone(), Milli::from(*amount) * times)
    });
    let mut selector = Map::default();
    for own in pod.node_selector.requirements() {
        if let Some(value) = own.values().first() {
            selector.insert(own.key(), Node::str(value.clone(), origin));
        }
    }
    let selector = (!selector.is_empty()).then(|| Node::new(Value::Map(selector), origin));
    let tolerations = pod.tolerations.iter().map(|own| toleration(own, origin)).collect();
    Shape::new(amounts, selector, tolerations)
}

fn toleration(own: &Toleration, origin: Origin) -> Node {
    let mut map = Map::default();
    let operator = if own.exists { "Exists" } else { "Equal" };
    map.insert("operator", Node::str(operator, origin));
    for (key, value) in [("key", &own.key), ("value", &own.value), ("effect", &own.effect)] {
        if !value.is_empty() {
            map.insert(key, Node::str(value.clone(), origin));
        }
    }
    Node::new(Value::Map(map), origin)
}
