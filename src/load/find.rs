//! Finds the files of the input, in sorted order.
//!
//! In: the arguments of `-f` and `--context`. Out: every file to read, once, sorted by name, and
//! findings about files that are not read. In directories, files that `.gitignore`, `.ignore` and
//! `.omeignore` exclude are skipped, also outside of a repository, as are names that begin with a
//! dot, the directories `node_modules` and `target`, and the output of `render`. In a directory
//! only names that end in `.yaml`, `.yml` or `.json` are read; a file or FIFO in an argument is
//! read whatever its name is. Links are followed as far as [`Scope`] permits.

use super::files::{DENIED, is_fifo, is_null, not_read, reason, what};
use super::scope::{Lies, Scope};
use crate::diag::{Code, Diagnostic, Severity};
use ignore::WalkBuilder;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Whether a link led to it, out of the paths that were named: its lines are not shown.
    pub outside: bool,
    /// Size in bytes, if the file system reports it.
    pub size: u64,
    /// The directory that was named, as it is displayed, for a file below one.
    pub root: Option<Arc<str>>,
    /// The directory of the overlay that its text was built from, as it is displayed.
    pub overlay: Option<Arc<str>>,
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
/// belongs to `paths`. `follow` permits links that lead out of both. Where there are more than
/// `most` files, or far more entries of directories, the search ends.
pub fn find(paths: &[PathBuf], context: &[PathBuf], follow: bool, most: usize) -> Found {
    let scope = Scope::of(paths.iter().chain(context), follow);
    let mut finder = Finder { scope, most, ..Finder::default() };
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
    scope: Scope,
    seen: HashSet<Identity>,
    /// Most files, entries of directories so far, and bytes of the files so far.
    most: usize,
    entries: usize,
    bytes: u64,
}

/// Entries of directories for each file that may be read: most of a disk holds no manifest.
const ENTRIES: usize = 20;
/// Most bytes of all files together; their places are numbers of 32 bits each.
const BYTES: u64 = 4 << 30;

impl Finder {
    /// Reports a path below which there is more than is read; nothing is then.
    fn is_beyond(&mut self, root: &Path) -> bool {
        let (most, entries) = (self.most, self.most.saturating_mul(ENTRIES));
        let (what, by_flag) = if self.found.inputs.len() > most {
            (format!("more than {most} files"), true)
        } else if self.entries > entries {
            (format!("more than {entries} files and directories"), true)
        } else if self.bytes > BYTES {
            ("more than 4 GiB of manifests".to_owned(), false)
        } else {
            return false;
        };
        let root = root.display().to_string();
        let raise = if by_flag { ", or raise `--max-files`" } else { "" };
        self.found.missing = true;
        self.found.diagnostics.push(
            Diagnostic::new(
                Code::FileNotRead,
                format!("{what} are below `{root}`: no file below it is read"),
            )
            .in_file(root)
            .help(format!("name the directories that hold manifests{raise}")),
        );
        true
    }

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
                    outside: false,
                    size: 0,
                    root: None,
                    overlay: None,
                });
            }
            return;
        }
        match std::fs::metadata(path) {
            Ok(data) => {
                let lies = self.scope.named(path);
                self.file(path, path, &data, reported, lies);
            }
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
    fn file(&mut self, path: &Path, root: &Path, data: &Metadata, reported: bool, lies: Lies) {
        // A FIFO in a directory may have no writer, and reading it would wait.
        let is_named = || is_fifo(data.file_type()) || is_null(path);
        let is_read = data.is_file() || (path == root && is_named());
        if !is_read {
            return self.not_read(
                path,
                root,
                &format!("it is {}", what(data.file_type())),
                reported,
            );
        }
        // Two names of one file would define each of its objects twice.
        if self.seen.insert(identity(path, data)) {
            let input = Input {
                path: Some(path.to_path_buf()),
                name: shown(path, root),
                named: path == root,
                reported,
                // A FIFO is what the shell made of `<(command)`: its text is the user's own.
                outside: lies == Lies::Outside && data.is_file(),
                size: data.len(),
                root: (path != root).then(|| shown(root, root).into()),
                overlay: None,
            };
            self.bytes = self.bytes.saturating_add(input.size);
            self.found.inputs.push(input);
        }
    }

    /// Reports a link that is not followed.
    fn leads_out(&mut self, path: &Path, root: &Path, reported: bool) {
        if reported {
            let name = shown(path, root);
            let finding = not_read(&name, LEADS_OUT).severity(Severity::Warning);
            self.found.diagnostics.push(finding.help(FOLLOW));
        }
    }

    fn walk(&mut self, root: &Path, reported: bool) {
        let walked = Walked::new(self.scope.clone());
        // Directories to which a link led that `--follow-outside` permits.
        let mut outside: Vec<PathBuf> = Vec::new();
        for entry in walk(root, &walked) {
            // Entries count too: a home directory without a manifest would be walked for minutes.
            self.entries += 1;
            if self.is_beyond(root) {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.walk_error(root, &error, reported);
                    continue;
                }
            };
            let path = entry.path();
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_link = entry.depth() > 0 && entry.path_is_symlink();
            // The walk goes on inside, where the entries themselves are no links.
            if is_directory && is_link && self.scope.link(path) == Lies::Outside {
                outside.push(path.to_owned());
            }
            if !is_manifest(path) || is_directory {
                continue;
            }
            let lies = match is_link {
                true => self.scope.link(path),
                false if outside.iter().any(|directory| path.starts_with(directory)) => {
                    Lies::Outside
                }
                false => Lies::Within,
            };
            match entry.metadata() {
                _ if lies == Lies::Forbidden => self.leads_out(path, root, reported),
                Ok(data) => self.file(path, root, &data, reported, lies),
                Err(error) => self.walk_error(root, &error, reported),
            }
        }
        // The last entry may have been the one too many.
        if self.is_beyond(root) {
            return;
        }
        let left = std::mem::take(&mut *walked.left.lock().unwrap_or_else(PoisonError::into_inner));
        for path in &left {
            self.leads_out(path, root, reported);
        }
    }

    /// Reports an entry of a directory that could not be read, unless it would be skipped anyway.
    fn walk_error(&mut self, root: &Path, error: &ignore::Error, reported: bool) {
        let (path, why) = explain(error);
        let path = path.unwrap_or(root);
        let is_link = path.is_symlink();
        // A broken link to a picture is no concern of a reader of manifests, and a circle always
        // is.
        if is_link && !is_manifest(path) && why != "its links lead in a circle" {
            return;
        }
        let dangling = is_link && why == "there is no such file";
        let why = if dangling { "it is a link that leads nowhere".to_owned() } else { why };
        // It may hold services, and no finding about a file in it says that they are missing.
        if why == DENIED && reported && path.is_dir() {
            let finding = not_read(&shown(path, root), &why).severity(Severity::Warning);
            let help = "allow to read it, or leave it out with `--exclude`";
            self.found.diagnostics.push(finding.help(help));
            return;
        }
        self.not_read(path, root, &why, reported);
    }
}

