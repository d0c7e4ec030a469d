//! The repairs of findings as code actions.

use super::context::{Context, uri_of};
use super::diagnostics;
use crate::diag::Replacement;
use crate::emit::fix;
use crate::report::phrases;
use crate::source::{SourceId, Span};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, WorkspaceEdit,
};

/// Returns the fixes of the findings in a range, and one action with all fixes of the file.
pub(super) fn actions(
    context: &Context,
    params: &CodeActionParams,
) -> Option<Vec<CodeActionOrCommand>> {
    let id = context.source(&params.text_document.uri)?;
    let wanted = |kind: &CodeActionKind| {
        params.context.only.as_ref().is_none_or(|only| {
            // `source` requests `source.fixAll`, too.
            only.iter().any(|code_action_kind| {
                kind.as_str()
                    .strip_prefix(code_action_kind.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let requested = Span {
        end: context.place(id, params.range.end).start,
        ..context.place(id, params.range.start)
    };
    let mut found = Vec::new();
    let repaired = context.found.iter().filter(|finding| {
        let here = |span: Span| {
            span.source == id && span.start <= requested.end && requested.start <= span.end
        };
        !finding.fix.is_empty() && finding.span().is_some_and(here)
    });
    for finding in repaired.filter(|_| wanted(&CodeActionKind::QUICKFIX)) {
        let how = finding.help.as_deref().unwrap_or(&finding.message);
        found.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("{}: {how}", finding.code.as_str()),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: diagnostics::of_finding(context, finding)
                .map(|(_, diagnostic)| vec![diagnostic]),
            edit: edit(context, id, finding.fix.iter()),
            is_preferred: Some(true),
            ..CodeAction::default()
        }));
    }
    let sources = &context.session.world.sources;
    // Repairs that overlap are not made together.
    let all = fix::chosen(&context.found, sources).remove(&id).unwrap_or_default();
    if wanted(&CodeActionKind::SOURCE_FIX_ALL) && !all.is_empty() {
        let edits = all.iter().flat_map(|index| &context.found[*index].fix);
        found.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("ome: make {} in this file", phrases::plural(all.len(), "repair")),
            kind: Some(CodeActionKind::SOURCE_FIX_ALL),
            edit: edit(context, id, edits),
            ..CodeAction::default()
        }));
    }
    Some(found)
}

/// Replacements in one text.
fn edit<'a>(
    context: &Context,
    id: SourceId,
    edits: impl Iterator<Item = &'a Replacement>,
) -> Option<WorkspaceEdit> {
    let path = context.path(id)?;
    let mut changes: Vec<&Replacement> = edits.filter(|edit| edit.span.source == id).collect();
    changes.sort_by_key(|edit| edit.span);
    let changes = changes.into_iter().map(|edit| {
        let range = context.range(edit.span);
        OneOf::Left(TextEdit { range, new_text: edit.insert.clone() })
    });
    // An editor refuses edits of a text that has changed since.
    let text_document = OptionalVersionedTextDocumentIdentifier {
        uri: uri_of(path)?,
        version: context.versions.get(path).copied(),
    };
    let edits = changes.collect();
    Some(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(vec![TextDocumentEdit {
            text_document,
            edits,
        }])),
        ..WorkspaceEdit::default()
    })
}
