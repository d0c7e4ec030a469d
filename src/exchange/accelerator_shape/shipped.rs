//! Conversion from the fields of OEP-0003 to those of the CRDs.

use super::{CLASS, ORIGIN, Reshaped, STRATEGY, Shaper, TERMS, by_kind, crd_limits, texts};
use crate::api::{Figure, Object, Semantics};
use crate::cluster::{kubernetes_terms, pinned};
use crate::operators::ome::read::accelerator::memory;
use crate::operators::ome::read::current_formats;
use crate::yaml::{Entry, Map, Node, Value};
use ecow::{EcoString, eco_format};

/// An object of OME in the form that a server with the shipped definitions accepts.
pub fn to_shipped(object: &Object) -> Reshaped {
    by_kind(object, class, runtime, service, crd_limits::mend)
}

fn class(shaper: &mut Shaper<'_>) {
    // Some examples of the documents have the selector beside `discovery`.
    if let Some(selector) = shaper.take(&["spec", "nodeSelector"]) {
        shaper.put(&["spec", "discovery", "nodeSelector"], selector);
    }
    if let Some(terms) = shaper.take(&["spec", "discovery", "nodeSelectorTerms"]) {
        let mut terms = terms;
        if let Some(selector) = shaper.get(&["spec", "discovery", "nodeSelector"]).cloned() {
            // The proposal requires either of them, the shipped format both.
            let pinned = pinned(Some(&selector), Some(&terms));
            terms = pinned.terms.unwrap_or(terms);
            shaper.take(&["spec", "discovery", "nodeSelector"]);
            if let Some(kept) = pinned.selector {
                let why = "the shipped class requires its selector and its affinity, the proposal either of them: nodes that match the terms alone are lost";
                shaper.lose("spec.discovery.nodeSelector", selector.origin, why);
                shaper.put(&["spec", "discovery", "nodeSelector"], kept);
            }
        }
        let path: Vec<&str> = ["spec", "discovery"].into_iter().chain(TERMS).collect();
        if shaper.get(&path).is_some() {
            shaper.lose(
                "spec.discovery.nodeSelectorTerms",
                terms.origin,
                "the class has a required node affinity already, which stays",
            );
        } else {
            shaper.put(&path, kubernetes_terms(&terms));
        }
    }
    let capabilities = ["spec", "capabilities"];
    shaper.rename(&capabilities, "minComputeCapability", "computeCapability");
    shaper.rename(&capabilities, "requiredFeatures", "features");
    if let Some(stated) = shaper.get(&["spec", "capabilities", "memoryGB"]).cloned()
        // `80` is 80 GiB in the proposal and 80 bytes for the controller.
        && let Some(text) = unitless(&stated)
    {
        shaper.put(&["spec", "capabilities", "memoryGB"], Node::str(text, stated.origin));
    }
    let name = [
        "memoryGB",
        "computeCapability",
        "levelZeroVersion",
        "clockSpeedMHz",
        "memoryBandwidthGBps",
        "features",
        "performance",
    ];
    let unknown: Vec<EcoString> = shaper
        .get(&capabilities)
        .map(Node::entries)
        .into_iter()
        .flatten()
        .map(|entry| entry.key.clone())
        .collect();
    for key in unknown.iter().filter(|key| !name.contains(&key.as_str())) {
        shaper.drop(
            &["spec", "capabilities", key.as_str()],
            "the shipped class has no such capability",
        );
    }
    let figures: Vec<Entry> = shaper
        .get(&["spec", "capabilities", "performance"])
        .map(Node::entries)
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    for entry in figures {
        let Some(figure) = Figure::ALL
            .into_iter()
            // Figures that are spelled alike stay where they are.
            .find(|figure| entry.key == figure.proposed_key() && entry.key != figure.shipped_key())
        else {
            continue;
        };
        shaper.take(&["spec", "capabilities", "performance", &entry.key]);
        let path = format!("spec.capabilities.performance.{}", entry.key);
        if figure == Figure::Fp8 {
            shaper.lose(
                path,
                entry.node.origin,
                "the shipped class has no figure for fp8; the controller takes that of int8",
            );
            continue;
        }
        let number = entry.node.scalar_text().and_then(|text| text.parse::<f64>().ok());
        let whole = if let Value::Int(_) = &entry.node.value {
            entry.node.clone()
        } else if let Some(number) = number {
            if number.fract() != 0.0 {
                shaper.lose(
                    path,
                    entry.node.origin,
                    format!("the shipped class has whole figures: {number} is rounded down"),
                );
            }
            #[expect(clippy::cast_possible_truncation, reason = "figures are small")]
            // Down, as a figure is a promise.
            Node::int(number.floor() as i64, entry.node.origin)
        } else {
            shaper.lose(path, entry.node.origin, "this is no figure");
            continue;
        };
        shaper.put(&["spec", "capabilities", "performance", figure.shipped_key()], whole);
    }
}

