//! Units and names, exact: what Kubernetes and OME write as strings and mean as numbers, versions or names.
//!
//! In: single strings. Out: values that cannot be wrong, or typed errors that say what is. This room knows neither YAML
//! nor findings: whoever has the place of a string words the finding.

mod decimal;
mod resource;
#[cfg(test)]
mod tables;

pub use resource::{Format, MAX_DIGITS, MAX_EXPONENT, Quantity, QuantityError};
