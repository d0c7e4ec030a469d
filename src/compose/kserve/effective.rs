//! The pod as the webhook of pods leaves it: what fetches or mounts the model, the agent, probes of V2 (kserve.md 5.7,
//! 5.8; S1-004, S3-005, S3-031).

use super::predictor::MAIN;
use super::storage::{MODELS, initializer, mount};
use super::{Facts, empty, facts};
use crate::api::{Amounts, ComponentKind, KServeConfig, Runtime, Service};
use crate::compose::ComposedComponent;
use crate::compose::container::{has_volume, push};
use crate::compose::edit::{each_mut, mapping, text};
use crate::compose::rules::{KSERVE_AGENT, KSERVE_STORAGE, KSERVE_V2_PROBES};
use crate::decision::ServiceError;
use crate::policy::Policy;
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

/// Prefix of annotations for the webhook.
const INTERNAL: &str = "internal.serving.kserve.io/";

/// A component with its pod as the webhook leaves it, as far as the flags ask for it.
///
/// # Errors
/// When the container that fetches the model cannot be made.
pub fn effective(
    policy: &Policy,
    service: &Service,
    runtime: Option<&Runtime>,
    config: &KServeConfig,
    component: &ComposedComponent,
) -> Result<ComposedComponent, ServiceError> {
    let mut component = component.clone();
    let Some(facts) = facts(policy, service, runtime, config) else { return Ok(component) };
    if config.v2_probes && component.kind == ComponentKind::Predictor && facts.protocol.as_deref() == Some("v2") {
        each_mut(&mut component.pod, "containers", probes);
    }
    if config.expand {
        let spec = component.spec.clone();
        fetch(&facts, &spec, &component.annotations, &mut component.pod)?;
        agent(&facts, component.kind, &component.annotations, &mut component.pod);
    }
    Ok(component)
}

fn internal<'m>(annotations: &'m Map, key: &str) -> Option<&'m Node> {
    annotations.iter().find(|entry| entry.key.strip_prefix(INTERNAL) == Some(key)).map(|entry| &entry.node)
}

fn first_port(container: &Node) -> Node {
    let port = container.get("ports").and_then(|ports| ports.items().first()).and_then(|port| port.get("containerPort"));
    port.cloned().unwrap_or_else(|| Node::int(8080, Origin::Derived(&KSERVE_V2_PROBES)))
}

/// Asks a server that speaks v2 whether it is ready and lives, unless somebody asks already.
fn probes(container: &mut Node) {
    if text(container, "name") != MAIN {
        return;
    }
    let origin = Origin::Derived(&KSERVE_V2_PROBES);
    let port = first_port(container);
    let Some(map) = container.as_map_mut() else { return };
    for (probe, path) in [("readinessProbe", "/v2/health/ready"), ("livenessProbe", "/v2/health/live")] {
        if map.get(probe).is_none_or(Node::is_null) {
            let request = mapping([("path", Node::str(path, origin)), ("port", port.clone())], origin);
            map.insert(probe, mapping([("httpGet", request)], origin));
        }
    }
}

/// Volume that holds the downloaded model.
const VOLUME: &str = "kserve-provision-location";

/// Mounts a claim, or fetches the model before the server starts.
fn fetch(facts: &Facts<'_>, spec: &Node, annotations: &Map, pod: &mut Node) -> Result<(), ServiceError> {
    let Some(uri) = internal(annotations, "storage-initializer-sourceuri") else { return Ok(()) };
    let address = uri.as_str().unwrap_or_default();
    if internal(annotations, "agent").is_some() || address.starts_with("oci") {
        return Ok(());
    }
    let origin = Origin::Derived(&KSERVE_STORAGE);
    if let Some(claim) = address.strip_prefix("pvc://") {
        const VOLUME: &str = "kserve-pvc-source";
        let (name, path) = claim.split_once('/').unwrap_or((claim, ""));
        if !has_volume(pod, VOLUME) {
            let source = mapping([("claimName", Node::str(name, uri.origin))], origin);
            push(pod, "volumes", mapping([("name", Node::str(VOLUME, origin)), ("persistentVolumeClaim", source)], origin));
        }
        mount(facts, pod, VOLUME, MODELS, Some(path));
        return Ok(());
    }
    let container = initializer(facts, address, spec)?.built(facts, vec![uri.clone(), Node::str(MODELS, origin)], VOLUME, MODELS)?;
    push(pod, "initContainers", container);
    push(pod, "volumes", mapping([("name", Node::str(VOLUME, origin)), ("emptyDir", empty(&KSERVE_STORAGE))], origin));
    mount(facts, pod, VOLUME, MODELS, None);
    Ok(())
}

/// Puts the agent in front of the server when it logs, batches or pulls.
fn agent(facts: &Facts<'_>, kind: ComponentKind, annotations: &Map, pod: &mut Node) {
    let says = |key: &str| internal(annotations, key).and_then(Node::as_str);
    let (logs, batches, pulls) = (says("logger") == Some("true"), says("batcher") == Some("true"), says("agent") == Some("true"));
    if !(logs || batches || pulls) {
        return;
    }
    let origin = Origin::Derived(&KSERVE_AGENT);
    let mut args: Vec<Node> = Vec::new();
    let mut tell = |words: &[&str]| args.extend(words.iter().map(|word| Node::str(*word, origin)));
    if pulls {
        tell(&["--enable-puller", "--config-dir", "/mnt/configs", "--model-dir", MODELS]);
    }
    if batches {
        tell(&["--enable-batcher"]);
        for (key, flag) in [("batcher-max-batchsize", "--max-batchsize"), ("batcher-max-latency", "--max-latency")] {
            if let Some(value) = says(key) {
                tell(&[flag, value]);
            }
        }
    }
    if logs {
        let url = says("logger-sink-url").unwrap_or(&facts.config.logger_url);
        tell(&["--log-url", url, "--source-uri", facts.service.name(), "--log-mode", says("logger-mode").unwrap_or("all")]);
        tell(&["--inference-service", facts.service.name(), "--namespace", &facts.service.namespace, "--component", kind.as_str()]);
    }
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    let named = |name: &str| containers.iter().find(|container| text(container, "name") == name);
    let port = named("transformer-container").or_else(|| named(MAIN)).map(first_port).and_then(|port| port.scalar_text());
    tell(&["--component-port", port.as_deref().unwrap_or("8080")]);
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } = &facts.config.agent.resources;
    let amounts =
        |cpu: &EcoString, memory: &EcoString| mapping([("cpu", Node::str(cpu.clone(), origin)), ("memory", Node::str(memory.clone(), origin))], origin);
    let resources = mapping([("limits", amounts(cpu_limit, memory_limit)), ("requests", amounts(cpu_request, memory_request))], origin);
    let port = mapping([("name", Node::str("agent-port", origin)), ("containerPort", Node::int(9081, origin)), ("protocol", Node::str("TCP", origin))], origin);
    let header = mapping([("name", Node::str("K-Network-Probe", origin)), ("value", Node::str("queue", origin))], origin);
    let request = mapping([("path", Node::str("/", origin)), ("port", Node::int(9081, origin)), ("httpHeaders", Node::list([header], origin))], origin);
    let container = mapping(
        [
            ("name", Node::str("agent", origin)),
            ("image", Node::str(facts.config.agent.image.clone(), origin)),
            ("args", Node::list(args, origin)),
            ("ports", Node::list([port], origin)),
            ("resources", resources),
            ("readinessProbe", mapping([("httpGet", request)], origin)),
        ],
        origin,
    );
    push(pod, "containers", container);
}
