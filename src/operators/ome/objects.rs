//! The objects that OME's controller writes for a service, in its order
//! (pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile).

pub(crate) mod component;
mod decide;
pub(crate) mod kind;
pub(crate) mod model_config;
pub(crate) mod names;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod tests;
pub(crate) mod workload;

use crate::api::{ComponentKind, DeploymentMode, Failure, Service};
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::objects::domain::IngressSettings;
use crate::objects::{RenderedObject, Settings, metadata, pod_defaults as pod, rules};
use crate::operators::ome::compose;
use crate::operators::ome::objects::component::Frame;
use crate::operators::ome::objects::kind::{
    autoscaler, config_map, deployment, disruption, ingress, knative, leader_worker_set, ray, rbac,
    service, sidecar, virtual_service,
};
use crate::operators::ome::objects::model_config::ModelConfig;
use crate::operators::ome::rules::ExternalPortRule;
use crate::operators::ome::rules::Rules as _;
use crate::pods::built::{Built, Component, Stopped, Unfinished};
use crate::source::Span;
use crate::yaml::{Node, Origin};
use decide::{Entrance, Surface, Workload};
use ecow::EcoString;

pub(crate) use decide::settings;

/// The objects of a service in the order in which the controller writes them.
pub(crate) fn objects(
    composed: &Built<'_>,
    model_config: Option<&ModelConfig<'_>>,
    settings: Settings<'_>,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    if is_virtual(composed, settings) {
        return Ok(Checked::clean(Vec::new()));
    }
    let mut writer = Writer::new(composed, model_config, settings);
    // The first component that fails stops the controller: nothing of those after it is written.
    for component in &composed.components {
        writer.component(component)?;
    }
    writer.shared_heads();
    writer.entrance(decide::entrance(composed, settings)?);
    Ok(Checked { value: writer.objects, diagnostics: writer.diagnostics })
}

/// The objects that the controller writes for a service before it fails, in its order.
pub(crate) fn before_failure(
    unfinished: &Unfinished<'_>,
    model_config: Option<&ModelConfig<'_>>,
    settings: Settings<'_>,
) -> Vec<RenderedObject> {
    let mut writer = Writer::new(&unfinished.built, model_config, settings);
    // A component that cannot be written ends the list; the part that it is of was never reached.
    let whole =
        unfinished.built.components.iter().try_for_each(|component| writer.component(component));
    if whole.is_ok()
        && let Some(stopped) = &unfinished.stopped
    {
        writer.part(stopped);
    }
    writer.objects
}

/// Whether the controller can write a component; see [`objects`].
///
/// # Errors
/// The controller fails or crashes on the component.
pub(crate) fn writable(
    service: &Service,
    component: &Component,
    settings: Settings<'_>,
) -> Result<(), Failure> {
    decide::workload(service, component, settings).map(drop)
}

/// Whether the controller can write the Ingress or other entry of a service; see [`objects`].
///
/// # Errors
/// The controller fails after the components are written.
pub(crate) fn reachable(composed: &Built<'_>, settings: Settings<'_>) -> Result<(), Failure> {
    if is_virtual(composed, settings) {
        return Ok(());
    }
    decide::entrance(composed, settings).map(drop)
}

/// Whether the service as a whole is a `VirtualDeployment`, for which nothing is deployed.
fn is_virtual(composed: &Built<'_>, settings: Settings<'_>) -> bool {
    compose::service_mode(composed.service, settings.config)
        == Some(DeploymentMode::VirtualDeployment)
}

