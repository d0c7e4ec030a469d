//! What the validating webhooks refuse
//! (pkg/apis/serving/v1alpha2/llm_inference_service_validation.go and
//! llm_inference_service_config_validation.go).
//!
//! In: an object in the stored form. Out: a finding for each refusal, at the field that it names.
//! Rules of the definition are checked with the schema and not here.

use super::size::{is_data_parallel, is_pipeline_parallel};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::text;
use crate::quantity::names::{dns1123_label, dns1123_subdomain};
use crate::yaml::{FieldPath, Node, Segment};
use std::collections::BTreeMap;

/// Collects the refusals of one object.
pub(super) struct Refusals<'a> {
    object: &'a Object,
    found: Vec<Diagnostic>,
}

impl Refusals<'_> {
    pub(super) fn add(&mut self, path: &str, message: impl Into<String>) {
        // The nearest field that is written is the place.
        let mut steps = FieldPath::parse(path).unwrap_or_else(|_| FieldPath::root());
        // A field that is missing has no place: its parent does.
        let span = loop {
            // The key of a field, else the value.
            let node = &self.object.node;
            let span = node.select(&steps).first().and_then(|node| node.origin.span());
            let key = steps.0.split_last().and_then(|(last, above)| {
                let Segment::Field(name) = last else { return None };
                let above = node.select(&FieldPath(above.to_vec()));
                above.first()?.as_map()?.entry(name)?.key_origin.span()
            });
            let found = span.and(key.or(span));
            if found.is_some() || steps.0.pop().is_none() {
                break found;
            }
        };
        self.found.push(
            Diagnostic::new(Code::InvalidInput, format!("`{path}`: {}", message.into()))
                .at(span.or_else(|| Some(self.object.name_span())))
                .path(path.to_owned())
                .object(self.object.id.to_string()),
        );
    }
}

/// What is refused in a service.
pub(super) fn service(object: &Object) -> Vec<Diagnostic> {
    let mut refusals = Refusals { object, found: Vec::new() };
    let Some(spec) = object.node.get("spec") else { return Vec::new() };
    router(spec, &mut refusals);
    workload(spec, "spec", &mut refusals);
    if let Some(prefill) = spec.get("prefill") {
        workload(prefill, "spec.prefill", &mut refusals);
    }
    actuators(spec, &mut refusals);
    scheduler(spec, &mut refusals);
    adapters(object, spec, &mut refusals);
    devices(object, &mut refusals);
    confidential(spec, &mut refusals);
    refusals.found
}

/// What is refused in a configuration before its template is rendered.
pub(super) fn config(object: &Object) -> Vec<Diagnostic> {
    let mut refusals = Refusals { object, found: Vec::new() };
    let Some(spec) = object.node.get("spec") else { return Vec::new() };
    if !spec.items_of("baseRefs").is_empty() {
        refusals.add("spec.baseRefs", "a configuration cannot name other configurations");
    }
    if let Some(replicas) = spec.at(&["router", "scheduler", "replicas"]).and_then(Node::as_int)
        && replicas <= 0
    {
        refusals
            .add("spec.router.scheduler.replicas", "scheduler replicas must be greater than zero");
    }
    refusals.found
}

