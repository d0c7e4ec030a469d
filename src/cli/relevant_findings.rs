//! Which findings answer a question about services: those about them and about the objects that
//! decide about them, and those about texts that may hold one. Everything else is left to
//! `validate`.

use super::copies;
use super::input::Session;
use crate::api::{Model, ModelServing, Object, Views};
use crate::catalog::Catalog;
use crate::check::{self, View};
use crate::diag::{Code, Diagnostic, Severity, quoted};
use crate::load::kinds::{self, Reach};
use crate::load::{is_chart_part, why_not_built};
use crate::operators::{self, is_of_presets, is_service};
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{Depth, Planned, Planner, ServiceNames, counted_objects, has_room};
use crate::source::{SourceId, Span};
use crate::workspace::World;
use ecow::EcoString;
use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path};
use std::sync::Arc;

/// The trees that were read file by file: how many in words, and their directories, those with
/// services first.
pub(super) fn not_built<'f>(
    found: &'f [Diagnostic],
    with_services: &HashSet<Arc<str>>,
) -> Option<(String, Vec<&'f str>)> {
    let mut trees: Vec<&str> = found
        .iter()
        .filter(|finding| finding.code == Code::KustomizeNotBuilt)
        .filter_map(|finding| finding.file.as_deref())
        .collect();
    // The line names one tree: one with services, if there is any, and none that is set aside.
    trees.sort_by_key(|tree| (!with_services.contains(*tree), is_set_aside(tree)));
    let what = match trees.len() {
        0 => return None,
        1 => "1 overlay was not built".to_owned(),
        many => format!("{many} overlays were not built"),
    };
    Some((what, trees))
}

/// Whether a directory is of what is kept and not applied, by its name.
fn is_set_aside(tree: &str) -> bool {
    let names = tree.split('/').map(|name| name.trim_matches(['_', '.']).to_ascii_lowercase());
    names
        .into_iter()
        .any(|name| matches!(&*name, "archive" | "archived" | "attic" | "deprecated" | "old"))
}

/// The trees that list a file with a service, or include one that does. A plan takes its services
/// out of the catalog, so that it asks before.
pub(super) fn trees_with_services(world: &World) -> HashSet<Arc<str>> {
    let services = world.catalog.services().map(|views| views.documented.object.span.source);
    let servings = world.catalog.model_servings().iter().map(|serving| serving.object.span.source);
    services
        .chain(servings)
        .filter_map(|source| world.sources.get(source).kustomized.as_ref())
        .flat_map(|built| built.trees.iter().cloned())
        .collect()
}

/// The same as a line, with the command that builds the first of them, and why it was not built if
/// overlays are. The finding about it has the arguments that the command needs.
pub(super) fn not_built_line(
    found: &[Diagnostic],
    with_services: &HashSet<Arc<str>>,
    command: &str,
) -> Option<String> {
    let (what, trees) = not_built(found, with_services)?;
    let first = found.iter().find(|finding| {
        finding.code == Code::KustomizeNotBuilt && finding.file.as_deref() == Some(trees[0])
    })?;
    let why = why_not_built(first).map(|why| format!(" ({why})")).unwrap_or_default();
    // The help of the finding has the command complete, in backquotes.
    let builds = first.help.as_deref().and_then(|help| help.split('`').nth(1)?.split_once(" -k "));
    let arguments = builds.map_or_else(|| quoted(trees[0]), |(_, arguments)| arguments.to_owned());
    Some(format!("{what}: {command} -k {arguments}{why}\n"))
}

/// The charts whose templates have services, as a line with the command that renders the first of
/// them: nothing of a template is planned.
pub(super) fn charts_line(world: &World, found: &[Diagnostic]) -> Option<String> {
    let charts: Vec<&Diagnostic> = found
        .iter()
        .filter(|finding| finding.code == Code::HelmTemplate)
        .filter(|finding| finding.file.as_deref().is_some_and(|chart| serves(world, chart)))
        .collect();
    let what = match charts.len() {
        0 => return None,
        1 => "1 Helm chart with services was not rendered".to_owned(),
        many => format!("{many} Helm charts with services were not rendered"),
    };
    let command = charts[0].help.as_deref()?.split('`').nth(1)?;
    Some(format!("{what}: {command}\n"))
}

