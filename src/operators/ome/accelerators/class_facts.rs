//! The facts of each class: its declared capabilities, completed from facts about its product and
//! from labels of its nodes. Every value has its evidence (OEP-0003, Story 4;
//! docs/decisions.md#capabilities).

use crate::api::{AcceleratorClass, Capabilities, Figure, Semantics};
use crate::catalog::Catalog;
use crate::cluster::{Machine, Matcher};
use crate::decision::{Evidence, KnownCapability};
use crate::facts::Product;
use crate::quantity::Memory;
use crate::yaml::Origin;
use crate::{cluster as machines, facts};
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::Arc;

/// A class with all known facts.
#[derive(Clone, Debug)]
pub(crate) struct ClassFacts<'a> {
    pub(super) class: &'a AcceleratorClass,
    /// The nominal memory and its text; minimums are compared with it.
    pub(super) memory: Option<(Memory, EcoString)>,
    /// The memory as nodes report it, else the nominal memory; models must fit into it.
    pub(super) measured: Option<Memory>,
    pub(super) compute_capability: Option<EcoString>,
    pub(super) bandwidth: Option<f64>,
    pub(super) features: Vec<EcoString>,
    pub(super) figures: Vec<(Figure, f64)>,
    /// Nodes of the class; none when no Node was read.
    pub(super) machines: Option<Arc<[&'a Machine]>>,
    /// Accelerators of the largest node; none when unknown.
    pub(super) per_node: Option<u64>,
    pub(super) evidence: Vec<KnownCapability>,
}

impl ClassFacts<'_> {
    /// Name of the class.
    pub(crate) fn name(&self) -> &str {
        self.class.name()
    }

    /// The memory that models must fit into.
    pub(crate) fn usable_memory(&self) -> Option<Memory> {
        self.measured.or_else(|| self.memory.as_ref().map(|(memory, _)| *memory))
    }

    pub(super) fn figure(&self, figure: Figure) -> Option<f64> {
        self.figures.iter().find(|(other, _)| *other == figure).map(|(_, value)| *value)
    }

    /// Whether the class has a feature, ignoring case. A generic feature `x` is also met by its
    /// versioned form `x-...`.
    pub(super) fn has_feature(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        self.features.iter().any(|feature| {
            let text = feature.to_lowercase();
            text == wanted
                || text.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
        })
    }
}

/// The facts of every class, by name. Built-in classes are included; a service gets one only if it
/// or its runtime names it.
pub(crate) fn all(catalog: &Catalog) -> Vec<ClassFacts<'_>> {
    let machines = catalog.machines();
    let mut matcher = Matcher::new(machines);
    // Classes that select the same nodes share one list.
    let mut seen: HashMap<*const &Machine, OfNodes<'_>> = HashMap::new();
    let classes = catalog.classes_by(Semantics::Documented).map(|class| {
        let nodes = (!machines.is_empty()).then(|| {
            let nodes = matcher.matching(class);
            // The matcher returns one shared list for equal selectors, so that its address is a
            // key.
            seen.entry(nodes.as_ptr()).or_insert_with(|| OfNodes::new(nodes))
        });
        facts_of(class, nodes)
    });
    classes.collect()
}

/// Facts that the nodes of a class report.
struct OfNodes<'a> {
    machines: Arc<[&'a Machine]>,
    memory: Option<Memory>,
    compute_capability: Option<EcoString>,
    /// The largest allocatable amount of one node, by resource.
    most: HashMap<EcoString, Option<i64>>,
}

