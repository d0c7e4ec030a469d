//! `ome explain` as text: the steps, then every candidate with the rule that decided about it;
//! first runtimes, then classes.

use super::accelerator;
use super::cell::{Cell, row};
use super::judged::{Detail, listing, steps, verdict};
use super::phrases::inline;
use super::plan::replicas;
use super::sheet::Sheet;
use crate::api::Failure;
use crate::decision::{AppliedConfig, Basis, Candidate, RuntimeDecision, Verdict};
use crate::diag::Diagnostic;
use crate::pipeline::{Flip, Planned, PlannedComponent};
use crate::quantity::Count;
use crate::source::SourceMap;

/// Number of rejected candidates to show, unless all are requested.
const NEAREST: usize = 8;

/// One service; `notes` are findings that are shown nowhere else. The answer comes first: the
/// choice and its reason, or the error. The steps and the candidates follow.
pub fn service(
    planned: &Planned<'_>,
    notes: &[Diagnostic],
    detail: Detail,
    sources: &SourceMap,
) -> Sheet {
    let mut out = Sheet::default();
    let of = planned.service.api.behind_name();
    out.heading(format!("{}{of}  {}", planned.service, sources.locate(planned.service.place)));
    // The answer stands first: a reader may stop there.
    out.answer(match &planned.error {
        Some(error) => failure(error, planned, sources),
        None => super::phrases::answer(planned),
    });
    super::variants::list(&planned.service.variants, sources, &mut out);
    facts(planned, sources, &mut out);
    let decision = &planned.resolution.runtime;
    if !decision.steps.is_empty() {
        steps(&decision.steps, &mut out);
    }
    if !decision.candidates.is_empty() {
        candidates(decision, detail, sources, &mut out);
    }
    for decision in &planned.resolution.accelerators {
        accelerator::parts(decision, detail, sources, &mut out);
    }
    if let Some(difference) = &planned.controller {
        out.gap();
        out.lines([difference.to_string()]);
    }
    if !notes.is_empty() {
        out.gap();
    }
    for note in notes {
        out.fact("note", format!("{}: {}", note.code.as_str(), note.message));
    }
    if !planned.components.is_empty() {
        out.gap();
    }
    for component in &planned.components {
        part(planned, component, sources, &mut out);
    }
    out
}

/// The error of a service, its location, and the next step.
fn failure(error: &Failure, planned: &Planned<'_>, sources: &SourceMap) -> Vec<String> {
    let message = accelerator::message(error, planned, sources);
    let place = error.span.map_or(String::new(), |span| format!("  {}", sources.locate(span)));
    let mut lines = vec![format!("✗ {}: {message}{place}", error.code.as_str())];
    lines.extend(error.help.as_ref().map(|help| format!("help: {help}")));
    lines
}

/// The input of the decision, and the outcome.
fn facts(planned: &Planned<'_>, sources: &SourceMap, out: &mut Sheet) {
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
            let place = sources.locate(model.object.name_span());
            out.fact(
                "model",
                format!("{} {}  {place}", model.object.id.kind, model.object.id.name),
            );
            out.more(facts.join(" · "));
            for line in super::model::lines(model, planned.policy, sources) {
                out.more(line);
            }
        }
        None if planned.service.inline => {
            let model = inline(&planned.service).unwrap_or_else(|| "-".to_owned());
            out.fact("model", format!("{model}, described by the service"));
        }
        None => match &planned.service.described {
            Some(model) => out.fact("model", format!("{model}, described by the service")),
            None => out.fact("model", "none"),
        },
    }
    for (index, config) in planned.resolution.configs.iter().enumerate() {
        let by = applied_by(config);
        let place = match &config.found {
            Some((namespace, span)) => format!("{namespace}  {}", sources.locate(*span)),
            None => "not read".to_owned(),
        };
        let line = format!("{} ({by})  {place}", config.name);
        if index == 0 {
            out.fact("configs", line);
        } else {
            out.more(line);
        }
        if !config.sets.is_empty() {
            out.more(format!("  sets {}", config.sets.join(", ")));
        }
    }
    let decision = &planned.resolution.runtime;
    let protocol = &decision.protocol;
    let default = if protocol.default { " (default)" } else { "" };
    out.fact("protocol", format!("{}{default}", protocol.name));
    let by = decision.decided_by.map_or("", super::phrases::decided_by);
    // The number of candidates says nothing where the service names its runtime.
    match (decision.chosen, decision.basis) {
        (Some(runtime), Basis::Explicit) => out.fact(
            "runtime",
            format!(
                "{} {} (named by the service)  {}",
                runtime.object.id.kind,
                runtime.object.shown_name(),
                sources.locate(runtime.object.name_span())
            ),
        ),
        (Some(runtime), _) => out.fact(
            "runtime",
            format!(
                "{} {} ({by}, {} eligible, {} rejected)  {}",
                runtime.object.id.kind,
                runtime.object.shown_name(),
                decision.eligible,
                decision.rejected,
                sources.locate(runtime.object.name_span())
            ),
        ),
        (None, _) => out.fact("runtime", "none"),
    }
    for note in &decision.notes {
        out.more(note.to_string());
    }
}

