//! Judges objects before they are printed: does everything in them have a place, and would a server
//! take them?
//!
//! In: a rendered object. Out: findings with the server's words. Nothing is changed here. Built-in
//! objects are decoded through their `k8s-openapi` types, custom ones are checked by the schemas of
//! their CRDs; what a server refuses beyond types is judged kind by kind, by the recorded verdicts
//! of kube-apiserver 1.35 (object-validation.jsonl).

pub(crate) mod at;
pub(crate) mod autoscaler;
pub(crate) mod container;
pub(crate) mod decode;
pub(crate) mod judge;
pub(crate) mod kinds;
pub(crate) mod metadata;
pub(crate) mod pod;
pub(crate) mod probe;
pub(crate) mod resources;
pub(crate) mod scheduling;
pub(crate) mod security;
#[cfg(test)]
mod tests;
pub(crate) mod volume;
pub(crate) mod workload;

use crate::api::Semantics;
use crate::diag::{Code, Diagnostic, Severity};
use crate::schema::{self, Strictness};
use crate::source::SourceMap;
use crate::yaml::Node;
use at::At;
use judge::Judge;

/// Adds a finding for everything in an object that has no place there or that a server would
/// refuse. The sources are those its values were read from: messages quote them.
pub fn accept(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    types(object, sources, findings);
    let mut judge = Judge { object, severity: Severity::Error, findings };
    metadata::object(&mut judge, object);
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let spec = object.get("spec");
    let root = At::ROOT;
    let at = root.field("spec");
    match (text("apiVersion"), text("kind")) {
        ("apps/v1", "Deployment") => workload::deployment(&mut judge, &at, spec.unwrap_or(object)),
        ("v1", "Service") => kinds::service(&mut judge, &at, spec.unwrap_or(object)),
        ("v1", "ConfigMap") => kinds::config_map(&mut judge, object),
        ("autoscaling/v2", "HorizontalPodAutoscaler") => {
            autoscaler::autoscaler(&mut judge, &at, spec.unwrap_or(object));
        }
        ("policy/v1", "PodDisruptionBudget") => {
            kinds::disruption_budget(&mut judge, &at, spec.unwrap_or(object));
        }
        ("gateway.networking.k8s.io/v1", "HTTPRoute") => {
            kinds::route(&mut judge, &at, spec.unwrap_or(object));
        }
        ("networking.k8s.io/v1", "Ingress") => {
            kinds::ingress(&mut judge, &at, spec.unwrap_or(object));
        }
        ("rbac.authorization.k8s.io/v1", "Role") => kinds::role(&mut judge, object),
        ("rbac.authorization.k8s.io/v1", "RoleBinding") => kinds::role_binding(&mut judge, object),
        ("v1", "ServiceAccount") => kinds::service_account(&mut judge, object),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet") => {
            let at = at.field("leaderWorkerTemplate");
            for template in ["leaderTemplate", "workerTemplate"] {
                pods(
                    &mut judge,
                    &at.field(template),
                    spec.and_then(|spec| spec.at(&["leaderWorkerTemplate", template])),
                );
            }
        }
        ("serving.knative.dev/v1", "Service") => {
            pods(&mut judge, &at.field("template"), spec.and_then(|spec| spec.get("template")));
        }
        ("ray.io/v1", "RayCluster") => ray(&mut judge, &at, spec, sources),
        _ => {}
    }
}

/// The same of an object that was rendered. An operator decodes what it is given into its own
/// types, so that what has no place in the object it writes is written all the same: a server
/// refuses it, or drops it where nobody asked it to be strict. By the documents it is what somebody
/// wrote in the wrong place.
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
    for finding in &mut findings[first..] {
        if matches!(finding.code, Code::UnknownField | Code::InvalidType) {
            finding.code = Code::ServerRefuses;
            finding
                .help
                .get_or_insert_with(|| "leave it out: a server that is not strict drops it".into());
        }
    }
}

/// Whether everything has a field and every field its type. Built-in types notice, schemas find the
/// words.
fn types(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    if decode::fits(object) == Some(true) {
        return;
    }
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    // Pods are created as they are: what is there twice is refused only where it is applied.
    if text("kind") == "Pod" {
        return;
    }
    let Some(schema) = schema::kind(text("apiVersion"), text("kind")) else { return };
    let first = findings.len();
    schema.check(object, Strictness::Server, sources, findings);
    let id = format!(
        "{}/{}",
        text("kind"),
        object.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default()
    );
    // A number that is not counted is reported where it is written: the server takes it.
    let refused = findings.split_off(first).into_iter();
    findings.extend(refused.filter(|finding| finding.severity == Severity::Error));
    for finding in &mut findings[first..] {
        // What has no place keeps its name; every other rule of a schema is one by which a server
        // refuses.
        if !matches!(finding.code, Code::UnknownField | Code::InvalidType) {
            finding.code = Code::ServerRefuses;
            finding.severity = Severity::Error;
        }
        if finding.objects.is_empty() {
            finding.objects.push(id.clone());
        }
    }
}

/// A template inside a custom object: the server takes the object and refuses its pods, so nothing
/// here is an error.
fn pods(judge: &mut Judge<'_>, at: &At<'_>, template: Option<&Node>) {
    let Some(template) = template else { return };
    judge.severity = Severity::Warning;
    metadata::template(judge, at, template);
    if let Some(spec) = template.get("spec") {
        pod::spec(judge, &at.field("spec"), spec);
    }
    judge.severity = Severity::Error;
}

fn ray(judge: &mut Judge<'_>, at: &At<'_>, spec: Option<&Node>, sources: &SourceMap) {
    let head = at.field("headGroupSpec");
    let workers = at.field("workerGroupSpecs");
    let templates = |judge: &mut Judge<'_>, at: &At<'_>, group: Option<&Node>| {
        let template = group.and_then(|group| group.get("template"));
        pods(judge, &at.field("template"), template);
        if let Some(spec) = template
            .and_then(|template| template.get("spec"))
            .filter(|spec| !decode::is_pod_spec(spec))
        {
            // No schema of Ray is at hand; the pod in it has one.
            let first = judge.findings.len();
            if let Some(ty) = schema::structure("PodSpec") {
                ty.check(spec, Strictness::Server, sources, judge.findings);
            }
            for finding in &mut judge.findings[first..] {
                finding.severity = Severity::Warning;
            }
        }
    };
    templates(judge, &head, spec.and_then(|spec| spec.get("headGroupSpec")));
    for (index, group) in spec
        .and_then(|spec| spec.get("workerGroupSpecs"))
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        templates(judge, &workers.index(index), Some(group));
    }
}
