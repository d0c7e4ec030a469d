//! Decisions as JSON. The format is documented in docs/json.md. Fields may be added; the meaning of
//! a field does not change.

use super::{SCHEMA_VERSION, findings, places};
use crate::api::{Api, ComponentKind, DeploymentMode, Model, ObjectRef, Runtime};
use crate::decision::{AppliedConfig, Candidate, Check, EntryChecks, RuntimeDecision};
use crate::diag::Diagnostic;
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{
    Costs, Depth, Difference, Flip, Losses, MergedLeaf, Planned, PlannedComponent, Together, Totals,
};
use crate::policy::Policy;
use crate::policy::Readings;
use crate::quantity::{Count, Dollars};
use crate::source::SourceMap;
use crate::workspace::accounting::InputRow;
use crate::yaml::Origin;
use ecow::EcoString;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// The document of `plan` and `explain`. It is serialized service by service, so that the JSON of a
/// fleet is never in memory as a whole.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The mode: documented or controller.
    pub readings: Readings,
    /// Whether candidates are shown.
    pub depth: Depth,
    /// The services.
    pub planned: &'a [Planned<'a>],
    /// The ModelServings.
    pub servings: &'a [PlannedServing<'a>],
    /// The edits that would make a runtime chosen, per service; empty unless requested.
    pub flips: &'a [Flip],
    /// The fields of the containers with their sources, per service; empty unless requested.
    pub merges: &'a [Vec<MergedLeaf>],
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
    /// Their total requests.
    pub totals: &'a Totals,
    /// The placement of the whole fleet; `None` in `explain`.
    pub together: Option<&'a Together>,
    /// One loss after another, if that was requested.
    pub losses: Option<&'a Losses>,
    /// Their cost, if prices are known.
    pub costs: Option<&'a Costs>,
    /// What becomes of each object of the input.
    pub input: &'a [InputRow],
}

impl Serialize for Plan<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schemaVersion", SCHEMA_VERSION)?;
        map.serialize_entry("semantics", self.readings.run().as_str())?;
        // The same ten nodes below each of thousands of services say no more than how many there are.
        let counts_nodes = self.depth == Depth::Plan && self.planned.len() > super::plan::MANY;
        let named = if counts_nodes { 0 } else { super::together::LISTED };
        map.serialize_entry(
            "services",
            &Streamed(|| {
                self.planned.iter().enumerate().map(|(index, planned)| {
                    let mut out = service(planned, self.depth, named, self.sources);
                    if let Some(found) = self.flips.get(index) {
                        // Flips and merges are made for one command, and the lists are empty in the
                        // others.
                        out["flip"] = flip(found, self.sources);
                    }
                    if let Some(found) = self.merges.get(index) {
                        out["merge"] = found
                            .iter()
                            .map(|leaf| super::why::merged(leaf, self.sources))
                            .collect();
                    }
                    out
                })
            }),
        )?;
        map.serialize_entry(
            "modelServings",
            &Streamed(|| {
                self.servings.iter().map(|serving| super::serving::json(serving, self.sources))
            }),
        )?;
        map.serialize_entry("totals", &totals(self.totals))?;
        if let Some(found) = self.costs {
            map.serialize_entry("costs", &costs(found))?;
        }
        if let Some(together) = self.together {
            map.serialize_entry("placement", &super::together::json(together))?;
        }
        if let Some(losses) = self.losses {
            map.serialize_entry("losses", &super::losses::json(losses))?;
        }
        map.serialize_entry("input", &super::accounting::json(self.input, self.sources))?;
        map.serialize_entry(
            "findings",
            &Streamed(|| {
                self.found.iter().map(|diagnostic| findings::json(diagnostic, self.sources))
            }),
        )?;
        map.end()
    }
}

