//! Kustomize trees of a revision, checked out to a temporary directory for the build.
//!
//! In: the directories of `-k` and a revision. Out: the same directories in a temporary checkout of
//! the whole commit, since a tree includes others by relative paths. The program `git` writes it
//! through an index of its own: the working tree, the index and the list of worktrees of the
//! repository stay as they are, and no content is downloaded.

use super::kustomize::Tree;
use super::revision::{Repository, git, nearest_directory, not_read, output, root};
use crate::diag::{Code, Diagnostic, Severity};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Trees of a revision; dropping it deletes the checkouts.
#[derive(Default)]
pub(super) struct Checkout {
    /// The trees that the revision has.
    pub(super) trees: Vec<Tree>,
    /// Directories that the revision does not have.
    pub(super) missing: Vec<Diagnostic>,
    repositories: BTreeMap<PathBuf, TempDir>,
}

impl Checkout {
    /// A path of the work tree in the checkout of its repository: the directory of the checkout, and
    /// the path below it.
    pub(super) fn on_disk(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let below = |(root, directory): (&PathBuf, &TempDir)| {
            let path = path.strip_prefix(root).ok()?;
            Some((directory.path().canonicalize().ok()?, path.to_owned()))
        };
        // A submodule or a nested clone has its root below that of the outer one, and sorts after
        // it.
        // The innermost repository.
        self.repositories.iter().rev().find_map(below)
    }
}

/// Checks out the commit of every repository that contains one of the directories.
pub(super) fn checkout(
    directories: &[PathBuf],
    revision: &str,
) -> Result<Checkout, Box<Diagnostic>> {
    let mut checkout = Checkout::default();
    for directory in directories {
        let (there, rest) = nearest_directory(directory);
        let root = root(&there, revision)?;
        let inner = there.strip_prefix(&root).unwrap_or(Path::new(""));
        // A path that is gone from the work tree may still be in the revision, so its rest is kept.
        let path: PathBuf = inner.components().chain(rest.components()).collect();
        if !checkout.repositories.contains_key(&root) {
            let directory = write(&root, revision)?;
            checkout.repositories.insert(root.clone(), directory);
        }
        let Some(temp_dir) = checkout.repositories.get(&root) else { continue };
        let above =
            // `prefix` of checkout-index is displayed later; links such as macOS's /var would not
            // match it.
            std::fs::canonicalize(temp_dir.path()).unwrap_or_else(|_| temp_dir.path().to_owned());
        if above.join(&path).is_dir() {
            // No error: a tree that was added since the revision is one difference among others.
            checkout.trees.push(Tree::of_revision(revision, above, path));
        } else {
            let message = format!("`{}` is not in `{revision}`", directory.display());
            checkout.missing.push(
                Diagnostic::new(Code::FileNotRead, message)
                    .severity(Severity::Info)
                    .in_file(directory.display().to_string()),
            );
        }
    }
    Ok(checkout)
}

/// The files of a commit in a directory of their own.
fn write(root: &Path, revision: &str) -> Result<TempDir, Box<Diagnostic>> {
    let commit = Repository::open(root, revision)?.commit;
    let failed = |error: &std::io::Error| {
        let why = format!("no temporary directory can be made: {error}");
        not_read(revision, &why, "set TMPDIR to a directory that can be written")
    };
    let directory = tempfile::tempdir().map_err(|error| failed(&error))?;
    // The index is beside the files and not among them: a repository may have a file of any name.
    let index = tempfile::tempdir().map_err(|error| failed(&error))?;
    let git = || {
        let mut git = git(root);
        // An index of the user has the state of their work tree, which a read must not change.
        // Filters of LFS would download the contents.
        git.env("GIT_INDEX_FILE", index.path().join("index")).env("GIT_LFS_SKIP_SMUDGE", "1");
        git
    };
    let mut read = git();
    read.args(["read-tree", &commit]);
    output(read, revision, "its files cannot be listed")?;
    let mut write = git();
    let prefix = format!("--prefix={}/", directory.path().display());
    write.args(["checkout-index", "--all", "--quiet", &prefix]);
    output(write, revision, "its files cannot be written to a temporary directory")?;
    Ok(directory)
}
