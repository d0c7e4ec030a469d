//! Probes and lifecycle handlers of a container.

use super::judge::Judge;
use crate::quantity::names;
use crate::yaml::{At, Node};

/// Judges a probe; only a readiness probe may require more than one success.
pub(super) fn probe(judge: &mut Judge<'_>, at: &At<'_>, probe: &Node, readiness: bool) {
    handler(judge, at, probe, &["exec", "httpGet", "tcpSocket", "grpc"], None);
    if let Some(seconds) = probe.get("terminationGracePeriodSeconds") {
        let at = at.field("terminationGracePeriodSeconds");
        if seconds.as_int().is_some_and(|number| number <= 0) {
            judge.invalid(&at, seconds, "must be greater than 0", "write at least 1");
        }
        // A failed readiness probe stops nothing, so that there is no period to wait.
        if readiness {
            judge.invalid(&at, seconds, "must not be set for readinessProbes", "delete it");
        }
    }
    for key in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        let Some(number) = probe.get(key) else { continue };
        if number.as_int().is_some_and(|number| number < 0) {
            judge.invalid(
                &at.field(key),
                number,
                "must be greater than or equal to 0",
                "write at least 0",
            );
        }
    }
    if let Some(number) = probe
        .get("successThreshold")
        // A liveness or startup probe that has succeeded once is satisfied.
        .filter(|number| !readiness && number.as_int().is_some_and(|number| number > 1))
    {
        judge.invalid(&at.field("successThreshold"), number, "must be 1", "write 1");
    }
}

/// Judges a handler: exactly one action, with a valid port. `sleep` has to end within the grace
/// period.
pub(super) fn handler(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    handler: &Node,
    kinds: &[&str],
    grace: Option<i64>,
) {
    let mut found = 0;
    for kind in kinds {
        let Some(node) = handler.get(kind) else { continue };
        found += 1;
        let at = at.field(kind);
        if found > 1 {
            judge.forbidden(
                &at,
                node,
                "may not specify more than 1 handler type",
                "keep one of them",
            );
            // The server does not look into a second handler.
            continue;
        }
        match *kind {
            "exec" if node.items_of("command").is_empty() => {
                judge.required(&at.field("command"), node, "");
            }
            "httpGet" | "tcpSocket" => port(judge, &at.field("port"), node),
            "grpc" => {
                // An absent port is 0 in Go and out of range. Ports of gRPC have no names.
                let number = node.get("port").map_or(Some(0), Node::as_int);
                judge.shaped(
                    &at.field("port"),
                    node.get("port").unwrap_or(node),
                    number.map(names::port_number).unwrap_or_default(),
                );
            }
            "sleep" => {
                let seconds = node.get("seconds").map_or(Some(0), Node::as_int);
                if let Some(grace) = grace
                    // In seconds; a longer sleep would be cut off when the grace period ends.
                    .filter(|grace| seconds.is_some_and(|seconds| !(0..=*grace).contains(&seconds)))
                {
                    let message = format!(
                        "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                    );
                    judge.invalid(
                        &at,
                        node.get("seconds").unwrap_or(node),
                        &message,
                        "sleep for a shorter time",
                    );
                }
            }
            _ => {}
        }
        if *kind == "httpGet" {
            judge.one_of(&at.field("scheme"), node.get("scheme"), &["HTTP", "HTTPS"]);
            for header in node.items_of("httpHeaders") {
                let name = header.get("name").and_then(Node::as_str).unwrap_or_default();
                judge.shaped(
                    &at.field("httpHeaders"),
                    header.get("name").unwrap_or(header),
                    names::http_header_name(name),
                );
            }
        }
    }
    if found == 0 {
        judge.required(at, handler, "must specify a handler type");
    }
}

/// A port by number or name.
pub(super) fn port(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) {
    match holder.get("port") {
        // A number in quotes is a name to the server.
        Some(port) if port.as_int().is_some() => {
            judge.shaped(at, port, port.as_int().map(names::port_number).unwrap_or_default());
        }
        Some(port) => {
            judge.shaped(at, port, port.as_str().map(names::port_name).unwrap_or_default());
        }
        None => judge.required(at, holder, ""),
    }
}
