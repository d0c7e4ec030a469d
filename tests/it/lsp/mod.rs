//! `ome lsp` with a scripted client: a process, pipes, and the protocol.

mod client;

use crate::process::Folder;
use client::Client;
use serde_json::{Value, json};

const CATALOG: &str = "\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: one}
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors}
    autoSelect: true
    priority: 2
  engineConfig:
    runner: {name: ome-container, image: 'x:1'}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: two}
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors}
    autoSelect: true
    priority: 1
  engineConfig:
    runner: {name: ome-container, image: 'x:1'}
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama}
spec:
  modelFormat: {name: safetensors}
  modelParameterSize: 8B
  storage: {storageUri: 'oci://n/x/b/y/o/z'}
";

const SERVICE: &str = "\
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  namespace: team
  annotations: {note: 'é𝔸'}
spec:
  model: {name: llama}
  engine: {minReplicas: 1}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: pinned
  namespace: team
spec:
  model:
    name: llama
  runtime:
    name: two
  engine:
    minReplicas: 1
";

fn folder() -> Folder {
    Folder::new(&[("catalog/all.yaml", CATALOG), ("chat.yaml", SERVICE)])
}

#[test]
fn findings_are_updated_after_each_edit() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("chat.yaml", SERVICE);
    // `𝔸` is two units of UTF-16.
    let broken = SERVICE.replace("{note: 'é𝔸'}", "{note: 'é𝔸', note: x}");
    client.did_change("chat.yaml", 2, &broken);
    let found = client.findings("chat.yaml");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "duplicate-key");
    assert_eq!(found[0]["source"], "ome");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 5, "character": 29 }));
    client.did_change("chat.yaml", 3, SERVICE);
    assert_eq!(client.codes("chat.yaml"), [""; 0]);
    // A change of one file causes an error in another one, and is reverted.
    client.did_open("catalog/all.yaml", &CATALOG.replace("name: llama", "name: other"));
    assert_eq!(client.codes("chat.yaml"), ["model-not-found"; 2]);
    let params = json!({ "textDocument": { "uri": client.uri("catalog/all.yaml") } });
    client.tell("textDocument/didClose", params);
    assert_eq!(client.codes("chat.yaml"), [""; 0]);
    // A file that is not saved yet, and one that changes beside the editor.
    client.did_open("new.yaml", &SERVICE.replace("name: llama", "name: nothing"));
    assert!(client.codes("new.yaml").contains(&"model-not-found".to_owned()));
    folder.write("chat.yaml", SERVICE.replace("minReplicas", "minReplica"));
    let params = json!({ "textDocument": { "uri": client.uri("chat.yaml") } });
    client.tell("textDocument/didClose", params);
    assert!(client.codes("chat.yaml").contains(&"unknown-field".to_owned()));
    let asked = client.told.iter().filter(|own| own["method"] == "client/registerCapability");
    assert_eq!(asked.count(), 1);
    assert_eq!(client.end(), Some(0));
}

