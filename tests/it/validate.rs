//! `ome validate` as people and hooks call it: context, repairs, allowed findings, baselines.

use crate::process::Folder;
use ome::internals::yaml::{Limits, Node, parse};
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn runtime(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata:\n  name: {name}\nspec:\n{spec}  supportedModelFormats:\n  - modelFormat: {{name: safetensors}}\n    modelArchitecture: A\n    autoSelect: true\n    priority: 1\n    modelFramework: {{name: transformers}}\n  engineConfig:\n    runner: {{name: ome-container, image: example/sglang:test}}\n"
    )
}

#[test]
fn pre_commit_hooks_check_the_given_files() {
    let text = std::fs::read_to_string(Path::new(ROOT).join(".pre-commit-hooks.yaml"))
        .expect("it is there");
    let range = 0..text.len();
    let hooks = parse(ome::internals::source::SourceId(0), &text, range, &Limits::default())
        .value
        .expect("it is YAML");
    let folder = Folder::new(&[
        ("a.yaml", &runtime("a", "")),
        ("old/b.yaml", &runtime("b", "")),
        ("old/c.yaml", "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: a: b\n"),
        ("ci.yaml", "on: push\njobs: {}\n"),
    ]);
    for hook in hooks.items() {
        for key in ["id", "name", "entry", "language", "types_or", "require_serial"] {
            assert!(hook.get(key).is_some(), "{key} of {:?}", hook.get("id"));
        }
        let entry = hook
            .get("entry")
            .and_then(Node::as_str)
            .expect("an entry")
            .strip_prefix("ome ")
            .expect("it calls ome");
        let words = hook.get("args").into_iter().flat_map(Node::items);
        let args: Vec<&str> = words.filter_map(Node::as_str).collect();
        // Names of files come last, and none of them is a flag.
        let has_names = hook.get("pass_filenames").is_none();
        assert_eq!(args.last() == Some(&"--"), has_names, "{:?}", hook.get("id"));
        if !has_names {
            // Nothing was written yet, and one file of the folder cannot be read.
            assert_eq!(folder.ome(&format!("{entry} {}", args.join(" "))).exit, Some(1));
            continue;
        }
        // Only the changed file is named; the runtime that it ties with is context, and the broken
        // file there is not reported.
        let done = folder.ome(&format!("{entry} --no-builtin --format json a.yaml"));
        assert_eq!(done.exit, Some(2), "{}", done.stderr);
        assert!(
            done.stdout.contains("same-priority") && !done.stdout.contains("yaml-syntax"),
            "{}",
            done.stdout
        );
        assert_eq!(
            folder.ome(&format!("{entry} --no-builtin --rule yaml-syntax a.yaml")).exit,
            Some(0)
        );
        // A file of another tool is no finding, whether it is the only one that changed or not.
        let workflow = folder.ome(&format!("{entry} --no-builtin ci.yaml"));
        assert_eq!(workflow.exit, Some(0), "{}", workflow.stdout);
    }
}

#[test]
fn repairs_keep_comments_and_layout() {
    let before = runtime("a", "  # why it is off\n  disabled: off   # for now\n").replace(
        "  engineConfig:\n",
        "  engineConfig:\r\n    minReplica: \"1\"  # one\n    minReplicas: \"2\"\n",
    );
    let before = before.replace(
        "image: example/sglang:test}",
        "image: example/sglang:test, args: [--port, 8080]}",
    );
    let folder = Folder::new(&[("a.yaml", &before)]);
    let done = folder.ome("validate a.yaml --no-builtin --fix --format json");
    let after = before
        .replace("disabled: off ", "disabled: false ")
        .replace("minReplicas: \"2\"", "minReplicas: 2")
        .replace("8080", "\"8080\"");
    assert_eq!(folder.read("a.yaml"), after);
    assert_eq!(done.stderr.matches("repaired").count(), 3, "{}", done.stderr);
    // The misspelled field stays: the correct one exists already.
    assert!(
        done.exit == Some(2)
            && done.stdout.contains("unknown-field")
            && !done.stdout.contains("ambiguous-scalar"),
        "{}",
        done.stdout
    );
    let again = folder.ome("validate a.yaml --no-builtin --fix --format json");
    assert_eq!((again.stderr.as_str(), folder.read("a.yaml")), ("", after));
}

