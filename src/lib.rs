//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.
//!
//! An operator is a folder of [`operators`]; the engines that it uses know no operator, and the
//! modules above ask the folders. The way of the data:
//!
//! ```text
//!  files, stdin, built-in                        one service at a time, many in parallel
//!          │                          ┌──────────────────────────────────────────────────────┐
//!   ┌──────▼─┐  ┌─────────┐  ┌───────┐│  ┌────────┐  ┌────────────────┐  ┌─────────┐        │ ┌──────┐
//!   │  load  │─▶│workspace│─▶│catalog│┼─▶│ select │─▶│ merge template │─▶│ objects │─▶trees─┼▶│ emit │
//!   └──────┬─┘  └──┬──────┘  └───────┘│  └───┬────┘  │      pods      │  └─────────┘        │ └──────┘
//!          │       │ operators/*/read │  decision    └────────────────┘  pipeline           │
//!          ▼       ▼                  └──────┼───────────────┼──────────────────────────────┘
//!       findings (diag) ─────────────────────┴───────────────┴──────▶ report ──▶ cli
//! ```
//!
//! | module | what it is for |
//! |---|---|
//! | [`source`], [`diag`], [`yaml`], [`quantity`] | texts and places, findings, trees with origins, exact units; independent of kinds |
//! | [`secret`] | which values are hidden |
//! | [`api`], [`schema`], [`catalog`] | typed views, tables of every kind, indices |
//! | [`policy`], [`decision`] | every difference between documents and releases as a value; decisions as data |
//! | [`facts`], [`cluster`] | facts about devices and models; how many pods fit on which nodes, and a fleet placed as kube-scheduler places it |
//! | [`merge`], [`template`], [`pods`], [`objects`], [`select`], [`rollout`] | engines: strategic merge with origins, Go templates, pods, manifests, the choice of a runtime, rolling updates |
//! | [`check`] | what is wrong with a catalog beyond its syntax, a row per rule |
//! | [`operators`] | OME, KServe, Kthena, Kueue, a folder each: what they read, choose, compose, write, check and roll |
//! | `load`, [`workspace`] | files as documents, documents as a workspace |
//! | [`exchange`], [`hub`], [`protocol`], `emit` | other formats: model configs, the Hugging Face Hub, nodes and flavors as classes; inference protocols; files |
//! | [`editor`] | what is at a place of a text, which objects name which, what may be written next |
//! | [`tree`] | the fields in which two objects differ |
//! | [`pipeline`], [`diff`], [`report`], [`cli`] | decisions and objects of each service, two states compared, output, the command line |
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
mod exchange;
mod facts;
mod hub;
#[doc(hidden)]
pub mod internals;
mod load;
mod merge;
mod objects;
mod operators;
pub mod pipeline;
mod pods;
mod policy;
mod protocol;
mod quantity;
mod report;
mod rollout;
mod schema;
mod secret;
mod select;
mod source;
mod template;
mod tree;
pub mod workspace;
mod yaml;
