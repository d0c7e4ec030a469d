//! The whole fleet together on the nodes that were read, as kube-scheduler places it.
//!
//! In: planned services and ModelServings, with what their workloads make of them; nodes, pods that
//! run, quotas. Out: a [`Together`], and in every component a [`Placement`]. `cluster` decides;
//! this module hands it the pods and names their owners.

pub(crate) mod claims;
pub(crate) mod map;
pub(crate) mod partial_groups;
pub(crate) mod quota;
pub(crate) mod reasons;

pub use super::placement::{Example, Filtered, Look, Placement, Waiting};
pub use map::{NodeUse, Stands};
pub use partial_groups::HalfGroup;

use super::built::PodContext;
use super::costs;
use super::plan::Planner;
use super::planned::{Depth, Planned};
use super::running::RunningPods;
use crate::api::{AcceleratorClass, Api, Follow, ModelServing, Views};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::Machine;
pub use crate::cluster::fleet::Verdict;
use crate::cluster::fleet::{Fleet, Growth, Holder, Manner, Other, Packing, Placed, kind};
use crate::cluster::schedule::{
    Budget, Eviction, NodeId, Options, PodId, PodState, PodTemplate, labels,
};
use crate::pipeline::serving::{PlannedServing, plan_servings};
use crate::policy::KthenaPolicy;
use crate::quantity::{Dollars, Quantity};
use claims::{Claim, Who};
use ecow::EcoString;
use reasons::Reasons;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Requested devices by name of the class.
pub(crate) type RequestedDevices<'a> = BTreeMap<&'a EcoString, (&'a AcceleratorClass, i64)>;

/// Every class with the devices that are asked of it at minReplicas: services choose their class,
/// pods of ModelServings are of the class of their node.
pub(crate) fn asked<'a>(
    planned: &[Planned<'a>],
    servings: &[PlannedServing<'a>],
) -> RequestedDevices<'a> {
    let mut asked = RequestedDevices::new();
    let mut add = |class: &'a AcceleratorClass, devices: i64| {
        asked.entry(class.name()).or_insert((class, 0)).1 += devices;
    };
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        for component in &planned.components {
            if let Some(class) = planned.class(component.kind) {
                add(class, component.least_gpus().known().unwrap_or(0));
            }
        }
    }
    for (class, devices) in servings.iter().flat_map(|planned| &planned.by_class) {
        add(class, *devices);
    }
    asked
}

/// A replica some of whose pods have no node.
#[derive(Clone, Debug)]
pub struct Pending {
    /// `namespace/name` of the service or ModelServing.
    pub service: EcoString,
    /// The component, or the group of a ModelServing.
    pub component: EcoString,
    /// Its number.
    pub replica: usize,
    /// Reason, as a code.
    pub code: &'static str,
    /// Reason, in the words of the scheduler or of the queue.
    pub message: EcoString,
}

/// A pod that is evicted.
#[derive(Clone, Debug)]
pub struct Victim {
    /// `namespace/name`.
    pub pod: EcoString,
    /// The node that it ran on.
    pub node: EcoString,
    /// `namespace/name` of the service that takes its place.
    pub cause: EcoString,
}

/// Nodes that would hold the pending pods.
#[derive(Clone, Debug)]
pub struct MoreNodes {
    /// Their class, when one describes them.
    pub class: Option<EcoString>,
    /// How many.
    pub nodes: usize,
    /// A node that is like them.
    pub like: EcoString,
}

/// Numbers of pods.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodCounts {
    /// Pods of the input that hold a node.
    pub running: usize,
    /// Of them those of planned services.
    pub own: usize,
    /// Pods that planned services and ModelServings want.
    pub wanted: usize,
    /// Of them those with a node.
    pub placed: usize,
    /// Of them those without.
    pub pending: usize,
}

