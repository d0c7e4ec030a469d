//! How many devices a class has and how many are free (OEP-0003, AcceleratorClass). Times and
//! conditions are only known in a cluster.

use crate::cluster::{Machine, Shape};
use crate::facts;
use ecow::EcoString;
use std::collections::BTreeMap;

/// The values for `status` of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Devices of all its machines.
    pub total: i64,
    /// Devices of usable machines that no unfinished pod requests.
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
) -> Status {
    let counts = |name: &str| {
        if resources.is_empty() {
            facts::is_device(name)
        } else {
            resources.iter().any(|own| own == name)
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
            .filter_map(|(_, amount)| amount.value());
        status.total = capacity.fold(status.total, i64::saturating_add);
        if !machine.usable(&[], true) {
            continue;
        }
        status.available_nodes += 1;
        for name in names {
            let asked = used
                .get(&machine.name)
                .into_iter()
                .flatten()
                .map(|shape| shape.amount(name))
                .fold(0, i64::saturating_add);
            let free = machine.allocatable(name).unwrap_or(0).saturating_sub(asked).max(0);
            status.available = status.available.saturating_add(free);
        }
    }
    status
}
