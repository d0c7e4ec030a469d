//! Decides which objects the controller writes for a component, and which Ingress or
//! VirtualService, without building them. If the controller fails, the result is its error.
//!
//! `plan` uses only the decision; `render` builds the decided objects. Components and their checks
//! are in the controller's order (pkg/controller/v1beta1/inferenceservice/reconcilers), so that the
//! earlier of two failures is reported.

use crate::api::{ComponentKind, DeploymentMode, Failure, Service};
use crate::diag::Code;
use crate::objects::domain::IngressSettings;
use crate::objects::metadata::VISIBILITY;
use crate::objects::{Settings, domain, metadata};
use crate::operators::ome::compose;
use crate::operators::ome::objects::kind::{autoscaler, ingress, ray, route, sidecar};
use crate::operators::ome::rules::Rules as _;
use crate::operators::ome::rules::{ExternalServiceRule, LongNameRule, ReplicaRule};
use crate::pods::built::{Built, Component};
use crate::source::Span;
use crate::yaml::{Map, Node};

/// Maximum number of RayClusters of one component. Upstream has no limit; this one catches typing
/// errors.
const MOST_CLUSTERS: i64 = 1000;

/// How a component is deployed.
pub(super) enum Workload<'a> {
    /// A Deployment, scaled by this class.
    Deployment(autoscaler::Class),
    /// A Knative Service.
    Knative,
    /// A LeaderWorkerSet of groups with this pod as worker, and the size of a group.
    Group { worker: &'a Node, size: i64 },
    /// RayClusters with their probers.
    Ray { clusters: i64, prober: Option<&'a Node> },
    /// An InferenceReplica, whose fields were not read.
    Native,
}

/// How a service is reached from outside its namespace.
pub(super) enum Entrance {
    /// No entry.
    None,
    /// A Service in place of an Ingress.
    External,
    /// No entry, and the controller fails after everything is written.
    ClusterLocal(Option<Span>),
    /// HTTPRoutes.
    Routes(Vec<Node>),
    /// An Ingress.
    Ingress(Option<Node>),
    /// A VirtualService and an alias. If `waits`, there is no VirtualService: the controller waits
    /// for a condition that it never sets.
    Knative { waits: bool },
}

/// An error of the service.
pub(super) fn failure(
    message: impl Into<String>,
    span: impl Into<Option<Span>>,
    help: &str,
) -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: message.into(),
        help: Some(help.into()),
        span: span.into(),
    }
}

fn panic(message: impl Into<String>, span: impl Into<Option<Span>>, help: &str) -> Failure {
    Failure { code: Code::WouldPanic, ..failure(message, span, help) }
}

/// Reports settings with which the manager does not start.
pub(crate) fn settings(service: &Service, settings: Settings<'_>) -> Result<(), Failure> {
    // The manager reads its settings at start: without them no service is reconciled.
    if let Some(error) = &settings.config.error {
        return Err(failure(
            error.to_string(),
            service.object.name_span(),
            "correct the ConfigMap inferenceservice-config",
        ));
    }
    match domain::path_template_error(settings.config) {
        Some(error) => Err(failure(
            error,
            settings.config.ingress.span.unwrap_or_else(|| service.object.name_span()),
            "correct `pathTemplate`",
        )),
        None => Ok(()),
    }
}

/// Decides how a component is deployed.
///
/// # Errors
/// The controller fails or crashes before or while it writes the component.
pub(super) fn workload<'a>(
    service: &Service,
    component: &'a Component,
    settings: Settings<'a>,
) -> Result<Workload<'a>, Failure> {
    let workload = before_sidecar(service, component, settings)?;
    if matches!(workload, Workload::Group { .. } | Workload::Ray { .. }) {
        sidecar_registered(service, component, settings)?;
    }
    Ok(workload)
}

