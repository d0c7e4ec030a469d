//! Reads the controller's settings from the ConfigMap `inferenceservice-config`.

use super::containers;
use crate::api::ingress;
use crate::api::ingress::Spelling;
use crate::api::{
    Amounts, CollectorConfig, CredentialConfig, IngressConfig, KSERVE_DISALLOWED, KServeConfig,
    KnativeDomain, LlmConfig, LlmPlaces, Object, WvaConfig,
};
use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::go_json_text::{boolean, fields, list, string};
use crate::quantity::names::dns1123_label;
use crate::source::SourceId;
use crate::yaml::{Entry, Limits, Map, Node, parse, split};
use ecow::EcoString;
use serde_json::Value as Json;

/// Keys and defaults of the ingress settings that KServe spells differently from OME.
const SPELLING: Spelling = Spelling {
    gateway: "kserveIngressGateway",
    switch: "enableGatewayApi",
    template: "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
};

/// Keys that only KServe's ConfigMap has.
const OWN_KEYS: [&str; 8] = [
    "storageInitializer",
    "inferenceService",
    "explainers",
    "predictors",
    "security",
    "localModel",
    "agent",
    "oauthProxy",
];

/// Whether a ConfigMap named `inferenceservice-config`, a name that OME uses too, is KServe's: by
/// its namespace, else by its keys.
pub fn is_config(object: &Object) -> bool {
    let data = object.node.get("data").and_then(Node::as_map);
    match object.id.scope.namespace().map(EcoString::as_str) {
        Some("kserve") => true,
        Some("ome") => false,
        // Only OME's ConfigMap has the prober.
        _ => data.is_some_and(|data| {
            OWN_KEYS.iter().any(|key| data.contains_key(key))
                && !data.contains_key("multinodeProber")
        }),
    }
}

/// Reads one key of the ConfigMap.
type Reader = fn(&mut KServeConfig, &str) -> Result<(), EcoString>;

/// The upstream component that reads a key of the ConfigMap, and therefore fails on a wrong value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::operators::kserve) enum Reach {
    /// The defaulting webhook or the controller, for every service.
    Services,
    /// The controller, for every service that it reconciles itself: all except those of ModelMesh.
    Run,
    /// The webhook of pods, for every pod.
    Pods,
    /// The controller, where the key is needed; a wrong value does not stop it.
    Some,
}

/// Reads the ConfigMap. Every wrong value is a finding at its key. A value that makes every
/// reconcile fail is also in [`KServeConfig::error`] or [`KServeConfig::run_error`], with the
/// controller's message.
pub fn config(object: &Object, diagnostics: &mut Vec<Diagnostic>) -> KServeConfig {
    // Without data nothing is known of the cluster: the shipped settings stand in.
    let Some(data) = object.node.get("data").and_then(Node::as_map) else {
        return KServeConfig::default();
    };
    if let Some(entry) = data.entry("predictors") {
        diagnostics.push(
            Diagnostic::new(
                Code::PredictorsConfigIgnored,
                "the key `predictors` is ignored since v0.10: runtimes name the images",
            )
            .at(entry.key_origin.span())
            .path("data.predictors")
            .object(object.id.to_string())
            .help("delete the key"),
        );
    }
    of_data(data, &mut |entry, reach, message| {
        diagnostics.push(wrong(object, entry, reach, message));
    })
}

/// Reads the keys of the ConfigMap; `report` gets every wrong value.
pub(in crate::operators::kserve) fn of_data(
    data: &Map,
    report: &mut dyn FnMut(&Entry, Reach, &str),
) -> KServeConfig {
    // [`KServeConfig::default`] has the values of the shipped ConfigMap. They do not apply to keys
    // that a loaded ConfigMap lacks.
    let mut config = KServeConfig {
        mount_token: false,
        disallowed_annotations: Vec::new(),
        disallowed_labels: Vec::new(),
        resources: Amounts::default(),
        windows: Default::default(),
        collector: CollectorConfig::default(),
        credentials: CredentialConfig::default(),
        metrics: Default::default(),
        art: Default::default(),
        ingress: IngressConfig::default(),
        ..KServeConfig::default()
    };
    ingress::default_empty(&mut config.ingress, &SPELLING);
    // Of several wrong keys that one component reads the first is its error.
    let readers: [(&str, Reach, Reader); 15] = [
        ("deploy", Reach::Services, deploy),
        ("ingress", Reach::Run, read_ingress),
        ("inferenceService", Reach::Services, inference_service),
        ("service", Reach::Some, service),
        ("security", Reach::Services, security),
        ("explainers", Reach::Services, explainers),
        ("storageInitializer", Reach::Run, containers::storage_initializer),
        ("logger", Reach::Pods, containers::logger),
        ("batcher", Reach::Pods, containers::batcher),
        ("agent", Reach::Pods, containers::agent),
        ("credentials", Reach::Run, credentials),
        ("metricsAggregator", Reach::Pods, metrics),
        ("autoscaler", Reach::Some, autoscaler),
        ("opentelemetryCollector", Reach::Some, collector),
        ("oauthProxy", Reach::Run, containers::proxy),
    ];
    for (key, reach, read) in readers {
        let Some(entry) = data.entry(key) else { continue };
        if key == "ingress" {
            config.ingress.span = entry.key_origin.span();
        }
        // A value that is no text is refused by the API server, with its own finding.
        let Some(text) = entry.node.as_str() else { continue };
        if let Err(message) = read(&mut config, text) {
            report(entry, reach, &message);
            let fails = match reach {
                Reach::Services => &mut config.error,
                Reach::Run => &mut config.run_error,
                Reach::Pods => &mut config.pod_error,
                Reach::Some => continue,
            };
            // The first error stays: the controller does not get to the second.
            fails.get_or_insert(message);
        }
    }
    config.gpu_types = custom_gpus(data);
    config.llm = llm(data);
    config
}

