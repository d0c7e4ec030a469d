//! Plugins that pods pass when they are created (pkg/model-serving-controller/plugins). A chain is
//! built once and used for every pod.

use super::{Replaced, rules};
use crate::api::{ModelServing, Plugin};
use crate::schema::{self, Library, Misfit};
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::{EcoString, eco_format};
use sha1::{Digest, Sha1};

/// Sets runtime class, annotations and variables.
const DEMO: &str = "demo-pod-tweaks";
/// Labels pods as those of a LeaderWorkerSet.
const LWS: &str = "lws-standard-labels";

/// The registered plugins of the controller.
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

/// The chain of a ModelServing, its configuration read.
pub struct Chain<'a>(Vec<Link<'a>>);

struct Link<'a> {
    plugin: &'a Plugin,
    tweaks: Tweaks,
}

/// The plugin that keeps a chain from being built, so that no pod is ever created, and why; in the
/// controller's words.
#[derive(Debug)]
pub struct Broken<'a> {
    /// The plugin.
    pub plugin: &'a Plugin,
    /// The error message of the controller.
    pub problem: String,
}

impl<'a> Chain<'a> {
    /// Builds the chain.
    ///
    /// # Errors
    /// When one of the plugins is not registered or its configuration has another form.
    pub fn of(serving: &'a ModelServing) -> Result<Self, Broken<'a>> {
        let link = |plugin: &'a Plugin| {
            let broken = |problem| Broken { plugin, problem };
            let name = &plugin.name.value;
            // The type is judged before the name, as in the controller.
            if plugin.kind != "BuiltIn" {
                return Err(broken(format!("plugin {name} has unsupported type {}", plugin.kind)));
            }
            let tweaks = match name.as_str() {
                DEMO => Tweaks::read(plugin.config.as_ref())
                    .map_err(|misfit| broken(format!("build plugin {name}: config {misfit}")))?,
                LWS => Tweaks::default(),
                _ => return Err(broken(format!("plugin {name} not registered"))),
            };
            Ok(Link { plugin, tweaks })
        };
        serving.plugins.iter().map(link).collect::<Result<_, _>>().map(Self)
    }

    /// Sends a pod through the chain.
    pub(super) fn apply(&self, serving: &ModelServing, place: Place<'_>, pod: &mut Pod) {
        for link in self.0.iter().filter(|link| concerns(link.plugin, place.role, place.index)) {
            match link.plugin.name.value.as_str() {
                DEMO => link.tweaks.apply(pod),
                LWS => leader_worker_set(serving, place, pod),
                _ => {}
            }
        }
    }

    /// The annotation that the chain sets on a pod, if any: the last plugin overrides the others.
    pub fn annotation(&self, role: &str, index: i64, key: &str) -> Option<&Node> {
        let mut links = self.0.iter().rev().filter(|link| concerns(link.plugin, role, index));
        links.find_map(|link| link.tweaks.annotations.get(key))
    }
}

fn concerns(plugin: &Plugin, role: &str, index: i64) -> bool {
    let role = plugin.roles.is_empty() || plugin.roles.iter().any(|roles| roles == role);
    let target = match plugin.target.as_str() {
        "" | "All" => true,
        "Entry" => index == 0,
        "Worker" => index != 0,
        _ => false,
    };
    role && target
}

/// The changes of the plugin [`DEMO`].
#[derive(Default)]
struct Tweaks {
    runtime_class: Option<Node>,
    annotations: Map,
    env: Vec<Node>,
}

impl Tweaks {
    /// Reads the configuration as the plugin decodes it into its Go struct: keys in any case,
    /// unknown keys are dropped, and values of another type are an error.
    fn read(config: Option<&Node>) -> Result<Self, Misfit> {
        let Some(config) = config.filter(|config| !config.is_null()) else {
            return Ok(Self::default());
        };
        let map = config.as_map().ok_or_else(|| Misfit::new("", config))?;
        let field = |name: &str| {
            // Go's decoder prefers the exact key and takes any case otherwise.
            let same = |entry: &&Entry| entry.key.eq_ignore_ascii_case(name);
            map.entry(name)
                .or_else(|| map.iter().find(same))
                .map(|entry| &entry.node)
                .filter(|node| !node.is_null())
        };
        let mut read = Self::default();
        if let Some(class) = field("runtimeClassName") {
            let text = class.as_str().ok_or_else(|| Misfit::new("runtimeClassName", class))?;
            read.runtime_class = (!text.is_empty()).then(|| class.clone());
        }
        if let Some(annotations) = field("annotations") {
            for entry in
                annotations.as_map().ok_or_else(|| Misfit::new("annotations", annotations))?
            {
                let node = match &entry.node.value {
                    Value::Str(_) => entry.node.clone(),
                    // A null is the zero value of a string.
                    Value::Null => Node::str("", entry.node.origin),
                    _ => {
                        return Err(Misfit::new(
                            &format!("annotations.{}", entry.key),
                            &entry.node,
                        ));
                    }
                };
                read.annotations.insert_entry(Entry { node, ..entry.clone() });
            }
        }
        if let Some(env) = field("env") {
            let pod = schema::kind(super::API_VERSION, "ModelServing");
            let ty = pod.and_then(|schema| {
                schema.root().at(&[
                    "spec",
                    "template",
                    "roles",
                    "entryTemplate",
                    "spec",
                    "containers",
                    "env",
                ])
            });
            // Decoded, so that values of a wrong type are the plugin's error and not the pod's.
            let decoded =
                ty.map_or_else(|| Ok(env.clone()), |ty| schema::marshal(env, ty, Library::V0_34))?;
            read.env = decoded.items().to_vec();
        }
        Ok(read)
    }

