//! The rollout of a whole fleet: how many services change, how each ends, and the edits that
//! complete stuck updates.

use super::answer::Answer;
use super::cell::{Cell, Meaning, row};
use super::fill::fill;
use super::markdown;
use super::phrases::{first_of, plural};
use super::screen::{Draw, Page, line, put};
use super::table::{self, Style};
use super::{SCHEMA_VERSION, doubts, findings, roll};
use crate::diag::Diagnostic;
use crate::pipeline::{ComponentRollout, Doubts, RollEnd, ServiceRollout, peak_gpus};
use crate::policy::Readings;
use crate::source::SourceMap;
use ecow::EcoString;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;

const TITLES: [&str; 8] =
    ["SERVICE", "COMPONENT", "KIND", "STRATEGY", "STAGES", "READY AT LEAST", "GPUS AT MOST", "END"];

/// Number of services to name in a sentence, and of lines about what is not judged.
pub(super) const NAMED: usize = 3;

/// The simulated rollout of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct All<'a> {
    /// The mode: documented or controller.
    pub readings: Readings,
    /// InferenceServices, ModelServings and other workloads.
    pub services: &'a [ServiceRollout],
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that findings refer to.
    pub sources: &'a SourceMap,
    /// The input has errors.
    pub failed: bool,
    /// What is open: nothing is confirmed.
    pub doubts: &'a Doubts,
}

/// A service or another workload that does not change and whose pods lose their nodes.
#[derive(Clone, Debug)]
pub struct Displaced {
    name: String,
    component: Option<&'static str>,
    pods: i64,
    /// Pods that waited before, on the same nodes: it did not fit before, and more of it wait now.
    waited: Option<i64>,
    message: String,
    evicted_by: Vec<EcoString>,
    /// A choice among equals decides.
    perhaps: bool,
}

/// All of them.
pub fn displaced<'a>(services: impl IntoIterator<Item = &'a ServiceRollout>) -> Vec<Displaced> {
    let of_service = |rollout: &'a ServiceRollout| {
        let lost = rollout.components.iter().filter(|component| {
            matches!(component.end, RollEnd::Displaced | RollEnd::MayLose)
                || component.waited_less().is_some()
        });
        lost.map(|component| Displaced {
            name: rollout.full_name(),
            // The only component of a workload has its name.
            component: rollout.api.is_of_operator().then_some(component.component),
            pods: component.pending(),
            waited: component.waited_less(),
            message: component
                .stuck
                .as_ref()
                .map_or_else(String::new, |stuck| stuck.message.to_string()),
            evicted_by: component.evicted_by.clone(),
            perhaps: component.end == RollEnd::MayLose,
        })
    };
    services.into_iter().flat_map(of_service).collect()
}

impl Displaced {
    /// As a sentence.
    pub(super) fn sentence(&self) -> Cell {
        let component = self.component.map_or(String::new(), |component| format!(" {component}"));
        let (name, message) = (&self.name, &self.message);
        let evicted = roll::evicted_by(&self.evicted_by);
        match self.waited {
            Some(waited) => Cell::warn(format_args!(
                "more pods wait: {name}{component}: {}, {} before: {}",
                plural(self.pods, "pod"),
                roll::none_or(waited),
                format_args!("{evicted}{message}")
            )),
            None if self.perhaps => Cell::warn(format_args!(
                "{}: {name}{component}: {evicted}{message}",
                roll::MAY_LOSE_IT
            )),
            None => {
                Cell::bad(format_args!("no longer fits: {name}{component}: {evicted}{message}"))
            }
        }
    }

    /// Whether it had its nodes before.
    pub fn is_loss(&self) -> bool {
        self.waited.is_none() && !self.perhaps
    }

    pub(super) fn json(&self) -> Value {
        let mut out = json!({ "name": self.name, "pods": self.pods, "message": self.message });
        if let Some(component) = self.component {
            out["component"] = component.into();
        }
        if let Some(waited) = self.waited {
            out["waited"] = waited.into();
        }
        if !self.evicted_by.is_empty() {
            out["evictedBy"] = self.evicted_by.iter().map(EcoString::as_str).collect();
        }
        if self.perhaps {
            out["ends"] = roll::MAY_LOSE.map(RollEnd::as_str).to_vec().into();
        }
        out
    }
}

/// What else loses its nodes, and what is open, one sentence each.
pub(super) fn others(
    components: &[ComponentRollout],
    displaced: &[Displaced],
    doubts: &Doubts,
) -> Vec<Cell> {
    let lost = displaced.iter().map(Displaced::sentence);
    lost.chain(doubts::sentences(doubts, components, NAMED)).collect()
}

