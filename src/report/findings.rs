//! Findings as JSON and for people.
//!
//! [`human`] is the only place that names miette.

use super::screen::drawable;
use crate::diag::{Diagnostic, Severity};
use crate::source::{Source, SourceId, SourceMap};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceSpan, SpanContents,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};
use std::sync::Arc;

pub use super::screen::printable;

/// Sorts findings by file, place, code and message, and drops repeats.
pub fn sort(found: &mut Vec<Diagnostic>, sources: &SourceMap) {
    let key = |diagnostic: &Diagnostic| {
        let place = diagnostic.span();
        let file: Arc<str> = match (place, &diagnostic.file) {
            (Some(span), _) => sources.get(span.source).name.clone(),
            (None, Some(file)) => file.as_str().into(),
            (None, None) => "".into(),
        };
        (
            file,
            place.map(|span| (span.start, span.end)),
            diagnostic.code.as_str(),
            diagnostic.message.clone(),
        )
    };
    found.sort_by_cached_key(key);
    found.dedup();
}

/// All findings in the documented shape, made one after the other: a broken file has as many as it
/// has lines.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The findings.
    pub found: &'a [Diagnostic],
    /// The texts they stand in.
    pub sources: &'a SourceMap,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("schemaVersion", super::SCHEMA_VERSION)?;
        map.serialize_entry(
            "findings",
            &Each(self.found, |finding: &Diagnostic| json(finding, self.sources)),
        )?;
        map.end()
    }
}

/// A list whose elements are made when they are written.
pub(super) struct Each<'a, F>(pub(super) &'a [Diagnostic], pub(super) F);

impl<F: Fn(&Diagnostic) -> Value> Serialize for Each<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

/// One finding in the documented shape.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let place = diagnostic.span().map(|span| sources.locate(span));
    let mut out = json!({
        "code": diagnostic.code.as_str(),
        "severity": diagnostic.severity.as_str(),
        "message": diagnostic.message,
        "file": place.as_ref().map(|place| place.file.to_string()).or_else(|| diagnostic.file.clone()),
        "line": place.as_ref().map(|place| place.line),
        "column": place.as_ref().map(|place| place.column),
        "endLine": place.as_ref().map(|place| place.end_line),
        "endColumn": place.as_ref().map(|place| place.end_column),
        "path": diagnostic.path,
        "help": diagnostic.help,
        "objects": diagnostic.objects,
        "fix": fix(diagnostic, sources),
    });
    if diagnostic.labels.len() > 1 {
        out["related"] = diagnostic.labels[1..]
            .iter()
            .map(|label| {
                let place = sources.locate(label.span);
                json!({ "file": place.file.to_string(), "line": place.line, "column": place.column, "message": label.text })
            })
            .collect();
    }
    if let Some((min, max)) = &diagnostic.overlap {
        out["overlap"] = json!({ "min": min, "max": max });
    }
    out
}

fn fix(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    if diagnostic.fix.is_empty() {
        return Value::Null;
    }
    diagnostic
        .fix
        .iter()
        .map(|edit| {
            let place = sources.locate(edit.span);
            json!({ "file": place.file.to_string(), "line": place.line, "column": place.column, "endLine": place.end_line, "endColumn": place.end_column, "insert": edit.insert })
        })
        .collect()
}

/// A finding in the shape miette draws.
#[derive(Debug)]
struct Drawn<'a> {
    diagnostic: &'a Diagnostic,
    source: Option<Excerpt<'a>>,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.diagnostic.message))
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        Some(Box::new(self.diagnostic.code.as_str()))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Info => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(printable(help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let first = self.diagnostic.span()?.source;
        let text = self.source.as_ref().map_or("", |source| &*source.text);
        Some(Box::new(
            self.diagnostic
                .labels
                .iter()
                .filter(move |label| label.span.source == first)
                .enumerate()
                .map(|(index, label)| {
                    let said = (!label.text.is_empty()).then(|| printable(&label.text));
                    let (start, length) = (label.span.start as usize, marked(text, label.span));
                    if index == 0 {
                        LabeledSpan::new_primary_with_span(said, (start, length))
                    } else {
                        LabeledSpan::new(said, start, length)
                    }
                }),
        ))
    }
}

