//! How a chosen accelerator class changes a component in documented mode (OEP-0003,
//! InferenceService Extensions and Notes/Constraints/Caveats; docs/decisions.md#layers): its
//! configurations are a layer between runtime and service, the larger amount of a resource applies,
//! and by default its arguments follow the service's.

pub(super) mod counts;
mod target;

use super::accelerator::Accelerator;
use crate::diag::{Code, Diagnostic};
use crate::merge::history::Recorder;
use crate::merge::written as merge;
use crate::operators::ome::compose::accelerated::counts::resources;
use crate::operators::ome::compose::accelerated::target::{Target, ensure};
use crate::pods::lint;
use crate::pods::lint::{Place, flag};
use crate::policy::{AcceleratorOptions, ArgsOrder};
use crate::yaml::{Map, Node, Value};
use ecow::{EcoString, EcoVec};
use std::collections::HashMap;

/// Merges the accelerator's configurations as a layer between the runtime's part and the service's
/// part. Arguments and resources have their own rules. The recorder is at the component.
pub(crate) fn layered(
    accelerator: &Accelerator<'_>,
    options: &AcceleratorOptions,
    place: &Place<'_>,
    lower: Option<&Node>,
    upper: &Node,
    rec: &mut Recorder,
    findings: &mut Vec<Diagnostic>,
) -> Node {
    // From both sides: a leader of the runtime is a target although the service does not name it.
    let targets = Target::of(lower, upper);
    let mut below = lower.cloned().unwrap_or_else(|| Node::map(upper.origin));
    let mut skipped = None;
    let mut arguments: Vec<(Target, EcoVec<Node>)> = Vec::new();
    for target in &targets {
        let commanded = target
            .get(upper)
            .and_then(|container| container.get("command"))
            .filter(|command| !command.is_empty());
        let mut nodes = EcoVec::new();
        for configuration in &accelerator.configurations {
            let (container, args) = block(&configuration.node);
            nodes.extend(args.iter().cloned());
            if !container.is_empty() {
                // The layer needs the container's name, or the merge of lists would add a second
                // container.
                let name = target.get(&below).and_then(|container| container.get("name")).cloned();
                below = merge::written(&below, &target.layer(container, name.as_ref()), rec);
            }
        }
        // With a command of its own the container may run something that does not know the flags.
        if let Some(command) = commanded.filter(|_| !nodes.is_empty()) {
            skipped = Some(command.origin);
            nodes = EcoVec::new();
        }
        arguments.push((*target, nodes));
    }
    if let Some(origin) = skipped {
        findings.push(
            Diagnostic::new(
                Code::AcceleratorArgsSkipped,
                format!(
                    "arguments for {} are not applied: the {} sets a command",
                    accelerator.class.name(),
                    place.kind.as_str()
                ),
            )
            .at(origin.span())
            .object(place.service.object.id.to_string())
            .help("add them to the command where they are wanted"),
        );
    }
    let mut merged = if lower.is_some() || !below.is_empty() {
        merge::written(&below, upper, rec)
    } else {
        upper.clone()
    };
    // The merge replaces lists as a whole, so that arguments are put together here.
    for (target, argument) in arguments {
        let list = |part: Option<&Node>| {
            part.and_then(|container| container.get("args"))
                .map(|args| args.items().to_vec())
                .unwrap_or_default()
        };
        // From `lower`, not from `below`, which the configurations have changed already.
        let of_runtime = list(lower.and_then(|lower| target.get(lower)));
        let of_service = list(target.get(upper));
        let ordered: [(&[Node], bool); 3] = match options.args_order {
            ArgsOrder::Default => [(&of_runtime, false), (&of_service, true), (&argument, false)],
            ArgsOrder::AcceleratorFirst => {
                [(&argument, false), (&of_runtime, false), (&of_service, true)]
            }
            ArgsOrder::Hierarchy => [(&of_runtime, false), (&argument, false), (&of_service, true)],
        };
        let all: Vec<(Node, bool)> = ordered
            .into_iter()
            .flat_map(|(items, user)| items.iter().map(move |item| (item.clone(), user)))
            .collect();
        let all = if options.dedupe_args { deduplicated(all) } else { all };
        // An empty list would hide the arguments of the image.
        if !all.is_empty()
            && let Some(container) = ensure(target, &mut merged)
        {
            let origin = all[0].0.origin;
            if let Some(map) = container.as_map_mut() {
                map.insert("args", Node::list(all.into_iter().map(|(node, _)| node), origin));
            }
        }
    }
    // Last: devices are counted on the containers that all layers have made.
    for target in &targets {
        resources(accelerator, place, *target, upper, &mut merged, rec, findings);
    }
    merged
}

/// The fields that a configuration sets on the container, and its arguments. Resources have their
/// own rule. A command is an error of `validate` and is not applied.
fn block(configuration: &Node) -> (Node, EcoVec<Node>) {
    let mut container = Map::new();
    let mut args = EcoVec::new();
    let mut variables = EcoVec::new();
    if let Some(env) = configuration.get("env") {
        variables.extend(env.items().iter().cloned());
    }
    for entry in configuration
        .get("runner")
        .map(Node::entries)
        .into_iter()
        .flatten()
        .filter(|entry| !entry.node.is_null())
    {
        match entry.key.as_str() {
            "args" => args.extend(entry.node.items().iter().cloned()),
            "env" => variables.extend(entry.node.items().iter().cloned()),
            "resources" | "command" | "name" => {}
            _ => container.insert_entry(entry.clone()),
        }
    }
    if !variables.is_empty() {
        container.insert("env", Node::new(Value::List(variables), configuration.origin));
    }
    (Node::new(Value::Map(container), configuration.origin), args)
}

