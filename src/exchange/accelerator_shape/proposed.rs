//! Conversion from the fields of the CRDs to those of OEP-0003.

use super::{CLASS, ORIGIN, Reshaped, STRATEGY, Shaper, TERMS, by_kind, mapping};
use crate::api::{Figure, Object};
use crate::yaml::{Entry, Node};
use ecow::eco_format;

/// An AcceleratorClass, a runtime or a service in the format that OEP-0003 proposes.
pub fn to_proposed(object: &Object) -> Reshaped {
    by_kind(object, class, runtime, service, |_| {})
}

fn class(shaper: &mut Shaper<'_>) {
    let path: Vec<&str> = ["spec", "discovery"].into_iter().chain(TERMS).collect();
    if let Some(terms) = shaper.take(&path) {
        // As shipped, a node must match both selector and affinity; in the proposal, either is
        // enough.
        let selector = shaper.take(&["spec", "discovery", "nodeSelector"]);
        let labels: Vec<Node> =
            selector.iter().flat_map(Node::entries).map(label_expression).collect();
        let mut folded = terms;
        // The labels go into every term, so that each alternative still requires them.
        if let Some(list) = folded.as_list_mut().filter(|_| !labels.is_empty()) {
            for term in list.make_mut() {
                let match_expressions =
                    term.get("matchExpressions").map(Node::items).unwrap_or_default().to_vec();
                if let Some(map) = term.as_map_mut() {
                    map.insert(
                        "matchExpressions",
                        Node::list(labels.iter().cloned().chain(match_expressions), ORIGIN),
                    );
                }
            }
        }
        // From the inside out: each level is removed only if it has become empty.
        for depth in (3..path.len()).rev() {
            shaper.prune(&path[..depth]);
        }
        shaper.put(&["spec", "discovery", "nodeSelectorTerms"], folded);
    }
    shaper.drop(
        &["spec", "discovery", "affinity"],
        "the proposal describes nodes by required terms alone",
    );
    shaper.drop(&["spec", "capabilities", "performance", "latency"], "the proposal has no latency");
    for figure in Figure::ALL {
        if figure.shipped_key() != figure.proposed_key() {
            shaper.rename(
                &["spec", "capabilities", "performance"],
                figure.shipped_key(),
                figure.proposed_key(),
            );
        }
    }
}

/// The expression for a label that a node must have.
fn label_expression(entry: &Entry) -> Node {
    let values = Node::list(
        [Node::str(entry.node.scalar_text().unwrap_or_default(), entry.node.origin)],
        entry.node.origin,
    );
    mapping([
        ("key", Node::str(entry.key.clone(), entry.key_origin)),
        ("operator", Node::str("In", ORIGIN)),
        ("values", values),
    ])
}

/// Converts minimums of the shipped format to capabilities of the proposal.
fn minimums(shaper: &mut Shaper<'_>, from: &[&str], to: &[&str]) {
    let path = |holder: &[&str], key: &str| {
        holder.iter().copied().chain([key]).map(str::to_owned).collect::<Vec<_>>()
    };
    for (shipped, proposed) in [
        ("minMemory", "memoryGB"),
        ("minArchitectureVersion", "computeCapability"),
        ("requiredFeatures", "features"),
    ] {
        let source = path(from, shipped);
        let Some(value) = shaper.take(&source.iter().map(String::as_str).collect::<Vec<_>>())
        else {
            continue;
        };
        let value = match (shipped, value.as_int()) {
            // The CRD counts GiB; the proposal has amounts with a unit.
            ("minMemory", Some(gib)) => Node::str(eco_format!("{gib}Gi"), value.origin),
            _ => value,
        };
        let target = path(to, proposed);
        shaper.put(&target.iter().map(String::as_str).collect::<Vec<_>>(), value);
    }
}

