//! Which objects KServe's controller writes for a service, in which order (kserve.md 6).
//!
//! Standard mode: a Service, a Deployment and an autoscaler per component and a way in. Knative
//! mode: a Knative Service per component, a VirtualService and an alias. ModelMesh: nothing.

mod entry;
mod knative;
mod nodes;
mod raw;
mod route;
mod scale;
mod virtual_service;

use super::domain::IngressSettings;
use super::kind::config_map;
use super::metadata;
use super::{RenderedObject, Settings, rules};
use crate::api::{ComponentKind, KServeConfig, Service};
use crate::compose::{Composed, ComposedComponent, kserve_effective, kserve_facts};
use crate::decision::{DeploymentMode, ServiceError};
use crate::diag::{Checked, Code};
use crate::policy::Semantics;
use crate::render::build::node;
use crate::yaml::{Map, Node};
use ecow::{EcoString, eco_format};

/// Label that keeps a service of Standard mode inside the cluster.
const VISIBILITY: &str = "networking.kserve.io/visibility";

/// A service as its entries see it.
struct View<'a> {
    service: &'a Service,
    config: &'a KServeConfig,
    composed: &'a Composed<'a>,
    namespace: Node,
    /// Labels of the service with those of its server, sorted.
    labels: Map,
    /// Annotations of the service with those of the webhook, sorted.
    annotations: Map,
    /// The annotations that are copied.
    allowed: Map,
    settings: IngressSettings,
    cluster_domain: &'a str,
}

impl View<'_> {
    fn name(&self) -> &EcoString {
        self.service.name()
    }

    fn component(&self, kind: ComponentKind) -> Option<&ComposedComponent> {
        self.composed.components.iter().find(|component| component.kind == kind)
    }

    fn host(&self, name: &str) -> Result<EcoString, ServiceError> {
        self.settings
            .host_of(name, &self.service.namespace, &self.labels, &self.annotations)
            .map_err(|message| {
                let span =
                    self.config.ingress.span.unwrap_or_else(|| self.service.object.name_span());
                ServiceError {
                    code: Code::InvalidInput,
                    message,
                    help: Some("correct `domainTemplate` or `ingressDomain`".into()),
                    span: Some(span),
                }
            })
    }

    /// Labels without those that are not copied.
    fn allowed_labels(&self) -> Map {
        metadata::without(&self.labels, |key| {
            self.config.disallowed_labels.iter().any(|label| label == key)
        })
    }

    /// Variants of the predictor beside the stable one: name of the Service and share of the
    /// traffic.
    fn canaries(&self) -> Vec<(EcoString, i64)> {
        let listed = self.service.object.spec("canary").map(Node::items).unwrap_or_default();
        let name = |canary: &Node| {
            canary
                .at(&["predictor", "name"])
                .and_then(Node::as_str)
                .map(|name| eco_format!("{}-{name}-predictor", self.name()))
        };
        listed
            .iter()
            .filter_map(|canary| {
                Some((
                    name(canary)?,
                    canary.get("trafficPercent").and_then(Node::as_int).unwrap_or(0),
                ))
            })
            .collect()
    }
}

/// The objects of a service.
///
/// # Errors
/// Where the controller fails before it has written everything, in its words.
pub(super) fn objects(
    composed: &Composed<'_>,
    settings: Settings<'_>,
) -> Result<Checked<Vec<RenderedObject>>, ServiceError> {
    let service = composed.service;
    let config = &settings.config.kserve;
    let Some(facts) = kserve_facts(settings.policy, service, composed.runtime, config) else {
        return Ok(Checked::clean(Vec::new()));
    };
    let Some(first) = composed.components.first() else { return Ok(Checked::clean(Vec::new())) };
    let mode = first.mode;
    let view = View {
        service,
        config,
        composed,
        namespace: metadata::namespace(service),
        allowed: facts.allowed_annotations(Some(&facts.annotations)),
        labels: facts.labels.clone(),
        annotations: facts.annotations.clone(),
        settings: IngressSettings::of(&config.ingress),
        cluster_domain: settings.cluster_domain,
    };
    let mut writer = Vec::new();
    let mut push = |component: Option<ComponentKind>, wave: i32, object: Option<Node>| {
        if let Some(node) = object {
            writer.push(RenderedObject { node, component, wave });
        }
    };
    if mode == DeploymentMode::ModelMesh {
        return Ok(Checked::clean(Vec::new()));
    }
    if let Some(data) = config.ca_data.as_ref().filter(|_| service.namespace != "kserve") {
        push(
            None,
            0,
            config_map::plain(
                "global-ca-bundle".into(),
                &view.namespace,
                &Map::new(),
                data.clone(),
            ),
        );
    }
    if facts.pulls_models() {
        let data = node!(&rules::KSERVE_MODELS; { "models.json": "[]" })
            .unwrap_or_else(|| view.namespace.clone());
        let labels = metadata::sorted(service.object.labels());
        push(
            None,
            0,
            config_map::plain(
                eco_format!("modelconfig-{}-0", service.name()),
                &view.namespace,
                &labels,
                data,
            ),
        );
    }
    let settled = settings.policy.semantics == Semantics::Documented
        || composed.components.iter().all(|component| component.worker.is_none());
    let mut findings = Vec::new();
    for component in &composed.components {
        let kind = Some(component.kind);
        let shown = if config.expand || config.v2_probes {
            let shown =
                kserve_effective(settings.policy, service, composed.runtime, config, component)?;
            findings.extend(shown.diagnostics);
            Some(shown.value)
        } else {
            None
        };
        let (component, of_pods) = shown
            .as_ref()
            .map_or((component, None), |shown| (&shown.component, Some(&shown.annotations)));
        if mode == DeploymentMode::Serverless {
            push(kind, 1, knative::object(&view, component, of_pods));
            continue;
        }
        if let Some(class) = scale::unknown_class(component) {
            return Err(ServiceError {
                code: Code::InvalidInput,
                message: format!(
                    "unknown autoscaler class type: {}",
                    class.scalar_text().unwrap_or_default()
                ),
                help: Some("write `hpa`, `keda`, `external` or `none`".into()),
                span: class.origin.span().or_else(|| Some(service.object.name_span())),
            });
        }
        view.host(&component.name)?;
        for (wave, object) in raw::objects(&view, component, of_pods) {
            push(kind, wave, object);
        }
    }
    if mode == DeploymentMode::Serverless {
        if let Some(routes) =
            virtual_service::object(&view).filter(|_| !config.ingress.disable_istio_virtual_host)
        {
            push(None, 3, Some(routes));
            push(None, 3, entry::alias(&view));
        }
    } else if settled && entry::is_open(&view) {
        if config.ingress.enable_gateway_api {
            for object in route::objects(&view)? {
                push(None, 3, Some(object));
            }
        } else {
            push(None, 3, entry::ingress(&view)?);
        }
    }
    Ok(Checked { value: writer, diagnostics: findings })
}
