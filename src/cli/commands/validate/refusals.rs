//! Rejections of a server: of the input, and of the objects made from it.
//!
//! Under controller semantics a rejected object is an error; under the documents it is a warning,
//! and violations of the shipped definitions alone are one finding for each object. Objects of a
//! service, and pods of other controllers, are warnings under both.

use super::at_home;
use crate::api::{Object, Semantics};
use crate::check;
use crate::cli::input::Session;
use crate::cli::refused::Texts;
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::exchange::accelerator_shape::to_shipped;
use crate::objects::RenderedObject;
use crate::operators::servings::objects as servings;
use crate::pipeline::refused_by_server;
use crate::schema::{self, Strictness};
use crate::source::{SourceMap, Span};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// All rejections, except at positions with earlier findings; `of_services` are the results of
/// [`of_service`].
pub(super) fn all<'a>(
    session: &Session,
    of_services: impl IntoIterator<Item = (&'a Object, Vec<Diagnostic>)>,
    earlier: &[Diagnostic],
) -> Vec<Diagnostic> {
    let findings_seen = || earlier.iter().chain(&session.world.diagnostics);
    // Absent fields are reported at their parent, which may lack several.
    let is_absence = |finding: &&Diagnostic| finding.code == Code::RequiredField;
    // A warning does not stand for a refusal.
    let reported: BTreeSet<(Span, bool)> = findings_seen()
        .filter(|finding| !is_absence(finding))
        .filter_map(|finding| Some((finding.span()?, finding.severity == Severity::Error)))
        .collect();
    let absent: BTreeSet<(Span, Option<&str>)> = findings_seen()
        .filter(is_absence)
        .filter_map(|finding| Some((finding.span()?, finding.path.as_deref())))
        .collect();
    let fresh = |finding: &Diagnostic| {
        finding.span().is_none_or(|span| {
            let is_error = finding.severity == Severity::Error;
            let is_told =
                reported.contains(&(span, true)) || !is_error && reported.contains(&(span, false));
            !is_told && !absent.contains(&(span, finding.path.as_deref()))
        })
    };
    let mut found = of_input(session);
    found.extend(once(session, of_services));
    found.extend(of_servings(session));
    found.retain(fresh);
    found
}

/// Rejections of the objects of the input. Those of objects that a placement reads were found when it
/// was opened.
fn of_input(session: &Session) -> Vec<Diagnostic> {
    let sources = &session.world.sources;
    let catalog = &session.world.catalog;
    let texts = Texts::of(catalog);
    let objects: Vec<&Object> =
        catalog.objects().filter(|object| !object.builtin && !texts.hold(object)).collect();
    let found: Vec<Vec<Diagnostic>> = objects
        .into_par_iter()
        .map(|object| {
            session.about_object(object, || {
                let is_judged = session.judges(object, &texts);
                // The others were judged when the input was read.
                let mut found = if is_judged { Vec::new() } else { refused_by_server(object) };
                if session.semantics.of(object.api) == Semantics::Documented {
                    // Where documents are followed, a refusal of the server is no error.
                    for finding in &mut found {
                        finding.severity = finding.severity.min(Severity::Warning);
                    }
                    found.extend(of_definition(object, sources));
                }
                found
            })
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// The violation of the shipped definition of an object's kind that the documents allow, with a
/// correction.
fn of_definition(object: &Object, sources: &SourceMap) -> Option<Diagnostic> {
    let refused = check::refused_by_definition(object, sources)?;
    let schema = schema::kind(&object.api_version, &object.id.kind)?;
    let reshaped = to_shipped(object);
    let mut faults = Vec::new();
    schema.check(&reshaped.node, Strictness::Server, sources, &mut faults);
    let mended = faults.iter().all(|fault| fault.severity != Severity::Error);
    Some(if reshaped.changed && mended {
        refused.help(if reshaped.losses.is_empty() {
            "`ome convert --to shipped` writes it as a server takes it"
        } else {
            "`ome convert --to shipped` writes it as a server takes it, and names what is lost"
        })
    } else {
        refused
    })
}

/// Rejections of the pods of ModelServings.
fn of_servings(session: &Session) -> Vec<Diagnostic> {
    let Ok((_, servings)) = session.select_all(&[]) else { return Vec::new() };
    let found: Vec<Vec<Diagnostic>> = servings
        .into_par_iter()
        .filter(|serving| !session.is_broken(serving))
        .map(|serving| servings::refusals(serving, session.serving_rules()))
        .collect();
    found.into_iter().flatten().collect()
}

/// Rejections of the objects of a service.
pub(super) fn of_service(written: Checked<Vec<RenderedObject>>) -> Vec<Diagnostic> {
    let mut found = written.diagnostics;
    found.retain(|finding| finding.code == Code::ServerRefuses);
    found
}

/// The same of all services, at home. A fault of a runtime shows in every service that has it; it
/// is one fault.
fn once<'a>(
    session: &Session,
    found: impl IntoIterator<Item = (&'a Object, Vec<Diagnostic>)>,
) -> Vec<Diagnostic> {
    let mut shared: BTreeSet<(Span, Option<String>)> = BTreeSet::new();
    let mut out = Vec::new();
    for (service, new) in found {
        for finding in new {
            let fresh = match finding.span() {
                // An object that several services render is judged once.
                Some(span) if !service.span.contains(span) => {
                    shared.insert((span, finding.path.clone()))
                }
                _ => true,
            };
            if fresh {
                out.push(at_home(finding.severity(Severity::Warning), service, session));
            }
        }
    }
    out
}
