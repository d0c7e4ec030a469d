//! Baselines: known findings that are not reported again.
//!
//! In: findings, and the text of a baseline. Out: the findings that are not in the baseline, or the
//! text of a new baseline. The key of an entry is file, code, field, objects and message. It has no
//! line, so edits elsewhere in the file do not invalidate it. Equal entries are counted.

use crate::diag::Diagnostic;
use crate::source::SourceMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the file format.
const VERSION: &str = "ome/v1";

/// The key of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    file: String,
    code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    objects: Vec<String>,
    message: String,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    finding: Known,
    count: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    schema_version: String,
    findings: Vec<Entry>,
}

/// The known findings.
#[derive(Debug, Default)]
pub struct Baseline {
    left: BTreeMap<Known, usize>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// An error message, when the text is not a baseline.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File =
            serde_json::from_str(text).map_err(|error| format!("it is no baseline: {error}"))?;
        // Keys of another version may have other parts and would match nothing.
        if file.schema_version != VERSION {
            return Err(format!("its schemaVersion is `{}`, not `{VERSION}`", file.schema_version));
        }
        let mut left = BTreeMap::new();
        for entry in file.findings {
            *left.entry(entry.finding).or_default() += entry.count;
        }
        Ok(Self { left })
    }

    /// Returns the findings that are not in the baseline, and the number of its entries that no
    /// longer occur.
    pub fn apply(
        mut self,
        found: Vec<Diagnostic>,
        sources: &SourceMap,
    ) -> (Vec<Diagnostic>, usize) {
        let new = found
            .into_iter()
            .filter(|finding| match self.left.get_mut(&entry_of(finding, sources)) {
                Some(count) if *count > 0 => {
                    // Counted: a second equal finding in the same file is new.
                    *count -= 1;
                    false
                }
                _ => true,
            })
            .collect();
        (new, self.left.values().sum())
    }

    /// Returns the text of a baseline of these findings.
    pub fn text(found: &[Diagnostic], sources: &SourceMap) -> String {
        let mut counts: BTreeMap<Known, usize> = BTreeMap::new();
        for finding in found {
            *counts.entry(entry_of(finding, sources)).or_default() += 1;
        }
        let findings =
            counts.into_iter().map(|(finding, count)| Entry { finding, count }).collect();
        let file = File { schema_version: VERSION.to_owned(), findings };
        serde_json::to_string_pretty(&file).map_or_else(|_| String::new(), |text| text + "\n")
    }
}

fn entry_of(finding: &Diagnostic, sources: &SourceMap) -> Known {
    let file = finding
        .span()
        .map(|span| sources.get(span.source).name.to_string())
        .or_else(|| finding.file.clone());
    Known {
        file: file.unwrap_or_default(),
        code: finding.code.as_str().to_owned(),
        path: finding.path.clone(),
        objects: finding.objects.clone(),
        message: finding.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, Span};

    #[test]
    fn baseline_findings_are_omitted_after_moving_to_another_line() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "0123456789"));
        let at = |start, message: &str| {
            Diagnostic::new(Code::InvalidValue, message).at(Span { source, start, end: start + 1 })
        };
        let text = Baseline::text(&[at(1, "x"), at(2, "x"), at(3, "gone")], &sources);
        let (new, stale) = Baseline::parse(&text)
            .unwrap()
            .apply(vec![at(7, "x"), at(8, "x"), at(9, "x"), at(1, "y")], &sources);
        assert_eq!(
            (new.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(), stale),
            (vec!["x", "y"], 1)
        );
    }

    #[test]
    fn a_file_that_is_not_a_baseline_is_refused() {
        for text in ["", "[]", "{}", r#"{"schemaVersion": "ome/v2", "findings": []}"#] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }
}
