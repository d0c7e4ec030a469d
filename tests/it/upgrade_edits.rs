//! Edits before an upgrade: each that is printed is made in the files, and both releases decide
//! again.

use super::diff::Scratch;
use super::upgrades::rolled;
use serde_json::{Value, json};

/// Everything except the service: two classes, a model and a runtime with the additions of a case.
pub(super) struct Fleet {
    pub(super) runtime: Value,
    pub(super) service: Value,
    pub(super) model: Value,
}

/// A runtime of one container, and a service that names nothing but its model.
pub(super) fn fleet() -> Fleet {
    let formats = json!([{ "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "autoSelect": true }]);
    Fleet {
        runtime: json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime",
            "metadata": { "name": "srt" },
            "spec": {
                "supportedModelFormats": formats,
                "engineConfig": { "runner": {
                    "name": "ome-container", "image": "sglang:v0.5.5", "args": ["--tp-size", "4"],
                    "resources": { "limits": { "nvidia.com/gpu": 4 } },
                } },
            },
        }),
        service: json!({
            "apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
            "metadata": { "name": "chat", "namespace": "a" },
            "spec": { "model": { "name": "llama" }, "engine": {} },
        }),
        model: json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": { "name": "llama" },
            "spec": {
                "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "modelParameterSize": "8B",
                "storage": { "storageUri": "hf://acme/llama", "path": "/models/llama" },
            },
        }),
    }
}

impl Fleet {
    /// The service names a class, and the runtime lists it.
    pub(super) fn on(self, class: &str) -> Self {
        self.service("/spec/acceleratorSelector/acceleratorClass", json!(class))
            .runtime("/spec/acceleratorRequirements/acceleratorClasses", json!(["h100", "l40s"]))
    }

    pub(super) fn runtime(mut self, pointer: &str, value: Value) -> Self {
        put(&mut self.runtime, pointer, value);
        self
    }

    pub(super) fn service(mut self, pointer: &str, value: Value) -> Self {
        put(&mut self.service, pointer, value);
        self
    }

    pub(super) fn model(mut self, pointer: &str, value: Value) -> Self {
        put(&mut self.model, pointer, value);
        self
    }

    pub(super) fn documents(self) -> Vec<Value> {
        let class = |name: &str, gpus: i64| {
            json!({
                "apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass",
                "metadata": { "name": name },
                "spec": {
                    "discovery": { "nodeSelector": { "gpu": name } },
                    "capabilities": { "memoryGB": "80" },
                    "resources": [{ "name": "nvidia.com/gpu", "quantity": gpus }],
                },
            })
        };
        vec![class("h100", 4), class("l40s", 2), self.model, self.runtime, self.service]
    }
}

/// Sets a value at a pointer; maps on the way are made.
fn put(tree: &mut Value, pointer: &str, value: Value) {
    let mut at = tree;
    for name in pointer.split('/').skip(1) {
        at = match name.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[name.replace("~1", "/")],
        };
    }
    *at = value;
}

/// The steps of a path as it is printed.
fn steps(path: &str) -> Vec<String> {
    let (mut steps, mut step, mut escaped) = (Vec::new(), String::new(), false);
    for c in path.chars() {
        match c {
            _ if escaped => {
                step.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '.' | '[' => steps.push(std::mem::take(&mut step)),
            ']' => {}
            _ => step.push(c),
        }
    }
    steps.push(step);
    steps.retain(|step| !step.is_empty());
    steps
}

/// Makes a printed edit in the documents; an object that is not there is added.
fn make(documents: &mut Vec<Value>, change: &Value) {
    let named = change["object"].as_str().expect("an object");
    let parts: Vec<&str> = named.split('/').collect();
    let (kind, name) = (parts[0], parts[parts.len() - 1]);
    let is_it = |own: &Value| own["kind"] == kind && own["metadata"]["name"] == name;
    let place = documents.iter().position(is_it).unwrap_or_else(|| {
        documents.push(json!({
            "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": parts[1] },
        }));
        documents.len() - 1
    });
    let steps = steps(change["path"].as_str().expect("a path"));
    let (last, above) = steps.split_last().expect("a step");
    let mut at = &mut documents[place];
    for step in above {
        at = match step.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[step.as_str()],
        };
    }
    let to = change["to"].clone();
    if let Some(name) = last.strip_prefix("name=") {
        let mut items = at.as_array().cloned().unwrap_or_default();
        match items.iter().position(|item| item["name"] == name) {
            Some(place) if to.is_null() => _ = items.remove(place),
            Some(place) => items[place] = to,
            None => items.push(to),
        }
        *at = items.into();
    } else if to.is_null() {
        at.as_object_mut().expect("a map").remove(last);
    } else {
        at[last.as_str()] = to;
    }
}

