//! The engines in built pods: whether they start, use their devices, and hold the context.
//!
//! In: a built pod of whatever operator or workload, its model, the memory of its class, the nodes
//! that were read. Out: findings, and the KV cache of the engine with every operand. A finding is
//! only made of what is certain: another program, another image, a value that is not known offline
//! makes none.

mod devices;
mod files;
mod memory;
mod model;
mod pod;
mod surroundings;
#[cfg(test)]
mod tests;

use super::PlannedComponent;
use super::serving::PlannedServing;
use crate::api::{ComponentKind, Object, Runtime, Service};
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::schedule::devices::Published;
use crate::decision::{CacheFit, Resolution};
use crate::diag::{Code, Diagnostic};
use crate::engine::{EngineSettings, only_context};
use crate::operators::Selector;
use crate::pods::built::Component;
use crate::policy::Policy;
use crate::quantity::Memory;
use crate::source::Span;
use crate::yaml::Node;
use devices::{Devices, Nodes};
use ecow::{EcoString, eco_format};
use files::File;
use model::ServedModel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use surroundings::Links;

/// What is the same for all pods of a catalog, and what was computed before.
#[derive(Debug)]
pub(crate) struct Engines<'a> {
    machines: &'a [Machine],
    /// What drivers publish in ResourceSlices.
    published: Published,
    links: Links,
    /// The nodes of selectors and a resource.
    nodes: Mutex<HashMap<String, Arc<Nodes>>>,
    /// Models that command lines name.
    named: Mutex<HashMap<EcoString, Option<Arc<ServedModel>>>>,
    catalog: &'a Catalog,
    /// Files of ConfigMaps.
    files: Mutex<HashMap<File, Option<Arc<Node>>>>,
}

/// A pod, or the pods of a group that run one server.
struct Pods<'p> {
    /// What the messages call it: `engine`, `role decode`, `Deployment`.
    what: &'p str,
    namespace: &'p str,
    object: &'p Object,
    /// The spec of the main pod.
    main: &'p Node,
    /// The containers that may run the engine; all of them without.
    container: Option<usize>,
    /// The spec of the workers, and how many there are.
    worker: Option<(&'p Node, i64)>,
    /// Pods of one group.
    size: i64,
    model: Option<Arc<ServedModel>>,
    /// The class that was chosen, and its memory.
    class: Option<(EcoString, Memory)>,
}

impl<'p> Pods<'p> {
    /// The pods of a component of a service.
    fn of(
        service: &'p Service,
        component: &'p Component,
        model: Option<Arc<ServedModel>>,
        class: Option<(EcoString, Memory)>,
    ) -> Self {
        Self {
            what: component.kind.as_str(),
            namespace: &service.namespace,
            object: &service.object,
            main: &component.pod,
            container: Some(component.main),
            worker: component.worker.as_ref().map(|(pod, count)| (pod, *count)),
            size: component.pods_per_replica().unwrap_or(1),
            model,
            class,
        }
    }
}

/// What was found about the engines of plain workloads.
#[derive(Debug, Default)]
pub(crate) struct JudgedWorkloads {
    pub(crate) findings: Vec<Diagnostic>,
    /// Those whose server does not start, `Deployment ml/chat`, and why.
    pub(crate) stopped: Vec<(EcoString, EcoString)>,
}

/// What was found about a pod.
#[derive(Debug, Default)]
struct Judged {
    findings: Vec<Diagnostic>,
    cache: Option<CacheFit>,
    /// Why the server does not run.
    stop: Option<EcoString>,
    /// The file with settings that was not read.
    unread: Option<EcoString>,
}

impl<'a> Engines<'a> {
    pub(crate) fn new(catalog: &'a Catalog) -> Self {
        Self {
            machines: catalog.machines(),
            published: Published::read(catalog.others()),
            links: Links::of(catalog),
            nodes: Mutex::default(),
            named: Mutex::default(),
            catalog,
            files: Mutex::default(),
        }
    }

