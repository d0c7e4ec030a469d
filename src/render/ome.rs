//! Which objects OME's controller writes for a service, in which order (ome-objects.md 1).

use super::domain::IngressSettings;
use super::frame::Frame;
use super::kind::{
    autoscaler, config_map, deployment, disruption, ingress, knative, leader_worker_set, ray, rbac,
    route, service, sidecar, virtual_service,
};
use super::metadata::{self, VISIBILITY, text};
use super::{ModelConfig, RenderedObject, Settings, pod};
use crate::api::{ComponentKind, Service};
use crate::compose::{self, Composed, ComposedComponent};
use crate::decision::{DeploymentMode, ServiceError};
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::policy::ReplicaRule;
use crate::source::Span;
use crate::yaml::Node;
use ecow::EcoString;

/// The objects of a service in the order in which the controller writes them.
pub(crate) fn objects(
    composed: &Composed<'_>,
    model_config: Option<&ModelConfig<'_>>,
    settings: Settings<'_>,
) -> Result<Checked<Vec<RenderedObject>>, ServiceError> {
    let service = composed.service;
    if let Some(error) = &settings.config.error {
        return Err(failure(
            error.to_string(),
            service.object.name_span(),
            "correct the ConfigMap inferenceservice-config",
        ));
    }
    if let Some(error) = super::domain::path_template_error(settings.config) {
        return Err(failure(
            error,
            settings.config.ingress.span.unwrap_or_else(|| service.object.name_span()),
            "correct `pathTemplate`",
        ));
    }
    if compose::service_mode(service, settings.config) == Some(DeploymentMode::VirtualDeployment) {
        return Ok(Checked::clean(Vec::new()));
    }
    let annotations =
        metadata::sorted(compose::service_annotations(settings.policy, service, settings.config));

    let mut writer = Writer {
        composed,
        settings,
        namespace: metadata::namespace(service),
        objects: Vec::new(),
        diagnostics: Vec::new(),
    };
    if let Some(model) = model_config {
        let object = config_map::object(service.name(), &writer.namespace, model);
        writer.push(None, object);
    }
    if composed.components.iter().all(|component| component.kind != ComponentKind::Engine) {
        return Err(failure(
            "engine component is required",
            service.object.name_span(),
            "add `engine: {}` to the InferenceService",
        ));
    }
    for component in &composed.components {
        writer.component(component)?;
    }
    writer.shared_heads();
    writer.entrance(&annotations)?;
    Ok(Checked { value: writer.objects, diagnostics: writer.diagnostics })
}

/// Most RayClusters of one component; upstream has no limit, a typing error does.
const MOST_CLUSTERS: i64 = 1000;

fn failure(message: impl Into<String>, span: impl Into<Option<Span>>, help: &str) -> ServiceError {
    ServiceError {
        code: Code::InvalidInput,
        message: message.into(),
        help: Some(help.into()),
        span: span.into(),
    }
}

fn panic(message: impl Into<String>, span: impl Into<Option<Span>>, help: &str) -> ServiceError {
    ServiceError {
        code: Code::WouldPanic,
        message: message.into(),
        help: Some(help.into()),
        span: span.into(),
    }
}

