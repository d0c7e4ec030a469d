//! Reads Go's literals and formats numbers like Go.

use super::error::{Failure, Kind};
use crate::quantity::{go_quote, parse_go_float, underscores_separate_digits};

/// Reports whether a character is printable, like Go's `unicode.IsPrint`.
pub(super) fn is_printable(c: char) -> bool {
    // Go escapes what it cannot print, and an escape is longer than the character with its quotes.
    matches!(c, '"' | '\\') || go_quote(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() + 2
}

/// Reads a literal in any of the three quote styles, like `strconv.Unquote`.
///
/// # Errors
/// `None`: not a literal. A failure: a literal whose bytes are not UTF-8.
pub(super) fn unquoted(literal: &str) -> Result<String, Option<Failure>> {
    let quote = literal.chars().next().ok_or(None)?;
    let inner =
        literal.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).ok_or(None)?;
    // Raw texts have no escapes; Go drops carriage returns from them.
    if quote == '`' {
        return Ok(inner.replace('\r', ""));
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while !chars.as_str().is_empty() {
        match unit(&mut chars, quote).ok_or(None)? {
            Unit::Byte(byte) => bytes.push(byte),
            Unit::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    String::from_utf8(bytes).map_err(|_| {
        Some(Failure::new(
            Kind::Unsupported,
            "a literal of bytes that are no UTF-8 text is not supported",
        ))
    })
}

/// Reads a character constant, like `newNumber`.
///
/// # Errors
/// Go's error message.
pub(super) fn character(literal: &str) -> Result<i64, Failure> {
    let mut chars = literal.chars();
    let unit = chars
        .next()
        .and_then(|quote| unit(&mut chars, quote))
        .ok_or_else(|| Failure::new(Kind::Syntax, "invalid syntax"))?;
    if chars.as_str() != "'" {
        return Err(Failure::new(Kind::Syntax, format!("malformed character constant: {literal}")));
    }
    Ok(match unit {
        Unit::Byte(byte) => i64::from(byte),
        Unit::Char(c) => i64::from(u32::from(c)),
    })
}

/// One character or byte of a literal.
enum Unit {
    Byte(u8),
    Char(char),
}

/// Reads a character or an escape, like `strconv.UnquoteChar`.
fn unit(chars: &mut std::str::Chars<'_>, quote: char) -> Option<Unit> {
    let c = chars.next()?;
    if c == quote || c == '\n' {
        return None;
    }
    if c != '\\' {
        return Some(Unit::Char(c));
    }
    let escape = chars.next()?;
    let mut number = |radix: u32, count: usize, first: u32| {
        (0..count).try_fold(first, |value, _| Some(value * radix + chars.next()?.to_digit(radix)?))
    };
    Some(match escape {
        'a' => Unit::Char('\x07'),
        'b' => Unit::Char('\x08'),
        'f' => Unit::Char('\x0c'),
        'n' => Unit::Char('\n'),
        'r' => Unit::Char('\r'),
        't' => Unit::Char('\t'),
        'v' => Unit::Char('\x0b'),
        '\\' => Unit::Char('\\'),
        c if c == quote => Unit::Char(c),
        'x' => Unit::Byte(u8::try_from(number(16, 2, 0)?).ok()?),
        '0'..='7' => Unit::Byte(u8::try_from(number(8, 2, escape.to_digit(8)?)?).ok()?),
        'u' | 'U' => Unit::Char(char::from_u32(number(16, if escape == 'u' { 4 } else { 8 }, 0)?)?),
        _ => return None,
    })
}

/// A number constant, with its value in every type that can represent it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    /// An integer that only an unsigned type can represent.
    TooLarge,
    Float(f64),
    /// `1i`.
    Imaginary(f64),
}

/// Reads a number, like `newNumber` and `idealConstant` of Go.
///
/// # Errors
/// Go's error message.
pub(super) fn number(text: &str) -> Result<Number, Failure> {
    let syntax = |what: &str| Failure::new(Kind::Syntax, format!("{what}: {}", go_quote(text)));
    let finite = |text: &str| parse_go_float(text).filter(|number| number.is_finite());
    if let Some(number) = text.strip_suffix('i').and_then(finite) {
        return Ok(Number::Imaginary(number));
    }
    // Go parses the magnitude as an unsigned number: the least number has no positive one of its
    // type.
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(magnitude) = integer(unsigned) {
        let value = if text.starts_with('-') {
            0_i64.checked_sub_unsigned(magnitude)
        } else {
            i64::try_from(magnitude).ok()
        };
        return match value {
            Some(value) => Ok(Number::Int(value)),
            None if unsigned.len() == text.len() => Ok(Number::TooLarge),
            None => Err(syntax("integer overflow")),
        };
    }
    // A number without point or exponent that reached this place is too long for an integer.
    match finite(text) {
        Some(number) if text.contains(['.', 'e', 'E', 'p', 'P']) => Ok(Number::Float(number)),
        Some(_) => Err(syntax("integer overflow")),
        None => Err(syntax("illegal number syntax")),
    }
}

/// Reads an integer in any of Go's bases.
fn integer(text: &str) -> Option<u64> {
    if !underscores_separate_digits(text) {
        return None;
    }
    let digits = text.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        Some(prefix) if prefix.starts_with('0') => (&digits[1..], 8),
        _ => (digits.as_str(), 10),
    };
    // Rust's parser would accept a sign here.
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, radix).ok() }
}

/// Formats a float like `%v`: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
pub(super) fn float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_go_reads_them() {
        for (text, expected) in [
            ("0", Some(Number::Int(0))),
            ("-0", Some(Number::Int(0))),
            ("+7", Some(Number::Int(7))),
            ("017", Some(Number::Int(15))),
            ("0x_1F", Some(Number::Int(31))),
            ("0b11", Some(Number::Int(3))),
            ("-0xE", Some(Number::Int(-14))),
            ("1_000", Some(Number::Int(1000))),
            ("1__0", None),
            ("089", None),
            ("-9223372036854775808", Some(Number::Int(i64::MIN))),
            ("9223372036854775808", Some(Number::TooLarge)),
            ("-9223372036854775809", None),
            ("1.", Some(Number::Float(1.0))),
            (".5", Some(Number::Float(0.5))),
            ("1e999", None),
            ("0x1p4", Some(Number::Float(16.0))),
            ("2i", Some(Number::Imaginary(2.0))),
            (".", None),
            ("", None),
        ] {
            assert_eq!(number(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn floats_print_as_go_prints_them() {
        for (value, expected) in [
            (1e20, "1e+20"),
            (1_234_567.0, "1.234567e+06"),
            (100_000.5, "100000.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-2.0, "-2"),
        ] {
            assert_eq!(float(value), expected);
        }
    }

    #[test]
    fn literals_read_as_in_go() {
        for (literal, expected) in [
            (r#""a\n\x41\101\u00e9\"""#, Some("a\nAA\u{e9}\"")),
            (r#""\'""#, None),
            (r"'\''", Some("'")),
            ("`a\r\n`", Some("a\n")),
            (r#""\q""#, None),
            (r#""\uD800""#, None),
        ] {
            assert_eq!(unquoted(literal).ok().as_deref(), expected, "{literal}");
        }
        assert!(matches!(unquoted(r#""\xff""#), Err(Some(_))), "no text");
    }
}
