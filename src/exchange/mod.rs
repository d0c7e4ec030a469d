//! Conversions from and to other formats.
//!
//! Input: facts from files of other tools, and the trees of the catalog. Output: values with the
//! evidence for each, and replacements of text. This module reads and writes no files and prints
//! nothing.

pub mod accelerator_shape;
pub mod class;
pub mod discover;
pub mod from_kserve;
pub mod import;
pub mod kueue;
