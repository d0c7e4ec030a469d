//! The values that all objects of one component share.

use crate::api::Service;
use crate::objects::metadata::{label, metadata, queue_labels, with};
use crate::objects::{metadata, rules};
use crate::operators::ome::rules::OmeRelease;
use crate::pods::built::Component;
use crate::quantity::hash;
use crate::yaml::{Entry, Map, Node};
use ecow::{EcoString, eco_format};

/// A component and the maps and names that several of its objects use. Maps are sorted by key.
pub(crate) struct Frame<'a> {
    /// The service.
    pub(crate) service: &'a Service,
    /// The component.
    pub(crate) component: &'a Component,
    /// Its namespace.
    pub(crate) namespace: Node,
    /// Value of the label `app`, also the name of the Service: the component's name, shortened to
    /// 63 bytes.
    pub(crate) app: EcoString,
    /// The component's labels.
    pub(crate) labels: Map,
    /// The component's labels with those of its queue.
    pub(crate) queued_labels: Map,
    /// The component's labels with those of its queue and `app`.
    pub(crate) app_labels: Map,
    /// The component's annotations.
    pub(crate) annotations: Map,
    /// The component's annotations, as its Service has them.
    pub(crate) service_annotations: Map,
    /// Name of its Deployment.
    pub(crate) deployment: EcoString,
    /// The Deployment that its autoscaler targets.
    pub(crate) scaled: EcoString,
}

impl<'a> Frame<'a> {
    /// Computes the shared values of a component's objects.
    pub(crate) fn new(
        service: &'a Service,
        component: &'a Component,
        namespace: Node,
        release: &OmeRelease,
    ) -> Self {
        let labels = metadata::sorted(component.labels.clone());
        let annotations = metadata::sorted(component.annotations.clone());
        let queue: Vec<Entry> = queue_labels(&annotations);
        let app = EcoString::from(hash::truncate63(&component.name));
        // Without a queue the labels stay as they are: no copy with a changed order.
        let queued_labels = if queue.is_empty() { labels.clone() } else { with(&labels, queue) };
        let app_labels = with(&queued_labels, [label("app", app.clone(), &rules::APP_LABEL)]);
        let service_annotations = if release.service_annotations_filtered {
            metadata::service_annotations(&annotations)
        } else {
            annotations.clone()
        };
        let suffixed = |suffix| {
            if suffix { eco_format!("{}-new", component.name) } else { component.name.clone() }
        };
        // An annotation with any value marks a dedicated cluster, unless Volcano has the queue.
        let dedicated = annotations.contains_key("ome.io/dedicated-ai-cluster")
            && !annotations.contains_key("volcano");
        let queued = annotations
            .get("kueue-enabled")
            .is_some_and(|enabled| enabled.as_str() == Some("true"));
        // The two suffixes depend on different annotations: the autoscaler may target a name that
        // no Deployment has.
        let deployment = suffixed(release.dedicated_suffix && dedicated);
        let scaled = suffixed(release.autoscaler_follows_suffix && queued);
        Self {
            service,
            component,
            namespace,
            app,
            labels,
            queued_labels,
            app_labels,
            annotations,
            service_annotations,
            deployment,
            scaled,
        }
    }

    /// `SERVICE-engine` and so on, not shortened.
    pub(crate) fn name(&self) -> &EcoString {
        &self.component.name
    }

    /// A value of the merged component spec; null counts as absent.
    pub(crate) fn spec(&self, key: &str) -> Option<&Node> {
        self.component.spec.get(key)
    }

    /// `metadata` of an object of this component.
    pub(crate) fn metadata(
        &self,
        name: impl Into<EcoString>,
        labels: &Map,
        annotations: &Map,
    ) -> Option<Node> {
        metadata(name, Some(&self.namespace), labels, annotations)
    }

    /// A selector of the pods of a Deployment.
    pub(crate) fn app_selector(&self) -> Map {
        [label("app", self.app.clone(), &rules::APP_LABEL)].into_iter().collect()
    }
}
