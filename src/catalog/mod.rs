//! Everything that was loaded, indexed and frozen.
//!
//! In: typed objects. Out: look-ups by kind, scope and name. Duplicates and shadowed objects are
//! found here, once. Nothing changes afterwards, so `select` and the operators share one `&Catalog`
//! on all threads and read no other objects.

mod build;
mod builtin;
mod item;
mod runtimes;
mod variants;

pub use build::{Builder, Built, Options};
pub use item::Item;
pub use runtimes::RuntimeSet;
pub use variants::{Place, Standing, View, preferred};

use crate::api::{
    AcceleratorClass, Api, ClusterQueue, Failure, FineTunedWeight, LocalQueue, Model, ModelServing,
    Object, ObjectRef, OperatorConfig, PerReading, ResourceFlavor, Runtime, Scope, Semantics,
    Views,
};
use crate::cluster::{DeviceTolerations, Machine};
use crate::diag::Nearby;
use crate::policy::{AcceleratorOptions, Platform, Policy, Readings};
use crate::source::{FileText, SourceId, Span};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// Kind of the configurations of LLMInferenceServices.
pub const LLM_CONFIG: &str = "LLMInferenceServiceConfig";

/// All loaded objects.
#[derive(Debug, Default)]
pub struct Catalog {
    models: Vec<Model>,
    model_index: HashMap<(Scope, EcoString), usize>,
    /// Names of models, once one is looked for that is not there.
    model_names: OnceLock<Nearby>,
    /// A service sees the runtimes of its own API only.
    runtimes: BTreeMap<Api, RuntimeSet>,
    weights: BTreeMap<EcoString, FineTunedWeight>,
    #[expect(clippy::vec_box, reason = "each is freed when it was planned")]
    services: Vec<Box<Views>>,
    /// The namespaces of services that were handed over.
    of_taken: BTreeSet<EcoString>,
    model_servings: Vec<ModelServing>,
    accelerator_classes: BTreeMap<EcoString, PerReading<AcceleratorClass>>,
    /// Built-in accelerator classes that any service may be given.
    builtin_classes: BTreeSet<EcoString>,
    nodes: BTreeMap<EcoString, Object>,
    /// Built-in classes count whatever the nodes are.
    all_builtin: bool,
    machines: Vec<Machine>,
    device_tolerations: DeviceTolerations,
    cohorts: Vec<Object>,
    flavors: BTreeMap<EcoString, ResourceFlavor>,
    cluster_queues: BTreeMap<EcoString, ClusterQueue>,
    /// By namespace and name.
    local_queues: BTreeMap<(EcoString, EcoString), LocalQueue>,
    accelerator_options: AcceleratorOptions,
    readings: Readings,
    platform: Option<Platform>,
    config: OperatorConfig,
    /// Objects that are read and kept, but have no index of their own.
    others: Vec<Object>,
    /// The texts of files with ConfigMaps: a file in one has its own lines.
    texts: Arc<HashMap<SourceId, FileText>>,
    /// Places in `others`, by kind, namespace and name; made when one is first looked up.
    other_index: OnceLock<HashMap<ObjectRef, usize>>,
    /// Results that several services share.
    memo: Memo,
    /// Which object a place belongs to: by source, sorted by place.
    owners: HashMap<SourceId, Vec<(Span, ObjectRef)>>,
    /// Objects, by their places, with values that are not filled in yet.
    unfilled: Arc<HashSet<Span>>,
    copies: Arc<HashSet<SourceId>>,
    patched: Arc<HashMap<SourceId, Arc<str>>>,
    /// Services, by the places of their names, that no server takes, and why.
    refused: HashMap<Span, Failure>,
    /// Built-in objects that a user's object replaced.
    overridden: BTreeSet<(Api, ObjectRef)>,
}

/// Results that an operator computed for one service and that hold for others.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Merged trees, by the objects that were merged.
    merged: Mutex<HashMap<Vec<ObjectRef>, Node>>,
    /// Fingerprints of what was checked and found valid.
    valid: Mutex<HashSet<u64>>,
}

