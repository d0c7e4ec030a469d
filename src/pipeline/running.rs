//! The running pods and their owners.

use super::built::PodContext;
use crate::api::{Api, ModelServing, Object};
use crate::catalog::Catalog;
use crate::cluster::Shape;
use crate::cluster::schedule::{Labels, PodSpec, PodTemplate, held, labels};
use crate::operators::OPERATORS;
use crate::operators::kueue::pods::has_gate;
use crate::operators::servings;
use crate::operators::servings::objects::names;
use crate::rollout::leader_worker_set::pods;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use foldhash::{HashMap, HashSet};
use rayon::prelude::*;
use std::sync::Arc;

/// The label that names the component of a pod.
const COMPONENT: &str = "component";

/// A pod that occupies a node.
#[derive(Clone, Debug)]
pub struct RunningPod<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its node.
    pub node: EcoString,
    /// Its labels.
    pub labels: Labels,
    /// `status.startTime`.
    pub started: Option<EcoString>,
    /// `metadata.deletionTimestamp` is set.
    pub ends: bool,
    /// Condition Ready is true or not set.
    pub ready: bool,
    replica_set: ReplicaSet,
}

/// What creates a pod again after it is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Creator {
    /// Nothing.
    Nobody,
    /// A controller that runs it on this node only.
    Node,
    /// A workload: `namespace/name` of a service or ModelServing, else `Kind/namespace/name`.
    Workload(EcoString),
}

/// The parts of the name of who owns pods, as [`Creator::Workload`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerName<'n> {
    /// The kind of a workload without an operator; `None` of a service or ModelServing, which need
    /// none.
    pub kind: Option<&'n str>,
    /// The namespace.
    pub namespace: &'n str,
    /// The name.
    pub name: &'n str,
}

impl<'n> OwnerName<'n> {
    /// Reads `Kind/namespace/name` or `namespace/name`: no part holds a slash.
    pub fn of(text: &'n str) -> Self {
        let (rest, name) = text.rsplit_once('/').unwrap_or(("", text));
        match rest.split_once('/') {
            Some((kind, namespace)) => Self { kind: Some(kind), namespace, name },
            None => Self { kind: None, namespace: rest, name },
        }
    }

    /// Whether it is a workload of that kind.
    pub(crate) fn is(self, kind: &str) -> bool {
        self.kind == Some(kind)
    }
}

/// The ReplicaSet of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ReplicaSet {
    /// It was not read, or the pod has none.
    #[default]
    Unread,
    /// Nothing owns it.
    Alone,
    /// It is of a Deployment or another workload: kind and name.
    Of(EcoString, EcoString),
}

/// The owner of a pod: API, namespace and name of a service or ModelServing.
pub(crate) type Owner = (Api, EcoString, EcoString);

