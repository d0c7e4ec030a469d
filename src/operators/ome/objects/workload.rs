//! Workload kinds that the operator does not write: `render --workload`.
//!
//! In: the objects of a service as OME's operator writes them. Out: the same pods in a workload of
//! another kind, and findings about fields that the kind does not have. This is a design of `ome`
//! (docs/decisions.md#services-as-model-servings); OME itself writes no ModelServing.

use crate::api::serving_names::ENTRY;
use crate::api::{ComponentKind, DeploymentMode, Failure};
use crate::diag::{Checked, Code, Diagnostic};
use crate::objects::RenderedObject;
use crate::objects::build::{node, set};
use crate::objects::metadata::{label, queue_labels, with, without};
use crate::pods::built::{Built, Component};
use crate::policy::ServingFeatures;
use crate::quantity::{IntOrPercent, Rounding, names};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// The workload kind that wraps the pods of engine and decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workload {
    /// The kind that the operator writes in the deployment mode.
    #[default]
    Auto,
    /// A Deployment; with a Volcano queue also its PodGroup.
    Deployment,
    /// A LeaderWorkerSet; with a Volcano queue also its PodGroup.
    LeaderWorkerSet,
    /// A ModelServing of Kthena.
    ModelServing,
}

/// The flag by which a workload is requested.
static WORKLOAD: Rule = Rule {
    id: "workload",
    text: "The flag --workload wraps the pods of engine and decoder in another workload.",
    cite: "docs/decisions.md#services-as-model-servings; Kthena blog, A Deep Dive of ModelServing, Introduction and Instance-Level Gang Scheduling",
};

/// The kinds of pod templates that this module reads.
const DEPLOYMENT: &str = "Deployment";
const LEADER_WORKER_SET: &str = "LeaderWorkerSet";

/// Rewrites the objects of a service for the requested workload.
///
/// # Errors
/// The pods of a component cannot be wrapped in the workload.
pub(crate) fn apply(
    composed: &Built<'_>,
    objects: Vec<RenderedObject>,
    workload: Workload,
    features: ServingFeatures,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    match workload {
        Workload::Auto => Ok(Checked::clean(objects)),
        Workload::Deployment => gathered(composed, objects, DEPLOYMENT),
        Workload::LeaderWorkerSet => gathered(composed, objects, LEADER_WORKER_SET),
        Workload::ModelServing => {
            Converter { composed, features, diagnostics: Vec::new(), lost: Vec::new() }
                .convert(objects)
        }
    }
}

fn kind(object: &RenderedObject) -> &str {
    object.node.get("kind").and_then(Node::as_str).unwrap_or_default()
}

fn refusal(composed: &Built<'_>, message: String, help: &str) -> Failure {
    Failure {
        code: Code::InvalidInput,
        message,
        help: Some(help.into()),
        span: Some(composed.service.object.name_span()),
    }
}

/// Whether an object runs the pods of engine or decoder, or watches them.
fn is_workload(object: &RenderedObject) -> bool {
    let serves = matches!(
        object.component,
        Some(ComponentKind::Engine | ComponentKind::Decoder | ComponentKind::Prober)
    );
    let knative = object
        .node
        .get("apiVersion")
        .and_then(Node::as_str)
        .is_some_and(|version| version.starts_with("serving.knative.dev/"));
    serves
        && (matches!(kind(object), DEPLOYMENT | LEADER_WORKER_SET | "RayCluster")
            || (kind(object) == "Service" && knative))
}

/// A role under construction.
struct Part<'a> {
    component: &'a Component,
    entry: Node,
    worker: Option<Node>,
    workers: i64,
}

struct Converter<'a> {
    composed: &'a Built<'a>,
    features: ServingFeatures,
    diagnostics: Vec<Diagnostic>,
    /// Fields that a ModelServing does not have.
    lost: Vec<String>,
}

