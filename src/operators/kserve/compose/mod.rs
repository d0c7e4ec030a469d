//! Components of KServe: a predictor that a runtime or the service itself runs, a transformer, an
//! explainer (pkg/apis/serving/v1beta1/inference_service_defaults.go;
//! pkg/controller/v1beta1/inferenceservice/components/predictor.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers; KServe docs, Serving Runtimes).
//!
//! Layers, templates, metadata and records are shared with OME; this module has KServe's use of
//! them.

pub(crate) mod agent;
pub(crate) mod canary;
pub(crate) mod credentials;
pub(crate) mod custom;
pub(crate) mod effective;
pub(crate) mod fields;
pub(crate) mod initializer;
pub(crate) mod layers;
pub(crate) mod metadata;
pub(crate) mod mounts;
pub(crate) mod names;
mod no_effect;
pub(crate) mod nodes;
pub(crate) mod oci;
pub(crate) mod predictor;
pub(crate) mod server;
pub(crate) mod storage;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod workload;

pub(crate) use effective::effective;

use crate::api::{
    ComponentKind, DeploymentMode, Failure, KServeConfig, Object, Runtime, Semantics, Service,
};
use crate::diag::{Checked, Code, Diagnostic};
use crate::merge::history::Recorder;
use crate::merge::typed;
use crate::operators::kserve::mode;
use crate::operators::kserve::openshift;
use crate::operators::kserve::rules::Rules as _;
use crate::pods::built::Component;
use crate::pods::lint;
use crate::pods::lint::Place;
use crate::pods::rules::KSERVE_NODES;
use crate::policy::{FaultRule, Policy};
use crate::schema::Library;
use crate::template::Metadata;
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// The libraries that KServe v0.20.0 is built with.
const LIBRARY: Library = Library::V0_34;
/// Annotation that stops a service: its objects are deleted.
const STOP: &str = "serving.kserve.io/stop";

/// A component with the source of its deployment mode.
pub(crate) struct BuiltComponent {
    pub(crate) component: Component,
    pub(crate) basis: &'static str,
    /// An annotation stops it: it has no pods.
    pub(crate) stopped: bool,
}

/// Facts about a service before its pods are built.
pub(crate) struct Facts<'a> {
    policy: &'a Policy,
    service: &'a Service,
    runtime: Option<&'a Runtime>,
    config: &'a KServeConfig,
    mode: DeploymentMode,
    basis: &'static str,
    /// The predictor, a framework key already rewritten as `model`.
    predictor: &'a Node,
    server: &'a str,
    protocol: Option<EcoString>,
    /// Labels of the service, sorted, with those of its server.
    pub labels: Map,
    /// Annotations of the service, sorted, with those of the webhook.
    pub annotations: Map,
}

/// Facts about a service, with the model's container completed for the server.
fn of<'a>(
    policy: &'a Policy,
    service: &'a Service,
    predictor: &'a Node,
    runtime: Option<&'a Runtime>,
    config: &'a KServeConfig,
) -> (Facts<'a>, Option<Node>) {
    let model = predictor.get("model").filter(|model| model.as_map().is_some());
    let (mode, basis) = mode::of_service(policy, service, config);
    let server = runtime.map(server::of).unwrap_or_default();
    let mut labels = service.object.labels();
    let mut facts = Facts {
        policy,
        service,
        runtime,
        config,
        mode,
        basis,
        predictor,
        server,
        protocol: model
            // The model's own version comes first: a variant has other models than the service that
            // was read.
            .and_then(|model| model.get("protocolVersion")?.as_str().map(EcoString::from))
            .or_else(|| service.protocol.as_ref().map(|protocol| protocol.value.clone()))
            .or_else(|| (server == "mlserver" || server == "tritonserver").then(|| "v2".into())),
        labels: Map::new(),
        annotations: metadata::of_service(policy, service, model, mode, config),
    };
    let mut container = model.cloned();
    if let Some(container) = &mut container {
        server::defaults(&facts, container, &mut labels);
    }
    // After the server's labels are in: the maps are compared and written sorted.
    labels.sort();
    facts.labels = labels;
    (facts, container)
}

