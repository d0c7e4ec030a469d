//! `ome import --into`: what becomes of files.

use super::process::{Call, Done, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CONFIG: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/conformance/tools/import/llama/config.json");

/// A file of its own for one test, gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("ome-import-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory for temporary files is there");
        std::fs::write(directory.join("model.yaml"), text)
            .expect("the directory can be written to");
        Self(directory)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.0.join("model.yaml")).expect("the file is there")
    }

    fn import(&self, args: &[&str]) -> Done {
        let args = ["import", CONFIG, "--into", "model.yaml"]
            .iter()
            .chain(args)
            .map(ToString::to_string)
            .collect();
        run(&Call {
            args,
            stdin: "",
            directory: Path::new(&self.0),
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        })
        .expect("the call ends within a minute")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

const MODELS: &str = "\
# ours
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: first}
spec:
  vendor: meta # who
  # where it is
  storage: {storageUri: hf://a/b}
---
apiVersion: ome.io/v1beta1
kind: BaseModel
metadata: {name: second, namespace: team}
spec:
  modelParameterSize: 70B
  storage: {storageUri: hf://c/d}
";

#[test]
fn a_model_is_patched_in_place_once() {
    let scratch = Scratch::new("once", MODELS);
    let done = scratch.import(&["--name", "first"]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert!(
        done.stdout
            .starts_with("model.yaml: ClusterBaseModel/first\n  modelFormat.name: safetensors"),
        "{}",
        done.stdout
    );
    let added = "  modelFormat:\n    name: safetensors\n    version: 1.0.0\n  modelFramework:\n    name: transformers\n    version: 4.43.0\n  modelType: llama\n  modelArchitecture: LlamaForCausalLM\n  modelParameterSize: 8.03B\n  maxTokens: 131072\n  modelCapabilities:\n  - TEXT_TO_TEXT\n";
    let expected = MODELS.replacen("  # where it is\n", &format!("{added}  # where it is\n"), 1);
    assert_eq!(scratch.text(), expected);
    let done = scratch.import(&["--name", "first"]);
    assert_eq!(
        (done.exit, done.stdout.as_str()),
        (Some(0), "model.yaml: ClusterBaseModel/first has all values already\n")
    );
    assert_eq!(scratch.text(), expected);
}

#[test]
fn conflicting_values_are_kept_and_reported_without_overwrite() {
    let scratch = Scratch::new("differs", MODELS);
    let done = scratch.import(&["--name", "second"]);
    assert_eq!(done.exit, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("import-conflict") && done.stderr.contains("`70B`"),
        "{}",
        done.stderr
    );
    assert!(
        scratch.text().contains("modelParameterSize: 70B\n")
            && scratch.text().contains("modelArchitecture: LlamaForCausalLM\n")
    );
    let done = scratch.import(&["--name", "second", "--overwrite"]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert!(scratch.text().contains("modelParameterSize: \"8.03B\"\n"), "{}", scratch.text());
}

#[test]
fn nothing_is_written_when_the_target_model_is_ambiguous() {
    for (text, args, talk) in [
        (MODELS, [].as_slice(), "choose one with `--name`: first, second"),
        (MODELS, &["--name", "third"], "holds not exactly one model `third`"),
        ("kind: Pod\n", &[], "holds no BaseModel or ClusterBaseModel"),
        ("a: [\n", &[], "holds no BaseModel or ClusterBaseModel"),
    ] {
        let scratch = Scratch::new("unclear", text);
        let done = scratch.import(args);
        assert_eq!(done.exit, Some(1), "{}", done.stdout);
        assert!(done.stderr.contains(talk), "{}", done.stderr);
        assert_eq!(scratch.text(), text);
    }
}

#[test]
fn importing_a_directory_reads_its_config_json() {
    let scratch = Scratch::new("directory", "");
    let import = |path: &Path| {
        run(&Call {
            args: ["import".to_owned(), path.display().to_string()].into(),
            stdin: "",
            directory: &scratch.0,
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        })
        .expect("the call ends within a minute")
    };
    let config = Path::new(CONFIG);
    let (file, directory) = (import(config), import(config.parent().expect("it is in one")));
    assert!(file.exit == Some(0) && file.stdout == directory.stdout, "{}", directory.stderr);
    let empty = import(&scratch.0);
    assert!(
        empty.exit == Some(1) && empty.stderr.contains("it is a directory"),
        "{}",
        empty.stderr
    );
}