impl Memo {
    /// The merged tree of some objects, made on the first request.
    ///
    /// # Errors
    /// That of `make`; it is not remembered.
    pub(crate) fn merged<E>(
        &self,
        of: Vec<ObjectRef>,
        make: impl FnOnce() -> Result<Node, E>,
    ) -> Result<Node, E> {
        // The lock is not held while the tree is made: two threads may make it, with equal results.
        let merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner).get(&of).cloned();
        if let Some(node) = merged {
            return Ok(node);
        }
        let node = make()?;
        let mut all = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(of, node.clone());
        Ok(node)
    }

    /// Whether something of this fingerprint was found valid.
    pub(crate) fn is_valid(&self, fingerprint: u64) -> bool {
        self.valid.lock().unwrap_or_else(PoisonError::into_inner).contains(&fingerprint)
    }

    /// Remembers that something was found valid.
    pub(crate) fn found_valid(&self, fingerprint: u64) {
        self.valid.lock().unwrap_or_else(PoisonError::into_inner).insert(fingerprint);
    }
}

impl Catalog {
    /// Results that several services share.
    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// A model by scope and name.
    pub fn model(&self, scope: &Scope, name: &str) -> Option<&Model> {
        self.model_index.get(&(scope.clone(), name.into())).map(|index| &self.models[*index])
    }

