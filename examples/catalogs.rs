//! Makes `catalogs/OPERATOR.gz`, the runtimes that each release of OME or KServe ships, or proves it
//! current.
//!
//! `cargo run --example catalogs -- ome|kserve REPOSITORY [--check]`. In: a clone of
//! <https://github.com/sgl-project/ome> or <https://github.com/kserve/kserve> (a bare one too) with
//! the commits of `src/operators/OPERATOR/releases.rs`; of each, the files below `config/runtimes`,
//! with the images of its `kustomization.yaml`. A release without a commit is left out. Out: the
//! texts, each once, behind a line with the releases that ship it and its path; `src/builtin.rs`
//! reads it. With `--check` nothing is written; the exit code is 1 when the file is stale. The texts
//! are under the operators' license, Apache-2.0.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a generator reads and writes files and reports on the terminal"
)]

use flate2::{Compression, GzBuilder};
use ome::internals::api::Api;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

const BELOW: &str = "config/runtimes/";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let named: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let api = match named.first().map(|operator| operator.as_str()) {
        Some("ome") => Some(Api::Ome),
        Some("kserve") => Some(Api::KServe),
        _ => None,
    };
    let (Some(api), [operator, repository]) = (api, named.as_slice()) else {
        eprintln!("usage: catalogs ome|kserve REPOSITORY [--check]");
        return ExitCode::FAILURE;
    };
    let target = format!("{}/catalogs/{operator}.gz", env!("CARGO_MANIFEST_DIR"));
    match made(api, Path::new(repository)) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(bytes) if std::fs::read(&target).is_ok_and(|old| old == bytes) => ExitCode::SUCCESS,
        Ok(_) if check => {
            eprintln!("stale: {target}");
            ExitCode::FAILURE
        }
        Ok(bytes) => {
            if let Err(error) = std::fs::write(&target, bytes) {
                eprintln!("{target}: {error}");
                return ExitCode::FAILURE;
            }
            eprintln!("written: {target}");
            ExitCode::SUCCESS
        }
    }
}

/// The file: texts sorted by path, so that versions of one file stand beside each other.
fn made(api: Api, repository: &Path) -> Result<Vec<u8>, String> {
    let mut texts: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    let known = ome::internals::operators::releases(api);
    for release in known.into_iter().filter(|release| !release.commit.is_empty()) {
        let show = |path: &str| git(repository, &["show", &format!("{}:{path}", release.commit)]);
        let images = match api {
            Api::KServe => images(&show(&format!("{BELOW}kustomization.yaml"))?),
            _ => Vec::new(),
        };
        let listed = git(repository, &["ls-tree", "-r", "--name-only", release.commit, BELOW])?;
        for path in listed.lines() {
            let is_runtime =
                path.strip_suffix(".yaml").is_some_and(|stem| !stem.ends_with("kustomization"));
            if let Some(name) = path.strip_prefix(BELOW).filter(|_| is_runtime) {
                let mut text = show(path)?;
                for (name, image) in &images {
                    text =
                        text.replace(&format!("image: {name}:replace"), &format!("image: {image}"));
                }
                texts.entry((name.to_owned(), text)).or_default().push(release.tag);
            }
        }
    }
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    for ((name, text), tags) in texts {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        write!(gzip, "#: {} {name}\n{text}{end}", tags.join(","))
            .map_err(|error| error.to_string())?;
    }
    gzip.finish().map_err(|error| error.to_string())
}

/// The images that a kustomization sets, by the names that its runtimes use.
fn images(kustomization: &str) -> Vec<(String, String)> {
    let value = |line: &str, key: &str| {
        Some(line.trim().trim_start_matches("- ").strip_prefix(key)?.trim().to_owned())
    };
    let (mut images, mut name, mut image) = (Vec::new(), String::new(), String::new());
    for line in kustomization.lines() {
        if let Some(found) = value(line, "name:") {
            name = found;
        } else if let Some(found) = value(line, "newName:") {
            image = found;
        } else if let Some(tag) = value(line, "newTag:") {
            images.push((name.clone(), format!("{image}:{tag}")));
        }
    }
    images
}

fn git(repository: &Path, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new("git").arg("-C").arg(repository).args(arguments).output();
    let done = done.map_err(|error| format!("git: {error}"))?;
    if !done.status.success() {
        return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr)));
    }
    String::from_utf8(done.stdout).map_err(|error| format!("git {arguments:?}: {error}"))
}