/// The fleet on its nodes.
#[derive(Clone, Debug)]
pub struct Together {
    /// Whether everything fits.
    pub verdict: Verdict,
    /// Nodes that report their resources.
    pub nodes: usize,
    /// Pods.
    pub pods: PodCounts,
    /// Pending replicas, in the order in which they are placed.
    pub pending: Vec<Pending>,
    /// Pods that are evicted.
    pub victims: Vec<Victim>,
    /// Nodes that would hold the pending pods; `None` when nothing is pending, or no node would do.
    pub add: Vec<MoreNodes>,
    /// Whether the verdict differs when other nodes are chosen among equally good ones.
    pub hangs_on_ties: bool,
    /// Groups that kube-scheduler, which has no gangs, would leave by half.
    pub half_groups: Vec<HalfGroup>,
    /// Devices that other pods hold and that services which are not shown request, by class.
    pub in_use: BTreeMap<EcoString, i64>,
    /// What ModelServings cost an hour, those that are not shown among them: namespace, name, cost.
    pub costs: Vec<(EcoString, EcoString, Dollars)>,
    /// The pods on each node, if they were requested.
    pub map: Vec<NodeUse>,
}

/// Further answers that a caller may request.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlacementOptions {
    /// Verdicts of the nodes about one more pod of each component that is shown.
    pub look: bool,
    /// The pods on each node.
    pub map: bool,
}

/// Most pods with which it is tried whether ties decide.
const MOST_ASKED_TWICE: usize = 5000;

/// The number of pods: a node that does not report one has no limit.
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
    let known: HashSet<(Api, &EcoString, &EcoString)> = planned
        .iter()
        .map(|own| (own.service.api, &own.service.namespace, &own.service.name))
        .chain(servings.iter().map(|own| (Api::Kthena, &own.serving.namespace, own.serving.name())))
        .collect();
    let catalog = planner.catalog();
    let services = catalog.services().filter(|views| {
        let own = views.of(planner.semantics());
        !known.contains(&(own.object.api, &own.namespace, own.name()))
    });
    let others = catalog.model_servings().iter();
    let others = others.filter(|own| !known.contains(&(Api::Kthena, &own.namespace, own.name())));
    (services.collect(), others.collect())
}

/// Whether two inputs have the same nodes, as far as placing pods goes.
pub fn same_room(one: &Catalog, other: &Catalog) -> bool {
    let nodes = |catalog: &Catalog| -> BTreeSet<(EcoString, EcoString)> {
        catalog.machines().iter().map(|own| (own.name.clone(), kind(own))).collect()
    };
    nodes(one) == nodes(other)
}

/// Places everything that was read together: what is planned already and, behind it, whatever else
/// the catalog holds. Naming services only chooses those that are shown, so that the others are
/// removed from the lists afterwards. `None` when no node reports its resources.
///
pub fn together<'a>(
    planner: &Planner<'a>,
    kthena: &KthenaPolicy,
    planned: &mut Vec<Planned<'a>>,
    servings: &mut Vec<PlannedServing<'a>>,
    beside: PlacementOptions,
) -> Option<Together> {
    let catalog = planner.catalog();
    if !has_room(catalog) {
        return None;
    }
    let shown = [planned.len(), servings.len()];
    let (services, others) = not_among(planner, planned, servings);
    planned.extend(planner.plan_all(&services, Depth::Plan));
    servings.extend(plan_servings(&others, kthena));
    let mut answer = place(catalog, planner.semantics(), planned, servings, shown[0], beside);
    for (class, (_, asked)) in asked(&planned[shown[0]..], &servings[shown[1]..]) {
        *answer.in_use.entry(class.clone()).or_default() += asked;
    }
    let own = |planned: &PlannedServing<'_>| {
        let serving = planned.serving;
        let cost = costs::serving(planned)?;
        Some((serving.namespace.clone(), serving.name().clone(), cost))
    };
    answer.costs = servings.iter().filter_map(own).collect();
    planned.truncate(shown[0]);
    servings.truncate(shown[1]);
    Some(answer)
}

