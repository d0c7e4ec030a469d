//! Kubernetes quantities, as `k8s.io/apimachinery/pkg/api/resource` parses, computes and prints
//! them.
//!
//! In: the text of a field. Out: exact numbers and the text that a Kubernetes client would write
//! back. Upstream caps binary quantities at 2^63-1, overflows in `Value` and `MilliValue`, rounds
//! some negative numbers towards zero and prints `1e21` as `1`; here the mathematical answer is
//! given, or none (pkg/controller/v1beta1/inferenceservice/components, "Corrections, measured").

use super::decimal::Decimal;
use ecow::EcoString;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Most digits a number may have, zeros included. Upstream has no limit.
pub const MAX_DIGITS: usize = 1_000;

/// Greatest magnitude of a written exponent. Upstream wraps around at 2^31 and is busy for minutes
/// before that.
const MAX_EXPONENT: i64 = 99_999;

/// The maximum number of digits that the canonical form adds: those of 2^60, and two zeros.
const MOST_MORE: usize = 21;

/// Finest unit; smaller amounts are rounded up to it.
const NANO: i64 = -9;

/// The output format of a quantity, from the suffix of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `n u m k M G T P E` or nothing: powers of 1000.
    DecimalSi,
    /// `Ki Mi Gi Ti Pi Ei`: powers of 1024.
    BinarySi,
    /// `e3`, `E-6`: powers of ten.
    DecimalExponent,
}

impl Format {
    /// Upstream's name of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DecimalSi => "DecimalSI",
            Self::BinarySi => "BinarySI",
            Self::DecimalExponent => "DecimalExponent",
        }
    }
}

/// Why a text is no quantity. The first three read as upstream words them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Characters that no quantity has, or none at all.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// Letters after the number that are no unit.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// A unit without a number, where upstream does not take it for zero.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// More than [`MAX_DIGITS`] digits.
    #[error("the number has more than {MAX_DIGITS} digits")]
    TooManyDigits,
    /// An exponent beyond [`MAX_EXPONENT`].
    #[error("the exponent is beyond {MAX_EXPONENT}")]
    ExponentOutOfRange,
}

