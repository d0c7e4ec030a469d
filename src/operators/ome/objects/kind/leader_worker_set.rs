//! LeaderWorkerSet, `leaderworkerset.x-k8s.io/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/lws/lws_reconciler.go).

use super::int32;
use crate::objects::build::{IntoNode, node};
use crate::objects::metadata::{label, with, without};
use crate::objects::{pod_defaults as pod, rules};
use crate::operators::ome::objects::component::Frame;
use crate::operators::ome::objects::names;
use crate::yaml::{Map, Node, Origin, Rule};

/// Annotations that would make Prometheus scrape workers.
const SCRAPED: [&str; 3] = ["prometheus.io/path", "prometheus.io/port", "prometheus.io/scrape"];

/// The LeaderWorkerSet of a component with groups of this size, leader included. It has neither
/// autoscaler nor budget.
pub(crate) fn object(frame: &Frame<'_>, leader: &Node, worker: &Node, size: i64) -> Option<Node> {
    const RULE: &Rule = &rules::LEADER_WORKER_SET;
    let replicas =
        frame.spec("minReplicas").map(int32).or_else(|| 1.into_node(Origin::Default(RULE)));
    // The label `app` is not shortened here, unlike a Deployment's.
    let leader_labels = with(
        &frame.queued_labels,
        [
            label("app", frame.name().clone(), &rules::APP_LABEL),
            label("ray.io/node-type", "head", RULE),
        ],
    );
    let worker_annotations = without(&frame.annotations, |key| SCRAPED.contains(&key));
    let template = |labels: &Map, annotations: &Map, spec: &Node| node!(RULE; { metadata: (frame.metadata(frame.name().clone(), labels, annotations)), spec: (pod::leader_worker_set(spec)) });
    node!(RULE; {
        apiVersion: "leaderworkerset.x-k8s.io/v1",
        kind: "LeaderWorkerSet",
        metadata: (frame.metadata(names::leader_worker_set(frame.name()), &frame.labels, &frame.annotations)),
        spec: {
            replicas: replicas,
            leaderWorkerTemplate: {
                leaderTemplate: (template(&leader_labels, &frame.annotations, leader)),
                workerTemplate: (template(&frame.queued_labels, &worker_annotations, worker)),
                size: size,
                restartPolicy: "RecreateGroupOnPodRestart",
            },
            rolloutStrategy: { type: "RollingUpdate", rollingUpdateConfiguration: { maxUnavailable: 1, maxSurge: 1 } },
            startupPolicy: "LeaderCreated",
            networkConfig: { subdomainPolicy: "Shared" },
        },
    })
}
