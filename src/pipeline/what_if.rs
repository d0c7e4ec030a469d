//! Why a runtime is not chosen, and the smallest edit that makes it chosen.
//!
//! Only the runtime is edited; the service is edited if it names another runtime, or if the runtime
//! is built in, which nobody edits. The result is verified: the decision is computed again with the edited object.

use crate::api::{Field, FieldEdit, Object, Runtime, RuntimeRef, Scope, Service, name_of_shown};
use crate::catalog::{Catalog, RuntimeSet};
use crate::decision::{Attribute, Candidate, DecidedBy, Reason, Verdict};
use crate::diag::Diagnostic;
use crate::operators::{self, Selector};
use crate::policy::{FormatRule, Policy};
use crate::yaml::{FieldPath, Node, Origin, Rule};
use ecow::EcoString;
use serde_json::Value;

static EDIT: Rule = Rule {
    id: "flip-edit",
    text: "a value tried out to see whether it changes the decision",
    cite: "docs/cli.md, explain --runtime",
};

/// The result of the search.
#[derive(Clone, Debug)]
pub struct Flip {
    /// The edits, or why no edit helps.
    pub edits: Result<Vec<FieldEdit>, String>,
    /// The runtime that is chosen with the edits, and the deciding criterion.
    pub then: Option<(EcoString, DecidedBy)>,
}

/// Searches the smallest edit after which `runtime` serves `service`.
pub fn flip<'a>(
    policy: &'static Policy,
    catalog: &'a Catalog,
    service: &'a Service,
    runtime: &'a Runtime,
) -> Flip {
    let selector = Selector::new(policy, catalog);
    let now = selector.explain(service);
    let name = &runtime.object.id.name;
    if now.chosen().is_some_and(|chosen| chosen.object.id == runtime.object.id) {
        return Flip {
            edits: Ok(Vec::new()),
            then: now.runtime.decided_by.map(|by| (name.clone(), by)),
        };
    }
    let impossible = |reason: String| Flip { edits: Err(reason), then: None };
    let has_model = now.model.is_some() || service.inline.is_some();
    if let Some(error) = now.error.as_ref().filter(|_| !has_model) {
        return impossible(format!("the service has no model: {}", error.message));
    }
    let mut edits = Vec::new();
    if let Some(named) = &service.runtime
        && named.name.value != *name
    {
        let Some(field) = operators::runtime_field(policy, service) else {
            return impossible("the service is written in the previous schema, whose key means a runtime: run `ome convert` first".to_owned());
        };
        edits.push(FieldEdit {
            // A flag may name it, which the object does not contain.
            span: named.name.span(),
            from: named.name.value.as_str().into(),
            ..FieldEdit::set(&service.object, path(field), name.as_str())
        });
    }
    let explicit = service.runtime.is_some();
    // The service as it would be with the edit above; the caller's stays as it is.
    let mut renamed = service.clone();
    if let Some(named) = &mut renamed.runtime {
        named.name.value = name.clone();
    }
    let mut edited = runtime.object.clone();
    // Each repair may reveal another failing rule, so repairs run in a bounded number of rounds.
    for _ in 0..ROUNDS {
        let attempt = typed(&edited, policy);
        let set = catalog.runtimes(policy.api).with(&attempt);
        let resolution = crate::operators::explain_among(policy, catalog, &set, &renamed);
        if let Some(chosen) =
            resolution.chosen().filter(|chosen| chosen.object.id == runtime.object.id)
        {
            let by = resolution.runtime.decided_by.unwrap_or(DecidedBy::OnlyCandidate);
            return Flip { edits: Ok(edits), then: Some((chosen.object.id.name.clone(), by)) };
        }
        let candidate = resolution
            .runtime
            .candidates
            .iter()
            .find(|candidate| candidate.runtime.object.id == runtime.object.id);
        let Some(candidate) = candidate else {
            let message = resolution
                .error
                .map_or_else(|| "it is not a candidate".to_owned(), |error| error.message);
            return impossible(message);
        };
        if runtime.object.builtin {
            match of_service(policy, candidate, &mut renamed) {
                // The same edit again: the rounds go in a circle.
                Ok(edit) if edits.contains(&edit) => {
                    return impossible("no edit of the service changes the decision".to_owned());
                }
                Ok(edit) => edits.push(edit),
                Err(reason) => return impossible(reason),
            }
            continue;
        }
        let found = if candidate.verdict == Verdict::Rejected {
            repairs(policy, candidate, service)
        } else {
            outrank(candidate, resolution.runtime.candidates.first(), explicit)
        };
        match found {
            Ok(found) if !found.is_empty() => {
                for (path, to) in found {
                    let edit = FieldEdit::set(&runtime.object, path.clone(), to.clone());
                    edited.node.set(
                        &path.0,
                        (!to.is_null()).then(|| Node::from_json(&to, Origin::Flag(&EDIT))),
                    );
                    // A later round may set the same field to another value; the last one counts.
                    edits.retain(|earlier: &FieldEdit| {
                        earlier.path != path || earlier.id != edit.id
                    });
                    edits.push(edit);
                }
            }
            Ok(_) => return impossible("no edit of the runtime changes the decision".to_owned()),
            Err(reason) => return impossible(reason),
        }
    }
    impossible("no small set of edits of the runtime makes it win".to_owned())
}

