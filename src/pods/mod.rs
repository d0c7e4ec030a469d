//! Pods of every operator: devices, variables, quantities, findings.
//!
//! In: pods as trees. Out: numbers and findings. Nothing here knows an operator.

pub mod built;
pub(crate) mod container;
pub mod gpus;
pub(crate) mod lint;
pub(crate) mod quantities;
pub mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod variables;
