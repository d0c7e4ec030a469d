//! The directives of `printf`.
//!
//! In: a format and values. Out: the text, with Go's marks such as `%!d(string=x)` for what does
//! not fit. Rules follow Go's `fmt/print.go` and `fmt/format.go`.

use super::error::Failure;
use super::exec::Machine;
use super::quote;
use super::value::{Root, Value};
use crate::quantity::go_quote;
use std::fmt::Write;

/// The widest and most precise directive. Go takes a million; nobody pads to more than a thousand.
const MAX_NUMBER: usize = 1000;

/// Formats values.
///
/// # Errors
/// `Unsupported` for what depends on addresses, for binary forms of fractions, and beyond the
/// machine's bounds.
pub(super) fn sprintf<'a>(
    machine: &mut Machine<'a>,
    format: &str,
    values: &[Value<'a>],
) -> Result<String, Failure> {
    let mut printer = Printer { machine, out: String::new(), flags: Flags::default() };
    printer.directives(format, values)?;
    Ok(printer.out)
}

/// What stands between `%` and the verb.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    sharp: bool,
    zero: bool,
    plus: bool,
    minus: bool,
    space: bool,
    /// `%#v`.
    go_syntax: bool,
    /// `%+v`.
    names: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Where in the format and among the values the reader is.
struct Reader<'f, 'v, 'a> {
    format: &'f str,
    values: &'v [Value<'a>],
    pos: usize,
    next: usize,
    /// A value was named by its number, so that nobody counts what is left.
    reordered: bool,
    /// The numbers in brackets name values.
    good: bool,
    /// A number in brackets was read last.
    after_index: bool,
}

impl Reader<'_, '_, '_> {
    fn peek(&self) -> Option<u8> {
        self.format.as_bytes().get(self.pos).copied()
    }

    /// A number, at most a million; Go reads none, and nothing further, beyond.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if number.is_some_and(|number| number > 1_000_000) {
                self.pos = self.format.len();
                return None;
            }
            number = Some(number.unwrap_or(0) * 10 + usize::from(digit - b'0'));
            self.pos += 1;
        }
        number
    }

    /// `[2]`: the number of the value that comes next.
    fn index(&mut self) {
        self.after_index = false;
        if self.peek() != Some(b'[') {
            return;
        }
        self.reordered = true;
        let rest = &self.format[self.pos..];
        let Some(close) = rest.find(']').filter(|_| rest.len() >= 3) else {
            self.good = false;
            self.pos += 1;
            return;
        };
        let digits = &rest[1..close];
        let number = digits
            .parse::<usize>()
            .ok()
            .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        self.pos += close + 1;
        self.after_index = number.is_some();
        match number
            .and_then(|number| number.checked_sub(1))
            .filter(|index| *index < self.values.len())
        {
            Some(index) => self.next = index,
            None => self.good = false,
        }
    }

    /// `*`: a number from the values.
    fn star(&mut self) -> Option<i64> {
        self.pos += 1;
        self.after_index = false;
        let value = self.values.get(self.next)?;
        self.next += 1;
        value.as_int().filter(|number| (-1_000_000..=1_000_000).contains(number))
    }
}

struct Printer<'m, 'a> {
    machine: &'m mut Machine<'a>,
    out: String,
    flags: Flags,
}

type Outcome = Result<(), Failure>;

