//! How a chosen accelerator class changes the pods of engine and decoder.

use super::arguments;
use crate::api::{AcceleratorClass, AcceleratorConfiguration, ComponentKind, Runtime, Service};
use crate::cluster as machines;
use crate::cluster::Pinned;
use crate::decision::AcceleratorDecision;
use crate::merge::edit::{list_mut, map_mut, mapping, position};
use crate::merge::history::{Recorder, Step};
use crate::merge::written as merge;
use crate::operators::ome::rules::{ArgumentRule, ClassResourceRule, OmeRelease};
use crate::quantity::Quantity;
use crate::yaml::{Entry, Node, Value};
use ecow::EcoVec;
use std::cell::RefCell;

const TENSOR: [&str; 3] = ["--tp-size", "--tp", "--tensor-parallel-size"];
const PIPELINE: [&str; 3] = ["--pp-size", "--pp", "--pipeline-parallel-size"];

/// The class of a component, with the runtime's configuration for it.
#[derive(Clone, Debug)]
pub struct Accelerator<'a> {
    /// The class.
    pub class: &'a AcceleratorClass,
    /// The runtime's `acceleratorConfig` of this class (shipped shape).
    config: Option<&'a Node>,
    /// The runtime has an `acceleratorConfig`, for any class.
    is_configured: bool,
    /// `acceleratorConfigurations` that match this class, lowest layer first (OEP-0003,
    /// InferenceService Extensions; docs/decisions.md#layers).
    pub(crate) configurations: Vec<&'a AcceleratorConfiguration>,
    /// The runtime has configurations, for any class.
    pub(crate) has_configurations: bool,
    /// Accelerators that one replica needs for its memory.
    pub(crate) gpus: Option<u64>,
    /// Accelerators of the largest node of the class.
    pub(crate) per_node: i64,
}

impl<'a> Accelerator<'a> {
    /// The chosen class of a decision.
    pub(crate) fn of(
        decision: &AcceleratorDecision<'a>,
        runtime: Option<&'a Runtime>,
        service: &'a Service,
    ) -> Option<Self> {
        let class = decision.chosen?;
        let kind = decision.component as usize;
        let of_runtime = runtime.map(|runtime| {
            [&runtime.configurations.shared, &runtime.configurations.components[kind]]
        });
        let of_service = &service.accelerators.configurations[kind];
        // Lowest layer first: all components of the runtime, this component, the service.
        let all: Vec<&AcceleratorConfiguration> =
            of_runtime.into_iter().flatten().chain([of_service]).flatten().collect();
        // Before the filter: without any entry there is nothing to miss for this class.
        let has_configurations = !all.is_empty();
        let configurations =
            all.into_iter().filter(|configuration| configuration.is_for(class)).collect();
        let entry = decision.entry.and_then(|index| runtime?.formats.get(index));
        let config = entry.and_then(|entry| entry.accelerator_config.as_ref());
        Some(Self {
            class,
            config: config.and_then(|config| config.get(class.name())),
            is_configured: config.is_some(),
            configurations,
            has_configurations,
            gpus: decision.gpus,
            per_node: i64::try_from(decision.per_node).unwrap_or(i64::MAX),
        })
    }

    /// Whether the runtime configures classes, but not this one.
    pub(crate) fn lacks_config(&self) -> bool {
        self.is_configured && self.config.is_none()
    }

    /// The class's selector and terms, which restrict the pod to its nodes.
    fn pinned(&self) -> Pinned {
        let discovery = &self.class.discovery;
        machines::pinned(discovery.node_selector.as_ref(), discovery.terms.as_ref())
    }

    /// The class's node selector as it is rendered.
    pub(crate) fn own_selector(&self) -> Option<Node> {
        self.pinned().selector
    }

    /// The class's affinity: its own, and its terms in the form of Kubernetes.
    fn affinity(&self) -> Option<Node> {
        let discovery = &self.class.discovery;
        let terms = self.pinned().terms.map(|terms| {
            let origin = terms.origin;
            let required =
                mapping([("nodeSelectorTerms", machines::kubernetes_terms(&terms))], origin);
            mapping(
                [(
                    "nodeAffinity",
                    mapping([("requiredDuringSchedulingIgnoredDuringExecution", required)], origin),
                )],
                origin,
            )
        });
        match (&discovery.affinity, terms) {
            // Both must hold, so that the terms of one are combined with those of the other.
            (Some(affinity), Some(terms)) => {
                Some(merge::affinity(&terms, affinity, &mut Recorder::off()))
            }
            (None, terms) => terms,
            (affinity, None) => affinity.clone(),
        }
    }
}