impl<'a> RunningPod<'a> {
    /// The pods with a node, or those that wait for one, with the ReplicaSets among the objects.
    fn all(objects: &'a [Object], waits: bool) -> Vec<RunningPod<'a>> {
        let sets: HashMap<(&str, EcoString), ReplicaSet> = objects
            .iter()
            .filter(|object| object.id.kind == "ReplicaSet" && object.group() == "apps")
            .map(|object| {
                let owner = owner_of(object);
                let of = owner.map_or(ReplicaSet::Alone, |(kind, name)| ReplicaSet::Of(kind, name));
                let namespace = object.id.scope.namespace().map(EcoString::as_str);
                ((namespace.unwrap_or_default(), object.id.name.clone()), of)
            })
            .collect();
        let mut pods: Vec<RunningPod<'a>> =
            objects.iter().filter_map(|object| RunningPod::of(object, waits)).collect();
        if sets.is_empty() {
            return pods;
        }
        for pod in &mut pods {
            let owner = owner_of(pod.object).filter(|(kind, _)| kind == "ReplicaSet");
            let set = owner.and_then(|(_, name)| sets.get(&(pod.namespace(), name)));
            pod.replica_set = set.cloned().unwrap_or_default();
        }
        pods
    }
}

/// Kind and name of the first owner of an object.
fn owner_of(object: &Object) -> Option<(EcoString, EcoString)> {
    let owners = object.metadata("ownerReferences").map(Node::items);
    owners.unwrap_or_default().iter().find_map(|owner| {
        let text = |key: &str| owner.get(key).and_then(Node::scalar_text);
        Some((text("kind")?, text("name")?))
    })
}

impl RunningPod<'_> {
    /// A pod with a node, or one that waits for a node.
    fn of(object: &Object, waits: bool) -> Option<RunningPod<'_>> {
        let text = |path: &[&str]| object.node.at(path).and_then(Node::scalar_text);
        // A pod that has ended keeps its nodeName, and holds nothing of the node.
        if object.id.kind != "Pod"
            || matches!(text(&["status", "phase"]).as_deref(), Some("Succeeded" | "Failed"))
        {
            return None;
        }
        let node = text(&["spec", "nodeName"]).unwrap_or_default();
        if node.is_empty() != waits {
            return None;
        }
        let conditions = object.node.at(&["status", "conditions"]).map(Node::items);
        let ready = conditions
            .unwrap_or_default()
            .iter()
            .find(|condition| condition.get("type").and_then(Node::as_str) == Some("Ready"));
        Some(RunningPod {
            object,
            node,
            labels: labels(object.metadata("labels")),
            started: text(&["status", "startTime"]),
            ends: text(&["metadata", "deletionTimestamp"]).is_some(),
            ready: ready.is_none_or(|ready| {
                ready.get("status").and_then(Node::scalar_text).as_deref() == Some("True")
            }),
            replica_set: ReplicaSet::default(),
        })
    }

    /// Namespace.
    pub fn namespace(&self) -> &str {
        self.object.id.scope.namespace().map(EcoString::as_str).unwrap_or_default()
    }

    /// `namespace/name`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.namespace(), self.object.id.name)
    }

    /// The service or ModelServing that its labels name.
    pub(crate) fn owner(&self) -> Option<Owner> {
        OPERATORS.iter().find_map(|operator| {
            let name = self.labels.get(operator.owner_label()).filter(|name| !name.is_empty())?;
            Some((operator.api(), self.namespace().into(), name.clone()))
        })
    }

    /// The component that its labels name.
    pub fn component(&self) -> Option<&str> {
        self.labels.get(COMPONENT).map(EcoString::as_str)
    }

    /// The workload that its labels or its owner name: a LeaderWorkerSet, a RayCluster, or the
    /// Deployment of its ReplicaSet.
    pub fn workload(&self) -> Option<EcoString> {
        let labeled = self.labels.get(pods::NAME).or_else(|| self.labels.get("ray.io/cluster"));
        labeled.cloned().or_else(|| {
            match owner_of(self.object) {
                // A ReplicaSet has the name of its Deployment and a hash.
                Some((kind, name)) if kind == "ReplicaSet" => match &self.replica_set {
                    ReplicaSet::Alone => Some(name),
                    ReplicaSet::Of(_, workload) => Some(workload.clone()),
                    ReplicaSet::Unread => {
                        name.rsplit_once('-').map(|(deployment, _)| deployment.into())
                    }
                },
                Some((_, name)) => Some(name),
                None => None,
            }
        })
    }

    /// The workload that it belongs to, `Kind/namespace/name`, DaemonSets among them; `None` of a pod
    /// that stands alone.
    pub(crate) fn workload_id(&self) -> Option<EcoString> {
        match self.creator() {
            Creator::Workload(id) => Some(id),
            Creator::Node => {
                Some(eco_format!("DaemonSet/{}/{}", self.namespace(), self.workload()?))
            }
            Creator::Nobody => None,
        }
    }

    /// What creates it again after it is deleted.
    pub(crate) fn creator(&self) -> Creator {
        let owners = self.object.metadata("ownerReferences").map(Node::items);
        let is_controller =
            |owner: &&Node| owner.get("controller").and_then(Node::as_bool) != Some(false);
        let Some(owner) = owners.unwrap_or_default().iter().find(is_controller) else {
            return Creator::Nobody;
        };
        let text = |key: &str| owner.get(key).and_then(Node::scalar_text).unwrap_or_default();
        let (kind, name, namespace) = (text("kind"), text("name"), self.namespace());
        if matches!(kind.as_str(), "DaemonSet" | "Node") {
            return Creator::Node;
        }
        // Services before workloads: their operator makes the workload again, too.
        if let Some((_, namespace, name)) = self.owner() {
            return Creator::Workload(eco_format!("{namespace}/{name}"));
        }
        let hash = self.labels.get("pod-template-hash");
        // Only with the hash of the label: a ReplicaSet without a Deployment may have a name with
        // a dash.
        let of_set = match &self.replica_set {
            ReplicaSet::Of(kind, name) => Some((kind.as_str(), name.as_str())),
            ReplicaSet::Alone => None,
            ReplicaSet::Unread => hash.and_then(|hash| {
                Some(("Deployment", name.strip_suffix(hash.as_str())?.strip_suffix('-')?))
            }),
        };
        let (kind, name) = match (self.labels.get(pods::NAME), of_set) {
            (Some(name), _) => ("LeaderWorkerSet", name.as_str()),
            (None, Some(workload)) if kind == "ReplicaSet" => workload,
            _ => (kind.as_str(), name.as_str()),
        };
        Creator::Workload(eco_format!("{kind}/{namespace}/{name}"))
    }

    fn number(&self, label: &str) -> Option<usize> {
        self.labels.get(label)?.parse().ok()
    }

    /// The group of a LeaderWorkerSet that it belongs to, and its index in the group.
    pub fn group(&self) -> Option<(usize, usize)> {
        Some((self.number(pods::GROUP_INDEX)?, self.number(pods::WORKER_INDEX).unwrap_or(0)))
    }

    /// Group and role of a ModelServing that it belongs to, and whether it is an entry pod.
    pub fn serving_role(&self) -> Option<(&str, &str, bool)> {
        let label = |key: &str| self.labels.get(key).map(EcoString::as_str);
        Some((
            label(names::GROUP)?,
            label(names::ROLE)?,
            label(crate::api::serving_names::ENTRY) == Some("true"),
        ))
    }
}