/// Findings as people read them: the text with the place marked, then the help.
pub fn human(found: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    drawn_first(found, sources, color, MOST_DRAWN)
}

/// The same beside an answer that matters more than they do: only the first few are drawn.
pub fn beside(found: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    drawn_first(found, sources, color, MOST_BESIDE)
}

/// The first `most` drawn with their lines, a line for each of the rest.
fn drawn_first(found: &[Diagnostic], sources: &SourceMap, color: bool, most: usize) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // A message is one line, as long as it is: a terminal folds it, and `grep` finds it.
    let handler =
        GraphicalReportHandler::new_themed(theme).with_wrap_lines(false).with_links(false);
    let mut out = String::new();
    let mut texts: HashMap<SourceId, Arc<str>> = HashMap::new();
    for diagnostic in found.iter().take(most) {
        let wide = is_wide(diagnostic, sources);
        let source = diagnostic.span().filter(|_| !wide).map(|span| {
            let source = sources.get(span.source);
            Excerpt {
                source,
                text: texts.entry(span.source).or_insert_with(|| tame(&source.text)).clone(),
            }
        });
        let drawn = Drawn { diagnostic, source };
        let start = out.len();
        if handler.render_report(&mut out, &drawn).is_err() {
            out.truncate(start);
            out.push_str(&printable(&diagnostic.message));
        }
        if let (None, Some(file)) = (
            diagnostic.span(),
            diagnostic.file.as_ref().filter(|file| !diagnostic.message.contains(file.as_str())),
        ) {
            let _ = writeln!(out, "   in {}", printable(file));
        }
        if let (Some(span), true) = (diagnostic.span(), wide) {
            let place = sources.locate(span);
            let _ = writeln!(
                out,
                "   at {}:{}:{}: {}",
                printable(&place.file),
                place.line,
                place.column,
                excerpt(sources.text(span))
            );
        }
        for label in
            diagnostic.labels.iter().skip(1).filter(|label| {
                Some(label.span.source) != diagnostic.span().map(|span| span.source)
            })
        {
            let _ = writeln!(
                out,
                "   and {}",
                printable(&format!("{}: {}", sources.locate(label.span), label.text))
            );
        }
        out.push('\n');
    }
    for diagnostic in found.iter().skip(most) {
        let place = diagnostic
            .span()
            .map(|span| sources.locate(span))
            .map(|place| format!("{}:{}:{}: ", place.file, place.line, place.column));
        let place = place
            .or_else(|| diagnostic.file.as_ref().map(|file| format!("{file}: ")))
            .unwrap_or_default();
        let (severity, code) = (diagnostic.severity.as_str(), diagnostic.code.as_str());
        let _ = writeln!(
            out,
            "{}",
            printable(&format!("{place}{severity}[{code}]: {}", diagnostic.message))
        );
    }
    out
}

/// Lines of one place that are drawn; of a longer one, a document for instance, its first line
/// tells which it is.
const TALLEST: usize = 6;

/// Bytes of a place that are marked.
fn marked(text: &str, span: crate::source::Span) -> usize {
    let (start, end) = (span.start as usize, span.end as usize);
    let place = text.get(start..end).unwrap_or_default();
    if place.lines().nth(TALLEST).is_some() {
        place.find('\n').unwrap_or(place.len())
    } else {
        end - start
    }
}

/// Findings that are drawn with their lines. Nobody reads more of them; those beyond take a line
/// each.
const MOST_DRAWN: usize = 1000;

/// The same for [`beside`]: about a screen.
const MOST_BESIDE: usize = 10;

/// The longest line, in bytes, that is drawn: a longer one would flood the screen, and beyond
/// 65,535 columns break the drawing.
const WIDEST: usize = 1000;

