//! The source of a field of a rendered object, and the values that it overrides.

use crate::api::{ModelServing, Object};
use crate::catalog::Catalog;
use crate::merge::history::{Filled, Overridden, Recorder};
use crate::operators::is_service;
use crate::operators::servings::objects::{API_VERSION, Replaced};
use crate::schema;
use crate::secret::Place;
use crate::source::{SourceId, Span};
use crate::yaml::{FieldPath, Node, Origin, Segment, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// A default of the API server, a webhook or the documents; it is in no file.
    Default,
    /// The operator's ConfigMap.
    Config,
    /// The model.
    Model,
    /// The runtime.
    Runtime,
    /// The accelerator class.
    AcceleratorClass,
    /// The runtime's block for the accelerator class.
    AcceleratorConfiguration,
    /// The service's accelerator selector.
    Selector,
    /// The service.
    Service,
    /// An annotation of the service.
    Annotation,
    /// A rule of the operator.
    Derived,
    /// A flag of the run.
    Flag,
}

impl Layer {
    /// The layer of an object of the input by its kind, and by the blocks that a field of it is
    /// within.
    pub(crate) fn of(kind: &str, within: impl Fn(&[&str]) -> bool) -> Self {
        match kind {
            "ServingRuntime" | "ClusterServingRuntime" | "InferenceService"
                if within(&["acceleratorConfigurations", "acceleratorConfig"]) =>
            {
                Self::AcceleratorConfiguration
            }
            "ServingRuntime" | "ClusterServingRuntime" => Self::Runtime,
            "BaseModel" | "ClusterBaseModel" | "FineTunedWeight" => Self::Model,
            "AcceleratorClass" | "Node" => Self::AcceleratorClass,
            "InferenceService" if within(&["acceleratorSelector", "acceleratorOverride"]) => {
                Self::Selector
            }
            kind if is_service(kind) => Self::Service,
            _ => Self::Config,
        }
    }

    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Config => "config",
            Self::Model => "model",
            Self::Runtime => "runtime",
            Self::AcceleratorClass => "accelerator-class",
            Self::AcceleratorConfiguration => "accelerator-configuration",
            Self::Selector => "selector",
            Self::Service => "service",
            Self::Annotation => "annotation",
            Self::Derived => "derived",
            Self::Flag => "flag",
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug)]
pub struct Said {
    /// The value.
    pub value: Node,
    /// Its layer.
    pub layer: Layer,
    /// Its location, if a file set it.
    pub span: Option<Span>,
    /// The rule that set it, if no file did.
    pub rule: Option<&'static crate::yaml::Rule>,
    /// The source of the fact, if neither a file nor a rule set it.
    pub fact: Option<SourceId>,
}

/// One leaf: its source, and the overridden values, the latest first.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The field.
    pub path: FieldPath,
    /// Its value.
    pub statement: Said,
    /// The overridden values.
    pub overrides: Vec<Said>,
    /// What the actions of the template printed that the value was.
    pub filled: Vec<Filled>,
    /// Determines which of the values may be shown.
    pub shown: Place,
}

/// Blocks of an object that are layers of their own.
const BLOCKS: [&str; 5] = [
    "acceleratorConfigurations",
    "acceleratorConfig",
    "acceleratorSelector",
    "acceleratorOverride",
    "annotations",
];

/// Name and location of a block.
type Block = (&'static str, Span);
/// Where an object begins.
type Start = (SourceId, u32);

/// The layer of each location. An object is looked up once, however many leaves it sets.
pub struct Layers<'a> {
    pub(crate) catalog: &'a Catalog,
    objects: HashMap<Start, &'a Object>,
    /// The blocks of the objects that were looked up, by the start of the object.
    blocks: Mutex<HashMap<Start, Arc<[Block]>>>,
}

impl<'a> Layers<'a> {
    /// The layers of everything in a catalog.
    pub fn new(catalog: &'a Catalog) -> Self {
        let objects =
            catalog.objects().map(|object| ((object.span.source, object.span.start), object));
        Self { catalog, objects: objects.collect(), blocks: Mutex::default() }
    }

