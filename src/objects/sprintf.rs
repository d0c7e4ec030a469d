//! Go's `fmt.Sprintf` with a format and one string argument, exactly.
//!
//! KEDA queries of users go through it upstream, so that a literal `%` is eaten. In: format and
//! argument. Out: the text, errors such as `%!d(string=x)` written into it as Go does
//! (fmt/print.go, doPrintf).

use std::fmt::Write;

/// Formats `argument` by `format`.
pub(crate) fn sprintf(format: &str, argument: &str) -> String {
    let mut printer = Printer {
        format: format.as_bytes(),
        at: 0,
        argument,
        next: 0,
        reordered: false,
        good: true,
        out: String::with_capacity(format.len() + 16),
    };
    while printer.text(format) {
        printer.verb(format);
    }
    if !printer.reordered && printer.next == 0 {
        printer.out.push_str("%!(EXTRA string=");
        printer.out.push_str(argument);
        printer.out.push(')');
    }
    printer.out
}

#[derive(Default)]
struct Flags {
    sharp: bool,
    zero: bool,
    plus: bool,
    minus: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

struct Printer<'a> {
    format: &'a [u8],
    at: usize,
    argument: &'a str,
    /// Position of the next argument: 0 is the only one.
    next: usize,
    /// An explicit index was seen.
    reordered: bool,
    /// The index of the current verb was a good one.
    good: bool,
    out: String,
}

/// Numbers above this are no numbers to Go.
const TOO_LARGE: usize = 1_000_000;

impl Printer<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// Copies up to the next verb and steps over its `%`; false at the end.
    fn text(&mut self, format: &str) -> bool {
        let rest = &format[self.at..];
        let Some(length) = rest.find('%') else {
            self.out.push_str(rest);
            return false;
        };
        self.out.push_str(&rest[..length]);
        self.at += length + 1;
        true
    }

    fn verb(&mut self, format: &str) {
        self.good = true;
        let mut flags = Flags::default();
        while let Some(c) = self.peek() {
            match c {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        let mut indexed = self.index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            self.star("%!(BADWIDTH)");
            indexed = false;
        } else {
            flags.width = self.number(self.format.len());
            if indexed && flags.width.is_some() {
                self.good = false;
            }
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if indexed {
                self.good = false;
            }
            indexed = self.index();
            if self.peek() == Some(b'*') {
                self.at += 1;
                self.star("%!(BADPREC)");
                indexed = false;
            } else {
                flags.precision = Some(self.number(self.format.len()).unwrap_or(0));
            }
        }
        if !indexed {
            self.index();
        }
        let Some(verb) = format[self.at..].chars().next() else {
            self.out.push_str("%!(NOVERB)");
            return;
        };
        self.at += verb.len_utf8();
        if verb == '%' {
            self.out.push('%');
        } else if !self.good {
            self.complain(verb, "(BADINDEX)");
        } else if self.next > 0 {
            self.complain(verb, "(MISSING)");
        } else {
            self.print(verb, &flags);
            self.next += 1;
        }
    }

    fn complain(&mut self, verb: char, about: &str) {
        self.out.push_str("%!");
        self.out.push(verb);
        self.out.push_str(about);
    }

    /// A width or precision from the argument, which is text and therefore none; it is used up all
    /// the same.
    fn star(&mut self, complaint: &str) {
        self.out.push_str(complaint);
        if self.next == 0 {
            self.next = 1;
        }
    }

    /// An explicit index such as `[1]`; whether there was a readable one.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let (index, width, readable) = self.bracket();
        self.at += width;
        if readable && index == Some(0) {
            self.next = 0;
            return true;
        }
        self.good = false;
        readable
    }

    /// The number in brackets, from 0, how long it is, and whether it is a number at all.
    fn bracket(&self) -> (Option<usize>, usize, bool) {
        let rest = &self.format[self.at..];
        let Some(close) = rest.iter().position(|c| *c == b']').filter(|_| rest.len() >= 3) else {
            return (None, 1, false);
        };
        let digits = &rest[1..close];
        match std::str::from_utf8(digits)
            .ok()
            .filter(|text| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()))
            .and_then(|text| text.parse::<usize>().ok())
        {
            Some(number) if number <= TOO_LARGE * 10 + 9 => {
                (number.checked_sub(1), close + 1, true)
            }
            _ => (None, close + 1, false),
        }
    }

    /// A run of digits; one too long for Go swallows the rest of the format.
    fn number(&mut self, end: usize) -> Option<usize> {
        let mut number = None;
        while let Some(c) = self.peek().filter(u8::is_ascii_digit) {
            let so_far = number.unwrap_or(0);
            if so_far > TOO_LARGE {
                self.at = end;
                return None;
            }
            number = Some(so_far * 10 + usize::from(c - b'0'));
            self.at += 1;
        }
        number
    }

    fn print(&mut self, verb: char, flags: &Flags) {
        let argument = self.argument;
        match verb {
            'v' if flags.sharp => {
                self.pad(&quoted(cut(argument, flags.precision).as_str(), flags.plus), flags);
            }
            's' | 'v' => self.pad(&cut(argument, flags.precision), flags),
            'q' if flags.sharp
                && !argument.contains(['`', '\u{feff}'])
                && argument.chars().all(|c| c == '\t' || !c.is_control()) =>
            {
                self.pad(&format!("`{}`", cut(argument, flags.precision)), flags);
            }
            'q' => self.pad(&quoted(cut(argument, flags.precision).as_str(), flags.plus), flags),
            'x' | 'X' => self.pad(&hexadecimal(argument.as_bytes(), verb == 'X', flags), flags),
            'T' => self.pad(&cut("string", flags.precision), flags),
            _ => {
                self.complain(verb, "(string=");
                self.pad(&cut(argument, flags.precision), flags);
                self.out.push(')');
            }
        }
    }

    /// Text padded to the width, counted in characters; zeros only to the left.
    fn pad(&mut self, text: &str, flags: &Flags) {
        let missing = flags.width.unwrap_or(0).saturating_sub(text.chars().count());
        if flags.minus {
            self.out.push_str(text);
        }
        let padding = if flags.zero && !flags.minus { '0' } else { ' ' };
        self.out.extend(std::iter::repeat_n(padding, missing));
        if !flags.minus {
            self.out.push_str(text);
        }
    }
}

