//! `ome test`: expectations in files next to the catalog.

use super::validate;
use crate::api::ObjectRef;
use crate::cli::args::{DecisionArgs, InputArgs};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, what_if};
use crate::diag::{Code, Diagnostic, Replacement, Severity, nearest};
use crate::diff::expect;
use crate::diff::expect::{Case, Expected, Miss, Stated, actual};
use crate::emit::{self, fix::Left};
use crate::load;
use crate::merge::history::Recorder;
use crate::pipeline::{
    At, Depth, PlacementOptions, Planned, Planner, Renderer, identity, together,
};
use crate::report::expect::{Done, Failure as Failed, Report};
use crate::report::findings;
use crate::report::losses::counted;
use crate::report::phrases::{first_of, plural};
use crate::secret::{MASK, Secrets};
use crate::source::{Source, SourceKind, SourceMap};
use crate::yaml::{Limits, Node, Origin, parse, split};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Check expectations: which runtime, accelerator, mode and GPUs services get, and fields of their
/// objects.
///
/// Cases are in files named `*.ome-test.yaml`. Exit codes: 0 every expectation is met, 1 a file
/// cannot be compared, 2 an expectation is not met. `ome schema ome-test -o json-schema` prints the
/// schema of the files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Files of expectations, or directories with `*.ome-test.yaml` files; without any, the current
    /// directory.
    #[arg(value_name = "PATH")]
    tests: Vec<PathBuf>,
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
    /// Replace the expected values that differ by today's answers; fill in `NAME: {}` of a service,
    /// `services: {}` for all services, and a FILE that does not exist.
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each case, and how to fix those that failed.
    #[default]
    Table,
    /// One JSON document; its schema has a version.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
    /// JUnit XML, a test case for each case.
    Junit,
}

/// Runs the cases and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let here = [PathBuf::from(".")];
    let given = if args.tests.is_empty() { &here[..] } else { &args.tests };
    let files: Vec<PathBuf> = given
        .iter()
        .flat_map(|path| if path.is_dir() { load::expectations(path) } else { vec![path.clone()] })
        .collect();
    if files.is_empty() {
        return Err(Failure::NotFound {
            message: "no file of expectations was found".into(),
            help: Some("name files, or call them `*.ome-test.yaml`; `ome test --record NEW.ome-test.yaml -f DIR` writes one".into()),
        });
    }
    let mut report = Report::default();
    let mut recorded = 0;
    // Many cases read the same files: each list of files is read once.
    let mut sessions: BTreeMap<Vec<PathBuf>, Session> = BTreeMap::new();
    for file in &files {
        let mut edits = Vec::new();
        if args.record && !file.exists() {
            recorded += begin(file, args)?;
        }
        for case in read(file, &mut report) {
            let paths = paths(file, &case, args);
            if !sessions.contains_key(&paths) {
                let input = InputArgs { files: paths.clone(), ..args.input.clone() };
                sessions.insert(paths.clone(), Session::open(&input, &ask(args)?)?);
            }
            let session = &sessions[&paths];
            let unread = not_read(&case, session);
            let incomplete = !unread.is_empty();
            report.found.extend(unread);
            let planned = planned(session)?;
            let misses = judge(&case, session, &planned)?;
            if args.record {
                edits.extend(pins(&case, &planned, &report.sources));
                edits.extend(misses.iter().filter_map(|miss| edit(&case, miss)));
            }
            // What was written into the file is no failure any more.
            let left = |miss: &Miss| !args.record || edit(&case, miss).is_none();
            let failures = misses
                .into_iter()
                .filter(left)
                .map(|miss| Failed::new(miss, &report.sources, &session.world.sources))
                .collect();
            report.cases.push(Done {
                file: file.display().to_string(),
                name: case.name.to_string(),
                failures,
                open: open(&case, &planned),
                incomplete,
            });
        }
        if record(file, &edits, &mut report)? {
            recorded += edits.len();
        }
    }
    findings::settle(&mut report.found, &report.sources, &Secrets::new(&report.sources));
    match args.output {
        Format::Json => io.print_json(&report.json())?,
        Format::Github => io.print(&report.github())?,
        Format::Junit => io.print(&report.junit())?,
        Format::Table => io.print(&report.text())?,
    }
    if args.output != Format::Json && !report.found.is_empty() {
        let style = io.err_style();
        io.say(&findings::shortened(&report.found, &report.sources, style));
    }
    if args.record {
        io.say(&format!("{} recorded\n", plural(recorded, "value")));
    }
    Ok(if !report.found.is_empty() {
        Outcome::CouldNot
    } else if report.failed() > 0 || args.input.strict && report.is_open() {
        Outcome::No
    } else {
        Outcome::Done
    })
}

