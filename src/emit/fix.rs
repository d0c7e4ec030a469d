//! Repairs of findings, written into their files.
//!
//! In: findings with [`Replacement`]s, and their texts. Out: changed files, and a report. Only the bytes
//! of the edits change: comments and layout stay. The author of a finding decides whether its
//! repair is safe.

use super::{Error, file};
use crate::diag::{Diagnostic, Replacement, edited};
use crate::source::{SourceId, SourceKind, SourceMap, Span};
use crate::yaml::{Limits, Node, Value, parse, split};
use std::collections::BTreeMap;
use std::path::Path;

/// The reason why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Left {
    /// Its content changed after it was read.
    #[error("it changed while it was read")]
    Changed,
    /// It is not UTF-8, so the places in it are not those of its bytes.
    #[error("it is not UTF-8")]
    Encoding,
    /// With the repairs, a value would be another one.
    #[error("a repair would change a value: repair it by hand")]
    Value,
    /// A link led to it, out of the paths that were named.
    #[error("a link leads to it, out of the paths that were named: repair it where it is")]
    Outside,
    /// It could not be written.
    #[error(transparent)]
    Io(#[from] Error),
}

/// The result of the repairs.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Positions of the findings that were repaired.
    pub repaired: Vec<usize>,
    /// Files that were not changed, with the reason.
    pub left: Vec<(SourceId, Left)>,
}

/// Applies the repairs of findings to their files.
///
/// A repair is made as a whole or not at all. One that overlaps another is left for the next run,
/// because its text changes.
pub fn fix(found: &[Diagnostic], sources: &SourceMap) -> Outcome {
    apply(found, sources, |_, _, _| true)
}

/// The same for repairs that nobody looks at: a file in which one would change a value is left.
pub fn repair(found: &[Diagnostic], sources: &SourceMap) -> Outcome {
    apply(found, sources, keeps_values)
}

fn apply(
    found: &[Diagnostic],
    sources: &SourceMap,
    may: impl Fn(SourceId, &str, &[&Replacement]) -> bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    for (id, chosen) in chosen(found, sources) {
        let source = sources.get(id);
        let path = Path::new(&*source.name);
        // What was not named must not be changed either.
        if source.outside {
            outcome.left.push((id, Left::Outside));
            continue;
        }
        let edits: Vec<&Replacement> = chosen.iter().flat_map(|index| &found[*index].fix).collect();
        if !may(id, &source.text, &edits) {
            outcome.left.push((id, Left::Value));
            continue;
        }
        match write(path, &source.text, &edits) {
            Ok(()) => outcome.repaired.extend(chosen),
            Err(left) => outcome.left.push((id, left)),
        }
    }
    outcome
}

/// Replaces parts of a file whose text was read before, unless it has another one by now.
///
/// # Errors
/// Why the file was not changed.
pub fn write(path: &Path, text: &str, edits: &[&Replacement]) -> Result<(), Left> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    file::rewrite(path, |bytes| {
        // A file that is gone was changed as well.
        let bytes = bytes.ok_or(Left::Changed)?;
        // The text was read without its mark, so places begin behind it.
        let mark: &[u8] = if bytes.starts_with(MARK) { MARK } else { b"" };
        if bytes[mark.len()..] != *text.as_bytes() {
            // A file in UTF-16 has the text, and other bytes.
            return Err(if std::str::from_utf8(bytes).is_ok() {
                Left::Changed
            } else {
                Left::Encoding
            });
        }
        let mut content = mark.to_vec();
        content.extend_from_slice(edited(text, edits.iter().copied()).as_bytes());
        Ok(content)
    })
}

