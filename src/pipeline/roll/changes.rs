//! What changes between two states of an input.

use crate::api::{ModelServing, Object, Service, Views};
use crate::pipeline::autoscalers::{At, Autoscalers};
use crate::pipeline::together::{counted_objects, workloads};
use crate::quantity::names::dns1123_subdomain;
use crate::workspace::World;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeSet, HashMap};

/// The state before a change.
#[derive(Clone, Copy, Debug)]
pub enum Before<T> {
    /// The running pods.
    Running,
    /// The applied object; `None` if the object is new.
    Applied(Option<T>),
}

/// A service that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServiceChange<'a> {
    /// The service before the change, with the world that it was applied in.
    pub before: Before<(&'a World, &'a Views)>,
    /// The service after the change; `None` if it is deleted.
    pub after: Option<&'a Views>,
}

impl<'a> ServiceChange<'a> {
    /// The service after the change, or before the change if it is deleted.
    pub fn service(&self) -> Option<&'a Service> {
        let before = match self.before {
            Before::Applied(Some((_, views))) => Some(views),
            Before::Applied(None) | Before::Running => None,
        };
        self.after.or(before).map(Views::followed)
    }
}

/// A ModelServing that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServingChange<'a> {
    /// The ModelServing before the change.
    pub before: Before<&'a ModelServing>,
    /// The ModelServing after the change; `None` if it is deleted.
    pub after: Option<&'a ModelServing>,
}

impl<'a> ServingChange<'a> {
    /// The ModelServing after the change, or before the change if it is deleted.
    pub fn serving(&self) -> Option<&'a ModelServing> {
        let before = match self.before {
            Before::Applied(before) => before,
            Before::Running => None,
        };
        self.after.or(before)
    }
}

/// A workload of the input that no operator writes, and that may change.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadChange<'a> {
    /// The workload before the change.
    pub before: Before<&'a Object>,
    /// The workload after the change.
    pub after: &'a Object,
    /// It is new, or its fields or its autoscaler differ; always true where the running pods are the
    /// state before.
    pub differs: bool,
}

/// A state of an input, or a selection of it.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// The whole input.
    pub world: &'a World,
    /// InferenceServices.
    pub services: Vec<&'a Views>,
    /// ModelServings.
    pub servings: Vec<&'a ModelServing>,
    /// Workloads that no operator writes.
    pub workloads: Vec<&'a Object>,
}

impl<'a> State<'a> {
    /// Selects everything in a world.
    pub fn all(world: &'a World) -> Self {
        let catalog = &world.catalog;
        Self {
            world,
            services: catalog.services().collect(),
            servings: catalog.model_servings().iter().collect(),
            workloads: Self::plain(world),
        }
    }

    /// The workloads of a world that no operator writes.
    pub fn plain(world: &'a World) -> Vec<&'a Object> {
        let services = workloads::services(&world.catalog);
        counted_objects(&world.catalog, &services).collect()
    }

    /// Those of them whose names are not filled in yet: which objects they are is not known.
    pub fn nameless(world: &'a World) -> impl Iterator<Item = &'a Object> {
        Self::plain(world).into_iter().filter(|object| is_nameless(world, object))
    }
}

/// Whether the name of an object is not filled in yet.
pub fn is_nameless(world: &World, object: &Object) -> bool {
    let is_name = |text: &str| dns1123_subdomain(text).is_empty();
    let namespace = object.id.scope.namespace();
    world.catalog.is_unfilled(object)
        && !(is_name(&object.id.name) && namespace.is_none_or(|text| is_name(text)))
}

/// Everything that is simulated at once.
#[derive(Clone, Debug, Default)]
pub struct Changes<'a> {
    /// The input before the change; `None` if the running pods are the state before.
    pub before: Option<&'a World>,
    /// InferenceServices.
    pub services: Vec<ServiceChange<'a>>,
    /// ModelServings.
    pub servings: Vec<ServingChange<'a>>,
    /// Workloads that no operator writes. One that is deleted is none of them: its pods end, and
    /// nothing rolls.
    pub workloads: Vec<WorkloadChange<'a>>,
}

impl<'a> Changes<'a> {
    /// Whether it has a workload without an operator that the state before does not have, as far as it
    /// tells.
    pub fn may_create(&self) -> bool {
        let mut all = self.workloads.iter();
        all.any(|change| !matches!(change.before, Before::Applied(Some(_))))
    }

