//! Which configurations apply to a service, and their merge
//! (pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig).
//!
//! In: a service, the configurations of its namespace and of the controller's. Out: the
//! specification that every object is made from, and the configurations that it came from.

use super::convert::spec_type;
use super::expand;
use super::lora;
use super::merged_check;
use super::merged_check::Applied;
use super::names_of_plugins::{has_plugin, tokenizer_enabled};
use super::rules::COMBINED;
use super::scene::{Scene, at_mut, put, take, text_at};
use super::system::preset_name;
use crate::api::{Failure, Object};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, map_mut, mapping, text};
use crate::merge::history::Recorder;
use crate::merge::smp;
use crate::schema::{self, Library};
use crate::yaml::{Node, Origin, Value};
use ecow::EcoString;

const BY: Origin = Origin::Derived(&COMBINED);

/// The specification that objects are made from.
pub(super) struct Combined {
    pub(super) spec: Node,
}

fn look_up<'a>(scene: &Scene<'a>, name: &str) -> Option<&'a Object> {
    scene.catalog.llm_config(scene.namespace(), name)
}

/// The configurations that a service named and the controller selected, in the order of the merge.
///
/// # Errors
/// When two specifications cannot be merged, or a configuration that the service names was not
/// read.
pub(super) fn applied<'a>(scene: &Scene<'a>, node: &mut Node) -> Result<Vec<Applied<'a>>, Failure> {
    let named: Vec<EcoString> =
        node.items_of("baseRefs").iter().map(|reference| text(reference, "name").into()).collect();
    // A second tree: the configurations that are named decide which presets apply, but the presets
    // come below them in the merge.
    let mut resolved = node.clone();
    let mut found = Vec::new();
    for name in &named {
        let object = look_up(scene, name).ok_or_else(|| missing(scene, name, node))?;
        found.push(object);
        if let Some(spec) = object.node.get("spec") {
            resolved = merged(scene, resolved, spec, &mut Recorder::off())?;
        }
    }
    // The webhook has filled in a name, which must not hide that of a configuration.
    if let Some(name) = resolved.at(&["model", "name"]).cloned()
        && let Some(model) = map_mut(node, "model", BY)
    {
        model.insert("name", name);
    }
    let mut all: Vec<Applied<'a>> = presets(&resolved)
        .into_iter()
        .map(|preset| {
            let prefix = &scene.settings().prefix;
            let name = preset_name(&scene.service.object.node, prefix, preset);
            Applied { found: look_up(scene, &name), name, preset: Some(preset) }
        })
        .collect();
    // Named configurations come last, so that they win over presets.
    let named = named.into_iter().zip(found);
    all.extend(named.map(|(name, object)| Applied { name, preset: None, found: Some(object) }));
    Ok(all)
}

/// The failure for a configuration that the service names and that was not read.
fn missing(scene: &Scene<'_>, name: &str, node: &Node) -> Failure {
    let written = node.items_of("baseRefs").iter().find(|base_ref| text(base_ref, "name") == name);
    let place = written.and_then(|written| written.get("name").unwrap_or(written).origin.span());
    let failure = scene.failure(not_found(scene, name));
    Failure {
        span: place.or(failure.span),
        help: Some(format!(
            "load the LLMInferenceServiceConfig `{name}` of namespace {} or {} with `-f`",
            scene.namespace(),
            scene.system()
        )),
        ..failure
    }
}

/// The controller's message for a configuration that does not exist.
pub(super) fn not_found(scene: &Scene<'_>, name: &str) -> String {
    let (namespace, system) = (scene.namespace(), scene.system());
    format!("LLMInferenceServiceConfig \"{name}\" not found in namespaces [{namespace} {system}]")
}

/// What of a service selects a shipped configuration.
pub(super) fn selects(preset: &str) -> &'static str {
    match preset {
        "scheduler" => "`router.scheduler` without `pool.ref`",
        "tokenizer" => "the scheduler needs a tokenizer",
        "scheduler-latency-predictor" => "plugin predicted-latency-producer",
        "router-route" => "`router.route` without `http.refs`",
        "tracing" => "`tracing`",
        "template" => "neither `prefill` nor `worker`",
        "worker-data-parallel" => "`worker` with data parallelism, no `prefill`",
        "worker-pipeline-parallel" => "`worker` with pipeline parallelism, no `prefill`",
        "decode-template" => "`prefill`, no `worker`",
        "decode-worker-data-parallel" => "`prefill`, and `worker` with data parallelism",
        "decode-worker-pipeline-parallel" => "`prefill`, and `worker` with pipeline parallelism",
        "prefill-template" => "`prefill` without `worker`",
        "prefill-worker-data-parallel" => "`prefill.worker` with data parallelism",
        "prefill-worker-pipeline-parallel" => "`prefill.worker` with pipeline parallelism",
        _ => "",
    }
}

