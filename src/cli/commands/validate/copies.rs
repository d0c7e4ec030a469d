//! Findings about copies that nothing applies: tests, documentation of old versions, other projects.
//!
//! In: the findings of a run. Out: those about files that are applied, and one for each directory of
//! the others.

use crate::diag::{Code, Diagnostic, Severity};
use crate::report::phrases::plural;
use crate::source::{Source, SourceMap};
use std::collections::BTreeMap;

/// Leaves out errors and warnings of directories with copies. A file that cannot be read is always
/// reported.
pub(super) fn left_out(found: Vec<Diagnostic>, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Diagnostic> = found
        .into_iter()
        .filter(|finding| {
            let source = finding.span().map(|span| sources.get(span.source));
            let Some(directory) = source.filter(|own| own.is_aside()).and_then(Source::copies)
            else {
                return true;
            };
            if finding.severity > Severity::Info {
                *counts.entry(directory).or_default() += 1;
            }
            finding.severity == Severity::Info
        })
        .collect();
    kept.extend(counts.into_iter().map(|(directory, count)| {
        let what = plural(count, "finding");
        Diagnostic::new(Code::CopiesLeftOut, format!("copies: {what} not shown"))
            .in_file(directory)
            .help("`--all` shows them")
    }));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceKind, Span};

    #[test]
    fn findings_about_copies_are_counted() {
        let mut sources = SourceMap::default();
        let mut at = |name: &str| {
            let mut source = Source::new(name, SourceKind::File, "a: 1\n");
            source.root = Some("r".into());
            Span { source: sources.add(source), start: 0, end: 1 }
        };
        let spans = ["r/a.yaml", "r/x/testdata/deep/a.yaml", "r/x/testdata/b.yaml"].map(&mut at);
        let found = spans.map(|span| Diagnostic::new(Code::UnknownField, "f").at(span));
        let kept = left_out(found.into(), &sources);
        let shown: Vec<_> = kept.iter().map(|own| (own.code, own.file.as_deref())).collect();
        assert_eq!(
            shown,
            [(Code::UnknownField, None), (Code::CopiesLeftOut, Some("r/x/testdata"))]
        );
        assert_eq!(kept[1].message, "copies: 2 findings not shown");
    }
}
