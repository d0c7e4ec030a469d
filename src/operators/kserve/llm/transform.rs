//! The scheduler's configuration in the form that the version of its image reads
//! (pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerTransform).
//!
//! In: the arguments of the scheduler's containers and the version in an annotation. Out: the
//! arguments with plugins renamed, split and added. A text that is no mapping with a `kind` stays
//! as it is.

use super::names_of_plugins::{TEXT_FLAGS, parsed};
use super::rules::SCHEDULER_CONFIG;
use super::scene::{MAIN, at_mut, put, take};
use crate::merge::edit::{each_mut, list_mut, map_mut, mapping, position, text};
use crate::yaml::{self, Map, Node, Origin, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

const BY: Origin = Origin::Derived(&SCHEDULER_CONFIG);
pub(super) const PREFIX_SCORER: &str = "prefix-cache-scorer";
pub(super) const PRECISE_SCORER: &str = "precise-prefix-cache-scorer";
const PRECISE_PRODUCER: &str = "precise-prefix-cache-producer";
const TOKENS: &str = "token-producer";
const EXTRACTOR: &str = "model-server-protocol-metrics";
const RENAMED_EXTRACTOR: &str = "core-metrics-extractor";
const DATA_SOURCE: &str = "metrics-data-source";
/// Where a tokenizer finds the model.
const TOKENIZED: &str = "/mnt/models/base";
/// Flags of metrics, each with the field that it became.
const METRICS: [(&str, &str); 5] = [
    ("total-queued-requests-metric", "queuedRequestsSpec"),
    ("total-running-requests-metric", "runningRequestsSpec"),
    ("kv-cache-usage-percentage-metric", "kvUsageSpec"),
    ("lora-info-metric", "loraSpec"),
    ("cache-info-metric", "cacheInfoSpec"),
];
const SCHEME: &str = "model-server-metrics-scheme";
const PATH: &str = "model-server-metrics-path";
const PORT: &str = "model-server-metrics-port";
const SKIP_VERIFY: &str = "model-server-metrics-https-insecure-skip-verify";
const SERVER_METRICS: [&str; 4] = [SCHEME, PATH, PORT, SKIP_VERIFY];

/// A version as the controller compares it.
fn version(text: &str) -> Option<[u64; 3]> {
    // A pre-release counts as its release, in contrast to semver.
    let core = text.split(['-', '+']).next()?;
    let mut parts = core.split('.').map(str::parse::<u64>);
    let version = [parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?];
    parts.next().is_none().then_some(version)
}

/// Whether the configuration is a text among the arguments of the main container.
fn writable(pod: &Node) -> bool {
    let main = pod.items_of("containers").iter().find(|container| text(container, "name") == MAIN);
    main.is_some_and(|main| {
        let args = main.items_of("args");
        // The last argument cannot be followed by a text.
        args.iter().take(args.len().saturating_sub(1)).any(is_text_flag)
    })
}

fn is_text_flag(argument: &Node) -> bool {
    argument.as_str().is_some_and(|argument| TEXT_FLAGS.contains(&argument))
}

/// The name of a flag and its value, when it has one.
fn flag(argument: &str) -> (&str, Option<&str>) {
    let name = argument.trim_start_matches('-');
    name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)))
}

/// Takes flags out of a list of arguments.
fn taken(container: &mut Node, key: &str, names: &[&str]) -> BTreeMap<String, (String, Origin)> {
    let mut found = BTreeMap::new();
    let items = container.items_of(key).to_vec();
    // Most containers have none of the flags: their list stays as it is shared.
    if !items.iter().any(|node| node.as_str().is_some_and(|name| names.contains(&flag(name).0))) {
        return found;
    }
    let mut kept = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let argument = items[at].as_str().unwrap_or_default();
        let (name, value) = flag(argument);
        if names.contains(&name) {
            let mut value = value.unwrap_or_default().to_owned();
            let next = items.get(at + 1).and_then(Node::as_str);
            // A value that begins with a dash is the next flag.
            if let Some(next) = next.filter(|next| value.is_empty() && !next.starts_with('-')) {
                next.clone_into(&mut value);
                at += 1;
            }
            found.insert(name.to_owned(), (value, items[at].origin));
        } else {
            kept.push(items[at].clone());
        }
        at += 1;
    }
    if let Some(list) = list_mut(container, key, BY) {
        *list = kept.into_iter().collect();
    }
    found
}

