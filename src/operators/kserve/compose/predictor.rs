//! The pod of a predictor: a runtime's containers with the model's over the main one, or the
//! service's own containers (pkg/controller/v1beta1/inferenceservice/utils/utils.go,
//! MergeRuntimeContainers; pkg/controller/v1beta1/inferenceservice/components/predictor.go,
//! buildPodSpec).

use super::fields::missing_probes;
use super::layers::{over, pod_over};
use super::names::{MAIN, TRANSFORMER};
use super::{Facts, LIBRARY, custom, nodes, server, storage};
use crate::api::{ComponentKind, Failure, Runtime};
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::{each_mut, position, text};
use crate::merge::history::Recorder;
use crate::merge::typed;
use crate::operators::kserve::rules::ImageSuffixRule;
use crate::operators::kserve::rules::Rules as _;
use crate::pods::container::set_env;
use crate::pods::rules::SERVICE_NAME_ENV;
use crate::pods::{lint, quantities, variables};
use crate::policy::MergeRule;
use crate::yaml::{Map, Node, Value};

/// Fields of a runtime that belong to the pod; no other is copied to it.
pub(crate) const POD_OF_RUNTIME: [&str; 7] = [
    "nodeSelector",
    "affinity",
    "tolerations",
    "volumes",
    "imagePullSecrets",
    "schedulerName",
    "resourceClaims",
];

/// A pod and, for a predictor on several nodes, the workers' pod with the number of workers.
pub(super) type Pods = (Node, Option<(Node, i64)>);

/// Builds the pods of a predictor. Without `annotations`, the models of `storageUris` and the
/// workers are not added.
pub(super) fn pods(
    facts: &Facts<'_>,
    model: Option<&Node>,
    annotations: Option<nodes::Annotations<'_>>,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Pods, Failure> {
    storage::stored(facts, ComponentKind::Predictor, facts.predictor)?;
    let mut pod = match (model, facts.runtime) {
        (Some(model), Some(_)) => of_runtime(facts, model, &mut rec.at("predictor"), findings)?,
        _ => of_service(facts)?,
    };
    let name = facts.service.name();
    each_mut(&mut pod, "containers", |container| {
        set_env(
            container,
            "INFERENCE_SERVICE_NAME",
            name.clone(),
            &SERVICE_NAME_ENV,
            &mut Recorder::off(),
        );
    });
    custom::token(facts, &mut pod);
    // Decoding as a Go struct makes quantities canonical; what was not decoded is completed here.
    if facts.policy.kserve().merge == MergeRule::Written {
        quantities::canonical(&mut pod);
    }
    let mut worker = None;
    if let Some(annotations) = annotations {
        // Before the models are mounted: mounts are added to the containers of both pods.
        worker = nodes::workers(facts, annotations, &mut pod, rec)?;
        let kind = ComponentKind::Predictor;
        storage::several(facts, kind, facts.predictor, annotations.head, &mut pod, findings)?;
        if let Some((worker, _)) = &mut worker {
            // The head has these findings already.
            let quiet = &mut Vec::new();
            storage::several(facts, kind, facts.predictor, annotations.workers, worker, quiet)?;
        }
    }
    Ok((pod, worker))
}

