//! Hardware profiles: counts, node selector, tolerations or the queue that a profile writes into a
//! service (opendatahub-io/odh-model-controller, internal/webhook/serving/hardwareprofile).
//!
//! In: a service as its owner wrote it, with KServe's defaults. Out: the service with what its
//! profile adds, before a runtime is merged. Values keep their place in the profile.

use super::{is_of_applications, llm};
use crate::api::{ComponentKind, Failure, KServeConfig, Object, Service};
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::{list_mut, map_mut, text};
use crate::objects::build::node;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kserve::is_llm;
use crate::pods::rules::{OPENSHIFT_DEFAULT_PROFILE, OPENSHIFT_PROFILE};
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Annotation with the name of a profile.
const NAME: &str = "opendatahub.io/hardware-profile-name";
/// Annotation with its namespace; that of the service when it is absent.
const NAMESPACE: &str = "opendatahub.io/hardware-profile-namespace";
/// The profile that the operator of OpenShift AI makes in the namespace of the applications.
const SHIPPED: &str = "default-profile";
/// Kind of a profile, in any version of [`GROUP`].
const KIND: &str = "HardwareProfile";
/// Group of a profile. The dashboard's group has a kind of this name too, which fills nothing.
const GROUP: &str = "infrastructure.opendatahub.io/";
/// Fields by which two tolerations are the same.
const TOLERATION: [&str; 5] = ["key", "operator", "value", "effect", "tolerationSeconds"];

/// Whether an object is a profile that fills services.
pub fn is_profile(object: &Object) -> bool {
    object.id.kind == KIND && object.api_version.starts_with(GROUP)
}

/// The name and namespace of the profile of a service; `None` without one.
fn named(service: &Service) -> Option<(EcoString, EcoString, Origin)> {
    let name = service.object.annotation(NAME)?;
    let text = name.scalar_text().filter(|text| !text.is_empty())?;
    let namespace = service.object.annotation(NAMESPACE).and_then(Node::scalar_text);
    let namespace = namespace.filter(|text| !text.is_empty());
    Some((text, namespace.unwrap_or_else(|| service.namespace.clone()), name.origin))
}

/// The spec of the profile that the operator makes, unless its users have edited it.
fn shipped(name: &str, namespace: &str, config: &KServeConfig) -> Option<Node> {
    let is_known = name == SHIPPED && is_of_applications(namespace, config);
    let spec = || {
        node!(&OPENSHIFT_DEFAULT_PROFILE; {
            identifiers: [{ identifier: "cpu", defaultCount: 2 }, { identifier: "memory", defaultCount: "4Gi" }],
        })
    };
    is_known.then(spec).flatten()
}

/// Profiles by namespace and name: the first of each.
pub fn profiles_by_name(profiles: Vec<Object>) -> BTreeMap<(EcoString, EcoString), Object> {
    let mut by_name = BTreeMap::new();
    for profile in profiles {
        let namespace = profile.id.scope.namespace().cloned().unwrap_or_default();
        by_name.entry((namespace, profile.id.name.clone())).or_insert(profile);
    }
    by_name
}

/// The spec of a profile: as it was read, else as it is shipped.
fn spec(name: &str, namespace: &str, config: &KServeConfig) -> Option<Node> {
    match config.openshift.profiles.get(&(namespace.into(), name.into())) {
        Some(profile) => {
            let spec = profile.node.get("spec").cloned();
            Some(spec.unwrap_or_else(|| Node::map(profile.node.origin)))
        }
        None => shipped(name, namespace, config),
    }
}

/// Whether the profile of a service was not read, so that it is not known what it adds.
pub(in crate::operators::kserve) fn is_unread(service: &Service, config: &KServeConfig) -> bool {
    unread(service, config).is_some()
}

/// The finding about a profile that was not read.
pub(super) fn unread(service: &Service, config: &KServeConfig) -> Option<Diagnostic> {
    let (name, namespace, origin) = named(service)?;
    if spec(&name, &namespace, config).is_some() {
        return None;
    }
    let message = format!(
        "the HardwareProfile {namespace}/{name} of infrastructure.opendatahub.io was not read: the counts, node selector, tolerations and queue that it adds are not known, and accelerators that only it requests are not counted"
    );
    let help = format!(
        "read it with `-f`: `oc get hardwareprofiles.infrastructure.opendatahub.io {name} -n {namespace} -o yaml`"
    );
    Some(
        Diagnostic::new(Code::ReferenceNotRead, message)
            .at(origin.span())
            .object(service.object.id.to_string())
            .help(help),
    )
}

