//! What an answer leaves open: lines for pages, and keys for JSON.

use super::cell::Cell;
use super::phrases::plural;
use crate::pipeline::{AssumedToleration, ComponentRollout, Doubts, NotJudged, RollEnd, Stuck};
use ecow::EcoString;
use serde_json::{Value, json};

/// "3 of ClusterQueue `q`: they start when …".
fn not_judged(judged: &NotJudged) -> String {
    let pods = judged.pods.map_or_else(String::new, |pods| format!("{} of ", plural(pods, "pod")));
    format!("not judged: {pods}{}: {}", judged.what, judged.message)
}

/// What is not judged, in at most so many lines; the last one counts the others.
pub(super) fn lines<'n>(all: impl IntoIterator<Item = &'n NotJudged>, most: usize) -> Vec<String> {
    let mut all = all.into_iter();
    let mut out: Vec<String> = all.by_ref().take(most).map(not_judged).collect();
    let more = all.count();
    if more > 0 {
        out.push(format!("not judged: {more} more"));
    }
    out
}

/// The tolerations that nothing in the input shows, one line for each resource.
pub(super) fn assumed(all: &[AssumedToleration]) -> impl Iterator<Item = String> {
    all.iter().filter(|assumed| !assumed.is_shown).map(|toleration| {
        format!(
            "assumed: pods that request {} tolerate its taint ({}): `--device-tolerations never` counts only what they state",
            toleration.resource,
            plural(toleration.nodes, "node")
        )
    })
}

/// Everything that is open and that the ends of these components do not say, one sentence each.
pub(super) fn sentences<'c>(
    doubts: &Doubts,
    components: impl IntoIterator<Item = &'c ComponentRollout>,
    most: usize,
) -> Vec<Cell> {
    let open = components.into_iter().filter(|one| one.end == RollEnd::NotJudged);
    let open: Vec<&Stuck> = open.filter_map(|one| one.stuck.as_ref()).collect();
    let is_told = |line: &NotJudged| open.iter().any(|end| line.is_told_by(&end.message));
    let not_judged = doubts.not_judged.iter().filter(|line| !is_told(line));
    let stopped = doubts.stopped.iter().take(most);
    let stopped = stopped.map(|(name, why)| format!("the server of {name} will not start: {why}"));
    let more = doubts
        .stopped
        .len()
        .checked_sub(most + 1)
        .map(|more| format!("{} will not start either", plural(more + 1, "server")));
    let all = assumed(&doubts.assumed).chain(lines(not_judged, most));
    all.chain(stopped).chain(more).map(Cell::warn).collect()
}

/// Why nothing is confirmed, as the end of a sentence; one reason is enough.
pub(super) fn end(doubts: &Doubts) -> &'static str {
    match doubts {
        _ if doubts.is_certain() => "",
        Doubts { incomplete: true, .. } => "; a part of the input was not read",
        Doubts { stopped, .. } if !stopped.is_empty() => "; a server will not start",
        _ => "; not everything was judged",
    }
}

/// A list of what is not judged.
pub(super) fn not_judged_json(all: &[NotJudged]) -> Value {
    let one = |judged: &NotJudged| json!({ "what": judged.what.as_str(), "pods": judged.pods, "message": judged.message.as_str() });
    all.iter().map(one).collect()
}

/// A list of assumed tolerations.
pub(super) fn assumed_json(all: &[AssumedToleration]) -> Value {
    let one = |toleration: &AssumedToleration| json!({ "resource": toleration.resource.as_str(), "nodes": toleration.nodes, "shown": toleration.is_shown, "decides": toleration.decides });
    all.iter().map(one).collect()
}

/// `notJudged`, `assumed` and `stopped`, where there is something.
pub(super) fn keys(doubts: &Doubts) -> impl Iterator<Item = (&'static str, Value)> {
    let not_judged =
        (!doubts.not_judged.is_empty()).then(|| ("notJudged", not_judged_json(&doubts.not_judged)));
    let assumed = (!doubts.assumed.is_empty()).then(|| ("assumed", assumed_json(&doubts.assumed)));
    let stopped = (!doubts.stopped.is_empty()).then(|| {
        let one = |(name, why): &(EcoString, EcoString)| json!({ "name": name.as_str(), "message": why.as_str() });
        ("stopped", doubts.stopped.iter().map(one).collect())
    });
    not_judged.into_iter().chain(assumed).chain(stopped)
}
