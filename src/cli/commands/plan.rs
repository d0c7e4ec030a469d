//! `ome plan`: runtime, class, mode, replicas and placement of each service.

use crate::api::Views;
use crate::cli::args::{AtArg, DecisionArgs, EachArg, InputArgs, PageFormat, lost};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{
    About, beside_page, charts_line, not_built_line, trees_with_services,
};
use crate::cli::until_exit::UntilExit;
use crate::cli::{Failure, Io, Outcome, complete, copies, what_if};
use crate::diag::{Code, Diagnostic, Severity};
use crate::pipeline::assumed_classes::classes_together;
use crate::pipeline::refusals::knative_together;
use crate::pipeline::serving::plan_servings;
use crate::pipeline::{
    Depth, JudgedWorkloads, Lost, PlacementOptions, Planned, Planner, ServiceNames, costs,
    counted_objects, has_current, together, totals,
};
use crate::report::totals::{Read, classes, classes_markdown, verdict};
use crate::report::{
    accounting, json, losses, markdown, page, plan, serving, table, together as report,
};
use crate::workspace::World;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Show what each service becomes: model, runtime, deployment modes, replicas, GPUs.
///
/// Exit codes: 0 done, 1 a service is in error or the input is invalid, 2 pods do not fit the given
/// nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices and ModelServings, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE", add = complete::services())]
    services: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    /// Show every service, also of more than 200.
    ///
    /// Of more, a table shows those that need attention.
    #[arg(long)]
    all: bool,
    /// Place minReplicas, maxReplicas of everything at once, or what the input says runs.
    #[arg(long, value_enum, default_value_t)]
    at: AtArg,
    /// Plan without these nodes: node=NAME, zone=NAME, class=NAME or the label KEY=VALUE;
    /// repeatable.
    #[arg(long, value_name = "NODES", value_parser = lost, add = complete::losses())]
    without: Vec<Lost>,
    /// Lose every node, zone or class, one after the other, and show which losses leave pods without
    /// a node.
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "without")]
    each: Option<EachArg>,
    /// Run again whenever the input changes.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// Output format of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table; names are shortened where it does not fit the terminal.
    #[default]
    Table,
    /// The table with further columns, every service in full.
    Wide,
    /// A line per service: KIND/NAMESPACE/NAME.
    Name,
    /// One JSON document; its schema has a version.
    Json,
    /// The same document as YAML.
    Yaml,
    /// Markdown that fits a pull request comment.
    Markdown,
    /// A single HTML page.
    Html,
}

impl Args {
    /// Returns the paths to watch, with `--watch`.
    pub(super) fn watched(&self) -> Option<Vec<PathBuf>> {
        self.watch.then(|| self.input.watched())
    }
}

/// How many services to plan between two progress updates.
const SHOWN: usize = 1000;

