//! The documents' choice (OEP-0003): requirements over all loaded classes, then preference, then
//! the strategy.
//!
//! Order of the ledger (OEP-0003, Story 6; docs/decisions.md#preference-order): preferredClasses,
//! cost threshold, preferenceOrder, strategy, fewer accelerators, lower cost, less memory to spare,
//! name.

use super::known::Known;
use super::{Request, condition, fit};
use crate::api::{
    AcceleratorAnnotations, Capabilities, ComponentKind, Cost, Failure, Field, Figure,
    PreferenceEntry, Runtime,
};
use crate::cluster as machines;
use crate::cluster::{Machine, affinity_matches, selector_mismatch};
use crate::decision::{
    AcceleratorBasis, AcceleratorDecision, ClassCandidate, ClassDecidedBy, ClassReason,
    JudgedPreference, Requirement, ScoreTerms, Share, Step, Thrift, Truth, Verdict,
};
use crate::diag::{Code, Diagnostic, nearest};
use crate::quantity::{Memory, Range, glob, is_accelerator};
use crate::yaml::{Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::cmp::{Ordering, Reverse};

/// Accelerators of one node when no Node says otherwise (docs/decisions.md#memory-fit).
const PER_NODE: u64 = 8;
/// Strategies in the order of the document.
pub(crate) const STRATEGIES: [&str; 3] = ["performance", "cost", "balanced"];

static DEFAULT_STRATEGY: Rule = Rule {
    id: "default-strategy",
    text: "The default strategy is balanced.",
    cite: "OEP-0003, InferenceService Extensions; docs/decisions.md#strategy",
};

/// What is required and wished for, layer over layer (OEP-0003, Override Hierarchy).
struct Effective<'a> {
    strategy: &'static str,
    preferred: Vec<&'a Field<EcoString>>,
    /// One class that must be taken, and what says so.
    hard: Option<(&'a Field<EcoString>, ClassDecidedBy)>,
    supported: &'a [Field<EcoString>],
    excluded: &'a [Field<EcoString>],
    required: Capabilities,
    threshold: Option<f64>,
    threshold_origin: Option<Origin>,
    request_size: Option<EcoString>,
    requirements: Vec<Requirement>,
}

fn list(items: &[&Field<EcoString>]) -> Node {
    let origin = items.first().map_or(Origin::Default(&DEFAULT_STRATEGY), |item| item.origin);
    Node::list(items.iter().map(|item| Node::str(item.value.clone(), item.origin)), origin)
}

fn effective<'a>(
    request: &Request<'a, '_>,
    kind: ComponentKind,
    findings: &mut Vec<Diagnostic>,
) -> Effective<'a> {
    let wish = &request.service.accelerators;
    let options = request.catalog.accelerator_options();
    let over = &wish.overrides[kind as usize];
    let layers: [(&AcceleratorAnnotations, &str); 2] = [
        (&wish.component_annotations[kind as usize], "component-annotation"),
        (&wish.annotations, "annotation"),
    ];
    let mut requirements: Vec<Requirement> = Vec::new();
    // What all layers say of one thing, the highest first.
    let mut say = |key: &'static str, mut layers: Vec<(Node, &'static str)>| {
        if !layers.is_empty() {
            let (value, layer) = layers.remove(0);
            requirements.push(Requirement { key, value, layer, overridden: layers });
        }
    };
    let annotated = |get: fn(&AcceleratorAnnotations) -> Option<&Field<EcoString>>| {
        layers.iter().filter_map(move |(annotations, layer)| Some((get(annotations)?, *layer)))
    };

    // Strategy: default, service, annotation.
    let by_policy = over.policy.as_ref().or(wish.selector.policy.as_ref()).and_then(|policy| {
        let name = match policy.value.as_str() {
            "Cheapest" => "cost",
            "MostCapable" => "performance",
            "BestFit" | "FirstAvailable" => "balanced",
            // The schema says what is wrong with any other.
            _ => return None,
        };
        Some(Field::new(EcoString::from(name), policy.origin))
    });
    let of_service =
        over.strategy.as_ref().or(wish.selector.strategy.as_ref()).cloned().or(by_policy);
    let written: Vec<(Field<EcoString>, &'static str)> =
        annotated(|annotations| annotations.strategy.as_ref())
            .map(|(field, layer)| (field.clone(), layer))
            .chain(of_service.map(|field| (field, "service")))
            .collect();
    for (field, _) in
        written.iter().filter(|(field, _)| !STRATEGIES.contains(&field.value.as_str()))
    {
        findings.push(unknown_strategy(field));
    }
    let strategy = written
        .first()
        .and_then(|(field, _)| STRATEGIES.into_iter().find(|name| *name == field.value))
        .unwrap_or("balanced");
    let default = (Node::str("balanced", Origin::Default(&DEFAULT_STRATEGY)), "default");
    say(
        "strategy",
        written
            .iter()
            .map(|(field, layer)| (Node::str(field.value.clone(), field.origin), *layer))
            .chain([default])
            .collect(),
    );

    // Preferred classes; one that an annotation or the shipped field names is hard.
    let named: Vec<(&Field<EcoString>, &'static str)> =
        annotated(|annotations| annotations.class.as_ref()).collect();
    let shipped = over
        .class
        .as_ref()
        .or(wish.selector.class.as_ref())
        .filter(|class| !class.value.is_empty());
    let hard = named
        .first()
        .map(|(class, _)| (*class, ClassDecidedBy::Annotation))
        .or_else(|| shipped.map(|class| (class, ClassDecidedBy::Named)));
    let wished = if over.preferred.is_empty() { &wish.selector.preferred } else { &over.preferred };
    let preferred: Vec<&Field<EcoString>> = match hard {
        Some((class, _)) => vec![class],
        None => wished.iter().collect(),
    };
    let of_service = match shipped {
        Some(class) => vec![class],
        None => wished.iter().collect(),
    };
    let mut layered: Vec<(Node, &'static str)> =
        named.iter().map(|(class, layer)| (list(&[*class]), *layer)).collect();
    if !of_service.is_empty() {
        layered.push((list(&of_service), "service"));
    }
    say("preferredClasses", layered);

    let runtime = &request.runtime.accelerators;
    if !runtime.supported.is_empty() {
        say(
            "supportedClasses",
            vec![(list(&runtime.supported.iter().collect::<Vec<_>>()), "runtime")],
        );
    }
    let constraints = wish.selector.constraints.as_ref();
    let mut own = merged_minimums(&wish.selector.required, &over.required, &mut |_, _| {});
    if let Some(constraints) = constraints {
        let shipped = Capabilities {
            memory: constraints.min_memory.as_ref().and_then(|least| {
                Some(Field::new(Memory::from_gib(u64::try_from(least.value).ok()?)?, least.origin))
            }),
            memory_text: constraints
                .min_memory
                .as_ref()
                .map(|least| eco_format!("{}Gi", least.value))
                .unwrap_or_default(),
            compute_capability: constraints.min_architecture.clone(),
            features: constraints.features.clone(),
            ..Capabilities::default()
        };
        own = merged_minimums(&own, &shipped, &mut |_, _| {});
    }
    let mut from_service: Vec<&'static str> = Vec::new();
    let required = merged_minimums(&runtime.required, &own, &mut |key, _| from_service.push(key));
    let (below, above) = (minimums(&runtime.required), minimums(&own));
    for (key, node) in minimums(&required) {
        let side = |side: &[(&'static str, Node)]| {
            side.iter().find(|(known, _)| *known == key).map(|(_, node)| node.clone())
        };
        let (upper, lower) = (
            side(&above).map(|node| (node, "service")),
            side(&below).map(|node| (node, "runtime")),
        );
        let tightened = from_service.contains(&key);
        let layer = if tightened { "service" } else { "runtime" };
        // Features of both layers hold together: nobody's are overridden.
        let other = if tightened { lower } else { upper }.filter(|_| key != "features");
        say(key, std::iter::once((node, layer)).chain(other).collect());
    }
    let thresholds: Vec<(&Field<EcoString>, &'static str)> =
        annotated(|annotations| annotations.cost_threshold.as_ref()).collect();
    say(
        "costThreshold",
        thresholds
            .iter()
            .map(|(threshold, layer)| {
                (Node::str(threshold.value.clone(), threshold.origin), *layer)
            })
            .collect(),
    );
    let threshold = thresholds.first().map(|(threshold, _)| *threshold);
    let price = threshold.and_then(|threshold| {
        let price = Range::AMOUNT.read(&threshold.value).map(|price| price.as_f64());
        if price.is_none() {
            findings.push(not_a_number(
                "cost threshold",
                threshold,
                "write dollars an hour of one replica, such as `2.5`",
            ));
        }
        price
    });
    let request_size = options.request_size.map(|size| eco_format!("{size}")).or_else(|| {
        let (size, _) = annotated(|annotations| annotations.request_size.as_ref()).next()?;
        if condition::tokens(&size.value).is_none() {
            findings.push(not_a_number(
                "request size",
                size,
                "write tokens, such as `2048` or `4k`",
            ));
            return None;
        }
        Some(size.value.clone())
    });
    Effective {
        strategy,
        preferred,
        hard,
        supported: &runtime.supported,
        excluded: constraints
            .map(|constraints| constraints.excluded.as_slice())
            .unwrap_or_default(),
        required,
        threshold: price,
        threshold_origin: threshold.map(|threshold| threshold.origin),
        request_size,
        requirements,
    }
}

/// The minimums that capabilities state, by key.
fn minimums(of: &Capabilities) -> Vec<(&'static str, Node)> {
    let mut out: Vec<(&'static str, Node)> = Vec::new();
    out.extend(
        of.memory
            .as_ref()
            .map(|memory| ("memoryGB", Node::str(of.memory_text.clone(), memory.origin))),
    );
    out.extend(
        of.compute_capability
            .as_ref()
            .map(|version| ("computeCapability", Node::str(version.value.clone(), version.origin))),
    );
    out.extend(of.bandwidth.as_ref().map(|bandwidth| {
        ("memoryBandwidthGBps", Node::str(bandwidth.value.canonical(), bandwidth.origin))
    }));
    out.extend(
        of.clock.as_ref().map(|clock| ("clockSpeedMHz", Node::int(clock.value, clock.origin))),
    );
    out.extend(of.performance.iter().map(|(figure, value)| {
        (figure.proposed_key(), Node::str(eco_format!("{}", value.value), value.origin))
    }));
    out.extend(
        of.versions
            .iter()
            .map(|(key, version)| (*key, Node::str(version.value.clone(), version.origin))),
    );
    if !of.features.is_empty() {
        out.push(("features", list(&of.features.iter().collect::<Vec<_>>())));
    }
    out
}

/// The finding about an annotation that is no number: it counts as unstated.
fn not_a_number(what: &str, field: &Field<EcoString>, help: &str) -> Diagnostic {
    Diagnostic::new(
        Code::InvalidQuantity,
        format!("`{}` is no {what} and counts as unstated", field.value),
    )
    .at(field.span())
    .help(help)
}

/// The finding about a strategy that is none.
pub(crate) fn unknown_strategy(field: &Field<EcoString>) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownStrategy,
        format!("unknown strategy `{}`: use one of {}", field.value, STRATEGIES.join(", ")),
    )
    .at(field.span())
    .help(nearest(&field.value, STRATEGIES).map_or_else(
        || "without one it is balanced".to_owned(),
        |near| format!("did you mean `{near}`?"),
    ))
}

/// Minimums that hold both: the larger of numbers and versions, the union of features. `taken` is
/// told which keys the upper one set.
fn merged_minimums(
    lower: &Capabilities,
    upper: &Capabilities,
    taken: &mut dyn FnMut(&'static str, Origin),
) -> Capabilities {
    let mut out = lower.clone();
    if let Some(memory) = upper
        .memory
        .as_ref()
        .filter(|memory| lower.memory.as_ref().is_none_or(|below| below.value < memory.value))
    {
        out.memory = Some(memory.clone());
        out.memory_text = upper.memory_text.clone();
        taken("memoryGB", memory.origin);
    }
    let above =
        |own: &EcoString, below: &EcoString| compare_versions(below, own) == Some(Ordering::Less);
    if let Some(version) = upper.compute_capability.as_ref().filter(|own| {
        lower.compute_capability.as_ref().is_none_or(|below| above(&own.value, &below.value))
    }) {
        out.compute_capability = Some(version.clone());
        taken("computeCapability", version.origin);
    }
    if let Some(bandwidth) = upper
        .bandwidth
        .as_ref()
        .filter(|own| lower.bandwidth.as_ref().is_none_or(|below| below.value < own.value))
    {
        out.bandwidth = Some(bandwidth.clone());
        taken("memoryBandwidthGBps", bandwidth.origin);
    }
    if let Some(clock) = upper
        .clock
        .as_ref()
        .filter(|own| lower.clock.as_ref().is_none_or(|below| below.value < own.value))
    {
        out.clock = Some(clock.clone());
        taken("clockSpeedMHz", clock.origin);
    }
    for (figure, value) in &upper.performance {
        match out.performance.iter_mut().find(|(known, _)| known == figure) {
            Some((_, below)) if below.value >= value.value => continue,
            Some((_, below)) => *below = value.clone(),
            None => out.performance.push((*figure, value.clone())),
        }
        taken(figure.proposed_key(), value.origin);
    }
    for (key, version) in &upper.versions {
        match out.versions.iter_mut().find(|(known, _)| known == key) {
            Some((_, below)) if !above(&version.value, &below.value) => continue,
            Some((_, below)) => *below = version.clone(),
            None => out.versions.push((key, version.clone())),
        }
        taken(key, version.origin);
    }
    for feature in &upper.features {
        if !out.features.iter().any(|known| known.value.eq_ignore_ascii_case(&feature.value)) {
            out.features.push(feature.clone());
            taken("features", feature.origin);
        }
    }
    out
}

/// Dotted numbers, part by part; none when one of the two begins with no number.
pub(crate) fn compare_versions(a: &str, b: &str) -> Option<Ordering> {
    fn parts(text: &str) -> Option<Vec<u64>> {
        let parts: Vec<u64> = text
            .split('.')
            .map(|part| part.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok())
            .collect::<Option<_>>()?;
        Some(parts)
    }
    let (mut a, mut b) = (parts(a)?, parts(b)?);
    let length = a.len().max(b.len());
    a.resize(length, 0);
    b.resize(length, 0);
    Some(a.cmp(&b))
}

/// A check that failed; `unknown` when nobody knows the value.
struct Shortfall {
    reason: ClassReason,
    unknown: bool,
}

/// What speaks against a version: whether it is unknown, and both operands; none when it is high
/// enough.
fn below(name: &str, own: Option<&EcoString>, least: &EcoString) -> Option<(bool, EcoString)> {
    match own.map(|own| (own, compare_versions(own, least))) {
        None => Some((true, eco_format!("{name} unknown, {least} required"))),
        Some((own, None)) => (own != least)
            .then(|| (false, eco_format!("{name} {own} is not comparable with {least}"))),
        Some((own, Some(Ordering::Less))) => Some((false, eco_format!("{name} {own} < {least}"))),
        Some(_) => None,
    }
}

fn check(known: &Known<'_>, required: &Capabilities, out: &mut Vec<Shortfall>) {
    let mut fail = |code: Code, unknown: bool, bound: Origin, detail: EcoString| {
        out.push(Shortfall { reason: ClassReason { code, detail, bound: Some(bound) }, unknown });
    };
    if let Some(least) = &required.memory {
        match &known.memory {
            None => fail(
                Code::ReasonMinMemory,
                true,
                least.origin,
                eco_format!("memoryGB unknown, {} required", required.memory_text),
            ),
            Some((own, text)) if *own < least.value => {
                fail(
                    Code::ReasonMinMemory,
                    false,
                    least.origin,
                    eco_format!("memoryGB {text} < {}", required.memory_text),
                );
            }
            Some(_) => {}
        }
    }
    if let Some(least) = &required.compute_capability
        && let Some((unknown, detail)) =
            below("computeCapability", known.compute_capability.as_ref(), &least.value)
    {
        fail(Code::ReasonMinArchitecture, unknown, least.origin, detail);
    }
    let mut number = |code: Code, name: &str, own: Option<f64>, least: f64, bound: Origin| match own
    {
        None => fail(code, true, bound, eco_format!("{name} unknown, {least} required")),
        Some(own) if own < least => fail(code, false, bound, eco_format!("{name} {own} < {least}")),
        Some(_) => {}
    };
    if let Some(least) = &required.bandwidth {
        number(
            Code::ReasonMinBandwidth,
            "memoryBandwidthGBps",
            known.bandwidth,
            least.value.as_f64(),
            least.origin,
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "megahertz")]
    if let Some(least) = &required.clock {
        let own = known.class.capabilities.clock.as_ref().map(|clock| clock.value as f64);
        number(Code::ReasonMinClock, "clockSpeedMHz", own, least.value as f64, least.origin);
    }
    for (figure, least) in &required.performance {
        number(
            Code::ReasonMinCompute,
            figure.proposed_key(),
            known.figure(*figure),
            least.value,
            least.origin,
        );
    }
    for (key, least) in &required.versions {
        let own = known
            .class
            .capabilities
            .versions
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, version)| &version.value);
        if let Some((unknown, detail)) = below(key, own, &least.value) {
            fail(Code::ReasonMinArchitecture, unknown, least.origin, detail);
        }
    }
    // One check of a set: what is missing is one reason.
    let missing: Vec<&Field<EcoString>> =
        required.features.iter().filter(|feature| !known.has_feature(&feature.value)).collect();
    if let Some(first) = missing.first() {
        let names: Vec<String> =
            missing.iter().map(|feature| format!("missing feature {}", feature.value)).collect();
        fail(Code::ReasonFeature, known.features.is_empty(), first.origin, names.join(", ").into());
    }
}

/// What a runtime's own requirements say against a class.
pub(crate) fn refuses(runtime: &Runtime, known: &Known<'_>) -> Vec<ClassReason> {
    let requirements = &runtime.accelerators;
    let mut failures = Vec::new();
    if !requirements.supported.is_empty()
        && !requirements.supported.iter().any(|listed| glob(&listed.value, known.class.name()))
    {
        let bound = requirements.supported.first().map(|listed| listed.origin);
        failures.push(Shortfall {
            reason: ClassReason {
                code: Code::ReasonNotListed,
                detail: "not in supportedClasses".into(),
                bound,
            },
            unknown: false,
        });
    }
    let asked = runtime_resources(runtime, ComponentKind::Engine);
    failures.extend(asks_for_another(&asked, known));
    check(known, &requirements.required, &mut failures);
    failures.into_iter().map(|failure| failure.reason).collect()
}

/// What the runtime asks for itself when the class offers none of it.
fn asks_for_another(asked: &[(EcoString, Origin)], known: &Known<'_>) -> Option<Shortfall> {
    let (other, origin) = asked.first()?;
    let offered: Vec<&str> =
        known.class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    let offers = |name: &str| asked.iter().any(|(asked, _)| asked == name);
    if offered.is_empty() || offered.iter().any(|name| offers(name)) {
        return None;
    }
    let detail =
        eco_format!("the runtime asks for {other}, the class offers {}", offered.join(", "));
    let reason = ClassReason { code: Code::ReasonQuantity, detail, bound: Some(*origin) };
    Some(Shortfall { reason, unknown: false })
}

/// Node selectors that a component adds to the class's, and its tolerations.
struct Placement<'a> {
    selectors: Vec<&'a Node>,
    /// They hold together.
    affinities: Vec<&'a Node>,
    tolerations: Vec<Node>,
}

fn placement<'a>(request: &Request<'a, '_>, kind: ComponentKind) -> Placement<'a> {
    let config = request.runtime.config(kind);
    let component = request.service.component(kind);
    let selectors = [
        config.and_then(|config| config.get("nodeSelector")),
        request.runtime.object.spec("nodeSelector"),
        request.service.accelerators.selector.node_selector.as_ref(),
        component.and_then(|component| component.get("nodeSelector")),
    ];
    let affinities = [
        config.and_then(|config| config.get("affinity")),
        request.runtime.object.spec("affinity").filter(|_| config.is_none()),
        component.and_then(|component| component.get("affinity")),
    ];
    let tolerations = [
        config.and_then(|config| config.get("tolerations")),
        request.runtime.object.spec("tolerations"),
        component.and_then(|component| component.get("tolerations")),
    ];
    Placement {
        selectors: selectors
            .into_iter()
            .flatten()
            .filter(|selector| !selector.is_empty())
            .collect(),
        affinities: affinities
            .into_iter()
            .flatten()
            .filter(|affinity| !affinity.is_empty())
            .collect(),
        tolerations: tolerations.into_iter().flatten().flat_map(Node::items).cloned().collect(),
    }
}

/// What keeps a component from every node of a class; none when a node is there or no Node was read
/// (OEP-0003, Goals and Notes/Constraints/Caveats).
///
/// Beside the sentence: who wrote the selector that leaves none.
fn no_node(known: &Known<'_>, placement: &Placement<'_>) -> Option<(EcoString, Option<Origin>)> {
    let machines = known.machines.as_ref()?;
    if machines.is_empty() {
        return Some(("no node of the class".into(), None));
    }
    let usable =
        || machines.iter().copied().filter(|machine| machine.usable(&placement.tolerations));
    if usable().next().is_none() {
        let which = if machines.len() == 1 {
            eco_format!("the only node of the class, {}, is", machines[0].name)
        } else {
            eco_format!("all {} nodes of the class are", machines.len())
        };
        return Some((eco_format!("{which} cordoned, not ready or tainted"), None));
    }
    let resource =
        known.class.whole_resources().find(|resource| is_accelerator(&resource.name.value));
    let is_equipped = |machine: &&Machine| {
        resource.is_none_or(|resource| {
            machine.allocatable(&resource.name.value).is_none_or(|count| count > 0)
        })
    };
    let mut equipped = usable().filter(is_equipped);
    // Most pods ask for no node in particular: the first one will do.
    let Some(first) = equipped.next() else {
        let resource = resource.map_or("accelerator", |resource| resource.name.value.as_str());
        return Some((
            eco_format!("{} nodes of the class have no {resource} to give", usable().count()),
            None,
        ));
    };
    if placement.selectors.is_empty() && placement.affinities.is_empty() {
        return None;
    }
    let mut left: Vec<&Machine> = std::iter::once(first).chain(equipped).collect();
    let discovery = &known.class.discovery;
    let own = machines::pinned(discovery.node_selector.as_ref(), discovery.terms.as_ref()).selector;
    let class_keys: Vec<&str> =
        own.iter().flat_map(Node::entries).map(|entry| entry.key.as_str()).collect();
    for (index, selector) in placement.selectors.iter().enumerate() {
        // The class's own keys win over those of the runtime (OEP-0003, Override Hierarchy;
        // docs/decisions.md#node-selectors); a later selector over an earlier one.
        let entries = selector.entries().filter(|entry| {
            let overridden = placement.selectors[index + 1..]
                .iter()
                .any(|later| later.get(&entry.key).is_some());
            !overridden && (index >= 2 || !class_keys.contains(&entry.key.as_str()))
        });
        for entry in entries {
            let one = Node::new(
                crate::yaml::Value::Map(std::iter::once(entry.clone()).collect()),
                selector.origin,
            );
            left.retain(|machine| selector_mismatch(&one, machine).is_none());
            if left.is_empty() {
                let value = entry.node.scalar_text().unwrap_or_default();
                return Some((
                    eco_format!("0 nodes match: {}: {value} eliminates the last one", entry.key),
                    Some(entry.node.origin),
                ));
            }
        }
    }
    for affinity in &placement.affinities {
        left.retain(|machine| affinity_matches(affinity, machine));
        if left.is_empty() {
            return Some((
                "0 nodes match: the required node affinity eliminates the last one".into(),
                Some(affinity.origin),
            ));
        }
    }
    None
}

/// Accelerators that one node of the class has.
fn per_node(known: &Known<'_>) -> u64 {
    known.per_node.unwrap_or(PER_NODE)
}

fn hourly(cost: &Cost) -> Option<f64> {
    cost.per_hour.as_ref().or(cost.spot_per_hour.as_ref()).map(|price| price.value.as_f64())
}

fn tier(known: &Known<'_>) -> f64 {
    let tier = known
        .class
        .cost
        .as_ref()
        .and_then(|cost| cost.tier.as_ref())
        .map(|tier| tier.value.to_lowercase());
    match tier.as_deref() {
        Some("low") => 1.0,
        Some("high") => 0.25,
        _ => 0.5,
    }
}

/// Whether a preference means a class: its name, a glob, or `feature:`, `family:`, `vendor:`,
/// `model:` (OEP-0003, ServingRuntime Extensions).
pub(crate) fn names_class(
    matcher: &str,
    known_feature: &dyn Fn(&str) -> bool,
    class: &crate::api::AcceleratorClass,
) -> bool {
    let is = |field: &Option<Field<EcoString>>, wanted: &str| {
        field.as_ref().is_some_and(|field| field.value.eq_ignore_ascii_case(wanted))
    };
    match matcher.split_once(':') {
        Some(("feature", wanted)) => known_feature(wanted.trim()),
        Some(("family", wanted)) => is(&class.family, wanted.trim()),
        Some(("vendor", wanted)) => is(&class.vendor, wanted.trim()),
        Some(("model", wanted)) => is(&class.model, wanted.trim()),
        _ => glob(matcher, class.name()),
    }
}

fn judge_preferences(
    request: &Request<'_, '_>,
    kind: ComponentKind,
    request_size: Option<&EcoString>,
) -> Vec<JudgedPreference> {
    let model = request.model;
    let fact = |key: &str| -> Option<EcoString> {
        match key {
            "modelSize" => model?.size.as_ref().map(|size| size.value.text.clone()),
            "requestSize" => request_size.cloned(),
            "quantization" => {
                request.policy.quantization_of(model?).map(|field| field.value.clone())
            }
            "modelFormat" => model?.format.as_ref().map(|format| format.name.value.clone()),
            "modelArchitecture" => model?.architecture.as_ref().map(|field| field.value.clone()),
            "component" => Some(kind.as_str().into()),
            _ => None,
        }
    };
    let judge = |(index, entry): (usize, &PreferenceEntry)| {
        let conditions: Vec<_> = entry
            .conditions
            .iter()
            .map(|condition| {
                let fact = fact(&condition.key);
                let result = condition::subject(&condition.key)
                    .and_then(|subject| {
                        Some((subject, condition::parse(subject, &condition.expression.value)?))
                    })
                    .map_or(Truth::Unknown, |(subject, parsed)| {
                        condition::holds(&parsed, subject, fact.as_deref())
                    });
                (condition.key.clone(), condition.expression.value.clone(), fact, result)
            })
            .collect();
        let all = |wanted: Truth| conditions.iter().any(|(.., result)| *result == wanted);
        let applies = if all(Truth::False) {
            Truth::False
        } else if all(Truth::Unknown) {
            Truth::Unknown
        } else {
            Truth::True
        };
        JudgedPreference {
            index,
            class: entry.class.value.clone(),
            origin: entry.class.origin,
            score: entry.score.value,
            applies,
            conditions,
        }
    };
    request.runtime.accelerators.preference.iter().enumerate().map(judge).collect()
}

/// A class that passed, with what ranks it.
struct Ranked<'k, 'a> {
    known: &'k Known<'a>,
    gpus: Option<u64>,
    cost: Option<f64>,
    score: f64,
    preference: i64,
    preferred: usize,
    above_threshold: f64,
    surplus: f64,
    terms: Option<ScoreTerms>,
}

fn compare(a: &Ranked<'_, '_>, b: &Ranked<'_, '_>) -> (Ordering, ClassDecidedBy) {
    let number = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    let rounded = |score: f64| (score * 1e9).round();
    let cost = |ranked: &Ranked<'_, '_>| ranked.cost.unwrap_or(f64::INFINITY);
    let keys = [
        (a.preferred.cmp(&b.preferred), ClassDecidedBy::PreferredClass),
        (number(a.above_threshold, b.above_threshold), ClassDecidedBy::Cost),
        (b.preference.cmp(&a.preference), ClassDecidedBy::PreferenceOrder),
        (number(rounded(b.score), rounded(a.score)), ClassDecidedBy::Strategy),
        (a.gpus.unwrap_or(1).cmp(&b.gpus.unwrap_or(1)), ClassDecidedBy::Gpus),
        (number(cost(a), cost(b)), ClassDecidedBy::Cost),
        (number(a.surplus, b.surplus), ClassDecidedBy::Memory),
        (a.known.class.name().cmp(b.known.class.name()), ClassDecidedBy::Name),
    ];
    keys.into_iter()
        .find(|(ordering, _)| *ordering != Ordering::Equal)
        .unwrap_or((Ordering::Equal, ClassDecidedBy::Name))
}

/// Strategy scores of the survivors, with their arithmetic (docs/decisions.md#strategies).
fn score(request: &Request<'_, '_>, strategy: &str, ranked: &mut [Ranked<'_, '_>]) {
    let fp8 = fit::is_fp8(request.policy, request.model);
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let power = |ranked: &Ranked<'_, '_>| -> (f64, f64) {
        let number = ranked.gpus.unwrap_or(1) as f64;
        let efficiency = 0.9_f64.powf(number.log2());
        let figure = ranked
            .known
            .figure(Figure::Fp8)
            .filter(|_| fp8)
            .or_else(|| ranked.known.figure(Figure::Fp16))
            .unwrap_or(0.0);
        (ranked.known.bandwidth.unwrap_or(0.0) * number * efficiency, figure * number * efficiency)
    };
    let powers: Vec<(f64, f64)> = ranked.iter().map(power).collect();
    let most =
        powers.iter().fold((0.0_f64, 0.0_f64), |most, own| (most.0.max(own.0), most.1.max(own.1)));
    let share = |own: f64, most: f64| if most > 0.0 { own / most } else { 0.0 };
    let least = ranked.iter().filter_map(|ranked| ranked.cost).fold(f64::INFINITY, f64::min);
    for (ranked, own) in ranked.iter_mut().zip(powers) {
        let performance = 0.7 * share(own.0, most.0) + 0.3 * share(own.1, most.1);
        let (thrift, cost) = match ranked.cost {
            _ if least.is_infinite() => (Thrift::Tier, tier(ranked.known)),
            None => (Thrift::Unpriced, 0.0),
            Some(own) => (Thrift::Price { least, own }, if own > 0.0 { least / own } else { 1.0 }),
        };
        let (bandwidth, compute) =
            (Share { own: own.0, most: most.0 }, Share { own: own.1, most: most.1 });
        ranked.terms = Some(ScoreTerms { bandwidth, compute, performance, thrift, cost });
        ranked.score = match strategy {
            "performance" => performance,
            "cost" => cost,
            _ => 0.5 * performance + 0.5 * cost,
        };
    }
}

/// Resources of accelerators that the runtime asks for itself.
fn runtime_resources(runtime: &Runtime, kind: ComponentKind) -> Vec<(EcoString, Origin)> {
    fn collect(node: &Node, out: &mut Vec<(EcoString, Origin)>) {
        for side in ["limits", "requests"] {
            let names = node.at(&["resources", side]).map(Node::entries).into_iter().flatten();
            out.extend(
                names
                    .filter(|entry| is_accelerator(&entry.key))
                    .map(|entry| (entry.key.clone(), entry.key_origin)),
            );
        }
    }
    let mut out = Vec::new();
    let config = runtime.config(kind);
    let parts = [
        config,
        config.and_then(|config| config.get("leader")),
        config.and_then(|config| config.get("worker")),
        runtime.object.node.get("spec").filter(|_| config.is_none()),
    ];
    for part in parts.into_iter().flatten() {
        part.get("runner")
            .into_iter()
            .chain(part.get("containers").map(Node::items).unwrap_or_default())
            .for_each(|container| collect(container, &mut out));
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(super) fn decide<'a>(
    request: &Request<'a, '_>,
    classes: &[Known<'a>],
    kind: ComponentKind,
) -> (AcceleratorDecision<'a>, Option<Failure>) {
    let mut decision = AcceleratorDecision::none(kind);
    let options = request.catalog.accelerator_options();
    if options.off {
        decision.notes.push("not considered: any GPU".into());
        decision.findings.push(Diagnostic::new(
            Code::AcceleratorNotConsidered,
            "accelerator classes are not considered: any GPU may be taken",
        ));
        return (decision, None);
    }
    let wish = effective(request, kind, &mut decision.findings);
    decision.strategy = Some(wish.strategy.into());
    decision.preference_order = judge_preferences(request, kind, wish.request_size.as_ref());
    decision.requirements.clone_from(&wish.requirements);
    if let Some(missing) = wish
        .preferred
        .iter()
        .find(|name| !classes.iter().any(|known| *known.class.name() == name.value))
    {
        return (decision, Some(unknown_class(missing, classes)));
    }
    for name in wish
        .supported
        .iter()
        .filter(|_| !classes.is_empty())
        .filter(|name| !classes.iter().any(|known| glob(&name.value, known.class.name())))
    {
        decision.findings.push(unlisted(name, classes));
    }
    let silent = request.service.accelerators.key.is_empty()
        && !request.runtime.mentions_accelerators()
        && !request.catalog.has_own_class();
    let names = |name: &str| {
        wish.preferred.iter().copied().chain(wish.supported).any(|named| named.value == name)
    };
    let classes: Vec<&Known<'a>> = classes
        .iter()
        .filter(|known| {
            !silent && (request.catalog.is_candidate_class(known.class) || names(known.name()))
        })
        .collect();
    if classes.is_empty() {
        return (decision, None);
    }
    decision.need = fit::need(request.policy, request.model, None);
    let placement = placement(request, kind);
    let asked = runtime_resources(request.runtime, kind);
    let gib_per_billion = |known: &Known<'_>| {
        let entry = request
            .runtime
            .formats
            .iter()
            .find_map(|entry| entry.accelerator_config.as_ref()?.get(known.class.name()));
        entry.and_then(|config| config.get("minMemoryPerBillionParams")).and_then(Node::as_int)
    };
    let mut ranked: Vec<Ranked<'_, 'a>> = Vec::new();
    let mut rejected: Vec<ClassCandidate<'a>> = Vec::new();
    for known in classes.iter().copied() {
        let name = known.class.name();
        let mut failures = Vec::new();
        let mut fail = |code: Code, detail: EcoString, bound: Option<Origin>| {
            failures
                .push(Shortfall { reason: ClassReason { code, detail, bound }, unknown: false });
        };
        if !wish.supported.is_empty()
            && !wish.supported.iter().any(|listed| glob(&listed.value, name))
        {
            fail(
                Code::ReasonNotListed,
                "not in supportedClasses".into(),
                wish.supported.first().map(|listed| listed.origin),
            );
        }
        if let Some(excluded) = wish.excluded.iter().find(|excluded| excluded.value == *name) {
            fail(Code::ReasonExcluded, "explicitly excluded".into(), Some(excluded.origin));
        }
        failures.extend(asks_for_another(&asked, known));
        check(known, &wish.required, &mut failures);
        let preferred = wish.preferred.iter().position(|wanted| wanted.value == *name);
        if options.allow_unknown && preferred.is_some() {
            failures.retain(|failure| !failure.unknown);
        }
        if let Some((detail, bound)) = no_node(known, &placement) {
            failures.push(Shortfall {
                reason: ClassReason { code: Code::ReasonOutOfNodes, detail, bound },
                unknown: false,
            });
        }
        let need = fit::need(request.policy, request.model, gib_per_billion(known));
        let gpus = need.and_then(|need| fit::accelerators(need, known.measured?));
        let price = known.class.cost.as_ref().and_then(hourly);
        let cost = price.map(|price| ((price * gpus.unwrap_or(1) as f64) * 1e6).round() / 1e6);
        if let Some(threshold) = wish.threshold.filter(|_| options.strict_cost)
            && cost.is_none_or(|cost| cost > threshold)
        {
            let detail = cost.map_or_else(
                || "price unknown".into(),
                |cost| eco_format!("{cost} > {threshold} $/h"),
            );
            failures.push(Shortfall {
                reason: ClassReason {
                    code: Code::ReasonCost,
                    detail,
                    bound: wish.threshold_origin,
                },
                unknown: false,
            });
        }
        if failures.is_empty() {
            let surplus =
                known.measured.map_or(0.0, |memory| memory.0 as f64 * gpus.unwrap_or(1) as f64)
                    - need.unwrap_or(0.0);
            let above_threshold = wish.threshold.map_or(0.0, |threshold| {
                cost.map_or(f64::MAX, |cost| if cost > threshold { cost } else { 0.0 })
            });
            let applies =
                decision.preference_order.iter().filter(|entry| entry.applies == Truth::True);
            let preference = applies
                .filter(|entry| {
                    names_class(&entry.class, &|feature| known.has_feature(feature), known.class)
                })
                .map(|entry| entry.score)
                .max();
            ranked.push(Ranked {
                known,
                gpus,
                cost,
                score: 0.0,
                preference: preference.unwrap_or(0),
                preferred: preferred.unwrap_or(usize::MAX),
                above_threshold,
                surplus,
                terms: None,
            });
        } else {
            let reasons = failures.into_iter().map(|failure| failure.reason).collect();
            rejected.push(ClassCandidate { reasons, ..candidate(known, gpus, cost) });
        }
    }
    score(request, wish.strategy, &mut ranked);
    ranked.sort_by(|a, b| compare(a, b).0);
    rejected.sort_by(|a, b| (a.reasons.len(), &a.name).cmp(&(b.reasons.len(), &b.name)));
    let price_asked = wish.strategy == "cost" || wish.threshold.is_some();
    if price_asked {
        let unpriced = |known: &Known<'_>| {
            known.class.cost.as_ref().is_none_or(|cost| {
                hourly(cost).is_none() && cost.per_million_tokens.is_none() && cost.tier.is_none()
            })
        };
        for ranked in ranked.iter().filter(|ranked| unpriced(ranked.known)) {
            decision.findings.push(
                Diagnostic::new(
                    Code::NoPrice,
                    format!("AcceleratorClass `{}` states no price", ranked.known.class.name()),
                )
                .at(ranked.known.class.object.name_span()),
            );
        }
    }
    if request.catalog.machines().is_empty() {
        decision.findings.push(
            Diagnostic::new(
                Code::AvailabilityNotChecked,
                "whether the chosen accelerators are there was not checked: no Node was read",
            )
            .help("read the nodes with `-f`"),
        );
    }
    let preferred_passed = ranked.first().is_some_and(|first| first.preferred != usize::MAX);
    let hard = wish.hard.is_some() || (options.strict_preferred && !wish.preferred.is_empty());
    let fails = ranked.is_empty() || (hard && !preferred_passed);
    let total = classes.len();
    let step = |id: &'static str, r#in: usize, out: usize| Step { id, r#in, out };
    let chosen = usize::from(!fails);
    decision.steps = vec![
        step("runtime", total, total),
        step("requirements", total, total),
        step("match", total, ranked.len()),
        step("score", ranked.len(), ranked.len()),
        step("apply", ranked.len(), chosen),
    ];
    (decision.eligible, decision.rejected) = (ranked.len(), rejected.len());
    if fails {
        decision.nearest = nearest_class(&wish, &classes, &rejected);
        let error = nothing_fits(request, kind, &wish, &ranked, &rejected);
        // What passed was ruled out by the class that is demanded.
        let by = wish.hard.map_or(ClassDecidedBy::PreferredClass, |(_, by)| by);
        decision.candidates =
            ranked.iter().map(|ranked| eligible(ranked, Some(by))).chain(rejected).collect();
        return (decision, Some(error));
    }
    let first = &ranked[0];
    decision.chosen = Some(first.known.class);
    decision.gpus = first.gpus;
    decision.per_node = per_node(first.known);
    decision.basis =
        if wish.hard.is_some() { AcceleratorBasis::Explicit } else { AcceleratorBasis::Policy };
    decision.decided_by = Some(match (&wish.hard, ranked.get(1)) {
        (Some((_, by)), _) => *by,
        (None, _) if preferred_passed => ClassDecidedBy::PreferredClass,
        (None, None) => ClassDecidedBy::OnlyCandidate,
        (None, Some(second)) => compare(first, second).1,
    });
    if !wish.preferred.is_empty() && !preferred_passed {
        let names: Vec<&str> = wish.preferred.iter().map(|name| name.value.as_str()).collect();
        decision.findings.push(
            Diagnostic::new(
                Code::PreferredNotEligible,
                format!(
                    "no preferred class of the {} passed ({}); {} was taken",
                    kind.as_str(),
                    names.join(", "),
                    first.known.class.name()
                ),
            )
            .at(wish.preferred[0].span())
            .help("`--strict-preferred` makes this an error"),
        );
    }
    if let Some(threshold) = wish.threshold.filter(|_| first.above_threshold > 0.0) {
        let cost =
            first.cost.map_or_else(|| "an unknown price".to_owned(), |cost| format!("{cost} $/h"));
        decision.findings.push(
            Diagnostic::new(
                Code::CostThresholdExceeded,
                format!("no class costs at most {threshold} $/h: {} was taken at {cost} for one replica", first.known.class.name()),
            )
            .at(wish.threshold_origin.and_then(Origin::span))
            .help("`--strict-cost` makes this an error"),
        );
    }
    let limit = per_node(first.known);
    if let Some(gpus) = first.gpus.filter(|gpus| *gpus > limit) {
        decision.findings.push(
            Diagnostic::new(
                Code::MultiNodeNeeded,
                format!(
                    "one replica of the {} needs {gpus} accelerators of {}: {} nodes of {limit}",
                    kind.as_str(),
                    first.known.class.name(),
                    gpus.div_ceil(limit)
                ),
            )
            .help("make the component multi-node with `leader` and `worker`, or take a class with more memory"),
        );
    }
    decision.candidates = ranked
        .iter()
        .enumerate()
        .map(|(index, ranked)| {
            let found = eligible(ranked, (index > 0).then(|| compare(first, ranked).1));
            if index == 0 { ClassCandidate { verdict: Verdict::Chosen, ..found } } else { found }
        })
        .chain(rejected)
        .collect();
    (decision, None)
}

fn eligible<'a>(ranked: &Ranked<'_, 'a>, behind: Option<ClassDecidedBy>) -> ClassCandidate<'a> {
    ClassCandidate {
        verdict: Verdict::Eligible,
        score: Some(ranked.score),
        terms: ranked.terms,
        behind,
        preference: ranked.preference,
        ..candidate(ranked.known, ranked.gpus, ranked.cost)
    }
}

/// A candidate of which nothing is decided.
fn candidate<'a>(known: &Known<'a>, gpus: Option<u64>, cost: Option<f64>) -> ClassCandidate<'a> {
    ClassCandidate {
        name: known.class.name().clone(),
        class: Some(known.class),
        verdict: Verdict::Rejected,
        score: None,
        terms: None,
        behind: None,
        gpus,
        nodes_needed: gpus.unwrap_or(1).div_ceil(per_node(known)).max(1),
        cost_per_hour: cost,
        preference: 0,
        capabilities: known.evidence.clone(),
        reasons: Vec::new(),
    }
}

