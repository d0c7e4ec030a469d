//! JSON inside of ConfigMaps, decoded as Go decodes it into a struct: null leaves what is there,
//! what does not fit is an error in Go's words.

use ecow::{EcoString, eco_format};
use serde_json::Value as Json;

/// The fields of a JSON object, in the order of the text.
pub(crate) fn fields(text: &str, what: &str) -> Result<serde_json::Map<String, Json>, EcoString> {
    match serde_json::from_str(text) {
        Ok(Json::Object(fields)) => Ok(fields),
        Ok(other) => Err(eco_format!(
            "unable to parse {what} json: json: cannot unmarshal {} into Go value",
            kind(&other, "")
        )),
        Err(error) => Err(eco_format!("unable to parse {what} json: {error}")),
    }
}

pub(crate) fn string(
    field: &mut EcoString,
    value: &Json,
    what: &str,
    name: &str,
) -> Result<(), EcoString> {
    match value {
        Json::Null => {}
        Json::String(text) => *field = text.as_str().into(),
        other => return Err(mismatch(what, other, name, "string")),
    }
    Ok(())
}

pub(crate) fn list(value: &Json, what: &str, name: &str) -> Result<Vec<EcoString>, EcoString> {
    match value {
        Json::Null => Ok(Vec::new()),
        Json::Array(items) => {
            let mut found = Vec::with_capacity(items.len());
            for item in items {
                let mut text = EcoString::new();
                string(&mut text, item, what, name)?;
                found.push(text);
            }
            Ok(found)
        }
        other => Err(mismatch(what, other, name, "[]string")),
    }
}

pub(crate) fn mismatch(what: &str, value: &Json, field: &str, wanted: &str) -> EcoString {
    eco_format!(
        "unable to parse {what} json: json: cannot unmarshal {} into Go struct field {field} of type {wanted}",
        kind(value, wanted)
    )
}

/// Go's name of a JSON value of the wrong kind. A number is shown only for a numeric type.
fn kind(value: &Json, wanted: &str) -> EcoString {
    match value {
        Json::Null => "null".into(),
        Json::Bool(_) => "bool".into(),
        Json::Number(number)
            if ["int", "uint", "float"].iter().any(|ty| wanted.starts_with(ty)) =>
        {
            eco_format!("number {number}")
        }
        Json::Number(_) => "number".into(),
        Json::String(_) => "string".into(),
        Json::Array(_) => "array".into(),
        Json::Object(_) => "object".into(),
    }
}

/// A switch.
pub(crate) fn boolean(
    field: &mut bool,
    value: &Json,
    what: &str,
    name: &str,
) -> Result<(), EcoString> {
    match value {
        Json::Null => {}
        Json::Bool(value) => *field = *value,
        other => return Err(mismatch(what, other, name, "bool")),
    }
    Ok(())
}
