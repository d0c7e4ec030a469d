//! The nodes as a picture: the waiting pods, then one bar per node, with its GPUs in the colors of
//! the services that hold them, then what the colors mean.

use super::phrases::plural;
use crate::pipeline::{NodeUse, Pending, Stands, Together};
use ecow::EcoString;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Above this number of nodes in a class, the nodes are collapsed.
const MOST_OPEN: usize = 256;
/// This many services have a color of their own, those with the most GPUs; the others share a
/// pattern. More colors cannot be told apart.
const COLORS: usize = 12;
/// Above this number of components that wait for the same reason, they are collapsed.
const MOST_NAMED: usize = 8;
/// Steps between the hues of two successive services: every hue is used once, and neighbors differ.
const STEP: usize = 7;

/// The data of the picture; `None` if no node reports its resources.
pub(super) fn data(together: &Together) -> Option<Value> {
    picture(&together.map, &together.pending)
}

/// The data of the picture before nodes are lost; `None` if none are. The pods that wait are those
/// of the picture after it.
pub(super) fn before(together: &Together) -> Option<Value> {
    picture(&together.map_before, &[])
}

/// Nodes with their pods, and pods that wait.
pub(super) fn picture(nodes: &[NodeUse], waiting: &[Pending]) -> Option<Value> {
    if nodes.is_empty() {
        return None;
    }
    let mut held: BTreeMap<&EcoString, BTreeMap<&'static str, i64>> = BTreeMap::new();
    for node in nodes {
        for standing in node.stands.iter().filter(|standing| standing.gpus > 0) {
            *held.entry(&standing.service).or_default().entry(unit(node)).or_default() +=
                standing.gpus;
        }
    }
    let mut services: Vec<(&EcoString, i64, String)> = held
        .into_iter()
        .map(|(name, units)| {
            let counts = units.iter().map(|(unit, count)| plural(*count, unit));
            (name, units.values().sum(), counts.collect::<Vec<_>>().join(" and "))
        })
        .collect();
    // Negative, so that the most come first and names go from a to z.
    services.sort_by_key(|(name, devices, _)| (-devices, *name));
    let (colored, others) = services.split_at(services.len().min(COLORS));
    let hues: BTreeMap<&EcoString, usize> =
        colored.iter().enumerate().map(|(at, (name, ..))| (*name, hue(at))).collect();
    let (with, without): (Vec<&NodeUse>, Vec<&NodeUse>) =
        nodes.iter().partition(|node| node.gpus > 0);
    let widest = with.iter().map(|node| node.gpus).max().unwrap_or(1);
    // Whole GPUs and parts of GPUs are not added up.
    let mut classes: BTreeMap<(Option<&EcoString>, &str), Vec<&NodeUse>> = BTreeMap::new();
    for node in with {
        classes.entry((node.class.as_ref(), unit(node))).or_default().push(node);
    }
    let class = |((class, unit), nodes): ((Option<&EcoString>, &str), Vec<&NodeUse>)| {
        let name = class.map_or("no AcceleratorClass", EcoString::as_str);
        json!({
            "title": format!("{name}: {}, {}", plural(nodes.len(), "node"), free(&nodes, unit)),
            "open": nodes.len() <= MOST_OPEN,
            "nodes": nodes.iter().map(|node| bar(node, widest, &hues)).collect::<Vec<_>>(),
        })
    };
    let legend = colored.iter().map(
        |(name, _, label)| json!({ "name": name.as_str(), "hue": hues[*name], "label": label }),
    );
    Some(json!({
        "classes": classes.into_iter().map(class).collect::<Vec<_>>(),
        "legend": legend.collect::<Vec<_>>(),
        "more": (!others.is_empty()).then(|| plural(others.len(), "more service")),
        "others": others.iter().map(|(name, _, label)| format!("{name}: {label}")).collect::<Vec<_>>(),
        "without": plain(&without),
        "pending": pending(waiting),
    }))
}

/// The hue of a color, in degrees.
fn hue(at: usize) -> usize {
    at * STEP % COLORS * (360 / COLORS)
}

/// What the devices of a node are.
fn unit(node: &NodeUse) -> &'static str {
    match node.slices {
        0 => "GPU",
        slices if slices == node.gpus => "MIG slice",
        _ => "GPU or MIG slice",
    }
}