/// Whether a text beneath a directory writes the kind of a service.
fn serves(world: &World, folder: &str) -> bool {
    let is_kind = |line: &str| {
        let kind = line.trim_start().trim_start_matches("- ").strip_prefix("kind:");
        let kind = kind.map(|kind| kind.trim().trim_matches(['"', '\'']));
        kind.is_some_and(|kind| is_service(kind) || kind == "ModelServing")
    };
    // A definition has the kind among its names, beside `listKind` and `plural`.
    let is_name = |line: &str| {
        let line = line.trim_start();
        line.starts_with("listKind:") || line.starts_with("plural:")
    };
    let has_kind = |text: &str| {
        let after = text.lines().skip(1).map(Some).chain([None]);
        text.lines().zip(after).any(|(line, next)| is_kind(line) && !next.is_some_and(is_name))
    };
    // A chart above the current directory: what is left out here is a part of it.
    let is_above = folder.starts_with("..")
        && Path::new(folder).components().all(|part| part == Component::ParentDir);
    world.sources.iter().map(|(_, source)| source).any(|source| {
        let name = Path::new(&*source.name);
        // Names below `.` are written without it.
        let below = match folder {
            "." => Some(name),
            _ if is_above => Some(name),
            _ => name.strip_prefix(folder).ok(),
        };
        below.is_some_and(|below| {
            // In other directories a file without placeholders is read as it is.
            (is_above || is_chart_part(below) || source.text.contains("{{"))
                && has_kind(&source.text)
        })
    })
}

/// The objects that a question is about, by where they begin.
pub(super) struct About {
    objects: BTreeSet<(SourceId, u32)>,
    /// Namespaces of the services among them.
    namespaces: BTreeSet<EcoString>,
    /// Presets of KServe apply to one of them.
    presets: bool,
    /// Objects that all services share decide about them.
    shared: bool,
    /// Every service is meant, so that objects of operators that are like services are, too.
    every: bool,
    /// Pods of workloads are placed beside those of the services.
    places: bool,
    /// Those workloads, by where they begin.
    workloads: BTreeSet<(SourceId, u32)>,
}

