//! LoRA adapters of a model (pkg/controller/v1alpha2/llmisvc/workload_lora.go).
//!
//! In: the merged specification. Out: the adapters by name, their volumes, and the arguments of
//! vLLM.

use super::rules::LORA;
use super::scene::{MAIN, Scene};
use crate::merge::edit::{each_mut, list_mut, position, text};
use crate::quantity::{go_json, names::child_name};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

const BY: Origin = Origin::Derived(&LORA);
const ROOT: &str = "/mnt/lora";
const DOCS: &str =
    "https://github.com/kserve/kserve/blob/master/docs/samples/llmisvc/lora-adapters/README.md";

/// An adapter and where the server reads it.
#[derive(Clone, Debug)]
pub(super) struct Adapter {
    pub(super) name: EcoString,
    /// Where the name is written.
    named: Origin,
    pub(super) uri: EcoString,
    pub(super) origin: Origin,
    pub(super) path: EcoString,
}

impl Adapter {
    pub(super) fn is_claim(&self) -> bool {
        self.uri.starts_with("pvc://")
    }
}

/// A name as one step of a path.
fn segment(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let segment: String = name.chars().map(clean).collect();
    // These would leave the directory of the adapters.
    if matches!(segment.as_str(), "" | "." | "..") { "adapter".into() } else { segment }
}

/// The adapters of a specification, by name.
///
/// # Errors
/// When one cannot be fetched, with the controller's message.
pub(super) fn adapters(spec: &Node) -> Result<Vec<Adapter>, String> {
    let listed = spec.at(&["model", "lora", "adapters"]).map(Node::items).unwrap_or_default();
    let off = spec.at(&["storageInitializer", "enabled"]).and_then(Node::as_bool) == Some(false);
    let mut found = Vec::new();
    for adapter in listed {
        let uri = adapter.get("uri").and_then(Node::as_str).unwrap_or_default();
        // Go's URL parser writes the scheme in small letters.
        let uri: EcoString = match uri.split_once("://") {
            Some((scheme, rest)) => eco_format!("{}://{rest}", scheme.to_ascii_lowercase()),
            None => uri.into(),
        };
        let name = text(adapter, "name");
        let path = eco_format!("{ROOT}/{}", segment(name));
        let origin = adapter.get("uri").map_or(adapter.origin, |uri| uri.origin);
        let named = adapter.get("name").map_or(adapter.origin, |name| name.origin);
        found.push(Adapter { name: name.into(), named, uri, origin, path });
    }
    // Sorted before the checks: the error names the first adapter by name, not by place.
    found.sort_by(|a, b| a.name.cmp(&b.name));
    for Adapter { name, uri, .. } in &found {
        let Some((scheme, _)) = uri.split_once("://") else {
            return Err(format!("LoRA adapter \"{name}\": invalid URI \"{uri}\""));
        };
        let problem = match scheme {
            "hf" | "s3" if off => {
                "hf:// and s3:// require the storage initializer — set storageInitializer.enabled to true".to_owned()
            }
            "pvc" if off => {
                "pvc:// requires a mounted volume — do not set storageInitializer.enabled to false".to_owned()
            }
            "hf" | "s3" | "pvc" => continue,
            "oci" => {
                "oci:// is not supported for LoRA adapters; use hf://, s3://, or pvc:// instead".to_owned()
            }
            _ => format!(
                "unsupported URI scheme \"{scheme}://\"; supported schemes are hf://, s3://, pvc://"
            ),
        };
        return Err(format!("LoRA adapter \"{name}\": {problem} (see {DOCS})"));
    }
    Ok(found)
}

/// The name under which a model is routed by the cluster's gateway.
pub(super) fn published(namespace: &str, name: &str) -> EcoString {
    eco_format!("publishers/{namespace}/models/{name}")
}

/// Adds volumes and arguments of the adapters to a pod.
///
/// # Errors
/// When the pod has no main container.
pub(super) fn attach(
    scene: &Scene<'_>,
    spec: &Node,
    adapters: &[Adapter],
    pod: &mut Node,
) -> Result<(), String> {
    if adapters.is_empty() {
        return Ok(());
    }
    let mut modules: Vec<EcoString> = Vec::new();
    for adapter in adapters {
        if adapter.is_claim() {
            let volume = child_name("lora-pvc-", &adapter.name);
            super::mount::mount_claim(&adapter.uri, pod, MAIN, &adapter.path, &volume);
        }
        // Clients on the cluster's gateway use the published name, others the plain one.
        for name in [adapter.name.clone(), published(scene.namespace(), &adapter.name)] {
            let mut json = String::from("{\"name\":");
            go_json::string(&mut json, &name);
            json.push_str(",\"path\":");
            go_json::string(&mut json, &adapter.path);
            json.push('}');
            // In quotes, because the server is started by a shell.
            modules.push(eco_format!("'{json}'"));
        }
    }
    let containers = pod.items_of("containers");
    let Some(index) = position(containers, "name", MAIN) else {
        return Err(format!("no container \"{MAIN}\" in pod spec for LoRA injection"));
    };
    let main = &containers[index];
    let words = main.texts("command").chain(main.texts("args"));
    // Joined, because a command may be one text for a shell.
    let given = words.collect::<Vec<_>>().join(" ").contains("--lora-modules")
        || main.items_of("env").iter().any(|variable| {
            text(variable, "name") == "VLLM_ADDITIONAL_ARGS"
                && text(variable, "value").contains("--lora-modules")
        });
    // The user's own list is kept whole; the volumes are added all the same.
    if given {
        return Ok(());
    }
    let mut flags: Vec<Node> = vec![Node::str("--enable-lora", BY)];
    for (key, flag) in [
        ("maxRank", "--max-lora-rank"),
        ("maxAdapters", "--max-loras"),
        ("maxCpuAdapters", "--max-cpu-loras"),
    ] {
        let limit = spec.at(&["model", "lora", key]);
        if let Some((number, origin)) = limit.and_then(|node| Some((node.as_int()?, node.origin))) {
            flags.push(Node::str(eco_format!("{flag}={number}"), origin));
        }
    }
    flags.push(Node::str("--lora-modules", BY));
    let origins = adapters.iter().flat_map(|adapter| [adapter.named; 2]);
    flags.extend(modules.into_iter().zip(origins).map(|(text, origin)| Node::str(text, origin)));
    let mut at = 0;
    each_mut(pod, "containers", |container| {
        if at == index
            && let Some(args) = list_mut(container, "args", BY)
        {
            let given = std::mem::take(args);
            // The flags come before those of the user, which the server reads last.
            args.extend(flags.drain(..).chain(given));
        }
        at += 1;
    });
    Ok(())
}
