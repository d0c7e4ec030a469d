//! Whether a loaded node can run the component on a class.

use crate::api::ComponentKind;
use crate::cluster as machines;
use crate::cluster::{Machine, affinity_matches, selector_mismatch};
use crate::operators::ome::accelerators::Request;
use crate::operators::ome::accelerators::class_facts::ClassFacts;
use crate::quantity::is_accelerator;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// Accelerators of one node when no Node sets another number (docs/decisions.md#memory-fit).
const PER_NODE: u64 = 8;

/// Node selectors and affinities of a component, beyond those of the class, and its tolerations.
pub(super) struct Placement<'a> {
    pub(super) selectors: Vec<&'a Node>,
    /// A node must match all of them.
    pub(super) affinities: Vec<&'a Node>,
    pub(super) tolerations: Vec<Node>,
}

pub(super) fn placement<'r>(request: &'r Request<'_, '_>, kind: ComponentKind) -> Placement<'r> {
    let config = request.runtime.config(kind);
    let component = request.service.component(kind);
    let selectors = [
        config.and_then(|config| config.get("nodeSelector")),
        request.runtime.object.spec("nodeSelector"),
        request.service.accelerators.selector.node_selector.as_ref(),
        component.and_then(|component| component.get("nodeSelector")),
    ];
    let affinities = [
        config.and_then(|config| config.get("affinity")),
        request.runtime.object.spec("affinity").filter(|_| config.is_none()),
        component.and_then(|component| component.get("affinity")),
    ];
    let tolerations = [
        config.and_then(|config| config.get("tolerations")),
        request.runtime.object.spec("tolerations"),
        component.and_then(|component| component.get("tolerations")),
    ];
    Placement {
        selectors: selectors
            .into_iter()
            .flatten()
            .filter(|selector| !selector.is_empty())
            .collect(),
        affinities: affinities
            .into_iter()
            .flatten()
            .filter(|affinity| !affinity.is_empty())
            .collect(),
        tolerations: tolerations.into_iter().flatten().flat_map(Node::items).cloned().collect(),
    }
}

/// Why no node of a class can run a component; none when a node can or no Node was read (OEP-0003,
/// Goals and Notes/Constraints/Caveats).
///
/// The origin is that of the field that excludes the last node.
pub(super) fn no_node(
    class: &ClassFacts<'_>,
    placement: &Placement<'_>,
) -> Option<(EcoString, Option<Origin>)> {
    let machines = class.machines.as_ref()?;
    if machines.is_empty() {
        return Some(("no node of the class".into(), None));
    }
    let usable =
        || machines.iter().copied().filter(|machine| machine.usable(&placement.tolerations, true));
    if usable().next().is_none() {
        let which = if machines.len() == 1 {
            eco_format!("the only node of the class, {}, is", machines[0].name)
        } else {
            eco_format!("all {} nodes of the class are", machines.len())
        };
        return Some((eco_format!("{which} cordoned, not ready or tainted"), None));
    }
    let resource =
        class.class.whole_resources().find(|resource| is_accelerator(&resource.name.value));
    let is_equipped = |machine: &&Machine| {
        // A node that reports no amounts may have the devices.
        resource.is_none_or(|resource| {
            machine.allocatable(&resource.name.value).is_none_or(|count| count > 0)
        })
    };
    let mut equipped = usable().filter(is_equipped);
    // Most pods have neither node selector nor affinity: one node is enough for them.
    let Some(first) = equipped.next() else {
        let resource = resource.map_or("accelerator", |resource| resource.name.value.as_str());
        return Some((
            eco_format!("{} nodes of the class have no {resource} to give", usable().count()),
            None,
        ));
    };
    if placement.selectors.is_empty() && placement.affinities.is_empty() {
        return None;
    }
    let mut left: Vec<&Machine> = std::iter::once(first).chain(equipped).collect();
    let discovery = &class.class.discovery;
    let selector =
        machines::pinned(discovery.node_selector.as_ref(), discovery.terms.as_ref()).selector;
    let class_keys: Vec<&str> =
        selector.iter().flat_map(Node::entries).map(|entry| entry.key.as_str()).collect();
    for (index, selector) in placement.selectors.iter().enumerate() {
        // Keys of the class override those of the runtime (OEP-0003, Override Hierarchy;
        // docs/decisions.md#node-selectors). A later selector overrides an earlier one.
        let entries = selector.entries().filter(|entry| {
            let overridden = placement.selectors[index + 1..]
                .iter()
                .any(|later| later.get(&entry.key).is_some());
            // The first two selectors are of the runtime, the others of the service.
            !overridden && (index >= 2 || !class_keys.contains(&entry.key.as_str()))
        });
        for entry in entries {
            let one = Node::new(
                crate::yaml::Value::Map(std::iter::once(entry.clone()).collect()),
                selector.origin,
            );
            // One key at a time, so that the one that excludes the last node can be named.
            left.retain(|machine| selector_mismatch(&one, machine).is_none());
            if left.is_empty() {
                let value = entry.node.scalar_text().unwrap_or_default();
                return Some((
                    eco_format!("0 nodes match: {}: {value} eliminates the last one", entry.key),
                    Some(entry.node.origin),
                ));
            }
        }
    }
    for affinity in &placement.affinities {
        left.retain(|machine| affinity_matches(affinity, machine));
        if left.is_empty() {
            return Some((
                "0 nodes match: the required node affinity eliminates the last one".into(),
                Some(affinity.origin),
            ));
        }
    }
    None
}

/// Accelerators per node of the class.
pub(super) fn per_node(class: &ClassFacts<'_>) -> u64 {
    class.per_node.unwrap_or(PER_NODE)
}