/// Changes the configuration in the arguments of the main container.
pub(super) fn mutate(pod: &mut Node, change: &mut dyn FnMut(&mut Node)) {
    let mut first = true;
    each_mut(pod, "containers", |container| {
        if !first || text(container, "name") != MAIN {
            return;
        }
        first = false;
        let args = container.items_of("args");
        let places: Vec<usize> =
            (1..args.len()).filter(|index| is_text_flag(&args[index - 1])).collect();
        for place in places {
            let written = container.items_of("args")[place].clone();
            let Some(mut config) = written.as_str().and_then(parsed) else { return };
            // Not a configuration: a text without `kind` is left to the scheduler to refuse.
            if text(&config, "kind").is_empty() {
                return;
            }
            change(&mut config);
            // The controller decodes into a map, so the order of the text is lost.
            sorted(&mut config);
            let mut out = String::new();
            yaml::write(&mut out, &config);
            if let Some(list) = list_mut(container, "args", BY) {
                list.make_mut()[place] = Node::str(out, written.origin);
            }
        }
    });
}

/// Go writes the keys of a mapping in their order.
fn sorted(node: &mut Node) {
    match &mut node.value {
        Value::Map(map) => {
            map.sort();
            map.iter_mut().for_each(|entry| sorted(&mut entry.node));
        }
        Value::List(items) => items.make_mut().iter_mut().for_each(sorted),
        _ => {}
    }
}

/// Changes every plugin of a type.
pub(super) fn each_plugin(config: &mut Node, types: &[&str], mut change: impl FnMut(&mut Node)) {
    each_mut(config, "plugins", |plugin| {
        if types.contains(&text(plugin, "type")) {
            change(plugin);
        }
    });
}

fn rename(config: &mut Node, old: &str, new: &'static str) {
    let set = |node: &mut Node, key: &str| {
        if text(node, key) == old {
            put(node, key, Node::str(new, BY));
        }
    };
    each_mut(config, "plugins", |plugin| {
        set(plugin, "type");
        set(plugin, "name");
    });
    each_mut(config, "schedulingProfiles", |profile| {
        each_mut(profile, "plugins", |reference| set(reference, "pluginRef"));
    });
}

/// A number of characters as a number of tokens, four characters each.
fn tokens(threshold: &Node) -> i64 {
    let number = match &threshold.value {
        Value::Float(number) => Some(*number),
        _ => threshold.scalar_text().and_then(|text| text.parse::<f64>().ok()),
    };
    #[expect(clippy::cast_possible_truncation, reason = "rounded, and Go converts alike")]
    number.map_or(1, |number| ((number / 4.0).ceil() as i64).max(1))
}

