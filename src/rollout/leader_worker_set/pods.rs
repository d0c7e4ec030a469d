//! The pods of a group, with the changes of the controller's webhook.

use super::spec::LeaderWorkerSetSpec;
use crate::cluster::schedule::{Namespaces, PodTemplate, PodTerm, selector_of};
use crate::quantity::hash::hex;
use crate::quantity::{Requirement, Selector, SelectorOperator};
use ecow::{EcoString, eco_format};
use sha1::{Digest, Sha1};

pub(crate) const NAME: &str = "leaderworkerset.sigs.k8s.io/name";
pub(crate) const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";
pub(crate) const GROUP_INDEX: &str = "leaderworkerset.sigs.k8s.io/group-index";
const GROUP_KEY: &str = "leaderworkerset.sigs.k8s.io/group-key";

impl LeaderWorkerSetSpec {
    /// Returns the template of a pod of the current version; index 0 is the leader.
    pub fn member(&self, group: usize, index: usize) -> PodTemplate {
        let version = &self.revision;
        self.labeled(if index == 0 { &version.leader } else { &version.worker }, group, index)
    }

    /// Returns the template with the labels that the webhook adds, and the selector of its owner.
    pub(super) fn labeled(&self, base: &PodTemplate, group: usize, index: usize) -> PodTemplate {
        let mut pod = base.clone();
        pod.name = eco_format!("{}-*", self.name);
        let leader = eco_format!("{}-{group}", self.name);
        let unique = group_key(&format!("{}/{leader}", self.namespace));
        let number = eco_format!("{group}");
        let labels = [
            (NAME, self.name.clone()),
            (WORKER_INDEX, eco_format!("{index}")),
            (GROUP_INDEX, number.clone()),
            (GROUP_KEY, unique.clone()),
        ];
        for (key, value) in labels {
            pod.labels.insert(key.into(), value);
        }
        // The selector of the owning StatefulSet, by which the scheduler spreads pods of one
        // owner.
        let owner = if index == 0 {
            selector_of([(NAME, &*self.name), (WORKER_INDEX, "0")])
        } else {
            selector_of([(GROUP_INDEX, number.as_str()), (NAME, &*self.name), (GROUP_KEY, &unique)])
        };
        pod.owner = owner.ok();
        // The webhook gives the affinity to leaders only; workers follow by node selector.
        if let (Some(key), 0) = (&self.exclusive, index) {
            exclusive(&mut pod, key, &unique);
        }
        pod
    }
}

/// `genGroupUniqueKey`.
fn group_key(name: &str) -> EcoString {
    hex(&Sha1::digest(name)).into()
}

/// A condition on a label. Keys and values come from existing objects, so they are valid.
fn condition(key: &str, operator: SelectorOperator, value: Option<&str>) -> Option<Requirement> {
    Requirement::new(key, operator, value.map(EcoString::from)).ok()
}

/// Adds the affinity that reserves a topology domain for a group (`SetExclusiveAffinities`).
fn exclusive(pod: &mut PodTemplate, key: &EcoString, unique: &str) {
    let everywhere = Namespaces { names: vec![pod.namespace.clone()], selector: None };
    let term = |conditions: &[(SelectorOperator, Option<&str>)]| PodTerm {
        namespaces: everywhere.clone(),
        selector: Some(Selector::new(
            conditions
                .iter()
                .filter_map(|(operator, value)| condition(GROUP_KEY, *operator, *value)),
        )),
        topology_key: key.clone(),
    };
    // The first term would bar a first pod, but a pod that matches its own term may start a
    // domain.
    pod.affinity.push(term(&[(SelectorOperator::In, Some(unique))]));
    pod.anti_affinity
        .push(term(&[(SelectorOperator::Exists, None), (SelectorOperator::NotIn, Some(unique))]));
}

pub(super) fn narrowed(selector: &Selector, key: &str, value: &str) -> Selector {
    let more = condition(key, SelectorOperator::Equals, Some(value));
    Selector::new(selector.requirements().iter().cloned().chain(more))
}
