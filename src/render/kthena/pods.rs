//! Pods of a ServingGroup, and the headless Services in front of them.

use super::plugins::{self, Place, Pod};
use super::{names, rules};
use crate::api::{ModelServing, PodTemplate, Role};
use crate::policy::KthenaPolicy;
use crate::render::build::{IntoNode, mapping, node};
use crate::schema::{self, Library};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// Variables that the controller writes, in order.
const INJECTED: [&str; 3] = ["GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX"];

/// A role with what is the same for all its pods.
pub(super) struct Prepared<'a> {
    role: &'a Role,
    hash: EcoString,
    entry: Node,
    worker: Option<Node>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(serving: &ModelServing, role: &'a Role) -> Self {
        Self {
            role,
            hash: super::revision::of_role(&role.node),
            entry: base(serving, &role.entry),
            worker: role.worker.as_ref().map(|worker| base(serving, worker)),
        }
    }
}

/// The pod spec as the controller's Go struct prints it, with the scheduler of the ModelServing.
fn base(serving: &ModelServing, template: &PodTemplate) -> Node {
    let ty = schema::kind(super::API_VERSION, "ModelServing");
    let ty = ty.and_then(|schema| schema.root().at(&["spec", "template", "roles", "entryTemplate", "spec"]));
    let mut spec = ty.and_then(|ty| schema::marshal(&template.spec, ty, Library::V0_34).ok()).unwrap_or_else(|| template.spec.clone());
    if let Some(map) = spec.as_map_mut() {
        let node = Node::str(serving.scheduler.value.clone(), Origin::Derived(&rules::SCHEDULER));
        map.insert_entry(Entry { key: "schedulerName".into(), key_origin: Origin::Derived(&rules::SCHEDULER), node });
    }
    spec
}

/// All pods of one role replica: the entry, then its workers.
pub(super) fn pods(
    serving: &ModelServing,
    prepared: &Prepared<'_>,
    revision: &EcoString,
    group: i64,
    ordinal: i64,
    gang: bool,
    policy: &KthenaPolicy,
) -> Vec<Node> {
    let role = prepared.role;
    let mut worker_spec = prepared.worker.clone();
    let mut found = Vec::new();
    for index in 0..role.size() {
        let (template, spec) = match index {
            0 => (&role.entry, prepared.entry.clone()),
            _ => match (&role.worker, &worker_spec) {
                (Some(template), Some(spec)) => (template, spec.clone()),
                _ => break,
            },
        };
        let created = create(serving, prepared, template, spec, Identity { revision, group, ordinal, index, gang });
        // Quirk: workers of one role replica share the containers of the template, so that what a plugin adds to one is
        // there for the next (kthena.md 2.5).
        if index > 0 && policy.plugin_env_repeats {
            worker_spec = Some(created.spec.clone());
        }
        found.push(tree(serving, created, prepared, group, ordinal, index));
    }
    found
}

#[derive(Clone, Copy)]
struct Identity<'a> {
    revision: &'a EcoString,
    group: i64,
    ordinal: i64,
    index: i64,
    gang: bool,
}

fn create(serving: &ModelServing, prepared: &Prepared<'_>, template: &PodTemplate, mut spec: Node, id: Identity<'_>) -> Pod {
    let role = &prepared.role.name.value;
    let (group, role_id) = (names::group(serving.name(), id.group), names::role_id(role, id.ordinal));
    let mut labels = Map::with_capacity(8 + template.labels.len());
    let mut annotations = template.annotations.clone();
    put(&mut labels, names::NAME, serving.name().clone(), &rules::POD);
    put(&mut labels, names::GROUP, group.clone(), &rules::POD);
    put(&mut labels, names::ROLE, role.clone(), &rules::POD);
    put(&mut labels, names::ROLE_ID, role_id.clone(), &rules::POD);
    put(&mut labels, names::REVISION, id.revision.clone(), &rules::POD);
    put(&mut labels, names::ROLE_HASH, prepared.hash.clone(), &rules::POD);
    if id.index == 0 {
        put(&mut labels, names::ENTRY, "true".into(), &rules::POD);
    }
    for entry in &template.labels {
        labels.insert_entry(entry.clone());
    }
    let size = prepared.role.size();
    let address = eco_format!("{}.{}", names::pod(&group, &role_id, 0), serving.namespace);
    inject(&mut spec, [eco_format!("{size}"), address, eco_format!("{}", id.index)]);
    if id.gang {
        put(&mut annotations, names::GROUP_ANNOTATION, group, &rules::GANG_POD);
        put(&mut annotations, names::TASK_ANNOTATION, role_id, &rules::GANG_POD);
    }
    let mut pod = Pod { labels, annotations, spec };
    plugins::apply(serving, Place { group: id.group, role, index: id.index }, &mut pod);
    pod
}

fn put(map: &mut Map, key: &'static str, value: EcoString, rule: &'static Rule) {
    let origin = Origin::Derived(rule);
    map.insert_entry(Entry { key: EcoString::from(key), key_origin: origin, node: Node::str(value, origin) });
}

/// Writes the three variables behind those of every container; what the user wrote under their names goes.
fn inject(spec: &mut Node, values: [EcoString; 3]) {
    let rule = &rules::ENVIRONMENT;
    let added: Vec<Node> =
        INJECTED.into_iter().zip(values).map(|(name, value)| mapping([("name", name.into_node(rule)), ("value", value.into_node(rule))], rule)).collect();
    let Some(spec) = spec.as_map_mut() else { return };
    for key in ["initContainers", "containers"] {
        let Some(containers) = spec.get_mut(key).and_then(Node::as_list_mut) else { continue };
        for container in containers.make_mut() {
            let Some(map) = container.as_map_mut() else { continue };
            let own = map.get("env").map_or(&[][..], Node::items).iter();
            let kept = own.filter(|entry| !entry.get("name").and_then(Node::as_str).is_some_and(|name| INJECTED.contains(&name)));
            let env = Node::list(kept.chain(&added).cloned(), Origin::Derived(rule));
            map.insert_entry(Entry { key: "env".into(), key_origin: Origin::Derived(rule), node: env });
        }
    }
}

fn tree(serving: &ModelServing, pod: Pod, prepared: &Prepared<'_>, group: i64, ordinal: i64, index: i64) -> Node {
    let rule = &rules::POD;
    let Pod { mut labels, mut annotations, spec } = pod;
    labels.sort();
    annotations.sort();
    let name = names::pod(&names::group(serving.name(), group), &names::role_id(&prepared.role.name.value, ordinal), index);
    node!(rule; {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: (name), namespace: (&serving.namespace), labels: (labels), annotations: (annotations) },
        spec: (spec),
    })
    .unwrap_or_else(|| Node::new(Value::Map(Map::new()), Origin::Derived(rule)))
}

/// The headless Service of one role replica.
pub(super) fn service(serving: &ModelServing, role: &Role, group: i64, ordinal: i64) -> Node {
    let rule = &rules::SERVICE;
    let (group, role_id) = (names::group(serving.name(), group), names::role_id(&role.name.value, ordinal));
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
