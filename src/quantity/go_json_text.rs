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
            kind(&other)
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
        kind(value)
    )
}

/// What Go calls a JSON value of the wrong kind.
fn kind(value: &Json) -> EcoString {
    match value {
        Json::Null => "null".into(),
        Json::Bool(_) => "bool".into(),
        Json::Number(number) => eco_format!("number {number}"),
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
