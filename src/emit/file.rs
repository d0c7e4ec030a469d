//! Single files that are replaced as a whole.

#![expect(
    clippy::disallowed_methods,
    reason = "files are written and removed in this module and nowhere else"
)]

use super::lock::{Lock, gate};
use super::{Error, disk};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Replaces the content of a file by what `make` makes of it, or creates the file. The replacement
/// is atomic: a run that is killed leaves the old content. A link is written through; mode and
/// owner stay. Two runs that write one directory wait for each other, and `make` sees what the
/// other one wrote.
///
/// # Errors
/// What `make` refuses, and the file system; what is no regular file, or has several names.
pub fn rewrite<E: From<Error>>(
    path: &Path,
    make: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, E>,
) -> Result<(), E> {
    let target = target(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let lock = Lock::take(directory, &mut || {})?;
    // The file is read under the lock, so that no other run changes it in between.
    let old = metadata(&target)?;
    let before = match &old {
        Some(_) => Some(fs::read(&target).map_err(|error| Error::io("read", path, error))?),
        None => None,
    };
    let after = make(before.as_deref())?;
    // Without a change the file keeps its time.
    if before.as_ref() == Some(&after) {
        return Ok(());
    }
    let gate = gate();
    let new = lock.temporary(&after, &gate)?;
    if let Some(old) = &old {
        disk::inherit(&new, path, old)?;
    }
    disk::sync(directory, &[&new])?;
    // An editor takes no lock, and the disk may have taken its time.
    disk::unchanged(&target, before.as_deref())?;
    disk::place(new, &target, old.is_some())?;
    disk::sync_names(directory);
    drop(gate);
    Ok(())
}

/// Writes a file that is generated as a whole, with the directories to it. It replaces only a file
/// that holds the same mark, which the text holds too.
///
/// # Errors
/// [`Error::InTheWay`] for a file without the mark, and those of [`rewrite`].
pub fn generate(path: &Path, text: &str, mark: &str) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| Error::io("create", parent, error))?;
    }
    rewrite(path, |old| match old {
        Some(old) if !String::from_utf8_lossy(old).contains(mark) => {
            Err(Error::InTheWay(path.to_owned()))
        }
        _ => Ok(text.as_bytes().to_vec()),
    })
}

/// The file that a path means: where a link leads.
fn target(path: &Path) -> Result<PathBuf, Error> {
    match fs::canonicalize(path) {
        Ok(target) => metadata(&target).map(|_| target),
        // A link that leads nowhere is not replaced by a file.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => {
            Ok(path.to_owned())
        }
        Err(error) => Err(Error::io("write", path, error)),
    }
}

/// The metadata of a regular file; none when there is no file.
fn metadata(path: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => Ok(Some(data)),
        Ok(_) => Err(Error::NotAFile(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(path: &Path, text: &str) -> Result<(), Error> {
        rewrite(path, |_| Ok(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_file_is_made_and_replaced_and_nothing_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.json");
        replace(&path, "1").unwrap();
        replace(&path, "2").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        let refused: Result<(), Error> = rewrite(&path, |old| {
            assert_eq!(old, Some(&b"2"[..]));
            Err(Error::InTheWay(path.clone()))
        });
        assert!(refused.is_err() && fs::read_to_string(&path).unwrap() == "2");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    /// What an editor saves while the new content is made and synced is newer than it.
    #[test]
    fn a_file_that_is_saved_meanwhile_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.yaml");
        for before in [Some("1"), None] {
            let _ = fs::remove_file(&path);
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            let left = rewrite(&path, |_| {
                fs::write(&path, "saved").unwrap();
                Ok::<_, Error>(b"made".to_vec())
            });
            assert!(matches!(left, Err(Error::Changed(_))), "{before:?}: {left:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "saved");
        }
        let left = rewrite(&path, |_| {
            fs::remove_file(&path).unwrap();
            Ok::<_, Error>(b"made".to_vec())
        });
        assert!(matches!(left, Err(Error::Changed(_))) && !path.exists(), "{left:?}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_stay() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("real"), "1").unwrap();
        fs::set_permissions(at("real"), fs::Permissions::from_mode(0o604)).unwrap();
        symlink("real", at("link")).unwrap();
        replace(&at("link"), "2").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(fs::read_to_string(at("real")).unwrap(), "2");
        assert_eq!(fs::metadata(at("real")).unwrap().mode() & 0o777, 0o604);

        fs::hard_link(at("real"), at("twin")).unwrap();
        assert!(matches!(replace(&at("twin"), "3"), Err(Error::HardLinks(_, 2))));
        assert_eq!(fs::metadata(at("real")).unwrap().nlink(), 2);
        // What is right already needs no writing.
        replace(&at("twin"), "2").unwrap();

        symlink("nowhere", at("dangling")).unwrap();
        assert!(replace(&at("dangling"), "1").is_err() && at("dangling").is_symlink());
        fs::create_dir(at("directory")).unwrap();
        assert!(matches!(replace(&at("directory"), "1"), Err(Error::NotAFile(_))));
        assert!(matches!(replace(Path::new("/dev/null"), "1"), Err(Error::NotAFile(_))));
    }
}