/// The fields that a configuration sets: those of its specification, and one level below objects.
pub(super) fn fields_of(config: &Object) -> Vec<EcoString> {
    let spec = config.node.get("spec").map(Node::entries).into_iter().flatten();
    let fields = spec.flat_map(|entry| match &entry.node.value {
        Value::Map(map) if !map.is_empty() => {
            map.iter().map(|below| ecow::eco_format!("{}.{}", entry.key, below.key)).collect()
        }
        _ => vec![entry.key.clone()],
    });
    fields.collect()
}

/// The names of the shipped configurations that apply, without their prefix. A worker without data
/// and pipeline parallelism selects none.
fn presets(resolved: &Node) -> Vec<&'static str> {
    let mut names = Vec::new();
    let scheduler = resolved.at(&["router", "scheduler"]);
    if scheduler.is_some_and(|scheduler| text_at(scheduler, &["pool", "ref", "name"]).is_none()) {
        names.push("scheduler");
    }
    if scheduler.is_some() && tokenizer_enabled(resolved) {
        names.push("tokenizer");
    }
    if has_plugin(resolved, "predicted-latency-producer") {
        names.push("scheduler-latency-predictor");
    }
    let route = resolved.at(&["router", "route"]);
    if route
        // A route with references of the user gets no shipped one.
        .is_some_and(|route| route.at(&["http", "refs"]).is_none_or(|refs| refs.items().is_empty()))
    {
        names.push("router-route");
    }
    if resolved.get("tracing").is_some() {
        names.push("tracing");
    }
    let workload = |node: &Node, names_of: [&'static str; 3]| -> Option<&'static str> {
        let [single, data, pipeline] = names_of;
        if node.get("worker").is_none() {
            Some(single)
        } else if super::size::is_data_parallel(node) {
            Some(data)
        } else if super::size::is_pipeline_parallel(node) {
            Some(pipeline)
        } else {
            None
        }
    };
    match resolved.get("prefill") {
        Some(prefill) => {
            names.extend(workload(
                prefill,
                [
                    "prefill-template",
                    "prefill-worker-data-parallel",
                    "prefill-worker-pipeline-parallel",
                ],
            ));
            names.extend(workload(
                resolved,
                [
                    "decode-template",
                    "decode-worker-data-parallel",
                    "decode-worker-pipeline-parallel",
                ],
            ));
        }
        None => names.extend(workload(
            resolved,
            ["template", "worker-data-parallel", "worker-pipeline-parallel"],
        )),
    }
    names
}

/// One specification over another. What equals Go's zero value in the upper one is not part of the
/// patch and overrides nothing.
///
/// # Errors
/// When the two cannot be merged.
pub(super) fn merged(
    scene: &Scene<'_>,
    lower: Node,
    upper: &Node,
    rec: &mut Recorder,
) -> Result<Node, Failure> {
    let fault = |message: String| {
        scene.failure(format!(
            "failed to combine base-configurations: failed to merge specs: could not apply merge patch: {message}"
        ))
    };
    // RawExtension has no fields in the struct, so Go's strategic merge fails on two nested values.
    let inline = ["router", "scheduler", "config", "inline"];
    if let (Some(below), Some(above)) = (lower.at(&inline), upper.at(&inline)) {
        let both = above.entries().find(|entry| {
            let nested = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
            nested(&entry.node) && below.get(&entry.key).is_some_and(nested)
        });
        if let Some(entry) = both {
            let failure = fault(format!(
                "unable to find api field in struct RawExtension for the json field \"{}\"",
                entry.key
            ));
            return Err(Failure { span: entry.key_origin.span().or(failure.span), ..failure });
        }
    }
    let ty = spec_type();
    let mut patch = schema::marshal(upper, ty, Library::V0_34)
        .map_err(|misfit| scene.failure(misfit.to_string()))?;
    // Marshalling writes an empty `uri`, which would override that of a configuration.
    if let Some(model) = patch.get("model")
        && model.get("uri").is_none_or(|uri| uri.as_str() == Some(""))
        && let Some(model) = at_mut(&mut patch, &["model"])
    {
        take(model, "uri");
    }
    smp::merge(lower, &patch, Some(ty), rec).map_err(|error| fault(error.to_string()))
}