/// Where the field is no text, no command proposes quotes, which a server refuses there.
#[test]
fn the_help_for_an_ambiguous_scalar_follows_the_type_of_the_field() {
    let service = "---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: s}\nspec: {runtime: {name: a}, engine: {}}\n";
    let text = runtime("a", "  disabled: off\n") + service;
    let folder = Folder::new(&[("a.yaml", &text)]);
    for call in ["plan -f .", "validate ."] {
        let done = folder.ome(&format!("{call} --no-builtin -o json"));
        let all: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
        let found = all["findings"].as_array().expect("a list");
        let found = found.iter().find(|found| found["code"] == "ambiguous-scalar");
        assert_eq!(found.map(|found| &found["help"]), Some(&"write `false`".into()), "{done:?}");
    }
}

#[test]
fn a_misspelled_key_is_fixed() {
    let text = runtime("a", "").replace(
        "  engineConfig:\n",
        "  engineConfig:\n    minReplica: 1\n    \"max-replicas\": 3\n",
    );
    let folder = Folder::new(&[("a.yaml", &text)]);
    let done = folder.ome("validate a.yaml --no-builtin --fix");
    assert_eq!(
        folder.read("a.yaml"),
        text.replace("minReplica:", "minReplicas:").replace("\"max-replicas\"", "maxReplicas")
    );
    assert_eq!(
        (done.exit, done.stdout.as_str()),
        (Some(0), "1 file: nothing found\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn allowed_findings_are_omitted_and_unused_allows_are_reported() {
    let text = runtime(
        "a",
        "  # ome: allow one-sided-range all of the family are large\n  modelSizeRange: {min: 60B}\n  # ome: allow unknown-protocol long gone\n",
    );
    let folder = Folder::new(&[("a.yaml", &text)]);
    let done = folder.ome("validate --no-builtin --strict --format github a.yaml");
    assert_eq!(done.exit, Some(2));
    assert_eq!(done.stdout.lines().count(), 1, "{}", done.stdout);
    assert!(
        done.stdout.starts_with("::warning file=a.yaml,line=8,col=3,endLine=8,")
            && done.stdout.contains("title=unused-allow"),
        "{}",
        done.stdout
    );
    // Only the selected rule can be reported as unused.
    assert_eq!(
        folder.ome("validate --no-builtin --strict --rule one-sided-range a.yaml").exit,
        Some(0)
    );
}

#[test]
fn a_baseline_omits_known_findings() {
    let folder = Folder::new(&[("a.yaml", &runtime("a", "  modelSizeRange: {min: 60B}\n"))]);
    assert_eq!(folder.ome("validate --no-builtin --baseline known.json a.yaml").exit, Some(1));
    assert_eq!(
        folder.ome("validate --no-builtin --baseline known.json --update-baseline a.yaml").exit,
        Some(0)
    );
    assert_eq!(
        folder.ome("validate --no-builtin --baseline known.json --strict a.yaml").exit,
        Some(0)
    );
    // Three lines further down and beside something new.
    std::fs::write(
        folder.at("a.yaml"),
        format!(
            "# a\n# b\n# c\n{}",
            runtime("a", "  modelSizeRange: {min: 60B}\n  protocolVersions: [openai]\n")
        ),
    )
    .expect("it can be written");
    let done =
        folder.ome("validate --no-builtin --baseline known.json --strict --format github a.yaml");
    assert!(
        done.exit == Some(2)
            && done.stdout.lines().count() == 1
            && done.stdout.contains("unknown-protocol"),
        "{}",
        done.stdout
    );
    folder.write("a.yaml", runtime("a", ""));
    let done = folder.ome("validate --no-builtin --baseline known.json a.yaml");
    assert!(
        done.exit == Some(0) && done.stderr.contains("1 finding of the baseline no longer found"),
        "{}",
        done.stderr
    );
}

#[test]
fn built_in_objects_are_checked_on_request_without_errors() {
    let folder =
        Folder::new(&[("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")]);
    assert_eq!(folder.ome("validate a.yaml").stdout, "1 file: nothing found\n");
    let done = folder.ome("validate a.yaml --source builtin --format json");
    assert!(done.exit == Some(0) && !done.stdout.contains("\"error\""), "{}", done.stdout);
}

/// A template that two keys share by an anchor has each finding once.
#[test]
fn a_shared_template_has_each_finding_once() {
    let serving = "apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: s, namespace: default}
spec:
  replicas: 1
  schedulerName: volcano
  template:
    roles:
    - name: r
      replicas: 1
      workerReplicas: 1
      entryTemplate: &shared
        spec:
          containers:
          - name: c
            image: example/server:1
            resources: {limits: {nvidia.com/gpu: 1}}
      workerTemplate: *shared
";
    let folder = Folder::new(&[("s.yaml", serving)]);
    let page = folder.ome("validate s.yaml --no-builtin").stdout;
    assert_eq!(page.matches("gpu-limits-only").count(), 1, "{page}");
}
