//! What comes from other worlds and goes to them.
//!
//! In: facts of other tools' files, and the trees of the catalog. Out: values with the evidence for
//! each, and replacements of text. This room reads no file, writes none, and prints nothing.

pub mod accelerator_shape;
pub mod class;
pub mod discover;
pub mod from_kserve;
pub mod import;
pub mod kueue;
