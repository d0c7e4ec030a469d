//! The context of the cursor in a document, also if the text cannot be parsed.
//!
//! In: a text and an offset. Out: the kind of the document, the field, and the word that is being
//! typed. It is found by lines and their indentation: block style only; multi-line quoted text and
//! block scalars are read as fields, which no schema has.

use crate::source::SourceId;
use crate::yaml::{FieldPath, Segment, split};
use std::ops::Range;

/// Which part of a field is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A key, or an element of a list; the keys that are there already.
    Key(Vec<String>),
    /// The value of a key.
    Value,
}

/// The context at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// `apiVersion` of the document; empty where it has none.
    pub api_version: String,
    /// `kind` of the document; empty where it has none.
    pub kind: String,
    /// `metadata.namespace` of the document.
    pub namespace: Option<String>,
    /// The field whose value is typed; for a key, its parent.
    pub path: FieldPath,
    /// The typed part.
    pub part: Part,
    /// The word, from its beginning to its end; the place is within.
    pub word: Range<usize>,
    /// A key already has its colon.
    pub has_colon: bool,
}

/// A line of block style.
struct Line<'t> {
    /// Columns of its dashes.
    dashes: Vec<usize>,
    /// Where its content begins.
    column: usize,
    /// Its key.
    key: Option<&'t str>,
    /// The text after the colon.
    value: &'t str,
}

impl<'t> Line<'t> {
    /// `None` for a line without content.
    fn parse(line: &'t str) -> Option<Self> {
        let mut column = line.len() - line.trim_start_matches(' ').len();
        let mut dashes = Vec::new();
        // `- - a` opens two lists on one line.
        while let Some(rest) = line[column..].strip_prefix('-') {
            if !(rest.is_empty() || rest.starts_with(' ')) {
                break;
            }
            dashes.push(column);
            column = line.len() - rest.trim_start_matches(' ').len();
        }
        let content = line[column..].trim_end();
        // An empty dash is an element that is being typed.
        if content.starts_with('#') || (content.is_empty() && dashes.is_empty()) {
            return None;
        }
        let (key, value) = match key_of(content) {
            Some((key, rest)) => (Some(key), rest.trim()),
            None => (None, content),
        };
        Some(Self { dashes, column, key, value })
    }
}

/// The key at the start of a line, and the text after its colon.
fn key_of(content: &str) -> Option<(&str, &str)> {
    // A colon in a quoted key does not end it.
    if let Some(quote) = content.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (key, rest) = content[1..].split_once(quote)?;
        return Some((key, rest.trim_start().strip_prefix(':')?));
    }
    let end = content.match_indices(':').map(|(at, _)| at).find(|at| {
        // `image:tag` has no key: a colon needs a blank behind it.
        let behind = &content[at + 1..];
        behind.is_empty() || behind.starts_with([' ', '\t'])
    })?;
    Some((content[..end].trim_end(), &content[end + 1..]))
}

/// A scalar without its comment and quotes.
fn plain(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    value.trim_matches(['"', '\''])
}

