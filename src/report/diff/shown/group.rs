//! A group of services as a page shows it: facts, choices, rules, edits, rollout.

use crate::diff::{Direction, Fate, Group};
use crate::pipeline::ServingUpgrade;
use crate::quantity::Count;
use crate::report::cell::{Cell, Meaning};
use crate::report::diff::shown::fields::{FIELDS, cause, object};
use crate::report::diff::shown::{
    CAUSES, Choice, NAMES, ShownGroup, ShownObject, ShownRule, bars, gpus,
};
use crate::report::diff::{View, edit};
use crate::report::markdown::fence;
use crate::report::phrases::plural;
use crate::report::screen::printable;
use std::collections::BTreeSet;

/// `seen` holds the patches of earlier groups: a patch is shown once.
pub(super) fn group<'v>(
    group: &'v Group,
    view: &View<'_>,
    seen: &mut BTreeSet<&'v str>,
) -> ShownGroup {
    let all = view.all;
    let most = |usual: usize| if all { usize::MAX } else { usual };
    let (marker, marker_html, verb) = match group.fate {
        Fate::Changed => ("~", "🟡", "change"),
        Fate::Added => ("+", "🟢", "add"),
        Fate::Removed => ("-", "🔴", "remove"),
    };
    // Without releases there are no rules.
    let way = view.diff.between_releases.unwrap_or(Direction::Upgrade);
    let title = format!("{} to {verb}", plural(group.services.len(), "service"));
    let services: Vec<String> =
        group.services.iter().take(most(NAMES)).map(|name| printable(name)).collect();
    let objects: Vec<ShownObject> =
        group.objects.iter().map(|found| object(found, most(FIELDS), all)).collect();
    // Values may hold backquotes, so that the fence has to be longer than any.
    let lines =
        objects.iter().flat_map(|object| object.lines.iter().map(|line| line.text.as_str()));
    let objects_fence = fence(lines.chain(objects.iter().map(|object| object.name.as_str())));
    let edits =
        group.all_edits.as_ref().map(|edits| edit::together(edits, way)).unwrap_or_default();
    let patch = patch(group, seen);
    ShownGroup {
        marker,
        marker_html,
        class: Meaning::of_sign(marker).class(),
        title,
        facts: facts(group, view),
        more: group.services.len() - services.len(),
        services,
        error: error(group, view),
        choices: choices(group),
        gpus: bars(&group.gpus),
        rollout: group.rolled.as_ref().map(rollout).unwrap_or_default(),
        rules: rules(group, way),
        edits,
        patch_fence: fence(patch.iter().map(String::as_str)),
        patch,
        causes: group.causes.iter().take(most(CAUSES)).map(|found| cause(found, all)).collect(),
        more_causes: group.causes.len().saturating_sub(most(CAUSES)),
        objects,
        fence: objects_fence,
    }
}

/// What restarts, and the GPUs before and after.
fn facts(group: &Group, view: &View<'_>) -> String {
    let mut facts = Vec::new();
    if group.restart {
        let one = group.pods_restarted == Count::from(1);
        // Between releases nothing of the input changes, so that GPUs are those that restart.
        let gpus = Some(group.gpus_restarted)
            .filter(|gpus| view.diff.between_releases.is_some() && *gpus != Count::default());
        facts.push(format!(
            "{} pod{}{} to restart",
            group.pods_restarted,
            if one { "" } else { "s" },
            gpus.map(|gpus| {
                let one = gpus == Count::from(1);
                format!(" with {gpus} GPU{}", if one { "" } else { "s" })
            })
            .unwrap_or_default()
        ));
    }
    if group.gpus.from != group.gpus.to {
        facts.push(gpus(&group.gpus));
    }
    facts.join(", ")
}

/// The runtime and the classes that are chosen anew.
fn choices(group: &Group) -> Vec<Choice> {
    let none = || "none".to_owned();
    let choice = |what: &str, from: Option<String>, to: Option<String>| {
        let (from, to) = (from.unwrap_or_else(none), to.unwrap_or_else(none));
        Choice { what: what.to_owned(), from, to }
    };
    let mut choices = Vec::new();
    if let Some(pair) = &group.runtime {
        choices.push(choice(
            "runtime",
            pair.from.as_ref().map(ToString::to_string),
            pair.to.as_ref().map(ToString::to_string),
        ));
    }
    for (kind, pair) in &group.accelerators {
        choices.push(choice(
            &format!("{} on", kind.as_str()),
            pair.from.as_ref().map(ToString::to_string),
            pair.to.as_ref().map(ToString::to_string),
        ));
    }
    choices
}

