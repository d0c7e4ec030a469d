//! `ome validate`: all findings about the input.

mod refusals;

use crate::api::{Object, Views};
use crate::check::{self, Baseline, View};
use crate::cli::args::{InputArgs, PageFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{not_built_line, trees_with_services};
use crate::cli::session_options::SessionOptions;
use crate::cli::until_exit::UntilExit;
use crate::cli::{Failure, Io, Outcome, complete, copies};
use crate::diag::{CODES, Code, Diagnostic, Severity, Topic, nearest};
use crate::emit::{self, fix, stream};
use crate::load;
use crate::objects::{CLUSTER_DOMAIN, RenderedObject};
use crate::operators;
use crate::pipeline::owners::{self, Owner, Owners};
use crate::pipeline::serving::plan_servings;
use crate::pipeline::uncounted::tells_why;
use crate::pipeline::{Planner, Renderer};
use crate::report::phrases::plural;
use crate::report::places::{Places, Repository};
use crate::report::{finding_page, findings, github, gitlab, junit, rdjson, sarif};
use crate::source::{SourceId, SourceKind, Span};
use crate::yaml::Limits;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Check the input: syntax, schema, references, the catalog as a whole.
///
/// Exit codes: 0 no finding of level error (with `--strict`: of level warning), 1 a bad flag or a
/// file that cannot be read, 2 findings.
///
/// A comment `# ome: allow CODE reason` on the line of a finding or on the line above it allows it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Files and directories, as with `-f`.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Output format; `--format` is the same flag.
    #[arg(
        short,
        long,
        visible_alias = "format",
        value_enum,
        value_parser = FormatParser::<Format>::new(),
        default_value_t,
        value_name = "FORMAT"
    )]
    output: Format,
    /// Least severity that is shown [default: warning for people, info in every other format and
    /// with `--rule`]. Exit codes do not depend on it.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    min_severity: Option<Severity>,
    /// Only findings of this code; switches on rules that are off by default. Repeatable.
    #[arg(long = "rule", value_name = "CODE", add = complete::rules())]
    rules: Vec<String>,
    /// Findings about the user's objects, or about built-in objects only.
    #[arg(long, value_enum, default_value_t)]
    source: Whose,
    /// File or directory that is read so that references to it resolve; findings about it are not
    /// reported. Repeatable.
    #[arg(long, value_name = "PATH")]
    context: Vec<PathBuf>,
    /// Also report on directories below the named ones that hold copies: testdata, test, tests, e2e,
    /// versioned_docs, vendor.
    #[arg(long)]
    all: bool,
    /// Also report runtimes that serve no loaded model.
    #[arg(long)]
    unused: bool,
    /// Also report accelerator classes of unknown products.
    #[arg(long)]
    unknown_products: bool,
    /// Leave out the findings that this file holds.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings of this run into the baseline.
    #[arg(long, requires = "baseline", conflicts_with_all = ["fix", "rules"])]
    update_baseline: bool,
    /// Repair what can be repaired safely, then report the other findings.
    #[arg(long)]
    fix: bool,
    /// Run again whenever the input changes.
    #[arg(long)]
    watch: bool,
}

impl Args {
    /// Returns the paths to watch, with `--watch`.
    pub(super) fn watched(&self) -> Option<Vec<PathBuf>> {
        let besides = self.paths.iter().chain(&self.context).cloned();
        self.watch.then(|| besides.chain(self.input.watched()).collect())
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people, with the lines in question.
    #[default]
    #[value(alias = "table")]
    Human,
    /// One JSON document; its schema has a version.
    Json,
    /// The same document as YAML.
    Yaml,
    /// Markdown that fits a pull request comment.
    Markdown,
    /// A single HTML page.
    Html,
    /// SARIF 2.1.0, for code hosts.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// JUnit XML, a test case per file.
    Junit,
    /// A Code Quality report of GitLab.
    Gitlab,
    /// Reviewdog Diagnostic Format, as one JSON document.
    Rdjson,
}

/// On whose objects findings are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    /// Findings about the user's objects.
    #[default]
    User,
    /// Findings about built-in objects only.
    Builtin,
}

