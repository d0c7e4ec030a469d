//! What tests of several modules share: trees, workspaces, and lists of codes.

use crate::api::{Api, Object, ObjectRef, Scope, Semantics};
use crate::cli::Io;
use crate::diag::Diagnostic;
use crate::load::{self, Request};
use crate::source::{SourceId, Span};
use crate::workspace::{ReadOptions, World};
use crate::yaml::{Limits, Node, parse};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tree from YAML, with places.
pub(crate) fn node(text: &str) -> Node {
    let read = parse(SourceId(0), text, 0..text.len(), &Limits::default());
    read.value.unwrap_or_else(|| panic!("no YAML: {text}"))
}

/// An object of a test, without a place; without a namespace it is one of the cluster.
pub(crate) fn object(
    (api, api_version): (Api, &str),
    kind: &str,
    (namespace, name): (Option<&str>, &str),
    node: Node,
) -> Object {
    let scope = namespace.map_or(Scope::Cluster, |name| Scope::Namespace(name.into()));
    Object {
        api,
        api_version: api_version.into(),
        id: ObjectRef { kind: kind.into(), scope, name: name.into() },
        node,
        span: Span { source: SourceId(0), start: 0, end: 0 },
        builtin: false,
        reported: true,
        template: None,
    }
}

/// The workspace of a text, by the documents.
pub(crate) fn world(text: &str) -> World {
    world_by(text, &ReadOptions::new(Semantics::Documented))
}

/// The workspace of a text.
pub(crate) fn world_by(text: &str, options: &ReadOptions) -> World {
    let request = Request { paths: &[PathBuf::from("-")], ..Request::default() };
    crate::workspace::read(load::load(&request, &mut text.as_bytes(), &Limits::default()), options)
}

/// The codes of findings, in their order.
pub(crate) fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.code.as_str()).collect()
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The value at a JSON pointer of the document that was printed.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        let document: Value = serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err));
        document.pointer(pointer).cloned().unwrap_or(Value::Null)
    }

    /// The codes of the findings of the document.
    pub(crate) fn findings(&self) -> Vec<String> {
        let found = self.at("/findings");
        let codes = found.as_array().into_iter().flatten();
        codes.map(|code| code["code"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Runs a command in this process; `{NAME}` in its arguments is the file of that name, and `{.}` the
/// directory of the files.
#[expect(clippy::disallowed_methods, reason = "commands of tests read files")]
pub(crate) fn ome_on(arguments: &str, files: &[(&str, &str)]) -> Ran {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("ome-test-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the input");
    let mut words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    for word in &mut words {
        *word = word.replace("{.}", &directory.display().to_string());
    }
    for (name, text) in files {
        let path = directory.join(name);
        let above = path.parent().expect("it is in the directory");
        std::fs::create_dir_all(above).expect("a directory for the file");
        std::fs::write(&path, text).expect("the input is written");
        let place = format!("{{{name}}}");
        for word in &mut words {
            *word = word.replace(&place, &path.display().to_string());
        }
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = std::iter::once("ome".to_owned()).chain(words).map(OsString::from);
    let code = crate::cli::run(words, &mut Io::plain(&mut out, &mut err));
    std::fs::remove_dir_all(&directory).expect("the directory is removed");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code, out: text(out), err: text(err) }
}

/// Runs a command on one file without the built-in catalog.
pub(crate) fn ome(arguments: &str, input: &str) -> Ran {
    ome_on(&format!("{arguments} --no-builtin -f {{in.yaml}}"), &[("in.yaml", input)])
}

/// The plan of a text, as JSON.
pub(crate) fn plan(input: &str) -> Ran {
    ome("plan -o json", input)
}

/// A model, and a runtime whose engine requests devices.
pub(crate) fn catalog(gpus: i64) -> String {
    format!(
        "\
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {{name: m}}
spec:
  modelFormat: {{name: safetensors, version: \"1.0.0\"}}
  modelFramework: {{name: transformers, version: \"4.43.0\"}}
  modelArchitecture: LlamaForCausalLM
  modelParameterSize: 8B
  storage: {{storageUri: \"hf://example/m\"}}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {{name: rt}}
spec:
  supportedModelFormats:
  - modelFormat: {{name: safetensors, version: \"1.0.0\"}}
    modelFramework: {{name: transformers, version: \"4.43.0\"}}
    modelArchitecture: LlamaForCausalLM
    autoSelect: true
  modelSizeRange: {{min: 1B, max: 10B}}
  engineConfig:
    runner:
      name: ome-container
      image: example/server:v1
      resources: {{requests: {{nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}
"
    )
}

/// A service with the fields of its engine.
pub(crate) fn service(name: &str, engine: &str) -> String {
    format!(
        "---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{model: {{name: m}}, runtime: {{name: rt}}, engine: {{{engine}}}}}\n"
    )
}

/// A node with devices; `more` are further fields of its `spec`.
pub(crate) fn gpu_node(name: &str, gpus: i64, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}\nspec: {{{more}}}\nstatus: {{allocatable: {{cpu: 64, memory: 512Gi, pods: 110, nvidia.com/gpu: {gpus}}}}}\n"
    )
}

/// A ModelServing of one role whose pods request devices.
pub(crate) fn serving(name: &str, groups: &str, gpus: &str) -> String {
    format!(
        "---\napiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: {name}, namespace: ml}}\nspec:\n  replicas: {groups}\n  schedulerName: volcano\n  template:\n    roles:\n    - name: r\n      replicas: 1\n      workerReplicas: 0\n      entryTemplate: {{spec: {{containers: [{{name: c, image: i, resources: {{requests: {{nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}}}\n"
    )
}
