//! What the webhook of InferenceServices refuses, in its order and words (kserve.md 4.1). It sees the service after a
//! framework key was rewritten; the first rule that fails counts.

use crate::api::{ComponentKind, Object, Refusal};
use crate::decision::DeploymentMode;
use crate::diag::Code;
use crate::quantity::Quantity;
use crate::yaml::Node;

/// Classes of autoscalers.
const CLASSES: [&str; 4] = ["hpa", "external", "keda", "none"];
/// A message with the place that has to change.
type Refused<'n> = Result<(), (String, Option<&'n Node>)>;

/// Why a server would not take the service.
pub(super) fn refusal(object: &Object, spec: &Node) -> Option<Refusal> {
    let (message, node) = rules(object, spec).err()?;
    let span = node.and_then(|node| node.origin.span());
    Some(Refusal { code: Code::InvalidInput, message, help: Some("correct the service: the API server refuses it".into()), span })
}

fn rules<'n>(object: &'n Object, spec: &'n Node) -> Refused<'n> {
    let predictor = spec.get("predictor").ok_or_else(|| ("`spec.predictor` is required".to_owned(), None))?;
    name(object)?;
    if let Some(class) = object.annotation("serving.kserve.io/autoscalerClass")
        && let Some(text) = class.as_str()
        && !CLASSES.contains(&text)
    {
        return Err((format!("[{text}] is not a supported autoscaler class type"), Some(class)));
    }
    python_path(object, spec)?;
    nodes(object, predictor)?;
    if let Some(name) = predictor.at(&["model", "name"]).filter(|name| name.as_str().is_some_and(|name| !name.is_empty())) {
        return Err(("the 'name' field is not allowed in standard predictor".into(), Some(name)));
    }
    storage(predictor, predictor.get("model").and_then(|model| model.get("storageUri")))?;
    for kind in [ComponentKind::Transformer, ComponentKind::Explainer] {
        if let Some(component) = spec.get(kind.as_str()) {
            storage(component, component.at(&["art", "storageUri"]))?;
        }
    }
    confidential(predictor)?;
    for kind in ComponentKind::KSERVE {
        let Some(component) = spec.get(kind.as_str()).filter(|component| component.as_map().is_some()) else { continue };
        implementations(kind, component)?;
        extension(component)?;
        scaling(object, component)?;
    }
    canaries(object, spec, predictor)
}

fn name(object: &Object) -> Refused<'_> {
    let name = object.id.name.as_str();
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if fits {
        return Ok(());
    }
    let message = format!(
        "the InferenceService \"{name}\" is invalid: a InferenceService name must consist of lower case alphanumeric characters or '-', and must start with \
         alphabetical character. (e.g. \"my-name\" or \"abc-123\", regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    );
    Err((message, object.metadata("name")))
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

fn variable<'n>(container: &'n Node, name: &str) -> Option<&'n Node> {
    items(container, "env").iter().find(|variable| text(variable, "name") == name)
}

fn python_path<'n>(object: &Object, spec: &'n Node) -> Refused<'n> {
    let mut containers: Vec<&Node> = Vec::new();
    for kind in ComponentKind::KSERVE {
        let Some(component) = spec.get(kind.as_str()) else { continue };
        for pod in [Some(component), component.get("workerSpec")].into_iter().flatten() {
            containers.extend(items(pod, "containers").iter().chain(items(pod, "initContainers")));
        }
        containers.extend([component.get("model"), component.get("art")].into_iter().flatten());
    }
    match containers.into_iter().find_map(|container| Some((container, variable(container, "PYTHONPATH")?))) {
        Some((container, variable)) => Err((
            format!(
                "the InferenceService \"{}\" is invalid: setting PYTHONPATH in container \"{}\" is not allowed for security reasons",
                object.id.name,
                text(container, "name")
            ),
            Some(variable),
        )),
        None => Ok(()),
    }
}

