//! The workloads among the objects of a service, as their controllers read them: pod templates,
//! replica counts and update strategies.

use super::local_copies::LocalCopies;
use super::queued::Queued;
pub(super) use super::queued::ray_workers;
use super::storage_classes::StorageClasses;
use crate::api::{ComponentKind, Object, ObjectRef, Scope};
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::admission::{ReadClass, Refused};
use crate::cluster::assumed::{is_of_resource, toleration};
use crate::cluster::schedule::{
    Admission, InvalidPod, Labels, PodSpec, PodTemplate, PodVolume, UnreadNamespaces, labels,
};
use crate::diag::quoted;
use crate::objects::RenderedObject;
use crate::objects::accept::refused_pods;
use crate::pods::specs::each_spec;
use crate::quantity::{Range, is_accelerator};
use crate::rollout::{
    ClaimTemplates, DaemonSetSpec, DeploymentSpec, JobSpec, LeaderWorkerSetRelease,
    LeaderWorkerSetSpec, StatefulSetSpec, leader_worker_set_releases,
};
use crate::source::SourceId;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use foldhash::HashSet;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// A workload that runs the pods of a component.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The component.
    pub component: ComponentKind,
    /// Name of the object.
    pub name: EcoString,
    /// The workload, or why the API server would reject it or its pods.
    pub kind: Result<WorkloadKind, EcoString>,
    /// What Kueue admits as one of its pods, where they name a queue.
    pub(super) queued: Option<Box<Queued>>,
}

/// The kind of a workload, with the fields that its controller reads.
#[derive(Clone, Debug)]
pub enum WorkloadKind {
    /// A Deployment; `spec.replicas` is the value of the object, or 1 if it is not set.
    Deployment {
        /// As its controller reads it.
        spec: DeploymentSpec,
        /// The object sets `replicas`; otherwise an autoscaler owns the field.
        sized: bool,
    },
    /// A LeaderWorkerSet.
    Groups(LeaderWorkerSetSpec),
    /// A RayCluster: head and workers.
    Ray {
        /// The head.
        head: Arc<PodTemplate>,
        /// Pod template and replica count of each worker group.
        workers: Vec<(Arc<PodTemplate>, usize)>,
    },
    /// A Knative Service; Knative runs each revision as a Deployment.
    Knative(Arc<PodTemplate>),
}

impl WorkloadKind {
    /// Leaves open whether Pod Security refuses its pods: what was not read sets what they may do.
    fn leave_security_open(&mut self) {
        let open = |pod: &mut Arc<PodTemplate>| {
            let pod = Arc::make_mut(pod);
            pod.leave_security_open(
                "it enforces a level of Pod Security, and the presets that set the \
                 `securityContext` of the pods were not read"
                    .into(),
            );
        };
        match self {
            Self::Deployment { spec, .. } => open(&mut spec.revision.pod),
            Self::Groups(spec) => {
                open(&mut spec.revision.leader);
                open(&mut spec.revision.worker);
            }
            // No operator whose configurations may be missing writes them.
            Self::Ray { .. } | Self::Knative(_) => {}
        }
    }

    /// The specs of its pods, one for each template.
    pub(super) fn specs(&self) -> Vec<&Arc<PodSpec>> {
        match self {
            Self::Deployment { spec, .. } => vec![&spec.revision.pod.spec],
            Self::Groups(spec) => vec![&spec.revision.leader.spec, &spec.revision.worker.spec],
            Self::Ray { head, workers } => {
                let workers = workers.iter().map(|(worker, _)| &worker.spec);
                std::iter::once(&head.spec).chain(workers).collect()
            }
            Self::Knative(pod) => vec![&pod.spec],
        }
    }
}

/// The rejection of pods with an invalid field.
pub(super) fn refused(invalid: &InvalidPod) -> EcoString {
    eco_format!("the API server refuses the pods: {invalid}")
}

/// Number of devices that a pod requests, over all accelerator resources, slices included. An
/// amount that no machine has is not counted.
pub(crate) fn gpus(pod: &PodTemplate) -> i64 {
    let devices = pod.requests.iter().filter(|(name, _)| is_accelerator(name));
    devices.filter_map(|(_, amount)| Range::DEVICES.count(*amount)).sum()
}

