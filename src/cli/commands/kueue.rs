//! `ome kueue`: accelerator classes and the ResourceFlavors of Kueue.

use crate::api::Api;
use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::of_kinds;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome};
use crate::emit::stream;
use crate::exchange::class::Action as ClassAction;
use crate::exchange::kueue::{self, Classes, FlavorAction, Flavors, KueueVersion, Options, Prefer};
use crate::report::{discover, kueue as view};

/// Keep AcceleratorClasses and Kueue's ResourceFlavors in step.
///
/// A flavor belongs to the class that names it (`integration.kueueResourceFlavor`, or the
/// annotation `ome.io/kueue-resource-flavor`), else to the class of its name. Which flavor the pods
/// of a service would get is printed by `ome plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Generate AcceleratorClasses from ResourceFlavors.
    Import(ImportArgs),
    /// Generate ResourceFlavors from AcceleratorClasses.
    Export(ExportArgs),
    /// Show where the two disagree.
    Diff(DiffArgs),
}

impl Args {
    /// The arguments about what is read.
    pub(super) fn input_mut(&mut self) -> &mut InputArgs {
        match &mut self.action {
            Action::Import(args) => &mut args.input,
            Action::Export(args) => &mut args.input,
            Action::Diff(args) => &mut args.input,
        }
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table for people.
    #[default]
    Table,
    /// The objects to create or update, nothing else.
    Yaml,
    /// One JSON document; its schema has a version.
    Json,
}

/// Who is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PreferArg {
    /// The flavor: classes written by hand are updated too.
    Flavor,
    /// The class: it is kept, and `export` updates the flavor.
    Class,
}

/// A version of Kueue's API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum VersionArg {
    /// Deprecated.
    V1beta1,
    /// The current one.
    #[default]
    V1beta2,
}

/// Make AcceleratorClasses of ResourceFlavors: what to create, what to update, what stays.
///
/// A flavor is taken when its name begins with `gpu-`, when a label of its nodes is about
/// accelerators, or when it has the annotation `ome.io/accelerator: "true"`; `"false"` keeps it
/// out. Capabilities come from data sheets by the product label, else from the Nodes of the flavor.
/// A class with the label `ome.io/auto-discovered: "true"` follows its flavor; one written
/// by hand is a conflict where it differs, and stays.
///
/// Examples:
///   kubectl get resourceflavors -o yaml | ome kueue import -f - -o yaml
///   ome kueue import -f flavors.yaml -f classes/ -f nodes.yaml
///   ome kueue import -f flavors.yaml -f classes/ --prefer flavor -o yaml
///
/// Exit codes: 0 done, 1 the input is invalid, 2 a conflict is left.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct ImportArgs {
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    /// Which object to follow where a class written by hand and its flavor disagree.
    #[arg(long, value_enum, value_name = "WHO")]
    prefer: Option<PreferArg>,
    #[command(flatten)]
    input: InputArgs,
}

/// Make ResourceFlavors of AcceleratorClasses that name one.
///
/// nodeLabels are the labels that the class selects its nodes by: its nodeSelector, and one term of
/// `In` with one value per key. Taints that all of its Nodes have become nodeTaints with
/// tolerations. A flavor that is there and differs is a conflict, and stays.
///
/// Examples:
///   ome kueue export -f classes/ -o yaml | kubectl apply --server-side -f -
///   ome kueue export -f classes/ -f nodes.yaml --split -o yaml
///   ome kueue export -f classes/ -f flavors.yaml --prefer class -o yaml
///
/// Exit codes: 0 done, 1 the input is invalid or a class cannot be expressed with labels, 2 a
/// conflict is left.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct ExportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    /// Which object to follow where a class and its flavor disagree.
    #[arg(long, value_enum, value_name = "WHO")]
    prefer: Option<PreferArg>,
    #[command(flatten)]
    shape: ShapeArgs,
}

/// Show where AcceleratorClasses and ResourceFlavors disagree, and which of them lack their other
/// half.
///
/// Examples:
///   ome kueue diff -f classes/ -f flavors.yaml
///   ome kueue diff -f classes/ -f flavors.yaml -o json
///
/// Exit codes: 0 all are in sync, 1 the input is invalid, 2 not all are.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct DiffArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    #[command(flatten)]
    shape: ShapeArgs,
}

/// How flavors are written.
#[derive(Clone, Debug, clap::Args)]
struct ShapeArgs {
    /// One flavor for each value, where a class lists several.
    #[arg(long)]
    split: bool,
    /// Write flavors without tolerations: pods must tolerate the taints.
    #[arg(long)]
    no_tolerations: bool,
    /// Version of new flavors.
    #[arg(long, value_enum, default_value_t, value_name = "VERSION")]
    kueue_version: VersionArg,
}

