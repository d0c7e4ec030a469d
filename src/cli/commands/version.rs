//! `ome version`: the version, and the releases that are known.

use super::catalog::known_releases;
use crate::cli::args::ReportFormat;
use crate::cli::jsonpath::FormatParser;
use crate::cli::{Failure, Io, Outcome, command};
use crate::report::SCHEMA_VERSION;
use crate::report::releases::ReleaseRow;
use serde_json::{Value, json};

/// Print the version; with `-o json`, also the commit and its date, the known releases of operators and how each is known.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t, value_name = "FORMAT")]
    output: ReportFormat,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    if args.output == ReportFormat::Table {
        io.print(&command().render_version())?;
    } else {
        let releases: Vec<Value> = known_releases().iter().map(ReleaseRow::json).collect();
        io.print_json(&json!({
            "schemaVersion": SCHEMA_VERSION,
            "version": env!("CARGO_PKG_VERSION"),
            // `.ci/release` sets both; a build from a working tree has no commit that it is known to be.
            "commit": option_env!("OME_COMMIT"),
            "date": option_env!("OME_COMMIT_DATE"),
            "releases": releases,
        }))?;
    }
    Ok(Outcome::Done)
}
