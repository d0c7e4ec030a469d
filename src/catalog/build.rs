//! Builds the catalog from typed objects: duplicates, replaced built-in objects, missing
//! references.

use super::{Catalog, RuntimeSet, builtin};
use crate::api::{
    AcceleratorClass, Api, ClusterQueue, FineTunedWeight, Follow, LocalQueue, Model, ModelServing,
    Object, ObjectRef, OperatorConfig, PerReading, ResourceFlavor, Runtime, Scope, Semantics,
    Views,
};
use crate::cluster::Machine;
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::{Platform, Releases};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How a catalog is built.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// By whose rules findings are graded.
    pub semantics: Follow,
    /// Built-in runtimes and accelerator classes are candidates beside those of the input.
    pub all_builtin: bool,
    /// Built-in objects replace those of the input that have their names: they are what a release
    /// ships.
    pub shipped: bool,
    /// The releases that are followed.
    pub releases: Option<Releases>,
    /// The releases beneath the operators.
    pub platform: Option<Platform>,
}

/// One typed object.
#[derive(Clone)]
pub enum Item {
    /// A model.
    Model(Box<Model>),
    /// A runtime.
    Runtime(Box<Runtime>),
    /// A fine-tuned weight.
    Weight(Box<FineTunedWeight>),
    /// A service.
    Service(Box<Views>),
    /// A ModelServing.
    ModelServing(Box<ModelServing>),
    /// An accelerator class.
    AcceleratorClass(Box<PerReading<AcceleratorClass>>),
    /// A node.
    Node(Object),
    /// A flavor of Kueue.
    Flavor(Box<ResourceFlavor>),
    /// A ClusterQueue.
    ClusterQueue(Box<ClusterQueue>),
    /// A LocalQueue.
    LocalQueue(Box<LocalQueue>),
    /// An object that is kept without an index.
    Other(Object),
}

impl Item {
    /// Whether an operator decides and renders it.
    pub fn is_planned(&self) -> bool {
        matches!(self, Self::Service(_) | Self::ModelServing(_))
    }

    /// The object.
    pub fn object(&self) -> &Object {
        match self {
            Self::Model(model) => &model.object,
            Self::Runtime(runtime) => &runtime.object,
            Self::Weight(weight) => &weight.object,
            Self::Service(views) => &views.documented.object,
            Self::ModelServing(serving) => &serving.object,
            Self::AcceleratorClass(views) => &views.documented.object,
            Self::Flavor(flavor) => &flavor.object,
            Self::ClusterQueue(queue) => &queue.object,
            Self::LocalQueue(queue) => &queue.object,
            Self::Node(object) | Self::Other(object) => object,
        }
    }
}

/// Collects typed objects in the order of the input.
pub struct Builder {
    options: Options,
    items: Vec<Item>,
    index: HashMap<(Api, ObjectRef), usize>,
    config: OperatorConfig,
    overridden: BTreeSet<(Api, ObjectRef)>,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// An empty builder.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            items: Vec::new(),
            index: HashMap::new(),
            config: OperatorConfig::default(),
            overridden: BTreeSet::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Sets the operator's settings.
    pub fn config(&mut self, config: OperatorConfig) {
        self.config = config;
    }

    /// Adds an object.
    pub fn add(&mut self, item: Item) {
        let object = item.object();
        let key = (object.api, object.id.clone());
        let Some(&position) = self.index.get(&key) else {
            self.index.insert(key, self.items.len());
            self.items.push(item);
            return;
        };
        let earlier = self.items[position].object();
        if earlier.builtin != object.builtin && !self.options.shipped {
            self.overridden.insert(key.clone());
        }
        if self.options.shipped && earlier.builtin != object.builtin {
            if object.builtin {
                self.items[position] = item;
            }
            return;
        }
        if earlier.builtin && object.builtin {
            // Some releases ship two files of one name; the last one applied stays.
            self.items[position] = item;
            return;
        }
        let finding = if earlier.builtin && !object.builtin {
            Some(
                Diagnostic::new(
                    Code::OverridesBuiltin,
                    format!("{} overrides the built-in one", object.id),
                )
                .at(object.name_span())
                .object(object.id.to_string())
                .help("rename it to keep both"),
            )
        } else if object.builtin && !earlier.builtin {
            // The user's object came first; the built-in one is dropped.
            self.diagnostics.push(
                Diagnostic::new(
                    Code::OverridesBuiltin,
                    format!("{} overrides the built-in one", earlier.id),
                )
                .at(earlier.name_span())
                .object(earlier.id.to_string())
                .help("rename it to keep both"),
            );
            return;
        } else {
            Some(
                Diagnostic::new(Code::DuplicateObject, format!("{} is defined twice", object.id))
                    .at(object.name_span())
                    .label(earlier.name_span(), "first here")
                    .object(object.id.to_string())
                    // A cluster takes both in turn and keeps the last; only on disk is it a mistake.
                    .severity(if self.options.semantics.of(object.api) == Semantics::Controller { Severity::Warning } else { Severity::Error })
                    .help("rename or delete one; the last one read is used, as a cluster keeps the one applied last"),
            )
        };
        self.diagnostics.extend(finding);
        self.items[position] = item;
    }

