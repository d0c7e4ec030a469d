//! The command line exactly as it was typed; what it means comes later.

use super::commands;
use super::io::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Plan, explain and render AI model serving on Kubernetes, without a cluster.
///
/// Reads ServingRuntimes, models, accelerator classes, nodes and InferenceServices from disk, decides what the operators
/// would decide, says why, and prints the manifests that follow.
#[derive(Debug, Parser)]
#[command(name = "ome", version, about, max_term_width = 110, propagate_version = false, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what each service becomes: model, runtime, deployment modes, replicas, GPUs.
    Plan(commands::plan::Args),
    /// Show every step of the selection: candidates, rules with their operands, the tie-break that decided.
    Explain(commands::explain::Args),
    /// Show which layer wrote a field of a rendered object, and what it overrode.
    Why(commands::why::Args),
    /// Print the manifests.
    Render(commands::render::Args),
    /// Check the input: syntax, schema, references, the catalog as a whole.
    Validate(commands::validate::Args),
    /// List and show runtimes, models and accelerator classes.
    Catalog(commands::catalog::Args),
    /// Rewrite deprecated forms.
    Convert(commands::convert::Args),
    /// Show the fields of a kind.
    Schema(commands::schema::Args),
    /// Explain a finding, reason or error code.
    Code(commands::code::Args),
    /// Print a completion script.
    Completions(commands::completions::Args),
    /// Print the manual page.
    Man(commands::man::Args),
}

/// What is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Namespace of documents that name none; selects the services of that namespace.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Services of all namespaces (the default without `-n`).
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub all_namespaces: bool,
    /// Only services whose labels match the selector, as kubectl's.
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Leave the built-in catalog out.
    #[arg(long, env = "OME_NO_BUILTIN", value_parser = clap::builder::BoolishValueParser::new(), num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub no_builtin: Option<bool>,
    /// Whose word counts: the documents or the shipped controller.
    #[arg(long, value_enum, env = "OME_SEMANTICS", value_name = "WHOSE")]
    pub semantics: Option<SemanticsArg>,
    /// References to what is not loaded are no errors.
    #[arg(long)]
    pub partial: bool,
    /// Settings file; by default `ome.toml` is searched upward from the working directory.
    #[arg(long, env = "OME_CONFIG", value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no settings file.
    #[arg(long)]
    pub no_config: bool,
    /// Largest file that is read [default: 8MiB].
    #[arg(long, env = "OME_MAX_FILE_SIZE", value_name = "SIZE")]
    pub max_file_size: Option<bytesize::ByteSize>,
    /// Deepest nesting of a document [default: 64].
    #[arg(long, env = "OME_MAX_DEPTH", value_name = "N")]
    pub max_depth: Option<usize>,
    /// Most nodes of a document, aliases expanded [default: 1000000].
    #[arg(long, env = "OME_MAX_NODES", value_name = "N")]
    pub max_nodes: Option<usize>,
    /// Threads; the output does not depend on it [default: one per core].
    #[arg(long, env = "OME_JOBS", value_name = "N")]
    pub jobs: Option<usize>,
    /// Findings of level warning count as errors.
    #[arg(long)]
    pub strict: bool,
}

/// Whose word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SemanticsArg {
    /// The documents as written.
    Documented,
    /// What the pinned upstream code does.
    Controller,
}

/// Shape of the output of commands that report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables for people.
    #[default]
    Table,
    /// One JSON document with a versioned shape.
    Json,
    /// Markdown that fits a pull request comment.
    Markdown,
}