/// Dollars per hour.
fn costs(costs: &Costs) -> Value {
    let row = |(namespace, name, cost): &(EcoString, EcoString, Dollars)| json!({ "namespace": namespace.as_str(), "name": name.as_str(), "perHour": cost });
    let mut out = json!({
        "perHour": costs.per_hour,
        "services": costs.services.iter().map(row).collect::<Vec<_>>(),
        "byClass": costs.by_class.iter().map(|(class, cost)| (class.to_string(), json!(cost))).collect::<Map<_, _>>(),
    });
    if !costs.servings.is_empty() {
        out["modelServings"] = costs.servings.iter().map(row).collect();
    }
    out
}

/// A list whose elements are made when they are serialized.
struct Streamed<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = Value>> Serialize for Streamed<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Total requests of all services and ModelServings at minReplicas.
fn totals(totals: &Totals) -> Value {
    let mut out = json!({
        "services": totals.services,
        "failed": totals.failed,
        "pods": totals.pods,
        "gpus": totals.gpus.iter().map(|(name, count)| (name.to_string(), (*count).into())).collect::<Map<_, Value>>(),
        "byClass": super::accelerator::by_class(totals),
    });
    // Keys that are often absent are left out: zero pods of others need no reader.
    if totals.others.pods > 0 {
        out["others"] = json!({ "pods": totals.others.pods, "gpus": totals.others.gpus });
    }
    if totals.servings > 0 {
        out["modelServings"] = totals.servings.into();
    }
    let not_counted = totals.components_not_counted + totals.servings_not_counted;
    if not_counted > 0 {
        out["notCounted"] = not_counted.into();
    }
    out
}

pub(super) fn reference(id: &ObjectRef) -> Value {
    json!({ "kind": id.kind.as_str(), "namespace": id.scope.namespace().map(EcoString::as_str), "name": id.name.as_str() })
}

/// One service; `flip` is added by `explain --runtime`. Of the nodes that take none of its pods so
/// many are named.
fn service(planned: &Planned<'_>, depth: Depth, named: usize, sources: &SourceMap) -> Value {
    let mut out = json!({
        "name": planned.service.name.as_str(),
        "namespace": planned.service.namespace.as_str(),
        "api": planned.service.api.as_str(),
        "kind": planned.service.kind.as_str(),
        "model": planned.resolution.model.map(|model| self::model(model, planned.policy, depth, sources)),
        "runtime": runtime(&planned.resolution.runtime, depth, sources),
        "accelerators": planned.resolution.accelerators.iter().map(|decision| super::accelerator::json(decision, depth, sources)).collect::<Vec<_>>(),
        "components": planned.components.iter().map(|found| component(found, planned, named, sources)).collect::<Vec<_>>(),
        "error": planned.error.as_ref().map(|found| json!({
            "code": found.code.as_str(),
            "message": super::accelerator::message(found, planned, sources),
            "help": found.help,
        })),
    });
    if let Some(queue) = planned.components.iter().find_map(|component| component.queue.as_ref()) {
        out["queue"] = queue.queue.value.as_str().into();
    }
    if let Some(unplanned) = &planned.unplanned {
        out["notPlanned"] = unplanned.as_str().into();
    }
    if let Some(directory) = &planned.service.directory {
        out["directory"] = directory.as_str().into();
    }
    if !planned.service.variants.is_empty() {
        out["variants"] = super::variants::json(&planned.service.variants, sources);
    }
    if planned.policy.api == Api::KServe {
        out["protocol"] = planned.resolution.runtime.protocol.name.as_str().into();
        // An LLMInferenceService names no components: its pods are one or two workloads.
        if planned.service.kind == "InferenceService" {
            out["graph"] = json!(graph(planned));
        } else {
            let configs = planned.resolution.configs.iter();
            out["configs"] =
                configs.map(|applied_config| config(applied_config, sources)).collect();
        }
    }
    if let Some(difference) = &planned.controller {
        out["controller"] = controller(difference);
    }
    out
}

/// A configuration that is merged into a service.
fn config(config: &AppliedConfig, sources: &SourceMap) -> Value {
    let mut out = json!({
        "name": config.name.as_str(),
        "namespace": config.found.as_ref().map(|(namespace, _)| namespace.as_str()),
        "source": if config.preset { "preset" } else { "baseRefs" },
        "selectedBy": Some(config.selected_by).filter(|by| !by.is_empty()),
        "place": config.found.as_ref().map(|(_, span)| sources.locate(*span).to_string()),
    });
    if !config.sets.is_empty() {
        out["sets"] = config.sets.iter().map(ecow::EcoString::as_str).collect();
    }
    out
}