/// Merges everything that applies to a service and completes it.
///
/// # Errors
/// The controller's, when a configuration is missing, cannot be merged or expanded, or the result
/// would be refused.
pub(super) fn combine(scene: &Scene<'_>, rec: &mut Recorder) -> Result<Combined, Failure> {
    let mut node = scene.stored_spec();
    let applied = applied(scene, &mut node)?;
    // Checked after all names are known: the failure lists each preset that is missing.
    if applied.iter().any(|applied| applied.found.is_none()) {
        return Err(missing_preset(scene));
    }
    let fold =
        |uppers: &mut dyn Iterator<Item = &Node>, rec: &mut Recorder, first: Option<Node>| {
            let mut spec = first;
            for upper in uppers {
                spec = Some(match spec {
                    // The first one is decoded already.
                    None => upper.clone(),
                    Some(lower) => merged(scene, lower, upper, rec)?,
                });
            }
            Ok::<Option<Node>, Failure>(spec)
        };
    let spec_of =
        |applied: &Applied<'_>| -> Option<Node> { applied.found?.node.get("spec").cloned() };
    // Two folds: the merge of presets alone is the same for many services and is kept.
    let (shipped, named): (Vec<&Applied<'_>>, Vec<&Applied<'_>>) =
        applied.iter().partition(|applied| applied.preset.is_some());
    let shipped_specs: Vec<Node> = shipped.iter().filter_map(|applied| spec_of(applied)).collect();
    // A record of origins needs the merge itself, so the kept one serves only where none is asked.
    let base = if shipped.len() > 1 && !rec.is_on() {
        // A fleet has few combinations of shipped configurations.
        let of = shipped.iter().filter_map(|applied| Some(applied.found?.id.clone())).collect();
        let whole = scene.catalog.memo().merged(of, || {
            let node = fold(&mut shipped_specs.iter(), rec, None)?;
            Ok::<Node, Failure>(node.unwrap_or_else(|| Node::map(BY)))
        })?;
        Some(whole)
    } else {
        fold(&mut shipped_specs.iter(), rec, None)?
    };
    let named_specs: Vec<Node> = named.iter().filter_map(|applied| spec_of(applied)).collect();
    // The service itself is the top layer.
    let spec = fold(&mut named_specs.iter().chain([&node]), rec, base)?;
    let mut spec = spec.unwrap_or_else(|| node.clone());
    before_templates(scene, &mut spec);
    let mut spec = expand::replace(scene, &node, &spec, rec)?;
    after_templates(scene, &mut spec)?;
    lora::adapters(&spec).map_err(|message| {
        scene.failure(format!(
            "failed to combine base-configurations: failed to enumerate LoRA adapters: {message}"
        ))
    })?;
    // Of services that set the same fields over the same configurations, one is checked as a whole;
    // the values of each are checked where they are read.
    let fingerprint = merged_check::fingerprint(&node, &applied, &spec);
    let memo = scene.catalog.memo();
    if !memo.is_valid(fingerprint) {
        merged_check::dry_run(scene, &spec)?;
        memo.found_valid(fingerprint);
    }
    Ok(Combined { spec })
}

/// The shipped configurations that apply and were not read.
fn absent_presets(scene: &Scene<'_>) -> Vec<EcoString> {
    let applied = applied(scene, &mut scene.stored_spec()).unwrap_or_default();
    applied
        .into_iter()
        .filter(|applied| applied.found.is_none())
        .map(|applied| applied.name)
        .collect()
}

/// Whether a shipped configuration that applies was not read.
pub(super) fn lacks_preset(scene: &Scene<'_>) -> bool {
    !absent_presets(scene).is_empty()
}

