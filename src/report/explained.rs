//! `ome explain` as an answer: every step of the selection of each service, the ModelServings, and the
//! placement of everything.

use super::answer::Answer;
use super::cell::Cell;
use super::judged::Detail;
use super::phrases::plural;
use super::screen::Draw;
use super::sheet::Sheet;
use super::table::Style;
use super::{explain, json, serving, together, why};
use crate::diag::Diagnostic;
use crate::operators::servings::ServingRules;
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{Depth, Flip, MergedLeaf, Planned, Together, Totals};
use crate::policy::Readings;
use crate::source::SourceMap;
use crate::workspace::accounting::InputRow;
use serde::Serialize;
use std::io;

/// What is explained.
pub struct View<'a> {
    /// The mode.
    pub readings: Readings,
    /// The sources of settings.
    pub header: &'a str,
    /// What stands in the place of services where there are none.
    pub without_services: Vec<String>,
    /// How many candidates are shown, and how much of each.
    pub detail: Detail,
    /// The services.
    pub planned: &'a [Planned<'a>],
    /// Findings that are shown on the page of a service only, of each.
    pub notes: &'a [Vec<Diagnostic>],
    /// What would make the requested runtime win, for each service.
    pub flips: Option<&'a [Flip]>,
    /// The leaves of each service; empty unless requested.
    pub merges: &'a [Vec<MergedLeaf>],
    /// The ModelServings.
    pub servings: &'a [PlannedServing<'a>],
    /// The policy that they are planned with.
    pub serving_rules: &'static ServingRules,
    /// Its name.
    pub serving_header: &'a str,
    /// The total requests.
    pub totals: &'a Totals,
    /// The placement of the whole fleet.
    pub placed: Option<&'a Together>,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
    /// What becomes of each object of the input.
    pub input: &'a [InputRow],
}

impl View<'_> {
    /// The page in parts: what it begins with, each service, and what is below. The rows of a part are
    /// those of a service and of each class, so that the parts of a fleet are never in memory at once.
    fn parts(&self) -> impl Iterator<Item = Sheet> + '_ {
        let services = (0..self.planned.len()).map(|index| self.service(index));
        let parts = std::iter::once_with(|| self.first()).chain(services);
        parts.chain(std::iter::once_with(|| self.below())).filter(|part| !part.is_empty())
    }

    /// The page.
    fn page(&self) -> Sheet {
        let mut page = Sheet::default();
        self.parts().for_each(|part| page.append(part));
        page
    }

    /// What the page begins with.
    fn first(&self) -> Sheet {
        let mut page = Sheet::default();
        if !self.planned.is_empty() || self.servings.is_empty() {
            page.lines([format!("mode: {}{}", self.readings, self.header)]);
        }
        if !self.without_services.is_empty() {
            page.gap();
            page.lines(self.without_services.iter().cloned());
        }
        page
    }

    /// One service.
    fn service(&self, index: usize) -> Sheet {
        let planned = &self.planned[index];
        let mut page = explain::service(planned, &self.notes[index], self.detail, self.sources);
        if let Some(leaves) = self.merges.get(index).filter(|leaves| !leaves.is_empty()) {
            why::leaves(leaves, self.sources, &mut page);
        }
        if let Some(flip) = self.flips.and_then(|flips| flips.get(index)) {
            page.append(explain::flip(flip, self.sources));
        }
        page
    }

    /// What stands below the services: the placement of everything, and the ModelServings.
    fn below(&self) -> Sheet {
        let mut page = Sheet::default();
        let is_short = together::pending(self.planned, self.servings, None) > 0;
        let below = self.placed.map(|placed| together::below(placed, is_short)).unwrap_or_default();
        if !below.is_empty() {
            page.lines(below.lines().map(ToOwned::to_owned));
        }
        if !self.servings.is_empty() {
            page.gap();
            page.lines([self.serving_header.to_owned()]);
        }
        let of_servings = serving::Notes::of(self.found);
        for planned in self.servings {
            let notes = of_servings.about(planned.serving);
            page.append(serving::explain(planned, self.serving_rules, notes, self.sources));
        }
        page
    }

    /// The first sentence of an HTML page.
    fn lead(&self) -> Cell {
        let failed = self.planned.iter().filter(|planned| planned.error.is_some()).count();
        let services = plural(self.planned.len(), "service");
        let what = match (self.planned.len(), self.servings.len()) {
            (_, 0) => services,
            (0, servings) => plural(servings, "ModelServing"),
            (_, servings) => format!("{services}, {}", plural(servings, "ModelServing")),
        };
        if failed > 0 { Cell::bad(format!("{what}; {failed} in error")) } else { what.into() }
    }
}

impl Answer for View<'_> {
    fn json(&self) -> impl Serialize {
        json::Plan {
            readings: self.readings,
            depth: Depth::Explain,
            planned: self.planned,
            servings: self.servings,
            flips: self.flips.unwrap_or_default(),
            merges: self.merges,
            found: self.found,
            sources: self.sources,
            totals: self.totals,
            together: None,
            losses: None,
            costs: None,
            input: self.input,
        }
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        for (index, part) in self.parts().enumerate() {
            if index > 0 {
                draw("\n")?;
            }
            draw(&part.text(style))?;
        }
        Ok(())
    }

    fn markdown(&self) -> Result<String, String> {
        Ok(self.page().markdown())
    }

    fn html(&self) -> Result<String, String> {
        self.page().html("ome explain", &self.lead())
    }
}
