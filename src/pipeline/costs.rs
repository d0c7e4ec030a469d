//! What a plan costs an hour: the devices of minReplicas, at the prices of their classes.

use super::planned::{Planned, PlannedComponent};
use crate::api::AcceleratorClass;
use crate::quantity::{Dollars, Quantity};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Dollars an hour. Components without a class, or whose class has no price, cost nothing here.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// Of everything.
    pub per_hour: Dollars,
    /// By service: namespace, name and cost, in the order of the plan.
    pub services: Vec<(EcoString, EcoString, Dollars)>,
    /// By class.
    pub by_class: BTreeMap<EcoString, Dollars>,
}

/// The price of a device of a class for an hour: `perHour`, else `spotPerHour`.
pub(crate) fn price(class: &AcceleratorClass) -> Option<&Quantity> {
    let cost = class.cost.as_ref()?;
    cost.per_hour.as_ref().or(cost.spot_per_hour.as_ref()).map(|price| &price.value)
}

/// What the devices of minReplicas of a component cost an hour at a price each.
pub(crate) fn at(price: &Quantity, component: &PlannedComponent) -> Option<Dollars> {
    Some(Dollars::of(price, component.least_gpus().known()?))
}

/// What a plan costs; none where no price is known.
pub fn costs(planned: &[Planned<'_>]) -> Option<Costs> {
    let mut costs = Costs::default();
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        let mut own = None;
        for component in &planned.components {
            let class = planned.class(component.kind);
            let Some(cost) = class.and_then(price).and_then(|price| at(price, component)) else {
                continue;
            };
            *own.get_or_insert_with(Dollars::default) += cost;
            costs.per_hour += cost;
            if let Some(class) = class {
                *costs.by_class.entry(class.name().clone()).or_default() += cost;
            }
        }
        if let Some(own) = own {
            let service = planned.service;
            costs.services.push((service.namespace.clone(), service.name().clone(), own));
        }
    }
    (!costs.services.is_empty()).then_some(costs)
}
