//! Finds cases, makes their calls, and reports the differences.

use super::expect::{self, Printed};
use crate::process::{self, Call};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `case.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[expect(dead_code, reason = "for whoever reads the file")]
    about: String,
    #[expect(dead_code, reason = "for whoever reads the file")]
    origin: String,
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the file")]
    ledger: Vec<String>,
    /// Other recorded values.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the file")]
    recorded: serde_json::Value,
    /// Between which releases its pods restart.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the file")]
    restarts: serde_json::Value,
    runs: Vec<Run>,
}

/// One call with its expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    #[serde(default = "zero")]
    exit: Value,
    #[serde(default)]
    expect: Vec<Map<String, Value>>,
    #[serde(default)]
    ignore: Vec<String>,
    stdin: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn zero() -> Value {
    0.into()
}

impl Run {
    fn problems(&self, case: &Path, shared: &Path) -> Vec<String> {
        let args = self.args.iter().map(|arg| {
            arg.replace("{case}", &case.display().to_string())
                .replace("{shared}", &shared.display().to_string())
        });
        let call = Call {
            args: args.collect(),
            stdin: self.stdin.as_deref().unwrap_or_default(),
            directory: case,
            env: &self.env,
            time: Duration::from_secs(30),
        };
        let Some(done) = process::run(&call) else { return vec!["timed out".to_owned()] };
        let mut problems = crate::output_schemas::problems(&self.args, &done.stdout);
        let allowed = if let Value::Array(several) = &self.exit {
            several.clone()
        } else {
            vec![self.exit.clone()]
        };
        if !allowed.iter().any(|exit| exit.as_i64() == done.exit.map(i64::from)) {
            let exit = done.exit.map_or_else(|| "by a signal".to_owned(), |exit| exit.to_string());
            problems.push(format!(
                "exit {exit}, want {}: {}",
                self.exit,
                done.stderr.trim().chars().take(300).collect::<String>()
            ));
        }
        problems.extend(expect::check(
            case,
            &self.expect,
            &self.ignore,
            &Printed { stdout: &done.stdout, stderr: &done.stderr },
        ));
        problems
    }
}

/// Directories below `root` that hold a case, sorted.
pub(super) fn cases(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let entry = entry.expect("a directory can be listed");
            if entry.file_type().expect("its kind is known").is_dir() {
                waiting.push(entry.path());
            } else if entry.file_name() == "case.json" {
                found.push(directory.clone());
            }
        }
    }
    found.sort();
    found
}

/// Most lines shown of one call.
const LINES: usize = 12;

/// Runs every case below a directory and fails with every difference.
pub(super) fn suite(tree: &Path, below: &str) {
    let root = tree.join(below);
    let shared = tree.parent().unwrap_or(tree);
    let cases = cases(&root);
    assert!(!cases.is_empty(), "{} holds no case", root.display());
    let mut calls = Vec::new();
    for case in &cases {
        let text = std::fs::read_to_string(case.join("case.json"))
            .expect("a case that was found can be read");
        let parsed: Case = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}/case.json: {error}", case.display()));
        assert!(!parsed.runs.is_empty(), "{}/case.json makes no call", case.display());
        calls.extend(parsed.runs.into_iter().enumerate().map(|(index, run)| (case, index, run)));
    }
    let failures: Vec<String> = calls
        .par_iter()
        .filter_map(|(case, index, run)| {
            let problems = run.problems(case, shared);
            let name = case.strip_prefix(tree).unwrap_or(case).display();
            let number = if *index == 0 { String::new() } else { format!("#{index}") };
            let more = problems.len().saturating_sub(LINES);
            let mut lines: Vec<String> =
                problems.into_iter().take(LINES).map(|line| format!("     {line}\n")).collect();
            if more > 0 {
                lines.push(format!("     … {more} more\n"));
            }
            (!lines.is_empty()).then(|| format!("FAIL {name}{number}\n{}", lines.concat()))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} calls differ\n{}",
        failures.len(),
        calls.len(),
        failures.concat()
    );
}
