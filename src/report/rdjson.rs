//! Findings in reviewdog's Diagnostic Format.
//!
//! Source: reviewdog, proto/rdf/reviewdog.proto, `DiagnosticResult`: columns count bytes from 1.

use super::findings;
use super::links;
use super::places::Places;
use crate::diag::{Diagnostic, Severity};
use crate::report::screen::printable;
use crate::source::Span;
use serde_json::{Value, json};

/// One document with all findings.
pub fn report(found: &[Diagnostic], places: &Places<'_>) -> Value {
    json!({
        "source": { "name": "ome", "url": links::HOME },
        "diagnostics": found.iter().map(|finding| diagnostic(finding, places)).collect::<Vec<_>>(),
    })
}

fn diagnostic(finding: &Diagnostic, places: &Places<'_>) -> Value {
    let mut out = json!({
        "message": findings::annotation(finding),
        "severity": match finding.severity {
            Severity::Info => "INFO",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        },
        "code": { "value": finding.code.as_str(), "url": links::code(finding.code) },
    });
    if let Some(file) = places.file_of(finding) {
        out["location"] = json!({ "path": file });
    }
    if let Some(span) = finding.span() {
        out["location"]["range"] = range(span, places);
        // Suggestions are edits at the place of the finding; reviewdog takes none for another file.
        let here = |edit: &&crate::diag::Replacement| edit.span.source == span.source;
        let fixes: Vec<Value> = finding
            .fix
            .iter()
            .filter(here)
            .map(|edit| json!({ "range": range(edit.span, places), "text": edit.insert }))
            .collect();
        if !fixes.is_empty() {
            out["suggestions"] = fixes.into();
        }
    }
    if finding.labels.len() > 1 {
        out["related_locations"] = finding.labels[1..]
            .iter()
            .map(|label| {
                let file = places.file(&places.sources().get(label.span.source).name);
                json!({
                    "message": printable(&label.text),
                    "location": { "path": file, "range": range(label.span, places) },
                })
            })
            .collect();
    }
    out
}

fn range(span: Span, places: &Places<'_>) -> Value {
    let source = places.sources().get(span.source);
    let position = |offset: u32| {
        let (line, _) = source.line_column(offset);
        // The format counts columns in bytes.
        json!({ "line": line, "column": source.byte_column(offset) })
    };
    json!({ "start": position(span.start), "end": position(span.end.max(span.start)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, SourceMap};

    #[test]
    fn columns_count_bytes() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: 1\né: ü\n"));
        let finding = Diagnostic::new(Code::InvalidValue, "no")
            .at(Span { source, start: 9, end: 11 })
            .fix(Span { source, start: 9, end: 11 }, "u");
        let report = report(&[finding], &Places::new(&sources, None));
        let range =
            json!({ "start": { "line": 2, "column": 5 }, "end": { "line": 2, "column": 7 } });
        assert_eq!(report["diagnostics"][0]["location"]["range"], range);
        assert_eq!(report["diagnostics"][0]["suggestions"][0]["range"], range);
    }
}
