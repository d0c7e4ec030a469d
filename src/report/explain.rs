//! `ome explain` for people: the steps, then every candidate with the rule that decided about it;
//! runtimes, then classes.

use super::accelerator;
use super::screen::{Page, line, put};
use super::table::{Style, inline, table};
use crate::api::Api;
use crate::decision::{Basis, Candidate, Step, Verdict};
use crate::diag::Diagnostic;
use crate::pipeline::{Flip, Planned};
use crate::quantity::Count;
use crate::source::SourceMap;
use std::collections::BTreeMap;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The nearest misses; the rest is counted.
    Nearest,
    /// Every candidate.
    All,
    /// Every candidate with every comparison of every entry.
    Comparisons,
}

/// Rejected candidates that are shown unless all are asked for.
const NEAREST: usize = 8;

/// One service; `notes` are findings that are said nowhere else.
pub fn service(
    planned: &Planned<'_>,
    notes: &[Diagnostic],
    detail: Detail,
    sources: &SourceMap,
    style: Style,
) -> String {
    let mut out = Page::default();
    let object = &planned.service.object;
    let of = if object.api == Api::KServe { " (KServe)" } else { "" };
    line!(
        out,
        "{}/{}{of}  {}",
        planned.service.namespace,
        planned.service.name(),
        sources.locate(object.name_span())
    );
    for line in super::phrases::answer(planned) {
        line!(out, "  {line}");
    }
    match planned.resolution.model {
        Some(model) => {
            let facts = [
                model.format.as_ref().map(|format| {
                    versioned(
                        &format.name.value,
                        format.version.as_ref().map(|version| version.value.text()),
                    )
                }),
                model.framework.as_ref().map(|framework| {
                    versioned(
                        &framework.name.value,
                        framework.version.as_ref().map(|version| version.value.text()),
                    )
                }),
                model.architecture.as_ref().map(|architecture| architecture.value.to_string()),
                planned.policy.quantization_of(model).map(|name| name.value.to_string()),
                Some(
                    model
                        .size
                        .as_ref()
                        .map_or("size unknown".to_owned(), |size| size.value.text.to_string()),
                ),
            ];
            let facts: Vec<String> = facts.into_iter().flatten().collect();
            line!(
                out,
                "model    {} {}  {}",
                model.object.id.kind,
                model.object.id.name,
                sources.locate(model.object.name_span())
            );
            line!(out, "         {}", facts.join(" · "));
            for line in super::model::lines(model, planned.policy, sources) {
                line!(out, "         {line}");
            }
        }
        None if planned.service.inline.is_some() => {
            line!(out, "model    {}, described by the service", inline(planned.service));
        }
        None => out.push_str("model    none\n"),
    }
    let decision = &planned.resolution.runtime;
    let protocol = &decision.protocol;
    line!(out, "protocol {}{}", protocol.name, if protocol.default { " (default)" } else { "" });
    let by = decision.decided_by.map_or("", super::phrases::decided_by);
    match (decision.chosen, decision.basis) {
        (Some(runtime), Basis::Explicit) => {
            line!(
                out,
                "runtime  {} {} (named by the service)  {}",
                runtime.object.id.kind,
                runtime.object.shown_name(),
                sources.locate(runtime.object.name_span())
            );
        }
        (Some(runtime), _) => {
            line!(
                out,
                "runtime  {} {} ({by}, {} eligible, {} rejected)  {}",
                runtime.object.id.kind,
                runtime.object.shown_name(),
                decision.eligible,
                decision.rejected,
                sources.locate(runtime.object.name_span())
            );
        }
        (None, _) => out.push_str("runtime  none\n"),
    }
    for note in &decision.notes {
        line!(out, "         {note}");
    }
    if !decision.steps.is_empty() {
        out.end_line();
        out.draw(&steps(&decision.steps, style));
    }
    if !decision.candidates.is_empty() {
        out.end_line();
        out.draw(&candidates(&decision.candidates, detail, sources, style));
    }
    for decision in &planned.resolution.accelerators {
        out.draw(&accelerator::text(decision, detail, sources, style));
    }
    if let Some(error) = &planned.error {
        let message = accelerator::message(error, planned, sources);
        put!(out, "\nerror {}: {message}\n", error.code.as_str());
        if let Some(help) = &error.help {
            line!(out, "  help: {help}");
        }
    }
    if let Some(difference) = &planned.controller {
        put!(out, "\n{difference}\n");
    }
    if !notes.is_empty() {
        out.end_line();
        for note in notes {
            line!(out, "note     {}: {}", note.code.as_str(), note.message);
        }
    }
    if !planned.components.is_empty() {
        out.end_line();
    }
    for component in &planned.components {
        line!(
            out,
            "{:<8} {}, {}, {} {} per replica{}{}",
            component.kind.as_str(),
            component.mode.as_str(),
            match component.max_replicas.filter(|max| component.min_replicas != Count::from(*max)) {
                Some(max) => format!("{} to {max} replicas", component.min_replicas),
                None if component.min_replicas == Count::from(1) => "1 replica".to_owned(),
                None => format!("{} replicas", component.min_replicas),
            },
            component.gpus(),
            if component.gpus() == Count::from(1) { "GPU" } else { "GPUs" },
            accelerator::more_needed(planned, component)
                .map_or(String::new(), |need| format!(" (the model needs {need})")),
            accelerator::fitting(component).map_or(String::new(), |fits| format!(", fits: {fits}")),
        );
        for line in accelerator::missing(component)
            .into_iter()
            .chain(super::together::placed(component))
            .chain(component.queue.iter().flat_map(super::queue::lines))
        {
            line!(out, "         {line}");
        }
        if let Some(look) = super::together::look(component, style) {
            out.end_line();
            out.draw(&look);
        }
        if let Some(cache) = &component.cache {
            out.end_line();
            out.draw(&super::kv_cache::text(component.kind.as_str(), cache, sources));
        }
    }
    out.finish()
}

