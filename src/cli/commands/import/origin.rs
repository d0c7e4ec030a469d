//! Where the files that describe a model are read from: a path, a directory of configs, the cache
//! of the Hub, and the Hub itself.
//!
//! In: the arguments of the call, and the id of a repository. Out: texts with their names, or the
//! finding about their absence. The texts are not interpreted here.

use super::Args;
use crate::cli::Failure;
use crate::cli::args::require_directories;
use crate::diag::{Code, Diagnostic};
use crate::facts::models::HubId;
use crate::hub::{self, Hub, Refusal};
use crate::load::{self, ModelFiles, default_cache};
use crate::source::{Source, SourceKind};
use crate::yaml::Limits;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Name of the index in the directory of a config.
const INDEX: &str = "model.safetensors.index.json";

/// The file that describes a model, and that of a diffusion pipeline.
const CONFIGS: [&str; 2] = ["config.json", "model_index.json"];

/// How long one file of the Hub may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Repositories that are requested at the same time.
const AT_ONCE: usize = 8;

/// The files that describe one model.
#[derive(Debug)]
pub(super) struct Files {
    /// Its config.json, or the model_index.json of a pipeline.
    pub(super) config: Source,
    /// Its safetensors index; a finding when there is one that cannot be read.
    pub(super) index: Option<Result<Source, Box<Diagnostic>>>,
}

/// Where models of the Hub are looked for.
pub(super) struct Origins {
    files: ModelFiles,
    limits: Limits,
    offline: bool,
    timeout: Duration,
    /// Set up when it is requested the first time.
    hub: OnceLock<Result<Hub, Refusal>>,
}

impl Origins {
    pub(super) fn of(args: &Args, limits: Limits) -> Result<Self, Failure> {
        let offline = args.offline || load::is_offline();
        let cache = match &args.hf_cache {
            Some(Some(directory)) => Some(directory.clone()),
            // For a whole catalog, the cache is used before anything is fetched.
            Some(None) => default_cache(),
            None if args.all || offline => default_cache(),
            None => None,
        };
        // Only a cache that is named has to exist.
        let named = args.hf_cache.as_ref().and(cache.clone());
        let directory = args.model_configs.clone();
        require_directories(&ModelFiles { directory: directory.clone(), cache: named })?;
        Ok(Self {
            files: ModelFiles { directory, cache },
            limits,
            offline,
            timeout: args.timeout.map_or(TIMEOUT, Duration::from_secs),
            hub: OnceLock::new(),
        })
    }

    /// The files of a repository, from the nearest place that has them.
    pub(super) fn files(&self, id: HubId<'_>) -> Result<Files, Box<Diagnostic>> {
        if let Some(path) = self.files.find(id.id, id.revision) {
            return local(&path, SourceKind::ModelConfig, &self.limits);
        }
        if self.offline {
            let message = format!("no config.json of {id} is on this machine");
            return Err(Box::new(Diagnostic::new(Code::HubNotFound, message).help(
                "run without `--offline`, or name a directory with `--model-configs` or `--hf-cache`",
            )));
        }
        let hub = self.hub.get_or_init(|| self.connect());
        let hub = hub.as_ref().map_err(|refusal| Box::new(finding(refusal)))?;
        let fetch = |file: &str| match hub.file(id.id, id.revision, file) {
            Ok(text) => {
                Ok(text
                    .map(|text| Source::new(format!("{id}/{file}"), SourceKind::ModelConfig, text)))
            }
            Err(refusal) => Err(Box::new(finding(&refusal))),
        };
        if let Some(config) = fetch(CONFIGS[0])? {
            // Without the index the size would be different, so an index that cannot be read is an
            // error here.
            let index = fetch(INDEX)?.map(Ok);
            return Ok(Files { config, index });
        }
        match fetch(CONFIGS[1])? {
            Some(config) => Ok(Files { config, index: None }),
            None => Err(Box::new(
                Diagnostic::new(
                    Code::HubNotFound,
                    format!("{id} has neither config.json nor model_index.json"),
                )
                .help("set the fields of the model by hand"),
            )),
        }
    }