fn of_runtime(
    facts: &Facts<'_>,
    model: &Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    let Some(runtime) = facts.runtime else { return of_service(facts) };
    let none = Node::map(runtime.object.node.origin);
    let spec = runtime.object.node.get("spec").unwrap_or(&none);
    let listed = spec.get("containers").map(Node::items).unwrap_or_default();
    if listed.is_empty() {
        return Err(facts.invalid("no container configuration found in selected serving runtime"));
    }
    let Some(main) = position(listed, "name", MAIN) else {
        return Err(facts.invalid("failed to find kserve-container in ServingRuntime containers"));
    };
    let predictor = facts.predictor.get("containers").map(Node::items).unwrap_or_default();
    let mut fields = typed::container_fields(model);
    // An empty name is none: the runtime's container keeps its own
    // (pkg/controller/v1beta1/inferenceservice/utils/utils.go, MergeRuntimeContainers).
    if fields.get("name").and_then(Node::as_str) == Some("")
        && let Some(map) = fields.as_map_mut()
    {
        map.retain(|entry| entry.key != "name");
    }
    // Merged first: placeholders in the fields of the service are expanded, too.
    let mut container = over(facts, &listed[main], &fields, rec)?;
    container = expand(facts, MAIN, &container, rec, findings)?;
    let server = match facts.policy.kserve().image_suffix {
        ImageSuffixRule::NamedRuntimes => server::with_gpu_image(runtime),
        ImageSuffixRule::Server => server::of_image(runtime),
    };
    server::image(server, &mut container, facts.model("runtimeVersion"));
    let mut containers = vec![container];
    let collocated =
        |list: &[Node]| position(list, "name", TRANSFORMER).map(|index| list[index].clone());
    // A transformer of both sides is merged, and only then appended: the server stays the first.
    match (collocated(listed), collocated(predictor)) {
        (Some(lower), Some(upper)) => {
            let both = over(facts, &lower, &upper, rec)?;
            containers.push(expand(facts, TRANSFORMER, &both, rec, findings)?);
        }
        (Some(one), None) | (None, Some(one)) => {
            let one = decoded(facts, &one)?;
            containers.push(expand(facts, TRANSFORMER, &one, rec, findings)?);
        }
        (None, None) => {}
    }
    let another = |container: &&Node| !matches!(text(container, "name"), MAIN | TRANSFORMER);
    for container in listed.iter().filter(another) {
        containers.push(decoded(facts, container)?);
    }
    for container in predictor.iter().filter(|container| text(container, "name") != TRANSFORMER) {
        containers.push(decoded(facts, container)?);
    }
    let base: Map = spec
        .entries()
        .filter(|entry| POD_OF_RUNTIME.contains(&entry.key.as_str()))
        .cloned()
        .collect();
    let mut upper = typed::pod_fields(facts.predictor);
    if let Some(map) = upper.as_map_mut() {
        map.remove("containers");
    }
    let mut pod = pod_over(facts, &Node::new(Value::Map(base), spec.origin), &upper, rec)?;
    if let Some(map) = pod.as_map_mut() {
        map.remove("containers");
        let origin = spec.get("containers").map_or(spec.origin, |list| list.origin);
        map.insert("containers", Node::list(containers, origin));
    }
    Ok(pod)
}

/// A container as the controller's Go struct has it.
fn decoded(facts: &Facts<'_>, container: &Node) -> Result<Node, Failure> {
    match facts.policy.kserve().merge {
        MergeRule::Written => Ok(container.clone()),
        MergeRule::Typed => {
            typed::decoded_container(container, LIBRARY).map_err(|message| facts.invalid(message))
        }
    }
}

fn expand(
    facts: &Facts<'_>,
    name: &str,
    container: &Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    let runtime = facts.runtime.map_or("", |runtime| runtime.object.id.name.as_str());
    let context =
        format!("failed to replace placeholders in serving runtime {runtime} Container {name}: ");
    let seen = variables::Seen {
        metadata: facts.template(),
        labels: Some(&facts.labels),
        annotations: Some(&facts.annotations),
        context: &context,
        library: LIBRARY,
    };
    let place = facts.place(ComponentKind::Predictor);
    variables::expand_with(facts.policy, &place, &seen, container, rec, findings)
}

/// The pod of a predictor with containers of its own.
fn of_service(facts: &Facts<'_>) -> Result<Node, Failure> {
    let mut pod = custom::own_pod(facts, facts.predictor)?;
    let containers: Vec<Node> = pod.get("containers").map(Node::items).unwrap_or_default().to_vec();
    if containers.is_empty() {
        return Err(facts.invalid("the predictor has neither a model nor a container"));
    }
    let mut containers = containers;
    // Quirk: a service that requests ModelMesh is not defaulted, also where another mode is chosen.
    if !facts.asks_for_modelmesh() {
        // Of several containers only one without a name is renamed: a named one may be a sidecar.
        if containers.len() == 1 || text(&containers[0], "name").is_empty() {
            custom::named(&mut containers[0]);
        }
        custom::resources(facts, &mut containers[0]);
    }
    // Quirk: the main container is copied over the first one.
    let Some(main) = position(&containers, "name", MAIN) else {
        return Err(Failure {
            code: Code::WouldPanic,
            help: Some(format!("call the container that serves `{MAIN}`")),
            ..facts.invalid(format!("the controller would crash: no container named {MAIN}"))
        });
    };
    containers[0] = containers[main].clone();
    if let Some(map) = pod.as_map_mut() {
        let origin = map.get("containers").map_or(facts.predictor.origin, |list| list.origin);
        map.insert("containers", Node::list(containers, origin));
    }
    Ok(pod)
}

