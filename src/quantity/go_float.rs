//! Floating-point numbers as Go's `strconv.ParseFloat(text, 64)` reads them.
//!
//! In: a text. Out: the number, or `None` if Go reports an error. Rust's own parser is used for
//! decimal numbers only, after Go's grammar was checked: it accepts no underscores and no
//! hexadecimal numbers, accepts `+nan`, and returns infinity where Go reports a number out of
//! range.

/// The number Go reads, or `None` where it reports a syntax or range error.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if negative { -1.0 } else { 1.0 };
    // Go takes a sign before `inf`, but not before `nan`.
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(sign * f64::INFINITY);
    }
    if !underscores_separate_digits(unsigned) {
        return None;
    }
    let digits = unsigned.replace('_', "");
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits)?,
        None => decimal(&digits)?,
    };
    magnitude.is_finite().then_some(sign * magnitude)
}

/// Go's rule for underscores: each is between two digits, or between a base prefix and a digit.
pub(crate) fn underscores_separate_digits(unsigned: &str) -> bool {
    let bytes = unsigned.as_bytes();
    let prefix = bytes.len() >= 2
        && bytes[0] == b'0'
        && matches!(bytes[1].to_ascii_lowercase(), b'b' | b'o' | b'x');
    let hexadecimal = prefix && bytes[1].eq_ignore_ascii_case(&b'x');
    let is_digit = |byte: u8| byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
    let mut previous = if prefix { b'0' } else { b'^' };
    for byte in &bytes[if prefix { 2 } else { 0 }..] {
        previous = match (*byte, previous) {
            (byte, _) if is_digit(byte) => b'0',
            (b'_', b'0') => b'_',
            (b'_', _) | (_, b'_') => return false,
            _ => b'!',
        };
    }
    previous != b'_'
}

