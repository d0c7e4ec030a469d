//! Pods of a ServingGroup, and the headless Services in front of them.

use super::plugins::{Chain, Place, Pod};
use super::{Expanded, Replaced, names, rules};
use crate::api::{ModelServing, PodTemplate, Role};
use crate::objects::build::{IntoNode, mapping, node};
use crate::operators::kthena::rules::KthenaRelease;
use crate::schema::{self, Library};
use crate::yaml::{Entry, FieldPath, Map, Node, Origin};
use ecow::{EcoString, eco_format};

/// Variables that the controller writes, in order.
const INJECTED: [&str; 3] = ["GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX"];

/// A role with the parts that all its pods share.
pub(super) struct Prepared<'a> {
    role: &'a Role,
    hash: EcoString,
    entry: Base,
    worker: Option<Base>,
}

/// A pod spec before anything that differs between its pods.
#[derive(Clone)]
struct Base {
    spec: Node,
    replaced: Replaced,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(serving: &ModelServing, role: &'a Role, policy: &KthenaRelease) -> Self {
        Self {
            role,
            hash: super::revision::of_role(&role.node, policy.role_struct),
            entry: base(serving, &role.entry),
            worker: role.worker.as_ref().map(|worker| base(serving, worker)),
        }
    }
}

/// The pod spec as the controller's Go struct prints it, with the scheduler of the ModelServing.
fn base(serving: &ModelServing, template: &PodTemplate) -> Base {
    let ty = schema::kind(super::API_VERSION, "ModelServing");
    let ty = ty.and_then(|schema| {
        schema.root().at(&["spec", "template", "roles", "entryTemplate", "spec"])
    });
    let mut spec = ty
        .and_then(|ty| schema::marshal(&template.spec, ty, Library::V0_34).ok())
        .unwrap_or_else(|| template.spec.clone());
    let mut replaced = Replaced::default();
    if let Some(map) = spec.as_map_mut() {
        replaced.put(map, &["spec"], "schedulerName", &serving.scheduler.value, &rules::SCHEDULER);
    }
    Base { spec, replaced }
}

/// The parts that all pods of a ModelServing share.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    pub(super) revision: &'a EcoString,
    pub(super) chain: &'a Chain<'a>,
    /// Pods join a PodGroup.
    pub(super) gang: bool,
    pub(super) policy: &'a KthenaRelease,
}

/// All pods of one role replica: the entry, then its workers.
pub(super) fn pods(
    serving: &ModelServing,
    prepared: &Prepared<'_>,
    common: Common<'_>,
    group: i64,
    ordinal: i64,
) -> Vec<Expanded> {
    let role = prepared.role;
    let mut worker_base = prepared.worker.clone();
    let mut found = Vec::new();
    for index in 0..role.size() {
        let (template, base) = match index {
            0 => (&role.entry, prepared.entry.clone()),
            _ => match (&role.worker, &worker_base) {
                (Some(template), Some(base)) => (template, base.clone()),
                _ => break,
            },
        };
        let created =
            create(serving, prepared, template, base, Identity { common, group, ordinal, index });
        // Quirk: workers of one role replica share the containers of the template, so the next
        // worker has what a plugin added to the previous one
        // (pkg/model-serving-controller/plugins).
        if index > 0 && common.policy.plugin_env_repeats {
            worker_base =
                Some(Base { spec: created.spec.clone(), replaced: created.replaced.clone() });
        }
        found.push(tree(serving, created, prepared, group, ordinal, index));
    }
    found
}

#[derive(Clone, Copy)]
struct Identity<'a> {
    common: Common<'a>,
    group: i64,
    ordinal: i64,
    index: i64,
}

fn create(
    serving: &ModelServing,
    prepared: &Prepared<'_>,
    template: &PodTemplate,
    base: Base,
    id: Identity<'_>,
) -> Pod {
    let role = &prepared.role.name.value;
    let (group, role_id) =
        (names::group(serving.name(), id.group), names::role_id(role, id.ordinal));
    let Base { mut spec, mut replaced } = base;
    // Filled for each of up to 200,000 pods: the capacity saves growing it.
    let mut labels = Map::with_capacity(8 + template.labels.len());
    let mut annotations = template.annotations.clone();
    let variables = [
        (names::NAME, serving.name()),
        (names::GROUP, &group),
        (names::ROLE, role),
        (names::ROLE_ID, &role_id),
        (names::REVISION, id.common.revision),
        (names::ROLE_HASH, &prepared.hash),
    ];
    for (key, value) in variables {
        put(&mut labels, key, value.clone());
    }
    if id.index == 0 {
        put(&mut labels, crate::api::serving_names::ENTRY, "true".into());
    }
    // The template's labels win over those of the controller.
    for entry in &template.labels {
        replaced.put_entry(&mut labels, &["metadata", "labels"], entry.clone());
    }
    let size = prepared.role.size();
    let address = eco_format!("{}.{}", names::pod(&group, &role_id, 0), serving.namespace);
    // Before the plugins, as in the controller: theirs come behind.
    inject(&mut spec, [eco_format!("{size}"), address, eco_format!("{}", id.index)], &mut replaced);
    if id.common.gang {
        for (key, value) in [(names::GROUP_ANNOTATION, group), (names::TASK_ANNOTATION, role_id)] {
            replaced.put(
                &mut annotations,
                &["metadata", "annotations"],
                key,
                value,
                &rules::GANG_POD,
            );
        }
    }
    let mut pod = Pod { labels, annotations, spec, replaced };
    id.common.chain.apply(serving, Place { group: id.group, role, index: id.index }, &mut pod);
    pod
}