/// Checks and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let rules: Vec<Code> = args.rules.iter().map(|name| code(name)).collect::<Result<_, _>>()?;
    let baseline = match &args.baseline {
        Some(file) if !args.update_baseline => Some(read_baseline(file)?),
        _ => None,
    };
    let mut input = args.input.clone();
    input.files.splice(0..0, args.paths.iter().cloned());
    let ask = SessionOptions {
        context: &args.context,
        checks_fields: true,
        skips_builtin: true,
        ..SessionOptions::default()
    };
    let mut session = UntilExit::new(Session::open(&input, &ask)?, args.watch);
    let mut found = findings_of(&session, args, &rules)?;
    if args.fix && repair(&session, &found, io) {
        // Places have moved.
        *session = Session::open(&input, &ask)?;
        found = findings_of(&session, args, &rules)?;
    }
    let sources = &session.world.sources;
    if !args.all {
        found = copies::left_out(found, &session.world);
    }
    if let (Some(file), true) = (&args.baseline, args.update_baseline) {
        update(file, &Baseline::text(&found, sources))?;
        io.say_line(&format!("{}: {} written", file.display(), plural(found.len(), "finding")));
        return Ok(Outcome::Done);
    }
    if let Some(baseline) = baseline {
        let (new, stale) = baseline.apply(found, sources);
        found = new;
        if stale > 0 {
            io.say(&format!(
                "{} of the baseline no longer found: renew it with `--update-baseline`\n",
                plural(stale, "finding")
            ));
        }
    }
    let least = session.least();
    let is_for_people = matches!(args.output, Format::Human | Format::Markdown | Format::Html);
    let usual = if is_for_people && rules.is_empty() { Severity::Warning } else { Severity::Info };
    let floor = args.min_severity.unwrap_or(if io.is_quiet() { Severity::Error } else { usual });
    let summary = findings::summary(&found);
    let by_code = findings::by_code(&found, floor);
    let failed = found.iter().any(|finding| finding.severity >= least);
    let is_unread = |code| matches!(code, Code::FileNotRead | Code::NoFiles);
    let unread = found.iter().any(|finding| is_unread(finding.code) && finding.severity >= least);
    // What overlays change was not checked; with their findings shown, each says so itself.
    let overlays = not_built_line(&found, &trees_with_services(&session.world), "ome validate");
    let overlays = overlays.filter(|_| Severity::Info < floor).unwrap_or_default();
    let mut shown = found;
    shown.retain(|finding| finding.severity >= floor);
    // Formats for CI systems name files relative to the root of the repository.
    let places = || Places::new(sources, repository());
    let answer = finding_page::View {
        found: &shown,
        sources,
        files: sources.iter().filter(|(_, source)| source.reported && source.is_input()).count(),
        summary: &summary,
        below: &(by_code + &overlays),
    };
    // What was not read is a finding, so that a document for programs needs no list of gaps.
    let mut page = |format: PageFormat| format.print(&answer, &[], io);
    match args.output {
        Format::Human => page(PageFormat::Table)?,
        Format::Json => page(PageFormat::Json)?,
        Format::Yaml => page(PageFormat::Yaml)?,
        Format::Markdown => page(PageFormat::Markdown)?,
        Format::Html => page(PageFormat::Html)?,
        Format::Sarif => io.print_json(&sarif::Log { found: &shown, sources: &places() })?,
        Format::Github => io.print(&github::commands(&shown, &places()))?,
        Format::Junit => io.print(&junit::suites(&shown, &places(), least))?,
        Format::Gitlab => io.print_json(&gitlab::report(&shown, &places()))?,
        Format::Rdjson => io.print_json(&rdjson::report(&shown, &places()))?,
    }
    Ok(match (unread, failed) {
        (true, _) => Outcome::CouldNot,
        (false, true) => Outcome::No,
        (false, false) => Outcome::Done,
    })
}

