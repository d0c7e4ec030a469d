//! Services and other workloads with values that another tool fills in: nothing can be said about them.
//!
//! In: the services of one state, or of the states that are compared. Out: those whose values are all
//! there, and the names of the others.

use crate::api::{Api, Object, ObjectRef};
use crate::pipeline::State;
use std::collections::{BTreeSet, HashSet};

/// Takes out of every state what has placeholders in one of them, and returns the names.
pub(super) fn take(states: &mut [&mut State<'_>]) -> BTreeSet<String> {
    let mut found: HashSet<(Api, ObjectRef)> = HashSet::new();
    // An object with placeholders on one side is compared on neither.
    for state in &*states {
        let services = state.services.iter().map(|views| &views.documented.object);
        let objects = services.chain(state.servings.iter().map(|serving| &serving.object));
        let objects = objects.chain(state.workloads.iter().copied());
        let unfilled = objects.filter(|object| state.world.catalog.is_unfilled(object));
        found.extend(unfilled.map(|object| (object.api, object.id.clone())));
    }
    let keeps = |object: &Object| !found.contains(&(object.api, object.id.clone()));
    if !found.is_empty() {
        for state in states {
            state.services.retain(|views| keeps(&views.documented.object));
            state.servings.retain(|serving| keeps(&serving.object));
            state.workloads.retain(|object| keeps(object));
        }
    }
    found.iter().map(|(_, id)| name(id)).collect()
}

/// The name of an object with its namespace.
pub(super) fn name(id: &ObjectRef) -> String {
    match id.scope.namespace() {
        Some(namespace) => format!("{namespace}/{}", id.name),
        None => id.name.to_string(),
    }
}

/// The line about them: what is not done, and whose values are missing.
pub(super) fn line<'n>(what: &str, names: impl IntoIterator<Item = &'n String>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("not {what}: placeholders: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_with_placeholders_are_named_in_order() {
        let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(line("planned", &names(&[])), None);
        assert_eq!(
            line("compared", &names(&["ml/b", "ml/a"])).as_deref(),
            Some("not compared: placeholders: ml/a, ml/b")
        );
    }
}
