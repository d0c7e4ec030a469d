//! Total requests of a plan: pods and devices at minReplicas, and devices per class.
//!
//! In: planned services and ModelServings, placed if nodes were read. Out: [`Totals`], which every
//! output format shows.

use super::planned::{Planned, Unplanned};
use super::serving::PlannedServing;
use super::together::{At, OtherWorkloads, Together, requested};
use crate::api::AcceleratorClass;
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::quantity::{Count, is_accelerator};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Total requests of services and ModelServings.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// InferenceServices.
    pub services: usize,
    /// Those of `services` in error, which request nothing.
    pub failed: usize,
    /// Services that are shown and not planned.
    pub unplanned: usize,
    /// ModelServings.
    pub servings: usize,
    /// Those of `servings` in error, which request nothing.
    pub servings_failed: usize,
    /// The number of replicas that is counted.
    pub at: At,
    /// Pods at that number.
    pub pods: i64,
    /// Devices at that number, by resource.
    pub gpus: BTreeMap<EcoString, i64>,
    /// Components whose pods or devices are unknown and not counted.
    pub components_not_counted: usize,
    /// ModelServings whose devices are unknown and not counted.
    pub servings_not_counted: usize,
    /// Workloads that no operator writes, if nodes were read.
    pub others: OtherWorkloads,
    /// Accelerator classes, by name.
    pub classes: Vec<ClassTotal>,
    /// Device resources of the nodes, if no class is requested.
    pub resources: Vec<ClassTotal>,
    /// Nodes with devices of these classes or resources that `allocatable` leaves out, by reason.
    pub closed: Vec<ClosedNodes>,
}

/// Nodes that accept no pods without tolerations of their own.
#[derive(Clone, Debug)]
pub struct ClosedNodes {
    /// Why: cordoned, a taint.
    pub why: EcoString,
    /// How many.
    pub nodes: usize,
    /// Their devices.
    pub devices: i64,
}

/// Requests for one class.
#[derive(Clone, Debug)]
pub struct ClassTotal {
    /// Its name.
    pub name: EcoString,
    /// Accelerators at minReplicas.
    pub requested: i64,
    /// Allocatable accelerators of its usable nodes; `None` if no node reports its resources.
    pub allocatable: Option<i64>,
    /// Accelerators held by other pods and by services that are not shown; `None` if that was not
    /// requested.
    pub in_use: Option<i64>,
}

impl ClassTotal {
    /// Free accelerators; negative if more are requested than exist.
    pub fn left(&self) -> Option<i64> {
        self.allocatable.map(|allocatable| allocatable - self.in_use.unwrap_or(0) - self.requested)
    }
}

/// Counts a plan; `machines` are the nodes of the input.
pub fn totals(
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    machines: &[Machine],
    together: Option<&Together>,
) -> Totals {
    let failed = planned.iter().filter(|planned| planned.error.is_some()).count();
    let held = |planned: &&Planned<'_>| planned.unplanned == Some(Unplanned::Placeholders);
    let services = planned.len() - planned.iter().filter(held).count();
    let mut totals = Totals {
        unplanned: planned.iter().filter(|planned| planned.unplanned.is_some()).count(),
        services,
        failed,
        servings: servings.len(),
        servings_failed: servings.iter().filter(|serving| serving.refused.is_some()).count(),
        at: together.map(|placement| placement.at).unwrap_or_default(),
        ..Totals::default()
    };
    let components = planned
        .iter()
        // A refused service is in error and its pods are composed: the totals show what it would
        // need.
        .filter(|planned| planned.error.is_none() || planned.refused)
        .flat_map(|planned| &planned.components);
    for component in components {
        totals.add(component.least_pods(), component.least_gpus_by_resource());
        totals.components_not_counted += usize::from(!component.is_counted());
    }
    for serving in servings.iter().filter(|serving| serving.refused.is_none()) {
        let pods = i64::try_from(serving.serving.pods()).ok().into();
        let devices = serving.gpus_by_resource.iter().flatten();
        // The number of devices is that of all replicas already.
        totals.add(pods, devices.map(|(name, count)| (name, Count::from(*count))));
        totals.servings_not_counted += usize::from(serving.gpus_by_resource.is_none());
    }
    totals.others = together.map(|placement| placement.others.clone()).unwrap_or_default();
    totals.classes = requested(planned, servings)
        .into_values()
        .map(|(class, requested)| of_class(class, requested, machines, together))
        .collect();
    // Classes already have the devices of their nodes; both tables would show them twice.
    if let Some(together) = together.filter(|_| totals.classes.is_empty()) {
        totals.resources = of_resources(&totals, machines, together);
    }
    if totals.classes.iter().any(|total| total.allocatable.is_some())
        || !totals.resources.is_empty()
    {
        let classes: Vec<&AcceleratorClass> =
            requested(planned, servings).into_values().map(|(class, _)| class).collect();
        totals.closed = closed(&classes, machines, together);
    }
    totals
}

