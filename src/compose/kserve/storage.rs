//! Several models at once: `storageUris` (kserve.md 5.7). What one `storageUri` needs is the
//! webhook's to add.

use super::credentials::Credentials;
use super::predictor::{MAIN, TRANSFORMER};
use super::{Facts, empty, oci};
use crate::api::Amounts;
use crate::compose::container::{default_env, has_volume, push};
use crate::compose::edit::{each_mut, mapping, position, text};
use crate::compose::rules::KSERVE_STORAGE;
use crate::compose::{merge, typed};
use crate::decision::{DeploymentMode, ServiceError};
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::LayerRule;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

/// Where a model lies when nobody says.
pub(super) const MODELS: &str = "/mnt/models";
/// Name of the container that fetches.
pub(super) const INITIALIZER: &str = "storage-initializer";
/// Container of workers.
const WORKER: &str = "worker-container";

/// Mounts claims, shows images and fetches everything else for a component with `storageUris`.
///
/// # Errors
/// What the controller says. Quirk: in Knative mode it says it into its log only, and goes on
/// without what is missing.
pub(super) fn several(
    facts: &Facts<'_>,
    spec: &Node,
    annotations: &Map,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), ServiceError> {
    let uris = spec.get("storageUris").map(Node::items).unwrap_or_default();
    let Some(first) = uris.first() else { return Ok(()) };
    let container = initializer(facts, text(first, "uri"), spec)?;
    match provide(facts, uris, &container, annotations, pod, findings) {
        Err(error) if facts.mode == DeploymentMode::Serverless => {
            findings.push(
                Diagnostic::new(
                    Code::InvalidInput,
                    format!("the controller goes on without the models: {}", error.message),
                )
                .severity(Severity::Warning)
                .at(first.origin.span())
                .path("spec.predictor.storageUris")
                .object(facts.service.object.id.to_string())
                .help("correct `storageUris`, or what is to fetch them"),
            );
            Ok(())
        }
        result => result,
    }
}

fn provide(
    facts: &Facts<'_>,
    uris: &[Node],
    container: &Initializer,
    annotations: &Map,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), ServiceError> {
    let fetched = pod
        .get("initContainers")
        .is_some_and(|list| position(list.items(), "name", INITIALIZER).is_some());
    if super::effective::internal(annotations, "agent").is_some() || fetched {
        return Ok(());
    }
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    if !listed.iter().any(|container| matches!(text(container, "name"), MAIN | WORKER)) {
        return Err(facts.invalid("Invalid configuration: cannot find container"));
    }
    if !container.several {
        return Err(
            facts.invalid(format!("storage container \"{}\" does not support multi-model download; set supportsMultiModelDownload to true", container.name))
        );
    }
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let path = |node: &Node| {
        node.get("mountPath")
            .and_then(Node::as_str)
            .filter(|path| !path.is_empty())
            .unwrap_or(MODELS)
            .to_owned()
    };
    let (images, others): (Vec<&Node>, Vec<&Node>) =
        uris.iter().partition(|node| oci::way(facts, text(node, "uri")).is_some());
    let shown: Vec<_> = images
        .iter()
        .filter_map(|node| Some((oci::way(facts, text(node, "uri"))?, path(node))))
        .collect();
    oci::apart(&shown).map_err(|message| facts.invalid(message))?;
    for (index, ((way, image), path)) in shown.into_iter().enumerate() {
        oci::add(facts, way, &oci::Model { image: &image, path: &path, index }, pod);
    }
    let (claims, fetched): (Vec<&Node>, Vec<&Node>) =
        others.into_iter().partition(|node| text(node, "uri").starts_with("pvc://"));
    let writable = is_writable(annotations);
    for claim in claims {
        let (uri, path) = (text(claim, "uri"), path(claim));
        let name = uri.strip_prefix("pvc://").unwrap_or(uri).split('/').next().unwrap_or_default();
        let volume = volume_name(&path);
        mount(pod, &Mount { volume: &volume, path: &path, sub_path: None, writable });
        if !has_volume(pod, &volume) {
            let source = mapping([("claimName", Node::str(name, claim.origin))], origin);
            push(
                pod,
                "volumes",
                mapping(
                    [("name", Node::str(volume, origin)), ("persistentVolumeClaim", source)],
                    origin,
                ),
            );
        }
    }
    // Quirk: what pulls images is called as what fetches, so that nothing else is fetched beside
    // it.
    let pulls = pod
        .get("initContainers")
        .is_some_and(|list| position(list.items(), "name", INITIALIZER).is_some());
    if fetched.is_empty() || pulls {
        return Ok(());
    }
    let paths: Vec<String> = fetched.iter().map(|node| path(node)).collect();
    let parent = common_parent(&paths);
    let volume = volume_name(&parent);
    if !has_volume(pod, &volume) {
        push(
            pod,
            "volumes",
            mapping(
                [("name", Node::str(volume.clone(), origin)), ("emptyDir", empty(&KSERVE_STORAGE))],
                origin,
            ),
        );
    }
    let mut args = Vec::new();
    for (node, path) in fetched.iter().zip(&paths) {
        args.push(node.get("uri").cloned().unwrap_or_else(|| Node::str("", origin)));
        args.push(Node::str(path.as_str(), origin));
    }
    mount(pod, &Mount { volume: &volume, path: &parent, sub_path: None, writable });
    let account = pod.get("serviceAccountName").cloned();
    let container = container.built(facts, args, (&volume, &parent), pod, |container, pod| {
        Credentials { facts, annotations, findings }.of_account(account.as_ref(), container, pod);
    })?;
    push(pod, "initContainers", container);
    Ok(())
}