/// All pods that occupy a node, in the order in which they started, then by name.
#[derive(Clone, Debug, Default)]
pub struct RunningPods<'a> {
    /// The pods.
    pub all: Vec<RunningPod<'a>>,
    /// Indices by service or ModelServing; terminating pods belong to none.
    owned: HashMap<Owner, Vec<usize>>,
    /// Indices by namespace and workload, for pods whose labels name no service.
    workloads: HashMap<(EcoString, EcoString), Vec<usize>>,
}

impl<'a> RunningPods<'a> {
    /// The running pods among `objects`.
    pub fn new(objects: &'a [Object]) -> Self {
        Self::of_pods(RunningPod::all(objects, false))
    }

    /// The pods among `objects` that have no node yet, in the order of their creation.
    pub(crate) fn waiting(objects: &'a [Object]) -> Self {
        let mut all = RunningPod::all(objects, true);
        // A pod that waits and is being deleted will never start.
        all.retain(|pod| !pod.ends);
        for pod in &mut all {
            pod.started = pod.object.created().map(Into::into);
        }
        Self::of_pods(all)
    }

    fn of_pods(mut all: Vec<RunningPod<'a>>) -> Self {
        all.sort_by(|one, other| {
            fn key<'p>(pod: &'p RunningPod<'_>) -> (bool, Option<&'p EcoString>) {
                (pod.started.is_none(), pod.started.as_ref())
            }
            key(one).cmp(&key(other)).then_with(|| one.object.id.cmp(&other.object.id))
        });
        let mut pods = Self { all, ..Self::default() };
        // A terminating pod is no replica any more: its controller creates another one.
        for (at, pod) in pods.all.iter().enumerate().filter(|(_, pod)| !pod.ends) {
            if let Some(owner) = pod.owner() {
                pods.owned.entry(owner).or_default().push(at);
            } else if let Some(workload) = pod.workload() {
                pods.workloads.entry((pod.namespace().into(), workload)).or_default().push(at);
            }
        }
        pods
    }

    /// Indices of the pods of a service or ModelServing that has workloads of these names.
    pub(crate) fn of<'w>(
        &self,
        owner: &Owner,
        workloads: impl IntoIterator<Item = &'w EcoString>,
    ) -> Vec<usize> {
        let mut indices = self.owned.get(owner).cloned().unwrap_or_default();
        if !self.workloads.is_empty() {
            for workload in workloads {
                let key = (owner.1.clone(), workload.clone());
                indices.extend(self.workloads.get(&key).into_iter().flatten());
            }
            indices.sort_unstable();
        }
        indices
    }

    /// Indices of the pods whose owner has this name, for pods whose labels name no service.
    pub(crate) fn of_workload(&self, namespace: &EcoString, name: &EcoString) -> &[usize] {
        let found = self.workloads.get(&(namespace.clone(), name.clone()));
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether pods of a ModelServing run.
    pub fn runs(&self, serving: &ModelServing) -> bool {
        let owner = (servings::API, serving.namespace.clone(), serving.name().clone());
        !self.of(&owner, [serving.name()]).is_empty()
    }

    /// The template of each pod; pods of one controller share it. For a pod that cannot be read, only
    /// the requests of its containers are known.
    pub fn templates(&self, context: &PodContext) -> Vec<Arc<PodTemplate>> {
        let read = |pod: &RunningPod<'_>| {
            let spec = held(&pod.object.node);
            let spec = spec.as_deref();
            let read = spec.and_then(|spec| {
                context.read_running(pod.namespace(), pod.labels.clone(), spec).ok()
            });
            Arc::new(read.unwrap_or_else(|| {
                // An unreadable pod still holds its node: its requests are what the scheduler
                // counts.
                let shape = spec.map(Shape::of).unwrap_or_default();
                let requests = shape.amounts().filter(|(name, _)| *name != "pods");
                let requests = requests.map(|(name, milli)| {
                    let units = if name == "cpu" { milli } else { milli / 1000 };
                    (name.clone(), i64::try_from(units).unwrap_or(i64::MAX))
                });
                PodTemplate {
                    namespace: pod.namespace().into(),
                    labels: pod.labels.clone(),
                    spec: Arc::new(PodSpec { requests: requests.collect(), ..PodSpec::default() }),
                    ..PodTemplate::default()
                }
            }))
        };
        let mut templates: Vec<Arc<PodTemplate>> = self.all.par_iter().map(read).collect();
        let mut distinct: HashSet<Arc<PodTemplate>> = HashSet::default();
        // Equal templates are one from here on: later steps work per template, not per pod.
        for template in &mut templates {
            match distinct.get(template) {
                Some(same) => *template = Arc::clone(same),
                None => _ = distinct.insert(Arc::clone(template)),
            }
        }
        templates
    }
}