/// Maximum number of rounds: rejections, then rank, then rules that a repair reveals.
const ROUNDS: usize = 6;

fn typed(object: &Object, policy: &Policy) -> Runtime {
    let mut ignored: Vec<Diagnostic> = Vec::new();
    let services = crate::operators::services(policy.api)
        .expect("a policy is one of an operator with services");
    services.read_runtime(object.clone(), policy.semantics, &mut ignored)
}

/// The edits that repair the rejections of a candidate. Of the entries of supportedModelFormats,
/// the one with the fewest mismatches is repaired.
fn repairs(
    policy: &Policy,
    candidate: &Candidate<'_>,
    service: &Service,
) -> Result<Vec<(FieldPath, Value)>, String> {
    let mut edits = Vec::new();
    let entry = candidate
        .entries
        .iter()
        .min_by_key(|entry| {
            entry
                .checks
                .iter()
                .filter(|check| check.result == crate::decision::CheckResult::Mismatch)
                .count()
        })
        .map_or(0, |entry| entry.index);
    let at = |field: &str| {
        FieldPath::parse(&format!("spec.supportedModelFormats[{entry}].{field}"))
            .unwrap_or_default()
    };
    for rejection in &candidate.reasons {
        match &rejection.reason {
            Reason::Disabled => edits.push((path("spec.disabled"), false.into())),
            Reason::NoFormats => return Err("it lists no supported model formats".into()),
            Reason::Attribute { attribute, model, entry: index, .. } if *index == entry => {
                // Entries of formats by name, and deprecated entries, have name and version of the
                // format as direct fields.
                let legacy =
                    policy.formats == FormatRule::Name
                        || candidate.runtime.formats.get(entry).is_some_and(|entry| {
                            entry.format.is_none() && entry.legacy_name.is_some()
                        });
                let field = match attribute {
                    Attribute::Format if legacy => "name",
                    Attribute::FormatVersion if legacy => "version",
                    attribute => attribute.field(),
                };
                edits.push((
                    at(field),
                    model.as_ref().map_or(Value::Null, |model| model.as_str().into()),
                ));
            }
            Reason::Attribute { .. } => {}
            Reason::Diffusion(text) => return Err(text.to_string()),
            Reason::SizeRange { size, .. } => {
                let range = candidate.runtime.size_range.as_ref();
                let (below, above) = range.map_or((false, false), |range| {
                    let size = crate::api::Size::parse(size);
                    let less =
                        |a: &crate::api::Size, b: &crate::api::Size| a.controller < b.controller;
                    (
                        range.min.as_ref().is_some_and(|min| less(&size, &min.value)),
                        range.max.as_ref().is_some_and(|max| less(&max.value, &size)),
                    )
                });
                if below {
                    edits.push((path("spec.modelSizeRange.min"), size.as_str().into()));
                }
                if above {
                    edits.push((path("spec.modelSizeRange.max"), size.as_str().into()));
                }
            }
            Reason::AutoSelectOff { entry: index } => {
                let index = index.unwrap_or(entry);
                edits.push((
                    path(&format!("spec.supportedModelFormats[{index}].autoSelect")),
                    true.into(),
                ));
            }
            Reason::Protocol { requested: protocol, listed } => {
                let listed: Vec<&str> =
                    listed.iter().chain([protocol]).map(EcoString::as_str).collect();
                edits.push((path("spec.protocolVersions"), listed.into()));
            }
            Reason::Accelerator { class, listed } => {
                let listed: Vec<&str> =
                    listed.iter().chain([class]).map(EcoString::as_str).collect();
                edits
                    .push((path("spec.acceleratorRequirements.acceleratorClasses"), listed.into()));
            }
            Reason::ScoreZero(_) => {
                edits.push((at("modelFormat.weight"), 1.into()));
                edits.push((at("priority"), 1.into()));
            }
            Reason::MultiModel => edits.push((path("spec.multiModel"), false.into())),
            Reason::DeploymentMode { .. } | Reason::MultiNode { .. } | Reason::Unserved { .. } => {
                return Err(rejection.reason.to_string());
            }
            Reason::WrongNamespace { runtime, .. } => {
                return Err(format!(
                    "it is in namespace {runtime} and the service in {}: only a copy there, or a ClusterServingRuntime, could serve",
                    service.namespace
                ));
            }
        }
    }
    Ok(edits)
}

