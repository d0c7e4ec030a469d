//! The valid range of each kind of number: a value outside is reported where it is read, and
//! counted nowhere.
//!
//! Kubernetes checks many of these bounds only where the number is used (a CustomResourceDefinition
//! may have none), and its own arithmetic overflows silently. One range per kind, so that the
//! finding about a value and the decision not to count it cannot disagree.

use super::resource::Quantity;
use super::resource_name::{is_accelerator, is_native};
use std::fmt;

/// Least and greatest value of a kind of number, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    least: i64,
    most: i64,
    /// Whether fractions are outside.
    whole: bool,
}

impl Range {
    /// Replicas, pods and workers: Kubernetes keeps them in 32 bits.
    pub const COUNT: Self = Self { least: 0, most: i32::MAX as i64, whole: true };
    /// Devices of one container, node or class. No machine has near as many; the bound is this
    /// tool's own, and keeps every sum exact.
    pub const DEVICES: Self = Self { least: 0, most: 1_000_000, whole: true };
    /// Devices that one model is spread over.
    pub const PARALLELISM: Self = Self { least: 1, ..Self::DEVICES };
    /// Any other amount: the 64 bits of Kubernetes (`Quantity.Value`).
    pub const AMOUNT: Self = Self { least: 0, most: i64::MAX, whole: false };

    /// Pods or devices of one component or ModelServing, all replicas together: more than any fleet
    /// has, and so few that the sum over every service that can be read is exact.
    pub const TOTAL: Self = Self { least: 0, most: 1_000_000_000_000, whole: true };

    /// Amounts of a resource. Extended resources are integers.
    pub fn of_resource(name: &str) -> Self {
        if is_accelerator(name) {
            return Self::DEVICES;
        }
        Self { whole: !is_native(name), ..Self::AMOUNT }
    }

    /// Whether a whole number is inside.
    pub fn holds(self, number: i64) -> bool {
        (self.least..=self.most).contains(&number)
    }

    /// The number, when it is inside.
    pub fn count(self, number: i64) -> Option<i64> {
        Some(number).filter(|number| self.holds(*number))
    }

    /// The greatest value.
    pub fn most(self) -> i64 {
        self.most
    }

    /// Whether an amount is inside.
    pub fn holds_amount(self, amount: &Quantity) -> bool {
        // Rounded up, so that a fraction above the greatest value is outside.
        let fits = amount.value().is_some_and(|rounded_up| self.holds(rounded_up));
        fits && !amount.is_negative() && (!self.whole || amount.is_integer())
    }

    /// Reads a quantity; `None` if it is invalid or outside the range.
    pub fn read(self, text: &str) -> Option<Quantity> {
        Quantity::parse_field(text).ok().filter(|amount| self.holds_amount(amount))
    }
}

impl fmt::Display for Range {
    /// `a number from 0 to 2147483647`, `a whole number from 0 to 1000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.whole { "whole " } else { "" };
        write!(f, "a {whole}number from {} to {}", self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_amounts_are_limited_by_kind_of_resource() {
        for (resource, text, inside) in [
            ("nvidia.com/gpu", "8", true),
            ("nvidia.com/gpu", "1000000", true),
            ("nvidia.com/gpu", "1M", true),
            ("nvidia.com/gpu", "1000001", false),
            ("nvidia.com/gpu", "10000000000000", false),
            ("nvidia.com/gpu", "9223372036854775808", false),
            ("nvidia.com/gpu", "1e30", false),
            ("nvidia.com/gpu", "-4", false),
            ("nvidia.com/gpu", "-100m", false),
            ("nvidia.com/gpu", "1.5", false),
            ("nvidia.com/gpu", "1500m", false),
            ("nvidia.com/mig-1g.10gb", "2000000", false),
            ("example.com/tokens", "10000000000000", true),
            ("example.com/tokens", "500m", false),
            ("example.com/tokens", "8Ei", false),
            ("cpu", "500m", true),
            ("cpu", "-500m", false),
            ("memory", "7Ei", true),
            ("memory", "8Ei", false),
            ("memory", "9223372036854775807", true),
            ("memory", "1e30", false),
            ("memory", "0", true),
            ("memory", "-0", true),
            ("memory", "many", false),
        ] {
            assert_eq!(
                Range::of_resource(resource).read(text).is_some(),
                inside,
                "{resource} {text}"
            );
        }
    }

    #[test]
    fn counts_are_limited_to_32_bits() {
        for (number, inside) in [
            (0, true),
            (2_147_483_647, true),
            (-1, false),
            (2_147_483_648, false),
            (i64::MIN, false),
        ] {
            assert_eq!(Range::COUNT.count(number).is_some(), inside, "{number}");
        }
        assert_eq!(Range::COUNT.to_string(), "a whole number from 0 to 2147483647");
        assert_eq!(
            Range::of_resource("amd.com/gpu").to_string(),
            "a whole number from 0 to 1000000"
        );
        assert_eq!(Range::AMOUNT.to_string(), "a number from 0 to 9223372036854775807");
    }
}
