//! Findings as a Code Quality report of GitLab.
//!
//! Source: GitLab documentation, "Code Quality", "Code Quality report format".

use super::places::Places;
use crate::diag::{Diagnostic, Severity};
use crate::quantity::hash;
use crate::report::screen::printable;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A report: an entry for each finding.
pub fn report(found: &[Diagnostic], places: &Places<'_>) -> Value {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let entries = found.iter().map(|finding| {
        let path = places.file_of(finding).unwrap_or_else(|| ".".to_owned());
        // Lines move with every edit above them, so the fingerprint is made from other properties.
        let identity = format!(
            "{}\0{path}\0{}\0{}\0{}",
            finding.code.as_str(),
            finding.objects.join("\0"),
            finding.path.as_deref().unwrap_or_default(),
            finding.message
        );
        // Two equal findings of one file must not have one fingerprint: GitLab keeps one of them.
        let earlier = seen.entry(identity.clone()).or_default();
        let fingerprint = hex(&format!("{identity}\0{earlier}"));
        *earlier += 1;
        let (begin, end) = finding.span().map_or((1, 1), |span| {
            let place = places.locate(span);
            (place.line, place.end_line)
        });
        let help = finding.help.as_ref().map_or(String::new(), |help| format!(". Help: {help}"));
        json!({
            "description": printable(&format!("{}{help}", finding.message)),
            "check_name": finding.code.as_str(),
            "fingerprint": fingerprint,
            "severity": match finding.severity {
                Severity::Info => "info",
                Severity::Warning => "minor",
                Severity::Error => "major",
            },
            "location": { "path": path, "lines": { "begin": begin, "end": end } },
        })
    });
    entries.collect()
}

fn hex(text: &str) -> String {
    hash::hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;
    use crate::source::{Source, SourceKind, SourceMap, Span};

    #[test]
    fn fingerprints_are_unique_and_do_not_move_with_lines() {
        let finding = |sources: &mut SourceMap, text: &str| {
            let source = sources.add(Source::new("a.yaml", SourceKind::File, text));
            let end = u32::try_from(text.len()).unwrap();
            Diagnostic::new(Code::InvalidValue, "no").at(Span { source, start: end - 2, end })
        };
        let mut sources = SourceMap::new();
        let (high, low) = (finding(&mut sources, "a: 1\n"), finding(&mut sources, "#\na: 1\n"));
        let places = Places::new(&sources, None);
        let prints = |found: &[Diagnostic]| {
            report(found, &places)
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["fingerprint"].to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(prints(std::slice::from_ref(&high)), prints(std::slice::from_ref(&low)));
        let twice = prints(&[high.clone(), high]);
        assert_ne!(twice[0], twice[1]);
        assert_eq!(report(&[low], &places)[0]["location"]["lines"]["begin"], 2);
        assert_eq!(report(&[], &places), json!([]));
    }
}
