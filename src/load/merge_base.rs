//! The merge base with the default branch: the default base of a diff.

use super::revision::{git, is_shallow, nearest_directory, not_read, output, root, shallow};
use crate::diag::Diagnostic;
use std::path::{Path, PathBuf};

/// How it is called where it is not found.
const NAME: &str = "merge base with the default branch";

/// The merge base of the checked-out commit and the default branch: that of the remote `origin`,
/// else `main` or `master`.
///
/// # Errors
/// A finding without a place: no git, no repository, no such branch, or none of its commits.
pub fn merge_base(paths: &[PathBuf]) -> Result<String, Box<Diagnostic>> {
    let (directory, _) = nearest_directory(paths.first().map_or(Path::new("."), PathBuf::as_path));
    let root = root(&directory, NAME)?;
    let printed = |words: &[&str]| {
        let mut git = git(&root);
        git.args(words);
        let done = git.output().ok().filter(|done| done.status.success())?;
        Some(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    let of_origin = printed(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
    // Remote branches first: a local `main` may be months behind.
    let usual = ["origin/main", "origin/master", "main", "master"].map(str::to_owned);
    let is_there = |branch: &String| {
        printed(&["rev-parse", "--verify", "--quiet", &format!("{branch}^{{commit}}")]).is_some()
    };
    let help = "name the base: `--base PATH|REV`";
    let branch = of_origin.into_iter().chain(usual).find(is_there).ok_or_else(|| {
        // CI clones one branch, so the others are missing for a reason that has its own remedy.
        if is_shallow(&root) {
            return shallow(NAME);
        }
        not_read(NAME, "there is no branch origin/main, origin/master, main or master", help)
    })?;
    let mut git = git(&root);
    git.args(["merge-base", "HEAD", &branch]);
    let requested = format!("HEAD and {branch} have no commit in common");
    let commit = output(git, NAME, &requested)
        .map_err(|finding| if is_shallow(&root) { shallow(NAME) } else { finding })?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    // The short name is what a reader finds in the log; the long one is right as well.
    Ok(printed(&["rev-parse", "--short", &commit]).unwrap_or(commit))
}
