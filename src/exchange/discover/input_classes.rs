//! The classes of the input: the products that they cover, and their differences to the nodes.

use super::group::{Group, nominal};
use super::tiers::is_tier;
use crate::api::AcceleratorClass;
use crate::cluster::sighting::Mark;
use crate::cluster::{Machine, class_matches};
use crate::diag::{Code, Diagnostic};
use crate::exchange::class::{Draft, Evidence};
use crate::facts;
use crate::yaml::Node;
use ecow::EcoString;

/// One requirement of a class for labels of its machines.
struct Said {
    key: EcoString,
    /// Accepted values; empty if any value is accepted.
    values: Vec<EcoString>,
}

fn statements(class: &AcceleratorClass) -> Vec<Said> {
    let discovery = &class.discovery;
    let selector = discovery.node_selector.iter().flat_map(Node::entries);
    let selected = selector.map(|entry| Said {
        key: entry.key.clone(),
        values: entry.node.scalar_text().into_iter().collect(),
    });
    let required =
        ["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let terms = discovery
        .terms
        .iter()
        .chain(discovery.affinity.iter().filter_map(|affinity| affinity.at(&required)))
        .flat_map(Node::items);
    let expressions = terms.flat_map(|term| {
        ["matchExpressions", "matchFields"]
            .into_iter()
            .filter_map(|key| term.get(key))
            .flat_map(Node::items)
    });
    let listed = expressions.filter_map(|expression| {
        let text = |key: &str| expression.get(key).and_then(Node::scalar_text);
        let values = match text("operator")?.as_str() {
            "In" => expression.texts("values").collect(),
            // No values means that any value will do.
            "Exists" => Vec::new(),
            // `NotIn`, `Gt` and others name no product.
            _ => return None,
        };
        Some(Said { key: text("key")?, values })
    });
    selected.chain(listed).collect()
}

/// Whether a class covers the machines of a mark (OEP-0003, Deployment Strategies): it names the
/// same label, the product's PCI id, or the product by its own name. Ranges of memory do not
/// identify products.
pub(super) fn covers(class: &AcceleratorClass, group: &Group<'_>, mark: &Mark) -> bool {
    let statements = statements(class);
    let names = |key: &str, value: Option<&str>| {
        statements.iter().any(|statement| {
            statement.key == key
                // An `Exists` has no values and names no product, unless the mark itself is an
                // `Exists`.
                && value.is_none_or(|value| statement.values.iter().any(|name| name == value))
        })
    };
    let by_label = match mark {
        // The first label of a mark names the product; the others narrow it to a partition.
        Mark::Labels(labels) => labels.first().is_some_and(|(key, value)| names(key, Some(value))),
        Mark::Exists(key) => names(key, None),
        Mark::Name(name) => names("metadata.name", Some(name)),
    };
    let product = group.product();
    // A partition or a shared device is a class of its own, even of the same product.
    let whole = group.sightings.iter().all(|sighting| sighting.slice.is_none() && !sighting.shared);
    let by_device = || {
        let ids = &class.discovery.device_ids;
        // Ids under labels that name another product would be a contradiction of the class itself.
        statements.is_empty()
            && whole
            && product.is_some_and(|product| {
                ids.iter().any(|id| {
                    product
                        .device_ids
                        .iter()
                        .any(|device_id| device_id.eq_ignore_ascii_case(&id.value))
                })
            })
    };
    let by_name = || {
        // A class that names a product by label is not meant by its own name.
        let silent = !statements
            .iter()
            .any(|statement| facts::PRODUCT_LABELS.contains(&statement.key.as_str()))
            && !is_tier(class);
        silent && whole && product.is_some_and(|product| class.name() == product.id)
    };
    by_label || by_device() || by_name() || (group.is_unknown() && takes(class, group))
}

/// Whether a class selects all machines of a product that no label identifies: the author of such a
/// class chose it for that product.
fn takes(class: &AcceleratorClass, group: &Group<'_>) -> bool {
    let discovery = &class.discovery;
    let ranges = |terms: &Node| {
        let mut expressions = terms
            .items()
            .iter()
            .filter_map(|term| term.get("matchExpressions"))
            .flat_map(Node::items);
        expressions.any(|expression| {
            // A range or a negation takes many products and chooses none.
            !matches!(expression.get("operator").and_then(Node::as_str), Some("In" | "Exists"))
        })
    };
    let silent = discovery.node_selector.as_ref().is_none_or(Node::is_empty)
        && discovery.terms.is_none()
        && discovery.affinity.is_none()
        && discovery.pci_vendor.is_none()
        && discovery.device_ids.is_empty();
    !silent
        && !is_tier(class)
        && !discovery.terms.as_ref().is_some_and(ranges)
        && group.sightings.iter().all(|sighting| class_matches(class, sighting.machine))
}

/// Reports the differences between a class that is written by hand and its nodes (OEP-0003,
/// Auto-Discovery Examples). `validate` compares it with data sheets.
pub(super) fn drift(
    class: &AcceleratorClass,
    group: &Group<'_>,
    draft: &Draft,
    found: &mut Vec<Diagnostic>,
) {
    let say = |message: String, help: &str| {
        Diagnostic::new(Code::ClassDrift, message).object(class.object.id.to_string()).help(help)
    };
    let observed = |keys: &[&str]| {
        draft
            .fact(keys)
            // Only what the nodes themselves report can contradict a class here.
            .filter(|fact| matches!(fact.evidence, Evidence::Label { .. }))
            .and_then(|fact| fact.value.scalar_text())
    };
    let capabilities = &class.capabilities;
    if let (Some(written), Some(seen)) =
        (&capabilities.memory, observed(&["spec", "capabilities", "memoryGB"]))
        && let Ok(memory) = crate::quantity::Memory::parse(&seen)
        // Sizes as sold are compared: drivers report a little less than what is written.
        && nominal(group.product(), written.value) != nominal(group.product(), memory)
    {
        let message = format!(
            "class `{}` declares {} of memory, its nodes have {seen}",
            class.name(),
            capabilities.memory_text
        );
        found.push(
            say(message, "correct the class, or the label of the nodes")
                .at(written.span())
                .path("spec.capabilities.memoryGB"),
        );
    }
    if let (Some(written), Some(seen)) =
        (&capabilities.compute_capability, observed(&["spec", "capabilities", "computeCapability"]))
        && written.value != seen
    {
        let message = format!(
            "class `{}` declares compute capability {}, its nodes have {seen}",
            class.name(),
            written.value
        );
        found.push(
            say(message, "correct the class, or the label of the nodes")
                .at(written.span())
                .path("spec.capabilities.computeCapability"),
        );
    }
    let machines: Vec<&Machine> = group.sightings.iter().map(|sighting| sighting.machine).collect();
    // A class that matches some of its nodes may leave out the others on purpose.
    if !machines.iter().any(|machine| class_matches(class, machine)) {
        let message = format!(
            "class `{}` is named after `{}` and matches none of its nodes",
            class.name(),
            group.word()
        );
        let place = class
            .object
            .spec("discovery")
            .map_or_else(|| Some(class.object.name_span()), |node| node.origin.span());
        found.push(
            say(message, "correct `discovery`, or rename the class")
                .at(place)
                .path("spec.discovery"),
        );
    }
}
