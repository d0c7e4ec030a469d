//! `rollout` as JSON, as a timeline for terminals, as Markdown, and as a single HTML page.

mod json;

use super::answer::Answer;
use super::cell::{Cell, row, with_signs};
use super::doubts;
use super::fill::fill;
use super::phrases::plural;
use super::roll_all::{self, Displaced};
use super::screen::{Draw, Page, line, put};
use super::table::{Style, table};
use super::{markdown, roll};
use crate::api::{ModelServing, serving_names as names};
use crate::diag::{Diagnostic, Severity};
use crate::operators::servings::rollout::{
    Capacity, Cell as GroupCell, GroupStatus, Kind, Outcome, Row, Trace,
};
use crate::pipeline::{ComponentRollout, Doubts, RollEnd};
use crate::policy::Readings;
use crate::quantity::Count;
use crate::source::SourceMap;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io;

/// A rollout of a ModelServing, ready to be shown.
#[derive(Clone, Copy)]
pub struct Rollout<'a> {
    /// The mode: documented or controller.
    pub readings: Readings,
    /// The Kthena profile that was simulated.
    pub profile: &'static str,
    /// The ModelServing before the change; `None` at creation.
    pub from: Option<&'a ModelServing>,
    /// The ModelServing after the change.
    pub to: &'a ModelServing,
    /// The outcome of the simulation.
    pub outcome: &'a Outcome,
    /// Groups that run at the lowest point by the releases since v0.4.0, if the mode is documented
    /// and fewer do.
    pub since_v0_4: Option<i64>,
    /// Whether the pods of each stage fit; `None` if no node reports its resources.
    pub fits: Option<&'a [bool]>,
    /// Findings about the rollout below severity error.
    pub notes: &'a [&'a Diagnostic],
    /// All findings, as JSON.
    pub found: &'a [Value],
    /// How it ends together with everything else, if nodes were read.
    pub components: Option<&'a [ComponentRollout]>,
    /// What else of the input loses its nodes.
    pub displaced: &'a [Displaced],
    /// What is open: nothing is confirmed.
    pub doubts: &'a Doubts,
    /// The text lists the requests of the controller too.
    pub lists_steps: bool,
    /// The sources that edits refer to.
    pub sources: &'a SourceMap,
}

