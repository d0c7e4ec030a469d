//! Probes and the handlers of a container's life.

use super::at::At;
use super::judge::Judge;
use crate::quantity::names;
use crate::yaml::Node;

/// Judges a probe; only readiness may want more than one success.
pub(super) fn probe(judge: &mut Judge<'_>, at: &At<'_>, probe: &Node, one_success: bool) {
    handler(judge, at, probe, &["exec", "httpGet", "tcpSocket", "grpc"]);
    for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        let Some(number) = probe.get(key) else { continue };
        if number.as_int().is_some_and(|number| number < 0) {
            judge.invalid(&at.field(key), number, "must be greater than or equal to 0", "write at least 0");
        }
    }
    if let Some(number) = probe.get("successThreshold").filter(|number| one_success && number.as_int().is_some_and(|number| number > 1)) {
        judge.invalid(&at.field("successThreshold"), number, "must be 1", "write 1");
    }
}

/// Judges a handler: exactly one way of asking, with a port that can be one.
pub(super) fn handler(judge: &mut Judge<'_>, at: &At<'_>, handler: &Node, kinds: &[&str]) {
    let mut found = 0;
    for kind in kinds {
        let Some(node) = handler.get(kind) else { continue };
        found += 1;
        let at = at.field(kind);
        if found > 1 {
            judge.forbidden(&at, node, "may not specify more than 1 handler type", "keep one of them");
            continue;
        }
        match *kind {
            "exec" if super::pod::items(node, "command").is_empty() => judge.required(&at.field("command"), node, ""),
            "httpGet" | "tcpSocket" => port(judge, &at.field("port"), node),
            _ => {}
        }
        if *kind == "httpGet" {
            judge.one_of(&at.field("scheme"), node.get("scheme"), &["HTTP", "HTTPS"]);
        }
    }
    if found == 0 {
        judge.required(at, handler, "must specify a handler type");
    }
}

/// A port by number or name.
pub(super) fn port(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) {
    match holder.get("port") {
        Some(port) if port.as_int().is_some() => judge.shaped(at, port, port.as_int().map(names::port_number).unwrap_or_default()),
        Some(port) => judge.shaped(at, port, port.as_str().map(names::port_name).unwrap_or_default()),
        None => judge.required(at, holder, ""),
    }
}
