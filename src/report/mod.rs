//! The output: decisions and findings as JSON, tables, sentences and diagnostics.
//!
//! In: data of the modules below. Out: text and JSON. This module makes no decisions: it words
//! existing decisions and calls no function of the modules below.

pub mod accelerator;
pub mod accounting;
pub mod answer;
pub mod catalog;
pub mod cell;
pub mod code;
mod columns;
pub mod conversion;
pub mod diff;
pub mod discover;
mod doubts;
pub mod drain;
pub mod drift;
pub mod endpoints;
mod excerpt;
pub mod expect;
pub mod explain;
pub mod explained;
mod fill;
pub mod finding_page;
pub mod findings;
pub mod fleet;
pub mod github;
pub mod gitlab;
pub mod graph;
pub mod import;
pub mod json;
pub mod json_schema;
pub mod judged;
pub mod junit;
pub mod krm;
pub mod kueue;
mod kv_cache;
pub mod links;
pub mod losses;
mod map;
pub mod markdown;
pub mod matrix;
pub mod merged;
mod model;
pub mod phrases;
pub mod places;
pub mod plan;
mod queue;
pub mod rdjson;
pub mod releases;
pub mod roll;
pub mod roll_all;
pub mod roll_workload;
pub mod rollout;
pub mod sarif;
pub mod schema;
pub mod schemas;
pub mod screen;
pub mod serving;
pub mod settings;
pub mod sheet;
pub mod table;
pub mod together;
pub mod totals;
pub mod users;
mod variants;
pub mod waves;
pub mod why;

/// Version of every JSON format.
pub const SCHEMA_VERSION: &str = "ome/v1";
