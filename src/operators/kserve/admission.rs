//! The violations of the rules of KServe's webhooks, in their order and with their messages
//! (pkg/apis/serving/v1beta1/inference_service_validation.go;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
//!
//! A webhook validates a service after framework keys are rewritten and defaults are set.

mod canary;
mod nodes;
mod runtime;
mod scale;
mod storage;
pub(super) mod update;

pub(crate) use runtime::refused as refused_runtime;

use crate::api::{ComponentKind, DeploymentMode, Failure, KServeConfig, Object, Service};
use crate::check::refusals::{Refusals, Violation, first};
use crate::diag::Code;
use crate::operators::kserve::compose::names::MAIN;
use crate::operators::kserve::mode;
use crate::operators::kserve::openshift;
use crate::operators::kserve::read::legacy::FRAMEWORKS;
use crate::operators::kserve::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::Node;

const CLASSES: [&str; 4] = ["hpa", "external", "keda", "none"];
/// Annotation that requests one of them.
const CLASS: &str = "serving.kserve.io/autoscalerClass";

/// Whether the service requests ModelMesh, for which nothing is defaulted.
fn left_to_modelmesh(object: &Object) -> bool {
    let mode = object.annotation(mode::ANNOTATION).and_then(Node::as_str);
    mode == Some("ModelMesh")
}

/// A container that sets the variable that KServe reserves.
fn python_path(judge: &mut Refusals<'_>, kind: &str, containers: &[(&Node, String)]) {
    for (container, path) in containers {
        let Some(variable) = variable(container, "PYTHONPATH") else { continue };
        let message = format!(
            "the {kind} \"{}\" is invalid: setting PYTHONPATH in container \"{}\" is not allowed for security reasons",
            judge.object.id.name,
            text(container, "name")
        );
        judge.value(
            format!("{path}.env"),
            Some(variable),
            message,
            "delete the variable, and put the modules into the image",
        );
    }
}

/// Everything the webhook would refuse of a service.
pub(crate) fn refused(policy: &Policy, service: &Service, config: &KServeConfig) -> Vec<Violation> {
    // All rules are judged, although the webhook stops at the first: a list is mended in one go.
    let mut judge = Refusals::new(&service.object);
    service_rules(&mut judge, service, config);
    if policy.kserve().open_shift {
        openshift::refusals::service(&mut judge, &service.namespace, config);
    }
    judge.into_found()
}

fn service_rules(judge: &mut Refusals<'_>, service: &Service, config: &KServeConfig) {
    name(judge);
    let Some(predictor) = service.component(ComponentKind::Predictor) else {
        // Without a predictor every further rule would report the same.
        judge.refuse(
            Code::RequiredField,
            "spec.predictor",
            service.object.node.get("spec"),
            "`spec.predictor` is required",
            "add `predictor`",
        );
        judge.documented();
        return;
    };
    class(judge);
    python_paths(judge, service, predictor);
    nodes::service(judge, predictor, config);
    sidecar(judge, predictor);
    if let Some(name) = predictor
        .at(&["model", "name"])
        .filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
    {
        judge.value(
            "spec.predictor.model.name",
            Some(name),
            "the 'name' field is not allowed in standard predictor",
            "delete `name`",
        );
    }
    // The webhook's order: its first error is the one that is shown as the failure.
    for kind in [ComponentKind::Transformer, ComponentKind::Explainer, ComponentKind::Predictor] {
        if let Some(component) = service.component(kind) {
            storage::component(judge, kind, component);
        }
    }
    storage::confidential(judge, predictor);
    // Not the mode of the status: the webhook reads the annotation alone.
    let mode = mode(service, config);
    for kind in ComponentKind::KSERVE {
        let Some(component) = service.component(kind) else { continue };
        let path = format!("spec.{}", kind.as_str());
        implementations(judge, kind, component, &path);
        extension(judge, component, &path);
        scale::component(judge, component, &path, mode);
    }
    canary::service(judge, service, predictor, mode);
}

/// The first violation of a service, as its error.
pub(crate) fn refusal(
    policy: &Policy,
    service: &Service,
    config: &KServeConfig,
) -> Option<Failure> {
    first(refused(policy, service, config))
}