/// Whether a text has the same values with its edits, as kubectl reads them: a scalar may change its
/// type, and then has the letters that were written or those of its value; a key may change where
/// it is edited. A text that cannot be read has no values to compare.
fn keeps_values(id: SourceId, text: &str, edits: &[&Replacement]) -> bool {
    // The repaired text may be the larger one, and the limit has been met by the first.
    let limits = Limits { nodes: usize::MAX, ..Limits::default() };
    let read = |text: &str| -> Vec<Option<Node>> {
        let parts = split(id, text).value.into_iter();
        parts.map(|part| parse(id, text, part, &limits).value).collect()
    };
    // `meets` searches for the first one by its place.
    let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
    spans.sort();
    let changed = edited(text, edits.iter().copied());
    let (before, after) = (read(text), read(&changed));
    before.len() == after.len()
        && before.iter().zip(&after).all(|pair| match pair {
            (Some(before), Some(after)) => is_same(before, after, text, &spans),
            // A text that was broken may become readable; the other way it must not.
            (before, after) => before.is_none() || after.is_some(),
        })
}

/// Whether two trees have the same values but where one is edited.
fn is_same(before: &Node, after: &Node, text: &str, edited: &[Span]) -> bool {
    match (&before.value, &after.value) {
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| {
                    let at_key = one.key_origin.span();
                    // A key that is misspelled is what such a repair changes.
                    (one.key == other.key || at_key.is_some_and(|span| meets(edited, span)))
                        && is_same(&one.node, &other.node, text, edited)
                })
        }
        (Value::List(one), Value::List(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(a, b)| is_same(a, b, text, edited))
        }
        (one, other) if one == other => true,
        _ => {
            let Some(span) = before.origin.span().filter(|span| meets(edited, *span)) else {
                return false;
            };
            let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            // `on` may become `true`, its value, or `"on"`, its letters.
            let now = after.scalar_text();
            now.is_some_and(|now| before.scalar_text().as_ref() == Some(&now) || now == written)
        }
    }
}

/// Whether one of some places in order is in another.
fn meets(edited: &[Span], span: Span) -> bool {
    // Ends that touch count: an insertion has no length.
    let first = edited.partition_point(|edit| edit.end < span.start);
    edited.get(first).is_some_and(|edit| edit.start <= span.end)
}

