//! `ome drain`: which pods move, in which order, and what blocks them.

use super::answer::Answer;
use super::cell::{Cell, Meaning, row};
use super::fill::fill;
use super::losses::owners;
use super::phrases::{first_of, plural};
use super::screen::Draw;
use super::sheet::Sheet;
use super::table::Style;
use super::{SCHEMA_VERSION, doubts, findings, map};
use crate::diag::Diagnostic;
use crate::pipeline::{Drain, DrainStage, Drained, Move};
use crate::policy::Readings;
use crate::source::SourceMap;
use ecow::EcoString;
use serde_json::{Value, json};
use std::io;

/// Moves, and stages, that a page shows one by one.
const SHOWN: usize = 100;
/// Names in a sentence and in a cell.
const NAMED: usize = 12;
const IN_CELL: usize = 3;

const MOVES: [&str; 3] = ["POD", "FROM", "TO"];
const STAGES: [&str; 7] =
    ["STEP", "NODE", "EVICTED", "REFUSED", "READY", "PENDING", "DISRUPTED SERVICES"];

/// An answer with everything that is needed to show it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The answer.
    pub drain: &'a Drain,
    /// The mode.
    pub readings: Readings,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
    /// A part of the input was not read, or a finding is an error.
    pub fails: bool,
}

impl View<'_> {
    /// The page for a terminal or a comment.
    fn page(&self) -> Sheet {
        let mut page = Sheet::titled("**ome drain** ", self.first());
        if !self.drain.moves.is_empty() {
            page.table(&MOVES, self.moves());
        }
        if !self.drain.stages.is_empty() {
            page.table(&STAGES, self.stages());
        }
        let last = self.last().text;
        for message in self.left_out().into_iter().chain(self.sentences()).chain([last]) {
            page.paragraph(message);
        }
        page
    }

    fn end(&self) -> &'static str {
        if self.drain.blocked.is_some() { "blocked" } else { "complete" }
    }

    /// What is drained and from where, in a sentence.
    fn first(&self) -> String {
        let from = if self.drain.runs {
            "the pods that run"
        } else {
            "the input as it would be placed: no pod runs in it"
        };
        let nodes = match self.drain.nodes.len() {
            0 => "no node".to_owned(),
            _ => first_of(self.drain.nodes.iter(), NAMED),
        };
        format!("drain {nodes}, from {from}")
    }

    /// The bound in words.
    fn bound(&self) -> String {
        let position = self.drain.nodes.len();
        // A bound is worth a word only where the search stopped below it, or reached it.
        match self.drain.bound {
            Some(bound) if self.drain.drained == Drained::Most && bound > position => {
                format!("; no more than {bound} could")
            }
            Some(bound)
                if self.drain.drained == Drained::Most && bound == position && position > 0 =>
            {
                "; no more could".to_owned()
            }
            _ => String::new(),
        }
    }

    /// The answer in a sentence.
    fn last(&self) -> Cell {
        let drain = self.drain;
        let moves = match drain.moves.len() {
            0 => "no pod moves".to_owned(),
            1 => "1 pod moves".to_owned(),
            many => format!("{many} pods move"),
        };
        if let Some(blocked) = &drain.blocked {
            return Cell::bad(format_args!(
                "blocked at {} after {} of {}: {}: {}",
                blocked.node,
                drain.done,
                plural(drain.nodes.len(), "node"),
                blocked.pod,
                blocked.message
            ));
        }
        let count = plural(drain.nodes.len(), "node");
        let waiting = drain.waiting[1].len();
        let waits = match waiting {
            0 => String::new(),
            1 => "; 1 pod waits as before".to_owned(),
            many => format!("; {many} pods wait as before"),
        };
        let sentence = match &drain.drained {
            // A drain that was asked for by name must place every pod; others choose their nodes.
            Drained::Named(_) => {
                let placed = match (drain.moves.len(), waiting) {
                    (_, 0) => ", and every pod has a node",
                    (0, _) => "",
                    (1, _) => ", and it has a node",
                    _ => ", and each has a node",
                };
                format!("{count} drained; {moves}{placed}")
            }
            Drained::Count(wanted) if drain.nodes.len() < *wanted => {
                let more = match drain.bound {
                    Some(bound) if bound < *wanted => {
                        format!("no more than {bound} could, by capacity")
                    }
                    _ => "no more were found".to_owned(),
                };
                format!("{count} can go, not {wanted}; {more}; {moves}")
            }
            Drained::Count(_) | Drained::Most => format!("{count} can go{}; {moves}", self.bound()),
        };
        let is_done = drain.is_complete() && !self.fails;
        let is_open = drain.assumed.iter().any(|toleration| toleration.decides);
        let is_empty = drain.returns.is_empty();
        let meaning = match (is_done, drain.not_judged.is_empty() && !is_open && is_empty) {
            (true, true) => Meaning::Good,
            (true, false) => Meaning::Attention,
            (false, _) => Meaning::Bad,
        };
        Cell::marked(meaning, format_args!("{sentence}{waits}"))
    }

    /// The sentences between the tables and the last one.
    fn sentences(&self) -> Vec<String> {
        let drain = self.drain;
        let mut message: Vec<String> = doubts::assumed(&drain.assumed).collect();
        message.extend(doubts::lines(&drain.not_judged, NAMED));
        if !drain.returns.is_empty() {
            let (pods, do_so) = match drain.returns.len() {
                1 => ("1 pod comes".to_owned(), "it tolerates"),
                many => (format!("{many} pods come"), "they tolerate"),
            };
            let names = first_of(drain.returns.iter(), NAMED);
            message.push(format!(
                "{pods} back to a node that is drained, as {do_so} the taint of a cordon: {names}"
            ));
        }
        if drain.restarts > 0 {
            message.push(match drain.restarts {
                1 => "1 pod on another node restarts: its group restarts as a whole".to_owned(),
                many => {
                    format!("{many} pods on other nodes restart: their groups restart as a whole")
                }
            });
        }
        match drain.preempted {
            0 => {}
            1 => message.push("1 pod on another node is evicted: its priority is lower".to_owned()),
            many => message
                .push(format!("{many} pods on other nodes are evicted: their priority is lower")),
        }
        if drain.guided {
            message.push(
                "the scheduler alone would spread the pods so that the last ones find no room: \
                 while a pod starts, cordon every node but the one in TO"
                    .to_owned(),
            );
        }
        if let Some(fix) = &drain.fix {
            message.push(format!("{}: then the drain completes", fix.edit));
        } else if drain.blocked.is_some() {
            message.push("no single edit was found that gets the drain through".to_owned());
        }
        // A guided drain needs more than one command, and its sentence says so.
        if !drain.nodes.is_empty() && drain.blocked.is_none() && !drain.guided {
            message.push(format!(
                "kubectl drain {} --ignore-daemonsets --delete-emptydir-data",
                drain.nodes.iter().map(EcoString::as_str).collect::<Vec<_>>().join(" ")
            ));
        }
        message
    }

    // Both tables are cut: a drain of a rack moves thousands of pods.
    fn moves(&self) -> impl Iterator<Item = Vec<Cell>> + '_ {
        let cells = |step: &Move| row![&step.pod, &step.from, &step.to];
        self.drain.moves.iter().take(SHOWN).map(cells)
    }

    fn stages(&self) -> impl Iterator<Item = Vec<Cell>> + '_ {
        self.drain.stages.iter().take(SHOWN).map(|stage| {
            let refused = stage.refused.iter().map(|(pod, _)| pod);
            row![
                stage.tick.to_string(),
                stage.node.to_string(),
                counted(stage.evicted.iter()),
                counted(refused),
                stage.ready.to_string(),
                stage.pending.to_string(),
                first_of(stage.disrupted.iter(), IN_CELL),
            ]
        })
    }

    /// What the tables leave out.
    fn left_out(&self) -> Option<String> {
        let (moves, stages) = (self.drain.moves.len(), self.drain.stages.len());
        let more = |count: usize, what: &str| {
            (count > SHOWN).then(|| format!("{} more {what}", count - SHOWN))
        };
        let parts = [more(moves, "moves"), more(stages, "steps")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{}: `-o json` has all", parts.join(", ")))
    }
}