/// The mode as the webhook sees it: the annotation, which the defaulting webhook writes when the
/// default of the settings is not Knative.
fn mode(service: &Service, config: &KServeConfig) -> Option<DeploymentMode> {
    match service.object.annotation("serving.kserve.io/deploymentMode").and_then(Node::as_str) {
        Some(written) => mode::from_name(written),
        None => {
            // A mode given on the command line stands for the settings of the cluster.
            config.mode_flag.as_deref().or(config.default_mode.as_deref()).and_then(mode::from_name)
        }
    }
}

fn name(judge: &mut Refusals<'_>) {
    let name = judge.object.id.name.as_str();
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !fits {
        let message = format!(
            "the InferenceService \"{name}\" is invalid: a InferenceService name must consist of lower case alphanumeric characters or '-', and must start with \
             alphabetical character. (e.g. \"my-name\" or \"abc-123\", regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
        );
        judge.refuse(
            Code::InvalidName,
            "metadata.name",
            judge.object.metadata("name"),
            message,
            "begin with a letter and use letters, digits and `-`",
        );
    }
}

fn class(judge: &mut Refusals<'_>) {
    if let Some(class) = judge.object.annotation(CLASS)
        && let Some(text) = class.as_str()
        && !CLASSES.contains(&text)
    {
        let message = format!("[{text}] is not a supported autoscaler class type");
        judge.value(
            format!("metadata.annotations.{CLASS}"),
            Some(class),
            message,
            "write `hpa`, `external`, `keda` or `none`",
        );
    }
}

pub(crate) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}

pub(crate) fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

fn variable<'n>(container: &'n Node, name: &str) -> Option<&'n Node> {
    items(container, "env").iter().find(|variable| text(variable, "name") == name)
}

/// The containers of a pod with their paths.
fn containers<'n>(pod: Option<&'n Node>, path: &str) -> Vec<(&'n Node, String)> {
    let Some(pod) = pod else { return Vec::new() };
    let list = |key: &'static str| {
        items(pod, key)
            .iter()
            .enumerate()
            .map(move |(index, container)| (container, format!("{path}.{key}[{index}]")))
    };
    list("containers").chain(list("initContainers")).collect()
}

fn python_paths(judge: &mut Refusals<'_>, service: &Service, predictor: &Node) {
    let mut all = containers(Some(predictor), "spec.predictor");
    // The model is a container, too: its fields are those of one.
    all.extend(predictor.get("model").map(|model| (model, "spec.predictor.model".to_owned())));
    all.extend(containers(predictor.get("workerSpec"), "spec.predictor.workerSpec"));
    for kind in [ComponentKind::Transformer, ComponentKind::Explainer] {
        all.extend(containers(service.component(kind), &format!("spec.{}", kind.as_str())));
    }
    let art =
        service.component(ComponentKind::Explainer).and_then(|explainer| explainer.get("art"));
    all.extend(art.map(|art| (art, "spec.explainer.art".to_owned())));
    python_path(judge, "InferenceService", &all);
}

/// A transformer container in the predictor's pod must not set STORAGE_URI. A single container is
/// the server, whatever its name (pkg/apis/serving/v1beta1/predictor_custom.go, Default).
fn sidecar(judge: &mut Refusals<'_>, predictor: &Node) {
    let served = predictor.get("model").is_some()
        || FRAMEWORKS.iter().any(|framework| predictor.get(framework.key).is_some());
    if !served && items(predictor, "containers").len() == 1 {
        return;
    }
    for (container, path) in containers(Some(predictor), "spec.predictor") {
        if text(container, "name") == "transformer-container"
            // Init containers are not looked at, although the list has them.
            && path.starts_with("spec.predictor.containers")
            && let Some(variable) = variable(container, "STORAGE_URI")
        {
            let message = "storage uri should not be specified in transformer container";
            judge.value(
                format!("{path}.env"),
                Some(variable),
                message,
                "give the address to the model",
            );
        }
    }
}