struct Writer<'a> {
    composed: &'a Composed<'a>,
    settings: Settings<'a>,
    namespace: Node,
    objects: Vec<RenderedObject>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Writer<'a> {
    fn service(&self) -> &'a Service {
        self.composed.service
    }

    fn push(&mut self, component: Option<ComponentKind>, object: Option<Node>) {
        if let Some(node) = object {
            let wave = wave(&node, component);
            self.objects.push(RenderedObject { node, component, wave });
        }
    }

    /// Says that something is written as the operator writes it and does not work as meant.
    fn remark(
        &mut self,
        severity: Severity,
        message: impl Into<String>,
        help: &str,
        span: Option<Span>,
    ) {
        let service = self.service();
        let diagnostic = Diagnostic::new(Code::OperatorDefect, message)
            .severity(severity)
            .at(span.unwrap_or_else(|| service.object.name_span()))
            .object(service.object.id.to_string())
            .help(help);
        self.diagnostics.push(diagnostic);
    }

    fn component(&mut self, component: &'a ComposedComponent) -> Result<(), ServiceError> {
        let service = self.service();
        let frame = Frame::new(service, component, self.namespace.clone());
        let kind = Some(component.kind);
        let mut pod = component.pod.clone();
        if component.kind == ComponentKind::Router {
            pod = pod::router(&pod, frame.name());
            for object in rbac::objects(&frame) {
                self.push(kind, Some(object));
            }
        }
        if component.mode != DeploymentMode::Serverless
            && component.mode != DeploymentMode::VirtualDeployment
        {
            self.component_host(&frame)?;
        }
        match component.mode {
            DeploymentMode::RawDeployment => self.deployment(&frame, &pod)?,
            // The controller writes replica bounds into annotations, of which there are none at all
            // when a fine-tuned weight states no strategy (ome-components 4.4).
            DeploymentMode::Serverless
                if component.annotations.is_empty()
                    && self.settings.policy.replicas == ReplicaRule::Webhook =>
            {
                let message = format!(
                    "the controller would crash: the serverless `{}` has no annotations, as its fine-tuned weight has no strategy",
                    component.name
                );
                return Err(panic(
                    message,
                    service.object.name_span(),
                    "write `hyperParameters.strategy` of the FineTunedWeight",
                ));
            }
            DeploymentMode::Serverless => self.push(kind, knative::object(&frame, &pod)),
            DeploymentMode::MultiNode => {
                let Some((worker, size)) = &component.worker else {
                    let span = component
                        .spec
                        .get("leader")
                        .and_then(|leader| leader.origin.span())
                        .or(Some(service.object.name_span()));
                    let message = format!(
                        "`{}` runs on several nodes and has no worker: the LeaderWorkerSet cannot be built",
                        component.name
                    );
                    return Err(panic(
                        message,
                        span,
                        "add `worker` with a `size`, or leave `leader` out",
                    ));
                };
                self.push(kind, leader_worker_set::object(&frame, &pod, worker, *size));
                self.push(kind, sidecar::object(&frame));
                self.push(kind, service::of_leader(&frame, &pod));
            }
            DeploymentMode::MultiNodeRayVllm => self.ray(&frame)?,
            DeploymentMode::VirtualDeployment | DeploymentMode::ModelMesh => {
                let span = component
                    .annotations
                    .get(DeploymentMode::ANNOTATION)
                    .and_then(|mode| mode.origin.span());
                return Err(failure(
                    format!("invalid deployment mode for {}", component.kind.as_str()),
                    span.or(Some(service.object.name_span())),
                    "write the annotation on the InferenceService itself",
                ));
            }
        }
        Ok(())
    }

    /// The controller makes the component's host before it writes anything of it, also where no
    /// Ingress will use it.
    fn component_host(&self, frame: &Frame<'_>) -> Result<(), ServiceError> {
        let settings = IngressSettings::resolve(self.settings.config, &frame.annotations);
        settings
            .host(frame.name(), &frame.service.namespace, &frame.labels, &frame.annotations)
            .map(drop)
            .map_err(|message| {
                let key = ["ome.io/ingress-domain-template", "ome.io/ingress-domain"]
                    .into_iter()
                    .find_map(|key| frame.annotations.get(key)?.origin.span());
                failure(
                    message,
                    key.or(Some(frame.service.object.name_span())),
                    "correct the domain template or the ingress domain",
                )
            })
    }

    fn deployment(&mut self, frame: &Frame<'_>, pod: &Node) -> Result<(), ServiceError> {
        let kind = Some(frame.component.kind);
        let class = autoscaler::class(&frame.annotations).map_err(|message| {
            let span = frame
                .annotations
                .get("ome.io/autoscalerClass")
                .and_then(|class| class.origin.span());
            failure(
                message,
                span.or(Some(frame.service.object.name_span())),
                "write `hpa`, `keda` or `external`",
            )
        })?;
        self.push(kind, deployment::object(frame, pod));
        self.push(kind, service::of_deployment(frame, pod));
        match class {
            autoscaler::Class::Hpa => self.push(kind, autoscaler::horizontal(frame)),
            autoscaler::Class::External => {}
            autoscaler::Class::Keda => {
                let (object, remark) = autoscaler::scaled_object(frame);
                self.push(kind, object);
                if let Some(remark) = remark {
                    let span = frame
                        .service
                        .object
                        .spec("kedaConfig")
                        .and_then(|config| config.get("customPromQuery")?.origin.span());
                    self.remark(Severity::Warning, remark, "write `%s` once where the component's name belongs, and `%%` for a percent sign", span);
                }
            }
        }
        self.push(kind, disruption::object(frame));
        Ok(())
    }

    /// Says so where Services of two components take each other's pods.
    fn shared_heads(&mut self) {
        let heads = self
            .composed
            .components
            .iter()
            .filter(|component| component.mode == DeploymentMode::MultiNode);
        let names: Vec<_> = heads.map(|component| format!("`{}`", component.name)).collect();
        if names.len() > 1 {
            let message = format!(
                "the Services of {} select the leaders of each other: only `ray.io/node-type: head` tells pods apart",
                names.join(" and ")
            );
            self.remark(
                Severity::Info,
                message,
                "keep one multi-node component to a namespace",
                None,
            );
        }
    }

    fn ray(&mut self, frame: &Frame<'_>) -> Result<(), ServiceError> {
        let component = frame.component;
        let kind = Some(component.kind);
        let span = component.spec.origin.span().or(Some(frame.service.object.name_span()));
        let replicas = match frame.spec("minReplicas").and_then(Node::as_int) {
            Some(replicas) => replicas,
            None if self.settings.policy.replicas == ReplicaRule::Runtime => 1,
            None => {
                return Err(panic(
                    format!("`{}` runs on Ray and has no minReplicas", component.name),
                    span,
                    "write `minReplicas`",
                ));
            }
        };
        if replicas > MOST_CLUSTERS {
            let message = format!(
                "`minReplicas: {replicas}` would be as many RayClusters; at most {MOST_CLUSTERS} are rendered"
            );
            return Err(failure(message, span, "write a smaller `minReplicas`"));
        }
        let prober = self.settings.config.multinode_prober.as_ref();
        if let Some(missing) = ray::missing_setting(prober).filter(|_| replicas > 0) {
            return Err(panic(
                missing,
                span,
                "write image, cpu and memory of the prober into the ConfigMap",
            ));
        }
        for index in 0..replicas {
            self.push(kind, ray::cluster(frame, index));
        }
        self.push(kind, service::of_ray(frame));
        self.remark(
            Severity::Info,
            format!("the Service of `{}` selects no pod: it asks for the component's name where pods carry the service's", component.name),
            "reach the head of a RayCluster by its own Service",
            None,
        );
        for index in 0..replicas {
            self.push(kind, prober.and_then(|config| ray::prober(frame, index, config)));
        }
        self.push(kind, sidecar::object(frame));
        Ok(())
    }

    /// The way in: Ingress, routes or a stable Service, by the mode of the component that takes the
    /// requests.
    fn entrance(&mut self, annotations: &crate::yaml::Map) -> Result<(), ServiceError> {
        let service = self.service();
        let config = self.settings.config;
        let labels = metadata::sorted(service.object.labels());
        let settings = IngressSettings::resolve(config, annotations);
        let components: Vec<ComponentKind> =
            self.composed.components.iter().map(|component| component.kind).collect();
        let entry = ingress::Entry {
            name: service.name(),
            namespace: &self.namespace.clone(),
            namespace_name: &service.namespace,
            labels: &labels,
            annotations,
            components: &components,
            settings: &settings,
        };
        let main = if entry.has(ComponentKind::Router) {
            ComponentKind::Router
        } else {
            ComponentKind::Engine
        };
        if settings.disable_ingress_creation {
            if text(&labels, VISIBILITY).as_deref() == Some("cluster-local") {
                let span = labels.get(VISIBILITY).and_then(|label| label.origin.span());
                self.remark(
                    Severity::Warning,
                    format!(
                        "the controller writes these objects and then fails: it looks for a Service `{}` that it makes for no cluster-local service",
                        service.name()
                    ),
                    "leave the label out, or switch ingress creation on",
                    span,
                );
            } else {
                let port = self.first_port(&entry.component_name(main));
                let spread = |component: &ComposedComponent| {
                    component.kind == main && component.mode == DeploymentMode::MultiNode
                };
                if self.composed.components.iter().any(spread) {
                    let message = format!(
                        "the Service `{}` selects workers beside the leaders",
                        service.name()
                    );
                    self.remark(
                        Severity::Info,
                        message,
                        "use the Service of the component, or add a router",
                        None,
                    );
                }
                self.push(
                    None,
                    service::external(service, annotations, entry.namespace, main, port.as_ref()),
                );
            }
            return Ok(());
        }

        let refused = |message: String| {
            failure(
                message,
                service.object.name_span(),
                "correct the ingress settings of the operator or of the service",
            )
        };
        // Declaration order of components is engine, decoder, router: the last one takes the
        // requests.
        let mode = self.composed.components.last().map(|component| component.mode);
        match mode {
            Some(DeploymentMode::RawDeployment | DeploymentMode::MultiNode)
                if config.ingress.enable_gateway_api =>
            {
                let timeout = |kind| {
                    self.composed
                        .components
                        .iter()
                        .find(|component| component.kind == kind)?
                        .spec
                        .get("timeoutSeconds")?
                        .as_int()
                };
                let routes = route::objects(&entry, config, timeout).map_err(refused)?;
                for object in routes {
                    self.push(None, Some(object));
                }
                self.remark(
                    Severity::Warning,
                    "the controller never writes these HTTPRoutes: it does not know the types of the Gateway API; they are printed as they are meant",
                    "set `enableGatewayAPI: false` in the ConfigMap to get an Ingress",
                    None,
                );
            }
            Some(DeploymentMode::RawDeployment | DeploymentMode::MultiNode) => {
                let object = ingress::object(&entry, config).map_err(refused)?;
                self.push(None, object);
                self.backends(&entry);
            }
            Some(DeploymentMode::Serverless) if settings.disable_istio_virtual_host => {}
            Some(DeploymentMode::Serverless) => {
                // Quirk: of a router the controller waits for a condition that it sets of no
                // service whose own mode is another one (ome-objects 2.12).
                let waits = entry.has(ComponentKind::Router)
                    && compose::service_mode(service, config) != Some(DeploymentMode::Serverless);
                if waits {
                    self.remark(
                        Severity::Warning,
                        "there will be no VirtualService: the controller waits for the condition RoutesReady of the router, which it sets of serverless services only",
                        "write the annotation `ome.io/deploymentMode: Serverless` on the service",
                        None,
                    );
                } else {
                    self.push(
                        None,
                        virtual_service::object(&entry, config, self.settings.cluster_domain),
                    );
                }
                self.push(
                    None,
                    service::alias(service, entry.namespace, &config.ingress.local_gateway_service),
                );
                self.remark(
                    Severity::Info,
                    "the controller writes and deletes this VirtualService and its alias in turns; they are printed as they are meant",
                    "set `disableIngressCreation: true` in the ConfigMap to get a stable Service",
                    None,
                );
            }
            Some(mode) => {
                return Err(refused(format!("unsupported deployment mode: {}", mode.as_str())));
            }
            None => {}
        }
        Ok(())
    }

    /// Says so where an Ingress leads to a port that the Service behind it does not expose.
    fn backends(&mut self, entry: &ingress::Entry<'_>) {
        for kind in entry.components {
            let name = entry.component_name(*kind);
            let other = self.first_port(&name).filter(|port| port.as_int() != Some(8080));
            if let Some(port) = other.as_ref().and_then(Node::scalar_text) {
                let span = other.and_then(|port| port.origin.span());
                let message =
                    format!("the Ingress leads to port 8080 of `{name}`, which exposes {port}");
                self.remark(
                    Severity::Warning,
                    message,
                    "let the first container listen on 8080",
                    span,
                );
            }
        }
    }

    /// The first port of the Service of a component, as it was written.
    fn first_port(&self, component: &EcoString) -> Option<Node> {
        let name = crate::quantity::hash::truncate63(component);
        let service = self.objects.iter().map(|object| &object.node).find(|node| {
            let text = |keys: &[&str]| node.at(keys).and_then(Node::as_str);
            text(&["kind"]) == Some("Service")
                && text(&["apiVersion"]) == Some("v1")
                && text(&["metadata", "name"]) == Some(name.as_str())
        })?;
        service.at(&["spec", "ports"])?.items().first()?.get("port").cloned()
    }
}

/// When an object is needed (see [`RenderedObject::wave`]).
fn wave(object: &Node, component: Option<ComponentKind>) -> i32 {
    match object.get("kind").and_then(Node::as_str) {
        Some("ConfigMap" | "ServiceAccount" | "Role" | "RoleBinding") => 0,
        Some("HorizontalPodAutoscaler" | "ScaledObject" | "PodDisruptionBudget") => 2,
        _ if component.is_none() => 3,
        _ => 1,
    }
}
