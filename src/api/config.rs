//! The operator's own settings: ConfigMap `inferenceservice-config`.

use crate::source::Span;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::EcoString;

/// Key `ingress`.
#[derive(Clone, Debug)]
pub struct IngressConfig {
    /// `ingressGateway`.
    pub ingress_gateway: EcoString,
    /// `localGateway`.
    pub local_gateway: EcoString,
    /// `localGatewayService`.
    pub local_gateway_service: EcoString,
    /// `knativeLocalGatewayService`.
    pub knative_local_gateway_service: EcoString,
    /// `omeIngressGateway`, as `namespace/name`.
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
    /// `enableGatewayAPI`.
    pub enable_gateway_api: bool,
    /// The key in the ConfigMap; none when there is none.
    pub span: Option<Span>,
}

/// What the operator is configured to do.
#[derive(Clone, Debug)]
pub struct OperatorConfig {
    /// `deploy.defaultDeploymentMode`; empty when the key is absent.
    pub default_deployment_mode: EcoString,
    /// Key `ingress`.
    pub ingress: IngressConfig,
    /// Key `multinodeProber`, decoded.
    pub multinode_prober: Option<Node>,
    /// What is wrong with the ConfigMap, in the words of the operator; every reconcile fails with it.
    pub error: Option<EcoString>,
}

impl Default for OperatorConfig {
    /// The ConfigMap as shipped (config/configmap/inferenceservice.yaml of OME v0.1.5).
    fn default() -> Self {
        Self {
            default_deployment_mode: "RawDeployment".into(),
            ingress: IngressConfig {
                ingress_gateway: "knative-serving/knative-ingress-gateway".into(),
                local_gateway: "knative-serving/knative-local-gateway".into(),
                local_gateway_service: "knative-local-gateway.istio-system.svc.cluster.local".into(),
                knative_local_gateway_service: "knative-local-gateway.istio-system.svc.cluster.local".into(),
                ome_ingress_gateway: EcoString::new(),
                ingress_domain: "svc.cluster.local".into(),
                ingress_class_name: Some("istio".into()),
                additional_domains: Vec::new(),
                domain_template: "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}".into(),
                url_scheme: "http".into(),
                disable_istio_virtual_host: false,
                path_template: EcoString::new(),
                disable_ingress_creation: true,
                enable_gateway_api: false,
                span: None,
            },
            multinode_prober: Some(shipped_prober()),
            error: None,
        }
    }
}

static SHIPPED: Rule =
    Rule { id: "shipped-configuration", text: "The operator's ConfigMap as it is shipped.", cite: "config/configmap/inferenceservice.yaml of OME v0.1.5" };

/// Key `multinodeProber` as shipped.
fn shipped_prober() -> Node {
    let origin = Origin::Default(&SHIPPED);
    let texts = [
        ("image", "ghcr.io/moirai-internal/multinode-prober:v0.1.5"),
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
    let map: Map = entries.map(|(key, value)| Entry { key: key.into(), key_origin: origin, node: Node::new(value, origin) }).collect();
    Node::new(Value::Map(map), origin)
}
