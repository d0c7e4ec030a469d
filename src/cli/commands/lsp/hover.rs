//! Hover texts: of an object, or of a field.

use super::context::Context;
use crate::api::{Object, Views};
use crate::catalog::LLM_CONFIG;
use crate::editor::{self, Cursor, Naming, namings};
use crate::pipeline::{
    Depth, Planned, Planner, User, runtimes_for_model, users_of_config, users_of_model,
    users_of_runtime,
};
use crate::report::catalog::{items, show};
use crate::report::judged::Detail;
use crate::report::table::Style;
use crate::report::{explain, schema as fields, users};
use crate::schema;
use crate::source::{SourceId, Span};
use crate::yaml::Segment;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, TextDocumentPositionParams};

/// Describes a position: the object that is named there, the object whose name is there, or the
/// field.
pub(super) fn hover(context: &Context, params: &TextDocumentPositionParams) -> Option<Hover> {
    let id = context.source(&params.text_document.uri)?;
    let place = context.place(id, params.position);
    let object = context.object(place)?;
    let cursor = editor::at(&object.node, place)?;
    let (text, span) = if let Some((target, span)) = target(context, object, &cursor, place) {
        (about(context, target), span)
    } else {
        let engines = engines(context, object, &cursor);
        let text = match field(object, &cursor) {
            Some(field) if engines.is_empty() => field,
            Some(field) => format!("{field}\n{engines}"),
            None if engines.is_empty() => return None,
            None => engines,
        };
        (text, cursor.span)
    };
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: text };
    Some(Hover { contents: HoverContents::Markup(contents), range: Some(context.range(span)) })
}

/// Returns the services that are defined in a text.
pub(super) fn services(context: &Context, id: SourceId) -> Vec<&Views> {
    let session = &context.session;
    let services = session.world.catalog.services();
    services.filter(|views| views.followed().object.span.source == id).collect()
}

/// Services with their decisions.
pub(super) fn planned<'a>(context: &'a Context, services: &[&'a Views]) -> Vec<Planned<'a>> {
    let session = &context.session;
    Planner::of(&session.world).plan_all(services, Depth::Plan)
}

/// The name at a place, with the object that is meant.
pub(super) fn naming(context: &Context, place: Span) -> Option<Naming<'_>> {
    let planned = planned(context, &services(context, place.source));
    namings(&context.session.world.catalog, &planned).into_iter().find(|naming| {
        let span = naming.span;
        span.source == place.source && span.start <= place.start && place.start <= span.end
    })
}

/// The object that a place names or defines, and the place of the name.
pub(super) fn target<'a>(
    context: &'a Context,
    object: &'a Object,
    cursor: &Cursor,
    place: Span,
) -> Option<(&'a Object, Span)> {
    // At its own name, the object itself is meant.
    if !cursor.on_key && cursor.path.is("metadata.name") {
        return Some((object, cursor.span));
    }
    if cursor.on_key {
        return None;
    }
    let naming = naming(context, place)?;
    Some((naming.target?, naming.span))
}

/// Describes an object: the decisions of a service, the users of a runtime or a model, the facts of
/// a class.
fn about(context: &Context, object: &Object) -> String {
    let session = &context.session;
    let (catalog, sources) = (&session.world.catalog, &session.world.sources);
    let is = |other: &Object| other.api == object.api && other.id == object.id;
    if let Some(views) = catalog.services().find(|views| is(&views.followed().object)) {
        let planned = Planner::new(catalog).plan(views, Depth::Plan);
        return explain::service(&planned, &[], Detail::Nearest, sources).markdown();
    }
    if let Some(runtime) = catalog.all_runtimes().find(|runtime| is(&runtime.object)) {
        let found = users_of_runtime(catalog, runtime);
        return users::runtime(runtime, &found, sources).markdown();
    }
    if let Some(model) = catalog.models().find(|model| is(&model.object)) {
        let found = users_of_model(catalog, model);
        let runtimes = runtimes_for_model(catalog, model);
        let detail = Detail::Nearest;
        return users::model(model, &found, runtimes.as_ref(), detail, sources).markdown();
    }
    if object.id.kind == LLM_CONFIG {
        let found = users_of_config(catalog, object);
        return users::config(object, &found, sources).markdown();
    }
    let place = sources.locate(object.name_span());
    let heading = format!("### {} {}\n\n{place}\n", object.id.kind, object.id.name);
    let shown = items(&session.world, is);
    if let Some(item) = shown.first() {
        let style = Style { color: false, width: None };
        format!("{heading}\n```text\n{}```\n", show(item, &session.world, style))
    } else {
        heading
    }
}

/// The fields of a container from which the needs of its engine are computed.
const OF_ENGINES: [&str; 5] = ["args", "command", "env", "image", "resources"];

/// Services of a runtime whose engines are shown.
const MOST_ENGINES: usize = 3;

/// The engines of the services that a field of a container belongs to: of the service itself, or of
/// those that use the runtime.
fn engines(context: &Context, object: &Object, cursor: &Cursor) -> String {
    let is_of_engine = |segment: &Segment| match segment {
        Segment::Field(name) => OF_ENGINES.contains(&name.as_str()),
        _ => false,
    };
    if !cursor.path.0.iter().any(is_of_engine) {
        return String::new();
    }
    let session = &context.session;
    let (catalog, sources) = (&session.world.catalog, &session.world.sources);
    let is = |other: &Object| other.api == object.api && other.id == object.id;
    let views = catalog.services().find(|views| is(&views.followed().object));
    let planned: Vec<Planned<'_>> = if let Some(views) = views {
        vec![Planner::new(catalog).plan(views, Depth::Plan)]
    } else if let Some(runtime) = catalog.all_runtimes().find(|runtime| is(&runtime.object)) {
        let users = users_of_runtime(catalog, runtime).into_iter();
        let users = users.filter(User::is_chosen);
        users.map(|user| user.planned).take(MOST_ENGINES).collect()
    } else {
        return String::new();
    };
    planned.iter().map(|planned| explain::engines(planned, sources).markdown()).collect()
}

/// Describes a field: its type, its purpose, and the fields below it.
fn field(object: &Object, cursor: &Cursor) -> Option<String> {
    let schema = schema::kind(&object.api_version, &object.id.kind)?;
    Some(fields::page(schema, &cursor.path)?.markdown())
}
