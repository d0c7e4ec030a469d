//! The verbs, a file each: an `Args` struct whose doc comments are the help, and one function.

pub(crate) mod catalog;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod man;
pub(crate) mod overview;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod validate;
pub(crate) mod why;

use super::args::{Cli, Command};
use super::{Failure, Io, Outcome};

/// Runs the verb.
pub(crate) fn run(cli: Cli, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    match cli.command {
        None => overview::run(io),
        Some(Command::Plan(args)) => plan::run(&args, io),
        Some(Command::Explain(args)) => explain::run(&args, io),
        Some(Command::Why(args)) => why::run(&args, io),
        Some(Command::Render(args)) => render::run(&args, io),
        Some(Command::Validate(args)) => validate::run(&args, io),
        Some(Command::Catalog(args)) => catalog::run(args, io),
        Some(Command::Convert(args)) => convert::run(&args, io),
        Some(Command::Schema(args)) => schema::run(&args, io),
        Some(Command::Code(args)) => code::run(&args, io),
        Some(Command::Completions(args)) => completions::run(&args, io),
        Some(Command::Man(_)) => man::run(io),
    }
}
