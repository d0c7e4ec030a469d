//! `ome diff`: the effect of a change of the manifests.

use crate::api::{ModelServing, Object, Views};
use crate::cli::args::{AtArg, DecisionArgs, InputArgs, PageFormat, SemanticsArg, release_names};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::{About, not_built, trees_with_services};
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, complete, names, unfilled};
use crate::diag::{Code, Diagnostic, quoted};
use crate::diff::{Capacity, Diff, Settings, State, diff, is_short, share_nodes};
use crate::load;
use crate::report::diff as view;
use crate::workspace::World;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Show what a change of the manifests does: services that change, pods that restart, GPUs before
/// and after, and the lines of the input that cause it.
///
/// The base is a file or directory, or a revision of the git repository that holds the paths of
/// `-f` and `-k`, which the program `git` reads without touching the working tree. A path that is
/// there goes before a revision of the same name: write `heads/NAME` for the branch.
///
/// With `--from-release` and `--to-release` the input is the same on both sides, and the release of
/// the operator differs. Exit codes: 0 no service and no workload changed, 1 the base or the input
/// cannot be read, 2 changes, or those that `--fail-on` names.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices and ModelServings, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE", add = complete::services())]
    services: Vec<String>,
    /// The state before: a path (repeatable), `-` for standard input, or a git revision [default:
    /// the merge base with the default branch].
    #[arg(long, value_name = "PATH|REV")]
    base: Vec<String>,
    /// The changes that make the exit code 2, instead of any change; repeatable, and one is enough:
    /// `restarts`, `errors` (new ones), `gpus>N` and `cost>N` (N more than before, in GPUs and in
    /// $/hour), `does-not-fit`, `any`.
    #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// The release of an operator before its upgrade, as `ome=v0.1.4`.
    ///
    /// Shows the effect of the upgrade on the same input; `ome catalog releases` lists them.
    #[arg(long, hide_possible_values = true, value_name = "OPERATOR=TAG", requires = "to_release", conflicts_with_all = ["base", "release"], value_parser = clap::builder::PossibleValuesParser::new(release_names()))]
    from_release: Option<String>,
    /// The release after the upgrade.
    #[arg(long, hide_possible_values = true, value_name = "OPERATOR=TAG", requires = "from_release", conflicts_with_all = ["base", "release"], value_parser = clap::builder::PossibleValuesParser::new(release_names()))]
    to_release: Option<String>,
    /// Decide on each side with the runtimes that its release of OME ships; they replace those of
    /// the input that have their names.
    #[arg(long, requires = "to_release")]
    own_catalog: bool,
    /// Place minReplicas, maxReplicas of everything at once, or what the input says runs.
    #[arg(long, value_enum, default_value_t)]
    at: AtArg,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<PageFormat>::new(), default_value_t)]
    output: PageFormat,
    /// Show every field of every object, not only what fits on a screen.
    #[arg(long)]
    all: bool,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    /// Run again whenever the input changes.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    decision: DecisionArgs,
}

impl Args {
    /// Returns the paths to watch, with `--watch`.
    pub(super) fn watched(&self) -> Option<Vec<PathBuf>> {
        let bases = self.base.iter().map(PathBuf::from);
        self.watch.then(|| self.input.watched().into_iter().chain(bases).collect())
    }
}

/// `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FailOn {
    Restarts,
    Errors,
    Gpus(i64),
    Cost(f64),
    DoesNotFit,
    Any,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_known =
            || "known are restarts, errors, gpus>N, cost>N, does-not-fit and any".to_owned();
        match text.split_once('>') {
            None if text == "restarts" => Ok(Self::Restarts),
            None if text == "errors" => Ok(Self::Errors),
            None if text == "does-not-fit" => Ok(Self::DoesNotFit),
            None if text == "any" => Ok(Self::Any),
            Some(("gpus", number)) => {
                let number = number.trim().parse::<u32>();
                number
                    .map(|number| Self::Gpus(number.into()))
                    .map_err(|_| "`gpus>N` takes a whole number, as in `gpus>8`".to_owned())
            }
            Some(("cost", number)) => match number.trim().parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => Ok(Self::Cost(number)),
                _ => Err("`cost>N` takes dollars per hour, as in `cost>12.5`".to_owned()),
            },
            _ => Err(is_known()),
        }
    }
}

