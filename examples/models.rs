//! Writes `src/facts/models/published.tsv` from the facts about published models, or checks it.
//!
//! `cargo run --example models -- ../shared/upstream [--check]`. In: `models/facts.jsonl`, a JSON
//! object per repository of the Hugging Face Hub. Out: the table, whose columns
//! `src/facts/models/published.rs` documents. With `--check` nothing is written; the exit code is 1
//! when the table is stale.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const TARGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/facts/models/published.tsv");

fn main() -> ExitCode {
    let mut check = false;
    let mut upstream = None;
    for argument in std::env::args().skip(1) {
        if argument == "--check" {
            check = true;
        } else {
            upstream = Some(PathBuf::from(argument));
        }
    }
    let Some(upstream) = upstream else {
        eprintln!("usage: models UPSTREAM [--check]");
        return ExitCode::FAILURE;
    };
    match run(&upstream, check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(upstream: &Path, check: bool) -> Result<(), String> {
    let text = table(&upstream.join("models"))?;
    if std::fs::read_to_string(TARGET).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if check {
        let upstream = upstream.display();
        return Err(format!("{TARGET} is stale: run `cargo run --example models -- {upstream}`"));
    }
    std::fs::write(TARGET, &text).map_err(|error| format!("{TARGET}: {error}"))?;
    eprintln!("{TARGET}: {} bytes", text.len());
    Ok(())
}

/// The table: a line per repository, sorted by id.
fn table(models: &Path) -> Result<String, String> {
    let path = models.join("facts.jsonl");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let mut lines = text
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).map_err(|error| failed(&error))?;
            line_of(&row).map_err(|error| failed(&error))
        })
        .collect::<Result<Vec<_>, String>>()?;
    lines.sort();
    Ok(lines.concat())
}

/// One line; a column that is unknown is empty.
fn line_of(row: &Value) -> Result<String, String> {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let number = |key: &str| row[key].as_u64().map(|number| number.to_string()).unwrap_or_default();
    let confidence = match text("confidence") {
        "config" => "c",
        "two-sources" => "2",
        "one-source" => "1",
        other => return Err(format!("{}: confidence `{other}`", row["id"])),
    };
    // What only the runtime made for a model states proves nothing about the model.
    let circular =
        sources(row).any(|source| source.starts_with("frameworkVersion: upstream runtime"));
    let version = match text("frameworkVersion") {
        version if circular && !version.is_empty() => format!("?{version}"),
        version => version.to_owned(),
    };
    let agent = match text("agentQuantization") {
        "unknown" => "?",
        written => written,
    };
    // A count that equals the other, or is unknown, is left out: readers take the other.
    let stored = match &row["storedElements"] {
        stored if *stored == row["parameters"] => String::new(),
        _ => number("storedElements"),
    };
    let capabilities: Vec<&str> =
        row["capabilities"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let columns = [
        text("id"),
        confidence,
        text("architecture"),
        text("modelType"),
        if text("framework") == "transformers" { "" } else { text("framework") },
        &version,
        &number("parameters"),
        &stored,
        text("quantization"),
        agent,
        &number("maxTokens"),
        &capabilities.join(","),
    ];
    if let Some(odd) = columns.iter().find(|column| column.contains(['\t', '\n', '\r'])) {
        return Err(format!("{}: `{odd}` does not fit a column", row["id"]));
    }
    Ok(columns.join("\t") + "\n")
}

fn sources(row: &Value) -> impl Iterator<Item = &str> {
    row["sources"].as_array().into_iter().flatten().filter_map(Value::as_str)
}
