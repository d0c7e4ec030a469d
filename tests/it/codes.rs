//! The reference of codes: every entry is complete, and every example gives its code and no other
//! than those it lists.

use crate::process;
use ome::internals::diag::{CODES, Code, CodeDoc, Topic};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Examples that are not run here, and why.
const NOT_RUN: [(&str, &str); 3] = [
    ("not-utf8", "an entry is text, and the example is bytes that are none; tests/it/invalid.rs"),
    ("hub-unreachable", "needs a Hub that does not answer; tests/it/hub.rs"),
    ("hub-refused", "needs a Hub that asks for a token; tests/it/hub.rs"),
];

/// The codes in the output of a call: the headings of findings, as text or in JSON, and the reasons
/// and notes of candidates in JSON.
fn codes(topic: Topic, done: &process::Done) -> BTreeSet<&'static str> {
    fn of_json<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(key, value)| of_json(value, key, found));
            }
            Value::Array(items) => items.iter().for_each(|item| of_json(item, key, found)),
            Value::String(text) if key == "code" => found.push(text),
            _ => {}
        }
    }
    let json: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
    let mut found = Vec::new();
    of_json(&json, "", &mut found);
    let lines = done.stdout.lines().chain(done.stderr.lines());
    // A heading, the error of a service, or a line of a conversion: `warning[code] …`.
    found.extend(lines.map(|line| {
        let line = line
            .trim_start()
            .strip_prefix("✗ ")
            .map_or(line, |error| error.split_once(": ").map_or(error, |(code, _)| code));
        line.split_once('[')
            .filter(|(before, _)| {
                // A finding in a line has its place first.
                let severity = before.rsplit(": ").next().unwrap_or_default();
                ["error", "warning", "info"].contains(&severity)
            })
            .and_then(|(_, rest)| Some(rest.split_once(']')?.0))
            .unwrap_or(line)
    }));
    CODES
        .iter()
        .filter(|doc| doc.topic == topic && found.contains(&doc.id))
        .map(|doc| doc.id)
        .collect()
}

/// The error of an example.
fn untrue(doc: &CodeDoc) -> Option<String> {
    let entry = doc.entry();
    let folder = process::Folder::new(&entry.files);
    let mut args = entry.run.strip_prefix("ome ")?.to_owned();
    if doc.topic != Topic::Finding && !args.contains("-o json") {
        args.push_str(" -o json");
    }
    let done = folder.ome(&args);
    let wanted: BTreeSet<&str> = entry.also.iter().copied().chain([doc.id]).collect();
    let found = codes(doc.topic, &done);
    (found != wanted).then(|| format!("{}: `{}` gives {found:?}", doc.id, entry.run))
}

#[test]
fn every_example_gives_its_code() {
    let run = |doc: &&CodeDoc| !NOT_RUN.iter().any(|(id, _)| *id == doc.id);
    let docs: Vec<&CodeDoc> = CODES.iter().filter(run).collect();
    let problems: Vec<String> = docs.par_iter().filter_map(|doc| untrue(doc)).collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_code_entry_has_why_fix_and_source() {
    let mut problems = Vec::new();
    for doc in CODES {
        let entry = doc.entry();
        let parts = [("why", entry.why), ("fix", entry.fix), ("source", entry.source)];
        for (name, text) in parts {
            if !text.ends_with('.') || text.trim() != text {
                problems.push(format!("{}: {name} is no sentence: {text:?}", doc.id));
            }
        }
        if ["Nothing.", "None."].contains(&entry.fix) || entry.fix.split(' ').count() < 2 {
            problems.push(format!("{}: the fix is no step: {:?}", doc.id, entry.fix));
        }
        if entry.why.split(' ').count() < 5 {
            problems.push(format!("{}: the why says too little: {:?}", doc.id, entry.why));
        }
        if !entry.run.starts_with("ome ") {
            problems.push(format!("{}: no command", doc.id));
        }
        if entry.also.iter().any(|id| !CODES.iter().any(|doc| doc.id == *id)) {
            problems.push(format!("{}: also {:?}", doc.id, entry.also));
        }
        if entry.why.trim_end_matches('.').eq_ignore_ascii_case(doc.summary) {
            problems.push(format!("{}: why repeats what", doc.id));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Every file of the folder is an entry: what was renamed or deleted leaves nothing behind.
#[test]
fn every_file_in_the_codes_folder_belongs_to_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diag/codes");
    for file in std::fs::read_dir(folder).expect("it is there") {
        let path = file.expect("a file").path();
        let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(CODES.iter().any(|doc| doc.id == id), "{} has no code", path.display());
    }
}

/// Every code is used: no entry describes a finding that is never reported.
#[test]
fn every_code_is_reported_somewhere() {
    let code: String = crate::architecture::files()
        .into_iter()
        .filter(|file| file.path != "diag/codes.rs")
        .map(|file| file.code)
        .collect();
    let used: BTreeSet<String> = crate::architecture::names_after(&code, "Code::")
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let dead: Vec<&str> = CODES
        .iter()
        .filter(|doc| doc.topic == Topic::Finding)
        .filter(|doc| Code::finding(doc.id).is_none_or(|code| !used.contains(&format!("{code:?}"))))
        .map(|doc| doc.id)
        .collect();
    assert!(dead.is_empty(), "{dead:?}");
}
