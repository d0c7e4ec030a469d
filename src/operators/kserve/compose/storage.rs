//! Models on their way to a server: claims that are mounted, images that are shown, and everything
//! else that is fetched (storage_initializer_injector.go, CommonStorageInitialization).
//!
//! One way for both who ask: the controller for `storageUris`, the webhook of pods for the one
//! `storageUri`. A pod is changed step by step, in the controller's order: where a step fails, what
//! was done before it stays, as the controller has it in Knative mode.

use super::credentials::Credentials;
use super::initializer::{INITIALIZER, finish, plain, storage_container};
use super::predictor::{MAIN, TRANSFORMER};
use super::{Facts, empty, oci};
use crate::api::{ComponentKind, DeploymentMode, Failure, Object};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, list_mut, mapping, position, text};
use crate::pods::container::{has_volume, push};
use crate::pods::rules::KSERVE_STORAGE;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, EcoVec, eco_format};

/// Where a model lies when no path is written.
pub(super) const MODELS: &str = "/mnt/models";
/// Container of workers.
pub(super) const WORKER: &str = "worker-container";
const ORIGIN: Origin = Origin::Derived(&KSERVE_STORAGE);

/// A model and where its server reads it.
pub(super) struct Source {
    pub(super) uri: Node,
    pub(super) path: EcoString,
}

impl Source {
    pub(super) fn address(&self) -> &str {
        self.uri.as_str().unwrap_or_default()
    }
}

/// Whose key in the shared Secret is used, and what is said beside it.
pub(super) struct StorageKey {
    pub(super) key: EcoString,
    pub(super) parameters: Map,
    /// Where it is written.
    pub(super) origin: Origin,
}

/// What is to be provided in a pod.
pub(super) struct Request<'r> {
    pub(super) sources: Vec<Source>,
    /// Annotations of the pod.
    pub(super) annotations: &'r Map,
    /// The ClusterStorageContainer that fetches.
    pub(super) container: Option<&'r Object>,
    pub(super) storage: Option<StorageKey>,
    /// The webhook asks for one model, not the controller for several.
    pub(super) by_webhook: bool,
}

/// Mounts claims, shows images and fetches everything else for a component with `storageUris`;
/// `container` was found for the first of them.
///
/// # Errors
/// What the controller says. Quirk: in Knative mode it says it into its log only, and goes on
/// without what is missing.
pub(super) fn several(
    facts: &Facts<'_>,
    kind: ComponentKind,
    spec: &Node,
    annotations: &Map,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let uris = spec.get("storageUris").map(Node::items).unwrap_or_default();
    let Some(first) = uris.first() else { return Ok(()) };
    let named =
        Some(text(spec, "storageContainerName")).filter(|_| kind == ComponentKind::Predictor);
    let container = storage_container(facts, named, text(first, "uri"))?;
    let source = |node: &Node| Source {
        uri: node.get("uri").cloned().unwrap_or_else(|| Node::str("", ORIGIN)),
        path: Some(text(node, "mountPath"))
            .filter(|path| !path.is_empty())
            .unwrap_or(MODELS)
            .into(),
    };
    // Quirk: the key of the predictor's model serves every component.
    let storage = facts.model("storage").and_then(|storage| {
        Some(StorageKey {
            key: storage.get("key")?.scalar_text().unwrap_or_default(),
            parameters: storage.get("parameters")?.as_map()?.clone(),
            origin: storage.origin,
        })
    });
    let request = Request {
        sources: uris.iter().map(source).collect(),
        annotations,
        container,
        storage,
        by_webhook: false,
    };
    match provide(facts, &request, pod, findings) {
        Err(error) if facts.mode == DeploymentMode::Serverless => {
            findings.push(
                Diagnostic::new(
                    Code::InvalidInput,
                    format!("the controller goes on without the models: {}", error.message),
                )
                .severity(Severity::Warning)
                .at(first.origin.span())
                .path(format!("spec.{}.storageUris", kind.as_str()))
                .object(facts.service.object.id.to_string())
                .help("correct `storageUris`, or what is to fetch them"),
            );
            Ok(())
        }
        result => result,
    }
}

