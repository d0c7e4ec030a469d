//! Tests over the whole tool, one module per area.

#![expect(clippy::disallowed_methods, reason = "tests read and write their own files")]

mod architecture;
mod bounds;
mod circles;
mod codes;
mod conformance;
mod costs;
mod diff;
mod discover;
mod examples;
mod expect;
mod fleets;
mod hostile;
mod html;
mod hub;
mod import;
mod injection;
mod invalid;
mod kserve;
mod kserve_settings;
mod kueue;
mod kustomize;
mod lsp;
mod mixed;
mod models;
mod numbers;
mod objects;
mod ome;
mod operators;
mod pages;
mod pipes;
mod process;
mod properties;
mod readme;
mod releases;
mod secrets;
mod serving;
mod shapes;
mod stories;
mod upgrade_edits;
mod upgrades;
mod validate;
mod words;
mod writing;
