//! Services and workloads that no server takes, ModelServings in error and runtimes that cannot exist:
//! known before anything is decided.

use super::input::Session;
use crate::api::{Failure, Object};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::kinds;
use crate::objects::knative_features;
use crate::pipeline::refusals::features;
use crate::pipeline::refused_by_server;
use crate::pipeline::serving::refusal;
use crate::source::{Source, SourceId, Span};
use crate::workspace::is_part;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Whether a finding about an object means that a server refuses it.
fn refuses(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error
        && matches!(
            finding.code,
            Code::UnknownKind
                | Code::InvalidName
                | Code::RequiredField
                | Code::InvalidType
                | Code::InvalidValue
                | Code::RemovedField
        )
}

/// Whether a finding means that an amount of an object cannot be read.
fn loses_amount(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && finding.code == Code::InvalidQuantity
}

/// Makes no errors of refusals in a tree, which has examples whose values somebody fills in. A file
/// that is named is applied as it is.
pub(super) fn lower_in_tree(found: &mut [Diagnostic], source: &Source) {
    for finding in found.iter_mut().filter(|_| source.root.is_some()) {
        finding.severity = finding.severity.min(Severity::Warning);
    }
}

/// What of an object a finding has to be about to refuse it.
#[derive(Clone, Copy)]
enum Part {
    /// All of it, but for amounts, which have findings of their own.
    Service,
    /// All of it.
    Workload,
    /// What names it.
    Name,
}

/// The spans of the texts in ConfigMaps: a manifest there is text to a server.
pub(super) struct Texts(Vec<Span>);

impl Texts {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let maps = catalog.objects().filter(|object| object.id.kind == "ConfigMap");
        let mut all: Vec<Span> = maps.map(|object| object.span).collect();
        all.sort_unstable();
        Self(all)
    }

    /// Whether an object is in one of them.
    pub(super) fn hold(&self, object: &Object) -> bool {
        // An object in the text of a ConfigMap lies within its span.
        let after = self.0.partition_point(|span| *span <= object.span);
        let holder = self.0[..after].iter().rev().find(|span| **span != object.span);
        holder.is_some_and(|span| span.contains(object.span))
    }
}

/// Whether a placement reads objects of a kind as they are in the input: workloads, and what
/// admission and volumes of pods depend on.
fn is_placed(object: &Object) -> bool {
    let kind = object.id.kind.as_str();
    kinds::runs_pods(object.group(), kind)
        || (object.api_version == "v1"
            && matches!(
                kind,
                "ResourceQuota" | "LimitRange" | "PersistentVolume" | "PersistentVolumeClaim"
            ))
}

/// Whether a webhook that is off unless somebody switches it on refuses an object, or one for a feature
/// that may be on.
fn is_optional(finding: &Diagnostic) -> bool {
    finding.message.starts_with("the webhook of KubeRay ") || knative_features::is_open(finding)
}

/// Whether it does so for the identity of the object, so that nothing can name it.
fn refuses_name(finding: &Diagnostic) -> bool {
    finding.code == Code::InvalidName
        && finding.path.as_deref().is_some_and(|path| path.starts_with("metadata.name"))
}

impl Session {
    /// Finds what no server takes, as the settings grade findings, and ModelServings that are not
    /// rendered.
    pub(super) fn refuse(&mut self) {
        let judged = self.judged();
        let is_graver = |finding: &&Diagnostic| finding.severity == Severity::Error;
        let found: Vec<Diagnostic> =
            self.world.diagnostics.iter().filter(is_graver).cloned().collect();
        if found.is_empty() && judged.is_empty() {
            return;
        }
        let in_error = self.servings_in_error();
        let found = self.grade(found);
        let judged = self.grade(judged);
        let catalogs: Vec<_> = std::iter::once(&self.world.catalog)
            .chain(self.world.views.iter().map(|view| &view.catalog))
            .collect();
        let place = |object: &Object| (object.span.source, object.span.start);
        let mut names: HashMap<(SourceId, u32), (Span, Part)> = HashMap::new();
        for catalog in &catalogs {
            let services = catalog.services().map(|views| &views.documented.object);
            let others = catalog.others().iter();
            let workloads =
                others.filter(|object| kinds::runs_pods(object.group(), object.id.kind.as_str()));
            for object in services {
                names.insert(place(object), (object.name_span(), Part::Service));
            }
            for object in workloads {
                names.insert(place(object), (object.name_span(), Part::Workload));
            }
            for runtime in catalog.all_runtimes() {
                let object = &runtime.object;
                names.entry(place(object)).or_insert((object.name_span(), Part::Name));
            }
        }
        let mut refused = in_error;
        let of_object = found.iter().filter(|finding| refuses(finding) || loses_amount(finding));
        // Not every cluster runs the webhook of KubeRay, and features of Knative may be on.
        let of_server = judged.iter().filter(|finding| !is_optional(finding));
        for finding in of_object.chain(of_server) {
            let owner = finding
                .span()
                .and_then(|span| Some((span.source, self.world.catalog.owner(span)?.0)));
            let Some((name, part)) = owner.and_then(|owner| names.get(&owner)) else {
                continue;
            };
            let is_refused = match part {
                Part::Workload => true,
                // An amount that cannot be read leaves the rest of a service to decide.
                Part::Service => !loses_amount(finding),
                Part::Name => refuses_name(finding),
            };
            if is_refused {
                refused.entry(*name).or_insert_with(|| failure(finding));
            }
        }
        for view in &mut self.world.views {
            view.catalog.set_refused(refused.clone());
        }
        self.world.catalog.set_refused(refused);
        self.world.diagnostics.extend(judged);
    }