/// Reads the cases of a file; findings about it are added to the report.
fn read(file: &Path, report: &mut Report) -> Vec<Case> {
    let text = match load::read_text(file, &Limits::default()) {
        Ok(text) => text,
        Err(finding) => {
            report.found.push(*finding);
            return Vec::new();
        }
    };
    let name = file.display().to_string();
    let id = report.sources.add(Source::new(name.as_str(), SourceKind::File, text.as_str()));
    let mut cases = Vec::new();
    let parts = split(id, &text);
    let mut found = parts.diagnostics;
    let mut empty = true;
    for part in parts.value {
        let document = parse(id, &text, part, &Limits::default());
        found.extend(document.diagnostics);
        if let Some(root) = document.value {
            empty = false;
            cases.extend(expect::cases(&root, &mut found));
        }
    }
    if empty && found.is_empty() {
        found.push(
            Diagnostic::new(Code::RequiredField, "the file holds no expectations")
                .in_file(name)
                .path("cases")
                .help("add `cases`"),
        );
    }
    report.found.extend(found);
    cases
}

/// The input of a case.
fn paths(file: &Path, case: &Case, args: &Args) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    match &case.files {
        Some(files) => files.iter().map(|path| folder.join(path.as_str())).collect(),
        None => args.input.files.clone(),
    }
}

/// The plan of every service in the input, placed together with everything else.
fn planned(session: &Session) -> Result<Vec<Planned<'_>>, Failure> {
    let planner = Planner::of(&session.world);
    let mut planned = planner.plan_all(&session.select(&[])?, Depth::Plan);
    let options = PlacementOptions::default();
    together(&planner, &mut planned, &mut Vec::new(), options);
    Ok(planned)
}