/// The repository that the run is in.
pub(super) fn repository() -> Option<Repository> {
    let here = std::env::current_dir().ok()?;
    Some(Repository { root: load::repository_root(&here)?, here })
}

/// The code of a finding by its name.
fn code(name: &str) -> Result<Code, Failure> {
    let findings = || CODES.iter().filter(|doc| doc.topic == Topic::Finding);
    Code::finding(name).ok_or_else(|| Failure::NotFound {
        message: format!("no finding has the code `{name}`"),
        help: nearest(name, findings().map(|doc| doc.id))
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| Some("`ome code` lists them".into())),
    })
}

fn read_baseline(file: &std::path::Path) -> Result<Baseline, Failure> {
    let not_read = |message: String, help: Option<String>| Failure::NotFound { message, help };
    let text = load::read_text(file, &Limits::default()).map_err(|finding| {
        let help = Some(format!(
            "write it with `ome validate --baseline {} --update-baseline`",
            file.display()
        ));
        not_read(format!("cannot read the baseline {}: {}", file.display(), finding.message), help)
    })?;
    Baseline::parse(&text).map_err(|reason| {
        not_read(format!("cannot read the baseline {}: {reason}", file.display()), None)
    })
}

/// Writes a baseline, over an older one or to a file that is not there.
fn update(file: &std::path::Path, text: &str) -> Result<(), Failure> {
    // Only a file that is a baseline is overwritten.
    emit::rewrite(file, |old| {
        let old = old.map(|bytes| Baseline::parse(&String::from_utf8_lossy(bytes)));
        match old {
            Some(Err(reason)) => Err(Failure::NotFound {
                message: format!("{} is in the way: {reason}", file.display()),
                help: Some("name a baseline, or a file that does not exist".into()),
            }),
            None | Some(Ok(_)) => Ok(text.as_bytes().to_vec()),
        }
    })
}

/// Findings about what a service becomes; `plan` and `explain` report them.
const PLAN_ONLY: [Code; 5] = [
    Code::ModelmeshOnlyField,
    Code::ProbeTwoHandlers,
    Code::AlsoServesV2,
    Code::NeedsKnativeActivator,
    Code::NeedsClusterStatus,
];

/// Everything that a run without flags reports.
pub(super) fn everything(session: &Session) -> Result<Vec<Diagnostic>, Failure> {
    gathered(session, &[], &[], Whose::User)
}

/// All findings that the run reports, before the baseline is applied.
fn findings_of(session: &Session, args: &Args, rules: &[Code]) -> Result<Vec<Diagnostic>, Failure> {
    let mut codes = rules.to_vec();
    codes.extend(args.unused.then_some(Code::RuntimeForNoModel));
    codes.extend(args.unknown_products.then_some(Code::CatalogueUnknown));
    gathered(session, &codes, rules, args.source)
}