/// The facts about a cluster that are needed to read pods: Admission and device taints.
#[derive(Clone, Debug)]
pub struct PodContext {
    classes: Admission,
    /// The StorageClasses that the claims of pods name.
    storage: StorageClasses,
    /// Extended resources with a taint of their name on any node, which pods that request them are
    /// taken to tolerate.
    device_taints: BTreeSet<EcoString>,
    /// Pod specs that were read before. Equal specs are shared: a fleet has few distinct ones.
    specs: Arc<Mutex<HashSet<Arc<PodSpec>>>>,
    /// Namespaces with pods whose labels are not known.
    unread: UnreadNamespaces,
    /// Extended resources that DeviceClasses stand for and no node has, by name of the class.
    by_class: BTreeMap<EcoString, EcoString>,
    /// Models that nodes have.
    copies: LocalCopies,
    /// The release of the LeaderWorkerSet controller.
    groups: &'static LeaderWorkerSetRelease,
    /// The kustomizations that were not built.
    unbuilt: Unbuilt,
}

/// Kustomizations that change objects and were not built.
#[derive(Clone, Debug, Default)]
struct Unbuilt {
    /// The directory to build, by the texts that it changes.
    texts: Arc<HashMap<SourceId, Arc<str>>>,
    /// The same by the Namespaces in such a text.
    namespaces: BTreeMap<EcoString, Arc<str>>,
    /// The same by the namespaces of the LimitRanges in such a text.
    limits: BTreeMap<EcoString, Arc<str>>,
}

impl Unbuilt {
    fn of(catalog: &Catalog) -> Self {
        let texts = Arc::clone(catalog.patched());
        if texts.is_empty() {
            return Self::default();
        }
        let of_kind = |kind: &'static str, name: fn(&Object) -> Option<EcoString>| {
            let all = catalog.others().iter().filter(move |object| object.id.kind == kind);
            all.filter_map(|object| {
                Some((name(object)?, Arc::clone(texts.get(&object.span.source)?)))
            })
            .collect()
        };
        let namespaces = of_kind("Namespace", |object| Some(object.id.name.clone()));
        let limits = of_kind("LimitRange", |object| object.id.scope.namespace().cloned());
        Self { texts, namespaces, limits }
    }

    /// The kustomization that changes a text with a value of a tree.
    fn changes(&self, node: &Node) -> Option<&Arc<str>> {
        if self.texts.is_empty() {
            return None;
        }
        let place = node.origin.span().and_then(|span| self.texts.get(&span.source));
        place
            .or_else(|| node.entries().find_map(|entry| self.changes(&entry.node)))
            .or_else(|| node.items().iter().find_map(|item| self.changes(item)))
    }

    /// Leaves open whether the server refuses a pod whose fields, or the object by which it refuses
    /// them, a patch may change.
    fn leave_open(&self, pod: &mut PodTemplate, node: &Node) {
        let of_claims = self.open_own_claims(pod, node);
        let Some(refused) = &pod.refused else {
            if let Some(why) = of_claims {
                pod.leave_refusal_open(why);
            }
            return;
        };
        let of_namespace = || match refused {
            Refused::Security(_) => self.namespaces.get(&pod.namespace),
            Refused::Limits(_) | Refused::Invalid(_) => self.limits.get(&pod.namespace),
            Refused::Forbidden(_) => None,
        };
        let Some(tree) = self.changes(node).or_else(of_namespace) else { return };
        let command = eco_format!("`ome plan -k {}`", quoted(tree));
        let why = if matches!(refused, Refused::Security(_)) {
            eco_format!(
                "it enforces a level of Pod Security, and a kustomization that was not built may set \
                 the `securityContext` of the pods: {command}"
            )
        } else {
            open("the pods", refused.why(), tree)
        };
        pod.leave_refusal_open(why);
    }

    /// Takes the claims that a pod has for itself for allowed, where a patch may change whether they
    /// are; returns why.
    fn open_own_claims(&self, pod: &mut PodTemplate, node: &Node) -> Option<EcoString> {
        let refused = pod.volumes.iter().find_map(PodVolume::refused)?;
        let why = self.claims(&pod.namespace, node, refused)?;
        pod.volumes.iter_mut().for_each(PodVolume::allow);
        Some(why)
    }

    /// Why it is open whether the server refuses claims for `why`, of an object whose text, or the
    /// LimitRange by which it refuses them, a patch may change.
    fn claims(&self, namespace: &str, node: &Node, why: &str) -> Option<EcoString> {
        let tree = self.changes(node).or_else(|| self.limits.get(namespace))?;
        Some(open("the claims", why, tree))
    }
}

