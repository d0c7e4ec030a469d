//! Mounted models: their volumes, and the containers that read them.

use super::empty;
use super::names::{MAIN, TRANSFORMER, WORKER};
use crate::merge::edit::{list_mut, mapping, position, text};
use crate::pods::container::{has_volume, push};
use crate::pods::rules::KSERVE_STORAGE;
use crate::yaml::{Node, Origin};
use ecow::EcoString;

const ORIGIN: Origin = Origin::Derived(&KSERVE_STORAGE);

/// A model and the path where its server reads it.
pub(super) struct Source {
    pub(super) uri: Node,
    pub(super) path: EcoString,
}

impl Source {
    pub(super) fn address(&self) -> &str {
        self.uri.as_str().unwrap_or_default()
    }
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

/// The containers of a pod that read models: the server (or a worker, if there is no server) and a
/// transformer in the same pod.
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
        // A reader is a server or an init container, never both: names are unique in a pod.
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
