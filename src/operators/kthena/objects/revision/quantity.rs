//! The fields of a quantity as Go has them after parsing: a 64-bit integer with a scale if it is
//! small enough, else a decimal of arbitrary size (`ParseQuantity` of apimachinery v0.34.2).

use crate::quantity::{Format, Quantity, suffix_of_quantity};
use std::fmt::Write as _;

/// Digits that a number of the fast way may have.
const MOST_FACTORS: i64 = 18;

/// Finest unit, as a power of ten.
const NANO: i64 = -9;

/// Appends a quantity; an invalid one is the zero value.
pub(super) fn push(text: &mut String, written: Option<&str>) {
    let inside = written.map(str::trim).and_then(Inside::read).unwrap_or_default();
    _ = write!(
        text,
        "{{i:(resource.int64Amount){{value:(int64){} scale:(resource.Scale){}}} d:(resource.infDecAmount){{Dec:(*inf.Dec)",
        inside.value, inside.scale
    );
    match &inside.decimal {
        None => text.push_str("<nil>"),
        Some(decimal) => {
            _ = write!(text, "{{unscaled:(big.Int){{neg:(bool){} abs:(big.nat)", decimal.negative);
            if decimal.words.is_empty() {
                text.push_str(if decimal.computed { "[]" } else { "<nil>" });
            } else {
                let words: Vec<String> = decimal.words.iter().map(u64::to_string).collect();
                _ = write!(text, "[{}]", words.join(" "));
            }
            _ = write!(text, "}} scale:(inf.Scale){}}}", decimal.scale);
        }
    }
    _ = write!(text, "}} s:(string){} Format:(resource.Format){}}}", inside.text, inside.format);
}

#[derive(Default)]
struct Inside<'a> {
    value: i64,
    scale: i64,
    decimal: Option<Decimal>,
    /// The text as written, where Go reuses it.
    text: &'a str,
    format: &'static str,
}

struct Decimal {
    negative: bool,
    /// Words of 64 bits, the least first.
    words: Vec<u64>,
    /// Digits after the point; negative: zeros before it.
    scale: i64,
    /// Whether Go computed the number, so that zero is an empty list and not none.
    computed: bool,
}

impl<'a> Inside<'a> {
    fn read(written: &'a str) -> Option<Self> {
        // Go has a path of its own for it, which keeps the text.
        if written == "0" {
            return Some(Self { text: written, format: "DecimalSI", ..Self::default() });
        }
        let quantity = Quantity::parse(written).ok()?;
        let negative = written.starts_with('-');
        let unsigned = written.trim_start_matches(['+', '-']);
        let end =
            unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        let (format, exponent) = suffix_of_quantity(suffix)?;
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let binary = format == Format::BinarySi;
        // Go's fast way: the digits have to fit 64 bits.
        let (precision, scale, factor) = if !binary {
            (MOST_FACTORS - length(whole) - length(fraction), exponent, 1)
        } else if fraction.is_empty() {
            (15 - length(whole) - exponent * 3 / 10 - 1, 0, 1_i64 << exponent)
        } else {
            (-1, 0, 1)
        };
        let scale = scale - length(fraction);
        // Otherwise, or where the product overflows, Go computes a decimal.
        if precision >= 0 && scale >= NANO {
            let digits = format!("{whole}{fraction}");
            let value: i64 = digits.parse().ok()?;
            if let Some(amount) = value.checked_mul(factor) {
                // Go reuses the text only where it is the canonical one.
                let kept = if binary {
                    exponent % 10 == 0 && value & 7 != 0
                } else {
                    scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
                };
                return Some(Self {
                    value: if negative { -amount } else { amount },
                    scale,
                    decimal: None,
                    text: if kept { written } else { "" },
                    format: format.as_str(),
                });
            }
        }
        let decimal = decimal(whole, fraction, binary.then_some(exponent), exponent, negative)?;
        Some(Self { decimal: Some(decimal), format: quantity.format().as_str(), ..Self::default() })
    }
}

/// A number too long or too fine for 64 bits. Beyond 128 bits it is the greatest one; no manifest
/// has that many bytes.
fn decimal(
    whole: &str,
    fraction: &str,
    binary: Option<i64>,
    exponent: i64,
    negative: bool,
) -> Option<Decimal> {
    let mut unscaled: u128 = format!("{whole}{fraction}").parse().unwrap_or(u128::MAX);
    let mut scale = i64::try_from(fraction.len()).ok()?;
    match binary {
        Some(power) => unscaled = unscaled.saturating_mul(1 << power),
        None => scale -= exponent,
    }
    let mut computed = binary.is_some();
    // Finer than a nano is rounded up.
    if unscaled != 0 {
        computed = true;
        if scale > -NANO {
            let mut exact = true;
            while scale > -NANO {
                exact &= unscaled.is_multiple_of(10);
                unscaled /= 10;
                scale -= 1;
            }
            unscaled += u128::from(!exact);
        } else {
            while scale < -NANO {
                unscaled = unscaled.saturating_mul(10);
                scale += 1;
            }
        }
    }
    if binary.is_some() {
        // Binary quantities end at 2^63-1.
        let most = u128::from(i64::MAX.unsigned_abs());
        // The limit is in units, the number in up to nine digits after the point.
        let nanos = 10_u128.pow(u32::try_from(scale.clamp(0, 9)).ok()?);
        if unscaled / nanos >= most && unscaled > most.checked_mul(nanos)? {
            (unscaled, scale) = (most, 0);
        }
    }
    let mut words = Vec::new();
    while unscaled != 0 {
        words.push(u64::try_from(unscaled & u128::from(u64::MAX)).ok()?);
        unscaled >>= 64;
    }
    Some(Decimal { negative: negative && !words.is_empty(), words, scale, computed })
}
