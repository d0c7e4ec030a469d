//! Traces of servers and of the scheduler (pkg/controller/v1alpha2/llmisvc/tracing.go).

use super::rules::TRACING;
use super::scene::{MAIN, Scene, text_at};
use crate::merge::edit::{each_mut, mapping, position, text};
use crate::pods::container::push;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

const BY: Origin = Origin::Derived(&TRACING);

fn has_flag(container: &Node, flag: &str) -> bool {
    container.items_of("args").iter().filter_map(Node::as_str).any(|argument| {
        // `--flag` and `--flag=value`, but not `--flag-of-another`.
        argument.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

fn variables(scene: &Scene<'_>, tracing: &Node, service: &str, container: &mut Node) {
    let value = |key: &str| tracing.get(key).cloned().unwrap_or_else(|| Node::str("", BY));
    let of_pod = |name: &str, path: &str| {
        let field =
            mapping([("apiVersion", Node::str("v1", BY)), ("fieldPath", Node::str(path, BY))], BY);
        let source = mapping([("fieldRef", field)], BY);
        mapping([("name", Node::str(name, BY)), ("valueFrom", source)], BY)
    };
    let plain =
        |name: &str, value: Node| mapping([("name", Node::str(name, BY)), ("value", value)], BY);
    let attributes = eco_format!(
        "k8s.namespace.name={},k8s.node.name=$(OTEL_RESOURCE_ATTRIBUTES_NODE_NAME),k8s.pod.name=$(OTEL_RESOURCE_ATTRIBUTES_POD_NAME),llmisvc.name={}",
        scene.namespace(),
        scene.name()
    );
    let added = [
        plain("OTEL_SERVICE_NAME", Node::str(service, BY)),
        plain("OTEL_EXPORTER_OTLP_ENDPOINT", value("exporterEndpoint")),
        plain("OTEL_TRACES_EXPORTER", value("exporter")),
        plain("OTEL_TRACES_SAMPLER", value("sampler")),
        plain("OTEL_TRACES_SAMPLER_ARG", value("samplerArg")),
        of_pod("OTEL_RESOURCE_ATTRIBUTES_NODE_NAME", "spec.nodeName"),
        of_pod("OTEL_RESOURCE_ATTRIBUTES_POD_NAME", "metadata.name"),
        plain("OTEL_RESOURCE_ATTRIBUTES", Node::str(attributes, BY)),
    ];
    let given: Vec<EcoString> =
        container.items_of("env").iter().map(|env| text(env, "name").into()).collect();
    for variable in added {
        // The user's value wins.
        if !given.iter().any(|name| name == text(&variable, "name")) {
            push(container, "env", variable);
        }
    }
}

/// Lets the main container of a server send traces. `role` is `-decode` or `-prefill`.
pub(super) fn server(scene: &Scene<'_>, spec: &Node, role: &str, pod: &mut Node) {
    let Some(tracing) = spec.get("tracing") else { return };
    let Some(endpoint) = tracing.get("exporterEndpoint") else { return };
    // An empty endpoint switches traces of servers off.
    if text_at(tracing, &["exporterEndpoint"]).is_none() {
        return;
    }
    let index = position(pod.items_of("containers"), "name", MAIN);
    let mut at = 0;
    each_mut(pod, "containers", |container| {
        if Some(at) == index {
            if !has_flag(container, "--otlp-traces-endpoint") {
                push(container, "args", Node::str("--otlp-traces-endpoint", BY));
                push(container, "args", endpoint.clone());
            }
            if !has_flag(container, "--collect-detailed-traces") {
                push(container, "args", Node::str("--collect-detailed-traces", BY));
                push(container, "args", Node::str("all", BY));
            }
            variables(scene, tracing, &format!("inference-server{role}"), container);
        }
        at += 1;
    });
}

/// Lets the scheduler send traces.
pub(super) fn scheduler(scene: &Scene<'_>, spec: &Node, container: &mut Node) {
    let Some(tracing) = spec.get("tracing") else { return };
    if !has_flag(container, "--tracing") && !has_flag(container, "-tracing") {
        push(container, "args", Node::str("--tracing=true", BY));
    }
    variables(scene, tracing, "inference-scheduler", container);
}
