//! Plugins that pods pass when they are created (kthena.md 2.5).

use super::rules;
use crate::api::{ModelServing, Plugin};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

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

fn set(map: &mut Map, key: &str, node: Node, rule: &'static Rule) {
    map.insert_entry(Entry { key: key.into(), key_origin: Origin::Derived(rule), node });
}

fn demo(plugin: &Plugin, pod: &mut Pod) {
    let rule = &rules::DEMO_PLUGIN;
    let Some(config) = &plugin.config else { return };
    for entry in config.get("annotations").into_iter().flat_map(Node::entries) {
        set(&mut pod.annotations, &entry.key, entry.node.clone(), rule);
    }
    let Some(spec) = pod.spec.as_map_mut() else { return };
    if let Some(class) = config.get("runtimeClassName") {
        set(spec, "runtimeClassName", class.clone(), rule);
    }
    if let Some(added) = config.get("env").filter(|env| !env.items().is_empty()) {
        for key in ["initContainers", "containers"] {
            let Some(containers) = spec.get_mut(key).and_then(Node::as_list_mut) else { continue };
            for container in containers.make_mut() {
                let Some(map) = container.as_map_mut() else { continue };
                let own = map.get("env").map_or(&[][..], Node::items).iter();
                let env = Node::list(own.chain(added.items()).cloned(), Origin::Derived(rule));
                set(map, "env", env, rule);
            }
        }
    }
}

fn leader_worker_set(serving: &ModelServing, place: Place<'_>, pod: &mut Pod) {
    let owners = serving.object.metadata("ownerReferences").map_or(&[][..], Node::items);
    let is_set = |owner: &&Node| owner.get("kind").and_then(Node::as_str) == Some("LeaderWorkerSet");
    let Some(owner) = owners.iter().find(is_set).and_then(|owner| owner.get("name")?.as_str()) else { return };
    let mut label = |key: &str, value: EcoString| {
        let node = Node::new(Value::Str(value), Origin::Derived(&rules::LWS_PLUGIN));
        set(&mut pod.labels, &format!("leaderworkerset.sigs.k8s.io/{key}"), node, &rules::LWS_PLUGIN);
    };
    label("name", owner.into());
    label("group-index", eco_format!("{}", place.group));
    label("worker-index", eco_format!("{}", place.index));
    label("group-key", sha1(format!("{owner}-{}", place.group).as_bytes()));
}

/// SHA-1 in hexadecimal digits; names groups, protects nothing.
fn sha1(message: &[u8]) -> EcoString {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut padded = message.to_vec();
    padded.push(0x80);
    // The length goes into the last eight bytes of the last block.
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0_u32; 80];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for index in 16..80 {
            words[index] = (words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotate_left(1);
        }
        let mut mixed = state;
        for (index, word) in words.iter().enumerate() {
            let [first, second, third, fourth, fifth] = mixed;
            let (mix, constant) = match index / 20 {
                0 => ((second & third) | (!second & fourth), 0x5a82_7999),
                1 => (second ^ third ^ fourth, 0x6ed9_eba1),
                2 => ((second & third) | (second & fourth) | (third & fourth), 0x8f1b_bcdc_u32),
                _ => (second ^ third ^ fourth, 0xca62_c1d6),
            };
            let next = first.rotate_left(5).wrapping_add(mix).wrapping_add(fifth).wrapping_add(constant).wrapping_add(*word);
            mixed = [next, first, second.rotate_left(30), third, fourth];
        }
        for (sum, part) in state.iter_mut().zip(mixed) {
            *sum = sum.wrapping_add(part);
        }
    }
    let [first, second, third, fourth, fifth] = state;
    eco_format!("{first:08x}{second:08x}{third:08x}{fourth:08x}{fifth:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha1_agrees_with_its_standard() {
        assert_eq!(sha1(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(sha1(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(sha1(&[b'a'; 64]), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
        assert_eq!(sha1(b"vllm-1"), "bd166cfc6625bff9af40e3ceb89d4c756abccaf4");
    }
}