/// Returns the differences between a case and the decisions.
fn judge(case: &Case, session: &Session, planned: &[Planned<'_>]) -> Result<Vec<Miss>, Failure> {
    let catalog = &session.world.catalog;
    let mut misses: Vec<Miss> = Vec::new();
    for stated in &case.services {
        let of_name = |planned: &&Planned<'_>| expect::is_service(&stated.name, planned);
        if let Some(planned) = planned.iter().find(of_name) {
            misses.extend(expect::service(catalog, planned, stated));
            continue;
        }
        let planned: Vec<String> =
            planned.iter().map(|planned| planned.service.to_string()).collect();
        let near = nearest(&stated.name, planned.iter().map(String::as_str));
        misses.push(Miss::absent("services", stated, "service", near));
    }
    if !case.objects.is_empty() {
        let rendered = rendered(session)?;
        for stated in &case.objects {
            if let Some(node) = rendered.iter().find(|node| expect::is_object(&stated.name, node)) {
                misses.extend(expect::object(node, stated));
                continue;
            }
            let named = |id: ObjectRef| match stated.name.matches('/').count() {
                2 => id.to_string(),
                _ => format!("{}/{}", id.kind, id.name),
            };
            let rendered: Vec<String> = rendered.iter().map(identity).map(named).collect();
            let near = nearest(&stated.name, rendered.iter().map(String::as_str));
            misses.push(Miss::absent("objects", stated, "rendered object", near));
        }
    }
    if !case.findings.is_empty() {
        // These codes are what `validate` reports.
        let found = validate::everything(session)?;
        for (index, (code, span)) in case.findings.iter().enumerate() {
            if found.iter().any(|finding| finding.code.as_str() == code) {
                continue;
            }
            let mut codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
            codes.sort_unstable();
            codes.dedup();
            misses.push(Miss {
                path: format!("findings[{index}]"),
                span: *span,
                want: code.as_str().into(),
                message: format!("expected the finding `{code}`, which was not reported"),
                got: Some(codes.into()),
                reasons: Vec::new(),
                flip: None,
            });
        }
    }
    for (each, span) in &case.survives {
        let losses = what_if::losses(session, At::Min, *each)?;
        if losses.rows.is_empty() {
            continue;
        }
        let hurt: Vec<String> = losses.rows.iter().map(|row| row.without.to_string()).collect();
        misses.push(Miss {
            path: "survives".to_owned(),
            span: *span,
            want: each.as_str().into(),
            message: format!(
                "the fleet does not survive the loss of {} of {}: {}",
                hurt.len(),
                counted(losses.tried, *each),
                first_of(&hurt, 10)
            ),
            got: Some(hurt.into()),
            reasons: Vec::new(),
            flip: None,
        });
    }
    Ok(misses)
}

/// What is open of the expectations that are met, each with its path.
fn open(case: &Case, planned: &[Planned<'_>]) -> Vec<(String, String)> {
    let of_service = |stated: &Stated| {
        let planned = planned.iter().find(|planned| expect::is_service(&stated.name, planned))?;
        let why = stated.values.iter().find_map(|one| expect::open(planned, one))?;
        Some((format!("services.{}.fits", stated.name), why))
    };
    case.services.iter().filter_map(of_service).collect()
}

/// Parts of a case's input that were not read, unless the case states the finding: what is expected
/// may be in them. A link that leads nowhere is one, although other commands pass over it.
fn not_read(case: &Case, session: &Session) -> Vec<Diagnostic> {
    let links = session.world.unread.iter().filter(|found| found.code == Code::FileNotRead);
    let parts = session.gaps.iter().chain(links);
    // A case may expect the finding about what was not read.
    let unstated =
        parts.filter(|found| case.findings.iter().all(|(code, _)| code != found.code.as_str()));
    unstated
        .map(|found| {
            let place = found.span().map(|span| session.world.sources.locate(span).with_column());
            let file = place.or_else(|| found.file.clone()).unwrap_or_default();
            Diagnostic::new(found.code, found.message.clone())
                .severity(Severity::Error)
                .in_file(file)
                .maybe_help(found.help.clone())
        })
        .collect()
}

/// Every object that services and ModelServings become.
fn rendered(session: &Session) -> Result<Vec<Node>, Failure> {
    let renderer = Renderer::new(&session.world, "cluster.local");
    let (services, servings) = session.select_all(&[])?;
    let mut nodes = Vec::new();
    for views in services {
        let rendered = renderer.render(views, &mut Recorder::off());
        nodes.extend(rendered.written().iter().map(|object| object.node.clone()));
    }
    nodes.extend(servings.into_iter().map(|serving| serving.object.node.clone()));
    Ok(nodes)
}

/// The edit that makes an expectation today's answer: a scalar in the place of a scalar.
fn edit(case: &Case, miss: &Miss) -> Option<Replacement> {
    let stated = |list: &[Stated]| -> Option<Expected> {
        let mut values = list.iter().flat_map(|stated| &stated.values);
        values.find(|expected| expected.span == miss.span).cloned()
    };
    let expected = stated(&case.services).or_else(|| stated(&case.objects))?;
    // Values that are not shown are not written either.
    let is_shown = |got: &&serde_json::Value| !got.is_array() && !got.is_object() && *got != MASK;
    let got = miss.got.as_ref().filter(is_shown)?;
    expected.value.scalar_text().map(drop).or_else(|| expected.value.is_null().then_some(()))?;
    let span = expected.value.origin.span()?;
    let mut text = String::new();
    crate::yaml::write(&mut text, &Node::from_json(got, Origin::File(span)));
    let text = text.trim_end().to_owned();
    // A text of several lines has no place behind a key.
    if text.contains('\n') {
        return None;
    }
    Some(Replacement { span, insert: text })
}

/// The edits that state all services where none is stated, and all of a service where nothing is.
fn pins(case: &Case, planned: &[Planned<'_>], sources: &SourceMap) -> Vec<Replacement> {
    let all = case.no_services.filter(|_| !planned.is_empty()).map(|(key, span)| {
        let text = &sources.get(key.source).text;
        // In block style only indentation and dashes stand before the key.
        let before = text[..key.start as usize].rsplit('\n').next().unwrap_or_default();
        let is_block = before.chars().all(|before| matches!(before, ' ' | '-'));
        let insert =
            if is_block { actual::text(planned, before.len()) } else { actual::flow(planned) };
        Replacement { span, insert }
    });
    let one = case.services.iter().filter(|stated| stated.values.is_empty()).filter_map(|stated| {
        let planned = planned.iter().find(|planned| expect::is_service(&stated.name, planned))?;
        Some(Replacement { span: stated.place, insert: actual::line(planned) })
    });
    all.into_iter().chain(one).collect()
}

/// Expectations are about what the files say, on every machine: no overlay is built.
fn ask(args: &Args) -> Result<SessionOptions<'_>, Failure> {
    Ok(SessionOptions { builds: false, ..args.decision.ask()? })
}

/// Writes a file with one case: what all services get today. How many they are.
fn begin(file: &Path, args: &Args) -> Result<usize, Failure> {
    let session = Session::open(&args.input, &ask(args)?)?;
    let planned = planned(&session)?;
    if planned.is_empty() {
        return Err(session.not_found(
            format!("no InferenceService was read to record in {}", file.display()),
            Some("load some with `-f`".into()),
        ));
    }
    let text = format!("cases:\n- name: recorded\n  services:{}\n", actual::text(&planned, 2));
    // Another run may have written it by now: then it is compared.
    let mut is_new = true;
    emit::rewrite(file, |old| {
        is_new = old.is_none();
        Ok::<_, Failure>(old.map_or_else(|| text.into_bytes(), <[u8]>::to_vec))
    })?;
    Ok(if is_new { planned.len() } else { 0 })
}

/// Writes edits into a file of expectations whose text was compared. Whether they are written: a
/// file that somebody changed in the meantime is left as it is.
fn record(file: &Path, edits: &[Replacement], report: &mut Report) -> Result<bool, Failure> {
    let Some(first) = edits.first() else { return Ok(true) };
    let text = report.sources.get(first.span.source).text.clone();
    let left = match emit::fix::write(file, &text, &edits.iter().collect::<Vec<_>>()) {
        Ok(()) => return Ok(true),
        Err(Left::Io(error)) => return Err(error.into()),
        Err(left) => left,
    };
    let name = file.display();
    let finding = Diagnostic::new(Code::FileEdited, format!("`{name}` was not recorded: {left}"));
    report.found.push(finding.in_file(name.to_string()).help("run it again"));
    Ok(false)
}
