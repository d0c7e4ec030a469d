//! Places the whole fleet on the nodes of the input, as kube-scheduler does.
//!
//! In: planned services and ModelServings, with their workloads; nodes, running pods, quotas. Out:
//! a [`Together`], and in every component a [`Placement`]. `cluster` schedules the pods; this
//! module provides them and names their owners.

pub(crate) mod adopted;
pub(crate) mod answer;
pub(crate) mod assumed;
pub(in crate::pipeline) mod attached;
pub(crate) mod claims;
mod contested;
pub(crate) mod doubts;
pub(in crate::pipeline) mod exclusive;
mod held;
mod in_use;
pub(crate) mod loss;
pub(crate) mod map;
mod missing;
mod named_nodes;
mod not_judged;
mod object_counts;
pub(in crate::pipeline) mod on_node;
mod order;
mod other_class;
mod other_mode;
pub(crate) mod partial_groups;
mod place;
pub(crate) mod plain_queue;
mod pod_templates;
pub(in crate::pipeline) mod policies;
pub(in crate::pipeline) mod queue_rules;
pub(crate) mod quota;
mod quota_status;
pub(crate) mod reasons;
mod references;
pub(crate) mod remedies;
mod renewed;
mod runtimes;
pub(crate) mod settled;
mod starting;
#[cfg(test)]
mod tests;
mod unevaluated;
mod units;
mod volcano_job;
pub(in crate::pipeline) mod volcano_queue;
mod workload_kinds;
pub(crate) mod workloads;

pub use super::autoscalers::At;
pub use super::placement::{Filtered, Look, Placement, Waiting};
pub use answer::{
    MoreNodes, OtherWorkloads, Pending, PodCounts, SettledWorkload, Together, Victim,
};
pub use assumed::AssumedToleration;
pub use doubts::{Doubts, settle, stopped};
pub use loss::{Each, Loss, LossRow, Losses, Lost, losses};
pub use map::{NodeUse, Stands};
pub use not_judged::{NotJudged, OpenComponents};
pub use partial_groups::HalfGroup;

use super::built::open_claims;
use super::costs;
use super::plan::Planner;
use super::planned::{Depth, Planned};
use crate::api::{AcceleratorClass, Api, ModelServing, Object, ObjectRef, Views};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::Machine;
pub use crate::cluster::fleet::Verdict;
use crate::cluster::fleet::{Packing, Placed, kind};
use crate::cluster::schedule::{Admission, Budget, NodeId, Options, PodId, PodState, labels};
use crate::operators::servings;
use crate::pipeline::serving::{PlannedServing, plan_servings};
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::EcoString;
pub use pod_templates::refused_by_server;
pub use remedies::RemedyFound;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
pub use workload_kinds::counted as counted_kinds;
pub use workloads::{NotCounted, ServiceNames, counted_objects};

/// Requested devices by name of the class.
pub(crate) type RequestedDevices<'a> = BTreeMap<&'a EcoString, (&'a AcceleratorClass, i64)>;

/// Every class with the devices requested from it at minReplicas. Services select their class; pods
/// of ModelServings have the class of their node.
pub(crate) fn requested<'a>(
    planned: &[Planned<'a>],
    servings: &[PlannedServing<'a>],
) -> RequestedDevices<'a> {
    let mut requested = RequestedDevices::new();
    let mut add = |class: &'a AcceleratorClass, devices: i64| {
        requested.entry(class.name()).or_insert((class, 0)).1 += devices;
    };
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        for component in &planned.components {
            if let Some(class) = planned.class(component.kind) {
                add(class, component.least_gpus().number().unwrap_or(0));
            }
        }
    }
    for (class, devices) in servings.iter().flat_map(|planned| &planned.by_class) {
        add(class, *devices);
    }
    requested
}

/// Optional parts of the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlacementOptions<'a> {
    /// How the nodes respond to one more pod of each shown component.
    pub look: bool,
    /// The pods on each node.
    pub map: bool,
    /// The placed pods, for a change of this state.
    pub settled: bool,
    /// The number of replicas.
    pub at: At,
    /// Nodes that are lost.
    pub lost: Option<&'a BTreeSet<EcoString>>,
    /// The workloads whose running pods a change replaces: `namespace/name`, without an operator with
    /// the kind first.
    pub again: Option<&'a BTreeSet<EcoString>>,
}

/// Above this number of pods, the effect of ties is not computed.
const MOST_ASKED_TWICE: usize = 5000;