/// Facts of a service that has no predictor: what its containers that fetch models depend on.
pub(crate) fn bare<'a>(
    policy: &'a Policy,
    service: &'a Service,
    config: &'a KServeConfig,
) -> Facts<'a> {
    Facts {
        policy,
        service,
        runtime: None,
        config,
        // The mode in which no step of Knative or ModelMesh applies.
        mode: DeploymentMode::RawDeployment,
        basis: "",
        predictor: &service.object.node,
        server: "",
        protocol: None,
        labels: Map::new(),
        annotations: Map::new(),
    }
}

/// Adds the credentials of an account to the container that fetches.
pub(crate) fn account_credentials(
    facts: &Facts<'_>,
    annotations: &Map,
    account: &Object,
    findings: &mut Vec<Diagnostic>,
    container: &mut Node,
    pod: &mut Node,
) {
    credentials::Credentials { facts, annotations, findings }.of(account, container, pod);
}

pub(crate) use oci::model_image;

/// Labels and annotations of a service for its routes and Services.
pub(crate) fn facts<'a>(
    policy: &'a Policy,
    service: &'a Service,
    runtime: Option<&'a Runtime>,
    config: &'a KServeConfig,
) -> Option<Facts<'a>> {
    service
        .component(ComponentKind::Predictor)
        .map(|predictor| of(policy, service, predictor, runtime, config).0)
}

impl Facts<'_> {
    /// A value of the model.
    fn model(&self, key: &str) -> Option<&Node> {
        self.predictor.get("model").and_then(|model| model.get(key)).filter(|node| !node.is_null())
    }

    /// The format of the model; empty without one.
    fn format(&self) -> &str {
        self.model("modelFormat")
            .and_then(|format| format.get("name"))
            .and_then(Node::as_str)
            .unwrap_or_default()
    }

    /// Whether an agent pulls models instead of the one that is stored (IsMMSPredictor).
    pub(crate) fn pulls_models(&self) -> bool {
        let custom = self.predictor.get("containers").map(Node::items).unwrap_or_default();
        if let Some(first) = custom.first() {
            let env = first.get("env").map(Node::items).unwrap_or_default();
            return env.iter().any(|variable| {
                variable.get("name").and_then(Node::as_str) == Some("MULTI_MODEL_SERVER")
                    && variable.get("value").and_then(Node::as_str) == Some("true")
            });
        }
        let stored = self.model("storageUri").is_some()
            || self.model("storage").is_some()
            || self.predictor.get("storageUris").is_some_and(|uris| !uris.is_empty());
        self.predictor.get("model").is_some() && self.format() != "huggingface" && !stored
    }

    /// Annotations without those that are not copied.
    pub(crate) fn allowed_annotations(&self, annotations: Option<&Map>) -> Map {
        let allowed = annotations.into_iter().flatten().filter(|entry| self.is_allowed(&entry.key));
        allowed.cloned().collect()
    }

    /// Whether an annotation is copied. That for authentication in OpenShift AI is in Standard mode,
    /// whatever the settings say (components/annotation_filter_odh.go).
    fn is_allowed(&self, key: &EcoString) -> bool {
        if self.policy.kserve().open_shift && key == openshift::AUTH {
            return self.mode == DeploymentMode::RawDeployment;
        }
        !self.config.disallowed_annotations.contains(key)
    }

    /// The name of the predictor's objects.
    pub(crate) fn predictor_name(&self) -> EcoString {
        let named =
            self.predictor.get("name").and_then(Node::as_str).filter(|name| !name.is_empty());
        named.map_or_else(
            || eco_format!("{}-predictor", self.service.name()),
            |name| eco_format!("{}-{name}-predictor", self.service.name()),
        )
    }

    /// The metadata that placeholders read.
    fn template(&self) -> Metadata<'_> {
        fn pairs(map: &Map) -> crate::template::Pairs<'_> {
            map.iter()
                .filter_map(|entry| Some((entry.key.as_str(), entry.node.as_str()?)))
                .collect()
        }
        Metadata {
            namespace: &self.service.namespace,
            labels: pairs(&self.labels),
            annotations: pairs(&self.annotations),
            // The controller expands a service that is there; the documents do not say so.
            generation: (self.policy.semantics == Semantics::Controller)
                .then(|| self.generation())
                .or_else(|| self.service.object.metadata("generation").and_then(Node::as_int)),
            ..Metadata::of_service(&self.service.object.node)
        }
    }

    /// How the service is deployed.
    pub(crate) fn mode(&self) -> DeploymentMode {
        self.mode
    }

    fn place(&self, kind: ComponentKind) -> Place<'_> {
        Place { service: self.service, runtime: self.runtime, kind }
    }

    fn invalid(&self, message: impl Into<String>) -> Failure {
        Failure::of(self.service, Code::InvalidInput, message)
    }
}