fn router(spec: &Node, refusals: &mut Refusals<'_>) {
    let Some(router) = spec.get("router") else { return };
    let Some(route) = router.get("route") else { return };
    let refs = route.at(&["http", "refs"]).map(Node::items).unwrap_or_default();
    let spec = route.at(&["http", "spec"]);
    let gateway = router.get("gateway");
    let gateways = gateway.map(|gateway| gateway.items_of("refs")).unwrap_or_default();
    if !refs.is_empty() && spec.is_some() {
        refusals.add(
            "spec.router.route.http",
            "cannot use both custom HTTPRoute refs and an inline route spec; choose one",
        );
    }
    if !refs.is_empty() && gateway.is_some() && gateways.is_empty() {
        refusals.add(
            "spec.router.route.http.refs",
            "custom HTTP routes cannot be used with a managed gateway; remove the refs or set `spec.router.gateway.refs`",
        );
    }
    let parents = spec.map(|node| node.items_of("parentRefs")).unwrap_or_default();
    if !parents.is_empty() && !gateways.is_empty() {
        // Sorted: the same gateways in another order are no conflict.
        let keys = |listed: &[Node]| {
            let mut keys: Vec<[String; 3]> = listed
                .iter()
                .map(|parent| {
                    ["namespace", "name", "sectionName"].map(|key| text(parent, key).into())
                })
                .collect();
            keys.sort();
            keys
        };
        if keys(parents) != keys(gateways) {
            refusals.add(
                "spec.router.route.http.spec",
                "parentRefs conflict with the custom gateway refs; remove `spec.router.gateway.refs` or the parentRefs",
            );
        }
    }
    let (group, weight) = (route.get("group"), route.get("weight"));
    if (group.is_some() || weight.is_some()) && router.get("ingress").is_some() {
        refusals.add(
            "spec.router.route.group",
            "traffic splitting requires Gateway API routing and cannot be used with ingress",
        );
    }
    if weight.is_some() && group.is_none() {
        refusals.add("spec.router.route.group", "weight requires group to be set");
    }
    if group.is_some() && weight.is_none() {
        refusals.add("spec.router.route.weight", "group requires weight to be set");
    }
    if group.is_some() && !refs.is_empty() {
        refusals.add("spec.router.route.group", "group cannot be used with custom HTTPRoute refs");
    }
}

fn workload(node: &Node, base: &str, refusals: &mut Refusals<'_>) {
    let parallelism = node.get("parallelism");
    let multi_node = node.get("worker").is_some();
    if multi_node && !is_data_parallel(node) && !is_pipeline_parallel(node) {
        refusals.add(
            &format!("{base}.worker"),
            "when worker is specified, parallelism must be configured for either data parallelism or pipeline parallelism",
        );
    }
    if let Some(parallelism) = parallelism {
        let path = format!("{base}.parallelism");
        if is_data_parallel(node) && is_pipeline_parallel(node) {
            refusals.add(
                &path,
                "cannot set both pipeline parallelism and data parallelism (data or dataLocal) simultaneously",
            );
        }
        match (parallelism.get("data"), parallelism.get("dataLocal")) {
            (Some(_), None) => {
                refusals
                    .add(&format!("{path}.dataLocal"), "dataLocal must be set when data is set");
            }
            (None, Some(_)) => {
                refusals.add(&format!("{path}.data"), "data must be set when dataLocal is set");
            }
            _ => {}
        }
        for key in ["pipeline", "data", "dataLocal"] {
            if parallelism.get(key).and_then(Node::as_int).is_some_and(|count| count <= 0) {
                refusals.add(&format!("{path}.{key}"), format!("{key} must be greater than 0"));
            }
        }
    }
    if let Some(scaling) = node.get("scaling") {
        self::scaling(node, scaling, &format!("{base}.scaling"), refusals);
    }
    if let Some(cache) = node.get("kvCacheOffloading") {
        kv_cache(cache, &format!("{base}.kvCacheOffloading"), refusals);
    }
    if let Some(strategy) = node.get("rolloutStrategy") {
        rollout(strategy, multi_node, &format!("{base}.rolloutStrategy"), refusals);
    }
}

fn scaling(node: &Node, scaling: &Node, path: &str, refusals: &mut Refusals<'_>) {
    if node.get("replicas").is_some() {
        refusals.add(
            path,
            "scaling and replicas are mutually exclusive; use scaling for autoscaled deployments or replicas for static deployments",
        );
    }
    let number = |key: &str| scaling.get(key).and_then(Node::as_int);
    // Go's zero stands for a maximum that is not set.
    let (least, most) = (number("minReplicas"), number("maxReplicas").unwrap_or(0));
    if let Some(least) = least.filter(|least| *least > most) {
        refusals.add(
            &format!("{path}.minReplicas"),
            format!("minReplicas ({least}) cannot exceed maxReplicas ({most})"),
        );
    }
    match (scaling.get("wva"), scaling.get("keda")) {
        (Some(_), Some(_)) => {
            refusals.add(path, "wva and keda are mutually exclusive; choose one scaling mechanism");
        }
        (None, None) => {
            refusals.add(path, "either wva or keda must be specified when scaling is configured");
        }
        (None, Some(keda)) => {
            let path = format!("{path}.keda");
            if keda.items_of("triggers").is_empty() {
                refusals.add(
                    &format!("{path}.triggers"),
                    "at least one trigger is required when using direct KEDA scaling",
                );
            }
            self::keda(keda, least, &path, false, refusals);
        }
        (Some(wva), None) => {
            let path = format!("{path}.wva");
            match (wva.get("hpa"), wva.get("keda")) {
                (Some(_), Some(_)) => refusals
                    .add(&path, "hpa and keda are mutually exclusive; choose one actuator backend"),
                (None, None) => refusals
                    .add(&path, "either hpa or keda must be specified as the actuator backend"),
                _ => {}
            }
            let cost = text(wva, "variantCost");
            if !cost.is_empty() && !crate::schema::matches(r"^\d+(\.\d+)?$", cost) {
                refusals.add(
                    &format!("{path}.variantCost"),
                    "variantCost must be a non-negative numeric string (e.g., \"10\", \"10.0\", \"0.5\")",
                );
            }
            if let Some(keda) = wva.get("keda") {
                self::keda(keda, least, &format!("{path}.keda"), true, refusals);
            }
        }
    }
}

