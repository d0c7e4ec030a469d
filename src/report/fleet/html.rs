//! `ome plan` as a self-contained page. Bars show the GPUs of each class; a row of steps shows the
//! selection of each runtime, with the number of candidates after each step.

use super::View;
use crate::decision::Step;
use crate::pipeline::{ClassTotal, Planned, PlannedComponent};
use crate::report::cell::{Cell, row};
use crate::report::fill::fill;
use crate::report::phrases::plural;
use crate::report::{accelerator, judged, map, plan, serving};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A plan as a single HTML page.
///
/// # Errors
/// The error in the template.
pub(super) fn page(view: &View<'_>) -> Result<String, String> {
    let classes = &view.totals.classes;
    // All bars have one scale, so that they can be compared.
    let most = classes
        .iter()
        .map(|total| total.requested.max(total.allocatable.unwrap_or(0)))
        .max()
        .unwrap_or(0);
    let data = json!({
        "summary": view.last.unwrap_or(&"no services".into()),
        "said": view.lines.lines().chain(view.passed_over).filter(|line| !line.is_empty()).collect::<Vec<_>>(),
        "semantics": view.readings.run().as_str(),
        "header": view.header,
        "classes": classes.iter().map(|total| class(total, most)).collect::<Vec<_>>(),
        "before": view.together.and_then(map::before),
        "map": view.together.and_then(map::data),
        "losses": view.losses.map(|view| view.data()),
        "planned": view.planned.len(),
        "columns": COLUMNS,
        "namespaces": namespaces(view.planned, view.sources),
        "profile": view.serving_rules.name,
        "titles": serving::TITLES,
        "servings": view.servings.iter().map(|planned| serving::cells(planned)).collect::<Vec<_>>(),
        "notes": serving::remarks(view.servings, view.notes, view.sources).collect::<Vec<_>>(),
    });
    fill("plan.html", include_str!("../page/plan.html"), &data)
}

/// The bar of a class: its requested share of the allocatable devices or, if no node reports its
/// resources, its requests relative to the class with the most requests.
fn class(total: &ClassTotal, most: i64) -> Value {
    let of = total.allocatable.unwrap_or(most);
    let label = match (total.allocatable, total.left()) {
        (Some(allocatable), Some(left)) => {
            // Negative means that more is requested than there is.
            let (free, word) = if left < 0 { (-left, "short") } else { (left, "free") };
            format!("{} requested of {allocatable}, {free} {word}", total.requested)
        }
        _ => format!("{} requested", total.requested),
    };
    json!({ "name": total.name.as_str(), "percent": percent(total.requested, of), "over": total.left().is_some_and(|left| left < 0), "label": label })
}

/// The percentage of a bar, from 0 to 100.
fn percent(part: i64, of: i64) -> i64 {
    // Nothing to divide by: any request is more than there is.
    if of <= 0 {
        if part > 0 { 100 } else { 0 }
    } else {
        (part.max(0).saturating_mul(100) / of).min(100)
    }
}

const COLUMNS: [&str; 10] = [
    "service",
    "model",
    "runtime",
    "component",
    "mode",
    "replicas",
    "pods/replica",
    "GPUs/replica",
    "class",
    "fits",
];

/// Above this number, each service is a row, and the rows of a namespace are collapsed.
const MOST_OPEN: usize = 50;

