//! Whether everything that fits would also fit if it were applied in another order.

use super::claims::Claim;
use crate::cluster::fleet::{Came, Fleet, Manner};
use ecow::EcoString;
use std::collections::BTreeSet;

/// Above this number of workloads no other order is tried.
pub(super) const MOST: usize = 500;
/// Orders that are tried at most, and pods that are placed for it at most.
const ORDERS: usize = 50;
const WORK: usize = 20_000;

/// What other orders of the new workloads show.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    /// The services with pods that have no node, or no quota, in one of them.
    pub(super) matters: Vec<EcoString>,
    /// How many were tried; `None` if there is no other order.
    pub(super) tried: Option<usize>,
}

/// Tries the reverse order of the new workloads, and as many shuffles as the size of the fleet
/// allows. `waits` has the workloads that get no quota in an order.
pub(super) fn others(
    fleet: &Fleet,
    claims: &[Claim],
    pods: usize,
    waits: impl Fn(&[usize]) -> BTreeSet<usize>,
) -> Orders {
    // What runs came before, and what is of another priority does not change places.
    let new: Vec<usize> = (0..fleet.workloads.len())
        .filter(|at| {
            let workload = &fleet.workloads[*at];
            workload.came() == Came::New && !workload.replicas.is_empty()
        })
        .collect();
    if new.len() < 2 || pods == 0 {
        return Orders::default();
    }
    // Each time all pods are placed, also those that run.
    let running = fleet.workloads.iter().map(|workload| workload.running.len());
    let all = pods + running.sum::<usize>() + fleet.others.len();
    let tries = match fleet.workloads.len() {
        // At least the reverse order of a small fleet; more tries as long as the total work is
        // bounded.
        0..=MOST => (WORK / all).clamp(usize::from(pods <= WORK), ORDERS),
        _ => 0,
    };
    let mut found = BTreeSet::new();
    let mut random = Sequence(u64::try_from(pods).unwrap_or(1));
    for tried in 0..tries {
        let mut order = new.clone();
        if tried == 0 {
            order.reverse();
        } else {
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
        }
        found.extend(pending(fleet, &new, &order, &waits));
    }
    let names: BTreeSet<EcoString> =
        found.into_iter().map(|at| claims[at].service.clone()).collect();
    Orders { matters: names.into_iter().collect(), tried: Some(tries) }
}

/// The workloads with pending pods when those at `places` come in this order.
fn pending(
    fleet: &Fleet,
    places: &[usize],
    order: &[usize],
    waits: &impl Fn(&[usize]) -> BTreeSet<usize>,
) -> BTreeSet<usize> {
    // Workloads change places as a whole: the sequence breaks ties by index, which stands for the
    // date.
    let mut from: Vec<usize> = (0..fleet.workloads.len()).collect();
    for (place, at) in places.iter().zip(order) {
        from[*place] = *at;
    }
    let workloads = from.iter().map(|at| fleet.workloads[*at].clone()).collect();
    let other = Fleet { workloads, ..fleet.clone() };
    let sequence: Vec<usize> = other.sequence().into_iter().map(|at| from[at]).collect();
    let waiting = waits(&sequence);
    let placed = other.place(Manner::default());
    placed.pending().map(|([at, ..], _)| from[at]).chain(waiting).collect()
}

/// A fixed sequence of numbers: the same input always gets the same answer.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, most: usize) -> usize {
        // A linear congruential generator; its high bits are the random ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let most = u64::try_from(most.max(1)).unwrap_or(1);
        usize::try_from((self.0 >> 33) % most).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_reaches_every_number() {
        let mut random = Sequence(3);
        let seen: BTreeSet<usize> = (0..200).map(|_| random.below(5)).collect();
        assert_eq!(seen, (0..5).collect());
        assert_eq!(random.below(0), 0);
    }
}
