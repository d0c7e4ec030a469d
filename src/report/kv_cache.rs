//! The KV cache of a component as arithmetic: as text and as JSON.

use super::screen::{Page, line};
use crate::decision::{CacheFit, Operand};
use crate::quantity::{Kept, Memory, grouped};
use crate::source::{SourceMap, Span};
use serde_json::{Value, json};

/// The lines of text: every operand with its source.
pub(super) fn text(name: &str, fit: &CacheFit, sources: &SourceMap) -> String {
    let mut out = Page::default();
    line!(out, "KV cache of {name}");
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
        format!("{} bytes ({})", grouped(fit.per_token().into()), said(&fit.width, sources)),
    );
    if let (Some(context), Some(request)) = (&fit.context, fit.request()) {
        line(
            "one request",
            format!(
                "{} for {} tokens ({})",
                gib(request),
                grouped(context.value.into()),
                said(context, sources)
            ),
        );
    }
    if let (Some(memory), Some(usable)) = (&fit.memory, fit.usable()) {
        line(
            "memory",
            format!(
                "{} = {} {} ({}) × {} ({}) × {} ({})",
                gib(usable),
                fit.accelerators.value,
                if fit.accelerators.value == 1 { "accelerator" } else { "accelerators" },
                said(&fit.accelerators, sources),
                gib(memory.value.0),
                memory.from,
                fit.share.value,
                said(&fit.share, sources),
            ),
        );
    }
    if let Some(weights) = &fit.weights {
        line("weights", format!("{} = {}", gib(weights.value), weights.from));
    }
    if let (Some(left), Some(requests)) = (fit.left(), fit.requests()) {
        let copies = if fit.copies > 1 {
            format!(", {} copies of the engine", fit.copies)
        } else {
            String::new()
        };
        let most = fit
            .most
            .as_ref()
            .map(|most| format!(", at most {} ({})", most.value, said(most, sources)));
        line("left", format!("{}{copies}{}", gib(left), most.unwrap_or_default()));
        let longest = match (requests, fit.longest()) {
            (0, Some(longest)) => format!("; one of up to {} tokens", grouped(longest.into())),
            _ => String::new(),
        };
        line(
            "fits",
            format!(
                "at most {requests} requests of full length at once{longest}, before activations"
            ),
        );
    } else {
        let missing = match (&fit.memory, &fit.weights, &fit.context) {
            (None, ..) => "the memory of the accelerators",
            (_, None, _) => "the size of the model",
            _ => "the length of the context",
        };
        line("fits", format!("unknown: {missing} is not known"));
    }
    out.finish()
}

fn said<T>(operand: &Operand<T>, sources: &SourceMap) -> String {
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
        "copies": fit.copies,
        "layers": layers,
        "operands": {
            "context": operand(fit.context.as_ref(), sources),
            "elementBytes": operand(Some(&fit.width), sources),
            "accelerators": operand(Some(&fit.accelerators), sources),
            "acceleratorMemoryBytes": fit.memory.as_ref().map(|memory| json!({ "value": memory.value.0, "from": memory.from.as_str(), "at": null })),
            "memoryShare": operand(Some(&fit.share), sources),
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

fn gib(bytes: u64) -> String {
    Memory(bytes).short()
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
