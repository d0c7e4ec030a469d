//! The simulated rollout of a service's workloads: its stages, its end, and the edits that complete
//! a stuck update (docs/rollout.md).

use super::cell::{Cell, row};
use super::markdown;
use super::phrases::{first_of, plural};
use super::screen::{Page, put};
use super::table::{self, Style};
use crate::api::FieldEdit;
use crate::pipeline::{
    AddedNodes, Amounts, ComponentRollout, Doubts, Fix, RollEnd, RollStage, Stuck,
};
use crate::source::SourceMap;
use ecow::EcoString;
use serde_json::{Value, json};

/// Titles of the table of stages.
pub(super) const TITLES: [&str; 6] = ["STAGE", "OLD", "NEW", "TERMINATING", "GPUS", "WHAT HAPPENS"];

/// The ends of what may lose its nodes.
pub(super) const MAY_LOSE: [RollEnd; 2] = [RollEnd::NothingToDo, RollEnd::Displaced];

/// The same in words.
pub(super) const MAY_LOSE_IT: &str =
    "may no longer fit, as the choice among equal pods or nodes decides";

/// Whether any update is stuck.
pub fn is_stuck(components: &[ComponentRollout]) -> bool {
    components.iter().any(|component| component.end == RollEnd::Stuck)
}

/// Whether pods lose their nodes.
pub fn is_displaced(components: &[ComponentRollout]) -> bool {
    components.iter().any(|component| component.end == RollEnd::Displaced)
}

/// Whether pods may lose their nodes, by a choice among equals.
pub fn may_lose(components: &[ComponentRollout]) -> bool {
    components.iter().any(|component| component.end == RollEnd::MayLose)
}

/// `evicted by ml/chat: `, nothing where no pod evicted it.
pub(super) fn evicted_by(owners: &[EcoString]) -> String {
    if owners.is_empty() {
        return String::new();
    }
    format!("evicted by {}: ", first_of(owners, 3))
}

/// Whether the end of any update hangs on a choice among equals.
pub fn depends(components: &[ComponentRollout]) -> bool {
    components.iter().any(|component| component.end == RollEnd::Depends)
}

fn stage(stage: &RollStage) -> Value {
    json!({
        "old": { "ready": stage.old.ready, "pending": stage.old.pending, "total": stage.old.total },
        "new": { "ready": stage.new.ready, "pending": stage.new.pending, "total": stage.new.total },
        "terminating": stage.terminating,
        "gpus": stage.gpus,
        "event": stage.event,
    })
}

fn edit(edit: &FieldEdit, sources: &SourceMap) -> Value {
    let place = edit.span.map(|span| sources.locate(span));
    json!({
        "file": place.as_ref().map(|place| place.file.to_string()),
        "line": place.map(|place| place.line),
        "path": edit.path.to_string(),
        "from": edit.from,
        "to": edit.to,
    })
}

/// What is changed to add nodes, and to what: an edit without a place.
fn added_nodes(more: &AddedNodes) -> (String, String) {
    (format!("nodes like {}", more.like), format!("{} more", more.count))
}

fn fix(fix: &Fix, sources: &SourceMap) -> Value {
    let fields = fix.edits.iter().map(|field| edit(field, sources));
    let nodes = fix.added_nodes.iter().map(|more| {
        let (path, to) = added_nodes(more);
        json!({ "file": null, "line": null, "path": path, "from": null, "to": to })
    });
    let mut out = json!({
        "edits": fields.chain(nodes).collect::<Vec<_>>(),
        "end": fix.end.as_str(),
        "lowestReady": fix.lowest_ready,
        "peakGpus": fix.peak_gpus,
    });
    if fix.then_as_written {
        out["thenAsWritten"] = true.into();
    }
    if fix.with_others {
        out["withTheOthers"] = true.into();
    }
    out
}

