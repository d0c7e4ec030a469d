//! The results of `ome test`, and the schema of its files.

use super::screen::{Page, line, printable};
use super::{SCHEMA_VERSION, explain, findings, github, json, json_schema};
use crate::diag::{Diagnostic, Severity};
use crate::diff::expect::Miss;
use crate::pipeline::Each;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt::Write;

/// An expectation that is not met, as text that no longer needs the world.
#[derive(Clone, Debug)]
pub struct Failure {
    miss: Miss,
    line: u32,
    edits: Value,
    flip: String,
}

impl Failure {
    /// Converts a miss. `file` holds the sources of the expectations, `world` those of the case.
    pub fn new(miss: Miss, file: &SourceMap, world: &SourceMap) -> Self {
        let edits = miss.flip.as_ref().map(|flip| json::flip(flip, world)["edits"].clone());
        Self {
            line: file.locate(miss.span).line,
            edits: edits.unwrap_or_else(|| json!([])),
            flip: miss
                .flip
                .as_ref()
                .map_or(String::new(), |flip| explain::flip(flip, world).plain()),
            miss,
        }
    }

    /// The message, the reasons for the failure, and the edits that fix it.
    fn lines(&self) -> impl Iterator<Item = String> {
        let reasons = self.miss.reasons.iter().map(|(code, detail)| format!("{code}: {detail}"));
        // The first line is the sentence; blank lines of the sheet part it from the edits.
        let flip = self.flip.lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned);
        std::iter::once(self.miss.message.clone()).chain(reasons).chain(flip)
    }
}

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Done {
    /// The file.
    pub file: String,
    /// Its name.
    pub name: String,
    /// The expectations that are not met.
    pub failures: Vec<Failure>,
    /// What is open of those that are met: the path, and why.
    pub open: Vec<(String, String)>,
    /// A part of its input was not read, so that it shows nothing when all others are met.
    pub incomplete: bool,
}

impl Done {
    /// Whether all expectations are met by an input that was read as a whole.
    fn passed(&self) -> bool {
        self.failures.is_empty() && !self.incomplete
    }
}

/// All cases of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The cases, in order.
    pub cases: Vec<Done>,
    /// Findings about the files.
    pub found: Vec<Diagnostic>,
    /// The sources of the files.
    pub sources: SourceMap,
}

impl Report {
    /// How many cases failed.
    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.failures.is_empty()).count()
    }

    /// How many cases passed.
    fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.passed()).count()
    }

    /// Whether something is open of expectations that are met.
    pub fn is_open(&self) -> bool {
        self.cases.iter().any(|case| !case.open.is_empty())
    }

    /// The results as JSON.
    pub fn json(&self) -> Value {
        let failure = |case: &Done, failure: &Failure| {
            let mut out = json!({
                "path": failure.miss.path,
                "want": failure.miss.want,
                "message": failure.miss.message,
                "file": case.file,
                "line": failure.line,
                "reasons": failure.miss.reasons.iter().map(|(code, detail)| json!({ "code": code, "detail": detail })).collect::<Vec<_>>(),
                "edits": failure.edits,
            });
            // An absent value and null are different answers.
            if let Some(got) = &failure.miss.got {
                out["got"] = got.clone();
            }
            out
        };
        let cases = self.cases.iter().map(|case| {
            let mut out = json!({
                "file": case.file,
                "name": case.name,
                "passed": case.passed(),
                "failures": case.failures.iter().map(|found| failure(case, found)).collect::<Vec<_>>(),
            });
            if !case.open.is_empty() {
                let open = case.open.iter();
                let open = open.map(|(path, why)| json!({ "path": path, "message": why }));
                out["notJudged"] = open.collect();
            }
            out
        });
        let failed = self.failed();
        let passed = self.passed();
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "summary": { "cases": self.cases.len(), "passed": passed, "failed": failed, "incomplete": self.cases.len() - passed - failed },
            "cases": cases.collect::<Vec<_>>(),
            "findings": self.found.iter().map(|finding| findings::json(finding, &self.sources)).collect::<Vec<_>>(),
        })
    }

    /// The results as text: a line for each case, and how to fix those that failed.
    pub fn text(&self) -> String {
        let mut out = Page::default();
        for case in &self.cases {
            let word = match case.failures.is_empty() {
                false => "FAILED",
                true if case.incomplete => "incomplete",
                true => "ok",
            };
            line!(out, "{word} {}: {}", case.file, case.name);
            for failure in &case.failures {
                line!(out, "  {}:{}: {}", case.file, failure.line, failure.miss.path);
                failure.lines().for_each(|failure| line!(out, "    {failure}"));
            }
            for (path, why) in &case.open {
                line!(out, "  ! {path}: the pods have nodes; not judged: {why}");
            }
        }
        let failed = self.failed();
        let count = self.cases.len();
        let cases = if count == 1 { "case" } else { "cases" };
        let passed = self.passed();
        let incomplete = match count - passed - failed {
            0 => String::new(),
            unread => format!(", {unread} with input that was not read"),
        };
        line!(out, "\n{count} {cases}: {passed} passed, {failed} failed{incomplete}");
        out.finish()
    }

    /// Workflow commands of GitHub Actions: an error for each expectation that is not met.
    pub fn github(&self) -> String {
        let mut out = Page::default();
        for case in &self.cases {
            for failure in &case.failures {
                let lines: Vec<String> = failure
                    .lines()
                    .map(|failure| github::data(&printable(failure.trim())))
                    .collect();
                line!(
                    out,
                    "::error file={},line={},title={}::{}",
                    github::property(&case.file),
                    failure.line,
                    github::property(&case.name),
                    lines.join("%0A")
                );
            }
        }
        out.finish()
    }

    /// JUnit XML: a test case for each case, with at most one failure that contains all of them.
    pub fn junit(&self) -> String {
        let failed = self.failed();
        // A file that cannot be read has no cases: it is a case in error.
        let errors = self.found.iter().filter(|found| found.severity == Severity::Error);
        let counts = format!(
            "tests=\"{}\" failures=\"{failed}\" errors=\"{}\"",
            self.cases.len() + errors.clone().count(),
            errors.clone().count()
        );
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ome test\" {counts}>\n  <testsuite name=\"ome test\" {counts}>\n"
        );
        // Texts may have control characters, which XML does not allow even escaped.
        let escaped = |text: &str| super::junit::escaped(&printable(text));
        for found in errors {
            let place = found.span().map_or_else(
                || found.file.clone().unwrap_or_default(),
                |span| self.sources.locate(span).to_string(),
            );
            let _ = writeln!(
                out,
                "    <testcase name=\"{}\" classname=\"ome.test\">\n      <error type=\"{}\" message=\"{}\"/>\n    </testcase>",
                escaped(&place),
                found.code.as_str(),
                escaped(&found.message)
            );
        }
        for case in &self.cases {
            let head = format!(
                "    <testcase name=\"{}\" classname=\"{}\"",
                escaped(&case.name),
                escaped(&case.file)
            );
            let Some(first) = case.failures.first() else {
                let _ = if case.incomplete {
                    writeln!(
                        out,
                        "{head}>\n      <skipped message=\"incomplete: a part of the input was not read\"/>\n    </testcase>"
                    )
                } else {
                    writeln!(out, "{head}/>")
                };
                continue;
            };
            let mut lines = Vec::new();
            for failure in &case.failures {
                let place = format!("{}:{}: {}: ", case.file, failure.line, failure.miss.path);
                let failure = failure.lines().enumerate();
                lines.extend(failure.map(|(at, name)| {
                    escaped(&if at == 0 { format!("{place}{name}") } else { name })
                }));
            }
            let _ = writeln!(
                out,
                "{head}>\n      <failure type=\"expectation\" message=\"{}\">{}</failure>\n    </testcase>",
                escaped(&first.miss.message),
                lines.join("\n")
            );
        }
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }
}

