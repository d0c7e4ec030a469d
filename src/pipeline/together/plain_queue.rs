//! The Kueue queue of a workload of the input, and what Kueue reads of its pods.

use super::units::{Stands, Units};
use crate::api::{Field, Object};
use crate::catalog::Catalog;
use crate::cluster::fleet::Workload;
use crate::cluster::schedule::{Labels, PodTemplate};
use crate::cluster::{Milli, Shape, Toleration};
use crate::decision::QueueDecision;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::admit::{self as queue, PodSet};
use crate::operators::kueue::cohort::Ledger;
use crate::operators::kueue::pods::{PRIORITY_CLASS, is_admitted};
use crate::pipeline::queued::{label, queue_of};
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

pub(in crate::pipeline) static POD: Rule = Rule {
    id: "kueue-pod",
    text: "Kueue reads the node selector and the tolerations of a pod",
    cite: "pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets",
};

/// The queue that a workload of the input names.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct PlainQueue {
    /// Its name.
    pub(super) name: Field<EcoString>,
    /// Namespace.
    pub(super) namespace: EcoString,
    /// All pods are admitted together or not at all; else each replica is.
    pub(in crate::pipeline) whole: bool,
    /// The group of pods that it belongs to.
    pub(super) group: Option<PodGroup>,
    /// Only its pods name the queue.
    pub(super) of_pods: bool,
    /// The WorkloadPriorityClass that the object names.
    pub(super) class: Option<EcoString>,
}

/// Pods that are admitted together (pkg/controller/jobs/pod).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodGroup {
    pub(super) name: EcoString,
    /// How many pods it has.
    pub(super) size: usize,
}

/// The label of the group of a pod.
pub(in crate::pipeline) const GROUP_NAME: &str = "kueue.x-k8s.io/pod-group-name";
const GROUP_SIZE: &str = "kueue.x-k8s.io/pod-group-total-count";

impl PodGroup {
    /// The group of a pod, unless some pod of it was admitted: then all were.
    fn of(catalog: &Catalog, object: &Object) -> Option<Self> {
        if object.id.kind != "Pod" {
            return None;
        }
        let label =
            |object: &Object| object.node.at(&["metadata", "labels", GROUP_NAME])?.scalar_text();
        let name = label(object)?;
        let size = object.annotation(GROUP_SIZE).and_then(Node::scalar_text);
        let mut others = catalog.others().iter().filter(|other| {
            other.id.kind == "Pod"
                && other.id.scope == object.id.scope
                && label(other).as_ref() == Some(&name)
        });
        // Without the annotation Kueue takes the pod as a group of its own.
        let size = size.and_then(|size| size.parse().ok()).unwrap_or(1);
        (!others.any(|pod| is_admitted(&pod.node))).then_some(Self { name, size })
    }
}

impl PlainQueue {
    /// The queue of a workload with these labels of its pods, where queues are known.
    pub(in crate::pipeline) fn of(
        catalog: &Catalog,
        object: &Object,
        group: &str,
        labels: Option<&Labels>,
    ) -> Option<Self> {
        // Without queues in the input a label admits nothing and holds nothing.
        Self::named(catalog, object, group, labels).filter(|_| catalog.has_queues())
    }

    /// The same, whatever is known of queues.
    pub(super) fn named(
        catalog: &Catalog,
        object: &Object,
        group: &str,
        labels: Option<&Labels>,
    ) -> Option<Self> {
        let kind = object.id.kind.as_str();
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        // Other kinds need the label on the template.
        if let Some((name, whole)) = queue_of(group, kind, &object.node) {
            let class = label(&object.node, PRIORITY_CLASS).map(|class| class.value);
            return Some(Self { name, namespace, whole, group: None, of_pods: false, class });
        }
        let name = Field::new(labels?.get(KUEUE_QUEUE)?.clone(), Origin::Derived(&POD));
        let group = PodGroup::of(catalog, object);
        Some(Self { name, namespace, whole: false, group, of_pods: true, class: None })
    }

