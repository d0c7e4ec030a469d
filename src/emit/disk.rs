//! The few ways in which this room touches the file system.
//!
//! Nothing here follows a symbolic link below the root: a directory that is one is refused, a file
//! that is one is replaced and never written through.

#![expect(
    clippy::disallowed_methods,
    reason = "files are written and removed here and nowhere else"
)]

use super::Error;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A directory by its path.
#[derive(Debug)]
pub(super) struct Root(PathBuf);

impl Root {
    /// The directory at a path; it need not be there.
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Where a file of it stands.
    pub(super) fn place(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    /// The content of a file; none when it is not there, or no file.
    pub(super) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.place(relative);
        self.walk(relative, false)?;
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                fs::read(&path).map(Some).map_err(|error| Error::io("read", &path, error))
            }
            Ok(_) => Ok(None),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }

    /// Writes a file through a temporary one beside it, so that nobody ever sees half of it.
    pub(super) fn write(&self, relative: &str, text: &str) -> Result<(), Error> {
        self.walk(relative, true)?;
        let path = self.place(relative);
        let temporary = path.with_added_extension("tmp");
        let _ = fs::remove_file(&temporary);
        // A file that is newly made follows no link.
        let mut file = fs::File::create_new(&temporary)
            .map_err(|error| Error::io("create", &temporary, error))?;
        let written = file.write_all(text.as_bytes());
        drop(file);
        let renamed =
            written.map_err(|error| Error::io("write", &temporary, error)).and_then(|()| {
                fs::rename(&temporary, &path).map_err(|error| Error::io("write", &path, error))
            });
        if renamed.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        renamed
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
        // Directories that hold something else refuse, which is what is wanted.
        for above in
            Path::new(relative).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty())
        {
            if fs::remove_dir(self.0.join(above)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Goes down to the directory of a file. Every step must be a directory and no link; `make`
    /// makes what is missing. The root itself may be a link: the user named it.
    fn walk(&self, relative: &str, make: bool) -> Result<(), Error> {
        if make {
            fs::create_dir_all(&self.0).map_err(|error| Error::io("create", &self.0, error))?;
        }
        let mut place = self.0.clone();
        let steps: Vec<&str> = relative.split('/').collect();
        for step in &steps[..steps.len() - 1] {
            place.push(step);
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_symlink() => return Err(Error::Link(place)),
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(Error::NotADirectory(place)),
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

fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
