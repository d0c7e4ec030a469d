//! The operator's settings: ConfigMap `inferenceservice-config`
//! (pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile).
//!
//! Every key holds JSON, decoded as in Go: field names match in any case, unknown fields are
//! ignored, null keeps the existing value.

use crate::api::ingress;
use crate::api::ingress::Spelling;
use crate::api::{IngressConfig, KServeConfig, Object, OperatorConfig};
use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::Quantity;
use crate::quantity::go_json_text::{fields, mismatch, string};
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::{EcoString, eco_format};

/// OME's names for settings that KServe names differently.
const SPELLING: Spelling = Spelling {
    gateway: "omeIngressGateway",
    switch: "enableGatewayAPI",
    template: "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}",
};

/// Fields of `multinodeProber` that are quantities.
const PROBER_QUANTITIES: [&str; 4] = ["cpuRequest", "cpuLimit", "memoryRequest", "memoryLimit"];

/// Fields of `multinodeProber` that are numbers.
const PROBER_NUMBERS: [&str; 5] = [
    "startupFailureThreshold",
    "startupPeriodSeconds",
    "startupTimeoutSeconds",
    "startupInitialDelaySeconds",
    "unavailableThresholdSeconds",
];

/// Reads the ConfigMap. Every error is a finding at its key; an error that makes every reconcile
/// fail is also in [`OperatorConfig::error`], with the operator's message.
pub fn config(object: &Object, diagnostics: &mut Vec<Diagnostic>) -> OperatorConfig {
    let mut config = OperatorConfig {
        grace_period: None,
        default_deployment_mode: EcoString::new(),
        ingress: IngressConfig::default(),
        multinode_prober: None,
        error: None,
        kserve: KServeConfig::default(),
    };
    let data = object.node.get("data").and_then(Node::as_map);
    // A value that is no text is no JSON to the controller: the key counts as absent.
    let texts = |key: &str| {
        data.and_then(|data| data.entry(key)).and_then(|entry| Some((entry, entry.node.as_str()?)))
    };
    let mut fail = |entry: &Entry, severity, message: &str, help: &str| {
        let finding = Diagnostic::new(
            Code::InvalidInput,
            format!("`{}` of the ConfigMap {}: {message}", entry.key, object.id.name),
        );
        diagnostics.push(
            finding
                .severity(severity)
                .at(entry.key_origin.span())
                .path(format!("data.{}", entry.key))
                .object(object.id.to_string())
                .help(help),
        );
    };

    if let Some((entry, text)) = texts("deploy")
        && let Err(message) =
            deploy(text, &mut config.default_deployment_mode, &mut config.grace_period)
    {
        fail(
            entry,
            Severity::Error,
            &message,
            "write `{\"defaultDeploymentMode\": \"RawDeployment\"}`",
        );
        // The first error is the controller's: it decodes the keys in this order.
        config.error = Some(message);
    }
    if let Some((entry, text)) = texts("ingress") {
        config.ingress.span = entry.key_origin.span();
        if let Err(message) = read_ingress(text, &mut config.ingress) {
            fail(entry, Severity::Error, &message, "every service fails until this is corrected");
            config.error = config.error.or(Some(message));
        }
    }
    // Also applies when the key is absent.
    ingress::default_empty(&mut config.ingress, &SPELLING);
    if let Some((entry, text)) = texts("multinodeProber") {
        match prober(text, entry.node.origin) {
            Ok(prober) => config.multinode_prober = Some(prober),
            Err(ProberError::Quantity(message)) => {
                const HELP: &str = "services that run on Ray fail until this is corrected";
                fail(entry, Severity::Warning, &message, HELP);
            }
            // The controller decodes the key in every reconcile (controllerconfig/configmap.go,
            // NewInferenceServicesConfig).
            Err(ProberError::Json(message)) => {
                const HELP: &str = "every service fails until this is corrected";
                fail(entry, Severity::Error, &message, HELP);
                config.error = config.error.or_else(|| {
                    let cause = message.strip_prefix(PROBER_PREFIX).unwrap_or(&message);
                    Some(eco_format!(
                        "fails to create InferenceServicesConfig: unable to unmarshall \
                         multinodeProber json string due to {cause}"
                    ))
                });
            }
        }
    }
    config
}

