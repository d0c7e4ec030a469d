//! A cache between two reads of the same input.
//!
//! In: texts that an editor has open, and the results of a read. Out: texts of unchanged files, and
//! the documents of equal texts. Without the cache, the results are the same and slower.

use super::documents::reading::Outcome;
use super::files::{self, Unread};
use super::find::{Found, Input, is_manifest};
use super::helm::Charts;
use crate::source::{FileText, Source, SourceId, SourceMap};
use crate::yaml::Limits;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Length and time of change: a file that has the same ones is the same.
pub(super) type Stamp = (u64, SystemTime);

/// The coarsest time of change of a file system: that of FAT.
const GRAIN: Duration = Duration::from_secs(2);

/// The result of a text, and what it depends on.
struct Kept {
    input: Option<Input>,
    text: FileText,
    /// Files of a chart are left out; a chart may appear around a file that stays as it is.
    chart: Option<PathBuf>,
    outcome: Outcome,
}

/// The results of earlier reads.
#[derive(Default)]
pub struct Memory {
    /// Paths of the input are relative to it.
    root: PathBuf,
    /// Texts of an editor by the full path of their file.
    open: BTreeMap<PathBuf, FileText>,
    files: HashMap<PathBuf, (Stamp, FileText)>,
    /// The last result of the search, with the stamps; valid until [`Memory::look`].
    found: Option<(Found, Vec<Option<Stamp>>)>,
    /// Changes on disk are reported by [`Memory::look`].
    is_told: bool,
    outcomes: HashMap<SourceId, Kept>,
    limits: Limits,
}

impl Memory {
    /// An empty memory of an input below a directory.
    pub fn new(root: PathBuf) -> Self {
        Self { root, ..Self::default() }
    }

    /// The directory that paths of the input are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn full(&self, path: &Path) -> PathBuf {
        full(&self.root, path)
    }

    /// Sets the content of a file; `None` restores the content on disk.
    pub fn set(&mut self, path: PathBuf, text: Option<FileText>) {
        match text {
            Some(text) => _ = self.open.insert(path, text),
            None => _ = self.open.remove(&path),
        }
    }

    /// The open text of a file.
    pub fn open(&self, path: &Path) -> Option<&FileText> {
        self.open.get(path)
    }

    /// Whether changes on disk are reported by [`Memory::look`]; otherwise directories are walked
    /// every time.
    pub fn set_told(&mut self, is_told: bool) {
        self.is_told = is_told;
    }

    /// Discards the last search: files may have been added, changed or deleted.
    pub fn look(&mut self) {
        self.found = None;
    }

    /// The files of the input, and their stamps from before they are read.
    pub(super) fn find(
        &mut self,
        paths: &[PathBuf],
        find: impl FnOnce() -> Found,
    ) -> (Found, Vec<Option<Stamp>>) {
        // Without reports of changes a kept search would miss new files.
        if let Some(found) = self.found.clone().filter(|_| self.is_told) {
            return found;
        }
        let mut found = find();
        self.add_unsaved(paths, &mut found.inputs);
        // Before the read: a change in between gives the file another stamp, and it is read again.
        let stamps = found.inputs.iter().map(|input| stamp(input.path.as_ref()?)).collect();
        self.found = Some((found, stamps));
        self.found.clone().unwrap_or_default()
    }

    /// Forgets everything but the texts of the editor.
    pub fn forget(&mut self) {
        self.files.clear();
        self.outcomes.clear();
        self.found = None;
    }

    /// Other limits give other documents.
    pub(super) fn begin(&mut self, limits: &Limits) {
        if self.limits != *limits {
            self.forget();
            self.limits = *limits;
        }
    }

    /// Adds manifests of the editor that are not saved yet, below the directories of the input.
    fn add_unsaved(&self, paths: &[PathBuf], inputs: &mut Vec<Input>) {
        let directories: BTreeSet<PathBuf> =
            inputs.iter().filter_map(|input| Some(self.full(input.path.as_ref()?))).collect();
        for (path, text) in &self.open {
            let below = paths.iter().find_map(|directory| {
                let path = directory.join(path.strip_prefix(self.full(directory)).ok()?);
                Some((path, Some(directory.to_string_lossy().into())))
            });
            let Some(below) = below else { continue };
            let directory = below.0;
            // A file on disk that is left out here was excluded, so its open text is left out, too.
            if is_manifest(path) && !directories.contains(path) && !path.exists() {
                inputs.push(Input {
                    name: directory
                        .strip_prefix(".")
                        .unwrap_or(&directory)
                        .to_string_lossy()
                        .into_owned(),
                    path: Some(directory),
                    named: false,
                    reported: true,
                    outside: false,
                    size: text.len() as u64,
                    root: below.1,
                    overlay: None,
                });
            }
        }
        inputs.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// The text of a file: the editor's, the cached one, or the one on disk.
    pub(super) fn text(
        &self,
        path: &Path,
        limits: &Limits,
        stamp: Option<Stamp>,
        read: impl FnOnce() -> Result<FileText, Unread>,
    ) -> Result<FileText, Unread> {
        // The editor's text is newer than any stamp of the file on disk.
        if let Some(text) = self.open.get(&self.full(path)) {
            return if text.len() as u64 > limits.file_size {
                Err(Unread::Finding(Box::new(files::too_large(limits))))
            } else {
                Ok(text.clone())
            };
        }
        match (self.files.get(path), stamp) {
            (Some((existing, text)), Some(stamp)) if *existing == stamp => Ok(text.clone()),
            _ => read(),
        }
    }

    /// Keeps the texts of files, and no others.
    pub(super) fn keep_texts<'a>(
        &mut self,
        read: impl Iterator<Item = (&'a Input, &'a Option<Result<FileText, Unread>>)>,
        stamps: &[Option<Stamp>],
    ) {
        let now = SystemTime::now();
        let mut files = HashMap::new();
        for ((input, text), stamp) in read.zip(stamps) {
            let (Some(path), Some(Ok(text)), Some(stamp)) = (&input.path, text, stamp) else {
                continue;
            };
            // A file that has just changed may change again within the grain of its time.
            let settled = now.duration_since(stamp.1).is_ok_and(|age| age > GRAIN);
            if settled && !self.open.contains_key(&self.full(path)) {
                files.insert(path.clone(), (*stamp, text.clone()));
            }
        }
        self.files = files;
    }

    /// The result of a text, if it and its place in the input are unchanged.
    pub(super) fn outcome(
        &self,
        id: SourceId,
        source: &Source,
        input: Option<&Input>,
        charts: &Charts<'_>,
    ) -> Option<Outcome> {
        let kept = self.outcomes.get(&id)?;
        // Findings name the file, and a named file is judged by other rules than one that was
        // found.
        let alike = |a: &Input, b: &Input| {
            a.path == b.path && a.name == b.name && a.named == b.named && a.reported == b.reported
        };
        let same = match (&kept.input, input) {
            (Some(existing), Some(input)) => alike(existing, input),
            (None, None) => true,
            _ => false,
        };
        (same && kept.text == source.text && kept.chart.as_deref() == chart_around(input, charts))
            .then(|| kept.outcome.clone())
    }

    /// Keeps the results of these texts only.
    pub(super) fn keep_outcomes(
        &mut self,
        readable: &[(SourceId, Option<Input>)],
        outcomes: &[Outcome],
        sources: &SourceMap,
        charts: &Charts<'_>,
    ) {
        self.outcomes = readable
            .iter()
            .zip(outcomes)
            .map(|((id, input), outcome)| {
                let kept = Kept {
                    input: input.clone(),
                    text: sources.get(*id).text.clone(),
                    chart: chart_around(input.as_ref(), charts).map(Path::to_path_buf),
                    outcome: outcome.clone(),
                };
                (*id, kept)
            })
            .collect();
    }
}

