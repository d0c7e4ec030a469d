//! Why a service changes: the changed fields of the input whose layer reaches the output.
//!
//! Trials ([`super::trial`]) determine the causes. This module lists the candidates, and judges
//! them by location where nothing is tried.
//!
//! A changed leaf of a rendered object refers to the location that set it, on both sides; a changed
//! field at that location is a cause. A change without such a location acted through a rule: a text
//! that includes the value of the field, another decision, another workload. Then the changed
//! fields that the rule reads are the cause.

use super::decision_change::{Tried, Turned};
use super::inputs::{Input, Inputs};
use super::side::Decided;
use super::{Action, ObjectChange, State};
use crate::api::{Api, Object, ObjectRef};
use crate::operators::is_service;
use crate::pipeline::why::Layer;
use crate::secret::Place;
use crate::source::{Location, Span};
use crate::tree::Change;
use crate::workspace::is_read_by_operators;
use crate::yaml::{FieldPath, Node, Segment, Value};
use ecow::EcoString;
use std::collections::BTreeSet;

/// Fields of a runtime that only affect selection.
const SELECTION: [&str; 6] = [
    "supportedModelFormats",
    "modelSizeRange",
    "protocolVersions",
    "disabled",
    "multiModel",
    "acceleratorRequirements",
];

/// Maximum number of comparisons of changed fields with changed texts for one service. Leaves that
/// remain unexplained count as changed by a rule.
const MOST_TEXTS: usize = 200_000;

/// One field of the input that causes a change.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The object, as `Kind/name` or `Kind/namespace/name`.
    pub object: String,
    /// The layer of the object for the service.
    pub layer: Layer,
    /// The field; the root if the whole object was added or removed.
    pub path: FieldPath,
    /// Its value before.
    pub from: Option<Node>,
    /// Its value after.
    pub to: Option<Node>,
    /// Determines which of the values before and after may be shown.
    pub shown: [Place; 2],
    /// Its location after; for a removed field, the location of its parent.
    pub place: Option<Location>,
    /// Its location before.
    pub before: Option<Location>,
    /// The decision that its change turns, with the rule.
    pub turned: Option<Turned>,
}

