//! The tables of `testdata/recorded`, for tests: what Kubernetes' libraries, an API server and a
//! control plane answered.
//!
//! In: the name of a table, `apimachinery/quantity`. Out: its rows. A table that is not there fails
//! the test that asks for it.

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;

/// The rows of a table.
pub(crate) fn rows<T: DeserializeOwned>(table: &str) -> Vec<T> {
    let row = |line: &String| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{table}: {error}: {line}"))
    };
    lines(table).iter().map(row).collect()
}

/// The rows of a table as they are written, a line of JSON each.
pub(crate) fn lines(table: &str) -> Vec<String> {
    let path = format!("{}/testdata/recorded/{table}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{path} has no row");
    lines
}
