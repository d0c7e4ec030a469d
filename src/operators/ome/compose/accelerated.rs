//! What a chosen accelerator class does to a component by the documents (OEP-0003, OEP-0003,
//! Notes/Constraints/Caveats to OEP-0003, Example AcceleratorClass Definitions;
//! docs/decisions.md#node-selectors): its configurations are a layer between runtime and service,
//! resources take the maximum, arguments follow the service's.

use super::accelerator::Accelerator;
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{lost, map_mut, mapping, position, within};
use crate::merge::history::{Record, Step};
use crate::merge::written as merge;
use crate::pods::gpus;
use crate::pods::lint;
use crate::pods::lint::{Place, flag};
use crate::pods::rules::{ACCELERATOR_COUNT, EXTENDED_RESOURCE};
use crate::policy::{AcceleratorOptions, ArgsOrder};
use crate::quantity::{Quantity, Range};
use crate::yaml::{Entry, Map, Node, Origin, Value};
use ecow::{EcoString, EcoVec};
use std::collections::{HashMap, HashSet};

/// Flags that say how many accelerators one tensor-parallel group has, by engine.
const TENSOR_FLAGS: [&str; 4] = ["--tp-size", "--tp", "--tensor-parallel-size", "-tp"];
/// The variable that says the same.
const TENSOR_VARIABLE: &str = "TENSOR_PARALLEL_SIZE";

/// A container of a component: the runner of a part, or the first container it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Runner(Option<&'static str>),
    FirstListed,
}

impl Target {
    /// The containers of a component that run the model.
    fn of(lower: Option<&Node>, upper: &Node) -> Vec<Self> {
        let has = |keys: &[&str]| {
            lower.and_then(|lower| lower.at(keys)).is_some() || upper.at(keys).is_some()
        };
        let parts = ["leader", "worker"]
            .into_iter()
            .filter(|part| has(&[*part, "runner"]))
            .map(|part| Self::Runner(Some(part)));
        let mut targets: Vec<Self> = parts.collect();
        if has(&["runner"]) || (targets.is_empty() && !has(&["containers"])) {
            targets.insert(0, Self::Runner(None));
        } else if targets.is_empty() {
            targets.push(Self::FirstListed);
        }
        targets
    }

    fn get(self, part: &Node) -> Option<&Node> {
        match self {
            Self::Runner(None) => part.get("runner"),
            Self::Runner(Some(holder)) => part.at(&[holder, "runner"]),
            Self::FirstListed => part.get("containers")?.items().first(),
        }
    }

    fn get_mut(self, part: &mut Node) -> Option<&mut Node> {
        match self {
            Self::Runner(None) => part.as_map_mut()?.get_mut("runner"),
            Self::Runner(Some(holder)) => {
                part.as_map_mut()?.get_mut(holder)?.as_map_mut()?.get_mut("runner")
            }
            Self::FirstListed => {
                part.as_map_mut()?.get_mut("containers")?.as_list_mut()?.make_mut().first_mut()
            }
        }
    }

    /// The container as a layer of a component.
    fn layer(self, container: Node, name: Option<&Node>) -> Node {
        let origin = container.origin;
        match self {
            Self::Runner(None) => mapping([("runner", container)], origin),
            Self::Runner(Some(holder)) => {
                mapping([(holder, mapping([("runner", container)], origin))], origin)
            }
            Self::FirstListed => {
                let mut container = container;
                if let (Some(map), Some(name)) = (container.as_map_mut(), name) {
                    map.insert("name", name.clone());
                }
                mapping([("containers", Node::list([container], origin))], origin)
            }
        }
    }

    /// Does something where the container stands.
    fn within<R: Record, T>(
        self,
        container: Option<&Node>,
        rec: &mut R,
        inner: impl FnOnce(&mut R) -> T,
    ) -> T {
        match self {
            Self::Runner(None) => within(Step::Field("runner"), rec, inner),
            Self::Runner(Some(holder)) => {
                within(Step::Field(holder), rec, |rec| within(Step::Field("runner"), rec, inner))
            }
            Self::FirstListed => within(Step::Field("containers"), rec, |rec| {
                match container.and_then(|container| container.get("name")) {
                    Some(name) => within(Step::Keyed("name", name), rec, inner),
                    None => inner(rec),
                }
            }),
        }
    }
}