/// The context at an offset; `None` in a comment and outside of every line.
pub fn typing(text: &str, offset: usize) -> Option<Typing> {
    let before = text.get(..offset)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let line = text[start..end].trim_end_matches('\r');
    let cursor = offset - start;
    let typed = line.get(..cursor)?;
    // In a comment nothing is completed.
    if typed.trim_start().starts_with('#') || typed.contains(" #") {
        return None;
    }
    let document = document(text, start);
    let above: Vec<&str> = text[document.start.min(start)..start].lines().collect();
    let below: Vec<&str> = text[end..document.end.max(end)].lines().skip(1).collect();
    let current = Line::parse(line);
    // A cursor before the content is at its own column: the indentation chooses the parent.
    let (column, dashes) = current
        .as_ref()
        .map_or((cursor, &[][..]), |line| (line.column.min(cursor), line.dashes.as_slice()));
    let key = current.as_ref().and_then(|line| line.key);
    let colon = key.and_then(|_| line[column..].find(':').map(|at| column + at));
    let mut reversed = Vec::new();
    let in_value = colon.is_some_and(|colon| cursor > colon);
    if let (true, Some(key)) = (in_value, key) {
        reversed.push(Segment::Field(key.into()));
    }
    let mut limit = column;
    if let Some(first) = dashes.first() {
        reversed.extend(dashes.iter().map(|_| Segment::All));
        // The parent of an element may have the column of its dash.
        limit = first + 1;
    }
    climb(&above, limit, dashes.is_empty(), &mut reversed);
    reversed.reverse();
    let word = if in_value {
        let behind = colon.unwrap_or_default() + 1;
        let value = &line[behind..];
        let from = behind + (value.len() - value.trim_start().len());
        let from = from.min(cursor);
        // A comment behind the value is no part of the word.
        from..from + line[from..].split(" #").next().unwrap_or_default().trim_end().len()
    } else {
        let from = column;
        let till = colon.unwrap_or_else(|| line.trim_end().len());
        from..till.max(from)
    };
    let word = start + word.start..start + word.end.max(cursor);
    let part = if in_value {
        Part::Value
    } else {
        Part::Key(siblings(&above, &below, column, dashes.is_empty()))
    };
    let (mut api_version, mut kind, mut namespace) = (String::new(), String::new(), None);
    let mut within = "";
    // All lines of the document, since the kind may stand below the cursor.
    for line in text[document].lines() {
        let Some(line) = Line::parse(line) else { continue };
        let Some(key) = line.key else { continue };
        if line.column == 0 {
            within = key;
        }
        match (line.column, within, key) {
            (0, _, "apiVersion") => plain(line.value).clone_into(&mut api_version),
            (0, _, "kind") => plain(line.value).clone_into(&mut kind),
            (1.., "metadata", "namespace") => {
                namespace = Some(plain(line.value).to_owned()).filter(|name| !name.is_empty());
            }
            _ => {}
        }
    }
    let path = FieldPath(reversed);
    Some(Typing { api_version, kind, namespace, path, part, word, has_colon: colon.is_some() })
}

/// The document that a line is in; an empty one is where it is.
fn document(text: &str, line: usize) -> Range<usize> {
    let parts = split(SourceId(0), text).value;
    let found = parts.iter().rev().find(|part| part.range.start <= line);
    let mut range = found.map_or(line..line, |part| part.range.clone());
    // A part ends with its last content, or there is a mark between it and the line.
    let gap = text.get(range.end..line).unwrap_or_default();
    if gap.lines().any(|line| line.starts_with("---")) {
        range = line..line;
    }
    range
}

/// The keys and lists around a column, innermost first. `open`: it can be in a list element whose
/// dash is further up.
fn climb(above: &[&str], mut limit: usize, mut open: bool, found: &mut Vec<Segment>) {
    for line in above.iter().rev().filter_map(|line| Line::parse(line)) {
        // A line at the same column is a sibling, whose dash may open the list.
        let parent = line.column < limit && line.key.is_some();
        let sibling = line.column == limit && open;
        if !(parent || sibling) {
            // A dash alone on its line.
            let is_alone = line.key.is_none() && line.value.is_empty();
            let dash = line.dashes.first().filter(|dash| open && is_alone && **dash < limit);
            if let Some(first) = dash {
                found.push(Segment::All);
                (limit, open) = (first + 1, false);
            }
            continue;
        }
        if let (true, Some(key)) = (parent, line.key) {
            // A parent has no value of its own, except an anchor or a tag.
            if !line.value.is_empty() && !line.value.starts_with(['#', '&', '!']) {
                continue;
            }
            found.push(Segment::Field(key.into()));
            (limit, open) = (line.column, true);
        }
        if let Some(first) = line.dashes.first() {
            // Behind the dash of the list, only its parent is looked for.
            found.extend(line.dashes.iter().map(|_| Segment::All));
            (limit, open) = (first + 1, false);
        }
        if limit == 0 {
            return;
        }
    }
}