/// Places what is planned, of which the first services are shown.
fn place<'a>(
    catalog: &'a Catalog,
    semantics: Follow,
    planned: &mut [Planned<'a>],
    servings: &mut [PlannedServing<'a>],
    shown: usize,
    beside: PlacementOptions,
) -> Together {
    let context = PodContext::new(catalog.machines(), catalog.others());
    let running = RunningPods::new(catalog.others());
    let (mut claims, own) = claims::of(planned, servings, &context, &running);
    let templates = running.templates(&context);
    let mut fleet = fleet(catalog, &running, &templates, &own, &mut claims);
    let held = quota::hold(catalog, planned, &claims, &mut fleet);
    let placed = fleet.place(Manner::default());
    let verdict = match fleet.verdict(&placed) {
        Verdict::Fits if held.is_empty() && claims.iter().all(|claim| claim.refused.is_none()) => {
            Verdict::Fits
        }
        Verdict::Fits => Verdict::DoesNotFit { proven: true },
        other => other,
    };
    let add = fleet.growth(&placed).unwrap_or_default();
    let hangs_on_ties =
        placed.scheduler.ties() > 0 && placed.all().count() <= MOST_ASKED_TWICE && {
            let other = fleet.place(Manner { reversed: true, ..Manner::default() });
            other.pending().next().is_none() != placed.pending().next().is_none()
        };
    let mut answer = Together {
        verdict,
        nodes: fleet.machines.len(),
        pods: PodCounts { running: running.all.len(), own: own.len(), ..PodCounts::default() },
        pending: Vec::new(),
        victims: victims(&placed, &running, &own, &claims),
        add: add.iter().map(|growth| more(catalog, semantics, &placed, *growth)).collect(),
        hangs_on_ties,
        half_groups: partial_groups::groups(&fleet, &claims, placed.pending().next().is_some()),
        in_use: in_use(catalog, semantics, &running, &templates, &own),
        costs: Vec::new(),
        map: Vec::new(),
    };
    if beside.map {
        answer.map = map::nodes(catalog, semantics, &placed, &claims);
    }
    let mut reasons = Reasons::new(placed);
    let mut classes = HashMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let mut placement = reasons.of(at, claim, &fleet, held.get(&at), &mut answer.pending);
        if let Who::Component(service, _) = claim.who
            && beside.look
            && service < shown
        {
            placement.look = reasons.look(at, &fleet).map(Box::new);
        }
        answer.pods.wanted += placement.wanted;
        answer.pods.placed += placement.placed;
        answer.pods.pending += placement.pending();
        match claim.who {
            Who::Component(service, component) => {
                planned[service].components[component].placement = Some(placement);
            }
            Who::Serving(serving) => {
                servings[serving].fits = Some(reasons.groups(at, &fleet));
                servings[serving].by_class = reasons.by_class(at, &fleet, |node, machine| {
                    *classes.entry(node).or_insert_with(|| class_of(catalog, semantics, machine))
                });
                servings[serving].placement = Some(placement);
            }
        }
    }
    sort_pending(&mut answer.pending, &fleet, &claims);
    answer
}

/// Pending replicas in the order in which their workloads are placed.
fn sort_pending(pending: &mut [Pending], fleet: &Fleet, claims: &[Claim]) {
    let order: BTreeMap<(&EcoString, Option<&str>), usize> = fleet
        .sequence()
        .into_iter()
        .enumerate()
        .map(|(place, at)| ((&claims[at].service, claims[at].component), place))
        .collect();
    let place = |one: &Pending| {
        let own = order.get(&(&one.service, Some(one.component.as_str())));
        own.or_else(|| order.get(&(&one.service, None))).copied()
    };
    pending.sort_by_key(|one| (place(one), one.replica));
}

fn fleet(
    catalog: &Catalog,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    own: &BTreeSet<usize>,
    claims: &mut [Claim],
) -> Fleet {
    let others = running.all.iter().zip(templates).enumerate();
    let others = others.filter(|(at, _)| !own.contains(at)).map(|(_, (pod, template))| Other {
        template: Arc::clone(template),
        node: pod.node.clone(),
        started: pod.started.clone(),
    });
    Fleet {
        machines: nodes(catalog),
        options: options(catalog),
        others: others.collect(),
        workloads: claims.iter_mut().map(|claim| std::mem::take(&mut claim.workload)).collect(),
    }
}

