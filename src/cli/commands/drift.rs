//! `ome drift`: a cluster compared with the operator's output.

use crate::api::{Service, Views};
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat, SemanticsArg};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::About;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, complete, incomplete, unfilled};
use crate::diff::drift;
use crate::diff::ignored::Ignored;
use crate::pipeline::{Renderer, State};
use crate::report::drift as view;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

/// Show where a cluster differs from what the operator would write now: objects that are missing,
/// left over or changed, each field with the layer that sets it.
///
/// Reads a dump (`kubectl get … -A -o yaml`) that holds services and their objects with `-f`, or a
/// repository with `-f` and the dump with `--live`. A field counts if the operator writes it,
/// whichever manager owns it now; fields that only the server or other writers set do not count. A
/// service that is only in the dump of --live is left over with all its objects. Exit codes: 0 no
/// drift, 1 a service is in error, the input is invalid or holds nothing of a cluster, 2 drift.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE", add = complete::services())]
    services: Vec<String>,
    /// The dump of the cluster, when services are read from elsewhere. Repeatable.
    #[arg(long, value_name = "PATH")]
    live: Vec<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<PageFormat>::new(), default_value_t)]
    output: PageFormat,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// Compares and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let ask = SessionOptions { follows_cluster: true, ..args.decision.ask()? };
    let (session, live) = if args.live.is_empty() {
        let mut session = Session::open(&args.input, &ask)?;
        // Without a service no object is compared with a rendered one.
        if session.world.catalog.services().len() == 0 {
            session.gaps = incomplete::gaps(&session.world, false);
        }
        (session, None)
    } else {
        let live = Session::open_paths(&args.input, &ask, args.live.clone())?;
        // The repository is compared by the releases of the cluster.
        let mut input = args.input.clone();
        // The last release of an operator counts, so flags of the user come last.
        input.release.splice(0..0, live.followed_releases());
        (Session::open(&input, &ask)?, Some(live))
    };
    let cluster = live.as_ref().unwrap_or(&session);
    let running = cluster.followed_releases();
    if args.input.semantics == Some(SemanticsArg::Documented) && !running.is_empty() {
        return Err(Failure::Usage(format!(
            "`--semantics documented` does not apply: the cluster runs {}, and drift compares with what that release writes; leave the flag out",
            running.join(", ")
        )));
    }
    let services = session.select(&args.services)?;
    session.require_objects(&args.input.files)?;
    let mut state =
        State { world: &session.world, services, servings: Vec::new(), workloads: Vec::new() };
    let unfilled = unfilled::take(&mut [&mut state]);
    let services = state.services;
    let renderer = Renderer::new(&session.world, &args.cluster_domain);
    let objects = live.as_ref().unwrap_or(&session).world.catalog.others();
    let gone = match &live {
        // Services that are named are compared alone.
        Some(live) if args.services.is_empty() => not_in(&session, live)?,
        _ => Vec::new(),
    };
    let ignored = Ignored(session.drift_ignore());
    let catalog = &session.world.catalog;
    let mut answer = drift::drift(catalog, &renderer, &services, &gone, objects, ignored);
    let found = session.settle(std::mem::take(&mut answer.diagnostics));
    let found = About::selected(&session, &services, &[], &found).of(&session, found);
    // Of the dump only what was not read touches the answer.
    let live_found = live.as_ref().map(|live| live.grade(live.gaps.iter().cloned()));
    if let (Some(live), Some(found)) = (&live, &live_found) {
        live.say(found, io);
    }
    let view = view::View {
        drift: &answer,
        readings: session.named_readings(),
        header: &cluster.header(),
        found: &found,
        sources: &session.world.sources,
    };
    // Without a part of the input, its objects would seem to differ.
    let missing = session.is_missing() || live.as_ref().is_some_and(Session::is_missing);
    if missing && !args.output.is_data() {
        session.say(&found, io);
        return Ok(Outcome::CouldNot);
    }
    let is_dump = drift::is_dump(objects);
    if live.is_none() && !is_dump && !answer.groups.is_empty() {
        session.say(&found, io);
        return Err(nothing_live(&answer));
    }
    let read = std::iter::once(&session).chain(&live).collect::<Vec<_>>();
    Session::show_of(&read, &view, args.output, &found, io)?;
    if let Some(line) = unfilled::line("compared", &unfilled) {
        io.say_line(&line);
    }
    if args.services.is_empty() && !session.world.catalog.model_servings().is_empty() {
        io.say_line("ModelServings are not compared: their controller writes pods one by one");
    }
    if live.is_some() && !is_dump && !answer.groups.is_empty() {
        io.say_line("no object of `--live` has a `metadata.uid` or was written by an operator: is it a dump of the cluster?");
    }
    let unread = live.as_ref().is_some_and(Session::is_incomplete);
    let outcome = session.outcome(&found, !answer.failed.is_empty() || unread);
    Ok(if answer.groups.is_empty() { outcome } else { outcome.and(Outcome::No) })
}

/// Nothing of the input was in a cluster: that every object is missing there would be no finding.
fn nothing_live(answer: &drift::Drift) -> Failure {
    let objects = answer.groups.iter().flat_map(|group| &group.objects);
    let kinds: BTreeSet<String> =
        objects.map(|object| object.id.kind.to_lowercase().into()).collect();
    let kinds: Vec<String> = kinds.into_iter().collect();
    Failure::NotFound {
        message: "nothing to compare with: the input has no object that an operator wrote; give a \
                  dump of the cluster"
            .into(),
        help: Some(format!(
            "`kubectl get {} -A -o yaml > live.yaml`, then `--live live.yaml`",
            kinds.join(",")
        )),
    }
}

/// Services of the dump that the repository does not have.
fn not_in<'a>(session: &Session, live: &'a Session) -> Result<Vec<&'a Service>, Failure> {
    let key =
        |service: &Service| (service.object.api, service.namespace.clone(), service.name().clone());
    let services: HashSet<_> =
        session.world.catalog.services().map(|views| key(views.followed())).collect();
    let there = live.select(&[])?.into_iter().map(Views::followed);
    Ok(there.filter(|service| !services.contains(&key(service))).collect())
}