/// Why a configuration is merged into a service.
pub(super) fn applied_by(config: &AppliedConfig) -> String {
    match config.selected_by {
        _ if !config.preset => "named by the service".to_owned(),
        "" => "shipped".to_owned(),
        selected => format!("shipped, for {selected}"),
    }
}

/// A component: its workload, and whether it fits.
fn part(planned: &Planned<'_>, component: &PlannedComponent, sources: &SourceMap, out: &mut Sheet) {
    out.fact(
        component.kind.as_str(),
        format!(
            "{}, {}, {} {} per replica{}{}",
            component.mode.as_str(),
            match &*replicas(component) {
                "1" => "1 replica".to_owned(),
                range => format!("{} replicas", range.replace("..", " to ")),
            },
            component.gpus(),
            if component.gpus() == Count::from(1) { "GPU" } else { "GPUs" },
            accelerator::more_needed(planned, component)
                .map_or(String::new(), |need| format!(" (the model needs {need})")),
            super::together::behind(component).unwrap_or_default(),
        ),
    );
    for line in accelerator::missing(component)
        .into_iter()
        .chain(super::together::placed(component))
        .chain(component.queue.as_deref().into_iter().flat_map(super::queue::lines))
    {
        out.more(line);
    }
    super::together::look(component, out);
    if let Some(cache) = &component.cache {
        out.drawn(super::kv_cache::text(component.kind.as_str(), cache, sources));
    }
}

/// The engines of a service: why a server does not start, and the arithmetic of its KV cache.
pub fn engines(planned: &Planned<'_>, sources: &SourceMap) -> Sheet {
    let mut out = Sheet::default();
    for component in &planned.components {
        let name = component.kind.as_str();
        // An engine that starts and has no cache to compute has nothing to show.
        if component.cache.is_none() && component.stopped.is_none() {
            continue;
        }
        out.heading(format!("{} of {}", name, planned.service));
        out.lines(component.stopped.iter().map(|why| format!("will not start: {why}")));
        if let Some(cache) = &component.cache {
            out.drawn(super::kv_cache::text(name, cache, sources));
        }
    }
    out
}

/// The edits that would make the requested runtime chosen.
pub fn flip(flip: &Flip, sources: &SourceMap) -> Sheet {
    let mut out = Sheet::default();
    match &flip.edits {
        // No edits are a success: it is selected already.
        Ok(edits) if edits.is_empty() => {
            out.lines(["already selected; no change needed".to_owned()]);
        }
        Ok(edits) => {
            let count = if edits.len() == 1 {
                "one edit".to_owned()
            } else {
                format!("{} edits", edits.len())
            };
            let edits = edits.iter().map(|edit| {
                let place =
                    edit.span.map_or(String::new(), |span| format!("{}: ", sources.locate(span)));
                format!("  {place}{} {}: {} → {}", edit.id, edit.path, edit.from, edit.to)
            });
            let then = flip.then.as_ref().map(|(runtime, by)| {
                format!("  then {runtime} is chosen: {}", super::phrases::decided_by(*by))
            });
            let first = format!("it would be selected with {count}:");
            out.lines(std::iter::once(first).chain(edits).chain(then));
        }
        Err(reason) => {
            out.lines([format!("no edit of this runtime would make it selected: {reason}")]);
        }
    }
    out
}

