//! Several models at once: `storageUris` (kserve.md 5.7). What one `storageUri` needs is the webhook's to add.

use super::other::variable;
use super::predictor::MAIN;
use super::{Facts, empty};
use crate::api::Amounts;
use crate::compose::container::push;
use crate::compose::edit::{list_mut, mapping, text};
use crate::compose::rules::KSERVE_STORAGE;
use crate::compose::{merge, typed};
use crate::decision::ServiceError;
use crate::policy::LayerRule;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// Where a model lies when nobody says.
pub(super) const MODELS: &str = "/mnt/models";
/// Name of the container that fetches.
pub(super) const INITIALIZER: &str = "storage-initializer";
/// Containers that see the models.
const READERS: [&str; 3] = [MAIN, "worker-container", "transformer-container"];

/// Mounts claims and fetches everything else for a component with `storageUris`.
pub(super) fn several(facts: &Facts<'_>, spec: &Node, pod: &mut Node) -> Result<(), ServiceError> {
    let uris = spec.get("storageUris").map(Node::items).unwrap_or_default();
    if uris.is_empty() {
        return Ok(());
    }
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let path = |node: &Node| node.get("mountPath").and_then(Node::as_str).filter(|path| !path.is_empty()).unwrap_or(MODELS).to_owned();
    let (claims, fetched): (Vec<&Node>, Vec<&Node>) = uris.iter().partition(|node| text(node, "uri").starts_with("pvc://"));
    for claim in claims {
        let (uri, path) = (text(claim, "uri"), path(claim));
        let name = uri.trim_start_matches("pvc://").split('/').next().unwrap_or_default();
        let volume = volume_name(&path);
        let source = mapping([("claimName", Node::str(name, claim.origin))], origin);
        push(pod, "volumes", mapping([("name", Node::str(volume.clone(), origin)), ("persistentVolumeClaim", source)], origin));
        mount(facts, pod, &volume, &path, None);
    }
    let Some(first) = fetched.first() else { return Ok(()) };
    let container = initializer(facts, text(first, "uri"), spec)?;
    if !container.several {
        return Err(
            facts.invalid(format!("storage container \"{}\" does not support multi-model download; set supportsMultiModelDownload to true", container.name))
        );
    }
    let paths: Vec<String> = fetched.iter().map(|node| path(node)).collect();
    let parent = common_parent(&paths);
    let volume = volume_name(&parent);
    push(pod, "volumes", mapping([("name", Node::str(volume.clone(), origin)), ("emptyDir", empty(&KSERVE_STORAGE))], origin));
    let mut args = Vec::new();
    for (node, path) in fetched.iter().zip(&paths) {
        args.push(node.get("uri").cloned().unwrap_or_else(|| Node::str("", origin)));
        args.push(Node::str(path.as_str(), origin));
    }
    mount(facts, pod, &volume, &parent, None);
    push(pod, "initContainers", container.built(facts, args, &volume, &parent)?);
    Ok(())
}

/// What fetches models.
pub(super) struct Initializer {
    name: EcoString,
    several: bool,
    /// What a ClusterStorageContainer says of its container.
    written: Option<Node>,
}

/// The container that fetches from an address: the one the service names, or the first that knows the address.
pub(super) fn initializer(facts: &Facts<'_>, uri: &str, spec: &Node) -> Result<Initializer, ServiceError> {
    let named = spec.get("storageContainerName").and_then(Node::as_str);
    let found = facts.config.storage_containers.iter().find(|object| {
        if let Some(name) = named {
            object.id.name == name
        } else {
            let enabled = object.node.get("disabled").and_then(Node::as_bool) != Some(true);
            let works = object.spec("workloadType").and_then(Node::as_str).is_none_or(|kind| kind == "initContainer");
            enabled && works && supports(object, uri)
        }
    });
    if let (None, Some(name)) = (found, named) {
        return Err(facts.invalid(format!("ClusterStorageContainer \"{name}\" not found")));
    }
    Ok(match found {
        Some(object) => Initializer {
            name: object.id.name.clone(),
            several: object.spec("supportsMultiModelDownload").and_then(Node::as_bool).unwrap_or(false),
            written: object.spec("container").cloned(),
        },
        None => Initializer { name: INITIALIZER.into(), several: true, written: None },
    })
}

