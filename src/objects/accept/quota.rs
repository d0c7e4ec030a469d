//! Quotas and limits of a namespace.

use super::judge::Judge;
use super::resources;
use crate::yaml::{At, Node};

/// Judges the amounts of a ResourceQuota (`ValidateResourceQuotaSpec`).
pub(super) fn quota(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    amounts(judge, at, spec, "hard");
}

/// Judges the amounts of a LimitRange (`ValidateLimitRange`).
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
    for entry in holder.get(list).into_iter().flat_map(Node::entries) {
        let at = at.key(&entry.key);
        // `count/deployments.apps` and `requests.nvidia.com/gpu` are names of quotas.
        if resources::quantity(&entry.node).is_none() {
            let help = "write an amount, as `10`, `500m` or `64Gi`";
            judge.invalid(&at, &entry.node, "must be an amount of a resource", help);
        } else {
            resources::amount(judge, &at, &entry.key, &entry.node);
        }
    }
}