/// Decides how a component is deployed, without its Sidecar, which is written after the workload.
///
/// # Errors
/// The controller fails or crashes before it writes any object of the component.
pub(super) fn before_sidecar<'a>(
    service: &Service,
    component: &'a Component,
    settings: Settings<'a>,
) -> Result<Workload<'a>, Failure> {
    match component.mode {
        DeploymentMode::RawDeployment => {
            // The class is checked before the host, as the controller builds its reconcilers in
            // that order.
            let class = autoscaler_class(service, component, settings)?;
            host(service, component, settings)?;
            Ok(Workload::Deployment(class))
        }
        // The controller writes replica bounds into a map of annotations, which is nil when a
        // fine-tuned weight has no strategy (components/base.go, ProcessBaseAnnotations).
        DeploymentMode::Serverless
            if component.annotations.is_empty()
                && settings.policy.ome().missing_annotations_crash =>
        {
            let message = format!(
                "the controller would crash: the serverless `{}` has no annotations, as its fine-tuned weight has no strategy",
                component.name
            );
            Err(panic(
                message,
                service.object.name_span(),
                "write `hyperParameters.strategy` of the FineTunedWeight",
            ))
        }
        DeploymentMode::Serverless => Ok(Workload::Knative),
        DeploymentMode::MultiNode => {
            host(service, component, settings)?;
            let Some((worker, workers)) = &component.worker else {
                let leader = component.spec.get("leader").and_then(|leader| leader.origin.span());
                let message = format!(
                    "`{}` runs on several nodes and has no worker: the LeaderWorkerSet cannot be built",
                    component.name
                );
                return Err(panic(
                    message,
                    leader.unwrap_or_else(|| service.object.name_span()),
                    "add `worker` with a `size`, or leave `leader` out",
                ));
            };
            Ok(Workload::Group { worker, size: group_size(*workers, settings) })
        }
        DeploymentMode::MultiNodeRayVllm => {
            host(service, component, settings)?;
            ray_clusters(service, component, settings)
        }
        DeploymentMode::OmeNative => Ok(Workload::Native),
        DeploymentMode::VirtualDeployment | DeploymentMode::ModelMesh => {
            // The mode of a component comes from its annotation, so that this is the place to mend.
            let annotation = component.annotations.get(DeploymentMode::ANNOTATION);
            Err(failure(
                format!("invalid deployment mode for {}", component.kind.as_str()),
                annotation
                    .and_then(|mode| mode.origin.span())
                    .unwrap_or_else(|| service.object.name_span()),
                "write the annotation `ome.io/deploymentMode` on the InferenceService itself",
            ))
        }
    }
}

/// Pods of a group. The controller's number has 32 bits and wraps around.
fn group_size(workers: i64, settings: Settings<'_>) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "as Go's int32() does")]
    let wrapped = (workers as i32).wrapping_add(1);
    if settings.policy.ome().group_size_wraps { wrapped.into() } else { workers.saturating_add(1) }
}

fn autoscaler_class(
    service: &Service,
    component: &Component,
    settings: Settings<'_>,
) -> Result<autoscaler::Class, Failure> {
    let class = component.annotations.get("ome.io/autoscalerClass");
    // Before v0.1.5 spec.kedaConfig did not reach the reconciler, which reads from it the values
    // that no annotation sets (reconcilers/keda/keda_reconciler.go).
    let asks_config = || {
        // With all four annotations no value is read from the config, and nothing is dereferenced.
        let annotations = |key: &str| component.annotations.contains_key(key);
        !autoscaler::KEDA_ANNOTATIONS.into_iter().all(annotations)
    };
    let found = autoscaler::class(&component.annotations);
    if found == Ok(autoscaler::Class::Keda) && !settings.policy.ome().keda && asks_config() {
        let message = format!(
            "the controller would crash on the ScaledObject of `{}`: its ScaledObject code does not read `kedaConfig`",
            component.name
        );
        let span = class.and_then(|class| class.origin.span());
        return Err(panic(
            message,
            span.unwrap_or_else(|| service.object.name_span()),
            "follow v0.1.5 or later, or write `hpa` or `external`",
        ));
    }
    found.map_err(|message| {
        failure(
            message,
            class
                .and_then(|class| class.origin.span())
                .unwrap_or_else(|| service.object.name_span()),
            "write `hpa`, `keda` or `external`",
        )
    })
}

