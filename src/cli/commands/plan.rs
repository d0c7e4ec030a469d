//! `ome plan`: runtime, class, mode, replicas and placement of each service.

use crate::api::Views;
use crate::cli::args::{AtArg, DecisionArgs, EachArg, InputArgs, PageFormat, lost};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{
    About, beside_page, charts_line, not_built_line, of_parts, trees_with_services,
};
use crate::cli::session_options::SessionOptions;
use crate::cli::until_exit::UntilExit;
use crate::cli::{Failure, Io, Outcome, complete, copies, what_if};
use crate::diag::{Code, Diagnostic, Severity};
use crate::pipeline::assumed_classes::notes_together;
use crate::pipeline::refusals::knative_together;
use crate::pipeline::serving::{PlannedServing, plan_servings};
use crate::pipeline::{
    Depth, Losses, Lost, PlacementOptions, Planned, Planner, ServiceNames, Together, Totals, costs,
    counted_objects, has_current, together, totals,
};
use crate::report::cell::Cell;
use crate::report::fleet::View;
use crate::report::totals::{Read, verdict};
use crate::report::{accounting, losses, plan, serving, together as report};
use crate::workspace::World;
use ecow::EcoString;
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

impl Format {
    /// The format of the page; none of a list.
    fn page(self) -> Option<PageFormat> {
        match self {
            Self::Table | Self::Wide => Some(PageFormat::Table),
            Self::Json => Some(PageFormat::Json),
            Self::Yaml => Some(PageFormat::Yaml),
            Self::Markdown => Some(PageFormat::Markdown),
            Self::Html => Some(PageFormat::Html),
            Self::Name => None,
        }
    }
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
    let skips_builtin = args.services.is_empty();
    let ask = SessionOptions { skips_builtin, ..args.decision.ask()? };
    let opened = Session::open(&args.input, &ask)?;
    let mut session = UntilExit::new(opened, args.watch);
    let (header, readings) = (session.header(), session.named_readings());
    let (services, servings) = session.all_places(&args.services)?;
    session.require_any(services.len() + servings.len())?;
    session.require_objects(&args.input.files)?;
    // Before the services are taken out of the catalog: their pods are lost with the nodes.
    let losses = match args.each {
        Some(each) => Some(what_if::losses(&session, args.at.into(), each.into())?),
        None => None,
    };
    let with_services = trees_with_services(&session.world);
    let of_parts = of_parts(&session);
    let (services, servings) = session.take_all(&args.services)?;
    let session: &Session = &session;
    let planner = Planner::of(&session.world).judging(&session.world).comparing(services.len());
    let planned = plan_services(args, &planner, services, io);
    let mut planned = UntilExit::new(planned, args.watch);
    let variants = session.plan_variants(&planner, &args.services, Depth::Plan, &mut planned);
    // Of 100,000 services the remembered decisions are a tenth of the memory.
    planner.forget();
    let mut servings = plan_servings(&session.world.catalog, &session.servings(servings));
    for planned in &mut servings {
        let found = planner.engines().of_serving(planned);
        planned.diagnostics.extend(found);
        planned.diagnostics.extend(planner.assumed_classes(&planned.serving.object));
    }
    let lost = what_if::lost(session, &args.without)?;
    let together = place(args, session, &planner, &mut planned, &mut servings, lost.as_ref())?;
    let together = together.as_ref();
    let costs = costs(&planned, &servings);
    let machines = what_if::left(session, lost.as_ref());
    let totals = totals(&planned, &servings, &machines, together);
    let counted = variants.show(session, &mut planned, &mut servings);
    let names = planned.iter().map(|planned| (&planned.service.namespace, &planned.service.name));
    let names: ServiceNames = names.map(|(space, name)| (space.clone(), name.clone())).collect();
    let is_whole = together.is_some() && args.services.is_empty();
    let later = planned.iter_mut().flat_map(|planned| planned.diagnostics.drain(..));
    let later = later.chain(servings.iter_mut().flat_map(|planned| planned.diagnostics.drain(..)));
    let found = session.settle(later.chain(of_parts));
    let found = About::planned(&session.world.catalog, &planned, &servings)
        .every(args.services.is_empty())
        .of(session, found);
    let (found, stopped) = with_workloads(found, session, &planner, is_whole.then_some(&names));
    let lines = [
        costs.as_ref().map(|costs| report::price(costs, totals.at)),
        together.map(|placement| report::text(placement, &planned, &servings)),
        together
            .and_then(|placement| placement.loss.as_ref())
            .map(|loss| losses::text(loss, &args.without)),
        not_read(&session.world, &found, &with_services, &names),
        counted.map(|counted| format!("{counted}\n")),
    ];
    let lines: String = lines.into_iter().flatten().collect();
    let notes = serving::Notes::of(&found);
    let answer = Answer {
        args,
        session,
        planned: &planned,
        servings: &servings,
        found: &found,
        totals: &totals,
        together,
        losses: losses.as_ref(),
        stopped: &stopped,
    };
    let outcome = answer.outcome();
    let has_nothing = planned.is_empty() && servings.is_empty() && !session.is_explained();
    let instead = session.instead_of_services().filter(|_| has_nothing);
    let has_machines = !session.world.catalog.machines().is_empty();
    let last = answer.last(outcome);
    let passed_over = accounting::line(&session.world.input, has_machines);
    let view = View {
        readings,
        header: &header,
        planned: &planned,
        servings: &servings,
        serving_rules: session.serving_rules(),
        serving_header: &session.serving_header(planned.is_empty()),
        notes: &notes,
        extent: match args.output {
            Format::Wide => plan::Extent::Wide(costs.as_ref()),
            _ if args.all => plan::Extent::All,
            _ => plan::Extent::Short,
        },
        arguments: &args.input.proposals().arguments("plan"),
        has_nothing,
        instead_of_services: instead.as_deref(),
        totals: &totals,
        together,
        losses: answer.losses(outcome),
        costs: costs.as_ref(),
        lines: &lines,
        passed_over: passed_over.as_deref(),
        last: last.as_ref(),
        found: &found,
        sources: &session.world.sources,
        input: &session.world.input,
    };
    answer.print(&view, io)?;
    Ok(outcome)
}

