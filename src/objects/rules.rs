//! Every rule by which a wrapper writes values itself, with its place in the upstream sources.
//!
//! In: nothing. Out: constants that origins point to, so that `why` and the reference page can name
//! them. Citations are files of sgl-project/ome v0.1.5 under
//! `pkg/controller/v1beta1/inferenceservice/`, unless they name another path.

use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(
            #[doc = $text]
            pub static $name: Rule = Rule { id: $id, text: $text, cite: $cite };
        )*

        /// Every rule of this module, in the order of declaration.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    IDENTITY "object-identity" "The operator names the objects of a component after the service and the component."
        "components/engine.go, decoder.go, router.go"
    NAMESPACE "object-namespace" "Every object is in the namespace of its service." "OME docs, Serving Runtime, Using ClusterServingRuntimes"
    APP_LABEL "app-label" "The label app selects the pods of a component; it is the component's name, shortened to 63 bytes." "reconcilers/raw/raw_kube_reconciler.go"
    QUEUE_LABELS "queue-labels" "Annotations that name a queue become labels of Volcano or Kueue." "utils/annotations.go SetPodLabelsFromAnnotations"
    POD_DEFAULTS "pod-defaults" "The operator writes the defaults of the API server into the pod, so that comparisons are stable."
        "reconcilers/deployment/deployment_reconciler.go, reconcilers/lws/lws_reconciler.go"
    READINESS "readiness-default" "A container named ome-container without a readiness probe gets one that opens its first port, or 8080."
        "reconcilers/deployment/deployment_reconciler.go"
    ROUTER_ACCOUNT "router-service-account" "The router always runs as the ServiceAccount made for it." "components/router.go"
    DEPLOYMENT "deployment" "The Deployment of a component; the autoscaler sets its replicas."
        "reconcilers/deployment/deployment_reconciler.go"
    DEPLOYMENT_STRATEGY "deployment-strategy" "By default a rolling update adds one pod before it removes one." "reconcilers/deployment/deployment_reconciler.go"
    SERVICE "component-service" "The Service in front of a component's pods." "reconcilers/service/service_reconciler.go"
    SERVICE_TYPE "service-type" "The annotation ome.io/service-type decides the type of Services; ClusterIP when it is absent or unknown."
        "reconcilers/service/service_reconciler.go"
    SERVICE_PORTS "service-ports" "A Service exposes the ports of the first container, or 8080 under the container's name."
        "reconcilers/service/service_reconciler.go"
    AUTOSCALER_BOUNDS "autoscaler-bounds" "The smallest number of replicas is at least 1, the largest at least the smallest." "reconcilers/hpa/hpa_reconciler.go, reconcilers/keda/keda_reconciler.go; OME docs, Serving Runtime, Engine Configuration; docs/decisions.md#replicas"
    HPA "horizontal-pod-autoscaler" "A HorizontalPodAutoscaler keeps a resource metric at a share of what is requested." "reconcilers/hpa/hpa_reconciler.go; OME docs, Serving Runtime, Engine Configuration"
    HPA_METRIC "hpa-metric-default" "Without scaleMetric the metric is cpu, without scaleTarget the target is 80 percent." "reconcilers/hpa/hpa_reconciler.go"
    KEDA "scaled-object" "A ScaledObject scales on a Prometheus query." "reconcilers/keda/keda_reconciler.go"
    KEDA_DEFAULTS "scaled-object-defaults" "Values that neither an annotation nor spec.kedaConfig sets are constants of the operator." "reconcilers/keda/keda_reconciler.go, pkg/constants/constants.go"
    DISRUPTION "pod-disruption-budget" "By default a PodDisruptionBudget allows one pod at a time to be evicted." "reconcilers/pdb/pdb_reconciler.go"
    LEADER_WORKER_SET "leader-worker-set" "The LeaderWorkerSet of a component on several nodes: one leader and its workers per replica."
        "reconcilers/lws/lws_reconciler.go; OME docs, Serving Runtime, Engine Configuration and Multi-Node Configuration"
    SIDECAR "istio-sidecar" "With the label sidecar.istio.io/inject a multi-node component gets an Istio Sidecar." "reconcilers/istiosidecar/istiosidecar_reconciler.go"
    KNATIVE "knative-service" "The Knative Service of a component that scales to zero." "reconcilers/knative/ksvc_reconciler.go; OME docs, Serving Runtime, Engine Configuration; docs/decisions.md#replicas"
    KNATIVE_SCALING "knative-autoscaling" "Replica bounds, metric and target become annotations of the Knative autoscaler." "reconcilers/knative/ksvc_reconciler.go; OME docs, Serving Runtime, Engine Configuration"
    RAY "ray-cluster" "The RayCluster of a component that runs vLLM on Ray: one per replica." "reconcilers/multinodevllm/multinodevllm_reconciler.go"
    RAY_STOP "ray-pre-stop" "Every container of a Ray pod stops Ray before it ends, unless it has a lifecycle of its own." "reconcilers/multinodevllm/multinodevllm_reconciler.go"
    RAY_PROBER "ray-prober" "A prober Deployment watches each RayCluster; its image and resources are the operator's setting multinodeProber."
        "reconcilers/multinodevllm/multinodevllm_reconciler.go"
    ROUTER_ACCESS "router-access" "The router may read the pods of its namespace." "reconcilers/rbac/rbac_reconciler.go"
    MODEL_CONFIG "model-config" "A ConfigMap describes the model to the pods." "reconcilers/modelconfig/modelconfig_reconciler.go"
    EXTERNAL_SERVICE "external-service" "Without an Ingress, a Service with the name of the InferenceService is its stable address."
        "reconcilers/external_service/external_service_reconciler.go"
    INGRESS "ingress" "An Ingress routes one host per component to port 8080 of its Service." "reconcilers/ingress/builders/ingress_builder.go"
    HTTP_ROUTE "http-route" "An HTTPRoute per component and one for the service route the hosts to port 8080." "reconcilers/ingress/builders/httproute_builder.go"
    VIRTUAL_SERVICE "virtual-service" "A VirtualService routes the hosts of a serverless service to Knative's gateway." "reconcilers/ingress/builders/virtualservice_builder.go"
    EXTERNAL_NAME "external-name" "A serverless service gets an alias for Knative's local gateway." "reconcilers/ingress/strategies/serverless_strategy.go"
    KSERVE_APP "kserve-app" "The label app selects the pods of a component: `isvc.` and the component's name." "raw_kube_reconciler.go"
    KSERVE_BUNDLE "kserve-ca-bundle" "A copy of the CA bundle of the settings, for the namespace of a service." "KServe, cabundle_configmap_reconciler.go, getCabundleConfigMapForUserNS"
    KSERVE_MODELS "kserve-models" "A model configuration without models, for the agent that pulls them." "components/component.go"
    KSERVE_DEPLOYMENT "kserve-deployment" "The Deployment of a component in Standard mode." "deployment_reconciler.go"
    KSERVE_SERVICE "kserve-service" "The Service of a component publishes its first port as 80." "service_reconciler.go"
    KSERVE_NODES "kserve-head-and-workers" "Head and workers of a predictor on several nodes find each other by headless Services." "service_reconciler.go"
    KSERVE_BOUNDS "kserve-bounds" "maxReplicas is at least minReplicas; a HorizontalPodAutoscaler keeps at least one replica." "hpa_reconciler.go"
    KSERVE_HPA "kserve-autoscaler" "A HorizontalPodAutoscaler keeps cpu or memory at a target." "hpa_reconciler.go"
    KSERVE_KEDA "kserve-scaled-object" "A ScaledObject of KEDA scales by the metrics of autoScaling." "keda_reconciler.go"
    KSERVE_COLLECTOR "kserve-collector" "A collector beside the pods sends their metrics to the scaler." "otel_reconciler.go"
    KSERVE_INGRESS "kserve-ingress" "An Ingress routes one host per component to port 80 of its Service." "kube_ingress_reconciler.go"
    KSERVE_ROUTE "kserve-route" "An HTTPRoute per component and one for the service." "httproute_reconciler.go"
    KSERVE_KNATIVE "kserve-knative-service" "The Knative Service of a component in Knative mode." "ksvc_reconciler.go"
    KSERVE_VIRTUAL_SERVICE "kserve-virtual-service" "A VirtualService routes the hosts of a service to Knative's gateway." "ingress_reconciler.go"
    OPENSHIFT_PROXY "openshift-proxy" "Pods of OpenShift AI have a proxy that lets in who may get the service." "opendatahub-io/kserve, reconcilers/deployment/deployment_reconciler.go createRawDeploymentODH"
    OPENSHIFT_CERTIFICATE "openshift-certificate" "OpenShift writes the certificate of a component into a Secret that this annotation names." "opendatahub-io/kserve, reconcilers/raw/raw_kube_reconciler.go"
    OPENSHIFT_TRANSFORMER "openshift-transformer" "With authentication a transformer calls its predictor over TLS." "opendatahub-io/kserve, reconcilers/deployment/deployment_reconciler_odh.go"
    OPENSHIFT_PORTS "openshift-ports" "Ports without a name are http, and with authentication https 8443 is in the place of port 80." "opendatahub-io/kserve, reconcilers/service/service_reconciler_odh.go customizeService"
    OPENSHIFT_ROUTE "openshift-route" "The label networking.kserve.io/visibility: exposed gives a service a Route." "opendatahub-io/odh-model-controller, kserve_raw_route_reconciler.go"
    OPENSHIFT_BINDING "openshift-binding" "With authentication the account of a service may check tokens; MLServer may mount images as volumes." "opendatahub-io/odh-model-controller; opendatahub-io/kserve, workload_permissions_odh.go"
    OPENSHIFT_METRICS "openshift-metrics" "The metrics of a runtime are collected by a Service and a ServiceMonitor; a ConfigMap says whether the dashboard shows them." "opendatahub-io/odh-model-controller, kserve_metrics_service_reconciler.go"
    OPENSHIFT_KEDA "openshift-keda" "KEDA reads the metrics of the cluster with an account of the namespace when a service scales by one of Prometheus." "opendatahub-io/odh-model-controller, kserve_keda_reconciler.go"
    WAVE "sync-wave" "The flag --argocd-waves numbers the objects in the order in which they are needed." "--argocd-waves"
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn identifiers_are_unique_and_everything_is_documented() {
        let mut ids: Vec<_> = ALL.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
        for rule in ALL {
            assert!(rule.text.ends_with('.') && !rule.cite.is_empty(), "{}", rule.id);
        }
    }
}
