//! One component with everything its objects share.

use super::metadata::{self, label, metadata, queue_labels, with};
use super::rules;
use crate::api::Service;
use crate::compose::ComposedComponent;
use crate::quantity::hash;
use crate::yaml::{Entry, Map, Node};
use ecow::EcoString;

/// A component and the maps and names that several of its objects use. Maps are sorted by key.
pub(crate) struct Frame<'a> {
    /// The service.
    pub(crate) service: &'a Service,
    /// The component.
    pub(crate) component: &'a ComposedComponent,
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
}

impl<'a> Frame<'a> {
    /// Everything a component's objects share.
    pub(crate) fn new(
        service: &'a Service,
        component: &'a ComposedComponent,
        namespace: Node,
    ) -> Self {
        let labels = metadata::sorted(component.labels.clone());
        let annotations = metadata::sorted(component.annotations.clone());
        let queue: Vec<Entry> = queue_labels(&annotations);
        let app = EcoString::from(hash::truncate63(&component.name));
        let queued_labels = if queue.is_empty() { labels.clone() } else { with(&labels, queue) };
        let app_labels = with(&queued_labels, [label("app", app.clone(), &rules::APP_LABEL)]);
        let service_annotations = metadata::service_annotations(&annotations);
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
