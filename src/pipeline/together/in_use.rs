//! The quota of Kueue that is in use before anything is admitted: what was admitted stays, so that pods
//! that run come before all that wait, whatever their priority.
//!
//! In: the claims with their running pods, the running pods of others, and the pods that have no node
//! yet. Out: the quota that they have, and what of each claim was admitted before.

use super::claims::{Claim, Who};
use super::plain_queue::{POD, shape};
use super::starting::Starting;
use super::units::{self, Stands, Units};
use crate::api::Field;
use crate::catalog::Catalog;
use crate::cluster::fleet::{Fleet, Running, Workload};
use crate::cluster::schedule::PodTemplate;
use crate::decision::QueueDecision;
use crate::operators::kueue::admit::{self, PodSet};
use crate::operators::kueue::cohort::Ledger;
use crate::operators::kueue::pods::Priorities;
use crate::pipeline::planned::Planned;
use crate::pipeline::question::Each;
use crate::yaml::Origin;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The running pods of an input.
#[derive(Clone, Copy)]
pub(super) struct Ran<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) templates: &'a [Arc<PodTemplate>],
    /// By pod, the LocalQueue whose quota it has.
    pub(super) queued: &'a [Option<EcoString>],
    /// The pods that have no node yet.
    pub(super) starting: &'a Starting<'a>,
}

impl Ran<'_> {
    /// The quota that one of them has.
    fn take(self, number: usize, ledger: &mut Ledger) {
        // What is placed before a change has no number.
        if let (Some(pod), Some(queue)) = (self.templates.get(number), self.queued.get(number)) {
            take(self.catalog, pod, queue.as_ref(), ledger);
        }
    }
}

/// The quota of a pod that has it by this queue.
fn take(catalog: &Catalog, pod: &PodTemplate, queue: Option<&EcoString>, ledger: &mut Ledger) {
    let Some(queue) = queue else { return };
    let queue = Field::new(queue.clone(), Origin::Derived(&POD));
    let shape = shape(pod);
    let set = [PodSet { shape: &shape, count: 1 }];
    admit::stand(catalog, &pod.namespace, queue, &set, 1, ledger);
}

/// What is in use before anything is admitted.
#[derive(Debug, Default)]
pub(super) struct InUse {
    pub(super) ledger: Ledger,
    /// By claim and workload of the claim.
    stands: BTreeMap<(usize, usize), Stands>,
    nothing: Stands,
    /// By which what waits is admitted; none without queues.
    pub(super) priorities: Option<Priorities>,
}

impl InUse {
    pub(super) fn of(
        ran: Ran<'_>,
        planned: &[Planned<'_>],
        claims: &[Claim],
        fleet: &Fleet,
    ) -> Self {
        let (catalog, mut all) = (ran.catalog, Self::default());
        if !catalog.has_queues() {
            return all;
        }
        all.priorities = Some(Priorities::of(catalog));
        for other in &fleet.others {
            ran.take(other.number, &mut all.ledger);
        }
        let mut claimed = BTreeSet::new();
        for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
            let starting = ran.starting.of_claim(claim);
            if workload.replicas.is_empty() || workload.running.is_empty() && starting.is_empty() {
                continue;
            }
            if all.claim(ran, planned, (at, claim), (workload, &starting)) {
                claimed.extend(starting);
            } else {
                // Its controller was not read, or names no queue: its pods are known alone.
                workload.running.iter().for_each(|pod| ran.take(pod.number, &mut all.ledger));
            }
        }
        for (pod, queue) in ran.starting.but(&claimed) {
            take(catalog, pod, queue, &mut all.ledger);
        }
        all
    }

    /// What of a workload of a claim was admitted before.
    pub(super) fn stands(&self, claim: usize, workload: usize) -> &Stands {
        self.stands.get(&(claim, workload)).unwrap_or(&self.nothing)
    }

    /// Whether a claim names a queue.
    fn claim(
        &mut self,
        ran: Ran<'_>,
        planned: &[Planned<'_>],
        (at, claim): (usize, &Claim),
        (workload, starting): (&Workload, &[usize]),
    ) -> bool {
        let catalog = ran.catalog;
        let starting = ran.starting.units(starting, &workload.running);
        let pods = |as_one: bool| Pods { workload, queued: ran.queued, as_one, starting };
        match claim.who {
            Who::Component(service, component) => {
                let component = &planned[service].components[component];
                let pair = component.queue.as_ref().zip(component.question.as_ref());
                let Some((decision, question)) = pair else { return false };
                let (namespace, queue) = (&planned[service].service.namespace, &decision.queue);
                let pods = pods(question.each == Each::Group && !question.of_pods);
                if pods.go(catalog, namespace, &queue.value) {
                    return true;
                }
                for (of, units) in units::of(question, workload).iter().enumerate() {
                    let stand = |units, ledger: &mut Ledger| {
                        question.stand(catalog, namespace, queue, (of, units), ledger)
                    };
                    let stands = pods.stand(units, &mut self.ledger, stand);
                    self.stands.insert((at, of), stands);
                }
            }
            Who::Workload(_) => {
                let Some(queue) = claim.queue.as_ref().filter(|queue| queue.group.is_none()) else {
                    return false;
                };
                let pods = pods(queue.whole);
                if pods.go(catalog, &queue.namespace, &queue.name.value) {
                    return true;
                }
                let stand = |units, ledger: &mut Ledger| {
                    Some(queue.stand(catalog, workload, units, ledger))
                };
                let stands = pods.stand(&queue.units(workload), &mut self.ledger, stand);
                self.stands.insert((at, 0), stands);
            }
            Who::Serving(_) => return false,
        }
        true
    }
}

/// The running pods of a workload.
#[derive(Clone, Copy)]
struct Pods<'a> {
    workload: &'a Workload,
    queued: &'a [Option<EcoString>],
    /// Kueue holds their owner back until all are admitted: the pods of a Job need no label of their own.
    as_one: bool,
    /// How many units more were admitted, of which no pod has a node yet.
    starting: usize,
}

impl Pods<'_> {
    /// Whether they do not stay: they are replaced, and their replacements are admitted, or their queue
    /// evicts them.
    fn go(self, catalog: &Catalog, namespace: &str, queue: &str) -> bool {
        self.workload.changed || self.workload.again || admit::evicts(catalog, namespace, queue)
    }

    /// The units that were admitted. Those that run and that Kueue does not manage have no quota.
    fn stand(
        self,
        units: &Units,
        ledger: &mut Ledger,
        stand: impl Fn(i64, &mut Ledger) -> Option<QueueDecision>,
    ) -> Stands {
        let running = &self.workload.running;
        // What was only placed was admitted there.
        let has_quota =
            |pod: &&Running| self.as_one || self.queued.get(pod.number).is_none_or(Option::is_some);
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let all = units::with_pods(units, self.workload, running.iter());
        let managed =
            units::with_pods(units, self.workload, running.iter().filter(has_quota)).min(all);
        let starting = self.starting.min(units.len().saturating_sub(all));
        let mut decision = stand(count(managed + starting), ledger);
        if managed < all {
            let others = stand(count(all - managed), &mut ledger.clone());
            decision = others.zip(decision).map(|(others, decision)| others.after(&decision));
        }
        Stands { units: all + starting, decision }
    }
}
