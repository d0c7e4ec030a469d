//! The commands, one file each: an `Args` struct whose doc comments are the help, and `run`.

pub(crate) mod catalog;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod discover;
pub(crate) mod drain;
pub(crate) mod drift;
pub(crate) mod dump;
pub(crate) mod endpoints;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod kueue;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod matrix;
pub(crate) mod overview;
pub(crate) mod payload;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod rollout;
pub(crate) mod schema;
mod subject;
pub(crate) mod test;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod why;

use super::args::InputArgs;
use super::{Failure, Io, Outcome};
use std::ffi::OsString;
use std::path::PathBuf;

/// The commands; the help of each is at its `Args`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Plan(plan::Args),
    Explain(explain::Args),
    Why(why::Args),
    Render(Box<render::Args>),
    Diff(diff::Args),
    Drift(drift::Args),
    Drain(drain::Args),
    Rollout(rollout::Args),
    Matrix(matrix::Args),
    Validate(validate::Args),
    Test(test::Args),
    Discover(discover::Args),
    Catalog(catalog::Args),
    Kueue(kueue::Args),
    Convert(convert::Args),
    Schema(schema::Args),
    Lsp(lsp::Args),
    Import(import::Args),
    Endpoints(endpoints::Args),
    Payload(payload::Args),
    Dump(dump::Args),
    Code(code::Args),
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
    Version(version::Args),
}

impl Command {
    /// Returns the paths whose changes run the command again, with `--watch`.
    pub(crate) fn watched(&self) -> Option<Vec<PathBuf>> {
        match self {
            Self::Plan(args) => args.watched(),
            Self::Explain(args) => args.watched(),
            Self::Validate(args) => args.watched(),
            Self::Diff(args) => args.watched(),
            _ => None,
        }
    }

    /// The arguments about what is read, where the command proposes further ones on it.
    pub(crate) fn input_mut(&mut self) -> Option<&mut InputArgs> {
        Some(match self {
            Self::Plan(args) => &mut args.input,
            Self::Explain(args) => &mut args.input,
            Self::Why(args) => &mut args.input,
            Self::Render(args) => &mut args.input,
            Self::Diff(args) => &mut args.input,
            Self::Drift(args) => &mut args.input,
            Self::Drain(args) => &mut args.input,
            Self::Rollout(args) => &mut args.input,
            Self::Matrix(args) => &mut args.input,
            Self::Validate(args) => &mut args.input,
            Self::Test(args) => &mut args.input,
            Self::Discover(args) => &mut args.input,
            Self::Convert(args) => &mut args.input,
            Self::Endpoints(args) => &mut args.input,
            Self::Config(args) => &mut args.input,
            Self::Catalog(args) => return args.input_mut(),
            Self::Kueue(args) => args.input_mut(),
            _ => return None,
        })
    }
}

/// Runs the command; without one, prints an overview. `typed` is the command line as typed.
pub(crate) fn run(
    command: Option<Command>,
    typed: &[OsString],
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    // A resource list on standard input is a call as a KRM function.
    match command {
        None => render::krm::bare(io).unwrap_or_else(|| overview::run(io)),
        Some(Command::Plan(args)) => plan::run(&args, io),
        Some(Command::Explain(args)) => explain::run(&args, io),
        Some(Command::Why(args)) => why::run(&args, io),
        Some(Command::Diff(args)) => diff::run(&args, io),
        Some(Command::Drift(args)) => drift::run(&args, io),
        Some(Command::Drain(args)) => drain::run(&args, io),
        Some(Command::Render(args)) => render::run(&args, typed, io),
        Some(Command::Matrix(args)) => matrix::run(&args, io),
        Some(Command::Validate(args)) => validate::run(&args, io),
        Some(Command::Test(args)) => test::run(&args, io),
        Some(Command::Rollout(args)) => rollout::run(&args, io),
        Some(Command::Discover(args)) => discover::run(&args, io),
        Some(Command::Catalog(args)) => catalog::run(args, io),
        Some(Command::Kueue(args)) => kueue::run(args, io),
        Some(Command::Convert(args)) => convert::run(&args, io),
        Some(Command::Schema(args)) => schema::run(&args, io),
        Some(Command::Lsp(args)) => lsp::run(&args, io),
        Some(Command::Import(args)) => import::run(&args, io),
        Some(Command::Endpoints(args)) => endpoints::run(&args, io),
        Some(Command::Payload(args)) => payload::run(args, io),
        Some(Command::Dump(args)) => dump::run(&args, io),
        Some(Command::Code(args)) => code::run(&args, io),
        Some(Command::Config(args)) => config::run(&args, typed, io),
        Some(Command::Completions(args)) => completions::run(&args, io),
        Some(Command::Man(args)) => man::run(&args, io),
        Some(Command::Version(args)) => version::run(&args, io),
    }
}
