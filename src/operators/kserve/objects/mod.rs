//! Which objects KServe's controller writes for a service, in which order
//! (pkg/controller/v1beta1/inferenceservice/reconcilers).
//!
//! Standard mode: a Service, a Deployment and an autoscaler per component and a way in. Knative
//! mode: a Knative Service per component, a VirtualService and an alias. ModelMesh: nothing.

pub(crate) mod entry;
pub(crate) mod knative;
pub(crate) mod raw;
pub(crate) mod route;
pub(crate) mod scale;
pub(crate) mod virtual_service;

use crate::api::{
    ComponentKind, DeploymentMode, Failure, KServeConfig, Runtime, Semantics, Service,
};
use crate::diag::{Checked, Code};
use crate::objects::build::node;
use crate::objects::domain::IngressSettings;
use crate::objects::{RenderedObject, Settings, config_map, metadata, pod_defaults as pod, rules};
use crate::operators::kserve::compose::effective::probed as kserve_probed;
use crate::operators::kserve::compose::{
    Facts, effective as kserve_effective, facts as kserve_facts, stops as kserve_stops,
};
use crate::operators::kserve::openshift;
use crate::operators::kserve::rules::Rules as _;
use crate::pods::built::{Built, Component};
use crate::yaml::{Map, Node};
use ecow::{EcoString, eco_format};

/// Label that keeps a service of Standard mode inside the cluster.
const VISIBILITY: &str = "networking.kserve.io/visibility";

/// A service with the values that its rendered objects need.
struct View<'a> {
    service: &'a Service,
    config: &'a KServeConfig,
    composed: &'a Built<'a>,
    namespace: Node,
    /// Labels of the service with those of its server, sorted.
    labels: Map,
    /// Annotations of the service with those of the webhook, sorted.
    annotations: Map,
    /// The annotations that are copied.
    allowed: Map,
    settings: IngressSettings,
    cluster_domain: &'a str,
    /// The release deletes workers in every pass, and creates them again.
    recreates_workers: bool,
    /// The release divides the traffic of routes among canaries.
    canary_routes: bool,
    /// See [`crate::operators::kserve::rules::KServeRelease::open_shift`].
    open_shift: bool,
}

/// A component that a route leads to is not ready, so the route is not written.
struct NotReady;

impl View<'_> {
    fn name(&self) -> &EcoString {
        self.service.name()
    }

    /// Whether Services have no cluster IP. Without the setting, those of OpenShift AI have none
    /// (pkg/apis/serving/v1beta1/configmap.go, NewServiceConfig).
    fn headless(&self) -> bool {
        self.config.headless.unwrap_or(self.open_shift)
    }

    fn component(&self, kind: ComponentKind) -> Option<&Component> {
        self.composed.components.iter().find(|component| component.kind == kind)
    }

    /// The host of a name, by labels and annotations of the service.
    fn host(&self, name: &str) -> Result<EcoString, Failure> {
        self.settings
            .host_of(name, &self.service.namespace, &self.labels, &self.annotations)
            .map_err(|message| self.fault(message, "correct `domainTemplate` or `ingressDomain`"))
    }

    /// The failure for an error in the ingress settings.
    fn fault(&self, message: String, help: &str) -> Failure {
        let span = self.config.ingress.span.unwrap_or_else(|| self.service.object.name_span());
        Failure { code: Code::InvalidInput, message, help: Some(help.into()), span: Some(span) }
    }

    /// A component whose workload becomes ready, so that routes can refer to it. Quirk: in some
    /// releases a predictor on several nodes never becomes ready, because the controller deletes
    /// its workers in every reconcile and creates them again (components/predictor.go,
    /// reconcileCanaryDeployments).
    fn ready(&self, kind: ComponentKind) -> Option<&Component> {
        self.running(kind).filter(|component| !self.recreates_workers || component.worker.is_none())
    }

    /// A component that is not stopped.
    fn running(&self, kind: ComponentKind) -> Option<&Component> {
        self.component(kind).filter(|component| !kserve_stops(&component.annotations))
    }

    /// Whether the service has a component, stopped or not.
    fn has(&self, kind: ComponentKind) -> bool {
        self.service.component(kind).is_some()
    }

    /// A transformer or explainer that is ready, none when the service has none; an error while it
    /// is not ready.
    fn optional(&self, kind: ComponentKind) -> Result<Option<&Component>, NotReady> {
        if !self.has(kind) {
            return Ok(None);
        }
        self.ready(kind).map(Some).ok_or(NotReady)
    }

    /// Labels without those that are not copied.
    fn allowed_labels(&self) -> Map {
        metadata::without(&self.labels, |key| {
            self.config.disallowed_labels.iter().any(|label| label == key)
        })
    }

    /// The canary variants of the predictor: name of the Service and share of the traffic.
    fn canaries(&self) -> Vec<(EcoString, i64)> {
        if !self.canary_routes {
            return Vec::new();
        }
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

/// What a service is rendered from; none without a predictor.
fn view<'a>(composed: &'a Built<'a>, settings: Settings<'a>) -> Option<(View<'a>, Facts<'a>)> {
    let service = composed.service;
    let config = &settings.config.kserve;
    let facts = kserve_facts(settings.policy, service, composed.runtime, config)?;
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
        // Only the controller's code deletes workers; the documents do not say so.
        recreates_workers: settings.policy.semantics != Semantics::Documented,
        canary_routes: settings.policy.kserve().canary_routes,
        open_shift: settings.policy.kserve().open_shift,
    };
    Some((view, facts))
}