    /// The ClusterQueue, where it was read.
    pub(super) fn cluster_queue<'c>(&self, catalog: &'c Catalog) -> Option<&'c EcoString> {
        Some(catalog.cluster_queue_of(&self.namespace, &self.name.value)?.name())
    }

    /// What Kueue admits as one, in the order of the replicas.
    pub(super) fn units(&self, workload: &Workload) -> Units {
        let replicas = workload.replicas.iter().enumerate();
        let pods = replicas
            .map(|(at, replica)| (0..replica.pods.len()).map(|place| (at, place)).collect());
        let pods: Units = pods.collect();
        if self.whole { vec![pods.concat()] } else { pods }
    }

    /// What Kueue admits of the workload, after what the ledger has, and how many replicas wait.
    /// So many of its units were admitted before, by a decision.
    pub(super) fn admit(
        &self,
        catalog: &Catalog,
        workload: &Workload,
        stands: &Stands,
        ledger: &mut Ledger,
    ) -> (QueueDecision, usize) {
        let all = if self.whole { 1 } else { workload.replicas.len() };
        let (shapes, new) = (self.shapes(workload), all.saturating_sub(stands.units));
        let number = i64::try_from(new).unwrap_or(i64::MAX);
        let (namespace, name) = (&self.namespace, self.name.clone());
        let decision = queue::admit(catalog, namespace, name, &sets(&shapes), number, ledger);
        let waiting = usize::try_from(decision.waiting).unwrap_or(0).min(new);
        let waiting = if decision.obstacle.is_some() { new } else { waiting };
        let waiting = if self.whole { waiting * workload.replicas.len() } else { waiting };
        (stands.before(decision), waiting)
    }

    /// So many units of the workload, which were admitted before.
    pub(super) fn stand(
        &self,
        catalog: &Catalog,
        workload: &Workload,
        units: i64,
        ledger: &mut Ledger,
    ) -> QueueDecision {
        let (shapes, name) = (self.shapes(workload), self.name.clone());
        queue::stand(catalog, &self.namespace, name, &sets(&shapes), units, ledger)
    }

    /// The pods of a unit that are alike, each with their number.
    fn shapes(&self, workload: &Workload) -> Vec<(Shape, i64)> {
        let all = workload.replicas.len();
        // The first replica stands for all: replicas of one workload are alike.
        let together = if self.whole { all } else { all.min(1) };
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        for template in workload.replicas[..together].iter().flat_map(|replica| &replica.pods) {
            *counts.entry(*template).or_default() += 1;
        }
        counts.iter().map(|(at, count)| (shape(&workload.templates[*at]), *count)).collect()
    }
}

fn sets(shapes: &[(Shape, i64)]) -> Vec<PodSet<'_>> {
    shapes.iter().map(|(shape, count)| PodSet { shape, count: *count }).collect()
}

/// What Kueue reads of a pod.
pub(in crate::pipeline) fn shape(pod: &PodTemplate) -> Shape {
    let origin = Origin::Derived(&POD);
    let amounts = pod.requests.iter().map(|(name, amount)| {
        // The scheduler counts cpu in thousandths, everything else in units; Kueue's amounts here
        // are all in thousandths.
        let times = if name == "cpu" { 1 } else { 1000 };
        (name.clone(), Milli::from(*amount) * times)
    });
    let mut selector = Map::default();
    for requirement in pod.node_selector.requirements() {
        // A node selector has one value for each key.
        if let Some(value) = requirement.values().first() {
            selector.insert(requirement.key(), Node::str(value.clone(), origin));
        }
    }
    let selector = (!selector.is_empty()).then(|| Node::new(Value::Map(selector), origin));
    let tolerations =
        pod.tolerations.iter().map(|tolerated| toleration(tolerated, origin)).collect();
    Shape::new(amounts, selector, tolerations)
}

fn toleration(toleration: &Toleration, origin: Origin) -> Node {
    let mut map = Map::default();
    let operator = if toleration.exists { "Exists" } else { "Equal" };
    map.insert("operator", Node::str(operator, origin));
    for (key, value) in
        [("key", &toleration.key), ("value", &toleration.value), ("effect", &toleration.effect)]
    {
        if !value.is_empty() {
            map.insert(key, Node::str(value.clone(), origin));
        }
    }
    Node::new(Value::Map(map), origin)
}
