//! Strategic merge of layers with origins, edits of trees, and the record of overridden values.
//!
//! In: trees. Out: trees whose leaves keep their origins. This module depends on no operator.

pub(crate) mod edit;
pub mod history;
pub mod smp;
pub(crate) mod typed;
pub(crate) mod written;

#[cfg(test)]
mod tests;
