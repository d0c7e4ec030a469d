//! Tests of the whole module on a file system of their own, and on the recorded cases of the
//! reader.
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::find::{Found, find};
use super::*;
use crate::diag::{Code, Diagnostic, Severity};
use crate::yaml::{Limits, Node};
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let path = std::env::temp_dir().join(format!(
            "ome-load-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Names of the found files, without the folder.
    fn names(&self, found: &Found) -> Vec<String> {
        found
            .inputs
            .iter()
            .map(|input| input.name.replace(&format!("{}/", self.0.display()), ""))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const MODEL: &str = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata:\n  name: m\n";

fn read(paths: &[PathBuf]) -> Loaded {
    load(&Request { paths, ..Request::default() }, &mut std::io::empty(), &Limits::default())
}

fn findings(loaded: &Loaded) -> Vec<(Severity, &'static str)> {
    loaded.diagnostics.iter().map(|finding| (finding.severity, finding.code.as_str())).collect()
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded
        .documents
        .iter()
        .map(|document| {
            document.node.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or("")
        })
        .collect()
}

#[test]
fn directory_walks_honor_ignore_files_and_are_sorted() {
    let folder = Folder::new(&[
        ("b.yaml", ""),
        ("a/c.yml", ""),
        ("a/d.json", ""),
        ("a/e.txt", ""),
        (".git/f.yaml", ""),
        (".github/g.yaml", ""),
        ("node_modules/h.yaml", ""),
        ("a/target/i.yaml", ""),
        (".gitignore", "/out\n*.tmp.yaml\n"),
        ("out/j.yaml", ""),
        ("k.tmp.yaml", ""),
        (".omeignore", "l.yaml\n"),
        ("l.yaml", ""),
        ("UPPER.YAML", ""),
    ]);
    let found = find(std::slice::from_ref(&folder.0), &[], false, usize::MAX);
    assert_eq!(folder.names(&found), ["UPPER.YAML", "a/c.yml", "a/d.json", "b.yaml"]);
    assert!(found.inputs.iter().all(|input| !input.named && input.reported));
    // A named file is read even where an ignore file excludes it.
    let found = find(
        &[folder.path("out"), folder.path("l.yaml"), folder.path("a/e.txt")],
        &[],
        false,
        usize::MAX,
    );
    assert_eq!(folder.names(&found), ["a/e.txt", "l.yaml", "out/j.yaml"]);
}

#[test]
fn a_file_is_read_once_however_often_it_is_named() {
    let folder = Folder::new(&[("a.yaml", MODEL), ("b/c.yaml", MODEL)]);
    let found = find(
        &[folder.0.clone(), folder.path("a.yaml"), folder.path("b/../a.yaml"), folder.path("b")],
        &[folder.path("b")],
        false,
        usize::MAX,
    );
    assert_eq!(folder.names(&found), ["a.yaml", "b/c.yaml"]);
    assert_eq!(
        found.inputs.iter().map(|input| (input.named, input.reported)).collect::<Vec<_>>(),
        [(true, true), (false, true)]
    );
    let found = find(&["-".into(), "-".into()], &[], false, usize::MAX);
    assert_eq!(
        found.inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>(),
        ["<stdin>"]
    );
}

#[cfg(unix)]
#[test]
fn links_fifos_and_devices_are_findings_and_never_waited_for() {
    let folder =
        Folder::new(&[("a.yaml", MODEL), ("d/e.yaml", &MODEL.replace("name: m", "name: other"))]);
    std::os::unix::fs::symlink(folder.path("d"), folder.path("d/loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("d/dangling.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("d/dangling.txt")).unwrap();
    std::os::unix::fs::symlink(folder.path("a.yaml"), folder.path("d/same.yaml")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(folder.path("d/fifo.yaml")).status();
    let has_fifo = fifo.is_ok_and(|status| status.success());
    let loaded = read(std::slice::from_ref(&folder.0));
    let why: Vec<&str> = loaded
        .diagnostics
        .iter()
        .filter_map(|finding| finding.message.split_once(": "))
        .map(|(_, why)| why)
        .collect();
    let mut expected =
        vec!["it is a link that leads nowhere", "it is a FIFO", "its links lead in a circle"];
    if !has_fifo {
        expected.remove(1);
    }
    assert_eq!(why, expected);
    assert_eq!(
        findings(&loaded),
        vec![(Severity::Info, "file-not-read"); expected.len()],
        "{:?}",
        loaded.diagnostics
    );
    assert_eq!(names(&loaded), ["m", "other"]);

    let named = [
        folder.path("d/dangling.yaml"),
        "/dev/zero".into(),
        folder.path("none"),
        folder.path("a.yaml"),
    ];
    let loaded = read(&named);
    assert_eq!(findings(&loaded), [(Severity::Error, "file-not-read"); 3]);
    // When a path does not exist, nothing is read.
    assert!(names(&loaded).is_empty());
    let loaded = read(&["/dev/null".into(), folder.path("a.yaml")]);
    assert!(findings(&loaded).is_empty(), "it is an empty file: {:?}", loaded.diagnostics);
    assert_eq!(names(&loaded), ["m"]);
    let loaded = read(&["/dev/zero".into(), folder.path("a.yaml")]);
    assert_eq!(findings(&loaded), [(Severity::Error, "file-not-read")]);
    assert_eq!(names(&loaded), ["m"]);
}

#[test]
fn nothing_to_read_is_an_error() {
    let folder = Folder::new(&[("a.txt", MODEL)]);
    assert_eq!(findings(&read(std::slice::from_ref(&folder.0))), [(Severity::Error, "no-files")]);
}

#[test]
fn a_named_file_with_only_foreign_documents_is_an_error() {
    let widget = "apiVersion: example.com/v1\nkind: Widget\n";
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n";
    let info = Severity::Info;
    let error = Severity::Error;
    for (text, named, found) in [
        ("replicas: 1\n", vec![(error, "not-kubernetes")], vec![(info, "not-kubernetes")]),
        ("- 1\n---\ntext\n", vec![(error, "not-kubernetes")], vec![(info, "not-kubernetes")]),
        (widget, vec![(error, "other-kind")], vec![(info, "other-kind")]),
        // Its pods take room beside those of services.
        (deployment, vec![], vec![]),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
            vec![(error, "not-kubernetes")],
            vec![(info, "not-kubernetes")],
        ),
        (
            &format!("a: 1\n---\n{MODEL}---\n{widget}"),
            vec![(info, "not-kubernetes"), (info, "other-kind")],
            vec![(info, "not-kubernetes"), (info, "other-kind")],
        ),
        ("# nothing\n---\n~\n", vec![], vec![]),
        (
            "a: [\n---\nb: 1\n",
            vec![(error, "yaml-syntax"), (info, "not-kubernetes")],
            // Beneath a directory a text without the fields of an object is no manifest.
            vec![(info, "yaml-syntax")],
        ),
        // Data of a program is deep, or large, and no manifest.
        (&"[".repeat(5000), vec![(error, "depth-limit")], vec![(info, "not-kubernetes")]),
        (
            "apiVersion: ome.io/v1beta1\nkind: BaseModels\n",
            vec![(error, "unknown-kind")],
            vec![(error, "unknown-kind")],
        ),
        (
            "apiVersion: ome.io/v1\nkind: BaseModel\n",
            vec![(error, "unknown-kind")],
            vec![(error, "unknown-kind")],
        ),
        (
            "kind: BaseModel\nmetadata: {name: a}\n",
            vec![(error, "required-field")],
            vec![(error, "required-field")],
        ),
        (
            "apiVersion: ome.io/v1beta1\nmetadata: {name: a}\n",
            vec![(error, "required-field")],
            vec![(error, "required-field")],
        ),
    ] {
        let folder = Folder::new(&[("a.yaml", text)]);
        assert_eq!(findings(&read(&[folder.path("a.yaml")])), named, "named {text:?}");
        assert_eq!(findings(&read(std::slice::from_ref(&folder.0))), found, "found {text:?}");
    }
}

#[test]
fn lists_are_taken_apart() {
    let folder = Folder::new(&[(
        "a.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: b}\n- 7\n---\n\
         apiVersion: ome.io/v1beta1\nkind: BaseModelList\nitems:\n- metadata: {name: c}\n",
    )]);
    let loaded = read(&[folder.path("a.yaml")]);
    let kinds: Vec<(&str, &str)> = loaded
        .documents
        .iter()
        .map(|document| (document.api_version.as_str(), document.kind.as_str()))
        .collect();
    assert_eq!(kinds, [("v1", "Node"), ("v1", "Pod"), ("ome.io/v1beta1", "BaseModel")]);
    assert_eq!(names(&loaded), ["a", "b", "c"]);
    assert_eq!(loaded.sources.locate(loaded.documents[1].span).line, 10);
    assert_eq!(findings(&loaded), [(Severity::Info, "not-kubernetes")]);
}

#[test]
fn helm_templates_are_one_finding_a_chart_or_directory() {
    let folder = Folder::new(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: c\n"),
        ("chart/templates/a.yaml", "{{- if .Values.a }}\nb: 1\n{{- end }}\n"),
        (
            "chart/templates/b.yaml",
            "apiVersion: v1\nkind: Node\nmetadata:\n  name: \"{{ .Release.Name }}\"\n",
        ),
        ("other/c.yaml", "a: {{ include \"x\" . }}\n"),
        (
            "own/d.yaml",
            "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata:\n  name: {{.Name}}\n",
        ),
    ]);
    let loaded = read(std::slice::from_ref(&folder.0));
    let shown: Vec<(&str, String)> = loaded
        .diagnostics
        .iter()
        .map(|finding| {
            let file = finding.span().map_or_else(
                || finding.file.clone().unwrap(),
                |span| loaded.sources.get(span.source).name.to_string(),
            );
            (finding.code.as_str(), file.replace(&format!("{}/", folder.0.display()), ""))
        })
        .collect();
    let expected =
        [("helm-template", "chart"), ("helm-template", "other"), ("yaml-syntax", "own/d.yaml")];
    assert_eq!(shown, expected.map(|(code, file)| (code, file.to_owned())));
    assert!(loaded.documents.is_empty());
    // A template in an argument is an error with a next step.
    let folder = Folder::new(&[("c.yaml", "{{- if .Values.a }}\nb: [\n{{- end }}\n")]);
    let loaded = read(&[folder.path("c.yaml")]);
    assert_eq!(findings(&loaded), [(Severity::Error, "yaml-syntax")]);
    assert!(loaded.diagnostics[0].help.as_ref().unwrap().contains("helm template"));
}

#[test]
fn keys_of_templates_that_are_actions_are_not_compared() {
    let both = "{{- range .A }}\n  {{ $k }}: {{ $v }}\n  {{- end }}\n  {{- range .B }}\n  {{ $k }}: {{ $v }}\n  {{- end }}\n  {{- if .C }}\n  c: 1\n  {{- else }}\n  c: 2\n  {{- end }}\n";
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: {{{{ .Namespace }}}}\ndata:\n  {both}"
    );
    let folder = Folder::new(&[("manifests/a.yaml", &text)]);
    let loaded = read(std::slice::from_ref(&folder.0));
    let twice = |finding: &&Diagnostic| finding.code == Code::DuplicateKey;
    assert_eq!(loaded.diagnostics.iter().find(twice).map(|found| &found.message), None);
    assert_eq!(loaded.documents.len(), 1);
}

#[test]
fn manifests_within_config_maps_have_places_in_the_file() {
    let inner = "# é\n---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata:\n  name: a\n  labels: {b: on}\n\n---\nkind: Other\n";
    let indented: String = inner
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("      {line}\n") })
        .collect();
    let quoted =
        Json::from("apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata:\n  name: q\n");
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  x.yaml: |\n{indented}  y.yaml: {quoted}\n  z: \"a: [\"\n"
    );
    let folder = Folder::new(&[("a.yaml", &text)]);
    let loaded = read(&[folder.path("a.yaml")]);
    assert_eq!(names(&loaded), ["c", "a", "q"]);
    assert_eq!(findings(&loaded), [(Severity::Warning, "ambiguous-scalar")]);
    let finding = &loaded.diagnostics[0];
    assert_eq!(loaded.sources.text(finding.fix[0].span), "on");
    let name = loaded.documents[1].node.at(&["metadata", "name"]).unwrap().origin.span().unwrap();
    let place = loaded.sources.locate(name);
    assert_eq!((loaded.sources.text(name), place.line, place.column), ("a", 12, 15));
    // Lines of a quoted text have no place of their own: findings point to its beginning.
    assert_eq!(loaded.sources.locate(loaded.documents[2].span).line, 17);
}