/// The same as text below the components.
pub(super) fn others_into(
    out: &mut Page,
    components: &[ComponentRollout],
    displaced: &[Displaced],
    doubts: &Doubts,
    style: Style,
) {
    let others = others(components, displaced, doubts);
    for sentence in &others {
        out.end_line();
        out.draw(&sentence.shown(style.color));
    }
    if !others.is_empty() {
        out.end_line();
    }
}

/// The same as Markdown.
pub(super) fn others_into_markdown(
    out: &mut Page,
    components: &[ComponentRollout],
    displaced: &[Displaced],
    doubts: &Doubts,
) {
    let others = others(components, displaced, doubts);
    if !others.is_empty() {
        out.end_line();
        markdown::list(out, others);
    }
}

impl All<'_> {
    fn displaced(&self) -> Vec<Cell> {
        displaced(self.services).iter().map(Displaced::sentence).collect()
    }

    /// What is open, one sentence each.
    fn open(&self) -> Vec<Cell> {
        doubts::sentences(self.doubts, self.changed().map(|(_, component)| component), NAMED)
    }

    /// Changed components, with their services.
    fn changed(&self) -> impl Iterator<Item = (&ServiceRollout, &ComponentRollout)> {
        self.services.iter().flat_map(|service| {
            let changed = service.components.iter().filter(|component| component.end.is_change());
            changed.map(move |component| (service, component))
        })
    }

    fn is_changed(service: &ServiceRollout) -> bool {
        service.components.iter().any(|component| component.end.is_change())
    }

    /// Without the other workloads, which are listed only where their pods lose their nodes.
    fn of_operators(&self) -> impl Iterator<Item = &ServiceRollout> {
        self.services.iter().filter(|rollout| rollout.api.is_of_operator())
    }

    /// Number of services and other workloads whose pods lose their nodes.
    pub fn lost(&self) -> usize {
        self.services.iter().filter(|rollout| roll::is_displaced(&rollout.components)).count()
    }

    /// Number of those that may lose them, by a choice among equals.
    fn perhaps_lost(&self) -> usize {
        self.services.iter().filter(|rollout| roll::may_lose(&rollout.components)).count()
    }

    fn waits(service: &ServiceRollout) -> bool {
        service.components.iter().any(|component| component.end == RollEnd::Waits)
    }

    /// Those of which more pods wait than before have a line of their own.
    fn waits_as_before(service: &ServiceRollout) -> bool {
        let mut waiting =
            service.components.iter().filter(|component| component.end == RollEnd::Waits);
        waiting.any(|component| component.waited_less().is_none())
    }

    /// The services that do not change and have pods without a node.
    fn waiting(&self) -> Option<String> {
        let all: Vec<String> = self
            .services
            .iter()
            // A service that changes is in the table, with its pods that wait.
            .filter(|service| Self::waits_as_before(service) && !Self::is_changed(service))
            .map(ServiceRollout::full_name)
            .collect();
        if all.is_empty() {
            return None;
        }
        let verb = if all.len() == 1 { "waits" } else { "wait" };
        Some(format!("{verb} as before: {}", first_of(all.into_iter(), NAMED)))
    }

    /// Number of services with a stuck update.
    pub fn stuck(&self) -> usize {
        self.services.iter().filter(|service| roll::is_stuck(&service.components)).count()
    }

    /// Numbers of changed services, and of changed workloads that no operator writes.
    fn changed_counts(&self) -> (usize, usize) {
        let changed = self.services.iter().filter(|service| Self::is_changed(service));
        let (services, workloads): (Vec<_>, Vec<_>) =
            changed.partition(|rollout| rollout.api.is_of_operator());
        (services.len(), workloads.len())
    }

    /// "2 of 7 services change", "1 other workload changes".
    fn changes(&self) -> String {
        let (changed, workloads) = self.changed_counts();
        let verb = |count: usize| if count == 1 { "changes" } else { "change" };
        let services = self.of_operators().count();
        let of_services = format!("{changed} of {} {}", plural(services, "service"), verb(changed));
        match (services, workloads) {
            (0, 0) => "no workload changes".to_owned(),
            (_, 0) => of_services,
            (0, _) => format!("{} {}", plural(workloads, "workload"), verb(workloads)),
            _ => {
                let workloads =
                    format!("{} {}", plural(workloads, "other workload"), verb(workloads));
                format!("{of_services}, {workloads}")
            }
        }
    }

    /// Whether nothing is confirmed of a component that changes.
    fn is_open(&self) -> bool {
        let open = [RollEnd::Depends, RollEnd::Paused, RollEnd::OnDelete, RollEnd::NotJudged];
        self.changed().any(|(_, component)| open.contains(&component.end))
    }

    fn summary(&self) -> Cell {
        let failed = self.services.iter().filter(|service| service.is_in_error()).count();
        let without_presets =
            self.services.iter().filter(|service| service.is_without_presets()).count();
        let stuck = match self.stuck() {
            0 => "none is stuck".to_owned(),
            1 => "1 is stuck".to_owned(),
            stuck => format!("{stuck} are stuck"),
        };
        let depends =
            self.services.iter().filter(|service| roll::depends(&service.components)).count();
        let meaning = match self.is_open() {
            // Errors outweigh everything: no ✓ may stand in one line with them.
            _ if failed > 0 || self.failed || self.stuck() > 0 || self.lost() > 0 => Meaning::Bad,
            // Pods without a node are not confirmed, although nothing of them changes.
            false
                if self.doubts.is_certain()
                    && self.perhaps_lost() + without_presets == 0
                    && !self.services.iter().any(Self::waits) =>
            {
                Meaning::Good
            }
            _ => Meaning::Attention,
        };
        if self.services.is_empty() && meaning == Meaning::Good {
            // Nothing was simulated, so that nothing is confirmed.
            return "nothing to play: no service and no workload was read".into();
        }
        let mut out = format!(
            "{}; {stuck}; at most {} in use",
            self.changes(),
            plural(peak_gpus(self.services), "GPU")
        );
        if depends > 0 {
            let _ = write!(out, "; {depends} may get stuck");
        }
        let ends = |end: RollEnd| self.changed().filter(|(_, one)| one.end == end).count();
        for (end, words) in [
            (RollEnd::Paused, "paused"),
            (RollEnd::OnDelete, "updated only when its pods are deleted"),
            (RollEnd::NotJudged, "not judged"),
        ] {
            match ends(end) {
                0 => {}
                count => _ = write!(out, "; {count} {words}"),
            }
        }
        match self.lost() {
            0 => {}
            1 => out.push_str("; 1 no longer fits"),
            lost => _ = write!(out, "; {lost} no longer fit"),
        }
        match self.perhaps_lost() {
            0 => {}
            perhaps => _ = write!(out, "; {perhaps} may no longer fit"),
        }
        match without_presets {
            0 => {}
            1 => out.push_str("; 1 not judged without its presets"),
            more => _ = write!(out, "; {more} not judged without their presets"),
        }
        // One reason is enough, and an unread part explains errors that follow from it.
        if self.doubts.incomplete {
            out.push_str("; a part of the input was not read");
        } else if self.failed && failed == 0 {
            out.push_str("; the input has errors");
        } else {
            out.push_str(doubts::end(self.doubts));
        }
        if failed > 0 {
            let is = if failed == 1 { "is" } else { "are" };
            let _ = write!(out, "; {} in error {is} left unchanged", plural(failed, "service"));
        }
        Cell::marked(meaning, out)
    }

    /// A sentence without its sign where nothing is confirmed.
    fn unconfirmed(&self, sentence: Cell) -> Cell {
        roll::unconfirmed(sentence, self.doubts)
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        let row = |(service, component): (&ServiceRollout, &ComponentRollout)| {
            row![
                service.full_name(),
                component.component,
                component.kind,
                component.strategy,
                component.stages.len().to_string(),
                component.lowest_ready.to_string(),
                component.peak_gpus.to_string(),
                self.unconfirmed(roll::end(component.end)),
            ]
        };
        self.changed().map(row).collect()
    }

    fn sentences(&self, component: &ComponentRollout) -> Vec<Cell> {
        roll::sentences(component, self.sources, self.doubts)
    }

    /// The stuck components: their names, and the sentences about each.
    fn sentences_of_each(&self) -> Vec<(String, Vec<Cell>)> {
        let is_said = |end| {
            let is_unrolled = matches!(end, RollEnd::Paused | RollEnd::OnDelete);
            is_unrolled || matches!(end, RollEnd::Stuck | RollEnd::Depends | RollEnd::NotJudged)
        };
        let stuck = self.changed().filter(|(_, component)| is_said(component.end));
        let sentences = |(service, component): (&ServiceRollout, &ComponentRollout)| {
            (format!("{} {}", service.full_name(), component.component), self.sentences(component))
        };
        stuck.map(sentences).collect()
    }
}