impl<'a> Printer<'_, 'a> {
    fn directives(&mut self, format: &str, values: &[Value<'a>]) -> Outcome {
        let mut reader = Reader {
            format,
            values,
            pos: 0,
            next: 0,
            reordered: false,
            good: true,
            after_index: false,
        };
        while let Some(length) = format[reader.pos..].find('%') {
            self.push(&format[reader.pos..reader.pos + length])?;
            reader.pos += length + 1;
            reader.good = true;
            self.flags = Flags::default();
            self.read_flags(&mut reader)?;
            let Some(verb) = format[reader.pos..].chars().next() else {
                self.push("%!(NOVERB)")?;
                break;
            };
            reader.pos += verb.len_utf8();
            match values.get(reader.next) {
                _ if verb == '%' => self.push("%")?,
                _ if !reader.good => self.push(&format!("%!{verb}(BADINDEX)"))?,
                None => self.push(&format!("%!{verb}(MISSING)"))?,
                Some(value) => {
                    if matches!(verb, 'v' | 'w') {
                        let Flags { sharp, plus, .. } = self.flags;
                        self.flags = Flags {
                            go_syntax: sharp,
                            names: plus,
                            sharp: false,
                            plus: false,
                            ..self.flags
                        };
                    }
                    self.value(value, verb)?;
                    reader.next += 1;
                }
            }
        }
        self.push(&format[reader.pos.min(format.len())..])?;
        if reader.reordered || reader.next >= values.len() {
            return Ok(());
        }
        self.flags = Flags::default();
        self.push("%!(EXTRA ")?;
        for (position, value) in values[reader.next..].iter().enumerate() {
            if position > 0 {
                self.push(", ")?;
            }
            self.typed(value)?;
        }
        self.push(")")
    }

    fn read_flags(&mut self, reader: &mut Reader<'_, '_, 'a>) -> Outcome {
        while let Some(flag) = reader.peek().filter(|byte| b"#0+- ".contains(byte)) {
            match flag {
                b'#' => self.flags.sharp = true,
                b'0' => self.flags.zero = true,
                b'+' => self.flags.plus = true,
                b'-' => self.flags.minus = true,
                _ => self.flags.space = true,
            }
            reader.pos += 1;
        }
        // Go leaves this as it was before a plain verb, and reads no number there.
        if reader.peek().is_some_and(|byte| byte.is_ascii_lowercase())
            && reader.next < reader.values.len()
        {
            return Ok(());
        }
        reader.index();
        if reader.peek() == Some(b'*') {
            match reader.star() {
                Some(width) => {
                    self.flags.width = usize::try_from(width.unsigned_abs()).ok();
                    if width < 0 {
                        (self.flags.minus, self.flags.zero) = (true, false);
                    }
                }
                None => self.push("%!(BADWIDTH)")?,
            }
        } else {
            self.flags.width = reader.number();
            reader.good &= !(reader.after_index && self.flags.width.is_some());
        }
        if reader.peek() == Some(b'.') && reader.pos + 1 < reader.format.len() {
            reader.pos += 1;
            reader.good &= !reader.after_index;
            reader.index();
            if reader.peek() == Some(b'*') {
                self.flags.precision =
                    reader.star().and_then(|precision| usize::try_from(precision).ok());
                if self.flags.precision.is_none() {
                    self.push("%!(BADPREC)")?;
                }
            } else {
                self.flags.precision = Some(reader.number().unwrap_or(0));
            }
        }
        if !reader.after_index {
            reader.index();
        }
        let most = self.flags.width.max(self.flags.precision).unwrap_or(0);
        if most > MAX_NUMBER {
            Err(self
                .machine
                .unsupported(format!("a width or precision above {MAX_NUMBER} is not supported")))
        } else {
            Ok(())
        }
    }

    fn push(&mut self, text: &str) -> Outcome {
        self.machine.charge(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    /// The text in its width, counted in characters.
    fn pad(&mut self, text: &str) -> Outcome {
        let missing = self.flags.width.unwrap_or(0).saturating_sub(text.chars().count());
        let fill = if self.flags.zero && !self.flags.minus { "0" } else { " " }.repeat(missing);
        if self.flags.minus {
            self.push(text)?;
            self.push(&fill)
        } else {
            self.push(&fill)?;
            self.push(text)
        }
    }

    /// The same, with spaces only: zeros are among the digits already.
    fn pad_number(&mut self, text: &str) -> Outcome {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(text)?;
        self.flags.zero = zero;
        Ok(())
    }

    /// The value behind its type.
    fn typed(&mut self, value: &Value<'a>) -> Outcome {
        if matches!(value, Value::Absent) {
            return self.push("<nil>");
        }
        self.push(value.type_name())?;
        self.push("=")?;
        self.value(value, 'v')
    }

    fn bad_verb(&mut self, value: &Value<'a>, verb: char) -> Outcome {
        self.push(&format!("%!{verb}("))?;
        self.typed(value)?;
        self.push(")")
    }

    fn unsupported(&mut self, value: &Value<'a>, verb: char) -> Outcome {
        Err(self.machine.unsupported(format!(
            "`%{verb}` of a value of type {} is not supported",
            value.type_name()
        )))
    }

    /// A value that stands alone.
    fn value(&mut self, value: &Value<'a>, verb: char) -> Outcome {
        match (verb, value) {
            ('T' | 'v', Value::Absent) => self.pad("<nil>"),
            (_, Value::Absent) => self.bad_verb(value, verb),
            ('T', _) => self.text(value.type_name()),
            // An address; and what is within a time.
            ('p', Value::Map(_) | Value::List(..) | Value::Nil(_))
            | ('p' | 'w', Value::Owner(_) | Value::Time(_) | Value::Root(Root::Metadata(_))) => {
                self.unsupported(value, verb)
            }
            // No value is an error that could be wrapped.
            ('p' | 'w', _) => self.bad_verb(value, verb),
            _ => self.part(value, verb),
        }
    }

    /// A value, alone or within another.
    fn part(&mut self, value: &Value<'a>, verb: char) -> Outcome {
        match value {
            Value::Bool(truth) if matches!(verb, 't' | 'v') => {
                self.pad(if *truth { "true" } else { "false" })
            }
            Value::Int(number) => self.integer(
                value,
                verb,
                number.unsigned_abs(),
                *number < 0,
                number.cast_unsigned(),
            ),
            Value::Byte(number) if verb == 'v' && self.flags.go_syntax => {
                let sharp = std::mem::replace(&mut self.flags.sharp, true);
                self.digits(u64::from(*number), false, 16, verb)?;
                self.flags.sharp = sharp;
                Ok(())
            }
            Value::Byte(number) => {
                self.integer(value, verb, u64::from(*number), false, u64::from(*number))
            }
            Value::Float(number) => match verb {
                'v' | 'g' | 'G' | 'f' | 'F' | 'e' | 'E' => self.float(*number, verb),
                'b' | 'x' | 'X' => self.unsupported(value, verb),
                _ => self.bad_verb(value, verb),
            },
            Value::Imaginary(number) => match verb {
                'v' | 'g' | 'G' | 'f' | 'F' | 'e' | 'E' => {
                    self.push("(")?;
                    self.float(0.0, verb)?;
                    let plus = std::mem::replace(&mut self.flags.plus, true);
                    self.float(*number, verb)?;
                    self.flags.plus = plus;
                    self.push("i)")
                }
                'b' | 'x' | 'X' => self.unsupported(value, verb),
                _ => self.bad_verb(value, verb),
            },
            Value::Str(text) => match verb {
                'v' if self.flags.go_syntax => self.quoted(text),
                'v' | 's' => self.text(text),
                'q' => self.quoted(text),
                'x' | 'X' => self.hexadecimal(text, verb),
                _ => self.bad_verb(value, verb),
            },
            Value::Map(pairs) => {
                let members: Vec<_> = pairs
                    .iter()
                    .map(|(key, value)| {
                        (Some(Value::Str((*key).into())), Value::Str((*value).into()))
                    })
                    .collect();
                match self.flags.go_syntax {
                    true if members.is_empty() => self.push("map[string]string(nil)"),
                    true => self.members("map[string]string{", &members, "}", ", ", verb),
                    false => self.members("map[", &members, "]", " ", verb),
                }
            }
            Value::Root(root @ (Root::Domain(_) | Root::Path { .. })) => {
                let mut members = Vec::new();
                for name in root.fields() {
                    let Some(field) = root.field(name) else { continue };
                    let named =
                        (self.flags.names || self.flags.go_syntax).then(|| Value::Nil(name));
                    members.push((named, field.map_err(|failure| self.machine.place(failure))?));
                }
                if self.flags.go_syntax {
                    return self.members(
                        &format!("{}{{", value.type_name()),
                        &members,
                        "}",
                        ", ",
                        verb,
                    );
                }
                self.members("{", &members, "}", " ", verb)
            }
            Value::List(name, items) => {
                let members: Vec<_> = items.iter().map(|item| (None, item.clone())).collect();
                match self.flags.go_syntax {
                    true if members.is_empty() => self.push(&format!("{name}(nil)")),
                    true => self.members(&format!("{name}{{"), &members, "}", ", ", verb),
                    false => self.members("[", &members, "]", " ", verb),
                }
            }
            Value::Root(_) | Value::Nil(_) | Value::Owner(_) | Value::Time(_) => {
                let plain = self.flags.width.is_none()
                    && self.flags.precision.is_none()
                    && !self.flags.names
                    && !self.flags.go_syntax;
                if verb != 'v' || !plain {
                    return self.unsupported(value, verb);
                }
                let text = self.machine.print(value)?;
                self.push(&text)
            }
            _ => self.bad_verb(value, verb),
        }
    }

    /// Members with their keys: of a mapping a text, of a struct a name.
    fn members(
        &mut self,
        open: &str,
        members: &[(Option<Value<'a>>, Value<'a>)],
        close: &str,
        between: &str,
        verb: char,
    ) -> Outcome {
        self.push(open)?;
        for (position, (key, value)) in members.iter().enumerate() {
            if position > 0 {
                self.push(between)?;
            }
            match key {
                Some(Value::Nil(name)) => self.push(&format!("{name}:"))?,
                Some(key) => {
                    self.part(key, verb)?;
                    self.push(":")?;
                }
                None => {}
            }
            self.part(value, verb)?;
        }
        self.push(close)
    }

    /// As much of a text as the precision allows.
    fn cut<'t>(&self, text: &'t str) -> &'t str {
        let end = self.flags.precision.and_then(|count| text.char_indices().nth(count));
        end.map_or(text, |(end, _)| &text[..end])
    }

    fn text(&mut self, text: &str) -> Outcome {
        self.pad(self.cut(text))
    }

    fn quoted(&mut self, text: &str) -> Outcome {
        let text = self.cut(text);
        let raw = |c: char| c == '\t' || !(c.is_ascii_control() || matches!(c, '`' | '\u{feff}'));
        if self.flags.sharp && text.chars().all(raw) {
            return self.pad(&format!("`{text}`"));
        }
        self.pad(&in_ascii(&go_quote(text), self.flags.plus))
    }

    /// The bytes of a text.
    fn hexadecimal(&mut self, text: &str, verb: char) -> Outcome {
        let bytes = &text.as_bytes()[..self.flags.precision.unwrap_or(text.len()).min(text.len())];
        let digit_pair =
            |byte: &u8| if verb == 'x' { format!("{byte:02x}") } else { format!("{byte:02X}") };
        let prefix =
            if self.flags.sharp && !bytes.is_empty() { format!("0{verb}") } else { String::new() };
        let pairs: Vec<String> = bytes.iter().map(digit_pair).collect();
        let out = if self.flags.space { pairs.join(&format!(" {prefix}")) } else { pairs.concat() };
        self.pad(&(prefix + &out))
    }

    /// An integer by its magnitude and sign; `bits` is the same as Go converts it to a code point.
    fn integer(
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
                let mut out = format!(
                    "U+{bits:0digits$X}",
                    digits = self.flags.precision.unwrap_or(0).max(4)
                );
                let shown = u32::try_from(bits)
                    .ok()
                    .and_then(char::from_u32)
                    .filter(|c| self.flags.sharp && quote::is_printable(*c));
                if let Some(c) = shown {
                    // Writing to a text cannot fail.
                    let _ = write!(out, " '{c}'");
                }
                self.pad_number(&out)
            }
            _ => self.bad_verb(value, verb),
        }
    }

    fn digits(&mut self, magnitude: u64, negative: bool, base: u32, verb: char) -> Outcome {
        let flags = self.flags;
        if flags.precision == Some(0) && magnitude == 0 {
            return self.pad_number("");
        }
        let sign = match negative {
            true => "-",
            false if flags.plus => "+",
            false if flags.space => " ",
            false => "",
        };
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

    fn float(&mut self, number: f64, verb: char) -> Outcome {
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
            let least = flags.width.unwrap_or(0).saturating_sub(1);
            return self.push(&format!("{sign}{digits:0>least$}"));
        }
        self.pad(&format!("{sign}{digits}"))
    }
}