/// Provides models in a pod, unless an agent pulls them.
///
/// # Errors
/// What the controller or the webhook says when it gives up.
pub(super) fn provide(
    facts: &Facts<'_>,
    request: &Request<'_>,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    if super::effective::internal(request.annotations, "agent").is_some() {
        return Ok(());
    }
    if request.sources.iter().any(|source| oci::way(facts, source.address()).is_some()) {
        // The one image of a pod is shown by another step of the webhook.
        if request.by_webhook {
            return Ok(());
        }
        oci::show(facts, &request.sources, pod)?;
        if !facts.policy.kserve().several_images {
            return Ok(());
        }
    }
    let fetched = pod.get("initContainers").map(Node::items).unwrap_or_default();
    if position(fetched, "name", INITIALIZER).is_some() {
        return Ok(());
    }
    let readers = readers(pod);
    let Some(&server) = readers.first().filter(|name| **name != TRANSFORMER) else {
        return Err(facts.invalid("Invalid configuration: cannot find container"));
    };
    let fetched = if request.by_webhook {
        let fetched = one(facts, request, &readers, pod);
        point_to_models(server, pod);
        fetched
    } else {
        many(facts, request, &readers, pod)?
    };
    // The container was put last; it is finished apart, for its pod gets volumes meanwhile.
    if !fetched {
        return Ok(());
    }
    let last = list_mut(pod, "initContainers", ORIGIN).and_then(EcoVec::pop);
    let Some(mut container) = last else { return Ok(()) };
    let mut credentials = Credentials { facts, annotations: request.annotations, findings };
    let told = if let Some(storage) = &request.storage {
        credentials.of_storage(storage, &mut container)
    } else {
        let account = pod.get("serviceAccountName").cloned();
        credentials.of_account(account.as_ref(), &mut container, pod);
        Ok(())
    };
    let result = told
        .and_then(|()| finish(facts, request.container, request.annotations, &mut container, pod));
    push(pod, "initContainers", container);
    result
}

/// Prefix of claims.
const PVC: &str = "pvc://";
/// Volume of the one model that is fetched.
const VOLUME: &str = "kserve-provision-location";

/// The one model of the webhook: a claim at the usual place, or what is fetched there. Whether
/// anything is fetched.
fn one(facts: &Facts<'_>, request: &Request<'_>, readers: &[&str], pod: &mut Node) -> bool {
    let Some(source) = request.sources.first() else { return false };
    let writable = is_writable(request.annotations);
    if let Some(claim) = source.address().strip_prefix(PVC) {
        let (claim, sub_path) = claim.split_once('/').unwrap_or((claim, ""));
        let mount = Mount { volume: "kserve-pvc-source", path: MODELS, sub_path, claim, writable };
        for reader in readers {
            mount.add(reader, pod);
        }
        return false;
    }
    push(pod, "initContainers", fetching(facts, [source]));
    let mount = Mount { volume: VOLUME, path: MODELS, sub_path: "", claim: "", writable };
    for reader in readers.iter().chain(&[INITIALIZER]) {
        mount.add(reader, pod);
    }
    true
}

/// The models of the controller: each claim at its own path, all that is fetched below one
/// directory. Whether anything is fetched.
fn many(
    facts: &Facts<'_>,
    request: &Request<'_>,
    readers: &[&str],
    pod: &mut Node,
) -> Result<bool, Failure> {
    if let Some(object) = request.container
        && object.spec("supportsMultiModelDownload").and_then(Node::as_bool) != Some(true)
    {
        let name = object.spec("container").map(|container| text(container, "name"));
        return Err(facts.invalid(format!(
            "storage container \"{}\" does not support multi-model download; use the default kserve storage initializer or a compatible storage container",
            name.unwrap_or_default()
        )));
    }
    let writable = is_writable(request.annotations);
    // Whatever the settings do with images, they are not fetched here.
    let others = request.sources.iter().filter(|source| !oci::is_image(facts, source.address()));
    let (claims, fetched): (Vec<&Source>, Vec<&Source>) =
        others.partition(|source| source.address().starts_with(PVC));
    for source in claims {
        // Quirk: the path within the claim is left out.
        let claim = source.address().strip_prefix(PVC).unwrap_or_default();
        let claim = claim.split('/').next().unwrap_or_default();
        let volume = volume_name(&source.path);
        let mount = Mount { volume: &volume, path: &source.path, sub_path: "", claim, writable };
        for reader in readers {
            mount.add(reader, pod);
        }
    }
    if fetched.is_empty() {
        return Ok(false);
    }
    let paths: Vec<&str> = fetched.iter().map(|source| source.path.as_str()).collect();
    let path = common_parent(&paths);
    push(pod, "initContainers", fetching(facts, fetched));
    let volume = volume_name(&path);
    let mount = Mount { volume: &volume, path: &path, sub_path: "", claim: "", writable };
    for reader in readers.iter().chain(&[INITIALIZER]) {
        mount.add(reader, pod);
    }
    Ok(true)
}

/// The container that fetches these models, each to its path.
fn fetching<'s>(facts: &Facts<'_>, sources: impl IntoIterator<Item = &'s Source>) -> Node {
    let pair = |source: &Source| [source.uri.clone(), Node::str(source.path.clone(), ORIGIN)];
    plain(facts, sources.into_iter().flat_map(pair))
}

