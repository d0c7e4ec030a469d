//! A directory with one file per object, named after it, without a manifest: what a person keeps
//! and edits.
//!
//! What is there is only ever replaced by an edit of the text that was read ([`super::fix`]); a
//! new file takes no place that is taken.

use super::disk::{Found, Root};
use super::lock::{Lock, gate};
use super::path::is_plain;
use super::{Error, disk};
use std::fs;
use std::path::{Path, PathBuf};

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// A file was made.
    New,
    /// The file holds it already.
    Same,
    /// The file holds something else and was left as it is.
    Taken,
}

/// A directory with one file per object.
#[derive(Debug)]
pub struct Flat(Root);

impl Flat {
    /// The directory at a path; it need not be there.
    pub fn new(path: &Path) -> Self {
        Self(Root::new(path))
    }

    /// Where the file of an object is.
    pub fn place(&self, name: &str) -> PathBuf {
        self.0.place(&format!("{name}.yaml"))
    }

    /// Makes the file of an object.
    ///
    /// # Errors
    /// The file system's, a name that leads elsewhere.
    pub fn create(&self, name: &str, text: &str) -> Result<Placed, Error> {
        // The name is that of an object in a file, and may have separators.
        if !is_plain(name) {
            return Err(Error::Name(name.to_owned()));
        }
        let relative = format!("{name}.yaml");
        self.0.create()?;
        // Two runs may make one file at once: the second one finds it.
        let lock = Lock::take(self.0.directory(), &mut || {})?;
        match self.0.look(&relative)? {
            Found::File(found) if found.content == text.as_bytes() => Ok(Placed::Same),
            // What is no regular file is in the way, too.
            Found::File(_) | Found::Other(_) => Ok(Placed::Taken),
            Found::Nothing => {
                let gate = gate();
                let new = lock.temporary(text.as_bytes(), &gate)?;
                disk::sync(self.0.directory(), &[&new])?;
                self.0.put(&relative, &self.place(name), new, false)?;
                drop(gate);
                Ok(Placed::New)
            }
        }
    }

    /// Whether a file lies in the directory, links resolved.
    pub fn holds(&self, file: &Path) -> bool {
        let root = fs::canonicalize(self.0.place(""));
        matches!((root, fs::canonicalize(file)), (Ok(root), Ok(file)) if file.starts_with(&root))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_not_replaced() {
        let scratch = tempfile::tempdir().unwrap();
        let flat = Flat::new(&scratch.path().join("classes"));
        assert!(!flat.holds(&flat.place("a")));
        assert_eq!(flat.create("a", "a: 1\n").unwrap(), Placed::New);
        assert_eq!(flat.create("a", "a: 1\n").unwrap(), Placed::Same);
        assert_eq!(flat.create("a", "a: 2\n").unwrap(), Placed::Taken);
        assert_eq!(fs::read_to_string(flat.place("a")).unwrap(), "a: 1\n");
        assert!(flat.holds(&flat.place("a")));
        assert!(matches!(flat.create("../b", "b"), Err(Error::Name(_))));
    }
}