/// Plans and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let opened = Session::open(&args.input, &args.decision.ask()?)?;
    let mut session = UntilExit::new(opened, args.watch);
    let (header, mode) = (session.header(), session.mode());
    let (services, servings) = session.all_places(&args.services)?;
    session.require_any(services.len() + servings.len())?;
    session.require_objects(&args.input.files)?;
    // Before the services are taken out of the catalog: their pods are lost with the nodes.
    let losses = match args.each {
        Some(each) => Some(what_if::losses(&session, args.at.into(), each.into())?),
        None => None,
    };
    let with_services = trees_with_services(&session.world);
    let (services, servings) = session.take_all(&args.services)?;
    let servings = session.servings(servings);
    let planner = Planner::new(&session.world.catalog, session.semantics)
        .judging(&session.world)
        .comparing(services.len());
    let all = services.len();
    let mut planned = UntilExit::new(Vec::with_capacity(all), args.watch);
    let mut services = services.into_iter();
    let mut nearest = Nearest::default();
    while planned.len() < all {
        // A planned service is not needed again, and is freed.
        let window: Vec<Box<Views>> = services.by_ref().take(SHOWN).collect();
        let planned_here = planner.plan_all(&window, Depth::Plan);
        planned.extend(nearest.name(&planner, &window, planned_here));
        io.progress(planned.len(), all, "services planned");
    }
    drop(services);
    for error in planned.iter_mut().filter_map(|planned| planned.error.as_deref_mut()) {
        error.help = error.help.as_deref().and_then(|help| args.input.complete(help));
    }
    let variants = session.plan_variants(&args.services, Depth::Plan, &mut planned);
    // Of 100,000 services the remembered decisions are a tenth of the memory.
    planner.forget();
    let mut servings = plan_servings(&session.world.catalog, &servings);
    for planned in &mut servings {
        let found = planner.engines().of_serving(planned);
        planned.diagnostics.extend(found);
        planned.diagnostics.extend(planner.assumed_classes(&planned.serving.object));
    }
    let lost = what_if::lost(&session, &args.without)?;
    let options = PlacementOptions {
        lost: lost.as_ref(),
        map: args.output == Format::Html,
        at: args.at.into(),
        ..PlacementOptions::default()
    };
    if args.at == AtArg::Current && !has_current(&session.world.catalog) {
        return Err(Failure::NotFound {
            message: "`--at current` needs a dump: no Pod and no Deployment was read".into(),
            help: Some("load one with `-f`: `ome dump --print-command` prints the command".into()),
        });
    }
    let together = together(&planner, &mut planned, &mut servings, options);
    let together = together.as_ref();
    let costs = costs(&planned, &servings);
    let machines = what_if::left(&session, lost.as_ref());
    let totals = totals(&planned, &servings, &machines, together);
    let counted = variants.show(&session, &mut planned, &mut servings);
    let later = planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..));
    let found = session
        .settle(later.chain(servings.iter_mut().flat_map(|planned| planned.diagnostics.drain(..))));
    let catalog = &session.world.catalog;
    let found = About::planned(catalog, &planned, &servings)
        .every(args.services.is_empty())
        .of(&session, found);
    let mut found = knative_together(found);
    // Their pods are placed beside those of the services.
    let workloads = match together {
        Some(_) if args.services.is_empty() => planner.engines().of_workloads(catalog),
        _ => JudgedWorkloads::default(),
    };
    found.extend(session.grade(workloads.findings));
    let names = planned.iter().map(|planned| (&planned.service.namespace, &planned.service.name));
    let names: ServiceNames = names.map(|(space, name)| (space.clone(), name.clone())).collect();
    if together.is_some() && args.services.is_empty() {
        let notes = counted_objects(catalog, &names).flat_map(|one| planner.of_workload(one));
        found.extend(session.grade(notes));
    }
    let found = classes_together(found);
    let (notes, sources) = (serving::Notes::of(&found), &session.world.sources);
    let message = costs.as_ref().map(|costs| report::price(costs, totals.at)).into_iter();
    let message =
        message.chain(together.map(|placement| report::text(placement, &planned, &servings)));
    let loss = together.and_then(|placement| placement.loss.as_ref());
    let loss = loss.map_or_else(String::new, |loss| losses::text(loss, &args.without));
    let message = message.chain(Some(loss));
    let not_read = message.chain(not_read(&session.world, &found, &with_services, &names));
    let counted = not_read.chain(counted.map(|counted| format!("{counted}\n")));
    let message: String = counted.collect();
    let message = (!message.is_empty()).then(|| format!("\n{message}"));
    let style = match args.output {
        Format::Markdown => table::Style { color: false, width: None },
        _ => io.style(),
    };
    let is_partly_read = session.is_incomplete();
    let whole = args.services.is_empty();
    let waits = report::is_short(&planned, &servings)
        || whole && together.is_some_and(|placement| placement.others.pending > 0);
    let is_broken = |planned: &Planned<'_>| {
        planned.error.is_some() && copies::fails(&session.world, planned.service.place, whole)
    };
    let outcome = session.outcome(&found, planned.iter().any(is_broken));
    // Under `--strict`, what was not judged is not enough for a yes.
    let unknown =
        args.input.strict && together.is_some_and(|placement| !placement.not_judged.is_empty());
    let hurts = losses.as_ref().is_some_and(|losses| !losses.rows.is_empty());
    let outcome = if waits || unknown || hurts { outcome.and(Outcome::No) } else { outcome };
    let warnings = found.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let read = Read {
        whole,
        is_partly_read,
        fails: outcome != Outcome::Done,
        warnings,
        stopped: &workloads.stopped,
    };
    // Of a path that could not be read there is no answer, and the finding names it.
    let is_answered = !session.is_missing() || !planned.is_empty() || !servings.is_empty();
    let last = is_answered.then(|| verdict(&totals, &planned, &servings, together, read)).flatten();
    // Wrapped as it is printed: a page for a browser breaks its own lines.
    let last_line =
        last.as_ref().map(|last| format!("\n{}", table::wrapped(&last.text, style.width, "  ")));
    let passed_over = accounting::line(&session.world.input);
    let extent = match args.output {
        Format::Wide => plan::Extent::Wide(costs.as_ref()),
        _ if args.all => plan::Extent::All,
        _ => plan::Extent::Short,
    };
    let arguments = args.input.proposals().arguments("plan");
    let plan = plan::Plan {
        semantics: mode,
        header: &header,
        planned: &planned,
        sources,
        extent,
        arguments: &arguments,
    };
    let answer = losses.as_ref().map(|losses| losses::View {
        losses,
        together,
        at: args.at.into(),
        fails: outcome != Outcome::Done,
    });
    session.begin_page(
        match args.output {
            Format::Table | Format::Wide => PageFormat::Table,
            Format::Markdown => PageFormat::Markdown,
            Format::Html => PageFormat::Html,
            Format::Json | Format::Yaml | Format::Name => PageFormat::Json,
        },
        io,
    )?;
    match args.output {
        Format::Json | Format::Yaml => {
            let answer = json::Plan {
                semantics: mode,
                depth: Depth::Plan,
                planned: &planned,
                servings: &servings,
                flips: &[],
                merges: &[],
                found: &found,
                sources,
                totals: &totals,
                together,
                losses: losses.as_ref(),
                costs: costs.as_ref(),
                input: &session.world.input,
            };
            session.print_json(&answer, io)?;
        }
        Format::Name => {
            session.say(&beside_page(&found, &planned), io);
            if let Some(losses) = &losses {
                for line in losses::lines(losses) {
                    io.print_line(&line)?;
                }
                return Ok(outcome);
            }
            for name in plan::names(&planned, &servings) {
                io.print_line(&name)?;
            }
        }
        Format::Table | Format::Wide => {
            session.say(&beside_page(&found, &planned), io);
            // With `--each`, the losses are the page.
            if let Some(answer) = answer {
                io.print(&answer.page().text(style))?;
                return Ok(outcome);
            }
            let is_answer = servings.is_empty() && !session.is_explained();
            if !planned.is_empty() || is_answer {
                plan.pieces(style, |piece| io.print(piece))?;
            }
            if let Some(kinds) = session.instead_of_services()
                && planned.is_empty()
                && is_answer
            {
                io.print_line(&kinds)?;
            }
            if !servings.is_empty() {
                let gap = if planned.is_empty() { "" } else { "\n" };
                io.print(&format!(
                    "{gap}{}\n\n{}",
                    session.serving_header(planned.is_empty()),
                    serving::text(&servings, &notes, sources, style)
                ))?;
            }
            if !totals.classes.is_empty() || !totals.resources.is_empty() {
                io.print(&format!("\n{}", classes(&totals, style)))?;
            }
            if let Some(message) = &message {
                let lines = message.lines().map(|line| table::wrapped(line, style.width, "  "));
                io.print(&lines.collect::<String>())?;
            }
            if let Some(line) = &passed_over {
                io.print(&format!("\n{}", table::wrapped(line, style.width, "  ")))?;
            }
            if let Some(last) = &last_line {
                io.print(last)?;
            }
        }
        Format::Html => {
            session.say(&beside_page(&found, &planned), io);
            let lines = [message.as_deref(), passed_over.as_deref()].map(Option::unwrap_or_default);
            let lines = lines.join("\n");
            let page = page::View {
                semantics: mode,
                header: &header,
                planned: &planned,
                servings: &servings,
                serving_rules: session.serving_rules(),
                totals: &totals,
                last: last.as_ref(),
                lines: &lines,
                together,
                losses: answer,
                notes: &notes,
                sources,
            };
            io.print(&page.html().map_err(Failure::Usage)?)?;
        }
        Format::Markdown => {
            session.say(&beside_page(&found, &planned), io);
            if let Some(answer) = answer {
                io.print(&answer.page().markdown())?;
                return Ok(outcome);
            }
            io.print(&plan.markdown())?;
            if !servings.is_empty() {
                io.print(&format!("\n{}", serving::markdown(&servings, &notes, sources)))?;
            }
            if !totals.classes.is_empty() || !totals.resources.is_empty() {
                io.print(&format!("\n{}", classes_markdown(&totals)))?;
            }
            if let Some(message) = &message {
                io.print(&markdown::lines(message))?;
            }
            if let Some(line) = &passed_over {
                io.print(&format!("\n{}", markdown::lines(line)))?;
            }
            if let Some(last) = &last_line {
                io.print(last)?;
            }
        }
    }
    Ok(outcome)
}