/// A kustomization that changes, and a chart that appears, change the findings of files that do not.
#[test]
fn findings_follow_the_files_beside_a_manifest() {
    let runtime = "apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: a}
spec:
  supportedModelFormats: [{modelFormat: {version: '1'}, modelFramework: {name: x}}]
";
    let folder = Folder::new(&[
        ("Zoo/kustomization.yaml", "resources: [runtime.yaml]\n"),
        ("Zoo/runtime.yaml", runtime),
        ("a.yaml", SERVICE),
    ]);
    let mut client = Client::open(folder.path(), &[]);
    let severity = |client: &mut Client| {
        let found = client.findings("Zoo/runtime.yaml");
        let lacks = found.iter().find(|own| own["code"] == "required-field");
        lacks.map(|own| own["severity"].clone())
    };
    client.did_open("Zoo/runtime.yaml", runtime);
    assert_eq!(severity(&mut client), Some(json!(1)));
    let mut edit = |name: &str, text: &str| {
        folder.write(name, text);
        let changes = json!([{ "uri": client.uri(name), "type": 2 }]);
        client.tell("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
        severity(&mut client)
    };
    // What a patch may set is no error of the file that it is missing in.
    let patched = "resources: [runtime.yaml]\npatches: [{path: p.yaml}]\n";
    assert_eq!(edit("Zoo/kustomization.yaml", patched), Some(json!(2)));
    assert_eq!(edit("Zoo/kustomization.yaml", "resources: [runtime.yaml]\n"), Some(json!(1)));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn incremental_changes_are_applied_in_order() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("chat.yaml", SERVICE);
    let range = |line: u32, start: u32, end: u32| {
        json!({
            "start": { "line": line, "character": start },
            "end": { "line": line, "character": end },
        })
    };
    // One after another: each is of the text that the one before it left.
    let changes = json!([
        { "range": range(5, 23, 25), "text": "𝔸𝔸" },
        { "range": range(5, 24, 27), "text": "', note: 'y" },
    ]);
    let document = json!({ "uri": client.uri("chat.yaml"), "version": 2 });
    let params = json!({ "textDocument": document, "contentChanges": changes });
    client.tell("textDocument/didChange", params);
    let found = client.findings("chat.yaml");
    assert_eq!(found[0]["code"], "duplicate-key", "{found:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn go_to_definition_resolves_object_names() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    let to = |found: &Value| {
        let places = found.as_array().expect("a list").iter().map(|own| {
            let uri = own["uri"].as_str().expect("an address");
            format!(
                "{}:{}:{}",
                uri.rsplit('/').next().unwrap_or_default(),
                own["range"]["start"]["line"],
                own["range"]["start"]["character"]
            )
        });
        places.collect::<Vec<_>>()
    };
    for (word, behind, place) in
        [("{name: llama", 8, "all.yaml:24:17"), ("name: two", 8, "all.yaml:13:17")]
    {
        let params = client.place("chat.yaml", SERVICE, word, behind);
        let found = client.ask("textDocument/definition", params);
        assert_eq!(to(&found), [place], "{word}");
    }
    let mut params = client.place("catalog/all.yaml", CATALOG, "name: llama", 6);
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.ask("textDocument/references", params.clone());
    assert_eq!(to(&found), ["all.yaml:24:17", "chat.yaml:7:16", "chat.yaml:17:10"]);
    params["context"] = json!({ "includeDeclaration": false });
    assert_eq!(to(&client.ask("textDocument/references", params)).len(), 2);
    // A key names nothing.
    let params = client.place("chat.yaml", SERVICE, "model:", 1);
    assert_eq!(client.ask("textDocument/definition", params), Value::Null);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn hover_shows_runtime_usage_and_field_descriptions() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    let mut hover = |file: &str, text: &str, word: &str, behind: usize| {
        let params = client.place(file, text, word, behind);
        let found = client.ask("textDocument/hover", params);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let runtime = hover("catalog/all.yaml", CATALOG, "name: one", 6);
    assert!(runtime.contains("used by 1 of 2 services"), "{runtime}");
    assert!(runtime.contains("team/chat") && runtime.contains("highest priority"), "{runtime}");
    let model = hover("chat.yaml", SERVICE, "{name: llama", 8);
    assert!(model.contains("used by 2 services"), "{model}");
    let service = hover("chat.yaml", SERVICE, "name: chat", 7);
    assert!(service.contains("one (highest priority)"), "{service}");
    assert!(service.contains("engine"), "{service}");
    let field = hover("chat.yaml", SERVICE, "minReplicas", 3);
    assert!(field.contains("spec.engine.minReplicas  integer"), "{field}");
    assert!(field.contains("Least number of replicas, from 0; default 1."), "{field}");
    assert_eq!(hover("chat.yaml", SERVICE, "---", 1), "");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn fields_names_and_words_are_completed() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("chat.yaml", SERVICE);
    let mut version = 1;
    let mut complete = |line: &str| {
        version += 1;
        let text = format!(
            "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: x, namespace: team}}\nspec:\n  engine:\n    minReplicas: 1\n{line}"
        );
        client.did_change("chat.yaml", version, &text.replace('|', ""));
        let params = client.place("chat.yaml", &text, "|", 0);
        let found = client.ask("textDocument/completion", params);
        let items = found.as_array().into_iter().flatten();
        let field = items.clone().find(|own| own["label"] == "maxReplicas");
        if let Some(field) = field {
            let text = field["documentation"].as_str().unwrap_or_default();
            assert!(text.starts_with("Greatest number of replicas"), "{field}");
        }
        items.map(|own| own["label"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    // Those of the input come first.
    let runtimes = complete("  runtime:\n    name: |\n");
    assert_eq!(runtimes[..2], ["one", "two"]);
    assert!(runtimes.contains(&"vllm-mistral-7b-instruct".to_owned()), "{runtimes:?}");
    assert_eq!(complete("  model:\n    name: l|\n"), ["llama"]);
    let fields = complete("    |\n");
    assert!(fields.contains(&"maxReplicas".to_owned()), "{fields:?}");
    assert!(!fields.contains(&"minReplicas".to_owned()), "{fields:?}");
    let fields = complete("  mo|\n");
    assert!(fields.contains(&"model".to_owned()) && !fields.contains(&"engine".to_owned()));
    let policies = complete("    runner:\n      name: r\n      imagePullPolicy: |\n");
    assert!(policies.is_empty() || policies.contains(&"Always".to_owned()), "{policies:?}");
    assert!(complete("---\nkind: |\n").contains(&"ServingRuntime".to_owned()));
    assert_eq!(complete("# a comment |\n"), [""; 0]);
    assert_eq!(client.end(), Some(0));
}

/// Every kind of name there is.
const NAMES: &str = "\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: own-flavor}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: own-cluster}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: own-flavor # 1
      resources: [{name: nvidia.com/gpu, nominalQuota: 8}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: own-queue, namespace: team}
spec:
  clusterQueue: own-cluster # 2
---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: own-class}
spec:
  vendor: nvidia
  discovery: {nodeSelector: {a: b}}
  capabilities: {memoryGB: 80Gi}
  resources: [{name: nvidia.com/gpu, quantity: '1'}]
  integration:
    kueueResourceFlavor: own-flavor # 3
---
apiVersion: ome.io/v1beta1
kind: FineTunedWeight
metadata: {name: own-weight}
spec:
  baseModelRef:
    name: llama # 4
  modelType: LoRA
  hyperParameters: {}
  configuration: {}
  storage: {storageUri: 'oci://n/x/b/y/o/z'}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: own-runtime}
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors}
  acceleratorRequirements:
    acceleratorClasses:
    - own-class # 5
  engineConfig:
    runner:
      name: ome-container
      image: 'x:1'
      resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: named
  namespace: team
  labels:
    kueue.x-k8s.io/queue-name: own-queue # 6
spec:
  model:
    name: llama # 7
    fineTunedWeights:
    - own-weight # 8
  runtime:
    name: own-runtime # 9
  acceleratorSelector:
    acceleratorClass: own-class # 10
  engine:
    minReplicas: 1
---
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: own-kserve}
spec:
  supportedModelFormats: [{name: sklearn}]
  containers: [{name: kserve-container, image: 'x:1'}]
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: iris
  namespace: team
spec:
  predictor:
    model:
      modelFormat: {name: sklearn}
      runtime: own-kserve # 11
";

/// A written name is resolved by the operators' readers, and completed by the table of fields: both
/// have the same fields.
#[test]
fn every_name_with_a_definition_is_offered_by_completion() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("names.yaml", NAMES);
    for number in 1..=11 {
        let mark = format!(" # {number}\n");
        let mut params = client.place("names.yaml", NAMES, &mark, 0);
        let name = NAMES[..NAMES.find(&mark).expect("a mark")].rsplit(' ').next().expect("a name");
        let found = client.ask("textDocument/definition", params.clone());
        let line = found[0]["range"]["start"]["line"].as_u64();
        let line = line.unwrap_or_else(|| panic!("{number} {name}: {found}"));
        let uri = found[0]["uri"].as_str().expect("an address");
        let text = if uri.ends_with("names.yaml") { NAMES } else { CATALOG };
        let defined = text.lines().nth(usize::try_from(line).expect("a line")).unwrap_or_default();
        assert!(defined.contains(&format!("metadata: {{name: {name}")), "{number}: {defined}");
        let found = client.ask("textDocument/completion", params.take());
        let offered = found.as_array().into_iter().flatten();
        let labels: Vec<&str> = offered.filter_map(|own| own["label"].as_str()).collect();
        assert!(labels.contains(&name), "{number} {name}: {labels:?}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn hover_over_an_argument_shows_the_arithmetic_of_the_engine() {
    let runtime = "\
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors, version: '1.0.0'}
    autoSelect: true
  engineConfig:
    runner:
      name: ome-container
      image: vllm/vllm-openai:v0.11.0
      args: ['--max-model-len=8k']
      resources: {limits: {nvidia.com/gpu: '1'}}
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: qwen}
spec:
  modelFormat: {name: safetensors, version: '1.0.0'}
  storage: {storageUri: 'hf://Qwen/Qwen3-8B'}
---
apiVersion: v1
kind: Node
metadata: {name: n, labels: {nvidia.com/gpu.memory: '81559'}}
status: {allocatable: {cpu: '8', memory: 64Gi, pods: '110', nvidia.com/gpu: '1'}}
";
    let service = "\
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: team}
spec:
  model: {name: qwen}
  runtime: {name: rt}
  engine: {minReplicas: 1}
";
    let folder = Folder::new(&[("rt.yaml", runtime), ("chat.yaml", service)]);
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("rt.yaml", runtime);
    let params = client.place("rt.yaml", runtime, "--max-model-len", 3);
    let found = client.ask("textDocument/hover", params);
    let text = found["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains("KV cache of engine") && text.contains("team/chat"), "{text}");
    assert!(text.contains("8,000 tokens"), "{text}");
    let params = client.place("rt.yaml", runtime, "autoSelect", 3);
    let found = client.ask("textDocument/hover", params);
    let text = found["contents"]["value"].as_str().unwrap_or_default();
    assert!(!text.contains("KV cache"), "{text}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn code_actions_fix_the_findings() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    let broken = SERVICE.replace("minReplicas: 1", "minReplicas: '1'");
    client.did_open("chat.yaml", &broken);
    assert!(!client.codes("chat.yaml").is_empty());
    let range = json!({
        "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 },
    });
    let params = json!({
        "textDocument": { "uri": client.uri("chat.yaml") }, "range": range,
        "context": { "diagnostics": [] },
    });
    let actions = client.ask("textDocument/codeAction", params);
    let actions = actions.as_array().expect("a list");
    let all = actions.iter().find(|own| own["kind"] == "source.fixAll").expect("all repairs");
    let quick = actions.iter().filter(|own| own["kind"] == "quickfix");
    assert_eq!(quick.count(), 2, "{actions:?}");
    let change = &all["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["version"], 1);
    // Made from behind, so that places stay.
    let mut lines: Vec<String> = broken.lines().map(ToOwned::to_owned).collect();
    for edit in change["edits"].as_array().expect("a list").iter().rev() {
        let at = |place: &Value| {
            let number = |key: &str| {
                usize::try_from(place[key].as_u64().expect("a number")).expect("a place")
            };
            (number("line"), number("character"))
        };
        let ((line, start), (end_line, end)) =
            (at(&edit["range"]["start"]), at(&edit["range"]["end"]));
        assert_eq!(line, end_line);
        lines[line].replace_range(start..end, edit["newText"].as_str().expect("a text"));
    }
    client.did_change("chat.yaml", 2, &(lines.join("\n") + "\n"));
    assert_eq!(client.codes("chat.yaml"), [""; 0], "{lines:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn inlay_hints_show_the_chosen_runtime() {
    let folder = folder();
    let mut client = Client::open(folder.path(), &[]);
    let range = json!({
        "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 },
    });
    let params = json!({ "textDocument": { "uri": client.uri("chat.yaml") }, "range": range });
    let hints = client.ask("textDocument/inlayHint", params);
    let shown: Vec<(u64, &str)> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|own| {
            let line = own["position"]["line"].as_u64().expect("a line");
            (line, own["label"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(shown, [(7, "one · highest priority · 1 of 2 eligible"), (19, "would rank 2 of 2")]);
    assert_eq!(client.end(), Some(0));
}

const LLM: &str = "\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: otter, namespace: river}
spec:
  model: {uri: 'hf://example/heron', name: heron}
  baseRefs: [{name: two-gpus}]
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: broken, namespace: river}
spec:
  model: {uri: 'hf://example/heron'}
  baseRefs: [{name: two-gpus}, {name: absent}]
";

const LLM_CONFIGS: &str = "\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: kserve-config-llm-template, namespace: kserve}
spec:
  template:
    containers:
    - {name: main, image: 'vllm:1', args: ['--served-model-name={{ .Spec.Model.Name }}']}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: two-gpus, namespace: river}
spec: {replicas: 2}
";

#[test]
fn services_for_llms_have_hover_hints_and_definitions() {
    let folder = Folder::new(&[("llm.yaml", LLM), ("configs.yaml", LLM_CONFIGS)]);
    let mut client = Client::open(folder.path(), &[]);
    client.did_open("llm.yaml", LLM);
    client.did_open("configs.yaml", LLM_CONFIGS);
    let range = json!({
        "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 },
    });
    let params = json!({ "textDocument": { "uri": client.uri("llm.yaml") }, "range": range });
    let hints = client.ask("textDocument/inlayHint", params);
    let hints = hints.as_array().expect("a list").iter();
    let shown: Vec<(u64, &str)> = hints
        .map(|own| {
            let line = own["position"]["line"].as_u64().expect("a line");
            (line, own["label"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        shown,
        [(2, "kserve-config-llm-template + two-gpus"), (9, "\u{2717} invalid-input")]
    );
    let mut ask = |method: &str, file: &str, text: &str, word: &str, behind: usize| {
        let params = client.place(file, text, word, behind);
        client.ask(&format!("textDocument/{method}"), params)
    };
    let mut hover = |file: &str, text: &str, word: &str, behind: usize| {
        let found = ask("hover", file, text, word, behind);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let service = hover("llm.yaml", LLM, "name: otter", 7);
    assert!(service.contains("two-gpus") && service.contains("workload"), "{service}");
    let named = hover("llm.yaml", LLM, "name: two-gpus", 7);
    assert!(named.contains("merged into 1 service") && named.contains("river/otter"), "{named}");
    let preset = hover("configs.yaml", LLM_CONFIGS, "name: kserve-config", 7);
    assert!(preset.contains("river/otter"), "{preset}");
    let field = hover("llm.yaml", LLM, "baseRefs", 2);
    assert!(field.contains("spec.baseRefs"), "{field}");
    // Also of a service that has no decision.
    let place = ask("definition", "llm.yaml", LLM, "{name: two-gpus}, {name: absent", 7);
    assert!(place.to_string().contains("configs.yaml"), "{place}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn invalid_messages_get_errors_and_do_not_stop_the_server() {
    let folder = folder();
    let mut client = Client::start(folder.path(), &["--stdio"]);
    let early = client.answer("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    client.write("{not json");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.write("[1, 2]");
    assert_eq!(client.next()["error"]["code"], -32600);
    client.write(r#"{"jsonrpc":"2.0","id":"x","method":7}"#);
    assert_eq!(client.next()["id"], "x");
    assert_eq!(client.answer("initialize", json!({ "rootUri": 5 }))["error"]["code"], -32602);
    let params = json!({ "processId": null, "rootUri": client.root, "capabilities": {} });
    client.ask("initialize", params);
    let uri = client.uri("chat.yaml");
    let beyond = json!({
        "textDocument": { "uri": uri }, "position": { "line": 4_000_000_000_u32, "character": 9 },
        "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } },
        "context": { "diagnostics": [], "includeDeclaration": true, "triggerKind": 1 },
    });
    for method in ["hover", "definition", "references", "completion", "codeAction", "inlayHint"] {
        let method = format!("textDocument/{method}");
        let refused = client.answer(&method, json!({ "textDocument": 1 }));
        assert_eq!(refused["error"]["code"], -32602, "{method} {refused}");
        client.ask(&method, beyond.clone());
        // A text that nobody has read.
        let mut other = beyond.clone();
        other["textDocument"]["uri"] = json!("untitled:Untitled-1");
        assert_eq!(client.ask(&method, other), Value::Null, "{method}");
    }
    assert_eq!(client.answer("no/such", Value::Null)["error"]["code"], -32601);
    client.tell("textDocument/didChange", json!({ "textDocument": { "uri": uri, "version": 1 }, "contentChanges": [{ "text": "x" }] }));
    for (version, text) in
        (0_i64..).zip(["", "\u{0}", "kind: [", "a: &a [*a]", "- - -\n\t", "{\"a\":", "---\n---\n"])
    {
        if version == 0 {
            client.did_open("chat.yaml", text);
        } else {
            client.did_change("chat.yaml", version + 1, text);
        }
        for method in ["hover", "completion", "codeAction", "inlayHint"] {
            client.ask(&format!("textDocument/{method}"), beyond.clone());
        }
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_server_exits_when_the_editor_disconnects() {
    let folder = folder();
    let client = Client::open(folder.path(), &[]);
    let Client { mut child, input, .. } = client;
    drop(input);
    assert_eq!(child.wait().expect("a child").code(), Some(1));
    let mut client = Client::open(folder.path(), &[]);
    client.tell("exit", Value::Null);
    assert_eq!(client.child.wait().expect("a child").code(), Some(1));
}