/// Deciders of a profile handler are plugins of their own.
fn deciders(config: &mut Node) {
    let mut added: Vec<(EcoString, Node)> = Vec::new();
    let mut handler = None;
    let mut at = 0;
    each_mut(config, "plugins", |plugin| {
        let place = at;
        at += 1;
        if !matches!(text(plugin, "type"), "disagg-profile-handler" | "pd-profile-handler") {
            return;
        }
        handler.get_or_insert(place);
        let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
        // Written for the new form already.
        if parameters.as_map().is_some_and(|map| map.contains_key("deciders")) {
            return;
        }
        let decider = |name: Node| mapping([("prefill", name)], BY);
        // The name wins over the threshold, which then has no effect.
        if let Some(name) = parameters.get("deciderPluginName").cloned() {
            put(parameters, "deciders", decider(name));
            take(parameters, "deciderPluginName");
            take(parameters, "threshold");
            return;
        }
        let Some(threshold) = parameters.get("threshold").cloned() else { return };
        take(parameters, "threshold");
        let zero = threshold.scalar_text().is_some_and(|text| text == "0");
        let (name, plugin) = if zero {
            let name = "always-disagg-pd-decider";
            (name, mapping([("type", Node::str(name, BY))], BY))
        } else {
            let name = "prefix-based-pd-decider";
            let count = Node::int(tokens(&threshold), threshold.origin);
            let parameters = mapping([("nonCachedTokens", count)], BY);
            (name, mapping([("type", Node::str(name, BY)), ("parameters", parameters)], BY))
        };
        put(parameters, "deciders", decider(Node::str(name, BY)));
        added.push((name.into(), plugin));
    });
    let Some(handler) = handler.filter(|_| !added.is_empty()) else { return };
    if let Some(list) = list_mut(config, "plugins", BY) {
        let mut place = handler;
        for (name, plugin) in added {
            // A decider that is listed is not added twice.
            if position(list, "type", &name).is_none() {
                list.insert(place, plugin);
                place += 1;
            }
        }
    }
}

fn remove_parameter(config: &mut Node, key: &str) {
    each_mut(config, "plugins", |plugin| {
        if let Some(parameters) = at_mut(plugin, &["parameters"]) {
            take(parameters, key);
        }
    });
}

fn add_plugin(config: &mut Node, plugin: Node) {
    if let Some(list) = list_mut(config, "plugins", BY) {
        list.push(plugin);
    }
}

fn has_type(config: &Node, types: &[&str]) -> bool {
    config.items_of("plugins").iter().any(|plugin| types.contains(&text(plugin, "type")))
}

/// Flags of metrics as a plugin.
fn extractor(config: &mut Node, flags: &BTreeMap<String, (String, Origin)>) {
    // A plugin of the user has its own metrics: the flags are dropped.
    if flags.is_empty() || has_type(config, &[EXTRACTOR, RENAMED_EXTRACTOR]) {
        return;
    }
    let mut engine = mapping([("name", Node::str("vllm", BY))], BY);
    for (name, field) in METRICS {
        if let Some((value, origin)) = flags.get(name) {
            put(&mut engine, field, Node::str(value.as_str(), *origin));
        }
    }
    let parameters = mapping(
        [
            ("engineLabelKey", Node::str("inference.networking.k8s.io/engine-type", BY)),
            ("defaultEngine", Node::str("vllm", BY)),
            ("engineConfigs", Node::list([engine], BY)),
        ],
        BY,
    );
    let plugin = [
        ("name", Node::str(EXTRACTOR, BY)),
        ("type", Node::str(EXTRACTOR, BY)),
        ("parameters", parameters),
    ];
    add_plugin(config, mapping(plugin, BY));
}

/// The scorer of whole prefixes as a producer of tokens, one of matches, and a scorer.
fn decompose(config: &mut Node, url: &str) {
    let plugins = config.items_of("plugins").to_vec();
    let Some(index) = position(&plugins, "type", PRECISE_SCORER) else { return };
    let mut producer = mapping([("type", Node::str(PRECISE_PRODUCER, BY))], BY);
    if let Some(parameters) = producer_parameters(&plugins[index]) {
        put(&mut producer, "parameters", parameters);
    }
    let reference = mapping([("prefixMatchInfoProducerName", Node::str(PRECISE_PRODUCER, BY))], BY);
    let scorer = [("type", Node::str(PREFIX_SCORER, BY)), ("parameters", reference)];
    let mut first = mapping([("type", Node::str(TOKENS, BY))], BY);
    token_parameters(&mut first, url);
    let added = [first, producer, mapping(scorer, BY)];
    // The scorer of plain prefixes goes as well: its name is the new scorer's.
    let mut rest: Vec<Node> = plugins
        .into_iter()
        .enumerate()
        .filter(|(place, plugin)| *place != index && text(plugin, "type") != PREFIX_SCORER)
        .map(|(_, plugin)| plugin)
        .collect();
    let place = index.min(rest.len());
    rest.splice(place..place, added);
    put(config, "plugins", Node::list(rest, BY));
    each_mut(config, "schedulingProfiles", |profile| {
        each_mut(profile, "plugins", |reference| {
            if text(reference, "pluginRef") == PRECISE_SCORER {
                put(reference, "pluginRef", Node::str(PREFIX_SCORER, BY));
            }
        });
        // Both old scorers of a profile now have one name, and a profile may list it once.
        let mut seen = false;
        if let Some(list) = at_mut(profile, &["plugins"]).and_then(Node::as_list_mut) {
            list.retain(|reference| {
                let again = text(reference, "pluginRef") == PREFIX_SCORER;
                let keep = !(again && seen);
                seen |= again;
                keep
            });
        }
    });
}

