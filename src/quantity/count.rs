//! A number of things that may be unknown.

use super::range::Range;
use serde::{Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

/// A count; unknown if it depends on a number outside its range. Results of unknown numbers are
/// unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(Option<i64>);

impl Count {
    /// Not known.
    pub const UNKNOWN: Self = Self(None);

    /// The number, when it is known.
    pub fn number(self) -> Option<i64> {
        self.0
    }

    /// Whether it is known.
    pub fn is_known(self) -> bool {
        self.0.is_some()
    }
}

impl Default for Count {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl From<i64> for Count {
    fn from(number: i64) -> Self {
        Self(Some(number))
    }
}

impl From<Option<i64>> for Count {
    fn from(number: Option<i64>) -> Self {
        Self(number)
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        // A sum beyond 64 bits is not known, rather than wrong.
        Self(self.0.zip(other.0).and_then(|(one, other)| one.checked_add(other)))
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

impl Mul for Count {
    type Output = Self;

    /// Unknown when it is more than [`Range::TOTAL`].
    fn mul(self, other: Self) -> Self {
        let product = self.0.zip(other.0).and_then(|(one, other)| one.checked_mul(other));
        Self(product.and_then(|product| Range::TOTAL.count(product)))
    }
}

impl fmt::Display for Count {
    /// The number, or `unknown`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(f),
            None => f.pad("unknown"),
        }
    }
}

impl Serialize for Count {
    /// The number, or `null`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A number with its thousands apart.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut out = digits[..first].to_owned();
    for start in (first..digits.len()).step_by(3) {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&digits[start..start + 3]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_with_unknown_or_overflow_is_unknown() {
        let [two, three] = [2, 3].map(Count::from);
        assert_eq!((two + three).number(), Some(5));
        assert_eq!((two * three).number(), Some(6));
        assert_eq!([two, three].into_iter().sum::<Count>().to_string(), "5");
        for unknown in [
            two + Count::UNKNOWN,
            Count::UNKNOWN * two,
            [two, Count::UNKNOWN].into_iter().sum(),
            Count::from(i64::MAX) + Count::from(1),
            Count::from(1_000_001) * Count::from(1_000_000),
        ] {
            assert_eq!((unknown.number(), unknown.to_string().as_str()), (None, "unknown"));
        }
        assert_eq!(Count::default().number(), Some(0));
    }
}