/// The repairs that can be made together, by file: positions of their findings.
pub fn chosen(found: &[Diagnostic], sources: &SourceMap) -> BTreeMap<SourceId, Vec<usize>> {
    // By source in order, so that files are written in the order of their names.
    let mut chosen: BTreeMap<SourceId, Vec<usize>> = BTreeMap::new();
    // Ends by start, of edits that do not meet.
    let mut taken: BTreeMap<SourceId, BTreeMap<u32, u32>> = BTreeMap::new();
    for (index, finding) in found.iter().enumerate() {
        let Some(id) = finding.fix.first().map(|edit| edit.span.source) else { continue };
        let source = sources.get(id);
        let fits = |edit: &Replacement| {
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            edit.span.source == id && source.text.get(start..end).is_some()
        };
        // Two insertions at one place meet, too: their order would be anyone's guess.
        let meets = |edit: &Replacement| {
            taken
                .get(&id)
                .and_then(|taken| taken.range(..=edit.span.end).next_back())
                .is_some_and(|(_, end)| *end >= edit.span.start)
        };
        // What has no file of its own, or is context, is not written.
        if source.kind != SourceKind::File
            || !source.reported
            || !finding.fix.iter().all(fits)
            || finding.fix.iter().any(meets)
        {
            continue;
        }
        taken
            .entry(id)
            .or_default()
            .extend(finding.fix.iter().map(|edit| (edit.span.start, edit.span.end)));
        chosen.entry(id).or_default().push(index);
    }
    chosen
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, Span};

    fn sources(name: &str, text: &str) -> (SourceMap, SourceId) {
        let mut sources = SourceMap::new();
        let id = sources.add(Source::new(name, SourceKind::File, text));
        (sources, id)
    }

    fn repair(source: SourceId, edits: &[(u32, u32, &str)]) -> Diagnostic {
        edits.iter().fold(
            Diagnostic::new(Code::AmbiguousScalar, "x"),
            |finding, (start, end, insert)| {
                finding.fix(Span { source, start: *start, end: *end }, *insert)
            },
        )
    }

    #[test]
    fn overlapping_fixes_are_postponed_and_the_others_applied() {
        let (sources, id) = sources("a.yaml", "a: on # why\nb: 8\n");
        let found = [
            repair(id, &[(3, 5, "true")]),
            repair(id, &[(4, 4, "\"")]),
            repair(id, &[(15, 15, "\""), (16, 16, "\"")]),
            repair(id, &[(16, 40, "")]),
        ];
        let chosen = chosen(&found, &sources);
        assert_eq!(chosen[&id], [0, 2]);
        let edits: Vec<&Replacement> =
            chosen[&id].iter().flat_map(|index| &found[*index].fix).collect();
        assert_eq!(edited(&sources.get(id).text, edits), "a: true # why\nb: \"8\"\n");
    }

    #[test]
    fn a_repair_that_changes_a_value_is_not_made() {
        let id = SourceId(0);
        for (text, (start, end, insert), kept) in [
            ("a: \"8\"\nb: 1\n", (3, 6, "8"), true),
            ("a: \"0440\"\nb: 1\n", (3, 9, "440"), false),
            ("a: \"0440\"\nb: 1\n", (3, 9, "288"), false),
            ("a: on\nb: 1\n", (3, 5, "true"), true),
            ("a: on\nb: 1\n", (3, 5, "\"on\""), true),
            ("a: on\nb: 1\n", (3, 5, "false"), false),
            ("a: 017\nb: 1\n", (3, 6, "15"), true),
            ("a: 017\nb: 1\n", (3, 6, "17"), false),
            ("nane: x\nb: 1\n", (0, 4, "name"), true),
            ("a: x # b: 1\nc: 1\n", (3, 12, "x\n"), true),
            ("a: x\nb: 1\n", (3, 5, "x "), false),
            ("a: [\nb: 1\n", (0, 1, "c"), true),
        ] {
            let edit =
                Replacement { span: Span { source: id, start, end }, insert: insert.to_owned() };
            assert_eq!(keeps_values(id, text, &[&edit]), kept, "{text:?} {insert:?}");
        }
    }

    #[test]
    fn fixes_keep_the_byte_order_mark_and_skip_changed_files() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.yaml");
        std::fs::write(&path, b"\xef\xbb\xbfa: on\r\n").unwrap();
        let (sources, id) = sources(path.to_str().unwrap(), "a: on\r\n");
        let found = [repair(id, &[(3, 5, "true")])];
        let outcome = fix(&found, &sources);
        assert!(outcome.repaired == [0] && outcome.left.is_empty(), "{outcome:?}");
        assert_eq!(std::fs::read(&path).unwrap(), b"\xef\xbb\xbfa: true\r\n");
        let outcome = fix(&found, &sources);
        assert!(matches!(outcome.left[..], [(_, Left::Changed)]), "{outcome:?}");
        std::fs::remove_file(&path).unwrap();
        let outcome = fix(&found, &sources);
        assert!(matches!(outcome.left[..], [(_, Left::Changed)]), "{outcome:?}");
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    /// Edits are places of the text that was read: of several runs over one text one is applied.
    #[test]
    fn of_runs_at_once_one_is_applied_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.yaml");
        for round in 0..10 {
            let text = "a: on\nb: on\n";
            std::fs::write(&path, text).unwrap();
            let applied: Vec<bool> = std::thread::scope(|scope| {
                let runs: Vec<_> = (0..8)
                    .map(|run| {
                        let path = &path;
                        scope.spawn(move || {
                            let edit = |start, insert: &str| Replacement {
                                span: Span { source: SourceId(0), start, end: start + 2 },
                                insert: insert.repeat(run + 1),
                            };
                            let edits = [edit(3, "x"), edit(9, "y")];
                            match write(path, text, &[&edits[0], &edits[1]]) {
                                Ok(()) => true,
                                Err(Left::Changed) => false,
                                Err(left) => panic!("{left:?}"),
                            }
                        })
                    })
                    .collect();
                runs.into_iter().map(|run| run.join().unwrap()).collect()
            });
            let by: Vec<usize> = (0..8).filter(|run| applied[*run]).collect();
            let [by] = by[..] else { panic!("{round}: {applied:?}") };
            let expected = format!("a: {}\nb: {}\n", "x".repeat(by + 1), "y".repeat(by + 1));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
    }
}