/// Whether a storage container knows an address, by prefix or by pattern.
pub(crate) fn supports(object: &crate::api::Object, uri: &str) -> bool {
    object.spec("supportedUriFormats").map(Node::items).unwrap_or_default().iter().any(|format| {
        let prefix = text(format, "prefix");
        let pattern = text(format, "regex");
        (!prefix.is_empty() && uri.starts_with(prefix)) || (!pattern.is_empty() && crate::schema::matches(&format!("^({pattern})"), uri))
    })
}

impl Initializer {
    /// The init container with its arguments and the mount it writes to.
    pub(super) fn built(&self, facts: &Facts<'_>, args: Vec<Node>, volume: &str, path: &str) -> Result<Node, ServiceError> {
        let origin = Origin::Derived(&KSERVE_STORAGE);
        let config = &facts.config.storage_initializer;
        let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } = &config.resources;
        let amounts =
            |cpu: &EcoString, memory: &EcoString| mapping([("cpu", Node::str(cpu.clone(), origin)), ("memory", Node::str(memory.clone(), origin))], origin);
        let mount = mapping([("name", Node::str(volume, origin)), ("mountPath", Node::str(path, origin))], origin);
        let image = if config.image.is_empty() { "kserve/storage-initializer:latest".into() } else { config.image.clone() };
        let mut container = mapping(
            [
                ("name", Node::str(INITIALIZER, origin)),
                ("image", Node::str(image, origin)),
                ("args", Node::list(args.clone(), origin)),
                ("resources", mapping([("limits", amounts(cpu_limit, memory_limit)), ("requests", amounts(cpu_request, memory_request))], origin)),
                ("volumeMounts", Node::list([mount], origin)),
                ("terminationMessagePolicy", Node::str("FallbackToLogsOnError", origin)),
            ],
            origin,
        );
        if let Some(written) = &self.written {
            let own_args = written.get("args").is_some_and(|args| !args.is_empty());
            container = match facts.policy.layers {
                LayerRule::Written => merge::written(&container, written, &mut ()),
                LayerRule::Typed => typed::container(Some(container), written, &mut ()).map_err(|message| facts.invalid(message))?,
            };
            if let Some(map) = container.as_map_mut()
                && !own_args
            {
                map.insert("args", Node::list(args, origin));
            }
        }
        for (name, value) in [("HF_HUB_ENABLE_HF_TRANSFER", "1"), ("HF_XET_HIGH_PERFORMANCE", "1"), ("HF_XET_NUM_CONCURRENT_RANGE_GETS", "8")] {
            let known = container.get("env").is_some_and(|env| env.items().iter().any(|variable| text(variable, "name") == name));
            if !known {
                push(&mut container, "env", variable(name, value.into(), origin));
            }
        }
        Ok(container)
    }
}

/// Mounts a volume where models are read.
pub(super) fn mount(facts: &Facts<'_>, pod: &mut Node, volume: &str, path: &str, sub_path: Option<&str>) {
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let writable = facts.annotations.get("storage.kserve.io/readonly").and_then(Node::as_str) == Some("false");
    let Some(list) = list_mut(pod, "containers", origin) else { return };
    for container in list.make_mut().iter_mut().filter(|container| READERS.contains(&text(container, "name"))) {
        let mut mount = mapping([("name", Node::str(volume, origin)), ("mountPath", Node::str(path, origin))], origin);
        if let Some(map) = mount.as_map_mut() {
            if !writable {
                map.insert("readOnly", Node::bool(true, origin));
            }
            if let Some(sub_path) = sub_path.filter(|sub_path| !sub_path.is_empty()) {
                map.insert("subPath", Node::str(sub_path, origin));
            }
        }
        push(container, "volumeMounts", mount);
    }
}

/// `/mnt/models/a` as the name of a volume.
fn volume_name(path: &str) -> EcoString {
    let name: String = path.trim_matches('/').to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    eco_format!("{name}")
}

/// The deepest directory that holds all paths.
fn common_parent(paths: &[String]) -> String {
    let Some(first) = paths.first() else { return MODELS.to_owned() };
    let mut common: Vec<&str> = first.split('/').collect();
    for path in &paths[1..] {
        let shared = common.iter().zip(path.split('/')).take_while(|(a, b)| **a == *b).count();
        common.truncate(shared);
    }
    common.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_share_the_deepest_directory() {
        let paths = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(common_parent(&paths(&["/mnt/models/base", "/mnt/models/adapter"])), "/mnt/models");
        assert_eq!(common_parent(&paths(&["/mnt/models"])), "/mnt/models");
        assert_eq!(volume_name("/mnt/models/one"), "mnt-models-one");
    }
}
