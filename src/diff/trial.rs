//! Determines the changed fields that cause a change: each field is changed alone in the state
//! before, and the service is decided and rendered again.
//!
//! A cause is a field whose change alone changes the output. If no field does so alone, the causes
//! are the smallest set that does: a set from which no field can be removed. For a service that is
//! refused afterwards, only the refusal counts as output, because its other changes do not happen.
//! The number of trials is bounded. Beyond the bound, and if the state before cannot be rebuilt
//! from its values, the locations that the output names determine the causes.

use super::State;
use super::cause::Candidate;
use super::changed::is_same;
use super::comparison::Comparison;
use super::decision_change::{Tried, Turned, turned};
use super::inputs::Input;
use super::side::{Both, Made, Subject, make};
use crate::api::{Api, Object, ObjectRef, Views};
use crate::pipeline::render::Renderer;
use crate::tree::Change;
use crate::workspace::{Ground, Replacements, World, bare};
use crate::yaml::{Node, Segment, Value};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Maximum number of trials in a run, and of fields that are tried for one service.
const MOST_TRIALS: usize = 160;
const MOST_FIELDS: usize = 32;

/// Trials of one comparison.
pub(super) struct Trials<'c, 'a> {
    comparison: &'c Comparison<'c, 'a>,
    ground: OnceCell<Ground<'a>>,
    left: usize,
    /// Every changed field of objects other than services and ModelServings.
    candidates: Vec<Candidate<'c, 'a>>,
    /// Results by group and names of the candidates: services of one group change in the same way.
    tried: HashMap<(usize, Vec<String>), Found<'c, 'a>>,
}

