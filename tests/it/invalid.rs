//! `testdata/invalid/CODE_WHAT`: more input that must end in the finding its name begins with,
//! beside the examples of the reference.

use crate::process;
use ome::internals::diag::Code;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const FOLDER: &str = "testdata/invalid";

/// Calls that report a code that `validate` does not; FILE is the file.
const CALLS: [(&str, &str); 3] = [
    ("conversion-loss", "convert --to ome -f FILE"),
    ("unreadable-label", "discover -f FILE"),
    ("invalid-setting", "plan --config FILE -f testdata/quickstart"),
];

#[test]
fn every_invalid_input_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut problems = Vec::new();
    for entry in std::fs::read_dir(root.join(FOLDER)).expect("it can be listed") {
        let name = entry.expect("it can be listed").file_name().to_string_lossy().into_owned();
        let code = name.split('_').next().unwrap_or_default();
        if Code::finding(code).is_none() {
            problems.push(format!("{name}: no finding has the code `{code}`"));
        }
        let call = CALLS.iter().find(|(of, _)| *of == code);
        let call = call.map_or("validate FILE --min-severity info", |(_, call)| call);
        let call = process::Call {
            args: call
                .replace("FILE", &format!("{FOLDER}/{name}"))
                .split(' ')
                .map(String::from)
                .collect(),
            stdin: "",
            directory: root,
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        };
        let done = process::run(&call).expect("it ends");
        let mut lines = done.stdout.lines().chain(done.stderr.lines());
        if !lines.any(|line| line == code || line.contains(&format!("[{code}]"))) {
            problems.push(format!("{name}: {done:?}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
