//! `ome matrix`: models against accelerator classes.

use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::{Failure, Io, Outcome};
use crate::pipeline::matrix;
use crate::report::{matrix as view, table};

/// Shape of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// Markdown that fits a pull request comment.
    Markdown,
    /// A page that stands alone.
    Html,
}

/// Show which runtime would serve which model on which accelerator class: winner, tie or hole.
///
/// Exit codes: 0 done, 1 the input is invalid.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    #[command(flatten)]
    input: InputArgs,
}

/// Judges every pair and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, None)?;
    let matrix = matrix(&session.world.catalog, session.semantics);
    let found = session.settle([]);
    match args.output {
        Format::Json => io.print_json(&view::json(&matrix))?,
        Format::Table => io.print(&view::text(&matrix, table::Style { color: io.out_color(), width: io.width() }))?,
        Format::Markdown => io.print(&view::markdown(&matrix))?,
        Format::Html => io.print(&view::html(&matrix))?,
    }
    session.say(&found, io);
    for (nothing, what) in [(matrix.models.is_empty(), "models"), (matrix.classes.is_empty(), "accelerator classes")] {
        if nothing {
            io.say(&format!("no {what} were read: name files with `-f`, or leave `--no-builtin` out\n"));
        }
    }
    Ok(session.outcome(&found, false))
}