/// Settings that only LLMInferenceServices read. Every reader but the first stops at its own error.
fn llm(data: &Map) -> LlmConfig {
    let mut found = LlmConfig::default();
    let text = |key: &str| data.get(key).and_then(Node::as_str);
    let mut read = |key: &str, what: &str| -> Json {
        let Some(text) = text(key) else { return Json::Null };
        serde_json::from_str(text).unwrap_or_else(|error| {
            let message = ecow::eco_format!("failed to load ingress config: {what}: {error}");
            found.error.get_or_insert(message);
            Json::Null
        })
    };
    let ingress = read("ingress", "unable to parse ingress config json");
    let scheduler = read("scheduler", "unable to parse scheduler config json");
    let wva = read(WVA, "failed to parse autoscaling-wva-controller-config config json");
    let local = text("localModel").and_then(|text| serde_json::from_str::<Json>(text).ok());
    let word = |json: &Json, key: &str| -> EcoString {
        json.get(key).and_then(Json::as_str).unwrap_or_default().into()
    };
    let filled = |field: &mut EcoString, text: EcoString| {
        if !text.is_empty() {
            *field = text;
        }
    };
    // A key without the gateway empties the default; without the key the default stays.
    if text("ingress").is_some() {
        found.gateway = word(&ingress, "kserveIngressGateway");
    }
    let place = data.get("ingress").and_then(|text| text.origin.span());
    let place_of = |key: &str| place.filter(|_| ingress.get(key).is_some());
    found.written = LlmPlaces {
        gateway: place_of("kserveIngressGateway"),
        tls: place_of("enableLLMInferenceServiceTLS"),
        model_header: place_of("modelBasedRoutingHeaderName"),
    };
    found.tls = ingress.get("enableLLMInferenceServiceTLS") == Some(&Json::Bool(true));
    filled(&mut found.model_header, word(&ingress, "modelBasedRoutingHeaderName"));
    // The controller compares it in small letters.
    let mode = word(&ingress, "modelBasedRoutingMode").to_lowercase();
    filled(&mut found.model_routing, mode);
    let first = scheduler.get("expirationAnnotations").and_then(|list| list.get(0)?.as_str());
    filled(&mut found.expiration, first.unwrap_or_default().into());
    if let Some(prometheus) = wva.as_object().map(|_| &wva["prometheus"]) {
        found.wva = Some(WvaConfig {
            url: word(prometheus, "url"),
            insecure: prometheus["tlsInsecureSkipVerify"] == Json::Bool(true),
            auth_modes: word(prometheus, "authModes"),
            auth_name: word(prometheus, "triggerAuthName"),
            auth_kind: word(prometheus, "triggerAuthKind"),
        });
    }
    found.local_models = local.is_some_and(|local| local["enabled"] == Json::Bool(true));
    found
}

/// The key with the Prometheus server of scaling decisions.
const WVA: &str = "autoscaling-wva-controller-config";

fn wrong(object: &Object, entry: &Entry, reach: Reach, message: &str) -> Diagnostic {
    Diagnostic::new(
        Code::InvalidInput,
        format!("`{}` of the ConfigMap {}: {message}", entry.key, object.id.name),
    )
    .at(entry.key_origin.span())
    .path(format!("data.{}", entry.key))
    .object(object.id.to_string())
    .severity(match reach {
        Reach::Services | Reach::Run => Severity::Error,
        Reach::Pods | Reach::Some => Severity::Warning,
    })
    .help(match reach {
        Reach::Services => "every service fails until this is corrected",
        Reach::Run => "every service fails until this is corrected, but for those of ModelMesh",
        Reach::Pods => "every pod is refused until this is corrected",
        Reach::Some => "it counts for nothing until this is corrected",
    })
}

