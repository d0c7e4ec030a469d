//! Reads from the schema whether a field is merged or replaced, and by which key.

use super::Problem;
use crate::schema::{Patch, Type};

/// How to merge the value of a field.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    /// The type below: of the field, or of the elements of its list. `None`: the type is unknown,
    /// so mappings are merged and lists are replaced.
    pub(super) ty: Option<&'static Type>,
    /// The patch strategy.
    pub(super) patch: Patch,
}

const NOTHING_KNOWN: Decision =
    Decision { ty: None, patch: Patch { merge: false, replace: false, retain: false, key: None } };

/// Returns how to merge a mapping in the field `name` of `ty`.
pub(super) fn mapping(ty: Option<&'static Type>, name: &str) -> Result<Decision, Problem> {
    let Some(ty) = ty else { return Ok(NOTHING_KNOWN) };
    match ty {
        Type::Any => Ok(NOTHING_KNOWN),
        Type::Object(definition) => match ty.field(name) {
            Some(field) => Ok(Decision { ty: Some(&field.ty), patch: field.patch }),
            // An open type takes fields that its Go struct does not have
            // (x-preserve-unknown-fields).
            None if definition.documented().open => Ok(NOTHING_KNOWN),
            None => Err(Problem::UnknownField { field: name.into(), of: definition.name }),
        },
        // A map of objects is not a Go struct, but its elements are objects.
        Type::Map(item)
            if matches!(item.ty, Type::Object(_) | Type::Map(_) | Type::List(_) | Type::Any) =>
        {
            Ok(Decision { ty: Some(&item.ty), ..NOTHING_KNOWN })
        }
        // Upstream looks a field up in a Go struct here, and a scalar has none.
        _ => Err(Problem::NoFields { field: name.into() }),
    }
}

/// Returns how to merge a list in the field `name` of `ty`.
pub(super) fn list(ty: Option<&'static Type>, name: &str) -> Result<Decision, Problem> {
    let field = mapping(ty, name)?;
    match field.ty {
        None | Some(Type::Any) => Ok(NOTHING_KNOWN),
        Some(Type::List(item)) => Ok(Decision { ty: Some(&item.ty), patch: field.patch }),
        Some(_) => Err(Problem::NotAList { field: name.into() }),
    }
}
