//! The model in a pod: downloaded by an init container, mounted from a claim or an image
//! (pkg/controller/v1alpha2/llmisvc/workload_storage.go).

use super::accounts::Account;
use super::local_model;
use super::lora::{self, Adapter};
use super::mount::{Mount, add_volumes, mount_claim};
use super::rules::{BUNDLE, KV_CACHE, STORAGE};
use super::scene::{Scene, at_mut, put, take};
use crate::api::Failure;
use crate::diag::Diagnostic;
use crate::merge::edit::{each_mut, map_mut, mapping, position, text};
use crate::merge::history::Recorder;
use crate::operators::kserve::compose;
use crate::pods::container::{default_env, push, set_env};
use crate::quantity::Quantity;
use crate::quantity::hash::hex;
use crate::yaml::{Node, Origin, Value};
use ecow::{EcoString, eco_format};
use sha2::{Digest, Sha256};

const BY: Origin = Origin::Derived(&STORAGE);
const INITIALIZER: &str = "storage-initializer";
/// Where a server finds its model.
pub(super) const MODELS: &str = "/mnt/models";
/// Volume of a downloaded model.
const DOWNLOADED: &str = "kserve-provision-location";
const CLAIMED: &str = "kserve-pvc-source";

/// A pod that gets a model.
pub(super) struct Target<'t, 'a> {
    pub(super) scene: &'t Scene<'a>,
    pub(super) spec: &'t Node,
    /// The account whose credentials are used; none is `default` of the namespace.
    pub(super) account: Option<Account>,
    /// The container that reads the model.
    pub(super) container: &'static str,
    /// Where it reads it.
    pub(super) path: &'static str,
    /// Adapters that the pod serves.
    pub(super) adapters: &'t [Adapter],
}

/// Takes the user's own container that downloads out of a pod.
fn taken_out(pod: &mut Node) -> Option<Node> {
    let list = at_mut(pod, &["initContainers"])?.as_list_mut()?;
    // The last of several with the name; all of them are removed.
    let node = list.iter().rfind(|list| text(list, "name") == INITIALIZER).cloned()?;
    list.retain(|list| text(list, "name") != INITIALIZER);
    Some(node)
}

