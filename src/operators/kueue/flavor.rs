//! Whether Kueue may assign a ResourceFlavor to a pod, by the node labels and taints of the flavor.
//!
//! As in Kueue's scheduler (docs/decisions.md#kueue-flavors; flavorassigner.go
//! checkFlavorForPodSets): the pod or the flavor must tolerate each taint of the flavor, including
//! taints of devices. The pod's node selector and required node affinity are compared only for
//! label keys that the flavor sets.

use crate::api::ResourceFlavor;
use crate::catalog::Catalog;
use crate::cluster::node::{Machine, Taint, Toleration};
use crate::cluster::schedule::{PodSpec, PodTemplate};
use crate::cluster::terms::{keys, required_terms, selector_mismatch, terms_about, terms_match};
use crate::cluster::{Shape, mismatch};
use crate::quantity::{Requirement, Selector, SelectorOperator};
use crate::yaml::{Map, Node, Value};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// Why a pod cannot get a flavor, with both compared values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlavorMismatch {
    /// A taint that neither pod nor flavor tolerates.
    Taint(EcoString),
    /// The node selector or the required node affinity.
    Affinity(EcoString),
}

/// Whether the node selection of a pod refers to the labels of a flavor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selects {
    /// It selects no node at all, or by a label that the flavor has.
    ByFlavor,
    /// It selects nodes only by labels that the flavor does not have, so it may select nodes of
    /// other flavors.
    Elsewhere,
}

impl Machine {
    /// A node of which only labels are known.
    pub fn labeled(name: EcoString, labels: Map) -> Self {
        Self {
            name,
            labels,
            ready: true,
            cordoned: false,
            tolerates_own: true,
            taints: Vec::new(),
            soft_taints: Vec::new(),
            allocatable: None,
            capacity: Vec::new(),
            images: Vec::new(),
        }
    }

    /// A node as a flavor describes it.
    pub fn of_flavor(flavor: &ResourceFlavor) -> Self {
        Self {
            taints: Taint::list(&flavor.node_taints),
            ..Self::labeled(flavor.name().clone(), flavor.node_labels.clone())
        }
    }
}

/// A pod that was admitted with flavors: Kueue adds the labels of their nodes to its node selector,
/// and their tolerations (pkg/podset/podset.go, Merge). None where they add nothing.
pub fn admitted(
    catalog: &Catalog,
    pod: &PodTemplate,
    flavors: &[EcoString],
) -> Option<PodTemplate> {
    let mut spec = PodSpec::clone(&pod.spec);
    for flavor in flavors.iter().filter_map(|name| catalog.flavor(name)) {
        // Values that are no scalars select nothing on a node and are not added.
        let labels = flavor.node_labels.iter().filter_map(|entry| {
            let value = entry.node.scalar_text()?;
            Requirement::new(entry.key.clone(), SelectorOperator::Equals, [value]).ok()
        });
        let existing = spec.node_selector.requirements();
        // A pod may select by a label of its flavor; the same requirement twice would differ from
        // the pod's own spec below.
        let labels: Vec<Requirement> = labels.filter(|one| !existing.contains(one)).collect();
        spec.node_selector = Selector::new(existing.iter().cloned().chain(labels));
        let more = flavor.tolerations.iter().map(Toleration::of);
        let more: Vec<Toleration> = more.filter(|one| !spec.tolerations.contains(one)).collect();
        spec.tolerations.extend(more);
    }
    // The spec is shared by all replicas: it is copied only where a flavor adds something.
    (spec != *pod.spec).then(|| PodTemplate { spec: Arc::new(spec), ..pod.clone() })
}

impl Shape {
    /// Why such a pod cannot get a flavor; `None` if it can.
    pub fn flavor_barrier(&self, flavor: &ResourceFlavor) -> Option<FlavorMismatch> {
        let machine = Machine::of_flavor(flavor);
        // Tolerations of the flavor count too: Kueue adds them to the pods that it admits.
        if let Some(taint) = machine
            .taints
            .iter()
            .find(|taint| !taint.is_tolerated(self.tolerations.iter().chain(&flavor.tolerations)))
        {
            return Some(FlavorMismatch::Taint(eco_format!("{taint} is not tolerated")));
        }
        let is_of_flavor = |key: &str| flavor.node_labels.contains_key(key);
        if let Some(selector) = &self.selector {
            let compared: Map =
                selector.entries().filter(|entry| is_of_flavor(&entry.key)).cloned().collect();
            let compared = Node::new(Value::Map(compared), selector.origin);
            if let Some(entry) = selector_mismatch(&compared, &machine) {
                let required = entry.node.scalar_text().unwrap_or_default();
                return Some(FlavorMismatch::Affinity(mismatch(&entry.key, &required, &machine)));
            }
        }
        let terms = self.affinity.as_ref().and_then(required_terms)?.items();
        // Terms are alternatives: one without a key of the flavor may match any node, and then the
        // affinity decides nothing.
        let about = terms_about(terms, is_of_flavor).filter(|terms| !terms.is_empty())?;
        (!terms_match(&about, &machine))
            .then(|| FlavorMismatch::Affinity("no required node selector term matches".into()))
    }

