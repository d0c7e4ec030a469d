//! Gangs: the pods of a ServingGroup that start together, and their total requests.

use super::{names, rules};
use crate::api::{ModelServing, Role};
use crate::objects::build::{mapping, node};
use crate::operators::kthena::rules::{
    GangForm, GangResources, GangRule, KthenaRelease, UnlistedRole,
};
use crate::quantity::Quantity;
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::EcoString;

/// A field that the document on ModelServing shows in a PodGroup and that is not rendered, and why.
pub const NOT_RENDERED: (&str, &str) = (
    "spec.ttlSecondsAfterFinished",
    "the document shows it in the PodGroup of a ServingGroup (\"PodGroup Configuration\"); no version of Volcano's PodGroup has the field, and no field of a ModelServing gives a value",
);

/// The requirements of one ServingGroup before any of its pods starts.
#[derive(Clone, Debug)]
pub struct Gang {
    /// Pods.
    pub min_member: i64,
    /// Replicas of every role, in order: none of a role that does not take part.
    pub roles: Vec<Option<i64>>,
    /// Resources, in the order in which the containers name them.
    pub resources: Vec<(EcoString, Quantity)>,
}

/// Whether groups have a PodGroup.
pub fn has_pod_group(serving: &ModelServing, policy: &KthenaRelease) -> bool {
    match policy.gang {
        GangRule::Volcano => serving.scheduler.value == "volcano",
        GangRule::PolicySet => serving.gang.is_some() || serving.topology.is_some(),
    }
}

/// The gang of one group. Every group has the same.
pub fn gang(serving: &ModelServing, policy: &KthenaRelease) -> Gang {
    let minima = serving.gang.as_ref().filter(|gang| !gang.min_role_replicas.is_empty());
    let mut found = Gang {
        min_member: 0,
        roles: Vec::with_capacity(serving.roles.len()),
        resources: Vec::new(),
    };
    for role in &serving.roles {
        let replicas = role.replicas.value;
        // An empty map is as good as no policy.
        let written = minima.and_then(|gang| gang.minimum(&role.name.value));
        let minimum = match (written, policy.gang_unlisted) {
            // More than the replicas can never start.
            (Some(minimum), _) => Some(minimum.clamp(0, replicas)),
            (None, UnlistedRole::LeftOut) if minima.is_some() => None,
            (None, _) => Some(replicas),
        };
        found.roles.push(minimum);
        let Some(minimum) = minimum else { continue };
        // Counts have 32 bits each: their product can be too large.
        found.min_member = found.min_member.saturating_add(role.size().saturating_mul(minimum));
        add(&mut found.resources, &role.entry.spec, minimum, policy);
        if let Some(worker) = role.worker.as_ref().filter(|_| role.workers.value > 0) {
            add(
                &mut found.resources,
                &worker.spec,
                minimum.saturating_mul(role.workers.value),
                policy,
            );
        }
    }
    found
}

/// Adds the requests of a pod `times` times. A resource that no pod requests stays, as zero.
fn add(resources: &mut Vec<(EcoString, Quantity)>, pod: &Node, times: i64, policy: &KthenaRelease) {
    for container in pod.get("containers").map_or(&[][..], Node::items) {
        for (name, quantity) in requests(container, policy.gang_resources) {
            let amount = &quantity * times;
            match resources.iter_mut().find(|(resource, _)| *resource == name) {
                Some((_, sum)) => *sum += &amount,
                None => resources.push((name, amount)),
            }
        }
    }
}

/// The requests of one container.
pub fn requests(container: &Node, rule: GangResources) -> Vec<(EcoString, Quantity)> {
    let list = |key: &str| container.at(&["resources", key]).into_iter().flat_map(Node::entries);
    let read = |entry: &Entry| {
        Some((entry.key.clone(), Quantity::parse_field(&entry.node.scalar_text()?).ok()?))
    };
    let mut found: Vec<_> = list("requests").filter_map(read).collect();
    if rule == GangResources::RequestsOrLimits {
        for (name, quantity) in list("limits").filter_map(read) {
            if found.iter().all(|(found, _)| *found != name) {
                found.push((name, quantity));
            }
        }
    }
    found
}

/// The arithmetic of all pods of a group, one term per role: `2*(1+3) + 1*(1+2) = 11` (Kthena blog,
/// A Deep Dive of ModelServing, Instance-Level Gang Scheduling).
pub fn arithmetic(serving: &ModelServing, gang: &Gang) -> String {
    let terms: Vec<String> = serving
        .roles
        .iter()
        .zip(&gang.roles)
        .filter_map(|(role, minimum)| {
            minimum.map(|minimum| format!("{minimum}*(1+{})", role.workers.value))
        })
        .collect();
    format!("{} = {}", terms.join(" + "), gang.min_member)
}

