//! `ome explain`: every step of the selection.

use crate::cli::args::{DecisionArgs, InputArgs, PageFormat};
use crate::cli::commands::subject::Subject;
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{About, beside_page};
use crate::cli::{Failure, Io, Outcome, complete, copies, unfilled};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::pipeline::assumed_classes::notes_together;
use crate::pipeline::refusals::knative_together;
use crate::pipeline::serving::plan_servings;
use crate::pipeline::{
    Depth, Flip, Layers, PlacementOptions, Planned, Planner, Unplanned, flip, merge, named,
    together, totals,
};
use crate::report::explained::View;
use crate::report::together::pending;
use crate::report::{graph, judged, plan};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Show every step of the selection: candidates, rules with their operands, the tie-break that
/// decided; of a ModelServing its groups, roles and gangs; of a runtime or a model the services
/// that use it, that could, and why the others cannot.
///
/// Exit codes: 0 done, 1 a service is in error or the input is invalid, 2 pods do not fit the given
/// nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices and ModelServings, as NAME or NAMESPACE/NAME; without any, all of them. Or
    /// one runtime or model, as NAME, `runtime/NAME` or `model/NAME`.
    #[arg(value_name = "NAME", add = complete::subjects())]
    services: Vec<String>,
    /// Why not this runtime, and the smallest edit that would make it win.
    #[arg(long, value_name = "NAME", add = complete::runtimes())]
    runtime: Option<String>,
    /// Show every candidate, not only the nearest misses.
    #[arg(long)]
    all: bool,
    /// Show every comparison of every entry.
    #[arg(long)]
    comparisons: bool,
    /// Also show every variable, argument, resource and node selector with its source and the
    /// values that it overrides.
    #[arg(long)]
    merge: bool,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    /// Run again whenever the input changes.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    decision: DecisionArgs,
}

impl Args {
    /// Returns the paths to watch, with `--watch`.
    pub(super) fn watched(&self) -> Option<Vec<PathBuf>> {
        self.watch.then(|| self.input.watched())
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables.
    #[default]
    Table,
    /// The tables with every candidate, as with `--all`.
    Wide,
    /// A line per service: KIND/NAMESPACE/NAME.
    Name,
    /// One JSON document; its schema has a version.
    Json,
    /// The same document as YAML.
    Yaml,
    /// Headings, lists and tables, for a comment.
    Markdown,
    /// A single HTML page.
    Html,
    /// A graph: service, runtime, classes, nodes and flavors.
    Mermaid,
}

impl Format {
    /// The format of the page; none of a list or a graph.
    fn page(self) -> Option<PageFormat> {
        match self {
            Self::Table | Self::Wide => Some(PageFormat::Table),
            Self::Json => Some(PageFormat::Json),
            Self::Yaml => Some(PageFormat::Yaml),
            Self::Markdown => Some(PageFormat::Markdown),
            Self::Html => Some(PageFormat::Html),
            Self::Mermaid | Self::Name => None,
        }
    }
}

/// Explains and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &args.decision.ask()?)?;
    let detail = match (args.comparisons, args.all || args.output == Format::Wide) {
        (true, _) => judged::Detail::Comparisons,
        (false, true) => judged::Detail::All,
        (false, false) => judged::Detail::Nearest,
    };
    let (selected, servings) = match session.select_all(&args.services) {
        Ok(selected) => selected,
        Err(failure) => {
            if args.output == Format::Mermaid {
                return Err(failure);
            }
            let format = args.output.page().unwrap_or_default();
            // The name may be that of a runtime or a model.
            return match Subject::named(&session, &args.services) {
                Some(subject) => subject.explain(&session, format, detail, io),
                None => Err(failure),
            };
        }
    };
    session.require_any(selected.len() + servings.len())?;
    session.require_objects(&args.input.files)?;
    let planner = Planner::of(&session.world)
        .judging(&session.world)
        .comparing(session.world.catalog.services().len());
    let mut planned = planner.plan_all(&selected, Depth::Explain);
    session.plan_variants(&planner, &args.services, Depth::Explain, &mut planned);
    if let (Some(name), true) = (&args.runtime, args.services.is_empty()) {
        of_operator(&session, name, &mut planned);
    }
    for planned in &mut planned {
        help(args, planned);
    }
    let notes: Vec<_> = planned.iter().map(|planned| notes(&session, planned)).collect();
    let found: Vec<Diagnostic> =
        planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)).collect();
    let flips = match args.runtime.as_deref() {
        Some(name) => {
            let mut all = planned.iter_mut();
            Some(all.try_fold(Vec::new(), |mut flips, planned| {
                flips.push(why_not(&session, planned, name)?);
                Ok::<_, Failure>(flips)
            })?)
        }
        None => None,
    };
    let merges = if args.merge {
        let layers = Layers::new(&session.world.catalog);
        planned.iter().map(|planned| merge(&layers, planned)).collect()
    } else {
        Vec::new()
    };
    let mut servings = plan_servings(&session.world.catalog, &servings);
    for planned in &mut servings {
        planned.diagnostics.extend(planner.assumed_classes(&planned.serving.object));
    }
    session.list_variants(&mut planned, &mut servings);
    let options = PlacementOptions { look: true, ..PlacementOptions::default() };
    let placed = together(&planner, &mut planned, &mut servings, options);
    let of_servings = servings.iter_mut().flat_map(|planned| planned.diagnostics.drain(..));
    let found = session.settle(found.into_iter().chain(of_servings));
    let found = About::planned(&session.world.catalog, &planned, &servings)
        .every(args.services.is_empty())
        .of(&session, found);
    let found = notes_together(knative_together(found));
    let whole = args.services.is_empty();
    let is_failed = copies::any_fails(&session.world, &planned, whole);
    let waits = pending(&planned, &servings, placed.as_ref().filter(|_| whole)) > 0;
    let outcome = session.outcome(&found, is_failed);
    let unfilled = unfilled::line("planned", &not_filled(&planned));
    let page = args.output.page();
    if flips.is_some() && !page.is_some_and(PageFormat::is_data) {
        // The question is about a runtime.
        for planned in &mut planned {
            planned.resolution.accelerators.clear();
        }
    }
    let machines = session.world.catalog.machines();
    let is_answer = planned.is_empty() && servings.is_empty() && !session.is_explained();
    let mut without_services = Vec::new();
    if is_answer {
        without_services.push("no services".to_owned());
        without_services.extend(session.instead_of_services());
    }
    let answer = View {
        readings: session.named_readings(),
        header: &session.header(),
        without_services,
        detail,
        planned: &planned,
        notes: &notes,
        flips: flips.as_deref(),
        merges: &merges,
        servings: &servings,
        serving_rules: session.serving_rules(),
        serving_header: &session.serving_header(planned.is_empty()),
        totals: &totals(&planned, &servings, machines, None),
        placed: placed.as_ref(),
        found: &found,
        sources: &session.world.sources,
        input: &session.world.input,
    };
    match (page, args.output) {
        (Some(format), _) => {
            session.show(&answer, format, &beside_page(&found, &planned), io)?;
        }
        (None, Format::Mermaid) => {
            session.say(&found, io);
            io.print(&graph::mermaid(&planned, machines))?;
        }
        (None, _) => {
            session.say(&beside_page(&found, &planned), io);
            plan::names(&planned, &servings).iter().try_for_each(|name| io.print_line(name))?;
        }
    }
    if let Some(line) = unfilled {
        io.say_line(&line);
    }
    Ok(if waits { outcome.and(Outcome::No) } else { outcome })
}

