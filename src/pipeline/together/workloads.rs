//! Workloads of the input that no operator of this program writes: their pods take room beside
//! those of the services.
//!
//! In: the other objects of a catalog. Out: for each kind of `workload_kinds` the pods that its controller
//! creates; and the objects of other kinds that request devices, whose number of pods is unknown.

use super::claims::{Claim, MOST_PODS, PODS, Refused, Who, groups};
use super::object_counts::ObjectCounts;
use super::plain_queue::PlainQueue;
use super::references::{References, Template};
use super::volcano_job;
use super::volcano_queue::Queues;
use super::workload_kinds::{NO_PODS, Part, Pods, Row, TEMPLATE, row};
use super::{At, NotJudged, SettledWorkload};
use crate::api::{Api, Failure, Object, was_in_cluster};
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::fleet::{Replica, Workload};
use crate::cluster::schedule::{NodeTerm, PodTemplate};
use crate::diag::Code;
use crate::operators::OPERATORS;
use crate::pipeline::built::{PodContext, WorkloadKind, gpus, ray_workers};
use crate::pipeline::plan::Planner;
use crate::pipeline::queued::with_queue_of_pods;
use crate::pipeline::running::{RunningPod, RunningPods};
use crate::rollout::{ClaimTemplates, LeaderWorkerSetSpec, StatefulSetSpec};
use crate::workspace::{devices as devices_of, makes_pods};
use crate::yaml::{FieldPath, Map, Node, Segment};
use ecow::{EcoString, eco_format};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A workload of the input.
#[derive(Clone, Debug)]
pub(crate) struct PlainWorkload {
    /// `Kind/namespace/name`.
    pub(crate) id: EcoString,
    /// `namespace/name`.
    pub(crate) name: EcoString,
    /// `metadata.creationTimestamp`.
    pub(crate) created: Option<EcoString>,
    /// Its pods that do not run yet.
    pub(crate) workload: Workload,
    /// Why none of its pods is placed.
    pub(crate) refused: Option<Refused>,
    /// The last so many replicas run.
    pub(crate) standing: usize,
    /// The queue of Kueue that it names.
    pub(super) queue: Option<PlainQueue>,
    /// Its scheduler starts its groups as a whole.
    pub(super) gang: bool,
}

/// An object that requests devices, of a kind whose pods are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotCounted {
    /// `Kind namespace/name`.
    pub object: EcoString,
    /// Devices in its pod templates, by resource, each template once; empty where it has no template.
    pub devices: BTreeMap<EcoString, i64>,
    /// Its operator knows its pods, which the object does not state, as those of a preset.
    pub is_operated: bool,
}

fn number(node: &Node, path: &[&str], default: i64) -> i64 {
    node.at(path).and_then(Node::as_int).unwrap_or(default).max(0)
}

/// Whether a controller of the cluster created the object.
fn is_owned(object: &Object) -> bool {
    let owners = object.metadata("ownerReferences").map(Node::items).unwrap_or_default();
    // A reference without `controller` may come from a tool that drops false; only an explicit
    // false is not the controller.
    owners.iter().any(|owner| owner.get("controller").and_then(Node::as_bool) != Some(false))
}

/// Whether it is of a service of the catalog, which counts its pods.
fn is_of_service(object: &Object, services: &ServiceNames) -> bool {
    let labels = object.metadata("labels");
    let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
    OPERATORS.iter().any(|operator| {
        let name =
            labels.and_then(|labels| labels.get(operator.owner_label())).and_then(Node::as_str);
        name.is_some_and(|name| services.contains(&(namespace.clone(), name.into())))
    })
}

/// Namespaces and names of services and ModelServings.
pub type ServiceNames = BTreeSet<(EcoString, EcoString)>;

