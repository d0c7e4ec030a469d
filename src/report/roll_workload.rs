//! The rollout of a workload that no operator writes: its stages, its end, and what else loses nodes.

use super::answer::Answer;
use super::cell::Cell;
use super::fill::fill;
use super::roll_all::{self, Displaced};
use super::screen::{Draw, Page, put};
use super::table::Style;
use super::{SCHEMA_VERSION, doubts, findings, markdown, roll};
use crate::diag::Diagnostic;
use crate::pipeline::{ComponentRollout, Doubts, ServiceRollout};
use crate::policy::Readings;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::io;

/// A workload with its simulated rollout.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    /// The mode: documented or controller.
    pub readings: Readings,
    /// Its kind.
    pub kind: &'a str,
    /// Its rollout; without components nothing of it changes.
    pub rollout: &'a ServiceRollout,
    /// What else of the input loses its nodes.
    pub displaced: &'a [Displaced],
    /// What is open: nothing is confirmed.
    pub doubts: &'a Doubts,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that findings refer to.
    pub sources: &'a SourceMap,
}

impl Workload<'_> {
    fn name(&self) -> String {
        format!("{} {}/{}", self.kind, self.rollout.namespace, self.rollout.name)
    }

    /// Nothing of the workload changes.
    fn rests(&self) -> bool {
        self.rollout.components.is_empty()
    }

    /// "Deployment ml/web: stuck".
    fn summary(&self) -> Cell {
        let component = self.rollout.components.first();
        let end = component.map(|component| roll::end(component.end));
        let end = end.unwrap_or_else(|| NOTHING.into());
        let text = format!("{}: {}", self.name(), end.words());
        let marked = match end.meaning {
            _ if self.displaced.iter().any(Displaced::is_loss) => Cell::bad(text),
            Some(meaning) => Cell::marked(meaning, text),
            None => text.into(),
        };
        roll::unconfirmed(marked, self.doubts)
    }
}

const NOTHING: &str = "nothing to do: no pod is replaced";

impl Answer for Workload<'_> {
    /// The JSON format of every rollout; a workload has no groups.
    fn json(&self) -> impl serde::Serialize {
        let components = self.rollout.components.iter();
        let components: Vec<Value> =
            components.map(|component| roll::json(component, self.sources)).collect();
        let mut out = json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "kind": self.kind,
            "name": self.rollout.name.as_str(),
            "namespace": self.rollout.namespace.as_str(),
            "components": components,
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

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let mut out = Page::default();
        put!(out, "{}\n", self.name());
        if self.rests() {
            put!(out, "\n{NOTHING}\n");
        }
        out.draw(&roll::text(&self.rollout.components, self.sources, self.doubts, style));
        roll_all::others_into(
            &mut out,
            &self.rollout.components,
            self.displaced,
            self.doubts,
            style,
        );
        draw(&out.finish())
    }

    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        put!(out, "**ome rollout** {}\n", markdown::text(&self.name()));
        if self.rests() {
            put!(out, "\n{NOTHING}\n");
        }
        out.draw(&roll::markdown(&self.rollout.components, self.sources, self.doubts));
        roll_all::others_into_markdown(
            &mut out,
            &self.rollout.components,
            self.displaced,
            self.doubts,
        );
        Ok(out.finish())
    }

    fn html(&self) -> Result<String, String> {
        let component = |component: &ComponentRollout| {
            roll::page(component, &roll::title(component), self.sources, self.doubts)
        };
        let lost: Vec<Cell> = self.displaced.iter().map(Displaced::sentence).collect();
        fill(
            "roll_all.html",
            include_str!("page/roll_all.html"),
            &json!({ "summary": self.summary(), "lost": lost, "open": doubts::sentences(self.doubts, &self.rollout.components, roll_all::NAMED), "components": self.rollout.components.iter().map(component).collect::<Vec<_>>() }),
        )
    }
}
