//! A rollout with its findings.

use crate::api::{ModelServing, Role, RolloutType};
use crate::diag::{Code, Diagnostic};
use crate::operators::kthena::objects::revision;
use crate::operators::kthena::rollout::{Action, Cause, Kind, Outcome, Scenario, simulate};
use crate::operators::kthena::rules::{KthenaRelease, RoleScaling};
use crate::quantity::Range;
use std::collections::BTreeSet;

/// Simulates a scenario and returns the outcome with its findings.
pub(crate) fn play(scenario: &Scenario<'_>) -> (Outcome, Vec<Diagnostic>) {
    let outcome = simulate(scenario);
    let mut found = Vec::new();
    let to = scenario.to;
    let from = scenario.from.last().map(|before| before.serving);
    let mut say = |code: Code, message: String, help: &str| {
        let at = to.object.name_span();
        found.push(
            Diagnostic::new(code, message).at(at).object(to.object.id.to_string()).help(help),
        );
    };
    if !outcome.gpus_known {
        say(
            Code::NotCounted,
            format!(
                "the GPUs of `{}` are not counted: the request of a container is not {}",
                to.name(),
                Range::DEVICES
            ),
            "correct the number; `ome validate` prints its file and line",
        );
    }
    // Lazily: most rollouts have no finding that needs it.
    let updates = || {
        outcome
            .trace
            .group_steps()
            .filter(|event| event.cause == Cause::Update && event.action == Action::Delete)
    };
    // Only what the update did: a fleet that was down before has no outage by it.
    let outage = outcome.available_before > 0
        && outcome.trace.capacity.iter().any(|capacity| capacity.groups == 0)
        && updates().next().is_some();
    if outage {
        let message = if to.replicas.value == 1 {
            format!(
                "full outage: the only group of `{}` is rebuilt and there is no surge",
                to.name()
            )
        } else {
            format!("full outage: no group of `{}` runs in the middle of the update", to.name())
        };
        say(
            Code::FullOutage,
            message,
            "raise `replicas` before the update, or lower `maxUnavailable`",
        );
    }
    // A partition above the replicas protects all, as one equal to them does.
    let partition = to.budget.protected(to.replicas.value);
    if outcome.templates_changed
        && partition >= to.replicas.value
        && partition > 0
        && updates().next().is_none()
    {
        let message = format!(
            "all protected: the templates of `{}` changed, and partition {partition} protects {}",
            to.name(),
            match to.replicas.value {
                1 => "its only group".to_owned(),
                groups => format!("all {groups} groups"),
            }
        );
        say(Code::RolloutAllProtected, message, "lower `partition` to begin the update");
    }
    // Said where only some roles changed: if all did, replacing groups costs nothing more.
    if let Some(from) =
        from.filter(|_| to.rollout.value == RolloutType::ServingGroup && updates().next().is_some())
    {
        // By the hash of the release, so that fields which are no update do not count.
        let (same, changed) = roles_by_change(from, to, scenario.policy);
        if !same.is_empty() && !changed.is_empty() {
            let message = format!(
                "{} pods restart too, although only {} changed: the update replaces whole groups",
                same.join(" and "),
                changed.join(" and ")
            );
            say(
                Code::GroupLevelRollout,
                message,
                "with Kthena v0.4.0 and later, `rolloutStrategy.type: RoleRollingUpdate` replaces only the roles that changed",
            );
        }
    }
    // Groups that were created by the change have no roles that were scaled.
    let scaled: BTreeSet<i64> = outcome
        .trace
        .events
        .iter()
        .filter(|event| event.kind == Kind::Role && event.cause == Cause::Roles)
        .map(|event| event.group)
        .collect();
    if scenario.policy.role_scaling == RoleScaling::OnePass && scaled.len() > 1 {
        let message = format!(
            "all {} groups change their role replicas in one pass, not one after another as the document shows",
            scaled.len()
        );
        say(Code::RoleScalingOnePass, message, "nothing to do");
    }
    // The document recreates whole groups and leaves none behind.
    if !outcome.left_behind.is_empty() && scenario.policy.reconciles {
        let message = format!(
            "{} keep another template than the requested one: the controller only updates groups whose revision differs",
            outcome.left_behind.join(", ")
        );
        say(
            Code::KthenaDefect,
            message,
            "delete these pods by hand, or change the template once more",
        );
    }
    if from.is_none() && to.replicas.value == 0 && scenario.policy.controller_revisions {
        say(
            Code::KthenaDefect,
            format!("with 0 replicas at creation every reconcile of `{}` fails", to.name()),
            "create it with at least one replica",
        );
    }
    (outcome, found)
}

/// Names of the roles in both: with equal templates, and with different ones.
fn roles_by_change<'a>(
    from: &ModelServing,
    to: &'a ModelServing,
    policy: &KthenaRelease,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let hash = |role: &Role| revision::of_role(&role.node, policy.role_struct);
    let unchanged =
        |role: &&Role| from.role(&role.name.value).is_some_and(|old| hash(old) == hash(role));
    // A role without pods on a side has none that restart.
    let runs = |role: &&Role| {
        role.replicas.value > 0
            && from.role(&role.name.value).is_none_or(|old| old.replicas.value > 0)
    };
    let (same, changed): (Vec<&Role>, Vec<&Role>) = to.roles.iter().partition(unchanged);
    let same: Vec<&Role> = same.into_iter().filter(runs).collect();
    let names =
        |roles: Vec<&'a Role>| roles.into_iter().map(|role| role.name.value.as_str()).collect();
    (names(same), names(changed))
}
