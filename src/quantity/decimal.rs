//! Whole numbers of any length times a power of ten: the arithmetic under
//! [`Quantity`](super::Quantity).
//!
//! In: digits that were read. Out: digits to be printed, and integers where they fit. Work and
//! memory are linear in the digits; whoever reads text bounds those. Digits are kept one to a byte,
//! because quantities are shifted by powers of ten, rounded and printed far more often than they
//! are multiplied.

use std::cmp::Ordering;

/// A signed decimal number, exactly. Equal numbers have equal fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    /// Never set for zero.
    negative: bool,
    /// Values 0 to 9, most significant first, without a zero at either end; empty for zero.
    digits: Vec<u8>,
    /// Power of ten of the last digit; 0 for zero.
    exponent: i64,
}

impl Decimal {
    /// The number `digits` × 10^`exponent`; zeros at the ends are welcome.
    pub(super) fn new(negative: bool, mut digits: Vec<u8>, mut exponent: i64) -> Self {
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        if digits.is_empty() { Self::default() } else { Self { negative, digits, exponent } }
    }

    /// `value` × 10^`exponent`.
    pub(super) fn from_integer(value: i128, exponent: i64) -> Self {
        let mut rest = value.unsigned_abs();
        let mut digits = Vec::new();
        while rest > 0 {
            digits.push(take_digit(&mut rest));
        }
        digits.reverse();
        Self::new(value < 0, digits, exponent)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether nothing is after the decimal point.
    pub(super) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Power of ten of the last digit that is not zero.
    pub(super) fn exponent(&self) -> i64 {
        self.exponent
    }

    pub(super) fn abs(&self) -> Self {
        Self { negative: false, ..self.clone() }
    }

    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        // At the finer of the two scales both are whole numbers.
        let exponent = self.exponent.min(other.exponent);
        let (left, right) = (self.digits_at(exponent), other.digits_at(exponent));
        if self.negative == other.negative {
            return Self::new(self.negative, add_digits(&left, &right), exponent);
        }
        match self.compare_magnitude(other) {
            Ordering::Equal => Self::default(),
            Ordering::Greater => Self::new(self.negative, subtract_digits(&left, &right), exponent),
            // The smaller magnitude is taken from the greater one, whose sign the result has.
            Ordering::Less => Self::new(other.negative, subtract_digits(&right, &left), exponent),
        }
    }

    pub(super) fn times(&self, factor: i128) -> Self {
        let multiplier = factor.unsigned_abs();
        // The product of a digit and any multiplier in use (2^60, a 64-bit integer) plus the carry
        // does not overflow.
        debug_assert!(multiplier <= u128::MAX / 20, "factors come from 64 bits");
        let mut digits = Vec::with_capacity(self.digits.len() + 20);
        let mut carry = 0_u128;
        for digit in self.digits.iter().rev() {
            carry += u128::from(*digit) * multiplier;
            digits.push(take_digit(&mut carry));
        }
        while carry > 0 {
            digits.push(take_digit(&mut carry));
        }
        digits.reverse();
        Self::new(self.negative != (factor < 0), digits, self.exponent)
    }

    /// An integer divided by `divisor` if nothing remains.
    pub(super) fn divided_exactly(&self, divisor: u32) -> Option<Self> {
        if !self.is_integer() {
            return None;
        }
        let mut remainder = 0;
        // Division by hand from the first digit on, as numbers may be longer than any integer type.
        let mut digits = self.digits_at(0);
        for digit in &mut digits {
            let current = remainder * 10 + u64::from(*digit);
            // One digit: the remainder before it was less than the divisor.
            *digit = u8::try_from(current / u64::from(divisor)).unwrap_or(0);
            remainder = current % u64::from(divisor);
        }
        (remainder == 0).then(|| Self::new(self.negative, digits, 0))
    }

    /// The nearest multiple of 10^`exponent` that is not nearer to zero.
    pub(super) fn rounded_up(&self, exponent: i64) -> Self {
        if self.is_zero() || self.exponent >= exponent {
            return self.clone();
        }
        let dropped = usize::try_from(exponent - self.exponent).unwrap_or(usize::MAX);
        let kept = self.digits.len().saturating_sub(dropped);
        // Digits do not end in zero, so something other than zero is always dropped.
        Self::new(self.negative, add_digits(&self.digits[..kept], &[1]), exponent)
    }

    /// This number in units of 10^`exponent`, rounded away from zero; `None` beyond 128 bits.
    pub(super) fn scaled_up(&self, exponent: i64) -> Option<i128> {
        let rounded = self.rounded_up(exponent);
        // 128 bits have 39 digits; this check avoids writing out 1e9999.
        if rounded.leading() - exponent > 39 {
            return None;
        }
        let mut value = 0_i128;
        for digit in rounded.digits_at(exponent) {
            let digit = i128::from(digit);
            // Counting downwards reaches the smallest number as well as the largest.
            value = value.checked_mul(10)?.checked_sub(digit)?;
        }
        if rounded.negative { Some(value) } else { value.checked_neg() }
    }