impl<'a> Converter<'a> {
    fn convert(
        mut self,
        objects: Vec<RenderedObject>,
    ) -> Result<Checked<Vec<RenderedObject>>, Failure> {
        let mut parts = Vec::new();
        for component in &self.composed.components {
            if component.kind != ComponentKind::Router {
                let workload = objects
                    .iter()
                    .find(|object| object.component == Some(component.kind) && is_workload(object));
                let workload = workload.ok_or_else(|| {
                    refusal(
                        self.composed,
                        format!("`{}` has no pods to wrap", component.name),
                        "leave `--workload` out",
                    )
                })?;
                parts.push(self.part(component, workload)?);
            }
        }
        let (name, serving) = self.model_serving(&parts)?;
        let disaggregated = parts.len() > 1;
        let mut serving = Some(RenderedObject {
            node: serving,
            component: Some(ComponentKind::Engine),
            wave: 1,
            has_gaps: false,
        });
        let mut out = Vec::with_capacity(objects.len());
        for object in objects {
            // One ModelServing has all roles: it stands where the first workload stood.
            if is_workload(&object) {
                out.extend(serving.take());
            } else if let Some(object) = self.adapted(object, &name, disaggregated) {
                out.push(object);
            }
        }
        // After all objects, so that one finding has everything that is left out.
        self.say_what_is_lost(&name);
        // The objects were finished before they were changed here.
        for object in &mut out {
            crate::objects::prune::tidy(&mut object.node);
            crate::objects::order(&mut object.node);
        }
        Ok(Checked { value: out, diagnostics: self.diagnostics })
    }

    /// One finding about all fields that are left out.
    fn say_what_is_lost(&mut self, name: &str) {
        if !self.lost.is_empty() {
            let service = &self.composed.service.object;
            self.diagnostics.push(
                Diagnostic::new(Code::WorkloadUnsupported, format!("the ModelServing `{name}` leaves out {}", self.lost.join("; ")))
                    .at(service.name_span())
                    .object(service.id.to_string())
                    .help("scale by an AutoscalingPolicy of Kthena; raise the replicas before an update if the capacity is needed"),
            );
        }
    }