/// The pods of an input that have no node, with their templates. Where queues are known, those that Kueue
/// holds have a gate that a queue opens.
pub(super) fn waiting<'a>(
    catalog: &'a Catalog,
    context: &PodContext,
) -> (RunningPods<'a>, Vec<Arc<PodTemplate>>) {
    let pods = RunningPods::waiting(catalog.others());
    let mut templates = pods.templates(context);
    if catalog.has_cluster_queues() {
        for (pod, template) in pods.all.iter().zip(&mut templates) {
            if has_gate(&pod.object.node) {
                let mut spec = PodSpec::clone(&template.spec);
                (spec.gated, spec.open) = (true, None);
                *template =
                    Arc::new(PodTemplate { spec: Arc::new(spec), ..PodTemplate::clone(template) });
            }
        }
    }
    (pods, templates)
}

#[cfg(test)]
mod tests {
    use super::OwnerName;

    #[test]
    fn an_owner_is_named_with_its_kind_or_without() {
        for (text, kind, namespace, name) in [
            ("Job/ml/train", Some("Job"), "ml", "train"),
            ("ml/chat", None, "ml", "chat"),
            ("chat", None, "", "chat"),
        ] {
            assert_eq!(OwnerName::of(text), OwnerName { kind, namespace, name });
        }
        assert!(OwnerName::of("Job/ml/train").is("Job"));
        assert!(!OwnerName::of("job/train").is("job"), "a namespace is no kind");
    }
}
