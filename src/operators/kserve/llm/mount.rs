//! A volume of a pod with its mount in one container.

use super::rules::STORAGE;
use super::scene::put;
use crate::merge::edit::{each_mut, mapping, position, text};
use crate::pods::container::{has_volume, push};
use crate::yaml::{Node, Origin};

const BY: Origin = Origin::Derived(&STORAGE);

/// A volume and where a container mounts it.
pub(super) struct Mount<'m> {
    pub(super) volume: &'m str,
    pub(super) path: &'m str,
    pub(super) claim: &'m str,
    pub(super) sub_path: &'m str,
    pub(super) origin: Origin,
}

impl Mount<'_> {
    /// Mounts the volume into a container, unless the container mounts it already; the pod gets
    /// the volume with its first mount.
    pub(super) fn add(&self, container: &mut Node, read_only: bool, volumes: &mut Vec<Node>) {
        // The name of the volume decides: another path of the user is kept.
        if position(container.items_of("volumeMounts"), "name", self.volume).is_some() {
            return;
        }
        let mut mount = mapping(
            [("name", Node::str(self.volume, BY)), ("mountPath", Node::str(self.path, BY))],
            BY,
        );
        if !self.sub_path.is_empty() {
            put(&mut mount, "subPath", Node::str(self.sub_path, self.origin));
        }
        if read_only {
            put(&mut mount, "readOnly", Node::bool(true, BY));
        }
        push(container, "volumeMounts", mount);
        let source = if self.claim.is_empty() {
            ("emptyDir", Node::map(BY))
        } else {
            let claim = Node::str(self.claim, self.origin);
            ("persistentVolumeClaim", mapping([("claimName", claim)], BY))
        };
        // The caller adds it: the container is part of the pod that is being changed.
        volumes.push(mapping([("name", Node::str(self.volume, BY)), source], BY));
    }

    /// The same for the container of a name in a pod.
    pub(super) fn add_to(&self, pod: &mut Node, name: &str, read_only: bool) {
        let mut volumes = Vec::new();
        let mut first = true;
        each_mut(pod, "containers", |container| {
            // Two containers of one name are invalid; only the first is changed, as in the
            // controller.
            if first && text(container, "name") == name {
                self.add(container, read_only, &mut volumes);
                first = false;
            }
        });
        add_volumes(pod, volumes);
    }
}

pub(super) fn add_volumes(pod: &mut Node, volumes: Vec<Node>) {
    for volume in volumes {
        if !has_volume(pod, text(&volume, "name")) {
            push(pod, "volumes", volume);
        }
    }
}

/// Mounts a claim that a URI names.
pub(super) fn mount_claim(uri: &str, pod: &mut Node, container: &str, path: &str, volume: &str) {
    let rest = uri.strip_prefix("pvc://").unwrap_or(uri);
    let (claim, sub_path) = rest.split_once('/').unwrap_or((rest, ""));
    let mount = Mount { volume, path, claim, sub_path, origin: BY };
    mount.add_to(pod, container, true);
}
