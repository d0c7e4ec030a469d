//! Reads files into documents.
//!
//! In: the paths of `-f` and `--context`, standard input, and the texts built into the binary. Out:
//! [`Loaded`], every Kubernetes object as a tree with its position, and findings. Only this module
//! and `emit` use the file system; this one only reads, and runs `git` for the texts of a revision;
//! a Kustomize tree of a revision is built in a temporary directory. It checks groups and kinds,
//! but no fields.

mod checkout;
mod documents;
mod embedded;
mod encrypted;
mod exclude;
mod files;
mod find;
mod flow;
mod fragments;
mod helm;
pub mod kinds;
mod kustomize;
mod listed;
mod memory;
mod merge_base;
mod model_files;
mod openshift;
pub mod operated;
mod origins;
mod overlays;
mod peek;
mod placeholders;
mod revision;
mod scope;
pub mod settings;
#[cfg(test)]
mod tests;
mod used_kinds;
mod verbatim;
mod ytt;

pub use documents::{Builtin, Document, Loaded, Request, load, load_again, load_revision};
pub use exclude::Exclude;
pub use files::read_text;
pub use find::{directories, expectations, is_stdin, repository_root};
pub use helm::is_chart_part;
pub use kustomize::{is_kustomization, why_not_built};
pub use memory::{Memory, full};
pub use merge_base::merge_base;
pub use model_files::{
    ModelFiles, certificates, default_cache, hub_endpoint, hub_token, is_offline,
};
pub use peek::{is_resource_list, peek};
pub use placeholders::{has_sign, of as placeholders_of};
pub use verbatim::{DocumentText, Item, parts};
