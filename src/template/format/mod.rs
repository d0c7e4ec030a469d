//! The directives of `printf`.
//!
//! In: a format and values. Out: the text, with Go's marks such as `%!d(string=x)` for values that
//! do not match. Rules follow Go's `fmt/print.go` and `fmt/format.go`.

mod numbers;
mod values;

use crate::template::error::{Error, Failure};
use crate::template::exec::Machine;
use crate::template::parse::parse;
use crate::template::value::Value;

/// Formats one text, like Go's `fmt.Sprintf`.
///
/// # Errors
/// `Unsupported` when the result would exceed 16 MiB.
pub fn sprintf_text(format: &str, text: &str) -> Result<String, Error> {
    // The machine that counts the work requires a program; an empty one is enough.
    parse("", "")
        .and_then(|program| {
            sprintf(&mut Machine::new(&program), format, &[Value::Str(text.into())])
        })
        .map_err(|failure| failure.into_error(format))
}

/// Formats values.
///
/// # Errors
/// `Unsupported` for output that depends on addresses, for binary forms of floats, and beyond the
/// machine's limits.
pub(super) fn sprintf<'a>(
    machine: &mut Machine<'a>,
    format: &str,
    values: &[Value<'a>],
) -> Result<String, Failure> {
    let mut printer = Printer { machine, out: String::new(), flags: Flags::default() };
    printer.directives(format, values)?;
    Ok(printer.out)
}

/// The flags between `%` and the verb.
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

/// The position in the format and in the values.
struct Reader<'f, 'v, 'a> {
    format: &'f str,
    values: &'v [Value<'a>],
    pos: usize,
    next: usize,
    /// True when a value was selected by its number; then unused arguments are not reported.
    reordered: bool,
    /// True while the numbers in brackets are valid.
    good: bool,
    /// True when the last item read was a number in brackets.
    after_index: bool,
}

impl Reader<'_, '_, '_> {
    fn peek(&self) -> Option<u8> {
        self.format.as_bytes().get(self.pos).copied()
    }

    /// Reads a number of at most a million. Beyond it, Go stops reading the number and the rest.
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

    /// Reads `[2]`: the number of the next value.
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

    /// Reads `*`: takes the number from the values.
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
            // A wrong number in brackets spoils its own directive only.
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
                    // For these verbs the two flags mean other forms of the value, and no prefix or
                    // sign.
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
        // With numbered values Go cannot tell which are left over.
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
        // Fast path of Go: before a lowercase verb without width or precision, it reads no numbers
        // and keeps the state.
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
                        // A negative width pads on the right, where zeros would change the number.
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
        Ok(())
    }

    fn push(&mut self, text: &str) -> Outcome {
        self.machine.charge(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    /// Writes the text padded to its width in characters.
    fn pad(&mut self, text: &str) -> Outcome {
        let missing = self.flags.width.unwrap_or(0).saturating_sub(text.chars().count());
        self.machine.charge(missing)?;
        let fill = if self.flags.zero && !self.flags.minus { "0" } else { " " }.repeat(missing);
        if self.flags.minus {
            self.push(text)?;
            self.push(&fill)
        } else {
            self.push(&fill)?;
            self.push(text)
        }
    }

    /// Writes a number padded with spaces only, because its zeros are already among the digits.
    fn pad_number(&mut self, text: &str) -> Outcome {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.pad(text)?;
        self.flags.zero = zero;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::sprintf_text;

    #[test]
    fn formats_come_out_as_go_prints_them() {
        for (format, expected) in [
            ("up{n=\"%s\"}", "up{n=\"C\"}"),
            ("%v", "C"),
            ("%s %s", "C %!s(MISSING)"),
            ("plain", "plain%!(EXTRA string=C)"),
            ("100%%", "100%%!(EXTRA string=C)"),
            ("%[1]s and %[1]s", "C and C"),
            ("%[2]s", "%!s(BADINDEX)"),
            ("100 % 5", "100 %!(NOVERB)%!(EXTRA string=C)"),
            ("100 % 5 > %s", "100 %! (string=    C)> %!s(MISSING)"),
            ("%", "%!(NOVERB)%!(EXTRA string=C)"),
            ("%d", "%!d(string=C)"),
            ("%5s|", "    C|"),
            ("%-5s|", "C    |"),
            ("%.0s|", "|"),
            ("%q %T", "\"C\" %!T(MISSING)"),
            ("%T", "string"),
            ("%x", "43"),
            ("%*s", "%!(BADWIDTH)%!s(MISSING)"),
            ("%z %s", "%!z(string=C) %!s(MISSING)"),
            ("%[x]s", "%!s(BADINDEX)"),
            ("%é", "%!é(string=C)"),
        ] {
            assert_eq!(sprintf_text(format, "C").unwrap(), expected, "{format}");
        }
    }

    #[test]
    fn malformed_formats_never_fail() {
        for format in [
            "%[",
            "%[]",
            "%[1",
            "%[1]",
            "%99999999999s",
            "%.",
            "%.*",
            "%*",
            "%[1]*s",
            "% ",
            "%0",
            "é%",
        ] {
            assert!(!sprintf_text(format, "C").unwrap().is_empty(), "{format}");
        }
    }
}
