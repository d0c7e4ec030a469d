//! Rules about services and runtimes that OME's webhooks enforce
//! (pkg/webhook/admission/isvc/inference_service_validation.go;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
//!
//! In controller mode, a rejection by a webhook is an error. In documented mode it is a warning
//! that the API server rejects the object, because the documents do not forbid it. Messages are
//! those of the webhooks. Rejections that depend on models and runtimes are reported where services
//! are decided.

use crate::api::{Api, ComponentKind, Object, Scope, Semantics, Service};
use crate::check::refusals::Refusals;
use crate::check::{View, about};
use crate::diag::{Code, Diagnostic};
use crate::quantity::parse_go_float;
use crate::yaml::Node;

const AUTOSCALER_CLASS: &str = "ome.io/autoscalerClass";
const METRICS: &str = "ome.io/metrics";
const TARGET: &str = "ome.io/targetUtilizationPercentage";
const KEDA_OPERATORS: [&str; 4] =
    ["GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual"];
const KEDA_AUTH_MODES: [&str; 4] = ["basic", "tls", "bearer", "custom"];

/// A decoder requires an engine (OME docs, Serving Runtime, Decoder Configuration).
pub(crate) fn decoder(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for views in view.catalog.services() {
        let service = views.of(view.semantics);
        let has = |kind: ComponentKind| service.component(kind).is_some();
        if service.object.api == Api::Ome
            && has(ComponentKind::Decoder)
            && !has(ComponentKind::Engine)
        {
            let decoder = service
                .object
                .node
                .get("spec")
                .and_then(Node::as_map)
                .and_then(|spec| spec.entry("decoder"));
            found.push(
                about(
                    Code::DecoderWithoutEngine,
                    &service.object,
                    "decoder cannot be specified without engine",
                )
                .at(decoder
                    .and_then(|entry| entry.key_origin.span())
                    .or_else(|| Some(service.object.name_span())))
                .path("spec.decoder")
                .help("add `engine: {}`"),
            );
        }
    }
}

/// Reports what the webhooks reject.
pub(crate) fn webhook(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let semantics = view.semantics.of(Api::Ome);
    for views in view.catalog.services() {
        let service = views.of(semantics);
        if service.object.api == Api::Ome {
            let mut refuse = Refusals { semantics, object: &service.object, found };
            name(service, &mut refuse);
            autoscaler(service, &mut refuse);
            utilization(service, &mut refuse);
        }
    }
    let all = view
        .catalog
        .policy(Api::Ome, semantics)
        .is_none_or(|policy| semantics == Semantics::Documented || policy.ome().runtimes_checked);
    let runtimes = view.catalog.runtimes(Api::Ome).iter();
    for runtime in runtimes.filter(|runtime| all || runtime.object.id.scope != Scope::Cluster) {
        // The webhook does not check a disabled runtime.
        if !runtime.disabled.as_ref().is_some_and(|disabled| disabled.value) {
            workers(&runtime.object, &mut Refusals { semantics, object: &runtime.object, found });
        }
    }
}

/// Rule 1: the name has no leading digit and no dots.
fn name(service: &Service, refuse: &mut Refusals<'_>) {
    let name = service.name();
    let bytes = name.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let fits = bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(inner)
        && bytes.last() != Some(&b'-');
    // A name that is invalid for every kind of object is reported where it is read.
    if !fits && crate::quantity::names::dns1123_subdomain(name).is_empty() {
        let origin = service.object.metadata("name").map(|node| node.origin);
        let message = format!(
            "invalid InferenceService name \"{name}\", must match \"[a-z]([-a-z0-9]*[a-z0-9])?\""
        );
        refuse.add(
            Code::InvalidName,
            origin,
            "metadata.name",
            message,
            "begin with a letter and use letters, digits and `-`",
        );
    }
}

/// Rules 2 and 3: the class of the autoscaler and the settings of that class.
fn autoscaler(service: &Service, refuse: &mut Refusals<'_>) {
    let Some(class) = service.object.annotation(AUTOSCALER_CLASS) else { return };
    let path = |key: &str| format!("metadata.annotations.{key}");
    match class.as_str().unwrap_or_default() {
        "hpa" => {
            if let Some(metric) = service.object.annotation(METRICS)
                && !matches!(metric.as_str(), Some("cpu" | "memory"))
            {
                let message =
                    format!("[{}] is not a supported metric", metric.as_str().unwrap_or_default());
                refuse.add(
                    Code::InvalidValue,
                    Some(metric.origin),
                    &path(METRICS),
                    message,
                    "write `cpu` or `memory`",
                );
            }
        }
        "keda" => keda(service, refuse),
        "external" => {}
        other => {
            let message = format!("[{other}] is not a supported autoscaler class type");
            refuse.add(
                Code::InvalidValue,
                Some(class.origin),
                &path(AUTOSCALER_CLASS),
                message,
                "write `hpa`, `keda` or `external`",
            );
        }
    }
}

