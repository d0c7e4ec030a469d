//! Secrets of an input are never printed: they are planted in all possible places, and every
//! command is run with every format.

use crate::process::Folder;
use std::collections::BTreeSet;

/// Each place has a secret of its own, so that a leak names it.
fn secret(place: &str, round: u32) -> String {
    format!("planted-{place}-{round}-X9q")
}

/// A fleet full of secrets. Rounds differ in each of them and in nothing else.
fn fleet(round: u32) -> String {
    let s = |place: &str| secret(place, round);
    format!(
        r#"apiVersion: v1
kind: Secret
metadata: {{name: hf, namespace: ns}}
stringData:
  token: {string_data}
  other: |
    {block}
data: {{user: {data}}}
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {{name: m}}
spec:
  modelFormat: {{name: safetensors}}
  modelArchitecture: A
  modelParameterSize: 1B
  storage:
    storageUri: "hf://a/b"
    parameters: {{secret_access_key: {parameter}, region: r}}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {{name: r}}
spec:
  supportedModelFormats:
  - modelFormat: {{name: safetensors}}
    modelArchitecture: A
    autoSelect: true
  engineConfig:
    runner:
      name: ome-container
      image: "example/server:1"
      env:
      - name: HF_TOKEN
        value: {variable}
      - {{name: CONFIG, value: '{{"password": "{json}", "x": 1}}'}}
      args: [--api-key={flag}, --hf-token, {argument}, "--url=https://me:{url}@host/x"]
      command: [sh, -c, "serve --password {shell}; OPENAI_API_KEY={assigned} x"]
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  namespace: ns
  annotations: {{example.com/api-token: {annotation}}}
spec:
  model: {{name: m}}
  engine:
    runner:
      name: ome-container
      env: [{{name: S3_PASSWORD, value: {overriding}}}, {{name: HF_TOKEN, value: {overridden}}}]
"#,
        string_data = s("string-data"),
        block = s("block"),
        data = if round == 1 { "cGxhbnRlZDE=" } else { "cGxhbnRlZDI=" },
        parameter = s("parameter"),
        variable = s("variable"),
        json = s("json"),
        flag = s("flag"),
        argument = s("argument"),
        url = s("url"),
        shell = s("shell"),
        assigned = s("assigned"),
        annotation = s("annotation"),
        overriding = s("overriding"),
        overridden = s("overridden"),
    )
}

/// The same with a fault on every line that has a secret, so that each is near a finding.
fn broken() -> Vec<(&'static str, String)> {
    let text = fleet(1);
    let fields = text
        .replace("token: planted", "token: 5\n  token: planted")
        .replace("parameters: {", "parameter: {")
        .replace("      env:\n", "      enw: 1\n      env:\n")
        .replace("      args: [", "      arg: [")
        .replace("namespace: ns\n", "namespace: NS!\n");
    let syntax =
        text.replace("data: {user", "data: [user").replace("      command: [", "      a: b: [");
    let types = text.replace("value: planted", "value: [planted").replace("X9q\n", "X9q]\n");
    vec![("fields", fields), ("syntax", syntax), ("types", types)]
}

fn leaks(output: &str) -> BTreeSet<&str> {
    let end = |at: usize| output[at..].find("-X9q").map_or(output.len(), |length| at + length);
    let planted = output.match_indices("planted-").map(|(at, _)| &output[at..end(at)]);
    planted.chain(output.matches("cGxhbnRlZ")).collect()
}

#[test]
fn no_command_and_no_format_shows_a_secret() {
    let folder = Folder::new(&[("one/in.yaml", &fleet(1)), ("two/in.yaml", &fleet(2))]);
    for (name, text) in broken() {
        folder.write(&format!("{name}/in.yaml"), text);
    }
    let mut calls: Vec<String> = Vec::new();
    for input in ["one", "fields", "syntax", "types"] {
        for format in ["human", "json", "sarif", "github", "junit"] {
            calls.push(format!("validate {input} --strict --min-severity info --format {format}"));
        }
        for format in ["table", "json", "markdown", "html"] {
            calls.push(format!("plan -f {input} -o {format}"));
        }
        for format in ["table", "json", "markdown", "mermaid"] {
            calls.push(format!("explain -f {input} --merge --all -o {format}"));
        }
        for semantics in ["documented", "controller"] {
            calls.push(format!("plan -f {input} --semantics {semantics} -o json"));
        }
        for command in
            ["matrix", "catalog runtimes", "catalog models", "endpoints chat", "kueue export"]
        {
            calls.push(format!("{command} -f {input}"));
            calls.push(format!("{command} -f {input} -o json"));
        }
    }
    for format in ["table", "json"] {
        for object in ["Deployment/chat-engine", "ConfigMap/modelconfig-chat", "Service/chat"] {
            calls.push(format!("why {object} * -f one -o {format}"));
        }
        let argument = "spec.template.spec.containers[name=ome-container].args[2]";
        calls.push(format!("why Deployment/chat-engine {argument} -f one -o {format}"));
    }
    for format in ["table", "json", "markdown", "html"] {
        calls.push(format!("diff --base one -f two -o {format} --all"));
        calls.push(format!("diff --base one -f syntax -o {format} --all"));
    }
    let rendered = folder.ome("render -f one -o dir=out --no-builtin --no-config");
    assert_eq!(rendered.exit, Some(0), "{}", rendered.stderr);
    calls.push("render -f two --check out --diff".to_owned());
    let mut leaked = Vec::new();
    for call in &calls {
        let done = folder.ome(&format!("{call} --no-builtin --no-config"));
        assert!(!done.stderr.contains("unexpected argument"), "{call}: {}", done.stderr);
        for (stream, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
            let found = leaks(text);
            if !found.is_empty() {
                leaked.push(format!("{call}: {stream} shows {found:?}"));
            }
        }
    }
    assert!(leaked.is_empty(), "\n{}", leaked.join("\n"));
    // The hidden value exists, and a manifest is printed as the operator would write it.
    let shown = folder.ome("render -f one --no-builtin --no-config").stdout;
    for place in ["variable", "json", "flag", "argument", "url", "shell", "assigned", "overriding"]
    {
        let place = if place == "variable" { "overridden" } else { place };
        assert!(shown.contains(&secret(place, 1)), "{place}: {shown}");
    }
}