/// The controller computes the component's host before it writes the component, even if no Ingress
/// uses the host.
fn host(service: &Service, component: &Component, settings: Settings<'_>) -> Result<(), Failure> {
    let annotations = &component.annotations;
    let ingress = IngressSettings::resolve(settings.config, annotations);
    let name = &component.name;
    // The host is computed for its error only; which host the Ingress has is decided later.
    match settings.policy.ome().long_names {
        LongNameRule::Shortened => {
            ingress.host(name, &service.namespace, &component.labels, annotations)
        }
        LongNameRule::Refused => {
            ingress.host_of(name, &service.namespace, &component.labels, annotations)
        }
    }
    .map(drop)
    .map_err(|message| {
        let key = ["ome.io/ingress-domain-template", "ome.io/ingress-domain"]
            .into_iter()
            .find_map(|key| annotations.get(key)?.origin.span());
        failure(
            message,
            key.unwrap_or_else(|| service.object.name_span()),
            "correct the name of the service, the domain template or the ingress domain",
        )
    })
}

/// A manager whose settings disable Istio's virtual hosts does not register Istio's types
/// (cmd/manager/main.go), and fails on the Sidecar of a component that requests one.
fn sidecar_registered(
    service: &Service,
    component: &Component,
    settings: Settings<'_>,
) -> Result<(), Failure> {
    let Some(label) = sidecar::requesting_label(&component.labels)
        .filter(|_| settings.config.ingress.disable_istio_virtual_host)
    else {
        return Ok(());
    };
    Err(failure(
        format!(
            "the controller fails on the Sidecar of `{}`: with `disableIstioVirtualHost: true` it does not register the types of Istio",
            component.name
        ),
        label.origin.span().unwrap_or_else(|| service.object.name_span()),
        "leave the label `sidecar.istio.io/inject` out, or set `disableIstioVirtualHost: false` in the ConfigMap",
    ))
}

fn ray_clusters<'a>(
    service: &Service,
    component: &'a Component,
    settings: Settings<'a>,
) -> Result<Workload<'a>, Failure> {
    let span = component.spec.origin.span().unwrap_or_else(|| service.object.name_span());
    let clusters = match component.spec.get("minReplicas").and_then(Node::as_int) {
        Some(replicas) => replicas,
        None if settings.policy.ome().replicas == ReplicaRule::Runtime => 1,
        None => {
            return Err(panic(
                format!("`{}` runs on Ray and has no minReplicas", component.name),
                span,
                "write `minReplicas`",
            ));
        }
    };
    if clusters < 0 && settings.policy.ome().replicas != ReplicaRule::Runtime {
        let message = format!("a list of {clusters} RayClusters: makeslice: cap out of range");
        return Err(panic(message, span, "write `minReplicas: 0` or more"));
    }
    if clusters > MOST_CLUSTERS {
        let message = format!(
            "`minReplicas: {clusters}` would be as many RayClusters; at most {MOST_CLUSTERS} are rendered"
        );
        return Err(failure(message, span, "write a smaller `minReplicas`"));
    }
    let prober = settings.config.multinode_prober.as_ref();
    // Without clusters there are no probers, and the settings of the prober are not read.
    if let Some(missing) = ray::missing_setting(prober).filter(|_| clusters > 0) {
        return Err(panic(
            missing,
            span,
            "write image, cpu and memory of the prober into the ConfigMap",
        ));
    }
    Ok(Workload::Ray { clusters, prober })
}

