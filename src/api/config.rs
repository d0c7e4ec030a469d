//! The operator's settings: ConfigMap `inferenceservice-config`.

use super::object::Object;
use crate::source::Span;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Key `ingress`. The default is a key that is there and empty, not what an operator ships.
#[derive(Clone, Debug, Default)]
pub struct IngressConfig {
    /// `ingressGateway`.
    pub ingress_gateway: EcoString,
    /// `localGateway`.
    pub local_gateway: EcoString,
    /// `localGatewayService`.
    pub local_gateway_service: EcoString,
    /// `knativeLocalGatewayService`.
    pub knative_local_gateway_service: EcoString,
    /// `omeIngressGateway`, in KServe `kserveIngressGateway`, as `namespace/name`.
    pub ome_ingress_gateway: EcoString,
    /// `ingressDomain`.
    pub ingress_domain: EcoString,
    /// `ingressClassName`.
    pub ingress_class_name: Option<EcoString>,
    /// `additionalIngressDomains`.
    pub additional_domains: Vec<EcoString>,
    /// `domainTemplate`, a Go text template.
    pub domain_template: EcoString,
    /// `urlScheme`.
    pub url_scheme: EcoString,
    /// `disableIstioVirtualHost`.
    pub disable_istio_virtual_host: bool,
    /// `pathTemplate`, a Go text template; empty means none.
    pub path_template: EcoString,
    /// `disableIngressCreation`.
    pub disable_ingress_creation: bool,
    /// `enableGatewayAPI`, in KServe `enableGatewayApi`.
    pub enable_gateway_api: bool,
    /// `disableHTTPRouteTimeout` (KServe).
    pub disable_route_timeout: bool,
    /// The key in the ConfigMap; `None` when it is not set.
    pub span: Option<Span>,
}

/// Settings of the operator.
#[derive(Clone, Debug)]
pub struct OperatorConfig {
    /// `deploy.defaultDeploymentMode`; empty when the key is absent.
    pub default_deployment_mode: EcoString,
    /// `deploy.terminationGracePeriodSeconds`.
    pub grace_period: Option<i64>,
    /// Key `ingress`.
    pub ingress: IngressConfig,
    /// Key `multinodeProber`, decoded.
    pub multinode_prober: Option<Node>,
    /// The operator's error message for an invalid ConfigMap; every reconcile fails with it.
    pub error: Option<EcoString>,
    /// The settings of KServe's controller, whose ConfigMap has the same name.
    pub kserve: KServeConfig,
}

/// CPU and memory amounts of a setting, each as text or empty.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    /// `cpuRequest`.
    pub cpu_request: EcoString,
    /// `cpuLimit`.
    pub cpu_limit: EcoString,
    /// `memoryRequest`.
    pub memory_request: EcoString,
    /// `memoryLimit`.
    pub memory_limit: EcoString,
}

/// An image with the resources of its container.
#[derive(Clone, Debug, Default)]
pub struct ImageConfig {
    /// `image`.
    pub image: EcoString,
    /// Resources of its container.
    pub resources: Amounts,
}

/// Resources that KServe counts as GPUs.
const KNOWN_GPUS: [&str; 4] = ["nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi"];
/// Annotation of a service that adds more GPU resources.
pub const GPU_TYPES: &str = "serving.kserve.io/gpu-resource-types";

