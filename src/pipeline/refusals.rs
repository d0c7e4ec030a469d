//! What a server refuses of the objects of a service.

use crate::api::Service;
use crate::diag::{Code, Diagnostic, Severity};
use crate::objects::RenderedObject;
use crate::objects::accept::accept_rendered;
use crate::objects::knative_features::{Features, NAME as CONFIG_MAP, REFUSES};
use crate::operators;
use crate::source::Span;
use crate::workspace::World;
use crate::yaml::Node;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// How many Services a line names.
const NAMED: usize = 3;

/// What a server answers about the objects of a service.
pub(crate) struct Refusals {
    /// What it refuses.
    pub(crate) found: Vec<Diagnostic>,
    /// Of each object, whether nothing at all was found.
    pub(crate) accepted: Vec<bool>,
}

/// The judge of rendered objects.
#[derive(Debug)]
pub(crate) struct Server<'a> {
    world: &'a World,
    knative: Features,
    /// The first finding about the input of a code at a location.
    reported: OnceLock<HashMap<(Code, Span), usize>>,
}

impl<'a> Server<'a> {
    /// A server that has what the input shows of the cluster.
    pub(crate) fn new(world: &'a World) -> Self {
        Self { world, knative: features(world), reported: OnceLock::new() }
    }

    /// What was reported when the input was read, at the location of a finding.
    fn reported(&self, found: &Diagnostic) -> Option<&'a Diagnostic> {
        let all = &self.world.diagnostics;
        let place = (found.code, found.span()?);
        let index = self.reported.get_or_init(|| {
            let mut index = HashMap::new();
            for (at, finding) in all.iter().enumerate() {
                if let Some(span) = finding.span() {
                    index.entry((finding.code, span)).or_insert(at);
                }
            }
            index
        });
        index.get(&place).map(|at| &all[*at])
    }

    /// Adds the findings about the objects of a service. A finding that was already reported at the
    /// same location of the input keeps the wording of that report. Returns of each object whether
    /// nothing was found.
    pub(crate) fn accept(
        &self,
        service: &Service,
        objects: &[RenderedObject],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<bool> {
        let first = diagnostics.len();
        let mut accepted = Vec::with_capacity(objects.len());
        let followed = self.world.catalog.readings().mode(service.object.api);
        let operator = operators::services(service.object.api);
        for object in objects {
            let start = diagnostics.len();
            accept_rendered(&object.node, followed, &self.world.sources, diagnostics);
            self.knative.judge(&object.node, diagnostics);
            diagnostics.extend(long_name(&object.node));
            // The operator goes on without this object, so that the service runs in part.
            if operator.is_some_and(|services| services.goes_on(service, &object.node)) {
                for found in &mut diagnostics[start..] {
                    if found.code == Code::ServerRefuses {
                        found.severity = Severity::Warning;
                    }
                }
            }
            accepted.push(diagnostics.len() == start);
        }
        for found in &mut diagnostics[first..] {
            if let Some(finding) = self.reported(found) {
                found.clone_from(finding);
            }
        }
        accepted
    }

    /// The refusals alone.
    pub(crate) fn refusals(&self, service: &Service, objects: &[RenderedObject]) -> Refusals {
        let mut found = Vec::new();
        let accepted = self.accept(service, objects, &mut found);
        found.retain(|finding| finding.code == Code::ServerRefuses);
        Refusals { found, accepted }
    }
}

