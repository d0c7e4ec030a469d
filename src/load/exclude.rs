//! Files that are left out: `--exclude` and `exclude` of the settings.
//!
//! In: globs with the rules of `.gitignore`. Out: whether a file below a directory is read. A file
//! that was named is always read.

use super::find::Input;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// Globs, and what they are relative to.
#[derive(Clone, Debug, Default)]
pub struct Exclude {
    /// Of the command line: relative to the directory of `-f`, or to the working directory.
    pub flags: Vec<String>,
    /// Of the settings, and the directory of their file.
    pub settings: Vec<(PathBuf, Vec<String>)>,
}

fn matcher(globs: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        // A glob that is none leaves nothing out; `find` reads what it would match.
        let _ = builder.add_line(None, glob);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Takes out the files that are excluded, of files or of what holds one each.
pub(super) fn retain<T>(inputs: &mut Vec<T>, input: impl Fn(&T) -> &Input, exclude: &Exclude) {
    if exclude.flags.is_empty() && exclude.settings.is_empty() {
        return;
    }
    let flags = matcher(&exclude.flags);
    let settings: Vec<(PathBuf, Gitignore)> = exclude
        .settings
        .iter()
        .map(|(directory, globs)| (full(directory), matcher(globs)))
        .collect();
    let is_left_out = |globs: &Gitignore, path: &Path| {
        // A glob such as `*.yaml` must not match through `..`, where it is relative to nothing.
        let relative = path.is_relative() && !path.starts_with("..");
        relative && globs.matched_path_or_any_parents(path, false).is_ignore()
    };
    let here = std::env::current_dir().unwrap_or_default();
    inputs.retain(|one| {
        let input = input(one);
        // A file that is named with `-f` is wanted, as git adds an ignored file that is named.
        let Some(path) = input.path.as_deref().filter(|_| !input.named) else { return true };
        let plain = path.strip_prefix(".").or_else(|_| path.strip_prefix(&here)).unwrap_or(path);
        let root = input.root.as_deref().unwrap_or(".");
        // A file of a revision has the revision before both of its names.
        let of_revision = input.name.strip_prefix(root).filter(|_| path.is_absolute());
        let below = match of_revision {
            Some(below) => Path::new(below.trim_start_matches('/')),
            None => plain.strip_prefix(root).unwrap_or(plain),
        };
        let of_settings = settings.iter().any(|(directory, globs)| {
            full(path).strip_prefix(directory).is_ok_and(|path| is_left_out(globs, path))
        });
        // The flags are tried both ways: users write globs as seen from here and as seen from the
        // root.
        !(is_left_out(&flags, below) || is_left_out(&flags, plain) || of_settings)
    });
}

fn full(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    super::listed::plain(&path)
}