/// Removes duplicate flags: the service's flag stays, else the last one. A value that is a separate
/// argument belongs to its flag.
fn deduplicated(all: Vec<(Node, bool)>) -> Vec<(Node, bool)> {
    let mut groups: Vec<Vec<(Node, bool)>> = Vec::new();
    for item in all {
        let text = item.0.as_str().unwrap_or_default();
        // A word after a flag without `=` is its value, if both are of the same layer.
        let apart = groups.last().is_some_and(|last| {
            let before = last[0].0.as_str().unwrap_or_default();
            last.len() == 1
                && flag(before).is_some()
                && !before.contains('=')
                && last[0].1 == item.1
        });
        if apart && !text.starts_with('-') {
            if let Some(last) = groups.last_mut() {
                last.push(item);
            }
        } else {
            groups.push(vec![item]);
        }
    }
    let name = |group: &[(Node, bool)]| group[0].0.as_str().and_then(flag).map(EcoString::from);
    // By flag: the index of the group that stays, and whether it is the service's.
    let mut stays: HashMap<EcoString, (usize, bool)> = HashMap::new();
    for (index, group) in groups.iter().enumerate() {
        let Some(name) = name(group) else { continue };
        let existing = stays.entry(name).or_insert((index, group[0].1));
        // The service's flag counts wherever it stands; among the others the last one does.
        if group[0].1 || !existing.1 {
            *existing = (index, group[0].1);
        }
    }
    let kept = groups.into_iter().enumerate().filter(|(index, group)| {
        // Words that are no flags stay: only their place tells what they are.
        name(group).is_none_or(|name| stays.get(&name).is_some_and(|(stays, _)| stays == index))
    });
    kept.flat_map(|(_, group)| group).collect()
}

/// Flags that occur more than once in the final arguments of a component.
pub(crate) fn duplicate_flags(place: &Place<'_>, spec: &Node, findings: &mut Vec<Diagnostic>) {
    for target in Target::of(None, spec) {
        if let Some(args) = target.get(spec).and_then(|container| container.get("args")) {
            lint::duplicate_flags(
                args.items(),
                place,
                "write it once; `--dedupe-args` keeps the service's",
                findings,
            );
        }
    }
}

/// Findings about node selector keys that runtime, class and service set to different values
/// (OEP-0003, Notes/Constraints/Caveats and Override Hierarchy; docs/decisions.md#node-selectors),
/// the class's terms and its divisible resources.
pub(crate) fn remarks(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let object = || place.service.object.id.to_string();
    let class = accelerator.class;
    if accelerator.has_configurations && accelerator.configurations.is_empty() {
        findings.push(
            Diagnostic::new(
                Code::NoAcceleratorConfiguration,
                format!(
                    "no accelerator configuration for {}: the {} runs as the runtime sets it",
                    class.name(),
                    place.kind.as_str()
                ),
            )
            .at(place.service.object.name_span())
            .object(object()),
        );
    }
    for resource in class.resources.iter().filter(|resource| resource.divisible) {
        findings.push(
            Diagnostic::new(
                Code::DivisibleResourceSkipped,
                format!(
                    "`{}` of {} is a share of a device and is not requested",
                    resource.name.value,
                    class.name()
                ),
            )
            .at(resource.name.span()),
        );
    }
    let Some(selector) = accelerator.own_selector() else { return };
    let config = place
        .runtime
        .and_then(|runtime| runtime.config(place.kind))
        .and_then(|config| config.get("nodeSelector"));
    let of_runtime =
        [config, place.runtime.and_then(|runtime| runtime.object.spec("nodeSelector"))];
    let component =
        place.service.component(place.kind).and_then(|component| component.get("nodeSelector"));
    let of_service = [component, place.service.accelerators.selector.node_selector.as_ref()];
    for entry in selector.entries() {
        let differs = |layers: [Option<&Node>; 2]| {
            layers
                .into_iter()
                .flatten()
                .filter_map(|layer| layer.get(&entry.key))
                .find(|value| **value != entry.node)
                .cloned()
        };
        let text = |node: &Node| node.scalar_text().unwrap_or_default();
        // The service counts above the class, and the class above the runtime.
        if let Some(value) = differs(of_service) {
            findings.push(
                Diagnostic::new(
                    Code::NodeSelectorEscape,
                    format!(
                        "`{}: {}` overrides {} of {}: the pod can leave the selected accelerator",
                        entry.key,
                        text(&value),
                        text(&entry.node),
                        class.name()
                    ),
                )
                .at(value.origin.span())
                .label(entry.node.origin.span(), "the class")
                .object(object())
                .help("choose a class instead of a label"),
            );
        } else if let Some(value) = differs(of_runtime) {
            findings.push(
                Diagnostic::new(
                    Code::NodeSelectorConflict,
                    format!(
                        "`{}`: the runtime sets {}, {} sets {}, which wins",
                        entry.key,
                        text(&value),
                        class.name(),
                        text(&entry.node)
                    ),
                )
                .at(value.origin.span())
                .label(entry.node.origin.span(), "the class")
                .object(object())
                .help("delete the key from the runtime"),
            );
        }
    }
}
