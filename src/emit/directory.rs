//! `-o dir=PATH`: a file per object, and a manifest of what was written.
//!
//! Everything that changes is first written to temporary files. Only when nothing is in the way
//! do they take their names, under a manifest that lists what files held and what they will hold:
//! a run that is killed at any moment leaves whole files, and the next one knows them all.

use super::Error;
use super::disk::{self, Found, Root};
use super::ledger::{Ledger, Options, same_text, sha256};
use super::lock::{Gate, Lock, gate};
use super::manifest::{self, Files};
use crate::diag::{Code, Diagnostic};
use crate::yaml::Node;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A directory that is being written.
#[derive(Debug)]
pub struct Directory {
    ledger: Ledger,
    staged: Vec<Staged>,
    refused: Vec<Diagnostic>,
    // Dropped last: temporary files are removed under the lock. A directory that cannot be written
    // has none, which matters only if something is to be written.
    lock: Result<Lock, Error>,
}

/// A file that is written and has no name yet.
#[derive(Debug)]
struct Staged {
    path: String,
    /// Where it goes: the path, or the file to which a link of that name leads.
    target: PathBuf,
    new: TempPath,
    /// What it replaces.
    old: Option<Vec<u8>>,
}

/// What became of a directory.
#[derive(Debug, Default)]
pub struct Done {
    /// Why nothing was written: files that are not ours or were edited.
    pub refused: Vec<Diagnostic>,
    /// How many files of earlier runs this one would not write, which stay because the input was
    /// not read as a whole.
    pub held: usize,
    /// Files of earlier runs that were removed, relative to the directory.
    pub removed: Vec<String>,
}

impl Directory {
    /// Locks a directory, which need not be there, and reads the manifest of an earlier run.
    /// `waiting` is called once if another run writes it.
    ///
    /// # Errors
    /// A manifest that cannot be read or leads elsewhere, a lock that is not given back.
    pub fn open(root: &Path, options: Options, waiting: &mut dyn FnMut()) -> Result<Self, Error> {
        let root = Root::new(root);
        root.create()?;
        // A directory that is right already may be read-only: the error counts where something is
        // written.
        let lock = match Lock::take(root.directory(), waiting) {
            Err(error) if !error.is_denied() => return Err(error),
            lock => lock,
        };
        let ledger = Ledger::open(root, options)?;
        Ok(Self { ledger, staged: Vec::new(), refused: Vec::new(), lock })
    }

    /// The lock, or why there is none.
    fn lock(&mut self) -> Result<&Lock, Error> {
        if self.lock.is_err() {
            // The error can be returned once, and an error of I/O cannot be cloned.
            let none = Err(Error::Busy(self.ledger.root.directory().to_owned()));
            std::mem::replace(&mut self.lock, none)?;
        }
        self.lock.as_ref().map_err(|_| Error::Busy(self.ledger.root.directory().to_owned()))
    }

    /// Takes an object of a service with its YAML; a file that is right already is left alone.
    ///
    /// # Errors
    /// The file system's, a name that leads elsewhere, a link or a file in place of a directory.
    pub fn write(
        &mut self,
        object: &Node,
        text: &str,
        namespace: &str,
        service: &str,
    ) -> Result<(), Error> {
        let path = self.ledger.take(object, text, namespace, service)?;
        self.stage(path, text)
    }

