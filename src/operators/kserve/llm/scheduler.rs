//! The endpoint picker, its InferencePool and its tokenizer
//! (pkg/controller/v1alpha2/llmisvc/scheduler.go, tokenizer.go).

use super::accounts::Account;
use super::around::{binding, bound};
use super::names_of_plugins::{flag, tokenizer_enabled};
use super::parts::{component_labels, metadata, object, template};
use super::rules::{ACCESS, POOL, SCHEDULER, SCHEDULER_CONFIG, TOKENIZER};
use super::scene::{MAIN, Scene, at_mut, node_of, put, spread, text_at};
use super::storage::Target;
use super::transform::{self, PRECISE_SCORER, PREFIX_SCORER, each_plugin, mutate};
use super::{expand, tracing};
use crate::api::{ComponentKind, Failure};
use crate::diag::Diagnostic;
use crate::merge::edit::{each_mut, map_mut, mapping, position, text};
use crate::objects::build::node;
use crate::pods::container::push;
use crate::quantity::names::child_name;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

const BY: Origin = Origin::Derived(&SCHEDULER);
/// Ports of the endpoint picker that its Service has.
const PORTS: [&str; 4] = ["grpc", "grpc-health", "metrics", "zmq"];
const BASE: &str = "/mnt/models/base";
/// The component in the labels of a tokenizer.
const TOKENIZER_LABEL: &str = "tokenizer";

/// Whether the controller runs an endpoint picker for the service.
pub(super) fn is_managed(spec: &Node) -> bool {
    spec.at(&["router", "scheduler"]).is_some_and(|scheduler| {
        scheduler.get("template").is_some()
            && text_at(scheduler, &["pool", "ref", "name"]).is_none()
    })
}

/// Whether the controller runs a tokenizer for the service: a pool of the user has its own picker,
/// which knows none.
fn has_tokenizer(spec: &Node) -> bool {
    let scheduler = spec.at(&["router", "scheduler"]);
    scheduler.is_some_and(|scheduler| text_at(scheduler, &["pool", "ref", "name"]).is_none())
        && tokenizer_enabled(spec)
}

/// A Deployment beside those of the model, as the specification alone has it.
pub(super) struct Part<'s> {
    pub(super) kind: ComponentKind,
    /// As written; one where it is absent.
    pub(super) replicas: Option<&'s Node>,
    /// The pod before the controller completes it, which adds no devices.
    pub(super) pod: Option<&'s Node>,
}

/// The endpoint picker and the tokenizer, so far as the controller runs them.
pub(super) fn parts(spec: &Node) -> Vec<Part<'_>> {
    let scheduler = spec.at(&["router", "scheduler"]);
    let of = |keys: &[&str]| scheduler.and_then(|scheduler| scheduler.at(keys));
    let picker = Part {
        kind: ComponentKind::Scheduler,
        replicas: of(&["replicas"]),
        pod: of(&["template"]),
    };
    let tokenizer = Part {
        kind: ComponentKind::Tokenizer,
        replicas: None,
        pod: of(&["tokenizer", "template"]),
    };
    let all = [(is_managed(spec), picker), (has_tokenizer(spec), tokenizer)];
    all.into_iter().filter_map(|(runs, part)| runs.then_some(part)).collect()
}

/// The component of an object of [`objects`]; none of what has no pods.
pub(super) fn component(object: &Node) -> Option<ComponentKind> {
    if object.get("kind").and_then(Node::as_str) != Some("Deployment") {
        return None;
    }
    let label = object.at(&["metadata", "labels", "app.kubernetes.io/component"]);
    Some(match label.and_then(Node::as_str) {
        Some(TOKENIZER_LABEL) => ComponentKind::Tokenizer,
        _ => ComponentKind::Scheduler,
    })
}

fn picker_labels(scene: &Scene<'_>) -> Map {
    component_labels(scene, "llminferenceservice-router-scheduler")
}

