//! `ome explain`: every step of the selection.

use crate::cli::args::{DecisionArgs, InputArgs, PageFormat};
use crate::cli::commands::subject::Subject;
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{About, beside_page};
use crate::cli::{Failure, Io, Outcome, complete, copies, unfilled};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::pipeline::assumed_classes::classes_together;
use crate::pipeline::refusals::knative_together;
use crate::pipeline::serving::plan_servings;
use crate::pipeline::{
    Depth, Flip, Layers, PlacementOptions, Planned, Planner, Unplanned, flip, merge, named,
    together, totals,
};
use crate::report;
use crate::report::sheet::Sheet;
use crate::report::together::is_short;
use crate::report::{explain, graph, json, judged, plan, serving, why};
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
    /// A graph: service, runtime, classes, nodes and flavors.
    Mermaid,
}

impl Format {
    /// The kind of page that it is.
    fn page(self) -> PageFormat {
        match self {
            Self::Table | Self::Wide => PageFormat::Table,
            Self::Markdown => PageFormat::Markdown,
            // A comment of the graph would be lost where it is drawn.
            Self::Json | Self::Yaml | Self::Mermaid | Self::Name => PageFormat::Json,
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
            let format = match args.output {
                Format::Name => PageFormat::Table,
                Format::Mermaid => return Err(failure),
                other => other.page(),
            };
            // The name may be that of a runtime or a model.
            return match Subject::named(&session, &args.services) {
                Some(subject) => subject.explain(&session, format, detail, io),
                None => Err(failure),
            };
        }
    };
    session.require_any(selected.len() + servings.len())?;
    session.require_objects(&args.input.files)?;
    let complete = |text: &str| args.input.complete(text);
    let planner = Planner::new(&session.world.catalog, session.semantics)
        .judging(&session.world)
        .comparing(session.world.catalog.services().len());
    let mut planned = planner.plan_all(&selected, Depth::Explain);
    session.plan_variants(&args.services, Depth::Explain, &mut planned);
    if let (Some(name), true) = (&args.runtime, args.services.is_empty()) {
        of_operator(&session, name, &mut planned);
    }
    for planned in &mut planned {
        let nearest = planned.nearest_runtime().filter(|_| planned.seeks_runtime());
        let edits = nearest.map(|(name, _)| planned.help_of_runtime(&name));
        let Some(error) = planned.error.as_deref_mut() else { continue };
        error.help = edits.or_else(|| error.help.take());
        error.help = error.help.as_deref().and_then(complete);
    }
    // Informative findings are on the page; differences of the controller have a line of their own
    // there.
    let is_note = |found: &&Diagnostic| found.code != Code::ControllerDiffers;
    let notes: Vec<Vec<Diagnostic>> = planned
        .iter()
        .map(|planned| {
            let graded = session.grade(planned.diagnostics.iter().filter(is_note).cloned());
            graded.into_iter().filter(|found| found.severity == Severity::Info).collect()
        })
        .collect();
    let found =
        planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)).collect::<Vec<_>>();
    let flips = args
        .runtime
        .as_deref()
        .map(|name| {
            planned
                .iter_mut()
                .map(|planned| why_not(&session, planned, name))
                .collect::<Result<Vec<_>, _>>()
        })
        .transpose()?;
    let merges: Vec<_> = if args.merge {
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
    let catalog = &session.world.catalog;
    let found = About::planned(catalog, &planned, &servings)
        .every(args.services.is_empty())
        .of(&session, found);
    let found = classes_together(knative_together(found));
    let machines = catalog.machines();
    session.begin_page(args.output.page(), io)?;
    match args.output {
        Format::Mermaid => {
            session.say(&found, io);
            io.print(&graph::mermaid(&planned, machines))?;
        }
        Format::Json | Format::Yaml => {
            let (sources, flips) = (&session.world.sources, flips.as_deref().unwrap_or_default());
            let answer = json::Plan {
                semantics: session.mode(),
                depth: Depth::Explain,
                planned: &planned,
                servings: &servings,
                flips,
                merges: &merges,
                found: &found,
                sources,
                totals: &totals(&planned, &servings, machines, None),
                together: None,
                losses: None,
                costs: None,
                input: &session.world.input,
            };
            session.print_json(&answer, io)?;
        }
        Format::Name => {
            session.say(&beside_page(&found, &planned), io);
            for name in plan::names(&planned, &servings) {
                io.print_line(&name)?;
            }
        }
        Format::Table | Format::Wide | Format::Markdown => {
            session.say(&beside_page(&found, &planned), io);
            let sources = &session.world.sources;
            let mut page = Sheet::default();
            if !planned.is_empty() || servings.is_empty() {
                page.lines([format!("mode: {}{}", session.mode(), session.header())]);
            }
            if planned.is_empty() && servings.is_empty() && !session.is_explained() {
                page.gap();
                page.lines(
                    Some("no services".to_owned()).into_iter().chain(session.instead_of_services()),
                );
            }
            let is_short = is_short(&planned, &servings);
            let below = placed.as_ref().map(|placed| report::together::below(placed, is_short));
            let below = below.unwrap_or_default();
            let style = io.style();
            for (index, planned) in planned.iter_mut().enumerate() {
                // Each row of a page is of a service and a class: they are not held all at once.
                if index > 0 && args.output != Format::Markdown {
                    page.gap();
                    io.print(&std::mem::take(&mut page).text(style))?;
                }
                if flips.is_some() {
                    // The question is about a runtime.
                    planned.resolution.accelerators.clear();
                }
                page.append(explain::service(planned, &notes[index], detail, sources));
                if let Some(leaves) = merges.get(index).filter(|leaves| !leaves.is_empty()) {
                    why::leaves(leaves, sources, &mut page);
                }
                if let Some(flip) = flips.as_ref().and_then(|flips| flips.get(index)) {
                    page.append(explain::flip(flip, sources));
                }
            }
            if !below.is_empty() {
                page.gap();
                page.lines(below.lines().map(ToOwned::to_owned));
            }
            if !servings.is_empty() {
                page.gap();
                page.lines([session.serving_header(planned.is_empty())]);
            }
            let of_servings = serving::Notes::of(&found);
            for planned in &servings {
                let notes = of_servings.about(planned.serving);
                page.append(serving::explain(planned, session.serving_rules(), notes, sources));
            }
            io.print(&match args.output {
                Format::Markdown => page.markdown(),
                _ => page.text(style),
            })?;
        }
    }
    let is_unfilled = |planned: &&Planned<'_>| planned.unplanned == Some(Unplanned::Placeholders);
    let not_filled: BTreeSet<String> = planned
        .iter()
        .filter(is_unfilled)
        .map(|planned| format!("{}/{}", planned.service.namespace, planned.service.name))
        .collect();
    if let Some(line) = unfilled::line("planned", &not_filled) {
        io.say_line(&line);
    }
    let whole = args.services.is_empty();
    let is_broken = |planned: &Planned<'_>| {
        planned.error.is_some() && copies::fails(&session.world, planned.service.place, whole)
    };
    let outcome = session.outcome(&found, planned.iter().any(is_broken));
    let others = placed.as_ref().is_some_and(|placement| whole && placement.others.pending > 0);
    Ok(if others || is_short(&planned, &servings) { outcome.and(Outcome::No) } else { outcome })
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