/// Names the runtime that comes nearest where none fits, once for each cause.
#[derive(Default)]
struct Nearest {
    seen: BTreeSet<String>,
}

impl Nearest {
    fn name<'a>(
        &mut self,
        planner: &Planner<'a>,
        services: &[Box<Views>],
        mut planned: Vec<Planned<'a>>,
    ) -> Vec<Planned<'a>> {
        for (planned, views) in planned.iter_mut().zip(services) {
            // A cause may repeat for every service: only the first few are explained.
            if !planned.seeks_runtime() || self.seen.len() >= CAUSES {
                continue;
            }
            let edits = |name: &str| planned.help_of_runtime(name);
            let Some(error) = &planned.error else { continue };
            if !self.seen.insert(error.message.clone()) {
                continue;
            }
            let explained = planner.plan(views, Depth::Explain);
            if let Some((name, why)) = explained.nearest_runtime() {
                let help = format!("nearest is {name}: {why}; {}", edits(&name));
                if let Some(error) = planned.error.as_deref_mut() {
                    error.help = Some(help);
                }
            }
        }
        planned
    }
}

/// The services in manifests of the first directory with some that no kustomization lists, and the
/// command that plans them.
///
/// A service that the table has is not named: of its two definitions the deployed one was planned.
fn hidden<'f>(
    left: impl Iterator<Item = &'f Diagnostic> + Clone,
    planned: &ServiceNames,
) -> Option<String> {
    let is_planned = |name: &str| {
        let split = name.split_once('/');
        split.is_some_and(|(space, name)| planned.contains(&(space.into(), name.into())))
    };
    let names = |finding: &'f Diagnostic| -> BTreeSet<&'f str> {
        let shown = finding
            .objects
            .iter()
            .map(|name| name.split_once('/').map_or(name.as_str(), |(_, name)| name));
        shown.filter(|name| !is_planned(name)).collect()
    };
    let (first, names) = left
        .clone()
        .map(|finding| (finding, names(finding)))
        .find(|(_, names)| !names.is_empty())?;
    let more = match names.len() {
        0..=HIDDEN => String::new(),
        many => format!(" and {} more", many - HIDDEN),
    };
    let shown: Vec<&str> = names.iter().take(HIDDEN).copied().collect();
    let place = first.file.as_deref().unwrap_or_default();
    let help = first.help.as_deref().unwrap_or_default();
    let others = match left.count() - 1 {
        0 => String::new(),
        1 => "; 1 more directory has such files".to_owned(),
        others => format!("; {others} more directories have such files"),
    };
    Some(format!("{}{more}: {place}: {}: {help}{others}", shown.join(", "), first.message))
}