/// The JSON Schema of a file of expectations.
pub fn schema() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let or_null = |kind: &str, description: &str| json!({ "type": [kind, "null"], "description": description });
    let service = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "runtime": or_null("string", "The runtime that is chosen: NAME, KIND/NAME or KIND/NAMESPACE/NAME; null for none."),
            "accelerator": or_null("string", "The accelerator class of the component that runs the model; null for none."),
            "mode": text("The deployment mode of the component that runs the model."),
            "gpus": { "type": "integer", "minimum": 0, "description": "GPUs of one replica of the component that runs the model." },
            "fits": { "type": "boolean", "description": "Whether minReplicas of every component fit on the Nodes." },
            "error": or_null("string", "The code of the error that keeps the service from being deployed; null for none."),
            "arg": {
                "description": "An argument, or several, of the container that runs the model.",
                "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
            },
        },
        "patternProperties": {
            "^env\\..+$": { "type": ["string", "number", "boolean", "null"], "description": "The value of a variable of the container that runs the model." },
        },
    });
    let loss = json!({ "enum": Each::ALL.map(Each::as_str) });
    let case = json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "minLength": 1, "description": "What the case shows." },
            "files": { "type": "array", "items": { "type": "string" }, "description": "Files and directories, relative to this file; without it those of the command line." },
            "services": { "type": "object", "description": "Services as NAMESPACE/NAME with what is expected of each.", "additionalProperties": service },
            "objects": { "type": "object", "description": "Rendered objects as Kind/namespace/name with the values of their fields by path; null for a field that is absent.", "additionalProperties": { "type": "object" } },
            "findings": { "type": "array", "items": { "type": "string" }, "description": "Codes that must be found." },
            "survives": {
                "description": "Every pod that has a node has one after the loss of any node, zone or class.",
                "oneOf": [loss, { "type": "array", "items": loss }],
            },
        },
    });
    json!({
        "$schema": json_schema::DIALECT,
        "$id": "urn:ome:schema:ome-test_v1.json",
        "title": "Expectations of `ome test`",
        "type": "object",
        "required": ["cases"],
        "additionalProperties": false,
        "properties": { "cases": { "type": "array", "items": case, "description": "The cases, each judged on its own." } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::expect::{CASE_KEYS, SERVICE_KEYS};

    #[test]
    fn the_expectation_schema_lists_exactly_the_supported_keys() {
        let schema = schema();
        let case = &schema["properties"]["cases"]["items"]["properties"];
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(case), CASE_KEYS);
        let service = &case["services"]["additionalProperties"]["properties"];
        assert_eq!(keys(service), SERVICE_KEYS);
    }
}
