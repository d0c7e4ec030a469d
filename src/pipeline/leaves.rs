//! Every variable, argument, resource and node selector of a service's containers, with its source
//! and the values that it overrides (OEP-0003, Goals).

use super::planned::Planned;
use super::why::{Layers, Leaf, Overrides, leaf};
use crate::api::ComponentKind;
use crate::merge::history::Recorder;
use crate::operators::BuildContext;
use crate::yaml::{FieldPath, Node, Value};

/// One leaf of a component.
#[derive(Clone, Debug)]
pub struct MergedLeaf {
    /// The component.
    pub component: ComponentKind,
    /// The leaf belongs to the worker pods of a replica.
    pub of_worker: bool,
    /// `env.NAME`, `args[N]`, `resources.limits.NAME`, `nodeSelector.KEY`.
    pub path: String,
    /// Its source, and the values that it overrides.
    pub leaf: Leaf,
}

/// The leaves of every component of a service, in order; empty for a service in error.
pub fn merge(layers: &Layers<'_>, planned: &Planned<'_>) -> Vec<MergedLeaf> {
    let (catalog, mut found) = (layers.catalog, Vec::new());
    let service = planned.read_in(catalog).filter(|_| planned.error.is_none());
    let Some(service) = service else { return found };
    // The plan was built without a history; only this answer needs the overridden values.
    let mut history = Recorder::new();
    let ask = BuildContext {
        catalog,
        policy: planned.policy,
        cluster_domain: crate::objects::CLUSTER_DOMAIN,
    };
    let built = ask.build(service, &planned.resolution, &mut history);
    let overrides = Overrides::new(&history);
    for component in built.built.iter().flat_map(|built| &built.components) {
        let pods = std::iter::once((&component.pod, false))
            .chain(component.worker.as_ref().map(|(pod, _)| (pod, true)));
        for (pod, of_worker) in pods {
            let mut add = |path: String, at: FieldPath, node: &Node| {
                found.push(MergedLeaf {
                    component: component.kind,
                    of_worker,
                    path,
                    leaf: leaf(layers, pod, node, &at, &overrides),
                });
            };
            let index = if of_worker { component.worker_main } else { component.main };
            let containers = pod.get("containers").map(Node::items).unwrap_or_default();
            if let Some(container) = containers.get(index) {
                let at = FieldPath::root().field("containers").index(index);
                of_container(&at, container, &mut add);
            }
            let at = FieldPath::root().field("nodeSelector");
            for entry in pod.get("nodeSelector").map(Node::entries).into_iter().flatten() {
                add(
                    format!("nodeSelector.{}", entry.key),
                    at.field(entry.key.clone()),
                    &entry.node,
                );
            }
        }
    }
    found
}

fn of_container(at: &FieldPath, container: &Node, add: &mut impl FnMut(String, FieldPath, &Node)) {
    for (index, variable) in
        container.get("env").map(Node::items).unwrap_or_default().iter().enumerate()
    {
        let Some(name) = variable.get("name").and_then(Node::scalar_text) else { continue };
        let at = at.field("env").index(index);
        for key in ["value", "valueFrom"] {
            if let Some(value) = variable.get(key) {
                // A reference counts as one value, with the source of its innermost leaf.
                let (mut node, mut at) = (value, at.field(key));
                while let Value::Map(map) = &node.value
                    && let Some(entry) = map.iter().next()
                {
                    (node, at) = (&entry.node, at.field(entry.key.clone()));
                }
                add(
                    if key == "value" {
                        format!("env.{name}")
                    } else {
                        format!("env.{name}.{key}")
                    },
                    at,
                    node,
                );
            }
        }
    }
    for (index, argument) in
        container.get("args").map(Node::items).unwrap_or_default().iter().enumerate()
    {
        add(format!("args[{index}]"), at.field("args").index(index), argument);
    }
    for side in ["limits", "requests"] {
        let amounts = container.at(&["resources", side]);
        for entry in amounts.map(Node::entries).into_iter().flatten() {
            add(
                format!("resources.{side}.{}", entry.key),
                at.field("resources").field(side).field(entry.key.clone()),
                &entry.node,
            );
        }
    }
}
