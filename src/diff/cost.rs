//! The cost of services at minReplicas.

use super::capacity::ServingCosts;
use super::{Decided, Diff, Pair, State};
use crate::operators::servings;
use crate::pipeline::costs;
use crate::pipeline::planned::PlannedComponent;
use crate::quantity::Dollars;
use ecow::eco_format;
use serde::Serialize;
use std::iter::Sum;
use std::ops::AddAssign;

/// Dollars per hour, if any class has a price; sums skip classes without a price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Cost(Option<Dollars>);

impl Cost {
    /// The amount, if any price is known.
    pub fn dollars(self) -> Option<Dollars> {
        self.0
    }

    /// This amount minus another one; an unknown amount counts as 0.
    pub fn above(self, other: Self) -> f64 {
        self.0.unwrap_or_default().as_f64() - other.0.unwrap_or_default().as_f64()
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        if let Some(more) = other.0 {
            // A sum is known as soon as one price is.
            *self.0.get_or_insert_default() += more;
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        let mut sum = Self::default();
        amounts.for_each(|amount| sum += amount);
        sum
    }
}

/// Adds the costs of ModelServings: to the sums, for the selected ones, and to the groups that
/// contain them.
pub(super) fn add_servings(
    diff: &mut Diff,
    [before, after]: [&State<'_>; 2],
    found: &Pair<ServingCosts>,
) {
    let sum = |side: &State<'_>, costs: &ServingCosts| -> Cost {
        let names = side
            .servings
            .iter()
            .map(|serving| eco_format!("{}/{}", serving.namespace, serving.name()));
        names.map(|name| Cost(costs.get(&name).copied())).sum()
    };
    diff.summary.costs.from += sum(before, &found.from);
    diff.summary.costs.to += sum(after, &found.to);
    for group in diff.groups.iter_mut().filter(|group| group.api == servings::API) {
        for (name, costs) in group.services.iter().zip(&mut group.costs) {
            costs.from = Cost(found.from.get(name).copied());
            costs.to = Cost(found.to.get(name).copied());
        }
    }
}

/// The cost of the components of a service: the hourly price of their class for each device.
pub(super) fn cost(decided: &Decided<'_>, components: &[PlannedComponent]) -> Cost {
    let of = |component: &PlannedComponent| {
        let (_, price) = decided.prices.iter().find(|(kind, _)| *kind == component.kind)?;
        costs::at(price, component)
    };
    components.iter().map(|component| Cost(of(component))).sum()
}
