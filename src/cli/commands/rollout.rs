//! `ome rollout`: what a change does to pods, in which order, and where it gets stuck.

use crate::api::{ComponentKind, ModelServing};
use crate::catalog::Views;
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat};
use crate::cli::input::{Ask, Session};
use crate::cli::{Failure, Io, Outcome};
use crate::cluster::{Inventory, Shape};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::operators::kthena::objects::{names, too_many_pods};
use crate::operators::kthena::read as kthena;
use crate::operators::kthena::rollout::{Before, Scenario, fits};
use crate::pipeline::{
    self, ComponentRollout, Depth, Planner, Renderer, RunningPods, ServiceChange, roll,
};
use crate::policy::Admission;
use crate::report::roll::is_stuck;
use crate::report::{findings, rollout, table, waves};
use ecow::EcoString;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show what a change does to pods: in which order, with what capacity, and where it gets stuck.
///
/// An InferenceService is played on the Nodes that are read, beside the pods that run. Without
/// --from its own pods among the input are the beginning, else nothing exists before. Exit codes: 0
/// the new state is reached, 1 the input is invalid, 2 stuck.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// ModelServing or InferenceService, as NAME or NAMESPACE/NAME.
    #[arg(value_name = "NAME")]
    name: String,
    /// What is applied before: a path, repeatable, one after the other, or a git revision. A Pod
    /// document sets the annotations of that pod.
    #[arg(long, value_name = "PATH|REV")]
    from: Vec<PathBuf>,
    /// A container of this pod crashes after everything has settled; under the document's rules a
    /// pod that the change creates does not get ready. Repeatable.
    #[arg(long, value_name = "pod/NAME")]
    fail: Vec<String>,
    /// A pod of this name never gets ready once the change is applied. Repeatable.
    #[arg(long, value_name = "pod/NAME")]
    stuck: Vec<String>,
    /// This pod is not ready before the change, and stays so until another one replaces it.
    /// Repeatable.
    #[arg(long, value_name = "pod/NAME")]
    pending: Vec<String>,
    /// Pods end and get ready in one group at a time, the highest ordinal first.
    #[arg(long)]
    stagger: bool,
    /// Also print every request, in order (with `-o table`).
    #[arg(long)]
    steps: bool,
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: PageFormat,
    #[command(flatten)]
    decision: DecisionArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// Plays the change and prints it.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let ask = args.decision.ask()?;
    let session = Session::open(&args.input, &ask)?;
    let mut earlier = Vec::new();
    for path in &args.from {
        earlier.push(before(args, path, &ask)?);
    }
    match session.model_servings(&args.name)[..] {
        [] => {}
        [serving] => return model_serving(args, &session, &earlier, serving, io),
        [first, ..] => {
            return Err(Failure::NotFound {
                message: format!("several ModelServings are named `{}`", args.name),
                help: Some(format!(
                    "write `{}/{}`, or name a namespace with `-n`",
                    first.namespace,
                    first.name()
                )),
            });
        }
    }
    if let Ok(views) = session.select(std::slice::from_ref(&args.name)) {
        return inference_service(args, &session, &earlier, views[0], io);
    }
    let servings =
        session.world.catalog.model_servings().iter().map(|serving| serving.name().as_str());
    let services = session
        .world
        .catalog
        .services()
        .iter()
        .map(|views| views.of(session.semantics).name().as_str());
    let near = nearest(&args.name, servings.chain(services));
    Err(Failure::NotFound {
        message: format!("no ModelServing or InferenceService `{}`", args.name),
        help: near
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| Some("load it with `-f`".into())),
    })
}

/// A state before: a path, else a revision of the repository that holds the input.
fn before(args: &Args, path: &Path, ask: &Ask<'_>) -> Result<Session, Failure> {
    if path == Path::new("-") || path.symlink_metadata().is_ok() {
        let input = InputArgs { files: vec![path.to_owned()], ..args.input.clone() };
        return Session::open(&input, ask);
    }
    let revision = path.to_string_lossy();
    Session::open_revision(&args.input, ask, &revision)?.map_err(|finding| Failure::NotFound {
        message: format!("`{revision}` is neither a path nor a revision: {}", finding.message),
        help: finding.help.clone(),
    })
}

