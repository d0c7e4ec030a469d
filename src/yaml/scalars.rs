//! What a plain scalar means to kubectl, and whether others read it alike.
//!
//! In: the text of a scalar. Out: its value as sigs.k8s.io/yaml has it (YAML 1.1 with Go's number
//! syntax), a remark when kustomize or a reader of YAML 1.2 takes it otherwise, and the answer
//! whether a text may be without quotes. Source: the recorded table yaml-scalars (kubectl 1.35,
//! kustomize 5.7).

use super::node::Value;
use ecow::{EcoString, eco_format};

/// The meaning of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// The text itself.
    Text,
    Null,
    Bool(bool),
    Int(i64),
    Big(u64),
    Float(f64),
    /// `.inf`, `-.inf`, `.nan`: a number to YAML, none to JSON, so kubectl refuses it.
    NotFinite(&'static str),
}

impl Meaning {
    /// The value; `None` for text.
    ///
    /// kubectl passes JSON on, and JSON knows one kind of number: a float without fraction is an
    /// integer there.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be integral and within 63 bits"
    )]
    pub(super) fn value(self) -> Option<Value> {
        Some(match self {
            Self::Text | Self::NotFinite(_) => return None,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(number) => Value::Int(number),
            Self::Big(number) => Value::Big(number),
            Self::Float(number)
                if number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0 =>
            {
                Value::Int(number as i64)
            }
            Self::Float(number) => Value::Float(number),
        })
    }

    /// The name of its type in the tags of YAML, for messages.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Big(_) => "an integer",
            Self::Float(_) | Self::NotFinite(_) => "a float",
        }
    }
}

/// Who reads a scalar otherwise than kubectl.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DivergentReading {
    /// `kustomize` or `YAML 1.2`.
    pub(super) who: &'static str,
    /// What they make of it.
    pub(super) reading: EcoString,
}

/// Whether a plain scalar that begins with this byte can be anything but text.
pub(super) fn may_mean_more(first: u8) -> bool {
    matches!(
        first,
        b'0'..=b'9'
            | b'+'
            | b'-'
            | b'.'
            | b'~'
            | b'y'
            | b'Y'
            | b'n'
            | b'N'
            | b't'
            | b'T'
            | b'f'
            | b'F'
            | b'o'
            | b'O'
    )
}

/// The meaning of a plain scalar without a tag.
pub(super) fn plain(text: &str) -> Meaning {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return Meaning::Null };
    match first {
        b'0'..=b'9' | b'+' | b'-' => {
            // Ports, counts and the like need no second look.
            if bytes.len() <= 18 && *first != b'0' && bytes.iter().all(u8::is_ascii_digit) {
                return Meaning::Int(
                    // 18 digits fit into 63 bits.
                    bytes.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')),
                );
            }
            word(text).unwrap_or_else(|| number(text))
        }
        b'.' => word(text).unwrap_or_else(|| go_float(text).map_or(Meaning::Text, Meaning::Float)),
        _ if may_mean_more(*first) => word(text).unwrap_or(Meaning::Text),
        _ => Meaning::Text,
    }
}

/// Words with a meaning.
fn word(text: &str) -> Option<Meaning> {
    // The longest word is `false`.
    if text.len() > 5 {
        return None;
    }
    Some(match text {
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Meaning::Bool(true)
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Meaning::Bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
        ".nan" | ".NaN" | ".NAN" => Meaning::NotFinite(".nan"),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Meaning::NotFinite(".inf"),
        "-.inf" | "-.Inf" | "-.INF" => Meaning::NotFinite("-.inf"),
        _ => return None,
    })
}

/// A number as go-yaml takes it: underscores mean nothing, prefixes and a leading zero name the
/// base.
fn number(text: &str) -> Meaning {
    let without;
    let digits = if text.contains('_') {
        without = text.replace('_', "");
        without.as_str()
    } else {
        text
    };
    if let Some(meaning) = go_integer(digits) {
        return meaning;
    }
    // After integers: `10` is a decimal, too.
    if is_decimal(digits) {
        return go_float(digits).map_or(Meaning::Text, Meaning::Float);
    }
    // Quirk: go-yaml tries the digits after `0b` once more, with a sign of their own.
    if let Some(signed) = digits.strip_prefix("0b").filter(|rest| rest.starts_with(['+', '-'])) {
        return i64::from_str_radix(signed, 2).map_or(Meaning::Text, Meaning::Int);
    }
    Meaning::Text
}

