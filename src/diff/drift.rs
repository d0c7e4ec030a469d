//! Compares a cluster with the objects that the operator would write now.
//!
//! In: a renderer for the input, services, and the objects of a dump. Out: objects that are
//! missing, left over or changed, by group of services with the same difference. A field counts if
//! the operator writes it, whoever owns it now, or would remove it (`added`). What the server or
//! another controller writes does not count, and neither does the size of a workload that an
//! autoscaler sizes, within its limits.

use super::added;
pub use super::drift_field::DriftField;
use super::ignored::Ignored;
use crate::api::{Failure, Object, ObjectRef, Service, Views};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic};
use crate::diff::Action;
use crate::objects::RenderedObject;
use crate::pipeline::Recorder;
use crate::pipeline::built::identity;
use crate::pipeline::render::Renderer;
use crate::pipeline::why::{Layer, Layers};
use crate::schema;
use crate::secret::Place;
use crate::tree::differences;
use crate::yaml::{FieldPath, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// An object that differs from what the operator would write.
#[derive(Clone, Debug)]
pub struct DriftObject {
    /// The object.
    pub id: ObjectRef,
    /// What the operator would do.
    pub action: Action,
    /// The differing fields, if the object exists.
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

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Drift {
    /// Services that were compared.
    pub services: usize,
    /// Groups, the largest first.
    pub groups: Vec<DriftGroup>,
    /// Services in error, which cannot be compared.
    pub failed: Vec<(EcoString, Failure)>,
    /// Findings.
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

/// Kind, API group, namespace and name: the identity of an object in a cluster.
type Key = (EcoString, EcoString, EcoString, EcoString);

fn key(node: &Node) -> Key {
    let text = |path: &[&str]| node.at(path).and_then(Node::scalar_text).unwrap_or_default();
    let version = text(&["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    (text(&["kind"]), group.into(), text(&["metadata", "namespace"]), text(&["metadata", "name"]))
}

/// The objects of a dump.
struct Live<'a> {
    by_key: HashMap<Key, &'a Object>,
    /// The objects that operators wrote for services, by namespace and name of the service.
    of_services: HashMap<(EcoString, EcoString), Vec<&'a Object>>,
}

impl<'a> Live<'a> {
    fn new(objects: &'a [Object]) -> Self {
        let mut of_services: HashMap<_, Vec<&Object>> = HashMap::new();
        for object in objects {
            for service in written_for(object) {
                of_services.entry(service).or_default().push(object);
            }
        }
        Self {
            by_key: objects.iter().map(|object| (key(&object.node), object)).collect(),
            of_services,
        }
    }

    /// The objects that were written for a service.
    fn of(&self, service: &Service) -> impl Iterator<Item = &'a Object> {
        let key = (service.namespace.clone(), service.name().clone());
        self.of_services.get(&key).into_iter().flatten().copied()
    }
}

fn left_over(id: ObjectRef) -> DriftObject {
    DriftObject { id, action: Action::Delete, fields: Vec::new() }
}

/// Adds the difference of a service to the group with the same difference.
fn join(
    groups: &mut BTreeMap<String, DriftGroup>,
    service: &Service,
    mut objects: Vec<DriftObject>,
) {
    if objects.is_empty() {
        return;
    }
    // In one order, so that equal differences have equal signatures.
    objects.sort_by(|one, other| one.id.cmp(&other.id));
    let same = signature(&objects, service);
    let group = groups.entry(same).or_insert_with(|| DriftGroup { services: Vec::new(), objects });
    group.services.push(eco_format!("{}/{}", service.namespace, service.name()));
}

/// Compares services with a dump. All objects of services in `gone` are left over.
pub(crate) fn drift<'a>(
    catalog: &'a Catalog,
    renderer: &Renderer<'a>,
    services: &[&'a Views],
    gone: &[&Service],
    live: &[Object],
    ignored: Ignored<'_>,
) -> Drift {
    let mut found = Drift { services: services.len() + gone.len(), ..Drift::default() };
    let live = Live::new(live);
    let layers = Layers::new(catalog);
    let mut groups: BTreeMap<String, DriftGroup> = BTreeMap::new();
    for views in services {
        let rendered = renderer.render(views, &mut Recorder::off());
        let service = rendered.service;
        let name = eco_format!("{}/{}", service.namespace, service.name());
        let refusal = rendered.refusal();
        // A rejection by the API server is not a difference to the running object.
        let findings = rendered.diagnostics.into_iter();
        found.diagnostics.extend(findings.filter(|found| found.code != Code::ServerRefuses));
        if let Some(error) = refusal {
            found.failed.push((name, error));
            continue;
        }
        let objects = compare(service, &rendered.objects, &live, &layers, ignored);
        join(&mut groups, service, objects);
    }
    for service in gone {
        let std = std::iter::once(service.object.id.clone());
        let objects = std.chain(live.of(service).map(|object| object.id.clone())).map(left_over);
        join(&mut groups, service, objects.collect());
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

/// The text that services with the same difference have in common.
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
    // Objects are named after their service; else no two services would be in one group.
    text.replace(service.name().as_str(), "*").replace(&format!("/{}/", service.namespace), "/*/")
}

fn compare(
    service: &Service,
    rendered: &[RenderedObject],
    live: &Live<'_>,
    layers: &Layers<'_>,
    ignored: Ignored<'_>,
) -> Vec<DriftObject> {
    let mut objects = Vec::new();
    let sized = sized(rendered);
    let mut written: BTreeSet<Key> = BTreeSet::new();
    for object in rendered {
        let node = &object.node;
        let key = key(node);
        let id = identity(node);
        written.insert(key.clone());
        // Found by kind and name alone: another tool may have removed the labels.
        let Some(there) = live.by_key.get(&key) else {
            objects.push(DriftObject { id, action: Action::Create, fields: Vec::new() });
            continue;
        };
        let version = node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        let ty = schema::kind(version, &id.kind).map(schema::Schema::root);
        let mut fields = differences(&there.node, node, ty);
        fields.retain(|change| {
            let path = change.path.to_string();
            // Another API version is the same object, and an autoscaler controls `replicas`.
            path != "apiVersion" && !(path == "spec.replicas" && sized.contains_key(&id.name))
        });
        let mut fields: Vec<DriftField> = fields
            .into_iter()
            .map(|change| {
                // The layer that sets the value is where to look for the change.
                let layer = change.to.as_ref().map(|node| layers.of(leaf(node).origin));
                DriftField::of(change, Some(layer.unwrap_or(Layer::Default)), None)
            })
            .collect();
        let added = added::fields(&there.node, node).into_iter();
        fields.extend(added.map(|added| DriftField::of(added.change, None, added.manager)));
        fields.extend(sized.get(&id.name).and_then(|limits| out_of_range(&there.node, *limits)));
        // Last, when every kind of difference is there.
        fields.retain(|field| !ignored.has(field));
        fields.sort_by(|one, other| one.path.cmp(&other.path));
        if !fields.is_empty() {
            objects.push(DriftObject { id, action: Action::Update, fields });
        }
    }
    let left = live.of(service).filter(|object| !written.contains(&key(&object.node)));
    objects.extend(left.map(|object| left_over(object.id.clone())));
    objects
}

/// The first leaf of a value; its source represents the whole value.
fn leaf(node: &Node) -> &Node {
    match &node.value {
        Value::Map(map) => map.iter().next().map_or(node, |entry| leaf(&entry.node)),
        Value::List(_) => node.items().first().map_or(node, leaf),
        _ => node,
    }
}

/// The number of replicas that an autoscaler does not leave: none if it stops at 0, and the most.
#[derive(Clone, Copy, Debug)]
struct Limits {
    stops_at_zero: bool,
    most: Option<i64>,
}

/// Workloads that an autoscaler sizes, by name.
fn sized(rendered: &[RenderedObject]) -> BTreeMap<EcoString, Limits> {
    let limits = |object: &RenderedObject| {
        let node = &object.node;
        let number = |key: &str| node.at(&["spec", key]).and_then(Node::as_int);
        let limits = match node.get("kind").and_then(Node::as_str)? {
            // 0 switches it off (pkg/controller/podautoscaler/horizontal.go, `reconcileAutoscaler`).
            "HorizontalPodAutoscaler" => {
                Limits { stops_at_zero: true, most: number("maxReplicas") }
            }
            "ScaledObject" => Limits { stops_at_zero: false, most: number("maxReplicaCount") },
            _ => return None,
        };
        Some((node.at(&["spec", "scaleTargetRef", "name"])?.scalar_text()?, limits))
    };
    rendered.iter().filter_map(limits).collect()
}

/// A number of replicas that the autoscaler would not set.
fn out_of_range(live: &Node, limits: Limits) -> Option<DriftField> {
    static AUTOSCALER: Rule = Rule {
        id: "autoscaler-limits",
        text: "the autoscaler keeps the replicas within its limits",
        cite: "Kubernetes documentation, Horizontal Pod Autoscaling",
    };
    let from = live.at(&["spec", "replicas"])?;
    let replicas = from.as_int()?;
    let to = match limits {
        // The autoscaler leaves a workload alone that was set to 0 by hand.
        Limits { stops_at_zero: true, .. } if replicas == 0 => 1,
        Limits { most: Some(most), .. } if replicas > most => most,
        _ => return None,
    };
    Some(DriftField {
        path: FieldPath::root().field("spec").field("replicas"),
        to: Some(Node::new(Value::Int(to), Origin::Derived(&AUTOSCALER))),
        from: Some(from.clone()),
        layer: Some(Layer::Default),
        manager: None,
        shown: [Place::default(); 2],
    })
}

/// Whether objects are of a cluster: the server gave one an identity, or an operator wrote one.
pub(crate) fn is_dump(objects: &[Object]) -> bool {
    let mut all = objects.iter();
    all.any(|object| object.metadata("uid").is_some() || !written_for(object).is_empty())
}

/// The services that an operator wrote an object for, by namespace and name: its owners or, if it
/// has none, the services that its labels name and whose objects are named so.
fn written_for(object: &Object) -> Vec<(EcoString, EcoString)> {
    let namespace = object.id.scope.namespace();
    let Some(namespace) = namespace.filter(|_| WRITTEN.contains(&object.id.kind.as_str())) else {
        return Vec::new();
    };
    let owners = object.metadata("ownerReferences").map(Node::items).unwrap_or_default();
    // Labels can be copied to objects of others, as to a Service that a hand wrote to reach the pods;
    // owners are set by the controller.
    let mut names: Vec<EcoString> = if owners.is_empty() {
        let labels = object.labels();
        let named = LABELS.iter().filter_map(|label| labels.get(label)?.scalar_text());
        named.filter(|service| is_named_for(&object.id.name, service)).collect()
    } else {
        let text = |owner: &Node, key: &str| owner.get(key).and_then(Node::scalar_text);
        let owners = owners.iter();
        let services =
            owners.filter(|owner| text(owner, "kind").as_deref() == Some("InferenceService"));
        services.filter_map(|owner| text(owner, "name")).collect()
    };
    names.sort();
    names.dedup();
    names.into_iter().map(|name| (namespace.clone(), name)).collect()
}

/// Whether operators give an object of a service this name: the service's, or with its components behind
/// it.
fn is_named_for(name: &str, service: &str) -> bool {
    const PARTS: [&str; 14] = [
        "predictor",
        "transformer",
        "explainer",
        "engine",
        "decoder",
        "router",
        "default",
        "worker",
        "head",
        "mn",
        "raycluster",
        "canary",
        "latest",
        "prev",
    ];
    let name = name.strip_prefix("modelconfig-").unwrap_or(name);
    let is_part = |part: &str| PARTS.contains(&part) || part.parse::<u32>().is_ok();
    let rest = name.strip_prefix(service);
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|rest| rest.split('-').all(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_a_copied_label_is_no_ones() {
        for (name, owners, expected) in [
            ("chat-predictor", "", true),
            ("chat", "", true),
            ("chat-predictor-default", "", true),
            ("modelconfig-chat-0", "", true),
            ("chat-public", "", false),
            ("chat-predictor-lb", "", false),
            ("gateway", "", false),
            ("chat-", "", false),
            (
                "gateway",
                ", ownerReferences: [{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, name: chat, uid: u}]",
                true,
            ),
        ] {
            let text = format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: ml, labels: {{serving.kserve.io/inferenceservice: chat}}{owners}}}}}"
            );
            let node = crate::testing::node(&text);
            let api = (crate::api::Api::Cluster, "v1");
            let object = crate::testing::object(api, "Service", (Some("ml"), name), node);
            assert_eq!(written_for(&object).len(), usize::from(expected), "{name}");
        }
    }

    #[test]
    fn replicas_are_drift_only_outside_of_what_the_autoscaler_sets() {
        let hpa = |most| Limits { stops_at_zero: true, most };
        let keda = |most| Limits { stops_at_zero: false, most };
        for (replicas, limits, expected) in [
            ("3", hpa(Some(5)), None),
            ("5", hpa(Some(5)), None),
            ("6", hpa(Some(5)), Some(5)),
            ("0", hpa(Some(5)), Some(1)),
            ("0", keda(Some(5)), None),
            ("9", keda(Some(5)), Some(5)),
            ("9", hpa(None), None),
            ("x", hpa(Some(5)), None),
        ] {
            let live = crate::testing::node(&format!("{{spec: {{replicas: {replicas}}}}}"));
            let found = out_of_range(&live, limits);
            let to = found.and_then(|field| field.to?.as_int());
            assert_eq!(to, expected, "{replicas}");
        }
        assert!(out_of_range(&crate::testing::node("{spec: {}}"), hpa(Some(1))).is_none());
    }
}