    fn apply(&self, pod: &mut Pod) {
        let rule = &rules::DEMO_PLUGIN;
        for entry in &self.annotations {
            pod.replaced.put(
                &mut pod.annotations,
                &["metadata", "annotations"],
                &entry.key,
                &entry.node,
                rule,
            );
        }
        let Some(spec) = pod.spec.as_map_mut() else { return };
        if let Some(class) = &self.runtime_class {
            pod.replaced.put(spec, &["spec"], "runtimeClassName", class, rule);
        }
        if self.env.is_empty() {
            return;
        }
        for key in ["initContainers", "containers"] {
            let Some(containers) = spec.get_mut(key).and_then(Node::as_list_mut) else { continue };
            for container in containers.make_mut() {
                let Some(map) = container.as_map_mut() else { continue };
                let env = map.get("env").map_or(&[][..], Node::items).iter();
                let env = Node::list(env.chain(&self.env).cloned(), Origin::Derived(rule));
                map.insert_entry(Entry {
                    key: "env".into(),
                    key_origin: Origin::Derived(rule),
                    node: env,
                });
            }
        }
    }
}

fn leader_worker_set(serving: &ModelServing, place: Place<'_>, pod: &mut Pod) {
    let owners = serving.object.metadata("ownerReferences").map_or(&[][..], Node::items);
    let sets = owners
        .iter()
        .filter(|owner| owner.get("kind").and_then(Node::as_str) == Some("LeaderWorkerSet"));
    // Without an owner of this kind the plugin changes nothing.
    let Some(owner) =
        sets.filter_map(|owner| owner.get("name")?.as_str()).find(|name| !name.is_empty())
    else {
        return;
    };
    let mut label = |key: &str, value: EcoString| {
        pod.replaced.put(
            &mut pod.labels,
            &["metadata", "labels"],
            &format!("leaderworkerset.sigs.k8s.io/{key}"),
            value,
            &rules::LWS_PLUGIN,
        );
    };
    label("name", owner.into());
    label("group-index", eco_format!("{}", place.group));
    label("worker-index", eco_format!("{}", place.index));
    // Names a group, protects nothing.
    label("group-key", eco_format!("{:x}", Sha1::digest(format!("{owner}-{}", place.group))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    fn read(config: &str) -> Result<(Option<String>, String, String), String> {
        let read = Tweaks::read(Some(&parse(config))).map_err(|misfit| misfit.to_string())?;
        let class = read.runtime_class.and_then(|class| class.as_str().map(str::to_owned));
        let annotations: Vec<String> = read
            .annotations
            .iter()
            .map(|entry| format!("{}={}", entry.key, entry.node.to_json()))
            .collect();
        let env: Vec<String> = read.env.iter().map(|entry| entry.to_json().to_string()).collect();
        Ok((class, annotations.join(" "), env.join(" ")))
    }

    #[test]
    fn plugin_config_is_decoded_like_go_json() {
        let found = read(
            r#"{"RuntimeClassname": "nvidia", "annotations": {"a": "b", "c": null}, "env": [{"name": "X", "value": "", "more": 1}], "other": 7}"#,
        );
        assert_eq!(
            found,
            Ok((Some("nvidia".into()), r#"a="b" c="""#.into(), r#"{"name":"X"}"#.into()))
        );
        for nothing in ["null", "{}", r#"{"runtimeClassName": "", "annotations": null, "env": []}"#]
        {
            assert_eq!(read(nothing), Ok((None, String::new(), String::new())), "{nothing}");
        }
    }

    #[test]
    fn plugin_config_of_a_wrong_type_is_an_error() {
        for config in [
            r#""nvidia""#,
            "[]",
            r#"{"runtimeClassName": 1}"#,
            r#"{"annotations": {"a": 1}}"#,
            r#"{"env": {"A": "b"}}"#,
            r#"{"env": [{"name": "A", "value": 1}]}"#,
        ] {
            assert!(read(config).is_err(), "{config}");
        }
    }
}
