//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.

pub mod diag;
pub mod load;
pub mod source;
pub mod yaml;
