//! Comments that allow a finding: `# ome: allow CODE reason`, on the line of the finding or the
//! line above it.
//!
//! In: findings and their source texts. Out: the findings that are not allowed, and a finding about
//! each unused comment. A finding about a pair has two places, and a comment at either place allows
//! it.

use crate::diag::{CODES, Code, Diagnostic, Topic, nearest};
use crate::source::{SourceId, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The start of such a comment, after its `#`.
const MARK: &str = "ome: allow";

/// A comment that allows one code.
struct Allow {
    span: Span,
    /// As written.
    code: String,
    used: bool,
}

/// Drops findings that a comment allows.
///
/// `reported` tells whether this run evaluates a code. A comment for any other code does not count as
/// unused.
pub fn apply(
    found: Vec<Diagnostic>,
    sources: &SourceMap,
    reported: impl Fn(Code) -> bool,
) -> Vec<Diagnostic> {
    let mut allows: BTreeMap<(SourceId, u32), Vec<usize>> = BTreeMap::new();
    let mut all: Vec<Allow> = Vec::new();
    for (id, source) in
        sources.iter().filter(|(_, source)| source.reported && source.text.contains(MARK))
    {
        collect(id, &source.text, &mut allows, &mut all);
    }
    // Most inputs have no such comment: their findings are passed on as they are.
    if all.is_empty() {
        return found;
    }
    let mut left = Vec::with_capacity(found.len());
    for finding in found {
        // Other findings have further labels that only explain them.
        let places = if finding.overlap.is_some() {
            &finding.labels[..]
        } else {
            finding.labels.get(..1).unwrap_or_default()
        };
        let allowing: BTreeSet<usize> = places
            .iter()
            .filter_map(|label| allows.get(&(label.span.source, sources.locate(label.span).line)))
            .flatten()
            .copied()
            .filter(|index| all[*index].code == finding.code.as_str())
            .collect();
        if allowing.is_empty() {
            left.push(finding);
        }
        for index in allowing {
            // Each comment that would allow the finding counts as used, or one of two would be
            // reported.
            all[index].used = true;
        }
    }
    left.extend(
        all.iter().filter(|allow| !allow.used).filter_map(|allow| unused(allow, &reported)),
    );
    left
}

/// Collects the comments of one text, each with the line that it applies to.
fn collect(
    source: SourceId,
    text: &str,
    allows: &mut BTreeMap<(SourceId, u32), Vec<usize>>,
    all: &mut Vec<Allow>,
) {
    let mut start = 0_usize;
    // Comments on their own line apply to the next line that is not a comment.
    let mut waiting: Vec<usize> = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1_u32..) {
        let content = line.trim();
        if let Some((at, code)) = comment(line) {
            let offset = |at: usize| u32::try_from(start + at).unwrap_or(u32::MAX);
            let end = line.trim_end().len();
            let index = all.len();
            all.push(Allow {
                span: Span { source, start: offset(at), end: offset(end) },
                code: code.to_owned(),
                used: false,
            });
            if content.starts_with('#') {
                waiting.push(index);
            } else {
                allows.entry((source, number)).or_default().push(index);
            }
        }
        if !content.starts_with('#') {
            allows.entry((source, number)).or_default().append(&mut waiting);
        }
        start += line.len();
    }
}

/// Returns the position of an allow comment in a line, and its code.
fn comment(line: &str) -> Option<(usize, &str)> {
    let mut from = 0;
    while let Some(found) = line[from..].find('#') {
        let at = from + found;
        // A `#` starts a comment at the start of a line or after white space.
        let begins = line[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = line[at + 1..].trim_start();
        if begins && let Some(rest) = rest.strip_prefix(MARK) {
            return rest
                .starts_with(char::is_whitespace)
                .then(|| (at, rest.split_whitespace().next().unwrap_or_default()));
        }
        from = at + 1;
    }
    None
}

fn unused(allow: &Allow, reported: &impl Fn(Code) -> bool) -> Option<Diagnostic> {
    let (message, help) = match Code::finding(&allow.code) {
        // Whether it is used shows in another run only, one with that rule.
        Some(code) if !reported(code) => return None,
        Some(_) => (
            format!("nothing here is reported as `{}`", allow.code),
            "delete the comment".to_owned(),
        ),
        None if allow.code.is_empty() => {
            ("the comment names no code".to_owned(), "write `# ome: allow CODE reason`".to_owned())
        }
        None => {
            let near = nearest(
                &allow.code,
                CODES.iter().filter(|doc| doc.topic == Topic::Finding).map(|doc| doc.id),
            );
            let help = near.map_or_else(
                || "`ome code` lists the codes".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            (format!("no finding has the code `{}`", allow.code), help)
        }
    };
    Some(Diagnostic::new(Code::UnusedAllow, message).at(allow.span).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, SourceKind};

    #[test]
    fn a_comment_allows_on_its_line_and_on_the_line_below() {
        // Rows: a text in which `X` has a finding, and the remaining codes.
        for (text, expected) in [
            ("a: X\n", &["invalid-value"][..]),
            ("a: X # ome: allow invalid-value known\n", &[]),
            ("# ome: allow invalid-value known\na: X\n", &[]),
            ("# ome: allow invalid-value known\n# more words\na: X\n", &[]),
            ("# ome: allow invalid-value known\n\na: X\n", &["invalid-value", "unused-allow"]),
            ("# ome: allow invalid-type wrong code\na: X\n", &["invalid-value", "unused-allow"]),
            ("# ome: allow invalid-values\na: X\n", &["invalid-value", "unused-allow"]),
            ("# ome: allow autoselect-overlap only on demand\na: X\n", &["invalid-value"]),
            ("a: X#ome: allow invalid-value no comment\n", &["invalid-value"]),
            ("# ome: allowed\na: X\n", &["invalid-value"]),
            ("# ome: allow \na: X\n", &["invalid-value", "unused-allow"]),
        ] {
            let mut sources = SourceMap::new();
            let source = sources.add(Source::new("a.yaml", SourceKind::File, text));
            let at = u32::try_from(text.find('X').unwrap()).unwrap();
            let finding = Diagnostic::new(Code::InvalidValue, "x").at(Span {
                source,
                start: at,
                end: at + 1,
            });
            let left = apply(vec![finding], &sources, |code| code != Code::AutoselectOverlap);
            assert_eq!(
                left.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
    }
}
