//! Findings as JUnit XML: one test case per file that was read, with one failure that contains
//! every finding that counts.

use super::places::Places;
use super::screen::{Page, printable, put};
use crate::diag::{Diagnostic, Severity};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Test cases by file. Findings below `least` are printed and do not fail a test case.
pub fn suites(found: &[Diagnostic], places: &Places<'_>, least: Severity) -> String {
    let mut cases: BTreeMap<String, Vec<&Diagnostic>> = BTreeMap::new();
    let read = places.sources().iter().map(|(_, source)| source);
    // Files without a finding are test cases as well: they passed.
    for source in read.filter(|source| source.reported && source.is_input()) {
        cases.entry(places.file(&source.name)).or_default();
    }
    for finding in found {
        // A finding without a file is one about the whole run.
        let file = places.file_of(finding).unwrap_or_else(|| "ome".to_owned());
        cases.entry(file).or_default().push(finding);
    }
    let failed = cases
        .values()
        .filter(|found| found.iter().any(|finding| finding.severity >= least))
        .count();
    let counts = format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", cases.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ome validate\" {counts}>\n  <testsuite name=\"ome validate\" {counts}>\n"
    );
    for (file, found) in &cases {
        let name = escaped(&printable(file));
        if found.is_empty() {
            let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"ome.validate\"/>");
            continue;
        }
        let _ = writeln!(out, "    <testcase name=\"{name}\" classname=\"ome.validate\">");
        // Findings below the bar must be seen and must not fail a pipeline.
        let (fatal, mild): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
            found.iter().partition(|finding| finding.severity >= least);
        // Readers count failures by test case, so each has one failure with every error of the
        // file.
        if let Some(first) = fatal.first() {
            let more = match fatal.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let lines: Vec<String> =
                fatal.iter().map(|finding| escaped(&line(finding, places))).collect();
            let _ = writeln!(
                out,
                "      <failure type=\"{}\" message=\"{}{more}\">{}</failure>",
                first.code.as_str(),
                escaped(&printable(&first.message)),
                lines.join("\n")
            );
        }
        if !mild.is_empty() {
            let lines: Vec<String> =
                mild.iter().map(|finding| escaped(&line(finding, places))).collect();
            let _ = writeln!(out, "      <system-out>{}</system-out>", lines.join("\n"));
        }
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// `file:line:column: error: message [code]`, then the help.
fn line(finding: &Diagnostic, places: &Places<'_>) -> String {
    let place = finding
        .span()
        .map(|span| places.locate(span))
        .map_or(String::new(), |place| format!("{}:{}:{}: ", place.file, place.line, place.column));
    let mut out = Page::default();
    let (severity, code) = (finding.severity.as_str(), finding.code.as_str());
    put!(out, "{place}{severity}: {} [{code}]", finding.message);
    if let Some(help) = &finding.help {
        put!(out, "\nhelp: {help}");
    }
    out.finish()
}

/// Escapes text for XML 1.0; characters that XML does not allow are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Tabs are control characters, too, and none is left in a printable text.
            '\n' => out.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, SourceMap, Span};

    #[test]
    fn every_file_is_a_test_case_and_only_the_severity_fails_it() {
        let mut sources = SourceMap::new();
        let bad = sources.add(Source::new("bad.yaml", SourceKind::File, "a: 1\n"));
        sources.add(Source::new("good.yaml", SourceKind::File, "a: 1\n"));
        sources.add(Source::new("runtimes/a.yaml", SourceKind::Builtin, "a: 1\n"));
        let span = Span { source: bad, start: 3, end: 4 };
        let found = [
            Diagnostic::new(Code::OneSidedRange, "a < b").at(span),
            Diagnostic::new(Code::NoFiles, "no\u{1b}thing"),
        ];
        let text = suites(&found, &Places::new(&sources, None), Severity::Error);
        assert!(
            text.contains("tests=\"3\" failures=\"1\"")
                && text.contains("<testcase name=\"good.yaml\" classname=\"ome.validate\"/>"),
            "{text}"
        );
        assert!(
            text.contains(
                "<system-out>bad.yaml:1:4: warning: a &lt; b [one-sided-range]</system-out>"
            ),
            "{text}"
        );
        assert!(text.contains("no\\u{1b}thing") && !text.contains("runtimes/a.yaml"), "{text}");
        assert!(
            suites(&found, &Places::new(&sources, None), Severity::Warning)
                .contains("failures=\"2\"")
        );
    }
}
