//! What the fuzz targets of whole commands do with their bytes.
//!
//! In: bytes of anybody, as the files of a command. Out: nothing, or a panic that says which promise
//! is broken: a command ends with 0, 1 or 2, and prints no character that a terminal obeys. Files
//! are apart at lines that are `#---`; a command that wants more of them than there are gets the
//! first one again.

use ome::cli::{self, Io};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[path = "grammar.rs"]
pub mod grammar;

/// Elements of a list that is stretched.
const LONG: usize = 3_000;

/// What a command gave.
struct Done {
    code: u8,
    out: String,
}

/// A directory of this process, emptied for each input.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let thread = format!("{:?}", std::thread::current().id());
        let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
        // In memory, where the system has such a directory.
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = Self(root.join(format!("ome-fuzz-{}-{thread}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).expect("a directory can be made");
        for (name, bytes) in files {
            let path = folder.0.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory can be made");
            fs::write(path, bytes).expect("a file can be written");
        }
        folder
    }

    /// Runs a command; `@` at the beginning of an argument is this directory.
    fn ome(&self, verb: &[&str]) -> Done {
        let place = |argument: &str| match argument.split_once('@') {
            Some((before, name)) => format!("{before}{}", self.0.join(name).display()),
            None => argument.to_owned(),
        };
        let settings = if verb.contains(&"--config") { &[][..] } else { &["--no-config"] };
        let settings = if verb[0] == "import" { &[] } else { settings };
        let arguments = std::iter::once("ome".to_owned())
            .chain(verb.iter().map(|argument| place(argument)))
            .chain(settings.iter().map(|argument| (*argument).to_owned()));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = cli::run(arguments.map(Into::into), &mut Io::plain(&mut out, &mut err));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what is printed is UTF-8");
        let (out, err) = (text(out), text(err));
        assert!(code <= 2, "{verb:?} ended with {code}: {err}");
        let obeyed = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        assert_eq!(out.chars().chain(err.chars()).find(obeyed), None, "{verb:?}: {out}{err}");
        Done { code, out }
    }

    /// Every file below the directory, by name.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(at).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else if let (Ok(bytes), Ok(name)) = (fs::read(&path), path.strip_prefix(root)) {
                    found.insert(name.display().to_string(), bytes);
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(&self.0, &self.0, &mut found);
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two files of one input.
fn two(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mark = b"\n#---\n";
    let at = bytes.windows(mark.len()).position(|window| window == mark);
    at.map_or((bytes, bytes), |at| (&bytes[..=at], &bytes[at + mark.len()..]))
}

/// The same under both semantics, and never another answer the second time.
fn both(folder: &Folder, verb: &[&str]) {
    for semantics in ["documented", "controller"] {
        let verb = [verb, &["--semantics", semantics]].concat();
        let (first, again) = (folder.ome(&verb), folder.ome(&verb));
        assert_eq!((first.code, first.out), (again.code, again.out), "{verb:?} is deterministic");
    }
}

/// Two states are compared; a state and itself are equal.
pub fn diff(bytes: &[u8]) {
    let (old, new) = two(bytes);
    let folder = Folder::new(&[("old.yaml", old), ("new.yaml", new)]);
    for output in ["text", "json", "markdown"] {
        both(&folder, &["diff", "-f", "@new.yaml", "--base", "@old.yaml", "-o", output]);
    }
    let same = folder.ome(&["diff", "-f", "@new.yaml", "--base", "@new.yaml"]);
    assert_ne!(same.code, 2, "a state differs from itself: {}", same.out);
}

/// A ModelServing becomes another one.
pub fn rollout(bytes: &[u8]) {
    let (old, new) = two(bytes);
    let folder = Folder::new(&[("old.yaml", old), ("new.yaml", new)]);
    for output in ["table", "json"] {
        let verb = ["rollout", "m", "-f", "@new.yaml", "--from", "@old.yaml", "-o", output];
        both(&folder, &verb);
    }
}

/// Nodes become classes.
pub fn discover(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    both(&folder, &["discover", "-f", "@a.yaml"]);
}

/// Flavors become classes, classes flavors, and both are compared.
pub fn kueue(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    for verb in ["import", "export", "diff"] {
        both(&folder, &["kueue", verb, "-f", "@a.yaml"]);
    }
}

/// The configuration of a model becomes a model.
pub fn import(bytes: &[u8]) {
    let folder = Folder::new(&[("config.json", bytes)]);
    for output in ["yaml", "json"] {
        folder.ome(&["import", "@config.json", "--name", "m", "-o", output]);
    }
}

/// A payload is judged by every protocol.
pub fn payload(bytes: &[u8]) {
    let folder = Folder::new(&[("a.json", bytes)]);
    for protocol in ["v1", "v2", "openai"] {
        for kind in ["request", "response"] {
            let verb = ["payload", "check", "--protocol", protocol, "--kind", kind, "@a.json"];
            folder.ome(&verb[..]);
        }
    }
}

/// Objects are written for another operator or another release.
pub fn convert(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    for to in ["ome", "shipped", "oep"] {
        folder.ome(&["convert", "-f", "@a.yaml", "--to", to]);
    }
}

/// Every leaf of what is rendered has its reasons.
pub fn why(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    both(&folder, &["render", "-f", "@a.yaml", "--annotate"]);
    for object in ["Deployment/a-engine", "ModelServing/m", "Service/a"] {
        both(&folder, &["why", object, "spec", "-f", "@a.yaml"]);
    }
}

/// Where services answer.
pub fn endpoints(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    both(&folder, &["endpoints", "-f", "@a.yaml", "--payload"]);
}

/// Which model runs on which class.
pub fn matrix(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    both(&folder, &["matrix", "-f", "@a.yaml"]);
}

/// The bytes are settings.
pub fn settings(bytes: &[u8]) {
    let service = include_bytes!("../../testdata/quickstart/services.yaml");
    let folder = Folder::new(&[("ome.toml", bytes), ("a.yaml", service)]);
    for verb in ["validate", "plan"] {
        folder.ome(&[verb, "-f", "@a.yaml", "--config", "@ome.toml"]);
    }
}

/// What is mended once stays mended, and was not made worse.
pub fn fix(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    let before = folder.ome(&["validate", "-f", "@a.yaml"]);
    folder.ome(&["validate", "-f", "@a.yaml", "--fix"]);
    let mended = folder.files();
    let after = folder.ome(&["validate", "-f", "@a.yaml", "--fix"]);
    assert!(after.code <= before.code.max(1), "mended, it is worse: {}", after.out);
    folder.ome(&["validate", "-f", "@a.yaml", "--fix"]);
    assert!(mended.len() == 1 || mended == folder.files(), "other files are left alone");
}

/// A directory is written twice, the second time for another input. Beside it stands what must hold:
/// files of others are as they were, and where the input is in error nothing is gone.
pub fn directory(bytes: &[u8]) {
    let (old, new) = two(bytes);
    let foreign: &[(&str, &[u8])] =
        &[("out/foreign.yaml", b"a: 1\n"), ("out/x.tmp", b""), ("out/.hidden", b"h")];
    let inputs: &[(&str, &[u8])] = &[("old.yaml", old), ("new.yaml", new)];
    let folder = Folder::new(&[foreign, inputs].concat());
    folder.ome(&["render", "-f", "@old.yaml", "-o", "dir=@out"]);
    let first = folder.files();
    let done = folder.ome(&["render", "-f", "@new.yaml", "-o", "dir=@out"]);
    let second = folder.files();
    for (name, bytes) in foreign.iter().chain(inputs) {
        assert_eq!(second.get(*name).map(Vec::as_slice), Some(*bytes), "{name} is of another");
    }
    if done.code != 0 {
        let gone: Vec<_> = first.keys().filter(|name| !second.contains_key(*name)).collect();
        assert!(gone.is_empty(), "{gone:?} are gone, and the input was in error");
    }
    let left = |name: &&String| name.contains(".ome-") && !name.contains(".ome-manifest");
    assert_eq!(second.keys().find(left), None, "nothing temporary is left");
    if done.code == 0 {
        let check = folder.ome(&["render", "-f", "@new.yaml", "--check", "@out"]);
        assert_eq!(check.code, 0, "what was written is current: {}", check.out);
    }
}

/// What the controller of a ModelServing creates.
pub fn expand(bytes: &[u8]) {
    let folder = Folder::new(&[("a.yaml", bytes)]);
    for output in ["yaml", "json"] {
        both(&folder, &["render", "--expand", "-f", "@a.yaml", "-o", output]);
    }
}

/// The bytes are a value of the ConfigMap that KServe reads.
pub fn config_map(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = serde_json::Value::String(text.into_owned()).to_string();
    let keys = ["ingress", "deploy", "agent", "storageInitializer", "logger", "inferenceService"];
    let data: Vec<String> = keys.iter().map(|key| format!("{key}: {value}")).collect();
    let map = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: inferenceservice-config, namespace: kserve}}\ndata: {{{}}}\n",
        data.join(", ")
    );
    let service = include_bytes!("../../testdata/mixed/kserve.yaml");
    let folder = Folder::new(&[("map.yaml", map.as_bytes()), ("a.yaml", service)]);
    for verb in ["plan", "render"] {
        both(&folder, &[verb, "-f", "@map.yaml", "-f", "@a.yaml"]);
    }
}

