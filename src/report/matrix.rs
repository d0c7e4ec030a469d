//! The matrix of models and accelerator classes as JSON (docs/json.md, `matrix`), text, Markdown
//! and HTML.

use super::answer::Answer;
use super::cell::Cell;
use super::fill::fill;
use super::markdown;
use super::phrases::plural;
use super::screen::{Draw, Page, line};
use super::table::{Style, grid};
use super::{SCHEMA_VERSION, kv_cache};
use crate::pipeline::{Cell as Pair, Matrix, MatrixOutcome};
use crate::source::SourceMap;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::io;

/// A matrix with the sources that its limits of context refer to.
pub struct View<'a> {
    /// The pairs.
    pub matrix: &'a Matrix,
    /// The sources.
    pub sources: &'a SourceMap,
}

impl Answer for View<'_> {
    fn json(&self) -> impl serde::Serialize {
        let Self { matrix, sources } = self;
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "models": matrix.models.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
            "accelerators": matrix.classes.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
            "cells": matrix.cells.iter().map(|found| cell(found, sources)).collect::<Vec<_>>(),
        })
    }

    /// The matrix as text: a row per model, a column per class, and below the reasons why pairs have no
    /// runtime.
    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let matrix = self.matrix;
        let mut out = Page::default();
        if !matrix.classes.is_empty() {
            out.draw(&grid(&titles(matrix, "MODEL"), words(matrix), style));
        }
        let holes = matrix.cells.iter().filter_map(|cell| match &cell.outcome {
            MatrixOutcome::Hole(reason) | MatrixOutcome::Misfit(_, reason) => Some((cell, reason)),
            MatrixOutcome::Winner(_) | MatrixOutcome::Tie(_) => None,
        });
        for (index, (cell, reason)) in holes.enumerate() {
            if index == 0 {
                out.end_line();
            }
            let row = cell.service.as_ref().unwrap_or(&cell.model);
            line!(out, "{row} on {}: {reason}", cell.class);
        }
        draw(&out.finish())
    }

    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        markdown::table(&mut out, &titles(self.matrix, "model"), words(self.matrix));
        Ok(out.finish())
    }

    /// The matrix as a heat map on a self-contained page; pairs without a runtime are grouped by
    /// reason.
    fn html(&self) -> Result<String, String> {
        let matrix = self.matrix;
        let mut counts = [0_usize; 4];
        let mut holes: IndexMap<&str, Vec<String>> = IndexMap::new();
        for cell in &matrix.cells {
            counts[match &cell.outcome {
                MatrixOutcome::Winner(_) => 0,
                MatrixOutcome::Tie(_) => 1,
                MatrixOutcome::Misfit(..) => 3,
                MatrixOutcome::Hole(reason) => {
                    // By reason: a catalog has hundreds of pairs and a few reasons.
                    let pairs = holes.entry(reason).or_default();
                    pairs.push(format!("{} on {}", cell.model, cell.class));
                    2
                }
            }] += 1;
        }
        let shown = |cell: &Pair| {
            let (class, reason) = match &cell.outcome {
                MatrixOutcome::Winner(_) => ("win", None),
                MatrixOutcome::Tie(_) => ("tie", Some("age or name would decide")),
                MatrixOutcome::Hole(reason) | MatrixOutcome::Misfit(_, reason) => {
                    ("hole", Some(reason.as_str()))
                }
            };
            json!({ "class": class, "reason": reason, "text": word(cell).text })
        };
        let row = |(model, cells): (&str, &[Pair])| json!({ "model": model, "cells": cells.iter().map(shown).collect::<Vec<_>>() });
        let [wins, ties, none, misfits] = counts;
        let misfits = match misfits {
            0 => String::new(),
            some => format!(", {some} whose server would not start"),
        };
        let data = json!({
            "summary": format!(
                "{} on {}: of {}, {wins} with one runtime, {} decided by age or name, {none} without a runtime{misfits}",
                plural(matrix.models.len(), "model"),
                plural_of(matrix.classes.len()),
                plural(matrix.cells.len(), "pair"),
                ties,
            ),
            "legend": [
                { "class": "win", "label": "✓ this runtime is chosen" },
                { "class": "tie", "label": "! tie: age or name decides" },
                { "class": "hole", "label": "- no runtime" },
            ],
            "classes": matrix.classes.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
            "rows": rows(matrix).map(row).collect::<Vec<_>>(),
            "holes": holes.into_iter().map(|(reason, pairs)| json!({ "reason": reason, "count": plural(pairs.len(), "pair"), "pairs": pairs })).collect::<Vec<_>>(),
        });
        fill("matrix.html", include_str!("page/matrix.html"), &data)
    }
}

fn cell(cell: &Pair, sources: &SourceMap) -> Value {
    let (runtime, state, tied, reason) = match &cell.outcome {
        MatrixOutcome::Winner(runtime) => (Some(runtime.as_str()), "winner", Vec::new(), None),
        MatrixOutcome::Tie(tied) => (
            tied.first().map(ecow::EcoString::as_str),
            "tie",
            tied.iter().map(ecow::EcoString::as_str).collect(),
            Some("age or name would decide"),
        ),
        MatrixOutcome::Misfit(runtime, reason) => {
            (Some(runtime.as_str()), "misfit", Vec::new(), Some(reason.as_str()))
        }
        MatrixOutcome::Hole(reason) => (None, "hole", Vec::new(), Some(reason.as_str())),
    };
    let mut out = json!({ "model": cell.model.as_str(), "accelerator": cell.class.as_str(), "runtime": runtime, "state": state, "tied": tied, "reason": reason });
    if let Some(service) = &cell.service {
        out["service"] = json!(service.as_str());
    }
    if let Some(cache) = &cell.cache {
        out["kvCache"] = kv_cache::json(cache, sources);
    }
    out
}

fn word(cell: &Pair) -> Cell {
    let cache = cell.cache.as_deref().and_then(kv_cache::words);
    let cache = cache.map_or(String::new(), |words| format!(" ({words})"));
    match &cell.outcome {
        MatrixOutcome::Winner(runtime) => Cell::good(format_args!("{runtime}{cache}")),
        MatrixOutcome::Tie(tied) => Cell::warn(format_args!("tie: {}{cache}", tied.join(", "))),
        MatrixOutcome::Misfit(runtime, _) => Cell::bad(runtime),
        MatrixOutcome::Hole(_) => Cell::none(),
    }
}

/// The titles of the table.
fn titles<'a>(matrix: &'a Matrix, first: &'a str) -> Vec<&'a str> {
    std::iter::once(first).chain(matrix.classes.iter().map(ecow::EcoString::as_str)).collect()
}

/// The cells of the table: the name of the model, and a word per class.
fn words(matrix: &Matrix) -> impl Iterator<Item = Vec<Cell>> {
    rows(matrix)
        .map(|(model, cells)| std::iter::once(model.into()).chain(cells.iter().map(word)).collect())
}

fn rows(matrix: &Matrix) -> impl Iterator<Item = (&str, &[Pair])> {
    // The cells are in rows; without a class there are none, and `chunks` takes no 0.
    let width = matrix.classes.len().max(1);
    matrix.models.iter().map(ecow::EcoString::as_str).zip(matrix.cells.chunks(width))
}

fn plural_of(classes: usize) -> String {
    format!("{classes} accelerator class{}", if classes == 1 { "" } else { "es" })
}
