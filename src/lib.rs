//! `ome` plans, explains and renders AI model serving on Kubernetes without a cluster.
//!
//! The way of the data, left to right; nothing points back:
//!
//! ```text
//!  files, stdin, built-in                               one service at a time, many in parallel
//!          │                                   ┌──────────────────────────────────────────────────┐
//!   ┌──────▼─┐  ┌────────┐  ┌─────┐  ┌────────┐│ ┌────────┐   ┌────────┐   ┌───────┐              │ ┌──────┐
//!   │  load  │─▶│dialect │─▶│ api │─▶│catalog │┼▶│resolve │──▶│compose │──▶│render │──▶ objects ──┼▶│ emit │
//!   └──────┬─┘  └───┬────┘  └─────┘  └────────┘│ └───┬────┘   └───┬────┘   └───────┘              │ └──────┘
//!          │        │ schema                   │  decision     history         pipeline           │
//!          ▼        ▼                          └─────┼────────────┼───────────────────────────────┘
//!       findings (diag) ─────────────────────────────┴────────────┴──────▶ report ──▶ cli
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | [`source`], [`diag`], [`yaml`], [`quantity`] | ground: texts and places, findings, trees with origins, exact units; never heard of a kind |
//! | [`secret`] | which values are kept off screens and reports |
//! | [`api`], [`schema`], [`dialect`], [`load`], [`catalog`] | what the things are: typed views, tables of every kind, spellings, reading, indices |
//! | [`policy`], [`decision`], [`resolve`], [`queue`] | what is decided: every difference between documents and releases as a value, decisions as data, the rules |
//! | [`facts`], [`machines`] | what is known of devices, and which machine may run how many pods |
//! | [`cluster`], [`rolling`] | where a fleet of pods runs, as kube-scheduler places it, and how Deployments and LeaderWorkerSets roll there |
//! | [`compose`], [`render`], `emit` | what is built: layers merged with origins, objects, files |
//! | [`check`] | what is wrong with a catalog beyond its syntax, a row per rule |
//! | [`rollout`] | what becomes of pods when something changes: a state machine |
//! | [`hub`] | the Hugging Face Hub: the only code that opens a connection |
//! | [`exchange`], [`protocol`] | the outside: model configs, nodes and flavors as classes, other spellings; inference protocols |
//! | [`pipeline`], [`report`], [`cli`] | the way from one end to the other, what is shown, the command line |
//!
//! A test (`tests/it/architecture.rs`) guards who may use whom.

pub mod api;
pub mod builtin;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod cluster;
pub mod compose;
pub mod decision;
pub mod diag;
pub mod dialect;
pub mod emit;
pub mod exchange;
pub mod facts;
pub mod hub;
pub mod load;
pub mod machines;
pub mod pipeline;
pub mod policy;
pub mod protocol;
pub mod quantity;
pub mod queue;
pub mod render;
pub mod report;
pub mod resolve;
pub mod rolling;
pub mod rollout;
pub mod schema;
pub mod secret;
pub mod source;
pub mod yaml;
