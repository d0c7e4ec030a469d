//! Source texts and places in them.
//!
//! In: file names and texts, handed over by `load` in sorted order. Out: [`Span`]s (byte ranges)
//! and, for output, [`Location`]s (line and column). This module must not open files and does not
//! depend on YAML.

pub(crate) mod long_list;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Identifies one text of a [`SourceMap`]. Ids are assigned in sorted path order before parsing, so
/// they do not depend on threads.
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
    /// Reports whether `inner` lies within this span.
    pub fn contains(self, inner: Span) -> bool {
        self.source == inner.source && self.start <= inner.start && inner.end <= self.end
    }
}

/// The kind of source of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A file given by the user or found in a directory.
    File,
    /// Standard input.
    Stdin,
    /// Embedded in the binary: the built-in catalog.
    Builtin,
    /// The settings file of `ome`.
    Settings,
    /// The config.json of a model, read to complete the model.
    ModelConfig,
    /// The table of published models: a name without a text.
    Known,
}

/// One text with its name.
#[derive(Debug)]
pub struct Source {
    /// Name for output: the path as given, `<stdin>`, or `builtin:` and the path within the
    /// built-in catalog.
    pub name: Arc<str>,
    /// The kind of source.
    pub kind: SourceKind,
    /// False for files that are read as context only (`--context`): no findings about them are
    /// reported.
    pub reported: bool,
    /// True for a file outside of the paths that were named, to which a link leads: its lines are
    /// not shown, and it is not repaired.
    pub outside: bool,
    /// The directory of the command line that the file is below, as it was named.
    pub root: Option<Arc<str>>,
    /// The directory of the overlay that the text was built from, as it is displayed.
    pub overlay: Option<Arc<str>>,
    /// What a kustomization that lists the file does with it.
    pub kustomized: Option<Kustomized>,
    /// The decoded text (UTF-8, byte order mark removed).
    pub text: FileText,
    lines: Arc<Lines>,
}

/// A text that is shared, and not copied when it has been read: that of a dump is hundreds of megabytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText(Arc<String>);

impl Deref for FileText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for FileText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl From<String> for FileText {
    fn from(text: String) -> Self {
        Self(Arc::new(text))
    }
}

impl From<&str> for FileText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// What a kustomization does with a file that it lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kustomized {
    /// The directory to build.
    pub tree: Arc<str>,
    /// All directories that build it and that no other one includes.
    pub trees: Vec<Arc<str>>,
    /// Its labels become selectors of the objects.
    pub selects: bool,
    /// It sets the namespace of the objects, which is the name of a Namespace.
    pub names_namespace: bool,
    /// It, or another that includes the file, has patches, components or transformers.
    pub patches: bool,
}

/// Positions of the lines of a text, computed on first use.
#[derive(Debug, Default)]
struct Lines {
    starts: OnceLock<Vec<u32>>,
    /// Number of characters that start before each block of the text.
    blocks: OnceLock<Vec<usize>>,
}

/// Bytes of a block; in longer lines, characters are counted by blocks.
const BLOCK: usize = 1024;

/// Returns the number of characters that start in these bytes of a text.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

/// The name of a CustomResourceDefinition and where its `spec` begins, if its `apiVersion`, `kind` and
/// name come before it, each key at the beginning of a line.
pub fn definition_head(document: &str) -> Option<(&str, usize)> {
    let at = document.find("\nspec:")? + 1;
    let head = &document[..at];
    // The first line of the document has no line feed before it.
    let has = |line: &str| head.starts_with(&line[1..]) || head.contains(line);
    let is_one =
        has("\nkind: CustomResourceDefinition\n") && has("\napiVersion: apiextensions.k8s.io/");
    let metadata = &head[head.find("\nmetadata:\n")?..];
    let named = metadata.split_once("\n  name: ")?.1;
    let name = named.lines().next()?.trim().trim_matches(['"', '\'']);
    (is_one && !name.is_empty()).then_some((name, at))
}

/// Directories with copies for tests and of other projects.
const ASIDE: [&str; 6] = ["testdata", "test", "tests", "e2e", "versioned_docs", "vendor"];

/// Whether a directory, by its path below that of the command line, is one of those.
pub fn is_aside(directory: &str) -> bool {
    directory.split('/').any(|part| ASIDE.contains(&part))
}

