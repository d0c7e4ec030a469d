//! Catalogs for tests, built from a text.

use super::{View, run as check};
use crate::api::{Api, Completion, Object, ObjectRef, PerReading, Scope, Semantics};
use crate::catalog::{Builder, Catalog, Item, Options};
use crate::diag::{Code, Diagnostic};
use crate::operators;
use crate::operators::kserve::read as kserve;
use crate::operators::kueue::read as kueue;
use crate::operators::ome::read as ome;
use crate::source::{Source, SourceId, SourceKind, SourceMap};
use crate::yaml::{Limits, Node, parse, split};

/// Returns a ClusterServingRuntime with these lines as spec.
pub(crate) fn runtime(name: &str, spec: &str) -> String {
    object("ClusterServingRuntime", name, spec)
}

/// Returns a ClusterBaseModel with these lines as spec.
pub(crate) fn model(name: &str, spec: &str) -> String {
    object("ClusterBaseModel", name, spec)
}

/// Returns an InferenceService with these lines as spec.
pub(crate) fn service(name: &str, spec: &str) -> String {
    object("InferenceService", name, spec)
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    let spec = if spec.is_empty() { " {}\n".to_owned() } else { format!("\n{spec}") };
    format!("apiVersion: ome.io/v1beta1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:{spec}")
}

/// Builds a catalog of the objects in a text; `change` can modify each object before its typed view
/// is built.
pub(crate) fn catalog(text: &str, semantics: Semantics, change: impl Fn(&mut Object)) -> Catalog {
    let mut builder = Builder::new(Options {
        readings: operators::newest().with_modes(semantics),
        ..Options::default()
    });
    let mut quiet = Vec::new();
    for range in split(SourceId(0), text).value {
        let Some(node) = parse(SourceId(0), text, range, &Limits::default()).value else {
            continue;
        };
        let field = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (field("apiVersion"), field("kind"));
        let metadata = |key: &str| node.at(&["metadata", key]).and_then(Node::as_str);
        let cluster = kind.starts_with("Cluster") || kind == "AcceleratorClass";
        let scope = if cluster {
            Scope::Cluster
        } else {
            Scope::Namespace(metadata("namespace").unwrap_or("default").into())
        };
        let id = ObjectRef {
            kind: kind.as_str().into(),
            scope,
            name: metadata("name").unwrap_or_default().into(),
        };
        let api = if api_version.starts_with("ome.io") {
            Api::Ome
        } else if api_version.starts_with("serving.kserve.io") {
            Api::KServe
        } else {
            Api::Cluster
        };
        let mut object = Object {
            api,
            api_version: api_version.into(),
            id,
            span: node.origin.span().expect("read from a text"),
            builtin: false,
            reported: true,
            template: None,
            node,
        };
        change(&mut object);
        let boxed_runtime = |runtime| Item::Runtime(Box::new(runtime));
        builder.add(match (api, kind.as_str()) {
            (Api::Ome, "ClusterBaseModel" | "BaseModel") => {
                let completion = Completion::default();
                Item::Model(Box::new(ome::model(object, completion, semantics, &mut quiet)))
            }
            (Api::Ome, "ClusterServingRuntime" | "ServingRuntime") => {
                boxed_runtime(ome::runtime(object, semantics, &mut quiet))
            }
            (Api::Ome, "FineTunedWeight") => Item::Weight(Box::new(ome::fine_tuned_weight(object))),
            (Api::Ome, "AcceleratorClass") => {
                Item::AcceleratorClass(Box::new(PerReading::read(semantics, |semantics| {
                    ome::accelerator::accelerator_class(object.clone(), semantics)
                })))
            }
            (Api::KServe, "ClusterServingRuntime" | "ServingRuntime") => {
                boxed_runtime(kserve::runtime(object, semantics, &mut quiet))
            }
            (Api::Ome | Api::KServe, "InferenceService") => {
                let read = if api == Api::Ome { ome::service } else { kserve::service };
                Item::Service(Box::new(PerReading::read(semantics, |semantics| {
                    let policy = operators::newest().policy_by(api, semantics).unwrap();
                    read(object.clone(), policy, &mut quiet)
                })))
            }
            (Api::Cluster, "Node") => Item::Node(object),
            (Api::Cluster, "ResourceFlavor") => {
                Item::Flavor(Box::new(kueue::resource_flavor(object)))
            }
            (Api::Cluster, "ClusterQueue") => {
                Item::ClusterQueue(Box::new(kueue::cluster_queue(object)))
            }
            (Api::Cluster, "LocalQueue") => Item::LocalQueue(Box::new(kueue::local_queue(object))),
            _ => Item::Other(object),
        });
    }
    builder.finish(Vec::new()).catalog
}

/// Returns the findings of all rules that are on by default.
pub(crate) fn run(text: &str, semantics: Semantics) -> Vec<Diagnostic> {
    run_with(text, semantics, &[])
}

/// Does the same as [`run`], plus on-demand rules with a code in `codes`.
pub(crate) fn run_with(text: &str, semantics: Semantics, codes: &[Code]) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    sources.add(Source::new("test.yaml", SourceKind::File, text));
    check(
        &View { catalog: &catalog(text, semantics, |_| ()), sources: &sources },
        crate::operators::checks(),
        codes,
    )
}

/// Returns the codes of findings.
pub(crate) fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.code.as_str()).collect()
}
