//! How many devices a class has and how many are free (OEP-0003, AcceleratorClass). Times and
//! conditions are only known in a cluster.

use super::slices::Slices;
use crate::cluster::{Machine, Shape};
use crate::facts;
use crate::quantity::Range;
use ecow::EcoString;
use std::collections::BTreeMap;

/// The values for `status` of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Devices of all its machines; a device that is shared counts once.
    pub total: i64,
    /// Shares of all its machines, when devices are shared.
    pub shares: Option<i64>,
    /// Devices, or shares, of usable machines that no unfinished pod requests.
    pub available: i64,
    /// Machines that are ready, not cordoned, and without taints except those of devices.
    pub available_nodes: usize,
}

/// Counts devices. `resources` are the resources of the class; if it has none, every device counts.
/// `used` holds the pods by machine.
pub(super) fn status(
    machines: &[&Machine],
    resources: &[EcoString],
    used: &BTreeMap<EcoString, Vec<Shape>>,
    slices: &Slices,
) -> Status {
    let counts = |name: &str| {
        if resources.is_empty() {
            facts::is_device(name)
        } else {
            resources.iter().any(|resource| resource == name)
        }
    };
    let mut status = Status::default();
    for machine in machines {
        let mut names: Vec<&EcoString> =
            machine.capacity.iter().map(|(name, _)| name).filter(|name| counts(name)).collect();
        names.sort();
        names.dedup();
        let capacity = machine
            .capacity
            .iter()
            .filter(|(name, _)| counts(name))
            .filter_map(|(name, amount)| Some((name, amount.value()?)));
        for (name, amount) in capacity {
            let replicas = replicas(machine, name);
            // Rounded up: a device of which not all shares are offered is still a device.
            status.total = status.total.saturating_add((amount + replicas - 1) / replicas);
            if replicas > 1 {
                status.shares = Some(status.shares.unwrap_or(0).saturating_add(amount));
            }
        }
        // Devices of a cordoned node exist, so they count before the next check.
        let (all, free) = slices.count(machine, resources);
        status.total = status.total.saturating_add(all);
        if !machine.usable(&[], true) {
            continue;
        }
        status.available_nodes += 1;
        status.available = status.available.saturating_add(free);
        for name in names {
            let used = used
                .get(&machine.name)
                .into_iter()
                .flatten()
                .map(|shape| shape.amount(name))
                .fold(0, i64::saturating_add);
            // Pods may request more than there is where a node has lost a device.
            let free = machine.allocatable(name).unwrap_or(0).saturating_sub(used).max(0);
            status.available = status.available.saturating_add(free);
        }
    }
    status
}

/// Pods that share a device of a resource, as the device plugin labels it.
fn replicas(machine: &Machine, resource: &str) -> i64 {
    // Partitions and other devices have no such label, and the strategy `none` switches it off.
    let is_shared = matches!(resource, "nvidia.com/gpu" | "nvidia.com/gpu.shared")
        && machine.label("nvidia.com/gpu.sharing-strategy") != Some("none");
    let label = machine.label("nvidia.com/gpu.replicas").filter(|_| is_shared);
    label
        .and_then(|text| Range::DEVICES.count(text.parse().ok()?))
        .filter(|replicas| *replicas > 1)
        .unwrap_or(1)
}
