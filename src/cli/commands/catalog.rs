//! `ome catalog`: runtimes, models and classes, with their source.

use crate::api::name_of_shown;
use crate::builtin;
use crate::cli::args::{InputArgs, ReportFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{About, of_kinds};
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, complete};
use crate::diag::nearest;
use crate::load::kinds;
use crate::operators;
use crate::report::SCHEMA_VERSION;
use crate::report::catalog::{self, Item, ItemKind};
use crate::report::releases::{self as report, ReleaseRow};
use serde_json::json;

/// List and show runtimes, models and accelerator classes, built-in and your own.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List what is loaded; filters are ANDed.
    List(ListArgs),
    /// List the releases of operators that `--release` takes, and what they ship.
    Releases(ReleasesArgs),
    /// Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file
    /// name only one has.
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only this kind.
    #[arg(long, value_enum)]
    kind: Option<ItemKind>,
    /// Only built-in objects, or only your own.
    #[arg(long, value_enum)]
    source: Option<catalog::ItemSource>,
    /// Only objects of this API.
    #[arg(long, value_parser = ["ome", "kserve"])]
    api: Option<String>,
    /// Only built-in runtimes of this engine.
    #[arg(long, value_parser = ["sglang", "vllm"])]
    engine: Option<String>,
    /// Only runtimes that list this protocol.
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// Names and order: object names, or the file names of the documentation.
    #[arg(long, value_enum, default_value_t)]
    names: catalog::Names,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t)]
    output: ReportFormat,
    #[command(flatten)]
    input: InputArgs,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Object name, alias or file name; before it, if one name means several things, the kind:
    /// `KIND NAME` or `KIND/NAME`.
    #[arg(value_name = "[KIND] NAME", required = true, num_args = 1..=2, add = complete::items())]
    name: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t)]
    output: ReportFormat,
}

#[derive(Debug, clap::Args)]
struct ReleasesArgs {
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t)]
    output: ReportFormat,
}

impl Args {
    /// The arguments about what is read.
    pub(super) fn input_mut(&mut self) -> Option<&mut InputArgs> {
        match &mut self.action {
            Action::List(args) => Some(&mut args.input),
            Action::Show(args) => Some(&mut args.input),
            Action::Releases(_) => None,
        }
    }
}

/// The session options: with a release of OME, the runtimes that it ships instead of the built-in
/// catalog.
fn ask(input: &InputArgs) -> SessionOptions<'static> {
    let shipped = input.release.iter().any(|name| name.starts_with("ome="));
    SessionOptions { shipped, ..SessionOptions::default() }
}

/// Lists or shows.
pub(crate) fn run(args: Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    match args.action {
        Action::List(args) => list(&args, io),
        Action::Releases(args) => releases(&args, io),
        Action::Show(args) => show(&args, io),
    }
}

fn list(args: &ListArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &ask(&args.input))?;
    let found = of_kinds(&session, session.settle([]), kinds::is_rendered_kind);
    let mut items = catalog::items(&session.world, |object| session.is_selected(object));
    items.retain(|item| {
        args.kind.is_none_or(|kind| item.kind() == kind)
            && args.source.is_none_or(|source| item.source() == source)
            && args.api.as_deref().is_none_or(|api| item.object().api.as_str() == api)
            && args.engine.as_deref().is_none_or(|engine| item.engine() == Some(engine))
            && args.protocol.as_deref().is_none_or(|protocol| item.lists_protocol(protocol))
            && (args.names == catalog::Names::Object || item.documented_name().is_some())
    });
    match args.names {
        catalog::Names::Object => items.sort_by(|a, b| a.listing_key().cmp(&b.listing_key())),
        catalog::Names::Documented => items.sort_by(|a, b| {
            a.documented_name().cmp(&b.documented_name()).then_with(|| a.engine().cmp(&b.engine()))
        }),
    }
    if args.output == ReportFormat::Table {
        session.say(&found, io);
        let style = io.style();
        io.print(&catalog::table(&items, args.names, &session.world, style))?;
    } else {
        let items: Vec<_> = items.iter().map(|item| item.json(&session.world)).collect();
        io.print_json(&json!({ "schemaVersion": SCHEMA_VERSION, "items": items }))?;
    }
    Ok(session.outcome(&found, false))
}

fn show(args: &ShowArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &ask(&args.input))?;
    let found = session.settle([]);
    let items = catalog::items(&session.world, |_| true);
    // A name may have a slash: only a kind before it makes two words of it.
    let given = match args.name.as_slice() {
        [kind, name] => Some((kind.as_str(), name.as_str())),
        [name] => {
            name.split_once('/').filter(|(kind, _)| items.iter().any(|item| item.is_of(kind)))
        }
        _ => None,
    };
    let (kind, name) = given
        .map_or((None, args.name.last().map_or("", String::as_str)), |(kind, name)| {
            (Some(kind), name)
        });
    // Pages write `builtin:` or `template:` before a name.
    let name = name_of_shown(name);
    let of_kind = |item: &&Item<'_>| kind.is_none_or(|kind| item.is_of(kind));
    let named: Vec<&Item<'_>> = items
        .iter()
        .filter(of_kind)
        .filter(|item| item.object().id.name == name || item.alias().as_deref() == Some(name))
        .collect();
    // A name of the documents counts where no object has it.
    let named = if named.is_empty() {
        items.iter().filter(of_kind).filter(|item| item.documented_name() == Some(name)).collect()
    } else {
        named
    };
    let item = match named.as_slice() {
        [item] => item,
        [] => {
            let near = nearest(
                name,
                items.iter().filter(of_kind).map(|item| item.object().id.name.as_str()),
            );
            return Err(session.not_found(
                format!("nothing in the catalog is named `{}`", args.name.join(" ")),
                near.map(|near| format!("did you mean `{near}`?"))
                    .or_else(|| Some("`ome catalog list` lists what there is".into())),
            ));
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|item| item.alias().unwrap_or_else(|| item.object().id.to_string()))
                .collect();
            return Err(Failure::NotFound {
                message: format!("`{}` is ambiguous: {}", args.name.join(" "), names.join(", ")),
                help: Some("name one of them".into()),
            });
        }
    };
    if args.output == ReportFormat::Table {
        let about = About::these(&session.world.catalog, [item.object()]).without_shared();
        session.say(&about.of(&session, found), io);
        let style = io.style();
        io.print(&catalog::show(item, &session.world, style))?;
    } else {
        io.print_json(
            &json!({ "schemaVersion": SCHEMA_VERSION, "item": item.json(&session.world) }),
        )?;
    }
    Ok(Outcome::Done)
}

/// Every known release, as a row.
pub(super) fn known_releases() -> Vec<ReleaseRow> {
    let rows = operators::known_releases().into_iter().flat_map(|(operator, releases)| {
        let default = operators::default_tag(operator);
        releases.into_iter().map(move |release| ReleaseRow {
            operator,
            release,
            default: default == Some(release.tag),
            runtimes: Some(builtin::shipped_count(operator, release.tag))
                .filter(|count| *count > 0),
            rules: operators::rules_of(operator, release.tag),
        })
    });
    rows.collect()
}

fn releases(args: &ReleasesArgs, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let rows = known_releases();
    if args.output == ReportFormat::Table {
        let style = io.style();
        io.print(&report::text(&rows, style))?;
    } else {
        let rows: Vec<_> = rows.iter().map(ReleaseRow::json).collect();
        io.print_json(&json!({ "schemaVersion": SCHEMA_VERSION, "releases": rows }))?;
    }
    Ok(Outcome::Done)
}
