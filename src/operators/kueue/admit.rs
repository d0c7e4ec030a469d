//! Which flavor Kueue gives to pods, and how many replicas the quota of their queue admits.
//!
//! In: the queues and flavors that were loaded, shapes of pods, the queue they name. Out: a
//! [`QueueDecision`]. As Kueue's scheduler decides (flavorassigner.go findFlavorForPodSets;
//! docs/decisions.md#kueue-flavors): per resource group, flavors in the order of the ClusterQueue;
//! the first whose taints, labels and quota fit is taken, one that needs borrowed quota last where
//! `whenCanBorrow` says so.
//!
//! Quota is what workloads that were admitted before leave ([`Ledger`]); what others run in the
//! queue is known from pods of the input. Not modeled: preemption, fair sharing, admission checks, topologies.

use super::cohort::{Amount, Tree, in_cycle};
use super::cohort::{Ledger, milli};
use crate::api::{ClusterQueue, Field, FlavorQuotas, LocalQueue, ResourceGroup, was_in_cluster};
use crate::catalog::Catalog;
use crate::cluster::{Milli, Shape, selects_namespace};
use crate::decision::{Admitted, FlavorRejection, QueueDecision, UnreadQueue};
use crate::diag::{Code, nearest};
use crate::facts;
use crate::operators::kueue::flavor::{FlavorMismatch, Selects};
use crate::quantity::Quantity;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// Pods of one replica that are alike.
#[derive(Clone, Copy, Debug)]
pub struct PodSet<'s> {
    /// What one of them requests.
    pub shape: &'s Shape,
    /// How many there are.
    pub count: i64,
}

/// Thousandths in use, by flavor and resource.
type Usage<'a> = BTreeMap<(&'a str, &'a str), Milli>;

/// A flavor for the resources of one group of one pod set.
#[derive(Debug)]
struct Assigned<'a> {
    flavor: &'a FlavorQuotas,
    /// What all pods of the set request, in thousandths, of the resources of the group.
    requests: Vec<(&'a str, Milli)>,
    borrows: bool,
    /// There is less quota now: it was admitted before.
    beyond: bool,
}

/// What became of one replica: per pod set, a flavor for each group it asks of; or why there is
/// none.
struct Attempt<'a> {
    sets: Vec<Vec<Assigned<'a>>>,
    rejected: Vec<FlavorRejection>,
    fits: bool,
}

