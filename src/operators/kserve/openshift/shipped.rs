//! The settings of OpenShift AI as its operator writes them, for a cluster whose own are not read
//! (opendatahub-io/kserve, config/overlays/odh; opendatahub-io/opendatahub-operator).

use crate::api::KServeConfig;
use crate::operators::kserve::read::config::of_data;
use crate::yaml::{Entry, Map, Node, Origin, Rule};

static SHIPPED: Rule = Rule {
    id: "openshift-configuration",
    text: "The settings of OpenShift AI as they are shipped.",
    cite: "opendatahub-io/kserve, config/overlays/odh",
};

/// The keys of the ConfigMap inferenceservice-config that are read.
const KEYS: [(&str, &str); 13] = [
    ("deploy", r#"{"defaultDeploymentMode": "RawDeployment"}"#),
    (
        "ingress",
        r#"{"ingressGateway": "knative-serving/knative-ingress-gateway", "kserveIngressGateway": "openshift-ingress/openshift-ai-inference",
            "localGateway": "istio-system/kserve-local-gateway", "localGatewayService": "kserve-local-gateway.istio-system.svc.cluster.local",
            "knativeLocalGatewayService": "knative-local-gateway.istio-system.svc.cluster.local", "ingressDomain": "example.com",
            "ingressClassName": "openshift-default", "domainTemplate": "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
            "disableIngressCreation": true, "enableLLMInferenceServiceTLS": true}"#,
    ),
    (
        "inferenceService",
        r#"{"serviceAnnotationDisallowedList": ["security.opendatahub.io/enable-auth", "networking.knative.dev/visibility",
            "haproxy.router.openshift.io/timeout", "opendatahub.io/hardware-profile-name", "opendatahub.io/hardware-profile-namespace"]}"#,
    ),
    ("service", r#"{"serviceClusterIPNone": true}"#),
    ("security", r#"{"autoMountServiceAccountToken": false}"#),
    (
        "storageInitializer",
        r#"{"image": "quay.io/opendatahub/kserve-storage-initializer:odh-master", "memoryRequest": "100Mi", "memoryLimit": "24Gi",
            "cpuRequest": "100m", "cpuLimit": "1", "cpuModelcar": "10m", "memoryModelcar": "15Mi", "enableModelcar": true}"#,
    ),
    (
        "logger",
        r#"{"image": "quay.io/opendatahub/kserve-agent:odh-master", "memoryRequest": "100Mi", "memoryLimit": "1Gi",
            "cpuRequest": "100m", "cpuLimit": "1", "defaultUrl": "http://default-broker"}"#,
    ),
    (
        "agent",
        r#"{"image": "quay.io/opendatahub/kserve-agent:odh-master", "memoryRequest": "100Mi", "memoryLimit": "1Gi",
            "cpuRequest": "100m", "cpuLimit": "1"}"#,
    ),
    (
        "credentials",
        r#"{"storageSpecSecretName": "storage-config", "storageSecretNameAnnotation": "serving.kserve.io/storageSecretName",
            "gcs": {"gcsCredentialFileName": "gcloud-application-credentials.json"},
            "s3": {"s3AccessKeyIDName": "AWS_ACCESS_KEY_ID", "s3SecretAccessKeyName": "AWS_SECRET_ACCESS_KEY",
                   "s3CABundleConfigMap": "odh-kserve-custom-ca-bundle", "s3CABundle": "/etc/ssl/custom-certs/cabundle.crt"}}"#,
    ),
    (
        "metricsAggregator",
        r#"{"enableMetricAggregation": "false", "enablePrometheusScraping": "false"}"#,
    ),
    (
        "autoscaler",
        r#"{"scaleUpStabilizationWindowSeconds": "0", "scaleDownStabilizationWindowSeconds": "300"}"#,
    ),
    (
        "opentelemetryCollector",
        r#"{"scrapeInterval": "5s", "metricReceiverEndpoint": "keda-otel-scaler.keda.svc:4317", "metricScalerEndpoint": "keda-otel-scaler.keda.svc:4318",
            "resource": {"cpuLimit": "1", "memoryLimit": "2Gi", "cpuRequest": "200m", "memoryRequest": "512Mi"}}"#,
    ),
    (
        "oauthProxy",
        r#"{"image": "quay.io/opendatahub/odh-kube-auth-proxy@sha256:dcb09fbabd8811f0956ef612a0c9ddd5236804b9bd6548a0647d2b531c9d01b3",
            "memoryRequest": "64Mi", "memoryLimit": "128Mi", "cpuRequest": "100m", "cpuLimit": "200m"}"#,
    ),
];

/// The settings, read as the ConfigMap of a cluster is.
pub(in crate::operators::kserve) fn config() -> KServeConfig {
    let origin = Origin::Default(&SHIPPED);
    let entry = |(key, text): (&str, &str)| Entry {
        key: key.into(),
        key_origin: origin,
        node: Node::str(text, origin),
    };
    let data: Map = KEYS.into_iter().map(entry).collect();
    of_data(&data, &mut |_, _, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_settings_are_read_without_an_error() {
        let config = config();
        assert_eq!((config.error, config.run_error, config.pod_error), (None, None, None));
        assert_eq!(config.headless, Some(true));
        assert!(config.ingress.disable_ingress_creation && !config.mount_token);
        assert_eq!(config.resources.cpu_request, "", "no default resources");
        assert_eq!(config.storage_initializer.resources.memory_limit, "24Gi");
        assert!(config.proxy.is_some_and(|proxy| proxy.container.resources.cpu_request == "100m"));
    }
}
