//! Whether the pods of every stage find a place on the nodes that were given.

use super::target::{Id, Names};
use super::trace::Trace;
use crate::api::{ModelServing, Role};
use crate::machines::{Inventory, Shape};
use crate::render::kthena::revision;

/// One answer per stage; none when what some pod asks for is not known. The pods of all stages are made from the templates of `servings`.
pub fn fits<'a>(
    trace: &Trace,
    servings: impl IntoIterator<Item = &'a ModelServing>,
    inventory: &Inventory<'_>,
) -> Option<Vec<bool>> {
    let roles = servings.into_iter().flat_map(|serving| &serving.roles);
    let shapes: Vec<(ecow::EcoString, Shape, Option<Shape>)> = roles.map(shapes_of).collect();
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

fn shapes_of(role: &Role) -> (ecow::EcoString, Shape, Option<Shape>) {
    (
        revision::of_role(&role.node),
        Shape::of(&role.entry.spec),
        role.worker.as_ref().map(|worker| Shape::of(&worker.spec)),
    )
}