fn model_serving(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    to: &ModelServing,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let mut from = Vec::new();
    for (before, path) in earlier.iter().zip(&args.from) {
        let named = |serving: &&ModelServing| {
            serving.name() == to.name() && serving.namespace == to.namespace
        };
        let Some(serving) = before.world.catalog.model_servings().iter().find(named) else {
            return Err(Failure::NotFound {
                message: format!(
                    "no ModelServing `{}/{}` in {}",
                    to.namespace,
                    to.name(),
                    path.display()
                ),
                help: Some("`--from` names the file of the state before".into()),
            });
        };
        from.push(Before { serving, costs: costs(before, &to.namespace) });
    }
    // Every file is a change of the one before it; what is wrong with it is said of that file.
    let refused = |at: usize, after: &ModelServing| {
        let before = at.checked_sub(1).and_then(|earlier| from.get(earlier));
        before.map(|before| refused_change(before.serving, after, session)).unwrap_or_default()
    };
    let before_found: Vec<Vec<Diagnostic>> = earlier
        .iter()
        .zip(&from)
        .enumerate()
        .map(|(at, (before, state))| before.settle(refused(at, state.serving)))
        .collect();
    let changed: Vec<Diagnostic> = refused(from.len(), to);
    let broken = |found: &[Diagnostic]| found.iter().any(|found| found.severity == Severity::Error);
    let too_many = too_many_pods(to).is_some()
        || from.iter().any(|before| too_many_pods(before.serving).is_some());
    let found = session.settle(changed.iter().cloned());
    for (before, found) in earlier.iter().zip(&before_found) {
        before.say(found, io);
    }
    if too_many || broken(&found) || before_found.iter().any(|found| broken(found)) {
        let all = as_json(session, &found, earlier, &before_found);
        if args.output == PageFormat::Json {
            io.print_json(&json!({ "schemaVersion": crate::report::SCHEMA_VERSION, "steps": [], "stages": [], "groupSteps": [], "findings": all }))?;
        }
        session.say(&found, io);
        return Ok(Outcome::CouldNot);
    }

    let names = |given: &[String]| {
        given
            .iter()
            .map(|name| EcoString::from(name.strip_prefix("pod/").unwrap_or(name)))
            .collect()
    };
    let scenario = Scenario {
        policy: session.kthena,
        from,
        to,
        pending: names(&args.pending),
        stuck: names(&args.stuck),
        fail: names(&args.fail),
        stagger: args.stagger,
    };
    let (mut outcome, said) = crate::operators::kthena::rollout::findings::play(&scenario);
    if let Some(unknown) = outcome.unknown.first() {
        return Err(Failure::NotFound {
            message: format!("`{}` has no pod `{unknown}` in this rollout", to.name()),
            help: Some(format!(
                "pods are named as `{}-0-{}-0-0`",
                to.name(),
                to.roles.first().map_or("ROLE", |role| role.name.value.as_str())
            )),
        });
    }
    let found = session.settle(said.into_iter().chain(changed));
    let running = RunningPods::new(session.world.catalog.others());
    let others = running.of_others(&to.namespace, to.name());
    let shapes: Vec<(EcoString, Shape)> =
        others.into_iter().map(|pod| (pod.node.clone(), pod.shape())).collect();
    let used = shapes.iter().map(|(node, shape)| (node, shape));
    let inventory = Inventory::new(session.world.catalog.machines(), used);
    let fits = inventory.and_then(|inventory| fits(&outcome.trace, &scenario, &inventory));
    if let Some(fits) = &fits {
        outcome.stop_where_nothing_fits(fits);
    }
    let json = as_json(session, &found, earlier, &before_found);
    // Warnings of a page that is copied elsewhere would stay behind on stderr.
    let about = to.object.id.to_string();
    let notes: Vec<&Diagnostic> = found
        .iter()
        .filter(|finding| finding.severity < Severity::Error && finding.objects.contains(&about))
        .collect();
    let view = rollout::Rollout {
        semantics: session.semantics,
        profile: session.kthena.profile,
        from: scenario.from.last().map(|before| before.serving),
        to,
        outcome: &outcome,
        fits: fits.as_deref(),
        notes: &notes,
        found: &json,
    };
    match args.output {
        PageFormat::Json => io.print_json(&view)?,
        PageFormat::Table => {
            session.say(&found, io);
            let style = table::Style { color: io.out_color(), width: io.width() };
            io.print(&view.text(style))?;
            if args.steps {
                io.print(&format!("\n{}", view.steps_text()))?;
            }
        }
        PageFormat::Markdown => {
            session.say(&found, io);
            io.print(&view.markdown())?;
        }
        PageFormat::Html => {
            session.say(&found, io);
            io.print(&view.html())?;
        }
    }
    let no = outcome.stuck.is_some() || fits.is_some_and(|fits| fits.contains(&false));
    let ended = session.outcome(&found, false);
    Ok(if no { ended.and(Outcome::No) } else { ended })
}