/// Those of a catalog.
pub(crate) fn services(catalog: &Catalog) -> ServiceNames {
    let services = catalog.services().map(|views| {
        let service = &views.documented;
        (service.namespace.clone(), service.name().clone())
    });
    let servings = catalog.model_servings().iter();
    let servings = servings.map(|serving| (serving.namespace.clone(), serving.name().clone()));
    services.chain(servings).collect()
}

/// All workloads of a catalog, and the objects whose pods are not counted.
///
/// Pods that run hold their nodes as they are; those of services, by index, are in `count`. The
/// objects of `services` are not workloads of their own. Workloads with an autoscaler have the
/// replicas of `at`. Those of `before` exist.
pub(crate) fn read(
    planner: &Planner<'_>,
    services: &ServiceNames,
    context: &PodContext,
    running: &RunningPods<'_>,
    count: &BTreeSet<usize>,
    at: At,
    before: &[SettledWorkload],
) -> (Vec<PlainWorkload>, Vec<NotCounted>) {
    let catalog = planner.catalog();
    let mut pods: HashMap<(EcoString, EcoString), Vec<&RunningPod<'_>>> = HashMap::new();
    // Pods of services are counted there.
    for (_, pod) in running.all.iter().enumerate().filter(|(at, _)| !count.contains(at)) {
        for name in owners(pod) {
            pods.entry((pod.namespace().into(), name)).or_default().push(pod);
        }
    }
    let (mut found, mut unknown, mut left) = (Vec::new(), Vec::new(), Left::default());
    let (autoscalers, referenced) = (&planner.autoscalers, References::of(catalog));
    let of_kinds = catalog.others().iter().filter(|object| !catalog.is_copy(object));
    // Pods are counted when they are created.
    let of_kinds = of_kinds.filter(|object| {
        row(object).is_some_and(|row| !matches!(row.pods, Pods::Itself))
            && !catalog.is_unfilled(object)
    });
    let counts = ObjectCounts::of(catalog, of_kinds);
    let queues = Queues::of(catalog);
    unknown.extend(orphans(catalog, services));
    for object in catalog.others() {
        let row = row(object);
        if !is_counted(object, row, services) || catalog.is_copy(object) {
            continue;
        }
        let Some(row) = row else {
            unknown.extend(not_counted(object));
            continue;
        };
        // A queue lets a workload begin that is written as suspended.
        let queued = PlainQueue::of(catalog, object, object.group(), None)
            .is_some_and(|queue| queue.whole && object.metadata("uid").is_none());
        let exists = || before.iter().any(|one| one.service == id_of(object));
        if row.rests(&object.node, queued, exists) {
            continue;
        }
        let namespace: EcoString = object.id.scope.namespace().cloned().unwrap_or_default();
        let name = object.id.name.clone();
        let resumed = (queued && matches!(row.pods, Pods::Job)).then(|| resumed(&object.node));
        let replicas = autoscalers.replicas(object, at);
        let replicas = if referenced.gives_up(object) { Some(0) } else { replicas };
        let whole = match referenced.completed(object) {
            Template::Own => Cow::Borrowed(resumed.as_ref().unwrap_or(&object.node)),
            Template::Of(node) => Cow::Owned(node),
            Template::Missing => {
                unknown.push(NotCounted { object: shown(object), ..NotCounted::default() });
                continue;
            }
        };
        if has_preset(object) {
            let object = shown(object);
            unknown.push(NotCounted { object, is_operated: true, ..NotCounted::default() });
            continue;
        }
        let scaled = replicas.map(|replicas| with_replicas(&whole, replicas));
        let node = Cow::Borrowed(scaled.as_ref().unwrap_or(&whole));
        let node = if catalog.has_queues() { with_queue_of_pods(object, node) } else { node };
        let machines = catalog.machines();
        let of_queue = |row: &Row| {
            let is_job = matches!(row.pods, Pods::Volcano);
            is_job.then(|| queues.refuses_job(object)).flatten()
        };
        let read = row.pods.read(object, &node, &namespace, context, machines, &mut left);
        let unserved = catalog.refused(object).filter(|_| !catalog.is_unfilled(object));
        let (mut workload, refused) = match (read, unserved) {
            // What the server would say of a placeholder is not what it will say.
            (Err(_), _) if catalog.is_unfilled(object) => {
                unknown.extend(not_counted(object));
                continue;
            }
            // Nothing of it exists: what its fields say is nobody's request.
            (Ok(workload), Some(failure)) => {
                (Workload::default(), Some(unserved_pods(failure, &workload)))
            }
            (Err(why), Some(failure)) => {
                let message = unserved_pods(failure, &Workload::default()).message;
                (Workload::default(), Some(Refused { message, ..why }))
            }
            (Ok(workload), None) => match counts.refused(object).cloned().or_else(|| of_queue(row))
            {
                Some(why) => (Workload::default(), Some(Refused::created(why, &workload))),
                None => (workload, None),
            },
            (Err(why), None) => (Workload::default(), Some(why)),
        };
        if let Some(pods) = pods.get(&(namespace.clone(), name.clone())) {
            row.pods.subtract(&mut workload, pods);
        }
        if workload.replicas.is_empty() && refused.is_none() {
            continue;
        }
        let id = id_of(object);
        let (name, created) = (eco_format!("{namespace}/{name}"), object.created().map(Into::into));
        let labels = workload.templates.first().map(|template| &template.labels);
        let queue = PlainQueue::named(catalog, object, object.group(), labels);
        let gang = matches!(row.pods, Pods::Volcano);
        found.push(PlainWorkload {
            id,
            name,
            created,
            workload,
            refused,
            standing: 0,
            queue,
            gang,
        });
    }
    found.sort_by(|one, other| one.id.cmp(&other.id));
    (found, unknown)
}

