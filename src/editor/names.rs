//! References between objects.
//!
//! References of a service are the objects that its decision looked up; those of other objects are
//! found by their readers. A table has the fields with references, for completion; a test compares
//! both.

use crate::api::{Object, Scope};
use crate::catalog::{Catalog, LLM_CONFIG};
use crate::pipeline::{Planned, named, queue_label};
use crate::schema::Schema;
use crate::source::Span;
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;

/// The kind of a referenced object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A runtime.
    Runtime,
    /// A base model.
    Model,
    /// A fine-tuned weight.
    Weight,
    /// An accelerator class.
    Class,
    /// A LocalQueue of Kueue.
    LocalQueue,
    /// A ClusterQueue of Kueue.
    ClusterQueue,
    /// A ResourceFlavor of Kueue.
    Flavor,
    /// A configuration of LLMInferenceServices.
    Config,
}

/// A place that names an object.
#[derive(Clone, Copy, Debug)]
pub struct Naming<'a> {
    /// The place of the name.
    pub span: Span,
    /// The object that is meant; none when none has the name.
    pub target: Option<&'a Object>,
}

/// An object that may be named.
#[derive(Clone, Copy, Debug)]
pub struct NamedObject<'a>(pub &'a Object);

/// Every place that names an object: those of the services that were planned, and those of all
/// other objects.
pub fn namings<'a>(catalog: &'a Catalog, planned: &[Planned<'a>]) -> Vec<Naming<'a>> {
    let mut found = Vec::new();
    for planned in planned {
        of_service(catalog, planned, &mut found);
    }
    let mut add = |span: Option<Span>, target| {
        found.extend(span.map(|span| Naming { span, target }));
    };
    for runtime in catalog.all_runtimes() {
        for class in &runtime.accelerator_classes {
            let target = catalog.accelerator_class(&class.value);
            add(class.span(), target);
        }
    }
    for weight in catalog.fine_tuned_weights() {
        let Some((scope, name)) = weight.base() else { continue };
        let target = catalog.model(&scope, &name.value).map(|model| &model.object);
        add(name.span(), target);
    }
    // The field is read alike in both modes.
    for class in catalog.classes_by(crate::api::Semantics::Documented) {
        let Some(name) = &class.kueue_flavor else { continue };
        let target = catalog.flavor(&name.value).map(|flavor| &flavor.object);
        add(name.span(), target);
    }
    for local in catalog.local_queues() {
        let Some(name) = &local.cluster_queue else { continue };
        let target = catalog.cluster_queue(&name.value).map(|queue| &queue.object);
        add(name.span(), target);
    }
    for queue in catalog.cluster_queues() {
        for quotas in queue.flavors() {
            let target = catalog.flavor(&quotas.flavor.value).map(|flavor| &flavor.object);
            add(quotas.flavor.span(), target);
        }
    }
    // A component and its service may have read one name twice.
    found.sort_by_key(|naming| naming.span);
    // By place alone: one place names one object.
    found.dedup_by_key(|naming| naming.span);
    found
}

fn of_service<'a>(catalog: &'a Catalog, planned: &Planned<'a>, found: &mut Vec<Naming<'a>>) {
    let Some(service) = planned.read_in(catalog) else { return };
    let mut add = |span: Option<Span>, target| {
        found.extend(span.map(|span| Naming { span, target }));
    };
    if let Some(model) = &service.model {
        let target = planned.resolution.model.map(|model| &model.object);
        // The resolution has looked it up, in the right namespace.
        add(model.name.span(), target);
        for weight in &model.fine_tuned {
            let target = catalog.fine_tuned_weight(&weight.value).map(|weight| &weight.object);
            add(weight.span(), target);
        }
    }
    if let Some(runtime) = &service.runtime {
        let target = named(catalog.runtimes(service.object.api), service, &runtime.name.value);
        add(runtime.name.span(), target.map(|runtime| &runtime.object));
    }
    for class in &service.accelerator_classes {
        add(class.span(), catalog.accelerator_class(&class.value));
    }
    for config in of_specs(service.object.spec("baseRefs"), "name") {
        add(
            config.origin.span(),
            config.as_str().and_then(|name| catalog.llm_config(&service.namespace, name)),
        );
    }
    // A service in error has no pods that could ask a queue, and names it all the same.
    let named_by_pods = planned.components.iter().filter_map(|component| component.queue.as_ref());
    let named_by_pods = named_by_pods.map(|queue| queue.queue.clone());
    for queue in queue_label(&service.object.node).into_iter().chain(named_by_pods) {
        let target = catalog.local_queue(&service.namespace, &queue.value);
        add(queue.span(), target.map(|queue| &queue.object));
    }
}