/// An exact amount of a resource with the notation it came in. The finest unit is a nano.
///
/// Equality, order and hash are those of the number: `1` equals `1000m`.
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Decimal,
    format: Format,
    /// The text as written where upstream reuses it instead of printing it again.
    text: Option<EcoString>,
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// Upstream accepts more than its own grammar: `.`, `-`, `m`, `Gi` and `e3` are zero, `5.`
    /// and `+5` are five. Anything finer than a nano is rounded up. White space is an error;
    /// see [`Self::parse_field`].
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let (unit, format) = Unit::parse(parts.suffix)?;
        if parts.digits() > MAX_DIGITS {
            return Err(QuantityError::TooManyDigits);
        }
        // Upstream has two ways to parse, which differ for numbers without digits and in what they
        // print.
        let small = unit.fits_upstream_integer(&parts);
        if !small && !parts.has_digits {
            return Err(QuantityError::Number);
        }
        let digits =
            parts.whole.bytes().chain(parts.fraction.bytes()).map(|byte| byte - b'0').collect();
        let amount = match unit {
            Unit::Ten(exponent) => Decimal::new(parts.negative, digits, exponent - parts.places()),
            Unit::Two(exponent) => {
                Decimal::new(parts.negative, digits, -parts.places()).times(1_i128 << exponent)
            }
        }
        .rounded_up(NANO);
        // Less than a byte cannot be printed in powers of 1024.
        let below_one = !amount.is_zero() && amount.abs() < Decimal::from_integer(1, 0);
        let format =
            if format == Format::BinarySi && below_one { Format::DecimalSi } else { format };
        let text = (small && unit.keeps_text(&parts)).then(|| EcoString::from(text));
        let quantity = Self { amount, format, text };
        // The printed text is parsed again; another unit can need more digits than the input.
        if parts.digits() > MAX_DIGITS - MOST_MORE
            && Parts::split(&quantity.recomputed())?.digits() > MAX_DIGITS
        {
            return Err(QuantityError::TooManyDigits);
        }
        Ok(quantity)
    }

    /// Reads a string value of a manifest, as `Quantity.UnmarshalJSON` does: white space around it
    /// is ignored, unless it is of the kind that JSON must escape (tabs, line ends), which is
    /// an error.
    pub fn parse_field(text: &str) -> Result<Self, QuantityError> {
        let escaped =
            |c: char| matches!(c, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{2028}' | '\u{2029}');
        Self::parse(text.trim_matches(|c: char| c.is_whitespace() && !escaped(c)))
    }

    /// A whole number of things, printed in powers of 1000.
    pub fn from_integer(value: i64) -> Self {
        Self::computed(Decimal::from_integer(i128::from(value), 0), Format::DecimalSi)
    }

    /// Thousandths, printed in powers of 1000.
    pub fn from_milli(value: i128) -> Self {
        Self::computed(Decimal::from_integer(value, -3), Format::DecimalSi)
    }

    /// Bytes, printed in powers of 1024.
    pub fn from_bytes(bytes: u64) -> Self {
        Self::computed(Decimal::from_integer(i128::from(bytes), 0), Format::BinarySi)
    }

    fn computed(amount: Decimal, format: Format) -> Self {
        Self { amount, format, text: None }
    }

    /// The text that a client writes for a quantity just read, and for a computed one.
    ///
    /// A quantity that was already canonical up to cosmetics is written back as it came: `+5`,
    /// `1.234`, `5.`, `1E3` and `010` survive, `1.5` and `1000` do not.
    pub fn canonical(&self) -> EcoString {
        self.text.clone().unwrap_or_else(|| self.recomputed())
    }

    /// The canonical form printed again, as after arithmetic: no fraction, the greatest unit that
    /// allows it.
    ///
    /// Binary quantities below 1Ki or with a fraction are printed in powers of 1000. The greatest
    /// units are `E` and `Ei`; what is larger has more digits.
    pub fn recomputed(&self) -> EcoString {
        if self.amount.is_zero() {
            return EcoString::inline("0");
        }
        let mut text = String::new();
        let binary = self.format == Format::BinarySi
            && self.amount.is_integer()
            && self.amount.abs() >= Decimal::from_integer(1024, 0);
        if binary {
            let mut amount = self.amount.clone();
            let mut power = 0;
            // The greatest unit that leaves no remainder.
            while power < BINARY_UNITS.len() - 1
                && let Some(less) = amount.divided_exactly(1024)
            {
                amount = less;
                power += 1;
            }
            amount.push_scaled(0, &mut text);
            text.push_str(BINARY_UNITS[power]);
        } else {
            // Units are powers of 1000; rounded down, for small units as well.
            let exponent = self.amount.exponent().div_euclid(3) * 3;
            if self.format == Format::DecimalExponent {
                self.amount.push_scaled(exponent, &mut text);
                if exponent != 0 {
                    text.push('e');
                    text.push_str(&exponent.to_string());
                }
            } else {
                // There is no unit above `E`: larger numbers are written out.
                let exponent = exponent.min(18);
                self.amount.push_scaled(exponent, &mut text);
                text.push_str(
                    DECIMAL_UNITS
                        .iter()
                        .find(|(_, power)| *power == exponent)
                        .map_or("", |(unit, _)| unit),
                );
            }
        }
        text.into()
    }

    /// The notation this quantity is printed in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The amount in ones, rounded away from zero; `None` beyond 64 bits, where upstream overflows
    /// silently.
    pub fn value(&self) -> Option<i64> {
        self.amount.scaled_up(0).and_then(|value| value.try_into().ok())
    }

    /// The amount in thousandths, rounded away from zero; `None` beyond 128 bits. Upstream has 64,
    /// and overflows silently.
    pub fn milli(&self) -> Option<i128> {
        self.amount.scaled_up(-3)
    }

    /// The nearest floating-point number.
    pub fn as_f64(&self) -> f64 {
        let mut text = String::new();
        self.amount.push_scaled(self.amount.exponent(), &mut text);
        format!("{text}e{}", self.amount.exponent()).parse().unwrap_or(0.0)
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }

    /// Whether the amount is below zero.
    pub fn is_negative(&self) -> bool {
        self.amount.is_negative()
    }

    /// Whether the amount has no fraction.
    pub fn is_integer(&self) -> bool {
        self.amount.is_integer()
    }

    fn sum(&self, other: &Self, amount: Decimal) -> Self {
        // As upstream: what is added to nothing brings its notation.
        Self::computed(amount, if self.is_zero() { other.format } else { self.format })
    }
}

impl Default for Quantity {
    /// Zero, as `null` and an absent field are read.
    fn default() -> Self {
        Self::from_integer(0)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.canonical())
    }
}

impl std::str::FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.amount == other.amount
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.amount.hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.amount.cmp(&other.amount)
    }
}

impl Add for &Quantity {
    type Output = Quantity;

    fn add(self, other: Self) -> Quantity {
        self.sum(other, self.amount.plus(&other.amount))
    }
}

impl Sub for &Quantity {
    type Output = Quantity;

    fn sub(self, other: Self) -> Quantity {
        self.sum(other, self.amount.plus(&other.amount.negated()))
    }
}

impl Mul<i64> for &Quantity {
    type Output = Quantity;

    fn mul(self, factor: i64) -> Quantity {
        Quantity::computed(self.amount.times(i128::from(factor)), self.format)
    }
}

impl Neg for &Quantity {
    type Output = Quantity;

    fn neg(self) -> Quantity {
        Quantity::computed(self.amount.negated(), self.format)
    }
}

impl AddAssign<&Quantity> for Quantity {
    fn add_assign(&mut self, other: &Quantity) {
        *self = &*self + other;
    }
}