impl FailOn {
    /// Whether a change meets the condition.
    fn is_met(self, answer: &Diff, after: &State<'_>, settings: Settings<'_>) -> bool {
        let summary = &answer.summary;
        match self {
            Self::Restarts => {
                summary.restarts > 0 || answer.changed_workloads().any(|(_, restarts)| restarts)
            }
            Self::Errors => summary.broken > 0,
            // An unknown number may be larger.
            Self::Gpus(most) => match (summary.gpus.from.number(), summary.gpus.to.number()) {
                (Some(from), Some(to)) => to - from > most,
                _ => true,
            },
            Self::Cost(most) => summary.costs.to.above(summary.costs.from) > most,
            Self::DoesNotFit => match &answer.capacity {
                Some(capacity) => capacity.after.pending > 0 || !capacity.displaced.is_empty(),
                None => is_short(after, settings),
            },
            Self::Any => {
                let lost =
                    |capacity: &Capacity| !capacity.lost.is_empty() || !capacity.new.is_empty();
                !answer.groups.is_empty()
                    || answer.changed_workloads().next().is_some()
                    || answer.workloads_that_go_and_come.iter().any(|names| !names.is_empty())
                    || answer.capacity.as_ref().is_some_and(lost)
            }
        }
    }
}

/// Reads both states, compares and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    one_operator(args)?;
    let ask = SessionOptions {
        compares: true,
        admitted: args.to_release.is_some(),
        shipped: args.own_catalog,
        ..args.decision.ask()?
    };
    let mut after = Session::open(&following(args, args.to_release.as_ref())?, &ask)?;
    let bases = bases(args);
    let before = match &bases {
        Ok(bases) => {
            let options =
                &SessionOptions { other_distributions: &after.distributions, ..ask.clone() };
            base(args, bases, options)?
        }
        Err(finding) => Err(finding.clone()),
    };
    let mut before = match before {
        Ok(before) => before,
        Err(finding) => {
            let found = after.grade([*finding]);
            if args.output.is_data() {
                io.print_json(&view::unread(&found, &after.world.sources))?;
            } else {
                after.say(&found, io);
            }
            return Ok(Outcome::CouldNot);
        }
    };
    // A state without a mark of its distribution is of the same one as the state before it.
    let marked = before.distributions.len() > after.distributions.len();
    if marked && !args.input.files.iter().any(|file| load::is_stdin(file)) {
        let options = SessionOptions { other_distributions: &before.distributions, ..ask.clone() };
        after = Session::open(&following(args, args.to_release.as_ref())?, &options)?;
    }
    share_nodes(&mut before.world.catalog, &mut after.world.catalog);
    let services = names::joined(&args.services);
    let mut sides = [side(&before, &services), side(&after, &services)];
    require(args, &services, &sides, [&before, &after])?;
    let mut unfilled = unfilled::take(&mut sides.each_mut());
    let nameless = sides.iter().flat_map(|side| State::nameless(side.world));
    unfilled.extend(nameless.map(|object| unfilled::name(&object.id)));
    let unknown = unknown(&mut sides, [&before, &after]);
    let settings = Settings {
        cluster_domain: &args.cluster_domain,
        places: args.fail_on.contains(&FailOn::DoesNotFit) || args.at != AtArg::Min,
        at: args.at.into(),
    };
    let mut answer = diff(&sides[0], &sides[1], settings);
    let base_found = before.settle([]);
    // Findings that both states have are no news.
    let old: BTreeSet<String> = base_found.iter().map(statement).collect();
    let found = after.settle(std::mem::take(&mut answer.diagnostics));
    let found = About::selected(&after, &sides[1].services, &sides[1].servings, &found)
        .every(services.is_empty())
        .also(if services.is_empty() { after.plain_workloads() } else { Vec::new() })
        .of(&after, found);
    // The page says at the service that its presets were not read.
    let is_news = |found: &&Diagnostic| {
        found.code != Code::PresetsNotRead && !old.contains(&statement(found))
    };
    let news: Vec<Diagnostic> = found.iter().filter(is_news).cloned().collect();
    let compared = match (&args.from_release, &args.to_release) {
        (Some(from), Some(to)) => format!("{from} → {to}"),
        _ => bases.unwrap_or_default().join(", "),
    };
    let rollout = rollout(args, &compared);
    let plan = format!("ome plan{}", after.proposals().arguments("plan"));
    let changed = after.changed_variants(&before);
    let view = view::View {
        rollout: rollout.as_deref(),
        plan: &plan,
        diff: &answer,
        readings: after.named_readings(),
        base: &compared,
        found: &found,
        sources: &after.world.sources,
        all: args.all,
        input: &after.world.input,
        base_input: &before.world.input,
        not_compared: &changed,
        has_placeholders: !unfilled.is_empty(),
    };
    Session::show_of(&[&after, &before], &view, args.output, &news, io)?;
    if matches!(args.output, PageFormat::Table | PageFormat::Markdown)
        && let Some(line) =
            not_compared((&found, &after.world), (&base_found, &before.world), &args.base)
    {
        io.say_line(&line);
    }
    if !args.output.is_data() {
        say_left_out(&after, &sides[1], &changed, &unfilled, io);
    }
    let unread = before.is_incomplete() || after.is_incomplete();
    let conditions = if args.fail_on.is_empty() { &[FailOn::Any][..] } else { &args.fail_on };
    // A change that was not compared is a change, too.
    let fails = conditions.iter().any(|condition| condition.is_met(&answer, &sides[1], settings))
        || (!changed.is_empty() && conditions.contains(&FailOn::Any));
    if unread {
        // Findings about the state before are shown if they hide a part of it.
        before.say(&before.grade(before.gaps.iter().cloned()), io);
        if !unknown.is_empty() {
            let names = unknown.into_iter().collect::<Vec<_>>().join(", ");
            io.say_line(&format!("unknown, because a part of the input was not read: {names}"));
        }
    }
    Ok(if unread {
        Outcome::CouldNot
    } else if fails {
        Outcome::No
    } else {
        Outcome::Done
    })
}