/// One component.
pub(super) fn json(component: &ComponentRollout, sources: &SourceMap) -> Value {
    let mut out = json!({
        "kind": component.kind,
        "workload": component.name.as_str(),
        "strategy": component.strategy,
        "maxSurge": component.max_surge,
        "maxUnavailable": component.max_unavailable,
        "stages": component.stages.iter().map(stage).collect::<Vec<_>>(),
        "end": component.end.as_str(),
        "lowestReady": component.lowest_ready,
        "peakGpus": component.peak_gpus,
    });
    if component.end == RollEnd::Depends {
        // Which of the two it is hangs on a choice that the scheduler may make otherwise each time.
        out["ends"] = [RollEnd::Complete, RollEnd::Stuck].map(RollEnd::as_str).to_vec().into();
    }
    if component.end == RollEnd::MayLose {
        out["ends"] = MAY_LOSE.map(RollEnd::as_str).to_vec().into();
    }
    if !component.evicted_by.is_empty() {
        out["evictedBy"] = component.evicted_by.iter().map(EcoString::as_str).collect();
    }
    if component.end == RollEnd::NotJudged {
        out["notJudged"] = component.stuck.as_ref().map_or("", |stuck| &*stuck.message).into();
    } else if let Some(stuck) = &component.stuck {
        out["stuck"] = json!({ "pod": stuck.pod.as_str(), "message": stuck.message.as_str() });
    }
    if !component.fix.is_empty() {
        out["fix"] = component.fix.iter().map(|step| fix(step, sources)).collect();
    }
    json!({ "name": component.component, "rollout": out })
}

/// One component without its stages.
pub(super) fn end_json(component: &ComponentRollout, sources: &SourceMap) -> Value {
    let mut out = json(component, sources);
    if let Some(rollout) = out["rollout"].as_object_mut() {
        rollout.remove("stages");
    }
    out
}

/// The group of a ModelServing whose pod has no node, together with everything else.
pub fn stuck_group(components: &[ComponentRollout], serving: &str) -> Option<i64> {
    let stuck = components.iter().find(|component| component.end == RollEnd::Stuck)?;
    // The name of a serving may be the beginning of another, so the dash must follow.
    let rest = stuck.stuck.as_ref()?.pod.strip_prefix(serving)?.strip_prefix('-')?;
    rest.split('-').next()?.parse().ok()
}

/// A sentence without ✓ where something is open.
pub(super) fn unconfirmed(sentence: Cell, doubts: &Doubts) -> Cell {
    // What was not read could take the nodes that this update needs.
    if doubts.is_certain() { sentence } else { sentence.unconfirmed() }
}

/// `✓ complete`, `✗ stuck`, `nothing to do`.
pub(super) fn end(end: RollEnd) -> Cell {
    let word = end.as_str();
    match end {
        RollEnd::Complete => Cell::good(word),
        RollEnd::Stuck | RollEnd::Displaced => Cell::bad(word),
        RollEnd::Waits
        | RollEnd::Depends
        | RollEnd::MayLose
        | RollEnd::Paused
        | RollEnd::OnDelete
        | RollEnd::NotJudged => Cell::warn(word),
        RollEnd::NothingToDo => word.into(),
    }
}

/// A component of a page: its title, its stages, and how it ends.
pub(super) fn page(
    component: &ComponentRollout,
    title: &str,
    sources: &SourceMap,
    doubts: &Doubts,
) -> Value {
    let end = unconfirmed(end(component.end), doubts);
    json!({
        "title": title,
        "titles": TITLES,
        "rows": rows(component),
        "said": sentences(component, sources, doubts),
        "sign": end.symbol(),
        "stuck": end.is_bad(),
    })
}

/// `2 of 2 ready`, `! 1 of 2 ready, 1 pending`.
fn amounts(amounts: &Amounts) -> Cell {
    match amounts {
        Amounts { total: 0, .. } => Cell::none(),
        Amounts { ready, pending: 0, total } => format!("{ready} of {total} ready").into(),
        Amounts { ready, pending, total } => {
            Cell::warn(format_args!("{ready} of {total} ready, {pending} pending"))
        }
    }
}

/// A number in a sentence.
pub(super) fn none_or(count: i64) -> String {
    if count == 0 { "none".to_owned() } else { count.to_string() }
}

