//! Kustomize trees that are built: where their objects come from.

use super::diff;
use super::process::{Call, Done, Folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const RUNTIME: &str = "\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: small
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors, version: \"1.0.0\"}
    modelFramework: {name: transformers, version: \"4.43.0\"}
    modelArchitecture: LlamaForCausalLM
    autoSelect: true
  protocolVersions: [openAI]
  engineConfig:
    runner:
      name: ome-container
      image: registry.example/engine:v1
      imagePulPolicy: Always
";

const SERVICE: &str = "\
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata:
  name: llama
spec:
  modelFormat: {name: safetensors, version: \"1.0.0\"}
  modelFramework: {name: transformers, version: \"4.43.0\"}
  modelArchitecture: LlamaForCausalLM
  modelParameterSize: 8B
  storage: {storageUri: hf://example/llama}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: chat
spec:
  model:
    name: llama
  runtime:
    name: small
  engine:
    minReplicas: 1
    maxReplicas: 4
";

/// A base, and an overlay that renames its service, patches a field and adds one.
fn tree(metadata: &str) -> Folder {
    let overlay = format!(
        "resources: [../../base]\n{metadata}patches:\n- target: {{kind: InferenceService}}\n  options: {{allowNameChange: true}}\n  patch: |\n    - {{op: replace, path: /metadata/name, value: prod-chat}}\n    - {{op: replace, path: /spec/engine/minReplicas, value: 2}}\n    - {{op: add, path: /spec/engine/runner, value: {{name: ome-container, env: [{{name: A, value: b}}]}}}}\n"
    );
    Folder::new(&[
        ("base/kustomization.yaml", "resources: [runtime.yaml, service.yaml]\n"),
        ("base/runtime.yaml", RUNTIME),
        ("base/service.yaml", SERVICE),
        ("overlays/prod/kustomization.yaml", &overlay),
    ])
}

fn ome(folder: &Folder, args: &str) -> Done {
    let mut env = BTreeMap::new();
    if let Some(path) = std::env::var("PATH").ok().filter(|path| !path.is_empty()) {
        env.insert("PATH".to_owned(), path);
    }
    let args = args.split(' ').map(ToOwned::to_owned).collect();
    let time = Duration::from_mins(1);
    let call = Call { args, stdin: "", directory: folder.path(), env: &env, time };
    run(&call).expect("it ends within a minute")
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// Where the first finding of a code is.
fn place(found: &Value, code: &str) -> String {
    let all = found["findings"].as_array().expect("findings");
    let own = all.iter().find(|own| own["code"] == code).unwrap_or_else(|| panic!("{found:#}"));
    format!("{}:{}", own["file"].as_str().unwrap_or_default(), own["line"])
}

#[test]
fn findings_and_provenance_name_the_file_of_the_base() {
    let annotated = "buildMetadata: [originAnnotations]\n";
    let folder = tree(annotated);
    if !is_installed(&folder) {
        return;
    }
    let done = ome(&folder, "validate --no-builtin -k overlays/prod -o json");
    // The misspelled field is where it was written.
    assert_eq!(place(&json(&done), "unknown-field"), "base/runtime.yaml:16", "{done:?}");
    // So are values that the overlay does not change; changed ones are in the built text.
    let page = ome(&folder, "explain prod-chat --merge --no-builtin -k overlays/prod").stdout;
    for place in
        ["base/service.yaml:4", "base/runtime.yaml:4", "service  kustomize build overlays/prod:"]
    {
        assert!(page.contains(place), "{place}: {page}");
    }
    let plan = json(&ome(&folder, "plan --no-builtin -k overlays/prod -o json"));
    assert_eq!(plan["services"][0]["name"], "prod-chat");
    assert_eq!(plan["services"][0]["components"][0]["minReplicas"], 2, "{plan:#}");
    // Where the build writes no origins, the place is in what was built.
    let folder = tree("");
    let done = ome(&folder, "validate --no-builtin -k overlays/prod -o json");
    let found = place(&json(&done), "unknown-field");
    assert!(found.starts_with("kustomize build overlays/prod:"), "{found}");
    // A file that is named and not there, or is outside, changes nothing of the answer.
    let folder = tree(annotated);
    let built = RUNTIME.replace(
        "metadata:\n",
        "metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: ../gone.yaml\n",
    );
    std::fs::write(folder.at("built.yaml"), built).expect("a file");
    std::fs::write(folder.at("build.sh"), "cat built.yaml\n").expect("a file");
    let env = [("OME_KUSTOMIZE_COMMAND", "sh build.sh")];
    let done = folder.ome_with("validate --no-builtin -k base -o json", &env);
    let found = place(&json(&done), "unknown-field");
    assert_eq!(found, "kustomize build base:19", "{done:?}");
}

/// A change of a base is compared with the tree as it was at a revision: both are built.
#[test]
fn a_kustomization_at_a_git_revision_is_built_like_the_work_tree() {
    let folder = tree("buildMetadata: [originAnnotations]\n");
    let good = RUNTIME.replace("      imagePulPolicy: Always\n", "");
    folder.write("base/runtime.yaml", &good);
    let git = |args: &str| diff::git(folder.path(), &args.split(' ').collect::<Vec<_>>());
    git("init -q -b main");
    git("add .");
    git("commit -qm one");
    let state =
        || (folder.names(".git"), std::fs::read(folder.at(".git/index")).expect("an index"));
    let before = state();
    folder.write("base/runtime.yaml", good.replace("engine:v1", "engine:v2"));
    let diff = "diff --no-builtin --base main -k overlays/prod -o json";
    if !is_installed(&folder) {
        return;
    }
    let done = ome(&folder, diff);
    let found = json(&done);
    assert_eq!(done.exit, Some(2), "{done:?}");
    assert_eq!(found["services"][0]["name"], "prod-chat", "{found:#}");
    let cause = &found["groups"][0]["cause"][0];
    assert_eq!(cause["path"], "spec.engineConfig.runner.image", "{found:#}");
    assert_eq!((&cause["file"], &cause["line"]), (&"base/runtime.yaml".into(), &15.into()));
    // The repository is as it was, and so is what `-f` reads of it.
    assert_eq!(state(), before);
    git("checkout -q -- .");
    assert_eq!(ome(&folder, diff).exit, Some(0));
    // A tree elsewhere is built too.
    folder.write("old/runtime.yaml", good.replace("engine:v1", "engine:v0"));
    folder.write("old/service.yaml", SERVICE);
    folder.write(
        "old/kustomization.yaml",
        "resources: [runtime.yaml, service.yaml]\nnamePrefix: prod-\n",
    );
    folder.write("old/patch.yaml", "- op: test\n");
    let done = ome(&folder, "diff --no-builtin --base old -k overlays/prod -o json");
    assert_eq!((done.exit, &json(&done)["summary"]["changed"]), (Some(2), &1.into()), "{done:?}");
    // Objects that the revision does not have are new; a failed build is reported, with the names
    // in it.
    git("mv overlays later");
    let done = ome(&folder, "diff --no-builtin --base main -k later/prod -o json");
    assert_eq!(json(&done)["summary"]["added"], 1, "{done:?}");
    git("reset -q --hard");
    folder.write("base/kustomization.yaml", "resources: [gone.yaml]\n");
    git("commit -qam broken");
    git("checkout -q HEAD~1");
    let said = |args: &str| {
        let done = ome(&folder, args);
        assert_eq!(done.exit, Some(1), "{done:?}");
        done.stderr
    };
    let broken = said("diff --no-builtin --base main -k base");
    assert!(
        broken.contains("`kustomize build main:base` failed")
            || broken.contains("`kubectl kustomize main:base` failed"),
        "{broken}"
    );
    assert!(broken.contains("gone.yaml") && !broken.contains("/tmp/"), "{broken}");
    assert_eq!(broken, said("diff --no-builtin --base main -k base"));
    assert!(said("diff --no-builtin --base other -k base").contains("no such revision"));
    git("checkout -q main");
    assert!(said("diff --no-builtin --base HEAD~1 -k base").contains("gone.yaml"));
}

/// Two overlays of one base, and one of another host.
fn overlays() -> Folder {
    let overlay = |least: u8| {
        format!(
            "resources: [../../base]\nnamespace: team\npatches:\n- target: {{kind: InferenceService}}\n  patch: |-\n    - {{op: replace, path: /spec/engine/minReplicas, value: {least}}}\n"
        )
    };
    let runtime = RUNTIME.replace("      imagePulPolicy: Always\n", "");
    let (model, service) = SERVICE.split_once("---\n").expect("two documents");
    Folder::new(&[
        ("base/kustomization.yaml", "resources: [runtime.yaml, model.yaml, service.yaml]\n"),
        ("base/runtime.yaml", &runtime),
        ("base/model.yaml", model),
        ("base/service.yaml", service),
        ("overlays/dev/kustomization.yaml", &overlay(1)),
        ("overlays/prod/kustomization.yaml", &overlay(3)),
        (
            "overlays/remote/kustomization.yaml",
            "resources: [../../base, 'https://kustomize.invalid/x.yaml']\n",
        ),
    ])
}

/// `kustomize` on PATH, with overlays built.
fn ome_auto(folder: &Folder, args: &str) -> Done {
    let path = std::env::var("PATH").unwrap_or_default();
    folder.ome_with(args, &[("PATH", &path), ("OME_KUSTOMIZE", "auto")])
}

/// Whether a program builds trees here. Where `OME_TEST_KUSTOMIZE` is `required`, as in `.ci/run`
/// after kustomize was installed, it must: a build that is not checked is a failure there.
#[expect(clippy::print_stderr, reason = "who reads the output learns what was not checked")]
fn is_installed(folder: &Folder) -> bool {
    let done = ome(folder, "validate --no-builtin -k base");
    if !done.stderr.contains("is not on PATH") {
        return true;
    }
    let required = std::env::var("OME_TEST_KUSTOMIZE").is_ok_and(|mode| mode == "required");
    assert!(!required, "kustomize is required and not on PATH: {done:?}");
    eprintln!("skipped: neither kustomize nor kubectl is installed");
    false
}

#[test]
fn overlays_are_built_where_the_user_says_so_and_each_is_a_variant() {
    let folder = overlays();
    if !is_installed(&folder) {
        return;
    }
    // Nothing is built unasked.
    let plan = json(&ome(&folder, "plan --no-builtin -f . -o json"));
    assert_eq!(plan["services"].as_array().map(Vec::len), Some(1), "{plan:#}");
    let done = ome_auto(&folder, "plan --no-builtin -f . -o json");
    let plan = json(&done);
    let rows: Vec<(&str, i64)> = plan["services"]
        .as_array()
        .expect("services")
        .iter()
        .map(|own| {
            let least = own["components"][0]["minReplicas"].as_i64().expect("a number");
            (own["directory"].as_str().expect("a directory"), least)
        })
        .collect();
    assert_eq!((done.exit, rows), (Some(0), vec![("overlays/dev/", 1), ("overlays/prod/", 3)]));
    // Files of the base are in the builds, and nowhere else.
    let input = plan["input"].as_array().expect("rows");
    let count = |kind: &str| input.iter().find(|row| row["kind"] == kind).map(|row| &row["count"]);
    assert_eq!(count("InferenceService"), Some(&2.into()), "{input:#?}");
    let built = input.iter().find(|row| row["handling"] == "built").expect("a row");
    assert_eq!((&built["kind"], &built["count"]), (&"Kustomization".into(), &2.into()));
    assert_eq!(built["examples"][1]["name"], "overlays/prod");
    // The page says what was built, and what was not and why.
    let page = ome_auto(&folder, "plan --no-builtin -f .").stdout;
    for text in [
        "2 overlays built with kustomize (auto)",
        "1 overlay was not built: ome plan -k overlays/remote (it lists the remote resource `https://kustomize.invalid/x.yaml`)",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // One answer of every command, and one answer again.
    for args in [
        "explain chat --in overlays/prod",
        "render -f .",
        "rollout chat --in overlays/dev",
        "why HorizontalPodAutoscaler/chat-engine spec.minReplicas --in overlays/dev",
    ] {
        let (one, two) = (ome_auto(&folder, args), ome_auto(&folder, args));
        assert_eq!(one.stdout, two.stdout);
        assert!(!one.stdout.is_empty() && one.exit != Some(1), "{args}: {one:?}");
    }
    // What is written to files, validated or expected is the same on every machine.
    for args in ["validate --no-builtin -f . -o json", "render --no-builtin -f . -o dir=out"] {
        let auto = ome_auto(&folder, args);
        let never = ome(&folder, args);
        assert_eq!((auto.exit, auto.stdout), (never.exit, never.stdout), "{args}");
    }
}

#[test]
fn a_failed_overlay_is_a_finding_and_the_others_are_planned() {
    let folder = overlays();
    if !is_installed(&folder) {
        return;
    }
    folder.write("overlays/dev/kustomization.yaml", "resources: [../../base, gone.yaml]\n");
    // Nothing depends on this one.
    folder.write("other/kustomization.yaml", "resources: [missing.yaml]\n");
    let done = ome_auto(&folder, "plan --no-builtin -f . -o json");
    let plan = json(&done);
    assert_eq!((done.exit, &plan["services"][0]["directory"]), (Some(1), &Value::Null), "{plan:#}");
    assert_eq!(plan["services"][0]["components"][0]["minReplicas"], 3, "{plan:#}");
    let failed: Vec<(&str, &str)> = plan["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|own| own["code"] == "kustomize-failed")
        .map(|own| {
            let message = own["message"].as_str().expect("a message");
            assert!(!message.contains(&folder.path().display().to_string()), "{message}");
            assert!(message.contains("gone.yaml") || message.contains("missing.yaml"), "{message}");
            (own["file"].as_str().expect("a file"), own["severity"].as_str().expect("a level"))
        })
        .collect();
    assert_eq!(failed, [("other", "info"), ("overlays/dev", "error")]);
}

#[test]
fn overlays_of_a_revision_are_compared_as_they_were() {
    let folder = overlays();
    if !is_installed(&folder) {
        return;
    }
    let git = |args: &str| diff::git(folder.path(), &args.split(' ').collect::<Vec<_>>());
    git("init -q -b main");
    git("add .");
    git("commit -qm one");
    let none = ome_auto(&folder, "diff --no-builtin --base main -f . -o json");
    assert_eq!((none.exit, &json(&none)["summary"]["changed"]), (Some(0), &0.into()), "{none:?}");
    let overlay = std::fs::read_to_string(folder.at("overlays/prod/kustomization.yaml"));
    let overlay = overlay.expect("a file").replace("value: 3", "value: 4");
    folder.write("overlays/prod/kustomization.yaml", overlay);
    let done = ome_auto(&folder, "diff --no-builtin --base main -f . --in overlays/prod -o json");
    let found = json(&done);
    assert_eq!((done.exit, &found["summary"]["changed"]), (Some(2), &1.into()), "{found:#}");
}
