//! Formats values for `printf` by type and verb; `numbers` formats numbers.

use super::{Outcome, Printer};
use crate::quantity::go_quote;
use crate::template::value::{Root, Value};
use std::fmt::Write;

impl<'a> Printer<'_, 'a> {
    /// Writes the type and the value.
    pub(super) fn typed(&mut self, value: &Value<'a>) -> Outcome {
        if matches!(value, Value::Absent) {
            return self.push("<nil>");
        }
        self.push(value.type_name())?;
        self.push("=")?;
        self.value(value, 'v')
    }

    pub(super) fn bad_verb(&mut self, value: &Value<'a>, verb: char) -> Outcome {
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

    /// Writes a top-level value.
    pub(super) fn value(&mut self, value: &Value<'a>, verb: char) -> Outcome {
        match (verb, value) {
            ('T' | 'v', Value::Absent) => self.pad("<nil>"),
            (_, Value::Absent) => self.bad_verb(value, verb),
            ('T', _) => self.text(value.type_name()),
            // The result would depend on an address or on the fields of a time.
            ('p', Value::Map(_) | Value::List(..) | Value::Nil(_))
            | ('p' | 'w', Value::Owner(_) | Value::Time(_) | Value::Root(Root::Metadata(_))) => {
                self.unsupported(value, verb)
            }
            // No value is a pointer, or an error to wrap.
            ('p' | 'w', _) => self.bad_verb(value, verb),
            _ => self.part(value, verb),
        }
    }

    /// Writes a value, top-level or nested.
    pub(super) fn part(&mut self, value: &Value<'a>, verb: char) -> Outcome {
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
                // `%#v` prints a byte in hexadecimal with its prefix.
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
                    // The imaginary part always has a sign, which joins the two.
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
                    // The decoder makes no empty maps: an empty one is nil.
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

    /// Writes members with their keys: the text key of a mapping, the field name of a struct.
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

    /// Returns the text cut to the precision.
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
        // Backquotes, as Go writes a text that needs no escapes.
        if self.flags.sharp && text.chars().all(raw) {
            return self.pad(&format!("`{text}`"));
        }
        self.pad(&in_ascii(&go_quote(text), self.flags.plus))
    }

    /// Writes the bytes of a text in hexadecimal.
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
}

/// Returns the quoted text; escapes non-ASCII characters if `requested`.
pub(super) fn in_ascii(quoted: &str, requested: bool) -> String {
    if !requested {
        return quoted.to_owned();
    }
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        // Writing to a string cannot fail.
        let _ = match u32::from(c) {
            0..=0x7f => write!(out, "{c}"),
            code @ ..=0xffff => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    }
    out
}
