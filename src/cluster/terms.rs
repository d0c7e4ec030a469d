//! Node selectors and node selector terms against labels (docs/decisions.md#terms).
//!
//! Terms have the meaning of Kubernetes, and the spellings of OEP-0003: Gte, Ge, Lte, Le and
//! quantities, in MiB for keys whose labels are in MiB.

use crate::cluster::node::Machine;
use crate::quantity::Memory;
use crate::yaml::{Entry, Map, Node, Value};
use ecow::{EcoString, eco_format};

/// Labels that count MiB.
pub(crate) const MIB_LABELS: [&str; 2] =
    ["nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory"];

/// Returns the first key of a node selector that a machine does not match.
pub fn selector_mismatch<'n>(selector: &'n Node, machine: &Machine) -> Option<&'n Entry> {
    selector
        .entries()
        .find(|entry| entry.node.scalar_text().as_deref() != machine.label(&entry.key))
}

/// Whether any term of a list matches; an empty list matches nothing.
pub fn terms_match(terms: &[Node], machine: &Machine) -> bool {
    terms.iter().any(|term| term_matches(term, machine))
}

fn term_matches(term: &Node, machine: &Machine) -> bool {
    let expressions = term.get("matchExpressions").map(Node::items).unwrap_or_default();
    let fields = term.get("matchFields").map(Node::items).unwrap_or_default();
    // A term without conditions matches no object, unlike an empty selector.
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    expressions.iter().all(|expression| matches(expression, |key| machine.label(key)))
        && fields.iter().all(|field| {
            matches(field, |key| (key == "metadata.name").then_some(machine.name.as_str()))
        })
}

/// The terms of the required node affinity of an affinity.
pub fn required_terms(affinity: &Node) -> Option<&Node> {
    affinity.at(&[
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ])
}

/// Whether a machine matches the required node affinity.
pub fn affinity_matches(affinity: &Node, machine: &Machine) -> bool {
    required_terms(affinity).is_none_or(|terms| terms_match(terms.items(), machine))
}

/// Whether labels meet a `metav1.LabelSelector`; an empty one is met by all.
pub(super) fn label_selector_matches(selector: &Node, labels: &Map) -> bool {
    let label = |key: &str| labels.get(key).and_then(Node::as_str);
    let equal = selector
        .get("matchLabels")
        .map(Node::entries)
        .into_iter()
        .flatten()
        .all(|entry| entry.node.scalar_text().as_deref() == label(&entry.key));
    equal
        && selector
            .get("matchExpressions")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .all(|expression| matches(expression, label))
}

/// The label that every namespace has (pkg/registry/core/namespace/strategy.go).
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Whether a `metav1.LabelSelector` selects a namespace with these labels; `None` of one that was not
/// read, of which only the name is known, where the selector asks for more.
pub fn selects_namespace(selector: &Node, name: &str, labels: Option<Map>) -> Option<bool> {
    if selector.is_empty() {
        return Some(true);
    }
    let is_name = |key: Option<&str>| key == Some(NAMESPACE_NAME);
    let mut equal = selector.get("matchLabels").map(Node::entries).into_iter().flatten();
    let mut expressions = selector.items_of("matchExpressions").iter();
    let asks_name_alone = equal.all(|entry| is_name(Some(&entry.key)))
        && expressions.all(|item| is_name(item.get("key").and_then(Node::as_str)));
    (labels.is_some() || asks_name_alone).then(|| {
        let mut labels = labels.unwrap_or_default();
        // The API server gives each namespace the label of its name, also where no manifest has it.
        labels.insert(NAMESPACE_NAME, Node::str(name, selector.origin));
        label_selector_matches(selector, &labels)
    })
}

/// Terms with only the expressions about known keys; `None` if a term has none of them, because any
/// term can match. Field expressions are removed.
pub(crate) fn terms_about(terms: &[Node], is_known: impl Fn(&str) -> bool) -> Option<Vec<Node>> {
    let about = |term: &Node| {
        let expressions = term.get("matchExpressions").map(Node::items).unwrap_or_default();
        let kept: Vec<Node> = expressions
            .iter()
            .filter(|expression| is_known(&text(expression, "key")))
            .cloned()
            .collect();
        let mut map = Map::new();
        map.insert("matchExpressions", Node::list(kept.iter().cloned(), term.origin));
        (!kept.is_empty()).then(|| Node::new(Value::Map(map), term.origin))
    };
    terms.iter().map(about).collect()
}

fn text(node: &Node, key: &str) -> EcoString {
    node.get(key).and_then(Node::scalar_text).unwrap_or_default()
}

/// A bound in the unit of the label of its key.
fn number(key: &str, value: &str) -> Option<i64> {
    let bound = value.trim().parse::<i64>().ok();
    if bound.is_some() || !MIB_LABELS.contains(&key) {
        return bound
            .or_else(|| Memory::parse(value).ok().and_then(|memory| i64::try_from(memory.0).ok()));
    }
    Memory::parse(value).ok().and_then(|memory| i64::try_from(memory.0 >> 20).ok())
}

