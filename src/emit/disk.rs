//! The few ways in which this module touches the file system.
//!
//! A file is replaced by renaming a finished one over it, which keeps its mode and its owner. A
//! directory below the root that is a symbolic link is refused; a file that is one is written
//! through as long as it leads to a file below the root.

#![expect(
    clippy::disallowed_methods,
    reason = "files are written and removed here and nowhere else"
)]

use super::Error;
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A directory by its path.
#[derive(Debug)]
pub(super) struct Root(PathBuf);

/// The kind of a directory entry.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    File(Box<Existing>),
    /// A directory, a FIFO, a link that leads out of the root or nowhere: in words.
    Other(&'static str),
}

/// A regular file.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) content: Vec<u8>,
    /// The file itself, behind a link if its name is one.
    pub(super) target: PathBuf,
    pub(super) is_link: bool,
    pub(super) data: Metadata,
}

impl Root {
    /// The directory at a path; it need not be there.
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The directory itself.
    pub(super) fn directory(&self) -> &Path {
        &self.0
    }

    /// Where a file of it is.
    pub(super) fn place(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// Creates the directory and those above it.
    pub(super) fn create(&self) -> Result<(), Error> {
        fs::create_dir_all(&self.0).map_err(|error| {
            // The system's error names the path, and not the file in the middle of it.
            let in_the_way = self.0.ancestors().find(|above| above.exists() && !above.is_dir());
            in_the_way.map_or_else(
                || Error::io("create", &self.0, error),
                |above| Error::NotADirectory(above.to_owned()),
            )
        })
    }

    /// Returns the entry at a path.
    pub(super) fn look(&self, relative: &str) -> Result<Found, Error> {
        let path = self.place(relative);
        // Links in directories are refused before the entry itself is looked at.
        self.walk(relative, false)?;
        let data = match fs::symlink_metadata(&path) {
            Ok(data) => data,
            Err(error) if absent(&error) => return Ok(Found::Nothing),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        if !data.is_symlink() {
            return if data.is_file() { existing(path, false, data) } else { Ok(other(&data)) };
        }
        // Both canonical: the root may be below a link, as /tmp of macOS is.
        let (Ok(target), Ok(root)) = (fs::canonicalize(&path), fs::canonicalize(&self.0)) else {
            return Ok(Found::Other("a symbolic link that leads nowhere"));
        };
        let data = fs::metadata(&target).map_err(|error| Error::io("read", &target, error))?;
        match target.starts_with(&root) {
            true if data.is_file() => existing(target, true, data),
            true => Ok(other(&data)),
            false => Ok(Found::Other("a symbolic link that leads elsewhere")),
        }
    }

    /// Renames a finished file to `target`. A new file replaces no existing one.
    pub(super) fn put(
        &self,
        relative: &str,
        target: &Path,
        new: TempPath,
        replaces: bool,
    ) -> Result<(), Error> {
        self.walk(relative, true)?;
        place(new, target, replaces)
    }

    /// Removes a file and the directories above it that are empty then; a file that is not there is
    /// no failure.
    pub(super) fn remove(&self, relative: &str) -> Result<(), Error> {
        self.walk(relative, false)?;
        let path = self.place(relative);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Ok(()),
            Ok(_) => fs::remove_file(&path).map_err(|error| Error::io("remove", &path, error))?,
            Err(error) if absent(&error) => {}
            Err(error) => return Err(Error::io("remove", &path, error)),
        }
        // Removing a directory with other entries fails, as intended.
        for above in
            Path::new(relative).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty())
        {
            if fs::remove_dir(self.0.join(above)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Checks the directories on the path of a file. Each must be a directory and not a link;
    /// `make` creates missing ones. The root itself can be a link, because the user named it.
    fn walk(&self, relative: &str, make: bool) -> Result<(), Error> {
        let mut place = self.0.clone();
        let steps: Vec<&str> = relative.split('/').collect();
        for step in &steps[..steps.len() - 1] {
            place.push(step);
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_symlink() => return Err(Error::Link(place)),
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(Error::NotADirectory(place)),
                // Two runs may create one directory at once.
                Err(error) if absent(&error) && make => match fs::create_dir(&place) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(Error::io("create", &place, error));
                    }
                    _ => {}
                },
                Err(error) if absent(&error) => return Ok(()),
                Err(error) => return Err(Error::io("read", &place, error)),
            }
        }
        Ok(())
    }
}