/// What is free on nodes that accept pods, and what others have, by the reason.
fn free(nodes: &[&NodeUse], unit: &str) -> String {
    let (mut usable, mut all) = (0, 0);
    let mut closed: BTreeMap<&str, i64> = BTreeMap::new();
    for node in nodes {
        if let Some(why) = &node.closed {
            *closed.entry(why).or_default() += node.free();
        } else {
            (usable, all) = (usable + node.free(), all + node.gpus);
        }
    }
    let closed = closed.into_iter().filter(|(_, free)| *free > 0);
    let closed =
        closed.map(|(why, free)| format!("; {} on nodes that are {why}", plural(free, unit)));
    format!("{usable} of {} free{}", plural(all, unit), closed.collect::<String>())
}

/// A node: its name, its width, and the segments of its bar.
fn bar(node: &NodeUse, widest: i64, hues: &BTreeMap<&EcoString, usize>) -> Value {
    let held = node.stands.iter().filter(|standing| standing.gpus > 0);
    let mut parts: Vec<Value> = held
        .map(|standing| {
            let what = format!("{}: {}", whose(standing), plural(standing.gpus, "GPU"));
            let (kind, hue) = hues.get(&standing.service).map_or(("more", 0), |hue| ("own", *hue));
            json!({ "kind": kind, "hue": hue, "gpus": standing.gpus, "label": what })
        })
        .collect();
    let mut more = |kind: &str, gpus: i64, words: &str| {
        if gpus > 0 {
            let label = format!("{words}: {}", plural(gpus, "GPU"));
            parts.push(json!({ "kind": kind, "hue": 0, "gpus": gpus, "label": label }));
        }
    };
    more("others", node.others, "pods that are not planned");
    let closed = node.closed.as_ref().map(|closed| format!("free, but the node is {closed}"));
    more("free", node.free(), closed.as_deref().unwrap_or("free"));
    let labels: Vec<&str> = parts.iter().filter_map(|part| part["label"].as_str()).collect();
    json!({
        "name": node.node.as_str(),
        "closed": node.closed.as_deref(),
        // Even the smallest node has a bar that can be seen.
        "percent": (node.gpus * 100 / widest.max(1)).max(4),
        "label": labels.join("; "),
        "free": format!("{} of {} free", node.free(), node.gpus),
        "parts": parts,
    })
}

fn whose(standing: &Stands) -> String {
    let pods = plural(standing.pods, "pod");
    match standing.component {
        Some(component) => format!("{} {component}, {pods}", standing.service),
        None => format!("{}, {pods}", standing.service),
    }
}

/// Nodes without GPUs, as a sentence.
fn plain(nodes: &[&NodeUse]) -> Option<String> {
    let pods: usize =
        nodes.iter().flat_map(|node| &node.stands).map(|standing| standing.pods).sum();
    let others: usize = nodes.iter().map(|node| node.other_pods).sum();
    (!nodes.is_empty()).then(|| {
        format!(
            "{} without GPUs: {}, {} of others",
            plural(nodes.len(), "node"),
            plural(pods, "planned pod"),
            plural(others, "pod")
        )
    })
}

/// Pending replicas by service and component.
type Waiting<'a> = IndexMap<(&'a EcoString, &'a EcoString), usize>;

/// Pending replicas by reason; the message of many services is given once.
fn pending(pending: &[Pending]) -> Vec<Value> {
    // By reason first: many services wait for one.
    let mut reasons: IndexMap<(&str, &EcoString), Waiting<'_>> = IndexMap::new();
    for pending in pending {
        let components = reasons.entry((pending.code, &pending.message)).or_default();
        *components.entry((&pending.service, &pending.component)).or_default() += 1;
    }
    let reason = |((code, message), components): ((&str, &EcoString), Waiting<'_>)| {
        let lines = components.into_iter().map(
            |((service, component), count): ((&EcoString, &EcoString), usize)| {
                let what = match component.as_str() {
                    "" => plural(count, "pod"),
                    component => format!("{component}: {}", plural(count, "replica")),
                };
                json!({ "service": service.as_str(), "what": what })
            },
        );
        let lines: Vec<Value> = lines.collect();
        json!({ "code": code, "message": message.as_str(), "title": plural(lines.len(), "component"), "folded": lines.len() > MOST_NAMED, "components": lines })
    };
    reasons.into_iter().map(reason).collect()
}