/// `3: a, b, c`, or nothing.
fn counted<'a>(names: impl ExactSizeIterator<Item = &'a EcoString>) -> String {
    if names.len() == 0 { String::new() } else { first_of(names, IN_CELL) }
}

fn move_json(step: &Move) -> Value {
    json!({ "pod": step.pod.as_str(), "from": step.from.as_str(), "to": step.to.as_str() })
}

fn stage_json(stage: &DrainStage) -> Value {
    json!({
        "tick": stage.tick,
        "node": stage.node.as_str(),
        "evicted": owners(&stage.evicted),
        "refused": stage.refused.iter().map(|(pod, why)| json!({ "pod": pod.as_str(), "message": why.as_str() })).collect::<Vec<_>>(),
        "ready": stage.ready,
        "starting": stage.starting,
        "pending": stage.pending,
        "disrupted": owners(&stage.disrupted),
    })
}

impl Answer for View<'_> {
    fn json(&self) -> impl serde::Serialize {
        let outcome = self.drain;
        let mut drain = json!({
            "nodes": owners(&outcome.nodes),
            "done": outcome.done,
            "moves": outcome.moves.iter().map(move_json).collect::<Vec<_>>(),
            "restarts": outcome.restarts,
            "preempted": outcome.preempted,
            "stages": outcome.stages.iter().map(stage_json).collect::<Vec<_>>(),
            "end": self.end(),
            "guided": outcome.guided,
        });
        if let Some(blocked) = &outcome.blocked {
            drain["blocked"] = json!({
                "node": blocked.node.as_str(),
                "pod": blocked.pod.as_str(),
                "by": blocked.by,
                "message": blocked.message.as_str(),
            });
        }
        if let Some(fix) = &outcome.fix {
            drain["fix"] = json!({
                "edit": fix.edit.as_str(),
                "moves": fix.moves.iter().map(move_json).collect::<Vec<_>>(),
            });
        }
        if let Some(bound) = outcome.bound {
            drain["bound"] = bound.into();
        }
        if !outcome.not_judged.is_empty() {
            drain["notJudged"] = doubts::not_judged_json(&outcome.not_judged);
        }
        if !outcome.returns.is_empty() {
            drain["returns"] = owners(&outcome.returns).into();
        }
        if !outcome.assumed.is_empty() {
            drain["assumed"] = doubts::assumed_json(&outcome.assumed);
        }
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "drain": drain,
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        })
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        draw(&self.page().text(style))
    }

    fn markdown(&self) -> Result<String, String> {
        Ok(self.page().markdown())
    }

    fn html(&self) -> Result<String, String> {
        let picture = |at: usize| map::picture(&self.drain.maps[at], &self.drain.waiting[at]);
        let data = json!({
            "first": self.first(),
            "last": self.last(),
            "said": self.left_out().into_iter().chain(self.sentences()).map(Cell::from).collect::<Vec<_>>(),
            "moveTitles": MOVES.map(str::to_lowercase),
            "moves": self.moves().collect::<Vec<_>>(),
            "stageTitles": STAGES.map(str::to_lowercase),
            "stages": self.stages().collect::<Vec<_>>(),
            "before": picture(0),
            "after": picture(1),
        });
        fill("drain.html", include_str!("page/drain.html"), &data)
    }
}