/// How to get the shipped configurations.
fn get_presets(scene: &Scene<'_>) -> String {
    let system = scene.system();
    format!(
        "`kubectl get llminferenceserviceconfigs -n {system} -o yaml > presets.yaml`, then `--presets presets.yaml`"
    )
}

/// The failure for shipped configurations that were not read: what they would write is unknown.
pub(super) fn missing_preset(scene: &Scene<'_>) -> Failure {
    let absent = absent_presets(scene);
    let failure = scene.failure(not_found(scene, absent.first().map_or("", EcoString::as_str)));
    let names = absent.join(", ");
    Failure {
        code: Code::PresetsNotRead,
        help: Some(format!(
            "the cluster's own configurations are needed ({names}): {}",
            get_presets(scene)
        )),
        ..failure
    }
}

/// The finding about them in a plan, which counts without them.
pub(super) fn presets_not_read(scene: &Scene<'_>, _: &Failure) -> Diagnostic {
    let names = absent_presets(scene).join(", ");
    Diagnostic::new(
        Code::PresetsNotRead,
        format!("shipped configurations were not read: {names}; replicas and devices are counted without them"),
    )
    .severity(Severity::Info)
    .at(Some(scene.service.object.name_span()))
    .object(scene.service.object.id.to_string())
    .help(get_presets(scene))
}

/// Labels that select the pods of a service.
pub(super) fn selector(scene: &Scene<'_>) -> [(&'static str, EcoString); 3] {
    [
        ("app.kubernetes.io/name", scene.name().clone()),
        ("app.kubernetes.io/part-of", "llminferenceservice".into()),
        ("kserve.io/component", "workload".into()),
    ]
}

fn before_templates(scene: &Scene<'_>, spec: &mut Node) {
    if let Some(pool) = at_mut(spec, &["router", "scheduler", "pool", "spec"])
        && pool.at(&["selector", "matchLabels"]).is_none_or(Node::is_empty)
    {
        let labels = selector(scene).map(|(key, value)| (key, Node::str(value, BY)));
        put(pool, "selector", mapping([("matchLabels", mapping(labels, BY))], BY));
    }
    if let Some(template) = at_mut(spec, &["router", "scheduler", "template"])
        // The generated account: the role is bound to it by this name.
        && text(template, "serviceAccountName").is_empty()
    {
        put(template, "serviceAccountName", Node::str(scene.child("-epp-sa"), BY));
    }
}

/// Whether a backend is the pool that the controller makes.
pub(super) fn is_default_backend(scene: &Scene<'_>, backend: &Node) -> bool {
    text(backend, "kind") == "InferencePool"
        && text(backend, "name") == scene.child("-inference-pool")
}

/// Changes each backend of a route that is the pool of the service.
pub(super) fn each_default_backend(
    scene: &Scene<'_>,
    route: &mut Node,
    mut change: impl FnMut(&mut Node),
) {
    each_mut(route, "rules", |rule| {
        each_mut(rule, "backendRefs", |backend| {
            if is_default_backend(scene, backend) {
                change(backend);
            }
        });
    });
}

fn after_templates(scene: &Scene<'_>, spec: &mut Node) -> Result<(), Failure> {
    super::claims::devices(scene, spec);
    let refs = spec.at(&["router", "gateway", "refs"]).map(Node::items).unwrap_or_default();
    // The user's gateways replace those of the shipped route.
    let parents: Vec<Node> = refs.iter().map(parent).collect();
    let scheduler = spec.at(&["router", "scheduler"]).is_some();
    let pool = text_at(spec, &["router", "scheduler", "pool", "ref", "name"]).map(EcoString::from);
    if let Some(route) = at_mut(spec, &["router", "route", "http", "spec"]) {
        if !parents.is_empty() {
            put(route, "parentRefs", Node::list(parents, BY));
        }
        // Without an endpoint picker no pool exists: the route leads to the Service of the pods.
        if !scheduler {
            let service = scene.child("-kserve-workload-svc");
            each_default_backend(scene, route, |backend| {
                put(backend, "group", Node::str("", BY));
                put(backend, "kind", Node::str("Service", BY));
                put(backend, "name", Node::str(service.clone(), BY));
            });
        } else if let Some(pool) = pool {
            each_default_backend(scene, route, |backend| {
                put(backend, "name", Node::str(pool.clone(), BY));
            });
        }
    }
    scheduler_config(scene, spec)?;
    if let Some(picker) =
        at_mut(spec, &["router", "scheduler", "pool", "spec", "endpointPickerRef"])
    {
        let number = picker.at(&["port", "number"]).and_then(Node::as_int).unwrap_or(0);
        // The API requires a port for a Service; other kinds need none.
        if number == 0 && matches!(text(picker, "kind"), "Service" | "") {
            put(picker, "port", mapping([("number", Node::int(9002, BY))], BY));
        }
    }
    Ok(())
}

