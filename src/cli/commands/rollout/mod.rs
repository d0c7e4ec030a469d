//! `ome rollout`: the effect of a change on pods, its order, and where it is stuck.

mod all;
mod service;
mod serving;
mod troubles;
mod workload;

use crate::api::Object;
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::names;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome};
use crate::cluster as machines;
use crate::diff::share_nodes;
use crate::pipeline::{
    Changes, ComponentRollout, Doubts, RollOptions, RunningPods, ServiceRollout, State, changed,
    leave_open, roll,
};
use crate::report::roll::{is_displaced, is_stuck};
use crate::report::roll_all::{self, Displaced};
use std::path::{Path, PathBuf};

/// Show what a change does to pods: in which order, with what capacity, and where it gets stuck.
///
/// An InferenceService, and a Deployment, StatefulSet, DaemonSet or LeaderWorkerSet of the input, is
/// simulated on the Nodes in the input, together with the running pods.
/// Without --from, the pods of the service in the input are the state before; without any, nothing
/// exists before. With --all the whole fleet is simulated, all changes at the same time. Exit
/// codes: 0 the new state is reached, 1 the input is invalid, 2 stuck.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// ModelServing or InferenceService, as NAME or NAMESPACE/NAME; another workload as TYPE/NAME or
    /// TYPE/NAMESPACE/NAME, with the types of kubectl: `deploy/web`, `sts/db`, `ds/agent`.
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all", add = crate::cli::complete::services())]
    name: Option<String>,
    /// All InferenceServices, ModelServings and other workloads together: the changed ones roll at the
    /// same time, the others keep their pods.
    #[arg(long)]
    all: bool,
    /// The state before the change: a path, repeatable, applied one after the other, or a git
    /// revision. A Pod document sets the annotations of that pod.
    #[arg(long, visible_alias = "base", value_name = "PATH|REV")]
    from: Vec<PathBuf>,
    /// A container of this pod crashes after everything has settled; under the document's rules a
    /// pod that the change creates does not get ready. Of an InferenceService, and of all services
    /// with --all: the containers of the component's new pods never start. Repeatable.
    #[arg(long, value_name = "pod/NAME|SERVICE/COMPONENT", add = crate::cli::complete::components())]
    fail: Vec<String>,
    /// A pod of this name never gets ready once the change is applied. Of an InferenceService, and
    /// of all services with --all: the component's new pods. Repeatable.
    #[arg(long, value_name = "pod/NAME|SERVICE/COMPONENT", add = crate::cli::complete::components())]
    stuck: Vec<String>,
    /// New pods of this component of an InferenceService, or with --all of this role of a
    /// ModelServing (`groups`: of all its roles), need so many ticks to get ready, 4 when no number
    /// is given; others need one. Repeatable.
    #[arg(long, value_name = "SERVICE/COMPONENT[=TICKS]", add = crate::cli::complete::components())]
    slow: Vec<String>,
    /// This pod is not ready before the change, and stays so until another one replaces it.
    /// Repeatable.
    #[arg(long, value_name = "pod/NAME")]
    pending: Vec<String>,
    /// Pods terminate and become ready in one group at a time, the highest ordinal first.
    #[arg(long)]
    stagger: bool,
    /// Also print every request, in order (with `-o table`).
    #[arg(long)]
    steps: bool,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<PageFormat>::new(), default_value_t)]
    output: PageFormat,
    #[command(flatten)]
    decision: DecisionArgs,
}

impl Args {
    /// Whether no flag is set that only the simulation of a single ModelServing supports.
    fn is_plain(&self) -> bool {
        !self.has_troubles() && !self.steps
    }

    /// Whether pods of a single ModelServing start otherwise than at once.
    fn has_troubles(&self) -> bool {
        let named = [&self.pending, &self.stuck, &self.fail];
        self.stagger || named.into_iter().any(|pods| !pods.is_empty())
    }
}

/// Plays the change and prints it.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let ask = SessionOptions { compares: true, skips_builtin: args.all, ..args.decision.ask()? };
    let mut session = Session::open(&args.input, &ask)?;
    let mut earlier = Vec::new();
    for path in &args.from {
        let ask = SessionOptions { other_distributions: &session.distributions, ..ask.clone() };
        earlier.push(before(args, path, &ask)?);
    }
    if let Some(before) = earlier.last_mut() {
        share_nodes(&mut before.world.catalog, &mut session.world.catalog);
    }
    let Some(name) = &args.name else { return all::run(args, &session, &earlier, io) };
    match session.model_servings(name)[..] {
        [] => {}
        [serving] => {
            // A serving that runs is simulated from its pods.
            let runs = || RunningPods::new(session.world.catalog.others()).runs(serving);
            let has_nodes = machines::is_known(session.world.catalog.machines());
            if earlier.is_empty() && args.is_plain() && has_nodes && runs() {
                return all::of_running(args, &session, serving, io);
            }
            return serving::run(args, &session, &earlier, serving, io);
        }
        [first, ..] => return Err(ambiguous("ModelServings", name, &first.namespace)),
    }
    match session.select(std::slice::from_ref(name)).unwrap_or_default()[..] {
        [] => {}
        [views] => {
            let object = &views.followed().object;
            if session.world.catalog.is_unfilled(object) {
                return Err(unfilled(&session, object, name));
            }
            return service::run(args, &session, &earlier, views, io);
        }
        [first, ..] => {
            let namespace = &first.followed().namespace;
            return Err(ambiguous("InferenceServices", name, namespace));
        }
    }
    match session.plain_workloads_named(name)[..] {
        [] => Err(workload::unknown(&session, name)),
        [object] => workload::run(args, &session, &earlier, object, io),
        [first, second, ..] => Err(workload::ambiguous(name, first, second)),
    }
}