/// An object under a definition that has these schema fields.
fn defined(schema: &serde_json::Value, value: &str) {
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "kind": "Thing", "plural": "things" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": {
                        "type": "object",
                        "properties": { "value": schema },
                    } },
                } },
            }],
        },
    });
    let object = serde_json::json!({
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": { "name": "a", "namespace": "b" },
        "spec": { "value": value },
    });
    let (definition, object) = (definition.to_string(), object.to_string());
    let files = [("crd.json", definition.as_bytes()), ("a.json", object.as_bytes())];
    Folder::new(&files).ome(&["validate", "-f", "@crd.json", "-f", "@a.json"]);
}

/// The bytes are a rule of a definition, and the value that it judges.
pub fn cel(bytes: &[u8]) {
    let (rule, value) = two(bytes);
    let (rule, value) = (String::from_utf8_lossy(rule), String::from_utf8_lossy(value));
    let rules = serde_json::json!([{ "rule": rule.trim_end(), "message": "no" }]);
    defined(&serde_json::json!({ "type": "string", "x-kubernetes-validations": rules }), &value);
}

/// The bytes are a pattern of a definition, and the value that it is held against.
pub fn pattern(bytes: &[u8]) {
    let (pattern, value) = two(bytes);
    let (pattern, value) = (String::from_utf8_lossy(pattern), String::from_utf8_lossy(value));
    defined(&serde_json::json!({ "type": "string", "pattern": pattern.trim_end() }), &value);
}