/// The services that are not planned because of placeholders.
fn not_filled(planned: &[Planned<'_>]) -> BTreeSet<String> {
    let is_unfilled = |planned: &&Planned<'_>| planned.unplanned == Some(Unplanned::Placeholders);
    let unfilled = planned.iter().filter(is_unfilled).map(|planned| &planned.service);
    unfilled.map(|service| format!("{}/{}", service.namespace, service.name)).collect()
}

/// Completes the help of an error: the runtime that comes nearest, and the arguments of the input.
fn help(args: &Args, planned: &mut Planned<'_>) {
    let nearest = planned.nearest_runtime().filter(|_| planned.seeks_runtime());
    let edits = nearest.map(|(name, _)| planned.help_of_runtime(&name));
    let Some(error) = planned.error.as_deref_mut() else { return };
    error.help = edits.or_else(|| error.help.take());
    error.help = error.help.as_deref().and_then(|text| args.input.complete(text));
}

/// The informative findings about a service, which are on the page; differences of the controller
/// have a line of their own there.
fn notes(session: &Session, planned: &Planned<'_>) -> Vec<Diagnostic> {
    let is_note = |found: &&Diagnostic| found.code != Code::ControllerDiffers;
    let graded = session.grade(planned.diagnostics.iter().filter(is_note).cloned());
    graded.into_iter().filter(|found| found.severity == Severity::Info).collect()
}

/// Keeps the services of the operators that have a runtime of this name, if one has.
fn of_operator(session: &Session, name: &str, planned: &mut Vec<Planned<'_>>) {
    let catalog = &session.world.catalog;
    let has = |planned: &Planned<'_>| {
        let runtimes = catalog.runtimes(planned.service.api);
        planned.read_in(catalog).is_some_and(|service| named(runtimes, service, name).is_some())
    };
    if planned.iter().any(has) {
        planned.retain(has);
    }
}

/// Seeks what would make the named runtime win, and leaves it as the only candidate.
fn why_not<'a>(
    session: &'a Session,
    planned: &mut Planned<'a>,
    name: &str,
) -> Result<Flip, Failure> {
    let catalog = &session.world.catalog;
    let runtimes = catalog.runtimes(planned.service.api);
    let service = planned.read_in(catalog);
    let runtime = service.and_then(|service| named(runtimes, service, name));
    let (Some(service), Some(runtime)) = (service, runtime) else {
        // The name may be that of a runtime of another operator.
        let mut others = catalog.all_runtimes().filter(|runtime| runtime.object.id.name == name);
        if let Some(other) = others.next() {
            let (service, kind) = (&planned.service, &other.object.id.kind);
            return Err(Failure::NotFound {
                message: format!(
                    "{kind} `{name}` is a runtime of {}, and {service} is a service of {}, which never gets it",
                    other.object.api.title(),
                    service.api.title()
                ),
                help: Some(format!(
                    "`ome explain {service} --all` shows every runtime that it can get"
                )),
            });
        }
        return Err(session.not_found(
            format!("no runtime `{name}`"),
            nearest(name, runtimes.iter().map(|runtime| runtime.object.id.name.as_str()))
                .map(|near| format!("did you mean `{near}`?")),
        ));
    };
    let flip = flip(planned.policy, catalog, service, runtime);
    let candidates = &mut planned.resolution.runtime.candidates;
    candidates.retain(|candidate| candidate.runtime.object.id == runtime.object.id);
    if candidates.is_empty() {
        // The service names another one: the answer if it named this one.
        candidates.extend(crate::operators::judge(
            planned.policy,
            planned.resolution.model,
            service,
            runtime,
        ));
    }
    Ok(flip)
}