fn cut(text: &str, precision: Option<usize>) -> String {
    text.chars().take(precision.unwrap_or(usize::MAX)).collect()
}

/// As strconv.Quote; names of components hold nothing beyond ASCII, so that the finer rules do not
/// matter.
fn quoted(text: &str, ascii: bool) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => {
                put(&mut out, format_args!("\\x{:02x}", u32::from(c)));
            }
            c if ascii && !c.is_ascii() && u32::from(c) > 0xffff => {
                put(&mut out, format_args!("\\U{:08x}", u32::from(c)));
            }
            c if ascii && !c.is_ascii() => put(&mut out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("writing to a string never fails");
}

fn hexadecimal(bytes: &[u8], upper: bool, flags: &Flags) -> String {
    let bytes = &bytes[..flags.precision.unwrap_or(bytes.len()).min(bytes.len())];
    let prefix = if upper { "0X" } else { "0x" };
    let mut out = String::new();
    for (position, byte) in bytes.iter().enumerate() {
        if flags.space && position > 0 {
            out.push(' ');
        }
        if flags.sharp && (flags.space || position == 0) {
            out.push_str(prefix);
        }
        if upper {
            put(&mut out, format_args!("{byte:02X}"));
        } else {
            put(&mut out, format_args!("{byte:02x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::sprintf;

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
            assert_eq!(sprintf(format, "C"), expected, "{format}");
        }
    }

    #[test]
    fn no_format_is_too_odd() {
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
            assert!(!sprintf(format, "C").is_empty(), "{format}");
        }
    }
}
