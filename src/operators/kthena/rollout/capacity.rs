//! Whether the pods of every stage fit on the nodes of the input.

use super::Scenario;
use super::target::{Id, Names};
use super::trace::Trace;
use crate::api::Role;
use crate::cluster::{Inventory, Shape};
use crate::operators::kthena::objects::revision;
use crate::operators::kthena::rules::RoleStruct;

/// Whether the pods of each stage fit; `None` if the requests of a pod are unreadable. The pods of
/// all stages are made from the templates of the scenario.
pub fn fits(
    trace: &Trace,
    scenario: &Scenario<'_>,
    inventory: &Inventory<'_>,
) -> Option<Vec<bool>> {
    let now = scenario.policy.role_struct;
    let made_by = scenario.upgraded_from.unwrap_or(now);
    let before = scenario.from.iter().map(|before| (before.serving, made_by));
    let shapes: Vec<(ecow::EcoString, Shape, Option<Shape>)> = before
        .chain([(scenario.to, now)])
        .flat_map(|(serving, declared)| serving.roles.iter().map(move |role| (role, declared)))
        .map(|(role, declared)| shapes_of(role, declared))
        .collect();
    let known = |(_, entry, worker): &(_, Shape, Option<Shape>)| {
        entry.is_known() && worker.as_ref().is_none_or(Shape::is_known)
    };
    if !shapes.iter().all(known) {
        return None;
    }
    let find = |names: &Names, (hash, worker): (Id, bool)| {
        let (_, entry, other) = shapes.iter().find(|(known, ..)| known == names.text(hash))?;
        if worker { other.as_ref() } else { Some(entry) }
    };
    let stage = |capacity: &super::trace::Capacity| {
        let pods: Vec<(&Shape, i64)> = capacity
            .templates
            .iter()
            .filter_map(|(key, count)| Some((find(&trace.names, *key)?, *count)))
            .collect();
        inventory.clone().place_all(pods)
    };
    Some(trace.capacity.iter().map(stage).collect())
}

fn shapes_of(role: &Role, declared: RoleStruct) -> (ecow::EcoString, Shape, Option<Shape>) {
    (
        revision::of_role(&role.node, declared),
        Shape::of(&role.entry.spec),
        role.worker.as_ref().map(|worker| Shape::of(&worker.spec)),
    )
}
