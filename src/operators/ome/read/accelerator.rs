//! Accelerators: classes, requirements of runtimes, selectors of services. Both spellings are read
//! into one representation.
//!
//! In controller mode only the shipped fields are read, because the CRD prunes the others; in
//! documented mode all fields are read (OEP-0003, AcceleratorClass; docs/decisions.md#api-shapes).
//! A value of the wrong type counts as absent: `validate` reports it.

use crate::api::fields::{boolean, integer, text, texts};
use crate::api::{
    AcceleratorAnnotations, AcceleratorClass, AcceleratorConfiguration, AcceleratorRequirements,
    AcceleratorSelector, AcceleratorWish, Capabilities, ClassResource, ComponentKind, Constraints,
    Cost, Discovery, Field, Figure, Object, PreferenceCondition, PreferenceEntry,
    RuntimeConfigurations, Semantics,
};
use crate::quantity::{GIB, Memory, Quantity, Range};
use crate::yaml::{Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// Annotation that sets the strategy.
pub const SELECTION_STRATEGY: &str = "ome.io/selection-strategy";
/// Annotation with the size of requests in tokens: this tool's own (OEP-0003, Story 6;
/// docs/decisions.md#preference-order).
const REQUEST_SIZE: &str = "ome.io/request-size";
/// Annotation with the maximum price of one replica, in dollars per hour (OEP-0003, Story 6;
/// docs/decisions.md#cost).
const COST_THRESHOLD: &str = "ome.io/cost-threshold";

/// Key of the configurations that apply when a class is chosen.
const CONFIGURATIONS: &str = "acceleratorConfigurations";

/// In documented mode, a memory number without unit below this limit is in GiB
/// (docs/decisions.md#memory-fit).
const UNITLESS_LIMIT: u64 = 4096;

static ONE_EACH: Rule = Rule {
    id: "resource-quantity",
    text: "By default a class requests one of its resource per accelerator.",
    cite: "OEP-0003, AcceleratorClass; docs/decisions.md#resources, CRD default",
};

static IMPLIED_RESOURCE: Rule = Rule {
    id: "implied-resource",
    text: "A class that lists no resources requests the one of its vendor, or of the vendor whose labels it selects by.",
    cite: "OEP-0003, Test Plan; docs/decisions.md#kueue-exchange",
};

/// Vendors, each with a prefix of its node labels and the resource name of its devices.
const VENDOR_RESOURCES: [(&str, &str, &str); 8] = [
    ("nvidia", "nvidia.com/", "nvidia.com/gpu"),
    ("amd", "amd.com/", "amd.com/gpu"),
    ("amd", "gpu.amd.com/", "amd.com/gpu"),
    ("amd", "beta.amd.com/", "amd.com/gpu"),
    ("habana", "habana.ai/", "habana.ai/gaudi"),
    ("intel", "gpu.intel.com/", "gpu.intel.com/i915"),
    ("google", "cloud.google.com/gke-tpu", "google.com/tpu"),
    ("aws", "aws.amazon.com/neuron", "aws.amazon.com/neuron"),
];

/// The resource of a class that lists none, derived from its vendor or its node labels.
fn implied_resource(
    vendor: Option<&Field<EcoString>>,
    discovery: &Discovery,
) -> Option<ClassResource> {
    let keys =
        discovery.node_selector.iter().flat_map(Node::entries).map(|entry| entry.key.clone());
    let expressions = discovery
        .terms
        .iter()
        .flat_map(Node::items)
        .filter_map(|term| term.get("matchExpressions"))
        .flat_map(Node::items);
    let keys: Vec<EcoString> = keys
        .chain(expressions.filter_map(|expression| expression.get("key")?.scalar_text()))
        .collect();
    // The vendor counts above labels: a class may select by labels of a cloud.
    let by_vendor = VENDOR_RESOURCES
        .iter()
        .find(|(name, ..)| vendor.is_some_and(|vendor| vendor.value.eq_ignore_ascii_case(name)));
    let by_label = || {
        VENDOR_RESOURCES
            .iter()
            .find(|(_, domain, _)| keys.iter().any(|key| key.starts_with(domain)))
    };
    let (.., resource) = by_vendor.or_else(by_label)?;
    let origin = Origin::Default(&IMPLIED_RESOURCE);
    Some(ClassResource {
        name: Field::new((*resource).into(), origin),
        quantity: Node::str("1", origin),
        divisible: false,
    })
}

/// Reads an AcceleratorClass.
pub fn accelerator_class(object: Object, semantics: Semantics) -> AcceleratorClass {
    let documented = semantics == Semantics::Documented;
    // In Go a null is a field that is not set.
    let spec = |key: &str| object.spec(key).filter(|node| !node.is_null());
    let discovery = spec("discovery");
    let found = |key: &str| {
        discovery.and_then(|discovery| discovery.get(key)).filter(|node| !node.is_null())
    };
    let vendor = text(spec("vendor"));
    let discovery = Discovery {
        node_selector: found("nodeSelector")
            .or_else(|| spec("nodeSelector").filter(|_| documented))
            .filter(|node| node.as_map().is_some())
            .cloned(),
        terms: found("nodeSelectorTerms")
            .filter(|node| documented && !node.items().is_empty())
            .cloned(),
        affinity: found("affinity").filter(|node| node.as_map().is_some()).cloned(),
        pci_vendor: text(found("pciVendorID")),
        device_ids: texts(found("deviceIDs")),
    };
    // An empty list is a list: only a class without the field gets the implied resource.
    let resources = match spec("resources") {
        Some(listed) => listed.items().iter().filter_map(resource).collect(),
        None => implied_resource(vendor.as_ref().filter(|_| documented), &discovery)
            .filter(|_| documented)
            .into_iter()
            .collect(),
    };
    AcceleratorClass {
        vendor,
        family: text(spec("family")),
        model: text(spec("model")),
        discovery,
        capabilities: capabilities(spec("capabilities"), semantics),
        resources,
        cost: spec("cost").map(|cost| Cost {
            per_hour: quantity(cost.get("perHour")),
            spot_per_hour: quantity(cost.get("spotPerHour")),
            per_million_tokens: quantity(cost.get("perMillionTokens")),
            tier: text(cost.get("tier")).filter(|tier| !tier.value.is_empty()),
        }),
        kueue_flavor: text(object.node.at(&["spec", "integration", "kueueResourceFlavor"]))
            .filter(|name| !name.value.is_empty()),
        volcano_gpu_type: text(object.node.at(&["spec", "integration", "volcanoGPUType"])),
        object,
    }
}

fn resource(node: &Node) -> Option<ClassResource> {
    Some(ClassResource {
        name: text(node.get("name"))?,
        quantity: node
            .get("quantity")
            .filter(|quantity| !quantity.is_null())
            .cloned()
            .unwrap_or_else(|| Node::str("1", Origin::Default(&ONE_EACH))),
        divisible: boolean(node.get("divisible")).is_some_and(|divisible| divisible.value),
    })
}

fn quantity(node: Option<&Node>) -> Option<Field<Quantity>> {
    let node = node?;
    Some(Field::new(Range::AMOUNT.read(&node.scalar_text()?)?, node.origin))
}

/// Parses memory by the rules of a mode.
pub fn memory(text: &str, semantics: Semantics) -> Option<Memory> {
    let memory = Memory::parse(text).ok()?;
    // No device has less than 4096 bytes: the number is in GiB.
    let unitless = semantics == Semantics::Documented
        && memory.0 < UNITLESS_LIMIT
        && text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if unitless {
        // 40 and 40.5 are GiB.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "below 4096 GiB"
        )]
        let bytes = (text.trim().parse::<f64>().ok()? * GIB as f64) as u64;
        return Some(Memory(bytes));
    }
    Some(memory)
}