    /// Writes this number in units of 10^`exponent`, which must not be above its own exponent.
    pub(super) fn push_scaled(&self, exponent: i64, text: &mut String) {
        if self.negative {
            text.push('-');
        }
        text.extend(self.digits_at(exponent).into_iter().map(|digit| char::from(b'0' + digit)));
    }

    /// The digits followed by as many zeros as bring the last one to 10^`exponent`.
    fn digits_at(&self, exponent: i64) -> Vec<u8> {
        let mut digits = self.digits.clone();
        digits
            .resize(self.digits.len() + usize::try_from(self.exponent - exponent).unwrap_or(0), 0);
        digits
    }

    /// One more than the power of ten of the first digit.
    fn leading(&self) -> i64 {
        self.exponent + i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Without zeros at the end, digits that start at the same power compare like words.
            (false, false) => {
                self.leading().cmp(&other.leading()).then_with(|| self.digits.cmp(&other.digits))
            }
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

/// Takes the last digit from a number.
fn take_digit(number: &mut u128) -> u8 {
    // Division of 128 bits is a slow call, and nearly every amount has fewer.
    let digit = if let Ok(short) = u64::try_from(*number) {
        *number = u128::from(short / 10);
        u128::from(short % 10)
    } else {
        let digit = *number % 10;
        *number /= 10;
        digit
    };
    u8::try_from(digit).unwrap_or(0)
}

/// Sum of two rows of digits that end at the same power.
fn add_digits(left: &[u8], right: &[u8]) -> Vec<u8> {
    let (long, short) = if left.len() >= right.len() { (left, right) } else { (right, left) };
    let mut sum = Vec::with_capacity(long.len() + 1);
    sum.push(0);
    sum.extend_from_slice(long);
    let mut carry = 0;
    for index in 0..sum.len() {
        if index >= short.len() && carry == 0 {
            break;
        }
        let position = sum.len() - 1 - index;
        let other = if index < short.len() { short[short.len() - 1 - index] } else { 0 };
        let digit = sum[position] + other + carry;
        sum[position] = digit % 10;
        carry = digit / 10;
    }
    sum
}

/// Difference of two rows of digits that end at the same power; `left` is not the smaller number.
fn subtract_digits(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut difference = left.to_vec();
    let mut borrow = 0;
    for index in 0..difference.len() {
        if index >= right.len() && borrow == 0 {
            break;
        }
        let position = difference.len() - 1 - index;
        let take = borrow + if index < right.len() { right[right.len() - 1 - index] } else { 0 };
        borrow = u8::from(difference[position] < take);
        difference[position] = difference[position] + borrow * 10 - take;
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integer(value: i64, exponent: i64) -> Decimal {
        Decimal::from_integer(i128::from(value), exponent)
    }

    #[test]
    fn rounding_goes_away_from_zero() {
        for (value, exponent, to, expected) in [
            (11, -1, 0, 2),
            (-11, -1, 0, -2),
            (1, -9, 0, 1),
            (-1, -9, 0, -1),
            (999, 0, 1, 100),
            (10, 0, 1, 1),
            (0, 0, 5, 0),
        ] {
            assert_eq!(
                integer(value, exponent).scaled_up(to),
                Some(expected),
                "{value}e{exponent} at {to}"
            );
        }
    }

    #[test]
    fn scaling_ends_at_128_bits() {
        let big = Decimal::from_integer;
        assert_eq!(big(i128::MIN, 0).scaled_up(0), Some(i128::MIN));
        assert_eq!(big(i128::MIN, 0).negated().scaled_up(0), None);
        assert_eq!(big(i128::MAX, 0).scaled_up(0), Some(i128::MAX));
        assert_eq!(big(i64::MAX.into(), 0).scaled_up(-3), Some(i128::from(i64::MAX) * 1000));
        assert_eq!(integer(1, 99_999).scaled_up(0), None);
        assert_eq!(integer(1, 39).scaled_up(0), None);
        assert_eq!(integer(1, 38).scaled_up(0), Some(10_i128.pow(38)));
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_integers(a in -1_000_000_000_000_i128..1_000_000_000_000, b in -1_000_000_000_i128..1_000_000_000, shift in 0_i64..12) {
            let scale = 10_i128.pow(u32::try_from(shift).unwrap());
            let (left, right) = (Decimal::from_integer(a, shift), Decimal::from_integer(b, 0));
            prop_assert_eq!(left.plus(&right), Decimal::from_integer(a * scale + b, 0));
            prop_assert_eq!(left.plus(&right.negated()), Decimal::from_integer(a * scale - b, 0));
            prop_assert_eq!(left.times(b), Decimal::from_integer(a * scale * b, 0));
            prop_assert_eq!(left.cmp(&right), (a * scale).cmp(&b));
            let exact = (a * scale % 1024 == 0).then(|| Decimal::from_integer(a * scale / 1024, 0));
            prop_assert_eq!(left.divided_exactly(1024), exact);
        }
    }
}
