//! Selectors of labels and nodes, from trees.

use super::fields::{InvalidPod, invalid, items, text};
use super::pod::{Labels, NodeTerm, selector_of};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use crate::yaml::Node;
use ecow::EcoString;

/// Labels of a mapping; unquoted numbers are their digits.
pub fn labels(map: Option<&Node>) -> Labels {
    map.map(Node::entries)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.key.clone(), entry.node.scalar_text()?)))
        .collect()
}

fn values(expression: &Node) -> impl Iterator<Item = EcoString> {
    items(expression, "values").iter().filter_map(Node::scalar_text)
}

fn requirement(expression: &Node, numbers: bool) -> Result<Requirement, InvalidPod> {
    let operator = match text(expression.get("operator")).as_str() {
        "In" => SelectorOperator::In,
        "NotIn" => SelectorOperator::NotIn,
        "Exists" => SelectorOperator::Exists,
        "DoesNotExist" => SelectorOperator::DoesNotExist,
        "Gt" if numbers => SelectorOperator::GreaterThan,
        "Lt" if numbers => SelectorOperator::LessThan,
        other => {
            return Err(invalid(
                "matchExpressions",
                format!("\"{other}\" is not a valid operator"),
            ));
        }
    };
    Requirement::new(text(expression.get("key")), operator, values(expression))
        .map_err(|error| invalid("matchExpressions", error))
}

pub(super) fn node_term(node: &Node) -> Result<NodeTerm, InvalidPod> {
    let labels = items(node, "matchExpressions").iter().map(|one| requirement(one, true));
    let mut names = Vec::new();
    for field in items(node, "matchFields") {
        let wanted: Vec<EcoString> = values(field).collect();
        match (text(field.get("key")).as_str(), text(field.get("operator")).as_str(), &*wanted) {
            ("metadata.name", "In", [name]) => names.push((true, name.clone())),
            ("metadata.name", "NotIn", [name]) => names.push((false, name.clone())),
            _ => {
                return Err(invalid(
                    "matchFields",
                    "only metadata.name In or NotIn [NAME] is known",
                ));
            }
        }
    }
    Ok(NodeTerm { labels: Selector::new(labels.collect::<Result<Vec<_>, _>>()?), names })
}

/// Reads a `metav1.LabelSelector`; an absent one selects nothing, an empty one everything.
///
/// # Errors
/// The first field that the API server would reject.
pub fn label_selector(node: Option<&Node>) -> Result<Option<Selector>, InvalidPod> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(None) };
    let equal = selector_of(
        labels(node.get("matchLabels")).iter().map(|(key, value)| (key.as_str(), value.as_str())),
    )
    .map_err(|error| invalid("matchLabels", error))?;
    let mut all = equal.requirements().to_vec();
    for expression in items(node, "matchExpressions") {
        all.push(requirement(expression, false)?);
    }
    Ok(Some(Selector::new(all)))
}

/// The terms of a `v1.NodeSelector`; one that the server would refuse is left out.
pub(super) fn node_terms(selector: &Node) -> Vec<NodeTerm> {
    items(selector, "nodeSelectorTerms").iter().filter_map(|term| node_term(term).ok()).collect()
}