impl SubAssign<&Quantity> for Quantity {
    fn sub_assign(&mut self, other: &Quantity) {
        *self = &*self - other;
    }
}

/// Decimal units with their powers of ten.
const DECIMAL_UNITS: [(&str, i64); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// Binary units; the position is the power of 1024.
const BINARY_UNITS: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A text taken apart, nothing of it judged but its characters.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point without leading zeros; `0` when none are left.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    suffix: &'a str,
    /// Whether a digit was written at all.
    has_digits: bool,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (written, rest) = take(unsigned, |byte| byte.is_ascii_digit());
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => take(rest, |byte| byte.is_ascii_digit()),
            None => ("", rest),
        };
        let (_, rest) = take(suffix, |byte| b"eEinumkKMGTP".contains(&byte));
        let (_, rest) =
            take(rest.strip_prefix(['-', '+']).unwrap_or(rest), |byte| byte.is_ascii_digit());
        if !rest.is_empty() {
            return Err(QuantityError::Format);
        }
        let whole = written.trim_start_matches('0');
        // Upstream counts at least one digit before the point.
        let whole = if whole.is_empty() { "0" } else { whole };
        Ok(Self {
            negative,
            whole,
            fraction,
            suffix,
            has_digits: !written.is_empty() || !fraction.is_empty(),
        })
    }
}

impl Parts<'_> {
    /// Digits that are written.
    fn digits(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    /// Digits after the point.
    fn places(&self) -> i64 {
        i64::from(u32::try_from(self.fraction.len()).unwrap_or(u32::MAX))
    }
}

/// The longest start of `text` that consists of such bytes, and the rest. Only ASCII bytes may be
/// accepted.
fn take(text: &str, accepted: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !accepted(byte)).unwrap_or(text.len());
    text.split_at(end)
}

/// The format that a suffix of a quantity requests and its exponent: of 2 for binary ones, else
/// of 10.
pub(crate) fn suffix_of_quantity(suffix: &str) -> Option<(Format, i64)> {
    let (unit, format) = Unit::parse(suffix).ok()?;
    let exponent = match unit {
        Unit::Ten(exponent) => exponent,
        Unit::Two(exponent) => i64::try_from(exponent).ok()?,
    };
    Some((format, exponent))
}

/// What a suffix multiplies by.
#[derive(Clone, Copy)]
enum Unit {
    /// 10 to this power.
    Ten(i64),
    /// 2 to this power.
    Two(usize),
}

impl Unit {
    fn parse(suffix: &str) -> Result<(Self, Format), QuantityError> {
        if let Some((_, exponent)) = DECIMAL_UNITS.iter().find(|(unit, _)| *unit == suffix) {
            return Ok((Self::Ten(*exponent), Format::DecimalSi));
        }
        if let Some(power) = BINARY_UNITS.iter().position(|unit| *unit == suffix) {
            return Ok((Self::Two(power * 10), Format::BinarySi));
        }
        // After the units: `E` alone is one, and with digits behind it is an exponent.
        let written = suffix.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
        let digits = written.strip_prefix(['-', '+']).unwrap_or(written);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(QuantityError::Suffix);
        }
        match written.parse::<i64>() {
            Ok(exponent) if (-MAX_EXPONENT..=MAX_EXPONENT).contains(&exponent) => {
                Ok((Self::Ten(exponent), Format::DecimalExponent))
            }
            _ => Err(QuantityError::ExponentOutOfRange),
        }
    }

    /// Whether upstream counts this number in a 64-bit integer. It decides what happens to
    /// cosmetics and to numbers without digits; the rule is upstream's estimate of precision,
    /// not the exact bound.
    fn fits_upstream_integer(self, parts: &Parts<'_>) -> bool {
        match self {
            Self::Ten(exponent) => {
                parts.whole.len() + parts.fraction.len() <= 18 && exponent - parts.places() >= NANO
            }
            Self::Two(exponent) => {
                parts.fraction.is_empty() && parts.whole.len() + exponent * 3 / 10 <= 14
            }
        }
    }

    /// Whether upstream, counting in an integer, keeps the text because it deems it canonical.
    fn keeps_text(self, parts: &Parts<'_>) -> bool {
        match self {
            Self::Ten(exponent) => {
                // The last three digits of the whole and the fraction written together.
                let zeros =
                    |text: &str| text.bytes().rev().take_while(|byte| *byte == b'0').count();
                let mut trailing = zeros(parts.fraction);
                if trailing == parts.fraction.len() {
                    trailing += zeros(parts.whole);
                }
                (exponent - parts.places()) % 3 == 0
                    && trailing < 3
                    && !parts.whole.starts_with('0')
            }
            // Upstream asks whether the number is a multiple of eight.
            Self::Two(_) => parts.whole.parse::<u64>().is_ok_and(|number| number % 8 != 0),
        }
    }
}

#[cfg(test)]
mod tests;
