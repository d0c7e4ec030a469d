//! The answer for people; every output format but JSON is made from it.

pub(super) mod fields;
mod group;

use super::{View, edit};
use crate::diff::{
    Action, Capacity, ChangedWorkload, Cost, Direction, Fate, Group, Note, ObjectChange,
    OtherObjects, Pair, Room, Waits,
};
use crate::pipeline::RollEnd;
use crate::quantity::Count;
use crate::report::accounting;
use crate::report::cell::{Cell, Meaning};
use crate::report::doubts;
use crate::report::phrases::{first_of, plural};
use crate::report::roll::{evicted_by, unrolled};
use crate::report::screen::printable;
use ecow::EcoString;
use group::group;
use indexmap::IndexMap;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Number of services and of causes of a group to show; the rest is counted.
pub(super) const NAMES: usize = 6;
const CAUSES: usize = 8;
/// Number of services to name in the order of restarts.
const ORDER: usize = 20;

/// The consequence for an object that should be deleted but is left behind.
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

/// Everything that is shown.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub(super) headline: String,
    /// The headline of a page, which is read without the lines below it: with its symbol, and with
    /// the restarts that get stuck and the pods that wait.
    title: Cell,
    pub(super) semantics: String,
    pub(super) base: String,
    pub(super) compared: String,
    gpus: Bars,
    pub(super) groups: Vec<ShownGroup>,
    /// Services that the later release serves and the earlier one refuses, shown instead of their
    /// groups.
    pub(super) served: Option<Served>,
    /// The effect on the capacity of the nodes, and the services that are refused before and after,
    /// one sentence each.
    pub(super) capacity: Vec<Cell>,
    /// The rules of an upgrade that change no objects.
    pub(super) notes: Vec<ShownNote>,
    /// The basis of the rules of the releases.
    pub(super) basis: Option<&'static str>,
    /// Number of groups that are left out.
    left_out: usize,
}

/// Services that are refused before an upgrade and served after it.
#[derive(Debug, Serialize)]
pub(super) struct Served {
    pub(super) title: String,
    pub(super) facts: String,
    /// "a/chat: ClusterServingRuntime/srt".
    pub(super) lines: Vec<String>,
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
    pub(super) more: usize,
    pub(super) error: Option<Cell>,
    pub(super) choices: Vec<Choice>,
    gpus: Bars,
    /// The rollout of a ModelServing by an upgrade, one sentence each.
    pub(super) rollout: Vec<String>,
    pub(super) rules: Vec<ShownRule>,
    /// All edits together, one sentence each.
    pub(super) edits: Vec<String>,
    /// The edits as YAML, line by line.
    pub(super) patch: Vec<String>,
    /// The Markdown fence of the patch.
    patch_fence: String,
    pub(super) causes: Vec<ShownCause>,
    pub(super) more_causes: usize,
    pub(super) objects: Vec<ShownObject>,
    /// The Markdown fence of the objects.
    fence: String,
}

/// A decision that differs.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub(super) what: String,
    pub(super) from: String,
    pub(super) to: String,
}

/// A rule of a release.
#[derive(Debug, Serialize)]
pub(super) struct ShownRule {
    /// "A5: PARALLELISM_SIZE is set only where no class was chosen (#503, …)".
    pub(super) title: String,
    pub(super) action: Option<&'static str>,
    /// The edit that keeps the running objects, with its proof; or why there is none.
    pub(super) edit: Vec<String>,
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
}