/// What Kueue gives to replicas that consist of these pods, the main pod first, when they name
/// `queue` in a namespace, after what the ledger says was admitted; it is written there, too.
pub fn admit(
    catalog: &Catalog,
    namespace: &str,
    queue: Field<EcoString>,
    pods: &[PodSet<'_>],
    replicas: i64,
    ledger: &mut Ledger,
) -> QueueDecision {
    let mut decision = undecided(queue);
    let found = door(catalog, namespace, &decision.queue.value);
    let found =
        found.and_then(|local| open(catalog, namespace, local, &mut decision.cluster_queue));
    match found {
        Ok(cluster) => {
            if ledger.stopped.contains(cluster.name()) {
                decision.waiting = replicas.max(0);
                decision.rejected.extend(cluster.flavors().last().map(behind));
                return decision;
            }
            let tree = Tree::new(catalog, ledger);
            let context = QueueContext { catalog, cluster, ledger, tree, stands: false };
            let used = assign(&context, pods, replicas, &mut decision);
            ledger.used.extend(used);
            if cluster.is_strict && decision.waiting > 0 {
                ledger.stopped.insert(cluster.name().clone());
            }
        }
        Err(Closed::Obstacle(obstacle)) => decision.obstacle = Some(obstacle),
        Err(Closed::Unread(object)) => decision.unread = Some(object),
    }
    decision
}

/// Replicas that were admitted before: they have their quota, however much there is now and whether or
/// not their queue still takes pods. Their flavors are those that [`admit`] gives where there is quota,
/// else the first that their pods may have.
pub fn stand(
    catalog: &Catalog,
    namespace: &str,
    queue: Field<EcoString>,
    pods: &[PodSet<'_>],
    replicas: i64,
    ledger: &mut Ledger,
) -> QueueDecision {
    let mut decision = undecided(queue);
    if let Some(cluster) = catalog.cluster_queue_of(namespace, &decision.queue.value) {
        let tree = Tree::new(catalog, ledger);
        let context = QueueContext { catalog, cluster, ledger, tree, stands: true };
        let used = assign(&context, pods, replicas, &mut decision);
        ledger.used.extend(used);
    }
    decision
}

/// Whether a queue evicts what it has admitted: `stopPolicy: HoldAndDrain`.
pub fn evicts(catalog: &Catalog, namespace: &str, queue: &str) -> bool {
    let local = catalog.local_queue(namespace, queue).and_then(|local| local.stopped.as_ref());
    let cluster = catalog.cluster_queue_of(namespace, queue);
    let stopped = [local, cluster.and_then(|cluster| cluster.stopped.as_ref())];
    stopped.into_iter().flatten().any(|policy| policy.value == "HoldAndDrain")
}

fn undecided(queue: Field<EcoString>) -> QueueDecision {
    QueueDecision {
        queue,
        cluster_queue: None,
        flavor: None,
        worker_flavor: None,
        loose: false,
        rejected: Vec::new(),
        obstacle: None,
        admitted: Vec::new(),
        waiting: 0,
        of_pods: false,
        unread: None,
    }
}

impl QueueDecision {
    /// The decision for replicas that come after some that were admitted before, for all of them.
    pub fn after(mut self, stands: &Self) -> Self {
        if stands.admitted.is_empty() {
            return self;
        }
        self.flavor.clone_from(&stands.flavor);
        self.worker_flavor.clone_from(&stands.worker_flavor);
        self.loose = stands.loose;
        // Why the first of them did not get a flavor is of interest only where it waits for one.
        if self.waiting == 0 {
            self.rejected.clone_from(&stands.rejected);
        }
        let mut admitted = stands.admitted.clone();
        for next in std::mem::take(&mut self.admitted) {
            match admitted.last_mut() {
                Some(last) if (&last.sets, last.borrows) == (&next.sets, next.borrows) => {
                    last.replicas = last.replicas.saturating_add(next.replicas);
                }
                _ => admitted.push(next),
            }
        }
        self.admitted = admitted;
        self
    }
}

/// Why a queue of `StrictFIFO` admits nothing more (pkg/cache/queue/cluster_queue.go,
/// `RequeueIfNotPresent`: the head of such a queue stays its head).
fn behind(quotas: &FlavorQuotas) -> FlavorRejection {
    FlavorRejection {
        flavor: quotas.flavor.value.clone(),
        code: Code::ReasonQuota,
        detail: "a workload before it waits, and queueingStrategy is StrictFIFO".into(),
    }
}

/// Why a queue takes no pods, or that it is not known whether it does.
#[derive(Debug)]
enum Closed {
    Obstacle(String),
    /// This object was not read. Of a kind that is in the input, all objects are expected there; what
    /// belongs to others, such as the queues of the administrators of a cluster, a team's directory lacks.
    Unread(UnreadQueue),
}

impl From<String> for Closed {
    fn from(obstacle: String) -> Self {
        Self::Obstacle(obstacle)
    }
}

/// The object that was not read without which it is not known whether a queue takes pods.
pub(crate) fn unread(catalog: &Catalog, namespace: &str, queue: &str) -> Option<UnreadQueue> {
    let found = door(catalog, namespace, queue);
    match found.and_then(|local| open(catalog, namespace, local, &mut None)) {
        Err(Closed::Unread(object)) => Some(object),
        Ok(_) | Err(Closed::Obstacle(_)) => None,
    }
}

fn door<'a>(catalog: &'a Catalog, namespace: &str, name: &str) -> Result<&'a LocalQueue, Closed> {
    if let Some(local) = catalog.local_queue(namespace, name) {
        return Ok(local);
    }
    let is_of = |queue: &&LocalQueue| {
        queue.object.id.scope.namespace().is_some_and(|scope| scope == namespace)
    };
    let mut all = catalog.local_queues();
    // A dump has those of all namespaces, manifests of another namespace say nothing of this one.
    if !all.any(|queue| is_of(&queue) || was_in_cluster(&queue.object.node)) {
        return Err(Closed::Unread(UnreadQueue::LocalQueue(namespace.into(), name.into())));
    }
    let of_namespace = catalog.local_queues().filter(is_of);
    let near = nearest(name, of_namespace.map(|queue| queue.name().as_str()))
        .map_or(String::new(), |near| format!("; there is `{near}`"));
    Err(format!("namespace {namespace} has no LocalQueue `{name}`{near}").into())
}