/// Checks that the controller can write the Ingress, routes or VirtualService of a service.
///
/// # Errors
/// The controller's error.
pub(crate) fn reachable(composed: &Built<'_>, settings: Settings<'_>) -> Result<(), Failure> {
    match view(composed, settings) {
        Some((view, facts)) => entries(&view, facts.mode()).map(drop),
        None => Ok(()),
    }
}

/// The Ingress, routes or VirtualService of a service, and its alias.
///
/// # Errors
/// Where the controller finds no host or no path for it.
fn entries(view: &View<'_>, mode: DeploymentMode) -> Result<Vec<Option<Node>>, Failure> {
    // By the service's annotations: those of components stop only their own objects.
    let stopped = kserve_stops(&view.annotations);
    if mode == DeploymentMode::Serverless {
        if stopped || view.config.ingress.disable_istio_virtual_host {
            return Ok(Vec::new());
        }
        // Quirk: the alias is written even if its target does not exist yet. OpenShift AI has no
        // mesh of Istio, so that nothing routes to it.
        let routed = (!view.open_shift).then(|| virtual_service::object(view)).flatten();
        return Ok(vec![routed, entry::alias(view)]);
    }
    if mode != DeploymentMode::RawDeployment {
        return Ok(Vec::new());
    }
    let gateway = view.config.ingress.enable_gateway_api;
    let open = entry::is_open(view);
    // A stopped service that only the cluster reaches still has its address checked, below.
    if stopped && (open || !gateway) {
        return Ok(Vec::new());
    }
    let objects = match (open, gateway) {
        (false, _) => Vec::new(),
        (true, true) => route::objects(view)?,
        (true, false) => match entry::ingress(view)? {
            Some(ingress) => vec![Some(ingress)],
            None => return Ok(Vec::new()),
        },
    };
    // The status needs a host and an address even where nothing is written for them.
    if !gateway || !open {
        view.host(view.name())?;
        entry::address(view)?;
    }
    Ok(objects)
}

/// The runtimes from which the objects of a service are written.
#[derive(Clone, Copy)]
pub(in crate::operators::kserve) struct Runtimes<'a> {
    /// The runtime of the service, also where another controller selects it.
    pub(in crate::operators::kserve) serving: Option<&'a Runtime>,
    /// The runtime by which its metrics are collected, on OpenShift AI.
    pub(in crate::operators::kserve) metrics: openshift::written::MetricsSource<'a>,
}