/// Whether pods of the plan are on a node whose taint they tolerate.
fn is_opened(machine: &Machine, together: Option<&Together>) -> bool {
    together.is_some_and(|placement| placement.opened.contains(&machine.name))
}

/// The nodes that the tables leave out: of these classes, or of all nodes with devices.
fn closed(
    classes: &[&AcceleratorClass],
    machines: &[Machine],
    together: Option<&Together>,
) -> Vec<ClosedNodes> {
    let is_meant = |machine: &Machine| {
        classes.is_empty() || classes.iter().any(|class| machines::class_matches(class, machine))
    };
    let mut found: BTreeMap<EcoString, (usize, i64)> = BTreeMap::new();
    for machine in machines.iter().filter(|machine| !is_opened(machine, together)) {
        let Some(why) = machine.closed(&[], true) else { continue };
        let devices = machine.allocatable.iter().flatten().filter(|(name, _)| is_accelerator(name));
        let devices = devices.map(|(_, amount)| amount.value().unwrap_or(0)).sum::<i64>();
        if devices > 0 && is_meant(machine) {
            let (nodes, all) = found.entry(why.to_string().into()).or_default();
            (*nodes, *all) = (*nodes + 1, all.saturating_add(devices));
        }
    }
    let closed = |(why, (nodes, devices))| ClosedNodes { why, nodes, devices };
    let mut found: Vec<ClosedNodes> = found.into_iter().map(closed).collect();
    found.sort_by_key(|nodes| std::cmp::Reverse(nodes.devices));
    found
}

/// What is requested and free of each device resource on usable nodes.
fn of_resources(totals: &Totals, machines: &[Machine], together: &Together) -> Vec<ClassTotal> {
    let mut allocatable: BTreeMap<EcoString, i64> = BTreeMap::new();
    let usable =
        |machine: &&Machine| machine.usable(&[], true) || is_opened(machine, Some(together));
    for machine in machines.iter().filter(usable) {
        for (name, amount) in machine.allocatable.iter().flatten() {
            if is_accelerator(name) {
                *allocatable.entry(name.clone()).or_default() += amount.value().unwrap_or(0);
            }
        }
    }
    // A requested resource that no node has is a row with 0, not a missing row.
    for name in totals.gpus.keys() {
        allocatable.entry(name.clone()).or_default();
    }
    let row = |(name, allocatable): (EcoString, i64)| ClassTotal {
        requested: totals.gpus.get(&name).copied().unwrap_or(0),
        allocatable: Some(allocatable),
        in_use: Some(together.resources_in_use.get(&name).copied().unwrap_or(0)),
        name,
    };
    allocatable.into_iter().map(row).collect()
}

impl Totals {
    fn add<'d>(&mut self, pods: Count, devices: impl Iterator<Item = (&'d EcoString, Count)>) {
        self.pods += pods.number().unwrap_or(0);
        for (name, count) in devices {
            *self.gpus.entry(name.clone()).or_default() += count.number().unwrap_or(0);
        }
    }
}

fn of_class(
    class: &AcceleratorClass,
    requested: i64,
    machines: &[Machine],
    together: Option<&Together>,
) -> ClassTotal {
    let resource = class.whole_resources().next().map(|resource| resource.name.value.as_str());
    let allocatable = machines::is_known(machines).then(|| {
        let usable = machines::matching(class, machines)
            .into_iter()
            .filter(|machine| machine.usable(&[], true) || is_opened(machine, together));
        usable.filter_map(|machine| machine.allocatable(resource?)).sum()
    });
    let name = class.name().clone();
    let in_use = together.map(|placement| placement.in_use.get(&name).copied().unwrap_or(0));
    ClassTotal { name, requested, allocatable, in_use }
}
