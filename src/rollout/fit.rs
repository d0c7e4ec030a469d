//! Whether the pods of every stage find a place on the nodes that were given.

use super::target::{Id, Names};
use super::trace::Trace;
use crate::api::{ModelServing, Role};
use crate::capacity::{Demand, Inventory};
use crate::render::kthena::revision;

/// One answer per stage. The pods of all stages are made from the templates of `servings`.
pub fn fits<'a>(trace: &Trace, servings: impl IntoIterator<Item = &'a ModelServing>, inventory: &Inventory) -> Vec<bool> {
    let roles = servings.into_iter().flat_map(|serving| &serving.roles);
    let demands: Vec<(ecow::EcoString, Demand, Option<Demand>)> = roles.map(demand).collect();
    let find = |names: &Names, (hash, worker): (Id, bool)| {
        let (_, entry, other) = demands.iter().find(|(known, ..)| known == names.text(hash))?;
        if worker { other.as_ref() } else { Some(entry) }
    };
    let stage = |capacity: &super::trace::Capacity| {
        let pods: Vec<(&Demand, i64)> = capacity.templates.iter().filter_map(|(key, count)| Some((find(&trace.names, *key)?, *count))).collect();
        inventory.clone().place_all(pods)
    };
    trace.capacity.iter().map(stage).collect()
}

fn demand(role: &Role) -> (ecow::EcoString, Demand, Option<Demand>) {
    (revision::of_role(&role.node), Demand::of(&role.entry.spec), role.worker.as_ref().map(|worker| Demand::of(&worker.spec)))
}