fn near(name: &str, classes: &[Known<'_>]) -> Option<String> {
    nearest(name, classes.iter().map(|known| known.class.name().as_str()))
        .map(|near| format!("did you mean `{near}`?"))
}

fn unknown_class(named: &Field<EcoString>, classes: &[Known<'_>]) -> Failure {
    let hint = near(&named.value, classes);
    Failure {
        code: Code::AcceleratorNotFound,
        message: format!(
            "unknown AcceleratorClass `{}`{}",
            named.value,
            hint.as_ref().map_or(String::new(), |hint| format!(": {hint}"))
        ),
        help: hint.or_else(|| Some("load the class with `-f`".into())),
        span: named.span(),
    }
}

fn unlisted(named: &Field<EcoString>, classes: &[Known<'_>]) -> Diagnostic {
    Diagnostic::new(
        Code::AcceleratorNotFound,
        format!("supportedClasses names unknown AcceleratorClass `{}`", named.value),
    )
    .severity(crate::diag::Severity::Warning)
    .at(named.span())
    .help(near(&named.value, classes).unwrap_or_else(|| "load the class with `-f`".into()))
}

/// The class that came nearest, with what it lacks: the one that is demanded, else the one that
/// fails the fewest checks, of those the one with the most memory.
fn nearest_class(
    wish: &Effective<'_>,
    classes: &[&Known<'_>],
    rejected: &[ClassCandidate<'_>],
) -> Option<EcoString> {
    let memory = |candidate: &ClassCandidate<'_>| {
        let known = classes.iter().find(|known| *known.name() == *candidate.name);
        known.and_then(|known| known.memory.as_ref()).map(|(memory, _)| memory.0)
    };
    let is_demanded = |candidate: &ClassCandidate<'_>| {
        wish.preferred.iter().any(|name| name.value == candidate.name)
    };
    let nearest = rejected.iter().min_by_key(|candidate| {
        (!is_demanded(candidate), candidate.reasons.len(), Reverse(memory(candidate)))
    })?;
    Some(lacks(nearest))
}

/// A class and what it lacks.
fn lacks(candidate: &ClassCandidate<'_>) -> EcoString {
    let reasons: Vec<&str> =
        candidate.reasons.iter().map(|reason| reason.detail.as_str()).collect();
    eco_format!("{}: {}", candidate.name, reasons.join(", "))
}

/// What demands a class, and the class.
fn demand(wish: &Effective<'_>) -> Option<String> {
    let names: Vec<&str> = wish.preferred.iter().map(|name| name.value.as_str()).collect();
    let names = names.join(", ");
    match wish.hard {
        Some((_, ClassDecidedBy::Annotation)) => {
            Some(format!("annotation ome.io/accelerator-class takes {names}"))
        }
        Some(_) => Some(format!("acceleratorClass takes {names}")),
        None if names.is_empty() => None,
        None => Some(format!("--strict-preferred takes {names}")),
    }
}

/// The error that says of every class what it lacks, the nearest miss first; of classes that lack
/// nothing, what rules them out.
fn nothing_fits(
    request: &Request<'_, '_>,
    kind: ComponentKind,
    wish: &Effective<'_>,
    passed: &[Ranked<'_, '_>],
    rejected: &[ClassCandidate<'_>],
) -> Failure {
    const SHOWN: usize = 5;
    // A class that is named comes first, then the nearest miss.
    let named = rejected
        .iter()
        .filter(|candidate| wish.preferred.iter().any(|name| name.value == candidate.name));
    let others = rejected
        .iter()
        .filter(|candidate| !wish.preferred.iter().any(|name| name.value == candidate.name));
    // Where another class would do, only the one that is demanded has to be explained.
    let others = others.filter(|_| passed.is_empty());
    let mut all: Vec<String> =
        named.chain(others).take(SHOWN).map(|candidate| lacks(candidate).to_string()).collect();
    if passed.is_empty() && rejected.len() > SHOWN {
        all.push(format!("{} more", rejected.len() - SHOWN));
    }
    let of = format!(
        "the requirements of the {} of {} on runtime {}",
        kind.as_str(),
        request.service.name(),
        request.runtime.object.id.name
    );
    let see = format!("see every class and check with `ome explain {}`", request.service.name());
    let names: Vec<&str> = passed.iter().map(|ranked| ranked.known.class.name().as_str()).collect();
    let (message, help) = match demand(wish).filter(|_| !passed.is_empty()) {
        Some(demand) => (
            format!(
                "{demand}, which does not meet {of}: {}; {} would",
                all.join("; "),
                names.join(", ")
            ),
            format!("take {}, or relax what it fails; {see}", names[0]),
        ),
        None => (format!("no accelerator class meets {of}: {}", all.join("; ")), see),
    };
    Failure {
        code: Code::NoCompatibleAccelerator,
        message,
        help: Some(help),
        span: wish
            .preferred
            .first()
            .and_then(|name| name.span())
            .or_else(|| Some(request.service.object.name_span())),
    }
}
