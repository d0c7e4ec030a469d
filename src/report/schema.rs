//! The fields of a kind, as text.

use super::cell::row;
use super::sheet::Sheet;
use crate::schema::{Field, Schema, Type};
use crate::yaml::{FieldPath, Segment};
use std::fmt::Write;

/// The type at a path of a kind, with the fields below it and their descriptions; `None` if there
/// is no such path.
pub fn page(schema: &Schema, path: &FieldPath) -> Option<Sheet> {
    let ty = schema.root().select(path)?;
    let mut sheet = Sheet::default();
    let mut heading = format!("{} {}", schema.api_version, schema.kind);
    if !path.0.is_empty() {
        let _ = write!(heading, "  {path}");
    }
    // The field knows more than its type: whether it is required, and its default.
    let holder = holder(schema, path).map_or_else(|| word(ty), summary);
    let rules = rules(ty).into_iter().map(|rule| format!(", {rule}"));
    sheet.heading(format!("{heading}  {holder}{}", rules.collect::<String>()));
    sheet.answer(schema.describe(path).map(ToOwned::to_owned));
    let inner = ty.item().map_or(ty, |item| &item.ty);
    if let (Type::Object(definition), Some(object)) = (inner, inner.object()) {
        let rows = object.fields.iter().map(|field| {
            let sentence = definition.describe(field).unwrap_or_default();
            row![field.name, summary(field), sentence]
        });
        sheet.table(&["FIELD", "TYPE", "DESCRIPTION"], rows);
    }
    Some(sheet)
}

/// The field that a path ends with.
fn holder(schema: &Schema, path: &FieldPath) -> Option<&'static Field> {
    let (Segment::Field(name), above) = path.0.split_last()? else { return None };
    let holder = schema.root().select(&FieldPath(above.to_vec()))?;
    match holder {
        // The path of a field below a list has no index here.
        Type::List(item) => item.ty.field(name),
        holder => holder.field(name),
    }
}

/// A field in a few words.
pub fn summary(field: &Field) -> String {
    format!("{}{}", word(&field.ty), remarks(field).replace("  ", ", "))
}

/// The bounds of a value.
fn rules(ty: &Type) -> Vec<String> {
    let (rules, of) = match ty {
        Type::Str(Some(rules)) => (&**rules, " characters"),
        Type::Int(Some(rules))
        | Type::Int32(Some(rules))
        | Type::Number(Some(rules))
        | Type::IntOrString(Some(rules)) => (&**rules, ""),
        Type::List(item) | Type::Map(item) => (&item.rules, " elements"),
        _ => return Vec::new(),
    };
    let mut out = Vec::new();
    out.extend(rules.min.map(|least| format!("at least {least}{of}")));
    out.extend(rules.max.map(|most| format!("at most {most}{of}")));
    out.extend(rules.pattern.map(|pattern| format!("matches {pattern}")));
    if !rules.keys.is_empty() {
        out.push(format!("unique by {}", rules.keys.join(", ")));
    }
    if rules.set {
        out.push("each element once".to_owned());
    }
    out
}

fn remarks(field: &Field) -> String {
    let mut out = String::new();
    if field.required {
        out.push_str("  required");
    }
    if let Some(default) = field.default {
        let _ = write!(out, "  default {default}");
    }
    if let Some(key) = field.patch.key.filter(|_| field.patch.merge) {
        // Only lists that are merged have a key in merges.
        let _ = write!(out, "  merged by {key}");
    }
    if field.documented {
        out.push_str("  (documents only)");
    }
    out
}

fn word(ty: &Type) -> String {
    let choices = |rules: &Option<Box<crate::schema::Rules>>| {
        rules
            .as_ref()
            .filter(|rules| !rules.choices.is_empty())
            .map(|rules| format!(" ({})", rules.choices.join(", ")))
    };
    match ty {
        // Types that are written in place have no name of their own.
        Type::Object(definition) if definition.name.contains('/') => "object".into(),
        Type::Object(definition) => definition.name.to_owned(),
        Type::Map(item) => format!("map of {}", word(&item.ty)),
        Type::List(item) => format!("list of {}", word(&item.ty)),
        Type::Str(rules) => format!("string{}", choices(rules).unwrap_or_default()),
        Type::Int(rules) => format!("integer{}", choices(rules).unwrap_or_default()),
        Type::Int32(rules) => format!("int32{}", choices(rules).unwrap_or_default()),
        Type::Number(_) => "number".into(),
        Type::Bool => "boolean".into(),
        Type::Quantity => "quantity".into(),
        Type::IntOrString(_) => "integer or string".into(),
        Type::Time => "time".into(),
        Type::Bytes => "base64".into(),
        Type::Loose => "string or number".into(),
        Type::Any => "any".into(),
    }
}
