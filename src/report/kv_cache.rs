//! The KV cache of a component as arithmetic: as text and as JSON.

use super::screen::{Page, line};
use crate::decision::{CacheFit, Operand};
use crate::engine::{Engine, Estimate};
use crate::quantity::{Kept, Memory, grouped};
use crate::source::{SourceMap, Span};
use serde_json::{Value, json};

/// The lines of text: every operand with its source.
pub(super) fn text(name: &str, fit: &CacheFit, sources: &SourceMap) -> String {
    let mut out = Page::default();
    line!(out, "KV cache of {name}");
    // The closure adds a column for the names to the macro of this name.
    let mut line = |what: &str, text: String| {
        line!(out, "  {what:<12}{text}");
    };
    let layout = fit.layout();
    for (at, layers) in fit.cache.layers.iter().enumerate() {
        let what = if at == 0 { "kept" } else { "" };
        line(what, layers.formula(layout));
    }
    line(
        "per token",
        format!("{} bytes ({})", grouped(fit.per_token().into()), located(&fit.width, sources)),
    );
    if let (Some(context), Some(request)) = (&fit.context, fit.request()) {
        line(
            "one request",
            format!(
                "{} for {} tokens ({})",
                gib(request),
                grouped(context.value.into()),
                located(context, sources)
            ),
        );
    }
    if let (Some(memory), Some(share), Some(usable)) = (&fit.memory, &fit.share, fit.usable()) {
        line(
            "memory",
            format!(
                "{} = {} {} ({}) × {} ({}) × {} ({})",
                gib(usable),
                fit.accelerators.value,
                if fit.accelerators.value == 1 { "accelerator" } else { "accelerators" },
                located(&fit.accelerators, sources),
                gib(memory.value.0),
                memory.from,
                share.value,
                located(share, sources),
            ),
        );
    }
    if let Some(weights) = &fit.weights {
        line("weights", format!("{} = {}", gib(weights.value), weights.from));
    }
    if let Some(found) = &fit.estimate {
        // Weights have a line of their own above.
        let besides = found.terms.iter().filter(|term| term.what != "weights");
        let terms: Vec<String> =
            besides.map(|term| format!("{:.2} GiB {}", term.gib, term.what)).collect();
        if !terms.is_empty() {
            line("reserved", format!("{} on each accelerator", terms.join(", ")));
        }
    }
    // Only with all operands: a number from a part of them would be a promise.
    if let (Some(left), Some(requests)) = (left(fit), fit.requests()) {
        let copies = if fit.copies > 1 {
            format!(", {} copies of the engine", fit.copies)
        } else {
            String::new()
        };
        let most = fit
            .most
            .as_ref()
            .map(|most| format!(", at most {} ({})", most.value, located(most, sources)));
        let held = fit.held.as_ref().map(|held| {
            format!(", at most {} tokens ({})", grouped(held.value.into()), located(held, sources))
        });
        let limits = [most, held].map(Option::unwrap_or_default).concat();
        line("left", format!("{left}{copies}{limits}"));
        line("fits", requests_in_words(fit, requests));
    } else {
        // The first operand that is missing is the one to add.
        let missing = match (&fit.memory, &fit.weights, &fit.estimate, &fit.context) {
            (None, ..) => "the memory of the accelerators",
            (_, None, ..) => "the size of the model",
            (_, _, None, _) => "what the engine needs beside weights and cache",
            _ => "the length of the context",
        };
        line("fits", format!("unknown: {missing} is not known"));
    }
    out.finish()
}

/// What is left for the cache, as an interval with its evidence.
fn left(fit: &CacheFit) -> Option<String> {
    let ((low, high), found) = (fit.left_range()?, fit.estimate.as_ref()?);
    Some(format!("{} ({})", interval(low, high), evidence(fit, found)))
}

/// `12.1–12.7 GiB`.
fn interval(low: u64, high: u64) -> String {
    let (low, high) = (Memory(low).gib(), Memory(high).gib());
    if low < high { format!("{low:.1}–{high:.1} GiB") } else { format!("{high:.1} GiB") }
}

/// The logs behind an estimate.
fn evidence(fit: &CacheFit, found: &Estimate) -> String {
    let engine = fit.engine.map_or("the engine", Engine::as_str);
    match found.logs {
        0 => format!("not measured for {engine}"),
        logs => format!("measured on {logs} logs of {engine} {}", found.releases),
    }
}

