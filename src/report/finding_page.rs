//! `ome validate` as a page: findings by file, each with its source lines.
//!
//! In: settled findings. Out: a page. This module makes no decisions.

use super::cell::Meaning;
use super::fill::fill;
use super::findings;
use super::phrases::plural;
use super::table::Style;
use crate::diag::{Diagnostic, Severity};
use crate::source::SourceMap;
use indexmap::IndexMap;
use serde_json::{Value, json};

/// Number of findings to show with their source lines.
const MOST_DRAWN: usize = 1000;
/// Above this number, findings are collapsed.
const MOST_OPEN: usize = 20;

/// The page. `files` is the number of files that were read; `summary` counts all findings,
/// including those that are not shown.
///
/// # Errors
/// The error in the template.
pub fn html(
    found: &[Diagnostic],
    sources: &SourceMap,
    files: usize,
    summary: &str,
) -> Result<String, String> {
    let mut by_file: IndexMap<String, Vec<Value>> = IndexMap::new();
    // The page has colors of its own, so the drawing has none.
    let mut drawing = findings::Drawing::new(sources, Style { color: false, width: None });
    for (at, finding) in found.iter().enumerate() {
        let place = finding.span().map(|span| sources.locate(span));
        let file = place.as_ref().map(|place| place.file.to_string());
        let file = file.or_else(|| finding.file.clone()).unwrap_or_else(|| "all files".to_owned());
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
    let worst = found.iter().map(|finding| finding.severity).max();
    let meaning = worst.map_or(Meaning::Good, meaning);
    let files_shown = by_file.into_iter().map(|(name, findings)| {
        json!({ "name": name, "count": plural(findings.len(), "finding"), "findings": findings })
    });
    let data = json!({
        "summary": if summary.is_empty() { "nothing found" } else { summary },
        "sign": meaning.symbol(),
        "class": meaning.class(),
        "read": plural(files, "file"),
        "open": found.len() <= MOST_OPEN,
        "files": files_shown.collect::<Vec<_>>(),
    });
    fill("validate.html", include_str!("page/validate.html"), &data)
}

fn meaning(severity: Severity) -> Meaning {
    match severity {
        Severity::Error => Meaning::Bad,
        Severity::Warning => Meaning::Attention,
        Severity::Info => Meaning::Faint,
    }
}