    /// All models, namespaced first, by name.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.models.iter()
    }

    /// The name of a model of the cluster or of a namespace that is nearest to one that is not
    /// there.
    pub fn nearest_model(&self, namespace: &str, name: &str) -> Option<&str> {
        let names = self.model_names.get_or_init(|| {
            Nearby::new(self.models.iter().map(|model| model.object.id.name.clone()))
        });
        let is_seen = |place: usize| {
            let scope = self.models[place].object.id.scope.namespace();
            scope.is_none_or(|name| name == namespace)
        };
        names.nearest_of(name, is_seen).map(|place| self.models[place].object.id.name.as_str())
    }

    /// The runtimes of one API.
    pub fn runtimes(&self, api: Api) -> &RuntimeSet {
        static NONE: LazyLock<RuntimeSet> = LazyLock::new(RuntimeSet::default);
        self.runtimes.get(&api).unwrap_or(&NONE)
    }

    /// The runtimes of every API that automatic selection looks at.
    pub fn candidate_runtimes(&self) -> impl Iterator<Item = &Runtime> {
        self.runtimes.values().flat_map(RuntimeSet::candidates)
    }

    /// The runtimes of every API, built-in ones that are found by name alone too.
    pub fn all_runtimes(&self) -> impl Iterator<Item = &Runtime> {
        self.runtimes.values().flat_map(RuntimeSet::iter)
    }

    /// A fine-tuned weight.
    pub fn fine_tuned_weight(&self, name: &str) -> Option<&FineTunedWeight> {
        self.weights.get(name)
    }

    /// All fine-tuned weights by name.
    pub fn fine_tuned_weights(&self) -> impl Iterator<Item = &FineTunedWeight> {
        self.weights.values()
    }

    /// All services: by namespace, then name.
    pub fn services(&self) -> impl DoubleEndedIterator<Item = &Views> + ExactSizeIterator + Clone {
        self.services.iter().map(Box::as_ref)
    }

    /// A service by operator, namespace and name.
    pub fn service(&self, api: Api, namespace: &str, name: &str) -> Option<&Views> {
        let key = (api, namespace, name);
        let at = self.services.binary_search_by(|views| {
            let service = &views.documented;
            (service.object.api, service.namespace.as_str(), service.name().as_str()).cmp(&key)
        });
        at.ok().map(|at| self.services[at].as_ref())
    }

    /// Hands over the services at these places, each once; the others stay.
    #[expect(clippy::vec_box, reason = "each is freed when it was planned")]
    pub fn take_services(&mut self, places: &[usize]) -> Vec<Box<Views>> {
        // Each place is taken once: a place that is listed twice gives nothing the second time.
        let mut all: Vec<Option<Box<Views>>> =
            std::mem::take(&mut self.services).into_iter().map(Some).collect();
        let taken: Vec<Box<Views>> = places.iter().filter_map(|at| all[*at].take()).collect();
        self.of_taken.extend(taken.iter().map(|views| views.documented.namespace.clone()));
        self.services = all.into_iter().flatten().collect();
        taken
    }

    /// The namespaces of all services, those that were handed over among them.
    pub fn namespaces_of_services(&self) -> impl Iterator<Item = &EcoString> {
        self.services.iter().map(|views| &views.documented.namespace).chain(&self.of_taken)
    }

    /// All ModelServings: by namespace, then name.
    pub fn model_servings(&self) -> &[ModelServing] {
        &self.model_servings
    }

    /// An accelerator class.
    pub fn accelerator_class(&self, name: &str) -> Option<&Object> {
        self.accelerator_classes.get(name).map(|views| &views.documented.object)
    }

    /// All accelerator classes by name.
    pub fn accelerator_classes(&self) -> impl Iterator<Item = &Object> {
        self.accelerator_classes.values().map(|views| &views.documented.object)
    }

    /// An accelerator class as a semantics reads it.
    pub fn class_by(&self, mode: Semantics, name: &str) -> Option<&AcceleratorClass> {
        self.accelerator_classes.get(name).map(|views| views.by(mode))
    }

    /// All accelerator classes by name, as a semantics reads them.
    pub fn classes_by(&self, mode: Semantics) -> impl ExactSizeIterator<Item = &AcceleratorClass> {
        self.accelerator_classes.values().map(move |views| views.by(mode))
    }

    /// All accelerator classes by name, as the semantics that is followed reads them.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &AcceleratorClass> {
        self.accelerator_classes.values().map(PerReading::followed)
    }

    /// Whether a service that does not name the class may be given it.
    pub fn is_candidate_class(&self, class: &AcceleratorClass) -> bool {
        !class.object.builtin || self.builtin_classes.contains(class.name())
    }

    /// Whether the input defines an accelerator class.
    pub fn has_own_class(&self) -> bool {
        self.accelerator_classes().any(|class| !class.builtin)
    }

    /// All nodes by name.
    pub fn nodes(&self) -> impl Iterator<Item = &Object> {
        self.nodes.values()
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<&Object> {
        self.nodes.get(name)
    }

    /// All nodes by name, as far as placing pods goes.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// The Cohorts of Kueue.
    pub fn cohorts(&self) -> &[Object] {
        &self.cohorts
    }

    /// Whether pods tolerate the taints of the devices that they request.
    pub fn device_tolerations(&self) -> DeviceTolerations {
        self.device_tolerations
    }

    /// A flavor of Kueue.
    pub fn flavor(&self, name: &str) -> Option<&ResourceFlavor> {
        self.flavors.get(name)
    }

    /// All flavors of Kueue by name.
    pub fn flavors(&self) -> impl ExactSizeIterator<Item = &ResourceFlavor> {
        self.flavors.values()
    }

    /// A ClusterQueue.
    pub fn cluster_queue(&self, name: &str) -> Option<&ClusterQueue> {
        self.cluster_queues.get(name)
    }

    /// Whether the input has queues of Kueue.
    pub fn has_queues(&self) -> bool {
        !self.cluster_queues.is_empty() || self.local_queues().len() > 0
    }

    /// Whether Kueue holds pods back in a simulation of the input.
    pub fn has_cluster_queues(&self) -> bool {
        !self.cluster_queues.is_empty()
    }

    /// All ClusterQueues by name.
    pub fn cluster_queues(&self) -> impl ExactSizeIterator<Item = &ClusterQueue> {
        self.cluster_queues.values()
    }

    /// A LocalQueue of a namespace.
    pub fn local_queue(&self, namespace: &str, name: &str) -> Option<&LocalQueue> {
        self.local_queues.get(&(namespace.into(), name.into()))
    }

    /// The ClusterQueue of a LocalQueue of a namespace, where both were read.
    pub fn cluster_queue_of(&self, namespace: &str, name: &str) -> Option<&ClusterQueue> {
        let local = self.local_queue(namespace, name)?;
        self.cluster_queue(&local.cluster_queue.as_ref()?.value)
    }

    /// All LocalQueues by namespace, then name.
    pub fn local_queues(&self) -> impl ExactSizeIterator<Item = &LocalQueue> {
        self.local_queues.values()
    }

    /// What flags of this run say about accelerators.
    pub fn accelerator_options(&self) -> &AcceleratorOptions {
        &self.accelerator_options
    }

    /// Sets what flags of this run say about accelerators, before anything is decided.
    pub fn set_accelerator_options(&mut self, options: AcceleratorOptions) {
        self.accelerator_options = options;
    }

    /// Whether values of an object are not filled in yet, so that nothing can be said about it.
    pub fn is_unfilled(&self, object: &Object) -> bool {
        self.unfilled.contains(&object.span)
    }

    /// Whether an object is one of tests or of another project, which nobody applies.
    pub fn is_copy(&self, object: &Object) -> bool {
        self.is_copied(object.span.source)
    }

    /// Whether the objects of a text are copies.
    pub fn is_copied(&self, source: SourceId) -> bool {
        self.copies.contains(&source)
    }

    /// The texts that a kustomization changes which was not built, with the directory to build.
    pub(crate) fn patched(&self) -> &Arc<HashMap<SourceId, Arc<str>>> {
        &self.patched
    }

    /// Whether a place is in an object with values that are not filled in yet.
    pub fn is_in_unfilled(&self, place: Span) -> bool {
        let owner = self.owner(place).map(|(start, _)| start);
        owner.is_some_and(|start| {
            self.unfilled.iter().any(|span| span.source == place.source && span.start == start)
        })
    }

    /// Whether any object has values that are not filled in yet.
    pub fn has_unfilled(&self) -> bool {
        !self.unfilled.is_empty()
    }

    /// Why no server takes an object.
    pub fn refused(&self, object: &Object) -> Option<&Failure> {
        self.refused.get(&object.name_span())
    }

    /// Sets which objects no server takes, by the places of their names.
    pub fn set_refused(&mut self, refused: HashMap<Span, Failure>) {
        self.refused = refused;
    }

    /// The policy that is followed of an API; `None` for an API that decides nothing.
    pub fn policy(&self, api: Api) -> Option<&'static Policy> {
        self.readings.policy(api)
    }

    /// The policy of an API under a semantics; `None` for an API that decides nothing.
    pub fn policy_by(&self, api: Api, mode: Semantics) -> Option<&'static Policy> {
        self.readings.policy_by(api, mode)
    }

    /// By which rules the input was read; by none for a catalog that no input was read into.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// The releases beneath the operators; `None` for a catalog that no input was read into.
    pub fn platform(&self) -> Option<Platform> {
        self.platform
    }

    /// The operator's settings: the loaded ConfigMap, or those it ships with.
    pub fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// Objects without an index of their own, in the order of the input.
    pub fn others(&self) -> &[Object] {
        &self.others
    }

    /// One of the objects without an index of their own, by kind, namespace and name; of several,
    /// the last.
    pub fn other(&self, kind: &str, namespace: &str, name: &str) -> Option<&Object> {
        let index = self.other_index.get_or_init(|| {
            // Later ones replace earlier ones in the map, so that the last definition is found.
            let places = self.others.iter().enumerate();
            places.map(|(place, object)| (object.id.clone(), place)).collect()
        });
        let scope =
            if namespace.is_empty() { Scope::Cluster } else { Scope::Namespace(namespace.into()) };
        let id = ObjectRef { kind: kind.into(), scope, name: name.into() };
        index.get(&id).map(|place| &self.others[*place])
    }

    /// A configuration of LLMInferenceServices that is named in a namespace: that of the namespace,
    /// else that of the controller's
    /// (pkg/controller/v1alpha2/llmisvc/config_merge.go, getConfig).
    pub fn llm_config(&self, namespace: &str, name: &str) -> Option<&Object> {
        let system = self.config().presets_namespace().as_str();
        [namespace, system].into_iter().find_map(|text| self.other(LLM_CONFIG, text, name))
    }

    /// The text of a file with ConfigMaps.
    pub fn text_of_config_maps(&self, source: SourceId) -> Option<&str> {
        self.texts.get(&source).map(AsRef::as_ref)
    }

    /// Every object of the catalog, in a fixed order.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.models
            .iter()
            .map(|model| &model.object)
            .chain(self.all_runtimes().map(|runtime| &runtime.object))
            .chain(self.weights.values().map(|weight| &weight.object))
            .chain(self.accelerator_classes())
            .chain(self.services.iter().map(|views| &views.documented.object))
            .chain(self.model_servings.iter().map(|serving| &serving.object))
            .chain(self.nodes.values())
            .chain(self.flavors.values().map(|flavor| &flavor.object))
            .chain(self.cluster_queues.values().map(|queue| &queue.object))
            .chain(self.local_queues.values().map(|queue| &queue.object))
            .chain(&self.others)
    }

    /// Where the object begins that is at a place, and what it is called.
    pub fn owner(&self, span: Span) -> Option<(u32, &ObjectRef)> {
        let owners = self.owners.get(&span.source)?;
        let index = owners.partition_point(|(extent, _)| extent.start <= span.start);
        // Objects within an object, as those of a ConfigMap, follow it.
        // The bound keeps thousands of small objects in one ConfigMap from being searched for each
        // finding.
        let mut before = owners[..index].iter().rev().take(1000);
        let (span, id) = before.find(|(other, _)| span.start <= other.end)?;
        Some((span.start, id))
    }

    /// Kind of the object that is at a place.
    pub fn owner_kind(&self, span: Span) -> Option<&str> {
        self.owner(span).map(|(_, id)| id.kind.as_str())
    }

    /// Whether a user's object replaced a built-in one.
    pub fn overrides_builtin(&self, object: &Object) -> bool {
        !object.builtin && self.overridden.contains(&(object.api, object.id.clone()))
    }
}

#[cfg(test)]
mod tests;