/// The entry of a service: an Ingress, routes or a stable Service, by the mode of the component
/// that receives the requests.
///
/// # Errors
/// The controller fails after its components are written.
pub(super) fn entrance(composed: &Built<'_>, settings: Settings<'_>) -> Result<Entrance, Failure> {
    let service = composed.service;
    let config = settings.config;
    let annotations = compose::service_annotations(settings.policy, service, config);
    let ingress_settings = IngressSettings::resolve(config, &annotations);
    if ingress_settings.disable_ingress_creation {
        let label = service.object.metadata("labels").and_then(|labels| labels.get(VISIBILITY));
        if let Some(label) = label.filter(|label| label.as_str() == Some("cluster-local")) {
            return Ok(Entrance::ClusterLocal(label.origin.span()));
        }
        let by_annotation = annotations
            .get("ome.io/ingress-disable-creation")
            .is_some_and(|value| value.as_str() == Some("true"));
        return Ok(match settings.policy.ome().external_service {
            ExternalServiceRule::ByAnnotation if !by_annotation => Entrance::None,
            _ => Entrance::External,
        });
    }
    // Components are in the order engine, decoder, router; the last one receives the requests.
    let Some(last) = composed.components.last() else { return Ok(Entrance::None) };
    let refused = |message: String| {
        failure(
            message,
            service.object.name_span(),
            "correct the ingress settings of the operator or of the service",
        )
    };
    match last.mode {
        DeploymentMode::RawDeployment | DeploymentMode::MultiNode => {
            let surface = Surface::new(composed, annotations, ingress_settings);
            if config.ingress.enable_gateway_api {
                let timeout = |kind| {
                    let component =
                        composed.components.iter().find(|component| component.kind == kind)?;
                    component.spec.get("timeoutSeconds")?.as_int()
                };
                let routes = route::objects(&surface.entry(), config, timeout).map_err(refused)?;
                Ok(Entrance::Routes(routes))
            } else {
                let object = ingress::object(&surface.entry(), config).map_err(refused)?;
                Ok(Entrance::Ingress(object))
            }
        }
        // The controller reads the VirtualService in every case.
        DeploymentMode::Serverless
            if config.ingress.disable_istio_virtual_host
                && settings.policy.ome().needs_istio_types =>
        {
            Err(failure(
                "fails to reconcile ingress: with `disableIstioVirtualHost: true` the controller does not register the types of Istio",
                config.ingress.span.unwrap_or_else(|| service.object.name_span()),
                "set `disableIngressCreation: true` beside it, or disable virtual hosts by the annotation `ome.io/ingress-disable-istio-virtualhost` alone",
            ))
        }
        DeploymentMode::Serverless if ingress_settings.disable_istio_virtual_host => {
            Ok(Entrance::None)
        }
        DeploymentMode::Serverless => Ok(Entrance::Knative {
            waits: last.kind == ComponentKind::Router && !has_routes(composed, settings),
        }),
        mode => Err(refused(format!("unsupported deployment mode: {}", mode.as_str()))),
    }
}

/// Whether the controller sets the condition RoutesReady, for which the VirtualService of a router
/// waits (controller.go, Reconcile; status/status_reconciler.go, PropagateCrossComponentStatus).
///
/// Quirk: for a serverless service it is the condition of the engine's route alone. For other
/// services it is not set, or, in older releases, requires the routes of all components. Only a
/// component in serverless mode has a route.
fn has_routes(composed: &Built<'_>, settings: Settings<'_>) -> bool {
    let of_service = compose::service_mode(composed.service, settings.config);
    let is_serverless = of_service == Some(DeploymentMode::Serverless);
    let mut components = composed.components.iter();
    if is_serverless {
        let engine = components.find(|component| component.kind == ComponentKind::Engine);
        return engine.is_some_and(|engine| engine.mode == DeploymentMode::Serverless);
    }
    !settings.policy.ome().routes_of_serverless_only
        && components.all(|component| component.mode == DeploymentMode::Serverless)
}

/// The values of a service that its Ingress, routes or VirtualService use.
pub(super) struct Surface<'a> {
    service: &'a Service,
    namespace: Node,
    labels: Map,
    annotations: Map,
    components: Vec<ComponentKind>,
    settings: IngressSettings,
}

impl<'a> Surface<'a> {
    /// The entry of a composed service, with its annotations after the webhook and the settings
    /// that they override.
    pub(super) fn new(composed: &Built<'a>, annotations: Map, settings: IngressSettings) -> Self {
        let service = composed.service;
        Self {
            service,
            namespace: metadata::namespace(service),
            labels: metadata::sorted(service.object.labels()),
            annotations: metadata::sorted(annotations),
            components: composed.components.iter().map(|component| component.kind).collect(),
            settings,
        }
    }

    /// The backend of an Ingress, a route or a VirtualService.
    pub(super) fn entry(&self) -> ingress::Entry<'_> {
        ingress::Entry {
            name: self.service.name(),
            namespace: &self.namespace,
            namespace_name: &self.service.namespace,
            labels: &self.labels,
            annotations: &self.annotations,
            components: &self.components,
            settings: &self.settings,
        }
    }
}