/// Why no server takes a workload, as a sentence.
pub(in crate::pipeline) fn unserved(failure: &Failure) -> EcoString {
    if failure.code == Code::ServerRefuses {
        failure.message.as_str().into()
    } else {
        eco_format!("the API server refuses it: {}", failure.message)
    }
}

/// The pods of a workload that no server takes.
fn unserved_pods(failure: &Failure, workload: &Workload) -> Refused {
    Refused::created(unserved(failure), workload)
}

/// Whether an object is a workload whose pods are counted beside those of services.
fn is_counted(object: &Object, row: Option<&Row>, services: &ServiceNames) -> bool {
    // A bare pod that runs holds its node as a running pod.
    let is_bound = matches!(row, Some(Row { pods: Pods::Itself, .. })) && !is_waiting(object);
    !is_bound && !is_owned(object) && !is_of_service(object, services)
}

/// The workloads of a catalog whose pods are counted; the objects of `services` are not among them.
pub fn counted_objects<'c, 's>(
    catalog: &'c Catalog,
    services: &'s ServiceNames,
) -> impl Iterator<Item = &'c Object> + use<'c, 's> {
    catalog.others().iter().filter(move |object| {
        let row = row(object);
        row.is_some() && is_counted(object, row, services) && !catalog.is_copy(object)
    })
}

/// An object with other replicas.
pub(in crate::pipeline) fn with_replicas(object: &Node, replicas: i64) -> Node {
    let mut node = object.clone();
    node.set(&path(&["spec", "replicas"]).0, Some(Node::int(replicas, object.origin)));
    node
}

/// A Job that its queue has let begin.
fn resumed(job: &Node) -> Node {
    let mut node = job.clone();
    node.set(&path(&["spec", "suspend"]).0, Some(Node::bool(false, job.origin)));
    node
}

/// The id of a workload, as [`crate::pipeline::running::OwnerName`] reads it.
pub(crate) fn id_of(object: &Object) -> EcoString {
    let namespace = object.id.scope.namespace().map_or("", EcoString::as_str);
    eco_format!("{}/{namespace}/{}", object.id.kind, object.id.name)
}