/// A list or a mapping that is twice as long takes no four times as long. The first bytes say which.
pub fn cost(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    for verb in ["validate", "plan", "render"] {
        let time = |count: usize| {
            let long = grammar::stretched(&text, usize::from(*which), count)?;
            let folder = Folder::new(&[("a.yaml", long.as_bytes())]);
            let begin = Instant::now();
            folder.ome(&[verb, "-f", "@a.yaml", "--no-builtin"]);
            Some(begin.elapsed())
        };
        let [Some(half), Some(whole)] = [time(LONG), time(2 * LONG)] else { return };
        // Below a quarter of a second it is no matter, and not measured well.
        let slow = whole > Duration::from_millis(250) && whole > half * 3;
        assert!(!slow, "{verb}: {LONG} take {half:?}, twice as many {whole:?}");
    }
}

/// The bytes are the parts of a repository of git that a revision is read from.
pub fn revision(bytes: &[u8]) {
    let (first, second) = two(bytes);
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let head = b"ref: refs/heads/main\n";
    let folder = Folder::new(&[
        ("repo/.git/HEAD", head),
        ("repo/.git/config", b"[core]\n\trepositoryformatversion = 0\n"),
        ("repo/.git/refs/heads/main", hash.as_bytes()),
        ("repo/.git/packed-refs", second),
        ("repo/.git/objects/01/23456789abcdef0123456789abcdef01234567", first),
        ("repo/a.yaml", b"{}"),
    ]);
    for revision in ["HEAD", "main", "HEAD~1"] {
        folder.ome(&["diff", "-f", "@repo/a.yaml", "--base", revision]);
    }
}
