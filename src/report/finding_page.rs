//! `ome validate` as an answer: as text with the lines in question, as a table for a comment, as a
//! page by file.
//!
//! In: settled findings. Out: a page. This module makes no decisions.

use super::answer::Answer;
use super::cell::{Cell, Meaning, row};
use super::fill::fill;
use super::findings;
use super::phrases::plural;
use super::screen::Draw;
use super::sheet::Sheet;
use super::table::Style;
use crate::diag::{Diagnostic, Severity};
use crate::source::SourceMap;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;

/// Number of findings to show with their source lines.
const MOST_DRAWN: usize = 1000;
/// Findings in a comment, which hosts limit to about 60,000 characters.
const MOST_ROWS: usize = 100;
/// Above this number, findings are collapsed.
const MOST_OPEN: usize = 20;

/// The findings of a run.
pub struct View<'a> {
    /// The findings that are shown.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
    /// How many files were read.
    pub files: usize,
    /// How many findings there are of each severity, also of those that are not shown.
    pub summary: &'a str,
    /// Lines below a text: how many findings there are of each code, and what was not checked.
    pub below: &'a str,
}

impl View<'_> {
    fn summary(&self) -> &str {
        if self.summary.is_empty() { "nothing found" } else { self.summary }
    }

    /// The place of a finding, or its file.
    fn place(&self, finding: &Diagnostic) -> Cell {
        let place = finding.span().map(|span| self.sources.locate(span).to_string());
        Cell::or_none(place.or_else(|| finding.file.clone()))
    }
}

impl Answer for View<'_> {
    fn json(&self) -> impl Serialize {
        findings::Document { found: self.found, sources: self.sources }
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        draw(&findings::human(self.found, self.sources, style))?;
        draw(&format!("{}: {}\n{}", plural(self.files, "file"), self.summary(), self.below))
    }

    fn markdown(&self) -> Result<String, String> {
        let read = format!("{} in {}", self.summary(), plural(self.files, "file"));
        let mut page = Sheet::titled("**ome validate**: ", read);
        if !self.found.is_empty() {
            let rows = self.found.iter().take(MOST_ROWS).map(|finding| {
                let help = finding.help.as_ref().map(|help| format!("; help: {help}"));
                row![
                    Cell::marked(meaning(finding.severity), finding.severity.as_str()),
                    self.place(finding),
                    finding.code.as_str(),
                    format!("{}{}", finding.message, help.unwrap_or_default()),
                ]
            });
            page.table(&["SEVERITY", "WHERE", "CODE", "FINDING"], rows);
            if self.found.len() > MOST_ROWS {
                page.below(format!("{} more: `-o json` has all", self.found.len() - MOST_ROWS));
            }
        }
        Ok(page.markdown())
    }

    fn html(&self) -> Result<String, String> {
        let mut by_file: IndexMap<String, Vec<Value>> = IndexMap::new();
        // The page has colors of its own, so the drawing has none.
        let mut drawing = findings::Drawing::new(self.sources, Style { color: false, width: None });
        for (at, finding) in self.found.iter().enumerate() {
            let place = finding.span().map(|span| self.sources.locate(span));
            let file = place.as_ref().map(|place| place.file.to_string());
            let file =
                file.or_else(|| finding.file.clone()).unwrap_or_else(|| "all files".to_owned());
            let is_drawn = at < MOST_DRAWN;
            let mut drawn = String::new();
            if is_drawn {
                drawing.draw(finding, &mut drawn);
            }
            let meaning = meaning(finding.severity);
            by_file.entry(file).or_default().push(json!({
                "sign": meaning.symbol(),
                "class": meaning.class(),
                "severity": finding.severity.as_str(),
                "code": finding.code.as_str(),
                "message": finding.message,
                "line": place.map(|place| place.line),
                // A drawn finding has its help in the drawing.
                "help": if is_drawn { None } else { finding.help.as_ref() },
                "drawn": drawn.trim_end().lines().collect::<Vec<_>>(),
            }));
        }
        // The page opens with the sign of its worst finding.
        let worst = self.found.iter().map(|finding| finding.severity).max();
        let meaning = worst.map_or(Meaning::Good, meaning);
        let files_shown = by_file.into_iter().map(|(name, findings)| {
            json!({ "name": name, "count": plural(findings.len(), "finding"), "findings": findings })
        });
        let data = json!({
            "summary": self.summary(),
            "sign": meaning.symbol(),
            "class": meaning.class(),
            "read": plural(self.files, "file"),
            "open": self.found.len() <= MOST_OPEN,
            "files": files_shown.collect::<Vec<_>>(),
        });
        fill("validate.html", include_str!("page/validate.html"), &data)
    }
}

fn meaning(severity: Severity) -> Meaning {
    match severity {
        Severity::Error => Meaning::Bad,
        Severity::Warning => Meaning::Attention,
        Severity::Info => Meaning::Faint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn a_comment_has_a_row_per_finding_and_counts_those_above_its_limit() {
        let sources = SourceMap::default();
        let found = vec![Diagnostic::new(Code::UnknownField, "no field `a|b`"); MOST_ROWS + 2];
        let shown = |found: &[Diagnostic], summary: &str| {
            let view = View { found, sources: &sources, files: 3, summary, below: "" };
            view.markdown().unwrap()
        };
        let page = shown(&found, "102 errors");
        assert!(
            page.starts_with("**ome validate**: 102 errors in 3 files\n\n| severity | where |")
        );
        assert_eq!(page.matches("| unknown-field | no field ").count(), MOST_ROWS, "{page}");
        assert!(page.ends_with("|\n\n2 more: \\`-o json\\` has all\n"), "{page}");
        assert_eq!(shown(&[], ""), "**ome validate**: nothing found in 3 files\n");
    }
}