/// `Kind namespace/name`.
pub(super) fn shown(object: &Object) -> EcoString {
    let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
    eco_format!("{} {namespace}/{}", object.id.kind, object.id.name)
}

/// Whether the operator of a Workspace of KAITO knows its pods: a preset names a model, and the type of
/// the machines decides how many of them have its devices (kaito-project/kaito, api/v1beta1,
/// `PresetSpec`).
fn has_preset(object: &Object) -> bool {
    let is_set = |task: &str| object.node.at(&[task, "preset"]).is_some_and(|node| !node.is_null());
    object.group() == "kaito.sh" && ["inference", "tuning"].into_iter().any(is_set)
}

/// A pod that has no node yet and is not finished.
fn is_waiting(pod: &Object) -> bool {
    let text = |path: &[&str]| pod.node.at(path).and_then(Node::as_str).unwrap_or_default();
    text(&["spec", "nodeName"]).is_empty()
        && !matches!(text(&["status", "phase"]), "Succeeded" | "Failed")
}

/// The pods without a node that request devices and whose owner is not in the input, so that nothing
/// counts them: one entry for each owner.
fn orphans(catalog: &Catalog, services: &ServiceNames) -> Vec<NotCounted> {
    let waits = |object: &&Object| {
        object.id.kind == "Pod" && object.api_version == "v1" && is_waiting(object)
    };
    let waiting = catalog.others().iter().filter(waits);
    let waiting = waiting.filter(|pod| {
        is_owned(pod)
            && !is_of_service(pod, services)
            && !catalog.is_copy(pod)
            && not_counted(pod).is_some()
    });
    let mut pods: BTreeMap<(EcoString, EcoString), (&Object, usize)> = BTreeMap::new();
    for pod in waiting {
        let namespace = pod.id.scope.namespace().cloned().unwrap_or_default();
        let owners = pod.metadata("ownerReferences").map(Node::items).unwrap_or_default();
        let owner = owners.first().and_then(|owner| owner.get("name")?.scalar_text());
        pods.entry((namespace, owner.unwrap_or_default())).or_insert((pod, 0)).1 += 1;
    }
    if pods.is_empty() {
        return Vec::new();
    }
    let others = catalog.others().iter();
    let named: BTreeSet<(EcoString, &str)> = others
        .filter(|object| object.id.kind != "Pod")
        .map(|object| {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            (namespace, object.id.name.as_str())
        })
        .collect();
    let is_there = |namespace: &EcoString, owner: &EcoString| {
        // A ReplicaSet is named for its Deployment, and Jobs and StatefulSets for what owns them.
        let ends = owner.match_indices('-').map(|(at, _)| &owner[..at]);
        ends.chain([owner.as_str()]).any(|name| {
            named.contains(&(namespace.clone(), name))
                || services.contains(&(namespace.clone(), name.into()))
        })
    };
    pods.retain(|(namespace, owner), _| !is_there(namespace, owner));
    let one = |(pod, count): (&Object, usize)| NotCounted {
        object: match count {
            1 => shown(pod),
            many => eco_format!("{} and {} more", shown(pod), many - 1),
        },
        ..NotCounted::default()
    };
    pods.into_values().map(one).collect()
}

/// Names of the objects that a pod may belong to.
pub(in crate::pipeline) fn owners(pod: &RunningPod<'_>) -> BTreeSet<EcoString> {
    let labels = ["serving.knative.dev/service", "jobset.sigs.k8s.io/jobset-name"];
    let labeled = labels.iter().filter_map(|label| pod.labels.get(label).cloned());
    labeled.chain(pod.workload()).collect()
}

/// How many pods may still be placed one by one.
struct Left(usize);

impl Default for Left {
    fn default() -> Self {
        Self(MOST_PODS)
    }
}

