//! The violations of the rules of OME's webhooks, in their order and with their messages
//! (pkg/webhook/admission/isvc/inference_service_validation.go, validateInferenceService;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
//!
//! In: a service or a runtime, after defaults were written. Out: violations, and whether a service
//! without pods is stored. The rules about models and runtimes (6 and 7) are those of the selection,
//! whose errors they are.

use crate::api::{ComponentKind, Failure, Runtime, Service};
use crate::check::refusals::{Refusals, Violation, first};
use crate::diag::Code;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::quantity::parse_go_float;
use crate::yaml::Node;

const AUTOSCALER_CLASS: &str = "ome.io/autoscalerClass";
const METRICS: &str = "ome.io/metrics";
const TARGET: &str = "ome.io/targetUtilizationPercentage";
const KEDA_OPERATORS: [&str; 4] =
    ["GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual"];
const KEDA_AUTH_MODES: [&str; 4] = ["basic", "tls", "bearer", "custom"];

/// Everything the webhook rejects in a service, whatever else exists.
pub(crate) fn refused(service: &Service) -> Vec<Violation> {
    let mut refuse = Refusals::new(&service.object);
    name(service, &mut refuse);
    autoscaler(service, &mut refuse);
    // In the webhook's order: the first violation is the one that its answer has.
    utilization(service, &mut refuse);
    refuse.into_found()
}

/// The first violation of a service, as its error.
pub(crate) fn refusal(service: &Service) -> Option<Failure> {
    first(refused(service))
}

/// Whether a service is stored although its selection fails with `error`.
///
/// Rule 6: a named model must exist. Rule 7: an engine without a runtime and without a runner with
/// an image (or a leader and a worker with images) must have a model and an eligible runtime.
pub(crate) fn is_stored(policy: &Policy, service: &Service, error: &Failure) -> bool {
    if service.refusal.is_some()
        || (policy.ome().models_checked && error.code == Code::ModelNotFound)
    {
        return false;
    }
    let requires_runtime = service.runtime.is_none()
        && service.component(ComponentKind::Engine).is_some_and(|engine| !has_images(engine));
    let selection = matches!(
        error.code,
        Code::InvalidInput
            | Code::ModelNotFound
            | Code::ModelDisabled
            | Code::ModelIncomplete
            | Code::NoCompatibleRuntime
    );
    // A service that resolves nothing in the webhook is stored, and its selection fails in the
    // controller.
    !(requires_runtime && selection)
}

/// Whether an engine has all images of its own (validateRuntimeAndModelResolution).
fn has_images(engine: &Node) -> bool {
    let image = |path: &[&str]| {
        engine.at(path).and_then(Node::as_str).is_some_and(|image| !image.is_empty())
    };
    image(&["runner", "image"])
        || (image(&["leader", "runner", "image"]) && image(&["worker", "runner", "image"]))
}

/// Everything the webhook rejects in a runtime. It does not check a disabled one.
pub(crate) fn refused_runtime(runtime: &Runtime) -> Vec<Violation> {
    let mut refuse = Refusals::new(&runtime.object);
    if !runtime.disabled.as_ref().is_some_and(|disabled| disabled.value) {
        workers(&mut refuse);
    }
    refuse.into_found()
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
        let message = format!(
            "invalid InferenceService name \"{name}\", must match \"[a-z]([-a-z0-9]*[a-z0-9])?\""
        );
        refuse.refuse(
            Code::InvalidName,
            "metadata.name",
            refuse.object.metadata("name"),
            message,
            "begin with a letter and use letters, digits and `-`",
        );
    }
}

/// Rules 2 and 3: the class of the autoscaler and the settings of that class.
fn autoscaler(service: &Service, refuse: &mut Refusals<'_>) {
    // Without a class the webhook checks no metric, although the controller writes an HPA.
    let Some(class) = service.object.annotation(AUTOSCALER_CLASS) else { return };
    let path = |key: &str| format!("metadata.annotations.{key}");
    match class.as_str().unwrap_or_default() {
        "hpa" => {
            if let Some(metric) = service.object.annotation(METRICS)
                && !matches!(metric.as_str(), Some("cpu" | "memory"))
            {
                let message =
                    format!("[{}] is not a supported metric", metric.as_str().unwrap_or_default());
                refuse.value(path(METRICS), Some(metric), message, "write `cpu` or `memory`");
            }
        }
        "keda" => keda(service, refuse),
        "external" => {}
        other => {
            let message = format!("[{other}] is not a supported autoscaler class type");
            refuse.value(
                path(AUTOSCALER_CLASS),
                Some(class),
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
                    help: &'static str| {
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
        // Both are judged where both are set, as each may be read by another part of the operator.
        for (node, path) in [field, annotation].into_iter().flatten() {
            if let Err(message) = judge(node.as_str().unwrap_or_default()) {
                refuse.value(path, Some(node), message, help);
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
            // An empty part, as behind a last comma, is skipped.
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
        refuse.value(
            format!("metadata.annotations.{TARGET}"),
            Some(target),
            message,
            "write an integer from 1 to 100",
        );
    }
}

/// The legacy `workers` of a runtime
/// (pkg/webhook/admission/servingruntime/servingruntime_webhook.go, rule 2). `engineConfig.leader`
/// and `worker` are not checked.
fn workers(refuse: &mut Refusals<'_>) {
    const MULTI: &str = "invalid configuration: for MultiNode deployment, both leader and worker must be defined and worker.size must be greater than 0";
    const RAW: &str =
        "invalid configuration: for RawDeployment, leader and worker must not be defined";
    let runtime = refuse.object;
    let engine = runtime.spec("engineConfig");
    // A runtime with both configs is disaggregated, of which the webhook checks nothing.
    if engine.is_some() && runtime.spec("decoderConfig").is_some() {
        return;
    }
    let size = runtime.spec("workers").and_then(|workers| workers.get("size"));
    let count = size.and_then(Node::as_int);
    if count.is_some_and(|count| count <= 0) {
        refuse.value("spec.workers.size", size, MULTI, "write a size of 1 or more");
        return;
    }
    // Without an engine the mode is not derived from the environment.
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
        (Some("MultiNode"), None) => {
            refuse.value("spec.workers.size", mode, MULTI, "add `workers.size`");
        }
        (Some("RawDeployment"), Some(_)) => {
            refuse.value(
                "spec.workers",
                size,
                RAW,
                "delete `workers`, or the variable DEPLOYMENT_MODE",
            );
        }
        _ => {}
    }
}
