//! Secrets in files of every kind that is read, with mistakes beside them: no answer of any command
//! shows one. The files are in `testdata/secrets`, where `@@` is a secret.

use crate::process::{Call, Done, Folder, run};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/secrets");
const PAGES: &[&str] = &["table", "json", "markdown", "html"];
const FINDINGS: &[&str] =
    &["human", "json", "html", "sarif", "github", "junit", "gitlab", "rdjson"];

/// The files of a state with their secrets, each of which is a text of its own; `places` has where
/// each is.
fn planted(state: &str, places: &mut BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(FILES).to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(FILES).expect("below it").display().to_string();
            let text = std::fs::read_to_string(&path).expect("a file");
            let mut filled = String::new();
            for (number, line) in text.split_inclusive('\n').enumerate() {
                let mut parts = line.split("@@");
                filled.push_str(parts.next().expect("a part"));
                for part in parts {
                    let secret = format!("zq{state}{:04}kkkkkkkkkkkkkkkkkkkk", places.len());
                    write!(filled, "{secret}{part}").expect("a text");
                    places.insert(secret, format!("{name}:{} before `{part}`", number + 1));
                }
            }
            if state == "b" {
                filled = filled.replace("eplicas: 1", "eplicas: 2");
            }
            files.push((name, filled));
        }
    }
    files
}

/// Calls whose whole output is searched, and those that print manifests, of which only stderr is.
fn calls() -> (Vec<String>, Vec<String>) {
    let (mut answers, mut manifests) = (Vec::new(), Vec::new());
    let inputs = [
        "",
        "/llm.yaml",
        "/cluster.yaml",
        "/catalog.yaml",
        "/broken.yaml",
        "/values.yaml",
        "/chart",
    ];
    for input in inputs.map(|input| format!("a{input}")) {
        let mut each = |call: &str, formats: &[&str]| {
            let call = call.replace("@in", &input);
            answers.extend(formats.iter().map(|format| format!("{call} -o {format}")));
        };
        each("validate @in --min-severity info --all", FINDINGS);
        each("validate @in --context b", &["human"]);
        for call in [
            "plan -f @in",
            "plan -f @in --at max --all -v",
            "drift -f @in --live b",
            "drain --max -f @in",
            "drain n1 -f @in",
            "diff --base b -f @in --all",
            "matrix -f @in",
        ] {
            each(call, PAGES);
        }
        each("plan -f @in --each node", &["table"]);
        each("plan -f @in --without node=n1", &["table"]);
        each("plan -f @in --semantics controller -v", &["table"]);
        each("plan -f @in --release kserve=odh", &["json"]);
        each(
            "explain -f @in --merge --all --comparisons",
            &["table", "json", "markdown", "mermaid"],
        );
        for call in [
            "catalog list -f @in",
            "endpoints -f @in --payload --proto",
            "rollout --all --from b -f @in",
            "test a/c.ome-test.yaml -f @in",
        ] {
            each(call, &["table", "json"]);
        }
        each("rollout --all --steps --from b -f @in", &["table"]);
        each("discover -f @in", &["table"]);
        for call in
            ["render -f @in --annotate", "convert -f @in", "discover -f @in", "kueue export -f @in"]
        {
            manifests.push(call.replace("@in", &input));
        }
    }
    for name in ["mm", "rr", "l4"] {
        answers.extend(
            ["table", "json"].map(|format| format!("catalog show {name} -f a -o {format}")),
        );
    }
    for name in ["chat", "llm", "iris", "rr", "mm"] {
        answers.extend(["table", "json"].map(|format| format!("explain {name} -f a -o {format}")));
    }
    for object in ["Deployment/chat-engine", "Deployment/llm-kserve", "Deployment/iris-predictor"] {
        for path in ["**", "spec.template.spec.containers[0].**", "metadata.**"] {
            answers.push(format!("why {object} {path} -f a"));
            answers.push(format!("why {object} {path} -f a -o json"));
        }
    }
    answers.push("render --check out -f b --diff".into());
    answers.push("plan -f a --config a/ome.toml".into());
    answers.push("config --config a/ome.toml -o json".into());
    answers.push("import a/config.json".into());
    (answers, manifests)
}

