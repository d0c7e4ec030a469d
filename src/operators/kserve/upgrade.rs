//! What an upgrade of KServe changes, rule by rule: a row per field of its releases.

use crate::policy::Own;
use crate::policy::upgrade::{ReleaseRule, Switch, switches};

/// Rules that deciding again shows.
pub static RULES: &[Switch] = switches! { kserve KServe
    "I3" [image_suffix] "the suffix of an image for GPUs or CPUs follows the server that the runtime declares, and vLLM without a GPU runs another image"
        "#4769, pkg/controller/v1beta1/inferenceservice/utils/utils.go UpdateImageTag" "set `spec.predictor.model.runtimeVersion` to the tag of today's image"
    "I7" [canary_routes] "HTTPRoutes divide the traffic among the canaries"
        "#5912, reconcilers/ingress/httproute_reconciler.go" "set `trafficPercent: 0` on canaries that must not get requests"
};

/// Rules about fields that are read otherwise: they are seen in the input.
pub static FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "I1",
        title: "`spec.predictor.name` and `spec.canary` are known: Deployment, Service, autoscaler and route take the name, and canaries get pods of their own",
        source: "#5672, pkg/controller/v1beta1/inferenceservice/components/predictor.go PredictorServiceName",
        action: "take the fields out of the manifests, or plan for a second Deployment while the first one is deleted",
    },
    differs: |a, b| !std::ptr::eq(a.kserve().unknown, b.kserve().unknown),
    take: None,
};

/// See [`FIELDS`].
pub static PROTOCOL: Switch = Switch {
    rule: ReleaseRule {
        id: "I2",
        title: "a model of the format vLLM asks for the protocol v2 by default: a runtime that does not list v2 is refused, and automatic selection takes one that does",
        source: "#4769, pkg/apis/serving/v1beta1/inference_service_defaults.go SetRuntimeDefaults",
        action: "list v2 in the runtime's `protocolVersions`, or write `spec.predictor.model.protocolVersion: v1` to keep today's runtime",
    },
    differs: |a, b| a.kserve().vllm_speaks_v2 != b.kserve().vllm_speaks_v2,
    take: None,
};
