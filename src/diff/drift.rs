//! What the operator would write now against what is in the cluster.
//!
//! In: a renderer over the input, services, and the objects of a dump. Out: by group of services
//! with the same difference, objects that are missing, left over or changed. A field counts when the
//! operator writes it, whoever owns it now: what only the server or others write does not, nor does
//! the size of what an autoscaler sizes.

use crate::api::{Failure, Object, ObjectRef, Service};
use crate::catalog::{Catalog, Views};
use crate::diag::Diagnostic;
use crate::diff::{Action, Change, tree};
use crate::objects::RenderedObject;
use crate::pipeline::render::{Renderer, identity};
use crate::pipeline::why::{Layer, Layers};
use crate::schema;
use crate::secret::Place;
use crate::yaml::{FieldPath, Node, Value};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// A field that is not as the operator would write it.
#[derive(Clone, Debug)]
pub struct DriftField {
    /// The field.
    pub path: FieldPath,
    /// Its value in the cluster.
    pub from: Option<Node>,
    /// What the operator would write.
    pub to: Option<Node>,
    /// Who says so.
    pub layer: Layer,
    /// What may be shown of the values.
    pub shown: [Place; 2],
}

/// An object that is not as the operator would write it.
#[derive(Clone, Debug)]
pub struct DriftObject {
    /// The object.
    pub id: ObjectRef,
    /// What the operator would do.
    pub action: Action,
    /// The fields, of one that is there.
    pub fields: Vec<DriftField>,
}

