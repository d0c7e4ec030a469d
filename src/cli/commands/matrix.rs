//! `ome matrix`: models against accelerator classes.

use crate::cli::args::{InputArgs, PageFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::About;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome};
use crate::pipeline::matrix;
use crate::report::matrix::View;

/// Show which runtime would serve which model on which accelerator class, with ties, and the reason
/// where no runtime would. Services that describe their own model are rows too.
///
/// Exit codes: 0 done, 1 the input is invalid.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Also show the longest request and how many of full length fit beside the weights, by the
    /// runtime's own arguments. Known for models whose config.json is given: `--model-configs`,
    /// `--hf-cache`.
    #[arg(long)]
    context: bool,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<PageFormat>::new(), default_value_t)]
    output: PageFormat,
}

/// Judges every pair and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session =
        Session::open(&args.input, &SessionOptions { builds: true, ..SessionOptions::default() })?;
    let matrix = matrix(&session.world.catalog, args.context);
    let found = session.settle([]);
    let catalog = &session.world.catalog;
    let judged = catalog.models().map(|model| &model.object);
    let judged = judged.chain(catalog.candidate_runtimes().map(|runtime| &runtime.object));
    let about = About::these(catalog, judged.chain(catalog.accelerator_classes()))
        .completed(catalog.models());
    let found = about.of(&session, found);
    let view = View { matrix: &matrix, sources: &session.world.sources };
    // Findings come below the matrix.
    session.show(&view, args.output, &[], io)?;
    session.say(&found, io);
    if args.context && matrix.cells.iter().all(|cell| cell.cache.is_none()) {
        io.say(
            "no context is known: name config.json files with `--model-configs` or `--hf-cache`\n",
        );
    }
    for (nothing, what, other) in [
        (
            matrix.models.is_empty(),
            "models",
            "`ome import --help` shows how one is written from its config.json",
        ),
        (
            matrix.classes.is_empty(),
            "accelerator classes",
            "`--builtin always` adds the built-in runtimes and accelerator classes",
        ),
    ] {
        if nothing {
            io.say_line(&format!("no {what} were read: name files with `-f`; {other}"));
        }
    }
    Ok(session.outcome(&found, false))
}