/// A directory of the command line relative to the one that it lies in, whether it is named by that
/// or from there.
pub fn below_root<'d>(directory: &'d str, root: &str) -> &'d str {
    let directory = directory.trim_start_matches("./").trim_end_matches('/');
    // `./infra` and `infra` are the same directory to users.
    let below = directory.strip_prefix(root.trim_start_matches("./"));
    below.map_or(directory, |rest| rest.trim_start_matches('/'))
}

impl Source {
    /// Builds a source from a decoded text.
    pub fn new(name: impl Into<Arc<str>>, kind: SourceKind, text: impl Into<FileText>) -> Self {
        Self {
            name: name.into(),
            kind,
            reported: true,
            outside: false,
            root: None,
            overlay: None,
            kustomized: None,
            text: text.into(),
            lines: Arc::default(),
        }
    }

    /// The directory of a file that was found below a directory of the command line, relative to
    /// it and with a slash at its end; `./` for that directory itself.
    pub fn directory(&self) -> Option<String> {
        let root = &**self.root.as_ref()?;
        let below = |path| match root {
            "." => Some(path),
            root => str::strip_prefix(path, root).map(|rest| rest.trim_start_matches('/')),
        };
        // The output of a build lies where its kustomization does, whatever its name is.
        let directory = match self.overlay.as_deref() {
            Some(overlay) => Some(below(overlay)?).filter(|directory| !directory.is_empty()),
            None => below(&self.name)?.rsplit_once('/').map(|(directory, _)| directory),
        };
        Some(format!("{}/", directory.unwrap_or(".")))
    }

    /// Whether a directory below that of the command line holds copies for tests or of other
    /// projects.
    pub fn is_aside(&self) -> bool {
        self.directory().is_some_and(|directory| is_aside(&directory))
    }

    /// The directory of copies that holds it, with that of the command line before it; none of what
    /// lies in the directory that was asked for.
    pub fn copies(&self, requested: Option<&str>) -> Option<String> {
        let directory = self.directory()?;
        if requested.is_some_and(|requested| self.is_in(requested)) {
            return None;
        }
        // The outermost directory of copies is named: it has all of them.
        let below = directory.split('/').position(|part| ASIDE.contains(&part))?;
        let below: Vec<&str> = directory.split('/').take(below + 1).collect();
        let below = below.join("/");
        Some(match self.root.as_deref() {
            Some(".") | None => below,
            Some(root) => format!("{}/{below}", root.trim_end_matches('/')),
        })
    }

    /// Whether it lies in a directory that was asked for, named below that of the command line or with
    /// it.
    fn is_in(&self, requested: &str) -> bool {
        let below = below_root(requested, self.root.as_deref().unwrap_or_default());
        let directory = self.directory().unwrap_or_default();
        directory.strip_prefix(below).is_some_and(|rest| below.is_empty() || rest.starts_with('/'))
    }

    /// Reports whether it is user input: a file or standard input.
    pub fn is_input(&self) -> bool {
        matches!(self.kind, SourceKind::File | SourceKind::Stdin)
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.starts.get_or_init(|| {
            let mut starts = vec![0];
            let bytes = self.text.as_bytes();
            for (index, byte) in bytes.iter().enumerate() {
                // A lone carriage return also ends a line; before a line feed, it is part of the
                // line ending.
                if *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n')) {
                    starts.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
            }
            starts
        })
    }