struct Writer<'a> {
    composed: &'a Built<'a>,
    settings: Settings<'a>,
    namespace: Node,
    objects: Vec<RenderedObject>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Writer<'a> {
    /// Creates a writer and writes the model ConfigMap, which comes first.
    fn new(
        composed: &'a Built<'a>,
        model_config: Option<&ModelConfig<'_>>,
        settings: Settings<'a>,
    ) -> Self {
        let namespace = metadata::namespace(composed.service);
        let mut writer =
            Self { composed, settings, namespace, objects: Vec::new(), diagnostics: Vec::new() };
        if let Some(model) = model_config {
            let object = config_map::object(composed.service.name(), &writer.namespace, model);
            writer.push(None, object);
        }
        writer
    }

    fn service(&self) -> &'a Service {
        self.composed.service
    }

    fn push(&mut self, component: Option<ComponentKind>, object: Option<Node>) {
        if let Some(node) = object {
            let wave = wave(&node, component);
            self.objects.push(RenderedObject { node, component, wave, has_gaps: false });
        }
    }

    /// Reports an object that is written as the operator writes it but does not work as intended.
    fn remark(
        &mut self,
        severity: Severity,
        message: impl Into<String>,
        help: &str,
        span: Option<Span>,
    ) {
        let service = self.service();
        // Without a place of its own a remark is about the service as a whole.
        let diagnostic = Diagnostic::new(Code::OperatorDefect, message)
            .severity(severity)
            .at(span.unwrap_or_else(|| service.object.name_span()))
            .object(service.object.id.to_string())
            .help(help);
        self.diagnostics.push(diagnostic);
    }

    /// Reports a component whose object is named and not rendered.
    fn not_rendered(&mut self, component: &Component) {
        let service = self.service();
        let message = format!(
            "not planned: OMENative of OME main: InferenceReplica `{}` is not rendered, and its pods are counted and not placed",
            component.name
        );
        self.diagnostics.push(
            Diagnostic::new(Code::RuleNotRead, message)
                .at(service.object.name_span())
                .object(service.object.id.to_string())
                .help("set the annotation `ome.io/deploymentMode` of the component to `RawDeployment` or `MultiNode` to see its objects"),
        );
    }

    fn component(&mut self, component: &'a Component) -> Result<(), Failure> {
        let service = self.service();
        let workload = decide::workload(service, component, self.settings)?;
        let frame =
            Frame::new(service, component, self.namespace.clone(), self.settings.policy.ome());
        let kind = Some(component.kind);
        let mut pod = component.pod.clone();
        // Access first: the router's pods run with the account that is created here.
        if component.kind == ComponentKind::Router {
            pod = pod::router(&pod, frame.name());
            for object in rbac::objects(&frame) {
                self.push(kind, Some(object));
            }
        }
        match workload {
            Workload::Deployment(class) => self.deployment(&frame, &pod, class),
            // Knative writes autoscaler and Services itself, so that nothing follows.
            Workload::Knative => self.push(kind, knative::object(&frame, &pod)),
            Workload::Group { worker, size } => {
                self.push(kind, leader_worker_set::object(&frame, &pod, worker, size));
                self.push(kind, sidecar::object(&frame));
                self.push(kind, service::of_leader(&frame, &pod));
            }
            Workload::Ray { clusters, prober } => self.ray(&frame, clusters, prober),
            Workload::Native => self.not_rendered(component),
        }
        Ok(())
    }

    /// Writes objects of the component on which the controller fails: the access of a router, which
    /// precedes its pods, and the workload of a component whose Sidecar cannot be written
    /// (components/router.go, Reconcile; reconcilers/multinode/multinode_reconciler.go and
    /// reconcilers/multinodevllm/multinodevllm_reconciler.go, Reconcile).
    fn part(&mut self, stopped: &'a Stopped) {
        let (Stopped::Pods(component) | Stopped::Objects(component)) = stopped;
        let service = self.service();
        let frame =
            Frame::new(service, component, self.namespace.clone(), self.settings.policy.ome());
        let kind = Some(component.kind);
        if component.kind == ComponentKind::Router {
            for object in rbac::objects(&frame) {
                self.push(kind, Some(object));
            }
        }
        if !matches!(stopped, Stopped::Objects(_)) {
            return;
        }
        match decide::before_sidecar(service, component, self.settings) {
            // The workload is written before the Sidecar, on which the controller then fails.
            Ok(Workload::Group { worker, size }) => {
                let pod = &component.pod;
                self.push(kind, leader_worker_set::object(&frame, pod, worker, size));
            }
            Ok(Workload::Ray { clusters, prober }) => self.clusters(&frame, clusters, prober),
            Ok(Workload::Deployment(_) | Workload::Knative | Workload::Native) | Err(_) => {}
        }
    }

    fn deployment(&mut self, frame: &Frame<'_>, pod: &Node, class: autoscaler::Class) {
        let kind = Some(frame.component.kind);
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
        if self.settings.policy.ome().disruption_budgets {
            self.push(kind, disruption::object(frame));
        }
    }

    /// Reports Services of two components that select each other's pods.
    fn shared_heads(&mut self) {
        let heads = self
            .composed
            .components
            .iter()
            .filter(|component| component.mode == DeploymentMode::MultiNode);
        let names: Vec<_> = heads.map(|component| format!("`{}`", component.name)).collect();
        if names.len() > 1 {
            let message = format!(
                "the Services of {} select the leaders of each other: their only selector is `ray.io/node-type: head`",
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

    fn ray(&mut self, frame: &Frame<'_>, clusters: i64, prober: Option<&Node>) {
        self.clusters(frame, clusters, prober);
        self.push(Some(frame.component.kind), sidecar::object(frame));
    }

    /// RayClusters, their Service and their probers.
    fn clusters(&mut self, frame: &Frame<'_>, clusters: i64, prober: Option<&Node>) {
        let kind = Some(frame.component.kind);
        for index in 0..clusters {
            self.push(kind, ray::cluster(frame, index));
        }
        self.push(kind, service::of_ray(frame));
        self.remark(
            Severity::Info,
            format!("the Service of `{}` selects no pod: its selector has the component's name, and the pods are labeled with the service's", frame.name()),
            "reach the head of a RayCluster by its own Service",
            None,
        );
        // After the Service: the controller writes the probers in a loop of their own.
        for index in 0..clusters {
            let prober = prober.and_then(|config| ray::prober(frame, index, config));
            self.push(Some(ComponentKind::Prober), prober);
        }
    }

    /// Writes the entry of the service: an Ingress, routes, a VirtualService or a stable Service.
    fn entrance(&mut self, entrance: Entrance) {
        let service = self.service();
        let config = self.settings.config;
        let annotations = compose::service_annotations(self.settings.policy, service, config);
        let settings = IngressSettings::resolve(config, &annotations);
        let surface = Surface::new(self.composed, annotations, settings);
        let entry = surface.entry();
        match entrance {
            Entrance::None => {}
            Entrance::ClusterLocal(span) => {
                self.remark(
                    Severity::Warning,
                    format!(
                        "the controller writes these objects and then fails: it looks for a Service `{}` that it makes for no cluster-local service",
                        service.name()
                    ),
                    "leave the label out, or switch ingress creation on",
                    span,
                );
            }
            Entrance::External => self.external(&entry),
            Entrance::Routes(routes) => {
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
            Entrance::Ingress(object) => {
                self.push(None, object);
                self.backends(&entry);
            }
            Entrance::Knative { waits } => {
                if waits {
                    self.remark(
                        Severity::Warning,
                        "there will be no VirtualService: for a router, the controller waits for the condition RoutesReady, which requires a serverless service with a serverless engine",
                        "write the annotation `ome.io/deploymentMode: Serverless` on the service, and `minReplicas: 0` in the engine",
                        None,
                    );
                } else {
                    let domain = self.settings.cluster_domain;
                    self.push(None, virtual_service::object(&entry, config, domain));
                }
                let gateway = &config.ingress.local_gateway_service;
                self.push(None, service::alias(service, entry.namespace, gateway));
                self.remark(
                    Severity::Info,
                    "the controller writes and deletes this VirtualService and its alias in turns; they are printed as they are meant",
                    "set `disableIngressCreation: true` in the ConfigMap to get a stable Service",
                    None,
                );
            }
        }
    }

    /// Writes the Service that replaces an Ingress.
    fn external(&mut self, entry: &ingress::Entry<'_>) {
        let service = self.service();
        let main = if entry.has(ComponentKind::Router) {
            ComponentKind::Router
        } else {
            ComponentKind::Engine
        };
        let release = self.settings.policy.ome();
        let port = match release.external_port {
            ExternalPortRule::OfComponent => {
                let port = self.first_port(&entry.component_name(main));
                port.map(|port| (port.clone(), port))
            }
            ExternalPortRule::Http => {
                let number = |port: i64| Node::int(port, Origin::Default(&rules::EXTERNAL_SERVICE));
                Some((number(80), number(8080)))
            }
        };
        let spread = |component: &Component| {
            component.kind == main && component.mode == DeploymentMode::MultiNode
        };
        if self.composed.components.iter().any(spread) {
            self.remark(
                Severity::Info,
                format!("the Service `{}` selects workers beside the leaders", service.name()),
                "use the Service of the component, or add a router",
                None,
            );
        }
        let annotations = entry.annotations;
        let named = release.external_selects_component || !service.predictor.used;
        let object = service::external(
            service,
            annotations,
            entry.namespace,
            Some(main).filter(|_| named),
            port,
        );
        self.push(None, object);
    }

    /// Reports an Ingress that leads to a port that the Service behind it does not expose.
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
        // Services are named by the shortened name of their component.
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

/// The wave in which an object is needed (see [`RenderedObject::wave`]).
fn wave(object: &Node, component: Option<ComponentKind>) -> i32 {
    match object.get("kind").and_then(Node::as_str) {
        // What pods refer to comes first, what scales and protects them after them, ways in last.
        Some("ConfigMap" | "ServiceAccount" | "Role" | "RoleBinding") => 0,
        Some("HorizontalPodAutoscaler" | "ScaledObject" | "PodDisruptionBudget") => 2,
        _ if component.is_none() => 3,
        _ => 1,
    }
}
