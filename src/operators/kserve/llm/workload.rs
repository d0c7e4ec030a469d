//! Pods of a service and the objects around them: Deployments, LeaderWorkerSets, accounts, roles,
//! the Service (pkg/controller/v1alpha2/llmisvc/workload_single_node.go, workload_multi_node.go,
//! workload.go).

use super::accounts::Account;
use super::around::access;
use super::lora::Adapter;
use super::parts::{
    MODEL_ROUTING, NAME, PART_OF, component_labels, metadata, object, template, workload_labels,
};
use super::rules::{DEPLOYMENT, GROUPS, LABELS, SIDECAR};
use super::scene::{MAIN, Scene, labels, node_of, put, spread, text_at};
use super::size;
use super::storage::{self, MODELS, Target};
use super::tracing;
use crate::api::Failure;
use crate::diag::Diagnostic;
use crate::merge::edit::{each_mut, mapping, text};
use crate::pods::container::push;
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

const SIDECAR_NAME: &str = "llm-d-routing-sidecar";
const ROLE: &str = "llm-d.ai/role";

/// Prefixes of annotations of the service that reach its pods.
const ANNOTATIONS: [&str; 4] = [
    "k8s.v1.cni.cncf.io",
    "kueue.x-k8s.io",
    "prometheus.io",
    "internal.serving.kserve.io/localmodel",
];
/// Prefixes of labels of the service that reach its pods.
const LABEL_PREFIXES: [&str; 2] = ["kueue.x-k8s.io", "internal.serving.kserve.io/localmodel"];

/// One of the two workloads of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The only one, or the one that generates tokens.
    Main,
    /// The one that processes prompts.
    Prefill,
}

impl Part {
    fn role(self, spec: &Node) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Main if spec.get("prefill").is_some() => "decode",
            Self::Main => "both",
        }
    }

    /// Suffix of the service's name in traces.
    fn traced(self) -> &'static str {
        match self {
            Self::Main => "-decode",
            Self::Prefill => "-prefill",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Prefill => "-prefill",
        }
    }
}

/// A workload with its finished pods.
pub(super) struct Workload {
    pub(super) part: Part,
    pub(super) node: Node,
    /// Accounts, roles and bindings that are written before it.
    pub(super) before: Vec<Node>,
    /// The pod of the only node, or of the leader; empty without a template.
    pub(super) pod: Node,
    /// The pod of the workers, and their number in a replica.
    pub(super) worker: Option<(Node, i64)>,
    pub(super) labels: Map,
    pub(super) annotations: Map,
}

/// Labels without a component.
fn plain_labels(scene: &Scene<'_>) -> Map {
    labels(&[(NAME, scene.name()), (PART_OF, "llminferenceservice")], &LABELS)
}

fn add_label(map: &mut Map, key: &'static str, value: &str) {
    map.insert(key, Node::str(value, Origin::Derived(&LABELS)));
}

/// Entries of the service's metadata whose keys begin with one of the prefixes.
fn passed(from: &Map, prefixes: &[&str]) -> Map {
    let mut map = from.clone();
    map.retain(|entry| prefixes.iter().any(|prefix| entry.key.starts_with(prefix)));
    map
}

fn spread_map(map: &mut Map, added: &Map) {
    for entry in added {
        map.insert_entry(entry.clone());
    }
}

/// The routing sidecar of a pod gets the name of the pool.
fn sidecar(scene: &Scene<'_>, spec: &Node, pod: &mut Node) -> bool {
    let by = Origin::Derived(&SIDECAR);
    let pool = text_at(spec, &["router", "scheduler", "pool", "ref", "name"]).map(EcoString::from);
    let pool = pool.unwrap_or_else(|| scene.child("-inference-pool"));
    let routed = spec.get("router").is_some();
    let mut found = false;
    each_mut(pod, "initContainers", |container| {
        // The sidecar is an init container that keeps running.
        if !found && text(container, "name") == SIDECAR_NAME {
            found = true;
            // Without a router there is no pool to name.
            if routed {
                let variable = [
                    ("name", Node::str("INFERENCE_POOL_NAME", by)),
                    ("value", Node::str(pool.clone(), by)),
                ];
                push(container, "env", mapping(variable, by));
            }
        }
    });
    found
}

fn has_sidecar(pod: &Node) -> bool {
    pod.items_of("initContainers")
        .iter()
        .any(|init_container| text(init_container, "name") == SIDECAR_NAME)
}

/// What pods of a workload are built with.
struct Pods<'p, 'a> {
    scene: &'p Scene<'a>,
    spec: &'p Node,
    workload: &'p Node,
    adapters: &'p [Adapter],
    part: Part,
}

