//! Models in container images: linked from a sidecar, mounted as a volume, or pulled before the
//! start (storage.go, ConfigureModelcarToContainer and ConfigureOciNativeToContainer;
//! oci_fetch.go).

use super::initializer::{bundle_for_images, plain};
use super::mounts::{Mount, Source, add_mount, readers, volume_name};
use super::names::{INITIALIZER, MAIN, MODELS, TRANSFORMER, WORKER};
use super::{Facts, empty, fields};
use crate::api::Failure;
use crate::merge::edit::{list_mut, map_mut, mapping, position, text};
use crate::merge::history::Recorder;
use crate::operators::kserve::rules::Rules as _;
use crate::pods::container::{has_volume, push, set_env};
use crate::pods::rules::KSERVE_OCI;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::borrow::Cow;

const ORIGIN: Origin = Origin::Derived(&KSERVE_OCI);
/// Volume through which the server reads the model of a modelcar.
const VOLUME: &str = "kserve-provision-location";
/// Most model images in one pod.
const MOST: usize = 10;

/// How a server gets a model from an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageDelivery {
    /// A sidecar of the image, reached through its process.
    Modelcar,
    /// A volume of the image.
    Native,
    /// The storage initializer pulls it.
    Fetch,
}

/// The delivery that a scheme names (empty for `oci://`) and the image; none when the release does
/// not read the address as an image.
fn parsed<'a>(facts: &Facts<'_>, address: &'a str) -> Option<(&'a str, &'a str)> {
    let named = address
        .strip_prefix("oci+")
        .filter(|_| facts.policy.kserve().image_ways)
        .and_then(|rest| rest.split_once("://"));
    // `oci+://` has an empty delivery and is no image: it is left to the other schemes.
    named
        .filter(|(way, _)| !way.is_empty())
        .or_else(|| address.strip_prefix("oci://").map(|image| ("", image)))
}

/// Whether an address is that of an image; no other part fetches those.
pub(super) fn is_image(facts: &Facts<'_>, address: &str) -> bool {
    facts.policy.kserve().image_ways && parsed(facts, address).is_some()
}

/// The delivery of images that the settings name; empty where they set none.
fn usual<'a>(facts: &Facts<'a>) -> &'a str {
    let images = &facts.config.images;
    match facts.policy.kserve().image_ways {
        true => &images.mode,
        false if images.modelcar => "modelcar",
        false => "",
    }
}

/// The delivery for an address and its image; none when the address is not an image, or the
/// settings set no delivery.
pub(super) fn way<'a>(facts: &Facts<'_>, address: &'a str) -> Option<(ImageDelivery, &'a str)> {
    let (named, image) = parsed(facts, address)?;
    let way = match if named.is_empty() { usual(facts) } else { named } {
        "" => return None,
        "native" => ImageDelivery::Native,
        "fetch" if facts.policy.kserve().images_fetched => ImageDelivery::Fetch,
        // Quirk: an unknown delivery is read as this one.
        _ => ImageDelivery::Modelcar,
    };
    Some((way, image))
}

/// The parent directory of a path.
fn parent(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit_once('/')
        .map(|(parent, _)| parent)
        // The parent of `/model` is the root, for which nothing is left of the text.
        .filter(|parent| !parent.is_empty())
        .unwrap_or("/")
}

/// Whether the mount paths of a component's images do not collide. Quirk: all of them are checked
/// with the delivery of the settings, also where an address names another one.
fn apart(facts: &Facts<'_>, paths: &[&str]) -> Result<(), String> {
    if paths.len() > MOST {
        return Err(format!("too many OCI sources ({}); maximum is {MOST} per pod", paths.len()));
    }
    let native = facts.config.images.mode == "native";
    let place = |path: &'_ str| if native { path.to_owned() } else { parent(path).to_owned() };
    for (index, path) in paths.iter().enumerate() {
        // At most ten paths: comparing all pairs is cheap.
        let Some(earlier) = paths[..index].iter().find(|earlier| place(earlier) == place(path))
        else {
            continue;
        };
        return Err(if native {
            format!(
                "OCI mount path \"{path}\" is specified more than once; each native ImageVolume must have a unique mount path"
            )
        } else {
            format!(
                "OCI mount paths \"{earlier}\" and \"{path}\" share parent directory \"{}\", which would cause volume mount shadowing; use mount paths with distinct parent directories",
                parent(path)
            )
        });
    }
    Ok(())
}