/// Settings of KServe's controller (ConfigMap inferenceservice-config).
#[derive(Clone, Debug)]
pub struct KServeConfig {
    /// A flag requests the changes that webhooks make to pods.
    pub expand: bool,
    /// A flag requests probes of the V2 protocol.
    pub v2_probes: bool,
    /// Mode that a flag requests.
    pub mode_flag: Option<EcoString>,
    /// `deploy.defaultDeploymentMode`, when a ConfigMap sets it.
    pub default_mode: Option<EcoString>,
    /// The default mode is that of values of the Helm chart: no ConfigMap was read.
    pub mode_is_in_values: bool,
    /// `deploy.deploymentRolloutStrategy.defaultRollout`: maxSurge and maxUnavailable; each may be
    /// empty.
    pub rollout: (EcoString, EcoString),
    /// Key `ingress`.
    pub ingress: IngressConfig,
    /// `inferenceService.resource`: resources of the containers of services.
    pub resources: Amounts,
    /// Annotations that are not copied to components.
    pub disallowed_annotations: Vec<EcoString>,
    /// Labels that are not copied to revisions and routes.
    pub disallowed_labels: Vec<EcoString>,
    /// `service.serviceClusterIPNone`, when it is set.
    pub headless: Option<bool>,
    /// `security.autoMountServiceAccountToken`.
    pub mount_token: bool,
    /// `explainers.art`: image and default version.
    pub art: (EcoString, EcoString),
    /// Key `storageInitializer`.
    pub storage_initializer: ImageConfig,
    /// `storageInitializer.caBundleConfigMapName`; empty means none.
    pub ca_bundle: EcoString,
    /// `storageInitializer.caBundleVolumeMountPath`; empty means the default.
    pub ca_mount: EcoString,
    /// `storageInitializer`, models in images.
    pub images: ModelImages,
    /// Key `credentials`.
    pub credentials: CredentialConfig,
    /// Key `agent`.
    pub agent: ImageConfig,
    /// Key `logger`.
    pub logger: LoggerConfig,
    /// Key `oauthProxy` (OpenShift AI), when it is set.
    pub proxy: Option<ProxyConfig>,
    /// Objects of OpenShift AI that fill services.
    pub openshift: OpenShiftObjects,
    /// `metricsAggregator`: enableMetricAggregation and enablePrometheusScraping, as text.
    pub metrics: (EcoString, EcoString),
    /// `autoscaler`: scale up and scale down stabilization windows in seconds, as text.
    pub windows: (EcoString, EcoString),
    /// `opentelemetryCollector`: scrape interval, receiver and scaler endpoint, resources.
    pub collector: CollectorConfig,
    /// ServiceAccounts and Secrets that were loaded.
    pub accounts: Vec<Object>,
    /// ClusterStorageContainers that were loaded, by name.
    pub storage_containers: Vec<Object>,
    /// Data of the ConfigMap of the CA bundle, when it was loaded.
    pub ca_data: Option<Node>,
    /// `config-domain` of Knative, when it was loaded, by name.
    pub knative_domains: Option<Vec<KnativeDomain>>,
    /// `allow-zero-initial-scale` of Knative's `config-autoscaler`.
    pub zero_initial_scale: bool,
    /// `multiNode.customGPUResourceTypeList`.
    pub gpu_types: Vec<EcoString>,
    /// Settings that only LLMInferenceServices read.
    pub llm: LlmConfig,
    /// An error in the ConfigMap that makes every service fail.
    pub error: Option<EcoString>,
    /// An error in the ConfigMap that makes every service fail, except a ModelMesh service without
    /// a transformer, for which the controller returns earlier (controller.go, Reconcile).
    pub run_error: Option<EcoString>,
    /// An error in the ConfigMap that makes the webhook refuse every pod.
    pub pod_error: Option<EcoString>,
}

/// Settings that only the controller of LLMInferenceServices reads
/// (pkg/controller/v1alpha2/llmisvc/config_loader.go).
#[derive(Clone, Debug)]
pub struct LlmConfig {
    /// The namespace of the controller and of its shipped configurations.
    pub system: EcoString,
    /// Prefix of the names of shipped configurations.
    pub prefix: EcoString,
    /// `ingress.kserveIngressGateway`, as written.
    pub gateway: EcoString,
    /// `ingress.enableLLMInferenceServiceTLS`.
    pub tls: bool,
    /// `ingress.modelBasedRoutingHeaderName`.
    pub model_header: EcoString,
    /// `ingress.modelBasedRoutingMode`, in small letters.
    pub model_routing: EcoString,
    /// First entry of `scheduler.expirationAnnotations`.
    pub expiration: EcoString,
    /// `autoscaling-wva-controller-config`, when it is set.
    pub wva: Option<WvaConfig>,
    /// `localModel.enabled`.
    pub local_models: bool,
    /// An error that makes every LLMInferenceService fail.
    pub error: Option<EcoString>,
    /// Where the settings are that templates read.
    pub written: LlmPlaces,
}

/// Where the ConfigMap has settings; none for those that it leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlmPlaces {
    /// `ingress.kserveIngressGateway`.
    pub gateway: Option<Span>,
    /// `ingress.enableLLMInferenceServiceTLS`.
    pub tls: Option<Span>,
    /// `ingress.modelBasedRoutingHeaderName`.
    pub model_header: Option<Span>,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            system: "kserve".into(),
            prefix: "kserve-".into(),
            gateway: "kserve/kserve-ingress-gateway".into(),
            tls: false,
            model_header: "X-Gateway-Model-Name".into(),
            model_routing: "enabled".into(),
            expiration: "certificates.kserve.io/expiration".into(),
            wva: None,
            local_models: false,
            error: None,
            written: LlmPlaces::default(),
        }
    }
}