fn keda(service: &Service, refuse: &mut Refusals<'_>) {
    // The field is used unless it is empty; an annotation is used even when it is empty.
    let mut each = |field: Option<&str>,
                    annotation: Option<&str>,
                    judge: fn(&str) -> Result<(), String>,
                    help: &str| {
        let field = field.and_then(|field| {
            Some((
                service.object.node.at(&["spec", "kedaConfig", field])?,
                format!("spec.kedaConfig.{field}"),
            ))
        });
        let field = field.filter(|(node, _)| node.as_str().is_some_and(|text| !text.is_empty()));
        let annotation = annotation.and_then(|key| {
            Some((service.object.annotation(key)?, format!("metadata.annotations.{key}")))
        });
        for (node, path) in [field, annotation].into_iter().flatten() {
            if let Err(message) = judge(node.as_str().unwrap_or_default()) {
                refuse.add(Code::InvalidValue, Some(node.origin), &path, message, help);
            }
        }
    };
    each(
        Some("scalingOperator"),
        Some("autoscaling.keda.sh/operator"),
        |text| {
            let fits = KEDA_OPERATORS.contains(&text);
            if fits {
                Ok(())
            } else {
                Err(format!(
                    "invalid KEDA scaling operator \"{text}\", must be one of: {}",
                    KEDA_OPERATORS.join(", ")
                ))
            }
        },
        "write one of the four operators",
    );
    each(
        Some("scalingThreshold"),
        Some("autoscaling.keda.sh/threshold"),
        |text| {
            parse_go_float(text).map(drop).ok_or_else(|| {
                format!("invalid KEDA scaling threshold \"{text}\": must be a valid number")
            })
        },
        "write a number",
    );
    each(
        Some("promServerAddress"),
        Some("autoscaling.keda.sh/prometheus.serverAddress"),
        server_address,
        "write an address such as `http://prometheus:9090`",
    );
    each(
        Some("authModes"),
        None,
        |text| match text
            .split(',')
            .map(str::trim)
            .find(|mode| !mode.is_empty() && !KEDA_AUTH_MODES.contains(mode))
        {
            Some(mode) => Err(format!(
                "invalid KEDA auth mode \"{mode}\", must be one of: {}",
                KEDA_AUTH_MODES.join(", ")
            )),
            None => Ok(()),
        },
        "write modes separated by commas",
    );
}

fn server_address(text: &str) -> Result<(), String> {
    let refuse =
        |why: &str| Err(format!("invalid KEDA Prometheus server address \"{text}\": {why}"));
    let Some((scheme, rest)) = text.split_once("://") else {
        return refuse("scheme must be http or https");
    };
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return refuse("scheme must be http or https");
    }
    if rest.split(['/', '?', '#']).next().unwrap_or_default().is_empty() {
        refuse("host is required")
    } else {
        Ok(())
    }
}

/// Rule 4: the target utilization is a percentage.
fn utilization(service: &Service, refuse: &mut Refusals<'_>) {
    let Some(target) = service.object.annotation(TARGET) else { return };
    if !target
        .as_str()
        .and_then(|text| text.parse::<i64>().ok())
        .is_some_and(|target| (1..=100).contains(&target))
    {
        let message = "the target utilization percentage should be a [1-100] integer".to_owned();
        refuse.add(
            Code::InvalidValue,
            Some(target.origin),
            &format!("metadata.annotations.{TARGET}"),
            message,
            "write an integer from 1 to 100",
        );
    }
}

