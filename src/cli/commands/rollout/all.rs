//! `ome rollout --all`: every InferenceService, ModelServing and other workload, all changes at once.

use super::Args;
use super::troubles::{self, Played};
use crate::api::{ModelServing, Service};
use crate::cli::input::Session;
use crate::cli::relevant_findings::About;
use crate::cli::{Failure, Io, Outcome, unfilled};
use crate::pipeline::{
    Changes, ServiceChange, ServiceRollout, ServingChange, State, roll, updates,
};
use crate::report::roll_all::All;

/// Plays the changes of the whole fleet and prints them.
pub(super) fn run(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let base = match earlier {
        [] => None,
        [base] => Some(base),
        _ => {
            return Err(Failure::Usage(
                "`--all` is compared with one state: give one `--base`".into(),
            ));
        }
    };
    let mut now = state(session)?;
    let mut then = base.map(state).transpose()?;
    let mut states: Vec<&mut State<'_>> = then.iter_mut().chain([&mut now]).collect();
    let unfilled = unfilled::take(&mut states);
    if let Some(line) = unfilled::line("played", &unfilled) {
        io.say_line(&line);
    }
    let changes = Changes::between(then.as_ref(), &now);
    if changes.is_empty() && !unfilled.is_empty() {
        return Ok(Outcome::Done);
    }
    // What a server refuses of other objects is the answer then, or that nothing changes.
    if changes.is_empty()
        && let Some(line) = session.no_services()
    {
        io.say_line(&line);
    }
    simulate(args, session, &changes, earlier, io)
}

/// Simulates the change of a ModelServing from the state of its running pods.
pub(super) fn of_running(
    args: &Args,
    session: &Session,
    serving: &ModelServing,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let now = State {
        world: &session.world,
        services: Vec::new(),
        servings: vec![serving],
        workloads: Vec::new(),
    };
    simulate(args, session, &Changes::between(None, &now), &[], io)
}

fn simulate(
    args: &Args,
    session: &Session,
    changes: &Changes<'_>,
    earlier: &[Session],
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let services: Vec<&Service> =
        changes.services.iter().filter_map(ServiceChange::service).collect();
    let servings: Vec<&ModelServing> =
        changes.servings.iter().filter_map(ServingChange::serving).collect();
    let played = Played { services: &services, servings: &servings, workload: None };
    let troubles = troubles::of(args, session, played)?;
    let rolled = if changes.is_empty() {
        Some(Vec::new())
    } else {
        roll(&session.world, changes, &troubles)
    };
    let Some(mut rolled) = rolled else {
        return Err(super::no_nodes(session));
    };
    let doubts = super::doubts(session, earlier, &mut rolled, None, changes.may_create());
    let of_services =
        rolled.iter_mut().flat_map(|service| std::mem::take(&mut service.diagnostics));
    let mut found: Vec<_> = of_services.collect();
    if let Some(before) = changes.before {
        found.extend(updates::refused(&before.catalog, &session.world.catalog));
    }
    let found = session.settle(found);
    let State { services: selected, servings: selected_servings, .. } = state(session)?;
    let altered = changes.workloads.iter().filter(|change| change.differs);
    let about = About::selected(session, &selected, &selected_servings, &found)
        .every(true)
        .also(altered.map(|change| change.after));
    let found = about.of(session, found);
    let outcome = session.outcome(&found, rolled.iter().any(ServiceRollout::is_in_error));
    let view = All {
        readings: session.named_readings(),
        services: &rolled,
        found: &found,
        sources: &session.world.sources,
        failed: outcome != Outcome::Done,
        doubts: &doubts,
    };
    session.show(&view, args.output, &found, io)?;
    Ok(if view.stuck() + view.lost() > 0 { outcome.and(Outcome::No) } else { outcome })
}

/// Returns the selected services and other workloads of a state.
fn state(session: &Session) -> Result<State<'_>, Failure> {
    let workloads = session.plain_workloads();
    let (services, servings) = match session.select_all(&[]) {
        // A namespace may have other workloads alone.
        Err(_) if !workloads.is_empty() => (Vec::new(), Vec::new()),
        selected => selected?,
    };
    Ok(State { world: &session.world, services, servings, workloads })
}

#[cfg(test)]
mod tests {
    use crate::testing::ome_on;

    #[test]
    fn an_input_without_workloads_is_an_answer_and_what_a_server_refuses_of_it_is_named() {
        let object = |data: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b}}\nimmutable: true\ndata: {{a: {data}}}\n"
            )
        };
        let [old, new] = ["x", "y"].map(object);
        let files = [("old.yaml", old.as_str()), ("new.yaml", new.as_str())];
        for (base, codes) in [("{new.yaml}", &[] as &[&str]), ("{old.yaml}", &["immutable-field"])]
        {
            let ran =
                ome_on(&format!("rollout --all -o json --base {base} -f {{new.yaml}}"), &files);
            let of =
                |finding: &serde_json::Value| finding["code"].as_str().unwrap_or("").to_owned();
            let findings = ran.at("/findings").as_array().cloned().unwrap_or_default();
            assert_eq!(findings.iter().map(of).collect::<Vec<_>>(), codes);
            assert_eq!(ran.code, 0, "{}", ran.err);
            assert!(
                ran.err.contains("no services: the input has 1 ConfigMap (b/a)"),
                "{}",
                ran.err
            );
        }
    }
}