impl Target<'_, '_> {
    /// Adds the model and its adapters to a pod.
    ///
    /// # Errors
    /// When the URI names no model that can be fetched, with the controller's message.
    pub(super) fn attach(
        &self,
        pod: &mut Node,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Failure> {
        let written = self.spec.at(&["model", "uri"]);
        let origin = written.map_or(BY, |uri| uri.origin);
        let mut uri: EcoString = written.and_then(Node::as_str).unwrap_or_default().into();
        let fail = |message: String| {
            let failure = self.scene.failure(message);
            Failure { span: origin.span().or(failure.span), ..failure }
        };
        if !uri.contains("://") {
            return Err(fail(format!("invalid model URI: {uri}")));
        }
        // A pod without initializer brings its model itself, so the scheme is not judged.
        if self.spec.at(&["storageInitializer", "enabled"]).and_then(Node::as_bool) == Some(false) {
            return Ok(());
        }
        if self.scene.labels().contains_key(local_model::LABEL) {
            let annotation = |key: &str| {
                self.scene.annotation(key).ok_or_else(|| {
                    fail(format!(
                        "LLMInferenceService {}/{}: annotation {key} not found",
                        self.scene.namespace(),
                        self.scene.name()
                    ))
                })
            };
            let source = annotation(local_model::SOURCE)?;
            let claim = annotation(local_model::CLAIM)?;
            // The rest of the address is a path in the cached model.
            let rest = uri.strip_prefix(source.as_str()).unwrap_or(&uri);
            let slash = if rest.starts_with('/') { "" } else { "/" };
            // The cache's directory: the first 8 bytes of the hash of the source.
            let key = hex(&Sha256::digest(source.as_bytes())[..8]);
            uri = eco_format!("pvc://{claim}/models/{key}{slash}{rest}");
        }
        let fetched: Vec<&Adapter> =
            self.adapters.iter().filter(|adapter| !adapter.is_claim()).collect();
        let scheme = uri.split_once("://").map_or("", |(scheme, _)| scheme);
        match scheme {
            "pvc" => {
                mount_claim(&uri, pod, self.container, self.path, CLAIMED);
                // An initializer of the user has nothing to do when no adapter is fetched.
                self.fetch_or_drop(&fetched, pod, findings)?;
            }
            "oci+native" => {
                let image = uri.strip_prefix("oci+native://").unwrap_or_default();
                self.image(image, true, pod)?;
                if !fetched.is_empty() {
                    self.fetch(None, &fetched, pod, findings)?;
                }
            }
            "oci" => {
                let image = uri.strip_prefix("oci://").unwrap_or_default();
                match self.scene.config().images.mode.as_str() {
                    "" => return Err(fail("OCI modelcars is not enabled".into())),
                    mode => self.image(image, mode == "native", pod)?,
                }
                self.fetch_or_drop(&fetched, pod, findings)?;
            }
            "hf" | "s3" => self.fetch(Some((&uri, origin)), &fetched, pod, findings)?,
            _ => return Err(fail(format!("unsupported schema in model URI: {uri}"))),
        }
        lora::attach(self.scene, self.spec, self.adapters, pod).map_err(fail)
    }

    fn fetch_or_drop(
        &self,
        fetched: &[&Adapter],
        pod: &mut Node,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Failure> {
        if fetched.is_empty() {
            taken_out(pod);
            return Ok(());
        }
        self.fetch(None, fetched, pod, findings)
    }

    fn image(&self, image: &str, native: bool, pod: &mut Node) -> Result<(), Failure> {
        let scene = self.scene;
        let named = position(pod.items_of("containers"), "name", self.container).is_some();
        if !named {
            let message = format!("no container found with name {}", self.container);
            return Err(scene.failure(message));
        }
        let facts = compose::bare(scene.policy, scene.service, scene.config());
        compose::model_image(&facts, native, image, self.path, self.container, pod)
            .map_err(|message| scene.failure(message))
    }

    /// Downloads the model, or only adapters, into an empty volume.
    fn fetch(
        &self,
        base: Option<(&str, Origin)>,
        fetched: &[&Adapter],
        pod: &mut Node,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Failure> {
        let scene = self.scene;
        let several = !fetched.is_empty();
        let taken_out = taken_out(pod);
        let mut pairs: Vec<(EcoString, Origin, EcoString)> = Vec::new();
        if let Some((uri, origin)) = base {
            pairs.push((uri.into(), origin, MODELS.into()));
        }
        pairs.extend(
            fetched
                .iter()
                .map(|adapter| (adapter.uri.clone(), adapter.origin, adapter.path.clone())),
        );
        // One volume for all of them: mounted at their common parent, each keeps its path.
        let (target, reads) = if several {
            let parent = common_parent(pairs.iter().map(|(_, _, path)| path.as_str()));
            (parent.clone(), parent)
        } else {
            (MODELS.into(), EcoString::from(self.path))
        };
        let args = pairs.iter().flat_map(|(uri, origin, path)| {
            [Node::str(uri.clone(), *origin), Node::str(path.clone(), BY)]
        });
        let args = Node::list(args, BY);
        let facts = compose::bare(scene.policy, scene.service, scene.config());
        let mut container = compose::initializer::plain(&facts, args.items().iter().cloned());
        // With adapters the settings of a confidential model are not passed on.
        let confidential = self.spec.at(&["model", "confidential"]).filter(|_| !several);
        if let Some(confidential) = confidential
            && confidential.get("enabled").and_then(Node::as_bool) == Some(true)
        {
            let mut set = |name: &str, value: &str| {
                set_env(&mut container, name, value.into(), &STORAGE, &mut Recorder::off());
            };
            set("CONFIDENTIAL_ENABLED", "true");
            if let Some(id) = confidential.get("resourceId").and_then(Node::as_str)
                && !id.is_empty()
            {
                set("CONFIDENTIAL_RESOURCE_ID", id);
            }
        }
        if let Some(node) = taken_out {
            let generated = container.clone();
            container = compose::layers::merged_typed(&container, &node).map_err(|message| {
                scene.failure(format!(
                    "failed to merge user storage-initializer customizations: {message}"
                ))
            })?;
            // The user may change resources and variables; name and arguments stay the
            // controller's.
            take(&mut container, "command");
            for key in ["name", "args"] {
                if let Some(value) = generated.get(key) {
                    put(&mut container, key, value.clone());
                }
            }
        }
        let mut mount =
            Mount { volume: DOWNLOADED, path: &target, claim: "", sub_path: "", origin: BY };
        let mut volumes = Vec::new();
        mount.add(&mut container, false, &mut volumes);
        add_volumes(pod, volumes);
        mount.path = &reads;
        mount.add_to(pod, self.container, true);
        self.credentials(base, several, &pairs, &mut container, pod, findings);
        push(pod, "initContainers", container);
        Ok(())
    }

    fn credentials(
        &self,
        base: Option<(&str, Origin)>,
        several: bool,
        pairs: &[(EcoString, Origin, EcoString)],
        container: &mut Node,
        pod: &mut Node,
        findings: &mut Vec<Diagnostic>,
    ) {
        let scene = self.scene;
        let facts = compose::bare(scene.policy, scene.service, scene.config());
        let is_hub = base.is_some_and(|(uri, _)| uri.starts_with("hf://"));
        let account = self.account.clone().unwrap_or_else(|| Account::default_of(scene));
        // A model of the hub alone gets no CA bundle.
        let bundle = several || !is_hub;
        let annotations = scene.annotations();
        compose::account_credentials(
            &facts,
            &annotations,
            account.object(),
            findings,
            container,
            pod,
        );
        if pairs.iter().any(|(uri, ..)| uri.starts_with("hf://")) {
            for (name, value) in [
                ("HF_HUB_ENABLE_HF_TRANSFER", "1"),
                ("HF_XET_HIGH_PERFORMANCE", "1"),
                ("HF_XET_NUM_CONCURRENT_RANGE_GETS", "8"),
            ] {
                default_env(container, name, value.into(), &STORAGE);
            }
        }
        if self.container == "tokenizer" {
            default_env(container, "STORAGE_ALLOW_PATTERNS", TOKENIZER_FILES.into(), &STORAGE);
        }
        if bundle {
            compose::initializer::bundle_of_settings(&facts, container, pod);
        }
    }
}

/// Files that a tokenizer needs.
const TOKENIZER_FILES: &str = r#"["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt", "config.json", "generation_config.json"]"#;

/// The directory that holds all paths; of one path, itself.
fn common_parent<'p>(paths: impl Iterator<Item = &'p str>) -> EcoString {
    let paths: Vec<Vec<&str>> =
        paths.map(|path| path.trim_matches('/').split('/').collect()).collect();
    let Some((first, others)) = paths.split_first() else { return "/".into() };
    let same = |index: &usize| others.iter().all(|path| path.get(*index) == first.get(*index));
    let depth = (0..first.len()).take_while(same).count();
    eco_format!("/{}", first[..depth].join("/"))
}

/// Mounts the further tiers of a KV cache.
pub(super) fn kv_cache(workload: &Node, pod: &mut Node) {
    const BY: Origin = Origin::Derived(&KV_CACHE);
    let tiers = workload.at(&["kvCacheOffloading", "secondary"]).map(Node::items);
    for (index, tier) in tiers.unwrap_or_default().iter().enumerate() {
        let Some(files) = tier.get("fileSystem") else { continue };
        let size = files.at(&["emptyDir", "size"]);
        let mut sub_path = None;
        let source = if let Some(size) = size {
            ("emptyDir", mapping([("sizeLimit", size.clone())], BY))
        } else if let Some(claim) = files.at(&["pvc", "spec"]) {
            let template = mapping([("spec", claim.clone())], BY);
            ("ephemeral", mapping([("volumeClaimTemplate", template)], BY))
        } else if let Some(claim) = files.at(&["pvc", "ref"]) {
            sub_path = claim.get("path").cloned();
            let name = claim.get("name").cloned().unwrap_or_else(|| Node::str("", BY));
            ("persistentVolumeClaim", mapping([("claimName", name)], BY))
        } else {
            continue;
        };
        let volume = eco_format!("kv-cache-secondary-{index}");
        push(pod, "volumes", mapping([("name", Node::str(volume.clone(), BY)), source], BY));
        let mut first = true;
        // The volume is added all the same where no container has the name.
        each_mut(pod, "containers", |container| {
            if !first || text(container, "name") != super::scene::MAIN {
                return;
            }
            first = false;
            let path = eco_format!("/mnt/kv-cache-{index}");
            let mut mount = mapping(
                [("name", Node::str(volume.clone(), BY)), ("mountPath", Node::str(path, BY))],
                BY,
            );
            if let Some(sub_path) = &sub_path {
                put(&mut mount, "subPath", sub_path.clone());
            }
            push(container, "volumeMounts", mount);
            // An emptyDir counts as ephemeral storage of the container.
            if let Some(size) = size
                && let Some(resources) = map_mut(container, "resources", BY)
            {
                let mut node = Node::new(Value::Map(std::mem::take(resources)), BY);
                if let Some(requests) = map_mut(&mut node, "requests", BY) {
                    let sum = added(requests.get("ephemeral-storage"), size);
                    requests.insert("ephemeral-storage", sum);
                }
                if let Value::Map(map) = node.value {
                    *resources = map;
                }
            }
        });
    }
}

/// The sum of two amounts; one of them may be absent.
fn added(before: Option<&Node>, size: &Node) -> Node {
    let read = |node: &Node| Quantity::parse_field(&node.scalar_text()?).ok();
    match (before.and_then(read), read(size)) {
        (Some(a), Some(b)) => match (a.milli(), b.milli()) {
            (Some(x), Some(y)) => {
                let sum = Quantity::from_milli(x + y);
                Node::str(sum.canonical(), size.origin)
            }
            _ => size.clone(),
        },
        _ => size.clone(),
    }
}

/// The ConfigMap with the CA bundle, copied into the namespace of the service.
///
/// # Errors
/// When the source was read and is not there.
pub(super) fn bundle_copy(scene: &Scene<'_>) -> Option<Node> {
    const BY: Origin = Origin::Derived(&BUNDLE);
    let config = scene.config();
    if config.ca_bundle.is_empty() {
        return None;
    }
    let data = config.ca_data.clone()?;
    let metadata = mapping(
        [
            ("name", Node::str("global-ca-bundle", BY)),
            ("namespace", Node::str(scene.namespace(), BY)),
        ],
        BY,
    );
    Some(mapping(
        [
            ("apiVersion", Node::str("v1", BY)),
            ("kind", Node::str("ConfigMap", BY)),
            ("metadata", metadata),
            ("data", data),
        ],
        BY,
    ))
}
