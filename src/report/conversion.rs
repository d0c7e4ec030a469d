//! The losses of a conversion, one line each.

use super::screen::{Page, line};
use crate::diag::Diagnostic;
use crate::source::SourceMap;

/// Object, path and reason of every loss, with code and location.
pub fn losses(found: &[Diagnostic], sources: &SourceMap) -> String {
    let mut out = Page::default();
    for loss in found {
        let path = loss.path.as_deref().unwrap_or_default();
        let place = loss.span().map_or_else(String::new, |span| {
            let place = sources.locate(span);
            format!(" ({}:{}:{})", place.file, place.line, place.column)
        });
        line!(
            out,
            "{}[{}] {}: {path}: {}{place}",
            loss.severity.as_str(),
            loss.code.as_str(),
            loss.objects.join(", "),
            loss.message
        );
    }
    out.finish()
}
