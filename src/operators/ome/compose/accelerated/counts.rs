//! How many accelerators a container requests, by its class, its flags and its resources.

use crate::diag::{Code, Diagnostic, Severity};
use crate::engine::{EngineSettings, Ranks, tensor_parallel_by_document};
use crate::merge::edit::map_mut;
use crate::merge::history::Recorder;
use crate::operators::ome::compose::accelerated::target::{Target, ensure};
use crate::operators::ome::compose::accelerator::Accelerator;
use crate::pods::gpus;
use crate::pods::lint::Place;
use crate::pods::rules::{ACCELERATOR_COUNT, EXTENDED_RESOURCE};
use crate::quantity::{Quantity, Range};
use crate::yaml::{Entry, Node, Origin};
use std::collections::HashSet;

/// Sets each resource to the larger of the merged amount and the accelerator's; requests of
/// extended resources equal their limits (OEP-0003, Notes/Constraints/Caveats;
/// docs/decisions.md#resources).
pub(super) fn resources(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    target: Target,
    upper: &Node,
    merged: &mut Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) {
    let written = |side: &str, name: &str| {
        target
            .get(upper)
            .and_then(|container| container.at(&["resources", side]))
            .and_then(|amounts| amounts.get(name))
            .is_some()
    };
    for (index, configuration) in accelerator.configurations.iter().enumerate() {
        let requested =
            [configuration.node.get("resources"), configuration.node.at(&["runner", "resources"])];
        for resources in requested.into_iter().flatten() {
            for side in ["requests", "limits"] {
                for entry in resources.get(side).map(Node::entries).into_iter().flatten() {
                    let Some(container) = ensure(target, merged) else { return };
                    let before = container
                        .at(&["resources", side])
                        .and_then(|amounts| amounts.get(&entry.key))
                        .cloned();
                    if raise(target, container, side, entry, rec)
                        && let Some(before) = before.filter(|_| written(side, &entry.key))
                    {
                        findings.push(raised(place, side, entry, &before, index));
                    }
                }
            }
        }
    }
    let Some(container) = target.get_mut(merged) else { return };
    let names: Vec<Entry> = ["limits", "requests"]
        .iter()
        .filter_map(|side| container.at(&["resources", side]))
        .flat_map(Node::entries)
        .filter(|entry| entry.key.contains('/') && !entry.key.starts_with("kubernetes.io/"))
        .cloned()
        .collect();
    for entry in names {
        for side in ["requests", "limits"] {
            raise(target, container, side, &entry, rec);
        }
    }
}

pub(super) fn raised(
    place: &Place<'_>,
    side: &str,
    entry: &Entry,
    before: &Node,
    index: usize,
) -> Diagnostic {
    let text = |node: &Node| node.scalar_text().unwrap_or_default();
    Diagnostic::new(
        Code::ResourceRaised,
        format!(
            "{} of {} in {side}: the service's value {} is raised to {} (acceleratorConfigurations[{index}])",
            entry.key,
            place.kind.as_str(),
            text(before),
            text(&entry.node)
        ),
    )
    .at(before.origin.span())
    .label(entry.node.origin.span(), "the accelerator's value")
    .object(place.service.object.id.to_string())
    .help("resources take the maximum: write the larger value")
}

/// Sets an amount unless the container has a larger one; returns whether it was set.
pub(super) fn raise(
    target: Target,
    container: &mut Node,
    side: &str,
    entry: &Entry,
    rec: &mut Recorder,
) -> bool {
    let amount =
        |node: &Node| node.scalar_text().and_then(|text| Quantity::parse_field(&text).ok());
    let resources =
        container.at(&["resources", side]).and_then(|amounts| amounts.get(&entry.key)).cloned();
    // An amount that cannot be read is left to its own finding and not replaced.
    let larger = match (resources.as_ref().and_then(amount), amount(&entry.node)) {
        (None, _) => resources.is_none(),
        (Some(quantity), Some(new)) => new > quantity,
        (Some(_), None) => false,
    };
    if !larger {
        return false;
    }
    if let Some(loser) = &resources {
        let rec = &mut target.cursor(container, rec);
        rec.at("resources").at(side).at(entry.key.as_str()).lost(loser, Some(&entry.node));
    }
    if let Some(amounts) =
        map_mut(container, "resources", entry.node.origin).and_then(|resources| {
            if resources.get(side).is_none_or(|node| node.as_map().is_none()) {
                resources.insert(side, Node::map(entry.node.origin));
            }
            resources.get_mut(side)?.as_map_mut()
        })
    {
        let value = entry
            .node
            .scalar_text()
            .map_or_else(|| entry.node.clone(), |text| Node::str(text, entry.node.origin));
        amounts.insert_entry(Entry {
            key: entry.key.clone(),
            key_origin: entry.key_origin,
            node: value,
        });
    }
    true
}