/// Adds a label that is not there yet.
fn put(labels: &mut Map, key: &'static str, value: EcoString) {
    let origin = Origin::Derived(&rules::POD);
    labels.push(Entry {
        key: EcoString::from(key),
        key_origin: origin,
        node: Node::str(value, origin),
    });
}

/// Appends the three variables to every container, and removes variables of the user with their
/// names.
fn inject(spec: &mut Node, values: [EcoString; 3], replaced: &mut Replaced) {
    let rule = &rules::ENVIRONMENT;
    let added: Vec<Node> = INJECTED
        .into_iter()
        .zip(values)
        .map(|(name, value)| {
            mapping([("name", name.into_node(rule)), ("value", value.into_node(rule))], rule)
        })
        .collect();
    let Some(spec) = spec.as_map_mut() else { return };
    for key in ["initContainers", "containers"] {
        let Some(containers) = spec.get_mut(key).and_then(Node::as_list_mut) else { continue };
        for (position, container) in containers.make_mut().iter_mut().enumerate() {
            let Some(map) = container.as_map_mut() else { continue };
            let env = map.get("env").map_or(&[][..], Node::items);
            let injected = |entry: &Node| {
                entry
                    .get("name")
                    .and_then(Node::as_str)
                    .and_then(|name| INJECTED.iter().position(|other| *other == name))
            };
            let kept: Vec<&Node> = env.iter().filter(|entry| injected(entry).is_none()).collect();
            // Variables that the controller added for earlier workers are not reported as lost.
            let given = env.iter().filter(|entry| !matches!(entry.origin, Origin::Derived(_)));
            for (entry, place) in given.filter_map(|entry| Some((entry, injected(entry)?))) {
                if let Some(value) = entry.get("value") {
                    let list =
                        FieldPath::root().field("spec").field(key).index(position).field("env");
                    replaced.note(list.index(kept.len() + place).field("value"), value);
                }
            }
            let env = Node::list(kept.into_iter().chain(&added).cloned(), Origin::Derived(rule));
            map.insert_entry(Entry {
                key: "env".into(),
                key_origin: Origin::Derived(rule),
                node: env,
            });
        }
    }
}

fn tree(
    serving: &ModelServing,
    pod: Pod,
    prepared: &Prepared<'_>,
    group: i64,
    ordinal: i64,
    index: i64,
) -> Expanded {
    let rule = &rules::POD;
    let Pod { mut labels, mut annotations, spec, replaced } = pod;
    labels.sort();
    annotations.sort();
    let name = names::pod(
        &names::group(serving.name(), group),
        &names::role_id(&prepared.role.name.value, ordinal),
        index,
    );
    let node = node!(rule; {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: (name), namespace: (&serving.namespace), labels: (labels), annotations: (annotations) },
        spec: (spec),
    });
    Expanded { node: node.unwrap_or_else(|| Node::map(Origin::Derived(rule))), replaced }
}

/// The headless Service of one role replica.
pub(super) fn service(serving: &ModelServing, role: &Role, group: i64, ordinal: i64) -> Node {
    let rule = &rules::SERVICE;
    let (group, role_id) =
        (names::group(serving.name(), group), names::role_id(&role.name.value, ordinal));
    node!(rule; {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
            name: (names::pod(&group, &role_id, 0)),
            namespace: (&serving.namespace),
            labels: {
                "modelserving.volcano.sh/group-name": (&group),
                "modelserving.volcano.sh/name": (serving.name()),
                "modelserving.volcano.sh/role": (&role.name.value),
                "modelserving.volcano.sh/role-id": (&role_id),
            },
        },
        spec: {
            clusterIP: "None",
            publishNotReadyAddresses: true,
            selector: {
                "modelserving.volcano.sh/entry": "true",
                "modelserving.volcano.sh/group-name": (&group),
                "modelserving.volcano.sh/role": (&role.name.value),
                "modelserving.volcano.sh/role-id": (&role_id),
            },
        },
    })
    .unwrap_or_else(|| Node::map(Origin::Derived(rule)))
}
