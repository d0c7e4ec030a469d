//! Fields, accepted values and names as completions.

use super::context::Context;
use crate::editor::{self, Part};
use crate::report::schema as fields;
use crate::schema;
use crate::source::Span;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, TextEdit,
};

/// Completions at a position.
pub(super) fn complete(context: &Context, params: &CompletionParams) -> Option<CompletionResponse> {
    let at = &params.text_document_position;
    let id = context.source(&at.text_document.uri)?;
    let place = context.place(id, at.position);
    let sources = &context.session.world.sources;
    let text = &sources.get(id).text;
    let typing = editor::typing(text, place.start as usize)?;
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let word = Span { source: id, start: offset(typing.word.start), end: offset(typing.word.end) };
    let range = context.range(word);
    let catalog = &context.session.world.catalog;
    let proposals = editor::proposals(&typing, catalog, sources, fields::summary);
    let schema = schema::kind(&typing.api_version, &typing.kind);
    let items = proposals.into_iter().enumerate().map(|(index, proposal)| CompletionItem {
        kind: Some(match (&proposal.field, &typing.part) {
            (Some(_), _) | (None, Part::Key(_)) => CompletionItemKind::FIELD,
            (None, Part::Value) => CompletionItemKind::VALUE,
        }),
        detail: Some(proposal.detail).filter(|detail| !detail.is_empty()),
        documentation: proposal
            .field
            .as_ref()
            .and_then(|path| Some(Documentation::String(schema?.describe(path)?.to_owned()))),
        // The order of the schema, and own objects before those that are built in.
        sort_text: Some(format!("{index:05}")),
        filter_text: Some(proposal.label.clone()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: proposal.insert })),
        label: proposal.label,
        ..CompletionItem::default()
    });
    Some(CompletionResponse::Array(items.collect()))
}