impl Answer for All<'_> {
    /// Services that do not change are counted, not listed.
    fn json(&self) -> impl serde::Serialize {
        let listed = self.of_operators().filter(|rollout| {
            let lost =
                roll::is_displaced(&rollout.components) || roll::may_lose(&rollout.components);
            Self::is_changed(rollout) || Self::waits(rollout) || lost || rollout.error.is_some()
        });
        // Workloads of no operator that do not change are listed only if they lose a node.
        let others = self.services.iter().filter(|rollout| !rollout.api.is_of_operator());
        let (changing, others): (Vec<_>, Vec<_>) = others.partition(|one| Self::is_changed(one));
        let others = others
            .into_iter()
            .filter(|rollout| !displaced([*rollout]).is_empty() || Self::waits(rollout));
        let other = |rollout: &ServiceRollout| {
            let component = rollout.components.first();
            let stage = component.and_then(|component| component.stages.last());
            let stuck = component.and_then(|component| component.stuck.as_ref());
            displaced([rollout]).first().map_or_else(
                || {
                    json!({
                        "name": rollout.full_name(),
                        "pods": stage.map_or(0, |stage| stage.new.pending),
                        "message": stuck.map_or("", |stuck| stuck.message.as_str()),
                    })
                },
                Displaced::json,
            )
        };
        let service = |rollout: &ServiceRollout| {
            let components =
                rollout.components.iter().map(|component| roll::json(component, self.sources));
            let mut out = json!({
                "namespace": rollout.namespace.as_str(),
                "name": rollout.name.as_str(),
                "api": rollout.api.as_str(),
                "components": components.collect::<Vec<_>>(),
            });
            if let Some(error) = &rollout.error {
                out["error"] = json!({ "code": error.code.as_str(), "message": error.message });
            }
            out
        };
        let workload = |rollout: &&ServiceRollout| {
            let components =
                rollout.components.iter().map(|component| roll::json(component, self.sources));
            json!({
                "kind": rollout.components.first().map(|component| component.kind),
                "namespace": rollout.namespace.as_str(),
                "name": rollout.name.as_str(),
                "components": components.collect::<Vec<_>>(),
            })
        };
        let (changed, workloads) = self.changed_counts();
        let mut out = json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "totals": {
                "services": self.of_operators().count(),
                "changed": changed,
                "workloads": workloads,
                "stuck": self.stuck(),
                "noLongerFit": self.lost(),
                "peakGpus": peak_gpus(self.services),
            },
            "services": listed.map(service).collect::<Vec<_>>(),
            "workloads": changing.iter().map(workload).collect::<Vec<_>>(),
            "otherWorkloads": others.map(other).collect::<Vec<_>>(),
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        });
        for (key, open) in doubts::keys(self.doubts) {
            out[key] = open;
        }
        out
    }

    /// A table of changed components, then the stuck ones.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let mut out = Page::default();
        let rows = self.rows();
        if !rows.is_empty() {
            out.draw(&table::table(&TITLES, rows, style));
            out.end_line();
        }
        for (component, sentences) in self.sentences_of_each() {
            line!(out, "{component}");
            for sentence in sentences {
                out.push_str("  ");
                out.draw(&sentence.shown(style.color));
                out.end_line();
            }
            out.end_line();
        }
        for lost in self.displaced() {
            out.draw(&lost.shown(style.color));
            out.end_line();
        }
        if let Some(waiting) = self.waiting() {
            line!(out, "{waiting}");
        }
        for open in self.open() {
            out.draw(&open.shown(style.color));
            out.end_line();
        }
        out.draw(&self.summary().shown(style.color));
        out.end_line();
        draw(&out.finish())
    }

    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        put!(out, "**ome rollout** {}\n", self.summary().text);
        let rows = self.rows();
        if !rows.is_empty() {
            out.end_line();
            let titles = TITLES.map(str::to_lowercase);
            markdown::table(&mut out, &titles.each_ref().map(String::as_str), rows);
        }
        let lost = self.displaced();
        if !lost.is_empty() {
            out.end_line();
            markdown::list(&mut out, lost);
        }
        if let Some(waiting) = self.waiting() {
            put!(out, "\n{}\n", markdown::text(&waiting));
        }
        let open = self.open();
        if !open.is_empty() {
            out.end_line();
            markdown::list(&mut out, open);
        }
        for (component, sentences) in self.sentences_of_each() {
            put!(out, "\n**{}**\n\n", markdown::text(&component));
            markdown::list(&mut out, sentences);
        }
        Ok(out.finish())
    }

    fn html(&self) -> Result<String, String> {
        let component = |(service, rollout): (&ServiceRollout, &ComponentRollout)| {
            let title = format!("{} {}", service.full_name(), roll::title(rollout));
            roll::page(rollout, &title, self.sources, self.doubts)
        };
        fill(
            "roll_all.html",
            include_str!("page/roll_all.html"),
            &json!({ "summary": self.summary(), "lost": self.displaced(), "open": self.open(), "components": self.changed().map(component).collect::<Vec<_>>() }),
        )
    }
}