#[test]
fn bytes_become_text_or_findings() {
    let folder = Folder::new(&[]);
    let wide: Vec<u8> =
        "\u{feff}".encode_utf16().chain(MODEL.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    folder.write("a.yaml", &wide);
    folder.write("b.yaml", b"apiVersion: v1\nkind: caf\xe9\n");
    folder.write("c.yaml", format!("\u{feff}{}", MODEL.replace('\n', "\r\n")).as_bytes());
    folder.write("d.yaml", &vec![b'#'; 3000]);
    // Encrypted: no manifest.
    folder.write("e.yaml", b"\0GITCRYPT\0\xe9\xff");
    let loaded = load(
        &Request { paths: std::slice::from_ref(&folder.0), ..Request::default() },
        &mut std::io::empty(),
        &Limits { file_size: 2048, ..Limits::default() },
    );
    assert_eq!(
        findings(&loaded),
        [
            (Severity::Error, "not-utf8"),
            (Severity::Error, "file-size-limit"),
            (Severity::Info, "not-utf8")
        ]
    );
    assert_eq!(loaded.sources.locate(loaded.diagnostics[0].span().unwrap()).line, 2);
    assert!(loaded.diagnostics[1].message.contains("2 KiB (`--max-file-size`)"));
    assert_eq!(names(&loaded), ["m", "m"]);
}

#[test]
fn a_list_is_as_long_as_a_file_and_its_items_as_documents() {
    let long = "x".repeat(400);
    let pod = |name: &str| {
        format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: {name}\n    managedFields: [{{manager: m}}]\n  status:\n    phase: Running\n    podIP: 10.0.0.1\n"
        )
    };
    let yaml = format!(
        "apiVersion: v1\nitems:\n{}{}- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: long, annotations: {{a: {long}}}}}\nkind: List\n",
        pod("a"),
        pod("b")
    );
    let json = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"c"}},{"metadata":{"name":"d","annotations":{"a":"LONG"}}}]}"#;
    let folder = Folder::new(&[("a.yaml", &yaml), ("b.json", &json.replace("LONG", &long))]);
    let request = Request { paths: std::slice::from_ref(&folder.0), ..Request::default() };
    let limits = Limits { document_size: 300, ..Limits::default() };
    let loaded = load(&request, &mut std::io::empty(), &limits);
    // The items that are longer than a document are named, and hide no other.
    assert_eq!(findings(&loaded), [(Severity::Error, "file-size-limit"); 2]);
    assert_eq!(loaded.sources.locate(loaded.diagnostics[0].span().unwrap()).line, 19);
    assert_eq!(names(&loaded), ["a", "b", "c"]);
    assert!(
        loaded
            .documents
            .iter()
            .all(|document| document.kind == "Pod" && document.api_version == "v1")
    );
    let pod = &loaded.documents[0].node;
    assert_eq!(pod.at(&["status", "phase"]).and_then(Node::as_str), Some("Running"));
    assert!(pod.at(&["metadata", "managedFields"]).is_none());
    // Shorter lists are read as they are, and mean the same.
    let whole = load(&request, &mut std::io::empty(), &Limits::default());
    assert_eq!(names(&whole), ["a", "b", "long", "c", "d"]);
}

