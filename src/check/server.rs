//! Rules of custom resource definitions in addition to field types
//! ([`schema::Schema::broken_rules`]), checked for every loaded object.

use super::{View, about};
use crate::api::Object;
use crate::diag::{Code, Diagnostic, Severity};
use crate::schema::{self, Strictness};
use crate::source::SourceMap;
use std::collections::HashSet;

/// Reports every object that violates a rule of its definition.
pub(crate) fn rules(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for object in view.catalog.objects() {
        let Some(schema) = schema::kind(&object.api_version, &object.id.kind) else { continue };
        for broken in schema.broken_rules(&object.node, view.sources) {
            found.push(
                about(Code::InvalidValue, object, format!("`{}`: {}", broken.path, broken.message))
                    .at(broken.span.or_else(|| Some(object.name_span())))
                    .path(broken.path)
                    .help("the API server refuses it otherwise"),
            );
        }
    }
}

/// Number of fields that a finding about an object names; the others are counted.
const MOST_SAID: usize = 100;

/// Returns one finding for the fields that the shipped definition of the object's kind rejects
/// although the documents allow them; its place is the first such field.
pub fn refused_by_definition(object: &Object, sources: &SourceMap) -> Option<Diagnostic> {
    let schema = schema::kind(&object.api_version, &object.id.kind)?;
    let faults = |strictness| {
        let mut found = Vec::new();
        schema.check(&object.node, strictness, sources, &mut found);
        found.retain(|fault| fault.severity == Severity::Error);
        found
    };
    let mut refused = faults(Strictness::Server);
    if refused.is_empty() {
        return None;
    }
    let findings = faults(Strictness::Documented);
    let existing: HashSet<(Code, &Option<String>)> =
        findings.iter().map(|fault| (fault.code, &fault.path)).collect();
    // What the documents refuse as well is reported by their own check.
    refused.retain(|fault| !existing.contains(&(fault.code, &fault.path)));
    let first = refused.first()?;
    let mut message: Vec<String> =
        refused.iter().take(MOST_SAID).map(|fault| fault.message.clone()).collect();
    let more = refused.len().saturating_sub(MOST_SAID);
    if more > 0 {
        message.push(format!("and {more} more"));
    }
    let message = format!(
        "a server with the shipped definitions refuses {}: {}",
        object.id,
        message.join("; ")
    );
    let mut finding = about(Code::ServerRefuses, object, message)
        .severity(Severity::Warning)
        .at(first.span().or_else(|| Some(object.name_span())))
        .maybe_help(first.help.clone());
    if let Some(path) = &first.path {
        finding = finding.path(path.clone());
    }
    for other in refused.iter().take(MOST_SAID).skip(1) {
        finding = finding.label(other.span(), "and here");
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, run};
    use crate::api::Semantics::{Controller, Documented};

    #[test]
    fn objects_are_checked_against_the_cel_rules_of_their_crd() {
        let flavor = |spec: &str| {
            format!(
                "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\nspec: {spec}\n"
            )
        };
        let route = |rule: &str| {
            format!(
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r}}\nspec: {{rules: [{rule}]}}\n"
            )
        };
        for (text, broken) in [
            (flavor("{nodeLabels: {a: b}}"), 0),
            (flavor("{topologyName: t}"), 1),
            (flavor("{tolerations: [{operator: Exists, value: x, key: k}]}"), 1),
            (flavor("{tolerations: [{key: k, tolerationSeconds: 5, effect: NoSchedule}]}"), 1),
            (route("{backendRefs: [{name: s, port: 80}]}"), 0),
            // The default kind is Service, which requires a port.
            (route("{backendRefs: [{name: s}]}"), 1),
            (route("{matches: [{path: {type: PathPrefix, value: /a//b}}]}"), 1),
            (route("{filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplaceFullPath}}}]}"), 1),
            ("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: d}, minReplicaCount: 3, maxReplicaCount: 2, triggers: [{type: cpu, metadata: {}}]}\n".to_owned(), 1),
        ] {
            for semantics in [Documented, Controller] {
                assert_eq!(codes(&run(&text, semantics)), vec!["invalid-value"; broken], "{text}");
            }
        }
    }
}