/// Whether a line that would be drawn is too long: those of the labels, and one above and below.
fn is_wide(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let Some(first) = diagnostic.span() else { return false };
    let text = &*sources.get(first.source).text;
    let here = || {
        diagnostic.labels.iter().map(|label| label.span).filter(|span| span.source == first.source)
    };
    let above = |at: usize| text.get(..at).map_or(0, |before| before.rfind('\n').unwrap_or(0));
    let below = |at: usize| {
        text.get(at..).and_then(|behind| behind.find('\n')).map_or(text.len(), |feed| at + feed + 1)
    };
    let start = here().map(|span| span.start as usize).min().unwrap_or(0);
    let end = here().map(|span| span.end as usize).max().unwrap_or(0);
    let drawn = text.get(above(above(start))..below(below(end))).unwrap_or(text);
    drawn.split('\n').any(|line| line.len() > WIDEST)
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let cut: String = line.chars().take(MOST).collect();
    printable(&if cut.len() < text.trim_end().len() { format!("{cut}…") } else { cut })
}

/// A text as miette reads it: only the lines around a place are looked at, however long the text
/// is.
#[derive(Debug)]
struct Excerpt<'a> {
    source: &'a Source,
    /// The text without control characters, byte for byte as long.
    text: Arc<str>,
}

impl miette::SourceCode for Excerpt<'_> {
    fn read_span<'s>(
        &'s self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'s> + 's>, MietteError> {
        let text = &*self.text;
        let (offset, end) = (span.offset(), span.offset() + span.len());
        if end > text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let line_start = |at: usize| {
            text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1)
        };
        // Without lines before, the piece begins at the place itself: only its line and column are
        // wanted.
        let mut start = if before == 0 { offset } else { line_start(offset) };
        for _ in 0..before {
            start = if start == 0 { 0 } else { line_start(start - 1) };
        }
        let mut stop = end.saturating_sub(1).max(offset);
        for _ in 0..=after {
            stop += text.as_bytes()[stop..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(text.len() - stop, |feed| feed + 1);
        }
        let piece = &text.as_bytes()[start..stop.max(end)];
        let (line, column) = self.source.line_column(u32::try_from(start).unwrap_or(u32::MAX));
        let lines = piece.split(|byte| *byte == b'\n').count() - 1;
        let place = (line as usize - 1, column as usize - 1);
        let span = (start, piece.len()).into();
        Ok(Box::new(MietteSpanContents::new_named(
            printable(&self.source.name),
            piece,
            span,
            place.0,
            place.1,
            lines,
        )))
    }
}

/// A text that can be drawn, byte for byte as long, so that places stay.
fn tame(text: &Arc<str>) -> Arc<str> {
    match drawable(text) {
        Cow::Borrowed(_) => text.clone(),
        Cow::Owned(text) => text.into(),
    }
}

/// "2 errors, 1 warning", or nothing when there is nothing to count.
pub fn summary(found: &[Diagnostic]) -> String {
    let count = |severity: Severity| {
        found.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    };
    let mut parts = Vec::new();
    for (severity, word) in
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")]
    {
        let count = count(severity);
        if count > 0 {
            parts.push(format!(
                "{count} {word}{}",
                if count == 1 || severity == Severity::Info { "" } else { "s" }
            ));
        }
    }
    parts.join(", ")
}

/// Fewer findings than this are counted by eye.
const COUNTED_BY_EYE: usize = 10;