fn chart_around<'p>(input: Option<&Input>, charts: &Charts<'p>) -> Option<&'p Path> {
    charts.around(input?.path.as_deref()?)
}

/// The full path of an input, which is relative to a directory or is one already.
pub fn full(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix(".").unwrap_or(path))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()?))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;
    use crate::load::{Loaded, Request, load_again};

    const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: NAME}\n";

    fn node(name: &str) -> String {
        NODE.replace("NAME", name)
    }

    fn names(loaded: &Loaded) -> Vec<String> {
        let name = |node: &crate::yaml::Node| {
            node.at(&["metadata", "name"]).and_then(|name| name.as_str()).unwrap_or("-").to_owned()
        };
        loaded.documents.iter().map(|document| name(&document.node)).collect()
    }

    #[test]
    fn each_load_reflects_the_current_files_and_editor_texts() {
        let scratch = tempfile::tempdir().unwrap();
        let file = |name: &str| scratch.path().join(name);
        std::fs::write(file("b.yaml"), node("b")).unwrap();
        std::fs::write(file("d.yaml"), node("d")).unwrap();
        let old = SystemTime::now() - Duration::from_secs(90);
        std::fs::File::options()
            .append(true)
            .open(file("d.yaml"))
            .unwrap()
            .set_modified(old)
            .unwrap();
        let mut memory = Memory::new(scratch.path().to_owned());
        let paths = [scratch.path().to_owned()];
        let read = |memory: &mut Memory| {
            let request = Request { paths: &paths, ..Request::default() };
            names(&load_again(&request, &Limits::default(), memory))
        };
        assert_eq!(read(&mut memory), ["b", "d"]);
        // Texts of the editor: of a file, and of one that is not saved, before the others.
        memory.set(file("d.yaml"), Some(node("typed").into()));
        memory.set(file("a.yaml"), Some(node("new").into()));
        memory.set(file("notes.txt"), Some(node("no-manifest").into()));
        memory.set(PathBuf::from("/elsewhere/a.yaml"), Some(node("elsewhere").into()));
        assert_eq!(read(&mut memory), ["new", "b", "typed"]);
        memory.set(file("d.yaml"), None);
        std::fs::write(file("b.yaml"), node("longer")).unwrap();
        assert_eq!(read(&mut memory), ["new", "longer", "d"]);
        memory.set(file("a.yaml"), None);
        std::fs::remove_file(file("b.yaml")).unwrap();
        assert_eq!(read(&mut memory), ["d"]);
        assert_eq!((memory.files.len(), memory.outcomes.len()), (1, 1));
    }

    #[test]
    fn editor_texts_are_subject_to_the_file_size_limit() {
        let scratch = tempfile::tempdir().unwrap();
        let mut memory = Memory::new(scratch.path().to_owned());
        memory.set(scratch.path().join("a.yaml"), Some(node("a").into()));
        let paths = [scratch.path().to_owned()];
        let request = Request { paths: &paths, ..Request::default() };
        let limits = Limits { file_size: 10, ..Limits::default() };
        let loaded = load_again(&request, &limits, &mut memory);
        assert_eq!(loaded.diagnostics[0].code, crate::diag::Code::FileSizeLimit);
        assert_eq!(names(&load_again(&request, &Limits::default(), &mut memory)), ["a"]);
    }
}
