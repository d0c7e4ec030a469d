//! Plugins that pods pass when they are created (kthena.md 2.5).

use super::{Replaced, rules};
use crate::api::{ModelServing, Plugin};
use crate::yaml::{Entry, Map, Node, Origin};
use ecow::{EcoString, eco_format};
use sha1::{Digest, Sha1};

/// Sets runtime class, annotations and variables.
const DEMO: &str = "demo-pod-tweaks";
/// Labels pods as those of a LeaderWorkerSet.
const LWS: &str = "lws-standard-labels";

/// The plugins that the controller knows.
pub const REGISTERED: [&str; 2] = [DEMO, LWS];

/// Which pod is created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) group: i64,
    pub(super) role: &'a str,
    /// Position in the role replica; 0 is the entry.
    pub(super) index: i64,
}

/// A pod on its way through the chain.
pub(super) struct Pod {
    pub(super) labels: Map,
    pub(super) annotations: Map,
    pub(super) spec: Node,
    pub(super) replaced: Replaced,
}

/// Why the chain cannot be built, so that no pod is ever created; in the controller's words.
pub fn broken(serving: &ModelServing) -> Option<(&Plugin, String)> {
    serving.plugins.iter().find_map(|plugin| {
        if plugin.kind != "BuiltIn" {
            return Some((plugin, format!("plugin {} has unsupported type {}", plugin.name.value, plugin.kind)));
        }
        (!REGISTERED.contains(&plugin.name.value.as_str())).then(|| (plugin, format!("plugin {} not registered", plugin.name.value)))
    })
}

/// Sends a pod through the chain.
pub(super) fn apply(serving: &ModelServing, place: Place<'_>, pod: &mut Pod) {
    for plugin in serving.plugins.iter().filter(|plugin| concerns(plugin, place)) {
        match plugin.name.value.as_str() {
            DEMO => demo(plugin, pod),
            LWS => leader_worker_set(serving, place, pod),
            _ => {}
        }
    }
}

fn concerns(plugin: &Plugin, place: Place<'_>) -> bool {
    let role = plugin.roles.is_empty() || plugin.roles.iter().any(|role| role == place.role);
    let target = match plugin.target.as_str() {
        "" | "All" => true,
        "Entry" => place.index == 0,
        "Worker" => place.index != 0,
        _ => false,
    };
    role && target
}

fn demo(plugin: &Plugin, pod: &mut Pod) {
    let rule = &rules::DEMO_PLUGIN;
    let Some(config) = &plugin.config else { return };
    for entry in config.get("annotations").into_iter().flat_map(Node::entries) {
        pod.replaced.put(&mut pod.annotations, &["metadata", "annotations"], &entry.key, &entry.node, rule);
    }
    let Some(spec) = pod.spec.as_map_mut() else { return };
    if let Some(class) = config.get("runtimeClassName") {
        pod.replaced.put(spec, &["spec"], "runtimeClassName", class, rule);
    }
    if let Some(added) = config.get("env").filter(|env| !env.items().is_empty()) {
        for key in ["initContainers", "containers"] {
            let Some(containers) = spec.get_mut(key).and_then(Node::as_list_mut) else { continue };
            for container in containers.make_mut() {
                let Some(map) = container.as_map_mut() else { continue };
                let own = map.get("env").map_or(&[][..], Node::items).iter();
                let env = Node::list(own.chain(added.items()).cloned(), Origin::Derived(rule));
                map.insert_entry(Entry { key: "env".into(), key_origin: Origin::Derived(rule), node: env });
            }
        }
    }
}

fn leader_worker_set(serving: &ModelServing, place: Place<'_>, pod: &mut Pod) {
    let owners = serving.object.metadata("ownerReferences").map_or(&[][..], Node::items);
    let is_set = |owner: &&Node| owner.get("kind").and_then(Node::as_str) == Some("LeaderWorkerSet");
    let Some(owner) = owners.iter().find(is_set).and_then(|owner| owner.get("name")?.as_str()) else { return };
    let mut label = |key: &str, value: EcoString| {
        pod.replaced.put(&mut pod.labels, &["metadata", "labels"], &format!("leaderworkerset.sigs.k8s.io/{key}"), value, &rules::LWS_PLUGIN);
    };
    label("name", owner.into());
    label("group-index", eco_format!("{}", place.group));
    label("worker-index", eco_format!("{}", place.index));
    // Names a group, protects nothing.
    label("group-key", eco_format!("{:x}", Sha1::digest(format!("{owner}-{}", place.group))));
}
