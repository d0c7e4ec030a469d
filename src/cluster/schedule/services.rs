//! Services: pods without spread constraints of their own spread with the pods that the Services of
//! one of them select (`DefaultSelector`, framework/plugins/helper/spread.go).

use super::fields::text;
use super::pod::{Labels, PodTemplate, selector_of};
use super::selectors::labels;
use crate::quantity::Selector;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The selectors of the Services of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Services {
    /// By namespace and by the first label of the selector, which every selected pod has: a pod is
    /// not compared with the Services of thousands of others.
    by_label: HashMap<(EcoString, EcoString, EcoString), Vec<Labels>>,
}

impl Services {
    /// Adds a Service; one without a selector selects no pods.
    pub(super) fn add(&mut self, object: &Node) {
        if text(object.get("apiVersion")) != "v1" {
            return;
        }
        let stated = text(object.at(&["metadata", "namespace"]));
        let namespace = if stated.is_empty() { "default".into() } else { stated };
        let selector = labels(object.at(&["spec", "selector"]));
        let Some((key, value)) = selector.iter().next().cloned() else { return };
        let alike = self.by_label.entry((namespace, key, value)).or_default();
        if !alike.contains(&selector) {
            alike.push(selector);
        }
    }

    /// The labels that the Services of a pod select.
    fn of(&self, pod: &PodTemplate) -> BTreeMap<&EcoString, &EcoString> {
        let alike = pod.labels.iter().filter_map(|(key, value)| {
            self.by_label.get(&(pod.namespace.clone(), key.clone(), value.clone()))
        });
        let selected = |selector: &&Labels| {
            selector.iter().all(|(key, value)| pod.labels.get(key) == Some(value))
        };
        let labels = alike.flatten().filter(selected).flat_map(Labels::iter);
        labels.map(|(key, value)| (key, value)).collect()
    }

    /// A template with the selector by which its pods spread: that of its Services and of its owner.
    pub(super) fn spread(&self, mut pod: Arc<PodTemplate>) -> Arc<PodTemplate> {
        if self.by_label.is_empty() || !pod.spread.is_empty() {
            return pod;
        }
        let pairs = self.of(&pod);
        let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        // The API server would refuse labels that make no selector.
        let Ok(of_services) = selector_of(pairs) else { return pod };
        if !of_services.is_empty() {
            let owner = pod.owner.as_ref().map(Selector::requirements).unwrap_or_default();
            let all = of_services.requirements().iter().chain(owner).cloned();
            let owner = Selector::new(all);
            Arc::make_mut(&mut pod).owner = Some(owner);
        }
        pod
    }
}

#[cfg(test)]
mod tests {
    use super::Services;
    use crate::cluster::schedule::labels;
    use crate::cluster::schedule::pod::PodTemplate;
    use crate::cluster::schedule::scheduler_recordings::node;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn owner(pod: &Value, selectors: &[Value]) -> String {
        let mut services = Services::default();
        for selector in selectors {
            services.add(&node(&json!({"apiVersion": "v1", "kind": "Service", "spec": {
                "selector": selector,
            }})));
        }
        let template = PodTemplate {
            namespace: "default".into(),
            labels: labels(Some(&node(pod))),
            ..PodTemplate::default()
        };
        let template = services.spread(Arc::new(template));
        template.owner.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn the_selectors_of_all_services_of_a_pod_are_merged() {
        let pod = json!({"app": "a", "tier": "x"});
        let selectors =
            [json!({"app": "a"}), json!({"app": "a", "tier": "x"}), json!({"tier": "y"})];
        assert_eq!(owner(&pod, &selectors), "app=a,tier=x");
    }

    #[test]
    fn without_a_service_of_its_own_a_pod_does_not_spread() {
        assert_eq!(owner(&json!({"app": "a"}), &[json!({"app": "b"}), json!({})]), "");
    }
}
