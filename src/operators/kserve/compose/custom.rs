//! Pods that a service defines itself: transformers, explainers, custom predictors
//! (pkg/apis/serving/v1beta1/predictor_custom.go).

use super::names::MAIN;
use super::{Facts, LIBRARY, empty};
use crate::api::{Amounts, ComponentKind, Failure};
use crate::diag::Diagnostic;
use crate::merge::edit::{list_mut, map_mut, text};
use crate::merge::history::Recorder;
use crate::merge::typed;
use crate::operators::kserve::rules::Rules as _;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::pods::container::set_env;
use crate::pods::quantities;
use crate::pods::rules::{
    KSERVE_ARGUMENTS, KSERVE_ART, KSERVE_CONTAINER, KSERVE_RESOURCES, KSERVE_TOKEN,
    SERVICE_NAME_ENV,
};
use crate::policy::MergeRule;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

/// The pod that a component defines itself, as the controller's Go struct has it.
pub(super) fn own_pod(facts: &Facts<'_>, spec: &Node) -> Result<Node, Failure> {
    let pod = typed::pod_fields(spec);
    // The Go struct drops unknown fields and rejects values of a wrong type; the documents have no
    // struct.
    match facts.policy.kserve().merge {
        MergeRule::Written => Ok(pod),
        MergeRule::Typed => {
            typed::pod(&empty(&KSERVE_CONTAINER), &pod, LIBRARY, &mut Recorder::off())
                .map_err(|message| facts.invalid(message))
        }
    }
}

/// Gives a container the name that the controller gives it.
pub(super) fn named(container: &mut Node) {
    if text(container, "name") != MAIN
        && let Some(map) = container.as_map_mut()
    {
        map.insert("name", Node::str(MAIN, Origin::Derived(&KSERVE_CONTAINER)));
    }
}

/// Gives a container the cpu and memory that it does not set.
pub(super) fn resources(facts: &Facts<'_>, container: &mut Node) {
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } = &facts.config.resources;
    for (side, amounts) in [
        ("requests", [("cpu", cpu_request), ("memory", memory_request)]),
        ("limits", [("cpu", cpu_limit), ("memory", memory_limit)]),
    ] {
        for (resource, amount) in amounts.into_iter().filter(|(_, amount)| !amount.is_empty()) {
            let origin = Origin::Default(&KSERVE_RESOURCES);
            let Some(resources) = map_mut(container, "resources", origin) else { return };
            let mut listed = resources
                .get(side)
                .filter(|node| node.as_map().is_some())
                .cloned()
                .unwrap_or_else(|| Node::map(origin));
            if let Some(map) = listed.as_map_mut()
                && !map.contains_key(resource)
            {
                map.insert(resource, Node::str(amount.clone(), origin));
                resources.insert(side, listed);
            }
        }
    }
}

/// Disables the mount of the ServiceAccount token unless the settings enable it. A value that the
/// pod sets is kept.
pub(super) fn token(facts: &Facts<'_>, pod: &mut Node) {
    if facts.config.mount_token || pod.get("automountServiceAccountToken").is_some() {
        return;
    }
    if let Some(map) = pod.as_map_mut() {
        map.insert(
            "automountServiceAccountToken",
            Node::bool(false, Origin::Default(&KSERVE_TOKEN)),
        );
    }
}

/// The pod of a transformer or an explainer.
pub(super) fn pod(
    facts: &Facts<'_>,
    kind: ComponentKind,
    spec: &Node,
    annotations: &Map,
    findings: &mut Vec<Diagnostic>,
) -> Result<Node, Failure> {
    super::storage::stored(facts, kind, spec)?;
    let mut pod = own_pod(facts, spec)?;
    if let Some(art) = spec.get("art").filter(|_| kind == ComponentKind::Explainer) {
        let container = art_container(facts, spec, art)?;
        if let Some(list) = list_mut(&mut pod, "containers", Origin::Derived(&KSERVE_ART)) {
            list.insert(0, container);
        }
    } else if let Some(first) = list_mut(&mut pod, "containers", Origin::Derived(&KSERVE_CONTAINER))
        .and_then(|list| list.make_mut().first_mut())
    {
        named(first);
        resources(facts, first);
        arguments(facts, kind, spec, first);
        if kind == ComponentKind::Transformer {
            set_env(
                first,
                "INFERENCE_SERVICE_NAME",
                facts.service.name().clone(),
                &SERVICE_NAME_ENV,
                &mut Recorder::off(),
            );
        }
    } else {
        return Err(facts.invalid(format!("the {} has no container", kind.as_str())));
    }
    token(facts, &mut pod);
    // Decoding as a Go struct makes quantities canonical; what was not decoded is completed here.
    if facts.policy.kserve().merge == MergeRule::Written {
        quantities::canonical(&mut pod);
    }
    super::storage::several(facts, kind, spec, annotations, &mut pod, findings)?;
    Ok(pod)
}

