//! The server inside a container: which engine it is, what its command line sets, and how many
//! devices it uses.
//!
//! In: a built container. Out: an [`EngineSettings`], each field with the leaf that set it, the
//! [`Ranks`] of a pod, and the memory that the engine needs beside weights and cache. What is not
//! known (another program, a variable without a value) stays unknown: nothing is assumed about it.
//! This module must not depend on a service, a model or a cluster.

mod adapters;
mod command;
mod document;
mod file;
mod flags;
mod identity;
pub mod logs;
mod memory;
mod overrides;
mod ranks;
mod setting;
mod settings;
mod shell;
mod values;
mod variables;
mod weights;

pub use adapters::Adapters;
pub(crate) use document::tensor_parallel_by_document;
pub use identity::Engine;
pub use memory::{CONSTANTS, Constants, Estimate, Load, Term, largest_share};
pub use overrides::{draft_model, only_context};
pub use ranks::Ranks;
pub use setting::{Fault, Known, Setting};
pub(crate) use settings::is_own_server;
pub use settings::{Container, EngineSettings};
pub use weights::{holds_unquantized, loaded_weights};