fn nodes<'n>(object: &'n Object, predictor: &'n Node) -> Refused<'n> {
    let Some(worker) = predictor.get("workerSpec").filter(|worker| !worker.is_null()) else { return Ok(()) };
    let wrong = |message: String, node: Option<&'n Node>| Err((format!("the InferenceService \"{}\" is invalid: {message}", object.id.name), node));
    if items(worker, "containers").len() > 1 {
        return wrong("setting multiple containers in workerSpec is not allowed".into(), worker.get("containers"));
    }
    if let Some(model) = predictor.get("model") {
        for name in ["PIPELINE_PARALLEL_SIZE", "TENSOR_PARALLEL_SIZE"] {
            if let Some(found) = variable(model, name) {
                return wrong(format!("setting {name} in environment variables is not allowed"), Some(found));
            }
        }
        let Some(uri) = model.get("storageUri") else { return wrong("StorageURI must be set for multinode enabled".into(), Some(model)) };
        let scheme = uri.as_str().unwrap_or_default().split("://").next().unwrap_or_default();
        if !matches!(scheme, "pvc" | "oci") {
            return wrong(format!("Multinode only supports 'pvc' and 'oci' Storage Protocol({scheme})"), Some(uri));
        }
        if let Some(class) = object.annotation("serving.kserve.io/autoscalerClass").filter(|class| class.as_str() != Some("none")) {
            return wrong(format!("Multinode only supports 'none' autoscaler({})", class.as_str().unwrap_or_default()), Some(class));
        }
    }
    for (key, word) in [("pipelineParallelSize", "PipelineParallelSize"), ("tensorParallelSize", "TensorParallelSize")] {
        if let Some(size) = worker.get(key).filter(|size| size.as_int().is_some_and(|size| size < 1)) {
            return wrong(format!("WorkerSpec.{word} cannot be less than 1({})", size.as_int().unwrap_or_default()), Some(size));
        }
    }
    Ok(())
}

fn storage<'n>(component: &'n Node, one: Option<&'n Node>) -> Refused<'n> {
    let several = items(component, "storageUris");
    if let (Some(one), false) = (one, several.is_empty()) {
        return Err(("Setting both StorageURI and StorageURIs is not supported.".into(), Some(one)));
    }
    let mut fetched: Vec<&str> = Vec::new();
    for entry in several {
        let path = entry.get("mountPath").and_then(Node::as_str).filter(|path| !path.is_empty()).unwrap_or("/mnt/models");
        let message = if text(entry, "uri").is_empty() {
            "storage URI cannot be empty".to_owned()
        } else if path == "/" {
            "storage path cannot be empty".to_owned()
        } else if !path.starts_with('/') {
            format!("storage path must be absolute: {path}")
        } else if path.contains("..") {
            format!("storage path cannot contain '..' for security reasons: {path}")
        } else {
            if !text(entry, "uri").starts_with("pvc://") {
                fetched.push(path);
            }
            continue;
        };
        return Err((message, Some(entry)));
    }
    let first = |path: &str| path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
    if fetched.len() > 1 && fetched.iter().any(|path| first(path) != first(fetched[0])) {
        let message = format!("storage paths must have a common parent directory. Current paths: [{}] have no common parent beyond root", fetched.join(" "));
        return Err((message, several.first()));
    }
    Ok(())
}

fn confidential(predictor: &Node) -> Refused<'_> {
    let Some(model) = predictor.get("model") else { return Ok(()) };
    let Some(confidential) = model.get("confidential").filter(|confidential| confidential.get("enabled").and_then(Node::as_bool) == Some(true)) else {
        return Ok(());
    };
    if model.get("storageUri").is_none() {
        return Err(("confidential model serving requires storageUri to be set".into(), Some(confidential)));
    }
    Ok(())
}