impl<'a> OfNodes<'a> {
    fn new(machines: Arc<[&'a Machine]>) -> Self {
        let each = || machines.iter().copied();
        Self {
            // The least of the nodes: a pod may start on any of them.
            memory: each().filter_map(machines::labeled_memory).min(),
            compute_capability: each().find_map(machines::labeled_compute),
            most: HashMap::new(),
            machines,
        }
    }

    fn most(&mut self, resource: &EcoString) -> Option<i64> {
        // Thousands of nodes under many classes: the largest amount is looked for once per
        // resource.
        *self.most.entry(resource.clone()).or_insert_with(|| {
            self.machines.iter().filter_map(|machine| machine.allocatable(resource)).max()
        })
    }
}

fn facts_of<'a>(
    class: &'a AcceleratorClass,
    mut nodes: Option<&mut OfNodes<'a>>,
) -> ClassFacts<'a> {
    let declared = &class.capabilities;
    let product = machines::class_product(class);
    let labeled = nodes.as_ref().and_then(|nodes| nodes.memory);
    let mut evidence = Vec::new();
    let mut note = |name: &'static str,
                    value: Option<EcoString>,
                    source: Evidence,
                    declared: Option<Origin>| {
        evidence.push(KnownCapability { name, value, evidence: source, origin: declared });
    };
    let memory = memory_of(declared, product, labeled);
    note(
        "memoryGB",
        memory.as_ref().map(|(_, text, _)| text.clone()),
        memory.as_ref().map_or(Evidence::Unknown, |(_, _, source)| *source),
        declared.memory.as_ref().map(|field| field.origin),
    );
    let by_fact = product
        .map(|product| EcoString::from(product.compute_capability))
        // Products without CUDA have no compute capability: an empty text is not a value.
        .filter(|text| !text.is_empty());
    let by_node = || nodes.as_ref().and_then(|nodes| nodes.compute_capability.clone());
    let (compute_capability, source) = match (&declared.compute_capability, by_fact) {
        (Some(field), _) => (Some(field.value.clone()), Evidence::Declared),
        (None, Some(fact)) => (Some(fact), Evidence::Catalogue),
        (None, None) => {
            by_node().map_or((None, Evidence::Unknown), |found| (Some(found), Evidence::Nodes))
        }
    };
    note(
        "computeCapability",
        compute_capability.clone(),
        source,
        declared.compute_capability.as_ref().map(|field| field.origin),
    );
    let (bandwidth, source) = match (&declared.bandwidth, product) {
        (Some(quantity), _) => (Some(quantity.value.as_f64()), Evidence::Declared),
        (None, Some(product)) => (Some(product.bandwidth), Evidence::Catalogue),
        (None, None) => (None, Evidence::Unknown),
    };
    note(
        "memoryBandwidthGBps",
        bandwidth.map(|value| eco_format!("{value}")),
        source,
        declared.bandwidth.as_ref().map(|field| field.origin),
    );
    let (features, source) = match product {
        _ if !declared.features.is_empty() => (
            declared.features.iter().map(|feature| feature.value.clone()).collect(),
            Evidence::Declared,
        ),
        Some(product) => (
            product.features.iter().map(|feature| EcoString::from(*feature)).collect(),
            Evidence::Catalogue,
        ),
        None => (Vec::new(), Evidence::Unknown),
    };
    note(
        "features",
        (!features.is_empty()).then(|| features.join(", ").into()),
        source,
        declared.features.first().map(|field| field.origin),
    );
    let figures = figures_of(declared, product);
    for (figure, value, source) in &figures {
        let written = declared.performance.iter().find(|(other, _)| other == figure);
        // A class may declare the figure in a form that is not read: then the fact has no place.
        let written = written.filter(|_| *source == Evidence::Declared);
        let origin = written.map(|(_, field)| field.origin);
        note(figure.proposed_key(), Some(eco_format!("{value}")), *source, origin);
    }
    let figures = figures.into_iter().map(|(figure, value, _)| (figure, value)).collect();
    let resource = class.whole_resources().next();
    let most =
        nodes.as_mut().zip(resource).and_then(|(nodes, resource)| nodes.most(&resource.name.value));
    // No node of the class offers the resource: the number is unknown, not zero.
    let per_node = most.and_then(|most| u64::try_from(most).ok()).filter(|most| *most > 0);
    ClassFacts {
        class,
        measured: labeled.or(memory.as_ref().map(|(memory, _, _)| *memory)),
        memory: memory.map(|(memory, text, _)| (memory, text)),
        compute_capability,
        bandwidth,
        features,
        figures,
        machines: nodes.map(|nodes| nodes.machines.clone()),
        per_node,
        evidence,
    }
}

/// The memory of one device, as it is shown, and where it is from. What the class declares counts
/// before facts of the product, and those before labels of nodes.
fn memory_of(
    declared: &Capabilities,
    product: Option<&Product>,
    labeled: Option<Memory>,
) -> Option<(Memory, EcoString, Evidence)> {
    match (&declared.memory, product, labeled) {
        (Some(memory), _, _) => {
            Some((memory.value, declared.memory_text.clone(), Evidence::Declared))
        }
        (None, Some(product), _) => {
            Some((product.nominal(), eco_format!("{}Gi", product.nominal_gib), Evidence::Catalogue))
        }
        (None, None, Some(measured)) => {
            // Labels report a little less than the nominal size, with which minimums are compared.
            let nominal = facts::nominal_of(measured);
            Some((nominal, eco_format!("{nominal}"), Evidence::Nodes))
        }
        (None, None, None) => None,
    }
}

/// The figures that are known. Those of the product are used only if the class declares none.
fn figures_of(declared: &Capabilities, product: Option<&Product>) -> Vec<(Figure, f64, Evidence)> {
    let figure_of = |figure: Figure| {
        let fact = product.map_or(0.0, |product| product.figure(figure));
        match declared.figure(figure) {
            Some(value) => Some((figure, value, Evidence::Declared)),
            None if fact > 0.0 && declared.performance.is_empty() => {
                Some((figure, fact, Evidence::Catalogue))
            }
            None => None,
        }
    };
    Figure::ALL.into_iter().filter_map(figure_of).collect()
}
