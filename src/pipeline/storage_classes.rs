//! StorageClasses that the claims of pods name. A claim of a class that a cluster lacks gets no volume,
//! unless a PersistentVolume names the class, too (pkg/controller/volume/persistentvolume/pv_controller.go,
//! `syncUnboundClaim`).
//!
//! In: the objects of an input, and one with pods. Out: the classes that are only taken to exist. Where a
//! StorageClass or any object of a cluster was read, the placement says what the input lacks.

use crate::api::Object;
use crate::pods::specs::each_spec;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Where workloads have templates of claims.
const TEMPLATES: [&[&str]; 2] =
    [&["spec", "volumeClaimTemplates"], &["spec", "leaderWorkerTemplate", "volumeClaimTemplates"]];

/// What is known of the classes of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct StorageClasses {
    /// Some were read, or objects of a cluster.
    are_read: bool,
    /// Those of PersistentVolumes.
    of_volumes: BTreeSet<EcoString>,
    /// Those that claims of manifests name, by namespace and name.
    of_claims: BTreeMap<(EcoString, EcoString), Node>,
}

impl StorageClasses {
    /// Adds an object; others than those of storage change nothing.
    pub(crate) fn add(&mut self, object: &Object) {
        self.are_read |= object.metadata("uid").is_some();
        let class = || object.spec("storageClassName");
        match object.id.kind.as_str() {
            "StorageClass" => self.are_read = true,
            "PersistentVolume" => self.of_volumes.extend(class().and_then(Node::scalar_text)),
            "PersistentVolumeClaim" if object.spec("volumeName").is_none() => {
                let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
                let named =
                    class().map(|class| ((namespace, object.id.name.clone()), class.clone()));
                self.of_claims.extend(named);
            }
            _ => {}
        }
    }

    /// The classes that the claims of an object's pods name and that are only taken to exist.
    pub(super) fn assumed<'n>(&'n self, object: &'n Node) -> Vec<&'n Node> {
        let mut found = Vec::new();
        if self.are_read {
            return found;
        }
        let class = |claim: &'n Node| claim.at(&["spec", "storageClassName"]);
        for path in TEMPLATES {
            let templates = object.at(path).map(Node::items).unwrap_or_default();
            found.extend(templates.iter().filter_map(class));
        }
        let namespace = object.at(&["metadata", "namespace"]).and_then(Node::scalar_text);
        let namespace = namespace.unwrap_or_else(|| "default".into());
        each_spec(object, &mut |spec| {
            for volume in spec.items_of("volumes") {
                let template = volume.at(&["ephemeral", "volumeClaimTemplate"]);
                found.extend(template.and_then(class));
                let claim = volume.at(&["persistentVolumeClaim", "claimName"]);
                let claim = claim.and_then(Node::scalar_text);
                let claim = claim.and_then(|name| self.of_claims.get(&(namespace.clone(), name)));
                found.extend(claim);
            }
        });
        // An empty name asks for a volume without a class.
        found.retain(|class| {
            let name = class.scalar_text().unwrap_or_default();
            !name.is_empty() && !self.of_volumes.contains(&name)
        });
        found
    }
}