/// At most how many requests fit at once.
fn requests_in_words(fit: &CacheFit, requests: u64) -> String {
    const SHORT: u64 = 8192;
    let is_long = fit.context.as_ref().is_some_and(|context| context.value > SHORT);
    let short = fit.requests_of(SHORT).filter(|_| is_long);
    // The full context does not fit, so the longest that does is the useful answer.
    if let (0, Some(longest)) = (requests, fit.longest()) {
        format!(
            "no request of the full context; the longest has {} tokens",
            grouped(longest.into())
        )
    } else {
        let short = short.map(|short| format!(" ({} at 8k)", grouped(short.into())));
        format!(
            "at most {} {} of the full context at once{}",
            grouped(requests.into()),
            if requests == 1 { "request" } else { "requests" },
            short.unwrap_or_default()
        )
    }
}

fn located<T>(operand: &Operand<T>, sources: &SourceMap) -> String {
    match operand.span.map(|span: Span| sources.locate(span)) {
        Some(place) => format!("{}, {place}", operand.from),
        None => operand.from.to_string(),
    }
}

/// The documented JSON format (docs/models.md).
pub(super) fn json(fit: &CacheFit, sources: &SourceMap) -> Value {
    let layout = fit.layout();
    let layers: Vec<Value> = fit
        .cache
        .layers
        .iter()
        .map(|layers| {
            json!({
                "layers": layers.layers,
                "kind": kind(layers.kept),
                "bytesPerToken": layers.per_token(layout),
                "requestBytes": fit.context.as_ref().map(|context| layers.request(context.value, layout)),
                "formula": layers.formula(layout),
            })
        })
        .collect();
    json!({
        "bytesPerToken": fit.per_token(),
        "requests": fit.requests(),
        "requestBytes": fit.request(),
        "longestRequest": fit.longest(),
        "memoryBytes": fit.usable(),
        "leftBytes": fit.left(),
        "left": fit.estimate.as_ref().map(|found| json!({
            "gibPerAccelerator": { "low": rounded(found.low), "middle": rounded(found.middle), "high": rounded(found.high) },
            "logs": found.logs,
            "releases": found.releases,
            "terms": found.terms.iter().map(|term| json!({ "what": term.what, "gib": rounded(term.gib) })).collect::<Vec<_>>(),
        })),
        "copies": fit.copies,
        "layers": layers,
        "operands": {
            "context": operand(fit.context.as_ref(), sources),
            "elementBytes": operand(Some(&fit.width), sources),
            "accelerators": operand(Some(&fit.accelerators), sources),
            "acceleratorMemoryBytes": fit.memory.as_ref().map(|memory| json!({ "value": memory.value.0, "from": memory.from.as_str(), "at": null })),
            "memoryShare": operand(fit.share.as_ref(), sources),
            "weightBytes": operand(fit.weights.as_ref(), sources),
            "maxRequests": operand(fit.most.as_ref(), sources),
        },
    })
}

fn operand<T: serde::Serialize>(operand: Option<&Operand<T>>, sources: &SourceMap) -> Value {
    operand.map_or(Value::Null, |operand| {
        let place = operand.span.map(|span| sources.locate(span).to_string());
        json!({ "value": operand.value, "from": operand.from.as_str(), "at": place })
    })
}

fn kind(kept: Kept) -> &'static str {
    match kept {
        Kept::Grouped { window: None, .. } => "attention",
        Kept::Grouped { window: Some(_), .. } => "sliding-window",
        Kept::Latent { .. } => "latent",
        Kept::Compressed { .. } => "compressed",
        Kept::State { .. } => "state",
    }
}

/// Hundredths of a GiB, not less than 0.
fn rounded(gib: f64) -> f64 {
    (gib.max(0.0) * 100.0).round() / 100.0
}

fn gib(bytes: u64) -> String {
    Memory(bytes).short()
}

/// The cells of a table: the memory of one accelerator, what is left for the cache of one copy of
/// the engine, the context, and how many requests of that length fit.
pub(super) fn cells(fit: Option<&CacheFit>) -> [String; 4] {
    let cells = [
        fit.and_then(|fit| Some(gib(fit.memory.as_ref()?.value.0))),
        fit.and_then(|fit| fit.left_range().map(|(low, high)| interval(low, high))),
        fit.and_then(|fit| Some(grouped(fit.context.as_ref()?.value.into()))),
        fit.and_then(|fit| Some(grouped(fit.requests()?.into()))),
    ];
    // What is not known without a config, a class or a label is not shown as none.
    cells.map(|cell| cell.unwrap_or_else(|| "unknown".to_owned()))
}

/// In a few words: the length of a request, and how many requests of full length fit.
pub(super) fn words(fit: &CacheFit) -> Option<String> {
    let (context, requests, longest) = (fit.context.as_ref()?, fit.requests()?, fit.longest()?);
    Some(if requests == 0 {
        format!("{} of {} tokens", grouped(longest.into()), grouped(context.value.into()))
    } else {
        format!("{} tokens × {requests}", grouped(context.value.into()))
    })
}
