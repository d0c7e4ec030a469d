//! Finds the files of the input, in sorted order.
//!
//! In: the arguments of `-f` and `--context`. Out: every file to read, once, sorted by name, and
//! findings about files that are not read. In directories, files that `.gitignore`, `.ignore` and
//! `.omeignore` exclude are skipped, also outside of a repository, as are names that begin with a
//! dot, the directories `node_modules` and `target`, and the output of `render`. In a directory
//! only names that end in `.yaml`, `.yml` or `.json` are read; a file or FIFO in an argument is
//! read whatever its name is. Links are followed.

use super::files::{is_fifo, not_read, reason, what};
use crate::diag::{Diagnostic, Severity};
use ignore::WalkBuilder;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The manifest of `render -o dir=`: a directory with one is output.
pub(super) const RENDERED: &str = ".ome-manifest";

/// One text to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path; `None` for standard input.
    pub path: Option<PathBuf>,
    /// The displayed path: as given; for a file below a directory, that directory's path as given
    /// and the rest.
    pub name: String,
    /// Whether the file itself was named, and not a directory above it.
    pub named: bool,
    /// False for files that are context only.
    pub reported: bool,
    /// Size in bytes, if the file system reports it.
    pub size: u64,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Texts, sorted by name, each once.
    pub inputs: Vec<Input>,
    /// Findings about files that are not read.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether a path that was named does not exist.
    pub missing: bool,
}

/// Finds all files below `paths` and `context`; `-` is standard input. A file that is in both
/// belongs to `paths`.
pub fn find(paths: &[PathBuf], context: &[PathBuf]) -> Found {
    let mut finder = Finder::default();
    for (paths, reported) in [(paths, true), (context, false)] {
        // Files in arguments are first, so a file that is also below a directory counts as named.
        let (files, directories): (Vec<&PathBuf>, Vec<&PathBuf>) =
            paths.iter().partition(|path| !path.is_dir());
        for path in files {
            finder.named(path, reported);
        }
        for path in directories {
            finder.walk(path, reported);
        }
    }
    let mut found = finder.found;
    found.inputs.sort_by(|a, b| a.name.cmp(&b.name));
    found.diagnostics.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

/// Whether a path is standard input: `-`, or the system's name for it.
pub fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Identifies a file whatever its name: device and number, or its path where there are none.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    #[cfg(unix)]
    Number(u64, u64),
    #[cfg(not(unix))]
    Path(PathBuf),
    Stdin,
}

#[cfg(unix)]
fn identity(_: &Path, data: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::Number(data.dev(), data.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &Metadata) -> Identity {
    Identity::Path(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()))
}

#[derive(Default)]
struct Finder {
    found: Found,
    seen: HashSet<Identity>,
}

impl Finder {
    fn not_read(&mut self, path: &Path, root: &Path, reason: &str, reported: bool) {
        if reported {
            let named = path == root;
            let finding = not_read(&shown(path, root), reason);
            self.found.diagnostics.push(if named {
                finding
            } else {
                Diagnostic { severity: Severity::Info, help: None, ..finding }
            });
        }
    }

    fn named(&mut self, path: &Path, reported: bool) {
        if is_stdin(path) {
            if self.seen.insert(Identity::Stdin) {
                self.found.inputs.push(Input {
                    path: None,
                    name: "<stdin>".to_owned(),
                    named: true,
                    reported,
                    size: 0,
                });
            }
            return;
        }
        match std::fs::metadata(path) {
            Ok(data) => self.file(path, path, &data, reported),
            Err(error) => {
                let dangling = path.is_symlink() && error.kind() == std::io::ErrorKind::NotFound;
                let reason = if dangling {
                    "it is a link that leads nowhere".to_owned()
                } else {
                    reason(&error)
                };
                self.found.missing |= reported;
                self.not_read(path, path, &reason, reported);
            }
        }
    }

    /// Adds a file below `root`; for a file in an argument, `root` is the file itself.
    fn file(&mut self, path: &Path, root: &Path, data: &Metadata, reported: bool) {
        // A FIFO in a directory may have no writer, and reading it would wait.
        let is_read = data.is_file() || (path == root && is_fifo(data.file_type()));
        if !is_read {
            return self.not_read(
                path,
                root,
                &format!("it is {}", what(data.file_type())),
                reported,
            );
        }
        if self.seen.insert(identity(path, data)) {
            let input = Input {
                path: Some(path.to_path_buf()),
                name: shown(path, root),
                named: path == root,
                reported,
                size: data.len(),
            };
            self.found.inputs.push(input);
        }
    }