/// Parameters of the old scorer without those of its tokenizer.
fn producer_parameters(plugin: &Node) -> Option<Node> {
    let parameters = plugin.get("parameters").filter(|parameter| !parameter.is_empty())?;
    let mut kept = Map::new();
    for entry in parameters.entries() {
        if entry.key != "indexerConfig" {
            kept.insert_entry(entry.clone());
            continue;
        }
        let mut cleaned = Map::new();
        for inner in entry.node.entries() {
            match inner.key.as_str() {
                "tokenizersPoolConfig" => {}
                "tokenProcessorConfig" => {
                    // A value at the new place wins over the old one.
                    if parameters.get("tokenProcessorConfig").is_none() {
                        kept.insert_entry(inner.clone());
                    }
                }
                _ => cleaned.insert_entry(inner.clone()),
            }
        }
        if entry.node.as_map().is_some() && !cleaned.is_empty() {
            kept.insert("indexerConfig", Node::new(Value::Map(cleaned), entry.node.origin));
        }
    }
    (!kept.is_empty()).then(|| Node::new(Value::Map(kept), parameters.origin))
}

/// The model and the tokenizer's address of a producer of tokens.
fn token_parameters(plugin: &mut Node, url: &str) {
    if map_mut(plugin, "parameters", BY).is_none() {
        return;
    }
    let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
    let has = |node: &Node, key: &str| node.as_map().is_some_and(|map| map.contains_key(key));
    if !has(parameters, "modelName") {
        put(parameters, "modelName", Node::str(TOKENIZED, BY));
    }
    if let Some(server) = map_mut(parameters, "vllm", BY)
        && !server.contains_key("url")
    {
        server.insert("url", Node::str(url, BY));
    }
}