    /// Whether an object is judged when the input is opened, because a placement reads it. An object
    /// that a server has is one that it took; what a kustomization or a program completes is not whole.
    pub(super) fn judges(&self, object: &Object, texts: &Texts) -> bool {
        let catalog = &self.world.catalog;
        let source = self.world.sources.get(object.span.source);
        is_placed(object)
            && !object.builtin
            && object.metadata("uid").is_none()
            && !catalog.is_unfilled(object)
            && !catalog.is_copy(object)
            && source.kustomized.is_none()
            && !(source.root.is_some() && is_part(&source.name))
            && !texts.hold(object)
    }

    /// What a server refuses of the objects that a placement reads, or of their pods.
    fn judged(&self) -> Vec<Diagnostic> {
        let world = &self.world;
        let texts = Texts::of(&world.catalog);
        let is_judged = |object: &&Object| self.judges(object, &texts);
        let objects: Vec<&Object> = world.catalog.others().iter().filter(is_judged).collect();
        let knative = features(world);
        let judge = |object: &Object| {
            let mut found = refused_by_server(object, &world.sources);
            knative.judge(&object.node, &mut found);
            lower_in_tree(&mut found, world.sources.get(object.span.source));
            found
        };
        let found: Vec<Vec<Diagnostic>> = objects.into_par_iter().map(judge).collect();
        // What reading found at a place is one fault.
        let errors = world.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
        let spans: HashSet<Span> = errors.filter_map(Diagnostic::span).collect();
        let is_new =
            |finding: &Diagnostic| finding.span().is_none_or(|span| !spans.contains(&span));
        found.into_iter().flatten().filter(is_new).collect()
    }

    /// ModelServings with a finding of error level inside them, by their names.
    fn servings_in_error(&self) -> HashMap<Span, Failure> {
        let catalogs = std::iter::once(&self.world.catalog)
            .chain(self.world.views.iter().map(|view| &view.catalog));
        let servings = catalogs.flat_map(Catalog::model_servings);
        let in_error = servings.filter_map(|serving| {
            Some((serving.object.name_span(), failure(refusal(&self.world, serving)?)))
        });
        in_error.collect()
    }
}

fn failure(finding: &Diagnostic) -> Failure {
    Failure {
        code: finding.code,
        message: finding.message.clone(),
        help: finding.help.clone(),
        span: finding.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_refused_for_errors_that_a_server_has_too() {
        let of = |code: Code, severity: Severity| {
            refuses(&Diagnostic::new(code, "x").severity(severity))
        };
        for (code, expected) in [
            (Code::UnknownKind, true),
            (Code::InvalidName, true),
            (Code::RequiredField, true),
            (Code::InvalidType, true),
            (Code::InvalidValue, true),
            (Code::RemovedField, true),
            (Code::UnknownField, false),
            (Code::ModelNotFound, false),
            (Code::ServerRefuses, false),
        ] {
            assert_eq!(of(code, Severity::Error), expected, "{code:?}");
            assert!(!of(code, Severity::Warning), "{code:?}");
        }
    }

    #[test]
    fn knative_services_are_refused_for_fields_whose_feature_is_off() {
        use crate::testing::{gpu_node, ome_on};
        let features = |value: &str| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config-features, namespace: knative-serving}}\ndata: {{kubernetes.podspec-nodeselector: {value}}}\n"
            )
        };
        let service = |spec: &str| {
            format!(
                "---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {{name: a, namespace: ml}}\nspec: {{template: {{metadata: {{annotations: {{autoscaling.knative.dev/min-scale: '1'}}}}, spec: {{{spec}containers: [{{image: x}}]}}}}}}\n"
            )
        };
        let selects = "nodeSelector: {kubernetes.io/hostname: n1}, ";
        for (features, spec, code, severity) in [
            (features("disabled"), selects, 2, Some("error")),
            (features("enabled"), selects, 0, None),
            // Without the ConfigMap the feature may be on: the pods are placed.
            (String::new(), selects, 0, Some("warning")),
            (features("disabled"), "", 0, None),
        ] {
            let text = gpu_node("n1", 8, "") + &features + &service(spec);
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            let found = ran.at("/findings");
            let found = found.as_array().into_iter().flatten();
            let refusals: Vec<&str> = found
                .filter(|found| found["code"] == "server-refuses")
                .filter_map(|found| found["severity"].as_str())
                .collect();
            assert_eq!(refusals, Vec::from_iter(severity), "{features}{spec}: {}", ran.out);
            let pending = ran.at("/placement/pods/pending");
            assert_eq!(pending, i64::from(severity == Some("error")), "{}", ran.out);
            assert_eq!(ran.code, code, "{features}{spec}: {}", ran.out);
        }
    }

    #[test]
    fn only_the_identity_of_a_runtime_keeps_others_from_naming_it() {
        for (code, path, expected) in [
            (Code::InvalidName, "metadata.name", true),
            (Code::InvalidName, "metadata.namespace", true),
            (Code::InvalidName, "metadata.labels", false),
            (Code::InvalidValue, "metadata.name", false),
        ] {
            let finding = Diagnostic::new(code, "x").path(path);
            assert_eq!(refuses_name(&finding), expected, "{code:?} {path}");
        }
        assert!(!refuses_name(&Diagnostic::new(Code::InvalidName, "x")));
    }
}
