//! Kthena, group `workload.serving.volcano.sh`: volcano-sh/kthena @3cc0572, with the spellings of
//! the Kthena blog.
//!
//! A document passes here three times: [`prepare`] before the schema judges it, [`check`] beside
//! the schema, and [`model_serving`] when it becomes a typed object.

pub(crate) mod changes;
pub(crate) mod documented;
pub(crate) mod server;

pub use changes::check_change;

use crate::api::fields::{integer, text};
use crate::api::{
    Budget, Field, GangPolicy, ModelServing, Object, Plugin, PodTemplate, RecoveryPolicy, Role,
    RolloutType, Scope, Topology,
};
use crate::diag::{Code, Diagnostic};
use crate::operators::kthena::rules::{Admission, KthenaRelease};
use crate::quantity::{IntOrPercent, Range};
use crate::schema;
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::EcoString;

/// API version of every kind.
pub const API_VERSION: &str = "workload.serving.volcano.sh/v1alpha1";

/// The scheduler with PodGroups.
const VOLCANO: &str = "volcano";

/// Longest name of a role, in characters.
const ROLE_NAME_LENGTH: usize = 12;

static ABSENT: Rule = Rule {
    id: "kthena-absent",
    text: "nothing is written and the CRD has no default",
    cite: "pkg/apis/workload/v1alpha1/model_serving_types.go",
};

/// Whether a document is a ModelServing.
pub fn is_model_serving(api_version: &str, kind: &str) -> bool {
    api_version == API_VERSION && kind == "ModelServing"
}

/// The API group of ModelRoutes, ModelServers and ExternalModelProviders.
pub const ROUTES: &str = "networking.serving.volcano.sh";

/// Brings spellings of the document to those of the CRD, before the schema sees them (Kthena blog,
/// A Deep Dive of ModelServing, Instance-Level Gang Scheduling; docs/decisions.md#gang-policy).
pub fn prepare(document: &mut Node, policy: &KthenaRelease, diagnostics: &mut Vec<Diagnostic>) {
    if policy.admission != Admission::Documents {
        return;
    }
    let template = document
        .as_map_mut()
        .and_then(|map| map.get_mut("spec"))
        .and_then(Node::as_map_mut)
        .and_then(|map| map.get_mut("template"));
    let Some(template) = template.and_then(Node::as_map_mut) else { return };
    // With both spellings the server keeps the right one, and the other is a finding of the schema.
    if !template.contains_key("gangpolicy") || template.contains_key("gangPolicy") {
        return;
    }
    let renamed = template.iter().cloned().map(|mut entry| {
        if entry.key == "gangpolicy" {
            let mut finding =
                Diagnostic::new(Code::DeprecatedField, "`gangpolicy` is spelled `gangPolicy`")
                    .at(entry.key_origin.span())
                    .path("spec.template.gangpolicy")
                    .help("write `gangPolicy`; the API server drops the other spelling");
            if let Some(span) = entry.key_origin.span() {
                finding = finding.fix(span, "gangPolicy");
            }
            diagnostics.push(finding);
            entry.key = "gangPolicy".into();
        }
        entry
    });
    *template = renamed.collect();
}

/// Adds findings that are not in the schema: rules of the CRD, of the webhook or of the document.
/// If the schema has a finding for the same field, the more specific one stays. What only releases
/// have is in error where the input itself is checked.
pub fn check(
    document: &Node,
    policy: &KthenaRelease,
    is_checked: bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut found = Vec::new();
    match policy.admission {
        Admission::Documents => documented::check(document, policy, is_checked, &mut found),
        // The webhook sees the defaults of the CRD.
        Admission::Server => {
            let mut stored = document.clone();
            if let Some(schema) = schema::kind(API_VERSION, "ModelServing") {
                schema.default(&mut stored);
            }
            server::check(&stored, &mut found);
        }
    }
    let knows_more = |earlier: &Diagnostic| {
        let replaces = |code: Code| {
            code == earlier.code
                || (code == Code::InvalidName && earlier.code == Code::InvalidValue)
        };
        found.iter().any(|later: &Diagnostic| later.path == earlier.path && replaces(later.code))
    };
    // The finding here says what is right; the schema's would be a second one for the field.
    diagnostics.retain(|earlier| !knows_more(earlier));
    diagnostics.append(&mut found);
}

