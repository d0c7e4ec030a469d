//! The container that fetches models: the one of the settings, overridden by a
//! ClusterStorageContainer (storage_initializer_injector.go).
//!
//! In: settings, ClusterStorageContainers, an address. Out: the init container and the volumes that
//! it needs. Which addresses are fetched is decided by the caller.

use super::Facts;
use super::fields;
use super::layers::merged;
use super::names::INITIALIZER;
use crate::api::{Amounts, Failure, Object};
use crate::merge::edit::{mapping, text};
use crate::merge::history::Recorder;
use crate::pods::container::{default_env, push, set_env};
use crate::pods::rules::KSERVE_STORAGE;
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

/// Volume of the CA bundle.
const CA_VOLUME: &str = "cabundle-cert";
const ORIGIN: Origin = Origin::Derived(&KSERVE_STORAGE);

/// The ClusterStorageContainer that fetches from an address: the named one, else the first that
/// supports the address; none where the container of the settings fetches.
///
/// # Errors
/// When the named one does not exist, or is disabled.
pub(super) fn storage_container<'a>(
    facts: &Facts<'a>,
    named: Option<&str>,
    uri: &str,
) -> Result<Option<&'a Object>, Failure> {
    let objects = &facts.config.storage_containers;
    let Some(name) = named.filter(|name| !name.is_empty()) else {
        return Ok(objects.iter().find(|object| fetches(object, uri)));
    };
    let fault =
        |words: String| Err(facts.invalid(format!("ClusterStorageContainer \"{name}\"{words}")));
    let Some(object) = objects.iter().find(|object| object.id.name == name) else {
        return fault(" not found".into());
    };
    let workload = object.spec("workloadType").and_then(Node::as_str).unwrap_or(INIT_CONTAINER);
    // The order of upstream's checks: an object with several faults reports the first.
    if disabled(object) {
        fault(" is disabled".into())
    } else if workload != INIT_CONTAINER {
        fault(format!(
            " has workloadType \"{workload}\"; explicit selection requires \"{INIT_CONTAINER}\""
        ))
    } else if supports(object, uri) {
        Ok(Some(object))
    } else {
        fault(format!(" does not support storageUri \"{uri}\""))
    }
}

/// `workloadType` of storage containers that run before a server starts.
const INIT_CONTAINER: &str = "initContainer";

fn disabled(object: &Object) -> bool {
    object.node.get("disabled").and_then(Node::as_bool) == Some(true)
}

/// Whether a storage container fetches from an address before a server starts.
pub(super) fn fetches(object: &Object, uri: &str) -> bool {
    let workload = object.spec("workloadType").and_then(Node::as_str);
    !disabled(object) && workload.is_none_or(|kind| kind == INIT_CONTAINER) && supports(object, uri)
}

/// Whether a storage container supports an address: by prefix or, where it has no prefix, by
/// pattern.
fn supports(object: &Object, uri: &str) -> bool {
    object.spec("supportedUriFormats").map(Node::items).unwrap_or_default().iter().any(|format| {
        let (prefix, pattern) = (text(format, "prefix"), text(format, "regex"));
        if prefix.is_empty() {
            !pattern.is_empty() && crate::schema::matches(pattern, uri)
        } else {
            uri.starts_with(prefix)
        }
    })
}

/// The container that fetches, as in the settings.
pub(crate) fn plain(facts: &Facts<'_>, args: impl IntoIterator<Item = Node>) -> Node {
    let config = &facts.config.storage_initializer;
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } = &config.resources;
    let amounts = |cpu: &EcoString, memory: &EcoString| {
        mapping(
            [
                ("cpu", Node::str(cpu.clone(), ORIGIN)),
                ("memory", Node::str(memory.clone(), ORIGIN)),
            ],
            ORIGIN,
        )
    };
    // The controller's built-in default, for settings that have no image.
    let image = if config.image.is_empty() {
        "kserve/storage-initializer:latest".into()
    } else {
        config.image.clone()
    };
    let resources = mapping(
        [
            ("limits", amounts(cpu_limit, memory_limit)),
            ("requests", amounts(cpu_request, memory_request)),
        ],
        ORIGIN,
    );
    mapping(
        [
            ("name", Node::str(INITIALIZER, ORIGIN)),
            ("image", Node::str(image, ORIGIN)),
            ("args", Node::list(args, ORIGIN)),
            ("resources", resources),
            ("terminationMessagePolicy", Node::str("FallbackToLogsOnError", ORIGIN)),
        ],
        ORIGIN,
    )
}