/// Key `autoscaling-wva-controller-config`: the Prometheus server of scaling decisions.
#[derive(Clone, Debug, Default)]
pub struct WvaConfig {
    /// `prometheus.url`.
    pub url: EcoString,
    /// `prometheus.tlsInsecureSkipVerify`.
    pub insecure: bool,
    /// `prometheus.authModes`; empty means none.
    pub auth_modes: EcoString,
    /// `prometheus.triggerAuthName`; empty means none.
    pub auth_name: EcoString,
    /// `prometheus.triggerAuthKind`; empty means the default.
    pub auth_kind: EcoString,
}

/// Models in container images: `enableModelcar`, `enableOciModelSupport`, `ociModelMode`,
/// `…Modelcar`.
#[derive(Clone, Debug, Default)]
pub struct ModelImages {
    /// `modelcar`, `native` or `fetch`; empty means that the storage initializer handles images.
    pub mode: EcoString,
    /// `enableModelcar`, the only setting that releases before `ociModelMode` read.
    pub modelcar: bool,
    /// Cpu of a modelcar; empty means the default.
    pub cpu: EcoString,
    /// Memory of a modelcar; empty means the default.
    pub memory: EcoString,
    /// User ID of modelcar and server.
    pub user: Option<i64>,
    /// `ociInsecureRegistry`: images are pulled without TLS.
    pub insecure: bool,
}

/// Key `oauthProxy`: the proxy in the pods of OpenShift AI.
#[derive(Clone, Debug, Default)]
pub struct ProxyConfig {
    /// Image and resources of its container.
    pub container: ImageConfig,
    /// `upstreamTimeoutSeconds`; empty means none.
    pub timeout: EcoString,
}

/// Objects of OpenShift AI that fill services at admission.
#[derive(Clone, Debug, Default)]
pub struct OpenShiftObjects {
    /// A DataScienceCluster that was read installs Knative.
    pub knative: bool,
    /// HardwareProfiles that were read, by namespace and name.
    pub profiles: BTreeMap<(EcoString, EcoString), Object>,
    /// ConfigMaps that were read and have certificates for the containers that fetch models.
    pub certificates: Vec<Object>,
    /// Objects that a controller makes of Secrets and ConfigMaps that were read.
    pub derived: Vec<Object>,
}

/// Key `credentials`.
#[derive(Clone, Debug, Default)]
pub struct CredentialConfig {
    /// `storageSpecSecretName`; empty means the default.
    pub storage_secret: EcoString,
    /// `storageSecretNameAnnotation`; empty means none.
    pub annotation: EcoString,
    /// `gcs.gcsCredentialFileName`; empty means the default.
    pub gcs_file: EcoString,
    /// `s3`: its keys and values.
    pub s3: BTreeMap<EcoString, EcoString>,
}

/// Key `logger`.
#[derive(Clone, Debug, Default)]
pub struct LoggerConfig {
    /// `defaultUrl`.
    pub url: EcoString,
    /// `caBundle`: a ConfigMap; empty means none.
    pub ca_bundle: EcoString,
    /// `caCertFile`; empty means none.
    pub ca_file: EcoString,
    /// `tlsSkipVerify`.
    pub skip_verify: bool,
    /// `storage`: where requests are stored when the predictor has no logger.
    pub store: Option<LoggerStore>,
    /// `marshallerUrl`; empty means none.
    pub marshaller: EcoString,
    /// `batchSize`; 0 means none.
    pub batch_size: i64,
    /// `batchInterval`; empty means none.
    pub batch_interval: EcoString,
}

/// Where a logger stores requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggerStore {
    /// `path`.
    pub path: EcoString,
    /// `parameters.format`.
    pub format: EcoString,
    /// `serviceAccountName`; empty means `logger-sa`.
    pub account: EcoString,
}

/// A domain of Knative: a key of the ConfigMap `config-domain` with its selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnativeDomain {
    /// The domain.
    pub name: EcoString,
    /// Labels that a route must have to get this domain; empty matches every route.
    pub selector: Vec<(EcoString, EcoString)>,
}

/// Key `opentelemetryCollector`.
#[derive(Clone, Debug, Default)]
pub struct CollectorConfig {
    /// `scrapeInterval`.
    pub interval: EcoString,
    /// `metricReceiverEndpoint`.
    pub receiver: EcoString,
    /// `metricScalerEndpoint`.
    pub scaler: EcoString,
    /// `resource`.
    pub resources: Amounts,
}