impl ClassResourceRule {
    /// Whether a new amount replaces an existing one.
    pub(crate) fn replaces(self, node: &Node, new: &Node) -> bool {
        let amount =
            |node: &Node| node.scalar_text().and_then(|text| Quantity::parse_field(&text).ok());
        match self {
            Self::None => false,
            Self::Largest => amount(new) > amount(node),
            Self::Override => true,
        }
    }
}

/// Sets the class's resources in requests and limits of every runner, over any earlier values
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, MergeEngineResources and
/// MergeDecoderResources).
///
/// Quirk: `quantity` is per accelerator but is set per container, so that it lowers what a runtime
/// requests.
pub(crate) fn overwrite_resources(
    rule: ClassResourceRule,
    spec: &mut Node,
    class: &AcceleratorClass,
    rec: &mut Recorder,
) {
    for part in [None, Some("leader"), Some("worker")] {
        let holder = match part {
            None => Some(&mut *spec),
            Some(key) => spec.as_map_mut().and_then(|map| map.get_mut(key)),
        };
        let Some(runner) = holder
            .and_then(Node::as_map_mut)
            .and_then(|map| map.get_mut("runner"))
            .filter(|runner| runner.as_map().is_some())
        else {
            continue;
        };
        set_in(rule, runner, part, class, rec);
    }
}

fn set_in(
    rule: ClassResourceRule,
    runner: &mut Node,
    part: Option<&str>,
    class: &AcceleratorClass,
    rec: &mut Recorder,
) {
    for side in ["requests", "limits"] {
        for resource in &class.resources {
            // `resources` that is no mapping has its own finding and is left as it is.
            let Some(resources) = map_mut(runner, "resources", resource.quantity.origin) else {
                return;
            };
            let mut amounts = resources
                .get(side)
                .filter(|node| node.as_map().is_some())
                .cloned()
                .unwrap_or_else(|| Node::map(resource.quantity.origin));
            let node = amounts.get(&resource.name.value);
            if node.is_some_and(|node| !rule.replaces(node, &resource.quantity)) {
                continue;
            }
            if let Some(map) = amounts.as_map_mut() {
                if let Some(loser) = map.get(&resource.name.value) {
                    // The paths of overridden values have the runner, and leader or worker above
                    // it.
                    let steps = part.into_iter().chain(["runner", "resources", side]);
                    let rec = &mut rec.at_end_of(steps.map(Step::Field));
                    rec.at(resource.name.value.as_str()).lost(loser, Some(&resource.quantity));
                }
                map.insert_entry(Entry {
                    key: resource.name.value.clone(),
                    key_origin: resource.name.origin,
                    node: resource.quantity.clone(),
                });
            }
            resources.insert(side, amounts);
        }
    }
}

/// Whether the service's own top-level runner sets resources. Empty ones are removed before: the
/// webhook and the controller write the service back, and Go omits empty maps and lists
/// (components/base.go, isResourcesUnspecified; controller.go, Reconcile).
pub(crate) fn states_resources(service: &Service, kind: ComponentKind) -> bool {
    service
        .component(kind)
        .and_then(|component| component.at(&["runner", "resources"]))
        .is_some_and(|resources| {
            ["limits", "requests", "claims"]
                .iter()
                .any(|key| resources.get(key).is_some_and(|found| !found.is_empty()))
        })
}

/// The argument overrides that an earlier container of the service changed.
///
/// Quirk: a container without args gets the list of the runtime itself, so parallel sizes that are
/// written into its args change the overrides of the next containers
/// (pkg/controller/v1beta1/inferenceservice/utils/merging.go, MergeArgs and OverrideArgParam).
#[derive(Debug, Default)]
pub(crate) struct ChangedOverrides(RefCell<Vec<(*const Node, EcoVec<Node>)>>);

impl ChangedOverrides {
    /// The arguments that override those of a container.
    fn of(&self, config: &Node) -> EcoVec<Node> {
        let changed = self.0.borrow();
        // From the end: a later container sees what the last one before it changed.
        let changed = changed.iter().rev().find(|(changed, _)| std::ptr::eq(*changed, config));
        changed.map_or_else(
            || match config.get("runtimeArgsOverride").map(|over| &over.value) {
                Some(Value::List(over)) => over.clone(),
                _ => EcoVec::new(),
            },
            |(_, over)| over.clone(),
        )
    }
}

