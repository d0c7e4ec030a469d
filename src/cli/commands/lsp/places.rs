//! Where objects are defined, and where they are named.

use super::context::Context;
use super::hover::{planned, target};
use crate::editor::{self, namings};
use lsp_types::{Location, ReferenceParams, TextDocumentPositionParams};

/// Returns the definition of the object that is named at a position. Built-in objects have no file.
pub(super) fn definition(
    context: &Context,
    params: &TextDocumentPositionParams,
) -> Option<Vec<Location>> {
    let id = context.source(&params.text_document.uri)?;
    let place = context.place(id, params.position);
    let object = context.object(place)?;
    let cursor = editor::at(&object.node, place)?;
    let (target, _) = target(context, object, &cursor, place)?;
    Some(vec![context.location(target.name_span())?])
}

/// Every place that names the object that a place names or defines.
pub(super) fn references(context: &Context, params: &ReferenceParams) -> Option<Vec<Location>> {
    let at = &params.text_document_position;
    let id = context.source(&at.text_document.uri)?;
    let place = context.place(id, at.position);
    let object = context.object(place)?;
    let cursor = editor::at(&object.node, place)?;
    let (target, _) = target(context, object, &cursor, place)?;
    let catalog = &context.session.world.catalog;
    let planned = planned(context, &catalog.services().collect::<Vec<_>>());
    let named = namings(catalog, &planned);
    let named = named.iter().filter(|naming| {
        let is = |other: &crate::api::Object| other.api == target.api && other.id == target.id;
        naming.target.is_some_and(is)
    });
    let definition = params.context.include_declaration.then(|| target.name_span());
    let spans = definition.into_iter().chain(named.map(|naming| naming.span));
    Some(spans.filter_map(|span| context.location(span)).collect())
}