    /// Entry and worker templates of a component, from the operator's own workload.
    fn part(
        &mut self,
        component: &'a Component,
        workload: &RenderedObject,
    ) -> Result<Part<'a>, Failure> {
        let spec = |path: &[&str]| workload.node.at(path);
        let (entry, worker) = match kind(workload) {
            DEPLOYMENT => (spec(&["spec", "template"]), None),
            LEADER_WORKER_SET => {
                let template = spec(&["spec", "leaderWorkerTemplate"]);
                let part = |key: &str| template.and_then(|template| template.get(key));
                (part("leaderTemplate"), part("workerTemplate"))
            }
            other => {
                let message = format!(
                    "`{}` runs as {}; a ModelServing has no such mode",
                    component.name,
                    if other == "Service" { "Knative Service" } else { other }
                );
                return Err(refusal(
                    self.composed,
                    message,
                    "use the deployment mode RawDeployment or MultiNode, and minReplicas of 1 or more",
                ));
            }
        };
        if component.spec.get("minReplicas").and_then(Node::as_int) == Some(0) {
            let message = format!(
                "`{}` scales to zero; a ModelServing that begins with 0 replicas fails every reconcile",
                component.name
            );
            return Err(refusal(self.composed, message, "write `minReplicas: 1` or more"));
        }
        let workers = component.worker.as_ref().map_or(0, |(_, workers)| *workers);
        let entry = self.template(component, entry)?;
        let worker = worker.map(|worker| self.template(component, Some(worker))).transpose()?;
        self.losses(component, workload);
        Ok(Part { component, entry, worker, workers })
    }

    /// Records the surge and the strategies that a ModelServing does not support.
    fn losses(&mut self, component: &Component, workload: &RenderedObject) {
        let surge = workload.node.at(&["spec", "strategy", "rollingUpdate", "maxSurge"]);
        // The field has another path in a LeaderWorkerSet.
        let surge = surge.or_else(|| {
            workload.node.at(&["spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"])
        });
        if let Some(surge) =
            surge.and_then(Node::scalar_text).filter(|surge| surge != "0" && surge != "0%")
        {
            self.lost.push(format!("the surge of {surge} with which `{}` updates", component.name));
        }
        if component
            .spec
            .get("deploymentStrategy")
            .is_some_and(|strategy| strategy.get("type").and_then(Node::as_str) == Some("Recreate"))
        {
            self.lost.push(format!("the strategy Recreate of `{}`", component.name));
        }
    }

    /// How many of `total` pods may be unavailable while a component updates, by its Deployment:
    /// percentages are rounded down, and the minimum is 1, because 0 would never update
    /// (docs/decisions.md#services-as-model-servings).
    fn unavailable(&mut self, component: &Component, total: i64) -> Option<i64> {
        let written = component.spec.at(&["deploymentStrategy", "rollingUpdate", "maxUnavailable"]);
        let written = written.filter(|_| component.mode == DeploymentMode::RawDeployment)?;
        let percent = match written.as_int() {
            Some(number) => IntOrPercent::Int(number),
            None => IntOrPercent::parse_percent(written.as_str()?).ok()?,
        };
        let most = percent.scaled(total, Rounding::Down);
        if most < 1 {
            self.lost.push(format!(
                "the maxUnavailable of {percent} with which `{}` updates: it is 1",
                component.name
            ));
        }
        Some(most.clamp(1, total.max(1)))
    }

    /// A pod template without the labels of its workload, and with renamed references to variables
    /// of LeaderWorkerSet.
    fn template(&self, component: &Component, template: Option<&Node>) -> Result<Node, Failure> {
        let rule = &WORKLOAD;
        let part = |path: &[&str]| template.and_then(|template| template.at(path));
        let map = |key: &str| {
            part(&["metadata", key]).and_then(Node::as_map).cloned().unwrap_or_default()
        };
        // `app` selects the pods of the Deployment, which is not written; `ray.io/node-type`
        // selects those of every leader.
        let labels = without(&map("labels"), |key| {
            key == "app" || key == "ray.io/node-type" || key.starts_with("modelserving.volcano.sh/")
        });
        let mut spec = part(&["spec"]).cloned().unwrap_or_else(|| Node::map(Origin::Derived(rule)));
        if let Some(pod) = spec.as_map_mut() {
            // The ModelServing sets it for all its pods.
            pod.remove("schedulerName");
            for key in ["initContainers", "containers"] {
                for container in pod
                    .get_mut(key)
                    .and_then(Node::as_list_mut)
                    .into_iter()
                    .flat_map(|containers| containers.make_mut().iter_mut())
                {
                    if let Some(variable) = lws_value(container) {
                        let message = format!(
                            "the variable `{variable}` of `{}` refers to a variable of LeaderWorkerSet; Kthena writes its own behind it, so that it would stay text",
                            component.name
                        );
                        return Err(refusal(
                            self.composed,
                            message,
                            "refer to it in `command` or `args`",
                        ));
                    }
                    for list in ["command", "args"] {
                        let words = container
                            .as_map_mut()
                            .and_then(|container| container.get_mut(list))
                            .and_then(Node::as_list_mut);
                        words
                            .into_iter()
                            .flat_map(|words| words.make_mut().iter_mut())
                            .for_each(rename);
                    }
                }
            }
        }
        Ok(node!(rule; { metadata: { labels: (labels), annotations: (map("annotations")) }, spec: (spec) }).unwrap_or_else(|| Node::map(Origin::Derived(rule))))
    }

    fn model_serving(&mut self, parts: &[Part<'_>]) -> Result<(EcoString, Node), Failure> {
        let rule = &WORKLOAD;
        let service = self.composed.service;
        let disaggregated = parts.len() > 1;
        let Some(first) = parts.first() else {
            return Err(refusal(
                self.composed,
                "the service has no engine".into(),
                "add `engine: {}`",
            ));
        };
        // With two roles the ModelServing is of the service, with one it keeps the component's
        // name.
        let name =
            if disaggregated { service.name().clone() } else { first.component.name.clone() };
        let replicas = |part: &Part<'_>| {
            part.component.spec.get("minReplicas").and_then(Node::as_int).unwrap_or(1).max(1)
        };
        let role_name = |part: &Part<'_>| match part.component.kind {
            ComponentKind::Decoder => "decode",
            _ if disaggregated => "prefill",
            _ => "engine",
        };
        // Prefill and decode scale apart, so that they are replicas of roles in a single group.
        let groups = if disaggregated { 1 } else { replicas(first) };
        let by_role = disaggregated && self.features.role_rolling_update;
        let mut roles = Vec::new();
        for part in parts {
            let count = if disaggregated { replicas(part) } else { 1 };
            // The longest pod name that this ModelServing gives is checked, before a server refuses
            // pods.
            let problems = names::dns1035_label(&format!(
                "{name}-{groups}-{}-{count}-{}",
                role_name(part),
                part.workers
            ));
            if let Some(problem) = problems.first() {
                return Err(refusal(
                    self.composed,
                    format!("`{name}` gives pods names that Kubernetes refuses: {problem}"),
                    "rename the InferenceService",
                ));
            }
            let most = by_role.then(|| self.unavailable(part.component, count).unwrap_or(1));
            roles.push(node!(rule; {
                name: (role_name(part)),
                replicas: count,
                maxUnavailable: most,
                entryTemplate: (&part.entry),
                workerReplicas: (part.workers),
                workerTemplate: (&part.worker),
            }));
        }
        let most = if disaggregated { None } else { self.unavailable(first.component, groups) };
        let minima: Option<Node> = disaggregated.then(|| {
            let origin = Origin::Derived(rule);
            let entries = parts.iter().map(|part| Entry {
                key: role_name(part).into(),
                key_origin: origin,
                node: Node::int(1, origin),
            });
            Node::new(Value::Map(entries.collect()), origin)
        });
        let gang = minima.and_then(|minima| node!(rule; { minRoleReplicas: (minima) }));
        let scheduler = first
            .component
            .pod
            .get("schedulerName")
            .and_then(Node::as_str)
            // The API server sets this name by default, so that it is no choice of the user.
            .filter(|name| *name != "default-scheduler")
            .unwrap_or("volcano");
        if scheduler != "volcano" {
            self.diagnostics.push(
                Diagnostic::new(Code::GangNeedsVolcano, format!("the pods of `{name}` set the scheduler `{scheduler}`: there will be no PodGroup"))
                    .at(service.object.name_span())
                    .object(service.object.id.to_string()),
            );
        }
        let annotations: Map = first.component.annotations.clone();
        let queue = queue_labels(&annotations)
            .into_iter()
            .find(|label| label.key == "volcano.sh/queue-name")
            .map(|label| label.node);
        let node = node!(rule; {
            apiVersion: "workload.serving.volcano.sh/v1alpha1",
            kind: "ModelServing",
            metadata: {
                name: (&name),
                namespace: (crate::objects::metadata::namespace(service)),
                labels: { "ome.io/inferenceservice": (service.name()) },
                annotations: { "scheduling.volcano.sh/queue-name": (queue) },
            },
            spec: {
                schedulerName: scheduler,
                replicas: groups,
                recoveryPolicy: "RoleRecreate",
                rolloutStrategy: {
                    type: (if by_role { "RoleRollingUpdate" } else { "ServingGroupRollingUpdate" }),
                    rollingUpdateConfiguration: { maxUnavailable: most },
                },
                template: { restartGracePeriodSeconds: 0, gangPolicy: gang, roles: roles },
            },
        });
        Ok((name, node.unwrap_or_else(|| Node::map(Origin::Derived(rule)))))
    }

    /// Adapts an object next to a workload: Services select entry pods, an autoscaler targets the
    /// ModelServing. None if a ModelServing does not support the object.
    fn adapted(
        &mut self,
        mut object: RenderedObject,
        name: &EcoString,
        disaggregated: bool,
    ) -> Option<RenderedObject> {
        let rule = &WORKLOAD;
        // Routers stay as the operator writes them.
        let component = match object.component {
            Some(component @ (ComponentKind::Engine | ComponentKind::Decoder)) => {
                component.as_str()
            }
            _ => return Some(object),
        };
        match kind(&object) {
            "Service" => {
                let selector = node!(rule; {
                    component: component,
                    "modelserving.volcano.sh/entry": "true",
                    "ome.io/inferenceservice": (self.composed.service.name()),
                });
                debug_assert!(
                    selector.as_ref().is_some_and(|selector| selector.get(ENTRY).is_some())
                );
                if let Some(spec) = at_mut(&mut object.node, &["spec"]).and_then(Node::as_map_mut) {
                    set(spec, "selector", selector, rule);
                }
                Some(object)
            }
            // Without a scale subresource nothing could change the replicas of a ModelServing.
            "HorizontalPodAutoscaler" | "ScaledObject"
                if !disaggregated && self.features.scale_subresource =>
            {
                let target = node!(rule; { apiVersion: "workload.serving.volcano.sh/v1alpha1", kind: "ModelServing", name: name });
                if let Some(spec) = at_mut(&mut object.node, &["spec"]).and_then(Node::as_map_mut) {
                    set(spec, "scaleTargetRef", target, rule);
                }
                Some(object)
            }
            "HorizontalPodAutoscaler" | "ScaledObject" => {
                let why = if disaggregated {
                    "its roles scale within one group"
                } else {
                    "no scale subresource"
                };
                self.lost.push(format!("the autoscaler of the {component} ({why})"));
                None
            }
            "PodDisruptionBudget" => {
                self.lost.push(format!("the PodDisruptionBudget of the {component}"));
                None
            }
            _ => Some(object),
        }
    }
}

