//! Which layer wrote a leaf of a rendered object, and what it overrode.

use crate::api::ModelServing;
use crate::catalog::Catalog;
use crate::compose::history::{History, Overridden};
use crate::render::kthena::{API_VERSION, Replaced};
use crate::schema;
use crate::source::{SourceId, Span};
use crate::yaml::{FieldPath, Node, Origin, Segment, Value};

/// Who wrote a value, by the names of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Nobody's file: the API server, a webhook or the documents.
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
    /// The word used in output.
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

/// A value with who said it.
#[derive(Clone, Debug)]
pub struct Said {
    /// The value.
    pub value: serde_json::Value,
    /// Its layer.
    pub layer: Layer,
    /// Where it is written, when a file wrote it.
    pub span: Option<Span>,
    /// The rule that wrote it, when none did.
    pub rule: Option<&'static crate::yaml::Rule>,
    /// What it is known from, when neither did.
    pub fact: Option<SourceId>,
}

/// One leaf: who wrote it and what lost, the nearest first.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The field.
    pub path: FieldPath,
    /// What stands there.
    pub said: Said,
    /// What was overridden.
    pub overrides: Vec<Said>,
}

/// The layer of an origin: a file's by the kind of the object that stands there, and by the block
/// within it.
pub fn layer(catalog: &Catalog, origin: Origin) -> Layer {
    let span = match origin {
        Origin::File(span) => span,
        Origin::Default(_) => return Layer::Default,
        Origin::Derived(_) => return Layer::Derived,
        Origin::Flag(_) => return Layer::Flag,
        Origin::Fact(_) => return Layer::Model,
    };
    match catalog.owner_kind(span) {
        Some("InferenceService") if within(catalog, span, &["acceleratorConfigurations"]) => {
            Layer::AcceleratorConfiguration
        }
        Some("ServingRuntime" | "ClusterServingRuntime")
            if within(catalog, span, &["acceleratorConfigurations", "acceleratorConfig"]) =>
        {
            Layer::AcceleratorConfiguration
        }
        Some("ServingRuntime" | "ClusterServingRuntime") => Layer::Runtime,
        Some("AcceleratorClass") => Layer::AcceleratorClass,
        Some("BaseModel" | "ClusterBaseModel" | "FineTunedWeight") => Layer::Model,
        Some("ConfigMap") => Layer::Config,
        Some("InferenceService")
            if within(catalog, span, &["acceleratorSelector", "acceleratorOverride"]) =>
        {
            Layer::Selector
        }
        _ => Layer::Service,
    }
}

/// Whether a place stands below one of these fields of its object.
fn within(catalog: &Catalog, span: Span, fields: &[&str]) -> bool {
    fn search(node: &Node, span: Span, fields: &[&str]) -> bool {
        match &node.value {
            Value::Map(map) => map.iter().any(|entry| {
                let holds = entry.node.origin.span().is_some_and(|own| own.contains(span));
                holds && (fields.contains(&entry.key.as_str()) || search(&entry.node, span, fields))
            }),
            Value::List(items) => items.iter().any(|item| {
                item.origin.span().is_some_and(|own| own.contains(span))
                    && search(item, span, fields)
            }),
            _ => false,
        }
    }
    catalog.owner(span).is_some_and(|object| search(&object.node, span, fields))
}

/// Who knows what a leaf of an object took the place of.
pub trait Losers {
    /// What lost against a leaf, the nearest first.
    fn losers<'a>(&'a self, object: &Node, leaf: &Node, path: &FieldPath) -> Vec<&'a Node>;
}

impl Losers for History {
    fn losers<'a>(&'a self, _: &Node, leaf: &Node, path: &FieldPath) -> Vec<&'a Node> {
        lost(self, leaf, path)
    }
}

/// What gave way in a ModelServing and in the objects of its controller.
#[derive(Debug, Default)]
pub struct ServingHistory {
    /// Defaults of the CRD, by the place that says something else.
    defaults: Vec<(Span, Node)>,
}

impl ServingHistory {
    /// What the CRD would have said.
    pub fn new(serving: &ModelServing) -> Self {
        let schema = schema::kind(API_VERSION, "ModelServing");
        let mut defaults =
            schema.map_or_else(Vec::new, |schema| schema.overruled(&serving.object.node));
        defaults.sort_by_key(|(span, _)| *span);
        Self { defaults }
    }

    /// The same for one object of the controller.
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
        // The default of a value goes where the value goes.
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

/// The path with positions for list elements that are named by a key.
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
        node = node.and_then(|node| node.select(&FieldPath(vec![step.clone()])).first().copied());
        at.0.push(step);
    }
    at
}