/// Adds the images among the models of `storageUris` to the pod.
///
/// # Errors
/// When there are too many, their paths collide, or no container reads them.
pub(super) fn show(facts: &Facts<'_>, sources: &[Source], pod: &mut Node) -> Result<(), Failure> {
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    if !listed.iter().any(|container| matches!(text(container, "name"), MAIN | WORKER)) {
        return Err(facts.invalid("Invalid configuration: cannot find container"));
    }
    let release = facts.policy.kserve();
    let images: Vec<(&str, &str)> = sources
        .iter()
        .map(|source| (source.address(), source.path.as_str()))
        .filter(|(address, _)| parsed(facts, address).is_some())
        .collect();
    if release.several_images {
        // Quirk: releases that do not fetch images check only those of `oci://`.
        let looked_at = images
            .iter()
            .filter(|(address, _)| release.images_fetched || address.starts_with("oci://"));
        let paths: Vec<&str> = looked_at.map(|(_, path)| *path).collect();
        apart(facts, &paths).map_err(|message| facts.invalid(message))?;
    }
    let shown = images.iter().filter_map(|(address, path)| Some((way(facts, address)?, *path)));
    for (index, ((way, image), path)) in shown.enumerate() {
        // Quirk: of images with one name only the first is added.
        let index = if release.several_images { index } else { 0 };
        add(facts, way, &Model { image, path, index }, pod)?;
    }
    Ok(())
}

/// Adds the one image of a pod, where the settings name a delivery.
///
/// # Errors
/// When no container reads it, or another volume is mounted at its path.
pub(super) fn inject(facts: &Facts<'_>, address: &str, pod: &mut Node) -> Result<(), Failure> {
    if usual(facts).is_empty() {
        return Ok(());
    }
    let Some((way, image)) = way(facts, address) else { return Ok(()) };
    // A transformer alone cannot serve the model.
    if readers(pod).first().is_none_or(|name| *name == TRANSFORMER) {
        return Err(facts.invalid(format!("Invalid configuration: cannot find container: {MAIN}")));
    }
    add(facts, way, &Model { image, path: MODELS, index: 0 }, pod)
}

/// A model in an image.
struct Model<'a> {
    image: &'a str,
    /// Where servers find it.
    path: &'a str,
    /// How many of the component's images came before it.
    index: usize,
}

fn add(
    facts: &Facts<'_>,
    way: ImageDelivery,
    model: &Model<'_>,
    pod: &mut Node,
) -> Result<(), Failure> {
    // Read once before the loop: the sidecar that is added is no reader.
    for reader in readers(pod) {
        match way {
            ImageDelivery::Modelcar => modelcar(facts, model, reader, pod),
            ImageDelivery::Native => {
                native(model, reader, pod).map_err(|message| facts.invalid(message))?;
            }
            ImageDelivery::Fetch => fetch(facts, model, reader, pod),
        }
    }
    Ok(())
}

/// Shows the model of an image to one container of a pod: as a volume, or from a sidecar.
///
/// # Errors
/// When another volume is mounted at its path.
pub(crate) fn model_image(
    facts: &Facts<'_>,
    as_volume: bool,
    image: &str,
    path: &str,
    reader: &str,
    pod: &mut Node,
) -> Result<(), String> {
    let model = Model { image, path, index: 0 };
    if as_volume {
        return native(&model, reader, pod);
    }
    modelcar(facts, &model, reader, pod);
    Ok(())
}

