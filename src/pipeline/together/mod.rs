//! Places the whole fleet on the nodes of the input, as kube-scheduler does.
//!
//! In: planned services and ModelServings, with their workloads; nodes, running pods, quotas. Out:
//! a [`Together`], and in every component a [`Placement`]. `cluster` schedules the pods; this
//! module provides them and names their owners.

pub(crate) mod adopted;
pub(crate) mod answer;
pub(crate) mod assumed;
pub(crate) mod claims;
mod contested;
mod held;
pub(crate) mod loss;
pub(crate) mod map;
mod missing;
mod named_nodes;
mod object_counts;
mod order;
mod other_class;
mod other_mode;
pub(crate) mod partial_groups;
pub(crate) mod plain_queue;
pub(crate) mod quota;
mod quota_status;
pub(crate) mod reasons;
mod references;
pub(crate) mod remedies;
mod renewed;
pub(crate) mod settled;
#[cfg(test)]
mod tests;
mod unevaluated;
mod volcano_job;
mod workload_kinds;
pub(crate) mod workloads;

pub use super::autoscalers::At;
pub use super::placement::{Filtered, Look, Placement, Waiting};
pub use answer::{
    MoreNodes, NotJudged, OtherWorkloads, Pending, PodCounts, SettledWorkload, Together, Victim,
};
pub use assumed::AssumedToleration;
pub use loss::{Each, Loss, LossRow, Losses, Lost, losses};
pub use map::{NodeUse, Stands};
pub use partial_groups::HalfGroup;

use super::built::PodContext;
use super::costs;
use super::plan::Planner;
use super::planned::{Depth, Planned};
use super::running::{Creator, RunningPod, RunningPods};
use crate::api::{AcceleratorClass, Api, Follow, ModelServing, Object, ObjectRef, Views};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::Machine;
pub use crate::cluster::fleet::Verdict;
use crate::cluster::fleet::{
    Came, Fleet, Growth, Holder, Manner, Other, Packing, Placed, Rooms, Running, Workload, kind,
};
use crate::cluster::schedule::{
    Admission, Budget, Eviction, NodeId, Options, PodId, PodState, PodTemplate, labels,
};
use crate::operators::servings;
use crate::pipeline::serving::{PlannedServing, plan_servings};
use crate::quantity::Quantity;
use crate::yaml::Node;
use claims::{Claim, Who};
use ecow::{EcoString, eco_format};
use held::{by_class, by_resource, held_by_others};
use order::Orders;
use reasons::Reasons;
pub use remedies::RemedyFound;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
pub use workload_kinds::counted as counted_kinds;
pub use workloads::{NotCounted, ServiceNames, counted_objects, refused_by_server};

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
        let service = views.of(planner.semantics());
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
    let mut answer = place(planner, planned, servings, shown[0], options, before);
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