/// Reads a ModelServing. A value of the wrong type is read as absent, one out of range as the
/// bound: both have a finding.
pub fn model_serving(mut object: Object, policy: &KthenaRelease) -> ModelServing {
    if let Some(schema) = schema::kind(API_VERSION, "ModelServing") {
        schema.default(&mut object.node);
    }
    let empty = Node::map(Origin::Default(&ABSENT));
    let spec = object.node.get("spec").unwrap_or(&empty);
    let template = spec.get("template").unwrap_or(&empty);
    let strategy = spec.get("rolloutStrategy");
    let topology = template.get("networkTopology").map(|topology| Topology {
        group: topology.get("groupPolicy").cloned(),
        role: topology.get("rolePolicy").cloned(),
    });
    let roles = template.get("roles").map_or(&[][..], Node::items);
    let rollout = text(strategy.and_then(|strategy| strategy.get("type")));
    let recovery = text(spec.get("recoveryPolicy"));
    // A value that the documents lack shows that a release is meant.
    let newer = policy.reads_later_values;
    ModelServing {
        namespace: match &object.id.scope {
            Scope::Namespace(namespace) => namespace.clone(),
            Scope::Cluster => EcoString::inline("default"),
        },
        replicas: count(spec.get("replicas"), 1),
        scheduler: text(spec.get("schedulerName")).unwrap_or_else(|| absent(VOLCANO.into())),
        rollout: rollout.map_or_else(
            || absent(RolloutType::ServingGroup),
            |found| {
                let is_role = found.value == RolloutType::Role.as_str();
                let role = is_role && (policy.role_rolling_update || newer);
                Field::new(
                    if role { RolloutType::Role } else { RolloutType::ServingGroup },
                    found.origin,
                )
            },
        ),
        budget: budget(strategy.and_then(|strategy| strategy.get("rollingUpdateConfiguration"))),
        recovery: recovery.map_or_else(
            || absent(RecoveryPolicy::RoleRecreate),
            |found| {
                let policy = match found.value.as_str() {
                    "ServingGroupRecreate" => RecoveryPolicy::ServingGroupRecreate,
                    "None" if policy.recovery_none || newer => RecoveryPolicy::None,
                    _ => RecoveryPolicy::RoleRecreate,
                };
                Field::new(policy, found.origin)
            },
        ),
        restart_grace_seconds: integer(template.get("restartGracePeriodSeconds"))
            .map_or(0, |seconds| seconds.value.max(0)),
        gang: template.get("gangPolicy").map(gang),
        topology,
        plugins: spec.get("plugins").map_or(&[][..], Node::items).iter().map(plugin).collect(),
        counted: is_count(spec.get("replicas"))
            && roles
                .iter()
                .all(|role| is_count(role.get("replicas")) && is_count(role.get("workerReplicas"))),
        roles: roles.iter().filter_map(role).collect(),
        booster: None,
        object,
    }
}

fn absent<T>(value: T) -> Field<T> {
    Field::new(value, Origin::Default(&ABSENT))
}

/// A count: from 0 to 2147483647.
fn count(node: Option<&Node>, default: i64) -> Field<i64> {
    integer(node).map_or_else(
        || absent(default),
        |found| Field::new(found.value.clamp(0, i32::MAX.into()), found.origin),
    )
}

/// Whether a number of things is one, where it is written.
fn is_count(node: Option<&Node>) -> bool {
    node.filter(|node| !node.is_null())
        .is_none_or(|node| node.as_int().is_some_and(|number| Range::COUNT.holds(number)))
}

fn int_or_percent(node: Option<&Node>) -> Option<Field<IntOrPercent>> {
    let node = node?;
    let value = match &node.value {
        Value::Str(text) => IntOrPercent::parse_percent(text).ok()?,
        _ => IntOrPercent::Int(node.as_int()?),
    };
    Some(Field::new(value, node.origin))
}

fn budget(node: Option<&Node>) -> Budget {
    Budget {
        max_unavailable: int_or_percent(node.and_then(|node| node.get("maxUnavailable"))),
        partition: int_or_percent(node.and_then(|node| node.get("partition"))),
    }
}

fn gang(node: &Node) -> GangPolicy {
    let minima = node.get("minRoleReplicas").into_iter().flat_map(Node::entries);
    let read = minima.filter_map(|entry| {
        Some((Field::new(entry.key.clone(), entry.node.origin), entry.node.as_int()?))
    });
    GangPolicy { min_role_replicas: read.collect(), origin: node.origin }
}

fn plugin(node: &Node) -> Plugin {
    let words =
        |node: &Node| node.items().iter().filter_map(Node::as_str).map(EcoString::from).collect();
    Plugin {
        name: text(node.get("name")).unwrap_or_else(|| absent(EcoString::new())),
        kind: node.get("type").and_then(Node::as_str).unwrap_or("BuiltIn").into(),
        config: node.get("config").cloned(),
        roles: node.at(&["scope", "roles"]).map(words).unwrap_or_default(),
        target: node.at(&["scope", "target"]).and_then(Node::as_str).unwrap_or_default().into(),
    }
}

fn role(node: &Node) -> Option<Role> {
    Some(Role {
        name: text(node.get("name"))?,
        replicas: count(node.get("replicas"), 1),
        workers: count(node.get("workerReplicas"), 0),
        entry: pod_template(node.get("entryTemplate")).unwrap_or_else(|| PodTemplate {
            labels: Map::new(),
            annotations: Map::new(),
            spec: Node::map(node.origin),
        }),
        worker: pod_template(node.get("workerTemplate")),
        budget: budget(Some(node)),
        node: node.clone(),
    })
}

fn pod_template(node: Option<&Node>) -> Option<PodTemplate> {
    let node = node?;
    let map =
        |key: &str| node.at(&["metadata", key]).and_then(Node::as_map).cloned().unwrap_or_default();
    Some(PodTemplate {
        labels: map("labels"),
        annotations: map("annotations"),
        spec: node.get("spec").cloned().unwrap_or_else(|| Node::map(node.origin)),
    })
}