/// Memory without a unit, with the unit `Gi` added: it is GiB in the proposal and bytes as shipped.
fn unitless(node: &Node) -> Option<EcoString> {
    let text = node.scalar_text()?;
    let (proposed, shipped) =
        (memory(&text, Semantics::Documented)?, memory(&text, Semantics::Controller)?);
    (proposed != shipped).then(|| eco_format!("{text}Gi"))
}

/// Converts minimums of the proposal to those of the shipped format, at the path `to`.
fn minimums(shaper: &mut Shaper<'_>, from: &[&str], to: &[&str], read: bool) {
    let Some(required) = shaper.take(from) else { return };
    let path = from.join(".");
    for entry in required.entries().filter(|entry| !entry.node.is_null()) {
        let (key, value) = match entry.key.as_str() {
            "memoryGB" => {
                let Some(memory) =
                    entry.node.scalar_text().and_then(|text| memory(&text, Semantics::Documented))
                else {
                    shaper.lose(
                        format!("{path}.memoryGB"),
                        entry.node.origin,
                        "this is no amount of memory",
                    );
                    continue;
                };
                // Up, as a minimum must not let a smaller device pass.
                let gib = i64::try_from(memory.gib_rounded_up()).unwrap_or(i64::MAX);
                if memory.whole_gib() != memory.gib_rounded_up() {
                    shaper.lose(
                        format!("{path}.memoryGB"),
                        entry.node.origin,
                        format!("whole GiB alone: rounded up to {gib}"),
                    );
                }
                ("minMemory", Node::int(gib, entry.node.origin))
            }
            "computeCapability" | "minComputeCapability" => {
                let text = entry.node.scalar_text().unwrap_or_default();
                ("minArchitectureVersion", Node::str(text, entry.node.origin))
            }
            "features" | "requiredFeatures" => ("requiredFeatures", entry.node.clone()),
            other => {
                shaper.lose(
                    format!("{path}.{other}"),
                    entry.key_origin,
                    "the shipped shape has no such minimum",
                );
                continue;
            }
        };
        if !read {
            shaper.lose(
                format!("{path}.{}", entry.key),
                entry.key_origin,
                format!("written as `{key}`, which v0.1.5 declares and does not read"),
            );
        } else if key == "minArchitectureVersion" {
            shaper.lose(
                format!("{path}.{}", entry.key),
                entry.key_origin,
                "the controller compares versions as texts: 10.0 is below 9.0",
            );
        }
        let target: Vec<&str> = to.iter().copied().chain([key]).collect();
        shaper.put(&target, value);
    }
}