/// Merges and assembles every component of a service; none of a service that is left to ModelMesh.
///
/// # Errors
/// The controller's error, which it also returns for a service that is stopped.
pub(crate) fn components(
    policy: &Policy,
    service: &Service,
    runtime: Option<&Runtime>,
    config: &KServeConfig,
    rec: &mut Recorder,
) -> Result<Checked<Vec<BuiltComponent>>, Failure> {
    let fail = |message: &Option<EcoString>| match message {
        Some(message) => Err(Failure::of(service, Code::InvalidInput, message.as_str())),
        None => Ok(()),
    };
    // Settings that cannot be read fail every reconcile before the service is looked at.
    fail(&config.error)?;
    let Some(predictor) = service.component(ComponentKind::Predictor) else {
        return Err(Failure::of(service, Code::RequiredField, "`spec.predictor` is required"));
    };
    let (facts, container) = of(policy, service, predictor, runtime, config);
    let mut findings = Vec::new();
    let mut components = Vec::new();
    if facts.mode == DeploymentMode::ModelMesh {
        // A transformer is built, and waits for a predictor that another controller runs.
        if let Some(transformer) = service.component(ComponentKind::Transformer) {
            fail(&config.run_error)?;
            facts.bundle()?;
            storage::stored(&facts, ComponentKind::Transformer, transformer)?;
        }
        return Ok(Checked::clean(components));
    }
    fail(&config.run_error)?;
    facts.bundle()?;
    findings.extend(facts.bundle_missing());
    no_effect::of_mode(&facts, &mut findings);
    no_effect::of_annotations(&facts, &mut findings);
    no_effect::of_knative(&facts, &mut findings);
    for component in &service.components {
        let model = container.as_ref();
        components.extend(built(&facts, model, component, rec, &mut findings)?);
    }
    if facts.policy.kserve().open_shift && facts.mode == DeploymentMode::RawDeployment {
        let predictor = facts.predictor_name();
        for BuiltComponent { component, .. } in &mut components {
            let of = (service.name(), service.namespace.as_str());
            findings.extend(openshift::proxy::taken(component));
            openshift::proxy::add(of, &predictor, config.proxy.as_ref(), component);
        }
    }
    // A stopped service is built too: the controller returns build errors before it checks the
    // annotation.
    for BuiltComponent { component, stopped, .. } in &mut components {
        let workers = component.worker_metadata.as_ref();
        // A head whose workers still run is not stopped: their annotations have layers of their
        // own.
        *stopped = stops(&component.annotations) && workers.is_none_or(|(_, by_key)| stops(by_key));
    }
    // Those that run come first, in the order of their objects.
    components.sort_by_key(|component| component.stopped);
    Ok(Checked { value: components, diagnostics: findings })
}

