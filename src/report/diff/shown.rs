//! The answer as people read it, for every shape but JSON.

use super::{View, edit, field, values};
use crate::diff::{
    Action, By, Capacity, Cause, Change, Cost, Direction, Fate, Group, Note, ObjectChange, Pair,
    Room, Turned, Waits,
};
use crate::pipeline::ServingUpgrade;
use crate::quantity::Count;
use crate::report::markdown::{self, code, code_cell as cell, fence};
use crate::report::meaning::Meaning;
use crate::report::phrases::{class_decided_by, first_of, plural};
use crate::report::screen::printable;
use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeSet;

/// Names of a group, causes of a group and fields of an object that are shown before they are
/// counted.
const NAMES: usize = 6;
const CAUSES: usize = 8;
const FIELDS: usize = 12;
/// Services that are named in the order of their restarts.
const ORDER: usize = 20;
/// Longest value in one line.
const LONGEST: usize = 160;

/// What stays of an object that should go.
pub(super) fn left_behind(object: &ObjectChange) -> &'static str {
    match object.id.kind.as_str() {
        "Ingress" | "VirtualService" | "HTTPRoute" => {
            "the controller leaves it behind: it still routes, and is not updated any more"
        }
        _ if object.runs_pods => {
            "the controller leaves it behind: its pods hold their GPUs until it is deleted"
        }
        _ => "the controller leaves it behind",
    }
}

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub(super) headline: String,
    pub(super) semantics: String,
    pub(super) base: String,
    base_code: String,
    pub(super) compared: String,
    gpus: Bars,
    pub(super) groups: Vec<ShownGroup>,
    /// What the change does to the room on the nodes, a sentence each.
    pub(super) capacity: Vec<String>,
    capacity_code: Vec<String>,
    /// What an upgrade changes beside objects.
    pub(super) notes: Vec<ShownNote>,
    /// How the rules of the releases are known.
    pub(super) basis: Option<&'static str>,
    /// Groups that are left out.
    left_out: usize,
}

/// A rule that changes no object of a service.
#[derive(Debug, Serialize)]
pub(super) struct ShownNote {
    pub(super) title: String,
    /// "InferenceService/a/chat and 3 more".
    pub(super) reaches: String,
    pub(super) action: Option<&'static str>,
}

/// GPUs before and after, with the length of their bars.
#[derive(Debug, Serialize)]
pub(super) struct Bars {
    pub(super) before: Count,
    pub(super) after: Count,
    before_percent: i64,
    after_percent: i64,
}

/// A group.
#[derive(Debug, Serialize)]
pub(super) struct ShownGroup {
    pub(super) marker: &'static str,
    marker_html: &'static str,
    class: &'static str,
    pub(super) title: String,
    /// "3 pods to restart, GPUs 3 → 6".
    pub(super) facts: String,
    pub(super) services: Vec<String>,
    services_code: Vec<String>,
    pub(super) more: usize,
    pub(super) error: Option<String>,
    error_code: Option<String>,
    pub(super) choices: Vec<Choice>,
    gpus: Bars,
    /// How a ModelServing is rolled by an upgrade, a sentence each.
    pub(super) rollout: Vec<String>,
    pub(super) rules: Vec<ShownRule>,
    /// All edits together, a sentence each.
    pub(super) edits: Vec<String>,
    /// The edits as YAML, line by line.
    pub(super) patch: Vec<String>,
    edits_code: Vec<String>,
    /// What fences it in Markdown.
    patch_fence: String,
    pub(super) causes: Vec<ShownCause>,
    pub(super) more_causes: usize,
    pub(super) objects: Vec<ShownObject>,
    /// What fences its objects in Markdown.
    fence: String,
}

/// A decision that is another one.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub(super) what: String,
    pub(super) from: String,
    pub(super) to: String,
    from_code: String,
    to_code: String,
}