/// The ClusterQueue behind a LocalQueue, when it takes pods of the namespace.
fn open<'a>(
    catalog: &'a Catalog,
    namespace: &str,
    local: &LocalQueue,
    named: &mut Option<EcoString>,
) -> Result<&'a ClusterQueue, Closed> {
    let name = local
        .cluster_queue
        .as_ref()
        .map(|name| &name.value)
        .ok_or_else(|| format!("LocalQueue `{}` names no ClusterQueue", local.name()))?;
    // Set before anything is refused: a queue that takes no pods is shown by its name, too.
    named.clone_from(&Some(name.clone()));
    // A queue that was not loaded is no queue to show: the obstacle has its name.
    let Some(cluster) = catalog.cluster_queue(name) else {
        if catalog.cluster_queues().len() == 0 {
            return Err(Closed::Unread(UnreadQueue::ClusterQueue(name.clone())));
        }
        *named = None;
        return Err(format!(
            "ClusterQueue `{name}` of LocalQueue `{}` is not in the input",
            local.name()
        )
        .into());
    };
    for (kind, name, stopped) in [
        ("LocalQueue", local.name(), &local.stopped),
        ("ClusterQueue", cluster.name(), &cluster.stopped),
    ] {
        if let Some(policy) = stopped {
            return Err(format!("{kind} `{name}` is stopped: stopPolicy {}", policy.value).into());
        }
    }
    // No selector selects nothing and an empty one everything, as `LabelSelectorAsSelector` of the
    // API machinery has it.
    let Some(selector) = &cluster.namespace_selector else {
        return Err(format!(
            "ClusterQueue `{name}` has no namespaceSelector and takes pods of no namespace"
        )
        .into());
    };
    if is_open_to(catalog, selector, namespace) == Some(false) {
        return Err(format!(
            "the namespaceSelector of ClusterQueue `{name}` does not select namespace {namespace}"
        )
        .into());
    }
    // One missing flavor makes the whole queue inactive, not only its resource group
    // (`inactiveReason` in the cache of Kueue).
    if let Some(missing) =
        cluster.flavors().find(|quotas| catalog.flavor(&quotas.flavor.value).is_none())
    {
        let missing = &missing.flavor.value;
        if catalog.flavors().len() == 0 {
            return Err(Closed::Unread(UnreadQueue::Flavor(missing.clone())));
        }
        return Err(format!(
            "ClusterQueue `{name}` is inactive: ResourceFlavor `{missing}` is not in the input"
        )
        .into());
    }
    // No queue below such cohorts is looked at (`skipInactiveCQReason` in the cache of Kueue).
    if let Some(cohort) = cluster.cohort.as_ref().and_then(|cohort| in_cycle(catalog, cohort)) {
        return Err(format!(
            "ClusterQueue `{name}` is left out: its Cohort `{cohort}` is among its own parents"
        )
        .into());
    }
    Ok(cluster)
}

