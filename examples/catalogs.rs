//! Makes `catalogs/ome.gz`, the runtimes that each release of OME ships, or proves it current.
//!
//! `cargo run --example catalogs -- REPOSITORY [--check]`. In: a clone of
//! <https://github.com/sgl-project/ome> (a bare one too) with the commits of
//! `src/operators/ome/releases.rs`; of each, the files below `config/runtimes`. Out: the texts, each
//! once, behind a line with the releases that ship it and its path; `src/builtin.rs` reads it. With
//! `--check` nothing is written; the exit code is 1 when the file is stale. The texts are under
//! OME's license, Apache-2.0.

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

const TARGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/catalogs/ome.gz");
const BELOW: &str = "config/runtimes/";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.iter().any(|argument| argument == "--check");
    let Some(repository) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        eprintln!("usage: catalogs REPOSITORY [--check]");
        return ExitCode::FAILURE;
    };
    match made(Path::new(repository)) {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Ok(bytes) if std::fs::read(TARGET).is_ok_and(|old| old == bytes) => ExitCode::SUCCESS,
        Ok(_) if check => {
            eprintln!("stale: {TARGET}");
            ExitCode::FAILURE
        }
        Ok(bytes) => {
            if let Err(error) = std::fs::write(TARGET, bytes) {
                eprintln!("{TARGET}: {error}");
                return ExitCode::FAILURE;
            }
            eprintln!("written: {TARGET}");
            ExitCode::SUCCESS
        }
    }
}

/// The file: texts sorted by path, so that versions of one file stand beside each other.
fn made(repository: &Path) -> Result<Vec<u8>, String> {
    let mut texts: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for release in ome::internals::operators::releases(Api::Ome) {
        let listed = git(repository, &["ls-tree", "-r", "--name-only", release.commit, BELOW])?;
        for path in listed.lines() {
            let is_runtime =
                path.strip_suffix(".yaml").is_some_and(|stem| !stem.ends_with("kustomization"));
            if let Some(name) = path.strip_prefix(BELOW).filter(|_| is_runtime) {
                let text = git(repository, &["show", &format!("{}:{path}", release.commit)])?;
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

fn git(repository: &Path, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new("git").arg("-C").arg(repository).args(arguments).output();
    let done = done.map_err(|error| format!("git: {error}"))?;
    if !done.status.success() {
        return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr)));
    }
    String::from_utf8(done.stdout).map_err(|error| format!("git {arguments:?}: {error}"))
}