/// Changes the container of a name.
fn container_mut(pod: &mut Node, name: &str, change: impl FnOnce(&mut Node)) {
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    let index = position(listed, "name", name);
    if let (Some(index), Some(list)) = (index, list_mut(pod, "containers", ORIGIN)) {
        change(&mut list.make_mut()[index]);
    }
}

fn modelcar(
    facts: &Facts<'_>,
    &Model { image, path, index }: &Model<'_>,
    reader: &str,
    pod: &mut Node,
) {
    let settings = &facts.config.images;
    // The first image has the plain names.
    let called =
        |name: &str| if index == 0 { EcoString::from(name) } else { eco_format!("{name}-{index}") };
    let volume = called(VOLUME);
    let volume_mount = || {
        mapping(
            [
                ("name", Node::str(volume.clone(), ORIGIN)),
                ("mountPath", Node::str(parent(path), ORIGIN)),
            ],
            ORIGIN,
        )
    };
    let run_as_user = |container: &mut Node| {
        if let Some(user) = settings.user
            && let Some(context) = map_mut(container, "securityContext", ORIGIN)
        {
            context.insert("runAsUser", Node::int(user, ORIGIN));
        }
    };
    // The transformer of the same pod comes here second and shares the volume.
    if !has_volume(pod, &volume) {
        let source = ("emptyDir", empty(&KSERVE_OCI));
        push(
            pod,
            "volumes",
            mapping([("name", Node::str(volume.clone(), ORIGIN)), source], ORIGIN),
        );
    }
    container_mut(pod, reader, |container| {
        set_env(container, "MODEL_INIT_MODE", "async".into(), &KSERVE_OCI, &mut Recorder::off());
        add_mount(container, volume_mount());
        run_as_user(container);
    });
    if let Some(map) = pod.as_map_mut() {
        map.insert("shareProcessNamespace", Node::bool(true, ORIGIN));
    }
    // One sidecar serves all readers of its image.
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    if position(listed, "name", &called("modelcar")).is_some() {
        return;
    }
    let amount = |value: &EcoString, usual: &str| {
        Node::str(if value.is_empty() { usual.into() } else { value.clone() }, ORIGIN)
    };
    let amounts = || {
        mapping(
            [("cpu", amount(&settings.cpu, "10m")), ("memory", amount(&settings.memory, "15Mi"))],
            ORIGIN,
        )
    };
    let container = |name: &str, script: EcoString| {
        let args =
            ["sh".into(), "-c".into(), script].map(|word: EcoString| Node::str(word, ORIGIN));
        mapping(
            [
                ("name", Node::str(called(name), ORIGIN)),
                ("image", Node::str(image, ORIGIN)),
                ("args", Node::list(args, ORIGIN)),
                ("resources", mapping([("limits", amounts()), ("requests", amounts())], ORIGIN)),
                ("terminationMessagePolicy", Node::str("FallbackToLogsOnError", ORIGIN)),
            ],
            ORIGIN,
        )
    };
    let link =
        // `$$$$` is `$$` after Kubernetes expanded it: the shell's own process, whose root is the
        // image.
        eco_format!("ln -sf /proc/$$$$/root/models {} && sleep infinity", quoted(facts, path));
    // Below the default path the directory may not exist yet.
    let script = if path == MODELS {
        link
    } else {
        eco_format!("mkdir -p {} && {link}", quoted(facts, parent(path)))
    };
    let mut sidecar = container("modelcar", script);
    push(&mut sidecar, "volumeMounts", volume_mount());
    run_as_user(&mut sidecar);
    push(pod, "containers", sidecar);
    let check = eco_format!(
        "echo 'Pre-fetching modelcar {image}: ' && [ -d /models ] && [ \"$$(ls -A /models)\" ] && echo 'OK ... Prefetched and valid (/models exists)' || (echo 'NOK ... Prefetched but modelcar is invalid (/models does not exist or is empty)' && exit 1)"
    );
    push(pod, "initContainers", container("modelcar-init", check));
}