    /// The layer of an origin. In a file, the kind of the object and the block at the location
    /// determine it.
    pub(crate) fn of(&self, origin: Origin) -> Layer {
        let span = match origin {
            Origin::File(span) => span,
            Origin::Default(_) => return Layer::Default,
            Origin::Derived(_) => return Layer::Derived,
            Origin::Flag(_) => return Layer::Flag,
            Origin::Fact(_) => return Layer::Model,
        };
        // A location outside every object belongs to the service.
        let kind = self.catalog.owner_kind(span);
        kind.map_or(Layer::Service, |kind| Layer::of(kind, |names| self.within(span, names)))
    }

    /// Whether a location is inside one of these blocks of its object.
    fn within(&self, span: Span, names: &[&str]) -> bool {
        let Some((start, _)) = self.catalog.owner(span) else { return false };
        let key = (span.source, start);
        let mut by_key = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = by_key.entry(key).or_insert_with(|| {
            let mut blocks = Vec::new();
            if let Some(object) = self.objects.get(&key) {
                gather(&object.node, &mut blocks);
            }
            blocks.into()
        });
        let blocks = blocks.clone();
        // Released before the search: many threads ask for layers of one object.
        drop(by_key);
        blocks.iter().any(|(name, block)| names.contains(name) && block.contains(span))
    }
}

fn gather(node: &Node, blocks: &mut Vec<Block>) {
    for entry in node.entries() {
        if let (Some(name), Some(span)) =
            (BLOCKS.iter().find(|name| entry.key == **name), entry.node.origin.span())
        {
            blocks.push((name, span));
        }
        gather(&entry.node, blocks);
    }
    node.items().iter().for_each(|item| gather(item, blocks));
}

/// Finds the values that a leaf of an object overrides.
pub trait Losers {
    /// The values that a leaf overrides, the latest first.
    fn losers<'a>(&'a self, object: &Node, leaf: &Node, path: &FieldPath) -> Vec<&'a Node>;

    /// What the actions of the template printed that a leaf was.
    fn filled(&self, _: &Node) -> Vec<Filled> {
        Vec::new()
    }
}

/// The overridden values of a history, by the value that overrides them. The merge records paths of
/// components, but a leaf is part of a pod, so the two are matched by the writer of the overriding
/// value: a location in a file belongs to one value only, and a rule is matched together with the
/// name of the field.
pub struct Overrides<'h> {
    history: &'h Recorder,
    all: &'h [Overridden],
    /// By writer of a part of an overriding value: the index of the entry, oldest first, and the
    /// path of the part.
    winners: HashMap<Writer, Vec<(usize, FieldPath)>>,
}

/// The writer of a value.
#[derive(PartialEq, Eq, Hash)]
enum Writer {
    File(Span),
    Rule(usize, Option<Segment>),
    Fact(SourceId, Option<Segment>),
}

impl Writer {
    fn of(origin: Origin, name: Option<&Segment>) -> Self {
        match origin {
            Origin::File(span) => Self::File(span),
            Origin::Default(rule) | Origin::Derived(rule) | Origin::Flag(rule) => {
                Self::Rule(std::ptr::from_ref(rule) as usize, name.cloned())
            }
            Origin::Fact(source) => Self::Fact(source, name.cloned()),
        }
    }
}

impl<'h> Overrides<'h> {
    /// The overridden values of a history.
    pub fn new(history: &'h Recorder) -> Self {
        let all = history.all();
        let mut winners: HashMap<Writer, Vec<(usize, FieldPath)>> = HashMap::new();
        for (index, entry) in all.iter().enumerate() {
            // A removed value was overridden by nothing, so that no leaf leads to it.
            let Some(winner) = &entry.winner else { continue };
            if !matches!(winner.value, Value::Map(_) | Value::List(_)) {
                let writer = Writer::of(winner.origin, entry.path.0.last());
                winners.entry(writer).or_default().push((index, FieldPath::root()));
                continue;
            }
            collect(winner, &FieldPath::root(), &mut |path, node| {
                let places = winners.entry(Writer::of(node.origin, path.0.last())).or_default();
                // If one rule wrote several parts, the first part represents all of them.
                if !path.0.is_empty() && places.last().is_none_or(|(last, _)| *last != index) {
                    places.push((index, path.clone()));
                }
            });
        }
        Self { history, all, winners }
    }

