//! Rejections of a server: of the input, and of the objects made from it.
//!
//! Under controller semantics a rejected object is an error; under the documents it is a warning,
//! and violations of the shipped definitions alone are one finding for each object. Objects of
//! Kubernetes itself are errors in files that are named, and warnings in those of a directory. Objects of a
//! service, and pods of other controllers, are warnings under both.

use super::at_home;
use crate::api::{Object, Semantics};
use crate::check;
use crate::cli::input::Session;
use crate::cli::refused::{Texts, lower_in_tree};
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::exchange::accelerator_shape::to_shipped;
use crate::load::{kinds, placeholders_of};
use crate::objects::RenderedObject;
use crate::operators;
use crate::operators::servings::objects as servings;
use crate::pipeline::refused_by_server;
use crate::schema::{self, Strictness};
use crate::source::{SourceMap, Span};
use crate::workspace::{is_filled_by_labels, is_part, leave_to_overlay};
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
    // Whether a server ever gets an object of an unknown kind is open.
    let may_be_applied = |object: &&Object| {
        let (version, kind) = (&object.api_version, &object.id.kind);
        !kinds::is_stranger(version, kind) && !kinds::is_of_client(version)
    };
    let objects: Vec<&Object> = catalog
        .objects()
        .filter(|object| !object.builtin && !texts.hold(object))
        .filter(may_be_applied)
        .collect();
    let found: Vec<Vec<Diagnostic>> = objects
        .into_par_iter()
        .map(|object| {
            session.about_object(object, || {
                let is_judged = session.judges(object, &texts);
                // The others were judged when the input was read.
                let mut found =
                    if is_judged { Vec::new() } else { refused_by_server(object, sources) };
                soften(&mut found, object, session);
                if session.readings().mode(object.api) == Semantics::Documented {
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

/// Removes refusals of what is not in the file yet, and makes those of what a kustomization or
/// another program may complete no errors.
fn soften(found: &mut Vec<Diagnostic>, object: &Object, session: &Session) {
    if found.is_empty() {
        return;
    }
    let source = session.world.sources.get(object.span.source);
    if session.world.catalog.is_unfilled(object) {
        let holes = placeholders_of(&object.node, &object.id.kind, source);
        found.retain(|finding| !holes.iter().any(|hole| hole.causes(finding)));
    }
    if source.root.is_some() && is_part(&source.name) {
        found.retain(|finding| !finding.message.contains(": Required value"));
    }
    if operators::operator(object.api).is_none() {
        lower_in_tree(found, source);
    }
    let Some(kustomized) = &source.kustomized else { return };
    // The namespace transformer names a Namespace.
    let is_named = |finding: &Diagnostic| {
        kustomized.names_namespace
            && object.id.kind == "Namespace"
            && finding.path.as_deref() == Some("metadata.name")
    };
    found.retain(|finding| !is_filled_by_labels(finding, kustomized) && !is_named(finding));
    for finding in found.iter_mut().filter(|_| kustomized.patches) {
        leave_to_overlay(finding, kustomized);
    }
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

#[cfg(test)]
mod tests {
    use crate::testing::ome_on;

    /// A CronJob without an image: nothing places its pods.
    const JOB: &str = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: d}\nspec:\n  schedule: '* * * * *'\n  jobTemplate:\n    spec:\n      template:\n        spec: {restartPolicy: Never, containers: [{name: c}]}\n";

    /// What a kustomization, another program or a hand adds is not missing.
    #[test]
    fn what_others_complete_is_no_refusal() {
        let selects = "resources: [d.yaml]\ncommonLabels: {a: b}\n";
        let set = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, image: i}]}}}\n";
        let service = |address: &str| {
            format!(
                "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{clusterIP: '{address}', ports: [{{port: 80}}]}}\n"
            )
        };
        let unnamed = "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n";
        let names = "namespace: media\nresources: [n.yaml]\n";
        let (wrong, open) = (service("10.0.0.300"), service("{PREFIX}.16"));
        for (path, files, code, refused) in [
            ("{d.yaml}", &[("d.yaml", JOB)][..], 2, true),
            ("{.}", &[("d.yaml", JOB)], 0, true),
            ("{.}", &[("d-patch.yaml", JOB)], 0, false),
            ("{.}", &[("d.yaml", set)], 0, true),
            ("{.}", &[("d.yaml", set), ("kustomization.yaml", selects)], 0, false),
            ("{s.yaml}", &[("s.yaml", &wrong)], 2, true),
            ("{.}", &[("s.yaml", &wrong)], 0, true),
            ("{.}", &[("s.yaml", &open)], 0, false),
            ("{.}", &[("n.yaml", unnamed), ("kustomization.yaml", names)], 0, false),
        ] {
            let ran = ome_on(&format!("validate {path} --semantics controller -o json"), files);
            assert_eq!(ran.code, code, "{path} {files:?}: {}{}", ran.out, ran.err);
            let found = ran.findings().iter().any(|code| code == "server-refuses");
            assert_eq!(found, refused, "{path} {files:?}: {}", ran.out);
        }
    }
}
