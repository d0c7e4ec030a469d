//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.

pub mod api;
pub mod builtin;
pub mod catalog;
pub mod cli;
pub mod compose;
pub mod decision;
pub mod diag;
pub mod dialect;
pub mod load;
pub mod pipeline;
pub mod policy;
pub mod protocol;
pub mod quantity;
pub mod render;
pub mod report;
pub mod resolve;
pub mod schema;
pub mod source;
pub mod yaml;