    /// The scalar at the place of the leaf, in the latest overridden value.
    fn loser(&self, leaf: &Node, path: &FieldPath) -> Option<&'h Node> {
        let places = self.winners.get(&Writer::of(leaf.origin, path.0.last()))?;
        places.iter().rev().find_map(|(index, place)| {
            let loser = *self.all[*index].loser.select(place).first()?;
            // A mapping in this place was replaced by the leaf; it has no single value to show.
            is_scalar(loser).then_some(loser)
        })
    }
}

impl Losers for Overrides<'_> {
    fn losers<'a>(&'a self, _: &Node, leaf: &Node, path: &FieldPath) -> Vec<&'a Node> {
        let mut losers: Vec<&Node> = Vec::new();
        let mut current = leaf;
        // Each round goes one layer down; the bound guards against a history with cycles.
        for _ in 0..16 {
            match self.loser(current, path) {
                Some(loser) if !losers.iter().any(|earlier| std::ptr::eq(*earlier, loser)) => {
                    current = loser;
                    losers.push(loser);
                }
                _ => break,
            }
        }
        losers
    }

    fn filled(&self, leaf: &Node) -> Vec<Filled> {
        let place = leaf.origin.span();
        place.map_or_else(Vec::new, |place| self.history.filled(place).cloned().collect())
    }
}

/// Overridden values of a ModelServing and of the objects of its controller.
#[derive(Debug, Default)]
pub struct ServingHistory {
    /// Overridden defaults of the CRD, by the location of the value that overrides them.
    defaults: Vec<(Span, Node)>,
}

impl ServingHistory {
    /// The defaults of the CRD that a ModelServing overrides.
    pub fn new(serving: &ModelServing) -> Self {
        let schema = schema::kind(API_VERSION, "ModelServing");
        let mut defaults =
            schema.map_or_else(Vec::new, |schema| schema.overruled(&serving.object.node));
        defaults.sort_by_key(|(span, _)| *span);
        Self { defaults }
    }

    /// The overridden values for one object of the controller.
    pub fn of<'a>(&'a self, replaced: &'a Replaced) -> impl Losers + 'a {
        OfObject { history: self, replaced }
    }
}

struct OfObject<'a> {
    history: &'a ServingHistory,
    replaced: &'a Replaced,
}

impl Losers for OfObject<'_> {
    fn losers<'a>(&'a self, object: &Node, leaf: &Node, path: &FieldPath) -> Vec<&'a Node> {
        let place = positions(object, path);
        let mut found = self.replaced.at(&place);
        // The oldest of the values is the one that overrides the default.
        // The default is overridden by the first layer above it, which is the last in the list.
        let oldest = found.last().copied().unwrap_or(leaf).origin.span();
        let default = oldest.and_then(|span| {
            self.history.defaults.binary_search_by_key(&span, |(span, _)| *span).ok()
        });
        found.extend(
            default
                .map(|index| &self.history.defaults[index].1)
                .filter(|default| is_scalar(default)),
        );
        found
    }
}

fn is_scalar(node: &Node) -> bool {
    matches!(
        node.value,
        Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) | Value::Str(_)
    )
}