impl Rollout<'_> {
    fn trace(&self) -> &Trace {
        &self.outcome.trace
    }

    /// The group whose pod has no node, together with everything else.
    fn stuck_group(&self) -> Option<i64> {
        roll::stuck_group(self.components?, &self.trace().serving)
    }

    fn group(&self, ordinal: i64) -> String {
        names::group(&self.trace().serving, ordinal).to_string()
    }

    /// Whether the roles of groups are scaled; otherwise groups are updated.
    fn is_scaling(&self) -> bool {
        self.trace().group_steps().next().is_some_and(|step| step.kind == Kind::Role)
    }

    /// One sentence about a row.
    fn note(&self, position: usize, words: &Wording) -> String {
        let rows = &self.trace().rows;
        let row = &rows[position];
        // The first row has nothing to be compared with.
        let Some(previous) = position.checked_sub(1).map(|before| &rows[before]) else {
            return "before the change".to_owned();
        };
        let named = |wanted: &dyn Fn(GroupCell, GroupCell) -> bool| {
            let places = row.groups.changed(&previous.groups, wanted);
            let all: Vec<i64> =
                places.into_iter().map(|place| self.trace().columns[place]).collect();
            (words.ordinals)(&all)
        };
        let done = named(&|was, is| is == GroupCell::Updated && was != GroupCell::Updated);
        let rolling = named(&|_, is| is == GroupCell::Rolling);
        match (done.is_empty(), rolling.is_empty()) {
            (true, true) => words.unchanged.to_owned(),
            // The row after the last stage is where it ends.
            (false, true) if row.stage.is_none() => format!("{done} {}; finished", words.done),
            (false, true) => format!("{done} {}", words.done),
            (true, false) => format!("{rolling} {}", words.doing),
            (false, false) => format!("{done} {}, {rolling} {}", words.done, words.doing),
        }
    }

    /// The wording of text.
    fn plain(&self) -> Wording {
        let (doing, done) =
            if self.is_scaling() { ("scaling", "scaled") } else { ("updating", "updated") };
        Wording { ordinals, doing, done, unchanged: "no group changes" }
    }

    /// The wording of JSON, which is that of the table in the document: `R-3 in progress`, and
    /// `G-3` if roles are scaled.
    fn documented(&self) -> Wording {
        let ordinals = if self.is_scaling() {
            |all: &[i64]| lettered('G', all)
        } else {
            |all: &[i64]| lettered('R', all)
        };
        let (doing, done) = ("in progress", "done");
        Wording { ordinals, doing, done, unchanged: "nothing changed in this row" }
    }

    /// Prefill and decode replicas per group, if both roles exist.
    fn ratio(&self) -> Option<(String, String)> {
        let ratio = |serving: &ModelServing| {
            let replicas = |name: &str| serving.role(name).map(|role| role.replicas.value);
            Some(format!("{}:{}", replicas("prefill")?, replicas("decode")?))
        };
        Some((ratio(self.from?)?, ratio(self.to)?))
    }

    /// The stage in which the lowest number of groups runs.
    fn lowest(&self) -> Option<&Capacity> {
        self.trace().capacity.iter().min_by_key(|capacity| capacity.groups)
    }

    fn gpus_at_peak(&self) -> i64 {
        self.trace()
            .capacity
            .iter()
            .map(|capacity| capacity.gpus)
            .max()
            .unwrap_or(0)
            // Before the change is no stage, and may be the peak.
            .max(self.outcome.gpus_before)
    }

    fn gpus_after(&self) -> i64 {
        self.trace().capacity.last().map_or(self.outcome.gpus_before, |capacity| capacity.gpus)
    }

    /// A number of GPUs, or unknown if GPUs are not counted.
    fn shown(&self, gpus: i64) -> Count {
        Some(gpus).filter(|_| self.outcome.gpus_known).into()
    }

    /// GPUs beyond the larger need before and after the change.
    fn gpus_extra(&self) -> i64 {
        // A larger target is no surge, since it stays.
        self.gpus_at_peak() - self.gpus_after().max(self.outcome.gpus_before)
    }

    /// Why the rollout stops, if it does.
    fn proof(&self) -> Option<String> {
        // The reason of the controller explains more than a stage that does not fit.
        if self.outcome.proof.is_some() {
            return self.outcome.proof.clone();
        }
        let position = self.fits?.iter().position(|fits| !fits)?;
        let capacity = self.trace().capacity.get(position)?;
        let waiting: Vec<String> =
            capacity.waits_for.iter().map(|ordinal| self.group(*ordinal)).collect();
        let held = if waiting.is_empty() {
            String::new()
        } else {
            format!("; some of {} stay Pending", waiting.join(", "))
        };
        Some(format!(
            "the {} pods of stage {} do not fit the nodes{held}",
            capacity.pods, capacity.stage
        ))
    }
}

/// Maximum number of ordinals with gaps that are named one by one.
const NAMED: usize = 16;