/// The devices of a container by its parallelism, where it is set, and whether a variable of the
/// document sets it: the ranks of the engine, and
/// for other programs, or where only `TENSOR_PARALLEL_SIZE` is set, what the document counts.
/// Reports a value that is out of range. Nothing when no parallelism is set.
pub(super) fn parallelism(
    container: &Node,
    place: &Place<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<(i64, Origin, bool)> {
    let ranks = EngineSettings::of(container).and_then(|settings| Ranks::of(&settings));
    let document = tensor_parallel_by_document(container);
    // A least number of ranks is no number of devices, so that the document's count is used.
    let set = ranks.as_ref().filter(|ranks| !ranks.is_least).and_then(|ranks| {
        let requested =
            i64::try_from(ranks.all).ok().and_then(|ranks| Range::PARALLELISM.count(ranks))?;
        // Without a place the ranks are defaults: nothing was set.
        Some((requested, ranks.origin()?, false))
    });
    if set.is_some() {
        return set;
    }
    let (text, origin, by_variable) = document?;
    let number = text.parse().ok().and_then(|number| Range::PARALLELISM.count(number));
    if let Some(number) = number {
        return Some((number, origin, by_variable));
    }
    findings.push(
        Diagnostic::new(
            Code::InvalidValue,
            format!(
                "tensor parallelism of the {} must be {}, not `{text}`: it is not counted",
                place.kind.as_str(),
                Range::PARALLELISM
            ),
        )
        .severity(Severity::Warning)
        .at(origin.span())
        .object(place.service.object.id.to_string())
        .help("write the number of accelerators of one replica"),
    );
    None
}

/// Requests accelerators where no layer does: as many as the parallelism, else as many as the
/// model's memory needs. Reports numbers that contradict each other.
pub(crate) fn count(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    pods: i64,
    spec: &mut Node,
    findings: &mut Vec<Diagnostic>,
) {
    let targets = Target::of(None, spec);
    let need = accelerator.gpus.and_then(|gpus| i64::try_from(gpus).ok());
    let mut configured = 0_i64;
    let (mut explicit, mut is_known) = (false, true);
    let mut exceeds = None;
    for target in &targets {
        let Some(container) = ensure(*target, spec) else { continue };
        // An invalid number of devices stays as it is: it has its own finding, and nothing is
        // computed from it.
        let Some(gpus) = gpus_of(accelerator, container) else {
            is_known = false;
            continue;
        };
        let parallelism = parallelism(container, place, findings);
        let derived = parallelism.map_or_else(
            // The model's devices are divided over the pods of a replica, rounded up.
            || need.map_or(1, |need| need.saturating_add(pods - 1) / pods.max(1)),
            |(number, ..)| number,
        );
        explicit |= gpus > 0 || parallelism.is_some();
        // What the engine itself uses is compared for every operator (`pipeline/engines`).
        if gpus > 0
            && pods == 1
            && let Some((number, origin, true)) = parallelism.filter(|(number, ..)| *number != gpus)
        {
            findings.push(
                Diagnostic::new(
                    Code::GpuCountMismatch,
                    format!(
                        "the {} requests {gpus} accelerator{} and TENSOR_PARALLEL_SIZE is {number}",
                        place.kind.as_str(),
                        if gpus == 1 { "" } else { "s" }
                    ),
                )
                .at(origin.span())
                .object(place.service.object.id.to_string())
                .help("make both the same"),
            );
        }
        let number = if gpus > 0 { gpus } else { derived };
        // Parallelism spans pods, so a pod counts with at most the number that it requests.
        configured = configured.saturating_add(if gpus > 0 {
            parallelism.map_or(gpus, |(parallelism, ..)| parallelism.min(gpus))
        } else {
            number
        });
        // Parallelism without devices is that of all pods, of which each gets its part.
        let devices = match gpus {
            0 if parallelism.is_some() && pods > 1 => (number + pods - 1) / pods,
            _ => number,
        };
        if gpus == 0 {
            ask(accelerator, container, devices);
        }
        // One finding for the component: leader and worker usually exceed together.
        if exceeds.is_none() && devices > accelerator.per_node {
            exceeds = Some((devices, parallelism.map(|(_, origin, _)| origin)));
        }
    }
    if let Some((excess, origin)) = exceeds {
        too_many_for_a_node(accelerator, place, excess, origin, need, findings);
    }
    // One target stands for all pods; with leader and worker each was counted.
    if pods > 1 && targets.len() == 1 {
        configured = configured.saturating_mul(pods);
    }
    // Only where the input set a number: a derived one is the need itself.
    if let Some(need) = need.filter(|need| explicit && is_known && *need > configured) {
        findings.push(
            Diagnostic::new(
                Code::GpuMisfit,
                format!(
                    "the {} needs {need}, configured {configured} accelerators of {} for the model",
                    place.kind.as_str(),
                    accelerator.class.name()
                ),
            )
            .at(place.service.object.name_span())
            .object(place.service.object.id.to_string())
            .help("raise the parallelism and the GPUs, or take a class with more memory"),
        );
    }
}

/// Accelerators a container requests: of the class's resources, or of any vendor.
pub(super) fn gpus_of(accelerator: &Accelerator<'_>, container: &Node) -> Option<i64> {
    let names: HashSet<&str> =
        accelerator.class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    gpus::of_container(container, |resource| {
        names.contains(resource) || gpus::is_accelerator(resource)
    })
}

/// Sets the class's resources, times a number of accelerators, in limits and requests.
pub(super) fn ask(accelerator: &Accelerator<'_>, container: &mut Node, number: i64) {
    for resource in accelerator.class.whole_resources() {
        let each = resource
            .quantity
            .scalar_text()
            .and_then(|text| Range::of_resource(&resource.name.value).read(&text)?.value())
            .unwrap_or(1);
        let origin =
            Origin::Derived(if each == 1 { &ACCELERATOR_COUNT } else { &EXTENDED_RESOURCE });
        let amount =
            Node::str(Quantity::from_integer(each.saturating_mul(number)).canonical(), origin);
        for side in ["requests", "limits"] {
            let Some(resources) = map_mut(container, "resources", origin) else { return };
            if resources.get(side).is_none_or(|node| node.as_map().is_none()) {
                resources.insert(side, Node::map(origin));
            }
            if let Some(amounts) = resources.get_mut(side).and_then(Node::as_map_mut) {
                amounts.insert(resource.name.value.clone(), amount.clone());
            }
        }
    }
}

/// Reports a pod that requests more accelerators than a node has: it stays Pending.
fn too_many_for_a_node(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    devices: i64,
    origin: Option<Origin>,
    need: Option<i64>,
    findings: &mut Vec<Diagnostic>,
) {
    let (class, most) = (accelerator.class.name(), accelerator.per_node);
    let kind = place.kind.as_str();
    let object = || place.service.object.id.to_string();
    let span = origin.and_then(Origin::span).unwrap_or_else(|| place.service.object.name_span());
    findings.push(
        Diagnostic::new(
            Code::ParallelismExceedsNode,
            format!("a pod of the {kind} requests {devices} accelerators, and a node of {class} has {most}"),
        )
        .at(span)
        .object(object())
        .help("use a multi-node component with `leader` and `worker`, or request fewer accelerators in one pod"),
    );
    // If the model's memory requires that many, the choice of the class reports it.
    if need.is_none_or(|need| need <= most) {
        findings.push(
            Diagnostic::new(
                Code::MultiNodeNeeded,
                format!(
                    "one replica of the {kind} requests {devices} accelerators of {class}: {} nodes of {most}",
                    (devices + most - 1) / most.max(1)
                ),
            )
            .at(span)
            .object(object())
            .help("make the component multi-node with `leader` and `worker`"),
        );
    }
}
