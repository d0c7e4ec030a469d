//! JSON in lines: two spaces for each level, and a list or mapping of scalars on one line where it
//! fits.
//!
//! In: a value and a writer. Out: its JSON. A plan of a fleet is millions of small mappings, of which
//! lines of their own would be a third of its bytes.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::cell::RefCell;
use std::io::{self, Write};

/// The longest line that a list or mapping is joined to.
const WIDTH: usize = 100;

/// Writes a value.
pub(super) fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let page = RefCell::new(Page { out, depth: 0, column: 0, open: None, is_empty: false });
    let mut serializer = Serializer::with_formatter(Text(&page), Lines(&page));
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// A list or mapping of which only scalars were written so far.
struct Open {
    bracket: u8,
    /// Its items without what separates them.
    text: Vec<u8>,
    /// Where each of them begins.
    items: Vec<usize>,
}

struct Page<'o> {
    out: &'o mut dyn Write,
    /// Lists and mappings around the place.
    depth: usize,
    /// Bytes of the line.
    column: usize,
    open: Option<Open>,
    /// The innermost list or mapping has no item.
    is_empty: bool,
}

impl Page<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.column += text.len();
        self.out.write_all(text)
    }

    fn line(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")?;
        self.column = 0;
        for _ in 0..self.depth {
            self.write(b"  ")?;
        }
        Ok(())
    }

    /// A scalar, or a part of one or of a key.
    fn text(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.open {
            Some(open) => open.text.extend_from_slice(text),
            None => self.write(text)?,
        }
        Ok(())
    }

    fn begin(&mut self, bracket: u8) -> io::Result<()> {
        // What has another list or object inside takes a line for each item.
        self.in_lines()?;
        self.depth += 1;
        self.is_empty = true;
        self.open = Some(Open { bracket, text: Vec::new(), items: Vec::new() });
        Ok(())
    }

    /// A key, or an item of a list.
    fn item(&mut self) -> io::Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        // Whether the items share a line is known only at the end.
        if let Some(open) = &mut self.open {
            open.items.push(open.text.len());
            return Ok(());
        }
        if !is_first {
            self.write(b",")?;
        }
        self.line()
    }

    /// Gives each item of the open list or mapping a line.
    fn in_lines(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.write(&[open.bracket])?;
        for (at, start) in open.items.iter().enumerate() {
            let end = open.items.get(at + 1).copied().unwrap_or(open.text.len());
            if at > 0 {
                self.write(b",")?;
            }
            self.line()?;
            self.write(&open.text[*start..end])?;
        }
        Ok(())
    }

    fn end(&mut self, bracket: u8) -> io::Result<()> {
        self.is_empty = false;
        if let Some(open) = &self.open {
            let (pad, count): (&[u8], _) = match (open.bracket, open.items.len()) {
                (b'{', 1..) => (b" ", open.items.len()),
                (_, count) => (b"", count),
            };
            // Two brackets with their padding, and `, ` between items.
            let length = open.text.len() + 2 * (1 + pad.len()) + 2 * count.saturating_sub(1);
            if count == 0 || self.column + length <= WIDTH {
                self.depth -= 1;
                return self.joined(pad, bracket);
            }
        }
        self.in_lines()?;
        self.depth -= 1;
        self.line()?;
        self.write(&[bracket])
    }

    /// Writes the open list or mapping on the line.
    fn joined(&mut self, pad: &[u8], bracket: u8) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.write(&[open.bracket])?;
        self.write(pad)?;
        for (at, start) in open.items.iter().enumerate() {
            let end = open.items.get(at + 1).copied().unwrap_or(open.text.len());
            if at > 0 {
                self.write(b", ")?;
            }
            self.write(&open.text[*start..end])?;
        }
        self.write(pad)?;
        self.write(&[bracket])
    }
}

/// Takes scalars and keys.
struct Text<'p, 'o>(&'p RefCell<Page<'o>>);

impl Write for Text<'_, '_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().text(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().out.flush()
    }
}

/// Takes what is around them.
struct Lines<'p, 'o>(&'p RefCell<Page<'o>>);

impl Formatter for Lines<'_, '_> {
    fn begin_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().begin(b'[')
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().end(b']')
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        self.0.borrow_mut().item()
    }

    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().begin(b'{')
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().end(b'}')
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        self.0.borrow_mut().item()
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.0.borrow_mut().text(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        write(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn scalars_share_a_line_where_it_is_not_too_long() {
        let long = "x".repeat(60);
        for (value, expected) in [
            (json!({}), "{}"),
            (json!([[], {}]), "[\n  [],\n  {}\n]"),
            (json!({"a": 1, "b": null}), "{ \"a\": 1, \"b\": null }"),
            (
                json!({"a": 1, "b": ["x", true], "c": 2}),
                "{\n  \"a\": 1,\n  \"b\": [\"x\", true],\n  \"c\": 2\n}",
            ),
            (json!([[long, long]]), &format!("[\n  [\n    \"{long}\",\n    \"{long}\"\n  ]\n]")),
            (json!("a\"\n"), "\"a\\\"\\n\""),
        ] {
            assert_eq!(written(&value), expected);
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-z]{0,120}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-z]{1,9}", inner), 0..6)
                    .prop_map(|collection| Value::Object(collection.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_the_value(value in value()) {
            prop_assert_eq!(serde_json::from_str::<Value>(&written(&value)).unwrap(), value);
        }
    }
}
