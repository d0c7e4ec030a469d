//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.

pub mod api;
pub mod catalog;
pub mod compose;
pub mod decision;
pub mod diag;
pub mod dialect;
pub mod policy;
pub mod quantity;
pub mod render;
pub mod resolve;
pub mod schema;
pub mod source;
pub mod yaml;