/// Fills a service from its profile (applyHardwareProfile).
///
/// # Errors
/// When the profile does not exist: profiles of its namespace come from a cluster, and it is none of
/// them. A repository need not hold every profile of a cluster.
pub(super) fn apply(
    service: &mut Service,
    config: &KServeConfig,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let Some((name, namespace, origin)) = named(service) else { return Ok(()) };
    let Some(spec) = spec(&name, &namespace, config) else {
        return missing(service, (&name, &namespace), origin, config, findings);
    };
    let identifiers = spec.get("identifiers").map(Node::items).unwrap_or_default();
    let queue = spec.at(&["scheduling", "kueue", "localQueueName"]).cloned();
    let queue = queue.filter(|queue| queue.as_str().is_some_and(|name| !name.is_empty()));
    let pod = if is_llm(service) {
        // Other containers only: upstream returns before it writes anything.
        let Some(template) = llm::template(service, !identifiers.is_empty()) else {
            return Ok(());
        };
        if let Some(main) = llm::main(template) {
            counts(identifiers, main);
        }
        Some(template)
    } else {
        let mut components = service.components.iter_mut();
        let predictor = components.find(|component| component.kind == ComponentKind::Predictor);
        let mut predictor = predictor.map(|component| &mut component.node);
        let model = predictor.as_mut().and_then(|node| node.as_map_mut()?.get_mut("model"));
        // A custom container gets no counts: the webhook reads the model's resources.
        if let Some(model) = model.filter(|model| model.as_map().is_some()) {
            counts(identifiers, model);
        }
        predictor
    };
    // A queue decides about nodes itself, so what the profile says of nodes is not read.
    if let Some(pod) = pod.filter(|_| queue.is_none()) {
        nodes(spec.at(&["scheduling", "node"]), pod);
    }
    annotate(service, &namespace);
    if let Some(queue) = queue
        && let Some(labels) = metadata_mut(service, "labels")
    {
        labels.insert(KUEUE_QUEUE, queue);
    }
    Ok(())
}

fn missing(
    service: &Service,
    (name, namespace): (&str, &str),
    origin: Origin,
    config: &KServeConfig,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    // A profile with a uid was read from a cluster, which would then have the others, too.
    let is_near = |profile: &Object| {
        profile.metadata("uid").is_some()
            && profile.id.scope.namespace().is_some_and(|scope| scope == namespace)
    };
    if config.openshift.profiles.values().any(is_near) {
        return Err(Failure {
            code: Code::InvalidInput,
            message: format!("hardware profile \"{name}\" not found in namespace \"{namespace}\""),
            help: Some(
                "name a profile of that namespace, or its namespace with the annotation `opendatahub.io/hardware-profile-namespace`"
                    .into(),
            ),
            span: origin.span(),
        });
    }
    findings.extend(unread(service, config));
    Ok(())
}

/// Writes the namespace of the profile where the service leaves it out.
fn annotate(service: &mut Service, namespace: &str) {
    let written = service.object.annotation(NAMESPACE).and_then(Node::as_str);
    if written.is_some_and(|text| !text.is_empty()) {
        return;
    }
    if let Some(annotations) = metadata_mut(service, "annotations") {
        annotations.insert(NAMESPACE, Node::str(namespace, Origin::Derived(&OPENSHIFT_PROFILE)));
    }
}

/// Labels or annotations of a service, to write to.
fn metadata_mut<'s>(service: &'s mut Service, key: &str) -> Option<&'s mut Map> {
    let origin = Origin::Derived(&OPENSHIFT_PROFILE);
    let metadata = service.object.node.as_map_mut()?.get_mut("metadata")?;
    map_mut(metadata, key, origin)
}

/// Requests and limits of a container that are absent (ApplyToIsvcResources). Quirk: they
/// are looked at apart, so that a limit without a request stays beside a smaller request.
fn counts(identifiers: &[Node], container: &mut Node) {
    let origin = Origin::Derived(&OPENSHIFT_PROFILE);
    for identifier in identifiers {
        let resource = text(identifier, "identifier");
        let Some(count) = identifier.get("defaultCount").filter(|count| !count.is_null()) else {
            continue;
        };
        if resource.is_empty() {
            continue;
        }
        let mut side = |side: &str, amount: &Node| -> Option<Node> {
            map_mut(container, "resources", origin)?;
            let resources = container.as_map_mut()?.get_mut("resources")?;
            let listed = map_mut(resources, side, origin)?;
            if listed.get(resource).is_none_or(Node::is_null) {
                listed.insert(resource, amount.clone());
            }
            listed.get(resource).cloned()
        };
        // The limit takes the request that is there by now, also one of the service.
        if let Some(request) = side("requests", count) {
            side("limits", &request);
        }
    }
}

/// Node selector and tolerations (MergeNodeScheduling): keys of the profile replace those of the
/// service, its tolerations come first.
fn nodes(scheduling: Option<&Node>, pod: &mut Node) {
    let origin = Origin::Derived(&OPENSHIFT_PROFILE);
    let Some(scheduling) = scheduling else { return };
    if let Some(selector) = scheduling.get("nodeSelector").filter(|selector| !selector.is_empty())
        && let Some(by_key) = map_mut(pod, "nodeSelector", origin)
    {
        for entry in selector.entries() {
            by_key.insert_entry(entry.clone());
        }
    }
    let tolerations = scheduling.get("tolerations").map(Node::items).unwrap_or_default();
    if tolerations.is_empty() {
        return;
    }
    let Some(pod) = list_mut(pod, "tolerations", origin) else { return };
    // An empty field is the same as an absent one.
    let value = |toleration: &Node, key: &str| {
        toleration.get(key).filter(|node| !node.is_empty()).and_then(Node::scalar_text)
    };
    let same = |a: &Node, b: &Node| TOLERATION.iter().all(|key| value(a, key) == value(b, key));
    let others: Vec<Node> = pod
        .iter()
        .filter(|node| !tolerations.iter().any(|listed| same(listed, node)))
        .cloned()
        .collect();
    *pod = tolerations.iter().cloned().chain(others).collect();
}

