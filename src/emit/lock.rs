//! One writer per directory: the lock file `.ome-lock`, and the temporary files of its holder.
//!
//! In: a directory. Out: its lock, and temporary files in it. The lock file lists the holder's
//! temporary files, each before it is created: the next run removes exactly the files of a killed
//! run, and no user file with a similar name. SIGINT and SIGTERM remove them at once. The operating
//! system releases the lock of a killed run.

#![expect(
    clippy::disallowed_methods,
    reason = "files are written and removed in this module and nowhere else"
)]

use super::Error;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempPath;

/// Name of the lock file.
const NAME: &str = ".ome-lock";
/// Its first line. A file of this name that begins otherwise is the user's.
const HEAD: &str =
    "ome writes this directory; the next run removes this file if it is left behind\n";
/// Names of temporary files, around six letters and digits.
const PREFIX: &str = ".ome-";
const SUFFIX: &str = ".tmp";
/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(10);

/// Directories that this process has locked. Files are created, renamed and removed under this
/// mutex: a signal waits for it, cleans up, and ends the process without giving it back.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Keeps a signal from ending the process until it is dropped.
pub(super) type Gate = MutexGuard<'static, Vec<PathBuf>>;

/// Waits for a signal that is being handled, and keeps the next one waiting.
pub(super) fn gate() -> Gate {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of a directory; dropping it unlocks.
#[derive(Debug)]
pub(super) struct Lock {
    directory: PathBuf,
    file: File,
}

impl Lock {
    /// Locks a directory that exists. `waiting` is called once if another run holds the lock.
    ///
    /// # Errors
    /// The file system's; a lock file that is not ours; another run that does not end.
    pub(super) fn take(directory: &Path, waiting: &mut dyn FnMut()) -> Result<Self, Error> {
        let path = directory.join(NAME);
        let start = Instant::now();
        let mut waited = false;
        loop {
            let file = open(&path)?;
            match file.try_lock() {
                // The holder before us removed the file that we had opened: lock the new one.
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => return Self::begin(directory, file),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path, error)),
                Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                    return Err(Error::Busy(directory.to_owned()));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            // Another run is done in an instant mostly, and a message would only be noise.
            if !waited && start.elapsed() > PAUSE * 20 {
                waited = true;
                waiting();
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Removes the temporary files of a killed run, and starts a new list.
    fn begin(directory: &Path, mut file: File) -> Result<Self, Error> {
        let path = directory.join(NAME);
        // A signal between the list and its first line would leave a file that looks like a user's.
        let mut held = gate();
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(|error| Error::io("read", &path, error))?;
        let text = String::from_utf8_lossy(&text);
        if !text.is_empty() && !text.starts_with(HEAD) {
            return Err(Error::InTheWay(path));
        }
        sweep(directory, &text);
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(HEAD.as_bytes()))
            .map_err(|error| {
                // On a full disk the file would stay behind without its first line.
                let _ = fs::remove_file(&path);
                Error::io("write", &path, error)
            })?;
        // From here on a signal removes the lock, so that it must be one that is held.
        held.push(directory.to_owned());
        drop(held);
        #[cfg(unix)]
        clean_up_on_signals();
        Ok(Self { directory: directory.to_owned(), file })
    }

    /// A new file in the directory that holds `content`; dropping its path removes it.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn temporary(&self, content: &[u8], _: &Gate) -> Result<TempPath, Error> {
        let failed = |error| Error::io("write a file in", &self.directory, error);
        let create = |path: &Path| {
            // The list must never hold a file that is not ours.
            if fs::symlink_metadata(path).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            let name = path.file_name().unwrap_or_default();
            // The name is on the list before the file exists: a kill in between leaves nothing
            // unknown.
            (&self.file).write_all(format!("{}\n", name.display()).as_bytes())?;
            File::create_new(path)
        };
        let mut file = tempfile::Builder::new()
            .prefix(PREFIX)
            .suffix(SUFFIX)
            .make_in(&self.directory, create)
            .map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        Ok(file.into_temp_path())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut held = gate();
        held.retain(|directory| *directory != self.directory);
        // A waiting run has this file open and notices that its name was removed.
        let _ = fs::remove_file(self.directory.join(NAME));
    }
}

/// Opens the lock file, creating it if there is none. A link is not followed.
fn open(path: &Path) -> Result<File, Error> {
    match fs::symlink_metadata(path) {
        Ok(data) if !data.is_file() => return Err(Error::InTheWay(path.to_owned())),
        _ => {}
    }
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
    options.open(path).map_err(|error| Error::io("create", path, error))
}

/// Whether an open file is still the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Removes the temporary files that a lock file lists.
fn sweep(directory: &Path, text: &str) {
    let ours = |name: &&str| {
        name.strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_suffix(SUFFIX))
            .is_some_and(|id| id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    // The first line is the mark.
    for name in text.lines().skip(1).filter(ours) {
        let _ = fs::remove_file(directory.join(name));
    }
}

/// Removes temporary files and locks before SIGINT or SIGTERM ends the process.
#[cfg(unix)]
fn clean_up_on_signals() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else {
            return;
        };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let held = gate();
                for directory in &*held {
                    let path = directory.join(NAME);
                    sweep(directory, &fs::read_to_string(&path).unwrap_or_default());
                    let _ = fs::remove_file(path);
                }
                // Ends the process as the signal would have: the parent sees it.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> =
            entries.map(|name| name.into_string().expect("ASCII")).collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_a_killed_run_are_removed_and_no_others() {
        let scratch = tempfile::tempdir().unwrap();
        let left = {
            let lock = Lock::take(scratch.path(), &mut || {}).unwrap();
            let path = lock.temporary(b"half", &gate()).unwrap().keep().unwrap();
            // A killed run runs no destructors: its list stays.
            let text = fs::read(scratch.path().join(NAME)).unwrap();
            drop(lock);
            fs::write(scratch.path().join(NAME), text).unwrap();
            path
        };
        assert!(left.exists());
        // Of the user, by the same pattern.
        fs::write(scratch.path().join(".ome-backup.tmp"), "mine").unwrap();
        fs::write(scratch.path().join("a.ome-tmp"), "mine").unwrap();
        drop(Lock::take(scratch.path(), &mut || {}).unwrap());
        assert_eq!(names(scratch.path()), [".ome-backup.tmp", "a.ome-tmp"]);
    }

    #[test]
    fn a_lock_file_cannot_name_other_files_for_removal() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("sub")).unwrap();
        for name in ["mine.yaml", ".ome-x.tmp", "sub/.ome-abcdef.tmp"] {
            fs::write(scratch.path().join(name), "mine").unwrap();
        }
        let list = format!("{HEAD}mine.yaml\n.ome-x.tmp\nsub/.ome-abcdef.tmp\n../x\n.ome-");
        fs::write(scratch.path().join(NAME), list).unwrap();
        drop(Lock::take(scratch.path(), &mut || {}).unwrap());
        assert_eq!(names(scratch.path()), [".ome-x.tmp", "mine.yaml", "sub"]);
        assert_eq!(names(&scratch.path().join("sub")), [".ome-abcdef.tmp"]);
    }

    #[test]
    fn a_lock_file_of_the_user_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join(NAME);
        fs::write(&path, "mine").unwrap();
        let refused = Lock::take(scratch.path(), &mut || {});
        assert!(matches!(refused, Err(Error::InTheWay(_))), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        #[cfg(unix)]
        {
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("elsewhere", &path).unwrap();
            let refused = Lock::take(scratch.path(), &mut || {});
            assert!(matches!(refused, Err(Error::InTheWay(_))), "{refused:?}");
            assert!(!scratch.path().join("elsewhere").exists());
        }
    }

    #[test]
    fn writers_take_turns() {
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        let scratch = tempfile::tempdir().unwrap();
        let inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let _lock = Lock::take(scratch.path(), &mut || {}).unwrap();
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        std::thread::sleep(Duration::from_millis(1));
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(names(scratch.path()), [""; 0]);
    }
}