/// What a kustomization may change of what the server refuses.
fn open(what: &str, why: &str, tree: &str) -> EcoString {
    eco_format!(
        "the server refuses {what} as they are written ({why}), and a kustomization that was not built \
         may change them: `ome plan -k {}`",
        quoted(tree)
    )
}

/// Why it is open whether a LimitRange refuses a claim of a catalog, by its namespace, its object and
/// the sentence of the server.
pub(super) fn open_claims(catalog: &Catalog) -> impl Fn(&str, &Node, &str) -> Option<EcoString> {
    let unbuilt = Unbuilt::of(catalog);
    move |namespace, claim, why| unbuilt.claims(namespace, claim, why)
}

/// The namespaces of everything in a catalog that runs pods, without those that were read.
fn unread_namespaces(catalog: &Catalog) -> UnreadNamespaces {
    let others = || catalog.others().iter();
    let read = others().filter(|object| object.id.kind == "Namespace");
    let read: BTreeMap<EcoString, Labels> =
        read.map(|object| (object.id.name.clone(), labels(object.metadata("labels")))).collect();
    let mut of_others: BTreeSet<&EcoString> = BTreeSet::new();
    for object in others() {
        // A cluster has few namespaces, and a tree is searched only for one that is not found yet.
        let namespace = object.id.scope.namespace();
        let is_open = |name: &&EcoString| !read.contains_key(*name) && !of_others.contains(name);
        let Some(namespace) = namespace.filter(is_open) else { continue };
        if let Some(spec) = object.node.get("spec") {
            each_spec(spec, &mut |_| _ = of_others.insert(namespace));
        }
    }
    let views = catalog.namespaces_of_services();
    let servings = catalog.model_servings().iter().map(|serving| &serving.namespace);
    UnreadNamespaces::new(of_others.into_iter().chain(views).chain(servings).cloned(), &read)
}