    /// Sorts, indexes and freezes. `found_builtin` is what was found in built-in objects.
    pub fn finish(self, found_builtin: Vec<Diagnostic>) -> (Catalog, Vec<Diagnostic>) {
        let mut catalog = Catalog {
            config: self.config,
            releases: self.options.releases,
            platform: self.options.platform,
            overridden: self.overridden,
            ..Catalog::default()
        };
        catalog.services.reserve_exact(
            self.items.iter().filter(|item| matches!(item, Item::Service(_))).count(),
        );
        let mut runtimes: BTreeMap<Api, Vec<Runtime>> = BTreeMap::new();
        for item in self.items {
            let object = item.object();
            catalog
                .owners
                .entry(object.span.source)
                .or_default()
                .push((object.span.start, object.id.clone()));
            match item {
                Item::Model(model) => {
                    // A config.json belongs to the models that it completes.
                    for field in &model.known.fields {
                        if let Some(span) = field.value.origin.span() {
                            catalog
                                .owners
                                .entry(span.source)
                                .or_insert_with(|| vec![(0, model.object.id.clone())]);
                        }
                    }
                    catalog.models.push(*model);
                }
                Item::Runtime(runtime) => {
                    runtimes.entry(runtime.object.api).or_default().push(*runtime);
                }
                Item::Weight(weight) => {
                    catalog.weights.insert(weight.object.id.name.clone(), *weight);
                }
                Item::Service(views) => catalog.services.push(views),
                Item::ModelServing(serving) => catalog.model_servings.push(*serving),
                Item::AcceleratorClass(views) => {
                    catalog.accelerator_classes.insert(views.documented.name().clone(), *views);
                }
                Item::Node(object) => {
                    catalog.nodes.insert(object.id.name.clone(), object);
                }
                Item::Flavor(flavor) => {
                    catalog.flavors.insert(flavor.name().clone(), *flavor);
                }
                Item::ClusterQueue(queue) => {
                    catalog.cluster_queues.insert(queue.name().clone(), *queue);
                }
                Item::LocalQueue(queue) => {
                    let namespace = queue.object.id.scope.namespace().cloned().unwrap_or_default();
                    catalog.local_queues.insert((namespace, queue.name().clone()), *queue);
                }
                Item::Other(object) => catalog.others.push(object),
            }
        }
        for owners in catalog.owners.values_mut() {
            owners.sort_unstable_by_key(|(start, _)| *start);
        }
        catalog.models.sort_by(|a, b| {
            (&a.object.id.scope, &a.object.id.name).cmp(&(&b.object.id.scope, &b.object.id.name))
        });
        catalog.services.sort_by(|a, b| {
            let key = |views: &Views| {
                (
                    views.documented.object.api,
                    views.documented.namespace.clone(),
                    views.documented.name().clone(),
                )
            };
            key(a).cmp(&key(b))
        });
        catalog
            .model_servings
            .sort_by(|a, b| (&a.namespace, a.name()).cmp(&(&b.namespace, b.name())));
        catalog.models.shrink_to_fit();
        catalog.model_index = index(catalog.models.iter().map(|model| &model.object.id));
        let all = self.options.all_builtin;
        catalog.all_builtin = all;
        catalog.runtimes = runtimes
            .into_iter()
            .map(|(api, runtimes)| {
                let set = RuntimeSet::new(runtimes, all);
                (api, if api == Api::KServe { set.with_stock() } else { set })
            })
            .collect();
        catalog.count_machines();
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(builtin::used(&catalog));
        diagnostics.extend(builtin::in_use(&catalog, found_builtin));
        (catalog, diagnostics)
    }
}

impl Catalog {
    /// Adds nodes that are not there yet: those of another state of the same cluster. They are
    /// known by their values; the places are those of other texts.
    pub fn lend(&mut self, nodes: impl IntoIterator<Item = Object>) {
        for node in nodes {
            self.nodes.entry(node.id.name.clone()).or_insert(node);
        }
        self.count_machines();
    }

    /// What follows from the nodes.
    fn count_machines(&mut self) {
        self.machines = self.nodes.values().map(Machine::of).collect();
        self.builtin_classes =
            builtin::candidate_classes(&self.accelerator_classes, &self.machines, self.all_builtin);
    }
}

fn index<'a>(ids: impl Iterator<Item = &'a ObjectRef>) -> HashMap<(Scope, EcoString), usize> {
    ids.enumerate().map(|(position, id)| ((id.scope.clone(), id.name.clone()), position)).collect()
}