fn implementations(judge: &mut Refusals<'_>, kind: ComponentKind, component: &Node, path: &str) {
    let listed = items(component, "containers");
    let mut custom = listed.iter().filter(|container| text(container, "name") == MAIN).count();
    // A framework key that was not read as a model is one of a service that is left to ModelMesh.
    let frameworks = FRAMEWORKS.iter().filter(|framework| component.get(framework.key).is_some());
    let others = frameworks.count()
        + usize::from(component.get("model").is_some())
        + usize::from(component.get("art").is_some());
    // The defaulting webhook has already given this name to a first container without a name.
    let unnamed = listed.first().is_some_and(|first| text(first, "name").is_empty());
    let named = kind == ComponentKind::Predictor && !left_to_modelmesh(judge.object);
    if named && others == 0 && custom == 1 && unnamed {
        custom += 1;
    }
    let count = match kind {
        ComponentKind::Predictor if others + custom == 0 => usize::from(!listed.is_empty()),
        ComponentKind::Predictor => others + custom,
        _ => others + usize::from(!listed.is_empty()),
    };
    if count != 1 {
        let message = match kind {
            ComponentKind::Transformer => {
                "exactly one of [PodSpec, ComponentExtensionSpec] must be specified in TransformerSpec"
            }
            ComponentKind::Explainer => {
                "exactly one of [ART, PodSpec, ComponentExtensionSpec] must be specified in ExplainerSpec"
            }
            _ => {
                "exactly one of [Name, SKLearn, XGBoost, Tensorflow, PyTorch, Triton, ONNX, HuggingFace, PMML, LightGBM, Paddle, Model, StorageUris, StorageContainerName, WorkerSpec, PodSpec] must be specified in PredictorSpec"
            }
        };
        let (code, help) = if count == 0 {
            (Code::RequiredField, "add a model or a container")
        } else {
            (Code::ConflictingFields, "keep one of them")
        };
        judge.refuse(code, path, Some(component), message, help);
        // `plan` already reports a component without model and container.
        if count == 0 {
            judge.documented();
        }
    }
    if kind == ComponentKind::Predictor {
        protocol(judge, component, path);
    }
}

/// Checks the variable PROTOCOL of a predictor with its own containers.
fn protocol(judge: &mut Refusals<'_>, predictor: &Node, path: &str) {
    // Only custom predictors: the variable of a model's container is not read.
    let first = items(predictor, "containers").first().filter(|_| predictor.get("model").is_none());
    if let Some(protocol) = first.and_then(|container| variable(container, "PROTOCOL"))
        && !matches!(text(protocol, "value"), "v1" | "v2")
    {
        // Quirk: the arguments of the message are swapped.
        let message =
            format!("invalid protocol v1, v2. Must be one of [{}]", text(protocol, "value"));
        judge.value(
            format!("{path}.containers[0].env"),
            Some(protocol),
            message,
            "write `v1` or `v2`",
        );
    }
}

fn extension(judge: &mut Refusals<'_>, component: &Node, path: &str) {
    let number = |key: &str| component.get(key).and_then(Node::as_int);
    for (key, message) in [
        ("containerConcurrency", "parallelism cannot be less than 0"),
        ("minReplicas", "'MinReplicas' cannot be less than 0"),
        ("maxReplicas", "'MaxReplicas' cannot be less than 0"),
    ] {
        if number(key).is_some_and(|number| number < 0) {
            judge.value(format!("{path}.{key}"), component.get(key), message, "write 0 or more");
            judge.documented();
        }
    }
    // Zero is Go's value for no maximum.
    if let Some(max) = number("maxReplicas").filter(|max| *max > 0)
        && number("minReplicas").unwrap_or(1) > max
    {
        let help = "raise maxReplicas, or lower minReplicas";
        judge.value(
            format!("{path}.maxReplicas"),
            component.get("maxReplicas"),
            "'MinReplicas' cannot be greater than MaxReplicas",
            help,
        );
        judge.documented();
    }
    // An empty key is a null pointer, for which there is no logger.
    if let Some(logger) = component.get("logger").filter(|logger| logger.as_map().is_some()) {
        // Quirk: an absent mode is refused, although the API calls `all` its default.
        if !matches!(text(logger, "mode"), "all" | "request" | "response") {
            judge.value(
                format!("{path}.logger.mode"),
                Some(logger),
                "invalid logger type",
                "write `mode: all`, `request` or `response`",
            );
        }
        if let Some(storage) = logger.get("storage").filter(|storage| {
            ["path", "parameters", "key"].iter().any(|key| storage.get(key).is_none())
        }) {
            judge.value(
                format!("{path}.logger.storage"),
                Some(storage),
                "invalid logger storage configuration",
                "write `path`, `parameters` and `key`",
            );
        }
    }
}

#[cfg(test)]
mod tests;