/// Whether a selector takes a namespace; `None` of one that was not read, of which only the name is
/// known, where the selector asks for more.
pub(crate) fn is_open_to(catalog: &Catalog, selector: &Node, namespace: &str) -> Option<bool> {
    let read = catalog.others().iter().find(|object| {
        object.id.kind == "Namespace" && object.id.name == namespace && object.api_version == "v1"
    });
    selects_namespace(selector, namespace, read.map(crate::api::Object::labels))
}

/// A queue with what its flavors are.
struct QueueContext<'a> {
    catalog: &'a Catalog,
    cluster: &'a ClusterQueue,
    ledger: &'a Ledger,
    tree: Tree<'a>,
    /// What is asked about was admitted before.
    stands: bool,
}

/// Gives flavors to replicas as long as the quota lasts; answers what the queue then uses.
fn assign<'a>(
    context: &QueueContext<'a>,
    pods: &'a [PodSet<'a>],
    replicas: i64,
    decision: &mut QueueDecision,
) -> Vec<((EcoString, EcoString, EcoString), Milli)> {
    let queue = context.cluster.name();
    // Services share queues: what those planned before took is used here from the start.
    let before = context.ledger.used.iter().filter(|((other, ..), _)| other == queue);
    let mut usage: Usage<'a> = before
        .map(|((_, flavor, resource), used)| ((flavor.as_str(), resource.as_str()), *used))
        .collect();
    let mut left = replicas.max(0);
    // The first replica explains the decision; later ones meet a queue that the service itself
    // fills.
    let first = context.attempt(pods, &usage);
    if first.fits {
        let flavor = |set: Option<&Vec<Assigned<'_>>>| {
            set.and_then(|set| telling(set)).map(|assigned| assigned.flavor.flavor.value.clone())
        };
        decision.flavor = flavor(first.sets.first());
        decision.worker_flavor =
            flavor(first.sets.get(1)).filter(|worker| Some(worker) != decision.flavor.as_ref());
        let flavor = decision.flavor.as_ref().and_then(|name| context.catalog.flavor(name));
        // Kueue ignores label keys that the flavor does not have, so such pods are admitted and may
        // start on nodes of another flavor.
        decision.loose = flavor
            .zip(pods.first())
            .is_some_and(|(flavor, set)| set.shape.selects(flavor) == Selects::Elsewhere);
    }
    decision.rejected.clone_from(&first.rejected);
    // The loop begins with the attempt that was explained: it saw the same usage.
    let mut attempt = first;
    while attempt.fits && left > 0 {
        // Replicas with equal flavors are booked at once: a service may have thousands.
        let alike = context.alike(&attempt, &usage).min(left).max(1);
        for (key, amount) in totals(&attempt.sets) {
            let used = usage.entry(key).or_default();
            *used += amount * Milli::from(alike);
        }
        if let Some(assigned) = attempt.sets.first().and_then(|set| telling(set)) {
            let borrows = attempt.sets.iter().flatten().any(|assigned| assigned.borrows);
            decision.admitted.push(Admitted {
                flavor: assigned.flavor.flavor.value.clone(),
                sets: attempt.sets.iter().map(|set| names(set)).collect(),
                replicas: alike,
                borrows,
            });
        }
        left -= alike;
        attempt = context.attempt(pods, &usage);
    }
    decision.waiting = left;
    // Usage answers with what was there before, too: the caller overwrites the queue's entries by
    // it.
    let key = |(flavor, resource): (&str, &str)| (queue.clone(), flavor.into(), resource.into());
    usage.into_iter().map(|(at, used)| (key(at), used)).collect()
}

/// The assignment that names the kind of machine: that of the accelerators, else the first.
fn telling<'x, 'a>(set: &'x [Assigned<'a>]) -> Option<&'x Assigned<'a>> {
    let counts = |assigned: &&Assigned<'_>| {
        assigned.requests.iter().any(|(name, _)| facts::is_accelerator(name))
    };
    set.iter().find(counts).or_else(|| set.first())
}