/// Resource name for the number of pods. A node that does not report it has no limit.
const PODS: &str = "pods";
const UNLIMITED: i64 = 100_000;

/// Whether a node reports its resources.
pub fn has_room(catalog: &Catalog) -> bool {
    machines::is_known(catalog.machines())
}

/// The services and ModelServings of the catalog that are not planned yet.
fn not_among<'a>(
    planner: &Planner<'a>,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
) -> (Vec<&'a Views>, Vec<&'a ModelServing>) {
    // With the API: an OME and a KServe service may have the same name.
    let planned_names: HashSet<(Api, &EcoString, &EcoString)> = planned
        .iter()
        .map(|one| (one.service.api, &one.service.namespace, &one.service.name))
        .chain(
            servings.iter().map(|one| (servings::API, &one.serving.namespace, one.serving.name())),
        )
        .collect();
    let catalog = planner.catalog();
    let services = catalog.services().filter(|views| {
        let service = views.followed();
        !planned_names.contains(&(service.object.api, &service.namespace, service.name()))
    });
    let others = catalog.model_servings().iter();
    let others = others.filter(|serving| {
        !planned_names.contains(&(servings::API, &serving.namespace, serving.name()))
    });
    (services.collect(), others.collect())
}

/// Whether two inputs have the same nodes for the scheduler.
pub fn same_room(one: &Catalog, other: &Catalog) -> bool {
    let nodes = |catalog: &Catalog| -> BTreeSet<(EcoString, EcoString)> {
        catalog.machines().iter().map(|machine| (machine.name.clone(), kind(machine))).collect()
    };
    nodes(one) == nodes(other)
}

/// Places everything in the input together: the services and ModelServings that are already
/// planned, then all others in the catalog. A selection of services only determines which are
/// shown, so the others are removed from the lists afterwards. `None` if no node reports its
/// resources.
pub fn together<'a>(
    planner: &Planner<'a>,
    planned: &mut Vec<Planned<'a>>,
    servings: &mut Vec<PlannedServing<'a>>,
    options: PlacementOptions<'_>,
) -> Option<Together> {
    together_after(planner, planned, servings, options, &[])
}

/// The same after a change: the workloads of `before` run where they were placed.
pub fn together_after<'a>(
    planner: &Planner<'a>,
    planned: &mut Vec<Planned<'a>>,
    servings: &mut Vec<PlannedServing<'a>>,
    options: PlacementOptions<'_>,
    before: &[SettledWorkload],
) -> Option<Together> {
    let catalog = planner.catalog();
    if !has_room(catalog) {
        return None;
    }
    // All services compete for the nodes; only the first ones were asked for.
    let shown = [planned.len(), servings.len()];
    let (services, others) = not_among(planner, planned, servings);
    planned.extend(planner.plan_all(&services, Depth::Plan));
    servings.extend(plan_servings(catalog, &others));
    let mut answer = place::place(planner, planned, servings, shown[0], options, before);
    for (class, (_, devices)) in requested(&planned[shown[0]..], &servings[shown[1]..]) {
        *answer.in_use.entry(class.clone()).or_default() += devices;
    }
    let cost_of = |planned: &PlannedServing<'_>| {
        let serving = planned.serving;
        let cost = costs::serving(planned)?;
        Some((serving.namespace.clone(), serving.name().clone(), cost))
    };
    answer.costs = servings.iter().filter_map(cost_of).collect();
    planned.truncate(shown[0]);
    servings.truncate(shown[1]);
    Some(answer)
}

/// `spec.replicas` of the Deployments and LeaderWorkerSets in the input, by namespace and name.
fn stated_replicas(catalog: &Catalog) -> HashMap<(EcoString, EcoString), i64> {
    let all = catalog.others().iter();
    let workloads =
        all.filter(|object| matches!(object.id.kind.as_str(), "Deployment" | "LeaderWorkerSet"));
    workloads
        .filter_map(|object| {
            let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
            let replicas = object.node.at(&["spec", "replicas"])?.as_int()?;
            Some(((namespace, object.id.name.clone()), replicas))
        })
        .collect()
}

/// Whether the input says how many pods run: it has Pods or Deployments.
pub fn has_current(catalog: &Catalog) -> bool {
    let mut all = catalog.others().iter();
    all.any(|object| matches!(object.id.kind.as_str(), "Pod" | "Deployment" | "LeaderWorkerSet"))
}