fn deploy(text: &str, mode: &mut EcoString, grace: &mut Option<i64>) -> Result<(), EcoString> {
    for (key, value) in fields(text, "deploy config")? {
        if key.eq_ignore_ascii_case("terminationGracePeriodSeconds") {
            *grace = value.as_i64();
        }
        if key.eq_ignore_ascii_case("defaultDeploymentMode") {
            string(mode, &value, "deploy config", "DeployConfig.defaultDeploymentMode")?;
        }
    }
    match mode.as_str() {
        "" => Err("invalid deploy config, defaultDeploymentMode is required".into()),
        "Serverless" | "RawDeployment" => Ok(()),
        _ => {
            Err("invalid deployment mode. Supported modes are Serverless and RawDeployment".into())
        }
    }
}

fn read_ingress(text: &str, found: &mut IngressConfig) -> Result<(), EcoString> {
    let mut service = EcoString::new();
    for (key, value) in fields(text, ingress::WHAT)? {
        ingress::field(found, &SPELLING, &key, &value)?;
        if key.eq_ignore_ascii_case("ingressService") {
            string(&mut service, &value, ingress::WHAT, "IngressConfig.ingressService")?;
        }
    }
    if found.ingress_gateway.is_empty() || service.is_empty() {
        return Err(
            "invalid ingress config - ingressGateway and ingressService are required".into()
        );
    }
    ingress::path_has_a_domain(found)
}

/// The prefix of messages about the prober's JSON.
const PROBER_PREFIX: &str = "unable to parse multinodeProber config json: ";

/// An error in the prober's settings.
enum ProberError {
    /// The controller cannot decode the JSON.
    Json(EcoString),
    /// A quantity is invalid.
    Quantity(EcoString),
}

impl From<EcoString> for ProberError {
    fn from(message: EcoString) -> Self {
        Self::Json(message)
    }
}