/// One component; behind the predictor, its variants.
fn built(
    facts: &Facts<'_>,
    model: Option<&Node>,
    component: &crate::api::Component,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<BuiltComponent>, Failure> {
    let (kind, node) = (component.kind, &component.node);
    let is_predictor = kind == ComponentKind::Predictor;
    let name = if is_predictor {
        facts.predictor_name()
    } else {
        eco_format!("{}-{}", facts.service.name(), kind.as_str())
    };
    let runtime_layer =
        facts.runtime.filter(|_| is_predictor).and_then(|runtime| runtime.object.node.get("spec"));
    let mut labels = metadata::labels(facts, kind, runtime_layer, node, rec);
    let annotations = metadata::annotations(facts, kind, runtime_layer, node, rec);
    let worker_layer = runtime_layer.and_then(|spec| spec.get("workerSpec"));
    let worker_metadata = (
        // Not recorded: the paths of workers would hide those of the head in the record.
        metadata::labels(facts, kind, worker_layer, node, &mut Recorder::off()),
        metadata::annotations(facts, kind, worker_layer, node, &mut Recorder::off()),
    );
    let (pod, mut worker) = if is_predictor {
        // If the runtime was not found, the components are those that the service sets.
        let unknown = facts.service.inline.is_some() && facts.runtime.is_none();
        if unknown {
            (typed::pod_fields(node), None)
        } else {
            let annotations =
                nodes::Annotations { head: &annotations, workers: &worker_metadata.1 };
            predictor::pods(facts, model, Some(annotations), rec, findings)?
        }
    } else {
        (custom::pod(facts, kind, node, &annotations, findings)?, None)
    };
    // After the pods: an error of their build is the one that the controller returns first.
    facts.workload(&name, &labels, &annotations)?;
    // Knative runs only the head, which still gets the settings of its workers.
    if facts.mode == DeploymentMode::Serverless && worker.take().is_some() {
        labels.insert(
            "isvc.generation",
            Node::str(eco_format!("{}", facts.generation()), Origin::Derived(&KSERVE_NODES)),
        );
        labels.sort();
    }
    lints(facts, kind, node, &pod, findings);
    no_effect::of_component(facts, kind, node, findings);
    // A copy, because variants take replicas from the stable predictor and the service stays as
    // written.
    let mut spec = node.clone();
    let canaries = if is_predictor {
        canary::variants(facts, model, &mut spec, rec, findings)?
    } else {
        Vec::new()
    };
    let component = Component {
        kind,
        name,
        mode: facts.mode,
        spec,
        labels,
        annotations,
        main: main_container(&pod),
        worker_main: worker.as_ref().map_or(0, |(pod, _)| main_container(pod)),
        pod,
        worker_metadata: worker.as_ref().map(|_| worker_metadata),
        worker,
    };
    let mut components = vec![BuiltComponent { component, basis: facts.basis, stopped: false }];
    components.extend(canaries);
    Ok(components)
}

/// Whether annotations stop an object.
pub(crate) fn stops(annotations: &Map) -> bool {
    let stop = annotations.get(STOP).and_then(Node::as_str);
    stop.is_some_and(|stop| stop.eq_ignore_ascii_case("true"))
}

/// Index of the container that runs the model, of head or worker.
fn main_container(pod: &Node) -> usize {
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    crate::api::model_container(containers, &[names::MAIN, names::WORKER])
}

/// Facts about a component before its workload is written.
fn lints(
    facts: &Facts<'_>,
    kind: ComponentKind,
    spec: &Node,
    pod: &Node,
    findings: &mut Vec<Diagnostic>,
) {
    // A release that renders faulty pods leaves the judgment to the API server.
    if facts.policy.kserve().pod_faults == FaultRule::Print {
        return;
    }
    let object = facts.service.object.id.to_string();
    if facts.mode == DeploymentMode::Serverless {
        if let Some(metric) = spec
            .get("scaleMetric")
            .filter(|metric| matches!(metric.as_str(), Some("cpu" | "memory")))
        {
            findings.push(
                Diagnostic::new(
                    Code::MetricNeedsRaw,
                    format!(
                        "the metric `{}` is not there in Serverless mode",
                        metric.as_str().unwrap_or_default()
                    ),
                )
                .at(metric.origin.span())
                .path(format!("spec.{}.scaleMetric", kind.as_str()))
                .object(object.clone())
                .help("use `concurrency` or `rps`, or deploy with RawDeployment"),
            );
        }
        if let Some(min) = spec.get("minReplicas").filter(|min| min.as_int() == Some(0)) {
            findings.push(
                Diagnostic::new(
                    Code::NeedsKnativeActivator,
                    format!(
                        "the {} scales to zero: Knative's activator brings it back",
                        kind.as_str()
                    ),
                )
                .at(min.origin.span())
                .object(object.clone()),
            );
        }
    }
    if kind == ComponentKind::Explainer
        && matches!(facts.protocol.as_deref(), Some("v2" | "grpc-v2"))
    {
        findings.push(
            Diagnostic::new(
                Code::ExplainV1Only,
                "explain exists in V1 only: nothing leads to the explainer of a v2 service",
            )
            .at(spec.origin.span())
            .path("spec.explainer")
            .object(object.clone())
            .help("use protocol v1, or leave the explainer out"),
        );
    }
    if let Some(canary) = spec.get("canaryTrafficPercent") {
        findings.push(
            Diagnostic::new(Code::NeedsClusterStatus, "canaryTrafficPercent needs cluster status: which revision came before is not known offline")
                .at(canary.origin.span())
                .object(object.clone()),
        );
    }
    if kind == ComponentKind::Predictor {
        predictor::lints(facts, pod, findings);
    }
    lint::replica_range_of(spec, kind, findings);
}

/// An empty mapping written by a rule.
fn empty(rule: &'static Rule) -> Node {
    Node::new(Value::Map(Map::new()), Origin::Derived(rule))
}