fn runtime(shaper: &mut Shaper<'_>) {
    let requirements = ["spec", "acceleratorRequirements"];
    shaper.rename(&requirements, "acceleratorClasses", "supportedClasses");
    minimums(shaper, &requirements, &["spec", "acceleratorRequirements", "requiredCapabilities"]);
    for key in ["minComputePerformanceTFLOPS", "preferredPrecisions"] {
        shaper.drop(
            &["spec", "acceleratorRequirements", key],
            "the proposal has no such field, and v0.1.5 does not read it",
        );
    }
    let formats: Vec<Node> = shaper
        .get(&["spec", "supportedModelFormats"])
        .map(Node::items)
        .unwrap_or_default()
        .to_vec();
    let mut existing: Vec<(Entry, usize)> = Vec::new();
    for (index, format) in formats.iter().enumerate() {
        for entry in format.get("acceleratorConfig").map(Node::entries).into_iter().flatten() {
            let path =
                format!("spec.supportedModelFormats[{index}].acceleratorConfig.{}", entry.key);
            match existing.iter_mut().find(|(other, _)| other.key == entry.key) {
                None => existing.push((entry.clone(), 1)),
                // Equal entries of several formats become one configuration without a loss.
                Some((first, count)) if first.node == entry.node => *count += 1,
                Some(_) => shaper.lose(
                    path,
                    entry.key_origin,
                    "configurations of the proposal hold for every format: the first one stays",
                ),
            }
        }
    }
    if existing.is_empty() {
        return;
    }
    for (entry, count) in existing.iter().filter(|(_, count)| *count < formats.len()) {
        let why = format!(
            "it stood in {count} of {} formats; configurations of the proposal hold for every format",
            formats.len()
        );
        shaper.lose(
            format!("spec.supportedModelFormats[].acceleratorConfig.{}", entry.key),
            entry.key_origin,
            why,
        );
    }
    // Configurations move from the formats to the runtime.
    let bare = formats.into_iter().map(|mut format| {
        if let Some(map) = format.as_map_mut() {
            map.remove("acceleratorConfig");
        }
        format
    });
    shaper.put(&["spec", "supportedModelFormats"], Node::list(bare, ORIGIN));
    let mut list = shaper
        .get(&["spec", "acceleratorConfigurations"])
        .map(Node::items)
        .unwrap_or_default()
        .to_vec();
    // After those that are there: of two for one class the later one wins.
    list.extend(existing.iter().map(|(entry, _)| configuration(shaper, entry)));
    shaper.put(&["spec", "acceleratorConfigurations"], Node::list(list, ORIGIN));
}

/// Converts one entry of acceleratorConfig to a configuration.
fn configuration(shaper: &mut Shaper<'_>, entry: &Entry) -> Node {
    let path = format!("spec.supportedModelFormats[].acceleratorConfig.{}", entry.key);
    let mut out = mapping([(
        "selector",
        mapping([("acceleratorClass", Node::str(entry.key.clone(), entry.key_origin))]),
    )]);
    let mut variables: Vec<Node> = Vec::new();
    let variable = |name: &str, value: Node| {
        mapping([("name", Node::str(name, value.origin)), ("value", value)])
    };
    for part in entry.node.entries().filter(|part| !part.node.is_null()) {
        match part.key.as_str() {
            "environmentOverride" => {
                variables.extend(part.node.entries().map(|entry| {
                    variable(
                        &entry.key,
                        Node::str(entry.node.scalar_text().unwrap_or_default(), entry.node.origin),
                    )
                }));
                shaper.lose(
                    format!("{path}.environmentOverride"),
                    part.key_origin,
                    "in the proposal the service's own value wins",
                );
            }
            "runtimeArgsOverride" => {
                if let Some(map) = out.as_map_mut() {
                    map.insert("runner", mapping([("args", part.node.clone())]));
                }
                shaper.lose(
                    format!("{path}.runtimeArgsOverride"),
                    part.key_origin,
                    "in the proposal arguments are appended and replace no flag",
                );
            }
            "tensorParallelismOverride" => {
                for size in part.node.entries().filter(|size| !size.node.is_null()) {
                    let path = format!("{path}.tensorParallelismOverride.{}", size.key);
                    if size.key == "tensorParallelSize" {
                        variables.push(variable(
                            "TENSOR_PARALLEL_SIZE",
                            Node::str(
                                size.node.scalar_text().unwrap_or_default(),
                                size.node.origin,
                            ),
                        ));
                        shaper.lose(path, size.key_origin, "written as TENSOR_PARALLEL_SIZE; flags of the runtime are not rewritten");
                    } else {
                        shaper.lose(path, size.key_origin, "the proposal has no such field");
                    }
                }
            }
            other => shaper.lose(
                format!("{path}.{other}"),
                part.key_origin,
                "the proposal has no such field",
            ),
        }
    }
    if let Some(map) = out.as_map_mut().filter(|_| !variables.is_empty()) {
        map.insert("env", Node::list(variables, ORIGIN));
    }
    out
}