/// Plans the services window by window.
#[expect(clippy::vec_box, reason = "each is freed when it was planned")]
fn plan_services<'a>(
    args: &Args,
    planner: &Planner<'a>,
    services: Vec<Box<Views>>,
    io: &mut Io<'_>,
) -> Vec<Planned<'a>> {
    let all = services.len();
    let mut planned = Vec::with_capacity(all);
    let mut services = services.into_iter();
    let mut nearest = Nearest::default();
    while planned.len() < all {
        // A planned service is not needed again, and is freed.
        let window: Vec<Box<Views>> = services.by_ref().take(SHOWN).collect();
        let planned_here = planner.plan_all(&window, Depth::Plan);
        planned.extend(nearest.name(planner, &window, planned_here));
        io.progress(planned.len(), all, "services planned");
    }
    for error in planned.iter_mut().filter_map(|planned| planned.error.as_deref_mut()) {
        error.help = error.help.as_deref().and_then(|help| args.input.complete(help));
    }
    planned
}

/// Places the fleet on the nodes that are left.
fn place<'a>(
    args: &Args,
    session: &Session,
    planner: &Planner<'a>,
    planned: &mut Vec<Planned<'a>>,
    servings: &mut Vec<PlannedServing<'a>>,
    lost: Option<&BTreeSet<EcoString>>,
) -> Result<Option<Together>, Failure> {
    if args.at == AtArg::Current && !has_current(&session.world.catalog) {
        return Err(Failure::NotFound {
            message: "`--at current` needs a dump: no Pod and no Deployment was read".into(),
            help: Some("load one with `-f`: `ome dump --print-command` prints the command".into()),
        });
    }
    let options = PlacementOptions {
        lost,
        map: args.output == Format::Html,
        at: args.at.into(),
        ..PlacementOptions::default()
    };
    Ok(together(planner, planned, servings, options))
}