/// The variables of LeaderWorkerSet, each with Kthena's variable of the same meaning.
const VARIABLES: [(&str, &str); 3] = [
    ("LWS_LEADER_ADDRESS", "ENTRY_ADDRESS"),
    ("LWS_GROUP_SIZE", "GROUP_SIZE"),
    ("LWS_WORKER_INDEX", "WORKER_INDEX"),
];

/// Renames references in one word of a command line: `$(…)`, `${…}`, `$…`.
fn rename(word: &mut Node) {
    let Some(text) = word.as_str().filter(|text| text.contains("LWS_")) else { return };
    let mut text = text.to_owned();
    for (old, new) in VARIABLES {
        for sign in ["$(", "${", "$"] {
            text = text.replace(&format!("{sign}{old}"), &format!("{sign}{new}"));
        }
    }
    word.value = Value::Str(eco_format!("{text}"));
}

/// Name of a variable whose value refers to a variable of LeaderWorkerSet.
fn lws_value(container: &Node) -> Option<EcoString> {
    let refers = |variable: &&Node| {
        variable.get("value").and_then(Node::as_str).is_some_and(|value| {
            VARIABLES.iter().any(|(old, _)| value.contains(&format!("$({old})")))
        })
    };
    let variable = container.get("env")?.items().iter().find(refers)?;
    variable.get("name").and_then(Node::as_str).map(EcoString::from)
}