/// Splits `[digits][.digits][mark[sign]digits]`, at least one digit before the mark, digits after
/// it.
fn split(
    text: &str,
    mark: u8,
    is_digit: impl Fn(u8) -> bool,
) -> Option<(&str, &str, Option<&str>)> {
    let end = text.bytes().position(|byte| byte.eq_ignore_ascii_case(&mark));
    let (mantissa, exponent) = match end {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    if whole.len() + fraction.len() == 0 || !digits.clone().all(is_digit) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    Some((whole, fraction, exponent))
}

fn decimal(text: &str) -> Option<f64> {
    split(text, b'e', |byte| byte.is_ascii_digit())?;
    text.parse().ok()
}

/// `digits` without `0x`; the exponent is a power of two and is required.
fn hexadecimal(digits: &str) -> Option<f64> {
    let (whole, fraction, exponent) = split(digits, b'p', |byte| byte.is_ascii_hexdigit())?;
    let exponent = exponent?;
    let significant = whole
        .chars()
        .chain(fraction.chars())
        .filter_map(|digit| digit.to_digit(16))
        .skip_while(|digit| *digit == 0);
    // The first sixteen digits in full, and whether anything but zeros follows.
    let (mut mantissa, mut count, mut more) = (0_u64, 0_i64, false);
    for digit in significant {
        if count < 16 {
            mantissa = mantissa << 4 | u64::from(digit);
        } else {
            more |= digit != 0;
        }
        count += 1;
    }
    if mantissa == 0 {
        return Some(0.0);
    }
    // Far beyond the range of a double, the exact exponent has no effect.
    let bound = 1 << 40;
    let written = exponent
        .parse::<i64>()
        .unwrap_or(if exponent.starts_with('-') { -bound } else { bound })
        .clamp(-bound, bound);
    let places = i64::try_from(fraction.len()).unwrap_or(bound);
    let dropped = (count - 16).max(0);
    Some(nearest_double(mantissa, more, written + 4 * (dropped - places)))
}

/// `mantissa` × 2^`exponent`, a little more if `more`, rounded to the nearest double and then to
/// the even one.
fn nearest_double(mantissa: u64, more: bool, exponent: i64) -> f64 {
    const LEAST: i64 = -1074;
    let shift = mantissa.leading_zeros();
    let mantissa = u128::from(mantissa << shift);
    let exponent = exponent - i64::from(shift);
    // The power of the lowest significant bit: 53 bits from the top, and never below the smallest
    // double.
    let lowest = (exponent + 63 - 52).max(LEAST);
    let dropped = lowest - exponent;
    if dropped > 64 {
        return 0.0;
    }
    if lowest > 1023 {
        return f64::INFINITY;
    }
    let rest = mantissa & ((1 << dropped) - 1);
    let half = 1_u128 << (dropped - 1);
    let kept = mantissa >> dropped;
    let up = rest > half || rest == half && (more || kept & 1 == 1);
    let kept = u64::try_from(kept + u128::from(up)).unwrap_or(u64::MAX);
    // At most 2^53, so both halves and their sum are exact, and so is the product unless it
    // overflows.
    let [high, low] = [kept >> 32, kept & 0xffff_ffff]
        .map(|half| f64::from(u32::try_from(half).unwrap_or(u32::MAX)));
    (high * 4_294_967_296.0 + low) * power_of_two(lowest)
}

/// 2^`exponent` for exponents from -1074 to 1023.
fn power_of_two(exponent: i64) -> f64 {
    let bits = if exponent >= -1022 { (exponent + 1023) << 52 } else { 1 << (exponent + 1074) };
    f64::from_bits(bits.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, bits) in [
            ("7", 7.0_f64.to_bits()),
            ("7.", 7.0_f64.to_bits()),
            (".5", 0.5_f64.to_bits()),
            ("1_000", 1000.0_f64.to_bits()),
            ("0x1p3", 8.0_f64.to_bits()),
            ("0X_1.8P1", 3.0_f64.to_bits()),
            ("-0x.8p-1", (-0.25_f64).to_bits()),
            ("0x1p-1074", 1),
            ("0x1p-1075", 0),
            ("0x1.8p-1075", 1),
            ("0x1.fffffffffffffp1023", f64::MAX.to_bits()),
            ("0x1.00000000000008p0", 1.0_f64.to_bits()),
            ("0x1.000000000000080000000000001p0", 1.0_f64.to_bits() + 1),
            ("1e-400", 0),
            ("-inf", f64::NEG_INFINITY.to_bits()),
            ("+Infinity", f64::INFINITY.to_bits()),
        ] {
            assert_eq!(parse(text).map(f64::to_bits), Some(bits), "{text}");
        }
        assert!(parse("NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in [
            "",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            "1_",
            "_1",
            "1__0",
            "1_.5",
            "1e_5",
            "1e5_",
            "0x1",
            "0x",
            "0xp1",
            "0x_p1",
            "0_x1p3",
            "+nan",
            "infin",
            "1e400",
            "0x1p1024",
            "0x1.fffffffffffff8p1023",
            " 7",
            "7 ",
            "7f",
            "1.2.3",
            "٣",
            "é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn hexadecimal_text_reads_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits & !(1 << 63));
            if number.is_finite() {
                let (mantissa, exponent) = (number.to_bits() & ((1 << 52) - 1), number.to_bits() >> 52);
                let text = if exponent == 0 { format!("0x{mantissa:x}p-1074") } else { format!("0x1.{mantissa:013x}p{}", i64::try_from(exponent).unwrap() - 1023) };
                prop_assert_eq!(parse(&text).map(f64::to_bits), Some(number.to_bits()));
            }
        }

        #[test]
        fn no_text_is_a_panic(text in ".*", likely in "[-+]?(0x)?[0-9a-fA-F_.]{0,30}([pPeE][-+]?[0-9_]{0,12})?") {
            let _ = (parse(&text), parse(&likely));
        }
    }
}
