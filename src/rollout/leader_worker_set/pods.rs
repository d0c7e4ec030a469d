//! The pods of a group, as the webhook of the controller makes them.

use super::spec::LeaderWorkerSetSpec;
use crate::cluster::schedule::{Namespaces, PodTemplate, PodTerm, selector_of};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use ecow::{EcoString, eco_format};
use sha1::{Digest, Sha1};
use std::fmt::Write as _;

const NAME: &str = "leaderworkerset.sigs.k8s.io/name";
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";
const GROUP_INDEX: &str = "leaderworkerset.sigs.k8s.io/group-index";
const GROUP_KEY: &str = "leaderworkerset.sigs.k8s.io/group-key";

impl LeaderWorkerSetSpec {
    /// A pod of a group of the current version; of place 0 the leader.
    pub fn member(&self, group: usize, index: usize) -> PodTemplate {
        let version = &self.revision;
        self.made(if index == 0 { &version.leader } else { &version.worker }, group, index)
    }

    /// A pod of a group with the labels that the webhook adds, and the selector of its owner.
    pub(super) fn made(&self, base: &PodTemplate, group: usize, index: usize) -> PodTemplate {
        let mut pod = base.clone();
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
        let owner = if index == 0 {
            selector_of([(NAME, &*self.name), (WORKER_INDEX, "0")])
        } else {
            selector_of([(GROUP_INDEX, number.as_str()), (NAME, &*self.name), (GROUP_KEY, &unique)])
        };
        pod.owner = owner.ok();
        if let (Some(key), 0) = (&self.exclusive, index) {
            exclusive(&mut pod, key, &unique);
        }
        pod
    }
}

/// `genGroupUniqueKey`.
fn group_key(name: &str) -> EcoString {
    let mut text = EcoString::new();
    for byte in Sha1::digest(name) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// One condition on a label of pods or nodes that exists, and so is well formed.
fn condition(key: &str, operator: SelectorOperator, value: Option<&str>) -> Option<Requirement> {
    Requirement::new(key, operator, value.map(EcoString::from)).ok()
}

/// A domain for a group alone (`SetExclusiveAffinities`).
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
    pod.affinity.push(term(&[(SelectorOperator::In, Some(unique))]));
    pod.anti_affinity
        .push(term(&[(SelectorOperator::Exists, None), (SelectorOperator::NotIn, Some(unique))]));
}

pub(super) fn narrowed(selector: &Selector, key: &str, value: &str) -> Selector {
    let more = condition(key, SelectorOperator::Equals, Some(value));
    Selector::new(selector.requirements().iter().cloned().chain(more))
}