/// The legacy `workers` of a runtime
/// (pkg/webhook/admission/servingruntime/servingruntime_webhook.go, rule 2). `engineConfig.leader`
/// and `worker` are not checked.
fn workers(runtime: &Object, refuse: &mut Refusals<'_>) {
    const MULTI: &str = "invalid configuration: for MultiNode deployment, both leader and worker must be defined and worker.size must be greater than 0";
    const RAW: &str =
        "invalid configuration: for RawDeployment, leader and worker must not be defined";
    let engine = runtime.spec("engineConfig");
    if engine.is_some() && runtime.spec("decoderConfig").is_some() {
        return;
    }
    let size = runtime.spec("workers").and_then(|workers| workers.get("size"));
    let count = size.and_then(Node::as_int);
    let origin = size.map(|size| size.origin);
    if count.is_some_and(|count| count <= 0) {
        refuse.add(
            Code::InvalidValue,
            origin,
            "spec.workers.size",
            MULTI.to_owned(),
            "write a size of 1 or more",
        );
        return;
    }
    if engine.is_none() {
        return;
    }
    let environment = runtime
        .spec("containers")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .flat_map(|container| container.get("env").map(Node::items).unwrap_or_default());
    let mode = environment
        .filter(|variable| variable.get("name").and_then(Node::as_str) == Some("DEPLOYMENT_MODE"))
        .find_map(|variable| {
            variable
                .get("value")
                .filter(|value| matches!(value.as_str(), Some("MultiNode" | "RawDeployment")))
        });
    match (mode.and_then(Node::as_str), count) {
        (Some("MultiNode"), None) => refuse.add(
            Code::InvalidValue,
            mode.map(|mode| mode.origin),
            "spec.workers.size",
            MULTI.to_owned(),
            "add `workers.size`",
        ),
        (Some("RawDeployment"), Some(_)) => {
            refuse.add(
                Code::InvalidValue,
                origin,
                "spec.workers",
                RAW.to_owned(),
                "delete `workers`, or the variable DEPLOYMENT_MODE",
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::{Controller, Documented};
    use crate::check::fixture::{codes, run, runtime, service};
    use crate::diag::Severity;

    #[test]
    fn a_decoder_needs_an_engine() {
        // OME docs, Serving Runtime, Decoder Configuration.
        assert_eq!(
            codes(&run(&service("s", "  decoder: {}\n"), Documented)),
            ["decoder-without-engine"]
        );
        assert!(run(&service("s", "  engine: {}\n  decoder: {}\n"), Documented).is_empty());
    }

    #[test]
    fn autoscaler_annotations_are_checked_like_the_webhook() {
        // pkg/webhook/admission/isvc/inference_service_validation.go: rows of annotations,
        // kedaConfig, how many are refused.
        for (annotations, keda, refused) in [
            ("ome.io/autoscalerClass: hpa", "", 0),
            ("ome.io/autoscalerClass: hpa, ome.io/metrics: gpu", "", 1),
            ("ome.io/metrics: gpu", "", 0),
            ("ome.io/autoscalerClass: vpa", "", 1),
            (
                "ome.io/autoscalerClass: keda",
                "scalingOperator: Greater, scalingThreshold: ten, promServerAddress: prometheus, authModes: 'basic, sso'",
                4,
            ),
            (
                "ome.io/autoscalerClass: keda",
                "scalingOperator: '', scalingThreshold: '1e3', promServerAddress: 'http://p:9090', authModes: 'basic,,tls'",
                0,
            ),
            ("ome.io/autoscalerClass: keda, autoscaling.keda.sh/operator: ''", "", 1),
            (
                "ome.io/autoscalerClass: keda, autoscaling.keda.sh/prometheus.serverAddress: 'https://'",
                "",
                1,
            ),
            ("ome.io/autoscalerClass: hpa", "scalingOperator: Greater", 0),
            ("ome.io/targetUtilizationPercentage: '101'", "", 1),
            ("ome.io/targetUtilizationPercentage: '80'", "", 0),
        ] {
            let text = service("s", &format!("  kedaConfig: {{{keda}}}\n"))
                .replace("{name: s}", &format!("{{name: s, annotations: {{{annotations}}}}}"));
            let found = run(&text, Controller);
            assert_eq!(codes(&found), vec!["invalid-value"; refused], "{annotations} {keda}");
            let found = run(&text, Documented);
            assert!(
                found.len() == refused
                    && found.iter().all(|finding| finding.code.as_str() == "server-refuses"
                        && finding.severity == Severity::Warning),
                "{found:?}"
            );
        }
    }

    #[test]
    fn names_of_services_begin_with_a_letter() {
        for (name, expected) in [
            ("chat-1", &[][..]),
            ("1chat", &["invalid-name"]),
            ("a.b", &["invalid-name"]),
            ("A", &[]),
        ] {
            assert_eq!(codes(&run(&service(name, ""), Controller)), expected, "{name}");
        }
    }

    #[test]
    fn legacy_workers_have_a_size() {
        let mode = |mode: &str| {
            format!(
                "  containers: [{{name: a, env: [{{name: DEPLOYMENT_MODE, value: {mode}}}]}}]\n"
            )
        };
        for (spec, refused) in [
            ("  workers: {size: 0}\n".to_owned(), 1),
            ("  workers: {size: 1}\n".to_owned(), 0),
            (format!("  engineConfig: {{}}\n{}", mode("MultiNode")), 1),
            (format!("  engineConfig: {{}}\n  workers: {{size: 1}}\n{}", mode("RawDeployment")), 1),
            (format!("  engineConfig: {{}}\n  decoderConfig: {{}}\n{}", mode("MultiNode")), 0),
            ("  disabled: true\n  workers: {size: 0}\n".to_owned(), 0),
        ] {
            assert_eq!(run(&runtime("r", &spec), Controller).len(), refused, "{spec}");
        }
    }
}
