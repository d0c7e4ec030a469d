//! What is known of accelerator products and of the machines that hold them.

pub(crate) mod instances;
pub(crate) mod products;
