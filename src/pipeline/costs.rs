//! The hourly cost of a plan: the devices of minReplicas, at the prices of their classes.

use super::planned::{Planned, PlannedComponent};
use super::serving::PlannedServing;
use crate::api::AcceleratorClass;
use crate::quantity::{Dollars, Quantity};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Dollars per hour. Components without a class, or with a class without a price, count as 0.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// The total.
    pub per_hour: Dollars,
    /// By service: namespace, name and cost, in the order of the plan.
    pub services: Vec<(EcoString, EcoString, Dollars)>,
    /// The same by ModelServing, where nodes were read: its pods are of the classes of their nodes.
    pub servings: Vec<(EcoString, EcoString, Dollars)>,
    /// By class.
    pub by_class: BTreeMap<EcoString, Dollars>,
}

/// The price of a device of a class for an hour: `perHour`, else `spotPerHour`.
pub(crate) fn price(class: &AcceleratorClass) -> Option<&Quantity> {
    let cost = class.cost.as_ref()?;
    cost.per_hour.as_ref().or(cost.spot_per_hour.as_ref()).map(|price| &price.value)
}

/// The hourly cost of a component's devices at minReplicas, at a price per device.
pub(crate) fn at(price: &Quantity, component: &PlannedComponent) -> Option<Dollars> {
    Some(Dollars::of(price, component.least_gpus().known()?))
}

/// The hourly cost of a ModelServing's devices by the class of their nodes; classes without a price
/// are left out.
fn of_serving<'p>(
    planned: &'p PlannedServing<'_>,
) -> impl Iterator<Item = (&'p AcceleratorClass, Dollars)> {
    let all = planned.by_class.iter();
    all.filter_map(|(class, devices)| Some((*class, Dollars::of(price(class)?, *devices))))
}

/// The hourly cost of a ModelServing; none where no price is known.
pub(crate) fn serving(planned: &PlannedServing<'_>) -> Option<Dollars> {
    of_serving(planned).map(|(_, cost)| cost).reduce(|sum, cost| sum + cost)
}

/// The hourly cost of a plan; none where no price is known.
pub fn costs(planned: &[Planned<'_>], servings: &[PlannedServing<'_>]) -> Option<Costs> {
    let mut costs = Costs::default();
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        let classes = planned.components.iter().filter_map(|component| {
            let class = planned.class(component.kind)?;
            Some((class, at(price(class)?, component)?))
        });
        if let Some(own) = costs.add(classes) {
            let service = &planned.service;
            costs.services.push((service.namespace.clone(), service.name.clone(), own));
        }
    }
    for planned in servings {
        if let Some(own) = costs.add(of_serving(planned)) {
            let serving = planned.serving;
            costs.servings.push((serving.namespace.clone(), serving.name().clone(), own));
        }
    }
    (!costs.services.is_empty() || !costs.servings.is_empty()).then_some(costs)
}

impl Costs {
    /// Adds costs to the total and to their classes. Returns their sum; none without any.
    fn add<'c>(
        &mut self,
        classes: impl Iterator<Item = (&'c AcceleratorClass, Dollars)>,
    ) -> Option<Dollars> {
        let mut own = None;
        for (class, cost) in classes {
            *own.get_or_insert_with(Dollars::default) += cost;
            self.per_hour += cost;
            *self.by_class.entry(class.name().clone()).or_default() += cost;
        }
        own
    }
}
