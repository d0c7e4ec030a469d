//! Devices that are in use on the nodes, by others than the services that the totals count.

use super::claims::{Claim, Who};
use crate::api::AcceleratorClass;
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::{NodeId, PodId};
use crate::quantity::is_accelerator;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The pods that the totals count as requested.
fn counted(placed: &Placed, claims: &[Claim]) -> HashSet<PodId> {
    let of_totals = |[workload, ..]: [usize; 3]| !matches!(claims[workload].who, Who::Workload(_));
    placed.all().filter(|(at, _)| of_totals(*at)).filter_map(|(_, slot)| slot.pod).collect()
}

/// Nodes with a taint that pods of the totals tolerate, as they are on them: their devices are
/// there for these pods.
pub(super) fn opened(placed: &Placed, claims: &[Claim]) -> BTreeSet<EcoString> {
    let counted = counted(placed, claims);
    let scheduler = &placed.scheduler;
    let tainted = scheduler
        .nodes()
        // A node that is not ready or cordoned takes no pod, whatever it tolerates.
        .filter(|(_, machine)| machine.ready && !machine.cordoned && !machine.usable(&[], true));
    let opened = tainted
        .filter(|(node, _)| scheduler.pods_on(*node).iter().any(|pod| counted.contains(pod)));
    opened.map(|(_, machine)| machine.name.clone()).collect()
}

/// Devices that pods of others and other workloads hold on usable nodes, by node and resource:
/// all pods but those that the totals count as requested.
pub(super) fn held_by_others(
    placed: &Placed,
    claims: &[Claim],
    opened: &BTreeSet<EcoString>,
) -> Vec<(NodeId, EcoString, i64)> {
    let counted = counted(placed, claims);
    let usable = placed
        .scheduler
        .nodes()
        .filter(|(_, machine)| machine.usable(&[], true) || opened.contains(&machine.name));
    let held = usable.flat_map(|(node, _)| {
        let others = placed.scheduler.pods_on(node).iter().filter(|pod| !counted.contains(pod));
        others.flat_map(move |pod| {
            let requests = placed.scheduler.template_of(*pod).requests.iter();
            let devices = requests.filter(|(name, _)| is_accelerator(name));
            devices.map(move |(name, amount)| (node, name.clone(), *amount))
        })
    });
    held.collect()
}

/// The devices that others hold, by class.
pub(super) fn by_class(
    catalog: &Catalog,
    placed: &Placed,
    held: &[(NodeId, EcoString, i64)],
) -> BTreeMap<EcoString, i64> {
    let of_class = |class: &AcceleratorClass| -> i64 {
        // A class counts its first resource; parts of a GPU would be counted twice with it.
        let Some(resource) = class.whole_resources().next().map(|one| &one.name.value) else {
            return 0;
        };
        let nodes: HashSet<&EcoString> = machines::matching(class, catalog.machines())
            .iter()
            .map(|machine| &machine.name)
            .collect();
        held.iter()
            .filter(|(node, name, _)| {
                name == resource && nodes.contains(&placed.scheduler.node(*node).name)
            })
            .map(|(_, _, amount)| amount)
            .sum()
    };
    catalog.classes().map(|class| (class.name().clone(), of_class(class))).collect()
}

/// The devices that others hold, by resource.
pub(super) fn by_resource(held: &[(NodeId, EcoString, i64)]) -> BTreeMap<EcoString, i64> {
    let mut sums: BTreeMap<EcoString, i64> = BTreeMap::new();
    for (_, name, amount) in held {
        *sums.entry(name.clone()).or_default() += amount;
    }
    sums
}
