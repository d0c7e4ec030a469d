//! What pods of OpenShift AI have besides: a proxy that checks who may call the model, its
//! certificate, and the trust of a transformer in it
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go,
//! createRawDeploymentODH; deployment_reconciler_odh.go).
//!
//! In: a component. Out: the component with a proxy in its pods. The proxy has no defaults of the
//! server, because the controller adds it after them.

use super::wants_auth;
use crate::api::{ComponentKind, ProxyConfig};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, field_mut, list_mut, text};
use crate::objects::build::{filled, node};
use crate::objects::metadata::{label, with};
use crate::objects::rules;
use crate::operators::kserve::compose::names::{MAIN, TRANSFORMER};
use crate::pods::built::Component;
use crate::pods::container::push;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::{EcoString, eco_format};

static RULE: &Rule = &rules::OPENSHIFT_PROXY;
/// Name of the proxy's container.
const PROXY: &str = "kube-rbac-proxy";
/// Name of the proxy's container before it was replaced. A Deployment that has one keeps it, unless
/// its service asks for the other by an annotation.
const OLDER: &str = "oauth-proxy";
const PROXY_TYPE: &str = "security.opendatahub.io/auth-proxy-type";
/// Volume of the certificate.
const CERTIFICATE: &str = "proxy-tls";
/// Where the certificate is mounted.
const CERTIFICATE_PATH: &str = "/etc/tls/private";
/// Annotation by which OpenShift writes a certificate into a Secret.
const SERVING_CERT: &str = "service.beta.openshift.io/serving-cert-secret-name";
/// Volume of the certificates of the cluster's services, and its mount in a transformer.
const SERVICE_CA: &str = "openshift-service-ca-bundle";
const SERVICE_CA_PATH: &str = "/etc/odh/openshift-service-ca-bundle";
/// Port of the agent, which is before the server where requests are logged or batched.
const AGENT: i64 = 9081;

/// What the settings of the proxy lack, and the next step: each of its amounts is needed
/// (generateOauthProxyContainer).
pub(in crate::operators::kserve) fn missing(
    proxy: Option<&ProxyConfig>,
    predictor: &Node,
) -> Option<(String, &'static str)> {
    let Some(proxy) = proxy else {
        let help = "give the ConfigMap inferenceservice-config the key `oauthProxy`";
        return Some(("oauthProxy config is nil".into(), help));
    };
    let amounts = &proxy.container.resources;
    let needed = [
        &proxy.container.image,
        &amounts.cpu_request,
        &amounts.cpu_limit,
        &amounts.memory_request,
        &amounts.memory_limit,
    ];
    if needed.iter().any(|text| text.is_empty()) {
        let help = "give `oauthProxy` its image, and a request and a limit of cpu and memory";
        return Some(("one or more required oauthProxyConfig fields are empty".into(), help));
    }
    // The timeout of a component stands in for this one, which then has no effect.
    let replaced = predictor.get("timeout").is_some_and(|timeout| !timeout.is_null());
    let seconds = proxy.timeout.as_str();
    if replaced || seconds.is_empty() || seconds.parse::<i64>().is_ok() {
        return None;
    }
    let message = format!("invalid oauthProxy config upstreamTimeoutSeconds value \"{seconds}\"");
    Some((message, "write a number of seconds, as a text"))
}

/// The name of the ConfigMap with the rule by which the proxy of a service decides.
fn access_name(service: &str) -> EcoString {
    eco_format!("{service}-kube-rbac-proxy-sar-config")
}

/// Adds to a component of Standard mode what OpenShift AI adds to its Deployment.
pub(in crate::operators::kserve) fn add(
    (service, namespace): (&EcoString, &str),
    predictor: &str,
    proxy: Option<&ProxyConfig>,
    component: &mut Component,
) {
    let certificate = |name: &str| {
        label(SERVING_CERT, eco_format!("{name}-serving-cert"), &rules::OPENSHIFT_CERTIFICATE)
    };
    // On each component: OpenShift writes the certificate for a Service with or without a proxy.
    component.annotations = with(&component.annotations, [certificate(&component.name)]);
    if let Some((_, annotations)) = &mut component.worker_metadata {
        *annotations = with(annotations, [certificate(&eco_format!("{service}-predictor-worker"))]);
    }
    if component.kind == ComponentKind::Transformer {
        if wants_auth(&component.annotations) {
            trust(namespace, predictor, &mut component.pod);
        }
    } else if let Some(proxy) = proxy {
        guard(service, proxy, component);
    }
}

/// The finding about a container that has the name of the older proxy. Quirk: once its Deployment
/// exists, the controller takes it for the proxy, and adds it to what the service has a second time
/// (getExistingAuthProxyType, copyAuthProxyFromExisting).
pub(in crate::operators::kserve) fn taken(component: &Component) -> Option<Diagnostic> {
    let kind = component.annotations.get(PROXY_TYPE).and_then(Node::as_str);
    if component.kind == ComponentKind::Transformer || kind == Some(PROXY) {
        return None;
    }
    let mut containers = component.pod.get("containers")?.items().iter();
    let name = containers.find(|container| text(container, "name") == OLDER)?.get("name")?;
    let message = format!(
        "the controller takes the container `{OLDER}` of Deployment {} for its own once it exists, and adds it again: the server refuses every later update",
        component.name
    );
    let help = format!(
        "name the container otherwise, or annotate the service with `{PROXY_TYPE}: {PROXY}`"
    );
    Some(
        Diagnostic::new(Code::ServerRefuses, message)
            .severity(Severity::Warning)
            .at(name.origin.span())
            .help(help),
    )
}

