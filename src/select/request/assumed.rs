//! Finds the assumed values of a model that affect a decision.
//!
//! In: a model with fields known from one source only, and the evaluated runtimes. Out: the fields
//! whose value made the chosen runtime eligible, or rejected a runtime that no other rule rejects.

use super::{Reasons, Request, Trace};
use crate::api::{COMPARED, Evidence, Model, Runtime};
use crate::decision::{Attribute, CheckResult, Reason};
use crate::policy::Policy;
use crate::select::gates as rules;
use ecow::EcoVec;

/// The size field, in addition to the fields of [`Attribute`].
const SIZE: &str = "modelParameterSize";

/// Returns the assumed fields of the model that affect the decision, in the order of [`COMPARED`].
pub(crate) fn decisive<'r>(
    policy: &Policy,
    request: &Request<'_>,
    chosen: Option<&Runtime>,
    requests: impl Iterator<Item = &'r Runtime>,
) -> EcoVec<&'static str> {
    let assumed: EcoVec<&'static str> =
        COMPARED.into_iter().filter(|field| is_assumed(policy, request.model, field)).collect();
    // Nearly every model: the full traces below are then not made.
    if assumed.is_empty() {
        return assumed;
    }
    let mut found = EcoVec::new();
    for runtime in requests {
        // Addresses, since names may be equal in two scopes.
        let is_chosen = chosen.is_some_and(|chosen| std::ptr::eq(chosen, runtime));
        for field in compared(policy, request, runtime, is_chosen, &assumed) {
            if assumed.contains(&field) && !found.contains(&field) {
                found.push(field);
            }
        }
    }
    assumed.into_iter().filter(|field| found.contains(field)).collect()
}

fn is_assumed(policy: &Policy, model: &Model, field: &str) -> bool {
    policy.evidence(model, field) == Some(Evidence::Assumed)
}

/// Returns the fields that determine the verdict on one runtime.
fn compared(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &Runtime,
    is_chosen: bool,
    assumed: &[&'static str],
) -> Vec<&'static str> {
    let mut trace = Reasons::default();
    let evaluation = rules::evaluate(policy, request, runtime, &mut trace);
    let (entries, reasons, _) = trace.into_parts();
    if is_chosen {
        let entry = evaluation.matched_entry.and_then(|index| entries.get(index));
        let checks = entry.into_iter().flat_map(|entry| &entry.checks);
        let fields = checks
            .filter(|check| check.result == CheckResult::Match && check.runtime.is_some())
            .map(|check| check.attribute.field());
        return fields.chain(runtime.size_range.is_some().then_some(SIZE)).collect();
    }
    let mut by_entry: Vec<(usize, Attribute)> = Vec::new();
    let mut by_size = false;
    for rejection in &reasons {
        match &rejection.reason {
            Reason::Attribute { attribute, entry, .. } => by_entry.push((*entry, *attribute)),
            Reason::SizeRange { .. } => by_size = true,
            // The score of 0 follows from the entries that do not match.
            Reason::ScoreZero(_) => {}
            // Another rule rejects the runtime for any value of the assumed fields.
            _ => return Vec::new(),
        }
    }
    // A size that is sure rejects the runtime whatever the assumed fields are.
    if by_size && !assumed.contains(&SIZE) {
        return Vec::new();
    }
    let size = by_size.then_some(SIZE);
    if by_entry.is_empty() {
        return size.into_iter().collect();
    }
    // The result depends on the assumed values if they alone reject at least one entry.
    let open = |index: usize| {
        let mut of_entry = by_entry.iter().filter(|(entry, _)| *entry == index).peekable();
        of_entry.peek().is_some()
            && of_entry.all(|(_, attribute)| assumed.contains(&attribute.field()))
    };
    let open = by_entry.iter().filter(|(entry, _)| open(*entry));
    let mut fields: Vec<&'static str> = open.map(|(_, attribute)| attribute.field()).collect();
    if !fields.is_empty() {
        fields.extend(size);
    }
    fields
}