/// Nothing can be simulated.
fn no_nodes(session: &Session) -> Failure {
    session.not_found(
        "no Node in the input has `status.allocatable`, so nothing can be simulated".into(),
        Some("load Nodes with `-f`: `kubectl get nodes -o yaml`".into()),
    )
}

/// Of an object with placeholders nothing is known.
fn unfilled(session: &Session, object: &Object, name: &str) -> Failure {
    let file = &session.world.sources.get(object.span.source).name;
    session.not_found(
        format!("`{name}` has placeholders, so nothing is known of its rollout"),
        Some(format!("fill them in: `envsubst < {file} | ome rollout {name} -f -`")),
    )
}

/// Whether pods of a component are stuck or lose their nodes, or pods of something else do.
fn ends_badly(components: &[ComponentRollout], displaced: &[Displaced]) -> bool {
    is_stuck(components) || is_displaced(components) || displaced.iter().any(Displaced::is_loss)
}

/// The rollout of one of all changes.
struct One {
    rollout: ServiceRollout,
    /// What else loses its nodes.
    displaced: Vec<Displaced>,
    /// What the change leaves open.
    doubts: Doubts,
}

/// The rollout of one change on the whole input, simulated as in `--all`; `None` if no node reports its
/// resources.
fn one_of_all(
    session: &Session,
    earlier: &[Session],
    position: impl FnOnce(&Changes<'_>) -> Result<usize, Failure>,
    options: impl FnOnce(usize) -> Result<RollOptions, Failure>,
) -> Result<Option<One>, Failure> {
    let now = State::all(&session.world);
    let then = earlier.last().map(|before| State::all(&before.world));
    let changes = Changes::between(then.as_ref(), &now);
    let only = position(&changes)?;
    let options = RollOptions { only: Some(only), ..options(only)? };
    let Some(mut rolled) = roll(&session.world, &changes, &options) else {
        return Ok(None);
    };
    let doubts = doubts(session, earlier, &mut rolled, Some(only), changes.may_create());
    let rollout = rolled.remove(only);
    Ok(Some(One { rollout, displaced: roll_all::displaced(&rolled), doubts }))
}

/// What the end of a change leaves open, of one or of all, by the placement that `plan` shows; where nothing
/// changes, only whether a part of the input was not read. Ends that hang on it are taken back.
fn doubts(
    session: &Session,
    earlier: &[Session],
    rolled: &mut [ServiceRollout],
    only: Option<usize>,
    may_create: bool,
) -> Doubts {
    // A placement costs as much as a plan. What is not simulated may be created all the same.
    let mut doubts = if changed(rolled).is_empty() && !may_create {
        Doubts::default()
    } else {
        let before = earlier.last().map(|before| &before.world);
        Doubts::of_rollout(before, &session.world, rolled, only.and_then(|at| rolled.get(at)))
    };
    leave_open(rolled, &doubts.open);
    doubts.incomplete = session.is_incomplete() || earlier.iter().any(Session::is_incomplete);
    doubts
}

/// A name that services of several namespaces have.
fn ambiguous(kind: &str, name: &str, namespace: &str) -> Failure {
    let last = names::last(name);
    Failure::NotFound {
        message: format!("several {kind} are named `{name}`"),
        help: Some(format!("write `{namespace}/{last}`, or name a namespace with `-n`")),
    }
}

/// The state before: a path, else a revision of the repository that contains the input.
fn before(args: &Args, path: &Path, ask: &SessionOptions<'_>) -> Result<Session, Failure> {
    // A path wins over a revision of the same name.
    if path == Path::new("-") || path.symlink_metadata().is_ok() {
        return Session::open_paths(&args.input, ask, vec![path.to_owned()]);
    }
    let revision = path.to_string_lossy();
    Session::open_revision(&args.input, ask, &revision)?.map_err(|finding| Failure::NotFound {
        message: format!("`{revision}` is neither a path nor a revision: {}", finding.message),
        help: finding.help.clone(),
    })
}