fn keda(keda: &Node, least: Option<i64>, path: &str, wva: bool, refusals: &mut Refusals<'_>) {
    if let Some(advanced) = keda.get("advanced") {
        let modifiers = advanced.get("scalingModifiers");
        let set = modifiers.is_some_and(|modifier| {
            ["formula", "target", "activationTarget", "metricType"]
                .iter()
                .any(|key| !text(modifier, key).is_empty())
        });
        if wva && set {
            refusals.add(
                &format!("{path}.advanced.scalingModifiers"),
                "scalingModifiers must not be set; WVA controls the scaling metric formula and logic",
            );
        }
        let named = advanced.at(&["horizontalPodAutoscalerConfig", "name"]);
        if named.and_then(Node::as_str).is_some_and(|name| !name.is_empty()) {
            refusals.add(
                &format!("{path}.advanced.horizontalPodAutoscalerConfig.name"),
                "horizontalPodAutoscalerConfig.name must not be set; the controller manages the HPA name",
            );
        }
    }
    if let Some(idle) = keda.get("idleReplicaCount").and_then(Node::as_int) {
        let path = format!("{path}.idleReplicaCount");
        match least {
            None => {
                refusals.add(&path, "minReplicas is required when idleReplicaCount is set");
            }
            Some(least) if idle >= least => refusals.add(
                &path,
                format!("idleReplicaCount ({idle}) must be less than minReplicas ({least})"),
            ),
            Some(_) => {}
        }
    }
}

fn actuators(spec: &Node, refusals: &mut Refusals<'_>) {
    let (Some(decode), Some(prefill)) = (spec.get("scaling"), spec.at(&["prefill", "scaling"]))
    else {
        return;
    };
    let direct = |node: &Node| node.get("keda").is_some();
    if direct(decode) != direct(prefill) {
        let mode = |node: &Node| if direct(node) { "direct keda" } else { "wva" };
        refusals.add(
            "spec.prefill.scaling",
            format!(
                "decode and prefill must use the same scaling mode; decode uses {} but prefill uses {}",
                mode(decode),
                mode(prefill)
            ),
        );
        // Backends can be compared only within WVA.
        return;
    }
    if let (Some(decode), Some(prefill)) = (decode.get("wva"), prefill.get("wva")) {
        let hpa = |node: &Node| node.get("hpa").is_some();
        if hpa(decode) != hpa(prefill) {
            let backend = |node: &Node| if hpa(node) { "hpa" } else { "keda" };
            refusals.add(
                "spec.prefill.scaling.wva",
                format!(
                    "decode and prefill must use the same actuator backend; decode uses {} but prefill uses {}",
                    backend(decode),
                    backend(prefill)
                ),
            );
        }
    }
}