/// Why a link is not followed, and what permits it.
const LEADS_OUT: &str = "it is a link that leads out of the paths that were named";
const FOLLOW: &str = "name the directory that it leads to, or permit it with `--follow-outside`";

/// What a walk notes: directories it has been in, and links to directories that it left.
#[derive(Clone, Default)]
struct Walked {
    scope: Arc<Scope>,
    seen: Arc<Mutex<HashSet<Identity>>>,
    left: Arc<Mutex<Vec<PathBuf>>>,
}

impl Walked {
    fn new(scope: Scope) -> Self {
        Self { scope: Arc::new(scope), ..Self::default() }
    }

    /// Whether a directory is entered.
    fn enters(&self, entry: &ignore::DirEntry) -> bool {
        let left_out = entry.depth() > 0
            && (matches!(entry.file_name().to_str(), Some("node_modules" | "target"))
                || entry.path().join(RENDERED).exists());
        if left_out {
            return false;
        }
        let is_link = entry.depth() > 0 && entry.path_is_symlink();
        if is_link && self.scope.link(entry.path()) == Lies::Forbidden {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(entry.path().to_owned());
            return false;
        }
        // Links can give a directory any number of paths, twice as many at each level.
        match entry.metadata() {
            Ok(data) => self
                .seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(identity(entry.path(), &data)),
            Err(_) => true,
        }
    }
}

/// Walks everything below a directory that is not skipped.
fn walk(root: &Path, walked: &Walked) -> ignore::Walk {
    let walked = walked.clone();
    WalkBuilder::new(root)
        .follow_links(true)
        .require_git(false)
        // Ignore rules of the user for all repositories do not hold for others of a team.
        .git_global(false)
        .add_custom_ignore_filename(".omeignore")
        .filter_entry(move |entry| {
            !entry.file_type().is_some_and(|kind| kind.is_dir()) || walked.enters(entry)
        })
        .sort_by_file_name(OsStr::cmp)
        .build()
}

/// The directories in which a change may concern an input: those that are walked, and those of
/// files that are named.
pub fn directories(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // Links are followed as far as a plain run follows them: nothing else of them is read.
    let walked = Walked::new(Scope::of(paths, false));
    for path in paths {
        if path.is_dir() {
            let entries = walk(path, &walked).filter_map(Result::ok);
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
    let found = find(&[below.to_path_buf()], &[], false, usize::MAX);
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
    // In a linked work tree or a submodule `.git` is a file.
    from.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_path_buf)
}

/// Whether a name in a directory is that of a manifest.
pub(super) fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "Kustomization")
        || path.extension().and_then(OsStr::to_str).is_some_and(|extension| {
            ["yaml", "yml", "json"].iter().any(|other| extension.eq_ignore_ascii_case(other))
        })
}

/// The displayed path: as given, without the `./` of a walk of the current directory.
fn shown(path: &Path, root: &Path) -> String {
    // A walk of `.` puts `./` before each path, which the user did not write.
    let name = if root == Path::new(".") { path.strip_prefix(".").unwrap_or(path) } else { path };
    if name.as_os_str().is_empty() { ".".to_owned() } else { name.to_string_lossy().into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The user of a test may be one to whom nothing is denied.
    #[test]
    fn a_directory_that_may_not_be_read_is_a_warning() {
        let folder = tempfile::tempdir().expect("a directory");
        let error = ignore::Error::WithPath {
            path: folder.path().to_path_buf(),
            err: Box::new(ignore::Error::Io(std::io::ErrorKind::PermissionDenied.into())),
        };
        let mut finder = Finder::default();
        let root = folder.path().parent().expect("a directory");
        finder.walk_error(root, &error, true);
        finder.walk_error(root, &error, false);
        let [found] = finder.found.diagnostics.as_slice() else { panic!("one finding") };
        assert_eq!((found.code, found.severity), (Code::FileNotRead, Severity::Warning));
    }
}
