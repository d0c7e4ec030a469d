//! Conversions from and to other formats.
//!
//! In: facts from files of other tools, and the trees of the catalog. Out: values with the evidence
//! for each, and replacements of text. This module reads and writes no files and prints nothing.

pub mod accelerator_shape;
pub mod class;
pub mod discover;
pub mod from_kserve;
pub mod import;
pub mod kueue;

use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::yaml::Origin;

/// A field of an object that a conversion cannot keep.
fn loss(
    object: &Object,
    path: impl Into<String>,
    at: Origin,
    why: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(Code::ConversionLoss, why)
        .at(at.span().or_else(|| Some(object.name_span())))
        .path(path)
        .object(object.id.to_string())
}