/// The model of a service; `explain` adds how well its fields are known.
fn model(model: &Model, policy: &Policy, depth: Depth, sources: &SourceMap) -> Value {
    let mut out = reference(&model.object.id);
    if depth == Depth::Explain {
        super::model::json(model, policy, &mut out, sources);
    }
    out
}

/// The path of a request through the components (KServe 0.10 docs, Data Plane); an explainer has a
/// separate path.
fn graph(planned: &Planned<'_>) -> Vec<[&'static str; 2]> {
    let has = |kind| planned.service.components.contains(&kind);
    let (transformer, explainer) = (has(ComponentKind::Transformer), has(ComponentKind::Explainer));
    let mut edges = if transformer {
        vec![["client", "transformer"], ["transformer", "predictor"]]
    } else {
        vec![["client", "predictor"]]
    };
    if explainer {
        edges.push(["client", "explainer"]);
        // The explainer asks the predictor itself, past the transformer.
        edges.push(["explainer", "predictor"]);
    }
    edges
}

fn controller(difference: &Difference) -> Value {
    let mut out = Map::new();
    if let Some(runtime) = &difference.runtime {
        out.insert("runtime".into(), runtime.as_ref().map_or(Value::Null, reference));
    }
    if !difference.accelerators.is_empty() {
        let classes = difference.accelerators.iter();
        let classes: Map<String, Value> = classes
            .map(|(component, class)| ((*component).into(), json!(class.as_deref())))
            .collect();
        out.insert("accelerators".into(), classes.into());
    }
    if let Some(modes) = &difference.modes {
        out.insert("modes".into(), json!(modes));
    }
    if !difference.placed.is_empty() {
        let placed = difference.placed.iter().map(|(component, placed)| {
            let reason = placed.reason.as_deref();
            let pods =
                json!({ "placed": placed.placed, "wanted": placed.wanted, "reason": reason });
            ((*component).to_owned(), pods)
        });
        out.insert("pods".into(), placed.collect::<Map<String, Value>>().into());
    }
    if let Some((code, message)) = &difference.error {
        out.insert("error".into(), json!({ "code": code.as_str(), "message": message }));
    }
    Value::Object(out)
}

fn component(
    component: &PlannedComponent,
    planned: &Planned<'_>,
    named: usize,
    sources: &SourceMap,
) -> Value {
    let mut out = json!({
        "name": component.kind.as_str(),
        "deploymentMode": planned.mode_name(component.mode),
        "minReplicas": component.min_replicas,
        "maxReplicas": component.max_replicas,
        "podsPerReplica": component.pods_per_replica,
        "gpus": component.gpus(),
        "fits": component.fits(),
        "fitsAlone": component.placement.as_ref().and_then(|placement| placement.alone),
        "fitsReplicas": component.placement.as_ref().filter(|placement| placement.unjudged.is_none()).map(|placement| placement.replicas),
        "blocked": super::together::blocked_json(super::together::blocked(component), named),
    });
    if component.shared_pods() > 0 {
        out["sharedPods"] = component.shared_pods().into();
    }
    if let Some(placement) = &component.placement {
        out["placement"] = super::together::of_component(placement);
    }
    if let Some(decision) = &component.queue {
        out["kueue"] = super::queue::json(decision);
    }
    if let Some(cache) = &component.cache {
        out["kvCache"] = super::kv_cache::json(cache, sources);
    }
    // Only KServe decides a mode by rules that have a name.
    if let Some(basis) = component.mode_basis {
        out["deploymentModeBasis"] = basis.into();
        out["scaleToZero"] = (component.mode == DeploymentMode::Serverless
            && component.min_replicas == Count::from(0))
        .into();
    }
    out
}

