//! Local files of models: a directory of config.json files, and the cache of the Hugging Face Hub.
//!
//! In: the id of a repository on the Hub. Out: the path of its config.json or model_index.json.
//! This module selects one of several places; it does not read the file.

use std::path::{Component, Path, PathBuf};

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
    /// Returns the config file of a model that is not on the Hub: `NAME/config.json` or `NAME.json`
    /// below the directory.
    pub fn find_named(&self, name: &str) -> Option<PathBuf> {
        let is_plain =
            // The name is written in a manifest, and must not lead out of the directory.
            !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
        let directory = self.directory.as_deref().filter(|_| is_plain)?;
        described(&directory.join(name))
            .or_else(|| Some(directory.join(format!("{name}.json"))).filter(|file| file.is_file()))
    }

    /// Returns the config file of a model, if there is one; the directory has precedence over the
    /// cache.
    pub fn find(&self, id: &str, revision: Option<&str>) -> Option<PathBuf> {
        // The id is written in a manifest, and must not lead out of the directory.
        let is_plain = |part| matches!(part, Component::Normal(_));
        if !Path::new(id).components().all(is_plain) {
            return None;
        }
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
    // A commit is a plain name; a path is not accepted.
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
        // With two snapshots and no ref, either could be meant: then no facts are better than wrong
        // ones.
        let mut found = std::fs::read_dir(&snapshots).ok()?.filter_map(Result::ok);
        let only = found.next()?.path();
        // A ref to a snapshot that is not there may mean an interrupted download of another
        // revision.
        (found.next().is_none() && commit.is_none()).then_some(only)
    })
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn text_variable(name: &str) -> Option<String> {
    variable(name)?.into_string().ok()
}

/// The address of the Hub in `HF_ENDPOINT`, if set.
pub fn hub_endpoint() -> Option<String> {
    text_variable("HF_ENDPOINT")
}

/// Whether `HF_HUB_OFFLINE` forbids connections.
pub fn is_offline() -> bool {
    text_variable("HF_HUB_OFFLINE")
        .is_some_and(|value| ["1", "true", "yes", "on"].contains(&value.to_lowercase().as_str()))
}

/// The token for private repositories: `HF_TOKEN`, else the file that `hf auth login` writes
/// (`HF_TOKEN_PATH`, else `token` in `HF_HOME`).
#[expect(clippy::disallowed_methods, reason = "one line of a file that huggingface_hub writes")]
pub fn hub_token() -> Option<String> {
    let file = || {
        let path = variable("HF_TOKEN_PATH")
            .map(PathBuf::from)
            .or_else(|| Some(hub_home()?.join("token")))?;
        std::fs::read_to_string(path).ok()
    };
    // A header has one line.
    let usable = |token: String| {
        let token = token.trim();
        (!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
            .then(|| token.to_owned())
    };
    text_variable("HF_TOKEN").or_else(file).and_then(usable)
}

/// Certificates in PEM that are trusted instead of the usual ones: the file that `SSL_CERT_FILE`
/// names. One that cannot be read has none.
#[expect(clippy::disallowed_methods, reason = "a file of certificates is no manifest")]
pub fn certificates() -> Option<Vec<u8>> {
    Some(std::fs::read(variable("SSL_CERT_FILE")?).unwrap_or_default())
}

/// The directory of huggingface_hub: `HF_HOME`, else `huggingface` in the user's cache.
fn hub_home() -> Option<PathBuf> {
    let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    variable("HF_HOME").map(PathBuf::from).or_else(|| {
        let caches = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| home().map(|home| home.join(".cache")))?;
        Some(caches.join("huggingface"))
    })
}

/// Where the cache of the Hub is: `HF_HUB_CACHE`, else `hub` in `HF_HOME`, else in the user's
/// cache, as huggingface_hub looks for it.
pub fn default_cache() -> Option<PathBuf> {
    variable("HF_HUB_CACHE").map(PathBuf::from).or_else(|| Some(hub_home()?.join("hub")))
}
