//! The verbs, a file each: an `Args` struct whose doc comments are the help, and one function.

pub(crate) mod catalog;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod discover;
pub(crate) mod endpoints;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod kueue;
pub(crate) mod man;
pub(crate) mod matrix;
pub(crate) mod overview;
pub(crate) mod payload;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod rollout;
pub(crate) mod schema;
pub(crate) mod validate;
pub(crate) mod why;

use super::{Failure, Io, Outcome};

/// The verbs.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show what each service becomes: model, runtime, deployment modes, replicas, GPUs.
    Plan(plan::Args),
    /// Show every step of the selection: candidates, rules with their operands, the tie-break that decided.
    Explain(explain::Args),
    /// Show which layer wrote a field of a rendered object, and what it overrode.
    Why(why::Args),
    /// Print the manifests.
    Render(render::Args),
    /// Show what a change of the manifests does: services, restarts, GPUs, and the lines that cause it.
    Diff(diff::Args),
    /// Show what a change does to pods: order, capacity, where it gets stuck.
    Rollout(rollout::Args),
    /// Show which runtime would serve which model on which accelerator class.
    Matrix(matrix::Args),
    /// Check the input: syntax, schema, references, the catalog as a whole.
    Validate(validate::Args),
    /// Make accelerator classes of nodes, and say what changes.
    Discover(discover::Args),
    /// List and show runtimes, models and accelerator classes.
    Catalog(catalog::Args),
    /// Keep accelerator classes and Kueue's flavors in step.
    Kueue(kueue::Args),
    /// Rewrite deprecated forms.
    Convert(convert::Args),
    /// Show the fields of a kind.
    Schema(schema::Args),
    /// Read from a model's config.json what selection needs to know of it.
    Import(import::Args),
    /// Show the URLs services answer on: inference, health and metadata.
    Endpoints(endpoints::Args),
    /// Check requests and responses of the inference protocols.
    Payload(payload::Args),
    /// Explain a finding, reason or error code.
    Code(code::Args),
    /// Print a completion script.
    Completions(completions::Args),
    /// Print the manual page.
    Man(man::Args),
}

/// Runs the verb; without one, says what there is.
pub(crate) fn run(command: Option<Command>, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    match command {
        None => overview::run(io),
        Some(Command::Plan(args)) => plan::run(&args, io),
        Some(Command::Explain(args)) => explain::run(&args, io),
        Some(Command::Why(args)) => why::run(&args, io),
        Some(Command::Diff(args)) => diff::run(&args, io),
        Some(Command::Render(args)) => render::run(&args, io),
        Some(Command::Matrix(args)) => matrix::run(&args, io),
        Some(Command::Validate(args)) => validate::run(&args, io),
        Some(Command::Rollout(args)) => rollout::run(&args, io),
        Some(Command::Discover(args)) => discover::run(&args, io),
        Some(Command::Catalog(args)) => catalog::run(args, io),
        Some(Command::Kueue(args)) => kueue::run(args, io),
        Some(Command::Convert(args)) => convert::run(&args, io),
        Some(Command::Schema(args)) => schema::run(&args, io),
        Some(Command::Import(args)) => import::run(&args, io),
        Some(Command::Endpoints(args)) => endpoints::run(&args, io),
        Some(Command::Payload(args)) => payload::run(args, io),
        Some(Command::Code(args)) => code::run(&args, io),
        Some(Command::Completions(args)) => completions::run(&args, io),
        Some(Command::Man(_)) => man::run(io),
    }
}