/// The states to compare with. Without any, a branch is compared with where it began.
fn bases(args: &Args) -> Result<Vec<String>, Box<Diagnostic>> {
    if args.base.is_empty() && args.to_release.is_none() {
        let paths = [&args.input.files[..], &args.input.kustomize].concat();
        load::merge_base(&paths).map(|commit| vec![commit]).map_err(|mut finding| {
            // `kubectl diff` and `diff` take what they compare with as arguments.
            if let Some(path) = args.services.iter().find(|named| Path::new(named).exists()) {
                finding.help =
                    Some(format!("to compare with `{path}`, name it: `--base {}`", quoted(path)));
            }
            finding
        })
    } else {
        Ok(args.base.clone())
    }
}

/// Checks that each service that was named is on one side: it may be new or gone.
fn require(
    args: &Args,
    services: &[String],
    sides: &[State<'_>; 2],
    [before, after]: [&Session; 2],
) -> Result<(), Failure> {
    let Some(missing) =
        services.iter().find(|wanted| sides.iter().all(|side| !has(side, after, wanted)))
    else {
        return Ok(());
    };
    let by_key = [before, after].into_iter().flat_map(|side| side.known_services(true));
    let mut help = names::instead_of(missing, by_key);
    if args.base.is_empty() && !help.starts_with("did you mean") {
        let base = quoted(missing);
        help = format!("{help}; a revision or path to compare with is `--base {base}`");
    }
    Err(after.not_found(format!("no service `{missing}` on either side"), Some(help)))
}

/// Says which definitions and services were not compared.
fn say_left_out(
    after: &Session,
    side: &State<'_>,
    changed: &[String],
    unfilled: &BTreeSet<String>,
    io: &mut Io<'_>,
) {
    let services = side.services.iter().map(|views| &views.followed().object);
    let shown = services.chain(side.servings.iter().map(|serving| &serving.object));
    let lines = [after.other_definitions(shown, "compared"), Session::changed_line(changed)];
    lines.iter().flatten().for_each(|line| io.say_line(line));
    if let Some(line) = unfilled::line("compared", unfilled) {
        io.say_line(&line);
    }
}

/// The overlays that were not built: what their patches change is not compared. Those of a revision
/// have its name in front, and are named where the new state has none. `-k` builds both sides at a
/// revision alone: of a base that is a path its own tree has to be built.
fn not_compared(
    after: (&[Diagnostic], &World),
    before: (&[Diagnostic], &World),
    bases: &[String],
) -> Option<String> {
    let (what, trees) = not_built(after.0, &trees_with_services(after.1))
        .or_else(|| not_built(before.0, &trees_with_services(before.1)))?;
    let whose = if trees.len() == 1 { "its" } else { "their" };
    let first = trees[0];
    let how = match bases {
        [base] if is_path(base) && base != "-" => {
            let inner = first.strip_prefix(base.as_str()).map(|rest| rest.trim_start_matches('/'));
            let old = Path::new(base).join(inner.unwrap_or(first));
            let new = quoted(inner.unwrap_or(first));
            // An absolute path says nothing about where the same directory was before.
            if old.is_dir() && old.starts_with(base) {
                let old = quoted(&old.to_string_lossy());
                format!(
                    "`kustomize build {old} | ome diff --base - -k {new}` compares what one of them builds"
                )
            } else {
                format!("`-k {new}` in place of `-f` needs a base that is built, too")
            }
        }
        _ => format!("`-k {first}` in place of `-f` compares what it builds"),
    };
    Some(format!("{what}, and {whose} patches are not compared: {how}"))
}

/// The command that shows the rollout of a service in this comparison, with `{}` for its name; none
/// between releases, or if standard input was read.
fn rollout(args: &Args, compared: &str) -> Option<String> {
    // Neither two releases nor standard input can be repeated for `rollout`.
    if args.to_release.is_some() || args.input.files.iter().any(|file| load::is_stdin(file)) {
        return None;
    }
    let input = args.input.proposals().arguments("rollout");
    let bases: Vec<&str> = match args.base.as_slice() {
        [] => vec![compared],
        bases => bases.iter().map(String::as_str).collect(),
    };
    if bases.contains(&"-") {
        return None;
    }
    let bases: Vec<String> = bases.into_iter().map(quoted).collect();
    Some(format!("ome rollout {{}} --base {}{input}", bases.join(" --base ")))
}

/// Two releases are those of one operator.
fn one_operator(args: &Args) -> Result<(), Failure> {
    let operator = |release: &Option<String>| {
        release.as_ref().and_then(|name| Some(name.split_once('=')?.0.to_owned()))
    };
    let (from, to) = (operator(&args.from_release), operator(&args.to_release));
    if let (Some(from), Some(to)) = (from, to)
        && from != to
    {
        return Err(Failure::Usage(format!(
            "`--from-release` names {from} and `--to-release` {to}: compare two releases of one operator"
        )));
    }
    if args.own_catalog && args.to_release.as_ref().is_some_and(|name| !name.starts_with("ome=")) {
        return Err(Failure::Usage(
            "`--own-catalog` needs two releases of OME: of no other operator the shipped runtimes are known".into(),
        ));
    }
    Ok(())
}

/// The arguments for reading the input under a compared release; unchanged without one.
fn following(args: &Args, release: Option<&String>) -> Result<InputArgs, Failure> {
    let Some(release) = release else { return Ok(args.input.clone()) };
    if args.input.files.iter().any(|file| load::is_stdin(file)) {
        return Err(Failure::Usage(
            "releases are compared over input that is read twice: name a file instead of `-`"
                .into(),
        ));
    }
    // A profile would pin both sides to one release.
    let kthena_profile = args.input.kthena_profile.filter(|_| !release.starts_with("kthena="));
    // The operator that is upgraded runs its code; the mode that is named is that of the others.
    let semantics = args.input.semantics.filter(|mode| *mode == SemanticsArg::Controller);
    Ok(InputArgs {
        semantics,
        release: vec![release.clone()],
        kthena_profile,
        typed: args.input.typed.clone().following(release),
        ..args.input.clone()
    })
}

/// Whether a base is a path, which wins over a revision of the same name.
fn is_path(base: &str) -> bool {
    base == "-" || Path::new(base).symlink_metadata().is_ok()
}

/// The state before: paths, else a revision.
fn base(
    args: &Args,
    bases: &[String],
    ask: &SessionOptions<'_>,
) -> Result<Result<Session, Box<Diagnostic>>, Failure> {
    if args.from_release.is_some() {
        return Session::open(&following(args, args.from_release.as_ref())?, ask).map(Ok);
    }
    match bases.iter().find(|base| !is_path(base)) {
        None => {
            let stdin = |files: &[PathBuf]| files.iter().any(|file| load::is_stdin(file));
            let files: Vec<PathBuf> = bases.iter().map(PathBuf::from).collect();
            if stdin(&files) && stdin(&args.input.files) {
                return Err(Failure::Usage(
                    "standard input can be the base or the new state, not both".into(),
                ));
            }
            Session::open_paths(&args.input, ask, files).map(Ok)
        }
        Some(revision) if bases.len() == 1 => Session::open_revision(&args.input, ask, revision),
        Some(missing) => Err(Failure::NotFound {
            message: format!("the base `{missing}` is not there"),
            help: Some(
                "several bases are paths; a revision cannot be combined with another base".into(),
            ),
        }),
    }
}

/// The services of a state that are requested.
fn side<'a>(session: &'a Session, names: &[String]) -> State<'a> {
    let catalog = &session.world.catalog;
    let wanted = |object: &Object, namespace: &str| {
        names.is_empty() || names.iter().any(|wanted| session.is_named(wanted, object, namespace))
    };
    let services: Vec<&Views> = catalog
        .services()
        .filter(|views| {
            let service = views.followed();
            session.is_in_namespace(&service.namespace)
                && session.is_selected(&service.object)
                && wanted(&service.object, &service.namespace)
        })
        .collect();
    let servings: Vec<&ModelServing> = catalog
        .model_servings()
        .iter()
        .filter(|serving| {
            session.is_in_namespace(&serving.namespace)
                && session.is_selected(&serving.object)
                && wanted(&serving.object, &serving.namespace)
        })
        .collect();
    // Capacity compares all workloads of no operator, whatever services are named.
    State { world: &session.world, services, servings, workloads: Vec::new() }
}