impl Left {
    fn take(&mut self, count: usize) -> Result<(), Refused> {
        self.0 = self.0.checked_sub(count).ok_or_else(|| Refused::too_many(count))?;
        Ok(())
    }

    /// Pods of one template that are placed on their own.
    fn alone(&mut self, template: usize, count: i64) -> Result<Vec<Replica>, Refused> {
        let count = usize::try_from(count).unwrap_or(0);
        self.take(count)?;
        Ok(vec![Replica::alone(vec![template]); count])
    }
}

impl Pods {
    /// Leaves out the replicas that run.
    fn subtract(&self, workload: &mut Workload, pods: &[&RunningPod<'_>]) {
        if matches!(self, Self::Volcano) {
            volcano_job::subtract(workload, pods);
            return;
        }
        let templates = &workload.templates;
        let by_node = matches!(self, Self::PerNode);
        // Pods with claims of their own are not alike: each has its name.
        let by_name = !workload.claims.is_empty();
        if by_node || by_name {
            let is_there = |template: &usize| {
                let template = &templates[*template];
                let runs = |pod: &&RunningPod<'_>| pod.object.id.name == template.name;
                let mut names = template.node_terms.iter().flatten().flat_map(|term| &term.names);
                by_name && pods.iter().any(runs)
                    || by_node && names.any(|(_, name)| pods.iter().any(|pod| pod.node == *name))
            };
            workload.replicas.retain(|replica| !replica.pods.iter().all(is_there));
            return;
        }
        let size = workload.replicas.first().map_or(1, |replica| replica.pods.len().max(1));
        // Pods of a group that runs in part leave it wanted as a whole.
        let gone = (pods.len() / size).min(workload.replicas.len());
        workload.replicas.drain(..gone);
    }

    fn read(
        &self,
        object: &Object,
        node: &Node,
        namespace: &str,
        context: &PodContext,
        machines: &[Machine],
        left: &mut Left,
    ) -> Result<Workload, Refused> {
        let refused = |invalid| Refused::invalid(crate::pipeline::built::refused(&invalid), 1);
        let mut out = Workload::default();
        match self {
            Self::Parts(parts) => {
                for part in *parts {
                    for item in part.items(node) {
                        let Some(template) = item.at(part.template) else { continue };
                        let pods = part.pods(node, item);
                        let pod = if part.bare {
                            let labels = crate::cluster::schedule::labels(None);
                            context.read(namespace, labels, template).map(Arc::new)
                        } else {
                            context.template(namespace, template)
                        };
                        let pod = pod.map_err(refused)?;
                        out.replicas.extend(left.alone(out.templates.len(), pods)?);
                        out.templates.push(pod);
                    }
                }
            }
            Self::Deployment => {
                let Some(spec) = node.get("spec") else { return Ok(out) };
                let name = &object.id.name;
                let kind = context.deployment(namespace, name, spec).map_err(refused)?;
                if let WorkloadKind::Deployment { spec, .. } = kind {
                    out.replicas.extend(left.alone(0, spec.replicas)?);
                    out.templates.push(spec.revision.pod);
                }
            }
            Self::Job => {
                let spec = context.job(namespace, node).map_err(refused)?;
                let pods = i64::try_from(spec.pods_now(node)).unwrap_or(i64::MAX);
                out.replicas.extend(left.alone(0, pods)?);
                out.templates.push(Arc::clone(spec.pod()));
            }
            Self::Groups => {
                let kind = context.groups(namespace, node).map_err(refused)?;
                if let WorkloadKind::Groups(spec) = kind {
                    // Counted before the groups are built, like every number from a file.
                    left.take(spec.revision.size.max(1).saturating_mul(spec.replicas))?;
                    out = groups(&spec);
                    claim_each(&mut out, &spec, &context.group_claims(namespace, node));
                }
            }
            Self::Ordinals => {
                let spec = context.stateful(namespace, node).map_err(refused)?;
                let pods = i64::try_from(spec.replicas).unwrap_or(i64::MAX);
                out.replicas = left.alone(0, pods)?;
                number_templates(&mut out, &spec);
            }
            Self::PerNode => {
                let Some(template) = node.at(TEMPLATE) else { return Ok(out) };
                let pod = context.template(namespace, template).map_err(refused)?;
                for machine in machines.iter().filter(|node| node.allocatable.is_some()) {
                    let template = of_daemon(&pod, machine);
                    if template.may_run_on(machine) {
                        out.replicas.extend(left.alone(out.templates.len(), 1)?);
                        out.templates.push(Arc::new(template));
                    }
                }
            }
            Self::Itself => {
                let labels = crate::cluster::schedule::labels(object.metadata("labels"));
                let Some(spec) = node.get("spec") else { return Ok(out) };
                let mut pod = context.read(namespace, labels, spec).map_err(refused)?;
                if was_in_cluster(&object.node) {
                    // It was admitted, and what gates it is a fact.
                    pod.refused = None;
                    if !spec.items_of("schedulingGates").is_empty() {
                        (pod.gated, pod.open) = (true, None);
                    }
                }
                out.templates.push(Arc::new(pod));
                out.replicas.extend(left.alone(0, 1)?);
            }
            Self::Knative => {
                let Some(template) = node.at(TEMPLATE) else { return Ok(out) };
                let pod = context.template(namespace, template).map_err(refused)?;
                out.templates.push(pod);
                out.replicas.extend(left.alone(0, min_scale(template))?);
            }
            Self::Volcano => {
                let mut take = |count| left.take(count);
                out = volcano_job::pods(object, node, namespace, context, &mut take)?;
            }
            Self::Dynamo => {
                let services = node.at(&["spec", "services"]).map(Node::entries);
                for entry in services.into_iter().flatten() {
                    let pods = number(&entry.node, &["replicas"], 1);
                    let nodes = number(&entry.node, &["multinode", "nodeCount"], 1);
                    let spec = dynamo_pod(&entry.node);
                    let labels = crate::cluster::schedule::labels(None);
                    let pod = context.read(namespace, labels, &spec).map_err(refused)?;
                    out.replicas
                        .extend(left.alone(out.templates.len(), pods.saturating_mul(nodes))?);
                    out.templates.push(Arc::new(pod));
                }
            }
        }
        Ok(out)
    }
}

/// The least number of pods of a Knative Service.
fn min_scale(template: &Node) -> i64 {
    let annotation = |key: &str| {
        let node = template.at(&["metadata", "annotations", key])?;
        node.scalar_text()?.parse::<i64>().ok()
    };
    // The second spelling is the older one, which Knative still reads.
    annotation("autoscaling.knative.dev/min-scale")
        .or_else(|| annotation("autoscaling.knative.dev/minScale"))
        .unwrap_or(0)
}

/// Gives the pods of a StatefulSet their templates. Without claims all pods are alike and share one.
fn number_templates(out: &mut Workload, spec: &StatefulSetSpec) {
    if spec.claims.is_empty() {
        out.templates.push(Arc::new(spec.any()));
        return;
    }
    for (at, replica) in out.replicas.iter_mut().enumerate() {
        replica.pods = vec![at];
        out.templates.push(Arc::new(spec.member(spec.first + at)));
        out.claims.push(spec.claims_of(spec.first + at));
    }
}

impl Part {
    /// How many pods an element of an object has.
    fn pods(&self, object: &Node, item: &Node) -> i64 {
        let most = self.most.and_then(|path| item.at(path)).and_then(Node::as_int);
        let last = self.replicas.len().saturating_sub(1);
        let factors = self.replicas.iter().enumerate().map(|(at, (path, default))| {
            let count = number(item, path, *default);
            // The limit of completions is one of a single Job, not of all replicas of the JobSet.
            if at == last { count.min(most.unwrap_or(i64::MAX)) } else { count }
        });
        let times = match self.times {
            [] => 1,
            path => number(object, path, 1),
        };
        if self.ray_workers {
            return ray_workers(item).saturating_mul(times);
        }
        factors.fold(times, i64::saturating_mul)
    }