impl Rollout<'_> {
    fn capacity(&self, capacity: &Capacity) -> Value {
        let roles: Map<String, Value> = capacity
            .roles
            .iter()
            .map(|(role, count)| (self.trace().names.text(*role).to_string(), (*count).into()))
            .collect();
        let waits: Vec<String> =
            capacity.waits_for.iter().map(|ordinal| self.group(*ordinal)).collect();
        let mut out = json!({
            "stage": capacity.stage,
            "available": capacity.groups,
            "roles": roles,
            "gpus": self.shown(capacity.gpus),
            "pods": capacity.pods,
            "waitsFor": waits,
        });
        if let Some(fits) = self.fits.and_then(|fits| fits.get(capacity.stage as usize)) {
            out["fits"] = (*fits).into();
        }
        out
    }

    /// The capacity at the end of a row's stage.
    fn capacity_of(&self, row: &Row) -> Option<&Capacity> {
        self.trace().capacity.get(row.stage? as usize)
    }

    fn title(&self) -> String {
        format!(
            "{}/{} · mode: {} · kthena: {} · {}",
            self.to.namespace,
            self.to.name(),
            self.readings,
            self.profile,
            super::serving::strategy(self.to)
        )
    }

    /// Whether a row shows a group that does not exist yet, or does not exist any more.
    fn has_absent(&self) -> bool {
        self.trace()
            .rows
            .iter()
            .any(|row| row.groups.runs().any(|(_, (_, status))| status == GroupStatus::Absent))
    }

    /// The groups of a row, from the lowest ordinal on. They are named if they are not exactly
    /// those below `replicas`.
    fn columns(&self) -> String {
        let columns = &self.trace().columns;
        // The usual ones need no list: a reader expects them.
        let usual = columns.iter().copied().eq(0..self.to.replicas.value);
        match (columns.first(), columns.last()) {
            (Some(first), Some(last)) if !usual => {
                let gaps = columns.windows(2).any(|pair| pair[1] != pair[0] + 1);
                if gaps && columns.len() <= NAMED {
                    let names: Vec<String> = columns.iter().map(ToString::to_string).collect();
                    format!("from left to right groups {}", names.join(", "))
                } else {
                    format!("from left to right groups {first} to {last}")
                }
            }
            _ => "from left to right, group 0 first".to_owned(),
        }
    }

    /// The row as cells of a table: stage, groups, running, roles, GPUs, event.
    fn line(&self, position: usize) -> Vec<Cell> {
        let row = &self.trace().rows[position];
        let capacity = self.capacity_of(row);
        // A stuck stage is the last one.
        let last = self.outcome.stuck.is_none() && position + 1 == self.trace().rows.len();
        let stage = match row.stage {
            None if position == 0 => "before".to_owned(),
            Some(stage) if !last => stage.to_string(),
            _ => "after".to_owned(),
        };
        let roles = capacity.map_or_else(String::new, |capacity| {
            let words: Vec<String> = capacity
                .roles
                .iter()
                .map(|(role, count)| format!("{} {count}", self.trace().names.text(*role)))
                .collect();
            words.join(" ")
        });
        let gpus = capacity.map_or_else(
            || if position == 0 { self.outcome.gpus_before } else { self.gpus_after() },
            |capacity| capacity.gpus,
        );
        let is_short = self.fits.and_then(|fits| fits.get(row.stage? as usize)) == Some(&false);
        let note = self.note(position, &self.plain());
        let note = if is_short {
            Cell::bad(format_args!("does not fit the nodes: {note}"))
        } else {
            note.into()
        };
        row![
            stage,
            strip(row),
            row.available.to_string(),
            roles,
            self.shown(gpus).to_string(),
            note,
        ]
    }

    /// The summary, one sentence each; `most` is the highest severity of the notes in it.
    fn summary(&self, most: Severity) -> Vec<Cell> {
        let mut out: Vec<Cell> = Vec::new();
        let restarted = self.outcome.restarted;
        if let Some(lowest) = self.lowest() {
            // Before the change there may be more groups than after it.
            let total = self.to.replicas.value.max(self.outcome.available_before);
            out.push(format!(
                "groups running: at least {} of {total}, in stage {}; pods restarted: {restarted}",
                lowest.groups, lowest.stage
            ).into());
            if let Some(groups) = self.since_v0_4 {
                out.push(format!(
                    "kthena v0.4.0 and later update several groups at once: at least {groups} of {total} run"
                ).into());
            }
            let surge = match self.shown(self.gpus_extra()) {
                extra if extra == Count::from(0) => "no surge".to_owned(),
                extra => format!("a surge of {extra}"),
            };
            out.push(
                format!(
                    "GPUs: {} before, {} peak ({surge}), {} after",
                    self.shown(self.outcome.gpus_before),
                    self.shown(self.gpus_at_peak()),
                    self.shown(self.gpus_after())
                )
                .into(),
            );
        } else {
            let nothing = if self.outcome.templates_changed {
                "no pod is recreated although the templates changed"
            } else {
                "nothing to do"
            };
            out.push(nothing.into());
        }
        // More severe ones are printed as findings beside the text.
        let notes = self.notes.iter().filter(|note| note.severity <= most);
        out.extend(notes.map(|note| note.message.as_str().into()));
        if let Some((from, to)) = self.ratio().filter(|(from, to)| from != to) {
            out.push(format!("prefill:decode per group: {from} to {to}").into());
        }
        if let Some(recovery) = &self.outcome.recovery {
            let lost: Vec<String> = recovery
                .restarted
                .iter()
                .filter(|(_, pods)| *pods > 0)
                .map(|(ordinal, count)| {
                    format!("{} of {}", plural(*count, "pod"), self.group(*ordinal))
                })
                .collect();
            let lost = if lost.is_empty() { "no pod".to_owned() } else { lost.join(", ") };
            out.push(format!("recovery by {}: {lost} restarted", recovery.policy.as_str()).into());
            // Without a grace period, the restart follows at once, and there is no condition.
            if recovery.escalation.is_none() && recovery.grace_seconds > 0 {
                out.push(
                    format!(
                        "this happens if the pod is not ready within restartGracePeriodSeconds={}",
                        recovery.grace_seconds
                    )
                    .into(),
                );
            }
            if let Some((seconds, count)) = recovery.escalation {
                out.push(format!("after restartGracePeriodSeconds={seconds} the whole group restarts, {} (the document names no period)", plural(count, "pod")).into());
            }
        }
        if let Some(stuck) = self.outcome.stuck {
            out.push(Cell::bad(format_args!("stuck: {} does not run", self.group(stuck))));
        }
        out.extend(self.proof().map(Cell::from));
        out
    }

    /// What does not complete, and what else loses its nodes.
    fn end(&self) -> impl Iterator<Item = Cell> {
        roll::unfinished(self.components.unwrap_or_default())
            .flat_map(|component| roll::sentences(component, self.sources, self.doubts))
            .chain(roll_all::others(
                self.components.unwrap_or_default(),
                self.displaced,
                self.doubts,
            ))
    }

    /// The requests of the controller in order, one per line.
    fn steps_text(&self) -> String {
        let mut out = Page::default();
        for event in self.trace().requests() {
            line!(
                out,
                "{:>5}  {:<7} {:<9} {}  ({})",
                event.stage,
                event.action.as_str(),
                event.kind.as_str(),
                self.trace().name(event),
                event.reason
            );
        }
        out.finish()
    }

    /// How a component ends that does not complete.
    fn unfinished(&self) -> Option<RollEnd> {
        roll::unfinished(self.components?).next().map(|component| component.end)
    }

    /// How it ends, in one sentence.
    fn verdict(&self) -> Cell {
        let name = self.to.name();
        let short = self.fits.is_some_and(|fits| fits.contains(&false));
        match self.outcome.stuck {
            Some(stuck) => {
                let group = self.group(stuck);
                Cell::bad(format_args!("{name} is stuck: {group} does not run"))
            }
            None if short => Cell::bad(format_args!("{name}: not all stages fit the nodes")),
            None if self.trace().rows.is_empty() => format!("{name}: nothing to do").into(),
            // A placement with everything else may end otherwise than the groups alone.
            None => match self.unfinished() {
                Some(RollEnd::Stuck) => {
                    Cell::bad(format_args!("{name} is stuck: a pod has no node"))
                }
                Some(RollEnd::Displaced) => {
                    Cell::bad(format_args!("{name} no longer fits its nodes"))
                }
                Some(RollEnd::MayLose) => {
                    Cell::warn(format_args!("{name} may no longer fit its nodes"))
                }
                Some(RollEnd::Waits) => Cell::warn(format_args!("{name}: pods wait as before")),
                Some(RollEnd::Depends) => Cell::warn(format_args!(
                    "{name}: whether it completes hangs on a choice among equals"
                )),
                _ if !self.doubts.is_certain() => {
                    let why = doubts::end(self.doubts);
                    Cell::warn(format_args!("{name}: the update completes{why}"))
                }
                Some(
                    RollEnd::Complete
                    | RollEnd::NothingToDo
                    | RollEnd::Paused
                    | RollEnd::OnDelete
                    | RollEnd::NotJudged,
                )
                | None => Cell::good(format_args!("{name}: the update completes")),
            },
        }
    }
}