/// Imports, exports or compares.
pub(crate) fn run(args: Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    match args.action {
        Action::Import(args) => import(&args, io),
        Action::Export(args) => export(&args, io),
        Action::Diff(args) => diff(&args, io),
    }
}

/// Whether an answer depends on objects of a kind.
fn is_meant(kind: &str) -> bool {
    matches!(kind, "AcceleratorClass" | "ResourceFlavor" | "Node")
}

/// Calls with the options of a command.
fn with<T>(
    session: &Session,
    prefer: Option<PreferArg>,
    shape: Option<&ShapeArgs>,
    call: impl FnOnce(Options<'_>) -> T,
) -> T {
    let selected = |object: &crate::api::Object| session.is_selected(object);
    call(Options {
        semantics: session.readings().mode(Api::Ome),
        prefer: prefer.map(|who| match who {
            PreferArg::Flavor => Prefer::Flavor,
            PreferArg::Class => Prefer::Class,
        }),
        split: shape.is_some_and(|shape| shape.split),
        tolerations: shape.is_none_or(|shape| !shape.no_tolerations),
        version: match shape.map(|shape| shape.kueue_version) {
            Some(VersionArg::V1beta1) => KueueVersion::V1Beta1,
            Some(VersionArg::V1beta2) | None => KueueVersion::V1Beta2,
        },
        selected: &selected,
    })
}

/// Classes to create or update, with the evidence behind each value, then flavors.
fn yaml(classes: &Classes, flavors: &Flavors, session: &Session) -> String {
    let mut out = String::new();
    let mut stream = stream::Stream::new(stream::Format::Yaml);
    for class in classes.classes.iter().filter(|class| class.action.writes()) {
        stream.push_text(
            &mut out,
            &discover::yaml(&class.object, &class.facts, &session.world.sources),
        );
    }
    for flavor in flavors.exported.iter().filter(|flavor| flavor.action.writes()) {
        stream.push(&mut out, &flavor.object);
    }
    stream.end(&mut out);
    out
}

fn import(args: &ImportArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &SessionOptions::default())?;
    let checked =
        with(&session, args.prefer, None, |options| kueue::import(&session.world.catalog, options));
    let (classes, sources) = (checked.value, &session.world.sources);
    let found = of_kinds(&session, session.settle(checked.diagnostics), is_meant);
    match args.output {
        Format::Json => io.print_json(&view::classes_json(&classes, &found, sources))?,
        Format::Yaml => io.print(&yaml(&classes, &Flavors::default(), &session))?,
        Format::Table => io.print(&view::classes_table(&classes, sources, io.style()))?,
    }
    if args.output != Format::Json {
        session.say(&found, io);
    }
    let conflict = classes.classes.iter().any(|class| class.action == ClassAction::Conflict);
    let outcome = session.outcome(&found, false);
    Ok(if conflict { outcome.and(Outcome::No) } else { outcome })
}

fn export(args: &ExportArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &SessionOptions::default())?;
    let checked = with(&session, args.prefer, Some(&args.shape), |options| {
        kueue::export(&session.world.catalog, options)
    });
    let flavors = checked.value;
    let found = of_kinds(&session, session.settle(checked.diagnostics), is_meant);
    match args.output {
        Format::Json => {
            io.print_json(&view::flavors_json(&flavors, &found, &session.world.sources))?;
        }
        Format::Yaml => io.print(&yaml(&Classes::default(), &flavors, &session))?,
        Format::Table => io.print(&view::flavors_table(&flavors, io.style()))?,
    }
    if args.output != Format::Json {
        session.say(&found, io);
    }
    let conflict = flavors.exported.iter().any(|flavor| flavor.action == FlavorAction::Conflict);
    let outcome = session.outcome(&found, flavors.failed);
    Ok(if conflict { outcome.and(Outcome::No) } else { outcome })
}

fn diff(args: &DiffArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &SessionOptions::default())?;
    let catalog = &session.world.catalog;
    let checked = with(&session, None, Some(&args.shape), |options| kueue::diff(catalog, options));
    let diffed = checked.value;
    let found = of_kinds(&session, session.settle(checked.diagnostics), is_meant);
    match args.output {
        Format::Json => {
            io.print_json(&view::pairs_json(&diffed, &found, &session.world.sources))?;
        }
        Format::Yaml => {
            // Both are computed from the input; neither uses the result of the other.
            let (classes, flavors) = with(&session, None, Some(&args.shape), |options| {
                (kueue::import(catalog, options).value, kueue::export(catalog, options).value)
            });
            io.print(&yaml(&classes, &flavors, &session))?;
        }
        Format::Table => io.print(&view::pairs_table(&diffed, io.style()))?,
    }
    if args.output != Format::Json {
        session.say(&found, io);
    }
    let outcome = session.outcome(&found, false);
    Ok(if diffed.is_in_sync() { outcome } else { outcome.and(Outcome::No) })
}