/// A rule of a release.
#[derive(Debug, Serialize)]
pub(super) struct ShownRule {
    /// "A5: PARALLELISM_SIZE is set only where no class was chosen (#503, …)".
    pub(super) title: String,
    pub(super) action: Option<&'static str>,
    /// The edit that keeps what runs, with its proof; or why there is none.
    pub(super) edit: Vec<String>,
    edit_code: Vec<String>,
}

/// A field of the input.
#[derive(Debug, Serialize)]
pub(super) struct ShownCause {
    pub(super) object: String,
    pub(super) field: String,
    pub(super) change: String,
    pub(super) place: String,
    /// "srt: 8.03B is outside 7B..8.01B".
    pub(super) turned: Option<String>,
    object_cell: String,
    field_cell: String,
    change_cell: String,
    place_cell: String,
    turned_cell: Option<String>,
}

/// An object.
#[derive(Debug, Serialize)]
pub(super) struct ShownObject {
    pub(super) marker: &'static str,
    class: &'static str,
    /// How a diff in Markdown colors the line.
    sign: &'static str,
    pub(super) name: String,
    pub(super) note: String,
    pub(super) lines: Vec<Line>,
    pub(super) more: usize,
}

/// A field of an object, or an element of a list.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) marker: &'static str,
    class: &'static str,
    sign: &'static str,
    pub(super) text: String,
}

/// What the change does to the room on the nodes.
fn capacity(capacity: &Capacity) -> Vec<String> {
    let mut out = Vec::new();
    let mut listed = |what: &str, all: &[Waits]| {
        let lines = all.iter().take(NAMES).map(|own| {
            printable(&format!("{what}: {} {}: {}", own.service, own.component, own.message))
        });
        out.extend(lines);
        if all.len() > NAMES {
            out.push(format!("{what}: {} more", all.len() - NAMES));
        }
    };
    let lost = if capacity.before.is_some() { "✗ no longer fits" } else { "✗ does not fit" };
    listed(lost, &capacity.lost);
    listed("✗ restart gets stuck", capacity.stuck.as_deref().unwrap_or_default());
    let pods = |room: &Room| format!("{} of {}", room.pending, plural(room.wanted, "pod"));
    let before = capacity.before.as_ref().filter(|room| room.pending > 0);
    match (before, capacity.after.pending) {
        (None, 0) => {}
        (Some(before), 0) => {
            out.push(format!("✓ everything fits; before, {} were pending", pods(before)));
        }
        (before, _) => {
            let before = before.map_or("none".to_owned(), pods);
            let before = if capacity.before.is_some() {
                format!(" (before: {before})")
            } else {
                String::new()
            };
            out.push(format!("! pending: {}{before}", pods(&capacity.after)));
        }
    }
    if capacity.stuck.is_none() {
        out.push("the restarts were not simulated: there are more than 2000 services".to_owned());
    } else if capacity.stuck.as_ref().is_some_and(|stuck| !stuck.is_empty()) {
        if !capacity.order.is_empty() {
            let names = capacity.order.iter().map(|name| printable(name));
            out.push(format!(
                "restarted one after the other, all complete in this order: {}",
                first_of(names, ORDER)
            ));
        }
        out.push(
            "for the stages, and edits that complete them, run: ome rollout NAME --base BASE"
                .to_owned(),
        );
    } else if capacity.restarts {
        out.push("✓ all restarts complete at the same time on the nodes that were read".to_owned());
    }
    out
}

impl Shown {
    /// The first `most` groups.
    pub(super) fn of(view: &View<'_>, most: usize) -> Self {
        let summary = &view.diff.summary;
        let capacity = view.diff.capacity.as_ref().map(capacity).unwrap_or_default();
        let mut seen = BTreeSet::new();
        let groups: Vec<ShownGroup> =
            view.diff.groups.iter().take(most).map(|found| group(found, view, &mut seen)).collect();
        Self {
            headline: headline(view),
            semantics: view.semantics.to_string(),
            base: printable(view.base),
            base_code: code(view.base),
            compared: format!("{} compared", plural(summary.services, "service")),
            gpus: bars(&summary.gpus),
            capacity_code: capacity.iter().map(|line| code(line)).collect(),
            capacity,
            notes: view.diff.between_releases.map_or_else(Vec::new, |way| {
                view.diff.notes.iter().map(|own| note(own, way)).collect()
            }),
            basis: view.diff.basis,
            left_out: view.diff.groups.len() - groups.len(),
            groups,
        }
    }
}