/// `strconv.ParseInt(text, 0, 64)`, then `ParseUint`; the text holds no underscore.
fn go_integer(text: &str) -> Option<Meaning> {
    let (negative, signed, digits) = match text.as_bytes().first()? {
        b'-' => (true, true, &text[1..]),
        b'+' => (false, true, &text[1..]),
        _ => (false, false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        // A leading zero means octal in YAML 1.1, as in file modes.
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match i64::try_from(magnitude) {
        Ok(number) => Some(Meaning::Int(if negative { -number } else { number })),
        Err(_) if negative => {
            (magnitude == i64::MIN.unsigned_abs()).then_some(Meaning::Int(i64::MIN))
        }
        // `ParseUint` takes no sign, so that `+18446744073709551615` is text.
        Err(_) => (!signed).then_some(Meaning::Big(magnitude)),
    }
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`, what YAML 1.2 takes for a float and
/// go-yaml for a decimal.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &mut &[u8]| {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *text = &text[count..];
        count
    };
    let sign = |text: &mut &[u8]| {
        if let [b'+' | b'-', rest @ ..] = text {
            *text = rest;
        }
    };
    let mut rest = text.as_bytes();
    sign(&mut rest);
    let whole = digits(&mut rest);
    if let [b'.', after @ ..] = rest {
        rest = after;
        let fraction = digits(&mut rest);
        if whole + fraction == 0 {
            return false;
        }
    } else if whole == 0 {
        return false;
    }
    if let [b'e' | b'E', after @ ..] = rest {
        rest = after;
        sign(&mut rest);
        if digits(&mut rest) == 0 {
            return false;
        }
    }
    rest.is_empty()
}

/// `strconv.ParseFloat` of a decimal: an underscore may be between digits; beyond the range it
/// fails.
fn go_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let between_digits = |index: usize| {
        index > 0
            && bytes[index - 1].is_ascii_digit()
            && bytes.get(index + 1).is_some_and(u8::is_ascii_digit)
    };
    let number = if text.contains('_') {
        if !bytes.iter().enumerate().all(|(index, byte)| *byte != b'_' || between_digits(index)) {
            return None;
        }
        let plain = text.replace('_', "");
        is_decimal(&plain).then(|| plain.parse::<f64>().ok())
    } else {
        is_decimal(text).then(|| text.parse::<f64>().ok())
    };
    // Go's parser reports an overflow where Rust's gives infinity.
    number.flatten().filter(|number| number.is_finite())
}

/// Who reads a plain scalar without a tag otherwise than kubectl; `meaning` is kubectl's.
pub(super) fn otherwise(text: &str, meaning: Meaning) -> Option<DivergentReading> {
    match meaning {
        Meaning::Bool(_) => {
            // The other words, as `yes` and `on`, are texts since YAML 1.2.
            (!matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")).then(|| {
                DivergentReading { who: "kustomize", reading: eco_format!("the text \"{text}\"") }
            })
        }
        Meaning::Int(number) => core_number(text, Some(number)),
        Meaning::Big(_) | Meaning::Float(_) => core_number(text, None),
        Meaning::Text => {
            if let Some(reading) = kustomize_time(text).or_else(|| kustomize_octal(text)) {
                return Some(DivergentReading { who: "kustomize", reading });
            }
            // Out of the range of a float: an abbreviated commit such as 12e4567.
            let first = text.as_bytes().first()?;
            ((first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) && is_decimal(text))
                .then(|| DivergentReading { who: "YAML 1.2", reading: "a number".into() })
        }
        Meaning::Null | Meaning::NotFinite(_) => None,
    }
}

/// What the core schema of YAML 1.2 makes of a number, where that is something else.
fn core_number(text: &str, number: Option<i64>) -> Option<DivergentReading> {
    let as_text =
        || Some(DivergentReading { who: "YAML 1.2", reading: eco_format!("the text \"{text}\"") });
    // Prefixes in small letters have the same meaning in YAML 1.2; `0X` and `0b` have none.
    if let Some(digits) = text.strip_prefix("0x") {
        return if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) { None } else { as_text() };
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return if digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')) {
            None
        } else {
            as_text()
        };
    }
    if !is_decimal(text) {
        return as_text();
    }
    // A leading zero names no base in YAML 1.2.
    let core = text.parse::<i64>().ok();
    match (core, number) {
        (Some(core), Some(number)) if core != number => {
            Some(DivergentReading { who: "YAML 1.2", reading: eco_format!("{core}") })
        }
        _ => None,
    }
}

/// The number that kustomize finds in octal digits with a sign of their own.
fn kustomize_octal(text: &str) -> Option<EcoString> {
    let digits = text.starts_with('0').then(|| text.replace('_', ""))?;
    let signed = digits.strip_prefix("0o").filter(|rest| rest.starts_with(['+', '-']))?;
    i64::from_str_radix(signed, 8).ok().map(|number| eco_format!("{number}"))
}

/// How kustomize prints a plain scalar that it takes for a time, where that is not the text itself.
fn kustomize_time(text: &str) -> Option<EcoString> {
    let bytes = text.as_bytes();
    // Most texts are no times, which the first five bytes show.
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut rest = text;
    let number = |rest: &mut &str, longest: usize| -> Option<u32> {
        let count = rest.bytes().take(longest).take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(count);
        *rest = after;
        digits.parse().ok()
    };
    let literal = |rest: &mut &str, expected: char| -> Option<()> {
        *rest = rest.strip_prefix(expected)?;
        Some(())
    };
    let year = number(&mut rest, 4)?;
    literal(&mut rest, '-')?;
    let month = number(&mut rest, 2)?;
    literal(&mut rest, '-')?;
    let day = number(&mut rest, 2)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    if rest.is_empty() {
        return Some(eco_format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
    }
    let separator = rest.chars().next()?;
    if !matches!(separator, 'T' | 't' | ' ') {
        return None;
    }
    rest = &rest[1..];
    let hour = number(&mut rest, 2)?;
    literal(&mut rest, ':')?;
    let minute = number(&mut rest, 2)?;
    literal(&mut rest, ':')?;
    let second = number(&mut rest, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        // Go's times have nanoseconds and print no zeros at the end.
        fraction = after[..count.min(9)].trim_end_matches('0');
        rest = &after[count..];
    }
    let zone = if separator == ' ' {
        rest.is_empty().then_some("Z")?
    } else if rest == "Z" {
        "Z"
    } else {
        let [b'+' | b'-', h1, h2, b':', m1, m2] = rest.as_bytes() else { return None };
        if ![h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        if matches!(&rest[1..], "00:00") { "Z" } else { rest }
    };
    let dot = if fraction.is_empty() { "" } else { "." };
    let printed = eco_format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}{zone}"
    );
    // A time that is printed as it was read does no harm.
    (printed != text).then_some(printed)
}

/// Whether go-yaml takes the text for a time, which `!!timestamp` requests.
pub(super) fn is_time(text: &str) -> bool {
    kustomize_time(text).is_some() || {
        // The one spelling that is printed as it was read.
        text.len() >= 20
            && text.as_bytes()[10] == b'T'
            && kustomize_time(&text.replacen('T', "t", 1)).is_some()
    }
}

/// A float as a key: `strconv.FormatFloat(number, 'g', -1, 32)`, which sigs.k8s.io/yaml writes.
#[expect(clippy::cast_possible_truncation, reason = "kubectl does the same to keys")]
pub(super) fn float_key(number: f64) -> EcoString {
    // Of 32 bits: the format of a key is shorter than that of a value.
    let short = number as f32;
    if short.is_infinite() {
        return if short > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    // The shortest digits; an exponent from 6 on or below -4 is written as one.
    let scientific = format!("{short:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&power) {
        return eco_format!("{short}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    eco_format!("{mantissa}e{sign}{:02}", power.unsigned_abs())
}