/// Annotations of a KServe service that are never copied to a component.
pub const KSERVE_DISALLOWED: [&str; 5] = [
    "autoscaling.knative.dev/min-scale",
    "autoscaling.knative.dev/max-scale",
    "internal.serving.kserve.io/storage-initializer-sourceuri",
    "kubectl.kubernetes.io/last-applied-configuration",
    "modelFormat",
];

fn amounts(
    cpu_request: &str,
    cpu_limit: &str,
    memory_request: &str,
    memory_limit: &str,
) -> Amounts {
    Amounts {
        cpu_request: cpu_request.into(),
        cpu_limit: cpu_limit.into(),
        memory_request: memory_request.into(),
        memory_limit: memory_limit.into(),
    }
}

impl KServeConfig {
    /// Returns the resources that count as a GPU, in search order: those built in, those of the
    /// settings, and those of the annotation [`GPU_TYPES`].
    ///
    /// # Errors
    /// When the annotation is not a JSON list of strings.
    pub fn gpus(&self, annotation: Option<&str>) -> Result<Vec<EcoString>, String> {
        let mut gpus: Vec<EcoString> = KNOWN_GPUS.map(EcoString::from).to_vec();
        // Empty text is no JSON, but adds no type either.
        let annotated = match annotation.filter(|text| !text.is_empty()) {
            Some(text) => serde_json::from_str(text).map_err(|_| {
                format!(
                    "invalid GPU format({text}) for {GPU_TYPES} annotation: must be a valid JSON array"
                )
            })?,
            None => Vec::new(),
        };
        let annotated = annotated.into_iter().map(|gpu: String| EcoString::from(gpu));
        for gpu in self.gpu_types.iter().cloned().chain(annotated) {
            // The list is searched in order, so a second mention can find nothing that the first
            // does not.
            if !gpus.contains(&gpu) {
                gpus.push(gpu);
            }
        }
        Ok(gpus)
    }

    /// Reports whether a resource counts as a GPU for a service with this annotation.
    pub fn is_gpu(&self, resource: &str, annotation: Option<&str>) -> bool {
        // A broken annotation is an error of the service; what counts as a GPU anyway still does.
        let gpus = self.gpus(annotation).or_else(|_| self.gpus(None)).unwrap_or_default();
        gpus.iter().any(|gpu| gpu == resource)
    }
}

impl Default for KServeConfig {
    /// Returns the ConfigMap as shipped (config/configmap/inferenceservice.yaml of KServe v0.20.0).
    fn default() -> Self {
        Self {
            expand: false,
            v2_probes: false,
            mode_flag: None,
            default_mode: None,
            mode_is_in_values: false,
            rollout: (EcoString::new(), EcoString::new()),
            ingress: IngressConfig {
                ingress_gateway: "knative-serving/knative-ingress-gateway".into(),
                local_gateway: "knative-serving/knative-local-gateway".into(),
                local_gateway_service: "knative-local-gateway.istio-system.svc.cluster.local"
                    .into(),
                knative_local_gateway_service:
                    "knative-local-gateway.istio-system.svc.cluster.local".into(),
                ome_ingress_gateway: "kserve/kserve-ingress-gateway".into(),
                ingress_domain: "example.com".into(),
                ingress_class_name: Some("istio".into()),
                domain_template: "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}".into(),
                url_scheme: "http".into(),
                ..IngressConfig::default()
            },
            resources: amounts("1", "1", "2Gi", "2Gi"),
            disallowed_annotations: KSERVE_DISALLOWED.map(EcoString::from).to_vec(),
            disallowed_labels: vec!["networking.knative.dev/visibility".into()],
            headless: None,
            mount_token: true,
            art: ("kserve/art-explainer".into(), "latest".into()),
            storage_initializer: ImageConfig {
                image: "kserve/storage-initializer:latest".into(),
                resources: amounts("100m", "1", "100Mi", "1Gi"),
            },
            ca_bundle: EcoString::new(),
            ca_mount: "/etc/ssl/custom-certs".into(),
            images: ModelImages {
                mode: "modelcar".into(),
                modelcar: true,
                cpu: "10m".into(),
                memory: "15Mi".into(),
                user: Some(1010),
                insecure: false,
            },
            credentials: CredentialConfig {
                storage_secret: "storage-config".into(),
                annotation: "serving.kserve.io/storageSecretName".into(),
                gcs_file: "gcloud-application-credentials.json".into(),
                s3: [
                    ("s3AccessKeyIDName", "AWS_ACCESS_KEY_ID"),
                    ("s3SecretAccessKeyName", "AWS_SECRET_ACCESS_KEY"),
                ]
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
            },
            agent: ImageConfig {
                image: "kserve/agent:latest".into(),
                resources: amounts("100m", "1", "100Mi", "1Gi"),
            },
            logger: LoggerConfig { url: "http://default-broker".into(), ..LoggerConfig::default() },
            proxy: None,
            openshift: OpenShiftObjects::default(),
            metrics: ("false".into(), "false".into()),
            windows: ("0".into(), "300".into()),
            collector: CollectorConfig {
                interval: "5s".into(),
                receiver: "keda-otel-scaler.keda.svc:4317".into(),
                scaler: "keda-otel-scaler.keda.svc:4318".into(),
                resources: amounts("200m", "1", "512Mi", "2Gi"),
            },
            llm: LlmConfig::default(),
            accounts: Vec::new(),
            storage_containers: Vec::new(),
            ca_data: None,
            knative_domains: None,
            zero_initial_scale: false,
            gpu_types: Vec::new(),
            pod_error: None,
            error: None,
            run_error: None,
        }
    }
}