/// Reads capabilities, or minimums for them.
pub fn capabilities(node: Option<&Node>, semantics: Semantics) -> Capabilities {
    let Some(node) = node.filter(|node| node.as_map().is_some()) else {
        return Capabilities::default();
    };
    let documented = semantics == Semantics::Documented;
    let get = |key: &str| node.get(key).filter(|found| !found.is_null());
    let alias = |key: &str, other: &str| get(key).or_else(|| get(other).filter(|_| documented));
    let memory_text = get("memoryGB").and_then(Node::scalar_text).unwrap_or_default();
    let performance = get("performance");
    Capabilities {
        memory: get("memoryGB")
            .and_then(|found| Some(Field::new(memory(&memory_text, semantics)?, found.origin))),
        memory_text: memory_text.clone(),
        compute_capability: alias("computeCapability", "minComputeCapability").and_then(|found| {
            // An unquoted `9.0` is a number in YAML, which Go's string field refuses.
            let value = if documented { found.scalar_text()? } else { found.as_str()?.into() };
            (!value.is_empty()).then(|| Field::new(value, found.origin))
        }),
        bandwidth: quantity(get("memoryBandwidthGBps")),
        clock: integer(get("clockSpeedMHz")).filter(|clock| Range::COUNT.holds(clock.value)),
        features: texts(alias("features", "requiredFeatures")),
        has_performance: performance.is_some(),
        performance: performance
            .map(|performance| figures(performance, documented))
            .unwrap_or_default(),
        versions: ["rocmVersion", "levelZeroVersion"]
            .into_iter()
            .filter_map(|key| {
                let found = get(key).filter(|_| documented)?;
                Some((key, Field::new(found.scalar_text()?, found.origin)))
            })
            .collect(),
    }
}

