//! Exact units and names: strings of Kubernetes and OME that are numbers, versions or names.
//!
//! In: single strings. Out: valid values, or typed errors. This module depends neither on YAML nor
//! on findings: the caller, which has the position of a string, writes the finding.

pub mod base64;
mod count;
mod decimal;
mod dimensions;
mod dollars;
mod field_error;
mod glob;
mod go_float;
pub mod go_json;
pub(crate) mod go_json_text;
mod go_sort;
pub mod hash;
mod int_or_percent;
mod kv_cache;
mod memory;
pub mod names;
mod params;
mod range;
#[cfg(test)]
pub(crate) mod recordings;
mod resource;
mod resource_name;
mod selector;
#[cfg(test)]
mod tests;
mod version;

pub use count::{Count, grouped};
pub use dimensions::{Dimensions, Experts};
pub use dollars::Dollars;
pub use field_error::go_quote;
pub use glob::{glob, wildcard};
pub(crate) use go_float::{parse as parse_go_float, underscores_separate_digits};
pub(crate) use go_sort::go_sort;
pub use int_or_percent::{IntOrPercent, IntOrPercentError, Rounding};
pub use kv_cache::{Kept, KeptLayers, KvCache, Layout};
pub use memory::{GIB, Memory};
pub use params::ParamCount;
pub use range::Range;
pub(crate) use resource::suffix_of_quantity;
pub use resource::{Format, Quantity};
pub use resource_name::{is_accelerator, is_device, is_native};
pub use selector::{Requirement, Selector, SelectorError, SelectorOperator};
pub use version::{DocumentedVersion, Operator, Version, VersionError, validate_documented};
