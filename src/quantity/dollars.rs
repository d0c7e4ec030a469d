//! Amounts of money, exact to a millionth of a dollar.

use super::Quantity;
use serde::{Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(i128);

const MILLIONTHS: i128 = 1_000_000;

impl Dollars {
    /// So many things at a price each.
    #[expect(clippy::cast_possible_truncation, reason = "a price far beyond 2^53 is no price")]
    pub fn of(price: &Quantity, count: i64) -> Self {
        // Rounded once, to whole millionths: sums of them are exact and do not depend on their
        // order.
        let millionths = (price.as_f64() * 1e6).round() as i128;
        Self(millionths.saturating_mul(i128::from(count)))
    }

    /// The nearest float.
    #[expect(clippy::cast_precision_loss, reason = "JSON and thresholds have no other numbers")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

impl Serialize for Dollars {
    /// A number; a whole one without a point.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0 / MILLIONTHS) {
            Ok(whole) if self.0 % MILLIONTHS == 0 => serializer.serialize_i64(whole),
            _ => serializer.serialize_f64(self.as_f64()),
        }
    }
}

impl fmt::Display for Dollars {
    /// `$50`, or `$2.50` where it is not whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.abs() / MILLIONTHS, self.0.abs() % MILLIONTHS);
        if rest == 0 {
            return write!(f, "{sign}${whole}");
        }
        let mut digits = format!("{rest:06}");
        while digits.len() > 2 && digits.ends_with('0') {
            digits.pop();
        }
        write!(f, "{sign}${whole}.{digits}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_added_without_rounding() {
        let price = |text: &str| Quantity::parse(text).expect("a price");
        for (each, count, text, json) in [
            ("2.50", 20, "$50", "50"),
            ("2.50", 1, "$2.50", "2.5"),
            ("0.1", 3, "$0.30", "0.3"),
            ("1.2345", 1, "$1.2345", "1.2345"),
            ("0", 8, "$0", "0"),
        ] {
            let all: Dollars = std::iter::repeat_n(Dollars::of(&price(each), 1), count).sum();
            assert_eq!(all, Dollars::of(&price(each), i64::try_from(count).expect("few")));
            assert_eq!(all.to_string(), text);
            assert_eq!(serde_json::to_string(&all).expect("a number"), json);
        }
    }
}
