//! Required terms of pod affinity that select namespaces by labels, where Namespaces with pods were not
//! read: which pods such a term means is not known.
//!
//! In: the Namespaces of the input and the namespaces with pods. Out: templates without these terms, with
//! the reason why their placement is not judged. Preferred terms keep no pod from a node, and stay.

use super::pod::{Labels, Namespaces, PodTemplate, PodTerm};
use crate::quantity::{Requirement, Selector};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// The label that the API server writes on every namespace.
pub(super) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Namespaces with pods whose objects were not read.
#[derive(Clone, Debug, Default)]
pub struct UnreadNamespaces(BTreeSet<EcoString>);

impl UnreadNamespaces {
    /// Those of these namespaces with pods that are not among the read ones.
    pub fn new(
        with_pods: impl IntoIterator<Item = EcoString>,
        read: &BTreeMap<EcoString, Labels>,
    ) -> Self {
        let all = with_pods.into_iter().filter(|name| !read.contains_key(name));
        Self(all.collect())
    }

    /// The first of them of which only its labels would tell whether a term selects it.
    fn open(&self, namespaces: &Namespaces) -> Option<&EcoString> {
        let requirements = namespaces.selector.as_ref()?.requirements();
        let is_of_name = |one: &&Requirement| one.key() == NAMESPACE_NAME;
        let (of_name, of_labels): (Vec<_>, Vec<_>) = requirements.iter().partition(is_of_name);
        let may = |name: &&EcoString| {
            !namespaces.names.contains(name) && of_name.iter().all(|one| one.matches(Some(name)))
        };
        self.0.iter().find(may).filter(|_| !of_labels.is_empty())
    }

    /// Leaves open which pods the terms mean that need labels of these namespaces: no node is refused
    /// for them.
    pub fn leave_open(&self, pod: &mut PodTemplate) {
        let open = |term: &PodTerm| self.open(&term.namespaces);
        let required = || pod.affinity.iter().chain(&pod.anti_affinity);
        let Some((namespace, term)) = required().find_map(|term| Some((open(term)?, term))) else {
            return;
        };
        let labels = term.namespaces.selector.iter().flat_map(Selector::requirements);
        let keys: BTreeSet<&str> =
            labels.map(Requirement::key).filter(|key| *key != NAMESPACE_NAME).collect();
        let keys: Vec<&str> = keys.into_iter().collect();
        let why = eco_format!(
            "required affinity of the pods selects namespaces by `{}`, and Namespace `{namespace}` is not \
             in the input",
            keys.join("`, `")
        );
        pod.affinity.retain(|term| open(term).is_none());
        pod.anti_affinity.retain(|term| open(term).is_none());
        pod.open = Some(("namespaceSelector".into(), why));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    fn deployment(name: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {name}}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{spec}containers: [{{name: c, image: x}}]}}}}}}\n"
        )
    }

    fn affinity(kind: &str, namespaces: &str) -> String {
        format!(
            "affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: a}}}}, {namespaces}}}]}}}}, "
        )
    }

    fn namespace(name: &str, labels: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"
        )
    }

    #[test]
    fn labels_of_namespaces_that_were_not_read_are_not_judged() {
        let by_label = "namespaceSelector: {matchLabels: {team: x}}";
        let by_name = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: a}}";
        let other = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: c, team: x}}";
        let both = |labels: &str| namespace("a", labels) + &namespace("b", "");
        for (kind, selector, more, verdict, code) in [
            ("podAffinity", by_label, String::new(), "unknown", 0),
            ("podAntiAffinity", by_label, String::new(), "unknown", 0),
            ("podAffinity", by_label, both("team: x"), "fits", 0),
            ("podAntiAffinity", by_label, both("team: x"), "does-not-fit", 2),
            ("podAffinity", by_label, both("team: y"), "does-not-fit", 2),
            // One Namespace of two was read.
            ("podAffinity", by_label, namespace("b", ""), "unknown", 0),
            ("podAffinity", by_name, String::new(), "fits", 0),
            ("podAntiAffinity", by_name, String::new(), "does-not-fit", 2),
            // No namespace with pods has that name.
            ("podAffinity", other, String::new(), "does-not-fit", 2),
            ("podAffinity", "namespaceSelector: {}", String::new(), "fits", 0),
        ] {
            let text = gpu_node("n1", 8, "")
                + &deployment("a", "")
                + &deployment("b", &affinity(kind, selector))
                + &more;
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            let found = (ran.at("/placement/verdict"), ran.code);
            assert_eq!(found, (verdict.into(), code), "{kind} {selector} {more}: {}", ran.out);
        }
    }

    #[test]
    fn the_namespaces_of_services_count_too() {
        let service = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}, namespaceSelector: {matchLabels: {team: x}}}]}}, containers: [{name: kserve-container, image: x, resources: {limits: {cpu: 1, memory: 4Gi}}}]}}\n";
        let text = gpu_node("n1", 8, "") + service;
        let file = [("in.yaml", text.as_str())];
        let ran = ome_on("plan -o json -f {in.yaml}", &file);
        assert_eq!(ran.at("/placement/verdict"), "unknown", "{}", ran.out);
        assert_eq!(ran.at("/placement/notJudged/0/what"), "namespaceSelector");
        assert_eq!(ome_on("explain s -n ml -f {in.yaml}", &file).code, 0);
    }
}
