//! Objects as one text: YAML documents, or a `v1` `List` in JSON.

use crate::yaml::{self, Node, Value};
use std::fmt::Write;

/// Shape of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// YAML documents, `---` between them.
    #[default]
    Yaml,
    /// A JSON object of kind `List`.
    Json,
}

/// A text under construction. Objects are written one by one, so that they need not all be in
/// memory.
#[derive(Debug)]
pub struct Stream {
    format: Format,
    written: usize,
}

/// How deep an object of a `List` is.
const DEPTH: usize = 2;

impl Stream {
    /// Starts an empty text.
    pub fn new(format: Format) -> Self {
        Self { format, written: 0 }
    }

    /// Appends an object.
    pub fn push(&mut self, out: &mut String, object: &Node) {
        self.begin(out);
        match self.format {
            Format::Yaml => yaml::write(out, object),
            Format::Json => write(out, object, DEPTH),
        }
    }

    /// Appends an object that [`text`] wrote earlier, perhaps on another thread.
    pub fn push_text(&mut self, out: &mut String, text: &str) {
        self.begin(out);
        out.push_str(text);
    }

    /// Counts a document that the caller appended with its separator.
    pub fn skip(&mut self) {
        self.written += 1;
    }

    /// Appends the end of the text; an empty list is written as a list.
    pub fn end(self, out: &mut String) {
        if self.format == Format::Yaml {
            return;
        }
        // Nothing began the list yet.
        if self.written == 0 {
            out.push_str(HEAD);
            out.push_str("]\n}\n");
        } else {
            line(out, 1);
            out.push_str("]\n}\n");
        }
    }

    fn begin(&mut self, out: &mut String) {
        match self.format {
            Format::Yaml => {
                if self.written > 0 {
                    out.push_str("---\n");
                }
            }
            Format::Json => {
                if self.written == 0 {
                    out.push_str(HEAD);
                }
                separate(out, self.written, DEPTH);
            }
        }
        self.written += 1;
    }
}

const HEAD: &str = "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": [";

/// An object as it is in a text of this shape, for [`Stream::push_text`].
pub fn text(object: &Node, format: Format) -> String {
    let mut out = String::new();
    match format {
        Format::Yaml => yaml::write(&mut out, object),
        Format::Json => write(&mut out, object, DEPTH),
    }
    out
}

/// One object as a text of its own.
pub fn document(object: &Node, format: Format) -> String {
    let mut out = String::new();
    match format {
        Format::Yaml => yaml::write(&mut out, object),
        Format::Json => {
            write(&mut out, object, 0);
            out.push('\n');
        }
    }
    out
}

/// All objects as one text.
pub fn render<'a>(objects: impl IntoIterator<Item = &'a Node>, format: Format) -> String {
    let mut out = String::new();
    let mut stream = Stream::new(format);
    for object in objects {
        stream.push(&mut out, object);
    }
    stream.end(&mut out);
    out
}

// Trees as indented JSON.

/// Appends a tree, its lines after the first indented by `depth` steps of two spaces.
fn write(out: &mut String, node: &Node, depth: usize) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(number) => number_text(out, number),
        Value::Big(number) => number_text(out, number),
        // NaN and infinities are no JSON; YAML may have them.
        Value::Float(number) => match serde_json::Number::from_f64(*number) {
            Some(number) => number_text(out, &number),
            None => out.push_str("null"),
        },
        Value::Str(text) => string(out, text),
        Value::List(items) if items.is_empty() => out.push_str("[]"),
        Value::List(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                separate(out, position, depth + 1);
                write(out, item, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Map(map) if map.is_empty() => out.push_str("{}"),
        Value::Map(map) => {
            out.push('{');
            for (position, entry) in map.iter().enumerate() {
                separate(out, position, depth + 1);
                string(out, &entry.key);
                out.push_str(": ");
                write(out, &entry.node, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
    }
}

fn number_text(out: &mut String, number: &impl std::fmt::Display) {
    write!(out, "{number}").expect("writing to a string never fails");
}

/// A comma where one is needed, and a new line.
fn separate(out: &mut String, position: usize, depth: usize) {
    if position > 0 {
        out.push(',');
    }
    line(out, depth);
}

/// A new line with its indentation.
fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Runs without anything special are copied whole. What a terminal would obey is escaped, though
    // JSON admits some of it.
    while let Some(at) =
        rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'))
    {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().unwrap_or_default();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string never fails"),
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};

    static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };

    fn objects() -> Vec<Node> {
        ["a", "b"]
            .iter()
            .map(|name| {
                Node::from_json(
                    &serde_json::json!({"kind": "X", "metadata": {"name": name}}),
                    Origin::Default(&GIVEN),
                )
            })
            .collect()
    }

    #[test]
    fn yaml_documents_are_separated_without_a_leading_marker() {
        assert_eq!(
            render(&objects(), Format::Yaml),
            "kind: X\nmetadata:\n  name: a\n---\nkind: X\nmetadata:\n  name: b\n"
        );
        assert_eq!(render(&[], Format::Yaml), "");
    }

    #[test]
    fn a_list_is_valid_json_also_when_it_is_empty() {
        for (given, items) in [(objects(), 2), (Vec::new(), 0)] {
            let text = render(&given, Format::Json);
            let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(value["items"].as_array().map(Vec::len), Some(items));
            assert_eq!(text, serde_json::to_string_pretty(&value).expect("JSON") + "\n");
        }
    }

    #[test]
    fn texts_written_apart_join_to_the_same_text() {
        for format in [Format::Yaml, Format::Json] {
            let mut out = String::new();
            let mut stream = Stream::new(format);
            for object in &objects() {
                stream.push_text(&mut out, &text(object, format));
            }
            stream.end(&mut out);
            assert_eq!(out, render(&objects(), format));
        }
    }

    #[test]
    fn trees_are_written_as_pretty_json() {
        static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };
        let value = serde_json::json!({
            "a": {"b": [1, -2, 18_446_744_073_709_551_615_u64, 1.5, true, null, {}, [], "q\"\\\n\u{1}é"]}, "empty": {}, "k\"": "v",
        });
        let mut out = String::new();
        write(&mut out, &Node::from_json(&value, Origin::Default(&GIVEN)), 0);
        assert_eq!(out, serde_json::to_string_pretty(&value).expect("JSON"));
    }
}