    fn walk(&mut self, root: &Path, reported: bool) {
        for entry in walk(root) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.walk_error(root, &error, reported);
                    continue;
                }
            };
            let path = entry.path();
            if !is_manifest(path) || entry.file_type().is_some_and(|kind| kind.is_dir()) {
                continue;
            }
            match entry.metadata() {
                Ok(data) => self.file(path, root, &data, reported),
                Err(error) => self.walk_error(root, &error, reported),
            }
        }
    }

    /// Reports an entry of a directory that could not be read, unless it would be skipped anyway.
    fn walk_error(&mut self, root: &Path, error: &ignore::Error, reported: bool) {
        let (path, why) = explain(error);
        let path = path.unwrap_or(root);
        let is_link = path.is_symlink();
        if is_link && !is_manifest(path) && why != "its links lead in a circle" {
            return;
        }
        let dangling = is_link && why == "there is no such file";
        let why = if dangling { "it is a link that leads nowhere".to_owned() } else { why };
        self.not_read(path, root, &why, reported);
    }
}

/// Walks everything below a directory that is not skipped.
fn walk(root: &Path) -> ignore::Walk {
    let walked = Mutex::new(HashSet::new());
    WalkBuilder::new(root)
        .follow_links(true)
        .require_git(false)
        // Ignore rules of the user for all repositories do not hold for others of a team.
        .git_global(false)
        .add_custom_ignore_filename(".omeignore")
        .filter_entry(move |entry| {
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let left_out = entry.depth() > 0
                && (matches!(entry.file_name().to_str(), Some("node_modules" | "target"))
                    || entry.path().join(RENDERED).exists());
            // Links can give a directory any number of paths, twice as many at each level.
            let first = || match entry.metadata() {
                Ok(data) => walked
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(identity(entry.path(), &data)),
                Err(_) => true,
            };
            !left_out && first()
        })
        .sort_by_file_name(OsStr::cmp)
        .build()
}

/// The directories in which a change may concern an input: those that are walked, and those of
/// files that are named.
pub fn directories(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = walk(path).filter_map(Result::ok);
            let folders = entries.filter(|entry| entry.path().is_dir());
            found.extend(folders.map(ignore::DirEntry::into_path));
        } else {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            found.push(parent.unwrap_or(Path::new(".")).to_owned());
        }
    }
    found
}

/// The path and the reason in an error of the walk.
fn explain(error: &ignore::Error) -> (Option<&Path>, String) {
    match error {
        ignore::Error::WithPath { path, err } => (Some(path), explain(err).1),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            explain(err)
        }
        ignore::Error::Loop { child, .. } => (Some(child), "its links lead in a circle".to_owned()),
        ignore::Error::Io(error) => (None, reason(error)),
        _ => (None, error.to_string()),
    }
}

/// Whether a name is that of a file of expectations.
pub(super) fn is_expectation(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.ends_with(".ome-test.yaml") || name.ends_with(".ome-test.yml")
}

/// Files of expectations below a directory, by name.
pub fn expectations(below: &Path) -> Vec<PathBuf> {
    let found = find(&[below.to_path_buf()], &[]);
    let mut files: Vec<PathBuf> = found
        .inputs
        .into_iter()
        .filter_map(|input| input.path)
        .filter(|path| is_expectation(path))
        .map(|path| path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_path_buf))
        .collect();
    files.sort();
    files
}

/// The root of the repository that a directory is in.
pub fn repository_root(from: &Path) -> Option<PathBuf> {
    from.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_path_buf)
}

/// Whether a name in a directory is that of a manifest.
pub(super) fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "Kustomization")
        || path.extension().and_then(OsStr::to_str).is_some_and(|extension| {
            ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
        })
}

/// The displayed path: as given, without the `./` of a walk of the current directory.
fn shown(path: &Path, root: &Path) -> String {
    let name = if root == Path::new(".") { path.strip_prefix(".").unwrap_or(path) } else { path };
    if name.as_os_str().is_empty() { ".".to_owned() } else { name.to_string_lossy().into_owned() }
}