/// Takes out services that only one state has if the other was not read as a whole: they may be in
/// the part that was not read. Returns their names.
fn unknown(sides: &mut [State<'_>; 2], sessions: [&Session; 2]) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    for (index, other) in [(0, 1), (1, 0)] {
        // What a complete side lacks is gone; what an incomplete one lacks is unknown.
        if !sessions[other].is_incomplete() {
            continue;
        }
        let id = |object: &Object| (object.api, object.id.clone());
        let services = sides[other].services.iter().map(|views| id(&views.documented.object));
        let servings = sides[other].servings.iter().map(|serving| id(&serving.object));
        let there: HashSet<_> = services.chain(servings).collect();
        let mut keep = |object: &Object, namespace: &str| {
            let is_there = there.contains(&id(object));
            if !is_there {
                unknown.insert(format!("{namespace}/{}", object.id.name));
            }
            is_there
        };
        sides[index].services.retain(|views| {
            let service = &views.documented;
            keep(&service.object, &service.namespace)
        });
        sides[index].servings.retain(|serving| keep(&serving.object, &serving.namespace));
    }
    unknown
}

/// Whether a state has a service of this name.
fn has(side: &State<'_>, session: &Session, wanted: &str) -> bool {
    let service = |views: &&Views| {
        let service = views.followed();
        session.is_named(wanted, &service.object, &service.namespace)
    };
    side.services.iter().any(service)
        || side
            .servings
            .iter()
            .any(|serving| session.is_named(wanted, &serving.object, &serving.namespace))
}

