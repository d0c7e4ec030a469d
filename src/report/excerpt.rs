//! Findings with the lines of their source, with the location marked.
//!
//! Only this module uses miette. Secrets are masked before lines are drawn.

use super::screen::{escape, printable, undrawable};
use super::table::{Style, wrapped};
use crate::diag::{Diagnostic, Severity};
use crate::secret::{MASK, Secrets};
use crate::source::{Source, SourceId, SourceMap, Span};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceSpan, SpanContents,
};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// A finding in the form that miette draws.
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
        // One source can be drawn at a time; labels in others are lines below.
        let first = self.diagnostic.span()?.source;
        let canvas = &self.source.as_ref()?.canvas;
        Some(Box::new(
            self.diagnostic
                .labels
                .iter()
                .filter(move |label| label.span.source == first)
                .take(MOST_LABELS)
                .enumerate()
                .map(|(index, label)| {
                    let message = (!label.text.is_empty()).then(|| printable(&label.text));
                    let (start, length) = marked(canvas, label.span);
                    if index == 0 {
                        LabeledSpan::new_primary_with_span(message, (start, length))
                    } else {
                        LabeledSpan::new(message, start, length)
                    }
                }),
        ))
    }
}

/// Findings as text: the source lines with the location marked, then the help.
pub fn human(found: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    drawn_first(found, sources, style, MOST_DRAWN)
}

/// Findings next to an answer that matters more: drawn while they take a few lines, then a line each,
/// and of many one line for each kind with its number and its first finding; errors first.
pub fn shortened(found: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    // Few findings are worth their lines, unless these push the answer off the screen.
    if found.len() <= LINES_BESIDE {
        let drawn = human(found, sources, style);
        if drawn.lines().count() <= LINES_BESIDE || found.len() == 1 {
            return drawn;
        }
    }
    let mut kinds: Vec<(&Diagnostic, usize)> = Vec::new();
    for finding in found {
        // A few are listed one by one, and many are counted by kind.
        let alike = found.len() > LINES_BESIDE;
        match kinds
            .iter_mut()
            .filter(|_| alike)
            .find(|(first, _)| (first.severity, first.code) == (finding.severity, finding.code))
        {
            Some((_, count)) => *count += 1,
            None => kinds.push((finding, 1)),
        }
    }
    // The sort is stable: among equals the first of the input comes first.
    kinds.sort_by_key(|(first, _)| Reverse(first.severity));
    let mut out = String::new();
    for (first, count) in kinds {
        let text = line(first, sources);
        let help = first.help.as_ref().map(|help| printable(&format!("; {help}")));
        // With many kinds, the help of one would not be that of the others.
        let help = help.filter(|_| found.len() <= LINES_BESIDE).unwrap_or_default();
        let line = match count - 1 {
            0 => format!("{text}{help}"),
            more => format!("{text} (and {more} more)"),
        };
        out += &wrapped(&line, style.width, HANGING);
    }
    let count = format!("{} findings; `--verbose` shows each with its place", found.len());
    out += &wrapped(&count, style.width, HANGING);
    out.push('\n');
    out
}

/// Draws the first `most` findings with their lines, and prints one line for each other finding.
fn drawn_first(found: &[Diagnostic], sources: &SourceMap, style: Style, most: usize) -> String {
    let mut drawing = Drawing::new(sources, style);
    let mut out = String::new();
    for diagnostic in found.iter().take(most) {
        drawing.draw(diagnostic, &mut out);
    }
    for diagnostic in found.iter().skip(most) {
        out += &wrapped(&line(diagnostic, sources), style.width, HANGING);
    }
    out
}

/// The beginning of further lines of a finding that is wider than the terminal.
const HANGING: &str = "  ";

/// Draws findings one by one; what is known of a source is kept for the next one.
pub struct Drawing<'a> {
    sources: &'a SourceMap,
    handler: GraphicalReportHandler,
    secrets: Secrets,
    canvases: HashMap<SourceId, Arc<Canvas>>,
}

