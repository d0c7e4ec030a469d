//! `ome rollout` of a workload that no operator writes: a Deployment, StatefulSet, DaemonSet or
//! LeaderWorkerSet of the input.

use super::troubles::{self, Played};
use super::{Args, One};
use crate::api::Object;
use crate::cli::input::Session;
use crate::cli::names;
use crate::cli::relevant_findings::About;
use crate::cli::service_selection::namespace_of;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::nearest;
use crate::pipeline::{Changes, State, is_simulated};
use crate::report::phrases::first_of;
use crate::report::roll_workload::Workload;
use crate::schema::named;
use std::collections::BTreeSet;

/// How many names are where one is not found.
const OFFERED: usize = 5;

/// Plays the change of a workload and prints it.
pub(super) fn run(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    object: &Object,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let name = shown(object);
    if session.world.catalog.is_unfilled(object) {
        return Err(super::unfilled(session, object, &name));
    }
    if !is_simulated(object) {
        let plan = session.proposals().arguments("plan");
        return Err(session.not_found(
            format!("not judged: the update of a {} is not simulated", object.id.kind),
            Some(format!("`ome plan{plan}` places its pods")),
        ));
    }
    let position = |changes: &Changes<'_>| {
        let at = changes.workloads.iter().position(|change| std::ptr::eq(change.after, object));
        // Services and ModelServings come first among what is simulated.
        let first = changes.services.len() + changes.servings.len();
        at.map(|at| first + at).ok_or_else(|| unknown(session, &name))
    };
    let options = |only| {
        troubles::of(args, session, Played { services: &[], servings: &[], workload: Some(only) })
    };
    let one = super::one_of_all(session, earlier, position, options)?;
    let Some(One { rollout, displaced, doubts }) = one else {
        return Err(super::no_nodes(session));
    };
    let found = session.settle([]);
    let found = About::these(&session.world.catalog, [object]).of(session, found);
    let view = Workload {
        readings: session.named_readings(),
        kind: &object.id.kind,
        rollout: &rollout,
        displaced: &displaced,
        doubts: &doubts,
        found: &found,
        sources: &session.world.sources,
    };
    session.show(&view, args.output, &found, io)?;
    let outcome = session.outcome(&found, false);
    let is_no = super::ends_badly(&rollout.components, &displaced);
    Ok(if is_no { outcome.and(Outcome::No) } else { outcome })
}

/// `Deployment/ml/web`.
fn shown(object: &Object) -> String {
    format!("{}/{}/{}", object.id.kind, namespace_of(object), object.id.name)
}

/// A name that several workloads have.
pub(super) fn ambiguous(name: &str, first: &Object, second: &Object) -> Failure {
    Failure::NotFound {
        message: format!("several workloads are named `{name}`"),
        help: Some(format!("write `{}` or `{}`", shown(first), shown(second))),
    }
}

/// A name that neither a service nor another workload has.
pub(super) fn unknown(session: &Session, name: &str) -> Failure {
    let (word, last) = (name.split('/').next().unwrap_or_default(), names::last(name));
    let all = State::plain(&session.world);
    let of_kind = |object: &&&Object| named(word).any(|schema| schema.kind == object.id.kind);
    let kinds: BTreeSet<&str> = named(word).map(|schema| schema.kind).collect();
    let is_kind =
        name.contains('/') && !kinds.iter().all(|kind| crate::operators::is_service(kind));
    if !is_kind {
        let message = format!("no ModelServing, InferenceService or other workload `{name}`");
        // A name without its kind may be that of another workload, misspelled.
        let near = nearest(last, all.iter().map(|object| &*object.id.name));
        let near = all.iter().find(|object| Some(&*object.id.name) == near);
        let help = session.instead_of(name, true);
        let help = match near {
            Some(near) if !help.starts_with("did you mean") => {
                format!("did you mean `{}`?", shown(near))
            }
            _ => help,
        };
        return session.not_found(message, Some(help));
    }
    let there: Vec<&&Object> = all.iter().filter(of_kind).collect();
    let near = nearest(last, there.iter().map(|object| &*object.id.name));
    let near = there.iter().find(|object| Some(&*object.id.name) == near);
    let help = match (near, there.is_empty()) {
        (Some(near), _) => format!("did you mean `{}`?", shown(near)),
        (None, false) => {
            let names: BTreeSet<String> = there.iter().map(|object| shown(object)).collect();
            format!("the input has {}", first_of(names.into_iter(), OFFERED))
        }
        (None, true) => "load it with `-f`".to_owned(),
    };
    session
        .not_found(format!("no {} `{name}`", kinds.into_iter().next().unwrap_or(word)), Some(help))
}