/// A field of each element of a list.
fn of_specs<'n>(list: Option<&'n Node>, field: &'static str) -> impl Iterator<Item = &'n Node> {
    list.map(Node::items).unwrap_or_default().iter().filter_map(move |item| item.get(field))
}

/// Fields with a reference: group, kind, path without list indices, referenced kind. A path that
/// begins with a dot matches at any depth.
const FIELDS: &[(&str, &str, &str, Named)] = &[
    ("ome.io", "InferenceService", "spec.model.name", Named::Model),
    ("ome.io", "InferenceService", "spec.runtime.name", Named::Runtime),
    ("ome.io", "InferenceService", "spec.model.fineTunedWeights", Named::Weight),
    ("ome.io", "InferenceService", "spec.predictor.model.baseModel", Named::Model),
    ("ome.io", "InferenceService", "spec.predictor.model.runtime", Named::Runtime),
    ("ome.io", "InferenceService", ".acceleratorClass", Named::Class),
    (
        "ome.io",
        "InferenceService",
        "metadata.labels.kueue\\.x-k8s\\.io/queue-name",
        Named::LocalQueue,
    ),
    ("ome.io", "ServingRuntime", ".acceleratorClasses", Named::Class),
    ("ome.io", "ClusterServingRuntime", ".acceleratorClasses", Named::Class),
    ("ome.io", "FineTunedWeight", "spec.baseModelRef.name", Named::Model),
    ("ome.io", "AcceleratorClass", "spec.integration.kueueResourceFlavor", Named::Flavor),
    ("serving.kserve.io", "InferenceService", "spec.predictor.model.runtime", Named::Runtime),
    ("serving.kserve.io", "LLMInferenceService", "spec.baseRefs.name", Named::Config),
    (
        "serving.kserve.io",
        "LLMInferenceService",
        "metadata.labels.kueue\\.x-k8s\\.io/queue-name",
        Named::LocalQueue,
    ),
    (
        "serving.kserve.io",
        "InferenceService",
        "metadata.labels.kueue\\.x-k8s\\.io/queue-name",
        Named::LocalQueue,
    ),
    ("kueue.x-k8s.io", "LocalQueue", "spec.clusterQueue", Named::ClusterQueue),
    ("kueue.x-k8s.io", "ClusterQueue", "spec.resourceGroups.flavors.name", Named::Flavor),
];

/// Returns the kind that a field refers to.
pub fn field_names(schema: &Schema, path: &FieldPath) -> Option<Named> {
    // Indices of lists do not matter to the table.
    let fields = path.0.iter().filter(|step| matches!(step, crate::yaml::Segment::Field(_)));
    let plain = FieldPath(fields.cloned().collect()).to_string();
    let row = FIELDS.iter().find(|(group, kind, field, _)| {
        *group == schema.group()
            && *kind == schema.kind
            && if field.starts_with('.') { plain.ends_with(field) } else { plain == *field }
    })?;
    Some(row.3)
}