/// Completes the container after its mounts and credentials: fields of the ClusterStorageContainer,
/// the CA bundle, the variables for Hugging Face and for confidential models.
pub(super) fn finish(
    facts: &Facts<'_>,
    object: Option<&Object>,
    annotations: &Map,
    container: &mut Node,
    pod: &mut Node,
) -> Result<(), Failure> {
    // Quirk: variables of the ClusterStorageContainer about the bundle are not read, because the
    // bundle is determined before the merge.
    let bundle = needs_bundle(facts, container).then(|| bundle(facts, container));
    // The object is the upper layer: its image and arguments replace those of the settings.
    if let Some(written) = object.and_then(|object| object.spec("container")) {
        *container = merged(facts, container, written)?;
    }
    if let Some((bundle, path)) = bundle {
        // Defaults only: the object's own variables were merged above and are kept.
        default_env(container, "CA_BUNDLE_CONFIGMAP_NAME", bundle.clone(), &KSERVE_STORAGE);
        default_env(container, "CA_BUNDLE_VOLUME_MOUNT_POINT", path.clone(), &KSERVE_STORAGE);
        mount_bundle(bundle, path, container, pod);
    }
    for (name, value) in [
        ("HF_HUB_ENABLE_HF_TRANSFER", "1"),
        ("HF_XET_HIGH_PERFORMANCE", "1"),
        ("HF_XET_NUM_CONCURRENT_RANGE_GETS", "8"),
    ] {
        default_env(container, name, value.into(), &KSERVE_STORAGE);
    }
    let fields = |key: &str| fields::internal(annotations, key).and_then(Node::as_str);
    if fields("confidential-enabled") == Some("true") {
        let mut set = |name: &str, value: &str| {
            set_env(container, name, value.into(), &KSERVE_STORAGE, &mut Recorder::off());
        };
        set("CONFIDENTIAL_ENABLED", "true");
        if let Some(id) = fields("confidential-resource-id").filter(|id| !id.is_empty()) {
            set("CONFIDENTIAL_RESOURCE_ID", id);
        }
    }
    Ok(())
}

/// A variable of a container.
fn variable(container: &Node, name: &str) -> Option<EcoString> {
    let env = container.get("env").map(Node::items).unwrap_or_default();
    let found = env.iter().find(|variable| text(variable, "name") == name)?;
    Some(found.get("value").and_then(Node::scalar_text).unwrap_or_default())
}

fn needs_bundle(facts: &Facts<'_>, container: &Node) -> bool {
    !facts.config.ca_bundle.is_empty() || variable(container, BUNDLE_OF_S3).is_some()
}

/// The variable by which credentials of S3 name a bundle of their own.
const BUNDLE_OF_S3: &str = "AWS_CA_BUNDLE_CONFIGMAP";

/// The ConfigMap of the CA bundle and where it is mounted.
fn bundle(facts: &Facts<'_>, container: &Node) -> (EcoString, EcoString) {
    let (usual, mounted) = usual_bundle(facts);
    let path = match variable(container, "AWS_CA_BUNDLE") {
        // As Go's `filepath.Dir`: a bare file name is in `.`.
        Some(file) => file.rsplit_once('/').map_or(".", |(directory, _)| directory).into(),
        None => mounted,
    };
    (variable(container, BUNDLE_OF_S3).unwrap_or(usual), path)
}

/// The bundle of the settings; outside of the controller's namespace a copy of it.
fn usual_bundle(facts: &Facts<'_>) -> (EcoString, EcoString) {
    let config = facts.config;
    // Only the copy exists in the namespaces of services (cabundle_configmap_reconciler.go).
    let copied = facts.service.namespace != config.llm.system;
    let name = if copied { "global-ca-bundle".into() } else { config.ca_bundle.clone() };
    let usual = || EcoString::from("/etc/ssl/custom-certs");
    (name, if config.ca_mount.is_empty() { usual() } else { config.ca_mount.clone() })
}

/// Adds the CA bundle that the settings or the credentials of the container name.
pub(crate) fn bundle_of_settings(facts: &Facts<'_>, container: &mut Node, pod: &mut Node) {
    if needs_bundle(facts, container) {
        let (bundle, path) = bundle(facts, container);
        default_env(container, "CA_BUNDLE_CONFIGMAP_NAME", bundle.clone(), &KSERVE_STORAGE);
        default_env(container, "CA_BUNDLE_VOLUME_MOUNT_POINT", path.clone(), &KSERVE_STORAGE);
        mount_bundle(bundle, path, container, pod);
    }
}

/// Mounts the CA bundle of the settings into the container that pulls images.
pub(super) fn bundle_for_images(facts: &Facts<'_>, container: &mut Node, pod: &mut Node) {
    // The initializer for other models may have added the volume already.
    if facts.config.ca_bundle.is_empty() || crate::pods::container::has_volume(pod, CA_VOLUME) {
        return;
    }
    let (bundle, path) = usual_bundle(facts);
    for (name, value) in
        [("CA_BUNDLE_CONFIGMAP_NAME", &bundle), ("CA_BUNDLE_VOLUME_MOUNT_POINT", &path)]
    {
        push(container, "env", fields::variable(name, value.clone(), ORIGIN));
    }
    mount_bundle(bundle, path, container, pod);
}

fn mount_bundle(bundle: EcoString, path: EcoString, container: &mut Node, pod: &mut Node) {
    let source = mapping([("name", Node::str(bundle, ORIGIN))], ORIGIN);
    let volume = [("name", Node::str(CA_VOLUME, ORIGIN)), ("configMap", source)];
    push(pod, "volumes", mapping(volume, ORIGIN));
    let mount = [
        ("name", Node::str(CA_VOLUME, ORIGIN)),
        ("mountPath", Node::str(path, ORIGIN)),
        ("readOnly", Node::bool(true, ORIGIN)),
    ];
    push(container, "volumeMounts", mapping(mount, ORIGIN));
}