/// A message of the Language Server Protocol.
fn message(value: &Value) -> String {
    let text = value.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// What an editor is told about a file: at every word that names something, and at every secret.
fn in_an_editor(folder: &Folder, name: &str, text: &str) -> Done {
    let uri = format!("file://{}", folder.at(&format!("a/{name}")).display());
    let file = json!({ "uri": uri });
    let mut script = Vec::new();
    let mut request = |method: &str, params: Value| {
        let id = script.len();
        script.push(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    };
    let root = format!("file://{}", folder.at("a").display());
    request("initialize", json!({ "processId": null, "rootUri": root, "capabilities": {} }));
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
    for (line, text) in text.lines().enumerate() {
        let names = text.match_indices(": ").map(|(at, _)| at.saturating_sub(1));
        let secrets = text.match_indices("zq").map(|(at, _)| at + 2);
        for character in names.chain(secrets) {
            let position = json!({ "line": line, "character": character });
            let at = json!({ "textDocument": file, "position": position });
            for method in ["hover", "definition", "completion"] {
                request(&format!("textDocument/{method}"), at.clone());
            }
            let range = json!({ "start": position, "end": position });
            request(
                "textDocument/codeAction",
                json!({ "textDocument": file, "range": range, "context": { "diagnostics": [] } }),
            );
        }
    }
    request("textDocument/inlayHint", json!({ "textDocument": file, "range": whole }));
    request("textDocument/codeLens", json!({ "textDocument": file }));
    request("textDocument/documentSymbol", json!({ "textDocument": file }));
    request("shutdown", Value::Null);
    let open =
        json!({ "textDocument": { "uri": uri, "languageId": "yaml", "version": 1, "text": text } });
    let opened = [
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": open }),
    ];
    script.splice(1..1, opened);
    script.push(json!({ "jsonrpc": "2.0", "method": "exit" }));
    let stdin: String = script.iter().map(message).collect();
    run(&Call {
        args: vec!["lsp".into()],
        stdin: &stdin,
        directory: folder.path(),
        env: &BTreeMap::new(),
        time: Duration::from_mins(2),
    })
    .expect("it ends in time")
}

#[test]
fn no_command_shows_a_secret_of_a_file() {
    let mut places = BTreeMap::new();
    let folder = Folder::new(&[]);
    let mut edited = Vec::new();
    for state in ["a", "b"] {
        for (name, text) in planted(state, &mut places) {
            folder.write(&format!("{state}/{name}"), &text);
            if state == "a" && Path::new(&name).extension().is_some_and(|end| end == "yaml") {
                edited.push((name, text));
            }
        }
    }
    assert!(places.len() >= 2 * 190, "{} secrets", places.len());
    folder.ome("render -f a/catalog.yaml -f a/llm.yaml -o dir=out --no-builtin --no-config");
    let shown = |call: &str, text: &str| -> Vec<String> {
        let marks = text.match_indices("zq").filter_map(|(at, _)| text.get(at..at + 27));
        let mut found: Vec<String> = marks
            .filter_map(|mark| places.get(mark))
            .map(|place| format!("{call}: {place}"))
            .collect();
        found.dedup();
        found
    };
    let (answers, manifests) = calls();
    let calls = answers.iter().map(|call| (call, true));
    let calls: Vec<_> = calls.chain(manifests.iter().map(|call| (call, false))).collect();
    let mut leaks: Vec<String> = calls
        .par_iter()
        .flat_map(|(call, all)| {
            let named = call.contains("--config") || call.starts_with("import");
            let flags = if named { "" } else { " --no-builtin --no-config" };
            let Done { exit, stdout, stderr } = folder.ome(&format!("{call}{flags}"));
            let is_usage = ["unexpected argument", "invalid value", "required arguments"];
            assert!(!is_usage.iter().any(|usage| stderr.contains(usage)), "{call}: {stderr}");
            assert!(exit.is_some_and(|exit| exit < 3), "{call}: {stderr}");
            shown(call, &(if *all { stdout } else { String::new() } + &stderr))
        })
        .collect();
    leaks.par_extend(edited.par_iter().flat_map(|(name, text)| {
        let Done { exit, stdout, stderr } = in_an_editor(&folder, name, text);
        assert_eq!(exit, Some(0), "{name}: {stderr}");
        shown(&format!("lsp of {name}"), &(stdout + &stderr))
    }));
    assert!(leaks.is_empty(), "{} shown:\n{}", leaks.len(), leaks.join("\n"));
}