#[test]
fn more_files_than_permitted_are_an_error_and_nothing_is_read() {
    let folder = Folder::new(&[("a.yaml", MODEL), ("b.yaml", MODEL), ("c.yaml", MODEL)]);
    let request = Request { paths: std::slice::from_ref(&folder.0), ..Request::default() };
    let read =
        |files| load(&request, &mut std::io::empty(), &Limits { files, ..Limits::default() });
    assert_eq!(names(&read(3)).len(), 3);
    let refused = read(2);
    assert_eq!(findings(&refused), [(Severity::Error, "file-not-read")]);
    assert!(refused.documents.is_empty());
    assert!(refused.diagnostics[0].message.starts_with("more than 2 files are below"));
    let help = refused.diagnostics[0].help.as_deref();
    assert!(help.is_some_and(|help| help.contains("--max-files")), "{help:?}");
}

#[test]
fn context_and_builtin_texts_are_read_and_not_reported_on() {
    let folder = Folder::new(&[
        ("a.yaml", MODEL),
        (
            "context/b.yaml",
            &format!("{}---\na: [\n---\nb: 1\n", MODEL.replace("name: m", "name: on")),
        ),
    ]);
    let request = Request {
        paths: &[folder.path("a.yaml")],
        context: &[folder.path("context")],
        builtin: &[Builtin {
            name: "runtimes/x.yaml",
            text: "apiVersion: v1\nkind: Node\n",
            is_wanted: |document| document.kind == "Node",
        }],
        ..Request::default()
    };
    let loaded = load(&request, &mut std::io::empty(), &Limits::default());
    assert_eq!(findings(&loaded), []);
    let flags: Vec<(bool, bool)> =
        loaded.documents.iter().map(|document| (document.reported, document.builtin)).collect();
    assert_eq!(flags, [(true, false), (false, false), (true, true)]);
    // No document of the input wants it.
    let less = Request { skips_builtin: true, ..request };
    let less = load(&less, &mut std::io::empty(), &Limits::default());
    assert!(less.documents.iter().all(|document| !document.builtin));
    let node = Folder::new(&[("a.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n")]);
    let (nodes, more) = ([node.path("a.yaml")], Request { skips_builtin: true, ..request });
    let more = load(&Request { paths: &nodes, ..more }, &mut std::io::empty(), &Limits::default());
    assert_eq!(more.documents.iter().filter(|document| document.builtin).count(), 1);
    // Limits hold for the input and not for built-in objects.
    let tight = load(&request, &mut std::io::empty(), &Limits { nodes: 1, ..Limits::default() });
    assert_eq!(tight.documents.iter().filter(|document| document.builtin).count(), 1);
    assert_eq!(findings(&tight).len(), 1);
}

