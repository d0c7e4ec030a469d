//! Requirements and preferences of a service and its runtime, by layer (OEP-0003, Override
//! Hierarchy).
//!
//! In: a service, its runtime and the options of the input. Out: one [`Effective`] for a component,
//! and findings about values that cannot be parsed.

use crate::api::{
    AcceleratorAnnotations, AcceleratorSelector, AcceleratorWish, Capabilities, ComponentKind,
    Field,
};
use crate::decision::{ClassDecidedBy, Requirement};
use crate::diag::{Code, Diagnostic, nearest};
use crate::operators::ome::accelerators::requirements::shortfall::compare_versions;
use crate::operators::ome::accelerators::{Request, condition};
use crate::quantity::{Memory, Range};
use crate::yaml::{Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::cmp::Ordering;

/// Strategies in the order of the document.
const STRATEGIES: [&str; 3] = ["performance", "cost", "balanced"];

static DEFAULT_STRATEGY: Rule = Rule {
    id: "default-strategy",
    text: "The default strategy is balanced.",
    cite: "OEP-0003, InferenceService Extensions; docs/decisions.md#strategy",
};

/// A class that must be taken, and the kind of field that requires it.
type Hard<'a> = (&'a Field<EcoString>, ClassDecidedBy);

/// The effective requirements and preferences of a component (OEP-0003, Override Hierarchy).
pub(super) struct Effective<'a> {
    pub(super) strategy: &'static str,
    pub(super) preferred: Vec<&'a Field<EcoString>>,
    /// The one class that must be taken, and the kind of field that requires it.
    pub(super) hard: Option<Hard<'a>>,
    pub(super) supported: &'a [Field<EcoString>],
    pub(super) excluded: &'a [Field<EcoString>],
    pub(super) required: Capabilities,
    pub(super) threshold: Option<f64>,
    pub(super) threshold_origin: Option<Origin>,
    pub(super) request_size: Option<EcoString>,
    pub(super) requirements: Vec<Requirement>,
}

pub(super) fn list(items: &[&Field<EcoString>]) -> Node {
    // An empty list has no place of its own.
    let origin = items.first().map_or(Origin::Default(&DEFAULT_STRATEGY), |item| item.origin);
    Node::list(items.iter().map(|item| Node::str(item.value.clone(), item.origin)), origin)
}

pub(super) fn effective<'r>(
    request: &'r Request<'_, '_>,
    kind: ComponentKind,
    findings: &mut Vec<Diagnostic>,
) -> Effective<'r> {
    let runtime = &request.runtime.accelerators;
    let mut wishes = Wishes::of(&request.service.accelerators, kind);
    let strategy = wishes.strategy(findings);
    let (preferred, hard) = wishes.classes();
    if !runtime.supported.is_empty() {
        let supported = list(&runtime.supported.iter().collect::<Vec<_>>());
        wishes.say("supportedClasses", vec![(supported, "runtime")]);
    }
    let required = wishes.required(&runtime.required);
    let (threshold, threshold_origin) = wishes.threshold(findings);
    // The flag is parsed already; an annotation is a text that may be no number.
    let of_flag = request.catalog.accelerator_options().request_size;
    let request_size = match of_flag {
        Some(size) => Some(eco_format!("{size}")),
        None => wishes.request_size(findings),
    };
    let constraints = wishes.wish.selector.constraints.as_ref();
    Effective {
        strategy,
        preferred,
        hard,
        supported: &runtime.supported,
        excluded: constraints
            .map(|constraints| constraints.excluded.as_slice())
            .unwrap_or_default(),
        required,
        threshold,
        threshold_origin,
        request_size,
        requirements: wishes.requirements,
    }
}

/// What a service wishes for one of its components, and what was recorded of it.
struct Wishes<'r> {
    wish: &'r AcceleratorWish,
    /// The fields of the component, which override those of the service.
    over: &'r AcceleratorSelector,
    /// Annotations, the highest layer first.
    layers: [(&'r AcceleratorAnnotations, &'static str); 2],
    requirements: Vec<Requirement>,
}

impl<'r> Wishes<'r> {
    fn of(wish: &'r AcceleratorWish, kind: ComponentKind) -> Self {
        Self {
            wish,
            over: &wish.overrides[kind as usize],
            layers: [
                (&wish.component_annotations[kind as usize], "component-annotation"),
                (&wish.annotations, "annotation"),
            ],
            requirements: Vec::new(),
        }
    }

