//! Findings as workflow commands of GitHub Actions, which become annotations of a change.

use super::findings;
use super::places::Places;
use crate::diag::{Diagnostic, Severity};
use crate::report::screen::printable;
use std::fmt::Write;

/// One command per finding, one per line.
pub fn commands(found: &[Diagnostic], places: &Places<'_>) -> String {
    let mut out = String::new();
    for finding in found {
        let command = match finding.severity {
            Severity::Info => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = finding.span().map(|span| places.locate(span));
        let mut properties = Vec::new();
        match (&place, &finding.file) {
            (Some(place), _) => {
                properties.push(format!("file={}", property(&place.file)));
                properties.push(format!("line={}", place.line));
                properties.push(format!("col={}", place.column));
                properties.push(format!("endLine={}", place.end_line));
                // GitHub reads columns as a range only within one line.
                if place.end_line == place.line {
                    properties.push(format!("endColumn={}", place.end_column));
                }
            }
            (None, Some(file)) => properties.push(format!("file={}", property(&places.file(file)))),
            (None, None) => {}
        }
        properties.push(format!("title={}", finding.code.as_str()));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "::{command} {}::{}",
            properties.join(","),
            data(&findings::annotation(finding))
        );
    }
    out
}

/// Escapes a printable text for a command.
pub(super) fn data(text: &str) -> String {
    // `%` first: the escapes have it.
    text.replace('%', "%25").replace('\n', "%0A")
}

/// Escapes the value of a property.
pub(super) fn property(text: &str) -> String {
    data(&printable(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, SourceMap, Span};

    #[test]
    fn input_text_is_escaped_in_github_commands() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a,b:c.yaml", SourceKind::File, "a: 1\n"));
        let finding = Diagnostic::new(Code::InvalidValue, "100%\n::error::x")
            .at(Span { source, start: 3, end: 4 })
            .help("do\u{1b}[2J it");
        assert_eq!(
            commands(&[finding], &Places::new(&sources, None)),
            "::error file=a%2Cb%3Ac.yaml,line=1,col=4,endLine=1,endColumn=5,title=invalid-value::100%25\\n::error::x%0Ahelp: do\\u{1b}[2J it\n"
        );
    }
}