/// What fetches models.
pub(super) struct Initializer {
    name: EcoString,
    several: bool,
    /// What a ClusterStorageContainer says of its container.
    written: Option<Node>,
}

/// The container that fetches from an address: the one the service names, or the first that knows
/// the address.
pub(super) fn initializer(
    facts: &Facts<'_>,
    uri: &str,
    spec: &Node,
) -> Result<Initializer, ServiceError> {
    let named =
        spec.get("storageContainerName").and_then(Node::as_str).filter(|name| !name.is_empty());
    let found = facts.config.storage_containers.iter().find(|object| {
        if let Some(name) = named { object.id.name == name } else { fetches(object, uri) }
    });
    if let (None, Some(name)) = (found, named) {
        return Err(facts.invalid(format!("ClusterStorageContainer \"{name}\" not found")));
    }
    Ok(match found {
        Some(object) => Initializer {
            name: object.id.name.clone(),
            several: object
                .spec("supportsMultiModelDownload")
                .and_then(Node::as_bool)
                .unwrap_or(false),
            written: object.spec("container").cloned(),
        },
        None => Initializer { name: INITIALIZER.into(), several: true, written: None },
    })
}

/// Whether a storage container fetches from an address before a server starts.
pub(super) fn fetches(object: &crate::api::Object, uri: &str) -> bool {
    let enabled = object.node.get("disabled").and_then(Node::as_bool) != Some(true);
    let works = object
        .spec("workloadType")
        .and_then(Node::as_str)
        .is_none_or(|kind| kind == "initContainer");
    enabled && works && supports(object, uri)
}

/// Whether a storage container knows an address, by prefix or by pattern.
fn supports(object: &crate::api::Object, uri: &str) -> bool {
    object.spec("supportedUriFormats").map(Node::items).unwrap_or_default().iter().any(|format| {
        let prefix = text(format, "prefix");
        let pattern = text(format, "regex");
        (!prefix.is_empty() && uri.starts_with(prefix))
            || (!pattern.is_empty() && crate::schema::matches(&format!("^({pattern})"), uri))
    })
}

/// The container that fetches, as the settings have it, before anything is mounted.
pub(super) fn plain(facts: &Facts<'_>, args: Vec<Node>) -> Node {
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let config = &facts.config.storage_initializer;
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } = &config.resources;
    let amounts = |cpu: &EcoString, memory: &EcoString| {
        mapping(
            [
                ("cpu", Node::str(cpu.clone(), origin)),
                ("memory", Node::str(memory.clone(), origin)),
            ],
            origin,
        )
    };
    let image = if config.image.is_empty() {
        "kserve/storage-initializer:latest".into()
    } else {
        config.image.clone()
    };
    mapping(
        [
            ("name", Node::str(INITIALIZER, origin)),
            ("image", Node::str(image, origin)),
            ("args", Node::list(args, origin)),
            (
                "resources",
                mapping(
                    [
                        ("limits", amounts(cpu_limit, memory_limit)),
                        ("requests", amounts(cpu_request, memory_request)),
                    ],
                    origin,
                ),
            ),
            ("terminationMessagePolicy", Node::str("FallbackToLogsOnError", origin)),
        ],
        origin,
    )
}

/// Mounts the CA bundle of the settings, or of S3, into the container that fetches.
pub(super) fn ca_bundle(facts: &Facts<'_>, container: &mut Node, pod: &mut Node) {
    const VOLUME: &str = "cabundle-cert";
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let own = |name: &str| {
        let env = container.get("env").map(Node::items).unwrap_or_default();
        env.iter()
            .find(|variable| text(variable, "name") == name)
            .and_then(|variable| variable.get("value"))
            .and_then(Node::scalar_text)
    };
    // Outside of the controller's namespace a copy of the bundle is mounted.
    let usual = if facts.service.namespace == "kserve" {
        facts.config.ca_bundle.clone()
    } else {
        "global-ca-bundle".into()
    };
    let bundle = own("AWS_CA_BUNDLE_CONFIGMAP").unwrap_or(usual);
    let path = match own("AWS_CA_BUNDLE") {
        Some(file) => file.rsplit_once('/').map_or(".", |(directory, _)| directory).into(),
        None if facts.config.ca_mount.is_empty() => "/etc/ssl/custom-certs".into(),
        None => facts.config.ca_mount.clone(),
    };
    for (name, value) in [
        ("CA_BUNDLE_CONFIGMAP_NAME", bundle.clone()),
        ("CA_BUNDLE_VOLUME_MOUNT_POINT", path.clone()),
    ] {
        default_env(container, name, value, &KSERVE_STORAGE);
    }
    let source = mapping([("name", Node::str(bundle, origin))], origin);
    push(
        pod,
        "volumes",
        mapping([("name", Node::str(VOLUME, origin)), ("configMap", source)], origin),
    );
    let mount = [
        ("name", Node::str(VOLUME, origin)),
        ("mountPath", Node::str(path, origin)),
        ("readOnly", Node::bool(true, origin)),
    ];
    push(container, "volumeMounts", mapping(mount, origin));
}