    /// The changes from one state to another, or from the running pods. Deleted objects come last.
    pub fn between(before: Option<&State<'a>>, after: &State<'a>) -> Self {
        let name = |views: &'a Views| {
            let service = views.followed();
            (service.object.api, &service.namespace, service.name())
        };
        let of_serving = |serving: &'a ModelServing| (&serving.namespace, serving.name());
        let Some(before) = before else {
            let services = after.services.iter();
            let servings = after.servings.iter();
            return Self {
                before: None,
                services: services
                    .map(|views| ServiceChange { before: Before::Running, after: Some(views) })
                    .collect(),
                servings: servings
                    .map(|serving| ServingChange { before: Before::Running, after: Some(serving) })
                    .collect(),
                workloads: after
                    .workloads
                    .iter()
                    .map(|object| WorkloadChange {
                        before: Before::Running,
                        after: object,
                        differs: true,
                    })
                    .collect(),
            };
        };
        let mut old: HashMap<_, &'a Views> =
            before.services.iter().map(|views| (name(views), *views)).collect();
        let mut changes = Self { before: Some(before.world), ..Self::default() };
        for views in &after.services {
            let earlier = old.remove(&name(views)).map(|earlier| (before.world, earlier));
            changes
                .services
                .push(ServiceChange { before: Before::Applied(earlier), after: Some(views) });
        }
        // In the order of the input: iterating over the map would not be deterministic.
        for views in before.services.iter().filter(|views| old.contains_key(&name(views))) {
            let earlier = Before::Applied(Some((before.world, *views)));
            changes.services.push(ServiceChange { before: earlier, after: None });
        }
        let mut old: HashMap<_, &'a ModelServing> =
            before.servings.iter().map(|serving| (of_serving(serving), *serving)).collect();
        for serving in &after.servings {
            let earlier = Before::Applied(old.remove(&of_serving(serving)));
            changes.servings.push(ServingChange { before: earlier, after: Some(serving) });
        }
        for serving in
            before.servings.iter().filter(|serving| old.contains_key(&of_serving(serving)))
        {
            changes
                .servings
                .push(ServingChange { before: Before::Applied(Some(serving)), after: None });
        }
        changes.workloads = between_workloads(before, after);
        changes
    }

    /// Number of simulated objects.
    pub fn len(&self) -> usize {
        let workloads = self.workloads.iter().filter(|change| change.differs);
        self.services.len() + self.servings.len() + workloads.count()
    }

    /// Whether there is no object that could be simulated.
    pub fn is_empty(&self) -> bool {
        self.services.is_empty() && self.servings.is_empty() && self.workloads.is_empty()
    }
}

/// What a controller reads of an object: all but its status.
fn fields(object: &Object) -> (Option<&Node>, [Option<&Node>; 2]) {
    (object.node.get("spec"), ["labels", "annotations"].map(|key| object.metadata(key)))
}

/// The workloads that no operator writes and that are in one of two states only: those that go, and those
/// that come; of [`State::nameless`] ones neither is known.
pub fn come_and_go(before: &State<'_>, after: &State<'_>) -> [Vec<EcoString>; 2] {
    let ids = |state: &State<'_>| -> BTreeSet<(EcoString, String)> {
        let id = |object: &Object| {
            let (spec, meta) = fields(object);
            let text = |node: &Node| node.to_json().to_string();
            let content = || spec.into_iter().chain(meta.into_iter().flatten()).map(text).collect();
            let content = if is_generated(object) { content() } else { String::new() };
            (workloads::id_of(object), content)
        };
        let all = State::plain(state.world).into_iter();
        all.filter(|object| !is_nameless(state.world, object)).map(id).collect()
    };
    let [was, is] = [before, after].map(ids);
    [was.difference(&is), is.difference(&was)].map(|items| {
        let mut names: Vec<EcoString> = items.map(|(id, _)| id.clone()).collect();
        names.dedup();
        names
    })
}