fn versioned(name: &str, version: Option<&str>) -> String {
    version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"))
}

/// The runtimes that were candidates.
pub(super) fn candidates(
    decision: &RuntimeDecision<'_>,
    detail: Detail,
    sources: &SourceMap,
    out: &mut Sheet,
) {
    let found = &decision.candidates;
    let (eligible, rejected): (Vec<_>, Vec<_>) =
        found.iter().partition(|candidate| candidate.verdict != Verdict::Rejected);
    let nearest = if detail == Detail::Nearest { NEAREST } else { rejected.len() };
    let code = |candidate: &Candidate<'_>| {
        candidate.reasons.first().map_or("", |rejection| rejection.reason.code().as_str())
    };
    let rejected = rejected
        .into_iter()
        .map(|candidate| (code(candidate), vec![row(candidate, decision, sources)]))
        .collect();
    let passed = eligible.into_iter().map(|candidate| row(candidate, decision, sources)).collect();
    let titles = ["RUNTIME", "SCOPE", "VERDICT", "RULE", "DETAIL", "WHERE"];
    listing(&titles, passed, rejected, nearest, out);
    if detail == Detail::Comparisons {
        for candidate in found {
            out.gap();
            comparisons(candidate, sources, out);
        }
    }
}

fn row(
    candidate: &Candidate<'_>,
    decision: &RuntimeDecision<'_>,
    sources: &SourceMap,
) -> Vec<Cell> {
    let object = &candidate.runtime.object;
    let notes = || candidate.notes.iter().map(ToString::to_string);
    let (rule, detail, place) = if let Some(rejection) = candidate.reasons.first() {
        // The first reason is shown, and the number of the others: all are in `--comparisons`.
        let more = candidate.reasons.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        (
            rejection.reason.code().as_str().to_owned(),
            format!("{}{more}", rejection.reason),
            rejection.origin.and_then(crate::yaml::Origin::span),
        )
    } else if candidate.verdict == Verdict::Chosen {
        // The criterion that ranks it first, and the entry that the model matches.
        let by = decision.decided_by.map_or("no choice", super::phrases::decided_by);
        let entry =
            candidate.matched_entry.map(|index| format!("matches supportedModelFormats[{index}]"));
        let detail: Vec<String> = entry.into_iter().chain(notes()).collect();
        (by.to_owned(), detail.join("; "), None)
    } else {
        let rule = candidate.notes.last().map_or("eligible", |note| note.code().as_str());
        (rule.to_owned(), notes().collect::<Vec<_>>().join("; "), None)
    };
    row![
        object.shown_name(),
        object.id.scope.namespace().map_or("cluster", |namespace| namespace.as_str()),
        verdict(candidate.verdict, candidate.verdict.as_str()),
        rule,
        detail,
        sources.locate(place.unwrap_or_else(|| object.name_span())).to_string(),
    ]
}

fn comparisons(candidate: &Candidate<'_>, sources: &SourceMap, out: &mut Sheet) {
    let id = std::iter::once(candidate.runtime.object.id.to_string());
    // The object stands above its comparisons, since rows do not name it.
    let reasons = candidate.reasons.iter();
    out.lines(id.chain(
        reasons.map(|rejection| {
            format!("  {}: {}", rejection.reason.code().as_str(), rejection.reason)
        }),
    ));
    let side = |side: &Option<(ecow::EcoString, crate::yaml::Origin)>| match side {
        Some((text, origin)) => match super::places::origin(*origin, sources) {
            Some(place) => format!("{text} ({place})").into(),
            None => Cell::from(text),
        },
        None => Cell::none(),
    };
    let rows = candidate.entries.iter().flat_map(|entry| {
        entry.checks.iter().map(move |check| {
            row![
                format!("[{}]", entry.index),
                check.attribute.as_str(),
                side(&check.model),
                side(&check.runtime),
                check.result.as_str(),
            ]
        })
    });
    if !candidate.entries.is_empty() {
        out.table(&["ENTRY", "ATTRIBUTE", "MODEL", "RUNTIME", "RESULT"], rows);
    }
}