impl<'a> Drawing<'a> {
    /// A drawing of findings about these sources.
    pub fn new(sources: &'a SourceMap, style: Style) -> Self {
        let theme =
            if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        // Outside of a terminal a message is one line of any length, which `grep` finds. A name that
        // is broken cannot be searched for or copied.
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_break_words(false)
            .with_word_separator(textwrap::WordSeparator::AsciiSpace)
            .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
            .with_wrap_lines(style.width.is_some());
        let handler = match style.width {
            Some(width) => handler.with_width(width.into()),
            None => handler,
        };
        Self { sources, handler, secrets: Secrets::new(sources), canvases: HashMap::new() }
    }

    fn canvas(&mut self, id: SourceId) -> Arc<Canvas> {
        let Self { sources, secrets, canvases, .. } = self;
        let new = || Canvas::new(&sources.get(id).text, secrets.of(sources, id)).into();
        // The text with masks is made once, since a file of many findings is drawn for each.
        canvases.entry(id).or_insert_with(new).clone()
    }

    /// Appends a finding with its lines.
    pub fn draw(&mut self, diagnostic: &Diagnostic, out: &mut String) {
        let sources = self.sources;
        let wide = is_wide(diagnostic, sources);
        // Of a wide line the location and an excerpt are shown instead.
        let source = diagnostic.span().filter(|_| !wide).map(|span| Excerpt {
            source: sources.get(span.source),
            canvas: self.canvas(span.source),
        });
        let drawn = Drawn { diagnostic, source };
        let start = out.len();
        // A panic or a gap would hide the finding, whose message needs no drawing.
        if self.handler.render_report(out, &drawn).is_err() {
            out.truncate(start);
            out.push_str(&printable(&diagnostic.message));
        }
        // A finding about a whole file has no line, and its message may not name the file.
        if let (None, Some(file)) = (
            diagnostic.span(),
            diagnostic.file.as_ref().filter(|file| !diagnostic.message.contains(file.as_str())),
        ) {
            let _ = writeln!(out, "   in {}", printable(file));
        }
        if let (Some(span), true) = (diagnostic.span(), wide) {
            let place = sources.locate(span);
            let canvas = self.canvas(span.source);
            let text = canvas.text.get(canvas.range(span)).unwrap_or_default();
            let _ = writeln!(
                out,
                "   at {}:{}:{}: {}",
                printable(&place.file),
                place.line,
                place.column,
                excerpt(text)
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
}

/// A finding on one line: location, severity, code, message.
fn line(finding: &Diagnostic, sources: &SourceMap) -> String {
    let place = finding
        .span()
        .map(|span| sources.locate(span))
        .map(|place| format!("{}:{}:{}: ", place.file, place.line, place.column))
        .or_else(|| finding.file.as_ref().map(|file| format!("{file}: ")))
        .unwrap_or_default();
    let (severity, code) = (finding.severity.as_str(), finding.code.as_str());
    printable(&format!("{place}{severity}[{code}]: {}", finding.message))
}

/// Number of locations of one finding to draw.
const MOST_LABELS: usize = 50;

/// Maximum number of lines to draw for one location. For a longer one, such as a document, only the
/// first line is drawn to identify it.
const TALLEST: usize = 6;

/// The marked part of a location: its start in the drawn text, and its length in bytes.
fn marked(canvas: &Canvas, span: Span) -> (usize, usize) {
    let range = canvas.range(span);
    let place = canvas.text.get(range.clone()).unwrap_or_default();
    // The mark of a whole document would fill the screen.
    let length = if place.lines().nth(TALLEST).is_some() {
        place.find('\n').unwrap_or(place.len())
    } else {
        range.len()
    };
    (range.start, length)
}

/// Number of findings to draw with their lines. More would not be read on a screen, so each other
/// finding takes one line.
const MOST_DRAWN: usize = 1000;

/// Lines that findings beside an answer may take when they are drawn: an answer begins within twelve.
const LINES_BESIDE: usize = 10;

/// Length in bytes of the longest line to draw. A longer line would flood the screen, and beyond
/// 65,535 columns it would break the drawing.
const WIDEST: usize = 1000;

/// Whether a line to draw is too long: the lines of the labels, and one line above and below. Looks
/// no further than such a line, of which a text may consist.
fn is_wide(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    let Some(first) = diagnostic.span() else { return false };
    let text = sources.get(first.source).text.as_bytes();
    let here = diagnostic.labels.iter().map(|label| label.span);
    here.filter(|span| span.source == first.source).any(|span| {
        let (start, end) = (span.start as usize, (span.end as usize).min(text.len()));
        let ends = |length: Option<usize>| length.is_some_and(|length| length <= WIDEST);
        // Backwards to the end of the second line above, and forwards to that of the line below.
        let mut at = start.min(text.len());
        // The check must be cheap: a file of one line of megabytes is read only this far.
        for _ in 0..2 {
            let near = &text[at.saturating_sub(WIDEST + 1)..at];
            match near.iter().rposition(|byte| *byte == b'\n') {
                Some(feed) => at = at - near.len() + feed,
                None if near.len() == at => break,
                None => return true,
            }
        }
        let mut lines = text[at..].strip_prefix(b"\n").unwrap_or(&text[at..]);
        let mut left = TALLEST + 2;
        let mut behind = 0;
        while left > 0 && behind < 2 && !lines.is_empty() {
            let near = &lines[..lines.len().min(WIDEST + 1)];
            let feed = near.iter().position(|byte| *byte == b'\n');
            if feed.is_none() && near.len() == lines.len() {
                return lines.len() > WIDEST;
            }
            if !ends(feed) {
                return true;
            }
            lines = &lines[feed.map_or(lines.len(), |feed| feed + 1)..];
            behind += usize::from(text.len() - lines.len() > end);
            left -= 1;
        }
        false
    })
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let cut: String = line.chars().take(MOST).collect();
    // Bytes are compared, since a shorter text with wide letters is no longer one.
    if cut.len() < text.trim_end().len() { format!("{cut}…") } else { cut }
}

/// A text as it is drawn: without secrets, and with invisible characters escaped. Line numbers do
/// not change.
#[derive(Debug)]
struct Canvas {
    text: String,
    /// The replaced ranges: in the source, and in the drawn text.
    replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Canvas {
    fn new(text: &str, secrets: &[Range<usize>]) -> Self {
        let mut canvas = Self { text: String::with_capacity(text.len()), replaced: Vec::new() };
        let mut done = 0;
        for secret in secrets {
            canvas.plain(text, done..secret.start);
            canvas.replace(secret.clone(), MASK);
            done = secret.end;
        }
        canvas.plain(text, done..text.len());
        canvas
    }

    fn plain(&mut self, text: &str, range: Range<usize>) {
        let (mut done, end) = (range.start, range.end);
        for (at, c) in undrawable(text, range) {
            self.text.push_str(&text[done..at]);
            done = at + c.len_utf8();
            self.replace(at..done, &escape(c));
        }
        self.text.push_str(&text[done..end]);
    }

    fn replace(&mut self, range: Range<usize>, by: &str) {
        let start = self.text.len();
        self.text.push_str(by);
        self.replaced.push((range, start..self.text.len()));
    }

    /// Offset in the drawn text of an offset in the source; inside a replaced range it is the start
    /// of the replacement.
    fn drawn(&self, offset: usize) -> usize {
        // Both lists are in order, so that a search by halves finds the place.
        let next = self.replaced.partition_point(|(range, _)| range.start < offset);
        match next.checked_sub(1).map(|last| &self.replaced[last]) {
            None => offset,
            Some((range, drawn)) if offset < range.end => drawn.start,
            Some((range, drawn)) => offset - range.end + drawn.end,
        }
    }

    /// The range of a span in the drawn text.
    fn range(&self, span: Span) -> Range<usize> {
        self.drawn(span.start as usize)..self.drawn(span.end as usize)
    }

    /// Offset in the source of an offset in the drawn text.
    fn original(&self, offset: usize) -> usize {
        let next = self.replaced.partition_point(|(_, drawn)| drawn.start < offset);
        match next.checked_sub(1).map(|last| &self.replaced[last]) {
            None => offset,
            Some((range, drawn)) if offset < drawn.end => range.start,
            Some((range, drawn)) => offset - drawn.end + range.end,
        }
    }
}

/// A text as miette reads it: only the lines around a location are read, even if the text is long.
#[derive(Debug)]
struct Excerpt<'a> {
    source: &'a Source,
    canvas: Arc<Canvas>,
}

impl miette::SourceCode for Excerpt<'_> {
    fn read_span<'s>(
        &'s self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'s> + 's>, MietteError> {
        let text = &*self.canvas.text;
        let (offset, end) = (span.offset(), span.offset() + span.len());
        // The span is of the drawn text; one beyond it would be a place of another source.
        if end > text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let line_start = |at: usize| {
            text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1)
        };
        // Without lines before, the piece begins at the location itself: only its line and column
        // are needed.
        let mut start = if before == 0 { offset } else { line_start(offset) };
        for _ in 0..before {
            start = if start == 0 { 0 } else { line_start(start - 1) };
        }
        // The mark may end with a line feed, which belongs to the line that it ends.
        let mut stop = end.saturating_sub(1).max(offset);
        for _ in 0..=after {
            stop += text.as_bytes()[stop..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(text.len() - stop, |feed| feed + 1);
        }
        let piece = &text.as_bytes()[start..stop.max(end)];
        // Line and column are those of the file, which its reader has.
        let place = u32::try_from(self.canvas.original(start)).unwrap_or(u32::MAX);
        let (line, column) = self.source.line_column(place);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, Span};
    use unicode_width::UnicodeWidthStr;

    const PLAIN: Style = Style { color: false, width: None };

    #[test]
    fn findings_are_wrapped_at_the_width_of_a_terminal() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: 1\n"));
        let finding = |message: &str| {
            Diagnostic::new(Code::InvalidValue, message.to_owned())
                .at(Span { source, start: 3, end: 4 })
                .help("write a number of groups such as 2, or a share of them such as a quarter")
        };
        let one = finding("the number of groups must be at least 3 and at most 7, not 1");
        let name = "a/name/that/is/longer/than/all/of/the/columns/of/the/terminal";
        let style = Style { color: false, width: Some(40) };
        let drawn = human(std::slice::from_ref(&one), &sources, style);
        let listed = shortened(&vec![one.clone(); 3], &sources, style);
        for text in [&drawn, &listed] {
            assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        }
        // The same words in the same order as on one line.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&listed), words(&shortened(&vec![one; 3], &sources, PLAIN)));
        let long = human(&[finding(name)], &sources, style);
        assert!(long.contains(name), "{long}");
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
            PLAIN,
        )
    }

    #[test]
    fn long_lines_are_quoted_without_an_excerpt() {
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
        // A neighboring line is drawn too, a more distant line is not.
        assert!(!drawn(&format!("a\n{long}\n"), 0, 1).contains('╭'));
        assert!(drawn(&format!("a\nb\nc\n{long}\n"), 0, 1).contains('╭'));
    }

    #[test]
    fn findings_are_drawn_at_any_position_of_a_long_file() {
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
        let text = human(&[finding], &sources, PLAIN);
        // Both locations with their neighboring lines, and no lines between them.
        for shown in [
            "a\\u{1b}.yaml:2500:1]",
            "2499 │ line-2499: \\u{1b}",
            "2501 │ line-2501",
            "first here",
            "6 │ line-6",
        ] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        assert!(!text.contains("line-100:") && !text.contains('\u{1b}'), "{text}");
        let last =
            Diagnostic::new(Code::InvalidValue, "at the end").at(span("line-3000: \u{1b}\n"));
        assert!(human(&[last], &sources, PLAIN).contains("3000 │ line-3000"));
    }

    #[test]
    fn many_findings_are_drawn_in_part_and_listed_in_full() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: 1\n"));
        let found: Vec<_> = (0..MOST_DRAWN + 2)
            .map(|_| Diagnostic::new(Code::InvalidValue, "x").at(Span { source, start: 3, end: 4 }))
            .collect();
        let line = "a.yaml:1:4: error[invalid-value]: x\n";
        assert_eq!(human(&found, &sources, PLAIN).matches(line).count(), 2);
        assert_eq!(
            shortened(&found, &sources, PLAIN),
            "a.yaml:1:4: error[invalid-value]: x (and 1001 more)\n1002 findings; `--verbose` shows each with its place\n\n"
        );
    }
}