#[test]
fn standard_input_is_read_beside_files() {
    let folder = Folder::new(&[("a.yaml", MODEL)]);
    let request = Request { paths: &["-".into(), folder.path("a.yaml")], ..Request::default() };
    let loaded =
        load(&request, &mut MODEL.replace("name: m", "name: s").as_bytes(), &Limits::default());
    assert_eq!(names(&loaded), ["m", "s"]);
    assert_eq!(&*loaded.sources.get(loaded.documents[1].source).name, "<stdin>");
}

#[test]
fn threads_do_not_change_what_is_read() {
    let files: Vec<(String, String)> = (0..40)
        .map(|number| {
            (
                format!("{number:02}.yaml"),
                format!("{MODEL}---\na: [\n---\nb: on\n---\n{MODEL}").repeat(number + 1),
            )
        })
        .collect();
    let folder = Folder::new(
        &files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>(),
    );
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let loaded = pool.install(|| read(std::slice::from_ref(&folder.0)));
        format!("{:?}\n{:?}", loaded.documents, loaded.diagnostics)
    };
    assert_eq!(with(1), with(7));
}

/// What else is in a named file is no mistake where something of it is read.
#[test]
fn a_named_file_with_a_workload_that_is_placed_holds_something() {
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n";
    let set = "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\n";
    let folder = Folder::new(&[("alone.yaml", widget), ("beside.yaml", &format!("{widget}{set}"))]);
    for (file, severity) in [("alone.yaml", Severity::Error), ("beside.yaml", Severity::Info)] {
        let loaded = read(&[folder.0.join(file)]);
        assert_eq!(findings(&loaded), [(severity, "other-kind")], "{file}");
    }
}

