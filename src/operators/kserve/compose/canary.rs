//! Canary variants of the predictor, in Standard mode
//! (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileCanaryDeployments;
//! pkg/controller/v1beta1/inferenceservice/controller.go).
//!
//! A variant sets only the fields that differ: all others come from the stable predictor, as
//! completed by the controller.

use super::super::{read, select};
use super::{BuiltComponent, Facts, metadata, of, predictor};
use crate::api::{ComponentKind, DeploymentMode, Failure, Service};
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::map_mut;
use crate::merge::history::Recorder;
use crate::pods::built::Component;
use crate::select::request::{asked_of_named, asked_protocol};
use crate::yaml::{Map, Node, Origin, Rule, Value};

static CANARY: Rule = Rule {
    id: "kserve-canary",
    text: "Variants take their share of replicas from the stable predictor.",
    cite: "components/predictor.go",
};

const ORIGIN: Origin = Origin::Derived(&CANARY);
/// Fields that a variant does not inherit: its replicas are fixed and it runs on one node.
const STABLE: [&str; 5] =
    ["workerSpec", "maxReplicas", "scaleTarget", "scaleMetric", "autoScaling"];
/// Fields that its objects do not follow, although its pods may have what they ask for: its
/// Deployment knows its replicas alone.
const UNHEARD: [&str; 4] = ["deploymentStrategy", "logger", "batcher", "timeout"];