fn kv_cache(cache: &Node, path: &str, refusals: &mut Refusals<'_>) {
    let tiers = cache.items_of("secondary");
    // A zero is as good as no memory for the first tier.
    let none = cache.get("cpu").and_then(Node::scalar_text).is_none_or(|text| {
        crate::quantity::Quantity::parse_field(&text).is_ok_and(|amount| amount.is_zero())
    });
    if !tiers.is_empty() && none {
        refusals.add(&format!("{path}.cpu"), "cpu is required when secondary is set");
    }
    for (index, tier) in tiers.iter().enumerate() {
        let path = format!("{path}.secondary[{index}]");
        let Some(files) = tier.get("fileSystem") else {
            refusals.add(&path, "exactly one backend type must be set; fileSystem is required");
            continue;
        };
        let path = format!("{path}.fileSystem");
        if files.get("emptyDir").is_some() == files.get("pvc").is_some() {
            refusals.add(&path, "exactly one of emptyDir or pvc must be set");
        }
        if let Some(size) = files.at(&["emptyDir", "size"]).and_then(Node::scalar_text)
            && crate::quantity::Quantity::parse_field(&size)
                .is_ok_and(|size| size.is_zero() || size.is_negative())
        {
            refusals.add(&format!("{path}.emptyDir.size"), "size must be greater than zero");
        }
        if let Some(claim) = files.get("pvc") {
            if claim.get("spec").is_some() == claim.get("ref").is_some() {
                refusals.add(&format!("{path}.pvc"), "exactly one of spec or ref must be set");
            }
            if claim.get("ref").is_some_and(|claim| text(claim, "name").is_empty()) {
                refusals.add(&format!("{path}.pvc.ref.name"), "name is required");
            }
        }
    }
}

/// A number or a percentage; none when it is neither.
fn amount(node: &Node) -> Option<i64> {
    node.as_int().or_else(|| {
        let digits = node.as_str()?.strip_suffix('%')?;
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    })
}

fn rollout(strategy: &Node, multi_node: bool, path: &str, refusals: &mut Refusals<'_>) {
    let (missing, more) = (strategy.get("maxUnavailable"), strategy.get("maxSurge"));
    for (key, node) in [("maxUnavailable", missing), ("maxSurge", more)] {
        let Some(node) = node else { continue };
        let path = format!("{path}.{key}");
        match amount(node) {
            None => refusals.add(&path, "must be an integer or percentage (e.g '5%%')"),
            Some(count) if count < 0 => {
                refusals.add(&path, "must be greater than or equal to 0");
            }
            Some(count) if count > 100 && node.as_str().is_some() => {
                refusals.add(&path, "must not be greater than 100%");
            }
            Some(_) => {}
        }
    }
    // Of one replica a percentage of missing ones is rounded down, one of added ones up.
    let none_missing = missing.is_some_and(|node| {
        amount(node).is_some_and(|count| count == 0 || (node.as_str().is_some() && count < 100))
    });
    if none_missing && more.is_some_and(|node| amount(node) == Some(0)) {
        refusals.add(
            path,
            "maxUnavailable and maxSurge cannot both be zero; this would prevent any rolling update progress",
        );
    }
    if none_missing && multi_node && more.is_none() {
        refusals.add(
            &format!("{path}.maxSurge"),
            "maxSurge is required for multi-node workloads when maxUnavailable is 0, otherwise no rolling update progress is possible",
        );
    }
}

fn scheduler(spec: &Node, refusals: &mut Refusals<'_>) {
    const PATH: &str = "spec.router.scheduler";
    let Some(scheduler) = spec.at(&["router", "scheduler"]) else { return };
    if scheduler.get("replicas").and_then(Node::as_int).is_some_and(|count| count <= 0) {
        refusals.add(&format!("{PATH}.replicas"), "scheduler replicas must be greater than zero");
    }
    let Some(config) = scheduler.get("config") else { return };
    let (inline, reference) = (config.get("inline"), config.get("ref"));
    match (inline, reference) {
        (None, None) => refusals.add(&format!("{PATH}.config"), "either inline or ref is required"),
        (Some(_), Some(_)) => refusals.add(
            &format!("{PATH}.config"),
            "both inline and ref are set, either specify inline or ref",
        ),
        _ => {}
    }
    if inline.is_some_and(Node::is_empty) {
        refusals.add(&format!("{PATH}.config.inline"), "inline configuration is invalid");
    }
    if reference.is_some_and(|reference| text(reference, "name").is_empty()) {
        refusals.add(&format!("{PATH}.config.ref.name"), "name is empty");
    }
}