/// The recorded cases of the reader, as far as this module answers them.
#[test]
fn reader_conformance_cases_pass() {
    let suite =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/conformance/tools/reader"));
    let cases = fs::read_dir(suite).expect("the cases");
    let ours = [
        Code::YamlSyntax,
        Code::NotUtf8,
        Code::DuplicateKey,
        Code::UndefinedAlias,
        Code::AliasCycle,
        Code::ExpansionLimit,
        Code::FileSizeLimit,
        Code::DepthLimit,
        Code::NodeLimit,
        Code::AmbiguousScalar,
        Code::NotKubernetes,
        Code::OtherKind,
        Code::UnknownKind,
        Code::FileNotRead,
    ]
    .map(Code::as_str);
    let mut checked = 0;
    for case in cases {
        let folder = case.unwrap().path();
        let case: Json =
            serde_json::from_str(&fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
        for run in case["runs"].as_array().unwrap() {
            let args: Vec<String> = run["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|arg| arg.as_str().unwrap().replace("{case}", folder.to_str().unwrap()))
                .collect();
            let mut paths = Vec::new();
            let mut limits = Limits::default();
            for pair in args.windows(2) {
                match pair[0].as_str() {
                    "-f" => paths.push(PathBuf::from(&pair[1])),
                    "--max-file-size" => limits.file_size = 2048,
                    "--max-nodes" => limits.nodes = pair[1].parse().unwrap(),
                    "--max-depth" => limits.depth = pair[1].parse().unwrap(),
                    _ => {}
                }
            }
            let stdin = run["stdin"].as_str().unwrap_or("");
            let loaded = load(
                &Request { paths: &paths, ..Request::default() },
                &mut stdin.as_bytes(),
                &limits,
            );
            let found = |code: &str| {
                loaded
                    .diagnostics
                    .iter()
                    .filter(|finding| finding.code.as_str() == code)
                    .collect::<Vec<_>>()
            };
            for expect in run["expect"].as_array().unwrap() {
                let code = expect["finding"]
                    .as_str()
                    .or(expect["contains"]["code"].as_str())
                    .unwrap_or("");
                if !ours.contains(&code) {
                    continue;
                }
                let found = found(code);
                checked += 1;
                if expect["absent"] == true {
                    assert!(found.is_empty(), "{}: {found:?}", folder.display());
                } else if let Some(count) = expect["count"].as_u64() {
                    assert_eq!(found.len() as u64, count, "{}: {code}", folder.display());
                } else {
                    let wanted = &expect["contains"];
                    let fits = found.iter().any(|finding| {
                        let line = finding.span().map(|span| loaded.sources.locate(span).line);
                        (wanted["line"].is_null() || wanted["line"].as_u64() == line.map(u64::from))
                            && (wanted["severity"].is_null()
                                || wanted["severity"] == finding.severity.as_str())
                    });
                    assert!(fits, "{}: {expect} in {found:?}", folder.display());
                }
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn manifests_that_no_kustomization_lists_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let object = |name: &str| {
        format!("apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {{name: {name}}}\n")
    };
    write("base/kustomization.yaml", "resources: [a.yaml, more/b.yaml]\n");
    write("base/a.yaml", &object("a"));
    write("base/more/b.yaml", &object("b"));
    write("base/draft.yaml", &object("draft"));
    write("base/widget.yaml", "apiVersion: x.example/v1\nkind: Widget\nmetadata: {name: w}\n");
    write(
        "over/kustomization.yaml",
        "resources: [../base]\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n",
    );
    // A file of Flux has the same name and lists nothing.
    write(
        "flux/kustomization.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./over}\n",
    );
    write("flux/c.yaml", &object("c"));
    write("templated/kustomization.yaml", "resources: ['{{ name }}.yaml']\n");
    write("templated/d.yaml", &object("d"));
    let paths = [root.path().to_owned()];
    let request = Request { paths: &paths, ..Request::default() };
    let loaded = load(&request, &mut std::io::empty(), &Limits::default());
    let name = |document: &crate::load::Document| {
        document.node.at(&["metadata", "name"]).and_then(|name| name.as_str()).unwrap().to_owned()
    };
    let mut names: Vec<String> = loaded
        .documents
        .iter()
        .filter(|document| document.kind == "ClusterBaseModel")
        .map(name)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c", "d"]);
    let left: Vec<&str> = loaded
        .diagnostics
        .iter()
        .filter(|finding| finding.code == Code::NotDeployed)
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(left, ["`draft.yaml` is in no kustomization: it is not deployed"]);
    let document = loaded.documents.iter().find(|document| name(document) == "a").unwrap();
    let kustomized = loaded.sources.get(document.source).kustomized.clone().unwrap();
    assert!(kustomized.tree.ends_with("over") && kustomized.selects);
}
