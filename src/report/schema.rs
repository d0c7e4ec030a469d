//! The fields of a kind, for people.

use crate::schema::{Field, Schema, Type};
use crate::yaml::{FieldPath, Segment};
use std::fmt::Write;

/// The fields at a path of a kind; `None` when there is no such path.
pub fn fields(schema: &Schema, path: &FieldPath) -> Option<String> {
    let ty = schema.root().select(path)?;
    let mut out = format!("{} {}", schema.api_version, schema.kind);
    if !path.0.is_empty() {
        let _ = write!(out, "  {path}");
    }
    let _ = writeln!(out, "  {}", word(ty));
    let inner = ty.item().map_or(ty, |item| &item.ty);
    if let Some(object) = inner.object() {
        let width = object.fields.iter().map(|field| field.name.len()).max().unwrap_or_default();
        for field in &object.fields {
            let _ = writeln!(out, "  {:width$}  {}{}", field.name, word(&field.ty), remarks(field));
        }
    }
    Some(out)
}

/// One field at a path of a kind: its type, what the server makes of it, and the fields below it;
/// `None` when there is no such path.
pub fn field(schema: &Schema, path: &FieldPath) -> Option<String> {
    let mut out = fields(schema, path)?;
    let Some((Segment::Field(name), above)) = path.0.split_last() else { return Some(out) };
    let holder = schema.root().select(&FieldPath(above.to_vec()))?;
    if let Some(field) = holder.field(name) {
        let rest = out.split_off(out.find('\n')?);
        out.push_str(&remarks(field));
        out.push_str(&rest);
        let rules = rules(&field.ty);
        if !rules.is_empty() {
            let _ = writeln!(out, "  {}", rules.join(", "));
        }
    }
    Some(out)
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