/// Services with the same difference.
#[derive(Clone, Debug)]
pub struct DriftGroup {
    /// `namespace/name`, sorted.
    pub services: Vec<EcoString>,
    /// The objects of the first of them.
    pub objects: Vec<DriftObject>,
}

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct Drift {
    /// Services that were compared.
    pub services: usize,
    /// Groups, the largest first.
    pub groups: Vec<DriftGroup>,
    /// Services that are in error, of which nothing is known.
    pub failed: Vec<(EcoString, Failure)>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// Kinds that operators write for a service.
const WRITTEN: [&str; 18] = [
    "ConfigMap",
    "Deployment",
    "DestinationRule",
    "Gateway",
    "HTTPRoute",
    "HorizontalPodAutoscaler",
    "Ingress",
    "LeaderWorkerSet",
    "OpenTelemetryCollector",
    "PodDisruptionBudget",
    "RayCluster",
    "Role",
    "RoleBinding",
    "ScaledObject",
    "Service",
    "ServiceAccount",
    "TriggerAuthentication",
    "VirtualService",
];
/// Labels that name the service of an object.
const LABELS: [&str; 2] = ["ome.io/inferenceservice", "serving.kserve.io/inferenceservice"];

/// Kind, group of the API, namespace and name: what an object is to a cluster.
type Key = (EcoString, EcoString, EcoString, EcoString);

fn key(node: &Node) -> Key {
    let text = |path: &[&str]| node.at(path).and_then(Node::scalar_text).unwrap_or_default();
    let version = text(&["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    (text(&["kind"]), group.into(), text(&["metadata", "namespace"]), text(&["metadata", "name"]))
}

/// Compares services with a dump.
pub(crate) fn drift<'a>(
    catalog: &'a Catalog,
    renderer: &Renderer<'a>,
    services: &[&'a Views],
    live: &[Object],
) -> Drift {
    let mut found = Drift { services: services.len(), ..Drift::default() };
    let by_key: HashMap<Key, &Object> = live.iter().map(|own| (key(&own.node), own)).collect();
    let layers = Layers::new(catalog);
    let mut groups: BTreeMap<String, DriftGroup> = BTreeMap::new();
    for views in services {
        let rendered = renderer.render(views, &mut ());
        let service = rendered.service;
        let name = eco_format!("{}/{}", service.namespace, service.name());
        found.diagnostics.extend(rendered.diagnostics);
        if let Some(error) = rendered.error {
            found.failed.push((name, error));
            continue;
        }
        let objects = compare(service, &rendered.objects, live, &by_key, &layers);
        if objects.is_empty() {
            continue;
        }
        let same = signature(&objects, service);
        let group =
            groups.entry(same).or_insert_with(|| DriftGroup { services: Vec::new(), objects });
        group.services.push(name);
    }
    found.groups = groups.into_values().collect();
    for group in &mut found.groups {
        group.services.sort();
    }
    found.groups.sort_by(|one, other| {
        let size = other.services.len().cmp(&one.services.len());
        size.then_with(|| one.services.cmp(&other.services))
    });
    found
}

/// What two services with the same difference share.
fn signature(objects: &[DriftObject], service: &Service) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    for object in objects {
        let _ = write!(text, "{} {} ", object.action.as_str(), object.id);
        for field in &object.fields {
            let value = |node: &Option<Node>| node.as_ref().map(Node::to_json).unwrap_or_default();
            let _ = write!(text, "{} {} {} ", field.path, value(&field.from), value(&field.to));
        }
    }
    text.replace(service.name().as_str(), "*").replace(&format!("/{}/", service.namespace), "/*/")
}

fn compare(
    service: &Service,
    rendered: &[RenderedObject],
    live: &[Object],
    by_key: &HashMap<Key, &Object>,
    layers: &Layers<'_>,
) -> Vec<DriftObject> {
    let mut objects = Vec::new();
    let sized = sized(rendered);
    let mut written: BTreeSet<Key> = BTreeSet::new();
    for object in rendered {
        let node = &object.node;
        let own = key(node);
        let id = identity(node);
        written.insert(own.clone());
        let Some(there) = by_key.get(&own) else {
            objects.push(DriftObject { id, action: Action::Create, fields: Vec::new() });
            continue;
        };
        let version = node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        let ty = schema::kind(version, &id.kind).map(schema::Schema::root);
        let mut fields = differences(&there.node, node, ty);
        fields.retain(|change| {
            let path = change.path.to_string();
            // Another version of the API is the same object, and an autoscaler's size is its own.
            path != "apiVersion" && !(path == "spec.replicas" && sized.contains(&id.name))
        });
        if !fields.is_empty() {
            let fields = fields.into_iter().map(|change| DriftField {
                layer: change
                    .to
                    .as_ref()
                    .map_or(Layer::Default, |node| layers.of(leaf(node).origin)),
                path: change.path,
                from: change.from,
                to: change.to,
                shown: change.shown,
            });
            objects.push(DriftObject { id, action: Action::Update, fields: fields.collect() });
        }
    }
    let left = live
        .iter()
        .filter(|object| belongs(object, service) && !written.contains(&key(&object.node)));
    objects.extend(left.map(|object| DriftObject {
        id: object.id.clone(),
        action: Action::Delete,
        fields: Vec::new(),
    }));
    objects.sort_by(|one, other| one.id.cmp(&other.id));
    objects
}

/// The first leaf of a value: who wrote it stands for the whole.
fn leaf(node: &Node) -> &Node {
    match &node.value {
        Value::Map(map) => map.iter().next().map_or(node, |entry| leaf(&entry.node)),
        Value::List(_) => node.items().first().map_or(node, leaf),
        _ => node,
    }
}

/// Names of workloads that an autoscaler sizes.
fn sized(rendered: &[RenderedObject]) -> BTreeSet<EcoString> {
    let scalers = rendered.iter().filter(|object| {
        let kind = object.node.get("kind").and_then(Node::as_str);
        matches!(kind, Some("HorizontalPodAutoscaler" | "ScaledObject"))
    });
    scalers
        .filter_map(|object| object.node.at(&["spec", "scaleTargetRef", "name"])?.scalar_text())
        .collect()
}

/// Whether an object was written for a service by its operator.
fn belongs(object: &Object, service: &Service) -> bool {
    if object.id.scope.namespace() != Some(&service.namespace)
        || !WRITTEN.contains(&object.id.kind.as_str())
    {
        return false;
    }
    let owners = object.metadata("ownerReferences").map(Node::items).unwrap_or_default();
    if !owners.is_empty() {
        let text = |owner: &Node, key: &str| owner.get(key).and_then(Node::scalar_text);
        return owners.iter().any(|owner| {
            text(owner, "kind").as_deref() == Some("InferenceService")
                && text(owner, "name").as_ref() == Some(service.name())
        });
    }
    let labels = object.labels();
    LABELS
        .iter()
        .any(|label| labels.get(label).and_then(Node::scalar_text).as_ref() == Some(service.name()))
}

/// The fields of `wanted` that are not so in `live`: what `live` has beyond them does not count, nor
/// does what is written and says nothing, nor the order of elements that have names.
fn differences(live: &Node, wanted: &Node, ty: Option<&'static schema::Type>) -> Vec<Change> {
    let mut found = tree::changes(live, wanted, ty);
    found.retain(|change| match (&change.from, &change.to) {
        (_, None) => false,
        (None, Some(to)) => !says_nothing(to),
        (Some(from), Some(to)) => {
            !(is_names(from) && is_names(to) && names_maps(wanted, &change.path))
        }
    });
    found
}

/// Whether everything that a tree says is so in another one.
pub(crate) fn covers(wanted: &Node, live: &Node) -> bool {
    differences(live, wanted, schema::structure("PodSpec")).is_empty()
}

fn says_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().all(|entry| says_nothing(&entry.node)),
        Value::List(_) => node.items().is_empty(),
        Value::Null => true,
        Value::Str(text) => text.is_empty(),
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Float(_) | Value::Big(_) => false,
    }
}

