//! Hourly cost of a plan: the devices at minReplicas, at the prices of their classes.

use super::planned::{Planned, PlannedComponent};
use super::serving::PlannedServing;
use crate::api::AcceleratorClass;
use crate::quantity::{Dollars, Quantity};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Dollars per hour. Components without a class, or with a class without a price, add nothing.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// Sum over all services and ModelServings.
    pub per_hour: Dollars,
    /// Cost per service: namespace, name and cost, in the order of the plan.
    pub services: Vec<(EcoString, EcoString, Dollars)>,
    /// Cost per ModelServing, if nodes were read: its pods have the classes of their nodes.
    pub servings: Vec<(EcoString, EcoString, Dollars)>,
    /// Cost per class.
    pub by_class: BTreeMap<EcoString, Dollars>,
}

/// Hourly price of one device of a class: `perHour`, or `spotPerHour` if that is not set.
pub(crate) fn price(class: &AcceleratorClass) -> Option<&Quantity> {
    let cost = class.cost.as_ref()?;
    cost.per_hour.as_ref().or(cost.spot_per_hour.as_ref()).map(|price| &price.value)
}

/// Hourly cost of the devices of a component at minReplicas, at `price` per device.
pub(crate) fn at(price: &Quantity, component: &PlannedComponent) -> Option<Dollars> {
    Some(Dollars::of(price, component.least_gpus().number()?))
}

/// Hourly cost of the devices that a ModelServing requests, by the classes of its nodes. Classes
/// without a price are left out.
fn of_serving<'p>(
    planned: &'p PlannedServing<'_>,
) -> impl Iterator<Item = (&'p AcceleratorClass, Dollars)> {
    let all = planned.by_class.iter();
    all.filter_map(|(class, devices)| Some((*class, Dollars::of(price(class)?, *devices))))
}

/// Hourly cost of a ModelServing; `None` if no price is known.
pub(crate) fn serving(planned: &PlannedServing<'_>) -> Option<Dollars> {
    of_serving(planned).map(|(_, cost)| cost).reduce(|sum, cost| sum + cost)
}

/// Hourly cost of a plan; `None` if no price is known.
pub fn costs(planned: &[Planned<'_>], servings: &[PlannedServing<'_>]) -> Option<Costs> {
    let mut costs = Costs::default();
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        let classes = planned.components.iter().filter_map(|component| {
            let class = planned.class(component.kind)?;
            Some((class, at(price(class)?, component)?))
        });
        if let Some(price) = costs.add(classes) {
            let service = &planned.service;
            costs.services.push((service.namespace.clone(), service.name.clone(), price));
        }
    }
    for planned in servings {
        if let Some(price) = costs.add(of_serving(planned)) {
            let serving = planned.serving;
            costs.servings.push((serving.namespace.clone(), serving.name().clone(), price));
        }
    }
    (!costs.services.is_empty() || !costs.servings.is_empty()).then_some(costs)
}

impl Costs {
    /// The cost of a service, if a price of its classes is known.
    pub fn of(&self, namespace: &str, name: &str) -> Option<Dollars> {
        let services = &self.services;
        let services =
            services.iter().find(|(in_namespace, of, _)| in_namespace == namespace && of == name);
        services.map(|(.., cost)| *cost)
    }

    /// Adds the costs of one service or ModelServing and returns their sum; `None` without costs.
    fn add<'c>(
        &mut self,
        classes: impl Iterator<Item = (&'c AcceleratorClass, Dollars)>,
    ) -> Option<Dollars> {
        // None and 0 differ: a service without a price has no cost, and not a cost of nothing.
        let mut price = None;
        for (class, cost) in classes {
            *price.get_or_insert_with(Dollars::default) += cost;
            self.per_hour += cost;
            *self.by_class.entry(class.name().clone()).or_default() += cost;
        }
        price
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{catalog, plan, service};

    /// Two services on one class with a price.
    fn priced(cost: &str) -> crate::testing::Ran {
        let class = format!(
            "---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: c}}\nspec: {{vendor: nvidia, discovery: {{nodeSelector: {{a: b}}}}, capabilities: {{memoryGB: 80Gi}}, cost: {{{cost}}}, resources: [{{name: nvidia.com/gpu, quantity: \"1\"}}]}}\n"
        );
        let runtime = catalog(2).replace(
            "  modelSizeRange",
            "  acceleratorRequirements: {acceleratorClasses: [c]}\n  modelSizeRange",
        );
        let services = service("a", "minReplicas: 1") + &service("b", "minReplicas: 3");
        crate::testing::ome("plan -o json", &(runtime + &class + &services))
    }

    #[test]
    fn a_plan_costs_the_devices_of_the_least_replicas() {
        for (cost, expected) in [
            ("perHour: 1.5", serde_json::json!(12)),
            ("spotPerHour: 0.5", serde_json::json!(4)),
            ("perHour: 1.5, spotPerHour: 0.5", serde_json::json!(12)),
        ] {
            let ran = priced(cost);
            assert_eq!(ran.at("/costs/perHour"), expected, "{cost}");
        }
    }

    #[test]
    fn without_a_price_nothing_costs_anything() {
        let ran = plan(&(catalog(1) + &service("a", "minReplicas: 1")));
        assert!(!ran.out.contains("perHour\": 0"), "{}", ran.out);
    }
}