/// That the operator refuses the services, or no longer does. Those that are removed are gone, and
/// nothing was mended.
fn error(group: &Group, view: &View<'_>) -> Option<Cell> {
    let before = group.error.as_ref().and_then(|pair| pair.from.as_ref());
    match (&group.fails, before) {
        (Some(error), _) if error.is_unread() => Some(Cell::warn(format_args!(
            "its objects are not compared: {} ({}); `{}` prints how to read it",
            printable(&error.message),
            error.code.as_str(),
            view.plan
        ))),
        (Some(error), _) => {
            // A service that was refused before has lost nothing.
            let refused = if group.error.is_some() { "refused" } else { "refused as before" };
            let rest = match (group.objects.is_empty(), group.fate) {
                (false, _) => "; the objects below are written before it fails",
                // What is added has no pods yet.
                (true, Fate::Added) => "",
                (true, _) => "; running pods are not touched",
            };
            let (message, code) = (printable(&error.message), error.code.as_str());
            Some(Cell::bad(format_args!("{refused}: {message} ({code}){rest}")))
        }
        (None, Some(error)) if error.is_unread() => None,
        (None, Some(error)) if group.fate == Fate::Removed => {
            let (message, code) = (printable(&error.message), error.code.as_str());
            Some(format!("refused until now: {message} ({code})").into())
        }
        (None, Some(error)) => Some(Cell::good(format_args!(
            "no longer refused: {} ({})",
            printable(&error.message),
            error.code.as_str()
        ))),
        (None, None) => None,
    }
}

/// The rules of an upgrade, each with its edit.
fn rules(group: &Group, way: Direction) -> Vec<ShownRule> {
    group
        .rules
        .iter()
        .enumerate()
        .map(|(place, rule)| {
            let mut settled = group.all_edits.iter().flat_map(|edits| &edits.settled);
            // With the other edits a rule may have lost its effect.
            let settled = settled.any(|release_rule| release_rule.id == rule.id);
            let edit = edit::lines(rule, group.edits.get(place), settled, way);
            ShownRule { title: edit::title(rule, way), action: edit::action(rule, way), edit }
        })
        .collect()
}

/// The edits as YAML; one that an earlier group has is named alone.
fn patch<'v>(group: &'v Group, seen: &mut BTreeSet<&'v str>) -> Vec<String> {
    let mut patch: Vec<String> = Vec::new();
    for changes in group.all_edits.iter().filter_map(|edits| edits.patch.as_ref()).flatten() {
        if !patch.is_empty() {
            patch.push("---".to_owned());
        }
        // Many groups share a runtime, whose patch is long.
        if seen.insert(&changes.yaml) {
            patch.extend(changes.yaml.lines().map(printable));
        } else {
            patch.push(format!("# {}: as above", printable(&changes.object)));
        }
    }
    patch
}

/// The effect of a Kthena upgrade on a ModelServing, and what limits it.
pub(super) fn rollout(rolled: &ServingUpgrade) -> Vec<String> {
    let mut message = Vec::new();
    if rolled.held > 0 {
        // The partition keeps the lowest ordinals as they are.
        let free = rolled.groups - rolled.held;
        message.push(match free {
            0 => format!(
                "`partition` holds back all {}: nothing restarts",
                plural(rolled.groups, "group")
            ),
            _ => format!(
                "`partition` holds back {} of {}",
                rolled.held,
                plural(rolled.groups, "group")
            ),
        });
    }
    let Some(played) = &rolled.played else {
        message.push("it has more pods than are simulated".to_owned());
        return message;
    };
    // Nothing restarts, so that there is no worst moment.
    if played.pods == 0 {
        return message;
    }
    let how = if rolled.by_role { "role by role" } else { "group by group" };
    message.push(format!(
        "it is replaced {how} in {}; at the worst moment {} of {} run",
        plural(played.stages, "stage"),
        played.fewest,
        plural(rolled.groups, "group")
    ));
    match (&played.stops, played.fits) {
        (Some(stops), _) => message.push(format!("it stops: {}", printable(stops))),
        (None, Some(true)) => {
            message.push(
                "on the nodes that were read its pods find a place in every stage".to_owned(),
            );
        }
        (None, _) => {}
    }
    message
}
