//! `ome render --stage merged`: components before objects are rendered (docs/json.md,
//! `render-merged`).

use super::SCHEMA_VERSION;
use crate::pipeline::MergedService;
use serde_json::{Value, json};

/// The documented JSON format.
pub fn json(services: &[MergedService<'_>]) -> Value {
    json!({ "schemaVersion": SCHEMA_VERSION, "services": services.iter().map(service).collect::<Vec<_>>() })
}

fn service(merged: &MergedService<'_>) -> Value {
    let components = merged.parts.iter().flatten().map(|component| {
        let mut out = json!({
            "name": component.kind.as_str(),
            "deploymentMode": component.mode.as_str(),
            "spec": component.pod.to_json(),
        });
        if let Some((pod, size)) = &component.worker {
            out["worker"] = json!({ "size": size, "spec": pod.to_json() });
        }
        out
    });
    json!({ "name": merged.service.name().as_str(), "namespace": merged.service.namespace.as_str(), "components": components.collect::<Vec<_>>() })
}