/// The names that an object of a group in a namespace may write, each with the object that has it;
/// built-in objects last.
pub fn names<'a>(
    catalog: &'a Catalog,
    wanted: Named,
    group: &str,
    namespace: &str,
) -> Vec<NamedObject<'a>> {
    let objects: Vec<&'a Object> = match wanted {
        Named::Runtime => catalog
            .all_runtimes()
            .map(|runtime| &runtime.object)
            .filter(|object| object.api_version.split('/').next() == Some(group))
            .collect(),
        Named::Model => catalog.models().map(|model| &model.object).collect(),
        Named::Weight => catalog.fine_tuned_weights().map(|weight| &weight.object).collect(),
        Named::Class => catalog.accelerator_classes().collect(),
        Named::LocalQueue => catalog.local_queues().map(|queue| &queue.object).collect(),
        Named::ClusterQueue => catalog.cluster_queues().map(|queue| &queue.object).collect(),
        Named::Flavor => catalog.flavors().map(|flavor| &flavor.object).collect(),
        Named::Config => {
            catalog.others().iter().filter(|object| object.id.kind == LLM_CONFIG).collect()
        }
    };
    // Those that the controller ships are in its own namespace.
    let system = (wanted == Named::Config).then(|| catalog.config().presets_namespace());
    let is_seen = |object: &&Object| match &object.id.scope {
        Scope::Cluster => true,
        Scope::Namespace(scope) => scope == namespace || system == Some(scope),
    };
    let mut seen: Vec<&Object> = objects.into_iter().filter(is_seen).collect();
    // An object of the input hides the built-in one of its name.
    let key = |object: &&Object| (object.builtin, object.id.name.clone());
    seen.sort_by_key(key);
    seen.dedup_by(|a, b| a.id.name == b.id.name);
    seen.into_iter().map(NamedObject).collect()
}

impl NamedObject<'_> {
    /// The name as it is written.
    pub fn name(&self) -> &EcoString {
        &self.0.id.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::world_of;
    use crate::pipeline::{Depth, Planner};

    const SERVICE: &str = "
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceServiceConfig
metadata: {name: kserve-config-llm-template, namespace: kserve}
spec: {template: {containers: [{name: main, image: x}]}}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: own, namespace: chat}
spec: {replicas: 2}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: foreign, namespace: other}
spec: {replicas: 2}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: s, namespace: chat}
spec:
  model: {uri: 'hf://a/b'}
  baseRefs: [{name: own}, {name: kserve-config-llm-template}]
";

    #[test]
    fn configurations_of_the_namespace_and_shipped_ones_can_be_named() {
        let world = world_of(SERVICE);
        let schema = crate::schema::kind("serving.kserve.io/v1alpha2", "LLMInferenceService");
        let path = FieldPath::parse("spec.baseRefs[*].name").unwrap();
        let wanted = field_names(schema.unwrap(), &path).unwrap();
        let found = names(&world.catalog, wanted, "serving.kserve.io", "chat");
        let found: Vec<&str> = found.iter().map(|object| object.name().as_str()).collect();
        assert_eq!(found, ["kserve-config-llm-template", "own"]);
    }

    /// A service in error has no decisions; its references lead somewhere all the same.
    #[test]
    fn a_base_reference_of_a_service_in_error_leads_to_its_configuration() {
        let world = world_of(&SERVICE.replace("{name: own}", "{name: own}, {name: absent}"));
        let services: Vec<_> = world.catalog.services().collect();
        let planned = Planner::new(&world.catalog).plan_all(&services, Depth::Plan);
        assert!(planned[0].error.is_some() && planned[0].resolution.configs.is_empty());
        let found = namings(&world.catalog, &planned);
        let found: Vec<Option<&str>> = found
            .iter()
            .map(|naming| naming.target.map(|target| target.id.name.as_str()))
            .collect();
        assert_eq!(found, [Some("own"), None, Some("kserve-config-llm-template")]);
    }

    #[test]
    fn a_base_reference_leads_to_its_configuration() {
        let world = world_of(SERVICE);
        let services: Vec<_> = world.catalog.services().collect();
        let planned = Planner::new(&world.catalog).plan_all(&services, Depth::Plan);
        let found = namings(&world.catalog, &planned);
        let found: Vec<&str> =
            found.iter().filter_map(|naming| Some(naming.target?.id.name.as_str())).collect();
        assert_eq!(found, ["own", "kserve-config-llm-template"]);
    }
}