impl Answer for Rollout<'_> {
    fn json(&self) -> impl Serialize {
        self
    }

    /// The timeline as text.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let mut out = Page::default();
        put!(out, "{}\n\n", self.title());
        let rows = &self.trace().rows;
        if !rows.is_empty() {
            let titles = ["STAGE", "GROUPS", "RUNNING", "READY REPLICAS", "GPUS", "WHAT HAPPENS"];
            let lines = (0..rows.len()).map(|position| self.line(position));
            let mut drawn = table(&titles, lines, style);
            drawn.push_str(if self.has_absent() { "· absent  " } else { "" });
            drawn.push_str("○ old  ◐ updating  ● updated");
            out.draw(&with_signs(&drawn, style.color));
            put!(out, "; {}\n\n", self.columns());
        }
        for line in self.summary(Severity::Info) {
            out.draw(&line.shown(style.color));
            out.end_line();
        }
        for sentence in self.end() {
            out.draw(&sentence.text);
            out.end_line();
        }
        if self.lists_steps {
            out.end_line();
            out.draw(&self.steps_text());
        }
        draw(&out.finish())
    }

    /// A table for a pull request comment.
    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        put!(out, "**ome rollout** {}\n\n", markdown::text(&self.title()));
        let count = self.trace().rows.len();
        if count > 0 {
            let titles = ["stage", "groups", "running", "ready replicas", "GPUs", "what happens"];
            markdown::table(&mut out, &titles, (0..count).map(|position| self.line(position)));
            out.push_str(if self.has_absent() { "\n· absent, " } else { "\n" });
            put!(out, "○ old, ◐ updating, ● updated; {}\n\n", self.columns());
        }
        markdown::list(&mut out, self.summary(Severity::Warning));
        for sentence in self.end() {
            out.draw(&markdown::lines(&sentence.text));
        }
        Ok(out.finish())
    }

    /// A single page without external resources.
    fn html(&self) -> Result<String, String> {
        let row = |position: usize| {
            let row = &self.trace().rows[position];
            let groups = row.groups.iter().enumerate().map(|(index, (cell, status))| {
                let name = self.group(self.trace().columns[index]);
                json!({ "kind": cell.as_str(), "sign": sign((cell, status)), "title": format!("{name}: {}", status.as_str()) })
            });
            let groups: Vec<Value> =
                // One mark for each group would be wider than any screen.
                if row.groups.len() > LONG { Vec::new() } else { groups.collect() };
            json!({ "cells": self.line(position), "label": strip(row), "groups": groups })
        };
        let rows: Vec<Value> = (0..self.trace().rows.len()).map(row).collect();
        let data = json!({
            "name": self.to.name().as_str(),
            "summary": self.verdict(),
            "title": self.title(),
            "titles": ["stage", "groups", "running", "ready replicas", "GPUs", "what happens"],
            "rows": rows,
            "lines": self.summary(Severity::Warning),
        });
        fill("rollout.html", include_str!("../page/rollout.html"), &data)
    }
}