pub(super) fn text(documents: &[Value]) -> String {
    documents.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n---\n")
}

/// The rule of the first group, as it is printed.
fn rule(answer: &Value, id: &str) -> Option<Value> {
    let rules = answer["groups"][0]["rules"].as_array()?;
    rules.iter().find(|rule| rule["id"] == id).cloned()
}

/// The expectation about an edit: it changes nothing before the upgrade, or it must be made
/// together with it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kept {
    Before,
    With,
}

#[test]
fn a_printed_edit_keeps_the_objects_in_both_releases() {
    let (old, new) = ("v0.1.4", "v0.1.5");
    let classes = "/spec/acceleratorRequirements/acceleratorClasses";
    let selector = "/spec/acceleratorSelector";
    let formats = "/spec/supportedModelFormats";
    let env = json!([{ "name": "MODEL_PATH", "value": "/elsewhere" }]);
    let label = json!({ "models.ome.io/clusterbasemodel.llama": "Slow" });
    let sizes = json!({ "h100": { "tensorParallelismOverride": { "tensorParallelSize": 8 } } });
    let unread = json!([{
        "modelFormat": { "name": "safetensors", "version": "1.0.0" },
        "acceleratorConfig": { "h100": { "environmentOverride": { "KV": "fp8" } } },
    }]);
    for (id, releases, fleet, kept) in [
        ("A1", (old, new), fleet().runtime(classes, json!(["h100"])), Kept::Before),
        (
            "A2",
            (old, new),
            fleet().service(selector, json!({ "policy": "MostCapable" })).runtime(classes, json!(["h100", "l40s"])),
            Kept::With,
        ),
        (
            "A3",
            (old, new),
            fleet()
                .service(selector, json!({ "policy": "FirstAvailable", "constraints": { "excludedClasses": ["h100"] } }))
                .runtime(classes, json!(["h100", "l40s"])),
            Kept::Before,
        ),
        ("A4", (old, new), fleet().on("l40s"), Kept::Before),
        ("A5", (old, new), fleet().on("h100"), Kept::With),
        (
            "A5",
            (old, new),
            // Without a path nothing comes before the variable.
            fleet().on("h100")
                .model("/spec/storage", json!({ "storageUri": "hf://acme/llama" })),
            Kept::Before,
        ),
        (
            "A7",
            (old, new),
            fleet().on("h100")
                .runtime(&format!("{formats}/0/acceleratorConfig"), sizes.clone()),
            Kept::Before,
        ),
        (
            "A8",
            (old, new),
            fleet().on("h100")
                .service("/spec/runtime/name", json!("srt"))
                .runtime(formats, unread),
            Kept::Before,
        ),
        (
            "A13",
            (old, new),
            fleet().runtime("/spec/engineConfig/annotations/ome.io~1deploymentMode", json!("Serverless")),
            Kept::With,
        ),
        ("A14", (old, new), fleet().runtime("/spec/engineConfig/nodeSelector", label), Kept::Before),
        ("B1", (old, new), fleet(), Kept::Before),
        (
            "C1",
            (old, new),
            fleet()
                .service(selector, json!({ "policy": "BestFit" }))
                .runtime(classes, json!(["h100", "l40s"])),
            Kept::With,
        ),
        (
            "G4",
            ("v0.1.3", "v0.1.4"),
            fleet().runtime(
                "/spec/containers",
                json!([{ "name": "ome-container", "resources": { "limits": { "memory": "64Gi" } } }]),
            ),
            Kept::Before,
        ),
        ("G3", ("v0.1.3", "v0.1.4"), fleet().runtime("/spec/nodeSelector/zone", json!("east")), Kept::Before),
        (
            "G2",
            ("v0.1.3", "v0.1.4"),
            fleet().on("h100"),
            Kept::Before,
        ),
        ("A9", (old, new), fleet().runtime("/spec/engineConfig/runner/env", env), Kept::With),
    ] {
        if id == "A9" {
            // Without the variable the pods are no longer those of today either.
            let found = found("ome", id, releases, &fleet.documents());
            assert_eq!(found["edit"], Value::Null, "{found:#}");
            assert!(found["noEdit"].as_str().is_some_and(|why| why.contains("as much changes as without")));
            continue;
        }
        prove("ome", id, releases, &fleet.documents(), kept);
    }
}