fn is_names(node: &Node) -> bool {
    matches!(node.value, Value::List(_)) && node.items().iter().all(|item| item.as_str().is_some())
}

/// Whether a path leads to a list of mappings: a change of names there is one of their order.
fn names_maps(object: &Node, path: &FieldPath) -> bool {
    object
        .select(path)
        .first()
        .is_some_and(|list| list.items().first().is_some_and(|item| item.as_map().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;
    use crate::yaml::{Limits, parse};

    fn node(text: &str) -> Node {
        parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.expect("a tree")
    }

    #[test]
    fn only_what_is_written_and_is_otherwise_differs() {
        for (live, wanted, differs) in [
            // Others write more, and the server its defaults.
            (
                "{hostNetwork: true, containers: [{name: a, image: x, imagePullPolicy: Always}]}",
                "{containers: [{name: a, image: x}]}",
                false,
            ),
            (
                "{containers: [{name: a, image: x}, {name: mesh}]}",
                "{containers: [{name: a, image: x}]}",
                false,
            ),
            ("{containers: [{name: a, image: y}]}", "{containers: [{name: a, image: x}]}", true),
            ("{containers: []}", "{containers: [{name: a, image: x}]}", true),
            // The same amount, and another order of what has names.
            (
                "{containers: [{name: a, resources: {limits: {cpu: 1000m}}}]}",
                "{containers: [{name: a, resources: {limits: {cpu: '1'}}}]}",
                false,
            ),
            (
                "{containers: [{name: a, env: [{name: B}, {name: A}]}]}",
                "{containers: [{name: a, env: [{name: A}, {name: B}]}]}",
                false,
            ),
            // An order that means something.
            (
                "{containers: [{name: a, args: [x, y]}]}",
                "{containers: [{name: a, args: [y, x]}]}",
                true,
            ),
            // What says nothing.
            ("{}", "{securityContext: {}, hostNetwork: false, volumes: []}", false),
            ("{}", "{hostNetwork: true}", true),
        ] {
            assert_eq!(!covers(&node(wanted), &node(live)), differs, "{live} against {wanted}");
        }
    }
}