    /// Writes a text to a temporary file if the file of this path is another; says what is in the
    /// way.
    fn stage(&mut self, path: String, text: &str) -> Result<(), Error> {
        let place = self.ledger.root.place(&path);
        let old = match self.ledger.root.look(&path)? {
            // The time of the file stays, so that tools that look at it do nothing.
            Found::File(old) if same_text(&old.content, text.as_bytes()) => return Ok(()),
            Found::File(old) => Some(old),
            Found::Other(what) => {
                self.refused.push(in_the_way(&place, Some(what)));
                return Ok(());
            }
            Found::Nothing => None,
        };
        if let Some(old) = &old {
            match self.ledger.wrote(&path, &old.content) {
                None => {
                    self.refused.push(in_the_way(&place, None));
                    return Ok(());
                }
                Some(false) if !self.ledger.force() => {
                    self.refused.push(edited(&place, "overwritten"));
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        let new = self.lock()?.temporary(text.as_bytes(), &gate())?;
        if let Some(old) = &old {
            match disk::inherit(&new, &place, &old.data) {
                Ok(()) => {}
                Err(error @ (Error::HardLinks(..) | Error::Owner(_))) => {
                    let finding = Diagnostic::new(Code::FileInTheWay, error.to_string());
                    self.refused.push(finding.in_file(place.display().to_string()));
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        let (target, old) = old.map_or((place, None), |old| (old.target, Some(old.content)));
        self.staged.push(Staged { path, target, new, old });
        Ok(())
    }

    /// Renames the files into place, removes files that are no longer written if the `whole` input
    /// was read, and writes the manifest. Only files in a manifest are ever removed. If any file is
    /// in the way, nothing is changed.
    ///
    /// # Errors
    /// The file system's; what was written until then is listed.
    pub fn finish(mut self, whole: bool) -> Result<Done, Error> {
        // They list what this run writes, so they come after all objects.
        for (path, text) in self.ledger.kustomizations(whole) {
            self.ledger.now.insert(path.clone(), sha256(text.as_bytes()));
            self.stage(path, &text)?;
        }
        let (stay, go) = self.ledger.rest(whole);
        // The ledger is borrowed by the paths and changed by what follows.
        let (stay, go): (Vec<String>, Vec<String>) =
            (stay.into_iter().cloned().collect(), go.into_iter().cloned().collect());
        for path in &go {
            self.may_remove(path)?;
        }
        self.shared_targets();
        if !self.refused.is_empty() {
            return Ok(Done { refused: self.refused, ..Done::default() });
        }
        let held = if whole { 0 } else { self.ledger.unwanted().count() };
        self.commit(&stay, &go)?;
        Ok(Done { held, removed: go, ..Done::default() })
    }

    /// A file that was edited by hand is not removed, and neither is one that replaced it.
    fn may_remove(&mut self, path: &str) -> Result<(), Error> {
        let place = self.ledger.root.place(path);
        let kept = match self.ledger.root.look(path)? {
            Found::Nothing => false,
            Found::File(file) => {
                file.is_link || self.ledger.wrote(path, &file.content) != Some(true)
            }
            Found::Other(_) => true,
        };
        if kept && !self.ledger.force() {
            self.refused.push(edited(&place, "removed"));
        }
        Ok(())
    }

    /// Two names may lead to one file by a link; it cannot hold both contents.
    fn shared_targets(&mut self) {
        let root = &self.ledger.root;
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        // All names of the directory, since a link may lead to a file of an earlier run, too.
        let paths: BTreeSet<PathBuf> = self
            .ledger
            .now
            .keys()
            .chain(self.ledger.before.keys())
            .map(|path| root.place(path))
            .collect();
        let mut twice = Vec::new();
        for staged in &self.staged {
            let path = root.place(&staged.path);
            let is_link = staged.target != path;
            if is_link && (paths.contains(&staged.target) || !seen.insert(&staged.target)) {
                twice.push(in_the_way(
                    &path,
                    Some("a symbolic link to another file of the directory"),
                ));
            }
        }
        self.refused.extend(twice);
    }

    fn commit(self, stay: &[String], go: &[String]) -> Result<(), Error> {
        let Self { ledger, staged, lock, .. } = self;
        let mut after: Files = stay
            // Files that stay keep the sums that they had, edited or not.
            .iter()
            .filter_map(|path| Some((path.clone(), ledger.before.get(path)?.clone())))
            .collect();
        after.extend(ledger.now.iter().map(|(path, sum)| (path.clone(), [sum.clone()].into())));
        let same = staged.is_empty() && go.is_empty();
        // A list that git merged is written again even where no file changes.
        if same && after == ledger.before && !ledger.old_name && !ledger.is_merged {
            return Ok(());
        }
        let lock = lock?;
        let new: Vec<&Path> = staged.iter().map(|file| &*file.new).collect();
        // Content before names: after a power cut no name leads to an empty file.
        disk::sync(ledger.root.directory(), &new)?;
        // One step for signals: a run that came this far is completed.
        let gate = gate();
        if !same {
            // If the process is killed on the way, either content is ours.
            let mut either = ledger.before.clone();
            for (path, sums) in &after {
                either.entry(path.clone()).or_default().extend(sums.iter().cloned());
            }
            list(&ledger.root, &lock, &gate, &either)?;
        }
        let mut written = Vec::new();
        // A closure, so that what was written until an error is in the error.
        let finish = || {
            for file in staged {
                // An editor takes no lock.
                disk::unchanged(&file.target, file.old.as_deref())?;
                ledger.root.put(&file.path, &file.target, file.new, file.old.is_some())?;
                written.push(file.target);
            }
            for path in go {
                let is_ours = |content: &[u8]| ledger.wrote(path, content) == Some(true);
                match ledger.root.look(path)? {
                    Found::File(file) if !ledger.force() && !is_ours(&file.content) => {
                        return Err(Error::Changed(ledger.root.place(path)));
                    }
                    _ => ledger.root.remove(path)?,
                }
            }
            list(&ledger.root, &lock, &gate, &after)?;
            attributes(&ledger.root, &lock, &gate)?;
            // Last: until the new list is there, the old one knows the files.
            if ledger.old_name { ledger.root.remove(manifest::OLD) } else { Ok(()) }
        };
        finish().map_err(|error| Error::Partly { error: Box::new(error), written })
    }
}

/// How git merges the manifest, and that it does not change line ends, of which the sums know
/// nothing (gitattributes, `merge=union`, `text`).
const ATTRIBUTES: &str = "\
# Written by ome: how git treats the files of this directory.
.ome-manifest merge=union -text
*.yaml -text
";

/// Writes the attributes of a directory in a repository of git, unless there are some.
fn attributes(root: &Root, lock: &Lock, gate: &Gate) -> Result<(), Error> {
    const NAME: &str = ".gitattributes";
    let full = std::path::absolute(root.directory()).unwrap_or_default();
    let is_in_git = full.ancestors().any(|directory| directory.join(".git").exists());
    if !is_in_git || !matches!(root.look(NAME)?, Found::Nothing) {
        return Ok(());
    }
    let new = lock.temporary(ATTRIBUTES.as_bytes(), gate)?;
    let place = root.place(NAME);
    root.put(NAME, &place, new, false)
}

/// Writes the manifest.
fn list(root: &Root, lock: &Lock, gate: &Gate, files: &Files) -> Result<(), Error> {
    let place = root.place(manifest::NAME);
    let old = root.look(manifest::NAME)?;
    let new = lock.temporary(manifest::write(files).as_bytes(), gate)?;
    if let Found::File(old) = &old {
        disk::inherit(&new, &place, &old.data)?;
    }
    disk::sync(root.directory(), &[&new])?;
    root.put(manifest::NAME, &place, new, matches!(old, Found::File(_)))?;
    disk::sync_names(root.directory());
    Ok(())
}

fn in_the_way(place: &Path, what: Option<&str>) -> Diagnostic {
    let place = place.display().to_string();
    let what = what.map_or(String::new(), |what| format!(" (it is {what})"));
    Diagnostic::new(Code::FileInTheWay, format!("{place} is in the way: not written by ome{what}"))
        .in_file(place)
        .help("move it away, or write to another directory")
}

fn edited(place: &Path, spared: &str) -> Diagnostic {
    let place = place.display().to_string();
    let message = format!("{place} was edited by hand since ome wrote it and is not {spared}");
    Diagnostic::new(Code::FileEdited, message)
        .in_file(place)
        .help("make the change in the input; `--force` gives up the edits")
}
