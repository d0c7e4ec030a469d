//! Built services made by hand, for the tests of this module.

use super::metadata;
use crate::api::{Api, ComponentKind, DeploymentMode, Object, ObjectRef, Scope, Service};
use crate::operators::ome::objects::component::Frame;
use crate::operators::ome::rules::Rules;
use crate::pods::built::Component;
use crate::source::{SourceId, Span};
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// Origin of the values of a test.
pub(crate) static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };

/// A tree from JSON.
pub(crate) fn parse(json: &str) -> Node {
    Node::from_json(
        &serde_json::from_str(json).expect("valid JSON in a test"),
        Origin::Default(&GIVEN),
    )
}

/// A mapping from JSON.
pub(crate) fn map(json: &str) -> Map {
    match parse(json).value {
        Value::Map(map) => map,
        _ => panic!("a mapping in a test"),
    }
}

/// A service with this object.
pub(crate) fn service(object: &str) -> Service {
    let node = parse(object);
    let text = |key| node.at(&["metadata", key]).and_then(Node::as_str).map(EcoString::from);
    let namespace = text("namespace").unwrap_or_else(|| "default".into());
    let name = text("name").expect("a name");
    let components = ComponentKind::OME
        .into_iter()
        .filter_map(|kind| {
            Some(crate::api::Component { kind, node: node.at(&["spec", kind.as_str()])?.clone() })
        })
        .collect();
    Service {
        object: Object {
            api: Api::Ome,
            api_version: "ome.io/v1beta1".into(),
            id: ObjectRef {
                kind: "InferenceService".into(),
                scope: Scope::Namespace(namespace.clone()),
                name,
            },
            node,
            span: Span { source: SourceId(0), start: 0, end: 0 },
            builtin: false,
            reported: true,
            template: None,
        },
        namespace,
        model: None,
        runtime: None,
        inline: None,
        refusal: None,
        components,
        protocol: None,
        accelerators: crate::api::AcceleratorWish::silent(),
        accelerator_classes: Vec::new(),
        predictor: crate::api::Predictor::default(),
    }
}

/// A component of a service of this name.
pub(crate) fn component(
    service: &str,
    kind: ComponentKind,
    mode: DeploymentMode,
    spec: &str,
    pod: &str,
) -> Component {
    Component {
        kind,
        name: eco_format!("{service}-{}", kind.as_str()),
        mode,
        spec: parse(spec),
        labels: map(&format!(
            r#"{{"ome.io/inferenceservice":"{service}","component":"{}"}}"#,
            kind.as_str()
        )),
        annotations: Map::new(),
        pod: parse(pod),
        worker: None,
        worker_metadata: None,
        main: 0,
        worker_main: 0,
    }
}

/// A service `chat` in `default` with an engine.
pub(crate) struct Case {
    pub(crate) service: Service,
    pub(crate) component: Component,
}

impl Case {
    pub(crate) fn engine(spec: &str, pod: &str) -> Self {
        Self {
            service: service(
                r#"{"metadata":{"name":"chat","namespace":"default"},"spec":{"engine":{}}}"#,
            ),
            component: component(
                "chat",
                ComponentKind::Engine,
                DeploymentMode::RawDeployment,
                spec,
                pod,
            ),
        }
    }

    /// With these annotations on the component.
    pub(crate) fn annotated(mut self, annotations: &str) -> Self {
        self.component.annotations = map(annotations);
        self
    }

    /// With this `spec` of the service.
    pub(crate) fn service(mut self, spec: &str) -> Self {
        self.service = service(&format!(
            r#"{{"metadata":{{"name":"chat","namespace":"default"}},"spec":{spec}}}"#
        ));
        self
    }

    pub(crate) fn frame(&self) -> Frame<'_> {
        Frame::new(
            &self.service,
            &self.component,
            metadata::namespace(&self.service),
            crate::operators::ome::releases::SNAPSHOT.ome(),
        )
    }
}