    /// The nodes that a pod can land on, computed once per selectors and devices.
    fn nodes(&self, pod: &Node, devices: &Devices) -> Arc<Nodes> {
        let json = |key: &str| pod.get(key).map(|node| node.to_json().to_string());
        let key = format!(
            "{} {} {:?} {} {}",
            devices.resource,
            devices.count,
            devices.request,
            json("nodeSelector").unwrap_or_default(),
            json("affinity").unwrap_or_default()
        );
        let lock = || self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nodes) = lock().get(&key) {
            return Arc::clone(nodes);
        }
        let found = Arc::new(devices::nodes(pod, devices, self.machines, &self.published));
        lock().insert(key, Arc::clone(&found));
        found
    }

    /// The devices that a container requests, or that its claims ask for.
    fn devices_of(&self, namespace: &str, pod: &Node, container: &Node) -> Vec<Devices> {
        let requested = devices::of_container(container);
        if !requested.is_empty() {
            return requested;
        }
        let claim = |name: &str| {
            let claims = pod.get("resourceClaims").map(Node::items).unwrap_or_default();
            let text = |node: &'_ Node, key: &str| Some(EcoString::from(node.get(key)?.as_str()?));
            let claims =
                claims.iter().find(|claim| text(claim, "name").as_deref() == Some(name))?;
            let other = |kind: &str, key: &str| {
                self.catalog.other(kind, namespace, &text(claims, key)?).map(|object| &object.node)
            };
            let template = || {
                other("ResourceClaimTemplate", "resourceClaimTemplateName")?.at(&["spec", "spec"])
            };
            template().or_else(|| other("ResourceClaim", "resourceClaimName")?.get("spec"))
        };
        devices::of_claims(container, claim, &self.published)
    }

    /// The facts of a model that a command line names.
    fn named(&self, id: &str) -> Option<Arc<ServedModel>> {
        let lock = || self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = lock().get(id) {
            return model.clone();
        }
        let found = ServedModel::of_hub(id).map(Arc::new);
        lock().insert(id.into(), found.clone());
        found
    }

    /// The model that a container serves: the one of the service, unless its command line names
    /// another; nothing where values replace more of its config than the context.
    fn served(&self, pods: &Pods<'_>, settings: &EngineSettings) -> Option<Arc<ServedModel>> {
        if settings.overrides.set().is_some_and(|setting| !only_context(setting)) {
            return None;
        }
        let argument = settings.model.set().map(|setting| setting.value.as_str());
        let model = match (&pods.model, argument) {
            (Some(model), Some(argument)) if model.is_other(argument) => self.named(argument),
            (Some(model), _) => Some(Arc::clone(model)),
            (None, argument) => self.named(argument?),
        }?;
        let is_gguf = argument.is_some_and(model::is_gguf)
            || [&settings.load_format, &settings.quantization].iter().any(|definitions| {
                definitions.set().is_some_and(|setting| setting.value == "gguf")
            });
        // Each file of these has a width of its own.
        Some(if is_gguf && model.weights.is_some() {
            Arc::new(ServedModel { weights: None, ..ServedModel::clone(&model) })
        } else {
            model
        })
    }

    /// Judges the engines of a service, and sets the KV cache of each component.
    pub(crate) fn of_service(
        &self,
        selector: &Selector<'_>,
        service: &Service,
        resolution: &Resolution<'_>,
        built: &[Component],
        components: &mut [PlannedComponent],
        findings: &[Diagnostic],
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let inline = || self.described(service);
        let model =
            resolution.model.map(|model| Arc::new(ServedModel::of(selector.policy(), model)));
        let model = model.or_else(inline);
        // A router serves no model.
        for engine in built.iter().filter(|engine| engine.kind != ComponentKind::Router) {
            let Some(component) = components.iter_mut().find(|other| other.kind == engine.kind)
            else {
                continue;
            };
            let class = resolution
                .accelerator(engine.kind)
                .and_then(|decision| decision.chosen)
                .and_then(|class| Some((class.name().clone(), selector.memory_of(class.name())?)));
            let judged = self.judge(&Pods::of(service, engine, model.clone(), class));
            // The choice of the class reports the same with its own arithmetic.
            let is_reported = |finding: &Diagnostic| {
                finding.code == Code::GpuMisfit
                    && findings.iter().any(|finding| finding.code == Code::GpuMisfit)
            };
            let new: Vec<Diagnostic> =
                judged.findings.into_iter().filter(|finding| !is_reported(finding)).collect();
            let misfit = findings.iter().find(|finding| finding.code == Code::GpuMisfit);
            component.stopped =
                misfit.map(|finding| finding.message.as_str().into()).or(judged.stop);
            found.extend(new);
            component.unread_settings = judged.unread;
            component.cache = judged.cache.map(Box::new);
        }
        found
    }

    /// The facts of the model that a service describes.
    fn described(&self, service: &Service) -> Option<Arc<ServedModel>> {
        let uri = match service.inline.as_ref() {
            Some(model) => model.model.object.node.get("storageUri")?.as_str()?,
            // LLMInferenceService.
            None => service.object.node.at(&["spec", "model", "uri"])?.as_str()?,
        };
        self.named(uri.strip_prefix("hf://")?)
    }

    /// The name of the model that a service describes, where its facts are known.
    pub(crate) fn known_model(&self, service: &Service) -> Option<EcoString> {
        Some(self.described(service)?.name.clone())
    }

    /// The KV cache of a component of a service on accelerators of a class, and why its server
    /// would not start there.
    pub(crate) fn of_component(
        &self,
        service: &Service,
        component: &Component,
        class: EcoString,
        memory: Memory,
    ) -> (Option<CacheFit>, Option<String>) {
        let class = Some((class, memory));
        let judged = self.judge(&Pods::of(service, component, self.described(service), class));
        (judged.cache, judged.stop.map(String::from))
    }

    /// Judges the engines of a ModelServing.
    pub(crate) fn of_serving(&self, planned: &PlannedServing<'_>) -> Vec<Diagnostic> {
        let serving = planned.serving;
        let object = &serving.object;
        let namespace = object.id.scope.namespace().map_or("default", EcoString::as_str);
        let mut found = Vec::new();
        for role in &serving.roles {
            let what = format!("role {}", role.name.value);
            let workers = role.workers.value;
            let worker = role.worker.as_ref().filter(|_| workers > 0);
            let judged = self.judge(&Pods {
                what: &what,
                namespace,
                object,
                main: &role.entry.spec,
                container: None,
                worker: worker.map(|worker| (&worker.spec, workers)),
                size: if worker.is_some() { workers.saturating_add(1) } else { 1 },
                model: None,
                class: None,
            });
            found.extend(judged.findings);
        }
        found
    }

    /// Judges the engines of plain workloads, those that no controller owns.
    pub(crate) fn of_workloads(&self, catalog: &Catalog) -> JudgedWorkloads {
        let mut out = JudgedWorkloads::default();
        // Objects of a read-only copy, such as a dump beside the input, are not the reader's to
        // mend.
        for object in catalog.others().iter().filter(|object| object.reported) {
            let Some((main, worker, pods)) = surroundings::pods_of(object) else { continue };
            let namespace = object.id.scope.namespace().map_or("default", EcoString::as_str);
            let judged = self.judge(&Pods {
                what: &object.id.kind,
                namespace,
                object,
                main,
                container: None,
                worker: worker.map(|worker| (worker, pods - 1)),
                size: pods,
                model: None,
                class: None,
            });
            if let Some(why) = judged.stop {
                let (kind, name) = (&object.id.kind, &object.id.name);
                out.stopped.push((eco_format!("{kind} {namespace}/{name}"), why));
            }
            out.findings.extend(judged.findings);
        }
        out
    }

    /// The KV cache of a runtime that serves a model on accelerators of a class, and why its server
    /// would not start there.
    pub(crate) fn of_runtime(
        &self,
        policy: &Policy,
        model: &crate::api::Model,
        runtime: &Runtime,
        class: EcoString,
        memory: Memory,
    ) -> Option<(Option<CacheFit>, Option<String>)> {
        let part = runtime.object.node.at(&["spec", "engineConfig"])?;
        let main = part.get("leader").unwrap_or(part);
        let workers = part.at(&["worker", "size"]).and_then(Node::as_int).unwrap_or(0).max(0);
        let of_pod = |part: &Node| surroundings::as_pod(part);
        let pod = of_pod(main);
        let worker = part.get("worker").map(of_pod);
        let judged = self.judge(&Pods {
            what: "engine",
            namespace: runtime.object.id.scope.namespace().map_or("", EcoString::as_str),
            object: &runtime.object,
            main: &pod,
            container: None,
            worker: worker.as_ref().filter(|_| workers > 0).map(|worker| (worker, workers)),
            size: workers.saturating_add(1),
            model: Some(Arc::new(ServedModel::of(policy, model))),
            class: Some((class, memory)),
        });
        Some((judged.cache, judged.stop.map(String::from)))
    }
}

/// A place, or the name of the object.
pub(super) fn at(span: Option<Span>, object: &Object) -> Option<Span> {
    span.or_else(|| Some(object.name_span()))
}
