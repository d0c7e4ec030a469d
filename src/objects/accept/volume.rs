//! Volumes of a pod.

use super::judge::Judge;
use super::mount::Volumes;
use super::source::{self, Of};
use crate::quantity::names;
use crate::yaml::{At, Entry, Node};

/// Sources of volumes, in the order in which the server checks them (`validateVolumeSource`).
const KINDS: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Judges the volumes of a pod and returns those without a fault: the server mounts no others. The
/// pod's name is empty where it is not known yet, and none in a template.
pub(super) fn volumes<'n>(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    volumes: Option<&'n Node>,
    pod: Option<&str>,
) -> Volumes<'n> {
    let Some(list) = volumes else { return Volumes::new() };
    judge.keyed(at, list, &[("name", "")]);
    let mut found = Volumes::with_capacity(list.items().len());
    for (index, volume) in list.items().iter().enumerate() {
        let at = at.index(index);
        let before = judge.findings.len();
        let name = volume.get("name").and_then(Node::as_str).unwrap_or_default();
        let mut sources: Vec<&Entry> =
            volume.entries().filter(|entry| entry.key != "name" && !entry.node.is_null()).collect();
        // The first in upstream's order is the volume, wherever it was written.
        sources.sort_by_key(|entry| KINDS.iter().position(|kind| *kind == entry.key));
        for entry in sources.iter().skip(1) {
            judge.forbidden(
                &at.field(&entry.key),
                &entry.node,
                "may not specify more than 1 volume type",
                "keep one of them",
            );
        }
        // A volume without a source is an empty directory.
        let kind = sources.first().map_or("emptyDir", |entry| entry.key.as_str());
        if let Some(entry) = sources.first() {
            let of = Of::Pod { pod, volume };
            source::source(judge, &at.field(kind), kind, &entry.node, of);
        }
        if judge.present(&at, volume, "name").is_some() {
            judge.formed(&at, volume, "name", names::dns1123_label);
        }
        // Mounts of a wrong volume are then not found, as the server reports them.
        if judge.findings.len() == before {
            found.insert(name, kind);
        }
    }
    found
}