/// The nodes that report their resources. A node without a number of pods does not limit it.
pub(crate) fn nodes(catalog: &Catalog) -> Vec<Arc<Machine>> {
    let stated = catalog.machines().iter().filter(|machine| machine.allocatable.is_some());
    let limited = |machine: &Machine| {
        let mut machine = machine.clone();
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
    for object in catalog.others() {
        match object.id.kind.as_str() {
            "Namespace" => {
                let own = labels(object.metadata("labels"));
                options.namespaces.insert(object.id.name.clone(), own);
            }
            "PodDisruptionBudget" => {
                let namespace = object.id.scope.namespace().map(EcoString::as_str);
                // One that the server would refuse protects no pod; the object has a finding.
                if let Ok(budget) = Budget::read(namespace.unwrap_or_default(), &object.node) {
                    options.budgets.push(budget);
                }
            }
            _ => {}
        }
    }
    options
}

fn victims(
    placed: &Placed,
    running: &RunningPods<'_>,
    own: &BTreeSet<usize>,
    claims: &[Claim],
) -> Vec<Victim> {
    let others: Vec<usize> = (0..running.all.len()).filter(|at| !own.contains(at)).collect();
    let service = |holder: Holder| match holder {
        Holder::Wanted(workload, ..) | Holder::Extra(workload) => claims[workload].service.clone(),
        Holder::Other(at) => running.all[others[at]].name().into(),
    };
    let name = |eviction: &Eviction, holder: Holder| match holder {
        Holder::Wanted(workload, ..) | Holder::Extra(workload) => {
            let node = &placed.scheduler.node(eviction.node).name;
            let on = claims[workload].own.iter().map(|at| &running.all[*at]);
            let pod = on.into_iter().find(|pod| pod.node == *node);
            pod.map_or_else(|| claims[workload].service.clone(), |pod| pod.name().into())
        }
        Holder::Other(_) => service(holder),
    };
    placed
        .evicted
        .iter()
        .map(|(eviction, victim, cause)| Victim {
            pod: name(eviction, *victim),
            node: placed.scheduler.node(eviction.node).name.clone(),
            cause: service(*cause),
        })
        .collect()
}

/// The class that describes a machine: of several the first by name.
fn class_of<'a>(
    catalog: &'a Catalog,
    semantics: Follow,
    machine: &Machine,
) -> Option<&'a AcceleratorClass> {
    let mut classes: Vec<&AcceleratorClass> = catalog
        .classes(semantics)
        .filter(|class| machines::class_matches(class, machine))
        .collect();
    classes.sort_by_key(|class| class.name().clone());
    classes.into_iter().next()
}

fn more(catalog: &Catalog, semantics: Follow, placed: &Placed, growth: Growth) -> MoreNodes {
    let machine = placed.scheduler.node(growth.like);
    MoreNodes {
        class: class_of(catalog, semantics, machine).map(|class| class.name().clone()),
        nodes: growth.nodes,
        like: machine.name.clone(),
    }
}

/// Devices of each class that other pods hold on usable nodes.
fn in_use(
    catalog: &Catalog,
    semantics: Follow,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    own: &BTreeSet<usize>,
) -> BTreeMap<EcoString, i64> {
    let mut held: BTreeMap<&EcoString, Vec<usize>> = BTreeMap::new();
    for (at, pod) in running.all.iter().enumerate().filter(|(at, _)| !own.contains(at)) {
        held.entry(&pod.node).or_default().push(at);
    }
    let of_class = |class: &AcceleratorClass| -> i64 {
        let Some(resource) = class.whole_resources().next().map(|one| &one.name.value) else {
            return 0;
        };
        machines::matching(class, catalog.machines())
            .into_iter()
            .filter(|machine| machine.usable(&[]))
            .flat_map(|machine| held.get(&machine.name).into_iter().flatten())
            .map(|at| templates[*at].requests.get(resource).copied().unwrap_or(0))
            .sum()
    };
    catalog.classes(semantics).map(|class| (class.name().clone(), of_class(class))).collect()
}

/// Nodes of some pods by name, with how many of them.
fn by_node(placed: &Placed, nodes: impl Iterator<Item = NodeId>) -> Vec<(EcoString, usize)> {
    let mut counts: BTreeMap<EcoString, usize> = BTreeMap::new();
    for node in nodes {
        *counts.entry(placed.scheduler.node(node).name.clone()).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// Nodes that would place everything, as a sentence.
pub fn advice(packing: Packing) -> String {
    let mut steps = Vec::new();
    if packing.packed {
        steps.push(
            "fill nodes one by one (kube-scheduler: NodeResourcesFit with scoringStrategy MostAllocated for the GPUs)",
        );
    }
    if packing.largest_first {
        steps.push("start what asks for most GPUs first");
    }
    if packing.moves {
        steps.push("let pods that run move");
    }
    if steps.is_empty() { "nothing to do".to_owned() } else { steps.join(", ") }
}

/// Whether a pod is on a node.
fn stands(placed: &Placed, pod: PodId) -> bool {
    matches!(placed.scheduler.state(pod), PodState::Bound(_))
}
