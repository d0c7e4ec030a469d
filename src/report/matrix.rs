//! Models against accelerator classes, for people and programs (docs/cli.md `matrix`).

use super::markdown;
use super::screen::{Page, html as escape, line};
use super::table::{Style, table};
use super::{SCHEMA_VERSION, kv_cache};
use crate::pipeline::{Cell, Matrix, MatrixOutcome};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt::Write;

/// The documented shape.
pub fn json(matrix: &Matrix, sources: &SourceMap) -> Value {
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "models": matrix.models.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "accelerators": matrix.classes.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "cells": matrix.cells.iter().map(|found| cell(found, sources)).collect::<Vec<_>>(),
    })
}

fn cell(cell: &Cell, sources: &SourceMap) -> Value {
    let (runtime, state, tied, reason) = match &cell.outcome {
        MatrixOutcome::Winner(runtime) => (Some(runtime.as_str()), "winner", Vec::new(), None),
        MatrixOutcome::Tie(tied) => (
            tied.first().map(ecow::EcoString::as_str),
            "tie",
            tied.iter().map(ecow::EcoString::as_str).collect(),
            Some("age or name would decide"),
        ),
        MatrixOutcome::Hole(reason) => (None, "hole", Vec::new(), Some(reason.as_str())),
    };
    let mut out = json!({ "model": cell.model.as_str(), "accelerator": cell.class.as_str(), "runtime": runtime, "state": state, "tied": tied, "reason": reason });
    if let Some(cache) = &cell.cache {
        out["kvCache"] = kv_cache::json(cache, sources);
    }
    out
}

fn word(cell: &Cell) -> String {
    let runtime = match &cell.outcome {
        MatrixOutcome::Winner(runtime) => runtime.to_string(),
        MatrixOutcome::Tie(tied) => format!("tie: {}", tied.join(", ")),
        MatrixOutcome::Hole(_) => return "-".to_owned(),
    };
    match cell.cache.as_deref().and_then(kv_cache::words) {
        Some(words) => format!("{runtime} ({words})"),
        None => runtime,
    }
}

fn rows(matrix: &Matrix) -> impl Iterator<Item = (&str, &[Cell])> {
    let width = matrix.classes.len().max(1);
    matrix.models.iter().map(ecow::EcoString::as_str).zip(matrix.cells.chunks(width))
}

/// The table for people: a row per model, a column per class, and the reasons of holes below.
pub fn text(matrix: &Matrix, style: Style) -> String {
    let header: Vec<&str> = std::iter::once("MODEL")
        .chain(matrix.classes.iter().map(ecow::EcoString::as_str))
        .collect();
    let body = rows(matrix).map(|(model, cells)| {
        std::iter::once(model.to_owned()).chain(cells.iter().map(word)).collect()
    });
    let mut out = Page::default();
    out.draw(&table(&header, body, style));
    let holes = matrix.cells.iter().filter_map(|cell| {
        if let MatrixOutcome::Hole(reason) = &cell.outcome { Some((cell, reason)) } else { None }
    });
    for (index, (cell, reason)) in holes.enumerate() {
        if index == 0 {
            out.end_line();
        }
        line!(out, "{} on {}: {reason}", cell.model, cell.class);
    }
    out.finish()
}

/// The same as Markdown.
pub fn markdown(matrix: &Matrix) -> String {
    let titles: Vec<&str> = std::iter::once("model")
        .chain(matrix.classes.iter().map(ecow::EcoString::as_str))
        .collect();
    let rows = rows(matrix).map(|(model, cells)| {
        std::iter::once(model.to_owned()).chain(cells.iter().map(word)).collect::<Vec<_>>()
    });
    let mut out = Page::default();
    markdown::table(&mut out, &titles, rows);
    out.finish()
}

/// The same as a page that stands alone.
pub fn html(matrix: &Matrix) -> String {
    let mut out = String::from(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>ome matrix</title>\n<table border=\"1\">\n<tr><th>model</th>",
    );
    for class in &matrix.classes {
        let _ = write!(out, "<th>{}</th>", escape(class));
    }
    out.push_str("</tr>\n");
    for (model, cells) in rows(matrix) {
        let _ = write!(out, "<tr><th>{}</th>", escape(model));
        for cell in cells {
            let title =
                if let MatrixOutcome::Hole(reason) = &cell.outcome { reason.as_str() } else { "" };
            let _ = write!(out, "<td title=\"{}\">{}</td>", escape(title), escape(&word(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    out
}