/// Evaluates a service of another world.
type Judge<'j> = dyn for<'w> FnMut(&Renderer<'w>, &'w Views, &Made<'w>) + 'j;

/// The result of trials.
#[derive(Clone)]
enum Found<'c, 'a> {
    /// The result for each candidate.
    Counts(Vec<Tried>),
    /// The causes are other fields, of objects that neither state selected.
    Elsewhere(Vec<Candidate<'c, 'a>>),
    /// Unknown, with the decision that all candidates together turn.
    Nothing(Option<Turned>),
}

impl<'c, 'a> Trials<'c, 'a> {
    /// No trials yet. Between two releases no trials are made: the differences come from the rules.
    pub(super) fn new(comparison: &'c Comparison<'c, 'a>, wanted: bool) -> Self {
        // Without trials left every question is answered by places.
        let left = if wanted { MOST_TRIALS } else { 0 };
        let fields = comparison.inputs.of_other_objects().flat_map(|input| {
            input.fields.iter().map(move |field| Candidate {
                input,
                field,
                counts: false,
                turned: None,
            })
        });
        let candidates = fields.collect();
        Self { comparison, ground: OnceCell::new(), left, candidates, tried: HashMap::new() }
    }

    /// Both states.
    pub(super) fn sides(&self) -> [&'c State<'a>; 2] {
        self.comparison.sides
    }

    /// The candidates of a service in a group, updated with the results of trials.
    pub(super) fn weigh(
        &mut self,
        group: usize,
        both: Both<'a>,
        mut candidates: Vec<Candidate<'c, 'a>>,
    ) -> Vec<Candidate<'c, 'a>> {
        let [Some(Subject::Service(before)), Some(Subject::Service(after))] = both else {
            return candidates;
        };
        let fields = fields(&candidates);
        let fields = |other: &Candidate<'_, '_>| fields.contains(&std::ptr::from_ref(other.field));
        // A single changed field is the cause: nothing else could be.
        let alone = candidates.len() < 2 && self.candidates.iter().all(fields);
        let key = key(&before.followed().object);
        let name = |candidate: &Candidate<'_, '_>| {
            // The service's own name is left out, as it differs within a group.
            let id = candidate.input.id().filter(|id| **id != key.1).map(ToString::to_string);
            format!("{} {}", id.unwrap_or_default(), candidate.field.path)
        };
        let names = (group, candidates.iter().map(name).collect());
        if !self.tried.contains_key(&names) {
            let services = [before, after];
            let found = if alone {
                Found::Nothing(self.turned(services))
            } else {
                self.found(services, &candidates)
            };
            self.tried.insert(names.clone(), found);
        }
        match &self.tried[&names] {
            Found::Counts(counts) => {
                for (candidate, tried) in candidates.iter_mut().zip(counts) {
                    candidate.take(tried);
                }
                candidates
            }
            Found::Elsewhere(causes) => causes.clone(),
            Found::Nothing(turned) => {
                for candidate in &mut candidates {
                    candidate.turned.clone_from(turned);
                }
                candidates
            }
        }
    }

    /// The decision that turned between the two states.
    fn turned(&self, services: [&'a Views; 2]) -> Option<Turned> {
        let [was, is] = [0, 1].map(|side| {
            let (selector, service) = self.comparison.renderers[side].selector(services[side]);
            selector.explain(service)
        });
        turned(&was, &is)
    }

    /// Tries the candidates, then everything else that changed.
    fn found(
        &mut self,
        service: [&'a Views; 2],
        candidates: &[Candidate<'c, 'a>],
    ) -> Found<'c, 'a> {
        let counts = |tried: &[Tried]| tried.iter().any(Tried::differs);
        match self.tried(service, candidates) {
            Some(tried) if counts(&tried) => return Found::Counts(tried),
            // None of the fields that reach the service changes it: something else that changed
            // does.
            Some(_) => {}
            None => return Found::Nothing(self.turned(service)),
        }
        let mut others = self.candidates.clone();
        let fields = fields(candidates);
        others.retain(|other| !fields.contains(&std::ptr::from_ref(other.field)));
        match self.tried(service, &others) {
            Some(tried) if counts(&tried) => {
                for (cause, tried) in others.iter_mut().zip(&tried) {
                    cause.take(tried);
                }
                others.retain(|cause| cause.counts);
                Found::Elsewhere(others)
            }
            _ => Found::Nothing(self.turned(service)),
        }
    }

    /// The result for each candidate; all of them are `Same` if all together change nothing. `None`
    /// if the results are unknown.
    fn tried(
        &mut self,
        [service, after]: [&'a Views; 2],
        candidates: &[Candidate<'c, 'a>],
    ) -> Option<Vec<Tried>> {
        // Each field alone and each left out, both states, and all together.
        let needed = 2 * candidates.len() + 2;
        if candidates.len() > MOST_FIELDS || needed > self.left {
            return None;
        }
        self.left -= needed;
        let comparison = self.comparison;
        let world = comparison.sides[0].world;
        let ground = self.ground.get_or_init(|| world.ground());
        let object = &service.followed().object;
        let identified = (key(object), bare(&object.node));
        let attempt = |chosen: &[usize]| ground.with(&others(&identified, candidates, chosen));
        let settings = comparison.settings;
        let created = |world: &World, judge: &mut Judge<'_>| {
            let renderer = Renderer::new(world, settings.cluster_domain);
            if let Some(views) = world.catalog.services().next() {
                let built = make(&renderer, Subject::Service(views));
                judge(&renderer, views, &built);
            }
        };
        let was = comparison.make(0, Subject::Service(service));
        // All trials are compared with the state before, so it must be the same when rebuilt from
        // its values.
        let mut same = false;
        created(&attempt(&[]), &mut |_, _, again| same = is_same(again, &was));
        if !same {
            return None;
        }
        let is = comparison.make(1, Subject::Service(after));
        let (selector, before) = comparison.renderers[0].selector(service);
        let decided = selector.explain(before);
        let differs = |chosen: &[usize]| -> Tried {
            let mut tried = Tried::Same;
            created(&attempt(chosen), &mut |renderer, views, other| {
                let counts = match &is.decided.error {
                    Some(_) => other.decided.error == is.decided.error,
                    None => !is_same(other, &was),
                };
                if counts {
                    let (selector, service) = renderer.selector(views);
                    tried = Tried::Differs(turned(&decided, &selector.explain(service)));
                }
            });
            tried
        };
        let all: Vec<usize> = (0..candidates.len()).collect();
        let alone: Vec<Tried> = all.iter().map(|index| differs(&[*index])).collect();
        if alone.iter().any(Tried::differs) {
            return Some(alone);
        }
        // No field does it alone: it takes several of them.
        let mut together = differs(&all);
        if !together.differs() {
            return Some(alone);
        }
        // Fields that the output does not name are removed first.
        let mut order = all.clone();
        order.sort_by_key(|index| candidates[*index].counts);
        let mut kept = all;
        for index in order {
            let fewer: Vec<usize> = kept.iter().copied().filter(|kept| *kept != index).collect();
            let tried = differs(&fewer);
            if tried.differs() {
                (kept, together) = (fewer, tried);
            }
        }
        let kept = |index: usize| {
            if kept.contains(&index) { together.clone() } else { Tried::Same }
        };
        Some((0..candidates.len()).map(kept).collect())
    }
}

/// The changed fields of some candidates, by their addresses.
fn fields(candidates: &[Candidate<'_, '_>]) -> HashSet<*const Change> {
    candidates.iter().map(|candidate| std::ptr::from_ref(candidate.field)).collect()
}

fn key(object: &Object) -> (Api, ObjectRef) {
    (object.api, object.id.clone())
}

/// The objects of the state before, with the chosen fields as in the state after.
fn others(
    (id, service): &((Api, ObjectRef), Node),
    candidates: &[Candidate<'_, '_>],
    chosen: &[usize],
) -> Replacements {
    let mut others = Replacements::from([(id.clone(), Some(service.clone()))]);
    for index in chosen {
        let Candidate { input, field, .. } = &candidates[*index];
        let Some(object) = input.after.or(input.before) else { continue };
        let node = others.entry(key(object)).or_insert_with(|| before(input));
        if field.path.0.is_empty() {
            *node = field.to.as_ref().map(bare);
        } else if let Some(node) = node {
            apply(node, field);
        }
    }
    others
}

fn before(input: &Input<'_>) -> Option<Node> {
    input.before.map(|object| bare(&object.node))
}

/// Applies one change to a tree.
fn apply(tree: &mut Node, change: &Change) {
    let path = &change.path.0;
    // An element of a list is added or removed, which `set` cannot do.
    if let Some((Segment::Keyed(key, name), above)) = path.split_last()
        && (change.from.is_none() || change.to.is_none())
    {
        let Some(list) = at(tree, above) else { return };
        let rest = list.items().iter().filter(|item| !is_named(item, key, name)).cloned();
        *list =
            Node::list(rest.chain(change.to.as_ref().map(bare)).collect::<Vec<_>>(), list.origin);
    // A change of the order only lists the names of the elements.
    } else if let Some(order) = order(tree, change) {
        let Some(list) = at(tree, path) else { return };
        let place = |item: &Node| {
            order.iter().position(|name| item.entries().any(|entry| entry.node.value == name.value))
        };
        let mut items = list.items().to_vec();
        items.sort_by_key(place);
        *list = Node::list(items, list.origin);
    } else {
        tree.set(path, change.to.as_ref().map(bare));
    }
}

fn is_named(item: &Node, key: &str, name: &str) -> bool {
    item.get(key).and_then(Node::scalar_text).is_some_and(|named| named == name)
}

/// The names of the elements of a list in their new order, if the change is a new order.
fn order<'n>(tree: &mut Node, change: &'n Change) -> Option<&'n [Node]> {
    let names = change.to.as_ref()?.items();
    let list = at(tree, &change.path.0)?.items();
    let is_map = |node: &Node| matches!(node.value, Value::Map(_));
    (!names.is_empty() && list.first().is_some_and(is_map) && !names.iter().any(is_map))
        .then_some(names)
}

/// The node at a path.
fn at<'n>(tree: &'n mut Node, path: &[Segment]) -> Option<&'n mut Node> {
    let mut node = tree;
    for segment in path {
        node = match segment {
            Segment::Field(name) => node.as_map_mut()?.get_mut(name)?,
            Segment::Index(index) => node.as_list_mut()?.make_mut().get_mut(*index)?,
            Segment::Keyed(key, name) => {
                node.as_list_mut()?.make_mut().iter_mut().find(|item| is_named(item, key, name))?
            }
            Segment::All => return None,
        };
    }
    Some(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::changes;
    use crate::yaml::{Origin, Rule};

    static RULE: Rule = Rule { id: "test", text: "", cite: "" };

    #[test]
    fn changes_made_one_by_one_make_the_other_tree() {
        let node = |text: &str| {
            let json: serde_json::Value = serde_json::from_str(text).expect("JSON");
            Node::from_json(&json, Origin::Derived(&RULE))
        };
        for (before, after) in [
            (r#"{"a": 1, "b": {"c": "x"}}"#, r#"{"a": 2, "b": {"d": "y"}}"#),
            (r#"{"a": [1, 2, 3]}"#, r#"{"a": [1, 5, 3]}"#),
            (r#"{"a": [1, 2, 3]}"#, r#"{"a": [3]}"#),
            (r"{}", r#"{"m": {"n": {"o": true}}}"#),
            (
                r#"{"l": [{"name": "a", "v": 1}, {"name": "b"}]}"#,
                r#"{"l": [{"name": "a", "v": 2}, {"name": "c"}]}"#,
            ),
            (
                r#"{"l": [{"name": "a"}, {"name": "b"}, {"name": "c", "v": 1}]}"#,
                r#"{"l": [{"name": "c", "v": 2}, {"name": "a"}, {"name": "b"}]}"#,
            ),
            (r#"{"l": [{"x": [1]}, {"x": [2]}]}"#, r#"{"l": [{"x": [1]}, {"x": [2, 3]}]}"#),
        ] {
            let (mut tree, after) = (node(before), node(after));
            for change in changes(&tree.clone(), &after, None) {
                apply(&mut tree, &change);
            }
            assert_eq!(tree.to_json(), after.to_json(), "{before}");
        }
    }
}