/// The flavors of a set of pods, each once.
fn names(set: &[Assigned<'_>]) -> Vec<EcoString> {
    let mut names: Vec<EcoString> = Vec::new();
    for assigned in set {
        let name = &assigned.flavor.flavor.value;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// What one replica takes, by flavor and resource.
fn totals<'a>(sets: &[Vec<Assigned<'a>>]) -> Usage<'a> {
    let mut totals = Usage::new();
    for assigned in sets.iter().flatten() {
        for (name, amount) in &assigned.requests {
            let sum = totals.entry((assigned.flavor.flavor.value.as_str(), *name)).or_default();
            *sum += *amount;
        }
    }
    totals
}

fn text(milli: Milli) -> EcoString {
    Quantity::from_milli(milli).canonical()
}

impl<'a> QueueContext<'a> {
    /// Gives one more replica its flavors.
    fn attempt(&self, pods: &'a [PodSet<'a>], usage: &Usage<'a>) -> Attempt<'a> {
        let mut attempt = Attempt { sets: Vec::new(), rejected: Vec::new(), fits: true };
        // A copy: pod sets of one workload are admitted together or not at all, and each sees what
        // those before it take.
        let mut usage = usage.clone();
        for set in pods.iter().filter(|set| set.count > 0) {
            let amounts: Vec<(&'a str, Milli)> = set
                .shape
                .amounts()
                .map(|(name, amount)| (name.as_str(), amount * Milli::from(set.count)))
                .collect();
            // Pods are counted only where the queue covers them.
            let is_open = |name: &str| name != "pods" && self.cluster.group_of(name).is_none();
            if let Some((name, _)) = amounts.iter().find(|(name, _)| !self.stands && is_open(name))
            {
                // No flavor can help, so each is rejected with the same reason and none is
                // compared.
                let detail = eco_format!("no resource group covers {name}");
                let reject = |quotas: &FlavorQuotas| FlavorRejection {
                    flavor: quotas.flavor.value.clone(),
                    code: Code::ReasonNotCovered,
                    detail: detail.clone(),
                };
                attempt.rejected = self.cluster.flavors().map(reject).collect();
                attempt.fits = false;
                return attempt;
            }
            let mut given = Vec::new();
            for group in &self.cluster.groups {
                let requested: Vec<(&'a str, Milli)> = amounts
                    .iter()
                    .filter(|(name, _)| group.covered.iter().any(|covered| covered == name))
                    .copied()
                    .collect();
                if requested.is_empty() {
                    continue;
                }
                // One flavor for all resources of a group: the rest of a list of flavors is for
                // another group.
                match self.flavor(group, set.shape, &requested, &usage, &mut attempt.rejected) {
                    Some(assigned) => {
                        for (name, amount) in &assigned.requests {
                            let used = usage
                                .entry((assigned.flavor.flavor.value.as_str(), *name))
                                .or_default();
                            *used += *amount;
                        }
                        given.push(assigned);
                    }
                    // The other groups are assigned all the same, so that all their rejections are
                    // reported.
                    None => attempt.fits = false,
                }
            }
            attempt.sets.push(given);
        }
        attempt
    }

    fn flavor(
        &self,
        group: &'a ResourceGroup,
        shape: &Shape,
        requested: &[(&'a str, Milli)],
        usage: &Usage<'a>,
        rejected: &mut Vec<FlavorRejection>,
    ) -> Option<Assigned<'a>> {
        let (mut borrowed, mut beyond) = (None, None);
        // The order of the ClusterQueue decides, not how much quota is left in each.
        for quotas in &group.flavors {
            let name = &quotas.flavor.value;
            let mut reject = |code: Code, detail: EcoString| {
                let rejection = FlavorRejection { flavor: name.clone(), code, detail };
                // Leader and workers may meet the same obstacle.
                if !rejected.contains(&rejection) {
                    rejected.push(rejection);
                }
            };
            // Taints and labels come before quota: a flavor of the wrong nodes is not short of
            // quota.
            match self.catalog.flavor(name).and_then(|flavor| shape.flavor_barrier(flavor)) {
                Some(FlavorMismatch::Taint(detail)) => {
                    reject(Code::ReasonTaint, detail);
                    continue;
                }
                Some(FlavorMismatch::Affinity(detail)) => {
                    reject(Code::ReasonNodeAffinity, detail);
                    continue;
                }
                None => {}
            }
            let used =
                |resource: &str| usage.get(&(name.as_str(), resource)).copied().unwrap_or_default();
            let short = requested
                .iter()
                // Usage includes the pods of this queue, which `most` leaves out of the cohort's
                // usage.
                .find(|(resource, amount)| used(resource) + *amount > self.most(quotas, resource));
            if let Some((resource, amount)) = short {
                if self.stands {
                    let requests = requested.to_vec();
                    let assigned =
                        Assigned { flavor: quotas, requests, borrows: false, beyond: true };
                    beyond.get_or_insert(assigned);
                    continue;
                }
                let most = self.most(quotas, resource);
                let left = text((most - used(resource)).max(0));
                // Where nothing is used, what is left is the quota: one number is enough.
                let of = if used(resource) == 0 {
                    EcoString::new()
                } else {
                    eco_format!(" of {}", text(most))
                };
                reject(
                    Code::ReasonQuota,
                    eco_format!("{resource}: {} requested, {left}{of} in quota", text(*amount)),
                );
                continue;
            }
            // One resource above its nominal quota makes the whole assignment a borrowing one.
            let borrows = requested.iter().any(|(resource, amount)| {
                used(resource) + *amount > nominal_quota(quotas, resource)
            });
            let requests = requested.to_vec();
            let assigned = Assigned { flavor: quotas, requests, borrows, beyond: false };
            // `whenCanBorrow: TryNextFlavor`: a later flavor within its own quota wins, and the
            // first that borrows is kept for the case that there is none (`shouldTryNextFlavor` of
            // the flavor assigner).
            if !borrows || !self.cluster.borrows_last {
                return Some(assigned);
            }
            borrowed.get_or_insert(assigned);
        }
        borrowed.or(beyond)
    }

    /// The most the queue may have of a resource: its own, and what its cohorts lend.
    fn most(&self, quotas: &FlavorQuotas, resource: &str) -> Milli {
        let of = Amount { flavor: &quotas.flavor.value, resource };
        self.tree.most(self.cluster, of)
    }

    /// How many replicas, this one included, get the same flavors before anything changes.
    fn alike(&self, attempt: &Attempt<'a>, usage: &Usage<'a>) -> i64 {
        // No flavor has quota for the next one either.
        if attempt.sets.iter().flatten().any(|assigned| assigned.beyond) {
            return i64::MAX;
        }
        let totals = totals(&attempt.sets);
        // Leader and workers may take from one flavor: each limit is met after those before it.
        let mut prefix = usage.clone();
        let mut alike = Milli::MAX;
        for assigned in attempt.sets.iter().flatten() {
            for (resource, amount) in &assigned.requests {
                let key = (assigned.flavor.flavor.value.as_str(), *resource);
                let before = prefix.entry(key).or_default();
                *before += *amount;
                // Above its nominal quota the next replica would borrow and first look at a later
                // flavor.
                let limit = if self.cluster.borrows_last && !assigned.borrows {
                    nominal_quota(assigned.flavor, resource)
                } else {
                    self.most(assigned.flavor, resource)
                };
                // A total of 0 would divide by zero: such a resource limits nothing.
                let each = totals.get(&key).copied().unwrap_or(1).max(1);
                alike = alike.min(1 + (limit - *before).max(0) / each);
            }
        }
        // Requests of nothing at all fit without end; the caller cuts it to the replicas left.
        i64::try_from(alike).unwrap_or(i64::MAX)
    }
}

/// What the queue itself has.
fn nominal_quota(quotas: &FlavorQuotas, resource: &str) -> Milli {
    // A covered resource for which a flavor lists no quota has none of it.
    quotas.of(resource).map_or(0, |quota| milli(&quota.nominal))
}
