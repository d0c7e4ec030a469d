//! `rollout` for an InferenceService: its objects in rollout order, and the rollout of its
//! workloads.
//!
//! In: the waves and workloads of the pipeline. Out: JSON, a table, Markdown, a page. This module
//! makes no decisions.

use super::answer::Answer;
use super::cell::{Cell, row};
use super::fill::fill;
use super::phrases::plural;
use super::roll_all::{self, Displaced};
use super::screen::{Draw, Page, line, printable, put};
use super::table::{self, Style};
use super::{SCHEMA_VERSION, doubts, findings, markdown, roll};
use crate::api::Service;
use crate::diag::Diagnostic;
use crate::diff::waves::{WAVES, WorkloadRollout};
use crate::pipeline::{ComponentRollout, Doubts, RollEnd};
use crate::policy::Readings;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::io;

const TITLES: [&str; 5] = ["KIND", "NAME", "MAX UNAVAILABLE", "MAX SURGE", "PODS RESTARTED"];

/// The waves of a service.
#[derive(Clone, Copy, Debug)]
pub struct Waves<'a> {
    /// The mode: documented or controller.
    pub readings: Readings,
    /// The service.
    pub service: &'a Service,
    /// Its objects, in the order of [`WAVES`].
    pub objects: &'a [Vec<String>; 4],
    /// Its workloads.
    pub workloads: &'a [WorkloadRollout],
    /// Their simulated rollout on the nodes; empty if no node reports its resources.
    pub components: &'a [ComponentRollout],
    /// What else of the input loses its nodes.
    pub displaced: &'a [Displaced],
    /// What is open: nothing is confirmed.
    pub doubts: &'a Doubts,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that findings refer to.
    pub sources: &'a SourceMap,
}

impl Answer for Waves<'_> {
    /// The JSON format of every rollout; a service has no groups.
    fn json(&self) -> impl serde::Serialize {
        let workload = |workload: &WorkloadRollout| {
            json!({
                "name": workload.name.as_str(),
                "kind": workload.kind.as_str(),
                "strategy": { "maxUnavailable": workload.max_unavailable, "maxSurge": workload.max_surge },
                "podsRestarted": workload.pods_restarted,
            })
        };
        let mut out = json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "name": self.service.name().as_str(),
            "namespace": self.service.namespace.as_str(),
            "waves": self.named("wave"),
            "workloads": self.workloads.iter().map(workload).collect::<Vec<_>>(),
            "components": self.components.iter().map(|component| roll::json(component, self.sources)).collect::<Vec<_>>(),
            "steps": [], "stages": [], "groupSteps": [],
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        });
        if !self.displaced.is_empty() {
            out["displaced"] = self.displaced.iter().map(Displaced::json).collect();
        }
        for (key, open) in doubts::keys(self.doubts) {
            out[key] = open;
        }
        out
    }

    /// One line per wave, and a table of workloads.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let mut out = Page::default();
        // Empty waves would look like a service that changes nothing.
        if self.is_unwritten() {
            line!(out, "{}: not known: it was not rendered", self.service.name());
            return draw(&out.finish());
        }
        put!(out, "{}\n\n", self.service.name());
        for (wave, objects) in WAVES.iter().zip(self.objects) {
            let line = printable(&format!("{wave:<12} {}", listed(objects)));
            out.draw(&table::wrapped(&line, style.width, "             "));
        }
        out.end_line();
        out.draw(&table::table(&TITLES, self.workloads.iter().map(row), style));
        out.draw(&roll::text(self.components, self.sources, self.doubts, style));
        roll_all::others_into(&mut out, self.components, self.displaced, self.doubts, style);
        draw(&out.finish())
    }

    /// A numbered list of waves, and a table of workloads.
    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        put!(out, "**ome rollout** {}\n\n", markdown::text(self.service.name()));
        for (wave, objects) in WAVES.iter().zip(self.objects) {
            line!(out, "1. **{wave}**: {}", markdown::text(&listed(objects)));
        }
        out.end_line();
        let titles = ["kind", "name", "maxUnavailable", "maxSurge", "pods restarted"];
        markdown::table(&mut out, &titles, self.workloads.iter().map(row));
        out.draw(&roll::markdown(self.components, self.sources, self.doubts));
        roll_all::others_into_markdown(&mut out, self.components, self.displaced, self.doubts);
        Ok(out.finish())
    }

    fn html(&self) -> Result<String, String> {
        let component = |component: &ComponentRollout| json!({ "title": roll::title(component), "titles": roll::TITLES, "rows": roll::rows(component), "said": roll::sentences(component, self.sources, self.doubts) });
        let rows: Vec<Vec<Cell>> = self.workloads.iter().map(row).collect();
        fill(
            "waves.html",
            include_str!("page/waves.html"),
            &json!({ "summary": self.summary(), "name": self.service.name().as_str(), "waves": self.named("name"), "titles": TITLES, "rows": rows, "components": self.components.iter().map(component).collect::<Vec<_>>(), "displaced": roll_all::others(self.components, self.displaced, self.doubts) }),
        )
    }
}

impl Waves<'_> {
    /// Whether nothing is written for the service, which is in error or not planned.
    fn is_unwritten(&self) -> bool {
        self.objects.iter().all(Vec::is_empty)
            && self.workloads.is_empty()
            && self.components.is_empty()
    }

    /// "quickstart/chat: 2 workloads; stuck: engine".
    fn summary(&self) -> String {
        let of = |end: RollEnd| -> Vec<&str> {
            let components = self.components.iter().filter(|component| component.end == end);
            components.map(|component| component.component).collect()
        };
        let (stuck, depends) = (of(RollEnd::Stuck), of(RollEnd::Depends));
        // A page has this sentence alone, so that it names every bad end.
        let mut end = match (self.components.is_empty(), stuck.is_empty()) {
            (true, _) => String::new(),
            (_, true) if !depends.is_empty() => String::new(),
            (_, true) if !self.doubts.is_certain() => doubts::end(self.doubts).to_owned(),
            (_, true) => "; no update is stuck".to_owned(),
            (_, false) => format!("; stuck: {}", stuck.join(", ")),
        };
        let perhaps = of(RollEnd::MayLose);
        if !perhaps.is_empty() {
            end.push_str("; may no longer fit: ");
            end.push_str(&perhaps.join(", "));
        }
        let lost = of(RollEnd::Displaced);
        if !lost.is_empty() {
            end.push_str("; no longer fits: ");
            end.push_str(&lost.join(", "));
        }
        let displaced = match self.displaced.iter().filter(|other| other.is_loss()).count() {
            0 => String::new(),
            1 => "; 1 other no longer fits".to_owned(),
            others => format!("; {others} others no longer fit"),
        };
        end.push_str(&displaced);
        if !depends.is_empty() {
            end.push_str("; may get stuck: ");
            end.push_str(&depends.join(", "));
        }
        let workloads = plural(self.workloads.len(), "workload");
        format!("{}/{}: {workloads}{end}", self.service.namespace, self.service.name())
    }

    fn named(&self, key: &str) -> Vec<Value> {
        WAVES
            .iter()
            .zip(self.objects)
            .map(|(wave, objects)| json!({ key: wave, "objects": objects }))
            .collect()
    }
}

fn listed(objects: &[String]) -> String {
    if objects.is_empty() { "-".to_owned() } else { objects.join(", ") }
}

fn row(workload: &WorkloadRollout) -> Vec<Cell> {
    let WorkloadRollout { name, kind, max_unavailable, max_surge, pods_restarted } = workload;
    row![kind, name, max_unavailable.as_str(), max_surge.as_str(), pods_restarted.to_string()]
}
