//! Judges objects before they are printed: does every key have a field, and would a server accept
//! them?
//!
//! In: a rendered object. Out: findings with the server's words. Nothing is changed here. Fields and
//! their types are checked by the schemas of `schema`; what a server refuses beyond types is judged
//! kind by kind, by the recorded verdicts of kube-apiserver 1.35 (object-validation.jsonl).

pub(crate) mod added;
mod autoscaler;
pub(crate) mod claim;
pub(crate) mod container;
pub(crate) mod core;
mod cron;
mod devices;
pub(crate) mod environment;
pub(crate) mod job;
pub(crate) mod judge;
pub(crate) mod kinds;
pub(crate) mod knative;
pub(crate) mod lws;
pub(crate) mod metadata;
pub(crate) mod mount;
mod network;
pub(crate) mod path;
pub(crate) mod pod;
mod quota;
pub(crate) mod ray;
pub(crate) mod resources;
pub(crate) mod scheduling;
pub(crate) mod security;
pub(crate) mod source;
pub(crate) mod storage;
#[cfg(test)]
mod tests;
pub(crate) mod workload;

use crate::api::Semantics;
use crate::diag::{Code, Diagnostic, Severity};
use crate::schema;
use crate::source::SourceMap;
use crate::yaml::{At, Node, Segment};
use judge::Judge;

/// Adds a finding for every unknown field of an object and every value that a server would refuse.
/// `sources` are those that its values were read from: messages quote them.
pub fn accept(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    let first = findings.len();
    types(object, sources, findings);
    // No finding about fields and types: the rules of the CRD can skip what was just checked.
    let is_typed = findings.len() == first;
    // Pods are created by a controller, as they are.
    let applied = object.get("kind").and_then(Node::as_str) != Some("Pod");
    // The rules of the kind come after its types, which are what a user mends first.
    by_kind(&mut Judge { applied, ..Judge::of(object, findings) });
    ray::types(object, sources, findings);
    definition(object, is_typed, sources, findings);
}

/// Adds a finding for every value of an object that a server refuses although each field is known
/// and has its type. Where the server refuses only the pods made from it, the finding is a warning.
/// It is created, not applied: repeated variables are only warned about.
pub fn judge(object: &Node, findings: &mut Vec<Diagnostic>) {
    by_kind(&mut Judge { applied: false, ..Judge::of(object, findings) });
}

/// Why there would be no pods of a workload: a server refuses it, or the pods made from it. In the
/// server's words; none when it takes both.
pub fn refused_pods(workload: &Node) -> Option<String> {
    let mut findings = Vec::new();
    judge(workload, &mut findings);
    findings.into_iter().next().map(|finding| finding.message)
}

fn by_kind(judge: &mut Judge<'_>) {
    let object = judge.object;
    metadata::object(judge, object);
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let spec = object.get("spec");
    let root = At::ROOT;
    let at = root.field("spec");
    match (text("apiVersion"), text("kind")) {
        ("apps/v1", "Deployment") => workload::deployment(judge, &at, spec.unwrap_or(object)),
        ("apps/v1", "StatefulSet") => {
            workload::stateful_set(judge, &at, spec.unwrap_or(object));
        }
        ("apps/v1", "DaemonSet") => workload::daemon_set(judge, &at, spec.unwrap_or(object)),
        ("apps/v1", "ReplicaSet") => workload::replica_set(judge, &at, spec.unwrap_or(object)),
        ("batch/v1", "Job") => job::job(judge, &at, spec.unwrap_or(object)),
        ("batch/v1", "CronJob") => cron::cron_job(judge, &at, spec.unwrap_or(object)),
        ("v1", "Pod") => pod::object(judge, &at, object),
        ("v1", "Service") => kinds::service(judge, &at, spec.unwrap_or(object)),
        ("v1", "ConfigMap") => core::config_map(judge, object),
        ("v1", "Secret") => core::secret(judge, object),
        ("v1", "Namespace") => {
            if let Some(spec) = spec {
                core::namespace(judge, &at, spec);
            }
        }
        ("v1", "Node") => core::node(judge, object),
        ("v1", "PersistentVolumeClaim") => {
            claim::created_claim(judge, &at, spec.unwrap_or(object));
        }
        ("v1", "ResourceQuota") => quota::quota(judge, &at, spec.unwrap_or(object)),
        ("v1", "LimitRange") => quota::limits(judge, &at, spec.unwrap_or(object)),
        ("scheduling.k8s.io/v1", "PriorityClass") => quota::priority_class(judge, object),
        ("v1", "PersistentVolume") => storage::volume(judge, &at, spec.unwrap_or(object)),
        ("autoscaling/v2", "HorizontalPodAutoscaler") => {
            autoscaler::autoscaler(judge, &at, spec.unwrap_or(object));
        }
        ("policy/v1", "PodDisruptionBudget") => {
            kinds::disruption_budget(judge, &at, spec.unwrap_or(object));
        }
        ("networking.k8s.io/v1", "Ingress") => {
            kinds::ingress(judge, &at, spec.unwrap_or(object));
        }
        ("networking.k8s.io/v1", "NetworkPolicy") => {
            network::policy(judge, &at, spec.unwrap_or(object));
        }
        (_, "DeviceClass" | "ResourceClaim" | "ResourceClaimTemplate") => devices::object(judge),
        ("rbac.authorization.k8s.io/v1", "Role") => kinds::role(judge, object),
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => kinds::role_binding(judge, object),
        ("v1", "ServiceAccount") => kinds::service_account(judge, object),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet") => lws::set(judge, object),
        // Knative completes the template before it makes a Deployment of it.
        ("serving.knative.dev/v1", "Service") => {
            let template = spec.and_then(|spec| spec.get("template")).map(knative::completed);
            pods(judge, &at.field("template"), template.as_ref());
        }
        ("ray.io/v1", "RayCluster") => ray::cluster(judge, object),
        _ => {}
    }
}