impl Default for OperatorConfig {
    /// Returns the ConfigMap as the newest release ships it.
    fn default() -> Self {
        Self::shipped(true, NEWEST_PROBER)
    }
}

impl OperatorConfig {
    /// Whether nodes keep copies of models (`localModel.enabled`).
    pub fn keeps_models_on_nodes(&self) -> bool {
        self.kserve.llm.local_models
    }

    /// The namespace of the presets that services of every namespace may be merged with.
    pub fn presets_namespace(&self) -> &EcoString {
        &self.kserve.llm.system
    }

    /// Returns the ConfigMap as releases ship it (config/configmap/inferenceservice.yaml). Releases
    /// differ in whether an Ingress is created and in the prober image.
    pub fn shipped(ingress_disabled: bool, prober_image: &str) -> Self {
        Self {
            default_deployment_mode: "RawDeployment".into(),
            grace_period: None,
            ingress: IngressConfig {
                ingress_gateway: "knative-serving/knative-ingress-gateway".into(),
                local_gateway: "knative-serving/knative-local-gateway".into(),
                local_gateway_service: "knative-local-gateway.istio-system.svc.cluster.local"
                    .into(),
                knative_local_gateway_service:
                    "knative-local-gateway.istio-system.svc.cluster.local".into(),
                ome_ingress_gateway: EcoString::new(),
                ingress_domain: "svc.cluster.local".into(),
                ingress_class_name: Some("istio".into()),
                domain_template: "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}".into(),
                url_scheme: "http".into(),
                disable_ingress_creation: ingress_disabled,
                ..IngressConfig::default()
            },
            multinode_prober: Some(shipped_prober(prober_image)),
            error: None,
            kserve: KServeConfig::default(),
        }
    }
}

/// Image of the prober that the newest release of OME ships.
pub const NEWEST_PROBER: &str = "ghcr.io/moirai-internal/multinode-prober:v0.1.5";

static SHIPPED: Rule = Rule {
    id: "shipped-configuration",
    text: "The operator's ConfigMap as it is shipped.",
    cite: "config/configmap/inferenceservice.yaml of the release",
};

/// Returns key `multinodeProber` as shipped.
fn shipped_prober(image: &str) -> Node {
    let origin = Origin::Default(&SHIPPED);
    let texts = [
        ("image", image),
        ("memoryRequest", "100Mi"),
        ("memoryLimit", "100Mi"),
        ("cpuRequest", "100m"),
        ("cpuLimit", "100m"),
    ];
    let numbers = [
        ("startupFailureThreshold", 150),
        ("startupPeriodSeconds", 30),
        ("startupTimeoutSeconds", 60),
        ("startupInitialDelaySeconds", 200),
        ("unavailableThresholdSeconds", 1800),
    ];
    let texts = texts.into_iter().map(|(key, text)| (key, Value::Str(text.into())));
    let entries = texts.chain(numbers.into_iter().map(|(key, number)| (key, Value::Int(number))));
    let map: Map = entries
        .map(|(key, value)| Entry {
            key: key.into(),
            key_origin: origin,
            node: Node::new(value, origin),
        })
        .collect();
    Node::new(Value::Map(map), origin)
}
