//! `testdata/invalid/CODE_WHAT`: input that must end in the finding its name begins with, at least
//! one for every code that the tool can say.

use crate::architecture;
use crate::hub;
use crate::process;
use ome::diag::{CODES, Code, Topic};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const FOLDER: &str = "testdata/invalid";

const ROLLOUT: &[&str] = &[
    "rollout",
    "chat",
    "--from",
    "FILE/before.yaml",
    "-f",
    "FILE/after.yaml",
    "--no-builtin",
    "-o",
    "json",
];
const ROLLOUT_AS_SHIPPED: &[&str] = &[
    "rollout",
    "chat",
    "--from",
    "FILE/before.yaml",
    "-f",
    "FILE/after.yaml",
    "--no-builtin",
    "--semantics",
    "controller",
    "-o",
    "json",
];

const DISCOVER: &[&str] = &["discover", "-f", "FILE", "--no-builtin", "--no-config", "-o", "json"];

const RENDER: &[&str] =
    &["render", "-f", "FILE/in.yaml", "-o", "dir=FILE/rendered", "--no-builtin", "--no-config"];

const KUEUE_EXPORT: &[&str] =
    &["kueue", "export", "-f", "FILE", "--no-builtin", "--no-config", "-o", "json"];

/// Calls that make a code appear where the usual ones do not; FILE stands for the file, or for a
/// copy of the directory.
const CALLS: &[(&str, &[&str])] = &[
    ("file-size-limit", &["validate", "FILE", "--max-file-size", "100B", "--format", "json"]),
    ("node-limit", &["validate", "FILE", "--max-nodes", "5", "--format", "json"]),
    ("overrides-builtin", &["validate", "FILE", "--format", "json"]),
    ("built-in-used", &["validate", "FILE", "--format", "json"]),
    (
        "autoselect-overlap",
        &["validate", "FILE", "--no-builtin", "--rule", "autoselect-overlap", "--format", "json"],
    ),
    ("runtime-for-no-model", &["validate", "FILE", "--no-builtin", "--unused", "--format", "json"]),
    (
        "kthena-defect",
        &["render", "-f", "FILE", "--no-builtin", "--semantics", "controller", "--expand"],
    ),
    (
        "workload-unsupported",
        &["render", "-f", "FILE", "--no-builtin", "--no-config", "--workload", "modelserving"],
    ),
    ("conversion-loss", &["convert", "--to", "shipped", "-f", "FILE", "--no-builtin"]),
    (
        "accelerator-not-considered",
        &[
            "plan",
            "-f",
            "FILE",
            "--no-builtin",
            "--no-config",
            "--feature-gates",
            "AcceleratorAwareScheduling=false",
            "-o",
            "json",
        ],
    ),
    (
        "credentials-unresolved",
        &["render", "-f", "FILE", "--no-builtin", "--no-config", "--expand"],
    ),
    ("conversion-loss", &["convert", "--to", "ome", "-f", "FILE", "--no-builtin", "--no-config"]),
    (
        "kueue-conflict",
        &["kueue", "import", "-f", "FILE", "--no-builtin", "--no-config", "-o", "json"],
    ),
    (
        "field-of-another-release",
        &[
            "plan",
            "-f",
            "FILE",
            "--no-builtin",
            "--no-config",
            "--release",
            "ome=v0.1.3",
            "-o",
            "json",
        ],
    ),
    ("file-in-the-way", RENDER),
    ("file-edited", RENDER),
    ("nothing-removed", RENDER),
    ("not-expressible", KUEUE_EXPORT),
    ("too-many-labels", KUEUE_EXPORT),
    (
        "catalogue-unknown",
        &[
            "validate",
            "FILE",
            "--no-builtin",
            "--no-config",
            "--unknown-products",
            "--format",
            "json",
        ],
    ),
    (
        "unknown-model",
        &["discover", "--from-values", "FILE", "--no-builtin", "--no-config", "-o", "json"],
    ),
    ("nodes-differ", DISCOVER),
    ("tier-boundary", DISCOVER),
    ("class-drift", DISCOVER),
    ("discovery-overridden", DISCOVER),
    (
        "context-exceeds-memory",
        &[
            "plan",
            "-f",
            "FILE/in.yaml",
            "--model-configs",
            "FILE/configs",
            "--no-builtin",
            "--no-config",
            "-o",
            "json",
        ],
    ),
    ("full-outage", ROLLOUT),
    ("group-level-rollout", ROLLOUT),
    (
        "immutable-field",
        &[
            "diff",
            "--base",
            "FILE/before.yaml",
            "-f",
            "FILE/after.yaml",
            "--no-builtin",
            "-o",
            "json",
        ],
    ),
    ("role-scaling-one-pass", ROLLOUT_AS_SHIPPED),
    ("not-model-config", &["import", "FILE", "-o", "json"]),
    ("parameter-count-unknown", &["import", "FILE", "-o", "json"]),
    ("parameter-count-partial", &["import", "FILE", "-o", "json"]),
    ("parameter-count-differs", &["import", "FILE/config.json", "-o", "json"]),
    ("import-conflict", &["import", "FILE/config.json", "--into", "FILE/model.yaml", "-o", "json"]),
    ("import-refused", &["import", "FILE/config.json", "--into", "FILE/model.yaml", "-o", "json"]),
    ("unreadable-label", DISCOVER),
    ("device-count-differs", DISCOVER),
    ("no-device-plugin", DISCOVER),
    ("unknown-product", DISCOVER),
    ("unknown-setting", &["plan", "--config", "FILE", "-f", "testdata/quickstart", "-o", "json"]),
    ("invalid-setting", &["plan", "--config", "FILE", "-f", "testdata/quickstart", "-o", "json"]),
    (
        "payload-id-mismatch",
        &[
            "payload",
            "check",
            "FILE",
            "--protocol",
            "v2",
            "--kind",
            "infer-response",
            "--request",
            "testdata/conformance/documented/s3-payload/response/request.json",
            "-o",
            "json",
        ],
    ),
];