/// The stages as rows of a table.
pub(super) fn rows(component: &ComponentRollout) -> Vec<Vec<Cell>> {
    let row = |(at, stage): (usize, &RollStage)| {
        row![
            at.to_string(),
            amounts(&stage.old),
            amounts(&stage.new),
            stage.terminating.to_string(),
            stage.gpus.to_string(),
            stage.event.as_str(),
        ]
    };
    component.stages.iter().enumerate().map(row).collect()
}

/// `engine: Deployment chat-engine, RollingUpdate, maxSurge 1, maxUnavailable 0`.
pub(super) fn title(component: &ComponentRollout) -> String {
    format!(
        "{}: {} {}, {}, maxSurge {}, maxUnavailable {}",
        component.component,
        component.kind,
        component.name,
        component.strategy,
        component.max_surge,
        component.max_unavailable
    )
}

/// How it ends, and the edits that would complete it, one sentence each. Nothing is confirmed where
/// something is open.
pub fn sentences(component: &ComponentRollout, sources: &SourceMap, doubts: &Doubts) -> Vec<Cell> {
    // Both kinds replace groups, whose pods are ready together or not at all.
    let groups = matches!(component.kind, "LeaderWorkerSet" | "ModelServing");
    let what = if groups { "group" } else { "pod" };
    let cost = |lowest: i64, peak: i64| {
        let are = if lowest == 1 { "is" } else { "are" };
        let used = if peak == 1 { "is" } else { "are" };
        format!(
            "at least {} {are} ready and at most {} {used} in use",
            plural(lowest, what),
            plural(peak, "GPU")
        )
    };
    let meanwhile = || format!("meanwhile {}", cost(component.lowest_ready, component.peak_gpus));
    let why = |stuck: &Option<Stuck>| {
        stuck.as_ref().map_or(String::new(), |stuck| format!(": {}: {}", stuck.pod, stuck.message))
    };
    let mut out = Vec::new();
    match (component.end, &component.stuck) {
        (RollEnd::Complete, _) => {
            out.push(Cell::good(format_args!("complete; {}", meanwhile())));
        }
        (RollEnd::NothingToDo, _) => out.push("nothing to do: no pod is replaced".into()),
        (RollEnd::Waits, stuck) => {
            let pending = component.pending();
            let waits = if pending == 1 { "waits" } else { "wait" };
            let before = match component.waited_less() {
                Some(waited) => format!(", {} before", none_or(waited)),
                None => " as before".to_owned(),
            };
            out.push(Cell::warn(format_args!(
                "no pod is replaced; {} {waits}{before}{}",
                plural(pending, what),
                why(stuck)
            )));
        }
        (end @ (RollEnd::Displaced | RollEnd::MayLose), stuck) => {
            let pending = component.pending();
            let (has, had) = if pending == 1 { ("has", "one") } else { ("have", "nodes") };
            let evicted = evicted_by(&component.evicted_by);
            let evicted = evicted.strip_suffix(": ").map_or(String::new(), |by| format!(": {by}"));
            let text = format!(
                "{} {has} no node and had {had} before{evicted}{}",
                plural(pending, what),
                why(stuck)
            );
            out.push(match end {
                RollEnd::MayLose => Cell::warn(format_args!("{MAY_LOSE_IT}: {text}")),
                _ => Cell::bad(format_args!("no longer fits: {text}")),
            });
        }
        (RollEnd::Depends, stuck) => {
            let why = why(stuck);
            out.push(Cell::warn(format_args!(
                "may get stuck: the choice among equal pods or nodes decides{why}"
            )));
            out.push(meanwhile().into());
        }
        (RollEnd::Paused | RollEnd::OnDelete, _) => {
            out.push(Cell::warn(unrolled(component)));
        }
        (RollEnd::NotJudged, stuck) => {
            let why = stuck.as_ref().map_or("", |stuck| stuck.message.as_str());
            out.push(Cell::warn(format_args!("not judged: {why}")));
        }
        (RollEnd::Stuck, stuck) => {
            let why = why(stuck);
            out.push(Cell::bad(format_args!("stuck{why}")));
            out.push(meanwhile().into());
        }
    }
    out.extend(component.fix.iter().map(|fix| {
        let cost = cost(fix.lowest_ready, fix.peak_gpus);
        // A fix that only decides a choice is certain, and the other one would help.
        let would = match fix.end {
            RollEnd::Paused => "would be paused with all its pods ready",
            RollEnd::OnDelete => "would have all its pods ready, updated when they are deleted,",
            _ if component.end == RollEnd::Depends => "completes",
            _ => "would complete",
        };
        format!("{would} with {}: {cost}", words(fix, sources)).into()
    }));
    if component.end == RollEnd::Stuck && component.fix.is_empty() {
        out.push(
            "none of the edits that were tried completes it: other limits of the update, Recreate, fewer replicas, more nodes"
                .into(),
        );
    }
    out.into_iter().map(|sentence| unconfirmed(sentence, doubts)).collect()
}

