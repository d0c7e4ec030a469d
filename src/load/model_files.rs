//! Where files of models are on this machine: a directory of config.json files, and the cache of
//! the Hugging Face Hub.
//!
//! In: the id of a repository on the Hub. Out: the path of its config.json or model_index.json.
//! Which of several places counts is decided here; what is in the file is not known here.

use std::path::{Path, PathBuf};

/// Names of the file that describes a model; a pipeline of several models has the second.
const NAMES: [&str; 2] = ["model_index.json", "config.json"];

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct ModelFiles {
    /// `ORG/NAME/config.json` or `ORG--NAME.json` below it.
    pub directory: Option<PathBuf>,
    /// The cache of the Hub: `models--ORG--NAME` below it.
    pub cache: Option<PathBuf>,
}

impl ModelFiles {
    /// The file that describes a model, if it is here; the directory counts before the cache.
    pub fn find(&self, id: &str, revision: Option<&str>) -> Option<PathBuf> {
        let flat = || id.replace('/', "--");
        let in_directory = |directory: &Path| {
            described(&directory.join(id)).or_else(|| {
                Some(directory.join(format!("{}.json", flat()))).filter(|file| file.is_file())
            })
        };
        let in_cache = |cache: &Path| {
            described(&snapshot(&cache.join(format!("models--{}", flat())), revision)?)
        };
        self.directory
            .as_deref()
            .and_then(in_directory)
            .or_else(|| self.cache.as_deref().and_then(in_cache))
    }
}

fn described(directory: &Path) -> Option<PathBuf> {
    NAMES.into_iter().map(|name| directory.join(name)).find(|file| file.is_file())
}

/// The snapshot of a revision, `main` by default: the one that its ref names, else one that is
/// called so, else the only one there is.
#[expect(
    clippy::disallowed_methods,
    reason = "the layout of the cache is known; nothing is walked"
)]
fn snapshot(repository: &Path, revision: Option<&str>) -> Option<PathBuf> {
    let revision = revision.unwrap_or("main");
    let snapshots = repository.join("snapshots");
    let commit = std::fs::read_to_string(repository.join("refs").join(revision)).ok();
    // A commit is a plain name: what leads elsewhere is none.
    let plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    let named = commit
        .as_deref()
        .map(str::trim)
        .into_iter()
        .chain([revision])
        .filter(plain)
        .map(|name| snapshots.join(name))
        .find(|directory| directory.is_dir());
    named.or_else(|| {
        let mut found = std::fs::read_dir(&snapshots).ok()?.filter_map(Result::ok);
        let only = found.next()?.path();
        (found.next().is_none() && commit.is_none()).then_some(only)
    })
}

/// Where the cache of the Hub is: `HF_HUB_CACHE`, else `hub` in `HF_HOME`, else in the user's
/// cache, as huggingface_hub looks for it.
pub fn default_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    variable("HF_HUB_CACHE").map(PathBuf::from).or_else(|| {
        let own = variable("HF_HOME").map(PathBuf::from).or_else(|| {
            let caches = variable("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .or_else(|| home().map(|home| home.join(".cache")))?;
            Some(caches.join("huggingface"))
        })?;
        Some(own.join("hub"))
    })
}
