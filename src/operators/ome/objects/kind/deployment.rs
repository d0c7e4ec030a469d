//! Deployment, `apps/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go).

use crate::objects::build::{IntoNode, node, set};
use crate::objects::{pod_defaults as pod, rules};
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Map, Node, Origin, Value};

const DEFAULT: Origin = Origin::Default(&rules::DEPLOYMENT);
const STRATEGY: Origin = Origin::Default(&rules::DEPLOYMENT_STRATEGY);

/// The Deployment of a component. `spec.replicas` is never set: the autoscaler manages it.
pub(crate) fn object(frame: &Frame<'_>, pod_spec: &Node) -> Option<Node> {
    node!(&rules::DEPLOYMENT; {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: (frame.metadata(frame.deployment.clone(), &frame.app_labels, &frame.annotations)),
        spec: {
            selector: { matchLabels: (frame.app_selector()) },
            template: {
                // Upstream puts the whole metadata into the template, name and namespace included.
                metadata: (frame.metadata(frame.name().clone(), &frame.app_labels, &frame.annotations)),
                spec: (pod::deployment(pod_spec, &["ome-container"])),
            },
            strategy: (strategy(frame.spec("deploymentStrategy"))),
            revisionHistoryLimit: (10.into_node(DEFAULT)),
            progressDeadlineSeconds: (600.into_node(DEFAULT)),
        },
    })
}

/// The component's strategy. The default type is a rolling update, and by default it adds one pod
/// first.
fn strategy(given: Option<&Node>) -> Node {
    let mut strategy = given
        .filter(|node| node.as_map().is_some())
        .cloned()
        .unwrap_or_else(|| Node::map(STRATEGY));
    if let Value::Map(map) = &mut strategy.value {
        if is_empty(map, "type") {
            set(map, "type", "RollingUpdate", STRATEGY);
        }
        // Recreate with parameters of a rolling update is refused by the API server.
        let rolling = map.get("type").and_then(Node::as_str) == Some("RollingUpdate");
        if rolling && map.get("rollingUpdate").is_none_or(Node::is_null) {
            set(
                map,
                "rollingUpdate",
                node!(STRATEGY; { maxUnavailable: 0, maxSurge: 1 }),
                STRATEGY,
            );
        }
    }
    strategy
}

fn is_empty(map: &Map, key: &str) -> bool {
    map.get(key).is_none_or(|node| node.is_null() || node.as_str() == Some(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn unset_deployment_strategy_fields_get_defaults() {
        for (given, expected) in [
            (
                "null",
                r#"{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0,"maxSurge":1}}"#,
            ),
            (r#"{"type":"Recreate"}"#, r#"{"type":"Recreate"}"#),
            (
                r#"{"type":"RollingUpdate"}"#,
                r#"{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0,"maxSurge":1}}"#,
            ),
            (
                r#"{"rollingUpdate":{"maxSurge":"50%"}}"#,
                r#"{"rollingUpdate":{"maxSurge":"50%"},"type":"RollingUpdate"}"#,
            ),
        ] {
            assert_eq!(strategy(Some(&parse(given))), parse(expected), "{given}");
        }
    }
}