    /// Records the values of all layers for one key, the highest layer first.
    fn say(&mut self, key: &'static str, mut layers: Vec<(Node, &'static str)>) {
        if !layers.is_empty() {
            let (value, layer) = layers.remove(0);
            self.requirements.push(Requirement { key, value, layer, overridden: layers });
        }
    }

    /// The values of one annotation, the highest layer first.
    fn annotated(
        &self,
        get: fn(&AcceleratorAnnotations) -> Option<&Field<EcoString>>,
    ) -> impl Iterator<Item = (&'r Field<EcoString>, &'static str)> + use<'r> {
        let layers = self.layers.into_iter();
        layers.filter_map(move |(annotations, layer)| Some((get(annotations)?, layer)))
    }

    /// The strategy: default, service, annotation.
    fn strategy(&mut self, findings: &mut Vec<Diagnostic>) -> &'static str {
        let (over, selector) = (self.over, &self.wish.selector);
        // The shipped field `policy` is read as the strategy that comes nearest to it.
        let by_policy = over.policy.as_ref().or(selector.policy.as_ref()).and_then(|policy| {
            let name = match policy.value.as_str() {
                "Cheapest" => "cost",
                "MostCapable" => "performance",
                "BestFit" | "FirstAvailable" => "balanced",
                // The schema reports any other value.
                _ => return None,
            };
            Some(Field::new(EcoString::from(name), policy.origin))
        });
        let of_service =
            over.strategy.as_ref().or(selector.strategy.as_ref()).cloned().or(by_policy);
        let written: Vec<(Field<EcoString>, &'static str)> = self
            .annotated(|annotations| annotations.strategy.as_ref())
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
            // An unknown name was reported; the service is decided with the default all the same.
            .unwrap_or("balanced");
        let default = (Node::str("balanced", Origin::Default(&DEFAULT_STRATEGY)), "default");
        self.say(
            "strategy",
            written
                .iter()
                .map(|(field, layer)| (Node::str(field.value.clone(), field.origin), *layer))
                .chain([default])
                .collect(),
        );
        strategy
    }

    /// The preferred classes, and the one that must be taken. A class that an annotation or the
    /// shipped field sets is mandatory.
    fn classes(&mut self) -> (Vec<&'r Field<EcoString>>, Option<Hard<'r>>) {
        let (over, selector) = (self.over, &self.wish.selector);
        let named: Vec<(&Field<EcoString>, &'static str)> =
            self.annotated(|annotations| annotations.class.as_ref()).collect();
        let shipped =
            over.class.as_ref().or(selector.class.as_ref()).filter(|class| !class.value.is_empty());
        let hard = named
            .first()
            .map(|(class, _)| (*class, ClassDecidedBy::Annotation))
            .or_else(|| shipped.map(|class| (class, ClassDecidedBy::Named)));
        // A component's list replaces the one of the service; the two are not joined.
        let wished = if over.preferred.is_empty() { &selector.preferred } else { &over.preferred };
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
        self.say("preferredClasses", layered);
        (preferred, hard)
    }

    /// The minimums of the service and its component.
    fn minimums(&self) -> Capabilities {
        let selector = &self.wish.selector;
        // Inside of the service nothing is recorded: only service over runtime is a layer in the
        // answer.
        let written = merged_minimums(&selector.required, &self.over.required, &mut |_, _| {});
        let Some(constraints) = &selector.constraints else { return written };
        let shipped = Capabilities {
            memory: constraints.min_memory.as_ref().and_then(|least| {
                // A negative minimum is no amount of memory and requires nothing.
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
        merged_minimums(&written, &shipped, &mut |_, _| {})
    }

    /// The minimums of the service over those of the runtime.
    fn required(&mut self, runtime: &Capabilities) -> Capabilities {
        let capabilities = self.minimums();
        let mut from_service: Vec<&'static str> = Vec::new();
        let required =
            merged_minimums(runtime, &capabilities, &mut |key, _| from_service.push(key));
        // The minimums of both sides, to show the value that was not taken beside the one that was.
        let (below, above) = (minimums(runtime), minimums(&capabilities));
        for (key, node) in minimums(&required) {
            let side = |side: &[(&'static str, Node)]| {
                side.iter().find(|(side, _)| *side == key).map(|(_, node)| node.clone())
            };
            let (upper, lower) = (
                side(&above).map(|node| (node, "service")),
                side(&below).map(|node| (node, "runtime")),
            );
            let tightened = from_service.contains(&key);
            let layer = if tightened { "service" } else { "runtime" };
            // Features of both layers are required: neither overrides the other.
            let is_union = key == "features";
            let mut node = node;
            // The place is one of the layer that is named, also where both set the first feature.
            let named = if tightened { &upper } else { &lower };
            if let Some((named, _)) = named.as_ref().filter(|_| is_union) {
                node.origin = named.origin;
            }
            // The side that lost; where only one side sets the key there is none.
            let other = if tightened { lower } else { upper }.filter(|_| !is_union);
            self.say(key, std::iter::once((node, layer)).chain(other).collect());
        }
        required
    }

    /// The cost threshold, and where it is written.
    fn threshold(&mut self, findings: &mut Vec<Diagnostic>) -> (Option<f64>, Option<Origin>) {
        let thresholds: Vec<(&Field<EcoString>, &'static str)> =
            self.annotated(|annotations| annotations.cost_threshold.as_ref()).collect();
        let value =
            |threshold: &Field<EcoString>| Node::str(threshold.value.clone(), threshold.origin);
        let layers = thresholds.iter().map(|(threshold, layer)| (value(threshold), *layer));
        self.say("costThreshold", layers.collect());
        let Some((threshold, _)) = thresholds.first() else { return (None, None) };
        let price = Range::AMOUNT.read(&threshold.value).map(|price| price.as_f64());
        if price.is_none() {
            findings.push(not_a_number(
                "cost threshold",
                threshold,
                "write dollars an hour of one replica, such as `2.5`",
            ));
        }
        (price, Some(threshold.origin))
    }

    /// The request size of an annotation.
    fn request_size(&self, findings: &mut Vec<Diagnostic>) -> Option<EcoString> {
        let (size, _) = self.annotated(|annotations| annotations.request_size.as_ref()).next()?;
        if condition::tokens(&size.value).is_none() {
            findings.push(not_a_number(
                "request size",
                size,
                "write tokens, such as `2048` or `4k`",
            ));
            return None;
        }
        Some(size.value.clone())
    }
}

/// The minimums that capabilities set, by key.
pub(super) fn minimums(of: &Capabilities) -> Vec<(&'static str, Node)> {
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

/// The finding about an annotation that is not a number; the annotation is ignored.
fn not_a_number(what: &str, field: &Field<EcoString>, help: &str) -> Diagnostic {
    Diagnostic::new(
        Code::InvalidQuantity,
        format!("`{}` is no {what} and counts as unstated", field.value),
    )
    .at(field.span())
    .help(help)
}

/// The finding about an unknown strategy.
fn unknown_strategy(field: &Field<EcoString>) -> Diagnostic {
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

/// Minimums that satisfy both: the larger numbers and versions, the union of features. `taken` is
/// called with each key that the upper one sets.
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
    // Versions that cannot be compared leave the lower layer's, as none is known to be higher.
    let above =
        |name: &EcoString, below: &EcoString| compare_versions(below, name) == Some(Ordering::Less);
    if let Some(version) = upper.compute_capability.as_ref().filter(|field| {
        lower.compute_capability.as_ref().is_none_or(|below| above(&field.value, &below.value))
    }) {
        out.compute_capability = Some(version.clone());
        taken("computeCapability", version.origin);
    }
    if let Some(bandwidth) = upper.bandwidth.as_ref().filter(|quantity| {
        lower.bandwidth.as_ref().is_none_or(|below| below.value < quantity.value)
    }) {
        out.bandwidth = Some(bandwidth.clone());
        taken("memoryBandwidthGBps", bandwidth.origin);
    }
    if let Some(clock) = upper
        .clock
        .as_ref()
        .filter(|field| lower.clock.as_ref().is_none_or(|below| below.value < field.value))
    {
        out.clock = Some(clock.clone());
        taken("clockSpeedMHz", clock.origin);
    }
    for (figure, value) in &upper.performance {
        match out.performance.iter_mut().find(|(other, _)| other == figure) {
            Some((_, below)) if below.value >= value.value => continue,
            Some((_, below)) => *below = value.clone(),
            None => out.performance.push((*figure, value.clone())),
        }
        taken(figure.proposed_key(), value.origin);
    }
    for (key, version) in &upper.versions {
        match out.versions.iter_mut().find(|(version, _)| version == key) {
            Some((_, below)) if !above(&version.value, &below.value) => continue,
            Some((_, below)) => *below = version.clone(),
            None => out.versions.push((key, version.clone())),
        }
        taken(key, version.origin);
    }
    for feature in &upper.features {
        let same = |field: &&mut Field<EcoString>| field.value.eq_ignore_ascii_case(&feature.value);
        // Of a feature that both layers set, the place is that of the upper one.
        if let Some(field) = out.features.iter_mut().find(same) {
            field.origin = feature.origin;
        } else {
            out.features.push(feature.clone());
            taken("features", feature.origin);
        }
    }
    out
}