/// Rows with more groups are shown as counted runs.
const LONG: usize = 48;

/// The sign of a group, as explained in the legend.
fn sign(group: (GroupCell, GroupStatus)) -> char {
    match group {
        (_, GroupStatus::Absent) => '·',
        (GroupCell::Old, _) => '○',
        (GroupCell::Rolling, _) => '◐',
        (GroupCell::Updated, _) => '●',
    }
}

/// The groups of a row, one sign each; a long row is shown as counted runs.
fn strip(row: &Row) -> String {
    if row.groups.len() <= LONG {
        return row.groups.iter().map(sign).collect();
    }
    let mut runs: Vec<(char, usize)> = Vec::new();
    // Runs that differ in what is not shown join.
    for (count, sign) in row.groups.runs().map(|(count, group)| (count, sign(group))) {
        match runs.last_mut() {
            Some((last, existing)) if *last == sign => *existing += count,
            _ => runs.push((sign, count)),
        }
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(sign, count)| if *count == 1 { sign.to_string() } else { format!("{sign}×{count}") })
        .collect();
    words.join(" ")
}

/// The wording of a row.
struct Wording {
    ordinals: fn(&[i64]) -> String,
    doing: &'static str,
    done: &'static str,
    unchanged: &'static str,
}

/// `R-3`, `R-3, R-2`, `R-9 to R-4`.
fn lettered(letter: char, all: &[i64]) -> String {
    let name = |ordinal: &i64| format!("{letter}-{ordinal}");
    match all {
        // A run goes down, since the controller replaces the highest ordinal first.
        [first, .., last] if is_long_run(all) => format!("{} to {}", name(last), name(first)),
        _ => all.iter().rev().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// Whether these are more than three consecutive ordinals.
fn is_long_run(all: &[i64]) -> bool {
    match all {
        [first, .., last] => {
            all.len() > 3 && last - first == i64::try_from(all.len()).unwrap_or(0) - 1
        }
        _ => false,
    }
}

/// `group 3`, `groups 3, 2`, `groups 4 to 9`.
fn ordinals(all: &[i64]) -> String {
    match all {
        [] => String::new(),
        [one] => format!("group {one}"),
        [first, .., last] if is_long_run(all) => format!("groups {first} to {last}"),
        // In the order in which they are replaced.
        _ => {
            let names: Vec<String> = all.iter().rev().map(ToString::to_string).collect();
            format!("groups {}", names.join(", "))
        }
    }
}
