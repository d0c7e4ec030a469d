//! `testdata/invalid/CODE_WHAT.yaml`: input that must end in a finding of that code.
//!
//! A first line `# args: …` adds flags to the call. A line that ends in `# <-` is the one the finding must name.

use ome::cli::{Io, run};
use ome::diag::{CODES, Topic};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/invalid");

/// Codes that no single file of manifests can show, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("file-not-read", "needs a FIFO, a device or a file without permission"),
    ("no-files", "needs an empty directory"),
    ("helm-template", "is said once for a directory"),
    ("unknown-setting", "stands in ome.toml"),
    ("invalid-setting", "stands in ome.toml"),
    ("no-compatible-accelerator", "is the error of a service in `plan` and `explain`"),
    ("protocol-unknown-request", "is about a flag of `plan` and `explain`"),
    ("not-model-config", "is about the file of `import`"),
    ("full-outage", "is about a change, in `rollout`"),
    ("group-level-rollout", "is about a change, in `rollout`"),
    ("gpu-limits-only", "is said where a gang is counted"),
    ("workload-unsupported", "is about `render --workload`"),
    ("operator-defect", "is about what `render` prints"),
];

/// Codes of other commands, and of single areas that keep their cases with their rules, by how they begin.
const AREAS: &[&str] = &["payload-", "import-", "parameter-count-", "gang-", "role-", "rollout-", "kthena-"];

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(FOLDER).expect("the folder is there").map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

fn code(file: &Path) -> String {
    let name = file.file_stem().expect("a name").to_string_lossy();
    name.split_once('_').map_or_else(|| name.clone().into_owned(), |(code, _)| code.to_owned())
}

/// What `validate` finds in a file.
fn findings(file: &Path) -> Vec<Value> {
    let text = String::from_utf8_lossy(&std::fs::read(file).expect("it can be read")).into_owned();
    let more = text.lines().next().and_then(|line| line.strip_prefix("# args: ")).unwrap_or_default();
    let mut args: Vec<OsString> = ["ome", "validate", "--format", "json", "--no-config"].map(OsString::from).to_vec();
    args.push(file.into());
    args.extend(more.split(' ').filter(|word| !word.is_empty()).map(OsString::from));
    if !more.contains("--no-builtin") {
        args.push("--no-builtin".into());
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    run(args, &mut Io::plain(&mut out, &mut err));
    let document: Value = serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{}: {error}: {}", file.display(), String::from_utf8_lossy(&err)));
    document["findings"].as_array().expect("findings are a list").clone()
}

#[test]
fn every_file_ends_in_its_finding_at_its_line() {
    for file in files() {
        let code = code(&file);
        let text = String::from_utf8_lossy(&std::fs::read(&file).expect("it can be read")).into_owned();
        let marked: Vec<u64> = text.lines().zip(1..).filter(|(line, _)| line.ends_with("# <-")).map(|(_, number)| number).collect();
        let found = findings(&file);
        let places: Vec<Option<u64>> = found.iter().filter(|finding| finding["code"] == code.as_str()).map(|finding| finding["line"].as_u64()).collect();
        let codes: Vec<&str> = found.iter().filter_map(|finding| finding["code"].as_str()).collect();
        assert!(!places.is_empty(), "{}: {code} is not found, but {codes:?}", file.display());
        for line in marked {
            assert!(places.contains(&Some(line)), "{}: {code} is not at line {line}, but at {places:?}", file.display());
        }
    }
}

#[test]
fn every_finding_has_a_file() {
    let shown: BTreeSet<String> = files().iter().map(|file| code(file)).collect();
    let known: BTreeSet<&str> = CODES.iter().filter(|doc| doc.topic == Topic::Finding).map(|doc| doc.id).collect();
    let strange: Vec<&String> = shown.iter().filter(|code| !known.contains(code.as_str())).collect();
    assert!(strange.is_empty(), "files of codes that do not exist: {strange:?}");
    let missing: Vec<&str> = known
        .iter()
        .filter(|code| !shown.contains(**code) && !AREAS.iter().any(|area| code.starts_with(area)) && !ELSEWHERE.iter().any(|(other, _)| other == *code))
        .copied()
        .collect();
    assert!(missing.is_empty(), "codes without a file in testdata/invalid: {missing:?}");
    let both: Vec<&str> = ELSEWHERE.iter().map(|(code, _)| *code).filter(|code| shown.contains(*code)).collect();
    assert!(both.is_empty(), "codes with a file that are said to have none: {both:?}");
}
