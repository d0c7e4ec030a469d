//! Edits of containers and volumes that keep origins.
//!
//! In: a container or a pod as a tree, a new value, and its rule. Out: the changed tree, and
//! replaced values for a recorder.

use crate::merge::edit::{list_mut, mapping, position};
use crate::merge::history::{Recorder, Step};
use crate::yaml::{Node, Origin, Rule};
use ecow::EcoString;

/// Adds a list element.
pub(crate) fn push(node: &mut Node, key: &str, element: Node) {
    if let Some(list) = list_mut(node, key, element.origin) {
        list.push(element);
    }
}

pub(crate) fn variable(name: &str, value: EcoString, rule: &'static Rule) -> Node {
    let origin = Origin::Derived(rule);
    mapping([("name", Node::str(name, origin)), ("value", Node::str(value, origin))], origin)
}

pub(crate) fn env_position(container: &Node, name: &str) -> Option<usize> {
    position(container.get("env")?.items(), "name", name)
}

/// Adds a variable unless there is one of its name.
pub(crate) fn default_env(container: &mut Node, name: &str, value: EcoString, rule: &'static Rule) {
    if env_position(container, name).is_none() {
        push(container, "env", variable(name, value, rule));
    }
}

/// Sets the value of a variable at its position, or appends the variable. As upstream, valueFrom
/// stays.
pub(crate) fn set_env(
    container: &mut Node,
    name: &str,
    value: EcoString,
    rule: &'static Rule,
    rec: &mut Recorder,
) {
    let Some(index) = env_position(container, name) else {
        return push(container, "env", variable(name, value, rule));
    };
    let winner = Node::str(value, Origin::Derived(rule));
    let Some(entry) =
        list_mut(container, "env", winner.origin).map(|list| &mut list.make_mut()[index])
    else {
        return;
    };
    // Recorded before the insert, which drops the old value.
    if let Some(loser) = entry.get("value") {
        lost_variable(name, loser, &winner, rec);
    }
    if let Some(map) = entry.as_map_mut() {
        map.insert("value", winner);
    }
}

/// Records that the value of a variable gave way.
pub(crate) fn lost_variable(name: &str, loser: &Node, winner: &Node, rec: &mut Recorder) {
    let key = Node::str(name, winner.origin);
    rec.at("env").at(Step::Keyed("name", &key)).at("value").lost(loser, Some(winner));
}

pub(crate) fn has_mount(container: &Node, key: &str, wanted: &str) -> bool {
    container
        .get("volumeMounts")
        .is_some_and(|mounts| position(mounts.items(), key, wanted).is_some())
}

pub(crate) fn has_volume(pod: &Node, name: &str) -> bool {
    pod.get("volumes").is_some_and(|volumes| position(volumes.items(), "name", name).is_some())
}

pub(crate) fn pod_mounts(pod: &Node, volume: &str) -> bool {
    // A downloader among the init containers needs the volume as much as the engine does.
    ["containers", "initContainers"]
        .iter()
        .filter_map(|key| pod.get(key))
        .flat_map(Node::items)
        .any(|container| has_mount(container, "name", volume))
}