impl Pods<'_, '_> {
    /// The finished pod of a template.
    fn pod(
        &self,
        template: &Node,
        account: Option<Account>,
        what: &str,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<Node, Failure> {
        let mut pod = template.clone();
        let target = Target {
            scene: self.scene,
            spec: self.spec,
            account,
            container: MAIN,
            path: MODELS,
            adapters: self.adapters,
        };
        // The message names the pod, because both workloads have the same model.
        target.attach(&mut pod, findings).map_err(|failure| Failure {
            message: format!("failed to attach model artifacts to {what}: {}", failure.message),
            ..failure
        })?;
        storage::kv_cache(self.workload, &mut pod);
        Ok(pod)
    }
}

/// The Deployment of a workload on one node.
fn single(
    scene: &Scene<'_>,
    spec: &Node,
    adapters: &[Adapter],
    part: Part,
    findings: &mut Vec<Diagnostic>,
) -> Result<Workload, Failure> {
    let by = Origin::Derived(&DEPLOYMENT);
    let workload = match part {
        Part::Main => spec,
        Part::Prefill => spec.get("prefill").unwrap_or(spec),
    };
    let component = match part {
        Part::Main => "llminferenceservice-workload",
        Part::Prefill => "llminferenceservice-workload-prefill",
    };
    let mut labels = component_labels(scene, component);
    add_label(&mut labels, "kserve.io/component", "workload");
    add_label(&mut labels, ROLE, part.role(spec));
    let mut before = Vec::new();
    let mut pod = Node::map(by);
    if let Some(template) = workload.get("template") {
        let routed = part == Part::Main && has_sidecar(template);
        let named = template.get("serviceAccountName");
        let name = named.and_then(Node::as_str).filter(|name| !name.is_empty());
        let generated = scene.child("-kserve");
        // The sidecar reads pods and pools: it needs an account with a role.
        let account = if routed && name.is_none_or(|name| name == generated) {
            Some(Account::generated(scene, generated, workload_labels(scene)))
        } else if let Some(name) = name {
            let place = named.map(|node| node.origin);
            Some(Account::named(scene, name, place, findings))
        } else {
            None
        };
        let mut template = template.clone();
        if routed {
            if let Some(account) = &account {
                put(&mut template, "serviceAccountName", Node::str(account.name().clone(), by));
                if account.generated {
                    before.push(account.node().clone());
                }
                before.extend(access(scene, account, "-kserve", workload_labels(scene)));
            }
            sidecar(scene, spec, &mut template);
        }
        let pods = Pods { scene, spec, workload, adapters, part };
        let what = match part {
            Part::Main => "main deployment",
            Part::Prefill => "prefill deployment",
        };
        pod = pods.pod(&template, account, what, findings)?;
    }
    let own_annotations = passed(&scene.annotations(), &ANNOTATIONS);
    let mut annotations = own_annotations.clone();
    spread_map(&mut labels, &passed(&scene.labels(), &LABEL_PREFIXES));
    // After those of the service: the workload's own labels win.
    spread(&mut labels, workload.get("labels"), "");
    spread(&mut annotations, workload.get("annotations"), MODEL_ROUTING);
    labels.sort();
    annotations.sort();
    tracing::server(scene, spec, part.traced(), &mut pod);
    let name = match part {
        Part::Main => scene.child("-kserve"),
        Part::Prefill => scene.child("-kserve-prefill"),
    };
    let template = template(&labels, &annotations, pod.clone(), &DEPLOYMENT);
    let selector = mapping([("matchLabels", node_of(labels.clone(), &DEPLOYMENT))], by);
    let mut body = mapping([("selector", selector), ("template", template)], by);
    // Absent under an autoscaler, whose value an update must not reset.
    if let Some(replicas) = workload.get("replicas") {
        put(&mut body, "replicas", replicas.clone());
    }
    let strategy =
        workload.get("rolloutStrategy").filter(|rollout_strategy| !rollout_strategy.is_empty());
    if let Some(strategy) = strategy {
        let mut update = Node::map(by);
        for key in ["maxUnavailable", "maxSurge"] {
            if let Some(value) = strategy.get(key) {
                put(&mut update, key, value.clone());
            }
        }
        let strategy = [("type", Node::str("RollingUpdate", by)), ("rollingUpdate", update)];
        put(&mut body, "strategy", mapping(strategy, by));
    }
    let metadata = metadata(scene, name, labels.clone(), own_annotations, &DEPLOYMENT);
    let node = object("apps/v1", "Deployment", metadata, [("spec", body)], &DEPLOYMENT);
    Ok(Workload { part, node, before, pod, worker: None, labels, annotations })
}

/// The LeaderWorkerSet of a workload with workers.
fn groups(
    scene: &Scene<'_>,
    spec: &Node,
    adapters: &[Adapter],
    part: Part,
    account: &Account,
    findings: &mut Vec<Diagnostic>,
) -> Result<Workload, Failure> {
    let by = Origin::Derived(&GROUPS);
    let workload = match part {
        Part::Main => spec,
        Part::Prefill => spec.get("prefill").unwrap_or(spec),
    };
    let [mut leader_labels, mut worker_labels] = group_labels(scene, spec, workload, part);
    let pods = Pods { scene, spec, workload, adapters, part };
    // One closure for both pods: each finding names the template that it is about.
    let mut build = |key: &str, what: &str| -> Result<Option<Node>, Failure> {
        let Some(template) = workload.get(key) else { return Ok(None) };
        let mut template = template.clone();
        put(&mut template, "serviceAccountName", Node::str(account.name().clone(), by));
        let what = match part {
            Part::Main => format!("{what} template"),
            Part::Prefill => format!("prefill {what} template"),
        };
        let mut pod = pods.pod(&template, Some(account.clone()), &what, findings)?;
        // Requests reach a decode pod, whose sidecar calls the prefill pods: these have none.
        if part == Part::Main {
            sidecar(scene, spec, &mut pod);
        }
        tracing::server(scene, spec, pods.part.traced(), &mut pod);
        Ok(Some(pod))
    };
    let leader = build("template", "leader")?;
    let worker = build("worker", "worker")?.unwrap_or_else(|| Node::map(by));

    let prefixes: Vec<&str> =
        ["leaderworkerset.sigs.k8s.io"].into_iter().chain(ANNOTATIONS).collect();
    let own_annotations = passed(&scene.annotations(), &prefixes);
    let own_labels = passed(&scene.labels(), &LABEL_PREFIXES);
    let mut annotations = own_annotations.clone();
    spread(&mut annotations, workload.get("annotations"), MODEL_ROUTING);
    // Go writes maps by key: unsorted ones would differ from the cluster in `drift`.
    annotations.sort();
    for map in [&mut worker_labels, &mut leader_labels] {
        spread_map(map, &own_labels);
        spread(map, workload.get("labels"), "");
        map.sort();
    }
    let mut group = Node::map(by);
    if let Some(leader) = &leader {
        let template = template(&leader_labels, &annotations, leader.clone(), &GROUPS);
        put(&mut group, "leaderTemplate", template);
    }
    let written = template(&worker_labels, &annotations, worker.clone(), &GROUPS);
    put(&mut group, "workerTemplate", written);
    let size = size::size(workload);
    if let Some(size) = size {
        put(&mut group, "size", Node::int(size, by));
        // Quirk: only the prefill groups are divided into subgroups.
        if part == Part::Prefill && size::is_data_parallel(workload) {
            let policy = mapping([("subGroupSize", Node::int(size, by))], by);
            put(&mut group, "subGroupPolicy", policy);
        }
    }
    put(&mut group, "restartPolicy", Node::str("RecreateGroupOnPodRestart", by));
    let mut body = mapping(
        [
            ("leaderWorkerTemplate", group),
            ("rolloutStrategy", group_strategy(workload)),
            ("startupPolicy", Node::str("LeaderCreated", by)),
        ],
        by,
    );
    if let Some(replicas) = workload.get("replicas") {
        put(&mut body, "replicas", replicas.clone());
    }
    let name = match part {
        Part::Main => scene.child("-kserve-mn"),
        Part::Prefill => scene.child("-kserve-mn-prefill"),
    };
    // Quirk: the object has the labels of its workers, not those of the leader.
    let metadata = metadata(scene, name, worker_labels.clone(), own_annotations, &GROUPS);
    let node = object(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        metadata,
        [("spec", body)],
        &GROUPS,
    );
    // `size` counts the leader.
    let workers = size.unwrap_or(1).max(1) - 1;
    let (pod, worker) = match leader {
        Some(leader) => (leader, Some((worker, workers))),
        None => (worker.clone(), Some((worker, workers))),
    };
    Ok(Workload { part, node, before: Vec::new(), pod, worker, labels: worker_labels, annotations })
}

/// The labels of leaders and of workers.
fn group_labels(scene: &Scene<'_>, spec: &Node, workload: &Node, part: Part) -> [Map; 2] {
    let suffix = part.suffix();
    let role = part.role(spec);
    let mut worker_labels =
        component_labels(scene, &format!("llminferenceservice-workload-worker{suffix}"));
    // Without a template of its own the leader is made from the worker's: it needs the labels by
    // which requests are routed.
    if workload.get("template").is_none() {
        add_label(&mut worker_labels, "kserve.io/component", "workload");
        let role = if part == Part::Main { "decode" } else { role };
        add_label(&mut worker_labels, ROLE, role);
    }
    let mut leader_labels =
        component_labels(scene, &format!("llminferenceservice-workload-leader{suffix}"));
    add_label(&mut leader_labels, "kserve.io/component", "workload");
    add_label(&mut leader_labels, ROLE, role);
    [leader_labels, worker_labels]
}

/// How the groups of a workload are replaced.
fn group_strategy(workload: &Node) -> Node {
    let by = Origin::Derived(&GROUPS);
    let mut strategy = mapping([("type", Node::str("RollingUpdate", by))], by);
    if let Some(rollout_strategy) =
        workload.get("rolloutStrategy").filter(|rollout_strategy| !rollout_strategy.is_empty())
    {
        let value = |key: &str, usual: i64| {
            rollout_strategy.get(key).cloned().unwrap_or_else(|| Node::int(usual, by))
        };
        let update =
            [("maxUnavailable", value("maxUnavailable", 1)), ("maxSurge", value("maxSurge", 0))];
        put(&mut strategy, "rollingUpdateConfiguration", mapping(update, by));
    }
    strategy
}

/// The account of a LeaderWorkerSet.
fn group_account(
    scene: &Scene<'_>,
    spec: &Node,
    part: Part,
    findings: &mut Vec<Diagnostic>,
) -> Account {
    let (workload, generated) = match part {
        Part::Main => (Some(spec), scene.child("-kserve-mn")),
        Part::Prefill => (spec.get("prefill"), scene.child("-kserve-mn-prefill")),
    };
    // The leader's account is used for the workers, too.
    let named = ["template", "worker"].iter().find_map(|key| {
        let node = workload?.at(&[key, "serviceAccountName"])?;
        node.as_str().filter(|name| !name.is_empty()).map(|name| (name, node.origin))
    });
    match named {
        Some((name, place)) if name != generated => {
            Account::named(scene, name, Some(place), findings)
        }
        _ => Account::generated(scene, generated, plain_labels(scene)),
    }
}

/// The workloads of a service, in the order in which the controller writes them. Those with workers
/// come first.
///
/// # Errors
/// The controller's, when an account does not exist or the model cannot be fetched.
pub(super) fn workloads(
    scene: &Scene<'_>,
    spec: &Node,
    adapters: &[Adapter],
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<Workload>, Failure> {
    let mut found = Vec::new();
    // The controller looks the accounts of both parts up whatever their topology.
    let main = group_account(scene, spec, Part::Main, findings);
    let prefill = group_account(scene, spec, Part::Prefill, findings);
    let with_workers = spec.get("worker").is_some();
    if with_workers {
        let mut workload = groups(scene, spec, adapters, Part::Main, &main, findings)?;
        if main.generated {
            workload.before.push(main.node().clone());
        }
        found.push(workload);
    }
    let sides = ["template", "worker"];
    let routed = sides.iter().filter_map(|key| spec.get(key)).any(has_sidecar);
    // Quirk: with an account of the user, the role is written for a single node as well.
    if routed && (with_workers || !main.generated) {
        let access = access(scene, &main, "-kserve-mn", plain_labels(scene));
        if let Some(first) = found.first_mut() {
            first.before.extend(access);
        } else {
            let mut single = single(scene, spec, adapters, Part::Main, findings)?;
            single.before.extend(access);
            found.push(single);
        }
    } else if !with_workers {
        found.push(single(scene, spec, adapters, Part::Main, findings)?);
    }
    let template = spec.get("template");
    if let Some(template) = template.filter(|template| with_workers && has_sidecar(template)) {
        // Quirk: the account and role of a single node are written beside those of the groups.
        let named = template.get("serviceAccountName");
        let name = named.and_then(Node::as_str).filter(|name| !name.is_empty());
        let generated = scene.child("-kserve");
        let account = match name.filter(|name| *name != generated) {
            Some(name) => Account::named(scene, name, named.map(|node| node.origin), findings),
            None => Account::generated(scene, generated, workload_labels(scene)),
        };
        if let Some(first) = found.first_mut() {
            if account.generated {
                first.before.push(account.node().clone());
            }
            first.before.extend(access(scene, &account, "-kserve", workload_labels(scene)));
        }
    }
    if let Some(node) = spec.get("prefill") {
        if node.get("worker").is_some() {
            let mut workload = groups(scene, spec, adapters, Part::Prefill, &prefill, findings)?;
            if prefill.generated {
                workload.before.push(prefill.node().clone());
            }
            found.push(workload);
        } else {
            found.push(single(scene, spec, adapters, Part::Prefill, findings)?);
        }
    }
    Ok(found)
}