/// Takes the proxy out of a pod, if it has one.
pub(in crate::operators::kserve) fn take(pod: &mut Node) -> Option<Node> {
    let containers = field_mut(pod, "containers")?.as_list_mut()?;
    let last = containers.iter().next_back()?;
    // By rule, not by name alone: a container of the user may be called the same.
    if text(last, "name") != PROXY
        || !matches!(last.origin, Origin::Derived(rule) if std::ptr::eq(rule, RULE))
    {
        return None;
    }
    containers.pop()
}

/// Puts it back behind the other containers.
pub(in crate::operators::kserve) fn put(pod: &mut Node, proxy: Option<Node>) {
    append(pod, "containers", proxy);
}

/// Adds the proxy, which is in every new pod of a predictor or explainer, with or without
/// authentication.
fn guard(service: &EcoString, proxy: &ProxyConfig, component: &mut Component) {
    let container = container(proxy, &component.spec, &component.pod);
    let pod = &mut component.pod;
    each_mut(pod, "containers", |container| {
        if text(container, "name") == MAIN {
            append(
                container,
                "volumeMounts",
                node!(RULE; { name: CERTIFICATE, mountPath: CERTIFICATE_PATH }),
            );
        }
    });
    append(pod, "containers", container);
    let secret = eco_format!("{}-serving-cert", component.name);
    let volumes = [
        node!(RULE; { name: CERTIFICATE, secret: { secretName: secret, defaultMode: 420 } }),
        node!(RULE; {
            name: "kube-rbac-proxy-sar-config",
            configMap: { name: (access_name(service)), defaultMode: 420 },
        }),
    ];
    for volume in volumes {
        append(pod, "volumes", volume);
    }
    if let Some(map) = pod.as_map_mut() {
        // The proxy checks tokens against the API server, with its own token.
        map.insert("automountServiceAccountToken", Node::bool(true, Origin::Derived(RULE)));
    }
}

/// Adds an element to a list, if there is one.
fn append(node: &mut Node, key: &str, element: Option<Node>) {
    if let Some(element) = element {
        push(node, key, element);
    }
}

/// The container of the proxy.
fn container(proxy: &ProxyConfig, spec: &Node, pod: &Node) -> Option<Node> {
    let amounts = &proxy.container.resources;
    let mut args: Vec<EcoString> = [
        "--secure-listen-address=:8443",
        "--proxy-endpoints-port=8643",
        &format!("--upstream=http://localhost:{}", upstream(spec, pod)),
        "--auth-header-fields-enabled=true",
        "--tls-cert-file=/etc/tls/private/tls.crt",
        "--tls-private-key-file=/etc/tls/private/tls.key",
        "--config-file=/etc/kube-rbac-proxy/config-file.yaml",
        "--v=4",
    ]
    .map(EcoString::from)
    .to_vec();
    let seconds = spec.get("timeout").and_then(Node::scalar_text);
    // The component's timeout wins over that of the settings.
    let seconds = seconds.or_else(|| filled(&proxy.timeout).cloned());
    args.extend(seconds.map(|seconds| eco_format!("--upstream-timeout={seconds}s")));
    let probe = |delay: i64| {
        node!(RULE; {
            httpGet: { path: "/healthz", port: 8643, scheme: "HTTPS" },
            initialDelaySeconds: delay, timeoutSeconds: 1, periodSeconds: 5, successThreshold: 1, failureThreshold: 3,
        })
    };
    node!(RULE; {
        name: PROXY,
        image: (filled(&proxy.container.image)),
        args: args,
        ports: [{ name: "https", containerPort: 8443 }, { name: "proxy", containerPort: 8643 }],
        livenessProbe: (probe(30)),
        readinessProbe: (probe(5)),
        resources: {
            limits: { cpu: (filled(&amounts.cpu_limit)), memory: (filled(&amounts.memory_limit)) },
            requests: { cpu: (filled(&amounts.cpu_request)), memory: (filled(&amounts.memory_request)) },
        },
        volumeMounts: [
            { name: CERTIFICATE, mountPath: CERTIFICATE_PATH },
            { name: "kube-rbac-proxy-sar-config", mountPath: "/etc/kube-rbac-proxy", readOnly: true },
        ],
    })
}

/// The port to which the proxy sends requests: the agent's, else that of the transformer in the
/// same pod, else the server's.
fn upstream(spec: &Node, pod: &Node) -> i64 {
    let agent = ["logger", "batcher"]
        .iter()
        .any(|key| spec.get(key).is_some_and(|node| node.as_map().is_some()));
    // The agent forwards to the server, so the proxy must not go around it.
    if agent {
        return AGENT;
    }
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    let first = |name: &str| {
        let container = containers.iter().find(|container| text(container, "name") == name)?;
        container.get("ports")?.items().first()?.get("containerPort")?.as_int()
    };
    first(TRANSFORMER).or_else(|| first(MAIN)).unwrap_or(8080)
}