fn custom_gpus(data: &Map) -> Vec<EcoString> {
    let text = data.get("multiNode").and_then(Node::as_str).unwrap_or("{}");
    let found = fields(text, "multiNode config")
        .ok()
        .and_then(|fields| fields.get("customGPUResourceTypeList").cloned());
    found
        .and_then(|value| {
            list(&value, "multiNode config", "MultiNodeConfig.customGPUResourceTypeList").ok()
        })
        .unwrap_or_default()
}

fn deploy(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "deploy config";
    let mut mode = EcoString::new();
    for (key, value) in fields(text, WHAT)? {
        if key.eq_ignore_ascii_case("defaultDeploymentMode") {
            string(&mut mode, &value, WHAT, "DeployConfig.defaultDeploymentMode")?;
        }
        // Go's decoder ignores the case of keys.
        if key.eq_ignore_ascii_case("deploymentRolloutStrategy") {
            let part = |name: &str| {
                value
                    .get("defaultRollout")
                    .and_then(|rollout| rollout.get(name))
                    .and_then(Json::as_str)
                    .unwrap_or_default()
            };
            config.rollout = (part("maxSurge").into(), part("maxUnavailable").into());
        }
    }
    match mode.as_str() {
        "" => return Err("invalid deploy config, defaultDeploymentMode is required".into()),
        "Serverless" | "RawDeployment" | "Knative" | "Standard" | "ModelMesh" => {}
        _ => {
            return Err(
                "invalid deployment mode. Supported modes are Knative, Standard and ModelMesh"
                    .into(),
            );
        }
    }
    config.default_mode = Some(mode);
    Ok(())
}

fn read_ingress(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    // Into a new value: a wrong key leaves the settings before untouched.
    let mut found = IngressConfig { span: config.ingress.span, ..IngressConfig::default() };
    for (key, value) in fields(text, ingress::WHAT)? {
        ingress::field(&mut found, &SPELLING, &key, &value)?;
        if key.eq_ignore_ascii_case("disableHTTPRouteTimeout") {
            boolean(
                &mut found.disable_route_timeout,
                &value,
                ingress::WHAT,
                "IngressConfig.disableHTTPRouteTimeout",
            )?;
        }
    }
    if found.ingress_gateway.is_empty() {
        return Err("invalid ingress config - ingressGateway is required".into());
    }
    if found.enable_gateway_api {
        let problem = |words: &str| {
            Err(ecow::eco_format!("invalid ingress config - kserveIngressGateway{words}"))
        };
        let mut parts = found.ome_ingress_gateway.split('/');
        // Exactly two parts: a third one is a different error than none.
        match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
            ("", None, _) => return problem(" is required"),
            (namespace, Some(name), None) => {
                if !dns1123_label(name).is_empty() {
                    return problem(" gateway name is invalid");
                }
                if !dns1123_label(namespace).is_empty() {
                    return problem(" gateway namespace is invalid");
                }
            }
            _ => return problem(" should be in the format <namespace>/<name>"),
        }
    }
    ingress::path_has_a_domain(&found)?;
    ingress::default_empty(&mut found, &SPELLING);
    if found.knative_local_gateway_service.is_empty() {
        found.knative_local_gateway_service = found.local_gateway_service.clone();
    }
    config.ingress = found;
    Ok(())
}

fn inference_service(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "isvc config";
    config.resources = Amounts::default();
    // Quirk: the controller's built-in lists of disallowed annotations and labels apply only if the
    // ConfigMap has this key.
    config.disallowed_annotations = KSERVE_DISALLOWED.map(EcoString::from).to_vec();
    config.disallowed_labels = KServeConfig::default().disallowed_labels;
    for (key, value) in fields(text, WHAT)? {
        if key.eq_ignore_ascii_case("resource") {
            containers::amounts(WHAT, &mut config.resources, &value)?;
        }
        if key.eq_ignore_ascii_case("serviceAnnotationDisallowedList") {
            config.disallowed_annotations.extend(list(
                &value,
                WHAT,
                "InferenceServicesConfig.serviceAnnotationDisallowedList",
            )?);
        }
        if key.eq_ignore_ascii_case("serviceLabelDisallowedList") {
            config.disallowed_labels.extend(list(
                &value,
                WHAT,
                "InferenceServicesConfig.serviceLabelDisallowedList",
            )?);
        }
    }
    Ok(())
}

fn service(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    for (key, value) in fields(text, "service config")? {
        if key.eq_ignore_ascii_case("serviceClusterIPNone") {
            let mut headless = false;
            boolean(&mut headless, &value, "service config", "ServiceConfig.serviceClusterIPNone")?;
            config.headless = Some(headless);
        }
    }
    Ok(())
}