fn implementations(kind: ComponentKind, component: &Node) -> Refused<'_> {
    let containers = items(component, "containers");
    let custom = containers.iter().filter(|container| text(container, "name") == "kserve-container").count();
    let others = usize::from(component.get("model").is_some()) + usize::from(component.get("art").is_some());
    let count = match kind {
        ComponentKind::Predictor if others + custom == 0 => usize::from(!containers.is_empty()),
        ComponentKind::Predictor => others + custom,
        _ => others + usize::from(!containers.is_empty() && others == 0),
    };
    if count == 1 {
        return Ok(());
    }
    let message = match kind {
        ComponentKind::Transformer => "exactly one of [PodSpec, ComponentExtensionSpec] must be specified in TransformerSpec",
        ComponentKind::Explainer => "exactly one of [ART, PodSpec, ComponentExtensionSpec] must be specified in ExplainerSpec",
        _ => {
            "exactly one of [Name, SKLearn, XGBoost, Tensorflow, PyTorch, Triton, ONNX, HuggingFace, PMML, LightGBM, Paddle, Model, StorageUris, StorageContainerName, WorkerSpec, PodSpec] must be specified in PredictorSpec"
        }
    };
    Err((message.into(), Some(component)))
}

fn extension(component: &Node) -> Refused<'_> {
    let number = |key: &str| component.get(key).and_then(Node::as_int);
    let negative = |key: &str| number(key).is_some_and(|number| number < 0);
    for (key, message) in [
        ("containerConcurrency", "parallelism cannot be less than 0"),
        ("minReplicas", "'MinReplicas' cannot be less than 0"),
        ("maxReplicas", "'MaxReplicas' cannot be less than 0"),
    ] {
        if negative(key) {
            return Err((message.into(), component.get(key)));
        }
    }
    if let Some(max) = number("maxReplicas").filter(|max| *max != 0)
        && number("minReplicas").unwrap_or(1) > max
    {
        return Err(("'MinReplicas' cannot be greater than MaxReplicas".into(), component.get("maxReplicas")));
    }
    if let Some(logger) = component.get("logger").filter(|logger| logger.as_map().is_some()) {
        if !matches!(text(logger, "mode"), "all" | "request" | "response") {
            return Err(("invalid logger type".into(), Some(logger)));
        }
        if let Some(storage) = logger.get("storage").filter(|storage| ["path", "parameters", "key"].iter().any(|key| storage.get(key).is_none())) {
            return Err(("invalid logger storage configuration".into(), Some(storage)));
        }
    }
    Ok(())
}

/// Rules of the autoscaler that the annotations ask for; only the annotation itself names the mode here.
fn scaling<'n>(object: &'n Object, component: &'n Node) -> Refused<'n> {
    let annotation = |key: &str| object.annotation(key).and_then(Node::as_str);
    let standard = annotation("serving.kserve.io/deploymentMode").and_then(DeploymentMode::from_kserve) == Some(DeploymentMode::RawDeployment);
    match (standard, annotation("serving.kserve.io/autoscalerClass")) {
        (true, Some("hpa")) => horizontal(component),
        (true, Some("keda")) => keda(component),
        (true, _) => Ok(()),
        (false, _) if annotation("autoscaling.knative.dev/class") == Some("hpa.autoscaling.knative.dev") => horizontal(component),
        (false, _) => knative(component),
    }
}

fn horizontal(component: &Node) -> Refused<'_> {
    let metric = component.get("scaleMetric").and_then(Node::as_str).unwrap_or("cpu");
    if !matches!(metric, "cpu" | "memory") {
        return Err((format!("[{metric}] is not a supported metric"), component.get("scaleMetric")));
    }
    if let Some(target) = component.get("scaleTarget").and_then(Node::as_int) {
        if (metric == "cpu" && target < 1) || target > 100 {
            return Err(("the target utilization percentage should be a [1-100] integer".into(), component.get("scaleTarget")));
        }
        if metric == "memory" && target < 1 {
            return Err(("the target memory should be greater than 1 MiB".into(), component.get("scaleTarget")));
        }
    }
    for metric in component.get("autoScaling").map(|scaling| items(scaling, "metrics")).unwrap_or_default() {
        match text(metric, "type") {
            "Resource" if metric.get("resource").is_none() => {
                return Err(("metricSpec.Resource is not set for resource metric source type".into(), Some(metric)));
            }
            "Resource" => {}
            other => {
                let message = format!("invalid HPA metric source type with value [{other}],valid metric source types are Resource");
                return Err((message, Some(metric)));
            }
        }
    }
    Ok(())
}