/// What a server says to the change. What the document allows and a server refuses is a warning.
fn refused_change(from: &ModelServing, to: &ModelServing, session: &Session) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    kthena::check_change(&from.object.node, &to.object.node, &mut refused);
    if session.kthena.admission == Admission::Server {
        return refused;
    }
    refused
        .into_iter()
        .map(|found| Diagnostic { code: Code::ServerRefuses, ..found }.severity(Severity::Warning))
        .collect()
}

fn as_json(
    session: &Session,
    found: &[Diagnostic],
    earlier: &[Session],
    before: &[Vec<Diagnostic>],
) -> Vec<Value> {
    let mut all: Vec<Value> =
        found.iter().map(|found| findings::json(found, &session.world.sources)).collect();
    for (session, found) in earlier.iter().zip(before) {
        all.extend(found.iter().map(|found| findings::json(found, &session.world.sources)));
    }
    all
}

/// Deletion costs that Pod documents of a state give.
fn costs(session: &Session, namespace: &str) -> Vec<(EcoString, i64)> {
    let pods = session.world.catalog.others().iter().filter(|object| {
        object.id.kind == "Pod"
            && object.id.scope.namespace().is_some_and(|found| found == namespace)
    });
    pods.filter_map(|pod| {
        Some((
            pod.id.name.clone(),
            names::deletion_cost(pod.annotation(names::DELETION_COST)?.as_str()?),
        ))
    })
    .collect()
}

fn inference_service(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    views: &Views,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let service = views.of(session.semantics);
    let renderer = Renderer::new(&session.world.catalog, session.semantics, "cluster.local");
    let after = renderer.render(views, &mut ());
    let mut change = ServiceChange { before: None, after: views };
    let before = match earlier.last() {
        Some(before) => {
            let same = |views: &&Views| {
                let other = views.of(before.semantics);
                other.name() == service.name()
                    && other.namespace == service.namespace
                    && other.object.api == service.object.api
            };
            let views = before.world.catalog.services().iter().find(same).ok_or_else(|| {
                Failure::NotFound {
                    message: format!(
                        "no InferenceService `{}/{}` in the state before",
                        service.namespace,
                        service.name()
                    ),
                    help: Some("`--from` names the file of the state before".into()),
                }
            })?;
            change.before = Some((&before.world.catalog, views));
            Renderer::new(&before.world.catalog, before.semantics, "cluster.local")
                .render(views, &mut ())
                .objects
        }
        None => Vec::new(),
    };
    let planned =
        Planner::new(&session.world.catalog, session.semantics).plan_all(&[views], Depth::Plan);
    let pods = |kind: ComponentKind| {
        let components = planned.iter().flat_map(|planned| &planned.components);
        components
            .filter(|component| component.kind == kind)
            .map(pipeline::PlannedComponent::least_pods)
            .sum()
    };
    let workloads = crate::diff::waves::workloads(&before, &after.objects, pods);
    let waves = crate::diff::waves::waves(&after.objects);
    let found = session.settle(after.diagnostics);
    let rolled = if after.error.is_some() {
        None
    } else {
        roll(&session.world.catalog, session.semantics, &[change])
    };
    let components: Vec<ComponentRollout> =
        rolled.into_iter().flatten().flat_map(|rolled| rolled.components).collect();
    let sources = &session.world.sources;
    let view = waves::Waves {
        semantics: session.semantics,
        service,
        waves: &waves,
        workloads: &workloads,
        components: &components,
    };
    match args.output {
        PageFormat::Json => io.print_json(&view.json(&found, sources))?,
        PageFormat::Table => {
            session.say(&found, io);
            let style = table::Style { color: io.out_color(), width: io.width() };
            io.print(&view.text(sources, style))?;
        }
        PageFormat::Markdown => {
            session.say(&found, io);
            io.print(&view.markdown(sources))?;
        }
        PageFormat::Html => {
            session.say(&found, io);
            io.print(&view.html(sources).map_err(Failure::Usage)?)?;
        }
    }
    let outcome = session.outcome(&found, after.error.is_some());
    Ok(if is_stuck(&components) { outcome.and(Outcome::No) } else { outcome })
}