/// Why pods keep the template that they have, although their controller does nothing more.
pub(super) fn unrolled(component: &ComponentRollout) -> String {
    let old = component.stages.last().map_or(0, |last| last.old.total);
    let keep = if old == 1 { "keeps" } else { "keep" };
    let pods = plural(old, "pod");
    match component.end {
        RollEnd::Paused if old == 0 => {
            "paused: no pod is created until the Deployment is resumed".to_owned()
        }
        RollEnd::Paused => {
            format!("paused: {pods} {keep} the old template until the Deployment is resumed")
        }
        _ => format!("OnDelete: {pods} {keep} the old template until deleted"),
    }
}

/// The components whose update does not complete.
pub fn unfinished(components: &[ComponentRollout]) -> impl Iterator<Item = &ComponentRollout> {
    let is_done = |end| matches!(end, RollEnd::Complete | RollEnd::NothingToDo);
    components.iter().filter(move |component| !is_done(component.end))
}

/// `spec.engine.minReplicas: 2 → 1 (a.yaml:7) first, and the manifest as written afterwards`.
fn words(fix: &Fix, sources: &SourceMap) -> String {
    let value = |value: &Value| match value {
        Value::Null => "absent".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let fields = fix.edits.iter().map(|edit| {
        let place = edit.span.map(|span| format!(" ({})", sources.locate(span)));
        // A field that no file holds has no value there.
        let from = edit.span.map_or(String::new(), |_| format!("{} → ", value(&edit.from)));
        format!("{}: {from}{}{}", edit.path, value(&edit.to), place.unwrap_or_default())
    });
    let nodes = fix.added_nodes.iter().map(|more| {
        let (path, to) = added_nodes(more);
        format!("{path}: {to}")
    });
    let mut words = fields.chain(nodes).collect::<Vec<_>>().join(" and ");
    if fix.with_others {
        words.push_str(", and the same edit in the other services that are stuck");
    }
    if fix.then_as_written {
        words.push_str(" first, and the manifest as written afterwards");
    } else if fix.fewer_replicas {
        words.push_str(" permanently");
    }
    words
}

/// All components as text. Nothing is confirmed where something is open.
pub(super) fn text(
    components: &[ComponentRollout],
    sources: &SourceMap,
    doubts: &Doubts,
    style: Style,
) -> String {
    let mut out = Page::default();
    for component in components {
        put!(out, "\n{}\n\n", title(component));
        if component.end.is_change() {
            out.draw(&table::table(&TITLES, rows(component), style));
            out.end_line();
        }
        for sentence in sentences(component, sources, doubts) {
            out.draw(&sentence.shown(style.color));
            out.end_line();
        }
    }
    out.finish()
}

/// All components as Markdown.
pub(super) fn markdown(
    components: &[ComponentRollout],
    sources: &SourceMap,
    doubts: &Doubts,
) -> String {
    let mut out = Page::default();
    let titles = TITLES.map(str::to_lowercase);
    for component in components {
        put!(out, "\n**{}**\n\n", markdown::text(&title(component)));
        if component.end.is_change() {
            markdown::table(&mut out, &titles.each_ref().map(String::as_str), rows(component));
            out.end_line();
        }
        markdown::list(&mut out, sentences(component, sources, doubts));
    }
    out.finish()
}