/// Returns findings on objects of `source`. `asked` are codes that are only reported on demand;
/// `rules`, if not empty, are the only codes to report.
fn gathered(
    session: &Session,
    codes: &[Code],
    rules: &[Code],
    source: Whose,
) -> Result<Vec<Diagnostic>, Failure> {
    let catalog = &session.world.catalog;
    let mut later =
        check::run(&View { catalog, sources: &session.world.sources }, operators::checks(), codes);
    let (services, servings) = session.select_all(&[])?;
    let planner = Planner::of(&session.world);
    let earlier = EarlierFindings::by(&later, session);
    let renderer = Renderer::new(&session.world, CLUSTER_DOMAIN);
    let counted = services.len();
    let services = [services, further(session)].concat();
    let decided: Vec<_> = services
        .par_iter()
        .map(|views| {
            let (planned, written) = renderer.with_plan(&planner, views);
            let keys = written.value.iter().map(|object| owners::key(&object.node)).collect();
            let refused = refusals::of_service(written);
            (&views.followed().object, planned.diagnostics, keys, refused)
        })
        .collect();
    let mut refused = Vec::new();
    let mut written: Vec<Vec<u64>> = Vec::new();
    let mut all: Vec<(&Object, Vec<Diagnostic>)> = Vec::new();
    for (service, composed, keys, of_server) in decided {
        refused.push((service, of_server));
        written.push(keys);
        all.push((service, composed));
    }
    // Definitions of one service in several directories write the same objects in turn.
    written.truncate(counted);
    for (service, mut composed) in all {
        composed.retain(|finding| earlier.is_new_of_service(finding, service));
        later.extend(composed.into_iter().map(|finding| at_home(finding, service, session)));
    }
    let mut owners = Owners::default();
    // A fleet has many objects: only those of several owners are written once more.
    for shared in owners::sharing(&written) {
        let views = services[shared];
        let (_, written) = renderer.with_plan(&planner, views);
        let texts: Vec<String> = written.value.iter().map(text_of).collect();
        let objects = written.value.iter().map(|object| &object.node);
        let owner = Owner::of(&views.followed().object);
        owners.add(&owner, objects.zip(texts.iter().map(String::as_str)), &mut later);
    }
    let servings = plan_servings(&session.world.catalog, &servings);
    let engines = planner.engines();
    later.extend(servings.iter().flat_map(|planned| engines.of_serving(planned)));
    later.extend(engines.of_workloads(catalog).findings);
    later.extend(servings.into_iter().flat_map(|planned| {
        let object = &planned.serving.object;
        planned.diagnostics.into_iter().filter(|finding| !earlier.has_reason(finding, object))
    }));
    let refused = refusals::all(session, refused, &later);
    later.extend(refused);
    let found = asked_for(session.settle(later), session, rules, source);
    let reported = |code: Code| {
        let asked_for = codes.contains(&code);
        let on_demand =
            operators::checks().any(|check| check.on_demand && check.codes.contains(&code));
        (asked_for || (rules.is_empty() && !on_demand))
            && source == Whose::User
            && !session.is_off(code)
    };
    Ok(session.grade(check::apply_allows(found, &session.world.sources, reported)))
}

/// What findings say that are there before those of plans: they are not repeated.
struct EarlierFindings {
    /// What checks found, by place.
    checked: BTreeSet<(Code, Option<Span>)>,
    /// The same, by object.
    named: BTreeSet<(Code, Vec<String>)>,
    /// Invalid values and quantities.
    invalid: Vec<Diagnostic>,
}

impl EarlierFindings {
    fn by(checks: &[Diagnostic], session: &Session) -> Self {
        let invalid = checks
            .iter()
            .chain(&session.world.diagnostics)
            .filter(|finding| finding.severity == Severity::Error)
            .filter(|finding| matches!(finding.code, Code::InvalidValue | Code::InvalidQuantity));
        Self {
            checked: checks.iter().map(|finding| (finding.code, finding.span())).collect(),
            named: checks.iter().map(|finding| (finding.code, finding.objects.clone())).collect(),
            invalid: invalid.cloned().collect(),
        }
    }

    /// Whether a number is not counted because it is invalid: that is reported where it is written.
    fn has_reason(&self, finding: &Diagnostic, object: &Object) -> bool {
        let inside =
            |finding: &Diagnostic| finding.span().is_some_and(|span| object.span.contains(span));
        finding.code == Code::NotCounted
            && self.invalid.iter().any(|other| tells_why(other, finding) && inside(other))
    }

    /// Whether a finding of a plan is one of this run.
    fn is_new_of_service(&self, finding: &Diagnostic, service: &Object) -> bool {
        // Findings about the model are reported at the model, and findings of a rule only once.
        finding.code != Code::ModelIncomplete
            && !PLAN_ONLY.contains(&finding.code)
            && !self.has_reason(finding, service)
            && !self.checked.contains(&(finding.code, finding.span()))
            && (finding.code != Code::DecoderWithoutEngine
                || !self.named.contains(&(finding.code, finding.objects.clone())))
    }
}