/// The objects of a service. With `is_admitted` their pods are those that the webhook of pods
/// leaves.
///
/// # Errors
/// Where the controller fails before it has written everything, in its words.
pub(in crate::operators::kserve) fn objects(
    composed: &Built<'_>,
    settings: Settings<'_>,
    runtimes: Runtimes<'_>,
    is_admitted: bool,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let service = composed.service;
    let Some((view, facts)) = view(composed, settings) else {
        return Ok(Checked::clean(Vec::new()));
    };
    let (config, mode) = (view.config, facts.mode());
    let mesh = mode == DeploymentMode::ModelMesh;
    if mesh && !view.has(ComponentKind::Transformer) && !view.open_shift {
        return Ok(Checked::clean(Vec::new()));
    }
    let mut writer = Vec::new();
    let mut push = |component: Option<ComponentKind>, wave: i32, object: Option<Node>| {
        if let Some(node) = object {
            writer.push(RenderedObject { node, component, wave, has_gaps: false });
        }
    };
    // The source is not copied onto itself.
    let system = |name: &str| config.ca_bundle == name && service.namespace == config.llm.system;
    if let Some(file) = facts.bundle()?.filter(|_| !system(BUNDLE)) {
        let data = node!(&rules::KSERVE_BUNDLE; { "cabundle.crt": file });
        let data = data.unwrap_or_else(|| file.clone());
        push(None, 0, config_map::plain(BUNDLE.into(), &view.namespace, &Map::new(), data));
    }
    if !mesh && facts.pulls_models() {
        let data = node!(&rules::KSERVE_MODELS; { "models.json": "[]" })
            .unwrap_or_else(|| view.namespace.clone());
        // As they were written: without the labels that the server's defaults add.
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
    let mut findings = Vec::new();
    let raw = mode == DeploymentMode::RawDeployment;
    for component in &composed.components {
        let kind = Some(component.kind);
        let mut component = component.clone();
        // Before the defaults of the Deployment, which add a probe of their own where none is.
        kserve_probed(settings.policy, service, composed.runtime, config, &mut component);
        if raw {
            // Before the webhook sees the pods, the controller has written defaults into them.
            // That of OpenShift AI adds its proxy behind them.
            let proxy = openshift::proxy::take(&mut component.pod);
            component.pod = pod::deployment(&component.pod, &raw::PROBED);
            openshift::proxy::put(&mut component.pod, proxy);
            if let Some((worker, _)) = &mut component.worker {
                *worker = pod::deployment(worker, &raw::PROBED);
            }
        }
        let mut of_pods = None;
        if is_admitted {
            let shown =
                kserve_effective(settings.policy, service, composed.runtime, config, &component)?;
            findings.extend(shown.diagnostics);
            component = shown.value.component;
            of_pods = Some(shown.value.annotations);
        }
        if raw {
            for (wave, object) in raw::objects(&view, &component, of_pods.as_ref()) {
                push(kind, wave, object);
            }
        } else {
            push(kind, 1, knative::object(&view, &component, of_pods.as_ref()));
        }
    }
    for object in entries(&view, mode)? {
        push(None, 3, object);
    }
    if view.open_shift {
        if raw {
            push(
                None,
                0,
                openshift::proxy::access(service.name(), &service.namespace, &view.namespace),
            );
        }
        for object in of_openshift(&view, mode, runtimes) {
            push(None, 3, object);
        }
    }
    Ok(Checked { value: writer, diagnostics: findings })
}

/// What the controller of OpenShift AI beside KServe writes for a service.
fn of_openshift(
    view: &View<'_>,
    mode: DeploymentMode,
    runtimes: Runtimes<'_>,
) -> Vec<Option<Node>> {
    let first = if view.has(ComponentKind::Transformer) {
        ComponentKind::Transformer
    } else {
        ComponentKind::Predictor
    };
    let raw = mode == DeploymentMode::RawDeployment;
    // Only Standard mode has Services with ports that a Route can take.
    let entrance = view.running(first).filter(|_| raw);
    let canaries = view.canaries();
    openshift::objects::all(&openshift::written::Written {
        service: view.service,
        namespace: &view.namespace,
        config: view.config,
        runtime: runtimes.serving,
        metrics: runtimes.metrics,
        mode,
        labels: &view.labels,
        annotations: &view.annotations,
        canaries: &canaries,
        entrance: entrance.map(|component| (component, raw::ports(view, component))),
    })
}

/// The copy of the CA bundle in the namespace of a service.
const BUNDLE: &str = "global-ca-bundle";
