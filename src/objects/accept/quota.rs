//! Quotas and limits of a namespace.

use super::judge::Judge;
use super::resources::quantity;
use crate::yaml::{At, Node};

/// Judges the amounts of a ResourceQuota (`ValidateResourceQuotaSpec`).
pub(super) fn quota(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    amounts(judge, at, spec, "hard");
    let at = at.field("hard");
    for entry in spec.get("hard").into_iter().flat_map(Node::entries) {
        if quantity(&entry.node).is_some_and(|quantity| quantity.is_negative()) {
            let message = "must be greater than or equal to 0";
            judge.invalid(
                &at.key(&entry.key),
                &entry.node,
                message,
                "write an amount of at least 0",
            );
        }
    }
}

/// Judges the amounts of a LimitRange: the server decodes them.
pub(super) fn limits(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let at = at.field("limits");
    for (index, limit) in spec.items_of("limits").iter().enumerate() {
        for list in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            amounts(judge, &at.index(index), limit, list);
        }
    }
}

fn amounts(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, list: &str) {
    let at = at.field(list);
    if let Some(node) =
        // A list here would have no entries and pass as an empty quota.
        holder.get(list).filter(|holder| !holder.is_null() && holder.as_map().is_none())
    {
        let help = "write a line for each resource, as `pods: 10`";
        judge.invalid(&at, node, "must be a mapping of resources to amounts", help);
    }
    for entry in holder.get(list).into_iter().flat_map(Node::entries) {
        if quantity(&entry.node).is_none() {
            let help = "write an amount, as `10`, `500m` or `64Gi`";
            let at = at.key(&entry.key);
            judge.invalid(&at, &entry.node, "must be an amount of a resource", help);
        }
    }
}