/// The keys of the mapping that a line at a column is in.
fn siblings(above: &[&str], below: &[&str], column: usize, open: bool) -> Vec<String> {
    let mut keys = Vec::new();
    if open {
        // Upward to the dash that begins the element, or to the parent.
        for line in above.iter().rev().filter_map(|line| Line::parse(line)) {
            if line.column == column {
                keys.extend(line.key.map(ToOwned::to_owned));
            }
            let dash = line.dashes.first().is_some_and(|dash| *dash < column);
            if line.column < column || (line.column == column && dash) {
                break;
            }
        }
        keys.reverse();
    }
    for line in below.iter().filter_map(|line| Line::parse(line)) {
        let dash = line.dashes.first().is_some_and(|dash| *dash < column);
        // A dash at a smaller column begins the next element.
        if line.column < column || dash {
            break;
        }
        if line.column == column && line.dashes.is_empty() {
            keys.extend(line.key.map(ToOwned::to_owned));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path, the part and the word at the `|` of a text.
    fn at(text: &str) -> Option<(String, Option<Vec<String>>, String)> {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let found = typing(&text, offset)?;
        let keys = match found.part {
            Part::Key(keys) => Some(keys),
            Part::Value => None,
        };
        Some((found.path.to_string(), keys, text[found.word].to_owned()))
    }

    #[test]
    fn the_cursor_path_follows_from_indentation() {
        let keys = |keys: &[&str]| Some(keys.iter().map(ToString::to_string).collect());
        for (text, path, part, word) in [
            ("spec:\n  mod|\n", "spec", keys(&[]), "mod"),
            ("spec:\n  model: {}\n  |\n  engine: {}\n", "spec", keys(&["model", "engine"]), ""),
            ("spec:\n  model:\n    name: ll|ama # why\n", "spec.model.name", None, "llama"),
            ("spec:\n  model:\n    name: |\n", "spec.model.name", None, ""),
            ("spec:\n  model:\n    name: a\n\n  |\n", "spec", keys(&["model"]), ""),
            ("a:\n- name: x\n  va|: 1\n", "a[*]", keys(&["name"]), "va"),
            ("a:\n  - name: x\n    value: |\n", "a[*].value", None, ""),
            ("a:\n  - name: x\n  - na|\n", "a[*]", keys(&[]), "na"),
            ("a:\n  -\n    b: 1\n    |\n", "a[*]", keys(&["b"]), ""),
            ("a:\n- - x|\n", "a[*][*]", keys(&[]), "x"),
            ("a:\n- b:\n    c: 1\n  d:\n    |\n", "a[*].d", keys(&[]), ""),
            ("|", "", keys(&[]), ""),
            ("kind: X\n---\n|", "", keys(&[]), ""),
            ("a: 1\n'b': |\n", "b", None, ""),
        ] {
            let found = at(text).unwrap();
            assert_eq!(found, (path.to_owned(), part, word.to_owned()), "{text}");
        }
        assert_eq!(at("a: 1 # x|\n"), None);
    }

    #[test]
    fn the_cursor_context_has_kind_and_namespace_of_its_document() {
        let text = "kind: A\n---\napiVersion: \"ome.io/v1\"\nkind: B # c\nmetadata:\n  namespace: n\n  labels:\n    a: |\n---\nkind: C\n";
        let found = typing(&text.replace('|', ""), text.find('|').unwrap()).unwrap();
        assert_eq!((found.api_version.as_str(), found.kind.as_str()), ("ome.io/v1", "B"));
        assert_eq!(found.namespace.as_deref(), Some("n"));
        assert_eq!(found.path.to_string(), "metadata.labels.a");
    }

    #[test]
    fn the_cursor_context_does_not_panic_at_any_offset() {
        let text = "a:\r\n - é𝔸: 'x\n\t- b\n---\n{\"a\": [1,\n: :\n-\n - -\n";
        for (offset, _) in text.char_indices() {
            let _ = typing(text, offset);
        }
        assert!(typing(text, text.len() + 1).is_none());
    }
}