    /// The object, or the elements of the list or map.
    fn items<'n>(&self, node: &'n Node) -> Vec<&'n Node> {
        self.items_at(node).into_iter().map(|(_, item)| item).collect()
    }

    /// The same with their paths.
    pub(super) fn items_at<'n>(&self, node: &'n Node) -> Vec<(Vec<Segment>, &'n Node)> {
        if self.each.is_empty() {
            return vec![(Vec::new(), node)];
        }
        let Some(found) = node.at(self.each) else { return Vec::new() };
        let above: Vec<Segment> =
            self.each.iter().map(|key| Segment::Field((*key).into())).collect();
        let below = |step: Segment| above.iter().cloned().chain([step]).collect();
        let items = found.items().iter().enumerate();
        let items = items.map(|(at, item)| (below(Segment::Index(at)), item));
        let entries = found.entries();
        let entries = entries.map(|entry| (below(Segment::Field(entry.key.clone())), &entry.node));
        items.chain(entries).collect()
    }
}

fn path(keys: &[&str]) -> FieldPath {
    keys.iter().fold(FieldPath::root(), |path, key| path.field(*key))
}

/// The pod spec of a service of a `DynamoGraphDeployment`: `resources` of the service with `gpu` for
/// the devices of NVIDIA, beside `extraPodSpec`.
fn dynamo_pod(service: &Node) -> Node {
    let extra = service.get("extraPodSpec");
    let mut spec = extra.cloned().unwrap_or_else(|| Node::map(service.origin));
    let mut container = extra
        .and_then(|extra| extra.get("mainContainer"))
        .cloned()
        .unwrap_or_else(|| Node::map(service.origin));
    for side in ["requests", "limits"] {
        let Some(service) = service.at(&["resources", side]) else { continue };
        let mut amounts = Map::default();
        for entry in service.entries() {
            let name = if entry.key == "gpu" { "nvidia.com/gpu".into() } else { entry.key.clone() };
            amounts.insert(name, entry.node.clone());
        }
        let amounts = Node::new(crate::yaml::Value::Map(amounts), service.origin);
        container.set(&path(&["resources", side]).0, Some(amounts));
    }
    container.set(&path(&["name"]).0, Some(Node::str("main", service.origin)));
    let containers = crate::yaml::Value::List(vec![container].into());
    // It is a field of Dynamo and none of a pod.
    spec.set(&path(&["mainContainer"]).0, None);
    spec.set(&path(&["containers"]).0, Some(Node::new(containers, service.origin)));
    spec
}

