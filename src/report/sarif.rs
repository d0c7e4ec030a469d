//! Findings as SARIF 2.1.0, which code hosts show next to the changed lines.

use super::findings::Each;
use super::links;
use super::places::Places;
use crate::diag::{CODES, Code, CodeDoc, Diagnostic, Severity, Topic};
use crate::report::screen::printable;
use crate::source::{Location, Span};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::fmt::Write;

/// A log with one run: a rule for every kind of finding, a result for every finding.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    /// The findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a Places<'a>,
}

impl Serialize for Log<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("$schema", "https://json.schemastore.org/sarif-2.1.0.json")?;
        map.serialize_entry("version", "2.1.0")?;
        map.serialize_entry("runs", &[Run(*self)])?;
        map.end()
    }
}

struct Run<'a>(Log<'a>);

impl Serialize for Run<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rules: Vec<&CodeDoc> = CODES.iter().filter(|doc| doc.topic == Topic::Finding).collect();
        let driver = json!({
            "name": "ome",
            "informationUri": links::HOME,
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(|doc| rule(doc)).collect::<Vec<_>>(),
        });
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("tool", &json!({ "driver": driver }))?;
        // Columns of locations count characters.
        map.serialize_entry("columnKind", "unicodeCodePoints")?;
        map.serialize_entry(
            "results",
            &Each(self.0.found, |finding: &Diagnostic| result(finding, &rules, self.0.sources)),
        )?;
        map.end()
    }
}

fn rule(doc: &CodeDoc) -> Value {
    let entry = doc.entry();
    json!({
        "id": doc.id,
        "shortDescription": { "text": doc.summary },
        "fullDescription": { "text": entry.why },
        "help": { "text": entry.fix },
        "helpUri": links::entry(doc.id, doc.severity.as_str()),
        "defaultConfiguration": { "level": level(doc.severity) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn result(finding: &Diagnostic, rules: &[&CodeDoc], sources: &Places<'_>) -> Value {
    let id = Code::as_str(finding.code);
    let text = match &finding.help {
        Some(help) => format!("{}. Help: {help}", finding.message),
        None => finding.message.clone(),
    };
    let mut out = json!({
        "ruleId": id,
        "ruleIndex": rules.iter().position(|doc| doc.id == id),
        // Viewers find the rule by its index, and most of them by nothing else.
        "level": level(finding.severity),
        "message": { "text": printable(&text) },
        "locations": places(finding, sources),
    });
    if finding.labels.len() > 1 {
        out["relatedLocations"] = finding.labels[1..]
            .iter()
            .map(|label| {
                let mut place = physical(&sources.locate(label.span));
                place["message"] = json!({ "text": printable(&label.text) });
                place
            })
            .collect();
    }
    if !finding.fix.is_empty() {
        let changes: Vec<Value> = finding
            .fix
            .iter()
            .map(|edit| {
                let place = sources.locate(edit.span);
                json!({
                    "artifactLocation": { "uri": uri(&place.file) },
                    "replacements": [{ "deletedRegion": region(&place), "insertedContent": { "text": edit.insert } }],
                })
            })
            .collect();
        // A fix has one description for all of its changes.
        out["fixes"] = json!([{ "description": { "text": finding.help.as_deref().unwrap_or("repair") }, "artifactChanges": changes }]);
    }
    out
}

fn places(finding: &Diagnostic, sources: &Places<'_>) -> Value {
    match (finding.span(), &finding.file) {
        (Some(span), _) => json!([place(span, sources)]),
        (None, Some(file)) => {
            json!([whole(&sources.file(file))])
        }
        // Code hosts do not show a result without a location, so the whole run is the location.
        (None, None) => json!([whole(".")]),
    }
}

fn place(span: Span, sources: &Places<'_>) -> Value {
    physical(&sources.locate(span))
}

/// A whole file: its first line.
fn whole(file: &str) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": { "startLine": 1 } } })
}

fn physical(place: &Location) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&place.file) }, "region": region(place) } })
}

fn region(place: &Location) -> Value {
    json!({ "startLine": place.line, "startColumn": place.column, "endLine": place.end_line, "endColumn": place.end_column })
}

/// A path as a URI reference; an absolute path gets a scheme.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.strip_prefix("./").unwrap_or(path).bytes() {
        // A path is bytes: whatever is no plain letter is escaped byte by byte.
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            // Windows separates by backslashes, and a URI does not.
            b'\\' => out.push('/'),
            // Writing to a string cannot fail.
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, SourceKind, SourceMap};

    #[test]
    fn file_paths_become_uri_references() {
        for (path, expected) in [
            ("a/b c.yaml", "a/b%20c.yaml"),
            ("./a.yaml", "a.yaml"),
            ("/a/ü.yaml", "file:///a/%C3%BC.yaml"),
            ("<stdin>", "%3Cstdin%3E"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn a_result_points_at_its_rule_and_its_place() {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, "a: 1\nb: on\n"));
        let span = Span { source, start: 8, end: 10 };
        let finding =
            Diagnostic::new(Code::AmbiguousScalar, "x\u{1b}[2J").at(span).fix(span, "true");
        let log =
            serde_json::to_value(Log { found: &[finding], sources: &Places::new(&sources, None) })
                .unwrap();
        let result = &log["runs"][0]["results"][0];
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], "ambiguous-scalar");
        assert_eq!(
            result["locations"][0]["physicalLocation"]["region"],
            json!({ "startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 6 })
        );
        assert_eq!(
            result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
            "true"
        );
        assert!(!result["message"]["text"].as_str().unwrap().contains('\u{1b}'));
    }
}