fn runtime(decision: &RuntimeDecision<'_>, depth: Depth, sources: &SourceMap) -> Value {
    let mut out = json!({
        "basis": decision.basis.as_str(),
        "chosen": decision.chosen.map(|runtime: &Runtime| reference(&runtime.object.id)),
        "decidedBy": decision.decided_by.map(crate::decision::DecidedBy::as_str),
        "guaranteed": decision.guaranteed,
        "protocol": { "name": decision.protocol.name.as_str(), "default": decision.protocol.default },
        "eligibleCount": decision.eligible,
        "rejectedCount": decision.rejected,
        "steps": decision.steps.iter().map(|step| json!({ "id": step.id, "in": step.r#in, "out": step.out })).collect::<Vec<_>>(),
        "notes": decision.notes.iter().map(note).collect::<Vec<_>>(),
    });
    if depth == Depth::Explain {
        out["candidates"] =
            decision.candidates.iter().map(|found| candidate(found, sources)).collect();
    }
    out
}

fn note(note: &crate::decision::Note) -> Value {
    json!({ "code": note.code().as_str(), "detail": note.to_string() })
}

pub(super) fn candidate(candidate: &Candidate<'_>, sources: &SourceMap) -> Value {
    let object = &candidate.runtime.object;
    let mut out = reference(&object.id);
    out["verdict"] = candidate.verdict.as_str().into();
    out["source"] = object.source().into();
    out["at"] = sources.locate(object.name_span()).to_string().into();
    if let Some(rank) = &candidate.rank {
        // A score is shown only where an entry gave one; 0 would look like a bad score.
        if candidate.scored_entry.is_some() {
            out["score"] = rank.score.into();
            out["scoredEntry"] = candidate.scored_entry.into();
        }
        out["priority"] = rank.priority.into();
    }
    out["matchedEntry"] = candidate.matched_entry.into();
    out["entries"] = candidate.entries.iter().map(|found| entry(found, sources)).collect();
    out["reasons"] = candidate
        .reasons
        .iter()
        .map(|rejection| {
            json!({ "code": rejection.reason.code().as_str(), "detail": rejection.reason.to_string(), "at": rejection.origin.and_then(|origin| places::origin(origin, sources)) })
        })
        .collect();
    out["notes"] = candidate.notes.iter().map(note).collect();
    out
}

fn entry(entry: &EntryChecks, sources: &SourceMap) -> Value {
    json!({
        "index": entry.index,
        "matched": entry.matched,
        "checks": entry.checks.iter().map(|found| check(found, sources)).collect::<Vec<_>>(),
    })
}

fn check(check: &Check, sources: &SourceMap) -> Value {
    let text = |side: &Option<(EcoString, Origin)>| side.as_ref().map(|(text, _)| text.to_string());
    let at = |side: &Option<(EcoString, Origin)>| {
        side.as_ref().and_then(|(_, origin)| places::origin(*origin, sources))
    };
    json!({
        "attribute": check.attribute.as_str(),
        "model": text(&check.model),
        "runtime": text(&check.runtime),
        "result": check.result.as_str(),
        "modelAt": at(&check.model),
        "runtimeAt": at(&check.runtime),
    })
}

/// The edits that would make a runtime chosen.
pub fn flip(flip: &Flip, sources: &SourceMap) -> Value {
    match &flip.edits {
        Ok(edits) => json!({
            "possible": true,
            "edits": edits
                .iter()
                .map(|edit| {
                    let place = edit.span.map(|span| sources.locate(span));
                    json!({
                        "file": place.as_ref().map(|place| place.file.to_string()),
                        "line": place.map(|place| place.line),
                        "path": edit.path.to_string(),
                        "from": edit.from,
                        "to": edit.to,
                        "object": edit.id.to_string(),
                    })
                })
                .collect::<Vec<_>>(),
            "then": flip.then.as_ref().map(|(runtime, by)| json!({ "runtime": runtime.as_str(), "decidedBy": by.as_str() })),
        }),
        Err(reason) => json!({ "possible": false, "reason": reason, "edits": [] }),
    }
}