/// The arguments that the container lacks. Quirk: an explainer always gets its port again.
fn arguments(facts: &Facts<'_>, kind: ComponentKind, spec: &Node, container: &mut Node) {
    let origin = Origin::Derived(&KSERVE_ARGUMENTS);
    let mut host = eco_format!("{}.{}", facts.predictor_name(), facts.service.namespace);
    let workers = spec.get("containerConcurrency").and_then(Node::scalar_text);
    // Quirk: the annotation is used here even if another source decides the mode. A predictor that
    // is not ready has no host yet.
    let mesh = kind == ComponentKind::Transformer && facts.asks_for_modelmesh();
    let annotation = |key: &str| {
        let key = eco_format!("internal.serving.kserve.io/predictor-{key}");
        facts.annotations.get(&key).and_then(Node::scalar_text).unwrap_or_default()
    };
    if mesh {
        host = annotation("host");
    }
    let wanted = [
        ("--protocol", mesh.then(|| annotation("protocol"))),
        ("--model_name", Some(facts.service.name().clone())),
        ("--predictor_host", Some(host)),
        ("--http_port", Some(EcoString::from("8080"))),
        ("--workers", workers),
    ];
    let Some(list) = list_mut(container, "args", origin) else { return };
    for (flag, value) in wanted {
        let given = list
            .iter()
            // A prefix is enough for upstream: `--workers=2` and `--workers-x` both count as set.
            .any(|argument| argument.as_str().is_some_and(|text| text.starts_with(flag)));
        let always = kind == ComponentKind::Explainer && flag == "--http_port";
        if let Some(value) = value.filter(|_| always || !given) {
            list.push(Node::str(flag, origin));
            list.push(Node::str(value, origin));
        }
    }
}

/// The container of the ART explainer. Quirk: its own arguments appear twice.
fn art_container(facts: &Facts<'_>, spec: &Node, art: &Node) -> Result<Node, Failure> {
    let origin = Origin::Derived(&KSERVE_ART);
    let mut container = typed::container_fields(art);
    if facts.policy.kserve().merge == MergeRule::Typed {
        container = typed::decoded_container(&container, LIBRARY)
            .map_err(|message| facts.invalid(message))?;
    }
    named(&mut container);
    resources(facts, &mut container);
    let nodes: Vec<Node> = container.get("args").map(Node::items).unwrap_or_default().to_vec();
    let mut args: Vec<Node> = Vec::new();
    let mut tell = |flag: EcoString, value: EcoString| {
        args.extend([Node::str(flag, origin), Node::str(value, origin)]);
    };
    tell("--model_name".into(), facts.service.name().clone());
    tell("--http_port".into(), "8080".into());
    let given = |flag: &str| {
        nodes.iter().any(|argument| argument.as_str().is_some_and(|text| text.starts_with(flag)))
    };
    if !given("--predictor_host") {
        tell(
            "--predictor_host".into(),
            eco_format!("{}.{}", facts.predictor_name(), facts.service.namespace),
        );
    }
    if let Some(workers) =
        spec.get("containerConcurrency").and_then(Node::scalar_text).filter(|_| !given("--workers"))
    {
        tell("--workers".into(), workers);
    }
    if storage_uri(ComponentKind::Explainer, spec).is_some() {
        tell("--storage_uri".into(), "/mnt/models".into());
    }
    tell(
        "--adversary_type".into(),
        art.get("type").and_then(Node::scalar_text).unwrap_or_default(),
    );
    // Upstream sorts the options, because a Go map has no order.
    let mut config: Map = art.get("config").and_then(Node::as_map).cloned().unwrap_or_default();
    config.sort();
    for entry in &config {
        tell(eco_format!("--{}", entry.key), entry.node.scalar_text().unwrap_or_default());
    }
    args.extend(nodes.iter().chain(&nodes).cloned());
    // An image of the service wins over the version, which only completes the image of the
    // settings.
    let image = container.get("image").filter(|image| !image.is_empty()).cloned();
    let version = art
        .get("runtimeVersion")
        .and_then(Node::scalar_text)
        .unwrap_or_else(|| facts.config.art.1.clone());
    let image =
        image.unwrap_or_else(|| Node::str(eco_format!("{}:{version}", facts.config.art.0), origin));
    if let Some(map) = container.as_map_mut() {
        map.insert("args", Node::list(args, origin));
        map.insert("image", image);
    }
    Ok(container)
}
