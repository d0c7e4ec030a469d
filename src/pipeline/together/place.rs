//! One placement: what wants nodes is collected, held for quota, placed, and told of its owners.

use super::attached;
use super::claims::{self, Claim, Who};
use super::exclusive;
use super::held::{self, by_class, by_resource, held_by_others};
use super::in_use::InUse;
use super::not_judged::{Counted, Open};
use super::on_node;
use super::order::{self, Orders};
use super::other_class::Scene;
use super::reasons::Reasons;
use super::settled::{Ground, fleet};
use super::workloads::{self, PlainWorkload, ServiceNames};
use super::{
    At, MOST_ASKED_TWICE, MoreNodes, NodeUse, NotJudged, OtherWorkloads, Pending, PlacementOptions,
    PodCounts, SettledWorkload, Together, Victim, adopted, assumed, class_of, contested, loss, map,
    missing, named_nodes, object_counts, other_mode, partial_groups, queue_rules, quota,
    quota_status, remedies, renewed, runtimes, stands, stated_replicas, unevaluated, volcano_queue,
};
use crate::api::{AcceleratorClass, Api};
use crate::catalog::Catalog;
use crate::cluster::admission::Ledger;
use crate::cluster::fleet::{
    Came, Fleet, Growth, Holder, Manner, Placed, Remedy, Rooms, Running, Verdict, Workload,
};
use crate::cluster::schedule::{Eviction, NodeId};
use crate::operators::kueue::cohort::Ledger as Quota;
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::Planned;
use crate::pipeline::running::{Creator, RunningPod, RunningPods};
use crate::pipeline::serving::PlannedServing;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Places all planned pods; the first `shown` services are shown.
pub(super) fn place<'a>(
    planner: &Planner<'a>,
    planned: &mut [Planned<'a>],
    servings: &mut [PlannedServing<'a>],
    shown: usize,
    options: PlacementOptions<'_>,
    before: &[SettledWorkload],
) -> Together {
    let catalog = planner.catalog();
    let ground = Ground::new(catalog);
    let running = &ground.running;
    let mut demand = Demand::of(planner, &ground, planned, servings, options, before);
    demand.resize(&ground, options);
    // After the running pods of the input: the state before the change replaces them.
    let renewed = demand.claims.iter().map(|claim| claim.is_renewed(&ground.templates));
    let mut renewed: Vec<bool> = renewed.collect();
    run_where_placed(&mut demand.claims, &mut renewed, before);
    let mut fleet = fleet(&ground, &demand.claimed_pods, &mut demand.claims);
    let Demand { claims, claimed_pods, of_services, mut plain, services, gone, .. } = demand;
    // Quota comes before nodes: Kueue suspends a workload, so that its pods never reach the
    // scheduler.
    let in_use = InUse::of(ground.ran(), planned, &claims, &fleet);
    let (held, ledger) = quota::hold(catalog, planned, &claims, &mut fleet, &in_use);
    let before_loss = options.lost.map(|lost| {
        let map = |placed: &Placed| {
            let map = options.map.then(|| map::nodes(catalog, placed, &claims));
            map.unwrap_or_default()
        };
        // Without running pods nothing would be lost: what is placed first counts as what runs.
        let settles = !ground.runs() || options.at == At::Max;
        lose(&mut fleet, lost, settles, &claims, map)
    });
    let placed = fleet.place(Manner::default());
    let (waiting, map_before, lone) = before_loss.unwrap_or_default();
    let gone = gone + lone;
    let loss =
        options.lost.map(|lost| loss::counts(&fleet, &waiting, &placed, &claims, lost, gone));
    let packed = fleet.verdict(&placed);
    let all_may_start = held.is_empty()
        && placed.refused.is_empty()
        && claims.iter().all(|claim| claim.refused.is_none());
    let verdict = match packed {
        // No node and no packing helps pods that are not created.
        Verdict::Fits | Verdict::IfPacked(_) if !all_may_start => {
            Verdict::DoesNotFit { proven: true }
        }
        verdict => verdict,
    };
    if !options.settled && options.lost.is_none() {
        other_mode::compare(&fleet, &placed, &claims, planned, shown);
    }
    let scene = Scene {
        planner,
        context: &ground.context,
        running,
        claims: &claims,
        fleet: &fleet,
        placed: &placed,
    };
    let mut not_judged = demand.not_judged;
    // What is open of new pods, though where they go is judged.
    let mut open = object_counts::services_of(&demand.uncounted, &claims);
    not_judged.extend(demand.uncounted);
    for (lines, workloads) in [
        unevaluated::found(catalog, &claims, &fleet),
        missing::found(planner, planned, servings, &services, &claims, &fleet),
        runtimes::refused(planned, &claims, &fleet),
    ] {
        not_judged.extend(lines);
        open.extend(workloads);
    }
    not_judged.extend(contested::found(planner, planned, servings, &services, options.at));
    not_judged.extend(quota_status::beyond(catalog, &ground.templates, &placed, &demand.objects));
    not_judged.extend(attached::found(catalog, &placed));
    not_judged.extend(exclusive::found(&placed, &claims, &fleet));
    let not_admitted = not_admitted(&scene, planned);
    let (lines, mut unjudged) = unjudged(&placed, &renewed, &fleet, &claims);
    not_judged.extend(lines);
    let of_queues = volcano_queue::found(catalog, servings, &claims, &fleet);
    let (on_nodes, without_driver) = on_node::found(&placed, &claims);
    open.extend(without_driver);
    for (lines, workloads) in not_admitted.into_iter().chain([of_queues, on_nodes]) {
        not_judged.extend(lines);
        for (at, why) in workloads {
            unjudged.entry(at).or_insert(why);
        }
    }
    not_judged.extend(named_nodes::refused(&placed, running, &fleet));
    // A state that is only compared is changed by nobody.
    let (remedies, other_classes) = if options.settled {
        (Vec::new(), Vec::new())
    } else {
        (of_nodes(&scene, packed), scene.remedies(planned))
    };
    let mut answer = answer(&scene, verdict, planned, servings, options, &in_use);
    answer.pods.of_services = of_services;
    answer.not_judged = not_judged;
    let part = |(at, why): (&usize, &EcoString)| {
        ((claims[*at].service.clone(), claims[*at].component), why.clone())
    };
    answer.open = open.iter().chain(&unjudged).map(part).collect();
    answer.victims = victims(&placed, running, &claimed_pods, &claims, &fleet);
    (answer.loss, answer.map_before) = (loss, map_before);
    // Taken before `placed` moves into the reasons.
    let unplaced = placed.pending().count();
    let owners = Owners {
        catalog,
        options,
        shown,
        fleet: &fleet,
        claims: &claims,
        held: &held,
        ledger: &ledger,
        unjudged: &unjudged,
        open: &open,
    };
    owners.tell(placed, planned, servings, &mut plain, &mut answer);
    sort_pending(&mut answer.pending, &fleet, &claims);
    let other = answer.pods.pending.saturating_sub(unplaced);
    answer.remedies =
        remedies::found(remedies, other_classes, &answer.add, &claims, running, other);
    if other > 0 {
        // With these nodes pods still wait that no node helps.
        answer.add.clear();
    }
    answer
}

/// What wants nodes, until the fleet takes ownership of its pods.
struct Demand {
    /// Everything in the order in which it is placed.
    claims: Vec<Claim>,
    /// The running pods that belong to a claim.
    claimed_pods: BTreeSet<usize>,
    /// How many of these belong to planned services and ModelServings.
    of_services: usize,
    /// The workloads that no operator writes.
    plain: Vec<PlainWorkload>,
    /// The names of all services and ModelServings.
    services: ServiceNames,
    /// What services and workloads take of the quotas of objects.
    objects: Ledger,
    /// How many pods of lost nodes nothing creates again.
    gone: usize,
    /// Objects beside pods that a quota refuses.
    uncounted: Vec<NotJudged>,
    /// Pods and objects that are left out.
    not_judged: Vec<NotJudged>,
}

impl Demand {
    /// Collects services and ModelServings, other workloads, and the running pods that are created
    /// again.
    fn of<'a>(
        planner: &Planner<'a>,
        ground: &Ground<'a>,
        planned: &mut [Planned<'a>],
        servings: &[PlannedServing<'a>],
        options: PlacementOptions<'_>,
        before: &[SettledWorkload],
    ) -> Self {
        let Ground { catalog, context, running, templates, .. } = ground;
        let (mut claims, mut claimed_pods) = claims::of(planned, servings, context, running);
        // Before other workloads add theirs: the count is that of planned services and ModelServings.
        let of_services = claimed_pods.len();
        let (uncounted, objects) = object_counts::of_services(catalog, planned, &mut claims);
        volcano_queue::refuse_servings(catalog, servings, &mut claims);
        // The catalog may have handed over the planned ones.
        let all = planned.iter().map(|one| (&one.service.namespace, &one.service.name));
        let all =
            all.chain(servings.iter().map(|one| (&one.serving.namespace, one.serving.name())));
        let services: ServiceNames =
            all.map(|(namespace, name)| (namespace.clone(), name.clone())).collect();
        let (mut plain, not_counted) = workloads::read(
            planner,
            &services,
            context,
            running,
            &claimed_pods,
            options.at,
            before,
        );
        let mut not_judged = workloads::not_judged(&not_counted);
        not_judged.extend(renewed::found(catalog, &services, running, &plain, context));
        let mut gone = 0;
        if let Some(lost) = options.lost {
            let is_lost = |_: usize, pod: &RunningPod<'_>| lost.contains(&pod.node);
            gone = adopted::adopt(&mut plain, running, templates, &mut claimed_pods, is_lost);
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
            running,
            templates,
            &mut claimed_pods,
            every,
        );
        workloads::add_plain(&mut claims, &mut plain);
        claims::sort(&mut claims);
        Self {
            claims,
            claimed_pods,
            of_services,
            plain,
            services,
            objects,
            gone,
            uncounted,
            not_judged,
        }
    }

    /// Gives workloads with an autoscaler the replicas that are asked for, and leaves those that it
    /// added on their nodes.
    fn resize(&mut self, ground: &Ground<'_>, options: PlacementOptions<'_>) {
        let Ground { catalog, running, templates, .. } = ground;
        if options.at != At::Min {
            let dump = stated_replicas(catalog);
            let of_operators = self.claims.iter_mut().filter(|claim| claim.api.is_of_operator());
            of_operators.for_each(|claim| claim.resize(options.at, &dump));
        }
        if options.lost.is_some() {
            // Pods that an autoscaler added are created again too.
            self.claims.iter_mut().for_each(Claim::keep_scaled);
        }
        let names = catalog.machines().iter().map(|machine| &machine.name).collect();
        for claim in &mut self.claims {
            // Pods that an autoscaler added hold their nodes like those of others.
            for pod in claim.surplus(running, &names) {
                self.claimed_pods.remove(&pod);
            }
        }
        for claim in &mut self.claims {
            claim.workload.changed = claim.is_changed(templates);
            claim.workload.again = options.again.is_some_and(|all| all.contains(&claim.service));
        }
    }
}

/// Takes nodes away. Returns how many pods of each workload waited before, the nodes as they were,
/// and how many pods nothing creates again.
fn lose(
    fleet: &mut Fleet,
    lost: &BTreeSet<EcoString>,
    settles: bool,
    claims: &[Claim],
    map: impl FnOnce(&Placed) -> Vec<NodeUse>,
) -> (HashMap<usize, usize>, Vec<NodeUse>, usize) {
    if settles {
        fleet.settle_in();
    }
    // Placed once without the loss, to tell pods that waited anyway from those that the loss costs.
    let placed = fleet.place(Manner::default());
    let (waiting, before) = (loss::without_node(&placed), map(&placed));
    fleet.lose(lost, |at| loss::is_of_node(&claims[at].service));
    let lone = fleet.lose_lone(lost, |at| loss::is_lone(&claims[at].service));
    (waiting, before, lone)
}

/// The pods whose queue was not read or asks for more than quota, such as the consent of its
/// AdmissionChecks.
fn not_admitted(scene: &Scene<'_, '_>, planned: &[Planned<'_>]) -> [Open; 3] {
    let Scene { planner, claims, fleet, .. } = *scene;
    [quota::unread, queue_rules::found, quota::checked]
        .map(|found| found(planner.catalog(), planned, claims, fleet))
}

/// The changes to nodes and running pods after which fewer pods wait.
fn of_nodes(scene: &Scene<'_, '_>, packed: Verdict) -> Vec<(Remedy, usize)> {
    let is_service = |at: usize| matches!(scene.claims[at].who, Who::Component(..));
    let may_move = |number: usize| {
        let pod = &scene.running.all[number];
        !pod.ends && matches!(pod.creator(), Creator::Workload(_))
    };
    scene.fleet.remedies(scene.placed, packed, is_service, may_move)
}

/// Whether another choice between equally good nodes changes whether all pods have one.
fn hangs_on_ties(fleet: &Fleet, placed: &Placed) -> bool {
    // Without a tie the reverse order gives the same answer.
    placed.scheduler.ties() > 0 && placed.all().count() <= MOST_ASKED_TWICE && {
        let other = fleet.place(Manner { reversed: true, ..Manner::default() });
        other.pending().next().is_none() != placed.pending().next().is_none()
    }
}

/// What a placed fleet says as a whole; what it says of single workloads is added later.
fn answer(
    scene: &Scene<'_, '_>,
    verdict: Verdict,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    options: PlacementOptions<'_>,
    in_use: &InUse,
) -> Together {
    let Scene { planner, running, claims, fleet, placed, .. } = *scene;
    let catalog = planner.catalog();
    let opened = held::opened(placed, claims);
    let others_hold = held_by_others(placed, claims, &opened);
    // Where something is missing already, another order is no further news.
    let orders = if options.settled || verdict != Verdict::Fits {
        Orders::default()
    } else {
        order::others(fleet, claims, placed.all().count(), |sequence| {
            quota::waiting(catalog, planned, claims, fleet, in_use, sequence)
        })
    };
    let is_there =
        |pod: &&RunningPod<'_>| options.lost.is_none_or(|lost| !lost.contains(&pod.node));
    let add = fleet.growth(placed).unwrap_or_default();
    let settled = options.settled.then(|| settled_workloads(claims, fleet, placed));
    let map = options.map.then(|| map::nodes(catalog, placed, claims));
    Together {
        verdict,
        at: options.at,
        nodes: fleet.machines.len(),
        pods: PodCounts {
            running: running.all.iter().filter(is_there).count(),
            ..PodCounts::default()
        },
        pending: Vec::new(),
        not_judged: Vec::new(),
        open: BTreeMap::new(),
        in_error: claims::in_error(catalog, planned, servings),
        order_matters: orders.matters,
        order_tried: orders.tried,
        assumed: assumed::tolerations(fleet, placed, catalog.device_tolerations()),
        others: OtherWorkloads::default(),
        victims: Vec::new(),
        add: add.iter().map(|growth| more(catalog, placed, *growth)).collect(),
        remedies: Vec::new(),
        hangs_on_ties: hangs_on_ties(fleet, placed),
        half_groups: partial_groups::groups(fleet, claims, placed.pending().next().is_some()),
        in_use: by_class(catalog, placed, &others_hold),
        resources_in_use: by_resource(&others_hold),
        opened,
        costs: Vec::new(),
        map: map.unwrap_or_default(),
        map_before: Vec::new(),
        settled: settled.unwrap_or_default(),
        loss: None,
    }
}

/// The owners of placed pods, by what is known of the placement.
struct Owners<'s, 'a> {
    catalog: &'a Catalog,
    options: PlacementOptions<'s>,
    /// How many of the services are shown.
    shown: usize,
    fleet: &'s Fleet,
    claims: &'s [Claim],
    /// Why claims wait for quota.
    held: &'s BTreeMap<usize, EcoString>,
    /// What queues have admitted.
    ledger: &'s Quota,
    /// The claims of which it is not judged where their pods go, and why.
    unjudged: &'s BTreeMap<usize, EcoString>,
    /// The claims of which it is not judged whether their pods start, and why.
    open: &'s BTreeMap<usize, EcoString>,
}

impl<'a> Owners<'_, 'a> {
    /// Tells every owner where its pods are, and sums up.
    fn tell(
        &self,
        placed: Placed,
        planned: &mut [Planned<'a>],
        servings: &mut [PlannedServing<'a>],
        plain: &mut [PlainWorkload],
        answer: &mut Together,
    ) {
        let Self { catalog, options, shown, fleet, claims, .. } = *self;
        let mut rooms = Rooms::default();
        let mut reasons = Reasons::new(placed);
        let mut classes: HashMap<NodeId, Option<&'a AcceleratorClass>> = HashMap::new();
        for (at, claim) in claims.iter().enumerate() {
            let mut placement =
                reasons.of(at, claim, fleet, self.held.get(&at), &mut answer.pending);
            placement.unjudged = self.unjudged.get(&at).cloned();
            placement.open = self.open.get(&at).cloned();
            if let Who::Component(service, component) = claim.who
                && service < shown
            {
                reasons.room(at, fleet, &mut rooms, &mut placement);
                let (service, workload) = (&planned[service], &fleet.workloads[at]);
                let component = &service.components[component];
                let namespace = &service.service.namespace;
                let more = placement.more;
                placement.more =
                    quota::more(catalog, namespace, component, workload, more, self.ledger);
                placement.replicas -= more - placement.more;
                placement.by_quota = placement.more < more;
                if options.look {
                    placement.look = reasons.look(at, fleet).map(Box::new);
                }
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
                    let class = |node, machine: &_| {
                        let class = || class_of(catalog, machine);
                        *classes.entry(node).or_insert_with(class)
                    };
                    servings[serving].fits = Some(reasons.groups(at, fleet));
                    servings[serving].by_class = reasons.by_class(at, fleet, class);
                    servings[serving].placement = Some(placement);
                }
            }
        }
    }
}

/// The workloads of which it is not judged where their pods go, such as those of another scheduler, and
/// why.
fn unjudged(placed: &Placed, renewed: &[bool], fleet: &Fleet, claims: &[Claim]) -> Open {
    let mut counted = Counted::default();
    for (at, (workload, claim)) in fleet.workloads.iter().zip(claims).enumerate() {
        let pods: usize = workload.replicas.iter().map(|replica| replica.pods.len()).sum();
        let new = workload.created(pods) > 0 || renewed[at];
        let mut reasons = (0..workload.templates.len())
            .filter_map(|one| placed.scheduler.unjudged(placed.template(at, one), new));
        if let Some(why) = reasons.next() {
            counted.add_of((at, claim), why, pods);
        }
    }
    counted.done()
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

fn more(catalog: &Catalog, placed: &Placed, growth: Growth) -> MoreNodes {
    let machine = placed.scheduler.node(growth.like);
    MoreNodes {
        class: class_of(catalog, machine).map(|class| class.name().clone()),
        nodes: growth.nodes,
        like: machine.name.clone(),
    }
}