/// Codes about there being no file, with the call that says them.
const WITHOUT_FILE: &[(&str, &[&str])] = &[
    (
        "file-not-read",
        &["validate", "testdata/invalid/there-is-no-such-file.yaml", "--format", "json"],
    ),
    ("no-files", &["plan", "-f", "benches", "-o", "json"]),
    ("hub-not-found", &["import", "hf://acme/none", "--offline", "-o", "json"]),
    ("kustomize-failed", &["plan", "-k", "no/such/tree", "-o", "json"]),
    (
        "base-not-read",
        &["diff", "--base", "no/such/place", "-f", "testdata/quickstart", "-o", "json"],
    ),
];

/// The usual calls: every command that says findings, under both semantics; every reading of a
/// body.
fn usual(file: &str) -> Vec<Vec<String>> {
    let words = |text: &str| -> Vec<String> {
        text.split(' ')
            .map(|word| if word == "FILE" { file.to_owned() } else { word.to_owned() })
            .collect()
    };
    if Path::new(file).extension().is_some_and(|extension| extension == "json") {
        let kinds = [
            "v2 --kind infer-request",
            "v2 --kind infer-response",
            "v2 --kind model-metadata",
            "grpc-v2 --kind infer-request",
            "v1 --kind predict-request",
        ];
        return kinds
            .iter()
            .map(|kind| words(&format!("payload check FILE --protocol {kind} -o json")))
            .collect();
    }
    let commands =
        ["validate FILE --format json", "plan -f FILE -o json", "render -f FILE -o json"];
    let semantics = ["documented", "controller"];
    semantics
        .iter()
        .flat_map(|semantics| {
            commands.iter().map(move |command| {
                format!("{command} --no-builtin --no-config --semantics {semantics}")
            })
        })
        .map(|call| words(&call))
        .collect()
}

