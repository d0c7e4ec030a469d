//! Classes that are ranges of memory (tiers): nodes that no tier covers, and bounds that narrowly
//! exclude nodes.
//!
//! A label has the memory that the driver leaves, but classes are written with the size as sold: an
//! H100 reports 81559 MiB and is sold as 80 GiB, which is 81920 MiB (OEP-0003, Platform-Provided
//! Base Set).

use super::group::nominal;
use crate::api::AcceleratorClass;
use crate::cluster::terms::MIB_LABELS;
use crate::cluster::{Machine, memory_of_label, terms_match};
use crate::diag::{Code, Diagnostic};
use crate::facts;
use crate::operators::ome::checks::class::TIER;
use crate::yaml::{Node, Value};
use ecow::eco_format;

/// Whether a class is a tier.
pub(super) fn is_tier(class: &AcceleratorClass) -> bool {
    class.object.metadata("labels").is_some_and(|labels| labels.get(TIER).is_some())
}

/// A machine whose memory labels have the size as sold.
pub(super) fn as_sold(machine: &Machine) -> Machine {
    let mut out = machine.clone();
    let product = machine.label("nvidia.com/gpu.product").and_then(facts::by_label);
    for key in MIB_LABELS {
        let Some(measured) = machine.label(key).and_then(|text| memory_of_label(key, text)) else {
            continue;
        };
        if let Some(label) = out.labels.get_mut(key) {
            // Bytes as MiB, the unit of these labels.
            label.value = Value::Str(eco_format!("{}", nominal(product, measured).0 >> 20));
        }
    }
    out
}

/// Reports lower bounds that exclude a machine by its label, but would include it by its size as
/// sold.
pub(super) fn boundaries(
    class: &AcceleratorClass,
    machines: &[Machine],
    found: &mut Vec<Diagnostic>,
) {
    let expressions = class
        .discovery
        .terms
        .iter()
        .flat_map(Node::items)
        .filter_map(|term| term.get("matchExpressions"))
        .flat_map(Node::items);
    for expression in expressions {
        let text = |key: &str| expression.get(key).and_then(Node::scalar_text).unwrap_or_default();
        let (key, operator) = (text("key"), text("operator"));
        // Upper bounds cannot leave a node out by too little memory.
        if !MIB_LABELS.contains(&key.as_str()) || !matches!(operator.as_str(), "Gt" | "Gte" | "Ge")
        {
            continue;
        }
        let mut term = Node::map(expression.origin);
        let Some(map) = term.as_map_mut() else { continue };
        map.insert("matchExpressions", Node::list([expression.clone()], expression.origin));
        // Each bound is tried alone: a node that another requirement leaves out is not its fault.
        let alone = [term];
        let shut_out: Vec<&Machine> = machines
            .iter()
            .filter(|machine| {
                !terms_match(&alone, machine) && terms_match(&alone, &as_sold(machine))
            })
            .collect();
        let Some(first) = shut_out.first() else { continue };
        let names: Vec<&str> = shut_out.iter().map(|machine| machine.name.as_str()).collect();
        let bound = expression.get("values").and_then(|values| values.items().first());
        let sold = as_sold(first)
            .label(&key)
            .and_then(|text| memory_of_label(&key, text))
            .map_or_else(String::new, |memory| memory.to_string());
        // The bound in the help has to let the smallest of them in.
        let least = shut_out
            .iter()
            .filter_map(|machine| machine.label(&key)?.parse::<u64>().ok())
            .min()
            .unwrap_or_default();
        found.push(
            Diagnostic::new(
                Code::TierBoundary,
                format!(
                    "`{operator} {}` of class `{}` leaves out {}: sold as {sold}, {} MiB by its label",
                    bound.and_then(Node::scalar_text).unwrap_or_default(),
                    class.name(),
                    some(&names),
                    first.label(&key).unwrap_or_default()
                ),
            )
            .at(bound.map_or(expression.origin, |bound| bound.origin).span())
            .object(class.object.id.to_string())
            .help(format!("write a bound below the label, such as `Gt` {}, or compare sizes as sold with `--nominal-memory`", least.saturating_sub(1))),
        );
    }
}

/// The first name, and the number of the others.
fn some(names: &[&str]) -> String {
    match names {
        [one] => format!("node `{one}`"),
        [first, rest @ ..] => format!("node `{first}` and {} more", rest.len()),
        [] => String::new(),
    }
}
