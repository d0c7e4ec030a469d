//! Models in container images (kserve.md 5.7): linked from a sidecar, mounted as a volume, or
//! pulled before the start.

use super::storage::{
    INITIALIZER, add_mount, ca_bundle, plain as initializer, readers, volume_name,
};
use super::{Facts, empty};
use crate::compose::container::{has_volume, push, set_env};
use crate::compose::edit::{each_mut, mapping, position, text};
use crate::compose::rules::KSERVE_OCI;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

const ORIGIN: Origin = Origin::Derived(&KSERVE_OCI);
/// Volume through which a modelcar shows its model.
const VOLUME: &str = "kserve-provision-location";

/// How a model in an image comes to its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A sidecar of the image, reached through its process.
    Modelcar,
    /// A volume of the image.
    Native,
    /// The storage initializer pulls it.
    Fetch,
}

/// The way for an address and the image it names; none when it is no image, or the settings leave
/// images alone.
pub(super) fn way(facts: &Facts<'_>, address: &str) -> Option<(Way, EcoString)> {
    for (prefix, way) in [("oci+native://", Way::Native), ("oci+fetch://", Way::Fetch)] {
        if let Some(image) = address.strip_prefix(prefix) {
            return Some((way, image.into()));
        }
    }
    let image = address.strip_prefix("oci://")?;
    let way = match facts.config.images.mode.as_str() {
        "modelcar" => Way::Modelcar,
        "native" => Way::Native,
        "fetch" => Way::Fetch,
        _ => return None,
    };
    Some((way, image.into()))
}

/// The directory that holds a path.
fn parent(path: &str) -> &str {
    path.rsplit_once('/')
        .map(|(parent, _)| parent)
        .filter(|parent| !parent.is_empty())
        .unwrap_or("/")
}

/// Whether the images of a component keep out of each other's way.
///
/// # Errors
/// When one would be mounted over another: a link takes the directory it lies in, a volume its own.
pub(super) fn apart(models: &[((Way, EcoString), String)]) -> Result<(), String> {
    for (index, ((way, _), path)) in models.iter().enumerate() {
        let taken = |path: &String| {
            if *way == Way::Modelcar { parent(path).to_owned() } else { path.clone() }
        };
        if models[..index].iter().any(|((other, _), earlier)| {
            other == way && *way != Way::Fetch && taken(earlier) == taken(path)
        }) {
            return Err(match way {
                Way::Modelcar => format!(
                    "OCI storage paths must have different parent directories to avoid volume mount shadowing: {}",
                    parent(path)
                ),
                _ => format!("each OCI storage URI needs a unique mount path: {path}"),
            });
        }
    }
    Ok(())
}

/// A model in an image.
pub(super) struct Model<'a> {
    pub(super) image: &'a str,
    /// Where servers find it.
    pub(super) path: &'a str,
    /// How many of the component's images came before it.
    pub(super) index: usize,
}

/// Shows the model of an image to the containers that serve.
pub(super) fn add(facts: &Facts<'_>, way: Way, model: &Model<'_>, pod: &mut Node) {
    match way {
        Way::Modelcar => modelcar(facts, model, pod),
        Way::Native => native(model, pod),
        Way::Fetch => fetch(facts, model, pod),
    }
}