/// Everything of the scheduler, in the order in which the controller writes it.
///
/// # Errors
/// The controller's, when the configuration cannot take the form of the version or the model cannot
/// be fetched.
pub(super) fn objects(
    scene: &Scene<'_>,
    spec: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<Node>, Failure> {
    let mut objects = Vec::new();
    let Some(scheduler) = spec.at(&["router", "scheduler"]) else { return Ok(objects) };
    let managed = is_managed(spec);
    // Looked up also without a picker of the controller's: the tokenizer uses it.
    let account = account(scene, spec, scheduler, findings);
    if managed {
        if account.generated {
            objects.push(account.node().clone());
        }
        objects.extend(access(scene, &account));
    }
    let with_tokenizer = has_tokenizer(spec);
    if with_tokenizer {
        objects.extend(tokenizer(scene, spec, scheduler, &account, findings)?);
    }
    if !managed {
        return Ok(objects);
    }
    objects.push(deployment(scene, spec, scheduler, &account, with_tokenizer, findings)?);
    objects.push(service(scene, scheduler));
    objects.extend(pools(scene, scheduler));
    Ok(objects)
}

fn account(
    scene: &Scene<'_>,
    spec: &Node,
    scheduler: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Account {
    let generated = scene.child("-epp-sa");
    let named = scheduler.at(&["template", "serviceAccountName"]);
    let name = named.and_then(Node::as_str).filter(|name| !name.is_empty());
    // The merge may have filled in the generated name, which is no account of the user.
    if let Some(name) = name.filter(|name| *name != generated) {
        return Account::named(scene, name, named.map(|node| node.origin), findings);
    }
    let labels = picker_labels(scene);
    match text_at(spec, &["template", "serviceAccountName"]) {
        // A tokenizer in the pod fetches the same model: it needs what that account has.
        Some(main) => {
            let source = scene.find("ServiceAccount", main);
            let annotations = source.map(crate::api::Object::annotations).unwrap_or_default();
            Account::copied(scene, generated, labels, source).annotated(annotations)
        }
        None => Account::generated(scene, generated, labels),
    }
}

fn access(scene: &Scene<'_>, account: &Account) -> [Node; 3] {
    let by = Origin::Derived(&ACCESS);
    let role = scene.child("-epp-role");
    let rules = node!(&ACCESS; [
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
        {
            apiGroups: ["inference.networking.k8s.io", "inference.networking.x-k8s.io"],
            resources: ["inferencepools", "inferenceobjectives", "inferencemodels"],
            verbs: ["get", "list", "watch"],
        },
        {
            apiGroups: ["inference.networking.x-k8s.io"],
            resources: ["inferencemodelrewrites", "inferencepoolimports"],
            verbs: ["get", "list", "watch"],
        },
        {
            apiGroups: ["llm-d.ai"],
            resources: ["inferenceobjectives", "inferencemodelrewrites"],
            verbs: ["get", "list", "watch"],
        },
        {
            apiGroups: ["discovery.k8s.io"],
            resources: ["endpointslices"],
            verbs: ["get", "list", "watch"],
        },
        {
            apiGroups: ["coordination.k8s.io"],
            resources: ["leases"],
            verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
    ]);
    // Cluster-scoped: the namespace is part of the name.
    let name = child_name(scene.namespace(), &format!("-{}-epp-auth-rb", scene.name()));
    let mapping = mapping(
        [("name", Node::str(name, by)), ("labels", node_of(picker_labels(scene), &ACCESS))],
        by,
    );
    let kinds = ["ClusterRoleBinding", "ClusterRole"];
    let delegator = bound(scene, kinds, mapping, "system:auth-delegator", account);
    let metadata = metadata(scene, role.clone(), picker_labels(scene), Map::new(), &ACCESS);
    let rules = rules.unwrap_or_else(|| Node::map(by));
    [
        delegator,
        object("rbac.authorization.k8s.io/v1", "Role", metadata, [("rules", rules)], &ACCESS),
        binding(scene, &scene.child("-epp-rb"), &role, account, picker_labels(scene)),
    ]
}

/// The configuration when nothing sets one.
fn usual_config(spec: &Node) -> String {
    const HEAD: &str = "\napiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n";
    const QUEUE: (&str, i64) = ("queue-scorer", 2);
    const CACHE: (&str, i64) = ("kv-cache-utilization-scorer", 2);
    const PREFIX: (&str, i64) = ("prefix-cache-scorer", 3);
    const PICKER: (&str, i64) = ("max-score-picker", 0);
    let adapters = spec.at(&["model", "lora", "adapters"]).map(Node::items).unwrap_or_default();
    let (plugin, reference) = if adapters.is_empty() {
        ("", "")
    } else {
        ("- type: lora-affinity-scorer\n", "  - pluginRef: lora-affinity-scorer\n    weight: 4\n")
    };
    let plugins = |types: &[&str]| -> String {
        types.iter().flat_map(|name| ["- type: ", name, "\n"]).collect()
    };
    let scorers = |weights: &[(&str, i64)]| -> String {
        let line = |(name, weight): &(&str, i64)| {
            let weight =
                if *weight == 0 { String::new() } else { format!("    weight: {weight}\n") };
            format!("  - pluginRef: {name}\n{weight}")
        };
        weights.iter().map(line).collect()
    };
    if spec.get("prefill").is_some() {
        let listed = plugins(&[
            "disagg-headers-handler",
            "prefill-filter",
            "decode-filter",
            "queue-scorer",
            "kv-cache-utilization-scorer",
            "active-request-scorer",
            "prefix-cache-scorer",
            "max-score-picker",
            "always-disagg-pd-decider",
            "disagg-profile-handler",
        ]);
        let prefill = scorers(&[PREFIX, QUEUE, CACHE, PICKER]);
        let decode = scorers(&[("active-request-scorer", 2), PREFIX, PICKER]);
        return format!(
            "{HEAD}{listed}  parameters:\n    deciders:\n      prefill: always-disagg-pd-decider\n{plugin}schedulingProfiles:\n- name: prefill\n  plugins:\n  - pluginRef: prefill-filter\n{reference}{prefill}- name: decode\n  plugins:\n  - pluginRef: decode-filter\n{reference}{decode}"
        );
    }
    let listed = plugins(&[
        "single-profile-handler",
        "queue-scorer",
        "kv-cache-utilization-scorer",
        "prefix-cache-scorer",
        "no-hit-lru-scorer",
        "max-score-picker",
    ]);
    let scored = scorers(&[QUEUE, CACHE, PREFIX, ("no-hit-lru-scorer", 2), PICKER]);
    format!(
        "{HEAD}{listed}{plugin}schedulingProfiles:\n- name: default\n  plugins:\n{reference}{scored}"
    )
}

fn deployment(
    scene: &Scene<'_>,
    spec: &Node,
    scheduler: &Node,
    account: &Account,
    with_tokenizer: bool,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    let config = Origin::Derived(&SCHEDULER_CONFIG);
    let mut pod = scheduler.get("template").cloned().unwrap_or_else(|| Node::map(BY));
    let replicas = scheduler.get("replicas").cloned();
    let several = replicas.as_ref().and_then(Node::as_int).is_some_and(|count| count > 1);
    let given = flag(&pod).is_some();
    let main = position(pod.items_of("containers"), "name", MAIN);
    let mut at = 0;
    each_mut(&mut pod, "containers", |container| {
        // Only the first container of the name: further ones are invalid.
        if Some(at) == main {
            const ELECTION: [&str; 2] =
                ["--ha-enable-leader-election", "-ha-enable-leader-election"];
            let elects = container
                .items_of("args")
                .iter()
                .any(|arg| arg.as_str().is_some_and(|name| ELECTION.contains(&name)));
            // Replicas without an election would all pick, each with its own view of the queues.
            if several && !elects {
                push(container, "args", Node::str(ELECTION[0], BY));
            }
            let inline = scheduler.at(&["config", "inline"]);
            let stated = match inline {
                Some(inline) => {
                    let mut out = String::new();
                    match inline.as_str() {
                        Some(text) => out.push_str(text),
                        None => expand::json(&mut out, inline),
                    }
                    Some(Node::str(out, inline.origin))
                }
                // Arguments of the user are kept: the default would be a second configuration.
                None if given => None,
                None => Some(Node::str(usual_config(spec), config)),
            };
            if let Some(stated) = stated {
                push(container, "args", Node::str("--config-text", config));
                push(container, "args", stated);
            }
            tracing::scheduler(scene, spec, container);
        }
        at += 1;
    });
    if position(pod.items_of("containers"), "name", "tokenizer").is_some() {
        let target = Target {
            scene,
            spec,
            account: Some(account.clone()),
            container: "tokenizer",
            path: BASE,
            adapters: &[],
        };
        target.attach(&mut pod, findings)?;
        configure_tokenizer(&mut pod);
    }
    let mut labels = picker_labels(scene);
    spread(&mut labels, scheduler.get("labels"), "");
    labels.sort();
    let mut annotations = Map::new();
    spread(&mut annotations, scheduler.get("annotations"), "");
    annotations.sort();
    let stated = annotations.get("app.kubernetes.io/version").and_then(Node::scalar_text);
    let url = with_tokenizer.then(|| {
        let scheme = if scene.settings().tls { "https" } else { "http" };
        let name = scene.child("-tokenizer");
        eco_format!("{scheme}://{name}.{}.svc.{}:8000", scene.namespace(), scene.cluster_domain)
    });
    let name = scene.child("-kserve-router-scheduler");
    let what = format!("{}/{name}", scene.namespace());
    // Last, when all arguments are there: it rewrites the configuration among them.
    transform::transform(&mut pod, stated.as_deref(), url.as_deref(), &what).map_err(|message| {
        scene.failure(format!(
            "failed to reconcile scheduler: failed to build expected scheduler deployment: {message}"
        ))
    })?;
    // Labels of the user are part of the selector, which cannot be changed later.
    let selector = mapping([("matchLabels", node_of(labels.clone(), &SCHEDULER))], BY);
    let written = template(&labels, &annotations, pod, &SCHEDULER);
    let strategy = mapping([("type", Node::str("Recreate", BY))], BY);
    let mut body =
        mapping([("selector", selector), ("strategy", strategy), ("template", written)], BY);
    if let Some(replicas) = replicas {
        put(&mut body, "replicas", replicas);
    }
    let metadata = metadata(scene, name, labels, Map::new(), &SCHEDULER);
    Ok(object("apps/v1", "Deployment", metadata, [("spec", body)], &SCHEDULER))
}

/// The name of the endpoint picker's Service.
fn service_name(scene: &Scene<'_>, scheduler: &Node) -> EcoString {
    let named = text_at(scheduler, &["pool", "spec", "endpointPickerRef", "name"]);
    named.map_or_else(|| scene.child("-epp-service"), EcoString::from)
}

fn service(scene: &Scene<'_>, scheduler: &Node) -> Node {
    let containers = scheduler.at(&["template", "containers"]).map(Node::items);
    let listed =
        containers.unwrap_or_default().iter().flat_map(|container| container.items_of("ports"));
    let mut ports: Vec<(&str, &Node)> = Vec::new();
    for port in listed {
        let name = text(port, "name");
        if !PORTS.contains(&name) {
            continue;
        }
        // Go's map keeps the last port of a name.
        match ports.iter_mut().find(|(port, _)| *port == name) {
            Some(ports) => ports.1 = port,
            None => ports.push((name, port)),
        }
    }
    ports.sort_by(|a, b| a.0.cmp(b.0));
    let ports = ports.into_iter().map(|(name, port)| {
        let name = port.get("name").cloned().unwrap_or_else(|| Node::str(name, port.origin));
        let mut mapping = mapping([("name", name.clone())], BY);
        if let Some(number) = port.get("containerPort") {
            put(&mut mapping, "port", number.clone());
        }
        put(&mut mapping, "targetPort", name);
        if let Some(protocol) = port.get("protocol") {
            put(&mut mapping, "protocol", protocol.clone());
        }
        mapping
    });
    let body = mapping(
        [("selector", node_of(picker_labels(scene), &SCHEDULER)), ("ports", Node::list(ports, BY))],
        BY,
    );
    let name = service_name(scene, scheduler);
    let metadata = metadata(scene, name, picker_labels(scene), Map::new(), &SCHEDULER);
    object("v1", "Service", metadata, [("spec", body)], &SCHEDULER)
}

/// The pool in both of its versions.
fn pools(scene: &Scene<'_>, scheduler: &Node) -> Vec<Node> {
    let by = Origin::Derived(&POOL);
    let spec = scheduler.at(&["pool", "spec"]).cloned().unwrap_or_else(|| Node::map(by));
    let in_pod = || {
        let name = scene.child("-inference-pool");
        metadata(scene, name, picker_labels(scene), Map::new(), &POOL)
    };
    let mut former = Node::map(by);
    if let Some(labels) = spec.at(&["selector", "matchLabels"]) {
        put(&mut former, "selector", labels.clone());
    }
    // The former version has one port.
    if let Some(number) = spec.items_of("targetPorts").first().and_then(|port| port.get("number")) {
        put(&mut former, "targetPortNumber", number.clone());
    }
    if let Some(picker) = spec.get("endpointPickerRef") {
        let mut extension = Node::map(by);
        for key in ["group", "kind", "name", "failureMode"] {
            if let Some(value) = picker.get(key) {
                put(&mut extension, key, value.clone());
            }
        }
        if let Some(number) = picker.at(&["port", "number"]) {
            put(&mut extension, "portNumber", number.clone());
        }
        put(&mut former, "extensionRef", extension);
    }
    vec![
        object(
            "inference.networking.k8s.io/v1",
            "InferencePool",
            in_pod(),
            [("spec", spec)],
            &POOL,
        ),
        object(
            "inference.networking.x-k8s.io/v1alpha2",
            "InferencePool",
            in_pod(),
            [("spec", former)],
            &POOL,
        ),
    ]
}

fn tokenizer(
    scene: &Scene<'_>,
    spec: &Node,
    scheduler: &Node,
    account: &Account,
    findings: &mut Vec<Diagnostic>,
) -> Result<[Node; 2], Failure> {
    let by = Origin::Derived(&TOKENIZER);
    let by_key = component_labels(scene, TOKENIZER_LABEL);
    let name = scene.child("-tokenizer");
    let pod = scheduler.at(&["tokenizer", "template"]).cloned();
    let mut pod = pod.unwrap_or_else(|| Node::map(by));
    let named = text_at(scheduler, &["template", "serviceAccountName"]).is_some();
    let target = Target {
        scene,
        spec,
        account: Some(account.clone()).filter(|_| named),
        container: MAIN,
        path: BASE,
        adapters: &[],
    };
    target.attach(&mut pod, findings).map_err(|failure| Failure {
        message: format!(
            "failed to reconcile scheduler: failed to build expected tokenizer deployment: failed to attach model artifacts to tokenizer deployment: {}",
            failure.message
        ),
        ..failure
    })?;
    let written = template(&by_key, &Map::new(), pod, &TOKENIZER);
    let selector = mapping([("matchLabels", node_of(by_key.clone(), &TOKENIZER))], by);
    let body = mapping(
        [("replicas", Node::int(1, by)), ("selector", selector), ("template", written)],
        by,
    );
    let metadata =
        || super::parts::metadata(scene, name.clone(), by_key.clone(), Map::new(), &TOKENIZER);
    let service = node!(&TOKENIZER; {
        selector: (by_key.clone()),
        ports: [{
            name: "render-http",
            port: 8000,
            targetPort: "render-http",
            protocol: "TCP",
        }],
    });
    let service = service.unwrap_or_else(|| Node::map(by));
    Ok([
        object("apps/v1", "Deployment", metadata(), [("spec", body)], &TOKENIZER),
        object("v1", "Service", metadata(), [("spec", service)], &TOKENIZER),
    ])
}

/// Writes the settings of a tokenizer that runs beside the scheduler (WithUdsTokenizerConfig).
fn configure_tokenizer(pod: &mut Node) {
    const BY: Origin = Origin::Derived(&SCHEDULER_CONFIG);
    mutate(pod, &mut |config| {
        each_plugin(config, &[PRECISE_SCORER], |plugin| {
            if map_mut(plugin, "parameters", BY).is_none() {
                return;
            }
            let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
            _ = map_mut(parameters, "indexerConfig", BY);
            let Some(indexer) = at_mut(parameters, &["indexerConfig"]) else { return };
            _ = map_mut(indexer, "tokenizersPoolConfig", BY);
            if let Some(pool) = at_mut(indexer, &["tokenizersPoolConfig"]) {
                put(pool, "modelName", Node::str("base", BY));
                if let Some(uds) = map_mut(pool, "uds", BY) {
                    let socket = "/tmp/tokenizer/tokenizer-uds.socket";
                    uds.insert("socketFile", Node::str(socket, BY));
                }
            }
            let processor = indexer.get("tokenProcessorConfig").cloned();
            if let Some(processor) = processor
                && parameters.get("tokenProcessorConfig").is_none()
            {
                put(parameters, "tokenProcessorConfig", processor);
            }
        });
        each_plugin(config, &[PREFIX_SCORER], |plugin| {
            let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
            if let Some(size) = parameters.get("blockSize").cloned()
                && parameters.get("blockSizeTokens").is_none()
            {
                put(parameters, "blockSizeTokens", size);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_configuration_has_a_profile_for_each_part() {
        let spec = Node::map(BY);
        let text = usual_config(&spec);
        let read = super::super::names_of_plugins::parsed(&text).expect("a mapping");
        assert_eq!(read.items_of("schedulingProfiles").len(), 1);
        assert_eq!(read.items_of("plugins").len(), 6);
        let mut spec = Node::map(BY);
        put(&mut spec, "prefill", Node::map(BY));
        let read = super::super::names_of_plugins::parsed(&usual_config(&spec)).expect("a mapping");
        assert_eq!(read.items_of("schedulingProfiles").len(), 2);
    }
}