/// A rule of the first group of an upgrade, which has to be there.
pub(super) fn found(
    operator: &str,
    id: &str,
    releases: (&str, &str),
    documents: &[Value],
) -> Value {
    let scratch = Scratch::new(&format!("edit-found-{operator}-{id}-{}", documents.len()));
    scratch.write("fleet.yaml", &text(documents));
    let (from, to) = (format!("{operator}={}", releases.0), format!("{operator}={}", releases.1));
    let args = ["--from-release", &from, "--to-release", &to, "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    rule(&answer, id).unwrap_or_else(|| panic!("{id} is no rule of {answer:#}"))
}

/// Makes the edit of a rule and decides again, under both releases.
pub(super) fn prove(
    operator: &str,
    id: &str,
    releases: (&str, &str),
    documents: &[Value],
    kept: Kept,
) {
    let scratch = Scratch::new(&format!("edit-{operator}-{id}-{}", documents.len()));
    scratch.write("fleet.yaml", &text(documents));
    let (from, to) = (format!("{operator}={}", releases.0), format!("{operator}={}", releases.1));
    let upgrade =
        |file: &str| scratch.diff(&["--from-release", &from, "--to-release", &to, "-f", file]).1;
    let answer = upgrade("fleet.yaml");
    let found = rule(&answer, id).unwrap_or_else(|| panic!("{id} is no rule of {answer:#}"));
    let edit = &found["edit"];
    assert_eq!(edit["verified"], kept == Kept::Before, "{id}: {found:#}");
    let mut edited = documents.to_vec();
    for change in edit["changes"].as_array().expect("changes") {
        make(&mut edited, change);
    }
    scratch.write("edited.yaml", &text(&edited));
    // The release that runs: the same objects where the edit is verified, others else.
    let args = ["--base", "fleet.yaml", "-f", "edited.yaml", "--release", &from];
    let (exit, changed) = scratch.diff(&args);
    let nothing = changed["groups"].as_array().is_some_and(Vec::is_empty);
    assert_eq!(nothing, kept == Kept::Before, "{id} {exit:?}: {changed:#}");
    // The release after it: the rule makes no difference any more.
    let after = upgrade("edited.yaml");
    let left = rule(&after, id).filter(|_| kept == Kept::Before);
    assert_eq!(left, None, "{id}: {after:#}");
    assert!(answer["groups"][0]["allEdits"]["patch"].is_string(), "{id}: {answer:#}");
}

#[test]
fn combined_edits_keep_all_objects_and_list_rules_they_trigger() {
    let scratch = Scratch::new("edits-together");
    let classes = "/spec/acceleratorRequirements/acceleratorClasses";
    scratch.write("fleet.yaml", &text(&fleet().runtime(classes, json!(["h100"])).documents()));
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    let all = &answer["groups"][0]["allEdits"];
    assert_eq!(all["service"], "a/chat");
    // With a class named the variable for parallelism goes: the class brings up another rule.
    assert_eq!(all["broughtUp"][0]["id"], "A5", "{all:#}");
    assert_eq!(all["settled"], json!(["B4"]), "{all:#}");
    assert_eq!(all["upgrade"]["restart"], false, "{all:#}");
    assert_eq!(all["upgrade"]["objects"], json!([]), "{all:#}");
    assert_eq!(all["today"]["restart"], true, "{all:#}");
    let patch = all["patch"].as_str().expect("a patch");
    assert!(patch.contains("acceleratorClass: h100"), "{patch}");
    for format in ["table", "markdown", "html"] {
        let done = scratch
            .ome(&[&["diff", "--no-builtin", "--no-config", "-o", format], &args[..]].concat());
        for said in
            ["verified: with this edit nothing changes now", "acceleratorClass: h100", "A5: "]
        {
            assert!(done.stdout.contains(said), "{format}: {said}: {}", done.stdout);
        }
    }
}

#[test]
fn secrets_are_in_no_edit_and_no_patch() {
    let scratch = Scratch::new("edits-secrets");
    let token = json!([{ "name": "HF_TOKEN", "value": "hf_abcdef" }]);
    let fleet = fleet()
        .on("h100")
        .service("/spec/engine/runner", json!({ "name": "ome-container", "env": token }));
    scratch.write("fleet.yaml", &text(&fleet.documents()));
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    assert!(rule(&answer, "A5").is_some_and(|rule| rule["edit"].is_object()), "{answer:#}");
    assert_eq!(answer["groups"][0]["allEdits"]["patch"], Value::Null, "{answer:#}");
    assert!(!answer.to_string().contains("hf_abcdef"));
}

#[test]
fn a_partition_holds_the_groups_of_a_model_serving() {
    let scratch = Scratch::new("edits-kthena");
    scratch.write("fleet.yaml", &rolled("free", 3, "{type: ServingGroupRollingUpdate}"));
    for (from, to) in [("v0.4.0", "v1.0.0"), ("v1.0.0", "head")] {
        let (from, to) = (format!("kthena={from}"), format!("kthena={to}"));
        let args = ["--from-release", &from, "--to-release", &to];
        let answer = scratch.diff(&[&args[..], &["-f", "fleet.yaml"]].concat()).1;
        let edit = &rule(&answer, "H1").expect("H1")["edit"];
        assert_eq!(edit["verified"], true, "{answer:#}");
        let change = &edit["changes"][0];
        assert_eq!(change["path"], "spec.rolloutStrategy.rollingUpdateConfiguration.partition");
        assert_eq!(change["to"], 3);
        let patch = answer["groups"][0]["allEdits"]["patch"].as_str().expect("a patch").to_owned();
        assert!(patch.contains("partition: 3"), "{patch}");
        let held = "{type: ServingGroupRollingUpdate, rollingUpdateConfiguration: {partition: 3}}";
        scratch.write("held.yaml", &rolled("free", 3, held));
        let after = scratch.diff(&[&args[..], &["-f", "held.yaml"]].concat()).1;
        assert_eq!(after["summary"]["restarts"], 0, "{after:#}");
    }
}

#[test]
fn objects_written_before_a_failure_still_restart() {
    let scratch = Scratch::new("before-failure");
    // The runtime describes no router: its pods cannot be built, after the engine is written.
    let fleet = fleet()
        .runtime("/spec/acceleratorRequirements/acceleratorClasses", json!(["h100"]))
        .service("/spec/router", json!({ "minReplicas": 1 }));
    scratch.write("fleet.yaml", &text(&fleet.documents()));
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    let (exit, answer) = scratch.diff(&args);
    assert_eq!(exit, Some(2));
    let group = &answer["groups"][0];
    assert_eq!(group["restart"], true, "{group:#}");
    assert_eq!(group["podsRestarted"], 1, "{group:#}");
    assert_eq!(group["fails"]["code"], "invalid-input", "{group:#}");
    // It failed before, too, and its GPUs do not count.
    assert_eq!(group["error"], Value::Null, "{group:#}");
    assert_eq!(group["gpus"], json!({ "before": 0, "after": 0 }));
    assert_eq!(answer["summary"]["fails"], 0);
    assert_eq!(answer["summary"]["refused"], 1);
    let objects = group["objects"].as_array().expect("objects");
    assert_eq!(objects.len(), 1, "{group:#}");
    assert_eq!(objects[0]["object"], "Deployment/a/chat-engine");
    assert_eq!(objects[0]["beforeFailure"], true);
    let text = scratch.ome(&[&["diff", "--no-builtin", "--no-config"], &args[..]].concat()).stdout;
    assert!(text.contains("the objects below are written before it fails"), "{text}");
    // The rendered service works.
    let args = ["render", "--no-builtin", "--no-config", "--release", "ome=v0.1.4"];
    let done = scratch.ome(&[&args[..], &["-f", "fleet.yaml"]].concat());
    assert!(done.exit == Some(1) && done.stdout.is_empty(), "{}", done.stdout);
}