/// An object.
#[derive(Debug, Serialize)]
pub(super) struct ShownObject {
    pub(super) marker: &'static str,
    class: &'static str,
    /// The sign by which a diff in Markdown colors the line.
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

/// A message of the scheduler, whose sentence is told once.
fn once<'a>(reported: &mut Vec<&'a str>, message: &'a str) -> Cow<'a, str> {
    if let Some(pod) = reported.iter().find_map(|other| message.strip_suffix(*other)) {
        return format!("{pod}for the same reason").into();
    }
    reported.push(message);
    message.into()
}

/// The effect of the change on the capacity of the nodes. Of services that are newly `broken` the pods
/// that run stay and are not counted, so that nothing is confirmed then.
fn capacity<'c>(capacity: &'c Capacity, view: &View<'_>) -> Vec<Cell> {
    let (summary, rollout) = (&view.diff.summary, view.rollout);
    let refused = summary.broken;
    let broke = |group: &&Group| {
        let of_errors = group.error.as_ref().map(|pair| (pair.from.is_none(), pair.to.as_ref()));
        group.fate == Fate::Changed
            && matches!(of_errors, Some((true, Some(error))) if !error.is_unread())
    };
    let all_groups = view.diff.groups.iter();
    let stay: usize = all_groups.filter(broke).map(|group| group.services.len()).sum();
    let mut out: Vec<Cell> = Vec::new();
    let (confirmed, but) = match refused {
        0 if capacity.after.verdict == "unknown" || !capacity.doubts.is_certain() => {
            (Meaning::Attention, "; not everything was judged".to_owned())
        }
        0 => (Meaning::Good, String::new()),
        count => {
            // What is added has no pods that run.
            let but = if stay == 0 {
                format!("; not counted: {} in error", plural(count, "service"))
            } else {
                let services = plural(stay, "service");
                format!("; not counted: running pods of {services} in error, which stay")
            };
            (Meaning::Attention, but)
        }
    };
    out.extend(changed_workloads(capacity));
    let mut reported: Vec<&str> = Vec::new();
    let mut listed = |meaning: Meaning, what: &str, all: &'c [Waits]| {
        let lines = all.iter().take(NAMES).map(|component| {
            let why = once(&mut reported, &component.message);
            let evicted = evicted_by(&component.evicted_by);
            let (service, component) = (&component.service, &component.component);
            let text = format!("{what}: {service} {component}: {evicted}{why}");
            Cell::marked(meaning, printable(&text))
        });
        out.extend(lines);
        if all.len() > NAMES {
            out.push(Cell::marked(meaning, format_args!("{what}: {} more", all.len() - NAMES)));
        }
    };
    listed(Meaning::Bad, "no longer fits", &capacity.lost);
    listed(Meaning::Bad, "does not fit", &capacity.new);
    listed(Meaning::Attention, "waits as before", &capacity.same);
    listed(Meaning::Bad, "restart gets stuck", capacity.stuck.as_deref().unwrap_or_default());
    listed(Meaning::Bad, "no longer fits after the restarts", &capacity.displaced);
    let perhaps = "may no longer fit after the restarts, as a choice among equals decides";
    listed(Meaning::Attention, perhaps, &capacity.perhaps_displaced);
    let open = doubts::sentences(&capacity.doubts, [], NAMES).into_iter();
    out.extend(open.map(|sentence| sentence.with(printable(&sentence.text))));
    let pods = |room: &Room| format!("{} of {}", room.pending, plural(room.wanted, "pod"));
    let before = capacity.before.as_ref().filter(|room| room.pending > 0);
    // A fleet without pending pods on both sides needs no sentence.
    match (before, capacity.after.pending) {
        (None, 0) => {}
        (Some(before), 0) => {
            let before = pods(before);
            let fits = format!("everything fits; before, {before} were pending{but}");
            out.push(Cell::marked(confirmed, fits));
        }
        (before, _) => {
            let before = before.map_or("none".to_owned(), pods);
            let before = if capacity.before.is_some() {
                format!(" (before: {before})")
            } else {
                String::new()
            };
            out.push(Cell::warn(format_args!("pending: {}{before}", pods(&capacity.after))));
        }
    }
    if capacity.stuck.is_none() {
        out.push("the restarts were not simulated: there are more than 2000 services".into());
    } else if let Some(stuck) = capacity.stuck.as_ref().filter(|stuck| !stuck.is_empty()) {
        if !capacity.order.is_empty() {
            let names = capacity.order.iter().map(|name| printable(name));
            let rest: BTreeSet<&EcoString> =
                stuck.iter().map(|component| &component.service).collect();
            let rest = rest.into_iter().filter(|name| !capacity.order.contains(name));
            let rest: Vec<String> = rest.map(|name| printable(name)).collect();
            let order = format!(
                "restarted one after the other, {} complete in this order: {}{}",
                if rest.is_empty() { "all" } else { "these" },
                first_of(names, ORDER),
                if rest.is_empty() {
                    String::new()
                } else {
                    format!("; stuck first and last: {}", first_of(rest, ORDER))
                }
            );
            out.push(order.into());
        }
        if let (Some(first), Some(command)) = (stuck.first(), rollout) {
            let command = command.replace("{}", &printable(&first.service));
            out.push(
                format!("for the stages, and what would complete them, run: {command}").into(),
            );
        }
    } else if capacity.restarts {
        // Those of which something is open have lines of their own.
        let open = capacity.changed_workloads().filter(|changed| is_open(changed)).count();
        let open = open + capacity.open_restarts;
        let all = if open == 0 { "all" } else { "all other" };
        let all_restarts = capacity.changed_workloads().count() + summary.restarts;
        let confirms = open == 0 || open < all_restarts;
        if confirms {
            out.push(Cell::marked(
                confirmed,
                format_args!(
                    "{all} restarts complete at the same time on the nodes that were read{but}"
                ),
            ));
        }
    }
    out
}

