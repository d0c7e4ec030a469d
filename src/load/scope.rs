//! Which files belong to the input: those below the paths that were named.
//!
//! In: the named paths. Out: whether a link stays within them. A repository can hold a link to any
//! file of the machine that judges it, so a link that leads elsewhere is not followed unless
//! `--follow-outside` permits it, and lines of its file are never shown.

use std::path::{Path, PathBuf};

/// The directories that were named, without links in their paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    roots: Vec<PathBuf>,
    follows: bool,
}

/// Whether the file of a link is read, and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// Below a named path.
    Within,
    /// Elsewhere, and read all the same.
    Outside,
    /// Elsewhere, and not read.
    Forbidden,
}

impl Scope {
    /// The scope of some paths; `follows` is `--follow-outside`.
    pub(super) fn of<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, follows: bool) -> Self {
        let directories = paths.into_iter().filter(|path| path.is_dir());
        Self { roots: directories.filter_map(|path| path.canonicalize().ok()).collect(), follows }
    }

    /// Where a link that was found in a directory leads.
    pub(super) fn link(&self, path: &Path) -> Lies {
        match (is_below(path, &self.roots), self.follows) {
            (true, _) => Lies::Within,
            (false, true) => Lies::Outside,
            (false, false) => Lies::Forbidden,
        }
    }

    /// Where a file leads that was named itself: it is read whatever it is, and is outside if it is
    /// a link that leaves its own directory, the working directory and the named ones.
    pub(super) fn named(&self, path: &Path) -> Lies {
        if !path.is_symlink() {
            return Lies::Within;
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // A link in a checkout often leads to a neighbor in it, which its author controls as well.
        let paths = [parent.unwrap_or(Path::new(".")), Path::new(".")];
        let paths: Vec<PathBuf> =
            paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let within = is_below(path, &paths) || is_below(path, &self.roots);
        if within { Lies::Within } else { Lies::Outside }
    }
}

/// Whether a path leads below one of some directories. One that leads nowhere does: what is not
/// there shows nothing, and is reported as such.
pub(super) fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    path.canonicalize().map_or(true, |path| roots.iter().any(|root| path.starts_with(root)))
}