/// The quoted text, without characters beyond ASCII if asked.
fn in_ascii(quoted: &str, asked: bool) -> String {
    if !asked {
        return quoted.to_owned();
    }
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        // Writing to a text cannot fail.
        let _ = match u32::from(c) {
            0..=0x7f => write!(out, "{c}"),
            code @ ..=0xffff => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    }
    out
}

/// `%e`, with as many digits behind the point, or as few as tell the number from others.
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

/// `%g`, with as many digits, or as few as tell the number from others.
fn shortest(magnitude: f64, precision: Option<usize>) -> String {
    let Some(precision) = precision.map(|digits| digits.max(1)) else {
        return quote::float(magnitude);
    };
    let text = scientific(magnitude, Some(precision - 1));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = digits.replace('.', "").trim_end_matches('0').len();
    // Digits before the point, as Go counts them: none for zero.
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

/// The number with a point, and for `%g` with the zeros that the precision asks for.
fn with_point(digits: &str, verb: char, precision: Option<usize>) -> String {
    let (mantissa, exponent) = digits.split_at(digits.find('e').unwrap_or(digits.len()));
    let significant =
        mantissa.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count();
    let zero = usize::from(mantissa == "0");
    let wanted = if matches!(verb, 'v' | 'g' | 'G') { precision.unwrap_or(6) } else { 0 };
    let point = if mantissa.contains('.') { "" } else { "." };
    format!("{mantissa}{point}{}{exponent}", "0".repeat(wanted.saturating_sub(significant + zero)))
}