/// "errors: 20 same-priority, 11 duplicate-object" and so on, a line for each severity, the most
/// frequent first. A few findings are counted by eye, but for those below the severity `shown`.
pub fn by_code(found: &[Diagnostic], shown: Severity) -> String {
    let mut out = String::new();
    let few = found.len() <= COUNTED_BY_EYE;
    for (severity, word) in
        [(Severity::Error, "errors"), (Severity::Warning, "warnings"), (Severity::Info, "info")]
    {
        if few && severity >= shown {
            continue;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for diagnostic in found.iter().filter(|diagnostic| diagnostic.severity == severity) {
            *counts.entry(diagnostic.code.as_str()).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if !counts.is_empty() {
            let counts: Vec<String> =
                counts.iter().map(|(code, count)| format!("{count} {code}")).collect();
            let hidden = if severity < shown {
                format!(" (`--min-severity {}` shows them)", severity.as_str())
            } else {
                String::new()
            };
            let _ = writeln!(out, "  {word}: {}{hidden}", counts.join(", "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, Span};

    #[test]
    fn many_findings_are_counted_by_code() {
        let mut found =
            vec![Diagnostic::new(Code::YamlSyntax, "a"), Diagnostic::new(Code::NoFiles, "b")];
        assert_eq!(by_code(&found, Severity::Info), "");
        found.extend(
            (0..12).map(|number| Diagnostic::new(Code::OneSidedRange, format!("{number}"))),
        );
        found.extend((0..2).map(|number| Diagnostic::new(Code::NoFiles, format!("{number}"))));
        assert_eq!(
            by_code(&found, Severity::Info),
            "  errors: 3 no-files, 1 yaml-syntax\n  warnings: 12 one-sided-range\n"
        );
        let few = [Diagnostic::new(Code::OneSidedRange, "c")];
        assert_eq!(
            by_code(&few, Severity::Error),
            "  warnings: 1 one-sided-range (`--min-severity warning` shows them)\n"
        );
    }

    #[test]
    fn a_tall_place_is_drawn_by_its_first_line() {
        let text = "a: 1\n".repeat(40);
        assert!(!drawn(&text, 0, text.len()).contains(" 3 │"));
        let short = drawn(&text, 0, 14);
        assert!(short.contains(" 3 │"), "{short}");
    }

    fn drawn(text: &str, start: usize, end: usize) -> String {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.json", SourceKind::File, text));
        let offset = |at: usize| u32::try_from(at).expect("a text of a test is short");
        let span = Span { source, start: offset(start), end: offset(end) };
        human(
            &[Diagnostic::new(Code::YamlSyntax, "broken").at(span).help("mend it")],
            &sources,
            false,
        )
    }

    #[test]
    fn long_lines_are_named_and_not_drawn() {
        let short = format!("a\n{}\nb\n", "x".repeat(WIDEST));
        assert!(drawn(&short, 2, 3).contains('╭'));
        let long = "[".repeat(200_000);
        for (start, end, shown) in [
            (0, 1, "a.json:1:1: [\n"),
            (199_999, 200_000, "a.json:1:200000: [\n"),
            (200_000, 200_000, "a.json:1:200001: \n"),
            (5, 105, "a.json:1:6: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…\n"),
        ] {
            let text = drawn(&long, start, end);
            assert!(
                text.contains(shown)
                    && text.contains("broken")
                    && text.contains("mend it")
                    && text.len() < 500,
                "{text}"
            );
        }
        // A neighbour is drawn too, a line farther away is not.
        assert!(!drawn(&format!("a\n{long}\n"), 0, 1).contains('╭'));
        assert!(drawn(&format!("a\nb\nc\n{long}\n"), 0, 1).contains('╭'));
    }

    #[test]
    fn places_are_drawn_wherever_they_stand() {
        let lines: Vec<String> = (1..=3000).map(|line| format!("line-{line}: \u{1b}\n")).collect();
        let text = lines.concat();
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a\u{1b}.yaml", SourceKind::File, text.clone()));
        let span = |word: &str| {
            let start = u32::try_from(text.find(word).expect("it is there")).expect("a short text");
            Span { source, start, end: start + u32::try_from(word.len()).expect("a short word") }
        };
        let finding = Diagnostic::new(Code::DuplicateObject, "twice")
            .at(span("line-2500"))
            .label(span("line-7:"), "first here");
        let text = human(&[finding], &sources, false);
        // Both places with their neighbours, and nothing between them.
        for shown in [
            "a\\u{1b}.yaml:2500:1]",
            "2499 │ line-2499: ?",
            "2501 │ line-2501",
            "first here",
            "6 │ line-6",
        ] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        assert!(!text.contains("line-100:") && !text.contains('\u{1b}'), "{text}");
        let last =
            Diagnostic::new(Code::InvalidValue, "at the end").at(span("line-3000: \u{1b}\n"));
        assert!(human(&[last], &sources, false).contains("3000 │ line-3000"));
    }

    #[test]
    fn a_flood_is_drawn_in_part_and_listed_in_full() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: 1\n"));
        let found: Vec<_> = (0..MOST_DRAWN + 2)
            .map(|_| Diagnostic::new(Code::InvalidValue, "x").at(Span { source, start: 3, end: 4 }))
            .collect();
        let line = "a.yaml:1:4: error[invalid-value]: x\n";
        assert_eq!(human(&found, &sources, false).matches(line).count(), 2);
        assert_eq!(
            beside(&found, &sources, false).matches(line).count(),
            found.len() - MOST_BESIDE
        );
    }
}