    /// Whether such a pod selects nodes by a label of a flavor. A pod that selects no nodes counts
    /// as if it did.
    pub fn selects(&self, flavor: &ResourceFlavor) -> Selects {
        let mut keys_of_pod = self
            .selector
            .iter()
            .flat_map(Node::entries)
            .map(|entry| entry.key.clone())
            .collect::<Vec<_>>();
        keys_of_pod
            .extend(self.affinity.as_ref().and_then(required_terms).map(keys).unwrap_or_default());
        if keys_of_pod.is_empty()
            || keys_of_pod.iter().any(|key| flavor.node_labels.contains_key(key))
        {
            Selects::ByFlavor
        } else {
            Selects::Elsewhere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Api;
    use crate::source::SourceId;
    use crate::testing::object;
    use crate::yaml::{Limits, Origin, Rule};

    static TEST: Rule = Rule { id: "test", text: "", cite: "" };

    fn yaml(text: &str) -> Node {
        crate::yaml::parse(SourceId(0), text, 0..text.len(), &Limits::default())
            .value
            .unwrap_or_else(|| Node::map(Origin::Default(&TEST)))
    }

    fn flavor(spec: &str) -> ResourceFlavor {
        let node = yaml(spec);
        let items = |key: &str| node.get(key).map(Node::items).unwrap_or_default().to_vec();
        ResourceFlavor {
            node_labels: node.get("nodeLabels").and_then(Node::as_map).cloned().unwrap_or_default(),
            node_taints: items("nodeTaints"),
            tolerations: items("tolerations"),
            topology: None,
            object: object(
                (Api::Cluster, "kueue.x-k8s.io/v1beta2"),
                "ResourceFlavor",
                (None, "f"),
                node.clone(),
            ),
        }
    }

    fn required(terms: &str) -> String {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}}}"
        )
    }

    /// OEP-0003, Test Plan; docs/decisions.md#kueue-flavors: a row per rule of Kueue.
    #[test]
    fn flavor_labels_and_taints_are_matched_like_those_of_a_node() {
        let h100 = "nodeLabels: {gpu: h100, zone: a}";
        let tainted = "nodeTaints: [{key: spot, value: 'true', effect: NoSchedule}]";
        for (pod, spec, code) in [
            ("{}", h100, ""),
            ("nodeSelector: {gpu: h100}", h100, ""),
            ("nodeSelector: {gpu: a100}", h100, "affinity"),
            // Keys of other flavors are no business of this one.
            ("nodeSelector: {disk: ssd, gpu: h100}", h100, ""),
            ("nodeSelector: {gpu: h100}", "nodeLabels: {}", ""),
            ("{}", tainted, "taint"),
            ("tolerations: [{key: spot, operator: Exists}]", tainted, ""),
            ("tolerations: [{key: spot, value: 'false'}]", tainted, "taint"),
            (
                "{}",
                "{nodeTaints: [{key: spot, value: 'true', effect: NoSchedule}], tolerations: [{operator: Exists}]}",
                "",
            ),
            ("{}", "nodeTaints: [{key: spot, effect: PreferNoSchedule}]", ""),
            // Devices have no privilege here: the flavor can say that it adds the toleration.
            (
                "{}",
                "nodeTaints: [{key: nvidia.com/gpu, value: present, effect: NoExecute}]",
                "taint",
            ),
            (
                &required("[{matchExpressions: [{key: gpu, operator: In, values: [a100, h100]}]}]"),
                h100,
                "",
            ),
            (
                &required("[{matchExpressions: [{key: gpu, operator: In, values: [a100]}]}]"),
                h100,
                "affinity",
            ),
            // A term that is left without expressions makes all of them match, also beside one
            // that does not.
            (
                &required(
                    "[{matchExpressions: [{key: gpu, operator: In, values: [a100]}]}, {matchExpressions: [{key: disk, operator: Exists}]}]",
                ),
                h100,
                "",
            ),
            (
                &required(
                    "[{matchExpressions: [{key: gpu, operator: NotIn, values: [h100]}, {key: disk, operator: Exists}]}]",
                ),
                h100,
                "affinity",
            ),
            // Fields are not looked at.
            (
                &required("[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]"),
                h100,
                "",
            ),
            (
                &format!(
                    "nodeSelector: {{zone: a}}\n{}",
                    required("[{matchExpressions: [{key: gpu, operator: DoesNotExist}]}]")
                ),
                h100,
                "affinity",
            ),
        ] {
            let found = Shape::of(&yaml(pod)).flavor_barrier(&flavor(spec));
            let found = found.map_or("", |barrier| match barrier {
                FlavorMismatch::Taint(_) => "taint",
                FlavorMismatch::Affinity(_) => "affinity",
            });
            assert_eq!(found, code, "{pod} and {spec}");
        }
    }

    #[test]
    fn a_selector_on_labels_the_flavor_lacks_selects_elsewhere() {
        for (pod, spec, expected) in [
            ("nodeSelector: {gpu: h100}", "nodeLabels: {zone: a}", Selects::Elsewhere),
            ("nodeSelector: {gpu: h100}", "nodeLabels: {gpu: h100}", Selects::ByFlavor),
            (
                &required("[{matchExpressions: [{key: gpu, operator: Exists}]}]"),
                "{}",
                Selects::Elsewhere,
            ),
            ("{}", "{}", Selects::ByFlavor),
        ] {
            assert_eq!(Shape::of(&yaml(pod)).selects(&flavor(spec)), expected, "{pod} and {spec}");
        }
    }
}