fn figures(performance: &Node, documented: bool) -> Vec<(Figure, Field<f64>)> {
    let is_known = |key: &str, figure: Figure| {
        if documented {
            key.eq_ignore_ascii_case(figure.shipped_key())
        } else {
            // The shipped API has no figure for FP8.
            key == figure.shipped_key() && figure != Figure::Fp8
        }
    };
    let entries = performance.entries().filter_map(|entry| {
        let figure = Figure::ALL.into_iter().find(|figure| is_known(&entry.key, *figure))?;
        let value = Range::AMOUNT.read(&entry.node.scalar_text()?)?.as_f64();
        Some((figure, Field::new(value, entry.node.origin)))
    });
    entries.collect()
}

fn constraints(node: &Node) -> Constraints {
    Constraints {
        min_memory: integer(node.get("minMemory")),
        max_memory: integer(node.get("maxMemory")),
        min_tflops: integer(node.get("minComputePerformanceTFLOPS")),
        min_architecture: text(node.get("minArchitectureVersion")),
        features: texts(node.get("requiredFeatures")),
        excluded: texts(node.get("excludedClasses")),
        families: texts(node.get("architectureFamilies")),
        precisions: texts(node.get("preferredPrecisions")),
    }
}

fn selector(node: Option<&Node>, semantics: Semantics) -> AcceleratorSelector {
    let Some(node) = node.filter(|node| node.as_map().is_some()) else {
        return AcceleratorSelector::default();
    };
    let documented = semantics == Semantics::Documented;
    AcceleratorSelector {
        class: text(node.get("acceleratorClass")),
        policy: text(node.get("policy")).filter(|policy| !policy.value.is_empty()),
        constraints: node
            .get("constraints")
            .filter(|found| found.as_map().is_some())
            .map(constraints),
        preferred: if documented { texts(node.get("preferredClasses")) } else { Vec::new() },
        required: capabilities(node.get("requiredCapabilities").filter(|_| documented), semantics),
        strategy: text(node.get("strategy"))
            .filter(|strategy| documented && !strategy.value.is_empty()),
        node_selector: node
            .get("nodeSelector")
            .filter(|found| documented && found.as_map().is_some())
            .cloned(),
    }
}

fn annotations(node: Option<&Node>) -> AcceleratorAnnotations {
    let value = |key: &str| {
        let found = node?.get(key)?;
        // Unquoted numbers are accepted, although the API server rejects them.
        let text = found.scalar_text().filter(|text| !text.is_empty())?;
        Some(Field::new(text, found.origin))
    };
    AcceleratorAnnotations {
        class: value(super::ACCELERATOR_CLASS),
        strategy: value(SELECTION_STRATEGY),
        request_size: value(REQUEST_SIZE),
        cost_threshold: value(COST_THRESHOLD),
    }
}

/// All accelerator settings of a service. `spec` is its spec after migration.
pub(super) fn wish(object: &Object, spec: &Node, semantics: Semantics) -> Arc<AcceleratorWish> {
    let parts = [ComponentKind::Engine, ComponentKind::Decoder].map(|kind| spec.get(kind.as_str()));
    let accelerator_selector = spec.get("acceleratorSelector");
    let on_service = object.metadata("annotations");
    let annotated = |node: Option<&Node>| {
        node.is_some_and(|node| {
            [super::ACCELERATOR_CLASS, SELECTION_STRATEGY, REQUEST_SIZE, COST_THRESHOLD]
                .iter()
                .any(|key| node.get(key).is_some())
        })
    };
    // Equal keys are equal wishes: services with none share one value and their choices are
    // remembered.
    let mut key = String::new();
    let mut message_of = |name: &str, node: Option<&Node>| {
        if let Some(node) = node.filter(|node| !node.is_empty()) {
            key.push_str(name);
            key.push_str(&node.to_json().to_string());
        }
    };
    message_of("s", accelerator_selector);
    for (kind, part) in ["engine.", "decoder."].into_iter().zip(parts) {
        let Some(part) = part else { continue };
        for key in [
            "acceleratorOverride",
            "acceleratorConfigurations",
            "nodeSelector",
            "tolerations",
            "affinity",
        ] {
            message_of(&format!("{kind}{key}"), part.get(key));
        }
        // Other annotations of the component change nothing about accelerators.
        message_of(kind, part.get("annotations").filter(|node| annotated(Some(node))));
    }
    message_of("m", on_service.filter(|node| annotated(Some(node))));
    if key.is_empty() {
        return AcceleratorWish::silent();
    }
    let below = annotations(
        accelerator_selector
            .and_then(|node| node.get("annotations"))
            .filter(|_| semantics == Semantics::Documented),
    );
    let above = annotations(on_service);
    Arc::new(AcceleratorWish {
        selector: selector(accelerator_selector, semantics),
        overrides: parts
            .map(|part| selector(part.and_then(|part| part.get("acceleratorOverride")), semantics)),
        annotations: AcceleratorAnnotations {
            // The annotations of the service count above those of its selector.
            class: above.class.or(below.class),
            strategy: above.strategy.or(below.strategy),
            request_size: above.request_size.or(below.request_size),
            cost_threshold: above.cost_threshold.or(below.cost_threshold),
        },
        configurations: parts.map(|part| configurations(part, semantics)),
        component_annotations: parts.map(|part| {
            annotations(
                part.and_then(|part| part.get("annotations"))
                    .filter(|_| semantics == Semantics::Documented),
            )
        }),
        key: key.into(),
    })
}

