//! `--watch`: a command again whenever its input changes.
//!
//! In: the paths of a run. Out: a word after each change, when nothing has changed for a moment.
//! The only place that names notify.

use super::Failure;
use crate::load;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long nothing may change until a change is complete: an editor writes more than once.
const PAUSE: Duration = Duration::from_millis(200);

/// The directories of an input.
pub(super) struct Watch {
    watcher: RecommendedWatcher,
    changes: Receiver<PathBuf>,
    watched: BTreeSet<PathBuf>,
    paths: Vec<PathBuf>,
}

fn failed(error: &notify::Error) -> Failure {
    Failure::Usage(format!("cannot watch the input: {error}"))
}

impl Watch {
    /// Watches files and directories; without any, the current one.
    ///
    /// # Errors
    /// The system has no such events, or not as many.
    pub(super) fn new(mut paths: Vec<PathBuf>) -> Result<Self, Failure> {
        paths.retain(|path| !load::is_stdin(path));
        if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if !event.kind.is_access() {
                // The receiver is gone when the run has ended.
                event.paths.into_iter().for_each(|path| _ = sender.send(path));
            }
        });
        let watcher = watcher.map_err(|error| failed(&error))?;
        Ok(Self { watcher, changes, watched: BTreeSet::new(), paths })
    }

    /// Takes in the directories of the input, and those that have come since.
    ///
    /// # Errors
    /// As [`Watch::new`].
    pub(super) fn extend(&mut self) -> Result<(), Failure> {
        for path in load::directories(&self.paths) {
            if !self.watched.contains(&path) && path.is_dir() {
                // Not recursive: only directories that are read are watched.
                let watching = self.watcher.watch(&path, RecursiveMode::NonRecursive);
                watching.map_err(|error| failed(&error))?;
                self.watched.insert(path);
            }
        }
        Ok(())
    }

    /// How many directories are watched.
    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }

    /// Waits until something of the input has changed and nothing changes any more; false when
    /// nothing ever will.
    pub(super) fn wait(&self) -> bool {
        loop {
            let Ok(path) = self.changes.recv() else { return false };
            let mut concerns = is_input(&path);
            // Editors save in several steps, which are one change.
            while let Ok(path) = self.changes.recv_timeout(PAUSE) {
                concerns |= is_input(&path);
            }
            if concerns {
                return true;
            }
        }
    }
}

/// Whether a path may be one of an input: not a file of another kind, nor one that an editor or
/// another writer keeps for a moment.
fn is_input(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Editors keep hidden files while they save.
    let hidden = name.starts_with('.');
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    !hidden && matches!(&*extension, "yaml" | "yml" | "json" | "toml" | "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editor_files_and_other_extensions_are_not_watched() {
        for (path, expected) in [
            ("a/b.yaml", true),
            ("a/new", true),
            ("ome.toml", true),
            ("a/.b.yaml.swp", false),
            ("a/b.yaml~", false),
            ("a/b.rs", false),
        ] {
            assert_eq!(is_input(Path::new(path)), expected, "{path}");
        }
    }
}
