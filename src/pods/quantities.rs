//! Quantities as Kubernetes writes them: `cpu: 10` and `cpu: "10"` are one value (OME docs, Serving
//! Runtime).
//!
//! Trees of the controller's semantics have been through its types and need none of this.

use crate::merge::edit::{each_mut, field_mut};
use crate::quantity::Quantity;
use crate::yaml::{Node, Value};

/// Writes the quantities of a pod in canonical form; invalid ones stay, and have findings
/// elsewhere.
pub(crate) fn canonical(pod: &mut Node) {
    for key in ["containers", "initContainers"] {
        each_mut(pod, key, amounts);
    }
    each_mut(pod, "volumes", |volume| {
        if let Some(limit) =
            field_mut(volume, "emptyDir").and_then(|source| field_mut(source, "sizeLimit"))
        {
            rewrite(limit);
        }
        if let Some(claim) = field_mut(volume, "ephemeral")
            .and_then(|source| field_mut(source, "volumeClaimTemplate"))
            .and_then(|claim| field_mut(claim, "spec"))
        {
            amounts(claim);
        }
    });
}

/// Rewrites the requests and limits of a node with resources.
fn amounts(node: &mut Node) {
    let Some(resources) = field_mut(node, "resources") else { return };
    for side in ["requests", "limits"] {
        if let Some(map) = field_mut(resources, side).and_then(Node::as_map_mut) {
            map.iter_mut().for_each(|entry| rewrite(&mut entry.node));
        }
    }
}

fn rewrite(node: &mut Node) {
    // A number becomes a string, as the API server encodes every quantity.
    if let Some(quantity) = node.scalar_text().and_then(|text| Quantity::parse(&text).ok()) {
        node.value = Value::Str(quantity.canonical());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::{flow, node};

    #[test]
    fn quantities_become_canonical() {
        for (written, expected) in [
            (
                "{containers: [{resources: {limits: {cpu: 10, memory: 1024Mi}, requests: {cpu: '10', memory: 1.5Gi}}}]}",
                "{containers: [{resources: {limits: {cpu: 10, memory: 1Gi}, requests: {cpu: 10, memory: 1536Mi}}}]}",
            ),
            (
                "{initContainers: [{resources: {limits: {cpu: 0.5}}}]}",
                "{initContainers: [{resources: {limits: {cpu: 500m}}}]}",
            ),
            (
                "{volumes: [{emptyDir: {sizeLimit: 2048Mi}}]}",
                "{volumes: [{emptyDir: {sizeLimit: 2Gi}}]}",
            ),
            (
                "{containers: [{resources: {limits: {cpu: many}}}, {name: a}]}",
                "{containers: [{resources: {limits: {cpu: many}}}, {name: a}]}",
            ),
        ] {
            let mut pod = node(written);
            canonical(&mut pod);
            assert_eq!(flow(&pod), expected);
        }
    }

    #[test]
    fn bare_numbers_become_texts() {
        let mut pod = node("{containers: [{resources: {limits: {cpu: 10}}}]}");
        canonical(&mut pod);
        assert_eq!(
            pod.to_json(),
            serde_json::json!({"containers": [{"resources": {"limits": {"cpu": "10"}}}]})
        );
    }
}
