//! Writes a fleet to plan for: thousands of services, runtimes, models and nodes, the same every
//! time.
//!
//! `cargo run --release --example fleet -- --services 10000 --runtimes 1000 --models 1000 --nodes
//! 2000 DIR`
//!
//! `--docs/kserve.md` makes half of the services and runtimes KServe's.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator writes files and reports on the terminal"
)]

mod generate;
mod kserve;

use generate::Counts;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str =
    "usage: fleet [--services N] [--runtimes N] [--models N] [--nodes N] [--kserve PERCENT] DIR";

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1))
        .and_then(|(counts, directory)| write(counts, &directory))
    {
        Ok(done) => {
            eprintln!("{done}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<(Counts, PathBuf), String> {
    let mut counts = Counts::default();
    let mut directory = None;
    while let Some(argument) = given.next() {
        let count = match argument.as_str() {
            "--services" => &mut counts.services,
            "--runtimes" => &mut counts.runtimes,
            "--models" => &mut counts.models,
            "--nodes" => &mut counts.nodes,
            "--kserve" => &mut counts.kserve,
            path if !path.starts_with('-') && directory.is_none() => {
                directory = Some(PathBuf::from(path));
                continue;
            }
            _ => return Err(format!("{argument}?\n{USAGE}")),
        };
        *count = given
            .next()
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("{argument} takes a number\n{USAGE}"))?;
    }
    if counts.kserve > 100 {
        return Err(format!("--kserve takes a share of a hundred\n{USAGE}"));
    }
    Ok((counts, directory.ok_or(USAGE)?))
}

fn write(counts: Counts, directory: &std::path::Path) -> Result<String, String> {
    let said = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(directory).map_err(said)?;
    let files = generate::files(counts);
    for (name, text) in &files {
        std::fs::write(directory.join(name), text).map_err(said)?;
    }
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    Ok(format!("{} files, {bytes} bytes in {}", files.len(), directory.display()))
}
