//! Pods of every operator: devices, variables, quantities, findings.
//!
//! In: pods as trees. Out: numbers and findings. This module depends on no operator.

pub mod built;
pub(crate) mod container;
pub mod gpus;
pub(crate) mod lint;
pub(crate) mod local_models;
pub(crate) mod quantities;
pub mod rules;
pub(crate) mod specs;
#[cfg(test)]
mod tests;
pub(crate) mod variables;