/// Gives each pod of the groups of a LeaderWorkerSet claims of its own. Leaders are the pods of one
/// StatefulSet, and the workers of a group of another, whose name is that of their leader.
fn claim_each(out: &mut Workload, spec: &LeaderWorkerSetSpec, claims: &ClaimTemplates) {
    if claims.is_empty() {
        return;
    }
    let shared = std::mem::take(&mut out.templates);
    for (group, replica) in out.replicas.iter_mut().enumerate() {
        for (index, place) in replica.pods.iter_mut().enumerate() {
            let leader = eco_format!("{}-{group}", spec.name);
            let name = if index == 0 { leader } else { eco_format!("{leader}-{index}") };
            let mut pod = PodTemplate::clone(&shared[*place]);
            pod.volumes.extend(claims.volumes(&name));
            *place = out.templates.len();
            out.claims.push(claims.of(&name));
            pod.name = name;
            out.templates.push(Arc::new(pod));
        }
    }
}

/// A pod of a `DaemonSet` for one node.
fn of_daemon(pod: &Arc<PodTemplate>, machine: &Machine) -> PodTemplate {
    let mut template = PodTemplate::clone(pod);
    let name = (true, machine.name.clone());
    // Each term gets the name: terms are alternatives, and one without it would allow other nodes.
    let terms = template.node_terms.clone().unwrap_or_else(|| vec![NodeTerm::default()]);
    let named = terms.into_iter().map(|mut term| {
        term.names.push(name.clone());
        term
    });
    template.node_terms = Some(named.collect());
    template.tolerate_as_daemon();
    template
}

