//! `ome diff`: what a change of the manifests does.

use crate::api::{ModelServing, Object};
use crate::catalog::Views;
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat};
use crate::cli::input::{Ask, Session};
use crate::cli::{Failure, Io, Outcome, names};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::pipeline::diff::{Settings, Side, diff};
use crate::report::{diff as view, table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show what a change of the manifests does: services that become something else, pods that
/// restart, GPUs before and after, and the lines of the input that cause it.
///
/// The base is a file or directory, or a revision of the git repository that holds the paths of
/// `-f`, which is read without a checkout by the program `git`. A path that is there goes before a
/// revision of the same name: write `heads/NAME` for the branch. Exit codes: 0 nothing changed, 1
/// the base or the input cannot be read, 2 changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// InferenceServices and ModelServings, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE")]
    services: Vec<String>,
    /// The state before: a path (repeatable), `-` for standard input, or a git revision.
    #[arg(long, value_name = "PATH|REV", required = true)]
    base: Vec<String>,
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: PageFormat,
    /// Show every field of every object, not only what fits on a screen.
    #[arg(long)]
    all: bool,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    #[command(flatten)]
    decision: DecisionArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// Reads both states, compares and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let ask = args.decision.ask()?;
    let after = Session::open(&args.input, &ask)?;
    let before = match base(args, &ask)? {
        Ok(before) => before,
        Err(finding) => {
            let found = after.grade([*finding]);
            match args.output {
                PageFormat::Json => io.print_json(&view::unread(&found, &after.world.sources))?,
                PageFormat::Table | PageFormat::Markdown | PageFormat::Html => {
                    after.say(&found, io);
                }
            }
            return Ok(Outcome::CouldNot);
        }
    };
    let services = names::joined(&args.services);
    let sides = [side(&before, &services), side(&after, &services)];
    if let Some(missing) =
        services.iter().find(|wanted| sides.iter().all(|side| !has(side, &after, wanted)))
    {
        let near = [&before, &after].into_iter().flat_map(known_names);
        let near =
            nearest(names::last(missing), near).map(|near| format!("did you mean `{near}`?"));
        return Err(Failure::NotFound {
            message: format!("no service `{missing}` on either side"),
            help: near.or_else(|| Some("load it with `-f`".into())),
        });
    }
    let settings = Settings {
        semantics: after.semantics,
        cluster_domain: &args.cluster_domain,
        kthena: after.kthena,
    };
    let mut answer = diff(&sides[0], &sides[1], settings);
    let base_found = before.settle([]);
    let old: BTreeSet<String> = base_found.iter().map(statement).collect();
    let found = after.settle(std::mem::take(&mut answer.diagnostics));
    let news: Vec<Diagnostic> =
        found.iter().filter(|found| !old.contains(&statement(found))).cloned().collect();
    let view = view::View {
        diff: &answer,
        semantics: after.semantics,
        base: &args.base.join(", "),
        found: &found,
        sources: &after.world.sources,
        all: args.all,
    };
    match args.output {
        PageFormat::Json => io.print_json(&view.json())?,
        PageFormat::Table => {
            after.say(&news, io);
            io.print(&view.text(table::Style { color: io.out_color(), width: io.width() }))?;
        }
        PageFormat::Markdown => {
            after.say(&news, io);
            io.print(&view.markdown().map_err(Failure::Usage)?)?;
        }
        PageFormat::Html => {
            after.say(&news, io);
            io.print(&view.html().map_err(Failure::Usage)?)?;
        }
    }
    let unread = base_found.iter().chain(&found).any(hides);
    let changes = !answer.groups.is_empty();
    if unread {
        io.say("the answer is incomplete: some of the input was not read\n");
    }
    Ok(if unread {
        Outcome::CouldNot
    } else if changes {
        Outcome::No
    } else {
        Outcome::Done
    })
}

/// The state before: paths, else a revision.
fn base(args: &Args, ask: &Ask<'_>) -> Result<Result<Session, Box<Diagnostic>>, Failure> {
    let is_path = |base: &String| base == "-" || Path::new(base).symlink_metadata().is_ok();
    match args.base.iter().find(|base| !is_path(base)) {
        None => {
            let stdin = |files: &[PathBuf]| files.iter().any(|file| file == Path::new("-"));
            let files: Vec<PathBuf> = args.base.iter().map(PathBuf::from).collect();
            if stdin(&files) && stdin(&args.input.files) {
                return Err(Failure::Usage(
                    "standard input is either the base or the new state: `-` stands in both".into(),
                ));
            }
            Session::open(&InputArgs { files, ..args.input.clone() }, ask).map(Ok)
        }
        Some(revision) if args.base.len() == 1 => {
            Session::open_revision(&args.input, ask, revision)
        }
        Some(missing) => Err(Failure::NotFound {
            message: format!("the base `{missing}` is not there"),
            help: Some("several bases are paths; a revision stands alone".into()),
        }),
    }
}

/// The services of a state that are asked for.
fn side<'a>(session: &'a Session, names: &[String]) -> Side<'a> {
    let catalog = &session.world.catalog;
    let wanted = |object: &Object, namespace: &str| {
        names.is_empty() || names.iter().any(|wanted| session.is_named(wanted, object, namespace))
    };
    let services: Vec<&Views> = catalog
        .services()
        .iter()
        .filter(|views| {
            let service = views.of(session.semantics);
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
    Side { world: &session.world, services, servings }
}

/// Whether a state has a service of this name.
fn has(side: &Side<'_>, session: &Session, wanted: &str) -> bool {
    let service = |views: &&Views| {
        let service = views.of(session.semantics);
        session.is_named(wanted, &service.object, &service.namespace)
    };
    side.services.iter().any(service)
        || side
            .servings
            .iter()
            .any(|serving| session.is_named(wanted, &serving.object, &serving.namespace))
}

fn known_names(session: &Session) -> impl Iterator<Item = &str> {
    let services = session
        .world
        .catalog
        .services()
        .iter()
        .map(|views| views.of(session.semantics).name().as_str());
    services
        .chain(session.world.catalog.model_servings().iter().map(|serving| serving.name().as_str()))
}

/// What a finding says, wherever it stands: an edit above it moves it and makes it no news.
fn statement(found: &Diagnostic) -> String {
    format!("{} {:?} {:?} {}", found.code.as_str(), found.objects, found.path, found.message)
}

/// Whether a finding means that a part of the input is not known.
fn hides(found: &Diagnostic) -> bool {
    let reader = matches!(
        found.code,
        Code::YamlSyntax
            | Code::NotUtf8
            | Code::UndefinedAlias
            | Code::AliasCycle
            | Code::ExpansionLimit
            | Code::FileSizeLimit
            | Code::DepthLimit
            | Code::NodeLimit
            | Code::FileNotRead
            | Code::NoFiles
            | Code::NotKubernetes
            | Code::OtherKind
    );
    reader && found.severity == Severity::Error
}