/// A path, quoted for the shell.
fn quoted<'a>(facts: &Facts<'_>, path: &'a str) -> Cow<'a, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    // Paths of plain characters are written bare, as the shell reads both alike.
    if !facts.policy.kserve().quoted_paths || !path.is_empty() && path.chars().all(plain) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("'{}'", path.replace('\'', "'\\''")))
    }
}

fn native(
    &Model { image, path, .. }: &Model<'_>,
    reader: &str,
    pod: &mut Node,
) -> Result<(), String> {
    // A path of slashes alone leaves no name.
    let volume = Some(volume_name(path)).filter(|name| !name.is_empty());
    let volume = volume.unwrap_or_else(|| "oci-model".into());
    let listed = pod.get("containers").map(Node::items).unwrap_or_default();
    let mounts = position(listed, "name", reader)
        .and_then(|index| listed[index].get("volumeMounts"))
        .map(Node::items)
        .unwrap_or_default();
    // The same volume at its path is what an earlier call has mounted.
    let taken = |mount: &&Node| text(mount, "mountPath") == path && text(mount, "name") != volume;
    if let Some(mount) = mounts.iter().find(taken) {
        let name = text(mount, "name");
        return Err(format!("mountPath \"{path}\" already used by volume \"{name}\""));
    }
    if !has_volume(pod, &volume) {
        let source = mapping(
            [
                ("reference", Node::str(image, ORIGIN)),
                ("pullPolicy", Node::str("IfNotPresent", ORIGIN)),
            ],
            ORIGIN,
        );
        let node = [("name", Node::str(volume.clone(), ORIGIN)), ("image", source)];
        push(pod, "volumes", mapping(node, ORIGIN));
    }
    let mount = [
        ("name", Node::str(volume, ORIGIN)),
        ("mountPath", Node::str(path, ORIGIN)),
        ("readOnly", Node::bool(true, ORIGIN)),
        ("subPath", Node::str("models", ORIGIN)),
    ];
    container_mut(pod, reader, |container| {
        add_mount(container, mapping(mount, ORIGIN));
    });
    Ok(())
}

/// The storage initializer pulls the image, with the first image pull secret as its login.
/// ClusterStorageContainers are not used. Quirk: the container has the same name as the one that
/// fetches other models, so the pod fetches no other model.
fn fetch(facts: &Facts<'_>, &Model { image, path, .. }: &Model<'_>, reader: &str, pod: &mut Node) {
    let pair = [Node::str(eco_format!("oci://{image}"), ORIGIN), Node::str(path, ORIGIN)];
    let listed = pod.get("initContainers").map(Node::items).unwrap_or_default();
    match position(listed, "name", INITIALIZER) {
        None => {
            let mut container = plain(facts, pair);
            login(&mut container, pod);
            bundle_for_images(facts, &mut container, pod);
            if facts.config.images.insecure {
                let name = "KSERVE_OCI_INSECURE_REGISTRY";
                let variable = fields::variable(name, "true".into(), ORIGIN);
                push(&mut container, "env", variable);
            }
            push(pod, "initContainers", container);
        }
        // Further images are pulled by the same container.
        Some(index) => {
            let args = listed[index].get("args").map(Node::items).unwrap_or_default();
            let text = |node: &Node| node.as_str().map(EcoString::from);
            // Arguments alternate between address and path; the same pair is pulled once.
            let same = |have: &[Node]| have.iter().map(text).eq(pair.iter().map(text));
            if !args.chunks_exact(2).any(same)
                && let Some(list) = list_mut(pod, "initContainers", ORIGIN)
            {
                let container = &mut list.make_mut()[index];
                for argument in pair {
                    push(container, "args", argument);
                }
            }
        }
    }
    let volume = Some(volume_name(path)).filter(|name| !name.is_empty());
    let volume = volume.unwrap_or_else(|| "oci-fetch-model".into());
    let mount = Mount { volume: &volume, path, sub_path: "", claim: "", writable: true };
    mount.add(INITIALIZER, pod);
    mount.add(reader, pod);
}

