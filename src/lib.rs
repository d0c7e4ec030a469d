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
//! | room | what it is for |
//! |---|---|
//! | [`source`], [`diag`], [`yaml`], [`quantity`] | ground: texts and places, findings, trees with origins, exact units; never heard of a kind |
//! | [`secret`] | which values are kept off screens and reports |
//! | [`api`], [`schema`], [`catalog`] | what the things are: typed views, tables of every kind, indices |
//! | [`policy`], [`decision`] | every difference between documents and releases as a value; decisions as data |
//! | [`facts`], [`cluster`] | what is known of devices and models; which node may run how many pods, and a fleet placed as kube-scheduler places it |
//! | [`merge`], [`template`], [`pods`], [`objects`], [`select`], [`rollout`] | engines: strategic merge with origins, Go templates, pods, manifests, the choice of a runtime, rolling updates |
//! | [`check`] | what is wrong with a catalog beyond its syntax, a row per rule |
//! | [`operators`] | OME, KServe, Kthena, Kueue, a folder each: what they read, choose, compose, write, check and roll |
//! | `load`, [`workspace`] | files as documents, documents as a workspace |
//! | [`exchange`], [`hub`], [`protocol`], `emit` | the outside: model configs, the Hugging Face Hub, nodes and flavors as classes, other spellings; inference protocols; files |
//! | [`editor`] | what is at a place of a text, which objects name which, what may be written next |
//! | [`tree`] | the fields in which two objects differ |
//! | [`pipeline`], [`diff`], [`report`], [`cli`] | the way from one end to the other, two sides compared, what is shown, the command line |
//!
//! A test (`tests/it/architecture.rs`) guards who may use whom.

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
