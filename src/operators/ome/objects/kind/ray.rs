//! RayCluster, `ray.io/v1`, and the prober Deployment of each
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/multinodevllm/multinodevllm_reconciler.go).

use crate::objects::build::node;
use crate::objects::metadata::{label, metadata, with};
use crate::objects::{pod_defaults as pod, rules};
use crate::operators::ome::objects::component::Frame;
use crate::operators::ome::objects::names;
use crate::yaml::{Map, Node, Rule};
use ecow::{EcoString, eco_format};

/// The RayCluster of one replica. Quirk: it always has one worker, with the pod of the head; the
/// worker section of the service and its size are not read.
pub(crate) fn cluster(frame: &Frame<'_>, index: i64) -> Option<Node> {
    const RULE: &Rule = &rules::RAY;
    let name = eco_format!("{}-{index}", frame.name());
    let template = |spec: Node| node!(RULE; { metadata: (metadata(name.clone(), None, &frame.queued_labels, &frame.annotations)), spec: spec });
    node!(RULE; {
        apiVersion: "ray.io/v1",
        kind: "RayCluster",
        metadata: (frame.metadata(name.clone(), &frame.queued_labels, &frame.annotations)),
        spec: {
            headGroupSpec: {
                serviceType: "ClusterIP",
                headService: { metadata: (frame.metadata(names::ray(&name), &frame.queued_labels, &frame.annotations)) },
                rayStartParams: { "dashboard-host": "0.0.0.0", "metrics-export-port": "8000" },
                template: (template(pod::ray_head(&frame.component.pod))),
            },
            workerGroupSpecs: [{
                groupName: "wg",
                replicas: 1,
                rayStartParams: {},
                template: (template(pod::ray_worker(&frame.component.pod))),
            }],
        },
    })
}

/// The prober of one replica. Quirk: all probers select the same pods
/// (reconcilers/multinodevllm/multinodeprober_reconciler.go, createRawDeployment).
pub(crate) fn prober(frame: &Frame<'_>, index: i64, config: &Node) -> Option<Node> {
    const RULE: &Rule = &rules::RAY_PROBER;
    let name = names::ray(&eco_format!("{}-{index}-mnp", frame.name()));
    let app = || label("app", frame.name().clone(), &rules::APP_LABEL);
    let labels = with(&frame.queued_labels, [app()]);
    let selector: Map = [app()].into_iter().collect();
    // KubeRay shortens the name of the head's Service, so that the prober must do so too.
    let endpoint = eco_format!(
        "http://{}.{}.svc.cluster.local:8080",
        names::ray(&eco_format!("{}-{index}", frame.name())),
        frame.service.namespace
    );
    let resources =
        |cpu, memory| node!(RULE; { cpu: (config.get(cpu)), memory: (config.get(memory)) });
    // Upstream decodes these into numbers: absent ones are 0, which the probe omits.
    let setting = |key| config.get(key).filter(|node| node.as_int() != Some(0));
    node!(RULE; {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: (frame.metadata(name.clone(), &labels, &frame.annotations)),
        spec: {
            selector: { matchLabels: selector },
            template: {
                metadata: (frame.metadata(name.clone(), &labels, &frame.annotations)),
                spec: {
                    containers: [{
                        name: "multinode-prober",
                        image: (config.get("image")),
                        args: ["--vllm-endpoint", endpoint, "--addr", "0.0.0.0:8080"],
                        ports: [{ name: "http", containerPort: 8080 }],
                        resources: { limits: (resources("cpuLimit", "memoryLimit")), requests: (resources("cpuRequest", "memoryRequest")) },
                        livenessProbe: (probe("/readyz")),
                        readinessProbe: (probe("/healthz")),
                        startupProbe: {
                            httpGet: { path: "/startupz", port: 8080 },
                            initialDelaySeconds: (setting("startupInitialDelaySeconds")),
                            timeoutSeconds: (setting("startupTimeoutSeconds")),
                            periodSeconds: (setting("startupPeriodSeconds")),
                            successThreshold: 1,
                            failureThreshold: (setting("startupFailureThreshold")),
                        },
                        imagePullPolicy: "IfNotPresent",
                    }],
                },
            },
            strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
            revisionHistoryLimit: 10,
            progressDeadlineSeconds: 600,
        },
    })
}

/// A probe of the prober itself. Quirk: readiness uses `/healthz` and liveness `/readyz`.
fn probe(path: &'static str) -> Option<Node> {
    const RULE: &Rule = &rules::RAY_PROBER;
    node!(RULE; { httpGet: { path: path, port: 8080 }, timeoutSeconds: 5, periodSeconds: 30, successThreshold: 1, failureThreshold: 3 })
}

/// The missing fields of the setting `multinodeProber`; upstream crashes on absent quantities.
pub(crate) fn missing_setting(config: Option<&Node>) -> Option<EcoString> {
    let Some(config) = config else {
        return Some(
            "the key `multinodeProber` of the ConfigMap inferenceservice-config is missing".into(),
        );
    };
    // An empty quantity crashes the controller, as an absent one does.
    let key =
        ["cpuRequest", "cpuLimit", "memoryRequest", "memoryLimit"].into_iter().find(|key| {
            config.get(key).and_then(Node::scalar_text).is_none_or(|text| text.is_empty())
        })?;
    Some(eco_format!("`multinodeProber.{key}` of the ConfigMap inferenceservice-config is empty"))
}
