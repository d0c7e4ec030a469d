//! Conversions from and to other formats.
//!
//! In: facts of other tools' files, and the trees of the catalog. Out: values with the evidence for
//! each, and replacements of text. This module reads no file, writes none, and prints nothing.

pub mod accelerator_shape;
pub mod class;
pub mod discover;
pub mod from_kserve;
pub mod import;
pub mod kueue;