/// The findings on objects of `source`, and of `rules` if there are any.
fn asked_for(
    mut found: Vec<Diagnostic>,
    session: &Session,
    rules: &[Code],
    source: Whose,
) -> Vec<Diagnostic> {
    let catalog = &session.world.catalog;
    if catalog.has_unfilled() {
        // Nothing is known about values that are filled in later.
        found.retain(|finding| {
            finding.code == Code::Placeholders
                || finding.severity == Severity::Info
                || !finding.span().is_some_and(|span| catalog.is_in_unfilled(span))
        });
    }
    found.retain(|finding| concerns_builtin_alone(finding, session) == (source == Whose::Builtin));
    if source == Whose::Builtin {
        // The user cannot edit what is built in.
        for finding in &mut found {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    shadow(&mut found);
    if !rules.is_empty() {
        found.retain(|finding| rules.contains(&finding.code));
    }
    found
}

fn text_of(object: &RenderedObject) -> String {
    stream::text(&object.node, stream::Format::Json)
}

/// If a finding about a service is at an object whose findings are not reported, the service
/// becomes its place.
fn at_home(mut finding: Diagnostic, service: &Object, session: &Session) -> Diagnostic {
    let foreign = |span: Span| {
        let source = session.world.sources.get(span.source);
        !source.reported || (source.kind == SourceKind::Builtin && !service.builtin)
    };
    // A finding at a place that the user cannot edit is shown at the service.
    if service.reported && finding.span().is_none_or(foreign) {
        let label = crate::diag::Label { span: service.name_span(), text: String::new() };
        finding.labels.insert(0, label);
        if finding.objects.is_empty() {
            finding.objects.push(service.id.to_string());
        }
    }
    finding
}

fn concerns_builtin_alone(finding: &Diagnostic, session: &Session) -> bool {
    let builtin = |id: SourceId| session.world.sources.get(id).kind == SourceKind::Builtin;
    !finding.labels.is_empty() && finding.labels.iter().all(|label| builtin(label.span.source))
}

/// Drops findings if a more precise one about the same place exists.
fn shadow(found: &mut Vec<Diagnostic>) {
    const SHADOWS: [(Code, Code); 2] =
        [(Code::InvalidPriority, Code::InvalidValue), (Code::DuplicateName, Code::InvalidValue)];
    for (better, worse) in SHADOWS {
        let places: BTreeSet<Span> = found
            .iter()
            .filter(|finding| finding.code == better)
            .filter_map(Diagnostic::span)
            .collect();
        found.retain(|finding| {
            finding.code != worse || finding.span().is_none_or(|span| !places.contains(&span))
        });
    }
}

/// Makes the repairs and prints them; whether anything changed.
fn repair(session: &Session, found: &[Diagnostic], io: &mut Io<'_>) -> bool {
    let sources = &session.world.sources;
    let outcome = fix::repair(found, sources);
    for index in &outcome.repaired {
        let finding = &found[*index];
        let place = finding.span().map_or(String::new(), |span| {
            let place = sources.locate(span);
            format!("{}:{}:{}: ", place.file, place.line, place.column)
        });
        let how = finding.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        io.say_line(&format!(
            "{place}repaired {}: {}{how}",
            finding.code.as_str(),
            finding.message
        ));
    }
    for (source, left) in &outcome.left {
        let name = &sources.get(*source).name;
        io.say_line(&format!("{name}: not repaired: {left}"));
    }
    !outcome.repaired.is_empty()
}

/// Further definitions of services, which the catalog of the input leaves out.
fn further(session: &Session) -> Vec<&Views> {
    let services = session.world.views.iter().flat_map(|view| {
        let services = view.catalog.services();
        services.filter(|views| view.adds(views.followed().object.name_span()))
    });
    let is_asked = |views: &&Views| {
        let service = views.followed();
        session.is_asked(&service.object, &service.namespace)
    };
    services.filter(is_asked).collect()
}
