//! The tables of `testdata/recorded`, for tests: recorded results of Kubernetes' libraries, an API
//! server and a control plane.
//!
//! In: the name of a table, `apimachinery/quantity`, or of a suite of `testdata/conformance`. Out:
//! its rows, or the folders of its cases. A missing table fails the test that requests it.

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folders of the cases of a suite, by name.
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
pub(crate) fn cases(suite: &str) -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
            if path.join("case.json").is_file() {
                found.push(path);
            } else {
                collect(&path, found);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance").join(suite);
    let mut found = Vec::new();
    collect(&root, &mut found);
    assert!(!found.is_empty(), "{} has no case", root.display());
    found.sort();
    found
}

/// The rows of a table.
pub(crate) fn rows<T: DeserializeOwned>(table: &str) -> Vec<T> {
    let row = |line: &String| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{table}: {error}: {line}"))
    };
    lines(table).iter().map(row).collect()
}

/// The rows of a table as they are written, a line of JSON each.
pub(crate) fn lines(table: &str) -> Vec<String> {
    let mut path = format!("{}/testdata/recorded/{table}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    // Further tables of the same kind may lie elsewhere.
    let other = std::env::var("OME_SCHEDULER_DIR").ok();
    let other = other.zip(table.strip_prefix("scheduler/"));
    if let Some((folder, table)) = &other {
        path = format!("{folder}/{table}.jsonl");
    }
    let mut file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    let read = match other {
        Some(_) => file.read_to_string(&mut text),
        None => GzDecoder::new(file).read_to_string(&mut text),
    };
    read.unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{path} has no row");
    lines
}