fn existing(target: PathBuf, is_link: bool, data: Metadata) -> Result<Found, Error> {
    let content = fs::read(&target).map_err(|error| Error::io("read", &target, error))?;
    Ok(Found::File(Box::new(Existing { content, target, is_link, data })))
}

fn other(data: &Metadata) -> Found {
    Found::Other(if data.is_dir() { "a directory" } else { "no regular file" })
}

fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Sets the mode and the owner of a new file to those of the file that it replaces.
///
/// # Errors
/// The old file has several hard links, which renaming would separate; or it has an owner that this
/// process may not set.
pub(super) fn inherit(new: &Path, old: &Path, data: &Metadata) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        if data.nlink() > 1 {
            return Err(Error::HardLinks(old.to_owned(), data.nlink()));
        }
        let metadata = fs::metadata(new).map_err(|error| Error::io("read", new, error))?;
        let other = |ours: u32, old: u32| (ours != old).then_some(old);
        // A user who is not root may set neither: only what differs is set.
        let (user, group) = (other(metadata.uid(), data.uid()), other(metadata.gid(), data.gid()));
        if (user.is_some() || group.is_some()) && chown(new, user, group).is_err() {
            return Err(Error::Owner(old.to_owned()));
        }
    }
    // The mode is set last: chown clears the set-user-id bit.
    fs::set_permissions(new, data.permissions()).map_err(|error| Error::io("write", old, error))
}

/// Checks that a file still has the content that its replacement was made from; none that it is not
/// there.
///
/// # Errors
/// [`Error::Changed`], and the file system's.
pub(super) fn unchanged(path: &Path, before: Option<&[u8]>) -> Result<(), Error> {
    match (fs::read(path), before) {
        (Ok(now), Some(before)) if now == before => Ok(()),
        (Err(error), None) if absent(&error) => Ok(()),
        (Err(error), _) if !absent(&error) => Err(Error::io("read", path, error)),
        _ => Err(Error::Changed(path.to_owned())),
    }
}

/// Renames a finished file over another one, or to a name that must be free.
pub(super) fn place(new: TempPath, target: &Path, replaces: bool) -> Result<(), Error> {
    // A name that was free may be taken by now, and its content is somebody's.
    let placed = if replaces { new.persist(target) } else { new.persist_noclobber(target) };
    placed.map_err(|refused| Error::io("write", target, refused.error))
}

/// From this number of files on, one `syncfs` replaces an `fsync` for each file.
#[cfg(target_os = "linux")]
const MANY: usize = 32;

/// Has the content of finished files written to the disk, before any name leads to it.
pub(super) fn sync(directory: &Path, files: &[&Path]) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    if files.len() >= MANY {
        let opened = File::open(directory);
        let synced = opened.and_then(|open| Ok(rustix::fs::syncfs(open)?));
        return synced.map_err(|error| Error::io("write", directory, error));
    }
    for file in files {
        // Windows needs a file that is open for writing; elsewhere a mode may forbid it.
        let opened = File::options().read(true).write(cfg!(windows)).open(file);
        let synced = opened.and_then(|open| open.sync_all());
        synced.map_err(|error| Error::io("write", directory, error))?;
    }
    Ok(())
}

/// Has the names in a directory written to the disk. Not every file system can; those that cannot
/// promise nothing about names.
pub(super) fn sync_names(directory: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|open| open.sync_all());
    #[cfg(not(unix))]
    let _ = directory;
}
