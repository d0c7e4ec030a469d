//! `volumeClaimTemplates` of StatefulSets and LeaderWorkerSets: the claims that a controller makes
//! before a pod, and the volumes that the pod has of them.

use crate::cluster::schedule::{Admission, NewClaim, PodVolume};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// The templates of claims of a workload.
#[derive(Clone, Debug, Default)]
pub struct ClaimTemplates {
    namespace: EcoString,
    /// Name, object, and why the server refuses such a claim.
    all: Vec<(EcoString, Arc<Node>, Option<EcoString>)>,
}

impl ClaimTemplates {
    /// Reads the list of a workload.
    pub fn read(namespace: &str, list: &[Node], admission: &Admission) -> Self {
        let all = list.iter().map(|claim| {
            let name = claim.at(&["metadata", "name"]).and_then(Node::scalar_text);
            // Judged once for the template: the claims of all pods differ only in their names.
            let refused = admission.refused_claim(namespace, claim);
            (name.unwrap_or_default(), Arc::new(claim.clone()), refused)
        });
        Self { namespace: namespace.into(), all: all.collect() }
    }

    /// Whether pods have no such claims.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Why the server refuses such claims.
    pub fn refused(&self) -> Option<&EcoString> {
        self.all.iter().find_map(|(_, _, refused)| refused.as_ref())
    }

    /// The server takes all of them.
    pub fn allow(&mut self) {
        self.all.iter_mut().for_each(|(_, _, refused)| *refused = None);
    }

    /// The volumes of a pod. Its name begins with that of its StatefulSet and ends with its ordinal, so
    /// that a claim has the name of its template before that of the pod
    /// (pkg/controller/statefulset/stateful_set_utils.go, `getPersistentVolumeClaimName`).
    pub fn volumes(&self, pod: &str) -> impl Iterator<Item = PodVolume> {
        self.all.iter().map(move |(name, ..)| PodVolume::Claim(eco_format!("{name}-{pod}")))
    }

    /// The claims of a pod.
    pub fn of(&self, pod: &str) -> Vec<NewClaim> {
        let claim =
            |(name, object, refused): &(EcoString, Arc<Node>, Option<EcoString>)| NewClaim {
                namespace: self.namespace.clone(),
                name: eco_format!("{name}-{pod}"),
                object: Arc::clone(object),
                refused: refused.clone(),
                settles: true,
            };
        self.all.iter().map(claim).collect()
    }
}
