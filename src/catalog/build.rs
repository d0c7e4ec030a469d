//! Builds the catalog from typed objects: duplicates, replaced built-in objects, missing
//! references.

use super::item::Item;
use super::variants::{self, Place, Standing, View};
use super::{Catalog, RuntimeSet, builtin};
use crate::api::{Api, Object, ObjectRef, OperatorConfig, Runtime, Scope, Semantics, Views};
use crate::cluster::{DeviceTolerations, Machine};
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::{Platform, Readings};
use crate::source::{FileText, Source, SourceId, Span};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// How a catalog is built.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Built-in runtimes and accelerator classes are candidates beside those of the input.
    pub all_builtin: bool,
    /// Built-in objects replace those of the input that have their names: they are what a release
    /// ships.
    pub shipped: bool,
    /// By which rules the objects were read.
    pub readings: Readings,
    /// The releases beneath the operators.
    pub platform: Option<Platform>,
    /// The directory whose definitions go before others of the same name.
    pub within: Option<String>,
    /// Whether two definitions of an object of a kind and a name are worth a finding, because
    /// something reads it; by default of every object.
    pub compared: Option<fn(&str, &str, &str) -> bool>,
}

/// Collects typed objects in the order of the input.
pub struct Builder {
    options: Options,
    items: Vec<Item>,
    places: Vec<Place>,
    /// Where objects are that equal one of the items, which stands for them.
    equals: HashMap<usize, Vec<Place>>,
    /// The definitions of a name: one, or one for each directory below a path.
    index: HashMap<variants::Key, Vec<usize>>,
    config: OperatorConfig,
    overridden: BTreeSet<(Api, ObjectRef)>,
    /// Objects with generated names, of which none is another.
    unnamed: Vec<usize>,
    unfilled: Arc<HashSet<Span>>,
    /// Texts that nobody applies: tests, other projects.
    copies: Arc<HashSet<SourceId>>,
    patched: Arc<HashMap<SourceId, Arc<str>>>,
    texts: Arc<HashMap<SourceId, FileText>>,
    diagnostics: Vec<Diagnostic>,
}