/// The first image pull secret, as the login of the container that pulls.
fn login(container: &mut Node, pod: &mut Node) {
    const LOGIN: &str = "kserve-oci-fetch-docker-config";
    const DIRECTORY: &str = "/mnt/oci-fetch-auth";
    let secrets = pod.get("imagePullSecrets").map(Node::items).unwrap_or_default();
    let Some(secret) = secrets.first().and_then(|secret| secret.get("name")).cloned() else {
        return;
    };
    // A pod that was injected before has the login.
    if has_volume(pod, LOGIN) {
        return;
    }
    let item = mapping(
        [
            ("key", Node::str(".dockerconfigjson", ORIGIN)),
            ("path", Node::str("config.json", ORIGIN)),
        ],
        ORIGIN,
    );
    let source = [
        ("secretName", secret),
        ("items", Node::list([item], ORIGIN)),
        ("defaultMode", Node::int(0o400, ORIGIN)),
    ];
    let volume = [("name", Node::str(LOGIN, ORIGIN)), ("secret", mapping(source, ORIGIN))];
    push(pod, "volumes", mapping(volume, ORIGIN));
    let mount = [
        ("name", Node::str(LOGIN, ORIGIN)),
        ("mountPath", Node::str(DIRECTORY, ORIGIN)),
        ("readOnly", Node::bool(true, ORIGIN)),
    ];
    push(container, "volumeMounts", mapping(mount, ORIGIN));
    let file = eco_format!("{DIRECTORY}/config.json");
    push(container, "env", fields::variable("KSERVE_OCI_DOCKER_CONFIG", file, ORIGIN));
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use crate::yaml::Node;

    fn pod(uri: &str) -> serde_json::Value {
        testing::expanded(&format!("storageUri: {uri}"), "", "").0.to_json()
    }

    // pkg/webhook/admission/pod/storage_initializer_injector.go, oci.
    #[test]
    fn images_are_linked_mounted_or_pulled() {
        let linked = pod("oci://registry/m:1");
        assert_eq!(linked["shareProcessNamespace"], true);
        assert_eq!(linked["initContainers"][0]["name"], "modelcar-init");
        assert_eq!(linked["containers"][1]["name"], "modelcar");
        assert_eq!(linked["containers"][1]["image"], "registry/m:1");
        assert_eq!(
            linked["containers"][1]["args"][2],
            "ln -sf /proc/$$$$/root/models /mnt/models && sleep infinity"
        );
        assert_eq!(
            linked["containers"][0]["securityContext"],
            serde_json::json!({"runAsUser": 1010})
        );
        assert_eq!(
            linked["containers"][0]["volumeMounts"],
            serde_json::json!([{"name": "kserve-provision-location", "mountPath": "/mnt"}])
        );
        let mounted = pod("oci+native://registry/m:1");
        assert_eq!(
            mounted["volumes"],
            serde_json::json!([{"name": "mnt-models", "image": {"reference": "registry/m:1", "pullPolicy": "IfNotPresent"}}])
        );
        assert_eq!(mounted["containers"][0]["volumeMounts"][0]["subPath"], "models");
        let pulled = pod("oci+fetch://registry/m:1");
        assert_eq!(
            pulled["initContainers"][0]["args"],
            serde_json::json!(["oci://registry/m:1", "/mnt/models"])
        );
        assert_eq!(pulled["initContainers"][0]["env"], serde_json::Value::Null);
        let login = testing::expanded(
            "storageUri: 'oci+fetch://registry/m:1'",
            "imagePullSecrets: [{name: login}, {name: other}]",
            "",
        )
        .0;
        let variable = login.at(&["initContainers"]).map(Node::items).unwrap_or_default()[0]
            .to_json()["env"][0]
            .clone();
        assert_eq!(
            variable,
            serde_json::json!({"name": "KSERVE_OCI_DOCKER_CONFIG", "value": "/mnt/oci-fetch-auth/config.json"})
        );
        assert_eq!(login.to_json()["volumes"][0]["secret"]["secretName"], "login");
    }
}
