//! Facts about accelerator products and about machines that contain them.

pub(crate) mod instances;
pub(crate) mod products;