/// Variants of the predictor, which take replicas from it; `model` is the stable predictor's,
/// completed for its server.
///
/// # Errors
/// The controller's error.
pub(super) fn variants(
    facts: &Facts<'_>,
    model: Option<&Node>,
    stable: &mut Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<BuiltComponent>, Failure> {
    let listed = facts.service.object.spec("canary").map(Node::items).unwrap_or_default();
    if facts.mode != DeploymentMode::RawDeployment || listed.is_empty() {
        return Ok(Vec::new());
    }
    let least = stable.get("minReplicas").and_then(Node::as_int);
    let base = settled(facts, model);
    let mut variants = Vec::new();
    let (mut taken, mut assumed) = (0, Vec::new());
    for (canary, written) in
        listed.iter().filter_map(|canary| Some((canary, canary.get("predictor")?)))
    {
        let share = canary.get("trafficPercent").and_then(Node::as_int).unwrap_or(0);
        let replicas = written
            .get("minReplicas")
            .and_then(Node::as_int)
            .unwrap_or_else(|| share_of(least.unwrap_or(1), share));
        let name = written.get("name").and_then(Node::as_str).unwrap_or_default();
        match is_ready(facts, name) {
            Some(false) => {}
            Some(true) => taken = replicas.saturating_add(taken),
            None => {
                taken = replicas.saturating_add(taken);
                assumed.push(name);
            }
        }
        let mut predictor = over(&base, written);
        if let Some(map) = predictor.as_map_mut() {
            // Without `maxReplicas` the autoscaler of a variant keeps exactly its share.
            map.retain(|entry| !STABLE.contains(&entry.key.as_str()));
            map.insert(
                "minReplicas",
                written.get("minReplicas").cloned().unwrap_or_else(|| Node::int(replicas, ORIGIN)),
            );
        }
        // Built from the merged predictor: labels, protocol and server defaults follow the variant.
        let (variant, container) =
            of(facts.policy, facts.service, &predictor, facts.runtime, facts.config);
        served(facts, &variant, &predictor, findings)?;
        let kind = ComponentKind::Predictor;
        let layer = facts.runtime.and_then(|runtime| runtime.object.node.get("spec"));
        let labels = metadata::labels(&variant, kind, layer, &predictor, rec);
        let annotations = metadata::annotations(&variant, kind, layer, &predictor, rec);
        // Quirk: a variant never gets several models.
        let (pod, worker) = predictor::pods(&variant, container.as_ref(), None, rec, findings)?;
        // Each variant is a workload of its own, so its name and annotations are checked again.
        facts.workload(&variant.predictor_name(), &labels, &annotations)?;
        let mut spec = predictor.clone();
        if let Some(map) = spec.as_map_mut() {
            map.retain(|entry| !UNHEARD.contains(&entry.key.as_str()));
        }
        let component = Component {
            kind,
            name: variant.predictor_name(),
            mode: facts.mode,
            spec,
            labels,
            annotations,
            main: super::main_container(&pod),
            worker_main: worker.as_ref().map_or(0, |(pod, _)| super::main_container(pod)),
            worker_metadata: None,
            pod,
            worker,
        };
        variants.push(BuiltComponent { component, basis: facts.basis, stopped: false });
    }
    // Variants without replicas take none: the stable predictor keeps its own number, also 0
    // (predictor.go, adjustStableMinReplicasForCanaries).
    if taken > 0
        && let (Some(min), Some(map)) = (least, stable.as_map_mut())
    {
        // At least 1: shares that are rounded up can take all replicas of the stable predictor.
        let rest = min.saturating_sub(taken).max(1);
        map.insert("minReplicas", Node::int(rest, ORIGIN));
        if rest != min && !assumed.is_empty() {
            findings.push(counted_as_ready(facts.service, &assumed, (min, rest)));
        }
    }
    Ok(variants)
}

/// Whether a pod of a variant is ready, where the status of a service in a cluster shows it. One
/// that the status does not list has no pods yet (predictor.go, reconcileCanaryDeployments).
fn is_ready(facts: &Facts<'_>, name: &str) -> Option<bool> {
    let object = &facts.service.object;
    let status = object.node.get("status").filter(|_| object.metadata("uid").is_some())?;
    let mut listed = status.get("canaryStatuses").map(Node::items).unwrap_or_default().iter();
    let of_variant = listed.find(|listed| listed.get("name").and_then(Node::as_str) == Some(name));
    Some(of_variant.and_then(|variant| variant.get("ready")?.as_bool()).unwrap_or_default())
}

/// Where no status shows which variants are ready, the numbers are those after the start.
fn counted_as_ready(service: &Service, variants: &[&str], replicas: (i64, i64)) -> Diagnostic {
    let (before, after) = replicas;
    let names = variants.join(", ");
    let message = format!(
        "the stable predictor has {after} of {before} replicas, because the variants count as ready: {names}; until they are, it keeps {before}"
    );
    Diagnostic::new(Code::NeedsClusterStatus, message)
        .at(service.object.spec("canary").and_then(|canary| canary.origin.span()))
        .path("spec.canary")
        .object(service.object.id.to_string())
}

/// The replicas for a share of the traffic in percent.
fn share_of(replicas: i64, percent: i64) -> i64 {
    // Rounded up, so that a variant with a small share still gets one replica.
    replicas.saturating_mul(percent).saturating_add(99).div_euclid(100)
}

/// The stable predictor with the name of its runtime, and its model completed for the server.
fn settled(facts: &Facts<'_>, model: Option<&Node>) -> Node {
    let mut base = facts.predictor.clone();
    let mut model = model.cloned();
    if let Some(map) = model.as_mut().and_then(Node::as_map_mut) {
        // The selected runtime becomes a named one: variants that name none inherit it.
        if let Some(runtime) = facts.runtime {
            map.insert("runtime", Node::str(runtime.object.id.name.clone(), ORIGIN));
        }
        if let Some(protocol) =
            facts.protocol.clone().filter(|_| !map.contains_key("protocolVersion"))
        {
            map.insert("protocolVersion", Node::str(protocol, ORIGIN));
        }
    }
    if let (Some(map), Some(model)) = (base.as_map_mut(), model) {
        map.insert("model", model);
    }
    base
}

/// Merges a variant over the stable predictor: mappings key by key, other values as a whole unless
/// they are empty (mergo.Merge).
fn over(lower: &Node, upper: &Node) -> Node {
    match (&lower.value, &upper.value) {
        (Value::Map(below), Value::Map(above)) => {
            let mut merged: Map = below.clone();
            for entry in above {
                let node = below
                    .get(&entry.key)
                    // A key that only the variant sets is taken as it is, an empty value included.
                    .map_or_else(|| entry.node.clone(), |lower| over(lower, &entry.node));
                merged.insert(entry.key.clone(), node);
            }
            Node::new(Value::Map(merged), upper.origin)
        }
        _ if is_empty(upper) => lower.clone(),
        _ => upper.clone(),
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => {
            node.is_null()
                || node.as_str() == Some("")
                // The zero values of Go: mergo cannot tell them from fields that are not set.
                || node.as_int() == Some(0)
                || node.as_bool() == Some(false)
        }
    }
}

/// Checks that the runtime of the stable predictor serves the variant. A variant that names another
/// runtime is shown with this one too, because no other runtime was selected
/// (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileCanaryDeployments and
/// buildPredictorResources).
fn served(
    stable: &Facts<'_>,
    variant: &Facts<'_>,
    predictor: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let service = stable.service;
    let Some(runtime) = stable.runtime else { return Ok(()) };
    let chosen = &runtime.object.id.name;
    if let Some(node) = variant.model("runtime").filter(|node| node.as_str() != Some(chosen)) {
        findings.push(
            Diagnostic::new(
                Code::CanaryRuntime,
                format!(
                    "the variant has another `runtime` than the stable predictor: it is shown on {chosen}"
                ),
            )
            .at(node.origin.span())
            .path("spec.canary[].predictor.model.runtime")
            .object(service.object.id.to_string())
            .help("name the runtime of the stable predictor, or write a second service"),
        );
        return Ok(());
    }
    // The variant is read again as a service, so that the runtime is checked by the same rules as
    // that of the stable predictor.
    let mut object = service.object.clone();
    if let Some(spec) = map_mut(&mut object.node, "spec", ORIGIN) {
        spec.insert("predictor", predictor.clone());
    }
    let merged = read::service(object, stable.policy, &mut Vec::new());
    let (Some(inline), Some(named)) = (&merged.inline, &merged.runtime) else { return Ok(()) };
    let protocol = asked_protocol(stable.policy, &merged);
    let request = select::request(stable.policy, &merged, &inline.model, &protocol.name);
    let candidate = asked_of_named(stable.policy, &select::WORDS, &request, runtime, named)?;
    if candidate.reasons.is_empty() {
        return Ok(());
    }
    // The controller names the variant, not the service, in its error.
    let name = predictor.get("name").and_then(Node::as_str).unwrap_or_default();
    let failure = (select::WORDS.incompatible)(&request, &candidate, named);
    Err(Failure {
        message: format!("fails to build resources for canary {name}: {}", failure.message),
        help: Some("name a format that the runtime lists, or write a second service".into()),
        span: variant.model("modelFormat").and_then(|format| format.origin.span()),
        ..failure
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ome, plan};

    /// A service with two variants; `metadata` and `status` are further fields of it.
    fn input(metadata: &str, status: &str) -> String {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {{name: r, namespace: team}}
spec: {{supportedModelFormats: [{{name: f}}], containers: [{{name: kserve-container, image: i}}]}}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {{name: s, namespace: team, annotations: {{serving.kserve.io/deploymentMode: Standard}}{metadata}}}
spec:
  predictor: {{name: stable, minReplicas: 9, model: {{modelFormat: {{name: f}}, runtime: r}}}}
  canary:
  - {{trafficPercent: 20, predictor: {{name: b, model: {{modelFormat: {{name: f}}}}}}}}
  - {{trafficPercent: 30, predictor: {{name: c, model: {{modelFormat: {{name: f}}}}}}}}
{status}"
        )
    }

    #[test]
    fn the_stable_predictor_keeps_the_replicas_of_variants_that_a_status_shows_as_not_ready() {
        let stored = ", uid: '1'";
        let of_c = "status: {canaryStatuses: [{name: c, ready: true}, {name: b, ready: false}]}";
        for (metadata, status, stable, is_assumed) in [
            ("", "", 4, true),
            // A manifest that was exported: what it has is not the status of what is applied.
            ("", of_c, 4, true),
            (stored, of_c, 6, false),
            (stored, "status: {canaryStatuses: [{name: b, ready: true}]}", 7, false),
            (stored, "status: {conditions: []}", 9, false),
            // A service that was not reconciled yet.
            (stored, "", 4, true),
        ] {
            let ran = plan(&input(metadata, status));
            let replicas = ran.at("/services/0/components");
            let replicas: Vec<_> =
                (0..3).filter_map(|index| replicas[index]["minReplicas"].as_i64()).collect();
            assert_eq!(replicas, [stable, 2, 3], "{metadata} {status}");
            let codes = ran.findings();
            assert_eq!(codes.contains(&"needs-cluster-status".to_owned()), is_assumed, "{codes:?}");
            let page = ome("plan", &input(metadata, status)).out;
            let line = "assumed: InferenceService/team/s: the stable predictor has 4 of 9 replicas";
            assert_eq!(page.contains(line), is_assumed, "{page}");
        }
    }

    #[test]
    fn without_an_autoscaler_a_component_has_the_least_replicas_and_never_more() {
        let fixed =
            "serving.kserve.io/deploymentMode: Standard, serving.kserve.io/autoscalerClass: none";
        let whole = input("", "").replace("serving.kserve.io/deploymentMode: Standard", fixed);
        let (alone, _) = whole.split_once("  canary:").expect("variants");
        for (replicas, most) in [("0", 0), ("2", 2), ("2, maxReplicas: 7", 2)] {
            let input =
                alone.replace("name: stable, minReplicas: 9", &format!("minReplicas: {replicas}"));
            let most_of = plan(&input).at("/services/0/components/0/maxReplicas");
            assert_eq!(most_of.as_i64(), Some(most), "{replicas}");
        }
    }

    #[test]
    fn shares_are_rounded_up_and_have_no_overflow() {
        for (replicas, percent, expected) in
            [(1, 10, 1), (4, 30, 2), (10, 100, 10), (5, 0, 0), (i64::MAX, 50, i64::MAX / 100)]
        {
            assert_eq!(share_of(replicas, percent), expected, "{replicas} {percent}");
        }
    }
}
