//! JSON Schemas of the output of commands with `-o json`.
//!
//! In: the table `schemas.txt`, one paragraph per type of the output. Out: a self-contained schema
//! for each document. The table is data next to the reports that write the documents; a test
//! validates all output of the cases with it, and rejects fields that are not in the table.
//!
//! ```text
//! document = "= " NAME " " TYPE " " TEXT          what `ome schema output NAME` prints
//! type     = NAME " " TEXT                         a paragraph; its fields follow
//! field    = " " NAME ["?"] " " TYPE [" " TEXT]    "?" behind the name: it may be absent
//! TYPE     = ONE {"|" ONE} ["?"]                   "?" behind the type: it may be null
//! ONE      = "[]" ONE | "{}" ONE | WORD ["(" WORD {"," WORD} ")"] | NAME
//! WORD     = str int num bool any                  in parentheses: the only words there are
//! ```

use super::{SCHEMA_VERSION, links};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const TABLE: &str = include_str!("schemas.txt");

/// The name for these schemas in place of a kind.
pub const WORD: &str = "output";

/// A document that a command prints.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// Its name: the command, with its subcommand if there are several.
    pub name: &'static str,
    ty: &'static str,
    /// Its description.
    pub text: &'static str,
}

/// Every document, in the order of the table.
pub fn documents() -> impl Iterator<Item = Document> {
    TABLE.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("= ")?.split_once(' ')?;
        let (ty, text) = rest.split_once(' ')?;
        Some(Document { name, ty, text })
    })
}

impl Document {
    /// Its file in the repository.
    pub fn file(&self) -> String {
        let version = SCHEMA_VERSION.rsplit('/').next().unwrap_or_default();
        format!("schemas/output/{version}/{}.json", self.name)
    }

    /// Its JSON Schema (2020-12). Fields that are not in the table are permitted: a later release
    /// may add fields.
    pub fn schema(&self) -> Value {
        let mut used = BTreeSet::new();
        let root = of_type(self.ty, &mut used);
        let mut definitions = Map::new();
        let mut waiting: Vec<&str> = used.iter().copied().collect();
        // Types refer to each other, and some to themselves.
        while let Some(name) = waiting.pop() {
            if definitions.contains_key(name) {
                continue;
            }
            let mut used = BTreeSet::new();
            definitions.insert(name.to_owned(), definition(name, &mut used));
            waiting.extend(used);
        }
        // Independent of the order in which types were found.
        definitions.sort_keys();
        let mut out = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("{}/{}", links::HOME, self.file()),
            "title": self.name,
            "description": self.text,
        });
        if let (Some(out), Value::Object(root)) = (out.as_object_mut(), root) {
            out.extend(root);
            out.insert("$defs".into(), definitions.into());
        }
        out
    }
}

/// The lines of a type: its description, and its fields.
fn paragraph(name: &str) -> Option<(&'static str, impl Iterator<Item = &'static str>)> {
    let mut lines = TABLE
        .lines()
        // The name must end there: `ServiceError` begins with `Service`.
        .skip_while(move |line| line.strip_prefix(name).is_none_or(|rest| !rest.starts_with(' ')));
    let text = lines.next()?.split_once(' ')?.1;
    Some((text, lines.take_while(|line| line.starts_with(' '))))
}

/// Name, whether it may be absent, type, text.
fn field(line: &'static str) -> Option<(&'static str, bool, &'static str, &'static str)> {
    let (name, rest) = line.trim_start().split_once(' ')?;
    let (ty, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let optional = name.strip_suffix('?');
    Some((optional.unwrap_or(name), optional.is_some(), ty, text))
}

fn definition(name: &str, used: &mut BTreeSet<&'static str>) -> Value {
    let Some((text, lines)) = paragraph(name) else { return json!({}) };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, optional, ty, text) in lines.filter_map(field) {
        let mut schema = of_type(ty, used);
        if let (false, Some(schema)) = (text.is_empty(), schema.as_object_mut()) {
            schema.insert("description".into(), text.into());
        }
        if !optional {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": text,
        "properties": properties,
        "required": required,
    })
}