/// The content of a finding without its position: an edit above a finding does not make it new.
fn statement(found: &Diagnostic) -> String {
    format!("{} {:?} {:?} {}", found.code.as_str(), found.objects, found.path, found.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn a_finding_that_moved_is_not_a_new_one() {
        let finding = |code: Code, path: &str, message: &str| {
            Diagnostic::new(code, message).path(path).object("InferenceService/ml/a")
        };
        let one = finding(Code::InvalidValue, "spec.a", "wrong");
        let span = Span { source: crate::source::SourceId(0), start: 5, end: 9 };
        assert_eq!(statement(&one), statement(&one.clone().at(Some(span))));
        for other in [
            finding(Code::InvalidType, "spec.a", "wrong"),
            finding(Code::InvalidValue, "spec.b", "wrong"),
            finding(Code::InvalidValue, "spec.a", "still wrong"),
        ] {
            assert_ne!(statement(&one), statement(&other));
        }
    }

    #[test]
    fn a_path_in_the_place_of_a_service_is_a_base() {
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let ran = crate::testing::ome_on("diff {a.yaml} -f {.}", &[("a.yaml", map)]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains("/a.yaml`, name it: `--base "), "{}", ran.err);
    }

    #[test]
    fn the_step_to_what_was_not_built_builds_both_sides() {
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let tree = "resources: [a.yaml]\npatches: [{patch: '[]', target: {kind: ConfigMap}}]\n";
        let files = [
            ("new/_archive/kustomization.yaml", tree),
            ("new/_archive/a.yaml", map),
            ("new/prod/kustomization.yaml", tree),
            ("new/prod/a.yaml", map),
            ("old/a.yaml", map),
        ];
        let ran = crate::testing::ome_on("diff --base {.}/old -f {.}/new", &files);
        assert!(ran.err.starts_with("2 overlays were not built"), "{}", ran.err);
        assert!(ran.err.contains("/new/prod` in place of `-f` needs a base"), "{}", ran.err);
    }
}
