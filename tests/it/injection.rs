//! Text of an input never begins a line of the output for people: GitHub Actions executes a line
//! that begins with `::error::`, with or without spaces before it, and a reader trusts a line that
//! looks like one of the tool. Invisible characters are escaped.

use crate::process::Folder;
use std::collections::BTreeSet;

/// The text that is appended to a value.
const PLANTED: &str = "\\n::error::planted\\u202e\\u200b";
const QUICKSTART: [&str; 4] = ["models.yaml", "nodes.yaml", "runtimes.yaml", "services.yaml"];

/// A key and its value on one line of a file.
fn entry(line: &str) -> Option<(&str, &str, &str)> {
    let bare = line.trim_start().trim_start_matches("- ");
    let (key, value) = bare.split_once(": ")?;
    let value = value.trim().trim_matches('"');
    let plain = !value.is_empty() && !value.contains(['{', '[', '&', '*', '|', '>', '#']);
    (plain && !bare.starts_with('#')).then(|| (&line[..line.len() - bare.len()], key, value))
}

/// The text with something behind every value of a key.
fn planted(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let line = |line: &str| match entry(line) {
        Some((indent, key, value)) if wanted(key) => {
            format!("{indent}{key}: \"{value}{PLANTED}\"\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn quickstart(file: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/quickstart/");
    std::fs::read_to_string(format!("{root}{file}")).expect("the quick start can be read")
}

/// Lines that begin with input text, and lines with invisible characters.
fn obeyed(text: &str) -> Vec<&str> {
    let is_obeyed = |line: &&str| {
        line.trim_start().starts_with("::error::planted") || line.contains(['\u{202e}', '\u{200b}'])
    };
    text.lines().filter(is_obeyed).collect()
}

/// Calls the tool; returns output lines that would be executed.
fn called(folder: &Folder, call: &str, wrong: &mut Vec<String>) {
    let done = folder.ome(&format!("{call} --no-config"));
    assert!(!done.stderr.contains("unexpected argument"), "{call}: {}", done.stderr);
    assert!(matches!(done.exit, Some(0..=2)), "{call}: {done:?}");
    for text in [&done.stdout, &done.stderr] {
        wrong.extend(obeyed(text).first().map(|line| format!("{call}: {line}")));
    }
}

#[test]
fn input_values_never_start_an_output_line() {
    let texts = QUICKSTART.map(|file| (file, quickstart(file)));
    let keys: BTreeSet<String> = texts
        .iter()
        .flat_map(|(_, text)| text.lines().filter_map(entry))
        .map(|(_, key, _)| key.to_owned())
        .filter(|key| !matches!(key.as_str(), "kind" | "apiVersion"))
        .collect();
    assert!(keys.len() > 30, "{keys:?}");
    let folder = Folder::new(&[]);
    for (file, text) in &texts {
        folder.write(&format!("base/{file}"), text);
    }
    let mut wrong = Vec::new();
    let keys: Vec<String> = keys.into_iter().collect();
    for keys in keys.chunks(4) {
        for (file, text) in &texts {
            folder.write(
                &format!("in/{file}"),
                planted(text, |key| keys.iter().any(|one| one == key)),
            );
        }
        let before = wrong.len();
        for call in [
            "plan -f in",
            "plan -f in -o markdown",
            "plan --each node -f in",
            "drain --max -f in",
            "drain --max -f in -o markdown",
            "explain -f in --all --comparisons --merge",
            "validate in --min-severity info",
            "diff --base base -f in --all",
            "diff --base base -f in -o markdown",
        ] {
            called(&folder, call, &mut wrong);
        }
        wrong[before..].iter_mut().for_each(|line| line.insert_str(0, &format!("{keys:?}: ")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn names_never_start_an_output_line_in_any_command() {
    let folder = Folder::new(&[]);
    for file in QUICKSTART {
        folder.write(&format!("base/{file}"), quickstart(file));
        folder.write(
            // The name of a file too.
            &format!("in/a\n::error::planted\u{202e}{file}"),
            planted(&quickstart(file), |key| matches!(key, "name" | "namespace")),
        );
    }
    folder.write("broken/x\n::error::planted.yaml", "a: [\n");
    folder.write(
        "case.ome-test.yaml",
        format!("cases:\n- name: \"x{PLANTED}\"\n  files: [in]\n  services:\n    \"quickstart/chat{PLANTED}\": {{runtime: \"y{PLANTED}\"}}\n"),
    );
    let mut wrong = Vec::new();
    for call in [
        "plan -f in -o html",
        "explain -f in -o mermaid",
        "explain -f in -o markdown",
        "validate in broken --format github",
        "validate in broken --format junit",
        "validate broken",
        "plan -f broken",
        "matrix -f in",
        "matrix -f in -o markdown",
        "matrix -f in -o html",
        "catalog runtimes -f in",
        "catalog models -f in",
        "catalog accelerators -f in",
        "endpoints -f in",
        "diff --base base -f in -o html",
        "rollout chat -f in --from base",
        "rollout chat -f in --from base -o markdown",
        "rollout --all -f in --base base",
        "rollout --all -f in --base base -o markdown",
        "rollout --all -f in --base base -o html",
        "drift -f in --live in -o html",
        "drift -f base --live in",
        "drift -f base --live in -o markdown",
        "drift -f in --live in",
        "drift -f in --live in -o markdown",
        "discover -f in",
        "discover -f in -o table",
        "kueue export -f in -o table",
        "kueue import -f in -o table",
        "kueue diff -f in",
        "render -f in -o dir=out",
        "render -f base -o dir=made",
        "render -f in --check made --diff",
        "test case.ome-test.yaml",
        "test case.ome-test.yaml --format github",
        "test case.ome-test.yaml --format junit",
    ] {
        called(&folder, call, &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_comment_that_discover_writes_ends_a_line() {
    // To YAML 1.1, U+0085, U+2028 and U+2029 end one.
    let label = "NVIDIA-L4\\u2028  cost: {perHour: 0}\\u0085vendor: x\\u2029\\u202eb\\u009bc";
    let node = format!(
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  labels: {{nvidia.com/gpu.product: \"{label}\", nvidia.com/gpu.memory: '23034'}}\nstatus: {{allocatable: {{nvidia.com/gpu: '8'}}}}\n"
    );
    let done = Folder::new(&[("n.yaml", &node)]).ome("discover -f n.yaml -o yaml --no-config");
    assert!(done.stdout.contains("perHour"), "{done:?}");
    let ends = |c: char| c != '\n' && (c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c));
    assert!(!done.stdout.contains(ends), "{:?}", done.stdout);
}