/// The findings with those about other workloads, whose pods are placed beside the pods of `services`
/// if the fleet is placed as a whole, and the workloads whose server does not start.
fn with_workloads(
    found: Vec<Diagnostic>,
    session: &Session,
    planner: &Planner<'_>,
    services: Option<&ServiceNames>,
) -> (Vec<Diagnostic>, Vec<(EcoString, EcoString)>) {
    let mut found = knative_together(found);
    let Some(services) = services else { return (notes_together(found), Vec::new()) };
    let catalog = &session.world.catalog;
    let workloads = planner.engines().of_workloads(catalog);
    found.extend(session.grade(workloads.findings));
    let notes = counted_objects(catalog, services).flat_map(|one| planner.of_workload(one));
    found.extend(session.grade(notes));
    (notes_together(found), workloads.stopped)
}

/// A plan, and what decides how the run ends.
struct Answer<'a> {
    args: &'a Args,
    session: &'a Session,
    planned: &'a [Planned<'a>],
    servings: &'a [PlannedServing<'a>],
    found: &'a [Diagnostic],
    totals: &'a Totals,
    together: Option<&'a Together>,
    losses: Option<&'a Losses>,
    /// Workloads whose server does not start.
    stopped: &'a [(EcoString, EcoString)],
}

impl<'a> Answer<'a> {
    fn outcome(&self) -> Outcome {
        let Self { args, session, planned, together, .. } = self;
        let whole = args.services.is_empty();
        let waits = report::pending(planned, self.servings, together.filter(|_| whole)) > 0;
        let is_failed = copies::any_fails(&session.world, planned, whole);
        let outcome = session.outcome(self.found, is_failed);
        // Under `--strict`, what was not judged is not enough for a yes.
        let unknown =
            args.input.strict && together.is_some_and(|placement| !placement.not_judged.is_empty());
        let hurts = self.losses.is_some_and(|losses| !losses.rows.is_empty());
        if waits || unknown || hurts { outcome.and(Outcome::No) } else { outcome }
    }

    /// The last sentence. Of a path that could not be read there is no answer, and the finding names
    /// it.
    fn last(&self, outcome: Outcome) -> Option<Cell> {
        let (session, planned, servings) = (self.session, self.planned, self.servings);
        if session.is_missing() && planned.is_empty() && servings.is_empty() {
            return None;
        }
        let is_warning = |finding: &&Diagnostic| finding.severity == Severity::Warning;
        let read = Read {
            whole: self.args.services.is_empty(),
            is_partly_read: session.is_incomplete(),
            fails: outcome != Outcome::Done,
            has_errors: self.found.iter().any(|finding| finding.severity == Severity::Error),
            warnings: self.found.iter().filter(is_warning).count(),
            without_presets: without_presets(self.found),
            stopped: self.stopped,
        };
        verdict(self.totals, planned, servings, self.together, read)
    }

    fn losses(&self, outcome: Outcome) -> Option<losses::View<'a>> {
        let view = |losses| losses::View {
            losses,
            together: self.together,
            at: self.args.at.into(),
            fails: outcome != Outcome::Done,
        };
        self.losses.map(view)
    }

    fn print(&self, view: &View<'_>, io: &mut Io<'_>) -> Result<(), Failure> {
        let next_to_page = beside_page(self.found, self.planned);
        if let Some(format) = self.args.output.page() {
            return self.session.show(view, format, &next_to_page, io);
        }
        self.session.say(&next_to_page, io);
        let names: Vec<String> = match self.losses {
            Some(losses) => losses::lines(losses).collect(),
            None => plan::names(self.planned, self.servings),
        };
        names.iter().try_for_each(|name| io.print_line(name))?;
        Ok(())
    }
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

/// Number of LLMInferenceServices that are counted without shipped configurations.
fn without_presets(found: &[Diagnostic]) -> usize {
    let of = found.iter().filter(|finding| finding.code == Code::PresetsNotRead);
    of.map(|finding| finding.objects.len().max(1)).sum()
}

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
        match without_presets(found) {
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