impl PodContext {
    /// A context for these nodes, with the Admission among `objects`.
    pub fn new<'o>(machines: &[Machine], objects: impl IntoIterator<Item = &'o Object>) -> Self {
        let mut classes = Admission::partial();
        let mut storage = StorageClasses::default();
        let mut by_class = BTreeMap::new();
        for object in objects {
            classes.add(&object.node);
            storage.add(object);
            if object.id.kind == "DeviceClass"
                && let Some(resource) = object.spec("extendedResourceName")
                && let Some(resource) = resource.scalar_text()
            {
                by_class.insert(resource, object.id.name.clone());
            }
            // Objects of a cluster have an identity: all classes are among them.
            if object.metadata("uid").is_some() {
                classes.complete();
            }
        }
        let has = |name: &EcoString| {
            let mut amounts = machines.iter().flat_map(|node| node.allocatable.iter().flatten());
            amounts.any(|(resource, amount)| resource == name && !amount.is_zero())
        };
        by_class.retain(|resource, _| !has(resource));
        let tolerant = machines.iter().filter(|machine| machine.tolerates_own);
        let taints = tolerant.flat_map(|machine| &machine.taints);
        let devices = taints.filter(|taint| is_of_resource(taint));
        let device_taints = devices.map(|taint| taint.key.clone()).collect();
        Self {
            classes,
            storage,
            device_taints,
            specs: Arc::default(),
            unread: UnreadNamespaces::default(),
            by_class,
            copies: LocalCopies::default(),
            groups: &leader_worker_set_releases::V0_7,
            unbuilt: Unbuilt::default(),
        }
    }

    /// A context for the nodes of a catalog, with its admission and the releases beneath its
    /// operators.
    pub fn of(catalog: &Catalog) -> Self {
        let mut context = Self::new(catalog.machines(), catalog.others());
        context.unread = unread_namespaces(catalog);
        context.copies = LocalCopies::of(catalog);
        context.unbuilt = Unbuilt::of(catalog);
        let tag = catalog.platform().map(|platform| platform.leader_worker_set);
        if let Some(release) = tag.and_then(leader_worker_set_releases::release) {
            context.groups = release;
        }
        context
    }

    /// The classes that a pod spec names and that are only taken to exist: kind and field.
    pub(super) fn assumed<'n>(&self, spec: &'n Node) -> Vec<(&'static str, &'n Node)> {
        self.classes.assumed(spec)
    }

    /// The classes that a pod spec names and that do not exist beside one that was read.
    pub(super) fn missing_classes<'n>(
        &self,
        spec: &'n Node,
    ) -> Vec<(&'static str, &'n Node, &ReadClass)> {
        self.classes.missing(spec)
    }

    /// The StorageClasses that the claims of an object's pods name and that are only taken to exist.
    pub(super) fn assumed_storage<'n>(&'n self, object: &'n Node) -> Vec<&'n Node> {
        self.storage.assumed(object)
    }

    /// Reads a pod spec. A pod that requests devices gets the tolerations that the admission plugin
    /// ExtendedResourceToleration adds (docs/decisions.md#device-taints).
    ///
    /// # Errors
    /// The first field that the API server would reject.
    pub fn read(
        &self,
        namespace: &str,
        labels: Labels,
        spec: &Node,
    ) -> Result<PodTemplate, InvalidPod> {
        let mut pod = PodTemplate::read(namespace, labels, spec, &self.classes)?;
        self.settle(&mut pod, spec);
        Ok(pod)
    }

    /// The same of a pod that runs. Its node is no part of the template: the scheduler bound it, and
    /// its controller creates it again for any node.
    ///
    /// # Errors
    /// The first field that the API server would reject.
    pub fn read_running(
        &self,
        namespace: &str,
        labels: Labels,
        spec: &Node,
    ) -> Result<PodTemplate, InvalidPod> {
        let mut pod = PodTemplate::read(namespace, labels, spec, &self.classes)?;
        pod.node = None;
        self.settle(&mut pod, spec);
        Ok(pod)
    }

    /// Completes a pod that was read from a tree: leaves open what is not known of it, adds the tolerations,
    /// handles pods of other schedulers like those of the default one, since other schedulers are unknown
    /// offline, and shares the specs of equal pods.
    fn settle(&self, pod: &mut PodTemplate, written: &Node) {
        self.unbuilt.leave_open(pod, written);
        pod.foreign = false;
        self.unread.leave_open(pod);
        self.leave_class_open(pod);
        if std::mem::take(&mut pod.gated) {
            let why = "the pods wait until a controller removes their scheduling gates";
            pod.open = Some(("schedulingGates".into(), why.into()));
        }
        let requested = |key: &&EcoString| pod.requests.contains_key(*key);
        let wanted: Vec<&EcoString> = self.device_taints.iter().filter(requested).collect();
        for key in wanted {
            let toleration = toleration(key);
            // A pod that states it assumes nothing, and no answer hangs on it.
            if !pod.tolerations.contains(&toleration) {
                pod.tolerations.push(toleration);
                pod.assumed.push(key.clone());
            }
        }
        let mut specs = self.specs.lock().unwrap_or_else(PoisonError::into_inner);
        match specs.get(&pod.spec) {
            Some(shared) => pod.spec = Arc::clone(shared),
            None => _ = specs.insert(Arc::clone(&pod.spec)),
        }
    }

    /// Leaves a request open that devices of a class may answer: whether the gate DRAExtendedResource is on is
    /// not known (pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go).
    fn leave_class_open(&self, pod: &mut PodTemplate) {
        const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";
        let class = |resource: &EcoString| {
            let named = resource.strip_prefix(OF_CLASS).map(EcoString::from);
            named.or_else(|| self.by_class.get(resource).cloned())
        };
        let mut found = pod.requests.keys().filter_map(|key| Some((key.clone(), class(key)?)));
        let Some((resource, class)) = found.next() else { return };
        pod.requests.remove(&resource);
        let why = eco_format!(
            "no node has `{resource}`; devices of DeviceClass `{class}` are taken for it if the gate \
             DRAExtendedResource is on"
        );
        pod.open = Some((resource, why));
    }

    fn shared(&self, pod: &mut Arc<PodTemplate>, written: &Node) {
        self.settle(Arc::make_mut(pod), written);
    }

    pub(super) fn deployment(
        &self,
        namespace: &str,
        name: &str,
        spec: &Node,
    ) -> Result<WorkloadKind, InvalidPod> {
        // Read before the default of 1 is filled in.
        let sized = spec.get("replicas").is_some();
        let mut read = DeploymentSpec::read(namespace, spec, &self.classes)?.named(name);
        self.shared(&mut read.revision.pod, spec);
        Ok(WorkloadKind::Deployment { spec: read, sized })
    }

    pub(super) fn groups(
        &self,
        namespace: &str,
        object: &Node,
    ) -> Result<WorkloadKind, InvalidPod> {
        let mut spec = LeaderWorkerSetSpec::read(namespace, object, &self.classes, self.groups)?;
        self.shared(&mut spec.revision.leader, object);
        self.shared(&mut spec.revision.worker, object);
        let mut claims = self.templates_of_group(namespace, object);
        if let Some(why) = self.open_templates(namespace, object, &mut claims) {
            for pod in [&mut spec.revision.leader, &mut spec.revision.worker] {
                Arc::make_mut(pod).leave_refusal_open(why.clone());
            }
        }
        Ok(WorkloadKind::Groups(spec))
    }

    pub(super) fn stateful(
        &self,
        namespace: &str,
        object: &Node,
    ) -> Result<StatefulSetSpec, InvalidPod> {
        let mut spec = StatefulSetSpec::read(namespace, object, &self.classes)?;
        self.shared(spec.pod_mut(), object);
        if let Some(why) = self.open_templates(namespace, object, &mut spec.claims) {
            Arc::make_mut(spec.pod_mut()).leave_refusal_open(why);
        }
        Ok(spec)
    }

    /// Leaves open whether the server refuses the claims of templates, where a kustomization may change
    /// them; returns why.
    fn open_templates(
        &self,
        namespace: &str,
        object: &Node,
        claims: &mut ClaimTemplates,
    ) -> Option<EcoString> {
        let why = self.unbuilt.claims(namespace, object, claims.refused()?)?;
        claims.allow();
        Some(why)
    }

    pub(super) fn daemons(
        &self,
        namespace: &str,
        object: &Node,
    ) -> Result<DaemonSetSpec, InvalidPod> {
        let mut spec = DaemonSetSpec::read(namespace, object, &self.classes)?;
        self.shared(&mut spec.pod, object);
        Ok(spec)
    }

    /// The claims that the pods of a LeaderWorkerSet have for themselves.
    pub(super) fn group_claims(&self, namespace: &str, object: &Node) -> ClaimTemplates {
        let mut claims = self.templates_of_group(namespace, object);
        self.open_templates(namespace, object, &mut claims);
        claims
    }

    fn templates_of_group(&self, namespace: &str, object: &Node) -> ClaimTemplates {
        let list = object.at(&["spec", "leaderWorkerTemplate", "volumeClaimTemplates"]);
        ClaimTemplates::read(namespace, list.map(Node::items).unwrap_or_default(), &self.classes)
    }

    pub(super) fn job(&self, namespace: &str, object: &Node) -> Result<JobSpec, InvalidPod> {
        let mut spec = JobSpec::read(namespace, object, &self.classes)?;
        self.shared(spec.pod_mut(), object);
        Ok(spec)
    }

    pub(super) fn template(
        &self,
        namespace: &str,
        template: &Node,
    ) -> Result<Arc<PodTemplate>, InvalidPod> {
        let spec = template.get("spec").cloned().unwrap_or_else(|| Node::map(template.origin));
        let labels = labels(template.at(&["metadata", "labels"]));
        self.read(namespace, labels, &spec).map(Arc::new)
    }

    fn ray(&self, namespace: &str, spec: &Node) -> Result<WorkloadKind, InvalidPod> {
        let template = |group: &Node| {
            let template = group.get("template").cloned();
            self.template(namespace, &template.unwrap_or_else(|| Node::map(group.origin)))
        };
        let head = spec.get("headGroupSpec").cloned().unwrap_or_else(|| Node::map(spec.origin));
        let groups = spec.get("workerGroupSpecs").map(Node::items).unwrap_or_default();
        let workers = groups
            .iter()
            .map(|group| Ok((template(group)?, usize::try_from(ray_workers(group)).unwrap_or(0))));
        Ok(WorkloadKind::Ray {
            head: template(&head)?,
            workers: workers.collect::<Result<_, _>>()?,
        })
    }

    /// The workload that an object of a component defines; `None` for other objects.
    fn workload(&self, object: &RenderedObject, accepted: bool) -> Option<Workload> {
        let component = object.component?;
        let id = identity(&object.node);
        let namespace = id.scope.namespace().map(EcoString::as_str).unwrap_or_default();
        let version = object.node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        let spec = object.node.get("spec")?;
        let group = version.split('/').next().unwrap_or_default();
        let kind = match (group, id.kind.as_str()) {
            ("apps", "Deployment") => self.deployment(namespace, &id.name, spec),
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => self.groups(namespace, &object.node),
            ("ray.io", "RayCluster") => self.ray(namespace, spec),
            ("serving.knative.dev", "Service") => {
                self.template(namespace, spec.get("template")?).map(WorkloadKind::Knative)
            }
            _ => return None,
        };
        let mut kind = kind.map_err(|invalid| refused(&invalid));
        if object.has_gaps
            && self.classes.restricts(namespace)
            && let Ok(kind) = &mut kind
        {
            kind.leave_security_open();
        }
        match &mut kind {
            Ok(WorkloadKind::Deployment { spec, .. }) => {
                self.copies.leave_open(&mut spec.revision.pod, &object.node);
            }
            Ok(WorkloadKind::Knative(pod)) => {
                self.copies.leave_open(pod, &object.node);
            }
            _ => {}
        }
        let kind = kind.and_then(|kind| {
            // What is accepted where it is applied is accepted where a controller creates it.
            let refused = if accepted { None } else { refused_pods(&object.node) };
            refused.map_or(Ok(kind), |why| Err(why.into()))
        });
        let queued = Queued::of(group, &id.kind, &object.node).map(Box::new);
        Some(Workload { component, name: id.name, kind, queued })
    }

    /// The workloads of a service. `accepted` says of the first objects whether a server was found to
    /// take them.
    pub fn workloads(&self, objects: &[RenderedObject], accepted: &[bool]) -> Vec<Workload> {
        let accepted = accepted.iter().copied().chain(std::iter::repeat(false));
        let mut found: Vec<Workload> = objects
            .iter()
            .zip(accepted)
            .filter_map(|(object, accepted)| self.workload(object, accepted))
            .collect();
        // A fleet keeps a list for each of its services.
        found.shrink_to_fit();
        found
    }
}

/// Identity of a rendered object.
pub fn identity(object: &Node) -> ObjectRef {
    let text = |keys: &[&str]| object.at(keys).and_then(|node| node.as_str()).unwrap_or_default();
    let namespace = text(&["metadata", "namespace"]);
    ObjectRef {
        kind: text(&["kind"]).into(),
        scope: if namespace.is_empty() {
            Scope::Cluster
        } else {
            Scope::Namespace(namespace.into())
        },
        name: text(&["metadata", "name"]).into(),
    }
}