impl Shown {
    /// The first `most` groups.
    pub(super) fn of(view: &View<'_>, most: usize) -> Self {
        let summary = &view.diff.summary;
        let capacity = view.diff.capacity.as_ref();
        let capacity = capacity.map(|capacity| self::capacity(capacity, view));
        let mut capacity = capacity.unwrap_or_default();
        let altered = view.diff.workloads.iter().map(|changed| &changed.workload);
        capacity.extend(other_changes(&altered.collect::<Vec<_>>()));
        capacity.extend(come_and_go(&view.diff.workloads_that_go_and_come));
        capacity.extend(other_objects(&view.diff.other_objects));
        capacity.extend(still_refused(view));
        capacity.extend(accounting::not_compared(view.input, view.base_input).map(Cell::from));
        let mut seen = BTreeSet::new();
        // An upgrade may serve hundreds of new services, which need one list and no groups.
        let brief = view.diff.between_releases.is_some() && !view.all;
        let (new, full): (Vec<&Group>, Vec<&Group>) =
            view.diff.groups.iter().partition(|group| brief && is_new(group));
        let groups: Vec<ShownGroup> =
            full.iter().take(most).map(|found| group(found, view, &mut seen)).collect();
        Self {
            title: title(view),
            headline: headline(view),
            semantics: view.readings.to_string(),
            base: printable(view.base),
            compared: format!("{} compared", plural(summary.services, "service")),
            gpus: bars(&summary.gpus),
            capacity,
            notes: view.diff.between_releases.map_or_else(Vec::new, |way| {
                view.diff.notes.iter().map(|each| note(each, way)).collect()
            }),
            basis: view.diff.basis,
            left_out: full.len() - groups.len(),
            groups,
            served: (!new.is_empty()).then(|| served(&new)),
        }
    }
}

/// The services that are refused on both sides for the same reason, as a sentence; no group shows
/// them.
fn still_refused(view: &View<'_>) -> Option<Cell> {
    // Those that are refused and have a group are shown there.
    let is_refused = |group: &&Group| group.fails.as_ref().is_some_and(|error| !error.is_unread());
    let shown: usize =
        view.diff.groups.iter().filter(is_refused).map(|group| group.services.len()).sum();
    let (count, verb) = match view.diff.summary.refused.saturating_sub(shown) {
        0 => return None,
        1 => (1, "is"),
        count => (count, "are"),
    };
    let (services, plan) = (plural(count, "service"), view.plan);
    let why = format!("{services} {verb} refused before and after; `{plan}` prints why");
    Some(Cell::bad(why))
}

