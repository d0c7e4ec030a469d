//! Findings in order, as JSON, and counted.

use crate::diag::{Diagnostic, Severity};
use crate::secret::Secrets;
use crate::source::SourceMap;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use super::excerpt::{Drawing, human, shortened};
use super::screen::{Page, line, put};

/// Removes secrets from findings, sorts them by file, location, code and message, and removes
/// duplicates. The same finding at the same place is one, even if an alias of YAML puts that place
/// at several paths of an object.
pub fn settle(found: &mut Vec<Diagnostic>, sources: &SourceMap, secrets: &Secrets) {
    // Before the sort, since messages are a part of its key.
    for finding in &mut *found {
        secrets.redact(finding, sources);
    }
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
    // Sorted by place and message, equal findings are neighbors.
    found.dedup_by(|later, first| {
        // The paths are taken out, so that the comparison of all fields does not see them.
        let paths = (later.path.take(), first.path.take());
        let is_same = later == first && (first.span().is_some() || paths.0 == paths.1);
        (later.path, first.path) = paths;
        is_same
    });
}

/// All findings in the documented JSON format, serialized one by one: a broken file may have a
/// finding for each line.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
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

/// A list whose elements are made when they are serialized.
pub(super) struct Each<'a, F>(pub(super) &'a [Diagnostic], pub(super) F);

impl<F: Fn(&Diagnostic) -> Value> Serialize for Each<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

/// One finding in the documented JSON format.
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
    // The first label is the place of the finding itself.
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

/// The message of a finding and its next step, one line each: the text of an annotation.
pub(super) fn annotation(finding: &Diagnostic) -> String {
    let mut out = Page::default();
    put!(out, "{}", finding.message);
    if let Some(help) = &finding.help {
        put!(out, "\nhelp: {help}");
    }
    out.finish()
}

/// "2 errors, 1 warning"; empty without findings.
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

/// Up to this number, findings are not counted by code.
const COUNTED_BY_EYE: usize = 10;

/// "errors: 20 same-priority, 11 duplicate-object" and so on, a line for each severity, the most
/// frequent code first. A few findings are not counted, except those below the severity `shown`.
pub fn by_code(found: &[Diagnostic], shown: Severity) -> String {
    let mut out = Page::default();
    let few = found.len() <= COUNTED_BY_EYE;
    for (severity, word) in
        [(Severity::Error, "errors"), (Severity::Warning, "warnings"), (Severity::Info, "info")]
    {
        // A few can be counted by eye, but those that are hidden cannot be seen.
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
            line!(out, "  {word}: {}{hidden}", counts.join(", "));
        }
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, Span};

    /// An alias puts one text at several paths of an object.
    #[test]
    fn one_finding_at_several_paths_of_one_place_is_kept_once() {
        let mut sources = SourceMap::default();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: &b 1\nc: *b\n"));
        let span = |start, end| Span { source, start, end };
        let finding = |path: &str| Diagnostic::new(Code::GpuLimitsOnly, "one").path(path);
        let secrets = Secrets::new(&sources);
        for (places, kept) in [
            ([Some(span(3, 7)), Some(span(3, 7))], vec!["a"]),
            ([Some(span(0, 1)), Some(span(3, 7))], vec!["a", "c"]),
            ([None, None], vec!["a", "c"]),
        ] {
            let mut found: Vec<Diagnostic> =
                ["a", "c"].iter().zip(places).map(|(path, at)| finding(path).at(at)).collect();
            settle(&mut found, &sources, &secrets);
            let paths: Vec<&str> =
                found.iter().filter_map(|finding| finding.path.as_deref()).collect();
            assert_eq!(paths, kept, "{places:?}");
        }
    }

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
}
