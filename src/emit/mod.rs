//! Writes objects: as one text, or as files in a directory.
//!
//! In: trees. Out: YAML documents, a JSON list, files. This module decides nothing about objects;
//! beside `load` it is the only one that touches the file system, and it never writes or removes
//! anything outside the directory it was given.

mod check;
mod comment;
mod directory;
mod disk;
mod file;
pub mod fix;
mod flat;
mod kustomization;
mod ledger;
mod lock;
mod manifest;
mod path;
pub mod stream;
#[cfg(test)]
mod tests;

pub use check::{Check, Difference, State};
pub use comment::{ValueSource, comment};
pub use directory::{Directory, Done};
pub use file::{generate, rewrite};
pub use flat::{Flat, Placed};
pub use kustomization::Layout;
pub use ledger::{Options, Prune};

use std::path::{Path, PathBuf};

/// Why a file or a directory could not be written or compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    Io {
        /// The failed operation.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// It failed on the way.
    #[error("{error}; written before that: {}", list(.written))]
    Partly {
        /// Why.
        error: Box<Error>,
        /// The written files; the manifest lists them.
        written: Vec<PathBuf>,
    },
    /// A symbolic link is in place of a directory; its target can be anywhere.
    #[error("`{}` is a symbolic link: nothing is written through it", .0.display())]
    Link(PathBuf),
    /// Something that is no directory is where one is needed.
    #[error("`{}` is a file and not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A device, a FIFO or a directory cannot be replaced by a file.
    #[error("`{}` is no regular file and is left as it is", .0.display())]
    NotAFile(PathBuf),
    /// A file of the user's has a name that is needed.
    #[error("{} is in the way: not written by ome", .0.display())]
    InTheWay(PathBuf),
    /// Replacing one name of a file would part it from the others.
    #[error("`{}` is one of {} hard links to a file: writing would part them", .0.display(), .1)]
    HardLinks(PathBuf, u64),
    /// A new file cannot be given to the owner of the old one.
    #[error("`{}` belongs to another user or group, which this run cannot keep", .0.display())]
    Owner(PathBuf),
    /// Somebody saved the file after it was read.
    #[error("`{}` changed while it was being written and is left as it is: run it again", .0.display())]
    Changed(PathBuf),
    /// Another run does not end.
    #[error("another ome writes {}", .0.display())]
    Busy(PathBuf),
    /// Two objects that only differ in their version.
    #[error("two objects would be written to `{}`", .0.display())]
    Twice(PathBuf),
    /// The manifest of an earlier run cannot be read.
    #[error("`{}` is not a manifest of an earlier run: {reason}", .path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The name of an object cannot be part of a path.
    #[error("`{0}` cannot be part of the name of a file")]
    Name(String),
}

impl Error {
    /// Whether the file system does not let this user write.
    fn is_denied(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem))
    }

    fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

fn list(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "nothing".to_owned();
    }
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
