//! The endpoints of services, as JSON and as text.

use super::SCHEMA_VERSION;
use super::cell::row;
use super::findings;
use super::screen::{Page, line};
use super::table::{Style, table};
use crate::diag::Diagnostic;
use crate::protocol::{Endpoint, Entry, GrpcEndpoint, Proto};
use crate::source::SourceMap;
use serde::Serialize;
use serde_json::{Value, json};

/// One service with its endpoints.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceEndpoints {
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// `ome` or `kserve`.
    pub api: &'static str,
    /// Protocol, as its API names it; `None` for a service in error.
    pub protocol: Option<String>,
    /// Name of the model in paths and payloads.
    pub model: Option<String>,
    /// Its entry points.
    #[serde(flatten)]
    pub entry: Entry,
    /// Rows of the protocol's table; omitted if the protocol has no paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<Endpoint>,
    /// The gRPC service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcEndpoint>,
}

/// Everything as JSON.
pub fn json(
    services: &[ServiceEndpoints],
    proto: Option<&Proto>,
    found: &[Diagnostic],
    sources: &SourceMap,
) -> Value {
    let mut out = json!({
        "schemaVersion": SCHEMA_VERSION,
        "services": services,
        "findings": found.iter().map(|finding| findings::json(finding, sources)).collect::<Vec<_>>(),
    });
    if let Some(proto) = proto {
        out["proto"] = json!(proto);
    }
    out
}

/// A paragraph per service.
pub fn text(services: &[ServiceEndpoints], proto: Option<&Proto>, style: Style) -> String {
    let mut out = Page::default();
    for (position, service) in services.iter().enumerate() {
        if position > 0 {
            out.end_line();
        }
        // Without a composed service neither its name nor its port is certain.
        let Some(protocol) = service.protocol.as_deref() else {
            line!(out, "{}/{}: not known: it was not rendered", service.namespace, service.name);
            continue;
        };
        line!(
            out,
            "{}/{}: {protocol}, model {}",
            service.namespace,
            service.name,
            service.model.as_deref().unwrap_or("unknown")
        );
        let none = if service.entry.is_routed {
            // The router of the cluster gives a Route its host.
            format!(
                "Route {0}, whose host the cluster gives: `kubectl get route {0} -n {1}`",
                service.name, service.namespace
            )
        } else {
            "none (no Ingress or Gateway)".to_owned()
        };
        for (where_from, base) in
            [("external", &service.entry.external), ("internal", &service.entry.internal)]
        {
            line!(out, "  {where_from}: {}", base.as_deref().unwrap_or(&none));
        }
        if let Some(grpc) = &service.grpc {
            line!(
                out,
                "  gRPC    {}:{} {}: {}",
                grpc.host,
                grpc.port,
                grpc.service,
                grpc.rpcs.join(", ")
            );
        }
        if service.endpoints.is_empty() && service.grpc.is_none() {
            line!(out, "  no document names paths of {protocol}");
        }
        if !service.endpoints.is_empty() {
            let rows = service.endpoints.iter().map(|endpoint| {
                // Without an external address the path is all that is known.
                let place = endpoint.url.as_ref().unwrap_or(&endpoint.path);
                row![endpoint.verb, place.as_str(), endpoint.purpose]
            });
            out.draw(&table(&["VERB", "URL", "PURPOSE"], rows, style));
        }
        for endpoint in &service.endpoints {
            for (what, body) in [
                ("request", &endpoint.request),
                ("response", &endpoint.response),
                ("error", &endpoint.error_response),
            ] {
                if let Some(body) = body {
                    line!(out, "  {} {what}: {body}", endpoint.api);
                }
            }
        }
    }
    if let Some(proto) = proto {
        line!(out, "\nservice {}", proto.service);
        for rpc in proto.rpcs {
            line!(out, "  rpc {}({}) returns ({})", rpc.name, rpc.request, rpc.response);
        }
        for message in proto.messages {
            line!(out, "message {}", message.name);
            for field in message.fields {
                line!(out, "  {} {} = {}", field.r#type, field.name, field.number);
            }
        }
    }
    out.finish()
}
