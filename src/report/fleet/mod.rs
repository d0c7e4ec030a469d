//! `ome plan` as an answer: the services, the ModelServings, the GPUs of each class, what is below, and
//! the verdict.

mod html;

use super::answer::Answer;
use super::cell::Cell;
use super::screen::{Draw, printable};
use super::table::{Style, wrapped};
use super::{json, losses, markdown, plan, serving, totals};
use crate::diag::Diagnostic;
use crate::operators::servings::ServingRules;
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{Costs, Depth, Planned, Together, Totals};
use crate::policy::Readings;
use crate::source::SourceMap;
use crate::workspace::accounting::InputRow;
use serde::Serialize;
use std::io;

/// A plan with everything that is needed to show it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The mode.
    pub readings: Readings,
    /// The sources of settings.
    pub header: &'a str,
    /// The services.
    pub planned: &'a [Planned<'a>],
    /// The ModelServings.
    pub servings: &'a [PlannedServing<'a>],
    /// The policy that they are planned with.
    pub serving_rules: &'static ServingRules,
    /// Its name.
    pub serving_header: &'a str,
    /// Notes on ModelServings.
    pub notes: &'a serving::Notes<'a>,
    /// How much of the fleet a text shows.
    pub extent: plan::Extent<'a>,
    /// The arguments of the input that commands need which the page proposes, each with a blank before
    /// it.
    pub arguments: &'a str,
    /// That there are no services is the answer.
    pub has_nothing: bool,
    /// The kinds that were read then.
    pub instead_of_services: Option<&'a str>,
    /// The total requests.
    pub totals: &'a Totals,
    /// The placement of the whole fleet.
    pub together: Option<&'a Together>,
    /// One loss after another, if that was requested.
    pub losses: Option<losses::View<'a>>,
    /// What the services cost, if prices are known.
    pub costs: Option<&'a Costs>,
    /// The lines below the tables.
    pub lines: &'a str,
    /// What of the input is not planned.
    pub passed_over: Option<&'a str>,
    /// The last sentence.
    pub last: Option<&'a Cell>,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
    /// What becomes of each object of the input.
    pub input: &'a [InputRow],
}

impl View<'_> {
    /// The services.
    fn services(&self) -> plan::Plan<'_> {
        plan::Plan {
            readings: self.readings,
            header: self.header,
            planned: self.planned,
            sources: self.sources,
            extent: self.extent,
            arguments: self.arguments,
        }
    }

    /// Whether devices are requested, or others than GPUs.
    fn has_totals(&self) -> bool {
        !self.totals.classes.is_empty() || !self.totals.resources.is_empty()
    }
}

impl Answer for View<'_> {
    fn json(&self) -> impl Serialize {
        json::Plan {
            readings: self.readings,
            depth: Depth::Plan,
            planned: self.planned,
            servings: self.servings,
            flips: &[],
            merges: &[],
            found: self.found,
            sources: self.sources,
            totals: self.totals,
            together: self.together,
            losses: self.losses.map(|losses| losses.losses),
            costs: self.costs,
            input: self.input,
        }
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        // With `--each`, the losses are the page.
        if let Some(losses) = self.losses {
            return draw(&losses.page().text(style));
        }
        if !self.planned.is_empty() || self.has_nothing {
            self.services().text(style, draw)?;
        }
        if let Some(kinds) = self.instead_of_services {
            draw(&format!("{}\n", printable(kinds)))?;
        }
        if !self.servings.is_empty() {
            let gap = if self.planned.is_empty() { "" } else { "\n" };
            let table = serving::text(self.servings, self.notes, self.sources, style);
            draw(&format!("{gap}{}\n\n{table}", self.serving_header))?;
        }
        if self.has_totals() {
            draw(&format!("\n{}", totals::classes(self.totals, style)))?;
        }
        let wrapped = |line: &str| wrapped(line, style.width, "  ");
        if !self.lines.is_empty() {
            draw(&format!("\n{}", self.lines.lines().map(wrapped).collect::<String>()))?;
        }
        for line in self.passed_over.into_iter().chain(self.last.map(AsRef::as_ref)) {
            draw(&format!("\n{}", wrapped(line)))?;
        }
        Ok(())
    }

    fn markdown(&self) -> Result<String, String> {
        if let Some(losses) = self.losses {
            return Ok(losses.page().markdown());
        }
        let mut out = vec![self.services().markdown()];
        if !self.servings.is_empty() {
            out.push(serving::markdown(self.servings, self.notes, self.sources));
        }
        if self.has_totals() {
            out.push(totals::classes_markdown(self.totals));
        }
        let lines = [Some(self.lines).filter(|lines| !lines.is_empty()), self.passed_over];
        out.extend(lines.into_iter().flatten().map(markdown::lines));
        out.extend(self.last.map(|last| format!("{}\n", last.text)));
        Ok(out.join("\n"))
    }

    fn html(&self) -> Result<String, String> {
        html::page(self)
    }
}