/// The facts about the change of one service.
pub(super) struct Question<'q, 'c, 'a> {
    pub(super) sides: [&'c State<'a>; 2],
    pub(super) inputs: &'c Inputs<'a>,
    /// The service itself, on the sides where it exists.
    pub(super) subject: [Option<&'a Object>; 2],
    /// The runtime that it names.
    pub(super) named: [Option<&'a EcoString>; 2],
    /// The decisions on each side.
    pub(super) decided: [&'q Decided<'a>; 2],
    pub(super) objects: &'q [ObjectChange],
    /// The service is refused on one side only, or for different reasons.
    pub(super) refused: bool,
    /// The sides are two releases of its operator. Their inputs differ only in fields that one
    /// release drops, and a change that no location and no decision leads back to is made by a
    /// rule of the release.
    pub(super) is_upgrade: bool,
}

/// A field that may be a cause, and whether it is one.
#[derive(Clone)]
pub(super) struct Candidate<'c, 'a> {
    pub(super) input: &'c Input<'a>,
    pub(super) field: &'c Change,
    pub(super) counts: bool,
    /// The decision that it turns, if it was tried.
    pub(super) turned: Option<Turned>,
}

impl Candidate<'_, '_> {
    /// Applies the result of a trial.
    pub(super) fn take(&mut self, tried: &Tried) {
        (self.counts, self.turned) = match tried {
            Tried::Same => (false, None),
            Tried::Differs(turned) => (true, turned.clone()),
        };
    }
}

/// A changed leaf of the output.
#[derive(Default)]
struct Touched {
    places: [Option<Span>; 2],
    texts: [Option<String>; 2],
    /// The leaf is part of an object that is created or deleted.
    whole: bool,
    explained: bool,
}

/// The changed fields that may be causes of a change. Those that the locations in the output
/// identify are marked.
pub(super) fn candidates<'c, 'a>(question: &Question<'_, 'c, 'a>) -> Vec<Candidate<'c, 'a>> {
    let mut candidates = reaching(question);
    let mut leaves = Vec::new();
    for object in question.objects {
        match object.action {
            Action::Update | Action::Replace => {
                object.changes.iter().for_each(|change| touched(change, &mut leaves));
            }
            Action::Create | Action::Delete => {
                let first = leaves.len();
                collect(
                    object.whole.as_ref(),
                    usize::from(object.action == Action::Create),
                    &mut leaves,
                );
                leaves[first..].iter_mut().for_each(|leaf| leaf.whole = true);
            }
        }
    }
    explain(&mut candidates, &mut leaves);
    // Most leaves are set by the service and its runtime, and only then is every change looked at.
    let mut further = named(question, &candidates, &leaves);
    if !further.is_empty() {
        explain(&mut further, &mut leaves);
        candidates.append(&mut further);
    }
    through_rules(question, &mut candidates, &leaves);
    if question.is_upgrade {
        return candidates;
    }
    // No place and no rule decides between them: each may be the cause.
    if !candidates.iter().any(|candidate| candidate.counts) {
        for candidate in &mut candidates {
            candidate.counts = true;
        }
    }
    if candidates.is_empty() {
        // No changed object reaches the service, so something else decided: a class that is not
        // chosen, or a node.
        let everything = question
            .inputs
            .of_other_objects()
            .flat_map(|input| input.fields.iter().map(move |field| (input, field)));
        candidates.extend(everything.map(|(input, field)| Candidate {
            input,
            field,
            counts: true,
            turned: None,
        }));
    }
    candidates
}

/// The causes among the candidates, in the order of objects and fields.
pub(super) fn causes(sides: [&State<'_>; 2], candidates: &[Candidate<'_, '_>]) -> Vec<Cause> {
    candidates
        .iter()
        .filter(|candidate| candidate.counts)
        .filter_map(|candidate| cause(sides, candidate))
        .collect()
}

/// The changed fields of every object that reaches the service.
fn reaching<'c, 'a>(question: &Question<'_, 'c, 'a>) -> Vec<Candidate<'c, 'a>> {
    let mut ids: BTreeSet<(Api, ObjectRef)> = BTreeSet::new();
    let mut add =
        |object: Option<&Object>| ids.extend(object.map(|object| (object.api, object.id.clone())));
    for side in [0, 1] {
        add(question.subject[side]);
        let decided = question.decided[side];
        add(decided.runtime);
        add(decided.model);
        decided
            .classes()
            // On both sides, as the change may be that another object is chosen.
            .for_each(|class| add(question.sides[side].world.catalog.accelerator_class(class)));
    }
    // A named runtime is a candidate even if the service is refused with it or without it.
    let is_named = |id: &ObjectRef| {
        let scope = |subject: &Object| {
            id.scope
                .namespace()
                .is_none_or(|namespace| subject.id.scope.namespace() == Some(namespace))
        };
        matches!(&*id.kind, "ServingRuntime" | "ClusterServingRuntime")
            && question.named.contains(&Some(&id.name))
            && question.subject.iter().flatten().any(|subject| scope(subject))
    };
    let named = question.inputs.iter().filter_map(|input| input.id()).filter(|id| is_named(id));
    let api = question.subject.iter().flatten().next().map(|subject| subject.api);
    ids.extend(named.filter_map(|id| Some((api?, id.clone()))));
    let mut inputs: Vec<&'c Input<'a>> =
        ids.iter().filter_map(|(api, id)| question.inputs.get(*api, id)).collect();
    if question.inputs.shared {
        inputs.extend(question.inputs.iter().filter(|input| input.id().is_some_and(is_shared)));
    }
    inputs
        .into_iter()
        .flat_map(|input| {
            input.fields.iter().map(move |field| Candidate {
                input,
                field,
                counts: false,
                turned: None,
            })
        })
        .collect()
}

/// The changed fields of other objects that a leaf without an explanation names as its place, such as
/// a Secret that is joined with others.
fn named<'c, 'a>(
    question: &Question<'_, 'c, 'a>,
    reaching: &[Candidate<'c, 'a>],
    leaves: &[Touched],
) -> Vec<Candidate<'c, 'a>> {
    let open = |side: usize| {
        let open = leaves.iter().filter(|leaf| !leaf.explained);
        Spans::new(open.filter_map(|leaf| leaf.places[side]))
    };
    let open = [open(0), open(1)];
    if open.iter().all(|spans| spans.sorted.is_empty()) {
        return Vec::new();
    }
    let reaches = |field: &Change| reaching.iter().any(|other| std::ptr::eq(other.field, field));
    let is_named = |field: &Change| {
        let ends = [&field.from, &field.to];
        ends.iter().zip(&open).any(|(end, spans)| {
            let span = end.as_ref().and_then(|node| node.origin.span());
            span.is_some_and(|span| spans.meet(span))
        })
    };
    let others = question.inputs.of_other_objects();
    let fields = others.flat_map(|input| input.fields.iter().map(move |field| (input, field)));
    fields
        .filter(|(_, field)| is_named(field) && !reaches(field))
        .map(|(input, field)| Candidate { input, field, counts: false, turned: None })
        .collect()
}

/// What every service may depend on. Other ConfigMaps change nothing that an operator writes.
fn is_shared(id: &ObjectRef) -> bool {
    match &*id.kind {
        "ConfigMap" => is_read_by_operators(&id.name),
        kind => matches!(kind, "ClusterStorageContainer" | "FineTunedWeight"),
    }
}

/// Matches fields with the leaves that they set, on either side.
fn explain(candidates: &mut [Candidate<'_, '_>], leaves: &mut [Touched]) {
    for side in [0, 1] {
        let end = |field: &Change| {
            let end = if side == 0 { &field.from } else { &field.to };
            end.as_ref().and_then(|node| node.origin.span())
        };
        let fields = Spans::new(candidates.iter().filter_map(|candidate| end(candidate.field)));
        let written = Spans::new(leaves.iter().filter_map(|leaf| leaf.places[side]));
        for candidate in &mut *candidates {
            // A field above a leaf, or below it, set the leaf as well.
            candidate.counts |= end(candidate.field).is_some_and(|span| written.meet(span));
        }
        for leaf in &mut *leaves {
            leaf.explained |= leaf.places[side].is_some_and(|span| fields.meet(span));
        }
    }
    // A value that is part of a text.
    // Each text is searched for each value: the product is what has to be bounded.
    let mut left = MOST_TEXTS;
    for leaf in leaves.iter_mut().filter(|leaf| !leaf.explained) {
        for candidate in &mut *candidates {
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return,
            };
            if carried(candidate.field, leaf) {
                (candidate.counts, leaf.explained) = (true, true);
            }
        }
    }
}

/// Spans in sources. Two of them are nested or disjoint, as values are.
struct Spans {
    /// Sorted; each with the highest end of all spans that start no later in the same source.
    sorted: Vec<(Span, u32)>,
}

impl Spans {
    fn new(spans: impl Iterator<Item = Span>) -> Self {
        let mut spans: Vec<Span> = spans.collect();
        spans.sort_unstable();
        let mut sorted: Vec<(Span, u32)> = Vec::with_capacity(spans.len());
        for span in spans {
            // Ends of another source say nothing here.
            let before = sorted.last().filter(|(last, _)| last.source == span.source);
            sorted.push((span, before.map_or(span.end, |(_, end)| span.end.max(*end))));
        }
        Self { sorted }
    }

    /// Whether a span contains one of these spans, or one of them contains it.
    fn meet(&self, span: Span) -> bool {
        let key = |span: Span| (span.source, span.start);
        // Spans are nested or disjoint, so the first one that starts inside is inside as a whole.
        let after = self.sorted.partition_point(|(listed, _)| key(*listed) < key(span));
        let within = self.sorted.get(after).is_some_and(|(listed, _)| span.contains(*listed));
        let upto = self.sorted.partition_point(|(listed, _)| key(*listed) <= key(span));
        let holds = upto
            .checked_sub(1)
            .map(|last| self.sorted[last])
            .is_some_and(|(listed, end)| listed.source == span.source && end >= span.end);
        within || holds
    }
}

/// Whether the text of the leaf includes the value of the field, before and after.
fn carried(field: &Change, leaf: &Touched) -> bool {
    let holds = |end: &Option<Node>, text: &Option<String>| match (
        end.as_ref().and_then(Node::scalar_text),
        text,
    ) {
        // Every text contains the empty one.
        (Some(value), Some(text)) => !value.is_empty() && text.contains(value.as_str()),
        (value, text) => value.is_none() && text.is_none(),
    };
    let end = |end: &Option<Node>| end.as_ref().is_some_and(|node| node.scalar_text().is_some());
    (end(&field.from) || end(&field.to))
        && holds(&field.from, &leaf.texts[0])
        && holds(&field.to, &leaf.texts[1])
}

/// Marks the fields that act through a decision or a rule.
fn through_rules(
    question: &Question<'_, '_, '_>,
    candidates: &mut [Candidate<'_, '_>],
    leaves: &[Touched],
) {
    let [before, after] = question.decided;
    let id = |object: Option<&Object>| object.map(|object| object.id.clone());
    // A service that is new or removed changes as a whole: no rule has to explain it.
    let both = question.subject.iter().all(Option::is_some);
    let another_model = both && id(before.model) != id(after.model);
    let selected = both && (id(before.runtime) != id(after.runtime) || question.refused);
    let accelerated = both && before.accelerators != after.accelerators;
    let by_rules = both && !question.is_upgrade;
    let built = by_rules
        && question
            .objects
            .iter()
            .any(|object| matches!(object.action, Action::Create | Action::Delete));
    let unexplained = by_rules && leaves.iter().any(|leaf| !leaf.explained && !leaf.whole);
    for candidate in candidates {
        let whole = candidate.field.path.0.is_empty();
        let kind = candidate.input.id().map_or("", |id| id.kind.as_str());
        let second = match candidate.field.path.0.get(1) {
            Some(Segment::Field(name)) => name.as_str(),
            _ => "",
        };
        let selection = SELECTION.contains(&second);
        candidate.counts |= match kind {
            kind if is_service(kind) => {
                !both || selected || accelerated || built || unexplained || another_model
            }
            "ServingRuntime" | "ClusterServingRuntime" => {
                (selected && (whole || selection))
                    || (accelerated && selection)
                    || ((built || unexplained) && !whole && !selection)
            }
            "BaseModel" | "ClusterBaseModel" => {
                (another_model && whole) || ((selected || accelerated || unexplained) && !whole)
            }
            "AcceleratorClass" => accelerated || unexplained,
            _ => built || unexplained || selected,
        };
    }
}

/// The leaves of a change.
fn touched(change: &Change, leaves: &mut Vec<Touched>) {
    let scalar = |node: &Option<Node>| {
        node.as_ref().is_none_or(|node| !matches!(node.value, Value::Map(_) | Value::List(_)))
    };
    if scalar(&change.from) && scalar(&change.to) {
        let ends = [change.from.as_ref(), change.to.as_ref()];
        leaves.push(Touched {
            places: ends.map(|end| end.and_then(|node| node.origin.span())),
            texts: ends.map(|end| end.and_then(Node::scalar_text).map(Into::into)),
            ..Touched::default()
        });
    } else {
        collect(change.from.as_ref(), 0, leaves);
        collect(change.to.as_ref(), 1, leaves);
    }
}

/// The leaves of a tree that exists on one side only.
fn collect(node: Option<&Node>, side: usize, leaves: &mut Vec<Touched>) {
    let Some(node) = node else { return };
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            map.iter().for_each(|entry| collect(Some(&entry.node), side, leaves));
        }
        Value::List(items) if !items.is_empty() => {
            items.iter().for_each(|item| collect(Some(item), side, leaves));
        }
        _ => {
            let mut leaf = Touched::default();
            leaf.places[side] = node.origin.span();
            leaf.texts[side] = node.scalar_text().map(Into::into);
            leaves.push(leaf);
        }
    }
}

