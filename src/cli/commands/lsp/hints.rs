//! Inlay hints: the selected runtime next to the model of a service, and the rank of a named
//! runtime among the eligible ones.

use super::context::Context;
use super::hover::{planned, services};
use crate::pipeline::{Planned, runtimes_for_model};
use crate::report::plan::hint as chosen;
use crate::source::Span;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams};

/// The hints of the services in a range.
pub(super) fn hints(context: &Context, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let id = context.source(&params.text_document.uri)?;
    let services = services(context, id);
    let (start, end) =
        (context.place(id, params.range.start).start, context.place(id, params.range.end).start);
    let hints = planned(context, &services).into_iter().filter_map(|planned| {
        let (span, text) = hint(context, &planned)?;
        (span.source == id && start <= span.end && span.end <= end).then(|| InlayHint {
            position: context.range(span).end,
            label: InlayHintLabel::String(text),
            kind: None,
            text_edits: None,
            tooltip: None,
            padding_left: Some(true),
            padding_right: None,
            data: None,
        })
    });
    let mut hints: Vec<InlayHint> = hints.collect();
    hints.sort_by_key(|hint| hint.position);
    Some(hints)
}

fn hint(context: &Context, planned: &Planned<'_>) -> Option<(Span, String)> {
    let service = planned.read_in(&context.session.world.catalog)?;
    if let Some(error) = &planned.error {
        let named = service.runtime.as_ref().map(|runtime| &runtime.name);
        let named = named.or_else(|| service.model.as_ref().map(|model| &model.name));
        // A kind may name neither.
        let span =
            named.map_or_else(|| Some(service.object.name_span()), crate::api::Field::span)?;
        return Some((span, format!("✗ {}", error.code.as_str())));
    }
    // Configs take the place of a runtime.
    if !planned.resolution.configs.is_empty() {
        let configs = planned.resolution.configs.iter();
        let names: Vec<&str> = configs.map(|config| config.name.as_str()).collect();
        return Some((service.object.name_span(), names.join(" + ")));
    }
    if let Some(runtime) = &service.runtime {
        let session = &context.session;
        let model = planned.resolution.model?;
        let ranked = runtimes_for_model(&session.world.catalog, model)?.ok()?;
        let chosen = planned.resolution.chosen()?;
        let rank = ranked
            .candidates
            .iter()
            .take(ranked.eligible)
            .position(|candidate| candidate.runtime.object.id == chosen.object.id);
        let text = match rank {
            Some(rank) => format!("would rank {} of {}", rank + 1, ranked.eligible),
            None => format!("would not be selected, {} could", ranked.eligible),
        };
        return Some((runtime.name.span()?, text));
    }
    let model = service.model.as_ref()?;
    Some((model.name.span()?, chosen(planned)?))
}