fn note(note: &Note, way: Direction) -> ShownNote {
    let names = note.objects.iter().map(|object| printable(&object.to_string()));
    ShownNote {
        title: edit::title(note.rule, way),
        reaches: first_of(names, 2),
        action: edit::action(note.rule, way),
    }
}

/// "Plan: 3 services to change, 1 to add, 2 to restart, GPUs 16 → 24".
fn headline(view: &View<'_>) -> String {
    let summary = &view.diff.summary;
    let mut parts = Vec::new();
    if view.diff.groups.is_empty() {
        parts.push("nothing changes".to_owned());
    } else {
        parts.push(format!("{} to change", plural(summary.changed, "service")));
    }
    for (number, word) in
        [(summary.added, "to add"), (summary.removed, "to remove"), (summary.refused, "refused")]
    {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if summary.restarts > 0 {
        parts.push(format!("{} to restart", summary.restarts));
    }
    if summary.fails > 0 {
        parts.push(format!("{} newly failing", summary.fails));
    }
    if summary.left_behind > 0 {
        parts.push(format!("{} left behind", plural(summary.left_behind, "object")));
    }
    parts.push(gpus(&summary.gpus));
    parts.extend(dollars(&summary.costs));
    format!("Plan: {}", parts.join(", "))
}

fn gpus(gpus: &Pair<Count>) -> String {
    if gpus.from == gpus.to {
        format!("GPUs {}", gpus.from)
    } else {
        format!("GPUs {} → {}", gpus.from, gpus.to)
    }
}

/// Dollars per hour, where any class has a price.
fn dollars(costs: &Pair<Cost>) -> Option<String> {
    let amount = |cost: Cost| cost.known().map(|cost| cost.to_string());
    match (amount(costs.from), amount(costs.to)) {
        (None, None) => None,
        (from, to) if from == to => Some(format!("{}/hour", from?)),
        (from, to) => Some(format!(
            "{} → {} per hour",
            from.unwrap_or_else(|| "$0".to_owned()),
            to.unwrap_or_else(|| "$0".to_owned())
        )),
    }
}

fn bars(gpus: &Pair<Count>) -> Bars {
    let number = |count: Count| count.known().unwrap_or(0);
    let most = number(gpus.from).max(number(gpus.to)).max(1);
    // An unknown number has no bar. The percentage of sums beyond 2^63 / 100 does not matter.
    let percent = |count: Count| number(count).checked_mul(100).map_or(100, |part| part / most);
    Bars {
        before: gpus.from,
        after: gpus.to,
        before_percent: percent(gpus.from),
        after_percent: percent(gpus.to),
    }
}

/// `seen` are the patches that earlier groups have: a patch is shown once.
fn group<'v>(group: &'v Group, view: &View<'_>, seen: &mut BTreeSet<&'v str>) -> ShownGroup {
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
    let mut facts = Vec::new();
    if group.restart {
        let one = group.pods_restarted == Count::from(1);
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
    let services: Vec<String> =
        group.services.iter().take(most(NAMES)).map(|name| printable(name)).collect();
    let none = || "none".to_owned();
    let choice = |what: &str, from: Option<String>, to: Option<String>| {
        let (from, to) = (from.unwrap_or_else(none), to.unwrap_or_else(none));
        Choice { what: what.to_owned(), from_code: code(&from), to_code: code(&to), from, to }
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
    let before = group.error.as_ref().and_then(|pair| pair.from.as_ref());
    let error = match (&group.fails, before) {
        (Some(error), _) => {
            let refused = if group.error.is_some() { "refused" } else { "refused as before" };
            let rest = if group.objects.is_empty() {
                "running pods are not touched"
            } else {
                "the objects below are written before it fails"
            };
            let (message, code) = (printable(&error.message), error.code.as_str());
            Some(format!("✗ {refused}: {message} ({code}); {rest}"))
        }
        (None, Some(error)) => Some(format!(
            "✓ no longer refused: {} ({})",
            printable(&error.message),
            error.code.as_str()
        )),
        (None, None) => None,
    };
    let objects: Vec<ShownObject> =
        group.objects.iter().map(|found| object(found, most(FIELDS), all)).collect();
    let lines =
        objects.iter().flat_map(|object| object.lines.iter().map(|line| line.text.as_str()));
    let fence = fence(lines.chain(objects.iter().map(|object| object.name.as_str())));
    let edits = group.all_edits.as_ref().map(|own| edit::together(own, way)).unwrap_or_default();
    let mut patch: Vec<String> = Vec::new();
    for own in group.all_edits.iter().filter_map(|edits| edits.patch.as_ref()).flatten() {
        if !patch.is_empty() {
            patch.push("---".to_owned());
        }
        if seen.insert(&own.yaml) {
            patch.extend(own.yaml.lines().map(printable));
        } else {
            patch.push(format!("# {}: as above", printable(&own.object)));
        }
    }
    ShownGroup {
        marker,
        marker_html,
        class: Meaning::of_sign(marker).class(),
        title,
        facts: facts.join(", "),
        services_code: services.iter().map(|name| code(name)).collect(),
        more: group.services.len() - services.len(),
        services,
        error_code: error.as_deref().map(code),
        error,
        choices,
        gpus: bars(&group.gpus),
        rollout: group.rolled.as_ref().map(rollout).unwrap_or_default(),
        rules: group
            .rules
            .iter()
            .enumerate()
            .map(|(place, rule)| {
                let mut settled = group.all_edits.iter().flat_map(|edits| &edits.settled);
                let settled = settled.any(|own| own.id == rule.id);
                let edit = edit::lines(group.edits.get(place), settled, way);
                ShownRule {
                    title: edit::title(rule, way),
                    action: edit::action(rule, way),
                    edit_code: edit.iter().map(|line| markdown::text(line)).collect(),
                    edit,
                }
            })
            .collect(),
        edits_code: edits.iter().map(|line| markdown::text(line)).collect(),
        edits,
        patch_fence: markdown::fence(patch.iter().map(String::as_str)),
        patch,
        causes: group.causes.iter().take(most(CAUSES)).map(|found| cause(found, all)).collect(),
        more_causes: group.causes.len().saturating_sub(most(CAUSES)),
        objects,
        fence,
    }
}

/// What the upgrade of Kthena does to a ModelServing, and what holds it back.
fn rollout(rolled: &ServingUpgrade) -> Vec<String> {
    let mut said = Vec::new();
    if rolled.held > 0 {
        let free = rolled.groups - rolled.held;
        said.push(match free {
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
        said.push("it has more pods than are simulated".to_owned());
        return said;
    };
    if played.pods == 0 {
        return said;
    }
    let how = if rolled.by_role { "role by role" } else { "group by group" };
    said.push(format!(
        "it is replaced {how} in {}; at the worst moment {} of {} run",
        plural(played.stages, "stage"),
        played.fewest,
        plural(rolled.groups, "group")
    ));
    match (&played.stops, played.fits) {
        (Some(stops), _) => said.push(format!("it stops: {}", printable(stops))),
        (None, Some(true)) => {
            said.push(
                "on the nodes that were read its pods find a place in every stage".to_owned(),
            );
        }
        (None, _) => {}
    }
    said
}

/// The rule by which a decision turned, in the words of `explain`.
pub(super) fn detail(turned: &Turned) -> String {
    match &turned.by {
        By::Rule(_, detail) => detail.to_string(),
        By::Rank(key) => format!("behind another class, decided by {}", class_decided_by(*key)),
    }
}

fn cause(cause: &Cause, all: bool) -> ShownCause {
    let (path, from, to) = field(cause);
    let whole = cause.path.0.is_empty();
    let change = match (whole, from.is_null(), to.is_null()) {
        (true, true, _) => "added".to_owned(),
        (true, _, _) => "removed".to_owned(),
        (false, true, _) => format!("set to {}", short(&to, all)),
        (false, _, true) => format!("{} removed", short(&from, all)),
        _ => format!("{} → {}", short(&from, all), short(&to, all)),
    };
    let place = match (&cause.place, &cause.before) {
        (Some(place), _) => place.to_string(),
        (None, Some(before)) => format!("{before} (before)"),
        (None, None) => String::new(),
    };
    let (object, field, place) = (
        printable(&cause.object),
        if whole { String::new() } else { printable(&path) },
        printable(&place),
    );
    let turned = cause
        .turned
        .as_ref()
        .map(|turned| printable(&format!("{}: {}", turned.candidate, detail(turned))));
    ShownCause {
        turned_cell: turned.as_deref().map(cell),
        turned,
        object_cell: cell(&object),
        field_cell: cell(&field),
        change_cell: cell(&change),
        place_cell: cell(&place),
        object,
        field,
        change,
        place,
    }
}

fn object(object: &ObjectChange, most: usize, all: bool) -> ShownObject {
    let (marker, sign) = match object.action {
        Action::Create => ("+", "+"),
        Action::Update => ("~", "!"),
        Action::Delete => ("-", "-"),
        Action::Replace => ("-/+", "!"),
    };
    let note = match (object.action, object.restart) {
        (Action::Replace, _) => {
            let fields: Vec<String> =
                object.immutable.iter().map(|path| printable(&path.to_string())).collect();
            format!("must be replaced: {} may not change", fields.join(", "))
        }
        (_, true) => "restarts pods".to_owned(),
        _ if object.left_behind => format!("{}; delete it by hand", left_behind(object)),
        _ => String::new(),
    };
    let lines: Vec<Line> =
        object.changes.iter().take(most).flat_map(|change| lines(change, all)).collect();
    ShownObject {
        marker,
        class: Meaning::of_sign(marker).class(),
        sign,
        name: printable(&object.id.to_string()),
        note,
        lines,
        more: object.changes.len().saturating_sub(most),
    }
}

fn line(marker: &'static str, text: String) -> Line {
    let sign = if matches!(marker, "+" | "-") { marker } else { "!" };
    Line { marker, class: Meaning::of_sign(marker).class(), sign, text }
}

/// A field; of a list of words the elements that differ.
fn lines(change: &Change, all: bool) -> Vec<Line> {
    let path = printable(&change.path.to_string());
    let (from, to) = values(change.shown, change.from.as_ref(), change.to.as_ref());
    let words = |value: &Value| -> Option<Vec<String>> {
        let items = value.as_array()?;
        items
            .iter()
            .map(|item| (!item.is_object() && !item.is_array()).then(|| short(item, all)))
            .collect()
    };
    if let (Some(old), Some(new)) = (words(&from), words(&to)) {
        let mut out = vec![line("~", path)];
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (_, before, after) = op.as_tag_tuple();
            if !matches!(op, DiffOp::Equal { .. }) {
                out.extend(old[before].iter().map(|word| line("-", format!("  {word}"))));
                out.extend(new[after].iter().map(|word| line("+", format!("  {word}"))));
            }
        }
        return out;
    }
    vec![match (&change.from, &change.to) {
        (None, _) => line("+", format!("{path}: {}", short(&to, all))),
        (_, None) => line("-", format!("{path}: {}", short(&from, all))),
        _ => line("~", format!("{path}: {} → {}", short(&from, all), short(&to, all))),
    }]
}

/// A value in one line: words as they are, the rest as JSON.
fn short(value: &Value, all: bool) -> String {
    let text = match value.as_str() {
        Some(text) if !text.is_empty() && text.trim() == text && !text.contains(['\n', '\t']) => {
            text.to_owned()
        }
        _ => value.to_string(),
    };
    let text = printable(&text);
    if all || text.chars().count() <= LONGEST {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST).collect::<String>())
}