fn keda(component: &Node) -> Refused<'_> {
    if let Some(metric) = component.get("scaleMetric") {
        return Err(("ScaleMetric is not supported for KEDA".into(), Some(metric)));
    }
    for metric in component.get("autoScaling").map(|scaling| items(scaling, "metrics")).unwrap_or_default() {
        let wrong = |message: &str| Err((message.to_owned(), Some(metric)));
        let source = match text(metric, "type") {
            "Resource" => metric.get("resource"),
            "External" => metric.get("external"),
            "PodMetric" => metric.get("podmetric"),
            other => {
                let message = format!("unknown KEDA metric type with value [{other}].Valid types are Resource,External,PodMetric");
                return Err((message, Some(metric)));
            }
        };
        let kind = text(metric, "type");
        let Some(source) = source else {
            return wrong(match kind {
                "Resource" => "metricSpec.Resource is not set for resource metric source type",
                "External" => "metricSpec.External is not set for external metric source type",
                _ => "metricSpec.PodMetric is not set for pod metric source type",
            });
        };
        let target = |key: &str| source.at(&["target", key]);
        let target_type = target("type").and_then(Node::as_str).unwrap_or_default();
        if kind == "Resource" {
            match (text(source, "name"), target_type) {
                ("cpu", other) if other != "Utilization" => return wrong("the cpu target value type should be Utilization"),
                ("memory", "AverageValue") => {
                    let least =
                        target("averageValue").and_then(Node::scalar_text).and_then(|text| Quantity::parse(&text).ok()).and_then(|amount| amount.value());
                    if least.is_some_and(|amount| amount < 1 << 20) {
                        return wrong("the memory target value should be greater than 1 MiB");
                    }
                }
                ("memory", other) if other != "Utilization" => return wrong("the memory target value type should be AverageValue or Utilization"),
                _ => {}
            }
        } else {
            if source.at(&["metric", "query"]).and_then(Node::as_str).unwrap_or_default().is_empty() {
                return wrong("the query should not be empty");
            }
            if target("value").is_none() {
                return wrong("the target threshold value should not be empty");
            }
        }
    }
    Ok(())
}

fn knative(component: &Node) -> Refused<'_> {
    if let Some(strategy) = component.get("deploymentStrategy") {
        return Err(("customizing deploymentStrategy is only supported for raw deployment mode".into(), Some(strategy)));
    }
    let metric = component.get("scaleMetric").and_then(Node::as_str).unwrap_or("concurrency");
    if !matches!(metric, "concurrency" | "rps") {
        return Err((format!("[{metric}] is not a supported metric"), component.get("scaleMetric")));
    }
    if metric == "rps" && component.get("scaleTarget").and_then(Node::as_int).is_some_and(|target| target < 1) {
        return Err(("the target for rps should be greater than 1".into(), component.get("scaleTarget")));
    }
    Ok(())
}

fn canaries<'n>(object: &Object, spec: &'n Node, predictor: &'n Node) -> Refused<'n> {
    let canaries = items(spec, "canary");
    let Some(first) = canaries.first() else { return Ok(()) };
    let mode = object.annotation("serving.kserve.io/deploymentMode").and_then(Node::as_str).and_then(DeploymentMode::from_kserve);
    if mode != Some(DeploymentMode::RawDeployment) {
        return Err(("canary is only supported in Standard deployment mode".into(), Some(first)));
    }
    let mut names = vec![text(predictor, "name")];
    let mut sum = 0;
    for canary in canaries {
        let name = canary.get("predictor").map(|predictor| text(predictor, "name")).unwrap_or_default();
        if name.is_empty() || names.contains(&name) {
            return Err((format!("canary predictor name \"{name}\" must be set and unique"), Some(canary)));
        }
        names.push(name);
        sum += canary.get("trafficPercent").and_then(Node::as_int).unwrap_or(0);
    }
    if sum > 100 {
        return Err((format!("the traffic of all canaries is {sum} percent, more than 100"), Some(first)));
    }
    Ok(())
}