/// What would make the runtime asked about win.
pub fn flip(flip: &Flip, sources: &SourceMap) -> String {
    let mut out = Page::default();
    match &flip.edits {
        Ok(edits) if edits.is_empty() => out.push_str("\nalready selected; no change needed\n"),
        Ok(edits) => {
            put!(
                out,
                "\nit would be selected with {}:\n",
                if edits.len() == 1 {
                    "one edit".to_owned()
                } else {
                    format!("{} edits", edits.len())
                }
            );
            for edit in edits {
                let place =
                    edit.span.map_or(String::new(), |span| format!("{}: ", sources.locate(span)));
                line!(out, "  {place}{} {}: {} -> {}", edit.object, edit.path, edit.from, edit.to);
            }
            if let Some((runtime, by)) = &flip.then {
                line!(out, "  then {runtime} is chosen: {}", super::phrases::decided_by(*by));
            }
        }
        Err(reason) => {
            put!(out, "\nno edit of it would make it selected: {reason}\n");
        }
    }
    out.finish()
}

fn versioned(name: &str, version: Option<&str>) -> String {
    version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"))
}

/// `auto-selection` as a heading.
pub(super) fn heading(id: &str) -> String {
    let mut chars = id.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn lost(number: usize) -> String {
    if number == 0 { String::new() } else { format!("-{number}") }
}

/// Named steps with counts.
pub(super) fn steps(steps: &[Step], style: Style) -> String {
    let rows = steps.iter().map(|step| {
        vec![
            heading(step.id),
            step.r#in.to_string(),
            step.out.to_string(),
            lost(step.r#in - step.out),
        ]
    });
    table(&["STEP", "IN", "OUT", ""], rows, style)
}

/// Rows of rejected candidates: those of each, with the code that is counted when they are not
/// shown.
pub(super) type Rejected = Vec<(&'static str, Vec<Vec<String>>)>;

/// Candidates as a table: those that passed, the nearest of the rejected, and a count of the rest.
pub(super) fn listing(
    header: &[&str],
    passed: Vec<Vec<String>>,
    rejected: Rejected,
    nearest: usize,
    style: Style,
) -> String {
    let hidden = rejected.len().saturating_sub(nearest);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (code, _) in rejected.iter().skip(nearest) {
        *counts.entry(code).or_default() += 1;
    }
    let mut out = Page::default();
    out.draw(&table(
        header,
        passed.into_iter().chain(rejected.into_iter().take(nearest).flat_map(|(_, rows)| rows)),
        style,
    ));
    if hidden > 0 {
        let counts: Vec<String> =
            counts.into_iter().map(|(code, count)| format!("{count} by {code}")).collect();
        line!(out, "… {hidden} more rejected: {} · show with --all", counts.join(", "));
    }
    out.finish()
}

fn candidates(
    found: &[Candidate<'_>],
    detail: Detail,
    sources: &SourceMap,
    style: Style,
) -> String {
    let (eligible, rejected): (Vec<_>, Vec<_>) =
        found.iter().partition(|candidate| candidate.verdict != Verdict::Rejected);
    let nearest = if detail == Detail::Nearest { NEAREST } else { rejected.len() };
    let code = |candidate: &Candidate<'_>| {
        candidate.reasons.first().map_or("", |rejection| rejection.reason.code().as_str())
    };
    let rejected = rejected
        .into_iter()
        .map(|candidate| (code(candidate), vec![row(candidate, sources)]))
        .collect();
    let passed = eligible.into_iter().map(|candidate| row(candidate, sources)).collect();
    let mut out = Page::default();
    out.draw(&listing(
        &["RUNTIME", "SCOPE", "VERDICT", "RULE", "DETAIL", "WHERE"],
        passed,
        rejected,
        nearest,
        style,
    ));
    if detail == Detail::Comparisons {
        for candidate in found {
            out.end_line();
            out.draw(&comparisons(candidate, sources, style));
        }
    }
    out.finish()
}

fn row(candidate: &Candidate<'_>, sources: &SourceMap) -> Vec<String> {
    let object = &candidate.runtime.object;
    let (rule, detail, place) = if let Some(rejection) = candidate.reasons.first() {
        let more = candidate.reasons.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        (
            rejection.reason.code().as_str().to_owned(),
            format!("{}{more}", rejection.reason),
            rejection.origin.and_then(crate::yaml::Origin::span),
        )
    } else {
        let rule = match candidate.verdict {
            Verdict::Chosen => candidate
                .matched_entry
                .map_or(String::new(), |index| format!("matches supportedModelFormats[{index}]")),
            _ => {
                candidate.notes.last().map_or(String::new(), |note| note.code().as_str().to_owned())
            }
        };
        let notes: Vec<String> = candidate.notes.iter().map(ToString::to_string).collect();
        (rule, notes.join("; "), None)
    };
    vec![
        object.shown_name().to_string(),
        object.id.scope.namespace().map_or("cluster".to_owned(), ToString::to_string),
        candidate.verdict.as_str().to_owned(),
        rule,
        detail,
        sources.locate(place.unwrap_or_else(|| object.name_span())).to_string(),
    ]
}

fn comparisons(candidate: &Candidate<'_>, sources: &SourceMap, style: Style) -> String {
    let mut out = Page::default();
    line!(out, "{}", candidate.runtime.object.id);
    for rejection in &candidate.reasons {
        line!(out, "  {}: {}", rejection.reason.code().as_str(), rejection.reason);
    }
    let side = |side: &Option<(ecow::EcoString, crate::yaml::Origin)>| match side {
        Some((text, origin)) => match super::json::place(*origin, sources) {
            Some(place) => format!("{text} ({place})"),
            None => text.to_string(),
        },
        None => "-".to_owned(),
    };
    let rows = candidate.entries.iter().flat_map(|entry| {
        entry.checks.iter().map(move |check| {
            vec![
                format!("[{}]", entry.index),
                check.attribute.as_str().to_owned(),
                side(&check.model),
                side(&check.runtime),
                check.result.as_str().to_owned(),
            ]
        })
    });
    if !candidate.entries.is_empty() {
        out.draw(&table(&["ENTRY", "ATTRIBUTE", "MODEL", "RUNTIME", "RESULT"], rows, style));
    }
    out.finish()
}