/// Splits at a character outside of parentheses.
fn parts(text: &'static str, at: char) -> Vec<&'static str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            c if c == at && depth == 0 => {
                found.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

fn of_type(ty: &'static str, used: &mut BTreeSet<&'static str>) -> Value {
    let (ty, is_nullable) = ty.strip_suffix('?').map_or((ty, false), |ty| (ty, true));
    let mut choices: Vec<Value> = parts(ty, '|').into_iter().map(|one| of_one(one, used)).collect();
    if is_nullable {
        // A plain type accepts null in addition.
        // Two types of one schema could not both be `type`, so that others get a further choice.
        match choices.as_mut_slice() {
            [Value::Object(only)] if only.get("type").is_some_and(Value::is_string) => {
                if let Some(value) = only.get_mut("type") {
                    *value = json!([value.take(), "null"]);
                }
                // An enumeration must list null, or null is refused although the type allows it.
                if let Some(Value::Array(words)) = only.get_mut("enum") {
                    words.push(Value::Null);
                }
            }
            _ => choices.push(json!({ "type": "null" })),
        }
    }
    match <[Value; 1]>::try_from(choices) {
        Ok([only]) => only,
        Err(several) => json!({ "anyOf": several }),
    }
}

fn of_one(one: &'static str, used: &mut BTreeSet<&'static str>) -> Value {
    // The longest forms first: brackets may hold any of the others.
    if let Some(item) = one.strip_prefix("[]") {
        return json!({ "type": "array", "items": of_one(item, used) });
    }
    if let Some(value) = one.strip_prefix("{}") {
        return json!({ "type": "object", "additionalProperties": of_one(value, used) });
    }
    if let Some(rest) = one.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return of_type(rest, used);
    }
    let (word, words) = match one.split_once('(') {
        Some((word, words)) => (word, Some(words.trim_end_matches(')'))),
        None => (one, None),
    };
    let name = match word {
        "str" => "string",
        "int" => "integer",
        "num" => "number",
        "bool" => "boolean",
        "any" => return json!({}),
        name => {
            used.insert(name);
            return json!({ "$ref": format!("#/$defs/{name}") });
        }
    };
    match words {
        Some(words) => json!({ "type": name, "enum": words.split(',').collect::<Vec<_>>() }),
        None => json!({ "type": name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_referenced_type_is_defined_and_every_definition_used() {
        let mut waiting: Vec<&str> = Vec::new();
        for document in documents() {
            let mut used = BTreeSet::new();
            of_type(document.ty, &mut used);
            waiting.extend(used);
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if seen.insert(name) {
                assert!(paragraph(name).is_some(), "{name} is in the table");
                let mut used = BTreeSet::new();
                definition(name, &mut used);
                waiting.extend(used);
            }
        }
        let is_head = |line: &&str| !line.starts_with([' ', '=', '#']) && !line.is_empty();
        let heads = TABLE.lines().filter(is_head).map(|line| line.split(' ').next().unwrap());
        let heads: Vec<&str> = heads.collect();
        let unused: Vec<&&str> = heads.iter().filter(|name| !seen.contains(**name)).collect();
        assert!(unused.is_empty(), "{unused:?}");
        assert_eq!(heads.len(), seen.len(), "each type once");
    }

    #[test]
    fn type_expressions_become_json_schema() {
        let mut used = BTreeSet::new();
        for (ty, expected) in [
            ("str?", json!({ "type": ["string", "null"] })),
            ("[]int", json!({ "type": "array", "items": { "type": "integer" } })),
            ("str(a,b)?", json!({ "type": ["string", "null"], "enum": ["a", "b", null] })),
            (
                "{}[]Finding?",
                json!({ "type": ["object", "null"], "additionalProperties": { "type": "array", "items": { "$ref": "#/$defs/Finding" } } }),
            ),
            (
                "int|str(unknown)",
                json!({ "anyOf": [{ "type": "integer" }, { "type": "string", "enum": ["unknown"] }] }),
            ),
            ("Finding?", json!({ "anyOf": [{ "$ref": "#/$defs/Finding" }, { "type": "null" }] })),
        ] {
            assert_eq!(of_type(ty, &mut used), expected, "{ty}");
        }
    }
}
