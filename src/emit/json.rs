//! Trees as indented JSON.

use crate::yaml::{Node, Value};
use std::fmt::Write;

/// Appends a tree, its lines after the first indented by `depth` steps of two spaces.
pub(super) fn write(out: &mut String, node: &Node, depth: usize) {
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
pub(super) fn separate(out: &mut String, position: usize, depth: usize) {
    if position > 0 {
        out.push(',');
    }
    line(out, depth);
}

/// A new line with its indentation.
pub(super) fn line(out: &mut String, depth: usize) {
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
