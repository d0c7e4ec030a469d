//! Objects leave the program: as one text, or as files in a directory.
//!
//! In: trees. Out: YAML documents, a JSON list, files. This room decides nothing about objects;
//! beside `load` it is the only one that touches the file system, and it never writes or removes
//! anything outside the directory it was given.

mod comment;
mod directory;
mod disk;
mod file;
pub mod fix;
mod flat;
mod json;
mod manifest;
mod path;
pub mod stream;

pub use comment::{Voice, comment};
pub use directory::{Check, Difference, Directory, Prune, State};
pub use file::replace;
pub use flat::{Flat, Placed};
pub use path::path_of;

use std::path::{Path, PathBuf};

/// Why a directory could not be written or compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A symbolic link stands where a directory of ours should: what is behind it may lie anywhere.
    #[error("`{}` is a symbolic link: nothing is written through it", .0.display())]
    Link(PathBuf),
    /// Something that is no directory stands where one is needed.
    #[error("`{}` is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The manifest of an earlier run cannot be read.
    #[error("`{}` is not a manifest of an earlier run: {reason}", .path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The name of an object cannot be part of a path.
    #[error("`{0}` cannot be part of the name of a file")]
    Name(String),
}

impl Error {
    fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}