impl Initializer {
    /// The init container with its arguments, the mount it writes to, and what `credentials` adds
    /// to it and its pod.
    pub(super) fn built(
        &self,
        facts: &Facts<'_>,
        args: Vec<Node>,
        (volume, path): (&str, &str),
        pod: &mut Node,
        credentials: impl FnOnce(&mut Node, &mut Node),
    ) -> Result<Node, ServiceError> {
        let origin = Origin::Derived(&KSERVE_STORAGE);
        let mut container = plain(facts, args);
        push(
            &mut container,
            "volumeMounts",
            mapping(
                [("name", Node::str(volume, origin)), ("mountPath", Node::str(path, origin))],
                origin,
            ),
        );
        credentials(&mut container, pod);
        let args = container.get("args").cloned();
        if let Some(written) = &self.written {
            let own_args = written.get("args").is_some_and(|args| !args.is_empty());
            container = match facts.policy.layers {
                LayerRule::Written => merge::written(&container, written, &mut ()),
                LayerRule::Typed => typed::container(Some(container), written, &mut ())
                    .map_err(|message| facts.invalid(message))?,
            };
            if let (Some(map), Some(args)) = (container.as_map_mut(), args)
                && !own_args
            {
                map.insert("args", args);
            }
        }
        let bundled = container.get("env").is_some_and(|env| {
            env.items().iter().any(|variable| text(variable, "name") == "AWS_CA_BUNDLE_CONFIGMAP")
        });
        if bundled || !facts.config.ca_bundle.is_empty() {
            ca_bundle(facts, &mut container, pod);
        }
        for (name, value) in [
            ("HF_HUB_ENABLE_HF_TRANSFER", "1"),
            ("HF_XET_HIGH_PERFORMANCE", "1"),
            ("HF_XET_NUM_CONCURRENT_RANGE_GETS", "8"),
        ] {
            default_env(&mut container, name, value.into(), &KSERVE_STORAGE);
        }
        Ok(container)
    }
}

/// Mounts a volume unless the container mounts it already.
pub(super) fn add_mount(container: &mut Node, mount: Node) {
    let mounts = container.get("volumeMounts").map(Node::items).unwrap_or_default();
    if position(mounts, "name", text(&mount, "name")).is_none() {
        push(container, "volumeMounts", mount);
    }
}

/// Whether servers may write where their models lie: an annotation of the pod.
pub(super) fn is_writable(annotations: &Map) -> bool {
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

/// Where a volume is mounted.
pub(super) struct Mount<'a> {
    pub(super) volume: &'a str,
    pub(super) path: &'a str,
    pub(super) sub_path: Option<&'a str>,
    pub(super) writable: bool,
}

/// Mounts a volume where models are read.
pub(super) fn mount(pod: &mut Node, mount: &Mount<'_>) {
    let origin = Origin::Derived(&KSERVE_STORAGE);
    let readers = readers(pod);
    each_mut(pod, "containers", |container| {
        if !readers.contains(&text(container, "name")) {
            return;
        }
        let mut node = mapping(
            [
                ("name", Node::str(mount.volume, origin)),
                ("mountPath", Node::str(mount.path, origin)),
            ],
            origin,
        );
        if let Some(map) = node.as_map_mut() {
            if !mount.writable {
                map.insert("readOnly", Node::bool(true, origin));
            }
            if let Some(sub_path) = mount.sub_path.filter(|sub_path| !sub_path.is_empty()) {
                map.insert("subPath", Node::str(sub_path, origin));
            }
        }
        add_mount(container, node);
    });
}

/// `/mnt/models/a` as the name of a volume.
pub(super) fn volume_name(path: &str) -> EcoString {
    let name: String = path
        .trim_matches('/')
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    eco_format!("{name}")
}

/// The deepest directory that holds all paths.
fn common_parent(paths: &[String]) -> String {
    let (first, rest) = match paths {
        [] => return MODELS.to_owned(),
        // The only path stays as it is written.
        [only] => return only.clone(),
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
    format!("/{}", common.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_share_the_deepest_directory() {
        let paths = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            common_parent(&paths(&["/mnt/models/base", "/mnt/models/adapter"])),
            "/mnt/models"
        );
        assert_eq!(common_parent(&paths(&["/mnt/models"])), "/mnt/models");
        assert_eq!(
            common_parent(&paths(&["/mnt/models/a", "/mnt/models/b/", "/mnt/models/"])),
            "/mnt/models"
        );
        assert_eq!(volume_name("/mnt/models/one"), "mnt-models-one");
    }
}