/// Whether [`judge()`] judges the pods of a kind with the object itself.
pub fn judges_pods(api_version: &str, kind: &str) -> bool {
    matches!(
        (api_version, kind),
        ("apps/v1", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
            | ("batch/v1", "Job" | "CronJob")
            | ("v1", "Pod")
            | ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
            | ("serving.knative.dev/v1", "Service")
            | ("ray.io/v1", "RayCluster")
    )
}

/// Adds what a server refuses of the pods that a controller makes from a template at a path of an
/// object: it takes the object. `is_spec` where the template is the spec of a pod alone.
pub fn judge_template(
    object: &Node,
    path: &[Segment],
    template: &Node,
    is_spec: bool,
    findings: &mut Vec<Diagnostic>,
) {
    fn descend(at: &At<'_>, path: &[Segment], then: &mut dyn FnMut(&At<'_>)) {
        match path.split_first() {
            // A path to one place has no choice of elements.
            None | Some((Segment::Keyed(..) | Segment::All, _)) => then(at),
            Some((Segment::Field(name), rest)) => descend(&at.field(name), rest, then),
            Some((Segment::Index(index), rest)) => descend(&at.index(*index), rest, then),
        }
    }
    let mut judge = Judge::of(object, findings);
    let template = added::completed(object, template, is_spec);
    descend(&At::ROOT, path, &mut |at| {
        if is_spec {
            (judge.severity, judge.applied) = (Severity::Warning, false);
            pod::spec(&mut judge, at, &template, pod::Form::Pod { name: "", labels: None });
        } else {
            pods(&mut judge, at, Some(&template));
        }
    });
}

/// The same for a rendered object. An operator decodes its input into its own types, and writes
/// fields that the rendered object does not have: a server refuses them, or drops them unless
/// validation is strict. By the documents each is a field in the wrong place.
pub fn accept_rendered(
    object: &Node,
    semantics: Semantics,
    sources: &SourceMap,
    findings: &mut Vec<Diagnostic>,
) {
    let first = findings.len();
    accept(object, sources, findings);
    if semantics != Semantics::Controller {
        return;
    }
    // Only new findings: those before belong to other objects.
    for finding in &mut findings[first..] {
        if matches!(finding.code, Code::UnknownField | Code::InvalidType) {
            finding.code = Code::ServerRefuses;
            finding
                .help
                .get_or_insert_with(|| "leave it out: a server that is not strict drops it".into());
        }
    }
}

/// Judges by the rules of a CRD besides the types of fields. For an object that was read, `check`
/// does so. `is_typed` says that every field is known and has its type.
fn definition(object: &Node, is_typed: bool, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let Some(schema) = schema::kind(text("apiVersion"), text("kind")) else { return };
    let broken = if is_typed {
        schema.broken_rules_of_valid(object)
    } else {
        schema.broken_rules(object, sources)
    };
    let mut judge = Judge::of(object, findings);
    for broken in broken {
        let at = At::ROOT.field(&broken.path);
        let help = "write it as the definition requires";
        judge.refuse(&at, broken.span, &format!("Invalid value: {}", broken.message), help);
    }
}

/// The same for a pod that a controller makes from a template of a ModelServing: the server accepts
/// the ModelServing and refuses the pod. Findings are placed in the template.
pub fn judge_role_pod(
    serving: &Node,
    (role, template): (usize, &str),
    pod: &Node,
    findings: &mut Vec<Diagnostic>,
) {
    let mut judge = Judge::of(serving, findings);
    let at = At::ROOT.field("spec");
    let at = at.field("template");
    let at = at.field("roles");
    let at = at.index(role);
    pods(&mut judge, &at.field(template), Some(pod));
}

/// Adds a finding for every key without a field and every value of another type.
fn types(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    // Pods are created and not applied: an element that is there twice is not refused.
    if text("kind") == "Pod" {
        return;
    }
    let Some(schema) = schema::kind(text("apiVersion"), text("kind")) else { return };
    let first = findings.len();
    schema.root().check_fields(object, sources, findings);
    let id = format!(
        "{}/{}",
        text("kind"),
        object.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default()
    );
    // A number that the server accepts but nothing can count is reported where it is written.
    let refused = findings.split_off(first).into_iter();
    findings.extend(refused.filter(|finding| finding.severity == Severity::Error));
    for finding in &mut findings[first..] {
        // An unknown field keeps its code; every other rule of a schema is one of the server.
        if !matches!(finding.code, Code::UnknownField | Code::InvalidType) {
            finding.code = Code::ServerRefuses;
            finding.severity = Severity::Error;
        }
        if finding.objects.is_empty() {
            finding.objects.push(id.clone());
        }
    }
}

/// A template inside a custom object: the server accepts the object and refuses its pods, so that
/// all findings are warnings.
fn pods(judge: &mut Judge<'_>, at: &At<'_>, template: Option<&Node>) {
    let Some(template) = template else { return };
    // The server has taken the object; a controller will fail to create its pods.
    (judge.severity, judge.applied) = (Severity::Warning, false);
    metadata::template(judge, at, template);
    if let Some(spec) = template.get("spec") {
        let labels = template.at(&["metadata", "labels"]);
        pod::spec(judge, &at.field("spec"), spec, pod::Form::Pod { name: "", labels });
    }
    (judge.severity, judge.applied) = (Severity::Error, true);
}