fn adapters(object: &Object, spec: &Node, refusals: &mut Refusals<'_>) {
    const PATH: &str = "spec.model.lora";
    let Some(model) = spec.get("model") else { return };
    let Some(lora) = model.get("lora") else { return };
    // The webhook's default name is the service's.
    let named = Some(text(model, "name")).filter(|name| !name.is_empty());
    let base = named.unwrap_or(&object.id.name);
    for key in ["maxRank", "maxAdapters", "maxCpuAdapters"] {
        if lora.get(key).and_then(Node::as_int).is_some_and(|count| count < 1) {
            refusals.add(&format!("{PATH}.{key}"), format!("{key} must be at least 1"));
        }
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, adapter) in lora.items_of("adapters").iter().enumerate() {
        let path = format!("{PATH}.adapters[{index}].name");
        let name = text(adapter, "name");
        if name.is_empty() {
            refusals.add(&path, "adapter name is required");
            continue;
        }
        if matches!(name, "." | "..") {
            refusals
                .add(&path, "adapter name must not include \".\" or \"..\" (path traversal risk)");
            continue;
        }
        match seen.get(name) {
            Some(first) => {
                refusals.add(&path, format!("duplicate name (same as adapters[{first}])"));
            }
            None => _ = seen.insert(name, index),
        }
        if name == base {
            refusals
                .add(&path, format!("adapter name must differ from base model name \"{base}\""));
        }
    }
}

fn confidential(spec: &Node, refusals: &mut Refusals<'_>) {
    let Some(spec) = spec.at(&["model", "confidential"]) else { return };
    if spec.get("enabled").and_then(Node::as_bool) != Some(true) {
        return;
    }
    let Some(id) = spec.get("resourceId").and_then(Node::as_str).filter(|id| !id.is_empty()) else {
        return;
    };
    if !crate::schema::matches(r"^kbs:///[^/]+/[^/]+/[^/]+$", id) {
        refusals.add(
            "spec.model.confidential.resourceId",
            "must be in the format kbs:///<repo>/<type>/<tag>",
        );
    }
}

/// Prefix of the annotations of managed devices.
const DEVICES: &str = "serving.kserve.io/exp-dra-";

/// Annotations that ask for devices (pkg/validation/managed_dra.go).
fn devices(object: &Object, refusals: &mut Refusals<'_>) {
    let annotations = object.annotations();
    let found = |key: &str| annotations.get(&format!("{DEVICES}{key}")).and_then(Node::scalar_text);
    let path = |key: &str| format!("metadata.annotations[\"{DEVICES}{key}\"]");
    let class = found("device-class");
    let (count, selector, container) =
        (found("device-count"), found("cel-selector"), found("container-name"));
    // The other annotations have no effect without a class.
    if class.is_none() && (count.is_some() || selector.is_some() || container.is_some()) {
        refusals.add(
            "metadata.annotations",
            format!(
                "{DEVICES}device-class is required when {DEVICES}device-count, {DEVICES}cel-selector or {DEVICES}container-name is set"
            ),
        );
    }
    if let Some(class) = &class {
        let class = class.trim();
        if class.is_empty() {
            refusals.add(&path("device-class"), "device class must not be empty");
        } else if let Some(problem) = dns1123_subdomain(class).into_iter().next() {
            refusals.add(
                &path("device-class"),
                format!("device class must be a DNS subdomain: {problem}"),
            );
        }
    }
    if let Some(count) = count.filter(|count| !count.trim().is_empty())
        && count.trim().parse::<i64>().ok().is_none_or(|count| count < 1)
    {
        refusals.add(
            &path("device-count"),
            format!("invalid {DEVICES}device-count value \"{count}\": must be >= 1"),
        );
    }
    if selector.is_some_and(|selector| selector.trim().is_empty()) {
        refusals.add(
            &path("cel-selector"),
            "cel selector must contain at least one non-empty CEL expression",
        );
    }
    if let Some(container) = &container {
        let name = container.trim();
        if name.is_empty() {
            refusals.add(&path("container-name"), "container name must not be empty");
        } else if let Some(problem) = dns1123_label(name).into_iter().next() {
            refusals.add(
                &path("container-name"),
                format!("container name must be a DNS label: {problem}"),
            );
        }
    }
}