/// Every leaf at a path of an object; `*` or the root means all of them.
pub fn why(catalog: &Catalog, object: &Node, path: &FieldPath, losers: &impl Losers) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let everything = path.0.is_empty() || path.0.as_slice() == [Segment::Field("*".into())];
    let roots = if everything { vec![(FieldPath::root(), object)] } else { located(object, path) };
    for (at, node) in roots {
        collect(node, &at, &mut |path, node| {
            leaves.push(leaf(catalog, object, node, path, losers));
        });
    }
    leaves
}

/// One leaf with who wrote it and what lost.
pub fn leaf(
    catalog: &Catalog,
    object: &Node,
    node: &Node,
    path: &FieldPath,
    losers: &impl Losers,
) -> Leaf {
    Leaf {
        path: path.clone(),
        said: said(catalog, node, path),
        overrides: losers
            .losers(object, node, path)
            .into_iter()
            .map(|loser| said(catalog, loser, path))
            .collect(),
    }
}

/// The nodes at a path with their own paths, which name positions.
fn located<'n>(object: &'n Node, path: &FieldPath) -> Vec<(FieldPath, &'n Node)> {
    if path.0.iter().any(|segment| matches!(segment, Segment::All)) {
        // Several: each under its position.
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

fn said(catalog: &Catalog, node: &Node, path: &FieldPath) -> Said {
    let own = layer(catalog, node.origin);
    // A setting that an annotation made; an annotation that is only handed on stays the service's.
    let layer = match (own, node.origin) {
        (Layer::Service, Origin::File(span))
            if within(catalog, span, &["annotations"])
                && !path
                    .0
                    .iter()
                    .any(|segment| *segment == Segment::Field("annotations".into())) =>
        {
            Layer::Annotation
        }
        _ => own,
    };
    let rule = match node.origin {
        Origin::File(_) | Origin::Fact(_) => None,
        Origin::Default(rule) | Origin::Derived(rule) | Origin::Flag(rule) => Some(rule),
    };
    let fact = match node.origin {
        Origin::Fact(source) => Some(source),
        _ => None,
    };
    Said { value: node.to_json(), layer, span: node.origin.span(), rule, fact }
}

/// What lost against a leaf, the nearest first. The merge knows paths of components and a leaf
/// stands in a pod, so the two are brought together by what wrote the winner: a place in a file
/// belongs to one value only, a rule to the fields of its name.
fn lost<'h>(history: &'h History, winner: &Node, path: &FieldPath) -> Vec<&'h Node> {
    let mut losers: Vec<&Node> = Vec::new();
    let mut current = winner.clone();
    // Each round goes one layer down; the bound only guards against a history that goes in circles.
    for _ in 0..16 {
        let found = history.all().iter().rev().find_map(|entry| counterpart(entry, &current, path));
        match found {
            Some(loser) if !losers.iter().any(|known| std::ptr::eq(*known, loser)) => {
                current = loser.clone();
                losers.push(loser);
            }
            _ => break,
        }
    }
    losers
}

/// The part of what lost that stood where the leaf stands in what won.
fn counterpart<'h>(entry: &'h Overridden, leaf: &Node, path: &FieldPath) -> Option<&'h Node> {
    let winner = entry.winner.as_ref()?;
    let relative = place_of(winner, leaf, &entry.path, path)?;
    let loser = *entry.loser.select(&relative).first()?;
    is_scalar(loser).then_some(loser)
}

fn place_of(winner: &Node, leaf: &Node, at: &FieldPath, path: &FieldPath) -> Option<FieldPath> {
    let same = |node: &Node, name: Option<&Segment>| match (node.origin, leaf.origin) {
        (Origin::File(a), Origin::File(b)) => a == b,
        (Origin::Default(a), Origin::Default(b))
        | (Origin::Derived(a), Origin::Derived(b))
        | (Origin::Flag(a), Origin::Flag(b)) => std::ptr::eq(a, b) && name == path.0.last(),
        (Origin::Fact(a), Origin::Fact(b)) => a == b && name == path.0.last(),
        _ => false,
    };
    if same(winner, at.0.last()) && !matches!(winner.value, Value::Map(_) | Value::List(_)) {
        return Some(FieldPath::root());
    }
    let mut found = None;
    collect(winner, &FieldPath::root(), &mut |relative, node| {
        if found.is_none() && same(node, relative.0.last()) {
            found = Some(relative.clone());
        }
    });
    found.filter(|relative| !relative.0.is_empty())
}