fn runtime(shaper: &mut Shaper<'_>) {
    if let Some(spec) = current_formats(&shaper.node) {
        shaper.put(&["spec"], spec);
    }
    let requirements = ["spec", "acceleratorRequirements"];
    if let Some(supported) = shaper.get(&["spec", "acceleratorRequirements", "supportedClasses"]) {
        let globs: Vec<Node> = supported
            .items()
            .iter()
            // They are reported and stay: removing the last name would allow every class.
            .filter(|name| name.as_str().is_some_and(|name| name.contains(['*', '?'])))
            .cloned()
            .collect();
        for name in globs {
            let text = name.scalar_text().unwrap_or_default();
            shaper.lose(
                "spec.acceleratorRequirements.supportedClasses",
                name.origin,
                format!("`{text}`: the shipped list has names alone"),
            );
        }
    }
    shaper.rename(&requirements, "supportedClasses", "acceleratorClasses");
    // Kept for the remark below: `minimums` takes the field.
    let required =
        shaper.get(&["spec", "acceleratorRequirements", "requiredCapabilities"]).cloned();
    minimums(
        shaper,
        &["spec", "acceleratorRequirements", "requiredCapabilities"],
        &requirements,
        false,
    );
    if let Some(required) = required
        && shaper.get(&["spec", "acceleratorRequirements", "acceleratorClasses"]).is_none()
    {
        let why = "without acceleratorClasses the controller chooses no class: list those that meet the requirements";
        shaper.lose("spec.acceleratorRequirements.requiredCapabilities", required.origin, why);
    }
    shaper.drop(
        &["spec", "acceleratorRequirements", "preferenceOrder"],
        "the shipped shape has no preferences: the order of acceleratorClasses counts for FirstAvailable alone",
    );
    shaper.prune(&requirements);
    for holder in [&["spec"][..], &["spec", "engineConfig"], &["spec", "decoderConfig"]] {
        let keys: Vec<&str> = holder.iter().copied().chain(["acceleratorConfigurations"]).collect();
        let Some(list) = shaper.take(&keys) else { continue };
        if holder.len() > 1 {
            shaper.lose(
                keys.join("."),
                list.origin,
                "acceleratorConfig holds for engine and decoder alike",
            );
        }
        for (index, entry) in list.items().iter().enumerate() {
            configuration(shaper, &format!("{}[{index}]", keys.join(".")), entry);
        }
    }
}

/// Converts one configuration, for every format of the runtime.
fn configuration(shaper: &mut Shaper<'_>, path: &str, entry: &Node) {
    let classes = classes_of(shaper, path, entry);
    let (variables, args) = runner(shaper, path, entry);
    for part in
        entry.entries().filter(|part| !matches!(part.key.as_str(), "selector" | "env" | "runner"))
    {
        shaper.lose(
            format!("{path}.{}", part.key),
            part.key_origin,
            "acceleratorConfig sets variables and arguments alone",
        );
    }
    if !variables.is_empty() {
        shaper.lose(format!("{path}.env"), entry.origin, "environmentOverride wins over the service's own value; in the proposal the service wins");
    }
    if !args.is_empty() {
        let why = "runtimeArgsOverride replaces flags of the same name and is applied beside a command too; in the proposal arguments are appended";
        shaper.lose(format!("{path}.runner.args"), entry.origin, why);
    }
    let count =
        shaper.get(&["spec", "supportedModelFormats"]).map_or(0, |formats| formats.items().len());
    // Without a format there is no place for the entry.
    if count == 0 && !classes.is_empty() {
        shaper.lose(
            path,
            entry.origin,
            "acceleratorConfig belongs to a model format, and the runtime lists none",
        );
    }
    let Some(formats) = shaper.node.as_map_mut().and_then(|map| {
        map.get_mut("spec")?.as_map_mut()?.get_mut("supportedModelFormats")?.as_list_mut()
    }) else {
        return;
    };
    // Every format gets the entry: the proposed configuration is that of the runtime, and a runtime
    // serves one of its formats at a time.
    for format in formats.make_mut() {
        for name in classes.iter().filter_map(Node::scalar_text) {
            if let Some(config) = config_of(format, &name) {
                extend(config, &variables, &args);
            }
        }
    }
}