/// Keeps the operator's workloads if they are of the requested kind. Those in a Volcano queue get a
/// PodGroup that their pods join (Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang
/// Scheduling).
fn gathered(
    composed: &Built<'_>,
    objects: Vec<RenderedObject>,
    wanted: &str,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let mut out = Vec::with_capacity(objects.len() + 1);
    for mut object in objects {
        if is_workload(&object) && kind(&object) != wanted {
            let message = format!(
                "`{}` is a {}; its pods cannot be wrapped in a {wanted}",
                composed.service.name(),
                kind(&object)
            );
            return Err(refusal(
                composed,
                message,
                "leave `--workload` out, or write the component with or without `leader` and `worker`",
            ));
        }
        if is_workload(&object)
            && let Some(pod_group) = join_queue(&mut object)
        {
            // The PodGroup comes first: pods that name an absent one are not scheduled.
            out.push(pod_group);
        }
        out.push(object);
    }
    Ok(Checked::clean(out))
}

/// Makes the pods of a workload join a PodGroup in the queue that its annotations name; returns the
/// PodGroup.
fn join_queue(object: &mut RenderedObject) -> Option<RenderedObject> {
    let rule = &WORKLOAD;
    let annotations = object
        .node
        .at(&["metadata", "annotations"])
        .and_then(Node::as_map)
        .cloned()
        .unwrap_or_default();
    let queue = queue_labels(&annotations)
        .into_iter()
        .find(|label| label.key == "volcano.sh/queue-name")?
        .node;
    let metadata = object.node.get("metadata")?.clone();
    let name: EcoString = metadata.get("name").and_then(Node::as_str)?.into();
    // The pods of one replica must start together: the leader with its workers, or a single pod.
    let size = object
        .node
        .at(&["spec", "leaderWorkerTemplate", "size"])
        .and_then(Node::as_int)
        .unwrap_or(1);
    for path in [
        &["spec", "template"][..],
        &["spec", "leaderWorkerTemplate", "leaderTemplate"],
        &["spec", "leaderWorkerTemplate", "workerTemplate"],
    ] {
        let Some(template) = at_mut(&mut object.node, path) else { continue };
        if let Some(map) = at_mut(template, &["metadata"]).and_then(Node::as_map_mut) {
            let annotations =
                map.get("annotations").and_then(Node::as_map).cloned().unwrap_or_default();
            let joined =
                with(&annotations, [label("scheduling.k8s.io/group-name", name.clone(), rule)]);
            set(map, "annotations", &joined, rule);
        }
        // A scheduler that the user chose stays, although it may not know PodGroups.
        if let Some(map) = at_mut(template, &["spec"]).and_then(Node::as_map_mut)
            && map
                .get("schedulerName")
                .and_then(Node::as_str)
                .is_none_or(|scheduler| scheduler == "default-scheduler")
        {
            set(map, "schedulerName", "volcano", rule);
        }
    }
    let node = node!(rule; {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "PodGroup",
        metadata: { name: (&name), namespace: (metadata.get("namespace")), labels: (metadata.get("labels")) },
        spec: { minMember: size, queue: (queue) },
    })?;
    Some(RenderedObject { node, component: object.component, wave: 0, has_gaps: false })
}

fn at_mut<'a>(node: &'a mut Node, path: &[&str]) -> Option<&'a mut Node> {
    path.iter().try_fold(node, |node, key| node.as_map_mut()?.get_mut(key))
}
