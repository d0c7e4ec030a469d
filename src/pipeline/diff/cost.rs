//! What services cost at the fewest replicas.

use super::Decided;
use crate::pipeline::plan::PlannedComponent;
use crate::quantity::Quantity;
use serde::{Serialize, Serializer};
use std::iter::Sum;
use std::ops::AddAssign;

/// Millionths of a dollar.
const PARTS: f64 = 1e6;

/// Dollars per hour, where any class has a price; sums leave out what has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dollars(Option<i128>);

impl Dollars {
    /// GPUs at a price for one of them.
    #[expect(clippy::cast_possible_truncation, reason = "prices have few digits")]
    fn of(price: &Quantity, gpus: i64) -> Self {
        Self(Some((price.as_f64() * PARTS).round() as i128 * i128::from(gpus)))
    }

    /// The amount, when any price is known.
    #[expect(clippy::cast_precision_loss, reason = "it is shown")]
    pub fn known(self) -> Option<f64> {
        self.0.map(|parts| parts as f64 / PARTS)
    }

    /// By how much this is more than another amount; what has no price costs nothing.
    pub fn above(self, other: Self) -> f64 {
        self.known().unwrap_or_default() - other.known().unwrap_or_default()
    }
}

impl AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        if let Some(more) = other.0 {
            self.0 = Some(self.0.unwrap_or_default() + more);
        }
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        let mut sum = Self::default();
        amounts.for_each(|amount| sum += amount);
        sum
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_none(),
            #[expect(clippy::cast_possible_truncation, reason = "a whole number of dollars")]
            Some(parts) if parts % 1_000_000 == 0 => {
                serializer.serialize_i64((parts / 1_000_000) as i64)
            }
            Some(_) => serializer.serialize_f64(self.known().unwrap_or_default()),
        }
    }
}

/// What the components of a service cost: the hourly price of their class for each GPU.
pub(super) fn cost(decided: &Decided<'_>, components: &[PlannedComponent]) -> Dollars {
    let of = |component: &PlannedComponent| {
        let price = decided.prices.iter().find(|(kind, _)| *kind == component.kind)?;
        Some(Dollars::of(price.1, component.least_gpus().known()?))
    };
    components.iter().filter_map(of).sum()
}