/// The classes that an entry selects by name.
fn classes_of(shaper: &mut Shaper<'_>, path: &str, entry: &Node) -> Vec<Node> {
    let mut classes: Vec<Node> = Vec::new();
    for part in entry.get("selector").map(Node::entries).into_iter().flatten() {
        match part.key.as_str() {
            "acceleratorClass" | "acceleratorClasses" => classes.extend(texts(&part.node)),
            other => shaper.lose(
                format!("{path}.selector.{other}"),
                part.key_origin,
                "acceleratorConfig goes by the names of classes alone",
            ),
        }
    }
    // A glob also takes classes that come later, which entries by name cannot.
    classes.retain(|name| {
        let glob = name.as_str().is_none_or(|name| name.contains(['*', '?']));
        if glob {
            let text = name.scalar_text().unwrap_or_default();
            shaper.lose(
                format!("{path}.selector"),
                name.origin,
                format!("`{text}`: acceleratorConfig goes by the names of classes alone"),
            );
        }
        !glob
    });
    classes
}

/// The variables and arguments of an entry.
fn runner(shaper: &mut Shaper<'_>, path: &str, entry: &Node) -> (Map, Vec<Node>) {
    let (mut variables, mut args) = (Map::new(), Vec::new());
    let runner = entry.get("runner");
    let lists =
        [("env", entry.get("env")), ("runner.env", runner.and_then(|runner| runner.get("env")))];
    for (at, list) in lists {
        // Variables of the runner come second and replace those beside it.
        for variable in list.map(Node::items).unwrap_or_default() {
            let Some(name) = variable.get("name").and_then(Node::scalar_text) else { continue };
            match variable.get("value") {
                Some(value) => variables.insert(name, value.clone()),
                None => shaper.lose(
                    format!("{path}.{at}.{name}"),
                    variable.origin,
                    "environmentOverride holds values alone, no references",
                ),
            }
        }
    }
    for part in runner.map(Node::entries).into_iter().flatten() {
        match part.key.as_str() {
            "args" => args.extend(part.node.items().iter().cloned()),
            "env" => {}
            other => shaper.lose(
                format!("{path}.runner.{other}"),
                part.key_origin,
                "acceleratorConfig sets variables and arguments alone",
            ),
        }
    }
    (variables, args)
}

/// The configuration of a class in a format, which gets one where it has none.
fn config_of<'n>(format: &'n mut Node, class: &str) -> Option<&'n mut Map> {
    let map = format.as_map_mut()?;
    if map.get("acceleratorConfig").is_none_or(|found| found.as_map().is_none()) {
        map.insert("acceleratorConfig", Node::map(ORIGIN));
    }
    let configs = map.get_mut("acceleratorConfig").and_then(Node::as_map_mut)?;
    // A class may have an entry already: it is extended, not replaced.
    if configs.get(class).is_none() {
        configs.insert(class, Node::map(ORIGIN));
    }
    configs.get_mut(class).and_then(Node::as_map_mut)
}

fn extend(config: &mut Map, variables: &Map, args: &[Node]) {
    if !variables.is_empty() {
        let mut by_key =
            config.get("environmentOverride").and_then(Node::as_map).cloned().unwrap_or_default();
        // Of two entries for one class the later one wins, as the proposed list is read in order.
        for variable in variables {
            by_key.insert_entry(variable.clone());
        }
        config.insert("environmentOverride", Node::new(Value::Map(by_key), ORIGIN));
    }
    if !args.is_empty() {
        let written = config.get("runtimeArgsOverride").map(Node::items).unwrap_or_default();
        let all: Vec<Node> = written.iter().chain(args).cloned().collect();
        config.insert("runtimeArgsOverride", Node::list(all, ORIGIN));
    }
}

/// The policy that is closest to a strategy, and what is lost.
fn policy(strategy: &str) -> Option<(&'static str, &'static str)> {
    Some(match strategy {
        "cost" => (
            "Cheapest",
            "Cheapest compares the price of one accelerator, spot first; cost that of a replica",
        ),
        "performance" => (
            "MostCapable",
            "MostCapable weighs memory, bandwidth and power; performance bandwidth and power of the accelerators a replica needs",
        ),
        "balanced" => ("BestFit", "BestFit ranks by free memory and power and has no price"),
        _ => return None,
    })
}