/// What a placement may read of an input beside its services and its nodes: workloads, and what
/// admission and scheduling of their pods depend on. Of a pod that runs it is the node.
pub fn placed_state(catalog: &Catalog) -> BTreeSet<(ObjectRef, String)> {
    let is_read =
        |object: &&Object| !matches!(object.id.kind.as_str(), "ConfigMap" | "Secret" | "Event");
    let text =
        |object: &Object| match object.node.at(&["spec", "nodeName"]).and_then(Node::scalar_text) {
            Some(node) if object.id.kind == "Pod" => node.to_string(),
            _ => object.node.to_json().to_string(),
        };
    let all = catalog.others().iter().filter(is_read);
    all.map(|object| (object.id.clone(), text(object))).collect()
}

/// The nodes that report their resources. A node that reports no number of pods has no limit.
pub(crate) fn nodes(catalog: &Catalog) -> Vec<Arc<Machine>> {
    let stated = catalog.machines().iter().filter(|machine| machine.allocatable.is_some());
    let limited = |machine: &Machine| {
        let mut machine = machine.clone();
        // Else the filter for resources would refuse every pod: an absent amount counts as 0.
        if let Some(amounts) = machine.allocatable.as_mut()
            && amounts.iter().all(|(name, _)| name != PODS)
        {
            amounts.push((PODS.into(), Quantity::from_integer(UNLIMITED)));
        }
        Arc::new(machine)
    };
    stated.map(limited).collect()
}

/// Further objects that the scheduler reads: priorities, budgets, queues.
pub(crate) fn options(catalog: &Catalog) -> Options {
    let mut options = Options::default();
    options.storage.settle();
    let mut admission = Admission::partial();
    let mut claims: Vec<&Object> = Vec::new();
    // Never in the order of the files: a namespace says which claims it allows, and of two claims
    // that a quota has room for once, the first is created.
    // Pods are read apart, and a dump has more of them than of everything else.
    let others = catalog.others().iter().filter(|object| object.id.kind != "Pod");
    let mut objects: Vec<&Object> = others.collect();
    objects.sort_by_key(|object| (object.id.kind != "Namespace", &object.id));
    for object in objects {
        admission.add(&object.node);
        if object.id.kind == "PersistentVolumeClaim" {
            claims.push(object);
            continue;
        }
        options.add(&object.node);
        match object.id.kind.as_str() {
            "Namespace" => {
                let namespace_labels = labels(object.metadata("labels"));
                options.namespaces.insert(object.id.name.clone(), namespace_labels);
            }
            "PodDisruptionBudget" => {
                let namespace = object.id.scope.namespace().map(EcoString::as_str);
                // The API server would reject an invalid one, so it protects no pod; the object has
                // a finding.
                if let Ok(budget) = Budget::read(namespace.unwrap_or_default(), &object.node) {
                    options.budgets.push(budget);
                }
            }
            _ => {}
        }
    }
    // Those that exist are counted before new ones.
    claims.sort_by_key(|claim| claim.metadata("uid").is_none());
    let open = open_claims(catalog);
    for claim in claims {
        options.add_claim(&claim.node, &admission, &open);
    }
    options
}

/// The class that describes a machine; the first by name if several do.
fn class_of<'a>(catalog: &'a Catalog, machine: &Machine) -> Option<&'a AcceleratorClass> {
    let mut classes: Vec<&AcceleratorClass> =
        catalog.classes().filter(|class| machines::class_matches(class, machine)).collect();
    classes.sort_by_key(|class| class.name().clone());
    classes.into_iter().next()
}

/// The nodes of some pods by name, with the number of these pods on each.
fn by_node(placed: &Placed, nodes: impl Iterator<Item = NodeId>) -> Vec<(EcoString, usize)> {
    let mut counts: BTreeMap<EcoString, usize> = BTreeMap::new();
    for node in nodes {
        *counts.entry(placed.scheduler.node(node).name.clone()).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// How everything would fit on the existing nodes, as a sentence.
pub fn advice(packing: Packing) -> String {
    let mut steps = Vec::new();
    if packing.packed {
        steps.push(
            "fill nodes one by one (kube-scheduler: NodeResourcesFit with scoringStrategy MostAllocated for the GPUs)",
        );
    }
    if packing.largest_first {
        steps.push("start the services with most GPUs first");
    }
    if packing.moves {
        steps.push("let pods that run move");
    }
    if steps.is_empty() { "nothing to do".to_owned() } else { steps.join(", ") }
}

/// Whether a pod is bound to a node.
fn stands(placed: &Placed, pod: PodId) -> bool {
    matches!(placed.scheduler.state(pod), PodState::Bound(_) | PodState::Reserved(_))
}