/// Objects that request devices and whose pods are not counted.
pub(super) fn not_judged(not_counted: &[NotCounted]) -> Vec<NotJudged> {
    let one = |item: &NotCounted| {
        let devices: Vec<String> =
            item.devices.iter().map(|(name, count)| format!("{count} {name}")).collect();
        NotJudged {
            what: item.object.clone(),
            pods: None,
            message: if item.is_operated {
                "its operator makes its pods from what it names; they are not counted".into()
            } else if devices.is_empty() {
                "the workload that it names is not in the input; its pods are not counted".into()
            } else {
                eco_format!(
                    "requests {} in its pod templates; its pods are not counted",
                    devices.join(", ")
                )
            },
            ..NotJudged::default()
        }
    };
    not_counted.iter().map(one).collect()
}

/// Devices in the containers of an object of an unknown kind; `None` if it requests none and no operator
/// is known to make pods of it.
fn not_counted(object: &Object) -> Option<NotCounted> {
    if NO_PODS.contains(&object.id.kind.as_str()) {
        return None;
    }
    let mut devices = BTreeMap::new();
    object.node.get("spec").into_iter().for_each(|spec| devices_of(spec, &mut devices));
    let entries = object.node.entries().filter(|entry| {
        !matches!(entry.key.as_str(), "apiVersion" | "kind" | "metadata" | "status" | "spec")
    });
    entries.for_each(|entry| devices_of(&entry.node, &mut devices));
    // What its operator makes need not be in the object, unless it has none at the moment.
    let suspended = object.node.at(&["spec", "suspend"]).and_then(Node::as_bool) == Some(true);
    let is_operated = devices.is_empty()
        && makes_pods(object.group(), &object.id.kind)
        && !suspended
        && object.node.at(&["spec", "replicas"]).and_then(Node::as_int) != Some(0);
    let object = || shown(object);
    (is_operated || !devices.is_empty()).then(|| NotCounted {
        object: object(),
        devices,
        is_operated,
    })
}

impl PlainWorkload {
    /// Number of pods, and of the devices that they request.
    pub(crate) fn amounts(&self) -> (usize, i64) {
        if let Some(refused) = &self.refused {
            return (refused.pods, refused.devices);
        }
        // Those that run are the last replicas, and count as running pods.
        let new = self.workload.replicas.len() - self.standing;
        let pods = self.workload.replicas.iter().take(new).flat_map(|replica| &replica.pods);
        let devices = pods.clone().map(|at| gpus(&self.workload.templates[*at]));
        (pods.count(), devices.sum())
    }
}

/// Adds the claims of workloads that no operator writes.
pub(super) fn add_plain(claims: &mut Vec<Claim>, plain: &mut [PlainWorkload]) {
    for (at, workload) in plain.iter_mut().enumerate() {
        claims.push(Claim {
            who: Who::Workload(at),
            api: Api::Cluster,
            key: (workload.created.clone(), workload.name.clone()),
            service: workload.id.clone(),
            component: Some(PODS),
            names: vec![workload.id.clone()],
            members: Vec::new(),
            workload: workload.workload.clone(),
            running_pods: Vec::new(),
            scaled: false,
            extra: 0,
            refused: workload.refused.clone(),
            queue: workload.queue.clone(),
            gang: workload.gang,
        });
    }
}

#[cfg(test)]
mod tests;
