//! Completions at a position.

use super::cursor_context::{Part, Typing};
use super::names::{field_names, names};
use crate::catalog::Catalog;
use crate::schema::{self, Schema, Type};
use crate::source::SourceMap;
use crate::yaml::{FieldPath, Segment};

/// One word that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The word as it is shown.
    pub label: String,
    /// A short description.
    pub detail: String,
    /// The text that is written.
    pub insert: String,
    /// Its field, for the description.
    pub field: Option<FieldPath>,
}

/// The words that may be written where something is typed; `describe` words a type.
pub fn proposals(
    typing: &Typing,
    catalog: &Catalog,
    sources: &SourceMap,
    describe: impl Fn(&schema::Field) -> String,
) -> Vec<Proposal> {
    // Before the schema: without a kind there is none yet.
    if typing.part == Part::Value
        && let [Segment::Field(key)] = typing.path.0.as_slice()
        && let Some(words) = identity(key, typing)
    {
        return words;
    }
    let Some(schema) = schema::kind(&typing.api_version, &typing.kind) else {
        let is_root = typing.path.0.is_empty();
        return if is_root { roots(typing) } else { Vec::new() };
    };
    let Some(ty) = schema.root().select(&typing.path) else { return Vec::new() };
    match (&typing.part, ty.object()) {
        (Part::Key(present), Some(object)) => object
            .fields
            .iter()
            .filter(|field| !present.iter().any(|key| key == field.name))
            .map(|field| Proposal {
                label: field.name.to_owned(),
                detail: describe(field),
                insert: if typing.has_colon {
                    field.name.to_owned()
                } else {
                    format!("{}{}", field.name, opening(&field.ty))
                },
                field: Some(typing.path.field(field.name)),
            })
            .collect(),
        // An element of a list of scalars.
        (Part::Key(_), None) if typing.path.0.last() != Some(&Segment::All) => Vec::new(),
        (Part::Value, Some(_)) => Vec::new(),
        _ => values(typing, schema, ty, catalog, sources),
    }
}

/// The text after a key.
fn opening(ty: &Type) -> &'static str {
    match ty {
        Type::Object(_) | Type::Map(_) | Type::List(_) => ":",
        _ => ": ",
    }
}

/// Values of `kind` and `apiVersion`.
fn identity(key: &str, typing: &Typing) -> Option<Vec<Proposal>> {
    let schemas = schema::kinds().iter();
    let mut words: Vec<(&str, &str)> = match key {
        "kind" => schemas
            .filter(|schema| {
                typing.api_version.is_empty() || schema.api_version == typing.api_version
            })
            .map(|schema| (schema.kind, schema.api_version))
            .collect(),
        "apiVersion" => {
            // With an unknown kind, every version may be meant.
            let is_of = |schema: &&Schema| {
                schema.kind == typing.kind || !schema::kinds().iter().any(|k| k.kind == typing.kind)
            };
            schemas.filter(is_of).map(|schema| (schema.api_version, "")).collect()
        }
        _ => return None,
    };
    words.sort_unstable();
    words.dedup();
    Some(words.into_iter().map(|(word, detail)| word_of(word, detail)).collect())
}

/// The keys that any object has.
fn roots(typing: &Typing) -> Vec<Proposal> {
    let Part::Key(present) = &typing.part else { return Vec::new() };
    let keys = [("apiVersion", ": "), ("kind", ": "), ("metadata", ":"), ("spec", ":")];
    keys.into_iter()
        .filter(|(key, _)| !present.iter().any(|name| name == key))
        .map(|(key, behind)| {
            let insert = format!("{key}{}", if typing.has_colon { "" } else { behind });
            Proposal { insert, ..word_of(key, "") }
        })
        .collect()
}

fn word_of(word: &str, detail: &str) -> Proposal {
    Proposal {
        label: word.to_owned(),
        detail: detail.to_owned(),
        insert: word.to_owned(),
        field: None,
    }
}

/// Words for a scalar: names of objects, accepted values.
fn values(
    typing: &Typing,
    schema: &Schema,
    ty: &Type,
    catalog: &Catalog,
    sources: &SourceMap,
) -> Vec<Proposal> {
    if let Some(named) = field_names(schema, &typing.path) {
        let namespace = typing.namespace.as_deref().unwrap_or("default");
        let found = names(catalog, named, schema.group(), namespace);
        return found
            .iter()
            .map(|object| {
                let place = sources.locate(object.0.name_span());
                word_of(object.name(), &format!("{} · {place}", object.0.id.kind))
            })
            .collect();
    }
    let rules = match ty {
        Type::Bool => return ["true", "false"].map(|word| word_of(word, "boolean")).to_vec(),
        Type::Str(rules) | Type::Int(rules) | Type::Int32(rules) | Type::Number(rules) => rules,
        _ => return Vec::new(),
    };
    let choices = rules.iter().flat_map(|rules| &rules.choices);
    choices
        // Choices are written as JSON, in quotes.
        .map(|choice| choice.trim_matches('"'))
        .filter(|choice| !choice.is_empty())
        .map(|choice| word_of(choice, "accepted value"))
        .collect()
}