/// The catalog of the input, and what else was found while it was built.
#[derive(Debug)]
pub struct Built {
    /// One definition of each name.
    pub catalog: Catalog,
    /// The services that are decided with other definitions, or that are other definitions.
    pub views: Vec<View>,
    /// Findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// An empty builder.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            items: Vec::new(),
            places: Vec::new(),
            equals: HashMap::new(),
            index: HashMap::new(),
            config: OperatorConfig::default(),
            overridden: BTreeSet::new(),
            unnamed: Vec::new(),
            unfilled: Arc::default(),
            copies: Arc::default(),
            patched: Arc::default(),
            texts: Arc::default(),
            diagnostics: Vec::new(),
        }
    }

    /// Sets the operator's settings.
    pub fn config(&mut self, config: OperatorConfig) {
        self.config = config;
    }

    /// Sets the objects, by their places, with values that are not filled in yet.
    pub fn unfilled(&mut self, unfilled: HashSet<Span>) {
        self.unfilled = Arc::new(unfilled);
    }

    /// The texts that nobody applies.
    pub fn copies(&mut self, copies: HashSet<SourceId>) {
        self.copies = Arc::new(copies);
    }

    /// The texts that a kustomization changes which was not built, with its directory.
    pub fn patched(&mut self, patched: HashMap<SourceId, Arc<str>>) {
        self.patched = Arc::new(patched);
    }

    /// Keeps the text of a file with a ConfigMap.
    pub fn text(&mut self, id: SourceId, source: &Source) {
        Arc::make_mut(&mut self.texts).insert(id, source.text.clone());
    }

    /// Adds an object of no particular place.
    #[cfg(test)]
    pub fn add(&mut self, item: Item) {
        self.add_at(item, Place::default());
    }

    /// Adds an object that was read at a place.
    pub fn add_at(&mut self, item: Item, place: Place) {
        let object = item.object();
        // A generated name is another one in each apply: no two such objects are one.
        if object.id.name.ends_with('*') {
            self.unnamed.push(self.items.len());
            self.items.push(item);
            self.places.push(place);
            return;
        }
        let key = variants::key(object);
        let Some(index) = self.index.get_mut(&key) else {
            self.index.insert(key, vec![self.items.len()]);
            self.items.push(item);
            self.places.push(place);
            return;
        };
        // Built-in objects have no directory, so that the first definition stands for all in these
        // checks.
        let position = index[0];
        let earlier = self.items[position].object();
        if earlier.builtin || object.builtin {
            self.beside_builtin(&key, position, item, place);
            return;
        }
        let is_service = matches!(item, Item::Service(_) | Item::ModelServing(_));
        let same = |at: &&usize| {
            let other = self.items[**at].object();
            // Equal services of two files are two examples or environments: each is shown.
            let apart = is_service
                && self.places[**at].is_below_same_path(&place)
                && other.span.source != object.span.source;
            !apart && other.api_version == object.api_version && other.node == object.node
        };
        if let Some(same) = index.iter().copied().find(|at| same(&at)) {
            // The equal one stands for this place too: services near it see an object there.
            if self.places[same].is_beside(&place) {
                self.equals.entry(same).or_default().push(place);
            }
            return;
        }
        // Directories below one path are environments, versions, examples: each has its own.
        let Some(&position) = index.iter().find(|at| !self.places[**at].is_beside(&place)) else {
            index.push(self.items.len());
            self.items.push(item);
            self.places.push(place);
            return;
        };
        let earlier = self.items[position].object();
        let is_shown = is_service && self.places[position].is_below_same_path(&place);
        let one_file = earlier.span.source == object.span.source;
        // A Template makes objects and is none; beside a manifest, one with placeholders is its
        // template. In one file, and of paths side by side, the last one is applied.
        let standing = self.places[position].standing;
        let is_template =
            standing == Standing::OfTemplate || place.standing == Standing::OfTemplate;
        let is_apart = self.places[position].is_below_same_path(&place) && !one_file;
        let yields = standing != place.standing && (is_template || is_apart);
        if yields && standing < place.standing && !is_shown {
            return;
        }
        let compares = !yields
            && self.options.compared.is_none_or(|compares| {
                compares(&object.api_version, &object.id.kind, &object.id.name)
            });
        if compares && earlier.node != object.node {
            self.diagnostics.push(defined_twice(
                earlier,
                object,
                &self.places[position],
                &place,
                self.options.readings.mode(object.api),
            ));
        }
        let (mut item, mut place) = (item, place);
        // Of a file the last definition is kept, and every service is shown.
        if !is_shown || one_file {
            let mut equals = self.equals.remove(&position).unwrap_or_default().into_iter();
            std::mem::swap(&mut self.items[position], &mut item);
            std::mem::swap(&mut self.places[position], &mut place);
            // Its equals in other directories stay what they are.
            if let Some(elsewhere) = equals.next() {
                let at = self.items.len();
                self.index.entry(key.clone()).or_default().push(at);
                self.items.push(item.clone());
                self.places.push(elsewhere);
                self.equals.insert(at, equals.collect());
            }
        }
        if is_shown {
            self.index.entry(key).or_default().push(self.items.len());
            self.items.push(item);
            self.places.push(place);
        }
    }

    /// Adds an object whose name another one has, where one of the two is built in: one of them stays.
    fn beside_builtin(&mut self, key: &variants::Key, position: usize, item: Item, place: Place) {
        let (earlier, object) = (self.items[position].object(), item.object());
        if earlier.builtin && object.builtin {
            // Some releases ship two files of one name; the last one applied stays.
            self.items[position] = item;
            return;
        }
        if self.options.shipped {
            if object.builtin {
                // The shipped object replaces every variant of its name.
                self.index.entry(key.clone()).or_default().truncate(1);
                self.items[position] = item;
                self.places[position] = place;
            }
            return;
        }
        self.overridden.insert((object.api, object.id.clone()));
        // The user's object stays, whichever came first.
        let of_user = if object.builtin { earlier } else { object };
        let message = format!("{} overrides the built-in one", of_user.id);
        self.diagnostics.push(
            Diagnostic::new(Code::OverridesBuiltin, message)
                .at(of_user.name_span())
                .object(of_user.id.to_string())
                .help("rename it to keep both"),
        );
        if earlier.builtin {
            self.items[position] = item;
            self.places[position] = place;
        }
    }

    /// Sorts, indexes and freezes. `found_builtin` is what was found in built-in objects.
    pub fn finish(mut self, found_builtin: Vec<Diagnostic>) -> Built {
        let definitions = variants::Known {
            items: &self.items,
            places: &self.places,
            equals: &self.equals,
            index: &self.index,
            within: self.options.within.as_deref(),
        };
        let mut chosen = definitions.chosen();
        // Objects without a final name have no variants.
        chosen.extend(&self.unnamed);
        chosen.sort_unstable();
        let groups = definitions.groups(&chosen);
        self.diagnostics.extend(definitions.finding());
        let mut views = Vec::new();
        // Before the items are moved: each view has copies of its own.
        for group in groups {
            let items = group.items.iter().map(|at| self.items[*at].clone()).collect();
            let mut catalog = self.assemble(items);
            catalog.count_machines();
            views.push(View { catalog, added: group.added });
        }
        // Of all definitions, also of those left out: findings about them need their objects.
        let owners: Vec<(Span, ObjectRef)> = self
            .items
            .iter()
            .map(Item::object)
            .map(|object| (object.span, object.id.clone()))
            .collect();
        let all = std::mem::take(&mut self.items);
        // Without variants, the usual case, nothing is copied.
        let items = if chosen.len() == all.len() {
            all
        } else {
            let mut all: Vec<Option<Item>> = all.into_iter().map(Some).collect();
            chosen.iter().filter_map(|at| all[*at].take()).collect()
        };
        let mut catalog = self.assemble(items);
        for (span, id) in owners {
            catalog.owners.entry(span.source).or_default().push((span, id));
        }
        for owners in catalog.owners.values_mut() {
            owners.sort_unstable_by_key(|(span, _)| span.start);
        }
        catalog.count_machines();
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(builtin::used(&catalog));
        diagnostics.extend(builtin::in_use(&catalog, found_builtin));
        Built { catalog, views, diagnostics }
    }

    /// The catalog of these objects, without owners of places.
    fn assemble(&self, items: Vec<Item>) -> Catalog {
        let mut catalog = Catalog {
            config: self.config.clone(),
            readings: self.options.readings,
            platform: self.options.platform,
            overridden: self.overridden.clone(),
            unfilled: Arc::clone(&self.unfilled),
            copies: Arc::clone(&self.copies),
            patched: Arc::clone(&self.patched),
            texts: Arc::clone(&self.texts),
            ..Catalog::default()
        };
        // Exact, as a fleet has many services and none is added afterwards.
        catalog
            .services
            .reserve_exact(items.iter().filter(|item| matches!(item, Item::Service(_))).count());
        let mut runtimes: BTreeMap<Api, Vec<Runtime>> = BTreeMap::new();
        for item in items {
            match item {
                Item::Model(model) => {
                    // A config.json belongs to the models that it completes.
                    for field in &model.completion.fields {
                        if let Some(span) = field.value.origin.span() {
                            catalog.owners.entry(span.source).or_insert_with(|| {
                                let whole = Span { start: 0, end: u32::MAX, ..span };
                                vec![(whole, model.object.id.clone())]
                            });
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
        // By name: no answer depends on which file was read first.
        catalog.models.sort_by(|a, b| {
            (&a.object.id.scope, &a.object.id.name).cmp(&(&b.object.id.scope, &b.object.id.name))
        });
        // The order by which `service` searches.
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
                (api, if api.has_stock_runtimes() { set.with_stock() } else { set })
            })
            .collect();
        catalog
    }
}

/// The finding about a second definition: an error in one file, which is applied as a whole, and in
/// files that are named side by side.
fn defined_twice(
    earlier: &Object,
    object: &Object,
    first: &Place,
    second: &Place,
    semantics: Semantics,
) -> Diagnostic {
    let one_file = earlier.span.source == object.span.source;
    let apart = !first.is_below_same_path(second);
    // A cluster takes both in turn and keeps the last; only on disk is it a mistake.
    let severity = if semantics == Semantics::Documented && (one_file || apart) {
        Severity::Error
    } else {
        Severity::Warning
    };
    let finding = |message: String| {
        Diagnostic::new(Code::DuplicateObject, message)
            .at(object.name_span())
            .object(object.id.to_string())
    };
    // Manifests beside a dump of the cluster that they are applied to.
    let is_applied = earlier.metadata("uid").is_some() && object.metadata("uid").is_none();
    if is_applied && !one_file {
        return finding(format!("{} replaces that of the cluster", object.id))
            .label(earlier.name_span(), "as the cluster has it")
            .severity(Severity::Info)
            .help("nothing, if it is to be applied");
    }
    finding(format!("{} is defined twice", object.id))
        .label(earlier.name_span(), "first here")
        .severity(severity)
        .help("rename or delete one; the last one read is used, as a cluster keeps the one applied last")
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
        // A node with placeholders has no amounts and no labels to place pods by.
        let nodes = self.nodes.values().filter(|object| !self.is_unfilled(object));
        self.machines = nodes.map(Machine::of).collect();
        let pods = self.others.iter().filter(|object| object.id.kind == "Pod");
        let pods =
            // Pods with a uid are of a cluster: they show what its webhooks really add.
            pods.filter(|object| object.metadata("uid").is_some()).map(|object| &object.node);
        let cohorts = self.others.iter().filter(|object| {
            object.id.kind == "Cohort" && object.api_version.starts_with("kueue.x-k8s.io/")
        });
        self.cohorts = cohorts.cloned().collect();
        let assumed = self.platform.is_none_or(|platform| platform.device_tolerations);
        self.device_tolerations = DeviceTolerations::of(assumed, &self.machines, pods);
        // Set on each node, so that the scheduler needs the node alone.
        for machine in &mut self.machines {
            machine.tolerates_own = self.device_tolerations.on;
        }
        self.builtin_classes =
            builtin::candidate_classes(&self.accelerator_classes, &self.machines, self.all_builtin);
    }
}

fn index<'a>(ids: impl Iterator<Item = &'a ObjectRef>) -> HashMap<(Scope, EcoString), usize> {
    ids.enumerate().map(|(position, id)| ((id.scope.clone(), id.name.clone()), position)).collect()
}
