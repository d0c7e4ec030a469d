//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.
//!
//! Each operator is a folder of [`operators`]. The engines that it uses depend on no operator; the
//! modules above call the operators. Data flow:
//!
//! ```text
//! files, stdin, built-in                        one service at a time, many in parallel
//!         │                          ┌────────────────────────────────────────────────────┐
//!  ┌──────▼─┐  ┌─────────┐  ┌───────┐│  ┌────────┐  ┌────────────────┐  ┌───────┐        │ ┌────┐
//!  │  load  │─▶│workspace│─▶│catalog│┼─▶│ select │─▶│ merge template │─▶│objects│─▶trees─┼▶│emit│
//!  └──────┬─┘  └──┬──────┘  └───────┘│  └───┬────┘  │      pods      │  └───────┘        │ └────┘
//!         │       │ operators/*/read │  decision    └────────────────┘  pipeline         │
//!         ▼       ▼                  └──────┼───────────────┼────────────────────────────┘
//!      findings (diag) ─────────────────────┴───────────────┴──────▶ report ──▶ cli
//! ```
//!
//! Modules:
//!
//! - [`source`], [`diag`], [`yaml`], [`quantity`]: texts and places, findings, trees with origins,
//!   exact units; independent of kinds
//! - [`secret`]: rules for hidden values
//! - [`api`], [`schema`], [`catalog`]: typed views, tables of every kind, indexes
//! - [`policy`], [`decision`]: differences between documents and releases as values; decisions as
//!   data
//! - [`facts`], [`cluster`]: facts about devices and models; how many pods fit on which nodes, and
//!   a fleet placed as kube-scheduler places it
//! - [`merge`], [`template`], [`pods`], [`objects`], [`select`], [`rollout`]: engines: strategic
//!   merge with origins, Go templates, pods, manifests, runtime selection, rolling updates
//! - [`check`]: rules about a catalog beyond its syntax, a row per rule
//! - [`operator`]: the operations of an operator, as traits
//! - [`operators`]: OME, KServe, Kthena, Kueue, a folder each: how each one reads, selects,
//!   composes, renders, checks and updates
//! - `load`, [`workspace`]: files as documents, documents as a workspace
//! - [`exchange`], [`hub`], [`protocol`], `emit`: other formats: model configs, the Hugging Face
//!   Hub, nodes and flavors as classes; inference protocols; files
//! - [`editor`]: the content at a place in a text, references between objects, completions
//! - [`tree`]: the fields in which two objects differ
//! - [`pipeline`], [`diff`], [`report`], [`cli`]: decisions and objects of each service, two states
//!   compared, output, the command line
//!
//! A test (`tests/it/architecture.rs`) lists which module may use which.

mod api;
mod builtin;
mod catalog;
mod check;
pub mod cli;
mod cluster;
mod decision;
mod diag;
mod diff;
mod editor;
mod emit;
mod engine;
mod exchange;
mod facts;
mod hub;
#[doc(hidden)]
pub mod internals;
mod load;
mod merge;
mod objects;
mod operator;
mod operators;
pub mod pipeline;
mod pods;
mod policy;
mod protocol;
mod quantity;
mod report;
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "controllers of Jobs and ReplicaSets are compared with the recordings; nothing else changes their specs"
    )
)]
mod rollout;
mod schema;
mod secret;
mod select;
mod source;
mod template;
#[cfg(test)]
mod testing;
mod tree;
pub mod workspace;
mod yaml;
