//! `ome rollout` of a ModelServing.

use super::{Args, One};
use crate::api::ModelServing;
use crate::cli::input::Session;
use crate::cli::relevant_findings::About;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic, Severity};
use crate::operators::servings;
use crate::operators::servings::objects::{names, too_many_pods};
use crate::operators::servings::rollout::findings::play;
use crate::operators::servings::rollout::{Before, Outcome as Played, Scenario};
use crate::pipeline::{Changes, ComponentRollout, RollOptions, ServingChange, ServingRoom};
use crate::report::{findings, roll, rollout};
use ecow::EcoString;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Plays the change of a ModelServing and prints it.
pub(super) fn run(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    to: &ModelServing,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    if !args.slow.is_empty() {
        return Err(Failure::Usage(
            "`--slow` needs Nodes and `--all`: in the steps of one ModelServing pods are ready a stage after they start, and `--stuck pod/NAME` keeps one from it"
                .into(),
        ));
    }
    let from = states_before(args, earlier, to)?;
    // Every file is a change of the one before it; its findings are about that file.
    let refused = |at: usize, after: &ModelServing| {
        let before = at.checked_sub(1).and_then(|earlier| from.get(earlier));
        before.map(|before| refused_change(before.serving, after, session)).unwrap_or_default()
    };
    let before_found: Vec<Vec<Diagnostic>> = earlier
        .iter()
        .zip(&from)
        .enumerate()
        .map(|(at, (before, state))| {
            let found = before.settle(refused(at, state.serving));
            let catalog = &before.world.catalog;
            About::these(catalog, [&state.serving.object]).of(before, found)
        })
        .collect();
    let changed: Vec<Diagnostic> = refused(from.len(), to);
    let broken = |found: &[Diagnostic]| found.iter().any(|found| found.severity == Severity::Error);
    let too_many = too_many_pods(to).is_some()
        || from.iter().any(|before| too_many_pods(before.serving).is_some());
    let found = session.settle(changed.iter().cloned());
    let found = About::these(&session.world.catalog, [&to.object]).of(session, found);
    for (before, found) in earlier.iter().zip(&before_found) {
        before.say(found, io);
    }
    // Steps of a state that nobody can apply would mean nothing.
    if too_many || broken(&found) || before_found.iter().any(|found| broken(found)) {
        let all = as_json(session, &found, earlier, &before_found);
        if args.output.is_data() {
            io.print_json(&json!({ "schemaVersion": crate::report::SCHEMA_VERSION, "steps": [], "stages": [], "groupSteps": [], "findings": all }))?;
        }
        session.say(&found, io);
        return Ok(Outcome::CouldNot);
    }
    let scenario = Scenario {
        policy: session.serving_rules(),
        upgraded_from: None,
        from,
        to,
        pending: pods_of(&args.pending),
        stuck: pods_of(&args.stuck),
        fail: pods_of(&args.fail),
        stagger: args.stagger,
    };
    let (mut outcome, findings) = play(&scenario);
    if let Some(unknown) = outcome.unknown.first() {
        return Err(no_pod(to, unknown));
    }
    let found = session.settle(findings.into_iter().chain(changed));
    let catalog = &session.world.catalog;
    let found = About::these(catalog, [&to.object]).of(session, found);
    let one = if args.has_troubles() { None } else { rolled(session, earlier, to)? };
    let (rolled, displaced, doubts) = match one {
        Some(One { rollout, displaced, doubts }) => (Some(rollout.components), displaced, doubts),
        None => (None, Vec::new(), super::doubts(session, earlier, &mut [], None, false)),
    };
    // Together with everything else, the simulation says what fits. It knows none of the troubles.
    let room = || ServingRoom::new(&session.world.catalog);
    let fits = match &rolled {
        Some(rolled) => Some(fits_as_simulated(&outcome, rolled)),
        None => room().and_then(|room| room.fits(&outcome.trace, &scenario)),
    };
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
        readings: session.named_readings(),
        profile: session.serving_rules().name,
        from: scenario.from.last().map(|before| before.serving),
        to,
        outcome: &outcome,
        since_v0_4: since_v0_4(&scenario, &outcome),
        fits: fits.as_deref(),
        notes: &notes,
        found: &json,
        components: rolled.as_deref(),
        displaced: &displaced,
        doubts: &doubts,
        lists_steps: args.steps,
        sources: &session.world.sources,
    };
    session.show(&view, args.output, &found, io)?;
    let no = outcome.stuck.is_some()
        || super::ends_badly(rolled.as_deref().unwrap_or_default(), &displaced)
        || fits.is_some_and(|fits| fits.contains(&false));
    let ended = session.outcome(&found, false);
    Ok(if no { ended.and(Outcome::No) } else { ended })
}