/// The strategy that is closest to a policy, and what is lost.
fn strategy(policy: &str) -> Option<(&'static str, &'static str)> {
    Some(match policy {
        "Cheapest" => {
            ("cost", "cost compares the price of a replica, Cheapest that of one accelerator")
        }
        "MostCapable" => (
            "performance",
            "performance weighs bandwidth and power of the accelerators a replica needs, MostCapable memory too",
        ),
        "BestFit" => {
            ("balanced", "balanced weighs performance and price, BestFit memory to spare and power")
        }
        _ => return None,
    })
}

fn service(shaper: &mut Shaper<'_>) {
    let selector = |key: &'static str| ["spec", "acceleratorSelector", key];
    if let Some(class) = shaper.take(&selector("acceleratorClass")) {
        match shaper.get(&["metadata", "annotations", CLASS]).and_then(Node::scalar_text) {
            // In the proposal the annotation decides; both cannot be kept.
            Some(other) if Some(&other) != class.scalar_text().as_ref() => {
                shaper.lose(
                    "spec.acceleratorSelector.acceleratorClass",
                    class.origin,
                    format!("the annotation {CLASS} has {other}, which the proposal uses"),
                );
            }
            Some(_) => {}
            None => shaper.put(&["metadata", "annotations", CLASS], class),
        }
    }
    if let Some(policy) = shaper.take(&selector("policy")) {
        match strategy(&policy.scalar_text().unwrap_or_default()) {
            Some((strategy, why)) => {
                shaper.put(&selector("strategy"), Node::str(strategy, policy.origin));
                shaper.lose("spec.acceleratorSelector.policy", policy.origin, why);
            }
            None => shaper.lose(
                "spec.acceleratorSelector.policy",
                policy.origin,
                "the proposal has no such strategy: it takes balanced",
            ),
        }
    }
    minimums(shaper, &selector("constraints"), &selector("requiredCapabilities"));
    // What `minimums` has left.
    if let Some(rest) = shaper.take(&selector("constraints")) {
        for entry in rest.entries() {
            shaper.lose(
                format!("spec.acceleratorSelector.constraints.{}", entry.key),
                entry.key_origin,
                "the proposal has no such constraint",
            );
        }
    }
    for component in ["engine", "decoder"] {
        let Some(over) = shaper.take(&["spec", component, "acceleratorOverride"]) else { continue };
        let path = format!("spec.{component}.acceleratorOverride");
        for entry in over.entries().filter(|entry| !entry.node.is_null()) {
            match entry.key.as_str() {
                "acceleratorClass" => {
                    shaper.put(&["spec", component, "annotations", CLASS], entry.node.clone());
                }
                "policy" => match strategy(&entry.node.scalar_text().unwrap_or_default()) {
                    Some((strategy, why)) => {
                        shaper.put(
                            &["spec", component, "annotations", STRATEGY],
                            Node::str(strategy, entry.node.origin),
                        );
                        shaper.lose(format!("{path}.policy"), entry.key_origin, why);
                    }
                    None => shaper.lose(
                        format!("{path}.policy"),
                        entry.key_origin,
                        "the proposal has no such strategy",
                    ),
                },
                other => shaper.lose(
                    format!("{path}.{other}"),
                    entry.key_origin,
                    "the proposal has none for one component, and v0.1.5 does not read it",
                ),
            }
        }
    }
    shaper.prune(&["spec", "acceleratorSelector"]);
}