/// How many services of such manifests are named.
const HIDDEN: usize = 5;

/// For how many causes the nearest runtime is named.
const CAUSES: usize = 20;

/// The lines about what was not read: manifests that no kustomization lists, trees that were read
/// file by file with the command that builds one, presets with the command that gets them, and the
/// first assumption about what only the cluster knows.
fn not_read(
    world: &World,
    found: &[Diagnostic],
    with_services: &HashSet<Arc<str>>,
    names: &ServiceNames,
) -> Option<String> {
    let of = |code: Code| found.iter().filter(move |finding| finding.code == code);
    // The first of a code with its place, and how many more there are.
    let named = |code: Code| {
        let first = of(code).next()?;
        let more = match of(code).count() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let place = first.file.as_deref().unwrap_or_default();
        Some(format!("{place}: {}{more}", first.message))
    };
    let left = hidden(of(Code::NotDeployed), names)
        .or_else(|| named(Code::NotDeployed))
        .map(|left| format!("not read: {left}\n"));
    let built = not_built_line(found, with_services, "ome plan");
    let presets = of(Code::PresetsNotRead).next().map(|first| {
        let how = first.help.as_deref().unwrap_or_default();
        match of(Code::PresetsNotRead).map(|finding| finding.objects.len().max(1)).sum() {
            1 => format!("1 LLMInferenceService is counted without its presets: {how}\n"),
            many => {
                format!("{many} LLMInferenceServices are counted without their presets: {how}\n")
            }
        }
    });
    let copies = named(Code::CopiesLeftOut).map(|left| {
        let first = of(Code::CopiesLeftOut).next().and_then(|finding| finding.help.as_deref());
        format!("{left}: {}\n", first.unwrap_or_default())
    });
    let counted_as_ready = || {
        of(Code::NeedsClusterStatus).filter(|found| found.path.as_deref() == Some("spec.canary"))
    };
    let assumed = counted_as_ready().next().map(|first| {
        let more = match counted_as_ready().count() - 1 {
            0 => String::new(),
            1 => "; 1 more service: `ome explain`".to_owned(),
            more => format!("; {more} more services: `ome explain`"),
        };
        let service = first.objects.first().map(|service| format!("{service}: "));
        format!("assumed: {}{}{more}\n", service.unwrap_or_default(), first.message)
    });
    let lines = [left, copies, charts_line(world, found), built, presets, assumed];
    lines.iter().any(Option::is_some).then(|| lines.into_iter().flatten().collect::<String>())
}