/// The ModelServing in each of the states before.
fn states_before<'s>(
    args: &Args,
    earlier: &'s [Session],
    to: &ModelServing,
) -> Result<Vec<Before<'s>>, Failure> {
    let state = |(before, path): (&'s Session, &PathBuf)| {
        let is_same = |serving: &&ModelServing| {
            serving.name() == to.name() && serving.namespace == to.namespace
        };
        let serving = before.world.catalog.model_servings().iter().find(is_same);
        let serving = serving.ok_or_else(|| {
            before.not_found(
                format!("no ModelServing `{}/{}` in {}", to.namespace, to.name(), path.display()),
                Some("`--from` names the file of the state before".into()),
            )
        })?;
        Ok(Before { serving, costs: costs(before, &to.namespace) })
    };
    earlier.iter().zip(&args.from).map(state).collect()
}

/// Names of pods without their kind.
fn pods_of(given: &[String]) -> Vec<EcoString> {
    given.iter().map(|name| name.strip_prefix("pod/").unwrap_or(name).into()).collect()
}

fn no_pod(serving: &ModelServing, pod: &str) -> Failure {
    let role = serving.roles.first().map_or("ROLE", |role| role.name.value.as_str());
    Failure::NotFound {
        message: format!("`{}` has no pod `{pod}` in this rollout", serving.name()),
        help: Some(format!("pods are named as `{}-0-{role}-0-0`", serving.name())),
    }
}

/// The simulation of the whole input, as in `--all`: how this ModelServing ends, and what else loses
/// nodes. `None` if no node reports its resources.
fn rolled(
    session: &Session,
    earlier: &[Session],
    to: &ModelServing,
) -> Result<Option<One>, Failure> {
    let is_this = |change: &ServingChange<'_>| {
        change
            .serving()
            .is_some_and(|serving| serving.name() == to.name() && serving.namespace == to.namespace)
    };
    let position = |changes: &Changes<'_>| {
        let at = changes.servings.iter().position(is_this);
        // Services come first among what is simulated.
        at.map(|at| changes.services.len() + at).ok_or_else(|| {
            session.not_found(format!("no ModelServing `{}/{}`", to.namespace, to.name()), None)
        })
    };
    super::one_of_all(session, earlier, position, |_| Ok(RollOptions::default()))
}

/// Whether the pods of each stage run: all of them, or those before the stage that waits for the
/// group where the simulation is stuck.
fn fits_as_simulated(outcome: &Played, rolled: &[ComponentRollout]) -> Vec<bool> {
    let stages = &outcome.trace.capacity;
    let group = roll::stuck_group(rolled, &outcome.trace.serving);
    let waits = |group| stages.iter().position(|stage| stage.waits_for.contains(&group));
    let first = group.and_then(waits).unwrap_or(stages.len());
    (0..stages.len()).map(|stage| stage < first).collect()
}

/// The groups that run at the lowest point by the releases since v0.4.0, if the document lets more
/// run.
fn since_v0_4(scenario: &Scenario<'_>, outcome: &Played) -> Option<i64> {
    if scenario.policy.reconciles {
        return None;
    }
    let lowest =
        |outcome: &Played| outcome.trace.capacity.iter().map(|capacity| capacity.groups).min();
    let later = Scenario { policy: servings::first_with_budgets(), ..scenario.clone() };
    let (later, _) = play(&later);
    lowest(&later).filter(|groups| lowest(outcome).is_some_and(|groups_now| *groups < groups_now))
}

/// Returns the server's objections to the change. Where the document allows it, they are warnings.
fn refused_change(from: &ModelServing, to: &ModelServing, session: &Session) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    servings::read::check_change(&from.object.node, &to.object.node, &mut refused);
    if session.serving_rules().admits_as_server() {
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