/// The edit of a service that brings it closer to a built-in runtime, applied to `service`.
fn of_service(
    policy: &Policy,
    candidate: &Candidate<'_>,
    service: &mut Service,
) -> Result<FieldEdit, String> {
    let set = |value: &EcoString| Field::new(value.clone(), Origin::Flag(&EDIT));
    let lacks = |reason: &Reason| {
        format!("it is built in, and no edit of the service changes this: {reason}")
    };
    for rejection in &candidate.reasons {
        match &rejection.reason {
            Reason::Protocol { listed, .. } => {
                let field = operators::protocol_field(policy, service).zip(listed.first());
                let Some((field, first)) = field else { return Err(lacks(&rejection.reason)) };
                let edit = FieldEdit::set(&service.object, path(field), first.as_str());
                service.protocol = Some(set(first));
                return Ok(edit);
            }
            // Naming the runtime, as below, makes this rule void.
            Reason::AutoSelectOff { .. } => {}
            reason => return Err(lacks(reason)),
        }
    }
    let name = &candidate.runtime.object.id.name;
    let Some(field) = operators::runtime_field(policy, service) else {
        return Err("the service is written in the previous schema, whose key means a runtime: run `ome convert` first".to_owned());
    };
    let edit = FieldEdit::set(&service.object, path(field), name.as_str());
    service.runtime = Some(RuntimeRef { name: set(name), kind: None });
    Ok(edit)
}

fn path(text: &str) -> FieldPath {
    FieldPath::parse(text).unwrap_or_default()
}

/// The priority that puts an eligible candidate first.
fn outrank(
    candidate: &Candidate<'_>,
    winner: Option<&Candidate<'_>>,
    explicit: bool,
) -> Result<Vec<(FieldPath, Value)>, String> {
    let (Some(winner), Some(rank), false) = (winner, candidate.rank, explicit) else {
        return Ok(Vec::new());
    };
    let winner_name = &winner.runtime.object.id.name;
    let Some(best) = winner.rank else { return Ok(Vec::new()) };
    if best.namespaced && !rank.namespaced {
        return Err(format!(
            "{winner_name} is a ServingRuntime of the service's namespace and comes before every cluster runtime"
        ));
    }
    let index = candidate.matched_entry.or(candidate.scored_entry).unwrap_or(0);
    let counted = winner.matched_entry.or(winner.scored_entry).unwrap_or(0);
    let priority = best.priority.or_else(|| {
        winner
            .runtime
            .formats
            .get(counted)
            .and_then(|entry| entry.priority.as_ref())
            .map(|priority| priority.value)
    });
    let candidate_priority = rank.priority.or_else(|| {
        candidate
            .runtime
            .formats
            .get(index)
            .and_then(|entry| entry.priority.as_ref())
            .map(|priority| priority.value)
    });
    let floor = priority.unwrap_or(0).max(
        candidate_priority
            .filter(|candidate_priority| *candidate_priority > priority.unwrap_or(0))
            .unwrap_or(0),
    );
    let Some(next) = floor.checked_add(1) else {
        return Err("the winner has the highest priority there is".into());
    };
    Ok(vec![(path(&format!("spec.supportedModelFormats[{index}].priority")), next.into())])
}

/// The runtime that a name refers to for a service: in its namespace, then in the cluster, then
/// anywhere. The name that pages show (`builtin:NAME`) is accepted too.
pub fn named<'a>(runtimes: &'a RuntimeSet, service: &Service, name: &str) -> Option<&'a Runtime> {
    let name = name_of_shown(name);
    runtimes
        .get(&Scope::Namespace(service.namespace.clone()), name)
        .or_else(|| runtimes.get(&Scope::Cluster, name))
        .or_else(|| runtimes.iter().find(|runtime| runtime.object.id.name == name))
}