/// Places all planned pods; the first `shown` services are shown.
fn place<'a>(
    planner: &Planner<'a>,
    planned: &mut [Planned<'a>],
    servings: &mut [PlannedServing<'a>],
    shown: usize,
    options: PlacementOptions<'_>,
    before: &[SettledWorkload],
) -> Together {
    let (catalog, semantics) = (planner.catalog(), planner.semantics());
    let context = PodContext::of(catalog);
    let running = RunningPods::new(catalog.others());
    let (mut claims, mut claimed_pods) = claims::of(planned, servings, &context, &running);
    let templates = running.templates(&context);
    // Before other workloads add theirs: the count is that of planned services and ModelServings.
    let of_services = claimed_pods.len();
    let (uncounted, objects) = object_counts::of_services(catalog, planned, &mut claims);
    // The catalog may have handed over the planned ones.
    let all = planned.iter().map(|one| (&one.service.namespace, &one.service.name));
    let all = all.chain(servings.iter().map(|one| (&one.serving.namespace, one.serving.name())));
    let all = all.map(|(namespace, name)| (namespace.clone(), name.clone())).collect();
    let (mut plain, not_counted) =
        workloads::read(planner, &all, &context, &running, &claimed_pods, options.at, before);
    let renewed_pods = renewed::found(catalog, &all, &running, &plain, &context);
    let mut gone = 0;
    if let Some(lost) = options.lost {
        let is_lost = |_: usize, pod: &RunningPod<'_>| lost.contains(&pod.node);
        gone = adopted::adopt(&mut plain, &running, &templates, &mut claimed_pods, is_lost);
        for workload in &mut plain {
            workload.standing = 0;
        }
    }
    // Pods of the lost nodes, or of more replicas, may evict what runs: all that could go is
    // created again.
    let every = options.lost.is_some() || options.at != At::Min;
    let jobs = adopted::Jobs::of(catalog);
    adopted::adopt_preemptible(
        &jobs,
        &claims,
        &mut plain,
        &running,
        &templates,
        &mut claimed_pods,
        every,
    );
    workloads::add_plain(&mut claims, &mut plain);
    claims::sort(&mut claims);
    if options.at != At::Min {
        let dump = stated_replicas(catalog);
        claims
            .iter_mut()
            .filter(|claim| claim.api.is_of_operator())
            .for_each(|claim| claim.resize(options.at, &dump));
    }
    if options.lost.is_some() {
        // Pods that an autoscaler added are created again too.
        claims.iter_mut().for_each(Claim::keep_scaled);
    }
    let names = catalog.machines().iter().map(|machine| &machine.name).collect();
    for claim in &mut claims {
        // Pods that an autoscaler added hold their nodes like those of others.
        for pod in claim.surplus(&running, &names) {
            claimed_pods.remove(&pod);
        }
    }
    for claim in &mut claims {
        claim.workload.changed = claim.is_changed(&templates);
    }
    // After the running pods of the input: the state before the change replaces them.
    let mut renewed: Vec<bool> = claims.iter().map(|claim| claim.is_renewed(&templates)).collect();
    run_where_placed(&mut claims, &mut renewed, before);
    let mut fleet = fleet(catalog, &running, &templates, &claimed_pods, &mut claims);
    // Quota comes before nodes: Kueue suspends a workload, so that its pods never reach the
    // scheduler.
    let held = quota::hold(catalog, planned, &claims, &mut fleet);
    let (mut map_before, mut waiting) = (Vec::new(), HashMap::new());
    if let Some(lost) = options.lost {
        // Without running pods nothing would be lost: what is placed first counts as what runs.
        if running.all.is_empty() || options.at == At::Max {
            fleet.settle_in();
        }
        // Placed once without the loss, to tell pods that waited anyway from those that the loss
        // costs.
        let placed = fleet.place(Manner::default());
        waiting = loss::without_node(&placed);
        if options.map {
            map_before = map::nodes(catalog, semantics, &placed, &claims);
        }
        fleet.lose(lost, |at| loss::is_of_node(&claims[at].service));
    }
    let placed = fleet.place(Manner::default());
    let loss =
        options.lost.map(|lost| loss::counts(&fleet, &waiting, &placed, &claims, lost, gone));
    let packed = fleet.verdict(&placed);
    let all_may_start = held.is_empty()
        && placed.refused.is_empty()
        && claims.iter().all(|claim| claim.refused.is_none());
    let verdict = match packed {
        Verdict::DoesNotFit { .. } => packed,
        _ if all_may_start => packed,
        // No node and no packing helps pods that are not created.
        Verdict::Fits | Verdict::IfPacked(_) => Verdict::DoesNotFit { proven: true },
    };
    if !options.settled && options.lost.is_none() {
        other_mode::compare(&fleet, &placed, &claims, planned, shown);
    }
    let mut not_judged = workloads::not_judged(&not_counted);
    not_judged.extend(uncounted);
    not_judged.extend(renewed_pods);
    not_judged.extend(unevaluated::found(catalog, &claims, &fleet));
    not_judged.extend(contested::found(planner, planned, servings, &all, options.at));
    not_judged.extend(missing::found(planner, planned, servings, &all, &claims, &fleet));
    not_judged.extend(volcano_job::limited(catalog, &claims, &fleet));
    not_judged.extend(quota_status::beyond(catalog, &templates, &placed, &objects));
    not_judged.extend(quota::unread(catalog, planned, &claims, &fleet));
    let checked = quota::checked(catalog, planned, &claims, &fleet).into_iter();
    not_judged.extend(checked.map(|(queue, pods, checks)| NotJudged {
        what: eco_format!("ClusterQueue `{queue}`"),
        pods: Some(pods),
        message: eco_format!("they start when its AdmissionChecks agree: {}", checks.join(", ")),
    }));
    let unjudged = unjudged(&placed, &claims, &renewed, &fleet, &mut not_judged);
    not_judged.extend(named_nodes::refused(&placed, &running, &fleet));
    let add = fleet.growth(&placed).unwrap_or_default();
    let is_service = |at: usize| matches!(claims[at].who, Who::Component(..));
    let may_move = |number: usize| {
        let pod = &running.all[number];
        !pod.ends && matches!(pod.creator(), Creator::Workload(_))
    };
    let (remedies, other_classes) = if options.settled {
        (Vec::new(), Vec::new())
    } else {
        let scene = other_class::Scene {
            planner,
            context: &context,
            running: &running,
            claims: &claims,
            fleet: &fleet,
            placed: &placed,
        };
        let remedies = fleet.remedies(&placed, packed, is_service, may_move);
        (remedies, scene.remedies(planned))
    };
    // Taken before `placed` moves into `reasons`.
    let unplaced = placed.pending().count();
    let hangs_on_ties =
        // Without a tie the reverse order gives the same answer.
        placed.scheduler.ties() > 0 && placed.all().count() <= MOST_ASKED_TWICE && {
            let other = fleet.place(Manner { reversed: true, ..Manner::default() });
            other.pending().next().is_none() != placed.pending().next().is_none()
        };
    let opened = held::opened(&placed, &claims);
    let others_hold = held_by_others(&placed, &claims, &opened);
    // Where something is missing already, another order is no further news.
    let orders = if options.settled || verdict != Verdict::Fits {
        Orders::default()
    } else {
        order::others(&fleet, &claims, placed.all().count(), |sequence| {
            quota::waiting(catalog, planned, &claims, &fleet, sequence)
        })
    };
    let is_there =
        |pod: &&RunningPod<'_>| options.lost.is_none_or(|lost| !lost.contains(&pod.node));
    let mut answer = Together {
        verdict,
        at: options.at,
        nodes: fleet.machines.len(),
        pods: PodCounts {
            running: running.all.iter().filter(is_there).count(),
            of_services,
            ..PodCounts::default()
        },
        pending: Vec::new(),
        not_judged,
        in_error: claims::in_error(catalog, planned, servings),
        order_matters: orders.matters,
        order_tried: orders.tried,
        assumed: assumed::tolerations(&fleet, &placed, catalog.device_tolerations()),
        others: OtherWorkloads::default(),
        victims: victims(&placed, &running, &claimed_pods, &claims, &fleet),
        add: add.iter().map(|growth| more(catalog, semantics, &placed, *growth)).collect(),
        remedies: Vec::new(),
        hangs_on_ties,
        half_groups: partial_groups::groups(&fleet, &claims, placed.pending().next().is_some()),
        in_use: by_class(catalog, semantics, &placed, &others_hold),
        resources_in_use: by_resource(&others_hold),
        opened,
        costs: Vec::new(),
        map: Vec::new(),
        map_before,
        settled: if options.settled {
            settled_workloads(&claims, &fleet, &placed)
        } else {
            Vec::new()
        },
        loss,
    };
    if options.map {
        answer.map = map::nodes(catalog, semantics, &placed, &claims);
    }
    let mut rooms = Rooms::default();
    let mut reasons = Reasons::new(placed);
    let mut classes = HashMap::new();
    for (at, claim) in claims.iter().enumerate() {
        let mut placement = reasons.of(at, claim, &fleet, held.get(&at), &mut answer.pending);
        placement.unjudged = unjudged.contains(&at);
        if let Who::Component(service, _) = claim.who
            && service < shown
        {
            reasons.room(at, &fleet, &mut rooms, &mut placement);
        }
        if let Who::Component(service, _) = claim.who
            && options.look
            && service < shown
        {
            placement.look = reasons.look(at, &fleet).map(Box::new);
        }
        // Running pods of others that keep their nodes are not wanted here.
        let stays = match claim.who {
            Who::Workload(at) => placement.running.min(plain[at].standing),
            Who::Component(..) | Who::Serving(_) => 0,
        };
        answer.pods.wanted += placement.wanted - stays;
        answer.pods.placed += placement.placed - stays;
        answer.pods.pending += placement.pending();
        match claim.who {
            Who::Component(service, component) => {
                let planned_component = &mut planned[service].components[component];
                if options.at != At::Min && claim.refused.is_none() {
                    // The sums are those of what was placed.
                    let replicas = i64::try_from(fleet.workloads[at].replicas.len());
                    planned_component.settled_replicas = replicas.ok().into();
                }
                planned_component.placement = Some(placement);
            }
            Who::Workload(at) => {
                plain[at].standing = stays;
                let (pods, gpus) = plain[at].amounts();
                answer.others.pods += pods;
                answer.others.gpus += gpus;
                answer.others.pending += placement.pending();
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
    let other = answer.pods.pending.saturating_sub(unplaced);
    answer.remedies =
        remedies::found(remedies, other_classes, &answer.add, &claims, &running, other);
    if other > 0 {
        // With these nodes pods still wait that no node helps.
        answer.add.clear();
    }
    answer
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

/// The workloads of which it is not judged where their pods go, such as those of another scheduler.
fn unjudged(
    placed: &Placed,
    claims: &[Claim],
    renewed: &[bool],
    fleet: &Fleet,
    found: &mut Vec<NotJudged>,
) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut sums: BTreeMap<(EcoString, EcoString), usize> = BTreeMap::new();
    for (at, workload) in fleet.workloads.iter().enumerate() {
        // The gangs of Volcano are known.
        if matches!(claims[at].who, Who::Serving(_)) {
            continue;
        }
        let pods: usize = workload.replicas.iter().map(|replica| replica.pods.len()).sum();
        let new = workload.running.len() < pods || renewed[at];
        let mut reasons = (0..workload.templates.len())
            .filter_map(|one| placed.scheduler.unjudged(placed.template(at, one), new));
        if let Some(why) = reasons.next() {
            *sums.entry(why).or_default() += pods;
            all.insert(at);
        }
    }
    found.extend(sums.into_iter().map(|((what, message), pods)| NotJudged {
        what,
        pods: Some(pods),
        message,
    }));
    all
}

/// The placed pods of each workload as running pods.
fn settled_workloads(claims: &[Claim], fleet: &Fleet, placed: &Placed) -> Vec<SettledWorkload> {
    let mut all: Vec<SettledWorkload> = claims
        .iter()
        .zip(&fleet.workloads)
        .map(|(claim, workload)| SettledWorkload {
            api: claim.api,
            service: claim.service.clone(),
            component: claim.component,
            workload: Workload {
                running: Vec::new(),
                came: Some(workload.came().min(Came::Before)),
                ..workload.clone()
            },
        })
        .collect();
    for ([at, replica, place], slot) in placed.all() {
        let bound = slot.pod.filter(|pod| stands(placed, *pod));
        let Some(node) = bound.and_then(|pod| placed.scheduler.state(pod).node()) else { continue };
        let workload = &mut all[at].workload;
        workload.running.push(Running {
            node: placed.scheduler.node(node).name.clone(),
            started: None,
            replica: Some(replica),
            template: workload.wanted(workload.replicas[replica].pods[place]),
            number: slot.number.unwrap_or(usize::MAX),
        });
    }
    all
}

/// Workloads that were placed before a change run where they were placed; those are `renewed` whose
/// pods a kubelet has not taken as they are wanted.
fn run_where_placed(claims: &mut [Claim], renewed: &mut [bool], before: &[SettledWorkload]) {
    let key = |api: Api, service: &EcoString, component: Option<&'static str>| {
        (api, service.clone(), component)
    };
    let placed_before: HashMap<_, &Workload> = before
        .iter()
        .map(|one| (key(one.api, &one.service, one.component), &one.workload))
        .collect();
    for (claim, renewed) in claims.iter_mut().zip(renewed) {
        let Some(before) = placed_before.get(&key(claim.api, &claim.service, claim.component))
        else {
            continue;
        };
        let workload = &mut claim.workload;
        // Its pods that wait exist, too, before those of new workloads.
        workload.came = before.came;
        workload.running.clear();
        // Pods of another kind of workload are replaced.
        let size = |workload: &Workload| workload.replicas.last().map(|replica| replica.together);
        if workload.kinds() != before.kinds() || size(workload) != size(before) {
            continue;
        }
        let mut pairs = workload.templates.iter().zip(&before.templates);
        workload.changed = pairs.clone().any(|(new, old)| new.spec != old.spec);
        // What was only placed no kubelet has seen.
        *renewed = before.came != Some(Came::Ran)
            || pairs.any(|(new, old)| new.spec.kubelet != old.spec.kubelet);
        // Replicas of a Deployment are alike: those that remain keep the nodes of the first ones.
        let grouped = size(workload) != Some(0);
        workload.running = before.running.clone();
        if !grouped {
            workload.running.iter_mut().for_each(|pod| pod.replica = None);
        }
    }
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
        // A ModelServing has one claim and lists its groups as components.
        let of_component = order.get(&(&one.service, Some(one.component.as_str())));
        of_component.or_else(|| order.get(&(&one.service, None))).copied()
    };
    pending.sort_by_key(|one| (place(one), one.replica));
}

fn fleet(
    catalog: &Catalog,
    running: &RunningPods<'_>,
    templates: &[Arc<PodTemplate>],
    claimed_pods: &BTreeSet<usize>,
    claims: &mut [Claim],
) -> Fleet {
    let others = running.all.iter().zip(templates).enumerate();
    let others =
        others.filter(|(at, _)| !claimed_pods.contains(at)).map(|(number, (pod, template))| {
            Other {
                number,
                template: Arc::clone(template),
                node: pod.node.clone(),
                started: pod.started.clone(),
            }
        });
    Fleet {
        machines: nodes(catalog),
        options: options(catalog),
        others: others.collect(),
        workloads: claims.iter_mut().map(|claim| std::mem::take(&mut claim.workload)).collect(),
        stays: false,
    }
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
    for claim in claims {
        options.add_claim(&claim.node, &admission);
    }
    options
}

fn victims(
    placed: &Placed,
    running: &RunningPods<'_>,
    claimed_pods: &BTreeSet<usize>,
    claims: &[Claim],
    fleet: &Fleet,
) -> Vec<Victim> {
    // The same filter and order as in `fleet`, so that the index of a holder finds its pod.
    let others: Vec<usize> =
        (0..running.all.len()).filter(|at| !claimed_pods.contains(at)).collect();
    let service = |holder: Holder| match holder {
        Holder::Wanted(workload, ..) => claims[workload].service.clone(),
        Holder::Other(at) => running.all[others[at]].name().into(),
    };
    let name = |eviction: &Eviction, holder: Holder| match holder {
        Holder::Wanted(workload, replica, _) => {
            let node = &placed.scheduler.node(eviction.node).name;
            let on = claims[workload].running_pods.iter().map(|at| &running.all[*at]);
            let pod = on.into_iter().find(|pod| pod.node == *node);
            // Of workloads that are known by their pods alone, each pod is a replica.
            let mut of_workload = fleet.workloads[workload].running.iter();
            let of_replica =
                of_workload.find(|ran| ran.replica == Some(replica) && ran.node == *node);
            let pod = pod.or_else(|| running.all.get(of_replica?.number));
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

/// The class that describes a machine; the first by name if several do.
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
