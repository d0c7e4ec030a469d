//! How models get to a server: claims are mounted, images are added, all other addresses are
//! fetched (storage_initializer_injector.go, CommonStorageInitialization).
//!
//! The controller (for `storageUris`) and the webhook of pods (for the one `storageUri`) share this
//! code. A pod is changed step by step, in the controller's order: where a step fails, the changes
//! of earlier steps stay, as in the controller's Knative mode.

use super::credentials::{Credentials, StorageKey};
use super::fields::internal;
use super::initializer::{self, finish, plain, storage_container};
use super::mounts::{Mount, Source, readers, volume_name};
use super::names::{INITIALIZER, MODELS, TRANSFORMER};
use super::{Facts, oci};
use crate::api::{ComponentKind, DeploymentMode, Failure, Object};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, list_mut, position, text};
use crate::operators::kserve::rules::Rules as _;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::pods::container::push;
use crate::pods::rules::KSERVE_STORAGE;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, EcoVec, eco_format};

const ORIGIN: Origin = Origin::Derived(&KSERVE_STORAGE);

/// Schemes that are supported besides those of ClusterStorageContainers.
const SCHEMES: [&str; 12] = [
    "gs://",
    "s3://",
    "pvc://",
    "file://",
    "https://",
    "http://",
    "hdfs://",
    "webhdfs://",
    "oci://",
    "oci+native://",
    "oci+fetch://",
    "hf://",
];

/// Whether the model of a component can be fetched from its address
/// (pkg/controller/v1beta1/inferenceservice/utils/utils.go, ValidateStorageURI; KServe docs,
/// Serving Runtimes).
pub(super) fn stored(facts: &Facts<'_>, kind: ComponentKind, spec: &Node) -> Result<(), Failure> {
    let Some((text, origin)) = storage_uri(kind, spec) else { return Ok(()) };
    if kind == ComponentKind::Predictor
        && facts.model("storage").is_some_and(|storage| storage.get("path").is_some())
    {
        return Err(facts.invalid("must provide only one of storageUri and storage.path"));
    }
    let at = facts
        .config
        .storage_containers
        .iter()
        .any(|container| initializer::fetches(container, &text));
    // ValidateStorageURI takes a text without `\w+?://` for a local path.
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let local = !text.match_indices("://").any(|(at, _)| text[..at].ends_with(word));
    let is_known = |scheme: &&str| match *scheme {
        "oci+native://" => facts.policy.kserve().image_ways,
        "oci+fetch://" => facts.policy.kserve().images_fetched,
        _ => true,
    };
    let schemes: Vec<&str> = SCHEMES.into_iter().filter(is_known).collect();
    // A host of Azure is judged by its pattern alone, although its scheme is in the list.
    let served = if text.contains(AZURE) {
        is_azure_blob(&text)
    } else {
        schemes.iter().any(|scheme| text.starts_with(scheme))
    };
    if at || local || served {
        return Ok(());
    }
    Err(Failure {
        code: Code::StorageUriScheme,
        help: Some(format!("use one of {}", schemes.join(", "))),
        span: origin.span(),
        ..facts.invalid(format!(
            "StorageURI not supported: storageUri, must be one of: [{}] or match https://{{}}.blob.core.windows.net/{{}}/{{}} or be an absolute or relative local path. StorageUri [{text}] is not supported",
            schemes.join(", ")
        ))
    })
}

/// Host of blobs in Azure.
const AZURE: &str = "blob.core.windows.net";

/// `https://ACCOUNT.blob.core.windows.net/CONTAINER`, anywhere in the text.
fn is_azure_blob(text: &str) -> bool {
    text.match_indices("https://").any(|(at, scheme)| {
        let rest = &text[at + scheme.len()..];
        // The account has at least one character, and in upstream's pattern the dot before the host
        // matches any character.
        let host = rest.match_indices(AZURE).find(|(at, host)| {
            rest[..*at].chars().count() >= 2 && rest[at + host.len()..].starts_with('/')
        });
        host.is_some_and(|(at, host)| rest.len() > at + host.len() + 1)
    })
}

/// The models to provide in a pod.
pub(super) struct Request<'r> {
    pub(super) sources: Vec<Source>,
    /// Annotations of the pod.
    pub(super) annotations: &'r Map,
    /// The ClusterStorageContainer that fetches.
    pub(super) container: Option<&'r Object>,
    pub(super) storage: Option<StorageKey>,
    /// The caller is the webhook, for one model, and not the controller, for several.
    pub(super) by_webhook: bool,
}