/// The path with an index for each list element that is given by a key.
fn positions(object: &Node, path: &FieldPath) -> FieldPath {
    let mut at = FieldPath::root();
    let mut node = Some(object);
    for segment in &path.0 {
        let step = match segment {
            Segment::Keyed(key, value) => {
                let items = node.map_or(&[][..], Node::items);
                items
                    .iter()
                    .position(|item| {
                        item.get(key).and_then(Node::scalar_text).is_some_and(|text| text == *value)
                    })
                    .map_or_else(|| segment.clone(), Segment::Index)
            }
            _ => segment.clone(),
        };
        // Each step is looked up from where the last one led, so that keys are found in their own
        // list.
        node = node.and_then(|node| node.select(&FieldPath(vec![step.clone()])).first().copied());
        at.0.push(step);
    }
    at
}

/// Every leaf at a path of an object; `*` or the root means all of them.
pub fn why(
    layers: &Layers<'_>,
    object: &Node,
    path: &FieldPath,
    losers: &impl Losers,
) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let everything = path.0.is_empty() || path.0.as_slice() == [Segment::Field("*".into())];
    let roots = if everything { vec![(FieldPath::root(), object)] } else { located(object, path) };
    for (at, node) in roots {
        collect(node, &at, &mut |path, node| {
            leaves.push(leaf(layers, object, node, path, losers));
        });
    }
    leaves
}

/// One leaf with its source and the overridden values.
pub fn leaf(
    layers: &Layers<'_>,
    object: &Node,
    node: &Node,
    path: &FieldPath,
    losers: &impl Losers,
) -> Leaf {
    Leaf {
        path: path.clone(),
        statement: statement(layers, node, path),
        overrides: losers
            .losers(object, node, path)
            .into_iter()
            .map(|loser| statement(layers, loser, path))
            .collect(),
        filled: losers.filled(node),
        shown: Place::at(object, path),
    }
}

/// The nodes at a path, each with its own path, in which an index replaces `*`.
fn located<'n>(object: &'n Node, path: &FieldPath) -> Vec<(FieldPath, &'n Node)> {
    if path.0.iter().any(|segment| matches!(segment, Segment::All)) {
        // With `*`, each node is listed under its own index.
        let mut found = vec![(FieldPath::root(), object)];
        for segment in &path.0 {
            found = found
                .into_iter()
                .flat_map(|(at, node)| -> Vec<(FieldPath, &'n Node)> {
                    match (segment, &node.value) {
                        (Segment::All, Value::List(items)) => items
                            .iter()
                            .enumerate()
                            .map(|(index, item)| (at.index(index), item))
                            .collect(),
                        (Segment::All, Value::Map(map)) => map
                            .iter()
                            .map(|entry| (at.field(entry.key.clone()), &entry.node))
                            .collect(),
                        _ => {
                            let one = FieldPath(vec![segment.clone()]);
                            let mut next = at.clone();
                            next.0.push(segment.clone());
                            node.select(&one).into_iter().map(|node| (next.clone(), node)).collect()
                        }
                    }
                })
                .collect();
        }
        return found;
    }
    object.select(path).into_iter().map(|node| (path.clone(), node)).collect()
}

fn collect<'n>(node: &'n Node, at: &FieldPath, each: &mut impl FnMut(&FieldPath, &'n Node)) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            map.iter().for_each(|entry| collect(&entry.node, &at.field(entry.key.clone()), each));
        }
        Value::List(items) if !items.is_empty() => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect(item, &at.index(index), each));
        }
        _ => each(at, node),
    }
}

fn statement(layers: &Layers<'_>, node: &Node, path: &FieldPath) -> Said {
    let layer = layers.of(node.origin);
    // A setting that an annotation makes is of layer annotation; an annotation that is only copied
    // stays in the layer of the service.
    let layer = match (layer, node.origin) {
        (Layer::Service, Origin::File(span))
            if layers.within(span, &["annotations"])
                && !path
                    .0
                    .iter()
                    .any(|segment| *segment == Segment::Field("annotations".into())) =>
        {
            Layer::Annotation
        }
        _ => layer,
    };
    let rule = node.origin.rule();
    let fact = match node.origin {
        Origin::Fact(source) => Some(source),
        _ => None,
    };
    Said { value: node.clone(), layer, span: node.origin.span(), rule, fact }
}
