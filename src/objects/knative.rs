//! Annotations of every Knative Service, those of OME as well as those of KServe
//! (reconcilers/knative/ksvc_reconciler.go of OME and of KServe).

use super::metadata::{label, with, without};
use crate::yaml::{Entry, Map, Node, Rule, Value};

/// Annotations of the Service itself; all others belong to its revisions.
const MANAGED: [&str; 2] =
    ["serving.knative.dev/rollout-duration", "serving.knative.openshift.io/enablePassthrough"];

/// The annotations of a component that the Service has.
pub(crate) fn of_service(annotations: &Map) -> Map {
    without(annotations, |key| !MANAGED.contains(&key))
}

/// Annotations of a revision: the component's, with those of the autoscaler over them. `field` is a
/// field of the component's spec, `least` its minReplicas where the spec has none.
pub(crate) fn scaling<'n>(
    annotations: &Map,
    field: impl Fn(&str) -> Option<&'n Node>,
    least: Option<Node>,
    rule: &'static Rule,
) -> Map {
    let number = |key: &str| {
        // Values of annotations are texts; the origin stays that of the number.
        field(key).and_then(|node| Some(Node::new(Value::Str(node.scalar_text()?), node.origin)))
    };
    let entry = |key: &'static str, node: Option<Node>| {
        node.map(|node| Entry { key: key.into(), key_origin: node.origin, node })
    };
    let given = without(annotations, |key| MANAGED.contains(&key));
    // A class that the user set, such as that of the HPA, is kept.
    let class = (!given.contains_key("autoscaling.knative.dev/class"))
        .then(|| label("autoscaling.knative.dev/class", "kpa.autoscaling.knative.dev", rule));
    let entries = [
        class,
        entry("autoscaling.knative.dev/min-scale", number("minReplicas").or(least)),
        entry(
            "autoscaling.knative.dev/max-scale",
            // 0 is the zero value of Go and means that there is no upper bound.
            number("maxReplicas").filter(|node| node.as_str() != Some("0")),
        ),
        entry("autoscaling.knative.dev/target", number("scaleTarget")),
        entry("autoscaling.knative.dev/metric", number("scaleMetric")),
    ];
    // Later entries win: fields of the spec replace annotations of the same meaning.
    with(&given, entries.into_iter().flatten())
}