impl About {
    /// These objects.
    pub(super) fn these<'a>(
        catalog: &Catalog,
        objects: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        Self::named_at(catalog, objects.into_iter().map(Object::name_span))
    }

    fn named_at(catalog: &Catalog, names: impl IntoIterator<Item = Span>) -> Self {
        let mut about = Self {
            objects: BTreeSet::new(),
            namespaces: BTreeSet::new(),
            presets: false,
            shared: false,
            every: false,
            places: false,
            workloads: BTreeSet::new(),
        };
        for name in names {
            let Some((start, id)) = catalog.owner(name) else { continue };
            about.objects.insert((name.source, start));
            about.presets |= is_of_presets(&id.kind);
            if is_service(&id.kind) || id.kind == "ModelServing" {
                about.namespaces.extend(id.scope.namespace().cloned());
            }
        }
        about.shared = !about.objects.is_empty();
        about
    }

    /// These objects, too, and not what several share with them.
    pub(super) fn also<'a>(mut self, objects: impl IntoIterator<Item = &'a Object>) -> Self {
        self.objects
            .extend(objects.into_iter().map(|object| (object.span.source, object.span.start)));
        self
    }

    /// The question is about no cluster: what several services share there has no part in it.
    pub(super) fn without_shared(mut self) -> Self {
        self.shared = false;
        self
    }

    /// No service was named, so that the question is about all of them.
    pub(super) fn every(mut self, every: bool) -> Self {
        self.every = every;
        self
    }

    /// Services with the model, runtime and classes that they name or get. Where none was chosen,
    /// every runtime, or every class, may be the reason.
    pub(super) fn planned(
        catalog: &Catalog,
        planned: &[Planned<'_>],
        servings: &[PlannedServing<'_>],
    ) -> Self {
        let mut objects: Vec<&Object> =
            servings.iter().map(|planned| &planned.serving.object).collect();
        // Once, however many services lack one: a fleet has thousands of both.
        let (mut lacks_runtime, mut lacks_class) = (false, false);
        for planned_service in planned {
            objects.extend(planned_service.resolution.model.map(|model| &model.object));
            let runtime = planned_service.resolution.chosen();
            lacks_runtime |= runtime.is_none();
            objects.extend(runtime.map(|runtime| &runtime.object));
            for decision in &planned_service.resolution.accelerators {
                lacks_class |= decision.chosen.is_none();
                objects.extend(decision.chosen.map(|class| &class.object));
            }
        }
        if lacks_runtime {
            objects.extend(catalog.all_runtimes().map(|runtime| &runtime.object));
        }
        if lacks_class {
            objects.extend(catalog.accelerator_classes());
        }
        let services = planned.iter().map(|planned| planned.service.place);
        let names = services.chain(objects.into_iter().map(Object::name_span));
        let models = planned.iter().filter_map(|planned| planned.resolution.model);
        let about = Self::named_at(catalog, names).completed(models);
        // Other workloads matter only where pods are placed.
        if !has_room(catalog) {
            return about;
        }
        // The services are not in the catalog any more.
        let names =
            planned.iter().map(|planned| (&planned.service.namespace, &planned.service.name));
        let names: ServiceNames =
            names.map(|(space, name)| (space.clone(), name.clone())).collect();
        about.placing(catalog, &names)
    }

    /// The workloads whose pods are placed beside those of these services, too, and what decides about
    /// them.
    fn placing(mut self, catalog: &Catalog, services: &ServiceNames) -> Self {
        for object in counted_objects(catalog, services) {
            self.workloads.insert((object.span.source, object.span.start));
            self.namespaces.extend(object.id.scope.namespace().cloned());
        }
        self.places = true;
        self.shared |= !self.workloads.is_empty();
        self
    }

    /// The config.json files that complete these models, too.
    pub(super) fn completed<'a>(mut self, models: impl IntoIterator<Item = &'a Model>) -> Self {
        for model in models {
            let places =
                model.completion.fields.iter().filter_map(|field| field.value.origin.span());
            // A config.json is one object, which begins its file.
            let configs = places.filter(|span| span.source != model.object.span.source);
            self.objects.extend(configs.map(|span| (span.source, 0)));
        }
        self
    }

    /// Services and ModelServings that are not planned by the caller; they are here if a finding is
    /// about an object that only a decision can relate to them.
    pub(super) fn selected(
        session: &Session,
        services: &[&Views],
        servings: &[&ModelServing],
        found: &[Diagnostic],
    ) -> Self {
        let catalog = &session.world.catalog;
        let named = services.iter().map(|views| &views.followed().object);
        let named = named.chain(servings.iter().map(|serving| &serving.object));
        let depends = found.iter().any(|finding| {
            finding.severity > Severity::Info
                && finding.labels.iter().any(|label| {
                    let kind = catalog.owner_kind(label.span);
                    kind.is_some_and(|kind| kinds::is_rendered_kind(kind) && !is_service(kind))
                })
        });
        let mut about = Self::these(catalog, named);
        if depends && !services.is_empty() {
            let planner = Planner::of(&session.world);
            let planned = planner.plan_all(services, Depth::Plan);
            about.objects.extend(Self::planned(catalog, &planned, &[]).objects);
        }
        about
    }

    /// Whether an object of this kind is meant where no service is named: presets, too, if there is
    /// nothing else.
    fn is_meant(&self, kind: &str) -> bool {
        kinds::is_like_service(kind)
            || kinds::is_of_service(kind)
            || (self.objects.is_empty() && kinds::reach(kind) == Reach::Presets)
    }

    /// Whether a namespace is one of theirs. Without a service nothing says which are meant.
    fn is_here(&self, namespace: &EcoString) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(namespace)
    }

    /// What is used from their namespaces.
    fn used(&self, catalog: &Catalog) -> Used {
        let is_here = |object: &Object| {
            object.id.scope.namespace().is_some_and(|namespace| self.is_here(namespace))
        };
        let has = |kinds: &[&str]| {
            catalog
                .others()
                .iter()
                .any(|object| kinds.contains(&object.id.kind.as_str()) && is_here(object))
        };
        Used {
            queues: catalog.local_queues().any(|queue| is_here(&queue.object)),
            volumes: has(&["PersistentVolumeClaim"]),
            devices: has(&["ResourceClaim", "ResourceClaimTemplate"]),
        }
    }

    /// Whether a place is in an object that several services share, and that can reach one of these:
    /// nodes, settings, and what is in their namespaces or is used from there.
    fn is_shared(&self, catalog: &Catalog, used: Used, span: Span) -> bool {
        let Some((_, id)) = catalog.owner(span) else { return false };
        if !kinds::is_decisive(&id.kind, &id.name) {
            return false;
        }
        match kinds::reach(&id.kind) {
            Reach::Every => true,
            Reach::Namespace => {
                id.scope.namespace().is_none_or(|namespace| self.is_here(namespace))
            }
            Reach::Presets => self.presets,
            Reach::Queues => used.queues,
            Reach::Volumes => used.volumes,
            Reach::Devices => used.devices,
        }
    }

    /// The findings about them: about one of these objects, about an object that decides about all
    /// services, about a text that may hold one, or about no object of the input.
    pub(super) fn of(&self, session: &Session, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let catalog = &session.world.catalog;
        let used = self.used(catalog);
        let gaps = session.gap_places();
        found.retain(|finding| {
            // A newer release can decide otherwise about every service.
            let Some(span) = finding.span().filter(|_| finding.code != Code::ReleaseNewer) else {
                return true;
            };
            // The exit code and the first line count them, so that they are shown.
            if gaps.contains(&(finding.code, finding.span())) {
                return true;
            }
            // What changes in the whole input is the question, and a server refuses this of it.
            if finding.code == Code::ImmutableField && self.every {
                return true;
            }
            // A kind that no known release has may decide about any service.
            if finding.code == Code::NewerThanKnown && finding.path.as_deref() == Some("kind") {
                return self.every;
            }
            let mut owners =
                finding.labels.iter().filter_map(|label| place(catalog, label.span)).peekable();
            if owners.peek().is_none() {
                // Text that is no object of the input: notes, and what an answer may depend on.
                return finding.severity == Severity::Info
                    || !session.world.sources.get(span.source).is_input();
            }
            owners.any(|owner| self.objects.contains(&owner))
                || (self.shared && self.is_shared(catalog, used, span))
                || (self.every && catalog.owner_kind(span).is_some_and(|kind| self.is_meant(kind)))
                || (self.places && is_lost_amount(catalog, finding))
                || finding
                    .labels
                    .iter()
                    .filter_map(|label| place(catalog, label.span))
                    .any(|owner| self.workloads.contains(&owner))
                    && (finding.severity == Severity::Error || finding.code == Code::ServerRefuses)
        });
        // As a cluster keeps the definition that is applied last, the answer is about that one.
        // Of services below one path each definition is shown.
        let twice = found.iter_mut().filter(|finding| finding.code == Code::DuplicateObject);
        for finding in twice {
            let owner = finding.span().and_then(|span| catalog.owner(span));
            // Not an object that two services write.
            let is_shown = owner.is_some_and(|(_, id)| {
                is_service(&id.kind) && finding.objects.contains(&id.to_string())
            }) && finding.severity == Severity::Warning;
            finding.severity = if is_shown { Severity::Info } else { Severity::Warning };
        }
        if self.every {
            return copies::left_out(found, &session.world);
        }
        found
    }
}