/// Lets a transformer call a predictor that asks for authentication.
fn trust(namespace: &str, predictor: &str, pod: &mut Node) {
    const RULE: &Rule = &rules::OPENSHIFT_TRANSFORMER;
    append(
        pod,
        "volumes",
        node!(RULE; { name: SERVICE_CA, configMap: { name: "openshift-service-ca.crt" } }),
    );
    // The first container is the transformer.
    let Some(first) = list_mut(pod, "containers", Origin::Derived(RULE))
        .and_then(|containers| containers.make_mut().first_mut())
    else {
        return;
    };
    let variables = [
        ("SSL_CERT_DIR", SERVICE_CA_PATH.into()),
        ("REQUESTS_CA_BUNDLE", eco_format!("{SERVICE_CA_PATH}/service-ca.crt")),
        ("PREDICTOR_HOST", eco_format!("{predictor}.{namespace}.svc")),
        ("PREDICTOR_PORT", "8443".into()),
        ("PREDICTOR_PROTOCOL", "https".into()),
    ];
    for (name, value) in variables {
        // Behind the variables of the user; of two with one name the last one counts.
        append(first, "env", node!(RULE; { name: name, value: value }));
    }
    append(
        first,
        "volumeMounts",
        node!(RULE; { name: SERVICE_CA, mountPath: SERVICE_CA_PATH, readOnly: true }),
    );
    for argument in ["--predictor_use_ssl", "true"] {
        push(first, "args", Node::str(argument, Origin::Derived(RULE)));
    }
}

/// The ConfigMap with the rule by which the proxy decides: whoever may get the service may call it
/// (createSarCm).
pub(in crate::operators::kserve) fn access(
    service: &EcoString,
    namespace: &str,
    of: &Node,
) -> Option<Node> {
    let attribute = |key: &str, value: &str| format!("\n    {key}: \"{value}\"");
    let rule: String = [
        ("namespace", namespace),
        ("apiGroup", "serving.kserve.io"),
        ("apiVersion", "v1beta1"),
        ("resource", "inferenceservices"),
        ("name", service),
        ("verb", "get"),
    ]
    .iter()
    .map(|(key, value)| attribute(key, value))
    .collect();
    let text = format!("authorization:\n  resourceAttributes:{rule}");
    let metadata = crate::objects::metadata::metadata(
        access_name(service),
        Some(of),
        &Map::new(),
        &Map::new(),
    );
    node!(RULE; {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: metadata,
        immutable: true,
        data: { "config-file.yaml": text },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::kserve::compose::testing::objects;
    use crate::operators::kserve::openshift::shipped;

    #[test]
    fn a_proxy_without_an_amount_or_with_a_timeout_that_is_no_number_is_missing_something() {
        let shipped = shipped::config().proxy.expect("it ships with one");
        let predictor = |text: &str| {
            let text = format!("kind: A\nmetadata: {{name: a}}\nspec: {text}\n");
            objects(&text)[0].node.get("spec").cloned().expect("a spec")
        };
        let (plain, timed) = (predictor("{a: b}"), predictor("{timeout: 5}"));
        let warning = |proxy: &ProxyConfig, predictor: &Node| {
            missing(Some(proxy), predictor).map(|(message, _)| message).unwrap_or_default()
        };
        assert_eq!(warning(&shipped, &plain), "");
        assert!(missing(None, &plain).is_some());
        let mut bare = shipped.clone();
        bare.container.resources.cpu_limit = EcoString::new();
        assert!(warning(&bare, &plain).contains("are empty"));
        let mut slow = shipped.clone();
        slow.timeout = "x".into();
        assert!(warning(&slow, &plain).contains("\"x\""));
        assert_eq!(warning(&slow, &timed), "");
        slow.timeout = "20".into();
        assert_eq!(warning(&slow, &plain), "");
    }

    #[test]
    fn a_container_of_the_older_proxys_name_is_added_again_by_each_later_update() {
        use crate::diag::Code;
        use crate::testing::ome;
        let found = |annotations: &str, name: &str| {
            let text = format!(
                "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: s, namespace: team, annotations: {{{annotations}}}}}\nspec: {{predictor: {{containers: [{{name: kserve-container, image: a}}, {{name: {name}, image: b}}]}}}}\n"
            );
            let ran = ome("plan -o json --release kserve=odh", &text);
            ran.findings().iter().filter(|code| **code == Code::ServerRefuses.as_str()).count()
        };
        let migrates = "security.opendatahub.io/auth-proxy-type: kube-rbac-proxy";
        assert_eq!(found("", OLDER), 1);
        assert_eq!(found(migrates, OLDER), 0);
        assert_eq!(found("", "other"), 0);
        // The name of the newer one is refused at once.
        assert_eq!(found("", PROXY), 1);
    }
}