/// Whether the server completes its name, so that each object that is applied is another one.
fn is_generated(object: &Object) -> bool {
    object.metadata("name").is_none() && object.metadata("generateName").is_some()
}

/// The workloads of the new state, each with the one before.
fn between_workloads<'a>(before: &State<'a>, after: &State<'a>) -> Vec<WorkloadChange<'a>> {
    let mut old: HashMap<EcoString, Vec<&'a Object>> = HashMap::new();
    for object in &before.workloads {
        old.entry(workloads::id_of(object)).or_default().push(object);
    }
    let [was, is] = [before, after].map(|state| (state, Autoscalers::of(&state.world.catalog)));
    let change = |object: &&'a Object| {
        let earlier = old.get(&workloads::id_of(object)).map(Vec::as_slice).unwrap_or_default();
        let earlier = if is_generated(object) {
            earlier.iter().find(|earlier| fields(earlier) == fields(object))
        } else {
            earlier.last()
        };
        let earlier = earlier.copied();
        let read = |object: &Object, (state, autoscalers): &(&State<'_>, Autoscalers)| {
            let scaled = [At::Min, At::Max].map(|at| autoscalers.replicas(object, at));
            (scaled, state.world.catalog.refused(object).is_some())
        };
        let differs = earlier.is_none_or(|earlier| {
            fields(earlier) != fields(object) || read(earlier, &was) != read(object, &is)
        });
        WorkloadChange { before: Before::Applied(earlier), after: object, differs }
    };
    after.workloads.iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};
    use serde_json::{Value, json};

    fn job(name: &str, image: &str) -> String {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{{name}, namespace: ml}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: {image}}}]}}}}}}\n"
        )
    }

    /// The workloads that change and that come, and the lines of what is not judged.
    fn diff(before: &str, after: &str) -> [Value; 3] {
        let [before, after] = [before, after].map(|text| gpu_node("n1", 8, "") + text);
        let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
        let ran = ome_on("diff -o json --base {before.yaml} -f {after.yaml}", &files);
        let names = |path: &str, key: &str| {
            let found = ran.at(path);
            let all = found.as_array().cloned().unwrap_or_default();
            all.iter().map(|one| one.get(key).unwrap_or(one).clone()).collect()
        };
        [
            names("/capacity/workloads", "workload"),
            names("/summary/otherWorkloads/added", "workload"),
            names("/capacity/notJudged", "what"),
        ]
    }

    #[test]
    fn objects_with_generated_names_are_the_same_only_if_nothing_differs() {
        let crunch = |image: &str| job("generateName: crunch-", image);
        let none = json!([]);
        let two = crunch("a") + &crunch("b");
        assert_eq!(
            diff(&two, &(crunch("b") + &crunch("a"))),
            [none.clone(), none.clone(), none.clone()]
        );
        let [changed, _, open] = diff(&two, &(crunch("a") + &crunch("c")));
        assert_eq!((changed, open), (none.clone(), none));
    }

    #[test]
    fn objects_without_a_name_yet_are_named_and_not_counted() {
        let files = [
            ("before.yaml", job("name: \"${{ values.a }}\"", "x")),
            ("after.yaml", job("name: \"{{values.a}}-b\"", "x") + &job("name: c", "x:${TAG}")),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let ran = ome_on("diff --base {before.yaml} -f {after.yaml}", &files);
        assert!(ran.out.contains("Plan: 1 workload to add\n"), "{}", ran.out);
        let line = "not compared: placeholders: ml/${{ values.a }}, ml/{{values.a}}-b\n";
        assert!(ran.err.contains(line), "{}", ran.err);
    }

    #[test]
    fn each_job_that_changes_is_named() {
        let both = |image: &str| job("name: one", image) + &job("name: two", image);
        let [changed, _, open] = diff(&both("a"), &both("b"));
        let names = json!(["Job/ml/one", "Job/ml/two"]);
        assert_eq!((changed, open), (names.clone(), names));
    }
}