fn matches<'a>(expression: &Node, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    let key = text(expression, "key");
    let label = label(&key);
    let values: Vec<EcoString> = expression.texts("values").collect();
    let listed = |name: &str| values.iter().any(|value| value == name);
    let compared = |fits: fn(i64, i64) -> bool| {
        let (Some(integer), [bound]) =
            (label.and_then(|integer| integer.parse::<i64>().ok()), values.as_slice())
        else {
            // A label that is no integer meets no comparison, as in Kubernetes.
            return false;
        };
        number(&key, bound).is_some_and(|bound| fits(integer, bound))
    };
    match text(expression, "operator").as_str() {
        "In" => label.is_some_and(listed),
        "NotIn" => label.is_none_or(|name| !listed(name)),
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        "Gt" => compared(|compared, bound| compared > bound),
        "Gte" | "Ge" => compared(|compared, bound| compared >= bound),
        "Lt" => compared(|compared, bound| compared < bound),
        "Lte" | "Le" => compared(|compared, bound| compared <= bound),
        _ => false,
    }
}

/// The terms in the form of Kubernetes: Gte X is Gt X-1, Lte X is Lt X+1, quantities are plain
/// integers (OEP-0003, Platform-Provided Base Set; docs/decisions.md#field-spellings).
pub fn kubernetes_terms(terms: &Node) -> Node {
    let mut out = terms.clone();
    if let Some(list) = out.as_list_mut() {
        for term in list.make_mut() {
            let Some(expressions) = term
                .as_map_mut()
                .and_then(|map| map.get_mut("matchExpressions"))
                .and_then(Node::as_list_mut)
            else {
                continue;
            };
            expressions.make_mut().iter_mut().for_each(plain_expression);
        }
    }
    out
}

fn plain_expression(expression: &mut Node) {
    let (key, operator) = (text(expression, "key"), text(expression, "operator"));
    let (plain, step) = match operator.as_str() {
        "Gt" => ("Gt", 0),
        "Gte" | "Ge" => ("Gt", -1),
        "Lt" => ("Lt", 0),
        "Lte" | "Le" => ("Lt", 1),
        _ => return,
    };
    let bound = expression.texts("values").next().and_then(|value| number(&key, &value));
    let Some(map) = expression.as_map_mut() else { return };
    if let Some(slot) = map.get_mut("operator") {
        slot.value = Value::Str(plain.into());
    }
    if let (Some(bound), Some(slot)) = (bound, map.get_mut("values")) {
        let origin = slot.items().first().map_or(slot.origin, |value| value.origin);
        // Labels are integers, so that >= X and > X-1 are the same.
        let text = eco_format!("{}", bound.saturating_add(step));
        *slot = Node::list([Node::str(text, origin)], slot.origin);
    }
}

/// Keys that occur in the expressions of terms.
pub(crate) fn keys(terms: &Node) -> Vec<EcoString> {
    expressions(terms).map(|expression| text(expression, "key")).collect()
}

fn expressions(terms: &Node) -> impl Iterator<Item = &Node> {
    terms.items().iter().filter_map(|term| term.get("matchExpressions")).flat_map(Node::items)
}

/// How a pod is held on the nodes of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pinned {
    /// Node selector.
    pub(crate) selector: Option<Node>,
    /// Terms of a required node affinity.
    pub(crate) terms: Option<Node>,
}

/// A node selector and node selector terms of one class, as fields of a pod.
///
/// They are alternatives (OEP-0003, Example AcceleratorClass Definitions: "Alternative discovery
/// patterns"), and a pod would have to match both: the selector becomes one more term. If the terms
/// have the same requirement on one of its keys, they replace that key, and the others stay.
pub(crate) fn pinned(selector: Option<&Node>, terms: Option<&Node>) -> Pinned {
    let selector = selector.filter(|selector| !selector.is_empty());
    let (Some(selector), Some(terms)) = (selector, terms) else {
        return Pinned { selector: selector.cloned(), terms: terms.cloned() };
    };
    let name = keys(terms);
    let field = |key: &str| selector.get(key).and_then(Node::as_str);
    let admits = |term: &Node| {
        let mut about = term
            .get("matchExpressions")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter(|expression| selector.get(&text(expression, "key")).is_some())
            .peekable();
        about.peek().is_some() && about.all(|expression| matches(expression, field))
    };
    if terms.items().iter().any(admits) {
        let kept: Map =
            selector.entries().filter(|entry| !name.contains(&entry.key)).cloned().collect();
        let kept = Node::new(Value::Map(kept), selector.origin);
        return Pinned {
            selector: Some(kept).filter(|kept| !kept.is_empty()),
            terms: Some(terms.clone()),
        };
    }
    let alternative = as_term(selector);
    let all = std::iter::once(alternative).chain(terms.items().iter().cloned());
    Pinned { selector: None, terms: Some(Node::list(all, terms.origin)) }
}

/// A node selector as a term.
fn as_term(selector: &Node) -> Node {
    let expression = |entry: &Entry| {
        let origin = entry.node.origin;
        let value = Node::str(entry.node.scalar_text().unwrap_or_default(), origin);
        let mut map = Map::new();
        map.insert("key", Node::str(entry.key.clone(), entry.key_origin));
        map.insert("operator", Node::str("In", origin));
        map.insert("values", Node::list([value], origin));
        Node::new(Value::Map(map), origin)
    };
    let mut term = Map::new();
    term.insert(
        "matchExpressions",
        Node::list(selector.entries().map(expression), selector.origin),
    );
    Node::new(Value::Map(term), selector.origin)
}
