//! Knative Service, `serving.knative.dev/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go).

use crate::objects::build::{IntoNode, node, set};
use crate::objects::knative;
use crate::objects::metadata::{VISIBILITY, text, without};
use crate::objects::rules;
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Node, Origin, Rule};

/// The Knative Service of a component. Offline there is no earlier revision: all traffic goes to
/// the latest one.
pub(crate) fn object(frame: &Frame<'_>, pod: &Node) -> Option<Node> {
    const RULE: &Rule = &rules::KNATIVE;
    let managed = knative::of_service(&frame.annotations);
    let scaling = knative::scaling(
        &frame.annotations,
        |key| frame.spec(key),
        "1".into_node(Origin::Default(&rules::KNATIVE_SCALING)),
        &rules::KNATIVE_SCALING,
    );
    let tagged = text(&frame.annotations, "ome.io/enable-tag-routing").as_deref() == Some("true");
    node!(RULE; {
        apiVersion: "serving.knative.dev/v1",
        kind: "Service",
        metadata: (frame.metadata(frame.name().clone(), &frame.queued_labels, &managed)),
        spec: {
            template: {
                metadata: { labels: (without(&frame.labels, |key| key == VISIBILITY)), annotations: scaling },
                spec: (revision(frame, pod)),
            },
            traffic: [{ tag: (tagged.then_some("latest")), latestRevision: true, percent: 100 }],
        },
    })
}

/// The pod with the fields that a revision adds.
fn revision(frame: &Frame<'_>, pod: &Node) -> Node {
    const RULE: &Rule = &rules::KNATIVE;
    let mut pod = pod.clone();
    if let Some(map) = pod.as_map_mut() {
        set(map, "containerConcurrency", frame.spec("containerConcurrency"), RULE);
        set(map, "timeoutSeconds", frame.spec("timeoutSeconds"), RULE);
        // Knative refuses a start timeout above the whole timeout; the operator sets them equal.
        set(map, "responseStartTimeoutSeconds", frame.spec("timeoutSeconds"), RULE);
    }
    pod
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::Case;

    #[test]
    fn replica_bounds_and_metric_become_annotations_of_the_revision() {
        let case = Case::engine(r#"{"minReplicas":0,"maxReplicas":5,"scaleMetric":"rps","scaleTarget":20,"timeoutSeconds":300}"#, r#"{"containers":[]}"#)
            .annotated(r#"{"serving.knative.dev/rollout-duration":"5m","autoscaling.knative.dev/min-scale":"9","volcano":"x","a":"b"}"#);
        let object = object(&case.frame(), &case.component.pod).expect("an object").to_json();
        assert_eq!(
            object["metadata"]["annotations"],
            serde_json::json!({"serving.knative.dev/rollout-duration": "5m"})
        );
        assert_eq!(
            object["metadata"]["labels"]["ray.io/scheduler-name"], "volcano",
            "labels of queues are on the Service"
        );
        let template = &object["spec"]["template"];
        assert!(
            template["metadata"]["labels"].get("ray.io/scheduler-name").is_none(),
            "and not on its revisions"
        );
        assert_eq!(
            template["metadata"]["annotations"],
            serde_json::json!({
                "a": "b", "autoscaling.knative.dev/class": "kpa.autoscaling.knative.dev", "autoscaling.knative.dev/max-scale": "5",
                "autoscaling.knative.dev/metric": "rps", "autoscaling.knative.dev/min-scale": "0", "autoscaling.knative.dev/target": "20", "volcano": "x",
            })
        );
        assert_eq!(template["spec"]["timeoutSeconds"], 300);
        assert_eq!(template["spec"]["responseStartTimeoutSeconds"], 300);
        assert_eq!(
            object["spec"]["traffic"],
            serde_json::json!([{"latestRevision": true, "percent": 100}])
        );
    }
}
