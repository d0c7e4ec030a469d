//! Tolerations that admission adds (plugin/pkg/admission/extendedresourcetoleration).

use super::limits;
use super::resources::amounts;
use crate::quantity::is_native;
use crate::yaml::Node;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Appends tolerations that the pod does not have.
pub(super) fn append(spec: &mut Cow<'_, Node>, more: impl Iterator<Item = Node>) {
    let tolerations = spec.items_of("tolerations");
    let more: Vec<Node> = more.filter(|one| !tolerations.contains(one)).collect();
    if !more.is_empty() {
        limits::append_items(spec.to_mut(), "tolerations", more.into_iter());
    }
}

/// Adds a toleration of the taint of each extended resource that a container requests; an amount of
/// 0 counts too.
pub(super) fn extended(spec: &mut Cow<'_, Node>) {
    let mut names = BTreeSet::new();
    for container in ["containers", "initContainers"].iter().flat_map(|key| spec.items_of(key)) {
        for side in ["requests", "limits"] {
            let amounts = amounts(container.at(&["resources", side]));
            names.extend(amounts.into_keys().filter(|name| !is_native(name)));
        }
    }
    let origin = spec.origin;
    let toleration = |name| {
        let mut one = Node::map(origin);
        if let Some(map) = one.as_map_mut() {
            map.insert("key", Node::str(name, origin));
            map.insert("operator", Node::str("Exists", origin));
            map.insert("effect", Node::str("NoSchedule", origin));
        }
        one
    };
    let all: Vec<Node> = names.into_iter().map(toleration).collect();
    append(spec, all.into_iter());
}