/// Brings the scheduler's configuration into the form of its version. `tokenizer` is the address
/// of the service's tokenizer, when it has one.
///
/// # Errors
/// The controller's, when the version is none, or flags would have to move into a configuration
/// that is no text.
pub(super) fn transform(
    pod: &mut Node,
    stated: Option<&str>,
    tokenizer: Option<&str>,
    what: &str,
) -> Result<(), String> {
    // Without a version nothing is migrated.
    let stated = stated.filter(|text| !text.is_empty()).unwrap_or("0.0.0");
    let Some(version) = version(stated) else {
        return Err(format!(
            "failed to apply scheduler migrations: failed to parse version \"{stated}\""
        ));
    };
    if version < [0, 7, 0] {
        return Ok(());
    }
    let writable = writable(pod);
    let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
    let has_metrics = pod.items_of("containers").iter().any(|container| {
        let args = container.items_of("args").iter().filter_map(Node::as_str);
        args.into_iter().any(|argument| names.contains(&flag(argument).0))
    });
    // Flags that were taken out would be lost.
    if !writable && has_metrics {
        return Err(format!(
            "failed to apply scheduler migrations: scheduler deployment {what} uses deprecated metric flags but has no inline --config-text; automatic migration to core-metrics-extractor plugin is not possible — convert to --config-text or remove the deprecated flags manually"
        ));
    }
    let mut metrics = BTreeMap::new();
    if writable {
        each_mut(pod, "containers", |container| {
            // Metrics are read from arguments only, server flags also from commands.
            let found = taken(container, "args", &names);
            if !found.is_empty() {
                metrics = found;
            }
        });
    }
    let mut source = None;
    if version >= [0, 10, 0] {
        let mut found = BTreeMap::new();
        each_mut(pod, "containers", |container| {
            found.extend(taken(container, "command", &SERVER_METRICS));
            found.extend(taken(container, "args", &SERVER_METRICS));
        });
        // The plugin has no field for the port.
        found.remove(PORT);
        if !found.is_empty() {
            if !writable {
                let flags: Vec<String> = found.keys().map(|name| format!("--{name}")).collect();
                return Err(format!(
                    "failed to apply scheduler migrations: scheduler deployment {what} sets deprecated {} but has no inline --config-text; automatic migration to the metrics-data-source plugin is not possible — convert to --config-text or remove the flags manually",
                    flags.join(", ")
                ));
            }
            source = Some(source_parameters(&found)?).filter(|node| !node.is_empty());
        }
    }
    let mut dropped = false;
    mutate(pod, &mut |config| {
        rename(config, "prefill-header-handler", "disagg-headers-handler");
        rename(config, "pd-profile-handler", "disagg-profile-handler");
        deciders(config);
        remove_parameter(config, "hashBlockSize");
        if writable {
            extractor(config, &metrics);
        }
        // After the extractor was added, under the name of the version before.
        if version >= [0, 8, 0] {
            rename(config, EXTRACTOR, RENAMED_EXTRACTOR);
        }
        if version >= [0, 9, 0] {
            each_plugin(config, &[PREFIX_SCORER], |plugin| {
                let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
                let Some(map) = parameters.as_map_mut() else { return };
                map.retain(|entry| entry.key == "prefixMatchInfoProducerName");
                if map.is_empty() {
                    take(plugin, "parameters");
                }
            });
            dropped |= config.get("plugins").is_some() && !has_type(config, &[PRECISE_SCORER]);
            if text(config, "apiVersion") == "inference.networking.x-k8s.io/v1alpha1" {
                put(config, "apiVersion", Node::str("llm-d.ai/v1alpha1", BY));
            }
            if let Some(url) = tokenizer {
                decompose(config, url);
                each_plugin(config, &[TOKENS], |plugin| token_parameters(plugin, url));
            }
        }
        if let Some(parameters) = &source
            && !has_type(config, &[DATA_SOURCE])
        {
            let plugin = [("type", Node::str(DATA_SOURCE, BY)), ("parameters", parameters.clone())];
            add_plugin(config, mapping(plugin, BY));
        }
    });
    // Without the precise scorer no plugin asks the tokenizer in the pod.
    if dropped
        && let Some(list) = at_mut(pod, &["containers"]).and_then(Node::as_list_mut)
        && let Some(index) = position(list, "name", "tokenizer")
    {
        list.remove(index);
    }
    Ok(())
}

/// Flags of the model server's metrics as parameters of a plugin.
fn source_parameters(found: &BTreeMap<String, (String, Origin)>) -> Result<Node, String> {
    let mut parameters = Node::map(BY);
    for (name, key) in [(SCHEME, "scheme"), (PATH, "path")] {
        if let Some((value, origin)) = found.get(name).filter(|(value, _)| !value.is_empty()) {
            put(&mut parameters, key, Node::str(value.as_str(), *origin));
        }
    }
    if let Some((value, origin)) = found.get(SKIP_VERIFY) {
        let skip = match value.as_str() {
            "" | "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
            "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
            _ => {
                return Err(format!(
                    "failed to apply scheduler migrations: invalid value \"{value}\" for --{SKIP_VERIFY}"
                ));
            }
        };
        put(&mut parameters, "insecureSkipVerify", Node::bool(skip, *origin));
    }
    Ok(parameters)
}