fn modelcar(facts: &Facts<'_>, &Model { image, path, index }: &Model<'_>, pod: &mut Node) {
    let settings = &facts.config.images;
    // The first image has the plain names.
    let called =
        |name: &str| if index == 0 { EcoString::from(name) } else { eco_format!("{name}-{index}") };
    let volume = called(VOLUME);
    let readers = readers(pod);
    if readers.is_empty() {
        return;
    }
    let user = settings.user.map(|user| mapping([("runAsUser", Node::int(user, ORIGIN))], ORIGIN));
    let volume_mount = || {
        mapping(
            [
                ("name", Node::str(volume.clone(), ORIGIN)),
                ("mountPath", Node::str(parent(path), ORIGIN)),
            ],
            ORIGIN,
        )
    };
    each_mut(pod, "containers", |container| {
        if readers.contains(&text(container, "name")) {
            set_env(container, "MODEL_INIT_MODE", "async".into(), &KSERVE_OCI, &mut ());
            add_mount(container, volume_mount());
            // Quirk: whatever else the security context says is gone.
            if let (Some(map), Some(user)) = (container.as_map_mut(), &user) {
                map.insert("securityContext", user.clone());
            }
        }
    });
    if !has_volume(pod, &volume) {
        push(
            pod,
            "volumes",
            mapping(
                [("name", Node::str(volume.clone(), ORIGIN)), ("emptyDir", empty(&KSERVE_OCI))],
                ORIGIN,
            ),
        );
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
    let mut sidecar = container(
        "modelcar",
        eco_format!("ln -sf /proc/$$$$/root/models {path} && sleep infinity"),
    );
    push(&mut sidecar, "volumeMounts", volume_mount());
    if let (Some(map), Some(user)) = (sidecar.as_map_mut(), user) {
        map.insert("securityContext", user);
    }
    push(pod, "containers", sidecar);
    let check = eco_format!(
        "echo 'Pre-fetching modelcar {image}: ' && [ -d /models ] && [ \"$$(ls -A /models)\" ] && echo 'OK ... Prefetched and valid (/models exists)' || (echo 'NOK ... Prefetched but modelcar is invalid (/models does not exist or is empty)' && exit 1)"
    );
    push(pod, "initContainers", container("modelcar-init", check));
    if let Some(map) = pod.as_map_mut() {
        map.insert("shareProcessNamespace", Node::bool(true, ORIGIN));
    }
}

fn native(&Model { image, path, .. }: &Model<'_>, pod: &mut Node) {
    let volume = volume_name(path);
    let readers = readers(pod);
    each_mut(pod, "containers", |container| {
        if readers.contains(&text(container, "name")) {
            let mount = [
                ("name", Node::str(volume.clone(), ORIGIN)),
                ("mountPath", Node::str(path, ORIGIN)),
                ("readOnly", Node::bool(true, ORIGIN)),
                ("subPath", Node::str("models", ORIGIN)),
            ];
            add_mount(container, mapping(mount, ORIGIN));
        }
    });
    if !has_volume(pod, &volume) {
        let source = mapping(
            [
                ("reference", Node::str(image, ORIGIN)),
                ("pullPolicy", Node::str("IfNotPresent", ORIGIN)),
            ],
            ORIGIN,
        );
        push(
            pod,
            "volumes",
            mapping([("name", Node::str(volume.clone(), ORIGIN)), ("image", source)], ORIGIN),
        );
    }
}

/// The storage initializer pulls the image, with the first secret for images as its login. No
/// ClusterStorageContainer is asked.
fn fetch(facts: &Facts<'_>, &Model { image, path, .. }: &Model<'_>, pod: &mut Node) {
    const LOGIN: &str = "kserve-oci-fetch-docker-config";
    const DIRECTORY: &str = "/mnt/oci-fetch-auth";
    let volume = volume_name(path);
    let mount = || {
        mapping(
            [("name", Node::str(volume.clone(), ORIGIN)), ("mountPath", Node::str(path, ORIGIN))],
            ORIGIN,
        )
    };
    let args = [Node::str(eco_format!("oci://{image}"), ORIGIN), Node::str(path, ORIGIN)];
    let volumes = |pod: &mut Node| {
        if !has_volume(pod, &volume) {
            push(
                pod,
                "volumes",
                mapping(
                    [("name", Node::str(volume.clone(), ORIGIN)), ("emptyDir", empty(&KSERVE_OCI))],
                    ORIGIN,
                ),
            );
        }
    };
    let readers = readers(pod);
    let read = |container: &mut Node| {
        if readers.contains(&text(container, "name")) {
            add_mount(container, mount());
        }
    };
    // Further images are pulled by the same container.
    let there = pod
        .get("initContainers")
        .is_some_and(|list| position(list.items(), "name", INITIALIZER).is_some());
    if there {
        each_mut(pod, "initContainers", |container| {
            if text(container, "name") == INITIALIZER {
                for argument in &args {
                    push(container, "args", argument.clone());
                }
                add_mount(container, mount());
            }
        });
        each_mut(pod, "containers", read);
        volumes(pod);
        return;
    }
    let mut container = initializer(facts, args.to_vec());
    let secret = pod
        .get("imagePullSecrets")
        .and_then(|list| list.items().first())
        .and_then(|secret| secret.get("name"))
        .cloned();
    if let Some(secret) = secret.filter(|_| !has_volume(pod, LOGIN)) {
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
        push(
            pod,
            "volumes",
            mapping(
                [("name", Node::str(LOGIN, ORIGIN)), ("secret", mapping(source, ORIGIN))],
                ORIGIN,
            ),
        );
        let mount = [
            ("name", Node::str(LOGIN, ORIGIN)),
            ("mountPath", Node::str(DIRECTORY, ORIGIN)),
            ("readOnly", Node::bool(true, ORIGIN)),
        ];
        push(&mut container, "volumeMounts", mapping(mount, ORIGIN));
        set_env(
            &mut container,
            "KSERVE_OCI_DOCKER_CONFIG",
            eco_format!("{DIRECTORY}/config.json"),
            &KSERVE_OCI,
            &mut (),
        );
    }
    if !facts.config.ca_bundle.is_empty() {
        ca_bundle(facts, &mut container, pod);
    }
    add_mount(&mut container, mount());
    push(pod, "initContainers", container);
    each_mut(pod, "containers", read);
    volumes(pod);
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use crate::yaml::Node;

    fn pod(uri: &str) -> serde_json::Value {
        testing::expanded(&format!("storageUri: {uri}"), "", "").0.to_json()
    }

    // kserve.md 5.7, oci.
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
