//! `${KEY}` in the values of a ModelBooster.
//!
//! The controller fills a template and searches what it inserted again, so `${KEY}` in a user's
//! value is a key of the template too (pkg/model-booster-controller/utils/template.go,
//! ReplacePlaceholders and ReplaceEmbeddedPlaceholders). Keys of mappings are not searched.

use super::backend::as_text;
use crate::quantity::go_json;
use crate::yaml::{Node, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

/// The keys of a template and their values; `None` is Go's nil.
pub(super) type Values = BTreeMap<&'static str, Option<Node>>;

/// Replaces every placeholder below a node.
///
/// # Errors
/// The controller's sentence, or why it never ends.
pub(super) fn replace(node: &mut Node, values: &Values) -> Result<(), String> {
    Replacing { values, inserted: Vec::new(), left: MOST_INSERTED }.within(node)
}

/// Most values that are inserted into one object.
const MOST_INSERTED: usize = 10_000;

struct Replacing<'v> {
    values: &'v Values,
    /// The keys whose values are being searched.
    inserted: Vec<&'v str>,
    left: usize,
}

impl Replacing<'_> {
    fn within(&mut self, node: &mut Node) -> Result<(), String> {
        match &mut node.value {
            Value::Map(map) => map.iter_mut().try_for_each(|entry| self.within(&mut entry.node)),
            Value::List(items) => {
                items.make_mut().iter_mut().try_for_each(|node| self.within(node))
            }
            // A text that is one placeholder takes the value with its type; others take it as text.
            Value::Str(text) if text.starts_with("${") && text.ends_with('}') => {
                let key = &text[2..text.len() - 1];
                let Some((key, value)) = self.values.get_key_value(key) else {
                    return Err(format!(
                        "replace placeholders failed: not found placeholder: {key}"
                    ));
                };
                // Only the keys on the way down: the same key twice side by side ends.
                if self.inserted.contains(key) {
                    return Err(format!(
                        "the value of `${{{key}}}` contains `${{{key}}}`: the controller replaces it until its stack is full, and crashes"
                    ));
                }
                // Keys that contain one another twice would double at each step.
                let Some(left) = self.left.checked_sub(1) else {
                    return Err(format!("more than {MOST_INSERTED} placeholders are replaced"));
                };
                self.left = left;
                *node = match value {
                    Some(value) => value.clone(),
                    None => Node::new(Value::Null, node.origin),
                };
                self.inserted.push(key);
                let replaced = self.within(node);
                self.inserted.pop();
                replaced
            }
            Value::Str(text) if text.contains("${") => {
                // Once: what is inserted into a text is not searched again.
                *text = embedded(text, self.values)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A text in which every placeholder is replaced once.
fn embedded(text: &str, values: &Values) -> Result<EcoString, String> {
    let mut out = EcoString::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        out.push_str(before);
        let Some((key, after)) = from.split_once('}') else {
            return Err(format!("replace placeholders failed: not found end }} in: ${{{from}"));
        };
        match values.get(key) {
            Some(Some(value)) => match as_text(value) {
                Some(text) => out.push_str(&text),
                None => out.push_str(&json(value)),
            },
            Some(None) => out.push_str("null"),
            None => return Err(format!("replace placeholders failed: key not found: {key}")),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// A value as Go's `json.Marshal` prints it, in the order of its fields.
fn json(node: &Node) -> String {
    let mut out = String::new();
    push(&mut out, node);
    out
}

/// Appends a value as Go writes it.
pub(super) fn push(out: &mut String, node: &Node) {
    match &node.value {
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                go_json::string(out, &entry.key);
                out.push(':');
                push(out, &entry.node);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push(out, item);
            }
            out.push(']');
        }
        Value::Str(text) => go_json::string(out, text),
        Value::Null => out.push_str("null"),
        Value::Float(number) => out.push_str(&float(*number)),
        _ => out.push_str(&node.scalar_text().unwrap_or_default()),
    }
}

/// A float as encoding/json writes it: with an exponent below 1e-6 and from 1e21 on.
fn float(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{number}");
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => text,
    }
}