/// The accelerator's configurations between a runtime's part and a service's, merged; arguments and
/// resources with their own rules. The recorder stands at the component.
pub(crate) fn layered<R: Record>(
    accelerator: &Accelerator<'_>,
    options: &AcceleratorOptions,
    place: &Place<'_>,
    lower: Option<&Node>,
    upper: &Node,
    rec: &mut R,
    findings: &mut Vec<Diagnostic>,
) -> Node {
    let targets = Target::of(lower, upper);
    let mut below = lower.cloned().unwrap_or_else(|| Node::map(upper.origin));
    let mut skipped = None;
    let mut arguments: Vec<(Target, EcoVec<Node>)> = Vec::new();
    for target in &targets {
        let commanded = target
            .get(upper)
            .and_then(|container| container.get("command"))
            .filter(|command| !command.is_empty());
        let mut own = EcoVec::new();
        for configuration in &accelerator.configurations {
            let (container, args) = block(&configuration.node);
            own.extend(args.iter().cloned());
            if !container.is_empty() {
                let name = target.get(&below).and_then(|container| container.get("name")).cloned();
                below = merge::written(&below, &target.layer(container, name.as_ref()), rec);
            }
        }
        if let Some(command) = commanded.filter(|_| !own.is_empty()) {
            skipped = Some(command.origin);
            own = EcoVec::new();
        }
        arguments.push((*target, own));
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
    for (target, own) in arguments {
        let list = |part: Option<&Node>| {
            part.and_then(|container| container.get("args"))
                .map(|args| args.items().to_vec())
                .unwrap_or_default()
        };
        let of_runtime = list(lower.and_then(|lower| target.get(lower)));
        let of_service = list(target.get(upper));
        let ordered: [(&[Node], bool); 3] = match options.args_order {
            ArgsOrder::Default => [(&of_runtime, false), (&of_service, true), (&own, false)],
            ArgsOrder::AcceleratorFirst => {
                [(&own, false), (&of_runtime, false), (&of_service, true)]
            }
            ArgsOrder::Hierarchy => [(&of_runtime, false), (&own, false), (&of_service, true)],
        };
        let all: Vec<(Node, bool)> = ordered
            .into_iter()
            .flat_map(|(items, user)| items.iter().map(move |item| (item.clone(), user)))
            .collect();
        let all = if options.dedupe_args { deduplicated(all) } else { all };
        if !all.is_empty()
            && let Some(container) = ensure(target, &mut merged)
        {
            let origin = all[0].0.origin;
            if let Some(map) = container.as_map_mut() {
                map.insert("args", Node::list(all.into_iter().map(|(node, _)| node), origin));
            }
        }
    }
    for target in &targets {
        resources(accelerator, place, *target, upper, &mut merged, rec, findings);
    }
    merged
}

/// The container of a target, created when the component has none.
fn ensure(target: Target, merged: &mut Node) -> Option<&mut Node> {
    if target.get(merged).is_none() && target == Target::Runner(None) {
        map_mut(merged, "runner", merged.origin)?;
    }
    target.get_mut(merged)
}

/// What a configuration sets on the container, and its arguments. Resources have their own rule; a
/// command there is an error of `validate` and is not applied.
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

/// Of a flag given twice the service's stays, else the last one; a value that stands apart goes
/// with its flag.
fn deduplicated(all: Vec<(Node, bool)>) -> Vec<(Node, bool)> {
    let mut groups: Vec<Vec<(Node, bool)>> = Vec::new();
    for item in all {
        let text = item.0.as_str().unwrap_or_default();
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
    // By flag the one that stays, and whether it is the service's.
    let mut stays: HashMap<EcoString, (usize, bool)> = HashMap::new();
    for (index, group) in groups.iter().enumerate() {
        let Some(name) = name(group) else { continue };
        let known = stays.entry(name).or_insert((index, group[0].1));
        if group[0].1 || !known.1 {
            *known = (index, group[0].1);
        }
    }
    let kept = groups.into_iter().enumerate().filter(|(index, group)| {
        name(group).is_none_or(|name| stays.get(&name).is_some_and(|(stays, _)| stays == index))
    });
    kept.flat_map(|(_, group)| group).collect()
}

/// Per name the larger of the merged value and the accelerator's; extended resources are asked for
/// as they are limited (OEP-0003, Notes/Constraints/Caveats; docs/decisions.md#resources).
fn resources<R: Record>(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    target: Target,
    upper: &Node,
    merged: &mut Node,
    rec: &mut R,
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
        let own =
            [configuration.node.get("resources"), configuration.node.at(&["runner", "resources"])];
        for resources in own.into_iter().flatten() {
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

fn raised(place: &Place<'_>, side: &str, entry: &Entry, before: &Node, index: usize) -> Diagnostic {
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

/// Sets an amount unless a larger one is there; answers whether it was set.
fn raise<R: Record>(
    target: Target,
    container: &mut Node,
    side: &str,
    entry: &Entry,
    rec: &mut R,
) -> bool {
    let amount =
        |node: &Node| node.scalar_text().and_then(|text| Quantity::parse_field(&text).ok());
    let known =
        container.at(&["resources", side]).and_then(|amounts| amounts.get(&entry.key)).cloned();
    let larger = match (known.as_ref().and_then(amount), amount(&entry.node)) {
        (None, _) => known.is_none(),
        (Some(own), Some(new)) => new > own,
        (Some(_), None) => false,
    };
    if !larger {
        return false;
    }
    if let Some(loser) = &known {
        target.within(Some(&container.clone()), rec, |rec| {
            within(Step::Field("resources"), rec, |rec| {
                within(Step::Field(side), rec, |rec| {
                    lost(Step::Field(&entry.key), loser, &entry.node, rec);
                });
            });
        });
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

/// What a pod is told about tensor parallelism: a flag of its arguments or command, else the
/// variable. What is no whole number (`$(TP)`) may still be one where the pod runs.
fn told(container: &Node) -> Option<(EcoString, Origin)> {
    let words =
        ["args", "command"].into_iter().filter_map(|key| container.get(key)).flat_map(Node::items);
    let words: Vec<(&str, Origin)> = words
        .filter_map(|node| Some((node.as_str()?, node.origin)))
        .flat_map(|(text, origin)| text.split_whitespace().map(move |word| (word, origin)))
        .collect();
    let mut found = None;
    for (index, (word, origin)) in words.iter().enumerate() {
        let value = match word.split_once('=') {
            Some((flag, value)) if TENSOR_FLAGS.contains(&flag) => Some(value),
            None if TENSOR_FLAGS.contains(word) => words.get(index + 1).map(|(value, _)| *value),
            _ => None,
        };
        if let Some(number) = value.filter(|value| is_whole(value)) {
            // The last one counts for argparse-style engines.
            found = Some((number.into(), *origin));
        }
    }
    found.or_else(|| {
        let env = container.get("env")?.items();
        let value = env[position(env, "name", TENSOR_VARIABLE)?].get("value")?;
        Some((value.scalar_text().filter(|text| is_whole(text))?, value.origin))
    })
}

/// Whether a text is a whole number, of whatever size.
fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tensor parallelism as a number of devices; what cannot be one is found.
fn parallelism(
    container: &Node,
    place: &Place<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<(i64, Origin)> {
    let (text, origin) = told(container)?;
    let number = text.parse().ok().and_then(|number| Range::PARALLELISM.count(number));
    if let Some(number) = number {
        return Some((number, origin));
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

/// Asks for accelerators where nobody did: as many as parallelism says, else as many as the model's
/// memory needs; says what does not go together.
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
    let (mut explicit, mut known) = (false, true);
    let mut exceeds = None;
    for target in &targets {
        let Some(container) = ensure(*target, spec) else { continue };
        // What is no number of devices stays as it is: it has its finding, and nothing is computed
        // from it.
        let Some(asked) = gpus_of(accelerator, container) else {
            known = false;
            continue;
        };
        let parallelism = parallelism(container, place, findings);
        let derived = parallelism.map_or_else(
            || need.map_or(1, |need| need.saturating_add(pods - 1) / pods.max(1)),
            |(number, _)| number,
        );
        explicit |= asked > 0 || parallelism.is_some();
        if asked > 0
            && let Some((number, origin)) =
                parallelism.filter(|(number, _)| *number != asked && pods == 1)
        {
            findings.push(
                Diagnostic::new(
                    Code::GpuCountMismatch,
                    format!(
                        "the {} asks for {asked} accelerator{} and runs with tensor parallelism {number}",
                        place.kind.as_str(),
                        if asked == 1 { "" } else { "s" }
                    ),
                )
                .at(origin.span())
                .object(place.service.object.id.to_string())
                .help("make both the same"),
            );
        }
        let number = if asked > 0 { asked } else { derived };
        // Parallelism spans pods; what one pod asks for is its own.
        configured = configured.saturating_add(if asked > 0 {
            parallelism.map_or(asked, |(told, _)| told.min(asked))
        } else {
            number
        });
        let own = match asked {
            0 if parallelism.is_some() && pods > 1 => (number + pods - 1) / pods,
            _ => number,
        };
        if asked == 0 {
            ask(accelerator, container, own);
        }
        if exceeds.is_none() && own > accelerator.per_node {
            exceeds = Some((own, parallelism.map(|(_, origin)| origin)));
        }
    }
    if let Some((own, origin)) = exceeds {
        too_many_for_a_node(accelerator, place, own, origin, need, findings);
    }
    if pods > 1 && targets.len() == 1 {
        configured = configured.saturating_mul(pods);
    }
    if let Some(need) = need.filter(|need| explicit && known && *need > configured) {
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

/// Accelerators a container asks for: of the class's resources, or of any vendor.
fn gpus_of(accelerator: &Accelerator<'_>, container: &Node) -> Option<i64> {
    let names: HashSet<&str> =
        accelerator.class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    gpus::of_container(container, |resource| {
        names.contains(resource) || gpus::is_accelerator(resource)
    })
}

/// Writes the class's resources times a number of accelerators into limits and requests.
fn ask(accelerator: &Accelerator<'_>, container: &mut Node, number: i64) {
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

/// Flags that stand more than once in the final arguments of a component.
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

/// Says that one pod asks for more than a node has: it stays Pending wherever it is put.
fn too_many_for_a_node(
    accelerator: &Accelerator<'_>,
    place: &Place<'_>,
    own: i64,
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
            format!("a pod of the {kind} asks for {own} accelerators, and a node of {class} has {most}"),
        )
        .at(span)
        .object(object())
        .help("use a multi-node component with `leader` and `worker`, or ask for fewer accelerators in one pod"),
    );
    // Where the model's memory asks for them, the choice of the class says so.
    if need.is_none_or(|need| need <= most) {
        findings.push(
            Diagnostic::new(
                Code::MultiNodeNeeded,
                format!(
                    "one replica of the {kind} asks for {own} accelerators of {class}: {} nodes of {most}",
                    (own + most - 1) / most.max(1)
                ),
            )
            .at(span)
            .object(object())
            .help("make the component multi-node with `leader` and `worker`"),
        );
    }
}

/// What runtime, class and service say of one node selector key against each other (OEP-0003,
/// Notes/Constraints/Caveats and Override Hierarchy; docs/decisions.md#node-selectors), the class's
/// terms and its divisible resources.
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
                    "no accelerator configuration for {}: the {} runs as the runtime says",
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
    let own =
        place.service.component(place.kind).and_then(|component| component.get("nodeSelector"));
    let of_service = [own, place.service.accelerators.selector.node_selector.as_ref()];
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
                        "`{}`: the runtime says {}, {} says {}, which wins",
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