/// A gateway that the service names, as the parent of its route.
fn parent(reference: &Node) -> Node {
    let mut node = mapping(
        [("group", Node::str("gateway.networking.k8s.io", BY)), ("kind", Node::str("Gateway", BY))],
        BY,
    );
    for key in ["namespace", "name", "sectionName"] {
        if let Some(value) = reference.get(key)
            // An empty namespace would be a namespace of that name; none is the route's own.
            && (key != "namespace" || value.as_str() != Some(""))
        {
            put(&mut node, key, value.clone());
        }
    }
    node
}

/// The text of the ConfigMap that has the scheduler's configuration takes the place of the
/// reference.
fn scheduler_config(scene: &Scene<'_>, spec: &mut Node) -> Result<(), Failure> {
    let Some(config) = at_mut(spec, &["router", "scheduler", "config"]) else { return Ok(()) };
    let Some(reference) = config.get("ref").cloned() else { return Ok(()) };
    let name = text(&reference, "name");
    // `epp` is the controller's default key.
    let key = Some(text(&reference, "key")).filter(|key| !key.is_empty()).unwrap_or("epp");
    let object = scene.find("ConfigMap", name);
    let found = object.or_else(|| {
        // Only ConfigMaps with this prefix are looked up in the controller's namespace.
        let shared = name.starts_with("config-scheduler-");
        scene.catalog.other("ConfigMap", scene.system(), name).filter(|_| shared)
    });
    let Some(data) = found.and_then(|found| found.node.at(&["data", key])) else {
        let (namespace, named) = found.map_or(("", ""), |found| {
            let namespace = found.id.scope.namespace().map_or("", EcoString::as_str);
            (namespace, found.id.name.as_str())
        });
        let failure = scene.failure(format!(
            "failed to combine base-configurations: ConfigMap {namespace}/{named} doesn't have key \"{key}\" in data"
        ));
        let help = match found {
            Some(_) => format!("add the key `{key}` to the ConfigMap `{name}`"),
            None => format!(
                "the ConfigMap `{name}` of namespace {} was not read: load it with `-f`",
                scene.namespace()
            ),
        };
        return Err(Failure {
            span: reference.origin.span().or(failure.span),
            help: Some(help),
            ..failure
        });
    };
    let data = data.clone();
    put(config, "inline", data);
    take(config, "ref");
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::ome;

    /// Required fields of a pool have `omitempty` in Go, so that a part of one overrides no other.
    #[test]
    fn a_part_of_a_pool_overrides_nothing_else() {
        let config = |name: &str, spec: &str| {
            format!(
                "---\napiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {{name: {name}, namespace: kserve}}\nspec: {spec}\n"
            )
        };
        let containers = "template: {containers: [{name: main, image: i}]}";
        let pool = "endpointPickerRef: {name: shipped-picker, port: {number: 9002}}, selector: {matchLabels: {a: b}}, targetPorts: [{number: 8000}]";
        let input = config("kserve-config-llm-template", &format!("{{{containers}}}"))
            + &config(
                "kserve-config-llm-scheduler",
                &format!("{{router: {{scheduler: {{pool: {{spec: {{{pool}}}}}, {containers}}}}}}}"),
            )
            + &config(
                "part",
                "{router: {scheduler: {pool: {spec: {endpointPickerRef: {group: ''}}}}}}",
            )
            + "---\napiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: a, namespace: kserve}\nspec: {model: {uri: 'hf://a/b'}, router: {scheduler: {}}, baseRefs: [{name: part}]}\n";
        let ran = ome("render -o json", &input);
        assert!(ran.out.contains("shipped-picker"), "{}{}", ran.out, ran.err);
        assert!(!ran.err.contains("the merged configuration is refused"), "{}", ran.err);
    }
}