/// What a server calls the place of its model is now where it lies.
fn point_to_models(server: &str, pod: &mut Node) {
    each_mut(pod, "containers", |container| {
        if text(container, "name") != server {
            return;
        }
        each_mut(container, "env", |variable| {
            if text(variable, "name") == "STORAGE_URI"
                && !text(variable, "value").is_empty()
                && let Some(map) = variable.as_map_mut()
            {
                map.insert("value", Node::str(MODELS, ORIGIN));
            }
        });
    });
}

/// Mounts a volume unless the container mounts it already.
pub(super) fn add_mount(container: &mut Node, mount: Node) -> bool {
    let mounts = container.get("volumeMounts").map(Node::items).unwrap_or_default();
    let new = position(mounts, "name", text(&mount, "name")).is_none();
    if new {
        push(container, "volumeMounts", mount);
    }
    new
}

/// Whether servers may write where their models lie: an annotation of the pod.
fn is_writable(annotations: &Map) -> bool {
    annotations.get("storage.kserve.io/readonly").and_then(Node::as_str) == Some("false")
}

/// Which containers of a pod read models: the server, or a worker where there is none, and a
/// transformer beside it.
pub(super) fn readers(pod: &Node) -> Vec<&'static str> {
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    let has = |name: &&str| position(listed, "name", name).is_some();
    let server = [MAIN, WORKER].into_iter().find(has);
    server.into_iter().chain(Some(TRANSFORMER).filter(has)).collect()
}

/// A volume of models and where it is mounted.
pub(super) struct Mount<'a> {
    pub(super) volume: &'a str,
    pub(super) path: &'a str,
    /// Empty for the volume's root.
    pub(super) sub_path: &'a str,
    /// The claim that is the volume; empty for an empty directory.
    pub(super) claim: &'a str,
    pub(super) writable: bool,
}

impl Mount<'_> {
    /// Mounts the volume into the container of a name, else the init container of that name, which
    /// writes to it; the pod gets the volume with its first mount (AddModelMount).
    pub(super) fn add(&self, container: &str, pod: &mut Node) {
        let added = self.add_to("containers", container, !self.writable, pod)
            || self.add_to("initContainers", container, false, pod);
        if !added || has_volume(pod, self.volume) {
            return;
        }
        let name = ("name", Node::str(self.volume, ORIGIN));
        let volume = if self.claim.is_empty() {
            mapping([name, ("emptyDir", empty(&KSERVE_STORAGE))], ORIGIN)
        } else {
            let source = mapping([("claimName", Node::str(self.claim, ORIGIN))], ORIGIN);
            mapping([name, ("persistentVolumeClaim", source)], ORIGIN)
        };
        push(pod, "volumes", volume);
    }

    fn add_to(&self, list: &str, name: &str, read_only: bool, pod: &mut Node) -> bool {
        let containers = pod.get(list).map(Node::items).unwrap_or_default();
        let Some(index) = position(containers, "name", name) else { return false };
        let mut node = mapping(
            [("name", Node::str(self.volume, ORIGIN)), ("mountPath", Node::str(self.path, ORIGIN))],
            ORIGIN,
        );
        if let Some(map) = node.as_map_mut() {
            if read_only {
                map.insert("readOnly", Node::bool(true, ORIGIN));
            }
            if !self.sub_path.is_empty() {
                map.insert("subPath", Node::str(self.sub_path, ORIGIN));
            }
        }
        list_mut(pod, list, ORIGIN).is_some_and(|list| add_mount(&mut list.make_mut()[index], node))
    }
}

/// `/mnt/models/a` as the name of a volume.
pub(super) fn volume_name(path: &str) -> EcoString {
    path.trim_matches('/').replace('/', "-").into()
}

/// The deepest directory that holds all paths.
fn common_parent(paths: &[&str]) -> EcoString {
    let (first, rest) = match paths {
        [] => return MODELS.into(),
        // The only path stays as it is written.
        [only] => return (*only).into(),
        [first, rest @ ..] => (first, rest),
    };
    let mut common: Vec<&str> = first.trim_matches('/').split('/').collect();
    for path in rest {
        let shared = common
            .iter()
            .zip(path.trim_matches('/').split('/'))
            .take_while(|(a, b)| **a == *b)
            .count();
        common.truncate(shared);
    }
    eco_format!("/{}", common.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_share_the_deepest_directory() {
        assert_eq!(common_parent(&["/mnt/models/base", "/mnt/models/adapter"]), "/mnt/models");
        assert_eq!(common_parent(&["/mnt/models"]), "/mnt/models");
        assert_eq!(
            common_parent(&["/mnt/models/a", "/mnt/models/b/", "/mnt/models/"]),
            "/mnt/models"
        );
        assert_eq!(volume_name("/mnt/models/one"), "mnt-models-one");
    }
}