#[cfg(test)]
mod tests {
    use super::super::testing::{admitted, text};
    use serde_json::json;

    fn profile(spec: &str) -> String {
        format!(
            "apiVersion: infrastructure.opendatahub.io/v1\nkind: HardwareProfile\nmetadata: {{name: gpu, namespace: team}}\nspec: {spec}\n"
        )
    }

    fn filled(predictor: &str, spec: &str) -> serde_json::Value {
        let annotations = "opendatahub.io/hardware-profile-name: gpu";
        admitted(annotations, predictor, &profile(spec)).expect("it is admitted").0
    }

    #[test]
    fn absent_requests_take_the_count_and_absent_limits_the_request() {
        let spec = "{identifiers: [{identifier: nvidia.com/gpu, defaultCount: 2}, {identifier: memory, defaultCount: 8Gi}]}";
        for (name, requests, limits) in [
            (
                "{}",
                json!({"nvidia.com/gpu": 2, "memory": "8Gi"}),
                json!({"nvidia.com/gpu": 2, "memory": "8Gi"}),
            ),
            (
                "{requests: {nvidia.com/gpu: 4}}",
                json!({"nvidia.com/gpu": 4, "memory": "8Gi"}),
                json!({"nvidia.com/gpu": 4, "memory": "8Gi"}),
            ),
            (
                "{limits: {nvidia.com/gpu: 4}}",
                json!({"nvidia.com/gpu": 2, "memory": "8Gi"}),
                json!({"nvidia.com/gpu": 4, "memory": "8Gi"}),
            ),
            (
                "{requests: {nvidia.com/gpu: 0}}",
                json!({"nvidia.com/gpu": 0, "memory": "8Gi"}),
                json!({"nvidia.com/gpu": 0, "memory": "8Gi"}),
            ),
        ] {
            let found =
                filled(&format!("model: {{modelFormat: {{name: f}}, resources: {name}}}"), spec);
            let resources = &found["predictor"]["model"]["resources"];
            assert_eq!(resources["requests"], requests, "{name}");
            assert_eq!(resources["limits"], limits, "{name}");
        }
    }

    #[test]
    fn a_queue_excludes_what_the_profile_says_of_nodes() {
        let nodes = "node: {nodeSelector: {pool: a}, tolerations: [{key: gpu, operator: Exists}]}";
        let predictor = "model: {modelFormat: {name: f}}, nodeSelector: {pool: b, zone: z}, tolerations: [{key: gpu, operator: Exists}, {key: own}]";
        let found = filled(predictor, &format!("{{scheduling: {{{nodes}}}}}"));
        assert_eq!(found["predictor"]["nodeSelector"], json!({"pool": "a", "zone": "z"}));
        assert_eq!(
            found["predictor"]["tolerations"],
            json!([{"key": "gpu", "operator": "Exists"}, {"key": "own"}])
        );
        assert_eq!(found["labels"], json!(null));
        let queued = format!("{{scheduling: {{kueue: {{localQueueName: q}}, {nodes}}}}}");
        let found = filled(predictor, &queued);
        assert_eq!(found["labels"], json!({"kueue.x-k8s.io/queue-name": "q"}));
        assert_eq!(found["predictor"]["nodeSelector"], json!({"pool": "b", "zone": "z"}));
    }

    #[test]
    fn a_profile_that_was_not_read_is_refused_only_beside_a_clusters_others_of_its_namespace() {
        let named = |namespace: &str| {
            format!(
                "opendatahub.io/hardware-profile-name: gone, opendatahub.io/hardware-profile-namespace: {namespace}"
            )
        };
        let model = "model: {modelFormat: {name: f}}";
        // A repository has the profiles that its owner keeps there, a dump has those of the cluster.
        let written = profile("{}");
        let live = written.replace("name: gpu", "name: gpu, uid: 6f9");
        let refused = admitted(&named("team"), model, &live).expect_err("it is refused");
        assert!(text(&refused).contains("gone"), "{refused:?}");
        for (namespace, present) in [("elsewhere", &live), ("team", &written)] {
            let (_, findings) =
                admitted(&named(namespace), model, present).expect("it is admitted");
            let name = format!("{namespace}/gone");
            assert!(findings.iter().any(|finding| finding.message.contains(&name)), "{name}");
        }
        let shipped = "opendatahub.io/hardware-profile-name: default-profile, opendatahub.io/hardware-profile-namespace: redhat-ods-applications";
        let (found, findings) = admitted(shipped, model, "").expect("it is admitted");
        assert_eq!(
            found["predictor"]["model"]["resources"]["limits"],
            json!({"cpu": 2, "memory": "4Gi"})
        );
        assert!(findings.is_empty());
    }
}
