//! Merges one container or pod over another, by the merge rule of the release.
//!
//! In: two trees, a lower and an upper layer. Out: the lower one with the values of the upper one
//! merged into it. This module does not know which objects the layers come from.

use super::{Facts, LIBRARY};
use crate::api::Failure;
use crate::merge::edit::{each_mut, text};
use crate::merge::history::{Recorder, Step};
use crate::merge::{typed, written as merge};
use crate::operators::kserve::rules::Rules as _;
use crate::policy::MergeRule;
use crate::yaml::{Node, Places};

/// One container over another, by the policy's layers; arguments follow arguments.
pub(super) fn over(
    facts: &Facts<'_>,
    lower: &Node,
    upper: &Node,
    rec: &mut Recorder,
) -> Result<Node, Failure> {
    // The name identifies the list item in the record of origins; without one the container stands
    // for itself.
    let key = lower.get("name").cloned().unwrap_or_else(|| lower.clone());
    let rec = &mut rec.at("containers");
    let rec = &mut rec.at(Step::Keyed("name", &key));
    let merged = match facts.policy.kserve().merge {
        MergeRule::Written => Ok(merge::written(lower, upper, rec)),
        MergeRule::Typed => typed::container(Some(lower.clone()), upper, LIBRARY, rec),
    };
    let mut merged =
        merged.map_err(|message| facts.invalid(format!("failed to merge container: {message}")))?;
    // Later releases clean up after the merge; earlier ones send both, and the API server refuses
    // the pod.
    if facts.policy.kserve().one_value {
        one_value(&mut merged, upper);
    }
    Ok(merged)
}

/// One container over another where arguments replace arguments.
pub(super) fn merged(facts: &Facts<'_>, lower: &Node, upper: &Node) -> Result<Node, Failure> {
    let mut merged = match facts.policy.kserve().merge {
        MergeRule::Written => {
            let mut merged = merge::written(lower, upper, &mut Recorder::off());
            // An empty list is as good as none for Go's `omitempty`, so it does not delete the
            // lower one's.
            let args = upper.get("args").filter(|args| !args.is_empty());
            if let (Some(args), Some(map)) = (args.or(lower.get("args")), merged.as_map_mut()) {
                map.insert("args", args.clone());
            }
            merged
        }
        MergeRule::Typed => typed::patched(lower, upper, LIBRARY, &mut Recorder::off())
            .map_err(|message| facts.invalid(format!("failed to merge container: {message}")))?,
    };
    one_value(&mut merged, upper);
    Ok(merged)
}

/// One container over another as Go structs; each variable keeps one source.
pub(crate) fn merged_typed(lower: &Node, upper: &Node) -> Result<Node, String> {
    let mut merged = typed::patched(lower, upper, LIBRARY, &mut Recorder::off())?;
    one_value(&mut merged, upper);
    Ok(merged)
}

/// Gives each variable either `value` or `valueFrom`: the one that the upper container sets.
fn one_value(merged: &mut Node, upper: &Node) {
    let env = upper.get("env").map(Node::items).unwrap_or_default();
    // An index by name: containers may have hundreds of variables, and each is looked up.
    let places = Places::of(env.iter().map(|variable| Some(text(variable, "name"))));
    each_mut(merged, "env", |variable| {
        let written = places.get(text(variable, "name")).map(|index| &env[index]);
        if let (Some(written), Some(map)) = (written, variable.as_map_mut())
            && map.contains_key("value")
            // Both sources together are invalid, and the merge by name of a variable produces them.
            && map.contains_key("valueFrom")
        {
            map.remove(if written.get("valueFrom").is_some() { "value" } else { "valueFrom" });
        }
    });
}

/// One pod over another, containers left out.
pub(super) fn pod_over(
    facts: &Facts<'_>,
    lower: &Node,
    upper: &Node,
    rec: &mut Recorder,
) -> Result<Node, Failure> {
    match facts.policy.kserve().merge {
        MergeRule::Written => Ok(merge::written(lower, upper, rec)),
        MergeRule::Typed => typed::pod(lower, upper, LIBRARY, rec)
            .map_err(|message| facts.invalid(format!("failed to merge pod specs: {message}"))),
    }
}