/// Whether services are refused before and served afterwards: they have no existing objects that a
/// rule could change.
fn is_new(group: &Group) -> bool {
    let served = |error: &Pair<_>| matches!(error, Pair { from: Some(_), to: None });
    group.fate != Fate::Removed
        && group.rules.is_empty()
        && group.error.as_ref().is_some_and(served)
        && group.objects.iter().all(|object| object.action == Action::Create)
}

fn served(groups: &[&Group]) -> Served {
    let all = groups.iter().flat_map(|group| {
        let runtime = group.runtime.as_ref().and_then(|runtime| runtime.to.as_ref());
        group.services.iter().map(move |service| match runtime {
            Some(runtime) => printable(&format!("{service}: {runtime}")),
            None => printable(service),
        })
    });
    let sum = |side: fn(&Pair<Count>) -> Count| groups.iter().map(|group| side(&group.gpus)).sum();
    let lines: Vec<String> = all.collect();
    Served {
        title: format!("{} no longer refused", plural(lines.len(), "service")),
        facts: self::gpus(&Pair { from: sum(|gpus| gpus.from), to: sum(|gpus| gpus.to) }),
        lines,
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
    let of_services = !view.diff.groups.is_empty();
    if of_services {
        parts.push(format!("{} to change", plural(summary.changed, "service")));
    }
    let word = if of_services { "other workload" } else { "workload" };
    let [go, come] = view.diff.workloads_that_go_and_come.each_ref().map(Vec::len);
    let changed = view.diff.changed_workloads().count();
    for (number, what) in [(changed, "to change"), (come, "to add"), (go, "to remove")] {
        if number > 0 {
            parts.push(format!("{} {what}", plural(number, word)));
        }
    }
    let others = &view.diff.other_objects;
    if parts.is_empty() && others.is_empty() {
        // A line says which definitions of a service, and which objects, are not compared.
        let is_partial = !view.not_compared.is_empty() || view.has_placeholders;
        let nothing = ["nothing changes", "nothing that was compared changes"];
        parts.push(nothing[usize::from(is_partial)].to_owned());
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
    let word = if parts.is_empty() { "object" } else { "other object" };
    for (names, what) in
        [(&others.changed, "to change"), (&others.added, "to add"), (&others.removed, "to remove")]
    {
        if !names.is_empty() {
            parts.push(format!("{} {what}", plural(names.len(), word)));
        }
    }
    // The devices are those of services: where there is none, workloads may request some still.
    if summary.services > 0 {
        parts.push(gpus(&summary.gpus));
        parts.extend(dollars(&summary.costs));
    }
    format!("Plan: {}", parts.join(", "))
}

/// "✗ Plan: 3 services to change, GPUs 16 → 24; 1 restart gets stuck, 2 of 9 pods pending".
fn title(view: &View<'_>) -> Cell {
    let summary = &view.diff.summary;
    let mut is_worse = summary.fails > 0 || summary.refused > 0;
    let (mut ends, mut waits) = (Vec::new(), false);
    if let Some(capacity) = &view.diff.capacity {
        let stuck = capacity.stuck.as_ref().map_or(0, Vec::len);
        let lost = capacity.lost.len() + capacity.displaced.len();
        is_worse |= stuck + lost + capacity.new.len() > 0;
        match stuck {
            0 => {}
            1 => ends.push("1 restart gets stuck".to_owned()),
            more => ends.push(format!("{more} restarts get stuck")),
        }
        waits = capacity.after.pending > 0
            || !capacity.perhaps_displaced.is_empty()
            || capacity.changed_workloads().any(is_open);
        if capacity.after.pending > 0 {
            let wanted = plural(capacity.after.wanted, "pod");
            ends.push(format!("{} of {wanted} pending", capacity.after.pending));
        }
    }
    let ends = if ends.is_empty() { String::new() } else { format!("; {}", ends.join(", ")) };
    let title = format!("{}{ends}", headline(view));
    match (is_worse, waits) {
        (true, _) => Cell::bad(title),
        (false, true) => Cell::warn(title),
        // No ✓: a page of a diff confirms nothing about the rest.
        (false, false) => title.into(),
    }
}

/// Whether a workload that no operator writes may end otherwise than with its new version.
fn is_open(changed: &ChangedWorkload) -> bool {
    let open = [RollEnd::Depends, RollEnd::Paused, RollEnd::OnDelete, RollEnd::NotJudged];
    open.contains(&changed.rollout.end)
}

/// The names of the workloads that no operator writes and that change.
fn other_changes(names: &[&EcoString]) -> Option<Cell> {
    let what = if names.len() == 1 { "workload changes" } else { "workloads change" };
    (!names.is_empty()).then(|| format!("other {what}: {}", listed(names.iter().copied())).into())
}

/// The first few names; those of objects whose names are generated are alike.
fn listed<'n>(names: impl Iterator<Item = &'n EcoString>) -> String {
    let mut counts: IndexMap<&EcoString, usize> = IndexMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let shown = counts.iter().map(|(name, count)| match count {
        1 => printable(name),
        count => format!("{} ({count})", printable(name)),
    });
    first_of(shown, NAMES)
}

/// The names of the workloads that no operator writes and that come or go.
fn come_and_go([go, come]: &[Vec<EcoString>; 2]) -> Vec<Cell> {
    let line = |names: &[EcoString], what: &str| {
        let word = if names.len() == 1 { "other workload" } else { "other workloads" };
        (!names.is_empty()).then(|| format!("{word} to {what}: {}", listed(names.iter())).into())
    };
    [line(come, "add"), line(go, "remove")].into_iter().flatten().collect()
}

/// The objects that are neither services nor workloads and that change, come or go: what follows from
/// it is not judged.
fn other_objects(objects: &OtherObjects) -> Vec<Cell> {
    let line = |names: &[EcoString], what: &str| {
        let word = if names.len() == 1 { "other object" } else { "other objects" };
        (!names.is_empty()).then(|| format!("{word} to {what}: {}", listed(names.iter())).into())
    };
    let OtherObjects { changed, added, removed } = objects;
    let lines = [line(changed, "change"), line(added, "add"), line(removed, "remove")];
    lines.into_iter().flatten().collect()
}

/// The workloads that no operator writes, and that change: their names, and what is open about them.
/// Those that get stuck or are not judged have lines of their own.
fn changed_workloads(capacity: &Capacity) -> Vec<Cell> {
    let all: Vec<&ChangedWorkload> = capacity.changed_workloads().collect();
    let names: Vec<&EcoString> = all.iter().map(|changed| &changed.workload).collect();
    let mut out = Vec::from_iter(other_changes(&names));
    for changed in all.into_iter().filter(|changed| is_open(changed)).take(NAMES) {
        let name = printable(&changed.workload);
        match changed.rollout.end {
            RollEnd::Paused | RollEnd::OnDelete => {
                let why = unrolled(&changed.rollout);
                out.push(Cell::warn(format_args!("{name}: {why}")));
            }
            RollEnd::Depends => out.push(Cell::warn(format_args!("may get stuck: {name}"))),
            _ => {}
        }
    }
    out
}

fn gpus(gpus: &Pair<Count>) -> String {
    if gpus.from == gpus.to {
        format!("GPUs {}", gpus.from)
    } else {
        format!("GPUs {} → {}", gpus.from, gpus.to)
    }
}

/// Dollars per hour, if any class has a price.
fn dollars(costs: &Pair<Cost>) -> Option<String> {
    let amount = |cost: Cost| cost.dollars().map(|cost| cost.to_string());
    match (amount(costs.from), amount(costs.to)) {
        (None, None) => None,
        (from, to) if from == to => Some(format!("{}/hour", from?)),
        (from, to) => Some(format!(
            "{} → {} per hour",
            from.unwrap_or_else(|| "no price".to_owned()),
            to.unwrap_or_else(|| "no price".to_owned())
        )),
    }
}

fn bars(gpus: &Pair<Count>) -> Bars {
    let number = |count: Count| count.number().unwrap_or(0);
    // At least 1, which is divided by.
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