    /// Returns the number of characters between two byte offsets.
    fn characters(&self, start: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        // Most lines are short, and the sums of the blocks are never needed.
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

    /// Returns the column of a byte offset in bytes, from 1.
    pub fn byte_column(&self, offset: u32) -> u32 {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        offset - starts[line - 1] + 1
    }

    /// Returns the start and end offset of a line (lines count from 0), without its line ending;
    /// `None` after the last line.
    fn line(&self, line: u32) -> Option<(usize, usize)> {
        let starts = self.line_starts();
        let start = *starts.get(line as usize)? as usize;
        let next = starts.get(line as usize + 1).map_or(self.text.len(), |next| *next as usize);
        let content = self.text[start..next].trim_end_matches(['\n', '\r']).len();
        Some((start, start + content))
    }

    /// Returns line and column of a byte offset as editors count: both from 0, the column in UTF-16
    /// code units.
    pub fn utf16(&self, offset: u32) -> (u32, u32) {
        let (line, column) = self.line_column(offset);
        let (start, _) = self.line(line - 1).unwrap_or_default();
        let end = (offset as usize).clamp(start, self.text.len());
        // Characters of four bytes are two units in UTF-16, and only those.
        let wide = self.text.as_bytes()[start..end].iter().filter(|byte| **byte >= 0xf0).count();
        (line - 1, column - 1 + u32::try_from(wide).unwrap_or(u32::MAX))
    }

    /// Returns the byte offset of a line and UTF-16 column as editors count; the nearest offset for
    /// a place that does not exist.
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

    /// Returns line and column of a byte offset (both from 1; the column counts characters).
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        let start = starts[line - 1] as usize;
        let mut end = (offset as usize).min(self.text.len());
        // An offset may be within a character, as those of broken text are.
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let column = self.characters(start, end.max(start));
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column + 1).unwrap_or(u32::MAX))
    }
}

/// A place for output. Lines and columns count from 1.
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

impl Location {
    /// `FILE:LINE:COLUMN`, as compilers write it.
    pub fn with_column(&self) -> String {
        format!("{self}:{}", self.column)
    }
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
    /// Builds an empty map.
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

    /// Reuses the line positions of an earlier map for unchanged texts, and returns the ids of
    /// those texts.
    pub fn again(&mut self, before: &Self) -> HashSet<SourceId> {
        let mut same = HashSet::new();
        for (at, (new, old)) in self.sources.iter_mut().zip(&before.sources).enumerate() {
            // Ids are by position: a text at another position computes its lines again.
            if new.kind == old.kind && new.text == old.text {
                new.lines = old.lines.clone();
                same.insert(SourceId(u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        same
    }

    /// Returns the source with this id.
    ///
    /// # Panics
    /// When the id belongs to another map.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// The texts below directories of tests and of other projects,
    /// that are in none of the directory that was asked for.
    pub fn copies(&self, requested: Option<&str>) -> std::collections::HashSet<SourceId> {
        let all = self.iter().filter(|(_, source)| source.copies(requested).is_some());
        all.map(|(id, _)| id).collect()
    }

    /// The texts that a kustomization changes which was not built, with the directory to build.
    pub fn patched(&self) -> HashMap<SourceId, Arc<str>> {
        let of = |source: &Source| {
            let kustomized = source.kustomized.as_ref().filter(|one| one.patches)?;
            Some(Arc::clone(&kustomized.tree))
        };
        self.iter().filter_map(|(id, source)| Some((id, of(source)?))).collect()
    }

    /// Returns all sources with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources
            .iter()
            .enumerate()
            .map(|(index, source)| (SourceId(u32::try_from(index).unwrap_or(u32::MAX)), source))
    }

    /// Returns the place of a span.
    pub fn locate(&self, span: Span) -> Location {
        let source = self.get(span.source);
        let (line, column) = source.line_column(span.start);
        let (end_line, end_column) = source.line_column(span.end.max(span.start));
        Location { file: source.name.clone(), line, column, end_line, end_column }
    }

    /// Returns the text of a span; an empty one where this map does not have its source: an object
    /// that is put together is checked without the texts of its parts.
    pub fn text(&self, span: Span) -> &str {
        let source = self.sources.get(span.source.0 as usize);
        source
            .and_then(|source| source.text.get(span.start as usize..span.end as usize))
            .unwrap_or_default()
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
        // After the end of a line, within a surrogate pair, after the last line.
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

    #[test]
    fn a_directory_of_copies_is_named_with_that_of_the_command_line() {
        let copies = |root: &str, name: &str| {
            let mut source = Source::new(name, SourceKind::File, "");
            source.root = Some(root.into());
            source.copies(None)
        };
        assert_eq!(copies("r", "r/a.yaml"), None);
        assert_eq!(copies("r", "r/x/testdata/deep/a.yaml").as_deref(), Some("r/x/testdata"));
        assert_eq!(copies(".", "vendor/a.yaml").as_deref(), Some("vendor"));
        // What was named itself holds no copies.
        assert_eq!(copies("x/test", "x/test/a.yaml"), None);
    }
}