/// The findings of an answer about objects of some kinds: those about such objects, about texts that
/// may hold one, and about no object of the input.
pub(super) fn of_kinds(
    session: &Session,
    found: Vec<Diagnostic>,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let catalog = &session.world.catalog;
    let gaps = session.gap_places();
    let is_gap = |finding: &Diagnostic| gaps.contains(&(finding.code, finding.span()));
    let is_told = |finding: &Diagnostic| {
        let Some(span) = finding.span() else { return true };
        let mut owners =
            finding.labels.iter().filter_map(|label| catalog.owner_kind(label.span)).peekable();
        if owners.peek().is_none() {
            // Text that is no object of the input: notes, and files that are not part of it.
            return finding.severity == Severity::Info
                || !session.world.sources.get(span.source).is_input()
                || is_gap(finding);
        }
        owners.any(&is_meant) || is_gap(finding)
    };
    found.into_iter().filter(is_told).collect()
}

/// What namespaces have that uses objects of the cluster.
#[derive(Clone, Copy)]
struct Used {
    /// LocalQueues.
    queues: bool,
    /// Claims for volumes.
    volumes: bool,
    /// Claims for devices.
    devices: bool,
}

/// The findings about parts of services whose service is not there: nothing else of an answer says that a
/// cluster does not keep them.
pub(super) fn of_parts(session: &Session) -> Vec<Diagnostic> {
    let catalog = &session.world.catalog;
    if !catalog.others().iter().any(|object| kinds::is_of_service(&object.id.kind)) {
        return Vec::new();
    }
    let checks = operators::checks().filter(|check| check.codes == [Code::ServiceNotFound]);
    check::run(&View { catalog, sources: &session.world.sources }, checks, &[])
}