/// Mounts claims, adds images and fetches all other models of a component with `storageUris`;
/// `container` is the ClusterStorageContainer of the first of them.
///
/// # Errors
/// The controller's error. Quirk: in Knative mode it only logs the error and continues without the
/// missing model.
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
        // The CRD has the field on the predictor only.
        Some(text(spec, "storageContainerName")).filter(|_| kind == ComponentKind::Predictor);
    let container = storage_container(facts, named, text(first, "uri"))?;
    let source = |node: &Node| Source {
        uri: node.get("uri").cloned().unwrap_or_else(|| Node::str("", ORIGIN)),
        path: Some(text(node, "mountPath"))
            .filter(|path| !path.is_empty())
            .unwrap_or(MODELS)
            .into(),
    };
    // Quirk: the storage key of the predictor's model is used for every component.
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
/// The error of the controller or of the webhook.
pub(super) fn provide(
    facts: &Facts<'_>,
    request: &Request<'_>,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    if internal(request.annotations, "agent").is_some() {
        return Ok(());
    }
    if request.sources.iter().any(|source| oci::way(facts, source.address()).is_some()) {
        // Another step of the webhook adds the one image of a pod.
        if request.by_webhook {
            return Ok(());
        }
        oci::show(facts, &request.sources, pod)?;
        if !facts.policy.kserve().several_images {
            return Ok(());
        }
    }
    // The pod was injected before: webhooks see a pod again on each admission.
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
        // A server that reads the address itself would fetch the model a second time.
        point_to_models(server, pod);
        fetched
    } else {
        many(facts, request, &readers, pod)?
    };
    // The container is the last one. It is removed from the list while volumes are added to the
    // pod.
    if !fetched {
        return Ok(());
    }
    let last = list_mut(pod, "initContainers", ORIGIN).and_then(EcoVec::pop);
    let Some(mut container) = last else { return Ok(()) };
    let mut credentials = Credentials { facts, annotations: request.annotations, findings };
    let storage = if let Some(storage) = &request.storage {
        credentials.of_storage(storage, &mut container)
    } else {
        let account = pod.get("serviceAccountName").cloned();
        credentials.of_account(account.as_ref(), &mut container, pod);
        Ok(())
    };
    let result = storage
        .and_then(|()| finish(facts, request.container, request.annotations, &mut container, pod));
    // Put back also on an error: Knative mode goes on with the pod as it is.
    push(pod, "initContainers", container);
    result
}

/// Prefix of claims.
const PVC: &str = "pvc://";
/// Volume of the one model that is fetched.
const VOLUME: &str = "kserve-provision-location";

/// Provides the webhook's one model at the default path: mounts a claim, or fetches it. Returns
/// whether a model is fetched.
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

/// Provides the controller's models: each claim at its own path, fetched models below one
/// directory. Returns whether a model is fetched.
fn many(
    facts: &Facts<'_>,
    request: &Request<'_>,
    readers: &[&str],
    pod: &mut Node,
) -> Result<bool, Failure> {
    // Images and claims alone are refused, too: the check comes before models are sorted by kind.
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
    // Images are never fetched here, whatever delivery the settings name.
    let others = request.sources.iter().filter(|source| !oci::is_image(facts, source.address()));
    let (claims, fetched): (Vec<&Source>, Vec<&Source>) =
        others.partition(|source| source.address().starts_with(PVC));
    for source in claims {
        // Quirk: the path inside the claim is ignored.
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
    // One volume at the common parent: each model gets its own directory in it.
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

/// Points the variable STORAGE_URI of the server to the directory of its models.
fn point_to_models(server: &str, pod: &mut Node) {
    each_mut(pod, "containers", |container| {
        if text(container, "name") != server {
            return;
        }
        each_mut(container, "env", |variable| {
            if text(variable, "name") == "STORAGE_URI"
                // A reference to a ConfigMap or Secret is left alone.
                && !text(variable, "value").is_empty()
                && let Some(map) = variable.as_map_mut()
            {
                map.insert("value", Node::str(MODELS, ORIGIN));
            }
        });
    });
}

/// Whether servers may write to the model's directory: an annotation of the pod.
fn is_writable(annotations: &Map) -> bool {
    annotations.get("storage.kserve.io/readonly").and_then(Node::as_str) == Some("false")
}

/// The deepest directory that contains all paths.
fn common_parent(paths: &[&str]) -> EcoString {
    let (first, rest) = match paths {
        [] => return MODELS.into(),
        // The only path stays as it is written.
        [only] => return (*only).into(),
        [first, rest @ ..] => (first, rest),
    };
    let mut common: Vec<&str> = first.trim_matches('/').split('/').collect();
    for path in rest {
        // Whole components are compared: `/a/bc` and `/a/b` share `/a` only.
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