/// The StatefulSets of a LeaderWorkerSet label their pods `controller-revision-hash` with their own
/// name and a hash of up to 10 characters (pkg/controller/history/controller_history.go,
/// `ControllerRevisionName`); that of the workers of a group has the index of the group in its name.
fn long_name(object: &Node) -> Option<Diagnostic> {
    const MOST: usize = 63;
    const HASH: usize = 10;
    if object.get("kind").and_then(Node::as_str) != Some("LeaderWorkerSet") {
        return None;
    }
    let name = object.at(&["metadata", "name"])?;
    let number = |keys: &[&str]| object.at(keys).and_then(Node::as_int).unwrap_or(1);
    let last = number(&["spec", "replicas"]).max(1) - 1;
    let has_workers = number(&["spec", "leaderWorkerTemplate", "size"]) > 1;
    let index = if has_workers { format!("-{last}").len() } else { 0 };
    let text = name.as_str()?;
    let all = text.len() + index + 1 + HASH;
    if all <= MOST {
        return None;
    }
    let message = format!(
        "pods of LeaderWorkerSet.leaderworkerset.x-k8s.io \"{text}\" may be refused: their label \
         controller-revision-hash has up to {all} characters, and at most {MOST} are allowed"
    );
    let namespace = object.at(&["metadata", "namespace"]).and_then(Node::as_str);
    let most = MOST - HASH - 1 - index;
    Some(
        Diagnostic::new(Code::ServerRefuses, message)
            .severity(Severity::Warning)
            .at(name.origin.span())
            .path("metadata.name")
            .object(format!("LeaderWorkerSet/{}/{text}", namespace.unwrap_or_default()))
            .help(format!("shorten the service's name: the name of the set may have {most}")),
    )
}

/// The features of Knative in the cluster of an input.
pub(crate) fn features(world: &World) -> Features {
    let mut features = Features::of(world.is_live);
    world.catalog.others().iter().for_each(|object| features.add(&object.node));
    features
}

/// Makes one finding of the warnings about Knative Services: which they are, and which features
/// they need.
pub fn knative_together(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let (ours, mut found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|finding| features_of(finding).next().is_some());
    let keys: BTreeSet<&str> = ours.iter().flat_map(features_of).collect();
    let Some(first) = keys.first() else { return found };
    let services: BTreeSet<&str> =
        ours.iter().flat_map(|finding| &finding.objects).map(String::as_str).collect();
    let named: Vec<&str> = services.iter().copied().take(NAMED).collect();
    let more = services.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "the webhook of Knative refuses {}{more}, unless ConfigMap {CONFIG_MAP} of namespace \
         knative-serving enables {}",
        named.join(", "),
        keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
    );
    found.push(
        Diagnostic::new(Code::ServerRefuses, message)
            .severity(Severity::Warning)
            .help(format!("set `{first}: enabled` there, or add the ConfigMap to the input")),
    );
    found
}

/// The features that a warning is about.
fn features_of(finding: &Diagnostic) -> impl Iterator<Item = &str> {
    let is_one = finding.code == Code::ServerRefuses && finding.severity == Severity::Warning;
    let rest = finding.message.strip_prefix(REFUSES).filter(|_| is_one);
    rest.into_iter().flat_map(|rest| rest.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn names_of_stateful_sets_leave_room_for_the_hash() {
        let of = |length: usize, size: i64, replicas: i64| {
            let name = "a".repeat(length);
            let object = format!(
                "{{kind: LeaderWorkerSet, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, leaderWorkerTemplate: {{size: {size}}}}}}}"
            );
            long_name(&node(&object)).is_some()
        };
        assert_eq!(
            [of(52, 1, 1), of(53, 1, 1), of(50, 2, 1), of(51, 2, 1)],
            [false, true, false, true]
        );
        assert_eq!([of(50, 2, 10), of(50, 2, 11)], [false, true]);
    }

    #[test]
    fn warnings_about_knative_services_are_one_line() {
        let features = Features::default();
        let mut found = vec![Diagnostic::new(Code::ServerRefuses, "other")];
        for (name, spec) in [
            ("a", "nodeSelector: {x: y}"),
            ("b", "nodeSelector: {x: y}, hostIPC: true"),
            ("c", "hostIPC: true"),
        ] {
            let object = format!(
                "{{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {{name: {name}, namespace: n}}, spec: {{template: {{spec: {{{spec}}}}}}}}}"
            );
            features.judge(&node(&object), &mut found);
        }
        let found = knative_together(found);
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "other",
                "the webhook of Knative refuses Service/n/a, Service/n/b, Service/n/c, unless ConfigMap config-features of namespace knative-serving enables `kubernetes.podspec-hostipc`, `kubernetes.podspec-nodeselector`"
            ]
        );
    }
}