/// Findings that a page prints as errors of services are not printed again.
pub(super) fn beside_page(found: &[Diagnostic], planned: &[Planned<'_>]) -> Vec<Diagnostic> {
    let errors = planned.iter().filter_map(|planned| planned.error.as_ref());
    let on_page: HashSet<(Code, Option<Span>)> =
        errors.map(|error| (error.code, error.span)).collect();
    let is_on_page = |finding: &Diagnostic| on_page.contains(&(finding.code, finding.span()));
    found.iter().filter(|finding| !is_on_page(finding)).cloned().collect()
}

/// Where the object begins that holds a place.
fn place(catalog: &Catalog, span: Span) -> Option<(SourceId, u32)> {
    catalog.owner(span).map(|(start, _)| (span.source, start))
}

/// Whether a finding means that pods of a workload take other amounts than its text states: room
/// that is free by the answer may be taken.
fn is_lost_amount(catalog: &Catalog, finding: &Diagnostic) -> bool {
    let is_amount = matches!(finding.code, Code::InvalidQuantity | Code::NotCounted);
    let kind = finding.span().and_then(|span| catalog.owner_kind(span));
    is_amount && kind.is_some_and(kinds::is_workload)
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, catalog, gpu_node, ome, ome_on, plan, service};

    #[test]
    fn a_chart_of_definitions_has_no_services() {
        let names = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  names:\n    kind: InferenceService\n    listKind: InferenceServiceList\n  x: {{ .Values.x }}\n";
        let service = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: {{ .Values.x }}\n";
        for (text, is_named) in [(names, false), (service, true)] {
            let chart = "apiVersion: v2\nname: x\nversion: 0.1.0\n";
            let files = [("c/Chart.yaml", chart), ("c/templates/a.yaml", text)];
            let ran = ome_on("plan -f {.}", &files);
            assert_eq!(ran.out.contains("Helm chart with services"), is_named, "{}", ran.out);
        }
    }

    /// What is wrong with an object that no answer is about is left to `validate`.
    #[test]
    fn objects_of_other_kinds_touch_no_catalog() {
        let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {storageClass: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
        let twice =
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nmetadata: {name: d}\n";
        let files = [("claim.yaml", claim), ("twice.yaml", twice)];
        for command in
            ["catalog list", "convert", "discover", "kueue diff", "kueue import", "drift"]
        {
            let ran = ome_on(&format!("{command} -f {{.}}"), &files);
            assert_eq!(ran.code, 0, "{command}: {}{}", ran.out, ran.err);
            assert!(!ran.err.contains("unknown-field"), "{command}: {}", ran.err);
        }
        assert_eq!(ome_on("validate {.}", &files).code, 2);
        // Of the catalog itself they are told.
        let runtime =
            catalog(1).replace("modelSizeRange:", "modelSizeRagne: {}\n  modelSizeRange:");
        let ran = ome_on("catalog list -f {.}", &[("a.yaml", runtime.as_str())]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    }

    /// Copies in directories of tests and services whose values are not filled in fail no command.
    #[test]
    fn what_is_not_applied_fails_no_command() {
        let service = |name: &str, runtime: &str| {
            format!(
                "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: '{name}'}}\nspec: {{predictor: {{model: {{modelFormat: {{name: sklearn}}, runtime: '{runtime}', storageUri: 's3://b/m'}}}}}}\n"
            )
        };
        let (unfilled, copy) = (service("${NAME}", "${RUNTIME}"), service("c", "nobodys"));
        for command in ["plan", "explain", "render", "endpoints"] {
            let files = [("a.yaml", unfilled.as_str())];
            let ran = ome_on(&format!("{command} -f {{.}}"), &files);
            assert_eq!(ran.code, 0, "{command}: {}{}", ran.out, ran.err);
            let all = ran.out + &ran.err;
            assert!(all.contains(": placeholders") && !all.contains('✓'), "{command}: {all}");
            let files = [("testdata/a.yaml", copy.as_str())];
            let ran = ome_on(&format!("{command} -f {{.}}"), &files);
            assert_eq!(ran.code, 0, "{command}: {}{}", ran.out, ran.err);
            let named = ome_on(&format!("{command} c -f {{.}}"), &files);
            assert_eq!(named.code, 1, "{command}: {}{}", named.out, named.err);
        }
    }

    /// Files of other programs have the form of objects, and may be of no cluster.
    #[test]
    fn files_of_other_programs_are_no_errors() {
        let twice = "apiVersion: GROUP/v1\nkind: Cluster\nmetadata:\n  name: My Cluster\nspec: {a: 1, a: 2}\n";
        let beside =
            "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n";
        for (group, expected) in [
            ("eksctl.io", ""),
            ("kubelet.config.k8s.io", ""),
            ("tools.example.com", "duplicate-key invalid-name"),
        ] {
            let text = twice.replace("GROUP", group);
            for semantics in ["documented", "controller"] {
                let command = format!(
                    "validate {{.}} --min-severity warning -o json --semantics {semantics}"
                );
                let ran = ome_on(&command, &[("a.yaml", beside), ("b.yaml", &text)]);
                let mut found = ran.findings();
                found.sort();
                assert_eq!((ran.code, found.join(" ").as_str()), (0, expected), "{group}");
            }
        }
        let deployed = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, name: b}\n";
        assert_eq!(ome("validate", deployed).code, 2);
    }

    /// A node decides about every service; without one, the finding is left to `validate`.
    #[test]
    fn what_all_services_share_is_reported_with_a_service_only() {
        let is_reported = |ran: &Ran| ran.findings().iter().any(|code| code == "unknown-field");
        let node = gpu_node("gpu-1", 8, "unschedulabe: true");
        assert!(is_reported(&plan(&(catalog(1) + &service("a", "minReplicas: 1") + &node))));
        assert!(!is_reported(&plan(&(catalog(1) + &node))));
        assert!(is_reported(&ome("validate -o json", &(catalog(1) + &node))));
    }
}