/// The prober's settings under their canonical names, quantities in canonical form.
fn prober(text: &str, origin: Origin) -> Result<Node, ProberError> {
    const WHAT: &str = "multinodeProber config";
    let mut map = Map::new();
    for (key, value) in fields(text, WHAT)? {
        // Go's decoder matches names in any case, so that the canonical name is stored.
        let named = |name: &&&'static str| key.eq_ignore_ascii_case(name);
        let mut put = |name: &'static str, value: Value| {
            map.insert_entry(Entry {
                key: name.into(),
                key_origin: origin,
                node: Node::new(value, origin),
            });
        };
        if let Some(name) = PROBER_NUMBERS.iter().find(named) {
            match value.as_i64() {
                Some(number) if i32::try_from(number).is_ok() => put(name, Value::Int(number)),
                // Go leaves a field as it is where the JSON has a null.
                _ if value.is_null() => {}
                _ => {
                    return Err(mismatch(
                        WHAT,
                        &value,
                        &format!("MultiNodeProberConfig.{name}"),
                        "int32",
                    )
                    .into());
                }
            }
        } else if let Some(name) = PROBER_QUANTITIES.iter().chain(&["image"]).find(named) {
            let mut text = EcoString::new();
            string(&mut text, &value, WHAT, &format!("MultiNodeProberConfig.{name}"))?;
            // An empty quantity is found only when the prober is written.
            if *name != "image" && !text.is_empty() {
                text = Quantity::parse(&text)
                    .map_err(|error| {
                        let message = eco_format!("`{name}: {text}` is not a quantity: {error}");
                        ProberError::Quantity(message)
                    })?
                    .canonical();
            }
            put(name, Value::Str(text));
        }
    }
    Ok(Node::new(Value::Map(map), origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Api;
    use crate::source::SourceId;
    use crate::testing::object;
    use crate::yaml::{Limits, parse};

    const INGRESS: &str = r#""ingressGateway":"g","ingressService":"s""#;

    fn read(data: &str) -> (OperatorConfig, Vec<Diagnostic>) {
        let text = format!(
            "kind: ConfigMap\nmetadata: {{name: inferenceservice-config, namespace: ome}}\ndata:\n{data}"
        );
        let node =
            parse(SourceId(0), &text, 0..text.len(), &Limits::default()).value.expect("a document");
        let id = (Some("ome"), "inferenceservice-config");
        let object = object((Api::Cluster, "v1"), "ConfigMap", id, node);
        let mut diagnostics = Vec::new();
        (config(&object, &mut diagnostics), diagnostics)
    }

    #[test]
    fn config_fields_are_decoded_like_go_json() {
        let (config, findings) = read(&format!(
            "  deploy: '{{\"DEFAULTdeploymentMode\": \"Serverless\", \"other\": 1}}'\n  ingress: |-\n    {{{INGRESS}, \"IngressDomain\": null, \"urlscheme\": \"https\", \"ingressClassName\": null, \"additionalIngressDomains\": [\"a\", \"b\"]}}\n"
        ));
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(config.error, None);
        assert_eq!(config.default_deployment_mode, "Serverless");
        assert_eq!(config.ingress.ingress_domain, "example.com");
        assert_eq!(config.ingress.url_scheme, "https");
        assert_eq!(config.ingress.ingress_class_name, None);
        assert_eq!(config.ingress.additional_domains, ["a", "b"]);
        assert!(!config.ingress.disable_ingress_creation, "absent means that an Ingress is made");
    }

    #[test]
    fn an_empty_config_map_is_not_the_shipped_one() {
        let (config, findings) = read("  other: x\n");
        assert!(findings.is_empty());
        assert_eq!(config.default_deployment_mode, "");
        assert!(!config.ingress.disable_ingress_creation);
        assert!(config.multinode_prober.is_none());
    }

    #[test]
    fn invalid_settings_are_reported_with_the_operator_message() {
        for (data, expected) in [
            (
                "  deploy: '{}'\n".to_owned(),
                "invalid deploy config, defaultDeploymentMode is required",
            ),
            (
                "  deploy: '{\"defaultDeploymentMode\": \"MultiNode\"}'\n".to_owned(),
                "invalid deployment mode. Supported modes are Serverless and RawDeployment",
            ),
            ("  deploy: '{'\n".to_owned(), "unable to parse deploy config json: "),
            (
                "  ingress: '{\"ingressGateway\":\"g\"}'\n".to_owned(),
                "invalid ingress config - ingressGateway and ingressService are required",
            ),
            (
                format!("  ingress: '{{{INGRESS}, \"pathTemplate\": \"/{{{{ .Name }}}}\"}}'\n"),
                "invalid ingress config - ingressDomain is required if pathTemplate is given",
            ),
            (
                format!("  ingress: '{{{INGRESS}, \"disableIngressCreation\": \"true\"}}'\n"),
                "unable to parse ingress config json: json: cannot unmarshal string into Go struct field IngressConfig.disableIngressCreation of type bool",
            ),
        ] {
            let (config, findings) = read(&data);
            assert!(
                config.error.as_deref().is_some_and(|error| error.starts_with(expected)),
                "{data}: {:?}",
                config.error
            );
            assert_eq!(findings.len(), 1, "{data}");
            assert!(findings[0].span().is_some(), "{data}");
        }
    }

    #[test]
    fn prober_settings_are_normalized_to_canonical_quantities() {
        let (config, findings) = read(
            "  multinodeProber: '{\"Image\": \"p:1\", \"cpuLimit\": \"0.5\", \"startupPeriodSeconds\": 30}'\n",
        );
        assert!(findings.is_empty());
        let prober = config.multinode_prober.expect("settings of the prober");
        assert_eq!(
            prober.to_json(),
            serde_json::json!({"image": "p:1", "cpuLimit": "500m", "startupPeriodSeconds": 30})
        );
        for (prober, expected) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            (
                "{\"image\": 3}",
                "json: cannot unmarshal number into Go struct field MultiNodeProberConfig.image of type string",
            ),
        ] {
            let (config, findings) = read(&format!("  multinodeProber: '{prober}'\n"));
            let error = config.error.expect("every reconcile fails");
            assert_eq!(
                error,
                format!(
                    "fails to create InferenceServicesConfig: unable to unmarshall multinodeProber json string due to {expected}"
                )
            );
            assert_eq!(findings.len(), 1);
        }
        let (config, findings) = read("  multinodeProber: '{\"cpuLimit\": \"much\"}'\n");
        assert!(config.multinode_prober.is_none() && config.error.is_none());
        assert_eq!(findings.len(), 1);
    }
}
