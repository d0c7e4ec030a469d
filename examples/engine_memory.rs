//! Fits the constants of `src/engine/memory.rs` to start-up logs, and prints the errors.
//!
//! `cargo run --example engine_memory -- [LOGS.jsonl MODELS.json] [--fit]`. In: public logs, by
//! default those of `testdata/recorded/engines`. Out: per engine and range of releases the median
//! and the 90th percentile of the errors, the part inside of the intervals, and wrong decisions;
//! with `--fit` also the constants that fit best, beside those in use, and the errors of each model
//! with constants that were fitted without it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a tool reads files and reports on the terminal"
)]

use ome::internals::engine::{CONSTANTS, Constants, Row, errors, rows};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/recorded/engines");

fn main() -> ExitCode {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let path =
        |at: usize, name: &str| paths.get(at).cloned().unwrap_or_else(|| format!("{DATA}/{name}"));
    let read =
        |path: String| std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"));
    let all = read(path(0, "kv-logs.jsonl"))
        .and_then(|logs| rows(&logs, &read(path(1, "kv-models.json"))?));
    let all = match all {
        Ok(all) => all,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    print_errors(&all);
    if flags.iter().any(|flag| flag == "--fit") {
        print_fit(&all);
    }
    ExitCode::SUCCESS
}

fn print_errors(all: &[Row]) {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in all {
        let engine = format!("{:?}", row.load.engine);
        groups.entry("all".to_owned()).or_default().push(row);
        let range = match (engine.as_str(), row.load.version) {
            ("VLlm", Some(_)) => format!("{engine} {}", row.load.releases_of().0),
            _ => engine,
        };
        groups.entry(range).or_default().push(row);
    }
    println!(
        "{:<18}{:>6}{:>9}{:>9}{:>9}{:>10}{:>9}",
        "LOGS OF", "LOGS", "MEDIAN", "90TH", "INSIDE", "PROMISED", "ACCUSED"
    );
    for (name, rows) in groups {
        let found = errors(rows, None);
        println!(
            "{name:<18}{:>6}{:>8.1}%{:>8.1}%{:>8.0}%{:>10}{:>9}",
            found.logs,
            found.median * 100.0,
            found.ninetieth * 100.0,
            found.inside * 100.0,
            found.promised,
            found.accused
        );
    }
    let mut worst: Vec<(f64, &Row, f64)> = all
        .iter()
        .filter_map(|row| {
            let middle = row.estimate(&CONSTANTS)?.middle;
            Some(((middle - row.reported).abs() / row.reported, row, middle))
        })
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\nfarthest off:");
    for (error, row, middle) in worst.iter().take(10) {
        println!(
            "  log {:<4} {:<44} {:>7.2} GiB reported, {middle:>7.2} estimated, {:.0}%",
            row.id,
            row.name,
            row.reported,
            error * 100.0
        );
    }
}

/// The constants by name.
fn each(constants: &mut Constants) -> [(&'static str, &mut f64); 9] {
    [
        ("driver", &mut constants.driver),
        ("driver_part", &mut constants.driver_part),
        ("sorting", &mut constants.sorting),
        ("logit", &mut constants.logit),
        ("dense", &mut constants.dense),
        ("mixture", &mut constants.mixture),
        ("alone", &mut constants.alone),
        ("together", &mut constants.together),
        ("linked", &mut constants.linked),
    ]
}

/// What a fit makes small: errors in GiB and in parts, each with a bound, so that one odd log does
/// not decide.
fn loss(rows: &[&Row], constants: &Constants) -> f64 {
    let one = |row: &&&Row| {
        let off = (row.estimate(constants)?.middle - row.reported).abs();
        Some(off.min(1.0) + 3.0 * (off / row.reported.max(0.5)).min(0.3))
    };
    rows.iter().filter_map(|row| one(&row)).sum()
}

fn fitted(rows: &[&Row]) -> Constants {
    let mut best = CONSTANTS;
    let mut least = loss(rows, &best);
    for step in [1.3, 1.1, 1.03, 1.01] {
        let mut improves = true;
        while improves {
            improves = false;
            for at in 0..9 {
                for factor in [step, 1.0 / step] {
                    let mut next = best;
                    if let Some((_, value)) = each(&mut next).into_iter().nth(at) {
                        *value *= factor;
                    }
                    let loss = loss(rows, &next);
                    if loss < least - 1e-6 {
                        (best, least, improves) = (next, loss, true);
                    }
                }
            }
        }
    }
    best
}

fn print_fit(all: &[Row]) {
    let rows: Vec<&Row> = all.iter().collect();
    let (mut used, mut best) = (CONSTANTS, fitted(&rows));
    println!("\n{:<14}{:>10}{:>10}", "CONSTANT", "IN USE", "FITTED");
    for ((name, used), (_, fitted)) in each(&mut used).into_iter().zip(each(&mut best)) {
        println!("{name:<14}{used:>10.4}{fitted:>10.4}");
    }
    let found = errors(all, Some(&best));
    println!("fitted: median {:.1}%, 90th {:.1}%", found.median * 100.0, found.ninetieth * 100.0);
    let models: BTreeSet<&str> = all.iter().map(|row| row.name.as_str()).collect();
    let mut parts = Vec::new();
    for model in models {
        let others: Vec<&Row> = all.iter().filter(|row| row.name != model).collect();
        let constants = fitted(&others);
        for row in all.iter().filter(|row| row.name == model) {
            if let Some(found) = row.estimate(&constants) {
                parts.push((found.middle - row.reported).abs() / row.reported);
            }
        }
    }
    parts.sort_by(f64::total_cmp);
    let at = |numerator: usize| parts.get(parts.len() * numerator / 10).copied().unwrap_or(0.0);
    println!("each model left out: median {:.1}%, 90th {:.1}%", at(5) * 100.0, at(9) * 100.0);
}
