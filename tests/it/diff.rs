//! `ome diff`: bases of git, comments, pages, hidden values and errors.

use super::process::{Call, Done, in_directory, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Calls git in a directory, without the settings of the machine.
pub(crate) fn git(directory: &Path, args: &[&str]) {
    let mut git = in_directory("git", directory);
    git.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    let settings = ["user.name=a", "user.email=a@example.com", "init.defaultBranch=main"];
    let done = git.args(settings.iter().flat_map(|own| ["-c", own])).args(args).output();
    let done = done.expect("git is there, as the repository came from it");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A directory of its own for one test, gone when the test ends.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("ome-diff-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&directory));
        std::fs::create_dir_all(&directory).expect("a directory for temporary files is there");
        Self(directory)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("the directory can be written to");
        std::fs::write(path, text).expect("the directory can be written to");
        self
    }

    pub(crate) fn git(&self, args: &[&str]) -> &Self {
        git(&self.0, args);
        self
    }

    pub(crate) fn ome_with(
        &self,
        args: &[&str],
        stdin: &str,
        env: &BTreeMap<String, String>,
    ) -> Done {
        let args = args.iter().map(ToString::to_string).collect();
        run(&Call { args, stdin, directory: &self.0, env, time: Duration::from_mins(1) })
            .expect("the call ends within a minute")
    }

    pub(crate) fn ome(&self, args: &[&str]) -> Done {
        self.ome_with(args, "", &BTreeMap::new())
    }

    /// `ome diff … -o json`.
    pub(crate) fn diff(&self, args: &[&str]) -> (Option<i32>, Value) {
        let done =
            self.ome(&[&["diff", "--no-builtin", "--no-config", "-o", "json"], args].concat());
        (
            done.exit,
            serde_json::from_str(&done.stdout)
                .unwrap_or_else(|error| panic!("{error}: {}{}", done.stdout, done.stderr)),
        )
    }
}

const CATALOG: &str = "\
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama-7b}
spec:
  modelFormat: {name: safetensors, version: '1.0.0'}
  modelArchitecture: LlamaForCausalLM
  modelParameterSize: 7B
  storage: {storageUri: hf://example/llama-7b}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: engine}
spec:
  supportedModelFormats:
    - modelFormat: {name: safetensors, version: '1.0.0'}
      modelArchitecture: LlamaForCausalLM
      autoSelect: true
  protocolVersions: [openAI]
  modelSizeRange: {min: 5B, max: 9B}
  engineConfig:
    runner:
      name: ome-container
      image: example/engine:1
      args: [--tp=1, --port=8080, '--served-model-name={{.Name}}']
      env:
        - {name: LEVEL, value: info}
        - {name: HF_TOKEN, value: abc}
";

fn service(namespace: &str, name: &str) -> String {
    format!(
        "---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec:\n  engine: {{minReplicas: 1}}\n  model: {{name: llama-7b}}\n"
    )
}

fn names(group: &Value) -> Vec<&str> {
    group["services"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn files_that_are_excluded_are_left_out_of_a_revision_as_well() {
    let scratch = Scratch::new("exclude");
    scratch
        .write("deploy/catalog.yaml", CATALOG)
        .write("deploy/a.yaml", &service("team", "a"))
        .write("deploy/old/b.yaml", &service("team", "b"));
    scratch.git(&["init", "-q"]).git(&["add", "."]).git(&["commit", "-qm", "one"]);
    let cases: [(&str, &[&str]); 4] =
        [("old", &[]), ("/deploy/old", &[]), ("/old", &["-f", "deploy"]), ("b.yaml", &[])];
    for (glob, paths) in cases {
        let (exit, _) = scratch.diff(&[&["--base", "HEAD", "--exclude", glob], paths].concat());
        assert_eq!(exit, Some(0), "{glob}: nothing was edited");
    }
    std::fs::remove_file(scratch.0.join("deploy/old/b.yaml")).expect("it was written");
    assert_eq!(scratch.diff(&["--base", "HEAD"]).0, Some(2), "without the flag it is compared");
}

#[test]
fn a_git_revision_is_read_like_the_directory_at_that_commit() {
    let scratch = Scratch::new("revision");
    scratch
        .write("deploy/catalog.yaml", CATALOG)
        .write("deploy/a.yaml", &service("team", "a"))
        .write("deploy/notes.txt", "no manifest")
        .write("deploy/.hidden/x.yaml", &service("team", "hidden"))
        .write("deploy/out/x.yaml", &service("team", "ignored"))
        .write(".gitignore", "out/\n")
        .write("elsewhere/b.yaml", &service("team", "b"));
    scratch.git(&["init", "-q"]).git(&["add", "-f", "."]).git(&["commit", "-qm", "one"]);
    assert_eq!(scratch.diff(&["--base", "HEAD", "-f", "deploy"]).0, Some(0), "nothing was edited");
    assert_eq!(
        scratch.diff(&["--base", "HEAD", "-f", "deploy/catalog.yaml", "-f", "deploy/a.yaml"]).0,
        Some(0),
        "files that are named"
    );

    scratch.write("deploy/catalog.yaml", &CATALOG.replace("engine:1", "engine:2"));
    let (exit, found) = scratch.diff(&["--base", "main", "-f", "deploy"]);
    assert_eq!((exit, names(&found["groups"][0])), (Some(2), vec!["team/a"]));
    let cause = &found["groups"][0]["cause"][0];
    assert_eq!(
        (cause["file"].as_str(), cause["line"].as_u64()),
        (Some("deploy/catalog.yaml"), Some(23))
    );
    assert_eq!(cause["before"]["file"].as_str(), Some("main:deploy/catalog.yaml"));

    // From within, without `-f`, and of a directory that the base does not have.
    let call = Scratch(scratch.0.join("deploy"));
    assert_eq!(call.diff(&["--base", "HEAD"]).0, Some(2));
    std::mem::forget(call);
    scratch.write("new/c.yaml", &service("team", "c"));
    let (_, found) = scratch.diff(&["--base", "HEAD", "-f", "deploy/catalog.yaml", "-f", "new"]);
    assert_eq!(found["summary"]["added"], 1);
    // A file that is gone was there.
    std::fs::remove_file(scratch.0.join("deploy/a.yaml")).expect("the file is there");
    let (_, found) = scratch.diff(&["--base", "HEAD", "-f", "deploy"]);
    assert_eq!(found["summary"]["removed"], 1);
    // A path goes before a branch of its name.
    std::fs::create_dir(scratch.0.join("main")).expect("the directory can be written to");
    scratch.write("main/a.yaml", &service("team", "z"));
    let (_, found) = scratch.diff(&["--base", "main", "-f", "deploy"]);
    assert_eq!(names(&found["groups"][0]), ["team/z"]);
    let (_, found) = scratch.diff(&["--base", "heads/main", "-f", "deploy"]);
    assert_eq!(names(&found["groups"][0]), ["team/a"]);
}

#[test]
fn the_default_base_is_the_merge_base_of_the_branch() {
    let scratch = Scratch::new("merge-base");
    scratch.write("a.yaml", CATALOG).write("b.yaml", &service("team", "b"));
    scratch.git(&["init", "-q", "-b", "main"]).git(&["add", "."]).git(&["commit", "-qm", "one"]);
    scratch.git(&["checkout", "-qb", "change"]).write("c.yaml", &service("team", "c"));
    scratch.git(&["add", "."]).git(&["commit", "-qm", "two"]);
    // Later commits of main are not changes of this branch.
    scratch.git(&["checkout", "-q", "main"]).write("d.yaml", &service("team", "d"));
    scratch.git(&["add", "."]).git(&["commit", "-qm", "three"]).git(&["checkout", "-q", "change"]);
    let (exit, found) = scratch.diff(&["-f", "."]);
    assert_eq!((exit, names(&found["groups"][0])), (Some(2), vec!["team/c"]));
    assert_eq!(found["groups"].as_array().map(Vec::len), Some(1));
    scratch.git(&["branch", "-qm", "main", "trunk"]);
    let (exit, found) = scratch.diff(&["-f", "."]);
    let message = found["findings"][0]["message"].as_str().unwrap_or_default();
    assert!(exit == Some(1) && message.contains("there is no branch"), "{message}");
}

#[test]
fn a_file_whose_content_is_lost_is_named() {
    let scratch = Scratch::new("lost");
    scratch.write("a.yaml", &service("team", "a")).write("b.yaml", &service("team", "b"));
    scratch.git(&["init", "-q"]).git(&["add", "."]).git(&["commit", "-qm", "one"]);
    let listed = in_directory("git", &scratch.0).args(["rev-parse", "HEAD:b.yaml"]).output();
    let id = String::from_utf8(listed.expect("git is there").stdout).expect("ASCII");
    let (folder, rest) = id.trim().split_at(2);
    let blob = scratch.0.join(".git/objects").join(folder).join(rest);
    std::fs::remove_file(blob).expect("the blob was there");
    let done = in_directory(super::process::binary(), &scratch.0)
        .args(["diff", "--base", "HEAD", "-f", "."])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    let wanted = format!("`HEAD:b.yaml` was not read: blob {} is missing", id.trim());
    assert!(said.contains(&wanted) && said.contains("git fetch --refetch"), "{said}");
    assert_eq!(done.status.code(), Some(1), "{said}");
}

#[test]
fn a_base_that_is_not_there_is_a_finding() {
    let scratch = Scratch::new("nowhere");
    scratch.write("a.yaml", &service("team", "a"));
    let code = |found: &Value| found["findings"][0]["code"].as_str().map(str::to_owned);
    let (exit, found) = scratch.diff(&["--base", "no-such-branch", "-f", "a.yaml"]);
    assert_eq!((exit, code(&found).as_deref()), (Some(1), Some("base-not-read")));
    scratch.git(&["init", "-q"]);
    for base in ["no-such-branch", "--base=-q", "HEAD"] {
        let base = if base.starts_with("--") { vec![base] } else { vec!["--base", base] };
        let (exit, found) = scratch.diff(&[&base[..], &["-f", "a.yaml"]].concat());
        assert_eq!((exit, code(&found).as_deref()), (Some(1), Some("base-not-read")), "{base:?}");
    }
    let nowhere = BTreeMap::from([("PATH".to_owned(), scratch.0.display().to_string())]);
    let done =
        scratch.ome_with(&["diff", "--base", "main", "-f", "a.yaml", "--no-config"], "", &nowhere);
    assert_eq!(done.exit, Some(1));
    assert!(done.stderr.contains("`git`, which reads revisions, was not found"), "{}", done.stderr);
    let done = scratch.ome(&["diff", "--base", "-", "-f", "-", "--no-config"]);
    assert!(
        done.exit == Some(1)
            && done.stderr.contains("standard input can be the base or the new state"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_base_may_come_from_standard_input() {
    let scratch = Scratch::new("stdin");
    let all = format!("{CATALOG}{}", service("team", "a"));
    scratch.write("all.yaml", &all);
    let base = ["diff", "--base", "-", "-f", "all.yaml", "--no-builtin", "--no-config"];
    assert_eq!(scratch.ome_with(&base, &all, &BTreeMap::new()).exit, Some(0));
    assert_eq!(
        scratch.ome_with(&base, &all.replace("info", "debug"), &BTreeMap::new()).exit,
        Some(2)
    );
}

#[test]
fn grouping_ignores_service_names_but_not_catalog_texts() {
    let scratch = Scratch::new("groups");
    // A service is called as a part of the image is.
    let services = ["team/chat", "team/example", "other/chat", "other/v1"].map(|name| {
        let (namespace, name) = name.split_once('/').expect("a qualified name");
        service(namespace, name)
    });
    let all = format!("{CATALOG}{}", services.concat());
    scratch.write("old.yaml", &all).write(
        "new.yaml",
        &all.replace("engine:1", "engine:v1").replace("--served-model-name=", "--name="),
    );
    let (_, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
    let groups = found["groups"].as_array().expect("a list");
    assert_eq!(
        groups.iter().map(names).collect::<Vec<_>>(),
        [["other/chat", "other/v1", "team/chat", "team/example"]],
        "{found:#}"
    );
    assert_eq!(
        groups[0]["cause"].as_array().map(Vec::len),
        Some(2),
        "one field, one cause, however many services"
    );
    assert_eq!(found["summary"]["podsRestarted"], 4);
    // The same edit in the services' own files is one change with a cause in each.
    scratch.write("new.yaml", &all.replace("minReplicas: 1", "minReplicas: 2"));
    let (_, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
    assert_eq!(found["groups"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["groups"][0]["cause"].as_array().map(Vec::len), Some(4));
    assert_eq!(
        (&found["summary"]["restarts"], &found["groups"][0]["restart"]),
        (&0.into(), &false.into())
    );
    // One of them alone.
    let (_, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml", "other/chat"]);
    assert_eq!(
        (names(&found["groups"][0]), &found["summary"]["services"]),
        (vec!["other/chat"], &1.into())
    );
    let done =
        scratch.ome(&["diff", "--base", "old.yaml", "-f", "new.yaml", "other/chta", "--no-config"]);
    assert!(done.exit == Some(1) && done.stderr.contains("did you mean `chat`"), "{}", done.stderr);
}

#[test]
fn only_edits_that_change_the_output_are_causes() {
    let scratch = Scratch::new("cause");
    let all = format!("{CATALOG}{}", service("team", "a"));
    scratch.write("old.yaml", &all);
    for (edits, causes, objects) in [
        // Of two edits the one that reaches the output.
        (
            &[("engine:1", "engine:2"), ("max: 9B", "max: 10B")][..],
            &["spec.engineConfig.runner.image"][..],
            "Deployment/team/a-engine",
        ),
        (
            &[("--tp=1", "--tp=2")],
            &["spec.engineConfig.runner.args[0]"],
            "Deployment/team/a-engine",
        ),
        (
            &[("value: info", "value: debug")],
            &["spec.engineConfig.runner.env[name=LEVEL].value"],
            "Deployment/team/a-engine",
        ),
        // A template's value is the model's name of the service.
        (
            &[("--served-model-name={{.Name}}", "--served-model-name=x")],
            &["spec.engineConfig.runner.args[2]"],
            "Deployment/team/a-engine",
        ),
        (
            &[("minReplicas: 1", "minReplicas: 3")],
            &["spec.engine.minReplicas"],
            "HorizontalPodAutoscaler/team/a-engine",
        ),
    ] {
        let new = edits.iter().fold(all.clone(), |text, (from, to)| text.replace(from, to));
        scratch.write("new.yaml", &new);
        let (exit, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
        let group = &found["groups"][0];
        let paths: Vec<&str> = group["cause"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|cause| cause["path"].as_str())
            .collect();
        assert_eq!((exit, paths.as_slice()), (Some(2), causes), "{edits:?}: {found:#}");
        let touched: Vec<&str> = group["objects"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|object| object["object"].as_str())
            .collect();
        assert!(touched.contains(&objects), "{edits:?}: {touched:?}");
    }
    // A value that does not reach the output changes nothing.
    scratch.write("new.yaml", &all.replace("max: 9B", "max: 10B"));
    assert_eq!(scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]).0, Some(0));
}

/// A change is tried alone: what went along with it, and changes nothing by itself, is no cause.
#[test]
fn each_cause_changes_the_output_when_applied_alone() {
    let scratch = Scratch::new("alone");
    let large = CATALOG
        .split("---\n")
        .nth(1)
        .expect("a runtime")
        .replace("{name: engine}", "{name: large}")
        .replace("{min: 5B, max: 9B}", "{min: 20B, max: 40B}")
        .replace("engine:1", "large:1");
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inferenceservice-config, namespace: ome}\ndata: {_example: a}\n";
    let all = format!("{CATALOG}---\n{large}---\n{settings}{}", service("team", "a"));
    scratch.write("old.yaml", &all);
    for (edits, causes) in [
        // The size alone chooses the other runtime, whose image alone runs nowhere.
        (
            &[("ParameterSize: 7B", "ParameterSize: 30B"), ("large:1", "large:2")][..],
            &[("ClusterBaseModel/llama-7b", "spec.modelParameterSize")][..],
        ),
        // Either of the two makes another Deployment.
        (
            &[("engine:1", "engine:2"), ("--tp=1", "--tp=2"), ("_example: a", "_example: b")],
            &[
                ("ClusterServingRuntime/engine", "spec.engineConfig.runner.args[0]"),
                ("ClusterServingRuntime/engine", "spec.engineConfig.runner.image"),
            ],
        ),
        // Without its range the service has no runtime any more; that another one would take it
        // changes nothing alone.
        (
            &[("{min: 5B, max: 9B}", "{min: 8B, max: 9B}"), ("{min: 20B", "{min: 6B")],
            &[("ClusterServingRuntime/engine", "spec.modelSizeRange.min")],
        ),
    ] {
        let new = edits.iter().fold(all.clone(), |text, (from, to)| text.replace(from, to));
        scratch.write("new.yaml", &new);
        let (_, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
        let found: Vec<(&str, &str)> = found["groups"][0]["cause"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|cause| Some((cause["object"].as_str()?, cause["path"].as_str()?)))
            .collect();
        assert_eq!(found, causes, "{edits:?}");
    }
}

/// Two runtimes and two classes, one of each for a model of 8.01B.
const CHOICES: &str = "apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama}
spec: {modelFormat: {name: safetensors}, modelArchitecture: LlamaForCausalLM, modelParameterSize: 8.01B, storage: {storageUri: hf://acme/llama, path: /m}}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: small}
spec:
  supportedModelFormats: [{modelFormat: {name: safetensors}, modelArchitecture: LlamaForCausalLM, autoSelect: true, priority: 2}]
  modelSizeRange: {min: 7B, max: 8.01B}
  acceleratorRequirements: {acceleratorClasses: [h100, a10]}
  engineConfig: {runner: {name: ome-container, image: a}}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: large}
spec:
  supportedModelFormats: [{modelFormat: {name: safetensors}, modelArchitecture: LlamaForCausalLM, autoSelect: true, priority: 1}]
  modelSizeRange: {min: 8B, max: 80B}
  engineConfig: {runner: {name: ome-container, image: b}}
---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: h100}
spec: {discovery: {nodeSelector: {gpu: h100}}, capabilities: {memoryGB: '80'}, resources: [{name: nvidia.com/gpu, quantity: '1'}]}
---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: a10}
spec: {discovery: {nodeSelector: {gpu: a10}}, capabilities: {memoryGB: '24'}, resources: [{name: nvidia.com/gpu, quantity: '1'}]}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: a}
spec: {model: {name: llama}, engine: {minReplicas: 1}}
";

#[test]
fn a_cause_quotes_the_rule_whose_outcome_changed() {
    let scratch = Scratch::new("turned");
    scratch.write("old.yaml", CHOICES);
    let said = |edits: &[(&str, &str)], args: &[&str]| {
        let new = edits.iter().fold(CHOICES.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        scratch.write("new.yaml", &new);
        let usual = ["diff", "--no-config", "--no-builtin", "--base", "old.yaml", "-f", "new.yaml"];
        scratch.ome(&[&usual[..], args].concat()).stdout
    };
    let turned = |edits: &[(&str, &str)]| -> Vec<(String, String, String)> {
        let found: Value = serde_json::from_str(&said(edits, &["-o", "json"])).expect("JSON");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let causes = found["groups"][0]["cause"].as_array().cloned().unwrap_or_default();
        causes
            .iter()
            .map(|cause| {
                let turned = &cause["turned"];
                (text(&turned["candidate"]), text(&turned["code"]), text(&turned["detail"]))
            })
            .collect()
    };
    let size = [("modelParameterSize: 8.01B", "modelParameterSize: 8.03B")];
    for (edits, candidate, code, detail) in [
        // The runtime that is lost, after.
        (&size[..], "small", "size-range", "8.03B is outside 7B..8.01B"),
        (&[("max: 8.01B", "max: 7.5B")], "small", "size-range", "8.01B is outside 7B..7.5B"),
        (
            &[("min: 7B, max: 8.01B}", "min: 7B, max: 8.01B}\n  disabled: true")],
            "small",
            "disabled",
            "the runtime is disabled",
        ),
        // Nothing is rejected: another one goes before it.
        (
            &[("priority: 1", "priority: 3")],
            "small",
            "outranked",
            "outranked by large: priority 2 < 3",
        ),
        // The class that is lost.
        (&[("a10]", "a10], minMemory: 30")], "a10", "min-memory", "memoryGB 24 < 30Gi"),
        (
            &[("memoryGB: '24'", "memoryGB: '8'")],
            "a10",
            "gpus",
            "behind another class, decided by fewest GPUs",
        ),
        // No decision turns.
        (&[("image: a", "image: c")], "-", "-", "-"),
    ] {
        let found = turned(edits);
        let [(name, reason, sentence)] = found.as_slice() else { panic!("{edits:?}: {found:?}") };
        assert_eq!((name.as_str(), reason.as_str()), (candidate, code), "{edits:?}: {sentence}");
        assert_eq!(sentence, detail, "{edits:?}");
    }
    // As in `explain` of the new state, and in every format.
    let sentence = "8.03B is outside 7B..8.01B";
    for shape in ["table", "markdown", "html"] {
        assert!(said(&size, &["-o", shape]).contains(&format!("small: {sentence}")), "{shape}");
    }
    let explained = ["explain", "chat", "--no-config", "--no-builtin", "-f", "new.yaml"];
    assert!(scratch.ome(&explained).stdout.contains(sentence));
}

#[test]
fn a_refused_service_hides_no_other() {
    let scratch = Scratch::new("refused");
    let all = format!("{CATALOG}{}{}", service("team", "a"), service("team", "b"));
    let broken = all.replace("engine:1", "engine:2").replace(
        "namespace: team}\nspec:\n  engine: {minReplicas: 1}\n  model: {name: llama-7b}\n---",
        "namespace: team}\nspec:\n  engine: {minReplicas: 1}\n  model: {name: llama-70b}\n---",
    );
    scratch.write("old.yaml", &all).write("new.yaml", &broken);
    let (exit, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
    assert_eq!(
        (exit, &found["summary"]["refused"], &found["summary"]["changed"]),
        (Some(2), &1.into(), &2.into()),
        "{found:#}"
    );
    let group = |name: &str| {
        found["groups"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|group| names(group) == [name])
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(group("team/a")["error"]["to"]["code"], "model-not-found");
    assert_eq!(group("team/a")["objects"], serde_json::json!([]), "running pods are not touched");
    assert_eq!(group("team/a")["cause"][0]["path"], "spec.model.name");
    assert_eq!(group("team/b")["objects"][0]["restart"], true);
    // Refused before and after, by the same: nothing changes.
    let text = |arguments: &[&str]| {
        let fixed = ["diff", "--no-config", "--no-builtin", "-f", "new.yaml"];
        scratch.ome(&[&fixed[..], arguments].concat()).stdout
    };
    assert!(!text(&["--base", "old.yaml"]).contains("before and after"), "the group shows it");
    scratch.write("old.yaml", &broken);
    assert_eq!(scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]).0, Some(0));
    let sentence = "1 service is refused before and after; `ome plan -f new.yaml --no-config --no-builtin` prints why";
    assert!(text(&["--base", "old.yaml"]).contains(sentence));
    // A file that cannot be read can contain changes.
    scratch.write("new.yaml", &format!("{broken}---\na: [\n"));
    assert_eq!(scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]).0, Some(1));
}

#[test]
fn values_of_secrets_are_not_shown() {
    let scratch = Scratch::new("secrets");
    let all = format!("{CATALOG}{}", service("team", "a"));
    scratch.write("old.yaml", &all).write("new.yaml", &all.replace("value: abc", "value: xyz"));
    for format in ["table", "json", "markdown", "html"] {
        let done = scratch.ome(&[
            "diff",
            "--base",
            "old.yaml",
            "-f",
            "new.yaml",
            "--no-builtin",
            "--no-config",
            "-o",
            format,
        ]);
        assert_eq!(done.exit, Some(2), "{format}");
        assert!(
            done.stdout.contains("HF_TOKEN")
                && !done.stdout.contains("abc")
                && !done.stdout.contains("xyz"),
            "{format}: {}",
            done.stdout
        );
    }
    for format in ["table", "json", "markdown"] {
        let done = scratch.ome(&[
            "explain",
            "team/a",
            "--merge",
            "-f",
            "new.yaml",
            "--no-builtin",
            "--no-config",
            "-o",
            format,
        ]);
        assert!(
            done.stdout.contains("env.HF_TOKEN") && !done.stdout.contains("xyz"),
            "{format}: {}",
            done.stdout
        );
    }
}

#[test]
fn markdown_is_truncated_to_fit_a_comment_and_html_is_complete() {
    let scratch = Scratch::new("shapes");
    let services: String = (0..300).map(|index| service("team", &format!("s{index:03}"))).collect();
    let all = format!("{CATALOG}{services}");
    // Every service changes in a way of its own.
    let mut count = 0;
    let changed: String = all
        .split_inclusive('\n')
        .map(|line| {
            count += usize::from(line.contains("minReplicas: 1"));
            line.replace("minReplicas: 1", &format!("minReplicas: {}", count + 1))
        })
        .collect();
    scratch
        .write("old.yaml", &all)
        .write("new.yaml", &changed.replace("engine:1", "engine:`<b>|2"));
    let shape = |format: &str| {
        let done = scratch.ome(&[
            "diff",
            "--base",
            "old.yaml",
            "-f",
            "new.yaml",
            "--no-builtin",
            "--no-config",
            "-o",
            format,
        ]);
        assert_eq!(done.exit, Some(2), "{format}: {}", done.stderr);
        done.stdout
    };
    let comment = shape("markdown");
    assert!(comment.len() <= 60_000, "{} bytes", comment.len());
    assert!(
        comment.contains("more groups are left out")
            && comment.contains("Plan: 300 services to change"),
        "{comment}"
    );
    let page = shape("html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(
        !page.contains("<script src")
            && !page.contains("http")
            && !page.contains(" src=")
            && !page.contains("<b>|2"),
        "nothing from elsewhere"
    );
    assert!(page.contains("s299"), "a page leaves nothing out");
    let text = shape("table");
    assert!(
        text.ends_with("Plan: 300 services to change, 300 to restart, GPUs 0\n"),
        "{}",
        &text[text.len().saturating_sub(200)..]
    );
}

#[test]
fn services_of_kserve_and_model_servings_are_compared_too() {
    let scratch = Scratch::new("others");
    let all = "\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: default}
spec:
  predictor:
    containers:
      - name: kserve-container
        image: example/server:1
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: sample, namespace: default}
spec:
  schedulerName: volcano
  replicas: 2
  template:
    roles:
      - name: prefill
        replicas: 1
        workerReplicas: 1
        entryTemplate: {spec: {containers: [{name: e, image: 'example/server:1', resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
        workerTemplate: {spec: {containers: [{name: w, image: 'example/other:1'}]}}
";
    scratch.write("old.yaml", all);
    for (from, to, services, restarts, gpus) in [
        ("example/server:1", "example/server:2", vec!["default/iris", "default/sample"], 2, (2, 2)),
        ("replicas: 2", "replicas: 3", vec!["default/sample"], 0, (2, 3)),
        ("workerReplicas: 1", "workerReplicas: 2", vec!["default/sample"], 1, (2, 2)),
    ] {
        scratch.write("new.yaml", &all.replace(from, to));
        let (exit, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
        assert_eq!(exit, Some(2), "{to}");
        let mut changed: Vec<&str> =
            found["groups"].as_array().into_iter().flatten().flat_map(names).collect();
        changed.sort_unstable();
        let summary = &found["summary"];
        assert_eq!(
            (changed, &summary["restarts"]),
            (services, &restarts.into()),
            "{to}: {found:#}"
        );
        assert_eq!(
            summary["gpus"],
            serde_json::json!({ "before": gpus.0, "after": gpus.1 }),
            "{to}"
        );
    }
}

/// pkg/controller/v1beta1/inferenceservice/cleanup.go: a component that goes on as another workload
/// leaves the old one running.
#[test]
fn objects_that_the_controller_does_not_delete_are_marked() {
    let scratch = Scratch::new("behind");
    let all = format!("{CATALOG}{}", service("team", "a"));
    scratch
        .write("old.yaml", &all)
        .write("new.yaml", &all.replace("minReplicas: 1", "minReplicas: 0"));
    for (semantics, left) in [("documented", false), ("controller", true)] {
        let (exit, found) =
            scratch.diff(&["--base", "old.yaml", "-f", "new.yaml", "--semantics", semantics]);
        let objects = found["groups"][0]["objects"].as_array().cloned().unwrap_or_default();
        let gone: Vec<&Value> =
            objects.iter().filter(|object| object["action"] == "delete").collect();
        assert!(exit == Some(2) && !gone.is_empty(), "{semantics}: {found:#}");
        assert!(gone.iter().all(|object| object["leftBehind"] == left), "{semantics}: {gone:?}");
    }
}

#[test]
fn a_shallow_clone_reports_the_missing_history() {
    let scratch = Scratch::new("shallow");
    scratch.write("full/deploy/catalog.yaml", CATALOG);
    let full = Scratch(scratch.0.join("full"));
    full.git(&["init", "-q"]).git(&["add", "."]).git(&["commit", "-qm", "one"]);
    full.git(&["checkout", "-qb", "change"]).git(&["commit", "-qm", "two", "--allow-empty"]);
    std::mem::forget(full);
    let from = format!("file://{}", scratch.0.join("full").display());
    scratch.git(&["clone", "-q", "--depth", "1", "--branch", "change", &from, "clone"]);
    let clone = Scratch(scratch.0.join("clone"));
    let (exit, found) = clone.diff(&["--base", "origin/main", "-f", "deploy"]);
    std::mem::forget(clone);
    let finding = found["findings"][0].to_string();
    assert_eq!(exit, Some(1));
    for word in ["base-not-read", "shallow", "fetch-depth: 0"] {
        assert!(finding.contains(word), "{finding}");
    }
}

/// What is not read is in the cluster: a service that needs it changes there, and is no ✓ here.
#[test]
fn an_edit_of_a_service_that_could_not_be_rendered_is_a_change() {
    let scratch = Scratch::new("unread");
    let llm = "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: i, namespace: x}\nspec:\n  model: {uri: \"hf://a/b\"}\n  replicas: 2\n  template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
    let named = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: i, namespace: x}\nspec:\n  predictor:\n    minReplicas: 2\n    model: {modelFormat: {name: f}, runtime: elsewhere, storageUri: \"s3://a/b\"}\n";
    for (text, old, new, code) in [
        (llm, "replicas: 2", "replicas: 5", "presets-not-read"),
        (named, "minReplicas: 2", "minReplicas: 5", "runtime-not-found"),
    ] {
        scratch.write("old.yaml", text).write("new.yaml", &text.replace(old, new));
        let (exit, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
        assert_eq!((exit, &found["summary"]["changed"]), (Some(2), &1.into()), "{found:#}");
        let cause = &found["groups"][0]["cause"][0];
        assert_eq!((&cause["from"], &cause["to"]), (&2.into(), &5.into()), "{found:#}");
        let fixed = ["diff", "--no-config", "--no-builtin", "--base", "old.yaml", "-f", "new.yaml"];
        let page = scratch.ome(&fixed).stdout;
        assert!(page.contains(code) && !page.contains("before and after"), "{page}");
        // Without an edit nothing changes, and a cluster that lacks the object refuses the service.
        assert_eq!(scratch.diff(&["--base", "old.yaml", "-f", "old.yaml"]).0, Some(0));
        let live = |text: &str| text.replace("{name: i,", "{name: i, uid: 1-2,");
        scratch.write("old.yaml", &live(text)).write("new.yaml", &live(&text.replace(old, new)));
        let exit = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]).0;
        assert_eq!(exit, Some(if text == llm { 2 } else { 0 }));
    }
    // Devices are counted as a plan counts them, without what was not read.
    scratch.write("old.yaml", llm).write("new.yaml", &llm.replace("replicas: 2", "replicas: 5"));
    let (_, found) = scratch.diff(&["--base", "old.yaml", "-f", "new.yaml"]);
    assert_eq!(found["summary"]["gpus"], serde_json::json!({"before": 2, "after": 5}));
}

/// The pods of a service that is refused afterwards run on: that everything else fits is not
/// confirmed.
#[test]
fn nothing_is_confirmed_beside_a_service_that_is_refused_afterwards() {
    let scratch = Scratch::new("refused-room");
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
    let read = |name: &str| std::fs::read_to_string(quickstart.join(name)).expect("it is there");
    let all =
        ["models.yaml", "runtimes.yaml", "nodes.yaml", "services.yaml"].map(read).join("---\n");
    let broken = all.replacen("name: qwen2-5-7b-instruct", "name: gone", 2).replacen(
        "name: gone",
        "name: qwen2-5-7b-instruct",
        1,
    );
    scratch.write("old.yaml", &all).write("new.yaml", &broken);
    let done = scratch.ome(&["diff", "--base", "old.yaml", "-f", "new.yaml"]);
    assert!(done.stdout.contains("1 refused"), "{}", done.stdout);
    assert!(
        done.stdout.contains("! everything fits; before, 1 of 4 pods were pending; not counted: running pods of 1 service in error, which stay")
            && !done.stdout.contains('✓'),
        "{}",
        done.stdout
    );
}
