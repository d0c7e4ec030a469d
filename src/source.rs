//! Texts that were read and places in them.
//!
//! In: file names and texts, handed over by `load` in sorted order. Out: [`Span`]s (byte ranges)
//! and, when a place is shown to a person, [`Location`]s (line and column). This module never opens
//! a file and never heard of YAML.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Identifies one text of a [`SourceMap`]. Ids are given in sorted path order before anything is
/// parsed, so that they never depend on threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A byte range in one source. `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Whether `inner` lies within this span.
    pub fn contains(self, inner: Span) -> bool {
        self.source == inner.source && self.start <= inner.start && inner.end <= self.end
    }
}

/// Where a text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A file the user gave or that was found in a directory.
    File,
    /// Standard input.
    Stdin,
    /// Embedded in the binary: the built-in catalog.
    Builtin,
    /// The settings of this tool.
    Settings,
    /// The config.json of a model, read to complete the model.
    ModelConfig,
    /// The table of published models: a name without a text.
    Known,
}

/// One text with its name.
#[derive(Debug)]
pub struct Source {
    /// As shown to the user: the path as given, `<stdin>`, or `builtin:` and the path within the
    /// built-in catalog.
    pub name: Arc<str>,
    /// Where it came from.
    pub kind: SourceKind,
    /// False for files that are read as context only (`--context`): nothing is reported on them.
    pub reported: bool,
    /// The decoded text (UTF-8, byte order mark removed).
    pub text: Arc<str>,
    lines: Arc<Lines>,
}

/// Where the lines of a text are, each found out when it is first requested.
#[derive(Debug, Default)]
struct Lines {
    starts: OnceLock<Vec<u32>>,
    /// Characters that begin before each block of the text.
    blocks: OnceLock<Vec<usize>>,
}

/// Bytes of a block: in longer lines characters are counted by blocks.
const BLOCK: usize = 1024;

/// Characters that begin in these bytes of a text.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

impl Source {
    /// A source over a decoded text.
    pub fn new(name: impl Into<Arc<str>>, kind: SourceKind, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), kind, reported: true, text: text.into(), lines: Arc::default() }
    }

    /// Whether the user gave it as input: a file or standard input.
    pub fn is_input(&self) -> bool {
        matches!(self.kind, SourceKind::File | SourceKind::Stdin)
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.starts.get_or_init(|| {
            let mut starts = vec![0];
            let bytes = self.text.as_bytes();
            for (index, byte) in bytes.iter().enumerate() {
                // A lone carriage return ends a line too; before a line feed it belongs to it.
                if *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n')) {
                    starts.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
            }
            starts
        })
    }

    /// Characters between two places of the text.
    fn characters(&self, start: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        if end - start <= BLOCK {
            return beginnings(&bytes[start..end]);
        }
        let blocks = self.lines.blocks.get_or_init(|| {
            let mut before = 0;
            let sums = bytes.chunks(BLOCK).map(|block| {
                before += beginnings(block);
                before
            });
            std::iter::once(0).chain(sums).collect()
        });
        let until = |at: usize| blocks[at / BLOCK] + beginnings(&bytes[at / BLOCK * BLOCK..at]);
        until(end) - until(start)
    }

    /// The column of a byte offset in bytes, from 1.
    pub fn byte_column(&self, offset: u32) -> u32 {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        offset - starts[line - 1] + 1
    }

    /// Where a line begins (from 0), and where it ends without what ends it; none behind the last.
    fn line(&self, line: u32) -> Option<(usize, usize)> {
        let starts = self.line_starts();
        let start = *starts.get(line as usize)? as usize;
        let next = starts.get(line as usize + 1).map_or(self.text.len(), |next| *next as usize);
        let content = self.text[start..next].trim_end_matches(['\n', '\r']).len();
        Some((start, start + content))
    }

    /// Line and column of a byte offset as editors count: both from 0, and the column in units of
    /// UTF-16.
    pub fn utf16(&self, offset: u32) -> (u32, u32) {
        let (line, column) = self.line_column(offset);
        let (start, _) = self.line(line - 1).unwrap_or_default();
        let end = (offset as usize).clamp(start, self.text.len());
        let wide = self.text.as_bytes()[start..end].iter().filter(|byte| **byte >= 0xf0).count();
        (line - 1, column - 1 + u32::try_from(wide).unwrap_or(u32::MAX))
    }

    /// The byte offset of a place as editors count; the nearest one for a place that is not there.
    pub fn offset_of_utf16(&self, line: u32, unit: u32) -> u32 {
        let at = match self.line(line) {
            None => self.text.len(),
            Some((start, end)) => {
                let mut units = 0;
                let within = self.text[start..end].char_indices().find(|(_, character)| {
                    units += character.len_utf16();
                    units > unit as usize
                });
                within.map_or(end, |(at, _)| start + at)
            }
        };
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// Line and column (both from 1; the column counts characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        let start = starts[line - 1] as usize;
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let column = self.characters(start, end.max(start));
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column + 1).unwrap_or(u32::MAX))
    }
}