/// `acceleratorRequirements` of a runtime in documented mode.
pub(super) fn requirements(node: Option<&Node>) -> AcceleratorRequirements {
    let Some(node) = node.filter(|node| node.as_map().is_some()) else {
        return AcceleratorRequirements::default();
    };
    let mut required = capabilities(node.get("requiredCapabilities"), Semantics::Documented);
    // The shipped sibling fields apply where the capabilities set no value.
    if required.memory.is_none()
        && let Some(least) = integer(node.get("minMemory"))
        && let Some(memory) = u64::try_from(least.value).ok().and_then(Memory::from_gib)
    {
        required.memory_text = eco_format!("{}Gi", least.value);
        required.memory = Some(Field::new(memory, least.origin));
    }
    if required.compute_capability.is_none() {
        required.compute_capability = text(node.get("minArchitectureVersion"));
    }
    if required.features.is_empty() {
        required.features = texts(node.get("requiredFeatures"));
    }
    let mut supported = texts(node.get("supportedClasses"));
    // The shipped list means the same: a runtime accepts only the classes that it lists.
    supported.extend(texts(node.get("acceleratorClasses")));
    AcceleratorRequirements {
        supported,
        required,
        preference: node
            .get("preferenceOrder")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(preference)
            .collect(),
        origin: Some(node.origin),
    }
}

fn preference(node: &Node) -> Option<PreferenceEntry> {
    let conditions = node.get("conditions").map(Node::items).unwrap_or_default();
    Some(PreferenceEntry {
        class: text(node.get("class"))?,
        score: integer(node.get("score")).unwrap_or(Field::new(0, node.origin)),
        conditions: conditions
            .iter()
            .flat_map(Node::entries)
            .filter_map(|entry| {
                Some(PreferenceCondition {
                    key: entry.key.clone(),
                    expression: Field::new(entry.node.scalar_text()?, entry.node.origin),
                })
            })
            .collect(),
    })
}

/// One entry of `acceleratorConfigurations`; none without a selector, which `validate` reports.
pub fn configuration(node: &Node) -> Option<AcceleratorConfiguration> {
    let selector = node
        .get("selector")
        .filter(|selector| selector.as_map().is_some_and(|map| !map.is_empty()))?;
    let mut classes: Vec<Field<EcoString>> =
        text(selector.get("acceleratorClass")).into_iter().collect();
    classes.extend(texts(selector.get("acceleratorClasses")));
    Some(AcceleratorConfiguration {
        classes,
        capabilities: capabilities(selector.get("capabilities"), Semantics::Documented),
        labels: selector.get("matchLabels").filter(|labels| labels.as_map().is_some()).cloned(),
        node: node.clone(),
    })
}

fn configurations(holder: Option<&Node>, semantics: Semantics) -> Vec<AcceleratorConfiguration> {
    let list = holder
        .filter(|_| semantics == Semantics::Documented)
        .and_then(|holder| holder.get(CONFIGURATIONS));
    list.map(Node::items).unwrap_or_default().iter().filter_map(configuration).collect()
}

/// The configurations of a runtime; the shipped CRD prunes them.
pub(super) fn of_runtime(object: &Object, semantics: Semantics) -> RuntimeConfigurations {
    RuntimeConfigurations {
        shared: configurations(object.node.get("spec"), semantics),
        components: [ComponentKind::Engine, ComponentKind::Decoder]
            .map(|kind| configurations(object.spec(kind.config_key()), semantics)),
    }
}