fn security(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    for (key, value) in fields(text, "security config")? {
        if key.eq_ignore_ascii_case("autoMountServiceAccountToken") {
            boolean(
                &mut config.mount_token,
                &value,
                "security config",
                "SecurityConfig.autoMountServiceAccountToken",
            )?;
        }
    }
    Ok(())
}

fn explainers(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "explainers config";
    if let Some(art) = fields(text, WHAT)?.get("art") {
        string(
            &mut config.art.0,
            art.get("image").unwrap_or(&Json::Null),
            WHAT,
            "ExplainerConfig.image",
        )?;
        string(
            &mut config.art.1,
            art.get("defaultImageVersion").unwrap_or(&Json::Null),
            WHAT,
            "ExplainerConfig.defaultImageVersion",
        )?;
    }
    Ok(())
}

fn credentials(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "credential config";
    let found = fields(text, WHAT)?;
    let mut credential_config = CredentialConfig::default();
    for (key, field) in [
        ("storageSpecSecretName", &mut credential_config.storage_secret),
        ("storageSecretNameAnnotation", &mut credential_config.annotation),
    ] {
        string(
            field,
            found.get(key).unwrap_or(&Json::Null),
            WHAT,
            &format!("CredentialConfig.{key}"),
        )?;
    }
    let file =
        found.get("gcs").and_then(|gcs| gcs.get("gcsCredentialFileName")).unwrap_or(&Json::Null);
    string(&mut credential_config.gcs_file, file, WHAT, "GCSConfig.gcs.gcsCredentialFileName")?;
    // All keys of S3 are kept: they are looked up by name when a Secret is read.
    for (key, value) in found.get("s3").and_then(Json::as_object).into_iter().flatten() {
        let mut text = EcoString::new();
        string(&mut text, value, WHAT, &format!("S3Config.s3.{key}"))?;
        credential_config.s3.insert(key.as_str().into(), text);
    }
    config.credentials = credential_config;
    Ok(())
}

fn metrics(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "metricsAggregator config";
    for (key, value) in fields(text, WHAT)? {
        match key.as_str() {
            "enableMetricAggregation" => string(
                &mut config.metrics.0,
                &value,
                WHAT,
                "MetricsAggregator.enableMetricAggregation",
            )?,
            "enablePrometheusScraping" => string(
                &mut config.metrics.1,
                &value,
                WHAT,
                "MetricsAggregator.enablePrometheusScraping",
            )?,
            _ => {}
        }
    }
    Ok(())
}

/// The domains of Knative's ConfigMap `config-domain`, sorted by name. A value without a selector
/// matches every route. The key `_example` is kept, because KServe reads it as a domain although
/// Knative skips it.
pub fn knative_domains(object: &Object) -> Vec<KnativeDomain> {
    let mut domains: Vec<KnativeDomain> = object
        .node
        .get("data")
        .and_then(Node::as_map)
        .into_iter()
        .flatten()
        .map(|entry| KnativeDomain {
            name: entry.key.clone(),
            selector: selector(entry.node.as_str().unwrap_or_default()),
        })
        .collect();
    domains.sort_by(|a, b| a.name.cmp(&b.name));
    domains
}

/// The labels under `selector` in the value of a domain.
fn selector(text: &str) -> Vec<(EcoString, EcoString)> {
    let source = SourceId(0);
    let limits = Limits::default();
    let Some(range) = split(source, text).value.into_iter().next() else { return Vec::new() };
    let written = parse(source, text, range, &limits).value;
    let labels = written.as_ref().and_then(|node| node.get("selector"));
    let pair = |entry: &Entry| Some((entry.key.clone(), entry.node.scalar_text()?));
    labels.and_then(Node::as_map).into_iter().flatten().filter_map(pair).collect()
}

fn autoscaler(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "autoscaler config";
    for (key, value) in fields(text, WHAT)? {
        match key.as_str() {
            "scaleUpStabilizationWindowSeconds" => {
                string(&mut config.windows.0, &value, WHAT, &key)?;
            }
            "scaleDownStabilizationWindowSeconds" => {
                string(&mut config.windows.1, &value, WHAT, &key)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn collector(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "opentelemetryCollector config";
    for (key, value) in fields(text, WHAT)? {
        match key.as_str() {
            "scrapeInterval" => string(&mut config.collector.interval, &value, WHAT, &key)?,
            "metricReceiverEndpoint" => string(&mut config.collector.receiver, &value, WHAT, &key)?,
            "metricScalerEndpoint" => string(&mut config.collector.scaler, &value, WHAT, &key)?,
            "resource" => containers::amounts(WHAT, &mut config.collector.resources, &value)?,
            _ => {}
        }
    }
    Ok(())
}