/// A place as people name it. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Name of the source.
    pub file: Arc<str>,
    /// Line of the first byte.
    pub line: u32,
    /// Column of the first byte, in characters.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column one past the last character.
    pub end_column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// All texts of one run, in id order.
#[derive(Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text; ids count up from 0.
    ///
    /// # Panics
    /// With more than 4Gi sources.
    pub fn add(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).expect("fewer than 4Gi sources"));
        self.sources.push(source);
        id
    }

    /// Takes over what an earlier map knows of texts that are the same, and says which are.
    pub fn again(&mut self, before: &Self) -> HashSet<SourceId> {
        let mut same = HashSet::new();
        for (at, (new, old)) in self.sources.iter_mut().zip(&before.sources).enumerate() {
            if new.kind == old.kind && new.text == old.text {
                new.lines = old.lines.clone();
                same.insert(SourceId(u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        same
    }

    /// The text with this id.
    ///
    /// # Panics
    /// When the id is of another map.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// All texts with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources
            .iter()
            .enumerate()
            .map(|(index, source)| (SourceId(u32::try_from(index).unwrap_or(u32::MAX)), source))
    }

    /// The place of a span.
    pub fn locate(&self, span: Span) -> Location {
        let source = self.get(span.source);
        let (line, column) = source.line_column(span.start);
        let (end_line, end_column) = source.line_column(span.end.max(span.start));
        Location { file: source.name.clone(), line, column, end_line, end_column }
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        let source = Source::new("a.yaml", SourceKind::File, "é: 1\r\nb: ü\rc");
        for (offset, expected) in
            [(0, (1, 1)), (2, (1, 2)), (7, (2, 1)), (10, (2, 4)), (13, (3, 1))]
        {
            assert_eq!(source.line_column(offset), expected, "offset {offset}");
        }
    }

    #[test]
    fn editors_count_from_zero_in_units_of_utf16() {
        let source = Source::new("a.yaml", SourceKind::File, "é𝔸: 1\r\nb: 𝔸\n\nc");
        for (offset, place) in [
            (0, (0, 0)),
            (2, (0, 1)),
            (6, (0, 3)),
            (11, (1, 0)),
            (18, (1, 5)),
            (19, (2, 0)),
            (21, (3, 1)),
        ] {
            assert_eq!(source.utf16(offset), place, "offset {offset}");
            assert_eq!(source.offset_of_utf16(place.0, place.1), offset, "{place:?}");
        }
        // Behind the end of a line, within a pair, behind the last line.
        for (place, offset) in [((0, 90), 9), ((1, 4), 14), ((9, 0), 21)] {
            assert_eq!(source.offset_of_utf16(place.0, place.1), offset, "{place:?}");
        }
        assert_eq!(source.utf16(90), (3, 1));
    }

    #[test]
    fn columns_of_long_lines_count_characters_too() {
        let text = format!("a: 1\n{}\n{}\nend", "é".repeat(3 * BLOCK), "bü𝔸".repeat(BLOCK));
        let source = Source::new("a.yaml", SourceKind::File, text.as_str());
        let (mut line, mut column) = (1, 1);
        for (offset, character) in text.char_indices() {
            let offset = u32::try_from(offset).unwrap();
            assert_eq!(source.line_column(offset), (line, column), "offset {offset}");
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
    }
}