/// Services by namespace; a small fleet is one part without a title.
fn namespaces(planned: &[Planned<'_>], sources: &SourceMap) -> Vec<Value> {
    if planned.len() <= MOST_OPEN {
        let services = planned.iter().map(|planned| service(planned, sources));
        return vec![json!({ "title": null, "services": services.collect::<Vec<_>>() })];
    }
    let mut by_name: BTreeMap<&str, Vec<&Planned<'_>>> = BTreeMap::new();
    for planned in planned {
        // Rows of a large fleet are grouped, since a browser is slow with thousands of open ones.
        by_name.entry(&planned.service.namespace).or_default().push(planned);
    }
    let namespace = |(name, planned): (&str, Vec<&Planned<'_>>)| {
        let failed = planned.iter().filter(|planned| planned.error.is_some()).count();
        let short = planned.iter().filter(|planned| is_short(planned)).count();
        let symbol = if failed + short > 0 { "✗ " } else { "" };
        let mut title = format!("{symbol}{name}: {}", plural(planned.len(), "service"));
        for (count, what) in [(failed, "in error"), (short, "without room")] {
            if count > 0 {
                let _ = write!(title, ", {count} {what}");
            }
        }
        let rows = planned.iter().flat_map(|planned| rows(planned, sources));
        json!({ "name": name, "title": title, "bad": failed + short > 0, "rows": rows.collect::<Vec<_>>() })
    };
    by_name.into_iter().map(namespace).collect()
}

fn is_short(planned: &Planned<'_>) -> bool {
    planned.components.iter().any(|component| component.fits() == Some(false))
}

/// A row per component; a single row for a service in error.
fn rows(planned: &Planned<'_>, sources: &SourceMap) -> Vec<Value> {
    let lead = row![&planned.service.name, plan::model(planned), plan::runtime(planned)];
    if let Some(error) = &planned.error {
        let message = accelerator::message(error, planned, sources);
        let error = Cell::bad(format_args!("{}: {message}", error.code.as_str()));
        return vec![json!({ "cells": ([lead, vec![error]].concat()), "error": true })];
    }
    let components = planned.components.iter();
    components
        .map(|planned_component| json!({ "cells": ([lead.clone(), component(planned, planned_component)].concat()), "error": false }))
        .collect()
}

/// The name in a cell of the table, if it has one.
fn named(cell: Cell) -> Option<String> {
    (!cell.text.is_empty() && !cell.is_none()).then_some(cell.text)
}

fn service(planned: &Planned<'_>, sources: &SourceMap) -> Value {
    let resolution = &planned.resolution;
    let first = resolution.runtime.steps.first().map_or(0, |step| step.r#in);
    json!({
        "name": planned.service.to_string(),
        "api": planned.service.api.as_str(),
        "model": named(plan::model(planned)),
        "runtime": named(plan::runtime(planned)),
        "by": planned.error.is_none().then(|| plan::decided_by(planned)).and_then(named),
        "error": planned.error.as_ref().map(|error| format!("{}: {}", error.code.as_str(), accelerator::message(error, planned, sources))),
        "steps": resolution.runtime.steps.iter().map(|one| step(one, first)).collect::<Vec<_>>(),
        // What was composed of a failed service is not what runs.
        "components": if planned.error.is_some() { Vec::new() } else { planned.components.iter().map(|one| component(planned, one)).collect() },
        "remarks": plan::remarks(planned, sources).into_iter().chain(planned.controller.as_ref().map(ToString::to_string)).collect::<Vec<_>>(),
    })
}

fn step(step: &Step, first: usize) -> Value {
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    json!({ "name": judged::heading(step.id), "left": step.out, "of": first, "percent": percent(count(step.out), count(first)) })
}

/// The cells of a component, for the last [`COLUMNS`].
fn component(planned: &Planned<'_>, component: &PlannedComponent) -> Vec<Cell> {
    row![
        component.kind.as_str(),
        component.mode.as_str(),
        plan::replicas(component),
        component.pods_per_replica.to_string(),
        component.gpus().to_string(),
        Cell::or_none(planned.class(component.kind).map(|class| class.object.shown_name())),
        accelerator::fits(component),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_within_their_frame() {
        for (part, of, expected) in
            [(0, 8, 0), (5, 8, 62), (8, 8, 100), (20, 8, 100), (3, 0, 100), (0, 0, 0), (-1, 4, 0)]
        {
            assert_eq!(percent(part, of), expected, "{part} of {of}");
        }
    }
}