/// Applies the environment, arguments and parallel sizes of the runtime's acceleratorConfig to a
/// container, over existing values (pkg/controller/v1beta1/inferenceservice/components/base.go,
/// UpdateEnvVariables and MergeRuntimeArgumentsOverride). Quirk: also over the service's values.
pub(crate) fn overwrite_container(
    release: &OmeRelease,
    accelerator: &Accelerator<'_>,
    changed: &ChangedOverrides,
    container: &mut Node,
    rec: &mut Recorder,
) {
    let Some(config) = accelerator.config else { return };
    // Upstream iterates over a Go map; here the keys are sorted.
    let mut variables: Vec<&Entry> =
        config.get("environmentOverride").map(Node::entries).into_iter().flatten().collect();
    variables.sort_by(|a, b| a.key.cmp(&b.key));
    for entry in variables {
        set_variable(container, entry, rec);
    }
    let over = changed.of(config);
    let mut is_shared = false;
    if !over.is_empty()
        && let Some(args) = list_mut(container, "args", config.origin)
    {
        // Only an empty list takes over the runtime's own slice, which Go then changes in place.
        is_shared = args.is_empty();
        let merged = match release.arguments {
            ArgumentRule::Flags => arguments::merged(args, &over),
            ArgumentRule::FirstElement => arguments::merged_lines(args, &over),
        };
        *args = merged;
    }
    let sizes = config.get("tensorParallelismOverride");
    for (key, aliases) in [("tensorParallelSize", TENSOR), ("pipelineParallelSize", PIPELINE)] {
        let Some(size) = sizes
            .and_then(|sizes| sizes.get(key))
            // Upstream sets sizes above 0 only: 0 is a field that is not set.
            .filter(|size| size.as_int().is_some_and(|size| size > 0))
        else {
            continue;
        };
        // Both lists are taken out and put back, because they are changed together.
        let mut both = ["args", "command"].map(|key| {
            container.get(key).and_then(|node| {
                if let Value::List(list) = &node.value { Some(list.clone()) } else { None }
            })
        });
        let [args, command] = &mut both;
        match release.sizes {
            ArgumentRule::Flags => {
                arguments::set_size(args.as_mut(), command.as_mut(), &aliases, size);
            }
            ArgumentRule::FirstElement => {
                arguments::set_size_in_first(args.as_mut(), &aliases, size);
            }
        }
        for (key, list) in ["args", "command"].into_iter().zip(both) {
            if let (Some(list), Some(slot)) =
                (list, container.as_map_mut().and_then(|map| map.get_mut(key)))
            {
                slot.value = Value::List(list);
            }
        }
    }
    if is_shared && let Some(Value::List(args)) = container.get("args").map(|args| &args.value) {
        changed.0.borrow_mut().push((config, args.clone()));
    }
}

fn set_variable(container: &mut Node, entry: &Entry, rec: &mut Recorder) {
    let value = entry
        .node
        .scalar_text()
        .map_or_else(|| entry.node.clone(), |text| Node::str(text, entry.node.origin));
    let Some(list) = list_mut(container, "env", entry.node.origin) else { return };
    let Some(index) = position(list, "name", &entry.key) else {
        let name = Node::str(entry.key.clone(), entry.key_origin);
        list.push(mapping([("name", name), ("value", value)], entry.node.origin));
        return;
    };
    if let Some(loser) = list[index].get("value") {
        crate::pods::container::lost_variable(&entry.key, loser, &value, rec);
    }
    if let Some(map) = list.make_mut()[index].as_map_mut() {
        map.insert("value", value);
    }
}

/// The class's affinity replaces the pod's when the service's component has none
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdateEngineAffinity and
/// UpdateDecoderAffinity).
pub(crate) fn replace_affinity(
    accelerator: &Accelerator<'_>,
    pod: &mut Node,
    component: Option<&Node>,
    rec: &mut Recorder,
) {
    // Upstream copies the affinity alone: the terms of a class are read by documents only.
    let Some(affinity) = &accelerator.class.discovery.affinity else { return };
    if component
        .and_then(|component| component.get("affinity"))
        .is_some_and(|component| !component.is_null())
    {
        return;
    }
    if let Some(loser) = pod.get("affinity") {
        rec.at("affinity").lost(loser, Some(affinity));
    }
    if let Some(map) = pod.as_map_mut() {
        map.insert("affinity", affinity.clone());
    }
}

/// Combines the class's affinity with the pod's: both must match. Each of the class's terms is
/// combined with each of the pod's (OEP-0003, Notes/Constraints/Caveats;
/// docs/decisions.md#affinity). Returns the number of terms.
pub(crate) fn join_affinity(
    accelerator: &Accelerator<'_>,
    pod: &mut Node,
    rec: &mut Recorder,
) -> usize {
    let Some(affinity) = accelerator.affinity() else { return 0 };
    let joined = match pod.get("affinity").filter(|affinity| !affinity.is_null()) {
        Some(below) => merge::affinity(&affinity, below, &mut rec.at("affinity")),
        None => affinity,
    };
    let terms = joined
        .at(&[
            "nodeAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution",
            "nodeSelectorTerms",
        ])
        .map_or(0, |terms| terms.items().len());
    if let Some(map) = pod.as_map_mut() {
        map.insert("affinity", joined);
    }
    terms
}