/// Facts about a predictor's pod for `plan` and `explain`.
pub(super) fn lints(facts: &Facts<'_>, pod: &Node, findings: &mut Vec<Diagnostic>) {
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    let Some(main) = position(containers, "name", MAIN).map(|index| &containers[index]) else {
        return;
    };
    let object = facts.service.object.id.to_string();
    if facts.protocol.as_deref() == Some("grpc-v2") {
        let ports = main.get("ports").map(Node::items).unwrap_or_default();
        if !ports
            .iter()
            .any(|port| ["h2c", "grpc"].iter().any(|word| text(port, "name").contains(word)))
        {
            findings.push(
                Diagnostic::new(
                    Code::GrpcPortMissing,
                    "the protocol is grpc-v2 and kserve-container declares no h2c or grpc port",
                )
                .at(facts.service.protocol.as_ref().and_then(crate::api::Field::span))
                .object(object.clone())
                .help("add `ports: [{name: h2c, containerPort: 9000}]` to the model"),
            );
        }
    }
    // The protocol selects the runtime; the servers of engines answer /v1 and /health all the same.
    let is_engine = crate::engine::is_own_server(main);
    let missing = if is_engine { Vec::new() } else { missing_probes(main) };
    if facts.protocol.as_deref() == Some("v2") && !facts.config.v2_probes && !missing.is_empty() {
        let (probes, paths): (Vec<&str>, Vec<&str>) = missing.into_iter().unzip();
        findings.push(
            Diagnostic::new(
                Code::V2Probes,
                format!(
                    "kserve-container has no {}, and a v2 server answers {}",
                    probes.join(" and no "),
                    paths.join(" and ")
                ),
            )
            .at(facts.service.object.name_span())
            .object(object.clone())
            .help("`ome render --v2-probes` writes them; or add them to the runtime's container"),
        );
    }
    let args = main.get("args").map(Node::items).unwrap_or_default();
    lint::duplicate_flags(
        args,
        &facts.place(ComponentKind::Predictor),
        "arguments of the service follow those of the runtime; leave one out",
        findings,
    );
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe_node) = main.get(probe) else { continue };
        let handlers: Vec<&str> = ["httpGet", "tcpSocket", "exec", "grpc"]
            .into_iter()
            .filter(|handler| probe_node.get(handler).is_some())
            .collect();
        if let [first, second, ..] = handlers.as_slice() {
            findings.push(
                Diagnostic::new(
                    Code::ProbeTwoHandlers,
                    format!("the merged {probe} has two handlers: {first} and {second}"),
                )
                .at(probe_node.get(second).and_then(|handler| handler.origin.span()))
                .object(object.clone())
                .help("leave one of the two out"),
            );
        }
    }
    if let Some(runtime) = facts.runtime {
        lints_of_runtime(facts, runtime, findings);
    }
}

/// Facts about the runtime that a predictor uses.
fn lints_of_runtime(facts: &Facts<'_>, runtime: &Runtime, findings: &mut Vec<Diagnostic>) {
    let object = facts.service.object.id.to_string();
    let mesh = ["storageHelper", "grpcEndpoint", "grpcDataEndpoint", "builtInAdapter"]
        .into_iter()
        .find_map(|key| Some((key, runtime.object.spec(key)?)));
    if let Some((key, node)) = mesh {
        findings.push(
            Diagnostic::new(
                Code::ModelmeshOnlyField,
                format!("`{key}` is for ModelMesh only: no effect on single-model rendering"),
            )
            .at(node.origin.span())
            .object(runtime.object.id.to_string()),
        );
    }
    if let Some(multi) = runtime.multi_model.as_ref().filter(|multi| multi.value) {
        findings.push(
            Diagnostic::new(
                Code::MultiModelRuntime,
                "ModelMesh runtime used for single-model serving",
            )
            .at(facts.service.runtime.as_ref().and_then(|named| named.name.span()))
            .label(multi.span(), "multiModel")
            .object(object.clone())
            .help("name a runtime for single models"),
        );
    }
    // Only the default protocol: a service that names v2 knows that the runtime serves it.
    let v1 = facts.protocol.as_deref().unwrap_or("v1") == "v1";
    if v1
        && runtime.protocols.iter().any(|listed| listed.value == "v1")
        && runtime.protocols.iter().any(|listed| listed.value == "v2")
    {
        findings.push(
            Diagnostic::new(
                Code::AlsoServesV2,
                format!("the runtime {} also serves v2", runtime.object.id.name),
            )
            .at(facts.service.object.name_span())
            .object(object),
        );
    }
}