fn service(shaper: &mut Shaper<'_>) {
    let selector = |key: &'static str| ["spec", "acceleratorSelector", key];
    // The annotation has precedence over the selector.
    let annotated = shaper.take(&["metadata", "annotations", STRATEGY]);
    let written = shaper.take(&selector("strategy"));
    for (path, strategy) in [
        (format!("metadata.annotations.{STRATEGY}"), &annotated),
        ("spec.acceleratorSelector.strategy".to_owned(), &written),
    ] {
        let Some(strategy) = strategy else { continue };
        let text = strategy.scalar_text().unwrap_or_default();
        if annotated.is_some() && !path.starts_with("metadata") {
            shaper.lose(path, strategy.origin, "the annotation has another one, which was used");
        } else if let Some((policy, why)) = policy(&text) {
            shaper.put(&selector("policy"), Node::str(policy, strategy.origin));
            shaper.lose(path, strategy.origin, why);
        } else {
            shaper.lose(path, strategy.origin, format!("`{text}` is no strategy"));
        }
    }
    let hard = shaper.get(&["metadata", "annotations", CLASS]).cloned();
    if let Some(preferred) = shaper.take(&selector("preferredClasses")) {
        let names = texts(&preferred);
        match (&hard, names.first()) {
            (Some(class), _) => {
                shaper.lose(
                    "spec.acceleratorSelector.preferredClasses",
                    preferred.origin,
                    format!("the annotation {CLASS} counted"),
                );
                shaper.put(&selector("acceleratorClass"), class.clone());
            }
            (None, Some(first)) => {
                let why = if names.len() == 1 {
                    "a preference becomes a demand"
                } else {
                    "the first preference becomes a demand, the others are lost"
                };
                shaper.lose("spec.acceleratorSelector.preferredClasses", preferred.origin, why);
                shaper.put(&selector("acceleratorClass"), first.clone());
            }
            (None, None) => {}
        }
    } else if let Some(class) = hard {
        shaper.put(&selector("acceleratorClass"), class);
    }
    minimums(shaper, &selector("requiredCapabilities"), &selector("constraints"), true);
    if let Some(labels) = shaper.take(&selector("nodeSelector")) {
        for component in ["engine", "decoder"] {
            let path = ["spec", component, "nodeSelector"];
            // A service without a decoder must not get one; an engine it has in any case.
            if shaper.get(&["spec", component]).is_none() && component == "decoder" {
                continue;
            }
            let mut merged = labels.as_map().cloned().unwrap_or_default();
            // The component's own labels win over those of the selector.
            for entry in shaper.get(&path).map(Node::entries).into_iter().flatten() {
                merged.insert_entry(entry.clone());
            }
            shaper.put(&path, Node::new(Value::Map(merged), labels.origin));
        }
    }
    if let Some(annotations) = shaper.take(&selector("annotations")) {
        for entry in annotations.entries() {
            shaper.lose(
                format!("spec.acceleratorSelector.annotations.{}", entry.key),
                entry.key_origin,
                "not used by any shipped release",
            );
        }
    }
    for key in ["ome.io/cost-threshold", "ome.io/request-size"] {
        shaper.drop(&["metadata", "annotations", key], "not used by any shipped release");
    }
    for component in ["engine", "decoder"] {
        if let Some(class) = shaper.take(&["spec", component, "annotations", CLASS]) {
            shaper.put(&["spec", component, "acceleratorOverride", "acceleratorClass"], class);
        }
        if let Some(strategy) = shaper.take(&["spec", component, "annotations", STRATEGY]) {
            let path = format!("spec.{component}.annotations.{STRATEGY}");
            match policy(&strategy.scalar_text().unwrap_or_default()) {
                Some((policy, why)) => {
                    shaper.put(
                        &["spec", component, "acceleratorOverride", "policy"],
                        Node::str(policy, strategy.origin),
                    );
                    shaper.lose(path, strategy.origin, why);
                }
                None => shaper.lose(path, strategy.origin, "this is no strategy"),
            }
        }
        shaper.prune(&["spec", component, "annotations"]);
        shaper
            .drop(&["spec", component, "acceleratorConfigurations"], "a service cannot configure accelerators as shipped: write what the engine needs itself");
    }
    shaper.prune(&["metadata", "annotations"]);
    shaper.prune(&["spec", "acceleratorSelector"]);
}
