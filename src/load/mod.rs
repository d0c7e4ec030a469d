//! Files become documents.
//!
//! In: what `-f` and `--context` name, standard input, and the texts built into the binary. Out:
//! [`Loaded`], every Kubernetes object as a tree with its place, and what was found on the way.
//! This module and `emit` are the only ones that touch the file system; this one only reads, and
//! asks `git` for the texts at a revision; a Kustomize tree of one is built in a temporary
//! directory. It knows groups and kinds, but no fields.

mod checkout;
mod documents;
mod embedded;
mod files;
mod find;
mod helm;
pub mod kinds;
mod kustomize;
mod memory;
mod merge_base;
mod model_files;
mod origins;
mod peek;
mod revision;
pub mod settings;
#[cfg(test)]
mod tests;
mod verbatim;

pub use documents::{Document, Loaded, Request, load, load_again, load_revision};
pub use files::read_text;
pub use find::{directories, expectations, is_stdin, repository_root};
pub use kustomize::is_kustomization;
pub use memory::{Memory, full};
pub use merge_base::merge_base;
pub use model_files::{
    ModelFiles, certificates, default_cache, hub_endpoint, hub_token, is_offline,
};
pub use peek::{is_resource_list, peek};
pub use verbatim::{DocumentText, Item, parts};