    /// The files of several repositories, in their order.
    pub(super) fn all(&self, ids: &[HubId<'_>]) -> Vec<Result<Files, Box<Diagnostic>>> {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(ids.iter().map(|_| None).collect::<Vec<_>>());
        let work = || {
            // Whichever thread is free takes the next model.
            while let Some((at, id)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                ids.get(at).map(|id| (at, *id))
            } {
                let files = self.files(id);
                if let Ok(mut found) = found.lock() {
                    found[at] = Some(files);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(ids.len()) {
                scope.spawn(work);
            }
        });
        found.into_inner().unwrap_or_default().into_iter().flatten().collect()
    }

    fn connect(&self) -> Result<Hub, Refusal> {
        Hub::new(hub::Options {
            endpoint: load::hub_endpoint().unwrap_or_else(|| hub::ENDPOINT.to_owned()),
            token: load::hub_token(),
            certificates: load::certificates(),
            timeout: self.timeout,
            limit: self.limits.document_size,
        })
    }
}

/// The file that describes the model of a directory; for a path that is not a directory with such a
/// file, the path itself.
pub(super) fn config_of(path: &Path) -> PathBuf {
    let configs = CONFIGS.map(|name| path.join(name));
    configs.into_iter().find(|config| config.is_file()).unwrap_or_else(|| path.to_owned())
}

/// Reads a config on this machine, and the index in its directory if there is one.
pub(super) fn local(
    path: &Path,
    kind: SourceKind,
    limits: &Limits,
) -> Result<Files, Box<Diagnostic>> {
    let read = |path: &Path| {
        let text = load::read_text(path, limits)?;
        Ok(Source::new(path.display().to_string(), kind, text))
    };
    let config = read(path)?;
    let path = path.with_file_name(INDEX);
    Ok(Files { config, index: path.is_file().then(|| read(&path)) })
}

/// The finding about a refusal of the Hub, with the next step.
fn finding(refusal: &Refusal) -> Diagnostic {
    let (code, help) = match refusal {
        Refusal::Endpoint(_) => {
            (Code::HubUnreachable, "set HF_ENDPOINT to an address such as https://huggingface.co")
        }
        Refusal::Certificates => {
            (Code::HubUnreachable, "let SSL_CERT_FILE name a file of certificates in PEM")
        }
        Refusal::Repository { asked_with_token: false, .. } => {
            (Code::HubNotFound, "check the name; for a private or gated repository set HF_TOKEN")
        }
        Refusal::Repository { asked_with_token: true, .. } => {
            (Code::HubNotFound, "check the name, and that the token may read the repository")
        }
        Refusal::Revision { .. } => {
            (Code::HubNotFound, "name a branch, a tag or a commit of the repository behind `@`")
        }
        Refusal::Access { asked_with_token: false, .. } => {
            (Code::HubRefused, "set HF_TOKEN to a token that may read the repository")
        }
        Refusal::Access { .. } => (
            Code::HubRefused,
            "accept the terms of the repository on its page, or set HF_TOKEN to a token that may read it",
        ),
        Refusal::Status { status: 429, .. } => {
            (Code::HubUnreachable, "wait, or set HF_TOKEN: the Hub counts anonymous requests")
        }
        Refusal::Large { .. } => (Code::HubUnreachable, "raise the limit with `--max-file-size`"),
        Refusal::Slow { .. } => {
            (Code::HubUnreachable, "try again, with more time by `--timeout`, or with `--offline`")
        }
        Refusal::Connection { why, .. } if why.contains("certificate") => (
            Code::HubUnreachable,
            "if a proxy of your network signs what it passes on, let SSL_CERT_FILE name its certificate",
        ),
        _ => (
            Code::HubUnreachable,
            "check the network, HF_ENDPOINT and HTTPS_PROXY, or use `--offline` with a cache",
        ),
    };
    Diagnostic::new(code, refusal.to_string()).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_a_config_is_itself() {
        let path = Path::new("src/cli");
        assert_eq!(config_of(path), path);
        assert_eq!(config_of(Path::new("no/such/config.json")), Path::new("no/such/config.json"));
    }
}