/// The number of pods of every counted role replica, by its name.
pub fn task_members<'a>(
    serving: &'a ModelServing,
    gang: &'a Gang,
) -> impl Iterator<Item = (EcoString, i64)> + 'a {
    serving.roles.iter().zip(&gang.roles).flat_map(|(role, minimum)| {
        (0..minimum.unwrap_or(0))
            .map(|ordinal| (names::role_id(&role.name.value, ordinal), role.size()))
    })
}

/// Resources as a tree, names in order.
pub fn resources(gang: &Gang) -> Map {
    let origin = Origin::Derived(&rules::MIN_RESOURCES);
    let mut map: Map = gang
        .resources
        .iter()
        .map(|(name, quantity)| Entry {
            key: name.clone(),
            key_origin: origin,
            node: Node::str(quantity.recomputed(), origin),
        })
        .collect();
    map.sort();
    map
}

/// The queue of Volcano that the PodGroups name.
pub fn queue<'a>(serving: &'a ModelServing, policy: &KthenaRelease) -> Option<&'a Node> {
    let queue = serving.object.annotation(names::QUEUE_ANNOTATION);
    queue.filter(|queue| policy.gang_queue && queue.as_str() != Some(""))
}

/// The PodGroup of one group.
pub fn pod_group(
    serving: &ModelServing,
    gang: &Gang,
    ordinal: i64,
    policy: &KthenaRelease,
) -> Node {
    let rule = &rules::POD_GROUP;
    let name = names::group(serving.name(), ordinal);
    let annotation =
        // The document annotates the ModelServing, the code the group.
        if policy.gang_documented_labels { serving.name().clone() } else { name.clone() };
    let seed = policy.gang_documented_labels.then(|| name.clone());
    let min_member = Some(gang.min_member).filter(|members| *members != 0);
    let topology = serving.topology.as_ref().and_then(|topology| topology.group.clone());
    let queue = queue(serving, policy).cloned();
    let mut spec = mapping(
        [
            ("minMember", node!(rule; (min_member))),
            (
                "minResources",
                Some(Node::new(
                    Value::Map(resources(gang)),
                    Origin::Derived(&rules::MIN_RESOURCES),
                )),
            ),
            ("networkTopology", topology),
            ("queue", queue),
        ],
        rule,
    );
    let (key, members) = match policy.gang_form {
        GangForm::TaskMembers => ("minTaskMember", task_member_tree(serving, gang)),
        GangForm::SubGroups => ("subGroupPolicy", sub_groups(serving, gang)),
    };
    if let Some(map) = spec.as_map_mut().filter(|_| !members.is_empty()) {
        map.insert(key, members);
    }
    node!(rule; {
        apiVersion: "scheduling.volcano.sh/v1beta1",
        kind: "PodGroup",
        metadata: {
            name: (&name),
            namespace: (&serving.namespace),
            labels: {
                "modelinfer.volcano.sh/name": (&seed),
                "modelserving.volcano.sh/group-name": (&name),
                "modelserving.volcano.sh/name": (serving.name()),
            },
            annotations: { "scheduling.k8s.io/group-name": (&annotation) },
        },
        spec: (spec),
    })
    .unwrap_or_else(|| Node::map(Origin::Derived(rule)))
}

fn task_member_tree(serving: &ModelServing, gang: &Gang) -> Node {
    let origin = Origin::Derived(&rules::POD_GROUP);
    let entries = task_members(serving, gang).map(|(key, size)| Entry {
        key,
        key_origin: origin,
        node: Node::int(size, origin),
    });
    Node::new(Value::Map(entries.collect()), origin)
}

fn sub_groups(serving: &ModelServing, gang: &Gang) -> Node {
    let rule = &rules::POD_GROUP;
    let topology = serving.topology.as_ref().and_then(|topology| topology.role.as_ref());
    let group = |role: &Role, minimum: i64| {
        node!(rule; {
            name: (&role.name.value),
            labelSelector: {
                matchLabels: {
                    "modelserving.volcano.sh/name": (serving.name()),
                    "modelserving.volcano.sh/role": (&role.name.value),
                },
            },
            matchLabelKeys: ["modelserving.volcano.sh/role-id"],
            subGroupSize: (role.size()),
            minSubGroups: minimum,
            networkTopology: (topology),
        })
    };
    let groups = serving
        .roles
        .iter()
        .zip(&gang.roles)
        .filter_map(|(role, minimum)| group(role, minimum.unwrap_or(0)));
    Node::list(groups, Origin::Derived(rule))
}