/// The codes a call says: in JSON, or as headings on stderr.
fn codes(args: &[String]) -> BTreeSet<String> {
    let call = process::Call {
        args: args.to_vec(),
        stdin: "",
        directory: Path::new(ROOT),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    let done = process::run(&call).unwrap_or_else(|| panic!("{args:?} takes too long"));
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap_or_default();
    let said = json["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finding| finding["code"].as_str().map(str::to_owned));
    // As a heading, or in a line of a conversion: `warning[code] …`.
    let bracketed = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
    said.chain(done.stderr.lines().map(str::to_owned))
        .chain(done.stderr.lines().filter_map(bracketed))
        .collect()
}

/// A copy of a directory, which a call may change; gone when it is dropped. Files are used where
/// they are.
struct Copy(Option<PathBuf>);

impl Copy {
    fn of(path: &Path) -> Self {
        let from = Path::new(ROOT).join(path);
        if !from.is_dir() {
            return Self(None);
        }
        let to = std::env::temp_dir().join(format!(
            "ome-{}-{}",
            std::process::id(),
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(Some(to))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Some(directory) = &self.0 {
            drop(std::fs::remove_dir_all(directory));
        }
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Files and directories of the folder with the code their name begins with.
fn entries() -> Vec<(String, PathBuf)> {
    let folder =
        std::fs::read_dir(Path::new(ROOT).join(FOLDER)).expect("testdata/invalid can be listed");
    let mut found: Vec<(String, PathBuf)> = folder
        .map(|entry| {
            let name = PathBuf::from(entry.expect("testdata/invalid can be listed").file_name());
            let code = name.to_string_lossy().split('_').next().unwrap_or_default().to_owned();
            (code, Path::new(FOLDER).join(name))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_invalid_input_is_found() {
    let problems: Vec<String> = entries()
        .par_iter()
        .filter_map(|(code, path)| {
            let copy = Copy::of(path);
            let file = copy.0.as_deref().unwrap_or(path).display().to_string();
            if Code::finding(code).is_none() {
                return Some(format!("{}: no finding has the code `{code}`", path.display()));
            }
            let special: Vec<Vec<String>> = CALLS
                .iter()
                .filter(|(of, _)| of == code)
                .map(|(_, call)| call.iter().map(|word| word.replace("FILE", &file)).collect())
                .collect();
            let calls = if special.is_empty() { usual(&file) } else { special };
            let mut said = BTreeSet::new();
            for call in calls {
                said.extend(codes(&call));
                if said.contains(code) {
                    return None;
                }
            }
            Some(format!("{}: not found; said {said:?}", path.display()))
        })
        .collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn what_is_not_there_is_said() {
    for (code, call) in WITHOUT_FILE {
        let call: Vec<String> = call.iter().map(ToString::to_string).collect();
        assert!(codes(&call).contains(*code), "{code}: {call:?} says {:?}", codes(&call));
    }
}

#[test]
fn every_code_has_an_invalid_input() {
    let code: String = architecture::files()
        .into_iter()
        .filter(|file| file.path != "diag/codes.rs")
        .map(|file| file.code)
        .collect();
    let used: BTreeSet<String> =
        architecture::names_after(&code, "Code::").into_iter().map(|(_, name)| name).collect();
    let said = CODES.iter().filter(|doc| doc.topic == Topic::Finding).filter(|doc| {
        Code::finding(doc.id).is_some_and(|code| used.contains(&format!("{code:?}")))
    });
    let there: BTreeSet<String> = entries()
        .into_iter()
        .map(|(code, _)| code)
        .chain(WITHOUT_FILE.iter().map(|(code, _)| (*code).to_owned()))
        .chain(hub::ANSWERED.iter().map(|code| (*code).to_owned()))
        .collect();
    let missing: Vec<&str> = said.map(|doc| doc.id).filter(|id| !there.contains(*id)).collect();
    assert!(missing.is_empty(), "codes without {FOLDER}/CODE_WHAT.yaml: {}", missing.join(", "));
}
