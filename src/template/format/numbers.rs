//! Formats integers and floats for `printf`.

use super::values::in_ascii;
use super::{Outcome, Printer};
use crate::quantity::go_quote;
use crate::template::quote;
use crate::template::value::Value;
use std::fmt::Write;

/// Maximum number of digits of a number. Go allows a million; no template needs more than a
/// thousand. This limit does not apply to the padding of texts.
const MAX_DIGITS: usize = 1000;

impl<'a> Printer<'_, 'a> {
    /// Rejects a width or precision beyond [`MAX_DIGITS`].
    fn bounded(&self) -> Outcome {
        if self.flags.width.max(self.flags.precision).unwrap_or(0) > MAX_DIGITS {
            return Err(self.machine.unsupported(format!(
                "a number of width or precision above {MAX_DIGITS} is not supported"
            )));
        }
        Ok(())
    }

    /// Writes an integer from its magnitude and sign; `bits` is the value that Go converts to a
    /// code point.
    pub(super) fn integer(
        &mut self,
        value: &Value<'a>,
        verb: char,
        magnitude: u64,
        negative: bool,
        bits: u64,
    ) -> Outcome {
        let c = || {
            u32::try_from(bits).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        match verb {
            'v' | 'd' => self.digits(magnitude, negative, 10, verb),
            'b' => self.digits(magnitude, negative, 2, verb),
            'o' | 'O' => self.digits(magnitude, negative, 8, verb),
            'x' | 'X' => self.digits(magnitude, negative, 16, verb),
            'c' => self.pad(c().encode_utf8(&mut [0; 4])),
            'q' => {
                let quoted = match c() {
                    '\'' => "'\\''".to_owned(),
                    '"' => "'\"'".to_owned(),
                    c => format!("'{}'", go_quote(c.encode_utf8(&mut [0; 4])).trim_matches('"')),
                };
                self.pad(&in_ascii(&quoted, self.flags.plus))
            }
            'U' => {
                self.bounded()?;
                let mut out = format!(
                    "U+{bits:0digits$X}",
                    digits = self.flags.precision.unwrap_or(0).max(4)
                );
                let shown = u32::try_from(bits)
                    .ok()
                    .and_then(char::from_u32)
                    .filter(|c| self.flags.sharp && quote::is_printable(*c));
                if let Some(c) = shown {
                    // Writing to a string cannot fail.
                    let _ = write!(out, " '{c}'");
                }
                self.pad_number(&out)
            }
            _ => self.bad_verb(value, verb),
        }
    }

    pub(super) fn digits(
        &mut self,
        magnitude: u64,
        negative: bool,
        base: u32,
        verb: char,
    ) -> Outcome {
        self.bounded()?;
        let flags = self.flags;
        // Go prints no digit at all for zero with a precision of 0.
        if flags.precision == Some(0) && magnitude == 0 {
            return self.pad_number("");
        }
        let sign = match negative {
            true => "-",
            false if flags.plus => "+",
            false if flags.space => " ",
            false => "",
        };
        // Zeros fill the width behind the sign.
        let zeros = flags
            .width
            .filter(|_| flags.zero && !flags.minus)
            .map(|width| width.saturating_sub(sign.len()));
        let least = flags.precision.or(zeros).unwrap_or(0);
        let digits = match (base, verb) {
            (2, _) => format!("{magnitude:0least$b}"),
            (8, _) => format!("{magnitude:0least$o}"),
            (16, 'X') => format!("{magnitude:0least$X}"),
            (16, _) => format!("{magnitude:0least$x}"),
            _ => format!("{magnitude:0least$}"),
        };
        let prefix = match (base, verb) {
            (2, _) if flags.sharp => "0b",
            (8, _) if flags.sharp && !digits.starts_with('0') => "0",
            (16, 'X') if flags.sharp => "0X",
            (16, _) if flags.sharp => "0x",
            _ => "",
        };
        let octal = if verb == 'O' { "0o" } else { "" };
        self.pad_number(&format!("{sign}{octal}{prefix}{digits}"))
    }

    pub(super) fn float(&mut self, number: f64, verb: char) -> Outcome {
        self.bounded()?;
        let flags = self.flags;
        let magnitude = number.abs();
        let mut digits = match verb {
            'e' | 'E' => scientific(magnitude, Some(flags.precision.unwrap_or(6))),
            'f' | 'F' => format!("{magnitude:.*}", flags.precision.unwrap_or(6)),
            _ => shortest(magnitude, flags.precision),
        };
        if flags.sharp {
            digits = with_point(&digits, verb, flags.precision);
        }
        if matches!(verb, 'E' | 'G') {
            digits = digits.to_uppercase();
        }
        let sign = match number.is_sign_negative() {
            true => "-",
            false if flags.plus => "+",
            false if flags.space => " ",
            false => return self.pad(&digits),
        };
        if flags.zero && !flags.minus {
            // One column is that of the sign.
            let least = flags.width.unwrap_or(0).saturating_sub(1);
            return self.push(&format!("{sign}{digits:0>least$}"));
        }
        self.pad(&format!("{sign}{digits}"))
    }
}

/// Formats like `%e`, with `precision` digits after the point; `None`: the fewest digits that
/// identify the number.
fn scientific(magnitude: f64, precision: Option<usize>) -> String {
    let text = match precision {
        Some(precision) => format!("{magnitude:.precision$e}"),
        None => format!("{magnitude:e}"),
    };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) =
        exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Formats like `%g`, with `precision` digits; `None`: the fewest digits that identify the number.
fn shortest(magnitude: f64, precision: Option<usize>) -> String {
    let Some(precision) = precision.map(|digits| digits.max(1)) else {
        return quote::float(magnitude);
    };
    let text = scientific(magnitude, Some(precision - 1));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Zeros at the end are not significant for `%g`.
    let count = digits.replace('.', "").trim_end_matches('0').len();
    // Digits before the point, as Go counts them: 0 for the number zero.
    let before = if count == 0 { 0 } else { exponent + 1 };
    let whole = usize::try_from(before).unwrap_or(0);
    let most = if precision > count && i64::from(before) <= i64::try_from(count).unwrap_or(i64::MAX)
    {
        count
    } else {
        precision
    };
    if exponent < -4
        || (exponent >= 0 && usize::try_from(exponent).unwrap_or(0) >= most && count > 0)
    {
        return scientific(magnitude, Some(precision.min(count).max(1) - 1));
    }
    let places = if precision > whole || before < 0 {
        i32::try_from(count).unwrap_or(0) - before
    } else {
        0
    };
    format!("{magnitude:.*}", usize::try_from(places).unwrap_or(0))
}

/// Adds the decimal point, and for `%g` the zeros that the precision requires.
fn with_point(digits: &str, verb: char, precision: Option<usize>) -> String {
    let (mantissa, exponent) = digits.split_at(digits.find('e').unwrap_or(digits.len()));
    let significant =
        mantissa.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count();
    let zero = usize::from(mantissa == "0");
    let wanted = if matches!(verb, 'v' | 'g' | 'G') { precision.unwrap_or(6) } else { 0 };
    let point = if mantissa.contains('.') { "" } else { "." };
    format!("{mantissa}{point}{}{exponent}", "0".repeat(wanted.saturating_sub(significant + zero)))
}