fn cause(sides: [&State<'_>; 2], candidate: &Candidate<'_, '_>) -> Option<Cause> {
    let Candidate { input, field, turned, .. } = candidate;
    let locate =
        |side: usize, span: Option<Span>| span.map(|span| sides[side].world.sources.locate(span));
    let id = input.id()?;
    Some(Cause {
        object: id.to_string(),
        layer: layer(&id.kind, &field.path),
        path: field.path.clone(),
        from: field.from.clone(),
        to: field.to.clone(),
        shown: field.shown,
        place: locate(1, field.place_after),
        before: locate(0, field.place_before),
        turned: turned.clone(),
    })
}

/// The layer of an object for a service that it reaches.
fn layer(kind: &str, path: &FieldPath) -> Layer {
    let within = |names: &[&str]| {
        path.0.iter().any(
            |segment| matches!(segment, Segment::Field(name) if names.contains(&name.as_str())),
        )
    };
    let layer = Layer::of(kind, within);
    match kind {
        "InferenceService" if layer == Layer::Service && within(&["annotations"]) => {
            Layer::Annotation
        }
        _ => layer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Scope;

    fn leaf(texts: [Option<&str>; 2]) -> Touched {
        Touched { texts: texts.map(|text| text.map(Into::into)), ..Touched::default() }
    }

    fn field(from: Option<&str>, to: Option<&str>) -> Change {
        let node = |text: &str| crate::testing::node(text);
        Change {
            path: FieldPath::root(),
            from: from.map(node),
            to: to.map(node),
            place_before: None,
            place_after: None,
            shown: Default::default(),
        }
    }

    /// A field explains a leaf whose text has its value on both sides.
    #[test]
    fn a_leaf_carries_a_field_whose_values_it_holds() {
        for (from, to, texts, expected) in [
            (Some("a"), Some("b"), [Some("x-a"), Some("x-b")], true),
            (Some("a"), Some("b"), [Some("x-a"), Some("x-c")], false),
            (Some("a"), Some("b"), [Some("x-c"), Some("x-b")], false),
            (None, Some("b"), [None, Some("b")], true),
            (None, Some("b"), [Some("a"), Some("b")], false),
            (Some("a"), None, [Some("a"), None], true),
            // A mapping has no text of its own.
            (Some("{c: d}"), Some("b"), [None, Some("b")], true),
            (Some("{c: d}"), Some("b"), [Some("d"), Some("b")], false),
            (None, None, [None, None], false),
            (Some("''"), Some("b"), [Some("x"), Some("b")], false),
        ] {
            assert_eq!(
                carried(&field(from, to), &leaf(texts)),
                expected,
                "{from:?} {to:?} {texts:?}"
            );
        }
    }

    #[test]
    fn a_change_has_the_leaves_of_what_is_on_either_side() {
        for (from, to, expected) in [
            (Some("1"), Some("2"), vec![[Some("1"), Some("2")]]),
            (None, Some("2"), vec![[None, Some("2")]]),
            (
                Some("{a: 1, b: [2, 3]}"),
                None,
                vec![[Some("1"), None], [Some("2"), None], [Some("3"), None]],
            ),
            (None, Some("{}"), vec![[None, None]]),
            (Some("[1]"), Some("{a: 2}"), vec![[Some("1"), None], [None, Some("2")]]),
        ] {
            let mut leaves = Vec::new();
            touched(&field(from, to), &mut leaves);
            let texts: Vec<[Option<&str>; 2]> =
                leaves.iter().map(|leaf| leaf.texts.each_ref().map(Option::as_deref)).collect();
            assert_eq!(texts, expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn objects_that_every_service_reads_are_told_from_those_of_one() {
        for (kind, name, expected) in [
            ("ConfigMap", "inferenceservice-config", true),
            ("ConfigMap", "other", false),
            ("FineTunedWeight", "w", true),
            ("ClusterStorageContainer", "c", true),
            ("ServingRuntime", "r", false),
            ("InferenceService", "a", false),
        ] {
            let scope = Scope::Namespace("ml".into());
            let id = ObjectRef { kind: kind.into(), scope, name: name.into() };
            assert_eq!(is_shared(&id), expected, "{kind} {name}");
        }
    }
}
